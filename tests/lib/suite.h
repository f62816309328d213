/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Functions for all test programs: run a suite, skip cases.  The time limit of a case is at
 * least one hour, so that none fails on a slow machine.
 *
 * A case whose prerequisites are missing calls skip_case() and returns.  skip_case()
 * prints a line "SKIP: ...", which scripts/test counts.  If all cases were skipped, the
 * program exits with 77, which automake counts as a skipped program.
 */
#ifndef TESTS_LIB_SUITE_H
#define TESTS_LIB_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * ck_assert_msg of Check writes its location to a pipe for every assertion that holds.  This
 * takes longer than most tests, some of which have a million assertions.  Check needs the
 * location only to report where a program crashed.
 */
#undef ck_assert_msg
#define ck_assert_msg(expr, ...)					\
	((expr) ? (void)0 :						\
	 _ck_assert_failed(__FILE__, __LINE__,				\
			   "Assertion '" #expr "' failed", ##__VA_ARGS__))

/* Run the suite and free it. Returns the exit status of the program. */
int run_suite(Suite *s);

void skip_case(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Tells run_suite() the seed that is being tested.  If the program fails, it prints the last seed, so
 * that a crash can be repeated. */
void suite_now(uint64_t seed);

/*
 * For random tests.  expr is true if the random runs contained the cases that the test is about,
 * for example "cycles > 0".  If expr is false, a full run from the default seed, which always draws
 * the same fabrics, fails.  Runs with FTR_RUNS=1/N or another FTR_SEED only print expr.
 */
#define runs_show(expr) check_shown(expr, #expr, __FILE__, __LINE__)
void check_shown(bool is, const char *what, const char *file, int line);

/*
 * The path of a real fabric: `file` below $FTR_TOPOLOGIES (default: ../shared/topologies, relative
 * to the top of the repository).  If the file cannot be read, the case is skipped and the result is
 * false.
 */
bool real_fabric(const char *file, char *path, size_t room);

#endif
