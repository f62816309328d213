/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Common to all test programs: run a suite, report skipped cases.  No case is ended
 * before an hour has passed, so that none fails because the machine is slow.
 *
 * A case whose prerequisites are missing calls skip_case() and returns.
 * skip_case() prints a line "SKIP: ...", which scripts/test counts. A program
 * all of whose cases were skipped exits with 77, which automake counts as a
 * skipped program.
 */
#ifndef TESTS_LIB_SUITE_H
#define TESTS_LIB_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * For every assertion that holds, the macro of the library Check writes the location to a
 * pipe.  That takes longer than most tests: some have a million assertions.  The location is
 * needed only to report where a program crashed.
 */
#undef ck_assert_msg
#define ck_assert_msg(expr, ...)					\
	((expr) ? (void)0 :						\
	 _ck_assert_failed(__FILE__, __LINE__,				\
			   "Assertion '" #expr "' failed", ##__VA_ARGS__))

/* Run the suite and free it. Returns the exit status of the program. */
int run_suite(Suite *s);

void skip_case(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * A condition that some fabrics of a random test must meet, for example "cycles > 0",
 * because otherwise the test would prove nothing.  The test fails only in a full run from
 * the default seed, where the outcome is always the same.  With fewer runs (FTR_RUNS=1/N)
 * or another FTR_SEED the outcome depends on chance, and is only printed.
 */
#define runs_show(expr) check_shown(expr, #expr, __FILE__, __LINE__)
void check_shown(bool is, const char *what, const char *file, int line);

/*
 * The path of a real fabric: file below $FTR_TOPOLOGIES (default
 * ../shared/topologies beside the repository). If it cannot be read, returns
 * false, and the case is skipped.
 */
bool real_fabric(const char *file, char *path, size_t room);

#endif
