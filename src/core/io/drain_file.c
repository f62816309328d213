// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The file of drained parts, see <ftr/drain.h>.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "io/text.h"
#include <ftr/drain.h>
#include <ftr/text.h>

static bool is_user_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		c == '_' || c == '-' || c == '.';
}

static bool user(struct ftr_text *t, struct ftr_cur *c, struct ftr_drain *part)
{
	struct ftr_cur at = *c;
	size_t n = 0;

	while (!ftr_cur_end(&at) && is_user_char(*at.p) && n < FTR_DRAIN_USER_MAX)
		part->by[n++] = *at.p++;
	if (!n || !ftr_cur_gap(&at))
		return ftr_text_expected(t, c, "a user name of 1 to 32 letters");
	*c = at;
	return true;
}

static bool name(struct ftr_text *t, struct ftr_cur *c, struct ftr_drain *part)
{
	size_t n;

	ftr_cur_blanks(c);
	if (ftr_cur_end(c))
		return true;
	n = ftr_cur_len(c);
	if (n < 2 || c->p[0] != '"' || c->p[n - 1] != '"' || n - 2 > FTR_NAME_MAX)
		return ftr_text_expected(t, c, "a name in quotes");
	memcpy(part->name, c->p + 1, n - 2);
	ftr_text_clean(part->name);
	return true;
}

static bool is_new(struct ftr_text *t, const struct ftr_drains *d, const struct ftr_drain *part)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->part[i].guid == part->guid && d->part[i].port == part->port)
			return ftr_text_fail(t, FTR_INVAL, "0x%016" PRIx64 " port %u is listed twice",
					     part->guid, part->port);
	return true;
}

static bool read_request(struct ftr_text *t, struct ftr_cur *c, struct ftr_drains *d)
{
	if (!ftr_cur_word(c, "request"))
		return ftr_text_expected(t, c, "\"request\" and a number");
	return ftr_text_field(t, c, 0, UINT64_MAX, "the number of the request", &d->request) &&
		(d->request || ftr_text_fail(t, FTR_PARSE, "request 0 is not valid")) &&
		ftr_text_end(t, c, "the end of the line");
}

static bool read_part(struct ftr_text *t, struct ftr_cur *c, struct ftr_drains *d, uint32_t *cap)
{
	struct ftr_drain part = { 0 };
	uint64_t port;

	if (d->n == FTR_DRAINS_MAX)
		return ftr_text_fail(t, FTR_LIMIT, "more than %u drained parts", FTR_DRAINS_MAX);
	if (!ftr_text_field(t, c, 16, UINT64_MAX, "a GUID", &part.guid) ||
	    !ftr_text_field(t, c, 10, FTR_PORT_MAX, "a port number 0..254", &port) ||
	    !ftr_text_field(t, c, 10, INT64_MAX, "a time in seconds since 1970", &part.since))
		return false;
	part.port = (ftr_port)port;
	ftr_cur_blanks(c);
	if (!user(t, c, &part) || !name(t, c, &part) || !is_new(t, d, &part))
		return false;
	if (!FTR_GROW(d->part, d->n, *cap))
		return ftr_text_nomem(t);
	d->part[d->n++] = part;
	return true;
}

static bool read_all(struct ftr_text *t, struct ftr_drains *d)
{
	struct ftr_cur c;
	uint32_t cap = 0;

	for (;;) {
		if (!ftr_text_meaningful(t, &c))
			return false;
		if (!c.p)
			return d->request || ftr_text_fail(t, FTR_PARSE,
							   "the file contains no line \"request\"");
		if (d->request ? !read_part(t, &c, d, &cap) : !read_request(t, &c, d))
			return false;
	}
}

enum ftr_status ftr_drains_read(const char *path, bool own, struct ftr_drains *out,
				struct ftr_err *err)
{
	struct ftr_text t;

	*out = (struct ftr_drains){ 0 };
	if (!ftr_text_open(&t, path, own, err) || !read_all(&t, out))
		ftr_drains_clear(out);
	ftr_text_close(&t);
	return t.status;
}

void ftr_drains_clear(struct ftr_drains *d)
{
	free(d->part);
	*d = (struct ftr_drains){ 0 };
}
