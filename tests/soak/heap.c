// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A library to preload into opensm.  It reports how much memory opensm has allocated and
 * not freed.  RssAnon in /proc does not show this, because it includes memory that was freed
 * but that glibc keeps.
 *
 * The library reads lines from the FIFO "heap.ask" in the current directory.  For every line
 * it appends a line with two numbers to the file "heap": bytes allocated and not freed, and
 * free bytes in malloc's arenas.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern char *program_invocation_short_name;

/* uordblks: allocated bytes in arenas.  hblkhd: allocated bytes outside arenas (mmap). */
static void report(int fd)
{
	struct mallinfo2 m = mallinfo2();

	dprintf(fd, "%zu %zu\n", m.uordblks + m.hblkhd, m.fordblks);
}

static void *serve(void *arg)
{
	int in = open("heap.ask", O_RDWR | O_CLOEXEC);
	int out = open("heap", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	char c;

	(void)arg;
	while (in >= 0 && out >= 0 && read(in, &c, 1) == 1)
		if (c == '\n')
			report(out);
	return NULL;
}

/* The new thread blocks all signals, so that opensm's own threads receive them. */
__attribute__((constructor)) static void start(void)
{
	sigset_t all, old;
	pthread_t thread;

	if (strcmp(program_invocation_short_name, "opensm") != 0)
		return;
	unlink("heap.ask");
	if (mkfifo("heap.ask", 0600))
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	if (!pthread_create(&thread, NULL, serve, NULL))
		pthread_detach(thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}
