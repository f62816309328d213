/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The lines of a file, a cursor within a line, and the errors of readers of text. */
#ifndef FTR_IO_TEXT_H
#define FTR_IO_TEXT_H

#include <stdio.h>
#include <string.h>

#include "core/core.h"
#include "io/source_file.h"

#define FTR_LINE_MAX 4096

struct ftr_text {
	const char *path;	/* for messages */
	struct ftr_err *err;
	enum ftr_status status;	/* FTR_OK until the first error */
	const char *at, *end;	/* bytes not yet returned */
	uint32_t line;		/* number of the last line returned, from 1 */
	int fd;			/* -1: all bytes are in memory already */
	struct ftr_source source;	/* reads from fd */
	char *buf;		/* holds [at, end); NULL: all bytes are in memory already */
	bool cut;		/* true: the last line returned had no newline */
};

/* A piece [p, end) of one line. p is NULL after the last line. */
struct ftr_cur {
	const char *p, *end;
};

/*
 * The functions ftr_text_... that return bool return false after an error.  The error is then in
 * t->status and t->err.
 */

void ftr_text_mem(struct ftr_text *t, const char *path, const char *text,
		  size_t len, struct ftr_err *err);
/* Open a file. own: true if it is a file of the plugin, with the rules of core/file.h. A line is
 * valid until the next one is read. Call ftr_text_close() even after an error. */
bool ftr_text_open(struct ftr_text *t, const char *path, bool own,
		   struct ftr_err *err) FTR_MUST_USE;
void ftr_text_close(struct ftr_text *t);
bool ftr_text_line(struct ftr_text *t, struct ftr_cur *c) FTR_MUST_USE;
/* Like ftr_text_line(), but skips blank lines, comments ('#'), and blanks at the start of a
 * line. */
bool ftr_text_meaningful(struct ftr_text *t, struct ftr_cur *c) FTR_MUST_USE;
/* Call fn for every line of ftr_text_meaningful() until reading or fn fails. */
typedef bool (*ftr_line_fn)(void *ctx, struct ftr_cur *line);
bool ftr_text_each(struct ftr_text *t, ftr_line_fn fn, void *ctx) FTR_MUST_USE;
/* Read the whole file into malloc()ed memory. FTR_LIMIT: it has more than FTR_SLURP_MAX bytes,
 * packed or unpacked. FTR_PARSE: it has a NUL byte. own: as in ftr_text_open(). */
#define FTR_SLURP_MAX (256u << 20)	/* far larger than any fabric file */
enum ftr_status ftr_slurp(const char *path, bool own, char **text, size_t *len,
			  struct ftr_err *err) FTR_MUST_USE;

/* These functions record an error and return false. ftr_text_fail: "PATH:LINE: text", where LINE is
 * the last line returned. ftr_text_fail_at: the same with a given line. */
#define ftr_text_fail(t, ...) ftr_text_fail_at((t), (t)->line, __VA_ARGS__)
bool ftr_text_fail_at(struct ftr_text *t, uint32_t line, enum ftr_status status,
		      const char *fmt, ...) FTR_PRINTF(4, 5);
/* "expected WHAT, found 'rest of the line'" */
bool ftr_text_expected(struct ftr_text *t, const struct ftr_cur *c,
		       const char *what);
bool ftr_text_nomem(struct ftr_text *t);
/* "the file ends in the middle of a line: '...'": for readers that find the last line
 * incomplete. */
bool ftr_text_torn(struct ftr_text *t, struct ftr_cur line);
/* Record the result st of a function that reports its errors in t->err. */
static inline bool ftr_text_ok(struct ftr_text *t, enum ftr_status st)
{
	t->status = st;
	return st == FTR_OK;
}

/* Text from a file for use in a message: printable and short. */
struct ftr_quoted {
	char s[44];
};
struct ftr_quoted ftr_quote(const char *s, size_t len);
static inline struct ftr_quoted ftr_quote_cur(const struct ftr_cur *c)
{
	return ftr_quote(c->p, (size_t)(c->end - c->p));
}

void ftr_cur_blanks(struct ftr_cur *c);
static inline bool ftr_cur_end(const struct ftr_cur *c)
{
	return c->p == c->end;
}
static inline size_t ftr_cur_len(const struct ftr_cur *c)
{
	return (size_t)(c->end - c->p);
}
static inline bool ftr_cur_same(const struct ftr_cur *a, const struct ftr_cur *b)
{
	return ftr_cur_len(a) == ftr_cur_len(b) &&
	       !memcmp(a->p, b->p, ftr_cur_len(a));
}
/* Each of these skips the given text if it comes next. Returns false if something else comes
 * next. */
bool ftr_cur_char(struct ftr_cur *c, char ch);
bool ftr_cur_str(struct ftr_cur *c, const char *s);
bool ftr_cur_word(struct ftr_cur *c, const char *word);
/* Read a number up to max, of base 10 or 16. Base 0: hex after 0x, otherwise decimal. */
bool ftr_cur_uint(struct ftr_cur *c, unsigned int base, uint64_t max,
		  uint64_t *out);
/* Advance to the end of the first occurrence of s. */
bool ftr_cur_find(struct ftr_cur *c, const char *s);
/* True at the end of the line or before a blank. */
bool ftr_cur_gap(const struct ftr_cur *c);
/* True before "0x" and at least one more character. */
bool ftr_cur_hex_follows(const struct ftr_cur *c);
/* Like ftr_cur_uint(); if no such number follows, record the error "expected WHAT". ftr_text_next()
 * and ftr_text_mark() first skip blanks. ftr_text_mark() expects the character ch. */
bool ftr_text_uint(struct ftr_text *t, struct ftr_cur *c, unsigned int base,
		   uint64_t max, const char *what, uint64_t *out) FTR_MUST_USE;
bool ftr_text_next(struct ftr_text *t, struct ftr_cur *c, unsigned int base,
		   uint64_t max, const char *what, uint64_t *out) FTR_MUST_USE;
bool ftr_text_mark(struct ftr_text *t, struct ftr_cur *c, char ch,
		   const char *what) FTR_MUST_USE;

/* Call this after writing a file. FTR_IO, "cannot write WHAT: ...": a write failed. */
enum ftr_status ftr_written(FILE *out, const char *what,
			    struct ftr_err *err) FTR_MUST_USE;

/* ---- files with a part for each switch or source --------------------------- */

/* Parts of a file that belong to the fabric (known), and all other parts (foreign). */
struct ftr_parts {
	uint64_t known;
	uint32_t foreign;
	uint32_t line;		/* line of the first foreign part; 0: none */
	uint64_t guid;		/* GUID of the first foreign part */
};

/* Count a part that does not belong to the fabric. The last line returned names it. */
void ftr_parts_foreign(struct ftr_parts *p, const struct ftr_text *t,
		       uint64_t guid);
/* Call this at the end of the file. FTR_INVAL: no part belongs to the fabric. FTR_PARSE: there are
 * no parts. whose, what: words of these messages, such as "source" and "SL". */
bool ftr_parts_end(const struct ftr_parts *p, struct ftr_text *t,
		   const char *whose, const char *what) FTR_MUST_USE;

#endif
