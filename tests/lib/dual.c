// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes a lower bound for the all-to-all load of the most loaded link under any routing, from
 * weights of links.
 *
 * Give every link x a weight w[x] >= 0.  The weight of a path is the sum of the weights of its
 * links.  For any routing, let T be the total weight of the paths of all pairs of hosts, and let M
 * be the load of the most loaded link.  Let L be the total weight of the lightest paths of all
 * pairs of hosts.  Then L <= T <= M * (sum of all w[x]).  So
 *
 *	M >= L / (sum of all w[x])
 *
 * (duality of linear programs).
 *
 * Good weights are found in rounds.  A round routes all flows over their lightest paths, one
 * destination switch after the other.  After each destination switch, the weights of the links that
 * got flows rise, so that the mean load over all rounds becomes even.  The weight of a link grows
 * exponentially with the sum of its loads so far (Plotkin et al. 1995, see docs/references.md).
 * The factor in the exponent is proportional to the square root of the number of the round.
 */
#include <math.h>

#include "balance/balance.h"
#include "lib/dual.h"

#define LARGE 100	/* greatest exponent of a weight, so that sums of weights stay finite */
#define SHARP 3			/* dual.sharp in round 1; values from 1 to 6 work equally well */

struct dual {
	const struct ftr_fabric *f;
	const uint32_t *hosts;	/* [n_sw] number of hosts on each switch */
	/* w[x]: weight of link x, exp(sharp * (load[x] / even - 1)); load[x]: sum of the loads of
	 * link x in all rounds so far */
	double *w;
	double *load;
	double even;
	double sharp;
	/* [n_sw] each: the lightest path from a switch to the current destination switch */
	double *dist;		/* weight of the path; INFINITY: not reached */
	double *flow;		/* number of flows that pass the switch */
	uint32_t *next;		/* first link of the path */
	ftr_sw *order;		/* list of the switches reached, by ascending dist */
	uint32_t n_order;
	ftr_sw *heap;		/* binary heap of switches by dist */
	uint32_t *at;		/* at[s]: index of switch s in heap[], or BALANCE_NONE */
	uint32_t n_heap;
};

/* ---- lightest paths -------------------------------------------------------- */

static void heap_set(struct dual *d, ftr_sw s, uint32_t i)
{
	d->heap[i] = s;
	d->at[s] = i;
}

static void rise(struct dual *d, ftr_sw s, uint32_t i)
{
	for (; i && d->dist[s] < d->dist[d->heap[(i - 1) / 2]];
	     i = (i - 1) / 2)
		heap_set(d, d->heap[(i - 1) / 2], i);
	heap_set(d, s, i);
}

static ftr_sw take_nearest(struct dual *d)
{
	ftr_sw nearest = d->heap[0], s = d->heap[--d->n_heap];
	uint32_t i = 0, k;

	while ((k = 2 * i + 1) < d->n_heap) {
		if (k + 1 < d->n_heap &&
		    d->dist[d->heap[k + 1]] < d->dist[d->heap[k]])
			k++;
		if (d->dist[d->heap[k]] >= d->dist[s])
			break;
		heap_set(d, d->heap[k], i);
		i = k;
	}
	heap_set(d, s, i);
	d->at[nearest] = BALANCE_NONE;
	return nearest;
}

/* Lower the dist of each neighbour of s that has a lighter path through s. */
static void relax(struct dual *d, ftr_sw s)
{
	const struct ftr_fabric *f = d->f;

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(f, s, (ftr_port)p);
		ftr_sw from = port->peer;
		uint32_t link;

		if (port->peer_kind != FTR_PEER_SW || from == s)
			continue;
		link = f->sw[from].first_port + port->peer_port;
		if (d->dist[s] + d->w[link] >= d->dist[from])
			continue;
		if (d->dist[from] == (double)INFINITY)
			d->at[from] = d->n_heap++;
		d->dist[from] = d->dist[s] + d->w[link];
		d->next[from] = link;
		rise(d, from, d->at[from]);
	}
}

static void find_paths(struct dual *d, ftr_sw to)
{
	for (ftr_sw s = 0; s < d->f->n_sw; s++)
		d->dist[s] = INFINITY;
	d->dist[to] = 0;
	d->n_order = 0;
	d->n_heap = 1;
	heap_set(d, to, 0);
	while (d->n_heap) {
		ftr_sw s = take_nearest(d);

		d->order[d->n_order++] = s;
		relax(d, s);
	}
}

/* ---- rounds ------------------------------------------------------------------ */

static void set_weight(struct dual *d, uint32_t link)
{
	d->w[link] = exp(fmin(d->sharp * (d->load[link] / d->even - 1), LARGE));
}

static void add_flows(struct dual *d, ftr_sw to)
{
	for (uint32_t i = 0; i < d->n_order; i++)
		d->flow[d->order[i]] = (double)d->hosts[d->order[i]] *
			d->hosts[to];
	for (uint32_t i = d->n_order - 1; i > 0; i--) {
		ftr_sw s = d->order[i];
		uint32_t link = d->next[s];

		d->load[link] += d->flow[s];
		d->flow[d->f->ports[link].peer] += d->flow[s];
		set_weight(d, link);
	}
}

static void add_round(struct dual *d)
{
	for (ftr_sw s = 0; s < d->f->n_sw; s++)
		if (d->hosts[s]) {
			find_paths(d, s);
			add_flows(d, s);
		}
}

/* The lower bound that follows from the present weights. */
static double bound_of(struct dual *d)
{
	double light = 0, sum = 0;

	for (ftr_sw to = 0; to < d->f->n_sw; to++) {
		if (!d->hosts[to])
			continue;
		find_paths(d, to);
		for (uint32_t i = 1; i < d->n_order; i++)
			light += (double)d->hosts[d->order[i]] * d->hosts[to] *
				d->dist[d->order[i]];
	}
	for (uint32_t x = 0; x < d->f->n_ports; x++)
		sum += d->w[x];
	return sum > 0 ? light / sum : 0;
}

static double most_loaded(const struct dual *d)
{
	double most = 0;

	for (uint32_t x = 0; x < d->f->n_ports; x++)
		most = fmax(most, d->load[x]);
	return most;
}

static void set_weights(struct dual *d, double even, double sharp)
{
	d->even = even;
	d->sharp = sharp;
	for (uint32_t x = 0; x < d->f->n_ports; x++)
		if (d->f->ports[x].peer_kind == FTR_PEER_SW)
			set_weight(d, x);
}

static void solve(struct dual *d, uint32_t rounds, double *least, double *most)
{
	for (uint32_t x = 0; x < d->f->n_ports; x++)
		d->w[x] = d->f->ports[x].peer_kind == FTR_PEER_SW;
	*least = bound_of(d);
	*most = 0;
	for (uint32_t i = 1; *least > 0 && i <= rounds; i++) {
		set_weights(d, fmax(i * *least, most_loaded(d)),
			    SHARP * sqrt(i));
		add_round(d);
		*most = most_loaded(d) / i;
	}
	for (double sharp = 4; *most > 0 && sharp <= 64; sharp *= 2) {
		set_weights(d, rounds * *most, sharp);
		*least = fmax(*least, bound_of(d));
	}
}

static bool dual_new(struct dual *d, struct ftr_arena *a)
{
	size_t n = d->f->n_sw, links = d->f->n_ports;

	return a && (d->w = ftr_arena_zalloc(a, links, sizeof(*d->w))) &&
		(d->load = ftr_arena_zalloc(a, links, sizeof(*d->load))) &&
		(d->dist = ftr_arena_alloc(a, n, sizeof(*d->dist))) &&
		(d->flow = ftr_arena_alloc(a, n, sizeof(*d->flow))) &&
		(d->next = ftr_arena_alloc(a, n, sizeof(*d->next))) &&
		(d->order = ftr_arena_alloc(a, n, sizeof(*d->order))) &&
		(d->heap = ftr_arena_alloc(a, n, sizeof(*d->heap))) &&
		(d->at = ftr_arena_alloc(a, n, sizeof(*d->at)));
}

enum ftr_status bound_dual(const struct ftr_fabric *f, const uint32_t *hosts, uint32_t rounds,
			   double *least, double *most, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct dual d = { .f = f };
	uint32_t *all = NULL;

	if (a && !hosts) {
		all = ftr_arena_zalloc(a, f->n_sw, sizeof(*all));
		if (all)
			balance_count_hosts(f, all);
		hosts = all;
	}
	d.hosts = hosts;
	if (!hosts || !dual_new(&d, a)) {
		ftr_arena_free(a);
		return ftr_fail(err, FTR_NOMEM, "out of memory for the bound");
	}
	solve(&d, rounds, least, most);
	ftr_arena_free(a);
	return FTR_OK;
}
