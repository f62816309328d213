// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes the tables of sFtree as published (tests/lib/subtree.h) in the format of OpenSM's dump,
 * and the time in ms on stderr, in the form in which "ibfattree route" prints it:
 *
 *	published_sftree FABRIC [ROOTS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <ftr/ftr.h>

#include "lib/subtree.h"

static struct ftr_err err;

static void must(enum ftr_status st)
{
	if (!st)
		return;
	fprintf(stderr, "published_sftree: %s\n", err.msg);
	exit(2);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
	struct ftr_shape_opts o = { .nominal = NULL };
	struct ftr_fabric *f = NULL;
	struct ftr_shape *sh = NULL;
	struct ftr_tables *t = NULL;
	struct subtree_stats stats;
	uint64_t *roots = NULL;
	double begin, shaped;

	if (argc < 2 || argc > 3) {
		fprintf(stderr, "usage: published_sftree FABRIC [ROOTS]\n");
		return 2;
	}
	must(ftr_read_fabric(argv[1], 0, &f, &err));
	if (argc > 2)
		must(ftr_read_guids(argv[2], &roots, &o.roots.n, &err));
	o.roots.guid = roots;
	begin = now_ms();
	must(ftr_shape_new(f, &o, NULL, &sh, &err));
	shaped = now_ms();
	must(ftr_tables_new(f, false, &t, &err));
	must(subtree_route(sh, FTR_SW_NONE, t, &stats, &err));
	fprintf(stderr, "shape %.1f ms, route %.1f ms\n", shaped - begin, now_ms() - shaped);
	must(ftr_write_lfts(stdout, f, t, &err));
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
	free(roots);
	return 0;
}
