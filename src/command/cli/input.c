// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads the fabric of a command from a file, or with --live from the switches.  --live also
 * reads the tables in use.
 */
#include "cli/cli.h"
#include "cli/live.h"

void cli_live_args(const char *cmd, const struct cli_in *in,
		   int n_args, int least, const char *excluded)
{
	if (!in->live && (in->ca || in->port || in->m_key))
		cli_die("%s: --ca, --port and --m-key require --live", cmd);
	if (!in->live && n_args < least)
		cli_die("%s: missing argument; FABRIC is needed, or --live", cmd);
	if (in->live && excluded)
		cli_die("%s: --live reads the fabric from the switches; '%s' cannot be given with it",
			cmd, excluded);
}

struct cli_live cli_input(const struct cli_in *in, const char *path)
{
	struct cli_live l = { .f = NULL };

	if (!in->live) {
		l.f = cli_read_fabric(in, path);
		return l;
	}
	cli_must(cli_live_read(in, &l, &cli_err));
	if (l.missing)
		cli_error("note: switches without a table: %u; all their entries count as missing",
			  l.missing);
	return l;
}

double cli_live_ms_per_block(const struct cli_live *l)
{
	return l->blocks ? l->table_seconds * 1e3 / l->blocks : 0;
}
