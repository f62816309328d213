// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state file (<ftr/state.h>), a container (container.h) with this content:
 *
 *	nominal		leaf_order:1 lists:8, fabric
 *			kept:1 and, if it is 1, for each switch rank:1 leaf:1 stub:1
 *	engine		text; "": the file ends here, without preferred tables
 *	preferred	searched:1, fabric, tables, the turns `given` and `turn`
 *	displaced	n:4, n times guid:8 lid:2 port:1
 *
 * Kept ranks are earlier ranks that differ from the inferred ones (src/core/shape/choice.c, rule
 * 7).
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "io/container.h"
#include <ftr/state.h>

#define MAGIC "ibfattree-state 1"

uint64_t ftr_nominal_id(const struct ftr_nominal *n)
{
	const struct ftr_fabric *f = n->f;
	uint64_t lists = n->lists + n->leaf_order;
	uint64_t h = ftr_hash(FTR_HASH_INIT, &lists, sizeof(lists));

	h = ftr_hash(h, n->shape->tree.rank, f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		h = ftr_hash(h, &f->sw[s].guid, sizeof(f->sw[s].guid));
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *q = ftr_fabric_port(f, s, p);
			uint64_t far[2] = { 0, 0 };

			if (q->peer_kind == FTR_PEER_SW) {
				far[0] = f->sw[q->peer].guid;
				far[1] = q->peer_port;
			}
			h = ftr_hash(h, far, sizeof(far));
		}
	}
	return h;
}

/* ---- the nominal fabric ------------------------------------------------------ */

void ftr_put_nominal(struct ftr_out *o, const struct ftr_nominal *n)
{
	const struct ftr_shape_tree *t = &n->shape->tree;

	ftr_put(o, n->leaf_order, 1);
	ftr_put(o, n->lists, 8);
	ftr_put_fabric(o, n->f);
	ftr_put(o, t->ranks_kept, 1);
	for (ftr_sw s = 0; t->ranks_kept && s < n->f->n_sw; s++) {
		ftr_put(o, t->rank[s], 1);
		ftr_put(o, n->shape->numbering.col[s] < t->n_leaf, 1);
		ftr_put(o, t->stub[s] != 0, 1);
	}
}

static enum ftr_status get_ranks(struct ftr_in *in, const struct ftr_fabric *f,
				 struct ftr_old_rank **rank, struct ftr_err *err)
{
	*rank = ftr_calloc(f->n_sw, sizeof(**rank));
	if (!*rank)
		return ftr_nomem(err, "%s", in->name);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		struct ftr_old_rank *r = &(*rank)[s];

		r->guid = f->sw[s].guid;
		r->rank = (uint8_t)ftr_get(in, 1);
		r->leaf = ftr_get(in, 1);
		r->stub = ftr_get(in, 1);
		if (in->bad || r->rank > FTR_COST_INF / 2)
			return ftr_in_damaged(in, err);
	}
	return FTR_OK;
}

enum ftr_status ftr_get_nominal(struct ftr_in *in, const struct ftr_shape_opts *opts,
				struct ftr_nominal **n, bool *reshaped, struct ftr_err *err)
{
	struct ftr_shape_opts with = { .leaf_order = FTR_LEAF_BY_GUID };
	enum ftr_leaf_order order = (enum ftr_leaf_order)ftr_get(in, 1);
	uint64_t lists = ftr_get(in, 8);
	struct ftr_old_rank *rank = NULL;
	struct ftr_fabric *f = NULL;
	enum ftr_status st = ftr_get_fabric(in, &f, err);

	if (!st && ftr_get(in, 1))
		st = get_ranks(in, f, &rank, err);
	if (opts)
		with = *opts;
	if (!st) {
		with.old = rank;
		with.n_old = f->n_sw;
		with.old_lists = lists;
		st = ftr_nominal_new(f, &with, NULL, n, NULL, err);
	}
	if (!st)
		*reshaped = (*n)->leaf_order != order || (*n)->lists != lists;
	ftr_fabric_free(f);
	free(rank);
	return st;
}

/* ---- the file ---------------------------------------------------------------- */

bool ftr_state_fill(FILE *out, const void *state)
{
	const struct ftr_state *s = state;
	struct ftr_out o = { 0 };

	ftr_put_nominal(&o, s->nominal);
	ftr_put_text(&o, s->t ? s->engine : "");
	if (!s->t)
		return ftr_out_file(&o, out, MAGIC);
	ftr_put(&o, s->searched, 1);
	ftr_put_fabric(&o, s->f);
	ftr_put_tables(&o, s->f, s->t);
	ftr_put_turns(&o, s->f, s->given, s->n_given);
	ftr_put_turns(&o, s->f, s->turn, s->n_turns);
	ftr_put(&o, s->n_displaced, 4);
	for (uint32_t i = 0; i < s->n_displaced; i++) {
		ftr_put(&o, s->displaced[i].guid, 8);
		ftr_put(&o, s->displaced[i].lid, 2);
		ftr_put(&o, s->displaced[i].port, 1);
	}
	return ftr_out_file(&o, out, MAGIC);
}

enum ftr_status ftr_state_write(const char *path, const struct ftr_state *s, struct ftr_err *err)
{
	return ftr_file_replace(path, ftr_state_fill, s, err);
}

static enum ftr_status get_displaced(struct ftr_in *in, struct ftr_state *s, struct ftr_err *err)
{
	uint32_t cap = 0;

	for (uint64_t left = ftr_get(in, 4); left && !in->bad; left--) {
		if (!FTR_GROW(s->displaced, s->n_displaced, cap))
			return ftr_nomem(err, "%s", in->name);
		s->displaced[s->n_displaced].guid = ftr_get(in, 8);
		s->displaced[s->n_displaced].lid = (ftr_lid)ftr_get(in, 2);
		s->displaced[s->n_displaced++].port = (ftr_port)ftr_get(in, 1);
	}
	return FTR_OK;
}

static enum ftr_status get_preferred(struct ftr_in *in, struct ftr_state *s, struct ftr_err *err)
{
	enum ftr_status st;

	ftr_get_text(in, s->engine, sizeof(s->engine));
	if (in->bad || !s->engine[0])
		return FTR_OK;
	s->searched = ftr_get(in, 1);
	st = ftr_get_fabric(in, &s->f, err);
	if (!st)
		st = ftr_get_tables(in, s->f, &s->t, err);
	if (!st)
		st = ftr_get_turns(in, s->f, &s->given, &s->n_given, err);
	if (!st)
		st = ftr_get_turns(in, s->f, &s->turn, &s->n_turns, err);
	return st ? st : get_displaced(in, s, err);
}

enum ftr_status ftr_state_read(const char *path, bool own, const struct ftr_shape_opts *opts,
			       struct ftr_state *s, struct ftr_err *err)
{
	struct ftr_in in;
	enum ftr_status st = ftr_in_file(&in, path, own, MAGIC, err);

	*s = (struct ftr_state){ 0 };
	if (st)
		return st;
	st = ftr_get_nominal(&in, opts, &s->nominal, &s->reshaped, err);
	if (!st)
		st = get_preferred(&in, s, err);
	st = ftr_in_end(&in, st, err);
	if (st)
		ftr_state_clear(s);
	return st;
}

void ftr_state_clear(struct ftr_state *s)
{
	ftr_nominal_free(s->nominal);
	ftr_tables_free(s->t);
	ftr_fabric_free(s->f);
	free(s->given);
	free(s->turn);
	free(s->displaced);
	*s = (struct ftr_state){ 0 };
}

enum ftr_status ftr_nominal_read(const char *path, const struct ftr_shape_opts *opts,
				 struct ftr_nominal **out, struct ftr_err *err)
{
	struct ftr_state s;
	enum ftr_status st = ftr_state_read(path, false, opts, &s, err);

	if (st)
		return st;
	*out = s.nominal;
	s.nominal = NULL;
	ftr_state_clear(&s);
	return FTR_OK;
}

bool ftr_state_is_file(const char *path)
{
	char head[sizeof(MAGIC)] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is = fd >= 0 && read(fd, head, sizeof(MAGIC) - 1) == sizeof(MAGIC) - 1 &&
		!strcmp(head, MAGIC);

	if (fd >= 0)
		close(fd);
	return is;
}
