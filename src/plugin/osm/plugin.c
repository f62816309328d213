// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The plugin object that OpenSM loads.
 *
 * The entry points, the threads that call them, and the state of OpenSM's lock in each call:
 *
 *  entry point		thread		OpenSM lock	touches
 *  create		main		none		options, registry, the
 *							fast path: its thread,
 *							trap hook, port binding
 *  report: events of	sweeper		none		flags, options, log, event file;
 *    sweeps						may wait, see below
 *  report: traps, SA,	any		any		nothing: returns
 *    counters
 *  setup		main		none		OpenSM's list of callbacks
 *  build_lid_matrices	sweeper		exclusive	nothing
 *  ucast_build_fwd_...	sweeper		exclusive	subnet (read), new_lft
 *							(write), generation
 *  mcast_build_stree	sweeper		exclusive	subnet (read), multicast
 *							tables (write),
 *							generation
 *  destroy		main, at exit	none		generation
 *  delete		main, at exit	none		all; joins the threads
 *  trap hook (trap.c)	dispatcher	none		queue of the worker
 *
 * Threads of the plugin itself:
 *
 *  worker (fast.h)	its own		exclusive, for	subnet (read), lft and
 *					microseconds	new_lft (write)
 *  planner of ddlr	its own		none		its generation (read)
 *  search (search.c)	one per engine	none		its generation (read)
 *
 * On exit OpenSM calls destroy for every engine that was set up, then delete, then dlclose.
 * So destroy frees only the generations of its engine; delete frees the plugin and its engines.
 *
 * report() never takes a lock of OpenSM.  When a trap has arrived, OpenSM calls report() with its
 * lock held shared.  Taking the lock again would deadlock if another thread waits for exclusive
 * access.
 *
 * report() waits in two cases, both without a lock.  At the end of a discovery it waits until the
 * worker has ended its current write.  If this manager is not master, or comes out of standby, it
 * cancels the search and waits for the end of the search thread.
 *
 * If an option is invalid when OpenSM starts, this is logged, and all options have their defaults.  The
 * plugin runs nevertheless: without it, OpenSM would use another engine, which may have credit loops, or
 * would not route at all (no_fallback).
 *
 * OpenSM reads its options again when a heavy sweep begins, and SIGHUP only requests such a sweep.  The
 * plugin does the same at the event of its begin: in the only thread that uses the options later, so no
 * lock is needed.  (The other design was to compare the file's inode and time in each routing.  It needs
 * more state, misses a file behind a symbolic link that has moved, and no rule says when OpenSM's and
 * the plugin's options change together.)  A generation has a copy of its options, so the next
 * routing computes new tables, which ibf_transition writes like all others.
 */
#include "config.h"

#include <stddef.h>
#include <string.h>

#include "io/text.h"
#include "osm/drain.h"
#include "osm/hint.h"
#include "osm/host.h"
#include "osm/metrics.h"
#include "osm/osm.h"
#include "osm/writer.h"
#include <opensm/osm_version.h>

/* Read the options file into *o.  *path: its name in opensm.conf, allocated; NULL: it has none.  *none:
 * there is no file.  An error is logged with its consequence, unless the last read had the same one. */
static enum ftr_status read_file(struct ibf_plugin *p, struct ibf_options *o, char **path, bool *none,
				 const char *consequence)
{
	struct ftr_err err = { 0 };
	enum ftr_status st;

	ibf_options_default(o);
	st = ibf_options_path(p->osm->subn.opt.event_plugin_options, path,
			      &err);
	if (!st)
		st = ibf_options_read(*path ? *path : IBF_CONF_FILE, o, none, &err);
	if (*none && !*path)
		st = FTR_OK;
	if (st && strcmp(err.msg, p->options_error))
		ibf_log(p, IBF_OPTIONS, "%s; %s", err.msg, consequence);
	snprintf(p->options_error, sizeof(p->options_error), "%s", st ? err.msg : "");
	return st;
}

static void read_options(struct ibf_plugin *p)
{
	char *path = NULL;
	bool none = false;
	enum ftr_status st = read_file(p, &p->opt, &path, &none,
				       "all options of this plugin have their defaults until this is corrected, and opensm is restarted or receives SIGHUP");
	const char *file = path ? path : IBF_CONF_FILE;

	p->read = p->opt;
	if (!p->opt.observe)
		p->options = ftr_strdup(file);
	ibf_log(p, IBF_LOADED, "ibfattree " PACKAGE_VERSION " for " OSM_VERSION
		", options from %s", st || none ? "no file, all defaults" : file);
	free(path);
}

static struct ibf_text value_text(const struct ibf_option *opt, int value)
{
	struct ibf_text t;

	if (opt->words)
		snprintf(t.s, sizeof(t.s), "%s", opt->words[value]);
	else
		snprintf(t.s, sizeof(t.s), "%d", value);
	return t;
}

/* Read the options again, and use those that can change while OpenSM runs. */
static void update_options(struct ibf_plugin *p)
{
	struct ibf_options new;
	char *path = NULL;
	bool none = false;

	if (read_file(p, &new, &path, &none, "the options stay as they were"))
		new = p->read;
	free(path);
	for (const struct ibf_option *opt = ibf_option_table; opt->name; opt++) {
		int *used = ibf_option_value(&p->opt, opt), *read = ibf_option_value(&p->read, opt);
		int value = *ibf_option_value(&new, opt), before = *read;

		*read = value;
		if (value == before)
			continue;
		if (opt->at_start && value != *used) {
			ibf_log(p, IBF_RESTART, "option %s is %s now, but %s stays in use until opensm is restarted",
				opt->name, value_text(opt, value).s, value_text(opt, *used).s);
			continue;
		}
		*used = value;
		ibf_log(p, IBF_OPTION, "option %s is %s now, not %s", opt->name,
			value_text(opt, value).s, value_text(opt, before).s);
	}
}

/* OpenSM logs an unknown name in routing_engine, and routes by another engine.  Suggest the right
 * name. */
static void check_names(struct ibf_plugin *p)
{
	static const char blanks[] = ", \t\n";
	const char *w = p->osm->subn.opt.routing_engine_names;

	while (w && *(w += strspn(w, blanks))) {
		size_t len = strcspn(w, blanks);
		const char *meant = ibf_hint(w, len);

		if (meant)
			ibf_log(p, IBF_ENGINE_NAME, "routing_engine names \"%s\", which is no engine; OpenSM takes the next one of the list, and routes nothing if that is no_fallback; did you mean \"%s\"?",
				ftr_quote(w, len).s, meant);
		w += len;
	}
}

static void register_engines(struct ibf_plugin *p)
{
	const struct ftr_engine_ops *ops;

	for (unsigned int i = 0;
	     i < IBF_MAX_ENGINES && (ops = ftr_engine_at(i)); i++) {	/* not covered: fewer exist */
		struct ibf_engine *e = &p->engine[p->n_engines];
		external_routing_engine_module_t module = {
			.name = ops->name, .setup = ibf_engine_setup,
		};
		cl_status_t st;

		e->plugin = p;
		e->ops = ops;
		st = osm_register_external_routing_engine(p->osm, &module, e);
		if (st == CL_SUCCESS)
			p->n_engines++;
		else
			ibf_log(p, IBF_REGISTER, "OpenSM refuses the routing engine %s: %s",
				ops->name, CL_STATUS_MSG(st));
	}
}

static void *create(struct osm_opensm *osm)
{
	struct ibf_plugin *p;
	char why[128];

	if (!ibf_layout_fits(osm, why, sizeof(why))) {
		ibf_layout_refuse(why);
		return NULL;
	}
	p = ftr_calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->osm = osm;
	p->writer = ibf_writer_new(p);
	read_options(p);
	check_names(p);
	register_engines(p);
	p->status = p->opt.status_files ? ibf_status_new() : NULL;
	if (p->options)
		p->drain = ibf_drain_new(p, p->options);
	if (p->opt.fast_reroute && !p->opt.observe)
		p->fast = ibf_fast_new(p);
	return p;
}

static void delete(void *data)
{
	struct ibf_plugin *p = data;

	ibf_drain_free(p->drain);
	free(p->options);
	ibf_generation_put(p->ranked);
	ibf_fast_free(p->fast);
	for (unsigned int i = 0; i < p->n_engines; i++) {
		ibf_prefer_drop(&p->engine[i]);
		ibf_engine_publish(&p->engine[i], NULL);
	}
	ibf_nominal_forget(p);
	ibf_guids_free(p);
	ibf_writer_free(p->writer);
	ibf_status_free(p->status);
	ftr_team_free(p->team);
	free(p);
}

/* Drop what was read from the state files: another manager may write them from now on, so they must
 * be read again later. */
static void forget(struct ibf_plugin *p)
{
	ibf_nominal_forget(p);
	for (unsigned int i = 0; i < p->n_engines; i++)
		ibf_prefer_drop(&p->engine[i]);
	p->lft_known = false;
}

/* ---- who routes -------------------------------------------------------- */

static struct ibf_engine *engine_by_name(struct ibf_plugin *p,
					 const char *name, size_t len)
{
	for (unsigned int i = 0; i < p->n_engines; i++) {
		const char *own = p->engine[i].ops->name;

		/* OpenSM distinguishes upper and lower case in names.  But a name in the wrong
		 * case also means this engine. */
		if (strlen(own) == len && !strncasecmp(own, name, len))
			return &p->engine[i];
	}
	return NULL;
}

/* The first engine of this plugin that routing_engine lists before `used`, the engine that routes.
 * NULL: there is none.  used NULL: no engine routes; then all engines of the list count. */
static struct ibf_engine *passed_over(struct ibf_plugin *p, const char *used)
{
	static const char blanks[] = ", \t\n";
	const char *w = p->osm->subn.opt.routing_engine_names;

	while (w && *(w += strspn(w, blanks))) {
		size_t len = strcspn(w, blanks);
		struct ibf_engine *e = engine_by_name(p, w, len);

		if (used && strlen(used) == len && !memcmp(used, w, len))
			return NULL;
		if (e)
			return e;
		w += len;
	}
	return NULL;
}

static const char *reason(const struct ibf_engine *e)
{
	return e->refusal[0] ? e->refusal :
	       "OpenSM did not call it (see the lines above)";
}

static void routing_done(struct ibf_plugin *p)
{
	const struct osm_routing_engine *used = p->osm->routing_engine_used;
	struct ibf_engine *e;
	bool ours;

	p->routing_done = true;
	p->lft_known = true;
	e = used ? engine_by_name(p, used->name, strlen(used->name)) : NULL;
	/* With use_ucast_cache OpenSM may have routed without calling the engine.  If entries remain, the
	 * switches do not hold its tables. */
	ibf_fast_routed(p->fast, e && !e->gen_stale && !p->remain ? e->gen : NULL);
	if (!used)
		return;
	p->routed = e && !e->gen_stale ? e : NULL;
	ours = e != NULL;
	e = passed_over(p, used->name);
	ibf_status_engine(p, used->name, ours, e ? reason(e) : "");
	if (e && !p->opt.observe)	/* with "observe", another engine should route */
		ibf_log(p, IBF_FALLBACK, "the routing engine %s routes now instead of %s: %s",
			used->name, e->ops->name, reason(e));
}

/* If all engines fail, OpenSM reports no event.  So this is detected when the next sweep starts. */
static void sweep_start(struct ibf_plugin *p)
{
	struct ibf_engine *e = passed_over(p, NULL);

	p->own_reroute = false;
	/* While this manager was standby, another manager may have routed, and may have seen more
	 * of the fabric.  No event reports that this manager is master again. */
	if (p->osm->subn.coming_out_of_standby) {
		forget(p);
		p->swept = false;	/* sweeps of a standby do not route */
	}

	if (e && p->swept && !p->routing_done &&
	    !p->osm->routing_engine_used &&
	    p->osm->subn.sm_state == IB_SMINFO_STATE_MASTER)
		ibf_log(p, IBF_NO_ENGINE, "no routing engine routed in the last sweep, switches keep their old tables; %s: %s",
			e->ops->name, reason(e));
	for (unsigned int i = 0; i < p->n_engines; i++)
		p->engine[i].gen_stale = true;
	p->swept = true;
	p->routing_done = false;
}

static void trees_done(struct ibf_plugin *p)
{
	for (unsigned int i = 0; i < p->n_engines; i++) {
		struct ibf_engine *e = &p->engine[i];

		if (e->n_trees)
			ibf_log(p, IBF_MCAST, "%s: %s in %.1f ms", e->ops->name,
				ibf_count(e->n_trees, "multicast tree",
					  "multicast trees").s, e->trees_ms);
		e->n_trees = 0;
		e->trees_ms = 0;
	}
}

static void status(struct ibf_plugin *p)
{
	ibf_status_write(p, p->routed && !p->routed->gen_stale ?
			 p->routed->gen : NULL);
}

/* True if the switches have acknowledged all tables of the last routing. */
static bool all_acknowledged(struct ibf_plugin *p)
{
	const struct ftr_fabric *f = p->routed->gen->fabric;	/* has the drained switches, too */
	bool all = true;

	CL_PLOCK_ACQUIRE(&p->osm->lock);
	for (ftr_sw s = 0; s < f->n_sw && all; s++) {
		const osm_switch_t *sw = ibf_host_switch(p, f->sw[s].guid);

		all = sw && !memcmp(sw->lft, sw->new_lft, FTR_MIN(sw->lft_size, f->max_lid + 1u));
	}
	CL_PLOCK_RELEASE(&p->osm->lock);
	return all;
}

/* The switches have the tables of the last routing.  If links have become Active since, a reroute
 * adds them, and a search waits for its tables.  If entries remain, another sweep writes them. */
static void written(struct ibf_plugin *p, bool rerouted)
{
	bool remain = ibf_transition_over(p), final = !remain && (rerouted || !p->idle_links);

	if (remain && !p->osm->subn.subnet_initialization_error)	/* else OpenSM sweeps again by itself */
		ibf_request_sweep(p->osm);
	else if (!remain && !final)
		ibf_request_reroute(p);
	for (unsigned int i = 0; i < p->n_engines; i++)
		if (final)
			ibf_prefer_search(&p->engine[i]);
	if (!remain)
		ibf_fast_post(p->fast, RR_EV_SUBNET_UP);
	if (!remain && p->routed && !p->routed->gen_stale && all_acknowledged(p))
		ibf_drain_written(p);
	status(p);
}

static void report(void *data, osm_epi_event_id_t event, void *event_data)
{
	struct ibf_plugin *p = data;

	switch (event) {
	case OSM_EVENT_ID_HEAVY_SWEEP_START:
		update_options(p);
		sweep_start(p);
		ibf_status_count(p, offsetof(struct ibf_metrics, sweeps));
		ibf_fast_sweep_start(p->fast);
		break;
	case OSM_EVENT_ID_STATE_CHANGE:	/* another manager may route now */
		if (p->osm->subn.sm_state != IB_SMINFO_STATE_MASTER) {
			forget(p);
			ibf_fast_post(p->fast, RR_EV_STANDBY);
		}
		status(p);
		break;
	case OSM_EVENT_ID_HEAVY_SWEEP_DONE:
		ibf_fast_discovered(p->fast);
		break;
	case OSM_EVENT_ID_UCAST_ROUTING_DONE:
		routing_done(p);
		/* no SUBNET_UP follows a reroute */
		if (event_data == (void *)UCAST_ROUTING_REROUTE)
			written(p, true);
		break;
	case OSM_EVENT_ID_SUBNET_UP:
		trees_done(p);
		written(p, false);
		break;
	default:
		break;
	}
}

__attribute__((visibility("default")))
osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = delete,
	.report = report,
};
