// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Starts the programs ibfattree-NAME, and converts cable plans with one of them.
 *
 * ibfattree-topo reads and writes files by their names.  So the fabric goes through temporary files
 * without a name, which the program opens as /proc/self/fd/N.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

int cli_exec(const char *name, char **argv)
{
	char dir[PATH_MAX], program[64], path[sizeof(dir) + sizeof(program)];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir));

	snprintf(program, sizeof(program), "ibfattree-%s", name);
	if (n > 0 && n < (ssize_t)sizeof(dir)) {
		dir[n] = '\0';
		setenv("IBFATTREE", dir, 0);	/* the command that the program runs */
	}
	while (n > 0 && dir[n - 1] != '/')
		n--;
	if (n > 0) {
		snprintf(path, sizeof(path), "%.*s%s", (int)n, dir, program);
		execv(path, argv);
	}
	execvp(program, argv);
	return cli_error("%s: cannot start: %s; is the package %s installed?", program,
			 strerror(errno), program);
}

/* Runs ibfattree-topo, which prints its own errors. */
static void convert(const char *const *argv, int to)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		_exit(dup2(to, STDOUT_FILENO) < 0 ? CLI_BAD :
		      cli_exec("topo", (char **)(uintptr_t)argv));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		cli_die("ibfattree-topo: %s", strerror(errno));
	if (status)
		exit(CLI_BAD);
}

/* A file with f, or an empty one, and its name for other programs.  Returns its descriptor.  The file
 * exists until this process ends. */
static int temporary(const struct ftr_fabric *f, char name[static 32])
{
	FILE *file = tmpfile();

	if (!file)
		cli_die("temporary file: %s", strerror(errno));
	if (f)
		cli_must(ftr_write_netfile(file, f, NULL, &cli_err));
	if (fflush(file))
		cli_die("temporary file: %s", strerror(errno));
	snprintf(name, 32, "/proc/self/fd/%d", fileno(file));
	return fileno(file);
}

bool cli_is_plan(const char *path)
{
	size_t n = path ? strlen(path) : 0;

	return n > 5 && !strcmp(path + n - 5, ".topo");
}

const char *cli_read_plan(const char *path, const struct ftr_fabric *f)
{
	static char out[32];
	char in[32];

	temporary(f, in);
	convert((const char *[]){ "ibfattree topo", "--guids", in, path, NULL },
		temporary(NULL, out));
	return out;
}

void cli_write_plan(const char *path, const struct ftr_fabric *f)
{
	char in[32], copy[PATH_MAX], ibnl[PATH_MAX + 16];

	temporary(f, in);
	snprintf(copy, sizeof(copy), "%s", path);
	snprintf(ibnl, sizeof(ibnl), "%s/ibdiag_ibnl", dirname(copy));
	convert((const char *[]){ "ibfattree topo", "--write", in, "--ibnl", ibnl, "-o", path, NULL },
		STDOUT_FILENO);
}
