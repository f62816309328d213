// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verdict on computed tables, before OpenSM sees them.
 *
 * The checker walks every path and knows nothing of the engine.  Refused are:
 * anything that does not end at a clean hole, a turn up after down, a cycle of
 * channel dependencies, and a hole between two hosts that the shape's costs
 * call reachable.  What the cabling cannot serve up and down is a warning: the
 * rest is routed, because a failing engine would stop the whole subnet.
 */
#include <inttypes.h>
#include <string.h>

#include "osm/osm.h"
#include <ftr/check.h>

static const char *const finding_text[FTR_N_FINDINGS] = {
	[FTR_FIND_HOLE] = "a hole",
	[FTR_FIND_DEAD_PORT] = "a port without a cable",
	[FTR_FIND_WRONG_END] = "delivery to the wrong node",
	[FTR_FIND_LOOP] = "a loop",
	[FTR_FIND_TURN] = "a turn up after down",
};

static enum ftr_status refuse_finding(const struct ftr_fabric *f,
				      const struct ftr_tables *t,
				      const struct ftr_check_report *r,
				      enum ftr_finding what,
				      struct ftr_err *err)
{
	const struct ftr_check_sample *s = &r->sample[what];

	return ftr_fail(err, FTR_REFUSED,
			"the computed tables hold %s (%" PRIu64
			" in all): from switch %s towards LID %u, at switch %s (0x%016"
			PRIx64 ") port %u", finding_text[what],
			r->found[what], f->sw[s->from].name, s->lid,
			f->sw[s->at].name, f->sw[s->at].guid,
			ftr_tables_get(t, s->at, s->lid));
}

static enum ftr_status refuse_cycle(const struct ftr_fabric *f,
				    const struct ftr_check_report *r,
				    struct ftr_err *err)
{
	const struct ftr_channel *c = r->cycle;

	return ftr_fail(err, FTR_REFUSED,
			"the computed tables hold a credit loop of %u channels, through switch %s (0x%016"
			PRIx64 ") port %u", r->cycle_len,
			r->cycle_len ? f->sw[c->sw].name : "?",
			r->cycle_len ? f->sw[c->sw].guid : 0,
			r->cycle_len ? c->port : 0);
}

/* What the shape's costs say that cannot be served between hosts, counted as
 * the checker counts: end ports of one switch times host LIDs of another. */
struct unserved {
	uint64_t pairs;
	ftr_sw from, to;
};

struct tally {
	uint32_t *sources;	/* [n_sw] end ports */
	uint32_t *lids;		/* [n_sw] their LIDs */
};

static void tally_hosts(const struct ftr_fabric *f, struct tally *y)
{
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		if (f->ep[e].sw == FTR_SW_NONE)
			continue;
		y->sources[f->ep[e].sw]++;
		if (f->ep[e].lid)
			y->lids[f->ep[e].sw] += 1u << f->ep[e].lmc;
	}
}

static bool count_unserved(const struct ftr_shape *sh, struct unserved *out)
{
	const struct ftr_fabric *f = sh->f;
	struct tally y = {
		.sources = ftr_calloc(f->n_sw, sizeof(*y.sources)),
		.lids = ftr_calloc(f->n_sw, sizeof(*y.lids)),
	};
	bool ok = y.sources && y.lids;

	memset(out, 0, sizeof(*out));
	if (ok)
		tally_hosts(f, &y);
	for (ftr_sw s = 0; ok && s < f->n_sw; s++) {
		const uint8_t *cost = ftr_shape_cost(sh, s);

		for (uint32_t c = 0; y.sources[s] && c < f->n_sw; c++) {
			ftr_sw to = sh->col_sw[c];

			if (cost[c] != FTR_COST_INF || !y.lids[to])
				continue;
			if (!out->pairs) {
				out->from = s;
				out->to = to;
			}
			out->pairs += (uint64_t)y.sources[s] * y.lids[to];
		}
	}
	free(y.sources);
	free(y.lids);
	return ok;
}

static void warn_unreachable(struct ibf_engine *e, const struct ftr_shape *sh,
			     const struct ftr_check_report *r)
{
	char sample[1024] = "";
	size_t n = 0;
	int left = e->plugin->opt.log_samples;
	const struct ftr_fabric *f = sh->f;

	for (ftr_sw s = 0; left && s < f->n_sw; s++) {
		const uint8_t *cost = ftr_shape_cost(sh, s);

		for (uint32_t c = 0; left && c < f->n_sw; c++) {
			if (cost[c] != FTR_COST_INF)
				continue;
			left--;
			n += (size_t)snprintf(sample + n, sizeof(sample) - n,
					      "%s %s to %s", n ? "," : ":",
					      f->sw[s].name,
					      f->sw[sh->col_sw[c]].name);
			if (n >= sizeof(sample))
				n = sizeof(sample) - 1;
		}
	}
	ibf_log(e->plugin, IBF_UNREACHABLE,
		"%s: the cabling leaves pairs without an up/down path: %" PRIu64
		" of %" PRIu64 " host to host, %" PRIu64 " of %" PRIu64
		" switch to host, %" PRIu64 " of %" PRIu64
		" host to switch, %" PRIu64 " of %" PRIu64
		" switch to switch; all others are routed%s", e->ops->name,
		r->bad[FTR_CHECK_HOST_HOST], r->pairs[FTR_CHECK_HOST_HOST],
		r->bad[FTR_CHECK_SW_HOST], r->pairs[FTR_CHECK_SW_HOST],
		r->bad[FTR_CHECK_HOST_SW], r->pairs[FTR_CHECK_HOST_SW],
		r->bad[FTR_CHECK_SW_SW], r->pairs[FTR_CHECK_SW_SW], sample);
}

static enum ftr_status judge(const struct ibf_generation *gen,
			     const struct ftr_tables *t,
			     const struct ftr_check_report *r,
			     struct ftr_err *err)
{
	const struct ftr_fabric *f = gen->fabric;
	struct unserved un;

	for (int i = FTR_FIND_DEAD_PORT; i < FTR_N_FINDINGS; i++)
		if (r->found[i])
			return refuse_finding(f, t, r, (enum ftr_finding)i,
					      err);
	if (r->harmful)
		return ftr_fail(err, FTR_REFUSED, "the computed tables hold %"
				PRIu64 " faulty walks", r->harmful);
	if (r->cdg == FTR_CDG_CYCLE)
		return refuse_cycle(f, r, err);
	if (r->cdg == FTR_CDG_NOT_CHECKED)
		return ftr_fail(err, FTR_REFUSED,
				"the computed tables were not checked for credit loops");
	if (!r->bad[FTR_CHECK_HOST_HOST])
		return FTR_OK;
	if (!count_unserved(gen->shape, &un))
		return ftr_fail(err, FTR_NOMEM, "out of memory for the check");
	if (r->bad[FTR_CHECK_HOST_HOST] <= un.pairs)
		return FTR_OK;
	return ftr_fail(err, FTR_REFUSED, "%" PRIu64
			" host pairs are not reached, but the cabling leaves only %"
			PRIu64 " without a path; first hole: from switch %s towards LID %u at switch %s (0x%016"
			PRIx64 ")", r->bad[FTR_CHECK_HOST_HOST], un.pairs,
			f->sw[r->sample[FTR_FIND_HOLE].from].name,
			r->sample[FTR_FIND_HOLE].lid,
			f->sw[r->sample[FTR_FIND_HOLE].at].name,
			f->sw[r->sample[FTR_FIND_HOLE].at].guid);
}

enum ftr_status ibf_verify(struct ibf_engine *e,
			   const struct ibf_generation *gen,
			   const struct ftr_tables *t, struct ftr_err *err)
{
	struct ftr_check_opts opts = {
		.rank = gen->shape->rank, .switch_sources = true
	};
	struct ftr_check_report *r = ftr_calloc(1, sizeof(*r));
	enum ftr_status st;

	if (!r)
		return ftr_fail(err, FTR_NOMEM, "out of memory for the check");
	st = ftr_check_tables(gen->fabric, t, &opts, e->plugin->team, r, err);
	if (!st)
		st = judge(gen, t, r, err);
	if (!st && (r->bad[FTR_CHECK_HOST_HOST] || r->bad[FTR_CHECK_HOST_SW] ||
		    r->bad[FTR_CHECK_SW_HOST] || r->bad[FTR_CHECK_SW_SW]))
		warn_unreachable(e, gen->shape, r);
	free(r);
	return st;
}
