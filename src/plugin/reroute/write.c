// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writing a repair to the switches.
 *
 * An unanswered packet is sent again over the same route and, if there is one,
 * over another route.  Steps are written one after the other; a step begins
 * when every packet of the earlier steps has been acknowledged or given up.  If a block was not
 * acknowledged, its switch holds either the old or the new entries.  Later steps write no block with
 * an entry that could close a loop with the old ones; all other blocks are written.  The view then
 * differs from the tables of the switches, and is dropped when the job is done (worker.c).
 *
 * A switch that did not answer the probe (probe.c), or that is reached only through such
 * switches, is probably dead.  In each step its blocks are written last, without a second
 * try, and the answers are awaited for a short time only.
 *
 * A routing writes its steps by other code (osm/blocks.c).  Both use the same window, acknowledgements
 * and retries (rr_ops.run).  They differ in the reaction to a loss, because here links have just
 * failed, and more may have failed that no trap has reported yet: packets change their routes, dead
 * switches must not delay the others, and OpenSM's copy of the tables is marked before the first
 * packet.  In a routing all packets to a switch take one route, so that an answered Get proves the
 * content of a block.
 *
 * The entries are sorted by (step, switch, LID).  Consecutive entries with the same step,
 * switch and 64-entry block make one packet.  The packet contains the whole block; its other
 * entries come from view->sent, which holds the entries that were written last.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reroute/reroute.h"

/* Time to wait, in ms, before step first_drain and before each later step.  Packets that were
 * routed downward to a switch must have left it before its new entries lead upward.  In general
 * this may take as long as the head-of-queue lifetime, by default 4.096 us * 2^18 (OpenSM: 0x12).
 * But the path of these packets is dead, so they are dropped when they reach the head of their
 * queue. */
#define DRAIN_MS 5

/* One call of rr_write. */
struct push {
	struct rr *f;
	struct rr_view *v;
	struct ftr_arena *arena;	/* holds the arrays below, except entry[] and dead[] */
	struct ftr_change *entry;	/* [n_entries] as for rr_write() */
	uint32_t n_entries, first_drain;
	struct rr_repair *r;
	struct rr_block *block;	/* [n] skip: no directed route leads to the switch.  (If it is alive,
				 * OpenSM will discover it again, and write its whole table.) */
	struct rr_smp *job;	/* [n] job[i]: the request for block[i] */
	uint32_t n;
	bool doubt;		/* a write was not acknowledged */
	uint8_t *known;		/* [n_entries] 1: the write of the entry was acknowledged */
	/* made if `doubt` */
	struct ftr_change **by_lid;	/* [n_entries] the entries, sorted by (LID, switch) */
	ftr_sw *stack;		/* [2 * n_entries + 1] */
	uint8_t *seen;		/* [n_sw] */
	uint64_t *dead;		/* set of the ports of all dead links, including those that the view
				 * still shows as alive during a local repair */
};

/* ---- packets ------------------------------------------------------------ */

static bool same_block(const struct ftr_change *a, const struct ftr_change *b)
{
	return a->step == b->step && a->sw == b->sw &&
		a->lid / FTR_LFT_BLOCK == b->lid / FTR_LFT_BLOCK;
}

/* Enter the changes into view->sent, and list the blocks. */
static void list_blocks(struct push *p)
{
	const struct ftr_switch *sw = p->v->gen.fabric->sw;
	struct ftr_change *e = p->entry;
	struct rr_block *b = NULL;

	for (uint32_t i = 0; i < p->n_entries; i++) {
		uint8_t *row = ftr_tables_row(p->v->sent, e[i].sw);

		if (!i || !same_block(&e[i], &e[i - 1])) {
			b = &p->block[p->n++];
			*b = (struct rr_block){
				.sw = e[i].sw, .guid = sw[e[i].sw].guid, .name = sw[e[i].sw].name,
				.block = e[i].lid / FTR_LFT_BLOCK, .step = e[i].step, .first = i,
			};
		}
		b->end = i + 1;
		e[i].before = row[e[i].lid];
		row[e[i].lid] = e[i].after;
		if (i + 1 == p->n_entries || !same_block(&e[i], &e[i + 1]))
			memcpy(b->data, row + b->block * FTR_LFT_BLOCK, sizeof(b->data));
	}
}

static void undo_writes(struct push *p)
{
	const struct ftr_change *e = p->entry;

	for (uint32_t i = p->n_entries; i-- > 0;)
		ftr_tables_row(p->v->sent, e[i].sw)[e[i].lid] = e[i].before;
}

/* ---- OpenSM's copy of the tables ------------------------------------------ */

/* Call rr_ops.settle.  The member `sure` of a block shows that two conditions are true: the last
 * write of the block, which contains all its entries, was acknowledged; and no packet to the switch
 * has timed out since the view was made, so that no older packet can arrive later. */
static bool settle(struct push *p, uint32_t epoch)
{
	bool rewrite = false;

	for (uint32_t i = 0; i < p->n; i++) {
		struct rr_block *b = &p->block[i];

		b->sure = !p->v->in_flight[b->sw] && !b->open && p->job[i].state == RR_SMP_DONE;
	}
	if (p->f->ops->settle(p->f->ctx, p->block, p->n, epoch, &rewrite))
		p->r->sets.again = true;
	return rewrite;
}

/* ---- requests ----------------------------------------------------------- */

static void make_job(struct push *p, uint32_t i)
{
	const struct rr_block *b = &p->block[i];
	struct rr_smp *j = &p->job[i];

	j->attr = RR_ATTR_LFT;
	j->mod = b->block;
	j->m_key = p->v->m_key[b->sw];
	j->payload = b->data;
	j->n_routes = !b->skip;
}

/* ---- loops ---------------------------------------------------------------- */

static int by_lid_and_switch(const void *x, const void *y)
{
	const struct ftr_change *const *a = x, *const *b = y;

	return FTR_ORDER((*a)->lid, (*b)->lid) ?: FTR_ORDER((*a)->sw, (*b)->sw);
}

/* A write was not acknowledged.  Returns false if out of memory. */
static bool begin_doubt(struct push *p)
{
	uint32_t n = p->n_entries;

	if (p->by_lid)
		return true;
	if (!FTR_NEW(p->arena, p->stack, 2 * (size_t)n + 1) ||
	    !FTR_NEW(p->arena, p->seen, p->v->gen.fabric->n_sw) || !FTR_NEW(p->arena, p->by_lid, n))
		return false;
	for (uint32_t i = 0; i < n; i++)
		p->by_lid[i] = &p->entry[i];
	qsort(p->by_lid, n, sizeof(*p->by_lid), by_lid_and_switch);
	return true;
}

/* The first element of by_lid[] that is not less than (lid, s). */
static uint32_t find_change(const struct push *p, ftr_lid lid, ftr_sw s)
{
	struct ftr_change key = { .lid = lid, .sw = s };
	const struct ftr_change *k = &key;
	uint32_t lo = 0, hi = p->n_entries;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (by_lid_and_switch(&p->by_lid[mid], &k) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The switch to which the port leads; FTR_SW_NONE: none, or the link is dead. */
static ftr_sw next_switch(const struct push *p, ftr_sw s, ftr_port port)
{
	const struct ftr_fabric *f = &p->v->fabric;
	ftr_sw next = ftr_fabric_next(f, s, port);

	return next != FTR_SW_NONE && rr_bit_has(p->dead, f->sw[s].first_port + port) ?
		FTR_SW_NONE : next;
}

/* Follow all paths from s for the LID that the switches may have now, up to the switch `end` or to a
 * changed entry.  An entry whose write was not acknowledged may be the old or the new one.  Returns
 * true if a path leads to `end`. */
static bool may_reach(struct push *p, ftr_sw s, ftr_lid lid, ftr_sw end)
{
	uint32_t n = 0;

	memset(p->seen, 0, p->v->gen.fabric->n_sw);
	for (;; s = p->stack[--n]) {
		while (s != FTR_SW_NONE && s != end && !p->seen[s]) {
			uint32_t i = find_change(p, lid, s);
			bool changed = false;

			p->seen[s] = 1;
			for (; i < p->n_entries && p->by_lid[i]->lid == lid && p->by_lid[i]->sw == s; i++) {
				const struct ftr_change *c = p->by_lid[i];

				changed = true;
				p->stack[n++] = next_switch(p, s, c->after);
				if (!p->known[c - p->entry])
					p->stack[n++] = next_switch(p, s, c->before);
			}
			if (!changed)
				s = next_switch(p, s, ftr_tables_get(p->v->sent, s, lid));
		}
		if (s == end)
			return true;
		if (!n)
			return false;
	}
}

/* True if the write could close a loop, because another one was not acknowledged.  The block also contains
 * its entries of earlier steps, which may not have been written. */
static bool may_loop(struct push *p, const struct rr_block *b)
{
	if (!begin_doubt(p))
		return true;
	for (const struct rr_block *x = p->block; x <= b; x++) {
		if (x->sw != b->sw || x->block != b->block)
			continue;
		for (uint32_t i = x->first; i < x->end; i++) {
			const struct ftr_change *e = &p->entry[i];

			if (!p->known[i] && may_reach(p, next_switch(p, e->sw, e->after), e->lid, e->sw))
				return true;
		}
	}
	return false;
}

/* ---- packets that get lost ---------------------------------------------- */

/* The first packets of a step may be lost, because another link on their routes has died and its
 * trap has not arrived yet.  To detect this soon, their timeout is multiplied by this value. */
#define QUICK_TIMEOUTS 0.5

/* If `proven` is NULL, add the outgoing port of every link of the route dr to `set`.  Otherwise
 * `proven` is the set of links that are known to work: add both ends of the first link of dr that
 * is not in `proven`. */
static void mark_route(const struct push *p, const struct rr_dr *dr,
		       uint64_t *set, const uint64_t *proven)
{
	const struct ftr_fabric *f = &p->v->fabric;
	ftr_sw s = p->v->origin.sw;

	for (unsigned int i = p->v->origin.port ? 2 : 1; i <= dr->hops;
	     i++) {
		const struct ftr_swport *port = ftr_fabric_port(f, s, dr->path[i]);
		uint32_t bit = f->sw[s].first_port + dr->path[i];

		if (!proven || !rr_bit_has(proven, bit))
			rr_bit_put(set, bit);
		if (proven && !rr_bit_has(proven, bit)) {
			rr_bit_put(set, f->sw[port->peer].first_port +
			    port->peer_port);
			return;
		}
		s = port->peer;
	}
}

/* Compute the routes of v->tree[1].  They avoid these links: on the route of each lost packet, the
 * first link over which no acknowledged packet of this step has passed.  Returns false if out of
 * memory. */
static bool search_around_lost(struct push *p, uint32_t first, uint32_t end)
{
	const struct ftr_fabric *f = &p->v->fabric;
	size_t words = (f->n_ports + 63) / 64;
	uint64_t *proven = ftr_calloc(words, sizeof(*proven));

	if (!proven)
		return false;
	memcpy(p->v->suspect, p->dead, words * sizeof(*p->v->suspect));
	for (uint32_t i = first; i < end; i++)
		if (p->job[i].state == RR_SMP_DONE)
			mark_route(p, &p->job[i].route[0], proven, NULL);
	for (uint32_t i = first; i < end; i++)
		if (p->job[i].state != RR_SMP_DONE && p->job[i].n_routes &&
		    !p->job[i].skip)
			mark_route(p, &p->job[i].route[0], p->v->suspect, proven);
	rr_dr_search(p->v->tree[1], f, &p->v->origin, p->v->suspect, NULL);
	free(proven);
	return true;
}

/* Send the unanswered packets again, alternately over a route of search_around_lost() and over the
 * previous route. */
static void second_try(struct push *p, uint32_t first, uint32_t end,
		       const struct rr_smp_policy *policy)
{
	struct rr_smp *again = ftr_calloc(end - first, sizeof(*again));
	uint32_t n = 0;

	if (!again || !search_around_lost(p, first, end)) {
		free(again);
		return;
	}
	for (uint32_t i = first; i < end; i++) {
		struct rr_smp *j = &p->job[i];
		struct rr_dr around;

		if (j->state == RR_SMP_DONE || !j->n_routes || j->skip)
			continue;
		p->v->in_flight[p->block[i].sw] = 1;
		p->r->sets.again = true;
		if (rr_dr_route(p->v->tree[1], p->block[i].sw, &around)) {
			j->route[1] = j->route[0];
			j->route[0] = around;
			j->n_routes = 2;
		}
		again[n++] = *j;
	}
	p->f->ops->run(p->f->ctx, again, n, policy);
	while (n)	/* copy the results back */
		if (p->job[--end].state != RR_SMP_DONE &&
		    p->job[end].n_routes && !p->job[end].skip)
			p->job[end] = again[--n];
	free(again);
}

/* Time in ms for which a step waits for answers of switches that are probably dead, but may only be
 * slow. */
#define LATE_MS 10

/* Send packets of one step: if `late` is true, those of the blocks that are late, otherwise all
 * others. */
static void write_some(struct push *p, uint32_t first, uint32_t end, bool late)
{
	struct rr_smp_policy policy = {
		.window = p->f->window,
		.timeout = p->f->timeout, .tries = 3,
		.limit = late ? LATE_MS : 0,
	}, quick = policy;
	uint32_t todo = 0;

	for (uint32_t i = first; i < end; i++) {
		struct rr_smp *j = &p->job[i];

		if (j->state == RR_SMP_DONE || p->block[i].late != late)
			j->skip = true;
		else
			todo += j->n_routes != 0;
	}
	quick.timeout *= QUICK_TIMEOUTS;
	quick.tries = 1;
	if (todo && p->f->ops->run(p->f->ctx, p->job + first, end - first, &quick) && !late)
		second_try(p, first, end, &policy);
	for (uint32_t i = first; i < end; i++)
		p->job[i].skip = false;
}

/* Send the packets first .. end-1, which form one step. */
static void write_step(struct push *p, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		make_job(p, i);
		if (p->doubt && may_loop(p, &p->block[i]))
			p->job[i].n_routes = 0;
	}
	write_some(p, first, end, false);
	write_some(p, first, end, true);
	for (uint32_t i = first; i < end; i++) {
		const struct rr_block *b = &p->block[i];

		p->v->in_flight[b->sw] |= p->job[i].twice;
		if (p->job[i].state == RR_SMP_DONE)
			memset(p->known + b->first, 1, b->end - b->first);
		if (p->job[i].state == RR_SMP_DONE || b->skip)
			continue;
		p->doubt = true;
		p->v->mixed = true;
		p->v->in_flight[b->sw] |= p->job[i].n_routes != 0;
		p->r->sets.failed += !b->late;
	}
}

static bool overtaken(struct push *p, uint32_t epoch)
{
	bool is;

	pthread_mutex_lock(&p->f->mutex);
	is = !rr_may_write(&p->f->state, epoch);
	pthread_mutex_unlock(&p->f->mutex);
	return is;
}

/* Write all steps.  If a routing has begun, stop between two steps: OpenSM then writes all
 * tables. */
static void write_all(struct push *p, uint32_t epoch)
{
	for (uint32_t first = 0, end; first < p->n; first = end) {
		uint16_t step = p->block[first].step;

		if (overtaken(p, epoch))
			break;
		for (end = first; end < p->n && p->block[end].step == step; end++)
			;
		if (step >= p->first_drain)
			p->f->ops->sleep(p->f->ctx, DRAIN_MS);
		write_step(p, first, end);
	}
	for (uint32_t i = 0; i < p->n; i++) {
		double ms = p->job[i].at - p->r->trap_at;

		if (p->job[i].state != RR_SMP_DONE)
			continue;
		if (p->r->sets.first_ms < 0 || ms < p->r->sets.first_ms)
			p->r->sets.first_ms = ms;
		if (ms > p->r->sets.last_ms)
			p->r->sets.last_ms = ms;
	}
}

/* ---- the written entries, for replays ----------------------------------- */

static void note_write(const struct push *p, FILE *out, uint32_t i)
{
	const struct rr_block *b = &p->block[i];

	fprintf(out, "{\"ms\":%.3f,\"guid\":\"0x%016" PRIx64 "\",\"lids\":[",
		p->job[i].at - p->r->trap_at,
		b->guid);
	for (uint32_t k = b->first; k < b->end; k++)
		fprintf(out, "%s[%u,%u]", k > b->first ? "," : "",
			p->entry[k].lid, p->entry[k].after);
	fprintf(out, "]}\n");
}

/* A write with more entries than this is not recorded, because such records would fill the
 * disk. */
#define NOTED_MAX 16384

/* Append the written blocks to sets.text.  A repair may be written in several parts. */
static void note_writes(struct push *p)
{
	size_t size;
	struct rr_sets *sets = &p->r->sets;
	char *text = NULL;
	FILE *out;

	sets->text_lost |= p->n_entries > NOTED_MAX;
	out = sets->text_lost ? NULL : ftr_memstream(&text, &size);
	if (out) {
		fputs(sets->text ? sets->text : "", out);
		for (uint32_t i = 0; i < p->n; i++)
			if (p->job[i].state == RR_SMP_DONE)
				note_write(p, out, i);
		ftr_memstream_end(out, &text);
	}
	free(sets->text);
	sets->text = text;
	sets->text_lost = !text;
}

/* ---- a whole write ------------------------------------------------------ */

/* Add the numbers of this write to those in r->sets. */
static void count(struct push *p)
{
	uint64_t seen[FTR_LID_MAX / 64 + 1] = { 0 };

	for (uint32_t i = 0; i < p->n_entries; i++) {
		ftr_lid lid = p->entry[i].lid;

		p->r->sets.lids += !rr_bit_has(seen, lid);
		p->r->sets.pathless += p->entry[i].after == FTR_PORT_NONE;
		rr_bit_put(seen, lid);
	}
	for (uint32_t i = 0; i < p->n; i++)
		p->r->sets.blocks += !p->block[i].skip;
	p->r->sets.n_changes += p->n_entries;
}

static bool allocate(struct push *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_entries; i++)
		n += !i || !same_block(&p->entry[i], &p->entry[i - 1]);
	p->arena = ftr_arena_new();
	p->dead = rr_dead_with(p->v, p->r);
	return p->arena && p->dead && FTR_ZNEW(p->arena, p->job, n) && FTR_NEW(p->arena, p->block, n) &&
		FTR_ZNEW(p->arena, p->known, p->n_entries);
}

/* Returns true if the worker may write now.  If a discovery ends meanwhile, OpenSM waits for
 * end_write(), at most 5 s, before it routes.  Returns false if OpenSM is routing, or if a routing
 * has begun and ended while the switches were probed: changes that are based on older tables must
 * not overwrite the tables of that routing. */
static bool begin_write(struct rr *f, uint32_t *epoch)
{
	struct rr_event ev = { .kind = RR_EV_WRITE_BEGIN };
	bool ok;

	pthread_mutex_lock(&f->mutex);
	ok = !f->stop && rr_post_locked(f, &ev) & RR_ACT_WRITE;
	*epoch = f->state.epoch;
	pthread_mutex_unlock(&f->mutex);
	return ok;
}

static void end_write(const struct push *p, bool rewrite)
{
	struct rr *f = p->f;

	pthread_mutex_lock(&f->mutex);
	f->written.last = rr_now(f);
	if (f->view->graph || f->view->planner || f->view->turned)
		f->written.unranked = f->written.last;
	for (uint32_t i = 0; i < p->n_entries; i++)
		f->written.lid[p->entry[i].lid] = f->written.last;
	rr_post_locked(f, &(struct rr_event){ .kind = RR_EV_WRITE_END, .rewrite = rewrite });
	pthread_mutex_unlock(&f->mutex);
}

/* Find routes for the writes that have no route yet.  The routes avoid dead links, and the switches
 * with silent[] set (silent NULL: none).  Returns false if some writes still have no route. */
static bool find_routes(struct push *p, const uint8_t *silent)
{
	bool all = true;

	rr_dr_search(p->v->tree[0], &p->v->fabric, &p->v->origin, p->dead, silent);
	for (uint32_t i = 0; i < p->n; i++) {
		struct rr_block *b = &p->block[i];
		struct rr_smp *j = &p->job[i];

		if (j->n_routes)
			continue;
		j->n_routes = rr_dr_route(p->v->tree[0], b->sw, &j->route[0]);
		b->late = !silent || p->v->silent[b->sw];
		b->skip = !j->n_routes;
		all = all && j->n_routes;
	}
	return all;
}

enum ftr_status rr_write(struct rr *f, struct ftr_change *entry, uint32_t n, uint32_t first_drain,
			 struct rr_repair *r, struct ftr_err *err)
{
	struct push p = {
		.f = f, .v = f->view, .r = r, .entry = entry, .n_entries = n,
		.first_drain = first_drain,
	};
	enum ftr_status st = FTR_OK;
	uint32_t epoch;
	bool begun = false, rewrite = false;

	if (!entry)
		st = ftr_nomem(err, "changed entries");
	else if (!allocate(&p))
		st = ftr_nomem(err, "writes");
	if (!st) {
		list_blocks(&p);
		if (!find_routes(&p, p.v->silent))
			find_routes(&p, NULL);
		begun = begin_write(f, &epoch);
		st = begun ? f->ops->announce(f->ctx, p.block, p.n, epoch, err) :
			     ftr_fail(err, FTR_REFUSED, "OpenSM is routing, or has just routed");
		if (!st) {
			write_all(&p, epoch);
			rewrite = settle(&p, epoch);
		} else {
			undo_writes(&p);
		}
	}
	if (begun)
		end_write(&p, rewrite);
	if (!st) {
		count(&p);
		note_writes(&p);
	}
	free(entry);
	ftr_arena_free(p.arena);
	free(p.dead);
	return st;
}
