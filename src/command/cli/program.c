// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Starts the programs ibfattree-NAME, and converts cable plans and lists of links with one of them.
 *
 * ibfattree-topo reads and writes files by their names.  So the fabric goes through temporary files
 * without a name, which the program opens as /proc/self/fd/N.  It prints its errors itself; those
 * about a list become errors of the reader.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

int cli_exec(const char *name, char **argv)
{
	char dir[PATH_MAX], program[64], path[sizeof(dir) + sizeof(program)];
	ssize_t n = readlink("/proc/self/exe", dir, sizeof(dir));
	sigset_t ctrl_c;

	/* Python would print a traceback during its imports; common.py unblocks the signal.  ibfattree-simulate
	 * is not in Python. */
	sigemptyset(&ctrl_c);
	sigaddset(&ctrl_c, SIGINT);
	sigprocmask(strcmp(name, "simulate") ? SIG_BLOCK : SIG_UNBLOCK, &ctrl_c, NULL);
	snprintf(program, sizeof(program), "ibfattree-%s", name);
	if (n > 0 && n < (ssize_t)sizeof(dir)) {	/* not covered: without /proc */
		dir[n] = '\0';
		setenv("IBFATTREE", dir, 0);	/* the command that the program runs */
	}
	while (n > 0 && dir[n - 1] != '/')	/* not covered: as above */
		n--;
	if (n > 0) {	/* not covered: as above */
		snprintf(path, sizeof(path), "%.*s%s", (int)n, dir, program);
		execv(path, argv);
	}
	execvp(program, argv);
	return cli_error("%s: cannot start: %s; is the package %s installed?", program,
			 strerror(errno), program);
}

/* Runs ibfattree-topo, and returns its status. */
static int run_topo(const char *const *argv, int out, int err)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		_exit(dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0 ? CLI_BAD :
		      cli_exec("topo", (char **)(uintptr_t)argv));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)	/* not covered: no process left */
		cli_die("ibfattree-topo: %s", strerror(errno));
	return status;
}

/* Creates a file that exists until this process ends, and sets its name for other programs. */
static FILE *temporary(char name[static FTR_CONVERTED_MAX])
{
	FILE *file = tmpfile();

	if (!file)
		cli_die("temporary file: %s", strerror(errno));
	snprintf(name, FTR_CONVERTED_MAX, "/proc/self/fd/%d", fileno(file));
	return file;
}

enum ftr_status cli_convert(const char *path, const char *text, size_t len,
			    char file[FTR_CONVERTED_MAX], struct ftr_err *err)
{
	char in[FTR_CONVERTED_MAX], message[FTR_ERR_MAX] = "", *place;
	FILE *from = temporary(in);
	int to = fileno(temporary(file));

	if (fwrite(text, 1, len, from) != len || fflush(from))
		cli_die("temporary file: %s", strerror(errno));
	if (!run_topo((const char *[]){ "ibfattree topo", in, NULL }, to, to))
		return FTR_OK;
	if (pread(to, message, sizeof(message) - 1, 0) < 0)	/* not covered: a broken disk */
		cli_die("temporary file: %s", strerror(errno));
	message[strcspn(message, "\n")] = '\0';
	place = strstr(message, in);
	return ftr_fail(err, FTR_PARSE, "%s%s", place ? path : "",
			place ? place + strlen(in) : message);
}

bool cli_is_plan(const char *path)
{
	size_t n = path ? strlen(path) : 0;

	return n > 5 && !strcmp(path + n - 5, ".topo");
}

const char *cli_read_plan(const char *path, const struct ftr_fabric *f)
{
	static char out[FTR_CONVERTED_MAX];
	char in[FTR_CONVERTED_MAX];

	cli_must(ftr_write_netfile(temporary(in), f, NULL, &cli_err));
	if (run_topo((const char *[]){ "ibfattree topo", "--guids", in, path, NULL },
		     fileno(temporary(out)), STDERR_FILENO))
		exit(CLI_BAD);
	return out;
}

void cli_write_plan(const char *path, const struct ftr_fabric *f)
{
	char in[FTR_CONVERTED_MAX], copy[PATH_MAX], ibnl[PATH_MAX + 16];

	cli_must(ftr_write_netfile(temporary(in), f, NULL, &cli_err));
	snprintf(copy, sizeof(copy), "%s", path);
	snprintf(ibnl, sizeof(ibnl), "%s/ibdiag_ibnl", dirname(copy));
	if (run_topo((const char *[]){ "ibfattree topo", "--write", in, "--ibnl", ibnl, "-o", path,
				       NULL }, STDOUT_FILENO, STDERR_FILENO))
		exit(CLI_BAD);
}
