// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The trees of trees.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
		if (full) {	/* hosts with several ports, too */
			g->w[0] = one_of(r, one, 4);
			g->p[0] = one_of(r, one, 4);
		}
		for (unsigned int i = 0; full && i + 1 < g->h; i++) {
			/* cables up of level i + 1 = cables down of it */
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

struct ftr_fabric *trees_hurt(struct ftr_fabric *f, struct ftr_rng *r,
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

const char *const trees_real_files[] = {
	"avakas/avakas.net", "plafrim/plafrim.net", "plafrim2/plafrim2a.net",
	"topograph/topograph.net", "topograph/topograph-noan.net", NULL
};

struct ftr_fabric *trees_real(const char *file)
{
	const char *dir = getenv("FTR_TOPOLOGIES");
	const char *top = getenv("abs_top_srcdir");
	struct ftr_err err = { 0 };
	struct ftr_fabric *f = NULL;
	char path[1000];

	if (dir)
		snprintf(path, sizeof(path), "%s/%s", dir, file);
	else
		snprintf(path, sizeof(path), "%s/../shared/topologies/%s",
			 top ? top : ".", file);
	if (access(path, R_OK)) {
		printf("SKIP: no %s (FTR_TOPOLOGIES)\n", path);
		return NULL;
	}
	must(ftr_read_fabric(path, 0, &f, &err), &err);
	return f;
}
