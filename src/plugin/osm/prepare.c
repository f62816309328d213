// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The first phases of a routing: GUID files -> snapshot -> nominal fabric -> shape.
 * mcast.c also runs them if there was a sweep without a routing.
 */
#include <signal.h>
#include <stddef.h>

#include "osm/drain.h"
#include "osm/metrics.h"
#include "osm/osm.h"

/* The threads start with all signals blocked, because OpenSM's main thread handles signals. */
struct ftr_team *ibf_team(struct ibf_plugin *p)
{
	sigset_t all, old;

	if (p->team_tried)
		return p->team;
	p->team_tried = true;
	if (p->opt.threads == 1)
		return NULL;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	p->team = ftr_team_new((unsigned int)p->opt.threads);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!p->team)
		ibf_log(p, IBF_THREADS, "no threads could be started; one thread routes");
	return p->team;
}

enum ftr_status ibf_refuse(struct ibf_engine *e, enum ibf_msg msg,
			   const struct ftr_err *err)
{
	snprintf(e->refusal, sizeof(e->refusal), "%s",
		 err->msg[0] ? err->msg : ftr_status_str(err->status));
	ibf_log(e->plugin, msg, "%s refuses to route: %s", e->ops->name,
		e->refusal);
	ibf_status_count(e->plugin, offsetof(struct ibf_metrics, refusals));
	return err->status;
}

static void mcast_ability(struct ibf_plugin *p, struct ibf_generation *gen)
{
	for (ftr_sw s = 0; s < gen->fabric->n_sw; s++) {
		const osm_switch_t *sw =
			ibf_host_switch(p, gen->fabric->sw[s].guid);

		gen->mcast_able[s] = osm_switch_supports_mcast(sw);
	}
}

static void no_such_ports(struct ibf_plugin *p, const char *option,
			  const char *path)
{
	ibf_log(p, IBF_NO_SUCH_PORTS, "%s %s names no port of this fabric and is not used; it should hold port GUIDs",
		option, path);
}

static void report_no_such_ports(struct ibf_plugin *p, const struct ftr_shape *sh)
{
	const osm_subn_opt_t *opt = &p->osm->subn.opt;

	if (sh->tree.cn_unknown)
		no_such_ports(p, "cn_guid_file", opt->cn_guid_file);
	if (sh->tree.io_unknown)
		no_such_ports(p, "io_guid_file", opt->io_guid_file);
}

enum ftr_status ibf_generation_new(struct ibf_engine *e,
				   struct ibf_generation **out, struct ftr_err *err)
{
	struct ibf_plugin *p = e->plugin;
	struct ibf_generation *gen = ftr_calloc(1, sizeof(*gen));
	struct ftr_shape_opts opts = {
		.leaf_order = (enum ftr_leaf_order)p->opt.leaf_order,
	};
	double t0 = ibf_now_ms(), t1;

	if (!gen) {
		ftr_nomem(err, "the fabric");
		return ibf_refuse(e, IBF_SNAPSHOT, err);
	}
	atomic_init(&gen->refs, 1);
	gen->options = p->opt;
	ibf_guids_read(p, &opts);
	if (ibf_snapshot(p, &gen->fabric, err)) {
		ibf_generation_put(gen);
		return ibf_refuse(e, IBF_SNAPSHOT, err);
	}
	t1 = ibf_now_ms();
	gen->ms[IBF_PHASE_SNAPSHOT] = t1 - t0;
	gen->nominal = ibf_nominal_for(p, gen->fabric, &opts);
	/* the nominal fabric contains the drained parts */
	if (ibf_drain_apply(p, gen, err)) {
		ibf_generation_put(gen);
		return ibf_refuse(e, IBF_SNAPSHOT, err);
	}
	gen->ms[IBF_PHASE_SHAPE] = ibf_now_ms() - t1;
	gen->mcast_able = ftr_calloc(gen->fabric->n_sw, 1);
	if (!gen->mcast_able) {
		ibf_generation_put(gen);
		ftr_nomem(err, "the fabric");
		return ibf_refuse(e, IBF_SNAPSHOT, err);
	}
	mcast_ability(p, gen);
	*out = gen;
	return FTR_OK;
}

enum ftr_status ibf_generation_shape(struct ibf_engine *e, struct ibf_generation *gen,
				     struct ftr_err *err)
{
	struct ibf_plugin *p = e->plugin;
	struct ftr_shape_opts opts = {
		.leaf_order = (enum ftr_leaf_order)p->opt.leaf_order,
		.nominal = ibf_nominal_shape(gen),
	};
	double t0 = ibf_now_ms();

	ibf_guids_current(p, &opts);
	if (ftr_shape_new(gen->fabric, &opts, ibf_team(p), &gen->shape, err)) {
		ibf_generation_put(gen);
		return ibf_refuse(e, IBF_SHAPE, err);
	}
	gen->ms[IBF_PHASE_SHAPE] += ibf_now_ms() - t0;
	report_no_such_ports(p, gen->shape);
	ibf_roots_report(p, gen->shape);
	return FTR_OK;
}
