// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The operations of test_no_memory that make fabrics, shapes and nominal fabrics. */
#include <stdlib.h>

#include "base/base.h"
#include "no_memory.h"

static enum ftr_status op_copy(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_fabric *f;

	TRY(ftr_fabric_copy_if(z->whole, NULL, &f, err));
	*sum = fold(0, f->ports, f->n_ports * sizeof(f->ports[0]));
	ftr_fabric_free(f);
	return FTR_OK;
}

static enum ftr_status add_all(struct ftr_builder *b, const struct ftr_fabric *f,
			       struct ftr_err *err)
{
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		TRY(ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = f->sw[s].guid, .holder = f->sw[s].holder ^ 1,
			.n_ports = f->sw[s].n_ports, .name = f->sw[s].name,
		}, err));
	}
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		const struct ftr_endport *p = &f->ep[e];
		struct ftr_end own = { p->node_guid, p->port_num }, far = { 0, p->sw_port };

		TRY(ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = p->type, .node_guid = p->node_guid,
			.guid = p->guid, .port_num = p->port_num, .name = p->name,
		}, err));
		if (p->sw == FTR_SW_NONE)
			continue;
		far.node_guid = f->sw[p->sw].guid;
		TRY(ftr_builder_add_link(b, own, far, 4, FTR_SPEED_HDR, err));
	}
	return ftr_builder_assign_lids(b, 1, err);
}

static enum ftr_status op_build(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_fabric *f;
	enum ftr_status st = b ? add_all(b, z->whole, err) : ftr_nomem(err, "a builder");

	if (!st)
		st = ftr_builder_freeze(b, &f, err);
	if (st) {
		ftr_builder_free(b);
		return st;
	}
	*sum = fold(0, f->owner, (f->max_lid + 1u) * sizeof(f->owner[0]));
	ftr_fabric_free(f);
	return FTR_OK;
}

static uint64_t fold_shape(const struct ftr_shape *sh)
{
	uint64_t sum = fold(0, sh->tree.rank, sh->f->n_sw);

	sum = fold(sum, sh->numbering.col, sh->f->n_sw * sizeof(uint32_t));
	return fold(sum, sh->reach.cost, (size_t)sh->f->n_sw * sh->reach.stride);
}

static enum ftr_status shape_with(const struct ftr_fabric *f, const struct ftr_shape_opts *o,
				  struct ftr_team *team, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_shape *sh;

	TRY(ftr_shape_new(f, o, team, &sh, err));
	*sum = fold_shape(sh);
	ftr_shape_free(sh);
	return FTR_OK;
}

static enum ftr_status op_shape(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	return shape_with(z->f, NULL, z->team, sum, err);
}

static enum ftr_status op_shape_by_name(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	return shape_with(z->f, &(struct ftr_shape_opts){ .leaf_order = FTR_LEAF_BY_NAME }, NULL,
			  sum, err);
}

static enum ftr_status op_shape_over(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	return shape_with(z->f, &(struct ftr_shape_opts){ .nominal = z->nominal->shape }, NULL,
			  sum, err);
}

/* Roots, compute nodes, and earlier ranks. */
static enum ftr_status op_shape_lists(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	const struct ftr_shape *sh = z->nominal->shape;
	uint64_t *root = calloc(sh->f->n_sw, sizeof(*root));
	struct ftr_old_rank *old = calloc(sh->f->n_sw, sizeof(*old));
	struct ftr_shape_opts o = { .cn = { &sh->f->ep[0].guid, 1 }, .roots = { root, 0 } };
	enum ftr_status st;
	uint64_t again = 0;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
		old[s] = (struct ftr_old_rank){ sh->f->sw[s].guid, sh->tree.rank[s],
						sh->numbering.col[s] < sh->tree.n_leaf, false };
		if (sh->tree.rank[s] == sh->tree.n_ranks - 1)
			root[o.roots.n++] = sh->f->sw[s].guid;
	}
	st = shape_with(z->f, &o, NULL, sum, err);
	o.roots.n = 0;
	if (!st) {
		o.old = old;
		o.n_old = sh->f->n_sw;
		o.old_lists = z->nominal->lists;
		st = shape_with(z->f, &o, NULL, &again, err);
		*sum = fold(*sum, &again, sizeof(again));
	}
	free(root);
	free(old);
	return st;
}

static enum ftr_status op_reorder(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	uint16_t *level = calloc(z->f->n_sw, sizeof(*level));
	enum ftr_status st = FTR_OK;

	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		level[s] = (uint16_t)(s * 7 % 11);
	for (int how = FTR_REORDER_KEEP; how <= FTR_REORDER_ALL && !st; how++) {
		struct ftr_shape *sh;

		st = ftr_shape_reorder(z->sh, level, (enum ftr_reorder)how, NULL, &sh, err);
		if (st)
			break;
		*sum += fold_shape(sh);
		ftr_shape_free(sh);
	}
	free(level);
	return st;
}

static enum ftr_status op_shape_torus(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	return shape_with(z->torus, NULL, z->team, sum, err);
}

/* A nominal fabric gets the missing parts of the present one, or is replaced by that of another
 * fabric. */
static enum ftr_status op_unite(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_nominal *a = NULL, *b = NULL, *c = NULL;
	struct ftr_nominal_change change;
	enum ftr_status st;

	TRY(ftr_nominal_new(z->f, NULL, NULL, &a, &change, err));
	st = ftr_nominal_new(z->other, NULL, a, &b, &change, err);
	if (!st)
		st = ftr_nominal_new(z->torus, NULL, b, &c, &change, err);
	if (!st)
		*sum = ftr_nominal_id(b) ^ ftr_nominal_id(c);
	ftr_nominal_free(a);
	if (b != a)
		ftr_nominal_free(b);
	ftr_nominal_free(c);
	return st;
}

/* A nominal fabric that grows, and one in which a switch was replaced. */
static enum ftr_status op_nominal(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_nominal *a = NULL, *b = NULL;
	struct ftr_nominal_change c;
	enum ftr_status st;

	TRY(ftr_nominal_new(z->f, NULL, NULL, &a, &c, err));
	st = ftr_nominal_new(z->whole, NULL, a, &b, &c, err);
	if (!st)
		st = ftr_nominal_compare(b, z->f, &c, err);
	if (!st)
		*sum = ftr_nominal_id(b);
	ftr_nominal_free(a);
	ftr_nominal_free(b);
	return st;
}

const struct op shape_ops[] = {
	{ "copy", op_copy }, { "build", op_build },
	{ "shape", op_shape }, { "shape, leaves by name", op_shape_by_name },
	{ "shape with a nominal shape", op_shape_over }, { "shape with lists", op_shape_lists },
	{ "shape of a torus", op_shape_torus }, { "reorder", op_reorder }, { "nominal", op_nominal },
	{ "unite", op_unite },
};
const unsigned int n_shape_ops = FTR_ARRAY_LEN(shape_ops);
