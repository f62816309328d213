/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * whatif: faults (fault.c), measurements of tables on a fabric (measure.c), and
 * output (whatif_show.c).
 */
#ifndef FTR_CLI_WHATIF_H
#define FTR_CLI_WHATIF_H

#include <pthread.h>

#include <ftr/ftr.h>

#include "cli/cli.h"

/* ---- faults ------------------------------------------------------------ */

/* Faults given by the user: named switches and links, and numbers of random faults. */
struct cli_faults {
	uint8_t *dead_sw;	/* [n_sw] 1: the switch fails */
	uint8_t *dead_port;	/* [n_ports] 1: the link at this port fails; set for both ends */
	bool named;		/* at least one of them is given by name */
	uint32_t links, switches;	/* numbers of random faults, drawn with the seed */
};

/* Parses the faults in specs; dies if one is not valid.  option: the option that gave them, for
 * error messages. */
struct cli_faults cli_faults_parse(const struct ftr_fabric *f, const char *option,
				   const struct cli_list *specs);
void cli_faults_free(struct cli_faults *z);

/* Returns a copy of f with the faults.  Hosts that lose their link stay in the fabric.  Aggregation
 * Nodes are removed with their switch. */
struct ftr_fabric *cli_faults_apply(const struct ftr_fabric *f,
				    const struct cli_faults *z, uint64_t seed);

/* ---- measures ---------------------------------------------------------- */

enum cli_metric {
	CLI_M_SWITCHES = 0, CLI_M_END_PORTS, CLI_M_LINKS,
	CLI_M_PAIRS,		/* pairs of each class; not shown in the table */
	/* unreachable pairs of each class */
	CLI_M_LOST = CLI_M_PAIRS + FTR_N_CHECK_CLASSES,
	/* pairs of host ports without a physical path */
	CLI_M_CUT = CLI_M_LOST + FTR_N_CHECK_CLASSES,
	CLI_M_NO_PATH,		/* unreachable pairs of host ports without an up/down path */
	CLI_M_FOUND,		/* number of findings of each kind (enum ftr_finding) */
	CLI_M_CYCLE = CLI_M_FOUND + FTR_N_FINDINGS,
	CLI_M_HOPS,
	/* link loads */
	CLI_M_ALL_MAX, CLI_M_ALL_LOST, CLI_M_ALL_BOUND,
	/* percentage of the bandwidth of all-to-all traffic that the drains cost; number of host
	 * ports that are reached only over drained parts */
	CLI_M_DRAINED, CLI_M_DRAINED_ONLY,
	CLI_M_SHIFT_MAX, CLI_M_SHIFT_WORST, CLI_M_SHIFT_MEAN,
	CLI_M_GIVEN_MAX, CLI_M_GIVEN_LOST,
	CLI_M_ENTRIES, CLI_M_BLOCKS, CLI_M_CHANGED,
	CLI_M_WRITES, CLI_M_STEPS, CLI_M_UNREPAIRED,	/* of a local repair */
	CLI_M_ROUTE_MS,
	CLI_N_METRICS
};

/* A value that was not measured is a NaN. */
struct cli_measure {
	double v[CLI_N_METRICS];
	bool bad;		/* ibfattree check would report findings for these tables */
	struct json_object *details;	/* what --details adds to the run; NULL: nothing */
};

/* Checks t, the tables of the fabric of sh.  how: only the members sl2vl (NULL: all traffic on one VL)
 * and base are used.  The caller frees *reach. */
void cli_measure(const struct ftr_shape *sh, const struct ftr_tables *t,
		 const struct ftr_check_opts *how, struct ftr_team *team,
		 struct cli_measure *out, struct cli_reach *reach);
/* Maximum number of shifts to count.  With 11,664 hosts, 1000 shifts take well below a second per
 * set of tables.  If there are more, a random sample is drawn with a fixed seed. */
#define CLI_SHIFTS_MAX 1000

struct cli_loads {
	const uint64_t *place;	/* [n] the host order, as port GUIDs; a place is a gap if its GUID
				 * is 0 or not in the fabric */
	uint32_t n;
	const char *patterns;	/* file of pairs, or NULL */
	/* [n_ends] port GUIDs of these pairs: sender, receiver, sender, ... */
	uint64_t *ends;
	uint32_t n_ends;
	/* what to measure: the load of all-to-all traffic, of shifts; whatif's column "not
	 * rerouted" */
	bool all, shifts, stale;
};
/* The host ports of f with these GUIDs; FTR_EP_NONE: there is none.  The caller frees their array. */
struct ftr_order cli_hosts_at(const struct ftr_fabric *f, const uint64_t *guid, uint32_t n);
/* Counts link loads, as *what requires, except those that cli_measure() has set. */
void cli_measure_load(const struct ftr_shape *sh, const struct ftr_tables *t,
		      const struct cli_loads *what, struct ftr_team *team, struct cli_measure *out);
void cli_measure_churn(struct cli_measure *out, const struct ftr_tables_diff *d);

/* details.c.  cli_details_fabric: add f and the places of its switches in the tree to o.  sh: NULL
 * without ranks.  load: flows of all-to-all at each port, or NULL.  cli_details: also add these lists
 * of host ports. */
void cli_details_fabric(struct json_object *o, const struct ftr_fabric *f,
			const struct ftr_shape *sh, const uint64_t *load);
void cli_details(struct json_object *o, const struct ftr_shape *sh, struct ftr_order order,
		 struct ftr_order ends, const uint64_t *load);

/* ---- columns ----------------------------------------------------------- */

struct cli_column {
	const char *title;	/* a constant, or the path of the given tables */
	const char *kind;	/* "before", "not_rerouted", ... for JSON */
	unsigned int n;		/* number of runs: 1, or one per seed */
	struct cli_measure *run;
	/* Unreachable pairs in run worst_run, the first of the runs with the most unreachable
	 * pairs of host ports.  Nodes are numbered as in the undamaged fabric. */
	struct cli_reach worst;
	unsigned int worst_run;
	bool any;		/* at least one run is finished */
};

/* Adds the part that the word names to d (drain.c). */
void cli_drain_word(struct ftr_drains *d, const struct ftr_fabric *f, const char *word);

/* The command: options, state and results. */
struct cli_whatif {
	struct cli_in in;
	struct cli_list fail, drain, compare;
	const char *metrics, *details;
	struct {
		const char *list, *until;
		unsigned int first;	/* run of the present batch */
	} survival;
	uint64_t seed;
	unsigned int repeat, vls;
	bool list, local, guarantee;

	struct cli_shaping shaping;
	struct ftr_team *inner;		/* the threads of one run; NULL: one */
	struct ftr_fabric *f;		/* the undamaged fabric */
	struct cli_faults faults;
	struct ftr_drains drains;
	struct ftr_shape *sh;		/* shape of f */
	struct ftr_tables *before;	/* tables of f; NULL without --fail, --drain and
					 * --guarantee */
	struct ftr_tables **tables;	/* [threads] of the last run of each thread */
	struct ftr_route_base *base;	/* made from them if there are several runs; or NULL */
	struct ftr_check_base *checked;
	struct ftr_turn *turn;		/* extra turns of these tables */
	uint32_t n_turns;
	struct ftr_sl2vl *vl_map;	/* SL2VL tables of ddlr for f, see cli_vls; or NULL */
	struct cli_loads loads;
	unsigned int done;		/* number of finished runs */
	pthread_mutex_t lock;		/* for done, and for the worst run of each column */
	struct ftr_tables *given[CLI_LIST_MAX];	/* with --live, given[0] are the tables in use */
	struct cli_column col[4 + CLI_LIST_MAX];
	unsigned int n_col;
};

/* Adds the values to o. */
void cli_measure_json(struct json_object *o, const struct cli_measure *m);
/* Both functions print the columns and return status, or CLI_BAD on failure. */
int cli_whatif_table(const struct cli_whatif *v, int status);
int cli_whatif_json(const struct cli_whatif *v, int status);

/* The columns of a row of --survival: a number of random link faults, the number of fault sets, and
 * of those after which every two host ports have a physical path (CLI_BY_CABLING), a path in the
 * tables after a local repair (CLI_BY_REPAIR), or in the engine's new tables (CLI_BY_TABLES). */
enum {
	CLI_FAILED_LINKS, CLI_SETS, CLI_BY_CABLING, CLI_BY_REPAIR, CLI_BY_TABLES, CLI_N_SURVIVAL
};
/* Returns true if the 95 % confidence interval of each share is at most 2 * until wide. */
bool cli_survival_known(const unsigned int row[CLI_N_SURVIVAL], double until);
/* Prints n rows. */
int cli_whatif_survival(const struct cli_whatif *v, unsigned int row[][CLI_N_SURVIVAL],
			unsigned int n);

#endif
