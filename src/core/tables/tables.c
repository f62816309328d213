// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Forwarding tables: make them, count the differences between two of them, and convert tables and
 * turns to another fabric.  <ftr/tables.h> shows their layout.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include <ftr/tables.h>

enum ftr_status ftr_tables_new(const struct ftr_fabric *f, bool fill,
			       struct ftr_tables **out, struct ftr_err *err)
{
	struct ftr_tables *t = ftr_calloc(1, sizeof(*t));
	size_t bytes;

	if (!t)
		return ftr_fail(err, FTR_NOMEM, "out of memory for tables");
	t->n_sw = f->n_sw;
	t->max_lid = f->max_lid;
	t->stride = (f->max_lid / FTR_LFT_BLOCK + 1u) * FTR_LFT_BLOCK;
	bytes = (size_t)t->n_sw * t->stride;
	t->lft = ftr_aligned(bytes);
	if (!t->lft) {
		free(t);
		return ftr_fail(err, FTR_NOMEM, "out of memory for %zu bytes of tables",
				bytes);
	}
	if (fill)
		memset(t->lft, FTR_PORT_NONE, bytes);
	*out = t;
	return FTR_OK;
}

void ftr_tables_free(struct ftr_tables *t)
{
	if (!t)
		return;
	free(t->lft);
	free(t);
}

static void diff_row(const struct ftr_tables *a, ftr_sw sa,
		     const struct ftr_tables *b, ftr_sw sb,
		     struct ftr_tables_diff *out)
{
	uint32_t top = FTR_MAX(a->stride, b->stride);
	uint64_t before = out->blocks;

	for (uint32_t at = 0; at < top; at += FTR_LFT_BLOCK) {
		static const uint8_t none[FTR_LFT_BLOCK] = {
			[0 ... FTR_LFT_BLOCK - 1] = FTR_PORT_NONE
		};
		const uint8_t *x = at < a->stride ?
			ftr_tables_row(a, sa) + at : none;
		const uint8_t *y = at < b->stride ?
			ftr_tables_row(b, sb) + at : none;
		uint32_t n = 0;

		if (!memcmp(x, y, FTR_LFT_BLOCK))
			continue;
		for (uint32_t i = 0; i < FTR_LFT_BLOCK; i++)
			n += x[i] != y[i];
		out->entries += n;
		out->blocks++;
	}
	out->switches += out->blocks != before;
}

void ftr_tables_diff(const struct ftr_fabric *fa, const struct ftr_tables *a,
		     const struct ftr_fabric *fb, const struct ftr_tables *b,
		     struct ftr_tables_diff *out)
{
	ftr_sw i = 0, j = 0;

	memset(out, 0, sizeof(*out));
	while (i < fa->n_sw && j < fb->n_sw) {
		if (fa->sw[i].guid < fb->sw[j].guid)
			i++;
		else if (fa->sw[i].guid > fb->sw[j].guid)
			j++;
		else
			diff_row(a, i++, b, j++, out);
	}
}

static uint64_t owner_guid(const struct ftr_fabric *f, uint32_t lid)
{
	const struct ftr_lid_owner *o = &f->owner[lid];

	return o->kind == FTR_OWNER_EP ? f->ep[o->idx].guid :
		f->sw[o->idx].guid;
}

static bool same_owner(const struct ftr_fabric *fa, const struct ftr_fabric *fb,
		       uint32_t lid)
{
	const struct ftr_lid_owner *a = &fa->owner[lid], *b = &fb->owner[lid];

	return a->kind == b->kind && a->kind != FTR_OWNER_NONE &&
		a->offset == b->offset &&
		owner_guid(fa, lid) == owner_guid(fb, lid);
}

enum ftr_status ftr_tables_carry(const struct ftr_fabric *fa,
				 const struct ftr_tables *a,
				 const struct ftr_fabric *fb,
				 struct ftr_tables **out, struct ftr_err *err)
{
	uint32_t top = FTR_MIN(fa->max_lid, fb->max_lid), n = 0;
	ftr_lid *foreign = ftr_malloc((top + 1u) * sizeof(*foreign));
	enum ftr_status st;

	if (!foreign)
		return ftr_fail(err, FTR_NOMEM, "out of memory for tables");
	st = ftr_tables_new(fb, true, out, err);
	for (uint32_t lid = 0; lid <= top; lid++)
		if (!lid || !same_owner(fa, fb, lid))
			foreign[n++] = (ftr_lid)lid;
	for (ftr_sw s = 0; !st && s < fb->n_sw; s++) {
		ftr_sw from = ftr_fabric_find_sw(fa, fb->sw[s].guid);
		uint8_t *row = ftr_tables_row(*out, s);

		if (from == FTR_SW_NONE)
			continue;
		memcpy(row, ftr_tables_row(a, from), top + 1u);
		for (uint32_t i = 0; i < n; i++)
			row[foreign[i]] = FTR_PORT_NONE;
	}
	free(foreign);
	return st;
}

void ftr_tables_overlay(const struct ftr_fabric *fa, const struct ftr_tables *a,
			const struct ftr_fabric *fb, struct ftr_tables *b)
{
	for (ftr_sw s = 0; s < fa->n_sw; s++) {
		ftr_sw to = ftr_fabric_find_sw(fb, fa->sw[s].guid);

		for (uint32_t lid = 1; to != FTR_SW_NONE &&
		     lid <= FTR_MIN(fa->max_lid, fb->max_lid); lid++)
			if (same_owner(fa, fb, lid))
				ftr_tables_row(b, to)[lid] = ftr_tables_row(a, s)[lid];
	}
}

enum ftr_status ftr_turns_carry(const struct ftr_fabric *fa,
				const struct ftr_turn *turn, uint32_t n,
				const struct ftr_fabric *fb,
				struct ftr_turn **out, uint32_t *n_out,
				struct ftr_err *err)
{
	*n_out = 0;
	*out = NULL;
	if (!n)
		return FTR_OK;
	*out = ftr_calloc(n, sizeof(**out));
	if (!*out)
		return ftr_fail(err, FTR_NOMEM, "out of memory for %u turns", n);
	for (uint32_t i = 0; i < n; i++) {
		const struct ftr_turn x = {
			.from = ftr_fabric_find_sw(fb, fa->sw[turn[i].from].guid),
			.at = ftr_fabric_find_sw(fb, fa->sw[turn[i].at].guid),
			.to = ftr_fabric_find_sw(fb, fa->sw[turn[i].to].guid),
		};

		if (x.from != FTR_SW_NONE && x.at != FTR_SW_NONE && x.to != FTR_SW_NONE)
			(*out)[(*n_out)++] = x;
	}
	return FTR_OK;
}
