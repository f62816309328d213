// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * GUID files: one GUID per line, hex with or without 0x; '#' begins a comment.  A name after the
 * GUID is ignored, as in OpenSM.  It is an error if text follows the GUID without a blank, or if
 * another number with 0x follows, because two lines may have been joined.
 */
#include <stdlib.h>

#include "io/text.h"

static bool guid(struct ftr_text *t, struct ftr_cur c, uint64_t *out)
{
	struct ftr_cur at = c;
	const char *stop;

	if (!ftr_text_uint(t, &at, 16, UINT64_MAX, "a GUID", out))
		return false;
	stop = at.p;
	ftr_cur_blanks(&at);
	if (!ftr_cur_end(&at) && *at.p != '#' &&
	    (at.p == stop || ftr_cur_str(&at, "0x")))
		return ftr_text_expected(t, &c, "a GUID and nothing else");
	return *out || ftr_text_fail(t, FTR_PARSE, "GUID 0 is not valid");
}

/* Greatest number of GUIDs in a file; a subnet has far fewer LIDs. */
#define GUIDS_MAX (1u << 20)

static bool read_list(struct ftr_text *t, uint64_t **list, uint32_t *n)
{
	struct ftr_cur c;
	uint32_t cap = 0;

	/* *list is not NULL even for an empty list. */
	if (!FTR_GROW(*list, *n, cap))
		return ftr_text_nomem(t);
	for (;;) {
		if (!ftr_text_meaningful(t, &c))
			return false;
		if (!c.p)
			return true;
		if (*n == GUIDS_MAX)
			return ftr_text_fail(t, FTR_LIMIT, "more than %u GUIDs", GUIDS_MAX);
		if (!FTR_GROW(*list, *n, cap))
			return ftr_text_nomem(t);
		if (!guid(t, c, &(*list)[(*n)++]))
			return false;
	}
}

static enum ftr_status read_guids(const char *path, bool own, uint64_t **guids,
				  uint32_t *n, struct ftr_err *err)
{
	struct ftr_text t;
	uint64_t *list = NULL;
	uint32_t n_list = 0;

	if (ftr_text_open(&t, path, own, err) && read_list(&t, &list, &n_list)) {
		*guids = list;
		*n = n_list;
	} else {
		free(list);
	}
	ftr_text_close(&t);
	return t.status;
}

enum ftr_status ftr_read_guids(const char *path, uint64_t **guids, uint32_t *n,
			       struct ftr_err *err)
{
	return read_guids(path, false, guids, n, err);
}

enum ftr_status ftr_read_guids_own(const char *path, uint64_t **guids,
				   uint32_t *n, struct ftr_err *err)
{
	return read_guids(path, true, guids, n, err);
}
