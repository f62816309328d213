/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Open files, append to files and replace files, in directories that others may write to.
 *
 * OpenSM runs as root, and the directories in its configuration may be writable by
 * other users.  A file that the plugin opens must therefore be a regular file that
 * belongs to root or to the caller.  If PATH is a symbolic link, a FIFO or a device, this is an
 * error, and open() does not block.  (The directories in PATH may be symbolic links.)  These rules
 * do not apply to files that a user names on the command line.
 *
 * On failure every function returns FTR_IO, with "PATH: reason" in err.
 */
#ifndef FTR_BASE_FILE_H
#define FTR_BASE_FILE_H

#include <stdio.h>

#include "base/base.h"

/* Open a file for reading, and set *fd.  errno is ENOENT if the file does not exist. */
enum ftr_status ftr_file_open(const char *path, int *fd,
			      struct ftr_err *err) FTR_MUST_USE;

/*
 * Append len bytes of text, which are complete lines.  The file is created if it does not exist.
 * If a crash has left an incomplete last line, this line is removed first.  If the write fails
 * (full disk, quota), the part that was written is removed.  A file with a second name (hard link)
 * is an error.
 */
enum ftr_status ftr_file_append(const char *path, const char *text, size_t len,
				struct ftr_err *err) FTR_MUST_USE;

/*
 * Replace a file.  fill() writes the new content to `out`, a new file "PATH.PID.tmp".  If it fails,
 * it returns false, with the reason in errno.  The new file is flushed to disk and renamed to
 * PATH.  So PATH always has its complete old or its complete new content.  Two threads must not
 * replace the same path at the same time.
 */
typedef bool (*ftr_file_fill)(FILE *out, const void *ctx);
enum ftr_status ftr_file_replace(const char *path, ftr_file_fill fill,
				 const void *ctx,
				 struct ftr_err *err) FTR_MUST_USE;

#endif
