/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Temporary files and directories of test programs. */
#ifndef TESTS_LIB_TEMP_H
#define TESTS_LIB_TEMP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* path: room for at least TEMP_ROOM bytes; name: at most 15 bytes. */
#define TEMP_ROOM 64

/* The directory is $TMPDIR, or /tmp if $TMPDIR would not fit or has characters that mean something
 * in a shell or in OpenSM's configuration. */
static inline void temp_pattern(char *path, const char *name)
{
	const char *tmp = getenv("TMPDIR");

	if (!tmp || *tmp != '/' || strlen(tmp) > TEMP_ROOM - 25 ||
	    strpbrk(tmp, " \t'\"$\\`&;()<>|*?[#"))
		tmp = "/tmp";
	snprintf(path, TEMP_ROOM, "%s/%.15s.XXXXXX", tmp, name);
}

/* As mkstemp(). */
static inline int temp_file(char *path, const char *name)
{
	temp_pattern(path, name);
	return mkstemp(path);
}

/* As mkdtemp(). */
static inline char *temp_dir(char *path, const char *name)
{
	temp_pattern(path, name);
	return mkdtemp(path);
}

#endif
