// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Preferred tables: what an engine's entries go back to, and the search for better
 * ones in the background.
 *
 * The first routing of a fabric is the closed form and a search for even
 * all-to-all load, and its tables are preferred from then on: later routings keep
 * their entries wherever these are still candidates (src/engine/keep.c).  They are
 * made anew when the fabric has a link that the preferred tables were made
 * without: then from the closed form if something was missing at that time, so
 * that the complete fabric has the same tables whatever happened before, else (the
 * fabric has grown) from what was preferred.
 *
 *	routing of a complete fabric -> preferred -> search thread -> better tables
 *	                                   ^                               |
 *	                                   +---- next complete routing ----+
 *
 * With balance full a thread searches for even load under shift permutations,
 * too.  It holds a reference to its generation and no lock of OpenSM, and can be
 * cancelled at any moment.  Its result is applied by a sweep, at the first routing
 * at which nothing is missing.  All its entries are candidates by the same ranks,
 * so switches that hold old and new entries in any mixture are free of loops and
 * credit loops; and it is verified like all tables.
 *
 * Threads: everything here runs under OpenSM's exclusive lock (routing) or when
 * no sweep can run (delete); the search thread touches its own struct only.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "osm/osm.h"

struct ibf_search {
	pthread_t thread;
	struct ibf_engine *e;
	struct ibf_generation *gen;
	struct ftr_route_opts opts;
	struct ftr_keep keep;
	struct ftr_tables *t;
	struct ftr_route_stats stats;
	struct ftr_err err;
	enum ftr_status status;
	double ms;
	atomic_bool cancel, done;
};

/* ---- the thread ------------------------------------------------------------ */

static bool cancelled(void *ctx)
{
	struct ibf_search *z = ctx;

	return atomic_load(&z->cancel);
}

/* As OpenSM does it for a trap. */
static void ask_for_sweep(struct ibf_plugin *p)
{
	__atomic_store_n(&p->osm->subn.force_heavy_sweep, TRUE,
			 __ATOMIC_RELAXED);
	osm_sm_signal(&p->osm->sm, OSM_SIGNAL_SWEEP);
}

static void *search(void *arg)
{
	struct ibf_search *z = arg;
	double t0 = ibf_now_ms();

	setpriority(PRIO_PROCESS, 0, 10);	/* on Linux: of this thread */
	z->status = ftr_tables_new(z->gen->fabric, false, &z->t, &z->err);
	if (!z->status)
		z->status = z->e->ops->route(z->gen->shape, &z->opts, NULL,
					     z->t, &z->stats, &z->err);
	z->ms = ibf_now_ms() - t0;
	if (!z->status && z->stats.balance.moved && !atomic_load(&z->cancel))
		ask_for_sweep(z->e->plugin);
	atomic_store(&z->done, true);
	return NULL;
}

static void search_free(struct ibf_search *z)
{
	ibf_generation_put(z->gen);
	ftr_tables_free(z->t);
	free(z);
}

static void start(struct ibf_engine *e)
{
	struct ibf_search *z = ftr_calloc(1, sizeof(*z));
	sigset_t all, old;
	int failed;

	e->searched = true;	/* once per fabric */
	if (!z)
		return;
	z->e = e;
	z->gen = ibf_generation_get(e->preferred);
	z->opts = z->gen->opts;
	z->keep = (struct ftr_keep){ z->gen->tables, NULL, true };
	z->opts.keep = &z->keep;
	z->opts.balance = FTR_BALANCE_FULL;
	z->opts.keep_routed = false;
	z->opts.cancelled = cancelled;
	z->opts.cancel_ctx = z;
	atomic_init(&z->cancel, false);
	atomic_init(&z->done, false);
	sigfillset(&all);	/* they are for OpenSM's main thread */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	failed = pthread_create(&z->thread, NULL, search, z);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (failed)
		search_free(z);
	else
		e->search = z;
}

/* Wait for the thread, which ends soon when it is cancelled. */
static void stop(struct ibf_engine *e)
{
	struct ibf_search *z = e->search;

	if (!z)
		return;
	atomic_store(&z->cancel, true);
	pthread_join(z->thread, NULL);
	search_free(z);
	e->search = NULL;
}

/* ---- what is preferred -------------------------------------------------------- */

static bool is_complete(const struct ibf_generation *gen)
{
	return gen->nominal && !gen->shape->n_missing_sw &&
		!gen->shape->n_missing_cables;
}

/* Has f a link between switches that g lacks? */
static bool has_more(const struct ftr_fabric *f, const struct ftr_fabric *g)
{
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		ftr_sw t = ftr_fabric_find_sw(g, f->sw[s].guid);

		if (t == FTR_SW_NONE || f->sw[s].n_ports != g->sw[t].n_ports)
			return true;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *a =
				ftr_fabric_port(f, s, (ftr_port)p);
			const struct ftr_swport *b =
				ftr_fabric_port(g, t, (ftr_port)p);

			if (a->peer_kind == FTR_PEER_SW &&
			    (b->peer_kind != FTR_PEER_SW ||
			     a->peer_port != b->peer_port ||
			     f->sw[a->peer].guid != g->sw[b->peer].guid))
				return true;
		}
	}
	return false;
}

/* The tables that the switches hold, as OpenSM has them. */
static enum ftr_status read_current(struct ibf_plugin *p,
				    struct ibf_generation *gen,
				    struct ftr_err *err)
{
	const struct ftr_fabric *f = gen->fabric;
	enum ftr_status st = ftr_tables_new(f, true, &gen->current, err);

	for (ftr_sw s = 0; !st && s < f->n_sw; s++) {
		const osm_switch_t *sw = ibf_host_switch(p, f->sw[s].guid);

		if (sw && sw->lft)
			memcpy(ftr_tables_row(gen->current, s), sw->lft,
			       FTR_MIN(sw->lft_size, f->max_lid + 1u));
	}
	return st;
}

/* A search that has ended. */
static void take_result(struct ibf_engine *e)
{
	struct ibf_search *z = e->search;
	const struct ftr_balance_report *b;

	if (!z || !atomic_load(&z->done))
		return;
	pthread_join(z->thread, NULL);
	e->search = NULL;
	b = &z->stats.balance;
	if (z->status)
		ibf_log(e->plugin, IBF_SEARCH, "%s: the search for better tables failed: %s; the tables stay as they are",
			e->ops->name, z->err.msg);
	else
		ibf_log(e->plugin, IBF_SEARCH, "%s: search done: shifts: mean of the most loaded link %.2f flows instead of %.2f; all-to-all: most loaded link %.2f times the lower bound instead of %.2f; %"
			PRIu64 " entries to change, %.0f ms", e->ops->name,
			b->shift_after, b->shift_before,
			(double)b->max_after / FTR_MAX(b->bound, 1u),
			(double)b->max_before / FTR_MAX(b->bound, 1u),
			b->moved, z->ms);
	if (!z->status && b->moved) {
		e->better = z->t;
		e->better_of = ibf_generation_get(z->gen);
		z->t = NULL;
	}
	search_free(z);
}

static void drop_better(struct ibf_engine *e)
{
	stop(e);
	ftr_tables_free(e->better);
	ibf_generation_put(e->better_of);
	e->better = NULL;
	e->better_of = NULL;
	e->searched = false;
}

void ibf_prefer_drop(struct ibf_engine *e)
{
	drop_better(e);
	ibf_generation_put(e->preferred);
	e->preferred = NULL;
}

enum ftr_status ibf_prefer(struct ibf_engine *e, struct ibf_generation *gen,
			   struct ftr_err *err)
{
	const struct ibf_generation *of = e->preferred;
	const struct ftr_tables *t;
	bool grown;
	enum ftr_status st;

	if (e->plugin->opt.balance == FTR_BALANCE_OFF || !gen->nominal)
		return FTR_OK;
	take_result(e);
	if (!of)
		return FTR_OK;
	grown = gen->nominal != of->nominal || has_more(gen->fabric, of->fabric);
	if (grown)
		drop_better(e);
	if (grown && !is_complete(of)) {
		ibf_prefer_drop(e);
		return FTR_OK;
	}
	t = of->tables;
	if (e->better && is_complete(gen)) {
		t = e->better;
		of = e->better_of;
	}
	st = ftr_tables_carry(of->fabric, t, gen->fabric, &gen->prefer, err);
	if (!st && !is_complete(gen))
		st = read_current(e->plugin, gen, err);
	gen->keep = (struct ftr_keep){ gen->prefer, gen->current, grown };
	return st;
}

/* Are the tables of gen those that it was to prefer?  Then one copy will do. */
static void share_tables(struct ibf_generation *gen)
{
	const struct ftr_tables *t = gen->tables;

	ftr_tables_free(gen->current);
	gen->current = NULL;
	if (gen->prefer && is_complete(gen)) {
		ftr_tables_free(gen->prefer);
		gen->prefer = NULL;
	}
	gen->keep = (struct ftr_keep){ gen->prefer ? gen->prefer : t, NULL,
				       false };
}

void ibf_prefer_routed(struct ibf_engine *e, struct ibf_generation *gen)
{
	if (e->plugin->opt.balance == FTR_BALANCE_OFF || !gen->nominal)
		return;
	if (is_complete(gen) && e->better) {
		ftr_tables_free(e->better);
		ibf_generation_put(e->better_of);
		e->better = NULL;
		e->better_of = NULL;
	}
	if (!e->preferred || is_complete(gen)) {
		ibf_generation_put(e->preferred);
		e->preferred = ibf_generation_get(gen);
	}
	share_tables(gen);
	gen->opts.keep = &gen->keep;
}

void ibf_prefer_search(struct ibf_engine *e)
{
	if (e->plugin->opt.balance == FTR_BALANCE_FULL && !e->searched &&
	    e->preferred && e->preferred == e->gen &&
	    is_complete(e->preferred))
		start(e);
}
