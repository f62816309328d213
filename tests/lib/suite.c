// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/suite.h"

/* In memory that the processes of all cases share: the number of skipped cases, and the seed with
 * which the last case is running. */
static struct {
	_Atomic int skips;
	_Atomic uint64_t seed;
} *shared;

/* Check ends a case after this time.  The default of Check, 4 s, is too short for slow machines. */
#define LIMIT_S "3600"

__attribute__((constructor)) static void start(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		abort();
	setenv("CK_DEFAULT_TIMEOUT", getenv("FTR_SOAK") ? "0" : LIMIT_S, 0);
}

static bool full_run(void)
{
	const char *runs = getenv("FTR_RUNS");

	return !getenv("FTR_SEED") && !getenv("FTR_CHECK_ROUNDS") &&
		(!runs || strncmp(runs, "1/", 2));
}

void check_shown(bool is, const char *what, const char *file, int line)
{
	if (is)
		return;
	if (full_run())
		ck_abort_msg("%s:%d: not true in any random run: %s", file, line,
			     what);
	printf("%s:%d: not true with this seed and this number of runs: %s\n", file,
	       line, what);
}

void skip_case(const char *fmt, ...)
{
	va_list ap;

	printf("SKIP: ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	shared->skips++;
}

bool real_fabric(const char *file, char *path, size_t room)
{
	const char *dir = getenv("FTR_TOPOLOGIES");
	const char *top = getenv("abs_top_srcdir");

	if (dir)
		snprintf(path, room, "%s/%s", dir, file);
	else
		snprintf(path, room, "%s/../shared/topologies/%s",
			 top ? top : ".", file);
	if (!access(path, R_OK))
		return true;
	skip_case("no %s (FTR_TOPOLOGIES)", path);
	return false;
}

void suite_now(uint64_t seed)
{
	shared->seed = seed;
}

int run_suite(Suite *s)
{
	SRunner *r = srunner_create(s);
	int failed, ran;

	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	ran = srunner_ntests_run(r);
	srunner_free(r);
	if (failed && shared->seed)
		printf("the last case ended at seed %" PRIu64 "\n", shared->seed);
	if (failed)
		return 1;
	return ran && shared->skips >= ran ? 77 : 0;
}
