/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * cli: the command ibfattree.  Argument handling and printing only; all
 * thinking is done behind the public headers.
 *
 * One table of options per command drives the parser and --help alike, so the
 * two cannot disagree.  Results go to stdout, errors and notes to stderr as
 * "ibfattree: what, with the value".  Exit status: 0 clean, 1 findings, 2 bad
 * input or no way to work.
 */
#ifndef FTR_CLI_CLI_H
#define FTR_CLI_CLI_H

#include <stdio.h>

#include <ftr/ftr.h>

enum cli_exit {
	CLI_CLEAN = 0,
	CLI_FINDINGS = 1,
	CLI_BAD = 2
};

struct cli_cmd {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);	/* argv[0] is the name */
};

extern const struct cli_cmd cli_commands[];	/* ends with a NULL name */

/* ---- options (opts.c) -------------------------------------------------- */

enum cli_kind {
	CLI_FLAG,		/* bool */
	CLI_STRING,		/* const char * */
	CLI_UINT,		/* unsigned int, at most max */
	CLI_U64			/* uint64_t, decimal or 0x... */
};

struct cli_opt {
	const char *name;	/* long name without the dashes */
	enum cli_kind kind;
	void *val;
	const char *arg;	/* word for the value in --help */
	const char *help;
	unsigned int max;	/* CLI_UINT */
};

struct cli_usage {
	const char *cmd;	/* "gen" */
	const char *args;	/* "SHAPE" */
	const char *text;	/* what it does, a few lines */
	const struct cli_opt *opts;	/* ends with a NULL name */
	int min_args, max_args;
};

/*
 * Fills opts[].val, moves the other words to argv[0 .. *n_args - 1].  Returns
 * -1: go on; else the exit status (after --help or an error message).
 */
int cli_parse(const struct cli_usage *u, int argc, char **argv, int *n_args);

/* Always returns CLI_BAD. */
int cli_error(const char *fmt, ...) FTR_PRINTF(1, 2);
int cli_fail(const struct ftr_err *err);

/* ---- things that several commands do (common.c) ------------------------ */

struct cli_guid_files {
	const char *roots, *cn, *io;
};

/* opts->roots/cn/io are malloc()ed; free with cli_free_guids. */
enum ftr_status cli_read_guids(const struct cli_guid_files *files,
			       struct ftr_shape_opts *opts,
			       struct ftr_err *err) FTR_MUST_USE;
void cli_free_guids(struct ftr_shape_opts *opts);

/*
 * Write a file so that path holds either its old or its whole new content:
 * fn writes to a temporary file beside it, which is then renamed.  path NULL
 * or "-": stdout.
 */
typedef enum ftr_status (*cli_write_fn)(FILE *out, const void *ctx,
					struct ftr_err *err);
enum ftr_status cli_write(const char *path, cli_write_fn fn, const void *ctx,
			  struct ftr_err *err) FTR_MUST_USE;

struct cli_tables_of {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
};
enum ftr_status cli_write_fabric_fn(FILE *out, const void *fabric,
				    struct ftr_err *err);
enum ftr_status cli_write_tables_fn(FILE *out, const void *tables_of,
				    struct ftr_err *err);

double cli_now(void);		/* seconds of a steady clock */

/* 1234567 as "1,234,567"; buf holds at least CLI_NUM_MAX bytes. */
#define CLI_NUM_MAX 32
const char *cli_num(char *buf, uint64_t n);

/* ---- the report of a check (report.c) ---------------------------------- */

struct cli_report_opts {
	const char *source;	/* where the tables came from, for the reader */
	uint32_t missing;	/* switches without a table */
	uint32_t silent;	/* links whose far end does not answer */
	bool strict;
	bool switch_sources;
};

/* Print it; returns CLI_CLEAN or CLI_FINDINGS.  sh may be NULL. */
int cli_report(const struct ftr_fabric *f, const struct ftr_shape *sh,
	       const struct ftr_check_report *r,
	       const struct cli_report_opts *opts);

int cli_gen(int argc, char **argv);
int cli_route(int argc, char **argv);
int cli_check(int argc, char **argv);
int cli_diff(int argc, char **argv);
int cli_load(int argc, char **argv);

#endif
