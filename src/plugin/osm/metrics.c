// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes the metrics as Prometheus text and as JSON.
 *
 * Each row of the table row[] describes one value, for both formats.  Metrics with a label
 * (a state or a phase), and a few others, are not in the table.
 */
#include "config.h"

#include <inttypes.h>
#include <stddef.h>

#include "base/base.h"
#include "osm/metrics.h"
#include <ftr/text.h>

static const char *const state_name[IBF_N_SM_STATES] = {
	[IBF_SM_NOT_ACTIVE] = "not_active",
	[IBF_SM_DISCOVERING] = "discovering",
	[IBF_SM_STANDBY] = "standby", [IBF_SM_MASTER] = "master",
};

static const char *const routing_phase[IBF_ROUTING_PHASES] = {
	"snapshot", "shape", "route", "check", "commit",
};

static const char *const reroute_phase[IBF_REROUTE_PHASES] = {
	"known", "computed", "checked", "first_write", "last_write",
};

enum type { U32, U64, REAL };

#define ROW(name, field, kind, counter, help) \
	{ name, offsetof(struct ibf_metrics, field), kind, counter, help }

static const struct row {
	const char *name;
	size_t at;
	enum type type;
	bool counter;
	const char *help;
} row[] = {
	ROW("sweeps_total", sweeps, U64, true, "Heavy sweeps that OpenSM began."),
	ROW("routings_total", routings, U64, true, "Routings by an engine of the plugin."),
	ROW("refusals_total", refusals, U64, true,
	    "Routings that an engine of the plugin refused."),
	ROW("reroutes_total", reroutes, U64, true,
	    "Repairs by the fast path, after a trap and before a sweep."),
	ROW("failed_writes_total", failed_writes, U64, true,
	    "Blocks of repairs that a switch did not acknowledge."),
	ROW("helper_failures_total", helper_failures, U64, true,
	    "Failures of processes of the plugin."),
	ROW("last_routing_timestamp_seconds", routed, REAL, false,
	    "End of the last routing by an engine of the plugin, in seconds since 1970."),
	ROW("last_routing_changed_entries", changed_entries, U64, false,
	    "Entries of forwarding tables that the last routing changed."),
	ROW("last_reroute_timestamp_seconds", rerouted, REAL, false,
	    "Time of the trap that caused the last repair by the fast path, in seconds since 1970."),
	ROW("switches", switches, U32, false, "Switches in the fabric."),
	ROW("links", links, U32, false, "Links between switches."),
	ROW("end_ports", end_ports, U32, false, "Ports of adapters and routers."),
	ROW("missing_switches", missing.switches, U32, false,
	    "Switches of the nominal fabric that are missing."),
	ROW("missing_links", missing.links, U32, false,
	    "Links of the nominal fabric that are missing."),
	ROW("missing_end_ports", missing.hosts, U32, false,
	    "Host ports of the nominal fabric that are missing."),
	ROW("switches_without_sm_path", no_sm_path, U32, false,
	    "Switches whose table has no route to the subnet manager."),
	ROW("held_links", held, U32, false,
	    "Damped links: not used because they failed too often."),
};
#define N_ROWS (sizeof(row) / sizeof(row[0]))

static void put_value(FILE *out, const struct ibf_metrics *m, const struct row *r)
{
	const char *at = (const char *)m + r->at;

	if (r->type == U32)
		fprintf(out, "%" PRIu32, *(const uint32_t *)(const void *)at);
	else if (r->type == U64)
		fprintf(out, "%" PRIu64, *(const uint64_t *)(const void *)at);
	else
		fprintf(out, "%.3f", *(const double *)(const void *)at);
}

/* ---- Prometheus ---------------------------------------------------------- */

static void head(FILE *out, const char *name, bool counter, const char *help)
{
	fprintf(out, "# HELP ibfattree_%s %s\n# TYPE ibfattree_%s %s\n", name,
		help, name, counter ? "counter" : "gauge");
}

/* The two escapes are those of Prometheus and of JSON. */
void ibf_put_text(FILE *out, const char *text)
{
	uint32_t c;

	for (unsigned int n; *text; text += FTR_MAX(n, 1u)) {
		n = ftr_text_char((const unsigned char *)text, &c);
		if (!n || c < ' ' || (c >= 0x7f && c <= 0x9f))
			putc('?', out);
		else
			fprintf(out, "%s%.*s", c == '"' || c == '\\' ? "\\" : "", (int)n, text);
	}
}

static void put_phases(FILE *out, const char *name, const char *help,
		       const char *const *phase, const double *ms, int n)
{
	head(out, name, false, help);
	for (int i = 0; i < n; i++)
		if (ms[i] >= 0)
			fprintf(out, "ibfattree_%s{phase=\"%s\"} %.6f\n", name,
				phase[i], ms[i] / 1e3);
}

static void put_engine(FILE *out, const struct ibf_metrics *m)
{
	head(out, "info", false, "The plugin; always 1.");
	fputs("ibfattree_info{version=\"" PACKAGE_VERSION "\"} 1\n", out);
	head(out, "engine_info", false, "The routing engine that OpenSM uses; always 1.");
	fputs("ibfattree_engine_info{engine=\"", out);
	ibf_put_text(out, m->engine[0] ? m->engine : "none");
	fputs("\"} 1\n", out);
	head(out, "routes", false,
	     "1 if an engine of the plugin routes, 0 if another or none does.");
	fprintf(out, "ibfattree_routes %d\n", m->ours);
	head(out, "sm_master", false, "1 if this subnet manager is the master.");
	fprintf(out, "ibfattree_sm_master %d\n", m->state == IBF_SM_MASTER);
	head(out, "state_seconds_total", true,
	     "Time that the subnet manager spent in each state, in seconds.");
	for (int i = 0; i < IBF_N_SM_STATES; i++)
		fprintf(out, "ibfattree_state_seconds_total{state=\"%s\"} %.3f\n",
			state_name[i], m->state_seconds[i]);
	head(out, "start_timestamp_seconds", false, "Start of the plugin, in seconds since 1970.");
	fprintf(out, "ibfattree_start_timestamp_seconds %.3f\n", m->started);
	head(out, "written_timestamp_seconds", false,
	     "When this file was written, in seconds since 1970.");
	fprintf(out, "ibfattree_written_timestamp_seconds %.3f\n", m->now);
}

void ibf_metrics_prom(FILE *out, const struct ibf_metrics *m)
{
	put_engine(out, m);
	for (size_t i = 0; i < N_ROWS; i++) {
		head(out, row[i].name, row[i].counter, row[i].help);
		fprintf(out, "ibfattree_%s ", row[i].name);
		put_value(out, m, &row[i]);
		putc('\n', out);
	}
	head(out, "drained_parts", false, "Drained switches, links and host ports.");
	fprintf(out, "ibfattree_drained_parts %" PRIu32 "\n", m->drain.now.n);
	if (m->drain.now.n)
		head(out, "drained_since_timestamp_seconds", false,
		     "When a part was drained, in seconds since 1970; port 0: all ports.");
	for (uint32_t i = 0; i < m->drain.now.n; i++) {
		const struct ftr_drain *p = &m->drain.now.part[i];

		fprintf(out, "ibfattree_drained_since_timestamp_seconds{guid=\"0x%016" PRIx64
			"\",port=\"%u\",by=\"", p->guid, p->port);
		ibf_put_text(out, p->by);
		fputs("\",name=\"", out);
		ibf_put_text(out, p->name);
		fprintf(out, "\"} %" PRIu64 "\n", p->since);
	}
	head(out, "unreachable_pairs", false,
	     "Unreachable pairs of ports, by the kind of their ends.");
	fprintf(out, "ibfattree_unreachable_pairs{ends=\"hosts\"} %" PRIu64 "\n"
		"ibfattree_unreachable_pairs{ends=\"host_and_switch\"} %" PRIu64
		"\nibfattree_unreachable_pairs{ends=\"others\"} %" PRIu64 "\n",
		m->lost_hosts, m->lost_mixed, m->lost_others);
	if (m->load_known) {
		head(out, "link_load_max_flows", false,
		     "Flows on the most loaded link if every host sends to every other.");
		fprintf(out, "ibfattree_link_load_max_flows %" PRIu64 "\n", m->load_max);
		head(out, "link_load_bound_flows", false,
		     "Lower bound of the flows on the most loaded link.");
		fprintf(out, "ibfattree_link_load_bound_flows %" PRIu64 "\n", m->load_least);
	}
	put_phases(out, "last_routing_phase_seconds",
		   "Time that each phase of the last routing took, in seconds.",
		   routing_phase, m->routing_ms, IBF_ROUTING_PHASES);
	if (m->reroutes)
		put_phases(out, "last_reroute_phase_seconds",
			   "Time from the trap of the last repair to the end of each phase, in seconds.",
			   reroute_phase, m->reroute_ms, IBF_REROUTE_PHASES);
}

/* ---- JSON ---------------------------------------------------------------- */

static void put_string(FILE *out, const char *key, const char *text)
{
	fprintf(out, "\"%s\":\"", key);
	ibf_put_text(out, text);
	fputs("\",", out);
}

static void put_ms(FILE *out, const char *key, const char *const *phase, const double *ms, int n)
{
	fprintf(out, "\"%s\":{", key);
	for (int i = 0; i < n; i++) {
		fprintf(out, "%s\"%s\":", i ? "," : "", phase[i]);
		if (ms[i] < 0)
			fputs("null", out);
		else
			fprintf(out, "%.3f", ms[i]);
	}
	fputs("}", out);
}

static void put_drains(FILE *out, const struct ibf_drain_metrics *m)
{
	fprintf(out, "\"drains\":{\"request\":\"0x%" PRIx64 "\",\"written\":\"0x%" PRIx64
		"\",\"packet_lifetime_ms\":%.3f,", m->now.request, m->written, m->life_ms);
	put_string(out, "error", m->error);
	fputs("\"parts\":[", out);
	for (uint32_t i = 0; i < m->now.n; i++) {
		const struct ftr_drain *p = &m->now.part[i];

		fputs(i ? ",{" : "{", out);
		put_string(out, "name", p->name);
		put_string(out, "by", p->by);
		fprintf(out, "\"guid\":\"0x%016" PRIx64 "\",\"port\":%u,\"since\":%" PRIu64 "}",
			p->guid, p->port, p->since);
	}
	fputs("]},", out);
}

void ibf_metrics_json(FILE *out, const struct ibf_metrics *m)
{
	fputs("{\"program\":\"ibfattree\",\"version\":\"" PACKAGE_VERSION
	      "\",\"schema\":1,", out);
	put_string(out, "engine", m->engine);
	fprintf(out, "\"ours\":%s,", m->ours ? "true" : "false");
	put_string(out, "reason", m->reason);
	put_string(out, "state", state_name[m->state]);
	fprintf(out, "\"time\":%.3f,\"started\":%.3f,\"state_seconds\":{",
		m->now, m->started);
	for (int i = 0; i < IBF_N_SM_STATES; i++)
		fprintf(out, "%s\"%s\":%.3f", i ? "," : "", state_name[i], m->state_seconds[i]);
	fputs("},", out);
	for (size_t i = 0; i < N_ROWS; i++) {
		fprintf(out, "\"%s\":", row[i].name);
		put_value(out, m, &row[i]);
		putc(',', out);
	}
	put_drains(out, &m->drain);
	fprintf(out, "\"unreachable_pairs\":{\"hosts\":%" PRIu64
		",\"host_and_switch\":%" PRIu64 ",\"others\":%" PRIu64 "},",
		m->lost_hosts, m->lost_mixed, m->lost_others);
	if (m->load_known)
		fprintf(out, "\"link_load\":{\"max\":%" PRIu64 ",\"bound\":%"
			PRIu64 "},", m->load_max, m->load_least);
	else
		fputs("\"link_load\":null,", out);
	put_ms(out, "last_routing_ms", routing_phase, m->routing_ms, IBF_ROUTING_PHASES);
	putc(',', out);
	if (m->reroutes)
		put_ms(out, "last_reroute_ms", reroute_phase, m->reroute_ms, IBF_REROUTE_PHASES);
	else
		fputs("\"last_reroute_ms\":null", out);
	fputs("}\n", out);
}
