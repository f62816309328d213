// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Slots: the numbers of the nominal groups above a switch.  A missing group has a slot if it is
 * known or inferred.
 *
 * If a fabric is damaged when it is first seen, its complete form must be inferred.  In a PGFT
 * (Gliksberg et al. 2020, section 2), take the switches of two adjacent ranks and the links
 * between them.  Each connected component is a complete bipartite graph, called a mesh here.  In
 * a mesh, each lower switch has the same number of parallel links to each upper switch.  Missing
 * links are inferred as follows:
 *
 *  - If at least MESH_SHARE % of the pairs of a mesh are linked, all of its pairs are nominal.
 *    The nominal number of links of a pair is the most frequent number; on a tie the larger
 *    one, because missing links reduce the number.  A pair with more links keeps all of them.
 *  - A missing link leaves a free port at both ends.  So if one switch of a pair has no free port,
 *    the pair is complete.  A switch with fewer free ports than missing links has never had these
 *    links, and nothing is inferred for it.
 *
 * MESH_SHARE lies between 2/3 and 3/4.  2/3 is the share if every leaf is connected to two of three
 * spines; this is the design, not damage.  3/4 is the share if a 2 x 2 mesh lacks one link.  In
 * generated trees the following percentage of the meshes is recognised:
 *
 *	links missing	5 %	10 %	15 %	20 %
 *	2 x 2		99.5	97.5	93	85
 *	4 x 4		99.8	99.2	96	86
 *	6 x 6		100	100	99	95
 *	12 x 12		100	100	100	100
 *
 * Meshes with several links per pair are all recognised.  If 10 % of the links are missing, a
 * MESH_SHARE of 80 % would miss a quarter of the 2 x 2 meshes.  In the real fabrics that were
 * examined and lack links, 96 % of the pairs are linked.
 *
 * An inferred slot has no link.  When its link appears, the other slots do not change, for
 * three reasons.  The mesh is the same.  No more planes are joined than before.  Inferred slots are
 * always counted when slots are numbered and dividers are computed.
 *
 * Inferred slots help even after the search of <ftr/balance.h>.  Flows on the most loaded link in
 * a fabric of 648 hosts, after the search, mean over all shifts:
 *
 *	links missing		5 %	10 %
 *	with inferred slots	1.97	2.01
 *	without			2.33	2.66
 */
#include <string.h>

#include "shape/shape.h"

#define MESH_SHARE 70

#define NO_MESH UINT32_MAX

struct mesh {
	uint32_t low, n_low;	/* lower switches: slots.member[low .. low + n_low - 1] */
	uint32_t up, n_up;	/* upper switches with enough free ports (admit()): slots.member[up
				 * .. up + n_up - 1] */
	uint32_t links;	/* nominal number of links of a pair */
};

struct slots {
	uint32_t *low_mesh;	/* low_mesh[s]: mesh in which s is a lower switch; NO_MESH: nothing
				 * is inferred */
	uint32_t *up_mesh;	/* up_mesh[s]: mesh in which s is an upper switch, or NO_MESH */
	struct mesh *mesh;
	ftr_sw *member;
	uint32_t *open;		/* open[s]: number of ports of s without a link */
	ftr_sw *above;		/* result of shape_inferred_above() */
};

/* ---- meshes ------------------------------------------------------------ */

/* True if t is one rank above s and neither is a stub. */
static bool meshed(const struct shaping *z, ftr_sw s, ftr_sw t)
{
	return z->rank[t] == z->rank[s] + 1u && !z->is_stub[s] &&
	       !z->is_stub[t];
}

static uint32_t open_ports(const struct ftr_fabric *f, ftr_sw s)
{
	uint32_t n = 0;

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
		n += ftr_fabric_port(f, s, p)->peer_kind == FTR_PEER_NONE;
	return n;
}

/* Find the meshes by union-find.  A switch s may be a lower switch of one mesh (element s) and an
 * upper switch of another mesh (element n_sw + s).  The smallest element of a mesh, its first lower
 * switch, identifies the mesh.  The members of a mesh are stored together, lower switches first. */
static void collect(const struct shaping *z, struct slots *w, uint32_t *uf,
		    uint32_t *at)
{
	uint32_t n = z->f->n_sw, next = 0;

	ftr_uf_init(uf, 2 * n);
	for (ftr_sw s = 0; s < n; s++)
		for_each_nbr(z, s, k)
			if (meshed(z, s, k->sw))
				ftr_uf_union(uf, s, n + k->sw);
	memset(at, 0, n * sizeof(*at));
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t c = ftr_uf_find(uf, i);

		if (i < n)
			w->mesh[c].n_low++;
		else if (c < n)
			w->mesh[c].n_up++;
	}
	for (uint32_t c = 0; c < n; c++) {
		struct mesh *m = &w->mesh[c];

		if (!m->n_up)
			continue;
		m->low = next;
		m->up = next += m->n_low;
		next += m->n_up;
	}
	for (uint32_t i = 0; i < 2 * n; i++) {
		uint32_t c = ftr_uf_find(uf, i);

		if (c < n && w->mesh[c].n_up)
			w->member[w->mesh[c].low + at[c]++] = i % n;
	}
}

/* Set m->links to the most frequent number of links of a pair. Returns the number of linked
 * pairs. */
static uint32_t survey(const struct shaping *z, const struct slots *w,
		       struct mesh *m)
{
	uint32_t seen[FTR_PORT_MAX + 1] = { 0 }, pairs = 0;

	for (uint32_t i = 0; i < m->n_low; i++) {
		ftr_sw s = w->member[m->low + i];

		for_each_nbr(z, s, k) {
			if (!meshed(z, s, k->sw))
				continue;
			pairs++;
			seen[k->links]++;
		}
	}
	m->links = 1;
	for (uint32_t c = 1; c <= FTR_PORT_MAX; c++)
		if (seen[c] >= seen[m->links])
			m->links = c;
	return pairs;
}

/* The number of missing links between s and the n switches in other[]. Switches in other[] without
 * a free port are skipped. have: [n_sw] scratch, all 0 before and after the call. */
static uint32_t lacking(const struct shaping *z, const struct slots *w,
			const struct mesh *m, ftr_sw s, const ftr_sw *other,
			uint32_t n, uint32_t *have)
{
	uint32_t sum = 0;

	for_each_nbr(z, s, k)
		have[k->sw] = k->links;
	for (uint32_t i = 0; i < n; i++)
		if (have[other[i]] < m->links && w->open[other[i]])
			sum += m->links - have[other[i]];
	for_each_nbr(z, s, k)
		have[k->sw] = 0;
	return sum;
}

/* Set low_mesh[] or up_mesh[] of the switches of mesh `id` that have a free port for each missing
 * link. All other upper switches are removed from member[]. have: scratch of lacking(). */
static void admit(const struct shaping *z, struct slots *w, uint32_t id,
		  uint32_t *have)
{
	struct mesh *m = &w->mesh[id];
	ftr_sw *low = w->member + m->low, *up = w->member + m->up;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_low; i++)
		if (lacking(z, w, m, low[i], up, m->n_up, have) <=
		    w->open[low[i]])
			w->low_mesh[low[i]] = id;
	for (uint32_t i = 0; i < m->n_up; i++)
		if (lacking(z, w, m, up[i], low, m->n_low, have) <=
		    w->open[up[i]])
			w->up_mesh[up[i]] = id;
	for (uint32_t i = 0; i < m->n_up; i++)
		if (w->up_mesh[up[i]] == id)
			up[n++] = up[i];
	m->n_up = n;
}

enum ftr_status shape_meshes(struct shaping *z)
{
	uint32_t n = z->f->n_sw;
	struct ftr_arena *a = z->scratch;
	uint32_t *uf, *tmp;
	struct slots *w;

	if (!FTR_NEW(a, w, 1) || !FTR_NEW(a, uf, 2 * (size_t)n) || !FTR_NEW(a, tmp, n) ||
	    !FTR_NEW(a, w->low_mesh, n) || !FTR_NEW(a, w->up_mesh, n) ||
	    !FTR_ZNEW(a, w->mesh, n) || !FTR_NEW(a, w->member, 2 * (size_t)n) ||
	    !FTR_NEW(a, w->open, n) || !FTR_NEW(a, w->above, n))
		return shape_nomem(z);
	for (ftr_sw s = 0; s < n; s++) {
		w->low_mesh[s] = w->up_mesh[s] = NO_MESH;
		w->open[s] = open_ports(z->f, s);
	}
	z->slots = w;
	if (z->opts->no_slots)
		return FTR_OK;
	collect(z, w, uf, tmp);
	memset(tmp, 0, n * sizeof(*tmp));
	for (uint32_t c = 0; c < n; c++) {
		struct mesh *m = &w->mesh[c];

		if (m->n_up && (uint64_t)survey(z, w, m) * 100 >=
		    (uint64_t)m->n_low * m->n_up * MESH_SHARE)
			admit(z, w, c, tmp);
	}
	return FTR_OK;
}

/* ---- slots ------------------------------------------------------------- */

/* True if both switches have a free port, so links between them may be missing. */
static bool both_open(const struct slots *w, ftr_sw a, ftr_sw b)
{
	return w->open[a] && w->open[b];
}

uint32_t shape_inferred_above(const struct shaping *z, ftr_sw s,
			      const ftr_sw **above)
{
	const struct slots *w = z->slots;
	const struct mesh *m;
	uint32_t n = 0;

	*above = w->above;
	if (w->low_mesh[s] == NO_MESH)
		return 0;
	m = &w->mesh[w->low_mesh[s]];
	for (uint32_t i = 0; i < m->n_up; i++)
		if (both_open(w, s, w->member[m->up + i]))
			w->above[n++] = w->member[m->up + i];
	return n;
}

uint32_t shape_nominal_links(const struct shaping *z, ftr_sw a, ftr_sw b,
			     uint32_t links)
{
	const struct slots *w = z->slots;
	ftr_sw low = z->rank[a] < z->rank[b] ? a : b;
	ftr_sw up = low == a ? b : a;
	uint32_t id = w->low_mesh[low];

	if (id == NO_MESH || w->up_mesh[up] != id || !both_open(w, a, b))
		return links;
	return FTR_MAX(links, w->mesh[id].links);
}
