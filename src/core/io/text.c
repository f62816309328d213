// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lines of a file, and a cursor within a line.
 *
 * The bytes are in memory already, or are read from a descriptor into a buffer:
 *
 *	buf [ returned | at ... end | free ]
 *
 * A line is a pair of pointers into these bytes; nothing is copied.  NUL bytes and lines that are
 * too long are rejected here for all readers.  If the last line has no newline, it is returned, and
 * ftr_text.cut is set.  Only the reader can decide whether this line is truncated, or complete
 * (some editors write no newline at the end).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "io/text.h"
#include <ftr/text.h>

#define BUFFER_SIZE (256u * 1024)

/* ---- messages ---------------------------------------------------------- */

bool ftr_text_fail_at(struct ftr_text *t, uint32_t line, enum ftr_status status,
		      const char *fmt, ...)
{
	char msg[FTR_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return ftr_text_ok(t, ftr_fail(t->err, status, "%s:%u: %s", t->path,
				       FTR_MAX(line, 1u), msg));
}

bool ftr_text_expected(struct ftr_text *t, const struct ftr_cur *c,
		       const char *what)
{
	if (ftr_cur_end(c))
		return ftr_text_fail(t, FTR_PARSE, "expected %s, found the end of the line",
				     what);
	return ftr_text_fail(t, FTR_PARSE, "expected %s, found '%s'", what,
			     ftr_quote_cur(c).s);
}

bool ftr_text_torn(struct ftr_text *t, struct ftr_cur line)
{
	return ftr_text_fail(t, FTR_PARSE, "the file ends in the middle of a line: '%s'",
			     ftr_quote_cur(&line).s);
}

bool ftr_text_nomem(struct ftr_text *t)
{
	return ftr_text_ok(t, ftr_fail(t->err, FTR_NOMEM, "out of memory while reading %s",
				       t->path));
}

struct ftr_quoted ftr_quote(const char *s, size_t len)
{
	struct ftr_quoted q;
	size_t room = sizeof(q.s) - 1, n = FTR_MIN(len, room);

	memcpy(q.s, s, n);
	q.s[n] = '\0';
	if (len > room) {
		/* Do not cut within a UTF-8 character. */
		for (n = room - 3; n && ((unsigned char)s[n] & 0xc0) == 0x80;)
			n--;
		memcpy(q.s + n, "...", 4);
	}
	ftr_text_clean(q.s);
	return q;
}

/* ---- bytes ------------------------------------------------------------- */

void ftr_text_mem(struct ftr_text *t, const char *path, const char *text,
		  size_t len, struct ftr_err *err)
{
	*t = (struct ftr_text){ .path = path, .err = err, .at = text,
				.end = text + len, .fd = -1 };
}

static enum ftr_status open_file(const char *path, bool own, int *fd,
				 struct ftr_err *err)
{
	enum ftr_status st;

	if (own) {
		st = ftr_file_open(path, fd, err);
		if (st)
			*fd = -1;
		return st;
	}
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	return *fd >= 0 ? FTR_OK : ftr_fail(err, FTR_IO, "cannot open %s: %s",
					    path, strerror(errno));
}

bool ftr_text_open(struct ftr_text *t, const char *path, bool own,
		   struct ftr_err *err)
{
	*t = (struct ftr_text){ .path = path, .err = err, .fd = -1 };
	t->buf = ftr_malloc(BUFFER_SIZE);
	if (!t->buf)
		return ftr_text_nomem(t);
	t->at = t->end = t->buf;
	return ftr_text_ok(t, open_file(path, own, &t->fd, err)) &&
		ftr_text_ok(t, ftr_source_begin(&t->source, path, t->fd, err));
}

void ftr_text_close(struct ftr_text *t)
{
	ftr_source_end(&t->source);
	if (t->fd >= 0)
		close(t->fd);
	free(t->buf);
}

static bool refill(struct ftr_text *t)
{
	size_t left = (size_t)(t->end - t->at), n;

	memmove(t->buf, t->at, left);
	t->at = t->buf;
	t->end = t->buf + left;
	if (!ftr_text_ok(t, ftr_source_read(&t->source, t->buf + left,
					    BUFFER_SIZE - left, &n)))
		return false;
	t->end += n;
	if (!n) {
		close(t->fd);
		t->fd = -1;
	}
	return true;
}

/* Set *cap to the initial size of the buffer.  If the size of the file is known, the buffer has
 * space for the whole file. */
static enum ftr_status make_room(const char *path, int fd, size_t *cap,
				 struct ftr_err *err)
{
	struct stat sb;

	*cap = BUFFER_SIZE;
	if (fstat(fd, &sb) || !S_ISREG(sb.st_mode))
		return FTR_OK;
	if (sb.st_size > (off_t)FTR_SLURP_MAX)
		return ftr_fail(err, FTR_LIMIT, "%s has %lld bytes, more than the maximum %u",
				path, (long long)sb.st_size, FTR_SLURP_MAX);
	*cap = (size_t)sb.st_size + 1;
	return FTR_OK;
}

/* Read all bytes into *buf, which must be freed even after an error. */
static enum ftr_status read_all(const char *path, struct ftr_source *s,
				char **buf, size_t *len, struct ftr_err *err)
{
	size_t cap = 0, next, got;
	enum ftr_status st = make_room(path, s->fd, &next, err);

	if (st)
		return st;
	for (*len = 0;; *len += got) {
		if (*len > FTR_SLURP_MAX)
			return ftr_fail(err, FTR_LIMIT, "%s %s more than %u bytes",
					path, s->z ? "unpacks to" : "has",
					FTR_SLURP_MAX);
		if (*len == cap) {
			char *more = ftr_reallocarray(*buf, next, 1);

			if (!more)
				return ftr_fail(err, FTR_NOMEM, "out of memory while reading %s",
						path);
			*buf = more;
			cap = next;
			next = 2 * cap;
		}
		st = ftr_source_read(s, *buf + *len, cap - *len, &got);
		if (st || !got)
			return st;
		/* Reject NULs immediately, because a large sparse file consists of NULs. */
		if (memchr(*buf + *len, '\0', got))
			return ftr_fail(err, FTR_PARSE, "%s: NUL byte; this is not a text file",
					path);
	}
}

enum ftr_status ftr_slurp(const char *path, bool own, char **text, size_t *len,
			  struct ftr_err *err)
{
	char *buf = NULL;
	size_t n = 0;
	struct ftr_source s;
	int fd;
	enum ftr_status st = open_file(path, own, &fd, err);

	if (st)
		return st;
	st = ftr_source_begin(&s, path, fd, err);
	if (!st)
		st = read_all(path, &s, &buf, &n, err);
	ftr_source_end(&s);
	close(fd);
	if (st) {
		free(buf);
		return st;
	}
	*text = buf;
	*len = n;
	return FTR_OK;
}

enum ftr_status ftr_written(FILE *out, const char *what, struct ftr_err *err)
{
	if (fflush(out) || ferror(out))
		return ftr_fail(err, FTR_IO, "cannot write %s: %s", what,
				strerror(errno));
	return FTR_OK;
}

/* ---- lines --------------------------------------------------------------- */

/* Set *nl to the end of the line that starts at t->at, or to NULL if there is no newline or the
 * line is too long.  Returns false if the file cannot be read. */
static bool find_newline(struct ftr_text *t, const char **nl)
{
	do {
		size_t left = (size_t)(t->end - t->at);

		*nl = left ? memchr(t->at, '\n', left) : NULL;
		if (*nl || t->fd < 0 || left > FTR_LINE_MAX)
			return true;
	} while (refill(t));
	return false;
}

bool ftr_text_line(struct ftr_text *t, struct ftr_cur *c)
{
	const char *nl, *stop, *nul;

	if (!find_newline(t, &nl))
		return false;
	*c = (struct ftr_cur){ NULL, NULL };
	if (t->at == t->end)
		return true;
	t->line++;
	stop = nl ? nl : t->end;
	nul = memchr(t->at, '\0',
		     FTR_MIN((size_t)(stop - t->at), FTR_LINE_MAX));
	if (nul)
		return ftr_text_fail(t, FTR_PARSE, "NUL byte in column %zu",
				     (size_t)(nul - t->at) + 1);
	if (stop - t->at > FTR_LINE_MAX)
		return ftr_text_fail(t, FTR_PARSE, "line of more than %d bytes: '%s'",
				     FTR_LINE_MAX, ftr_quote(t->at, 64).s);
	t->cut = !nl;
	*c = (struct ftr_cur){ t->at, stop };
	t->at = nl ? nl + 1 : t->end;
	if (c->end > c->p && c->end[-1] == '\r')
		c->end--;
	return true;
}

bool ftr_text_meaningful(struct ftr_text *t, struct ftr_cur *c)
{
	do {
		if (!ftr_text_line(t, c))
			return false;
		ftr_cur_blanks(c);
	} while (c->p && (ftr_cur_end(c) || *c->p == '#'));
	return true;
}

bool ftr_text_each(struct ftr_text *t, ftr_line_fn fn, void *ctx)
{
	struct ftr_cur c;

	do {
		if (!ftr_text_meaningful(t, &c))
			return false;
	} while (c.p && fn(ctx, &c));
	return !t->status;
}

/* ---- parts ------------------------------------------------------------- */

void ftr_parts_foreign(struct ftr_parts *p, const struct ftr_text *t,
		       uint64_t guid)
{
	if (!p->foreign++) {
		p->line = t->line;
		p->guid = guid;
	}
}

bool ftr_parts_end(const struct ftr_parts *p, struct ftr_text *t,
		   const char *whose, const char *what)
{
	if (p->known)
		return true;
	if (p->foreign)
		return ftr_text_fail_at(t, p->line, FTR_INVAL,
					"no %s of this file is in the fabric; the first one in the file is 0x%016"
					PRIx64, whose, p->guid);
	return ftr_text_fail(t, FTR_PARSE, "the file contains no %s", what);
}

/* ---- inside a line ----------------------------------------------------- */

void ftr_cur_blanks(struct ftr_cur *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t'))
		c->p++;
}

bool ftr_cur_char(struct ftr_cur *c, char ch)
{
	if (c->p == c->end || *c->p != ch)
		return false;
	c->p++;
	return true;
}

bool ftr_cur_str(struct ftr_cur *c, const char *s)
{
	size_t len = strlen(s);

	if ((size_t)(c->end - c->p) < len || memcmp(c->p, s, len))
		return false;
	c->p += len;
	return true;
}

static bool in_word(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       (ch >= '0' && ch <= '9') || ch == '_' || ch == '-';
}

bool ftr_cur_word(struct ftr_cur *c, const char *word)
{
	struct ftr_cur at = *c;

	if (!ftr_cur_str(&at, word) || (at.p < at.end && in_word(*at.p)))
		return false;
	*c = at;
	return true;
}

static unsigned int digit(char ch)
{
	if (ch >= '0' && ch <= '9')
		return (unsigned int)(ch - '0');
	if (ch >= 'a' && ch <= 'f')
		return (unsigned int)(ch - 'a') + 10;
	if (ch >= 'A' && ch <= 'F')
		return (unsigned int)(ch - 'A') + 10;
	return 16;
}

bool ftr_cur_uint(struct ftr_cur *c, unsigned int base, uint64_t max,
		  uint64_t *out)
{
	struct ftr_cur at = *c;
	const char *first;
	uint64_t v = 0;

	if (base != 10 && (ftr_cur_str(&at, "0x") || ftr_cur_str(&at, "0X")))
		base = 16;
	else if (!base)
		base = 10;
	for (first = at.p; at.p < at.end && digit(*at.p) < base; at.p++) {
		unsigned int d = digit(*at.p);

		if (v > (max - FTR_MIN(d, max)) / base || d > max)
			return false;
		v = v * base + d;
	}
	if (at.p == first)
		return false;
	*c = at;
	*out = v;
	return true;
}

bool ftr_cur_find(struct ftr_cur *c, const char *s)
{
	size_t len = strlen(s);
	const char *hit = memmem(c->p, (size_t)(c->end - c->p), s, len);

	if (!hit)
		return false;
	c->p = hit + len;
	return true;
}

bool ftr_cur_gap(const struct ftr_cur *c)
{
	return ftr_cur_end(c) || *c->p == ' ' || *c->p == '\t';
}

bool ftr_cur_hex_follows(const struct ftr_cur *c)
{
	return c->end - c->p > 2 && c->p[0] == '0' && c->p[1] == 'x';
}

bool ftr_text_uint(struct ftr_text *t, struct ftr_cur *c, unsigned int base,
		   uint64_t max, const char *what, uint64_t *out)
{
	return ftr_cur_uint(c, base, max, out) || ftr_text_expected(t, c, what);
}

bool ftr_text_next(struct ftr_text *t, struct ftr_cur *c, unsigned int base,
		   uint64_t max, const char *what, uint64_t *out)
{
	ftr_cur_blanks(c);
	return ftr_text_uint(t, c, base, max, what, out);
}

bool ftr_text_mark(struct ftr_text *t, struct ftr_cur *c, char ch,
		   const char *what)
{
	ftr_cur_blanks(c);
	return ftr_cur_char(c, ch) || ftr_text_expected(t, c, what);
}

bool ftr_text_field(struct ftr_text *t, struct ftr_cur *c, unsigned int base, uint64_t max,
		    const char *what, uint64_t *out)
{
	struct ftr_cur at = *c;

	ftr_cur_blanks(&at);
	if (!ftr_cur_uint(&at, base, max, out) || !ftr_cur_gap(&at))
		return ftr_text_expected(t, c, what);
	*c = at;
	return true;
}

bool ftr_text_end(struct ftr_text *t, struct ftr_cur *c, const char *what)
{
	ftr_cur_blanks(c);
	return ftr_cur_end(c) || ftr_text_expected(t, c, what);
}
