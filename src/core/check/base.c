// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes the base of a check by difference: checks the tables, sorts their entries by LID, and counts
 * the hops of all paths and the all-to-all flows on all links.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "check/base.h"
#include <ftr/load.h>

#define UNKNOWN 0x7f

static void set_hops(const struct ftr_check_base *b, ftr_lid lid, uint32_t *stack, uint64_t *paths)
{
	const uint8_t *entry = b->entry + (size_t)lid * b->f->n_sw;
	uint8_t *hops = b->hops + (size_t)lid * b->f->n_sw;
	ftr_sw to = chk_exit_of(b->f, lid).sw;
	uint32_t depth = 0;

	memset(hops, UNKNOWN, b->f->n_sw);
	for (ftr_sw s = 0; s < b->f->n_sw; s++)
		if (s == to || entry[s] == FTR_PORT_NONE)
			hops[s] = s == to ? 0 : CHK_NO_PATH;
	for (ftr_sw s = 0; s < b->f->n_sw; s++) {
		uint8_t n;
		ftr_sw x;

		for (x = s; hops[x] == UNKNOWN; x = ftr_fabric_next(b->f, x, entry[x]))
			stack[depth++] = x;
		n = hops[x] & (uint8_t)~CHK_BEHIND;
		while (depth) {
			hops[x] |= CHK_BEHIND;
			x = stack[--depth];
			hops[x] = n == CHK_NO_PATH ? n : ++n;
		}
		paths[n] += n != CHK_NO_PATH;
	}
}

static void fill_blocks(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	struct ftr_check_base *b = ctx;
	uint64_t paths[CHK_HOPS] = { 0 };

	for (uint32_t at = begin * FTR_LFT_BLOCK; at < end * FTR_LFT_BLOCK; at += FTR_LFT_BLOCK) {
		uint8_t *to[BYTES_COLUMNS] = { NULL };

		for (uint32_t i = 0; i < FTR_LFT_BLOCK && at + i <= b->f->max_lid; i++)
			if (b->f->owner[at + i].kind != FTR_OWNER_NONE)
				to[i] = b->entry + (size_t)(at + i) * b->f->n_sw;
		bytes_columns(to, ftr_tables_row(b->t, 0) + at, b->t->stride, b->f->n_sw);
		for (uint32_t i = 0; i < FTR_LFT_BLOCK; i++)
			if (to[i])
				set_hops(b, (ftr_lid)(at + i),
					 b->stack + (size_t)worker * b->f->n_sw, paths);
	}
	for (int h = 0; h < CHK_HOPS; h++)
		if (paths[h])
			__atomic_fetch_add(&b->paths[h], paths[h], __ATOMIC_RELAXED);
}

static enum ftr_status fill(struct ftr_check_base *b, struct ftr_team *team, struct ftr_err *err)
{
	struct ftr_arena *a = b->arena;
	size_t n = ((size_t)b->f->max_lid + 1) * b->f->n_sw;

	if (!FTR_NEW(a, b->entry, n) || !FTR_NEW(a, b->hops, n) ||
	    !FTR_NEW(a, b->stack, (size_t)ftr_team_size(team) * b->f->n_sw))
		return ftr_nomem(err, "the paths of %u switches", b->f->n_sw);
	ftr_team_run(team, b->f->max_lid / FTR_LFT_BLOCK + 1, 1, fill_blocks, b);
	return FTR_OK;
}

enum ftr_status ftr_check_base_load(struct ftr_check_base *b, struct ftr_order hosts,
				    struct ftr_team *team, struct ftr_err *err)
{
	struct ftr_load *ld = NULL;
	enum ftr_status st;

	if (!b->clean)
		return FTR_OK;
	if (!FTR_ZNEW(b->arena, b->hosts, b->f->n_sw) ||
	    !FTR_ZNEW(b->arena, b->is_dest, b->f->max_lid + 1u) ||
	    !FTR_NEW(b->arena, b->flows, b->f->n_ports))
		return ftr_nomem(err, "the load of links");
	st = ftr_load_new(b->f, b->t, hosts, team, &ld, err);
	if (st) {
		b->flows = NULL;
		return st;
	}
	ftr_load_all(ld, b->flows, NULL);
	ftr_load_free(ld);
	for (uint32_t i = 0; i < hosts.n; i++) {
		const struct ftr_endport *e = hosts.ep[i] == FTR_EP_NONE ? NULL :
			&b->f->ep[hosts.ep[i]];

		if (e && chk_is_source(e)) {
			b->hosts[e->sw]++;
			b->is_dest[e->lid] = 1;
		}
	}
	return FTR_OK;
}

static bool is_clean(const struct ftr_check_report *r)
{
	for (int i = 0; i < FTR_N_FINDINGS; i++)
		if (r->found[i] && i != FTR_FIND_MISSING)
			return false;
	return r->cdg == FTR_CDG_PROVED && r->max_hops < CHK_NO_PATH;
}

enum ftr_status ftr_check_base_new(const struct ftr_fabric *f, const struct ftr_tables *t,
				   const uint8_t *rank, struct ftr_team *team,
				   struct ftr_check_base **out, struct ftr_err *err)
{
	const struct ftr_check_opts opts = { .rank = rank, .list_lost = true };
	struct ftr_arena *a = ftr_arena_new();
	struct ftr_check_base *b = a ? ftr_arena_zalloc(a, 1, sizeof(*b)) : NULL;
	enum ftr_status st;

	if (!b) {
		ftr_arena_free(a);
		return ftr_nomem(err, "the base of checks");
	}
	*b = (struct ftr_check_base){ .f = f, .t = t, .rank = rank, .arena = a };
	st = ftr_check_tables(f, t, &opts, team, &b->r, err);
	b->clean = !st && is_clean(&b->r);
	if (b->clean)
		st = fill(b, team, err);
	if (st)
		ftr_check_base_free(b);
	else
		*out = b;
	return st;
}

void ftr_check_base_free(struct ftr_check_base *b)
{
	if (!b)
		return;
	free(b->r.lost);
	ftr_arena_free(b->arena);
}
