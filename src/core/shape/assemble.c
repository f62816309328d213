// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes a shape by the steps in shape.h, and answers queries about a shape.
 *
 * There are two arenas: `keep` for the results, and `scratch`.  On failure both are freed.
 */
#include <stdlib.h>
#include <string.h>

#include "shape/shape.h"

/* A sorted copy of a GUID list in scratch memory; NULL if out of memory. */
static uint64_t *sorted(struct shaping *z, const struct ftr_guids *g)
{
	uint64_t *copy = ftr_arena_alloc(z->scratch, g->n, sizeof(*copy));

	if (copy && g->n) {
		memcpy(copy, g->guid, g->n * sizeof(*copy));
		qsort(copy, g->n, sizeof(*copy), ftr_u64_cmp);
	}
	return copy;
}

static bool listed(const uint64_t *list, uint32_t n, uint64_t guid)
{
	return bsearch(&guid, list, n, sizeof(*list), ftr_u64_cmp) != NULL;
}

/* Set ep_host and hosts by the sorted GUID lists.  Returns false if no host port counts as a
 * host. */
static bool count_hosts(struct shaping *z, const uint64_t *cn, uint32_t n_cn,
			const uint64_t *io, uint32_t n_io)
{
	const struct ftr_fabric *f = z->f;
	bool any = false;

	for (ftr_ep e = 0; e < f->n_ep; e++) {
		const struct ftr_endport *p = &f->ep[e];

		if (p->sw == FTR_SW_NONE || p->type != FTR_NODE_CA ||
		    ftr_ep_is_aggregation(p))
			continue;
		z->ep_host[e] = n_cn ? listed(cn, n_cn, p->guid) :
			!listed(io, n_io, p->guid);
		z->hosts[p->sw] += z->ep_host[e];
		any |= z->ep_host[e];
	}
	return any;
}

static bool names_none(const struct ftr_fabric *f, const struct ftr_guids *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (ftr_fabric_find_ep(f, g->guid[i]) != FTR_EP_NONE)
			return false;
	return g->n > 0;
}

/*
 * Find the host ports that count as hosts, that is, as compute nodes.  Routers, Aggregation Nodes
 * and ports without a link never count.  If a list of compute nodes is given, each of the remaining
 * ports counts if it is in this list.  Without such a list, each of them counts unless it is in the
 * list of I/O nodes.
 *
 * A list of compute nodes that names no host of the fabric is ignored, and cn_unknown becomes true.
 * (The list may have node GUIDs instead of port GUIDs, or all of its nodes may be switched off.)
 * With such a list no switch would be a leaf.
 */
enum ftr_status shape_hosts(struct shaping *z)
{
	const struct ftr_fabric *f = z->f;
	const struct ftr_guids *cn = &z->opts->cn, *io = &z->opts->io;
	uint64_t *cn_list = sorted(z, cn), *io_list = sorted(z, io);

	if (!cn_list || !io_list ||
	    !FTR_ZNEW(z->scratch, z->ep_host, f->n_ep) ||
	    !FTR_ZNEW(z->scratch, z->hosts, f->n_sw) ||
	    !FTR_ZNEW(z->scratch, z->ends, f->n_sw))
		return shape_nomem(z);
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE &&
		    !ftr_ep_is_aggregation(&f->ep[e]))
			z->ends[f->ep[e].sw]++;
	if (!count_hosts(z, cn_list, cn->n, io_list, io->n) && cn->n) {
		z->sh->tree.cn_unknown = true;
		count_hosts(z, NULL, 0, io_list, io->n);
	}
	z->sh->tree.io_unknown = names_none(f, io);
	return FTR_OK;
}

enum ftr_status shape_end(struct shaping *z, enum ftr_status st, struct ftr_shape **out)
{
	ftr_arena_free(z->scratch);
	if (st)
		ftr_arena_free(z->keep);
	else
		*out = z->sh;
	return st;
}

static enum ftr_status build(struct shaping *z)
{
	enum ftr_status (*const step[])(struct shaping *) = {
		shape_hosts, shape_adjacency, shape_heights, shape_rank,
		shape_meshes, shape_group, shape_order, shape_rails,
		shape_up_paths, shape_cost, shape_dividers,
	};

	if (z->opts->nominal) {
		enum ftr_status st = shape_project(z);

		return st ? st : shape_cost(z);
	}
	for (size_t i = 0; i < FTR_ARRAY_LEN(step); i++) {
		enum ftr_status st = step[i](z);

		if (st)
			return st;
	}
	return FTR_OK;
}

enum ftr_status ftr_shape_new(const struct ftr_fabric *f,
			      const struct ftr_shape_opts *opts,
			      struct ftr_team *team, struct ftr_shape **out,
			      struct ftr_err *err)
{
	static const struct ftr_shape_opts defaults = { 0 };
	struct shaping z = {
		.f = f, .opts = opts ? opts : &defaults, .team = team,
		.err = err, .keep = ftr_arena_new(),
		.scratch = ftr_arena_new(),
	};
	enum ftr_status st;

	if (!z.keep || !z.scratch ||
	    !(z.sh = ftr_arena_zalloc(z.keep, 1, sizeof(*z.sh)))) {
		st = shape_nomem(&z);
	} else if (f->n_sw == 0) {
		st = ftr_fail(err, FTR_SHAPE, "the fabric has no switch");
	} else {
		z.sh->f = f;
		z.sh->arena = z.keep;
		st = build(&z);
	}
	return shape_end(&z, st, out);
}

void ftr_shape_free(struct ftr_shape *sh)
{
	if (sh)
		ftr_arena_free(sh->arena);
}

void ftr_shape_host_order(const struct ftr_shape *sh, ftr_ep *order)
{
	uint32_t at = sh->numbering.n_d;

	for (uint32_t d = 0; d < sh->numbering.n_places; d++)
		order[d] = FTR_EP_NONE;
	for (uint32_t i = 0; i < sh->numbering.n_dest; i++) {
		const struct ftr_dest *t = &sh->numbering.dest[i];
		const struct ftr_lid_owner *o = &sh->f->owner[t->lid];

		if (ftr_shape_has_place(sh, t->lid))
			order[t->cls == FTR_CLASS_HOST ? t->d : at++] = o->idx;
	}
}

void ftr_shape_validity(const struct ftr_shape *sh, struct ftr_validity *out)
{
	memset(out, 0, sizeof(*out));
	out->sample_from = out->sample_to = FTR_SW_NONE;
	out->leaf_pairs = (uint64_t)sh->tree.n_leaf * (sh->tree.n_leaf ?
						  sh->tree.n_leaf - 1 : 0);
	for (uint32_t i = 0; i < sh->tree.n_leaf; i++) {
		const uint8_t *cost = ftr_shape_cost(sh, sh->numbering.col_sw[i]);

		for (uint32_t j = 0; j < sh->tree.n_leaf; j++) {
			if (cost[j] != FTR_COST_INF)
				continue;
			if (!out->bad_pairs++) {
				out->sample_from = sh->numbering.col_sw[i];
				out->sample_to = sh->numbering.col_sw[j];
			}
			out->bad_host_pairs += (uint64_t)sh->tree.leaf_hosts[i] *
				sh->tree.leaf_hosts[j];
		}
	}
}
