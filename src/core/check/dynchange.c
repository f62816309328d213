// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the edges that a change adds to the graph.  A VL of a link is occupied for a LID if packets
 * for this LID may be on it.
 *
 * The entries of a step are written in any order.  Meanwhile, a switch may have its old or its new
 * entry.  So the new entries of the step are kept beside the old ones (alt[]).  At each switch with
 * a new entry, every occupied incoming link depends on two links: the link of the old entry and the
 * link of the new one.  Packets that reach a VL that was not occupied before are followed through
 * old and new entries.  At the end of the step the new entries replace the old ones.  Later steps
 * do not follow the replaced entries, but the edges of these entries stay in the graph.
 *
 * The set of occupied VLs of a link for a LID is stored in two parts.  The VLs that became occupied
 * since the last drain are stored per LID (struct dyn_lid).  The base entries of a LID are its
 * entries at its last drain.  The VLs that the base entries occupy were stored when the edges of
 * these entries were counted (base_set).
 *
 * If a change would close a cycle, it is undone: counts, occupied VLs and entries.  The order of
 * the vertices is not undone, because it is also valid for fewer edges.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "check/dyn.h"

enum outcome { DONE, CLOSES, NO_MEMORY };

/* ---- LIDs that are not drained ----------------------------------------- */

struct dyn_lid *dyn_open(struct ftr_cdg *g, ftr_lid lid)
{
	struct dyn_lid *t;

	if (g->open_of[lid])
		return g->open[g->open_of[lid] - 1];
	t = FTR_GROW(g->open, g->n_open, g->cap_open) ?
		ftr_calloc(1, sizeof(*t)) : NULL;
	if (!t)
		return NULL;
	t->lid = lid;
	g->open[g->n_open++] = t;
	g->open_of[lid] = g->n_open;
	return t;
}

void dyn_close_last(struct ftr_cdg *g)
{
	struct dyn_lid *t = g->open[--g->n_open];

	g->open_of[t->lid] = 0;
	free(t->occ.slot);
	free(t->base.slot);
	free(t->edge);
	free(t);
}

/* ---- occupied VLs ------------------------------------------------------ */

static struct dyn_slot *slot_of(const struct dyn_map *m, uint32_t key)
{
	uint32_t i = (key * 2654435761u) & (m->cap - 1);

	while (m->slot[i].key && m->slot[i].key != key + 1)
		i = (i + 1) & (m->cap - 1);
	return &m->slot[i];
}

static inline uint16_t map_get(const struct dyn_map *m, uint32_t key)
{
	return m->filter >> key % 64 & 1 ? slot_of(m, key)->value : 0;
}

static bool map_grow(struct dyn_map *m)
{
	struct dyn_map n = {
		.cap = m->cap ? 2 * m->cap : 8, .n = m->n, .filter = m->filter,
	};

	n.slot = ftr_calloc(n.cap, sizeof(*n.slot));
	if (!n.slot)
		return false;
	for (uint32_t i = 0; i < m->cap; i++)
		if (m->slot[i].key)
			*slot_of(&n, m->slot[i].key - 1) = m->slot[i];
	free(m->slot);
	*m = n;
	return true;
}

/* Set the value of a key. Keys are never removed. Returns false if out of memory. */
static bool map_set(struct dyn_map *m, uint32_t key, uint16_t value)
{
	struct dyn_slot *slot;

	if (2 * (m->n + 1) > m->cap && !map_grow(m))
		return false;
	slot = slot_of(m, key);
	m->n += !slot->key;
	m->filter |= UINT64_C(1) << key % 64;
	*slot = (struct dyn_slot){ key + 1, value };
	return true;
}

/* The set of VLs of the link that packets for lid occupy under the base entries. */
static uint32_t base_vls(const struct ftr_cdg *g, const struct dyn_lid *t,
			 uint32_t link, ftr_lid lid, uint32_t sl)
{
	const struct dyn_link *out = &g->link[link];
	uint32_t base = map_get(&t->base, out->from), got = 0;

	if ((base ? base - 1 : *dyn_entry(g, out->from, lid)) != out->from_port)
		return 0;
	for (unsigned int vl = 0; vl < g->n_vl; vl++)
		if (dyn_base_set(g, sl, out->from, vl)[lid / 64] >>
		    lid % 64 & 1)
			got |= 1u << vl;
	return got;
}

static uint32_t occupied(const struct ftr_cdg *g, const struct dyn_lid *t,
			 uint32_t link, ftr_lid lid, uint32_t sl)
{
	return map_get(&t->occ, link * g->n_sl + sl) | base_vls(g, t, link, lid, sl);
}

bool ftr_cdg_may_pass(const struct ftr_cdg *g, ftr_sw s, ftr_lid lid)
{
	uint32_t link = dyn_link_of(g, s, *dyn_entry(g, s, lid));
	const struct dyn_lid *t = g->open_of[lid] ?
		g->open[g->open_of[lid] - 1] : NULL;

	if (g->drops || (t && t->base.n) || link == DYN_NONE ||
	    g->link[link].down_since <= g->epoch_of[lid])
		return true;
	for (uint32_t sl = 0; sl < g->n_sl; sl++)
		for (unsigned int vl = 0; vl < g->n_vl; vl++)
			if (dyn_base_set(g, sl, s, vl)[lid / 64] >> lid % 64 & 1)
				return true;
	return false;
}

/* ---- following --------------------------------------------------------- */

/* Mark VL link_vl of the link as occupied by packets of an SL. If it was not occupied before, queue
 * these packets to be followed. */
static enum outcome occupy(struct ftr_cdg *g, struct dyn_lid *t, uint32_t link,
			   unsigned int link_vl, uint32_t sl)
{
	uint32_t key = link * g->n_sl + sl;
	uint32_t got = occupied(g, t, link, t->lid, sl);
	uint16_t mine = map_get(&t->occ, key);

	if (got >> link_vl & 1)
		return DONE;
	if (!FTR_GROW(g->step.undo, g->step.n_undo, g->step.cap_undo) ||
	    !FTR_GROW(g->step.queue, g->step.n_queue, g->step.cap_queue) ||
	    !map_set(&t->occ, key, (uint16_t)(mine | 1u << link_vl)))
		return NO_MEMORY;
	g->step.undo[g->step.n_undo++] = (struct dyn_slot){ key, mine };
	g->step.queue[g->step.n_queue++] = (uint64_t)key << 8 | link_vl;
	return DONE;
}

/* Add the edge from VL v of link `in` to VL w of link `out`. */
static enum outcome add_edge(struct ftr_cdg *g, struct dyn_lid *t, uint32_t in,
			     unsigned int v, uint32_t out, unsigned int w)
{
	uint32_t at = dyn_edge_at(g, &g->link[in], v, g->link[out].from_index,
				  w);

	if (!FTR_GROW(t->edge, t->n_edge, t->cap_edge))
		return NO_MEMORY;
	if (!g->count[at] && !dyn_order_edge(g, in * g->n_vl + v,
					     out * g->n_vl + w))
		return CLOSES;
	g->count[at]++;
	t->edge[t->n_edge++] = at;
	return DONE;
}

/* Let packets on VL vl_in of link `in` pass the next switch and leave it through `port`. */
static enum outcome pass(struct ftr_cdg *g, struct dyn_lid *t, uint32_t in,
			 unsigned int vl_in, uint32_t sl, ftr_port port)
{
	const struct dyn_link *l = &g->link[in];
	uint32_t out = dyn_link_of(g, l->to, port);
	unsigned int link_vl;
	enum outcome r;

	if (out == DYN_NONE || dyn_is_down(g, out) || dyn_is_down(g, in))
		return DONE;
	link_vl = dyn_vl(g, sl, l, g->link[out].from_index);
	if (link_vl == FTR_VL_DROP)
		return DONE;
	r = add_edge(g, t, in, vl_in, out, link_vl);
	return r ? r : occupy(g, t, out, link_vl, sl);
}

/* Follow the queued packets by the old and by the new entries of their switches. */
static enum outcome drain_queue(struct ftr_cdg *g, struct dyn_lid *t)
{
	while (g->step.n_queue) {
		uint64_t q = g->step.queue[--g->step.n_queue];
		uint32_t key = (uint32_t)(q >> 8);
		uint32_t link = key / g->n_sl, sl = key % g->n_sl;
		ftr_sw s = g->link[link].to;
		enum outcome r = pass(g, t, link, q & 255, sl, *dyn_entry(g, s, t->lid));

		if (!r && g->step.alt[s] != FTR_PORT_NONE)
			r = pass(g, t, link, q & 255, sl, g->step.alt[s]);
		if (r)
			return r;
	}
	return DONE;
}

/* Let all packets that may be at s leave it through `port`, the port of the new entry of s. */
static enum outcome start(struct ftr_cdg *g, struct dyn_lid *t, ftr_sw s,
			  ftr_port port)
{
	uint32_t out = dyn_link_of(g, s, port);
	enum outcome r;

	if (out == DYN_NONE || dyn_is_down(g, out))
		return DONE;
	for (uint32_t sl = 0; sl < g->n_sl; sl++) {
		uint32_t vls = g->inject[sl * g->n_links + out];

		for (; vls; vls &= vls - 1) {
			r = occupy(g, t, out, (unsigned int)__builtin_ctz(vls), sl);
			if (r)
				return r;
		}
		for (uint32_t i = 0; i < dyn_degree(g, s); i++) {
			const struct dyn_link *l = &g->link[g->first_link[s] + i];
			uint32_t in = g->first_link[l->to] + l->to_index;

			for (vls = occupied(g, t, in, t->lid, sl); vls; vls &= vls - 1) {
				r = pass(g, t, in, (unsigned int)__builtin_ctz(vls), sl, port);
				if (r)
					return r;
			}
		}
	}
	return DONE;
}

static enum outcome one_step(struct ftr_cdg *g, struct dyn_lid *t,
			     const struct ftr_change *w, uint32_t n)
{
	enum outcome r = DONE;

	for (uint32_t i = 0; i < n; i++)
		g->step.alt[w[i].sw] = w[i].after;
	for (uint32_t i = 0; i < n; i++) {
		r = start(g, t, w[i].sw, w[i].after);
		if (!r)
			r = drain_queue(g, t);
		if (r)
			break;
	}
	for (uint32_t i = 0; i < n; i++)
		g->step.alt[w[i].sw] = FTR_PORT_NONE;
	g->step.n_queue = 0;
	if (r)
		return r;
	for (uint32_t i = 0; i < n; i++)
		*dyn_entry(g, w[i].sw, t->lid) = w[i].after;
	return DONE;
}

/* ---- a change ---------------------------------------------------------- */

static enum ftr_status refuse(const struct ftr_cdg *g, ftr_lid lid,
			      const struct ftr_change *w, uint32_t n,
			      struct ftr_err *err)
{
	if (lid == 0 || lid > g->f->max_lid)
		return ftr_fail(err, FTR_INVAL, "LID %u is not in the fabric, which has LIDs up to %u",
				lid, g->f->max_lid);
	for (uint32_t i = 0; i < n; i++) {
		if (w[i].sw >= g->f->n_sw)
			return ftr_fail(err, FTR_INVAL, "switch %u is not in the fabric, which has %u switches",
					w[i].sw, g->f->n_sw);
		if (w[i].after != FTR_PORT_NONE && w[i].after > g->f->sw[w[i].sw].n_ports)
			return ftr_fail(err, FTR_INVAL, "LID %u leads to port %u of switch 0x%016" PRIx64 " \"%s\", which has %u ports",
					lid, w[i].after, g->f->sw[w[i].sw].guid,
					g->f->sw[w[i].sw].name, g->f->sw[w[i].sw].n_ports);
		if (i && w[i].step < w[i - 1].step)
			return ftr_fail(err, FTR_INVAL, "writes are not in order: step %u is listed after step %u",
					w[i].step, w[i - 1].step);
	}
	return FTR_OK;
}

static void revert(struct ftr_cdg *g, struct dyn_lid *t, const struct ftr_change *w, uint32_t n)
{
	while (t->n_edge > g->step.n_edge)
		g->count[t->edge[--t->n_edge]]--;
	while (g->step.n_undo) {
		const struct dyn_slot *u = &g->step.undo[--g->step.n_undo];

		slot_of(&t->occ, u->key)->value = u->value;
	}
	for (uint32_t i = n; i-- > 0;)
		*dyn_entry(g, w[i].sw, t->lid) = g->step.port[i];
	if (!g->step.was_open)
		dyn_close_last(g);
}

static enum outcome all_steps(struct ftr_cdg *g, struct dyn_lid *t,
			      const struct ftr_change *w, uint32_t n)
{
	uint8_t *port = g->step.port;
	enum outcome r = DONE;
	uint32_t end;

	for (uint32_t i = 0; i < n; i++) {
		port[i] = *dyn_entry(g, w[i].sw, t->lid);
		if (!map_get(&t->base, w[i].sw) &&
		    !map_set(&t->base, w[i].sw, (uint16_t)(port[i] + 1)))
			r = NO_MEMORY;
	}
	if (r)
		return r;
	for (uint32_t i = 0; i < n; i = end) {
		for (end = i + 1; end < n && w[end].step == w[i].step; end++)
			;
		r = one_step(g, t, w + i, end - i);
		if (r)
			return r;
	}
	return DONE;
}

enum ftr_status ftr_cdg_change(struct ftr_cdg *g, ftr_lid lid,
			       const struct ftr_change *w, uint32_t n,
			       bool *closes, struct ftr_err *err)
{
	struct dyn_lid *t = NULL;
	enum outcome r = NO_MEMORY;
	enum ftr_status st = refuse(g, lid, w, n, err);

	if (st)
		return st;
	g->step.was_open = g->open_of[lid] != 0;
	g->step.port = ftr_malloc((size_t)n + 1);
	if (g->step.port)
		t = dyn_open(g, lid);
	if (t) {
		g->step.n_edge = t->n_edge;
		g->step.n_undo = 0;
		r = all_steps(g, t, w, n);
		if (r)
			revert(g, t, w, n);
	}
	free(g->step.port);
	if (r == NO_MEMORY)
		return ftr_nomem(err, "changing the entries of LID %u", lid);
	*closes = r == CLOSES;
	return FTR_OK;
}
