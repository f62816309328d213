// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file of drained parts, see <ftr/drain.h>.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "io/text.h"
#include <ftr/drain.h>
#include <ftr/text.h>

struct reader {
	struct ftr_text t;
	struct ftr_drains d;
	uint32_t cap;
	bool request;		/* the line "request" was read */
};

static bool is_user_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '-' || c == '.';
}

static bool user(struct reader *r, struct ftr_cur *c, struct ftr_drain *part)
{
	struct ftr_cur at = *c;
	size_t n = 0;

	while (!ftr_cur_end(&at) && is_user_char(*at.p) && n < FTR_DRAIN_USER_MAX)
		part->by[n++] = *at.p++;
	if (!n || !ftr_cur_gap(&at))
		return ftr_text_expected(&r->t, c, "a user name of 1 to 32 letters");
	*c = at;
	return true;
}

static bool name(struct reader *r, struct ftr_cur *c, struct ftr_drain *part)
{
	size_t n;

	ftr_cur_blanks(c);
	if (ftr_cur_end(c))
		return true;
	n = ftr_cur_len(c);
	if (n < 2 || c->p[0] != '"' || c->p[n - 1] != '"' || n - 2 > FTR_NAME_MAX)
		return ftr_text_expected(&r->t, c, "a name in quotes");
	memcpy(part->name, c->p + 1, n - 2);
	ftr_text_clean(part->name);
	return true;
}

static bool is_new(struct reader *r, const struct ftr_drain *part)
{
	for (uint32_t i = 0; i < r->d.n; i++)
		if (r->d.part[i].guid == part->guid && r->d.part[i].port == part->port)
			return ftr_text_fail(&r->t, FTR_INVAL, "0x%016" PRIx64 " port %u is listed twice",
					     part->guid, part->port);
	return true;
}

static bool line(void *ctx, struct ftr_cur *c)
{
	struct reader *r = ctx;
	struct ftr_drain part = { 0 };
	uint64_t port;

	if (!r->request) {
		if (!ftr_cur_word(c, "request"))
			return ftr_text_expected(&r->t, c, "\"request\" and a number");
		r->request = true;
		return ftr_text_field(&r->t, c, 0, UINT64_MAX, "the number of the request",
				      &r->d.request) &&
			(r->d.request || ftr_text_fail(&r->t, FTR_PARSE, "request 0 is not valid")) &&
			ftr_text_end(&r->t, c, "the end of the line");
	}
	if (r->d.n == FTR_DRAINS_MAX)
		return ftr_text_fail(&r->t, FTR_LIMIT, "more than %u drained parts",
				     FTR_DRAINS_MAX);
	if (!ftr_text_field(&r->t, c, 16, UINT64_MAX, "a GUID", &part.guid) ||
	    !ftr_text_field(&r->t, c, 10, FTR_PORT_MAX, "a port number 0..254", &port) ||
	    !ftr_text_field(&r->t, c, 10, INT64_MAX, "a time in seconds since 1970", &part.since))
		return false;
	part.port = (ftr_port)port;
	ftr_cur_blanks(c);
	if (!user(r, c, &part) || !name(r, c, &part) || !is_new(r, &part))
		return false;
	if (!FTR_GROW(r->d.part, r->d.n, r->cap))
		return ftr_text_nomem(&r->t);
	r->d.part[r->d.n++] = part;
	return true;
}

enum ftr_status ftr_drains_read(const char *path, bool own, struct ftr_drains *out,
				struct ftr_err *err)
{
	struct reader r = { .request = false };

	if (ftr_text_open(&r.t, path, own, err) && ftr_text_each(&r.t, line, &r) && !r.request)
		ftr_text_fail(&r.t, FTR_PARSE, "the file contains no line \"request\"");
	ftr_text_close(&r.t);
	if (r.t.status)
		ftr_drains_clear(&r.d);
	*out = r.d;
	return r.t.status;
}

void ftr_drains_clear(struct ftr_drains *d)
{
	free(d->part);
	*d = (struct ftr_drains){ 0 };
}
