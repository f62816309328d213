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

/* End ports and their LIDs per switch, to count pairs as the checker does. */
struct tally {
	uint32_t *sources;	/* [n_sw] end ports */
	uint32_t *lids;		/* [n_sw] their LIDs */
};

static void tally_fini(struct tally *y)
{
	free(y->sources);
	free(y->lids);
}

static bool tally_hosts(const struct ftr_fabric *f, struct tally *y)
{
	y->sources = ftr_calloc(f->n_sw, sizeof(*y->sources));
	y->lids = ftr_calloc(f->n_sw, sizeof(*y->lids));
	if (!y->sources || !y->lids)
		return false;
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		if (f->ep[e].sw == FTR_SW_NONE)
			continue;
		y->sources[f->ep[e].sw]++;
		if (f->ep[e].lid)
			y->lids[f->ep[e].sw] += 1u << f->ep[e].lmc;
	}
	return true;
}

/* Host pairs that the shape's own costs give no path. */
static uint64_t unserved(const struct ftr_shape *sh, const struct tally *y)
{
	uint32_t n_sw = sh->f->n_sw;
	uint64_t pairs = 0;

	for (ftr_sw s = 0; s < n_sw; s++) {
		const uint8_t *cost = ftr_shape_cost(sh, s);

		for (uint32_t c = 0; y->sources[s] && c < n_sw; c++)
			if (cost[c] == FTR_COST_INF)
				pairs += (uint64_t)y->sources[s] *
					 y->lids[sh->col_sw[c]];
	}
	return pairs;
}

/* Some pairs of switches without a path, by name: both with hosts if there are
 * such, else one. */
static void sample_pairs(const struct ftr_shape *sh, const struct tally *y,
			 bool both, int left, char *text, size_t size)
{
	const struct ftr_fabric *f = sh->f;
	size_t n = 0;

	text[0] = '\0';
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const uint8_t *cost = ftr_shape_cost(sh, s);

		for (uint32_t c = 0; c < f->n_sw; c++) {
			ftr_sw to = sh->col_sw[c];
			unsigned int ends = (y->sources[s] != 0) +
					    (y->lids[to] != 0);

			if (cost[c] != FTR_COST_INF || ends < 1u + both)
				continue;
			if (!left-- || n >= size)
				return;
			n += (size_t)snprintf(text + n, size - n, "%s %s to %s",
					      n ? "," : ":", f->sw[s].name,
					      f->sw[to].name);
		}
	}
}

/* Switches of the upper ranks have no up/down path to each other on any tree,
 * so what counts as worth a warning has a host at one end. */
static void warn_unreachable(struct ibf_engine *e, const struct ftr_shape *sh,
			     const struct tally *y,
			     const struct ftr_check_report *r)
{
	const uint64_t *bad = r->bad, *all = r->pairs;
	char sample[1024];

	if (!bad[FTR_CHECK_HOST_HOST] && !bad[FTR_CHECK_SW_HOST] &&
	    !bad[FTR_CHECK_HOST_SW])
		return;
	sample_pairs(sh, y, bad[FTR_CHECK_HOST_HOST] != 0,
		     e->plugin->opt.log_samples, sample, sizeof(sample));
	ibf_log(e->plugin, IBF_UNREACHABLE,
		"%s: the cabling leaves pairs without an up/down path: %" PRIu64
		" of %" PRIu64 " host to host, %" PRIu64 " of %" PRIu64
		" switch to host, %" PRIu64 " of %" PRIu64
		" host to switch; all others are routed%s", e->ops->name,
		bad[FTR_CHECK_HOST_HOST], all[FTR_CHECK_HOST_HOST],
		bad[FTR_CHECK_SW_HOST], all[FTR_CHECK_SW_HOST],
		bad[FTR_CHECK_HOST_SW], all[FTR_CHECK_HOST_SW], sample);
}

static enum ftr_status judge(const struct ibf_generation *gen,
			     const struct ftr_tables *t,
			     const struct tally *y,
			     const struct ftr_check_report *r,
			     struct ftr_err *err)
{
	const struct ftr_fabric *f = gen->fabric;
	const struct ftr_check_sample *hole = &r->sample[FTR_FIND_HOLE];
	uint64_t allowed;

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
	allowed = unserved(gen->shape, y);
	if (r->bad[FTR_CHECK_HOST_HOST] <= allowed)
		return FTR_OK;
	return ftr_fail(err, FTR_REFUSED, "%" PRIu64
			" host pairs are not reached, but the cabling leaves only %"
			PRIu64 " without a path; first hole: from switch %s towards LID %u at switch %s (0x%016"
			PRIx64 ")", r->bad[FTR_CHECK_HOST_HOST], allowed,
			f->sw[hole->from].name, hole->lid, f->sw[hole->at].name,
			f->sw[hole->at].guid);
}

enum ftr_status ibf_verify(struct ibf_engine *e,
			   const struct ibf_generation *gen,
			   const struct ftr_tables *t, struct ftr_err *err)
{
	struct ftr_check_opts opts = {
		.rank = gen->shape->rank, .switch_sources = true
	};
	struct ftr_check_report *r = ftr_calloc(1, sizeof(*r));
	struct tally y = { 0 };
	enum ftr_status st;

	if (!r || !tally_hosts(gen->fabric, &y)) {
		st = ftr_fail(err, FTR_NOMEM, "out of memory for the check");
		goto out;
	}
	st = ftr_check_tables(gen->fabric, t, &opts, e->plugin->team, r, err);
	if (!st)
		st = judge(gen, t, &y, r, err);
	if (!st)
		warn_unreachable(e, gen->shape, &y, r);
out:
	tally_fini(&y);
	free(r);
	return st;
}
