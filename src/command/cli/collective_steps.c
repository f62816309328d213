// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The flows of collectives, and their time (see collective.h).  The loads of links are those of
 * <ftr/load.h>.
 *
 * Below, n is the number of ranks, N that of nodes, R that of rails, S the bytes per rank.  With
 * several rails, a collective runs on all rails at the same time, as NCCL does: each rail carries
 * 1 / R of the data, and inside a node the data goes over the local links.
 *
 *	ring		all-reduce: 2 (n - 1) steps of S / n to the next rank; reduce-scatter
 *			and all-gather: half of them
 *	tree		the two binary trees of Sanders et al. 2009, each with S / 2, up and
 *			then down; pipelined, so that all edges are busy at the same time
 *	doubling	log2 N exchanges of S with node i xor 2^k; if N is not a power of two,
 *			the surplus nodes send to a neighbour before, and receive after
 *	all-to-all	S / n from each rank to each other; through the rail of the receiver
 *			if there are several (PXN of NCCL: the data first moves inside the
 *			node)
 *	pairwise	the same in N - 1 steps: node i sends to node i + k
 *	moe		dispatch of tokens: each rank sends MOE_TOKENS parts of S to random
 *			experts, one expert on each rank; the expert on place k of a random
 *			order is drawn with a probability proportional to 1 / k^skew
 *	halo		a periodic grid of three dimensions, as equal as n allows; S / 6 to
 *			each of the six neighbours
 *	random-ring	HPCC: the ranks in random order form a ring, and send S / 2 to both
 *			neighbours; the mean of several rings
 *	bisection	effective bisection bandwidth (Hoefler et al. 2008): random pairs of
 *			both halves; a pair gets the rate of an adapter divided by the load of
 *			the busiest link of its path, but at most that of an adapter; the mean
 *			of all pairs and patterns
 *	exchange	the same with MPI_Sendrecv (Geoffray and Hoefler 2008): both ranks of a
 *			pair send, and the pair gets the lower of both rates
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/collective.h"

#define MOE_TOKENS 64

struct coll {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	const struct coll_ranks *r;
	struct ftr_team *team;
	struct ftr_load *ld;
	double *rate;		/* [n_ports] bytes per second of the link at each switch port */
	double *sum;		/* [n_ports] bytes that have left each switch port */
	double *host_sum;	/* [2 * n_ep] bytes out of each host port, then into each */
	uint64_t *by_port;	/* [n_ports] flows of a step */
	uint32_t *host;		/* [2 * n_ep] flows of a step out of and into each host port */
	struct ftr_load_pair *pair;
	uint32_t n, room;	/* number of flows in pair[], and the number it has room for */
	const struct coll_opts *o;
	struct coll_time x;
};

static double ranks(const struct coll *c)
{
	return (double)c->r->nodes * c->r->rails;
}

static void *array(size_t n, size_t size)
{
	return cli_calloc(n, size, "the flows of a collective");
}

/* ---- one step ------------------------------------------------------------ */

static void add_pair(struct coll *c, ftr_ep from, ftr_ep to)
{
	if (c->n == c->room) {
		uint32_t room = c->room ? 2 * c->room : 1024;
		void *p = realloc(c->pair, room * sizeof(*c->pair));

		if (!p)
			cli_die("out of memory: the flows of a collective");
		c->pair = p;
		c->room = room;
	}
	c->pair[c->n++] = (struct ftr_load_pair){ from, to };
}

/* Add a flow between two nodes on each rail. */
static void add_nodes(struct coll *c, uint32_t from, uint32_t to)
{
	const struct coll_ranks *r = c->r;

	for (uint32_t k = 0; from != to && k < r->rails; k++)
		add_pair(c, r->port[k * r->nodes + from], r->port[k * r->nodes + to]);
}

/* Add a flow between two ranks: on the rail of the receiver, or from port to port.  Ranks of one
 * node need no flow on a rail. */
static void add_ranks(struct coll *c, uint32_t from, uint32_t to, bool rail)
{
	const struct coll_ranks *r = c->r;
	uint32_t a = from / r->rails, b = to / r->rails, k = to % r->rails;

	if (a != b)
		add_pair(c, r->port[(rail ? k : from % r->rails) * r->nodes + a],
			 r->port[k * r->nodes + b]);
}

/* Returns the rate of a host port in bytes per second. */
static double adapter(const struct coll *c, ftr_ep e)
{
	return c->rate[c->f->sw[c->f->ep[e].sw].first_port + c->f->ep[e].sw_port];
}

/* Add a step with the loads in by_port and host, done `times` times. */
static void take(struct coll *c, double bytes, double times)
{
	const uint32_t n = 2 * c->f->n_ep;
	double links = 0, adapters = 0;

	for (uint32_t i = 0; i < c->f->n_ports; i++)
		if (c->by_port[i]) {
			links = fmax(links, (double)c->by_port[i] * bytes / c->rate[i]);
			c->sum[i] += (double)c->by_port[i] * bytes * times;
		}
	for (uint32_t i = 0; i < n; i++)
		if (c->host[i]) {
			adapters = fmax(adapters, c->host[i] * bytes / adapter(c, i % c->f->n_ep));
			c->host_sum[i] += c->host[i] * bytes * times;
		}
	c->x.seconds += (fmax(links, adapters) + c->o->latency) * times;
	c->x.link_bound += links;
	c->x.adapter_bound += adapters;
	c->x.steps += (uint64_t)times;
	c->x.counted++;
}

/* Write the flows in pair[] for ibfattree sim, as the next `times` steps. */
static void write_steps(const struct coll *c, double bytes, uint64_t times)
{
	for (uint64_t t = 0; t < times; t++)
		for (uint32_t i = 0; i < c->n; i++)
			fprintf(c->o->steps, "%" PRIu64 " %u %u %.0f\n", c->x.steps + t,
				c->f->ep[c->pair[i].from].lid, c->f->ep[c->pair[i].to].lid,
				ceil(bytes));
}

/* A step with the flows in pair[], which is then empty again. */
static void step(struct coll *c, double bytes, double times)
{
	struct ftr_load_report r;

	cli_must(ftr_load_pairs(c->ld, c->pair, c->n, c->by_port, &r, &cli_err));
	memset(c->host, 0, 2 * (size_t)c->f->n_ep * sizeof(*c->host));
	for (uint32_t i = 0; i < c->n; i++) {
		c->host[c->pair[i].from]++;
		c->host[c->f->n_ep + c->pair[i].to]++;
	}
	if (c->o->steps)
		write_steps(c, bytes, (uint64_t)times);
	c->x.flows += r.flows;
	c->x.lost += r.lost;
	c->n = 0;
	take(c, bytes, times);
}

/* ---- rings, trees, doubling ---------------------------------------------- */

static void ring(struct coll *c, double rounds)
{
	for (uint32_t i = 0; i < c->r->nodes; i++)
		add_nodes(c, i, (i + 1) % c->r->nodes);
	step(c, c->o->bytes / c->r->rails / ranks(c), rounds * (ranks(c) - 1));
}

static void ring_twice(struct coll *c)
{
	ring(c, 2);
}

static void ring_once(struct coll *c)
{
	ring(c, 1);
}

/* The parent of node x > 0 in the first tree: x is 2^k times an odd number; without a parent of the
 * next higher power below n, the parent is the next lower number with a higher power. */
static uint32_t parent_of(uint32_t x, uint32_t n)
{
	uint32_t bit = x & -x, up = (x ^ bit) | (bit << 1);

	return up < n ? up : x ^ bit;
}

/* The second tree is the first one with the nodes in reverse order, or, if n is odd, shifted by
 * one: then no node has children in both trees. */
static uint32_t mirror(uint32_t x, uint32_t n)
{
	return n % 2 ? (x + 1) % n : n - 1 - x;
}

static void tree(struct coll *c)
{
	const uint32_t n = c->r->nodes;
	uint32_t depth = 0;

	for (uint32_t x = 1; x < n; x++) {
		uint32_t hops = 1;

		for (uint32_t y = parent_of(x, n); y; y = parent_of(y, n))
			hops++;
		depth = hops > depth ? hops : depth;
	}
	for (int down = 0; down < 2; down++) {
		for (uint32_t x = 1; x < n; x++) {
			uint32_t y = parent_of(x, n), mx = mirror(x, n), my = mirror(y, n);

			add_nodes(c, down ? y : x, down ? x : y);
			add_nodes(c, down ? my : mx, down ? mx : my);
		}
		step(c, c->o->bytes / c->r->rails / 2, 1);
		c->x.seconds += (depth - 1) * c->o->latency;
	}
}

/* The surplus nodes 2i (i < rest) send to 2i + 1 before, and receive after. */
static void surplus(struct coll *c, uint32_t rest, bool after)
{
	for (uint32_t i = 0; i < rest; i++)
		add_nodes(c, 2 * i + after, 2 * i + !after);
	if (rest)
		step(c, c->o->bytes / c->r->rails, 1);
}

static void doubling(struct coll *c)
{
	uint32_t power = 1, rest;

	while (2 * power <= c->r->nodes)
		power *= 2;
	rest = c->r->nodes - power;
	surplus(c, rest, false);
	for (uint32_t k = 1; k < power; k *= 2) {
		for (uint32_t i = 0; i < power; i++) {
			uint32_t j = i ^ k;

			add_nodes(c, i < rest ? 2 * i + 1 : i + rest,
				  j < rest ? 2 * j + 1 : j + rest);
		}
		step(c, c->o->bytes / c->r->rails, 1);
	}
	surplus(c, rest, true);
}

/* ---- all-to-all ---------------------------------------------------------- */

/* All flows of one rail at the same time, counted per rail. */
static void direct(struct coll *c)
{
	const struct coll_ranks *r = c->r;
	uint64_t *sum;

	for (uint32_t i = 0; c->o->steps && i < r->nodes; i++)
		for (uint32_t k = 1; k < r->nodes; k++)
			add_nodes(c, i, (i + k) % r->nodes);
	if (c->o->steps) {	/* flow by flow; the result is the same */
		step(c, c->o->bytes * r->rails / ranks(c), 1);
		return;
	}
	sum = array(c->f->n_ports, sizeof(*sum));
	for (uint32_t k = 0; k < r->rails; k++) {
		struct ftr_load *ld = NULL;
		struct ftr_load_report x;

		cli_must(ftr_load_new(c->f, c->t, (struct ftr_order){
			r->port + (size_t)k * r->nodes, r->nodes
		}, c->team, &ld, &cli_err));
		ftr_load_all(ld, c->by_port, &x);
		for (uint32_t i = 0; i < c->f->n_ports; i++)
			sum[i] += c->by_port[i];
		c->x.flows += x.flows;
		c->x.lost += x.lost;
		ftr_load_free(ld);
	}
	memcpy(c->by_port, sum, c->f->n_ports * sizeof(*sum));
	memset(c->host, 0, 2 * (size_t)c->f->n_ep * sizeof(*c->host));
	for (uint32_t i = 0; i < r->rails * r->nodes; i++)
		c->host[r->port[i]] = c->host[c->f->n_ep + r->port[i]] = r->nodes - 1;
	take(c, c->o->bytes * r->rails / ranks(c), 1);
	free(sum);
}

static void pairwise(struct coll *c)
{
	const uint32_t n = c->r->nodes, all = n - 1;
	uint32_t count = c->o->sample && c->o->sample < all ? c->o->sample : all;
	uint64_t state = c->o->seed;

	for (uint32_t s = 0; s < count; s++) {
		/* count of all shifts, one at random out of each of `count` equal intervals */
		uint32_t low = (uint32_t)((uint64_t)s * all / count);
		uint32_t high = (uint32_t)((s + 1) * (uint64_t)all / count);
		uint32_t k = 1 + low + (uint32_t)(cli_draw(&state) % (high - low));

		for (uint32_t i = 0; i < n; i++)
			add_nodes(c, i, (i + k) % n);
		step(c, c->o->bytes * c->r->rails / ranks(c), high - low);
	}
}

static void shuffle(uint32_t *perm, uint32_t n, uint64_t *state)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = (uint32_t)(cli_draw(state) % (i + 1));

		perm[i] = perm[j];
		perm[j] = i;
	}
}

/* Returns the first place of below[n], which ascends, that is above x. */
static uint32_t place_of(const double *below, uint32_t n, double x)
{
	uint32_t low = 0, high = n - 1;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (below[mid] > x)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

static void moe(struct coll *c)
{
	const uint32_t n = c->r->nodes * c->r->rails;
	double *below = array(n, sizeof(*below)), sum = 0;
	uint32_t *expert = array(n, sizeof(*expert));
	uint64_t state = c->o->seed;

	shuffle(expert, n, &state);
	for (uint32_t i = 0; i < n; i++)
		below[i] = sum += pow(i + 1.0, -c->o->skew);
	for (uint32_t x = 0; x < n; x++)
		for (unsigned int k = 0; k < MOE_TOKENS; k++) {
			double draw = ldexp((double)(cli_draw(&state) >> 11), -53) * sum;

			add_ranks(c, x, expert[place_of(below, n, draw)], true);
		}
	step(c, c->o->bytes / MOE_TOKENS, 1);
	free(below);
	free(expert);
}

/* ---- neighbours, random patterns ----------------------------------------- */

/* Returns the greatest divisor of n that is not above limit. */
static uint32_t divisor(uint32_t n, double limit)
{
	uint32_t d = (uint32_t)(limit + 1e-6);

	while (n % d)
		d--;
	return d;
}

static void halo(struct coll *c)
{
	const uint32_t n = c->r->nodes * c->r->rails;
	uint32_t k[3];

	k[2] = divisor(n, cbrt(n));
	k[1] = divisor(n / k[2], sqrt(n / k[2]));
	k[0] = n / k[2] / k[1];
	for (uint32_t x = 0; x < n; x++) {
		uint32_t stride = n;

		for (int d = 0; d < 3; d++) {
			uint32_t at;

			stride /= k[d];
			at = x / stride % k[d];
			add_ranks(c, x, x - at * stride + (at + 1) % k[d] * stride, true);
			add_ranks(c, x, x - at * stride + (at + k[d] - 1) % k[d] * stride, true);
		}
	}
	step(c, c->o->bytes / 6, 1);
}

static void random_ring(struct coll *c)
{
	const uint32_t n = c->r->nodes * c->r->rails;
	uint32_t *perm = array(n, sizeof(*perm));
	uint64_t state = c->o->seed;

	for (uint32_t k = 0; k < c->o->repeat; k++) {
		shuffle(perm, n, &state);
		for (uint32_t i = 0; i < n; i++) {
			add_ranks(c, perm[i], perm[(i + 1) % n], false);
			add_ranks(c, perm[(i + 1) % n], perm[i], false);
		}
		step(c, c->o->bytes / 2, 1);
	}
	free(perm);
}

/* Returns the mean rate of the n pairs of one bisection, in bytes per second.  A pair of two flows,
 * i and n + i, has the rate of the slower one. */
static double mean_rate(const struct coll *c, const uint64_t *most, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t load = most[i];

		if (c->n > n && most[n + i] > load)
			load = most[n + i];
		if (load != UINT64_MAX)
			sum += adapter(c, c->pair[i].from) / fmax(1, (double)load);
	}
	return sum / n;
}

static void bisections(struct coll *c, bool both)
{
	const uint32_t n = c->r->nodes * c->r->rails, half = n / 2;
	uint32_t *perm = array(n, sizeof(*perm));
	uint64_t *most = array(n, sizeof(*most)), state = c->o->seed;
	double sum = 0;

	for (uint32_t k = 0; k < c->o->repeat; k++) {
		shuffle(perm, n, &state);
		for (uint32_t i = 0; i < half; i++)
			add_pair(c, c->r->port[perm[i]], c->r->port[perm[half + i]]);
		for (uint32_t i = 0; both && i < half; i++)
			add_pair(c, c->r->port[perm[half + i]], c->r->port[perm[i]]);
		cli_must(ftr_load_pairs_most(c->ld, c->pair, c->n, most, &cli_err));
		sum += mean_rate(c, most, half);
		step(c, c->o->bytes, 1);
	}
	/* the mean rate is the result, not the longest transfer; coll_run divides by repeat */
	c->x.seconds = c->o->bytes * c->o->repeat / sum * c->o->repeat;
	c->x.link_bound = 0;
	free(perm);
	free(most);
}

static void bisection(struct coll *c)
{
	bisections(c, false);
}

static void exchange(struct coll *c)
{
	bisections(c, true);
}

const struct coll_kind coll_kinds[] = {
	{ "all-reduce-ring", COLL_TWICE, false, ring_twice },
	{ "all-reduce-tree", COLL_TWICE, false, tree },
	{ "all-reduce-doubling", COLL_TWICE, false, doubling },
	{ "reduce-scatter", COLL_ONCE, false, ring_once },
	{ "all-gather", COLL_ONCE, false, ring_once },
	{ "all-to-all", COLL_ONCE, false, direct },
	{ "all-to-all-pairwise", COLL_ONCE, false, pairwise },
	{ "moe", COLL_ONCE, false, moe },
	{ "halo", COLL_PLAIN, false, halo },
	{ "random-ring", COLL_PLAIN, true, random_ring },
	{ "bisection", COLL_PLAIN, true, bisection },
	{ "exchange", COLL_PLAIN, true, exchange },
	{ NULL, COLL_PLAIN, false, NULL }
};

double coll_factor(const struct coll_kind *k, double n)
{
	return k->unit == COLL_PLAIN ? 1 : (k->unit == COLL_TWICE ? 2 : 1) * (n - 1) / n;
}

/* ---- the sums ------------------------------------------------------------ */

struct coll_time coll_run(struct coll *c, const struct coll_kind *k, const struct coll_opts *o)
{
	const struct ftr_fabric *f = c->f;

	memset(c->sum, 0, f->n_ports * sizeof(*c->sum));
	memset(c->host_sum, 0, 2 * (size_t)f->n_ep * sizeof(*c->host_sum));
	c->x = (struct coll_time){ 0 };
	c->o = o;
	c->n = 0;
	k->run(c);
	if (k->averaged) {
		c->x.seconds /= o->repeat;
		c->x.link_bound /= o->repeat;
		c->x.adapter_bound /= o->repeat;
		return c->x;
	}
	c->x.link_bound = c->x.adapter_bound = 0;
	for (uint32_t i = 0; i < f->n_ports; i++)
		if (c->sum[i] > 0)
			c->x.link_bound = fmax(c->x.link_bound, c->sum[i] / c->rate[i]);
	for (uint32_t i = 0; i < 2 * f->n_ep; i++)
		if (c->host_sum[i] > 0)
			c->x.adapter_bound = fmax(c->x.adapter_bound,
						  c->host_sum[i] / adapter(c, i % f->n_ep));
	return c->x;
}

static void set_rates(struct coll *c, unsigned int mbps)
{
	const struct ftr_fabric *f = c->f;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *q = ftr_fabric_port(f, s, p);
			uint32_t own = ftr_sim_mbps(q->width, (enum ftr_speed)q->speed);

			if (q->peer_kind == FTR_PEER_NONE)
				continue;
			if (!own && !mbps)
				cli_die("switch 0x%016" PRIx64 " \"%s\" port %u: the rate of the link is unknown; give --rate",
					f->sw[s].guid, f->sw[s].name, p);
			c->rate[f->sw[s].first_port + p] = (own ? own : mbps) * 125e3;
		}
}

struct coll *coll_new(const struct ftr_fabric *f, const struct ftr_tables *t,
		      const struct coll_ranks *r, unsigned int mbps, struct ftr_team *team)
{
	struct coll *c = array(1, sizeof(*c));

	c->f = f;
	c->t = t;
	c->r = r;
	c->team = team;
	c->rate = array(f->n_ports, sizeof(*c->rate));
	c->sum = array(f->n_ports, sizeof(*c->sum));
	c->host_sum = array(2 * (size_t)f->n_ep, sizeof(*c->host_sum));
	c->by_port = array(f->n_ports, sizeof(*c->by_port));
	c->host = array(2 * (size_t)f->n_ep, sizeof(*c->host));
	set_rates(c, mbps);
	/* the flows of this module are lists of pairs, so the order may be empty */
	cli_must(ftr_load_new(f, t, (struct ftr_order){ r->port, 0 }, team, &c->ld, &cli_err));
	return c;
}

void coll_free(struct coll *c)
{
	ftr_load_free(c->ld);
	free(c->rate);
	free(c->sum);
	free(c->host_sum);
	free(c->by_port);
	free(c->host);
	free(c->pair);
	free(c);
}
