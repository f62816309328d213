// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/irregular.h"

#define PORTS 254
#define ODD_PORTS 61		/* number of ports of most switches of irregular_odd() */
#define STEP 5			/* has no common divisor with PORTS and with ODD_PORTS */
#define AGGREGATION "Mellanox Technologies Aggregation Node"

struct making {
	struct ftr_builder *b;
	struct ftr_err err;
	struct ftr_rng *r;
	uint64_t *guid;
	uint32_t *next;		/* [n] number of used ports */
	uint32_t n, n_hosts;
	uint32_t lost;		/* percentage of missing links */
	uint32_t ports;		/* number of ports of each switch */
	/* for irregular_odd() only: */
	uint32_t *base;		/* [n] the ports of switch s are used in the order base[s] + 1,
				 * base[s] + 1 + STEP, ... (mod ports); NULL: in ascending order */
	uint8_t *lid_used;	/* [FTR_LID_MAX + 1]; NULL: LIDs are assigned in the end */
	uint32_t first_lid, n_lids;	/* LIDs are drawn from this range */
};

static void must(enum ftr_status st, const struct ftr_err *err)
{
	if (!st)
		return;
	fprintf(stderr, "irregular: %s\n", err->msg);
	abort();
}

/* Draw a base LID whose 2^lmc LIDs are free.  0: LIDs are assigned in the end. */
static ftr_lid draw_lid(struct making *m, unsigned int lmc)
{
	uint32_t n = 1u << lmc, lid, used;

	if (!m->lid_used)
		return 0;
	do {
		lid = (m->first_lid + ftr_rng_below(m->r, m->n_lids)) & ~(n - 1);
		used = !lid || lid + n - 1 > FTR_LID_MAX;
		for (uint32_t i = 0; !used && i < n; i++)
			used = m->lid_used[lid + i];
	} while (used);
	memset(m->lid_used + lid, 1, n);
	return (ftr_lid)lid;
}

static void add_switches(struct making *m)
{
	uint32_t *order = malloc(m->n * sizeof(*order));

	m->b = ftr_builder_new();
	m->guid = calloc(m->n, sizeof(*m->guid));
	m->next = calloc(m->n, sizeof(*m->next));
	ftr_rng_perm(m->r, order, m->n);
	for (uint32_t i = 0; i < m->n; i++) {
		m->guid[i] = (uint64_t)(order[i] + 1) << 16;
		must(ftr_builder_add_switch(m->b, &(struct ftr_switch){
			.guid = m->guid[i], .n_ports = m->ports, .lid = draw_lid(m, 0),
			.name = "switch",
		}, &m->err), &m->err);
	}
	free(order);
}

static void begin(struct making *m, struct ftr_rng *r, uint32_t n)
{
	*m = (struct making){ .r = r, .n = n, .ports = PORTS };
	add_switches(m);
}

static bool room(const struct making *m, uint32_t s)
{
	return m->next[s] < m->ports;
}

static struct ftr_end next_end(struct making *m, uint32_t s)
{
	uint32_t i = m->next[s]++;

	if (m->base)
		i = (m->base[s] + i * STEP) % m->ports;
	return (struct ftr_end){ m->guid[s], (ftr_port)(i + 1) };
}

static void join(struct making *m, uint32_t s, uint32_t t, uint32_t n)
{
	while (n--) {
		if (!room(m, s) || !room(m, t) ||
		    ftr_rng_below(m->r, 100) < m->lost)
			continue;
		must(ftr_builder_add_link(m->b, next_end(m, s), next_end(m, t), 4,
					  FTR_SPEED_EDR, &m->err), &m->err);
	}
}

static void ends(struct making *m, uint32_t s, uint32_t n, const char *name)
{
	while (n-- && room(m, s)) {
		uint64_t guid = (UINT64_C(1) << 40) + (m->n_hosts++ << 4);

		must(ftr_builder_add_endport(m->b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = guid, .guid = guid + 1, .port_num = 1,
			.name = name,
		}, &m->err),
		     &m->err);
		must(ftr_builder_add_link(m->b, (struct ftr_end){ guid, 1 },
					  next_end(m, s), 4, FTR_SPEED_EDR, &m->err),
		     &m->err);
	}
}

static void hosts(struct making *m, uint32_t s, uint32_t n)
{
	ends(m, s, n, ftr_rng_below(m->r, 4) ? "host" : AGGREGATION);
}

static struct ftr_fabric *end(struct making *m)
{
	struct ftr_fabric *f = NULL;

	must(ftr_builder_assign_lids(m->b, 0, &m->err), &m->err);
	must(ftr_builder_freeze(m->b, &f, &m->err), &m->err);
	free(m->guid);
	free(m->next);
	free(m->base);
	free(m->lid_used);
	return f;
}

struct ftr_fabric *irregular_chassis(struct ftr_rng *r, uint32_t chips,
				     uint32_t spines, uint32_t racks,
				     uint32_t on_chips)
{
	const char *name = racks > 8 || ftr_rng_below(r, 2) ? AGGREGATION :
		"host";
	uint32_t box = chips + spines;
	struct making m;

	begin(&m, r, 2 * box + racks);
	for (uint32_t b = 0; b < 2; b++)
		for (uint32_t i = 0; i < chips * spines; i++)
			join(&m, b * box + i / spines,
			     b * box + chips + i % spines, 1);
	for (uint32_t i = 0; i < racks; i++) {
		ends(&m, 2 * box + i, 1 + i % 12, "host");
		for (uint32_t b = 0; b < 2; b++)
			for (uint32_t k = 0; k < 2; k++)
				join(&m, 2 * box + i,
				     b * box + (2 * i + k) % chips, 1);
	}
	for (uint32_t b = 0; b < 2; b++)
		for (uint32_t i = 0; i < chips; i++)
			ends(&m, b * box + i, on_chips, name);
	return end(&m);
}

struct ftr_fabric *irregular_two_trees(struct ftr_rng *r, uint32_t joints,
				       bool middle, uint32_t lost)
{
	enum { PODS = 3, SPINES = 4, LEAVES = 5, CORES = 4, OTHER = 2, SMALL = 4 };
	uint32_t pods = middle ? PODS : 1, pod = SPINES + LEAVES;
	uint32_t cores = pods * pod, top = cores + (middle ? CORES : 0);
	uint32_t leaf = top + OTHER;
	struct making m;

	begin(&m, r, leaf + SMALL);
	m.lost = lost;
	for (uint32_t q = 0; q < pods; q++) {
		for (uint32_t i = 0; i < SPINES * LEAVES; i++)
			join(&m, q * pod + SPINES + i % LEAVES,
			     q * pod + i / LEAVES, 2);
		for (uint32_t i = 0; middle && i < SPINES * CORES; i++)
			join(&m, q * pod + i / CORES, cores + i % CORES, 2);
		for (uint32_t i = 0; i < LEAVES; i++)
			hosts(&m, q * pod + SPINES + i, 6);
	}
	for (uint32_t i = 0; i < OTHER * SMALL; i++)
		join(&m, leaf + i / OTHER, top + i % OTHER, 3);
	for (uint32_t i = 0; i < SMALL; i++)
		hosts(&m, leaf + i, 6);
	m.lost = 0;
	for (uint32_t i = 0; i < joints; i++)
		join(&m, i % SPINES, top + i % OTHER, 1);
	return end(&m);
}

struct ftr_fabric *irregular_rows(struct ftr_rng *r, uint32_t rows,
				  uint32_t racks, uint32_t on_chips,
				  uint32_t lost, uint64_t root[IRREGULAR_ROOTS])
{
	const uint32_t chips = 8, spines = IRREGULAR_ROOTS / 2;
	const uint32_t box = chips + spines;
	uint32_t row = 2 * box, rack = row + 2 * rows;
	struct making m;

	begin(&m, r, rack + rows * racks);
	for (uint32_t i = 0; i < IRREGULAR_ROOTS; i++)
		root[i] = m.guid[i / spines * box + chips + i % spines];
	m.lost = lost;
	for (uint32_t b = 0; b < 2; b++)
		for (uint32_t i = 0; i < chips * spines; i++)
			join(&m, b * box + i / spines,
			     b * box + chips + i % spines, 2);
	for (uint32_t i = 0; i < 2 * rows; i++)
		for (uint32_t k = 0; k < 2; k++)
			join(&m, row + i, i % 2 * box + (i / 2 * 3 + k) % chips,
			     3);
	for (uint32_t i = 0; i < rows * racks; i++)
		for (uint32_t b = 0; b < 2; b++)
			join(&m, rack + i, row + i / racks * 2 + b, 1);
	m.lost = 0;
	for (uint32_t i = 0; i < rows * racks; i++)
		ends(&m, rack + i, 2, "host");
	for (uint32_t i = 0; i < 2 * chips; i++)
		ends(&m, i / chips * box + i % chips, on_chips, "host");
	return end(&m);
}

/* A fabric of 2 to 4 layers.  Links connect adjacent layers.  One fabric in three also has up to
 * 4 links between random switches. */
static struct ftr_fabric *layers(struct ftr_rng *r)
{
	uint32_t n_layers = 2 + ftr_rng_below(r, 3), first[6] = { 0 };
	uint32_t trunk = 1 + ftr_rng_below(r, 4);
	uint32_t chance = 30 + ftr_rng_below(r, 71);
	uint32_t odd = ftr_rng_below(r, 3) ? 0 : ftr_rng_below(r, 5);
	struct making m;

	for (uint32_t i = 0; i < n_layers; i++)
		first[i + 1] = first[i] + 2 + ftr_rng_below(r, i ? 6 : 12);
	begin(&m, r, first[n_layers]);
	m.lost = ftr_rng_below(r, 2) ? ftr_rng_below(r, 61) : 0;
	for (uint32_t i = 0; i + 1 < n_layers; i++)
		for (uint32_t s = first[i]; s < first[i + 1]; s++)
			for (uint32_t t = first[i + 1]; t < first[i + 2]; t++)
				if (ftr_rng_below(r, 100) < chance)
					join(&m, s, t, ftr_rng_below(r, trunk +
								     1));
	for (uint32_t i = 0; i < odd; i++) {
		uint32_t s = ftr_rng_below(r, m.n), t = ftr_rng_below(r, m.n);

		if (s != t)
			join(&m, s, t, 1);
	}
	m.lost = 0;
	for (uint32_t s = 0; s < m.n; s++)
		if (s < first[1] || !ftr_rng_below(r, 3))
			hosts(&m, s, s < first[1] ? 1 + ftr_rng_below(r, 4) :
			      1);
	return end(&m);
}

struct ftr_fabric *irregular_small(struct ftr_rng *r)
{
	uint32_t spines, racks, on_chips;

	if (ftr_rng_below(r, 4))
		return layers(r);
	on_chips = ftr_rng_below(r, 2);
	racks = 1 + ftr_rng_below(r, 8);
	spines = 1 + ftr_rng_below(r, 3);
	return irregular_chassis(r, 2 + ftr_rng_below(r, 4), spines, racks, on_chips);
}

/* ---- odd fabrics --------------------------------------------------------- */

/* The switches of one part of an odd fabric are first .. first + n - 1. */
struct part {
	uint32_t first, n;
	uint32_t trunk;		/* greatest number of parallel links */
	uint32_t *layer;	/* [n]; hosts prefer layer 0 */
	uint32_t pods, pod, middle;	/* for odd_planes(), otherwise 0.  pod: number of switches of
					 * a pod; middle: number of them that are middle switches */
};

static bool chance(struct making *m, uint32_t percent)
{
	return ftr_rng_below(m->r, 100) < percent;
}

static void join_some(struct making *m, const struct part *q, uint32_t i, uint32_t k)
{
	join(m, q->first + i, q->first + k, 1 + ftr_rng_below(m->r, q->trunk));
}

/* Layers of switches.  Some links skip layers or are horizontal. */
static void odd_layers(struct making *m, const struct part *q)
{
	uint32_t layers = 1 + ftr_rng_below(m->r, 5);
	uint32_t next = chance(m, 30) ? 100 : 25 + ftr_rng_below(m->r, 75);
	uint32_t flat = chance(m, 70) ? 0 : ftr_rng_below(m->r, 40);
	uint32_t skip = chance(m, 50) ? 0 : ftr_rng_below(m->r, 30);

	for (uint32_t i = 0; i < q->n; i++)
		q->layer[i] = ftr_rng_below(m->r, layers);
	for (uint32_t i = 0; i < q->n; i++)
		for (uint32_t k = 0; k < i; k++) {
			uint32_t a = q->layer[i], b = q->layer[k];
			uint32_t d = a > b ? a - b : b - a;

			if (chance(m, d == 0 ? flat : d == 1 ? next : skip))
				join_some(m, q, i, k);
		}
}

/* Pods of middle switches (layer 1) and leaves (0) below top switches (2), in planes: top switch k is
 * connected to one middle switch of each pod, that with number k mod `middle`.  So hosts on upper
 * switches of different planes have no up/down path to each other. */
static void odd_planes(struct making *m, const struct part *q)
{
	uint32_t top = q->pods * q->pod;

	for (uint32_t i = 0; i < q->n; i++) {
		q->layer[i] = i >= top ? 2 : i % q->pod < q->middle;
		for (uint32_t k = 0; k < i; k++)
			if (i < top ? i / q->pod == k / q->pod && q->layer[i] != q->layer[k] :
			    k < top && k % q->pod == (i - top) % q->middle)
				join_some(m, q, i, k);
	}
}

/* A random connected graph. */
static void odd_graph(struct making *m, const struct part *q)
{
	uint32_t more = ftr_rng_below(m->r, 2 * q->n);

	for (uint32_t i = 0; i < q->n; i++) {
		q->layer[i] = ftr_rng_below(m->r, 3);
		if (i)
			join_some(m, q, i, ftr_rng_below(m->r, i));
	}
	for (uint32_t i = 0; q->n > 1 && i < more; i++) {
		uint32_t a = ftr_rng_below(m->r, q->n);

		join_some(m, q, a, (a + 1 + ftr_rng_below(m->r, q->n - 1)) % q->n);
	}
}

/* Trees of two layers, joined to a ring; a tree may be a single switch. */
static void odd_ring(struct making *m, const struct part *q)
{
	uint32_t size = 1 + ftr_rng_below(m->r, 8), trees = (q->n + size - 1) / size;
	uint32_t spines = size > 1 ? 1 + ftr_rng_below(m->r, size - 1) : 0;
	uint32_t joints = 1 + ftr_rng_below(m->r, 3);

	for (uint32_t i = 0; i < q->n; i++) {
		uint32_t first = i / size * size;

		q->layer[i] = i - first < spines;
		for (uint32_t k = first; k < i; k++)
			if (q->layer[i] != q->layer[k])
				join_some(m, q, i, k);
	}
	for (uint32_t i = 0; trees > 1 && i < trees * joints; i++) {
		uint32_t a = i % trees * size, b = (i + 1) % trees * size;

		a += ftr_rng_below(m->r, FTR_MIN(size, q->n - a));
		b += ftr_rng_below(m->r, FTR_MIN(size, q->n - b));
		join(m, q->first + a, q->first + b, 1);
	}
}

/* A host, router or Aggregation Node on switch s.  Some hosts have a second port, on any switch or
 * without a link. */
static void odd_host(struct making *m, uint32_t s, uint32_t most_lmc)
{
	uint64_t guid = (UINT64_C(1) << 40) + ((uint64_t)ftr_rng_below(m->r, 1u << 12) << 24) +
		(m->n_hosts++ << 4);
	unsigned int ports = chance(m, 12) ? 2 : 1, lmc = ftr_rng_below(m->r, most_lmc + 1);
	enum ftr_node_type type = chance(m, 3) ? FTR_NODE_ROUTER : FTR_NODE_CA;
	const char *name = chance(m, 5) ? AGGREGATION : "host";

	for (unsigned int p = 1; p <= ports; p++) {
		must(ftr_builder_add_endport(m->b, &(struct ftr_endport){
			.type = type, .node_guid = guid, .guid = guid + p, .port_num = p,
			.lid = draw_lid(m, lmc), .lmc = lmc, .name = name,
		}, &m->err), &m->err);
		if (room(m, s) && !(p > 1 && chance(m, 10)))
			must(ftr_builder_add_link(m->b, (struct ftr_end){ guid, (ftr_port)p },
						  next_end(m, s), 4, FTR_SPEED_EDR, &m->err),
			     &m->err);
		if (chance(m, 50))
			s = ftr_rng_below(m->r, m->n);
	}
}

static void odd_hosts(struct making *m, const struct part *q, uint32_t most_lmc)
{
	/* probability, in percent, that a switch of layer 0 or of another layer has hosts */
	static const uint32_t share[][2] = {
		{ 100, 55 }, { 100, 0 }, { 100, 20 }, { 70, 50 }, { 100, 100 }, { 25, 10 },
		{ 0, 0 },
	};
	uint32_t how = ftr_rng_below(m->r, 6 * 9 + 1) / 9, most = 1 + ftr_rng_below(m->r, 5);

	for (uint32_t i = 0; i < q->n; i++)
		for (uint32_t n = chance(m, share[how][q->layer[i] > 0]) ?
		     1 + ftr_rng_below(m->r, most) : 0; n > 0; n--)
			odd_host(m, q->first + i, most_lmc);
}

static void draw_odd_part(struct making *m, struct part *q, uint32_t most_lmc)
{
	q->trunk = chance(m, 50) ? 1 : 1 + ftr_rng_below(m->r, 8);
	q->layer = calloc(q->n, sizeof(*q->layer));
	m->lost = chance(m, 60) ? 0 : ftr_rng_below(m->r, 40);
	if (q->pods)
		odd_planes(m, q);
	else if (chance(m, 50))
		odd_layers(m, q);
	else if (chance(m, 50))
		odd_graph(m, q);
	else
		odd_ring(m, q);
	m->lost = 0;
	odd_hosts(m, q, most_lmc);
	free(q->layer);
}

static void draw_size(struct ftr_rng *r, struct part *q, uint32_t most)
{
	q->n = 1;
	if (ftr_rng_below(r, 2)) {
		q->pods = 2 + ftr_rng_below(r, 3);
		q->middle = 1 + ftr_rng_below(r, 4);
		q->pod = q->middle + 1 + ftr_rng_below(r, 4);
		q->n = q->pods * q->pod + q->middle * (1 + ftr_rng_below(r, 2));
	} else if (ftr_rng_below(r, 16)) {
		q->n += ftr_rng_below(r, ftr_rng_below(r, 2) ? most : (most + 1) / 2);
	}
}

struct ftr_fabric *irregular_odd(struct ftr_rng *r)
{
	struct making m = { .r = r, .ports = ftr_rng_below(r, 16) ? ODD_PORTS : PORTS };
	uint32_t n_parts = ftr_rng_below(r, 5) ? 1 : 2 + ftr_rng_below(r, 2);
	uint32_t most_lmc = ftr_rng_below(r, 2) ? 0 : ftr_rng_below(r, 4);
	struct part q[3] = { { 0 } };

	for (uint32_t i = 0; i < n_parts; i++) {
		q[i].first = m.n;
		draw_size(r, &q[i], 34 / n_parts);
		m.n += q[i].n;
	}
	m.lid_used = calloc(FTR_LID_MAX + 1u, 1);
	/* few LIDs from 1 on, the greatest LIDs, or LIDs from the whole range */
	m.n_lids = ftr_rng_below(r, 16) ? 4000 : FTR_LID_MAX;
	m.first_lid = m.n_lids == 4000 && !ftr_rng_below(r, 16) ? FTR_LID_MAX - 3999 : 1;
	m.base = calloc(m.n, sizeof(*m.base));
	for (uint32_t s = 0; s < m.n; s++)
		m.base[s] = ftr_rng_below(r, m.ports);
	add_switches(&m);
	for (uint32_t i = 0; i < n_parts; i++)
		draw_odd_part(&m, &q[i], most_lmc);
	return end(&m);
}
