// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checks the paths from all switches to 128 LIDs at once.  The 128 entries of a switch are in two
 * adjacent cache lines, nearly always of one page.
 *
 * There is one byte of state per (switch, LID of the block), initially PENDING:
 *
 *	                lid base+0 ... base+127
 *	switch 0            . . . . . .
 *	...
 *	END_SIDE            PENDING, never changed
 *	END_MISSING, ...    MISSING, DEAD, WRONG
 *
 * Pass 1 visits the switches by ascending claimed rank, pass 2 by descending rank.  Each pass sets
 * the state of a switch to the state of its next hop, plus one hop.  If the next hop is PENDING or
 * has the same rank (END_SIDE), the switch stays PENDING.  For one LID, a switch is decided when
 * its state is no longer PENDING.  The states of decided switches are correct:
 *
 *  - Such a state was derived, hop by hop, from the end of the path.  So it is correct whatever the
 *    ranks are.
 *  - If pass 1 decides a switch, pass 1 has decided the next hop before.  So the next hop has a
 *    lower rank, and the path only goes down.
 *  - If pass 2 decides a switch, the next hop has a higher rank.  (Suppose the next hop had
 *    a lower rank.  If pass 1 decided the next hop, it decided the switch later in the same pass.
 *    Otherwise the next hop is still PENDING, because pass 2 visits it after the switch.)  So the
 *    path first goes up to the next hop, whose path is an up/down path.
 *  - At the lowest rank, pass 2 also decides switches at which the path ends.
 *
 * If no state of a LID is PENDING, its paths from all switches are up/down paths, and its
 * dependencies cannot close a cycle (Gliksberg et al. 2020, section 4.1).  Any other LID is checked
 * by walk.c.
 *
 * At switches of the lowest rank, pass 1 does not look at next hops.  It only decides the LIDs of
 * the switch and of its hosts.  If a path to a LID leads down to such a switch and does not arrive
 * there, the LID is checked by walk.c.
 */
#include <string.h>

#include "check/check.h"

#define BATCH CHK_BATCH
#define AHEAD 8			/* rows are prefetched this number of switches ahead */

struct batch {
	uint32_t base;		/* first LID of the block */
	uint32_t n;		/* number of LIDs of the block for which the tables have entries */
	uint8_t own[BATCH];	/* own[i] == 0xff: the i-th LID of the block has an owner */
	uint8_t next[BATCH];	/* next[i]: 1 + index of the next lower LID of the same switch or
				 * its hosts; 0: none */
	ftr_port port[BATCH];	/* port[i]: the port by which packets to the i-th LID leave their
				 * last switch */
	bool any;		/* true: some LID has an owner */
};

/* Set out[] to the states at s of all LIDs of the block, from the states of the next hops.  In the
 * last block, elements beyond the last LID are meaningless. */
static inline void look(const struct chk *c, const uint8_t *state,
			const struct batch *l, ftr_sw s, uint8_t *restrict out)
{
	const uint8_t *row = ftr_tables_row(c->t, s) + l->base;
	const uint32_t *hop = c->hop + (size_t)s * CHK_HOPS;

#pragma GCC unroll 16
	for (uint32_t j = 0; j < l->n; j++)
		out[j] = state[hop[row[j]] + j];
	/* Add one hop. 0x7f + 1 is PENDING. PENDING and greater values do not change. */
	for (uint32_t j = 0; j < BATCH; j++)
		out[j] = (uint8_t)(out[j] + 1 - (out[j] >> 7));
}

/* For each LID of s and of its hosts: if the entry of s is the port to the owner, set the state at
 * s to ST_GOOD. */
static void settle_own(const struct chk *c, struct chk_part *w,
			     const struct batch *l, ftr_sw s)
{
	const uint8_t *row = ftr_tables_row(c->t, s) + l->base;

	for (uint32_t k = w->head[s]; k; k = l->next[k - 1])
		if (row[k - 1] == l->port[k - 1])
			w->state[(size_t)s * BATCH + k - 1] = ST_GOOD;
}

static inline void prefetch_row(const struct chk *c, uint32_t i, uint32_t base)
{
	const uint8_t *row;

	if (i >= c->f->n_sw)
		return;
	row = ftr_tables_row(c->t, c->order[i]) + base;
	__builtin_prefetch(row);
	__builtin_prefetch(row + 64);
}

static void pass_up(const struct chk *c, struct chk_part *w,
		     const struct batch *l)
{
	uint8_t out[BATCH] = { 0 };

	for (uint32_t i = 0; i < c->f->n_sw; i++) {
		ftr_sw s = c->order[i];

		prefetch_row(c, i + AHEAD, l->base);
		if (i >= c->n_lowest) {
			look(c, w->state, l, s, out);
			memcpy(w->state + (size_t)s * BATCH, out, BATCH);
		}
		if (w->head[s])
			settle_own(c, w, l, s);
	}
}

static inline bool any_pending(const uint8_t *st)
{
	uint8_t any = 0;

	for (uint32_t j = 0; j < BATCH; j++)
		any |= st[j] == ST_PENDING;
	return any;
}

static void pass_down(const struct chk *c, struct chk_part *w,
		       const struct batch *l)
{
	uint8_t out[BATCH] = { 0 }, now[BATCH];

	for (uint32_t i = c->f->n_sw; i-- > 0; ) {
		ftr_sw s = c->order[i];
		uint8_t *st = w->state + (size_t)s * BATCH;

		if (!any_pending(st))
			continue;
		look(c, w->state, l, s, out);
		memcpy(now, st, BATCH);
		for (uint32_t j = 0; j < BATCH; j++)
			now[j] = now[j] == ST_PENDING ? out[j] : now[j];
		memcpy(st, now, BATCH);
	}
}

/* Set own, next and port for the LIDs of the block, and w->head. */
static void set_batch(const struct chk *c, struct chk_part *w,
		    struct batch *l, uint32_t base)
{
	memset(l, 0, sizeof(*l));
	l->base = base;
	l->n = FTR_MIN(c->t->stride - base, (uint32_t)BATCH);
	for (uint32_t j = 0; j < BATCH && base + j <= c->f->max_lid; j++) {
		struct ftr_hop x;

		if (c->f->owner[base + j].kind == FTR_OWNER_NONE)
			continue;
		l->own[j] = 0xff;
		l->any = true;
		x = chk_exit_of(c->f, (ftr_lid)(base + j));
		if (x.sw == FTR_SW_NONE)
			continue;
		l->port[j] = x.port;
		l->next[j] = w->head[x.sw];
		w->head[x.sw] = (uint8_t)(j + 1);
	}
}

static void clear_batch(const struct chk *c, struct chk_part *w, uint32_t base)
{
	for (uint32_t j = 0; j < BATCH && base + j <= c->f->max_lid; j++) {
		struct ftr_hop x = chk_exit_of(c->f, (ftr_lid)(base + j));

		if (x.sw != FTR_SW_NONE)
			w->head[x.sw] = 0;
	}
}

/* Combine the states of all switches, for each LID.  any[]: OR of the states.  longest[]: number of
 * hops of the longest path that arrives.  open[]: 0xff if some state is PENDING, otherwise 0. */
static void reduce(const struct chk *c, const struct chk_part *w,
		   uint8_t *restrict any, uint8_t *restrict longest,
		   uint8_t *restrict open)
{
	memset(any, 0, BATCH);
	memset(longest, 0, BATCH);
	memset(open, 0, BATCH);
	for (ftr_sw s = 0; s < c->f->n_sw; s++) {
		const uint8_t *st = w->state + (size_t)s * BATCH;

		for (uint32_t j = 0; j < BATCH; j++) {
			uint8_t good = st[j] < ST_PENDING ? st[j] : 0;

			any[j] |= st[j];
			longest[j] = FTR_MAX(longest[j], good);
			open[j] |= st[j] == ST_PENDING ? 0xff : 0;
		}
	}
}

/* Set w->bad to the switches with a bad state for a LID i of the block with mask[i] != 0, in
 * ascending order.  Returns their number. */
static uint32_t find_bad(const struct chk *c, struct chk_part *w, const uint8_t *mask)
{
	uint32_t n = 0;

	for (ftr_sw s = 0; s < c->f->n_sw; s++) {
		const uint8_t *st = w->state + (size_t)s * BATCH;
		uint8_t any = 0;

		for (uint32_t j = 0; j < BATCH; j++)
			any |= st[j] & mask[j];
		if (any >= ST_PENDING)
			w->bad[n++] = s;
	}
	return n;
}

static void enter_bad(const struct chk *c, struct chk_part *w, uint32_t n, uint32_t base,
		      uint32_t j)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t st = w->state[(size_t)w->bad[i] * BATCH + j];

		if (st > ST_PENDING)
			chk_bad(c, w, w->bad[i], (ftr_lid)(base + j), st);
	}
}

void chk_block(const struct chk *c, struct chk_part *w, uint32_t base)
{
	uint8_t any[BATCH], longest[BATCH], open[BATCH], mask[BATCH];
	struct batch l;
	uint32_t n_bad = 0;
	bool bad = false;

	set_batch(c, w, &l, base);
	if (!l.any)
		return;
	memset(w->state, ST_PENDING, (size_t)c->f->n_sw * BATCH);
	pass_up(c, w, &l);
	pass_down(c, w, &l);
	clear_batch(c, w, base);

	reduce(c, w, any, longest, open);
	for (uint32_t j = 0; j < BATCH; j++) {
		bool fast = l.own[j] && !open[j];

		mask[j] = fast && any[j] >= ST_PENDING ? 0xff : 0;
		bad |= mask[j];
		if (fast)
			w->r.max_hops = FTR_MAX(w->r.max_hops, longest[j]);
	}
	if (bad)
		n_bad = find_bad(c, w, mask);
	for (uint32_t j = 0; j < BATCH; j++)
		if (mask[j])
			enter_bad(c, w, n_bad, base, j);
		else if (l.own[j] && open[j])
			chk_walk_lid(c, w, (ftr_lid)(base + j));
}
