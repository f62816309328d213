// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The functions of a routing engine that OpenSM calls, and the phases of a routing:
 *
 * GUID files -> snapshot -> shape -> route -> verify -> commit -> publish.
 *
 * The phases from shape to verify are left out if an earlier routing had the same input.
 *
 * Only the phase "commit" changes data of OpenSM, and it checks all buffers first.  So after
 * a failure all entries of new_lft are still "no path", as the next engine of OpenSM's list
 * expects.  The reason for the failure is logged where it is detected.  Message IBF210
 * repeats the reason and names the engine that routes instead.
 *
 * build_lid_matrices returns 0 and does nothing.  OpenSM needs the min-hop matrices for its
 * min-hop engines and for its own multicast; mcast.c replaces OpenSM's multicast.  OpenSM's
 * dumps also contain numbers of hops from these matrices; with this plugin they are unknown.
 */
#include <string.h>

#include "osm/osm.h"

/* What a callback returns to OpenSM.  0: done.  Negative: failed, OpenSM tries the next engine.
 * (A positive value would make OpenSM route by min-hop.) */
static int host_return(enum ftr_status st)
{
	return st == FTR_OK ? 0 : -1;
}

/* ---- one routing -------------------------------------------------------- */

static void warn_cache(struct ibf_plugin *p)
{
	if (!p->osm->subn.opt.use_ucast_cache || p->cache_warned)
		return;
	p->cache_warned = true;
	ibf_log(p, IBF_UCAST_CACHE, "use_ucast_cache is TRUE: OpenSM may keep old tables and not call the engine after changes at leaf switches; remove it from opensm.conf");
}

static uint32_t count_hosts(const struct ftr_shape *sh)
{
	uint32_t n = sh->tree.n_odd;

	for (uint32_t l = 0; l < sh->tree.n_leaf; l++)
		n += sh->tree.leaf_hosts[l];
	return n;
}

static uint32_t count_lids(const struct ftr_fabric *f)
{
	uint32_t n = 0;

	for (uint32_t lid = 1; lid <= f->max_lid; lid++)
		n += f->owner[lid].kind != FTR_OWNER_NONE;
	return n;
}

static void log_routed(const struct ibf_engine *e, const struct ibf_generation *gen)
{
	const struct ftr_tables_diff *changes = &gen->changes;
	const double *ms = gen->ms;
	const struct ftr_shape *sh = gen->shape;
	const struct ftr_fabric *f = gen->fabric;
	char subtree[FTR_NAME_MAX + 192] = "", balance[96] = "", turns[256] = "";

	if (gen->stats.root != FTR_SW_NONE)
		snprintf(subtree, sizeof(subtree), "; root %s, %s on detours",
			 ibf_sw_name(f, gen->stats.root).s,
			 ibf_count(gen->stats.detours, "host pair", "host pairs").s);
	/* The lower bound includes pairs without a path, so the ratio is logged only if there
	 * are none. */
	if (gen->stats.balance.hosts && gen->stats.balance.bound && !gen->unserved_hosts)
		snprintf(balance, sizeof(balance), "; most loaded link: %.2f times the lower bound",
			 (double)gen->stats.balance.max_after / gen->stats.balance.bound);

	if (gen->stats.extra_pairs)
		snprintf(turns, sizeof(turns), "; %s %s",
			 ibf_count(gen->stats.n_turns, "extra turn connects",
				   "extra turns connect").s,
			 ibf_count(gen->stats.extra_pairs, "host pair", "host pairs").s);
	ibf_log(e->plugin, IBF_ROUTED,
		"%s: %s (%s), %s, %s, %s (%u not on leaves), %s, %s, %s, %s between switches (%u horizontal), %s; without a path: %s, %"
		PRIu64 " host and switch, %s%s%s%s; ms: snapshot %.1f, shape %.1f, route %.1f, check %.1f, commit %.1f; changed: %s in %s of %s",
		e->ops->name, ibf_count(sh->tree.n_ranks, "rank", "ranks").s,
		sh->tree.roots_given ? "from root_guid_file" : "inferred",
		ibf_count(f->n_sw, "switch", "switches").s,
		ibf_count(sh->tree.n_leaf, "leaf", "leaves").s,
		ibf_count(count_hosts(sh), "host", "hosts").s, sh->tree.n_odd,
		ibf_count(count_lids(f), "LID", "LIDs").s,
		ibf_count(sh->tree.n_planes, "plane", "planes").s,
		ibf_count(sh->tree.n_pods, "pod", "pods").s,
		ibf_count(f->n_sw_links, "link", "links").s,
		sh->tree.n_horizontal,
		ibf_count(ftr_team_size(e->plugin->team), "thread", "threads").s,
		ibf_count(gen->unserved_hosts, "host pair", "host pairs").s,
		gen->unserved_mixed,
		ibf_count(gen->unserved_others, "other", "others").s, turns,
		subtree, balance, ms[IBF_PHASE_SNAPSHOT], ms[IBF_PHASE_SHAPE], ms[IBF_PHASE_ROUTE],
		ms[IBF_PHASE_CHECK], ms[IBF_PHASE_COMMIT],
		ibf_count(changes->entries, "entry", "entries").s,
		ibf_count(changes->blocks, "block", "blocks").s,
		ibf_count(changes->switches, "switch", "switches").s);
}

/* The switch to which the port with this GUID is linked, or the switch itself if the port is port 0
 * of a switch. */
static ftr_sw port_switch(const struct ftr_fabric *f, uint64_t guid)
{
	ftr_ep e = ftr_fabric_find_ep(f, guid);

	return e == FTR_EP_NONE ? ftr_fabric_find_sw(f, guid) : f->ep[e].sw;
}

/* The switches of all subnet managers that OpenSM knows, including its own. */
static enum ftr_status find_managers(const struct ibf_engine *e, struct ibf_generation *gen,
				     struct ftr_err *err)
{
	const struct ibf_plugin *p = e->plugin;
	const cl_qmap_t *tbl = &p->osm->subn.sm_guid_tbl;
	uint32_t n = 0;

	gen->opts.sm_switch = port_switch(gen->fabric, cl_ntoh64(p->osm->subn.sm_port_guid));
	gen->sm = ftr_calloc(cl_qmap_count(tbl) + 1u, sizeof(*gen->sm));
	if (!gen->sm)
		return ftr_nomem(err, "the subnet managers");
	if (gen->opts.sm_switch != FTR_SW_NONE)
		gen->sm[n++] = gen->opts.sm_switch;
	for (const cl_map_item_t *i = cl_qmap_head(tbl); i != cl_qmap_end(tbl);
	     i = cl_qmap_next(i)) {
		ftr_sw s = port_switch(gen->fabric, cl_ntoh64(cl_qmap_key(i)));

		if (s != FTR_SW_NONE)
			gen->sm[n++] = s;
	}
	gen->opts.sm = gen->sm;
	gen->opts.n_sm = n;
	return FTR_OK;
}

/*
 * Stores in gen the extra turns from which the engine starts.  (An extra turn leads from a
 * downward to an upward link; it connects hosts that have no up/down path to each other.)
 *
 * The engine starts from the turns of the previous routing, so that few entries change.
 * Turns over missing links and at missing switches are dropped.  When the links return, the
 * engine may plan other turns.  Invariant 3 in docs/design.md covers mixtures of old and
 * new entries.
 *
 * If the fabric is complete, and was complete in an earlier routing, the engine starts from
 * the same turns as in that routing, usually none.  So the tables are the same as before the
 * fault.  After a restart these turns are those of the state file.
 */
static enum ftr_status carry_turns(const struct ibf_engine *e, struct ibf_generation *gen,
				   struct ftr_err *err)
{
	const struct ibf_generation *whole = e->complete;
	const struct ibf_generation *old = e->gen ? e->gen : e->prefer.gen;
	bool ok;

	if (whole && whole->nominal == gen->nominal && ibf_is_complete(gen))
		ok = ftr_turns_carry(whole->fabric, whole->given, whole->n_given,
				     gen->fabric, &gen->given, &gen->n_given);
	else if (old)
		ok = ftr_turns_carry(old->fabric, old->opts.turn, old->opts.n_turns,
				     gen->fabric, &gen->given, &gen->n_given);
	else
		return FTR_OK;
	gen->opts.turn = gen->given;
	gen->opts.n_turns = gen->n_given;
	return ok ? FTR_OK : ftr_nomem(err, "the extra turns");
}

/* Tables of a smaller fabric, or of one with other switches, are kept only if their load is near
 * that of tables that are computed from scratch.  Tables of another manager (adopt) are always
 * kept. */
static enum ftr_status route_kept(struct ibf_engine *e, struct ibf_generation *gen,
				  struct ftr_err *err)
{
	struct ftr_kept k = { gen->tables, gen->stats, false };
	enum ftr_status st;

	if (!gen->prefer || !gen->keep.search_all || !ibf_is_complete(gen) ||
	    e->prefer.stage == IBF_ADOPTING)
		return e->ops->route(gen->shape, &gen->opts, ibf_team(e->plugin), gen->tables,
				     &gen->stats, err);
	st = ftr_route_kept(e->ops, gen->shape, &gen->opts, ibf_team(e->plugin), &k, err);
	gen->tables = k.t;
	gen->stats = k.stats;
	if (k.replaced)
		ibf_log(e->plugin, IBF_REPLACED, "%s: the tables of the earlier fabric are not kept: tables computed from scratch have more than 5 %% less load; entries to change=%"
			PRIu64, e->ops->name, k.stats.balance.moved);
	return st;
}

static enum ftr_status compute(struct ibf_engine *e, struct ibf_generation *gen,
			       struct ftr_err *err)
{
	const struct ftr_fabric *f = gen->fabric;
	enum ftr_status st = ftr_tables_new(f, false, &gen->tables, err);

	if (st)
		return st;
	gen->stats.order = ftr_malloc(f->n_sw);
	if (!gen->stats.order)
		return ftr_nomem(err, "the order of switches");
	gen->opts.paths = (enum ftr_paths)e->plugin->opt.paths;
	gen->opts.keep_turns = true;
	gen->opts.keep_routed = e->plugin->fast != NULL;
	gen->opts.nominal = ibf_nominal_shape(gen);
	gen->opts.balance = FTR_MIN(e->plugin->opt.balance, FTR_BALANCE_LOAD);
	gen->opts.keep = gen->prefer ? &gen->keep : NULL;
	st = carry_turns(e, gen, err);
	return st ? st : route_kept(e, gen, err);
}

/* Compute and check tables for gen. */
static enum ftr_status new_tables(struct ibf_engine *e, struct ibf_generation *gen,
				  enum ibf_msg *msg, struct ftr_err *err)
{
	double t0 = ibf_now_ms(), t1;
	enum ftr_status st = ibf_prefer(e, gen, err);

	*msg = IBF_ENGINE;
	gen->stats.root = FTR_SW_NONE;
	if (!st)
		st = compute(e, gen, err);
	t1 = ibf_now_ms();
	gen->ms[IBF_PHASE_ROUTE] = t1 - t0;
	if (!st) {
		*msg = IBF_CHECK;
		st = ibf_verify(e, gen, err);
		gen->ms[IBF_PHASE_CHECK] = ibf_now_ms() - t1;
	}
	gen->engine = e->ops->name;
	if (!gen->stats.by_rank)	/* the paths do not go up and down by rank: no extra turns */
		gen->opts.paths = FTR_PATHS_UPDOWN;
	gen->opts.turn = gen->stats.turn;
	gen->opts.n_turns = gen->stats.turn ? gen->stats.n_turns : 0;
	gen->routed = gen->stats.by_rank ? gen->shape : gen->stats.routed;
	return st;
}

/* Compute, check and commit tables for gen; if it has been routed before, only commit them.  Logs its
 * own failures. */
static enum ftr_status make_tables(struct ibf_engine *e,
				   struct ibf_generation *gen, struct ftr_err *err)
{
	bool write = !e->plugin->opt.observe;
	enum ibf_msg msg = IBF_ENGINE;
	enum ftr_status st = gen->tables ? FTR_OK : new_tables(e, gen, &msg, err);

	if (!st) {
		double t0 = ibf_now_ms();

		msg = IBF_COMMIT;
		st = ibf_commit(e->plugin, gen->fabric, gen->tables, write, &gen->changes, err);
		gen->ms[IBF_PHASE_COMMIT] = ibf_now_ms() - t0;
	}
	if (!st && write)
		ibf_transition(e, gen);
	ftr_fabric_free(gen->undrained);	/* only the transition needs it */
	gen->undrained = NULL;
	return st ? ibf_refuse(e, msg, err) : FTR_OK;
}

/* Option "observe": log the changes that the tables would make.  Returns FTR_REFUSED, so OpenSM
 * routes by the next engine of its list. */
static enum ftr_status observed(struct ibf_engine *e,
				const struct ibf_generation *gen)
{
	const struct ftr_tables_diff *c = &gen->changes;

	snprintf(e->refusal, sizeof(e->refusal), "observe is on");
	ibf_log(e->plugin, IBF_OBSERVED, "%s observes: its tables for %s and %s passed all checks and would change %s in %s of %s; without a path: %s; the next engine of routing_engine routes",
		e->ops->name,
		ibf_count(gen->fabric->n_sw, "switch", "switches").s,
		ibf_count(count_lids(gen->fabric), "LID", "LIDs").s,
		ibf_count(c->entries, "entry", "entries").s,
		ibf_count(c->blocks, "block", "blocks").s,
		ibf_count(c->switches, "switch", "switches").s,
		ibf_count(gen->unserved_hosts, "host pair", "host pairs").s);
	return FTR_REFUSED;
}

/* True if a routing of `new` would have the same input as the one of `old`.  (Other GUID lists would
 * have led to another nominal fabric.) */
static bool same_input(struct ibf_engine *e, const struct ibf_generation *old,
		       const struct ibf_generation *new)
{
	return old && old->tables && old->shape && old->nominal == new->nominal &&
		!memcmp(&old->options, &new->options, sizeof(new->options)) &&
		ibf_same_fabric(old->fabric, new->fabric) &&
		old->drained.switches == new->drained.switches &&
		old->drained.links == new->drained.links &&
		old->drained.hosts == new->drained.hosts &&
		!memcmp(old->mcast_able, new->mcast_able, new->fabric->n_sw) &&
		ibf_prefer_same(e, old) &&
		old->opts.sm_switch == new->opts.sm_switch && old->opts.n_sm == new->opts.n_sm &&
		!memcmp(old->sm, new->sm, new->opts.n_sm * sizeof(*new->sm));
}

/* If an earlier routing had the same input, replace *gen by its generation, so that nothing is computed
 * and checked again.  This is so in a sweep without changes; when a switch or a link returns: the
 * first routing leaves out its links, which are not Active yet, and the second one has the fabric from
 * before the failure; and after the last drain has ended.  (With VLs the input includes options of
 * OpenSM.) */
static bool routed_before(struct ibf_engine *e, struct ibf_generation **gen)
{
	struct ibf_generation *old = same_input(e, e->gen, *gen) ? e->gen :
		same_input(e, e->complete, *gen) ? e->complete :
		same_input(e, e->whole, *gen) ? e->whole : NULL;

	if (!old || old->vls || (e->ops->sl2vl && e->plugin->osm->subn.opt.qos))
		return false;
	old = ibf_generation_get(old);
	memcpy(old->ms, (*gen)->ms, sizeof(old->ms));
	old->changes = (*gen)->changes;
	old->undrained = (*gen)->undrained;
	(*gen)->undrained = NULL;
	ibf_generation_put(*gen);
	*gen = old;
	return true;
}

static enum ftr_status route_snapshot(struct ibf_engine *e)
{
	struct ftr_err err = { 0 };
	struct ibf_generation *gen;
	enum ftr_status st;

	e->refusal[0] = '\0';
	st = ibf_generation_new(e, &gen, &err);
	if (st)
		return st;
	if (find_managers(e, gen, &err)) {
		ibf_generation_put(gen);
		return ibf_refuse(e, IBF_ENGINE, &err);
	}
	if (!routed_before(e, &gen))
		st = ibf_generation_shape(e, gen, &err);
	if (st)
		return st;
	st = make_tables(e, gen, &err);
	if (!st && e->plugin->opt.observe)
		st = observed(e, gen);
	if (st) {
		ibf_generation_put(gen);
		return st;
	}
	ibf_prefer_routed(e, gen);
	ibf_state_store(e, gen);
	ibf_ddlr_vls(e, gen);
	ibf_engine_publish(e, gen);
	ibf_fast_changed(e->plugin->fast, &gen->changes);
	log_routed(e, gen);
	ibf_status_routed(e->plugin, gen);
	if (e->plugin->opt.ca_order_dump)
		ibf_ca_order_write(e, gen);
	return FTR_OK;
}

static enum ftr_status route(struct ibf_engine *e)
{
	struct ibf_plugin *p = e->plugin;
	enum ftr_status st;

	warn_cache(p);
	if (p->own_reroute) {
		/* a reroute writes all blocks, but here the changed ones suffice */
		p->osm->subn.need_update = 0;
		p->own_reroute = false;
	}
	ibf_fast_post(p->fast, RR_EV_ROUTING);
	st = route_snapshot(e);
	if (st && p->idle_links) {
		p->use_idle = true;
		st = route_snapshot(e);
		p->use_idle = false;
	}
	return st;
}

/* ---- callbacks ---------------------------------------------------------- */

static int build_lid_matrices(void *ctx)
{
	(void)ctx;
	return host_return(FTR_OK);
}

/* On failure, write the status at once.  Normally the plugin writes it at a later event of OpenSM,
 * but no such event follows if no other engine routes. */
static int build_fwd_tables(void *ctx)
{
	struct ibf_engine *e = ctx;
	enum ftr_status st = route(e);

	if (st && !e->plugin->opt.observe) {
		ibf_status_engine(e->plugin, "", false, e->refusal);
		ibf_status_write(e->plugin, NULL);
	}
	return host_return(st);
}

static void destroy(void *ctx)
{
	ibf_engine_publish(ctx, NULL);
}

int ibf_engine_setup(struct osm_routing_engine *re, struct osm_opensm *osm)
{
	struct ibf_engine *e = re->context;

	if (!e->host)	/* if routing_engine lists a name twice, keep the first */
		e->host = re;
	re->build_lid_matrices = build_lid_matrices;
	re->ucast_build_fwd_tables = build_fwd_tables;
	re->mcast_build_stree = ibf_mcast_build_stree;
	if (e->ops->sl2vl && osm->subn.opt.qos)
		re->update_sl2vl = ibf_ddlr_sl2vl;
	re->destroy = destroy;
	return host_return(FTR_OK);
}
