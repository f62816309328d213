// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The schedule of ibfattree simulate: when links and switches fail or return, and when tables
 * change.
 *
 * The file has records that end with a NUL byte: TIME KIND NUMBER TEXT.  The kinds:
 *
 *	h	NUMBER: index of a host port, a hot spot
 *	f	--fail TEXT; NUMBER: its place among the options --fail
 *	r	--recover TEXT
 *	t	--tables TEXT
 *	n	--reroute (new tables)
 *	c	a link or an entry changes; NUMBER: index of the switch; TEXT: "EVENT PORT LID", where
 *		EVENT is the number of an enum ftr_sim_change_kind
 *
 * They are applied in their order, which ibfattree-sim has sorted.  So random faults are drawn from
 * the links and switches that are up at that time, and new tables are those for the fabric as it is
 * at that time.  Both ignore records of the kind c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ddlr_repair.h"
#include "cli/sim.h"

/* ---- faults ------------------------------------------------------------------- */

static void put_switch(struct cli_sim *j, ftr_sw s, bool down)
{
	const struct ftr_sim_change g = {
		.at = j->at, .sw = s,
		.kind = down ? FTR_SIM_SWITCH_DOWN : FTR_SIM_SWITCH_UP,
	};

	if (j->down.dead_sw[s] == down)
		return;
	j->down.dead_sw[s] = down;
	cli_sim_add(j, &g);
	if (down && j->now)
		cli_sim_clear(j, s);
}

static void put_link(struct cli_sim *j, ftr_sw s, unsigned int port, bool down)
{
	const struct ftr_fabric *f = j->conf.f;
	const struct ftr_swport *q = ftr_fabric_port(f, s, port);
	const struct ftr_sim_change g = {
		.at = j->at, .sw = s, .port = (ftr_port)port,
		.kind = down ? FTR_SIM_LINK_DOWN : FTR_SIM_LINK_UP,
	};

	if (j->down.dead_port[f->sw[s].first_port + port] == down)
		return;
	j->down.dead_port[f->sw[s].first_port + port] = down;
	if (q->peer_kind == FTR_PEER_SW)
		j->down.dead_port[f->sw[q->peer].first_port + q->peer_port] = down;
	cli_sim_add(j, &g);
}

/* Takes down the links and switches that are marked in z, or restores them if `down` is false. */
static void put_marked(struct cli_sim *j, const struct cli_faults *z, bool down)
{
	const struct ftr_fabric *f = j->conf.f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		if (z->dead_sw[s])
			put_switch(j, s, down);
		for (unsigned int i = 1; i <= f->sw[s].n_ports; i++)
			if (z->dead_port[f->sw[s].first_port + i])
				put_link(j, s, i, down);
	}
}

/* Takes down the switches, and the links between switches, that are not in the fabric `less`. */
static void put_missing(struct cli_sim *j, const struct ftr_fabric *less)
{
	const struct ftr_fabric *f = j->conf.f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		ftr_sw there = ftr_fabric_find_sw(less, f->sw[s].guid);

		if (there == FTR_SW_NONE) {
			put_switch(j, s, true);
			continue;
		}
		for (unsigned int i = 1; i <= f->sw[s].n_ports; i++) {
			const struct ftr_swport *q = ftr_fabric_port(f, s, i);

			if (q->peer_kind == FTR_PEER_SW &&
			    ftr_fabric_find_sw(less, f->sw[q->peer].guid) != FTR_SW_NONE &&
			    ftr_fabric_port(less, there, i)->peer_kind == FTR_PEER_NONE)
				put_link(j, s, i, true);
		}
	}
}

/* Draws the random faults of z and applies them. */
static void draw(struct cli_sim *j, const struct cli_faults *z)
{
	struct cli_faults all = j->down;
	struct ftr_fabric *less;

	all.links = z->links;
	all.switches = z->switches;
	less = cli_faults_apply(j->conf.f, &all, j->conf.seed + j->number);
	put_missing(j, less);
	ftr_fabric_free(less);
}

static void fail(struct cli_sim *j, char *what)
{
	const struct cli_list one = { 1, { what } };
	struct cli_faults z = cli_faults_parse(j->conf.f, "fail", &one);

	put_marked(j, &z, true);
	if (z.links || z.switches)
		draw(j, &z);
	cli_faults_free(&z);
}

static void recover(struct cli_sim *j, char *what)
{
	const struct cli_list one = { 1, { what } };
	struct cli_faults z;

	if (!strcmp(what, "all")) {
		put_marked(j, &j->down, false);
		return;
	}
	z = cli_faults_parse(j->conf.f, "recover", &one);
	if (z.links || z.switches)
		cli_die("--recover %s: expected a switch, a link or the word 'all'", what);
	put_marked(j, &z, false);
	cli_faults_free(&z);
}

/* ---- tables --------------------------------------------------------------------- */

static void put_tables(struct cli_sim *j, struct ftr_tables *t)
{
	const struct ftr_sim_change g = {
		.at = j->at, .kind = FTR_SIM_TABLES, .tables = t,
	};

	if (!j->now) {
		cli_sim_add(j, &g);
		return;
	}
	cli_sim_write(j, t);
	for (ftr_sw s = 0; s < t->n_sw; s++)
		if (!j->down.dead_sw[s])
			memcpy(ftr_tables_row(j->now, s), ftr_tables_row(t, s), t->stride);
	ftr_tables_free(t);
}

static void reroute(struct cli_sim *j)
{
	struct ftr_fabric *now = cli_faults_apply(j->conf.f, &j->down, 0);
	struct ftr_shape *sh = NULL;
	struct ftr_tables *t = cli_sim_route(j, now, &sh);

	put_tables(j, cli_carry_tables(now, t, j->conf.f));
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(now);
}

/* ---- the schedule ------------------------------------------------------------------ */

static void change(struct cli_sim *j, const char *text)
{
	struct ftr_sim_change g = { .at = j->at, .sw = j->number };
	unsigned int kind = 0, port = 0, lid = 0;

	sscanf(text, "%u %u %u", &kind, &port, &lid);
	g.kind = kind;
	g.port = (ftr_port)port;
	g.lid = (ftr_lid)lid;
	cli_sim_add(j, &g);
}

static void apply(struct cli_sim *j, char *record)
{
	char kind = 0, *text;
	int n = 0;

	sscanf(record, "%" SCNu64 " %c %u%n", &j->at, &kind, &j->number, &n);
	text = record + n + 1;
	if (kind == 'h' && j->conf.traffic.n_hot < CLI_LIST_MAX)
		j->hot[j->conf.traffic.n_hot++] = j->number;
	else if (kind == 'f')
		fail(j, text);
	else if (kind == 'r')
		recover(j, text);
	else if (kind == 't')
		put_tables(j, cli_read_lfts(text, j->conf.f, NULL));
	else if (kind == 'n')
		reroute(j);
	else
		change(j, text);
}

void cli_sim_schedule(struct cli_sim *j)
{
	const struct cli_list none = { 0 };
	FILE *in;
	char *record = NULL;
	size_t size = 0;

	j->down = cli_faults_parse(j->conf.f, "fail", &none);
	if (j->write_ps)
		j->now = cli_carry_tables(j->conf.f, j->conf.t, j->conf.f);
	in = fopen(j->schedule, "re");
	while (in && getdelim(&record, &size, '\0', in) > 0)
		apply(j, record);
	if (!in || !feof(in))
		cli_die("cannot read %s: %s", j->schedule, strerror(errno));
	fclose(in);
	free(record);
	cli_faults_free(&j->down);
	ftr_tables_free(j->now);
	j->conf.traffic.hot = j->hot;
	j->conf.change = j->change;
	j->conf.n_changes = j->n_changes;
}
