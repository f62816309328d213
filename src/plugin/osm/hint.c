// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Suggests an engine for a misspelt name: the engine of this plugin whose name differs from it in the
 * fewest letters, at most MAX_EDITS.  Case is ignored.
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

/* The least number of letters to add, to remove or to replace, if it is at most `limit`; or a greater number. */
static size_t edits(const char *a, size_t la, const char *b, size_t limit)
{
	size_t add, drop, replace;

	for (; la && tolower((unsigned char)*a) == *b; la--)
		a++, b++;
	if (!la || !*b || !limit)
		return la + strlen(b);
	add = edits(a, la, b + 1, limit - 1);
	drop = edits(a + 1, la - 1, b, limit - 1);
	replace = edits(a + 1, la - 1, b + 1, limit - 1);
	return 1 + FTR_MIN(FTR_MIN(add, drop), replace);
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
		size_t n = edits(word, len, ops->name, MAX_EDITS);

		if (is_word(word, len, ops->name))
			return NULL;
		if (n < least) {
			least = n;
			best = ops->name;
		}
	}
	return best;
}
