/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One fabric routed by dmodc and by sftree, for the tests of sftree. */
#ifndef TESTS_PROP_SFTREE_BOTH_H
#define TESTS_PROP_SFTREE_BOTH_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

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

#endif
