// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests displaced entries.  An entry is displaced if its next hop in the complete fabric (the
 * preferred port) is missing, or no longer leads to the destination.
 *
 * Links of random fabrics fail and return.  After each event, only entries that had to change may
 * have changed, and the flows on the links must be counted correctly.  When all links have
 * returned, all entries must have their preferred ports.  Several threads must give displaced
 * entries the same ports as one thread.
 *
 * A test that fails prints the seed.  FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number
 * of fabrics.
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

/* Two incremental routings of one fabric.  lv gives each entry its preferred port; if that is not
 * valid, the entry keeps its port if possible.  w->lv (lib/world.h) ignores preferred ports, and
 * keeps no ports. */
struct kept {
	struct world *w;
	struct ftr_tables *prefer, *before;
	struct ftr_keep keep;
	struct ftr_incr *lv;
};

/* Returns tables in which each entry has its preferred port, if that is a candidate.  The other
 * entries have the port that the formula of Gliksberg et al. 2020 gives them. */
static struct ftr_tables *first_tables(const struct kept *k)
{
	const struct ftr_shape *sh = k->w->sh;
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	struct ftr_port_set valid;
	struct ftr_tables *t;
	uint64_t no_path;

	ck_assert(!ftr_tables_new(sh->f, false, &t, &err));
	ck_assert(!dmodc_tables(sh, NULL, NULL, t, NULL, &no_path,
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
	k->w = w;
	ck_assert(!ftr_tables_new(w->f, false, &k->prefer, &err));
	ck_assert(!ftr_tables_new(w->f, false, &k->before, &err));
	ck_assert(!dmodc_tables(w->order ? w->order : w->whole, NULL, NULL, k->prefer, NULL,
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
	const struct ftr_shape *v = &k->w->lv->view;	/* other tests check this shape */
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
	     ": switch %u LID %u: port %u (before: %u, preferred: %u), %u candidates",
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

struct hosts {
	uint32_t *pos;		/* [base LID] position in the host order, or UINT32_MAX */
	uint32_t n;		/* number of hosts that have a position */
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
	uint32_t *flows;	/* [link] */
	uint32_t *shift;	/* [link][shift] flows that have used a displaced entry, on this
				 * link or before it */
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

/* Tables in which some entries are marked.  displaced_place_all() gives these entries ports. */
struct marked {
	struct ftr_fabric *f;
	struct ftr_shape *sh, *order;	/* order: see random_order() */
	struct ftr_balance_input in;	/* for tables routed by sh, by `order`, or by both */
	uint8_t *use_full;
	struct ftr_tables *t;		/* marked entries hold FTR_PORT_NONE */
	struct ftr_tables *prefer;	/* or NULL */
	uint64_t *bits;			/* [switch][LID / 64] bit set of the marked entries */
	uint32_t n;			/* number of marked entries */
};

/* displaced_all.c handles destinations in blocks.  trees_racks() and the fabrics with
 * `seed % 5 == 1` have so many destinations that there are several blocks. */
static struct ftr_fabric *marked_fabric(uint64_t seed, struct ftr_rng *r)
{
	struct ftr_pgft g;

	if (seed % 60 == 31)
		return trees_damaged(trees_racks(), r, 20);
	switch (seed % 5) {
	case 0:
		return trees_irregular(r);
	case 1:
		trees_random_pgft(r, &g, false, 100);
		return trees_damaged(trees_grow(&g, seed,
						1 + ftr_rng_below(r, 3)),
				     r, 40);
	case 2:
		return trees_damaged(trees_chassis(r), r, 60);
	default:
		return trees_damaged(trees_irregular(r), r, 60);
	}
}

/* Returns a shape with the same links, but with the switches in random order.  In such an order a
 * switch must often route downward although an upward path is shorter. */
static struct ftr_shape *random_order(const struct ftr_shape *sh,
				      struct ftr_rng *r)
{
	uint32_t n = sh->f->n_sw, *perm = calloc(n, sizeof(*perm));
	uint16_t *level = calloc(n, sizeof(*level));
	struct ftr_shape *out = NULL;

	ck_assert(perm && level);
	ftr_rng_perm(r, perm, n);
	for (ftr_sw s = 0; s < n; s++)
		level[s] = (uint16_t)perm[s];
	ck_assert(!ftr_shape_reorder(sh, level, FTR_REORDER_ALL, NULL, &out,
				     &err));
	free(level);
	free(perm);
	return out;
}

static struct ftr_tables *tables_of(const struct ftr_shape *sh, uint64_t *bits)
{
	struct ftr_tables *t = NULL;
	uint64_t none;

	ck_assert(!ftr_tables_new(sh->f, false, &t, &err));
	ck_assert(!dmodc_tables(sh, NULL, NULL, t, bits, &none, &err));
	return t;
}

static void mark_any(struct marked *m, struct ftr_rng *r)
{
	const struct ftr_shape_numbering *numbering = &m->sh->numbering;

	for (uint32_t i = 0; i < numbering->n_dest; i++)
		for (ftr_sw s = 0; s < m->f->n_sw; s++) {
			const struct ftr_dest *d = &numbering->dest[i];

			if (d->col == numbering->col[s] ||
			    ftr_tables_get(m->t, s, d->lid) == FTR_PORT_NONE ||
			    ftr_rng_below(r, 4))
				continue;
			m->bits[(size_t)s * (m->t->stride / 64) + d->lid / 64] |=
				UINT64_C(1) << d->lid % 64;
		}
}

static void use_both(struct marked *m)
{
	const struct ftr_shape_numbering *numbering = &m->sh->numbering;
	struct ftr_tables *other = tables_of(m->order, NULL);

	m->in.full = m->order;
	m->in.use_full = m->use_full;
	for (uint32_t l = 0; l < m->f->n_sw; l++)
		m->use_full[l] = l % 2;
	for (uint32_t i = 0; i < numbering->n_dest; i++)
		for (ftr_sw s = 0; numbering->dest[i].col % 2 && s < m->f->n_sw; s++)
			ftr_tables_row(m->t, s)[numbering->dest[i].lid] =
				ftr_tables_get(other, s, numbering->dest[i].lid);
	ftr_tables_free(other);
}

/* Mark the entries that dmodc reports as displaced (seed % 4 == 0), or a random quarter of all
 * entries. */
static void marked_new(struct marked *m, uint64_t seed)
{
	bool displaced = seed % 4 == 0, both = seed % 4 == 1;
	struct ftr_rng r;

	*m = (struct marked){ .in.depth = (enum ftr_balance)(seed % 3) };
	ftr_rng_seed(&r, seed);
	m->f = marked_fabric(seed, &r);
	ck_assert(!ftr_shape_new(m->f, NULL, NULL, &m->sh, &err));
	m->order = random_order(m->sh, &r);
	m->in.shape = displaced || both ? m->sh : m->order;
	m->use_full = calloc(m->f->n_sw, 1);
	m->bits = calloc((size_t)m->f->n_sw * (m->f->max_lid / 64 + 1),
			 sizeof(*m->bits));
	ck_assert(m->use_full && m->bits);
	m->t = tables_of(m->in.shape, displaced ? m->bits : NULL);
	ck_assert_uint_eq(m->t->stride / 64, m->f->max_lid / 64 + 1);
	if (both)
		use_both(m);
	if (seed % 7 < 3)
		m->prefer = tables_of(m->in.shape, NULL);
	if (!displaced)
		mark_any(m, &r);
	m->n = world_clear_entries(m->t, m->bits);
}

static void marked_free(struct marked *m)
{
	free(m->bits);
	free(m->use_full);
	ftr_tables_free(m->prefer);
	ftr_tables_free(m->t);
	ftr_shape_free(m->order);
	ftr_shape_free(m->sh);
	ftr_fabric_free(m->f);
}

struct placing {
	struct ftr_tables *t;
	struct displaced *z;
};

static void placing_new(struct placing *p, const struct marked *m,
			struct ftr_team *team)
{
	p->t = world_copy_of_tables(m->f, m->t);
	ck_assert(!displaced_new(&m->in, p->t, m->prefer, true, team, &p->z,
				 &err));
}

static void placing_free(struct placing *p)
{
	displaced_free(p->z);
	ftr_tables_free(p->t);
}

/* Place the marked entries LID by LID in one thread.  dmodc does so if there are extra turns. */
static void place_slowly(struct placing *p, const struct marked *m)
{
	placing_new(p, m, NULL);
	ck_assert(displaced_place_all(p->z, true, m->bits, NULL));
}

static void are_equal(const struct marked *m, const struct placing *a,
		      const struct placing *b, uint64_t seed)
{
	struct hosts h = number_hosts(m->sh);
	uint32_t width;

	free(h.pos);
	for (ftr_sw s = 0; s < m->f->n_sw; s++)
		must(!memcmp(ftr_tables_row(a->t, s), ftr_tables_row(b->t, s),
			     a->t->max_lid + 1u), "seed %" PRIu64
		     ": the tables differ at switch %u", seed, s);
	for (uint32_t x = 0; x < m->f->n_ports; x++) {
		must(displaced_flows(a->z, x) == displaced_flows(b->z, x),
		     "seed %" PRIu64 ": the flows differ on link %u", seed, x);
		for (uint32_t k = 0; k < h.n; k += width)
			must(displaced_bin(a->z, x, k, &width) ==
			     displaced_bin(b->z, x, k, &width), "seed %" PRIu64
			     ": the displaced flows in shift %u differ on link %u", seed, k, x);
	}
}

/* Entries that several threads prepare must get the same ports as entries placed LID by LID.  All
 * counters must be the same. */
START_TEST(prepared_entries_are_placed_as_one_by_one)
{
	struct ftr_team *team = ftr_team_new(3);
	uint64_t seed = trees_first_seed(), placed = 0;

	for (uint32_t i = 0; i < trees_runs(300); i++, seed++) {
		struct placing fast, slow;
		struct marked m;

		marked_new(&m, seed);
		placing_new(&fast, &m, team);
		ck_assert(displaced_place_all(fast.z, false, m.bits, team));
		place_slowly(&slow, &m);
		are_equal(&m, &fast, &slow, seed);
		placed += m.n;
		placing_free(&slow);
		placing_free(&fast);
		marked_free(&m);
	}
	ftr_team_free(team);
	runs_show(placed > 0);
}
END_TEST

/* Each allocation fails once, also those in the threads.  displaced_place_all() must then fail. */
START_TEST(no_memory_for_placing)
{
	struct ftr_team *team = ftr_team_new(3);
	uint64_t seed = trees_first_seed();

	for (uint32_t i = 0; i < trees_runs(20); i++, seed++) {
		struct placing fast = { 0 }, slow;
		struct marked m;
		bool ok = false;

		marked_new(&m, seed);
		for (unsigned long at = 1; !ok; at++) {
			placing_free(&fast);
			placing_new(&fast, &m, team);
			ftr_alloc_fail_once(at);
			ok = displaced_place_all(fast.z, false, m.bits,
						 i % 3 ? team : NULL);
			must(ok == (ftr_alloc_count() < at), "seed %" PRIu64
			     ": wrong result when allocation %lu fails", seed, at);
			ftr_alloc_fail_at(0);
		}
		place_slowly(&slow, &m);
		are_equal(&m, &fast, &slow, seed);
		placing_free(&slow);
		placing_free(&fast);
		marked_free(&m);
	}
	ftr_team_free(team);
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
	tcase_add_test(t, no_memory_for_placing);
	suite_add_tcase(s, t);
	return run_suite(s);
}
