// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the plugin's multicast trees.  A simple walk checks every tree.
 *
 *	    s0   s1          two spines, four leaves with one host each,
 *	   /||\ /||\         and one link from each leaf to each spine
 *	  l0 l1 l2 l3
 *	  h  h  h  h
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/alloc.h"
#include "lib/suite.h"
#include "osm/stree.h"

#define LEAF(i) (0x10u + (i))
#define SPINE(i) (0x20u + (i))
#define HOST(i) (0x1000u + 16 * (i))

static void link_up(struct ftr_builder *b, uint64_t a, unsigned int ap,
		    uint64_t z, unsigned int zp)
{
	ck_assert_int_eq(ftr_builder_add_link(b,
			(struct ftr_end){ a, (ftr_port)ap },
			(struct ftr_end){ z, (ftr_port)zp }, 0, 0, NULL),
			FTR_OK);
}

/* If bit `spines * l + s` of `cut` is set, there is no link between leaf l and spine s. */
static struct ftr_fabric *two_level(unsigned int leaves, unsigned int spines,
				    uint32_t cut)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_fabric *f = NULL;
	struct ftr_err err;

	for (unsigned int l = 0; l < leaves; l++) {
		ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = LEAF(l), .n_ports = 8, .name = "leaf",
		}, &err));
		ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = HOST(l), .guid = HOST(l) + 1,
			.port_num = 1, .name = "host",
		}, &err));
		link_up(b, HOST(l), 1, LEAF(l), 1);
	}
	for (unsigned int s = 0; s < spines; s++) {
		ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = SPINE(s), .n_ports = 8, .name = "spine",
		}, &err));
		for (unsigned int l = 0; l < leaves; l++)
			if (!(cut & 1u << (spines * l + s)))
				link_up(b, LEAF(l), 2 + s, SPINE(s), 1 + l);
	}
	ck_assert(!ftr_builder_assign_lids(b, 0, &err));
	ck_assert_int_eq(ftr_builder_freeze(b, &f, &err), FTR_OK);
	return f;
}

struct rig {
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ibf_stree *t;
	uint8_t able[16];
};

static void rig_init(struct rig *r, struct ftr_fabric *f)
{
	struct ftr_err err;

	r->f = f;
	ck_assert_int_eq(ftr_shape_new(f, NULL, NULL, &r->sh, &err), FTR_OK);
	memset(r->able, 1, sizeof(r->able));
	r->t = ibf_stree_new(r->sh, r->able);
	ck_assert_ptr_nonnull(r->t);
}

static void rig_fini(struct rig *r)
{
	ibf_stree_free(r->t);
	ftr_shape_free(r->sh);
	ftr_fabric_free(r->f);
}

static void build(struct rig *r, uint32_t members, uint16_t mlid)
{
	r->t->n_members = 0;
	for (ftr_sw s = 0; s < r->f->n_sw; s++)
		if (members & 1u << s)
			r->t->member[r->t->n_members++] = s;
	ibf_stree_build(r->t, mlid);
}

/* Check a tree.  The path from parent to parent leads to the root over existing links, through
 * switches of the tree that support multicast.  The root comes first.  Every switch without
 * children is a member. */
static void judge(const struct rig *r, uint32_t members)
{
	const struct ibf_stree *t = r->t;
	uint32_t lost = 0, children[16] = { 0 };

	for (uint32_t i = 0; i < t->n_used; i++) {
		ftr_sw s = t->used[i];
		const struct ibf_stree_node *n = &t->node[s];
		const struct ftr_swport *p;

		ck_assert(r->able[s] && n->used);
		ck_assert((i == 0) == (n->parent == FTR_SW_NONE));
		if (i == 0) {
			ck_assert_uint_eq(s, t->root);
			continue;
		}
		ck_assert(t->node[n->parent].used);
		children[n->parent]++;
		p = ftr_fabric_port(r->f, s, n->up);
		ck_assert_uint_eq(p->peer_kind, FTR_PEER_SW);
		ck_assert_uint_eq(p->peer, n->parent);
		ck_assert_uint_eq(p->peer_port, n->down);
		for (ftr_sw a = s, hops = 0; a != t->root; hops++) {
			ck_assert_uint_lt(hops, r->f->n_sw);
			a = t->node[a].parent;
		}
	}
	for (uint32_t i = 0; i < t->n_used; i++) {
		uint32_t degree = children[t->used[i]] + (i != 0);

		if (!(members & 1u << t->used[i]))
			ck_assert_uint_ge(degree, 2);
	}
	for (ftr_sw s = 0; s < r->f->n_sw; s++)
		lost += members & 1u << s && !t->node[s].used;
	ck_assert_uint_eq(lost, t->n_lost);
}

/* Returns the largest number of members that are connected through switches with multicast
 * support.  Finds it by flooding. */
static uint32_t best_part(const struct rig *r, uint32_t members)
{
	uint32_t best = 0;

	for (ftr_sw from = 0; from < r->f->n_sw; from++) {
		uint32_t seen = r->able[from] ? 1u << from : 0, last = 0;

		while (seen != last) {
			last = seen;
			for (ftr_sw s = 0; s < r->f->n_sw; s++)
				for (ftr_port p = 1; last & 1u << s &&
				     p <= r->f->sw[s].n_ports; p++) {
					const struct ftr_swport *w =
						ftr_fabric_port(r->f, s, p);

					if (w->peer_kind == FTR_PEER_SW &&
					    r->able[w->peer])
						seen |= 1u << w->peer;
				}
		}
		if (__builtin_popcount(seen & members) > (int)best)
			best = (uint32_t)__builtin_popcount(seen & members);
	}
	return best;
}

/* Check all sets of members, with all sets of cut links.  All switches support multicast, or all
 * except one. */
START_TEST(test_exhaustive)
{
	for (uint32_t cut = 0; cut < 256; cut++) {
		struct rig r;

		rig_init(&r, two_level(4, 2, cut));
		for (uint32_t members = 1; members < 64; members++) {
			for (ftr_sw dumb = 0; dumb <= r.f->n_sw; dumb++) {
				memset(r.able, 1, sizeof(r.able));
				if (dumb < r.f->n_sw)
					r.able[dumb] = 0;
				build(&r, members, (uint16_t)(0xC000 + cut));
				judge(&r, members);
				ck_assert_uint_eq(r.t->n_members -
						  r.t->n_lost,
						  best_part(&r, members));
			}
		}
		rig_fini(&r);
	}
}
END_TEST

START_TEST(test_spread)
{
	uint32_t roots = 0;
	struct rig r;

	rig_init(&r, two_level(4, 4, 0));
	for (uint16_t mlid = 0xC000; mlid < 0xC040; mlid++) {
		build(&r, 0xf, mlid);	/* the four leaves */
		judge(&r, 0xf);
		ck_assert(r.t->pure_down);
		ck_assert_uint_eq(r.t->n_used, 5);
		roots |= 1u << r.t->root;
	}
	ck_assert_uint_eq(roots, 0xf0);	/* every spine is the root of a tree */
	build(&r, 1, 0xC000);
	ck_assert_uint_eq(r.t->n_used, 1);
	ck_assert_uint_eq(r.t->root, 0);
	rig_fini(&r);
}
END_TEST

START_TEST(test_nomem)
{
	struct rig r;
	struct ibf_stree *t = NULL;
	unsigned long n = 0;

	rig_init(&r, two_level(4, 2, 0));
	while (!t) {
		ftr_alloc_fail_at(++n);
		t = ibf_stree_new(r.sh, r.able);
	}
	ck_assert_uint_gt(n, 1);
	ftr_alloc_fail_at(0);
	ibf_stree_free(t);
	rig_fini(&r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("osm_stree");
	TCase *t = tcase_create("stree");

	tcase_add_test(t, test_exhaustive);
	tcase_add_test(t, test_spread);
	tcase_add_test(t, test_nomem);
	suite_add_tcase(s, t);
	return run_suite(s);
}
