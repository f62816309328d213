// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Option "transition ordered": writes the tables of a routing in a checked order, before OpenSM
 * writes anything.
 *
 * OpenSM writes the blocks of new tables in no particular order.  Until all are written, the
 * switches hold a mixture of old and new entries.  A packet may reach a switch that has no entry
 * for its LID, and the mixture may have a credit loop although neither the old nor the new tables
 * have one.  So the plugin writes the new entries itself, in steps (<ftr/transition.h>).  If a pair
 * of hosts has a path in the old and in the new tables, it has a path after every write.
 *
 * Two designs were considered:
 *
 *	(a) OpenSM gets the old tables, and a thread of the plugin applies the difference after the
 *	    sweep, as the fast path does.  Nothing waits.  But old tables that fit the present fabric
 *	    do not always exist: links have failed, and hosts and switches are new.  Then OpenSM
 *	    would need a third kind of tables, which must be free of credit loops with the old and
 *	    with the new ones.  And during the transition, the answers of OpenSM's SA and the trees
 *	    of multicast groups would follow tables that are about to change.
 *	(b) The routing callback writes the difference, and OpenSM's own distribution then finds
 *	    nothing to write.
 *
 * This file is design (b), because each routing then has one set of new tables, as before, and if
 * anything goes wrong, OpenSM's distribution completes it.
 *
 * OpenSM calls the routing callback with its lock held.  commit.c has already stored the new tables
 * in new_lft.  The lock is released while packets travel, and taken again afterwards.  This may
 * happen meanwhile:
 *
 * - The SA answers queries by new_lft, that is, by the new tables.  This is also so in OpenSM
 *   between the routing and the end of its distribution.
 * - Traps arrive.  The fast path queues them, as in every routing.  A repair follows the sweep.
 * - Hosts join multicast groups.  OpenSM builds their trees later, in the sweeper's thread, which
 *   is the thread of this callback.
 * - This manager loses the mastership, or OpenSM exits.  The transition then ends after the current
 *   packets.
 * - A write of the fast path is not over yet.  (Only a reroute can begin during such a write.)  The
 *   callback waits for its end, and reads the blocks of this write from the switches.
 *
 * Nothing else changes OpenSM's switches, their ports and tables: only the sweeper's thread does,
 * and the fast path outside of routings.
 *
 * The old tables are those in lft, OpenSM's copy of what the switches have acknowledged.  A block
 * of lft is not known if it has entries that no table can have: OpenSM clears a block before it
 * writes it, and patch.c marks it as unknown.  Such blocks, and the tables of switches that are new
 * to OpenSM, are read from the switches.  When this manager becomes master, lft is empty.  Then the
 * first routing is written in order only if the tables of all switches are read, by option
 * "takeover ordered" or "adopt yes".
 *
 * Links whose ports are not Active carry no data, and OpenSM activates them only after its
 * distribution.  So while tables are in use, a routing leaves out such links between switches
 * (snapshot.c).  When the sweep is done, the plugin requests a reroute, which adds them.  So the
 * links of a switch that returns become Active, it gets its table, and only then its neighbours
 * send packets through it.  Hosts of a leaf that returns get their paths in this reroute.  If the
 * fabric cannot be routed without these links, it is routed with them, because OpenSM activates no
 * link if no engine routes.
 *
 * Steps.  If the channel dependencies of all states during the steps of <ftr/transition.h> have no
 * cycle (<ftr/cdg.h>), these steps suffice.
 * Otherwise the planner of ddlr (<ftr/ddlr.h>) changes LID after LID, and packets in flight are
 * waited for.  LIDs that no order can change without a possible credit loop are changed last, so
 * that at least no packet is lost or loops.
 *
 * A switch that does not acknowledge a write is left to OpenSM from then on, and the remaining
 * steps are planned again: no entry is written whose new path needs an unwritten entry of this
 * switch.  All packets to a switch take the same route, so the switch carries them out in the order
 * in which they were sent.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "osm/blocks.h"
#include "osm/clock.h"
#include "osm/fast.h"
#include <ftr/cdg.h>
#include <ftr/ddlr.h>
#include <ftr/transition.h>

extern volatile unsigned int osm_exit_flag;

#define READ_LIMIT_MS 1000	/* time for reading unknown blocks */
#define BATCH 1024		/* number of blocks per call of ibf_smp_run */
#define WINDOW_MAX 64		/* greatest number of packets in flight */
#define TRIES 3

struct change {
	struct ibf_plugin *p;
	const struct ibf_generation *gen;
	const struct ftr_fabric *f;	/* with drained links: old entries may lead over them */
	struct ibf_blocks b;
	struct ftr_transition plan;	/* now: a copy of the tables of the switches */
	struct ftr_tables *now;
	uint8_t *silent;	/* [n_sw] 1: the switch has not acknowledged a write, or no route
				 * leads to it */
	double start, end;	/* by ibf_now_ms(); no step begins after `end` */
	uint64_t entries, blocks;
	uint32_t steps, rounds;
	uint32_t failed;	/* number of blocks that were not acknowledged */
	double unsafe_ms;	/* time during which a credit loop was possible; 0: none */
	/* the packets being sent */
	struct rr_smp *job;	/* [BATCH] */
	ftr_sw *sw;		/* [BATCH] */
	uint8_t (*data)[FTR_LFT_BLOCK];	/* [BATCH] */
	uint32_t n;
};

static bool is_over(void *ctx)
{
	const struct change *x = ctx;

	return ibf_now_ms() > x->end ||
		__atomic_load_n(&x->p->osm->subn.sm_state, __ATOMIC_RELAXED) !=
		IB_SMINFO_STATE_MASTER ||
		__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED);
}

/* ---- writing -------------------------------------------------------------- */

static void send_batch(struct change *x)
{
	const struct ibf_options *o = &x->p->opt;
	struct rr_smp_policy policy = {
		.window = (unsigned int)FTR_MIN(o->fast_window, WINDOW_MAX),
		.timeout = o->fast_timeout_ms, .tries = TRIES,
	};

	if (x->n)
		ibf_smp_run(x->p->smp, x->job, x->n, &policy);
	for (uint32_t i = 0; i < x->n; i++) {
		const struct rr_smp *j = &x->job[i];
		ftr_sw s = x->sw[i];
		uint8_t *now = ftr_tables_row(x->now, s) + j->mod * FTR_LFT_BLOCK;
		uint8_t *mark = ibf_block(&x->b, s, j->mod);

		if (j->tries > 1)
			*mark |= IBF_BLOCK_UNSURE;
		if (j->state != RR_SMP_DONE) {
			x->silent[s] = 1;
			x->failed++;
			continue;
		}
		for (uint32_t k = 0; k < FTR_LFT_BLOCK; k++)
			x->entries += now[k] != x->data[i][k];
		x->blocks++;
		memcpy(now, x->data[i], FTR_LFT_BLOCK);
		*mark |= IBF_BLOCK_WRITTEN;
	}
	x->n = 0;
}

/* Send block `block` of switch s with those new entries that have this step. */
static void add_block(struct change *x, ftr_sw s, uint32_t block, uint8_t step)
{
	size_t at = block * (size_t)FTR_LFT_BLOCK;
	const uint8_t *steps = x->plan.step + (size_t)s * x->now->stride + at;
	const uint8_t *to = ftr_tables_row(x->plan.to, s) + at;
	struct rr_smp *j;

	if (x->n == BATCH)
		send_batch(x);
	memcpy(x->data[x->n], ftr_tables_row(x->now, s) + at, FTR_LFT_BLOCK);
	for (uint32_t k = 0; k < FTR_LFT_BLOCK; k++)
		if (steps[k] == step)
			x->data[x->n][k] = to[k];
	j = &x->job[x->n];
	*j = (struct rr_smp){
		.attr = RR_ATTR_LFT, .mod = block, .m_key = x->b.key[s],
		.payload = x->data[x->n],
	};
	j->n_routes = rr_dr_route(x->b.tree, s, &j->route[0]);
	x->sw[x->n++] = s;
}

static void write_step(struct change *x, uint8_t step)
{
	uint64_t before = x->blocks;

	for (ftr_sw s = 0; s < x->f->n_sw; s++) {
		const uint8_t *row = x->plan.step + (size_t)s * x->now->stride;

		for (uint32_t b = 0; b < x->b.n && !x->silent[s]; b++)
			if (memchr(row + b * FTR_LFT_BLOCK, step, FTR_LFT_BLOCK))
				add_block(x, s, b, step);
	}
	send_batch(x);
	x->steps += x->blocks != before;
}

/* Write the steps 1 .. n, and the entries with FTR_TRANSITION_LAST.  Returns false if a write was
 * not acknowledged, or if the time is over. */
static bool write_steps(struct change *x, uint32_t n)
{
	uint32_t failed = x->failed;

	for (uint32_t step = 1; step <= n + 1; step++) {
		if (is_over(x))
			return false;
		write_step(x, step > n ? FTR_TRANSITION_LAST : (uint8_t)step);
		if (x->failed > failed)
			return false;
	}
	return true;
}

/* ---- credit loops ----------------------------------------------------------- */

/* Carry out a plan of the planner of ddlr. */
static enum ftr_status write_plan(struct change *x, const struct ftr_ddlr_plan *plan,
				  struct ftr_err *err)
{
	if (plan->n_steps >= FTR_TRANSITION_LAST)
		return ftr_fail(err, FTR_LIMIT, "the order of writes has %u steps", plan->n_steps);
	memset(x->plan.step, FTR_TRANSITION_NONE, (size_t)x->now->n_sw * x->now->stride);
	for (uint32_t i = 0; i < plan->n; i++)
		x->plan.step[(size_t)plan->write[i].sw * x->now->stride + plan->write[i].lid] =
			plan->write[i].step;
	return write_steps(x, plan->n_steps) ? FTR_OK :
		ftr_fail(err, FTR_REFUSED, "a switch did not answer, or the time was over");
}

static void drain(const struct change *x)
{
	ibf_sleep_ms((unsigned int)ibf_packet_lifetime(x->p) + 1);
}

/* Change the LIDs that the planner of ddlr can change without a credit loop.  *held: number of LIDs
 * that it cannot change. */
static enum ftr_status change_lids(struct change *x, uint32_t *held, struct ftr_err *err)
{
	const struct ftr_ddlr_opts opts = { .stop = is_over, .stop_ctx = x };
	struct ftr_shape *undrained = NULL;
	struct ftr_ddlr *r = NULL;
	enum ftr_status st = FTR_OK;

	if (x->gen->undrained)
		st = ftr_shape_new(x->f, NULL, ibf_team(x->p), &undrained, err);
	if (!st)
		st = ftr_ddlr_new(undrained ? undrained : x->gen->shape, x->now, &opts, &r, err);
	for (bool done = false; !st && !done;) {
		struct ftr_ddlr_plan plan = { .n = 0 };

		if (is_over(x))
			st = ftr_fail(err, FTR_REFUSED, "the time limit of %d ms has passed",
				      x->p->opt.transition_limit_ms);
		else
			st = ftr_ddlr_transition(r, x->f, x->plan.to, &plan, err);
		if (st)
			break;
		done = plan.done;
		*held = plan.held;
		x->rounds += plan.n > 0;
		st = write_plan(x, &plan, err);
		ftr_ddlr_plan_fini(&plan);
		if (!st && !done) {
			drain(x);
			ftr_ddlr_drained(r);
		}
	}
	ftr_ddlr_free(r);
	ftr_shape_free(undrained);
	return st;
}

/* Collect the steps of the n switches in `differ` for one LID, in ascending order. */
static uint32_t collect_writes(const struct change *x, uint32_t lid, const ftr_sw *differ, uint32_t n,
			       struct ftr_change *w)
{
	uint32_t n_writes = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint8_t step = x->plan.step[(size_t)differ[i] * x->now->stride + lid];
		uint32_t k = n_writes;

		if (step == FTR_TRANSITION_NONE || step == FTR_TRANSITION_NEVER)
			continue;
		for (; k && w[k - 1].step > step; k--)
			w[k] = w[k - 1];
		w[k] = (struct ftr_change){
			.sw = differ[i], .step = step,
			.after = ftr_tables_get(x->plan.to, differ[i], (ftr_lid)lid),
		};
		n_writes++;
	}
	return n_writes;
}

/* For is_safe(). */
struct graph {
	struct ftr_cdg *g;
	ftr_sw *differ;		/* [n_sw] switches with a change in the present block */
	struct ftr_change *w;	/* [n_sw] writes for the present LID */
	bool closes;		/* a change may close a credit loop */
};

/* Make the changes of a block in the graph. */
static enum ftr_status change_block(const struct change *x, uint32_t block, struct graph *z,
				    struct ftr_err *err)
{
	uint32_t first = block * FTR_LFT_BLOCK, n = 0;
	enum ftr_status st = FTR_OK;

	for (ftr_sw s = 0; s < x->now->n_sw; s++)
		if (memcmp(ftr_tables_row(x->now, s) + first, ftr_tables_row(x->plan.to, s) + first,
			   FTR_LFT_BLOCK))
			z->differ[n++] = s;
	for (uint32_t lid = first; n && !st && !z->closes && lid < first + FTR_LFT_BLOCK; lid++) {
		uint32_t writes = collect_writes(x, lid, z->differ, n, z->w);

		if (writes)
			st = ftr_cdg_change(z->g, (ftr_lid)lid, z->w, writes, &z->closes, err);
	}
	return st;
}

/* Set *safe to true if no state during the planned steps can have a credit loop, all packets being
 * on one VL. */
static enum ftr_status is_safe(const struct change *x, bool *safe, struct ftr_err *err)
{
	struct graph z = {
		.differ = ftr_calloc(x->now->n_sw + 1u, sizeof(*z.differ)),
		.w = ftr_calloc(x->now->n_sw + 1u, sizeof(*z.w)),
	};
	struct ftr_err why = { 0 };
	enum ftr_status st = ftr_cdg_new(x->f, x->now, NULL, &z.g, &why);

	z.closes = st == FTR_REFUSED;
	if (!z.differ || !z.w)
		st = ftr_nomem(&why, "the writes of a LID");
	for (uint32_t b = 0; !st && !z.closes && b < x->b.n; b++)
		st = change_block(x, b, &z, &why);
	ftr_cdg_free(z.g);
	free(z.differ);
	free(z.w);
	*safe = !z.closes;
	if (!st || st == FTR_REFUSED)
		return FTR_OK;
	*err = why;
	return st;
}

/* ---- the transition --------------------------------------------------------- */

/* Write all entries that have a step.  When a switch does not answer, plan again. */
static enum ftr_status write_in_order(struct change *x, struct ftr_err *err)
{
	enum ftr_status st;

	do
		st = ftr_transition_plan(&x->plan, err);
	while (!st && !write_steps(x, x->plan.n_steps) && !is_over(x));
	return st;
}

static bool has_entries(const struct ftr_tables *t)
{
	for (size_t i = 0; i < (size_t)t->n_sw * t->stride; i++)
		if (t->lft[i] != FTR_PORT_NONE && t->lft[i])
			return true;
	return false;
}

static enum ftr_status write_all(struct change *x, struct ftr_err *err)
{
	enum ftr_status st = ftr_transition_plan(&x->plan, err);
	struct ftr_err why = { 0 };
	uint32_t held = 0;
	bool safe = true;
	double t0;

	if (st || !(x->plan.n_entries + x->plan.n_never) || !has_entries(x->now))
		return st;
	st = is_safe(x, &safe, err);
	if (st || safe)
		return st ? st : write_in_order(x, err);
	if (!change_lids(x, &held, &why) && held)
		ftr_fail(&why, FTR_REFUSED, "every order of writes of the new entries of %s would close a credit loop",
			 ibf_count(held, "LID", "LIDs").s);
	t0 = ibf_now_ms();
	st = write_in_order(x, err);
	if (!why.msg[0])
		return st;
	x->unsafe_ms = FTR_MAX(ibf_now_ms() - t0, 0.1);
	*err = why;
	return st ? st : FTR_REFUSED;
}

/* True if OpenSM's copy of a block is that of the switch: the block is not marked as unknown, and
 * OpenSM has not cleared it. */
static bool is_plausible(const struct ftr_fabric *f, ftr_sw s, const uint8_t *row, uint32_t block)
{
	uint32_t first = block * FTR_LFT_BLOCK;
	uint32_t end = FTR_MIN(first + FTR_LFT_BLOCK, f->max_lid + 1u);
	uint8_t unknown[FTR_LFT_BLOCK];

	memset(unknown, IBF_LFT_UNKNOWN, sizeof(unknown));
	if (!memcmp(row + first, unknown, end - first))
		return false;
	for (uint32_t lid = first; lid < end; lid++) {
		const struct ftr_lid_owner *o = &f->owner[lid];

		if (row[lid] != FTR_PORT_NONE && row[lid] > f->sw[s].n_ports)
			return false;
		if (!row[lid] && o->kind == FTR_OWNER_EP)
			return false;
		if (!row[lid] && o->kind == FTR_OWNER_SW && o->idx != s)
			return false;
	}
	return true;
}

/* Copy OpenSM's lft to x->now, and mark the blocks that are not known.  OpenSM's lock is held. */
static void copy_lft(struct change *x)
{
	const struct ftr_fabric *f = x->f;
	struct rr_dr route;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const osm_switch_t *sw = ibf_host_switch(x->p, f->sw[s].guid);
		uint8_t *row = ftr_tables_row(x->now, s);
		bool empty = true;

		memcpy(row, sw->lft, FTR_MIN(sw->lft_size, f->max_lid + 1u));
		for (uint32_t lid = 0; lid <= f->max_lid; lid++)
			empty = empty && row[lid] == FTR_PORT_NONE;
		x->silent[s] = !rr_dr_route(x->b.tree, s, &route);
		for (uint32_t b = 0; b < x->b.n && !x->silent[s]; b++)
			if (empty || !is_plausible(f, s, row, b))
				*ibf_block(&x->b, s, b) |= IBF_BLOCK_UNKNOWN | IBF_BLOCK_UNSURE;
	}
}

/* Read the unknown blocks.  Switches that do not answer are silent. */
static enum ftr_status read_unknown(struct change *x, struct ftr_err *err)
{
	uint64_t failed = 0;
	enum ftr_status st = ibf_blocks_read(&x->b, ibf_now_ms() + READ_LIMIT_MS, x->now, &failed,
					     err);

	for (ftr_sw s = 0; s < x->f->n_sw; s++)
		for (uint32_t b = 0; failed && b < x->b.n; b++)
			if (*ibf_block(&x->b, s, b) & IBF_BLOCK_UNKNOWN)
				x->silent[s] = 1;
	x->failed += (uint32_t)failed;
	ibf_clear_invalid(x->f, x->now);
	return st;
}

/* Store the written blocks in lft, unless a sweep should write them again.  OpenSM's lock is
 * held. */
static void settle(const struct change *x)
{
	const struct ftr_fabric *f = x->f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		osm_switch_t *sw = ibf_host_switch(x->p, f->sw[s].guid);
		const uint8_t *now = ftr_tables_row(x->now, s);
		const uint8_t *to = ftr_tables_row(x->plan.to, s);

		for (uint32_t b = 0; sw && sw->lft && b < x->b.n; b++) {
			size_t at = b * (size_t)FTR_LFT_BLOCK;

			if (*ibf_block(&x->b, s, b) == IBF_BLOCK_WRITTEN &&
			    at + FTR_LFT_BLOCK <= sw->lft_size &&
			    !memcmp(now + at, to + at, FTR_LFT_BLOCK))
				memcpy(sw->lft + at, now + at, FTR_LFT_BLOCK);
		}
	}
}

/* Get the tables of the switches of which OpenSM knows nothing, as this manager has not routed as
 * master yet. */
static enum ftr_status read_all(struct change *x, const struct ibf_engine *e, struct ftr_err *err)
{
	struct ibf_adopted done = e->prefer.adopted;
	const struct ftr_fabric *f = x->f;
	enum ftr_status st;

	if (e->prefer.stage == IBF_ADOPTING)
		st = ftr_tables_carry(f, x->gen->prefer, f, &x->now, err);
	else
		st = ibf_adopt(x->p, f, &x->now, &done, err);
	if (!st && done.failed)
		st = ftr_fail(err, FTR_REFUSED, "%" PRIu64 " of %" PRIu64
			      " blocks could not be read from the switches",
			      done.failed, done.blocks);
	return st;
}

/* Allocate everything, and copy what OpenSM's lock protects. */
static enum ftr_status prepare(struct change *x, const struct ibf_engine *e, struct ftr_err *err)
{
	const struct ftr_fabric *f = x->f;
	enum ftr_status st = ibf_blocks_new(x->p, f, &x->b, err);

	x->silent = ftr_calloc(f->n_sw + 1u, 1);
	x->job = ftr_calloc(BATCH, sizeof(*x->job));
	x->sw = ftr_calloc(BATCH, sizeof(*x->sw));
	x->data = ftr_calloc(BATCH, sizeof(*x->data));
	if (!st && (!x->silent || !x->job || !x->sw || !x->data))
		st = ftr_nomem(err, "writes");
	if (!st && !x->p->lft_known)
		return read_all(x, e, err);
	if (!st)
		st = ftr_tables_new(f, true, &x->now, err);
	if (!st)
		copy_lft(x);
	return st;
}

/* Why OpenSM writes the rest; NULL: the plugin has written all entries, or those that it has not
 * written belong to switches to which no Active link leads. */
static const char *why_not(struct change *x, const struct ftr_err *err)
{
	if (err->msg[0])
		return err->msg;
	if (x->failed)
		return "a write or a read was not acknowledged";
	return is_over(x) ? "the time limit has passed" : NULL;
}

static void report(struct change *x, const struct ibf_engine *e, const struct ftr_err *err)
{
	const struct ftr_fabric *f = x->f;
	struct ftr_tables_diff left = { 0 };
	double ms = ibf_now_ms() - x->start;
	const char *why = why_not(x, err);

	if (x->now)
		ftr_tables_diff(f, x->now, f, x->plan.to, &left);
	if (x->unsafe_ms > 0)
		ibf_log(x->p, IBF_TRANSITION_PLAIN, "%s: the tables were replaced in an order in which a credit loop was possible for %.1f ms, but in which no packet was lost: %s; entries=%" PRIu64 " blocks=%" PRIu64,
			e->ops->name, x->unsafe_ms, why, x->entries, x->blocks);
	else if (why && (!x->plan.f || (left.entries && has_entries(x->now))))
		ibf_log(x->p, IBF_TRANSITION_PLAIN, "%s: %s not replaced in a checked order: %s; OpenSM writes the remaining entries in its own order; until all are written, a credit loop or a missing entry is possible",
			e->ops->name, x->plan.f ? ibf_count(left.entries, "entry was", "entries were").s :
			"the tables in use were", why);
	else if (!x->entries && !x->p->lft_known)
		ibf_log(x->p, IBF_TRANSITION, "%s: no table is replaced: the switches already hold the new entries, or hold no entries; ms=%.0f",
			e->ops->name, ms);
	if (x->entries && !(x->unsafe_ms > 0))
		ibf_log(x->p, IBF_TRANSITION, "%s: the tables in use were replaced in a checked order: %s in %s; steps=%u rounds=%u ms=%.0f",
			e->ops->name, ibf_count(x->entries, "entry", "entries").s,
			ibf_count(x->blocks, "block", "blocks").s, x->steps, x->rounds, ms);
}

void ibf_transition(struct ibf_engine *e, const struct ibf_generation *gen,
		    const struct ftr_tables *t)
{
	struct ibf_plugin *p = e->plugin;
	struct change x = {
		.p = p, .gen = gen, .start = ibf_now_ms(),
		.f = gen->undrained ? gen->undrained : gen->fabric,
	};
	struct ftr_err err = { 0 };
	enum ftr_status st;

	if (!p->smp || !p->opt.transition ||
	    !(p->lft_known || p->opt.takeover || e->prefer.stage == IBF_ADOPTING))
		return;
	st = prepare(&x, e, &err);
	if (!st) {
		CL_PLOCK_RELEASE(&p->osm->lock);
		ibf_fast_wait(p->fast);
		st = read_unknown(&x, &err);
		x.end = ibf_now_ms() + p->opt.transition_limit_ms;
		x.plan = (struct ftr_transition){
			.f = x.f, .now = x.now, .to = t, .silent = x.silent,
		};
		if (!st)
			st = write_all(&x, &err);
		CL_PLOCK_EXCL_ACQUIRE(&p->osm->lock);
		settle(&x);
	}
	x.plan.to = t;
	report(&x, e, &err);
	free(x.plan.step);
	free(x.silent);
	free(x.job);
	free(x.sw);
	free(x.data);
	ftr_tables_free(x.now);
	ibf_blocks_fini(&x.b);
}
