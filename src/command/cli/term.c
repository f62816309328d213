// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Colours, and the progress line.
 *
 * The library does not report progress, so a separate thread shows the current step.
 * It waits two seconds, and then rewrites one line on stderr twice a second, until
 * cli_progress_end stops it.  It is started only if stderr is a terminal.  One mutex
 * guards all data that both threads use.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

static bool dumb(int fd)
{
	const char *term = getenv("TERM");

	return !isatty(fd) || !term || !strcmp(term, "dumb");
}

const char *cli_colour(enum cli_colour c)
{
	static const char *const code[] = {
		[CLI_PLAIN] = "\033[0m", [CLI_GOOD] = "\033[32m",
		[CLI_WRONG] = "\033[1;31m", [CLI_DOUBT] = "\033[33m",
	};
	const char *no = getenv("NO_COLOR");

	if ((no && *no) || dumb(STDOUT_FILENO))
		return "";
	return code[c];
}

static struct {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t thread;
	bool running;		/* used by the main thread only */
	bool stop;
	const char *what;
	unsigned int done, of;
} line = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.wake = PTHREAD_COND_INITIALIZER,
};

/* Waits for ms milliseconds, or until line.stop is set.  The caller holds line.lock. */
static void nap(unsigned int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	while (!line.stop && pthread_cond_timedwait(&line.wake, &line.lock, &until) != ETIMEDOUT)
		continue;
}

static void *show(void *start)
{
	double t0 = *(double *)start;
	bool shown = false;

	pthread_mutex_lock(&line.lock);
	nap(2000);
	while (!line.stop) {
		fprintf(stderr, "\r\033[Kibfattree: %s, %.0f s", line.what, cli_now() - t0);
		if (line.of)
			fprintf(stderr, ", %u of %u", line.done, line.of);
		shown = true;
		nap(500);
	}
	pthread_mutex_unlock(&line.lock);
	if (shown)
		fputs("\r\033[K", stderr);
	return NULL;
}

void cli_progress(const char *what)
{
	static double start;

	pthread_mutex_lock(&line.lock);
	line.what = what;
	line.done = 0;
	line.of = 0;
	pthread_mutex_unlock(&line.lock);
	if (line.running || dumb(STDERR_FILENO))
		return;
	cli_before_death(cli_progress_end);
	start = cli_now();
	line.stop = false;
	/* if the thread cannot be started, there is no progress line */
	line.running = !pthread_create(&line.thread, NULL, show, &start);
}

void cli_progress_step(unsigned int done, unsigned int of)
{
	pthread_mutex_lock(&line.lock);
	line.done = done;
	line.of = of;
	pthread_mutex_unlock(&line.lock);
}

void cli_progress_end(void)
{
	if (!line.running)
		return;
	pthread_mutex_lock(&line.lock);
	line.stop = true;
	pthread_cond_signal(&line.wake);
	pthread_mutex_unlock(&line.lock);
	pthread_join(line.thread, NULL);
	line.running = false;
}
