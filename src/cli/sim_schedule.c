// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The schedule of ibfattree sim: when links and switches fail or return, and when
 * tables are recomputed.
 *
 * The options are sorted by time (at equal times: --fail, --recover, --tables,
 * --reroute) and applied once in that order.  Random faults are therefore drawn from
 * the links and switches that are up at that time, and an engine routes the fabric of that
 * time.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/ddlr_repair.h"
#include "cli/sim.h"

enum step_kind { STEP_FAIL, STEP_RECOVER, STEP_TABLES, STEP_REROUTE };

struct step {
	uint64_t at;
	enum step_kind kind;
	unsigned int nth;	/* index within its option */
	char *what;
};

struct play {
	struct cli_sim_job *j;
	struct step *step;
	unsigned int n;
	struct cli_faults down;	/* faults at the current time */
};

/* ---- faults ------------------------------------------------------------------- */

static enum ftr_status put_switch(struct play *y, const struct step *p,
				  ftr_sw s, bool down, struct ftr_err *err)
{
	const struct ftr_sim_change g = {
		.at = p->at, .sw = s,
		.kind = down ? FTR_SIM_SWITCH_DOWN : FTR_SIM_SWITCH_UP,
	};

	if (y->down.dead_sw[s] == down)
		return FTR_OK;
	y->down.dead_sw[s] = down;
	return cli_sim_add(y->j, &g, err);
}

static enum ftr_status put_link(struct play *y, const struct step *p,
				ftr_sw s, unsigned int port, bool down,
				struct ftr_err *err)
{
	const struct ftr_fabric *f = y->j->f;
	const struct ftr_swport *q = ftr_fabric_port(f, s, port);
	const struct ftr_sim_change g = {
		.at = p->at, .sw = s, .port = (ftr_port)port,
		.kind = down ? FTR_SIM_LINK_DOWN : FTR_SIM_LINK_UP,
	};

	if (y->down.dead_port[f->sw[s].first_port + port] == down)
		return FTR_OK;
	y->down.dead_port[f->sw[s].first_port + port] = down;
	if (q->peer_kind == FTR_PEER_SW)
		y->down.dead_port[f->sw[q->peer].first_port + q->peer_port] =
			down;
	return cli_sim_add(y->j, &g, err);
}

/* Applies all faults marked in z. */
static enum ftr_status put_marked(struct play *y, const struct step *p,
				  const struct cli_faults *z, bool down,
				  struct ftr_err *err)
{
	const struct ftr_fabric *f = y->j->f;
	enum ftr_status st = FTR_OK;

	for (ftr_sw s = 0; !st && s < f->n_sw; s++) {
		if (z->dead_sw[s])
			st = put_switch(y, p, s, down, err);
		for (unsigned int i = 1; !st && i <= f->sw[s].n_ports; i++)
			if (z->dead_port[f->sw[s].first_port + i])
				st = put_link(y, p, s, i, down, err);
	}
	return st;
}

/* Applies the faults by which the fabric `less` differs from the fabric `whole`. */
static enum ftr_status put_missing(struct play *y, const struct step *p,
				   const struct ftr_fabric *whole,
				   const struct ftr_fabric *less,
				   struct ftr_err *err)
{
	enum ftr_status st = FTR_OK;

	for (ftr_sw s = 0; !st && s < whole->n_sw; s++) {
		ftr_sw here = ftr_fabric_find_sw(y->j->f, whole->sw[s].guid);
		ftr_sw there = ftr_fabric_find_sw(less, whole->sw[s].guid);

		if (there == FTR_SW_NONE) {
			st = put_switch(y, p, here, true, err);
			continue;
		}
		for (unsigned int i = 1; !st && i <= whole->sw[s].n_ports;
		     i++) {
			const struct ftr_swport *q =
				ftr_fabric_port(whole, s, i);

			if (q->peer_kind != FTR_PEER_SW ||
			    ftr_fabric_find_sw(less, whole->sw[q->peer].guid)
			    == FTR_SW_NONE)
				continue;
			if (ftr_fabric_port(less, there, i)
			    ->peer_kind == FTR_PEER_NONE)
				st = put_link(y, p, here, i, true, err);
		}
	}
	return st;
}

static enum ftr_status draw(struct play *y, const struct step *p,
			    uint32_t links, uint32_t switches,
			    struct ftr_err *err)
{
	const struct cli_list none = { 0 };
	struct cli_faults z = { 0 };
	struct ftr_fabric *now = NULL, *less = NULL;
	enum ftr_status st = cli_faults_apply(y->j->f, &y->down, 0, &now, err);

	if (!st)
		st = cli_faults_parse(now, "fail", &none, &z, err);
	if (!st) {
		z.links = links;
		z.switches = switches;
		st = cli_faults_apply(now, &z, y->j->o->seed + p->nth, &less,
				      err);
	}
	if (!st)
		st = put_missing(y, p, now, less, err);
	cli_faults_free(&z);
	ftr_fabric_free(now);
	ftr_fabric_free(less);
	return st;
}

static enum ftr_status fail(struct play *y, const struct step *p,
			    struct ftr_err *err)
{
	const struct cli_list one = { 1, { p->what } };
	struct cli_faults z = { 0 };
	enum ftr_status st = cli_faults_parse(y->j->f, "fail", &one, &z, err);

	if (!st)
		st = put_marked(y, p, &z, true, err);
	if (!st && (z.links || z.switches))
		st = draw(y, p, z.links, z.switches, err);
	cli_faults_free(&z);
	return st;
}

static enum ftr_status recover(struct play *y, const struct step *p,
			       struct ftr_err *err)
{
	const struct cli_list one = { 1, { p->what } };
	struct cli_faults z = { 0 };
	enum ftr_status st;

	if (!strcmp(p->what, "all"))
		return put_marked(y, p, &y->down, false, err);
	st = cli_faults_parse(y->j->f, "recover", &one, &z, err);
	if (!st && (z.links || z.switches))
		st = ftr_fail(err, FTR_INVAL, "--recover %s: expected a named fault, or all",
			      p->what);
	if (!st)
		st = put_marked(y, p, &z, false, err);
	cli_faults_free(&z);
	return st;
}

/* ---- tables --------------------------------------------------------------------- */

static enum ftr_status put_tables(struct play *y, const struct step *p,
				  struct ftr_tables *t, struct ftr_err *err)
{
	const struct ftr_sim_change g = {
		.at = p->at, .kind = FTR_SIM_TABLES, .tables = t,
	};

	y->j->later[y->j->n_later++] = t;
	return cli_sim_add(y->j, &g, err);
}

static enum ftr_status reroute(struct play *y, const struct step *p,
			       struct ftr_err *err)
{
	struct ftr_fabric *now = NULL;
	struct ftr_shape *sh = NULL;
	struct ftr_tables *t = NULL, *all = NULL;
	enum ftr_status st = cli_faults_apply(y->j->f, &y->down, 0, &now, err);

	if (!st)
		st = cli_sim_route(y->j, now, &sh, &t, err);
	if (!st)
		st = cli_carry_tables(now, t, y->j->f, &all, err);
	if (!st)
		st = put_tables(y, p, all, err);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(now);
	return st;
}

static enum ftr_status other_tables(struct play *y, const struct step *p,
				    struct ftr_err *err)
{
	struct ftr_tables *t = NULL;
	enum ftr_status st = cli_read_lfts(p->what, y->j->f, &t, NULL, err);

	return st ? st : put_tables(y, p, t, err);
}

/* ---- all of it --------------------------------------------------------------------- */

static enum ftr_status take(struct play *y, const char *option,
			    enum step_kind kind, const struct cli_list *list,
			    struct ftr_err *err)
{
	enum ftr_status st = FTR_OK;

	for (unsigned int i = 0; !st && i < list->n; i++) {
		struct step *p = &y->step[y->n];

		p->kind = kind;
		p->nth = i;
		if (kind == STEP_REROUTE)
			st = cli_sim_time(option, list->v[i], &p->at, err);
		else
			st = cli_sim_at(option, list->v[i], &p->what, &p->at,
					err);
		if (!st)
			y->n++;
		if (!st && p->at >= y->j->conf.warm_ps + y->j->conf.run_ps)
			st = ftr_fail(err, FTR_INVAL, "sim: --%s %s: the run ends before this time",
				      option, list->v[i]);
	}
	return st;
}

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	return x->nth < y->nth ? -1 : 1;
}

static enum ftr_status play(struct play *y, struct ftr_err *err)
{
	enum ftr_status st = FTR_OK;

	qsort(y->step, y->n, sizeof(*y->step), by_time);
	for (unsigned int i = 0; !st && i < y->n; i++) {
		const struct step *p = &y->step[i];

		if (p->kind == STEP_FAIL)
			st = fail(y, p, err);
		else if (p->kind == STEP_RECOVER)
			st = recover(y, p, err);
		else if (p->kind == STEP_TABLES)
			st = other_tables(y, p, err);
		else
			st = reroute(y, p, err);
	}
	return st;
}

enum ftr_status cli_sim_schedule(struct cli_sim_job *j, struct ftr_err *err)
{
	static struct step step[4 * CLI_LIST_MAX];
	const struct cli_sim *o = j->o;
	const struct cli_list none = { 0 };
	struct play y = { .j = j, .step = step };
	uint64_t at = 0;
	enum ftr_status st = cli_faults_parse(j->f, "fail", &none, &y.down, err);

	if (!st)
		st = take(&y, "fail", STEP_FAIL, &o->fail, err);
	if (!st)
		st = take(&y, "recover", STEP_RECOVER, &o->recover, err);
	if (!st)
		st = take(&y, "tables", STEP_TABLES, &o->tables, err);
	if (!st)
		st = take(&y, "reroute", STEP_REROUTE, &o->reroute, err);
	if (!st)
		st = play(&y, err);
	if (!st)
		st = cli_sim_time("events-at", o->events_at, &at, err);
	for (unsigned int i = 0; !st && i < o->events.n; i++)
		st = cli_sim_events(j, o->events.v[i], at, err);
	for (unsigned int i = 0; i < y.n; i++)
		free(step[i].what);
	cli_faults_free(&y.down);
	j->conf.change = j->change;
	j->conf.n_changes = j->n_changes;
	return st;
}
