// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The generator of PGFTs.
 *
 * PGFT(h; m; w; p) is defined in Gliksberg et al. 2020, section 2, and Zahavi 2010.  A node of
 * level l is a tuple of h digits: digit i (1..h) is 0..w_i-1 if i <= l, and 0..m_i-1 if i > l.  A
 * node of level l-1 and a node of level l are connected by p_l links if their tuples agree in all
 * digits except the l-th.  The index of a node is its tuple read as a number, in which digit 1 is
 * the lowest.  Therefore the hosts of one leaf are consecutive, and so are the leaves of one pod.
 * Host i has the destination index i of the routing D-mod-k.
 *
 * The ports of a node of level l, numbered from 0 (gen_level.port):
 *
 *	to link j of child c	c * p_l + j
 *	to link j of parent u	m_l * p_l + u * p_{l+1} + j
 */
#include <stdio.h>
#include <string.h>

#include "gen/grow.h"

/* ---- parsing ----------------------------------------------------------- */

static const struct {
	const char *name, *text;
} named[] = {
	{ "648", "2;18,36;1,18;1,1" },
	{ "3456", "3;12,12,24;1,12,12;1,1,1" },
	{ "11664", "3;18,18,36;1,18,18;1,1,1" },
	{ "27648", "3;24,24,48;1,24,24;1,1,1" },
};

static bool parse_kary(struct gen_text *t, struct ftr_pgft *out)
{
	unsigned int k, n;

	if (!gen_number(t, "k", FTR_PORT_MAX / 2, &k) || !gen_mark(t, ',') ||
	    !gen_number(t, "n", FTR_PGFT_MAX_H, &n) || !gen_mark(t, '\0'))
		return false;
	out->h = n;
	for (unsigned int i = 0; i < n; i++) {
		out->m[i] = k;
		out->w[i] = i ? k : 1;
		out->p[i] = 1;
	}
	return true;
}

static bool parse_pgft(struct gen_text *t, struct ftr_pgft *out)
{
	static const char *const what[] = { "m", "w", "p" };
	unsigned int *list[] = { out->m, out->w, out->p };

	if (!gen_number(t, "number of levels H", FTR_PGFT_MAX_H, &out->h))
		return false;
	for (int k = 0; k < 3; k++)
		for (unsigned int i = 0; i < out->h; i++)
			if (!gen_mark(t, i ? ',' : ';') ||
			    !gen_number(t, what[k], FTR_LID_MAX, &list[k][i]))
				return false;
	return gen_mark(t, '\0');
}

enum ftr_status ftr_pgft_parse(const char *text, struct ftr_pgft *out, struct ftr_err *err)
{
	struct gen_text t = { .text = text, .at = text, .err = err };
	struct ftr_pgft g = { 0 };
	bool ok;

	for (size_t i = 0; i < FTR_ARRAY_LEN(named); i++)
		if (!strcmp(text, named[i].name))
			t.text = t.at = named[i].text;
	if (!strncmp(text, "kary:", 5)) {
		t.at += 5;
		ok = parse_kary(&t, &g);
	} else {
		ok = parse_pgft(&t, &g);
	}
	if (ok)
		*out = g;
	return t.status;
}

/* ---- nodes ------------------------------------------------------------- */

static void size_levels(struct gen_growth *z)
{
	const struct ftr_pgft *g = z->of;
	uint64_t total = 0;

	for (unsigned int l = 0; l <= g->h; l++) {
		struct gen_level *v = &z->level[l];
		uint64_t n = 1, ports = 0;

		for (unsigned int i = 0; i < g->h; i++) {
			v->radix[i] = i < l ? g->w[i] : g->m[i];
			n = FTR_MIN(n * v->radix[i], (uint64_t)UINT32_MAX);
		}
		if (l > 0)
			ports += (uint64_t)g->m[l - 1] * g->p[l - 1];
		if (l < g->h)
			ports += (uint64_t)g->w[l] * g->p[l];
		gen_limit(z, l, n, ports, &total);
	}
}

static void name(const struct gen_growth *z, unsigned int l, uint32_t i, char *name)
{
	(void)z;
	if (l)
		snprintf(name, FTR_NAME_MAX, "sw-%u-%u", l, i);
}

/* ---- links ------------------------------------------------------------- */

/* Returns the index of the u-th parent (on level l + 1) of node i of level l.  Sets *child to the
 * number of node i among the children of that parent. */
static uint32_t parent(const struct gen_growth *z, unsigned int l, uint32_t i,
		       uint32_t u, uint32_t *child)
{
	uint32_t rest = i, out = 0, mul = 1;

	for (unsigned int d = 0; d < z->h; d++) {
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

static void link_node(struct gen_growth *z, unsigned int l, uint32_t i)
{
	const struct ftr_pgft *g = z->of;
	unsigned int below = l ? g->m[l - 1] * g->p[l - 1] : 0;

	for (uint32_t u = 0; u < g->w[l]; u++) {
		uint32_t child = 0, j = parent(z, l, i, u, &child);

		for (unsigned int c = 0; c < g->p[l]; c++)
			gen_link(z, gen_port(z, l, i, below + u * g->p[l] + c),
				 gen_port(z, l + 1, j, child * g->p[l] + c));
	}
}

static void add_links(struct gen_growth *z)
{
	for (unsigned int l = 0; l < z->h; l++)
		for (uint32_t i = 0; i < z->level[l].n; i++)
			link_node(z, l, i);
}

enum ftr_status ftr_gen_pgft(const struct ftr_pgft *pgft, const struct ftr_gen_opts *opts,
			     struct ftr_fabric **out, struct ftr_err *err)
{
	static const struct gen_shape shape = { size_levels, add_links, name };

	if (pgft->h < 1 || pgft->h > FTR_PGFT_MAX_H)
		return ftr_fail(err, FTR_INVAL, "a PGFT has 1..%u levels, not %u",
				FTR_PGFT_MAX_H, pgft->h);
	return gen_grow(&shape, pgft, pgft->h, opts, out, err);
}
