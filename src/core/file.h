/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Opening, appending to and replacing files in directories that others may write to.
 *
 * OpenSM runs as root, and the directories in its configuration may be writable by
 * other users.  A file that the plugin opens must therefore be a regular file that
 * belongs to root or to the caller.  A symbolic link, a FIFO or a device is an error, and open()
 * does not block.  (Symbolic links among the directories of PATH are followed.)  These rules do
 * not apply to files that a user names on the command line.
 *
 * On failure every function returns FTR_IO, with "PATH: reason" in err.
 */
#ifndef FTR_CORE_FILE_H
#define FTR_CORE_FILE_H

#include <stdio.h>

#include "core/core.h"

/* Open for reading; *fd on success.  errno is ENOENT if the file does not exist. */
enum ftr_status ftr_file_open(const char *path, int *fd,
			      struct ftr_err *err) FTR_MUST_USE;

/*
 * Append len bytes, which are complete lines.  The file is created if it does not exist.  An
 * incomplete last line, left by a crash, is removed first.  If a write fails (full disk,
 * quota), the file is truncated to its length before the write.  A file with a second name
 * (hard link) is an error.
 */
enum ftr_status ftr_file_append(const char *path, const char *text, size_t len,
				struct ftr_err *err) FTR_MUST_USE;

/*
 * Replace the file.  fill() writes the content to `out`, a new file "PATH.PID.tmp".  On failure
 * fill() returns false, with the reason in errno.  The new file is flushed to disk and renamed to
 * PATH.  So PATH always has its complete old or its complete new content.  Two threads must not
 * replace the same path at once.
 */
typedef bool (*ftr_file_fill)(FILE *out, const void *ctx);
enum ftr_status ftr_file_replace(const char *path, ftr_file_fill fill,
				 const void *ctx,
				 struct ftr_err *err) FTR_MUST_USE;

#endif
