// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts the findings of ftr_check_tables(), keeps their samples, and finds the faulty entry of a
 * path.
 */
#include "check/check.h"

struct ftr_hop chk_exit_of(const struct ftr_fabric *f, ftr_lid lid)
{
	const struct ftr_lid_owner *o = &f->owner[lid];

	if (o->kind == FTR_OWNER_SW)
		return (struct ftr_hop){ o->idx, 0 };
	if (o->kind == FTR_OWNER_EP)
		return (struct ftr_hop){ f->ep[o->idx].sw,
					  f->ep[o->idx].sw_port };
	return (struct ftr_hop){ FTR_SW_NONE, 0 };
}

enum ftr_status chk_same_size(const struct ftr_fabric *f,
			      const struct ftr_tables *t, struct ftr_err *err)
{
	if (t->n_sw != f->n_sw || t->max_lid != f->max_lid)
		return ftr_fail(err, FTR_INVAL, "tables of %u switches and LIDs up to %u do not fit a fabric of %u switches and LIDs up to %u",
				t->n_sw, t->max_lid, f->n_sw, f->max_lid);
	if (t->stride % FTR_LFT_BLOCK || t->stride <= t->max_lid)
		return ftr_fail(err, FTR_INVAL, "table rows of %u bytes cannot hold the LFT blocks of LIDs up to %u",
				t->stride, t->max_lid);
	return FTR_OK;
}

const char *ftr_finding_name(enum ftr_finding what)
{
	static const char *const name[FTR_N_FINDINGS] = {
		[FTR_FIND_MISSING] = "a missing entry",
		[FTR_FIND_DEAD_PORT] = "a port without a link",
		[FTR_FIND_WRONG_END] = "delivery to the wrong node",
		[FTR_FIND_LOOP] = "a loop",
		[FTR_FIND_TURN] = "a hop up after a hop down",
	};

	return name[what];
}

static bool before(const struct ftr_check_sample *a,
		   const struct ftr_check_sample *b)
{
	return a->lid != b->lid ? a->lid < b->lid : a->from < b->from;
}

void chk_sample(struct ftr_check_sample *to, bool first,
		struct ftr_check_sample s)
{
	if (!first && !before(&s, to))
		return;
	/* Do not copy the padding: reports are compared byte by byte. */
	to->from = s.from;
	to->at = s.at;
	to->lid = s.lid;
}

void chk_found(struct chk_part *w, enum ftr_finding what, ftr_sw from,
	       ftr_sw at, ftr_lid lid)
{
	chk_sample(&w->r.sample[what], !w->r.found[what]++,
		   (struct ftr_check_sample){ from, at, lid });
}

enum ftr_finding chk_finding(uint8_t st)
{
	static const uint8_t finding[] = {
		[ST_MISSING - ST_MISSING] = FTR_FIND_MISSING,
		[ST_DEAD - ST_MISSING] = FTR_FIND_DEAD_PORT,
		[ST_WRONG - ST_MISSING] = FTR_FIND_WRONG_END,
		[ST_LOOP - ST_MISSING] = FTR_FIND_LOOP,
	};

	return finding[st - ST_MISSING];
}

/* To find where the path enters the loop, two pointers follow the path.  y starts one loop length
 * ahead of x.  They meet at the switch at which the path enters the loop. */
ftr_sw chk_faulty_switch(const void *ctx, chk_next_fn next, uint32_t n_sw, ftr_sw s,
		   ftr_lid lid, bool loop)
{
	ftr_sw x = s, y = s;

	if (!loop) {
		while ((y = next(ctx, x, lid)) != x)
			x = y;
		return x;
	}
	for (uint32_t i = 0; i < n_sw; i++)
		x = next(ctx, x, lid);	/* after n_sw hops, x is in the loop */
	y = next(ctx, s, lid);
	for (ftr_sw z = next(ctx, x, lid); z != x; z = next(ctx, z, lid))
		y = next(ctx, y, lid);
	for (x = s; x != y; x = next(ctx, x, lid))
		y = next(ctx, y, lid);
	return x;
}

static ftr_sw next_of(const void *ctx, ftr_sw s, ftr_lid lid)
{
	const struct chk *c = ctx;
	uint32_t y = chk_row_of(c, s, ftr_tables_get(c->t, s, lid));

	return y < c->f->n_sw ? y : s;
}

void chk_bad(const struct chk *c, struct chk_part *w, ftr_sw s, ftr_lid lid,
	     uint8_t st)
{
	const struct ftr_lid_owner *o = &c->f->owner[lid];
	enum ftr_finding what = chk_finding(st);
	struct ftr_check_sample here = { s, s, lid };

	if (c->lost)
		c->lost[(size_t)(lid / 64) * c->f->n_sw + s] |= UINT64_C(1) << lid % 64;
	if (o->kind == FTR_OWNER_EP) {
		const struct ftr_endport *e = &c->f->ep[o->idx];

		w->r.bad[FTR_CHECK_HOST_HOST] += c->hosts[s] - (e->sw == s);
		w->r.bad[FTR_CHECK_SW_HOST]++;
	} else {
		w->r.bad[FTR_CHECK_HOST_SW] += c->hosts[s];
		w->r.bad[FTR_CHECK_SW_SW] += o->idx != s;
	}
	w->r.harmful += what != FTR_FIND_MISSING;
	/* The faulty switch is needed only for the sample. */
	if (!w->r.found[what] || before(&here, &w->r.sample[what]))
		here.at = chk_faulty_switch(c, next_of, c->f->n_sw, s, lid,
				      st == ST_LOOP);
	chk_found(w, what, s, here.at, lid);
}
