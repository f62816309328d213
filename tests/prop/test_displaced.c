// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Displaced entries over random fabrics and random sequences of faults and repairs:
 * the entries that change, the counted flows, and the return of all entries.
 *
 * Every loop prints its seed when it fails; FTR_SEED=N starts there, FTR_RUNS
 * multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "balance/displaced.h"
#include "engine/engine.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "lib/world.h"
#include "incremental/incremental.h"

static struct ftr_err err;

/* A world with an incremental routing that keeps entries (lv); w->lv keeps none. */
struct kept {
	struct world *w;
	struct ftr_tables *prefer, *before;
	struct ftr_keep keep;
	struct ftr_incr *lv;
};

/* Tables in which an entry has its preferred port if that leads closer, and otherwise the port of
 * the formula. */
static struct ftr_tables *first_tables(const struct kept *k)
{
	const struct ftr_shape *sh = k->w->sh;
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	struct ftr_port_set valid;
	struct ftr_tables *t;
	uint64_t no_path;

	ck_assert(!ftr_tables_new(sh->f, false, &t, &err));
	ck_assert(!dmodc_tables(sh, FTR_PLACE_EVEN, NULL, NULL, t, NULL, &no_path,
				&err));
	for (uint32_t i = 0; i < sh->numbering.n_dest; i++)
		for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
			const struct ftr_dest *d = &sh->numbering.dest[i];
			ftr_port prefer = ftr_tables_get(k->prefer, s, d->lid);

			if (d->col == sh->numbering.col[s])
				continue;
			ftr_shape_ports(sh, cand, ftr_shape_candidates(
						sh, s, d->col, cand), &valid);
			if (ftr_port_set_has(&valid, prefer))
				ftr_tables_row(t, s)[d->lid] = prefer;
		}
	return t;
}

static void start(struct kept *k, struct world *w, enum world_kind kind)
{
	struct ftr_route_opts opts;
	struct ftr_tables *t;
	uint64_t no_path;

	world_start(w, kind);
	opts = w->opts;
	opts.placement = FTR_PLACE_EVEN;
	k->w = w;
	ck_assert(!ftr_tables_new(w->f, false, &k->prefer, &err));
	ck_assert(!ftr_tables_new(w->f, false, &k->before, &err));
	ck_assert(!dmodc_tables(w->order ? w->order : w->whole,
				FTR_PLACE_EVEN, NULL, NULL, k->prefer, NULL,
				&no_path, &err));
	k->keep = (struct ftr_keep){ k->prefer, NULL, false, false };
	opts.keep = &k->keep;
	t = first_tables(k);
	ck_assert_msg(!ftr_incr_new(w->sh, kind == WORLD_LATE ? w->whole :
				    NULL, t, &opts, &k->lv, &err), "%s",
		      err.msg);
	ftr_tables_free(t);
}

static void stop(struct kept *k)
{
	ftr_incr_free(k->lv);
	ftr_tables_free(k->prefer);
	ftr_tables_free(k->before);
	world_stop(k->w);
}

/* ---- which entries change ---------------------------------------------------- */

static void check_entry(const struct kept *k, ftr_sw s,
			const struct ftr_dest *d)
{
	const struct ftr_shape *v = &k->w->lv->view;	/* other tests check the view */
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	ftr_port is = ftr_tables_get(ftr_incr_tables(k->lv), s, d->lid);
	ftr_port was = ftr_tables_get(k->before, s, d->lid);
	ftr_port prefer = ftr_tables_get(k->prefer, s, d->lid);
	struct ftr_port_set valid;
	ftr_port want;
	uint32_t n;

	if (d->col == v->numbering.col[s])
		return;
	n = ftr_shape_candidates(v, s, d->col, cand);
	ftr_shape_ports(v, cand, n, &valid);
	want = ftr_port_set_has(&valid, prefer) ? prefer :
		ftr_port_set_has(&valid, was) ? was :
		ftr_port_set_has(&valid, is) ? is : FTR_PORT_NONE;
	must(is == want && (is != FTR_PORT_NONE || !n), "seed %" PRIu64
	     ": switch %u LID %u: port %u, was %u, preferred %u, %u candidates",
	     k->w->seed, s, d->lid, is, was, prefer, n);
}

static void check_entries(const struct kept *k)
{
	const struct ftr_shape *sh = k->w->sh;

	for (uint32_t i = 0; i < sh->numbering.n_dest; i++)
		for (ftr_sw s = 0; s < sh->f->n_sw; s++)
			check_entry(k, s, &sh->numbering.dest[i]);
}

/* ---- counts ------------------------------------------------------------------ */

/* Positions of hosts by base LID, and the number of hosts. */
struct hosts {
	uint32_t *pos;		/* [max_lid + 1] UINT32_MAX: none */
	uint32_t n;
};

static bool is_host(const struct ftr_endport *p)
{
	return p->sw != FTR_SW_NONE && p->type == FTR_NODE_CA && p->lid &&
		!ftr_ep_is_aggregation(p);
}

static struct hosts number_hosts(const struct ftr_shape *sh)
{
	struct hosts h = { malloc((sh->f->max_lid + 1u) * sizeof(*h.pos)), 0 };
	uint32_t n = sh->numbering.n_places;
	ftr_ep *order = malloc((n + 1u) * sizeof(*order));

	memset(h.pos, 0xff, (sh->f->max_lid + 1u) * sizeof(*h.pos));
	ftr_shape_host_order(sh, order);
	for (uint32_t i = 0; i < n; i++)
		if (order[i] != FTR_EP_NONE && is_host(&sh->f->ep[order[i]]))
			h.pos[sh->f->ep[order[i]].lid] = h.n++;
	free(order);
	return h;
}

struct recount {
	uint32_t *flows;	/* [n_ports] */
	uint32_t *shift;	/* [n_ports][number of hosts] */
};

static void follow_flow(const struct kept *k, const struct hosts *h,
			struct recount *r, const struct ftr_endport *from,
			ftr_lid lid)
{
	const struct ftr_tables *t = ftr_incr_tables(k->lv);
	const struct ftr_fabric *f = k->w->f;
	bool displaced = false;
	ftr_sw s = from->sw;

	for (uint32_t hops = 0; hops <= f->n_sw; hops++) {
		ftr_port p = ftr_tables_get(t, s, lid);
		uint32_t link = f->sw[s].first_port + p, a = h->pos[from->lid];

		if (p > f->sw[s].n_ports ||
		    f->ports[link].peer_kind != FTR_PEER_SW)
			return;
		displaced |= p != ftr_tables_get(k->prefer, s, lid);
		r->flows[link]++;
		if (displaced && a != UINT32_MAX && h->pos[lid] != UINT32_MAX)
			r->shift[(size_t)link * h->n +
				 (h->pos[lid] + h->n - a) % h->n]++;
		s = f->ports[link].peer;
	}
	ck_abort_msg("seed %" PRIu64 ": a loop towards LID %u", k->w->seed,
		     lid);
}

static void check_link(const struct kept *k, const struct hosts *h,
		       const struct recount *r, uint32_t link)
{
	const struct displaced *z = k->lv->displaced;
	uint32_t width = 1;

	must(displaced_flows(z, link) == r->flows[link], "seed %" PRIu64
	     ": link %u: %u flows counted, there are %u", k->w->seed, link,
	     displaced_flows(z, link), r->flows[link]);
	for (uint32_t b = 0; b < h->n; b += width) {
		uint32_t got = displaced_bin(z, link, b, &width), want = 0;

		for (uint32_t x = b; x < FTR_MIN(b + width, h->n); x++)
			want += r->shift[(size_t)link * h->n + x];
		must(got == want, "seed %" PRIu64
		     ": link %u: %u displaced flows counted in the shifts from %u on, there are %u",
		     k->w->seed, link, got, b, want);
	}
}

static void check_counts(const struct kept *k)
{
	const struct ftr_fabric *f = k->w->f;
	struct hosts h = number_hosts(k->w->sh);
	struct recount r = {
		calloc(f->n_ports, sizeof(uint32_t)),
		calloc((size_t)f->n_ports * (h.n + 1), sizeof(uint32_t)),
	};

	for (ftr_ep a = 0; a < f->n_ep; a++)
		for (ftr_ep b = 0; b < f->n_ep; b++)
			if (is_host(&f->ep[a]) && is_host(&f->ep[b]))
				follow_flow(k, &h, &r, &f->ep[a],
					    f->ep[b].lid);
	for (uint32_t link = 0; link < f->n_ports; link++)
		if (f->ports[link].peer_kind == FTR_PEER_SW)
			check_link(k, &h, &r, link);
	free(r.flows);
	free(r.shift);
	free(h.pos);
}

/* ---- sequences of events ----------------------------------------------------- */

static void check_all(const struct kept *k)
{
	check_entries(k);
	check_counts(k);
}

static void apply(struct kept *k, const struct ftr_incr_event *e, uint32_t n)
{
	const struct ftr_incr_result *r;

	world_copy_tables(k->before, ftr_incr_tables(k->lv));
	world_note(k->w, e, n);
	ck_assert_msg(!ftr_incr_apply(k->w->lv, e, n, NULL, &r, &err), "%s",
		      err.msg);
	ck_assert_msg(!ftr_incr_apply(k->lv, e, n, NULL, &r, &err), "%s",
		      err.msg);
	for (uint32_t i = 0; i < r->n_changes; i++)
		ck_assert_uint_ne(r->change[i].before, r->change[i].after);
}

static void apply_and_undo(struct kept *k)
{
	struct ftr_incr_event *e = malloc(world_room(k->w) * sizeof(*e));
	const struct ftr_incr_result *r;
	uint32_t n = world_events(k->w, e);

	world_copy_tables(k->before, ftr_incr_tables(k->lv));
	ck_assert(!ftr_incr_apply(k->lv, e, n, NULL, &r, &err));
	ck_assert(ftr_incr_undo(k->lv));
	ck_assert(!memcmp(k->before->lft, ftr_incr_tables(k->lv)->lft,
			  (size_t)k->before->n_sw * k->before->stride));
	check_counts(k);
	free(e);
}

/* Repair all links: the tables must be the preferred ones. */
static void repair_all(struct kept *k)
{
	const struct ftr_fabric *f = k->w->f;
	struct ftr_incr_event *e = malloc(f->n_ports * sizeof(*e));
	const struct ftr_tables *t = ftr_incr_tables(k->lv);
	uint32_t n = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			if (k->w->dead[f->sw[s].first_port + p])
				e[n++] = (struct ftr_incr_event){
					s, (ftr_port)p, true
				};
	apply(k, e, n);
	check_all(k);
	for (uint32_t i = 0; i < k->w->sh->numbering.n_dest; i++)
		for (ftr_sw s = 0; s < f->n_sw; s++) {
			ftr_lid lid = k->w->sh->numbering.dest[i].lid;

			must(ftr_tables_get(t, s, lid) ==
			     ftr_tables_get(k->prefer, s, lid), "seed %" PRIu64
			     ": switch %u LID %u does not have its preferred port",
			     k->w->seed, s, lid);
		}
	free(e);
}

static void history(struct world *w, enum world_kind kind)
{
	struct ftr_incr_event *e;
	struct kept k;

	start(&k, w, kind);
	check_counts(&k);
	e = malloc(world_room(w) * sizeof(*e));
	for (int i = 0; i < 10; i++) {
		apply(&k, e, world_events(w, e));
		check_all(&k);
		if (i % 4 == 0)
			apply_and_undo(&k);
	}
	repair_all(&k);
	free(e);
	stop(&k);
}

START_TEST(events_on_trees)
{
	for_each_world(w, 200) {
		world_tree(&w, 30, false);
		history(&w, w.seed % 2 ? WORLD_LATE : WORLD_WHOLE);
	}
}
END_TEST

START_TEST(events_on_chassis)
{
	for_each_world(w, 60) {
		world_chassis(&w, w.seed % 2);
		history(&w, w.seed % 3 ? WORLD_WHOLE : WORLD_LATE);
	}
}
END_TEST

START_TEST(events_on_graphs)
{
	for_each_world(w, 200) {
		world_graph(&w, 16);
		history(&w, w.seed % 3 == 0 ? WORLD_INVERTED : w.seed % 3 == 1 ?
			WORLD_LATE : WORLD_WHOLE);
	}
}
END_TEST

/* ---- memory ------------------------------------------------------------------- */

START_TEST(no_memory_no_change)
{
	for_each_world(w, 6) {
		struct ftr_incr_event e[FTR_PORT_MAX];
		const struct ftr_incr_result *r;
		enum ftr_status st = FTR_NOMEM;
		struct kept k;
		uint32_t n;

		world_tree(&w, 24, false);
		start(&k, &w, WORLD_WHOLE);
		world_copy_tables(k.before, ftr_incr_tables(k.lv));
		n = ftr_incr_switch(k.lv, ftr_rng_below(&w.rng, w.f->n_sw),
				    false, e);
		for (unsigned long at = 1; st; at++) {
			ftr_alloc_fail_at(at);
			st = ftr_incr_apply(k.lv, e, n, NULL, &r, &err);
			ftr_alloc_fail_at(0);
			ck_assert(!st || st == FTR_NOMEM);
			if (!st)
				continue;
			ck_assert(!memcmp(k.before->lft,
					  ftr_incr_tables(k.lv)->lft,
					  (size_t)k.before->n_sw *
					  k.before->stride));
			check_counts(&k);
		}
		check_counts(&k);
		stop(&k);
	}
}
END_TEST

/* ---- a whole routing ------------------------------------------------------------ */

/* Clear the entries whose bits are set. */
static uint32_t clear(struct ftr_tables *t, const uint64_t *bits)
{
	uint32_t n = 0;

	for (ftr_sw s = 0; s < t->n_sw; s++)
		for (uint32_t lid = 0; lid <= t->max_lid; lid++)
			if (bits[(size_t)s * (t->stride / 64) + lid / 64] >>
			    lid % 64 & 1) {
				ftr_tables_row(t, s)[lid] = FTR_PORT_NONE;
				n++;
			}
	return n;
}

/* The tables of a shape whose displaced entries are placed by `team`; lid_by_lid: by the method for
 * extra turns, without preparing entries. *n: number of placed entries. */
static struct ftr_tables *place_displaced(const struct ftr_balance_input *in,
					  bool lid_by_lid,
					  struct ftr_team *team, uint32_t *n)
{
	struct displaced *z = NULL;
	struct ftr_tables *t = NULL;
	uint64_t none, *bits;

	ck_assert(!ftr_tables_new(in->shape->f, false, &t, &err));
	bits = calloc((size_t)t->n_sw * (t->stride / 64), sizeof(*bits));
	ck_assert_ptr_nonnull(bits);
	ck_assert(!dmodc_tables(in->shape, FTR_PLACE_EVEN, NULL, NULL, t, bits,
				&none, &err));
	*n = clear(t, bits);
	ck_assert(!displaced_new(in, t, NULL, true, team, &z, &err));
	ck_assert(displaced_place_all(z, lid_by_lid, bits, team));
	displaced_free(z);
	free(bits);
	return t;
}

/* Entries that several threads prepare get the same ports as entries placed LID by LID. */
START_TEST(prepared_entries_are_placed_as_one_by_one)
{
	struct ftr_team *team = ftr_team_new(3);
	uint64_t seed = trees_first_seed(), placed = 0;

	for (uint32_t i = 0; i < trees_runs(300); i++, seed++) {
		struct ftr_balance_input in = {
			.depth = i % 2 ? FTR_BALANCE_LOAD : FTR_BALANCE_OFF,
		};
		struct ftr_shape *sh = NULL;
		struct ftr_tables *t, *slow;
		struct ftr_fabric *f;
		struct ftr_rng r;
		uint32_t n;

		ftr_rng_seed(&r, seed);
		f = seed % 5 == 2 ? trees_chassis(&r) : trees_irregular(&r);
		if (seed % 5)
			f = trees_damaged(f, &r, 60);
		ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
		in.shape = sh;
		t = place_displaced(&in, false, team, &n);
		slow = place_displaced(&in, true, NULL, &n);
		placed += n;
		for (ftr_sw s = 0; s < t->n_sw; s++)
			ck_assert_msg(!memcmp(ftr_tables_row(t, s),
					      ftr_tables_row(slow, s),
					      t->max_lid + 1u), "seed %" PRIu64
				      ": the tables differ at switch %u", seed, s);
		ftr_tables_free(slow);
		ftr_tables_free(t);
		ftr_shape_free(sh);
		ftr_fabric_free(f);
	}
	ftr_team_free(team);
	runs_show(placed > 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("displaced");
	TCase *t = tcase_create("displaced");

	tcase_add_test(t, events_on_trees);
	tcase_add_test(t, events_on_chassis);
	tcase_add_test(t, events_on_graphs);
	tcase_add_test(t, no_memory_no_change);
	tcase_add_test(t, prepared_entries_are_placed_as_one_by_one);
	suite_add_tcase(s, t);
	return run_suite(s);
}
