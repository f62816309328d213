/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * file: opening, appending to and replacing files in directories where others
 * may interfere.
 *
 * OpenSM runs as root, and the directories that it is configured to use may be
 * writable by others.  So a file that the plugin opens must be a regular file
 * that belongs to root or to the caller; symbolic links are not followed, and a
 * FIFO or device in its place is an error instead of a wait.  For files that
 * a user names on the command line these rules would be wrong: those are read
 * by ftr_text_open and ftr_slurp.
 *
 * Every function returns FTR_IO with "PATH: reason" in err.
 */
#ifndef FTR_CORE_FILE_H
#define FTR_CORE_FILE_H

#include <stdio.h>

#include "core/core.h"

/* Open for reading; *fd on success.  errno is ENOENT if there is no such
 * file. */
enum ftr_status ftr_file_open(const char *path, int *fd,
			      struct ftr_err *err) FTR_MUST_USE;

/*
 * Append len bytes, all lines that end in a newline, and create the file if it
 * does not exist.  All of them are in the file afterwards, or, on failure (a
 * full disk, a quota), none: the file is cut back to its length before.  An
 * incomplete last line, left behind by a crash, is removed first.
 */
enum ftr_status ftr_file_append(const char *path, const char *text, size_t len,
				struct ftr_err *err) FTR_MUST_USE;

/*
 * Replace the file by what fill writes (false: it failed, errno says why): to
 * a new file beside it, "PATH.PID.tmp", which is flushed to the disk and then
 * renamed.  path holds its old or its new content, whole.  Two threads must
 * not replace the same path at once.
 */
typedef bool (*ftr_file_fill)(FILE *out, const void *ctx);
enum ftr_status ftr_file_replace(const char *path, ftr_file_fill fill,
				 const void *ctx,
				 struct ftr_err *err) FTR_MUST_USE;

#endif
