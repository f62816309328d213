/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * sim: the program ibfattree-sim (sim.c, sim_main.c), its input (sim_input.c), the schedule of
 * faults and tables (sim_schedule.c, sim_writes.c, sim_events.c), and the output (sim_show.c,
 * sim_json.c).  "ibfattree sim" starts this program.
 */
#ifndef FTR_CLI_SIM_H
#define FTR_CLI_SIM_H

#include <ftr/sim.h>

#include "cli/cli.h"
#include "cli/whatif.h"

enum cli_sim_order { CLI_SIM_ORDERED, CLI_SIM_PLAIN };

/* The options are stored here; those that the simulator knows, in conf. */
struct cli_sim {
	struct ftr_sim_conf conf;
	struct cli_in in;
	struct cli_engine engine;
	struct cli_list hot, fail, recover, tables, reroute, events;
	const char *lfts, *sl2vl, *psl, *function, *pairs, *steps, *weights;
	uint64_t events_at;	/* ps */
	uint64_t write_ps;	/* time between two writes of new tables; 0: all at once */
	unsigned int write_order;	/* of enum cli_sim_order */
	unsigned int arrivals, worst;

	const char *fabric;	/* path of the fabric's file, or of a directory of dumps */
	const char *source;	/* origin of the tables, as text */
	struct ftr_shape *sh;	/* shape of the fabric; NULL: it has no ranks, or no shape is
				 * needed */
	struct cli_shaping shaping;
	struct ftr_sim_change *change;
	uint32_t n_changes, cap_changes;
	uint32_t n_links_down, n_links_up;	/* numbers of failures and returns of links in
						 * change[] */
	struct ftr_sim_result *result;	/* [conf.runs] */
	double seconds;
};

extern const struct cli_cmd cli_sim_program;
/* The routing functions of --function, ended by NULL.  Another program can set others. */
extern const struct ftr_sim_function *const *cli_sim_functions;

void cli_sim_read(struct cli_sim *j);

/* Returns the tables of the engine for f, and stores the shape of f in *sh. */
struct ftr_tables *cli_sim_route(const struct cli_sim *j,
				 const struct ftr_fabric *f, struct ftr_shape **sh);
void cli_sim_schedule(struct cli_sim *j);
/* Adds the changes in an events file to change[].  Free change[] also after an error. */
enum ftr_status cli_sim_events(struct cli_sim *j, const char *path,
			       struct ftr_err *err) FTR_MUST_USE;
enum ftr_status cli_sim_add(struct cli_sim *j, const struct ftr_sim_change *g,
			    struct ftr_err *err) FTR_MUST_USE;

/* Adds the writes that replace the tables `now` by `to`, beginning at time `at`, with write_ps
 * between two of them.  down: [n_sw] 1: the switch is down and gets no writes. */
void cli_sim_write(struct cli_sim *j, uint64_t at, const struct ftr_tables *now,
		   const struct ftr_tables *to, const uint8_t *down);
/* Switch s loses all entries at time `at`.  They are cleared in `now`, too. */
void cli_sim_clear(struct cli_sim *j, uint64_t at, struct ftr_tables *now, ftr_sw s);

/* ---- results ----------------------------------------------------------- */

struct cli_sim_class_sum {
	bool any;
	/* means over the runs: load that arrived, and load that was generated, as fractions of
	 * capacity; accepted Mbit/s per source; accepted Gbit/s of all sources */
	double accepted, offered, mbps, total_gbps;
	double sd;		/* sample standard deviation of accepted */
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
double cli_sim_seconds(const struct cli_sim *j, const struct ftr_sim_result *r);
/* Returns the load from host ports, or from ports 0, that arrived, as a fraction of capacity. */
double cli_sim_accepted(const struct cli_sim *j, const struct ftr_sim_result *r, bool host);
void cli_sim_sum(const struct cli_sim *j, struct cli_sim_sum *out);
/* Stores the most used channels between switches, at most n, in out.  Returns their number. */
uint32_t cli_sim_worst(const struct cli_sim *j, uint32_t n, struct cli_sim_use *out);
extern const char *const cli_sim_loss_key[FTR_SIM_N_LOSSES];

void cli_sim_show(const struct cli_sim *j, const struct cli_sim_sum *s);
int cli_sim_json(const struct cli_sim *j, const struct cli_sim_sum *s, int status);

#endif
