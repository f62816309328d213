// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checks the paths to one LID, in tables of any kind.
 *
 * Towards one LID every switch has one next hop.  From each switch without a result the path is
 * followed, and the visited switches are pushed onto a stack.  The walk stops where the path ends,
 * or at a switch that has a result or is on the stack.  If it stops at a switch on the stack, all
 * switches on the stack lead into a loop.  When the walk has stopped, all switches on the stack get
 * their results and are removed from it.  Each switch is pushed once: O(n_sw) per LID.
 *
 * This file also counts turns (a hop up after a hop down) and adds dependencies, because both need
 * col and nxt.
 */
#include <string.h>

#include "check/claims.h"

void chk_column(const struct chk *c, struct chk_part *w, ftr_lid lid)
{
	struct ftr_hop x = chk_exit_of(c->f, lid);
	const uint8_t *entry = c->t->lft + lid;

	for (ftr_sw s = 0; s < c->f->n_sw; s++, entry += c->t->stride) {
		w->col[s] = *entry;
		w->nxt[s] = (uint16_t)chk_row_of(c, s, *entry);
	}
	if (x.sw != FTR_SW_NONE && w->col[x.sw] == x.port)
		w->nxt[x.sw] = (uint16_t)(c->f->n_sw + END_GOOD);
}

const uint8_t chk_end_state[N_ENDS] = {
	[END_SIDE] = ST_PENDING, [END_MISSING] = ST_MISSING, [END_DEAD] = ST_DEAD,
	[END_WRONG] = ST_WRONG, [END_GOOD] = ST_GOOD,
};

/* Follow the path from s, which has no result yet. Set the results of all switches on it. */
static void follow(const struct chk *c, struct chk_part *w, ftr_sw s)
{
	uint32_t depth = 0, x = s, hops = 0;
	uint8_t fate;

	while (x < c->f->n_sw && w->end[x] == ST_PENDING) {
		w->end[x] = ST_ON_PATH;
		w->stack[depth++] = x;
		x = w->nxt[x];
	}
	if (x >= c->f->n_sw) {
		fate = chk_end_state[x - c->f->n_sw];
	} else if (w->end[x] == ST_ON_PATH) {
		fate = ST_LOOP;
	} else {
		fate = w->end[x];
		hops = w->hops[x] + 1;
	}
	while (depth) {
		x = w->stack[--depth];
		w->end[x] = fate;
		w->hops[x] = hops++;
	}
}

/* Count the switches that make a turn: the entry of a switch above leads down to the switch, and
 * the entry of the switch leads up. Claimed turns do not count. */
static void count_turns(const struct chk *c, struct chk_part *w, ftr_lid lid)
{
	const uint8_t *rank = c->rank;

	memset(w->mark, 0, c->f->n_sw);
	for (ftr_sw x = 0; x < c->f->n_sw; x++) {
		uint32_t s = w->nxt[x], y;

		if (s >= c->f->n_sw || rank[s] >= rank[x])
			continue;
		y = w->nxt[s];
		if (y >= c->f->n_sw || rank[y] <= rank[s] || w->mark[s] ||
		    (c->claims && chk_legal(c->claims, x, s, y)))
			continue;
		w->mark[s] = 1;
		chk_found(w, FTR_FIND_TURN, x, s, lid);
	}
}

void chk_follow_lid(const struct chk *c, struct chk_part *w, ftr_lid lid)
{
	chk_column(c, w, lid);
	memset(w->end, ST_PENDING, c->f->n_sw);
	for (ftr_sw s = 0; s < c->f->n_sw; s++)
		if (w->end[s] == ST_PENDING)
			follow(c, w, s);
}

void chk_walk_lid(const struct chk *c, struct chk_part *w, ftr_lid lid)
{
	uint32_t longest = w->r.max_hops;

	chk_follow_lid(c, w, lid);
	for (ftr_sw s = 0; s < c->f->n_sw; s++) {
		if (w->end[s] != ST_GOOD)
			chk_bad(c, w, s, lid, w->end[s]);
		else
			longest = FTR_MAX(longest, w->hops[s]);
	}
	w->r.max_hops = longest;
	if (c->rank)
		count_turns(c, w, lid);
	if (!c->no_cdg)
		chk_cdg_add(c, w, lid);
}
