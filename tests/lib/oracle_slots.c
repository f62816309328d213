// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/oracle.h"
#include "lib/oracle_slots.h"

static unsigned int links(const struct ftr_fabric *f, ftr_sw a, ftr_sw b)
{
	unsigned int n = 0;

	for (unsigned int p = 1; p <= f->sw[a].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(f, a, (ftr_port)p);

		n += port->peer_kind == FTR_PEER_SW && port->peer == b;
	}
	return n;
}

static unsigned int open_ports(const struct ftr_fabric *f, ftr_sw s)
{
	unsigned int n = 0;

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
		n += ftr_fabric_port(f, s, (ftr_port)p)->peer_kind ==
			FTR_PEER_NONE;
	return n;
}

/* ---- meshes ------------------------------------------------------------ */

struct mesh {			/* as defined in src/core/shape/slots.c */
	uint8_t *in;
	unsigned int rank;	/* rank of the lower switches */
	unsigned int mode;
	bool dense;
};

static void flood(const struct ftr_shape *sh, unsigned int low, ftr_sw s,
		  uint8_t *in)
{
	if (in[s])
		return;
	in[s] = 1;
	for (ftr_sw t = 0; t < sh->f->n_sw; t++) {
		bool other = sh->tree.rank[t] + sh->tree.rank[s] == 2 * low + 1 &&
			(sh->tree.rank[t] == low || sh->tree.rank[t] == low + 1);

		if (other && !sh->tree.stub[t] && links(sh->f, s, t))
			flood(sh, low, t, in);
	}
}

/* True if the shape has an inferred link at a lower switch of the mesh. */
static bool shape_infers(const struct ftr_shape *sh, const struct mesh *m)
{
	for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
		const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];

		if (!m->in[s] || sh->tree.rank[s] != m->rank)
			continue;
		if (sh->numbering.n_slots[s] > sh->tree.n_up[s])
			return true;
		for (uint32_t k = 0; k < sh->tree.n_up[s]; k++)
			if (g[k].n_nominal > g[k].n)
				return true;
	}
	return false;
}

/*
 * All missing links of a mesh are inferred if at least 3/4 of its pairs of a lower and an
 * upper switch are linked.  None are inferred if at most 2/3 are linked.  The limit of
 * src/core/shape/slots.c lies between 2/3 and 3/4.  Between the two, the oracle follows the
 * shape: if the shape infers one link, the oracle expects all.
 */
static bool is_dense(const struct ftr_shape *sh, const struct mesh *m, uint32_t linked,
		     uint32_t pairs)
{
	return pairs && (4 * linked >= 3 * pairs ||
			 (3 * linked > 2 * pairs && shape_infers(sh, m)));
}

static struct mesh mesh_of(const struct ftr_shape *sh, ftr_sw s)
{
	uint32_t n = sh->f->n_sw, n_low = 0, n_up = 0, linked = 0;
	unsigned int seen[256] = { 0 };
	struct mesh m = { .in = calloc(n, 1), .rank = sh->tree.rank[s] };

	if (!sh->tree.stub[s])
		flood(sh, m.rank, s, m.in);
	for (ftr_sw a = 0; a < n; a++) {
		n_low += m.in[a] && sh->tree.rank[a] == m.rank;
		n_up += m.in[a] && sh->tree.rank[a] != m.rank;
		for (ftr_sw b = 0; b < n; b++) {
			unsigned int c;

			if (!m.in[a] || !m.in[b] || sh->tree.rank[a] != m.rank ||
			    sh->tree.rank[b] == m.rank)
				continue;
			c = links(sh->f, a, b);
			linked += c != 0;
			seen[c]++;
		}
	}
	for (unsigned int c = 1; c < 256; c++)
		if (!m.mode || seen[c] >= seen[m.mode])
			m.mode = c;
	m.dense = is_dense(sh, &m, linked, n_low * n_up);
	return m;
}

/* True if s has enough free ports for its missing links.  Links to members of the mesh without a
 * free port do not count. */
static bool eligible(const struct ftr_shape *sh, const struct mesh *m, ftr_sw s)
{
	unsigned int lacks = 0;

	for (ftr_sw t = 0; t < sh->f->n_sw; t++)
		if (m->in[t] && sh->tree.rank[t] != sh->tree.rank[s] &&
		    open_ports(sh->f, t) && links(sh->f, s, t) < m->mode)
			lacks += m->mode - links(sh->f, s, t);
	return lacks <= open_ports(sh->f, s);
}

unsigned int oracle_nominal(const struct ftr_shape *sh, ftr_sw a, ftr_sw b)
{
	unsigned int have = links(sh->f, a, b), all = have;
	ftr_sw low = sh->tree.rank[a] < sh->tree.rank[b] ? a : b, up = low == a ? b : a;
	struct mesh m;

	if (sh->tree.rank[up] != sh->tree.rank[low] + 1)
		return have;
	m = mesh_of(sh, low);
	if (m.dense && m.in[up] && open_ports(sh->f, a) &&
	    open_ports(sh->f, b) && eligible(sh, &m, a) &&
	    eligible(sh, &m, b) && m.mode > have)
		all = m.mode;
	free(m.in);
	return all;
}

uint32_t oracle_slots(const struct ftr_shape *sh, ftr_sw s, ftr_sw *slot)
{
	uint32_t n = 0;

	for (ftr_sw t = 0; t < sh->f->n_sw; t++) {
		ftr_sw plane;
		uint32_t i;

		if (sh->tree.rank[t] <= sh->tree.rank[s] || !oracle_nominal(sh, s, t))
			continue;
		plane = oracle_plane(sh, t, sh->tree.rank[s] + 1u);
		for (i = n++; i > 0 && oracle_plane(sh, slot[i - 1],
						    sh->tree.rank[s] + 1u) > plane;
		     i--)
			slot[i] = slot[i - 1];
		slot[i] = t;
	}
	return n;
}

/* Mark in seen[] all switches that are reached from s over switches of rank >= low.  Paths use no
 * horizontal links, and do not pass empty leaves (docs/glossary.md). */
static void flood_plane(const struct ftr_shape *sh, ftr_sw s, unsigned int low,
		  uint8_t *seen)
{
	seen[s] = 1;
	if (sh->tree.stub[s] && sh->numbering.col[s] < sh->tree.n_leaf)
		return;
	for (unsigned int p = 1; p <= sh->f->sw[s].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(sh->f, s, (ftr_port)p);
		ftr_sw t = port->peer;

		if (port->peer_kind == FTR_PEER_SW && !seen[t] &&
		    sh->tree.rank[t] >= low && sh->tree.rank[t] != sh->tree.rank[s] &&
		    !(sh->tree.stub[t] && sh->numbering.col[t] < sh->tree.n_leaf))
			flood_plane(sh, t, low, seen);
	}
}

/* True if two slots of some switch lead to the same plane. */
static bool planes_are_shared(const struct ftr_shape *sh)
{
	uint32_t n = sh->f->n_sw;
	ftr_sw *slot = malloc(n * sizeof(*slot));
	bool shared = false;

	for (ftr_sw s = 0; s < n; s++) {
		uint32_t m = oracle_slots(sh, s, slot);

		for (uint32_t i = 0; i < m; i++) {
			uint8_t *seen = calloc(n, 1);

			flood_plane(sh, slot[i], sh->tree.rank[s] + 1u, seen);
			for (uint32_t k = 0; k < m; k++)
				shared |= k != i && seen[slot[k]];
			free(seen);
		}
	}
	free(slot);
	return shared;
}

/* pi[s]: the greatest product of the numbers of slots along a nominal upward path to s. */
static void dividers(const struct ftr_shape *sh, uint64_t *pi)
{
	uint32_t n = sh->f->n_sw;

	for (ftr_sw s = 0; s < n; s++)
		pi[s] = 1;
	for (unsigned int r = 0; r < sh->tree.n_ranks; r++) {
		for (ftr_sw s = 0; s < n; s++) {
			if (sh->tree.rank[s] != r)
				continue;
			for (ftr_sw t = 0; t < n; t++)
				if (sh->tree.rank[t] > r &&
				    oracle_nominal(sh, s, t) &&
				    pi[s] * sh->numbering.n_slots[s] > pi[t])
					pi[t] = pi[s] * sh->numbering.n_slots[s];
		}
	}
}

void oracle_check_slots(const struct ftr_shape *sh, uint64_t seed)
{
	uint32_t n = sh->f->n_sw;
	ftr_sw *slot = calloc(n, sizeof(*slot));
	uint64_t *pi = calloc(n, sizeof(*pi));

	for (ftr_sw s = 0; s < n; s++) {
		uint32_t m = oracle_slots(sh, s, slot);

		ck_assert_msg(sh->numbering.n_slots[s] == m, "seed %" PRIu64
			      ": switch %u has %u slots, not %u", seed, s,
			      sh->numbering.n_slots[s], m);
		for (uint32_t k = 0; k < sh->tree.group_first[s + 1] -
		     sh->tree.group_first[s]; k++) {
			const struct ftr_group *g =
				&sh->tree.groups[sh->tree.group_first[s] + k];

			ck_assert_msg(g->n_nominal ==
				      oracle_nominal(sh, s, g->remote),
				      "seed %" PRIu64 ": wrong number of nominal links between switches %u and %u",
				      seed, s, g->remote);
			if (k < sh->tree.n_up[s])
				ck_assert_msg(g->slot < m &&
					      slot[g->slot] == g->remote,
					      "seed %" PRIu64
					      ": neighbour %u has the wrong slot at switch %u",
					      seed,
					      g->remote, s);
			else
				ck_assert_uint_eq(g->slot, FTR_SLOT_NONE);
			for (uint32_t i = 0; i < g->n; i++)
				ck_assert_uint_eq(sh->tree.port_pos[g->first + i],
						  i);
		}
	}
	dividers(sh, pi);
	for (ftr_sw s = 0; s < n; s++)
		ck_assert_msg(sh->numbering.divider[s] == pi[s], "seed %" PRIu64
			      ": wrong divider of switch %u", seed, s);
	ck_assert_msg(!sh->numbering.up_path == !(sh->numbering.n_d && planes_are_shared(sh)),
		      "seed %" PRIu64 ": up paths are missing, or present without need", seed);
	free(slot);
	free(pi);
}

/* ---- projections ------------------------------------------------------- */

static ftr_sw nominal_sw(const struct ftr_shape *sh, const struct ftr_shape *n,
			 ftr_sw s)
{
	return ftr_fabric_find_sw(n->f, sh->f->sw[s].guid);
}

static void check_switches(const struct ftr_shape *sh,
			   const struct ftr_shape *n, uint64_t seed)
{
	uint32_t leaves = 0;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
		ftr_sw t = nominal_sw(sh, n, s);
		uint32_t before = 0, hosts = 0;

		ck_assert_msg(sh->tree.rank[s] == n->tree.rank[t] &&
			      sh->tree.stub[s] == n->tree.stub[t] &&
			      sh->numbering.divider[s] == n->numbering.divider[t] &&
			      sh->numbering.n_slots[s] == n->numbering.n_slots[t] &&
			      sh->numbering.sw_d[s] == n->numbering.sw_d[t] &&
			      sh->numbering.pod_first[s] == n->numbering.pod_first[t] &&
			      sh->numbering.pod_leaves[s] == n->numbering.pod_leaves[t],
			      "seed %" PRIu64 ": switch %u differs from its nominal switch",
			      seed, s);
		for (ftr_sw x = 0; x < sh->f->n_sw; x++)
			before += n->numbering.col[nominal_sw(sh, n, x)] < n->numbering.col[t];
		ck_assert_msg(sh->numbering.col[s] == before && sh->numbering.col_sw[before] == s,
			      "seed %" PRIu64 ": wrong column number of switch %u", seed, s);
		if (n->numbering.col[t] >= n->tree.n_leaf)
			continue;
		leaves++;
		for (ftr_ep e = 0; e < sh->f->n_ep; e++)
			hosts += sh->f->ep[e].sw == s &&
				sh->numbering.ep_index[e].cls == FTR_CLASS_HOST;
		ck_assert_msg(sh->tree.leaf_hosts[before] == hosts,
			      "seed %" PRIu64 ": wrong number of hosts on leaf %u", seed, s);
	}
	ck_assert_uint_eq(sh->tree.n_leaf, leaves);
}

static const struct ftr_group *find_group(const struct ftr_shape *n, ftr_sw t,
					  ftr_sw r)
{
	for (uint32_t g = n->tree.group_first[t]; g < n->tree.group_first[t + 1]; g++)
		if (n->tree.groups[g].remote == r)
			return &n->tree.groups[g];
	return NULL;
}

static unsigned int place_of(const struct ftr_shape *n,
			     const struct ftr_group *g, ftr_port p)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (n->tree.group_ports[g->first + i] == p)
			return n->tree.port_pos[g->first + i];
	return 999;
}

static void check_groups_of(const struct ftr_shape *sh,
			    const struct ftr_shape *n, ftr_sw s, uint64_t seed)
{
	uint32_t first = sh->tree.group_first[s], m = sh->tree.group_first[s + 1] - first;
	uint32_t alive = 0, ports = 0;
	ftr_sw t = nominal_sw(sh, n, s);
	const struct ftr_group *last = NULL;

	for (ftr_sw x = 0; x < sh->f->n_sw; x++)
		alive += x != s && links(sh->f, s, x);
	ck_assert_msg(m == alive, "seed %" PRIu64 ": switch %u has %u groups, not %u", seed,
		      s, m, alive);
	for (uint32_t k = 0; k < m; k++) {
		const struct ftr_group *g = &sh->tree.groups[first + k], *o;
		unsigned int side = sh->tree.rank[g->remote] > sh->tree.rank[s] ? 0 :
			sh->tree.rank[g->remote] < sh->tree.rank[s] ? 1 : 2;

		o = find_group(n, t, nominal_sw(sh, n, g->remote));
		ck_assert_ptr_nonnull(o);
		ck_assert_msg((!last || last < o) && g->pos == k &&
			      g->slot == o->slot &&
			      g->n_nominal == o->n_nominal &&
			      g->n == links(sh->f, s, g->remote),
			      "seed %" PRIu64 ": group %u of switch %u is wrong", seed, k, s);
		ck_assert_uint_eq(side, k < sh->tree.n_up[s] ? 0 :
				  k < sh->tree.n_up[s] + sh->tree.n_down[s] ? 1 : 2);
		for (uint32_t i = 0; i < g->n; i++) {
			ftr_port p = sh->tree.group_ports[g->first + i];

			ck_assert_uint_eq(ftr_fabric_port(sh->f, s, p)->peer,
					  g->remote);
			ck_assert_uint_eq(sh->tree.port_pos[g->first + i],
					  place_of(n, o, p));
			ck_assert(!i || sh->tree.port_pos[g->first + i - 1] <
				  sh->tree.port_pos[g->first + i]);
		}
		ports += g->n;
		last = o;
	}
	for (ftr_sw x = 0; x < sh->f->n_sw; x++)
		ports -= x != s ? links(sh->f, s, x) : 0;
	ck_assert_uint_eq(ports, 0);
}

static void check_dests(const struct ftr_shape *sh, const struct ftr_shape *n,
			uint64_t seed)
{
	uint32_t want = 0;

	for (uint32_t lid = 1; lid <= sh->f->max_lid; lid++) {
		const struct ftr_lid_owner *o = &sh->f->owner[lid];

		want += o->kind == FTR_OWNER_SW ||
			(o->kind == FTR_OWNER_EP &&
			 sh->f->ep[o->idx].sw != FTR_SW_NONE);
	}
	ck_assert_uint_eq(sh->numbering.n_dest, want);
	for (uint32_t i = 0; i < sh->numbering.n_dest; i++) {
		const struct ftr_dest *t = &sh->numbering.dest[i];
		const struct ftr_lid_owner *o = &sh->f->owner[t->lid];
		uint32_t d;
		uint8_t cls = FTR_CLASS_SW;

		if (o->kind == FTR_OWNER_EP) {
			const struct ftr_ep_index *p = &n->numbering.ep_index[
				ftr_fabric_find_ep(n->f,
						   sh->f->ep[o->idx].guid)];

			d = p->d;
			cls = p->cls;
			ck_assert_uint_eq(t->port, sh->f->ep[o->idx].sw_port);
			ck_assert_uint_eq(sh->numbering.col_sw[t->col],
					  sh->f->ep[o->idx].sw);
		} else {
			d = n->numbering.col[nominal_sw(sh, n, o->idx)];
			ck_assert_uint_eq(sh->numbering.col_sw[t->col], o->idx);
		}
		ck_assert_msg(t->d == d + o->offset && t->cls == cls,
			      "seed %" PRIu64 ": wrong index or class of LID %u", seed, t->lid);
	}
	ck_assert_uint_eq(sh->numbering.stride, n->numbering.stride);
	ck_assert_uint_eq(sh->numbering.n_d, n->tree.n_leaf * n->numbering.stride);
}

static void check_absent(const struct ftr_shape *sh, const struct ftr_shape *n,
			 uint64_t seed)
{
	const struct ftr_fabric *nf = n->f, *f = sh->f;
	uint32_t k = 0, lost = 0, hosts = 0;

	for (ftr_sw t = 0; t < nf->n_sw; t++) {
		for (unsigned int q = 1; q <= nf->sw[t].n_ports; q++) {
			const struct ftr_swport *port =
				ftr_fabric_port(nf, t, (ftr_port)q);
			const struct ftr_link *a = &sh->absent[k];
			ftr_sw s = ftr_fabric_find_sw(f, nf->sw[t].guid), z;

			if (port->peer_kind != FTR_PEER_SW || port->peer < t)
				continue;
			z = ftr_fabric_find_sw(f, nf->sw[port->peer].guid);
			if (s != FTR_SW_NONE && z != FTR_SW_NONE &&
			    ftr_fabric_port(f, s, (ftr_port)q)->peer_kind ==
			    FTR_PEER_SW)
				continue;
			lost++;
			if (s == FTR_SW_NONE || z == FTR_SW_NONE)
				continue;
			ck_assert_msg(k < sh->n_absent && a->sw == s &&
				      a->port == q && a->peer == z &&
				      a->peer_port == port->peer_port,
				      "seed %" PRIu64 ": missing link %u of the list is wrong",
				      seed, k);
			k++;
		}
	}
	for (ftr_ep e = 0; e < nf->n_ep; e++)
		hosts += nf->ep[e].sw != FTR_SW_NONE;
	for (ftr_ep e = 0; e < f->n_ep; e++)
		hosts -= f->ep[e].sw != FTR_SW_NONE;
	ck_assert_uint_eq(sh->n_absent, k);
	ck_assert_uint_eq(sh->n_missing_links, lost);
	ck_assert_uint_eq(sh->n_missing_hosts, hosts);
	ck_assert_uint_eq(sh->n_missing_sw, nf->n_sw - f->n_sw);
	ck_assert(sh->from_nominal);
}

static void check_costs(const struct ftr_shape *sh, uint64_t seed)
{
	uint32_t n = sh->f->n_sw;
	unsigned int *cost = calloc((size_t)n * n, sizeof(*cost));
	unsigned int *down = calloc((size_t)n * n, sizeof(*down));

	oracle_costs(sh, cost, down);
	for (ftr_sw s = 0; s < n; s++) {
		for (ftr_sw l = 0; l < n; l++) {
			unsigned int c = ftr_shape_cost(sh, s)[sh->numbering.col[l]];
			unsigned int d = ftr_shape_down(sh, s)[sh->numbering.col[l]];

			c = c == FTR_COST_INF ? ORACLE_INF : c;
			d = d == FTR_COST_INF ? ORACLE_INF : d;
			ck_assert_msg(c == cost[s * n + l] &&
				      d == down[s * n + l], "seed %" PRIu64
				      ": wrong cost from switch %u to %u", seed, s, l);
		}
	}
	free(cost);
	free(down);
}

void oracle_check_projection(const struct ftr_shape *sh,
			     const struct ftr_shape *n, uint64_t seed)
{
	uint32_t horizontal = 0, odd = 0;

	check_switches(sh, n, seed);
	for (ftr_sw s = 0; s < sh->f->n_sw; s++)
		check_groups_of(sh, n, s, seed);
	check_dests(sh, n, seed);
	check_absent(sh, n, seed);
	check_costs(sh, seed);
	for (ftr_sw a = 0; a < sh->f->n_sw; a++)
		for (ftr_sw b = a + 1; b < sh->f->n_sw; b++)
			if (sh->tree.rank[a] == sh->tree.rank[b])
				horizontal += links(sh->f, a, b);
	for (ftr_ep e = 0; e < sh->f->n_ep; e++) {
		ftr_ep o = ftr_fabric_find_ep(n->f, sh->f->ep[e].guid);

		odd += sh->f->ep[e].sw != FTR_SW_NONE && n->numbering.ep_index[o].host &&
			n->numbering.ep_index[o].cls != FTR_CLASS_HOST;
	}
	ck_assert_uint_eq(sh->tree.n_horizontal, horizontal);
	ck_assert_uint_eq(sh->tree.n_odd, odd);
	ck_assert(sh->tree.n_ranks == n->tree.n_ranks && sh->tree.n_planes == n->tree.n_planes &&
		  sh->tree.n_pods == n->tree.n_pods &&
		  sh->tree.roots_given == n->tree.roots_given &&
		  sh->tree.cn_unknown == n->tree.cn_unknown &&
		  sh->tree.io_unknown == n->tree.io_unknown);
}
