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
	if (j->n_changes == CHANGES_MAX)
		cli_die("more than %u changes of links and entries", CHANGES_MAX);
	if (j->n_changes == j->cap_changes) {
		j->cap_changes = j->cap_changes ? 2 * j->cap_changes : 64;
		j->change = realloc(j->change, j->cap_changes * sizeof(*j->change));
		if (!j->change)
			cli_die("out of memory for %u changes", j->cap_changes);
	}
	j->change[j->n_changes++] = *g;
}

struct writes {
	struct cli_sim *j;
	struct ftr_transition x;
	uint64_t at;
};

/* Write the entries of a block that differ; if the order is planned, only those with this step. */
static void write_block(struct writes *w, ftr_sw s, uint32_t block, uint8_t step)
{
	const struct ftr_transition *x = &w->x;
	const uint8_t *now = ftr_tables_row(x->now, s), *to = ftr_tables_row(x->to, s);
	struct ftr_sim_change g = { .at = w->at, .kind = FTR_SIM_ENTRY, .sw = s };
	uint32_t before = w->j->n_changes, first = block * FTR_LFT_BLOCK;

	for (uint32_t lid = first; lid < first + FTR_LFT_BLOCK; lid++) {
		if (now[lid] == to[lid] || lid > x->now->max_lid)
			continue;
		if (x->step && x->step[(size_t)s * x->now->stride + lid] != step)
			continue;
		g.lid = (ftr_lid)lid;
		g.port = to[lid];
		cli_sim_add(w->j, &g);
	}
	if (w->j->n_changes > before)
		w->at += w->j->write_ps;
}

static void write_step(struct writes *w, uint8_t step)
{
	for (uint32_t b = 0; b < w->x.now->stride / FTR_LFT_BLOCK; b++)
		for (ftr_sw s = 0; s < w->x.f->n_sw; s++)
			if (!w->x.silent[s])
				write_block(w, s, b, step);
}

void cli_sim_write(struct cli_sim *j, uint64_t at, const struct ftr_tables *now,
		   const struct ftr_tables *to, const uint8_t *down)
{
	struct writes w = {
		.j = j, .at = at,
		.x = { .f = j->conf.f, .now = now, .to = to, .silent = down },
	};

	if (j->plain) {
		write_step(&w, FTR_TRANSITION_NONE);
		return;
	}
	cli_must(ftr_transition_plan(&w.x, &cli_err));
	for (uint32_t step = 1; step <= w.x.n_steps; step++)
		write_step(&w, (uint8_t)step);
	write_step(&w, FTR_TRANSITION_LAST);
	free(w.x.step);
}

void cli_sim_clear(struct cli_sim *j, uint64_t at, struct ftr_tables *now, ftr_sw s)
{
	uint8_t *row = ftr_tables_row(now, s);
	struct ftr_sim_change g = {
		.at = at, .kind = FTR_SIM_ENTRY, .sw = s, .port = FTR_PORT_NONE,
	};

	for (uint32_t lid = 1; lid <= now->max_lid; lid++) {
		if (row[lid] == FTR_PORT_NONE)
			continue;
		g.lid = (ftr_lid)lid;
		row[lid] = FTR_PORT_NONE;
		cli_sim_add(j, &g);
	}
}
