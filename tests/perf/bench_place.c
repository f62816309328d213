// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Routes a damaged tree by dmodc and other engines, and prints loads and changed entries.
 *
 *	bench_place LABEL WHOLE A.net B.net [ENGINE A.net A.lfts B.net B.lfts]...
 *
 * WHOLE is the undamaged fabric (any netfile).  A.net is the damaged fabric.  B.net is A.net with
 * one link or switch fewer.  Prints a line for each placement of dmodc (src/core/engine/place.c), then a
 * line for each ENGINE, whose tables are read from A.lfts and B.lfts.  In the lines "dmodc" (option
 * "balance load") and "dmodc, full" ("balance full"), dmodc keeps the entries of A.net that still
 * work on B.net, as the plugin does.  The columns, with tabs between them, are
 *
 *	LABEL ENGINE all max-shift mean-shift perm max-perm bisect entries blocks switches
 *
 *	all		all-to-all flows on the most loaded link, divided by the greatest bound of
 *			all leaves.  The bound of a leaf is the mean load of its upward links:
 *			(hosts on the leaf) * (all other hosts) / (live upward links)
 *	max-shift	flows on the most loaded link, maximum over all shifts (in the host
 *			order of WHOLE)
 *	mean-shift	the same, mean over all shifts
 *	perm, max-perm	the same, mean and maximum over PATTERNS random permutations
 *	bisect		the same, mean over PATTERNS bisections
 *	entries, blocks, switches
 *			the numbers of these that differ between A and B
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ftr/ftr.h>

#define PATTERNS 200

static struct ftr_err err;

static void must(enum ftr_status st)
{
	if (!st)
		return;
	fprintf(stderr, "bench_place: %s\n", err.msg);
	exit(1);
}

static struct ftr_fabric *fabric(const char *path)
{
	struct ftr_fabric *f = NULL;

	must(ftr_read_fabric(path, 0, &f, &err));
	return f;
}

/* ---- load --------------------------------------------------------------- */

static double bound(const struct ftr_shape *sh, uint32_t hosts)
{
	double most = 0;

	for (uint32_t l = 0; l < sh->tree.n_leaf; l++) {
		ftr_sw s = sh->numbering.col_sw[l];
		uint32_t g = sh->tree.group_first[s], links = 0;
		double here = (double)sh->tree.leaf_hosts[l] *
			(hosts - sh->tree.leaf_hosts[l]);

		for (uint32_t i = 0; i < sh->tree.n_up[s]; i++)
			links += sh->tree.groups[g + i].n;
		if (links && here / links > most)
			most = here / links;
	}
	return most;
}

static void print_load(const struct ftr_shape *sh, const struct ftr_tables *t)
{
	ftr_ep *order = malloc((sh->numbering.n_places + 1) * sizeof(*order));
	struct ftr_load_report all, shift, perm, half;
	struct ftr_load *ld = NULL;

	ftr_shape_host_order(sh, order);
	must(ftr_load_new(sh->f, t, (struct ftr_order){ order, sh->numbering.n_places }, NULL, &ld,
			  &err));
	ftr_load_all(ld, NULL, &all);
	must(ftr_load_shifts(ld, 0, 1, NULL, &shift, &err));
	must(ftr_load_permutations(ld, PATTERNS, 1, NULL, &perm, &err));
	must(ftr_load_bisections(ld, PATTERNS, 1, NULL, &half, &err));
	if (all.lost)
		fprintf(stderr, "bench_place: %llu flows are lost\n",
			(unsigned long long)all.lost);
	printf("\t%.4f\t%llu\t%.4f\t%.4f\t%llu\t%.4f",
	       (double)all.max / bound(sh, all.hosts),
	       (unsigned long long)shift.max,
	       (double)shift.sum_max / shift.patterns,
	       (double)perm.sum_max / perm.patterns,
	       (unsigned long long)perm.max,
	       (double)half.sum_max / half.patterns);
	ftr_load_free(ld);
	free(order);
}

static void print_line(const char *label, const char *engine,
		       const struct ftr_shape *a, const struct ftr_tables *ta,
		       const struct ftr_shape *b, const struct ftr_tables *tb)
{
	struct ftr_tables_diff d;

	printf("%s\t%s", label, engine);
	print_load(a, ta);
	ftr_tables_diff(a->f, ta, b->f, tb, &d);
	printf("\t%llu\t%llu\t%u\n", (unsigned long long)d.entries,
	       (unsigned long long)d.blocks, d.switches);
	fflush(stdout);
}

/* ---- dmodc and other engines --------------------------------------------- */

static struct ftr_shape *shape(const struct ftr_fabric *f,
			       const struct ftr_shape *whole)
{
	struct ftr_shape_opts opts = { .nominal = whole };
	struct ftr_shape *sh = NULL;

	must(ftr_shape_new(f, &opts, NULL, &sh, &err));
	return sh;
}

/* before: tables whose working entries are kept, or NULL. */
static struct ftr_tables *route(const struct ftr_shape *sh,
				enum ftr_balance balance,
				const struct ftr_tables *before)
{
	const struct ftr_keep keep = { .prefer = before };
	struct ftr_route_opts opts = FTR_ROUTE_OPTS_INIT;
	struct ftr_tables *t = NULL;

	opts.balance = balance;
	opts.keep = before ? &keep : NULL;
	must(ftr_tables_new(sh->f, false, &t, &err));
	must(ftr_engine_find("dmodc")->route(sh, &opts, NULL, t, NULL, &err));
	return t;
}

static struct ftr_tables *lfts(const char *path, const struct ftr_fabric *f)
{
	struct ftr_tables *t = NULL;

	must(ftr_read_lfts(path, f, &t, NULL, &err));
	return t;
}

static void ours(const char *label, const struct ftr_shape *whole, char **file)
{
	static const struct {
		const char *name;
		enum ftr_balance balance;
	} row[] = {
		{ "dmodc", FTR_BALANCE_LOAD },
		{ "dmodc, full", FTR_BALANCE_FULL },
		{ "dmodc, off", FTR_BALANCE_OFF },
	};
	struct ftr_fabric *f[2] = { fabric(file[0]), fabric(file[1]) };
	struct ftr_shape *sh[2] = { shape(f[0], whole), shape(f[1], whole) };

	for (size_t k = 0; k < sizeof(row) / sizeof(row[0]); k++) {
		struct ftr_tables *a = route(sh[0], row[k].balance,
					     NULL);
		struct ftr_tables *old = NULL, *b;

		if (row[k].balance)
			must(ftr_tables_carry(f[0], a, f[1], &old, &err));
		b = route(sh[1], row[k].balance, old);
		print_line(label, row[k].name, sh[0], a, sh[1], b);
		ftr_tables_free(a);
		ftr_tables_free(b);
		ftr_tables_free(old);
	}
	for (int i = 0; i < 2; i++) {
		ftr_shape_free(sh[i]);
		ftr_fabric_free(f[i]);
	}
}

static void theirs(const char *label, const struct ftr_shape *whole,
		   char **arg)
{
	struct ftr_fabric *a = fabric(arg[1]), *b = fabric(arg[3]);
	struct ftr_shape *sa = shape(a, whole), *sb = shape(b, whole);
	struct ftr_tables *ta = lfts(arg[2], a), *tb = lfts(arg[4], b);

	print_line(label, arg[0], sa, ta, sb, tb);
	ftr_tables_free(ta);
	ftr_tables_free(tb);
	ftr_shape_free(sa);
	ftr_shape_free(sb);
	ftr_fabric_free(a);
	ftr_fabric_free(b);
}

int main(int argc, char **argv)
{
	struct ftr_fabric *f;
	struct ftr_shape *whole = NULL;

	if (argc < 5 || argc % 5) {
		fprintf(stderr, "usage: bench_place LABEL WHOLE A.net B.net [ENGINE A.net A.lfts B.net B.lfts]...\n");
		return 2;
	}
	f = fabric(argv[2]);
	must(ftr_shape_new(f, NULL, NULL, &whole, &err));
	ours(argv[1], whole, argv + 3);
	for (int i = 5; i < argc; i += 5)
		theirs(argv[1], whole, argv + i);
	ftr_shape_free(whole);
	ftr_fabric_free(f);
	return 0;
}
