// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Compares the simulation with a slow simulation, on small trees with random VLs.  All
 * counts must be equal, and so must the sum of all latencies, to the picosecond.
 *
 * The slow simulation implements the contract of <ftr/sim.h>, but shares no code with the
 * simulation.  It keeps whole packets in arrays, and looks at all packets and channels at
 * every event.  It computes the free room in a buffer from the packets in it and the
 * credits that the sender does not have yet.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include <ftr/ftr.h>

#define MAX_PKT 20000
#define MAX_CH 700
#define MAX_V 3
#define BYTES 2048
#define NEVER UINT64_MAX

static struct ftr_err err;

struct pkt {
	bool used, waiting, delivered;
	uint32_t source;
	uint32_t ch;		/* last channel that has sent the packet; UINT32_MAX: none yet */
	ftr_lid lid;
	unsigned int sl, vl, hops;
	uint64_t sent;
	uint64_t head;		/* time when the head has passed the switch delay; if the channel
				 * leads to a host: time when the packet has arrived */
	uint64_t tail, ready;
	uint32_t out;		/* channel that the packet waits for */
	unsigned int out_vl;
};

/* Room that a packet takes in the buffer at the end of a channel. */
struct room {
	uint32_t ch;
	unsigned int vl;
	uint64_t until;		/* time when the sender learns that this room is free */
};

/* The keys (key_of()) of the queues that wait for a VL of a channel, in the order of service. */
struct turn {
	uint32_t key[64];
	uint32_t n;
};

struct slow {
	const struct ftr_sim_conf *c;
	const struct ftr_fabric *f;
	uint32_t n_ch, n_ports;
	struct pkt p[MAX_PKT];
	uint32_t n;
	struct room room[MAX_PKT * 8];
	uint32_t n_room, first_room;
	uint32_t pkt_room[MAX_PKT];	/* [packet] index of its room in room[] */
	uint64_t free_at[MAX_CH];	/* [channel] time when the channel is idle again */
	uint32_t from[MAX_CH];		/* [channel] packet that it sends, or UINT32_MAX */
	uint32_t from_ch[MAX_CH];	/* [channel] input channel of that packet */
	unsigned int from_vl[MAX_CH];
	uint32_t fifo[MAX_CH][MAX_V][64];
	uint32_t n_fifo[MAX_CH][MAX_V];
	bool reading[MAX_CH][MAX_V];
	struct turn turn[MAX_CH][MAX_V];
	unsigned int vl_number[MAX_CH];
	int64_t left[MAX_CH];
	uint32_t cursor[512];
	uint64_t now, sent[MAX_CH], hops, delivered;
	double latency;
};

static bool wired(const struct slow *x, uint32_t c)
{
	if (c >= x->n_ports)
		return c < x->n_ports + x->f->n_ep &&
		       x->f->ep[c - x->n_ports].sw != FTR_SW_NONE;
	return x->f->ports[c].peer_kind != FTR_PEER_NONE;
}

/* Returns the switch at the end of the channel, or FTR_SW_NONE if a host is there.  *port: the
 * switch's port. */
static ftr_sw far_end(const struct slow *x, uint32_t c, ftr_port *port)
{
	const struct ftr_swport *q;

	if (c >= x->n_ports) {
		*port = x->f->ep[c - x->n_ports].sw_port;
		return x->f->ep[c - x->n_ports].sw;
	}
	q = &x->f->ports[c];
	*port = q->peer_port;
	return q->peer_kind == FTR_PEER_SW ? q->peer : FTR_SW_NONE;
}

static uint64_t wire(const struct slow *x, uint32_t c)
{
	const struct ftr_swport *q;
	uint32_t mbps, ps1024;

	if (c >= x->n_ports)
		q = ftr_fabric_port(x->f, x->f->ep[c - x->n_ports].sw,
				    x->f->ep[c - x->n_ports].sw_port);
	else
		q = &x->f->ports[c];
	mbps = ftr_sim_mbps(q->width, (enum ftr_speed)q->speed);
	if (!mbps)
		mbps = 32000;
	ps1024 = (uint32_t)(8e6 * 1024 / mbps + 0.5);
	return ((uint64_t)BYTES * ps1024 + 512) >> 10;
}

static bool has_room(struct slow *x, uint32_t c, unsigned int vl)
{
	uint32_t taken = 0;
	ftr_port port;

	if (far_end(x, c, &port) == FTR_SW_NONE)
		return true;
	while (x->first_room < x->n_room &&
	       x->room[x->first_room].until <= x->now)
		x->first_room++;
	for (uint32_t i = x->first_room; i < x->n_room; i++)
		if (x->room[i].ch == c && x->room[i].vl == vl &&
		    x->room[i].until > x->now)
			taken += BYTES;
	return taken + BYTES <= x->c->buffer;
}

/* Returns the key of the packet's queue.  A queue has an input channel and a VL: the input VL if
 * queues are FIFOs, otherwise the output VL. */
static uint32_t key_of(const struct slow *x, const struct pkt *p)
{
	return p->ch * 4 + (x->c->queues == FTR_SIM_FIFO ? p->vl : p->out_vl);
}

static void join(struct slow *x, uint32_t i)
{
	struct pkt *p = &x->p[i];
	struct turn *t;
	ftr_port in;
	ftr_sw s = far_end(x, p->ch, &in);
	ftr_port out = ftr_tables_get(x->c->t, s, p->lid);

	p->out = x->f->sw[s].first_port + out;
	p->out_vl = ftr_sl2vl_get(x->c->sl2vl, s, in, out, p->sl);
	p->ready = p->tail - FTR_MIN(p->tail, wire(x, p->out));
	p->ready = FTR_MAX(p->ready, x->now);
	p->waiting = true;
	t = &x->turn[p->out][p->out_vl];
	for (uint32_t k = 0; k < t->n; k++)
		if (t->key[k] == key_of(x, p))
			return;
	ck_assert_uint_lt(t->n, 64);
	t->key[t->n++] = key_of(x, p);
}

static void next_head(struct slow *x, uint32_t c, unsigned int vl)
{
	if (x->n_fifo[c][vl] && !x->reading[c][vl])
		join(x, x->fifo[c][vl][0]);
}

static void send(struct slow *x, uint32_t c, uint32_t i, unsigned int vl)
{
	struct pkt *p = &x->p[i];
	ftr_port port;
	bool to_switch = far_end(x, c, &port) != FTR_SW_NONE;

	x->from[c] = i;
	x->from_ch[c] = p->ch;
	x->from_vl[c] = p->vl;
	x->free_at[c] = x->now + wire(x, c);
	if (p->ch != UINT32_MAX)
		x->room[x->pkt_room[i]].until = x->free_at[c] + x->c->link_ps;
	x->sent[c]++;
	x->hops++;
	p->hops++;
	p->waiting = false;
	p->ch = c;
	p->vl = vl;
	p->head = x->now + x->c->link_ps +
		  (to_switch ? x->c->switch_ps : wire(x, c));
	if (to_switch) {
		x->pkt_room[i] = x->n_room;
		ck_assert_uint_lt(x->n_room, MAX_PKT * 8);
		x->room[x->n_room++] = (struct room){ c, vl, NEVER };
	}
}

static uint32_t first_of(const struct slow *x, uint32_t c, unsigned int vl,
			 uint32_t key)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < x->n; i++) {
		const struct pkt *p = &x->p[i];

		if (p->waiting && p->out == c && p->out_vl == vl &&
		    key_of(x, p) == key &&
		    (best == UINT32_MAX || p->head < x->p[best].head))
			best = i;
	}
	return best;
}

/* Returns the number of outputs that send packets from the buffer at the end of channel ch. */
static unsigned int fed(const struct slow *x, uint32_t ch)
{
	unsigned int n = 0;

	for (uint32_t c = 0; c < x->n_ch; c++)
		n += x->free_at[c] > x->now && x->from_ch[c] == ch;
	return n;
}

static bool send_vl(struct slow *x, uint32_t c, unsigned int vl)
{
	struct turn *t = &x->turn[c][vl];

	if (!has_room(x, c, vl))
		return false;
	for (uint32_t k = 0; k < t->n; k++) {
		uint32_t key = t->key[k], i = first_of(x, c, vl, key);
		struct pkt *p = &x->p[i];

		ck_assert_uint_ne(i, UINT32_MAX);
		if (p->ready > x->now ||
		    (x->c->speedup && fed(x, p->ch) >= x->c->speedup))
			continue;
		memmove(&t->key[k], &t->key[k + 1],
			(t->n - k - 1) * sizeof(t->key[0]));
		t->n--;
		if (x->c->queues == FTR_SIM_FIFO) {
			uint32_t *b = x->fifo[p->ch][p->vl];

			memmove(b, b + 1, 63 * sizeof(*b));
			x->n_fifo[p->ch][p->vl]--;
			x->reading[p->ch][p->vl] = true;
		}
		send(x, c, i, vl);
		if (first_of(x, c, vl, key) != UINT32_MAX)
			t->key[t->n++] = key;
		return true;
	}
	return false;
}

static void choose(struct slow *x, uint32_t c)
{
	unsigned int vl = x->vl_number[c];
	int64_t left = x->left[c];

	for (unsigned int i = 0; i <= x->c->n_vls; i++) {
		if (left > 0 && send_vl(x, c, vl)) {
			x->vl_number[c] = vl;
			x->left[c] = left - BYTES;
			return;
		}
		vl = (vl + 1) % x->c->n_vls;
		left = x->c->weight[vl] ? x->c->weight[vl] * 64 : BYTES;
	}
}

/* Send the next packet of a source if there is room.  The destinations of the source take turns. */
static void inject(struct slow *x, uint32_t c)
{
	ftr_ep e = c - x->n_ports;
	uint32_t n = 0, want = x->cursor[e], mine = 0;
	const struct ftr_transfer *to = NULL;
	struct pkt *p;
	unsigned int sl;

	for (uint32_t i = 0; i < x->c->traffic.n_pairs; i++)
		n += x->c->traffic.pair[i].from == e;
	if (!n)
		return;
	for (uint32_t i = 0; i < x->c->traffic.n_pairs; i++)
		if (x->c->traffic.pair[i].from == e && mine++ == want % n)
			to = &x->c->traffic.pair[i];
	sl = ftr_path_sl_get(x->c->traffic.path_sl, e, x->f->ep[to->to].lid);
	if (!has_room(x, c, sl % x->c->n_vls))
		return;
	ck_assert_uint_lt(x->n, MAX_PKT);
	p = &x->p[x->n++];
	*p = (struct pkt){ .used = true, .source = e, .ch = UINT32_MAX,
			   .lid = x->f->ep[to->to].lid, .sl = sl,
			   .sent = x->now };
	x->cursor[e]++;
	send(x, c, x->n - 1, sl % x->c->n_vls);
}

static uint64_t next_time(const struct slow *x)
{
	uint64_t t = NEVER;

#define MAYBE(at) do { \
	if ((at) > x->now && (at) < t) \
		t = (at); \
} while (0)
	for (uint32_t c = 0; c < x->n_ch; c++)
		MAYBE(x->free_at[c]);
	for (uint32_t i = 0; i < x->n; i++) {
		if (x->p[i].delivered)
			continue;
		MAYBE(x->p[i].head);
		if (x->p[i].waiting)
			MAYBE(x->p[i].ready);
	}
	for (uint32_t i = x->first_room; i < x->n_room; i++)
		if (x->room[i].until != NEVER)
			MAYBE(x->room[i].until);
	return t;
}

static void arrive(struct slow *x, uint32_t i)
{
	struct pkt *p = &x->p[i];
	ftr_port port;

	if (far_end(x, p->ch, &port) == FTR_SW_NONE) {
		p->delivered = true;
		x->delivered++;
		x->latency += (double)(x->now - p->sent);
		return;
	}
	p->tail = x->now + wire(x, p->ch);
	if (x->c->queues == FTR_SIM_VOQ) {
		join(x, i);
		return;
	}
	ck_assert_uint_lt(x->n_fifo[p->ch][p->vl], 64);
	x->fifo[p->ch][p->vl][x->n_fifo[p->ch][p->vl]++] = i;
	if (x->n_fifo[p->ch][p->vl] == 1)
		next_head(x, p->ch, p->vl);
}

static void instant(struct slow *x)
{
	for (uint32_t c = 0; c < x->n_ch; c++)
		if (x->now && x->free_at[c] == x->now &&
		    x->from_ch[c] != UINT32_MAX &&
		    x->c->queues == FTR_SIM_FIFO) {
			x->reading[x->from_ch[c]][x->from_vl[c]] = false;
			next_head(x, x->from_ch[c], x->from_vl[c]);
		}
	for (uint32_t c = 0; c < x->n_ch; c++)
		for (uint32_t i = 0; i < x->n; i++)
			if (x->p[i].ch == c && x->p[i].head == x->now)
				arrive(x, i);
	for (uint32_t c = 0; c < x->n_ch; c++) {
		if (!wired(x, c) || x->free_at[c] > x->now)
			continue;
		if (c < x->n_ports)
			choose(x, c);
		else
			inject(x, c);
	}
}

/* ---- comparison -------------------------------------------------------------------- */

static void compare(struct slow *x, const struct ftr_sim_result *r)
{
	ck_assert_uint_eq(r->injected, x->n);
	ck_assert_uint_eq(r->delivered, x->delivered);
	ck_assert_uint_eq(r->hops, x->hops);
	ck_assert(r->host.total.sum_ps == x->latency);
	for (uint32_t i = 0; i < r->n_channels; i++) {
		const struct ftr_sim_channel_use *u = &r->channel[i];
		uint32_t c = u->sw == FTR_SW_NONE ? x->n_ports + u->ep :
			     x->f->sw[u->sw].first_port + u->port;

		ck_assert_uint_eq(u->packets, x->sent[c]);
	}
}

static void random_vls(struct ftr_rng *rng, const struct ftr_fabric *f,
		       unsigned int n, struct ftr_sl2vl *m,
		       struct ftr_path_sl *sl)
{
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int in = 0; in <= f->sw[s].n_ports; in++)
			for (unsigned int o = 0; o <= f->sw[s].n_ports; o++)
				for (unsigned int k = 0; k < FTR_N_SL; k++)
					ftr_sl2vl_set(m, s, (ftr_port)in,
						      (ftr_port)o, k,
						      ftr_rng_below(rng, n));
	for (ftr_ep a = 0; a < f->n_ep; a++)
		for (ftr_ep b = 0; b < f->n_ep; b++)
			ck_assert(!ftr_path_sl_set(sl, a, f->ep[b].lid,
						   ftr_rng_below(rng, 3),
						   &err));
}

static uint32_t random_pairs(struct ftr_rng *rng, const struct ftr_fabric *f,
			     struct ftr_transfer *pair)
{
	uint32_t n = 0;

	for (ftr_ep a = 0; a < f->n_ep; a++)
		for (uint32_t k = ftr_rng_below(rng, 4); k; k--) {
			ftr_ep b = ftr_rng_below(rng, f->n_ep);

			if (b != a)
				pair[n++] = (struct ftr_transfer){ .from = a, .to = b };
		}
	return n;
}

static struct ftr_fabric *random_tree(struct ftr_rng *rng, uint64_t seed,
				      struct ftr_tables **t)
{
	struct ftr_pgft g;
	struct ftr_fabric *f;
	struct ftr_shape *sh;

	do
		trees_random_pgft(rng, &g, false, 10);
	while (g.m[0] * g.m[1] > 24);
	f = trees_grow(&g, seed, 0);
	ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
	ck_assert(!ftr_tables_new(f, false, t, &err));
	ck_assert(!ftr_engine_find("sftree")->route(sh, NULL, NULL, *t, NULL,
						    &err));
	ftr_shape_free(sh);
	return f;
}

START_TEST(slow_and_fast)
{
	uint64_t seed = trees_first_seed() + (uint64_t)_i;
	struct slow *x = calloc(1, sizeof(*x));
	struct ftr_transfer pair[512];
	struct ftr_sim_result r;
	struct ftr_tables *t;
	struct ftr_sl2vl *m;
	struct ftr_path_sl *sl;
	struct ftr_rng rng;
	struct ftr_fabric *f;
	struct ftr_sim_conf c;

	printf("seed %llu\n", (unsigned long long)seed);
	ck_assert_ptr_nonnull(x);
	ftr_rng_seed(&rng, seed);
	f = random_tree(&rng, seed, &t);
	ck_assert_uint_le(f->n_ep, 128);
	c = (struct ftr_sim_conf){
		.f = f, .t = t, .traffic.load = 1, .traffic.pattern = FTR_SIM_PAIRS,
		.traffic.pair = pair, .link_ps = 1000 * ftr_rng_below(&rng, 50) + 1,
		.switch_ps = 1000 * ftr_rng_below(&rng, 300),
		.n_vls = 1 + ftr_rng_below(&rng, MAX_V),
		.buffer = BYTES * (1 + ftr_rng_below(&rng, 5)),
		.queues = ftr_rng_below(&rng, 2) ? FTR_SIM_FIFO : FTR_SIM_VOQ,
		.run_ps = 4 * FTR_SIM_US, .traffic.bytes = BYTES,
		.speedup = ftr_rng_below(&rng, 4),
	};
	if (ftr_rng_below(&rng, 2))
		for (unsigned int v = 0; v < c.n_vls; v++)
			c.weight[v] = (uint8_t)(1 + ftr_rng_below(&rng, 100));
	ck_assert(!ftr_sl2vl_new(f, &m, &err));
	ck_assert(!ftr_path_sl_new(f, &sl, &err));
	random_vls(&rng, f, c.n_vls, m, sl);
	c.sl2vl = m;
	c.traffic.path_sl = sl;
	c.traffic.n_pairs = random_pairs(&rng, f, pair);

	x->c = &c;
	x->f = f;
	x->n_ports = f->n_ports;
	x->n_ch = f->n_ports + f->n_ep;
	ck_assert_uint_le(x->n_ch, MAX_CH);
	for (x->now = 0; x->now < c.run_ps; x->now = next_time(x))
		instant(x);
	ck_assert_msg(!ftr_sim_run(&c, NULL, &r, &err), "%s", err.msg);
	compare(x, &r);
	ftr_sim_result_fini(&r, 1);
	ftr_path_sl_free(sl);
	ftr_sl2vl_free(m);
	ftr_tables_free(t);
	ftr_fabric_free(f);
	free(x);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim");
	TCase *c = tcase_create("slow");

	tcase_add_loop_test(c, slow_and_fast, 0, (int)trees_runs(60));
	suite_add_tcase(s, c);
	return run_suite(s);
}
