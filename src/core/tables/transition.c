// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Plans the steps in which tables are replaced (<ftr/transition.h>).
 *
 * The LIDs are planned one by one.  Blocks of 64 LIDs in which no switch has a change are skipped.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "tables/write_order.h"
#include <ftr/transition.h>

#define MAX_STEP 120		/* for one LID; twice this number fits below FTR_TRANSITION_LAST */
#define NONE UINT32_MAX

struct plan {
	struct ftr_transition *x;
	ftr_lid lid;
	ftr_sw *differ;		/* [n_sw] switches with a change in the current block */
	ftr_sw *change;		/* [n_sw] switches with a change for the current LID */
	uint32_t *at;		/* [n_sw] index in change[], or NONE */
	struct write_order order;
	uint8_t *urgent;	/* [stride] 1: a changed entry for this LID leads nowhere now */
	uint32_t last[2];	/* greatest step of the LIDs that are not urgent, and of the
				 * urgent ones */
};

static ftr_port entry(const struct ftr_tables *t, ftr_sw s, uint32_t lid)
{
	return ftr_tables_row(t, s)[lid];
}

static bool leads_nowhere(const struct ftr_fabric *f, ftr_sw s, ftr_port p)
{
	return p > f->sw[s].n_ports ||
		(p && ftr_fabric_port(f, s, p)->peer_kind == FTR_PEER_NONE);
}

static bool is_silent(const struct ftr_transition *x, ftr_sw s)
{
	return x->silent && x->silent[s];
}

/* For struct write_order: the next change on the new path of change i. */
static uint32_t next_change(const void *ctx, uint32_t i, uint32_t *base)
{
	const struct plan *z = ctx;
	const struct ftr_transition *x = z->x;
	ftr_sw s = z->change[i];

	(void)base;
	for (uint32_t hops = 0; hops <= x->f->n_sw; hops++) {
		s = ftr_fabric_next(x->f, s, entry(x->to, s, z->lid));
		if (s == FTR_SW_NONE)
			return WRITE_ARRIVES;
		if (z->at[s] == NONE)
			continue;
		if (is_silent(x, s))
			return WRITE_LOST;
		return entry(x->to, s, z->lid) == FTR_PORT_NONE ? WRITE_ARRIVES : z->at[s];
	}
	return WRITE_LOST;
}

static void set_steps(struct plan *z, uint32_t n)
{
	struct ftr_transition *x = z->x;
	bool urgent = false;
	uint32_t last = 0;

	for (uint32_t i = 0; i < n; i++) {
		ftr_sw s = z->change[i];
		uint8_t *step = &x->step[(size_t)s * x->now->stride + z->lid];

		if (is_silent(x, s)) {
			x->n_never++;
			continue;
		}
		if (entry(x->to, s, z->lid) == FTR_PORT_NONE) {
			*step = FTR_TRANSITION_LAST;
			x->n_entries++;
			continue;
		}
		urgent |= leads_nowhere(x->f, s, entry(x->now, s, z->lid));
		write_order_step(&z->order, i);
		if (z->order.step[i] == WRITE_NEVER) {
			*step = FTR_TRANSITION_NEVER;
			x->n_never++;
			continue;
		}
		*step = (uint8_t)z->order.step[i];
		x->n_entries++;
		last = FTR_MAX(last, z->order.step[i]);
	}
	z->urgent[z->lid] = urgent;
	z->last[urgent] = FTR_MAX(z->last[urgent], last);
}

static void plan_lid(struct plan *z, uint32_t n_differ)
{
	const struct ftr_transition *x = z->x;
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_differ; i++) {
		ftr_sw s = z->differ[i];

		if (entry(x->now, s, z->lid) == entry(x->to, s, z->lid))
			continue;
		z->order.step[n] = WRITE_UNKNOWN;
		z->change[n] = s;
		z->at[s] = n++;
	}
	if (n)
		set_steps(z, n);
	for (uint32_t i = 0; i < n; i++)
		z->at[z->change[i]] = NONE;
}

static void plan_block(struct plan *z, uint32_t first)
{
	const struct ftr_transition *x = z->x;
	uint32_t n = 0;

	for (ftr_sw s = 0; s < x->f->n_sw; s++)
		if (memcmp(ftr_tables_row(x->now, s) + first,
			   ftr_tables_row(x->to, s) + first, FTR_LFT_BLOCK))
			z->differ[n++] = s;
	for (uint32_t lid = first; n && lid < first + FTR_LFT_BLOCK; lid++) {
		z->lid = (ftr_lid)lid;
		plan_lid(z, n);
	}
}

/* Move the LIDs that are not urgent behind the urgent ones. */
static void urgent_first(struct plan *z)
{
	struct ftr_transition *x = z->x;

	x->n_steps = z->last[0] + z->last[1];
	for (ftr_sw s = 0; z->last[0] && z->last[1] && s < x->f->n_sw; s++) {
		uint8_t *step = x->step + (size_t)s * x->now->stride;

		for (uint32_t lid = 0; lid < x->now->stride; lid++)
			if (step[lid] != FTR_TRANSITION_NONE && step[lid] < FTR_TRANSITION_LAST &&
			    !z->urgent[lid])
				step[lid] = (uint8_t)(step[lid] + z->last[1]);
	}
}

enum ftr_status ftr_transition_plan(struct ftr_transition *x, struct ftr_err *err)
{
	uint32_t n = x->f->n_sw;
	struct plan z = { .x = x, .order = { .ctx = &z, .next = next_change, .limit = MAX_STEP } };
	struct ftr_arena *a = ftr_arena_new();
	bool ok;

	if (x->step)
		memset(x->step, FTR_TRANSITION_NONE, (size_t)n * x->now->stride);
	else
		x->step = ftr_calloc((size_t)n + 1, x->now->stride);	/* FTR_TRANSITION_NONE is 0 */
	ok = x->step && a && FTR_NEW(a, z.differ, n) && FTR_NEW(a, z.change, n) &&
		FTR_NEW(a, z.at, n) && FTR_ZNEW(a, z.urgent, x->now->stride) &&
		FTR_NEW(a, z.order.step, n) && FTR_NEW(a, z.order.stack, n);
	if (ok) {
		memset(z.at, 0xff, n * sizeof(*z.at));
		x->n_entries = x->n_never = 0;
		for (uint32_t first = 0; first < x->now->stride; first += FTR_LFT_BLOCK)
			plan_block(&z, first);
		urgent_first(&z);
	}
	ftr_arena_free(a);
	return ok ? FTR_OK : ftr_nomem(err, "the order of writes");
}
