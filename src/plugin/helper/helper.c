// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Processes that compute and write for the plugin.  No error in such a process can end OpenSM, use
 * up its memory, or block it.
 *
 * Request and result are containers (io/container.h) in two files without a name (memfd), the stdin
 * and stdout of the process.  A byte over a pair of sockets says that a file is complete.  So
 * neither side waits for the other while it writes, and a request or a result is never read before
 * it is complete.  The end of the process closes its socket, which ends the parent's wait.
 *
 * The alternative was a pipe for each direction.  A pipe holds 64 KiB.  So each side would need a
 * thread or non-blocking writes, because tables have megabytes.
 *
 * The process maps a request, which saves a copy of the tables.  The parent copies a result: if the
 * process truncated a mapped file, reading it would end OpenSM (SIGBUS).
 *
 * A result is read like any file: checksum, length, and each value.  A search ends after its
 * result, and sends no byte: its end with status 0 says that the result is complete.
 *
 * The parent waits for this process only, and without SIGCHLD: OpenSM may have a handler of this
 * signal, or children of its own.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "helper/helper.h"

/* For each request: the limit of CPU time in seconds, and the longest wait for the result in ms. */
static const struct {
	char name[8];
	unsigned int seconds, ms;
} kinds[] = {
	[HELPER_SEARCH] = { "search", 3600, 3600000 },
	[HELPER_PLANNER] = { "planner", 60, 1000 },
	[HELPER_FILES] = { "files", 60, 60000 },
};

struct helper {
	enum helper_kind kind;
	pid_t pid;		/* 0: the process has ended */
	int request, result;	/* the two files */
	int socket;
};

/* Tests set the environment variables. */
static const char *program(void)
{
	const char *path = getenv("IBFATTREE_HELPER");

	return path ? path : HELPER_PROGRAM;
}

static unsigned int seconds(unsigned int otherwise)
{
	const char *s = getenv("IBFATTREE_HELPER_SECONDS");

	return s ? (unsigned int)strtoul(s, NULL, 10) : otherwise;
}

unsigned int helper_wait_ms(enum helper_kind kind)
{
	unsigned int s = seconds(0);

	return s ? s * 1000 : kinds[kind].ms;
}

/* ---- the process --------------------------------------------------------------- */

/* far: the socket of the process.  The threads of the plugin block all signals. */
static int spawn(struct helper *h, int far)
{
	char name[] = "ibfattree-helper", kind[sizeof(kinds[0].name)], limit[16];
	char *argv[] = { name, kind, limit, NULL }, *envp[] = { NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t set;
	int e;

	snprintf(kind, sizeof(kind), "%s", kinds[h->kind].name);
	snprintf(limit, sizeof(limit), "%u", seconds(kinds[h->kind].seconds));
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_adddup2(&files, h->request, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, h->result, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&files, far, 3);
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&attr, &set);
	sigfillset(&set);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
				 POSIX_SPAWN_SETPGROUP);
	e = posix_spawn(&h->pid, program(), &files, &attr, argv, envp);
	if (e)
		h->pid = 0;
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return e;
}

enum ftr_status helper_start(enum helper_kind kind, struct helper **out, struct ftr_err *err)
{
	struct helper *h = ftr_calloc(1, sizeof(*h));
	int pair[2] = { -1, -1 }, e;

	if (!h)
		return ftr_nomem(err, "a process");
	h->kind = kind;
	h->request = memfd_create("ibfattree-request", MFD_CLOEXEC);
	h->result = memfd_create("ibfattree-result", MFD_CLOEXEC);
	e = h->request < 0 || h->result < 0 ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) ? errno :
		spawn(h, pair[1]);
	h->socket = pair[0];
	close(pair[1]);
	if (!e) {
		*out = h;
		return FTR_OK;
	}
	helper_free(h);
	return ftr_fail(err, FTR_IO, "%s does not start: %s", program(), strerror(e));
}

void helper_kill(struct helper *h)
{
	if (h->pid)	/* with its process group */
		kill(-h->pid, SIGKILL);
}

/* Kill the process, and wait for its end.  *how: as for waitpid(); 0 if the
 * status is not known, because SIGCHLD is ignored.  Returns false if it does not end. */
static bool end(struct helper *h, int *how)
{
	const struct timespec pause = { .tv_nsec = 1000000 };

	*how = 0;
	helper_kill(h);
	for (int left = HELPER_END_MS; h->pid && left; left--) {
		if (waitpid(h->pid, how, WNOHANG))
			h->pid = 0;
		else
			nanosleep(&pause, NULL);
	}
	return !h->pid;
}

/* The socket of the process is closed.  A process that ends by itself has a status before. */
static enum ftr_status ended(struct helper *h, struct ftr_err *err)
{
	int how;

	if (!end(h, &how))
		return ftr_fail(err, FTR_IO, "it does not end");
	if (WIFSIGNALED(how))
		return ftr_fail(err, FTR_IO, "it was ended by signal %d (%s)", WTERMSIG(how),
				strsignal(WTERMSIG(how)));
	return WEXITSTATUS(how) || h->kind != HELPER_SEARCH ?
		ftr_fail(err, FTR_IO, "it ended with status %d", WEXITSTATUS(how)) : FTR_OK;
}

void helper_cancel(struct helper *h)
{
	/* not kill(): the other thread may just have waited for the process */
	shutdown(h->socket, SHUT_RDWR);
}

bool helper_end(struct helper *h)
{
	int how;

	return end(h, &how);
}

void helper_free(struct helper *h)
{
	if (!h)
		return;
	helper_end(h);
	close(h->request);	/* or -1 */
	close(h->result);
	close(h->socket);
	free(h);
}

/* ---- requests and results ------------------------------------------------------- */

enum ftr_status helper_send(struct helper *h, struct ftr_out *o, struct ftr_err *err)
{
	enum ftr_status st = ftr_out_fd(o, h->request, "the request", HELPER_REQUEST, err);

	if (st || send(h->socket, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1)
		return st;
	st = ended(h, err);
	return st ? st : ftr_fail(err, FTR_IO, "it ended before the request");
}

bool helper_is_busy(const struct helper *h, unsigned int ms)
{
	struct pollfd p = { .fd = h->socket, .events = POLLIN };
	const struct timespec limit = { ms / 1000, ms % 1000 * 1000000L };
	sigset_t all;

	sigfillset(&all);	/* no signal ends the wait */
	return !ppoll(&p, 1, &limit, &all);
}

static enum ftr_status await(struct helper *h, unsigned int ms, struct ftr_err *err)
{
	char c;

	if (helper_is_busy(h, ms))
		return ftr_fail(err, FTR_LIMIT, "it did not answer within %u ms", ms);
	return recv(h->socket, &c, 1, MSG_DONTWAIT) == 1 ? FTR_OK : ended(h, err);
}

enum ftr_status helper_result(struct helper *h, unsigned int ms, struct ftr_in *in,
			      struct ftr_err *err)
{
	char msg[UINT8_MAX + 1];
	enum ftr_status st = await(h, ms, err);

	/* the next request may be urgent, and emptying the file then would take milliseconds */
	if (!st && ftruncate(h->request, 0))	/* not covered: it is a memfd, which can be emptied */
		st = ftr_fail(err, FTR_IO, "its request is not emptied: %s", strerror(errno));
	if (!st)
		st = ftr_in_fd(in, h->result, "its result", HELPER_RESULT, err);
	if (st)
		return st;
	ftr_get_text(in, msg, sizeof(msg));
	if (!in->bad && !msg[0])
		return FTR_OK;
	st = in->bad ? ftr_in_damaged(in, err) : ftr_fail(err, FTR_REFUSED, "%s", msg);
	free(in->text);
	return st;
}
