/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * cli: the command ibfattree.  Argument handling and printing only; all
 * thinking is done behind the public headers.
 *
 * Each command is one struct cli_cmd with one table of options.  That table
 * drives the parser, the defaults, --help and the bash completion, and the
 * tests hold the manual pages against it, so none of them can disagree.
 *
 * Results go to stdout, for people or, with --json, as one JSON object; errors
 * and notes go to stderr as "ibfattree: what, with the value".  Exit status: 0
 * clean, 1 findings, 2 bad input or no way to work.
 */
#ifndef FTR_CLI_CLI_H
#define FTR_CLI_CLI_H

#include <stdio.h>

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
	CLI_FILE,		/* the same, completed as a file */
	CLI_UINT,		/* unsigned int, min .. max */
	CLI_U64,		/* uint64_t, decimal or 0x... */
	CLI_WORD,		/* unsigned int: which of arg, "one|two" */
	CLI_ENGINE,		/* const struct ftr_engine_ops * */
	CLI_LIST,		/* struct cli_list; may be given many times */
	CLI_FILES		/* the same, completed as files */
};

#define CLI_LIST_MAX 64

struct cli_list {
	unsigned int n;
	const char *v[CLI_LIST_MAX];
};

struct cli_opt {
	const char *name;	/* long name without the dashes */
	enum cli_kind kind;
	size_t at;		/* where the value is in the command's struct */
	const char *arg;	/* word for the value in --help */
	const char *help;
	const char *def;	/* default, parsed like a given value, or NULL */
	unsigned int min, max;	/* CLI_UINT */
};

struct cli_cmd {
	const char *name;	/* "gen" */
	const char *summary;	/* one line for ibfattree --help */
	const char *args;	/* "SHAPE" */
	const char *text;	/* what it does, a few lines */
	const struct cli_opt *opts;	/* ends with a NULL name */
	int min_args, max_args;
	int (*run)(int argc, char **argv);	/* argv[0] is the name */
};

extern const struct cli_cmd cli_gen, cli_route, cli_check, cli_load;
extern const struct cli_cmd cli_diff, cli_whatif, cli_sim, cli_completion;
extern const struct cli_cmd cli_doctor, cli_save, cli_restore;
extern const struct cli_cmd cli_html, cli_slurm, cli_ranks, cli_top;
/* The commands that the completion offers, up to NULL; main() sets it. */
extern const struct cli_cmd *const *cli_completed;

/*
 * Sets the defaults, then what is given, in the struct conf; moves the other
 * words to argv[0 .. *n_args - 1].  Returns -1: go on; else the exit status
 * (after --help or an error message).
 */
int cli_parse(const struct cli_cmd *cmd, void *conf, int argc, char **argv,
	      int *n_args);

/* Always returns CLI_BAD. */
int cli_error(const char *fmt, ...) FTR_PRINTF(1, 2);
int cli_fail(const struct ftr_err *err);

/* Entries that several tables share; s: the command's struct. */
#define CLI_OPT_JSON(s) \
	{ "json", CLI_FLAG, offsetof(s, json), NULL, \
	  "print one JSON object, see ibfattree-json(5)", NULL, 0, 0 }
#define CLI_OPT_THREADS(s) \
	{ "threads", CLI_UINT, offsetof(s, threads), "N", \
	  "threads; 0: one per core", "0", 0, FTR_TEAM_MAX }
/* depth: default of --balance */
#define CLI_OPTS_ENGINE(s, depth) \
	{ "engine", CLI_ENGINE, offsetof(s, engine.ops), "NAME", \
	  "routing engine", "dmodc", 0, 0 }, \
	{ "placement", CLI_WORD, offsetof(s, engine.placement), \
	  "even|stable|literal|literal-planes", "who takes over from what is lost", \
	  "even", 0, 0 }, \
	{ "balance", CLI_WORD, offsetof(s, engine.balance), \
	  "off|load|full", "search for even load: all-to-all; and shifts", \
	  depth, 0, 0 }, \
	{ "paths", CLI_WORD, offsetof(s, engine.paths), "all|updown", \
	  "dmodc: connect all host ports, or those with an up/down path", \
	  "all", 0, 0 }, \
	{ "sftree-mode", CLI_WORD, offsetof(s, engine.sftree_mode), \
	  "inverted|paper", "how sftree routes", "inverted", 0, 0 }, \
	{ "sm-switch", CLI_U64, offsetof(s, engine.sm_switch), "GUID", \
	  "switch of the subnet manager, for sftree; 0: any", "0", 0, 0 }
#define CLI_OPT_ROOTS(s) \
	{ "roots", CLI_FILE, offsetof(s, files.roots), "FILE", \
	  "node GUIDs of the top switches", NULL, 0, 0 }
#define CLI_OPT_CN(s) \
	{ "cn", CLI_FILE, offsetof(s, files.cn), "FILE", \
	  "port GUIDs of the compute nodes", NULL, 0, 0 }
#define CLI_OPT_IO(s) \
	{ "io", CLI_FILE, offsetof(s, files.io), "FILE", \
	  "port GUIDs of the I/O nodes", NULL, 0, 0 }
#define CLI_OPT_LEAF_ORDER(s) \
	{ "leaf-order", CLI_WORD, offsetof(s, leaf_order), "guid|name", \
	  "order of the leaves inside a pod", "guid", 0, 0 }
#define CLI_OPT_NOMINAL(s) \
	{ "nominal", CLI_FILE, offsetof(s, nominal), "FILE", \
	  "the fabric as it should be: a state file, or any fabric", NULL, 0, 0 }
#define CLI_OPT_LMC(s) \
	{ "lmc", CLI_UINT, offsetof(s, lmc), "N", \
	  "2^N LIDs per host port if FABRIC gives none", "0", 0, FTR_LMC_MAX }
#define CLI_OPT_TOLERANT(s) \
	{ "tolerant", CLI_FLAG, offsetof(s, tolerant), NULL, \
	  "leave links out that only one end of them tells", NULL, 0, 0 }
#define CLI_OPT_OUTPUT(s) \
	{ "output", CLI_FILE, offsetof(s, output), "FILE", \
	  "write to FILE, not to stdout", NULL, 0, 0 }
#define CLI_OPT_END { NULL, CLI_FLAG, 0, NULL, NULL, NULL, 0, 0 }

/* ---- things that several commands do (common.c) ------------------------ */

/* An engine and its options, as CLI_OPTS_ENGINE fills them. */
struct cli_engine {
	const struct ftr_engine_ops *ops;
	unsigned int placement;
	unsigned int balance;
	unsigned int paths;	/* enum ftr_paths */
	unsigned int sftree_mode;
	uint64_t sm_switch;	/* GUID or 0 */
};

/* For a damaged fabric: sm_switch counts as not given if it is not in f. */
struct ftr_route_opts cli_damaged_opts(const struct cli_engine *e,
				       const struct ftr_fabric *f);
/* FTR_INVAL if sm_switch is no switch of f. */
enum ftr_status cli_route_opts(const struct cli_engine *e,
			       const struct ftr_fabric *f,
			       struct ftr_route_opts *out,
			       struct ftr_err *err) FTR_MUST_USE;

struct cli_guid_files {
	const char *roots, *cn, *io;
};

/* ftr_read_fabric; tolerant: links that only one end tells are left out, with a
 * note on stderr. */
enum ftr_status cli_read_fabric(const char *path, unsigned int lmc,
				bool tolerant, struct ftr_fabric **out,
				struct ftr_err *err) FTR_MUST_USE;

/* opts->roots/cn/io are malloc()ed; free with cli_free_guids. */
enum ftr_status cli_read_guids(const struct cli_guid_files *files,
			       struct ftr_shape_opts *opts,
			       struct ftr_err *err) FTR_MUST_USE;
void cli_free_guids(struct ftr_shape_opts *opts);

/*
 * What is nominal of f, for opts->nominal: f and what the file holds, a state
 * file or any fabric; a note on stderr if f has more.  path NULL: f itself if
 * faults are to follow, else *out is NULL.  NULL, too, if there are no slots to
 * be had.
 */
enum ftr_status cli_nominal(const char *path, const struct ftr_fabric *f,
			    bool faults, const struct ftr_shape_opts *opts,
			    struct ftr_team *team, struct ftr_nominal **out,
			    struct ftr_err *err) FTR_MUST_USE;
/* The shape of f, over what is nominal if path is given. */
enum ftr_status cli_shape(const char *path, const struct ftr_fabric *f,
			  const struct ftr_shape_opts *opts,
			  struct ftr_team *team, struct ftr_shape **out,
			  struct ftr_err *err) FTR_MUST_USE;

/* A note on stderr if --cn or --io was given in vain. */
void cli_note_files(const struct ftr_shape *sh);

/* The order of end ports that sh gives; *order is malloc()ed. */
enum ftr_status cli_host_order(const struct ftr_shape *sh, ftr_ep **order,
			       uint32_t *n, struct ftr_err *err) FTR_MUST_USE;
/* Leave out gaps, and end ports without LID or cable: the ranks of a job are
 * numbered without them.  Returns how many were left out. */
uint32_t cli_drop_gaps(const struct ftr_fabric *f, ftr_ep *order, uint32_t *n);
/* Flows on the most loaded link of all-to-all between those in the order, whatever
 * the routing: rounds 0 by cuts, else by weights of the links; 0: none.  Gaps
 * are left out. */
enum ftr_status cli_bound(const struct ftr_shape *sh, const ftr_ep *order,
			  uint32_t n, uint32_t rounds, double *bound,
			  struct ftr_err *err) FTR_MUST_USE;

/* ---- output files (output.c) ------------------------------------------- */

/*
 * Write a file so that path holds either its old or its whole new content:
 * fn writes to a temporary file beside it, which is then renamed.  path NULL
 * or "-": stdout.  Not for two threads at once.
 */
typedef enum ftr_status (*cli_write_fn)(FILE *out, const void *ctx,
					struct ftr_err *err);
enum ftr_status cli_write(const char *path, cli_write_fn fn, const void *ctx,
			  struct ftr_err *err) FTR_MUST_USE;
/*
 * What is written between these two appears together: cli_write_end renames all
 * of it if st is FTR_OK, and removes all of it if not.  stdout, pipes and
 * devices are written to at once; write to them last.  Returns st or an error.
 */
void cli_write_begin(void);
enum ftr_status cli_write_end(enum ftr_status st,
			      struct ftr_err *err) FTR_MUST_USE;
/* Is none of the files that a command writes one that it reads?  Any may be
 * NULL.  -1, or the exit status after an error message. */
int cli_check_inputs(const char *cmd, const char *const *out,
		     unsigned int n_out, const char *const *in,
		     unsigned int n_in);
/* May a command write to all of these n files, NULL: none, and (told) its report
 * to stdout besides?  -1, or the exit status after an error message if two of
 * them are one. */
int cli_check_outputs(const char *cmd, bool reported, const char *const *path,
		      unsigned int n);

/* ftr_read_lfts, and a note on stderr if the file has switches that f has not
 * or, unless missing is given to tell it in, leaves some of f out. */
enum ftr_status cli_read_lfts(const char *path, const struct ftr_fabric *f,
			      struct ftr_tables **out, uint32_t *missing,
			      struct ftr_err *err) FTR_MUST_USE;

struct cli_tables_of {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
};
enum ftr_status cli_write_fabric_fn(FILE *out, const void *fabric,
				    struct ftr_err *err);
enum ftr_status cli_write_tables_fn(FILE *out, const void *tables_of,
				    struct ftr_err *err);

/* gzip and xz (unpack.c), for ftr_set_unpacker. */
extern const struct ftr_unpacker cli_unpacker;

double cli_now(void);		/* seconds of a steady clock */

/* 1234567 as "1,234,567"; buf holds at least CLI_NUM_MAX bytes. */
#define CLI_NUM_MAX 32
const char *cli_num(char *buf, uint64_t n);
/* "1 switch", "1,620 switches"; the word is cut so that all fits into buf. */
#define CLI_COUNT_MAX 80
const char *cli_count(char *buf, uint64_t n, const char *one,
		      const char *many);

/* ---- names (names.c); buf holds at least CLI_NAME_MAX bytes ------------ */

#define CLI_NAME_MAX 384
const char *cli_sw_name(char *buf, const struct ftr_fabric *f, ftr_sw s);
/* with its base LID if it has one */
const char *cli_ep_name(char *buf, const struct ftr_fabric *f, ftr_ep e);
const char *cli_lid_name(char *buf, const struct ftr_fabric *f, ftr_lid lid);

/* The switch that the word names (find.c): its name, its GUID, or a part of its
 * name that no other switch has; *part tells that it was such a part. */
enum ftr_status cli_find_switch(const struct ftr_fabric *f, const char *word,
				ftr_sw *out, bool *part,
				struct ftr_err *err) FTR_MUST_USE;

/* ---- terminal (term.c) ------------------------------------------------- */

enum cli_colour { CLI_PLAIN = 0, CLI_GOOD, CLI_WRONG, CLI_DOUBT };

/* The escape sequence that starts the colour, "" unless stdout is a terminal
 * that wants colours; CLI_PLAIN ends any. */
const char *cli_colour(enum cli_colour c);

/*
 * A line on stderr that says what is being done, for how long, and how far it
 * is; shown only if stderr is a terminal and two seconds have passed.  what is
 * a constant string.  cli_progress_end takes it away, also when none was begun.
 */
void cli_progress(const char *what);
void cli_progress_step(unsigned int done, unsigned int of);
void cli_progress_end(void);

/* ---- the report of a check (report.c, report_json.c) ------------------- */

struct cli_report_opts {
	const char *source;	/* where the tables came from, for the reader */
	uint32_t missing;	/* switches without a table */
	uint32_t silent;	/* links whose far end does not answer */
	bool strict;
	bool switch_sources;
	bool json;
	bool list;		/* name all that are affected */
	const char *sl2vl, *psl;	/* files, NULL: not given */
	uint32_t no_sl2vl;	/* switches that sl2vl does not tell of */
	const uint64_t *hops;	/* of ftr_check_hops, or NULL: not counted */
};

/* What a report holds, computed once for both forms. */
struct cli_verdict {
	struct cli_reach reach;	/* of the pairs that do not arrive */
	bool class_bad[FTR_N_CHECK_CLASSES];
	bool found;
};

extern const char *const cli_class_key[FTR_N_CHECK_CLASSES];
extern const char *const cli_finding_key[FTR_N_FINDINGS];
extern const char *const cli_cdg_key[];	/* by enum ftr_cdg_verdict */

/* sh may be NULL.  Free v with cli_reach_free(&v->reach), also after an error. */
enum ftr_status cli_judge(const struct ftr_fabric *f,
			  const struct ftr_shape *sh,
			  const struct ftr_tables *t,
			  const struct ftr_check_report *r,
			  const struct cli_report_opts *o,
			  struct cli_verdict *v,
			  struct ftr_err *err) FTR_MUST_USE;
/* Print it; returns CLI_CLEAN or CLI_FINDINGS. */
int cli_report(const struct ftr_fabric *f, const struct ftr_shape *sh,
	       const struct ftr_check_report *r,
	       const struct cli_report_opts *o, const struct cli_verdict *v);
int cli_report_json(const struct ftr_fabric *f, const struct ftr_shape *sh,
		    const struct ftr_check_report *r,
		    const struct cli_report_opts *o,
		    const struct cli_verdict *v);

#endif
