// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes the planes of the fabric, and records between which planes the packets of local repairs
 * turn (arcs). From these it computes the guarantee of ddlr: the number of faults,
 * wherever they are, that local repairs are sure to repair (struct ftr_guarantee).
 *
 * plane(m, s) is defined for switches s above rank m. It is the connected component of s among the
 * switches above rank m. Horizontal links and stubs are ignored. (A stub is a switch without hosts
 * whose neighbours are connected through lower switches.) The number of a plane is the lowest
 * index of its switches. Planes are computed from the fabric for which the planner was made, so
 * that faults do not change their numbers. One union-find serves all levels: it joins switches from
 * the top rank down.
 *
 * A packet that goes down from plane p to a switch and from there up into plane q makes an arc from
 * p to q. Such turns are the extra turns of ddlr. A plane of level m becomes unclean ("dirty") with
 * the first arc that leaves it, and stays so until the transition to new tables is done. After the
 * transition, a plane is unclean only if an arc of a held LID leaves it. (A held LID keeps old
 * entries in a transition.)
 *
 * The rule of clean planes: an arc leads only into a clean plane. As long as the rule is kept, the
 * plane into which an arc leads becomes dirty later than the plane that it leaves, or never. So the
 * arcs form no cycle. detour.c describes which repairs may break the rule.
 */
#include <string.h>

#include "ddlr/planner.h"

static bool above(const struct ftr_ddlr *r, ftr_sw t, ftr_sw s)
{
	return r->sh->tree.rank[t] > r->sh->tree.rank[s];
}

static uint32_t plane(const struct ftr_ddlr *r, unsigned int level, ftr_sw s)
{
	return r->plane[(size_t)level * r->f->n_sw + s];
}

static uint8_t *dirty(const struct ftr_ddlr *r, unsigned int level, uint32_t p)
{
	return &r->dirty[(size_t)level * r->f->n_sw + p];
}

bool planes_new(struct ftr_ddlr *r)
{
	const struct ftr_shape *sh = r->sh;
	const uint32_t n = r->f->n_sw;
	uint32_t *uf = ftr_arena_alloc(r->arena, n, sizeof(*uf));

	FTR_NEW(r->arena, r->plane, (size_t)sh->tree.n_ranks * n);
	r->dirty = ftr_arena_zalloc(r->arena, sh->tree.n_ranks, n);
	if (!uf || !r->plane || !r->dirty)
		return false;
	ftr_uf_init(uf, n);
	for (unsigned int level = sh->tree.n_ranks; level-- > 0;) {
		/* join the switches of rank level + 1 to those above them */
		for (ftr_sw s = 0; s < n; s++) {
			if (sh->tree.rank[s] != level + 1 || sh->tree.stub[s])
				continue;
			for (uint32_t k = 0; k < sh->tree.n_up[s]; k++) {
				ftr_sw t = sh->tree.groups[sh->tree.group_first[s] +
						      k].remote;

				if (!sh->tree.stub[t])
					ftr_uf_union(uf, s, t);
			}
		}
		for (ftr_sw s = 0; s < n; s++)
			r->plane[(size_t)level * n + s] = ftr_uf_find(uf, s);
	}
	return true;
}

void planes_clear(struct ftr_ddlr *r)
{
	memset(r->dirty, 0, (size_t)r->sh->tree.n_ranks * r->f->n_sw);
}

bool planes_is_clean(const struct ftr_ddlr *r, unsigned int level, ftr_sw s)
{
	return !*dirty(r, level, plane(r, level, s));
}

bool planes_lead(const struct ftr_ddlr *r, int top)
{
	uint32_t hops;
	uint8_t step;

	for (int level = top; level >= 0; level--)
		for (ftr_sw s = 0; s < r->f->n_sw; s++)
			if (r->sh->tree.rank[s] > level && (r->sh->tree.stub[s] ||
			    (planes_is_clean(r, (unsigned int)level, s) &&
			     ddlr_arrives(r, s, &hops, &step))))
				return true;
	return false;
}

enum arcs { JUDGE, JUDGE_HARD, ENTER };

/* True if the turn from z down to y and up to next is unclean: it stays in the plane of z, or leads
 * into a plane that is not clean. JUDGE_HARD: a turn that would make the plane of z unclean is
 * unclean, too. ENTER: also mark the plane of z as not clean. */
static bool unclean_turn(const struct ftr_ddlr *r, ftr_sw z, ftr_sw y, ftr_sw next, enum arcs what)
{
	unsigned int level = r->sh->tree.rank[y];
	uint32_t from = plane(r, level, z), to = plane(r, level, next);
	bool bad = from == to || *dirty(r, level, to);

	if (what == JUDGE_HARD)
		bad |= !*dirty(r, level, from);
	if (what == ENTER)
		*dirty(r, level, from) = 1;
	return bad;
}

/* True if the current entry of the switch at the other end of group g leads down to y. */
static bool comes_down(const struct ftr_ddlr *r, const struct ftr_group *g, ftr_sw y)
{
	return ddlr_next(r, g->remote, ddlr_entry(r, g->remote)) == y;
}

/* At the i-th switch of the detour, call unclean_turn() for each turn of packets that reach
 * this switch from above and go up to switch `next`. Returns true if one of the turns is
 * unclean. */
static bool turns_at(const struct ftr_ddlr *r, const struct detour *d,
		     uint32_t i, ftr_sw next, enum arcs what)
{
	const struct ftr_shape *sh = r->sh;
	ftr_sw y = d->sw[i];
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[y]];
	bool bad = false;

	/* At the last switch of the detour, only packets of the detour make new turns: the entry of
	 * this switch does not change. */
	for (uint32_t k = 0; k < sh->tree.n_up[y] && i < d->n; k++)
		if (comes_down(r, &g[k], y))
			bad |= unclean_turn(r, g[k].remote, y, next, what);
	if (i > 0 && above(r, d->sw[i - 1], y))
		bad |= unclean_turn(r, d->sw[i - 1], y, next, what);
	return bad;
}

/* Call unclean_turn() for the turns that packets from the detour make at its end and on their
 * further path to the LID (which they reach: see struct detour). Returns true if one of them is
 * unclean. */
static bool turns_behind(const struct ftr_ddlr *r, const struct detour *d, enum arcs what)
{
	ftr_sw z = d->sw[d->n - 1], y = d->sw[d->n], next;
	bool bad = false;

	while (y != r->exit_sw) {
		next = ddlr_next(r, y, ddlr_entry(r, y));
		if (above(r, z, y) && above(r, next, y))
			bad |= unclean_turn(r, z, y, next, what);
		z = y;
		y = next;
	}
	return bad;
}

static bool all_turns(const struct ftr_ddlr *r, const struct detour *d, enum arcs what)
{
	bool bad = false;

	for (uint32_t i = 0; i <= d->n; i++) {
		ftr_sw y = d->sw[i], next = d->sw[i + (i < d->n)];

		if (i == d->n) {
			if (y == r->exit_sw)
				break;
			next = ddlr_next(r, y, ddlr_entry(r, y));
		}
		if (above(r, next, y))
			bad |= turns_at(r, d, i, next, what);
		if (bad && what != ENTER)
			return true;
	}
	return bad;
}

bool planes_clean(const struct ftr_ddlr *r, const struct detour *d, bool hard)
{
	if (!hard)
		return !all_turns(r, d, JUDGE);
	return !all_turns(r, d, JUDGE_HARD) && !turns_behind(r, d, JUDGE_HARD);
}

void planes_enter(struct ftr_ddlr *r, const struct detour *d)
{
	all_turns(r, d, ENTER);
}

void planes_enter_column(struct ftr_ddlr *r)
{
	const struct ftr_shape *sh = r->sh;

	for (ftr_sw y = 0; y < r->f->n_sw; y++) {
		const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[y]];
		ftr_sw next = ddlr_next(r, y, ddlr_entry(r, y));

		if (next == FTR_SW_NONE || !above(r, next, y))
			continue;
		for (uint32_t k = 0; k < sh->tree.n_up[y]; k++)
			if (comes_down(r, &g[k], y))
				*dirty(r, sh->tree.rank[y],
				       plane(r, sh->tree.rank[y], g[k].remote)) = 1;
	}
}

/* ---- the guarantee ----------------------------------------------------- */

/* True if s has a live link of group g. */
static bool has_live_link(const struct ftr_ddlr *r, ftr_sw s, const struct ftr_group *g)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (ddlr_live(r, s, r->sh->tree.group_ports[g->first + i]))
			return true;
	return false;
}

/* Count the switches above s to which s has a live link (*k), the planes of these switches
 * (*planes), and how many of these planes are clean (*clean). */
static void count_above(const struct ftr_ddlr *r, ftr_sw s, uint32_t *k,
			uint32_t *planes, uint32_t *clean)
{
	const struct ftr_shape *sh = r->sh;
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];
	unsigned int level = sh->tree.rank[s];

	*k = *planes = *clean = 0;
	for (uint32_t i = 0; i < sh->tree.n_up[s]; i++) {
		uint32_t mine = plane(r, level, g[i].remote), j;

		if (!has_live_link(r, s, &g[i]))
			continue;
		++*k;
		for (j = 0; j < i; j++)
			if (plane(r, level, g[j].remote) == mine && has_live_link(r, s, &g[j]))
				break;
		if (j < i)
			continue;
		++*planes;
		*clean += !*dirty(r, level, mine);
	}
}

/* Mark all switches that have hosts on or below them in the fabric for which the planner was
 * made. */
static void mark_carriers(const struct ftr_ddlr *r, uint8_t *on)
{
	const struct ftr_shape *sh = r->sh;

	memcpy(on, r->has_hosts, r->f->n_sw);
	for (unsigned int rank = 0; rank < sh->tree.n_ranks; rank++)
		for (ftr_sw s = 0; s < r->f->n_sw; s++)
			for (uint32_t k = 0; sh->tree.rank[s] == rank && on[s] &&
			     k < sh->tree.n_up[s]; k++)
				on[sh->tree.groups[sh->tree.group_first[s] +
					      k].remote] = 1;
}

void ftr_ddlr_guarantee(const struct ftr_ddlr *r, struct ftr_guarantee *out)
{
	const struct ftr_shape *sh = r->sh;
	uint8_t *on = r->avoid;

	*out = (struct ftr_guarantee){ .weakest = FTR_SW_NONE,
				       .clean = UINT32_MAX };
	mark_carriers(r, on);
	for (ftr_sw s = 0; s < r->f->n_sw; s++) {
		uint32_t k, planes, clean;

		if (!on[s] || r->dead_sw[s] || !sh->tree.n_up[s])
			continue;
		count_above(r, s, &k, &planes, &clean);
		out->clean = FTR_MIN(out->clean, clean);
		if (out->weakest != FTR_SW_NONE && k > out->k)
			continue;
		if (out->weakest == FTR_SW_NONE || k < out->k) {
			out->k = k;
			out->planes = planes;
			out->weakest = s;
			out->n_weakest = 0;
		}
		out->n_weakest++;
		out->planes = FTR_MIN(out->planes, planes);
		if (sh->tree.rank[s] < sh->tree.rank[out->weakest])
			out->weakest = s;
	}
	if (out->weakest == FTR_SW_NONE)
		out->clean = 0;
	out->faults = FTR_MIN(out->k, out->clean);
	out->faults -= out->faults > 0;
	memset(on, 0, r->f->n_sw);
}
