// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SLs of paths as text, in the two forms that ibdmchk -c reads (IBFabric::parsePSLFile of ibutils
 * 1.5.7).  A file may mix them.  A line of the first form has the node GUID of the source, the
 * destination LID and the SL.  The SL applies to all ports of the node:
 *
 *	0x0002c90000000099 154 0
 *
 * In the second form, there is a section for each source ("Switch", "Channel Adapter" or "Router"),
 * with a line for each LID.  The head of the section has the port GUID of the source.  If it has
 * the node GUID instead, the section applies to all ports of the node.
 *
 *	Channel Adapter 0x0002c9000000009a, base LID 13, "name"
 *	0x009A : 0
 *
 * Neither form has an end mark.  If a file was truncated between two lines, the reader does not
 * notice this.  The checker counts the SLs that are missing.  LIDs above the greatest LID of the
 * fabric, and sources that are not in the fabric, are ignored.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/search.h"
#include "io/pathsl.h"
#include "io/text.h"

struct reader {
	struct ftr_text t;
	const struct ftr_fabric *f;
	struct ftr_path_sl *sl;
	struct ftr_key *node;	/* [n_ep] */
	bool open;		/* true: inside a section */
	uint32_t source;	/* source of the section, or NOBODY */
	const struct ftr_key *first;	/* if the section has a node GUID: the first host
						 * port of this node; else NULL */
	struct ftr_parts parts;	/* known: SLs of sources in f; foreign: sections, and lines of the
				 * first form, of other sources */
};

#define NOBODY UINT32_MAX

struct ftr_key *ftr_eps_by_node(const struct ftr_fabric *f)
{
	struct ftr_key *list = ftr_calloc((size_t)f->n_ep + 1, sizeof(*list));

	if (!list)
		return NULL;
	for (ftr_ep e = 0; e < f->n_ep; e++)
		list[e] = (struct ftr_key){ f->ep[e].node_guid, e };
	qsort(list, f->n_ep, sizeof(*list), ftr_key_cmp);
	return list;
}

const struct ftr_key *ftr_find_node_ep(const struct ftr_key *list, uint32_t n, uint64_t guid)
{
	uint32_t i;

	FTR_LOWER_BOUND(i, n, list[i].key < guid);
	return i < n && list[i].key == guid ? &list[i] : NULL;
}

static const struct ftr_key *find_node(const struct reader *r,
					   uint64_t guid)
{
	return ftr_find_node_ep(r->node, r->f->n_ep, guid);
}

/* Set the SL of one source. If source is NOBODY, set the SL of all ports of a node; do nothing if
 * node is NULL, too. */
static bool set(struct reader *r, uint32_t source,
		const struct ftr_key *node, uint64_t lid, uint64_t sl)
{
	const struct ftr_key *end = r->node + r->f->n_ep;
	uint64_t guid = node ? node->key : 0;

	if (source == NOBODY && !node)
		return true;
	r->parts.known++;
	if (!lid || lid > r->f->max_lid)
		return true;
	if (source != NOBODY)
		return ftr_text_ok(&r->t, ftr_path_sl_set(r->sl, source, (ftr_lid)lid,
							  (unsigned int)sl, r->t.err));
	for (; node < end && node->key == guid; node++)
		if (!set(r, node->idx, NULL, lid, sl))
			return false;
	return true;
}

static uint32_t switch_source(const struct reader *r, uint64_t guid)
{
	ftr_sw s = ftr_fabric_find_sw(r->f, guid);

	return s == FTR_SW_NONE ? NOBODY : r->f->n_ep + s;
}

static bool sl_and_end(struct reader *r, struct ftr_cur *c, uint64_t *sl)
{
	return ftr_text_field(&r->t, c, 10, FTR_N_SL - 1, "an SL 0..15", sl) &&
		ftr_text_end(&r->t, c, "an SL and nothing else");
}

static bool begin(struct reader *r, struct ftr_cur *c, bool sw)
{
	struct ftr_cur at = *c;
	uint64_t guid;

	ftr_cur_blanks(&at);
	if (!ftr_cur_uint(&at, 16, UINT64_MAX, &guid) ||
	    !ftr_cur_char(&at, ','))
		return ftr_text_expected(&r->t, c, "\"0xGUID,\"");
	r->open = true;
	r->first = NULL;
	if (sw) {
		r->source = switch_source(r, guid);
	} else {
		ftr_ep e = ftr_fabric_find_ep(r->f, guid);

		r->source = e == FTR_EP_NONE ? NOBODY : e;
		if (r->source == NOBODY)
			r->first = find_node(r, guid);
	}
	if (r->source == NOBODY && !r->first)
		ftr_parts_foreign(&r->parts, &r->t, guid);
	return true;
}

/* Read a line of the first form, "0x0002c90000000099 154 0", or of a section, "0x009A : 0". */
static bool entry(struct reader *r, struct ftr_cur *c)
{
	const struct ftr_key *node;
	uint64_t head, lid, sl;
	uint32_t source;

	if (!ftr_text_field(&r->t, c, 16, UINT64_MAX, "a GUID or a LID in hex", &head))
		return false;
	ftr_cur_blanks(c);
	if (ftr_cur_char(c, ':')) {
		if (!r->open)
			return ftr_text_fail(&r->t, FTR_PARSE, "LID 0x%" PRIx64
					     " is not in the section of a source",
					     head);
		if (head > UINT16_MAX)
			return ftr_text_fail(&r->t, FTR_PARSE, "0x%" PRIx64
					     " is not a LID", head);
		return sl_and_end(r, c, &sl) &&
			set(r, r->source, r->first, head, sl);
	}
	if (!ftr_text_field(&r->t, c, 10, UINT16_MAX, "a destination LID", &lid) ||
	    !sl_and_end(r, c, &sl))
		return false;
	source = switch_source(r, head);
	node = source == NOBODY ? find_node(r, head) : NULL;
	if (source == NOBODY && !node)
		ftr_parts_foreign(&r->parts, &r->t, head);
	return set(r, source, node, lid, sl);
}

static bool line(void *ctx, struct ftr_cur *c)
{
	struct reader *r = ctx;

	if (ftr_cur_word(c, "Switch"))
		return begin(r, c, true);
	if (ftr_cur_str(c, "Channel Adapter ") || ftr_cur_word(c, "Router"))
		return begin(r, c, false);
	if (ftr_cur_hex_follows(c))
		return entry(r, c);
	return ftr_text_fail(&r->t, FTR_PARSE, "the line has neither a source nor an SL: '%s'",
			     ftr_quote_cur(c).s);
}

enum ftr_status ftr_read_path_sl(const char *path, const struct ftr_fabric *f,
				 struct ftr_path_sl **out, struct ftr_err *err)
{
	struct reader r = { .f = f };
	bool ok = ftr_text_open(&r.t, path, false, err);

	r.node = ftr_eps_by_node(f);
	ok = ok && (r.node || ftr_text_nomem(&r.t)) &&
		ftr_text_ok(&r.t, ftr_path_sl_new(f, &r.sl, err)) &&
		ftr_text_each(&r.t, line, &r) &&
		ftr_parts_end(&r.parts, &r.t, "source", "SL");
	ftr_text_close(&r.t);
	free(r.node);
	if (ok)
		*out = r.sl;
	else
		ftr_path_sl_free(r.sl);
	return r.t.status;
}
