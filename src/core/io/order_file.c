// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Readers of three kinds of files: orders of host ports, pairs of host ports, and transfers.
 *
 * Orders are written by the engine ftree of OpenSM and by the plugin of this project:
 *
 *	0x0004	node1
 *	0xFFFF	DUMMY
 *
 * Each line is one place of the order, with a LID, and a name that is ignored.  LID 0xFFFF stands
 * for a gap: a place without a host port.
 *
 * Pairs are written by users.  A line names two host ports; '#' begins a comment.  A host port is
 * named by a number, decimal or hex with 0x, or by its node description in quotes.  A number up to
 * 0xffff is a LID.  A greater number is a port GUID, or the node GUID of a node with one port:
 *
 *	12 0x0008f10403961355
 *	"node1" "node2"
 *
 * Transfers are pairs with the number of a step before, and a number of bytes behind:
 *
 *	0 12 13 4096
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "io/pathsl.h"
#include "io/text.h"

#define GAP 0xFFFF
#define BYTES_MAX ((uint64_t)1 << 40)

struct reader {
	struct ftr_text t;
	const struct ftr_fabric *f;
	/* the list of the file: one of these arrays; pair: pairs or transfers */
	ftr_ep *ep;
	struct ftr_transfer *pair;
	uint32_t n, cap;
	uint32_t *reported;	/* [n_ep] line that names the host port; 0: none yet */
	struct ftr_key *by_node;	/* [n_ep] */
	ftr_ep *by_name;	/* [n_ep] sorted */
};

static int name_cmp(const void *a, const void *b, void *ctx)
{
	const struct ftr_endport *ep = ctx;

	return strcmp(ep[*(const ftr_ep *)a].name, ep[*(const ftr_ep *)b].name);
}

static bool set_keys(struct reader *p)
{
	const uint32_t n = p->f->n_ep;

	p->reported = ftr_calloc((size_t)n + 1, sizeof(*p->reported));
	p->by_node = ftr_eps_by_node(p->f);
	p->by_name = ftr_calloc((size_t)n + 1, sizeof(*p->by_name));
	if (!p->reported || !p->by_node || !p->by_name)
		return ftr_text_nomem(&p->t);
	for (ftr_ep e = 0; e < n; e++)
		p->by_name[e] = e;
	qsort_r(p->by_name, n, sizeof(*p->by_name), name_cmp, (void *)(uintptr_t)p->f->ep);
	return true;
}

/* Reads all lines.  What they contain is named `what`.  On failure the list is freed. */
static enum ftr_status read_lines(struct reader *p, const char *path, ftr_line_fn fn,
				  const char *what, struct ftr_err *err)
{
	if (ftr_text_open(&p->t, path, false, err) && set_keys(p) &&
	    ftr_text_each(&p->t, fn, p) && !p->n)
		ftr_text_fail(&p->t, FTR_PARSE, "the file contains no %s", what);
	ftr_text_close(&p->t);
	free(p->reported);
	free(p->by_node);
	free(p->by_name);
	if (p->t.status) {
		free(p->ep);
		free(p->pair);
	}
	return p->t.status;
}

/* ---- orders -------------------------------------------------------------- */

static bool place(void *ctx, struct ftr_cur *c)
{
	struct reader *o = ctx;
	struct ftr_cur at = *c;
	const struct ftr_lid_owner *w;
	uint64_t lid;

	if (!ftr_cur_str(&at, "0x") ||
	    !ftr_cur_uint(&at, 16, UINT16_MAX, &lid) ||
	    !ftr_cur_gap(&at))
		return ftr_text_expected(&o->t, c, "a LID 0x0000..0xffff and a name");
	if (o->t.cut && at.p - c->p < 6)	/* a LID has 6 characters */
		return ftr_text_torn(&o->t, *c);
	if (!FTR_GROW(o->ep, o->n, o->cap))
		return ftr_text_nomem(&o->t);
	o->ep[o->n++] = FTR_EP_NONE;
	if (lid == GAP)
		return true;
	w = lid <= o->f->max_lid ? &o->f->owner[lid] : NULL;
	if (!w || w->kind != FTR_OWNER_EP)
		return ftr_text_fail(&o->t, FTR_INVAL, "LID %u belongs to no host port of the fabric",
				     (unsigned int)lid);
	if (o->reported[w->idx])
		return ftr_text_fail(&o->t, FTR_INVAL, "LID %u belongs to the same host port as the LID on line %u",
				     (unsigned int)lid, o->reported[w->idx]);
	o->reported[w->idx] = o->t.line;
	o->ep[o->n - 1] = w->idx;
	return true;
}

enum ftr_status ftr_read_order(const char *path, const struct ftr_fabric *f,
			       ftr_ep **order, uint32_t *n,
			       struct ftr_err *err)
{
	struct reader o = { .f = f };

	if (read_lines(&o, path, place, "host port", err))
		return o.t.status;
	*order = o.ep;
	*n = o.n;
	return FTR_OK;
}

/* ---- pairs and transfers ------------------------------------------------- */

/* Find a host port by its name. Set *many to true if several host ports have this name. */
static ftr_ep find_name(const struct reader *p, const char *name, bool *many)
{
	const struct ftr_endport *ep = p->f->ep;
	const ftr_ep *list = p->by_name;
	const uint32_t n = p->f->n_ep;
	uint32_t i;

	FTR_LOWER_BOUND(i, n, strcmp(ep[list[i]].name, name) < 0);
	if (i == n || strcmp(ep[list[i]].name, name) != 0)
		return FTR_EP_NONE;
	*many = i + 1 < n && !strcmp(ep[list[i + 1]].name, name);
	return list[i];
}

/* Find a host port by its node GUID. Set *many to true if the node has several host ports. */
static ftr_ep find_node(const struct reader *p, uint64_t guid, bool *many)
{
	const uint32_t n = p->f->n_ep;
	const struct ftr_key *at = ftr_find_node_ep(p->by_node, n, guid);

	*many = at && at + 1 < p->by_node + n && at[1].key == guid;
	return at ? at->idx : FTR_EP_NONE;
}

static bool by_name(struct reader *p, struct ftr_cur *c, ftr_ep *out)
{
	char name[FTR_NAME_MAX + 1];
	struct ftr_cur at = *c;
	size_t len;
	bool many = false;

	at.p++;
	c->p++;
	if (!ftr_cur_find(&at, "\""))
		return ftr_text_expected(&p->t, c, "a node description and '\"'");
	len = (size_t)(at.p - c->p) - 1;
	snprintf(name, sizeof(name), "%.*s", (int)FTR_MIN(len, FTR_NAME_MAX),
		 c->p);
	*out = find_name(p, name, &many);
	if (many)
		return ftr_text_fail(&p->t, FTR_INVAL, "several host ports are named '%s': use a LID or a port GUID",
				     ftr_quote(name, strlen(name)).s);
	if (*out == FTR_EP_NONE)
		return ftr_text_fail(&p->t, FTR_INVAL, "no host port of the fabric is named '%s'",
				     ftr_quote(name, strlen(name)).s);
	*c = at;
	return true;
}

static bool by_number(struct reader *p, struct ftr_cur *c, ftr_ep *out)
{
	uint64_t v;
	bool many = false;

	if (!ftr_text_field(&p->t, c, 0, UINT64_MAX, "a LID, a GUID or a \"name\"", &v))
		return false;
	*out = FTR_EP_NONE;
	if (v <= UINT16_MAX) {
		if (v <= p->f->max_lid && p->f->owner[v].kind == FTR_OWNER_EP)
			*out = p->f->owner[v].idx;
	} else {
		*out = ftr_fabric_find_ep(p->f, v);
		if (*out == FTR_EP_NONE)
			*out = find_node(p, v, &many);
	}
	if (many)
		return ftr_text_fail(&p->t, FTR_INVAL, "node 0x%016" PRIx64
				     " has several ports: name one by its port GUID or LID",
				     v);
	if (*out == FTR_EP_NONE && v <= UINT16_MAX)
		return ftr_text_fail(&p->t, FTR_INVAL, "LID %u belongs to no host port of the fabric",
				     (unsigned int)v);
	if (*out == FTR_EP_NONE)
		return ftr_text_fail(&p->t, FTR_INVAL, "GUID 0x%016" PRIx64
				     " belongs to no host port of the fabric", v);
	return true;
}

static bool end_port(struct reader *p, struct ftr_cur *c, ftr_ep *out)
{
	ftr_cur_blanks(c);
	if (!ftr_cur_end(c) && *c->p == '"')
		return by_name(p, c, out);
	return by_number(p, c, out);
}

/* A comment may follow. */
static bool end_of_line(struct reader *p, struct ftr_cur *c, const char *what)
{
	ftr_cur_blanks(c);
	return ftr_cur_end(c) || *c->p == '#' || ftr_text_expected(&p->t, c, what);
}

static bool pair(void *ctx, struct ftr_cur *c)
{
	struct reader *p = ctx;
	struct ftr_transfer v = { .step = 0 };

	if (!end_port(p, c, &v.from) || !end_port(p, c, &v.to) ||
	    !end_of_line(p, c, "two host ports and nothing else"))
		return false;
	if (!FTR_GROW(p->pair, p->n, p->cap))
		return ftr_text_nomem(&p->t);
	p->pair[p->n++] = v;
	return true;
}

static bool transfer(void *ctx, struct ftr_cur *c)
{
	struct reader *p = ctx;
	struct ftr_transfer v;
	uint64_t step;
	ftr_ep none;

	if (!ftr_text_field(&p->t, c, 10, UINT32_MAX, "a step from 0 to 4294967295", &step) ||
	    !end_port(p, c, &v.from) || !end_port(p, c, &v.to))
		return false;
	ftr_cur_blanks(c);
	if (!ftr_text_uint(&p->t, c, 10, BYTES_MAX, "1 to 1099511627776 bytes", &v.bytes) ||
	    !end_of_line(p, c, "a step, two host ports, a number of bytes and nothing else"))
		return false;
	if (!v.bytes)
		return ftr_text_fail(&p->t, FTR_INVAL, "a transfer of 0 bytes");
	if (v.from == v.to)
		return ftr_text_fail(&p->t, FTR_INVAL, "a transfer from '%s' to itself",
				     ftr_quote(p->f->ep[v.to].name, strlen(p->f->ep[v.to].name)).s);
	none = p->f->ep[v.from].sw == FTR_SW_NONE ? v.from :
	       p->f->ep[v.to].sw == FTR_SW_NONE ? v.to : FTR_EP_NONE;
	if (none != FTR_EP_NONE)
		return ftr_text_fail(&p->t, FTR_INVAL, "host port 0x%016" PRIx64 " has no link",
				     p->f->ep[none].guid);
	v.step = (uint32_t)step;
	if (!FTR_GROW(p->pair, p->n, p->cap))
		return ftr_text_nomem(&p->t);
	p->pair[p->n++] = v;
	return true;
}

enum ftr_status ftr_read_pairs(const char *path, const struct ftr_fabric *f,
			       struct ftr_transfer **out, uint32_t *n,
			       struct ftr_err *err)
{
	struct reader p = { .f = f };

	if (read_lines(&p, path, pair, "pair", err))
		return p.t.status;
	*out = p.pair;
	*n = p.n;
	return FTR_OK;
}

enum ftr_status ftr_read_transfers(const char *path, const struct ftr_fabric *f,
				   struct ftr_transfer **out, uint32_t *n,
				   struct ftr_err *err)
{
	struct reader p = { .f = f };

	if (read_lines(&p, path, transfer, "transfer", err))
		return p.t.status;
	*out = p.pair;
	*n = p.n;
	return FTR_OK;
}
