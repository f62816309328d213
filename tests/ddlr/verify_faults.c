// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Verifies that ddlr's local repairs keep all hosts connected for up to k-1 faults (k:
 * docs/glossary.md).  Runs all sets of faults of small trees, and random sets of faults of larger
 * trees.
 *
 *	verify			all rows of sample[] (make check), and given[]; both are below
 *	verify long [ROW..]	all rows of full[] (make verify-ddlr) and given[], or
 *				only the given rows of full[], numbered from 1
 *	verify SHAPE FAULTS KINDS VLS [N [SEED [FIRST]]]
 *				FAULTS: number of faults of a set, at most MOST_FAULTS.
 *				KINDS: l (links), s (switches) or ls.  Without N, runs all
 *				sets.  With N, runs N random sets: the sets FIRST,
 *				FIRST + 1, ... of the random sequence of SEED
 *	verify SHAPE FAULTS KINDS VLS =A,B,C
 *				the faults with the numbers A, B, C, in this order,
 *				TRIES times; more sets may follow in the same form
 *	verify hosts ...	the same, with the option `host_paths_only`, which the
 *				plugin sets; "verify" without arguments runs its sets both with
 *				and without this option
 *	verify plugin SHAPE ...	the same, but the failed links and switches are restored (see
 *				below)
 *
 * If a run fails, the numbers of its faults are printed (A, B, C above).  Each run makes random
 * choices.  For a random set the choices depend only on SEED and the number of the set, so that
 * FIRST can repeat a run.  If all sets are run, each set is run in several orders, and the choices
 * also depend on the orders that were run before.  For a set given with =A,B,C the choices depend
 * on the seed and the number of the try.
 *
 * The faults of a set occur one after the other, in all orders or in one order, and a local
 * repair follows each of them.  After each repair all physically connected hosts must reach each
 * other, without loops and without cycles of channel dependencies on the given VLs.  No single
 * write may cause a loop or a cycle, or make a reachable pair unreachable.  After a repair,
 * the packets under way may drain before the next fault or not, at random.
 *
 * At the end of a run, the damaged fabric is routed from scratch, with a transition to the new
 * tables.  Here, too, no single write may cause a loop or a cycle, or make a reachable pair
 * unreachable.  After the transition all hosts must reach each other.
 *
 * With "plugin", the failed links and switches are restored in a random order, without a transition:
 * the engine routes the present fabric, with
 * the fabric before the faults as the nominal one, and blocks of 64 entries are written in a random
 * order.  A state between two blocks may have unreachable pairs, loops or cycles of channel
 * dependencies; such states are only counted.  After the last block all hosts must be reachable
 * without loops and cycles, and after the last recovery the tables must be the original ones.
 *
 * If there are more than 5,000 random sets, only one set in 32 is checked after every write, and
 * ends with a transition.  All other sets are checked after every step, and end with their last
 * repair.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ddlr/fault_state.h"

struct job {
	const char *shape;
	unsigned int faults;
	const char *kinds;
	unsigned int vls;
	uint64_t n;		/* number of random sets; 0: all possible sets */
	bool orders;		/* true: apply the faults of each set in all orders */
};

struct tally {
	uint64_t sets, runs, failures, pairs, lost;
	uint64_t writes, switches, plans, unclean, refused, inverted;
	uint64_t hosts_only;	/* number of runs in which packets from switches were ignored */
	uint64_t transitions, phases, held;
	uint32_t most_switches, most_steps, most_link;
};

/* Counts of the mode "plugin".  A state follows each block that a recovery writes.  lost, loops,
 * cycles: number of states with unreachable hosts, with loops, with cycles of channel dependencies.
 * bad: number of states with at least one of the three. */
static struct {
	bool on;
	uint64_t recoveries, states, lost, loops, cycles, bad;
} plugin;

static bool host_paths_only;	/* option of the planner */

static struct world *world;
static struct ftr_rng rng;
static uint64_t seed = 1, first_set;

#define MOST_FAULTS 32
#define TRIES 4			/* number of runs of a given set, with different random choices */

/* Seed the random choices.  set: number of the set; for a given set, number of the try. */
static void take_chances(uint64_t set)
{
	ftr_rng_seed(&rng, seed + set * 0x9e3779b97f4a7c15u);
}

/* With FTR_RUNS=1/N, as under sanitizers, only one in N of the random runs is made. */
static uint64_t share(uint64_t n)
{
	const char *runs = getenv("FTR_RUNS");

	if (runs && !strncmp(runs, "1/", 2))
		return n / strtoul(runs + 2, NULL, 10) + 1;
	return n;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static struct ftr_fabric *grow(const char *shape)
{
	struct ftr_pgft g;
	struct ftr_gen_opts o = { .seed = 1, .random_guids = true };
	struct ftr_err err = { 0 };
	struct ftr_fabric *f = NULL;

	if (ftr_pgft_parse(shape, &g, &err) || ftr_gen_pgft(&g, &o, &f, &err)) {
		fprintf(stderr, "ddlr: %s\n", err.msg);
		exit(2);
	}
	return f;
}

static void report_verify(const struct job *j, uint64_t number, const uint32_t *set,
			  unsigned int n, const char *what)
{
	fprintf(stderr, "%s, %u VLs, seed %llu, set %llu:", j->shape,
		j->vls, (unsigned long long)seed, (unsigned long long)number);
	for (unsigned int i = 0; i < n; i++) {
		struct ftr_hop e = world_fault(world, set[i]);

		fprintf(stderr, " %u", set[i]);
		if (e.port)
			fprintf(stderr, "=%s[%u]",
				world->f->sw[e.sw].name, e.port);
		else
			fprintf(stderr, "=%s", world->f->sw[e.sw].name);
	}
	fprintf(stderr, ": %s\n", what);
}

static const char *one_fault(struct ftr_hop e, struct tally *t)
{
	struct ftr_ddlr_plan p;
	struct ftr_err err = { 0 };
	struct verdict v;
	bool ok;

	world_suffer(world, e, true);
	world_judge(world, false, &v);	/* record the pairs that still arrive */
	if (ftr_ddlr_events(world->r, &e, 1, &p, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return "refused";
	}
	t->plans++;
	if (p.hosts_only && world->switches) {
		world->switches = false;
		t->hosts_only++;
	}
	t->writes += p.n;
	t->switches += p.n_switches;
	t->unclean += p.unclean;
	t->refused += p.refused;
	t->inverted += p.how[FTR_HOW_INVERTED] != 0;
	if (p.n_switches > t->most_switches)
		t->most_switches = p.n_switches;
	if (p.n_switches > t->most_link && e.port)
		t->most_link = p.n_switches;
	if (p.n_steps > t->most_steps)
		t->most_steps = p.n_steps;
	ok = world_write(world, &p, &rng);
	ftr_ddlr_plan_fini(&p);
	if (!ok)
		return "an intermediate state has a loop, a cycle or a newly unreachable pair";
	world_judge(world, true, &v);
	/* packets from and to switches may have no path before the full routing */
	t->lost += v.lost;
	t->pairs += v.pairs;
	if (v.host_lost)
		return "hosts are unreachable";
	if (v.loops || v.cyclic)
		return v.loops ? "loop" : "cycle";
	if (memcmp(world->t->lft, ftr_ddlr_tables(world->r)->lft,
		   (size_t)world->t->n_sw * world->t->stride))
		return "the planner's tables differ from those of the switches";
	if (ftr_rng_below(&rng, 2))
		ftr_ddlr_drained(world->r);
	return NULL;
}

/* Carry out the plan and check every state. */
static const char *carry_out(struct ftr_ddlr_plan *p)
{
	bool ok;

	if (p->hosts_only)
		world->switches = false;
	ok = world_write(world, p, &rng);
	ftr_ddlr_plan_fini(p);
	return ok ? NULL : "an intermediate state has a loop, a cycle or a newly unreachable pair";
}

/* Route the present fabric and make the transition to its tables. */
static const char *hand_over(struct tally *t)
{
	struct ftr_fabric *f = world_damaged(world);
	struct ftr_shape *sh = NULL;
	struct ftr_tables *to = NULL;
	struct ftr_ddlr_plan p = { .done = false };
	struct ftr_err err = { 0 };
	struct verdict v;
	const char *what = NULL;
	bool done = false;

	if (ftr_shape_new(f, NULL, NULL, &sh, &err) ||
	    ftr_tables_new(f, false, &to, &err) ||
	    ftr_engine_find("ddlr")->route(sh, NULL, NULL, to, NULL, &err))
		what = "the damaged fabric is not routed";
	for (unsigned int i = 0; !done && !what && i < 30; i++) {
		ftr_ddlr_drained(world->r);
		if (ftr_ddlr_transition(world->r, f, to, &p, &err)) {
			fprintf(stderr, "%s\n", err.msg);
			what = "a transition is refused";
			break;
		}
		done = p.done;
		t->held += done ? p.held : 0;
		t->phases++;
		what = carry_out(&p);
	}
	t->transitions++;
	if (!what && !done)
		what = "a transition does not end";
	world_judge(world, true, &v);
	if (!what && (v.host_lost || v.loops || v.cyclic))
		what = "after a transition hosts are unreachable, or there is a loop or a cycle";
	ftr_tables_free(to);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
	return what;
}

/* ---- recovery as the plugin does it --------------------------------------- */

struct block {
	ftr_sw sw;
	uint32_t first;		/* first LID of the block */
};
#define BLOCK 64

/* Copy `to`, the tables of the damaged fabric f, to `want`, tables of the whole fabric. */
static void by_guid(const struct ftr_fabric *f, const struct ftr_tables *to,
		    uint8_t *want)
{
	uint32_t stride = world->t->stride;

	memcpy(want, world->t->lft, (size_t)world->t->n_sw * stride);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		memcpy(want + (size_t)ftr_fabric_find_sw(world->f,
							 f->sw[s].guid) *
			      stride,
		       ftr_tables_row((struct ftr_tables *)(uintptr_t)to, s),
		       FTR_MIN(stride, to->stride));
}

/* Write the blocks that differ from `want`, in random order.  Judge the state after each block. */
static void write_blocks(const uint8_t *want)
{
	uint32_t stride = world->t->stride, n = 0, *perm;
	uint32_t most = world->t->n_sw * (stride / BLOCK + 1);
	struct block *b = calloc(most, sizeof(*b));

	for (ftr_sw s = 0; s < world->t->n_sw; s++)
		for (uint32_t i = 0; i < stride; i += BLOCK)
			if (memcmp(want + (size_t)s * stride + i,
				   ftr_tables_row(world->t, s) + i,
				   FTR_MIN(BLOCK, stride - i)))
				b[n++] = (struct block){ s, i };
	perm = calloc(n + 1u, sizeof(*perm));
	ftr_rng_perm(&rng, perm, n);
	for (uint32_t k = 0; k < n; k++) {
		const struct block *x = &b[perm[k]];
		struct verdict v;

		memcpy(ftr_tables_row(world->t, x->sw) + x->first,
		       want + (size_t)x->sw * stride + x->first,
		       FTR_MIN(BLOCK, stride - x->first));
		world_judge(world, true, &v);
		plugin.states++;
		plugin.lost += v.host_lost != 0;
		plugin.loops += v.loops != 0;
		plugin.cycles += v.cyclic;
		plugin.bad += v.host_lost || v.loops || v.cyclic;
	}
	free(perm);
	free(b);
}

static const char *recover_as_plugin(const struct job *j, const uint32_t *set)
{
	const struct ftr_shape_opts over = { .nominal = world->sh };
	struct ftr_route_opts how = FTR_ROUTE_OPTS_INIT;
	uint8_t *want = malloc((size_t)world->t->n_sw * world->t->stride);
	uint32_t perm[MOST_FAULTS];
	const char *what = NULL;

	how.nominal = world->sh;
	ftr_rng_perm(&rng, perm, j->faults);
	for (unsigned int i = 0; i < j->faults && !what; i++) {
		struct ftr_err err = { 0 };
		struct ftr_fabric *f;
		struct ftr_shape *sh = NULL;
		struct ftr_tables *to = NULL;
		struct verdict v;

		world_suffer(world, world_fault(world, set[perm[i]]), false);
		f = world_damaged(world);
		if (ftr_shape_new(f, &over, NULL, &sh, &err) ||
		    ftr_tables_new(f, false, &to, &err) ||
		    ftr_engine_find("ddlr")->route(sh, &how, NULL, to, NULL,
						   &err)) {
			what = "the damaged fabric is not routed";
		} else {
			by_guid(f, to, want);
			write_blocks(want);
			plugin.recoveries++;
			world_judge(world, true, &v);
			if (v.host_lost || v.loops || v.cyclic)
				what = "after a recovery hosts are unreachable, or there is a loop or a cycle";
		}
		ftr_tables_free(to);
		ftr_shape_free(sh);
		ftr_fabric_free(f);
	}
	free(want);
	if (!what && memcmp(world->t->lft, world->base->lft,
			    (size_t)world->t->n_sw * world->t->stride))
		what = "the tables differ from those before the faults";
	return what;
}

static void run_order(const struct job *j, const uint32_t *set,
		      struct tally *t)
{
	const char *what = NULL;
	unsigned int i;
	struct verdict v;

	world->switches = j->vls > 1;
	world_reset(world);
	world_judge(world, false, &v);
	for (i = 0; i < j->faults && !what; i++)
		what = one_fault(world_fault(world, set[i]), t);
	if (!what && !world->hasty)
		what = plugin.on ? recover_as_plugin(j, set) : hand_over(t);
	t->runs++;
	if (!what)
		return;
	if (t->failures++ < 5)
		report_verify(j, first_set + t->sets, set, i, what);
}

/* Run the set.  If j->orders is true, run it with its faults set[at ..] in every order. */
static void permute(const struct job *j, uint32_t *set, unsigned int at,
		    struct tally *t)
{
	if (at + 1 >= j->faults || !j->orders) {
		run_order(j, set, t);
		return;
	}
	for (unsigned int i = at; i < j->faults; i++) {
		uint32_t x = set[at];

		set[at] = set[i];
		set[i] = x;
		permute(j, set, at + 1, t);
		set[i] = set[at];
		set[at] = x;
	}
}

static void all_sets(const struct job *j, uint32_t *set, unsigned int at,
		     uint32_t first, uint32_t end, struct tally *t)
{
	if (at == j->faults) {
		take_chances(t->sets);
		permute(j, set, 0, t);
		t->sets++;
		return;
	}
	for (uint32_t i = first; i < end; i++) {
		set[at] = i;
		all_sets(j, set, at + 1, i + 1, end, t);
	}
}

static void random_sets(const struct job *j, uint32_t first, uint32_t end,
			struct tally *t)
{
	uint32_t set[MOST_FAULTS];

	for (t->sets = 0; t->sets < share(j->n); t->sets++) {
		take_chances(first_set + t->sets);
		for (unsigned int i = 0; i < j->faults; i++) {
			bool twice = false;

			set[i] = first + ftr_rng_below(&rng, end - first);
			for (unsigned int k = 0; k < i; k++)
				twice |= set[k] == set[i];
			i -= twice;
		}
		world->hasty = j->n > 5000 && (first_set + t->sets) % 32;
		run_order(j, set, t);
	}
}

/* Run each set of faults in the text `sets` TRIES times.  A set has j->faults fault numbers. */
static void given_sets(const struct job *j, const char *sets, uint32_t end,
		       struct tally *t)
{
	char *at = (char *)(uintptr_t)sets;
	uint32_t set[MOST_FAULTS];

	while (*at) {
		for (unsigned int i = 0; i < j->faults; i++) {
			set[i] = (uint32_t)strtoul(at, &at, 10);
			at += *at != 0;
			if (set[i] >= end) {
				fprintf(stderr, "ddlr: no fault %u\n", set[i]);
				exit(2);
			}
		}
		for (uint64_t i = 0; i < share(TRIES); i++) {
			take_chances(i);
			run_order(j, set, t);
		}
		t->sets++;
	}
}

/* Run job j: all sets of exactly j->faults faults, or the given sets.  Returns the number of
 * failures. */
static uint64_t run_verify(const struct job *j, const char *sets)
{
	struct tally t = { 0 };
	uint32_t first = 0, end, set[MOST_FAULTS];
	double t0 = now();

	world = world_new(grow(j->shape), j->vls);
	world->host_paths_only = host_paths_only;
	end = world_n_faults(world);
	if (!strcmp(j->kinds, "l"))
		end = world->n_links;
	else if (!strcmp(j->kinds, "s"))
		first = world->n_links;
	if (sets)
		given_sets(j, sets, end, &t);
	else if (j->n)
		random_sets(j, first, end, &t);
	else
		all_sets(j, set, 0, first, end, &t);
	printf("%-22s %u %-2s %u  %9llu %9llu %8llu  %6.1f %5.2f %4u %4u %4u %7llu %7llu %7llu %5llu %7.4f%% %5.2f %5llu %6.1f s\n",
	       j->shape, j->faults, j->kinds, j->vls,
	       (unsigned long long)t.sets, (unsigned long long)t.runs,
	       (unsigned long long)t.failures,
	       (double)t.writes / (double)(t.plans ? t.plans : 1),
	       (double)t.switches / (double)(t.plans ? t.plans : 1),
	       t.most_switches, t.most_link, t.most_steps,
	       (unsigned long long)t.unclean, (unsigned long long)t.refused,
	       (unsigned long long)t.inverted,
	       (unsigned long long)t.hosts_only,
	       100.0 * (double)t.lost / (double)(t.pairs ? t.pairs : 1),
	       (double)t.phases / (double)(t.transitions ? t.transitions : 1),
	       (unsigned long long)t.held, now() - t0);
	fflush(stdout);
	world_free(world);
	return t.failures;
}

static const struct job sample[] = {
	{ "kary:2,2", 1, "ls", 1, 0, true },
	{ "kary:2,3", 1, "ls", 1, 0, true },
	{ "kary:2,3", 1, "ls", 2, 0, true },
	{ "kary:2,4", 1, "ls", 1, 0, true },
	{ "kary:3,2", 2, "ls", 1, 0, true },
	{ "kary:3,2", 2, "ls", 2, 0, true },
	{ "kary:3,3", 2, "ls", 1, 100, false },
	{ "kary:3,3", 2, "ls", 2, 100, false },
	{ "kary:4,2", 3, "ls", 1, 100, false },
	{ "kary:4,3", 3, "ls", 1, 13, false },
	{ "kary:4,3", 3, "ls", 2, 13, false },
};

/* Small trees: all fault sets in all orders.  Larger trees: 300, 2,000 or 100,000 random sets, or
 * all sets in one order. */
static const struct job full[] = {
	{ "kary:2,2", 1, "ls", 1, 0, true },
	{ "kary:2,3", 1, "ls", 1, 0, true },
	{ "kary:2,4", 1, "ls", 1, 0, true },
	{ "kary:2,5", 1, "ls", 1, 0, true },
	{ "kary:2,6", 1, "ls", 1, 0, true },
	{ "kary:3,2", 1, "ls", 1, 0, true },
	{ "kary:3,2", 2, "ls", 1, 0, true },
	{ "kary:3,3", 1, "ls", 1, 0, true },
	{ "kary:3,3", 2, "ls", 1, 0, true },
	{ "kary:3,4", 2, "ls", 1, 300, false },
	{ "kary:4,2", 1, "ls", 1, 0, true },
	{ "kary:4,2", 2, "ls", 1, 0, true },
	{ "kary:4,2", 3, "ls", 1, 0, true },
	{ "kary:4,3", 1, "ls", 1, 0, true },
	{ "kary:4,3", 2, "ls", 1, 2000, false },
	{ "kary:4,3", 3, "l", 1, 100000, false },
	{ "kary:4,3", 3, "s", 1, 0, false },
	{ "kary:4,3", 3, "ls", 1, 100000, false },
	{ "kary:2,2", 1, "ls", 2, 0, true },
	{ "kary:2,3", 1, "ls", 2, 0, true },
	{ "kary:2,4", 1, "ls", 2, 0, true },
	{ "kary:2,5", 1, "ls", 2, 0, true },
	{ "kary:3,2", 2, "ls", 2, 0, true },
	{ "kary:3,3", 2, "ls", 2, 0, true },
	{ "kary:4,2", 3, "ls", 2, 0, true },
	{ "kary:4,3", 3, "ls", 2, 100000, false },
	{ "2;4,6;1,4;1,2", 3, "ls", 1, 300, false },
	{ "3;3,3,3;1,2,3;1,2,1", 1, "ls", 1, 0, true },
	{ "3;4,4,4;1,2,2;1,2,1", 1, "ls", 1, 0, true },
	{ "3;4,4,2;1,4,2;1,1,2", 1, "ls", 2, 0, true },
	{ "3;2,2,2;1,3,3;1,1,1", 2, "ls", 1, 0, true },
	{ "3;2,2,3;1,3,3;1,2,1", 2, "ls", 1, 0, true },
	{ "2;4,2;1,4;1,1", 3, "ls", 1, 0, true },
	{ "kary:4,3", 3, "s", 2, 0, false },
};

/* Sets that need one mechanism.
 *
 * in the way	sets of two switches and a link.  With the turn bit, an earlier planner left hosts
 *		unreachable, because it let detours of packets to switches lead out of clean planes
 * clean planes	without the rule of clean planes, an earlier detour makes every detour for the
 *		last fault close a cycle
 * turn bit	more than k-1 faults, all of them links.  On one VL every detour for one of the
 *		faults would close a cycle
 */
static const struct {
	struct job job;
	const char *sets;
} given[] = {
	{ { "kary:4,3", 3, "ls", 2, 0, false },
	  "90,153,138;43,156,144;97,140,155;16,156,150;138,153,98;53,156,153" },
	{ { "kary:4,2", 3, "ls", 1, 0, false }, "4,7,1;3,8,1" },
	{ { "kary:3,3", 4, "l", 2, 0, false }, "34,50,29,43;2,30,43,9" },
};

/* True if the row is one of those that "verify long ROW.." names. */
static bool is_asked(int argc, char **argv, size_t row)
{
	for (int i = 2; i < argc; i++)
		if (strtoul(argv[i], NULL, 10) == row)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	const struct job *j = sample;
	size_t n = FTR_ARRAY_LEN(sample);
	uint64_t failures = 0;
	bool lot, both, again;
	const char *sets = NULL;
	struct job one;

	if (argc > 1 && !strcmp(argv[1], "plugin")) {
		plugin.on = true;
		argv++;
		argc--;
	}
	if (argc > 1 && !strcmp(argv[1], "hosts")) {
		host_paths_only = true;
		argv++;
		argc--;
	}
	lot = argc > 1 && !strcmp(argv[1], "long");
	if (lot) {
		j = full;
		n = FTR_ARRAY_LEN(full);
	} else if (argc > 4) {
		if (argc > 5 && argv[5][0] == '=')
			sets = argv[5] + 1;
		if (argc > 6)
			seed = strtoull(argv[6], NULL, 0);
		if (argc > 7)
			first_set = strtoull(argv[7], NULL, 0);
		one = (struct job){ argv[1], (unsigned int)atoi(argv[2]),
				    argv[3], (unsigned int)atoi(argv[4]),
				    argc > 5 ? strtoull(argv[5], NULL, 0) : 0,
				    argc <= 5 };
		if (one.faults > MOST_FAULTS)
			return 2;
		j = &one;
		n = 1;
	}
	printf("columns: tree, faults, kinds of faults, VLs, sets, runs, failures;\n"
	       "  per plan: mean number of writes, mean number of switches, greatest number of switches, greatest number of switches after a link fault, greatest number of steps;\n"
	       "  numbers of: repairs into planes that are not clean, changes refused because they would close a cycle, plans with entries of the inverted order, runs in which packets from switches were ignored;\n"
	       "  unreachable pairs, mean number of rounds of a transition, held LIDs, time\n");
	both = argc < 2 && !host_paths_only;
	do {
		for (size_t i = 0; i < n; i++)
			if (!lot || argc == 2 || is_asked(argc, argv, i + 1))
				failures += run_verify(&j[i], sets);
		for (size_t i = 0; argc < 3 && i < FTR_ARRAY_LEN(given); i++)
			failures += run_verify(&given[i].job, given[i].sets);
		again = both && !host_paths_only;
		if (again)
			printf("the same with host_paths_only\n");
		host_paths_only |= both;
	} while (again);
	if (plugin.on)
		printf("recovery as the plugin does it: %llu recoveries, %llu intermediate states; of these, %llu with unreachable pairs of hosts, %llu with a loop, %llu with a cycle, %llu with at least one of the three\n",
		       (unsigned long long)plugin.recoveries,
		       (unsigned long long)plugin.states,
		       (unsigned long long)plugin.lost,
		       (unsigned long long)plugin.loops,
		       (unsigned long long)plugin.cycles,
		       (unsigned long long)plugin.bad);
	return failures != 0;
}
