// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The generator of tori (see <ftr/gen.h>).  Level 0 are the hosts, level 1 the switches.
 */
#include <stdio.h>
#include <string.h>

#include "gen/grow.h"

#define PREFIX "torus:"

enum ftr_status ftr_torus_parse(const char *text, struct ftr_torus *out, struct ftr_err *err)
{
	struct gen_text t = { .text = text, .at = text + strlen(PREFIX),
			      .err = err };
	struct ftr_torus g = { .hosts = 1 };

	if (strncmp(text, PREFIX, strlen(PREFIX)))
		return ftr_fail(err, FTR_PARSE, "shape \"%s\" is not a torus", text);
	do {
		if (g.d == FTR_TORUS_MAX_D)
			return ftr_fail(err, FTR_PARSE, "shape \"%s\": more than %u dimensions",
					text, FTR_TORUS_MAX_D);
		if ((g.d && !gen_mark(&t, ',')) || !gen_number(&t, "k", FTR_LID_MAX, &g.k[g.d++]))
			return t.status;
	} while (*t.at == ',');
	if (*t.at == ';' && (!gen_mark(&t, ';') ||
			     !gen_number(&t, "hosts", FTR_PORT_MAX, &g.hosts)))
		return t.status;
	if (gen_mark(&t, '\0'))
		*out = g;
	return t.status;
}

static void size(struct gen_growth *z)
{
	const struct ftr_torus *g = z->of;
	uint64_t n = 1, total = 0;

	for (unsigned int i = 0; i < g->d; i++)
		n = FTR_MIN(n * g->k[i], (uint64_t)UINT32_MAX);
	gen_limit(z, 1, n, 2u * g->d + g->hosts, &total);
	gen_limit(z, 0, n * g->hosts, 1, &total);
}

static void name(const struct gen_growth *z, unsigned int l, uint32_t i, char *name)
{
	const struct ftr_torus *g = z->of;
	size_t at = 2;

	if (!l)
		return;
	snprintf(name, FTR_NAME_MAX, "sw");
	for (unsigned int d = 0; d < g->d; d++) {
		at += (size_t)snprintf(name + at, FTR_NAME_MAX - at, "-%u", i % g->k[d]);
		i /= g->k[d];
	}
}

/* Add the links from switch i to the next switch in every dimension, and to its hosts. */
static void link_switch(struct gen_growth *z, uint32_t i)
{
	const struct ftr_torus *g = z->of;
	uint32_t step = 1;

	for (unsigned int d = 0; d < g->d; d++) {
		uint32_t x = i / step % g->k[d];
		uint32_t next = i - x * step + (x + 1) % g->k[d] * step;

		gen_link(z, gen_port(z, 1, i, 2 * d), gen_port(z, 1, next, 2 * d + 1));
		step *= g->k[d];
	}
	for (unsigned int h = 0; h < g->hosts; h++)
		gen_link(z, gen_port(z, 1, i, 2 * g->d + h), gen_port(z, 0, i * g->hosts + h, 0));
}

static void links(struct gen_growth *z)
{
	for (uint32_t i = 0; i < z->level[1].n; i++)
		link_switch(z, i);
}

enum ftr_status ftr_gen_torus(const struct ftr_torus *torus, const struct ftr_gen_opts *opts,
			      struct ftr_fabric **out, struct ftr_err *err)
{
	static const struct gen_shape shape = { size, links, name };

	if (torus->d < 1 || torus->d > FTR_TORUS_MAX_D)
		return ftr_fail(err, FTR_INVAL, "a torus has 1..%u dimensions, not %u",
				FTR_TORUS_MAX_D, torus->d);
	for (unsigned int i = 0; i < torus->d; i++)
		if (torus->k[i] < 2)
			return ftr_fail(err, FTR_INVAL, "a torus with k = %u in dimension %u: k must be 2 or more",
					torus->k[i], i + 1);
	return gen_grow(&shape, torus, 1, opts, out, err);
}

enum ftr_status ftr_gen_shape(const char *text, const struct ftr_gen_opts *opts,
			      struct ftr_fabric **out, struct ftr_err *err)
{
	struct ftr_superpod pod;
	struct ftr_torus torus;
	struct ftr_pgft pgft;
	enum ftr_status st;

	if (!strncmp(text, "superpod:", 9)) {
		st = ftr_superpod_parse(text, &pod, err);
		return st ? st : ftr_gen_superpod(&pod, opts, out, err);
	}
	if (opts && opts->nodes)
		return ftr_fail(err, FTR_INVAL, "shape \"%s\": only a superpod has a number of nodes (%u)",
				text, opts->nodes);
	if (!strncmp(text, PREFIX, strlen(PREFIX))) {
		st = ftr_torus_parse(text, &torus, err);
		return st ? st : ftr_gen_torus(&torus, opts, out, err);
	}
	st = ftr_pgft_parse(text, &pgft, err);
	return st ? st : ftr_gen_pgft(&pgft, opts, out, err);
}
