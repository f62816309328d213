/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the files of the plugin share.  The only header that pulls in OpenSM;
 * osm_config.h must come first, because struct layouts depend on it.
 *
 * Ownership: the plugin object lives from create to delete.  Each engine holds
 * at most one published generation (fabric and shape, immutable) and, while it
 * routes, one under construction.  No pointer into OpenSM's data is kept
 * across callbacks: generations name things by GUID, LID and index, and
 * commit and multicast look switches up again.
 */
#ifndef IBF_OSM_H
#define IBF_OSM_H

#include <opensm/osm_config.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_multicast.h>

#include "core/core.h"
#include "osm/msg.h"
#include "osm/options.h"
#include "osm/stree.h"
#include <ftr/engine.h>
#include <ftr/shape.h>
#include <ftr/tables.h>

#define IBF_MAX_ENGINES 8

/* What was left out of a snapshot, for one warning line. */
struct ibf_skips {
	uint32_t n;
	char first[192];
};

struct ibf_generation {
	struct ftr_fabric *fabric;
	struct ftr_shape *shape;
	uint8_t *mcast_able;	/* [n_sw] the switch supports multicast */
};

/* Tables with what the engine says of them. */
struct ibf_routes {
	struct ftr_tables *t;
	struct ftr_route_opts opts;
	struct ftr_route_stats stats;	/* stats.order is ours */
};

/* Per routing: milliseconds and counts for the one line that is logged. */
struct ibf_timing {
	double snapshot, shape, route, check, commit;
};

/* (source, LID) pairs that are left without a path for good reason. */
struct ibf_unserved {
	uint64_t hosts;		/* host to host */
	uint64_t mixed;		/* host to switch, switch to host */
	uint64_t others;	/* switches, Aggregation Nodes */
};

struct ibf_changes {
	uint64_t entries, blocks;
	uint32_t switches;
};

struct ibf_engine {
	struct ibf_plugin *plugin;
	const struct ftr_engine_ops *ops;
	struct ibf_generation *gen;	/* published, NULL before */
	bool gen_stale;		/* a sweep began after gen was made */
	char refusal[FTR_ERR_MAX];	/* why it does not route, "" = it does */
	struct ibf_stree *stree;	/* scratch, of gen's size */
	uint32_t n_trees;	/* built since the last summary */
	double trees_ms;
};

struct ibf_plugin {
	struct osm_opensm *osm;
	struct ibf_options opt;
	struct ftr_err opt_err;	/* status set: no engine may be set up */
	struct ftr_team *team;
	bool team_tried;
	bool cache_warned;
	bool swept;		/* a heavy sweep has started before */
	bool routing_done;	/* since it started */
	unsigned int n_engines;
	struct ibf_engine engine[IBF_MAX_ENGINES];
};

/* Write one line, "ibfattree: [ERR |WRN ]IBFnnn: ..." */
void ibf_log(struct ibf_plugin *p, enum ibf_msg msg, const char *fmt, ...)
	FTR_PRINTF(3, 4);

double ibf_now_ms(void);

/* engine.c: osm_routing_engine callbacks; ctx is a struct ibf_engine. */
int ibf_engine_setup(struct osm_routing_engine *re, struct osm_opensm *osm);
/* A published or refreshed view of the subnet; needs the exclusive lock. */
enum ftr_status ibf_generation_new(struct ibf_engine *e,
				   struct ibf_generation **out,
				   struct ibf_timing *ms,
				   struct ftr_err *err) FTR_MUST_USE;
void ibf_engine_publish(struct ibf_engine *e, struct ibf_generation *gen);

/* snapshot.c */
enum ftr_status ibf_snapshot(struct ibf_plugin *p, struct ftr_fabric **out,
			     struct ibf_skips *skips,
			     struct ftr_err *err) FTR_MUST_USE;

/* verify.c: the verdict on computed tables; FTR_REFUSED with the reason. */
enum ftr_status ibf_verify(struct ibf_engine *e,
			   const struct ibf_generation *gen,
			   const struct ibf_routes *r, struct ibf_unserved *un,
			   struct ftr_err *err) FTR_MUST_USE;

/* commit.c: nothing is written unless everything fits. */
enum ftr_status ibf_commit(struct ibf_plugin *p, const struct ftr_fabric *f,
			   const struct ftr_tables *t,
			   struct ibf_changes *changes,
			   struct ftr_err *err) FTR_MUST_USE;

/* mcast.c */
ib_api_status_t ibf_mcast_build_stree(void *ctx, osm_mgrp_box_t *mbox);

/* ca_order.c */
void ibf_ca_order_write(struct ibf_engine *e, const struct ftr_shape *sh);

#endif
