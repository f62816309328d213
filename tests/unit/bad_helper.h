/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Let the plugin start processes that fail.
 */
#ifndef FTR_TESTS_BAD_HELPER_H
#define FTR_TESTS_BAD_HELPER_H

#include <check.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/temp.h"

static char *real_helper, bad_script[TEMP_ROOM];

/* The path of ibfattree-helper, which make check sets.  False: it is not set. */
static inline bool find_helper(void)
{
	const char *path = getenv("IBFATTREE_HELPER");

	real_helper = path ? strdup(path) : NULL;
	if (!path)
		printf("IBFATTREE_HELPER is not set: run \"make check\"\n");
	return path;
}

/* Let the plugin start a shell script for this kind of process.  $REAL is ibfattree-helper; $BAD is
 * bad_helper.c. */
static inline void use_script(const char *kind, const char *text)
{
	int fd;
	FILE *out;

	fd = temp_file(bad_script, "ibf-helper");
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fchmod(fd, 0700), 0);
	out = fdopen(fd, "w");
	ck_assert_ptr_nonnull(out);
	fprintf(out, "#!/bin/bash\nREAL=%s\nBAD=${REAL%%/*}/bad-helper\n", real_helper);
	fprintf(out, "[[ $1 == %s ]] || exec $REAL \"$@\"\n%s\n", kind, text);
	ck_assert(!fclose(out));
	ck_assert(!setenv("IBFATTREE_HELPER", bad_script, 1));
}

static inline void use_real_helper(void)
{
	ck_assert(!setenv("IBFATTREE_HELPER", real_helper, 1));
	if (bad_script[0])
		unlink(bad_script);
	bad_script[0] = '\0';
}

static char pid_file[TEMP_ROOM];

/* Let the plugin start ibfattree-helper for this kind of process; kill_helper() kills it. */
static inline void use_mortal_helper(const char *kind)
{
	char text[128];
	int fd;

	fd = temp_file(pid_file, "ibf-pid");
	ck_assert(fd >= 0 && !close(fd));
	snprintf(text, sizeof(text), "echo $$ >%s; exec $REAL \"$@\"", pid_file);
	use_script(kind, text);
}

/* Returns when the process has ended. */
static inline void kill_helper(void)
{
	char path[64], state = '?';
	int pid = 0;
	FILE *in = fopen(pid_file, "r");

	ck_assert(in && fscanf(in, "%d", &pid) == 1);
	fclose(in);
	unlink(pid_file);
	ck_assert(!kill(pid, SIGKILL));
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'Z' && (in = fopen(path, "r"))) {
		if (fscanf(in, "%*d (%*[^)]) %c", &state) != 1)
			state = 'Z';
		fclose(in);
	}
}

static inline unsigned int open_files(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

#endif
