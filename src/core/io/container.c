// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Containers (container.h), and the parts that several containers have:
 *
 *	text	length:1 bytes
 *	fabric	max_lid:2 n_sw:4, n_sw times guid:8 holder:8 n_ports:1 lid:2 lmc:1 name
 *		n_ep:4, n_ep times guid:8 node_guid:8 port_num:1 type:1 lid:2 lmc:1 name
 *		n:4, n times the links: node_guid:8 port:1 of both ends, width:1 speed:1
 *	tables	n_sw rows of max_lid + 1 ports
 *	turns	n:4, n times the node GUIDs of three switches
 *
 * "name:N" is an integer of N bytes, little endian.  The names are those of <ftr/fabric.h>.
 * Switches and host ports are sorted by GUID.  A link between switches is listed once, beginning
 * with the lower switch index; links of host ports come last.  So the bytes depend only on the
 * content.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "fabric/fabric.h"
#include "io/container.h"

/* ---- writing --------------------------------------------------------------- */

static uint8_t *reserve(struct ftr_out *o, size_t more)
{
	size_t cap = FTR_MAX(2 * o->cap, o->n + more + 4096);
	uint8_t *at = o->at;

	if (o->cap - o->n < more && !o->nomem) {
		at = ftr_reallocarray(o->at, cap, 1);
		o->nomem = !at;
		o->at = at ? at : o->at;
		o->cap = at ? cap : o->cap;
	}
	if (o->nomem)
		return NULL;
	o->n += more;
	return o->at + o->n - more;
}

void ftr_put_bytes(struct ftr_out *o, const void *from, size_t n)
{
	uint8_t *to = reserve(o, n);

	if (to && n)
		memcpy(to, from, n);
}

void ftr_put(struct ftr_out *o, uint64_t v, unsigned int bytes)
{
	uint8_t *to = reserve(o, bytes);

	for (unsigned int i = 0; to && i < bytes; i++)
		to[i] = (uint8_t)(v >> 8 * i);
}

void ftr_put_text(struct ftr_out *o, const char *text)
{
	size_t n = strnlen(text, UINT8_MAX);

	ftr_put(o, n, 1);
	ftr_put_bytes(o, text, n);
}

static void put_link(struct ftr_out *o, struct ftr_end a, struct ftr_end z,
		     const struct ftr_swport *p)
{
	ftr_put(o, a.node_guid, 8);
	ftr_put(o, a.port, 1);
	ftr_put(o, z.node_guid, 8);
	ftr_put(o, z.port, 1);
	ftr_put(o, p->width, 1);
	ftr_put(o, p->speed, 1);
}

static void put_links(struct ftr_out *o, const struct ftr_fabric *f)
{
	uint32_t n = f->n_sw_links;

	for (ftr_ep e = 0; e < f->n_ep; e++)
		n += f->ep[e].sw != FTR_SW_NONE;
	ftr_put(o, n, 4);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *x = ftr_fabric_port(f, s, p);

			if (ftr_is_lower_end(f, s, p))
				put_link(o, (struct ftr_end){ f->sw[s].guid, (ftr_port)p },
					 (struct ftr_end){ f->sw[x->peer].guid, x->peer_port }, x);
		}
	}
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		const struct ftr_endport *ep = &f->ep[e];

		if (ep->sw != FTR_SW_NONE)
			put_link(o, (struct ftr_end){ ep->node_guid, ep->port_num },
				 (struct ftr_end){ f->sw[ep->sw].guid, ep->sw_port },
				 ftr_fabric_port(f, ep->sw, ep->sw_port));
	}
}

void ftr_put_fabric(struct ftr_out *o, const struct ftr_fabric *f)
{
	ftr_put(o, f->max_lid, 2);
	ftr_put(o, f->n_sw, 4);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		ftr_put(o, f->sw[s].guid, 8);
		ftr_put(o, f->sw[s].holder, 8);
		ftr_put(o, f->sw[s].n_ports, 1);
		ftr_put(o, f->sw[s].lid, 2);
		ftr_put(o, f->sw[s].lmc, 1);
		ftr_put_text(o, f->sw[s].name);
	}
	ftr_put(o, f->n_ep, 4);
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		ftr_put(o, f->ep[e].guid, 8);
		ftr_put(o, f->ep[e].node_guid, 8);
		ftr_put(o, f->ep[e].port_num, 1);
		ftr_put(o, f->ep[e].type, 1);
		ftr_put(o, f->ep[e].lid, 2);
		ftr_put(o, f->ep[e].lmc, 1);
		ftr_put_text(o, f->ep[e].name);
	}
	put_links(o, f);
}

void ftr_put_tables(struct ftr_out *o, const struct ftr_fabric *f, const struct ftr_tables *t)
{
	for (ftr_sw s = 0; s < f->n_sw; s++)
		ftr_put_bytes(o, ftr_tables_row(t, s), f->max_lid + 1u);
}

void ftr_put_turns(struct ftr_out *o, const struct ftr_fabric *f, const struct ftr_turn *turn,
		   uint32_t n)
{
	ftr_put(o, n, 4);
	for (uint32_t i = 0; i < n; i++) {
		ftr_put(o, f->sw[turn[i].from].guid, 8);
		ftr_put(o, f->sw[turn[i].at].guid, 8);
		ftr_put(o, f->sw[turn[i].to].guid, 8);
	}
}

/* The magic word, and the checksum and length of what follows. */
#define FIRST_LINE "%s %016" PRIx64 " %zu\n"
#define FIRST_LINE_MAX 120

typedef uint64_t hash_fn(uint64_t hash, const void *data, size_t n);

static uint64_t file_hash(uint64_t hash, const void *data, size_t n)
{
	return ftr_hash(hash, data, n);
}

static bool write_out(struct ftr_out *o, FILE *out, const char *magic, hash_fn *hash)
{
	bool written = out && !o->nomem &&
		fprintf(out, FIRST_LINE, magic, hash(FTR_HASH_INIT, o->at, o->n), o->n) > 0 &&
		(!o->n || fwrite(o->at, 1, o->n, out) == o->n);

	free(o->at);
	if (o->nomem)
		errno = ENOMEM;
	return written;
}

bool ftr_out_file(struct ftr_out *o, FILE *out, const char *magic)
{
	return write_out(o, out, magic, file_hash);
}

enum ftr_status ftr_out_fd(struct ftr_out *o, int fd, const char *name, const char *magic,
			   struct ftr_err *err)
{
	int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	FILE *out = own < 0 || (!lseek(own, 0, SEEK_SET) && ftruncate(own, 0)) ?
		NULL : ftr_fdopen(own, "w");
	bool written = write_out(o, out, magic, ftr_hash_words);
	int why = errno;

	if (!out && own >= 0)
		close(own);
	if (out && fclose(out) && written) {
		written = false;
		why = errno;
	}
	return written ? FTR_OK : ftr_fail(err, FTR_IO, "%s is not written: %s", name, strerror(why));
}

/* ---- reading --------------------------------------------------------------- */

enum ftr_status ftr_in_damaged(const struct ftr_in *in, struct ftr_err *err)
{
	return ftr_fail(err, FTR_PARSE, "%s is incomplete or damaged", in->name);
}

/* Read the whole file. */
static enum ftr_status read_bytes(struct ftr_in *in, int fd, size_t *len, struct ftr_err *err)
{
	struct stat sb = { .st_size = -1 };
	ssize_t got;

	*len = 0;
	if (fstat(fd, &sb) || !S_ISREG(sb.st_mode) || sb.st_size > FTR_IN_MAX)
		return ftr_fail(err, FTR_IO, "%s: file of %lld bytes is no regular file, or is too large",
				in->name, (long long)sb.st_size);
	in->text = ftr_malloc((size_t)sb.st_size);
	if (!in->text)
		return ftr_nomem(err, "%s", in->name);
	do {	/* a signal does not interrupt the read of a regular file */
		got = pread(fd, in->text + *len, (size_t)sb.st_size - *len, (off_t)*len);
		*len += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	return FTR_OK;
}

static enum ftr_status open_container(struct ftr_in *in, const char *text, size_t len,
				      const char *magic, hash_fn *hash, struct ftr_err *err)
{
	const char *eol = memchr(text, '\n', FTR_MIN(len, (size_t)FIRST_LINE_MAX));
	char line[FIRST_LINE_MAX + 1] = "", again[sizeof(line)] = "";
	size_t body = 0, n = strlen(magic);
	enum ftr_status st = FTR_OK;
	uint64_t sum;

	if (eol)
		memcpy(line, text, (size_t)(eol + 1 - text));
	if (!strncmp(line, magic, n) && sscanf(line + n, " %16" SCNx64 " %zu", &sum, &body) == 2)
		snprintf(again, sizeof(again), FIRST_LINE, magic, sum, body);
	if (!again[0] || strcmp(line, again) != 0) {
		st = ftr_fail(err, FTR_PARSE, "%s: the first line is not \"%s\", a checksum and a length",
			      in->name, magic);
	} else {
		in->at = (const uint8_t *)eol + 1;
		in->end = (const uint8_t *)text + len;
		if ((size_t)(in->end - in->at) != body)
			st = ftr_fail(err, FTR_PARSE, "%s is incomplete: %zu bytes after the first line instead of %zu",
				      in->name, (size_t)(in->end - in->at), body);
		else if (hash(FTR_HASH_INIT, in->at, body) != sum)
			st = ftr_fail(err, FTR_PARSE, "%s is damaged: wrong checksum", in->name);
	}
	if (st)
		free(in->text);
	return st;
}

enum ftr_status ftr_in_fd(struct ftr_in *in, int fd, const char *name, const char *magic,
			  struct ftr_err *err)
{
	size_t len;
	enum ftr_status st;

	*in = (struct ftr_in){ .name = name };
	st = read_bytes(in, fd, &len, err);
	return st ? st : open_container(in, in->text, len, magic, ftr_hash_words, err);
}

enum ftr_status ftr_in_memory(struct ftr_in *in, const char *text, size_t len, const char *magic,
			      struct ftr_err *err)
{
	*in = (struct ftr_in){ .name = "the request" };
	return open_container(in, text, len, magic, ftr_hash_words, err);
}

enum ftr_status ftr_in_file(struct ftr_in *in, const char *path, bool own, const char *magic,
			    struct ftr_err *err)
{
	enum ftr_status st = FTR_OK;
	size_t len;
	int fd = -1;

	if (own)
		st = ftr_file_open(path, &fd, err);
	else if ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
		st = ftr_fail(err, FTR_IO, "%s: %s", path, strerror(errno));
	if (st)
		return st;
	*in = (struct ftr_in){ .name = path };
	st = read_bytes(in, fd, &len, err);
	close(fd);
	return st ? st : open_container(in, in->text, len, magic, file_hash, err);
}

const uint8_t *ftr_get_bytes(struct ftr_in *in, size_t n)
{
	in->bad |= (size_t)(in->end - in->at) < n;
	if (in->bad)
		return NULL;
	in->at += n;
	return in->at - n;
}

uint64_t ftr_get(struct ftr_in *in, unsigned int bytes)
{
	const uint8_t *from = ftr_get_bytes(in, bytes);
	uint64_t v = 0;

	for (unsigned int i = 0; from && i < bytes; i++)
		v |= (uint64_t)from[i] << 8 * i;
	return v;
}

void ftr_get_text(struct ftr_in *in, char *out, size_t size)
{
	size_t n = ftr_get(in, 1);
	const uint8_t *from = ftr_get_bytes(in, n);

	in->bad |= n >= size || (from && memchr(from, '\0', n));
	out[0] = '\0';
	if (from && !in->bad) {
		memcpy(out, from, n);
		out[n] = '\0';
	}
}

/* ---- fabrics --------------------------------------------------------------- */

static enum ftr_status get_switch(struct ftr_in *in, struct ftr_builder *b, struct ftr_err *err)
{
	char name[FTR_NAME_MAX + 1];
	struct ftr_switch s = { .name = name };

	s.guid = ftr_get(in, 8);
	s.holder = ftr_get(in, 8);
	s.n_ports = (ftr_port)ftr_get(in, 1);
	s.lid = (ftr_lid)ftr_get(in, 2);
	s.lmc = (uint8_t)ftr_get(in, 1);
	ftr_get_text(in, name, sizeof(name));
	return in->bad ? ftr_in_damaged(in, err) : ftr_builder_add_switch(b, &s, err);
}

static enum ftr_status get_host(struct ftr_in *in, struct ftr_builder *b, struct ftr_err *err)
{
	char name[FTR_NAME_MAX + 1];
	struct ftr_endport e = { .name = name };

	e.guid = ftr_get(in, 8);
	e.node_guid = ftr_get(in, 8);
	e.port_num = (ftr_port)ftr_get(in, 1);
	e.type = (uint8_t)ftr_get(in, 1);
	e.lid = (ftr_lid)ftr_get(in, 2);
	e.lmc = (uint8_t)ftr_get(in, 1);
	ftr_get_text(in, name, sizeof(name));
	return in->bad ? ftr_in_damaged(in, err) : ftr_builder_add_endport(b, &e, err);
}

static enum ftr_status get_link(struct ftr_in *in, struct ftr_builder *b, struct ftr_err *err)
{
	struct ftr_end a, z;
	unsigned int width, speed;

	a.node_guid = ftr_get(in, 8);
	a.port = (ftr_port)ftr_get(in, 1);
	z.node_guid = ftr_get(in, 8);
	z.port = (ftr_port)ftr_get(in, 1);
	width = (unsigned int)ftr_get(in, 1);
	speed = (unsigned int)ftr_get(in, 1);
	if (in->bad || speed >= FTR_SPEED_END)
		return ftr_in_damaged(in, err);
	return ftr_builder_add_link(b, a, z, width, (enum ftr_speed)speed, err);
}

static enum ftr_status get_parts(struct ftr_in *in, struct ftr_builder *b, struct ftr_err *err)
{
	static enum ftr_status (*const get[])(struct ftr_in *in, struct ftr_builder *b,
					      struct ftr_err *err) = {
		get_switch, get_host, get_link
	};

	for (unsigned int kind = 0; kind < FTR_ARRAY_LEN(get); kind++)
		for (uint64_t n = ftr_get(in, 4); n; n--) {
			enum ftr_status st = get[kind](in, b, err);

			if (st)
				return st;
		}
	return FTR_OK;
}

enum ftr_status ftr_get_fabric(struct ftr_in *in, struct ftr_fabric **f, struct ftr_err *err)
{
	struct ftr_builder *b = ftr_builder_new();
	enum ftr_status st;

	if (!b)
		return ftr_nomem(err, "%s", in->name);
	ftr_builder_lids(b, (uint32_t)ftr_get(in, 2));
	st = get_parts(in, b, err);
	if (!st && in->bad)
		st = ftr_in_damaged(in, err);
	if (!st)
		st = ftr_builder_freeze(b, f, err);
	if (st)
		ftr_builder_free(b);
	/* only valid fabrics are written, so a file with an invalid one is damaged */
	if (st != FTR_INVAL)
		return st;
	ftr_err_prefix(err, "%s", in->name);
	err->status = FTR_PARSE;
	return FTR_PARSE;
}

enum ftr_status ftr_get_tables(struct ftr_in *in, const struct ftr_fabric *f,
			       struct ftr_tables **t, struct ftr_err *err)
{
	size_t lids = f->max_lid + 1u;
	const uint8_t *from = ftr_get_bytes(in, f->n_sw * lids);
	enum ftr_status st;

	if (!from)	/* before memory is allocated for the tables */
		return ftr_in_damaged(in, err);
	st = ftr_tables_new(f, true, t, err);
	if (st)
		return st;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		memcpy(ftr_tables_row(*t, s), from + s * lids, lids);
	return FTR_OK;
}

enum ftr_status ftr_get_turns(struct ftr_in *in, const struct ftr_fabric *f, struct ftr_turn **turn,
			      uint32_t *n, struct ftr_err *err)
{
	uint32_t cap = 0;

	*turn = NULL;
	*n = 0;
	for (uint64_t left = ftr_get(in, 4); left && !in->bad; left--) {
		struct ftr_turn one;

		one.from = ftr_fabric_find_sw(f, ftr_get(in, 8));
		one.at = ftr_fabric_find_sw(f, ftr_get(in, 8));
		one.to = ftr_fabric_find_sw(f, ftr_get(in, 8));
		if (one.from == FTR_SW_NONE || one.at == FTR_SW_NONE || one.to == FTR_SW_NONE)
			continue;
		if (!FTR_GROW(*turn, *n, cap))
			return ftr_nomem(err, "%s", in->name);
		(*turn)[(*n)++] = one;
	}
	return in->bad ? ftr_in_damaged(in, err) : FTR_OK;
}

enum ftr_status ftr_in_end(struct ftr_in *in, enum ftr_status st, struct ftr_err *err)
{
	if (!st && (in->bad || in->at != in->end))
		st = ftr_in_damaged(in, err);
	free(in->text);
	return st;
}
