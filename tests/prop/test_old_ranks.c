// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests irregular fabrics in which one more host changes the inferred ranks (src/core/shape/choice.c,
 * rule 7).
 *
 * The nominal fabric contains all switches and links seen so far.  It must keep the old ranks,
 * unless the inferred ranks are clearly better.  With the old ranks, no entry for an old LID may
 * change.  With the inferred ranks, some would change.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "lib/edit.h"
#include "lib/irregular.h"
#include "lib/suite.h"
#include "lib/temp.h"
#include "lib/trees.h"

static struct ftr_err err;

static struct ftr_nominal *nominal_of(const struct ftr_fabric *f,
				      struct ftr_nominal *old)
{
	struct ftr_nominal *n = NULL;

	ck_assert_msg(!ftr_nominal_new(f, NULL, old, &n, NULL, &err),
		      "%s", err.msg);
	return n;
}

struct routed {
	struct ftr_tables *t;
	struct ftr_route_stats stats;	/* owns stats.turn */
};

/* Route f with dmodc.  If `before`, an earlier routing of the fabric of_f, is not NULL, its valid
 * entries and extra turns (from a downward to an upward link) are kept, as in the plugin. */
static struct routed route(const struct ftr_fabric *f, const struct ftr_nominal *n,
			   const struct ftr_fabric *of_f, const struct routed *before)
{
	struct ftr_shape_opts opts = { .nominal = n->shape };
	struct ftr_route_opts ro = FTR_ROUTE_OPTS_INIT;
	struct routed out = { .t = NULL };
	struct ftr_tables *prefer = NULL;
	struct ftr_keep keep;
	struct ftr_shape *sh = NULL;

	ck_assert_msg(!ftr_shape_new(f, &opts, NULL, &sh, &err), "%s", err.msg);
	ck_assert(!ftr_tables_new(f, false, &out.t, &err));
	ro.balance = FTR_BALANCE_LOAD;
	ro.keep_turns = true;
	if (before) {
		ck_assert(!ftr_tables_carry(of_f, before->t, f, &prefer, &err));
		keep = (struct ftr_keep){ .prefer = prefer };
		ro.keep = &keep;
		ro.turn = before->stats.turn;
		ro.n_turns = before->stats.turn ? before->stats.n_turns : 0;
	}
	ck_assert_msg(!ftr_engine_find("dmodc")->route(sh, &ro, NULL, out.t, &out.stats, &err),
		      "%s", err.msg);
	ftr_tables_free(prefer);
	ftr_shape_free(sh);
	return out;
}

static void routed_free(struct routed *r)
{
	ftr_tables_free(r->t);
	free(r->stats.turn);
}

/* Count the entries for LIDs of f that differ between tables a (of f) and tables b (of `whole`). */
static uint64_t changed(const struct ftr_fabric *f, const struct ftr_tables *a,
			const struct ftr_fabric *whole, const struct ftr_tables *b)
{
	struct ftr_tables *back = NULL;
	struct ftr_tables_diff diff;

	ck_assert(!ftr_tables_carry(whole, b, f, &back, &err));
	ftr_tables_diff(f, a, f, back, &diff);
	ftr_tables_free(back);
	return diff.entries;
}

static bool is_leaf(const struct ftr_shape *sh, ftr_sw s)
{
	return sh->numbering.col[s] < sh->tree.n_leaf;
}

static bool same_ranks(const struct ftr_shape *a, const struct ftr_shape *b)
{
	uint32_t n = a->f->n_sw;

	for (ftr_sw s = 0; s < n; s++)
		if (is_leaf(a, s) != is_leaf(b, s))
			return false;
	return !memcmp(a->tree.rank, b->tree.rank, n) && !memcmp(a->tree.stub, b->tree.stub, n);
}

/* Write n to a state file and read it, as in a restart.  The ranks, and the tables of f, must stay
 * the same. */
static void round_trip(const struct ftr_fabric *f, struct ftr_nominal *n, uint64_t seed)
{
	char path[TEMP_ROOM];
	struct ftr_nominal *back = NULL;
	struct routed old, new;
	struct ftr_tables_diff diff;
	int fd = temp_file(path, "ftr-nominal");

	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_msg(!ftr_state_write(path, &(struct ftr_state){ .nominal = n }, &err),
		      "%s", err.msg);
	ck_assert_msg(!ftr_nominal_read(path, NULL, &back, &err), "%s", err.msg);
	ck_assert_msg(same_ranks(n->shape, back->shape), "seed %" PRIu64
		      ": the ranks in the file differ", seed);
	ck_assert_msg(!memcmp(n->shape->numbering.col, back->shape->numbering.col,
			      n->f->n_sw * sizeof(*n->shape->numbering.col)),
		      "seed %" PRIu64 ": the indices of destination switches differ", seed);
	ck_assert(back->shape->tree.ranks_kept == n->shape->tree.ranks_kept);
	old = route(f, n, NULL, NULL);
	new = route(f, back, NULL, NULL);
	ftr_tables_diff(f, old.t, f, new.t, &diff);
	ck_assert_msg(!diff.entries, "seed %" PRIu64 ": %" PRIu64 " entries differ", seed,
		      diff.entries);
	routed_free(&old);
	routed_free(&new);
	ftr_nominal_free(back);
	unlink(path);
}

struct tally {
	unsigned int flips;	/* cases in which the inferred ranks change */
	unsigned int kept;	/* those of `flips` in which the old ranks are kept */
	unsigned int same;	/* those of `kept` without extra turns */
	uint64_t entries;	/* in the cases of `same`: entries that new ranks would change */
};

/* Make a nominal fabric from a copy of `whole` without host port h.  Then add `whole` to it. */
static void add_host(const struct ftr_fabric *whole, ftr_ep h, uint64_t seed,
		     struct tally *tally)
{
	const struct edit e = { FTR_SW_NONE, h, FTR_SW_NONE, 0, FTR_EP_NONE, FTR_EP_NONE, NULL };
	struct ftr_fabric *f = edit_seal(edit_open(whole, &e));
	struct ftr_nominal *before = nominal_of(f, NULL), *inferred = nominal_of(whole, NULL);
	struct ftr_nominal *after = nominal_of(whole, before);
	struct routed old, new;
	uint64_t without;	/* number of entries that the inferred ranks would change */

	if (same_ranks(before->shape, inferred->shape)) {
		ck_assert_msg(same_ranks(after->shape, inferred->shape) &&
			      !after->shape->tree.ranks_kept, "seed %" PRIu64, seed);
	} else {
		tally->flips++;
		old = route(f, before, NULL, NULL);
		new = route(whole, inferred, f, &old);
		without = changed(f, old.t, whole, new.t);
		routed_free(&new);
		if (same_ranks(before->shape, after->shape)) {
			tally->kept++;
			ck_assert(after->shape->tree.ranks_kept);
			new = route(whole, after, f, &old);
			/* with extra turns, other paths may change */
			if (!new.stats.n_turns && !new.stats.reordered) {
				tally->same++;
				tally->entries += without;
				ck_assert_msg(!changed(f, old.t, whole, new.t), "seed %" PRIu64
					      ": %" PRIu64 " entries changed", seed,
					      changed(f, old.t, whole, new.t));
			}
			routed_free(&new);
		}
		round_trip(whole, after, seed);
		routed_free(&old);
	}
	ftr_nominal_free(before);
	ftr_nominal_free(inferred);
	ftr_nominal_free(after);
	ftr_fabric_free(f);
}

static struct ftr_fabric *random_fabric(struct ftr_rng *r, unsigned int i)
{
	uint32_t spines, racks, on_chips;

	switch (i % 3) {
	case 0:
		return trees_irregular(r);
	case 1:
		return trees_chassis(r);
	default:
		on_chips = ftr_rng_below(r, 6);
		racks = 4 + ftr_rng_below(r, 8);
		spines = 2 + ftr_rng_below(r, 3);
		return irregular_chassis(r, 4 + ftr_rng_below(r, 4), spines, racks, on_chips);
	}
}

static bool has_others(const struct ftr_fabric *f, ftr_ep h)
{
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (e != h && f->ep[e].sw == f->ep[h].sw)
			return true;
	return false;
}

START_TEST(one_more_host)
{
	uint64_t seed = trees_first_seed();
	struct tally tally = { 0, 0, 0, 0 };

	for (unsigned int i = 0; i < trees_runs(300); i++, seed++) {
		struct ftr_fabric *whole;
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		whole = random_fabric(&r, i);
		for (int k = 0; k < 5; k++) {
			ftr_ep h = ftr_rng_below(&r, whole->n_ep);

			if (has_others(whole, h))
				add_host(whole, h, seed, &tally);
		}
		ftr_fabric_free(whole);
	}
	printf("one more host: other ranks are inferred in %u cases, the old ones are kept in %u, in %u of them without extra turns; with the inferred ranks, %" PRIu64 " entries would change in these cases\n",
	       tally.flips, tally.kept, tally.same, tally.entries);
	fflush(stdout);
	runs_show(tally.flips >= 30);
	runs_show(tally.kept >= 15);
	runs_show(tally.same >= 5);
	runs_show(tally.entries >= 300);
}
END_TEST

/* ---- moved links -------------------------------------------------------------- */

static unsigned int free_port(const struct ftr_fabric *f, ftr_sw s)
{
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
		if (ftr_fabric_port(f, s, (ftr_port)p)->peer_kind == FTR_PEER_NONE)
			return p;
	return 0;
}

/* Consume f.  Move one end of a random link to a random switch.  If that switch has no free port,
 * remove the link. */
static struct ftr_fabric *move_link(struct ftr_fabric *f, struct ftr_rng *r)
{
	struct edit e = EDIT_NOTHING;
	struct ftr_builder *b;
	struct ftr_fabric *out;
	ftr_sw t = ftr_rng_below(r, f->n_sw);
	unsigned int q = free_port(f, t);

	do {
		e.cut_sw = ftr_rng_below(r, f->n_sw);
		e.cut_port = (ftr_port)(1 + ftr_rng_below(r, f->sw[e.cut_sw].n_ports));
	} while (e.cut_sw == t ||
		 ftr_fabric_port(f, e.cut_sw, e.cut_port)->peer_kind != FTR_PEER_SW);
	b = edit_open(f, &e);
	if (q)
		edit_plug(b, f->sw[e.cut_sw].guid, e.cut_port, f->sw[t].guid, q);
	out = edit_seal(b);
	ftr_fabric_free(f);
	return out;
}

static bool has_level_switch(const struct ftr_shape *sh)
{
	for (ftr_sw s = 0; s < sh->f->n_sw; s++)
		if (sh->tree.n_equal[s] && !(sh->tree.n_up[s] + sh->tree.n_down[s]))
			return true;
	return false;
}

struct moves {
	unsigned int kept;	/* cases in which the inferred ranks change, but are not used */
	unsigned int level;	/* those of `kept` in which a switch has only horizontal links */
};

/* Make the nominal fabric of f without one host port.  Then move links of f.  Consumes f. */
static void move_links(struct ftr_fabric *f, struct ftr_rng *r, uint64_t seed,
		       struct moves *moves)
{
	struct edit e = EDIT_NOTHING;
	struct ftr_fabric *first;
	struct ftr_nominal *n;

	e.no_ep = ftr_rng_below(r, f->n_ep);
	first = edit_seal(edit_open(f, &e));
	n = nominal_of(first, NULL);
	ftr_fabric_free(first);
	for (int k = 0; k < 4; k++) {
		struct ftr_nominal *old = n;

		for (uint32_t i = 1 + ftr_rng_below(r, 3); i > 0; i--)
			f = move_link(f, r);
		n = nominal_of(f, old);
		if (n != old)
			ftr_nominal_free(old);
		if (!n->shape->tree.ranks_kept)
			continue;
		moves->kept++;
		moves->level += has_level_switch(n->shape);
		round_trip(f, n, seed);
	}
	ftr_nominal_free(n);
	ftr_fabric_free(f);
}

START_TEST(moved_links)
{
	uint64_t seed = trees_first_seed();
	struct moves moves = { 0, 0 };

	for (unsigned int i = 0; i < trees_runs(150); i++, seed++) {
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		move_links(random_fabric(&r, i), &r, seed, &moves);
	}
	printf("moved links: the old ranks are kept in %u cases, in %u of them with a switch that has horizontal links only\n",
	       moves.kept, moves.level);
	fflush(stdout);
	runs_show(moves.kept >= 30);
	runs_show(moves.level >= 3);
}
END_TEST

/* ---- fabrics made for one rule each ------------------------------------------ */

static void add_switch(struct ftr_builder *b, uint64_t guid)
{
	ck_assert_msg(!ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = guid, .n_ports = 60, .name = "switch",
	}, &err), "%s", err.msg);
}

static void plug_host(struct ftr_builder *b, uint64_t guid, uint64_t sw, unsigned int port)
{
	ck_assert_msg(!ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = guid, .guid = guid, .port_num = 1,
		.name = "host",
	}, &err),
		      "%s", err.msg);
	edit_plug(b, guid, 1, sw, port);
}

/* A chain of the switches with GUIDs from `first` to 420.  Switch 301 has one host. */
static struct ftr_builder *chain(uint64_t first)
{
	struct ftr_builder *b = ftr_builder_new();

	for (uint64_t i = first; i <= 420; i++)
		add_switch(b, i);
	for (uint64_t i = first; i < 420; i++)
		edit_plug(b, i, 1, i + 1, 2);
	plug_host(b, 0x10000, 301, 3);
	return b;
}

/* A chain of 120 switches grows by 300 switches.  The only leaf is then switch 1, at the far end.
 * The old switches would get levels above 299, so the growth must be refused. */
START_TEST(too_many_ranks)
{
	struct ftr_fabric *part = edit_seal(chain(301)), *whole;
	struct ftr_nominal *old = nominal_of(part, NULL), *n = NULL;
	struct ftr_builder *b = chain(1);

	for (unsigned int p = 3; p < 43; p++)
		plug_host(b, 0x20000 + p, 1, p);
	whole = edit_seal(b);
	ck_assert_uint_eq(old->shape->tree.n_ranks, 120);
	ck_assert_int_eq(ftr_nominal_new(whole, NULL, old, &n, NULL, &err), FTR_SHAPE);
	ck_assert_ptr_nonnull(strstr(err.msg, "more than 128"));
	ftr_nominal_free(old);
	ftr_fabric_free(part);
	ftr_fabric_free(whole);
}
END_TEST

/* Eight leaves with eight hosts each are below the spines 11 to 22.  Switch 30 is a leaf with one
 * host.  If `spine` is true, switch 30 is a spine, and its host is on switch 1. */
static struct ftr_fabric *leaf_or_spine(bool spine)
{
	struct ftr_builder *b = ftr_builder_new();

	for (uint64_t s = 1; s <= 30; s++)
		if (s <= 8 || (s >= 11 && s <= 22) || s == 30)
			add_switch(b, s);
	for (unsigned int l = 1; l <= 8; l++) {
		for (unsigned int p = 1; p <= 8; p++)
			plug_host(b, 0x10000 + 16 * l + p, l, p);
		for (unsigned int t = 11; t <= 22; t++)
			edit_plug(b, l, t, t, l);
		if (spine)
			edit_plug(b, l, 30, 30, l);
	}
	for (unsigned int t = 11; !spine && t <= 18; t++)
		edit_plug(b, 30, t - 10, t, 30);
	plug_host(b, 0x20000, spine ? 1 : 30, 40);
	return edit_seal(b);
}

/* A leaf becomes a spine.  With its old rank, all its links would be horizontal. */
START_TEST(new_role)
{
	struct ftr_fabric *f[2] = { leaf_or_spine(false), leaf_or_spine(true) };
	struct ftr_nominal *old = nominal_of(f[0], NULL), *n = nominal_of(f[1], old);
	ftr_sw x = ftr_fabric_find_sw(n->f, 30);

	ck_assert_uint_eq(old->shape->tree.rank[ftr_fabric_find_sw(old->f, 30)], 0);
	ck_assert_uint_eq(n->shape->tree.rank[x], 1);
	ck_assert_uint_eq(n->shape->tree.n_down[x], 8);
	ftr_nominal_free(old);
	ftr_nominal_free(n);
	ftr_fabric_free(f[0]);
	ftr_fabric_free(f[1]);
}
END_TEST

/* All hosts are on one of the three switches, so no link is congested, whatever the ranks are.  The
 * inferred ranks are used, because there are fewer of them than old ranks. */
START_TEST(no_congestion)
{
	static const struct ftr_old_rank rank[] = {
		{ .guid = 1, .rank = 1, .leaf = true }, { .guid = 2, .rank = 2 },
		{ .guid = 3, .rank = 0 },
	};
	const struct ftr_shape_opts opts = { .old = rank, .n_old = 3 };
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_shape *sh = NULL;
	struct ftr_fabric *f;

	for (unsigned int s = 1; s <= 3; s++)
		add_switch(b, s);
	for (unsigned int p = 3; p <= 6; p++)
		plug_host(b, 0x10000 + p, 1, p);
	edit_plug(b, 1, 1, 2, 1);
	edit_plug(b, 1, 2, 3, 1);
	f = edit_seal(b);
	ck_assert_msg(!ftr_shape_new(f, &opts, NULL, &sh, &err), "%s", err.msg);
	ck_assert_uint_eq(sh->tree.n_ranks, 2);
	ck_assert(!sh->tree.ranks_kept);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ranks of an earlier shape");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, one_more_host);
	tcase_add_test(tc, moved_links);
	tcase_add_test(tc, too_many_ranks);
	tcase_add_test(tc, new_role);
	tcase_add_test(tc, no_congestion);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
