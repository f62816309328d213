// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The search for better tables, on a thread of its own.  The thread holds a reference to its
 * generation, but no lock of OpenSM, and can be cancelled at any time.
 */
#include <stdlib.h>
#include <sys/resource.h>

#include "osm/host.h"
#include "osm/osm.h"

static bool cancelled(void *ctx)
{
	struct ibf_search *z = ctx;

	return atomic_load(&z->cancel);
}

/* A search for displaced entries changes these entries a second time.  So its result is used only
 * if it reduces the all-to-all load or the load of shifts by more than 1 / GAIN_SHARE.  The result
 * of any other search is used even if the gain is small. */
#define GAIN_SHARE 10

bool ibf_search_found(const struct ibf_search *z)
{
	const struct ftr_balance_report *b = &z->balance;

	if (z->status || !b->moved)
		return false;
	return !z->displaced ||
		b->max_before - b->max_after > b->max_before / GAIN_SHARE ||
		b->shift_before - b->shift_after > b->shift_before / GAIN_SHARE;
}

static void *search(void *arg)
{
	struct ibf_search *z = arg;
	const struct ftr_keep keep = {
		z->displaced ? z->gen->keep.prefer : z->gen->tables,
		z->displaced ? z->gen->tables : NULL, !z->displaced, z->displaced
	};
	struct ftr_route_opts opts = z->gen->opts;
	struct ftr_route_stats stats = { .root = FTR_SW_NONE };
	double t0 = ibf_now_ms();

	setpriority(PRIO_PROCESS, 0, 10);	/* on Linux, this affects only this thread */
	opts.keep = &keep;
	opts.balance = FTR_BALANCE_FULL;
	opts.keep_routed = opts.keep_turns = false;
	opts.cancelled = cancelled;
	opts.cancel_ctx = z;
	z->status = ftr_tables_new(z->gen->fabric, false, &z->t, &z->err);
	if (!z->status)
		z->status = z->e->ops->route(z->gen->shape, &opts, NULL, z->t, &stats, &z->err);
	z->balance = stats.balance;
	z->ms = ibf_now_ms() - t0;
	/* The next routing takes the result.  That a search has found nothing better is stored,
	 * too, so that it does not run again after a restart. */
	if (!z->status && (!z->displaced || ibf_search_found(z)) && !atomic_load(&z->cancel))
		ibf_request_sweep(z->e->plugin->osm);
	atomic_store(&z->done, true);
	return NULL;
}

struct ibf_search *ibf_search_start(struct ibf_engine *e, struct ibf_generation *gen,
				    bool displaced)
{
	struct ibf_search *z = ftr_calloc(1, sizeof(*z));

	if (!z)
		return NULL;
	z->e = e;
	z->gen = ibf_generation_get(gen);
	z->displaced = displaced;
	atomic_init(&z->cancel, false);
	atomic_init(&z->done, false);
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
	if (cancel)
		atomic_store(&z->cancel, true);
	ibf_thread_join(z->thread);
}

void ibf_search_free(struct ibf_search *z)
{
	if (!z)
		return;
	ibf_generation_put(z->gen);
	ftr_tables_free(z->t);
	free(z);
}
