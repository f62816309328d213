// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Collects the metrics of the plugin, and writes them to ibfattree.prom and
 * ibfattree-status.json.
 *
 * Both files are in OpenSM's dump directory.  They are written in four cases: a sweep is
 * done, an engine of the plugin has failed, the state of the manager has changed, or a
 * repair is done.  The writer's process writes them.
 *
 * A mutex guards the metrics, because the sweeper and the worker of the fast path change
 * them.  A thread that holds it takes only two other locks: those of the writer's queue and
 * of OpenSM's log.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "osm/fast.h"
#include "osm/metrics.h"
#include "osm/writer.h"
#include <ftr/balance.h>
#include <ftr/load.h>

/* The sweeper's thread computes the all-to-all load in O(switches * host ports).  This takes about
 * 0.1 s if the product is LOAD_MAX.  If it is greater, the load is not computed. */
#define LOAD_MAX 10000000u

struct ibf_status {
	pthread_mutex_t mutex;
	struct ibf_metrics m;
	double state_since;	/* start of the present state, by ibf_now_ms() */
	uint64_t loaded;	/* value of m.routings when the load was last computed */
};

struct ibf_status *ibf_status_new(void)
{
	struct ibf_status *s = ftr_calloc(1, sizeof(*s));

	if (!s)
		return NULL;	/* no status files */
	pthread_mutex_init(&s->mutex, NULL);
	s->m.started = rr_wall();
	s->m.state = IBF_SM_DISCOVERING;
	s->state_since = ibf_now_ms();
	return s;
}

void ibf_status_free(struct ibf_status *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->mutex);
	ftr_drains_clear(&s->m.drain.now);
	free(s);
}

/* ---- writing -------------------------------------------------------------- */

/* Compose the text of a file, and queue a job that writes it. */
static void replace(struct ibf_plugin *p, const char *name,
		    void (*compose)(FILE *, const struct ibf_metrics *))
{
	struct ibf_job job = {
		.msg = IBF_STATUS_FILE, .fill = ibf_fill_text, .release = free,
	};
	char *text = NULL;
	FILE *mem = ftr_memstream(&text, &job.bytes);

	if (mem) {
		compose(mem, &p->status->m);
		if (ftr_memstream_end(mem, &text))
			job.path = ftr_asprintf("%s/%s", ibf_dump_dir(p), name);
	}
	job.ctx = text;
	if (!ibf_writer_put(p->writer, &job))
		ibf_log(p, IBF_STATUS_FILE, "%s is not written: out of memory", name);
}

static void count_state(struct ibf_status *s)
{
	double now = ibf_now_ms();

	s->m.state_seconds[s->m.state] += (now - s->state_since) / 1e3;
	s->state_since = now;
	s->m.now = rr_wall();
}

/* The caller holds the mutex. */
static void write_all(struct ibf_plugin *p)
{
	count_state(p->status);
	p->status->m.helper_failures = atomic_load(&p->helper_failures);
	replace(p, "ibfattree.prom", ibf_metrics_prom);
	replace(p, "ibfattree-status.json", ibf_metrics_json);
}

/* ---- events --------------------------------------------------------------- */

void ibf_status_count(struct ibf_plugin *p, size_t counter)
{
	if (!p->status)
		return;
	pthread_mutex_lock(&p->status->mutex);
	++*(uint64_t *)(void *)((char *)&p->status->m + counter);
	pthread_mutex_unlock(&p->status->mutex);
}

static uint32_t without_sm(const struct ibf_plugin *p, const struct ibf_generation *gen)
{
	const ftr_lid sm = cl_ntoh16(p->osm->subn.sm_base_lid);
	uint32_t n = 0;

	for (ftr_sw s = 0; sm && s < gen->fabric->n_sw; s++)
		n += ftr_tables_get(gen->tables, s, sm) == FTR_PORT_NONE;
	return n;
}

void ibf_status_routed(struct ibf_plugin *p, const struct ibf_generation *gen)
{
	const struct ftr_shape *sh = gen->shape;
	struct ibf_metrics *m;

	if (!p->status)
		return;
	m = &p->status->m;
	pthread_mutex_lock(&p->status->mutex);
	m->routings++;
	m->routed = rr_wall();
	memcpy(m->routing_ms, gen->ms, sizeof(m->routing_ms));
	m->changed_entries = gen->changes.entries;
	m->switches = gen->fabric->n_sw;
	m->links = gen->fabric->n_sw_links;
	m->end_ports = gen->fabric->n_ep;
	/* drained parts are not missing */
	m->missing = (struct ftr_drain_count){
		.switches = sh->n_missing_sw - gen->drained.switches,
		.links = sh->n_missing_links - gen->drained.links,
		.hosts = sh->n_missing_hosts - gen->drained.hosts,
	};
	m->lost_hosts = gen->unserved_hosts;
	m->lost_mixed = gen->unserved_mixed;
	m->lost_others = gen->unserved_others;
	m->no_sm_path = without_sm(p, gen);
	pthread_mutex_unlock(&p->status->mutex);
}

void ibf_status_drains(struct ibf_plugin *p, const struct ftr_drains *d, uint64_t written,
		       double life, const char *error)
{
	struct ftr_drains copy = { .request = d->request, .n = d->n };
	struct ibf_drain_metrics *m;

	if (!p->status)
		return;
	copy.part = ftr_calloc(d->n + 1u, sizeof(*copy.part));
	if (!copy.part)
		copy.n = 0;
	else if (d->n)
		memcpy(copy.part, d->part, d->n * sizeof(*copy.part));
	pthread_mutex_lock(&p->status->mutex);
	m = &p->status->m.drain;
	ftr_drains_clear(&m->now);
	m->now = copy;
	m->written = written;
	m->life_ms = life;
	snprintf(m->error, sizeof(m->error), "%s", error);
	write_all(p);
	pthread_mutex_unlock(&p->status->mutex);
}

void ibf_status_engine(struct ibf_plugin *p, const char *used, bool ours, const char *reason)
{
	if (!p->status)
		return;
	pthread_mutex_lock(&p->status->mutex);
	snprintf(p->status->m.engine, sizeof(p->status->m.engine), "%s", used);
	snprintf(p->status->m.reason, sizeof(p->status->m.reason), "%s",
		 reason);
	p->status->m.ours = ours;
	pthread_mutex_unlock(&p->status->mutex);
}

void ibf_status_repair(struct ibf_plugin *p, const struct rr_repair *r)
{
	struct ibf_metrics *m;

	if (!p->status)
		return;
	m = &p->status->m;
	pthread_mutex_lock(&p->status->mutex);
	m->reroutes++;
	m->failed_writes += r->sets.failed;
	m->rerouted = r->wall;
	m->reroute_ms[0] = r->known_ms;
	m->reroute_ms[1] = r->computed_ms;
	m->reroute_ms[2] = r->checked_ms;
	m->reroute_ms[3] = r->sets.first_ms;
	m->reroute_ms[4] = r->sets.last_ms;
	write_all(p);
	pthread_mutex_unlock(&p->status->mutex);
}

/* ---- a sweep is done ------------------------------------------------------ */

static uint32_t held_links(struct ibf_fast *f)
{
	uint32_t n;

	if (!f)
		return 0;
	pthread_mutex_lock(&f->rr.mutex);
	n = rr_links_count_damped(&f->rr.state.links, ibf_now_ms());
	pthread_mutex_unlock(&f->rr.mutex);
	return n;
}

/* Compute the all-to-all load of the most loaded link (*max).  *least: its lower bound for any
 * tables that connect all physically connected hosts.  Returns false if out of memory. */
static bool load(const struct ibf_generation *gen, uint64_t *max,
		 uint64_t *least)
{
	const struct ftr_fabric *f = gen->fabric;
	uint32_t n_places = gen->shape->numbering.n_places, n = 0, cuts = 0;
	ftr_ep *order = ftr_calloc((size_t)n_places + 1, sizeof(*order));
	uint32_t *hosts = ftr_calloc((size_t)f->n_sw + 1, sizeof(*hosts));
	struct ftr_load_report *r = ftr_calloc(1, sizeof(*r));
	struct ftr_load *ld = NULL;
	bool ok = order && hosts && r;

	if (ok) {
		ftr_shape_host_order(gen->shape, order);
		for (uint32_t d = 0; d < n_places; d++)
			if (order[d] != FTR_EP_NONE) {
				hosts[f->ep[order[d]].sw]++;
				order[n++] = order[d];
			}
		ok = !ftr_balance_bound(gen->shape, hosts, &cuts, NULL) &&
			!ftr_load_new(f, gen->tables, (struct ftr_order){ order, n }, NULL, &ld,
				      NULL);
	}
	if (ok) {
		ftr_load_all(ld, NULL, r);
		*max = r->max;
		*least = cuts;
	}
	ftr_load_free(ld);
	free(r);
	free(hosts);
	free(order);
	return ok;
}

static enum ibf_sm_state state_of(const struct ibf_plugin *p)
{
	switch (p->osm->subn.sm_state) {
	case IB_SMINFO_STATE_MASTER:
		return IBF_SM_MASTER;
	case IB_SMINFO_STATE_STANDBY:
		return IBF_SM_STANDBY;
	case IB_SMINFO_STATE_DISCOVERING:
		return IBF_SM_DISCOVERING;
	default:
		return IBF_SM_NOT_ACTIVE;
	}
}

void ibf_status_write(struct ibf_plugin *p, const struct ibf_generation *gen)
{
	struct ibf_status *s = p->status;
	uint64_t max = 0, least = 0;
	bool known = false, fresh;
	uint32_t held;

	if (!s)
		return;
	held = held_links(p->fast);
	fresh = gen && gen->tables && s->loaded != s->m.routings;
	if (fresh && (uint64_t)gen->fabric->n_sw * gen->fabric->n_ep <= LOAD_MAX)
		known = load(gen, &max, &least);
	pthread_mutex_lock(&s->mutex);
	if (fresh) {
		s->loaded = s->m.routings;
		s->m.load_known = known;
		s->m.load_max = max;
		s->m.load_least = least;
	}
	s->m.held = held;
	count_state(s);
	s->m.state = state_of(p);
	write_all(p);
	pthread_mutex_unlock(&s->mutex);
}
