// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes one sweep that evens out all-to-all flows, with several threads.  load_dest.c changes the
 * entries.
 *
 * The sweep consists of batches of destinations.  The destinations of a batch are divided into
 * w->shares shares of w->share_dests destinations, which threads process at the same time.  Each
 * share has its own counters of flows.  Before a share begins batch b, the changes that the other
 * shares made in batch b - BALANCE_LAG are added to its counters.  So the tables do not depend on
 * the number of threads, and a thread seldom waits.  Each destination belongs to one share, so
 * entries and senders need no lock.  At the end the changes of all shares are added up.
 *
 * Two shares may move flows to the same link at the same time.  The link then carries more flows
 * than either share expects.  Later sweeps, which have only one share, correct this.
 *
 * Two other designs were considered:
 *
 *	- All threads propose changes of entries, and one thread tests each change again before
 *	  making it.  But about 40 % of the examined entries change, so this thread would still do
 *	  a large part of the work.
 *	- The threads wait for each other after each batch.  Such a sweep took a third longer,
 *	  because some destinations take more work than others.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/load_sweep.h"

#define SHARE_DESTS 32u		/* default of w->share_dests */

/* ---- shares ------------------------------------------------------------------------- */

static void add_changes(struct share *z, const struct share *y, uint32_t batch)
{
	const struct changes *from = &y->change[batch % KEPT];

	for (uint32_t i = 0; i < from->n; i++)
		z->link[from->at[i].link].flows += (uint32_t)from->at[i].n;
}

/* Set the bits in log->seen for the moves z->moved[first] .. z->moved[n_moved - 1].  Other threads
 * may write to the same word. */
static void mark_moved(struct share *z, uint32_t first)
{
	const struct balance_count *c = z->load->c;
	size_t words = c->t->stride / 64;

	for (uint32_t i = first; c->log && i < z->n_moved; i++) {
		struct balance_moved *m = &z->moved[i];
		uint64_t *word = &c->log->seen[m->sw * words + m->lid / 64];
		uint64_t bit = UINT64_C(1) << m->lid % 64;

		m->first = !(__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) &
			     bit);
	}
}

static inline __attribute__((always_inline)) void load_row(const void *row,
							   size_t n)
{
	for (size_t i = 0; i < n; i += 64)
		__builtin_prefetch((const char *)row + i);
}

/* Prefetch the data of destination d.  column: the column (destination switch) of the destination
 * before d. */
static void load_dest(const struct load *w, uint32_t d, uint32_t column)
{
	const struct balance_net *net = w->net;
	uint32_t n_sw = net->f->n_sw, l = net->dest[d].col;

	/* Without this, gcc removes calls of this function, because it has no visible effect. */
	__asm__ volatile ("" ::: "memory");
	load_row(balance_entries(net, w->c->entry, d), n_sw);
	if (w->w->least == 1)
		return;	/* late sweep: few destinations have a path over a link above the target */
	load_row(balance_senders(net, w->c->senders, d),
		 n_sw * sizeof(*w->c->senders));
	if (l != column) {
		load_row(net->order[l].cost, n_sw);
		load_row(net->order[l].down, n_sw);
	}
}

static void sweep_batch(struct share *z)
{
	const struct load *w = z->load;
	const uint32_t *order = w->net->sweep_order;
	uint32_t k = (uint32_t)(z - w->share), first = z->n_moved;
	uint32_t i = (z->batch * w->n_shares + k) * w->share_dests;
	uint32_t end = FTR_MIN(i + w->share_dests,
			       w->net->first[w->net->f->n_sw]);

	for (k = 0; z->batch >= BALANCE_LAG && k < w->n_shares; k++)
		if (&w->share[k] != z)
			add_changes(z, &w->share[k], z->batch - BALANCE_LAG);
	z->change[z->batch % KEPT].n = 0;
	for (; i < end && !z->nomem; i++) {
		if (i + 1 < end)
			load_dest(w, order[i + 1], w->net->dest[order[i]].col);
		z->nomem = !load_sweep_dest(z, order[i]);
	}
	mark_moved(z, first);
}

static bool is_ready(const struct load *w, const struct share *z)
{
	bool ready = !z->busy && z->done < w->n_batches;

	for (uint32_t k = 0; k < w->n_shares; k++)
		ready &= w->share[k].done + BALANCE_LAG > z->done;
	return ready;
}

static struct share *pick(struct load *w, struct share *last)
{
	if (last && is_ready(w, last))
		return last;
	for (uint32_t k = 0; k < w->n_shares; k++)
		if (is_ready(w, &w->share[k]))
			return &w->share[k];
	return NULL;
}

static bool is_over(const struct load *w)
{
	bool over = true;

	for (uint32_t k = 0; k < w->n_shares; k++)
		over &= w->share[k].done == w->n_batches;
	return over || w->stop;
}

/* Process batches of any share until the sweep is over.  The caller holds w->lock, which is
 * released during a batch. */
static void work(struct load *w, bool caller)
{
	struct share *z = NULL;

	while (!is_over(w)) {
		if (caller && balance_cancelled(w->net)) {
			w->w->cancelled = w->stop = true;
			break;
		}
		z = pick(w, z);
		if (!z) {
			pthread_cond_wait(&w->batch_done, &w->lock);
			continue;
		}
		z->busy = true;
		z->batch = z->done;
		pthread_mutex_unlock(&w->lock);
		sweep_batch(z);
		pthread_mutex_lock(&w->lock);
		z->busy = false;
		z->done++;
		w->stop |= z->nomem;
		pthread_cond_broadcast(&w->batch_done);
	}
	pthread_cond_broadcast(&w->batch_done);
	pthread_cond_broadcast(&w->sweep_done);
}

/* One item of ftr_team_run().  A thread stays here until the sweep is over, so it gets only one
 * item.  The calling thread (worker 0) and n_shares - 1 others process batches.  The calling thread
 * must be one of them, because only it may call balance_cancelled().  The remaining threads wait.
 * If they returned instead, one of them could take the item of the calling thread. */
static void sweep_shares(void *ctx, unsigned int worker, uint32_t begin,
			 uint32_t end)
{
	struct load *w = ctx;

	(void)begin;
	(void)end;
	pthread_mutex_lock(&w->lock);
	if (!worker || ++w->n_helpers < w->n_shares)
		work(w, !worker);
	while (!is_over(w))
		pthread_cond_wait(&w->sweep_done, &w->lock);
	pthread_mutex_unlock(&w->lock);
}

static bool log_moves(struct load *w, const struct share *z)
{
	struct balance_log *log = w->c->log;

	while (log && log->cap < log->n + z->n_moved)
		if (!ftr_grow((void **)&log->moved, &log->cap,
			      sizeof(*log->moved))) {
			for (uint32_t i = 0; i < z->n_moved; i++)
				ftr_tables_row(w->c->t, z->moved[i].sw)
					[z->moved[i].lid] = z->moved[i].was;
			return false;
		}
	if (log && z->n_moved) {
		memcpy(log->moved + log->n, z->moved,
		       z->n_moved * sizeof(*z->moved));
		log->n += z->n_moved;
	}
	w->w->moved += z->n_moved;
	return true;
}

static bool sweep_all(struct load *w, struct ftr_team *team)
{
	uint32_t n = w->net->first[w->net->f->n_sw];
	uint32_t size = w->n_shares * w->share_dests;
	struct share *z = w->share;
	bool ok = true;

	w->n_batches = (n + size - 1) / size;
	if (w->n_shares == 1)
		team = NULL;
	ftr_team_run(team, ftr_team_size(team), 1, sweep_shares, w);
	for (uint32_t k = 0; k < w->n_shares; k++) {
		const struct share *y = &w->share[k];

		ok &= log_moves(w, y) && !y->nomem;
		for (uint32_t b = FTR_MAX(z->done, BALANCE_LAG) - BALANCE_LAG;
		     k && b < y->done; b++)
			add_changes(z, y, b);
	}
	return ok;
}

/* ---- memory --------------------------------------------------------------------------- */

static struct near near_of(const struct ftr_shape *sh, ftr_sw s, uint32_t k)
{
	const struct ftr_shape_tree *tree = &sh->tree;
	const struct ftr_group *g = &tree->groups[tree->group_first[s] + k];
	ftr_port port = tree->group_ports[g->first];

	return (struct near){
		.first = g->first, .sw = (uint16_t)g->remote,
		.n = k < tree->n_up[s] + tree->n_down[s] ? (uint8_t)g->n : 0,
		.up = k < tree->n_up[s], .port = port,
		.peer_port = g->n > 1 ? 0 :
			ftr_fabric_port(sh->f, s, port)->peer_port,
	};
}

static bool near_new(struct near_groups *to, const struct ftr_shape *sh,
		     struct ftr_arena *a)
{
	const struct ftr_shape_tree *tree = &sh->tree;
	uint32_t n_sw = sh->f->n_sw, n = 0, pos[FTR_PORT_MAX + 1];

	to->sh = sh;
	if (!FTR_NEW(a, to->at, tree->group_first[n_sw] + 1u) ||
	    !FTR_NEW(a, to->first, n_sw + 1u))
		return false;
	for (ftr_sw s = 0; s < n_sw; s++) {
		const struct ftr_group *g = &tree->groups[tree->group_first[s]];
		struct near *at = to->at + n;

		to->first[s] = n;
		for (uint32_t k = 0; k < ftr_shape_groups(sh, s); k++, n++) {
			uint32_t i = k;

			for (; k < tree->n_up[s] + tree->n_down[s] && i > 0 &&
			     pos[i - 1] > g[k].pos; i--) {
				pos[i] = pos[i - 1];
				at[i] = at[i - 1];
			}
			pos[i] = g[k].pos;
			at[i] = near_of(sh, s, k);
		}
	}
	to->first[n_sw] = n;
	return true;
}

static bool over_new(struct load *w, struct ftr_arena *a)
{
	const struct balance_net *net = w->net;

	if (!FTR_NEW(a, w->over, net->f->n_sw))
		return false;
	for (ftr_sw s = 0; s < net->f->n_sw; s++) {
		bool over = false;

		for (uint32_t x = net->ports[s].first;
		     x <= net->ports[s].first + net->ports[s].n; x++)
			over |= net->peer[x] != FTR_SW_NONE &&
				w->c->flows[x] > w->target;
		w->over[w->n_over] = s;
		w->n_over += over;
	}
	return true;
}

static bool share_new(struct load *w, struct share *z, struct ftr_arena *a)
{
	const struct balance_net *net = w->net;
	uint32_t n_sw = net->f->n_sw;

	z->load = w;
	z->column = BALANCE_NONE;
	if (!FTR_NEW(a, z->link, net->n_links) ||
	    !FTR_NEW(a, z->over, w->n_over + 1u) || !FTR_NEW(a, z->of, n_sw) ||
	    !FTR_NEW(a, z->choice, net->n_links) ||
	    !FTR_NEW(a, z->group, FTR_PORT_MAX + 1) ||
	    !FTR_ZNEW(a, z->path, n_sw) ||
	    !FTR_NEW(a, z->queue, 2 * (size_t)n_sw) ||
	    !FTR_ZNEW(a, z->mark, n_sw) || !FTR_NEW(a, z->part, n_sw))
		return false;
	for (ftr_sw s = 0; s < n_sw; s++)
		z->of[s].column = BALANCE_NONE;
	for (uint32_t x = 0; x < net->n_links; x++)
		z->link[x] = (struct load_link){ w->c->flows[x], net->peer[x] };
	return true;
}

static bool load_new(struct load *w, struct ftr_arena *a)
{
	const struct ftr_balance_input *in = w->net->in;
	bool ok = over_new(w, a) && near_new(&w->of_shape, in->shape, a) &&
		(!in->use_full || near_new(&w->of_full, in->full, a)) &&
		FTR_ZNEW(a, w->share, w->n_shares);

	for (uint32_t k = 0; ok && k < w->n_shares; k++)
		ok = share_new(w, &w->share[k], a);
	return ok;
}

enum ftr_status balance_load_sweep(struct balance_count *c,
				   struct balance_sweep *w,
				   struct ftr_team *team,
				   struct ftr_err *err)
{
	struct load z = {
		.c = c, .net = c->net, .w = w, .ports = c->net->ports,
		.target = w->target, .n_shares = FTR_MAX(w->shares, 1),
		.share_dests = w->share_dests ? w->share_dests : SHARE_DESTS,
		.lock = PTHREAD_MUTEX_INITIALIZER,
		.batch_done = PTHREAD_COND_INITIALIZER,
		.sweep_done = PTHREAD_COND_INITIALIZER,
	};
	struct ftr_arena *a = ftr_arena_new();
	bool ok = a && load_new(&z, a) && sweep_all(&z, team);

	for (uint32_t x = 0; ok && x < c->net->n_links; x++)
		c->flows[x] = z.share[0].link[x].flows;
	for (uint32_t k = 0; z.share && k < z.n_shares; k++) {
		free(z.share[k].moved);
		for (uint32_t i = 0; i < KEPT; i++)
			free(z.share[k].change[i].at);
	}
	ftr_arena_free(a);
	return ok ? FTR_OK : ftr_fail(err, FTR_NOMEM,
				      "out of memory for balancing");
}
