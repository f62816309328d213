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
	struct ftr_map sw_by_guid;
	struct ftr_map ep_by_end;	/* keys: end_key() */
	struct ftr_map ep_by_guid;
	struct ftr_map link_by_end;
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

/* Merge the LID and LMC of a second description into those of the first; LID 0: unknown. */
static enum ftr_status merge_lid(ftr_lid *lid, uint8_t *lmc, ftr_lid lid2,
				 unsigned int lmc2, const char *what,
				 uint64_t guid, struct ftr_err *err)
{
	if (!lid2)
		return FTR_OK;
	if (*lid && (*lid != lid2 || *lmc != lmc2))
		return ftr_fail(err, FTR_INVAL, "%s 0x%016" PRIx64
				" has LID %u (LMC %u) here but LID %u (LMC %u) before",
				what, guid, lid2, lmc2, *lid, *lmc);
	*lid = lid2;
	*lmc = (uint8_t)lmc2;
	return FTR_OK;
}

static enum ftr_status check_lid(ftr_lid lid, unsigned int lmc,
				 const char *what, uint64_t guid,
				 struct ftr_err *err)
{
	if (lmc > FTR_LMC_MAX)
		return ftr_fail(err, FTR_INVAL, "%s 0x%016" PRIx64
				": LMC %u is above the maximum %u", what, guid, lmc,
				FTR_LMC_MAX);
	if (lid && ((lid & ((1u << lmc) - 1)) ||
		    lid + (1u << lmc) - 1 > FTR_LID_MAX))
		return ftr_fail(err, FTR_INVAL, "%s 0x%016" PRIx64
				": base LID %u with LMC %u: it must be a multiple of %u, and the last LID at most %u",
				what, guid, lid, lmc, 1u << lmc, FTR_LID_MAX);
	return FTR_OK;
}

enum ftr_status ftr_builder_add_switch(struct ftr_builder *b, uint64_t guid,
				       unsigned int n_ports, ftr_lid lid,
				       unsigned int lmc, const char *name,
				       struct ftr_err *err)
{
	enum ftr_status st = check_lid(lid, lmc, "switch", guid, err);
	struct ftr_switch *s;
	const char *copy;
	uint32_t i;

	if (st)
		return st;
	if (n_ports < 1 || n_ports > FTR_PORT_MAX)
		return ftr_fail(err, FTR_INVAL, "switch 0x%016" PRIx64
				" has %u ports (allowed: 1 to %u)", guid, n_ports,
				FTR_PORT_MAX);
	i = ftr_map_get(&b->sw_by_guid, guid);
	if (i != FTR_MAP_NONE) {
		s = &b->sw[i];
		if (s->n_ports != n_ports)
			return ftr_fail(err, FTR_INVAL, "switch 0x%016" PRIx64
					" has %u ports here but %u before",
					guid, n_ports, s->n_ports);
		return merge_lid(&s->lid, &s->lmc, lid, lmc, "switch", guid,
				 err);
	}
	copy = copy_name(b, name);
	if (!copy || !FTR_GROW(b->sw, b->n_sw, b->cap_sw) ||
	    !ftr_map_put(&b->sw_by_guid, guid, b->n_sw))
		return nomem(err);
	b->sw[b->n_sw++] = (struct ftr_switch){
		.guid = guid, .holder = guid, .lid = lid, .lmc = (uint8_t)lmc,
		.n_ports = (ftr_port)n_ports, .name = copy,
	};
	return FTR_OK;
}

enum ftr_status ftr_builder_hold(struct ftr_builder *b, uint64_t guid,
				 uint64_t holder, struct ftr_err *err)
{
	uint32_t i = ftr_map_get(&b->sw_by_guid, guid);

	if (i == FTR_MAP_NONE)
		return ftr_fail(err, FTR_INVAL, "switch 0x%016" PRIx64
				" holds the place of switch 0x%016" PRIx64
				", which was not added", holder, guid);
	b->sw[i].holder = holder;
	return FTR_OK;
}

static const char *end_type(enum ftr_node_type type)
{
	return type == FTR_NODE_ROUTER ? "router" : "channel adapter";
}

enum ftr_status ftr_builder_add_endport(struct ftr_builder *b,
					enum ftr_node_type type,
					uint64_t node_guid, uint64_t port_guid,
					unsigned int port_num, ftr_lid lid,
					unsigned int lmc, const char *name,
					struct ftr_err *err)
{
	enum ftr_status st = check_lid(lid, lmc, "port", port_guid, err);
	struct ftr_endport *e;
	const char *copy;
	uint64_t key;
	uint32_t i;

	if (st)
		return st;
	if (type != FTR_NODE_CA && type != FTR_NODE_ROUTER)
		return ftr_fail(err, FTR_INVAL, "port 0x%016" PRIx64
				": node type %d is not that of an end node", port_guid,
				(int)type);
	if (port_num < 1 || port_num > FTR_PORT_MAX)
		return ftr_fail(err, FTR_INVAL, "node 0x%016" PRIx64
				": port number %u (allowed: 1 to %u)", node_guid,
				port_num, FTR_PORT_MAX);
	key = end_key(node_guid, (ftr_port)port_num);
	i = ftr_map_get(&b->ep_by_end, key);
	if (i != FTR_MAP_NONE) {
		e = &b->ep[i];
		if (e->guid != port_guid)
			return ftr_fail(err, FTR_INVAL, "node 0x%016" PRIx64
					" port %u has port GUID 0x%016" PRIx64
					" here but 0x%016" PRIx64 " before",
					node_guid, port_num, port_guid,
					e->guid);
		if (e->type != type)
			return ftr_fail(err, FTR_INVAL, "node 0x%016" PRIx64
					" is a %s here but a %s before", node_guid,
					end_type(type),
					end_type((enum ftr_node_type)e->type));
		return merge_lid(&e->lid, &e->lmc, lid, lmc, "port",
				 port_guid, err);
	}
	i = ftr_map_get(&b->ep_by_guid, port_guid);
	if (i != FTR_MAP_NONE) {
		e = &b->ep[i];
		return ftr_fail(err, FTR_INVAL, "port GUID 0x%016" PRIx64
				" on node 0x%016" PRIx64
				" port %u was already given to node 0x%016"
				PRIx64 " port %u", port_guid, node_guid,
				port_num, e->node_guid, e->port_num);
	}
	copy = copy_name(b, name);
	if (!copy || !FTR_GROW(b->ep, b->n_ep, b->cap_ep) ||
	    !ftr_map_put(&b->ep_by_end, key, b->n_ep) ||
	    !ftr_map_put(&b->ep_by_guid, port_guid, b->n_ep))
		return nomem(err);
	b->ep[b->n_ep++] = (struct ftr_endport){
		.guid = port_guid, .node_guid = node_guid, .sw = FTR_SW_NONE,
		.lid = lid, .lmc = (uint8_t)lmc, .type = (uint8_t)type,
		.port_num = (ftr_port)port_num, .name = copy,
	};
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

struct lid_want {
	uint64_t guid;
	ftr_lid *lid;
	uint8_t lmc;
};

static void mark(uint8_t *used, ftr_lid lid, unsigned int lmc)
{
	if (lid)
		memset(used + lid, 1, 1u << lmc);
}

enum ftr_status ftr_builder_assign_lids(struct ftr_builder *b,
					unsigned int lmc, struct ftr_err *err)
{
	struct lid_want *want;
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
			want[n++] = (struct lid_want){ b->sw[i].guid,
						       &b->sw[i].lid, 0 };
		}
	}
	for (uint32_t i = 0; i < b->n_ep; i++) {
		mark(used, b->ep[i].lid, b->ep[i].lmc);
		if (!b->ep[i].lid) {
			b->ep[i].lmc = (uint8_t)lmc;
			want[n++] = (struct lid_want){ b->ep[i].guid,
						       &b->ep[i].lid,
						       (uint8_t)lmc };
		}
	}
	qsort(want, n, sizeof(*want), ftr_u64_cmp);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t size = 1u << want[i].lmc, lid;

		lid = (next + size - 1) & ~(size - 1);
		while (lid + size - 1 <= FTR_LID_MAX &&
		       memchr(used + lid, 1, size))
			lid += size;
		if (lid + size - 1 > FTR_LID_MAX) {
			st = ftr_fail(err, FTR_LIMIT, "%u nodes with LMC %u need more than the %u unicast LIDs",
				      b->n_sw + b->n_ep, lmc, FTR_LID_MAX);
			goto out;
		}
		*want[i].lid = (ftr_lid)lid;
		next = lid + size;
	}
out:
	free(want);
	free(used);
	return st;
}

/* ---- freezing ---------------------------------------------------------- */

/* The fabric under construction, and writable pointers to its arrays. */
struct frozen {
	struct ftr_fabric *f;
	struct ftr_switch *sw;
	struct ftr_endport *ep;
	struct ftr_swport *ports;
};

static bool lay_switches(const struct ftr_builder *b, struct frozen *z)
{
	struct ftr_fabric *f = z->f;

	if (!FTR_NEW(f->arena, z->sw, b->n_sw))
		return false;
	if (b->n_sw)
		memcpy(z->sw, b->sw, b->n_sw * sizeof(*z->sw));
	qsort(z->sw, b->n_sw, sizeof(*z->sw), ftr_u64_cmp);
	for (uint32_t i = 0; i < b->n_sw; i++) {
		z->sw[i].first_port = f->n_ports;
		f->n_ports += z->sw[i].n_ports + 1u;
	}
	f->sw = z->sw;
	f->n_sw = b->n_sw;
	return FTR_ZNEW(f->arena, z->ports, f->n_ports) != NULL;
}

/* Set by_holder if some switch was replaced, so that its place has another holder.  FTR_INVAL: one
 * switch holds two places. */
static enum ftr_status lay_holders(struct frozen *z, struct ftr_err *err)
{
	uint32_t n = z->f->n_sw;
	struct held {
		uint64_t holder;
		ftr_sw sw;
	} *key;
	bool any = false;
	ftr_sw *list;

	for (uint32_t i = 0; i < n; i++)
		any |= z->sw[i].holder != z->sw[i].guid;
	if (!any)
		return FTR_OK;
	if (!FTR_NEW(z->f->arena, list, n) || !FTR_NEW(z->f->arena, key, n))
		return nomem(err);
	for (uint32_t i = 0; i < n; i++)
		key[i] = (struct held){ z->sw[i].holder, i };
	qsort(key, n, sizeof(*key), ftr_u64_cmp);
	for (uint32_t i = 0; i < n; i++) {
		if (i && key[i].holder == key[i - 1].holder)
			return ftr_fail(err, FTR_INVAL, "switch 0x%016" PRIx64
					" holds two places of the nominal fabric", key[i].holder);
		list[i] = key[i].sw;
	}
	z->f->by_holder = list;
	return FTR_OK;
}

static bool lay_endports(const struct ftr_builder *b, struct frozen *z)
{
	struct ftr_fabric *f = z->f;
	struct ftr_map nodes = { 0 };
	bool ok = true;

	if (!FTR_NEW(f->arena, z->ep, b->n_ep))
		return false;
	if (b->n_ep)
		memcpy(z->ep, b->ep, b->n_ep * sizeof(*z->ep));
	qsort(z->ep, b->n_ep, sizeof(*z->ep), ftr_u64_cmp);
	for (uint32_t i = 0; ok && i < b->n_ep; i++) {
		struct ftr_endport *e = &z->ep[i];

		e->node = ftr_map_get(&nodes, e->node_guid);
		if (e->node == FTR_MAP_NONE) {
			e->node = f->n_nodes++;
			ok = ftr_map_put(&nodes, e->node_guid, e->node);
		}
	}
	ftr_map_fini(&nodes);
	f->ep = z->ep;
	f->n_ep = b->n_ep;
	return ok;
}

/* One end of a link, with the index of its switch or host port. */
struct found_end {
	uint8_t kind;
	uint32_t idx;
	ftr_port port;
};

static enum ftr_status find_end(const struct ftr_builder *b,
				const struct frozen *z, struct ftr_end end,
				struct ftr_end far, struct found_end *out,
				struct ftr_err *err)
{
	ftr_sw s = ftr_fabric_find_sw(z->f, end.node_guid);
	uint32_t i;

	if (s != FTR_SW_NONE) {
		if (end.port > z->sw[s].n_ports)
			return ftr_fail(err, FTR_INVAL, "switch 0x%016" PRIx64
					" has %u ports, but its port %u is connected to node 0x%016"
					PRIx64 " port %u", end.node_guid,
					z->sw[s].n_ports, end.port,
					far.node_guid, far.port);
		*out = (struct found_end){ FTR_PEER_SW, s, end.port };
		return FTR_OK;
	}
	i = ftr_map_get(&b->ep_by_end, end_key(end.node_guid, end.port));
	if (i == FTR_MAP_NONE)
		return ftr_fail(err, FTR_INVAL, "node 0x%016" PRIx64
				" port %u is connected to node 0x%016" PRIx64
				" port %u, but there is no such node or host port",
				far.node_guid, far.port, end.node_guid,
				end.port);
	*out = (struct found_end){ FTR_PEER_EP,
				   ftr_fabric_find_ep(z->f, b->ep[i].guid),
				   end.port };
	return FTR_OK;
}

static void plug(struct frozen *z, const struct found_end *near,
		 const struct found_end *far, const struct b_link *c)
{
	if (near->kind == FTR_PEER_SW) {
		struct ftr_swport *p =
			&z->ports[z->sw[near->idx].first_port + near->port];

		p->peer = far->idx;
		p->peer_kind = far->kind;
		p->peer_port = far->port;
		p->width = c->width;
		p->speed = c->speed;
	} else if (far->kind == FTR_PEER_SW) {
		z->ep[near->idx].sw = far->idx;
		z->ep[near->idx].sw_port = far->port;
	}
}

static enum ftr_status lay_links(const struct ftr_builder *b,
				 struct frozen *z, struct ftr_err *err)
{
	for (uint32_t i = 0; i < b->n_link; i++) {
		const struct b_link *c = &b->link[i];
		struct found_end x, y;
		enum ftr_status st = find_end(b, z, c->a, c->z, &x, err);

		if (!st)
			st = find_end(b, z, c->z, c->a, &y, err);
		if (st)
			return st;
		plug(z, &x, &y, c);
		plug(z, &y, &x, c);
		if (x.kind == FTR_PEER_SW && y.kind == FTR_PEER_SW)
			z->f->n_sw_links++;
	}
	return FTR_OK;
}

/* Set the owner of the LIDs of one switch or host port.  FTR_INVAL: a LID has an owner already. */
static enum ftr_status own(struct ftr_lid_owner *owner, ftr_lid lid,
			   unsigned int lmc, uint8_t kind, uint32_t idx,
			   uint64_t guid, const struct frozen *z,
			   struct ftr_err *err)
{
	if (!lid)
		return FTR_OK;
	for (uint32_t k = 0; k < 1u << lmc; k++) {
		struct ftr_lid_owner *o = &owner[lid + k];

		if (o->kind != FTR_OWNER_NONE)
			return ftr_fail(err, FTR_INVAL, "LID %u of 0x%016" PRIx64
					" is also a LID of 0x%016" PRIx64,
					lid + k, guid,
					o->kind == FTR_OWNER_SW ?
					z->sw[o->idx].guid :
					z->ep[o->idx].guid);
		o->kind = kind;
		o->idx = idx;
		o->offset = (uint8_t)k;
	}
	return FTR_OK;
}

static uint32_t last_lid(ftr_lid lid, unsigned int lmc)
{
	return lid ? lid + (1u << lmc) - 1 : 0;
}

static enum ftr_status lay_lids(struct frozen *z, struct ftr_err *err)
{
	struct ftr_fabric *f = z->f;
	struct ftr_lid_owner *owner;
	enum ftr_status st = FTR_OK;
	uint32_t max = 0;

	for (uint32_t i = 0; i < f->n_sw; i++)
		max = FTR_MAX(max, last_lid(z->sw[i].lid, z->sw[i].lmc));
	for (uint32_t i = 0; i < f->n_ep; i++)
		max = FTR_MAX(max, last_lid(z->ep[i].lid, z->ep[i].lmc));
	if (!FTR_ZNEW(f->arena, owner, (size_t)max + 1))
		return nomem(err);
	f->max_lid = (ftr_lid)max;
	f->owner = owner;
	for (uint32_t i = 0; !st && i < f->n_sw; i++)
		st = own(owner, z->sw[i].lid, z->sw[i].lmc, FTR_OWNER_SW, i,
			 z->sw[i].guid, z, err);
	for (uint32_t i = 0; !st && i < f->n_ep; i++)
		st = own(owner, z->ep[i].lid, z->ep[i].lmc, FTR_OWNER_EP, i,
			 z->ep[i].guid, z, err);
	return st;
}

static enum ftr_status lay_out(const struct ftr_builder *b, struct frozen *z,
			       struct ftr_err *err)
{
	enum ftr_status st;

	for (uint32_t i = 0; i < b->n_ep; i++)
		if (ftr_map_get(&b->sw_by_guid, b->ep[i].node_guid) !=
		    FTR_MAP_NONE)
			return ftr_fail(err, FTR_INVAL, "node GUID 0x%016" PRIx64
					" belongs to a switch and to the host port 0x%016"
					PRIx64, b->ep[i].node_guid,
					b->ep[i].guid);
	if (!lay_switches(b, z) || !lay_endports(b, z))
		return nomem(err);
	st = lay_holders(z, err);
	if (!st)
		st = lay_links(b, z, err);
	if (!st)
		st = lay_lids(z, err);
	if (!st && !ftr_mark_shared_names(z->sw, b->n_sw, z->ep, b->n_ep))
		st = nomem(err);
	z->f->ports = z->ports;
	return st;
}

enum ftr_status ftr_builder_freeze(struct ftr_builder *b,
				   struct ftr_fabric **out,
				   struct ftr_err *err)
{
	struct frozen z = { 0 };
	enum ftr_status st;

	if (!FTR_ZNEW(b->arena, z.f, 1))
		return nomem(err);
	z.f->arena = b->arena;
	st = lay_out(b, &z, err);
	if (st)
		return st;
	*out = z.f;
	b->arena = NULL;	/* it belongs to the fabric now */
	ftr_builder_free(b);
	return FTR_OK;
}
