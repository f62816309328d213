// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The list of changes, and --write-time: new tables reach the switches block by block, as a subnet
 * manager writes them.
 *
 * With "--write-order plain", the order is that of OpenSM: block after block of 64 LIDs, and within
 * a block number, switch after switch by ascending GUID.  With "ordered", it is the order in which
 * the plugin writes (<ftr/transition.h>), except that the plugin also begins with the LIDs whose
 * paths lead over a failed link.  A switch that is down gets no entries, and has lost its table
 * when it returns.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/sim.h"
#include <ftr/transition.h>

/* Maximum number of changes; no simulation needs that many. */
#define CHANGES_MAX (4u << 20)

void cli_sim_add(struct cli_sim *j, const struct ftr_sim_change *g)
{
	if (j->n_changes == CHANGES_MAX)	/* not covered: takes minutes */
		cli_die("more than %u changes of links and entries", CHANGES_MAX);
	if (j->n_changes == j->cap_changes) {
		j->cap_changes = j->cap_changes ? 2 * j->cap_changes : 64;
		j->change = realloc(j->change, j->cap_changes * sizeof(*j->change));
		if (!j->change)
			cli_die("out of memory for %u changes", j->cap_changes);
	}
	j->change[j->n_changes++] = *g;
}

/* Write the entries of a block of g->sw that differ, at g->at; if the order is planned, only those
 * with this step.  Sets g->at to the time of the next write. */
static void write_block(struct cli_sim *j, const struct ftr_transition *x,
			struct ftr_sim_change *g, uint32_t block, uint8_t step)
{
	const uint8_t *now = ftr_tables_row(x->now, g->sw), *to = ftr_tables_row(x->to, g->sw);
	uint32_t before = j->n_changes, first = block * FTR_LFT_BLOCK;

	for (uint32_t lid = first; lid < first + FTR_LFT_BLOCK; lid++) {
		if (now[lid] == to[lid] || lid > x->now->max_lid)
			continue;
		if (x->step && x->step[(size_t)g->sw * x->now->stride + lid] != step)
			continue;
		g->lid = (ftr_lid)lid;
		g->port = to[lid];
		cli_sim_add(j, g);
	}
	if (j->n_changes > before)
		g->at += j->write_ps;
}

static void write_step(struct cli_sim *j, const struct ftr_transition *x,
		       struct ftr_sim_change *g, uint8_t step)
{
	for (uint32_t b = 0; b < x->now->stride / FTR_LFT_BLOCK; b++)
		for (g->sw = 0; g->sw < x->f->n_sw; g->sw++)
			if (!x->silent[g->sw])
				write_block(j, x, g, b, step);
}

void cli_sim_write(struct cli_sim *j, const struct ftr_tables *to)
{
	struct ftr_transition x = {
		.f = j->conf.f, .now = j->now, .to = to, .silent = j->down.dead_sw,
	};
	struct ftr_sim_change g = { .at = j->at, .kind = FTR_SIM_ENTRY };

	if (j->plain) {
		write_step(j, &x, &g, FTR_TRANSITION_NONE);
		return;
	}
	cli_must(ftr_transition_plan(&x, &cli_err));
	for (uint32_t step = 1; step <= x.n_steps; step++)
		write_step(j, &x, &g, (uint8_t)step);
	write_step(j, &x, &g, FTR_TRANSITION_LAST);
	free(x.step);
}

void cli_sim_clear(struct cli_sim *j, ftr_sw s)
{
	uint8_t *row = ftr_tables_row(j->now, s);
	struct ftr_sim_change g = {
		.at = j->at, .kind = FTR_SIM_ENTRY, .sw = s, .port = FTR_PORT_NONE,
	};

	for (uint32_t lid = 1; lid <= j->now->max_lid; lid++) {
		if (row[lid] == FTR_PORT_NONE)
			continue;
		g.lid = (ftr_lid)lid;
		row[lid] = FTR_PORT_NONE;
		cli_sim_add(j, &g);
	}
}
