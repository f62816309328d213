// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes tables of SSSP, for table III of Bogdanski et al. 2012.  SSSP is DFSSSP without VLs
 * (Domke, Hoefler and Nagel, 2011).
 *
 *	sssp first|last FABRIC [SEED]
 *
 * Channels have weights.  The destinations are routed one after the other, each over a
 * tree of shortest paths.  Then each channel of the tree gets heavier by the number of
 * hosts that send over it.  The initial weights are so large that no path has more hops
 * than necessary (on the trees of the experiments).
 *
 * Hosts are routed in the order of GUIDs.  The LIDs of switches are routed before the
 * hosts (first) or after them (last).  Their paths make channels heavier, too.
 *
 * Of several paths with equal weight, the first one found is used, in the order of switch
 * indices.  With SEED a random one is used, as in an implementation whose heap has no
 * defined order.  Writes tables in the format of OpenSM's dump.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include <ftr/ftr.h>

static struct ftr_fabric *f;
static struct ftr_tables *t;
static uint64_t *weight;	/* [n_ports] weight of the channel that leaves by this port */
static uint64_t *dist;		/* [n_sw] weight of the path to the destination */
static uint64_t *senders;	/* [n_sw] number of hosts that send through this switch */
static ftr_port *out;		/* [n_sw] output port towards the destination */
static ftr_sw *order;		/* switches, the nearest one first */
static struct ftr_rng rng;
static bool any;		/* draw one of several equal paths */

static void must(enum ftr_status st, const struct ftr_err *err)
{
	if (!st)
		return;
	fprintf(stderr, "sssp: %s\n", err->msg);
	exit(2);
}

/* Returns true if a < b.  If a == b, returns false or, with SEED, a random value. */
static bool better(uint64_t a, uint64_t b)
{
	return a < b || (any && a == b && ftr_rng_below(&rng, 2));
}

static void relax(ftr_sw s, const uint8_t *done)
{
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *q = ftr_fabric_port(f, s, (ftr_port)p);
		uint64_t d;

		if (q->peer_kind != FTR_PEER_SW || done[q->peer])
			continue;
		d = dist[s] + weight[f->sw[q->peer].first_port + q->peer_port];
		if (better(d, dist[q->peer])) {
			dist[q->peer] = d;
			out[q->peer] = q->peer_port;
		}
	}
}

/* Find the shortest paths to d from all switches.  Return the number of switches that have one. */
static uint32_t shortest(ftr_sw d)
{
	uint8_t *done = calloc(f->n_sw, 1);
	uint32_t n = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		dist[s] = UINT64_MAX;
	dist[d] = 0;
	for (;;) {
		ftr_sw s = FTR_SW_NONE;

		for (ftr_sw x = 0; x < f->n_sw; x++)
			if (!done[x] && dist[x] != UINT64_MAX &&
			    (s == FTR_SW_NONE || better(dist[x], dist[s])))
				s = x;
		if (s == FTR_SW_NONE)
			break;
		done[s] = 1;
		order[n++] = s;
		relax(s, done);
	}
	free(done);
	return n;
}

/* Route a LID that switch d delivers through port `last`. */
static void route(ftr_lid lid, ftr_sw d, ftr_port last)
{
	uint32_t n = shortest(d);

	memset(senders, 0, f->n_sw * sizeof(*senders));
	for (ftr_ep e = 0; e < f->n_ep; e++)
		senders[f->ep[e].sw]++;
	ftr_tables_row(t, d)[lid] = last;
	while (n-- > 1) {
		ftr_sw s = order[n];
		const struct ftr_swport *q = ftr_fabric_port(f, s, out[s]);

		ftr_tables_row(t, s)[lid] = out[s];
		weight[f->sw[s].first_port + out[s]] += senders[s];
		senders[q->peer] += senders[s];
	}
}

static void route_switches(void)
{
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (f->sw[s].lid)
			route(f->sw[s].lid, s, 0);
}

int main(int argc, char **argv)
{
	struct ftr_err err = { 0 };

	if (argc < 3 || argc > 4) {
		fprintf(stderr, "usage: sssp first|last FABRIC [SEED]\n");
		return 2;
	}
	any = argc == 4;
	ftr_rng_seed(&rng, any ? strtoull(argv[3], NULL, 0) : 0);
	must(ftr_read_fabric(argv[2], 0, &f, &err), &err);
	must(ftr_tables_new(f, true, &t, &err), &err);
	weight = calloc(f->n_ports, sizeof(*weight));
	dist = calloc(f->n_sw, sizeof(*dist));
	senders = calloc(f->n_sw, sizeof(*senders));
	out = calloc(f->n_sw, sizeof(*out));
	order = calloc(f->n_sw, sizeof(*order));
	for (uint32_t i = 0; i < f->n_ports; i++)
		weight[i] = (uint64_t)f->n_ep * f->n_ep;
	if (!strcmp(argv[1], "first"))
		route_switches();
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE && f->ep[e].lid)
			route(f->ep[e].lid, f->ep[e].sw, f->ep[e].sw_port);
	if (strcmp(argv[1], "first"))
		route_switches();
	must(ftr_write_lfts(stdout, f, t, &err), &err);
	free(weight);
	free(dist);
	free(senders);
	free(out);
	free(order);
	ftr_tables_free(t);
	ftr_fabric_free(f);
	return 0;
}
