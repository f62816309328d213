/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * cli: the command ibfattree.  It handles arguments and prints results; everything
 * else is done by functions of the public headers.
 *
 * Each command is one struct cli_cmd with one table of options.  This table is used to parse the
 * options, to set their defaults, to print --help and to generate the bash completion.  A test
 * compares it with the manual page of the command.
 *
 * Results go to stdout, as text or, with --json, as one JSON object.  Errors and
 * notes go to stderr as "ibfattree: message".  Exit status: 0 clean, 1 findings,
 * 2 bad input or a failure of the command itself.
 *
 * A command that cannot continue ends the program with cli_die or cli_must.  Most functions do the
 * same.  A function returns a status if one of its callers (the command doctor, for instance)
 * continues after an error.
 */
#ifndef FTR_CLI_CLI_H
#define FTR_CLI_CLI_H

#include <stdio.h>
#include <stdlib.h>

#include <ftr/ftr.h>

#include "cli/reach.h"

enum cli_exit {
	CLI_CLEAN = 0,
	CLI_FINDINGS = 1,
	CLI_BAD = 2
};

/* ---- options (opts.c) -------------------------------------------------- */

enum cli_kind {
	CLI_FLAG,		/* bool */
	CLI_STRING,		/* const char * */
	CLI_FILE,		/* like CLI_STRING; bash completes file names */
	CLI_UINT,		/* unsigned int, min .. max */
	CLI_U64,		/* uint64_t, decimal or 0x... */
	CLI_WORD,		/* unsigned int: index of the given word in arg ("one|two") */
	CLI_ENGINE,		/* const struct ftr_engine_ops * */
	CLI_LIST,		/* struct cli_list; may be given more than once */
	CLI_FILES		/* like CLI_LIST; bash completes file names */
};

#define CLI_LIST_MAX 64

struct cli_list {
	unsigned int n;
	const char *v[CLI_LIST_MAX];
};

struct cli_opt {
	const char *name;	/* long name without the dashes */
	enum cli_kind kind;
	size_t at;		/* offset of the value in the command's struct */
	const char *arg;	/* placeholder for the value in --help */
	const char *help;
	const char *def;	/* default, parsed like a value given by the user; NULL: none */
	unsigned int min, max;	/* CLI_UINT */
};

struct cli_cmd {
	const char *name;	/* "gen" */
	const char *summary;	/* one line for ibfattree --help */
	const char *args;	/* "SHAPE" */
	const char *text;	/* description for --help, a few lines */
	const struct cli_opt *opts;	/* ends with an entry whose name is NULL */
	int min_args, max_args;
	int (*run)(int argc, char **argv);	/* argv[0] is the command's name */
};

extern const struct cli_cmd cli_gen, cli_route, cli_check, cli_load;
extern const struct cli_cmd cli_diff, cli_whatif, cli_sim, cli_completion;
extern const struct cli_cmd cli_doctor, cli_save, cli_restore;
extern const struct cli_cmd cli_html, cli_slurm, cli_ranks, cli_top;
/* The commands that the completion offers, terminated by NULL; set by main(). */
extern const struct cli_cmd *const *cli_completed;

/*
 * Stores the defaults, and then the given options, in *conf, the command's struct.  Moves the
 * arguments to argv[0 .. n - 1] and returns n.  --help, a bad option, or a wrong number of
 * arguments ends the program.
 */
int cli_parse(const struct cli_cmd *cmd, void *conf, int argc, char **argv);

/* ---- errors (die.c) ---------------------------------------------------- */

/* Prints a note or an error; always returns CLI_BAD. */
int cli_error(const char *fmt, ...) FTR_PRINTF(1, 2);
/* Prints an error and ends the program with CLI_BAD. */
_Noreturn void cli_die(const char *fmt, ...) FTR_PRINTF(1, 2);
/* Makes cli_die call fn before it prints the error.  A second call with the same fn does
 * nothing. */
void cli_before_death(void (*fn)(void));
/* Error argument for library calls.  cli_must prints its message. */
extern struct ftr_err cli_err;
/* If st is not FTR_OK, dies with the message in cli_err. */
void cli_must(enum ftr_status st);
/* Returns n zeroed elements of size bytes, never NULL.  If memory is exhausted, dies with "out of
 * memory for PURPOSE", where fmt and its arguments give PURPOSE. */
void *cli_calloc(size_t n, size_t size, const char *fmt, ...) FTR_PRINTF(3, 4);
/* Ends the program, with status CLI_BAD if stdout could not be written. */
_Noreturn void cli_exit(int status);

/* Options that several commands have.  s: the struct type that holds the command's options. */
#define CLI_OPT_JSON(s) \
	{ "json", CLI_FLAG, offsetof(s, json), NULL, \
	  "print one JSON object; see ibfattree-json(5)", NULL, 0, 0 }
#define CLI_OPT_THREADS(s) \
	{ "threads", CLI_UINT, offsetof(s, threads), "N", \
	  "number of threads; 0: one per core", "0", 0, FTR_TEAM_MAX }
/* depth: the default value of --balance */
#define CLI_OPTS_ENGINE(s, depth) \
	{ "engine", CLI_ENGINE, offsetof(s, engine.ops), "NAME", \
	  "routing engine", "dmodc", 0, 0 }, \
	{ "balance", CLI_WORD, offsetof(s, engine.balance), \
	  "off|load|full", "load: balance all-to-all traffic; full: also shift permutations", \
	  depth, 0, 0 }, \
	{ "paths", CLI_WORD, offsetof(s, engine.paths), "all|updown", \
	  "dmodc: connect all host ports, or use only up/down paths", \
	  "all", 0, 0 }, \
	{ "sm-switch", CLI_U64, offsetof(s, engine.sm_switch), "GUID", \
	  "sftree: node GUID of the subnet manager's switch; 0: not given", "0", 0, 0 }
#define CLI_OPT_ROOTS(s) \
	{ "roots", CLI_FILE, offsetof(s, files.roots), "FILE", \
	  "node GUIDs of the root switches", NULL, 0, 0 }
#define CLI_OPTS_GUIDS(s) \
	CLI_OPT_ROOTS(s), \
	{ "cn", CLI_FILE, offsetof(s, files.cn), "FILE", \
	  "port GUIDs of the compute nodes", NULL, 0, 0 }, \
	{ "io", CLI_FILE, offsetof(s, files.io), "FILE", \
	  "port GUIDs of the I/O nodes", NULL, 0, 0 }
#define CLI_OPT_LEAF_ORDER(s) \
	{ "leaf-order", CLI_WORD, offsetof(s, leaf_order), "guid|name", \
	  "order of leaves within a pod", "guid", 0, 0 }
#define CLI_OPT_NOMINAL(s) \
	{ "nominal", CLI_FILE, offsetof(s, nominal), "FILE", \
	  "complete fabric: a state file of the plugin, or a fabric file", NULL, 0, 0 }
#define CLI_OPT_LMC(s) \
	{ "lmc", CLI_UINT, offsetof(s, lmc), "N", \
	  "2^N LIDs for each host port that has no LID", "0", 0, FTR_LMC_MAX }
#define CLI_OPT_TOLERANT(s) \
	{ "tolerant", CLI_FLAG, offsetof(s, tolerant), NULL, \
	  "ignore links that only one end reports", NULL, 0, 0 }
#define CLI_OPT_OUTPUT(s) \
	{ "output", CLI_FILE, offsetof(s, output), "FILE", \
	  "write to FILE instead of stdout", NULL, 0, 0 }
#define CLI_OPT_CONF(s) \
	{ "conf", CLI_FILE, offsetof(s, conf), "FILE", \
	  "path of opensm.conf, if not in /etc/opensm or /etc/rdma", NULL, 0, 0 }
#define CLI_OPT_LIST(s) \
	{ "list", CLI_FLAG, offsetof(s, list), NULL, \
	  "list all unreachable nodes, not only the first 10", NULL, 0, 0 }
#define CLI_OPT_ORDER(s) \
	{ "order", CLI_FILE, offsetof(s, order), "FILE", \
	  "order of host ports (opensm-*-ca-order.dump)", NULL, 0, 0 }
#define CLI_OPTS_FAULTS(s) \
	{ "fail", CLI_LIST, offsetof(s, fail), "SPEC", \
	  "fault: SWITCH, SWITCH[PORT], [N|N%](links|switches)", \
	  NULL, 0, 0 }, \
	{ "seed", CLI_U64, offsetof(s, seed), "N", \
	  "seed of the random faults", "0", 0, 0 }
#define CLI_OPT_END { NULL, CLI_FLAG, 0, NULL, NULL, NULL, 0, 0 }

/* ---- shared by several commands (common.c) ----------------------------- */

/* An engine and its options, set by CLI_OPTS_ENGINE. */
struct cli_engine {
	const struct ftr_engine_ops *ops;
	unsigned int balance;
	unsigned int paths;	/* enum ftr_paths */
	uint64_t sm_switch;	/* node GUID; 0: not given */
};

/* Returns the options for routing f, a damaged fabric.  Ignores an sm_switch that is not in f. */
struct ftr_route_opts cli_damaged_opts(const struct cli_engine *e,
				       const struct ftr_fabric *f);
/* Like cli_damaged_opts, but dies if sm_switch is not a switch of f. */
struct ftr_route_opts cli_route_opts(const struct cli_engine *e,
				     const struct ftr_fabric *f);

struct cli_guid_files {
	const char *roots, *cn, *io;
};

/* Like ftr_read_fabric, but dies after an error.  If tolerant is true, a link that only one end
 * reports is left out, with a note on stderr. */
struct ftr_fabric *cli_read_fabric(const char *path, unsigned int lmc, bool tolerant);

/* Reads the files into opts->roots, cn and io.  Free these lists with cli_free_guids. */
enum ftr_status cli_read_guids(const struct cli_guid_files *files,
			       struct ftr_shape_opts *opts,
			       struct ftr_err *err) FTR_MUST_USE;
void cli_free_guids(struct ftr_shape_opts *opts);

/*
 * Makes the nominal fabric for opts->nominal: the union of f and the file at path (a state
 * file of the plugin, or any fabric file).  Prints a note on stderr if the file lacks parts of f,
 * or if it belongs to another fabric and is not used.  If path is NULL and faults is true (the
 * caller will apply faults to f), the nominal fabric is f.  If path is NULL and faults is false,
 * *out is NULL.
 */
enum ftr_status cli_nominal(const char *path, const struct ftr_fabric *f,
			    bool faults, const struct ftr_shape_opts *opts,
			    struct ftr_team *team, struct ftr_nominal **out,
			    struct ftr_err *err) FTR_MUST_USE;
/* Makes the shape of f.  The nominal fabric is the one that cli_nominal makes from f and path with
 * faults false. */
enum ftr_status cli_shape(const char *path, const struct ftr_fabric *f,
			  const struct ftr_shape_opts *opts,
			  struct ftr_team *team, struct ftr_shape **out,
			  struct ftr_err *err) FTR_MUST_USE;

/* Like cli_shape, but reads the GUIDs from the files, uses the given order of leaves, and has
 * defaults for all other options. */
enum ftr_status cli_shape_with(const struct cli_guid_files *files,
			       const char *path, const struct ftr_fabric *f,
			       enum ftr_leaf_order order,
			       struct ftr_team *team, struct ftr_shape **out,
			       struct ftr_err *err) FTR_MUST_USE;

/* Prints a note on stderr for each of the options --roots, --cn and --io whose file names nothing
 * in the fabric, and for each root switch that is not in the file of --roots. */
void cli_note_files(const struct ftr_shape *sh);

/* Returns the host order of sh, malloc()ed, with *n places.  FTR_EP_NONE: a place without a host (a
 * gap). */
ftr_ep *cli_host_order(const struct ftr_shape *sh, uint32_t *n);
/* Like cli_host_order, but returns port GUIDs, which are valid in a damaged fabric, too; 0: a gap.
 * If with_gaps is false, removes gaps as cli_drop_gaps does. */
uint64_t *cli_host_guids(const struct ftr_shape *sh, bool with_gaps, uint32_t *n);
/* Removes gaps, and host ports without a LID or a link, from the order: the MPI ranks of a job are
 * numbered without them.  Returns the number of removed places. */
uint32_t cli_drop_gaps(const struct ftr_fabric *f, ftr_ep *order, uint32_t *n);
/* Computes a lower bound for the number of flows on the most loaded link, if all host ports of
 * `order` send to each other.  The bound holds for any routing with a path between each two of
 * these ports that are physically connected.  Gaps, and host ports without a LID or a link, are
 * ignored.  *bound is 0 if no flow crosses a link. */
enum ftr_status cli_bound(const struct ftr_shape *sh, const ftr_ep *order,
			  uint32_t n, double *bound,
			  struct ftr_err *err) FTR_MUST_USE;

/* ---- output files (output.c) ------------------------------------------- */

/*
 * Writes a file atomically: fn writes to a temporary file in the same directory,
 * which is then renamed to path.  path NULL or "-": stdout.  Dies if the file cannot be
 * written.  Not thread-safe.
 */
typedef enum ftr_status (*cli_write_fn)(FILE *out, const void *ctx,
					struct ftr_err *err);
void cli_write(const char *path, cli_write_fn fn, const void *ctx);
/*
 * Files written between cli_write_begin and cli_write_end appear together: cli_write_end
 * renames all of them, cli_die removes them.  stdout, pipes and devices are written directly,
 * so write to them last.
 */
void cli_write_begin(void);
void cli_write_end(void);
/* Dies if one of the output files is also an input file; entries may be NULL. */
void cli_check_inputs(const char *cmd, const char *const *out,
		      unsigned int n_out, const char *const *in,
		      unsigned int n_in);
/* Dies if two of these n output files are the same; entries may be NULL.  reported: true if the
 * command also prints a report to stdout. */
void cli_check_outputs(const char *cmd, bool reported, const char *const *path,
		       unsigned int n);

/* Like ftr_read_lfts.  Notes on stderr report switches of the file that are not in f, and switches
 * of f without a table.  If missing is not NULL, *missing is set to the number of switches without
 * a table, and no note reports them. */
enum ftr_status cli_read_lfts(const char *path, const struct ftr_fabric *f,
			      struct ftr_tables **out, uint32_t *missing,
			      struct ftr_err *err) FTR_MUST_USE;

/* Returns "DIR/NAME", malloc()ed. */
char *cli_path(const char *dir, const char *name);

struct cli_tables_of {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
};
struct cli_sl2vl_of {
	const struct ftr_fabric *f;
	const struct ftr_sl2vl *m;	/* NULL: each SL uses the VL of the same number */
};
enum ftr_status cli_write_sl2vl_fn(FILE *out, const void *sl2vl_of,
				   struct ftr_err *err);
enum ftr_status cli_write_fabric_fn(FILE *out, const void *fabric,
				    struct ftr_err *err);
enum ftr_status cli_write_tables_fn(FILE *out, const void *tables_of,
				    struct ftr_err *err);

/* Unpacks gzip and xz files (unpack.c); passed to ftr_set_unpacker. */
extern const struct ftr_unpacker cli_unpacker;

double cli_now(void);		/* seconds of the monotonic clock */

static inline double cli_mean(uint64_t sum, uint64_t n)	/* 0 if n is 0 */
{
	return n ? (double)sum / (double)n : 0;
}

/* Writes n to buf in the form "1,234,567".  buf holds at least CLI_NUM_MAX bytes. */
#define CLI_NUM_MAX 32
const char *cli_num(char *buf, uint64_t n);
/* Writes n and the word `one` or `many` to buf: "1 switch", "1,620 switches".  The word is truncated
 * if buf, with CLI_COUNT_MAX bytes, is too small. */
#define CLI_COUNT_MAX 80
const char *cli_count(char *buf, uint64_t n, const char *one, const char *many);

/* ---- names (names.c); buf holds at least CLI_NAME_MAX bytes ------------ */

#define CLI_NAME_MAX 384
const char *cli_sw_name(char *buf, const struct ftr_fabric *f, ftr_sw s);
/* Writes the name of a host port, with its base LID if it has one. */
const char *cli_ep_name(char *buf, const struct ftr_fabric *f, ftr_ep e);
const char *cli_lid_name(char *buf, const struct ftr_fabric *f, ftr_lid lid);
/* Writes the link at a port of s in the form "near" port 3 -> "far" port 7.  buf holds at least
 * CLI_LINK_MAX bytes. */
#define CLI_LINK_MAX (2 * CLI_NAME_MAX + 32)
const char *cli_link_name(char *buf, const struct ftr_fabric *f, ftr_sw s,
			  unsigned int port);
/* Like cli_link_name, but without a direction: "near" port 3 - "far" port 7. */
const char *cli_ends_name(char *buf, const struct ftr_fabric *f, ftr_sw s,
			  unsigned int port);

/* Finds a switch (find.c) by its name, its GUID, or a part of its name that no other switch name
 * contains.  *part: true if word is only a part of the name. */
enum ftr_status cli_find_switch(const struct ftr_fabric *f, const char *word,
				ftr_sw *out, bool *part,
				struct ftr_err *err) FTR_MUST_USE;

/* ---- terminal (term.c) ------------------------------------------------- */

enum cli_colour { CLI_PLAIN = 0, CLI_GOOD, CLI_WRONG, CLI_DOUBT };

/* Returns the escape sequence that starts the colour, or "" if stdout is not a terminal with
 * colours.  The sequence of CLI_PLAIN ends any colour. */
const char *cli_colour(enum cli_colour c);

/*
 * Progress line on stderr: current step, elapsed time, fraction done.  It appears after two
 * seconds, and only if stderr is a terminal.  `what` must be a constant string.
 * cli_progress_end removes the line, if there is one.
 */
void cli_progress(const char *what);
void cli_progress_step(unsigned int done, unsigned int of);
void cli_progress_end(void);

/* ---- the report of a check (report.c) ---------------------------------- */

struct cli_report_opts {
	const char *source;	/* origin of the tables, as text */
	uint32_t missing;	/* number of switches without a table */
	uint32_t silent;	/* number of links whose far end does not answer */
	bool strict;
	bool switch_sources;
	bool json;
	bool list;		/* list all affected nodes */
	const char *sl2vl, *psl;	/* file names, NULL: not given */
	uint32_t no_sl2vl;	/* number of switches that sl2vl does not contain */
	const uint64_t *hops;	/* result of ftr_check_hops; NULL: hops were not counted */
};

/* Content of a report, computed once for text and JSON. */
struct cli_verdict {
	struct cli_reach reach;	/* unreachable pairs */
	/* [class of pairs] true: unreachable pairs of this class are a finding */
	bool class_bad[FTR_N_CHECK_CLASSES];
	bool found;		/* at least one finding */
};

extern const char *const cli_finding_key[FTR_N_FINDINGS];

/* sh may be NULL.  Free the result with cli_reach_free(&v->reach), also after an error. */
enum ftr_status cli_judge(const struct ftr_fabric *f,
			  const struct ftr_shape *sh,
			  const struct ftr_tables *t,
			  const struct ftr_check_report *r,
			  const struct cli_report_opts *o,
			  struct cli_verdict *v,
			  struct ftr_err *err) FTR_MUST_USE;
/* Prints the report; returns CLI_CLEAN or CLI_FINDINGS. */
int cli_report(const struct ftr_fabric *f, const struct ftr_shape *sh,
	       const struct ftr_check_report *r,
	       const struct cli_report_opts *o, const struct cli_verdict *v);

#endif
