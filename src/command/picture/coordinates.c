// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Layout: the pods and blocks of the picture, and an x coordinate for every switch.
 *
 * In the shape, the leaves are numbered (leaf columns), and every switch has the range of leaf
 * columns in its pod (pod_first, pod_leaves).  This range is that of the nominal fabric, so a
 * missing link does not move pods.  Switches of one rank with the same range are one pod of the
 * picture.  The switches of such a pod are ordered by plane, then by index, and spread evenly over
 * the range.  A missing link changes this order only if it divides a plane.
 */
#include <stdlib.h>
#include <string.h>

#include "picture/picture.h"

struct drawing_position {
	ftr_sw sw;
	uint32_t rank, pod_first, pod_leaves, plane;
};

/* Returns the plane of each switch above rank 0, by switch.  A plane is a connected component of
 * these switches; its number is the index of one of them. */
static uint32_t *planes(struct drawing *z)
{
	const struct ftr_shape *sh = z->sh;
	uint32_t *uf = ftr_arena_alloc(z->scratch, z->f->n_sw, sizeof(*uf));

	if (!uf)
		return NULL;
	ftr_uf_init(uf, z->f->n_sw);
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		for (uint32_t g = sh->tree.group_first[s];
		     sh->tree.rank[s] && g < sh->tree.group_first[s + 1]; g++)
			if (sh->tree.rank[sh->tree.groups[g].remote])
				ftr_uf_union(uf, s, sh->tree.groups[g].remote);
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		uf[s] = ftr_uf_find(uf, s);
	return uf;
}

/* Returns true if s is not a leaf and has no leaf below it. */
static bool lonely(const struct ftr_shape *sh, ftr_sw s)
{
	if (sh->numbering.col[s] < sh->tree.n_leaf || sh->numbering.pod_first[s] || sh->numbering.pod_leaves[s] != 1)
		return false;
	return !sh->tree.n_leaf || ftr_shape_down(sh, s)[0] == FTR_COST_INF;
}

static int by_place(const void *x, const void *y)
{
	const struct drawing_position *a = x, *b = y;

	return FTR_ORDER(a->rank, b->rank) ?: FTR_ORDER(a->pod_first, b->pod_first) ?:
	       FTR_ORDER(a->pod_leaves, b->pod_leaves) ?: FTR_ORDER(a->plane, b->plane) ?:
	       FTR_ORDER(a->sw, b->sw);
}

static struct drawing_position *sorted(struct drawing *z)
{
	const struct ftr_shape *sh = z->sh;
	const uint32_t *plane = planes(z);
	struct drawing_position *at = ftr_arena_alloc(z->scratch, z->f->n_sw, sizeof(*at));
	uint32_t cols = sh->tree.n_leaf, next;

	if (!plane || !at)
		return NULL;
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		if (!lonely(sh, s))
			cols = FTR_MAX(cols, sh->numbering.pod_first[s] + sh->numbering.pod_leaves[s]);
	z->p->n_ranks = sh->tree.n_ranks;
	z->p->n_cols = next = cols;
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		at[s] = (struct drawing_position){
			s, sh->tree.rank[s],
			lonely(sh, s) ? next++ : sh->numbering.pod_first[s],
			sh->numbering.pod_leaves[s], plane[s]
		};
	z->p->width = next;
	qsort(at, z->f->n_sw, sizeof(*at), by_place);
	return at;
}

/* ---- pods ---------------------------------------------------------------- */

static bool same_pod(const struct drawing_position *a, const struct drawing_position *b)
{
	return a->rank == b->rank && a->pod_first == b->pod_first && a->pod_leaves == b->pod_leaves;
}

static bool pods(struct drawing *z, const struct drawing_position *at)
{
	const uint32_t n = z->f->n_sw;
	size_t cells = (size_t)z->sh->tree.n_ranks * z->p->n_cols;
	uint32_t *pod_at = ftr_arena_alloc(z->keep, cells, sizeof(*pod_at));
	uint32_t id = 0;

	if (!pod_at || !FTR_ZNEW(z->keep, z->pod, n) || !FTR_NEW(z->keep, z->pod_of, n))
		return false;
	memset(pod_at, 0xff, cells * sizeof(*pod_at));
	for (uint32_t i = 0; i < n; i++) {
		struct ftr_picture_pod *p;

		z->pod_of[at[i].sw] = FTR_POD_NONE;
		if (at[i].pod_first >= z->p->n_cols)
			continue;
		if (!z->p->n_pods || !same_pod(&at[i], &at[i - 1]))
			id = z->p->n_pods++;
		p = &z->pod[id];
		p->rank = (uint8_t)at[i].rank;
		p->pod_first = at[i].pod_first;
		p->pod_leaves = at[i].pod_leaves;
		z->pod_of[at[i].sw] = id;
		for (uint32_t c = p->pod_first; c < p->pod_first + p->pod_leaves; c++)
			pod_at[(size_t)p->rank * z->p->n_cols + c] = id;
	}
	z->p->pod = z->pod;
	z->p->pod_of = z->pod_of;
	z->p->pod_at = pod_at;
	return true;
}

/* ---- blocks and x -------------------------------------------------------- */

/* Returns true if the n switches at[] are in several planes, and the mean number of these switches
 * in a plane is at least 2. */
static bool by_plane(const struct drawing_position *at, uint32_t n)
{
	uint32_t planes = 1;

	for (uint32_t i = 1; i < n; i++)
		planes += at[i].plane != at[i - 1].plane;
	return planes > 1 && n >= 2 * planes;
}

/* Returns true if a and b belong to the same block (see <ftr/picture.h>). */
static bool same_block(const struct drawing *z, const struct drawing_position *a,
		       const struct drawing_position *b, bool planes)
{
	const uint32_t *above = z->p->pod_at + z->p->n_cols;

	if (a->rank != b->rank || a->pod_first >= z->p->n_cols || b->pod_first >= z->p->n_cols)
		return false;
	if (!a->rank)
		return z->sh->tree.n_ranks < 2 || above[a->pod_first] == above[b->pod_first];
	return same_pod(a, b) && (!planes || a->plane == b->plane);
}

static bool blocks(struct drawing *z, const struct drawing_position *at)
{
	const uint32_t n = z->f->n_sw;
	double *x = ftr_arena_alloc(z->keep, n, sizeof(*x));
	struct ftr_picture_block *block =
		ftr_arena_zalloc(z->keep, n, sizeof(*block));
	struct ftr_picture_block *b = NULL;
	bool planes = false;
	uint32_t first = 0, end = 0;

	if (!x || !block || !FTR_NEW(z->keep, z->block_of, n))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		double step;

		if (i == end) {
			for (first = i; end < n && same_pod(&at[first], &at[end]); )
				end++;
			planes = by_plane(at + first, end - first);
		}
		step = (double)at[i].pod_leaves / (end - first);
		x[at[i].sw] = at[i].pod_first + (i - first + 0.5) * step;
		if (!b || !same_block(z, &at[i], &at[i - 1], planes)) {
			b = &block[z->p->n_blocks++];
			b->rank = (uint8_t)at[i].rank;
			b->x0 = x[at[i].sw] - step / 2;
		}
		b->x1 = x[at[i].sw] + step / 2;
		b->n_sw++;
		z->block_of[at[i].sw] = z->p->n_blocks - 1;
	}
	z->p->x = x;
	z->p->block = block;
	z->p->block_of = z->block_of;
	return true;
}

/* ---- construction -------------------------------------------------------- */

static bool draw(struct drawing *z)
{
	const struct drawing_position *at = sorted(z);

	return at && pods(z, at) && blocks(z, at) && picture_missing(z);
}

enum ftr_status ftr_picture_new(const struct ftr_shape *sh,
				struct ftr_picture **out, struct ftr_err *err)
{
	struct drawing z = { .sh = sh, .f = sh->f };
	bool ok;

	z.keep = ftr_arena_new();
	z.scratch = ftr_arena_new();
	z.p = z.keep && z.scratch ?
		ftr_arena_zalloc(z.keep, 1, sizeof(*z.p)) : NULL;
	ok = z.p && draw(&z);
	ftr_arena_free(z.scratch);
	if (!ok) {
		ftr_arena_free(z.keep);
		return ftr_nomem(err, "a picture of %u switches", sh->f->n_sw);
	}
	z.p->arena = z.keep;
	*out = z.p;
	return FTR_OK;
}

void ftr_picture_free(struct ftr_picture *p)
{
	if (p)
		ftr_arena_free(p->arena);
}

unsigned int ftr_link_gbps(unsigned int width, enum ftr_speed speed)
{
	/* Nominal Gbit/s of a 4x link */
	static const unsigned int four[FTR_SPEED_END] = {
		[FTR_SPEED_SDR] = 10, [FTR_SPEED_DDR] = 20,
		[FTR_SPEED_QDR] = 40, [FTR_SPEED_FDR10] = 40,
		[FTR_SPEED_FDR] = 56, [FTR_SPEED_EDR] = 100,
		[FTR_SPEED_HDR] = 200, [FTR_SPEED_NDR] = 400,
		[FTR_SPEED_XDR] = 800,
	};

	return (unsigned int)speed < FTR_SPEED_END ?
		four[speed] * width / 4 : 0;
}
