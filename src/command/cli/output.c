// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Output files that appear complete or not at all.
 *
 * A file is written under a temporary name in the same directory, and renamed when all of it is on
 * disk.  Files that belong together are renamed when all of them are on disk.  A signal that ends
 * the program removes the unfinished files.  Dangling symbolic links, devices and pipes are
 * written directly.  Any other symbolic link is followed, and the file that it points to is
 * replaced.  The new file gets owner and mode of the replaced one.  If the owner cannot be set,
 * group and others get no more rights than the umask allows.
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"

static enum ftr_status sys_fail(struct ftr_err *err, const char *path,
				const char *what)
{
	return ftr_fail(err, FTR_IO, "%s: cannot %s: %s", path, what,
			strerror(errno));
}

bool cli_packed(const char *path)
{
	size_t n = path ? strlen(path) : 0;

	return n > 3 && !strcmp(path + n - 3, ".gz");
}

/* Calls fn.  If fn returns FTR_IO, its message lacks the name of the file, which is added here. */
static enum ftr_status fill(FILE *out, const char *path, cli_write_fn fn,
			    const void *ctx, struct ftr_err *err)
{
	FILE *z = cli_packed(path) ? cli_gzip(fileno(out)) : NULL;
	struct ftr_err why = { 0 };
	enum ftr_status st;

	if (cli_packed(path) && !z)
		return sys_fail(err, path, "compress");
	st = fn(z ? z : out, ctx, &why);
	if (z && fclose(z) && !st)
		return sys_fail(err, path, "write");
	if (st == FTR_IO)
		return ftr_fail(err, st, "%s: %s", path, why.msg);
	if (st)
		return ftr_fail(err, st, "%s", why.msg);
	if (fflush(out) || ferror(out))
		return sys_fail(err, path, "write");
	return FTR_OK;
}

/* ---- unfinished files and signals --------------------------------------- */

/* Maximum number of files that are written, but not yet renamed. */
#define STAGED_MAX 8

static struct {
	char tmp[PATH_MAX];
	char path[PATH_MAX];	/* the final name */
} staged[STAGED_MAX];
static volatile sig_atomic_t n_staged;
static bool together;		/* true: between cli_write_begin and cli_write_end */
static const int ending[] = { SIGHUP, SIGINT, SIGTERM, SIGXFSZ, SIGXCPU };
#define N_ENDING (sizeof(ending) / sizeof(ending[0]))
static struct sigaction before[N_ENDING];

/* Signal handler.  The loop includes staged[n_staged]: mkstemp may just have created this file. */
static void remove_staged(int sig)
{
	for (int i = 0; i <= n_staged && i < STAGED_MAX; i++)
		unlink(staged[i].tmp);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Catches the signals that end the program; ignored signals stay ignored. */
static void watch(void)
{
	struct sigaction act = { .sa_handler = remove_staged };

	sigemptyset(&act.sa_mask);
	for (size_t i = 0; i < N_ENDING; i++) {
		sigaction(ending[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(ending[i], &act, NULL);
	}
}

static void unwatch(void)
{
	for (size_t i = 0; i < N_ENDING; i++)
		sigaction(ending[i], &before[i], NULL);
}

/* ---- files -------------------------------------------------------------- */

static enum ftr_status write_through(const char *path, cli_write_fn fn,
				     const void *ctx, struct ftr_err *err)
{
	FILE *out = fopen(path, "we");
	enum ftr_status st;

	if (!out)
		return sys_fail(err, path, "open");
	st = fill(out, path, fn, ctx, err);
	if (fclose(out) && !st)
		st = sys_fail(err, path, "write");
	return st;
}

/* Writes the temporary file; old: the file that it will replace, or NULL. */
static enum ftr_status write_beside(int fd, const char *path,
				    const struct stat *old, cli_write_fn fn,
				    const void *ctx, struct ftr_err *err)
{
	FILE *out = fdopen(fd, "w");
	mode_t mask = umask(0), mode = 0666 & ~mask;
	enum ftr_status st;

	umask(mask);
	if (!out) {
		st = sys_fail(err, path, "write");
		close(fd);
		return st;
	}
	st = fill(out, path, fn, ctx, err);
	if (old) {
		mode = old->st_mode & 0777;
		if (fchown(fd, old->st_uid, old->st_gid))
			mode &= 0700 | (0666 & ~mask);	/* the new file has another owner */
	}
	if (!st && (fchmod(fd, mode) || fsync(fd)))
		st = sys_fail(err, path, "write");
	if (fclose(out) && !st)
		st = sys_fail(err, path, "write");
	return st;
}

/* Removes the temporary files of staged[first] and of all later elements, empties staged[], and
 * restores the previous signal handlers. */
static void remove_from(int first)
{
	for (int i = first; i < n_staged; i++)
		unlink(staged[i].tmp);
	if (n_staged)
		unwatch();
	n_staged = 0;
}

static void abandon(void)
{
	remove_from(0);
}

static void commit(void)
{
	for (int i = 0; i < n_staged; i++)
		if (rename(staged[i].tmp, staged[i].path)) {
			sys_fail(&cli_err, staged[i].path, "replace");
			remove_from(i);
			cli_must(FTR_IO);
		}
	remove_from(n_staged);
}

static enum ftr_status stage(const char *path, const struct stat *old,
			     cli_write_fn fn, const void *ctx,
			     struct ftr_err *err)
{
	int i = n_staged, fd;

	if (i == STAGED_MAX)
		return ftr_fail(err, FTR_LIMIT, "more than %d output files",
				STAGED_MAX);
	if (old && S_ISDIR(old->st_mode)) {
		errno = EISDIR;
		return sys_fail(err, path, "replace");
	}
	if ((size_t)snprintf(staged[i].tmp, PATH_MAX, "%s.XXXXXX", path) >=
	    PATH_MAX)
		return ftr_fail(err, FTR_INVAL, "%s: the name is too long", path);
	memcpy(staged[i].path, path, strlen(path) + 1);
	if (!i)
		watch();
	cli_before_death(abandon);
	fd = mkstemp(staged[i].tmp);
	if (fd < 0) {
		if (!i)
			unwatch();
		return sys_fail(err, path, "create");
	}
	n_staged = i + 1;
	return write_beside(fd, path, old, fn, ctx, err);
}

void cli_write_begin(void)
{
	together = true;
}

void cli_write_end(void)
{
	together = false;
	commit();
}

void cli_write(const char *path, cli_write_fn fn, const void *ctx)
{
	struct stat sb, link;
	bool exists, is_link;
	char *real = NULL;

	if (!path || !strcmp(path, "-")) {
		cli_must(fill(stdout, "stdout", fn, ctx, &cli_err));
		return;
	}
	exists = !stat(path, &sb);
	is_link = !lstat(path, &link) && S_ISLNK(link.st_mode);
	if (is_link && exists)
		real = realpath(path, NULL);
	if ((is_link && !real) || (exists && !S_ISREG(sb.st_mode) &&
				   !S_ISDIR(sb.st_mode)))
		cli_must(write_through(path, fn, ctx, &cli_err));
	else
		cli_must(stage(real ? real : path, exists ? &sb : NULL, fn, ctx,
			       &cli_err));
	free(real);
	if (!together)
		commit();
}

/* ---- conflicts between files ------------------------------------------- */

/* Stores in out a unique name of the file, which need not exist: the canonical path of its
 * directory, and its base name.  Returns false if the directory does not exist, or if the path is
 * too long. */
static bool canonical(const char *path, char out[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	char dir[PATH_MAX], real[PATH_MAX];

	if (realpath(path, out))
		return true;
	if ((size_t)snprintf(dir, sizeof(dir), "%.*s", slash ?
			     (int)(slash - path + 1) : 1, slash ? path : ".") >=
	    sizeof(dir) || !realpath(dir, real))
		return false;
	return (size_t)snprintf(out, PATH_MAX, "%s/%s", real, base) < PATH_MAX;
}

static bool same_file(const char *a, const char *b)
{
	char one[PATH_MAX], two[PATH_MAX];
	struct stat x, y;

	if (!strcmp(a, b) || (canonical(a, one) && canonical(b, two) &&
			      !strcmp(one, two)))
		return true;
	return !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) &&
		x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void cli_check_outputs(const char *cmd, bool reported, const char *const *path,
		       unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (path[i] && !strcmp(path[i], "-")) {
			if (reported)
				cli_die("%s: two outputs cannot go to stdout", cmd);
			reported = true;
			continue;
		}
		for (unsigned int j = 0; path[i] && j < i; j++)
			if (path[j] && same_file(path[i], path[j]))
				cli_die("%s: two outputs cannot go to %s", cmd,
					path[i]);
	}
}

void cli_check_inputs(const char *cmd, const char *const *out,
		      unsigned int n_out, const char *const *in,
		      unsigned int n_in)
{
	for (unsigned int i = 0; i < n_out; i++)
		for (unsigned int k = 0; out[i] && strcmp(out[i], "-") &&
		     k < n_in; k++)
			if (in[k] && same_file(out[i], in[k]))
				cli_die("%s: %s is also an input and would be overwritten; choose another file",
					cmd, out[i]);
}
