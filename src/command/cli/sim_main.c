// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The program ibfattree-simulate.
 */
#include "cli/sim.h"

int main(int argc, char **argv)
{
	ftr_set_unpacker(&cli_unpacker);
	ftr_set_converter(cli_convert);
	cli_exit(cli_sim_program.run(argc, argv));
}
