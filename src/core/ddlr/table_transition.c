// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Changes all tables to new ones.
 *
 * This file chooses the new entries for a LID. lid_transition.c divides the change into steps, and the
 * dependency graph decides whether the change is allowed. If it is not, the entries of the LID are
 * changed one by one, as far as the graph allows it.
 * If some remain, the LID is held: their change may be allowed later, when packets that follow older
 * entries have been drained. If all LIDs are drained and a round changes nothing, the held LIDs keep
 * their current entries. These entries lead to the LIDs, except broken entries that no repair could
 * replace.
 *
 * Each LID is changed as early as the graph allows it, and this can be a dead end: its new
 * dependencies exclude the change of another LID for ever. So if an order holds LIDs, the way back
 * from the new tables is planned, where other LIDs are changed early. The entries are then changed in
 * the reverse order, as far as the graph allows it. (Packets in flight cause other dependencies in the
 * reverse direction.) This is repeated with LIDs that go back later.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ddlr/planner.h"

#define ROUNDS_MAX (UINT16_MAX / FTR_DDLR_STEPS)
/* Limits of the ways back, usually some tenths of a second. */
#define WAYS_BACK_MAX 16
#define TRIES_MAX (1u << 16)

enum { NEW = 1, NO_ENTRY = 2 };

/* Set differs[lid] for each LID for which some switch has a new entry (NEW), or an entry that the
 * new tables do not have (NO_ENTRY).  of[s]: index of switch s in the new fabric. */
static void mark_lids(const struct ftr_ddlr *r, const ftr_sw *of,
		      const struct ftr_tables *t, uint8_t *differs)
{
	for (ftr_sw s = 0; s < r->f->n_sw; s++) {
		const uint8_t *now = ftr_tables_row(r->now, s), *row;
		uint32_t end;

		if (of[s] == FTR_SW_NONE || r->dead_sw[s])
			continue;
		row = ftr_tables_row(t, of[s]);
		end = FTR_MIN(t->max_lid, r->f->max_lid) + 1u;
		for (uint32_t lid = 1; lid < end; lid++)
			if (now[lid] != row[lid])
				differs[lid] |= row[lid] == FTR_PORT_NONE ? NO_ENTRY : NEW;
	}
}

/* List the new entries for the current LID or, with `clear`, the entries that the new tables do not
 * have, because packets that follow them cause dependencies.  Those on the present paths of switches
 * with an entry in the new tables are left out, and so are those that may only change later. */
static uint32_t list_changes(struct ftr_ddlr *r, const ftr_sw *of, const struct ftr_tables *t,
			     bool clear)
{
	uint32_t n = 0;

	for (ftr_sw u = 0; clear && u < r->f->n_sw; u++) {
		bool keeps = of[u] != FTR_SW_NONE && ftr_tables_get(t, of[u], r->lid) != FTR_PORT_NONE;

		for (ftr_sw s = keeps ? u : FTR_SW_NONE; s != FTR_SW_NONE && !r->col_of[s];
		     s = ddlr_next(r, s, ddlr_entry(r, s)))
			r->col_of[s] = 1;
	}
	for (ftr_sw s = 0; s < r->f->n_sw; s++) {
		bool needed = r->col_of[s] || of[s] == FTR_SW_NONE || r->dead_sw[s];
		ftr_port p = needed ? FTR_PORT_NONE : ftr_tables_get(t, of[s], r->lid);

		r->col_of[s] = 0;
		if (needed || (p == FTR_PORT_NONE) != clear || p == ddlr_entry(r, s))
			continue;
		if (r->late.first && r->late.first[(size_t)s * r->now->stride + r->lid] > r->late.round)
			r->late.n++;
		else
			ddlr_add_change(r, &n, s, p);
	}
	return n;
}

/* Change the entries for a LID together or, if the graph refuses that, one by one, as far as it
 * permits.  *made: false if it refused entries, or if some may only change later. */
static enum ftr_status change_lid(struct ftr_ddlr *r, const ftr_sw *of, const struct ftr_tables *t,
				  bool clear, bool *made, struct ftr_err *err)
{
	uint32_t late = r->late.n, left = 0, n = clear ? list_changes(r, of, t, true) : 0;
	enum ftr_status st = n ? ddlr_try(r, r->col, n, FTR_HOW_NEW, made, err) : FTR_OK;

	*made = true;
	n = st || r->exit_sw == FTR_SW_NONE ? 0 : list_changes(r, of, t, false);
	if (n)
		st = column_change(r, n, FTR_HOW_NEW, made, err);
	if (st)
		return st;
	n = *made ? 0 : n;
	for (uint32_t i = 0; i < n; i++) {
		r->col[0] = r->col[i];
		r->col[0].step = 0;
		st = column_change(r, 1, FTR_HOW_NEW, made, err);
		if (st)
			return st;
		left += ddlr_entry(r, r->col[0].sw) != r->col[0].after;
	}
	*made = !left && r->late.n == late;
	return FTR_OK;
}

/* For each switch s of r, set of[s] to its index in nf, or to FTR_SW_NONE. Returns FTR_INVAL if t
 * does not fit nf, or if nf has a switch that is not in r or has another number of ports in r. */
static enum ftr_status match(const struct ftr_ddlr *r, const struct ftr_fabric *nf,
			     const struct ftr_tables *t, ftr_sw *of, struct ftr_err *err)
{
	uint32_t found = 0;

	if (t->n_sw != nf->n_sw || t->max_lid != nf->max_lid)
		return ftr_fail(err, FTR_INVAL, "tables of %u switches and LIDs up to %u do not fit a fabric of %u switches and LIDs up to %u",
				t->n_sw, t->max_lid, nf->n_sw, nf->max_lid);
	for (ftr_sw s = 0; s < r->f->n_sw; s++) {
		of[s] = ftr_fabric_find_sw(nf, r->f->sw[s].guid);
		if (of[s] == FTR_SW_NONE)
			continue;
		found++;
		if (nf->sw[of[s]].n_ports != r->f->sw[s].n_ports)
			return ftr_fail(err, FTR_INVAL, "a switch has %u ports now, but had %u before",
					nf->sw[of[s]].n_ports,
					r->f->sw[s].n_ports);
	}
	if (found != nf->n_sw)
		return ftr_fail(err, FTR_INVAL, "%u switches of the new fabric are not in the old one",
				nf->n_sw - found);
	return FTR_OK;
}

/* At the end of a transition: from now on, the current tables are the original tables.
 * held[lid] == 1: the LID is held, that is, it keeps old entries, which may contain detours. */
static void complete(struct ftr_ddlr *r, const uint8_t *held)
{
	memset(r->load, 0, r->f->n_ports * sizeof(*r->load));
	planes_clear(r);
	for (uint32_t lid = 1; lid <= r->f->max_lid; lid++) {
		if (!held[lid])
			continue;
		ddlr_begin_lid(r, (ftr_lid)lid);
		planes_enter_column(r);
	}
}

/* Plan one round.  clear: as in an order. */
static enum ftr_status plan_round(struct ftr_ddlr *r, const ftr_sw *of, const struct ftr_tables *t,
				  bool clear, uint8_t *differs, struct ftr_err *err)
{
	struct ftr_ddlr_plan *p = r->plan;
	uint32_t n = p->n, steps = p->n_steps;
	bool quiet = !ftr_cdg_undrained(r->g), made = false;

	p->held = p->n_steps = r->late.n = 0;
	memset(differs, 0, r->f->max_lid + 1u);
	mark_lids(r, of, t, differs);
	for (uint32_t lid = 1; lid <= r->f->max_lid; lid++) {
		enum ftr_status st;

		if (!differs[lid])
			continue;
		ddlr_begin_lid(r, (ftr_lid)lid);
		st = change_lid(r, of, t, differs[lid] & NO_ENTRY &&
				(clear || r->f->owner[lid].kind == FTR_OWNER_NONE), &made, err);
		if (st)
			return st;
		differs[lid] = !made;
		p->held += differs[lid];
	}
	p->done = !p->held || (quiet && p->n == n && !r->late.n);
	p->n_steps += steps;
	for (uint32_t i = n; i < p->n; i++) {
		p->write[i].step = (uint16_t)(p->write[i].step + p->n_rounds * FTR_DDLR_STEPS);
		r->first_write[p->write[i].lid] = 0;
	}
	p->n_rounds += p->n > n;
	r->late.round++;
	if (p->done)
		complete(r, differs);
	return FTR_OK;
}

/* Plan one round, or all. */
static enum ftr_status plan_rounds(struct ftr_ddlr *r, const struct ftr_fabric *nf,
				   const struct ftr_tables *t, bool all,
				   struct ftr_ddlr_plan *plan, struct ftr_err *err)
{
	ftr_sw *of = ftr_reallocarray(NULL, (size_t)r->f->n_sw + 1, sizeof(*of));
	uint8_t *differs = ftr_calloc((size_t)r->f->max_lid + 1, 1);
	enum ftr_status st;

	ddlr_begin_plan(r, plan);
	st = of && differs ? match(r, nf, t, of, err) : ftr_nomem(err, "a transition");
	for (bool more = !st; more; more = !st && all && !plan->done && plan->n_rounds < ROUNDS_MAX) {
		if (all)
			ftr_ddlr_drained(r);
		st = plan_round(r, of, t, all, differs, err);
	}
	ddlr_end_plan(r, st);
	free(of);
	free(differs);
	return st;
}

enum ftr_status ftr_ddlr_transition(struct ftr_ddlr *r, const struct ftr_fabric *nf,
				    const struct ftr_tables *t, struct ftr_ddlr_plan *plan,
				    struct ftr_err *err)
{
	return plan_rounds(r, nf, t, false, plan, err);
}

/* Plan an order with a new planner.  first: see struct late_entries. */
static enum ftr_status plan_anew(const struct ftr_shape *sh, const struct ftr_tables *from,
				 const struct ftr_tables *to, const uint8_t *first,
				 struct ftr_ddlr_plan *plan, struct ftr_err *err)
{
	struct ftr_ddlr *r = NULL;
	enum ftr_status st = ftr_ddlr_new(sh, from, NULL, true, &r, err);

	*plan = (struct ftr_ddlr_plan){ .n = 0 };
	if (!st) {
		r->late.first = first;
		st = plan_rounds(r, sh->f, to, true, plan, err);
	}
	ftr_ddlr_free(r);
	return st;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Replace the plan by orders that hold fewer LIDs: the reverse of ways back, in which a LID changes in a
 * pseudo-random round or later.  None begins after the time `last`, by now_ms(), or after an error (`to` may
 * have a credit loop). */
static void try_reverse(const struct ftr_shape *sh, const struct ftr_tables *from,
			const struct ftr_tables *to, double last, struct ftr_ddlr_plan *plan)
{
	size_t size = (size_t)from->n_sw * from->stride;
	uint64_t tries = plan->refused + plan->n + size / 64;
	uint8_t *first = ftr_calloc(size, 1);
	enum ftr_status st = first ? FTR_OK : FTR_NOMEM;
	struct ftr_err err;

	for (uint32_t k = 1; plan->held && k <= WAYS_BACK_MAX && tries < TRIES_MAX &&
	     now_ms() <= last; k++) {
		struct ftr_ddlr_plan back = { .n = 0 }, p = { .n = 0 };

		if (st)
			break;
		for (size_t i = 0; i < size; i++)
			first[i] = (uint8_t)(ftr_mix((uint64_t)k << 16 | i % from->stride) % k);
		st = plan_anew(sh, to, from, first, &back, &err);
		memset(first, 0, size);
		for (uint32_t i = 0; i < back.n; i++)
			first[(size_t)back.write[i].sw * from->stride + back.write[i].lid] =
				(uint8_t)(back.n_rounds - 1 - back.write[i].step / FTR_DDLR_STEPS);
		st = st ? st : plan_anew(sh, from, to, first, &p, &err);
		tries += back.refused + back.n + p.refused + p.n + size / 1024;
		ftr_ddlr_plan_fini(&back);
		if (!st && p.held < plan->held) {
			ftr_ddlr_plan_fini(plan);
			*plan = p;
		} else {
			ftr_ddlr_plan_fini(&p);
		}
	}
	free(first);
}

enum ftr_status ftr_ddlr_order(struct ftr_ddlr *r, const struct ftr_tables *t, unsigned int ms,
			       struct ftr_ddlr_plan *plan, struct ftr_err *err)
{
	double begun = now_ms();
	struct ftr_tables *from = NULL;
	enum ftr_status st = ftr_tables_new(r->f, false, &from, err);

	*plan = (struct ftr_ddlr_plan){ .n = 0 };
	if (!st) {
		memcpy(from->lft, r->now->lft, (size_t)from->n_sw * from->stride);
		st = plan_rounds(r, r->f, t, true, plan, err);
	}
	if (!st && plan->held)
		try_reverse(r->sh, from, t, begun + ms - 2 * (now_ms() - begun), plan);
	ftr_tables_free(from);
	return st;
}
