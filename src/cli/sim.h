/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * sim: the command (sim.c), its input (sim_input.c), the schedule of faults and tables
 * (sim_schedule.c, sim_events.c), and the output (sim_show.c, sim_json.c, sim_svg.c).
 */
#ifndef FTR_CLI_SIM_H
#define FTR_CLI_SIM_H

#include "cli/cli.h"
#include "cli/whatif.h"

struct cli_sim {
	struct cli_engine engine;
	const char *lfts, *sl2vl, *psl;
	const char *function, *order, *pairs;
	struct cli_guid_files files;
	struct cli_list hot, fail, recover, tables, reroute, events;
	const char *load, *switch_load, *duration, *warmup, *check;
	const char *link_delay, *switch_delay, *events_at, *weights, *svg;
	unsigned int pattern, shift, hot_percent, arrivals, queues, packet;
	unsigned int buffer, switch_buffer, speedup, vls, switch_rate, rate;
	unsigned int host_sl, switch_sl, runs;
	unsigned int series, worst, lmc, threads;
	bool tolerant;
	uint64_t seed;
	bool stop, json;
};

struct cli_sim_job {
	const struct cli_sim *o;
	const char *fabric;	/* path of the fabric's file, or of a directory of dumps */
	const char *source;	/* origin of the tables, as text */
	struct ftr_team *team;
	struct ftr_fabric *f;
	struct ftr_shape *sh;	/* shape of f; NULL: f has no ranks, or no shape is needed */
	struct ftr_shape_opts shape_opts;
	struct ftr_tables *t;
	struct ftr_sl2vl *sl2vl;
	struct ftr_path_sl *psl;
	ftr_ep *order;
	uint32_t n_order;
	struct ftr_load_pair *pair;
	uint32_t n_pairs;
	ftr_ep hot[CLI_LIST_MAX];
	struct ftr_sim_change *change;
	uint32_t n_changes, cap_changes;
	uint32_t n_links_down, n_links_up;	/* numbers of failures and returns of links in
						 * change[] */
	struct ftr_tables *later[2 * CLI_LIST_MAX];	/* tables of --tables and --reroute */
	unsigned int n_later;
	struct ftr_sim_conf conf;
	struct ftr_sim_result *result;	/* [conf.runs] */
	double seconds;
};

/* Converts a time ("1.5ms", "20us", "300ns", "10ps") to picoseconds.  If text is not a time, dies
 * with an error that names the option. */
uint64_t cli_sim_time(const char *option, const char *text);
/* Splits "WHAT@TIME" at the last '@'.  Returns WHAT, malloc()ed, and stores TIME in *ps. */
char *cli_sim_at(const char *option, const char *text, uint64_t *ps);

void cli_sim_read(struct cli_sim_job *j);
void cli_sim_free(struct cli_sim_job *j);

/* Returns the tables of the engine for f, and stores the shape of f in *sh. */
struct ftr_tables *cli_sim_route(const struct cli_sim_job *j,
				 const struct ftr_fabric *f, struct ftr_shape **sh);
void cli_sim_schedule(struct cli_sim_job *j);
enum ftr_status cli_sim_events(struct cli_sim_job *j, const char *path,
			       uint64_t at, struct ftr_err *err) FTR_MUST_USE;
enum ftr_status cli_sim_add(struct cli_sim_job *j,
			    const struct ftr_sim_change *g,
			    struct ftr_err *err) FTR_MUST_USE;

/* ---- results ----------------------------------------------------------- */

/* Mean and sample standard deviation over the runs. */
struct cli_sim_mean {
	double mean, sd;
};

struct cli_sim_class_sum {
	bool any;
	struct cli_sim_mean accepted;	/* load that arrived, as a fraction of capacity */
	struct cli_sim_mean offered;	/* load that was generated, as a fraction of capacity */
	struct cli_sim_mean mbps;	/* accepted Mbit/s per source */
	double total_gbps;
	double latency_ns[5];	/* mean; 50th, 95th and 99th percentile; maximum */
	double network_ns;	/* mean latency since the source began to send the packet */
};

struct cli_sim_sum {
	struct cli_sim_class_sum host, sw;
	uint64_t injected, delivered, in_flight, lost[FTR_SIM_N_LOSSES];
	uint64_t all_lost, hops, events, memory;
	uint32_t deadlocks;	/* number of runs with a deadlock */
	uint32_t first_deadlock;	/* index of the first such run; UINT32_MAX: none */
	uint32_t max_hops;
	double max_use, mean_use;	/* utilisation of links between switches, 0 to 1 */
};

#define CLI_SIM_WORST_MAX 64
struct cli_sim_use {
	const struct ftr_sim_channel_use *c;
	double use;		/* fraction of the time in which c was busy, mean over runs */
};

/* Returns the number of simulated seconds that were measured: fewer than configured if the run was
 * stopped at a deadlock. */
double cli_sim_seconds(const struct cli_sim_job *j, const struct ftr_sim_result *r);
bool cli_sim_between_switches(const struct cli_sim_job *j,
			      const struct ftr_sim_channel_use *c);
void cli_sim_sum(const struct cli_sim_job *j, struct cli_sim_sum *out);
/* Stores the most used channels between switches, at most n, in out.  Returns their number. */
uint32_t cli_sim_worst(const struct cli_sim_job *j, uint32_t n,
		       struct cli_sim_use *out);
extern const char *const cli_sim_loss_key[FTR_SIM_N_LOSSES];

void cli_sim_show(const struct cli_sim_job *j, const struct cli_sim_sum *s);
int cli_sim_json(const struct cli_sim_job *j, const struct cli_sim_sum *s,
		 int status);
/* Writes PREFIX-latency.svg, PREFIX-links.svg and, with --series, PREFIX-series.svg.  PREFIX is
 * o.svg. */
void cli_sim_svg(const struct cli_sim_job *j);

#endif
