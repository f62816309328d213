// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests output of the command ibfattree that no test in tests/cli produces: the progress line on a
 * terminal, and the report of a transition for which no order of writes was found.
 */
#include <check.h>
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/transition.h"
#include "lib/suite.h"

static char seen[4096];	/* all text that the terminal has shown */

/* Wait up to 60 s until `want` appears in seen[] at `from` or later.  Reads the text from fd. */
static char *wait_for(int fd, const char *from, const char *want)
{
	for (int i = 0; i < 6000; i++) {
		const struct timespec pause = { .tv_nsec = 10000000 };
		size_t n = strlen(seen);
		char *at;

		if (read(fd, seen + n, sizeof(seen) - 1 - n) <= 0)
			nanosleep(&pause, NULL);
		at = strstr(from, want);
		if (at)
			return at;
	}
	ck_abort_msg("the terminal does not show '%s', but '%s'", want, seen);
}

/* The progress line of a step must not show the count of the previous step. */
START_TEST(progress)
{
	int master, slave, err = dup(STDERR_FILENO);
	char *line;

	ck_assert(!openpty(&master, &slave, NULL, NULL, NULL));
	ck_assert_int_ge(dup2(slave, STDERR_FILENO), 0);
	ck_assert(!fcntl(master, F_SETFL, O_NONBLOCK));
	setenv("TERM", "vt100", 1);
	cli_progress("counting");
	cli_progress_step(1, 3);
	wait_for(master, seen, ", 1 of 3");
	cli_progress("writing");
	line = wait_for(master, seen, "writing");
	cli_progress_end();
	*wait_for(master, line, "\r") = '\0';
	ck_assert_int_ge(dup2(err, STDERR_FILENO), 0);
	ck_assert_msg(!strstr(line, " of "), "the progress line shows an old count: '%s'", line);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("output");
	TCase *t = tcase_create("output");

	tcase_add_test(t, progress);
	suite_add_tcase(s, t);
	return run_suite(s);
}
