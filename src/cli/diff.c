// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree diff: how much two sets of tables for one fabric differ, in the
 * units that cost time: entries, 64-entry blocks (one SMP each), switches.
 */
#include <inttypes.h>

#include "cli/cli.h"

static const char text[] =
"Counts the entries that differ between two files of forwarding tables\n"
"(opensm-lfts.dump or the output of dump_lfts) of one fabric.\n"
"Exit status: 0 equal, 1 different, 2 bad input.\n";

int cli_diff(int argc, char **argv)
{
	const struct cli_opt opts[] = {
		{ NULL, CLI_FLAG, NULL, NULL, NULL, 0 }
	};
	const struct cli_usage u = { "diff", "FABRIC A B", text, opts, 3, 3 };
	struct ftr_tables *a = NULL, *b = NULL;
	struct ftr_tables_diff d = { 0 };
	struct ftr_fabric *f = NULL;
	char n1[CLI_NUM_MAX], n2[CLI_NUM_MAX], n3[CLI_NUM_MAX];
	struct ftr_err err = { 0 };
	enum ftr_status st;
	int n, status = cli_parse(&u, argc, argv, &n);

	if (status >= 0)
		return status;
	st = ftr_read_fabric(argv[0], 0, &f, &err);
	if (!st)
		st = ftr_read_lfts(argv[1], f, &a, NULL, &err);
	if (!st)
		st = ftr_read_lfts(argv[2], f, &b, NULL, &err);
	if (!st) {
		ftr_tables_diff(f, a, f, b, &d);
		printf("%s entries in %s blocks of %s switches differ\n",
		       cli_num(n1, d.entries), cli_num(n2, d.blocks),
		       cli_num(n3, d.switches));
	}
	ftr_tables_free(a);
	ftr_tables_free(b);
	ftr_fabric_free(f);
	if (st)
		return cli_fail(&err);
	return d.entries ? CLI_FINDINGS : CLI_CLEAN;
}
