// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Output files, whole or not at all.
 *
 * A file is written beside its place, under a name of its own, and renamed when
 * all of it is on the disk.  A signal that ends the program takes the unfinished
 * one away.  What is written through: links (the file that they lead to is
 * replaced), devices and pipes.  A file that is replaced passes on its mode.
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

/* Whoever fills a file does not know its name. */
static enum ftr_status fill(FILE *out, const char *path, cli_write_fn fn,
			    const void *ctx, struct ftr_err *err)
{
	struct ftr_err why = { 0 };
	enum ftr_status st = fn(out, ctx, &why);

	if (st == FTR_IO)
		return ftr_fail(err, st, "%s: %s", path, why.msg);
	if (st)
		return ftr_fail(err, st, "%s", why.msg);
	if (fflush(out) || ferror(out))
		return sys_fail(err, path, "write");
	return FTR_OK;
}

/* ---- the unfinished file and signals ------------------------------------ */

static char unfinished[PATH_MAX];
static const int ending[] = { SIGHUP, SIGINT, SIGTERM, SIGXFSZ, SIGXCPU };
#define N_ENDING (sizeof(ending) / sizeof(ending[0]))
static struct sigaction before[N_ENDING];

static void take_away(int sig)
{
	unlink(unfinished);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* Signals that are ignored stay so. */
static void watch(void)
{
	struct sigaction act = { .sa_handler = take_away };

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

/* The unfinished file; old: what it will replace, or NULL. */
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
			mode &= 0700 | (0666 & ~mask);	/* another's now */
	}
	if (!st && (fchmod(fd, mode) || fsync(fd)))
		st = sys_fail(err, path, "write");
	if (fclose(out) && !st)
		st = sys_fail(err, path, "write");
	return st;
}

static enum ftr_status replace(const char *path, const struct stat *old,
			       cli_write_fn fn, const void *ctx,
			       struct ftr_err *err)
{
	enum ftr_status st;
	int fd;

	if ((size_t)snprintf(unfinished, sizeof(unfinished), "%s.XXXXXX",
			     path) >= sizeof(unfinished))
		return ftr_fail(err, FTR_INVAL, "%s: too long a name", path);
	watch();
	fd = mkstemp(unfinished);
	if (fd < 0) {
		st = sys_fail(err, path, "create");
	} else {
		st = write_beside(fd, path, old, fn, ctx, err);
		if (!st && rename(unfinished, path))
			st = sys_fail(err, path, "replace");
		if (st)
			unlink(unfinished);
	}
	unwatch();
	return st;
}

enum ftr_status cli_write(const char *path, cli_write_fn fn, const void *ctx,
			  struct ftr_err *err)
{
	struct stat sb, link;
	bool there, leads;
	enum ftr_status st;
	char *real = NULL;

	if (!path || !strcmp(path, "-"))
		return fill(stdout, "stdout", fn, ctx, err);
	there = !stat(path, &sb);
	leads = !lstat(path, &link) && S_ISLNK(link.st_mode);
	if (leads && there)
		real = realpath(path, NULL);
	if ((leads && !real) || (there && !S_ISREG(sb.st_mode)))
		st = write_through(path, fn, ctx, err);
	else
		st = replace(real ? real : path, there ? &sb : NULL, fn, ctx,
			     err);
	free(real);
	return st;
}

/* ---- several of them ---------------------------------------------------- */

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	if (!strcmp(a, b))
		return true;
	return !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) &&
		x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

int cli_check_outputs(const char *cmd, bool told, const char *const *path,
		      unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (path[i] && !strcmp(path[i], "-")) {
			if (told)
				return cli_error("%s: two things cannot go to stdout",
						 cmd);
			told = true;
			continue;
		}
		for (unsigned int j = 0; path[i] && j < i; j++)
			if (path[j] && same_file(path[i], path[j]))
				return cli_error("%s: two things cannot go to %s",
						 cmd, path[i]);
	}
	return -1;
}
