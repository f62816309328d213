// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checks tables by their difference from checked tables, the base.
 *
 * A base is clean if all its paths are up/down paths that arrive or end at a missing entry, after at
 * most 125 hops.  For each LID, the base has the entry of every switch, and the number of hops from
 * there.  An entry of the new tables is changed if it differs from the base, or if its link is down.  A
 * path without a changed entry is the same as in the base.  All other paths pass a first changed entry:
 *
 *	   c          a, b, c, r: unchanged entries on the way to r
 *	    \
 *	 a   b        r: a changed entry, the root of a, b and c
 *	  \ /
 *	   r ---> new path: walked with the new tables
 *
 * So for each changed entry the new path is walked.  If it arrives after the same number of hops,
 * nothing changes for the switches behind it.  Otherwise they are found by going backward over the
 * entries of the base, up to other changed entries, and their hops or findings are corrected.  The
 * flows of all-to-all traffic are corrected in the same way: those from the switches behind r leave
 * the links of the old path from r, and load those of the new path.
 *
 * A turn (a hop up after a hop down) on a new path is either on the walk from a changed entry, or at
 * this entry, if it now leads up and an unchanged entry above leads down to it.  If there is a turn
 * or a horizontal hop, if the changed entry did not lead to the LID before, or if the base does not
 * fit, the caller checks the whole tables.  Otherwise all paths are up/down paths, as in updown.c, and
 * there is no loop.
 *
 * ftr_check_changes() (delta.c) checks the changes of a repair in the plugin.  It reports whether the
 * repair may be written.  This file has to report what a check of the whole tables reports, for any
 * number of changes, so it needs the hops of all paths, which would take 21 MB in OpenSM at 11,664
 * hosts.
 *
 * Time: one comparison of the tables, and O(path) for each changed entry; O(ports) more for each
 * switch whose hops, findings or flows change.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "check/base.h"

#define SHARE 8			/* with more than 1 / SHARE of all entries changed, the whole check is
				 * faster */

/* ---- changed entries ------------------------------------------------------------------ */

struct difference {
	const struct ftr_check_base *b;
	const struct chk *c;
	struct chk_part *w;
	struct ftr_change *change;	/* [n] by LID; the members sw, lid and after */
	uint32_t n, cap;
	struct ftr_change *found;	/* [n] by switch; from malloc() */
	uint64_t paths[2 * CHK_HOPS];	/* an up/down path by 256 ranks has up to 510 hops */
	uint64_t *flows;
	bool give_up;		/* the whole tables must be checked */
	/* for the present LID */
	ftr_lid lid;
	struct ftr_hop out;	/* the port to the owner */
	const uint8_t *was, *hops;	/* the entries and hops of the base */
	uint8_t *is;		/* [n_sw] the entries of the new tables */
	uint32_t *changed;	/* changed[s] == lid + 1: the entry of s is changed */
	ftr_sw *behind;		/* [n_sw] */
};

/* Returns false if there are too many, or if memory is exhausted; the whole check then decides. */
static bool add(struct difference *z, ftr_sw s, uint32_t lid, ftr_port port)
{
	const struct ftr_fabric *f = z->c->f;

	if (lid > f->max_lid || f->owner[lid].kind == FTR_OWNER_NONE)
		return true;
	if (z->n > (uint64_t)f->n_sw * f->max_lid / SHARE || !FTR_GROW(z->found, z->n, z->cap))
		return false;
	z->found[z->n++] = (struct ftr_change){
		.sw = s, .lid = (ftr_lid)lid, .after = port,
	};
	return true;
}

static bool find_in_row(struct difference *z, ftr_sw s)
{
	const struct ftr_fabric *f = z->c->f;
	const uint8_t *is = ftr_tables_row(z->c->t, s), *was = ftr_tables_row(z->b->t, s);

	for (uint32_t at = 0; at <= f->max_lid; at += FTR_LFT_BLOCK) {
		uint64_t bits = ftr_tables_differ(z->b->t, z->c->t, s, at);

		if (!bits || !memcmp(is + at, was + at, FTR_LFT_BLOCK))
			continue;
		for (; bits; bits &= bits - 1) {
			uint32_t i = at + (uint32_t)__builtin_ctzll(bits);

			if (is[i] != was[i] && !add(z, s, i, is[i]))
				return false;
		}
	}
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		if (ftr_fabric_port(f, s, p)->peer_kind != FTR_PEER_NONE ||
		    ftr_fabric_port(z->b->f, s, p)->peer_kind == FTR_PEER_NONE)
			continue;
		for (const uint8_t *x = is; (x = memchr(x, (int)p, (size_t)(is + f->max_lid + 1 - x))); x++)
			if (was[x - is] == p && !add(z, s, (uint32_t)(x - is), (ftr_port)p))
				return false;
	}
	return true;
}

/* Find the changed entries, and sort them by LID: those of lid are change[first[lid]] ..
 * change[first[lid + 1] - 1]. */
static bool find_changes(struct difference *z, struct ftr_arena *a, uint32_t *first)
{
	uint32_t sum = 0;

	for (ftr_sw s = 0; s < z->c->f->n_sw; s++)
		if (!find_in_row(z, s))
			return false;
	if (!FTR_NEW(a, z->change, z->n + 1u))
		return false;
	for (uint32_t i = 0; i < z->n; i++)
		first[z->found[i].lid + 1]++;
	for (uint32_t lid = 0; lid <= z->c->f->max_lid; lid++) {
		uint32_t n = first[lid + 1];

		first[lid + 1] = sum;
		sum += n;
	}
	for (uint32_t i = 0; i < z->n; i++)
		z->change[first[z->found[i].lid + 1]++] = z->found[i];
	return true;
}

/* ---- one LID -------------------------------------------------------------------------- */

/* Follow the new path from s.  Returns its result (ST_...).  *n: its hops. */
static uint8_t walk(struct difference *z, ftr_sw s, uint32_t *n)
{
	const struct chk *c = z->c;
	bool down = false;

	for (*n = 0;; ++*n) {
		uint32_t row;
		bool up;

		if (s == z->out.sw && z->is[s] == z->out.port)
			return ST_GOOD;
		row = c->hop[(size_t)s * CHK_HOPS + z->is[s]] / CHK_BATCH;
		if (row >= c->f->n_sw) {
			z->give_up |= row == c->f->n_sw + END_SIDE;
			return chk_end_state[row - c->f->n_sw];
		}
		up = c->rank[row] > c->rank[s];
		z->give_up |= up && down;
		if (z->give_up)
			return ST_PENDING;
		down = !up;
		s = row;
	}
}

/* Add flows on the path from s. */
static void add_flows(const struct difference *z, const uint8_t *entry, ftr_sw s, uint64_t flows)
{
	while (s != z->out.sw) {
		uint32_t x = z->b->f->sw[s].first_port + entry[s];

		z->flows[x] += flows;
		s = z->b->f->ports[x].peer;
	}
}

static bool leads_up(const struct chk *c, const struct ftr_fabric *f, ftr_sw s, ftr_port port)
{
	ftr_sw next = ftr_fabric_next(f, s, port);

	return next != FTR_SW_NONE && c->rank[next] > c->rank[s];
}

/* Add the switches behind the root z->behind[0] to z->behind, and return the number of all. */
static uint32_t find_behind(const struct difference *z)
{
	const struct ftr_fabric *f = z->b->f;
	uint32_t n = 1;

	for (uint32_t i = 0; i < n; i++) {
		ftr_sw s = z->behind[i];

		if (!(z->hops[s] & CHK_BEHIND))
			continue;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *x = ftr_fabric_port(f, s, p);

			if (x->peer_kind == FTR_PEER_SW && z->was[x->peer] == x->peer_port &&
			    z->changed[x->peer] != z->lid + 1u)
				z->behind[n++] = x->peer;
		}
	}
	return n;
}

static void check_change(struct difference *z, ftr_sw root)
{
	const struct ftr_check_base *b = z->b;
	bool count = z->flows && b->is_dest[z->lid] &&
		(z->hops[root] & CHK_BEHIND || b->hosts[root]);
	uint8_t was = z->hops[root] & (uint8_t)~CHK_BEHIND;
	uint64_t hosts = 0;
	uint32_t n, is;
	uint8_t st = walk(z, root, &is);

	if (leads_up(z->c, z->c->f, root, z->is[root]) && !leads_up(z->c, b->f, root, z->was[root]))
		for (unsigned int p = 1; p <= b->f->sw[root].n_ports; p++) {
			const struct ftr_swport *x = ftr_fabric_port(b->f, root, p);

			z->give_up |= x->peer_kind == FTR_PEER_SW && z->is[x->peer] == x->peer_port &&
				b->rank[x->peer] > b->rank[root];
		}
	z->give_up |= was == CHK_NO_PATH;
	if (z->give_up || (st == ST_GOOD && is == was && !count))
		return;
	z->behind[0] = root;
	n = find_behind(z);
	for (uint32_t i = 0; i < n; i++) {
		ftr_sw s = z->behind[i];
		uint8_t hops = z->hops[s] & (uint8_t)~CHK_BEHIND;

		z->paths[hops]--;
		if (st == ST_GOOD)
			z->paths[hops - was + is]++;
		else
			chk_bad(z->c, z->w, s, z->lid, st);
		if (st == ST_GOOD && count)
			hosts += b->hosts[s];
		else if (count && b->hosts[s])
			add_flows(z, z->was, s, -(uint64_t)b->hosts[s]);
	}
	if (!hosts)
		return;
	add_flows(z, z->was, root, -hosts);
	add_flows(z, z->is, root, hosts);
}

static void check_lid(struct difference *z, const struct ftr_change *change, uint32_t n)
{
	const uint32_t n_sw = z->c->f->n_sw;

	z->lid = change->lid;
	z->out = chk_exit_of(z->c->f, z->lid);
	z->was = z->b->entry + (size_t)z->lid * n_sw;
	z->hops = z->b->hops + (size_t)z->lid * n_sw;
	bytes_fetch(z->hops + n_sw, n_sw);
	memcpy(z->is, z->was, n_sw);
	for (uint32_t i = 0; i < n; i++) {
		z->is[change[i].sw] = change[i].after;
		z->changed[change[i].sw] = z->lid + 1u;
	}
	for (uint32_t i = 0; i < n && !z->give_up; i++)
		check_change(z, change[i].sw);
}

/* ---- the check ------------------------------------------------------------------------ */

static size_t lost_bytes(const struct ftr_fabric *f)
{
	return (size_t)(f->max_lid / 64 + 1u) * f->n_sw * sizeof(uint64_t);
}

static bool set_up(struct difference *z, struct ftr_arena *a)
{
	const struct ftr_check_base *b = z->b;

	memcpy(z->paths, b->paths, sizeof(b->paths));
	z->w->r = b->r;
	if (z->c->lost)
		memcpy(z->c->lost, b->r.lost, lost_bytes(b->f));
	if (b->flows && FTR_NEW(a, z->flows, b->f->n_ports))
		memcpy(z->flows, b->flows, b->f->n_ports * sizeof(*z->flows));
	return (z->flows || !b->flows) && FTR_NEW(a, z->is, b->f->n_sw) &&
		FTR_ZNEW(a, z->changed, b->f->n_sw) && FTR_NEW(a, z->behind, b->f->n_sw);
}

/* first[lid]: the first change of a LID.  Returns false if the whole tables must be checked. */
static bool check_lids(struct difference *z, const uint32_t *first)
{
	for (uint32_t lid = 1; lid <= z->c->f->max_lid; lid++) {
		if (first[lid] < first[lid + 1])
			check_lid(z, &z->change[first[lid]], first[lid + 1] - first[lid]);
		if (z->give_up)
			return false;
	}
	return true;
}

bool chk_from_base(const struct chk *c, const struct ftr_check_base *b, struct ftr_arena *a,
		   struct ftr_check_report *out)
{
	struct difference z = { .b = b, .c = c, .w = &c->part[0] };
	uint32_t *first = NULL;
	bool ok = b->clean && c->rank && !c->claims && !c->vls &&
		ftr_fabric_lacks_links(c->f, b->f) && !memcmp(c->rank, b->rank, b->f->n_sw) &&
		FTR_ZNEW(a, first, c->f->max_lid + 2u) && set_up(&z, a) && find_changes(&z, a, first);

	free(z.found);
	if (!ok || !check_lids(&z, first)) {
		memset(&z.w->r, 0, sizeof(z.w->r));
		if (c->lost)
			memset(c->lost, 0, lost_bytes(c->f));
		return false;
	}
	*out = z.w->r;
	if (c->no_cdg)
		out->cdg = FTR_CDG_NOT_CHECKED;
	out->max_hops = 0;
	for (uint32_t h = 0; h < FTR_ARRAY_LEN(z.paths); h++)
		if (z.paths[h])
			out->max_hops = h;
	for (uint32_t x = 0; z.flows && x < c->f->n_ports; x++)
		out->load_max = FTR_MAX(out->load_max, z.flows[x]);
	return true;
}
