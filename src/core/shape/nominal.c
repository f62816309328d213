// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes the nominal fabric (all switches and links seen so far) and its shape, as one object.
 *
 * The object never changes.  If the fabric gets new parts or the options change, a new object is
 * made, and users of the old one are not affected.
 */
#include <stdlib.h>
#include <string.h>

#include "shape/unite.h"

/* ---- options ----------------------------------------------------------- */

/* Add a GUID list to the hash.  Neither duplicates nor the order of the GUIDs change the hash. */
static bool hash_list(uint64_t *hash, const struct ftr_guids *g)
{
	uint64_t *list = ftr_reallocarray(NULL, g->n + 1u, sizeof(*list));

	if (!list)
		return false;
	if (g->n) {
		memcpy(list, g->guid, g->n * sizeof(*list));
		qsort(list, g->n, sizeof(*list), ftr_u64_cmp);
	}
	for (uint32_t i = 0; i < g->n; i++) {
		if (i && list[i] == list[i - 1])
			continue;
		for (unsigned int k = 0; k < 64; k += 8) {
			uint8_t byte = (uint8_t)(list[i] >> k);

			*hash = ftr_hash(*hash, &byte, 1);
		}
	}
	*hash = ftr_hash(*hash, "|", 1);
	free(list);
	return true;
}

/* Compute the hash of the GUID lists in opts.  If there is a list of roots, include its mode
 * (opts->roots_mode).  A missing list has the same hash as an empty one. */
static bool hash_lists(uint64_t *hash, const struct ftr_shape_opts *opts)
{
	uint8_t mode = (uint8_t)opts->roots_mode;

	*hash = FTR_HASH_INIT;
	if (opts->roots.n && mode)	/* mode 0 is not hashed: earlier versions had no modes */
		*hash = ftr_hash(*hash, &mode, 1);
	return hash_list(hash, &opts->roots) && hash_list(hash, &opts->cn) &&
	       hash_list(hash, &opts->io);
}

/* ---- objects ----------------------------------------------------------- */

void ftr_nominal_free(struct ftr_nominal *n)
{
	if (!n)
		return;
	/* The shape and the fabric belong to n.  They are const only for the users of n. */
	ftr_shape_free((struct ftr_shape *)(uintptr_t)n->shape);
	ftr_fabric_free((struct ftr_fabric *)(uintptr_t)n->f);
	free(n);
}

static enum ftr_status no_memory(struct ftr_err *err)
{
	return ftr_nomem(err, "a nominal fabric");
}

/* Set the earlier ranks of *opts to the ranks of n that may be kept.  A switch that has neither
 * upward nor downward links is left out, so that its first such link can decide its rank.  Returns
 * false if out of memory. */
static bool ranks_of(const struct ftr_nominal *n, struct ftr_arena *a,
		     struct ftr_shape_opts *opts)
{
	const struct ftr_shape *sh = n->shape;
	struct ftr_old_rank *r = ftr_arena_alloc(a, n->f->n_sw, sizeof(*r));

	opts->old = r;
	opts->n_old = 0;
	opts->old_lists = n->lists;
	for (ftr_sw s = 0; r && s < n->f->n_sw; s++)
		if (sh->tree.n_up[s] + sh->tree.n_down[s])
			r[opts->n_old++] = (struct ftr_old_rank){
				n->f->sw[s].guid, sh->tree.rank[s],
				sh->numbering.col[s] < sh->tree.n_leaf, sh->tree.stub[s],
			};
	return r != NULL;
}

/* Set the earlier ranks of *opts: those of `old`; if `old` is NULL, those that it has already.  If
 * they are from another fabric (`other`) or from other GUID lists, set opts->old to NULL.  Returns
 * false if out of memory. */
static bool keep_ranks(struct ftr_shape_opts *opts, const struct ftr_nominal *old, bool other,
		       uint64_t lists, struct ftr_arena *a)
{
	if (old && !ranks_of(old, a, opts))
		return false;
	if (other || opts->old_lists != lists)
		opts->old = NULL;
	return true;
}

/* Make a nominal fabric that owns `united`.  On failure `united` is freed. */
static enum ftr_status wrap(struct ftr_fabric *united,
			    const struct ftr_shape_opts *opts, uint64_t lists,
			    struct ftr_nominal **out, struct ftr_err *err)
{
	struct ftr_nominal *n = ftr_calloc(1, sizeof(*n));
	struct ftr_shape *sh = NULL;
	enum ftr_status st;

	if (!n) {
		ftr_fabric_free(united);
		return no_memory(err);
	}
	n->f = united;
	n->leaf_order = opts->leaf_order;
	n->lists = lists;
	st = ftr_shape_new(united, opts, NULL, &sh, err);
	if (st) {
		ftr_nominal_free(n);
		return st;
	}
	n->shape = sh;
	*out = n;
	return FTR_OK;
}

enum ftr_status ftr_nominal_compare(const struct ftr_nominal *n,
				    const struct ftr_fabric *f,
				    struct ftr_nominal_change *change,
				    struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct cover c;
	bool ok = a && cover_compare(&c, a, f, n->f,
				     n->leaf_order == FTR_LEAF_BY_NAME);

	ftr_arena_free(a);
	if (!ok)
		return no_memory(err);
	*change = c.change;
	change->grew = !cover_complete(&c);
	return FTR_OK;
}

/* Compare f with no nominal fabric, so that all of f counts as new. */
static bool start_over(struct cover *c, struct ftr_arena *a, bool names)
{
	struct ftr_nominal_change seen = c->change;

	if (!cover_compare(c, a, c->f, NULL, names))
		return false;
	c->change.other = true;
	c->change.same_sw = seen.same_sw;
	c->change.same_hosts = seen.same_hosts;
	c->change.old_sw = seen.old_sw;
	c->change.old_hosts = seen.old_hosts;
	return true;
}

enum ftr_status ftr_nominal_new(const struct ftr_fabric *f,
				const struct ftr_shape_opts *opts,
				struct ftr_nominal *old, struct ftr_nominal **out,
				struct ftr_nominal_change *change, struct ftr_err *err)
{
	struct ftr_shape_opts own = { .leaf_order = FTR_LEAF_BY_GUID };
	struct ftr_nominal_change result;
	struct ftr_fabric *united = NULL;
	struct ftr_arena *a = ftr_arena_new();
	struct cover c;
	uint64_t lists;
	bool names;
	enum ftr_status st;

	if (opts)
		own = *opts;
	own.nominal = NULL;
	names = own.leaf_order == FTR_LEAF_BY_NAME;
	if (!a || !hash_lists(&lists, &own) ||
	    !cover_compare(&c, a, f, old ? old->f : NULL, names) ||
	    (c.change.other && !start_over(&c, a, names))) {
		ftr_arena_free(a);
		return no_memory(err);
	}
	result = c.change;
	result.grew = !old || !cover_complete(&c);
	result.reshaped = old && (old->leaf_order != own.leaf_order ||
				  old->lists != lists);
	if (!result.grew && !result.reshaped) {
		*out = old;
		st = FTR_OK;
	} else {
		st = keep_ranks(&own, old, result.other, lists, a) ? FTR_OK : no_memory(err);
		if (!st)
			st = unite(&c, a, &result, &united, err);
		if (!st)
			st = wrap(united, &own, lists, out, err);
	}
	ftr_arena_free(a);
	if (!st && change)
		*change = result;
	return st;
}
