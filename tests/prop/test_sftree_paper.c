// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests algorithms 1 and 2 of Bogdanski et al. 2012 (lib/subtree.h), on complete trees and on
 * fabrics that are not PGFTs.  Some paths are compared with paths worked out by hand.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "lib/draw.h"
#include "lib/subtree.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "prop/sftree_both.h"

static struct subtree_stats made;

static void replace_tables(struct both *b, ftr_sw sm_switch)
{
	ck_assert(!subtree_route(b->sh, sm_switch, b->sftree, &made, &err));
}

static void paper(struct both *b)
{
	route(b, NULL, NULL);
	replace_tables(b, FTR_SW_NONE);
}

static void judge(const struct both *b, struct ftr_check_report *rep)
{
	struct ftr_check_opts opts = { .switch_sources = true };

	ck_assert(!ftr_check_tables(b->f, b->sftree, &opts, NULL, rep, &err));
}

/* Returns the number of hops of sftree's longest path between two switches that have no path with
 * dmodc. */
static uint32_t longest_zigzag(const struct both *b)
{
	uint32_t longest = 0;

	for (ftr_sw src = 0; src < b->f->n_sw; src++)
		for (ftr_sw dst = 0; dst < b->f->n_sw; dst++) {
			ftr_lid lid = b->f->sw[dst].lid;
			uint32_t hops = 0;

			if (ftr_tables_get(b->dmodc, src, lid) !=
			    FTR_PORT_NONE)
				continue;
			for (ftr_sw s = src; s != dst; hops++)
				s = ftr_fabric_port(b->f, s,
					ftr_tables_get(b->sftree, s, lid))
					->peer;
			longest = FTR_MAX(longest, hops);
		}
	return longest;
}

/* On complete trees the claims of Bogdanski et al. 2012 must hold: switches reach all switches, and
 * the channel dependencies on the VL of the hosts are acyclic. */
START_TEST(paper_on_whole_trees)
{
	static const char *const shape[] = {
		"kary:2,2", "kary:2,3", "kary:3,2", "kary:3,3", "kary:4,2",
		"kary:2,4", "3;4,4,8;1,4,4;1,1,1", "648",
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(shape); i++) {
		struct both b = { 0 };
		struct ftr_check_report rep;
		struct ftr_pgft g;

		ck_assert(!ftr_pgft_parse(shape[i], &g, &err));
		b.f = trees_grow(&g, i, 0);
		paper(&b);
		judge(&b, &rep);
		ck_assert_uint_eq(rep.bad[FTR_CHECK_SW_SW], 0);
		ck_assert_uint_eq(rep.harmful, 0);
		ck_assert_int_eq(rep.cdg, FTR_CDG_ACYCLIC);
		ck_assert_uint_gt(made.longest, 0);
		ck_assert_uint_eq(made.longest, longest_zigzag(&b));
		hosts_as_dmodc(&b, i);
		unroute(&b);
	}
}
END_TEST

/* On damaged trees, the mode of the paper leaves pairs of switches unreachable and entries for
 * hosts missing.  Both must occur here.  Cycles may occur, and are only counted.  The default
 * mode must have none of these defects. */
START_TEST(paper_off_whole_trees)
{
	uint64_t seed = trees_first_seed();
	unsigned int lost_pairs = 0, missing = 0, cycles = 0;

	for (unsigned int i = 0; i < trees_runs(400); i++, seed++) {
		struct both b = { 0 };
		struct ftr_check_report rep;
		struct ftr_rng rng;
		struct ftr_pgft g;

		ftr_rng_seed(&rng, seed);
		ck_assert(!ftr_pgft_parse(i % 2 ? "kary:2,3" : "kary:3,3", &g,
					  &err));
		b.f = trees_damaged(trees_grow(&g, seed, 0), &rng, 20);
		paper(&b);
		judge(&b, &rep);
		lost_pairs += rep.bad[FTR_CHECK_SW_SW] != 0;
		missing += rep.bad[FTR_CHECK_SW_HOST] != 0;
		cycles += rep.cdg == FTR_CDG_CYCLE;
		ftr_tables_free(b.sftree);
		tables(&b, "sftree", NULL, NULL, &b.sftree);
		complete(&b, seed);
		unroute(&b);
	}
	runs_show(lost_pairs > 0);
	runs_show(missing > 0);
	printf("sFtree of the paper: %u damaged trees with unreachable pairs of switches, %u with missing entries for hosts, %u with cycles\n",
	       lost_pairs, missing, cycles);
}
END_TEST

/* Returns the names of the switches on sftree's path, for example "A X1 B".  "!" stands for a
 * missing entry; "..." at the end means that the path has a loop. */
static const char *path(const struct both *b, const char *from, const char *to)
{
	static char text[200];
	ftr_sw s = draw_sw(b->f, from), end = draw_sw(b->f, to);
	ftr_lid lid = b->f->sw[end].lid;

	strcpy(text, from);
	for (unsigned int hops = 0; s != end; hops++) {
		ftr_port out = ftr_tables_get(b->sftree, s, lid);

		if (out == FTR_PORT_NONE)
			return strcat(text, " !");
		if (hops == 8)
			return strcat(text, " ...");
		s = ftr_fabric_port(b->f, s, out)->peer;
		strcat(strcat(text, " "), b->f->sw[s].name);
	}
	return text;
}

static void paths_are(const struct both *b, const char *const (*want)[3],
		      size_t n)
{
	for (size_t i = 0; i < n; i++)
		ck_assert_str_eq(path(b, want[i][0], want[i][1]), want[i][2]);
}

static void paper_root(struct both *b, const char *sm, const char *want)
{
	replace_tables(b, sm ? draw_sw(b->f, sm) : FTR_SW_NONE);
	ck_assert_str_eq(b->f->sw[made.root].name, want);
}

/*
 * Figure 3 of Bogdanski et al. 2012, as section 4.1 describes it.  The middle switches A1 and
 * A2 are below the top switches X1 and X2, and B1 and B2 are below Y1 and Y2.  s is the root
 * of the subtree.
 *
 *	X1 X2   Y1 Y2
 *	| X |   | X |		links A1-X1 A1-X2 A2-X1 A2-X2, B and Y likewise
 *	A1 A2   B1 B2
 *	s, l below A1 and B1; m, n below A2 and B2
 */
#define FIGURE_3_TOP "A1: X1 X2\nA2: X1 X2\nB1: Y1 Y2\nB2: Y1 Y2\n" \
	"X1:\nX2:\nY1:\nY2:\n"

START_TEST(paper_figure_3)
{
	static const char *const want[][3] = {
		/* an up/down path is kept */
		{ "s", "Y2", "s B1 Y2" },
		{ "A1", "A2", "A1 X1 A2" },
		{ "X2", "n", "X2 A2 n" },
		/* "X1 and Y1 will communicate through s whereas X1 and X2
		 * will go through switch A1" */
		{ "X1", "Y1", "X1 A1 s B1 Y1" },
		{ "Y2", "X1", "Y2 B1 s A1 X1" },
		{ "X1", "X2", "X1 A1 X2" },
		{ "Y2", "Y1", "Y2 B1 Y1" },
		/* A1 and B1 have no common ancestor, and s is directly below both */
		{ "A1", "B1", "A1 s B1" },
		/* from A2 and from B2: first up, then down into the subtree */
		{ "A2", "B1", "A2 X1 A1 s B1" },
		{ "B2", "A1", "B2 Y1 B1 s A1" },
		{ "B2", "X2", "B2 Y1 B1 s A1 X2" },
		/* from the half of the tree with A and X to the half with B and Y */
		{ "A2", "Y1", "A2 X1 A1 s B1 Y1" },
	};
	struct both b = { .f = draw("s: A1 B1 h1\nl: A1 B1 h1\n"
				    "m: A2 B2 h1\nn: A2 B2 h1\n"
				    FIGURE_3_TOP) };

	paper(&b);
	ck_assert_str_eq(b.f->sw[made.root].name, "s");
	paths_are(&b, want, FTR_ARRAY_LEN(want));
	/* section 4.2: the root is not the leaf of the subnet manager */
	paper_root(&b, "s", "l");
	ck_assert_str_eq(path(&b, "X1", "Y1"), "X1 A1 l B1 Y1");
	unroute(&b);
}
END_TEST

/* Algorithm 1: the root is the first leaf that reaches all switches, but not the leaf of the subnet
 * manager.  Here l does not reach B1, so the root is m, or s if the manager is on m.  If no leaf
 * reaches all switches, the root is the first leaf (lines 15 to 17). */
START_TEST(paper_root_choice)
{
	struct both b = { .f = draw("l: A1 h1\nm: A1 B1 h1\n"
				    "s: A2 B2 h1\nn: A2 B2 h1\n"
				    FIGURE_3_TOP) };

	paper(&b);
	ck_assert_str_eq(b.f->sw[made.root].name, "m");
	paper_root(&b, "m", "s");
	ck_assert_str_eq(path(&b, "X1", "Y1"), "X1 A2 s B2 Y1");
	unroute(&b);
	b.f = draw("l: A1 h1\nm: A2 h1\ns: B1 h1\nn: B2 h1\n"
		   FIGURE_3_TOP);
	paper(&b);
	ck_assert_str_eq(b.f->sw[made.root].name, "l");
	ck_assert_str_eq(path(&b, "X1", "Y1"), "X1 !");
	unroute(&b);
}
END_TEST

/*
 * Algorithm 2, lines 6 to 19: the root R does not reach t2, but its sibling S does.  No
 * leaf reaches all switches: S does not reach z, and V does not reach t1.
 *
 *	t1   t2   z
 *	|\ \ /|\  |
 *	T R=S U V
 */
START_TEST(paper_sibling)
{
	static const char *const want[][3] = {
		{ "t1", "t2", "t1 S t2" },	/* line 13 */
		{ "R", "t2", "R S t2" },	/* line 9 */
		{ "R", "U", "R S t2 U" },
		{ "T", "t2", "T t1 S t2" },	/* T uses its entry for the root */
		{ "t1", "z", "t1 !" },		/* S does not reach z */
		{ "R", "z", "R !" },
	};
	/* Now R has the lowest GUID.  Line 13 of algorithm 2 overwrites the entry of R that line 9
	 * has written.  The new entry makes a loop, which the checker must find. */
	static const char *const root_first[][3] = {
		{ "R", "t2", "R t1 R t1 R t1 R t1 R ..." },
	};
	static const char *const leaves =
		"R: t1 S h1\nS: t1 t2 h1\nT: t1 h1\nU: t2 h1\nV: t2 z h1\n";
	struct ftr_check_report rep;
	struct both b = { 0 };
	char text[200];

	snprintf(text, sizeof(text), "t1:\nt2:\nz:\n%s", leaves);
	b.f = draw(text);
	paper(&b);
	ck_assert_str_eq(b.f->sw[made.root].name, "R");
	paths_are(&b, want, FTR_ARRAY_LEN(want));
	unroute(&b);
	snprintf(text, sizeof(text), "%st1:\nt2:\nz:\n", leaves);
	b.f = draw(text);
	paper(&b);
	ck_assert_str_eq(b.f->sw[made.root].name, "R");
	paths_are(&b, root_first, FTR_ARRAY_LEN(root_first));
	judge(&b, &rep);
	ck_assert_uint_gt(rep.harmful, 0);
	unroute(&b);
}
END_TEST

/*
 * A random complete tree that is not a PGFT: a top switch reaches some pods over one middle
 * switch, other pods over two.  Theorem 5.2 of Bogdanski et al. 2012 fails on some of these
 * trees: the channel dependencies have a cycle.  Packets that turn in the subtree leave it
 * over different middle switches, and close the cycle with other packets.  The plugin
 * refuses such tables.  The default mode has no cycle on any of these trees.
 *
 *	t0  t1  t2  t3		each middle switch is linked to three of the four tops
 *	 | \/ ...
 *	m0  m1 | m2  m3 | m4  m5
 *	 |\ /|    |\ /|    |\ /|
 *	 A   B    C   D    E   F
 */
static struct ftr_fabric *crossed_tree(struct ftr_rng *r)
{
	char text[1000] = "", line[40];
	uint32_t perm[10], t[4];

	/* 0..5 are middle switches, 6..9 top switches; their GUIDs are in random order */
	ftr_rng_perm(r, perm, 10);
	for (int i = 0; i < 10; i++) {
		ftr_rng_perm(r, t, 4);
		if (perm[i] < 6)
			snprintf(line, sizeof(line), "m%u: t%u t%u t%u\n",
				 perm[i], t[0], t[1], t[2]);
		else
			snprintf(line, sizeof(line), "t%u:\n", perm[i] - 6);
		strcat(text, line);
	}
	for (int i = 0; i < 6; i++) {
		snprintf(line, sizeof(line), "%c: m%d m%d h1\n", 'A' + i,
			 i / 2 * 2, i / 2 * 2 + 1);
		strcat(text, line);
	}
	return draw(text);
}

START_TEST(paper_has_cycles_off_pgfts)
{
	uint64_t seed = trees_first_seed();
	unsigned int cycles = 0;

	for (unsigned int i = 0; i < trees_runs(300); i++, seed++) {
		struct both b = { 0 };
		struct ftr_check_report rep;
		struct ftr_rng rng;

		ftr_rng_seed(&rng, seed);
		b.f = crossed_tree(&rng);
		paper(&b);
		judge(&b, &rep);
		cycles += rep.cdg == FTR_CDG_CYCLE;
		ftr_tables_free(b.sftree);
		tables(&b, "sftree", NULL, NULL, &b.sftree);
		complete(&b, seed);
		acyclic(&b, seed);
		unroute(&b);
	}
	printf("sFtree of the paper on %u complete trees that are not PGFTs: %u with cycles\n",
	       trees_runs(300), cycles);
	runs_show(cycles > 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sftree, as published");
	TCase *t = tcase_create("paper");

	tcase_add_test(t, paper_on_whole_trees);
	tcase_add_test(t, paper_figure_3);
	tcase_add_test(t, paper_root_choice);
	tcase_add_test(t, paper_sibling);
	tcase_add_test(t, paper_off_whole_trees);
	tcase_add_test(t, paper_has_cycles_off_pgfts);
	suite_add_tcase(s, t);
	return run_suite(s);
}
