// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The raw fabric: the nodes and ports of a netfile, before they are verified.
 *
 * The reader adds the nodes and ports of the file, each with its line number.  When
 * the whole file has been read, the lines of the two ends of every link are compared:
 *
 *	line 7	[3] of "A" leads to "B"[5], LID 9	near
 *	line 41	[5] of "B" leads to "A"[3]		far
 *
 * In a file that was truncated or edited, the two lines may contradict each other, or one may be
 * missing.  Both are errors; the message names the lines.  A file without any link is rejected as
 * truncated.  If there is no error, the data go to the builder.
 *
 * A link is one-sided if the line of its far end is missing, or shows another link or none.  With
 * ftr_raw.tolerant, such a link is counted and left out, as OpenSM would do.
 *
 * Nodes are found by the hash of their id.  If two ids have the same hash, the second node gets
 * the next free number as its key.
 *
 * The line of one end may show the LID or the port GUID of the other end.  The lines of the other
 * end must show the same value or none.  If they show none, the value from the first line is used.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/raw.h"

bool ftr_raw_init(struct ftr_raw *r, struct ftr_text *t, bool tolerant)
{
	*r = (struct ftr_raw){ .t = t, .arena = ftr_arena_new(),
			       .tolerant = tolerant };
	return r->arena || ftr_text_nomem(t);
}

void ftr_raw_fini(struct ftr_raw *r)
{
	ftr_arena_free(r->arena);
	free(r->node);
	free(r->port);
	ftr_map_fini(&r->by_id);
	ftr_map_fini(&r->by_guid);
	ftr_map_fini(&r->by_port);
}

/* ---- names ------------------------------------------------------------- */

static struct ftr_quoted name_of(const struct ftr_raw_node *n)
{
	return ftr_quote_cur(&n->id);
}

static struct ftr_quoted far_name(const struct ftr_raw_port *p)
{
	return ftr_quote_cur(&p->far_id);
}

/* Returns the node with this id, or NONE. Sets *key to its key in by_id, or to the key that a new
 * node would get. */
static uint32_t find_id(const struct ftr_raw *r, const struct ftr_cur *id,
			uint64_t *key)
{
	*key = ftr_hash(FTR_HASH_INIT, id->p, ftr_cur_len(id));
	for (;; ++*key) {
		uint32_t i = ftr_map_get(&r->by_id, *key);

		if (i == FTR_MAP_NONE)
			return i;
		if (ftr_cur_same(&r->node[i].id, id))
			return i;
	}
}

/* ---- adding ------------------------------------------------------------ */

bool ftr_raw_add_node(struct ftr_raw *r, const struct ftr_raw_node *n)
{
	uint64_t key;
	uint32_t old = find_id(r, &n->id, &key);

	if (old != FTR_RAW_NONE)
		return ftr_text_fail(r->t, FTR_INVAL, "a second record of \"%s\", the first is on line %u",
				     name_of(n).s, r->node[old].line);
	old = ftr_map_get(&r->by_guid, n->guid);
	if (old != FTR_MAP_NONE)
		return ftr_text_fail(r->t, FTR_INVAL, "\"%s\" and \"%s\" (line %u) have the same node GUID 0x%016"
				     PRIx64, name_of(n).s,
				     name_of(&r->node[old]).s,
				     r->node[old].line, n->guid);
	if (!FTR_GROW(r->node, r->n_node, r->cap_node) ||
	    !ftr_map_put(&r->by_guid, n->guid, r->n_node) ||
	    !ftr_map_put(&r->by_id, key, r->n_node))
		return ftr_text_nomem(r->t);
	r->node[r->n_node++] = *n;
	return true;
}

static uint64_t port_key(uint32_t node, ftr_port num)
{
	return (uint64_t)node << 8 | num;
}

static bool same_far(const struct ftr_raw_port *a, const struct ftr_raw_port *b)
{
	return a->far_num == b->far_num && ftr_cur_same(&a->far_id, &b->far_id);
}

bool ftr_raw_add_port(struct ftr_raw *r, const struct ftr_raw_port *p)
{
	const struct ftr_raw_node *n = &r->node[p->node];
	const struct ftr_raw_port *old;
	uint32_t i;

	if (p->num > n->n_ports)
		return ftr_text_fail(r->t, FTR_INVAL, "port %u of \"%s\" does not exist; the node has ports 1..%u",
				     p->num, name_of(n).s, n->n_ports);
	i = ftr_map_get(&r->by_port, port_key(p->node, p->num));
	if (i != FTR_MAP_NONE) {
		old = &r->port[i];
		if (same_far(old, p))
			return true;
		return ftr_text_fail(r->t, FTR_INVAL, "port %u of \"%s\" is connected to \"%s\" port %u here but to \"%s\" port %u on line %u",
				     p->num, name_of(n).s, far_name(p).s, p->far_num,
				     far_name(old).s, old->far_num, old->line);
	}
	if (!FTR_GROW(r->port, r->n_port, r->cap_port) ||
	    !ftr_map_put(&r->by_port, port_key(p->node, p->num), r->n_port))
		return ftr_text_nomem(r->t);
	r->port[r->n_port++] = *p;
	return true;
}

/* ---- verifying --------------------------------------------------------- */

static bool one_sided(struct ftr_raw *r, uint32_t line, const char *fmt, ...) FTR_PRINTF(3, 4);

/* Handles a link that only one end reports: an error or, if r->tolerant is true, only counted. */
static bool one_sided(struct ftr_raw *r, uint32_t line, const char *fmt, ...)
{
	char msg[FTR_ERR_MAX];
	struct ftr_err why;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	if (!r->tolerant)
		return ftr_text_fail_at(r->t, line, FTR_INVAL, "%s", msg);
	ftr_fail(&why, FTR_INVAL, "%s:%u: %s", r->t->path, line, msg);
	if (!r->notes.one_sided++)
		memcpy(r->notes.first, why.msg, sizeof(r->notes.first));
	return true;
}

static bool resolve(struct ftr_raw *r, struct ftr_raw_port *p)
{
	const struct ftr_raw_node *near = &r->node[p->node], *far;
	uint64_t key;

	p->far = find_id(r, &p->far_id, &key);
	if (p->far == FTR_RAW_NONE) {
		p->left_out = true;
		return one_sided(r, p->line, "port %u of \"%s\" is connected to \"%s\", which is not in the file",
				 p->num, name_of(near).s, far_name(p).s);
	}
	far = &r->node[p->far];
	if (p->far_num > far->n_ports)
		return ftr_text_fail_at(r->t, p->line, FTR_INVAL,
					"port %u of \"%s\" is connected to port %u of \"%s\", which has ports 1..%u",
					p->num, name_of(near).s, p->far_num,
					name_of(far).s, far->n_ports);
	return p->far != p->node || p->far_num != p->num ||
		ftr_text_fail_at(r->t, p->line, FTR_INVAL,
				 "port %u of \"%s\" is connected to itself",
				 p->num, name_of(near).s);
}

/* Compare what the line of p shows about its far end z with the data of z. */
static bool compare(struct ftr_raw *r, const struct ftr_raw_port *p,
		    struct ftr_raw_port *z)
{
	struct ftr_raw_node *far = &r->node[p->far];
	bool is_sw = far->type == FTR_NODE_SWITCH;
	ftr_lid *lid = is_sw ? &far->lid : &z->lid;

	if (p->far_lid && *lid && *lid != p->far_lid)
		return ftr_text_fail_at(r->t, p->line, FTR_INVAL,
					"\"%s\" has LID %u here but LID %u on line %u",
					name_of(far).s, p->far_lid, *lid,
					is_sw ? far->line : z->line);
	if (p->far_lid)
		*lid = p->far_lid;
	if (is_sw || !p->far_guid)
		return true;
	if (z->guid && z->guid != p->far_guid)
		return ftr_text_fail_at(r->t, p->line, FTR_INVAL,
					"port %u of \"%s\" has GUID 0x%016"
					PRIx64 " here but 0x%016" PRIx64
					" on line %u", z->num, name_of(far).s,
					p->far_guid, z->guid, z->line);
	z->guid = p->far_guid;
	return true;
}

static bool match_ends(struct ftr_raw *r, struct ftr_raw_port *p)
{
	uint32_t j = ftr_map_get(&r->by_port, port_key(p->far, p->far_num));
	struct ftr_raw_port *z;

	p->left_out = true;
	if (j == FTR_MAP_NONE)
		return one_sided(r, p->line, "port %u of \"%s\" is connected to \"%s\" port %u, but the record of \"%s\" (line %u) has no line for that port",
				 p->num, name_of(&r->node[p->node]).s, far_name(p).s, p->far_num,
				 far_name(p).s, r->node[p->far].line);
	z = &r->port[j];
	if (z->far != p->node || z->far_num != p->num)
		return one_sided(r, p->line, "port %u of \"%s\" is connected to \"%s\" port %u, but line %u connects that port to \"%s\" port %u",
				 p->num, name_of(&r->node[p->node]).s, far_name(p).s, p->far_num,
				 z->line, far_name(z).s, z->far_num);
	p->left_out = false;
	return compare(r, p, z);
}

static bool verify(struct ftr_raw *r)
{
	for (uint32_t i = 0; i < r->n_port; i++)
		if (!resolve(r, &r->port[i]))
			return false;
	for (uint32_t i = 0; i < r->n_port; i++)
		if (!r->port[i].left_out && !match_ends(r, &r->port[i]))
			return false;
	return true;
}

/* ---- building ---------------------------------------------------------- */

static bool own_lids(struct ftr_raw *r, uint32_t line,
		     const struct ftr_raw_node *n, ftr_lid lid, unsigned int lmc)
{
	if (!lid) {
		r->lids_missing = true;
		return true;
	}
	for (uint32_t k = lid; k < lid + (1u << lmc); k++) {
		if (r->lid_line[k])
			return ftr_text_fail_at(r->t, line, FTR_INVAL,
						"LID %u of \"%s\" is also a LID of the node on line %u",
						k, name_of(n).s,
						r->lid_line[k]);
		r->lid_line[k] = line;
	}
	return true;
}

/* Record the result st of a call of the builder. On an error, put file and line before its
 * message. */
static bool placed(const struct ftr_raw *r, uint32_t line, enum ftr_status st)
{
	if (st && st != FTR_NOMEM)
		ftr_err_prefix(r->t->err, "%s:%u", r->t->path, line);
	return ftr_text_ok(r->t, st);
}

static char *copy_name(struct ftr_raw *r, const struct ftr_raw_node *n)
{
	char *name = ftr_arena_strndup(r->arena, n->name.p,
				       FTR_MIN(ftr_cur_len(&n->name), FTR_NAME_MAX));

	if (!name)
		ftr_text_nomem(r->t);
	return name;
}

static bool add_switch(struct ftr_raw *r, const struct ftr_raw_node *n)
{
	const struct ftr_switch s = {
		.guid = n->guid, .n_ports = n->n_ports, .lid = n->lid, .lmc = n->lmc,
		.name = copy_name(r, n),
	};

	return s.name &&
		placed(r, n->line, ftr_builder_add_switch(r->builder, &s, r->t->err)) &&
		own_lids(r, n->line, n, n->lid, n->lmc);
}

static bool add_endport(struct ftr_raw *r, const struct ftr_raw_port *p)
{
	const struct ftr_raw_node *n = &r->node[p->node];
	const struct ftr_endport e = {
		.guid = p->guid ? p->guid : n->guid + p->num, .node_guid = n->guid,
		.port_num = p->num, .type = n->type, .lid = p->lid, .lmc = p->lid ? p->lmc : 0,
		.name = copy_name(r, n),
	};

	return e.name &&
		placed(r, p->line, ftr_builder_add_endport(r->builder, &e, r->t->err)) &&
		own_lids(r, p->line, n, p->lid, p->lmc);
}

static bool add_link(struct ftr_raw *r, const struct ftr_raw_port *p)
{
	struct ftr_end a = { r->node[p->node].guid, p->num };
	struct ftr_end z = { r->node[p->far].guid, p->far_num };

	return placed(r, p->line,
		      ftr_builder_add_link(r->builder, a, z, p->width, p->speed,
					   r->t->err));
}

static bool fill_builder(struct ftr_raw *r)
{
	for (uint32_t i = 0; i < r->n_node; i++)
		if (r->node[i].type == FTR_NODE_SWITCH &&
		    !add_switch(r, &r->node[i]))
			return false;
	for (uint32_t i = 0; i < r->n_port; i++) {
		const struct ftr_raw_port *p = &r->port[i];

		if (r->node[p->node].type != FTR_NODE_SWITCH &&
		    !add_endport(r, p))
			return false;
		if (!p->left_out && !add_link(r, p))
			return false;
	}
	return true;
}

static bool publish(struct ftr_raw *r, unsigned int lmc, struct ftr_fabric **out)
{
	struct ftr_text *t = r->t;
	enum ftr_status st = FTR_OK;

	if (r->lids_missing)
		st = ftr_builder_assign_lids(r->builder, lmc, t->err);
	if (!st)
		st = ftr_builder_freeze(r->builder, out, t->err);
	if (!st)
		r->builder = NULL;
	else if (st != FTR_NOMEM)
		ftr_err_prefix(t->err, "%s", t->path);
	return ftr_text_ok(t, st);
}

bool ftr_raw_build(struct ftr_raw *r, unsigned int lmc, struct ftr_fabric **out)
{
	bool ok;

	if (!r->n_node)
		return ftr_text_fail(r->t, FTR_PARSE, "the file contains no node");
	if (!r->n_port)
		return ftr_text_fail(r->t, FTR_PARSE, "the file contains no link");
	if (!verify(r))
		return false;
	r->builder = ftr_builder_new();
	r->lid_line = ftr_calloc(FTR_LID_MAX + 1, sizeof(*r->lid_line));
	ok = ((r->builder && r->lid_line) || ftr_text_nomem(r->t)) &&
		fill_builder(r) && publish(r, lmc, out);
	ftr_builder_free(r->builder);
	free(r->lid_line);
	return ok;
}
