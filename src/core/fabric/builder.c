// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The builder: collects nodes and links as files or OpenSM report them, in any order.
 *
 * If a description of an object contradicts an earlier description, the builder rejects it at once,
 * so that a reader of a file can report the line.  ftr_builder_freeze() sorts switches and
 * host ports by GUID, and finds the errors that show only in the whole fabric: missing nodes, links
 * at ports that do not exist, LIDs with two owners.  The names are in the arena of the builder,
 * which becomes the arena of the fabric.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include <ftr/text.h>

struct b_link {
	struct ftr_end a, z;
	uint8_t width, speed;
};

struct ftr_builder {
	struct ftr_arena *arena;
	struct ftr_switch *sw;
	struct ftr_endport *ep;
	struct b_link *link;
	uint32_t n_sw, n_ep, n_link;
	uint32_t cap_sw, cap_ep, cap_link;
	uint32_t max_lid;	/* see ftr_builder_lids() */
	struct ftr_map sw_by_guid;
	struct ftr_map ep_by_end;	/* keys: end_key() */
	struct ftr_map ep_by_guid;
	struct ftr_map link_by_end;
	/* ftr_builder_freeze(): the new fabric, and writable pointers to its arrays */
	struct ftr_fabric *f;
	struct ftr_switch *f_sw;
	struct ftr_endport *f_ep;
	struct ftr_swport *f_ports;
	struct ftr_lid_owner *f_owner;
};

/*
 * Maps a node GUID and a port number (72 bits) to a key of 64 bits.  If two ends had the same key,
 * the builder would take them for one end.  With n ends, the probability of this is about
 * n^2 / 2^65.
 */
static uint64_t end_key(uint64_t node_guid, ftr_port port)
{
	return ftr_mix(node_guid) + port * 0x9E3779B97F4A7C15u;
}

/* ---- adding ------------------------------------------------------------ */

struct ftr_builder *ftr_builder_new(void)
{
	struct ftr_builder *b = ftr_calloc(1, sizeof(*b));

	if (b)
		b->arena = ftr_arena_new();
	if (b && !b->arena) {
		free(b);
		return NULL;
	}
	return b;
}

void ftr_builder_free(struct ftr_builder *b)
{
	if (!b)
		return;
	ftr_arena_free(b->arena);
	free(b->sw);
	free(b->ep);
	free(b->link);
	ftr_map_fini(&b->sw_by_guid);
	ftr_map_fini(&b->ep_by_end);
	ftr_map_fini(&b->ep_by_guid);
	ftr_map_fini(&b->link_by_end);
	free(b);
}

static enum ftr_status nomem(struct ftr_err *err)
{
	return ftr_nomem(err, "the fabric");
}

/* Names come from outside the program, so they are cleaned. */
static const char *copy_name(struct ftr_builder *b, const char *from)
{
	char *name = ftr_arena_strndup(b->arena, from, FTR_NAME_MAX);

	return name ? ftr_text_clean(name) : NULL;
}

/* Check a base LID and LMC (LID 0: unknown), and merge them into those of an earlier description of
 * the same object, if there was one. */
static enum ftr_status merge_lid(ftr_lid *lid, uint8_t *lmc, ftr_lid lid2,
				 unsigned int lmc2, struct ftr_err *err)
{
	if (lmc2 > FTR_LMC_MAX)
		return ftr_fail(err, FTR_INVAL, "LMC %u is above the maximum %u", lmc2, FTR_LMC_MAX);
	if (!lid2)
		return FTR_OK;
	if ((lid2 & ((1u << lmc2) - 1)) || lid2 + (1u << lmc2) - 1 > FTR_LID_MAX)
		return ftr_fail(err, FTR_INVAL, "base LID %u with LMC %u: it must be a multiple of %u, and the last LID at most %u",
				lid2, lmc2, 1u << lmc2, FTR_LID_MAX);
	if (*lid && (*lid != lid2 || *lmc != lmc2))
		return ftr_fail(err, FTR_INVAL, "LID %u (LMC %u) here but LID %u (LMC %u) before",
				lid2, lmc2, *lid, *lmc);
	*lid = lid2;
	*lmc = (uint8_t)lmc2;
	return FTR_OK;
}

enum ftr_status ftr_builder_add_switch(struct ftr_builder *b,
				       const struct ftr_switch *w, struct ftr_err *err)
{
	uint32_t i = ftr_map_get(&b->sw_by_guid, w->guid);
	struct ftr_switch fresh = *w, *s = i != FTR_MAP_NONE ? &b->sw[i] : &fresh;

	if (w->n_ports < 1 || w->n_ports > FTR_PORT_MAX)
		return ftr_fail(err, FTR_INVAL, "switch 0x%016" PRIx64
				" has %u ports (allowed: 1 to %u)", w->guid, w->n_ports,
				FTR_PORT_MAX);
	if (s->n_ports != w->n_ports)
		return ftr_fail(err, FTR_INVAL, "switch 0x%016" PRIx64
				" has %u ports here but %u before",
				w->guid, w->n_ports, s->n_ports);
	if (merge_lid(&s->lid, &s->lmc, w->lid, w->lmc, err))
		return ftr_err_prefix(err, "switch 0x%016" PRIx64, w->guid);
	if (s != &fresh)
		return FTR_OK;
	fresh.name_shared = false;
	fresh.holder = w->holder ? w->holder : w->guid;
	fresh.name = copy_name(b, w->name);
	if (!fresh.name || !FTR_GROW(b->sw, b->n_sw, b->cap_sw) ||
	    !ftr_map_put(&b->sw_by_guid, w->guid, b->n_sw))
		return nomem(err);
	b->sw[b->n_sw++] = fresh;
	return FTR_OK;
}

static const char *end_type(unsigned int type)
{
	return type == FTR_NODE_ROUTER ? "router" : "channel adapter";
}

/* Check a host port alone, and against an earlier description of the same port, or itself. */
static enum ftr_status check_endport(const struct ftr_endport *old, const struct ftr_endport *e,
				     struct ftr_err *err)
{
	if (e->type != FTR_NODE_CA && e->type != FTR_NODE_ROUTER)
		return ftr_fail(err, FTR_INVAL, "port 0x%016" PRIx64
				": node type %u is not that of an end node", e->guid, e->type);
	if (e->port_num < 1 || e->port_num > FTR_PORT_MAX)
		return ftr_fail(err, FTR_INVAL, "node 0x%016" PRIx64
				": port number %u (allowed: 1 to %u)", e->node_guid,
				e->port_num, FTR_PORT_MAX);
	if (old->guid != e->guid)
		return ftr_fail(err, FTR_INVAL, "node 0x%016" PRIx64
				" port %u has port GUID 0x%016" PRIx64
				" here but 0x%016" PRIx64 " before",
				e->node_guid, e->port_num, e->guid, old->guid);
	if (old->type != e->type)
		return ftr_fail(err, FTR_INVAL, "node 0x%016" PRIx64
				" is a %s here but a %s before", e->node_guid,
				end_type(e->type), end_type(old->type));
	return FTR_OK;
}

enum ftr_status ftr_builder_add_endport(struct ftr_builder *b,
					const struct ftr_endport *w, struct ftr_err *err)
{
	uint64_t key = end_key(w->node_guid, w->port_num);
	uint32_t i = ftr_map_get(&b->ep_by_end, key);
	struct ftr_endport fresh = *w, *e = i != FTR_MAP_NONE ? &b->ep[i] : &fresh;
	enum ftr_status st = check_endport(e, w, err);

	if (st)
		return st;
	if (merge_lid(&e->lid, &e->lmc, w->lid, w->lmc, err))
		return ftr_err_prefix(err, "port 0x%016" PRIx64, w->guid);
	if (e != &fresh)
		return FTR_OK;
	i = ftr_map_get(&b->ep_by_guid, w->guid);
	if (i != FTR_MAP_NONE)
		return ftr_fail(err, FTR_INVAL, "port GUID 0x%016" PRIx64
				" on node 0x%016" PRIx64
				" port %u was already given to node 0x%016"
				PRIx64 " port %u", w->guid, w->node_guid,
				w->port_num, b->ep[i].node_guid, b->ep[i].port_num);
	fresh.sw = FTR_SW_NONE;
	fresh.name_shared = false;
	fresh.name = copy_name(b, w->name);
	if (!fresh.name || !FTR_GROW(b->ep, b->n_ep, b->cap_ep) ||
	    !ftr_map_put(&b->ep_by_end, key, b->n_ep) ||
	    !ftr_map_put(&b->ep_by_guid, w->guid, b->n_ep))
		return nomem(err);
	b->ep[b->n_ep++] = fresh;
	return FTR_OK;
}

static bool same_end(struct ftr_end a, struct ftr_end b)
{
	return a.node_guid == b.node_guid && a.port == b.port;
}

static enum ftr_status connected_before(const struct b_link *c, struct ftr_end a,
					struct ftr_end z, struct ftr_err *err)
{
	struct ftr_end far = same_end(c->a, a) ? c->z : c->a;

	return ftr_fail(err, FTR_INVAL, "node 0x%016" PRIx64
			" port %u is connected to node 0x%016" PRIx64
			" port %u here but to node 0x%016" PRIx64
			" port %u before", a.node_guid, a.port, z.node_guid,
			z.port, far.node_guid, far.port);
}

enum ftr_status ftr_builder_add_link(struct ftr_builder *b, struct ftr_end a,
				     struct ftr_end z, unsigned int width,
				     enum ftr_speed speed, struct ftr_err *err)
{
	uint64_t ka = end_key(a.node_guid, a.port);
	uint64_t kz = end_key(z.node_guid, z.port);
	uint32_t ia = ftr_map_get(&b->link_by_end, ka);
	uint32_t iz = ftr_map_get(&b->link_by_end, kz);
	struct b_link *c;

	if (a.port < 1 || a.port > FTR_PORT_MAX || z.port < 1 ||
	    z.port > FTR_PORT_MAX)
		return ftr_fail(err, FTR_INVAL, "link from node 0x%016" PRIx64
				" port %u to node 0x%016" PRIx64
				" port %u: port numbers are 1..%u",
				a.node_guid, a.port, z.node_guid, z.port,
				FTR_PORT_MAX);
	if (same_end(a, z))
		return ftr_fail(err, FTR_INVAL, "node 0x%016" PRIx64
				" port %u is connected to itself", a.node_guid,
				a.port);
	if (ia != iz) {
		if (ia != FTR_MAP_NONE)
			return connected_before(&b->link[ia], a, z, err);
		return connected_before(&b->link[iz], z, a, err);
	}
	if (ia != FTR_MAP_NONE) {
		c = &b->link[ia];
		if (width && (!c->width || width < c->width))
			c->width = (uint8_t)width;
		if (speed && (!c->speed || (unsigned int)speed < c->speed))
			c->speed = (uint8_t)speed;
		return FTR_OK;
	}
	if (!FTR_GROW(b->link, b->n_link, b->cap_link) ||
	    !ftr_map_put(&b->link_by_end, ka, b->n_link) ||
	    !ftr_map_put(&b->link_by_end, kz, b->n_link))	/* not covered: only the first
								 * of two new keys can need
								 * memory (map.c) */
		return nomem(err);
	b->link[b->n_link++] = (struct b_link){ a, z, (uint8_t)width,
						 (uint8_t)speed };
	return FTR_OK;
}

/* ---- LIDs -------------------------------------------------------------- */

void ftr_builder_lids(struct ftr_builder *b, uint32_t lid)
{
	b->max_lid = FTR_MIN(lid, FTR_LID_MAX);
}

static void mark(uint8_t *used, ftr_lid lid, unsigned int lmc)
{
	if (lid)
		memset(used + lid, 1, 1u << lmc);
}

enum ftr_status ftr_builder_assign_lids(struct ftr_builder *b,
					unsigned int lmc, struct ftr_err *err)
{
	struct ftr_key *want;	/* GUIDs; index: the switch, or n_sw plus the host port */
	uint8_t *used;
	uint32_t n = 0, next = 1;
	enum ftr_status st = FTR_OK;

	if (lmc > FTR_LMC_MAX)
		return ftr_fail(err, FTR_INVAL, "LMC %u is above the maximum %u", lmc,
				FTR_LMC_MAX);
	want = ftr_malloc(((size_t)b->n_sw + b->n_ep) * sizeof(*want));
	used = ftr_calloc(FTR_LID_MAX + 129, 1);
	if (!want || !used) {
		st = nomem(err);
		goto out;
	}
	for (uint32_t i = 0; i < b->n_sw; i++) {
		mark(used, b->sw[i].lid, b->sw[i].lmc);
		if (!b->sw[i].lid) {
			b->sw[i].lmc = 0;	/* without a LID, the LMC has no meaning */
			want[n++] = (struct ftr_key){ b->sw[i].guid, i };
		}
	}
	for (uint32_t i = 0; i < b->n_ep; i++) {
		mark(used, b->ep[i].lid, b->ep[i].lmc);
		if (!b->ep[i].lid) {
			b->ep[i].lmc = (uint8_t)lmc;
			want[n++] = (struct ftr_key){ b->ep[i].guid, b->n_sw + i };
		}
	}
	qsort(want, n, sizeof(*want), ftr_u64_cmp);
	for (uint32_t i = 0; i < n; i++) {
		bool sw = want[i].idx < b->n_sw;
		uint32_t size = sw ? 1 : 1u << lmc, lid;

		lid = (next + size - 1) & ~(size - 1);
		while (lid + size - 1 <= FTR_LID_MAX &&
		       memchr(used + lid, 1, size))
			lid += size;
		if (lid + size - 1 > FTR_LID_MAX) {
			st = ftr_fail(err, FTR_LIMIT, "%u nodes with LMC %u need more than the %u unicast LIDs",
				      b->n_sw + b->n_ep, lmc, FTR_LID_MAX);
			goto out;
		}
		if (sw)
			b->sw[want[i].idx].lid = (ftr_lid)lid;
		else
			b->ep[want[i].idx - b->n_sw].lid = (ftr_lid)lid;
		next = lid + size;
	}
out:
	free(want);
	free(used);
	return st;
}

/* ---- freezing ---------------------------------------------------------- */

static bool lay_switches(struct ftr_builder *b)
{
	struct ftr_fabric *f = b->f;

	if (!FTR_NEW(f->arena, b->f_sw, b->n_sw))
		return false;
	if (b->n_sw)
		memcpy(b->f_sw, b->sw, b->n_sw * sizeof(*b->f_sw));
	qsort(b->f_sw, b->n_sw, sizeof(*b->f_sw), ftr_u64_cmp);
	for (uint32_t i = 0; i < b->n_sw; i++) {
		b->f_sw[i].first_port = f->n_ports;
		f->n_ports += b->f_sw[i].n_ports + 1u;
	}
	f->sw = b->f_sw;
	f->n_sw = b->n_sw;
	return FTR_ZNEW(f->arena, b->f_ports, f->n_ports) != NULL;
}

/* Set by_holder if some switch was replaced, so that its place has another holder.  FTR_INVAL: one
 * switch holds two places. */
static enum ftr_status lay_holders(struct ftr_builder *b, struct ftr_err *err)
{
	uint32_t n = b->f->n_sw;
	struct ftr_key *key;
	bool any = false;
	ftr_sw *list;

	for (uint32_t i = 0; i < n; i++)
		any |= b->f_sw[i].holder != b->f_sw[i].guid;
	if (!any)
		return FTR_OK;
	if (!FTR_NEW(b->f->arena, list, n) || !FTR_NEW(b->f->arena, key, n))
		return nomem(err);
	for (uint32_t i = 0; i < n; i++)
		key[i] = (struct ftr_key){ b->f_sw[i].holder, i };
	qsort(key, n, sizeof(*key), ftr_u64_cmp);
	for (uint32_t i = 0; i < n; i++) {
		if (i && key[i].key == key[i - 1].key)
			return ftr_fail(err, FTR_INVAL, "switch 0x%016" PRIx64
					" holds two places of the nominal fabric", key[i].key);
		list[i] = key[i].idx;
	}
	b->f->by_holder = list;
	return FTR_OK;
}

static bool lay_endports(struct ftr_builder *b)
{
	struct ftr_fabric *f = b->f;
	struct ftr_map nodes = { 0 };
	bool ok = true;

	if (!FTR_NEW(f->arena, b->f_ep, b->n_ep))
		return false;
	if (b->n_ep)
		memcpy(b->f_ep, b->ep, b->n_ep * sizeof(*b->f_ep));
	qsort(b->f_ep, b->n_ep, sizeof(*b->f_ep), ftr_u64_cmp);
	for (uint32_t i = 0; i < b->n_ep; i++) {
		struct ftr_endport *e = &b->f_ep[i];

		e->node = ftr_map_get(&nodes, e->node_guid);
		if (e->node != FTR_MAP_NONE)
			continue;
		e->node = f->n_nodes++;
		ok = ftr_map_put(&nodes, e->node_guid, e->node);
		if (!ok)
			break;
	}
	ftr_map_fini(&nodes);
	f->ep = b->f_ep;
	f->n_ep = b->n_ep;
	return ok;
}

/* Fill out with one end of a link, as the port at the other end shows it. */
static enum ftr_status find_end(const struct ftr_builder *b, struct ftr_end end,
				struct ftr_end far, struct ftr_swport *out,
				struct ftr_err *err)
{
	ftr_sw s = ftr_fabric_find_sw(b->f, end.node_guid);
	uint32_t i;

	out->peer_port = end.port;
	if (s != FTR_SW_NONE) {
		if (end.port > b->f_sw[s].n_ports)
			return ftr_fail(err, FTR_INVAL, "switch 0x%016" PRIx64
					" has %u ports, but its port %u is connected to node 0x%016"
					PRIx64 " port %u", end.node_guid,
					b->f_sw[s].n_ports, end.port,
					far.node_guid, far.port);
		out->peer = s;
		out->peer_kind = FTR_PEER_SW;
		return FTR_OK;
	}
	i = ftr_map_get(&b->ep_by_end, end_key(end.node_guid, end.port));
	if (i == FTR_MAP_NONE)
		return ftr_fail(err, FTR_INVAL, "node 0x%016" PRIx64
				" port %u is connected to node 0x%016" PRIx64
				" port %u, but there is no such node or host port",
				far.node_guid, far.port, end.node_guid,
				end.port);
	out->peer = ftr_fabric_find_ep(b->f, b->ep[i].guid);
	out->peer_kind = FTR_PEER_EP;
	return FTR_OK;
}

static void plug(struct ftr_builder *b, const struct ftr_swport *near, const struct ftr_swport *far)
{
	if (near->peer_kind == FTR_PEER_SW) {
		b->f_ports[b->f_sw[near->peer].first_port + near->peer_port] = *far;
	} else if (far->peer_kind == FTR_PEER_SW) {
		b->f_ep[near->peer].sw = far->peer;
		b->f_ep[near->peer].sw_port = far->peer_port;
	}
}

static enum ftr_status lay_links(struct ftr_builder *b, struct ftr_err *err)
{
	for (uint32_t i = 0; i < b->n_link; i++) {
		const struct b_link *c = &b->link[i];
		struct ftr_swport x = { .width = c->width, .speed = c->speed }, y = x;
		enum ftr_status st = find_end(b, c->a, c->z, &x, err);

		if (!st)
			st = find_end(b, c->z, c->a, &y, err);
		if (st)
			return st;
		plug(b, &x, &y);
		plug(b, &y, &x);
		if (x.peer_kind == FTR_PEER_SW && y.peer_kind == FTR_PEER_SW)
			b->f->n_sw_links++;
	}
	return FTR_OK;
}

static uint64_t owner_guid(const struct ftr_builder *b, struct ftr_lid_owner o)
{
	return o.kind == FTR_OWNER_SW ? b->f_sw[o.idx].guid : b->f_ep[o.idx].guid;
}

/* Set the owner of the 2^lmc LIDs from lid on.  FTR_INVAL: a LID has an owner already. */
static enum ftr_status own(struct ftr_builder *b, ftr_lid lid, unsigned int lmc,
			   struct ftr_lid_owner mine, struct ftr_err *err)
{
	for (uint32_t k = 0; lid && k < 1u << lmc; k++) {
		struct ftr_lid_owner *o = &b->f_owner[lid + k];

		if (o->kind != FTR_OWNER_NONE)
			return ftr_fail(err, FTR_INVAL, "LID %u of 0x%016" PRIx64
					" is also a LID of 0x%016" PRIx64,
					lid + k, owner_guid(b, mine), owner_guid(b, *o));
		*o = mine;
		o->offset = (uint8_t)k;
	}
	return FTR_OK;
}

static uint32_t last_lid(ftr_lid lid, unsigned int lmc)
{
	return lid ? lid + (1u << lmc) - 1 : 0;
}

static enum ftr_status lay_lids(struct ftr_builder *b, struct ftr_err *err)
{
	struct ftr_fabric *f = b->f;
	uint32_t max = b->max_lid;

	for (uint32_t i = 0; i < f->n_sw; i++)
		max = FTR_MAX(max, last_lid(b->f_sw[i].lid, b->f_sw[i].lmc));
	for (uint32_t i = 0; i < f->n_ep; i++)
		max = FTR_MAX(max, last_lid(b->f_ep[i].lid, b->f_ep[i].lmc));
	if (!FTR_ZNEW(f->arena, b->f_owner, (size_t)max + 1))
		return nomem(err);
	f->max_lid = (ftr_lid)max;
	f->owner = b->f_owner;
	for (uint32_t i = 0; i < f->n_sw + f->n_ep; i++) {
		enum ftr_status st;

		if (i < f->n_sw)
			st = own(b, b->f_sw[i].lid, b->f_sw[i].lmc,
				 (struct ftr_lid_owner){ i, FTR_OWNER_SW, 0 }, err);
		else
			st = own(b, b->f_ep[i - f->n_sw].lid, b->f_ep[i - f->n_sw].lmc,
				 (struct ftr_lid_owner){ i - f->n_sw, FTR_OWNER_EP, 0 }, err);
		if (st)
			return st;
	}
	return FTR_OK;
}

static enum ftr_status lay_out(struct ftr_builder *b, struct ftr_err *err)
{
	enum ftr_status st;

	for (uint32_t i = 0; i < b->n_ep; i++)
		if (ftr_map_get(&b->sw_by_guid, b->ep[i].node_guid) !=
		    FTR_MAP_NONE)
			return ftr_fail(err, FTR_INVAL, "node GUID 0x%016" PRIx64
					" belongs to a switch and to the host port 0x%016"
					PRIx64, b->ep[i].node_guid,
					b->ep[i].guid);
	if (!lay_switches(b) || !lay_endports(b))
		return nomem(err);
	st = lay_holders(b, err);
	if (!st)
		st = lay_links(b, err);
	if (!st)
		st = lay_lids(b, err);
	if (!st && !ftr_mark_shared_names(b->f_sw, b->n_sw, b->f_ep, b->n_ep))
		st = nomem(err);
	b->f->ports = b->f_ports;
	return st;
}

enum ftr_status ftr_builder_freeze(struct ftr_builder *b,
				   struct ftr_fabric **out,
				   struct ftr_err *err)
{
	enum ftr_status st;

	if (!FTR_ZNEW(b->arena, b->f, 1))
		return nomem(err);
	b->f->arena = b->arena;
	st = lay_out(b, err);
	if (st)
		return st;
	*out = b->f;
	b->arena = NULL;	/* it belongs to the fabric now */
	ftr_builder_free(b);
	return FTR_OK;
}
