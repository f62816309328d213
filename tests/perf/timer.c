// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures the time of OpenSM's routing engines, both its own and ours.  This is an event plugin
 * for benchmarks ("event_plugin_name ibfattree ibftimer").
 *
 * OpenSM sets up its engines after it has loaded the plugins, so the list of engines is complete at
 * the first heavy sweep.  Then this plugin replaces every callback of every engine.  The new
 * callback calls the original and measures its time.  An engine leaves a step to OpenSM if it has
 * no callback, or if the callback returns a value > 0.  OpenSM then lets the default engine,
 * min-hop, do this step.  So this plugin calls min-hop inside the measurement.  The measured times
 * then add up to the whole routing, without the time for writing the tables to the switches.
 *
 * When the subnet is up after a routing, the plugin logs "ibftimer: ENGINE matrices X ms, tables Y
 * ms, multicast Z ms in N trees".  If the engine builds the trees itself, the multicast time is the
 * sum over all trees built since the last such line.  If OpenSM builds the trees, their time is not
 * measured, and 0 is logged.  When the tables of a sweep are on the switches, the plugin logs
 * "ibftimer: pushed N blocks to M switches", from OpenSM's own count of acknowledged blocks.  At the
 * begin and the end of a discovery it logs "ibftimer: sweep" and "ibftimer: discovered".
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <opensm/osm_config.h>
#include <opensm/osm_version.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_log.h>

struct watched {
	struct timer *timer;
	struct osm_routing_engine *re, old;
	double matrices, tables, trees;
	unsigned int n_trees;
};

#define MAX_ENGINES 8

struct timer {
	osm_opensm_t *osm;
	/* Number of blocks written, and of switches written to, since the sweep began.  Updated
	 * under OpenSM's exclusive lock. */
	unsigned int blocks, switches;
	unsigned char seen[49152];	/* [LID] 1: the switch with this LID is counted */
	struct watched w[MAX_ENGINES];
	unsigned int n;
};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int matrices(void *ctx)
{
	struct watched *w = ctx;
	const struct osm_routing_engine *d =
		w->timer->osm->default_routing_engine;
	double t = now_ms();
	int ret = 1;

	if (w->old.build_lid_matrices)
		ret = w->old.build_lid_matrices(w->old.context);
	if (ret > 0)
		ret = d->build_lid_matrices(d->context);
	w->matrices = now_ms() - t;
	return ret;
}

static int tables(void *ctx)
{
	struct watched *w = ctx;
	const struct osm_routing_engine *d =
		w->timer->osm->default_routing_engine;
	double t = now_ms();
	int ret = 1;

	if (w->old.ucast_build_fwd_tables)
		ret = w->old.ucast_build_fwd_tables(w->old.context);
	if (ret > 0)
		ret = d->ucast_build_fwd_tables(d->context);
	w->tables = now_ms() - t;
	return ret;
}

static ib_api_status_t tree(void *ctx, osm_mgrp_box_t *mgb)
{
	struct watched *w = ctx;
	double t = now_ms();
	ib_api_status_t st = w->old.mcast_build_stree(w->old.context, mgb);

	w->trees += now_ms() - t;
	w->n_trees++;
	return st;
}

static void destroy(void *ctx)
{
	struct watched *w = ctx;

	if (w->old.destroy)
		w->old.destroy(w->old.context);
}

static uint8_t path_sl(void *ctx, uint8_t hint, const ib_net16_t slid,
		       const ib_net16_t dlid)
{
	struct watched *w = ctx;

	return w->old.path_sl(w->old.context, hint, slid, dlid);
}

static void watch_all(struct timer *t)
{
	struct osm_routing_engine *re = t->osm->routing_engine_list;

	for (; re && t->n < MAX_ENGINES; re = re->next) {
		struct watched *w = &t->w[t->n++];

		w->timer = t;
		w->re = re;
		w->old = *re;
		re->context = w;
		re->build_lid_matrices = matrices;
		re->ucast_build_fwd_tables = tables;
		re->destroy = destroy;
		if (re->mcast_build_stree)
			re->mcast_build_stree = tree;
		if (re->path_sl)
			re->path_sl = path_sl;
	}
}

static void count_block(struct timer *t, const osm_epi_lft_change_event_t *c)
{
	unsigned int lid;

	if (!(c->flags & LFT_CHANGED_BLOCK))
		return;
	lid = cl_ntoh16(osm_node_get_base_lid(c->p_sw->p_node, 0));
	t->blocks++;
	if (lid < sizeof(t->seen)) {
		t->switches += !t->seen[lid];
		t->seen[lid] = 1;
	}
}

static void report_pushed(struct timer *t)
{
	OSM_LOG(&t->osm->log, OSM_LOG_INFO,
		"ibftimer: pushed %u blocks to %u switches\n", t->blocks,
		t->switches);
	t->blocks = t->switches = 0;
	memset(t->seen, 0, sizeof(t->seen));
}

static void report(void *ctx, osm_epi_event_id_t id, void *data)
{
	struct timer *t = ctx;

	if (id == OSM_EVENT_ID_HEAVY_SWEEP_START && !t->n)
		watch_all(t);
	if (id == OSM_EVENT_ID_HEAVY_SWEEP_START)
		OSM_LOG(&t->osm->log, OSM_LOG_INFO, "ibftimer: sweep\n");
	if (id == OSM_EVENT_ID_HEAVY_SWEEP_DONE)
		OSM_LOG(&t->osm->log, OSM_LOG_INFO, "ibftimer: discovered\n");
	if (id == OSM_EVENT_ID_LFT_CHANGE)
		count_block(t, data);
	if (id == OSM_EVENT_ID_UCAST_ROUTING_DONE)
		report_pushed(t);
	for (unsigned int i = 0; id == OSM_EVENT_ID_SUBNET_UP && i < t->n;
	     i++) {
		struct watched *w = &t->w[i];

		if (t->osm->routing_engine_used != w->re)
			continue;
		OSM_LOG(&t->osm->log, OSM_LOG_INFO,
			"ibftimer: %s matrices %.1f ms, tables %.1f ms, multicast %.1f ms in %u trees\n",
			w->re->name, w->matrices, w->tables, w->trees,
			w->n_trees);
		w->trees = 0;
		w->n_trees = 0;
	}
}

static void *create(osm_opensm_t *osm)
{
	struct timer *t = calloc(1, sizeof(*t));

	if (t)
		t->osm = osm;
	return t;
}

static void delete(void *ctx)
{
	free(ctx);
}

__attribute__((visibility("default")))
osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = delete,
	.report = report,
};
