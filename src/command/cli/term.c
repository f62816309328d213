// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Colours, and the progress line.
 */
#include <stdlib.h>
#include <string.h>
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

static const char *current;	/* step */
static bool shown;

void cli_progress(const char *what)
{
	current = what;
	cli_progress_step(0, 0);
}

void cli_progress_step(unsigned int done, unsigned int of)
{
	if (dumb(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[Kibfattree: %s", current);
	if (of)
		fprintf(stderr, ", %u of %u", done, of);
	shown = true;
}

void cli_progress_end(void)
{
	if (shown)
		fputs("\r\033[K", stderr);
	shown = false;
}
