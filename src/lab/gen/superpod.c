// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The generator of GPU clusters after the public reference architectures of DGX SuperPOD (see
 * <ftr/gen.h>).  Level 0 are the adapters, level 1 the leaves, level 2 the spines, level 3 the
 * cores.
 *
 * The table `designs` has the numbers of the reference architectures.  How the switches are cabled
 * above eight units is our derivation, because these numbers admit only a few regular solutions:
 * the leaves of one rail in up to half a switch of units and as many spines are a spine-leaf group;
 * spine j of every group is connected to the switches of core group j.  Up to eight units, all
 * leaves and spines are one group.
 *
 * In a group of L leaves and S spines, each leaf has p = (ports / 2) / S links to each spine.  With
 * C switches per core group, each spine has q = (ports / 2) / C links to each of them.  The ports
 * of the switches, from 0:
 *
 *	leaf	node i of the unit: i; link c to spine j: ports / 2 + j * p + c
 *	spine	link c to leaf i: i * p + c; link c to core u: ports / 2 + u * q + c
 *	core	link c to group g: g * q + c
 *
 * With several planes, every plane has all switches, and adapter port p (from 0) is on plane p.
 * The planes have no link to each other.
 */
#include <stdio.h>
#include <string.h>

#include "gen/grow.h"

#define PREFIX "superpod:"
#define RAILS FTR_SUPERPOD_RAILS

struct generation {
	const char *name;
	unsigned int ports;		/* of every switch */
	enum ftr_speed speed;
	unsigned int device[RAILS];	/* mlx5_N of each rail */
};

static const struct generation generations[] = {
	/* H100: table "Network Modules" of the DGX H100 user guide; the other numbers of mlx5_N
	 * belong to the storage network */
	{ "H100", 64, FTR_SPEED_NDR, { 0, 3, 4, 5, 6, 9, 10, 11 } },
	{ "B200", 64, FTR_SPEED_NDR, { 0, 1, 2, 3, 4, 5, 6, 7 } },
	{ "B300", 144, FTR_SPEED_XDR, { 0, 1, 2, 3, 4, 5, 6, 7 } },
};

struct design {
	unsigned int ports, units, spines, cores;
};

static const struct design designs[] = {
	{ 64, 1, 4, 0 }, { 64, 2, 8, 0 }, { 64, 3, 16, 0 }, { 64, 4, 16, 0 }, { 64, 8, 32, 0 },
	{ 64, 16, 128, 64 }, { 64, 32, 256, 128 }, { 64, 64, 512, 256 },
	{ 144, 1, 4, 0 }, { 144, 2, 8, 0 }, { 144, 4, 18, 0 }, { 144, 8, 36, 0 },
	{ 144, 18, 72, 0 },
};

/* ---- parsing ------------------------------------------------------------- */

static const struct design *find_design(unsigned int ports, unsigned int units)
{
	for (size_t i = 0; i < FTR_ARRAY_LEN(designs); i++)
		if (designs[i].ports == ports && designs[i].units == units)
			return &designs[i];
	return NULL;
}

static enum ftr_status no_design(const char *text, const struct generation *g, unsigned int units,
				 struct ftr_err *err)
{
	char list[80] = "";
	size_t at = 0;

	for (size_t i = 0; i < FTR_ARRAY_LEN(designs); i++)
		if (designs[i].ports == g->ports)
			at += (size_t)snprintf(list + at, sizeof(list) - at, " %u",
					       designs[i].units);
	return ftr_fail(err, FTR_PARSE, "shape \"%s\": the reference architecture of %s has no design for %u units, but for%s",
			text, g->name, units, list);
}

enum ftr_status ftr_superpod_parse(const char *text, struct ftr_superpod *out, struct ftr_err *err)
{
	struct gen_text t = { .text = text, .at = text + strlen(PREFIX), .err = err };
	struct ftr_superpod g = { .planes = 1 };
	size_t n = 0;

	if (strncmp(text, PREFIX, strlen(PREFIX)))
		return ftr_fail(err, FTR_PARSE, "shape \"%s\" is not a superpod", text);
	for (; g.generation < FTR_ARRAY_LEN(generations); g.generation++) {
		n = strlen(generations[g.generation].name);
		if (!strncmp(t.at, generations[g.generation].name, n) && t.at[n] == ':')
			break;
	}
	if (g.generation == FTR_ARRAY_LEN(generations))
		return ftr_fail(err, FTR_PARSE, "shape \"%s\": H100:, B200: or B300: expected at \"%s\"",
				text, t.at);
	t.at += n + 1;
	if (!gen_number(&t, "number of units", FTR_LID_MAX, &g.units))
		return t.status;
	if (*t.at == ';' && (!gen_mark(&t, ';') ||
			     !gen_number(&t, "number of planes", FTR_SUPERPOD_PLANES, &g.planes)))
		return t.status;
	if (!gen_mark(&t, '\0'))
		return t.status;
	if (!find_design(generations[g.generation].ports, g.units))
		return no_design(text, &generations[g.generation], g.units, err);
	*out = g;
	return FTR_OK;
}

/* ---- nodes --------------------------------------------------------------- */

/* The numbers of one plane. */
struct cabling {
	const struct generation *gen;
	unsigned int half;	/* half the ports of a switch; number of nodes of a unit */
	unsigned int nodes, leaves, spines, cores;
	unsigned int block;	/* number of units whose leaves of one rail form a group; 0: all
				 * leaves are one group */
	unsigned int groups, group_spines, group_cores;
};

static struct cabling cabling_of(const struct gen_growth *z)
{
	const struct ftr_superpod *g = z->of;
	const struct design *d = find_design(generations[g->generation].ports, g->units);
	struct cabling c = {
		.gen = &generations[g->generation], .half = d->ports / 2,
		.leaves = RAILS * g->units, .spines = d->spines, .cores = d->cores,
		.groups = 1, .group_spines = d->spines,
	};

	c.nodes = z->o->nodes ? z->o->nodes : c.half * g->units;
	if (c.cores) {
		c.block = FTR_MIN(g->units, c.half);
		c.groups = c.leaves / c.block;
		c.group_spines = c.spines / c.groups;
		c.group_cores = c.cores / c.group_spines;
	}
	return c;
}

static void size(struct gen_growth *z)
{
	const struct ftr_superpod *g = z->of;
	struct cabling c = cabling_of(z);
	const unsigned int n[] = { c.nodes * RAILS, c.leaves, c.spines, c.cores };
	uint64_t total = 0;

	if (c.nodes > c.half * g->units)
		z->status = ftr_fail(z->err, FTR_INVAL,
				     "%u nodes do not fit into %u units of %u nodes",
				     c.nodes, g->units, c.half);
	z->speed = c.gen->speed;
	for (unsigned int l = 0; l <= z->h; l++)
		gen_limit(z, l, (uint64_t)n[l] * (l ? g->planes : 1),
			  l ? 2 * c.half : g->planes, &total);
}

static void name(const struct gen_growth *z, unsigned int l, uint32_t i, char *name)
{
	const struct ftr_superpod *g = z->of;
	struct cabling c = cabling_of(z);
	const unsigned int n[] = { c.nodes * RAILS, c.leaves, c.spines, c.cores };
	const unsigned int per[] = { 1, RAILS, c.group_spines, c.group_cores };
	static const char *const kind[] = { "", "leaf", "spine", "core" };
	char plane[16] = "";

	if (!l) {
		snprintf(name, FTR_NAME_MAX, "dgx-%04u mlx5_%u", i / RAILS + 1,
			 c.gen->device[i % RAILS]);
		return;
	}
	if (g->planes > 1)
		snprintf(plane, sizeof(plane), "plane%u-", i / n[l] + 1);
	i %= n[l];
	snprintf(name, FTR_NAME_MAX, "%s%s-%02u-%02u", plane, kind[l], i / per[l] + 1,
		 i % per[l] + 1);
}

/* ---- links --------------------------------------------------------------- */

/* Add n links between consecutive ports of two switches: ports k.. of node i of level l, and ports
 * q.. of node j of the level above. */
static void bundle(struct gen_growth *z, unsigned int l, const uint32_t node[2],
		   const unsigned int port[2], unsigned int n)
{
	for (unsigned int c = 0; c < n; c++)
		gen_link(z, gen_port(z, l, node[0], port[0] + c),
			 gen_port(z, l + 1, node[1], port[1] + c));
}

static void link_leaf(struct gen_growth *z, const struct cabling *c, unsigned int plane, uint32_t i)
{
	uint32_t unit = i / RAILS, rail = i % RAILS;
	uint32_t group = c->block ? unit / c->block * RAILS + rail : 0;
	uint32_t place = c->block ? unit % c->block : i;
	unsigned int p = c->half / c->group_spines;

	for (uint32_t k = 0; k < c->half && unit * c->half + k < c->nodes; k++)
		gen_link(z, gen_port(z, 0, (unit * c->half + k) * RAILS + rail, plane),
			 gen_port(z, 1, plane * c->leaves + i, k));
	for (uint32_t j = 0; j < c->group_spines; j++)
		bundle(z, 1, (const uint32_t[]){ plane * c->leaves + i, plane * c->spines +
						 group * c->group_spines + j },
		       (const unsigned int[]){ c->half + j * p, place * p }, p);
}

static void link_spine(struct gen_growth *z, const struct cabling *c, unsigned int plane,
		       uint32_t i)
{
	uint32_t group = i / c->group_spines, j = i % c->group_spines;

	for (uint32_t u = 0; u < c->group_cores; u++) {
		unsigned int q = c->half / c->group_cores;

		bundle(z, 2, (const uint32_t[]){ plane * c->spines + i, plane * c->cores +
						 j * c->group_cores + u },
		       (const unsigned int[]){ c->half + u * q, group * q }, q);
	}
}

static void links(struct gen_growth *z)
{
	const struct ftr_superpod *g = z->of;
	struct cabling c = cabling_of(z);

	for (unsigned int plane = 0; plane < g->planes; plane++) {
		for (uint32_t i = 0; i < c.leaves; i++)
			link_leaf(z, &c, plane, i);
		for (uint32_t i = 0; i < c.spines; i++)
			link_spine(z, &c, plane, i);
	}
}

enum ftr_status ftr_gen_superpod(const struct ftr_superpod *pod, const struct ftr_gen_opts *opts,
				 struct ftr_fabric **out, struct ftr_err *err)
{
	static const struct gen_shape shape = { size, links, name };
	const struct design *d = NULL;

	if (pod->generation < FTR_ARRAY_LEN(generations))
		d = find_design(generations[pod->generation].ports, pod->units);
	if (!d || pod->planes < 1 || pod->planes > FTR_SUPERPOD_PLANES)
		return ftr_fail(err, FTR_INVAL, "no superpod of generation %u with %u units and %u planes",
				pod->generation, pod->units, pod->planes);
	return gen_grow(&shape, pod, d->cores ? 3 : 2, opts, out, err);
}
