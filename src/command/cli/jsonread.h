/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * jsonread: reads JSON in place.
 *
 * Values are slices of the caller's text.  Nothing is copied or allocated, so lookups
 * cannot run out of memory, and the text may have any length.  (json-c, which writes
 * the JSON of this command, is not used: if an allocation fails while it parses, it dereferences
 * NULL or drops text.)
 */
#ifndef FTR_CLI_JSONREAD_H
#define FTR_CLI_JSONREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cli_jtype {
	CLI_J_NONE = 0,		/* no value: result of a failed lookup */
	CLI_J_OBJECT, CLI_J_ARRAY, CLI_J_STRING, CLI_J_NUMBER,
	CLI_J_WORD		/* true, false, null */
};

/* A value.  p: its first byte; end: the byte after its last one. */
struct cli_jval {
	const char *p, *end;
};

/* Maximum nesting depth; deeper text is refused. */
#define CLI_J_DEPTH_MAX 16

/* Parses the text as one value surrounded by white space (RFC 8259).  Returns false if
 * the text is not JSON, is nested too deeply, or goes on after the value; *v then has type
 * CLI_J_NONE.  All other functions take *v, or a value inside it. */
bool cli_j_parse(const char *text, size_t len, struct cli_jval *v);
enum cli_jtype cli_j_type(struct cli_jval v);
/* Returns the first member of o whose name, as written in the text, is equal to key.  Returns a
 * value of type CLI_J_NONE if there is none or o is not an object. */
struct cli_jval cli_j_member(struct cli_jval o, const char *key);
/* Sets *v to the next element of the array, or returns false if there is none.  *at must be NULL at
 * the first call. */
bool cli_j_next(struct cli_jval array, const char **at, struct cli_jval *v);
/* Returns false if v is not a number. */
bool cli_j_real(struct cli_jval v, double *out);
/* Returns false if v is not an integer from 0 to max, written without point or
 * exponent. */
bool cli_j_uint(struct cli_jval v, uint64_t max, uint64_t *out);
/* Copies the bytes between the quotes of string v to buf, with escapes unchanged, truncated to fit.
 * If v is not a string, buf gets "".  Returns buf. */
const char *cli_j_text(struct cli_jval v, char *buf, size_t size);
/* Copies the text of value v to buf, truncated to fit.  Returns buf. */
const char *cli_j_raw(struct cli_jval v, char *buf, size_t size);

#endif
