// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Files in directories that others may write to: see file.h for the rules.
 *
 * The checks are made on the open descriptor, so the file cannot be exchanged between check and
 * use.  O_NONBLOCK keeps open() from waiting for the other end of a FIFO; it has no
 * effect on regular files.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define SAFE_FLAGS (O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
#define FILE_MODE 0644

static enum ftr_status fail(struct ftr_err *err, const char *path,
			    const char *what)
{
	int why = errno;

	ftr_fail(err, FTR_IO, "%s: cannot %s: %s", path, what, strerror(why));
	errno = why;
	return FTR_IO;
}

static enum ftr_status refuse(struct ftr_err *err, const char *path,
			      const char *reason)
{
	errno = EPERM;
	return ftr_fail(err, FTR_IO, "%s: refused: %s", path, reason);
}

/* Check that the open file is a regular file of root or of the caller.  If append is true, also
 * refuse a file with a second name, because another user may have made a hard link to a file of
 * root. */
static enum ftr_status check(int fd, const char *path, bool append,
			     struct stat *sb, struct ftr_err *err)
{
	if (fstat(fd, sb))
		return fail(err, path, "inspect");
	if (!S_ISREG(sb->st_mode))
		return refuse(err, path, "it is not a regular file");
	if (sb->st_uid && sb->st_uid != geteuid())
		return refuse(err, path, "it belongs to another user");
	if (append && sb->st_nlink > 1)
		return refuse(err, path, "it has more than one name (hard link)");
	return FTR_OK;
}

static enum ftr_status open_checked(const char *path, int flags, int *fd,
				    struct stat *sb, struct ftr_err *err)
{
	enum ftr_status st;

	*fd = open(path, flags | SAFE_FLAGS, FILE_MODE);
	if (*fd < 0 && errno == ELOOP)
		return refuse(err, path, "it is a symbolic link");
	if (*fd < 0 && errno == ENXIO)
		return refuse(err, path, "it is not a regular file");
	if (*fd < 0)
		return fail(err, path, "open");
	st = check(*fd, path, flags & O_APPEND, sb, err);
	if (st)
		close(*fd);
	return st;
}

enum ftr_status ftr_file_open(const char *path, int *fd, struct ftr_err *err)
{
	struct stat sb;

	return open_checked(path, O_RDONLY, fd, &sb, err);
}

/* ---- append -------------------------------------------------------------- */

/* Upper limit for the length of an incomplete last line, in bytes. */
#define TORN_MAX (4u << 20)

/* Set *size, the size of the file, to the end of its last complete line, or to 0 if it has none.
 * Returns false if a read fails, or if the file is longer than TORN_MAX and its last TORN_MAX bytes
 * have no newline. */
static bool find_end(int fd, off_t *size)
{
	off_t end = *size, stop = FTR_MAX(end - (off_t)TORN_MAX, 0);
	char buf[4096];

	while (end > stop) {
		size_t n = (size_t)FTR_MIN(end - stop, (off_t)sizeof(buf));
		const char *nl;

		if (pread(fd, buf, n, end - (off_t)n) != (ssize_t)n)
			return false;
		nl = memrchr(buf, '\n', n);
		end -= (off_t)n;
		if (nl) {
			*size = end + (nl - buf) + 1;
			return true;
		}
	}
	*size = end;
	return !end;
}

/* Remove an incomplete last line.  *size is the file size, and is set to the new file size. */
static enum ftr_status cut_torn_line(int fd, const char *path, off_t *size,
				     struct ftr_err *err)
{
	off_t end = *size;

	if (!find_end(fd, &end))
		return refuse(err, path, "it does not consist of lines");
	if (end < *size && ftruncate(fd, end))
		return fail(err, path, "remove an incomplete line");
	*size = end;
	return FTR_OK;
}

static bool write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		text += n;
		len -= (size_t)n;
	}
	return true;
}

enum ftr_status ftr_file_append(const char *path, const char *text, size_t len,
				struct ftr_err *err)
{
	struct stat sb;
	enum ftr_status st;
	off_t size;
	int fd;

	st = open_checked(path, O_RDWR | O_CREAT | O_APPEND, &fd, &sb, err);
	if (st)
		return st;
	size = sb.st_size;
	st = cut_torn_line(fd, path, &size, err);
	if (!st && !write_all(fd, text, len)) {
		st = fail(err, path, "write");
		if (ftruncate(fd, size))
			st = fail(err, path, "remove an incomplete line");
	}
	if (close(fd) && !st)
		st = fail(err, path, "write");
	return st;
}

/* ---- replace ------------------------------------------------------------- */

/* Flush the directory, so that the new name survives a power failure.  Failure is
 * ignored: some directories cannot be flushed. */
static void flush_directory(char *path)
{
	int fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)fsync(fd);
	close(fd);
}

static enum ftr_status fill_new(int fd, const char *path, ftr_file_fill fill,
				const void *ctx, struct ftr_err *err)
{
	FILE *out = ftr_fdopen(fd, "w");
	enum ftr_status st = FTR_OK;

	if (!out) {
		st = fail(err, path, "write");
		close(fd);
		return st;
	}
	errno = 0;
	if (!fill(out, ctx) || fflush(out) || ferror(out) || fsync(fd))
		st = fail(err, path, "write");
	if (fclose(out) && !st)
		st = fail(err, path, "write");
	return st;
}

enum ftr_status ftr_file_replace(const char *path, ftr_file_fill fill,
				 const void *ctx, struct ftr_err *err)
{
	char tmp[PATH_MAX];
	enum ftr_status st;
	int fd, n = snprintf(tmp, sizeof(tmp), "%s.%ld.tmp", path,
			     (long)getpid());

	errno = ENAMETOOLONG;
	if ((size_t)n >= sizeof(tmp))
		return fail(err, path, "create");
	unlink(tmp);	/* a crash may have left it behind */
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | SAFE_FLAGS, FILE_MODE);
	if (fd < 0)
		return fail(err, tmp, "create");
	st = fill_new(fd, tmp, fill, ctx, err);
	if (!st && rename(tmp, path))
		st = fail(err, path, "replace");
	if (st)
		unlink(tmp);
	else
		flush_directory(tmp);
	return st;
}
