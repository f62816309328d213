// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options: one table per command, read by the parser and by --help.
 *
 * "--name value", "--name=value" and, for --output, "-o value".  "--" ends the
 * options.  A word that is no option is an argument; options and arguments may
 * be mixed.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

int cli_error(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("ibfattree: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return CLI_BAD;
}

int cli_fail(const struct ftr_err *err)
{
	return cli_error("%s", err->msg[0] ? err->msg :
			 ftr_status_str(err->status));
}

static void help(const struct cli_usage *u)
{
	char left[64];

	printf("Usage: ibfattree %s [OPTION...] %s\n%s\nOptions:\n", u->cmd,
	       u->args, u->text);
	for (const struct cli_opt *o = u->opts; o->name; o++) {
		snprintf(left, sizeof(left), "%s--%s%s%s",
			 strcmp(o->name, "output") ? "" : "-o, ", o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");
		printf("  %-24s %s\n", left, o->help);
	}
	printf("  %-24s %s\n", "--help", "print this and exit");
}

static int bad_number(const struct cli_usage *u, const struct cli_opt *o,
		      const char *text)
{
	if (o->kind == CLI_UINT)
		return cli_error("%s: --%s wants a number from 0 to %u, not '%s'",
				 u->cmd, o->name, o->max, text);
	return cli_error("%s: --%s wants a number, not '%s'", u->cmd, o->name,
			 text);
}

static int set_value(const struct cli_usage *u, const struct cli_opt *o,
		     const char *text)
{
	unsigned long long n;
	char *end;

	if (o->kind == CLI_STRING) {
		*(const char **)o->val = text;
		return -1;
	}
	errno = 0;
	n = strtoull(text, &end, 0);
	if (errno || *end || end == text || text[0] < '0' || text[0] > '9')
		return bad_number(u, o, text);
	if (o->kind == CLI_U64) {
		*(uint64_t *)o->val = n;
		return -1;
	}
	if (n > o->max)
		return bad_number(u, o, text);
	*(unsigned int *)o->val = (unsigned int)n;
	return -1;
}

/* The option that word names; *value: what stands behind '=' or NULL. */
static const struct cli_opt *find(const struct cli_usage *u, const char *word,
				  const char **value)
{
	size_t len = strcspn(word + 2, "=");

	*value = word[2 + len] ? word + 2 + len + 1 : NULL;
	if (!strcmp(word, "-o")) {
		word = "--output";
		len = strlen("output");
		*value = NULL;
	}
	if (word[1] != '-')
		return NULL;
	for (const struct cli_opt *o = u->opts; o->name; o++)
		if (strlen(o->name) == len && !strncmp(o->name, word + 2, len))
			return o;
	return NULL;
}

/* One option at argv[*i]; moves *i past its value. */
static int take(const struct cli_usage *u, int argc, char **argv, int *i)
{
	const char *word = argv[*i], *value;
	const struct cli_opt *o;

	if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
		help(u);
		return CLI_CLEAN;
	}
	o = find(u, word, &value);
	if (!o)
		return cli_error("%s: there is no option '%s' (ibfattree %s --help lists them)",
				 u->cmd, word, u->cmd);
	if (o->kind == CLI_FLAG) {
		if (value)
			return cli_error("%s: --%s takes no value, but '%s' is given",
					 u->cmd, o->name, value);
		*(bool *)o->val = true;
		return -1;
	}
	if (!value) {
		if (*i + 1 >= argc)
			return cli_error("%s: --%s wants a value: %s", u->cmd,
					 o->name, o->arg);
		value = argv[++*i];
	}
	return set_value(u, o, value);
}

int cli_parse(const struct cli_usage *u, int argc, char **argv, int *n_args)
{
	bool only_args = false;
	int n = 0;

	for (int i = 1; i < argc; i++) {
		if (!only_args && !strcmp(argv[i], "--")) {
			only_args = true;
		} else if (!only_args && argv[i][0] == '-' && argv[i][1]) {
			int status = take(u, argc, argv, &i);

			if (status >= 0)
				return status;
		} else {
			argv[n++] = argv[i];
		}
	}
	if (n < u->min_args)
		return cli_error("%s: missing argument; usage: ibfattree %s [OPTION...] %s",
				 u->cmd, u->cmd, u->args);
	if (n > u->max_args)
		return cli_error("%s: '%s' is one argument too many; usage: ibfattree %s [OPTION...] %s",
				 u->cmd, argv[u->max_args], u->cmd, u->args);
	*n_args = n;
	return -1;
}
