// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The search for better tables, in a process of its own: no error in the search can end OpenSM,
 * use up its memory, or block it.
 *
 * A thread of the plugin starts the program ibfattree-search (search_child.c), and waits for its
 * end.  The thread holds a reference to its generation, but no lock of OpenSM.  Job and result are
 * in files without a name (memfd), so neither side waits for the other.  The process is killed if
 * the search is cancelled, or has not ended within the time limit.
 *
 * The result is not trusted: it is read like a file, and the checker walks all paths of its tables.
 * Later the routing that applies the result checks all tables once more.  A result that is not
 * used is reported (IBF122), and the next search waits, see prefer.c.
 *
 * The thread waits by polling, and for this process only: OpenSM may have a handler of SIGCHLD, or
 * children of its own.
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/search_job.h"
#include "osm/host.h"
#include "osm/metrics.h"
#include "osm/osm.h"
#include <ftr/check.h>

#define SECONDS 3600		/* limit of the CPU time, and of the time that passes */
#define POLL_MS 10

/* ---- the process --------------------------------------------------------------- */

/* Tests set the environment variables. */
static const char *program(void)
{
	const char *path = getenv("IBFATTREE_SEARCH");

	return path && *path ? path : IBF_SEARCH_PROGRAM;
}

static unsigned int seconds(void)
{
	const char *s = getenv("IBFATTREE_SEARCH_SECONDS");

	return s && *s ? (unsigned int)strtoul(s, NULL, 10) : SECONDS;
}

/* Start the process with an empty environment, and with default signals: the plugin's threads
 * block all signals. */
static int start(int job, int result, pid_t *pid)
{
	char name[] = "ibfattree-search", limit[16];
	char *argv[] = { name, limit, NULL }, *envp[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t set;
	int e;

	snprintf(limit, sizeof(limit), "%u", seconds());
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_adddup2(&files, job, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, result, STDOUT_FILENO);
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&attr, &set);
	sigfillset(&set);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
				 POSIX_SPAWN_SETPGROUP);
	e = posix_spawn(pid, program(), &files, &attr, argv, envp);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return e;
}

/* Wait for the end of the process, or kill it with its process group. */
static enum ftr_status await(struct ibf_search *z, pid_t pid)
{
	const struct timespec pause = { .tv_nsec = POLL_MS * 1000000 };
	uint64_t polls = (uint64_t)seconds() * 1000 / POLL_MS;
	bool killed = false;
	int how = 0;
	pid_t got;

	while (!(got = waitpid(pid, &how, WNOHANG)) || (got < 0 && errno == EINTR)) {
		if (!killed && (atomic_load(&z->cancel) || !polls--)) {
			kill(-pid, SIGKILL);
			killed = true;
		}
		nanosleep(&pause, NULL);
	}
	if (got < 0)	/* SIGCHLD is ignored; the result shows whether the process succeeded */
		return FTR_OK;
	if (killed)
		return ftr_fail(&z->err, FTR_LIMIT, "it did not end within %u s", seconds());
	if (WIFSIGNALED(how))
		return ftr_fail(&z->err, FTR_REFUSED, "it was ended by signal %d (%s)",
				WTERMSIG(how), strsignal(WTERMSIG(how)));
	return WEXITSTATUS(how) ? ftr_fail(&z->err, FTR_REFUSED, "it ended with status %d",
					   WEXITSTATUS(how)) : FTR_OK;
}

/* ---- job and result ------------------------------------------------------------ */

static void put_job(struct ibf_search *z, struct ftr_out *o)
{
	const struct ibf_generation *gen = z->gen;
	struct ibf_plugin *p = z->e->plugin;
	struct ftr_search_job j = {
		.shape.leaf_order = (enum ftr_leaf_order)p->opt.leaf_order,
		.nominal = gen->nominal->n, .f = gen->fabric, .opts = gen->opts,
		.keep = { z->displaced ? gen->keep.prefer : gen->tables,
			  z->displaced ? gen->tables : NULL, !z->displaced, z->displaced },
		.given = !z->displaced && z->e->prefer.stage == IBF_GIVEN,
	};

	snprintf(j.engine, sizeof(j.engine), "%s", z->e->ops->name);
	ibf_guids_current(p, &j.shape);
	ftr_put_search_job(o, &j);
}

/* The numbers of the report are not checked: they are only logged, and compared. */
static enum ftr_status get_result(struct ibf_search *z, int fd)
{
	struct ftr_check_report *r = ftr_calloc(1, sizeof(*r));
	struct ftr_kept k = { .t = NULL };
	struct ftr_in in;
	enum ftr_status st = r ? ftr_in_fd(&in, fd, "its result", FTR_SEARCH_RESULT, &z->err) :
		ftr_fail(&z->err, FTR_NOMEM, "out of memory");

	if (!st) {
		st = ftr_get_search_result(&in, z->gen->fabric, &k, &z->err);
		st = ftr_in_end(&in, st, &z->err);
	}
	z->t = k.t;
	z->balance = k.stats.balance;
	z->replaced = k.replaced;
	if (!st)
		st = ftr_check_tables(z->gen->fabric, z->t, NULL, NULL, r, &z->err);
	if (!st && (r->found[FTR_FIND_LOOP] || r->found[FTR_FIND_WRONG_END] ||
		    r->found[FTR_FIND_DEAD_PORT] || r->cdg == FTR_CDG_CYCLE))
		st = ftr_fail(&z->err, FTR_REFUSED, "its tables have a loop, a wrong path or a credit loop");
	free(r);
	return st;
}

static enum ftr_status run(struct ibf_search *z)
{
	int result = memfd_create("ibfattree-search-result", MFD_CLOEXEC), e;
	pid_t pid;
	enum ftr_status st;

	if (result < 0)
		return ftr_fail(&z->err, FTR_IO, "no memory for its result: %s", strerror(errno));
	e = start(z->job, result, &pid);
	if (e)
		st = ftr_fail(&z->err, FTR_IO, "%s does not start: %s", program(), strerror(e));
	else
		st = await(z, pid);
	if (!st)
		st = get_result(z, result);
	close(result);
	return st;
}

/* A search for displaced entries changes these entries a second time.  So its result is used only
 * if it reduces the all-to-all load, that of the rails or the load of shifts by more than
 * 1 / GAIN_SHARE.  The result
 * of any other search is used even if the gain is small. */
#define GAIN_SHARE 10

static bool is_gain(double before, double after)
{
	return before - after > before / GAIN_SHARE;
}

bool ibf_search_found(const struct ibf_search *z)
{
	const struct ftr_balance_report *b = &z->balance;

	return !z->status && b->moved &&
		(!z->displaced || is_gain(b->max_before, b->max_after) ||
		 is_gain(b->rail_before, b->rail_after) ||
		 is_gain(b->shift_before, b->shift_after));
}

/* ---- the thread ---------------------------------------------------------------- */

static void *search(void *arg)
{
	struct ibf_search *z = arg;
	double t0 = ibf_now_ms();

	z->status = run(z);
	z->ms = ibf_now_ms() - t0;
	if (!atomic_load(&z->cancel)) {
		if (z->status) {
			ibf_log(z->e->plugin, IBF_SEARCH_FAILED, "%s: the search for better tables failed: %s; the tables stay as they are",
				z->e->ops->name, z->err.msg);
			ibf_status_count(z->e->plugin,
					 offsetof(struct ibf_metrics, search_failures));
		} else if (!z->displaced || ibf_search_found(z)) {
			/* The next routing takes the result.  That a search has found nothing
			 * better is stored, so that it does not run again after a restart. */
			ibf_request_sweep(z->e->plugin->osm);
		}
	}
	atomic_store(&z->done, true);
	return NULL;
}

struct ibf_search *ibf_search_start(struct ibf_engine *e, struct ibf_generation *gen,
				    bool displaced)
{
	struct ibf_search *z = ftr_calloc(1, sizeof(*z));
	struct ftr_out o = { 0 };
	struct ftr_err err;

	if (!z)
		return NULL;
	z->e = e;
	z->gen = ibf_generation_get(gen);
	z->displaced = displaced;
	atomic_init(&z->cancel, false);
	atomic_init(&z->done, false);
	z->job = memfd_create("ibfattree-search-job", MFD_CLOEXEC);
	put_job(z, &o);
	if (!ftr_out_fd(&o, z->job, "the job of a search", FTR_SEARCH_JOB, &err) &&
	    ibf_thread_start(&z->thread, search, z))
		return z;
	ibf_search_free(z);
	return NULL;
}

bool ibf_search_done(const struct ibf_search *z)
{
	return atomic_load(&z->done);
}

void ibf_search_join(struct ibf_search *z, bool cancel)
{
	if (cancel)
		atomic_store(&z->cancel, true);
	ibf_thread_join(z->thread);
}

void ibf_search_free(struct ibf_search *z)
{
	if (!z)
		return;
	if (z->job >= 0)
		close(z->job);
	ibf_generation_put(z->gen);
	ftr_tables_free(z->t);
	free(z);
}
