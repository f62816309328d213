// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Fuzzes every reader of files with libFuzzer, and routes the fabrics that were read.  The
 * environment variable FUZZ_TARGET selects a target of the table at the end of this file.
 *
 * No input may cause a crash, a leak or a hang.  If an input is accepted, the result is
 * tested, too.  It must be possible to write a fabric and to read it again.  The tables of
 * engines must have no loop and no credit loop.
 *
 * Inputs are lines of text, so half of the mutations change lines, words and numbers
 * instead of bytes.  For fabrics, some mutations change links: they remove both ends of a
 * link, or exchange the ends of two links.  The fabric then has other links, but is still
 * accepted.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "osm/options.h"
#include <ftr/ftr.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed);
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ftr_fabric *fabric;	/* fuzzed tables and orders refer to this fabric */
static char path[64];			/* file with the input, for readers that open a file */
static void (*run)(const uint8_t *data, size_t size);

static void must(bool ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

/* Checks that an error message is one line of text. */
static void must_explain(enum ftr_status st, const struct ftr_err *err)
{
	must(st == FTR_OK || (err->msg[0] && !strchr(err->msg, '\n')),
	     "an error has no message, or its message is not one line");
}

static void put_file(const uint8_t *data, size_t size)
{
	FILE *out = fopen(path, "w");

	must(out && fwrite(data, 1, size, out) == size && !fclose(out),
	     "cannot write the input");
}

/* ---- fabrics -------------------------------------------------------------- */

/* An accepted fabric can be written, and the result can be read. */
static void round_trip(const struct ftr_fabric *f)
{
	struct ftr_fabric *g = NULL;
	struct ftr_err err = { 0 };
	uint32_t links = f->n_sw_links;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (ftr_ep e = 0; e < f->n_ep; e++)
		links += f->ep[e].sw != FTR_SW_NONE;
	must(out && !ftr_write_netfile(out, f, NULL, &err) && !fclose(out),
	     "a fabric cannot be written");
	must(!links || !ftr_parse_fabric("again", text, len, 0, &g, &err),
	     err.msg);
	ftr_fabric_free(g);
	free(text);
}

static void fuzz_fabric(const uint8_t *data, size_t size)
{
	struct ftr_fabric *f = NULL;
	struct ftr_err err = { 0 };
	enum ftr_status st = ftr_parse_fabric("input", (const char *)data,
					      size, 0, &f, &err);

	must_explain(st, &err);
	if (!st)
		round_trip(f);
	ftr_fabric_free(f);
}

static void check_routed(const struct ftr_shape *sh,
			 const struct ftr_engine_ops *ops)
{
	static struct ftr_check_report r;
	struct ftr_route_opts opts = FTR_ROUTE_OPTS_INIT;
	struct ftr_route_stats stats = { .order = NULL };
	struct ftr_check_opts co = { .switch_sources = true };
	struct ftr_tables *t = NULL;
	struct ftr_err err = { 0 };
	enum ftr_status st = ftr_tables_new(sh->f, false, &t, &err);

	if (!st)
		st = ops->route(sh, &opts, NULL, t, &stats, &err);
	must_explain(st, &err);
	must(st != FTR_INTERNAL, "an engine reports a bug");
	if (!st) {
		must(!ftr_check_tables(sh->f, t, &co, NULL, &r, &err),
		     "the tables cannot be checked");
		must(!r.found[FTR_FIND_LOOP], "a loop");
		must(!r.found[FTR_FIND_DEAD_PORT], "a path ends at a port without a link");
		must(!r.found[FTR_FIND_WRONG_END], "a path ends at the wrong host port");
		must(r.cdg != FTR_CDG_CYCLE, "a credit loop");
	}
	ftr_tables_free(t);
}

static void fuzz_route(const uint8_t *data, size_t size)
{
	const struct ftr_engine_ops *ops;
	struct ftr_shape_opts so = { .leaf_order = FTR_LEAF_BY_GUID };
	struct ftr_fabric *f = NULL;
	struct ftr_shape *sh = NULL;
	struct ftr_err err = { 0 };
	enum ftr_status st = ftr_parse_fabric("input", (const char *)data,
					      size, 0, &f, &err);

	if (!st)
		st = ftr_shape_new(f, &so, NULL, &sh, &err);
	must_explain(st, &err);
	for (unsigned int i = 0; !st && (ops = ftr_engine_at(i)); i++)
		check_routed(sh, ops);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}

/* ---- files for a fabric ---------------------------------------------------- */

static void fuzz_lfts(const uint8_t *data, size_t size)
{
	struct ftr_parts gaps;
	struct ftr_tables *t = NULL;
	struct ftr_err err = { 0 };

	put_file(data, size);
	must_explain(ftr_read_lfts(path, fabric, &t, &gaps, &err), &err);
	ftr_tables_free(t);
}

static void fuzz_guids(const uint8_t *data, size_t size)
{
	struct ftr_err err = { 0 };
	uint64_t *guid = NULL;
	uint32_t n;

	put_file(data, size);
	must_explain(ftr_read_guids_own(path, &guid, &n, &err), &err);
	free(guid);
}

static void fuzz_order(const uint8_t *data, size_t size)
{
	struct ftr_err err = { 0 };
	ftr_ep *order = NULL;
	uint32_t n;

	put_file(data, size);
	must_explain(ftr_read_order(path, fabric, &order, &n, &err), &err);
	free(order);
}

static void fuzz_pairs(const uint8_t *data, size_t size)
{
	struct ftr_transfer *pair = NULL;
	struct ftr_transfer *transfer = NULL;
	struct ftr_err err = { 0 };
	uint32_t n;

	put_file(data, size);
	must_explain(ftr_read_pairs(path, fabric, &pair, &n, &err), &err);
	must_explain(ftr_read_transfers(path, fabric, &transfer, &n, &err), &err);
	free(pair);
	free(transfer);
}

static void fuzz_sl2vl(const uint8_t *data, size_t size)
{
	struct ftr_sl2vl *m = NULL;
	struct ftr_err err = { 0 };
	uint32_t missing;

	put_file(data, size);
	must_explain(ftr_read_sl2vl(path, fabric, &m, &missing, &err), &err);
	ftr_sl2vl_free(m);
}

static void fuzz_psl(const uint8_t *data, size_t size)
{
	struct ftr_path_sl *p = NULL;
	struct ftr_err err = { 0 };

	put_file(data, size);
	must_explain(ftr_read_path_sl(path, fabric, &p, &err), &err);
	ftr_path_sl_free(p);
}

/* The reader refuses an input with a wrong checksum.  So the input is the content of the file,
 * without its first line. */
static void fuzz_state(const uint8_t *data, size_t size)
{
	struct ftr_state state;
	struct ftr_err err = { 0 };
	char *text = malloc(size + 64);
	int n;

	must(text != NULL, "no memory");
	n = sprintf(text, "ibfattree-state 1 %016llx %zu\n", (unsigned long long)
		    ftr_hash(FTR_HASH_INIT, data, size), size);
	memcpy(text + n, data, size);
	put_file((uint8_t *)text, (size_t)n + size);
	must_explain(ftr_state_read(path, true, NULL, &state, &err), &err);
	ftr_state_clear(&state);
	free(text);
}

static void fuzz_options(const uint8_t *data, size_t size)
{
	struct ibf_options o;
	struct ftr_err err = { 0 };

	put_file(data, size);
	ibf_options_default(&o);
	must_explain(ibf_options_read(path, &o, NULL, &err), &err);
}

static void fuzz_text(const uint8_t *data, size_t size)
{
	char *s = calloc(1, size + 1), *again;
	size_t len;

	must(s != NULL, "no memory");
	memcpy(s, data, size);
	len = strlen(s);
	ftr_text_clean(s);
	must(strlen(s) <= len, "the text has become longer");
	for (const char *c = s; *c; c++)
		must((unsigned char)*c >= 0x20 && *c != 0x7f,
		     "the text still has a control character");
	again = strdup(s);
	must(again && !strcmp(ftr_text_clean(again), s), "a second cleaning changes the text");
	free(again);
	free(s);
}

/* ---- mutations of lines ------------------------------------------------------ */

static const uint8_t *line_at(const uint8_t *data, size_t size, size_t at)
{
	while (at && data[at - 1] != '\n')
		at--;
	(void)size;
	return data + at;
}

static size_t line_len(const uint8_t *line, const uint8_t *end)
{
	const uint8_t *nl = memchr(line, '\n', (size_t)(end - line));

	return nl ? (size_t)(nl - line) + 1 : (size_t)(end - line);
}

/* Remove a random line, or insert a copy of it at another place. */
static size_t mutate_lines(uint8_t *data, size_t size, size_t max,
			   struct ftr_rng *r)
{
	const uint8_t *from = line_at(data, size,
				      ftr_rng_below(r, (uint32_t)size));
	size_t len = line_len(from, data + size), at;
	uint8_t copy[512];

	if (ftr_rng_below(r, 2)) {
		memmove(data + (from - data), from + len,
			size - (size_t)(from - data) - len);
		return size - len;
	}
	if (len > sizeof(copy) || size + len > max)
		return size;
	memcpy(copy, from, len);
	at = (size_t)(line_at(data, size, ftr_rng_below(r, (uint32_t)size)) -
		      data);
	memmove(data + at + len, data + at, size - at);
	memcpy(data + at, copy, len);
	return size + len;
}

/* Change a random digit, for example of a port, a LID or a GUID. */
static size_t mutate_number(uint8_t *data, size_t size, struct ftr_rng *r)
{
	size_t at = ftr_rng_below(r, (uint32_t)size);

	for (size_t i = 0; i < size; i++, at = (at + 1) % size)
		if (data[at] >= '0' && data[at] <= '9') {
			data[at] = (uint8_t)('0' + ftr_rng_below(r, 10));
			break;
		}
	return size;
}

/* ---- mutations of links: lines [PORT] "PEER"[PORT] under a node's first line ---- */

#define LINKS_MAX 8192
#define ID_MAX 32

struct end {
	char node[ID_MAX], peer[ID_MAX];
	unsigned int port, peer_port;
	size_t at, len;		/* offset and length of the line */
	size_t peer_at, peer_len;	/* offset and length of "PEER"[PORT] */
};

/* Copy the next quoted word of the line at c to id.  Returns the end of the word, or NULL. */
static const char *quoted(const char *c, char *id)
{
	const char *from = c + strcspn(c, "\"\n"), *to;

	if (*from != '"')
		return NULL;
	from++;
	to = from + strcspn(from, "\"\n");
	if (*to != '"' || to - from >= ID_MAX)
		return NULL;
	memcpy(id, from, (size_t)(to - from));
	id[to - from] = '\0';
	return to + 1;
}

static bool read_end(const char *text, const char *line, const char *node,
		     struct end *e)
{
	const char *c, *quote = line + strcspn(line, "\"\n");
	int n = 0;

	if (sscanf(line, "[%u]", &e->port) != 1 || *quote != '"' ||
	    !(c = quoted(line, e->peer)) ||
	    sscanf(c, "[%u]%n", &e->peer_port, &n) != 1 || !n ||
	    c + n > line + strcspn(line, "\n"))	/* %u skips newlines */
		return false;
	strcpy(e->node, node);
	e->at = (size_t)(line - text);
	e->len = strcspn(line, "\n") + 1;
	e->peer_at = (size_t)(quote - text);
	e->peer_len = (size_t)(c + n - quote);
	return true;
}

static uint32_t read_ends(const char *text, struct end *e)
{
	char node[ID_MAX] = "";
	uint32_t n = 0;

	for (const char *line = text; *line && n < LINKS_MAX;) {
		const char *next = line + strcspn(line, "\n");

		if (*line == '[')
			n += node[0] && read_end(text, line, node, &e[n]);
		else if (!quoted(line, node))
			node[0] = '\0';
		line = next + (*next != '\0');
	}
	return n;
}

static struct end *other_end(struct end *e, uint32_t n, const struct end *x)
{
	for (uint32_t i = 0; i < n; i++)
		if (&e[i] != x && !strcmp(e[i].node, x->peer) &&
		    !strcmp(e[i].peer, x->node) &&
		    e[i].port == x->peer_port && e[i].peer_port == x->port)
			return &e[i];
	return NULL;
}

/* A change of line x: its link then leads to (id, port).  id NULL: line x is removed. */
struct change {
	const struct end *x;
	const char *id;
	unsigned int port;
};

static int by_place(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return (x->x->at > y->x->at) - (x->x->at < y->x->at);
}

static size_t apply(const char *text, size_t size, struct change *c,
		    unsigned int n, uint8_t *data, size_t max)
{
	char *out;
	size_t len, at = 0;
	FILE *f = open_memstream(&out, &len);

	must(f != NULL, "no memory");
	qsort(c, n, sizeof(*c), by_place);
	for (unsigned int i = 0; i < n; i++) {
		const struct end *x = c[i].x;
		size_t to = c[i].id ? x->peer_at : x->at;

		fwrite(text + at, 1, to - at, f);
		at = x->at + x->len;
		if (c[i].id) {
			fprintf(f, "\"%s\"[%u]", c[i].id, c[i].port);
			at = x->peer_at + x->peer_len;
		}
	}
	if (at < size)
		fwrite(text + at, 1, size - at, f);
	fclose(f);
	len = FTR_MIN(len, max);
	memcpy(data, out, len);
	free(out);
	return len;
}

static size_t mutate_links(uint8_t *data, size_t size, size_t max,
			   struct ftr_rng *r)
{
	static struct end e[LINKS_MAX];
	char *text = calloc(1, size + 1);
	struct end *a, *b, *c, *d;
	uint32_t n;

	must(text != NULL, "no memory");
	memcpy(text, data, size);
	n = read_ends(text, e);
	a = n ? &e[ftr_rng_below(r, n)] : NULL;
	b = a ? other_end(e, n, a) : NULL;
	c = b ? &e[ftr_rng_below(r, n)] : NULL;
	d = c && c != a && c != b ? other_end(e, n, c) : NULL;
	if (d && d != a && d != b && ftr_rng_below(r, 3)) {		/* swap the far ends */
		struct change swap[] = {
			{ a, d->node, d->port }, { d, a->node, a->port },
			{ c, b->node, b->port }, { b, c->node, c->port },
		};

		size = apply(text, size, swap, 4, data, max);
	} else if (b) {
		struct change cut[] = { { a, NULL, 0 }, { b, NULL, 0 } };

		size = apply(text, size, cut, 2, data, max);
	}
	free(text);
	return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max,
			       unsigned int seed)
{
	struct ftr_rng r;

	ftr_rng_seed(&r, seed);
	if (!size || ftr_rng_below(&r, 2))
		return LLVMFuzzerMutate(data, size, max);
	if ((run == fuzz_fabric || run == fuzz_route) && ftr_rng_below(&r, 2)) {
		for (uint32_t n = 1 + ftr_rng_below(&r, 6); n && size; n--)
			size = mutate_links(data, size, max, &r);
		return size;
	}
	for (uint32_t n = 1 + ftr_rng_below(&r, 4); n && size; n--)
		size = ftr_rng_below(&r, 2) ? mutate_number(data, size, &r) :
		       mutate_lines(data, size, max, &r);
	return size;
}

/* ---- targets ------------------------------------------------------------------ */

static const struct {
	const char *name;
	void (*run)(const uint8_t *data, size_t size);
} target[] = {
	{ "fabric", fuzz_fabric }, { "route", fuzz_route },
	{ "lfts", fuzz_lfts }, { "guids", fuzz_guids },
	{ "order", fuzz_order }, { "pairs", fuzz_pairs },
	{ "sl2vl", fuzz_sl2vl }, { "psl", fuzz_psl },
	{ "state", fuzz_state }, { "options", fuzz_options },
	{ "text", fuzz_text },
};

static void clean_up(void)
{
	unlink(path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = getenv("FUZZ_TARGET");
	struct ftr_gen_opts go = { .seed = 1 };
	struct ftr_err err = { 0 };

	(void)argc;
	(void)argv;
	for (size_t i = 0; name && i < FTR_ARRAY_LEN(target); i++)
		if (!strcmp(target[i].name, name))
			run = target[i].run;
	if (!run) {
		fprintf(stderr, "FUZZ_TARGET is none of:");
		for (size_t i = 0; i < FTR_ARRAY_LEN(target); i++)
			fprintf(stderr, " %s", target[i].name);
		fprintf(stderr, "\n");
		exit(2);
	}
	must(!ftr_gen_shape("2;2,2;1,2;1,1", &go, &fabric, &err), err.msg);
	snprintf(path, sizeof(path), "/dev/shm/ibfattree-fuzz.%ld",
		 (long)getpid());
	atexit(clean_up);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run(data, size);
	return 0;
}
