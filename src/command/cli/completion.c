// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree completion: prints the bash completion, src/command/cli/completion/ibfattree, which
 * "make install" also installs.
 */
#include "cli/cli.h"

static const struct cli_opt options[] = { CLI_OPT_END };

static int run_completion(int argc, char **argv)
{
	cli_parse(&cli_completion, NULL, argc, argv);
	fputs(part_completion, stdout);
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
	.min_args = 0, .max_args = 0,
	.run = run_completion,
};
