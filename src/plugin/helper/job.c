// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The requests to the processes of the plugin, and their results (job.h).  Integers are as in
 * container.c; loads of shifts are in millionths of a flow.
 */
#include <string.h>

#include "helper/job.h"

/* ---- search -------------------------------------------------------------------- */

static void put_guids(struct ftr_out *o, const struct ftr_guids *g)
{
	ftr_put(o, g->n, 4);
	for (uint32_t i = 0; i < g->n; i++)
		ftr_put(o, g->guid[i], 8);
}

void put_search(struct ftr_out *o, const struct search_job *j)
{
	ftr_put_text(o, j->engine);
	ftr_put(o, j->shape.leaf_order, 1);
	ftr_put(o, j->shape.roots_mode, 1);
	put_guids(o, &j->shape.roots);
	put_guids(o, &j->shape.cn);
	put_guids(o, &j->shape.io);
	ftr_put_nominal(o, j->nominal);
	ftr_put_fabric(o, j->f);
	ftr_put(o, j->opts.sm_switch, 4);
	ftr_put(o, j->opts.n_sm, 4);
	for (uint32_t i = 0; i < j->opts.n_sm; i++)
		ftr_put(o, j->opts.sm[i], 4);
	ftr_put(o, j->opts.paths, 1);
	ftr_put_turns(o, j->f, j->opts.turn, j->opts.n_turns);
	ftr_put(o, j->keep.search_all, 1);
	ftr_put(o, j->keep.search_displaced, 1);
	ftr_put(o, j->given, 1);
	ftr_put_tables(o, j->f, j->keep.prefer);
	ftr_put(o, j->keep.current != NULL, 1);
	if (j->keep.current)
		ftr_put_tables(o, j->f, j->keep.current);
}

static void get_guids(struct ftr_in *in, struct ftr_guids *g)
{
	uint64_t *guid;

	g->n = (uint32_t)ftr_get(in, 4);
	guid = get_room(in, g->n, sizeof(*guid));
	for (uint32_t i = 0; i < g->n && !in->bad; i++)
		guid[i] = ftr_get(in, 8);
	g->guid = guid;
}

static void get_opts(struct ftr_in *in, struct ftr_route_opts *o)
{
	ftr_sw *sm;

	o->sm_switch = (ftr_sw)ftr_get(in, 4);
	o->n_sm = (uint32_t)ftr_get(in, 4);
	sm = get_room(in, o->n_sm, sizeof(*sm));
	for (uint32_t i = 0; i < o->n_sm && !in->bad; i++)
		sm[i] = (ftr_sw)ftr_get(in, 4);
	o->sm = sm;
	o->paths = (enum ftr_paths)ftr_get(in, 1);
}

enum ftr_status get_search(struct ftr_in *in, struct search_job *j, struct ftr_shape **sh,
			   struct ftr_err *err)
{
	struct ftr_tables *t = NULL;
	struct ftr_nominal *n = NULL;
	struct ftr_turn *turn = NULL;
	struct ftr_fabric *f = NULL;
	enum ftr_status st;
	bool reshaped;

	*j = (struct search_job){ .opts = FTR_ROUTE_OPTS_INIT };
	ftr_get_text(in, j->engine, sizeof(j->engine));
	j->shape.leaf_order = (enum ftr_leaf_order)ftr_get(in, 1);
	j->shape.roots_mode = (enum ftr_roots)ftr_get(in, 1);
	get_guids(in, &j->shape.roots);
	get_guids(in, &j->shape.cn);
	get_guids(in, &j->shape.io);
	st = ftr_get_nominal(in, &j->shape, &n, &reshaped, err);
	if (!st)
		st = ftr_get_fabric(in, &f, err);
	if (st)
		return st;
	j->nominal = n;
	j->f = f;
	get_opts(in, &j->opts);
	st = ftr_get_turns(in, f, &turn, &j->opts.n_turns, err);
	j->opts.turn = turn;
	j->keep.search_all = ftr_get(in, 1);
	j->keep.search_displaced = ftr_get(in, 1);
	j->given = ftr_get(in, 1);
	if (!st)
		st = ftr_get_tables(in, f, &t, err);
	j->keep.prefer = t;
	t = NULL;
	if (!st && ftr_get(in, 1))
		st = ftr_get_tables(in, f, &t, err);
	j->keep.current = t;
	j->shape.nominal = n->shape;
	j->opts.nominal = n->shape;
	return st ? st : ftr_shape_new(f, &j->shape, NULL, sh, err);
}

void put_found(struct ftr_out *o, const struct ftr_fabric *f, const struct ftr_kept *k)
{
	const struct ftr_balance_report *b = &k->stats.balance;

	ftr_put(o, b->bound, 4);
	ftr_put(o, b->max_before, 4);
	ftr_put(o, b->max_after, 4);
	ftr_put(o, b->rail_before, 4);
	ftr_put(o, b->rail_after, 4);
	ftr_put(o, (uint64_t)(b->shift_before * 1e6), 8);
	ftr_put(o, (uint64_t)(b->shift_after * 1e6), 8);
	ftr_put(o, b->moved, 8);
	ftr_put(o, k->replaced, 1);
	ftr_put_tables(o, f, k->t);
}

enum ftr_status get_found(struct ftr_in *in, const struct ftr_fabric *f, struct ftr_kept *k,
			  struct ftr_err *err)
{
	struct ftr_balance_report *b = &k->stats.balance;

	b->bound = (uint32_t)ftr_get(in, 4);
	b->max_before = (uint32_t)ftr_get(in, 4);
	b->max_after = (uint32_t)ftr_get(in, 4);
	b->rail_before = (uint32_t)ftr_get(in, 4);
	b->rail_after = (uint32_t)ftr_get(in, 4);
	b->shift_before = (double)ftr_get(in, 8) / 1e6;
	b->shift_after = (double)ftr_get(in, 8) / 1e6;
	b->moved = ftr_get(in, 8);
	k->replaced = ftr_get(in, 1);
	return ftr_get_tables(in, f, &k->t, err);
}

/* ---- files ----------------------------------------------------------------------- */

void put_file(struct ftr_out *o, const char *path, bool append, const void *at, size_t n)
{
	size_t len = strlen(path);

	ftr_put(o, append, 1);
	ftr_put(o, len, 4);
	ftr_put_bytes(o, path, len);
	ftr_put(o, n, 8);
	ftr_put_bytes(o, at, n);
}

enum ftr_status get_file(struct ftr_in *in, char path[PATH_MAX], bool *append, struct ftr_err *err)
{
	const uint8_t *text;
	size_t len;

	*append = ftr_get(in, 1);
	len = ftr_get(in, 4);
	text = ftr_get_bytes(in, len);
	if (ftr_get(in, 8) != (size_t)(in->end - in->at) || !text || len >= PATH_MAX)
		return ftr_in_damaged(in, err);
	memcpy(path, text, len);
	path[len] = '\0';
	return FTR_OK;
}
