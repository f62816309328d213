// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The program sim-models: ibfattree-sim with the routing functions of the literature.  It starts
 * ibfattree-sim, which starts it in place of "ibfattree simulate".
 */
#include <stdlib.h>
#include <string.h>

#include "cli/sim.h"
#include "models/models.h"

int main(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "simulate")) {
		unsetenv("IBFATTREE");	/* cli_exec() sets it to this program */
		return cli_exec("sim", argv);
	}
	ftr_set_unpacker(&cli_unpacker);
	ftr_set_converter(cli_convert);
	cli_sim_functions = model_functions;
	cli_exit(cli_sim_program.run(argc - 1, argv + 1));
}
