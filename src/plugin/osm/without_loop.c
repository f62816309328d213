// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tables without a credit loop, from tables with one: LIDs on a credit loop get their new entries.  As
 * the new tables have no credit loop, some LID of every cycle still has its old entries.  LIDs without an
 * owner, which the check leaves out, get their new entries, too.
 */
#include <stdlib.h>
#include <string.h>

#include "osm/clock.h"
#include "osm/osm.h"
#include <ftr/check.h>

/* Count the LIDs with old entries in t whose packets may hold channel a and wait for b.  If `move` is
 * true, they get their new entries. */
static uint32_t count_waiting(struct ftr_tables *t, const struct ftr_tables *new,
			      const struct ftr_channel *a, const struct ftr_channel *b, bool move)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; lid <= t->max_lid; lid++) {
		bool old = false;

		if (ftr_tables_get(t, a->sw, (ftr_lid)lid) != a->port ||
		    ftr_tables_get(t, b->sw, (ftr_lid)lid) != b->port)
			continue;
		for (ftr_sw s = 0; s < t->n_sw; s++) {
			ftr_port to = ftr_tables_get(new, s, (ftr_lid)lid);

			old |= ftr_tables_get(t, s, (ftr_lid)lid) != to;
			if (move)
				ftr_tables_row(t, s)[lid] = to;
		}
		n += old;
	}
	return n;
}

/* Replace the old entries of the LIDs that cause one dependency of the cycle in `rep`: the one with
 * the fewest LIDs. */
static void leave_cycle(struct ftr_tables *t, const struct ftr_tables *new,
			const struct ftr_check_report *rep)
{
	const struct ftr_channel *c = rep->cycle;
	uint32_t best = 0, least = UINT32_MAX, len = FTR_MIN(rep->cycle_len, (uint32_t)FTR_CYCLE_MAX);

	for (uint32_t i = 0; i < len; i++) {
		uint32_t n = count_waiting(t, new, &c[i], &c[(i + 1) % len], false);

		if (n && n < least) {
			least = n;
			best = i;
		}
	}
	count_waiting(t, new, &c[best], &c[(best + 1) % len], true);
}

enum ftr_status ibf_without_loop(struct ibf_plugin *p, const struct ftr_fabric *f,
				 const struct ftr_tables *now, const struct ftr_tables *new,
				 struct ftr_tables **out, struct ftr_err *err)
{
	double end = ibf_now_ms() + p->opt.transition_limit_ms / 2.0;
	struct ftr_check_report *rep = ftr_calloc(1, sizeof(*rep));
	enum ftr_status st = rep ? ftr_tables_new(f, false, out, err) : ftr_nomem(err, "a check");

	if (st)
		goto done;
	memcpy((*out)->lft, now->lft, (size_t)now->n_sw * now->stride);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		for (ftr_sw s = 0; f->owner[lid].kind == FTR_OWNER_NONE && s < f->n_sw; s++)
			ftr_tables_row(*out, s)[lid] = ftr_tables_get(new, s, (ftr_lid)lid);
	while (true) {
		st = ftr_check_tables(f, *out, NULL, ibf_team(p), rep, err);
		if (st || rep->cdg != FTR_CDG_CYCLE)
			break;
		if (ibf_now_ms() > end) {
			st = ftr_fail(err, FTR_REFUSED, "the tables in use have too many credit loops");
			break;
		}
		leave_cycle(*out, new, rep);
	}
done:
	free(rep);
	return st;
}
