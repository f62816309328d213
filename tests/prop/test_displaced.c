// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests displaced entries.  An entry is displaced if its next hop in the complete fabric (the
 * preferred port) is missing, or no longer leads to the destination.
 *
 * Links of random fabrics fail and return.  After each event, only entries that had to change may
 * have changed, and the flows on the links must be counted correctly.  When all links have
 * returned, all entries must have their preferred ports.
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
#include <ftr/gen.h>
#include "lib/alloc.h"
#include "lib/suite.h"
#include "lib/switch_events.h"
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
	uint64_t valid[FTR_PORT_SET];
	struct ftr_tables *t;

	ck_assert(!ftr_tables_new(sh->f, false, &t, &err));
	ck_assert(!dmodc_tables(sh, NULL, NULL, t, NULL, &err));
	for (uint32_t i = 0; i < sh->numbering.n_dest; i++)
		for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
			const struct ftr_dest *d = &sh->numbering.dest[i];
			ftr_port prefer = ftr_tables_get(k->prefer, s, d->lid);

			if (d->col == sh->numbering.col[s])
				continue;
			ftr_shape_ports(sh, cand, ftr_shape_candidates(
						sh, s, d->col, cand), valid);
			if (ftr_port_set_has(valid, prefer))
				ftr_tables_row(t, s)[d->lid] = prefer;
		}
	return t;
}

static void start(struct kept *k, struct world *w, enum world_kind kind)
{
	struct ftr_route_opts opts;
	struct ftr_tables *t;

	world_start(w, kind);
	opts = w->opts;
	k->w = w;
	ck_assert(!ftr_tables_new(w->f, false, &k->prefer, &err));
	ck_assert(!ftr_tables_new(w->f, false, &k->before, &err));
	ck_assert(!dmodc_tables(w->order ? w->order : w->whole, NULL, NULL, k->prefer, NULL, &err));
	k->keep = (struct ftr_keep){ .prefer = k->prefer };
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
	uint64_t valid[FTR_PORT_SET];
	ftr_port want;
	uint32_t n;

	if (d->col == v->numbering.col[s])
		return;
	n = ftr_shape_candidates(v, s, d->col, cand);
	ftr_shape_ports(v, cand, n, valid);
	want = ftr_port_set_has(valid, prefer) ? prefer :
		ftr_port_set_has(valid, was) ? was :
		ftr_port_set_has(valid, is) ? is : FTR_PORT_NONE;
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
	uint32_t *rail;		/* [link] flows between hosts with the same device */
	uint32_t *shift;	/* [link][shift] flows that have used a displaced entry, on this
				 * link or before it */
};

static void follow_flow(const struct kept *k, const struct hosts *h,
			struct recount *r, const struct ftr_endport *from,
			const struct ftr_endport *to)
{
	const struct ftr_tables *t = ftr_incr_tables(k->lv);
	const struct ftr_fabric *f = k->w->f;
	const char *device = strrchr(from->name, ' '), *other = strrchr(to->name, ' ');
	bool displaced = false, rail = device && other && !strcmp(device, other);
	ftr_sw s = from->sw;
	ftr_lid lid = to->lid;

	for (uint32_t hops = 0; hops <= f->n_sw; hops++) {
		ftr_port p = ftr_tables_get(t, s, lid);
		uint32_t link = f->sw[s].first_port + p, a = h->pos[from->lid];

		if (p > f->sw[s].n_ports ||
		    f->ports[link].peer_kind != FTR_PEER_SW)
			return;
		displaced |= p != ftr_tables_get(k->prefer, s, lid);
		r->flows[link]++;
		r->rail[link] += rail;
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
	const struct balance_loads *l = displaced_loads(k->lv->displaced);
	uint32_t row = l->net->links.row[link];

	must(l->flows[link] == r->flows[link], "seed %" PRIu64
	     ": link %u: %u flows counted, there are %u", k->w->seed, link,
	     l->flows[link], r->flows[link]);
	must(!l->rail || l->rail[link] == r->rail[link], "seed %" PRIu64
	     ": link %u: %u flows of rails counted, there are %u", k->w->seed, link,
	     l->rail[link], r->rail[link]);
	for (uint32_t b = 0; b < l->n_bins && row != BALANCE_NONE; b++) {
		uint32_t got = l->bins[(size_t)row * l->n_bins + b], want = 0;

		for (uint32_t x = b * l->width; x < FTR_MIN((b + 1) * l->width, h->n); x++)
			want += r->shift[(size_t)link * h->n + x];
		must(got == want, "seed %" PRIu64
		     ": link %u: %u displaced flows counted in bin %u, there are %u",
		     k->w->seed, link, got, b, want);
	}
}

static void check_counts(const struct kept *k)
{
	const struct ftr_fabric *f = k->w->f;
	struct hosts h = number_hosts(k->w->sh);
	struct recount r = {
		calloc(f->n_ports, sizeof(uint32_t)), calloc(f->n_ports, sizeof(uint32_t)),
		calloc((size_t)f->n_ports * (h.n + 1), sizeof(uint32_t)),
	};

	for (ftr_ep a = 0; a < f->n_ep; a++)
		for (ftr_ep b = 0; b < f->n_ep; b++)
			if (is_host(&f->ep[a]) && is_host(&f->ep[b]))
				follow_flow(k, &h, &r, &f->ep[a], &f->ep[b]);
	for (uint32_t link = 0; link < f->n_ports; link++)
		if (f->ports[link].peer_kind == FTR_PEER_SW)
			check_link(k, &h, &r, link);
	free(r.flows);
	free(r.rail);
	free(r.shift);
	free(h.pos);
}

/* ---- sequences of events ----------------------------------------------------- */

/* settled: the flows of the last changes are counted now, otherwise by the next apply. */
static void check_all(struct kept *k, bool settled)
{
	check_entries(k);
	if (!settled)
		return;
	ftr_incr_settle(k->lv);
	check_entries(k);
	check_counts(k);
}

static void apply(struct kept *k, const struct ftr_incr_event *e, uint32_t n)
{
	const struct ftr_incr_result *r;

	world_copy_tables(k->before, ftr_incr_tables(k->lv));
	world_note(k->w, e, n);
	ck_assert_msg(!ftr_incr_apply(k->w->lv, e, n, &r, &err), "%s",
		      err.msg);
	ck_assert_msg(!ftr_incr_apply(k->lv, e, n, &r, &err), "%s",
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
	ck_assert(!ftr_incr_apply(k->lv, e, n, &r, &err));
	if (n % 2)
		ftr_incr_settle(k->lv);
	ck_assert(ftr_incr_undo(k->lv));
	ftr_incr_settle(k->lv);
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
	check_all(k, true);
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

/* rails: the fabric has rails, and their flows are counted. */
static void history(struct world *w, enum world_kind kind, bool rails)
{
	struct ftr_incr_event *e;
	struct kept k;

	start(&k, w, kind);
	ck_assert(!displaced_loads(k.lv->displaced)->rail == !rails);
	check_counts(&k);
	e = malloc(world_room(w) * sizeof(*e));
	for (int i = 0; i < 10; i++) {
		apply(&k, e, world_events(w, e));
		check_all(&k, i % 3);
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
		history(&w, w.seed % 2 ? WORLD_LATE : WORLD_WHOLE, false);
	}
}
END_TEST

START_TEST(events_on_chassis)
{
	for_each_world(w, 60) {
		world_chassis(&w, w.seed % 2);
		history(&w, w.seed % 3 ? WORLD_WHOLE : WORLD_LATE, false);
	}
}
END_TEST

START_TEST(events_on_rails)
{
	for_each_world(w, 6) {
		struct ftr_gen_opts o = { .nodes = 34 };	/* two units */

		ck_assert(!ftr_gen_shape("superpod:H100:2", &o, &w.f, &err));
		history(&w, w.seed % 2 ? WORLD_LATE : WORLD_WHOLE, true);
	}
}
END_TEST

START_TEST(events_on_graphs)
{
	for_each_world(w, 200) {
		world_graph(&w, 16);
		history(&w, w.seed % 3 == 0 ? WORLD_INVERTED : w.seed % 3 == 1 ?
			WORLD_LATE : WORLD_WHOLE, false);
	}
}
END_TEST

/* ---- changes without events ---------------------------------------------------------- */

/* Tables of a fabric without faults, and the counters of their changes.  start: the tables of dmodc,
 * which the odd switches prefer; the preferred ports of the others are missing. */
struct plain {
	struct ftr_fabric *f;
	const struct ftr_shape *sh;
	struct ftr_tables *start, *prefer, *t;
	struct displaced *z;
};

static void plain_start(struct plain *x, const struct ftr_shape *sh)
{
	x->sh = sh;
	ck_assert(!ftr_tables_new(x->f, true, &x->prefer, &err));
	ck_assert(!ftr_tables_new(x->f, false, &x->start, &err));
	ck_assert(!dmodc_tables(sh, NULL, NULL, x->start, NULL, &err));
	x->t = world_copy_of_tables(x->f, x->start);
	for (ftr_sw s = 1; s < x->f->n_sw; s += 2)
		memcpy(ftr_tables_row(x->prefer, s), ftr_tables_row(x->start, s), x->t->stride);
	ck_assert(!displaced_new(sh, x->t, x->prefer, &x->z, &err));
}

static void plain_end(struct plain *x)
{
	displaced_free(x->z);
	ftr_tables_free(x->start);
	ftr_tables_free(x->prefer);
	ftr_tables_free(x->t);
}

/* The counters must be those that a count from scratch gives. */
static void must_be_fresh(const struct plain *x)
{
	const struct balance_loads *is = displaced_loads(x->z), *want;
	struct displaced *fresh;

	ck_assert(!displaced_new(x->sh, x->t, x->prefer, &fresh, &err));
	want = displaced_loads(fresh);
	ck_assert(!memcmp(is->flows, want->flows, x->f->n_ports * sizeof(*is->flows)));
	ck_assert_uint_eq(is->n_bins, want->n_bins);
	ck_assert(!memcmp(is->bins, want->bins,
			  (size_t)is->net->links.n_rows * is->n_bins * sizeof(*is->bins)));
	displaced_free(fresh);
}

static uint64_t sum_of_bins(const struct plain *x)
{
	const struct balance_loads *l = displaced_loads(x->z);
	uint64_t sum = 0;

	for (size_t i = 0; i < (size_t)l->net->links.n_rows * l->n_bins; i++)
		sum += l->bins[i];
	return sum;
}

/* Displace all entries for a LID: they get another candidate, or are placed. */
static uint32_t displace(const struct plain *x, ftr_ep to, struct ftr_change *e)
{
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	uint32_t l = x->sh->numbering.col[x->f->ep[to].sw], n = 0;

	for (ftr_sw s = 0; s < x->f->n_sw; s++) {
		uint32_t k = s == x->f->ep[to].sw ? 0 : ftr_shape_candidates(x->sh, s, l, cand);
		ftr_port now = ftr_tables_get(x->t, s, x->f->ep[to].lid), port;

		if (k < 2)
			continue;
		port = x->sh->tree.group_ports[cand[0]->first];
		if (port == now)
			port = x->sh->tree.group_ports[cand[1]->first];
		e[n++] = (struct ftr_change){ .sw = s, .after = s % 2 ? port : DISPLACED_PLACE };
	}
	return n;
}

/* Change entries for a few LIDs, and change them back. */
static void change_and_restore(struct plain *x)
{
	struct ftr_change *e = malloc(x->f->n_sw * sizeof(*e));
	uint64_t sum = sum_of_bins(x);
	uint32_t step = x->f->n_ep / 20 + 1;

	for (int back = 0; back < 2; back++) {
		for (ftr_ep to = 0; to < x->f->n_ep; to += step) {
			ftr_lid lid = x->f->ep[to].lid;
			uint32_t n = displace(x, to, e);

			for (uint32_t i = 0; back && i < n; i++)
				e[i].after = ftr_tables_get(x->start, e[i].sw, lid);
			displaced_change(x->z, x->sh->numbering.col[x->f->ep[to].sw], lid, e, n);
			for (uint32_t i = 0; i < n; i++)
				ck_assert_uint_eq(ftr_tables_get(x->t, e[i].sw, lid), e[i].after);
		}
		must_be_fresh(x);
		ck_assert((sum_of_bins(x) == sum) == back);
	}
	free(e);
}

static struct plain plain_tree(const char *shape)
{
	struct plain x = { NULL };

	ck_assert(!ftr_gen_shape(shape, NULL, &x.f, &err));
	return x;
}

/* Some hosts are no compute nodes, on one switch all hosts.  They have no position, so their flows are
 * in no bin, but count on the links. */
START_TEST(hosts_without_a_position)
{
	struct plain x = plain_tree("2;4,4;1,4;1,1");
	uint64_t guid[16];
	struct ftr_shape_opts o = { .cn = { guid, 0 } };
	struct ftr_shape *sh;

	for (ftr_ep e = 0; e < x.f->n_ep; e++)
		if (x.f->ep[e].sw != x.f->ep[0].sw && e % 3)
			guid[o.cn.n++] = x.f->ep[e].guid;
	ck_assert(!ftr_shape_new(x.f, &o, NULL, &sh, &err));
	plain_start(&x, sh);
	ck_assert_uint_eq(displaced_loads(x.z)->net->n_hosts, x.f->n_ep);
	ck_assert_uint_eq(displaced_loads(x.z)->net->n_pos, o.cn.n);
	change_and_restore(&x);
	plain_end(&x);
	ftr_shape_free(sh);
	ftr_fabric_free(x.f);
}
END_TEST

/* An order of more levels than a rank can have: the shape has no ranks. */
START_TEST(without_ranks)
{
	struct plain x = plain_tree("2;1,130;1,130;1,1");
	struct ftr_shape *sh, *order;
	uint16_t *level = malloc(x.f->n_sw * sizeof(*level));

	ck_assert(!ftr_shape_new(x.f, NULL, NULL, &sh, &err));
	for (ftr_sw s = 0; s < x.f->n_sw; s++)
		level[s] = (uint16_t)(sh->tree.rank[s] * x.f->n_sw + s);
	ck_assert(!ftr_shape_reorder(sh, level, FTR_REORDER_ALL, NULL, &order, &err));
	ck_assert_ptr_null(order->tree.rank);
	plain_start(&x, order);
	change_and_restore(&x);
	plain_end(&x);
	ftr_shape_free(order);
	ftr_shape_free(sh);
	ftr_fabric_free(x.f);
	free(level);
}
END_TEST

/* Entries that lead in a circle: their flows are taken off when the entries change back.  Tables with
 * a circle are refused. */
START_TEST(entries_in_a_circle)
{
	struct plain x = plain_tree("2;4,4;1,4;1,1");
	struct displaced *none = NULL;
	const struct ftr_endport *to = &x.f->ep[0];
	struct ftr_change e[2];
	struct ftr_shape *sh;
	const struct ftr_group *g;
	ftr_sw s = x.f->ep[x.f->n_ep - 1].sw;

	ck_assert(!ftr_shape_new(x.f, NULL, NULL, &sh, &err));
	ck_assert_uint_ne(s, to->sw);
	plain_start(&x, sh);
	g = &sh->tree.groups[sh->tree.group_first[s]];
	e[0] = (struct ftr_change){ .sw = s, .after = sh->tree.group_ports[g->first] };
	e[1] = (struct ftr_change){
		.sw = g->remote, .after = ftr_fabric_port(x.f, s, e[0].after)->peer_port,
	};
	displaced_change(x.z, sh->numbering.col[to->sw], to->lid, e, 2);
	ck_assert_int_eq(displaced_new(sh, x.t, x.prefer, &none, &err), FTR_INVAL);
	ck_assert_ptr_null(none);
	for (int i = 0; i < 2; i++)
		e[i].after = ftr_tables_get(x.start, e[i].sw, to->lid);
	displaced_change(x.z, sh->numbering.col[to->sw], to->lid, e, 2);
	must_be_fresh(&x);
	plain_end(&x);
	ftr_shape_free(sh);
	ftr_fabric_free(x.f);
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
		n = switch_events(w.f, k.lv, ftr_rng_below(&w.rng, w.f->n_sw),
				    false, e);
		for (unsigned long at = 1; st; at++) {
			ftr_alloc_fail_at(at);
			st = ftr_incr_apply(k.lv, e, n, &r, &err);
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
		ftr_incr_settle(k.lv);
		check_counts(&k);
		stop(&k);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("displaced");
	TCase *t = tcase_create("displaced");

	tcase_add_test(t, events_on_trees);
	tcase_add_test(t, events_on_chassis);
	tcase_add_test(t, events_on_rails);
	tcase_add_test(t, events_on_graphs);
	tcase_add_test(t, hosts_without_a_position);
	tcase_add_test(t, without_ranks);
	tcase_add_test(t, entries_in_a_circle);
	tcase_add_test(t, no_memory_no_change);
	suite_add_tcase(s, t);
	return run_suite(s);
}
