// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The check of computed tables, before OpenSM sees them.
 *
 * The checker walks every path and is independent of the engine.  Tables are refused in these
 * cases:
 *
 * - A path ends neither at its destination nor at an empty entry.
 * - Two entries make a turn (from a downward to an upward link) that the engine has not
 *   declared, even if no path takes this turn.  This is checked only if the engine has
 *   declared its order of switches.
 * - The channel dependencies have a cycle.
 * - An entry is empty although the engine promises a path (enum ftr_promise).
 *
 * Other unreachable pairs cause at most a warning: if the engine refused to route because of
 * them, the whole subnet would have no routes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "osm/osm.h"
#include <ftr/check.h>

static enum ftr_status refuse_finding(const struct ftr_fabric *f, const struct ftr_tables *t,
				      const struct ftr_check_report *r,
				      enum ftr_finding what,
				      struct ftr_err *err)
{
	const struct ftr_check_sample *s = &r->sample[what];

	return ftr_fail(err, FTR_REFUSED, "the computed tables hold %s (%" PRIu64
			" in all): from switch %s towards LID %u of %s, at switch %s port %u",
			ftr_finding_name(what), r->found[what],
			ibf_sw_name(f, s->from).s, s->lid,
			ibf_lid_name(f, s->lid).s, ibf_sw_name(f, s->at).s,
			ftr_tables_get(t, s->at, s->lid));
}

static enum ftr_status refuse_cycle(const struct ftr_fabric *f, const struct ftr_check_report *r,
				    struct ftr_err *err)
{
	const struct ftr_channel *c = r->cycle;

	return ftr_fail(err, FTR_REFUSED,
			"the computed tables hold a credit loop of %u channels, through switch %s port %u",
			r->cycle_len, ibf_sw_name(f, c->sw).s, c->port);
}

struct promise {
	const struct ftr_shape *sh;
	const struct ftr_route_opts *opts;
	enum ftr_promise what;
	uint32_t *island;	/* [n_sw] connected component of the switch */
	/* [n_sw] numbers of ports of adapters and routers at the switch.  hosts: host ports, with or
	 * without a LID.  Those of Aggregation Nodes do not count: at upper switches they have no
	 * up/down path to each other even in an intact tree.  host_lids: LIDs of these ports.  ends:
	 * all ports with a LID. */
	uint32_t *hosts, *host_lids, *ends;
};

/* p->island has room for four arrays. */
static void count_ports(struct promise *p)
{
	const struct ftr_fabric *f = p->sh->f;

	p->hosts = p->island + f->n_sw;
	p->host_lids = p->hosts + f->n_sw;
	p->ends = p->host_lids + f->n_sw;
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		const struct ftr_endport *ep = &f->ep[e];
		uint32_t lids = ep->lid ? 1u << ep->lmc : 0;

		if (ep->sw == FTR_SW_NONE)
			continue;
		p->ends[ep->sw] += lids != 0;
		if (ftr_ep_is_aggregation(ep))
			continue;
		p->hosts[ep->sw]++;
		p->host_lids[ep->sw] += lids;
	}
}

static bool joined(const struct promise *p, ftr_sw from, uint32_t col)
{
	return p->island[from] == p->island[p->sh->numbering.col_sw[col]];
}

static bool has_manager(const struct promise *p, ftr_sw s)
{
	for (uint32_t i = 0; i < p->opts->n_sm; i++)
		if (p->opts->sm[i] == s)
			return true;
	return false;
}

static bool promised(const struct promise *p, ftr_sw from, uint32_t col)
{
	ftr_sw to = p->sh->numbering.col_sw[col];

	if (ftr_shape_cost(p->sh, from)[col] != FTR_COST_INF)
		return true;
	if (p->what == FTR_PROMISE_UPDOWN || !joined(p, from, col))
		return false;
	return p->what == FTR_PROMISE_ALL ||
	       (p->ends[from] && p->ends[to]) || has_manager(p, to);
}

/* Count the pairs that the engine does not promise to connect.  Returns the number of those pairs of
 * hosts that are not physically connected. */
static uint64_t count_unserved(const struct promise *p, struct ibf_generation *gen)
{
	const struct ftr_shape *sh = p->sh;
	const struct ftr_fabric *f = sh->f;
	uint64_t apart = 0;

	gen->unserved_hosts = gen->unserved_mixed = gen->unserved_others = 0;
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		for (uint32_t c = 0; c < f->n_sw; c++) {
			ftr_sw to = sh->numbering.col_sw[c];

			if (promised(p, s, c))
				continue;
			gen->unserved_hosts += (uint64_t)p->hosts[s] * p->host_lids[to];
			if (!joined(p, s, c))
				apart += (uint64_t)p->hosts[s] * p->host_lids[to];
			gen->unserved_mixed += p->host_lids[to];
			if (f->sw[to].lid)
				gen->unserved_mixed += (uint64_t)p->hosts[s] << f->sw[to].lmc;
		}
	}
	return apart;
}

/* List the switches whose hosts cannot reach all other hosts; returns their number.  The key of a
 * switch is the complement of the number of unreachable LIDs, so that the greatest number comes
 * first.  *hosts: number of hosts on these switches.
 * apart true: count the LIDs that are not physically connected to the switch.  apart false: count
 * the physically connected LIDs to which the engine promises no path. */
static uint32_t find_lacking(const struct promise *p, bool apart,
			     struct ftr_key *out, uint64_t *hosts)
{
	uint32_t n = 0;

	*hosts = 0;
	for (ftr_sw s = 0; s < p->sh->f->n_sw; s++) {
		uint64_t lids = 0;

		for (uint32_t c = 0; p->hosts[s] && c < p->sh->f->n_sw; c++)
			if (!promised(p, s, c) && joined(p, s, c) != apart)
				lids += p->host_lids[p->sh->numbering.col_sw[c]];
		if (!lids)
			continue;
		out[n++] = (struct ftr_key){ ~lids, s };
		*hosts += p->hosts[s];
	}
	qsort(out, n, sizeof(*out), ftr_key_cmp);
	return n;
}

static bool is_host_of(const struct ftr_fabric *f, ftr_ep e, ftr_sw s)
{
	return f->ep[e].sw == s && !ftr_ep_is_aggregation(&f->ep[e]);
}

/* Name up to `most` hosts in `text`, each with the number of LIDs that it cannot reach.  The hosts
 * with the greatest numbers come first. */
static void name_lacking(const struct promise *p, bool apart, uint32_t most,
			 char *text, size_t size)
{
	const struct ftr_fabric *f = p->sh->f;
	struct ftr_key *w = ftr_calloc(f->n_sw, sizeof(*w));
	uint64_t hosts;
	uint32_t n = w ? find_lacking(p, apart, w, &hosts) : 0, named = 0;
	size_t at = 0;

	text[0] = '\0';
	if (n && most)
		at = (size_t)snprintf(text, size, "; %" PRIu64
				      " host ports are affected, those with the most unreachable LIDs first:",
				      hosts);
	for (uint32_t i = 0; i < n; i++)
		for (ftr_ep e = 0; e < f->n_ep && named < most; e++) {
			if (!is_host_of(f, e, w[i].idx))
				continue;
			at += (size_t)snprintf(text + at, size - at, "%s %s (%" PRIu64
					       " unreachable)",
					       named++ ? "," : "",
					       ibf_ep_name(f, e).s, ~w[i].key);
			if (at >= size)
				named = most;
		}
	free(w);
}

static void warn_unserved(struct ibf_engine *e, const struct promise *p,
			  const struct ibf_generation *gen, uint64_t apart)
{
	uint64_t barred = gen->unserved_hosts - apart;
	uint32_t most = (uint32_t)e->plugin->opt.log_samples;
	char sample[1600];

	if (apart) {
		name_lacking(p, true, most, sample, sizeof(sample));
		ibf_log(e->plugin, IBF_UNREACHABLE, "%s: no physical path for %s; they cannot reach each other until links connect their switches%s",
			e->ops->name,
			ibf_count(apart, "pair of hosts", "pairs of hosts").s, sample);
	}
	if (barred) {
		name_lacking(p, false, most, sample, sizeof(sample));
		ibf_log(e->plugin, IBF_UNREACHABLE, "%s: no up/down path for %s%s; they are not routed, although links connect them: set \"paths all\" in ibfattree.conf%s",
			e->ops->name,
			ibf_count(barred, "pair of hosts", "pairs of hosts").s,
			p->sh->tree.roots_given ?
			" by the ranks that root_guid_file gives" : "", sample);
	}
	if (gen->unserved_mixed)
		ibf_log(e->plugin, IBF_UNREACHABLE, "%s: no %s path for %s; all others are routed",
			e->ops->name, p->what == FTR_PROMISE_ALL ? "physical" : "up/down",
			ibf_count(gen->unserved_mixed, "pair of a host and a switch",
				  "pairs of a host and a switch").s);
}

static enum ftr_status refuse_missing(const struct promise *p, ftr_sw s,
				      ftr_lid lid, struct ftr_err *err)
{
	const struct ftr_fabric *f = p->sh->f;

	return ftr_fail(err, FTR_REFUSED, "the computed tables have no entry where there is a path: at switch %s for LID %u of %s",
			ibf_sw_name(f, s).s, lid, ibf_lid_name(f, lid).s);
}

static enum ftr_status judge_missing(const struct promise *p, const struct ftr_tables *t,
				     struct ftr_err *err)
{
	const struct ftr_fabric *f = p->sh->f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const uint8_t *row = ftr_tables_row(t, s), *at = row;
		const uint8_t *end = row + f->max_lid + 1;

		while ((at = memchr(at, FTR_PORT_NONE, (size_t)(end - at)))) {
			ftr_lid lid = (ftr_lid)(at++ - row);
			const struct ftr_lid_owner *o = &f->owner[lid];
			ftr_sw to = o->kind == FTR_OWNER_SW ? o->idx :
				o->kind == FTR_OWNER_EP ? f->ep[o->idx].sw :
				FTR_SW_NONE;

			if (to != FTR_SW_NONE &&
			    promised(p, s, p->sh->numbering.col[to]))
				return refuse_missing(p, s, lid, err);
		}
	}
	return FTR_OK;
}

static enum ftr_status judge(const struct promise *p, const struct ftr_tables *t,
			     const struct ftr_check_report *r,
			     struct ftr_err *err)
{
	const struct ftr_fabric *f = p->sh->f;

	for (int i = FTR_FIND_DEAD_PORT; i < FTR_N_FINDINGS; i++)
		if (r->found[i])
			return refuse_finding(f, t, r, (enum ftr_finding)i, err);
	if (r->cdg == FTR_CDG_CYCLE)
		return refuse_cycle(f, r, err);
	if (r->cdg == FTR_CDG_NOT_CHECKED)	/* not covered: this check is not switched off */
		return ftr_fail(err, FTR_REFUSED,
				"the computed tables were not checked for credit loops");
	return judge_missing(p, t, err);
}

enum ftr_status ibf_verify(struct ibf_engine *e, struct ibf_generation *gen, struct ftr_err *err)
{
	const struct ftr_route_stats *stats = &gen->stats;
	struct ftr_check_opts opts = {
		.rank = stats->order_known ? stats->order : NULL,
		.turn = stats->turn, .n_turns = stats->turn ? stats->n_turns : 0,
		.switch_sources = true
	};
	struct ftr_check_report *r = ftr_calloc(1, sizeof(*r));
	struct promise p = {
		.sh = gen->shape, .opts = &gen->opts, .what = e->ops->promise(&gen->opts),
		.island = ftr_calloc(4 * (size_t)gen->fabric->n_sw, sizeof(*p.island)),
	};
	uint64_t apart = 0, lost = 0;
	enum ftr_status st = FTR_OK;

	if (!r || !p.island)
		st = ftr_nomem(err, "the check");
	else
		ftr_check_parts(gen->fabric, p.island);
	if (!st)
		st = ftr_check_tables(gen->fabric, gen->tables, &opts, e->plugin->team, r, err);
	if (!st) {
		count_ports(&p);
		apart = count_unserved(&p, gen);
		st = judge(&p, gen->tables, r, err);
	}
	if (!st) {
		for (int i = 0; i < FTR_N_CHECK_CLASSES; i++)
			lost += r->bad[i];
		gen->unserved_others = lost - FTR_MIN(lost, gen->unserved_hosts + gen->unserved_mixed);
		warn_unserved(e, &p, gen, apart);
		if (stats->reordered)
			ibf_log(e->plugin, IBF_REORDERED, "%s: extra turns cannot connect all host ports of this fabric; all pairs are routed in an order like that of sftree, and the most loaded link may carry more flows (see IBF002); repair links, or set \"paths updown\" in ibfattree.conf",
				e->ops->name);
	}
	free(p.island);
	free(r);
	return st;
}
