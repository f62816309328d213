// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Preferred tables, and when to search for better ones.
 *
 * Preferred tables are tables of an earlier routing.  Later routings keep each entry of these
 * tables if its port is still one of those from which the engine chooses (src/core/engine/keep.c).
 * So when a fault is repaired, the entries that it changed return to their old ports.
 *
 * The first routing of a fabric computes tables by a formula (Gliksberg et al. 2020).  Then it
 * moves entries until the all-to-all load is even.  Its tables become the preferred tables.  There
 * are no preferred tables with the option "balance off", or without a nominal fabric (all switches
 * and links seen so far).
 *
 * The stage (enum ibf_stage) says where the preferred tables come from, and decides when a search
 * is due and what happens when the fabric grows:
 *
 *	NO_ROUTING  --first routing-->  COMPUTED  --nothing better-->  CONFIRMED
 *	    |  |                            ^           better applied -->  SEARCHED
 *	    |  `--option "adopt"--> ADOPTING --routed--> GIVEN --search--> SEARCHED
 *	    `--read from the state file--> GIVEN or SEARCHED
 *
 *	other tables:	GIVEN, SEARCHED -> GIVEN	COMPUTED, CONFIRMED -> COMPUTED
 *	growth:		GIVEN, SEARCHED -> GIVEN	COMPUTED, CONFIRMED -> COMPUTED, without
 *							preferred tables
 *
 * A search is due in the stages COMPUTED and GIVEN, with the option "balance full" and a complete
 * fabric.  It looks for tables that also have even load under shift permutations (host i sends to
 * host i + k).  The next routing of a complete fabric applies the result, which is verified like
 * all tables.  The old and the new entries lead up and down by the same ranks.  So a mixture of
 * them has no loop and no credit loop.
 *
 * Growth.  The fabric has grown if the identity of the nominal fabric (ftr_nominal_id) has changed,
 * or if the preferred tables were made for a damaged fabric, and a link that was missing then is
 * present now.  Tables of the formula are then computed again, so that the tables of the complete
 * fabric do not depend on earlier faults.  Tables of other origin are the start for the tables of
 * the larger fabric, if they are those of a complete fabric.
 *
 * Hosts.  A fabric is complete even if hosts are missing.  Then the preferred tables stay, so that
 * the tables are the same as before when the hosts return.  A search uses the preferred tables,
 * which have the entries for the missing hosts, and its result has these entries, too.
 *
 * A fault displaces the entries whose next hop is missing or no longer leads to the destination.
 * Such an entry immediately gets a port on a link with little load (balance/displaced.h).  With
 * "balance full", a second search runs after the sweep.  It chooses the ports of all displaced
 * entries again, now also by the load of shift permutations.  If the gain is large enough, the next
 * sweep applies the result to these entries.
 *
 * Threads.  The sweeper's thread runs this code: during a routing, with OpenSM's exclusive lock
 * held; and at events of OpenSM, without a lock.  When OpenSM ends, the main thread runs it, and
 * no sweep can run.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "osm/osm.h"

/* ---- the stage ----------------------------------------------------------------- */

enum event {
	RESTORED, RESTORED_SEARCHED,	/* tables were read from the state file */
	ROUTING,		/* a routing begins without preferred tables */
	ADOPT,			/* this routing prefers the tables of the switches */
	GROWN,
	OTHER_TABLES,		/* the routing has made other tables than the preferred ones */
	BETTER,			/* the routing has applied the result of a search */
	NONE_BETTER,		/* a search has found no better tables */
	DROPPED
};

static bool is_computed(enum ibf_stage s)
{
	return s == IBF_COMPUTED || s == IBF_CONFIRMED;
}

static enum ibf_stage step(enum ibf_stage s, enum event ev)
{
	switch (ev) {
	case RESTORED:
		return IBF_GIVEN;
	case RESTORED_SEARCHED:
	case BETTER:
		return IBF_SEARCHED;
	case ADOPT:
		return IBF_ADOPTING;
	case GROWN:
	case OTHER_TABLES:
		return is_computed(s) ? IBF_COMPUTED : IBF_GIVEN;
	case NONE_BETTER:
		return is_computed(s) ? IBF_CONFIRMED : IBF_SEARCHED;
	case ROUTING:
		return IBF_COMPUTED;
	default:	/* DROPPED */
		return IBF_NO_ROUTING;
	}
}

/* ---- the preferred tables ------------------------------------------------------ */

/* True if a switch of f, or a link between switches of f, is missing from g.  A switch with another
 * number of ports counts as missing. */
static bool has_link_beyond(const struct ftr_fabric *f, const struct ftr_fabric *g)
{
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		ftr_sw t = ftr_fabric_find_sw(g, f->sw[s].guid);

		if (t == FTR_SW_NONE || f->sw[s].n_ports != g->sw[t].n_ports)
			return true;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *a =
				ftr_fabric_port(f, s, (ftr_port)p);
			const struct ftr_swport *b =
				ftr_fabric_port(g, t, (ftr_port)p);

			if (a->peer_kind == FTR_PEER_SW &&
			    (b->peer_kind != FTR_PEER_SW ||
			     a->peer_port != b->peer_port ||
			     f->sw[a->peer].guid != g->sw[b->peer].guid))
				return true;
		}
	}
	return false;
}

/* True if a host port of f that has a link is missing from g. */
static bool has_host_beyond(const struct ftr_fabric *f, const struct ftr_fabric *g)
{
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE &&
		    ftr_fabric_find_ep(g, f->ep[e].guid) == FTR_EP_NONE)
			return true;
	return false;
}

static bool has_grown(const struct ibf_prefer *r, const struct ibf_generation *gen)
{
	return gen->nominal->id != r->nominal ||
		(!ibf_is_complete(r->gen) && has_link_beyond(gen->fabric, r->gen->fabric)) ||
		(ibf_is_complete(gen) && has_host_beyond(gen->fabric, r->gen->fabric));
}

static void drop_better(struct ibf_prefer *r)
{
	ibf_search_free(r->better);
	r->better = NULL;
}

static void stop_search(struct ibf_prefer *r)
{
	if (r->search) {
		ibf_search_join(r->search, true);
		ibf_search_free(r->search);
	}
	r->search = NULL;
}

static void prefer(struct ibf_prefer *r, struct ibf_generation *gen)
{
	r->changes++;
	ibf_generation_put(r->gen);
	r->gen = ibf_generation_get(gen);
}

void ibf_prefer_drop(struct ibf_engine *e)
{
	struct ibf_prefer *r = &e->prefer;

	stop_search(r);
	drop_better(r);
	prefer(r, NULL);
	free(r->entry);
	r->entry = NULL;
	r->n_entries = 0;
	r->stage = step(r->stage, DROPPED);
}

void ibf_prefer_restore(struct ibf_engine *e, struct ibf_nominal *n, struct ftr_state *s)
{
	struct ibf_prefer *r = &e->prefer;
	struct ibf_generation *gen = ftr_calloc(1, sizeof(*gen));

	if (!gen)
		return;
	atomic_init(&gen->refs, 1);
	atomic_fetch_add(&n->refs, 1);
	gen->nominal = n;
	gen->fabric = s->f;
	gen->tables = s->t;
	gen->given = s->given;
	gen->n_given = s->n_given;
	gen->stats.turn = s->turn;
	gen->opts.turn = s->turn;
	gen->opts.n_turns = s->n_turns;
	prefer(r, gen);
	ibf_generation_put(e->complete);
	e->complete = gen;
	free(r->entry);
	r->entry = s->displaced;
	r->n_entries = s->n_displaced;
	r->nominal = n->id;
	r->stage = step(r->stage, s->searched ? RESTORED_SEARCHED : RESTORED);
	s->f = NULL;
	s->t = NULL;
	s->given = s->turn = NULL;
	s->displaced = NULL;
}

/* The fields are compared one by one, because the structure has padding. */
static bool are_same_entries(const struct ftr_displaced *a,
			 const struct ftr_displaced *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i].guid != b[i].guid || a[i].lid != b[i].lid ||
		    a[i].port != b[i].port)
			return false;
	return true;
}

static void note_displaced(struct ibf_engine *e, const struct ibf_generation *gen)
{
	const struct ftr_fabric *f = gen->fabric;
	struct ibf_prefer *r = &e->prefer;
	struct ftr_displaced *entry = NULL;
	uint32_t n = 0, cap = 0;

	for (ftr_sw s = 0; gen->prefer && s < f->n_sw; s++) {
		const uint8_t *now = ftr_tables_row(gen->tables, s);
		const uint8_t *was = ftr_tables_row(gen->prefer, s);

		if (!memcmp(now, was, f->max_lid + 1u))
			continue;
		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			if (now[lid] == was[lid] || now[lid] == FTR_PORT_NONE)
				continue;
			if (!FTR_GROW(entry, n, cap)) {
				free(entry);
				return;
			}
			entry[n++] = (struct ftr_displaced){
				f->sw[s].guid, (ftr_lid)lid, now[lid]
			};
		}
	}
	if (n == r->n_entries && are_same_entries(entry, r->entry, n)) {
		free(entry);
		return;
	}
	free(r->entry);
	r->entry = entry;
	r->n_entries = n;
	r->new_displaced = n > 0;
	e->plugin->stored = NULL;
}

/* ---- a routing ------------------------------------------------------------------ */

/* Set gen->current to the result of a search for displaced entries, if there is one.  Otherwise
 * set it to the tables that the switches hold according to OpenSM.  An entry that OpenSM does not
 * know yet is taken from the stored displaced entries. */
static enum ftr_status read_current(struct ibf_engine *e, struct ibf_generation *gen,
				    struct ftr_err *err)
{
	const struct ftr_fabric *f = gen->fabric;
	const struct ibf_prefer *r = &e->prefer;
	enum ftr_status st;

	if (r->better && r->better->displaced)
		return ftr_tables_carry(r->better->gen->fabric, r->better->t, f,
					&gen->current, err);
	st = ftr_tables_new(f, true, &gen->current, err);
	if (st)
		return st;
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const osm_switch_t *sw = ibf_host_switch(e->plugin, f->sw[s].guid);

		if (sw->lft)
			memcpy(ftr_tables_row(gen->current, s), sw->lft,
			       FTR_MIN(sw->lft_size, f->max_lid + 1u));
	}
	for (uint32_t i = 0; i < r->n_entries; i++) {
		ftr_sw s = ftr_fabric_find_sw(f, r->entry[i].guid);
		uint8_t *entry;

		if (s == FTR_SW_NONE || r->entry[i].lid > f->max_lid)
			continue;
		entry = &ftr_tables_row(gen->current, s)[r->entry[i].lid];
		if (*entry == FTR_PORT_NONE)
			*entry = r->entry[i].port;
	}
	return FTR_OK;
}

static void log_result(struct ibf_engine *e, const struct ibf_search *z)
{
	const struct ftr_balance_report *b = &z->balance;

	ibf_log(e->plugin, IBF_SEARCH, "%s: search %sdone: shifts: mean of the most loaded link %.2f flows instead of %.2f; all-to-all: most loaded link %.2f times the lower bound instead of %.2f%s; entries to change=%"
		PRIu64 " ms=%.0f", e->ops->name,
		z->displaced ? "for displaced entries " : "",
		b->shift_after, b->shift_before,
		(double)b->max_after / FTR_MAX(b->bound, 1u),
		(double)b->max_before / FTR_MAX(b->bound, 1u),
		z->replaced ? "; computed from scratch, because the kept tables were more than 5 % behind" : "",
		ibf_search_found(z) ? b->moved : 0, z->ms);
}

#define RETRY_MS 60e3
#define RETRY_DOUBLINGS 10	/* the longest wait is about a day */

static void back_off(struct ibf_prefer *r, const struct ibf_search *z)
{
	r->retry = ibf_now_ms() + RETRY_MS * (1 << FTR_MIN(r->failures, RETRY_DOUBLINGS));
	r->failures++;
	r->new_displaced |= z->displaced;
}

static void take_result(struct ibf_engine *e)
{
	struct ibf_prefer *r = &e->prefer;
	struct ibf_search *z = r->search;

	if (!z || !ibf_search_done(z))
		return;
	ibf_search_join(z, false);
	r->search = NULL;
	if (z->status) {	/* the search has logged it */
		back_off(r, z);
		ibf_search_free(z);
		return;
	}
	r->failures = 0;
	log_result(e, z);
	if (ibf_search_found(z)) {
		drop_better(r);
		r->better = z;
		return;
	}
	if (!z->displaced) {
		r->stage = step(r->stage, NONE_BETTER);
		e->plugin->stored = NULL;
	}
	ibf_search_free(z);
}

/* Option "adopt": the tables that the switches hold become the preferred tables.  The engine moves
 * entries away from overloaded links. */
static enum ftr_status adopt(struct ibf_engine *e, struct ibf_generation *gen, struct ftr_err *err)
{
	struct ibf_prefer *r = &e->prefer;
	enum ftr_status st;

	if (!e->plugin->opt.adopt)
		return FTR_OK;
	if (!e->plugin->smp) {
		ibf_log(e->plugin, IBF_ADOPTED, "no tables read from the switches: the fast path, which reads them, is not available");
		return FTR_OK;
	}
	st = ibf_adopt(e, gen->fabric, &gen->prefer, err);
	if (!st)
		r->stage = step(r->stage, ADOPT);
	gen->keep = (struct ftr_keep){ .prefer = gen->prefer, .search_all = true };
	return st;
}

enum ftr_status ibf_prefer(struct ibf_engine *e, struct ibf_generation *gen, struct ftr_err *err)
{
	struct ibf_prefer *r = &e->prefer;
	const struct ibf_search *better;
	bool first, grown;
	enum ftr_status st;

	if (e->gen && memcmp(&e->gen->options, &gen->options, sizeof(gen->options))) {
		stop_search(r);		/* it has the old options */
		drop_better(r);
	}
	if (e->plugin->opt.balance == FTR_BALANCE_OFF || !gen->nominal)
		return FTR_OK;
	take_result(e);
	first = r->stage == IBF_NO_ROUTING;
	grown = r->gen && has_grown(r, gen);
	r->nominal = gen->nominal->id;
	if (grown) {
		stop_search(r);
		drop_better(r);
		if (is_computed(r->stage) || !ibf_is_complete(r->gen))
			prefer(r, NULL);
		r->stage = step(r->stage, GROWN);
		e->plugin->stored = NULL;
	}
	if (!r->gen) {
		r->stage = step(r->stage, ROUTING);
		return first ? adopt(e, gen, err) : FTR_OK;
	}
	better = ibf_is_complete(gen) && r->better && !r->better->displaced ? r->better : NULL;
	st = ftr_tables_carry(better ? better->gen->fabric : r->gen->fabric,
			      better ? better->t : r->gen->tables, gen->fabric,
			      &gen->prefer, err);
	if (!st && !ibf_is_complete(gen))
		st = read_current(e, gen, err);
	gen->keep = (struct ftr_keep){
		.prefer = gen->prefer, .current = gen->current, .search_all = grown,
	};
	return st;
}

bool ibf_prefer_same(struct ibf_engine *e, const struct ibf_generation *gen)
{
	struct ibf_prefer *r = &e->prefer;

	take_result(e);
	return r->gen && !r->better && r->changes == gen->preferred;
}

static bool same_tables(const struct ftr_tables *a, const struct ftr_tables *b)
{
	return a && !memcmp(a->lft, b->lft, (size_t)a->n_sw * a->stride);
}

/* True if all hosts, links and LIDs of f are in g. */
static bool is_part_of(const struct ftr_fabric *f, const struct ftr_fabric *g)
{
	if (has_host_beyond(f, g) || has_link_beyond(f, g))
		return false;
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		ftr_ep x = ftr_fabric_find_ep(g, f->ep[e].guid);

		if (f->ep[e].sw != FTR_SW_NONE &&
		    (g->ep[x].lid != f->ep[e].lid || g->ep[x].lmc != f->ep[e].lmc ||
		     g->ep[x].sw == FTR_SW_NONE ||
		     g->sw[g->ep[x].sw].guid != f->sw[f->ep[e].sw].guid))
			return false;
	}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (g->sw[ftr_fabric_find_sw(g, f->sw[s].guid)].lid != f->sw[s].lid)
			return false;
	return true;
}

/* A generation for gen that keeps the entries for missing hosts: the result of the search, and the
 * tables preferred so far for hosts that were missing from the search.  NULL: out of memory. */
static struct ibf_generation *better_with_hosts(const struct ibf_prefer *r,
						 const struct ibf_generation *gen)
{
	const struct ftr_fabric *old = r->gen->fabric;
	struct ibf_generation *new = ftr_calloc(1, sizeof(*new));
	struct ftr_err err;

	if (!new)
		return NULL;
	atomic_init(&new->refs, 1);
	new->nominal = gen->nominal;
	atomic_fetch_add(&new->nominal->refs, 1);
	if (ftr_fabric_copy_if(old, NULL, &new->fabric, &err) ||
	    ftr_tables_carry(old, r->gen->tables, new->fabric, &new->tables, &err) ||
	    !ftr_turns_carry(gen->fabric, gen->given, gen->n_given, new->fabric, &new->given,
			     &new->n_given) ||
	    !ftr_turns_carry(gen->fabric, gen->opts.turn, gen->opts.n_turns, new->fabric,
			     &new->stats.turn, &new->opts.n_turns)) {
		ibf_generation_put(new);
		return NULL;
	}
	new->opts.turn = new->stats.turn;
	ftr_tables_overlay(r->better->gen->fabric, r->better->t, new->fabric, new->tables);
	return new;
}

/* Make the tables of gen the preferred tables.  The fabric of gen is complete, or there were
 * no preferred tables. */
static void prefer_these(struct ibf_engine *e, struct ibf_generation *gen)
{
	struct ibf_prefer *r = &e->prefer;
	bool better = r->better && !r->better->displaced;
	bool lacks_hosts = r->gen && has_host_beyond(r->gen->fabric, gen->fabric) &&
		is_part_of(gen->fabric, r->gen->fabric);
	struct ibf_generation *all = NULL;

	if (!better && r->stage != IBF_ADOPTING) {
		if (lacks_hosts)	/* hosts that return get their old entries */
			return;
		if (same_tables(gen->prefer, gen->tables)) {
			prefer(r, gen);
			return;
		}
	}
	if (!better)
		stop_search(r);
	else if (lacks_hosts)
		all = better_with_hosts(r, gen);
	prefer(r, all ? all : gen);
	ibf_generation_put(all);
	r->stage = step(r->stage, better ? BETTER : OTHER_TABLES);
	e->plugin->stored = NULL;
}

void ibf_prefer_routed(struct ibf_engine *e, struct ibf_generation *gen)
{
	struct ibf_prefer *r = &e->prefer;

	if (e->plugin->opt.balance == FTR_BALANCE_OFF || !gen->nominal)
		return;
	if (r->stage == IBF_ADOPTING)
		ibf_adopt_report(e, gen);
	if (gen == e->gen || gen == e->complete || gen == e->whole) {	/* routed again */
		note_displaced(e, gen);
		return;
	}
	if (ibf_is_complete(gen) || !r->gen) {
		prefer_these(e, gen);
		ftr_tables_free(gen->prefer);
		gen->prefer = NULL;
		drop_better(r);
	} else if (r->better && r->better->displaced) {
		drop_better(r);
	}
	gen->preferred = r->changes;
	gen->makeshift = !ibf_is_complete(r->gen);
	note_displaced(e, gen);
	if (e->gen && e->gen->opts.n_turns != gen->opts.n_turns)
		e->plugin->stored = NULL;
	ftr_tables_free(gen->current);
	gen->current = NULL;
	gen->keep = (struct ftr_keep){ .prefer = gen->prefer ? gen->prefer : gen->tables };
	gen->opts.keep = &gen->keep;
}

void ibf_prefer_search(struct ibf_engine *e)
{
	struct ibf_prefer *r = &e->prefer;
	bool due = r->stage == IBF_COMPUTED || r->stage == IBF_GIVEN;

	if (e->plugin->opt.balance != FTR_BALANCE_FULL || r->search || r->better || !e->gen ||
	    !e->gen->nominal || !e->gen->tables || ibf_now_ms() < r->retry)
		return;
	due = due && ibf_is_complete(e->gen);
	if (!due && (!r->new_displaced || !e->gen->prefer))
		return;
	/* if hosts are missing, search the preferred tables, which have entries for them */
	r->search = ibf_search_start(e, due && r->gen && r->gen->shape &&
				     r->gen->nominal == e->gen->nominal ? r->gen : e->gen, !due);
	r->new_displaced &= due || !r->search;
}
