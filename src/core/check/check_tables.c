// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ftr_check_tables(): sets up the data, divides the LIDs among threads, and adds up the results.
 *
 * The set-up makes hop[] (check.h) and counts the hosts of each switch.  If ranks are claimed, it
 * also sorts the switches by rank.
 *
 * Then blocks of 128 LIDs are divided among the threads.  If ranks are claimed, updown.c checks
 * each block first, and walk.c checks only the LIDs that updown.c cannot decide.  Otherwise walk.c
 * checks every LID.
 *
 *	part[0]  part[1] ...	counts, samples, scratch: one per worker
 *	    \     /
 *	     sum		sums, maxima, samples
 *
 * The sample of each kind of fault is the fault with the least (LID, switch).  Sums and samples do
 * not depend on which worker checks which block.  So the report is the same for any number of
 * threads.  All memory is allocated before the workers run.
 *
 * If the paths to every LID agree with the claims (updown.c, cdg.c), the tables are free of credit
 * loops.  Otherwise the dependencies of all LIDs are put into a graph, and the graph is searched
 * for a cycle (cdg.c, cycle.c).
 *
 * Time: O(n_sw * LIDs).  Memory for each switch: 1 KB, about 150 bytes for each worker, and a
 * matrix of (number of ports)^2 bits.  If VLs are checked, the matrix has (number of ports *
 * number of VLs)^2 bits, and each worker needs 64 more bytes per port.
 */
#include <stdlib.h>
#include <string.h>

#include "check/claims.h"

static void count_pairs(const struct chk *c, struct ftr_check_report *r)
{
	for (uint32_t lid = 1; lid <= c->f->max_lid; lid++) {
		const struct ftr_lid_owner *o = &c->f->owner[lid];

		if (o->kind == FTR_OWNER_EP) {
			const struct ftr_endport *e = &c->f->ep[o->idx];

			r->pairs[FTR_CHECK_HOST_HOST] +=
				c->n_hosts - chk_is_source(e);
			r->pairs[FTR_CHECK_SW_HOST] += c->f->n_sw;
		} else if (o->kind == FTR_OWNER_SW) {
			r->pairs[FTR_CHECK_HOST_SW] += c->n_hosts;
			r->pairs[FTR_CHECK_SW_SW] += c->f->n_sw - 1;
		}
	}
}

static void merge(struct ftr_check_report *sum,
		  const struct ftr_check_report *r)
{
	for (int i = 0; i < FTR_N_CHECK_CLASSES; i++)
		sum->bad[i] += r->bad[i];
	for (int i = 0; i < FTR_N_FINDINGS; i++) {
		if (r->found[i])
			chk_sample(&sum->sample[i], !sum->found[i],
				   r->sample[i]);
		sum->found[i] += r->found[i];
	}
	sum->harmful += r->harmful;
	sum->max_hops = FTR_MAX(sum->max_hops, r->max_hops);
}

/* Add the counts of vl_cdg.c. Not part of merge(), because vl_cdg.c may run after merge(). */
static void merge_vls(struct ftr_check_report *sum,
		      const struct ftr_check_report *r)
{
	if (r->vl_drops)
		chk_sample(&sum->vl_drop, !sum->vl_drops, r->vl_drop);
	sum->vl_drops += r->vl_drops;
	sum->no_sl += r->no_sl;
}

/* ---- set-up -------------------------------------------------------------- */

/* Where port p of s leads.  p is not 0. */
static uint32_t meaning(const struct chk *c, ftr_sw s, uint32_t p)
{
	const struct ftr_fabric *f = c->f;
	const struct ftr_swport *port = ftr_fabric_port(f, s, p);

	if (port->peer_kind == FTR_PEER_NONE)
		return f->n_sw + END_DEAD;
	if (port->peer_kind == FTR_PEER_EP)
		return f->n_sw + END_WRONG;
	if (c->rank && c->rank[s] == c->rank[port->peer])
		return f->n_sw + END_SIDE;
	return port->peer;
}

static void set_hops(struct chk *c)
{
	for (ftr_sw s = 0; s < c->f->n_sw; s++) {
		uint32_t *hop = c->hop + (size_t)s * CHK_HOPS;

		for (uint32_t p = 0; p < CHK_HOPS; p++)
			hop[p] = (c->f->n_sw + END_DEAD) * CHK_BATCH;
		for (uint32_t p = 1; p <= c->f->sw[s].n_ports; p++)
			hop[p] = meaning(c, s, p) * CHK_BATCH;
		hop[FTR_PORT_NONE] = (c->f->n_sw + END_MISSING) * CHK_BATCH;
	}
}

static void set_sources(struct chk *c)
{
	for (ftr_ep e = 0; e < c->f->n_ep; e++)
		if (chk_is_source(&c->f->ep[e])) {
			c->hosts[c->f->ep[e].sw]++;
			c->n_hosts++;
		}
	for (ftr_sw s = 0; s < c->f->n_sw; s++)
		c->source[s] = c->switches || c->hosts[s];
}

static void set_order(struct chk *c)
{
	uint32_t at[257] = { 0 };

	for (ftr_sw s = 0; s < c->f->n_sw; s++)
		at[c->rank[s] + 1]++;
	for (int r = 0; r < 256; r++) {
		if (!c->n_lowest)
			c->n_lowest = at[r + 1];
		at[r + 1] += at[r];
	}
	for (ftr_sw s = 0; s < c->f->n_sw; s++)
		c->order[at[c->rank[s]]++] = s;
}

static bool new_cdg(struct chk *c, struct ftr_arena *a)
{
	uint64_t words = 0;

	if (!FTR_NEW(a, c->cdg.first, c->f->n_sw) ||
	    !FTR_ZNEW(a, c->in_cdg, (size_t)c->f->max_lid + 1))
		return false;
	for (ftr_sw s = 0; s < c->f->n_sw; s++) {
		c->cdg.first[s] = words;
		words += (uint64_t)(c->f->sw[s].n_ports + 1u) * c->n_vl *
			chk_dep_words(c, s);
	}
	return FTR_ZNEW(a, c->cdg.dep, words) != NULL;
}

static bool new_part(const struct chk *c, struct ftr_arena *a,
		     struct chk_part *w)
{
	const uint32_t n = c->f->n_sw;

	if (!FTR_NEW(a, w->col, n) || !FTR_NEW(a, w->nxt, n) ||
	    !FTR_NEW(a, w->end, n) || !FTR_NEW(a, w->mark, n) ||
	    !FTR_NEW(a, w->hops, n) || !FTR_NEW(a, w->stack, n))
		return false;
	if (c->vls && !c->no_cdg &&
	    !FTR_ZNEW(a, w->seen, (size_t)c->f->n_ports * FTR_N_SL))
		return false;
	if (!c->rank)
		return true;
	if (!FTR_ZNEW(a, w->head, n) || !FTR_NEW(a, w->bad, n) ||
	    !FTR_NEW(a, w->state, ((size_t)n + N_ENDS) * CHK_BATCH))
		return false;
	for (int i = 0; i < N_ENDS; i++)
		memset(w->state + ((size_t)n + i) * CHK_BATCH,
		       chk_end_state[i], CHK_BATCH);
	return true;
}

bool chk_set_up(struct chk *c, struct ftr_arena *a, unsigned int workers)
{
	const uint32_t n = c->f->n_sw;

	if (!FTR_NEW(a, c->hop, (size_t)n * CHK_HOPS) ||
	    !FTR_ZNEW(a, c->hosts, n) || !FTR_NEW(a, c->source, n) ||
	    !FTR_NEW(a, c->order, n) || !FTR_ZNEW(a, c->part, workers))
		return false;
	if (!c->no_cdg && !new_cdg(c, a))
		return false;
	for (unsigned int i = 0; i < workers; i++)
		if (!new_part(c, a, &c->part[i]))
			return false;
	set_hops(c);
	set_sources(c);
	if (c->rank)
		set_order(c);
	return true;
}

/* ---- the run ------------------------------------------------------------- */

static void check_blocks(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	const struct chk *c = ctx;
	struct chk_part *w = &c->part[worker];

	if (c->rank) {
		for (uint32_t b = begin; b < end; b++)
			chk_block(c, w, b * CHK_BATCH);
		return;
	}
	end = FTR_MIN(end * CHK_BATCH, c->f->max_lid + 1u);
	for (uint32_t lid = begin * CHK_BATCH; lid < end; lid++)
		if (c->f->owner[lid].kind != FTR_OWNER_NONE)
			chk_walk_lid(c, w, (ftr_lid)lid);
}

/* Add the dependencies of all LIDs that are not yet in the graph. */
static void add_blocks_to_cdg(void *ctx, unsigned int worker, uint32_t begin,
			      uint32_t end)
{
	const struct chk *c = ctx;
	struct chk_part *w = &c->part[worker];

	end = FTR_MIN(end * CHK_BATCH, c->f->max_lid + 1u);
	for (uint32_t lid = begin * CHK_BATCH; lid < end; lid++) {
		if (c->f->owner[lid].kind == FTR_OWNER_NONE || c->in_cdg[lid])
			continue;
		chk_column(c, w, (ftr_lid)lid);
		chk_cdg_add(c, w, (ftr_lid)lid);
	}
}

static enum ftr_status run_check_tables(struct chk *c, struct ftr_arena *a,
					struct ftr_team *team, struct ftr_check_report *r,
					struct ftr_err *err)
{
	uint32_t blocks = c->f->max_lid / CHK_BATCH + 1u;
	bool proved = c->rank != NULL;

	count_pairs(c, r);
	ftr_team_run(team, blocks, 1, check_blocks, c);
	for (unsigned int i = 0; i < ftr_team_size(team); i++) {
		merge(r, &c->part[i].r);
		proved = proved && !c->part[i].unproved;
	}
	if (c->no_cdg)
		return FTR_OK;
	if (proved) {
		r->cdg = FTR_CDG_PROVED;
		return FTR_OK;
	}
	ftr_team_run(team, blocks, 1, add_blocks_to_cdg, c);
	for (unsigned int i = 0; i < ftr_team_size(team); i++)
		merge_vls(r, &c->part[i].r);
	r->n_vls = c->vls ? c->n_vl : 0;
	return chk_cycle(c, a, r, err);
}

enum ftr_status chk_refuse(const struct ftr_fabric *f,
			   const struct ftr_tables *t, struct ftr_err *err)
{
	enum ftr_status st = chk_same_size(f, t, err);

	if (st)
		return st;
	if (f->n_sw > CHK_SW_MAX)
		return ftr_fail(err, FTR_LIMIT, "the fabric has %u switches; the checker supports at most %u",
				f->n_sw, (unsigned int)CHK_SW_MAX);
	return FTR_OK;
}

static void set_opts(struct chk *c, const struct ftr_check_opts *opts)
{
	c->rank = opts->rank;
	c->no_cdg = opts->no_cdg;
	c->switches = opts->switch_sources;
	c->sl2vl = opts->sl2vl;
	c->path_sl = opts->path_sl;
	c->vls = opts->sl2vl || opts->path_sl;
	c->n_vl = c->vls && !c->no_cdg ? chk_vls_count(c) : 1;
}

enum ftr_status ftr_check_tables(const struct ftr_fabric *f,
				 const struct ftr_tables *t,
				 const struct ftr_check_opts *opts,
				 struct ftr_team *team,
				 struct ftr_check_report *out,
				 struct ftr_err *err)
{
	static const struct ftr_check_opts none;
	struct ftr_check_report r = { 0 };
	struct chk c = { .f = f, .t = t };
	struct chk_claims claims = { 0 };
	struct ftr_arena *a;
	enum ftr_status st = chk_refuse(f, t, err);

	if (st)
		return st;
	if (!opts)
		opts = &none;
	st = chk_vls_fit(f, opts, err);
	if (st)
		return st;
	set_opts(&c, opts);
	a = ftr_arena_new();
	if (opts->list_lost)
		c.lost = ftr_calloc((size_t)(f->max_lid / 64 + 1u) * f->n_sw, sizeof(*c.lost));
	if (a && (c.lost || !opts->list_lost) && chk_set_up(&c, a, ftr_team_size(team))) {
		st = chk_claims_set(&claims, f, &(struct ftr_check_delta){
			.rank = opts->rank, .turn = opts->turn, .n_turns = opts->n_turns,
		}, a, err);
		c.claims = claims.n ? &claims : NULL;
		if (!st && (!opts->base || !chk_from_base(&c, opts->base, a, &r)))
			st = run_check_tables(&c, a, team, &r, err);
	} else {
		st = ftr_fail(err, FTR_NOMEM, "out of memory while checking the tables of %u switches",
			      f->n_sw);
	}
	ftr_arena_free(a);
	if (st) {
		free(c.lost);
		return st;
	}
	*out = r;
	out->lost = c.lost;
	return FTR_OK;
}
