// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The program ibfattree-helper, which helper.c starts: "ibfattree-helper KIND SECONDS" reads
 * requests from stdin, and writes results to stdout.  Both are files without a name.  A byte from
 * the socket 3 says that a request is complete; a byte to it, that the result is.  The program ends
 * when OpenSM has closed its end of the socket.
 *
 * It limits its memory, its output, and its CPU time for each request (SECONDS).  A search runs for
 * long, so it also gives way to other processes, and dies with OpenSM.  A file that is being
 * written is completed, even if OpenSM has ended.
 *
 * This file does not depend on OpenSM.
 */
#include <limits.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "helper/helper.h"
#include "helper/job.h"

#define SOCKET 3
#define TOUCHED ((size_t)48 << 20	/* bytes */)
#define MEMORY (UINT64_C(8) << 30)

/* ---- what the kinds do ------------------------------------------------------------ */

static enum ftr_status search(struct ftr_in *in, struct ftr_out *out, struct ftr_err *err)
{
	struct ftr_kept k = { .stats.root = FTR_SW_NONE };
	struct search_job j;
	struct ftr_shape *sh;
	enum ftr_status st = ftr_in_end(in, get_search(in, &j, &sh, err), err);
	const struct ftr_engine_ops *ops = ftr_engine_find(j.engine);

	if (!st && !ops)
		st = ftr_fail(err, FTR_INVAL, "no engine %s", j.engine);
	j.opts.keep = &j.keep;
	j.opts.balance = FTR_BALANCE_FULL;
	if (!st)
		st = ftr_tables_new(j.f, false, &k.t, err);
	if (!st && j.given)
		st = ftr_route_kept(ops, sh, &j.opts, NULL, &k, err);
	else if (!st)
		st = ops->route(sh, &j.opts, NULL, k.t, &k.stats, err);
	if (!st)
		put_found(out, j.f, &k);
	return st;
}

static struct ftr_ddlr *planner;	/* NULL: no request yet */
static const struct ftr_fabric *planned;

static enum ftr_status plan(struct ftr_in *in, struct ftr_out *out, struct ftr_err *err)
{
	struct ftr_ddlr_plan p = { .n = 0 };
	enum ftr_status st;

	if (!planner)
		return get_planner(in, &planner, &planned, err);
	st = get_plan_job(in, planner, planned, &p, err);
	if (!st)
		put_plan(out, &p);
	ftr_ddlr_plan_fini(&p);
	return st;
}

static bool fill(FILE *out, const void *request)
{
	const struct ftr_in *in = request;
	size_t n = (size_t)(in->end - in->at);

	return fwrite(in->at, 1, n, out) == n;
}

static enum ftr_status write_file(struct ftr_in *in, struct ftr_err *err)
{
	char path[PATH_MAX];
	bool append;
	enum ftr_status st = get_file(in, path, &append, err);

	if (!st && append)
		st = ftr_file_append(path, (const char *)in->at, (size_t)(in->end - in->at), err);
	else if (!st)
		st = ftr_file_replace(path, fill, in, err);
	return st;
}

/* Read the request to its end, do it, and write the result after the error text. */
static enum ftr_status serve(enum helper_kind kind, struct ftr_in *in, struct ftr_out *out,
			     struct ftr_err *err)
{
	switch (kind) {	/* not covered: another kind */
	case HELPER_SEARCH:
		return search(in, out, err);
	case HELPER_PLANNER:
		return plan(in, out, err);
	case HELPER_FILES:
		break;
	}
	return write_file(in, err);
}

static bool find_kind(const char *name, enum helper_kind *kind)
{
	*kind = !strcmp(name, "search") ? HELPER_SEARCH :
		!strcmp(name, "planner") ? HELPER_PLANNER : HELPER_FILES;
	return *kind != HELPER_FILES || !strcmp(name, "files");
}

/* ---- limits ----------------------------------------------------------------------- */

static void limit(int resource, rlim_t max)
{
	struct rlimit r;

	getrlimit((__rlimit_resource_t)resource, &r);
	max = FTR_MIN(max, r.rlim_max);
	setrlimit((__rlimit_resource_t)resource, &(struct rlimit){ max, max });
}

static void confine(enum helper_kind kind)
{
	/* systemd stops all processes of a unit at once, but OpenSM still has to write files */
	signal(SIGTERM, SIG_IGN);
#ifdef SYS_close_range
	(void)syscall(SYS_close_range, SOCKET + 1, ~0U, 0);	/* opensm's files */
#endif
/* the sanitizers reserve terabytes of addresses */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	limit(RLIMIT_AS, MEMORY);
#endif
	limit(RLIMIT_CORE, 0);
	if (kind != HELPER_FILES)	/* the files may have any size */
		limit(RLIMIT_FSIZE, FTR_IN_MAX);
	if (kind == HELPER_SEARCH) {	/* one request, which may take long */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)setpriority(PRIO_PROCESS, 0, 10);
	}
}

/* The soft limit of CPU time, from now on.  SIGXCPU ends the process. */
static void limit_cpu(rlim_t seconds)
{
	struct rusage used;
	struct rlimit r;

	getrusage(RUSAGE_SELF, &used);
	getrlimit(RLIMIT_CPU, &r);
	r.rlim_cur = FTR_MIN((rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds + 1,
			     r.rlim_max);
	(void)setrlimit(RLIMIT_CPU, &r);
}

/* ---- requests --------------------------------------------------------------------- */

/* Returns false if the result could not be written. */
static bool answer(enum helper_kind kind)
{
	struct ftr_out out = { 0 };
	struct ftr_err err = { 0 };
	struct ftr_in in;
	size_t len = (size_t)lseek(STDIN_FILENO, 0, SEEK_END);
	char *text = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, STDIN_FILENO, 0);
	enum ftr_status st = text == MAP_FAILED ?
		ftr_in_fd(&in, STDIN_FILENO, "the request", HELPER_REQUEST, &err) :
		ftr_in_memory(&in, text, len, HELPER_REQUEST, &err);

	ftr_put_text(&out, "");
	if (!st)
		st = serve(kind, &in, &out, &err);
	if (st) {
		out.n = 0;
		ftr_put_text(&out, err.msg);
	}
	if (text != MAP_FAILED)
		munmap(text, len);
	return !ftr_out_fd(&out, STDOUT_FILENO, "the result", HELPER_RESULT, &err);
}

/* Wait for a request.  Returns false if OpenSM has closed its end. */
static bool await(void)
{
	char c;

	return recv(SOCKET, &c, 1, 0) == 1;	/* no signal has a handler, so none ends it */
}

/* At 11,664 hosts, the first use of the planner's memory causes 18,000 page faults, of 2 us each.  So
 * touch memory while OpenSM still writes the request, and keep it for the planner. */
static void touch_memory(void)
{
	char *p;

	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	p = malloc(TOUCHED);
	for (size_t i = 0; i < TOUCHED; i += TOUCHED / 64) {
		if (!p || recv(SOCKET, p, 1, MSG_PEEK | MSG_DONTWAIT) >= 0)
			break;
		memset(p + i, 0, TOUCHED / 64);
	}
	free(p);
}

int main(int argc, char **argv)
{
	enum helper_kind kind;

	if (argc != 3 || !find_kind(argv[1], &kind))
		return 2;
	confine(kind);
	if (kind == HELPER_PLANNER)
		touch_memory();
	while (await()) {
		limit_cpu((rlim_t)strtoul(argv[2], NULL, 10));
		if (!answer(kind))
			_exit(1);
		if (kind == HELPER_SEARCH || send(SOCKET, "x", 1, MSG_NOSIGNAL) != 1)
			break;
	}
	/* not exit(): the memory of requests is not freed, and LeakSanitizer would report it */
	_exit(0);
}
