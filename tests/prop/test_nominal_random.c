// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests nominal fabrics, which contain all switches and links seen so far, and their shapes.
 * Fat-trees are regular, so missing links can be inferred.  An oracle must infer the same links,
 * and must make the same projections.  A projection is the shape of a damaged fabric with the ranks
 * and positions of a nominal shape.  Switches and links that return must get their old positions.
 * A new link at the position of an inferred link must not change the data of other links.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "lib/edit.h"
#include "lib/oracle_slots.h"
#include "lib/random_graph.h"
#include "lib/suite.h"
#include "lib/temp.h"
#include "lib/trees.h"

static struct ftr_err err;

static struct ftr_nominal *nominal_of(const struct ftr_fabric *f,
				      struct ftr_nominal *old,
				      struct ftr_nominal_change *change)
{
	struct ftr_nominal *n = NULL;

	ck_assert_msg(!ftr_nominal_new(f, NULL, old, &n, change, &err),
		      "%s", err.msg);
	return n;
}

static struct ftr_shape *shape_over(const struct ftr_fabric *f,
				    const struct ftr_shape *nominal)
{
	struct ftr_shape_opts opts = { .nominal = nominal };
	struct ftr_shape *sh = NULL;

	ck_assert_msg(!ftr_shape_new(f, &opts, NULL, &sh, &err), "%s", err.msg);
	return sh;
}

static struct ftr_fabric *part_of(const struct ftr_fabric *f,
				  struct ftr_rng *r, unsigned int percent)
{
	struct ftr_fabric *copy = NULL;

	ck_assert_msg(!ftr_fabric_copy_if(f, NULL, &copy, &err), "%s",
		      err.msg);
	return trees_damaged(copy, r, percent);
}

static struct ftr_fabric *random_tree(struct ftr_rng *r, uint64_t seed,
				      uint32_t max_sw)
{
	struct ftr_pgft g;

	trees_random_pgft(r, &g, ftr_rng_below(r, 2), max_sw);
	return trees_grow(&g, seed, ftr_rng_below(r, 3));
}

static char *state_of(struct ftr_nominal *n, size_t *len)
{
	char path[TEMP_ROOM], *text;
	FILE *in;
	int fd = temp_file(path, "ftr-nominal");

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_msg(!ftr_state_write(path, &(struct ftr_state){ .nominal = n }, &err),
		      "%s", err.msg);
	in = fopen(path, "r");
	ck_assert_ptr_nonnull(in);
	fseek(in, 0, SEEK_END);
	*len = (size_t)ftell(in);
	rewind(in);
	text = malloc(*len + 1);
	ck_assert_uint_eq(fread(text, 1, *len, in), *len);
	fclose(in);
	unlink(path);
	return text;
}

static void same_state(struct ftr_nominal *a, struct ftr_nominal *b, uint64_t seed)
{
	size_t la, lb;
	char *ta = state_of(a, &la), *tb = state_of(b, &lb);

	ck_assert_msg(la == lb && !memcmp(ta, tb, la), "seed %" PRIu64
		      ": the state files differ", seed);
	free(ta);
	free(tb);
}

/* ---- equality ---------------------------------------------------------- */

#define SAME(what, n) \
	ck_assert_msg(!(n) || !memcmp(a->what, b->what, \
				      (n) * sizeof(*a->what)), \
		      "seed %" PRIu64 ": " #what " differs", seed)

/* The two shapes must be equal; only the member `from_nominal` may differ. */
static void same_shape(const struct ftr_shape *a, const struct ftr_shape *b,
		       uint64_t seed)
{
	uint32_t n = a->f->n_sw, n_groups = a->tree.group_first[n], n_links = 0;

	ck_assert_uint_eq(n, b->f->n_sw);
	ck_assert(a->f->n_ep == b->f->n_ep && a->tree.n_ranks == b->tree.n_ranks &&
		  a->tree.n_leaf == b->tree.n_leaf && a->numbering.stride == b->numbering.stride &&
		  a->numbering.n_d == b->numbering.n_d && a->reach.stride == b->reach.stride &&
		  a->tree.n_planes == b->tree.n_planes && a->tree.n_pods == b->tree.n_pods &&
		  a->tree.n_odd == b->tree.n_odd && a->tree.n_horizontal == b->tree.n_horizontal &&
		  a->tree.roots_given == b->tree.roots_given && a->numbering.n_dest == b->numbering.n_dest &&
		  a->tree.cn_unknown == b->tree.cn_unknown &&
		  a->tree.io_unknown == b->tree.io_unknown);
	SAME(tree.rank, n);
	SAME(tree.stub, n);
	SAME(numbering.col, n);
	SAME(numbering.col_sw, n);
	SAME(tree.leaf_hosts, a->tree.n_leaf);
	SAME(tree.group_first, n + 1);
	SAME(tree.n_up, n);
	SAME(tree.n_down, n);
	SAME(numbering.n_slots, n);
	SAME(numbering.divider, n);
	SAME(tree.groups, n_groups);
	SAME(numbering.sw_d, n);
	SAME(numbering.dest_first, n + 1);
	for (uint32_t g = 0; g < n_groups; g++)
		n_links += a->tree.groups[g].n;
	SAME(tree.group_ports, n_links);
	SAME(tree.port_pos, n_links);
	for (ftr_sw s = 0; s < n; s++) {
		ck_assert(!memcmp(ftr_shape_cost(a, s), ftr_shape_cost(b, s),
				  n));
		ck_assert(!memcmp(ftr_shape_down(a, s), ftr_shape_down(b, s),
				  n));
	}
	for (ftr_ep e = 0; e < a->f->n_ep; e++)
		ck_assert(a->numbering.ep_index[e].d == b->numbering.ep_index[e].d &&
			  a->numbering.ep_index[e].cls == b->numbering.ep_index[e].cls &&
			  a->numbering.ep_index[e].host == b->numbering.ep_index[e].host);
	for (uint32_t i = 0; i < a->numbering.n_dest; i++) {
		const struct ftr_dest *x = &a->numbering.dest[i], *y = &b->numbering.dest[i];

		ck_assert(x->lid == y->lid && x->cls == y->cls &&
			  x->port == y->port && x->col == y->col &&
			  x->d == y->d);
	}
}

/* The projection of f that is made with the nominal shape of f itself must equal the shape of f. */
static void whole_is_own_shape(const struct ftr_fabric *f, uint64_t seed)
{
	struct ftr_nominal *n = nominal_of(f, NULL, NULL);
	struct ftr_shape *own = NULL, *over = shape_over(f, n->shape);

	ck_assert_msg(!ftr_shape_new(f, NULL, NULL, &own, &err), "%s",
		      err.msg);
	same_shape(own, over, seed);
	ck_assert(over->from_nominal && !over->n_absent &&
		  !over->n_missing_sw && !over->n_missing_links &&
		  !over->n_missing_hosts);
	ck_assert(!own->from_nominal && !own->n_absent);
	ftr_shape_free(own);
	ftr_shape_free(over);
	ftr_nominal_free(n);
}

START_TEST(whole_fabric)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(150); i++, seed++) {
		struct ftr_rng r;
		struct ftr_fabric *f;

		ftr_rng_seed(&r, seed);
		f = random_tree(&r, seed, 60);
		if (i % 2)
			f = trees_damaged(f, &r, 30);
		whole_is_own_shape(f, seed);
		ftr_fabric_free(f);
	}
	for (unsigned int i = 0; i < trees_runs(50); i++, seed++) {
		struct ftr_fabric *f = NULL;

		ck_assert(!random_graph_new(seed, 12, 20, 14, &f, &err));
		whole_is_own_shape(f, seed);
		ftr_fabric_free(f);
	}
}
END_TEST

/* ---- inference --------------------------------------------------------- */

/* Consume f, and return a copy with routers at seven of eight free ports.  Missing links can only
 * belong to the remaining free ports. */
static struct ftr_fabric *fill_ports(struct ftr_fabric *f, struct ftr_rng *r)
{
	static const struct edit as_is = EDIT_NOTHING;
	struct ftr_builder *b = edit_open(f, &as_is);
	uint64_t guid = UINT64_C(0xfe) << 56;
	struct ftr_fabric *out;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			if (ftr_fabric_port(f, s, (ftr_port)p)->peer_kind !=
			    FTR_PEER_NONE || ftr_rng_below(r, 8) == 0)
				continue;
			guid += 2;
			ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
				.type = FTR_NODE_ROUTER, .node_guid = guid, .guid = guid + 1,
				.port_num = 1, .name = "",
			}, &err));
			edit_plug(b, f->sw[s].guid, p, guid, 1);
		}
	}
	out = edit_seal(b);
	ftr_fabric_free(f);
	return out;
}

START_TEST(slots)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(150); i++, seed++) {
		struct ftr_shape *sh = NULL;
		struct ftr_fabric *f = NULL;
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		if (i % 10 == 9)
			ck_assert(!random_graph_new(seed, 9, 15, 12, &f, &err));
		else
			f = trees_damaged(random_tree(&r, seed, 24), &r,
					  i % 3 * 15);
		if (i % 4 == 1)
			f = fill_ports(f, &r);
		ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
		oracle_check_slots(sh, seed);
		ftr_shape_free(sh);
		ftr_fabric_free(f);
	}
}
END_TEST

/* Remove `percent` % of the links of a tree.  Returns how many of 1000 switches below the top rank
 * still have the right number of slots (nominal positions of upward groups). */
static unsigned int recognised(const char *shape, uint32_t percent,
			       unsigned int runs)
{
	uint32_t all = 0, right = 0;
	struct ftr_shape *whole = NULL;
	struct ftr_fabric *f = NULL;
	struct ftr_pgft g;

	ck_assert(!ftr_pgft_parse(shape, &g, &err));
	f = trees_grow(&g, 1, 0);
	ck_assert(!ftr_shape_new(f, NULL, NULL, &whole, &err));
	for (unsigned int i = 0; i < runs; i++) {
		struct ftr_damage d = {
			.seed = i, .links = f->n_sw_links * percent / 100,
		};
		struct ftr_fabric *damaged = NULL;
		struct ftr_shape *sh = NULL;

		ck_assert(!ftr_gen_damage(f, &d, &damaged, &err));
		ck_assert(!ftr_shape_new(damaged, NULL, NULL, &sh, &err));
		for (ftr_sw s = 0; s < f->n_sw; s++) {
			all += whole->numbering.n_slots[s] != 0;
			right += whole->numbering.n_slots[s] &&
				sh->numbering.n_slots[s] == whole->numbering.n_slots[s];
		}
		ftr_shape_free(sh);
		ftr_fabric_free(damaged);
	}
	ftr_shape_free(whole);
	ftr_fabric_free(f);
	return right * 1000 / all;
}

START_TEST(recognised_share)
{
	ck_assert_uint_eq(recognised("648", 10, 2), 1000);
	ck_assert_uint_eq(recognised("2;16,16;1,8;1,2", 20, 5), 1000);
	ck_assert_uint_ge(recognised("3;6,6,12;1,6,6;1,1,1", 10, 20), 995);
	ck_assert_uint_ge(recognised("3;4,4,8;1,4,4;1,1,1", 10, 20), 980);
	ck_assert_uint_ge(recognised("3;2,2,8;1,2,2;1,1,1", 10, 20), 920);
}
END_TEST

/* ---- projection -------------------------------------------------------- */

START_TEST(projection)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(200); i++, seed++) {
		struct ftr_nominal_change change;
		struct ftr_nominal *n, *again;
		struct ftr_fabric *whole, *f;
		struct ftr_shape *sh;
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		if (i % 10 == 9) {
			ck_assert(!random_graph_new(seed, 12, 20, 14, &whole,
						  &err));
		} else {
			whole = random_tree(&r, seed, 30);
			if (i % 2)
				whole = trees_damaged(whole, &r, 20);
		}
		n = nominal_of(whole, NULL, NULL);
		f = part_of(whole, &r, 40);
		again = nominal_of(f, n, &change);
		ck_assert_msg(again == n && !change.grew && !change.reshaped,
			      "seed %" PRIu64 ": the nominal fabric has grown by %s", seed,
			      change.example);
		sh = shape_over(f, n->shape);
		oracle_check_projection(sh, n->shape, seed);
		ftr_shape_free(sh);
		/* in the complete fabric, all switches and links must have their old positions */
		sh = shape_over(whole, n->shape);
		oracle_check_projection(sh, n->shape, seed);
		ftr_shape_free(sh);
		ftr_fabric_free(f);
		ftr_fabric_free(whole);
		ftr_nominal_free(n);
	}
}
END_TEST

/* A projection may replace its nominal shape: shapes made with either one must be equal. */
START_TEST(shape_over_a_shape)
{
	uint64_t seed = trees_first_seed();
	struct ftr_team *team = ftr_team_new(3);

	for (unsigned int i = 0; i < trees_runs(60); i++, seed++) {
		struct ftr_rng r;
		struct ftr_fabric *whole, *f, *g;
		struct ftr_nominal *n = NULL;
		struct ftr_shape_opts opts = { 0 };
		struct ftr_shape *over_f, *over_g, *direct = NULL;

		ftr_rng_seed(&r, seed);
		whole = random_tree(&r, seed, 40);
		f = part_of(whole, &r, 20);
		g = part_of(f, &r, 20);
		ck_assert(!ftr_nominal_new(whole, NULL, NULL, &n, NULL,
					   &err));
		over_f = shape_over(f, n->shape);
		over_g = shape_over(g, over_f);
		opts.nominal = n->shape;
		ck_assert(!ftr_shape_new(g, &opts, team, &direct, &err));
		same_shape(over_g, direct, seed);
		ck_assert_uint_eq(over_f->n_missing_links +
				  over_g->n_missing_links,
				  direct->n_missing_links);
		ftr_shape_free(over_f);
		ftr_shape_free(over_g);
		ftr_shape_free(direct);
		ftr_nominal_free(n);
		ftr_fabric_free(f);
		ftr_fabric_free(g);
		ftr_fabric_free(whole);
	}
	ftr_team_free(team);
}
END_TEST

/* Check the host order of f, which is a part of `whole`.  A missing host of a leaf leaves a gap,
 * and the indices of the other hosts stay.  Missing hosts of other switches leave no gaps. */
static void same_order(const struct ftr_fabric *whole, const struct ftr_fabric *f, uint64_t seed)
{
	struct ftr_shape *a = shape_over(whole, NULL), *b = shape_over(f, a);
	uint32_t n_d = a->numbering.n_d, at = n_d;
	ftr_ep *oa = calloc(a->numbering.n_places + 1u, sizeof(*oa));
	ftr_ep *ob = calloc(b->numbering.n_places + 1u, sizeof(*ob));

	ck_assert_uint_eq(b->numbering.n_d, n_d);
	ftr_shape_host_order(a, oa);
	ftr_shape_host_order(b, ob);
	for (uint32_t d = 0; d < a->numbering.n_places; d++) {
		uint64_t guid = oa[d] == FTR_EP_NONE ? 0 : whole->ep[oa[d]].guid;
		ftr_ep e = guid ? ftr_fabric_find_ep(f, guid) : FTR_EP_NONE;

		if (e != FTR_EP_NONE && f->ep[e].sw == FTR_SW_NONE)
			e = FTR_EP_NONE;
		if (d >= n_d && e == FTR_EP_NONE)
			continue;
		ck_assert_msg(ob[d < n_d ? d : at++] == e, "seed %" PRIu64
			      ": place %u of the host order has the wrong host", seed, d);
	}
	ck_assert_uint_eq(b->numbering.n_places, at);
	free(oa);
	free(ob);
	ftr_shape_free(a);
	ftr_shape_free(b);
}

START_TEST(host_order_keeps_gaps)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(60); i++, seed++) {
		struct ftr_rng r;
		struct ftr_fabric *whole, *f;

		ftr_rng_seed(&r, seed);
		whole = i % 2 ? trees_irregular(&r) : random_tree(&r, seed, 40);
		f = part_of(whole, &r, 40);
		same_order(whole, f, seed);
		ftr_fabric_free(f);
		ftr_fabric_free(whole);
	}
}
END_TEST

/* ---- unions ------------------------------------------------------------ */

/* Three parts of a fabric must give the same nominal fabric, whichever part is seen first.  When
 * the whole fabric has been seen, the nominal fabric must be the whole fabric. */
START_TEST(unions)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(60); i++, seed++) {
		struct ftr_fabric *whole, *part[3];
		struct ftr_nominal *end[2] = { NULL, NULL }, *all;
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		whole = random_tree(&r, seed, 40);
		for (int k = 0; k < 3; k++)
			part[k] = part_of(whole, &r, 30);
		for (int way = 0; way < 2; way++) {
			for (int k = 0; k < 3; k++) {
				struct ftr_nominal *old = end[way];

				end[way] = nominal_of(part[way ? 2 - k : k],
						      old, NULL);
				if (old != end[way])
					ftr_nominal_free(old);
			}
		}
		same_state(end[0], end[1], seed);
		same_shape(end[0]->shape, end[1]->shape, seed);
		all = nominal_of(whole, end[0], NULL);
		if (all != end[0])
			ftr_nominal_free(end[0]);
		ftr_nominal_free(end[1]);
		end[1] = nominal_of(whole, NULL, NULL);
		same_state(all, end[1], seed);
		for (int k = 0; k < 3; k++)
			ftr_fabric_free(part[k]);
		ftr_nominal_free(end[1]);
		ftr_nominal_free(all);
		ftr_fabric_free(whole);
	}
}
END_TEST

/* The order in which OpenSM discovers the nodes, or a file lists them, must have no effect. */
START_TEST(order_of_discovery)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(20); i++, seed++) {
		struct ftr_rng r;
		struct ftr_fabric *f, *other = NULL;
		struct ftr_nominal *a, *b;
		uint32_t *order = NULL;
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);

		ftr_rng_seed(&r, seed);
		f = trees_damaged(random_tree(&r, seed, 40), &r, 20);
		ck_assert(!ftr_gen_order(f, seed, &order, &err));
		ck_assert(!ftr_write_netfile(out, f, order, &err));
		fclose(out);
		ck_assert_msg(!ftr_parse_fabric("text", text, len, 0, &other,
						&err), "%s", err.msg);
		a = nominal_of(f, NULL, NULL);
		b = nominal_of(other, NULL, NULL);
		same_state(a, b, seed);
		same_shape(a->shape, b->shape, seed);
		free(text);
		free(order);
		ftr_nominal_free(a);
		ftr_nominal_free(b);
		ftr_fabric_free(f);
		ftr_fabric_free(other);
	}
}
END_TEST

/* ---- growth into an inferred slot -------------------------------------- */

struct but_one {
	uint32_t spare;		/* index of the port whose dead link is kept */
	const uint8_t *dead;	/* [port] 1: the link is dead */
};

static bool keep_link(void *ctx, const struct ftr_fabric *f, ftr_sw s,
		      ftr_port p)
{
	const struct but_one *b = ctx;
	uint32_t i = f->sw[s].first_port + p;

	return i == b->spare || !b->dead[i];
}

static struct ftr_fabric *without(const struct ftr_fabric *f,
				  const uint8_t *dead, uint32_t spare)
{
	struct but_one b = { spare, dead };
	struct ftr_filter filter = { .keep_link = keep_link, .ctx = &b };
	struct ftr_fabric *out = NULL;

	ck_assert(!ftr_fabric_copy_if(f, &filter, &out, &err));
	return out;
}

/* Shapes a and b may differ only in data about the links between s and t. */
static void nothing_moved(const struct ftr_shape *a, const struct ftr_shape *b,
			  ftr_sw s, ftr_sw t, uint64_t seed)
{
	uint32_t n = a->f->n_sw;

	SAME(numbering.col, n);
	SAME(tree.stub, n);
	SAME(numbering.n_slots, n);
	SAME(numbering.divider, n);
	SAME(numbering.sw_d, n);
	SAME(numbering.pod_first, n);
	SAME(numbering.pod_leaves, n);
	ck_assert(a->numbering.n_d == b->numbering.n_d && a->numbering.stride == b->numbering.stride);
	for (ftr_ep e = 0; e < a->f->n_ep; e++)
		ck_assert(a->numbering.ep_index[e].d == b->numbering.ep_index[e].d);
	for (ftr_sw x = 0; x < n; x++) {
		uint32_t k = b->tree.group_first[x];

		for (uint32_t g = a->tree.group_first[x]; g < a->tree.group_first[x + 1];
		     g++, k++) {
			const struct ftr_group *p = &a->tree.groups[g];
			const struct ftr_group *q = &b->tree.groups[k];
			bool grown;

			if (q->remote != p->remote)
				q = &b->tree.groups[++k];
			grown = (x == s && p->remote == t) ||
				(x == t && p->remote == s);
			ck_assert_msg(q->remote == p->remote &&
				      q->slot == p->slot &&
				      q->n_nominal == p->n_nominal &&
				      q->n == p->n + grown, "seed %" PRIu64
				      ": the port group from %u to %u has changed", seed, x,
				      p->remote);
		}
	}
}

static bool same_guess(const struct ftr_shape *a, const struct ftr_shape *b)
{
	uint32_t n = a->f->n_sw;

	for (ftr_sw s = 0; s < n; s++)
		if ((a->numbering.col[s] < a->tree.n_leaf) != (b->numbering.col[s] < b->tree.n_leaf))
			return false;
	return !memcmp(a->tree.rank, b->tree.rank, n) && !memcmp(a->tree.stub, b->tree.stub, n);
}

static unsigned int links_of(const struct ftr_fabric *f, ftr_sw s, ftr_sw t)
{
	unsigned int n = 0;

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(f, s, (ftr_port)p);

		n += port->peer_kind == FTR_PEER_SW && port->peer == t;
	}
	return n;
}

struct tally {
	unsigned int filled, guessed;
};

/* n: the nominal fabric of the damaged fabric.  Add only the dead link at port p of switch s to the
 * damaged fabric, and make a new nominal fabric from n.  Only this link may be new in it. */
static void grow_by(const struct ftr_fabric *f, const uint8_t *dead,
		    struct ftr_nominal *n, ftr_sw s, unsigned int p,
		    uint64_t seed, struct tally *tally)
{
	ftr_sw t = ftr_fabric_port(f, s, (ftr_port)p)->peer;
	struct ftr_fabric *more = without(f, dead, f->sw[s].first_port + p);
	struct ftr_nominal_change change;
	struct ftr_nominal *grown = nominal_of(more, n, &change);

	ck_assert(grown != n && change.grew);
	ck_assert_uint_eq(change.new_links, 1);
	ck_assert(!change.new_sw && !change.new_hosts && !change.changed &&
		  !change.dropped_sw && !change.dropped_links &&
		  !change.dropped_hosts);
	if (oracle_nominal(n->shape, s, t) > links_of(n->f, s, t)) {
		/* heavy damage can change the inferred ranks */
		if (same_guess(n->shape, grown->shape)) {
			nothing_moved(n->shape, grown->shape, s, t, seed);
			tally->filled++;
		} else {
			tally->guessed++;
		}
	}
	ftr_nominal_free(grown);
	ftr_fabric_free(more);
}

/* Test how the nominal fabric n of the damaged fabric grows with each dead link (grow_by). */
static void grow_back(const struct ftr_fabric *f, const uint8_t *dead,
		      uint64_t seed, struct tally *tally)
{
	struct ftr_fabric *damaged = without(f, dead, 0);
	struct ftr_nominal *n = nominal_of(damaged, NULL, NULL);

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			if (dead[f->sw[s].first_port + p])
				grow_by(f, dead, n, s, p, seed, tally);
	ftr_nominal_free(n);
	ftr_fabric_free(damaged);
}

START_TEST(growth_into_a_slot)
{
	uint64_t seed = trees_first_seed();
	struct tally tally = { 0, 0 };

	for (unsigned int i = 0; i < trees_runs(80); i++, seed++) {
		struct ftr_fabric *f;
		struct ftr_rng r;
		uint8_t *dead;

		ftr_rng_seed(&r, seed);
		f = random_tree(&r, seed, 24);
		dead = calloc(f->n_ports, 1);
		for (ftr_sw s = 0; s < f->n_sw; s++)
			for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
				const struct ftr_swport *x =
					ftr_fabric_port(f, s, (ftr_port)p);

				dead[f->sw[s].first_port + p] =
					x->peer_kind == FTR_PEER_SW &&
					x->peer > s &&
					ftr_rng_below(&r, 10) == 0;
			}
		grow_back(f, dead, seed, &tally);
		free(dead);
		ftr_fabric_free(f);
	}
	runs_show(tally.filled >= trees_runs(80));
	runs_show(tally.filled >= 10 * tally.guessed);
}
END_TEST

/* ---- the state file ---------------------------------------------------- */

static void round_trip(struct ftr_nominal *n, uint64_t seed)
{
	char path[TEMP_ROOM];
	struct ftr_state back;
	int fd = temp_file(path, "ftr-nominal");

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_msg(!ftr_state_write(path, &(struct ftr_state){ .nominal = n }, &err),
		      "%s", err.msg);
	ck_assert(ftr_state_is_file(path));
	ck_assert_msg(!ftr_state_read(path, true, NULL, &back, &err), "%s", err.msg);
	ck_assert(!back.reshaped);
	same_shape(n->shape, back.nominal->shape, seed);
	same_state(n, back.nominal, seed);
	ftr_state_clear(&back);
	unlink(path);
}

START_TEST(state_round_trip)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(40); i++, seed++) {
		struct ftr_nominal *n;
		struct ftr_fabric *f;
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		f = trees_damaged(random_tree(&r, seed, 40), &r, 20);
		n = nominal_of(f, NULL, NULL);
		round_trip(n, seed);
		ftr_nominal_free(n);
		ftr_fabric_free(f);
	}
}
END_TEST

/* ---- the real fabrics -------------------------------------------------- */

START_TEST(real_fabrics)
{
	for (int i = 0; trees_real_files[i]; i++) {
		struct ftr_fabric *f = trees_real(trees_real_files[i]), *part;
		struct ftr_nominal *n;
		struct ftr_shape *sh;
		struct ftr_rng r;

		if (!f)
			continue;
		ftr_rng_seed(&r, (uint64_t)i);
		whole_is_own_shape(f, 0);
		n = nominal_of(f, NULL, NULL);
		oracle_check_slots(n->shape, 0);
		round_trip(n, 0);
		part = part_of(f, &r, 10);
		sh = shape_over(part, n->shape);
		oracle_check_projection(sh, n->shape, 0);
		ftr_shape_free(sh);
		ftr_nominal_free(n);
		ftr_fabric_free(part);
		ftr_fabric_free(f);
	}
}
END_TEST

/* The fabric "topograph" lacks 26 of 558 links.  In its nominal fabric each leaf has 2 links to
 * each spine. */
START_TEST(topograph)
{
	struct ftr_fabric *f = trees_real("topograph/topograph.net");
	struct ftr_shape *sh = NULL;

	if (!f)
		return;
	ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		if (sh->tree.rank[s])
			continue;
		ck_assert_uint_eq(sh->numbering.n_slots[s], 9);
		for (uint32_t k = 0; k < sh->tree.n_up[s]; k++)
			ck_assert_uint_eq(sh->tree.groups[sh->tree.group_first[s] +
					  k].n_nominal, 2);
	}
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("nominal");
	TCase *tc = tcase_create("random");

	tcase_add_test(tc, whole_fabric);
	tcase_add_test(tc, slots);
	tcase_add_test(tc, recognised_share);
	tcase_add_test(tc, projection);
	tcase_add_test(tc, shape_over_a_shape);
	tcase_add_test(tc, host_order_keeps_gaps);
	tcase_add_test(tc, unions);
	tcase_add_test(tc, order_of_discovery);
	tcase_add_test(tc, growth_into_a_slot);
	tcase_add_test(tc, state_round_trip);
	tcase_add_test(tc, real_fabrics);
	tcase_add_test(tc, topograph);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
