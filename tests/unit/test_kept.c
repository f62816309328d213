// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the tables of a manager that starts with the state file of another manager, after a switch
 * was replaced: the new switch has another GUID and another LID, but the links of the old one.
 * After the search, the load of the tables must be within 5 % of that of a manager without a state
 * file.  The loads are counted by tests/lib/recount.h, which shares no code with the search.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "lib/edit.h"
#include "lib/recount.h"
#include "lib/suite.h"
#include "lib/temp.h"
#include "lib/trees.h"

struct loads {
	double all, shifts;	/* flows on the most loaded link; shifts: mean over all shifts */
};

/* A file with the GUIDs of the switches without hosts. */
struct roots {
	char path[TEMP_ROOM];
};

static bool has_hosts(const struct ftr_fabric *f, ftr_sw s)
{
	bool host = false;

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
		host |= ftr_fabric_port(f, s, (ftr_port)p)->peer_kind == FTR_PEER_EP;
	return host;
}

static struct roots roots_new(const struct ftr_fabric *f)
{
	struct roots r;
	int fd = temp_file(r.path, "ibf-roots");
	FILE *out = fdopen(fd, "w");

	ck_assert_ptr_nonnull(out);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (!has_hosts(f, s))
			fprintf(out, "0x%016" PRIx64 "\n", f->sw[s].guid);
	ck_assert(!fclose(out));
	return r;
}

static struct ibf_prefer *preferred(struct fake *h)
{
	return &((struct ibf_plugin *)h->plugin)->routed->prefer;
}

/* Start a manager, with this state file if it is not NULL, and make sweeps until no search runs or
 * is due. */
static struct fake *start(struct ftr_fabric *f, const char *engine, const struct roots *r,
			  const char *state)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = f, .options = "balance full\n", .not_up = true, .engine = engine,
	});
	char text[512];

	h->osm->subn.opt.root_guid_file = r ? strdup(r->path) : NULL;
	if (state) {
		snprintf(text, sizeof(text), "cp -p %s %s/ibfattree-state-00000000000000aa", state,
			 h->dir);
		ck_assert_int_eq(system(text), 0);
	}
	for (;;) {
		struct ibf_prefer *p;

		ck_assert(fake_sweep(h));
		fake_settle(h);
		p = preferred(h);
		if (!p->search && !p->better)
			break;
		fake_until(!p->search || ibf_search_done(p->search));
	}
	return h;
}

static void stop(struct fake *h)
{
	free(h->osm->subn.opt.root_guid_file);
	h->osm->subn.opt.root_guid_file = NULL;
	fake_free(h);
}

static struct loads loads(struct fake *h)
{
	const struct ibf_generation *gen = ((struct ibf_plugin *)h->plugin)->routed->gen;
	struct recount *c = recount_new(gen->shape, gen->tables);
	struct loads x = { c->max, (double)c->sum / (c->n_pos - 1) };

	ck_assert_uint_eq(c->lost, 0);
	recount_free(c);
	return x;
}

/* A copy of f in which s is replaced, unless it is FTR_SW_NONE. */
static struct ftr_fabric *replaced(const struct ftr_fabric *f, ftr_sw s)
{
	uint64_t *guid = calloc(f->n_sw, sizeof(*guid));
	ftr_lid *lid = calloc(f->n_sw, sizeof(*lid));
	struct ftr_fabric *g;

	ck_assert(guid && lid);
	if (s != FTR_SW_NONE) {
		guid[s] = UINT64_C(0x9999000000000001);
		lid[s] = (ftr_lid)(f->max_lid + 1);
	}
	g = edit_replace(f, guid, lid);
	free(guid);
	free(lid);
	return g;
}

/* Counts of all cases. */
struct seen {
	uint32_t searched;	/* the search has changed kept tables */
	uint32_t scratch;		/* kept tables were replaced by tables computed from scratch */
};

/* f belongs to the caller.  Replace each switch in turn, every `step`-th. */
static void replace_each(const struct ftr_fabric *f, const char *engine, bool with_roots,
			 ftr_sw step, uint64_t seed, struct seen *seen)
{
	char state[TEMP_ROOM], text[512];
	struct roots r = roots_new(f);
	const struct roots *given = with_roots ? &r : NULL;
	int fd = temp_file(state, "ibf-state");
	struct fake *h = start(replaced(f, FTR_SW_NONE), engine, given, NULL);
	struct loads best = loads(h), got;

	ck_assert_int_ge(fd, 0);
	close(fd);
	fake_flush(h);
	snprintf(text, sizeof(text), "cp -p %s/ibfattree-state-* %s", h->dir, state);
	ck_assert_int_eq(system(text), 0);
	stop(h);
	for (ftr_sw s = (ftr_sw)(seed % step); s < f->n_sw; s += step) {
		h = start(replaced(f, s), engine, given, state);
		/* In very small fabrics, the links do not always show which switch was replaced. */
		if (!fake_logged(h, "replaced_switches=1 ")) {
			stop(h);
			continue;
		}
		got = loads(h);
		seen->searched += fake_logged(h, "IBF008") && !fake_logged(h, "entries to change=0");
		seen->scratch += fake_logged(h, "computed from scratch") > 0;
		ck_assert_msg(got.all <= 1.05 * best.all && got.shifts <= 1.05 * best.shifts,
			      "seed %" PRIu64 ", %s, switch %u replaced: %.0f flows, shifts %.2f; without a state file: %.0f flows, shifts %.2f",
			      seed, engine, s, got.all, got.shifts, best.all, best.shifts);
		stop(h);
	}
	unlink(state);
	unlink(r.path);
}

static const char *const engines[] = { "dmodc", "sftree", "ddlr" };

START_TEST(random_trees)
{
	uint32_t n = trees_runs(16);
	struct seen seen = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		uint64_t seed = trees_first_seed() + i;
		struct ftr_fabric *f;
		struct ftr_pgft g;
		struct ftr_rng rng;

		suite_now(seed);
		ftr_rng_seed(&rng, seed);
		trees_random_pgft(&rng, &g, false, 40);
		f = trees_damaged(trees_grow(&g, seed, 0), &rng, 10);
		if (f->n_sw > 3 && f->n_ep > 3)
			replace_each(f, engines[seed % 3], false, 1 + f->n_sw / 3, seed, &seen);
		ftr_fabric_free(f);
	}
	runs_show(seen.searched > 0);
	runs_show(seen.scratch > 0);
}
END_TEST

/* In this fabric the first tables of the manager are even, and the search must raise the all-to-all
 * load by 1 % to reduce that of shifts by a sixth. */
START_TEST(topograph)
{
	struct ftr_fabric *f = trees_real("topograph/topograph-noan.net");
	struct seen seen = { 0 };

	if (!f)
		return;
	replace_each(f, "dmodc", true, 20, 13, &seen);
	ck_assert_uint_gt(seen.searched, 0);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tables kept when a switch is replaced");
	TCase *tc = tcase_create("kept");

	tcase_add_test(tc, random_trees);
	tcase_add_test(tc, topograph);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
