// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The verdict on computed tables, before OpenSM sees them.
 *
 * The checker walks every path and knows nothing of the engine.  Refused are:
 * anything that does not end at a clean hole, a turn up after down, a cycle of
 * channel dependencies, and a hole where the engine promises a path: where the
 * shape has a finite cost or, if the engine is a complete one, where any cabling
 * joins the two.  What is beyond the promise is a warning: the rest is routed,
 * because a failing engine would stop the whole subnet.
 */
#include <inttypes.h>
#include <string.h>

#include "osm/osm.h"
#include <ftr/check.h>

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
			PRIx64 ") port %u", ftr_finding_name(what),
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

/* End ports and their LIDs per switch, to count pairs; without Aggregation
 * Nodes, which sit on the upper switches of a whole tree and have no up/down
 * path to each other there. */
struct tally {
	uint32_t hosts, host_lids;
};

static struct tally *tally_new(const struct ftr_fabric *f)
{
	struct tally *y = ftr_calloc(f->n_sw, sizeof(*y));

	for (ftr_ep e = 0; y && e < f->n_ep; e++) {
		const struct ftr_endport *ep = &f->ep[e];
		uint32_t lids = ep->lid ? 1u << ep->lmc : 0;

		if (ep->sw == FTR_SW_NONE)
			continue;
		if (ftr_ep_is_aggregation(ep))
			continue;
		y[ep->sw].hosts++;
		y[ep->sw].host_lids += lids;
	}
	return y;
}

/* What the engine promises. */
struct promise {
	const struct ftr_shape *sh;
	uint32_t *island;	/* [n_sw]; NULL: costs decide */
};

static enum ftr_status promise_init(struct promise *p,
				    const struct ftr_shape *sh, bool complete,
				    struct ftr_err *err)
{
	const struct ftr_fabric *f = sh->f;

	p->sh = sh;
	p->island = NULL;
	if (!complete)
		return FTR_OK;
	p->island = ftr_calloc(f->n_sw, sizeof(*p->island));
	if (!p->island)
		return ftr_fail(err, FTR_NOMEM, "out of memory for the check");
	ftr_uf_init(p->island, f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int n = 1; n <= f->sw[s].n_ports; n++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)n);

			if (port->peer_kind == FTR_PEER_SW)
				ftr_uf_union(p->island, s, port->peer);
		}
	return FTR_OK;
}

static bool promised(const struct promise *p, ftr_sw from, uint32_t col)
{
	if (p->island)
		return ftr_uf_find(p->island, from) ==
		       ftr_uf_find(p->island, p->sh->col_sw[col]);
	return ftr_shape_cost(p->sh, from)[col] != FTR_COST_INF;
}

/* Pairs beyond the promise. */
static void count_unserved(const struct promise *p, const struct tally *y,
			   struct ibf_unserved *out)
{
	const struct ftr_shape *sh = p->sh;
	const struct ftr_fabric *f = sh->f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		for (uint32_t c = 0; c < f->n_sw; c++) {
			ftr_sw to = sh->col_sw[c];

			if (promised(p, s, c))
				continue;
			out->hosts += (uint64_t)y[s].hosts * y[to].host_lids;
			out->mixed += y[to].host_lids;
			if (f->sw[to].lid)
				out->mixed += (uint64_t)y[s].hosts <<
					      f->sw[to].lmc;
		}
	}
}

/* Some pairs of switches without a path, by name: both with hosts if there are
 * such, else one. */
static void sample_pairs(const struct promise *p, const struct tally *y,
			 bool both, int left, char *text, size_t size)
{
	const struct ftr_fabric *f = p->sh->f;
	size_t n = 0;

	text[0] = '\0';
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		for (uint32_t c = 0; c < f->n_sw; c++) {
			ftr_sw to = p->sh->col_sw[c];
			unsigned int ends = (y[s].hosts != 0) +
					    (y[to].host_lids != 0);

			if (ends < 1u + both || promised(p, s, c))
				continue;
			if (!left-- || n >= size)
				return;
			n += (size_t)snprintf(text + n, size - n, "%s %s to %s",
					      n ? "," : ":", f->sw[s].name,
					      f->sw[to].name);
		}
	}
}

static void warn_unserved(struct ibf_engine *e, const struct promise *p,
			  const struct tally *y, const struct ibf_unserved *un)
{
	char sample[1024];

	if (!un->hosts && !un->mixed)
		return;
	sample_pairs(p, y, un->hosts != 0, e->plugin->opt.log_samples, sample,
		     sizeof(sample));
	ibf_log(e->plugin, IBF_UNREACHABLE,
		"%s: the cabling leaves %" PRIu64 " pairs of hosts and %" PRIu64
		" pairs of a host and a switch without %s path%s; all others are routed%s",
		e->ops->name, un->hosts, un->mixed,
		p->island ? "any" : "an up/down",
		p->sh->roots_given && un->hosts ?
		" by the ranks that root_guid_file gives" : "", sample);
}

static enum ftr_status refuse_hole(const struct promise *p, ftr_sw s,
				   ftr_lid lid, struct ftr_err *err)
{
	const struct ftr_fabric *f = p->sh->f;
	const struct ftr_lid_owner *o = &f->owner[lid];

	return ftr_fail(err, FTR_REFUSED, "the computed tables hold a hole where there is a path: at switch %s (0x%016"
			PRIx64 ") LID %u of %s has no port", f->sw[s].name,
			f->sw[s].guid, lid, o->kind == FTR_OWNER_SW ?
			f->sw[o->idx].name : f->ep[o->idx].name);
}

/* Every empty entry must be beyond the promise. */
static enum ftr_status judge_holes(const struct promise *p,
				   const struct ftr_tables *t,
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
			    promised(p, s, p->sh->col[to]))
				return refuse_hole(p, s, lid, err);
		}
	}
	return FTR_OK;
}

static enum ftr_status judge(const struct promise *p,
			     const struct ftr_tables *t,
			     const struct ftr_check_report *r,
			     struct ftr_err *err)
{
	const struct ftr_fabric *f = p->sh->f;

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
	return judge_holes(p, t, err);
}

enum ftr_status ibf_verify(struct ibf_engine *e,
			   const struct ibf_generation *gen,
			   const struct ibf_routes *routes,
			   struct ibf_unserved *un, struct ftr_err *err)
{
	const struct ftr_route_stats *stats = &routes->stats;
	struct ftr_check_opts opts = {
		.rank = stats->order_known ? stats->order : NULL,
		.switch_sources = true
	};
	struct ftr_check_report *r = ftr_calloc(1, sizeof(*r));
	struct tally *y = tally_new(gen->fabric);
	struct promise p = { 0 };
	enum ftr_status st;

	memset(un, 0, sizeof(*un));
	if (!r || !y)
		st = ftr_fail(err, FTR_NOMEM, "out of memory for the check");
	else
		st = promise_init(&p, gen->shape,
				  e->ops->complete(&routes->opts), err);
	if (!st)
		st = ftr_check_tables(gen->fabric, routes->t, &opts,
				      e->plugin->team, r, err);
	if (!st) {
		count_unserved(&p, y, un);
		st = judge(&p, routes->t, r, err);
	}
	if (!st) {
		for (int i = 0; i < FTR_N_CHECK_CLASSES; i++)
			un->others += r->bad[i];
		un->others -= FTR_MIN(un->others, un->hosts + un->mixed);
		warn_unserved(e, &p, y, un);
	}
	free(p.island);
	free(y);
	free(r);
	return st;
}
