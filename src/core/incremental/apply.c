// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Creation of struct ftr_incr, and the steps of ftr_incr_apply():
 *
 *	1. find the links that change state		changes nothing
 *	2. update links, groups, costs and extra turns	can be undone
 *	3. compute the new entries and write steps	changes the tables only if ports are chosen
 *							by load (displaced.h); can be undone
 *	4. enter the other new entries into the tables	cannot fail
 *
 * The flows of the new entries are counted in step 3 if ports are chosen, otherwise by ftr_incr_settle(),
 * because that takes twice as long as all other work for a link that returns.
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

static enum ftr_status build(struct ftr_incr *lv,
			     const struct ftr_shape *nominal,
			     const struct ftr_tables *t, struct ftr_err *err)
{
	struct ftr_arena *a = lv->arena;
	const struct connect *plan = incr_plan(lv);
	uint32_t n_leaf = lv->view.tree.n_leaf;
	struct ftr_validity v;
	enum ftr_status st = incr_lists_new(&lv->lists, a, &lv->view, err);

	if (!st)
		st = incr_costs_new(&lv->costs, a, &lv->view, &lv->lists, err);
	if (!st)
		st = incr_links_new(&lv->links, a, &lv->view, nominal,
				    lv->opts.paths == FTR_PATHS_ALL, err);
	if (!st)
		st = incr_costs_check(&lv->costs, err);
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
	lv->now.bad_pairs = v.bad_pairs;
	for (uint32_t i = 0; i < plan->n_entries; i++)
		lv->now.bad_pairs -= plan->entry[i].col < n_leaf &&
			lv->view.numbering.col[plan->entry[i].sw] < n_leaf;
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
	free(lv->costs.log);
	free(lv->change);
	for (int i = 0; i < 2; i++) {
		ftr_arena_free(lv->plan_arena[i]);
		free(lv->spared[i]);
	}
	free(lv);
}

/* ---- links that change ------------------------------------------------ */

/* Find the link of an event.  *link: its end at the switch of lower rank (equal ranks: the end with
 * the lower number), or NONE if the link leads to a host, or if routing does not use it (view.c). */
static enum ftr_status find_link(const struct ftr_incr *lv,
				 const struct ftr_incr_event *e,
				 uint32_t *link, struct ftr_err *err)
{
	const struct ftr_fabric *f = lv->view.f;
	const struct incr_links *k = &lv->links;
	enum incr_side side;

	if (e->sw >= f->n_sw || !e->port || e->port > f->sw[e->sw].n_ports)
		return ftr_fail(err, FTR_INVAL, "port %u of switch %u does not exist; the fabric has %u switches",
				e->port, e->sw, f->n_sw);
	*link = incr_link(k, e->sw, e->port);
	if (*link != NONE) {
		side = incr_side(k->rank, e->sw, incr_remote(k, *link));
		if (side == INCR_DOWN || (side == INCR_EQUAL && k->far[*link] < *link))
			*link = k->far[*link];
	} else if (ftr_fabric_port(f, e->sw, e->port)->peer_kind == FTR_PEER_NONE) {
		return ftr_fail(err, FTR_INVAL, "no link is known at port %u of switch 0x%016"
				PRIx64,
				e->port, f->sw[e->sw].guid);
	}
	return FTR_OK;
}

/* Set lv->toggled to the links whose state the events change.  Of several events for one link, the
 * last one counts. */
static enum ftr_status find_toggled(struct ftr_incr *lv,
			       const struct ftr_incr_event *event, uint32_t n,
			       struct ftr_err *err)
{
	uint8_t *after;		/* [n_ends] state of the link after the events */
	uint32_t kept = 0;

	lv->n_toggled = 0;
	if (!FTR_NEW(lv->last, lv->toggled, n + 1u) || !FTR_ZNEW(lv->last, after, lv->links.n_ends))
		return incr_nomem(err);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = NONE;
		enum ftr_status st = find_link(lv, &event[i], &c, err);

		if (st)
			return st;
		if (c == NONE)
			continue;
		lv->toggled[lv->n_toggled++] = c;
		after[c] = event[i].up;
	}
	qsort(lv->toggled, lv->n_toggled, sizeof(*lv->toggled), ftr_u32_cmp);
	for (uint32_t i = 0; i < lv->n_toggled; i++) {
		uint32_t c = lv->toggled[i];

		if (after[c] != lv->links.alive[c] && (!kept || lv->toggled[kept - 1] != c))
			lv->toggled[kept++] = c;
	}
	lv->n_toggled = kept;
	return FTR_OK;
}

/* ---- an apply -------------------------------------------------------- */

static void toggle_all(struct ftr_incr *lv)
{
	for (uint32_t i = 0; i < lv->n_toggled; i++)
		incr_toggle(&lv->links, &lv->view, lv->toggled[i]);
	for (uint32_t i = 0; i < lv->n_toggled; i++) {
		incr_pack(&lv->links, incr_near(&lv->links, lv->toggled[i]));
		incr_pack(&lv->links, incr_remote(&lv->links, lv->toggled[i]));
	}
}

/* Set *low and *high to the switches of toggled link i.  Returns false if they have the same rank. */
static bool ends_of(const struct ftr_incr *lv, uint32_t i, ftr_sw *low, ftr_sw *high)
{
	*low = incr_near(&lv->links, lv->toggled[i]);
	*high = incr_remote(&lv->links, lv->toggled[i]);
	return incr_side(lv->links.rank, *low, *high) != INCR_EQUAL;
}

/* Update links, groups, costs and extra turns.  Put the entries that depend on them on the work
 * list.  had: [n_toggled] scratch. */
static enum ftr_status update_costs(struct ftr_incr *lv, uint8_t *had, struct ftr_err *err)
{
	ftr_sw low, high;
	enum ftr_status st;

	for (uint32_t i = 0; i < lv->n_toggled; i++) {
		if (!ends_of(lv, i, &low, &high))
			continue;
		had[i] = incr_adjacent(&lv->view, low, high);
		if (had[i])
			incr_touch_link(&lv->costs, low, high);
	}
	toggle_all(lv);
	for (uint32_t i = 0; i < lv->n_toggled; i++) {
		if (!ends_of(lv, i, &low, &high) || had[i] == incr_adjacent(&lv->view, low, high))
			continue;
		incr_touch_whole(&lv->lists, JOB_DOWN, high);
		incr_touch_whole(&lv->lists, JOB_COST, low);
	}
	st = incr_costs_update(&lv->costs, err);
	if (st)
		return st;
	for (uint32_t i = 0; i < lv->n_toggled; i++)
		if (ends_of(lv, i, &low, &high) && incr_adjacent(&lv->view, low, high))
			incr_touch_link(&lv->costs, low, high);
	return incr_extra(lv, err);
}

static void set_entries(struct ftr_incr *lv, bool back)
{
	for (uint32_t i = 0; i < lv->result.n_changes; i++) {
		const struct ftr_change *c = &lv->change[i];

		ftr_tables_row(lv->t, c->sw)[c->lid] = back ? c->before : c->after;
	}
}

static struct ftr_link link_of(const struct incr_links *k, uint32_t c)
{
	return (struct ftr_link){
		.sw = incr_near(k, c), .port = k->port[c],
		.peer = incr_remote(k, c), .peer_port = k->port[k->far[c]],
	};
}

static enum ftr_status report_links(struct ftr_incr *lv, struct ftr_err *err)
{
	const struct incr_links *k = &lv->links;
	struct ftr_incr_result *r = &lv->result;
	struct ftr_link *out;

	if (!FTR_NEW(lv->last, out, lv->n_toggled) || !FTR_NEW(lv->last, lv->extra, k->n_absent))
		return incr_nomem(err);
	for (int up = 0; up < 2; up++) {
		r->n_gone = up ? r->n_links : 0;
		for (uint32_t i = 0; i < lv->n_toggled; i++)
			if (k->alive[lv->toggled[i]] == up)
				out[r->n_links++] = link_of(k, lv->toggled[i]);
	}
	r->link = out;
	lv->n_extra = 0;
	for (uint32_t i = 0; i < k->n_absent; i++)
		if (k->alive[k->absent[i]])
			lv->extra[lv->n_extra++] = link_of(k, k->absent[i]);
	return FTR_OK;
}

static void revert(struct ftr_incr *lv)
{
	if (lv->counted)
		incr_place(lv, true);
	incr_costs_back(&lv->costs);
	toggle_all(lv);
	lv->now = lv->before;
}

static enum ftr_status run_incremental(struct ftr_incr *lv, uint8_t *had, struct ftr_err *err)
{
	enum ftr_status st = update_costs(lv, had, err);

	if (!st) {
		incr_spare_list(lv);
		st = incr_entries(lv, err);
	}
	if (!st)
		st = incr_sort(lv, err);
	if (!st)
		st = incr_spare(lv, err);
	if (!st) {
		incr_count_pairs(lv);
		lv->counted = incr_needs_ports(lv);
		if (lv->counted)
			incr_place(lv, false);
		st = incr_write_steps(lv, err);
	}
	if (!st)
		st = report_links(lv, err);
	incr_lists_clear(&lv->lists);
	if (st)
		revert(lv);
	return st;
}

void ftr_incr_settle(struct ftr_incr *lv)
{
	if (!lv->can_undo || lv->counted || !lv->displaced)
		return;
	lv->counted = true;
	set_entries(lv, true);
	incr_place(lv, false);
}

enum ftr_status ftr_incr_apply(struct ftr_incr *lv,
			       const struct ftr_incr_event *event, uint32_t n,
			       const struct ftr_incr_result **out,
			       struct ftr_err *err)
{
	struct ftr_incr_result *r = &lv->result;
	enum ftr_status st;
	uint8_t *had;

	ftr_incr_settle(lv);
	lv->can_undo = lv->counted = false;
	ftr_arena_free(lv->last);
	*r = (struct ftr_incr_result){ 0 };
	lv->costs.n_log = 0;
	lv->before = lv->now;
	lv->last = ftr_arena_new();
	st = lv->last ? find_toggled(lv, event, n, err) : incr_nomem(err);
	if (!st)
		st = FTR_NEW(lv->last, had, n + 1u) ? run_incremental(lv, had, err) : incr_nomem(err);
	if (st)
		return st;
	set_entries(lv, false);
	lv->now.bad_pairs += r->lost_pairs - r->regained_pairs;
	r->bad_pairs = lv->now.bad_pairs;
	lv->can_undo = true;
	*out = r;
	return FTR_OK;
}

bool ftr_incr_undo(struct ftr_incr *lv)
{
	if (!lv->can_undo)
		return false;
	lv->can_undo = false;
	revert(lv);	/* needs the new tables, so it comes before set_entries() */
	set_entries(lv, true);
	return true;
}

/* ---- queries --------------------------------------------------------- */

void ftr_incr_delta(const struct ftr_incr *lv, struct ftr_check_delta *out)
{
	const struct ftr_incr_result *r = &lv->result;

	*out = (struct ftr_check_delta){
		.dead = lv->links.dead, .extra = lv->extra, .n_extra = lv->n_extra,
		.gone = r->link, .n_gone = r->n_gone,
		.change = r->change, .n_changes = r->n_changes,
		.rank = lv->view.tree.rank, .ordered = true,
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
	return lv->links.dead;
}

bool ftr_incr_connected(const struct ftr_incr *lv, ftr_sw s, ftr_port p)
{
	return incr_link(&lv->links, s, p) != NONE;
}

bool ftr_incr_alive(const struct ftr_incr *lv, ftr_sw s, ftr_port p)
{
	uint32_t c = incr_link(&lv->links, s, p);

	return c != NONE && lv->links.alive[c];
}
