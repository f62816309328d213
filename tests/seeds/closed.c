// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes tables by equations (3) and (4) of Gliksberg et al. 2020, section 3.4, without code of
 * the engine dmodc:
 *
 *	closed guid|plane guid|topology FABRIC
 *
 * The first argument is the order of the port groups of a switch (a group is the links to one
 * neighbour): by the GUID of the neighbour, as published, or by plane (src/core/shape/group.c).
 *
 * The second argument is the index d of a host, which the paper does not define: its position in
 * the order of GUIDs, or the topological index (src/core/shape/column_order.c).  The LIDs of switches
 * always have the topological index.
 *
 * Costs are those of the shape.  Dividers are computed as published, from the present links.
 * Writes tables in the format of OpenSM's dump.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include <ftr/ftr.h>

static struct ftr_err err;
static struct ftr_fabric *f;
static struct ftr_shape *sh;
static struct ftr_tables *t;

static void must(enum ftr_status st)
{
	if (!st)
		return;
	fprintf(stderr, "closed: %s\n", err.msg);
	exit(2);
}

static uint32_t index_of(const struct ftr_dest *x, bool topology)
{
	const struct ftr_lid_owner *o = &f->owner[x->lid];

		/* f->ep[] is sorted by GUID */
	return topology || o->kind != FTR_OWNER_EP ? x->d : o->idx;
}

/* Procedure 1, dividers: Pi[t] = max over the switches s below t: Pi[s] * (groups above s). */
static void divide(uint64_t *pi)
{
	for (ftr_sw s = 0; s < f->n_sw; s++)
		pi[s] = 1;
	for (uint32_t r = 0; r < sh->tree.n_ranks; r++)
		for (ftr_sw s = 0; s < f->n_sw; s++) {
			const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];
			uint64_t above = pi[s] * sh->tree.n_up[s];

			for (uint32_t k = 0; sh->tree.rank[s] == r && k < sh->tree.n_up[s]; k++)
				if (pi[g[k].remote] < above)
					pi[g[k].remote] = above;
		}
}

static int guid_cmp(const void *x, const void *y)
{
	const struct ftr_group *const *a = x, *const *b = y;

	return ((*a)->remote > (*b)->remote) - ((*a)->remote < (*b)->remote);
}

static void route(ftr_sw s, uint64_t pi, bool guid, bool topology)
{
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];
	uint32_t up = sh->tree.n_up[s], all = up + sh->tree.n_down[s];

	for (uint32_t i = 0; i < sh->numbering.n_dest; i++) {
		const struct ftr_dest *x = &sh->numbering.dest[i];
		const struct ftr_group *c[256], *at;
		uint32_t n = 0, l = x->col;
		uint64_t d = index_of(x, topology);

		if (sh->numbering.col_sw[l] == s) {
			ftr_tables_row(t, s)[x->lid] = x->port;
			continue;
		}
		for (uint32_t k = 0; k < all; k++)
			if (k < up ? ftr_shape_cost(sh, g[k].remote)[l] <
				     ftr_shape_cost(sh, s)[l] :
				     ftr_shape_down(sh, g[k].remote)[l] <
				     ftr_shape_cost(sh, s)[l])
				c[n++] = &g[k];
		if (!n)
			continue;
		if (guid)
			qsort(c, n, sizeof(*c), guid_cmp);
		at = c[d / pi % n];
		ftr_tables_row(t, s)[x->lid] =
			sh->tree.group_ports[at->first + d / (pi * n) % at->n];
	}
}

int main(int argc, char **argv)
{
	uint64_t *pi;

	if (argc != 4) {
		fprintf(stderr, "usage: closed guid|plane guid|topology FABRIC\n");
		return 2;
	}
	must(ftr_read_fabric(argv[3], 0, &f, &err));
	must(ftr_shape_new(f, NULL, NULL, &sh, &err));
	must(ftr_tables_new(f, true, &t, &err));
	pi = malloc(f->n_sw * sizeof(*pi));
	if (!pi)
		return 2;
	divide(pi);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		route(s, pi[s], !strcmp(argv[1], "guid"), !strcmp(argv[2], "topology"));
	free(pi);
	must(ftr_write_lfts(stdout, f, t, &err));
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
	return 0;
}
