// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Local repair (ddlr) for the commands route and whatif.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/ddlr_repair.h"

struct ftr_tables *cli_carry_tables(const struct ftr_fabric *fa, const struct ftr_tables *t,
				    const struct ftr_fabric *fb)
{
	struct ftr_tables *out = NULL;

	cli_must(ftr_tables_new(fb, true, &out, &cli_err));
	for (ftr_sw s = 0; s < fb->n_sw; s++) {
		ftr_sw old = ftr_fabric_find_sw(fa, fb->sw[s].guid);

		if (old != FTR_SW_NONE)
			memcpy(ftr_tables_row(out, s), ftr_tables_row(t, old), t->max_lid + 1u);
	}
	return out;
}

struct ftr_sl2vl *cli_carry_vls(const struct ftr_fabric *fa, const struct ftr_sl2vl *m,
				const struct ftr_fabric *fb)
{
	struct ftr_sl2vl *out = NULL;

	cli_must(ftr_sl2vl_new(fb, &out, &cli_err));
	for (ftr_sw s = 0; s < fb->n_sw; s++) {
		ftr_sw old = ftr_fabric_find_sw(fa, fb->sw[s].guid);
		uint32_t width = out->width[s];

		memcpy(ftr_sl2vl_word(out, s, 0, 0), ftr_sl2vl_word(m, old, 0, 0),
		       (size_t)width * width * sizeof(uint64_t));
	}
	return out;
}

struct ftr_sl2vl *cli_vls(const struct ftr_shape *sh, unsigned int vls)
{
	struct ftr_sl2vl *m = NULL;

	if (vls > 1)
		cli_must(ftr_ddlr_sl2vl(sh, NULL, &m, &cli_err));
	return m;
}

/* Returns a planner with the tables t after a local repair. */
static struct ftr_ddlr *repaired(const struct ftr_shape *sh, const struct ftr_tables *t,
				 const struct ftr_sl2vl *m, const struct ftr_fabric *nf,
				 struct ftr_ddlr_plan *plan)
{
	const struct ftr_cdg_opts o = {
		.sl2vl = m, .switch_sources = m != NULL,
	};
	struct ftr_ddlr *r = NULL;

	*plan = (struct ftr_ddlr_plan){ .n = 0 };
	cli_must(ftr_ddlr_new(sh, t, &o, false, &r, &cli_err));
	cli_must(ftr_ddlr_to(r, nf, plan, &cli_err));
	return r;
}

struct ftr_guarantee cli_guarantee(const struct ftr_shape *sh, const struct ftr_tables *t,
				   const struct ftr_sl2vl *m, const struct ftr_fabric *nf)
{
	struct ftr_ddlr_plan plan;
	struct ftr_ddlr *r = repaired(sh, t, m, nf, &plan);
	struct ftr_guarantee g;

	ftr_ddlr_guarantee(r, &g);
	ftr_ddlr_plan_fini(&plan);
	ftr_ddlr_free(r);
	return g;
}

struct ftr_tables *cli_ddlr_repair(const struct ftr_shape *sh, const struct ftr_tables *t,
				   const struct ftr_sl2vl *m, const struct ftr_fabric *nf,
				   struct ftr_ddlr_plan *plan, struct ftr_tables_diff *d)
{
	struct ftr_ddlr_plan writes;
	struct ftr_ddlr *r = repaired(sh, t, m, nf, &writes);
	struct ftr_tables *out;

	*plan = writes;
	plan->write = NULL;
	ftr_ddlr_plan_fini(&writes);
	if (d)
		ftr_tables_diff(sh->f, t, sh->f, ftr_ddlr_tables(r), d);
	out = cli_carry_tables(sh->f, ftr_ddlr_tables(r), nf);
	ftr_ddlr_free(r);
	return out;
}

/* [k] what tests/ddlr/verify has run with k-1 faults on trees with this k, without a failure
 * (docs/ddlr.md): sets of faults, and trees.  [0]: for each k that is not listed. */
static const char *const tested[][2] = {
	[0] = { "none", "no tree with this k" },
	[2] = { "all sets", "2-ary 2-, 3- and 4-tree" },
	[3] = { "all sets", "3-ary 2- and 3-tree" },
	[4] = { "all sets", "4-ary 2-tree; 200,000 random sets: 4-ary 3-tree" },
	[5] = { "random sets", "5-ary 2-tree (3,000) and 3-tree (30)" },
	[6] = { "random sets", "6-ary 3-tree (22)" },
	[8] = { "random sets", "8-ary 2-tree (5,300)" },
	[10] = { "random sets", "10-ary 2-tree (200)" },
	[12] = { "random sets", "12-ary 2-tree (350)" },
	[16] = { "random sets", "16-ary 2-tree (60)" },
	[18] = { "random sets", "18-ary 2-tree (10), 2-level tree of 648 hosts (45)" },
	[20] = { "random sets", "2-level tree of 800 hosts (4)" },
};

static const char *const *tested_of(unsigned int k)
{
	return tested[k < sizeof(tested) / sizeof(*tested) && *tested[k] ? k : 0];
}

void cli_guarantee_text(const struct ftr_fabric *f, const struct ftr_guarantee *g, unsigned int vls)
{
	const char *const *t = tested_of(g->k);

	if (g->weakest == FTR_SW_NONE) {
		printf("guarantee     none: no switch with hosts has a switch above it\n");
		return;
	}
	printf("k             %u: each switch with hosts on or below it, except roots, has at least\n" "              %s above it\n",
	       g->k, CLI_SWITCHES(g->k));
	printf("guarantee     any %s%u%s %s repaired locally (links between switches,\n"
	       "              switches without hosts), for packets from hosts to hosts\n",
	       cli_colour(g->faults ? CLI_GOOD : CLI_DOUBT), g->faults,
	       cli_colour(CLI_PLAIN), g->faults == 1 ? "fault is" : "faults are");
	printf("proven        for no tree as a whole\n"
	       "tested        %s%s%s\n"
	       "not covered   I/O nodes, routers, Aggregation Nodes, hosts on switches that are not leaves,\n"
	       "              LIDs of switches, links that return, faults before the planner is ready\n",
	       t == *tested ? "" : t[0], t == *tested ? "" : " of k-1 faults: ", t[1]);
	printf("weakest       %s%s%s%s\n", CLI_SW(f, g->weakest),
	       g->n_weakest > 1 ? " (one of " : "", g->n_weakest > 1 ? CLI_NUM(g->n_weakest) : "",
	       g->n_weakest > 1 ? ")" : "");
	printf("planes        %u above the weakest switch; from at least %u of them no local repair leads away\n",
	       g->planes, g->clean);
	printf("VLs           %s\n", vls > 1 ?
	       "2: VL 1 on the link after a change of direction (up to down, or down to up), VL 0 on all other links" : "1");
}

int cli_guarantee_json(const struct ftr_fabric *f, const struct ftr_guarantee *g, unsigned int vls)
{
	struct json_object *o = cli_json_new("whatif"), *x;

	cli_json_fabric(o, f, NULL);
	x = cli_json_object(o, "guarantee");
	cli_json_num(x, "k", g->k);
	cli_json_num(x, "faults", g->faults);
	cli_json_str(x, "tested", tested_of(g->k)[0]);
	cli_json_str(x, "tested_trees", tested_of(g->k)[1]);
	cli_json_num(x, "planes", g->planes);
	cli_json_num(x, "clean_planes", g->clean);
	if (g->weakest == FTR_SW_NONE)
		cli_json_str(x, "weakest", NULL);
	else
		cli_json_switch(x, "weakest", f, g->weakest);
	cli_json_num(x, "weakest_switches", g->n_weakest);
	cli_json_num(x, "lanes", vls > 1 ? 2 : 1);
	return cli_json_end(o, CLI_CLEAN);
}
