// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/suite.h"
#include "lib/trees.h"

static void must(enum ftr_status st, const struct ftr_err *err)
{
	if (!st)
		return;
	fprintf(stderr, "trees: %s\n", err->msg);
	abort();
}

uint64_t trees_first_seed(void)
{
	const char *s = getenv("FTR_SEED");

	return s ? strtoull(s, NULL, 0) : 1;
}

unsigned int trees_runs(unsigned int n)
{
	const char *s = getenv("FTR_RUNS");

	if (s && !strncmp(s, "1/", 2))
		return n / (unsigned int)atoi(s + 2) + 1;
	return s ? n * (unsigned int)atoi(s) : n;
}

static uint32_t one_of(struct ftr_rng *r, const uint32_t *from, uint32_t n)
{
	return from[ftr_rng_below(r, n)];
}

void trees_random_pgft(struct ftr_rng *r, struct ftr_pgft *g, bool full,
		       uint32_t max_sw)
{
	static const uint32_t few[] = { 1, 2, 3, 4 }, one[] = { 1, 1, 1, 2 };

	for (;;) {
		uint64_t n_sw = 0;

		*g = (struct ftr_pgft){ .h = 2 + ftr_rng_below(r, 3) };
		for (unsigned int i = 0; i < g->h; i++) {
			g->m[i] = 1 + one_of(r, few, 4);
			g->w[i] = i ? one_of(r, few, 4) : 1;
			g->p[i] = i ? one_of(r, one, 4) : 1;
		}
		if (full) {
			g->w[0] = one_of(r, one, 4);
			g->p[0] = one_of(r, one, 4);
		}
		for (unsigned int i = 0; full && i + 1 < g->h; i++) {
			uint32_t ports = g->m[i] * g->p[i];

			g->p[i + 1] = ports % g->p[i + 1] ? 1 : g->p[i + 1];
			g->w[i + 1] = ports / g->p[i + 1];
		}
		for (unsigned int l = 1; l <= g->h; l++) {
			uint64_t n = 1;

			for (unsigned int i = 0; i < g->h; i++)
				n *= i < l ? g->w[i] : g->m[i];
			n_sw += n;
		}
		if (n_sw <= max_sw)
			return;
	}
}

struct ftr_fabric *trees_grow(const struct ftr_pgft *g, uint64_t seed,
			      unsigned int lmc)
{
	struct ftr_gen_opts o = {
		.seed = seed, .random_guids = true, .random_ports = true,
		.random_lids = true, .lmc = lmc,
	};
	struct ftr_err err = { 0 };
	struct ftr_fabric *f = NULL;

	must(ftr_gen_pgft(g, &o, &f, &err), &err);
	return f;
}

struct cabling {
	struct ftr_builder *b;
	struct ftr_err err;
	uint64_t guid[128];
	uint32_t next[128];
	uint32_t n_hosts;
};

#define CABLING_PORTS 60

/* Add n switches.  Their GUIDs are in ascending or in random order. */
static void cabling_new(struct cabling *c, struct ftr_rng *r, uint32_t n)
{
	uint32_t order[128];

	*c = (struct cabling){ .b = ftr_builder_new() };
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	if (r)
		ftr_rng_perm(r, order, n);
	for (uint32_t i = 0; i < n; i++) {
		c->guid[i] = (uint64_t)(order[i] + 1) << 16;
		must(ftr_builder_add_switch(c->b, &(struct ftr_switch){
			.guid = c->guid[i], .n_ports = CABLING_PORTS, .name = "switch",
		}, &c->err), &c->err);
	}
}

static void cabling_join(struct cabling *c, uint32_t s, uint32_t t, uint32_t n)
{
	while (n--)
		must(ftr_builder_add_link(c->b, (struct ftr_end){
			c->guid[s], (ftr_port)++c->next[s]
		}, (struct ftr_end){
			c->guid[t], (ftr_port)++c->next[t]
		}, 4, FTR_SPEED_EDR, &c->err), &c->err);
}

static void cabling_hosts(struct cabling *c, uint32_t s, uint32_t n)
{
	while (n--) {
		uint64_t guid = (UINT64_C(1) << 40) + (c->n_hosts++ << 4);

		must(ftr_builder_add_endport(c->b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = guid, .guid = guid + 1, .port_num = 1,
			.name = "host",
		}, &c->err),
		     &c->err);
		must(ftr_builder_add_link(c->b, (struct ftr_end){ guid, 1 },
					  (struct ftr_end){
			c->guid[s], (ftr_port)++c->next[s]
		}, 4, FTR_SPEED_EDR, &c->err), &c->err);
	}
}

static struct ftr_fabric *cabling_end(struct cabling *c)
{
	struct ftr_fabric *f = NULL;

	must(ftr_builder_assign_lids(c->b, 0, &c->err), &c->err);
	must(ftr_builder_freeze(c->b, &f, &c->err), &c->err);
	return f;
}

/* Connect s to n_up of the n_chips chips, with n links to each. */
static void cabling_hang(struct cabling *c, struct ftr_rng *r, uint32_t s,
			 uint32_t chips, uint32_t n_chips, uint32_t n_up,
			 uint32_t n)
{
	uint32_t perm[128], first = ftr_rng_below(r, n_chips);
	bool any = ftr_rng_below(r, 2);

	ftr_rng_perm(r, perm, n_chips);
	for (uint32_t i = 0; i < n_up; i++)
		cabling_join(c, s, chips + (any ? perm[i] :
					    (first + i) % n_chips), n);
}

struct ftr_fabric *trees_chassis(struct ftr_rng *r)
{
	uint32_t n_chips = 3 + ftr_rng_below(r, 4);
	uint32_t n_spines = 2 + ftr_rng_below(r, 3);
	uint32_t n_boxes = 1 + !ftr_rng_below(r, 3);
	uint32_t n_mid = ftr_rng_below(r, 3) ? 0 : 2 + ftr_rng_below(r, 3);
	uint32_t n_leaves = 3 + ftr_rng_below(r, 7);
	uint32_t n_up = 2 + ftr_rng_below(r, n_chips - 1);
	uint32_t n_hosts = 1 + ftr_rng_below(r, 5);
	uint32_t n_links = 1 + ftr_rng_below(r, 2);
	uint32_t mid = n_boxes * (n_chips + n_spines), leaf = mid + n_mid;
	struct cabling c;

	cabling_new(&c, r, leaf + n_leaves);
	for (uint32_t box = 0; box < n_boxes; box++) {
		uint32_t chips = box * (n_chips + n_spines);

		for (uint32_t i = 0; i < n_chips * n_spines; i++)
			cabling_join(&c, chips + i / n_spines,
				     chips + n_chips + i % n_spines, 1);
		for (uint32_t i = n_mid ? mid : leaf;
		     i < (n_mid ? leaf : leaf + n_leaves); i++)
			cabling_hang(&c, r, i, chips, n_chips, n_up, n_links);
	}
	for (uint32_t i = 0; i < n_leaves; i++) {
		cabling_hosts(&c, leaf + i, 1 + ftr_rng_below(r, n_hosts));
		if (n_mid)
			cabling_hang(&c, r, leaf + i, mid, n_mid, 2, 1);
	}
	return cabling_end(&c);
}

/* Connect s to each of n switches from `first` on by 0 to 4 links.  A rack is connected to two of
 * them only. */
static void cabling_above(struct cabling *c, struct ftr_rng *r, uint32_t s,
			  uint32_t first, uint32_t n, bool rack)
{
	uint32_t any = first + ftr_rng_below(r, n);

	if (rack) {
		cabling_join(c, s, any, 1 + ftr_rng_below(r, 3));
		cabling_join(c, s, first + (any - first + 1) % n,
			     1 + ftr_rng_below(r, 3));
		return;
	}
	for (uint32_t t = first; t < first + n; t++)
		cabling_join(c, s, t, ftr_rng_below(r, 3) ?
			     ftr_rng_below(r, 5) : t == any);
}

struct ftr_fabric *trees_irregular(struct ftr_rng *r)
{
	uint32_t levels = 3 + ftr_rng_below(r, 2), first[5] = { 0 };
	bool racks = ftr_rng_below(r, 3) == 0;
	bool odd = ftr_rng_below(r, 3) == 0;	/* hosts above the leaves */
	struct cabling c;

	for (uint32_t i = 0; i < levels; i++)
		first[i + 1] = first[i] + (i ? 2 + ftr_rng_below(r, 4) :
					   3 + ftr_rng_below(r, 6));
	cabling_new(&c, r, first[levels]);
	for (uint32_t i = 0; i < levels; i++)
		for (uint32_t s = first[i]; s < first[i + 1]; s++) {
			if (i + 1 < levels)
				cabling_above(&c, r, s, first[i + 1],
					      first[i + 2] - first[i + 1],
					      racks && !i);
			if (!i)
				cabling_hosts(&c, s, 1 + ftr_rng_below(r, 5));
			else if (odd && !ftr_rng_below(r, 4))
				cabling_hosts(&c, s, 1 + ftr_rng_below(r, 2));
		}
	return cabling_end(&c);
}

struct ftr_fabric *trees_racks(void)
{
	enum { LEAVES = 42, CHIPS = 36, SPINES = 18 };
	struct cabling c;

	cabling_new(&c, NULL, LEAVES + CHIPS + SPINES);
	for (uint32_t s = 0; s < LEAVES; s++)
		cabling_hosts(&c, s, 12);
	for (uint32_t s = 0; s < LEAVES; s++)
		for (uint32_t j = 0; j < 5; j++)
			cabling_join(&c, s, LEAVES + (s / 2 * 5 + j) % CHIPS,
				     3);
	for (uint32_t s = 0; s < LEAVES; s += 2)
		cabling_join(&c, s, s + 1, 9);
	for (uint32_t i = 0; i < CHIPS * SPINES; i++)
		cabling_join(&c, LEAVES + i / SPINES,
			     LEAVES + CHIPS + i % SPINES, 1);
	return cabling_end(&c);
}

struct ftr_fabric *trees_damaged(struct ftr_fabric *f, struct ftr_rng *r,
				 unsigned int percent)
{
	struct ftr_damage d = {
		.seed = ftr_rng_next(r),
		.links = ftr_rng_below(r, f->n_sw_links * percent / 100 + 1),
		.hosts = ftr_rng_below(r, f->n_ep / 4 + 1),
	};
	struct ftr_err err = { 0 };
	struct ftr_fabric *out = NULL;
	uint32_t bare = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		bool has = false;

		for (ftr_ep e = 0; e < f->n_ep; e++)
			has |= f->ep[e].sw == s;
		bare += !has;
	}
	if (bare > 2)
		d.switches = ftr_rng_below(r, bare / 3 + 1);
	must(ftr_gen_damage(f, &d, &out, &err), &err);
	ftr_fabric_free(f);
	return out;
}

struct ftr_fabric *trees_mixed(uint64_t seed)
{
	struct ftr_pgft g;
	struct ftr_rng r;

	ftr_rng_seed(&r, seed);
	switch (seed % 4) {
	case 0:
		return trees_chassis(&r);
	case 1:
		return trees_irregular(&r);
	default:
		trees_random_pgft(&r, &g, false, 30);
		return trees_damaged(trees_grow(&g, seed, false), &r, 10);
	}
}

struct ftr_fabric *trees_any(uint64_t seed)
{
	struct ftr_pgft g;
	struct ftr_rng r;

	ftr_rng_seed(&r, seed);
	switch (seed % 5) {
	case 0:
		return trees_irregular(&r);
	case 1:
		return trees_damaged(trees_irregular(&r), &r, 60);
	case 2:
		return trees_damaged(trees_chassis(&r), &r, 30);
	case 3:
		return trees_damaged(trees_irregular(&r), &r, 15);
	default:
		trees_random_pgft(&r, &g, false, 60);
		return trees_damaged(trees_grow(&g, seed, seed / 5 % 2), &r, 60);
	}
}

const char *const trees_real_files[] = {
	"avakas/avakas.net", "plafrim/plafrim.net", "plafrim2/plafrim2a.net",
	"topograph/topograph.net", "topograph/topograph-noan.net", NULL
};

struct ftr_fabric *trees_real(const char *file)
{
	struct ftr_err err = { 0 };
	struct ftr_fabric *f = NULL;
	char path[1000];

	if (!real_fabric(file, path, sizeof(path)))
		return NULL;
	must(ftr_read_fabric(path, 0, &f, &err), &err);
	return f;
}
