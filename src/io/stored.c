// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The two files of <ftr/stored.h>.  Each has a first line of text, then binary data:
 *
 *	ibfattree-preferred 1 CHECKSUM LENGTH\n	then LENGTH bytes:
 *		engine[16] nominal:8 searched:1 n_sw:4 max_lid:2
 *		n_sw times guid:8
 *		max_lid + 1 times owner:8 kind:1 offset:1
 *		n_sw rows of max_lid + 1 ports
 *	ibfattree-displaced 1 CHECKSUM LENGTH\n
 *		engine[16] nominal:8 n:4, n times guid:8 lid:2 port:1
 *
 * "name:N" is an integer of N bytes, little endian.  The names are those of <ftr/stored.h>,
 * ftr_tables and ftr_lid_owner.  The checksum covers everything after the first line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include <ftr/stored.h>

#define PREFERRED "ibfattree-preferred"
#define DISPLACED "ibfattree-displaced"
#define VERSION 1
#define MAX_BYTES (1 << 30)	/* larger files are rejected */

uint64_t ftr_stored_nominal(const struct ftr_nominal *n)
{
	const struct ftr_fabric *f = n->f;
	uint64_t lists = n->lists + n->leaf_order;
	uint64_t h = ftr_hash(FTR_HASH_INIT, &lists, sizeof(lists));

	h = ftr_hash(h, n->shape->tree.rank, f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		h = ftr_hash(h, &f->sw[s].guid, sizeof(f->sw[s].guid));
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *q = ftr_fabric_port(f, s, p);
			uint64_t far[2] = { 0, 0 };

			if (q->peer_kind == FTR_PEER_SW) {
				far[0] = f->sw[q->peer].guid;
				far[1] = q->peer_port;
			}
			h = ftr_hash(h, far, sizeof(far));
		}
	}
	return h;
}

/* ---- bytes ------------------------------------------------------------------ */

struct buffer {
	uint8_t *at;
	size_t n, cap;
	const char *magic;
};

static void put(struct buffer *b, uint64_t v, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		b->at[b->n++] = (uint8_t)(v >> 8 * i);
}

static void put_id(struct buffer *b, const struct ftr_stored_id *id)
{
	memset(b->at + b->n, 0, FTR_ENGINE_NAME_MAX);
	memcpy(b->at + b->n, id->engine,
	       strnlen(id->engine, FTR_ENGINE_NAME_MAX - 1));
	b->n += FTR_ENGINE_NAME_MAX;
	put(b, id->nominal, 8);
}

/* A read position in a file. get() returns 0 beyond the end, and sets bad. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static uint64_t get(struct cursor *c, unsigned int bytes)
{
	uint64_t v = 0;

	if ((size_t)(c->end - c->at) < bytes) {
		c->bad = true;
		return 0;
	}
	for (unsigned int i = 0; i < bytes; i++)
		v |= (uint64_t)*c->at++ << 8 * i;
	return v;
}

static void get_id(struct cursor *c, struct ftr_stored_id *id)
{
	memset(id, 0, sizeof(*id));
	if ((size_t)(c->end - c->at) < FTR_ENGINE_NAME_MAX) {
		c->bad = true;
		return;
	}
	memcpy(id->engine, c->at, FTR_ENGINE_NAME_MAX - 1);
	c->at += FTR_ENGINE_NAME_MAX;
	id->nominal = get(c, 8);
}

static bool fill(FILE *out, const void *ctx)
{
	const struct buffer *b = ctx;

	return fprintf(out, "%s %d %016" PRIx64 " %zu\n", b->magic, VERSION,
		       ftr_hash(FTR_HASH_INIT, b->at, b->n), b->n) > 0 &&
		fwrite(b->at, 1, b->n, out) == b->n;
}

static enum ftr_status write_file(const char *path, struct buffer *b,
				  struct ftr_err *err)
{
	enum ftr_status st = ftr_file_replace(path, fill, b, err);

	free(b->at);
	return st;
}

static enum ftr_status damaged(const char *path, struct ftr_err *err)
{
	return ftr_fail(err, FTR_PARSE, "%s is incomplete or damaged", path);
}

/* Read the whole file into *text and append a NUL. */
static enum ftr_status read_bytes(const char *path, char **text, size_t *len,
				  struct ftr_err *err)
{
	struct stat sb = { .st_size = -1 };
	ssize_t got = 1;
	int fd;
	enum ftr_status st = ftr_file_open(path, &fd, err);

	if (st)
		return st;
	*text = NULL;
	*len = 0;
	if (!fstat(fd, &sb) && sb.st_size >= 0 && sb.st_size <= MAX_BYTES)
		*text = ftr_malloc((size_t)sb.st_size + 1);
	while (*text && *len < (size_t)sb.st_size && got > 0) {
		got = read(fd, *text + *len, (size_t)sb.st_size - *len);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			*len += (size_t)got;
	}
	close(fd);
	if (!*text)
		return ftr_fail(err, FTR_IO, "%s: file of %lld bytes is too large, or there is not enough memory",
				path, (long long)sb.st_size);
	(*text)[*len] = '\0';
	return FTR_OK;
}

/* Read and verify a file. *c points into *text, which the caller frees later. */
static enum ftr_status read_file(const char *path, const char *magic,
				 char **text, struct cursor *c,
				 struct ftr_err *err)
{
	uint64_t sum;
	size_t len, body;
	int version, n = 0;
	char *eol, name[32];
	enum ftr_status st = read_bytes(path, text, &len, err);

	if (st)
		return st;
	eol = memchr(*text, '\n', FTR_MIN(len, 120u));
	if (!eol || sscanf(*text, "%31s %d %16" SCNx64 " %zu%n", name,
			   &version, &sum, &body, &n) != 4 ||
	    strcmp(name, magic) || *text + n != eol) {
		st = ftr_fail(err, FTR_PARSE, "%s: the first line does not begin with \"%s\", a version, a checksum and a length",
			      path, magic);
	} else if (version != VERSION) {
		st = ftr_fail(err, FTR_PARSE, "%s: file of version %d; version %d is supported",
			      path, version, VERSION);
	} else {
		c->at = (const uint8_t *)eol + 1;
		c->end = (const uint8_t *)*text + len;
		c->bad = false;
		if ((size_t)(c->end - c->at) != body ||
		    ftr_hash(FTR_HASH_INIT, c->at, body) != sum)
			st = damaged(path, err);
	}
	if (st)
		free(*text);
	return st;
}

/* ---- preferred ---------------------------------------------------------------- */

enum ftr_status ftr_stored_write(const char *path,
				    const struct ftr_stored_id *id,
				    bool searched, const struct ftr_fabric *f,
				    const struct ftr_tables *t,
				    struct ftr_err *err)
{
	size_t lids = f->max_lid + 1u;
	struct buffer b = { .magic = PREFERRED };

	b.at = ftr_malloc(64 + f->n_sw * 8u + lids * 10 + f->n_sw * lids);
	if (!b.at)
		return ftr_fail(err, FTR_NOMEM, "out of memory for %s", path);
	put_id(&b, id);
	put(&b, searched, 1);
	put(&b, f->n_sw, 4);
	put(&b, f->max_lid, 2);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		put(&b, f->sw[s].guid, 8);
	for (uint32_t lid = 0; lid < lids; lid++) {
		const struct ftr_lid_owner *o = &f->owner[lid];

		put(&b, o->kind == FTR_OWNER_EP ? f->ep[o->idx].guid :
		    o->kind == FTR_OWNER_SW ? f->sw[o->idx].guid : 0, 8);
		put(&b, o->kind, 1);
		put(&b, o->offset, 1);
	}
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		memcpy(b.at + b.n, ftr_tables_row(t, s), lids);
		b.n += lids;
	}
	return write_file(path, &b, err);
}

/* Read the switches and the owners of LIDs.  A LID gets no owner if its owner in the file is
 * invalid.  Returns false if the GUIDs of switches do not ascend, or if the data end early. */
static bool get_owners(struct cursor *c, struct ftr_fabric *f,
		       struct ftr_switch *sw, struct ftr_endport *ep,
		       struct ftr_lid_owner *owner)
{
	const uint8_t *again;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		sw[s].guid = get(c, 8);
		if (s && sw[s].guid <= sw[s - 1].guid)
			return false;
	}
	again = c->at;
	for (uint32_t lid = 0; lid <= f->max_lid; lid++) {
		uint64_t guid = get(c, 8);
		uint8_t kind = (uint8_t)get(c, 1), offset = (uint8_t)get(c, 1);

		if (kind == FTR_OWNER_EP && !offset)
			ep[f->n_ep++].guid = guid;
	}
	qsort(ep, f->n_ep, sizeof(*ep), ftr_u64_cmp);
	c->at = again;
	for (uint32_t lid = 0; lid <= f->max_lid; lid++) {
		uint64_t guid = get(c, 8);
		struct ftr_lid_owner *o = &owner[lid];

		o->kind = (uint8_t)get(c, 1);
		o->offset = (uint8_t)get(c, 1);
		o->idx = o->kind == FTR_OWNER_EP ? ftr_fabric_find_ep(f, guid) :
			o->kind == FTR_OWNER_SW ? ftr_fabric_find_sw(f, guid) : 0;
		if (o->kind > FTR_OWNER_EP || (o->kind && o->idx == UINT32_MAX))
			o->kind = FTR_OWNER_NONE;
	}
	return !c->bad;
}

static enum ftr_status get_tables(struct cursor *c, struct ftr_fabric *f,
				  struct ftr_tables **t, struct ftr_err *err)
{
	size_t lids = f->max_lid + 1u;
	enum ftr_status st = ftr_tables_new(f, true, t, err);

	for (ftr_sw s = 0; !st && s < f->n_sw; s++) {
		memcpy(ftr_tables_row(*t, s), c->at, lids);
		c->at += lids;
	}
	return st;
}

static enum ftr_status get_all(struct cursor *c, const char *path,
			       struct ftr_arena *a, struct ftr_stored *p,
			       struct ftr_err *err)
{
	struct ftr_fabric *f = ftr_arena_zalloc(a, 1, sizeof(*f));
	struct ftr_lid_owner *owner;
	struct ftr_endport *ep;
	struct ftr_switch *sw;
	uint64_t lids;

	if (!f)
		return ftr_fail(err, FTR_NOMEM, "out of memory for %s", path);
	f->arena = a;
	p->f = f;
	get_id(c, &p->id);
	p->searched = get(c, 1);
	f->n_sw = (uint32_t)get(c, 4);
	f->max_lid = (ftr_lid)get(c, 2);
	lids = f->max_lid + 1u;
	/* Check the length before allocating memory for it. */
	if (c->bad || (uint64_t)(c->end - c->at) !=
	    f->n_sw * (8 + lids) + lids * 10)
		return damaged(path, err);
	if (!FTR_ZNEW(a, sw, f->n_sw) || !FTR_ZNEW(a, ep, f->max_lid + 1u) ||
	    !FTR_ZNEW(a, owner, f->max_lid + 1u))
		return ftr_fail(err, FTR_NOMEM, "out of memory for %s", path);
	f->sw = sw;
	f->ep = ep;
	f->owner = owner;
	if (!get_owners(c, f, sw, ep, owner))
		return damaged(path, err);
	return get_tables(c, f, &p->t, err);
}

enum ftr_status ftr_stored_read(const char *path,
				   struct ftr_stored **out,
				   struct ftr_err *err)
{
	struct ftr_stored *p;
	struct ftr_arena *a;
	struct cursor c;
	char *text;
	enum ftr_status st = read_file(path, PREFERRED, &text, &c, err);

	if (st)
		return st;
	p = ftr_calloc(1, sizeof(*p));
	a = ftr_arena_new();
	st = p && a ? get_all(&c, path, a, p, err) :
		ftr_fail(err, FTR_NOMEM, "out of memory for %s", path);
	free(text);
	if (!st) {
		*out = p;
		return FTR_OK;
	}
	if (p)
		ftr_tables_free(p->t);
	ftr_arena_free(a);
	free(p);
	return st;
}

void ftr_stored_free(struct ftr_stored *p)
{
	if (!p)
		return;
	ftr_tables_free(p->t);
	ftr_arena_free(p->f->arena);
	free(p);
}

/* ---- displaced ---------------------------------------------------------------- */

enum ftr_status ftr_displaced_write(const char *path,
				    const struct ftr_stored_id *id,
				    const struct ftr_displaced *entry,
				    uint32_t n, struct ftr_err *err)
{
	struct buffer b = { .magic = DISPLACED };

	b.at = ftr_malloc(64 + (size_t)n * 11);
	if (!b.at)
		return ftr_fail(err, FTR_NOMEM, "out of memory for %s", path);
	put_id(&b, id);
	put(&b, n, 4);
	for (uint32_t i = 0; i < n; i++) {
		put(&b, entry[i].guid, 8);
		put(&b, entry[i].lid, 2);
		put(&b, entry[i].port, 1);
	}
	return write_file(path, &b, err);
}

enum ftr_status ftr_displaced_read(const char *path,
				   struct ftr_stored_id *id,
				   struct ftr_displaced **entry, uint32_t *n,
				   struct ftr_err *err)
{
	struct cursor c;
	char *text;
	enum ftr_status st = read_file(path, DISPLACED, &text, &c, err);

	if (st)
		return st;
	get_id(&c, id);
	*n = (uint32_t)get(&c, 4);
	*entry = NULL;
	if (c.bad || (uint64_t)(c.end - c.at) != (uint64_t)*n * 11)
		st = damaged(path, err);
	else if (!(*entry = ftr_calloc(*n + 1u, sizeof(**entry))))
		st = ftr_fail(err, FTR_NOMEM, "out of memory for %s", path);
	for (uint32_t i = 0; !st && i < *n; i++) {
		(*entry)[i].guid = get(&c, 8);
		(*entry)[i].lid = (ftr_lid)get(&c, 2);
		(*entry)[i].port = (ftr_port)get(&c, 1);
	}
	free(text);
	return st;
}
