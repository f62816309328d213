/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Metrics of the plugin and of the fabric, as Prometheus text (ibfattree.prom) and as JSON
 * (ibfattree-status.json).
 *
 * Counters are 0 when OpenSM starts, and never decrease.  This file does not depend on
 * OpenSM.
 */
#ifndef IBF_METRICS_H
#define IBF_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <ftr/drain.h>
#include <ftr/status.h>

enum ibf_sm_state {
	IBF_SM_NOT_ACTIVE, IBF_SM_DISCOVERING, IBF_SM_STANDBY, IBF_SM_MASTER,
	IBF_N_SM_STATES
};

enum ibf_phase {
	IBF_PHASE_SNAPSHOT, IBF_PHASE_SHAPE, IBF_PHASE_ROUTE, IBF_PHASE_CHECK, IBF_PHASE_COMMIT,
	IBF_ROUTING_PHASES
};
#define IBF_REROUTE_PHASES 5	/* ports known, tables computed, tables checked, first and last
				 * block acknowledged */

/* The drained parts. */
struct ibf_drain_metrics {
	struct ftr_drains now;	/* owned */
	uint64_t written;	/* the request whose tables are written */
	double life_ms;		/* packet lifetime: after this time no packet follows old tables */
	char error[FTR_ERR_MAX];	/* why the present file is not used; "": it is used */
};

struct ibf_metrics {
	char engine[32];	/* the engine that routes; "": none has routed yet, or an engine
				 * of this plugin has just failed */
	bool ours;		/* `engine` belongs to this plugin */
	char reason[256];	/* why an engine of this plugin has failed or was passed over in
				 * routing_engine; "": there is no such engine */
	/* Time of these values, and start of the plugin, both in seconds since 1970. */
	double now, started;
	enum ibf_sm_state state;
	double state_seconds[IBF_N_SM_STATES];
	uint64_t sweeps, routings, refusals, reroutes, failed_writes, helper_failures;
	/* The last routing by an engine of this plugin. */
	double routed;		/* its end, in seconds since 1970; 0: no routing yet */
	double routing_ms[IBF_ROUTING_PHASES];
	uint64_t changed_entries;
	uint32_t switches, links, end_ports;
	struct ftr_drain_count missing;
	uint64_t lost_hosts, lost_mixed, lost_others;	/* unreachable pairs */
	uint32_t no_sm_path;	/* switches without a route to the SM */
	bool load_known;
	uint64_t load_max, load_least;	/* all-to-all load of the most loaded link, and its
					 * lower bound, in flows */
	struct ibf_drain_metrics drain;
	uint32_t held;		/* damped links */
	/* The last reroute. */
	double rerouted;	/* time of its first trap, or its start if there was no trap; in
				 * seconds since 1970 */
	double reroute_ms[IBF_REROUTE_PHASES];	/* from `rerouted` to the end of each phase;
						 * negative: not reached */
};

void ibf_metrics_prom(FILE *out, const struct ibf_metrics *m);
/* Write text with escapes; each control character and each byte that is not UTF-8 becomes '?'. */
void ibf_put_text(FILE *out, const char *text);
void ibf_metrics_json(FILE *out, const struct ibf_metrics *m);

#endif
