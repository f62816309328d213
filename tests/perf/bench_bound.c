// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Measures how evenly all-to-all traffic can be spread over the links of a fabric.
 *
 *	bench_bound NETFILE [ROUNDS]
 *
 * ROUNDS is the number of rounds of bound_dual() (default 1000).  Prints three
 * figures, but nothing if the bound by cuts is 0:
 *
 *	1. the lower bound by cuts (<ftr/balance.h>) of the load of the most loaded link, in flows
 *	2. the lower bound by weights (<ftr/balance.h>), divided by figure 1; both bounds hold
 *	   under any routing
 *	3. the load of the most loaded link if every flow is divided among many paths, divided by
 *	   figure 1
 */
#include <stdio.h>
#include <stdlib.h>

#include <ftr/ftr.h>

#include "lib/dual.h"

static struct ftr_err err;

static void must(enum ftr_status st)
{
	if (!st)
		return;
	fprintf(stderr, "bench_bound: %s\n", err.msg);
	exit(1);
}

int main(int argc, char **argv)
{
	uint32_t rounds = argc > 2 ? (uint32_t)atoi(argv[2]) : 1000;
	struct ftr_fabric *f = NULL;
	struct ftr_shape *sh = NULL;
	double least, most;
	uint32_t cut;

	if (argc < 2) {
		fprintf(stderr, "usage: bench_bound NETFILE [ROUNDS]\n");
		return 2;
	}
	must(ftr_read_fabric(argv[1], 0, &f, &err));
	must(ftr_shape_new(f, NULL, NULL, &sh, &err));
	must(ftr_balance_bound(sh, NULL, &cut, &err));
	must(bound_dual(f, NULL, rounds, &least, &most, &err));
	if (cut)
		printf("%u %.3f %.3f\n", cut, least / cut, most / cut);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
	return 0;
}
