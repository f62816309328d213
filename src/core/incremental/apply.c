// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Creation of struct ftr_incr, and the steps of ftr_incr_apply():
 *
 *	1. find the links that change state		changes nothing
 *	2. update links, groups, costs and extra turns	can be undone
 *	3. compute the new entries and write steps	changes the tables only if ports are chosen
 *							by load (displaced.h); can be undone
 *	4. enter the other new entries into the tables	cannot fail
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "incremental/incremental.h"

/* ---- new and free ----------------------------------------------------- */

static enum ftr_status check_fit(const struct ftr_shape *sh,
			    const struct ftr_tables *t, struct ftr_err *err)
{
	if (t->n_sw != sh->f->n_sw || t->max_lid != sh->f->max_lid)
		return ftr_fail(err, FTR_INVAL, "tables of %u switches and LIDs up to %u do not fit a fabric of %u switches and LIDs up to %u",
				t->n_sw, t->max_lid, sh->f->n_sw,
				sh->f->max_lid);
	if (!sh->tree.rank)
		return ftr_fail(err, FTR_LIMIT, "the order of switches has %u levels, too many for incremental tables",
				sh->tree.n_ranks);
	return FTR_OK;
}

static enum ftr_status copy_costs(struct ftr_incr *lv, struct ftr_err *err)
{
	size_t bytes = (size_t)lv->base->f->n_sw * lv->base->reach.stride;

	if (!FTR_NEW(lv->arena, lv->cost, bytes) ||
	    !FTR_NEW(lv->arena, lv->down, bytes))
		return incr_nomem(lv, err);
	memcpy(lv->cost, lv->base->reach.cost, bytes);
	memcpy(lv->down, lv->base->reach.down, bytes);
	lv->view.reach.cost = lv->cost;
	lv->view.reach.down = lv->down;
	return FTR_OK;
}

static enum ftr_status build(struct ftr_incr *lv,
			     const struct ftr_shape *nominal,
			     const struct ftr_tables *t, struct ftr_err *err)
{
	struct ftr_validity v;
	enum ftr_status st = copy_costs(lv, err);

	if (!st)
		st = incr_links(lv, nominal, err);
	if (!st)
		st = incr_work_new(lv, err);
	if (!st)
		st = incr_costs_check(lv, err);
	if (!st)
		st = incr_extra_new(lv, err);
	if (!st)
		st = ftr_tables_new(lv->view.f, false, &lv->t, err);
	if (st)
		return st;
	for (ftr_sw s = 0; s < t->n_sw; s++) {
		uint8_t *row = ftr_tables_row(lv->t, s);

		memset(row, FTR_PORT_NONE, lv->t->stride);
		memcpy(row, ftr_tables_row(t, s), t->max_lid + 1u);
	}
	ftr_shape_validity(&lv->view, &v);
	lv->pairs.bad = v.bad_pairs;
	return incr_place_new(lv, err);
}

enum ftr_status ftr_incr_new(const struct ftr_shape *sh,
			     const struct ftr_shape *nominal,
			     const struct ftr_tables *t,
			     const struct ftr_route_opts *opts,
			     struct ftr_incr **out, struct ftr_err *err)
{
	static const struct ftr_route_opts defaults = FTR_ROUTE_OPTS_INIT;
	enum ftr_status st = check_fit(sh, t, err);
	struct ftr_incr *lv;

	if (st)
		return st;
	lv = ftr_calloc(1, sizeof(*lv));
	if (!lv || !(lv->arena = ftr_arena_new())) {
		free(lv);
		return ftr_nomem(err, "incremental tables");
	}
	lv->base = sh;
	lv->view = *sh;
	lv->view.arena = NULL;
	lv->opts = opts ? *opts : defaults;
	lv->prefer = lv->opts.keep ? lv->opts.keep->prefer : NULL;
	lv->opts.keep = NULL;
	st = build(lv, nominal, t, err);
	if (st) {
		ftr_incr_free(lv);
		return st;
	}
	*out = lv;
	return FTR_OK;
}

void ftr_incr_free(struct ftr_incr *lv)
{
	if (!lv)
		return;
	ftr_tables_free(lv->t);
	displaced_free(lv->displaced);
	ftr_arena_free(lv->arena);
	ftr_arena_free(lv->last);
	ftr_arena_free(lv->plan[0].arena);
	ftr_arena_free(lv->plan[1].arena);
	free(lv->toggled);
	free(lv->log);
	free(lv->change);
	free(lv->spared[0]);
	free(lv->spared[1]);
	free(lv);
}

/* ---- links that change ------------------------------------------------ */

/* Find the link of an event.  *link: the lower of the numbers of its two ends, or NONE if the link
 * leads to a host, or if routing does not use it (view.c). */
static enum ftr_status find_link(const struct ftr_incr *lv,
				 const struct ftr_incr_event *e,
				 uint32_t *link, struct ftr_err *err)
{
	const struct ftr_fabric *f = lv->view.f;

	if (e->sw >= f->n_sw || !e->port || e->port > f->sw[e->sw].n_ports)
		return ftr_fail(err, FTR_INVAL, "port %u of switch %u does not exist; the fabric has %u switches",
				e->port, e->sw, f->n_sw);
	*link = incr_link(lv, e->sw, e->port);
	if (*link != NONE)
		*link = FTR_MIN(*link, lv->far[*link]);
	else if (ftr_fabric_port(f, e->sw, e->port)->peer_kind ==
		 FTR_PEER_NONE)
		return ftr_fail(err, FTR_INVAL, "no link is known at port %u of switch 0x%016"
				PRIx64,
				e->port, f->sw[e->sw].guid);
	return FTR_OK;
}

/* Set lv->toggled to the links whose state the events change.  Of several events for one link, the
 * last one counts. */
static enum ftr_status find_toggled(struct ftr_incr *lv,
			       const struct ftr_incr_event *event, uint32_t n,
			       struct ftr_err *err)
{
	uint32_t kept = 0;

	lv->n_toggled = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = NONE;
		enum ftr_status st = find_link(lv, &event[i], &c, err);

		if (st)
			return st;
		if (c == NONE)
			continue;
		if (!FTR_GROW(lv->toggled, lv->n_toggled, lv->cap_toggled))
			return incr_nomem(lv, err);
		lv->toggled[lv->n_toggled++] = c;
		lv->alive_after[c] = event[i].up;
	}
	if (lv->n_toggled)
		qsort(lv->toggled, lv->n_toggled, sizeof(*lv->toggled),
		      ftr_u32_cmp);
	for (uint32_t i = 0; i < lv->n_toggled; i++) {
		uint32_t c = lv->toggled[i];

		if (lv->alive_after[c] != lv->alive[c] &&
		    (!kept || lv->toggled[kept - 1] != c))
			lv->toggled[kept++] = c;
	}
	lv->n_toggled = kept;
	return FTR_OK;
}

/* ---- an apply -------------------------------------------------------- */

/* Put on the work list those entries of the switches a and b for which the present costs allow the
 * links between a and b.  b has the higher rank. */
static void list_entries(struct ftr_incr *lv, ftr_sw a, ftr_sw b)
{
	uint8_t *flag = lv->row[0];
	size_t n = lv->view.reach.stride;

	memset(flag, 0, n);
	bytes_flag_less(flag, incr_down(lv, a), incr_cost(lv, b), n);
	incr_touch_row(lv, JOB_ENTRY, b, flag);
	bytes_flag_less(flag, incr_cost(lv, b), incr_cost(lv, a), n);
	incr_touch_row(lv, JOB_ENTRY, a, flag);
}

/* The switches at the ends of a link.  equal: both have the same rank, and low and high are in any
 * order. */
struct ends {
	ftr_sw low, high;
	bool equal;
};

static struct ends ends_of(const struct ftr_incr *lv, uint32_t link)
{
	ftr_sw near = incr_remote(lv, lv->far[link]), far = incr_remote(lv, link);
	enum incr_side side = incr_side(lv, link);

	if (side == INCR_UP)
		return (struct ends){ near, far, false };
	return (struct ends){ far, near, side == INCR_EQUAL };
}

static void toggle_all(struct ftr_incr *lv)
{
	for (uint32_t i = 0; i < lv->n_toggled; i++)
		incr_toggle(lv, lv->toggled[i]);
	for (uint32_t i = 0; i < lv->n_toggled; i++) {
		struct ends e = ends_of(lv, lv->toggled[i]);

		incr_pack(lv, e.low);
		incr_pack(lv, e.high);
	}
}

/* Update links, groups, costs and extra turns.  Put the entries that depend on them on the work
 * list. */
static enum ftr_status update_costs(struct ftr_incr *lv, struct ftr_err *err)
{
	enum ftr_status st;

	for (uint32_t i = 0; i < lv->n_toggled; i++) {
		struct ends e = ends_of(lv, lv->toggled[i]);

		lv->had[i] = incr_adjacent(lv, e.low, e.high);
		if (lv->had[i] && !e.equal)
			list_entries(lv, e.low, e.high);
	}
	toggle_all(lv);
	for (uint32_t i = 0; i < lv->n_toggled; i++) {
		struct ends e = ends_of(lv, lv->toggled[i]);

		if (e.equal || lv->had[i] == incr_adjacent(lv, e.low, e.high))
			continue;
		incr_touch_whole(lv, JOB_DOWN, e.high);
		incr_touch_whole(lv, JOB_COST, e.low);
	}
	st = incr_costs(lv, err);
	if (st)
		return st;
	for (uint32_t i = 0; i < lv->n_toggled; i++) {
		struct ends e = ends_of(lv, lv->toggled[i]);

		if (!e.equal && incr_adjacent(lv, e.low, e.high))
			list_entries(lv, e.low, e.high);
	}
	return incr_extra(lv, err);
}

static void set_entries(struct ftr_incr *lv, bool back)
{
	for (uint32_t i = 0; i < lv->result.n_changes; i++) {
		const struct ftr_change *c = &lv->change[i];

		ftr_tables_row(lv->t, c->sw)[c->lid] =
			back ? c->before : c->after;
	}
}

static struct ftr_link link_of(const struct ftr_incr *lv, uint32_t c)
{
	return (struct ftr_link){
		.sw = incr_remote(lv, lv->far[c]), .port = lv->port[c],
		.peer = incr_remote(lv, c), .peer_port = lv->port[lv->far[c]],
	};
}

static enum ftr_status report_extra(struct ftr_incr *lv, struct ftr_err *err)
{
	struct ftr_link *out = ftr_arena_alloc(lv->last, lv->n_absent,
					       sizeof(*out));

	if (!out)
		return incr_nomem(lv, err);
	lv->n_extra = 0;
	for (uint32_t i = 0; i < lv->n_absent; i++)
		if (lv->alive[lv->absent[i]])
			out[lv->n_extra++] = link_of(lv, lv->absent[i]);
	lv->extra = out;
	return FTR_OK;
}

static enum ftr_status report_links(struct ftr_incr *lv, struct ftr_err *err)
{
	struct ftr_incr_result *r = &lv->result;
	struct ftr_link *out = ftr_arena_alloc(lv->last, lv->n_toggled,
					       sizeof(*out));

	if (!out)
		return incr_nomem(lv, err);
	for (int up = 0; up < 2; up++) {
		r->n_gone = up ? r->n_links : 0;
		for (uint32_t i = 0; i < lv->n_toggled; i++)
			if (lv->alive[lv->toggled[i]] == up)
				out[r->n_links++] =
					link_of(lv, lv->toggled[i]);
	}
	r->link = out;
	return report_extra(lv, err);
}

static void revert(struct ftr_incr *lv)
{
	incr_place_back(lv);
	incr_spare_back(lv);
	incr_values_back(lv);
	toggle_all(lv);
	incr_extra_back(lv);
	lv->pairs = lv->before;
}

static enum ftr_status run_incremental(struct ftr_incr *lv, struct ftr_err *err)
{
	enum ftr_status st = update_costs(lv, err);

	if (!st) {
		incr_spare_list(lv);
		st = incr_entries(lv, err);
	}
	if (!st)
		st = incr_sort(lv, err);
	if (!st)
		st = incr_spare(lv, err);
	if (!st)
		incr_place(lv);
	if (!st)
		st = incr_write_steps(lv, err);
	if (!st)
		st = report_links(lv, err);
	incr_work_clear(lv);
	if (st)
		revert(lv);
	return st;
}

enum ftr_status ftr_incr_apply(struct ftr_incr *lv,
			       const struct ftr_incr_event *event, uint32_t n,
			       const struct ftr_incr_result **out,
			       struct ftr_err *err)
{
	enum ftr_status st;

	lv->can_undo = false;
	ftr_arena_free(lv->last);
	lv->result = (struct ftr_incr_result){ 0 };
	lv->n_log = 0;
	lv->before = lv->pairs;
	lv->replanned = false;
	lv->placed = false;
	lv->respared = false;
	lv->last = ftr_arena_new();
	st = lv->last ? find_toggled(lv, event, n, err) : incr_nomem(lv, err);
	if (!st) {
		lv->had = ftr_arena_alloc(lv->last, lv->n_toggled, 1);
		st = lv->had ? run_incremental(lv, err) : incr_nomem(lv, err);
	}
	if (st)
		return st;
	set_entries(lv, false);
	lv->result.bad_pairs = ftr_incr_bad_pairs(lv);
	lv->can_undo = true;
	*out = &lv->result;
	return FTR_OK;
}

bool ftr_incr_undo(struct ftr_incr *lv)
{
	if (!lv->can_undo)
		return false;
	lv->can_undo = false;
	revert(lv);		/* needs the new tables, so it comes before set_entries() */
	set_entries(lv, true);
	return true;
}

/* ---- queries --------------------------------------------------------- */

void ftr_incr_delta(const struct ftr_incr *lv, struct ftr_check_delta *out)
{
	const struct ftr_incr_result *r = &lv->result;

	*out = (struct ftr_check_delta){
		.dead = lv->dead, .extra = lv->extra, .n_extra = lv->n_extra,
		.gone = r->link, .n_gone = r->n_gone,
		.change = r->change, .n_changes = r->n_changes,
		.rank = lv->view.tree.rank, .write_step = r->write_step,
		.turn = incr_plan(lv)->turn, .n_turns = incr_plan(lv)->n_turns,
		.horizontal = incr_plan(lv)->links != CONNECT_UP_DOWN,
		.first_drain = r->first_drain,
	};
}

const struct ftr_tables *ftr_incr_tables(const struct ftr_incr *lv)
{
	return lv->t;
}

const uint64_t *ftr_incr_dead(const struct ftr_incr *lv)
{
	return lv->dead;
}

bool ftr_incr_connected(const struct ftr_incr *lv, ftr_sw s, ftr_port p)
{
	return incr_link(lv, s, p) != NONE;
}

bool ftr_incr_alive(const struct ftr_incr *lv, ftr_sw s, ftr_port p)
{
	uint32_t c = incr_link(lv, s, p);

	return c != NONE && lv->alive[c];
}

uint64_t ftr_incr_bad_pairs(const struct ftr_incr *lv)
{
	return lv->pairs.bad - lv->pairs.extra - lv->pairs.spared;
}
