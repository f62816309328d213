// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The program sim-models: ibfattree-sim with the routing functions of the literature.
 */
#include "cli/sim.h"
#include "models/models.h"

int main(int argc, char **argv)
{
	ftr_set_unpacker(&cli_unpacker);
	ftr_set_converter(cli_convert);
	cli_sim_functions = model_functions;
	cli_exit(cli_sim_program.run(argc, argv));
}
