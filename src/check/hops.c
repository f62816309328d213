// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Single paths: a histogram of their lengths, the unreachable pairs, and the
 * switches that are physically connected.
 *
 * Towards one LID every switch has one next hop. From each switch the path is
 * followed up to the first switch whose distance is known. Then the distances
 * are filled in backwards, so that each switch is visited at most twice: O(n_sw
 * * LIDs).  The entries for a block of LIDs are read together, because they share
 * cache lines.
 */
#include <string.h>

#include "check/check.h"

enum { UNKNOWN = 0, LOST = 1, KNOWN = 2 };	/* KNOWN + number of hops */

struct walk {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	ftr_sw *next;		/* [n_ports] switch behind each port, or FTR_SW_NONE */
	uint8_t *block;		/* [FTR_LFT_BLOCK * n_sw] entries for a block of LIDs */
	uint32_t block_of;	/* number of the block that `block` holds */
	const uint8_t *entry;	/* [n_sw] entries for the current LID */
	uint32_t *dist;		/* [n_sw] */
	ftr_sw *stack;		/* [n_sw] */
	uint64_t *sources;	/* [n_sw] number of host ports that send */
	struct ftr_arena *arena;
};

/* The next switch after s on the path to the current LID; FTR_SW_NONE if there is none. */
static ftr_sw next_of(const struct walk *w, ftr_sw s)
{
	const struct ftr_switch *sw = &w->f->sw[s];
	ftr_port p = w->entry[s];

	return p > sw->n_ports ? FTR_SW_NONE : w->next[sw->first_port + p];
}

static uint32_t distance(struct walk *w, ftr_sw from)
{
	uint32_t depth = 0, d;
	ftr_sw s = from;

	while (s != FTR_SW_NONE && w->dist[s] == UNKNOWN) {
		w->dist[s] = LOST;	/* LOST if the path comes back here */
		w->stack[depth++] = s;
		s = next_of(w, s);
	}
	d = s == FTR_SW_NONE ? LOST : w->dist[s];
	while (depth) {
		d += d >= KNOWN;
		w->dist[w->stack[--depth]] = d;
	}
	return w->dist[from];
}

static void read_block(struct walk *w, uint32_t first)
{
	const uint32_t n = w->f->n_sw;

	for (ftr_sw s = 0; s < n; s++) {
		const uint8_t *row = ftr_tables_row(w->t, s) + first;

		for (uint32_t d = 0; d < FTR_LFT_BLOCK; d++)
			w->block[(size_t)d * n + s] = row[d];
	}
}

/* Begin the walks to lid: read its entries, and reset all distances.  The distance of the
 * last switch on every path to lid is known. */
static void start_lid(struct walk *w, uint32_t lid)
{
	const struct chk_exit x = chk_exit_of(w->f, (ftr_lid)lid);
	const uint32_t n = w->f->n_sw;

	if (lid / FTR_LFT_BLOCK != w->block_of) {
		w->block_of = lid / FTR_LFT_BLOCK;
		read_block(w, w->block_of * FTR_LFT_BLOCK);
	}
	w->entry = w->block + (size_t)(lid % FTR_LFT_BLOCK) * n;
	memset(w->dist, 0, n * sizeof(*w->dist));
	if (x.sw != FTR_SW_NONE)
		w->dist[x.sw] = w->entry[x.sw] == x.port ? KNOWN : LOST;
}

static void count_lid(struct walk *w, uint32_t lid, uint64_t *hist)
{
	const ftr_sw own = w->f->ep[w->f->owner[lid].idx].sw;

	start_lid(w, lid);
	for (ftr_sw s = 0; s < w->f->n_sw; s++) {
		uint64_t n = w->sources[s] - (s == own);
		uint32_t d = n ? distance(w, s) : LOST;

		if (d < KNOWN)
			continue;
		d -= KNOWN;
		hist[d < FTR_HOPS_MAX ? d : FTR_HOPS_MAX - 1] += n;
	}
}

static void set_next(struct walk *w)
{
	for (uint32_t p = 0; p < w->f->n_ports; p++)
		w->next[p] = w->f->ports[p].peer_kind == FTR_PEER_SW ?
			w->f->ports[p].peer : FTR_SW_NONE;
	for (ftr_sw s = 0; s < w->f->n_sw; s++)		/* port 0 */
		w->next[w->f->sw[s].first_port] = FTR_SW_NONE;
}

static enum ftr_status walk_new(struct walk *w, const struct ftr_fabric *f,
				const struct ftr_tables *t, struct ftr_err *err)
{
	struct ftr_arena *a;
	enum ftr_status st = chk_same_size(f, t, err);

	*w = (struct walk){ .f = f, .t = t, .block_of = UINT32_MAX };
	if (st)
		return st;
	w->arena = a = ftr_arena_new();
	if (!a || !FTR_NEW(a, w->next, f->n_ports) ||
	    !FTR_NEW(a, w->block, (size_t)f->n_sw * FTR_LFT_BLOCK) ||
	    !FTR_NEW(a, w->dist, f->n_sw) || !FTR_NEW(a, w->stack, f->n_sw) ||
	    !FTR_ZNEW(a, w->sources, f->n_sw))
		return ftr_fail(err, FTR_NOMEM, "out of memory for the paths of %u switches",
				f->n_sw);
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (chk_is_source(&f->ep[e]))
			w->sources[f->ep[e].sw]++;
	set_next(w);
	return FTR_OK;
}

enum ftr_status ftr_check_hops(const struct ftr_fabric *f,
			       const struct ftr_tables *t,
			       uint64_t hist[FTR_HOPS_MAX],
			       struct ftr_err *err)
{
	struct walk w;
	enum ftr_status st = walk_new(&w, f, t, err);

	memset(hist, 0, FTR_HOPS_MAX * sizeof(*hist));
	for (uint32_t lid = 1; !st && lid <= f->max_lid; lid++)
		if (f->owner[lid].kind == FTR_OWNER_EP &&
		    f->ep[f->owner[lid].idx].sw != FTR_SW_NONE)
			count_lid(&w, lid, hist);
	ftr_arena_free(w.arena);
	return st;
}

enum ftr_status ftr_check_lost(const struct ftr_fabric *f,
			       const struct ftr_tables *t,
			       const struct ftr_check_report *r, ftr_lost_fn fn,
			       void *ctx, struct ftr_err *err)
{
	bool lost_ep = !r || r->bad[FTR_CHECK_HOST_HOST] ||
		       r->bad[FTR_CHECK_SW_HOST];
	bool lost_sw = !r || r->bad[FTR_CHECK_HOST_SW] ||
		       r->bad[FTR_CHECK_SW_SW];
	struct walk w;
	enum ftr_status st = walk_new(&w, f, t, err);

	for (uint32_t lid = 1; !st && lid <= f->max_lid; lid++) {
		const struct ftr_lid_owner *o = &f->owner[lid];
		bool ep = o->kind == FTR_OWNER_EP;

		if (o->kind == FTR_OWNER_NONE || !(ep ? lost_ep : lost_sw))
			continue;
		start_lid(&w, lid);
		for (ftr_sw s = 0; s < f->n_sw; s++)
			if (distance(&w, s) == LOST)
				fn(ctx, s, (ftr_lid)lid);
	}
	ftr_arena_free(w.arena);
	return st;
}

void ftr_check_parts(const struct ftr_fabric *f, uint32_t *part)
{
	ftr_uf_init(part, f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(f, s, p);

			if (port->peer_kind == FTR_PEER_SW)
				ftr_uf_union(part, s, port->peer);
		}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		part[s] = ftr_uf_find(part, s);
}
