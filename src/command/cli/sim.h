/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * sim: the program ibfattree-simulate (sim.c, sim_main.c), its input (sim_input.c), the schedule of
 * faults and tables (sim_schedule.c, sim_writes.c), and its results (sim_results.c).
 */
#ifndef FTR_CLI_SIM_H
#define FTR_CLI_SIM_H

#include <ftr/sim.h>

#include "cli/cli.h"
#include "cli/whatif.h"

/* The options are stored here; those that the simulator knows, in conf. */
struct cli_sim {
	struct ftr_sim_conf conf;
	struct cli_in in;
	const char *lfts, *sl2vl, *psl, *function, *pairs, *steps, *schedule;
	const char *load, *switch_load;
	char *weights;
	uint64_t write_ps;	/* time between two writes of new tables; 0: all at once */
	unsigned int worst;
	bool plain, parts;
	ftr_ep hot[CLI_LIST_MAX];	/* conf.traffic.hot */

	struct ftr_shape *sh;	/* shape of the fabric; NULL: it has no ranks, or no shape is
				 * needed */
	struct cli_shaping shaping;
	struct ftr_sim_change *change;
	uint32_t n_changes, cap_changes;
	/* state while the schedule is applied */
	uint64_t at;			/* time and number of the present record */
	unsigned int number;
	struct cli_faults down;		/* the faults at this time */
	struct ftr_tables *now;		/* with --write-time: the tables at this time */
	struct ftr_sim_result *result;	/* [conf.runs] */
	double seconds;
};

extern const struct cli_cmd cli_sim_program;
/* The routing functions of --function, ended by NULL.  Another program can set others. */
extern const struct ftr_sim_function *const *cli_sim_functions;

/* These functions die after an error. */
void cli_sim_read(struct cli_sim *j, const char *fabric);
/* Returns the tables of the engine for f, and stores the shape of f in *sh. */
struct ftr_tables *cli_sim_route(const struct cli_sim *j,
				 const struct ftr_fabric *f, struct ftr_shape **sh);
void cli_sim_schedule(struct cli_sim *j);
void cli_sim_add(struct cli_sim *j, const struct ftr_sim_change *g);
/* Prints the results as JSON. */
int cli_sim_results(const struct cli_sim *j);

/* Adds the writes that replace the tables j->now by `to`, beginning at time j->at, with write_ps
 * between two of them.  Switches that are down get no writes. */
void cli_sim_write(struct cli_sim *j, const struct ftr_tables *to);
/* Switch s loses all entries at time j->at.  They are cleared in j->now, too. */
void cli_sim_clear(struct cli_sim *j, ftr_sw s);

#endif
