// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The search for better tables, in a process of its own (helper/helper.h).
 *
 * A thread of the plugin waits for the result.  The thread holds a reference to its generation, but
 * no lock of OpenSM.  The process is killed if the search is cancelled, or has not ended within the
 * time limit.
 *
 * The result is not trusted: it is read like a file, and the checker walks all paths of its tables.
 * Later the routing that applies the result checks all tables once more.  A result that is not
 * used is reported (IBF122), and the next search waits, see prefer.c.
 */
#include <stdlib.h>

#include "helper/helper.h"
#include "helper/job.h"
#include "osm/host.h"
#include "osm/osm.h"
#include <ftr/check.h>

/* ---- job and result ------------------------------------------------------------ */

static void put_job(struct ibf_search *z, struct ftr_out *o)
{
	const struct ibf_generation *gen = z->gen;
	struct ibf_plugin *p = z->e->plugin;
	struct search_job j = {
		.shape.leaf_order = (enum ftr_leaf_order)p->opt.leaf_order,
		.nominal = gen->nominal->n, .f = gen->fabric, .opts = gen->opts,
		.keep = {
			.prefer = z->displaced ? gen->keep.prefer : gen->tables,
			.current = z->displaced ? gen->tables : NULL,
			.search_all = !z->displaced, .search_displaced = z->displaced,
		},
		.given = !z->displaced && z->e->prefer.stage == IBF_GIVEN,
	};

	snprintf(j.engine, sizeof(j.engine), "%s", z->e->ops->name);
	ibf_guids_current(p, &j.shape);
	put_search(o, &j);
}

/* The numbers of the report are not checked: they are only logged, and compared. */
static enum ftr_status get_result(struct ibf_search *z, struct ftr_in *in)
{
	struct ftr_check_report *r = ftr_calloc(1, sizeof(*r));
	struct ftr_kept k = { .t = NULL };
	enum ftr_status st = r ? get_found(in, z->gen->fabric, &k, &z->err) :
		ftr_nomem(&z->err, "the check of its tables");

	st = ftr_in_end(in, st, &z->err);
	z->t = k.t;
	z->balance = k.stats.balance;
	z->replaced = k.replaced;
	if (!st)
		st = ftr_check_tables(z->gen->fabric, z->t, NULL, NULL, r, &z->err);
	if (!st && (r->found[FTR_FIND_LOOP] || r->found[FTR_FIND_WRONG_END] ||
		    r->found[FTR_FIND_DEAD_PORT] || r->cdg == FTR_CDG_CYCLE))
		st = ftr_fail(&z->err, FTR_REFUSED, "its tables have a loop, a wrong path or a credit loop");
	free(r);
	return st;
}

static enum ftr_status run(struct ibf_search *z)
{
	unsigned int limit = helper_wait_ms(HELPER_SEARCH);
	struct ftr_in in;
	enum ftr_status st;

	if (z->status)		/* the process did not start */
		return z->status;
	st = helper_result(z->helper, limit, &in, &z->err);
	if (st == FTR_LIMIT)
		return ftr_fail(&z->err, st, "it did not end within %u s", limit / 1000);
	return st ? st : get_result(z, &in);
}

/* A search for displaced entries changes these entries a second time.  So its result is used only
 * if it reduces the all-to-all load, that of the rails or the load of shifts by more than
 * 1 / GAIN_SHARE.  The result
 * of any other search is used even if the gain is small. */
#define GAIN_SHARE 10

static bool is_gain(double before, double after)
{
	return before - after > before / GAIN_SHARE;
}

bool ibf_search_found(const struct ibf_search *z)
{
	const struct ftr_balance_report *b = &z->balance;

	return b->moved && (!z->displaced || is_gain(b->max_before, b->max_after) ||
			    is_gain(b->rail_before, b->rail_after) ||
			    is_gain(b->shift_before, b->shift_after));
}

/* ---- the thread ---------------------------------------------------------------- */

static void *search(void *arg)
{
	struct ibf_search *z = arg;
	double t0 = ibf_now_ms();

	z->status = run(z);
	z->ms = ibf_now_ms() - t0;
	if (!atomic_load(&z->cancel)) {
		if (z->status) {
			ibf_log(z->e->plugin, IBF_SEARCH_FAILED, "%s: the search for better tables failed: %s; the tables stay as they are",
				z->e->ops->name, z->err.msg);
			atomic_fetch_add(&z->e->plugin->helper_failures, 1);
		} else if (!z->displaced || ibf_search_found(z)) {
			/* The next routing takes the result.  That a search has found nothing
			 * better is stored, so that it does not run again after a restart. */
			ibf_request_sweep(z->e->plugin->osm);
		}
	}
	atomic_store(&z->done, true);
	return NULL;
}

struct ibf_search *ibf_search_start(struct ibf_engine *e, struct ibf_generation *gen,
				    bool displaced)
{
	struct ibf_search *z = ftr_calloc(1, sizeof(*z));
	struct ftr_out o = { 0 };

	if (!z)
		return NULL;
	z->e = e;
	z->gen = ibf_generation_get(gen);
	z->displaced = displaced;
	atomic_init(&z->cancel, false);
	atomic_init(&z->done, false);
	z->status = helper_start(HELPER_SEARCH, &z->helper, &z->err);
	if (!z->status) {
		put_job(z, &o);
		z->status = helper_send(z->helper, &o, &z->err);
	}
	if (ibf_thread_start(&z->thread, search, z))
		return z;
	ibf_search_free(z);
	return NULL;
}

bool ibf_search_done(const struct ibf_search *z)
{
	return atomic_load(&z->done);
}

void ibf_search_join(struct ibf_search *z, bool cancel)
{
	if (cancel) {
		atomic_store(&z->cancel, true);
		if (z->helper)
			helper_cancel(z->helper);
	}
	ibf_thread_join(z->thread);
}

void ibf_search_free(struct ibf_search *z)
{
	if (!z)
		return;
	helper_free(z->helper);
	ibf_generation_put(z->gen);
	ftr_tables_free(z->t);
	free(z);
}
