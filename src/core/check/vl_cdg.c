// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fills the channel dependency graph over (link, VL), LID by LID.
 *
 * Here a channel is a virtual channel: a VL of a link (Dally and Seitz 1987).  The VL on which a
 * packet leaves a switch depends on (in, out, SL).  So paths that share links may differ in VLs.
 * But all packets of one SL and one LID that arrive over one link take the same path from there, on
 * the same VLs, even if they arrived on different VLs.
 *
 * So the path of every source is followed until it reaches a link that another source used before
 * with the same SL.  If the two sources use different VLs of this link, one more dependency is
 * added: from the VL of the second source to the VL of the next link.
 *
 *	seen[(incoming link) * 16 + SL] = LID << 16 | (set of visited VLs)
 *
 * The elements contain the LID, so the array need not be cleared for each LID.  Time per LID:
 * O(sources + (links used) * SLs).
 *
 * A cycle over (link, VL) is also a cycle over links.  So if the claims prove that there is no
 * cycle over links (cdg.c), VLs need not be examined.
 */
#include "check/check.h"

void chk_set_dep(const struct chk *c, ftr_sw s, ftr_port in, unsigned int vl_in,
		 ftr_port out, unsigned int vl_out)
{
	uint32_t bit = out * c->n_vl + vl_out;
	uint64_t *word = &c->cdg.dep[chk_dep_row(c, s, in, vl_in) + bit / 64u];
	uint64_t mask = UINT64_C(1) << (bit % 64u);

	if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & mask))
		__atomic_fetch_or(word, mask, __ATOMIC_RELAXED);
}

static void drop(struct chk_part *w, ftr_sw s, ftr_lid lid)
{
	chk_sample(&w->r.vl_drop, !w->r.vl_drops++,
		   (struct ftr_check_sample){ s, s, lid });
}

static void follow(const struct chk *c, struct chk_part *w, ftr_sw s,
		   ftr_port in, unsigned int sl, ftr_lid lid)
{
	const uint32_t n = c->f->n_sw;
	unsigned int vl = FTR_VL_DROP;	/* before the first hop, the packet is on no VL */
	bool again = false;

	while (w->nxt[s] < n) {
		unsigned int to = chk_vl(c->sl2vl, s, in, w->col[s], sl);
		uint32_t *seen;

		if (to == FTR_VL_DROP) {
			if (!again)
				drop(w, s, lid);
			return;
		}
		if (vl != FTR_VL_DROP)
			chk_set_dep(c, s, in, vl, w->col[s], to);
		if (again)
			return;
		in = ftr_fabric_port(c->f, s, w->col[s])->peer_port;
		s = w->nxt[s];
		vl = to;
		seen = &w->seen[(c->f->sw[s].first_port + in) * FTR_N_SL + sl];
		if (*seen >> 16 != lid)
			*seen = (uint32_t)lid << 16;
		if (*seen >> vl & 1)
			return;
		again = (*seen & UINT16_MAX) != 0;
		*seen |= UINT32_C(1) << vl;
	}
	/* The link to the host. (col[s] is 0 if s owns the LID.) */
	if (!again && w->nxt[s] == n + END_GOOD && w->col[s] &&
	    chk_vl(c->sl2vl, s, in, w->col[s], sl) == FTR_VL_DROP)
		drop(w, s, lid);
}

static unsigned int sl_of(const struct chk *c, struct chk_part *w,
			  uint32_t source, ftr_lid lid)
{
	unsigned int sl = 0;

	if (c->path_sl)
		sl = ftr_path_sl_get(c->path_sl, source, lid);
	if (sl < FTR_N_SL)
		return sl;
	w->r.no_sl++;
	return 0;
}

void chk_vls_add(const struct chk *c, struct chk_part *w, ftr_lid lid)
{
	const struct ftr_lid_owner *o = &c->f->owner[lid];

	for (ftr_ep e = 0; e < c->f->n_ep; e++) {
		const struct ftr_endport *p = &c->f->ep[e];

		if (!chk_is_source(p) ||
		    (o->kind == FTR_OWNER_EP && o->idx == e))
			continue;
		follow(c, w, p->sw, p->sw_port, sl_of(c, w, e, lid), lid);
	}
	for (ftr_sw s = 0; c->switches && s < c->f->n_sw; s++)
		if (o->kind != FTR_OWNER_SW || o->idx != s)
			follow(c, w, s, 0, sl_of(c, w, c->f->n_ep + s, lid),
			       lid);
}

/* ---- set-up -------------------------------------------------------------- */

enum ftr_status chk_vls_fit(const struct ftr_fabric *f,
			    const struct ftr_check_opts *opts,
			    struct ftr_err *err)
{
	const struct ftr_sl2vl *m = opts->sl2vl;
	const struct ftr_path_sl *p = opts->path_sl;

	if (m && m->n_sw != f->n_sw)
		return ftr_fail(err, FTR_INVAL, "SL2VL tables of %u switches do not fit a fabric of %u switches",
				m->n_sw, f->n_sw);
	for (ftr_sw s = 0; m && s < f->n_sw; s++)
		if (m->width[s] != f->sw[s].n_ports + 1u)
			return ftr_fail(err, FTR_INVAL, "SL2VL table of %u ports does not fit switch %u of %u ports",
					m->width[s] - 1, s, f->sw[s].n_ports);
	if (p && (p->n_ep != f->n_ep || p->n_sw != f->n_sw ||
		  p->max_lid != f->max_lid))
		return ftr_fail(err, FTR_INVAL, "path SLs of %u host ports, %u switches and LIDs up to %u do not fit a fabric of %u host ports, %u switches and LIDs up to %u",
				p->n_ep, p->n_sw, p->max_lid, f->n_ep, f->n_sw,
				f->max_lid);
	return FTR_OK;
}

/* The SLs that packets use, as a set of bits. */
static uint32_t sls(const struct ftr_path_sl *p)
{
	uint32_t set = 1;	/* SL 0: used by paths without an SL in p */

	for (uint32_t i = 0; p && i < p->n_ep + p->n_sw; i++)
		for (uint32_t lid = 0; p->row[i] && lid <= p->max_lid; lid++)
			if (p->row[i][lid] < FTR_N_SL)
				set |= UINT32_C(1) << p->row[i][lid];
	return set;
}

/* 1 + the highest VL on which s sends packets of these SLs to other switches. */
static uint32_t vls_of(const struct chk *c, ftr_sw s, uint32_t set)
{
	uint32_t n = 1;

	for (uint32_t io = 0; io < c->sl2vl->width[s] * c->sl2vl->width[s];
	     io++) {
		ftr_port in = (ftr_port)(io / c->sl2vl->width[s]);
		ftr_port out = (ftr_port)(io % c->sl2vl->width[s]);

		if (ftr_fabric_port(c->f, s, out)->peer_kind != FTR_PEER_SW ||
		    (in && ftr_fabric_port(c->f, s, in)->peer_kind ==
		     FTR_PEER_NONE))
			continue;
		for (unsigned int sl = 0; sl < FTR_N_SL; sl++) {
			uint32_t vl = chk_vl(c->sl2vl, s, in, out, sl);

			if (set >> sl & 1 && vl != FTR_VL_DROP)
				n = FTR_MAX(n, vl + 1);
		}
	}
	return n;
}

uint32_t chk_vls_count(const struct chk *c)
{
	uint32_t set = sls(c->path_sl), n = 1;

	if (!c->sl2vl)
		return 32 - (uint32_t)__builtin_clz(set & ~(1u << FTR_VL_DROP));
	for (ftr_sw s = 0; s < c->f->n_sw; s++)
		n = FTR_MAX(n, vls_of(c, s, set));
	return n;
}
