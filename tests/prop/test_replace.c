// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the replacement of switches in random trees: a switch with another GUID and another
 * LID gets the links of the old switch.  The nominal fabric, which contains all switches and
 * links seen so far, must recognise the replacement.  The new switch must get the same entries
 * as the old one.  In other switches, only entries for the old and the new LID may change.
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
#include "lib/suite.h"
#include "lib/temp.h"
#include "lib/trees.h"

static struct ftr_err err;

static void ok(enum ftr_status st)
{
	ck_assert_msg(!st, "%s", err.msg);
}

static struct ftr_nominal *nominal_of(const struct ftr_fabric *f,
				      struct ftr_nominal *old,
				      struct ftr_nominal_change *change)
{
	struct ftr_nominal *n = NULL;

	ok(ftr_nominal_new(f, NULL, old, &n, change, &err));
	return n;
}

/* New GUIDs and LIDs of replaced switches, indexed by the switch of the old fabric. */
struct swap {
	uint64_t *guid;		/* 0: not replaced */
	ftr_lid *lid;
	uint32_t n;
};

static struct swap swap_new(const struct ftr_fabric *f)
{
	return (struct swap){
		calloc(f->n_sw, sizeof(uint64_t)),
		calloc(f->n_sw, sizeof(ftr_lid)), 0
	};
}

static void swap_free(struct swap *w)
{
	free(w->guid);
	free(w->lid);
}

static void swap_one(struct swap *w, const struct ftr_fabric *f, ftr_sw s,
		     struct ftr_rng *r)
{
	if (w->guid[s])
		return;
	w->guid[s] = ftr_rng_next(r) | 1;
	w->lid[s] = (ftr_lid)(f->max_lid + ++w->n);
}

static struct ftr_tables *route(const struct ftr_fabric *f,
				const struct ftr_nominal *n,
				const char *engine)
{
	struct ftr_shape_opts so = { .nominal = n->shape };
	struct ftr_route_opts ro = {
		.sm_switch = FTR_SW_NONE, .nominal = n->shape,
	};
	struct ftr_route_stats stats = { .root = FTR_SW_NONE };
	struct ftr_tables *t = NULL;
	struct ftr_shape *sh = NULL;

	ok(ftr_shape_new(f, &so, NULL, &sh, &err));
	ok(ftr_tables_new(f, false, &t, &err));
	/* No extra turns: the plugin keeps them by node GUID, so a new switch does not get the
	 * turns of the old one. */
	ro.paths = FTR_PATHS_UPDOWN;
	ok(ftr_engine_find(engine)->route(sh, &ro, NULL, t, &stats, &err));
	ftr_shape_free(stats.routed);
	ftr_shape_free(sh);
	return t;
}

/* Count the changed entries for LIDs that both fabrics have.  The entries of a new switch are
 * compared with those of the old one.  If `switches` is false, entries for LIDs of switches are not
 * counted: with sftree they lead over the root leaf, which may itself be replaced. */
static uint32_t changed(const struct ftr_fabric *f, const struct ftr_tables *a,
			const struct ftr_fabric *g, const struct ftr_tables *b,
			const struct swap *w, bool switches)
{
	uint32_t n = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		ftr_sw t = ftr_fabric_find_sw(g, w->guid[s] ? w->guid[s] :
					      f->sw[s].guid);

		ck_assert_uint_ne(t, FTR_SW_NONE);
		for (uint32_t lid = 1; lid <= f->max_lid; lid++)
			if (lid <= g->max_lid && g->owner[lid].kind &&
			    (f->owner[lid].kind == FTR_OWNER_EP ||
			     (switches && f->owner[lid].kind)))
				n += ftr_tables_row(a, s)[lid] !=
					ftr_tables_row(b, t)[lid];
	}
	return n;
}

static struct ftr_nominal *restarted(struct ftr_nominal *n)
{
	char path[TEMP_ROOM];
	struct ftr_nominal *back = NULL;
	int fd = temp_file(path, "ftr-replace");

	ck_assert_int_ge(fd, 0);
	close(fd);
	ok(ftr_state_write(path, &(struct ftr_state){ .nominal = n }, &err));
	ok(ftr_nominal_read(path, NULL, &back, &err));
	ftr_nominal_free(n);
	unlink(path);
	return back;
}

/* Replace switches of f as in w, and return the new nominal fabric.  *entries: the number of
 * changed entries. */
static struct ftr_nominal *replaced(const struct ftr_fabric *f,
				    struct ftr_nominal *n,
				    const struct swap *w, const char *engine,
				    bool restart, uint32_t *entries,
				    uint64_t seed)
{
	struct ftr_fabric *g = edit_replace(f, w->guid, w->lid);
	struct ftr_tables *before = route(f, n, engine), *after;
	struct ftr_nominal_change c;
	struct ftr_nominal *m, *again;

	if (restart)
		n = restarted(n);
	m = nominal_of(g, n, &c);
	ck_assert_msg(c.replaced_sw == w->n && !c.new_sw && !c.new_links &&
		      !c.dropped_sw && !c.other, "seed %" PRIu64
		      ": %u of %u replacements recognised, %u new switches",
		      seed, c.replaced_sw, w->n,
		      c.new_sw);
	if (restart)
		m = restarted(m);
	again = nominal_of(g, m, &c);
	ck_assert_msg(again == m && !c.grew, "seed %" PRIu64 ": %s", seed,
		      c.example);
	after = route(g, m, engine);
	*entries = changed(f, before, g, after, w,
			   strcmp(engine, "sftree") != 0);
	ftr_tables_free(before);
	ftr_tables_free(after);
	ftr_nominal_free(n);
	ftr_fabric_free(g);
	return m;
}

static struct ftr_fabric *random_tree(struct ftr_rng *r, uint64_t seed)
{
	struct ftr_pgft g;

	trees_random_pgft(r, &g, ftr_rng_below(r, 2), 60);
	return trees_grow(&g, seed, ftr_rng_below(r, 2));
}

static bool has_link(const struct ftr_fabric *f, ftr_sw s)
{
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
		if (ftr_fabric_port(f, s, (ftr_port)p)->peer_kind)
			return true;
	return false;
}

/* Replace random switches of all ranks, one at a time.  No counted entry may change. */
START_TEST(one_switch_at_a_time)
{
	static const char *const engine[] = { "dmodc", "sftree" };
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(60); i++, seed++) {
		struct ftr_fabric *f;
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		f = random_tree(&r, seed);
		if (f->n_sw > 1)
			for (unsigned int k = 0; k < 4; k++) {
				struct swap w = swap_new(f);
				ftr_sw s = ftr_rng_below(&r, f->n_sw);
				uint32_t entries;

				swap_one(&w, f, s, &r);
				ftr_nominal_free(replaced(
					f, nominal_of(f, NULL, NULL), &w,
					engine[k % 2], k > 1, &entries, seed));
				ck_assert_msg(!entries, "seed %" PRIu64
					      ", %s, switch %u replaced: %u entries changed",
					      seed, engine[k % 2], s, entries);
				swap_free(&w);
			}
		ftr_fabric_free(f);
	}
}
END_TEST

/* Replace two switches at once in damaged trees.  They may be neighbours.  At least 95 % of the
 * replacements must be recognised.  The damage is light, because a new switch with half of its
 * links dead is not recognised. */
START_TEST(several)
{
	uint64_t seed = trees_first_seed();
	uint32_t found = 0, all = 0;

	for (unsigned int i = 0; i < trees_runs(100); i++, seed++) {
		struct ftr_nominal_change c;
		struct ftr_nominal *n, *m;
		struct ftr_fabric *f, *g;
		struct ftr_rng r;
		struct swap w;

		ftr_rng_seed(&r, seed);
		f = trees_damaged(random_tree(&r, seed), &r, 10);
		n = nominal_of(f, NULL, NULL);
		w = swap_new(f);
		for (unsigned int k = 0; k < 2; k++) {
			ftr_sw s = ftr_rng_below(&r, f->n_sw);

			if (has_link(f, s))
				swap_one(&w, f, s, &r);
		}
		g = edit_replace(f, w.guid, w.lid);
		m = nominal_of(g, n, &c);
		all += c.other ? 0 : w.n;
		found += c.replaced_sw;
		ck_assert_uint_le(c.replaced_sw, w.n);
		if (c.replaced_sw == w.n && w.n) {
			struct ftr_tables *a = route(f, n, "dmodc");
			struct ftr_tables *b = route(g, m, "dmodc");

			ck_assert_msg(!changed(f, a, g, b, &w, true),
				      "seed %" PRIu64 ": entries changed", seed);
			ftr_tables_free(a);
			ftr_tables_free(b);
		}
		if (m != n)
			ftr_nominal_free(m);
		ftr_nominal_free(n);
		swap_free(&w);
		ftr_fabric_free(g);
		ftr_fabric_free(f);
	}
	ck_assert_msg(100 * found >= 95 * all, "%u of %u replacements recognised", found, all);
}
END_TEST

/* A new switch comes up link by link.  Its first link identifies it as a replacement. */
START_TEST(link_by_link)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(40); i++, seed++) {
		struct edit e = EDIT_NOTHING;
		struct ftr_nominal_change c;
		struct ftr_nominal *n, *m;
		struct ftr_builder *b;
		struct ftr_fabric *f, *g;
		struct ftr_rng r;
		unsigned int p = 1;

		ftr_rng_seed(&r, seed);
		f = random_tree(&r, seed);
		n = nominal_of(f, NULL, NULL);
		e.no_sw = ftr_rng_below(&r, f->n_sw);
		while (p <= f->sw[e.no_sw].n_ports &&
		       ftr_fabric_port(f, e.no_sw, (ftr_port)p)->peer_kind !=
		       FTR_PEER_SW)
			p++;
		if (p <= f->sw[e.no_sw].n_ports) {
			const struct ftr_swport *x =
				ftr_fabric_port(f, e.no_sw, (ftr_port)p);

			b = edit_open(f, &e);
			ok(ftr_builder_add_switch(b, &(struct ftr_switch){
				.guid = 77, .n_ports = f->sw[e.no_sw].n_ports, .name = "new",
			}, &err));
			edit_plug(b, 77, p, f->sw[x->peer].guid, x->peer_port);
			g = edit_seal(b);
			m = nominal_of(g, n, &c);
			ck_assert_msg(c.replaced_sw == 1 && !c.new_sw &&
				      !c.dropped_sw && !c.dropped_links,
				      "seed %" PRIu64 ": the replacement is not recognised", seed);
			ck_assert_uint_eq(m->f->n_sw_links, n->f->n_sw_links);
			ck_assert_uint_eq(ftr_fabric_find_holder(m->f, 77),
					  ftr_fabric_find_sw(m->f,
						f->sw[e.no_sw].guid));
			ftr_nominal_free(m);
			ftr_fabric_free(g);
		}
		ftr_nominal_free(n);
		ftr_fabric_free(f);
	}
}
END_TEST

/* Replace one random switch after the other, each by the switch that was removed before. */
START_TEST(repeated_replacements)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(20); i++, seed++) {
		struct ftr_fabric *f, *now;
		struct ftr_nominal *n;
		struct ftr_rng r;
		uint64_t *guid, spare = 0x5000;
		struct swap w;

		ftr_rng_seed(&r, seed);
		f = random_tree(&r, seed);
		n = nominal_of(f, NULL, NULL);
		guid = calloc(f->n_sw, sizeof(*guid));
		w = swap_new(f);
		for (ftr_sw s = 0; s < f->n_sw; s++) {
			guid[s] = w.guid[s] = f->sw[s].guid;
			w.lid[s] = f->sw[s].lid;
		}
		for (unsigned int k = 0; f->n_sw > 1 && k < 12; k++) {
			ftr_sw s = ftr_rng_below(&r, f->n_sw);
			struct ftr_nominal_change c;
			struct ftr_nominal *m;
			struct ftr_shape_opts so = { 0 };
			struct ftr_shape *sh = NULL;
			uint64_t out = w.guid[s];

			w.guid[s] = spare;	/* the GUID that was removed last */
			spare = out;
			now = edit_replace(f, w.guid, w.lid);
			m = nominal_of(now, n, &c);
			ck_assert_msg(c.replaced_sw == 1 && !c.new_sw,
				      "seed %" PRIu64 ": %u replacements recognised instead of 1, %u new switches",
				      seed,
				      c.replaced_sw, c.new_sw);
			ftr_nominal_free(n);
			n = restarted(m);
			ck_assert_uint_eq(n->f->n_sw, f->n_sw);
			so.nominal = n->shape;
			ok(ftr_shape_new(now, &so, NULL, &sh, &err));
			ck_assert(!sh->n_missing_sw && !sh->n_missing_links);
			for (ftr_sw q = 0; q < f->n_sw; q++)
				ck_assert_uint_eq(n->f->sw[q].guid, guid[q]);
			ftr_shape_free(sh);
			ftr_fabric_free(now);
		}
		free(guid);
		swap_free(&w);
		ftr_nominal_free(n);
		ftr_fabric_free(f);
	}
}
END_TEST

/* A different fabric must not be taken for the known fabric with all switches replaced. */
START_TEST(another_fabric)
{
	uint64_t seed = trees_first_seed();

	for (unsigned int i = 0; i < trees_runs(60); i++, seed++) {
		struct ftr_nominal_change c;
		struct ftr_fabric *f, *g;
		struct ftr_nominal *n, *m, *own;
		struct ftr_rng r;

		ftr_rng_seed(&r, seed);
		f = random_tree(&r, seed);
		g = random_tree(&r, seed + 100000);
		n = nominal_of(f, NULL, NULL);
		m = nominal_of(g, n, &c);
		ck_assert_msg(c.other && !c.same_sw && !c.same_hosts &&
			      c.old_sw == f->n_sw && c.new_sw == g->n_sw,
			      "seed %" PRIu64 ": another fabric is not recognised as such", seed);
		own = nominal_of(g, NULL, NULL);
		ck_assert_uint_eq(m->f->n_sw, own->f->n_sw);
		ck_assert_uint_eq(m->f->n_ep, own->f->n_ep);
		ck_assert_uint_eq(m->f->n_sw_links, own->f->n_sw_links);
		ck_assert(!ftr_nominal_compare(n, g, &c, &err) && c.other);
		ck_assert(!ftr_nominal_compare(m, g, &c, &err) && !c.other &&
			  !c.grew);
		ftr_nominal_free(own);
		ftr_nominal_free(m);
		/* Even a small part of the known fabric is recognised.  A part of another fabric
		 * is not. */
		g = trees_damaged(g, &r, 90);
		ck_assert(!ftr_nominal_compare(n, g, &c, &err));
		ck_assert_msg(c.other, "seed %" PRIu64 ": a part of another fabric counts as this one", seed);
		f = trees_damaged(f, &r, 90);
		ck_assert(!ftr_nominal_compare(n, f, &c, &err));
		ck_assert_msg(!c.other, "seed %" PRIu64 ": a part of this fabric counts as another one", seed);
		ftr_nominal_free(n);
		ftr_fabric_free(f);
		ftr_fabric_free(g);
	}
}
END_TEST

/* Replace ten random switches of each real fabric, one at a time.  Few entries may change. */
START_TEST(real_fabrics)
{
	for (int i = 0; trees_real_files[i]; i++) {
		struct ftr_fabric *f = trees_real(trees_real_files[i]);
		struct ftr_rng r;

		if (!f)
			continue;
		ftr_rng_seed(&r, 1);
		for (unsigned int k = 0; k < 10; k++) {
			struct swap w = swap_new(f);
			uint32_t entries;
			ftr_sw s;

			do
				s = ftr_rng_below(&r, f->n_sw);
			while (!has_link(f, s));
			swap_one(&w, f, s, &r);
			ftr_nominal_free(replaced(f, nominal_of(f, NULL, NULL),
						  &w, "dmodc", false, &entries,
						  (uint64_t)i));
			/* The new GUID can change the order of the switches by GUID, on which a few
			 * entries depend. */
			ck_assert_msg(entries <= 4, "%s, switch %u replaced: %u entries changed",
				      trees_real_files[i], s, entries);
			swap_free(&w);
		}
		ftr_fabric_free(f);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("replaced switches");
	TCase *tc = tcase_create("random");

	tcase_add_test(tc, one_switch_at_a_time);
	tcase_add_test(tc, several);
	tcase_add_test(tc, link_by_link);
	tcase_add_test(tc, repeated_replacements);
	tcase_add_test(tc, another_fabric);
	tcase_add_test(tc, real_fabrics);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
