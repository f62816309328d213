/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Metrics of the plugin and of the fabric, as Prometheus text (ibfattree.prom)
 * and as JSON (ibfattree-status.json).
 *
 * One table holds the name, the type and the help text of most metrics.  Counters start at 0 with
 * OpenSM and never decrease.  This file does not depend on OpenSM.
 */
#ifndef IBF_METRICS_H
#define IBF_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <ftr/status.h>

enum ibf_sm_state {
	IBF_SM_NOT_ACTIVE, IBF_SM_DISCOVERING, IBF_SM_STANDBY, IBF_SM_MASTER,
	IBF_N_SM_STATES
};

#define IBF_ROUTING_PHASES 5	/* number of phases: snapshot, shape, route, check, commit */
#define IBF_REROUTE_PHASES 5	/* number of phases: ports known, tables computed
				 * and checked, first and last block acknowledged */

struct ibf_metrics {
	char engine[32];	/* the engine that routes; "": none has routed yet, or all engines
				 * of the list up to one of this plugin have failed */
	bool ours;		/* this engine belongs to this plugin */
	char reason[256];	/* why an engine that precedes `engine` in routing_engine does not
				 * route; "": there is no such engine.  If `engine` is "", why the
				 * last engine of this plugin that OpenSM called has failed */
	/* time of these values, and start of the plugin; both in seconds since 1970 */
	double now, started;
	enum ibf_sm_state state;
	double state_seconds[IBF_N_SM_STATES];
	uint64_t sweeps, routings, refusals, reroutes, failed_writes;
	/* the last routing by one of our engines */
	double routed;		/* end of this routing, seconds since 1970; 0: none yet */
	double routing_ms[IBF_ROUTING_PHASES];
	uint64_t changed_entries;
	uint32_t switches, links, end_ports;
	uint32_t missing_switches, missing_links, missing_end_ports;
	uint64_t lost_hosts, lost_mixed, lost_others;	/* numbers of unreachable pairs */
	uint32_t no_sm_path;	/* number of switches without a route to the SM */
	bool load_known;
	uint64_t load_max, load_least;	/* all-to-all load of the most loaded link, and a lower
					 * bound of that load; in flows */
	uint32_t held;		/* number of damped links */
	/* the last reroute */
	double rerouted;	/* time of the first trap that caused the reroute, or without a trap
				 * its start; seconds since 1970 */
	double reroute_ms[IBF_REROUTE_PHASES];	/* time from `rerouted` to the end of each phase;
						 * negative: the phase was not reached */
};

void ibf_metrics_prom(FILE *out, const struct ibf_metrics *m);
void ibf_metrics_json(FILE *out, const struct ibf_metrics *m);

#endif
