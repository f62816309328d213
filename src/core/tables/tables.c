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
		return ftr_nomem(err, "tables");
	t->n_sw = f->n_sw;
	t->max_lid = f->max_lid;
	t->stride = (f->max_lid / FTR_LFT_BLOCK + 1u) * FTR_LFT_BLOCK;
	bytes = (size_t)t->n_sw * t->stride;
	t->lft = ftr_aligned(bytes);
	if (!t->lft) {
		free(t);
		return ftr_nomem(err, "%zu bytes of tables", bytes);
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
	free(t->differ);
	free(t);
}

bool ftr_tables_copy(struct ftr_tables *t, const struct ftr_tables *from)
{
	const size_t blocks = (size_t)t->n_sw * (t->stride / FTR_LFT_BLOCK);

	if (!t->differ)
		t->differ = ftr_calloc(blocks, sizeof(*t->differ));
	if (!t->differ)
		return false;
	for (size_t i = 0; i < blocks; i++) {
		if (t->like != from || t->differ[i])
			memcpy(t->lft + i * FTR_LFT_BLOCK, from->lft + i * FTR_LFT_BLOCK,
			       FTR_LFT_BLOCK);
		t->differ[i] = 0;
	}
	t->like = from;
	return true;
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

		if ((sa == sb && !ftr_tables_differ(a, b, sa, at)) || !memcmp(x, y, FTR_LFT_BLOCK))
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

void ftr_tables_overlay(const struct ftr_fabric *fa, const struct ftr_tables *a,
			const struct ftr_fabric *fb, struct ftr_tables *b)
{
	for (uint32_t at = 0; at < FTR_MIN(a->stride, b->stride); at += FTR_LFT_BLOCK) {
		uint8_t same[FTR_LFT_BLOCK];

		for (uint32_t i = 0; i < FTR_LFT_BLOCK; i++)
			same[i] = at + i <= FTR_MIN(fa->max_lid, fb->max_lid) &&
				same_owner(fa, fb, at + i);
		for (ftr_sw i = 0, j = 0; i < fa->n_sw && j < fb->n_sw;) {
			const uint64_t x = fa->sw[i].guid, y = fb->sw[j].guid;
			uint8_t *to = ftr_tables_row(b, j) + at;

			for (uint32_t k = 0; x == y && k < FTR_LFT_BLOCK; k++)
				to[k] = same[k] ? ftr_tables_row(a, i)[at + k] : to[k];
			i += x <= y;
			j += y <= x;
		}
	}
}

enum ftr_status ftr_tables_carry(const struct ftr_fabric *fa,
				 const struct ftr_tables *a,
				 const struct ftr_fabric *fb,
				 struct ftr_tables **out, struct ftr_err *err)
{
	enum ftr_status st = ftr_tables_new(fb, true, out, err);

	if (!st)
		ftr_tables_overlay(fa, a, fb, *out);
	return st;
}

uint32_t ftr_tables_path(const struct ftr_fabric *f, const struct ftr_tables *t, ftr_sw s,
			 ftr_lid lid, uint32_t *port)
{
	const struct ftr_lid_owner *o = &f->owner[lid];

	for (uint32_t n = 0; n < f->n_sw;) {
		ftr_port p = ftr_tables_get(t, s, lid);
		const struct ftr_swport *x;

		if (p > f->sw[s].n_ports)
			return FTR_NO_PATH;
		if (port)
			port[n] = f->sw[s].first_port + p;
		n++;
		x = ftr_fabric_port(f, s, p);
		if (!p)
			return o->kind == FTR_OWNER_SW && o->idx == s ? n : FTR_NO_PATH;
		if (x->peer_kind == FTR_PEER_EP)
			return o->kind == FTR_OWNER_EP && o->idx == x->peer ? n : FTR_NO_PATH;
		if (x->peer_kind != FTR_PEER_SW)
			return FTR_NO_PATH;
		s = x->peer;
	}
	return FTR_NO_PATH;
}

bool ftr_turns_carry(const struct ftr_fabric *fa, const struct ftr_turn *turn, uint32_t n,
		     const struct ftr_fabric *fb, struct ftr_turn **out, uint32_t *n_out)
{
	*n_out = 0;
	*out = n ? ftr_calloc(n, sizeof(**out)) : NULL;
	if (n && !*out)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct ftr_turn x = {
			.from = ftr_fabric_find_sw(fb, fa->sw[turn[i].from].guid),
			.at = ftr_fabric_find_sw(fb, fa->sw[turn[i].at].guid),
			.to = ftr_fabric_find_sw(fb, fa->sw[turn[i].to].guid),
		};

		if (x.from != FTR_SW_NONE && x.at != FTR_SW_NONE && x.to != FTR_SW_NONE)
			(*out)[(*n_out)++] = x;
	}
	return true;
}
