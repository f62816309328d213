// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Infers which neighbours above a switch are missing.  (group.c then gives each nominal neighbour
 * above a switch a number, the slot.)
 *
 * If a fabric is damaged when it is first seen, its complete form must be inferred.  In a PGFT
 * (Gliksberg et al. 2020, section 2), take the switches of two adjacent ranks and the links between
 * them.  Each connected component is a complete bipartite graph, called a mesh here.  In a mesh,
 * each lower switch has the same number of parallel links to each upper switch.  A pair is a lower
 * and an upper switch of a mesh.  Missing links are inferred as follows:
 *
 *  - If at least MESH_SHARE % of the pairs of a mesh are linked, all of its pairs are linked in the
 *    nominal fabric.  The nominal number of links of a pair is the most frequent number of links.
 *    On a tie, it is the larger number, because faults only reduce the number.  If a pair has more
 *    links, all of them are nominal.
 *  - A missing link leaves a free port at both ends.  So if one switch of a pair has no free port,
 *    the pair lacks no link.  If a switch has fewer free ports than missing links, it has never had
 *    these links, and nothing is inferred for it.
 *
 * MESH_SHARE is between 2/3 and 3/4.  If every leaf is connected to two of three spines by design,
 * 2/3 of the pairs are linked.  If a 2 x 2 mesh lacks one link, 3/4 are linked.  In generated
 * trees, the following percentages of the damaged meshes are recognised:
 *
 *	links missing	5 %	10 %	15 %	20 %
 *	2 x 2		99.5	97.5	93	85
 *	4 x 4		99.8	99.2	96	86
 *	6 x 6		100	100	99	95
 *	12 x 12		100	100	100	100
 *
 * Meshes with several links per pair are all recognised.  With a MESH_SHARE of 80 %, a quarter of
 * the 2 x 2 meshes would not be recognised if 10 % of the links are missing.  In the real fabrics
 * that were examined and lack links, 96 % of the pairs are linked.
 *
 * When an inferred link appears, no slot changes.  The mesh is the same, and the link joins no
 * planes that were separate.  Inferred neighbours are always counted when slots are numbered and
 * dividers are computed.
 *
 * The inference improves the tables even after the search of <ftr/balance.h>.  For a fabric of 648
 * hosts, the number of flows on the most loaded link after the search, as the mean over all shifts:
 *
 *	links missing		5 %	10 %
 *	with the inference	1.97	2.01
 *	without			2.33	2.66
 */
#include <string.h>

#include "shape/shape.h"

#define MESH_SHARE 70

#define NO_MESH UINT32_MAX

struct mesh {
	/* lower switches: slots.member[low] .. slots.member[low + n_low - 1] */
	uint32_t low, n_low;
	/* upper switches with enough free ports (admit()): slots.member[up] ..
	 * slots.member[up + n_up - 1] */
	uint32_t up, n_up;
	uint32_t links;	/* nominal number of links of a pair */
};

struct slots {
	uint32_t *low_mesh;	/* low_mesh[s]: the mesh in which s is a lower switch; NO_MESH:
				 * nothing is inferred for s */
	uint32_t *up_mesh;	/* up_mesh[s]: the mesh in which s is an upper switch, or NO_MESH */
	struct mesh *mesh;
	ftr_sw *member;
	uint32_t *open;		/* open[s]: number of ports of s without a link */
	ftr_sw *above;		/* result of shape_inferred_above() */
};

/* ---- meshes ------------------------------------------------------------ */

/* Returns true if t is one rank above s, and neither is a stub (rank.c). */
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

/* Find the meshes by union-find.  Switch s is element s as a lower switch of a mesh, and element
 * n_sw + s as an upper switch of another mesh.  The smallest element of a mesh, which is a lower
 * switch, identifies the mesh.  In member[] the lower switches of a mesh come first, then its upper
 * switches. */
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

/* Set m->links to the most frequent number of links of a pair.  Returns the number of linked
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

/* The number of missing links between s and those of the n switches other[] that have a free port.
 * have: [n_sw] scratch, all 0 before and after the call. */
static uint32_t lacking(const struct shaping *z, const struct mesh *m, ftr_sw s,
			const ftr_sw *other, uint32_t n, uint32_t *have)
{
	const uint32_t *open = z->slots->open;
	uint32_t sum = 0;

	for_each_nbr(z, s, k)
		have[k->sw] = k->links;
	for (uint32_t i = 0; i < n; i++)
		if (have[other[i]] < m->links && open[other[i]])
			sum += m->links - have[other[i]];
	for_each_nbr(z, s, k)
		have[k->sw] = 0;
	return sum;
}

/* For the switches of mesh `id` that have a free port for each missing link, set low_mesh[] or
 * up_mesh[].  Remove all other upper switches from member[].  have: scratch of lacking(). */
static void admit(const struct shaping *z, struct slots *w, uint32_t id,
		  uint32_t *have)
{
	struct mesh *m = &w->mesh[id];
	ftr_sw *low = w->member + m->low, *up = w->member + m->up;
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_low; i++)
		if (lacking(z, m, low[i], up, m->n_up, have) <= w->open[low[i]])
			w->low_mesh[low[i]] = id;
	for (uint32_t i = 0; i < m->n_up; i++)
		if (lacking(z, m, up[i], low, m->n_low, have) <= w->open[up[i]])
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

/* Returns true if both switches have a free port, so that links between them may be missing. */
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
