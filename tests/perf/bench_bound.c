// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How even could all-to-all traffic be on a damaged tree?
 *
 *	bench_bound NETFILE [ROUNDS]
 *
 * Prints two numbers, both over the bound that the thinnest leaf sets (see
 * bench_place): no routing over shortest up/down paths has its worst link below
 * the first one; the second one has been reached by splitting every flow over
 * many paths, which no table of one port an entry can do.
 *
 * With weights w on the links, the flows of any routing weigh at least
 * as much as on their lightest paths, and at most the worst load times the sum
 * of w; so
 *
 *	worst load >= sum over pairs of (flows * lightest path) / sum of w
 *
 * for any w (duality of linear programs).  Good weights are found as the mean
 * of lightest-path routings is made even: in each round the weight of a link
 * grows exponentially with its mean load so far (Plotkin, Shmoys and Tardos,
 * "Fast approximation algorithms for fractional packing and covering
 * problems", 1995).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <ftr/ftr.h>

static struct ftr_err err;

struct bound {
	const struct ftr_shape *sh;
	double *w, *load;	/* [n_ports] directed links; sum of all rounds */
	double *dist, *flow;	/* [n_sw] to the leaf at hand */
	uint32_t *next;		/* [n_sw] the lightest cable there */
	ftr_sw *by_cost;	/* [n_leaf * n_sw] those that reach it, near first */
	uint32_t *n_by_cost;	/* [n_leaf] */
};

static void must(enum ftr_status st)
{
	if (!st)
		return;
	fprintf(stderr, "bench_bound: %s\n", err.msg);
	exit(1);
}

static void *room(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p) {
		fprintf(stderr, "bench_bound: out of memory\n");
		exit(1);
	}
	return p;
}

/* What the thinnest leaf sets. */
static double leaf_bound(const struct ftr_shape *sh)
{
	double most = 0;
	uint32_t hosts = 0;

	for (uint32_t l = 0; l < sh->n_leaf; l++)
		hosts += sh->leaf_hosts[l];
	for (uint32_t l = 0; l < sh->n_leaf; l++) {
		ftr_sw s = sh->col_sw[l];
		uint32_t g = sh->group_first[s], cables = 0;

		for (uint32_t i = 0; i < sh->n_up[s]; i++)
			cables += sh->groups[g + i].n;
		if (cables)
			most = fmax(most, (double)sh->leaf_hosts[l] *
				    (hosts - sh->leaf_hosts[l]) / cables);
	}
	return most;
}

static void sort_by_cost(struct bound *b)
{
	const struct ftr_shape *sh = b->sh;
	uint32_t n_sw = sh->f->n_sw;

	for (uint32_t l = 0; l < sh->n_leaf; l++)
		for (unsigned int c = 0; c < FTR_COST_INF; c++)
			for (ftr_sw s = 0; s < n_sw; s++)
				if (ftr_shape_cost(sh, s)[l] == c)
					b->by_cost[(size_t)l * n_sw +
						   b->n_by_cost[l]++] = s;
}

/* The lightest cable from s towards leaf l: down if l is below on a shortest
 * path, else up. */
static void choose(struct bound *b, ftr_sw s, uint32_t l)
{
	const struct ftr_shape *sh = b->sh;
	const struct ftr_group *g = &sh->groups[sh->group_first[s]];
	uint8_t cost = ftr_shape_cost(sh, s)[l];
	bool down = ftr_shape_down(sh, s)[l] == cost;
	uint32_t first = down ? sh->n_up[s] : 0;
	uint32_t end = sh->n_up[s] + (down ? sh->n_down[s] : 0);

	b->dist[s] = INFINITY;
	for (uint32_t k = first; k < end; k++) {
		ftr_sw r = g[k].remote;
		uint8_t left = down ? ftr_shape_down(sh, r)[l] :
				      ftr_shape_cost(sh, r)[l];

		if (left >= cost)
			continue;
		for (uint32_t i = 0; i < g[k].n; i++) {
			uint32_t port = sh->f->sw[s].first_port +
				sh->group_ports[g[k].first + i];

			if (b->w[port] + b->dist[r] >= b->dist[s])
				continue;
			b->dist[s] = b->w[port] + b->dist[r];
			b->next[s] = port;
		}
	}
}

/* All flows to leaf l over the lightest paths; returns what they weigh. */
static double route_leaf(struct bound *b, uint32_t l)
{
	const struct ftr_shape *sh = b->sh;
	const ftr_sw *order = b->by_cost + (size_t)l * sh->f->n_sw;
	double to = sh->leaf_hosts[l], sum = 0;

	b->dist[order[0]] = 0;
	for (uint32_t i = 0; i < b->n_by_cost[l]; i++) {
		uint32_t col = sh->col[order[i]];

		if (i)
			choose(b, order[i], l);
		b->flow[order[i]] = col < sh->n_leaf ?
			sh->leaf_hosts[col] * to : 0;
	}
	for (uint32_t i = b->n_by_cost[l] - 1; i > 0; i--) {
		ftr_sw s = order[i];
		ftr_sw r = sh->f->ports[b->next[s]].peer;
		uint32_t col = sh->col[s];

		if (col < sh->n_leaf)
			sum += sh->leaf_hosts[col] * to * b->dist[s];
		b->load[b->next[s]] += b->flow[s];
		b->flow[r] += b->flow[s];
	}
	return sum;
}

/* Weights by the mean load of the rounds so far; returns their sum. */
static double weigh(struct bound *b, double sharpness, double *worst)
{
	uint32_t n = b->sh->f->n_ports;
	double sum = 0;

	*worst = 0;
	for (uint32_t i = 0; i < n; i++)
		*worst = fmax(*worst, b->load[i]);
	for (uint32_t i = 0; i < n; i++) {
		b->w[i] = b->sh->f->ports[i].peer_kind != FTR_PEER_SW ? 0 :
			exp(sharpness * (*worst > 0 ? b->load[i] / *worst - 1 :
						      0));
		sum += b->w[i];
	}
	return sum;
}

static void solve(struct bound *b, unsigned int rounds)
{
	double leaf = leaf_bound(b->sh), least = 0, most = INFINITY, worst;

	for (unsigned int i = 0; i < rounds; i++) {
		double sum = weigh(b, fmin(20 + 2 * i, 1000), &worst), light = 0;

		if (i)
			most = fmin(most, worst / i);
		for (uint32_t l = 0; l < b->sh->n_leaf; l++)
			light += route_leaf(b, l);
		least = fmax(least, light / sum);
	}
	printf("%.3f %.3f\n", least / leaf, most / leaf);
}

int main(int argc, char **argv)
{
	unsigned int rounds = argc > 2 ? (unsigned int)atoi(argv[2]) : 1000;
	struct ftr_shape_opts opts = { 0 };
	struct ftr_fabric *f = NULL;
	struct ftr_shape *sh = NULL;
	struct bound b = { 0 };

	if (argc < 2) {
		fprintf(stderr, "usage: bench_bound NETFILE [ROUNDS]\n");
		return 2;
	}
	must(ftr_read_fabric(argv[1], 0, &f, &err));
	must(ftr_shape_new(f, &opts, NULL, &sh, &err));
	b.sh = sh;
	b.w = room(f->n_ports, sizeof(*b.w));
	b.load = room(f->n_ports, sizeof(*b.load));
	b.dist = room(f->n_sw, sizeof(*b.dist));
	b.flow = room(f->n_sw, sizeof(*b.flow));
	b.next = room(f->n_sw, sizeof(*b.next));
	b.by_cost = room((size_t)sh->n_leaf * f->n_sw, sizeof(*b.by_cost));
	b.n_by_cost = room(sh->n_leaf, sizeof(*b.n_by_cost));
	sort_by_cost(&b);
	solve(&b, rounds);
	free(b.w);
	free(b.load);
	free(b.dist);
	free(b.flow);
	free(b.next);
	free(b.by_cost);
	free(b.n_by_cost);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
	return 0;
}
