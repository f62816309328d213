// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The command ibfattree: finds the subcommand and runs it.
 */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "config.h"
#include "cli/cli.h"

static int start_program(int argc, char **argv)
{
	(void)argc;
	return cli_exec(argv[0], argv);
}

/* One program, whose first argument is the name of the command. */
static int start_drain(int argc, char **argv)
{
	(void)argc;
	return cli_exec("drain", argv - 1);
}

/* A program of its own.  summary NULL: a part of another command. */
#define PROGRAM(n, r, s) &(const struct cli_cmd){ .name = n, .run = r, .summary = s }

static const struct cli_cmd *const commands[] = {
	PROGRAM("doctor", start_program,
		"check node, fabric and tables before a change of the engine"),
	&cli_gen, &cli_route, &cli_check, &cli_load,
	PROGRAM("collective", start_program,
		"compute the time of all-reduce, all-to-all and others"),
	&cli_diff, &cli_whatif,
	PROGRAM("report", start_program, "write an HTML page with the fabric and its tables"),
	PROGRAM("slurm", start_program, "write Slurm's topology.conf"),
	PROGRAM("nodes", start_program,
		"print the places of hosts for Kubernetes and dynamic Slurm nodes"),
	PROGRAM("ranks", start_program,
		"write the host file of a job in an order that avoids congestion"),
	&cli_pairs,
	PROGRAM("topo", start_program,
		"convert cable plans and lists of links; write fabrics for simulators"),
	PROGRAM("sim", start_program, "simulate packets: throughput, latency, loss, deadlock"),
	PROGRAM("campaign", start_program, "study thousands of fault sets, also on a cluster"),
	PROGRAM("save", start_program,
		"save the running fabric, its tables and the options of OpenSM"),
	PROGRAM("restore", start_program, "convert saved tables for OpenSM's engine \"file\""),
	PROGRAM("drain", start_drain, "take switches, links or host ports out of use"),
	PROGRAM("undrain", start_drain, "bring drained parts back into use"),
	PROGRAM("drains", start_drain, "list the drained parts"),
	PROGRAM("top", start_program, "show status and events of the plugin in a terminal"),
	&cli_completion, &cli_facts, &cli_drain_facts, &cli_count_flows,
	PROGRAM("simulate", start_program, NULL),
	NULL
};

static void usage(FILE *out)
{
	const struct ftr_engine_ops *e;

	fprintf(out, "Usage: ibfattree COMMAND [OPTION...] [ARGUMENT...]\n"
		"Routing and checking of InfiniBand fat-trees.\n\nCommands:\n");
	for (const struct cli_cmd *const *c = commands; *c; c++)
		if ((*c)->summary)
			fprintf(out, "  %-11s %s\n", (*c)->name, (*c)->summary);
	fprintf(out, "\nEngines:\n");
	for (unsigned int i = 0; (e = ftr_engine_at(i)); i++)
		fprintf(out, "  %-11s %s\n", e->name, e->summary);
	fprintf(out, "\n\"ibfattree COMMAND --help\" lists the options of a command;\n"
		"\"man ibfattree-COMMAND\" describes it in full.\n"
		"Exit status: 0 clean, 1 findings, 2 bad input.\n");
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return CLI_BAD;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		usage(stdout);
		cli_exit(CLI_CLEAN);
	}
	if (!strcmp(argv[1], "--version")) {
		printf("ibfattree %s\n", PACKAGE_VERSION);
		cli_exit(CLI_CLEAN);
	}
	ftr_set_unpacker(&cli_unpacker);
	ftr_set_converter(cli_convert);
	for (unsigned int i = 0; commands[i]; i++)
		if (!strcmp(argv[1], commands[i]->name)) {
			if (!commands[i]->summary)	/* ends with the program that started it */
				prctl(PR_SET_PDEATHSIG, SIGKILL);
			cli_exit(commands[i]->run(argc - 1, argv + 1));
		}
	cli_die("unknown command '%s' (ibfattree --help lists the commands)", argv[1]);
}
