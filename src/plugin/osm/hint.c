// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Suggests an engine for a misspelt name.  The suggestion is the engine of this plugin
 * whose name has the smallest edit distance (Levenshtein 1966) to the misspelt name.  If
 * the distance is greater than MAX_EDITS, there is no suggestion.  Case is ignored.
 */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/base.h"
#include "osm/hint.h"
#include <ftr/engine.h>

#define MAX_NAME 16
#define MAX_EDITS 2

static const char *const stock[] = {
	"minhop", "updn", "dnup", "file", "ftree", "lash", "dor", "torus-2QoS",
	"nue", "dfsssp", "sssp", "no_fallback", NULL
};

static unsigned int edits(const char *a, size_t la, const char *b, size_t lb)
{
	unsigned int row[MAX_NAME + 1];

	for (size_t j = 0; j <= lb; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= lb; j++) {
			bool same = tolower((unsigned char)a[i - 1]) ==
				tolower((unsigned char)b[j - 1]);
			unsigned int best = diagonal + !same;

			diagonal = row[j];
			best = FTR_MIN(best, row[j] + 1);
			row[j] = FTR_MIN(best, row[j - 1] + 1);
		}
	}
	return row[lb];
}

static bool is_word(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(word, name, len);
}

const char *ibf_hint(const char *word, size_t len)
{
	const struct ftr_engine_ops *ops;
	const char *best = NULL;
	unsigned int least = MAX_EDITS + 1;

	if (len > MAX_NAME)
		return NULL;
	for (unsigned int i = 0; stock[i]; i++)
		if (is_word(word, len, stock[i]))
			return NULL;
	for (unsigned int i = 0; (ops = ftr_engine_at(i)); i++) {
		unsigned int n;

		if (is_word(word, len, ops->name))
			return NULL;
		n = edits(word, len, ops->name, strlen(ops->name));
		if (n < least) {
			least = n;
			best = ops->name;
		}
	}
	return best;
}
