/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * jsonread: reading JSON in place.
 *
 * Values are slices of the caller's text: nothing is copied or allocated, so
 * nothing can run out of memory and the text may be of any length.  (json-c,
 * which writes our JSON, dereferences NULL or drops text when an allocation
 * fails while it parses.)
 */
#ifndef FTR_CLI_JSONREAD_H
#define FTR_CLI_JSONREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_jtype {
	CLI_J_NONE = 0,		/* no value: what a lookup gives in vain */
	CLI_J_OBJECT, CLI_J_ARRAY, CLI_J_STRING, CLI_J_NUMBER,
	CLI_J_WORD		/* true, false, null */
};

/* A value: from its first byte to behind its last. */
struct cli_jval {
	const char *p, *end;
};

/* Values inside each other; deeper text is refused. */
#define CLI_J_DEPTH_MAX 16

/* The text as one value with blanks around it (RFC 8259).  False: it is not
 * JSON, too deep, or something follows; *v is then of type NONE.  All other
 * functions take values that come from here. */
bool cli_j_parse(const char *text, size_t len, struct cli_jval *v);
enum cli_jtype cli_j_type(struct cli_jval v);
/* The first member of that name (without escapes), NONE if there is none or o
 * is no object. */
struct cli_jval cli_j_member(struct cli_jval o, const char *key);
/* Walk an array: *at NULL at the start; false at the end. */
bool cli_j_next(struct cli_jval array, const char **at, struct cli_jval *v);
/* False if v is no number. */
bool cli_j_real(struct cli_jval v, double *out);
/* False if v is no integer from 0 to max, written without point and exponent. */
bool cli_j_uint(struct cli_jval v, uint64_t max, uint64_t *out);
/* The bytes between the quotes, escapes as they are, cut to fit; "" if v is no
 * string. */
const char *cli_j_text(struct cli_jval v, char *buf, size_t size);
/* Any value as it stands, cut to fit. */
const char *cli_j_raw(struct cli_jval v, char *buf, size_t size);

#endif
