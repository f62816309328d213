// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options: one table per command, used by the parser and by --help.
 *
 * Syntax: "--name value", "--name=value" and, for --output, "-o value".  Options and arguments
 * may be mixed.  "--" ends the options.  The argument "-" is standard input.  The same code parses
 * defaults and given values.  If an option is given twice, the last one counts; CLI_LIST and CLI_FILES
 * collect all values.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

static void help(const struct cli_cmd *cmd)
{
	char left[80];

	printf("Usage: ibfattree %s [OPTION...] %s\n%s\nOptions:\n", cmd->name,
	       cmd->args, cmd->text);
	for (const struct cli_opt *o = cmd->opts; o->name; o++) {
		snprintf(left, sizeof(left), "%s--%s%s%s",
			 strcmp(o->name, "output") ? "" : "-o, ", o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");
		printf("  %-26s %s", left, o->help);
		if (o->def)
			printf(" (default: %s)", o->def);
		putchar('\n');
	}
	printf("  %-26s %s\n", "-h, --help", "show this help");
}

static void set_number(const struct cli_cmd *cmd, const struct cli_opt *o,
		       void *val, const char *text)
{
	unsigned long long n;
	char *end;
	bool bad;

	errno = 0;
	n = strtoull(text, &end, 0);
	bad = errno || *end || end == text || text[0] < '0' || text[0] > '9';
	if (o->kind == CLI_UINT && (bad || n < o->min || n > o->max))
		cli_die("%s: --%s expects a number from %u to %u, not '%s'",
			cmd->name, o->name, o->min, o->max, text);
	if (bad)
		cli_die("%s: --%s expects a number, not '%s'", cmd->name, o->name, text);
	if (o->kind == CLI_U64)
		*(uint64_t *)val = n;
	else
		*(unsigned int *)val = (unsigned int)n;
}

static void set_word(const struct cli_cmd *cmd, const struct cli_opt *o,
		     unsigned int *val, const char *text)
{
	size_t len = strlen(text);
	unsigned int i = 0;

	for (const char *w = o->arg; ; i++) {
		size_t n = strcspn(w, "|");

		if (n == len && !memcmp(w, text, n))
			break;
		if (!w[n])
			cli_die("%s: --%s expects %s, not '%s'", cmd->name, o->name, o->arg, text);
		w += n + 1;
	}
	*val = i;
}

static void add(const struct cli_cmd *cmd, const struct cli_opt *o,
		struct cli_list *list, const char *text)
{
	if (list->n == CLI_LIST_MAX)
		cli_die("%s: --%s %s: the option may be given at most %u times",
			cmd->name, o->name, text, CLI_LIST_MAX);
	list->v[list->n++] = text;
}

static void set_value(const struct cli_cmd *cmd, const struct cli_opt *o,
		      void *conf, const char *text)
{
	void *val = (char *)conf + o->at;
	const struct ftr_engine_ops *ops;

	switch (o->kind) {	/* not covered: another kind */
	case CLI_STRING:
	case CLI_FILE:
		*(const char **)val = text;
		break;
	case CLI_UINT:
	case CLI_U64:
		set_number(cmd, o, val, text);
		break;
	case CLI_WORD:
		set_word(cmd, o, val, text);
		break;
	case CLI_ENGINE:
		ops = ftr_engine_find(text);
		if (!ops)
			cli_die("%s: unknown engine '%s' (ibfattree --help lists the engines)",
				cmd->name, text);
		*(const struct ftr_engine_ops **)val = ops;
		break;
	case CLI_LIST:
	case CLI_FILES:
		add(cmd, o, val, text);
		break;
	case CLI_FLAG:
		*(bool *)val = true;
		break;
	}
}

/* Returns the option that `word` names, or NULL; *value: the text after '=', or NULL. */
static const struct cli_opt *find(const struct cli_cmd *cmd, const char *word, const char **value)
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
	for (const struct cli_opt *o = cmd->opts; o->name; o++)
		if (strlen(o->name) == len && !strncmp(o->name, word + 2, len))
			return o;
	return NULL;
}

/* Parses the option at argv[*i]; moves *i past its value. */
static void take(const struct cli_cmd *cmd, void *conf, int argc, char **argv, int *i)
{
	const char *word = argv[*i], *value;
	const struct cli_opt *o;

	if (!strcmp(word, "--help") || !strcmp(word, "-h")) {
		help(cmd);
		cli_exit(CLI_CLEAN);
	}
	o = find(cmd, word, &value);
	if (!o)
		cli_die("%s: unknown option '%s' (ibfattree %s --help lists the options)",
			cmd->name, word, cmd->name);
	if (o->kind == CLI_FLAG && value)
		cli_die("%s: --%s takes no value, but '%s' is given", cmd->name, o->name, value);
	if (o->kind != CLI_FLAG && !value)
		value = *i + 1 < argc ? argv[++*i] : "";
	if (o->kind != CLI_FLAG && !*value)
		cli_die("%s: --%s expects a value: %s", cmd->name, o->name, o->arg);
	set_value(cmd, o, conf, value);
}

int cli_parse(const struct cli_cmd *cmd, void *conf, int argc, char **argv)
{
	bool only_args = false;
	int n = 0;

	for (const struct cli_opt *o = cmd->opts; o->name; o++)
		if (o->def)
			set_value(cmd, o, conf, o->def);
	for (int i = 1; i < argc; i++) {
		if (!only_args && !strcmp(argv[i], "--"))
			only_args = true;
		else if (!only_args && argv[i][0] == '-' && argv[i][1])
			take(cmd, conf, argc, argv, &i);
		else
			argv[n++] = strcmp(argv[i], "-") ? argv[i] : (char *)(uintptr_t)"/dev/stdin";
	}
	if (n < cmd->min_args)
		cli_die("%s: missing argument; usage: ibfattree %s [OPTION...] %s",
			cmd->name, cmd->name, cmd->args);
	if (n > cmd->max_args)
		cli_die("%s: '%s' is one argument too many; usage: ibfattree %s [OPTION...] %s",
			cmd->name, argv[cmd->max_args], cmd->name, cmd->args);
	return n;
}
