// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GUID files: one GUID per line, hex with or without 0x; '#' begins a comment.  OpenSM
 * ignores a name after the GUID, and so does this reader.  A second GUID on a line is an
 * error: two lines have become one.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "io/io.h"

static enum ftr_status guid(const struct ftr_text *t, struct ftr_cur c,
			    uint64_t *out)
{
	struct ftr_cur at = c;
	const char *stop;

	if (!ftr_cur_uint(&at, 16, UINT64_MAX, out))
		return ftr_text_expected(t, &c, "a GUID");
	stop = at.p;
	ftr_cur_blanks(&at);
	if (!ftr_cur_end(&at) && *at.p != '#' &&
	    (at.p == stop || ftr_cur_str(&at, "0x")))
		return ftr_text_expected(t, &c, "a GUID and nothing else");
	if (!*out)
		return ftr_text_fail(t, FTR_PARSE, "GUID 0 is not valid");
	return FTR_OK;
}

/* Far more than the number of LIDs. */
#define GUIDS_MAX (1u << 20)

static enum ftr_status read_list(struct ftr_text *t, uint64_t **list,
				 uint32_t *count)
{
	uint32_t cap = 0;
	struct ftr_cur c;
	enum ftr_status st;

	while (!(st = ftr_text_meaningful(t, &c)) && c.p) {
		if (*count == GUIDS_MAX)
			return ftr_text_fail(t, FTR_LIMIT, "more than %u GUIDs",
					     GUIDS_MAX);
		if (!FTR_GROW(*list, *count, cap))
			return ftr_text_nomem(t);
		st = guid(t, c, &(*list)[*count]);
		if (st)
			return st;
		++*count;
	}
	if (!st && !*list) {
		*list = ftr_malloc(sizeof(**list));
		if (!*list)
			st = ftr_text_nomem(t);
	}
	return st;
}

static enum ftr_status read_opened(struct ftr_text *t, uint64_t **guids,
				   uint32_t *n)
{
	uint64_t *list = NULL;
	uint32_t count = 0;
	enum ftr_status st = read_list(t, &list, &count);

	ftr_text_close(t);
	if (st) {
		free(list);
		return st;
	}
	*guids = list;
	*n = count;
	return FTR_OK;
}

enum ftr_status ftr_read_guids(const char *path, uint64_t **guids, uint32_t *n,
			       struct ftr_err *err)
{
	struct ftr_text t;
	enum ftr_status st = ftr_text_open(&t, path, err);

	return st ? st : read_opened(&t, guids, n);
}

enum ftr_status ftr_read_guids_own(const char *path, uint64_t **guids,
				   uint32_t *n, struct ftr_err *err)
{
	struct ftr_text t;
	enum ftr_status st = ftr_text_open_own(&t, path, err);

	return st ? st : read_opened(&t, guids, n);
}
