// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The command ibfattree: finds the subcommand and runs it.
 */
#include <string.h>

#include "config.h"
#include "cli/cli.h"

const struct cli_cmd cli_commands[] = {
	{ "gen", "write a fat-tree as a netfile for ibsim", cli_gen },
	{ "route", "compute forwarding tables for a fabric", cli_route },
	{ "check", "walk forwarding tables: holes, loops, credit loops",
	  cli_check },
	{ "load", "count the flows on every link under traffic patterns",
	  cli_load },
	{ "diff", "count what differs between two sets of tables", cli_diff },
	{ NULL, NULL, NULL }
};

static void usage(FILE *out)
{
	const struct ftr_engine_ops *e;

	fprintf(out, "Usage: ibfattree COMMAND [OPTION...] [ARGUMENT...]\n"
		"Routing and checking of InfiniBand fat-trees.\n\nCommands:\n");
	for (const struct cli_cmd *c = cli_commands; c->name; c++)
		fprintf(out, "  %-8s %s\n", c->name, c->summary);
	fprintf(out, "\nEngines:\n");
	for (unsigned int i = 0; (e = ftr_engine_at(i)); i++)
		fprintf(out, "  %-8s %s\n", e->name, e->summary);
	fprintf(out, "\n\"ibfattree COMMAND --help\" tells the options of each.\n"
		"Exit status: 0 clean, 1 findings, 2 bad input.\n");
}

int main(int argc, char **argv)
{
	int status = -1;

	if (argc < 2) {
		usage(stderr);
		return CLI_BAD;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		usage(stdout);
		status = CLI_CLEAN;
	} else if (!strcmp(argv[1], "--version")) {
		printf("ibfattree %s\n", PACKAGE_VERSION);
		status = CLI_CLEAN;
	}
	for (const struct cli_cmd *c = cli_commands; status < 0 && c->name; c++)
		if (!strcmp(argv[1], c->name))
			status = c->run(argc - 1, argv + 1);
	if (status < 0)
		return cli_error("there is no command '%s' (ibfattree --help lists them)",
				 argv[1]);
	if (fflush(stdout) || ferror(stdout))
		return cli_error("stdout: write error");
	return status;
}
