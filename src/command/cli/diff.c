// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree diff: compares two sets of tables for one fabric.  Counts the units that determine
 * the time of an update: entries, 64-entry blocks (one SMP each), switches.  Lists the
 * destinations whose entries differ on the most switches (--top).
 */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/live.h"
#include "cli/transition.h"

/* The number of entries that changed for one LID, or in one switch. */
struct moved {
	uint32_t idx;		/* the LID, or the index of the switch */
	uint32_t n;
};

struct diff {
	struct cli_in in;
	unsigned int top;
	bool verbose, transition;

	struct ftr_fabric *f;
	struct ftr_tables *a, *b;
	struct ftr_tables_diff d;
	double ms_per_block;		/* with --live: mean time to read a block */
	struct cli_transition x;	/* only with --transition */
	struct moved *lid, *sw;	/* sorted by n (descending), then by idx */
	uint32_t n_lid, n_sw;	/* number of LIDs and of switches with changed entries */
};

#define OPTS struct diff
static const struct cli_opt options[] = {
	OPT(UINT, "top", top, "N",
	    "list the N destinations whose entries change on the most switches",
	    "10", 0, FTR_LID_MAX),
	OPT(FLAG, "verbose", verbose, NULL, "also list the changes of every switch"),
	OPT(FLAG, "transition", transition, NULL, "check the states that occur while B replaces A"),
	CLI_OPT_ROOTS,
	CLI_OPT_THREADS,
	CLI_OPTS_LIVE,
	CLI_OPT_LMC,
	CLI_OPT_TOLERANT,
	CLI_OPT_JSON,
	CLI_OPT_END
};

static int by_count(const void *va, const void *vb)
{
	const struct moved *a = va, *b = vb;

	return FTR_ORDER(b->n, a->n) ?: FTR_ORDER(a->idx, b->idx);
}

/* Returns the number of elements with n > 0. */
static uint32_t rank(struct moved *m, uint32_t n)
{
	uint32_t k = 0;

	qsort(m, n, sizeof(*m), by_count);
	while (k < n && m[k].n)
		k++;
	return k;
}

static void count(struct diff *r)
{
	const struct ftr_fabric *f = r->f;
	uint32_t n_lid = (uint32_t)f->max_lid + 1;

	r->lid = cli_calloc(n_lid, sizeof(*r->lid), "counts");
	r->sw = cli_calloc(f->n_sw, sizeof(*r->sw), "counts");
	for (uint32_t lid = 0; lid < n_lid; lid++)
		r->lid[lid].idx = lid;
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const uint8_t *a = ftr_tables_row(r->a, s);
		const uint8_t *b = ftr_tables_row(r->b, s);

		r->sw[s].idx = s;
		for (uint32_t lid = 1; lid < n_lid; lid++) {
			r->sw[s].n += a[lid] != b[lid];
			r->lid[lid].n += a[lid] != b[lid];
		}
	}
	r->n_lid = rank(r->lid, n_lid);
	r->n_sw = rank(r->sw, f->n_sw);
}

static void report_diff(const struct diff *r)
{
	printf("%s in %s of %s differ%s\n", CLI_ENTRIES(r->d.entries),
	       CLI_COUNT(r->d.blocks, "block", "blocks"),
	       CLI_SWITCHES(r->d.switches), r->d.entries == 1 ? "s" : "");
	if (!r->n_lid)
		return;
	printf("%s with changed entries\n", CLI_COUNT(r->n_lid, "destination", "destinations"));
	for (uint32_t i = 0; i < r->n_lid && i < r->top; i++)
		printf("  %17s: %s\n", CLI_SWITCHES(r->lid[i].n),
		       CLI_LID(r->f, (ftr_lid)r->lid[i].idx));
	if (r->top < r->n_lid)
		printf("  ... and %s more (--top)\n", CLI_NUM(r->n_lid - r->top));
	if (r->transition)
		cli_transition_text(r->f, &r->x);
	if (!r->verbose)
		return;
	printf("changes by switch\n");
	for (uint32_t i = 0; i < r->n_sw; i++)
		printf("  %17s: %s\n", CLI_ENTRIES(r->sw[i].n), CLI_SW(r->f, r->sw[i].idx));
}

static int report_json(const struct diff *r, int status)
{
	struct json_object *o = cli_json_new("diff"), *list, *e;

	cli_json_fabric(o, r->f, NULL);
	cli_json_num(o, "entries", r->d.entries);
	cli_json_num(o, "blocks", r->d.blocks);
	cli_json_num(o, "changed_switches", r->d.switches);
	cli_json_num(o, "moved_destinations", r->n_lid);
	list = cli_json_array(o, "destinations");
	for (uint32_t i = 0; i < r->n_lid && i < r->top; i++) {
		e = cli_json_element(list);
		cli_json_num(e, "switches", r->lid[i].n);
		cli_json_lid(e, r->f, (ftr_lid)r->lid[i].idx);
	}
	if (r->verbose) {
		list = cli_json_array(o, "switches");
		for (uint32_t i = 0; i < r->n_sw; i++) {
			e = cli_json_element(list);
			cli_json_num(e, "entries", r->sw[i].n);
			cli_json_switch(e, "switch", r->f, r->sw[i].idx);
		}
	}
	if (r->transition)
		cli_transition_json(o, r->f, &r->x);
	return cli_json_end(o, status);
}

static void read_all(char **argv, struct diff *r)
{
	struct cli_live live = cli_input(&r->in, argv[0]);

	r->f = live.f;
	r->a = live.t;
	r->ms_per_block = cli_live_ms_per_block(&live);
	if (!r->in.live)
		r->a = cli_read_lfts(argv[1], r->f, NULL);
	r->b = cli_read_lfts(argv[r->in.live ? 0 : 2], r->f, NULL);
}

static void examine(struct diff *r)
{
	struct ftr_shape *sh = NULL;

	r->in.team = ftr_team_new(r->in.threads);
	cli_must(cli_shape(&r->in, r->f, &sh, &cli_err));
	cli_transition(sh, r->a, r->b, r->ms_per_block, &r->x);
	ftr_shape_free(sh);
	ftr_team_free(r->in.team);
}

static int run_diff(int argc, char **argv)
{
	static struct diff r;
	int n = cli_parse(&cli_diff, &r, argc, argv), status;

	cli_live_args("diff", &r.in, n, 0, NULL);
	if (n != (r.in.live ? 1 : 3))
		cli_die("diff: expected FABRIC A B, or with --live only B; given: %s",
			CLI_COUNT((uint64_t)n, "argument", "arguments"));
	if (r.in.roots && !r.transition)
		cli_die("diff: --roots requires --transition");
	cli_progress("comparing");
	read_all(argv, &r);
	count(&r);
	if (r.transition)
		examine(&r);
	ftr_tables_diff(r.f, r.a, r.f, r.b, &r.d);
	cli_progress_end();
	status = r.d.entries ? CLI_FINDINGS : CLI_CLEAN;
	if (r.in.json)
		return report_json(&r, status);
	report_diff(&r);
	return status;
}

const struct cli_cmd cli_diff = {
	.name = "diff",
	.summary = "compare two sets of tables",
	.args = "FABRIC A B | --live B",
	.text =
"Compares A and B, two files of forwarding tables of one fabric (formats:\n"
"opensm-lfts.dump, dump_lfts output, opensm.fdbs).  Counts the entries that\n"
"differ, and lists the destinations whose entries change.  With --live, A is the\n"
"tables in use.  With --transition, also checks whether credit loops or missing\n"
"entries are possible during the change from A to B, and finds a safe order of\n"
"writes.\n"
"Exit status: 0 equal, 1 different, 2 bad input.\n",
	.opts = options,
	.min_args = 1, .max_args = 3,
	.run = run_diff,
};
