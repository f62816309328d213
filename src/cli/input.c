// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads the fabric of a command: from a file, or with --live from the switches, which
 * then also give the tables in use.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/live.h"

int cli_live_args(const char *cmd, const struct cli_live_opts *from,
		  int n_args, int least)
{
	if (!from->on && (from->ca || from->port || from->m_key))
		return cli_error("%s: --ca, --port and --m-key require --live",
				 cmd);
	if (!from->on && n_args < least)
		return cli_error("%s: missing argument; FABRIC is needed, or --live",
				 cmd);
	return -1;
}

enum ftr_status cli_input(const struct cli_live_opts *from, const char *path,
			  unsigned int lmc, bool tolerant,
			  struct cli_live *out, struct ftr_err *err)
{
	enum ftr_status st;

	if (!from->on) {
		memset(out, 0, sizeof(*out));
		return cli_read_fabric(path, lmc, tolerant, &out->f, err);
	}
	st = cli_live_read(from, out, err);
	if (!st && out->missing)
		cli_error("note: switches without a table: %u; they count as empty",
			  out->missing);
	return st;
}

double cli_live_ms_per_block(const struct cli_live *l)
{
	return l->blocks ? l->table_seconds * 1e3 / l->blocks : 0;
}
