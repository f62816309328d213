// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ftr_check_changes() checks a list of changed entries.  Here its report is compared with two slow
 * checks.  One follows all paths of the new tables on a fabric without the dead links.  The other
 * looks for cycles in the channel dependencies of the old and the new entries together.
 *
 * The changes come from incremental routing, which computes again only the entries that link events
 * may change.  Some tables are corrupted afterwards.
 *
 * A test that fails prints the seed.  FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number
 * of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/random_graph.h"
#include "lib/suite.h"
#include "lib/trees.h"

static struct ftr_err err;
static const struct ftr_route_opts updown = {
	.sm_switch = FTR_SW_NONE, .paths = FTR_PATHS_UPDOWN,
};

struct scene {
	uint64_t seed;
	struct ftr_rng rng;
	struct ftr_fabric *f, *damaged;	/* the complete fabric, and a copy without the dead links */
	struct ftr_shape *sh;
	struct ftr_incr *lv;
	struct ftr_tables *old, *now;
	struct ftr_change *change;
	const struct ftr_incr_result *r;
	bool stepped;		/* the changes have the steps of r */
	struct ftr_check_delta d;
	struct ftr_delta_report rep;
};

static void copy_tables(struct ftr_tables *to, const struct ftr_tables *from)
{
	memcpy(to->lft, from->lft, (size_t)from->n_sw * from->stride);
}

static bool is_alive(void *ctx, const struct ftr_fabric *f, ftr_sw s,
		     ftr_port p)
{
	const struct scene *z = ctx;

	if (ftr_fabric_port(f, s, p)->peer_kind != FTR_PEER_SW)
		return true;
	/* incremental routing by up/down paths ignores horizontal links: they count as alive */
	return z->sh->tree.rank[s] == z->sh->tree.rank[ftr_fabric_port(f, s, p)->peer] ||
		ftr_incr_alive(z->lv, s, p);
}

static void start(struct scene *z)
{
	struct ftr_pgft g;
	uint32_t n, links;

	ftr_rng_seed(&z->rng, z->seed);
	if (z->seed % 2) {
		trees_random_pgft(&z->rng, &g, false, 30);
		z->f = trees_damaged(trees_grow(&g, z->seed, z->seed % 7 == 0),
				     &z->rng, 20);
	} else {
		n = 2 + ftr_rng_below(&z->rng, 16);
		links = ftr_rng_below(&z->rng, 2 * n);
		ck_assert(!random_graph_new(z->seed, n, 1 + ftr_rng_below(&z->rng, 30), links,
					    &z->f, &err));
	}
	ck_assert(!ftr_shape_new(z->f, NULL, NULL, &z->sh, &err));
	ck_assert(!ftr_tables_new(z->f, false, &z->old, &err));
	ck_assert(!ftr_tables_new(z->f, false, &z->now, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(z->sh, &updown, NULL, z->old,
						   NULL, &err));
	ck_assert(!ftr_incr_new(z->sh, NULL, z->old, &updown, &z->lv,
			       &err));
	copy_tables(z->now, z->old);
	z->change = malloc((size_t)z->f->n_sw * (z->f->max_lid + 1u) *
			   sizeof(*z->change));
}

static void stop(struct scene *z)
{
	ftr_incr_free(z->lv);
	ftr_tables_free(z->old);
	ftr_tables_free(z->now);
	ftr_shape_free(z->sh);
	ftr_fabric_free(z->f);
	free(z->change);
}

static void damage(struct scene *z)
{
	struct ftr_incr_event e[8];
	uint32_t n = 0, want = 1 + ftr_rng_below(&z->rng, 6);

	for (uint32_t i = 0; i < 50 && n < want; i++) {
		ftr_sw s = ftr_rng_below(&z->rng, z->f->n_sw);
		ftr_port p = (ftr_port)(1 + ftr_rng_below(&z->rng,
						z->f->sw[s].n_ports));

		if (ftr_fabric_port(z->f, s, p)->peer_kind == FTR_PEER_SW)
			e[n++] = (struct ftr_incr_event){
				s, p, ftr_rng_below(&z->rng, 3) == 0
			};
	}
	ck_assert(!ftr_incr_apply(z->lv, e, n, &z->r, &err));
	copy_tables(z->now, ftr_incr_tables(z->lv));
	ftr_incr_delta(z->lv, &z->d);
	z->d.ordered = false;
}

/* Draw a switch and a LID whose packets come down to that switch, and let the switch send them up
 * again.  Gives up after 200 attempts. */
static void turn_up(struct scene *z)
{
	const struct ftr_group *g;
	const uint8_t *rank = z->sh->tree.rank;

	for (int k = 0; k < 200; k++) {
		ftr_sw x = ftr_rng_below(&z->rng, z->f->n_sw), s;
		ftr_lid lid = z->sh->numbering.dest[ftr_rng_below(&z->rng,
							z->sh->numbering.n_dest)].lid;
		ftr_port p = ftr_tables_get(z->now, x, lid);

		if (p > z->f->sw[x].n_ports ||
		    ftr_fabric_port(z->f, x, p)->peer_kind != FTR_PEER_SW)
			continue;
		s = ftr_fabric_port(z->f, x, p)->peer;
		if (rank[s] >= rank[x] || z->sh->tree.n_up[s] < 2)
			continue;
		g = &z->sh->tree.groups[z->sh->tree.group_first[s] +
				   ftr_rng_below(&z->rng, z->sh->tree.n_up[s])];
		ftr_tables_row(z->now, s)[lid] = z->sh->tree.group_ports[g->first];
		return;
	}
}

static void spoil(struct scene *z)
{
	uint32_t n = ftr_rng_below(&z->rng, 4) ? 1 :
		1 + ftr_rng_below(&z->rng, 8);

	for (uint32_t i = 0; i < n; i++) {
		ftr_sw s = ftr_rng_below(&z->rng, z->f->n_sw);
		ftr_lid lid = z->sh->numbering.dest[ftr_rng_below(&z->rng,
							z->sh->numbering.n_dest)].lid;

		uint8_t *p = &ftr_tables_row(z->now, s)[lid];

		*p = (uint8_t)ftr_rng_below(&z->rng, z->f->sw[s].n_ports + 2u);
		for (int k = 0; k < 20 && ftr_rng_below(&z->rng, 8) &&
		     (*p > z->f->sw[s].n_ports ||
		      ftr_fabric_port(z->f, s, *p)->peer_kind != FTR_PEER_SW);
		     k++)
			*p = (uint8_t)(1 + ftr_rng_below(&z->rng,
							z->f->sw[s].n_ports));
		if (!ftr_rng_below(&z->rng, 6))
			*p = FTR_PORT_NONE;
	}
}

static void judge(struct scene *z)
{
	uint32_t n = 0;

	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		for (uint32_t lid = 0; lid <= z->f->max_lid; lid++) {
			ftr_port a = ftr_tables_row(z->old, s)[lid];
			ftr_port b = ftr_tables_row(z->now, s)[lid];

			if (a == b)
				continue;
			z->change[n] = (struct ftr_change){
				.sw = s, .lid = (ftr_lid)lid, .before = a, .after = b,
				.step = z->stepped ? z->r->change[n].step : 0,
			};
			n++;
		}
	z->d.change = z->change;
	z->d.n_changes = n;
	ck_assert_msg(!ftr_check_changes(z->f, z->now, &z->d, &z->rep,
					 &err), "%s", err.msg);
}

/* ---- the slow verdict ------------------------------------------------ */

static ftr_sw leads_to(const struct scene *z, const struct ftr_tables *t,
		       ftr_sw s, ftr_lid lid)
{
	ftr_port p = ftr_tables_get(t, s, lid);

	if (p == 0 || p > z->f->sw[s].n_ports ||
	    ftr_fabric_port(z->damaged, s, p)->peer_kind != FTR_PEER_SW)
		return FTR_SW_NONE;
	return ftr_fabric_port(z->damaged, s, p)->peer;
}

static enum ftr_finding slow_walk(const struct scene *z, ftr_sw s, ftr_lid lid)
{
	const struct ftr_lid_owner *o = &z->f->owner[lid];

	for (uint32_t hops = 0; hops <= z->f->n_sw; hops++) {
		ftr_port p = ftr_tables_get(z->now, s, lid);
		const struct ftr_swport *port;

		if (p == FTR_PORT_NONE)
			return FTR_FIND_MISSING;
		if (p > z->f->sw[s].n_ports)
			return FTR_FIND_DEAD_PORT;
		if (p == 0)
			return o->kind == FTR_OWNER_SW && o->idx == s ?
				FTR_N_FINDINGS : FTR_FIND_DEAD_PORT;
		port = ftr_fabric_port(z->damaged, s, p);
		if (port->peer_kind == FTR_PEER_NONE)
			return FTR_FIND_DEAD_PORT;
		if (port->peer_kind == FTR_PEER_EP)
			return o->kind == FTR_OWNER_EP &&
				o->idx == port->peer ? FTR_N_FINDINGS :
				FTR_FIND_WRONG_END;
		s = port->peer;
	}
	return FTR_FIND_LOOP;
}

static void same_walks(const struct scene *z)
{
	uint64_t found[FTR_N_FINDINGS + 1] = { 0 };

	for (uint32_t i = 0; i < z->d.n_changes; i++)
		found[slow_walk(z, z->change[i].sw, z->change[i].lid)]++;
	for (int k = 0; k < FTR_FIND_TURN; k++)
		ck_assert_msg(found[k] == z->rep.found[k], "seed %" PRIu64
			      ": the checker reports %" PRIu64 " paths with finding %d, the slow check %"
			      PRIu64, z->seed, z->rep.found[k], k, found[k]);
}

/* Returns true if switch x routes downward by the tables tx, and the next switch routes upward by
 * the tables ty. */
static bool meets(const struct scene *z, const struct ftr_tables *tx,
		  const struct ftr_tables *ty, ftr_sw x, ftr_lid lid)
{
	const uint8_t *rank = z->sh->tree.rank;
	ftr_sw y = leads_to(z, tx, x, lid), u;

	if (y == FTR_SW_NONE || rank[y] >= rank[x])
		return false;
	u = leads_to(z, ty, y, lid);
	return u != FTR_SW_NONE && rank[u] > rank[y];
}

/* A turn is a downward entry followed by an upward one.  Count the turns that are made of an old
 * and a new entry, and that exist neither in the old tables nor in the new tables. */
static uint64_t slow_mixed(const struct scene *z)
{
	uint64_t n = 0;

	for (uint32_t lid = 1; lid <= z->f->max_lid; lid++)
		for (ftr_sw x = 0; x < z->f->n_sw; x++) {
			ftr_lid l = (ftr_lid)lid;

			if (!z->f->owner[lid].kind)
				continue;
			n += meets(z, z->old, z->now, x, l) &&
				!meets(z, z->old, z->old, x, l) &&
				!(ftr_tables_get(z->old, x, l) ==
				  ftr_tables_get(z->now, x, l));
			n += meets(z, z->now, z->old, x, l) &&
				!meets(z, z->now, z->now, x, l) &&
				!(ftr_tables_get(z->old, x, l) ==
				  ftr_tables_get(z->now, x, l));
		}
	return n;
}

/* Count the unchanged entries that lead to a switch whose entry was removed. */
static uint64_t slow_stranded(const struct scene *z)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < z->d.n_changes; i++) {
		const struct ftr_change *c = &z->change[i];

		for (ftr_sw s = 0; c->after == FTR_PORT_NONE &&
		     s < z->f->n_sw; s++)
			n += leads_to(z, z->now, s, c->lid) == c->sw &&
				ftr_tables_get(z->old, s, c->lid) ==
				ftr_tables_get(z->now, s, c->lid);
	}
	return n;
}

/* Search (depth first) for a cycle of dependencies in the old and new tables together.  A
 * channel is identified by the port that sends into it. */
struct graph {
	const struct scene *z;
	uint8_t *color;		/* [port] 1: on the stack, 2: done */
	uint8_t *edge;		/* [port][next port] */
};

static bool search(struct graph *g, uint32_t c)
{
	uint32_t n = g->z->f->n_ports;

	if (g->color[c])
		return g->color[c] == 1;
	g->color[c] = 1;
	for (uint32_t d = 0; d < n; d++)
		if (g->edge[c * n + d] && search(g, d))
			return true;
	g->color[c] = 2;
	return false;
}

static bool union_has_cycle(const struct scene *z)
{
	const struct ftr_tables *of[] = { z->old, z->now };
	uint32_t n = z->f->n_ports;
	struct graph g = { z, calloc(n, 1), calloc(n, n) };
	bool cycle = false;

	for (uint32_t lid = 1; lid <= z->f->max_lid; lid++)
		for (uint32_t k = 0; k < z->f->n_sw * 4; k++) {
			const struct ftr_tables *a = of[k & 1];
			const struct ftr_tables *b = of[k >> 1 & 1];
			ftr_sw x = k / 4, y = leads_to(z, a, x, (ftr_lid)lid);

			if (y == FTR_SW_NONE ||
			    leads_to(z, b, y, (ftr_lid)lid) == FTR_SW_NONE)
				continue;
			g.edge[(z->f->sw[x].first_port +
				ftr_tables_get(a, x, (ftr_lid)lid)) * n +
			       z->f->sw[y].first_port +
			       ftr_tables_get(b, y, (ftr_lid)lid)] = 1;
		}
	for (uint32_t c = 0; c < n && !cycle; c++)
		cycle = search(&g, c);
	free(g.color);
	free(g.edge);
	return cycle;
}

static uint64_t clean, unclean, proofs, earlies;

static void against_slow(struct scene *z)
{
	const struct ftr_delta_report *d = &z->rep;
	struct ftr_check_opts opts = {
		.rank = z->sh->tree.rank, .switch_sources = true,
	};
	struct ftr_filter filter = { .keep_link = is_alive, .ctx = z };
	struct ftr_check_report full;
	bool ok;

	ck_assert(!ftr_fabric_copy_if(z->f, &filter, &z->damaged, &err));
	ck_assert(!ftr_check_tables(z->damaged, z->now, &opts, NULL, &full,
				    &err));
	same_walks(z);
	ok = !d->harmful && !d->missed && !d->stranded;
	clean += ok;
	unclean += !ok;
	ck_assert_msg(!ok || !full.harmful, "seed %" PRIu64 ": no harmful path is reported, there are %"
		      PRIu64, z->seed, full.harmful);
	ck_assert(!d->harmful || full.harmful);
	ck_assert_msg(!d->found[FTR_FIND_TURN] == !full.found[FTR_FIND_TURN],
		      "seed %" PRIu64 ": %" PRIu64 " turns reported, there are %" PRIu64,
		      z->seed, d->found[FTR_FIND_TURN],
		      full.found[FTR_FIND_TURN]);
	ck_assert_uint_eq(d->mixed, slow_mixed(z));
	ck_assert_uint_eq(d->stranded, slow_stranded(z));
	if (d->proved && z->f->n_ports < 400) {
		proofs++;
		ck_assert_msg(!union_has_cycle(z), "seed %" PRIu64
			      ": a cycle is missed", z->seed);
	}
}

/* Count the changed entries that are written too early.  An entry must be written in a later step
 * than the next changed entry on its path, unless that next entry is removed. */
static uint64_t slow_early(const struct scene *z)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < z->d.n_changes; i++) {
		const struct ftr_change *c = &z->change[i];
		ftr_sw s = leads_to(z, z->now, c->sw, c->lid);
		uint32_t k = z->d.n_changes;

		for (; s != FTR_SW_NONE && k == z->d.n_changes;
		     s = leads_to(z, z->now, s, c->lid))
			for (k = 0; k < z->d.n_changes; k++)
				if (z->change[k].sw == s &&
				    z->change[k].lid == c->lid)
					break;
		n += k < z->d.n_changes &&
			z->change[k].after != FTR_PORT_NONE &&
			z->change[k].step >= c->step;
	}
	return n;
}

static void write_steps_stand(struct scene *z)
{
	ck_assert_uint_eq(z->d.n_changes, z->r->n_changes);
	z->stepped = z->d.ordered = true;
	z->d.first_drain = z->r->first_drain;
	judge(z);
	ck_assert_msg(!z->rep.harmful && !z->rep.missed && !z->rep.stranded &&
		      !z->rep.early && !z->rep.found[FTR_FIND_TURN],
		      "seed %" PRIu64 ": report: harmful=%" PRIu64 ", missed=%" PRIu64
		      ", stranded=%" PRIu64 ", early=%" PRIu64 ", turns=%"
		      PRIu64, z->seed, z->rep.harmful, z->rep.missed,
		      z->rep.stranded, z->rep.early,
		      z->rep.found[FTR_FIND_TURN]);
	ck_assert_msg(!z->rep.mixed && z->rep.proved, "seed %" PRIu64 ": %"
		      PRIu64 " turns made of an old and a new entry, in spite of the write steps", z->seed,
		      z->rep.mixed);
	/* with all changes in one step, some entries are written too early */
	z->stepped = false;
	judge(z);
	ck_assert_uint_eq(z->rep.early, slow_early(z));
	earlies += z->rep.early;
	z->d.ordered = false;
}

#define for_each_scene(z, runs)						\
	for (struct scene z = { .seed = trees_first_seed() };		\
	     z.seed < trees_first_seed() + trees_runs(runs); z.seed++)

START_TEST(good_changes_pass)
{
	clean = unclean = proofs = 0;
	for_each_scene(z, 300) {
		start(&z);
		for (int i = 0; i < 5; i++) {
			damage(&z);
			judge(&z);
			against_slow(&z);
			write_steps_stand(&z);
			ftr_fabric_free(z.damaged);
			copy_tables(z.old, z.now);
		}
		stop(&z);
	}
	ck_assert_uint_eq(unclean, 0);
	runs_show(proofs > 0);
	runs_show(earlies > 0);
}
END_TEST

START_TEST(bad_changes_are_found)
{
	clean = unclean = proofs = 0;
	for_each_scene(z, 3000) {
		start(&z);
		damage(&z);
		if (z.seed % 4)
			spoil(&z);
		else
			turn_up(&z);
		judge(&z);
		against_slow(&z);
		ftr_fabric_free(z.damaged);
		stop(&z);
	}
	runs_show(unclean > clean);
}
END_TEST

/* A switch or a LID that does not exist must be refused. */
static void out_of_range(struct scene *z)
{
	const struct ftr_change change[] = { { .sw = z->f->n_sw, .lid = 1 },
					     { .lid = (ftr_lid)(z->now->max_lid + 1) } };
	const struct ftr_link gone[] = { { .sw = z->f->n_sw }, { .peer = z->f->n_sw } };
	struct ftr_check_delta d = z->d;

	for (int i = 0; i < 2; i++) {
		d.n_gone = 0;
		d.change = &change[i];
		d.n_changes = 1;
		ck_assert_int_eq(ftr_check_changes(z->f, z->now, &d, &z->rep, &err), FTR_INVAL);
		d.n_changes = 0;
		d.gone = &gone[i];
		d.n_gone = 1;
		ck_assert_int_eq(ftr_check_changes(z->f, z->now, &d, &z->rep, &err), FTR_INVAL);
	}
}

START_TEST(inconsistent_changes)
{
	for_each_scene(z, 60) {
		start(&z);
		damage(&z);
		spoil(&z);
		judge(&z);
		/* change an entry that is not in the list: the checker must report it */
		if (z.d.n_gone) {
			ftr_lid lid = z.sh->numbering.dest[0].lid;

			ftr_tables_row(z.now, z.d.gone->peer)[lid] =
				z.d.gone->peer_port;
			ck_assert(!ftr_check_changes(z.f, z.now, &z.d,
						     &z.rep, &err));
			ck_assert_uint_gt(z.rep.missed, 0);
		}
		/* a list of changes that is not sorted must be refused */
		if (z.d.n_changes > 1) {
			struct ftr_change c = z.change[0];

			z.change[0] = z.change[1];
			z.change[1] = c;
			ck_assert_int_eq(ftr_check_changes(z.f, z.now, &z.d, &z.rep,
							   &err), FTR_INVAL);
		}
		out_of_range(&z);
		stop(&z);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("changes");
	TCase *t = tcase_create("changes");

	tcase_add_test(t, good_changes_pass);
	tcase_add_test(t, bad_changes_are_found);
	tcase_add_test(t, inconsistent_changes);
	suite_add_tcase(s, t);
	return run_suite(s);
}
