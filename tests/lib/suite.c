// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Run a test program's suite and report skipped cases. */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/suite.h"

/* Check runs each case in a process of its own, so the count is in shared
 * memory. */
static _Atomic int *skips;

__attribute__((constructor)) static void share(void)
{
	static _Atomic int own;
	void *p = mmap(NULL, sizeof(*skips), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	skips = p == MAP_FAILED ? &own : p;
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
	(*skips)++;
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

int run_suite(Suite *s)
{
	SRunner *r = srunner_create(s);
	int failed, ran;

	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	ran = srunner_ntests_run(r);
	srunner_free(r);
	if (failed)
		return 1;
	return ran && *skips >= ran ? 77 : 0;
}
