// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads JSON in place.  cli_j_parse checks the whole text once, strictly.  Lookups then rely on
 * well-formed text.
 *
 * This is not json-c, which prints the JSON of the commands, because json-c's parser dereferences NULL
 * if an allocation fails (docs/upstream.md).  This parser allocates nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/jsonread.h"

static void blanks(struct cli_jval *c)
{
	while (c->p < c->end && *c->p && strchr(" \t\r\n", *c->p))
		c->p++;
}

static bool is(const struct cli_jval *c, char ch)
{
	return c->p < c->end && *c->p == ch;
}

static bool take(struct cli_jval *c, char ch)
{
	if (!is(c, ch))
		return false;
	c->p++;
	return true;
}

static bool digits(struct cli_jval *c)
{
	const char *first = c->p;

	while (c->p < c->end && *c->p >= '0' && *c->p <= '9')
		c->p++;
	return c->p > first;
}

static bool number(struct cli_jval *c)
{
	take(c, '-');
	if (!take(c, '0') && !digits(c))
		return false;
	if (take(c, '.') && !digits(c))
		return false;
	if (take(c, 'e') || take(c, 'E')) {
		if (!take(c, '+'))
			take(c, '-');
		return digits(c);
	}
	return true;
}

static bool hex4(struct cli_jval *c)
{
	for (int i = 0; i < 4; i++, c->p++)
		if (c->p == c->end || !*c->p ||
		    !strchr("0123456789abcdefABCDEF", *c->p))
			return false;
	return true;
}

static bool string(struct cli_jval *c)
{
	if (!take(c, '"'))
		return false;
	while (c->p < c->end) {
		unsigned char ch = (unsigned char)*c->p++;

		if (ch == '"')
			return true;
		if (ch < 0x20)
			return false;
		if (ch != '\\')
			continue;
		if (c->p == c->end || !*c->p || !strchr("\"\\/bfnrtu", *c->p))
			return false;
		if (*c->p++ == 'u' && !hex4(c))
			return false;
	}
	return false;
}

static bool word(struct cli_jval *c, const char *w)
{
	size_t len = strlen(w);

	if ((size_t)(c->end - c->p) < len || memcmp(c->p, w, len))
		return false;
	c->p += len;
	return true;
}

static bool value(struct cli_jval *c, unsigned int depth);

/* Parses the elements of an array, or the members of an object, up to the closing bracket. */
static bool elements(struct cli_jval *c, char close, unsigned int depth)
{
	if (depth == CLI_J_DEPTH_MAX)
		return false;
	c->p++;
	blanks(c);
	if (take(c, close))
		return true;
	do {
		blanks(c);
		if (close == '}') {
			if (!string(c))
				return false;
			blanks(c);
			if (!take(c, ':'))
				return false;
			blanks(c);
		}
		if (!value(c, depth + 1))
			return false;
		blanks(c);
	} while (take(c, ','));
	return take(c, close);
}

static bool value(struct cli_jval *c, unsigned int depth)
{
	if (is(c, '{'))
		return elements(c, '}', depth);
	if (is(c, '['))
		return elements(c, ']', depth);
	if (is(c, '"'))
		return string(c);
	return word(c, "true") || word(c, "false") || word(c, "null") ||
	       number(c);
}

bool cli_j_parse(const char *text, size_t len, struct cli_jval *v)
{
	struct cli_jval c = { text, text + len };

	*v = (struct cli_jval){ NULL, NULL };
	blanks(&c);
	text = c.p;
	if (!value(&c, 0))
		return false;
	*v = (struct cli_jval){ text, c.p };
	blanks(&c);
	if (c.p == c.end)
		return true;
	*v = (struct cli_jval){ NULL, NULL };
	return false;
}

enum cli_jtype cli_j_type(struct cli_jval v)
{
	if (!v.p)
		return CLI_J_NONE;
	switch (*v.p) {
	case '{':
		return CLI_J_OBJECT;
	case '[':
		return CLI_J_ARRAY;
	case '"':
		return CLI_J_STRING;
	case 't':
	case 'f':
	case 'n':
		return CLI_J_WORD;
	default:
		return CLI_J_NUMBER;
	}
}

struct cli_jval cli_j_member(struct cli_jval o, const char *key)
{
	struct cli_jval c = { o.p, o.end };
	size_t len = strlen(key);

	if (cli_j_type(o) != CLI_J_OBJECT)
		return (struct cli_jval){ NULL, NULL };
	c.p++;
	for (;;) {
		const char *k, *at;
		bool found;

		blanks(&c);
		k = c.p + 1;
		if (!string(&c))
			return (struct cli_jval){ NULL, NULL };
		found = (size_t)(c.p - 1 - k) == len && !memcmp(k, key, len);
		blanks(&c);
		take(&c, ':');
		blanks(&c);
		at = c.p;
		value(&c, 0);
		if (found)
			return (struct cli_jval){ at, c.p };
		blanks(&c);
		take(&c, ',');
	}
}

bool cli_j_next(struct cli_jval array, const char **at, struct cli_jval *v)
{
	struct cli_jval c = { *at ? *at : array.p + 1, array.end };

	blanks(&c);
	take(&c, ',');
	blanks(&c);
	if (is(&c, ']'))
		return false;
	v->p = c.p;
	if (!value(&c, 0))
		return false;
	v->end = *at = c.p;
	return true;
}

const char *cli_j_raw(struct cli_jval v, char *buf, size_t size)
{
	size_t len = v.p ? (size_t)(v.end - v.p) : 0;

	if (len >= size)
		len = size - 1;
	if (len)
		memcpy(buf, v.p, len);
	buf[len] = '\0';
	return buf;
}

const char *cli_j_text(struct cli_jval v, char *buf, size_t size)
{
	if (cli_j_type(v) != CLI_J_STRING)
		v = (struct cli_jval){ NULL, NULL };
	else
		v = (struct cli_jval){ v.p + 1, v.end - 1 };
	return cli_j_raw(v, buf, size);
}

bool cli_j_real(struct cli_jval v, double *out)
{
	char text[64];

	if (cli_j_type(v) != CLI_J_NUMBER ||
	    v.end - v.p >= (ptrdiff_t)sizeof(text))
		return false;
	*out = strtod(cli_j_raw(v, text, sizeof(text)), NULL);
	return true;
}

bool cli_j_uint(struct cli_jval v, uint64_t max, uint64_t *out)
{
	uint64_t n = 0;

	if (cli_j_type(v) != CLI_J_NUMBER)
		return false;
	for (const char *p = v.p; p < v.end; p++) {
		uint64_t d = (uint64_t)(unsigned char)*p - '0';

		if (d > 9 || d > max || n > (max - d) / 10)
			return false;
		n = n * 10 + d;
	}
	*out = n;
	return true;
}
