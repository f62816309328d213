// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Equations (1), (3) and (4) of Gliksberg et al. 2020 for all small sizes.
 *
 * The choice of one port (src/core/engine/place.c): every number of slots up to WIDTH with every set
 * of present slots, every number of links up to LINKS with every set of present links, and all
 * destinations of two blocks.  While the slot is there, the choice is equation (3), and while the
 * link is there, equation (4), computed with integers that count up.  If the slot is missing, it is the
 * first one of the list of the oracle (lib/oracle_place.h).  If one more slot or link fails, only its
 * own destinations get another port.
 *
 * Whole tables: every PGFT of two levels with up to SIDE children, parents and links of a node, and
 * of three levels with up to 3 (two links).  In the complete tree, costs are distances, the divider
 * of a switch is the product of the w below it, and the ports are those of D-mod-k.  In a tree with a
 * missing link, the ports equal those of the oracle: each link of each tree with
 * at most SMALL switches; FTR_RUNS=2 also tests the other trees.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "engine/place.h"
#include "lib/edit.h"
#include "lib/oracle_place.h"
#include "lib/suite.h"
#include "lib/trees.h"

#define WIDTH 8
#define LINKS 4
#define SIDE 4
#define SMALL 14

static struct ftr_err err;

/* ---- the choice of one port --------------------------------------------------- */

/* A switch with w slots.  The links of slot i have the ports i * LINKS + 1 and following. */
static struct bench {
	struct ftr_shape sh;
	struct ftr_group group[WIDTH];
	uint8_t port[WIDTH * LINKS], pos[WIDTH * LINKS];
	const struct ftr_group *cand[WIDTH];
	struct port_choice pl;
} bench;

/* slots, links: sets of those that are present; each of the w groups has the same `links`. */
static void set_up(unsigned int w, unsigned int n_links, unsigned int slots, unsigned int links)
{
	struct bench *b = &bench;
	uint32_t n = 0;

	for (unsigned int i = 0; i < w; i++) {
		struct ftr_group *g = &b->group[i];

		*g = (struct ftr_group){ .slot = (uint8_t)i, .n_nominal = (uint8_t)n_links,
					 .first = i * LINKS, .pos = i };
		for (unsigned int k = 0; k < n_links; k++)
			if (links >> k & 1) {
				b->pos[g->first + g->n] = (uint8_t)k;
				b->port[g->first + g->n++] = (uint8_t)(i * LINKS + k + 1);
			}
		if (slots >> i & 1)
			b->cand[n++] = g;
	}
	b->sh.tree.port_pos = b->pos;
	b->sh.tree.group_ports = b->port;
	b->pl.sh = &b->sh;
	b->pl.w = w;
	place_column(&b->pl, b->cand, n);
}

static unsigned int port_of(uint32_t d)
{
	struct ftr_dest t = { .d = d, .cls = FTR_CLASS_HOST };

	return place_port(&bench.pl, &t);
}

/* Equations (3) and (4), by counting: d = 0, 1, ...  Every Pi destinations the next slot, after all
 * slots the next link. */
static void count_ports(unsigned int pi, unsigned int w, unsigned int links, unsigned int *want,
			unsigned int n)
{
	unsigned int slot = 0, link = 0, same = 0;

	for (unsigned int d = 0; d < n; d++) {
		want[d] = slot * LINKS + link + 1;
		if (++same < pi)
			continue;
		same = 0;
		if (++slot < w)
			continue;
		slot = 0;
		if (++link == links)
			link = 0;
	}
}

static bool is_there(unsigned int port, unsigned int slots, unsigned int links)
{
	return port && slots >> (port - 1) / LINKS & 1 && links >> (port - 1) % LINKS & 1;
}

/* The slot of a destination by the oracle. */
static unsigned int oracle_slot(unsigned int d, unsigned int slots)
{
	const struct port_choice *pl = &bench.pl;
	unsigned int x = d / pl->pi % pl->w, period = d / pl->pi / pl->w % pl->r;
	struct oracle_choice c = {
		.w = pl->w, .r = pl->r, .b = pl->b,
		.a = (int64_t)(d / pl->block) - pl->pod_first,
	};

	for (unsigned int i = 0; i < pl->w; i++)
		c.alive[i] = slots >> i & 1;
	return c.alive[x] ? x : (unsigned int)oracle_stable_slot(&c, x, period);
}

#define DESTS 300

/* All sets of present slots and links, for one divider and one number of slots and links. */
static uint64_t all_sets(unsigned int pi, unsigned int w, unsigned int n_links)
{
	static unsigned int want[DESTS];
	static uint8_t got[1 << WIDTH][1 << LINKS][DESTS];
	const struct port_choice *pl = &bench.pl;
	unsigned int n = FTR_MIN(2 * pl->block, DESTS);
	uint64_t cases = 0;

	count_ports(pi, w, n_links, want, n);
	for (unsigned int s = 1; s < 1u << w; s++)
		for (unsigned int l = 1; l < 1u << n_links; l++) {
			set_up(w, n_links, s, l);
			for (unsigned int d = 0; d < n; d++) {
				unsigned int port = port_of(d);

				ck_assert_msg(is_there(port, s, l), "slots %x links %x d %u: port %u is missing",
					      s, l, d, port);
				ck_assert_msg(port == want[d] || !is_there(want[d], s, l),
					      "slots %x links %x d %u: port %u, not %u", s, l, d, port,
					      want[d]);
				ck_assert_msg((port - 1) / LINKS == (pl->n == 1 ? pl->cand[0]->slot :
								     oracle_slot(d, s)),
					      "slots %x d %u: slot %u, oracle %u", s, d,
					      (port - 1) / LINKS, oracle_slot(d, s));
				got[s][l][d] = (uint8_t)port;
				cases++;
			}
		}
	for (unsigned int s = 1; s < 1u << w; s++)
		for (unsigned int l = 1; l < 1u << n_links; l++)
			for (unsigned int d = 0; d < n; d++) {
				unsigned int port = got[s][l][d];

				for (unsigned int i = 0; i < w; i++)	/* slot i returns */
					if (!(s >> i & 1))
						ck_assert((got[s | 1u << i][l][d] - 1u) / LINKS == i ||
							  got[s | 1u << i][l][d] == port);
				for (unsigned int k = 0; k < n_links; k++)
					if (!(l >> k & 1))
						ck_assert((got[s][l | 1u << k][d] - 1u) % LINKS == k ||
							  got[s][l | 1u << k][d] == port);
			}
	return cases;
}

START_TEST(one_port)
{
	uint64_t cases = 0;

	for (unsigned int pi = 1; pi <= 4; pi++)
		for (unsigned int w = 1; w <= WIDTH; w++)
			for (unsigned int pod = 0; pod < 2; pod++)
				for (unsigned int periods = 1; periods <= 3; periods++) {
					struct port_choice *pl = &bench.pl;

					*pl = (struct port_choice){
						.pi = pi, .r = periods, .b = 2 + (int32_t)pod,
						.block = pi * w * periods, .pod_leaves = 1,
						.pod_first = (int32_t)pod,
					};
					for (unsigned int links = 1; links <= LINKS; links++)
						cases += all_sets(pi, w, links);
				}
	printf("choices of a port: %llu\n", (unsigned long long)cases);
}
END_TEST

/* ---- whole tables -------------------------------------------------------------- */

static struct ftr_tables *route(const struct ftr_shape *sh)
{
	struct ftr_route_opts opts = {
		.sm_switch = FTR_SW_NONE, .paths = FTR_PATHS_UPDOWN,
	};
	struct ftr_tables *t = NULL;

	ck_assert(!ftr_tables_new(sh->f, false, &t, &err));
	ck_assert_msg(!ftr_engine_find("dmodc")->route(sh, &opts, NULL, t, NULL, &err), "%s",
		      err.msg);
	return t;
}

/* The position of a switch: its level from 1 on, and the digits of its tuple (<ftr/gen.h>). */
struct place {
	unsigned int level, digit[FTR_PGFT_MAX_H];
};

static struct place place_of(const struct ftr_pgft *g, const char *name)
{
	struct place p;
	unsigned int i;

	ck_assert_int_eq(sscanf(name, "sw-%u-%u", &p.level, &i), 2);
	for (unsigned int k = 0; k < g->h; k++) {
		unsigned int base = k < p.level ? g->w[k] : g->m[k];

		p.digit[k] = i % base;
		i /= base;
	}
	return p;
}

/* The port by D-mod-k: down if the host is below, otherwise up. */
static unsigned int dmodk(const struct ftr_pgft *g, const struct place *p, unsigned int host)
{
	unsigned int below = 0, digit = host, q = host, l = p->level;
	bool down = true;

	for (unsigned int k = 0; k < g->h; k++) {
		if (k >= l)
			down &= digit % g->m[k] == p->digit[k];
		if (k == l - 1)
			below = digit % g->m[k];
		digit /= g->m[k];
	}
	for (unsigned int k = 0; k < l; k++)
		q /= g->w[k];
	if (!down)
		return g->m[l - 1] * g->p[l - 1] + q % g->w[l] * g->p[l] + q / g->w[l] % g->p[l] + 1;
	return below * g->p[l - 1] + q % g->p[l - 1] + 1;	/* place.c: C has one group */
}

static void complete_tree(const struct ftr_pgft *g, const struct ftr_shape *sh)
{
	const struct ftr_fabric *f = sh->f;
	struct ftr_tables *t = route(sh);

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		struct place p = place_of(g, f->sw[s].name);
		uint64_t pi = 1;

		for (unsigned int k = 0; k < p.level; k++)
			pi *= g->w[k];
		ck_assert_msg(sh->numbering.divider[s] == pi, "%s: divider %llu, not %llu",
			      f->sw[s].name, (unsigned long long)sh->numbering.divider[s],
			      (unsigned long long)pi);
		for (ftr_ep e = 0; e < f->n_ep; e++) {
			unsigned int host, want;

			ck_assert_int_eq(sscanf(f->ep[e].name, "host-%u", &host), 1);
			want = dmodk(g, &p, host);
			ck_assert_msg(ftr_tables_get(t, s, f->ep[e].lid) == want,
				      "%s host %u: port %u, D-mod-k %u", f->sw[s].name, host,
				      ftr_tables_get(t, s, f->ep[e].lid), want);
		}
	}
	ftr_tables_free(t);
}

static void equals_oracle(const struct ftr_shape *whole, const struct ftr_fabric *f)
{
	struct ftr_shape_opts opts = { .nominal = whole };
	struct ftr_shape *sh = NULL;
	struct oracle_place o;
	struct ftr_tables *t;

	ck_assert_msg(!ftr_shape_new(f, &opts, NULL, &sh, &err), "%s", err.msg);
	oracle_place_init(&o, whole, sh);
	t = route(sh);
	for (uint32_t i = 0; i < sh->numbering.n_dest; i++)
		for (ftr_sw s = 0; s < f->n_sw; s++) {
			const struct ftr_dest *d = &sh->numbering.dest[i];

			ck_assert_msg(ftr_tables_get(t, s, d->lid) == oracle_place_entry(&o, s, d),
				      "%s LID %u: port %u, oracle %u", f->sw[s].name, d->lid,
				      ftr_tables_get(t, s, d->lid), oracle_place_entry(&o, s, d));
		}
	ftr_tables_free(t);
	oracle_place_free(&o);
	ftr_shape_free(sh);
}

/* Returns the number of links. */
static uint64_t each_link(const struct ftr_shape *whole)
{
	const struct ftr_fabric *f = whole->f;
	uint64_t n = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			struct edit e = EDIT_NOTHING;
			struct ftr_fabric *cut;

			if (ftr_fabric_next(f, s, p) == FTR_SW_NONE || ftr_fabric_next(f, s, p) < s)
				continue;
			e.cut_sw = s;
			e.cut_port = (ftr_port)p;
			cut = edit_seal(edit_open(f, &e));
			equals_oracle(whole, cut);
			ftr_fabric_free(cut);
			n++;
		}
	return n;
}

static uint64_t n_trees, n_cuts;

static void one_tree(const struct ftr_pgft *g)
{
	struct ftr_fabric *f = NULL;
	struct ftr_shape *sh = NULL;

	ck_assert_msg(!ftr_gen_pgft(g, NULL, &f, &err), "%s", err.msg);
	ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
	complete_tree(g, sh);
	n_trees++;
	if (f->n_sw <= SMALL || trees_runs(1) > 1)
		n_cuts += each_link(sh);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}

/* Calls one_tree for all values of the parameters from k on; h levels, at most `side` children and
 * parents, and at most `links` links. */
static void all_trees(struct ftr_pgft *g, unsigned int k, unsigned int side, unsigned int links)
{
	if (k == g->h) {
		one_tree(g);
		return;
	}
	/* a switch with one child adds nothing to the tree, and the shape gives it another rank */
	for (g->m[k] = 1 + (k > 0); g->m[k] <= side; g->m[k]++)
		for (g->w[k] = 1; g->w[k] <= (k ? side : 1); g->w[k]++)
			for (g->p[k] = 1; g->p[k] <= (k ? links : 1); g->p[k]++)
				all_trees(g, k + 1, side, links);
}

START_TEST(trees)
{
	struct ftr_pgft g = { .h = 2 };

	all_trees(&g, 0, SIDE, SIDE);
	g.h = 3;
	all_trees(&g, 0, 3, 2);
	printf("trees: %llu, with a missing link: %llu\n", (unsigned long long)n_trees,
	       (unsigned long long)n_cuts);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("choice");
	TCase *c = tcase_create("all");

	tcase_add_test(c, one_port);
	tcase_add_test(c, trees);
	suite_add_tcase(s, c);
	return run_suite(s);
}
