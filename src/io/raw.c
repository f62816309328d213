// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The raw fabric: the data of a file before it is verified.
 *
 * Topology readers add a node per record and a port per line, each with its line number.
 * When the whole file is read, the two reports of every link are compared:
 *
 *	line 7	[3] of "A" leads to "B"[5], LID 9	near
 *	line 41	[5] of "B" leads to "A"[3]		far
 *
 * In a file that was truncated or edited by hand, a link may be reported by one end only,
 * or differently by its two ends.  Either is an error that names both lines.  A file
 * without any link is rejected as truncated.  Data that pass these checks go to the builder.
 * A tolerant reading notes a one-sided link and leaves it out; OpenSM would not use it
 * either.
 *
 * If one end reports the LID or the port GUID of the other, the value must agree with the
 * other's own record.  If that record has no value, the reported one is used.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"

enum ftr_status ftr_raw_init(struct ftr_raw *r, struct ftr_text *t)
{
	*r = (struct ftr_raw){ .t = t, .arena = ftr_arena_new() };
	return r->arena ? FTR_OK : ftr_text_nomem(t);
}

void ftr_raw_fini(struct ftr_raw *r)
{
	ftr_arena_free(r->arena);
	free(r->node);
	free(r->port);
	free(r->id_slot);
	ftr_map_fini(&r->by_guid);
	ftr_map_fini(&r->by_port);
}

/* ---- names ------------------------------------------------------------- */

static struct ftr_quoted name_of(const struct ftr_raw_node *n)
{
	struct ftr_quoted q;

	if (n->id)
		return ftr_quote(n->id, n->id_len);
	snprintf(q.s, sizeof(q.s), "0x%016" PRIx64, n->guid);
	return q;
}

static struct ftr_quoted far_name(const struct ftr_raw *r,
				  const struct ftr_raw_port *p)
{
	if (p->far != FTR_RAW_NONE)
		return name_of(&r->node[p->far]);
	return ftr_quote(p->far_id, p->far_len);
}

static uint64_t hash(const char *s, size_t len)
{
	uint64_t h = 0xCBF29CE484222325u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 0x100000001B3u;
	return h ^ (h >> 29);
}

/* The slot that holds id, or the free slot where it belongs. */
static uint32_t id_slot(const struct ftr_raw *r, const char *id, size_t len)
{
	uint32_t i = (uint32_t)hash(id, len) & (r->id_cap - 1);

	while (r->id_slot[i] != FTR_RAW_NONE) {
		const struct ftr_raw_node *n = &r->node[r->id_slot[i]];

		if (n->id_len == len && !memcmp(n->id, id, len))
			break;
		i = (i + 1) & (r->id_cap - 1);
	}
	return i;
}

static uint32_t find_id(const struct ftr_raw *r, const char *id, size_t len)
{
	return r->id_cap ? r->id_slot[id_slot(r, id, len)] : FTR_RAW_NONE;
}

static bool id_put(struct ftr_raw *r, uint32_t idx)
{
	uint32_t *slot, cap = r->id_cap ? 2 * r->id_cap : 1024;

	if (2 * (idx + 1) > r->id_cap) {
		slot = ftr_reallocarray(r->id_slot, cap, sizeof(*slot));
		if (!slot)
			return false;
		memset(slot, 0xff, cap * sizeof(*slot));
		r->id_slot = slot;
		r->id_cap = cap;
		for (uint32_t i = 0; i < idx; i++)
			slot[id_slot(r, r->node[i].id, r->node[i].id_len)] = i;
	}
	r->id_slot[id_slot(r, r->node[idx].id, r->node[idx].id_len)] = idx;
	return true;
}

/* ---- adding ------------------------------------------------------------ */

enum ftr_status ftr_raw_add_node(struct ftr_raw *r,
				 const struct ftr_raw_node *n)
{
	uint32_t old = n->id ? find_id(r, n->id, n->id_len) : FTR_RAW_NONE;

	if (old != FTR_RAW_NONE)
		return ftr_text_fail(r->t, FTR_INVAL, "a second record of \"%s\", the first is on line %u",
				     name_of(n).s, r->node[old].line);
	old = ftr_map_get(&r->by_guid, n->guid);
	if (old != FTR_MAP_NONE)
		return ftr_text_fail(r->t, FTR_INVAL, "node GUID 0x%016" PRIx64
				     " of \"%s\" belongs to \"%s\" on line %u already",
				     n->guid, name_of(n).s,
				     name_of(&r->node[old]).s,
				     r->node[old].line);
	if (!FTR_GROW(r->node, r->n_node, r->cap_node))
		return ftr_text_nomem(r->t);
	r->node[r->n_node] = *n;
	if (!ftr_map_put(&r->by_guid, n->guid, r->n_node) ||
	    (n->id && !id_put(r, r->n_node)))
		return ftr_text_nomem(r->t);
	r->n_node++;
	return FTR_OK;
}

enum ftr_status ftr_raw_meet_node(struct ftr_raw *r,
				  const struct ftr_raw_node *n, uint32_t *idx)
{
	*idx = ftr_map_get(&r->by_guid, n->guid);
	if (*idx != FTR_MAP_NONE)
		return FTR_OK;
	*idx = r->n_node;
	return ftr_raw_add_node(r, n);
}

enum ftr_status ftr_raw_same_lid(const struct ftr_raw *r,
				 const struct ftr_raw_node *old,
				 const struct ftr_raw_node *n)
{
	if (old->lid == n->lid)
		return FTR_OK;
	return ftr_text_fail(r->t, FTR_INVAL, "switch 0x%016" PRIx64
			     " has LID %u here but LID %u on line %u", n->guid,
			     n->lid, old->lid, old->line);
}

static uint64_t port_key(uint32_t node, ftr_port num)
{
	return (uint64_t)node << 8 | num;
}

static bool same_far(const struct ftr_raw_port *a, const struct ftr_raw_port *b)
{
	return a->far_num == b->far_num && a->far == b->far &&
	       a->far_len == b->far_len &&
	       (!a->far_id || !memcmp(a->far_id, b->far_id, a->far_len));
}

enum ftr_status ftr_raw_add_port(struct ftr_raw *r,
				 const struct ftr_raw_port *p)
{
	const struct ftr_raw_node *n = &r->node[p->node];
	const struct ftr_raw_port *old;
	uint32_t i;

	if (p->num < 1 || p->num > n->n_ports)
		return ftr_text_fail(r->t, FTR_INVAL, "port %u of \"%s\" does not exist; the node has ports 1..%u",
				     p->num, name_of(n).s, n->n_ports);
	i = ftr_map_get(&r->by_port, port_key(p->node, p->num));
	if (i != FTR_MAP_NONE) {
		old = &r->port[i];
		if (same_far(old, p))
			return FTR_OK;
		return ftr_text_fail(r->t, FTR_INVAL, "port %u of \"%s\" is cabled to \"%s\" port %u, but on line %u to \"%s\" port %u",
				     p->num, name_of(n).s, far_name(r, p).s,
				     p->far_num, old->line,
				     far_name(r, old).s, old->far_num);
	}
	if (!FTR_GROW(r->port, r->n_port, r->cap_port) ||
	    !ftr_map_put(&r->by_port, port_key(p->node, p->num), r->n_port))
		return ftr_text_nomem(r->t);
	r->port[r->n_port++] = *p;
	return FTR_OK;
}

/* ---- verifying --------------------------------------------------------- */

/* Handle a one-sided link, reported on that line: note it and continue if the reading is
 * tolerant, else fail. */
static enum ftr_status one_sided(struct ftr_raw *r, uint32_t line,
				 const char *fmt, va_list ap)
{
	char msg[FTR_ERR_MAX];
	struct ftr_err why;
	enum ftr_status st;

	vsnprintf(msg, sizeof(msg), fmt, ap);
	st = ftr_fail(&why, FTR_INVAL, "%s:%u: %s", r->t->path, line, msg);
	if (!r->tolerant) {
		if (r->t->err)
			*r->t->err = why;
		return st;
	}
	if (!r->notes.one_sided++)
		memcpy(r->notes.first, why.msg, sizeof(r->notes.first));
	return FTR_OK;
}

enum ftr_status ftr_raw_one_sided(struct ftr_raw *r, const char *fmt, ...)
{
	enum ftr_status st;
	va_list ap;

	va_start(ap, fmt);
	st = one_sided(r, r->t->line, fmt, ap);
	va_end(ap);
	return st;
}

/* As one_sided(), for the link of port p, at the line of p; fmt names both ends. */
static enum ftr_status leave_out(struct ftr_raw *r, struct ftr_raw_port *p,
				 const char *fmt, ...) FTR_PRINTF(3, 4);
static enum ftr_status leave_out(struct ftr_raw *r, struct ftr_raw_port *p,
				 const char *fmt, ...)
{
	enum ftr_status st;
	va_list ap;

	p->left_out = true;
	va_start(ap, fmt);
	st = one_sided(r, p->line, fmt, ap);
	va_end(ap);
	return st;
}

static enum ftr_status resolve_one(struct ftr_raw *r, struct ftr_raw_port *p)
{
	const struct ftr_raw_node *near = &r->node[p->node], *far;

	if (p->far == FTR_RAW_NONE)
		p->far = find_id(r, p->far_id, p->far_len);
	if (p->far == FTR_RAW_NONE)
		return leave_out(r, p, "port %u of \"%s\" is cabled to \"%s\", which has no record",
				 p->num, name_of(near).s, far_name(r, p).s);
	far = &r->node[p->far];
	if (p->far_num < 1 || p->far_num > far->n_ports)
		return ftr_text_fail_at(r->t, p->line, FTR_INVAL,
					"port %u of \"%s\" is cabled to port %u of \"%s\", which has ports 1..%u",
					p->num, name_of(near).s, p->far_num,
					name_of(far).s, far->n_ports);
	if (p->far == p->node && p->far_num == p->num)
		return ftr_text_fail_at(r->t, p->line, FTR_INVAL,
					"port %u of \"%s\" is cabled to itself",
					p->num, name_of(near).s);
	return FTR_OK;
}

static enum ftr_status resolve(struct ftr_raw *r)
{
	for (uint32_t i = 0; i < r->n_port; i++) {
		enum ftr_status st = resolve_one(r, &r->port[i]);

		if (st)
			return st;
	}
	return FTR_OK;
}

static enum ftr_status lid_differs(const struct ftr_raw *r, uint32_t line,
				   const struct ftr_raw_node *n, ftr_lid here,
				   ftr_lid there, uint32_t there_line)
{
	return ftr_text_fail_at(r->t, line, FTR_INVAL,
				"\"%s\" has LID %u here but LID %u on line %u",
				name_of(n).s, here, there, there_line);
}

/* Compare what p reports about its far end z with what z reports about itself. */
static enum ftr_status compare(struct ftr_raw *r, const struct ftr_raw_port *p,
			       struct ftr_raw_port *z)
{
	struct ftr_raw_node *far = &r->node[p->far];
	bool is_sw = far->type == FTR_NODE_SWITCH;
	ftr_lid *lid = is_sw ? &far->lid : &z->lid;

	if (p->far_lid && *lid && *lid != p->far_lid)
		return lid_differs(r, p->line, far, p->far_lid, *lid,
				   is_sw ? far->line : z->line);
	if (p->far_lid)
		*lid = p->far_lid;
	if (is_sw || !p->far_guid)
		return FTR_OK;
	if (z->guid && z->guid != p->far_guid)
		return ftr_text_fail_at(r->t, p->line, FTR_INVAL,
					"port %u of \"%s\" has GUID 0x%016"
					PRIx64 " here but 0x%016" PRIx64
					" on line %u", z->num, name_of(far).s,
					p->far_guid, z->guid, z->line);
	z->guid = p->far_guid;
	return FTR_OK;
}

static enum ftr_status match_one(struct ftr_raw *r, struct ftr_raw_port *p)
{
	uint32_t j = ftr_map_get(&r->by_port, port_key(p->far, p->far_num));
	struct ftr_raw_port *z;

	if (j == FTR_MAP_NONE)
		return leave_out(r, p, "port %u of \"%s\" is cabled to \"%s\" port %u, but the record of \"%s\" (line %u) has no line for that port",
				 p->num, name_of(&r->node[p->node]).s,
				 far_name(r, p).s, p->far_num,
				 far_name(r, p).s, r->node[p->far].line);
	z = &r->port[j];
	if (z->far != p->node || z->far_num != p->num)
		return leave_out(r, p, "port %u of \"%s\" is cabled to \"%s\" port %u, but line %u cables that port to \"%s\" port %u",
				 p->num, name_of(&r->node[p->node]).s,
				 far_name(r, p).s, p->far_num, z->line,
				 far_name(r, z).s, z->far_num);
	return compare(r, p, z);
}

static enum ftr_status match_ends(struct ftr_raw *r)
{
	for (uint32_t i = 0; i < r->n_port; i++) {
		enum ftr_status st = r->port[i].left_out ? FTR_OK :
				     match_one(r, &r->port[i]);

		if (st)
			return st;
	}
	return FTR_OK;
}

/* ---- building ---------------------------------------------------------- */

struct build {
	struct ftr_raw *r;
	struct ftr_builder *b;
	uint32_t *lid_line;	/* [FTR_LID_MAX + 1] line of the owner, or 0 */
	bool lids_missing;
};

static enum ftr_status own_lids(struct build *x, uint32_t line,
				const struct ftr_raw_node *n, ftr_lid lid,
				unsigned int lmc)
{
	if (!lid) {
		x->lids_missing = true;
		return FTR_OK;
	}
	for (uint32_t k = lid; k < lid + (1u << lmc); k++) {
		if (x->lid_line[k])
			return ftr_text_fail_at(x->r->t, line, FTR_INVAL,
						"LID %u of \"%s\" belongs to the node on line %u already",
						k, name_of(n).s,
						x->lid_line[k]);
		x->lid_line[k] = line;
	}
	return FTR_OK;
}

/* Prefix the builder's message with the file and line. */
static enum ftr_status placed(const struct ftr_raw *r, uint32_t line,
			      enum ftr_status st)
{
	if (st && st != FTR_NOMEM)
		ftr_err_prefix(r->t->err, "%s:%u", r->t->path, line);
	return st;
}

static char *copy_name(struct ftr_raw *r, const struct ftr_raw_node *n)
{
	return ftr_arena_strndup(r->arena, n->name,
				 FTR_MIN(n->name_len, FTR_NAME_MAX));
}

static enum ftr_status add_switches(struct build *x)
{
	struct ftr_raw *r = x->r;

	for (uint32_t i = 0; i < r->n_node; i++) {
		const struct ftr_raw_node *n = &r->node[i];
		enum ftr_status st;
		char *name;

		if (n->type != FTR_NODE_SWITCH)
			continue;
		name = copy_name(r, n);
		if (!name)
			return ftr_text_nomem(r->t);
		st = ftr_builder_add_switch(x->b, n->guid, n->n_ports, n->lid,
					    n->lmc, name, r->t->err);
		st = placed(r, n->line, st);
		if (!st)
			st = own_lids(x, n->line, n, n->lid, n->lmc);
		if (st)
			return st;
	}
	return FTR_OK;
}

static enum ftr_status add_endport(struct build *x,
				   const struct ftr_raw_port *p)
{
	struct ftr_raw *r = x->r;
	const struct ftr_raw_node *n = &r->node[p->node];
	uint64_t guid = p->guid ? p->guid : n->guid + p->num;
	char *name = copy_name(r, n);
	enum ftr_status st;

	if (!name)
		return ftr_text_nomem(r->t);
	st = ftr_builder_add_endport(x->b, n->type, n->guid, guid, p->num,
				     p->lid, p->lid ? p->lmc : 0, name,
				     r->t->err);
	st = placed(r, p->line, st);
	if (!st)
		st = own_lids(x, p->line, n, p->lid, p->lmc);
	return st;
}

static enum ftr_status add_ports(struct build *x)
{
	struct ftr_raw *r = x->r;

	for (uint32_t i = 0; i < r->n_port; i++) {
		const struct ftr_raw_port *p = &r->port[i];
		struct ftr_end a = { r->node[p->node].guid, p->num }, z;
		enum ftr_status st = FTR_OK;

		if (r->node[p->node].type != FTR_NODE_SWITCH)
			st = add_endport(x, p);
		if (st)
			return st;
		if (p->left_out)
			continue;
		z = (struct ftr_end){ r->node[p->far].guid, p->far_num };
		st = placed(r, p->line,
			    ftr_builder_add_link(x->b, a, z, p->width,
						 p->speed, r->t->err));
		if (st)
			return st;
	}
	return FTR_OK;
}

static enum ftr_status publish(struct build *x, unsigned int lmc,
			       struct ftr_fabric **out)
{
	struct ftr_text *t = x->r->t;
	enum ftr_status st = add_switches(x);

	if (!st)
		st = add_ports(x);
	if (st)
		return st;
	if (x->lids_missing)
		st = ftr_builder_assign_lids(x->b, lmc, t->err);
	if (!st)
		st = ftr_builder_freeze(x->b, out, t->err);
	if (!st)
		x->b = NULL;
	else if (st != FTR_NOMEM)
		ftr_err_prefix(t->err, "%s", t->path);
	return st;
}

enum ftr_status ftr_raw_build(struct ftr_raw *r, unsigned int lmc,
			      struct ftr_fabric **out)
{
	struct build x = { .r = r };
	enum ftr_status st;

	if (!r->n_node)
		return ftr_text_fail(r->t, FTR_PARSE, "the file contains no node");
	if (!r->n_port)
		return ftr_text_fail(r->t, FTR_PARSE, "the file contains no link");
	st = resolve(r);
	if (!st)
		st = match_ends(r);
	if (st)
		return st;
	x.b = ftr_builder_new();
	x.lid_line = ftr_calloc(FTR_LID_MAX + 1, sizeof(*x.lid_line));
	if (!x.b || !x.lid_line)
		st = ftr_text_nomem(r->t);
	else
		st = publish(&x, lmc, out);
	ftr_builder_free(x.b);
	free(x.lid_line);
	return st;
}
