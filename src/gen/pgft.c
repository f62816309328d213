// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The generator of PGFTs.
 *
 * PGFT(h; m; w; p), seed 002 section 2 and its reference [2].  A node of level
 * l is a tuple of h digits: digit i (1..h) counts 0..w_i-1 where i <= l and
 * 0..m_i-1 where i > l.  Nodes of levels l-1 and l are cabled, p_l times, when
 * their tuples agree in all digits but the l-th.  The index of a node is its
 * tuple read with digit 1 as the fastest, so hosts of one leaf are
 * neighbours, so are leaves of one pod, and host i has the destination index i
 * of D-mod-k.
 *
 *	ports of a node of level l, in order without shuffling:
 *	  below: child c, cable j -> c * p_l + j
 *	  above: parent u, cable j -> m_l * p_l + u * p_{l+1} + j
 *
 * GUIDs, port numbers and LIDs may be drawn at random from one seed: a fabric
 * as vendors and installers leave it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include <ftr/gen.h>

#define WIDTH 4
#define SPEED FTR_SPEED_EDR

/* ---- shapes as text ---------------------------------------------------- */

static const struct {
	const char *name, *text;
} named[] = {
	{ "648", "2;18,36;1,18;1,1" },
	{ "3456", "3;12,12,24;1,12,12;1,1,1" },
	{ "11664", "3;18,18,36;1,18,18;1,1,1" },
	{ "27648", "3;24,24,48;1,24,24;1,1,1" },
};

/* One number at *at, 1..max; steps over it. */
static enum ftr_status number(const char *text, const char **at,
			      const char *what, unsigned int max,
			      unsigned int *out, struct ftr_err *err)
{
	char *end;
	unsigned long v;

	if (**at < '0' || **at > '9')
		return ftr_fail(err, FTR_PARSE, "shape \"%s\": %s expected at \"%s\"",
				text, what, *at);
	v = strtoul(*at, &end, 10);
	if (v < 1 || v > max)
		return ftr_fail(err, FTR_PARSE, "shape \"%s\": %s is %lu, not 1..%u",
				text, what, v, max);
	*at = end;
	*out = (unsigned int)v;
	return FTR_OK;
}

static enum ftr_status mark(const char *text, const char **at, char c,
			    struct ftr_err *err)
{
	if (**at != c)
		return ftr_fail(err, FTR_PARSE, "shape \"%s\": '%c' expected at \"%s\"",
				text, c, *at);
	(*at)++;
	return FTR_OK;
}

static enum ftr_status parse_kary(const char *text, struct ftr_pgft *out,
				  struct ftr_err *err)
{
	const char *at = text + strlen("kary:");
	unsigned int k, n;
	enum ftr_status st = number(text, &at, "k", FTR_PORT_MAX / 2, &k, err);

	if (!st)
		st = mark(text, &at, ',', err);
	if (!st)
		st = number(text, &at, "n", FTR_PGFT_MAX_H, &n, err);
	if (!st)
		st = mark(text, &at, '\0', err);
	if (st)
		return st;
	*out = (struct ftr_pgft){ .h = n };
	for (unsigned int i = 0; i < n; i++) {
		out->m[i] = k;
		out->w[i] = i ? k : 1;
		out->p[i] = 1;
	}
	return FTR_OK;
}

enum ftr_status ftr_pgft_parse(const char *text, struct ftr_pgft *out,
			       struct ftr_err *err)
{
	static const char *const what[] = { "m", "w", "p" };
	struct ftr_pgft g = { 0 };
	unsigned int *list[] = { g.m, g.w, g.p };
	const char *at = text;
	enum ftr_status st;

	for (size_t i = 0; i < FTR_ARRAY_LEN(named); i++)
		if (!strcmp(text, named[i].name))
			return ftr_pgft_parse(named[i].text, out, err);
	if (!strncmp(text, "kary:", 5))
		return parse_kary(text, out, err);
	st = number(text, &at, "h", FTR_PGFT_MAX_H, &g.h, err);
	for (int k = 0; !st && k < 3; k++) {
		for (unsigned int i = 0; !st && i < g.h; i++) {
			st = mark(text, &at, i ? ',' : ';', err);
			if (!st)
				st = number(text, &at, what[k], FTR_LID_MAX,
					    &list[k][i], err);
		}
	}
	if (!st)
		st = mark(text, &at, '\0', err);
	if (!st)
		*out = g;
	return st;
}

/* ---- nodes ------------------------------------------------------------- */

struct level {
	uint32_t n;			/* nodes */
	uint32_t radix[FTR_PGFT_MAX_H];
	unsigned int n_ports;
	uint64_t *guid;			/* [n] */
	uint8_t *port;			/* [n * n_ports] number of a place */
};

struct growth {
	const struct ftr_pgft *g;
	const struct ftr_gen_opts *o;
	struct ftr_rng rng;
	struct ftr_builder *b;
	struct ftr_arena *arena;
	struct level level[FTR_PGFT_MAX_H + 1];
	struct ftr_err *err;
};

static enum ftr_status nomem(struct growth *z)
{
	return ftr_fail(z->err, FTR_NOMEM, "out of memory for a generated fabric");
}

/* Sizes, and the limits: ports of a switch, nodes in all. */
static enum ftr_status size_levels(struct growth *z)
{
	const struct ftr_pgft *g = z->g;
	uint64_t total = 0;

	for (unsigned int l = 0; l <= g->h; l++) {
		struct level *v = &z->level[l];
		uint64_t n = 1, ports = 0;

		for (unsigned int i = 0; i < g->h; i++) {
			v->radix[i] = i < l ? g->w[i] : g->m[i];
			n = FTR_MIN(n * v->radix[i], (uint64_t)UINT32_MAX);
		}
		if (l > 0)
			ports += (uint64_t)g->m[l - 1] * g->p[l - 1];
		if (l < g->h)
			ports += (uint64_t)g->w[l] * g->p[l];
		if (ports > FTR_PORT_MAX)
			return ftr_fail(z->err, FTR_LIMIT, "a node of level %u has %"
					PRIu64 " ports, more than %u", l, ports,
					FTR_PORT_MAX);
		total += n * (l ? 1 : (ports << z->o->lmc));
		if (total > FTR_LID_MAX)
			return ftr_fail(z->err, FTR_LIMIT, "the shape needs more than the %u unicast LIDs",
					FTR_LID_MAX);
		v->n = (uint32_t)n;
		v->n_ports = (unsigned int)ports;
	}
	return FTR_OK;
}

/* GUIDs leave the low byte to the ports: a simulator numbers them so. */
static uint64_t pick_guid(struct growth *z, unsigned int l, uint32_t i)
{
	uint64_t serial = (uint64_t)l << 32 | i;

	if (!z->o->random_guids)
		return (uint64_t)2 << 56 | serial << 8;
	/* 26 random bits above a serial number: unique by construction */
	return (1 + (ftr_rng_next(&z->rng) >> 38)) << 36 | (uint64_t)l << 32 |
		(uint64_t)i << 8;
}

static bool name_ports(struct growth *z, struct level *v, bool shuffle)
{
	uint32_t perm[FTR_PORT_MAX];

	v->port = ftr_arena_alloc(z->arena, v->n, v->n_ports);
	if (!v->port)
		return false;
	for (uint32_t i = 0; i < v->n; i++) {
		if (shuffle)
			ftr_rng_perm(&z->rng, perm, v->n_ports);
		for (unsigned int k = 0; k < v->n_ports; k++)
			v->port[(size_t)i * v->n_ports + k] =
				(uint8_t)((shuffle ? perm[k] : k) + 1);
	}
	return true;
}

static enum ftr_status add_node(struct growth *z, unsigned int l, uint32_t i)
{
	const struct level *v = &z->level[l];
	char name[FTR_NAME_MAX];

	if (l > 0) {
		snprintf(name, sizeof(name), "sw-%u-%u", l, i);
		return ftr_builder_add_switch(z->b, v->guid[i], v->n_ports, 0,
					      0, name, z->err);
	}
	snprintf(name, sizeof(name), "host-%u", i);
	for (unsigned int p = 1; p <= v->n_ports; p++) {
		enum ftr_status st = ftr_builder_add_endport(
			z->b, FTR_NODE_CA, v->guid[i], v->guid[i] + p, p, 0, 0,
			name, z->err);

		if (st)
			return st;
	}
	return FTR_OK;
}

static enum ftr_status add_nodes(struct growth *z)
{
	for (unsigned int l = 0; l <= z->g->h; l++) {
		struct level *v = &z->level[l];

		v->guid = ftr_arena_alloc(z->arena, v->n, sizeof(*v->guid));
		if (!v->guid ||
		    !name_ports(z, v, l > 0 && z->o->random_ports))
			return nomem(z);
		for (uint32_t i = 0; i < v->n; i++) {
			enum ftr_status st;

			v->guid[i] = pick_guid(z, l, i);
			st = add_node(z, l, i);
			if (st)
				return st;
		}
	}
	return FTR_OK;
}

/* ---- cables ------------------------------------------------------------ */

static struct ftr_end place(const struct growth *z, unsigned int l, uint32_t i,
			    unsigned int k)
{
	const struct level *v = &z->level[l];

	return (struct ftr_end){ v->guid[i],
				 v->port[(size_t)i * v->n_ports + k] };
}

/* Index of the u-th parent (level l + 1) of node i of level l, and which of
 * that parent's children i is. */
static uint32_t parent(const struct growth *z, unsigned int l, uint32_t i,
		       uint32_t u, uint32_t *child)
{
	uint32_t rest = i, out = 0, mul = 1;

	for (unsigned int d = 0; d < z->g->h; d++) {
		uint32_t digit = rest % z->level[l].radix[d];

		rest /= z->level[l].radix[d];
		if (d == l) {
			*child = digit;
			digit = u;
		}
		out += digit * mul;
		mul *= z->level[l + 1].radix[d];
	}
	return out;
}

static enum ftr_status cable_node(struct growth *z, unsigned int l, uint32_t i)
{
	const struct ftr_pgft *g = z->g;
	unsigned int below = l ? g->m[l - 1] * g->p[l - 1] : 0;

	for (uint32_t u = 0; u < g->w[l]; u++) {
		uint32_t child = 0, j = parent(z, l, i, u, &child);

		for (unsigned int c = 0; c < g->p[l]; c++) {
			enum ftr_status st = ftr_builder_add_link(
				z->b, place(z, l, i, below + u * g->p[l] + c),
				place(z, l + 1, j, child * g->p[l] + c),
				WIDTH, SPEED, z->err);

			if (st)
				return st;
		}
	}
	return FTR_OK;
}

static enum ftr_status add_cables(struct growth *z)
{
	for (unsigned int l = 0; l < z->g->h; l++)
		for (uint32_t i = 0; i < z->level[l].n; i++) {
			enum ftr_status st = cable_node(z, l, i);

			if (st)
				return st;
		}
	return FTR_OK;
}

/* ---- LIDs -------------------------------------------------------------- */

/* Everything gets a random LID: aligned slots of 2^lmc, in random order. */
static enum ftr_status random_lids(struct growth *z)
{
	unsigned int lmc = z->o->lmc;
	uint32_t n = 0, at = 0, *slot;

	for (unsigned int l = 0; l <= z->g->h; l++)
		n += z->level[l].n * (l ? 1 : z->level[l].n_ports);
	if ((uint64_t)(n + 1) << lmc > FTR_LID_MAX + 1)
		return ftr_fail(z->err, FTR_LIMIT, "%u random LIDs with LMC %u do not fit %u",
				n, lmc, FTR_LID_MAX);
	slot = ftr_arena_alloc(z->arena, n, sizeof(*slot));
	if (!slot)
		return nomem(z);
	ftr_rng_perm(&z->rng, slot, n);
	for (unsigned int l = 0; l <= z->g->h; l++) {
		const struct level *v = &z->level[l];

		for (uint32_t i = 0; i < v->n; i++) {
			enum ftr_status st = FTR_OK;

			if (l > 0)
				st = ftr_builder_add_switch(
					z->b, v->guid[i], v->n_ports,
					(ftr_lid)((slot[at++] + 1) << lmc), 0,
					NULL, z->err);
			for (unsigned int p = 1; !st && !l && p <= v->n_ports;
			     p++)
				st = ftr_builder_add_endport(
					z->b, FTR_NODE_CA, v->guid[i],
					v->guid[i] + p, p,
					(ftr_lid)((slot[at++] + 1) << lmc),
					lmc, NULL, z->err);
			if (st)
				return st;
		}
	}
	return FTR_OK;
}

static enum ftr_status give_lids(struct growth *z)
{
	if (z->o->no_lids)
		return FTR_OK;
	return z->o->random_lids ? random_lids(z) :
		ftr_builder_assign_lids(z->b, z->o->lmc, z->err);
}

enum ftr_status ftr_gen_pgft(const struct ftr_pgft *pgft,
			     const struct ftr_gen_opts *opts,
			     struct ftr_fabric **out, struct ftr_err *err)
{
	static const struct ftr_gen_opts defaults = { 0 };
	struct growth z = {
		.g = pgft, .o = opts ? opts : &defaults, .err = err,
		.b = ftr_builder_new(), .arena = ftr_arena_new(),
	};
	enum ftr_status st;

	if (pgft->h < 1 || pgft->h > FTR_PGFT_MAX_H)
		st = ftr_fail(err, FTR_INVAL, "a PGFT has 1..%u levels, not %u",
			      FTR_PGFT_MAX_H, pgft->h);
	else if (z.o->lmc > FTR_LMC_MAX)
		st = ftr_fail(err, FTR_INVAL, "LMC %u is above %u", z.o->lmc,
			      FTR_LMC_MAX);
	else
		st = z.b && z.arena ? size_levels(&z) : nomem(&z);
	ftr_rng_seed(&z.rng, z.o->seed);
	if (!st)
		st = add_nodes(&z);
	if (!st)
		st = add_cables(&z);
	if (!st)
		st = give_lids(&z);
	if (!st)
		st = ftr_builder_freeze(z.b, out, err);
	if (st)
		ftr_builder_free(z.b);
	ftr_arena_free(z.arena);
	return st;
}
