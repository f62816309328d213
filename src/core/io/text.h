/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reading text files: the lines of a file, a cursor in a line, and the errors of readers. */
#ifndef FTR_IO_TEXT_H
#define FTR_IO_TEXT_H

#include <stdio.h>
#include <string.h>

#include "base/base.h"
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
	bool cut;		/* true: the line that was returned last had no newline */
};

/* The part [p, end) of a line that is not yet read. p is NULL after the last line. */
struct ftr_cur {
	const char *p, *end;
};

/*
 * The functions ftr_text_...() that return bool return false after an error, which they store in
 * t->status and t->err.
 */

void ftr_text_mem(struct ftr_text *t, const char *path, const char *text,
		  size_t len, struct ftr_err *err);
/* Open a file. If own is true, it is a file of the plugin, and the rules of core/file.h apply. A
 * line is valid until the next one is read. Call ftr_text_close() even after an error. */
bool ftr_text_open(struct ftr_text *t, const char *path, bool own,
		   struct ftr_err *err) FTR_MUST_USE;
void ftr_text_close(struct ftr_text *t);
bool ftr_text_line(struct ftr_text *t, struct ftr_cur *c) FTR_MUST_USE;
/* Like ftr_text_line(), but skips blank lines, comments ('#'), and blanks at the start of a
 * line. */
bool ftr_text_meaningful(struct ftr_text *t, struct ftr_cur *c) FTR_MUST_USE;
/* Call fn for every line that ftr_text_meaningful() returns, until reading or fn fails. */
typedef bool (*ftr_line_fn)(void *ctx, struct ftr_cur *line);
bool ftr_text_each(struct ftr_text *t, ftr_line_fn fn, void *ctx) FTR_MUST_USE;
/* Read the whole file into malloc()ed memory. FTR_LIMIT: it has, or unpacks to, more than
 * FTR_SLURP_MAX bytes. FTR_PARSE: it contains a NUL byte. own: as for ftr_text_open(). */
#define FTR_SLURP_MAX (256u << 20)	/* far larger than any fabric file */
enum ftr_status ftr_slurp(const char *path, bool own, char **text, size_t *len,
			  struct ftr_err *err) FTR_MUST_USE;

/* Record an error, with "PATH:LINE: " before its text, and return false. LINE is the line that was
 * returned last (ftr_text_fail) or the given line (ftr_text_fail_at). */
#define ftr_text_fail(t, ...) ftr_text_fail_at((t), (t)->line, __VA_ARGS__)
bool ftr_text_fail_at(struct ftr_text *t, uint32_t line, enum ftr_status status,
		      const char *fmt, ...) FTR_PRINTF(4, 5);
/* Record the error "expected WHAT, found 'rest of the line'". Returns false. */
bool ftr_text_expected(struct ftr_text *t, const struct ftr_cur *c,
		       const char *what);
bool ftr_text_nomem(struct ftr_text *t);
/* Record the error "the file ends in the middle of a line: '...'". Returns false. For readers that
 * find that the last line is incomplete. */
bool ftr_text_torn(struct ftr_text *t, struct ftr_cur line);
/* Set t->status to the result st of a function that has stored its error in t->err. Returns true if
 * st is FTR_OK. */
static inline bool ftr_text_ok(struct ftr_text *t, enum ftr_status st)
{
	t->status = st;
	return st == FTR_OK;
}

/* Text from a file, made printable and short for use in a message. */
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
/* Each of these functions skips the given text if the cursor is before it. Otherwise it returns
 * false. */
bool ftr_cur_char(struct ftr_cur *c, char ch);
bool ftr_cur_str(struct ftr_cur *c, const char *s);
bool ftr_cur_word(struct ftr_cur *c, const char *word);
/* Read a number up to max. base is 10, 16 or 0 (hex if it begins with 0x, otherwise decimal). */
bool ftr_cur_uint(struct ftr_cur *c, unsigned int base, uint64_t max,
		  uint64_t *out);
/* Find s, and move the cursor behind it. */
bool ftr_cur_find(struct ftr_cur *c, const char *s);
/* Returns true if the cursor is at the end of the line or before a blank. */
bool ftr_cur_gap(const struct ftr_cur *c);
/* Returns true if the cursor is before "0x" and at least one more character. */
bool ftr_cur_hex_follows(const struct ftr_cur *c);
/* ftr_text_uint(): like ftr_cur_uint(), but record the error "expected WHAT" if no such number
 * follows. ftr_text_next(): skip blanks, then like ftr_text_uint(). ftr_text_mark(): skip blanks,
 * then read the character ch. */
bool ftr_text_uint(struct ftr_text *t, struct ftr_cur *c, unsigned int base,
		   uint64_t max, const char *what, uint64_t *out) FTR_MUST_USE;
bool ftr_text_next(struct ftr_text *t, struct ftr_cur *c, unsigned int base,
		   uint64_t max, const char *what, uint64_t *out) FTR_MUST_USE;
/* Skip blanks, and read a number that ends at the end of the line or before a blank. If there is
 * none, record the error "expected WHAT" at the cursor. */
bool ftr_text_field(struct ftr_text *t, struct ftr_cur *c, unsigned int base, uint64_t max,
		    const char *what, uint64_t *out) FTR_MUST_USE;
/* Skip blanks. If the line goes on, record the error "expected WHAT". */
bool ftr_text_end(struct ftr_text *t, struct ftr_cur *c, const char *what) FTR_MUST_USE;
bool ftr_text_mark(struct ftr_text *t, struct ftr_cur *c, char ch,
		   const char *what) FTR_MUST_USE;

/* Call this after writing a file. FTR_IO ("cannot write WHAT: ..."): a write failed. */
enum ftr_status ftr_written(FILE *out, const char *what,
			    struct ftr_err *err) FTR_MUST_USE;

/* ---- files with a part for each switch or source --------------------------- */

/* Count a foreign part. Its line is the one that was returned last. */
void ftr_parts_foreign(struct ftr_parts *p, const struct ftr_text *t,
		       uint64_t guid);
/* Call this at the end of the file.  FTR_INVAL: the file has no known part.  FTR_PARSE: it has no
 * part. The messages contain the strings `whose` and `what`, such as "source" and "SL". */
bool ftr_parts_end(const struct ftr_parts *p, struct ftr_text *t,
		   const char *whose, const char *what) FTR_MUST_USE;

#endif
