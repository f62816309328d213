// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree completion: bash completion, generated from the tables of options.  "make
 * install" installs the copy src/cli/completion/ibfattree.  A test compares the copy
 * with the output of this command.
 */
#include <string.h>

#include "cli/cli.h"

static const struct cli_opt options[] = { CLI_OPT_END };

const struct cli_cmd *const *cli_completed;

static void put_words(const char *arg)
{
	for (; *arg; arg++)
		putchar(*arg == '|' ? ' ' : *arg);
}

static void put_engines(void)
{
	const struct ftr_engine_ops *e;

	for (unsigned int i = 0; (e = ftr_engine_at(i)); i++)
		printf("%s%s", i ? " " : "", e->name);
}

static void put_value(const struct cli_cmd *cmd, const struct cli_opt *o)
{
	if (o->kind == CLI_FLAG)
		return;
	printf("\t%s,--%s", cmd->name, o->name);
	if (!strcmp(o->name, "output"))
		printf(" | %s,-o", cmd->name);
	printf(") ");
	switch (o->kind) {
	case CLI_WORD:
		printf("words='");
		put_words(o->arg);
		printf("' ;;\n");
		break;
	case CLI_ENGINE:
		printf("words='");
		put_engines();
		printf("' ;;\n");
		break;
	case CLI_FILE:
	case CLI_FILES:
		printf("files=1 ;;\n");
		break;
	default:
		printf("return ;;\n");
	}
}

static void put_names(const struct cli_cmd *cmd)
{
	printf("\t\t%s) words='", cmd->name);
	for (const struct cli_opt *o = cmd->opts; o->name; o++)
		printf("%s--%s ", strcmp(o->name, "output") ? "" : "-o ",
		       o->name);
	printf("--help' ;;\n");
}

static int run_completion(int argc, char **argv)
{
	cli_parse(&cli_completion, NULL, argc, argv);
	printf("# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB\n"
	       "# shellcheck shell=bash disable=SC2207\n"
	       "# bash completion for ibfattree, written by: ibfattree completion\n"
	       "_ibfattree()\n{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words='' files=''\n"
	       "\tlocal prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	       "\tCOMPREPLY=()\n"
	       "\tif ((COMP_CWORD == 1)); then\n"
	       "\t\twords='");
	for (unsigned int i = 0; cli_completed[i]; i++)
		printf("%s ", cli_completed[i]->name);
	printf("--help --version'\n"
	       "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	       "\t\treturn\n"
	       "\tfi\n"
	       "\tcase ${COMP_WORDS[1]},$prev in\n");
	for (unsigned int i = 0; cli_completed[i]; i++)
		for (const struct cli_opt *o = cli_completed[i]->opts; o->name;
		     o++)
			put_value(cli_completed[i], o);
	printf("\t*)\n"
	       "\t\tfiles=1\n"
	       "\t\t[[ $cur != -* ]] || case ${COMP_WORDS[1]} in\n");
	for (unsigned int i = 0; cli_completed[i]; i++)
		put_names(cli_completed[i]);
	printf("\t\tesac ;;\n"
	       "\tesac\n"
	       "\tif [[ -n $words ]]; then\n"
	       "\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
	       "\telif [[ -n $files ]]; then\n"
	       "\t\tcompopt -o filenames 2>/dev/null\n"
	       "\t\tlocal IFS=$'\\n'\n"
	       "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
	       "\tfi\n"
	       "}\n"
	       "complete -F _ibfattree ibfattree\n");
	return CLI_CLEAN;
}

const struct cli_cmd cli_completion = {
	.name = "completion",
	.summary = "print the bash completion script",
	.args = "",
	.text =
"Prints a bash script that completes commands, options, engines and files:\n"
"\n"
"    source <(ibfattree completion)\n",
	.opts = options,
	.min_args = 0,
	.max_args = 0,
	.run = run_completion,
};
