// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Errors that end the program.  exit() releases nearly all resources.  Only the progress line and
 * unfinished output files need a cleanup.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

struct ftr_err cli_err;

static void (*cleanup)(void);

void cli_before_death(void (*fn)(void))
{
	cleanup = fn;
}

static void put_error(const char *fmt, va_list ap)
{
	char text[4096];

	cli_progress_end();
	fflush(stdout);
	vsnprintf(text, sizeof(text), fmt, ap);
	fprintf(stderr, "ibfattree: %s\n", ftr_text_clean(text));
}

int cli_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_error(fmt, ap);
	va_end(ap);
	return CLI_BAD;
}

void cli_die(const char *fmt, ...)
{
	va_list ap;

	if (cleanup)
		cleanup();
	va_start(ap, fmt);
	put_error(fmt, ap);
	va_end(ap);
	exit(CLI_BAD);
}

void cli_must(enum ftr_status st)
{
	if (st)
		cli_die("%s", cli_err.msg);
}

void *cli_calloc(size_t n, size_t size, const char *fmt, ...)
{
	void *p = calloc(n ? n : 1, size);
	char text[128];
	va_list ap;

	if (p)
		return p;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cli_die("out of memory for %s", text);
}

void cli_exit(int status)
{
	errno = 0;
	/* a command that failed has already printed the reason */
	if ((fflush(stdout) || ferror(stdout)) && status != CLI_BAD)
		cli_die("stdout: cannot write%s%s", errno ? ": " : "",
			errno ? strerror(errno) : "");
	exit(status);
}
