// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Nodes, GUIDs, port numbers and LIDs of generated fabrics.
 *
 * All random choices come from one seed: first GUIDs and ports, node by node, then LIDs.  With
 * random_guids, random_ports and random_lids, these numbers are as irregular as in an installed
 * fabric.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "gen/grow.h"

#define WIDTH 4

/* ---- parsing ------------------------------------------------------------- */

bool gen_number(struct gen_text *t, const char *what, unsigned int max, unsigned int *out)
{
	char *end;
	unsigned long v = strtoul(t->at, &end, 10);

	if (*t->at < '0' || *t->at > '9')
		t->status = ftr_fail(t->err, FTR_PARSE, "shape \"%s\": %s expected after \"%.*s\"",
				     t->text, what, (int)(t->at - t->text), t->text);
	else if (v < 1 || v > max)
		t->status = ftr_fail(t->err, FTR_PARSE, "shape \"%s\": %s is %lu (allowed: 1 to %u)",
				     t->text, what, v, max);
	t->at = end;
	*out = (unsigned int)v;
	return !t->status;
}

bool gen_mark(struct gen_text *t, char c)
{
	if (*t->at == c)
		t->at++;
	else if (c)
		t->status = ftr_fail(t->err, FTR_PARSE, "shape \"%s\": '%c' expected after \"%.*s\"",
				     t->text, c, (int)(t->at - t->text), t->text);
	else
		t->status = ftr_fail(t->err, FTR_PARSE, "shape \"%s\": unexpected text at \"%s\"",
				     t->text, t->at);
	return !t->status;
}

/* ---- nodes ------------------------------------------------------------- */

static enum ftr_status nomem(struct gen_growth *z)
{
	return ftr_nomem(z->err, "a generated fabric");
}

void gen_limit(struct gen_growth *z, unsigned int l, uint64_t n, uint64_t ports, uint64_t *total)
{
	*total += n * (l ? 1 : (ports << z->o->lmc));
	if (z->status)
		return;
	if (ports > FTR_PORT_MAX)
		z->status = ftr_fail(z->err, FTR_LIMIT, "a node of level %u has %" PRIu64
				     " ports, more than %u", l, ports, FTR_PORT_MAX);
	else if (*total > FTR_LID_MAX)
		z->status = ftr_fail(z->err, FTR_LIMIT,
				     "the shape needs more than the %u unicast LIDs", FTR_LID_MAX);
	z->level[l].n = (uint32_t)n;
	z->level[l].n_ports = (unsigned int)ports;
}

/* Returns the node GUID of node i of level l.  Its low byte is 0, because port p has the GUID (node
 * GUID) + p, as in ibsim. */
static uint64_t pick_guid(struct gen_growth *z, unsigned int l, uint32_t i)
{
	uint64_t serial = (uint64_t)l << 32 | i;

	if (!z->o->random_guids)
		return (uint64_t)2 << 56 | serial << 8;
	/* 26 random bits; then the level and the number of the node, which make the GUID unique */
	return (1 + (ftr_rng_next(&z->rng) >> 38)) << 36 | (uint64_t)l << 32 |
		(uint64_t)i << 8;
}

static bool name_ports(struct gen_growth *z, struct gen_level *v, bool shuffle)
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

/* Returns the next random LID, or 0 if LIDs are not random. */
static ftr_lid next_lid(struct gen_growth *z)
{
	return z->lid ? (ftr_lid)((z->lid[z->n_lids++] + 1) << z->o->lmc) : 0;
}

/* Add node i of level l: a switch, or all ports of a host. */
static void add_node(struct gen_growth *z, unsigned int l, uint32_t i)
{
	const struct gen_level *v = &z->level[l];
	char name[FTR_NAME_MAX];

	if (z->status)
		return;
	snprintf(name, sizeof(name), "host-%u", i);
	z->shape->name(z, l, i, name);
	if (l > 0) {
		z->status = ftr_builder_add_switch(z->b, &(struct ftr_switch){
			.guid = v->guid[i], .n_ports = (ftr_port)v->n_ports,
			.lid = next_lid(z), .name = name,
		}, z->err);
		return;
	}
	for (unsigned int p = 1; p <= v->n_ports; p++)
		if (!z->status)
			z->status = ftr_builder_add_endport(z->b, &(struct ftr_endport){
				.guid = v->guid[i] + p, .node_guid = v->guid[i],
				.type = FTR_NODE_CA, .port_num = (ftr_port)p, .lid = next_lid(z),
				.lmc = z->lid ? (uint8_t)z->o->lmc : 0, .name = name,
			}, z->err);
}

static void add_nodes(struct gen_growth *z)
{
	for (unsigned int l = 0; l <= z->h; l++) {
		struct gen_level *v = &z->level[l];

		FTR_NEW(z->arena, v->guid, v->n);
		if (!v->guid || !name_ports(z, v, l > 0 && z->o->random_ports)) {
			z->status = nomem(z);
			return;
		}
		for (uint32_t i = 0; i < v->n; i++) {
			v->guid[i] = pick_guid(z, l, i);
			add_node(z, l, i);
		}
	}
}

/* ---- links ------------------------------------------------------------- */

struct ftr_end gen_port(const struct gen_growth *z, unsigned int l, uint32_t i, unsigned int k)
{
	const struct gen_level *v = &z->level[l];

	return (struct ftr_end){ v->guid[i],
				 v->port[(size_t)i * v->n_ports + k] };
}

void gen_link(struct gen_growth *z, struct ftr_end a, struct ftr_end b)
{
	if (!z->status)
		z->status = ftr_builder_add_link(z->b, a, b, WIDTH, z->speed, z->err);
}

/* ---- LIDs -------------------------------------------------------------- */

/* Draw the LIDs of all switches and host ports.  Then add all nodes to the builder a second time,
 * now with their LIDs; the builder merges the two descriptions of a node. */
static enum ftr_status random_lids(struct gen_growth *z)
{
	unsigned int lmc = z->o->lmc;
	uint32_t n = 0;

	for (unsigned int l = 0; l <= z->h; l++)
		n += z->level[l].n * (l ? 1 : z->level[l].n_ports);
	if ((uint64_t)(n + 1) << lmc > FTR_LID_MAX + 1)
		return ftr_fail(z->err, FTR_LIMIT, "%u random LIDs with LMC %u do not fit into the %u unicast LIDs",
				n, lmc, FTR_LID_MAX);
	if (!FTR_NEW(z->arena, z->lid, n))
		return nomem(z);
	ftr_rng_perm(&z->rng, z->lid, n);
	for (unsigned int l = 0; l <= z->h; l++)
		for (uint32_t i = 0; i < z->level[l].n; i++)
			add_node(z, l, i);
	return z->status;
}

static enum ftr_status give_lids(struct gen_growth *z)
{
	if (z->o->no_lids)
		return FTR_OK;
	return z->o->random_lids ? random_lids(z) :
		ftr_builder_assign_lids(z->b, z->o->lmc, z->err);
}

enum ftr_status gen_grow(const struct gen_shape *shape, const void *of,
			 unsigned int h, const struct ftr_gen_opts *opts,
			 struct ftr_fabric **out, struct ftr_err *err)
{
	static const struct ftr_gen_opts defaults = { 0 };
	struct gen_growth z = {
		.shape = shape, .of = of, .h = h,
		.o = opts ? opts : &defaults, .err = err,
		.speed = FTR_SPEED_EDR, .b = ftr_builder_new(), .arena = ftr_arena_new(),
	};

	if (z.o->lmc > FTR_LMC_MAX)
		z.status = ftr_fail(err, FTR_INVAL, "LMC %u is above the maximum %u", z.o->lmc,
				    FTR_LMC_MAX);
	else if (z.b && z.arena)
		shape->size(&z);
	else
		z.status = nomem(&z);
	ftr_rng_seed(&z.rng, z.o->seed);
	if (!z.status)
		add_nodes(&z);
	if (!z.status)
		shape->links(&z);
	if (!z.status)
		z.status = give_lids(&z);
	if (!z.status)
		z.status = ftr_builder_freeze(z.b, out, err);
	if (z.status)
		ftr_builder_free(z.b);
	ftr_arena_free(z.arena);
	return z.status;
}
