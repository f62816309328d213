// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Immunet: Puente et al. 2004.
 *
 * VL 0 is the adaptive virtual network: a packet leaves by any port on a shortest path.  VL 1 is
 * the safe virtual network: a directed ring that follows a spanning tree and visits all switches.
 * On links outside the tree, VL 1 is adaptive, too.  A packet enters the ring only if no adaptive
 * exit has room in its next buffer (section 2).  (With the option `eager`, it also enters the ring
 * if an adaptive exit has room but is busy.)  Bubble flow control: to enter the ring, a packet
 * needs room for two packets; to move on in the ring, room for one.  So some packet in the ring can
 * always move.
 *
 * A switch whose link fails or is repaired declares an emergency (section 4.1).  The level of the
 * emergency is t * N + x.  t is the number of emergencies that the switch has seen, x is the index
 * of the switch, and N is the number of switches.  (The code stores the level plus one; 0 means no
 * emergency yet.)  If a switch receives a level higher than its own,
 *
 *	1. It makes the sender its parent, answers the sender, and informs all other neighbours.
 *	   Its own hosts start no new packets.
 *	2. After the time in which answers must arrive, the switch knows its tree ports: the ports
 *	   to the parent and to the children.  A packet in the ring that arrives at a tree port
 *	   leaves by the next tree port.  After the last tree port comes the first.
 *	3. All waiting packets are routed again, and the hosts may start packets again.  Packets
 *	   that enter the ring go towards the parent (the provisional table of section 4.2).
 *	4. The buffers of the new ring may be full of packets that were routed by the old tables.
 *	   So the first packet of each buffer is moved into the switch and enters the ring like a
 *	   new packet (section 4.2, step 5).
 *	5. The switch sends its index x up the tree, so that the switches above learn which port
 *	   leads to it (section 4.2).  It also sends x with a distance to all neighbours, so that
 *	   all switches learn the shortest paths (section 4.3).
 *
 * Messages of an earlier level are ignored.
 *
 * conf.arg is a struct immunet_opts.  It contains the time that a switch needs for a signal or a
 * control packet, and the size of a control packet.  If these are 0 (the default), each signal or
 * control packet needs the delay of one link and one switch, and no bandwidth.
 *
 * Before the first fault, some fabrics have the rings of the paper: tori with at least three
 * switches in each dimension, numbered row by row.  Each line of switches has two rings, one for
 * each direction.  A packet uses the rings in the order of the dimensions.  Any other fabric, and
 * a torus with the option `one_ring`, has one ring: that of a breadth-first tree from switch 0.
 *
 * deviation: when a switch takes over a level, it also raises its t above the t of that level.  In
 * the paper, t only counts the emergencies that the switch has seen, and differs from switch to
 * switch.  (A switch that declares an emergency and then receives a higher level counts two
 * emergencies.)  After some faults a switch could then declare a level below its current one, and
 * no switch would follow.  (The option `own_count` selects the t of the paper.)
 *
 * deviation: when a switch receives the same distance to another switch by several paths, it
 * forwards this distance once.  According to the text of the paper, it forwards the distance once
 * for every minimal path (option `every_path`).  But the numbers of messages in table 1 of the
 * paper fit only if the distance is forwarded once, or a second time if it arrives again much later
 * (option `merge_ps`).  The forwarding tables are the same in all cases.
 *
 * deviation: in an emergency, a switch still forwards packets on adaptive VLs by its old tables.
 * According to section 5 of the paper, it stops all packets until its new ring is ready (option
 * `stop`).  With this option the throughput falls further during the emergency; afterwards it is
 * about the same (docs/seeds.md, figure 10).
 *
 * deviation: a packet that has moved into the ring `moves` times stays in the ring.  (`moves` is
 * an option; the default is MOVES.)  The paper has such a limit, but gives no number.
 *
 * deviation: control packets use no buffers of the ring's VL.  A channel sends packets and control
 * packets in turn.
 *
 * deviation: a packet that has passed a whole ring without reaching its destination switch is
 * discarded.  In the paper, unreachable switches are left to software.
 */
#include <stdlib.h>
#include <string.h>

#include "models/immunet.h"

#define MOVES 4
/* More hops than any path without a loop has. */
#define HOPS 60000
/* How long a switch waits for answers, as a number of hops: one for the signal, one for the answer,
 * and one in reserve. */
#define OPEN_HOPS 3

enum kind { SIGNAL_EMERGENCY, SIGNAL_ANSWER, SIGNAL_OPEN, SIGNAL_SAFE,
	    SIGNAL_DISTANCE };

struct immunet_signal {
	uint64_t level;
	uint32_t to, about;	/* to: receiver; about: switch whose index or distance is sent */
	uint32_t next;
	ftr_port port;		/* port of arrival */
	uint8_t kind;
	uint16_t dist;
};

static bool is_usable(const struct ftr_sim_view *v, ftr_sw s, unsigned int p)
{
	return p && v->up[v->f->sw[s].first_port + p] &&
	       ftr_fabric_port(v->f, s, (ftr_port)p)->peer_kind == FTR_PEER_SW;
}

/* ---- signals ------------------------------------------------------------------- */

static bool is_control(unsigned int kind)
{
	return kind == SIGNAL_SAFE || kind == SIGNAL_DISTANCE;
}

/* Send a signal from switch `from` by `port`, or to the switch itself (SIGNAL_OPEN). */
static void put(struct immunet *x, ftr_sw from, ftr_port port, const struct immunet_signal *g,
		unsigned int hops)
{
	uint32_t i = x->free_signal;

	if (i != NO_SIGNAL) {
		x->free_signal = x->signal[i].next;
	} else if (FTR_GROW(x->signal, x->n_signal, x->cap_signal)) {
		i = x->n_signal++;
	} else {
		ftr_sim_no_memory(x->v);
		return;
	}
	x->signal[i] = *g;
	if (is_control(g->kind) && x->o.control_bytes)
		ftr_sim_send(x->v, from, port, x->o.control_bytes, x->o.control_after, i);
	else
		ftr_sim_after(x->v, hops * (x->v->hop_ps + (is_control(g->kind) ?
			      x->o.control_ps : x->o.signal_ps)), i);
}

static void on_message(void *state, const struct ftr_sim_view *v, uint64_t what, bool lost)
{
	struct immunet *x = state;

	if (!lost) {
		ftr_sim_after(v, x->o.control_ps, what);
		return;
	}
	x->signal[what].next = x->free_signal;
	x->free_signal = (uint32_t)what;
}

static void send_signal(struct immunet *x, ftr_sw s, unsigned int p, enum kind kind,
			uint32_t about, uint16_t dist)
{
	const struct ftr_swport *q = ftr_fabric_port(x->v->f, s, (ftr_port)p);
	const struct immunet_signal g = {
		.level = x->node[s].level, .to = q->peer, .about = about,
		.port = q->peer_port, .kind = (uint8_t)kind, .dist = dist,
	};

	if (!is_usable(x->v, s, p))
		return;
	x->n_safe += kind == SIGNAL_SAFE;
	x->n_origins += kind == SIGNAL_SAFE && about == s;
	x->n_distance += kind == SIGNAL_DISTANCE;
	put(x, s, (ftr_port)p, &g, 1);
}

static void report_others(struct immunet *x, ftr_sw s, ftr_port but, enum kind kind,
			  uint32_t about, uint16_t dist)
{
	for (unsigned int p = 1; p <= x->v->f->sw[s].n_ports; p++)
		if (p != but)
			send_signal(x, s, p, kind, about, dist);
}

/* ---- an emergency, section 4.1 ----------------------------------------------------- */

static void enter(struct immunet *x, ftr_sw s, uint64_t level, ftr_port parent)
{
	struct immunet_node *k = &x->node[s];
	const struct immunet_signal open = {
		.level = level, .to = s, .kind = SIGNAL_OPEN,
	};

	k->level = level;
	k->emergencies++;
	if (!x->o.own_count)
		k->emergencies = FTR_MAX(k->emergencies, (uint32_t)((level - 1) / x->n) + 1);
	k->parent = parent;
	k->open = false;
	memset(k->child, 0, sizeof(k->child));
	for (uint32_t d = 0; d < x->n; d++) {
		x->safe[s * x->n + d] = 0;
		x->dist[s * x->n + d] = IMMUNET_FAR;
	}
	ftr_sim_hold(x->v, s, true);
	if (parent)
		send_signal(x, s, parent, SIGNAL_ANSWER, s, 0);
	report_others(x, s, parent, SIGNAL_EMERGENCY, s, 0);
	put(x, s, 0, &open, OPEN_HOPS);
}

static void on_link(void *state, const struct ftr_sim_view *v, ftr_sw s, ftr_port port, bool up)
{
	struct immunet *x = state;
	struct immunet_node *k = &x->node[s];
	uint64_t level = (uint64_t)k->emergencies * x->n + s + 1;

	(void)up;
	if (!x->first_fault)
		x->first_fault = v->now;
	if (ftr_fabric_port(v->f, s, port)->peer_kind == FTR_PEER_SW && level > k->level)
		enter(x, s, level, 0);
}

/* Set k->next[], the ring within a switch: packets from a tree port leave by the next tree port. */
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

static void open_up(struct immunet *x, ftr_sw s)
{
	const struct ftr_sim_view *v = x->v;
	struct immunet_node *k = &x->node[s];

	make_ring(k, v->f->sw[s].n_ports);
	k->open = true;
	x->last_open = v->now;
	ftr_sim_hold(v, s, false);
	ftr_sim_again(v, s);
	for (unsigned int p = 1; !x->o.no_drain && p <= v->f->sw[s].n_ports; p++)
		if (k->next[p])
			ftr_sim_drain(v, s, (ftr_port)p, 1);
	if (k->parent)
		send_signal(x, s, k->parent, SIGNAL_SAFE, s, 0);
	report_others(x, s, 0, SIGNAL_DISTANCE, s, 0);
}

static void hear_safe(struct immunet *x, const struct immunet_signal *g)
{
	const struct immunet_node *k = &x->node[g->to];

	x->safe[g->to * x->n + g->about] = g->port;
	x->last_update = x->v->now;
	if (k->parent)
		send_signal(x, g->to, k->parent, SIGNAL_SAFE, g->about, 0);
}

static bool again(const struct immunet *x, uint32_t i)
{
	return x->reported && x->v->now - x->reported[i] >= x->o.merge_ps;
}

static void hear_distance(struct immunet *x, const struct immunet_signal *g)
{
	uint32_t i = g->to * x->n + g->about;
	uint64_t bit = UINT64_C(1) << (g->port - 1);

	if (g->about == g->to || g->dist > x->dist[i])
		return;
	x->last_update = x->v->now;
	x->ports[i] = g->dist == x->dist[i] ? x->ports[i] | bit : bit;
	if (g->dist == x->dist[i] && !x->o.every_path && !again(x, i))
		return;
	x->dist[i] = g->dist;
	if (x->reported)
		x->reported[i] = x->v->now;
	report_others(x, g->to, g->port, SIGNAL_DISTANCE, g->about, (uint16_t)(g->dist + 1));
}

static void on_timer(void *state, const struct ftr_sim_view *v, uint64_t what)
{
	struct immunet *x = state;
	const struct immunet_signal g = x->signal[what];
	struct immunet_node *k = &x->node[g.to];

	x->signal[what].next = x->free_signal;
	x->free_signal = (uint32_t)what;
	/* ignore the signal: its link has gone down */
	if (g.kind != SIGNAL_OPEN && !is_usable(v, g.to, g.port))
		return;
	if (g.kind == SIGNAL_EMERGENCY) {
		if (g.level > k->level)
			enter(x, g.to, g.level, g.port);
		return;
	}
	if (is_control(g.kind))
		x->last_control = v->now;
	if (g.level != k->level)
		return;
	if (g.kind == SIGNAL_ANSWER)
		k->child[g.port] = 1;
	else if (g.kind == SIGNAL_OPEN)
		open_up(x, g.to);
	else if (g.kind == SIGNAL_SAFE)
		hear_safe(x, &g);
	else
		hear_distance(x, &g);
}

/* ---- the state before any fault ----------------------------------------------------------- */

static void spread(struct immunet *x, const struct ftr_fabric *f, ftr_sw d, uint32_t *queue)
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

/* Make the first tree: the parent of a switch is at its first port that leads closer to switch
 * 0. */
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
			const struct ftr_swport *q = ftr_fabric_port(f, at, x->node[at].parent);

			x->safe[q->peer * x->n + s] = q->peer_port;
			at = q->peer;
		}
	}
}

static ftr_port port_to(const struct ftr_fabric *f, ftr_sw s, ftr_sw to)
{
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *q = ftr_fabric_port(f, s, (ftr_port)p);

		if (q->peer_kind == FTR_PEER_SW && q->peer == to)
			return (ftr_port)p;
	}
	return 0;
}

static uint32_t step_to(const struct immunet_torus *t, unsigned int d, uint32_t s, uint32_t by)
{
	uint32_t at = s / t->stride[d] % t->k[d];

	return s - at * t->stride[d] + (at + by) % t->k[d] * t->stride[d];
}

/* Find the next dimension.  Its length is the least k >= 3 such that k * stride divides the number
 * of switches, and a link connects switch 0 with switch (k - 1) * stride. */
static bool find_dimension(struct immunet_torus *t, const struct ftr_fabric *f, uint32_t stride)
{
	for (uint32_t k = 3; stride * k <= f->n_sw; k++)
		if (f->n_sw % (stride * k) == 0 &&
		    port_to(f, 0, (k - 1) * stride)) {
			t->k[t->d] = k;
			t->stride[t->d++] = stride;
			return true;
		}
	return false;
}

static enum ftr_status find_torus(struct immunet *x, const struct ftr_fabric *f,
				  struct ftr_err *err)
{
	struct immunet_torus *t = &x->torus;
	uint32_t stride = 1;

	for (; stride < x->n && t->d < FTR_TORUS_MAX_D &&
	     find_dimension(t, f, stride); stride *= t->k[t->d - 1])
		;
	if (stride != x->n || !t->d) {
		t->d = 0;
		return FTR_OK;
	}
	if (!FTR_ZNEW(x->arena, t->port, (size_t)x->n * 2 * t->d))
		return ftr_nomem(err, "a torus of %u switches", x->n);
	for (uint32_t i = 0; i < x->n * 2 * t->d; i++) {
		uint32_t s = i / (2 * t->d), d = i % (2 * t->d) / 2;

		t->port[i] = port_to(f, s, step_to(t, d, s, i % 2 ? t->k[d] - 1 : 1));
		if (!t->port[i]) {
			t->d = 0;
			return FTR_OK;
		}
	}
	return FTR_OK;
}

static void immunet_free(void *state)
{
	struct immunet *x = state;

	if (!x)
		return;
	free(x->signal);
	ftr_arena_free(x->arena);
}

static enum ftr_status make_tables(struct immunet *x, const struct ftr_fabric *f,
				   struct ftr_err *err)
{
	size_t n = f->n_sw;
	uint32_t *queue;

	if (!FTR_ZNEW(x->arena, x->node, n + 1) || !FTR_ZNEW(x->arena, x->safe, n * n + 1) ||
	    !FTR_NEW(x->arena, x->dist, n * n + 1) || !FTR_ZNEW(x->arena, x->ports, n * n + 1) ||
	    (x->o.merge_ps && !FTR_ZNEW(x->arena, x->reported, n * n + 1)) ||
	    !FTR_NEW(x->arena, queue, n + 1))
		return ftr_nomem(err, "the tables of %zu switches", n);
	memset(x->dist, 0xff, n * n * sizeof(*x->dist));
	for (ftr_sw d = 0; d < n; d++)
		spread(x, f, d, queue);
	first_ring(x, f);
	return x->o.one_ring ? FTR_OK : find_torus(x, f, err);
}

static enum ftr_status check_size(const struct ftr_fabric *f, struct ftr_err *err)
{
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (f->sw[s].n_ports > 64)
			return ftr_fail(err, FTR_LIMIT, "switch \"%s\" has %u ports; Immunet supports up to 64",
					f->sw[s].name, f->sw[s].n_ports);
	return f->n_sw <= 8192 ? FTR_OK :
		ftr_fail(err, FTR_LIMIT, "%u switches; Immunet supports up to 8192", f->n_sw);
}

static enum ftr_status immunet_new(const struct ftr_sim_view *v, void **state, struct ftr_err *err)
{
	const struct ftr_fabric *f = v->f;
	struct ftr_arena *a = ftr_arena_new();
	struct immunet *x = a ? ftr_arena_zalloc(a, 1, sizeof(*x)) : NULL;
	enum ftr_status st;

	if (!x) {
		ftr_arena_free(a);
		return ftr_nomem(err, "Immunet");
	}
	x->arena = a;
	x->v = v;
	x->n = f->n_sw;
	x->free_signal = NO_SIGNAL;
	if (*v->arg)
		x->o = *(const struct immunet_opts *)*v->arg;
	if (!x->o.moves)
		x->o.moves = MOVES;
	st = check_size(f, err);
	if (!st)
		st = make_tables(x, f, err);
	if (st)
		immunet_free(x);
	else
		*state = x;
	return st;
}

/* ---- packets ------------------------------------------------------------------------------ */

enum note { ADAPTIVE, IN_DIMENSION, ON_IN_RING, INTO_RING };

static void exit_by(struct ftr_sim_exit *e, unsigned int port, unsigned int vl,
		    unsigned int room, unsigned int rank, uint32_t note)
{
	*e = (struct ftr_sim_exit){ (ftr_port)port, (uint8_t)vl, (uint8_t)room,
				    (uint8_t)rank, false, note };
}

/* Returns the port by which s sends a packet for d into the ring: down the tree if d is below s,
 * otherwise to the parent.  The root uses its first port of the ring. */
static ftr_port ring_port(const struct immunet *x, ftr_sw s, ftr_sw d, unsigned int n_ports)
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

/* Set the exit into the rings of a torus.  A packet goes dimension by dimension, in the shorter
 * direction, or forward if both directions are equally long.  A packet that continues in its ring
 * needs room for one packet, any other packet needs room for two. */
static unsigned int dimension_exit(const struct immunet *x, const struct ftr_sim_arrival *a,
				   ftr_sw d, bool ring, struct ftr_sim_exit *e)
{
	const struct immunet_torus *t = &x->torus;
	ftr_sw s = a->sw;

	for (unsigned int i = 0; i < t->d; i++) {
		uint32_t at = s / t->stride[i] % t->k[i];
		uint32_t to = d / t->stride[i] % t->k[i];
		uint32_t far = (to + t->k[i] - at) % t->k[i];
		const ftr_port *port = &t->port[s * 2 * t->d + 2 * i];
		unsigned int back = 2 * far > t->k[i];

		if (!far)
			continue;
		if (!is_usable(x->v, s, port[back]))
			return 0;
		exit_by(e, port[back], 1, ring && a->in == port[!back] ? 1 : 2, 1, IN_DIMENSION);
		return 1;
	}
	return 0;
}

static bool in_ring(const struct immunet *x, ftr_sw s, ftr_port port)
{
	const struct immunet_node *k = &x->node[s];

	if (x->torus.d && !k->level)
		return port;
	return k->next[port];
}

static unsigned int safe_exit(const struct immunet *x, const struct ftr_sim_arrival *a,
			      ftr_sw d, bool ring, struct ftr_sim_exit *e)
{
	const struct immunet_node *k = &x->node[a->sw];
	ftr_port out = ring ? k->next[a->in] : 0;

	if (!k->open)
		return 0;
	if (x->torus.d && !k->level)
		return dimension_exit(x, a, d, ring, e);
	if (out) {
		exit_by(e, out, 1, 1, 1, ON_IN_RING);
		return 1;
	}
	out = ring_port(x, a->sw, d, x->v->f->sw[a->sw].n_ports);
	if (!out)
		return 0;
	exit_by(e, out, 1, 2, 1, INTO_RING);
	return 1;
}

/* Returns true if the packet has passed the whole ring of the current level without reaching its
 * destination switch. */
static bool been_round(const struct immunet *x, ftr_sw s, const struct ftr_sim_packet *p)
{
	return p->vector >> 16 == x->node[s].level &&
	       (p->vector & 0xffff) > 2 * x->n;
}

static bool two_vls(const struct immunet *x, ftr_sw s, ftr_port out)
{
	return x->node[s].open && !in_ring(x, s, out) && !x->o.one_vl;
}

static unsigned int adaptive_exits(const struct immunet *x, ftr_sw s, ftr_sw d,
				   struct ftr_sim_exit *e)
{
	uint64_t m = x->ports[s * x->n + d];
	unsigned int n = 0;

	for (; m && n < FTR_SIM_EXITS - 2; m &= m - 1) {
		ftr_port out = (ftr_port)(__builtin_ctzll(m) + 1);

		if (!is_usable(x->v, s, out))
			continue;
		exit_by(&e[n++], out, 0, 1, 0, ADAPTIVE);
		if (two_vls(x, s, out))
			exit_by(&e[n++], out, 1, 1, 0, ADAPTIVE);
	}
	return n;
}

static unsigned int route(void *state, const struct ftr_sim_view *v, struct ftr_sim_arrival *a)
{
	const struct immunet *x = state;
	ftr_sw s = a->sw;
	struct ftr_sim_exit *e = a->exit;
	const struct immunet_node *k = &x->node[s];
	const struct ftr_lid_owner o = v->f->owner[a->p->dlid];
	bool host = o.kind == FTR_OWNER_EP;
	ftr_sw d = host ? v->f->ep[o.idx].sw : o.idx;
	bool ring = a->vl == 1 && in_ring(x, s, a->in), own;
	unsigned int n = 0;

	if (d == s) {
		exit_by(e, host ? v->f->ep[o.idx].sw_port : 0, 0, 1, 0, 0);
		return 1;
	}
	if (ring && been_round(x, s, a->p)) {
		a->why = FTR_SIM_LOST_GIVEN_UP;
		return 0;
	}
	if ((!ring || a->p->field < x->o.moves) && (k->open || !x->o.stop))
		n = adaptive_exits(x, s, d, e);
	own = a->in && ftr_fabric_port(v->f, s, a->in)->peer_kind == FTR_PEER_EP;
	if (!(own && n && x->o.adaptive_start) && safe_exit(x, a, d, ring, &e[n]))
		e[n++].last = !x->o.eager;
	for (unsigned int i = 0; own && i < n; i++)
		e[i].room = FTR_MAX(e[i].room, x->o.inject);
	if (!n)
		a->why = k->open ? FTR_SIM_LOST_GIVEN_UP : FTR_SIM_WAIT;
	return n;
}

static void taken(void *state, const struct ftr_sim_view *v, ftr_sw s,
		  struct ftr_sim_packet *p, const struct ftr_sim_exit *e)
{
	const struct immunet *x = state;
	uint64_t level = x->node[s].level;

	(void)v;
	if (e->note == INTO_RING) {
		p->field = FTR_MIN(p->field + 1, UINT16_MAX);
		p->vector = level << 16 | 1;
	} else if (e->note == ON_IN_RING) {
		p->vector = p->vector >> 16 == level ? p->vector + 1 :
			    level << 16 | 1;
	}
}

const struct ftr_sim_function model_immunet = {
	.name = "immunet",
	.summary = "Immunet (Puente et al.): a safe ring, tables rebuilt by switches",
	.min_vls = 2,
	.hops_max = HOPS,
	.requeue = true,
	.start = immunet_new,
	.finish = immunet_free,
	.route = route,
	.taken = taken,
	.link = on_link,
	.timer = on_timer,
	.message = on_message,
	.extra = &model_extra,
};
