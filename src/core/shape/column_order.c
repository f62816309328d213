// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Numbers the destinations.  The number of a LID is its index d.  A column is a switch as a
 * destination.
 *
 * Equations (3) and (4) of Gliksberg et al. 2020 balance the load only if destinations with
 * consecutive d are neighbours in the tree.  LIDs have no such order, so d is computed here:
 *
 *	d = column * stride + offset
 *
 *  - Columns.  The leaves of each pod have consecutive columns.  (There are pods of each rank l:
 *    connected components of the switches of rank <= l, without horizontal links.)  Pods are
 *    ordered by their first leaves.  The first leaf of a pod is the leaf with the lowest GUID or,
 *    with FTR_LEAF_BY_NAME, the leaf with the first host name in natural order.
 *  - Stride.  Every leaf has the same number of indices: the greatest number of hosts on a leaf.
 *    So if a leaf with fewer hosts loses a host, the indices on other leaves stay the same.
 *  - Offset.  The hosts of a leaf are numbered by port or, with FTR_LEAF_BY_NAME, by name.  If
 *    they are numbered by port, a missing host leaves a gap, so no other index changes when it
 *    returns.  Exception: if the number of ports for hosts on a leaf is greater than the stride,
 *    this leaf has no gaps.
 *  - If a port has several LIDs (LMC > 0), LID base + i has the index d + i.  So a leaf sends to
 *    successive LIDs of a port over successive upward groups.
 *  - Hosts with several ports.  The offsets on a leaf are rotated: a number is added to all of
 *    them, modulo the stride.  The number is chosen such that the ports of one host are reached
 *    over different upward groups, as far as the links permit.  The adapters of a host are known by
 *    its name (<ftr/hosts.h>).  A rotation does not change the balance of a full leaf.
 *
 *    The rotations depend on the number of upward groups.  So without the nominal fabric, a dead
 *    spine changes the host order of hosts with several ports.  Rotations for a number of groups
 *    that divides the stride would not change.  But on superpod:H100:4 with 15 spines, the paths
 *    to two ports of a host then have a common spine from 90 % of the leaves, otherwise from none,
 *    and the pairwise all-to-all has 23 instead of 33 GB/s.
 *
 * Destinations that are not hosts on leaves belong to other classes (enum ftr_class).  Each class
 * has its own stride and its own indices, so the other classes do not disturb the balance of the
 * compute nodes.
 */
#include <stdlib.h>
#include <string.h>

#include "shape/shape.h"

struct ordering {
	struct shaping *z;
	ftr_sw *leaf;		/* the leaves in base order, which is by GUID or by name */
	uint32_t n_leaf;
	uint32_t *base;		/* base[s]: position of leaf s in base order */
	uint32_t *pod_key;	/* pod_key[r * n_sw + s]: for the pod of rank r that has switch s,
				 * the position of its first leaf in base order */
	ftr_ep *ep_by_sw;	/* host ports, sorted by switch, then by ep_cmp() */
	uint32_t *ep_first;	/* ep_first[s]: index in ep_by_sw[] of the first host port of s */
	uint32_t *offset;	/* offset[e]: offset of host port e in its column and class */
	uint8_t *cls;		/* cls[e]: enum ftr_class of host port e */
	uint32_t stride[FTR_N_CLASSES];
};

/* ---- host ports by switch ----------------------------------------------- */

static int ep_cmp(const void *x, const void *y, void *ctx)
{
	const struct ordering *o = ctx;
	const struct ftr_fabric *f = o->z->f;
	ftr_ep ia = *(const ftr_ep *)x, ib = *(const ftr_ep *)y;
	const struct ftr_endport *a = &f->ep[ia], *b = &f->ep[ib];

	return (o->z->opts->leaf_order == FTR_LEAF_BY_NAME ? ftr_natural_cmp(a->name, b->name) : 0) ?:
	       FTR_ORDER(a->sw_port, b->sw_port);
}

static enum ftr_status sort_endports(struct ordering *o)
{
	const struct shaping *z = o->z;
	const struct ftr_fabric *f = z->f;
	uint32_t *at;

	if (!FTR_NEW(z->scratch, o->ep_by_sw, f->n_ep) ||
	    !FTR_ZNEW(z->scratch, o->ep_first, f->n_sw + 2u) ||
	    !FTR_ZNEW(z->scratch, o->offset, f->n_ep) ||
	    !FTR_ZNEW(z->scratch, o->cls, f->n_ep))
		return shape_nomem(o->z);
	at = o->ep_first + 1;
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE)
			at[f->ep[e].sw + 1]++;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		at[s + 1] += at[s];
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE)
			o->ep_by_sw[at[f->ep[e].sw]++] = e;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		qsort_r(o->ep_by_sw + o->ep_first[s],
			o->ep_first[s + 1] - o->ep_first[s],
			sizeof(*o->ep_by_sw), ep_cmp, o);
	return FTR_OK;
}

#define for_each_ep(o, s, e)						\
	for (const ftr_ep *e = (o)->ep_by_sw + (o)->ep_first[s];	\
	     e < (o)->ep_by_sw + (o)->ep_first[(s) + 1]; e++)

/* ---- leaves and pods --------------------------------------------------- */

/* FTR_LEAF_BY_NAME: the smallest host name of leaf s; otherwise, or without hosts, NULL. */
static const char *leaf_name(const struct ordering *o, ftr_sw s)
{
	if (o->z->opts->leaf_order == FTR_LEAF_BY_NAME)
		for_each_ep(o, s, e)
			if (o->z->ep_host[*e])
				return o->z->f->ep[*e].name;
	return NULL;
}

static int base_cmp(const void *x, const void *y, void *o)
{
	ftr_sw s = *(const ftr_sw *)x, t = *(const ftr_sw *)y;
	const char *a = leaf_name(o, s), *b = leaf_name(o, t);

	if (!a != !b)
		return a ? -1 : 1;
	return (a ? ftr_natural_cmp(a, b) : 0) ?: FTR_ORDER(s, t);
}

static enum ftr_status base_order(struct ordering *o)
{
	const struct shaping *z = o->z;
	const struct ftr_fabric *f = z->f;

	if (!FTR_NEW(z->scratch, o->leaf, f->n_sw) ||
	    !FTR_NEW(z->scratch, o->base, f->n_sw))
		return shape_nomem(o->z);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		o->base[s] = UINT32_MAX;
		if (z->is_leaf[s])
			o->leaf[o->n_leaf++] = s;
	}
	qsort_r(o->leaf, o->n_leaf, sizeof(*o->leaf), base_cmp, o);
	for (uint32_t i = 0; i < o->n_leaf; i++)
		o->base[o->leaf[i]] = i;
	return FTR_OK;
}

/* Returns true if s is below rank l.  An empty leaf (rank.c) has a high rank, but counts as below
 * every rank, so that it is in a pod of each rank, like other leaves. */
static bool below(const struct shaping *z, ftr_sw s, uint32_t l)
{
	return z->rank[s] < l || (z->is_leaf[s] && z->is_stub[s]);
}

static enum ftr_status pods(struct ordering *o)
{
	const struct shaping *z = o->z;
	uint32_t n = z->f->n_sw, *uf, *first;

	if (!FTR_NEW(z->scratch, uf, n) || !FTR_NEW(z->scratch, first, n) ||
	    !FTR_NEW(z->scratch, o->pod_key, (size_t)z->sh->tree.n_ranks * n))
		return shape_nomem(o->z);
	ftr_uf_init(uf, n);
	for (uint32_t l = 0; l < z->sh->tree.n_ranks; l++) {
		uint32_t *key = o->pod_key + (size_t)l * n;

		for (uint32_t i = z->rank_first[l]; i < z->rank_first[l + 1];
		     i++) {
			ftr_sw s = z->by_rank[i];

			for_each_nbr(z, s, t)
				if (below(z, t->sw, l))
					ftr_uf_union(uf, s, t->sw);
		}
		memset(first, 0xff, n * sizeof(*first));
		for (uint32_t i = 0; i < o->n_leaf; i++) {
			uint32_t c = ftr_uf_find(uf, o->leaf[i]);

			first[c] = FTR_MIN(first[c], i);
		}
		for (ftr_sw s = 0; s < n; s++)
			key[s] = first[ftr_uf_find(uf, s)];
		if (l + 2 == z->sh->tree.n_ranks || z->sh->tree.n_ranks == 1) {
			z->sh->tree.n_pods = 0;
			for (ftr_sw s = 0; s < n; s++)
				z->sh->tree.n_pods += below(z, s, l + 1) &&
					ftr_uf_find(uf, s) == s;
		}
	}
	return FTR_OK;
}

/* The order of columns.  First the leaves: compared by their pods of the highest rank, then by
 * their pods of the next lower rank, and so on, then by base order.  Then the other switches, by
 * rank and index. */
static int col_cmp(const void *x, const void *y, void *ctx)
{
	const struct ordering *o = ctx;
	const struct shaping *z = o->z;
	ftr_sw a = *(const ftr_sw *)x, b = *(const ftr_sw *)y;
	uint32_t n = z->f->n_sw;

	if (z->is_leaf[a] != z->is_leaf[b])
		return z->is_leaf[a] ? -1 : 1;
	if (!z->is_leaf[a]) {
		if (z->rank[a] != z->rank[b])
			return z->rank[a] < z->rank[b] ? -1 : 1;
		return FTR_ORDER(a, b);
	}
	for (uint32_t l = z->sh->tree.n_ranks; l-- > 0;) {
		uint32_t ka = o->pod_key[(size_t)l * n + a];
		uint32_t kb = o->pod_key[(size_t)l * n + b];

		if (ka != kb)
			return ka < kb ? -1 : 1;
	}
	return FTR_ORDER(o->base[a], o->base[b]);
}

static enum ftr_status columns(struct ordering *o)
{
	struct shaping *z = o->z;
	uint32_t n = z->f->n_sw, *col, *hosts;
	ftr_sw *col_sw;

	if (!FTR_NEW(z->keep, col, n) || !FTR_NEW(z->keep, col_sw, n) ||
	    !FTR_NEW(z->keep, hosts, o->n_leaf))
		return shape_nomem(z);
	for (ftr_sw s = 0; s < n; s++)
		col_sw[s] = s;
	qsort_r(col_sw, n, sizeof(*col_sw), col_cmp, o);
	for (uint32_t i = 0; i < n; i++)
		col[col_sw[i]] = i;
	for (uint32_t i = 0; i < o->n_leaf; i++)
		hosts[i] = z->hosts[col_sw[i]];
	z->sh->numbering.col = col;
	z->sh->numbering.col_sw = col_sw;
	z->sh->tree.n_leaf = o->n_leaf;
	z->sh->tree.leaf_hosts = hosts;
	return FTR_OK;
}

static enum ftr_status pods_of_switches(struct ordering *o)
{
	struct shaping *z = o->z;
	uint32_t n = z->f->n_sw, *pod_first, *pod_leaves, *leaves;

	if (!FTR_ZNEW(z->keep, pod_first, n) || !FTR_NEW(z->keep, pod_leaves, n) ||
	    !FTR_NEW(z->scratch, leaves, o->n_leaf + 1u))
		return shape_nomem(z);
	for (uint32_t l = 0; l < z->sh->tree.n_ranks; l++) {
		const uint32_t *key = o->pod_key + (size_t)l * n;

		memset(leaves, 0, o->n_leaf * sizeof(*leaves));
		for (uint32_t i = 0; i < o->n_leaf; i++)
			leaves[key[o->leaf[i]]]++;
		for (uint32_t i = z->rank_first[l]; i < z->rank_first[l + 1];
		     i++) {
			ftr_sw s = z->by_rank[i];
			bool pod = !z->is_leaf[s] && key[s] != UINT32_MAX;

			if (pod || z->is_leaf[s])
				pod_first[s] = z->sh->numbering.col[pod ? o->leaf[key[s]] :
						     s];
			pod_leaves[s] = pod ? leaves[key[s]] : 1;
		}
	}
	z->sh->numbering.pod_first = pod_first;
	z->sh->numbering.pod_leaves = pod_leaves;
	return FTR_OK;
}

/* ---- offsets inside a switch ------------------------------------------- */

/* Mark the port numbers to which at least one leaf has a host connected. */
static void host_ports(const struct ordering *o, uint8_t *is_host_port)
{
	const struct shaping *z = o->z;

	memset(is_host_port, 0, FTR_PORT_MAX + 1);
	for (ftr_ep e = 0; e < z->f->n_ep; e++)
		if (o->cls[e] == FTR_CLASS_HOST &&
		    z->f->ep[e].sw != FTR_SW_NONE)
			is_host_port[z->f->ep[e].sw_port] = 1;
}

/* Number the hosts of leaf s by port.  Returns false if the number of ports for hosts on s is
 * greater than the stride. */
static bool number_by_port(struct ordering *o, ftr_sw s,
			  const uint8_t *is_host_port)
{
	const struct ftr_fabric *f = o->z->f;
	uint32_t offset[FTR_PORT_MAX + 1], n = 0;

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *port = ftr_fabric_port(f, s, p);
		bool taken = port->peer_kind == FTR_PEER_SW ||
			(port->peer_kind == FTR_PEER_EP &&
			 o->cls[port->peer] != FTR_CLASS_HOST);

		offset[p] = n;
		n += is_host_port[p] && !taken;
	}
	if (n > o->stride[FTR_CLASS_HOST])
		return false;
	for_each_ep(o, s, e)
		if (o->cls[*e] == FTR_CLASS_HOST)
			o->offset[*e] = offset[f->ep[*e].sw_port];
	return true;
}

static void number_in_order(struct ordering *o, ftr_sw s)
{
	uint32_t n[FTR_N_CLASSES] = { 0 };

	for_each_ep(o, s, e)
		o->offset[*e] = n[o->cls[*e]]++;
}

static void classify(struct ordering *o)
{
	const struct shaping *z = o->z;

	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		uint32_t n[FTR_N_CLASSES] = { 0 };

		for_each_ep(o, s, e) {
			bool host = z->ep_host[*e] && z->is_leaf[s];

			o->cls[*e] = host ? FTR_CLASS_HOST : FTR_CLASS_OTHER;
			n[o->cls[*e]]++;
			z->sh->tree.n_odd += z->ep_host[*e] && !host;
		}
		for (int c = 0; c < FTR_N_CLASSES; c++)
			o->stride[c] = FTR_MAX(o->stride[c], n[c]);
	}
	z->sh->numbering.stride = o->stride[FTR_CLASS_HOST];
}

static void set_offsets(struct ordering *o)
{
	const struct shaping *z = o->z;
	uint8_t is_host_port[FTR_PORT_MAX + 1];

	classify(o);
	host_ports(o, is_host_port);
	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		number_in_order(o, s);
		if (z->is_leaf[s] && z->opts->leaf_order == FTR_LEAF_BY_GUID)
			number_by_port(o, s, is_host_port);
	}
}

/* ---- multi-port hosts -------------------------------------------------- */

/* The slots (nominal upward groups of leaves) over which the ports of a host with several ports are
 * reached.  Only leaves that have been rotated already are counted.  At most MAX_TAKEN slots are
 * stored. */
#define MAX_TAKEN 32

struct taken {
	uint8_t n;
	uint16_t slot[MAX_TAKEN];
};

/* The number of ports in *t that are reached over this slot. */
static uint32_t sharing(const struct taken *t, uint32_t slot)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += t->slot[i] == slot;
	return n;
}

static uint32_t slot_of(const struct ordering *o, ftr_sw s, ftr_ep e,
			uint32_t rotation)
{
	const struct ftr_shape *sh = o->z->sh;
	uint32_t stride = o->stride[FTR_CLASS_HOST];

	return (sh->numbering.col[s] * stride + (o->offset[e] + rotation) % stride) %
		FTR_MAX(sh->numbering.n_slots[s], 1u);
}

/* The rotation of leaf s with the fewest conflicts.  A conflict is a pair of ports of one host with
 * the same slot, one of them on s, the other on a leaf that has been rotated already. */
static uint32_t best_rotation(const struct ordering *o, ftr_sw s,
			  const uint32_t *host, const struct taken *taken)
{
	uint32_t best = 0, fewest = UINT32_MAX;

	for (uint32_t rotation = 0; rotation < o->stride[FTR_CLASS_HOST] && fewest;
	     rotation++) {
		uint32_t conflicts = 0;

		for_each_ep(o, s, e)
			if (o->cls[*e] == FTR_CLASS_HOST)
				conflicts += sharing(&taken[host[*e]], slot_of(o, s, *e, rotation));
		if (conflicts < fewest) {
			fewest = conflicts;
			best = rotation;
		}
	}
	return best;
}

/* Set host[e] to the number of the host of each port e of class HOST, and *multi to true if a host
 * has several of them. */
static enum ftr_status number_hosts(struct ordering *o, uint32_t *host, bool *multi)
{
	const struct ftr_fabric *f = o->z->f;
	char name[FTR_NAME_MAX + 1];
	struct ftr_key *port;	/* by the hash of the host's name, or by the GUID of the node if
				 * it has no such name */
	uint32_t n = 0, hosts = 0;

	if (!FTR_NEW(o->z->scratch, port, f->n_ep))
		return shape_nomem(o->z);
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		if (f->ep[e].sw == FTR_SW_NONE || o->cls[e] != FTR_CLASS_HOST)
			continue;
		ftr_ep_host(&f->ep[e], false, name);
		port[n].key = name[0] ? ftr_hash(FTR_HASH_INIT, name, strlen(name)) :
			f->ep[e].node_guid;
		port[n++].idx = e;
	}
	qsort(port, n, sizeof(*port), ftr_key_cmp);
	for (uint32_t i = 0; i < n; i++) {
		hosts += i && port[i].key != port[i - 1].key;
		host[port[i].idx] = hosts;
	}
	*multi = hosts + 1 < n;
	o->z->several_ports = n >= 2 * (hosts + 1);
	return FTR_OK;
}

static enum ftr_status spread_multiport(struct ordering *o)
{
	const struct shaping *z = o->z;
	uint32_t stride = o->stride[FTR_CLASS_HOST], *host;
	struct taken *taken;
	bool multi = false;
	enum ftr_status st;

	if (!FTR_NEW(z->scratch, host, z->f->n_ep) ||
	    !FTR_ZNEW(z->scratch, taken, z->f->n_ep))
		return shape_nomem(o->z);
	st = number_hosts(o, host, &multi);
	for (uint32_t i = 0; multi && i < o->n_leaf; i++) {
		ftr_sw s = z->sh->numbering.col_sw[i];
		uint32_t rotation = best_rotation(o, s, host, taken);

		for_each_ep(o, s, e) {
			struct taken *t = &taken[host[*e]];

			if (o->cls[*e] != FTR_CLASS_HOST)
				continue;
			if (t->n < MAX_TAKEN)
				t->slot[t->n++] = (uint16_t)slot_of(o, s, *e, rotation);
			o->offset[*e] = (o->offset[*e] + rotation) % stride;
		}
	}
	return st;
}

/* ---- results ----------------------------------------------------------- */

static enum ftr_status publish(const struct ordering *o)
{
	const struct shaping *z = o->z;
	const struct ftr_fabric *f = z->f;
	struct ftr_shape *sh = z->sh;
	struct ftr_ep_index *ep = ftr_arena_zalloc(z->keep, f->n_ep, sizeof(*ep));
	uint32_t *sw_d = ftr_arena_alloc(z->keep, f->n_sw, sizeof(*sw_d));

	if (!ep || !sw_d)
		return shape_nomem(o->z);
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE)
			ep[e] = (struct ftr_ep_index){
				.d = sh->numbering.col[f->ep[e].sw] *
					o->stride[o->cls[e]] + o->offset[e],
				.cls = o->cls[e],
				.host = z->ep_host[e],
			};
	for (ftr_sw s = 0; s < f->n_sw; s++)
		sw_d[s] = sh->numbering.col[s];
	sh->numbering.ep_index = ep;
	sh->numbering.sw_d = sw_d;
	sh->numbering.n_d = sh->tree.n_leaf * sh->numbering.stride;
	return FTR_OK;
}

enum ftr_status shape_order(struct shaping *z)
{
	struct ordering o = { .z = z };
	enum ftr_status (*const step[])(struct ordering *) = {
		sort_endports, base_order, pods, columns, pods_of_switches,
	};
	enum ftr_status st;

	for (size_t i = 0; i < FTR_ARRAY_LEN(step); i++) {
		st = step[i](&o);
		if (st)
			return st;
	}
	set_offsets(&o);
	st = spread_multiport(&o);
	if (!st)
		st = publish(&o);
	return st ? st : shape_dests(z);
}
