/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Helpers for the tests of sftree: route a fabric by dmodc and by sftree, check sftree's tables. */
#ifndef TESTS_PROP_SFTREE_BOTH_H
#define TESTS_PROP_SFTREE_BOTH_H

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

static struct ftr_err err;

struct both {
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *dmodc, *sftree;
	struct ftr_route_stats stats;
	uint8_t *order;
};

static void tables(struct both *b, const char *engine,
		   const struct ftr_route_opts *opts, struct ftr_team *team,
		   struct ftr_tables **t)
{
	ck_assert(!ftr_tables_new(b->f, false, t, &err));
	memset((*t)->lft, 0x55, (size_t)(*t)->n_sw * (*t)->stride);
	b->stats.order = b->order;
	ck_assert_msg(!ftr_engine_find(engine)->route(b->sh, opts, team, *t,
						      &b->stats, &err),
		      "%s: %s", engine, err.msg);
}

static void route(struct both *b, const struct ftr_route_opts *opts,
		  struct ftr_team *team)
{
	static const struct ftr_route_opts updown = {
		.sm_switch = FTR_SW_NONE, .paths = FTR_PATHS_UPDOWN,
	};

	ck_assert_msg(!ftr_shape_new(b->f, NULL, team, &b->sh, &err), "%s",
		      err.msg);
	b->order = malloc(b->f->n_sw);
	tables(b, "dmodc", &updown, team, &b->dmodc);
	tables(b, "sftree", opts, team, &b->sftree);
}

static void unroute(struct both *b)
{
	ftr_tables_free(b->dmodc);
	ftr_tables_free(b->sftree);
	ftr_shape_free(b->sh);
	ftr_fabric_free(b->f);
	free(b->order);
}

/* Count the pairs that are not physically connected.  bad[c]: the number of these pairs in class c
 * (FTR_CHECK_*). */
static void apart(const struct ftr_fabric *f, uint64_t *bad)
{
	uint32_t *uf = malloc(f->n_sw * sizeof(*uf));
	uint32_t *hosts = calloc(f->n_sw, sizeof(*hosts));

	ftr_uf_init(uf, f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (port->peer_kind == FTR_PEER_SW)
				ftr_uf_union(uf, s, port->peer);
			hosts[s] += port->peer_kind == FTR_PEER_EP;
		}
	memset(bad, 0, FTR_N_CHECK_CLASSES * sizeof(*bad));
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (ftr_sw t = 0; t < f->n_sw; t++) {
			if (ftr_uf_find(uf, s) == ftr_uf_find(uf, t))
				continue;
			bad[FTR_CHECK_HOST_HOST] += (uint64_t)hosts[s] *
				hosts[t];
			bad[FTR_CHECK_HOST_SW] += hosts[s];
			bad[FTR_CHECK_SW_HOST] += hosts[t];
			bad[FTR_CHECK_SW_SW]++;
		}
	free(uf);
	free(hosts);
}

static void complete(const struct both *b, uint64_t seed)
{
	struct ftr_check_opts opts = {
		.rank = b->stats.order_known ? b->order : NULL,
		.switch_sources = true,
	};
	struct ftr_check_report rep;
	uint64_t bad[FTR_N_CHECK_CLASSES];

	apart(b->f, bad);
	ck_assert(!ftr_check_tables(b->f, b->sftree, &opts, NULL, &rep, &err));
	for (int c = 0; c < FTR_N_CHECK_CLASSES; c++)
		ck_assert_msg(rep.bad[c] == bad[c], "seed %" PRIu64
			      ": class %d: %" PRIu64
			      " pairs are unreachable, %" PRIu64 " pairs are not connected by links",
			      seed, c, rep.bad[c], bad[c]);
	ck_assert_msg(rep.harmful == 0 && rep.found[FTR_FIND_TURN] == 0 &&
		      rep.cdg == FTR_CDG_PROVED, "seed %" PRIu64
		      ": %" PRIu64 " harmful paths, %" PRIu64 " turns, result on credit loops %d "
		      "(enum ftr_cdg_verdict)",
		      seed, rep.harmful, rep.found[FTR_FIND_TURN],
		      (int)rep.cdg);
	ck_assert_uint_eq(rep.found[FTR_FIND_MISSING], b->stats.no_path);
}

/* The checker must find no cycle of channel dependencies, although it does not get the order of
 * switches by which sftree routes. */
static void acyclic(const struct both *b, uint64_t seed)
{
	struct ftr_check_opts opts = { .switch_sources = true };
	struct ftr_check_report rep;

	ck_assert(!ftr_check_tables(b->f, b->sftree, &opts, NULL, &rep, &err));
	ck_assert_msg(rep.cdg == FTR_CDG_ACYCLIC, "seed %" PRIu64
		      ": result on credit loops %d (enum ftr_cdg_verdict)", seed, (int)rep.cdg);
}

static inline void hosts_as_dmodc(const struct both *b, uint64_t seed)
{
	for (uint32_t i = 0; i < b->sh->numbering.n_dest; i++) {
		const struct ftr_dest *t = &b->sh->numbering.dest[i];

		if (t->cls == FTR_CLASS_SW)
			continue;
		for (ftr_sw s = 0; s < b->f->n_sw; s++) {
			ftr_port want = ftr_tables_get(b->dmodc, s, t->lid);

			if (want == FTR_PORT_NONE)
				continue;	/* dmodc has no entry here */
			ck_assert_msg(ftr_tables_get(b->sftree, s, t->lid) ==
				      want, "seed %" PRIu64
				      ": switch %s, LID %u: the port differs from that of dmodc",
				      seed, b->f->sw[s].name, t->lid);
		}
	}
	ck_assert_uint_eq(b->stats.detours, 0);
}

#endif
