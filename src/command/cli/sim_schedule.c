// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The schedule of ibfattree sim: when links and switches fail or return, and when
 * tables are recomputed.
 *
 * The options are applied in the order of their times (at equal times: first --fail, then
 * --recover, --tables, --reroute).  So random faults are drawn from the links and
 * switches that are up at that time, and --reroute routes the fabric as it is at
 * that time.  The draws and --reroute ignore the faults in
 * events files (--events).
 */
#include <stdlib.h>
#include <string.h>

#include "cli/ddlr_repair.h"
#include "cli/sim.h"

enum step_kind { STEP_FAIL, STEP_RECOVER, STEP_TABLES, STEP_REROUTE };

struct step {
	uint64_t at;
	enum step_kind kind;
	unsigned int nth;	/* index among the values of the option, from 0 */
	char *what;
};

struct play {
	struct cli_sim *j;
	struct step *step;
	unsigned int n;
	struct cli_faults down;	/* faults at the current time */
	struct ftr_tables *now;	/* with --write-time: the tables at the current time */
};

/* ---- faults ------------------------------------------------------------------- */

static void put_switch(struct play *y, const struct step *p, ftr_sw s, bool down)
{
	const struct ftr_sim_change g = {
		.at = p->at, .sw = s,
		.kind = down ? FTR_SIM_SWITCH_DOWN : FTR_SIM_SWITCH_UP,
	};

	if (y->down.dead_sw[s] == down)
		return;
	y->down.dead_sw[s] = down;
	cli_must(cli_sim_add(y->j, &g, &cli_err));
	if (down && y->now)
		cli_sim_clear(y->j, p->at, y->now, s);
}

static void put_link(struct play *y, const struct step *p, ftr_sw s, unsigned int port, bool down)
{
	const struct ftr_fabric *f = y->j->conf.f;
	const struct ftr_swport *q = ftr_fabric_port(f, s, port);
	const struct ftr_sim_change g = {
		.at = p->at, .sw = s, .port = (ftr_port)port,
		.kind = down ? FTR_SIM_LINK_DOWN : FTR_SIM_LINK_UP,
	};

	if (y->down.dead_port[f->sw[s].first_port + port] == down)
		return;
	y->down.dead_port[f->sw[s].first_port + port] = down;
	if (q->peer_kind == FTR_PEER_SW)
		y->down.dead_port[f->sw[q->peer].first_port + q->peer_port] =
			down;
	cli_must(cli_sim_add(y->j, &g, &cli_err));
}

/* Takes down the links and switches that are marked in z, or restores them if `down` is false. */
static void put_marked(struct play *y, const struct step *p, const struct cli_faults *z, bool down)
{
	const struct ftr_fabric *f = y->j->conf.f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		if (z->dead_sw[s])
			put_switch(y, p, s, down);
		for (unsigned int i = 1; i <= f->sw[s].n_ports; i++)
			if (z->dead_port[f->sw[s].first_port + i])
				put_link(y, p, s, i, down);
	}
}

/* Takes down the switches, and the links between switches, that are in the fabric `whole` but not
 * in the fabric `less`. */
static void put_missing(struct play *y, const struct step *p, const struct ftr_fabric *whole,
			const struct ftr_fabric *less)
{
	for (ftr_sw s = 0; s < whole->n_sw; s++) {
		ftr_sw here = ftr_fabric_find_sw(y->j->conf.f, whole->sw[s].guid);
		ftr_sw there = ftr_fabric_find_sw(less, whole->sw[s].guid);

		if (there == FTR_SW_NONE) {
			put_switch(y, p, here, true);
			continue;
		}
		for (unsigned int i = 1; i <= whole->sw[s].n_ports; i++) {
			const struct ftr_swport *q =
				ftr_fabric_port(whole, s, i);

			if (q->peer_kind != FTR_PEER_SW ||
			    ftr_fabric_find_sw(less, whole->sw[q->peer].guid) == FTR_SW_NONE)
				continue;
			if (ftr_fabric_port(less, there, i) ->peer_kind == FTR_PEER_NONE)
				put_link(y, p, here, i, true);
		}
	}
}

/* Draws the random faults of z and applies them. */
static void draw(struct play *y, const struct step *p, const struct cli_faults *z)
{
	const struct cli_list none = { 0 };
	struct ftr_fabric *now = cli_faults_apply(y->j->conf.f, &y->down, 0), *less;
	struct cli_faults random = cli_faults_parse(now, "fail", &none);

	random.links = z->links;
	random.switches = z->switches;
	less = cli_faults_apply(now, &random, y->j->conf.seed + p->nth);
	put_missing(y, p, now, less);
	cli_faults_free(&random);
	ftr_fabric_free(now);
	ftr_fabric_free(less);
}

static void fail(struct play *y, const struct step *p)
{
	const struct cli_list one = { 1, { p->what } };
	struct cli_faults z = cli_faults_parse(y->j->conf.f, "fail", &one);

	put_marked(y, p, &z, true);
	if (z.links || z.switches)
		draw(y, p, &z);
	cli_faults_free(&z);
}

static void recover(struct play *y, const struct step *p)
{
	const struct cli_list one = { 1, { p->what } };
	struct cli_faults z;

	if (!strcmp(p->what, "all")) {
		put_marked(y, p, &y->down, false);
		return;
	}
	z = cli_faults_parse(y->j->conf.f, "recover", &one);
	if (z.links || z.switches)
		cli_die("--recover %s: expected a switch, a link or the word 'all'", p->what);
	put_marked(y, p, &z, false);
	cli_faults_free(&z);
}

/* ---- tables --------------------------------------------------------------------- */

static void put_tables(struct play *y, const struct step *p, struct ftr_tables *t)
{
	const struct ftr_sim_change g = {
		.at = p->at, .kind = FTR_SIM_TABLES, .tables = t,
	};

	if (!y->now) {
		cli_must(cli_sim_add(y->j, &g, &cli_err));
		return;
	}
	cli_sim_write(y->j, p->at, y->now, t, y->down.dead_sw);
	for (ftr_sw s = 0; s < t->n_sw; s++)
		if (!y->down.dead_sw[s])
			memcpy(ftr_tables_row(y->now, s), ftr_tables_row(t, s), t->stride);
	ftr_tables_free(t);
}

static void reroute(struct play *y, const struct step *p)
{
	struct ftr_fabric *now = cli_faults_apply(y->j->conf.f, &y->down, 0);
	struct ftr_shape *sh = NULL;
	struct ftr_tables *t = cli_sim_route(y->j, now, &sh);

	put_tables(y, p, cli_carry_tables(now, t, y->j->conf.f));
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(now);
}

static void other_tables(struct play *y, const struct step *p)
{
	put_tables(y, p, cli_read_lfts(p->what, y->j->conf.f, NULL));
}

/* ---- the schedule ------------------------------------------------------------------ */

/* Adds a step for each value of an option: "WHAT@TIME", or "TIME" for --reroute. */
static void take(struct play *y, const char *option, enum step_kind kind,
		 const struct cli_list *list)
{
	for (unsigned int i = 0; i < list->n; i++) {
		struct step *p = &y->step[y->n++];
		const char *text = list->v[i], *at = strrchr(text, '@');

		*p = (struct step){ .kind = kind, .nth = i };
		if (kind != STEP_REROUTE) {
			if (!at || at == text)
				cli_die("sim: --%s expects WHAT@TIME, not '%s'", option, text);
			if (asprintf(&p->what, "%.*s", (int)(at - text), text) < 0)
				cli_die("out of memory for --%s", option);
			text = at + 1;
		}
		p->at = cli_time("sim", option, text);
		if (p->at >= y->j->conf.warm_ps + y->j->conf.run_ps)
			cli_die("sim: --%s %s: the run ends before this time", option, list->v[i]);
	}
}

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	return FTR_ORDER(x->at, y->at) ?: FTR_ORDER(x->kind, y->kind) ?: FTR_ORDER(x->nth, y->nth);
}

void cli_sim_schedule(struct cli_sim *j)
{
	static void (*const apply[])(struct play *, const struct step *) = {
		[STEP_FAIL] = fail, [STEP_RECOVER] = recover,
		[STEP_TABLES] = other_tables, [STEP_REROUTE] = reroute,
	};
	static struct step step[4 * CLI_LIST_MAX];
	const struct cli_list none = { 0 };
	struct play y = {
		.j = j, .step = step,
		.down = cli_faults_parse(j->conf.f, "fail", &none),
	};

	if (j->write_ps)
		y.now = cli_carry_tables(j->conf.f, j->conf.t, j->conf.f);
	take(&y, "fail", STEP_FAIL, &j->fail);
	take(&y, "recover", STEP_RECOVER, &j->recover);
	take(&y, "tables", STEP_TABLES, &j->tables);
	take(&y, "reroute", STEP_REROUTE, &j->reroute);
	qsort(step, y.n, sizeof(*step), by_time);
	for (unsigned int i = 0; i < y.n; i++) {
		apply[step[i].kind](&y, &step[i]);
		free(step[i].what);
	}
	for (unsigned int i = 0; i < j->events.n; i++)
		cli_must(cli_sim_events(j, j->events.v[i], &cli_err));
	cli_faults_free(&y.down);
	ftr_tables_free(y.now);
	j->conf.change = j->change;
	j->conf.n_changes = j->n_changes;
}
