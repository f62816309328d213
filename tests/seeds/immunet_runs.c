// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Repeats experiments of Puente et al. 2004: simulates faults under traffic, with the delays of the
 * paper.
 *
 *	immunet KEY=VALUE...
 *
 * Times are in cycles.  In a cycle, a link carries a phit of 4 bytes: 320 ps at 100 Gbit/s.
 * Traffic and faults are drawn from the given seed.  The faults leave the network connected.
 *
 * Prints one line of CSV for each part of the run: its first cycle; phits delivered per
 * cycle; mean number of channels between switches that a delivered packet has crossed;
 * mean latency of a delivered packet; packets lost.  Lines "# NAME VALUE" describe the
 * whole run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "models/immunet.h"
#include <ftr/ftr.h>

#define PHIT 4u
#define CYCLE UINT64_C(320)

struct key {
	const char *name, *what;
	double v;
} keys[] = {
	{ "load", "phits per cycle from each host; 1: as many as possible", 1 },
	{ "packet", "phits per packet", 20 },
	{ "buffer", "packets that fit into the buffer of each input and VL", 4 },
	{ "voq", "1: a queue for each output, not one for all", 0 },
	{ "router", "cycles that a packet takes through a router", 4 },
	{ "warm", "cycles before the first fault", 20000 },
	{ "run", "cycles after the first fault", 30000 },
	{ "part", "cycles for each line of the CSV", 1000 },
	{ "links", "number of links that fail", 1 },
	{ "switches", "number of switches that fail", 0 },
	{ "gap", "cycles from fault to fault", 0 },
	{ "seed", "seed of traffic and faults", 1 },
	{ "signal", "cycles that a router needs for a signal", 100 },
	{ "control", "cycles that a router needs for a control packet", 1000 },
	{ "cpacket", "phits per control packet", 20 },
	{ "after", "1: control packets wait for all others", 0 },
	{ "moves", "number of times that a packet may move into the ring", 4 },
	{ "inject", "packets that must fit into the first buffer before a host sends; 0: one packet, or two in the ring", 0 },
	{ "eager", "1: enter the ring even if an adaptive exit has space, but is busy", 0 },
	{ "own_count", "1: a level counts only the router's own emergencies", 0 },
	{ "no_drain", "1: the buffers of a new ring are not drained", 0 },
	{ "every_path", "1: forward a received distance once for each shortest path, not once in all", 0 },
	{ "merge", "cycles after which a router may forward the same distance again; 0: never", 0 },
	{ "one_lane", "1: VL 1 is not used outside the ring", 0 },
	{ "one_ring", "1: one ring from the start", 0 },
	{ "adaptive_start", "1: the first link of a packet is on an adaptive VL if possible", 0 },
	{ "stop", "1: in an emergency a router forwards no packets until its ring is ready", 0 },
	{ "transit_first", "1: outputs serve hosts' packets last", 0 },
	{ "window", "maximum number of packets of a host in flight; 0: no limit", 0 },
	{ "pattern", "0: uniform; 1: to all others in turn; 2: to its row and column in a grid", 0 },
	{ "volume", "print the cycle by which hosts have received this number of packets (the mean per host)", 0 },
};
static const char *shape = "torus:8,8";

static double *key(const char *name)
{
	for (size_t i = 0; i < FTR_ARRAY_LEN(keys); i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i].v;
	fprintf(stderr, "immunet: there is no key '%s'\n", name);
	exit(2);
}

static uint32_t value(const char *name)
{
	return (uint32_t)*key(name);
}

static void usage(void)
{
	printf("immunet KEY=VALUE...\n  %-10s (%s)\n", "shape",
	       shape);
	for (size_t i = 0; i < FTR_ARRAY_LEN(keys); i++)
		printf("  %-10s %s (%g)\n", keys[i].name, keys[i].what,
		       keys[i].v);
}

static void must(enum ftr_status st, const struct ftr_err *err)
{
	if (!st)
		return;
	fprintf(stderr, "immunet: %s\n", err->msg);
	exit(2);
}

/* ---- faults --------------------------------------------------------------- */

struct faults {
	struct ftr_sim_change g[1024];
	uint32_t n;
	uint8_t *dead_sw, *dead_port;	/* a dead link is marked at both ends */
};

static bool hangs_together(const struct ftr_fabric *f, const struct faults *x)
{
	uint32_t *uf = malloc(f->n_sw * sizeof(*uf)), parts = 0;

	ftr_uf_init(uf, f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *q =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (q->peer_kind == FTR_PEER_SW && !x->dead_sw[s] &&
			    !x->dead_sw[q->peer] &&
			    !x->dead_port[f->sw[s].first_port + p])
				ftr_uf_union(uf, s, q->peer);
		}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		parts += !x->dead_sw[s] && ftr_uf_find(uf, s) == s;
	free(uf);
	return parts == 1;
}

/* Add the failure of a random link or switch in cycle `at`.  The other switches stay connected. */
static void add_fault(const struct ftr_fabric *f, struct faults *x,
		      struct ftr_rng *rng, bool link, uint64_t at)
{
	for (;;) {
		ftr_sw s = ftr_rng_below(rng, f->n_sw);
		ftr_port p = (ftr_port)(1 + ftr_rng_below(rng,
							  f->sw[s].n_ports));
		const struct ftr_swport *q = ftr_fabric_port(f, s, p);
		uint32_t i = f->sw[s].first_port + p, j;
		uint8_t *mark = link ? &x->dead_port[i] : &x->dead_sw[s];

		if (*mark || x->dead_sw[s] ||
		    (link && q->peer_kind != FTR_PEER_SW))
			continue;
		j = link ? f->sw[q->peer].first_port + q->peer_port : i;
		*mark = 1;
		if (link)
			x->dead_port[j] = 1;
		if (hangs_together(f, x)) {
			x->g[x->n++] = (struct ftr_sim_change){
				.at = at * CYCLE, .sw = s, .port = p,
				.kind = link ? FTR_SIM_LINK_DOWN :
						FTR_SIM_SWITCH_DOWN };
			return;
		}
		*mark = 0;
		if (link)
			x->dead_port[j] = 0;
	}
}

static void draw_faults(const struct ftr_fabric *f, struct faults *x)
{
	uint32_t links = value("links"), n = links + value("switches");
	struct ftr_rng rng;
	uint64_t at = value("warm");

	x->dead_sw = calloc(f->n_sw, 1);
	x->dead_port = calloc(f->n_ports, 1);
	ftr_rng_seed(&rng, value("seed") + UINT64_C(1000));
	for (uint32_t i = 0; i < n && i < FTR_ARRAY_LEN(x->g); i++) {
		add_fault(f, x, &rng, i < links, at);
		at += value("gap");
	}
}

static const struct ftr_fabric *whole;
static struct faults faults;

/* Returns the number of switches that still forward a ring over a failed link. */
static uint32_t broken(const struct immunet *x)
{
	const struct ftr_fabric *f = whole;
	uint32_t n = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		bool bad = false;

		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			bad |= x->node[s].next[p] &&
			       faults.dead_port[f->sw[s].first_port + p];
		n += bad && !faults.dead_sw[s];
	}
	return n;
}

/* Set dist[s] to the number of working links between d and each switch s, minus 1. */
static void distances(ftr_sw d, uint16_t *dist, ftr_sw *queue)
{
	const struct ftr_fabric *f = whole;
	uint32_t n = 1;

	memset(dist, 0xff, f->n_sw * sizeof(*dist));
	queue[0] = d;
	for (uint32_t i = 0; i < n; i++)
		for (unsigned int p = 1; p <= f->sw[queue[i]].n_ports; p++) {
			const struct ftr_swport *q =
				ftr_fabric_port(f, queue[i], (ftr_port)p);

			if (q->peer_kind != FTR_PEER_SW || q->peer == d ||
			    faults.dead_sw[q->peer] ||
			    faults.dead_port[f->sw[queue[i]].first_port + p] ||
			    dist[q->peer] != IMMUNET_FAR)
				continue;
			dist[q->peer] = i ? dist[queue[i]] + 1 : 0;
			queue[n++] = q->peer;
		}
}

/* Returns the number of table entries with another distance than that over the working links. */
static uint32_t stale(const struct immunet *x)
{
	uint16_t *dist = malloc(x->n * sizeof(*dist));
	ftr_sw *queue = malloc(x->n * sizeof(*queue));
	uint32_t n = 0;

	for (ftr_sw d = 0; d < x->n; d++) {
		if (faults.dead_sw[d])
			continue;
		distances(d, dist, queue);
		for (ftr_sw s = 0; s < x->n; s++)
			n += s != d && !faults.dead_sw[s] &&
			     x->dist[s * x->n + d] != dist[s];
	}
	free(dist);
	free(queue);
	return n;
}

/* ---- results --------------------------------------------------------------- */

static void print_series(const struct ftr_sim_result *r, double part)
{
	printf("cycle,throughput,distance,latency,lost\n");
	for (uint32_t i = 0; i < r->n_series; i++) {
		const struct ftr_sim_slice *z = &r->series[i];
		double n = (double)FTR_MAX(z->delivered, 1);

		printf("%.0f,%.3f,%.3f,%.1f,%llu\n", i * part,
		       (double)z->bytes / PHIT / part,
		       z->delivered ? (double)z->hops / n - 2 : 0,
		       z->latency_ps / CYCLE, (unsigned long long)z->lost);
	}
}

static void print_state(void *state)
{
	const struct immunet *x = state;
	double t = (double)x->first_fault;
	uint32_t worst = 0;

	for (ftr_sw s = 0; s < x->n; s++)
		worst = FTR_MAX(worst, x->node[s].emergencies);
	if (x->first_fault) {
		printf("# opened %.0f\n", ((double)x->last_open - t) / CYCLE);
		printf("# updated %.0f\n",
		       ((double)x->last_update - t) / CYCLE);
		printf("# finished %.0f\n",
		       ((double)x->last_control - t) / CYCLE);
	}
	printf("# broken %u\n", broken(x));
	printf("# stale %u\n", stale(x));
	printf("# emergencies %u\n", worst);
	printf("# origins %llu\n", (unsigned long long)x->n_origins);
	printf("# safe %llu\n", (unsigned long long)x->n_safe);
	printf("# distance %llu\n", (unsigned long long)x->n_distance);
	model_find("immunet")->finish(state);
}

/* A part has `part` cycles.  Find the first part after which the mean number of packets that a host
 * has received is `volume`, and print the end of the part.  If the run ended earlier, print
 * nothing. */
static void print_done(const struct ftr_sim_result *r, double part)
{
	double left = *key("volume") * whole->n_ep * *key("packet") * PHIT;

	for (uint32_t i = 0; left > 0 && i < r->n_series; i++) {
		left -= (double)r->series[i].bytes;
		if (left <= 0)
			printf("# done %.0f\n", (i + 1) * part);
	}
}

static void print_result(const struct ftr_sim_result *r)
{
	static const char *const why[FTR_SIM_N_LOSSES] = {
		"hole", "dead_port", "wire", "queue", "switch", "wrong_end",
		"lane", "loop", "given_up"
	};
	uint64_t lost = 0;

	for (int i = 0; i < FTR_SIM_N_LOSSES; i++) {
		if (r->lost[i])
			printf("# lost_%s %llu\n", why[i],
			       (unsigned long long)r->lost[i]);
		lost += r->lost[i];
	}
	printf("# lost %llu\n", (unsigned long long)lost);
	printf("# injected %llu\n", (unsigned long long)r->injected);
	printf("# balance %lld\n", (long long)(r->injected - r->delivered -
					       r->in_flight - lost));
	printf("# deadlock %d\n", r->deadlock);
	printf("# events %llu\n", (unsigned long long)r->events);
}

/* The hosts form a square grid.  Each host sends to the other hosts of its row and column. */
static struct ftr_transfer *row_and_column(const struct ftr_fabric *f,
					    uint32_t *n)
{
	uint32_t side = 1;
	struct ftr_transfer *pair;

	while (side * side < f->n_ep)
		side++;
	pair = calloc((size_t)f->n_ep * 2 * side, sizeof(*pair));
	*n = 0;
	for (ftr_ep e = 0; pair && e < f->n_ep; e++)
		for (uint32_t i = 1; i < side; i++) {
			ftr_ep row = e / side * side + (e + i) % side;
			ftr_ep col = (e + i * side) % (side * side);

			if (row < f->n_ep)
				pair[(*n)++] = (struct ftr_transfer){ .from = e, .to = row };
			if (col < f->n_ep)
				pair[(*n)++] = (struct ftr_transfer){ .from = e, .to = col };
		}
	return pair;
}

static void take_words(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *eq = strchr(argv[i], '='), *end;

		if (!strcmp(argv[i], "--help")) {
			usage();
			exit(0);
		}
		if (!eq) {
			usage();
			exit(2);
		}
		*eq++ = '\0';
		if (!strcmp(argv[i], "shape")) {
			shape = eq;
			continue;
		}
		*key(argv[i]) = strtod(eq, &end);
		if (end == eq || *end) {
			fprintf(stderr, "immunet: %s: '%s' is not a number\n",
				argv[i], eq);
			exit(2);
		}
	}
}

int main(int argc, char **argv)
{
	struct ftr_sim_function fn = *model_find("immunet");
	struct immunet_opts o;
	struct ftr_sim_conf c;
	struct ftr_sim_result r;
	struct ftr_fabric *f = NULL;
	struct ftr_tables *t = NULL;
	struct ftr_transfer *pair = NULL;
	struct ftr_err err = { 0 };
	uint64_t cycles;

	take_words(argc, argv);
	cycles = (uint64_t)value("warm") + value("run");
	must(ftr_gen_shape(shape, NULL, &f, &err), &err);
	must(ftr_tables_new(f, true, &t, &err), &err);
	whole = f;
	draw_faults(f, &faults);
	o = (struct immunet_opts){
		.signal_ps = value("signal") * CYCLE,
		.control_ps = value("control") * CYCLE,
		.control_bytes = value("cpacket") * PHIT,
		.control_after = value("after"),
		.moves = (uint8_t)value("moves"),
		.inject = (uint8_t)value("inject"),
		.eager = value("eager"),
		.own_count = value("own_count"),
		.no_drain = value("no_drain"),
		.one_vl = value("one_lane"),
		.merge_ps = value("merge") * CYCLE,
		.every_path = value("every_path"), .one_ring = value("one_ring"),
		.adaptive_start = value("adaptive_start"), .stop = value("stop"),
	};
	c = (struct ftr_sim_conf){
		.f = f, .t = t, .function = &fn, .arg = &o, .n_vls = 2,
		.traffic.load = *key("load"), .traffic.spare_dead = true,
		.traffic.bytes = value("packet") * PHIT,
		.buffer = value("packet") * PHIT * value("buffer"),
		.queues = value("voq") ? FTR_SIM_VOQ : FTR_SIM_FIFO,
		.transit_first = value("transit_first"),
		.traffic.window = value("window"),
		.link_ps = CYCLE, .switch_ps = value("router") * CYCLE,
		.change = faults.g, .n_changes = faults.n, .run_ps = cycles * CYCLE,
		.check_ps = cycles * CYCLE,	/* look for a deadlock only at the end */
		.n_series = (uint32_t)(cycles / value("part")),
		.seed = value("seed"),
	};
	if (value("pattern") == 1)
		c.traffic.pattern = FTR_SIM_ALL_TO_ALL;
	if (value("pattern") == 2) {
		pair = row_and_column(f, &c.traffic.n_pairs);
		c.traffic.pattern = FTR_SIM_PAIRS;
		c.traffic.pair = pair;
	}
	fn.finish = print_state;
	must(ftr_sim_run(&c, NULL, &r, &err), &err);
	print_result(&r);
	print_done(&r, (double)cycles / FTR_MAX(r.n_series, 1));
	print_series(&r, (double)cycles / FTR_MAX(r.n_series, 1));
	ftr_sim_result_fini(&r, 1);
	free(pair);
	ftr_tables_free(t);
	ftr_fabric_free(f);
	free(faults.dead_sw);
	free(faults.dead_port);
	return 0;
}
