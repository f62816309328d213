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
 * The routing callback writes the difference.  OpenSM's own distribution then finds nothing to
 * write, or the table of a switch that did not answer, or completes a transition that has failed.
 *
 * OpenSM calls the routing callback with its lock held.  commit.c has already stored the new tables
 * in new_lft.  The lock is released while packets travel, and taken again afterwards.  This may
 * happen meanwhile:
 *
 * - The SA answers queries by new_lft, as always between a routing and the end of its distribution.
 * - Traps arrive.  The fast path queues them, as in every routing.  A repair follows the sweep; so the
 *   plugin does not wait for more packets then than the time limit permits.
 * - Hosts join multicast groups.  The thread of this callback builds their trees later.
 * - This manager loses the mastership, or OpenSM exits.  The transition then ends after the current
 *   packets, and OpenSM changes no further entry: the next master does.
 * - A write of the fast path is not over yet.  The callback waits, and reads its blocks again.
 *
 * OpenSM's switches change only by the sweeper's thread, and by the fast path outside of routings.
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
 * fabric cannot be routed without these links (IBF207), it is routed with them, because OpenSM activates
 * no link if no engine routes.  Then packets may be lost.
 *
 * Steps.  If no mixture of the old and the new tables can have a credit loop (ftr_check_mixtures(),
 * which is quick), or if the channel dependencies of all states during the steps of
 * <ftr/transition.h> have no cycle (<ftr/cdg.h>), these steps suffice.  Otherwise the planner of
 * ddlr (<ftr/ddlr.h>) plans rounds of changes, and packets in flight are waited for between them.
 *
 * Packets may also follow entries of before the last repairs and routings, which the graph does not
 * contain.  They are waited for, unless the same ranks prove each time that no mixture has a credit
 * loop.  This proof is about two tables, so the packets to LIDs whose entries change again are
 * waited for.  Packets of hosts that a fault has just cut off may be in any switch.  If the graph
 * refuses the steps when all switches send packets, these packets are waited for, and then only
 * hosts count.
 *
 * No order is found that excludes a credit loop in two cases:
 *
 * - The tables in use have a credit loop.  The LIDs whose packets can be on it are changed first,
 *   then those on the next credit loop of the tables that result, until there is none.  Packets in
 *   flight are waited for, and the other LIDs are changed as above.
 * - The planner finds no order for some LIDs, or not within the time limit.  They are changed last.
 *
 * These LIDs are changed in the order of <ftr/transition.h>, which loses no packet and takes some
 * milliseconds.  (Clearing their entries first would exclude credit loops, but lose all packets to
 * these LIDs for more than a second.)  Each time IBF121 reports the pairs of hosts and the time.
 *
 * All packets to a switch take the same route, so the switch carries them out in the order in which
 * they were sent.  If a Set is not acknowledged, or was sent more than once, the block is read
 * before the next step.  If this read is not answered either, or the block has other entries, the
 * switch is silent from then on, and the remaining steps are planned again: no entry is written whose
 * new path needs an unwritten entry of a silent switch, and no entry is cleared.  The next sweep
 * replaces the rest.  Until then OpenSM writes what the switches hold.  Silent switches get their new entries,
 * in any order, if all others on the new path are written, and the judgement contained them (a switch that was
 * silent before keeps its entries, unless the ranks prove all mixtures).  One without an Active link delays
 * nothing: no packet passes it, and OpenSM writes its table.
 *
 * The new plan needs no new judgement.  Whenever all new entries on the new path of each written entry are
 * written, too, a packet follows old entries up to the first written one, and then its new path.  So each
 * of its dependencies is one of an old path, one of a new path, or leads from a link of an old path to the
 * first of a new one.  The graph of the first plan has all of them, and keeps them.
 *
 * If there is an order only by the planner, or none is known, nothing more is written when a switch is
 * silent, because it is not known which entries the switch has.  OpenSM repeats its last Sets, which are
 * part of the step that was under way, and the next sweep goes on from there.  (If the switch is dead, this sweep
 * does not find it.  If it acknowledges OpenSM's Sets only, each sweep comes closer to the new tables.  If
 * it acknowledges none, OpenSM reports errors, and sweeps at its own interval.)  Only LIDs to which
 * hosts have no path are changed nevertheless, and IBF121 reports it.
 *
 * If the table of a silent switch could not be read either, all entries are written, and IBF121 reports
 * it, unless this is the only silent switch, and all entries that do not need it are written in order.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "osm/blocks.h"
#include "osm/clock.h"
#include "osm/fast.h"
#include <ftr/cdg.h>
#include <ftr/check.h>
#include <ftr/transition.h>

extern volatile unsigned int osm_exit_flag;

#define READ_LIMIT_MS 1000	/* time for reading unknown blocks */
#define PAIRS_NAMED 3

struct change {
	struct ibf_plugin *p;
	const char *name;	/* of the engine */
	struct ibf_generation *gen;
	const uint8_t *rank;	/* [n_sw] the order of the new tables; NULL: not known */
	const struct ftr_fabric *f;	/* with drained links: old entries may lead over them */
	const struct ftr_tables *to;	/* the new tables */
	struct ibf_blocks b;
	struct ftr_transition plan;	/* now: a copy of the tables of the switches */
	struct ftr_tables *now;
	/* by ibf_now_ms(); nothing is planned again after `end`, which is set after the judgement, and
	 * to which the waits for packets add */
	double start, end;
	double waited;		/* ms for packets in flight */
	struct rr_written older;
	struct ftr_cdg *graph;	/* of the last judgement; NULL: `proved`, or no packets before */
	bool safe;		/* and it was SAFE, and all entries with a step were written */
	bool proved;		/* by the ranks: no mixture of the old and new tables has a credit loop */
	bool other_ranks;	/* the last routing had other ranks */
	uint32_t steps, rounds;
	bool unsafe;		/* a credit loop was possible, and was reported */
	bool blind;		/* the table of a switch with links is not known */
	bool unjudged;		/* the last judgement left out the new entries of silent switches */
	bool left;		/* unwritten entries are left to the next sweep, or the next master */
	uint32_t *hosts;	/* [n_sw] number of host ports with a LID */
	/* The pairs of a host and another host or a switch that were counted last, for messages: with
	 * an entry that changes, or, at the end, without a path until OpenSM has written the remaining
	 * entries. */
	uint64_t n_pairs;
	uint32_t n_named;
	char names[512];	/* of the first PAIRS_NAMED pairs */
	bool lost_known, host_pairs;	/* host_pairs: some pairs have a host at both ends */
};

static bool may_write(const struct change *x)
{
	return ibf_is_master(x->p) && !__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED);
}

static bool is_over(const struct change *x)
{
	return ibf_now_ms() > x->end || !may_write(x);
}

/* ---- writing -------------------------------------------------------------- */

/* Send block `block` of switch s with those new entries that have this step. */
static void add_block(struct change *x, ftr_sw s, uint32_t block, uint8_t step)
{
	size_t at = block * (size_t)FTR_LFT_BLOCK;
	const uint8_t *steps = x->plan.step + (size_t)s * x->now->stride + at;
	const uint8_t *to = ftr_tables_row(x->plan.to, s) + at;
	uint8_t *data = ibf_sets_add(&x->b, s, block);

	for (uint32_t k = 0; k < FTR_LFT_BLOCK; k++)
		if (steps[k] == step)
			data[k] = to[k];
}

static void write_step(struct change *x, uint8_t step)
{
	uint64_t before = x->b.sets;
	uint32_t failed = x->b.failed;

	for (ftr_sw s = 0; s < x->f->n_sw; s++) {
		const uint8_t *row = x->plan.step + (size_t)s * x->now->stride;

		if (!may_write(x) || (x->b.failed > failed && is_over(x)))
			break;
		for (uint32_t b = 0; b < x->b.n && !x->b.silent[s]; b++)
			if (memchr(row + b * FTR_LFT_BLOCK, step, FTR_LFT_BLOCK))
				add_block(x, s, b, step);
	}
	ibf_sets_send(&x->b);
	x->steps += x->b.sets != before;
}

/* Write the steps 1 .. n, and FTR_TRANSITION_LAST, without a time limit: OpenSM would send as many
 * packets.  Returns false if one was not acknowledged, or if this manager may no longer write.  If some
 * entries are not written, no entry is cleared: packets that follow an old entry may need it. */
static bool write_steps(struct change *x, uint32_t n)
{
	uint32_t failed = x->b.failed;

	for (uint32_t step = 1; step <= n + !x->plan.n_never; step++) {
		if (!may_write(x))
			return false;
		write_step(x, step > n ? FTR_TRANSITION_LAST : (uint8_t)step);
		if (x->b.failed > failed)
			return false;
	}
	return true;
}

/* Write the blocks that no packet uses before OpenSM raises LinearFDBTop.  Later all of them are in use at
 * once, so they are written although this manager may be about to end. */
static void write_unused(struct change *x)
{
	for (ftr_sw s = 0; s < x->f->n_sw; s++)
		for (uint32_t b = 0; b < x->b.n; b++)
			if (*ibf_block(&x->b, s, b) == IBF_BLOCK_UNUSED && !x->b.silent[s])
				memcpy(ibf_sets_add(&x->b, s, b),
				       ftr_tables_row(x->to, s) + b * FTR_LFT_BLOCK, FTR_LFT_BLOCK);
	ibf_sets_send(&x->b);
}

/* ---- pairs of hosts ---------------------------------------------------------- */

static bool is_host(const struct ftr_fabric *f, ftr_ep e)
{
	return f->ep[e].sw != FTR_SW_NONE && f->ep[e].lid && !ftr_ep_is_aggregation(&f->ep[e]);
}

/* Count the pairs (host on s, owner of the LID: a host or a switch), and name the first ones. */
static void add_pairs(struct change *x, ftr_sw s, ftr_lid lid)
{
	const struct ftr_fabric *f = x->f;
	bool port = f->owner[lid].kind == FTR_OWNER_EP;
	ftr_ep to = port ? f->owner[lid].idx : FTR_EP_NONE;

	if (f->owner[lid].kind == FTR_OWNER_NONE || (port && !is_host(f, to)) || !x->hosts[s])
		return;
	x->n_pairs += x->hosts[s] - (port && f->ep[to].sw == s);
	x->host_pairs |= port;
	for (ftr_ep e = 0; e < f->n_ep && x->n_named < PAIRS_NAMED; e++) {
		size_t at = strlen(x->names);

		if (f->ep[e].sw == s && e != to && is_host(f, e))
			snprintf(x->names + at, sizeof(x->names) - at, "%s%s to %s",
				 x->n_named++ ? ", " : "", ibf_ep_name(f, e).s,
				 ibf_lid_name(f, lid).s);
	}
}

static void forget_pairs(struct change *x)
{
	x->n_pairs = x->n_named = x->host_pairs = 0;
	x->names[0] = '\0';
}

/* Count the pairs without a path that have one in the new tables.  The LIDs of pairs of hosts get their new
 * entries in `part`; NULL: no table. */
static enum ftr_status add_lost(struct change *x, struct ftr_tables *part, struct ftr_err *err)
{
	const struct ftr_check_opts opts = { .no_cdg = true, .list_lost = true };
	struct ftr_check_report *r = ftr_calloc(1, sizeof(*r));
	enum ftr_status st = r ? ftr_check_tables(x->f, x->now, &opts, NULL, r, err) :
		ftr_nomem(err, "the check");

	forget_pairs(x);
	for (uint32_t lid = st ? UINT32_MAX : 1; lid <= x->f->max_lid; lid++) {
		uint64_t before = x->n_pairs;

		for (ftr_sw s = 0; s < x->f->n_sw; s++)
			if (r->lost[(size_t)(lid / 64) * x->f->n_sw + s] >> lid % 64 & 1 &&
			    ftr_tables_get(x->to, s, (ftr_lid)lid) != FTR_PORT_NONE)
				add_pairs(x, s, (ftr_lid)lid);
		for (ftr_sw s = 0; part && x->n_pairs != before && s < x->f->n_sw; s++)
			if (x->f->owner[lid].kind == FTR_OWNER_EP)
				ftr_tables_row(part, s)[lid] = ftr_tables_row(x->to, s)[lid];
	}
	if (r)
		free(r->lost);
	free(r);
	return st;
}

static void add_changing(struct change *x)
{
	forget_pairs(x);
	for (uint32_t lid = 1; lid <= x->f->max_lid; lid++)
		for (ftr_sw s = 0; s < x->f->n_sw; s++)
			if (x->hosts[s] && ibf_path_changes(&x->b, x->plan.to, s, (ftr_lid)lid))
				add_pairs(x, s, (ftr_lid)lid);
}

#define PAIRS_TEXT 640

/* The number of pairs, with some names. */
static const char *pairs_text(const struct change *x, char text[PAIRS_TEXT])
{
	snprintf(text, PAIRS_TEXT, "%s%s%s%s",
		 ibf_count(x->n_pairs, "pair", "pairs").s, x->n_pairs ? " (" : "", x->names,
		 !x->n_pairs ? "" : x->n_pairs > x->n_named ? ", ...)" : ")");
	return text;
}

/* ---- credit loops ----------------------------------------------------------- */

/* Carry out the round of a plan that begins with write *i.  *i: set to the first write of the next one.  The
 * steps of a round are not those of <ftr/transition.h>: all numbers from 1 to 255 are steps. */
static enum ftr_status write_round(struct change *x, const struct ftr_ddlr_plan *plan, uint32_t *i,
				   struct ftr_err *err)
{
	uint32_t round = plan->write[*i].step / FTR_DDLR_STEPS, last = 0;

	memset(x->plan.step, FTR_TRANSITION_NONE, (size_t)x->now->n_sw * x->now->stride);
	for (; *i < plan->n && plan->write[*i].step / FTR_DDLR_STEPS == round; ++*i) {
		const struct ftr_change *w = &plan->write[*i];

		last = w->step % FTR_DDLR_STEPS;
		x->plan.step[(size_t)w->sw * x->now->stride + w->lid] = (uint8_t)last;
	}
	x->rounds++;
	return write_steps(x, last) ? FTR_OK : ftr_fail(err, FTR_REFUSED, "a switch did not answer");
}

/* Wait until the packets that were sent before this time have left.  FTR_REFUSED: this would take longer
 * than the time limit, which is for all waits together if hosts have no path, or a trap waits for its
 * repair. */
static enum ftr_status drain(struct change *x, double sent, struct ftr_err *err)
{
	double t0 = ibf_now_ms(), until = sent + ibf_packet_lifetime(x->p) + 1;
	double ms = FTR_MAX(until - t0, 0), limit = x->p->opt.transition_limit_ms;
	bool late = x->waited + ms > limit;
	enum ftr_status st = late ? add_lost(x, NULL, err) : FTR_OK;
	bool stop = ms > limit || (late && x->host_pairs);

	if (st)
		return st;
	x->waited += ms;
	x->end += ms;
	for (double now = t0; now < until; now = ibf_now_ms()) {
		if (stop || is_over(x) || (late && ibf_fast_has_traps(x->p->fast)))
			return ftr_fail(err, FTR_REFUSED, "packets in flight cannot be waited for within the time limit of %.0f ms",
					limit);
		ibf_sleep_ms(1 + (unsigned int)FTR_MIN(until - now, 100));
	}
	return FTR_OK;
}

/* Start the planner of ddlr, and wait until it is ready. */
static enum ftr_status start_planner(struct change *x, struct rr_planner **r, struct ftr_err *err)
{
	struct ftr_shape *undrained = NULL;
	enum ftr_status st = FTR_OK;

	if (x->gen->undrained)
		st = ftr_shape_new(x->f, NULL, ibf_team(x->p), &undrained, err);
	if (!st)
		st = rr_planner_start(undrained ? undrained : x->gen->shape, x->now, NULL,
				      (unsigned int)x->p->opt.transition_limit_ms, r, err);
	ftr_shape_free(undrained);
	if (st)
		return st;
	while (rr_planner_is_busy(*r, 10))
		if (is_over(x))
			return ftr_fail(err, FTR_REFUSED, "the time limit of %d ms has passed",
					x->p->opt.transition_limit_ms);
	return rr_planner_ready(*r, err);
}

/* Change the LIDs that the planner of ddlr can change without a credit loop.  *held: number of LIDs
 * that it cannot change. */
static enum ftr_status change_lids(struct change *x, uint32_t *held, struct ftr_err *err)
{
	struct ftr_ddlr_plan plan = { .n = 0 };
	struct rr_planner *r = NULL;
	enum ftr_status st = x->b.n_silent ?	/* the planner writes to all switches */
		ftr_fail(err, FTR_REFUSED, "a switch did not answer") : start_planner(x, &r, err);

	if (!st)
		st = rr_planner_transition(r, x->plan.to, false, true, &plan, err);
	*held = plan.held;
	for (uint32_t i = 0; i < plan.n;) {
		st = write_round(x, &plan, &i, err);
		if (!st && (i < plan.n || plan.held))
			st = drain(x, ibf_now_ms(), err);
		if (st)
			break;
	}
	ftr_ddlr_plan_fini(&plan);
	if (st && rr_ddlr_warning(err) == RR_WARN_PLANNER)
		atomic_fetch_add(&x->p->helper_failures, 1);
	rr_planner_free(r);
	return st;
}

enum verdict { SAFE, UNSAFE, LOOP_IN_USE };

/* Decide whether a state during the planned steps can have a credit loop, all packets being on one
 * VL.  cut_off: with packets of hosts that a fault has cut off. */
static enum ftr_status judge(struct change *x, bool cut_off, enum verdict *v, struct ftr_err *err)
{
	const struct ftr_cdg_opts opts = { .switch_sources = cut_off };
	struct ftr_err why;
	bool closes = false;
	enum ftr_status st = FTR_OK;

	ftr_cdg_free(x->graph);
	x->graph = NULL;
	x->unjudged = x->b.n_silent;
	*v = SAFE;
	if (x->rank)
		st = ftr_check_mixtures(x->f, (const struct ftr_tables *[]){ x->now, x->plan.to },
					x->rank, ibf_team(x->p), &x->proved, err);
	if (st || x->proved || !x->p->in_use)
		return st;
	*v = LOOP_IN_USE;
	st = ftr_cdg_new(x->f, x->now, &opts, &x->graph, &why);
	if (st == FTR_REFUSED)
		return FTR_OK;
	if (!st)
		st = ftr_cdg_steps(x->graph, x->plan.to, x->plan.step, &closes, &why);
	*v = closes ? UNSAFE : SAFE;
	if (st)
		*err = why;
	return st;
}

/* The time of the last write of entries for a LID that is about to change. */
static double last_change(const struct change *x)
{
	uint32_t end = x->f->max_lid + 1u;
	double last = 0;

	for (ftr_sw s = 0; s < x->f->n_sw; s++) {
		const uint8_t *step = x->plan.step + (size_t)s * x->now->stride;

		for (uint32_t lid = ibf_has_link(x->f, s) ? 1 : end; lid < end; lid++)
			if (step[lid] != FTR_TRANSITION_NONE)
				last = FTR_MAX(last, x->older.lid[lid]);
	}
	return last;
}

/* Wait for packets that follow entries older than x->now, see above. */
static enum ftr_status wait_for_older(struct change *x, struct ftr_err *err)
{
	double last = x->older.last;

	if (last <= 0 || last + ibf_packet_lifetime(x->p) < ibf_now_ms())
		return FTR_OK;
	if (x->proved && !x->other_ranks)
		last = FTR_MAX(x->older.unranked, last_change(x));
	return drain(x, last, err);
}

/* ---- the transition --------------------------------------------------------- */

/* True if a switch is silent, and what depends on it may be left to the next sweep.  If a table is not
 * known, nothing is proved about its entries, so OpenSM must replace them: this is sound if the entries of
 * one switch remain, and those that need them. */
static bool may_leave(const struct change *x)
{
	return x->b.n_silent && (!x->blind || (x->safe && x->b.n_silent == 1));
}

/* True if silent switches may get their new entries in any order. */
static bool is_sound(const struct change *x)
{
	return x->safe && (x->proved || !x->unjudged);
}

/* Write all entries that have a step.  When a switch does not answer, plan again. */
static enum ftr_status write_in_order(struct change *x, struct ftr_err *err)
{
	while (!write_steps(x, x->plan.n_steps)) {
		if (is_over(x)) {
			x->safe = false;
			return FTR_OK;
		}
		if (ftr_transition_plan(&x->plan, err))
			return FTR_NOMEM;
	}
	return FTR_OK;
}

static bool has_entries(const struct ftr_tables *t)
{
	for (size_t i = 0; i < (size_t)t->n_sw * t->stride; i++)
		if (t->lft[i] != FTR_PORT_NONE && t->lft[i])
			return true;
	return false;
}

/* As write_in_order(), while a credit loop is possible.  With a time limit of its own, because
 * OpenSM's order would lose packets. */
static enum ftr_status write_unsafe(struct change *x, const char *why, struct ftr_err *err)
{
	uint64_t entries = x->b.entries, blocks = x->b.sets;
	uint32_t failed = x->b.failed;
	char text[PAIRS_TEXT];
	double t0 = ibf_now_ms();
	enum ftr_status st;

	if (!may_write(x))
		return FTR_OK;
	add_changing(x);
	x->end = FTR_MAX(x->end, t0 + x->p->opt.transition_limit_ms);
	st = write_in_order(x, err);
	if (x->b.sets == blocks && x->b.failed == failed)
		return st;
	x->unsafe = true;
	ibf_log(x->p, IBF_TRANSITION_PLAIN, "%s: entries were replaced in an order in which a credit loop was possible for %.1f ms between %s, but in which no packet was lost: %s; entries=%" PRIu64 " blocks=%" PRIu64 " unacknowledged=%u pairs=%" PRIu64,
		x->name, FTR_MAX(ibf_now_ms() - t0, 0.1), pairs_text(x, text), why,
		x->b.entries - entries, x->b.sets - blocks, x->b.failed - failed, x->n_pairs);
	return st;
}

/* Write what differs from `part` by write_unsafe(). */
static enum ftr_status write_part(struct change *x, const struct ftr_tables *part, const char *why,
				  struct ftr_err *err)
{
	enum ftr_status st;

	x->plan.to = part;
	st = ftr_transition_plan(&x->plan, err);
	if (!st)
		st = write_unsafe(x, why, err);
	x->plan.to = x->to;
	return st;
}

/* Write the entries for which no order is known that excludes a credit loop: all, or, if some should be left,
 * those for the LIDs to which hosts have no path. */
static enum ftr_status write_unproved(struct change *x, const char *why, struct ftr_err *err)
{
	struct ftr_tables *part = NULL;
	enum ftr_status st;

	if (!may_leave(x))
		return write_part(x, x->to, why, err);
	st = ftr_tables_new(x->f, false, &part, err);
	if (!st) {
		memcpy(part->lft, x->now->lft, (size_t)part->n_sw * part->stride);
		st = add_lost(x, part, err);
	}
	if (!st && x->host_pairs)
		st = write_part(x, part, why, err);
	ftr_tables_free(part);
	return st;
}

/* Change the LIDs on credit loops in use, and plan the others. */
static enum ftr_status break_loop(struct change *x, struct ftr_err *err)
{
	struct ftr_tables *t = NULL;
	enum ftr_status st = ibf_without_loop(x->p, x->f, x->now, x->to, &t, err);

	if (!st)
		st = write_part(x, t, "the tables in use had a credit loop", err);
	ftr_tables_free(t);
	if (!st)
		st = drain(x, ibf_now_ms(), err);
	return st ? st : ftr_transition_plan(&x->plan, err);
}

/* Write all entries that have a step. */
static enum ftr_status write_all(struct change *x, struct ftr_err *err)
{
	struct ftr_err why = { .msg = "the tables in use have a credit loop" };
	enum ftr_status st = ftr_transition_plan(&x->plan, err);
	enum verdict v = SAFE;
	uint32_t held = 0;

	if (st || !(x->plan.n_entries + x->plan.n_never) || !has_entries(x->now))
		return st;
	st = judge(x, true, &v, err);
	if (!st && v != SAFE) {
		x->older.last = ibf_now_ms();
		st = judge(x, false, &v, err);
	}
	x->end = ibf_now_ms() + x->p->opt.transition_limit_ms;
	if (!st && v != LOOP_IN_USE && wait_for_older(x, &why))
		return write_unproved(x, why.msg, err);
	if (!st && v == LOOP_IN_USE && !break_loop(x, &why))
		st = judge(x, false, &v, err);
	x->safe = !st && v == SAFE;
	if (st || x->safe)
		return st ? st : write_in_order(x, err);
	if (v == UNSAFE && !change_lids(x, &held, &why)) {
		v = held ? UNSAFE : SAFE;
		if (held)
			ftr_fail(&why, FTR_REFUSED, "no order of writes that excludes a credit loop was found for the new entries of %s",
				 ibf_count(held, "LID", "LIDs").s);
	}
	if (v != SAFE)
		return write_unproved(x, why.msg, err);
	st = ftr_transition_plan(&x->plan, err);
	return st ? st : write_in_order(x, err);
}

/* Switches with blocks that are still unknown are silent. */
static void add_silent(struct change *x)
{
	for (ftr_sw s = 0; s < x->f->n_sw; s++)
		for (uint32_t b = 0; b < x->b.n; b++)
			if (*ibf_block(&x->b, s, b) & IBF_BLOCK_UNKNOWN) {
				ibf_sets_silent(&x->b, s);
				x->blind |= ibf_has_link(x->f, s);
			}
}

/* Read the unknown blocks.  Switches that do not answer are silent. */
static enum ftr_status read_unknown(struct change *x, struct ftr_err *err)
{
	uint64_t failed = 0;
	enum ftr_status st = ibf_blocks_read(&x->b, ibf_now_ms() + READ_LIMIT_MS, x->now, &failed,
					     err);

	add_silent(x);
	ibf_clear_invalid(x->f, x->now, x->to);
	return st;
}

/* Get the tables of the switches of which OpenSM knows nothing, as this manager has not routed as
 * master yet. */
static enum ftr_status read_all(struct change *x, struct ibf_engine *e, struct ftr_err *err)
{
	const struct ibf_prefer *r = &e->prefer;
	const struct ftr_fabric *f = x->f;
	enum ftr_status st;

	if (r->stage == IBF_ADOPTING)
		st = ftr_tables_carry(f, x->gen->prefer, f, &x->now, err);
	else
		st = ibf_adopt(e, f, &x->now, err);
	if (!st && r->unanswered)
		st = ftr_fail(err, FTR_REFUSED, "%" PRIu64 " of %" PRIu64
			      " blocks could not be read from the switches",
			      r->unanswered, r->blocks);
	return st;
}

/* Allocate everything, and copy what OpenSM's lock protects. */
static enum ftr_status prepare(struct change *x, struct ibf_engine *e, struct ftr_err *err)
{
	const struct ftr_fabric *f = x->f;
	enum ftr_status st = ibf_blocks_new(x->p, f, &x->b, err);

	if (!st)
		st = ibf_sets_new(&x->b, err);
	x->hosts = ftr_calloc(f->n_sw + 1u, sizeof(*x->hosts));
	if (!st && !x->hosts)
		st = ftr_nomem(err, "writes");
	if (st)
		return st;
	for (ftr_ep i = 0; i < f->n_ep; i++)
		if (is_host(f, i))
			x->hosts[f->ep[i].sw]++;
	st = x->p->lft_known ? ftr_tables_new(f, true, &x->now, err) : read_all(x, e, err);
	x->b.now = x->now;
	if (!st && x->p->lft_known)
		ibf_blocks_copy(&x->b, x->to);
	return st;
}

/* Why OpenSM writes the rest, also kept in err; NULL: the plugin has written all entries. */
static const char *why_not(const struct change *x, struct ftr_err *err)
{
	ftr_sw s = 0;

	if (!err->msg[0] && x->b.n_silent) {
		while (!x->b.silent[s] || !ibf_has_link(x->f, s))
			s++;
		ftr_fail(err, FTR_REFUSED, "a write or a read was not acknowledged by %s%s",
			 ibf_sw_name(x->f, s).s, x->b.n_silent > 1 ? " and other switches" : "");
	}
	return err->msg[0] ? err->msg : may_write(x) ? NULL :
		"this manager is no longer the master, or ends";
}

/* Log what was written, and, if `why` is not NULL, what remains. */
static void report(struct change *x, const char *why)
{
	struct ftr_tables_diff left = { 0 };
	double ms = ibf_now_ms() - x->start;
	char text[PAIRS_TEXT];
	bool rest;

	if (x->now)
		ftr_tables_diff(x->f, x->now, x->f, x->to, &left);
	rest = why && (!x->plan.f || (left.entries && has_entries(x->now)));
	if (rest && x->left) {
		ibf_log(x->p, IBF_TRANSITION, "%s: %s; the next %s replaces the remaining %s%s", x->name, why,
			may_write(x) ? "sweep" : "master", ibf_count(left.entries, "entry", "entries").s,
			x->p->remain ? "; until then the fast path repairs nothing" : "");
	} else if (rest) {
		x->p->unordered_at = ibf_now_ms();
		ibf_log(x->p, IBF_TRANSITION_PLAIN, "%s: %s not replaced in a checked order: %s; OpenSM writes the remaining entries in its own order; no path now: %s; until all entries are written, more missing entries or a credit loop are possible",
			x->name, x->plan.f ? ibf_count(left.entries, "entry was", "entries were").s :
			"the tables in use were", why, x->lost_known ? pairs_text(x, text) : "unknown");
	}
	if (x->b.entries && !x->unsafe)
		ibf_log(x->p, IBF_TRANSITION, "%s: the tables in use were replaced in a checked order: %s in %s; steps=%u rounds=%u ms=%.0f",
			x->name, ibf_count(x->b.entries, "entry", "entries").s,
			ibf_count(x->b.sets, "block", "blocks").s, x->steps, x->rounds, ms);
	else if (!x->b.entries && !rest && !x->p->lft_known)
		ibf_log(x->p, IBF_TRANSITION, "%s: no table is replaced: the switches already hold the new entries, or hold no entries; ms=%.0f",
			x->name, ms);
}

/* OpenSM has written entries in its own order. */
static void forget_rest(struct ibf_plugin *p)
{
	if (p->unordered_at || p->remain)
		ibf_fast_written(p->fast, false, NULL, 0);
	p->unordered_at = 0;
	p->remain = false;
}

bool ibf_transition_over(struct ibf_plugin *p)
{
	bool remain = p->remain;

	if (p->unordered_at)
		ibf_log(p, IBF_TRANSITION_PLAIN, "OpenSM has written the remaining entries within %.0f ms",
			ibf_now_ms() - p->unordered_at);
	forget_rest(p);
	return remain;
}

void ibf_transition(struct ibf_engine *e, struct ibf_generation *gen)
{
	struct ibf_plugin *p = e->plugin;
	struct change x = {
		.p = p, .name = e->ops->name, .gen = gen, .to = gen->tables, .start = ibf_now_ms(),
		.rank = gen->stats.order_known ? gen->stats.order : NULL,
		.f = gen->undrained ? gen->undrained : gen->fabric,
	};
	struct ftr_err err = { 0 }, unknown;
	enum ftr_status st;
	bool due = p->lft_known ? gen->changes.entries :
		p->opt.takeover || e->prefer.stage == IBF_ADOPTING;

	forget_rest(p);		/* perhaps no event has reported the end of OpenSM's writes */
	x.other_ranks = ibf_ranks_differ(p, gen);
	if (!p->smp || !p->opt.transition || !due)
		return;
	st = prepare(&x, e, &err);
	if (!st) {
		CL_PLOCK_RELEASE(&p->osm->lock);
		x.older = ibf_fast_wait(p->fast);
		st = read_unknown(&x, &err);
		x.plan = (struct ftr_transition){
			.f = x.f, .now = x.now, .to = x.to, .silent = x.b.silent,
		};
		if (!st) {
			write_unused(&x);
			st = write_all(&x, &err);
		}
		if (why_not(&x, &err))
			x.lost_known = !add_lost(&x, NULL, &unknown);
		if (x.b.sets || x.b.failed)
			ibf_fast_written(p->fast, x.proved, x.b.changed, x.b.n * FTR_LFT_BLOCK);
		CL_PLOCK_EXCL_ACQUIRE(&p->osm->lock);
		ibf_blocks_settle(&x.b, x.to);
		x.left = !may_write(&x) || (!st && x.end > 0 && may_leave(&x));
		if (x.left)
			p->remain = ibf_blocks_leave(&x.b, x.to, is_sound(&x)) && may_write(&x);
	}
	report(&x, why_not(&x, &err));
	if (!x.safe || why_not(&x, &err) || x.f != gen->fabric) {
		ftr_cdg_free(x.graph);
		x.graph = NULL;
	}
	/* the fast path goes on with the graph */
	ftr_cdg_free(__atomic_exchange_n(&gen->graph, x.graph, __ATOMIC_ACQ_REL));
	free(x.plan.step);
	free(x.hosts);
	ftr_tables_free(x.now);
	ibf_blocks_fini(&x.b);
}
