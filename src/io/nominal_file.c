// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state file, which keeps a nominal fabric across restarts.
 *
 *	ibfattree-nominal 1 SUM LENGTH guid LISTS
 *	S 0008f10500108c9e 36 0 leaf-4
 *	E 0002c903000a1b2d 0002c903000a1b2c 1 C 0 node12 HCA-1
 *	L 0002c903000a1b2c 1 0008f10500108c9e 7
 *
 * A place is the position of a switch in the nominal fabric.  If switches were replaced, the
 * version in the first line is 2, and there is a line for each place whose first switch was
 * replaced:
 *
 *	P 0008f10500108c9e 0008f10500207770
 *
 * If the shape keeps earlier ranks that differ from the inferred ones (src/shape/choice.c, rule 7),
 * the version is 3, and there is a line for each switch:
 *
 *	R 0008f10500108c9e 0 1 0
 *
 * SUM is the hash of everything after the blank that follows SUM.  LENGTH is the number of bytes
 * after the first line.  "guid" or "name" is the order of leaves.  LISTS is the hash of the GUID
 * lists (ftr_nominal.lists).
 *
 *	S	place of a switch, number of ports, LMC, name
 *	P	place, node GUID of the switch that is there now
 *	R	place, rank, 1 if it is a leaf, 1 if it is a stub; see struct ftr_old_rank
 *	E	GUID of a host port, GUID of its node, port number, C(hannel adapter) or
 *		R(outer), LMC, name
 *	L	link, by the node GUIDs and ports of both ends
 *
 * A place is identified by the node GUID of the first switch there.  GUIDs and hashes have 16 hex
 * digits.  In names, control characters, DEL and '%' are written as % and two hex digits, so that
 * every name is restored byte by byte.
 *
 * Lines of one kind are sorted by the index of the switch or host port.  A link between switches is
 * listed once, beginning with the lower switch index.  Links of host ports come last.  So the
 * content of the file depends only on the fabric, the options in the first line, and the ranks that
 * are kept.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "fabric/fabric.h"
#include "io/text.h"
#include <ftr/nominal.h>

#define MAGIC "ibfattree-nominal "
#define VERSION 3		/* the highest supported version */
#define LISTS_LEN 16		/* number of hex digits of a hash or GUID */

/* ---- writing ----------------------------------------------------------- */

static void put_name(FILE *out, const char *name)
{
	fputc(' ', out);
	for (; *name; name++) {
		unsigned char ch = (unsigned char)*name;

		if (ch < ' ' || ch == 127 || ch == '%')
			fprintf(out, "%%%02x", ch);
		else
			fputc(ch, out);
	}
	fputc('\n', out);
}

static void put_ranks(FILE *out, const struct ftr_shape *sh)
{
	const struct ftr_shape_tree *t = &sh->tree;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++)
		fprintf(out, "R %016" PRIx64 " %u %d %d\n", sh->f->sw[s].guid, t->rank[s],
			sh->numbering.col[s] < t->n_leaf, t->stub[s] != 0);
}

static void put_body(FILE *out, const struct ftr_nominal *n)
{
	const struct ftr_fabric *f = n->f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		fprintf(out, "S %016" PRIx64 " %u %u", f->sw[s].guid,
			f->sw[s].n_ports, f->sw[s].lmc);
		put_name(out, f->sw[s].name);
	}
	for (ftr_sw s = 0; f->by_holder && s < f->n_sw; s++)
		if (f->sw[s].holder != f->sw[s].guid)
			fprintf(out, "P %016" PRIx64 " %016" PRIx64 "\n",
				f->sw[s].guid, f->sw[s].holder);
	if (n->shape->tree.ranks_kept)
		put_ranks(out, n->shape);
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		const struct ftr_endport *p = &f->ep[e];

		fprintf(out, "E %016" PRIx64 " %016" PRIx64 " %u %c %u",
			p->guid, p->node_guid, p->port_num,
			p->type == FTR_NODE_ROUTER ? 'R' : 'C', p->lmc);
		put_name(out, p->name);
	}
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(f, s, p);

			if (ftr_is_lower_end(f, s, p))
				fprintf(out, "L %016" PRIx64 " %u %016" PRIx64 " %u\n",
					f->sw[s].guid, p, f->sw[port->peer].guid,
					port->peer_port);
		}
	}
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE)
			fprintf(out, "L %016" PRIx64 " %u %016" PRIx64 " %u\n",
				f->ep[e].node_guid, f->ep[e].port_num,
				f->sw[f->ep[e].sw].guid, f->ep[e].sw_port);
}

/* Returns the text after SUM: "LENGTH guid LISTS\n" and the body, in malloc()ed memory. */
static char *compose(const struct ftr_nominal *n, size_t *len)
{
	char *body = NULL, *text = NULL;
	size_t n_body = 0;
	FILE *out = ftr_memstream(&body, &n_body);

	if (!out)
		return NULL;
	put_body(out, n);
	out = ftr_memstream_end(out, &body) ? ftr_memstream(&text, len) : NULL;
	if (out) {
		fprintf(out, "%zu %s %016" PRIx64 "\n", n_body,
			n->leaf_order == FTR_LEAF_BY_NAME ? "name" : "guid",
			n->lists);
		fwrite(body, 1, n_body, out);
		ftr_memstream_end(out, &text);
	}
	free(body);
	return text;
}

struct content {
	const char *text;
	size_t len;
	int version;
};

static bool fill(FILE *out, const void *ctx)
{
	const struct content *c = ctx;

	return fprintf(out, MAGIC "%d %016" PRIx64 " ", c->version,
		       ftr_hash(FTR_HASH_INIT, c->text, c->len)) > 0 &&
		fwrite(c->text, 1, c->len, out) == c->len;
}

enum ftr_status ftr_nominal_write(const char *path,
				  const struct ftr_nominal *n,
				  struct ftr_err *err)
{
	size_t len = 0;
	char *text = compose(n, &len);
	enum ftr_status st;

	if (text)
		st = ftr_file_replace(path, fill, &(struct content){
					      /* the lowest version that allows the lines:
					       * 1 has no P and R lines, 2 has no R lines */
					      text, len, n->shape->tree.ranks_kept ? 3 :
					      n->f->by_holder ? 2 : 1
				      }, err);
	else
		st = ftr_fail(err, FTR_NOMEM, "out of memory for %s", path);
	free(text);
	return st;
}

/* ---- reading: the first line ------------------------------------------- */

struct header {
	uint64_t sum, length, lists;
	enum ftr_leaf_order leaf_order;
};

/* Read exactly 16 hex digits. */
static bool hex16(struct ftr_cur *c, uint64_t *out)
{
	struct ftr_cur at = *c;

	if (c->end - c->p < LISTS_LEN)
		return false;
	at.end = at.p + LISTS_LEN;
	if (*at.p == '0' && (at.p[1] == 'x' || at.p[1] == 'X'))
		return false;
	if (!ftr_cur_uint(&at, 16, UINT64_MAX, out) || !ftr_cur_end(&at))
		return false;
	c->p = at.p;
	return true;
}

/* Read a decimal number without sign or leading zeros. */
static bool dec(struct ftr_cur *c, uint64_t max, uint64_t *out)
{
	if (c->p + 1 < c->end && *c->p == '0' && c->p[1] >= '0' &&
	    c->p[1] <= '9')
		return false;
	return ftr_cur_uint(c, 10, max, out);
}

static bool FTR_PRINTF(2, 3) refuse(struct ftr_text *t, const char *fmt, ...)
{
	char msg[FTR_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return ftr_text_ok(t, ftr_fail(t->err, FTR_PARSE, "%s: %s", t->path, msg));
}

/* Read the first line. Check that the file is a state file of a supported version, that it is
 * complete, and that SUM is correct. */
static bool header(struct ftr_text *t, const char *text, size_t len,
		   struct header *h)
{
	struct ftr_cur c = { text, text + len };
	const char *summed, *nl;
	uint64_t version;
	bool name;

	if (!ftr_cur_str(&c, MAGIC))
		return refuse(t, "not a state file: it does not begin with \"%s\"", MAGIC);
	if (!dec(&c, UINT32_MAX, &version) || !ftr_cur_char(&c, ' '))
		return refuse(t, "no version in the first line");
	if (version < 1 || version > VERSION)
		return refuse(t, "state file of version %" PRIu64 "; versions 1 to %d are supported",
			      version, VERSION);
	nl = memchr(c.p, '\n', (size_t)(c.end - c.p));
	if (!nl)
		return refuse(t, "incomplete: it ends in the first line");
	c.end = nl;
	if (!hex16(&c, &h->sum) || !ftr_cur_char(&c, ' '))
		return refuse(t, "no checksum in the first line");
	summed = c.p;
	if (!dec(&c, SIZE_MAX, &h->length) || !ftr_cur_char(&c, ' '))
		return refuse(t, "no length in the first line");
	if ((size_t)(text + len - (nl + 1)) != h->length)
		return refuse(t, "incomplete: %zu bytes after the first line instead of %" PRIu64,
			      (size_t)(text + len - (nl + 1)), h->length);
	if (ftr_hash(FTR_HASH_INIT, summed,
		     (size_t)(text + len - summed)) != h->sum)
		return refuse(t, "damaged: wrong checksum");
	name = ftr_cur_str(&c, "name ");
	h->leaf_order = name ? FTR_LEAF_BY_NAME : FTR_LEAF_BY_GUID;
	if ((!name && !ftr_cur_str(&c, "guid ")) || !hex16(&c, &h->lists) ||
	    !ftr_cur_end(&c))
		return refuse(t, "the first line lacks the order of leaves or the hash of the GUID lists");
	ftr_text_mem(t, t->path, nl + 1, (size_t)h->length, t->err);
	t->line = 1;
	return true;
}

/* ---- reading: the body ------------------------------------------------- */

/* Read " NAME" at the end of a line. */
static bool get_name(struct ftr_cur *c, char *name)
{
	size_t n = 0;

	if (!ftr_cur_char(c, ' '))
		return false;
	while (!ftr_cur_end(c)) {
		char ch = *c->p++;

		if (ch == '%') {
			struct ftr_cur hex = { c->p, c->p + 2 };
			uint64_t v;

			if (c->end - c->p < 2 ||
			    !ftr_cur_uint(&hex, 16, 255, &v) ||
			    !ftr_cur_end(&hex) || !v)
				return false;
			ch = (char)v;
			c->p += 2;
		}
		if (n == FTR_NAME_MAX)
			return false;
		name[n++] = ch;
	}
	name[n] = '\0';
	return true;
}

static bool number(struct ftr_cur *c, uint64_t max, uint64_t *out)
{
	return ftr_cur_char(c, ' ') && dec(c, max, out);
}

static bool guid(struct ftr_cur *c, uint64_t *out)
{
	return ftr_cur_char(c, ' ') && hex16(c, out);
}

/* The fabric that is being read, and its R lines. */
struct body {
	struct ftr_text *t;
	struct ftr_builder *b;
	struct ftr_old_rank *rank;
	uint32_t n_ranks, cap_ranks;
};

static bool get_switch(struct body *x, struct ftr_cur c)
{
	char name[FTR_NAME_MAX + 1];
	uint64_t id, n_ports, lmc;

	if (!guid(&c, &id) || !number(&c, FTR_PORT_MAX, &n_ports) ||
	    !number(&c, FTR_LMC_MAX, &lmc) || !get_name(&c, name))
		return ftr_text_expected(x->t, &c, "GUID, ports, LMC and name of a switch");
	return ftr_text_ok(x->t, ftr_builder_add_switch(x->b, id, (unsigned int)n_ports, 0,
							(unsigned int)lmc, name, x->t->err));
}

static bool get_holder(struct body *x, struct ftr_cur c)
{
	uint64_t place, holder;

	if (!guid(&c, &place) || !guid(&c, &holder) || !ftr_cur_end(&c))
		return ftr_text_expected(x->t, &c, "GUIDs of a place and of the switch in it");
	return ftr_text_ok(x->t, ftr_builder_hold(x->b, place, holder, x->t->err));
}

static bool get_rank(struct body *x, struct ftr_cur c)
{
	uint64_t place, rank, leaf, stub;

	if (!guid(&c, &place) || !number(&c, FTR_COST_INF / 2, &rank) || !number(&c, 1, &leaf) ||
	    !number(&c, 1, &stub) || !ftr_cur_end(&c) ||
	    (x->n_ranks && place <= x->rank[x->n_ranks - 1].guid))
		return ftr_text_expected(x->t, &c, "GUID, rank and kind of a switch, by ascending GUIDs");
	if (!FTR_GROW(x->rank, x->n_ranks, x->cap_ranks))
		return ftr_text_nomem(x->t);
	x->rank[x->n_ranks++] = (struct ftr_old_rank){
		place, (uint8_t)rank, leaf != 0, stub != 0
	};
	return true;
}

static bool get_endport(struct body *x, struct ftr_cur c)
{
	char name[FTR_NAME_MAX + 1];
	uint64_t id, node, num, lmc;
	bool router = false;

	if (!guid(&c, &id) || !guid(&c, &node) ||
	    !number(&c, FTR_PORT_MAX, &num) || !ftr_cur_char(&c, ' ') ||
	    (!ftr_cur_char(&c, 'C') && !(router = ftr_cur_char(&c, 'R'))) ||
	    !number(&c, FTR_LMC_MAX, &lmc) || !get_name(&c, name))
		return ftr_text_expected(x->t, &c, "GUIDs, port, kind, LMC and name of a host port");
	return ftr_text_ok(x->t, ftr_builder_add_endport(x->b, router ? FTR_NODE_ROUTER :
							 FTR_NODE_CA, node, id,
							 (unsigned int)num, 0,
							 (unsigned int)lmc, name, x->t->err));
}

static bool get_link(struct body *x, struct ftr_cur c)
{
	struct ftr_end a, z;
	uint64_t p, q;

	if (!guid(&c, &a.node_guid) || !number(&c, FTR_PORT_MAX, &p) ||
	    !guid(&c, &z.node_guid) || !number(&c, FTR_PORT_MAX, &q) ||
	    !ftr_cur_end(&c))
		return ftr_text_expected(x->t, &c, "GUID and port of both ends of a link");
	a.port = (ftr_port)p;
	z.port = (ftr_port)q;
	return ftr_text_ok(x->t, ftr_builder_add_link(x->b, a, z, 0, FTR_SPEED_UNKNOWN,
						      x->t->err));
}

static bool get_line(struct body *x, struct ftr_cur c)
{
	static const struct {
		char letter;
		bool (*get)(struct body *x, struct ftr_cur c);
	} kinds[] = {
		{ 'S', get_switch }, { 'P', get_holder }, { 'R', get_rank },
		{ 'E', get_endport }, { 'L', get_link },
	};

	if (x->t->cut)
		return ftr_text_torn(x->t, c);
	for (size_t i = 0; i < FTR_ARRAY_LEN(kinds); i++)
		if (ftr_cur_char(&c, kinds[i].letter))
			return kinds[i].get(x, c);
	return ftr_text_expected(x->t, &c, "S, P, R, E or L");
}

/* ---- reading: the file ------------------------------------------------- */

static void parse(struct body *x, const char *text, size_t len,
		  struct header *h, struct ftr_fabric **f)
{
	struct ftr_text *t = x->t;
	struct ftr_cur c;

	if (!header(t, text, len, h))
		return;
	x->b = ftr_builder_new();
	if (!x->b) {
		ftr_text_nomem(t);
		return;
	}
	while (ftr_text_line(t, &c) && c.p && get_line(x, c))
		;
	if (t->status == FTR_INVAL)	/* put the line before the message */
		ftr_err_prefix(t->err, "%s:%u", t->path, t->line);
	else if (!t->status &&
		 !ftr_text_ok(t, ftr_builder_freeze(x->b, f, t->err)) &&
		 t->status == FTR_INVAL)
		ftr_err_prefix(t->err, "%s", t->path);
	if (t->status)
		ftr_builder_free(x->b);
}

static enum ftr_status read_file(const char *path, bool own,
				 const struct ftr_shape_opts *opts,
				 struct ftr_team *team,
				 struct ftr_nominal **out, bool *reshaped,
				 struct ftr_err *err)
{
	struct ftr_text t = { .path = path, .err = err, .fd = -1 };
	struct ftr_shape_opts with = { .leaf_order = FTR_LEAF_BY_GUID };
	struct body x = { .t = &t };
	struct ftr_old_ranks ranks;
	struct ftr_fabric *f = NULL;
	struct ftr_nominal *n = NULL;
	struct header h;
	char *text = NULL;
	size_t len = 0;
	enum ftr_status st = ftr_slurp(path, own, &text, &len, err);

	if (st)
		return st;
	parse(&x, text, len, &h, &f);
	st = t.status;
	/* Only valid fabrics are written, so a file with an invalid one is damaged. */
	if (st == FTR_INVAL && err)
		err->status = FTR_PARSE;
	st = st == FTR_INVAL ? FTR_PARSE : st;
	if (opts)
		with = *opts;
	ranks = (struct ftr_old_ranks){ x.rank, x.n_ranks, st ? 0 : h.lists };
	with.old = x.n_ranks ? &ranks : NULL;
	if (!st)
		st = ftr_nominal_new(f, &with, NULL, team, &n, NULL, err);
	if (!st) {
		if (reshaped)
			*reshaped = n->leaf_order != h.leaf_order ||
				n->lists != h.lists;
		*out = n;
	}
	ftr_fabric_free(f);
	free(x.rank);
	free(text);
	return st;
}

enum ftr_status ftr_nominal_read(const char *path,
				 const struct ftr_shape_opts *opts,
				 struct ftr_team *team,
				 struct ftr_nominal **out, bool *reshaped,
				 struct ftr_err *err)
{
	return read_file(path, false, opts, team, out, reshaped, err);
}

enum ftr_status ftr_nominal_read_own(const char *path,
				     const struct ftr_shape_opts *opts,
				     struct ftr_team *team,
				     struct ftr_nominal **out, bool *reshaped,
				     struct ftr_err *err)
{
	return read_file(path, true, opts, team, out, reshaped, err);
}

bool ftr_nominal_is_file(const char *path)
{
	char head[sizeof(MAGIC)] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd < 0)
		return false;
	do
		n = read(fd, head, sizeof(MAGIC) - 1);
	while (n < 0 && errno == EINTR);
	close(fd);
	return n == (ssize_t)sizeof(MAGIC) - 1 && !strcmp(head, MAGIC);
}
