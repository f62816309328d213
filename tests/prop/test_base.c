// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is computed from a base, the state before faults, must be the same as without a base, bit for
 * bit: the tables of a routing (ftr_route_base_new), and the report of a check with the all-to-all
 * load (ftr_check_base_new).  Random trees and superpods, and real fabrics; links and hosts fail.
 * Tables before the faults, after them, and with random wrong entries are checked.
 *
 * A test that fails prints the seed.  FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number
 * of fabrics.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "engine/engine.h"
#include <ftr/gen.h>
#include "lib/suite.h"
#include "lib/trees.h"
#include "unit/check_net.h"

static struct ftr_err err;

static struct counts {
	uint32_t differ;	/* routings that differ from the tables before the faults */
	uint32_t marked;	/* routings for which not all entries were computed */
	uint32_t by_difference, whole;	/* checks */
	uint32_t lost;		/* checks by difference with unreachable pairs of hosts */
	uint32_t like;		/* tables that know their differences from those before the faults */
} n;

struct state {
	uint64_t seed;
	const char *engine;
	struct ftr_fabric *f, *g;	/* before and after the faults */
	struct ftr_shape *sh, *after;
	struct ftr_tables *before;
	struct ftr_check_base *checked;
	struct ftr_order hosts;	/* [f->n_ep] */
};

static void route_into(const struct state *z, const struct ftr_shape *sh,
		       const struct ftr_keep *keep, struct ftr_tables *t)
{
	struct ftr_route_opts opts = FTR_ROUTE_OPTS_INIT;

	opts.keep = keep;
	opts.balance = FTR_BALANCE_LOAD;
	ck_assert(!ftr_engine_find(z->engine)->route(sh, &opts, NULL, t, NULL, &err));
}

static struct ftr_tables *route(const struct state *z, const struct ftr_shape *sh,
				const struct ftr_keep *keep)
{
	struct ftr_tables *t = NULL;

	ck_assert(!ftr_tables_new(sh->f, false, &t, &err));
	route_into(z, sh, keep, t);
	return t;
}

static void same_check(const struct state *z, const struct ftr_tables *t)
{
	struct ftr_check_opts opts = { .rank = z->after->tree.rank, .list_lost = true };
	struct ftr_check_report a, b;
	struct ftr_load_report r;
	struct ftr_load *ld = NULL;

	ck_assert(!ftr_check_tables(z->g, t, &opts, NULL, &a, &err));
	opts.base = z->checked;
	ck_assert(!ftr_check_tables(z->g, t, &opts, NULL, &b, &err));
	ck_assert(!memcmp(a.lost, b.lost, (z->g->max_lid / 64 + 1u) * sizeof(*a.lost) * z->g->n_sw));
	free(a.lost);
	free(b.lost);
	n.by_difference += b.load_max > 0;
	n.whole += !b.load_max;
	n.lost += b.load_max && b.bad[FTR_CHECK_HOST_HOST];
	if (b.load_max) {
		ck_assert(!ftr_load_new(z->g, t, z->hosts, NULL, &ld, &err));
		ftr_load_all(ld, NULL, &r);
		ftr_load_free(ld);
		ck_assert_msg(r.max == b.load_max, "seed %" PRIu64 ": %" PRIu64
			      " flows on the most loaded link, the base gives %" PRIu64, z->seed,
			      r.max, b.load_max);
	}
	b.load_max = 0;
	a.lost = b.lost = NULL;
	ck_assert_msg(!memcmp(&a, &b, sizeof(a)), "seed %" PRIu64 ": the base changes the report",
		      z->seed);
}

/* Check t with a few wrong entries. */
static void same_wrong(const struct state *z, struct ftr_tables *t)
{
	struct ftr_rng rng;

	ftr_rng_seed(&rng, z->seed);
	for (uint32_t i = 0; i < 4; i++) {
		for (uint32_t k = ftr_rng_below(&rng, 3); k <= i; k++) {
			ftr_sw s = ftr_rng_below(&rng, t->n_sw);
			uint32_t p = ftr_rng_below(&rng, z->g->sw[s].n_ports + 3u);

			ftr_tables_row(t, s)[1 + ftr_rng_below(&rng, t->max_lid)] =
				p > z->g->sw[s].n_ports ? FTR_PORT_NONE : (uint8_t)p;
		}
		same_check(z, t);
	}
}

/* Both tables have the same entries, and the same differences from z->before. */
static void same_entries(const struct state *z, const struct ftr_tables *t,
			 const struct ftr_tables *u, const char *what)
{
	struct ftr_tables_diff a, b;

	ck_assert_msg(!memcmp(t->lft, u->lft, (size_t)t->n_sw * t->stride),
		      "seed %" PRIu64 ": %s changes the tables", z->seed, what);
	ftr_tables_diff(z->f, z->before, z->g, t, &a);
	ftr_tables_diff(z->f, z->before, z->g, u, &b);
	ck_assert_msg(a.entries == b.entries && a.blocks == b.blocks && a.switches == b.switches,
		      "seed %" PRIu64 ": %s changes the differences", z->seed, what);
}

/* Routings into the tables of earlier routings, by the base and without it. */
static void same_again(const struct state *z, const struct ftr_keep *keep,
		       const struct ftr_tables *t, struct ftr_tables *u)
{
	const struct ftr_keep whole = { .prefer = z->before };

	same_check(z, u);
	for (uint32_t i = 0; i < 3; i++) {
		route_into(z, z->sh, i == 1 ? &whole : keep, u);
		ck_assert(!keep->base->keeps ||
			  !memcmp(u->lft, z->before->lft, (size_t)u->n_sw * u->stride));
		route_into(z, z->after, i == 2 ? &whole : keep, u);
		same_entries(z, t, u, "memory of other tables");
		same_check(z, u);
	}
}

/* The search may move all entries: the base changes neither the tables, nor their differences, and the
 * memory can be used again. */
static void search_everything(const struct state *z, const struct ftr_keep *keep,
			      struct ftr_tables *u)
{
	struct ftr_keep with = *keep, without = { .prefer = z->before, .search_all = true };
	struct ftr_tables *t = route(z, z->after, &without);

	with.search_all = true;
	for (uint32_t i = 0; i < 2; i++) {
		route_into(z, z->after, &with, u);
		same_entries(z, t, u, "a search of all entries");
	}
	ftr_tables_free(t);
}

static void same_tables(const struct state *z)
{
	struct ftr_keep keep = { .prefer = z->before };
	struct ftr_route_base *base = NULL;
	size_t bytes = (size_t)z->before->n_sw * z->before->stride;
	struct ftr_tables *t = route(z, z->after, &keep), *u;
	uint64_t *mark;

	ck_assert(!ftr_route_base_new(z->sh, z->before, NULL, &base, &err));
	keep.base = base;
	u = route(z, z->after, &keep);
	ck_assert(!t->like);
	n.like += u->like != NULL;
	same_entries(z, t, u, "the base");
	same_again(z, &keep, t, u);
	search_everything(z, &keep, u);
	ck_assert(!engine_base_marks(base, z->after, &keep, &mark, &err));
	n.marked += mark != NULL;
	n.differ += mark && memcmp(t->lft, z->before->lft, bytes) != 0;
	free(mark);
	same_check(z, z->before);
	same_check(z, t);
	same_wrong(z, t);
	ftr_route_base_free(base);
	ftr_tables_free(t);
	ftr_tables_free(u);
}

/* Frees f. */
static void with_faults(struct ftr_fabric *f, uint64_t seed, const char *engine, uint32_t links)
{
	struct state z = { .seed = seed, .engine = engine, .f = f };
	const struct ftr_damage damage = {
		.seed = seed, .links = links, .hosts = seed % 7 == 6 && f->n_nodes,
	};
	ftr_ep *ep;

	suite_now(seed);
	ck_assert(!ftr_shape_new(f, NULL, NULL, &z.sh, &err));
	z.before = route(&z, z.sh, NULL);
	ep = malloc((f->n_ep + 1) * sizeof(*ep));
	for (ftr_ep e = 0; e < f->n_ep; e++)
		ep[e] = e;
	z.hosts = (struct ftr_order){ ep, f->n_ep };
	ck_assert(!ftr_check_base_new(f, z.before, z.sh->tree.rank, NULL, &z.checked, &err));
	if (seed % 8)
		ck_assert(!ftr_check_base_load(z.checked, z.hosts, NULL, &err));
	ck_assert(!ftr_gen_damage(f, &damage, &z.g, &err));
	if (z.g->max_lid == f->max_lid && z.g->n_sw == f->n_sw) {
		ck_assert(!ftr_shape_new(z.g, &(struct ftr_shape_opts){ .nominal = z.sh }, NULL,
					 &z.after, &err));
		same_tables(&z);
		ftr_shape_free(z.after);
	}
	ftr_check_base_free(z.checked);
	ftr_tables_free(z.before);
	ftr_shape_free(z.sh);
	ftr_fabric_free(z.g);
	ftr_fabric_free(f);
	free(ep);
}

/* Checks the tables over z->g, in which a value differs from z->f: the base must not be used. */
static void not_by_difference(const struct state *z)
{
	uint32_t whole = n.whole;

	same_check(z, z->before);
	ck_assert_uint_eq(n.whole, whole + 1);
}

#define CHANGED(type, member, value)					\
	do {								\
		type was_ = (member);					\
									\
		(member) = (value);					\
		not_by_difference(&z);					\
		(member) = was_;					\
	} while (0)

/* The report is the same with and without the base.  difference: the base must be used. */
static void same_with(const struct state *z, struct ftr_check_opts o, bool difference)
{
	struct ftr_check_report a, b;

	ck_assert(!ftr_check_tables(z->g, z->before, &o, NULL, &a, &err));
	o.base = z->checked;
	ck_assert(!ftr_check_tables(z->g, z->before, &o, NULL, &b, &err));
	ck_assert_msg((b.load_max > 0) == difference, "the base is%s used: rank %d, turns %u, VLs %d",
		      difference ? " not" : "", o.rank != NULL, o.n_turns, o.sl2vl != NULL);
	b.load_max = 0;
	ck_assert(!memcmp(&a, &b, sizeof(a)));
}

/* The base of z is not used for a larger fabric, or one with more LIDs. */
static void other_size(const struct state *z, const char *pgft, unsigned int lmc)
{
	struct state x = { .engine = "dmodc", .checked = z->checked };
	struct ftr_pgft p;

	ck_assert(!ftr_pgft_parse(pgft, &p, &err));
	x.g = trees_grow(&p, 1, lmc);
	ck_assert(!ftr_shape_new(x.g, NULL, NULL, &x.sh, &err));
	x.before = route(&x, x.sh, NULL);
	same_with(&x, (struct ftr_check_opts){ .rank = x.sh->tree.rank }, false);
	ftr_tables_free(x.before);
	ftr_shape_free(x.sh);
	ftr_fabric_free(x.g);
}

/* A value of the fabric, or of the ranks, differs from that of the base. */
START_TEST(other_values)
{
	struct state z = { .engine = "dmodc" };
	struct ftr_switch *sw;
	struct ftr_endport *ep;
	struct ftr_swport *port;
	struct ftr_lid_owner *owner;
	struct ftr_pgft p;
	struct ftr_turn turn = { .from = FTR_SW_NONE };
	struct ftr_sl2vl *vls;
	ftr_ep all[9];
	uint8_t *rank;

	ck_assert(!ftr_pgft_parse("2;2,4;1,2;1,1", &p, &err));
	z.f = trees_grow(&p, 1, 0);
	ck_assert_uint_eq(z.f->n_ep, 8);
	ck_assert(!ftr_fabric_copy_if(z.f, NULL, &z.g, &err));
	ck_assert(!ftr_shape_new(z.f, NULL, NULL, &z.sh, &err));
	z.after = z.sh;
	z.before = route(&z, z.sh, NULL);
	rank = malloc(z.f->n_sw);
	ck_assert_ptr_nonnull(rank);
	memcpy(rank, z.sh->tree.rank, z.f->n_sw);
	for (ftr_ep e = 0; e < 8; e++)
		all[e] = e;
	all[8] = FTR_EP_NONE;
	z.hosts = (struct ftr_order){ all, 9 };
	ck_assert(!ftr_check_base_new(z.f, z.before, rank, NULL, &z.checked, &err));
	ck_assert(!ftr_check_base_load(z.checked, z.hosts, NULL, &err));
	sw = (void *)(uintptr_t)&z.g->sw[z.g->ep[0].sw];
	ep = (void *)(uintptr_t)&z.g->ep[0];
	port = (void *)(uintptr_t)ftr_fabric_port(z.g, ep->sw, ep->sw_port);
	owner = (void *)(uintptr_t)&z.g->owner[ep->lid];
	CHANGED(uint64_t, sw->guid, 77);
	CHANGED(uint64_t, ep->guid, 77);
	CHANGED(ftr_sw, ep->sw, z.g->ep[7].sw);
	CHANGED(ftr_port, ep->sw_port, z.g->ep[1].sw_port);
	CHANGED(ftr_lid, ep->lid, z.g->ep[1].lid);
	CHANGED(uint32_t, owner->idx, 1);
	CHANGED(__typeof__(owner->kind), owner->kind, FTR_OWNER_NONE);
	CHANGED(uint32_t, port->peer, 1);
	CHANGED(__typeof__(port->peer_kind), port->peer_kind, FTR_PEER_NONE);
	CHANGED(__typeof__(port->peer_port), port->peer_port, (ftr_port)(port->peer_port + 1));
	CHANGED(__typeof__(sw->n_ports), sw->n_ports, (__typeof__(sw->n_ports))(sw->n_ports - 1));
	CHANGED(uint32_t, z.g->n_ep, 7);
	CHANGED(uint8_t, rank[0], 9);
	n.by_difference = 0;
	same_check(&z, z.before);
	ck_assert_uint_eq(n.by_difference, 1);
	turn.at = ep->sw;	/* from one spine to the other */
	for (unsigned int i = 1; i <= sw->n_ports; i++)
		if (ftr_fabric_port(z.g, ep->sw, i)->peer_kind == FTR_PEER_SW) {
			turn.from = turn.to;
			turn.to = ftr_fabric_port(z.g, ep->sw, i)->peer;
		}
	same_with(&z, (struct ftr_check_opts){ .rank = z.sh->tree.rank }, true);
	same_with(&z, (struct ftr_check_opts){ .rank = z.sh->tree.rank, .no_cdg = true }, true);
	same_with(&z, (struct ftr_check_opts){ .no_cdg = true }, false);
	same_with(&z, (struct ftr_check_opts){
		.rank = z.sh->tree.rank, .turn = &turn, .n_turns = 1,
	}, false);
	ck_assert(!ftr_sl2vl_new(z.g, &vls, &err));
	same_with(&z, (struct ftr_check_opts){ .rank = z.sh->tree.rank, .sl2vl = vls }, false);
	ftr_sl2vl_free(vls);
	other_size(&z, "2;2,5;1,2;1,1", 0);
	other_size(&z, "2;2,4;1,2;1,1", 1);
	ftr_check_base_free(z.checked);
	ftr_tables_free(z.before);
	ftr_shape_free(z.sh);
	ftr_fabric_free(z.f);
	ftr_fabric_free(z.g);
	free(rank);
}
END_TEST

/* ---- tables made by hand --------------------------------------------------------------- */

/* net->t is the base.  z->before: a copy, which is checked with the base and without. */
static void from_net(struct state *z, struct net *net, const uint8_t *rank)
{
	ftr_ep all[8];

	ck_assert_uint_le(net->f->n_ep, 8);
	for (ftr_ep e = 0; e < net->f->n_ep; e++)
		all[e] = e;
	*z = (struct state){ .f = net->f, .g = net->f };
	ck_assert(!ftr_check_base_new(net->f, net->t, rank, NULL, &z->checked, &err));
	ck_assert(!ftr_check_base_load(z->checked, (struct ftr_order){ all, net->f->n_ep }, NULL,
				       &err));
	ck_assert(!ftr_tables_new(net->f, false, &z->before, &err));
	memcpy(z->before->lft, net->t->lft, (size_t)net->t->n_sw * net->t->stride);
}

static void done(struct state *z, struct net *net)
{
	ftr_check_base_free(z->checked);
	ftr_tables_free(z->before);
	net_free(net);
}

/* The tree of check_net.h, with a host port that is not connected.  The paths of the base from leaf 0 to
 * the last host end at spine 2.  Entries that differ from it: of an unused LID, behind the greatest LID,
 * and a port that the base does not use. */
START_TEST(paths_that_end)
{
	const struct ftr_check_opts o = { .rank = net_tree_rank };
	struct net net = net_new(4, 5, true, 0);
	struct state z;
	ftr_lid last;

	for (uint32_t leaf = 0; leaf < 2; leaf++) {
		net_host(&net, leaf, 1);
		net_link(&net, leaf, 3, 2, leaf + 1);
		net_link(&net, leaf, 4, 3, leaf + 1);
	}
	net_host(&net, FTR_SW_NONE, 0);
	net_freeze(&net);
	net_route_all(&net, NULL);
	last = net.f->ep[1].lid;
	*net_at(&net, 2, 4) = *net_at(&net, 3, 3) = *net_at(&net, 2, last) = FTR_PORT_NONE;
	from_net(&z, &net, net_tree_rank);
	ck_assert_uint_eq(net.t->max_lid, last + 1);
	same_with(&z, o, true);
	ftr_tables_row(z.before, 0)[last + 2] = 1;
	ftr_tables_row(z.before, 0)[last - 2] = 1;
	same_with(&z, o, true);
	ftr_tables_row(z.before, 1)[1] = 4;	/* to leaf 0 */
	same_with(&z, o, true);
	ftr_tables_row(z.before, 0)[last] = 4;	/* now the path arrives */
	same_with(&z, o, false);
	done(&z, &net);
}
END_TEST

/* A base with a turn at a leaf, which no claimed rank proves, is not used. */
START_TEST(base_with_a_turn)
{
	struct net net = net_tree(0);
	struct state z;

	*net_at(&net, 2, 4) = 2;	/* spine 2 reaches spine 3 through leaf 1 */
	from_net(&z, &net, net_tree_rank);
	same_with(&z, (struct ftr_check_opts){ .rank = net_tree_rank }, false);
	done(&z, &net);
}
END_TEST

/* Neither is a base with a path between switches of the same rank. */
START_TEST(base_with_a_horizontal_link)
{
	static const uint8_t rank[] = { 0, 0 };
	struct net net = net_new(2, 3, true, 0);
	struct state z;

	net_host(&net, 0, 1);
	net_host(&net, 1, 1);
	net_link(&net, 0, 2, 1, 2);
	net_freeze(&net);
	net_route_all(&net, NULL);
	from_net(&z, &net, rank);
	same_with(&z, (struct ftr_check_opts){ .rank = rank }, false);
	done(&z, &net);
}
END_TEST

/* A base has seven bits for the hops of a path.  Paths with 125 hops fit, with 126 they do not. */
START_TEST(longest_paths)
{
	struct net net = net_new(126 + (uint32_t)_i, 3, false, 0);
	const uint32_t top = net.n_sw - 1;
	struct ftr_check_opts o;
	uint8_t rank[256];
	struct state z;

	net_host(&net, 0, 3);
	net_host(&net, top, 3);
	for (uint32_t s = 0; s < top; s++)
		net_link(&net, s, 2, s + 1, 1);
	net_freeze(&net);
	for (uint32_t s = 0; s <= top; s++) {
		rank[s] = (uint8_t)s;
		*net_at(&net, s, 64) = s ? 1 : 3;
		*net_at(&net, s, 65) = s < top ? 2 : 3;
	}
	o = (struct ftr_check_opts){ .rank = rank };
	from_net(&z, &net, rank);
	same_with(&z, o, !_i);
	done(&z, &net);
}
END_TEST

static struct ftr_fabric *with_rails(void)
{
	struct ftr_gen_opts o = { .nodes = 38 };
	struct ftr_fabric *f = NULL;

	ck_assert(!ftr_gen_shape("superpod:H100:2", &o, &f, &err));
	return f;
}

/* ---- a base that does not fit --------------------------------------------------------------- */

struct fit {
	struct state z;
	struct ftr_route_base *base;
};

static void fit_new(struct fit *x, struct ftr_fabric *f, const struct ftr_shape *nominal)
{
	const struct ftr_shape_opts o = { .nominal = nominal };

	*x = (struct fit){ .z = { .f = f, .engine = "dmodc" } };
	ck_assert(!ftr_shape_new(f, &o, NULL, &x->z.sh, &err));
	x->z.before = route(&x->z, x->z.sh, NULL);
	ck_assert(!ftr_route_base_new(x->z.sh, x->z.before, NULL, &x->base, &err));
}

static void fit_free(struct fit *x)
{
	ftr_route_base_free(x->base);
	ftr_tables_free(x->z.before);
	ftr_shape_free(x->z.sh);
	ftr_fabric_free(x->z.f);
}

/* True if the entries that may change are known. */
static bool marks(const struct fit *x, const struct ftr_shape *sh, const struct ftr_tables *current)
{
	struct ftr_keep keep = { .prefer = x->z.before, .current = current };
	uint64_t *mark;
	bool known;

	ck_assert(!engine_base_marks(x->base, sh, &keep, &mark, &err));
	known = mark != NULL;
	free(mark);
	return known;
}

#define UNMARKED(type, member, value)					\
	do {								\
		type was_ = (member);					\
									\
		(member) = (type)(value);				\
		ck_assert(!marks(&x, &sh, NULL));			\
		(member) = was_;					\
		ck_assert(marks(&x, &sh, NULL));			\
	} while (0)

/* All entries are computed if a value of the shape differs. */
START_TEST(marks_of_another_shape)
{
	struct ftr_fabric *f = NULL, other;
	struct ftr_shape sh;
	struct ftr_dest *dest;
	uint32_t *col;
	struct fit x;

	ck_assert(!ftr_gen_shape("2;2,4;1,2;1,1", NULL, &f, &err));
	fit_new(&x, f, NULL);
	sh = *x.z.sh;
	other = *f;
	sh.f = &other;
	dest = malloc(sh.numbering.n_dest * sizeof(*dest));
	col = malloc(f->n_sw * sizeof(*col));
	ck_assert(dest && col);
	memcpy(dest, sh.numbering.dest, sh.numbering.n_dest * sizeof(*dest));
	memcpy(col, sh.numbering.col, f->n_sw * sizeof(*col));
	sh.numbering.dest = dest;
	sh.numbering.col = col;
	ck_assert(marks(&x, &sh, NULL));
	ck_assert(!marks(&x, &sh, x.z.before));
	UNMARKED(uint32_t, other.n_sw, other.n_sw - 1);
	UNMARKED(__typeof__(other.max_lid), other.max_lid, other.max_lid + 1);
	UNMARKED(uint32_t, sh.numbering.n_dest, sh.numbering.n_dest - 1);
	UNMARKED(size_t, sh.reach.stride, 2 * sh.reach.stride);
	UNMARKED(uint32_t, col[0], col[1]);
	UNMARKED(ftr_lid, dest[1].lid, dest[0].lid);
	UNMARKED(__typeof__(dest[1].col), dest[1].col, dest[1].col + 1);
	UNMARKED(__typeof__(dest[1].port), dest[1].port, dest[1].port + 1);
	UNMARKED(const uint8_t *, sh.numbering.rail, sh.tree.rank);
	free(dest);
	free(col);
	fit_free(&x);
}
END_TEST

START_TEST(marks_with_other_rails)
{
	struct ftr_shape sh;
	uint8_t *rail;
	struct fit x;

	fit_new(&x, with_rails(), NULL);
	sh = *x.z.sh;
	rail = malloc(x.z.f->n_sw);
	ck_assert(rail && sh.numbering.rail);
	memcpy(rail, sh.numbering.rail, x.z.f->n_sw);
	sh.numbering.rail = rail;
	UNMARKED(uint8_t, rail[0], 200);
	free(rail);
	fit_free(&x);
}
END_TEST

/* A leaf (0 or 2) and a spine (1) with links of the ports `port`, and another leaf.  Both leaves have
 * hosts. */
static struct ftr_fabric *moved_link(uint32_t leaf, const uint8_t *port)
{
	struct net net = net_new(3, 8, true, 0);
	struct ftr_fabric *f;

	net_host(&net, 0, 7);
	net_host(&net, 2, 7);
	net_link(&net, 2 - leaf, 1, 1, 1);
	for (int i = 0; i < 3; i++)
		if (port[i])
			net_link(&net, leaf, port[i], 1, port[i]);
	net_freeze(&net);
	f = net.f;
	ftr_tables_free(net.t);
	return f;
}

static const struct {
	uint8_t was[3], is[3];
	bool known;
} move[] = {
	{ { 3, 4 }, { 3, 4 }, true },
	{ { 3, 4 }, { 3, 0 }, true },
	{ { 3, 4 }, { 3, 5 }, false },	/* the link at port 4 is now at port 5 */
	{ { 3, 0 }, { 3, 4 }, false },	/* a second link */
	{ { 0, 0 }, { 3, 0 }, false },	/* the first link */
};

/* Links move.  The tables are the same with and without the base, whether it is used or not. */
START_TEST(links_that_move)
{
	for (uint32_t leaf = 0; leaf <= 2; leaf += 2) {
		struct fit x;
		struct ftr_fabric *g = moved_link(leaf, move[_i].is);
		struct ftr_fabric *whole = moved_link(leaf, (const uint8_t []){ 3, 4, 5 });
		struct ftr_tables *t, *u;
		struct ftr_keep keep;
		struct ftr_shape *sh, *nominal;

		ck_assert(!ftr_shape_new(whole, NULL, NULL, &nominal, &err));
		fit_new(&x, moved_link(leaf, move[_i].was), nominal);
		ck_assert(!ftr_shape_new(g, &(struct ftr_shape_opts){ .nominal = nominal }, NULL, &sh,
					 &err));
		ck_assert_int_eq(marks(&x, sh, NULL), move[_i].known);
		keep = (struct ftr_keep){ .prefer = x.z.before };
		t = route(&x.z, sh, &keep);
		keep.base = x.base;
		u = route(&x.z, sh, &keep);
		ck_assert(!memcmp(t->lft, u->lft, (size_t)t->n_sw * t->stride));
		ftr_tables_free(t);
		ftr_tables_free(u);
		ftr_shape_free(sh);
		ftr_fabric_free(g);
		fit_free(&x);
		ftr_shape_free(nominal);
		ftr_fabric_free(whole);
	}
}
END_TEST

START_TEST(random_fabrics)
{
	static const char *const engine[] = { "sftree", "dmodc", "dmodc", "dmodc", "ddlr" };
	uint64_t seed = trees_first_seed();

	for (uint32_t i = 0; i < trees_runs(600); i++, seed++) {
		struct ftr_fabric *f = i % 60 ? trees_any(seed) : with_rails();

		with_faults(f, seed, engine[seed % 5], (uint32_t)(seed % (f->n_sw_links / 4 + 1)));
	}
	runs_show(n.differ > 0);
	runs_show(n.marked > 0);
	runs_show(n.like > 0);
	runs_show(n.by_difference > 0);
	runs_show(n.whole > 0);
	runs_show(n.lost > 0);
}
END_TEST

START_TEST(real_fabrics)
{
	struct ftr_fabric *f;

	for (uint64_t seed = 1; seed <= 4; seed++) {
		f = trees_real(trees_real_files[_i]);
		if (!f)
			return;
		with_faults(f, seed, seed % 4 ? "dmodc" : "sftree",
			    (uint32_t)(f->n_sw_links * (seed - 1) / 50 + 1));
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("base");
	TCase *tc = tcase_create("base");
	int files = 0;

	while (trees_real_files[files])
		files++;
	tcase_add_test(tc, random_fabrics);
	tcase_add_loop_test(tc, real_fabrics, 0, files);
	tcase_add_test(tc, other_values);
	tcase_add_test(tc, paths_that_end);
	tcase_add_test(tc, base_with_a_turn);
	tcase_add_test(tc, base_with_a_horizontal_link);
	tcase_add_loop_test(tc, longest_paths, 0, 2);
	tcase_add_test(tc, marks_of_another_shape);
	tcase_add_test(tc, marks_with_other_rails);
	tcase_add_loop_test(tc, links_that_move, 0, (int)FTR_ARRAY_LEN(move));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
