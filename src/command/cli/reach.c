// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Unreachable pairs, their causes, and the nodes that they affect: see reach.h.
 *
 * The checker reports, in ascending order of LIDs, every (switch, LID) such that packets from the
 * switch to the LID do not arrive.  Each of these pairs counts as one pair with the switch as
 * source, and as one pair for every host port of the switch.  The LIDs of one owner are
 * consecutive, so all sources of one destination are collected before the next destination begins.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/reach.h"

struct build {
	const struct ftr_fabric *f;
	const struct ftr_shape *sh;
	struct cli_reach *r;
	uint32_t *part;		/* [n_sw] connected component, see ftr_check_parts */
	bool connected;		/* there is one component, and sh is not NULL */
	uint32_t *hosts;	/* [n_sw] number of host ports that are sources */
	uint32_t *seen;		/* [n_sw] number (dest) of the last destination for which the
				 * switch was counted; 0: none */
	/* [n_sw] numbers of host ports and of switches that are unreachable from the switch.
	 * Only pairs that must be connected (reach.h: due) count. */
	uint32_t *to_ep, *to_sw;
	uint32_t dest;		/* number of the current destination, from 1 */
	struct ftr_lid_owner last;	/* owner of the current destination */
};

#define PAIRS "the unreachable pairs"	/* argument of cli_calloc */

void cli_reach_free(struct cli_reach *r)
{
	for (int k = 0; k < CLI_N_AFFECTED; k++)
		free(r->list[k]);
	*r = (struct cli_reach){ .ranked = false };
}

uint64_t cli_reach_due(const struct cli_reach *r, int cls)
{
	return r->missed[cls] +
	       (cls == FTR_CHECK_HOST_HOST ? r->no_updown[cls] : 0);
}

/* ---- collecting -------------------------------------------------------- */

/* Returns true if s has an up/down path to t, or if the ranks are not known. */
static bool has_updown(const struct ftr_shape *sh, ftr_sw s, ftr_sw t)
{
	return !sh || s == t || ftr_shape_cost(sh, s)[sh->numbering.col[t]] !=
				FTR_COST_INF;
}

static void append(struct cli_reach *r, enum cli_affected_kind k, struct cli_affected a)
{
	r->list[k][r->n[k]++] = a;
}

static void enter(struct build *b, const struct ftr_lid_owner *o, ftr_sw s,
		  uint32_t n_ep, uint32_t n_sw)
{
	bool ep = o->kind == FTR_OWNER_EP;
	enum cli_affected_kind k = ep ? CLI_TO_EP : CLI_TO_SW;
	struct cli_affected *last;

	if (!n_ep && !n_sw)
		return;
	if (b->last.kind != o->kind || b->last.idx != o->idx) {
		b->last = *o;
		b->dest++;
		append(b->r, k, (struct cli_affected){ .idx = o->idx, .first = s });
	}
	if (b->seen[s] == b->dest)	/* already counted for another LID of the same owner */
		return;
	b->seen[s] = b->dest;
	last = &b->r->list[k][b->r->n[k] - 1];
	last->n_ep += n_ep;
	last->n_sw += n_sw;
	if (s < last->first)
		last->first = s;
	(ep ? b->to_ep : b->to_sw)[s]++;
}

static void lost_pair(struct build *b, ftr_sw s, ftr_lid lid)
{
	const struct ftr_lid_owner *o = &b->f->owner[lid];
	bool ep = o->kind == FTR_OWNER_EP;
	ftr_sw t = ep ? b->f->ep[o->idx].sw : o->idx;
	uint32_t n_ep = b->hosts[s] - (ep && t == s);
	uint32_t n_sw = ep || t != s;
	int from_ep = ep ? FTR_CHECK_HOST_HOST : FTR_CHECK_HOST_SW;
	int from_sw = ep ? FTR_CHECK_SW_HOST : FTR_CHECK_SW_SW;
	uint64_t *kind;

	if (t == FTR_SW_NONE || b->part[s] != b->part[t])
		kind = b->r->cut;
	else
		kind = has_updown(b->sh, s, t) ? b->r->missed : b->r->no_updown;
	kind[from_ep] += n_ep;
	kind[from_sw] += n_sw;
	if (kind == b->r->missed)
		enter(b, o, s, n_ep, n_sw);
	else if (kind == b->r->no_updown && ep)
		enter(b, o, s, n_ep, 0);
}

/* Counts the pairs from s to switches without an up/down path (most of the lost pairs), and returns
 * the other bits.  col: the columns of the switches whose LIDs have the bits of `sws`. */
static uint64_t count_switches(const struct build *b, ftr_sw s, uint64_t lost, uint64_t sws,
			       const uint32_t *col)
{
	const uint8_t *cost = ftr_shape_cost(b->sh, s);
	uint64_t none = 0, n;

	for (uint64_t left = lost & sws; left; left &= left - 1) {
		int i = __builtin_ctzll(left);

		none |= (uint64_t)(cost[col[i]] == FTR_COST_INF) << i;
	}
	n = (uint64_t)__builtin_popcountll(none);
	b->r->no_updown[FTR_CHECK_HOST_SW] += n * b->hosts[s];
	b->r->no_updown[FTR_CHECK_SW_SW] += n;
	return lost & ~none;
}

/* Call lost_pair() for each bit that count_switches() leaves, by ascending LID and switch.  list:
 * scratch [n_sw]. */
static void each_lost(struct build *b, uint64_t *lost, uint32_t *list)
{
	const uint32_t n_sw = b->f->n_sw;

	for (uint32_t w = 0; w <= b->f->max_lid / 64u; w++, lost += n_sw) {
		uint32_t n = 0, col[64];
		uint64_t any = 0, sws = 0;

		for (uint32_t i = 0; b->connected && i < 64 && w * 64 + i <= b->f->max_lid; i++)
			if (b->f->owner[w * 64 + i].kind == FTR_OWNER_SW) {
				sws |= UINT64_C(1) << i;
				col[i] = b->sh->numbering.col[b->f->owner[w * 64 + i].idx];
			}
		for (ftr_sw s = 0; s < n_sw; s++) {
			if (lost[s] & sws)
				lost[s] = count_switches(b, s, lost[s], sws, col);
			if (lost[s])
				list[n++] = s;
			any |= lost[s];
		}
		for (; any; any &= any - 1) {
			uint32_t bit = (uint32_t)__builtin_ctzll(any);

			for (uint32_t i = 0; i < n; i++)
				if (lost[list[i]] >> bit & 1)
					lost_pair(b, list[i], (ftr_lid)(w * 64 + bit));
		}
	}
}

static void list_sources(struct build *b)
{
	for (ftr_sw s = 0; s < b->f->n_sw; s++)
		if (b->to_ep[s] || b->to_sw[s])
			append(b->r, CLI_FROM, (struct cli_affected){
				.idx = s, .first = s, .n_ep = b->to_ep[s], .n_sw = b->to_sw[s] });
}

/* Lists the nodes outside the component with the most host ports.  count: scratch [n_sw], all
 * zeros. */
static void list_cut(struct build *b, uint32_t *count)
{
	const struct ftr_fabric *f = b->f;
	uint32_t main_part = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		count[b->part[s]] += b->hosts[s];
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (count[s] > count[main_part])
			main_part = s;
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		ftr_sw s = f->ep[e].sw;

		if (s == FTR_SW_NONE || b->part[s] != main_part)
			append(b->r, CLI_CUT_EP, (struct cli_affected){
				.idx = e, .first = s,
				.n_ep = s == FTR_SW_NONE ? 1 : count[b->part[s]] });
	}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (b->part[s] != main_part)
			append(b->r, CLI_CUT_SW, (struct cli_affected){
				.idx = s, .first = s, .n_ep = count[b->part[s]] });
}

void cli_reach(const struct ftr_fabric *f, const struct ftr_shape *sh, uint64_t *lost,
	       struct cli_reach *r)
{
	uint32_t *mem = cli_calloc((size_t)f->n_sw * 6, sizeof(*mem), PAIRS), *scratch;
	struct build b = { .f = f, .sh = sh, .r = r };

	*r = (struct cli_reach){ .ranked = sh != NULL };
	for (int k = 0; k < CLI_N_AFFECTED; k++) {
		r->of[k] = cli_affects_ep(k) ? f->n_ep : f->n_sw;
		r->list[k] = cli_calloc(r->of[k], sizeof(*r->list[k]), PAIRS);
	}
	b.part = mem;
	b.hosts = b.part + f->n_sw;
	b.seen = b.hosts + f->n_sw;
	b.to_ep = b.seen + f->n_sw;
	b.to_sw = b.to_ep + f->n_sw;
	scratch = b.to_sw + f->n_sw;
	ftr_check_parts(f, b.part);
	b.connected = sh != NULL;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		b.connected &= b.part[s] == 0;
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE && f->ep[e].lid)
			b.hosts[f->ep[e].sw]++;
	each_lost(&b, lost, scratch);
	list_sources(&b);
	memset(scratch, 0, f->n_sw * sizeof(*scratch));
	list_cut(&b, scratch);
	free(mem);
}

/* ---- another numbering ------------------------------------------------- */

static void move_sw(const struct ftr_fabric *f, const struct ftr_fabric *g, uint32_t *s)
{
	if (*s != FTR_SW_NONE)
		*s = ftr_fabric_find_sw(g, f->sw[*s].guid);
}

void cli_reach_move(struct cli_reach *r, const struct ftr_fabric *f, const struct ftr_fabric *g)
{
	for (int k = 0; k < CLI_N_AFFECTED; k++)
		for (struct cli_affected *a = r->list[k]; a < r->list[k] + r->n[k]; a++) {
			if (cli_affects_ep(k))
				a->idx = ftr_fabric_find_ep(g, f->ep[a->idx].guid);
			else
				move_sw(f, g, &a->idx);
			move_sw(f, g, &a->first);
		}
}

/* ---- text -------------------------------------------------------------- */

/* "31 host ports and 2 switches" */
static const char *counts(char *buf, const struct cli_affected *a)
{
	char ep[CLI_COUNT_MAX] = "", sw[CLI_COUNT_MAX] = "";

	if (a->n_ep)
		cli_count(ep, a->n_ep, "host port", "host ports");
	if (a->n_sw)
		cli_count(sw, a->n_sw, "switch", "switches");
	snprintf(buf, 2 * CLI_COUNT_MAX, "%s%s%s", ep, a->n_ep && a->n_sw ? " and " : "", sw);
	return buf;
}

static void put_one(const struct ftr_fabric *f, const struct cli_affected *a,
		    enum cli_affected_kind what)
{
	char n[2 * CLI_COUNT_MAX];

	printf("              %s", cli_affects_ep(what) ? CLI_EP(f, a->idx) : CLI_SW(f, a->idx));
	switch (what) {	/* not covered: another kind */
	case CLI_TO_EP:
	case CLI_TO_SW:
		printf(": from %s, the first at %s\n", counts(n, a), CLI_SW(f, a->first));
		break;
	case CLI_FROM:
		printf(": to %s\n", counts(n, a));
		break;
	case CLI_CUT_EP:
		if (a->first == FTR_SW_NONE) {
			printf(": no link\n");
			break;
		}
		printf(": on %s, in a part with %s\n", CLI_SW(f, a->first),
		       cli_count(n, a->n_ep, "host port", "host ports"));
		break;
	case CLI_CUT_SW:
		printf(": in a part with %s\n", cli_count(n, a->n_ep, "host port", "host ports"));
		break;
	}
}

static void put_list(const struct ftr_fabric *f, const struct cli_reach *r,
		     enum cli_affected_kind what, bool all)
{
	static const struct {
		const char *head, *nodes, *consequence;
	} text[] = {
		[CLI_TO_EP] = { "unreachable", "host ports",
			    "physically connected, but packets do not arrive" },
		[CLI_TO_SW] = { "unreachable", "switches",
			    "physically connected, but packets do not arrive" },
		[CLI_FROM] = { "senders", "switches",
			   "packets from there do not arrive" },
		[CLI_CUT_EP] = { "cut off", "host ports",
			     "no physical path to the largest part of the fabric" },
		[CLI_CUT_SW] = { "cut off", "switches",
			     "no physical path to the largest part of the fabric" },
	};
	uint32_t n = r->n[what], shown = all || n <= CLI_REACH_SHORT ? n : CLI_REACH_SHORT;

	if (!n)
		return;
	printf("%-13s %s%s%s of %s %s: %s\n", text[what].head,
	       cli_colour(what < CLI_CUT_EP ? CLI_WRONG : CLI_DOUBT), CLI_NUM(n),
	       cli_colour(CLI_PLAIN), CLI_NUM(r->of[what]), text[what].nodes, text[what].consequence);
	for (uint32_t i = 0; i < shown; i++)
		put_one(f, &r->list[what][i], what);
	if (shown < n)
		printf("              ... and %s more (--list)\n", CLI_NUM(n - shown));
}

void cli_reach_text(const struct ftr_fabric *f, const struct cli_reach *r, bool all)
{
	for (int k = 0; k < CLI_N_AFFECTED; k++)
		put_list(f, r, k, all);
}

/* ---- JSON -------------------------------------------------------------- */

static void json_one(struct json_object *e, const struct ftr_fabric *f,
		     const struct cli_affected *a, enum cli_affected_kind what)
{
	bool ep = cli_affects_ep(what);

	cli_json_guid(e, "guid", ep ? f->ep[a->idx].guid : f->sw[a->idx].guid);
	cli_json_str(e, "name", ep ? f->ep[a->idx].name : f->sw[a->idx].name);
	cli_json_num(e, "lid", ep ? f->ep[a->idx].lid : f->sw[a->idx].lid);
	switch (what) {	/* not covered: another kind */
	case CLI_TO_EP:
	case CLI_TO_SW:
		cli_json_num(e, "from_end_ports", a->n_ep);
		cli_json_num(e, "from_switches", a->n_sw);
		cli_json_switch(e, "first_at", f, a->first);
		break;
	case CLI_FROM:
		cli_json_num(e, "to_end_ports", a->n_ep);
		cli_json_num(e, "to_switches", a->n_sw);
		break;
	case CLI_CUT_EP:
	case CLI_CUT_SW:
		cli_json_num(e, "end_ports_of_part", a->n_ep);
		break;
	}
}

void cli_reach_json(struct json_object *o, const struct ftr_fabric *f,
		    const struct cli_reach *r, bool all)
{
	static const char *const key[CLI_N_AFFECTED] = {
		"end_ports", "switches", "senders", "end_ports", "switches",
	};
	struct json_object *parent = NULL, *c, *list;

	for (int k = 0; k < CLI_N_AFFECTED; k++) {
		if (k == CLI_TO_EP || k == CLI_CUT_EP)
			parent = cli_json_object(o, k == CLI_TO_EP ? "unreachable" : "cut_off");
		c = cli_json_object(parent, key[k]);
		cli_json_num(c, "count", r->n[k]);
		cli_json_num(c, "of", r->of[k]);
		list = cli_json_array(c, "list");
		for (uint32_t i = 0; i < r->n[k] && (all || i < CLI_REACH_SHORT); i++)
			json_one(cli_json_element(list), f, &r->list[k][i], k);
	}
}
