// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Immunet: seed 003.
 *
 * Lane 0 is the adaptive virtual network: any port on a shortest way.  Lane 1 is
 * the safe one: a directed ring that goes round a spanning tree and visits all
 * switches.  Packets prefer lane 0 and take lane 1 when no adaptive exit can be
 * had.  Whoever enters the ring needs room for two packets (bubble flow
 * control), whoever is in it for one, so the ring always moves.
 *
 * A switch whose cable dies or comes back declares an emergency, section 4.1:
 * its level is t * N + x, t the emergencies it has known, x its number.  A
 * switch that hears of a higher level than its own takes the sender for its
 * parent, answers it, and tells all others; its own end ports start nothing
 * new.  When the answers must be in, the ring through the switch is known (the
 * tree's ports in a circle), all that waits is routed anew, and the switch is
 * open again: whatever wants into the ring goes towards the parent (the
 * provisional table of section 4.2).  Then each switch tells its number up the
 * tree, so that those above know which port leads to it (4.2), and to all
 * neighbours with a distance (4.3), so that all learn the shortest ways.  What
 * has a level of the past is ignored.
 *
 * Levels are kept plus one, so that switch 0 can declare one.
 *
 * deviation: t is also at least one above that of the level taken.  The plain
 * count differs from switch to switch (who declares one and then hears of a
 * higher one counts two), and after some faults a switch could declare a level
 * below the one it has, which nobody would follow.
 * deviation: signals and control packets take a cable and a switch each, but no
 * bandwidth: the seed's emergency signals do not either, its control packets do,
 * one to a few for each pair of neighbours and destination.
 * deviation: a distance that is told twice is passed on once; the seed passes it
 * on for every minimal path.  The tables are the same.
 * deviation: before the first fault the ring goes round a breadth-first tree of
 * switch 0, on any fabric, where the seed's torus has 4k rings under dimension
 * order; only what finds no adaptive exit notices.
 * deviation: packets move into the ring at most MOVES times and then stay in it
 * (the seed limits this, and does not say to what).
 * deviation: a ring that is full from the start is not drained into network
 * interfaces; packets leave it by adaptive exits.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/immunet.h"

#define MOVES 4
/* Signal there, answer back, and one to spare. */
#define OPEN_HOPS 3

enum kind { SIGNAL_EMERGENCY, SIGNAL_ANSWER, SIGNAL_OPEN, SIGNAL_SAFE,
	    SIGNAL_DISTANCE };

struct immunet_signal {
	uint64_t level;
	uint32_t to, about;	/* about: whose number it is */
	uint32_t next;
	ftr_port port;		/* by which it comes in */
	uint8_t kind;
	uint16_t dist;
};

static bool is_way(const struct ftr_sim_view *v, ftr_sw s, unsigned int p)
{
	return p && v->up[v->f->sw[s].first_port + p] &&
	       ftr_fabric_port(v->f, s, (ftr_port)p)->peer_kind == FTR_PEER_SW;
}

/* ---- signals ------------------------------------------------------------------- */

static void put(struct immunet *x, const struct ftr_sim_view *v,
		const struct immunet_signal *g, unsigned int hops)
{
	uint32_t i = x->free_signal;

	if (i != NONE) {
		x->free_signal = x->signal[i].next;
	} else if (FTR_GROW(x->signal, x->n_signal, x->cap_signal)) {
		i = x->n_signal++;
	} else {
		v->sim->no_memory = true;
		return;
	}
	x->signal[i] = *g;
	ftr_sim_after(v, hops * v->hop_ps, i);
}

/* By port p of s, if its cable works. */
static void tell(struct immunet *x, const struct ftr_sim_view *v, ftr_sw s,
		 unsigned int p, enum kind kind, uint32_t about, uint16_t dist)
{
	const struct ftr_swport *q = ftr_fabric_port(v->f, s, (ftr_port)p);
	const struct immunet_signal g = {
		.level = x->node[s].level, .to = q->peer, .about = about,
		.port = q->peer_port, .kind = (uint8_t)kind, .dist = dist,
	};

	if (is_way(v, s, p))
		put(x, v, &g, 1);
}

static void tell_others(struct immunet *x, const struct ftr_sim_view *v,
			ftr_sw s, ftr_port but, enum kind kind, uint32_t about,
			uint16_t dist)
{
	for (unsigned int p = 1; p <= v->f->sw[s].n_ports; p++)
		if (p != but)
			tell(x, v, s, p, kind, about, dist);
}

/* ---- an emergency, section 4.1 ----------------------------------------------------- */

static void enter(struct immunet *x, const struct ftr_sim_view *v, ftr_sw s,
		  uint64_t level, ftr_port parent)
{
	struct immunet_node *k = &x->node[s];
	const struct immunet_signal open = {
		.level = level, .to = s, .kind = SIGNAL_OPEN,
	};

	k->level = level;
	k->emergencies = FTR_MAX(k->emergencies + 1,
				 (uint32_t)((level - 1) / x->n) + 1);
	k->parent = parent;
	k->open = false;
	memset(k->child, 0, sizeof(k->child));
	for (uint32_t d = 0; d < x->n; d++) {
		x->safe[s * x->n + d] = 0;
		x->dist[s * x->n + d] = IMMUNET_FAR;
	}
	ftr_sim_hold(v, s, true);
	if (parent)
		tell(x, v, s, parent, SIGNAL_ANSWER, s, 0);
	tell_others(x, v, s, parent, SIGNAL_EMERGENCY, s, 0);
	put(x, v, &open, OPEN_HOPS);
}

static void on_link(void *state, const struct ftr_sim_view *v, ftr_sw s,
		    ftr_port port, bool up)
{
	struct immunet *x = state;
	struct immunet_node *k = &x->node[s];
	uint64_t level = (uint64_t)k->emergencies * x->n + s + 1;

	(void)up;
	if (ftr_fabric_port(v->f, s, port)->peer_kind == FTR_PEER_SW &&
	    level > k->level)
		enter(x, v, s, level, 0);
}

/* The ring goes round the tree: in by one of its ports, out by the next. */
static void make_ring(struct immunet_node *k, unsigned int n_ports)
{
	ftr_port tree[256];
	unsigned int n = 0;

	for (unsigned int p = 1; p <= n_ports; p++)
		if (p == k->parent || k->child[p])
			tree[n++] = (ftr_port)p;
	memset(k->next, 0, sizeof(k->next));
	for (unsigned int i = 0; i < n; i++)
		k->next[tree[i]] = tree[(i + 1) % n];
}

/* ---- tables, sections 4.2 and 4.3 ------------------------------------------------------ */

static void open_up(struct immunet *x, const struct ftr_sim_view *v, ftr_sw s)
{
	struct immunet_node *k = &x->node[s];

	make_ring(k, v->f->sw[s].n_ports);
	k->open = true;
	ftr_sim_hold(v, s, false);
	ftr_sim_again(v, s);
	if (k->parent)
		tell(x, v, s, k->parent, SIGNAL_SAFE, s, 0);
	tell_others(x, v, s, 0, SIGNAL_DISTANCE, s, 0);
}

static void hear_safe(struct immunet *x, const struct ftr_sim_view *v,
		      const struct immunet_signal *g)
{
	const struct immunet_node *k = &x->node[g->to];

	x->safe[g->to * x->n + g->about] = g->port;
	if (k->parent)
		tell(x, v, g->to, k->parent, SIGNAL_SAFE, g->about, 0);
}

static void hear_distance(struct immunet *x, const struct ftr_sim_view *v,
			  const struct immunet_signal *g)
{
	uint32_t i = g->to * x->n + g->about;
	uint64_t bit = UINT64_C(1) << (g->port - 1);

	if (g->about == g->to || g->dist > x->dist[i])
		return;
	if (g->dist == x->dist[i]) {
		x->ports[i] |= bit;
		return;
	}
	x->dist[i] = g->dist;
	x->ports[i] = bit;
	tell_others(x, v, g->to, g->port, SIGNAL_DISTANCE, g->about,
		    (uint16_t)(g->dist + 1));
}

static void on_timer(void *state, const struct ftr_sim_view *v, uint64_t what)
{
	struct immunet *x = state;
	const struct immunet_signal g = x->signal[what];
	struct immunet_node *k = &x->node[g.to];

	x->signal[what].next = x->free_signal;
	x->free_signal = (uint32_t)what;
	/* a cable that died under it, or a level of the past */
	if (g.kind != SIGNAL_OPEN && !is_way(v, g.to, g.port))
		return;
	if (g.kind == SIGNAL_EMERGENCY) {
		if (g.level > k->level)
			enter(x, v, g.to, g.level, g.port);
		return;
	}
	if (g.level != k->level)
		return;
	if (g.kind == SIGNAL_ANSWER)
		k->child[g.port] = 1;
	else if (g.kind == SIGNAL_OPEN)
		open_up(x, v, g.to);
	else if (g.kind == SIGNAL_SAFE)
		hear_safe(x, v, &g);
	else
		hear_distance(x, v, &g);
}

/* ---- the state before any fault ----------------------------------------------------------- */

/* Shortest ways to switch d. */
static void spread(struct immunet *x, const struct ftr_fabric *f, ftr_sw d,
		   uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	queue[tail++] = d;
	while (head < tail) {
		ftr_sw y = queue[head++];
		uint16_t here = y == d ? 0 :
			(uint16_t)(x->dist[y * x->n + d] + 1);

		for (unsigned int p = 1; p <= f->sw[y].n_ports; p++) {
			const struct ftr_swport *q =
				ftr_fabric_port(f, y, (ftr_port)p);
			uint32_t i;

			if (q->peer_kind != FTR_PEER_SW || q->peer == d)
				continue;
			i = q->peer * x->n + d;
			if (x->dist[i] == IMMUNET_FAR) {
				x->dist[i] = here;
				queue[tail++] = q->peer;
			}
			if (x->dist[i] == here)
				x->ports[i] |= UINT64_C(1) <<
					       (q->peer_port - 1);
		}
	}
}

/* The tree: everybody's parent is the first port that is nearer to switch 0. */
static void first_ring(struct immunet *x, const struct ftr_fabric *f)
{
	for (ftr_sw s = 1; s < x->n; s++) {
		uint64_t near = x->ports[s * x->n];
		const struct ftr_swport *q;

		if (!near)
			continue;
		x->node[s].parent = (ftr_port)(__builtin_ctzll(near) + 1);
		q = ftr_fabric_port(f, s, x->node[s].parent);
		x->node[q->peer].child[q->peer_port] = 1;
	}
	for (ftr_sw s = 0; s < x->n; s++) {
		ftr_sw at = s;

		make_ring(&x->node[s], f->sw[s].n_ports);
		x->node[s].open = true;
		while (x->node[at].parent) {
			const struct ftr_swport *q = ftr_fabric_port(f, at,
							x->node[at].parent);

			x->safe[q->peer * x->n + s] = q->peer_port;
			at = q->peer;
		}
	}
}

static void immunet_free(void *state)
{
	struct immunet *x = state;

	if (!x)
		return;
	free(x->node);
	free(x->safe);
	free(x->dist);
	free(x->ports);
	free(x->signal);
	free(x);
}

static enum ftr_status immunet_new(const struct ftr_sim_view *v, void **state,
				   struct ftr_err *err)
{
	const struct ftr_fabric *f = v->f;
	size_t n = f->n_sw;
	struct immunet *x = ftr_calloc(1, sizeof(*x));
	uint32_t *queue = ftr_calloc(n + 1, sizeof(*queue));
	enum ftr_status st = FTR_OK;

	if (!x || !queue) {
		free(x);
		free(queue);
		return ftr_fail(err, FTR_NOMEM, "out of memory for Immunet");
	}
	x->n = f->n_sw;
	x->free_signal = NONE;
	for (ftr_sw s = 0; !st && s < n; s++)
		if (f->sw[s].n_ports > 64)
			st = ftr_fail(err, FTR_LIMIT, "switch \"%s\" has %u ports, Immunet's tables have 64",
				      f->sw[s].name, f->sw[s].n_ports);
	if (!st && n > 8192)
		st = ftr_fail(err, FTR_LIMIT, "%zu switches, Immunet's tables have 8192",
			      n);
	x->node = ftr_calloc(n + 1, sizeof(*x->node));
	x->safe = st ? NULL : ftr_calloc(n * n + 1, sizeof(*x->safe));
	x->dist = st ? NULL : ftr_malloc((n * n + 1) * sizeof(*x->dist));
	x->ports = st ? NULL : ftr_calloc(n * n + 1, sizeof(*x->ports));
	if (!st && (!x->node || !x->safe || !x->dist || !x->ports))
		st = ftr_fail(err, FTR_NOMEM, "out of memory for the tables of %zu switches",
			      n);
	if (!st) {
		memset(x->dist, 0xff, n * n * sizeof(*x->dist));
		for (ftr_sw d = 0; d < n; d++)
			spread(x, f, d, queue);
		first_ring(x, f);
		*state = x;
	} else {
		immunet_free(x);
	}
	free(queue);
	return st;
}

/* ---- packets ---------------------------------------------------------------------------------- */

static void exit_by(struct ftr_sim_exit *e, unsigned int port, unsigned int vl,
		    unsigned int room, unsigned int rank, uint32_t note)
{
	*e = (struct ftr_sim_exit){ (ftr_port)port, (uint8_t)vl, (uint8_t)room,
				    (uint8_t)rank, note };
}

/* The way into the ring for switch d. */
static ftr_port ring_port(const struct immunet *x, ftr_sw s, ftr_sw d,
			  unsigned int n_ports)
{
	const struct immunet_node *k = &x->node[s];

	if (x->safe[s * x->n + d])
		return x->safe[s * x->n + d];
	if (k->parent)
		return k->parent;
	for (unsigned int p = 1; p <= n_ports; p++)
		if (k->next[p])
			return (ftr_port)p;
	return 0;
}

static unsigned int route(void *state, const struct ftr_sim_view *v, ftr_sw s,
			  ftr_port in, unsigned int vl,
			  struct ftr_sim_packet *p, struct ftr_sim_exit *e,
			  enum ftr_sim_loss *why)
{
	const struct immunet *x = state;
	const struct immunet_node *k = &x->node[s];
	const struct ftr_lid_owner o = v->f->owner[p->dlid];
	bool host = o.kind == FTR_OWNER_EP;
	ftr_sw d = host ? v->f->ep[o.idx].sw : o.idx;
	bool ring = vl == 1 && in && ftr_fabric_port(v->f, s, in)->peer_kind ==
		    FTR_PEER_SW;
	unsigned int n = 0;
	ftr_port out;

	if (d == s) {
		exit_by(e, host ? v->f->ep[o.idx].sw_port : 0, 0, 1, 0, 0);
		return 1;
	}
	for (uint64_t m = x->ports[s * x->n + d]; m && n < FTR_SIM_EXITS - 1 &&
	     !(ring && p->field >= MOVES); m &= m - 1) {
		out = (ftr_port)(__builtin_ctzll(m) + 1);
		if (is_way(v, s, out))
			exit_by(&e[n++], out, 0, 1, 0, 0);
	}
	out = !k->open ? 0 : ring ? k->next[in] : 0;
	if (out)
		exit_by(&e[n++], out, 1, 1, 1, 0);
	else if (k->open && (out = ring_port(x, s, d, v->f->sw[s].n_ports)))
		exit_by(&e[n++], out, 1, 2, 1, 1);
	if (!n)
		*why = k->open ? FTR_SIM_LOST_GIVEN_UP : FTR_SIM_WAIT;
	return n;
}

static void taken(void *state, const struct ftr_sim_view *v, ftr_sw s,
		  struct ftr_sim_packet *p, const struct ftr_sim_exit *e)
{
	(void)state;
	(void)v;
	(void)s;
	if (e->note && p->field < MOVES)
		p->field++;
}

const struct ftr_sim_function sim_immunet = {
	.name = "immunet",
	.summary = "seed 003: adaptive, a safe ring, tables rebuilt by switches",
	.min_vls = 2,
	.requeue = true,
	.start = immunet_new,
	.finish = immunet_free,
	.route = route,
	.taken = taken,
	.link = on_link,
	.timer = on_timer,
};
