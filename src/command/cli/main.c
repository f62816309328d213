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

/* Commands that are programs of their own. */
static const struct cli_cmd cli_doctor = { .name = "doctor", .run = start_program,
	.summary = "check node, fabric and tables before a change of the engine" };
static const struct cli_cmd cli_sim = { .name = "sim", .run = start_program,
	.summary = "simulate packets: throughput, latency, loss, deadlock" };
static const struct cli_cmd cli_simulate = { .name = "simulate", .run = start_program };
static const struct cli_cmd cli_campaign = { .name = "campaign", .run = start_program,
	.summary = "study thousands of fault sets, also on a cluster" };
static const struct cli_cmd cli_page = { .name = "report", .run = start_program,
	.summary = "write an HTML page with the fabric and its tables" };
static const struct cli_cmd cli_topo = { .name = "topo", .run = start_program,
	.summary = "convert cable plans and lists of links; write fabrics for simulators" };
static const struct cli_cmd cli_slurm = { .name = "slurm", .run = start_program,
	.summary = "write Slurm's topology.conf" };
static const struct cli_cmd cli_nodes = { .name = "nodes", .run = start_program,
	.summary = "print the places of hosts for Kubernetes and dynamic Slurm nodes" };
static const struct cli_cmd cli_collective = { .name = "collective", .run = start_program,
	.summary = "compute the time of all-reduce, all-to-all and others" };
static const struct cli_cmd cli_ranks = { .name = "ranks", .run = start_program,
	.summary = "write the host file of a job in an order that avoids congestion" };
static const struct cli_cmd cli_save = { .name = "save", .run = start_program,
	.summary = "save the running fabric, its tables and the options of OpenSM" };
static const struct cli_cmd cli_restore = { .name = "restore", .run = start_program,
	.summary = "convert saved tables for OpenSM's engine \"file\"" };
static const struct cli_cmd cli_drain = { .name = "drain", .run = start_drain,
	.summary = "take switches, links or host ports out of use" };
static const struct cli_cmd cli_undrain = { .name = "undrain", .run = start_drain,
	.summary = "bring drained parts back into use" };
static const struct cli_cmd cli_drains = { .name = "drains", .run = start_drain,
	.summary = "list the drained parts" };
static const struct cli_cmd cli_top = { .name = "top", .run = start_program,
	.summary = "show status and repairs of the plugin in a terminal" };

static const struct cli_cmd *const commands[] = {
	&cli_doctor, &cli_gen, &cli_route, &cli_check, &cli_load, &cli_collective, &cli_diff,
	&cli_whatif, &cli_page, &cli_slurm, &cli_nodes, &cli_ranks, &cli_pairs, &cli_topo, &cli_sim,
	&cli_campaign,
	&cli_save, &cli_restore, &cli_drain, &cli_undrain, &cli_drains, &cli_top,
	&cli_completion, &cli_facts, &cli_drain_facts, &cli_count_flows, &cli_simulate, NULL
};

static void usage(FILE *out)
{
	const struct ftr_engine_ops *e;

	fprintf(out, "Usage: ibfattree COMMAND [OPTION...] [ARGUMENT...]\n"
		"Routing and checking of InfiniBand fat-trees.\n\nCommands:\n");
	for (const struct cli_cmd *const *c = commands; *c; c++)
		if ((*c)->summary)	/* not a part of another command */
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
