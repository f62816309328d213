// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The search process (ibfattree-search), which search.c starts: reads a job from stdin, runs the
 * full balance search, and writes the result to stdout.  Both are files without a name.
 *
 * It limits its own memory, CPU time and output, gives way to other processes, and dies with
 * OpenSM.  The only argument is the limit of CPU time in seconds.  This file does not depend on
 * OpenSM.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/search_job.h"

#define MEMORY (UINT64_C(8) << 30)

static void limit(int resource, rlim_t max)
{
	struct rlimit r;

	if (!getrlimit((__rlimit_resource_t)resource, &r) && r.rlim_max > max) {
		r = (struct rlimit){ max, max };
		(void)setrlimit((__rlimit_resource_t)resource, &r);
	}
}

static void confine(const char *seconds)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
#ifdef SYS_close_range
	(void)syscall(SYS_close_range, 3, ~0U, 0);	/* opensm's files */
#endif
	(void)setpriority(PRIO_PROCESS, 0, 10);
/* the sanitizers reserve terabytes of addresses */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	limit(RLIMIT_AS, MEMORY);
#endif
	limit(RLIMIT_CPU, (rlim_t)strtoul(seconds, NULL, 10));
	limit(RLIMIT_FSIZE, FTR_IN_MAX);
	limit(RLIMIT_CORE, 0);
}

static enum ftr_status search(const struct ftr_search_job *j, const struct ftr_shape *sh,
			      struct ftr_kept *k, struct ftr_err *err)
{
	const struct ftr_engine_ops *ops = ftr_engine_find(j->engine);
	struct ftr_route_opts opts = j->opts;
	enum ftr_status st;

	if (!ops)
		return ftr_fail(err, FTR_INVAL, "no engine %s", j->engine);
	opts.keep = &j->keep;
	opts.balance = FTR_BALANCE_FULL;
	st = ftr_tables_new(j->f, false, &k->t, err);
	if (!st && j->given)
		st = ftr_route_kept(ops, sh, &opts, NULL, k, err);
	else if (!st)
		st = ops->route(sh, &opts, NULL, k->t, &k->stats, err);
	return st;
}

int main(int argc, char **argv)
{
	struct ftr_kept k = { .stats.root = FTR_SW_NONE };
	struct ftr_search_job job = { 0 };
	struct ftr_shape *sh = NULL;
	struct ftr_out out = { 0 };
	struct ftr_err err = { 0 };
	struct ftr_in in;
	enum ftr_status st;

	if (argc != 2)
		return 2;
	confine(argv[1]);
	st = ftr_in_fd(&in, STDIN_FILENO, "the job", FTR_SEARCH_JOB, &err);
	if (!st) {
		st = ftr_get_search_job(&in, &job, &sh, &err);
		st = ftr_in_end(&in, st, &err);
	}
	if (!st)
		st = search(&job, sh, &k, &err);
	ftr_put_search_result(&out, job.f, &k, st, &err);
	/* not exit(): the memory of the job is not freed, and LeakSanitizer would report it */
	_exit(ftr_out_fd(&out, STDOUT_FILENO, "the result", FTR_SEARCH_RESULT, &err) ? 1 : 0);
}
