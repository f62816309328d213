/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Metrics: what the plugin knows of itself and of the fabric, as Prometheus
 * text (ibfattree.prom) and as JSON (ibfattree-status.json).
 *
 * One table gives names, types and help of all of them.  Counters start at 0
 * with OpenSM and never go back.  Knows nothing of OpenSM.
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

#define IBF_ROUTING_PHASES 5	/* snapshot, shape, route, check, commit */
#define IBF_REROUTE_PHASES 5	/* known, computed, checked, first, last */

struct ibf_metrics {
	char engine[32];	/* in use, "": none yet */
	bool ours;
	char reason[256];	/* why not the one that was wanted, or "" */
	double now, started;	/* seconds since 1970 */
	enum ibf_sm_state state;
	double state_seconds[IBF_N_SM_STATES];
	uint64_t sweeps, routings, refusals, reroutes, failed_writes;
	/* of the last routing by an engine of ours; 0 before */
	double routed;		/* seconds since 1970 */
	double routing_ms[IBF_ROUTING_PHASES];
	uint64_t changed_entries;
	uint32_t switches, links, end_ports;
	uint32_t missing_switches, missing_links, missing_end_ports;
	uint64_t lost_hosts, lost_mixed, lost_others;	/* pairs without a path */
	uint32_t no_sm_path;	/* switches that do not reach the SM */
	bool load_known;
	uint64_t load_max, load_least;	/* all-to-all; flows */
	uint32_t held;		/* links left out because they flap */
	/* of the last reroute; times from its trap, negative: did not happen */
	double rerouted;
	double reroute_ms[IBF_REROUTE_PHASES];
};

void ibf_metrics_prom(FILE *out, const struct ibf_metrics *m);
void ibf_metrics_json(FILE *out, const struct ibf_metrics *m);

#endif
