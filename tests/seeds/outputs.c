// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Simulates switches with queues at their outputs, and counts where packets are when a link
 * fails (Sem-Jacobsen et al. 2011, figure 10).
 *
 *	outputs [OPTION...] FABRIC FUNCTION...
 *
 * Section IV of the paper "assume[s] that queues are located at the switch outputs".  The
 * simulator of libftr has buffers at inputs only.  So this program simulates switches with
 * first-in first-out queues at each output.  It runs the same routing functions over
 * dmodc's tables, and counts the packets at the links.  Time advances in cycles.
 *
 *	-M direct	one queue per VL, and no buffers at inputs: a packet crosses a link
 *			when its queue at the next switch has room for it
 *	-M inputs	like direct, but with a buffer per input and VL; the first packet of
 *			a buffer moves to an output queue when that queue has room
 *	-M virtual	like direct, but with a queue per input, output and VL
 *
 * A packet with several exits leaves by the exit with the emptiest queue.  With -1 it
 * chooses a random exit, and waits until it can leave by this exit.  The head of a packet
 * stays in a queue for at least one cycle.  The room of a packet becomes free when its tail
 * has left, or with -e when its head has left.
 *
 * Defaults are in parentheses:
 *
 *	-n N,N,...	numbers of faults.  Of N faults, N - 1 are present from the start.
 *			The last fault does not occur: the packets that it would hit are
 *			counted at each link in each cycle, and the means are printed
 *	-r RUNS -s SEED	number of runs; seed of their faults and of their uniform traffic
 *	-l PERCENT	load (100)
 *	-w N -m N	cycles before the measurement; cycles of the measurement
 *	-o N -i N	packets that fit into an output queue (2), into an input buffer (2)
 *	-h N		cycles for which a packet occupies a link (2, as in the paper)
 *
 * Prints one line of CSV for each number of faults and function.  The values are means
 * over the runs without a deadlock:
 *
 *	function, faults
 *	deadlock	percentage of the runs that deadlock
 *	accepted	packets that arrive per cycle of the paper, in which a link carries
 *			half a packet
 *	wire, queue	packets on a link between switches in one direction, and in the
 *			queues for that direction
 *	up, down	wire + queue for upward directions, and for downward directions
 *	input		packets in the buffers at the far end of that direction (-M inputs)
 *	latency		mean time from the host's link to the destination, in cycles of the
 *			paper
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/models.h"
#include <ftr/ftr.h>

#define HOLD_MAX 16	/* the greatest value of -h */
#define PLACES_MAX 31
#define EXITS_MAX 16
#define DEPTH (PLACES_MAX + 1)
#define VLS 2
#define FAULTS_MAX 64

struct pkt {
	struct ftr_sim_packet h;
	uint32_t ready;		/* first cycle in which the packet may leave its queue */
	uint32_t sent;		/* cycle in which the packet left its host */
	uint8_t vl;
	int8_t n;		/* number of exits; -1: not routed yet */
	struct ftr_sim_exit e[EXITS_MAX];
};

struct queue {
	uint8_t first, n;	/* n: number of packets that are not leaving yet */
	uint8_t held;		/* number of used places, including those of leaving packets */
	uint32_t p[DEPTH];
};

enum model { DIRECT, INPUTS, VIRTUAL };

static struct {
	unsigned int n[FAULTS_MAX], n_n, runs, room, in_room, hold;
	bool early, once;
	enum model model;
	uint64_t seed;
	double load;
	uint32_t warm, cycles;
} job = { .runs = 1, .room = 2, .in_room = 2, .seed = 1, .load = 1,
	  .warm = 1000, .cycles = 1000, .hold = 2 };

static const struct ftr_fabric *f;
static struct ftr_shape *shape;
static struct ftr_tables *tables;

static struct {
	struct ftr_sim_function fn;
	void *state;
	struct ftr_sim_view v;
	const void *arg;
	struct ftr_rng rng;
	uint8_t *up;
	uint32_t now;
	struct pkt *pkt;
	uint32_t n_pkt, cap_pkt, *free_pkt, n_free, cap_free;
	uint32_t *from;		/* [n_ports + 1] index in q[] of the first queue of an output */
	uint32_t *far;		/* [n_ports] port at the other end, or UINT32_MAX */
	uint32_t *sw;
	uint32_t *busy;		/* [n_ports + n_ep] cycle until which an output or a host is busy */
	uint32_t *in_busy;	/* [n_ports * VLS] cycle until which an input buffer is busy */
	uint8_t *turn;		/* [n_ports + n_ep] the queue that may send next */
	struct queue *q, *in;
	uint32_t n_q;
	uint32_t *waits;	/* [n_ep] number of packets that the host has still to send */
	uint32_t *first;	/* [n_ep] first packet to be sent, or UINT32_MAX */
	/* [cycle % (HOLD_MAX + 1)] queues in which room becomes free in that cycle */
	struct queue **back[HOLD_MAX + 1];
	uint32_t n_back[HOLD_MAX + 1], cap_back[HOLD_MAX + 1];
	uint64_t delivered, latency;
	double wire, queue, up_sum, down_sum, input;
	uint64_t n_up, n_down;
} s;

static void must(enum ftr_status st, const struct ftr_err *err)
{
	if (!st)
		return;
	fprintf(stderr, "outputs: %s\n", err->msg);
	exit(2);
}

/* ---- packets and queues --------------------------------------------------- */

static uint32_t new_packet(ftr_ep e)
{
	ftr_ep to = ftr_rng_below(&s.rng, f->n_ep - 1);
	uint32_t p;

	if (s.n_free) {
		p = s.free_pkt[--s.n_free];
	} else {
		if (!FTR_GROW(s.pkt, s.n_pkt, s.cap_pkt))
			abort();
		p = s.n_pkt++;
	}
	to += to >= e;
	s.pkt[p] = (struct pkt){
		.h = { .source = e, .dlid = f->ep[to].lid, .bytes = 256 },
		.n = -1,
	};
	return p;
}

static void free_packet(uint32_t p)
{
	if (!FTR_GROW(s.free_pkt, s.n_free, s.cap_free))
		abort();
	s.free_pkt[s.n_free++] = p;
}

static void put(struct queue *q, uint32_t p)
{
	q->p[(q->first + q->n++) % DEPTH] = p;
	q->held++;
}

/* The first packet of q begins to leave.  Its room becomes free when its tail has left, or at once
 * with -e. */
static uint32_t take(struct queue *q)
{
	uint32_t p = q->p[q->first];
	unsigned int when = (s.now + job.hold) % (HOLD_MAX + 1);

	q->first = (uint8_t)((q->first + 1) % DEPTH);
	q->n--;
	if (job.early) {
		q->held--;
		return p;
	}
	if (!FTR_GROW(s.back[when], s.n_back[when], s.cap_back[when]))
		abort();
	s.back[when][s.n_back[when]++] = q;
	return p;
}

static void give_back(void)
{
	unsigned int when = s.now % (HOLD_MAX + 1);

	for (uint32_t i = 0; i < s.n_back[when]; i++)
		s.back[when][i]->held--;
	s.n_back[when] = 0;
}

static struct queue *queue_of(ftr_sw sw, ftr_port in,
			      const struct ftr_sim_exit *e)
{
	uint32_t out = f->sw[sw].first_port + e->port;
	uint32_t k = job.model == VIRTUAL ? in : 0;

	return &s.q[s.from[out] + k * VLS + e->vl];
}

/* Route the packet if its exits are not known yet.  Returns false if it has no exit and is lost. */
static bool routed(struct pkt *k, ftr_sw sw, ftr_port in)
{
	struct ftr_sim_arrival a = { .sw = sw, .in = in, .vl = k->vl, .p = &k->h };

	if (k->n < 0) {
		s.v.now = s.now * (512 * FTR_SIM_NS);
		k->n = (int8_t)s.fn.route(s.state, &s.v, &a);
		if (k->n > EXITS_MAX)
			abort();
		memcpy(k->e, a.exit, (size_t)k->n * sizeof(*k->e));
		if (job.once && k->n > 1) {
			k->e[0] = k->e[ftr_rng_below(&s.rng, (uint32_t)k->n)];
			k->n = 1;
		}
	}
	return k->n > 0;
}

static const struct ftr_sim_exit *exit_of(const struct pkt *k, ftr_sw sw,
					  ftr_port in)
{
	const struct ftr_sim_exit *best = NULL;
	unsigned int least = UINT32_MAX;
	uint32_t at = k->n > 1 ? ftr_rng_below(&s.rng, (uint32_t)k->n) : 0;

	for (int i = 0; i < k->n; i++) {
		const struct ftr_sim_exit *e =
			&k->e[(at + (uint32_t)i) % (uint32_t)k->n];
		const struct queue *q = queue_of(sw, in, e);

		if (q->held < job.room && q->held < least) {
			best = e;
			least = q->held;
		}
	}
	return best;
}

/* ---- links ---------------------------------------------------------------- */

/* Move a packet over a link into port `in` of sw.  Returns 1 if it moved, 0 if there is no room
 * now, -1 if it is lost. */
static int enter(uint32_t p, ftr_sw sw, ftr_port in, unsigned int vl)
{
	struct pkt *k = &s.pkt[p];
	const struct ftr_sim_exit *e;
	uint8_t vl_number = k->vl;

	if (job.model == INPUTS) {
		struct queue *q = &s.in[(f->sw[sw].first_port + in) * VLS +
					vl];

		if (q->held >= job.in_room)
			return 0;
		k->vl = (uint8_t)vl;
		k->n = -1;
		k->ready = s.now + 1;
		put(q, p);
		return 1;
	}
	k->vl = (uint8_t)vl;
	if (!routed(k, sw, in))
		return -1;
	e = exit_of(k, sw, in);
	if (!e) {
		k->vl = vl_number;
		return 0;
	}
	k->vl = e->vl;
	k->ready = s.now + 1;
	put(queue_of(sw, in, e), p);
	k->n = -1;
	return 1;
}

static bool leave(uint32_t i, struct queue *q, unsigned int vl)
{
	uint32_t p = q->p[q->first];
	const struct ftr_swport *peer = &f->ports[i];
	int done;

	if (!q->n || s.pkt[p].ready > s.now)
		return false;
	if (peer->peer_kind == FTR_PEER_EP) {
		take(q);
		s.latency += s.now + job.hold - s.pkt[p].sent;
		free_packet(p);
		s.delivered++;
		s.busy[i] = s.now + job.hold;
		return true;
	}
	done = enter(p, peer->peer, peer->peer_port, vl);
	if (!done)
		return false;
	take(q);
	if (done < 0)
		free_packet(p);
	else
		s.busy[i] = s.now + job.hold;
	return true;
}

static void link_turn(uint32_t i)
{
	uint32_t n = s.from[i + 1] - s.from[i];

	if (s.busy[i] > s.now || !n || !s.up[i])
		return;
	for (uint32_t j = 0; j < n; j++) {
		uint32_t at = (s.turn[i] + j) % n;

		if (leave(i, &s.q[s.from[i] + at], at % VLS)) {
			s.turn[i] = (uint8_t)((at + 1) % n);
			return;
		}
	}
}

/* Move a packet from an input buffer to an output queue. */
static void input_turn(uint32_t i, unsigned int vl)
{
	struct queue *q = &s.in[i * VLS + vl];
	ftr_sw sw = s.sw[i];
	ftr_port in = (ftr_port)(i - f->sw[sw].first_port);
	const struct ftr_sim_exit *e;
	struct pkt *k;
	uint32_t p = q->p[q->first];

	if (!q->n || s.in_busy[i * VLS + vl] > s.now)
		return;
	k = &s.pkt[p];
	if (k->ready > s.now)
		return;
	if (!routed(k, sw, in)) {
		take(q);
		free_packet(p);
		return;
	}
	e = exit_of(k, sw, in);
	if (!e)
		return;
	take(q);
	k->vl = e->vl;
	k->ready = s.now + 1;
	put(queue_of(sw, in, e), p);
	s.in_busy[i * VLS + vl] = s.now + job.hold;
}

static void host_turn(ftr_ep e)
{
	uint32_t *busy = &s.busy[f->n_ports + e], *p = &s.first[e];
	int done;

	if (job.load < 1) {
		/* at most one new packet per cycle; the gaps are almost exponentially distributed */
		double u = (double)(ftr_rng_next(&s.rng) >> 11) / 9007199254740992.;

		s.waits[e] += u < job.load / job.hold;
	}
	if (*busy > s.now || (job.load < 1 && !s.waits[e]))
		return;
	if (*p == UINT32_MAX)
		*p = new_packet(e);
	done = enter(*p, f->ep[e].sw, f->ep[e].sw_port, 0);
	if (!done)
		return;
	s.pkt[*p].sent = s.now;
	if (done < 0)
		free_packet(*p);
	else
		*busy = s.now + job.hold;
	*p = UINT32_MAX;
	s.waits[e] -= s.waits[e] > 0;
}

/* ---- packets at the links -------------------------------------------------- */

static void sample(void)
{
	for (uint32_t i = 0; i < f->n_ports; i++) {
		const struct ftr_swport *peer = &f->ports[i];
		bool up, wire = s.busy[i] > s.now;
		double queue = 0;

		if (peer->peer_kind != FTR_PEER_SW || !s.up[i])
			continue;
		up = shape->tree.rank[peer->peer] > shape->tree.rank[s.sw[i]];
		for (uint32_t j = s.from[i]; j < s.from[i + 1]; j++)
			queue += s.q[j].n;
		s.wire += wire;
		s.queue += queue;
		*(up ? &s.n_up : &s.n_down) += 1;
		*(up ? &s.up_sum : &s.down_sum) += wire + queue;
		for (unsigned int v = 0; v < VLS && job.model == INPUTS; v++)
			s.input += s.in[s.far[i] * VLS + v].held;
	}
}

/* ---- a run ------------------------------------------------------------------ */

static void lay_out(void)
{
	uint32_t n = 0;

	s.from = calloc(f->n_ports + 1u, sizeof(*s.from));
	s.far = calloc(f->n_ports, sizeof(*s.far));
	s.sw = calloc(f->n_ports, sizeof(*s.sw));
	for (ftr_sw w = 0; w < f->n_sw; w++)
		for (unsigned int p = 0; p <= f->sw[w].n_ports; p++) {
			uint32_t i = f->sw[w].first_port + p;
			const struct ftr_swport *q = &f->ports[i];

			s.sw[i] = w;
			s.from[i] = n;
			s.far[i] = q->peer_kind != FTR_PEER_SW ? UINT32_MAX :
				f->sw[q->peer].first_port + q->peer_port;
			n += VLS * (job.model == VIRTUAL ?
				    f->sw[w].n_ports + 1u : 1u);
		}
	s.from[f->n_ports] = s.n_q = n;
	s.q = calloc(n, sizeof(*s.q));
	s.in = calloc((size_t)f->n_ports * VLS, sizeof(*s.in));
	s.up = calloc(f->n_ports, 1);
	s.busy = calloc(f->n_ports + f->n_ep, sizeof(*s.busy));
	s.in_busy = calloc((size_t)f->n_ports * VLS, sizeof(*s.in_busy));
	s.turn = calloc(f->n_ports + f->n_ep, 1);
	s.waits = calloc(f->n_ep, sizeof(*s.waits));
	s.first = calloc(f->n_ep, sizeof(*s.first));
}

static void empty(void)
{
	struct ftr_err err = { 0 };

	memset(s.q, 0, s.n_q * sizeof(*s.q));
	memset(s.in, 0, (size_t)f->n_ports * VLS * sizeof(*s.in));
	memset(s.busy, 0, (f->n_ports + f->n_ep) * sizeof(*s.busy));
	memset(s.in_busy, 0, (size_t)f->n_ports * VLS * sizeof(*s.in_busy));
	memset(s.turn, 0, f->n_ports + f->n_ep);
	memset(s.waits, 0, f->n_ep * sizeof(*s.waits));
	memset(s.first, 0xff, f->n_ep * sizeof(*s.first));
	for (uint32_t i = 0; i < f->n_ports; i++)
		s.up[i] = f->ports[i].peer_kind == FTR_PEER_SW ||
			f->ports[i].peer_kind == FTR_PEER_EP;
	memset(s.n_back, 0, sizeof(s.n_back));
	s.n_pkt = s.n_free = 0;
	s.now = 0;
	s.v = (struct ftr_sim_view){ .f = f, .t = tables, .up = s.up,
				     .n_vls = VLS, .arg = &s.arg };
	s.arg = shape->tree.rank;
	if (s.state && s.fn.finish)
		s.fn.finish(s.state);
	s.state = NULL;
	if (s.fn.start)
		must(s.fn.start(&s.v, &s.state, &err), &err);
}

static void kill_one(struct ftr_rng *rng)
{
	uint32_t i;

	do
		i = ftr_rng_below(rng, f->n_ports);
	while (f->ports[i].peer_kind != FTR_PEER_SW || !s.up[i]);
	s.up[i] = s.up[s.far[i]] = 0;
}

static bool full(const struct queue *q, unsigned int room)
{
	return q->n >= room;
}

/* Returns true if the first packet of queue q of output i can leave now or later.  alive[] is 1 for
 * output queues that have or will get room, in_alive[] for input buffers. */
static bool lives(uint32_t i, const struct queue *q, const uint8_t *alive,
		  const uint8_t *in_alive)
{
	const struct ftr_swport *peer = &f->ports[i];
	const struct pkt *k = &s.pkt[q->p[q->first]];
	unsigned int vl = (unsigned int)(q - &s.q[s.from[i]]) % VLS;

	if (peer->peer_kind == FTR_PEER_EP)
		return true;
	if (job.model == INPUTS)
		return in_alive[s.far[i] * VLS + vl];
	for (int e = 0; e < k->n; e++)
		if (alive[queue_of(peer->peer, peer->peer_port, &k->e[e]) -
			  s.q])
			return true;
	return k->n < 0;
}

static bool input_lives(uint32_t j, const uint8_t *alive)
{
	const struct pkt *k = &s.pkt[s.in[j].p[s.in[j].first]];
	uint32_t i = j / VLS;
	ftr_sw sw = s.sw[i];

	for (int e = 0; e < k->n; e++)
		if (alive[queue_of(sw, (ftr_port)(i - f->sw[sw].first_port),
				   &k->e[e]) - s.q])
			return true;
	return k->n < 0;
}

/* Returns true if some full queues wait for each other. */
static bool deadlock(void)
{
	uint32_t n_in = f->n_ports * VLS;
	uint8_t *alive = calloc(s.n_q + n_in, 1), *in_alive = alive + s.n_q;
	bool more = true, dead = false;

	for (uint32_t j = 0; j < s.n_q; j++)
		alive[j] = !full(&s.q[j], job.room);
	for (uint32_t j = 0; j < n_in; j++)
		in_alive[j] = !full(&s.in[j], job.in_room);
	while (more) {
		more = false;
		for (uint32_t i = 0; i < f->n_ports; i++)
			for (uint32_t j = s.from[i]; j < s.from[i + 1]; j++)
				if (!alive[j] && lives(i, &s.q[j], alive,
						       in_alive))
					alive[j] = more = true;
		for (uint32_t j = 0; j < n_in; j++)
			if (!in_alive[j] && input_lives(j, alive))
				in_alive[j] = more = true;
	}
	for (uint32_t j = 0; j < s.n_q + n_in; j++)
		dead |= !alive[j];
	free(alive);
	return dead;
}

/* Simulate one run.  Returns false if it deadlocks. */
static bool run_outputs(uint64_t seed, unsigned int faults)
{
	struct ftr_rng rng;

	empty();
	ftr_rng_seed(&rng, seed);
	for (unsigned int i = 1; i < faults; i++)
		kill_one(&rng);
	ftr_rng_seed(&s.rng, seed + 1000000);
	for (s.now = 1; s.now <= job.warm + job.cycles; s.now++) {
		uint32_t at = ftr_rng_below(&s.rng, f->n_ports);

		if (s.now == job.warm + 1)
			s.delivered = s.latency = 0;
		give_back();
		for (uint32_t i = 0; i < f->n_ports; i++)
			for (unsigned int v = 0; v < VLS &&
			     job.model == INPUTS; v++)
				input_turn((at + i) % f->n_ports, v);
		for (uint32_t i = 0; i < f->n_ports; i++)
			link_turn((at + i) % f->n_ports);
		for (ftr_ep e = 0; e < f->n_ep; e++)
			host_turn((e + at) % f->n_ep);
		if (s.now > job.warm)
			sample();
		if (s.now % 100 == 0 && deadlock())
			return false;
	}
	return true;
}

static void measure(const char *name, unsigned int faults)
{
	double accepted = 0, wire = 0, queue = 0, up = 0, down = 0, in = 0;
	double latency = 0;
	unsigned int good = 0;

	for (unsigned int r = 0; r < job.runs; r++) {
		double n;

		s.wire = s.queue = s.up_sum = s.down_sum = s.input = 0;
		s.n_up = s.n_down = s.delivered = 0;
		if (!run_outputs(job.seed + r, faults))
			continue;
		good++;
		n = (double)(s.n_up + s.n_down);
		accepted += (double)s.delivered / job.cycles * job.hold / 2;
		wire += s.wire / n;
		queue += s.queue / n;
		up += s.up_sum / (double)s.n_up;
		down += s.down_sum / (double)s.n_down;
		in += s.input / n;
		latency += (double)s.latency / (double)s.delivered * 2 /
			   job.hold;
	}
	printf("%s,%u,%.0f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.2f\n", name, faults,
	       100.0 * (job.runs - good) / job.runs, accepted / good,
	       wire / good, queue / good, up / good, down / good, in / good,
	       latency / good);
}

static void take_option(int c)
{
	uint32_t n = optarg ? (uint32_t)strtoul(optarg, NULL, 0) : 0;

	switch (c) {
	case 'n':
		for (char *t = strtok(optarg, ","); t; t = strtok(NULL, ","))
			job.n[job.n_n++ % FAULTS_MAX] = (unsigned int)strtoul(t, NULL, 0);
		break;
	case 'r': job.runs = n; break;
	case 's': job.seed = n; break;
	case 'l': job.load = strtod(optarg, NULL) / 100; break;
	case 'w': job.warm = n; break;
	case 'm': job.cycles = n; break;
	case 'o': job.room = n; break;
	case 'i': job.in_room = n; break;
	case 'h': job.hold = n; break;
	case 'e': job.early = true; break;
	case 'M': job.model = *optarg == 'd' ? DIRECT : *optarg == 'i' ? INPUTS :
			VIRTUAL; break;
	case '1': job.once = true; break;
	default: exit(2);
	}
}

int main(int argc, char **argv)
{
	struct ftr_route_opts ro = {
		.sm_switch = FTR_SW_NONE, .paths = FTR_PATHS_UPDOWN,
	};
	struct ftr_fabric *fabric = NULL;
	struct ftr_err err = { 0 };
	int c;

	while ((c = getopt(argc, argv, "n:r:s:l:w:m:o:i:h:e1M:")) >= 0)
		take_option(c);
	if (optind + 2 > argc || job.room > PLACES_MAX || !job.hold ||
	    job.in_room > PLACES_MAX || job.hold > HOLD_MAX) {
		fprintf(stderr, "usage: outputs -n N,.. [OPTION...] FABRIC FUNCTION...\n");
		return 2;
	}
	must(ftr_read_fabric(argv[optind], 0, &fabric, &err), &err);
	f = fabric;
	must(ftr_shape_new(f, NULL, NULL, &shape, &err), &err);
	must(ftr_tables_new(f, false, &tables, &err), &err);
	must(ftr_engine_find("dmodc")->route(shape, &ro, NULL, tables, NULL,
					     &err), &err);
	lay_out();
	printf("function,faults,deadlock,accepted,wire,queue,up,down,input,latency\n");
	for (int i = optind + 1; i < argc; i++) {
		s.state = NULL;
		s.fn = *model_find(argv[i]);
		for (unsigned int j = 0; j < job.n_n; j++)
			measure(argv[i], job.n[j]);
	}
	return 0;
}
