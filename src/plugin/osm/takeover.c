// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Option "takeover ordered": replaces the tables in the switches in a checked order.
 *
 * When this manager becomes master, or after another engine has routed, the switches may hold
 * tables of another engine.  The next routing by an engine of this plugin replaces them.
 *
 * OpenSM writes blocks in no particular order.  Until all are written, the switches hold a
 * mixture of old and new tables.  The mixture may have a credit loop even if the old tables
 * and the new ones have none.  A packet may also reach a switch that has no entry for its
 * destination.
 *
 * So the plugin reads the tables of the switches (adopt.c).  It plans an order of writes as
 * ddlr does after a repair (<ftr/ddlr.h>), and writes the entries in this order.  During the
 * writes, all pairs of ports with a path in both the old and the new tables have a path.  No
 * credit loop forms, not even with packets in flight.  Then the plugin passes the tables to
 * OpenSM, which writes the same entries once more.
 *
 * OpenSM's lock is held until the writes have ended; there is a time limit.  If no safe order
 * exists, or if a table cannot be read or written, a warning is logged, and OpenSM writes the
 * remaining entries.
 *
 * If an SMP was sent more than once, the switch may process one of the copies late.  Then the
 * plugin waits for the packet lifetime before it writes anything else.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "osm/clock.h"
#include "osm/host.h"
#include "osm/osm.h"
#include "osm/transport.h"
#include <ftr/ddlr.h>

extern volatile unsigned int osm_exit_flag;

#define WRITE_LIMIT_MS 10000	/* time for planning and writing */
#define TRIES 3

struct takeover {
	struct ibf_plugin *p;
	const struct ftr_fabric *f;
	struct ftr_tables *now;	/* tables that the switches hold */
	struct rr_dr_tree *tree;
	double end;		/* deadline of planning and writing, by ibf_now_ms() */
	bool late;		/* a switch may still process an earlier SMP */
	uint64_t entries, blocks;
	uint32_t steps, rounds, failed;
};

static bool is_over(void *ctx)
{
	const struct takeover *x = ctx;

	return ibf_now_ms() > x->end ||
		__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED);
}

static void drain(struct takeover *x)
{
	ibf_sleep_ms((unsigned int)ibf_packet_lifetime(x->p) + 1);
	x->late = false;
}

/* ---- writing -------------------------------------------------------------- */

/* Make a request for each block that contains any of the n entries, and copy the entries to x->now.
 * The entries are sorted by switch and LID. */
static unsigned int make_jobs(struct takeover *x, struct rr_smp *job,
			      uint8_t (*data)[FTR_LFT_BLOCK],
			      const struct ftr_ddlr_write *w, uint32_t n)
{
	unsigned int jobs = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint8_t *row = ftr_tables_row(x->now, w[i].sw);
		uint32_t block = w[i].lid / FTR_LFT_BLOCK;
		const osm_switch_t *sw;

		row[w[i].lid] = w[i].to;
		if (i + 1 < n && w[i + 1].sw == w[i].sw &&
		    w[i + 1].lid / FTR_LFT_BLOCK == block)
			continue;
		sw = ibf_host_switch(x->p, x->f->sw[w[i].sw].guid);
		memcpy(data[jobs], row + block * FTR_LFT_BLOCK, FTR_LFT_BLOCK);
		job[jobs] = (struct rr_smp){
			.attr = RR_ATTR_LFT, .mod = block,
			.m_key = sw ? ibf_m_key(x->p, sw) : 0,
			.payload = data[jobs],
		};
		job[jobs].n_routes = rr_dr_route(x->tree, w[i].sw,
						 &job[jobs].route[0]);
		jobs++;
	}
	return jobs;
}

/* Write n entries in any order.  FTR_REFUSED: some writes were not acknowledged, or there was no
 * time or memory. */
static enum ftr_status write_step(struct takeover *x,
				  const struct ftr_ddlr_write *w, uint32_t n,
				  struct ftr_err *err)
{
	const struct ibf_options *o = &x->p->opt;
	struct rr_smp_policy policy = {
		.window = (unsigned int)o->fast_window,
		.timeout = o->fast_timeout_ms, .tries = TRIES,
		.limit = x->end - ibf_now_ms(),
	};
	struct rr_smp *job = ftr_calloc(n, sizeof(*job));
	uint8_t (*data)[FTR_LFT_BLOCK] = ftr_calloc(n, sizeof(*data));
	unsigned int jobs = 0;

	if (job && data && policy.limit > 0) {
		jobs = make_jobs(x, job, data, w, n);
		x->failed += ibf_smp_run(x->p->smp, job, jobs, &policy);
	}
	for (unsigned int i = 0; i < jobs; i++)
		x->late |= job[i].tries > 1 || job[i].state != RR_SMP_DONE;
	free(job);
	free(data);
	if (!jobs)
		return ftr_fail(err, FTR_REFUSED, "no time or memory for the writes");
	x->blocks += jobs;
	x->entries += n;
	x->steps++;
	if (x->late)
		drain(x);
	return x->failed ? ftr_fail(err, FTR_REFUSED, "%s not acknowledged",
				    ibf_count(x->failed, "write was",
					      "writes were").s) : FTR_OK;
}

static enum ftr_status write_plan(struct takeover *x,
				  const struct ftr_ddlr_plan *plan,
				  struct ftr_err *err)
{
	enum ftr_status st = FTR_OK;

	for (uint32_t i = 0, end; !st && i < plan->n; i = end) {
		for (end = i; end < plan->n &&
		     plan->write[end].step == plan->write[i].step; end++)
			;
		st = write_step(x, plan->write + i, end - i, err);
	}
	return st;
}

/* ---- the transition --------------------------------------------------------- */

static enum ftr_status change(struct takeover *x,
			      const struct ibf_generation *gen,
			      const struct ftr_tables *t, struct ftr_err *err)
{
	const struct ftr_ddlr_opts opts = { .stop = is_over, .stop_ctx = x };
	struct ftr_ddlr *r = NULL;
	enum ftr_status st = ftr_ddlr_new(gen->shape, x->now, &opts, &r, err);
	uint32_t held = 0;

	for (bool done = false; !st && !done;) {
		struct ftr_ddlr_plan plan = { .n = 0 };

		if (is_over(x))
			st = ftr_fail(err, FTR_REFUSED, "the time limit of %d s has passed",
				      WRITE_LIMIT_MS / 1000);
		else
			st = ftr_ddlr_transition(r, x->f, t, &plan, err);
		if (st)
			break;
		done = plan.done;
		held = plan.held;
		x->rounds += plan.n > 0;
		st = write_plan(x, &plan, err);
		ftr_ddlr_plan_fini(&plan);
		if (!st && !done) {
			drain(x);
			ftr_ddlr_drained(r);
		}
	}
	ftr_ddlr_free(r);
	if (!st && held)
		st = ftr_fail(err, FTR_REFUSED,
			      "every order of writes of the new entries of %s would close a credit loop",
			      ibf_count(held, "LID", "LIDs").s);
	return st;
}

static bool has_entries(const struct ftr_tables *t)
{
	for (size_t i = 0; i < (size_t)t->n_sw * t->stride; i++)
		if (t->lft[i] != FTR_PORT_NONE && t->lft[i])
			return true;
	return false;
}

/* Store the tables of the switches in x->now.  With the option "adopt", they may already have been
 * read. */
static enum ftr_status read_tables(struct takeover *x, const struct ibf_engine *e,
				   const struct ibf_generation *gen,
				   struct ftr_err *err)
{
	struct ibf_adopted done = e->prefer.adopted;
	enum ftr_status st;

	if (!x->p->smp)
		return ftr_fail(err, FTR_REFUSED, "the fast path, which reads and writes them, is not available");
	if (e->prefer.stage == IBF_ADOPTING)
		st = ftr_tables_carry(x->f, gen->prefer, x->f, &x->now, err);
	else
		st = ibf_adopt(x->p, x->f, &x->now, &done, err);
	if (!st && done.failed)
		st = ftr_fail(err, FTR_REFUSED, "%" PRIu64 " of %" PRIu64
			      " blocks could not be read from the switches",
			      done.failed, done.blocks);
	return st;
}

static enum ftr_status take_over(struct takeover *x, const struct ibf_engine *e,
				 const struct ibf_generation *gen,
				 const struct ftr_tables *t, struct ftr_err *err)
{
	enum ftr_status st = read_tables(x, e, gen, err);

	if (st || !has_entries(x->now))
		return st;
	x->tree = ibf_directed_routes(x->p, x->f);
	if (!x->tree)
		return ftr_fail(err, FTR_NOMEM, "out of memory for directed routes");
	x->end = ibf_now_ms() + WRITE_LIMIT_MS;
	return change(x, gen, t, err);
}

void ibf_takeover(struct ibf_engine *e, const struct ibf_generation *gen,
		  const struct ftr_tables *t)
{
	struct takeover x = { .p = e->plugin, .f = gen->fabric };
	struct ftr_err err = { 0 };
	double t0 = ibf_now_ms();

	if (!x.p->opt.takeover || e->took_over)
		return;
	e->took_over = true;
	if (take_over(&x, e, gen, t, &err))
		ibf_log(x.p, IBF_TAKEOVER_PLAIN, "%s: the tables in use are not replaced in a checked order: %s; OpenSM writes the remaining entries in its own order; until all are written, a credit loop or a missing entry is possible",
			e->ops->name, err.msg);
	else if (!x.entries)
		ibf_log(x.p, IBF_TAKEOVER, "%s: no table is replaced: the switches already hold the new entries, or hold no entries; ms=%.0f",
			e->ops->name, ibf_now_ms() - t0);
	else
		ibf_log(x.p, IBF_TAKEOVER, "%s: the tables in use were replaced in a checked order: %s in %s; steps=%u rounds=%u ms=%.0f",
			e->ops->name, ibf_count(x.entries, "entry", "entries").s,
			ibf_count(x.blocks, "block", "blocks").s, x.steps,
			x.rounds, ibf_now_ms() - t0);
	rr_dr_tree_free(x.tree);
	ftr_tables_free(x.now);
}
