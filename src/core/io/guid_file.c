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

static enum ftr_status read_guids(const char *path, bool own, uint64_t **guids,
				  uint32_t *n, struct ftr_err *err)
{
	struct ftr_text t;
	struct ftr_cur c;
	uint64_t *list = NULL;
	uint32_t n_list = 0, cap = 0;
	/* *guids is not NULL even for an empty list. */
	bool ok = ftr_text_open(&t, path, own, err) &&
		(FTR_GROW(list, n_list, cap) || ftr_text_nomem(&t));

	for (;;) {
		if (!ok || !ftr_text_meaningful(&t, &c) || !c.p)
			break;
		if (n_list == GUIDS_MAX)
			ok = ftr_text_fail(&t, FTR_LIMIT, "more than %u GUIDs", GUIDS_MAX);
		else if (!FTR_GROW(list, n_list, cap))
			ok = ftr_text_nomem(&t);
		else
			ok = guid(&t, c, &list[n_list++]);
	}
	ftr_text_close(&t);
	if (t.status) {
		free(list);
		return t.status;
	}
	*guids = list;
	*n = n_list;
	return FTR_OK;
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
