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

static _Noreturn void sys_die(const char *path, const char *what)
{
	cli_die("%s: cannot %s: %s", path, what, strerror(errno));
}

bool cli_packed(const char *path)
{
	size_t n = path ? strlen(path) : 0;

	return n > 3 && !strcmp(path + n - 3, ".gz");
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
	for (int i = 0; i <= n_staged && i < STAGED_MAX; i++)	/* not covered: the signal ends it */
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

/* Called by cli_die.  Those files that commit() has renamed do not exist under tmp. */
static void abandon(void)
{
	for (int i = 0; i < n_staged; i++)
		unlink(staged[i].tmp);
}

static void commit(void)
{
	for (int i = 0; i < n_staged; i++)
		if (rename(staged[i].tmp, staged[i].path))
			sys_die(staged[i].path, "replace");
	if (n_staged)
		unwatch();
	n_staged = 0;
}

/* The file between cli_create and cli_finish. */
static struct {
	const char *path;	/* for messages */
	FILE *to;		/* the file */
	FILE *packed;		/* stream that compresses and writes to `to`; or NULL */
	bool beside;		/* written under a temporary name */
	bool replaces;		/* a file, with this owner and mode */
	struct stat old;
} now;

/* Opens the temporary file for the file at path. */
static FILE *stage(const char *path)
{
	int i = n_staged, fd;

	if (i == STAGED_MAX)	/* not covered: no command has so many output files */
		cli_die("more than %d output files", STAGED_MAX);
	if (now.replaces && S_ISDIR(now.old.st_mode)) {
		errno = EISDIR;
		sys_die(path, "replace");
	}
	if ((size_t)snprintf(staged[i].tmp, PATH_MAX, "%s.XXXXXX", path) >= PATH_MAX)
		cli_die("%s: the name is too long", path);
	memcpy(staged[i].path, path, strlen(path) + 1);
	if (!i)
		watch();
	cli_before_death(abandon);
	fd = mkstemp(staged[i].tmp);
	if (fd < 0) {
		if (!i)
			unwatch();
		sys_die(path, "create");
	}
	n_staged = i + 1;
	return fdopen(fd, "w");
}

/* Gives the new file the owner and the mode of the replaced one, and writes it to the disk. */
static bool complete(int fd)
{
	mode_t mask = umask(0), mode = 0666 & ~mask;

	umask(mask);
	if (now.replaces) {
		mode = now.old.st_mode & 0777;
		if (fchown(fd, now.old.st_uid, now.old.st_gid))	/* not covered: needs a second user */
			mode &= 0700 | (0666 & ~mask);	/* the new file has another owner */
	}
	return !fchmod(fd, mode) && !fsync(fd);	/* not covered: fails on broken disks only */
}

FILE *cli_create(const char *path)
{
	bool is_stdout = !path || !strcmp(path, "-"), is_link;
	char *real = NULL;
	struct stat link;

	memset(&now, 0, sizeof(now));
	now.path = is_stdout ? "stdout" : path;
	if (is_stdout)
		return now.to = stdout;
	now.replaces = !stat(path, &now.old);
	is_link = !lstat(path, &link) && S_ISLNK(link.st_mode);
	if (is_link && now.replaces)
		real = realpath(path, NULL);
	now.beside = (!is_link || real) && (!now.replaces || S_ISREG(now.old.st_mode) ||
					    S_ISDIR(now.old.st_mode));
	now.to = now.beside ? stage(real ? real : path) : fopen(path, "we");
	free(real);
	if (!now.to)
		sys_die(path, "open");
	if (!cli_packed(path))
		return now.to;
	now.packed = cli_gzip(fileno(now.to));
	if (!now.packed)
		sys_die(path, "compress");
	return now.packed;
}

void cli_finish(enum ftr_status st)
{
	if (now.packed && fclose(now.packed) && !st)
		sys_die(now.path, "write");
	if (st == FTR_IO)	/* the message lacks the name of the file */
		cli_die("%s: %s", now.path, cli_err.msg);
	cli_must(st);
	if (fflush(now.to) || ferror(now.to) || (now.beside && !complete(fileno(now.to))) ||
	    (now.to != stdout && fclose(now.to)))
		sys_die(now.path, "write");
	if (!together)
		commit();
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

	if (!strcmp(a, b) || (canonical(a, one) && canonical(b, two) && !strcmp(one, two)))
		return true;
	return !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) &&
		x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

void cli_check_outputs(const char *cmd, bool reported, const char *const *path, unsigned int n)
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
				cli_die("%s: two outputs cannot go to %s", cmd, path[i]);
	}
}

void cli_check_inputs(const char *cmd, const char *const *out,
		      unsigned int n_out, const char *const *in, unsigned int n_in)
{
	for (unsigned int i = 0; i < n_out; i++)
		for (unsigned int k = 0; out[i] && strcmp(out[i], "-") && k < n_in; k++)
			if (in[k] && same_file(out[i], in[k]))
				cli_die("%s: %s is also an input and would be overwritten; choose another file",
					cmd, out[i]);
}
