// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The columns of whatif, as a text table and as JSON.
 *
 * With several runs a cell shows minimum/median/maximum, or one number if minimum and maximum are
 * printed alike.  With an even number of runs, the lower median is shown.  JSON contains every run.
 * A value that was not measured is "-" or null.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/whatif.h"

enum kind { COUNT, NONE_IF_0, REAL };

static const struct {
	const char *text;	/* NULL: not in the table */
	const char *key;
	enum kind kind;
	bool bad;		/* any value but 0 is a problem */
} metric[CLI_N_METRICS] = {
	[CLI_M_SWITCHES] = { "switches", "switches", COUNT, false },
	[CLI_M_END_PORTS] = { "host ports", "end_ports", COUNT, false },
	[CLI_M_LINKS] = { "links between switches", "switch_cables", COUNT,
			   false },
	[CLI_M_PAIRS] = { NULL, "host_host_pairs", COUNT, false },
	{ NULL, "host_switch_pairs", COUNT, false },
	{ NULL, "switch_host_pairs", COUNT, false },
	{ NULL, "switch_switch_pairs", COUNT, false },
	[CLI_M_LOST] = { "unreachable: host port -> host port",
			 "host_host_not_arriving", COUNT, true },
	{ "unreachable: host port -> switch", "host_switch_not_arriving", COUNT, false },
	{ "unreachable: switch -> host port", "switch_host_not_arriving", COUNT, false },
	{ "unreachable: switch -> switch", "switch_switch_not_arriving", COUNT, false },
	[CLI_M_CUT] = { "host port pairs: no physical path",
			"host_host_no_physical_path", COUNT, false },
	[CLI_M_NO_PATH] = { "host port pairs: no up/down path",
			    "host_host_no_updown_path", COUNT, false },
	[CLI_M_FOUND] = { "missing entries", "holes", COUNT, false },
	{ "dead ports", "dead_ports", COUNT, true },
	{ "wrong ends", "wrong_ends", COUNT, true },
	{ "loops", "loops", COUNT, true },
	{ "turns", "turns", COUNT, false },
	[CLI_M_CYCLE] = { "credit loop, shortest (links)", "credit_loop_length", NONE_IF_0, true },
	[CLI_M_HOPS] = { "longest path (links)", "longest_path", COUNT, false },
	[CLI_M_ALL_MAX] = { "load: all-to-all, worst link", "load_all_max", COUNT, false },
	[CLI_M_ALL_LOST] = { NULL, "load_all_lost", COUNT, false },
	[CLI_M_ALL_BOUND] = { "load: all-to-all, lower bound",
			      "load_all_bound", COUNT, false },
	[CLI_M_DRAINED] = { "bandwidth lost by the drains (%)", "drain_lost_percent", REAL, false },
	[CLI_M_DRAINED_ONLY] = { "host ports only over drained parts", "drain_only_end_ports",
				 COUNT, true },
	[CLI_M_SHIFT_MAX] = { "load: shifts, worst link", "load_shift_max",
			      COUNT, false },
	[CLI_M_SHIFT_WORST] = { NULL, "load_shift_worst", COUNT, false },
	[CLI_M_SHIFT_MEAN] = { "load: shifts, worst link, mean",
			       "load_shift_mean", REAL, false },
	[CLI_M_GIVEN_MAX] = { "load: given pairs, worst link", "load_given_max", COUNT, false },
	[CLI_M_GIVEN_LOST] = { "given pairs: unreachable", "load_given_lost", COUNT, true },
	[CLI_M_ENTRIES] = { "changed entries", "changed_entries", COUNT, false },
	[CLI_M_BLOCKS] = { "changed blocks", "changed_blocks", COUNT, false },
	[CLI_M_CHANGED] = { "changed switches", "changed_switches", COUNT,
			    false },
	[CLI_M_WRITES] = { "writes of the local repair", "local_writes", COUNT,
			   false },
	[CLI_M_STEPS] = { "steps of the local repair", "local_steps", COUNT, false },
	[CLI_M_UNREPAIRED] = { "entries not repaired", "local_unhealed", COUNT,
			     true },
	[CLI_M_ROUTE_MS] = { "ms to route", "route_ms", REAL, false },
};

/* Returns true if metric m is in the table: at least one column has a value for it. */
static bool shown(const struct cli_whatif *v, int m)
{
	for (unsigned int c = 0; metric[m].text && c < v->n_col; c++)
		for (unsigned int i = 0; i < v->col[c].n; i++)
			if (!isnan(v->col[c].run[i].v[m]))
				return true;
	return false;
}

/* ---- the table --------------------------------------------------------- */

#define CELL_MAX (3 * CLI_NUM_MAX)
#define LABEL 35		/* width of the first column: the longest text in metric[] */

static int by_value(const void *va, const void *vb)
{
	double a = *(const double *)va, b = *(const double *)vb;

	return a < b ? -1 : a > b;
}

static void put_number(char *buf, double x, enum kind kind)
{
	if (kind == REAL)
		snprintf(buf, CLI_NUM_MAX, "%.2f", x);
	else if (kind == NONE_IF_0 && x <= 0)
		snprintf(buf, CLI_NUM_MAX, "none");
	else
		cli_num(buf, (uint64_t)x);
}

/* Formats a cell; returns true if it shows a problem.  scratch holds c->n numbers. */
static bool cell(char *buf, const struct cli_column *c, int m, double *scratch)
{
	char lo[CLI_NUM_MAX], mid[CLI_NUM_MAX], hi[CLI_NUM_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->n; i++)
		if (!isnan(c->run[i].v[m]))
			scratch[n++] = c->run[i].v[m];
	if (!n) {
		snprintf(buf, CELL_MAX, "-");
		return false;
	}
	qsort(scratch, n, sizeof(*scratch), by_value);
	put_number(lo, scratch[0], metric[m].kind);
	put_number(mid, scratch[(n - 1) / 2], metric[m].kind);
	put_number(hi, scratch[n - 1], metric[m].kind);
	if (!strcmp(lo, hi))
		snprintf(buf, CELL_MAX, "%s", lo);
	else
		snprintf(buf, CELL_MAX, "%s/%s/%s", lo, mid, hi);
	return metric[m].bad && scratch[n - 1] > 0;
}

static const char *title(const struct cli_column *c)
{
	const char *slash = strrchr(c->title, '/');

	return slash ? slash + 1 : c->title;
}

static void put_head(const struct cli_whatif *v)
{
	printf("engine  %s\n", v->in.engine->name);
	if (v->fail.n) {
		printf("faults ");
		for (unsigned int i = 0; i < v->fail.n; i++)
			printf(" %s", v->fail.v[i]);
		if (v->faults.links || v->faults.switches)
			printf(" (seed %llu)", (unsigned long long)v->seed);
		putchar('\n');
	}
	for (unsigned int i = 0; i < v->drain.n; i++)
		printf("%s%s%s", i ? " " : "drained ", v->drain.v[i],
		       i + 1 == v->drain.n ? "\n" : "");
	if (v->repeat > 1)
		printf("runs    %u, with seeds from %llu on%s\n", v->repeat,
		       (unsigned long long)v->seed,
		       v->survival.list ? "" : "; values are minimum/median/maximum");
	putchar('\n');
}

/* Prints, for each column, the nodes that are unreachable or cut off. */
static void put_affected(const struct cli_whatif *v)
{
	for (unsigned int c = 0; c < v->n_col; c++) {
		const struct cli_column *col = &v->col[c];
		const struct cli_reach *r = &col->worst;

		uint32_t n = 0;

		for (int k = 0; k < CLI_N_AFFECTED; k++)
			n += r->n[k];
		if (!n)
			continue;
		printf("\n%s", title(col));
		if (col->n > 1)
			printf(", seed %llu, the worst of %u",
			       (unsigned long long)v->seed + col->worst_run, col->n);
		printf(":\n");
		cli_reach_text(v->f, r, v->list);
	}
}

int cli_whatif_table(const struct cli_whatif *v, int status)
{
	double *scratch = cli_calloc(v->repeat, sizeof(*scratch), "the table");
	int *width = cli_calloc(v->n_col, sizeof(*width), "the table");
	char buf[CELL_MAX];

	put_head(v);
	for (unsigned int c = 0; c < v->n_col; c++) {
		width[c] = (int)strlen(title(&v->col[c]));
		for (int m = 0; m < CLI_N_METRICS; m++) {
			cell(buf, &v->col[c], m, scratch);
			if (metric[m].text && (int)strlen(buf) > width[c])
				width[c] = (int)strlen(buf);
		}
	}
	printf("%-*s", LABEL, "");
	for (unsigned int c = 0; c < v->n_col; c++)
		printf("  %*s", width[c], title(&v->col[c]));
	putchar('\n');
	for (int m = 0; m < CLI_N_METRICS; m++) {
		if (!shown(v, m))
			continue;
		printf("%-*s", LABEL, metric[m].text);
		for (unsigned int c = 0; c < v->n_col; c++) {
			bool bad = cell(buf, &v->col[c], m, scratch);

			printf("  %s%*s%s", cli_colour(bad ? CLI_WRONG : CLI_PLAIN), width[c], buf,
			       cli_colour(CLI_PLAIN));
		}
		putchar('\n');
	}
	put_affected(v);
	printf("\nnot checked: multicast, %scredit loops caused by packets that switches send\n",
	       v->vl_map ? "" : "VLs (all traffic is assumed to share one),\n");
	if (v->loads.shifts && v->loads.n > CLI_SHIFTS_MAX + 1)
		printf("shifts: %u of %u, drawn at random\n", CLI_SHIFTS_MAX, v->loads.n - 1);
	free(scratch);
	free(width);
	return status;
}

/* ---- JSON -------------------------------------------------------------- */

void cli_measure_json(struct json_object *o, const struct cli_measure *r)
{
	for (int m = 0; m < CLI_N_METRICS; m++) {
		if (isnan(r->v[m]))
			cli_json_str(o, metric[m].key, NULL);
		else if (metric[m].kind == REAL)
			cli_json_real(o, metric[m].key, r->v[m]);
		else
			cli_json_num(o, metric[m].key, (uint64_t)r->v[m]);
	}
}

static void put_worst(struct json_object *o, const struct cli_whatif *v,
		      const struct cli_column *col)
{
	struct json_object *w = cli_json_object(o, "affected");

	if (!strcmp(col->kind, "before"))
		cli_json_str(w, "seed", NULL);
	else
		cli_json_num(w, "seed", v->seed + col->worst_run);
	cli_reach_json(w, v->f, &col->worst, v->list);
}

int cli_whatif_json(const struct cli_whatif *v, int status)
{
	struct json_object *o = cli_json_new("whatif"), *list, *e, *runs;

	cli_json_fabric(o, v->f, v->sh);
	cli_json_str(o, "engine", v->in.engine->name);
	list = cli_json_array(o, "faults");
	for (unsigned int i = 0; i < v->fail.n; i++)
		cli_json_text(list, v->fail.v[i]);
	list = cli_json_array(o, "drains");
	for (unsigned int i = 0; i < v->drain.n; i++)
		cli_json_text(list, v->drain.v[i]);
	cli_json_num(o, "random_links", v->faults.links);
	cli_json_num(o, "random_switches", v->faults.switches);
	cli_json_num(o, "seed", v->seed);
	cli_json_num(o, "repeat", v->repeat);
	cli_json_num(o, "shifts", !v->loads.shifts || !v->loads.n ? 0 :
		     v->loads.n > CLI_SHIFTS_MAX ? CLI_SHIFTS_MAX : v->loads.n - 1);
	list = cli_json_array(o, "columns");
	for (unsigned int c = 0; c < v->n_col; c++) {
		const struct cli_column *col = &v->col[c];

		e = cli_json_element(list);
		cli_json_str(e, "kind", col->kind);
		cli_json_str(e, "tables", strcmp(col->kind, "compare") ? NULL : col->title);
		put_worst(e, v, col);
		runs = cli_json_array(e, "runs");
		for (unsigned int i = 0; i < col->n; i++) {
			struct json_object *run = cli_json_element(runs);

			if (!strcmp(col->kind, "before"))
				cli_json_str(run, "seed", NULL);
			else
				cli_json_num(run, "seed", v->seed + i);
			cli_json_bool(run, "finding", col->run[i].bad);
			cli_measure_json(run, &col->run[i]);
			if (col->run[i].details)
				cli_json_put(run, "details", col->run[i].details);
		}
	}
	return cli_json_end(o, status);
}

/* ---- survival ---------------------------------------------------------- */

/* Sets ends[] to the 95 % confidence interval (Wilson 1927) of the share of x in n. */
static void wilson(double x, double n, double ends[2])
{
	const double z = 1.959964;	/* 97.5 % quantile of the normal distribution */
	double p = x / n, zz = z * z / n;
	double middle = p + zz / 2, half = z * sqrt(p * (1 - p) / n + zz / (4 * n));

	ends[0] = fmax(0, (middle - half) / (1 + zz));
	ends[1] = fmin(1, (middle + half) / (1 + zz));
}

bool cli_survival_known(const unsigned int row[CLI_N_SURVIVAL], double until)
{
	double ends[2], width = 0;

	for (int k = CLI_BY_CABLING; k < CLI_N_SURVIVAL; k++) {
		wilson(row[k], row[CLI_SETS], ends);
		width = fmax(width, ends[1] - ends[0]);
	}
	return width <= 2 * until;
}

static int survival_json(const struct cli_whatif *v, unsigned int row[][CLI_N_SURVIVAL],
			 unsigned int n)
{
	static const char *const key[] = { "failed_links", "sets", "cabling", "local", "after" };
	struct json_object *o = cli_json_new("whatif"), *list, *e, *x;
	double ends[2];

	cli_json_fabric(o, v->f, v->sh);
	cli_json_str(o, "engine", v->in.engine->name);
	list = cli_json_array(o, "faults");
	for (unsigned int i = 0; i < v->fail.n; i++)
		cli_json_text(list, v->fail.v[i]);
	cli_json_num(o, "seed", v->seed);
	cli_json_num(o, "repeat", v->repeat);
	list = cli_json_array(o, "survival");
	for (unsigned int i = 0; i < n; i++) {
		e = cli_json_element(list);
		for (int k = 0; k < CLI_BY_CABLING; k++)
			cli_json_num(e, key[k], row[i][k]);
		for (int k = CLI_BY_CABLING; k < CLI_N_SURVIVAL; k++) {
			wilson(row[i][k], row[i][CLI_SETS], ends);
			x = cli_json_object(e, key[k]);
			cli_json_num(x, "survived", row[i][k]);
			cli_json_real(x, "share_low", ends[0]);
			cli_json_real(x, "share_high", ends[1]);
		}
	}
	return cli_json_end(o, CLI_CLEAN);
}

int cli_whatif_survival(const struct cli_whatif *v, unsigned int row[][CLI_N_SURVIVAL],
			unsigned int n)
{
	char buf[CELL_MAX];
	double ends[2];

	if (v->in.json)
		return survival_json(v, row, n);
	put_head(v);
	printf("percentage of the fault sets that are survived (95 %% confidence interval)\n"
	       "%12s  %6s  %24s  %24s  %24s\n", "failed links", "sets", "cabling", "local repair",
	       "after");
	for (unsigned int i = 0; i < n; i++) {
		printf("%12u  %6u", row[i][CLI_FAILED_LINKS], row[i][CLI_SETS]);
		for (int k = CLI_BY_CABLING; k < CLI_N_SURVIVAL; k++) {
			wilson(row[i][k], row[i][CLI_SETS], ends);
			snprintf(buf, sizeof(buf), "%.2f (%.2f to %.2f)",
				 100.0 * row[i][k] / row[i][CLI_SETS], 100 * ends[0], 100 * ends[1]);
			printf("  %24s", buf);
		}
		putchar('\n');
	}
	return CLI_CLEAN;
}
