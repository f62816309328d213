// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Suggests an engine for a misspelt name: the engine of this plugin whose name differs from it in the
 * fewest letters, at most MAX_EDITS between a common beginning and a common end.  Case is ignored.
 */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "osm/hint.h"
#include <ftr/engine.h>

#define MAX_EDITS 2

static const char *const stock[] = {
	"minhop", "updn", "dnup", "file", "ftree", "lash", "dor", "torus-2QoS",
	"nue", "dfsssp", "sssp", "no_fallback", NULL
};

/* The number of letters that are left of the longer word without the common beginning and end. */
static size_t difference(const char *a, size_t la, const char *b, size_t lb)
{
	size_t n = FTR_MIN(la, lb), from = 0, to = 0;

	while (from < n && tolower((unsigned char)a[from]) == b[from])
		from++;
	while (to < n - from && tolower((unsigned char)a[la - 1 - to]) == b[lb - 1 - to])
		to++;
	return FTR_MAX(la, lb) - from - to;
}

static bool is_word(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(word, name, len);
}

const char *ibf_hint(const char *word, size_t len)
{
	const struct ftr_engine_ops *ops;
	const char *best = NULL;
	size_t least = MAX_EDITS + 1;

	for (unsigned int i = 0; stock[i]; i++)
		if (is_word(word, len, stock[i]))
			return NULL;
	for (unsigned int i = 0; (ops = ftr_engine_at(i)); i++) {
		size_t n = difference(word, len, ops->name, strlen(ops->name));

		if (is_word(word, len, ops->name))
			return NULL;
		if (n < least) {
			least = n;
			best = ops->name;
		}
	}
	return best;
}
