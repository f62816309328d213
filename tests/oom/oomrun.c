// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Runs a command twice for each of its allocations.  In the first run this allocation fails; in the
 * second run this allocation and all later ones fail.
 *
 *	oomrun LIBRARY SAMPLE FILE,... COMMAND...
 *
 *	LIBRARY		failalloc.so
 *	SAMPLE		number of allocations to try; 0: all
 *	FILE,...	the files that the command writes; "-": none
 *
 * Two outcomes are allowed:
 *
 * - Exit status, standard output and files are those of a run without failing allocations.
 * - The exit status is 2, standard error has one error line, and standard output is empty.  Either
 *   all of the files are written or none.
 * - The output names an error that is part of the result ("facts" without a fabric), and that a run
 *   without failing allocations does not have.
 *
 * Lines that contain a time are not compared.  Temporary files are in the current directory.
 *
 * The last line of output is "N runs, M wrong".  The exit status is 0 if no run is wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_MAX 4

struct outcome {
	int status;		/* as returned by waitpid() */
	char *out, *err;
	char *file[FILES_MAX];	/* NULL: the file does not exist */
};

static const char *library;
static char *file[FILES_MAX];
static unsigned int n_files;
static char dir[] = "oomrun.XXXXXX";

static void die(const char *what)
{
	fprintf(stderr, "oomrun: %s: %s\n", what, strerror(errno));
	exit(2);
}

static bool has_time(const char *line, size_t len)
{
	return memmem(line, len, "_ms\"", 4) ||
		memmem(line, len, "\"seconds\"", 9) ||
		memmem(line, len, "ms to route", 11) ||
		memmem(line, len, "seconds ", 8) || memmem(line, len, " switches in ", 13);
}

/* Writes the line, with one blank instead of several.  The number of blanks in a column may depend
 * on a time. */
static void put_line(FILE *out, const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (line[i] != ' ' || !i || line[i - 1] != ' ')
			fputc(line[i], out);
}

/* Returns the text of the file, without lines that contain a time.  NULL: there is no file. */
static char *slurp(const char *path)
{
	FILE *in = fopen(path, "r"), *mem;
	char *line = NULL, *text = NULL;
	size_t cap = 0, size;
	ssize_t len;

	if (!in)
		return NULL;
	mem = open_memstream(&text, &size);
	while ((len = getline(&line, &cap, in)) > 0)
		if (!has_time(line, (size_t)len))
			put_line(mem, line, (size_t)len);
	free(line);
	fclose(in);
	fclose(mem);
	return text;
}

static void in_dir(char path[64], const char *name)
{
	snprintf(path, 64, "%s/%s", dir, name);
}

static void child(char **argv, unsigned long at, bool all)
{
	char out[64], err[64], count[64], n[32];

	in_dir(out, "out");
	in_dir(err, "err");
	in_dir(count, "count");
	if (!freopen(out, "w", stdout) || !freopen(err, "w", stderr) ||
	    !freopen("/dev/null", "r", stdin))
		_exit(99);
	setenv("LD_PRELOAD", library, 1);
	setenv("FAILALLOC_COUNT", count, 1);
	snprintf(n, sizeof(n), "%lu", at);
	if (at)
		setenv("FAILALLOC_AT", n, 1);
	if (all)
		setenv("FAILALLOC_ALL", "1", 1);
	alarm(600);
	execv(argv[0], argv);
	_exit(99);
}

static struct outcome run_oomrun(char **argv, unsigned long at, bool all)
{
	struct outcome o = { 0 };
	char path[64];
	pid_t pid;

	for (unsigned int i = 0; i < n_files; i++)
		unlink(file[i]);
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		child(argv, at, all);
	if (waitpid(pid, &o.status, 0) < 0)
		die("waitpid");
	in_dir(path, "out");
	o.out = slurp(path);
	in_dir(path, "err");
	o.err = slurp(path);
	for (unsigned int i = 0; i < n_files; i++)
		o.file[i] = slurp(file[i]);
	return o;
}

static void outcome_free(struct outcome *o)
{
	free(o->out);
	free(o->err);
	for (unsigned int i = 0; i < n_files; i++)
		free(o->file[i]);
}

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Returns the number of error lines in the text. */
static unsigned int errors(const char *text)
{
	unsigned int n = 0;

	for (const char *line = text; line && *line;) {
		const char *nl = strchr(line, '\n');

		if (!strncmp(line, "ibfattree: ", 11) &&
		    strncmp(line, "ibfattree: note: ", 17))
			n++;
		line = nl ? nl + 1 : line + strlen(line);
	}
	return n;
}

/* True if the output names an error that is part of the result. */
static bool has_error(const char *out)
{
	return out && strstr(out, "\"error\": \"");
}

static const char *judge(const struct outcome *want, const struct outcome *o)
{
	bool equal = o->status == want->status && same(o->out, want->out);
	unsigned int n = 0, whole = 0;

	for (unsigned int i = 0; i < n_files; i++)
		equal = equal && same(o->file[i], want->file[i]);
	if (equal)
		return NULL;
	if (WIFSIGNALED(o->status))
		return "a signal ended the command";
	if (WEXITSTATUS(o->status) != 2)
		return has_error(o->out) && !has_error(want->out) ? NULL :
			"a different result, but no error";
	if (o->out && *o->out)
		return "an error, but a part of the result is on standard output";
	for (unsigned int i = 0; i < n_files; i++) {
		n += o->file[i] != NULL;
		whole += o->file[i] && same(o->file[i], want->file[i]);
	}
	if (n && whole != n_files)
		return "an output file in spite of the error";
	return errors(o->err) == 1 ? NULL : "the number of error lines is not 1";
}

static unsigned long count_allocations(void)
{
	unsigned long n = 0;
	char path[64];
	FILE *in;

	in_dir(path, "count");
	in = fopen(path, "r");
	if (!in || fscanf(in, "%lu", &n) != 1)
		die("the library has not written the number of allocations");
	fclose(in);
	return n;
}

static bool try(char **argv, const struct outcome *want, unsigned long at,
		bool all)
{
	struct outcome o = run_oomrun(argv, at, all);
	const char *wrong = judge(want, &o);

	if (wrong)
		printf("allocation %lu%s: %s; status %#x, error: %s\n", at,
		       all ? " and all after it" : "", wrong,
		       (unsigned int)o.status, o.err ? o.err : "-");
	outcome_free(&o);
	return !wrong;
}

static void split_files(char *list)
{
	for (char *f = strtok(list, ","); f; f = strtok(NULL, ","))
		if (strcmp(f, "-") && n_files < FILES_MAX)
			file[n_files++] = f;
}

static void clean_up(void)
{
	static const char *const name[] = { "out", "err", "count" };
	char path[64];

	for (int i = 0; i < 3; i++) {
		in_dir(path, name[i]);
		unlink(path);
	}
	rmdir(dir);
}

int main(int argc, char **argv)
{
	unsigned long sample, total, runs = 0, wrong = 0;
	struct outcome want;

	if (argc < 5) {
		fprintf(stderr, "Usage: oomrun LIBRARY SAMPLE FILE,... COMMAND...\n");
		return 2;
	}
	library = argv[1];
	sample = strtoul(argv[2], NULL, 10);
	split_files(argv[3]);
	if (!mkdtemp(dir))
		die(dir);
	atexit(clean_up);
	want = run_oomrun(argv + 4, 0, false);
	if (!WIFEXITED(want.status) || WEXITSTATUS(want.status) > 1) {
		printf("the command fails even if all allocations succeed: %s\n", want.err);
		return 1;
	}
	total = count_allocations();
	if (!total)
		die("the command allocates nothing");
	if (!sample || sample > total)
		sample = total;
	for (unsigned long i = 0; i < sample; i++) {
		unsigned long at = 1 + i * total / sample;

		for (int all = 0; all < 2; all++, runs++)
			wrong += !try(argv + 4, &want, at, all);
	}
	outcome_free(&want);
	printf("%lu runs, %lu wrong\n", runs, wrong);
	return wrong != 0;
}
