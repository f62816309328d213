// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/irregular.h"

#define PORTS 254
#define AGGREGATION "Mellanox Technologies Aggregation Node"

struct making {
	struct ftr_builder *b;
	struct ftr_err err;
	struct ftr_rng *r;
	uint64_t *guid;
	uint32_t *next;
	uint32_t n, n_hosts;
	uint32_t lost;		/* percentage of missing links */
};

static void must(enum ftr_status st, const struct ftr_err *err)
{
	if (!st)
		return;
	fprintf(stderr, "irregular: %s\n", err->msg);
	abort();
}

static void begin(struct making *m, struct ftr_rng *r, uint32_t n)
{
	uint32_t *order = malloc(n * sizeof(*order));

	*m = (struct making){ .b = ftr_builder_new(), .r = r, .n = n };
	m->guid = calloc(n, sizeof(*m->guid));
	m->next = calloc(n, sizeof(*m->next));
	ftr_rng_perm(r, order, n);
	for (uint32_t i = 0; i < n; i++) {
		m->guid[i] = (uint64_t)(order[i] + 1) << 16;
		must(ftr_builder_add_switch(m->b, m->guid[i], PORTS, 0, 0,
					    "switch", &m->err), &m->err);
	}
	free(order);
}

static bool room(const struct making *m, uint32_t s)
{
	return m->next[s] < PORTS;
}

static void join(struct making *m, uint32_t s, uint32_t t, uint32_t n)
{
	while (n--) {
		if (!room(m, s) || !room(m, t) ||
		    ftr_rng_below(m->r, 100) < m->lost)
			continue;
		must(ftr_builder_add_link(m->b, (struct ftr_end){
			m->guid[s], (ftr_port)++m->next[s]
		}, (struct ftr_end){
			m->guid[t], (ftr_port)++m->next[t]
		}, 4, FTR_SPEED_EDR, &m->err), &m->err);
	}
}

static void ends(struct making *m, uint32_t s, uint32_t n, const char *name)
{
	while (n-- && room(m, s)) {
		uint64_t guid = (UINT64_C(1) << 40) + (m->n_hosts++ << 4);

		must(ftr_builder_add_endport(m->b, FTR_NODE_CA, guid, guid + 1,
					     1, 0, 0, name, &m->err),
		     &m->err);
		must(ftr_builder_add_link(m->b, (struct ftr_end){ guid, 1 },
					  (struct ftr_end){
			m->guid[s], (ftr_port)++m->next[s]
		}, 4, FTR_SPEED_EDR, &m->err), &m->err);
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
	if (ftr_rng_below(r, 4))
		return layers(r);
	return irregular_chassis(r, 2 + ftr_rng_below(r, 4),
				 1 + ftr_rng_below(r, 3),
				 1 + ftr_rng_below(r, 8), ftr_rng_below(r, 2));
}
