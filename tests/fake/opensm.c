// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Provides OpenSM as the plugin sees it: symbols, structures, start and exit.
 *
 * There is one fake OpenSM at a time, because there is one set of symbols.  The structures
 * are those of the installed headers; only the members that the plugin reads are set.  A
 * switch unknown to OpenSM has an osm_node_t, but no osm_switch_t.
 */
#include <glob.h>
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "lib/temp.h"
#include <ftr/io.h>
#include "osm/writer.h"
#include <complib/cl_debug.h>
#include <vendor/osm_vendor_api.h>

extern osm_event_plugin_t osm_event_plugin;

volatile unsigned int osm_exit_flag;
static struct fake *the_host;

_Noreturn void fake_fail(const char *what)
{
	fprintf(stderr, "fake host: %s\n", what);
	if (the_host && the_host->log)
		fputs(the_host->log, stderr);
	abort();
}

static void *must(void *p)
{
	if (!p)
		fake_fail("out of memory");
	return p;
}

/* Abort if the line has a plural after the number 1, such as "1 links". */
static void judge_plural(const char *line)
{
	static const char *const plural[] = {
		"blocks", "contradictions", "destinations", "entries", "hosts",
		"LIDs", "leaves", "links", "others", "pairs", "planes", "pods",
		"ports", "ranks", "records", "steps", "switches", "threads",
		"trees", "turns",
	};

	for (const char *at = line; (at = strstr(at, " 1 ")); at += 3)
		for (size_t i = 0; i < FTR_ARRAY_LEN(plural); i++) {
			size_t word = strcspn(at + 3, " ,;:)\n");

			if (word == strlen(plural[i]) &&
			    !strncmp(at + 3, plural[i], word))
				fake_fail(line);
		}
}

/* ---- imported symbols ---------------------------------------------------- */

void osm_log(osm_log_t *log, osm_log_level_t level, const char *fmt, ...)
{
	struct fake *h = the_host;
	char line[4096];
	size_t n;
	va_list ap;

	(void)log;
	(void)level;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (getenv("FAKE_LOG"))
		fprintf(stderr, "%.3f %s", fake_time(), line);
	judge_plural(line);
	n = strlen(line);
	pthread_mutex_lock(&h->mutex);
	h->log = must(realloc(h->log, h->log_size + n + 1));
	memcpy(h->log + h->log_size, line, n + 1);
	h->log_size += n;
	if (h->logging)
		h->logging(h->logging_ctx, line);
	pthread_mutex_unlock(&h->mutex);
}

boolean_t osm_link_is_healthy(const osm_physp_t *p)
{
	const osm_physp_t *r = p->p_remote_physp;

	return r ? p->healthy & r->healthy : TRUE;
}

osm_switch_t *osm_get_switch_by_guid(const osm_subn_t *subn, ib_net64_t guid)
{
	cl_map_item_t *i = cl_qmap_get(&subn->sw_guid_tbl, guid);

	return i == cl_qmap_end(&subn->sw_guid_tbl) ? NULL :
		(osm_switch_t *)(void *)i;
}

void osm_mcast_tbl_set(osm_mcast_tbl_t *tbl, uint16_t mlid, uint8_t port)
{
	(void)mlid;	/* tests have one MLID */
	(*tbl->p_mask_tbl)[0][port / 16] |= cl_hton16((uint16_t)(1 << port % 16));
}

void osm_purge_mtree(osm_sm_t *sm, osm_mgrp_box_t *mbox)
{
	(void)sm;
	mbox->root = NULL;
}

void osm_sm_signal(osm_sm_t *sm, osm_signal_t signal)
{
	struct fake *h = the_host;

	(void)sm;
	if (signal != OSM_SIGNAL_SWEEP)
		return;
	pthread_mutex_lock(&h->mutex);
	h->signals++;
	ibf_cond_wake(&h->cond);
	pthread_mutex_unlock(&h->mutex);
}

cl_status_t osm_register_external_routing_engine(osm_opensm_t *osm,
		const external_routing_engine_module_t *module, void *context)
{
	struct osm_routing_engine *re = must(calloc(1, sizeof(*re)));

	re->name = module->name;
	re->context = context;
	re->next = osm->routing_engine_list;
	if (module->setup(re, osm) < 0) {
		free(re);
		return CL_SUCCESS;
	}
	osm->routing_engine_list = re;
	return CL_SUCCESS;
}

osm_madw_t *osm_mad_pool_get(osm_mad_pool_t *pool, osm_bind_handle_t bind,
			     uint32_t size, const osm_mad_addr_t *addr)
{
	osm_madw_t *madw = must(calloc(1, sizeof(*madw) + size));

	(void)pool;
	osm_madw_init(madw, bind, size, addr);
	madw->p_mad = (void *)(madw + 1);
	pthread_mutex_lock(&the_host->mutex);
	the_host->pool_out++;
	pthread_mutex_unlock(&the_host->mutex);
	return madw;
}

void osm_mad_pool_put(osm_mad_pool_t *pool, osm_madw_t *madw)
{
	(void)pool;
	pthread_mutex_lock(&the_host->mutex);
	the_host->pool_out--;
	pthread_mutex_unlock(&the_host->mutex);
	free(madw);
}

/* ---- nodes --------------------------------------------------------------- */

static osm_node_t *node_new(uint64_t guid, unsigned int n_physp,
			    uint8_t type, const char *name)
{
	osm_node_t *n = must(calloc(1, sizeof(*n) +
				    n_physp * sizeof(osm_physp_t)));

	n->node_info.node_guid = cl_hton64(guid);
	n->node_info.node_type = type;
	n->node_info.num_ports = (uint8_t)(n_physp - 1);
	n->physp_tbl_size = n_physp;
	n->print_desc = must(strdup(name));
	snprintf((char *)n->node_desc.description,
		 sizeof(n->node_desc.description), "%s", name);
	for (unsigned int i = 0; i < n_physp; i++) {
		n->physp_table[i].p_node = n;
		n->physp_table[i].port_num = (uint8_t)i;
		n->physp_table[i].healthy = TRUE;
		n->physp_table[i].port_info.link_width_active =
			IB_LINK_WIDTH_ACTIVE_4X;
	}
	return n;
}

static void make_switch(struct fake *h, ftr_sw s)
{
	const struct ftr_switch *sw = &h->fab->sw[s];
	osm_node_t *n = node_new(sw->guid, sw->n_ports + 1u,
				 IB_NODE_TYPE_SWITCH, sw->name);
	osm_port_t *port = must(calloc(1, sizeof(*port)));

	for (unsigned int i = 0; i <= sw->n_ports; i++)
		n->physp_table[i].port_guid = cl_hton64(sw->guid);
	n->physp_table[0].port_info.base_lid = cl_hton16(sw->lid);
	port->p_node = n;
	port->guid = cl_hton64(sw->guid);
	port->p_physp = &n->physp_table[0];
	h->sw_node[s] = n;
	h->sw_port[s] = port;
}

bool fake_replace(struct fake *h, ftr_sw s)
{
	const struct ftr_fabric *f = h->fab;
	struct ftr_switch *sw = (struct ftr_switch *)(uintptr_t)&f->sw[s];
	uint64_t guid = sw->guid + 1;

	if (h->osw[s] || (s + 1 < f->n_sw && f->sw[s + 1].guid <= guid) ||
	    ftr_fabric_find_ep(f, guid) != FTR_EP_NONE)
		return false;
	sw->guid = guid;
	h->sw_node[s]->node_info.node_guid = cl_hton64(guid);
	for (unsigned int i = 0; i <= sw->n_ports; i++)
		h->sw_node[s]->physp_table[i].port_guid = cl_hton64(guid);
	h->sw_port[s]->guid = cl_hton64(guid);
	return true;
}

static void make_end(struct fake *h, ftr_ep e)
{
	const struct ftr_endport *ep = &h->fab->ep[e];
	osm_node_t *n = node_new(ep->node_guid, ep->port_num + 1u,
				 IB_NODE_TYPE_CA, ep->name);
	osm_port_t *port = must(calloc(1, sizeof(*port)));
	osm_physp_t *p = &n->physp_table[ep->port_num];

	p->port_guid = cl_hton64(ep->guid);
	p->port_info.base_lid = cl_hton16(ep->lid);
	ib_port_info_set_lmc(&p->port_info, ep->lmc);
	ib_port_info_set_port_state(&p->port_info, IB_LINK_ACTIVE);
	port->p_node = n;
	port->guid = cl_hton64(ep->guid);
	port->p_physp = p;
	h->ep_node[e] = n;
	h->ep_port[e] = port;
}

static void node_free(osm_node_t *n, osm_port_t *port)
{
	free(n->print_desc);
	free(n);
	free(port);
}

/* ---- OpenSM's knowledge of the fabric ----------------------------------- */

static void know(struct fake *h, osm_node_t *n, osm_port_t *port, ftr_lid lid,
		 unsigned int lmc)
{
	osm_subn_t *subn = &h->osm->subn;

	cl_qmap_insert(&subn->node_guid_tbl, n->node_info.node_guid,
		       &n->map_item);
	cl_qmap_insert(&subn->port_guid_tbl, port->guid, &port->map_item);
	for (unsigned int i = 0; i < 1u << lmc; i++)
		if (cl_ptr_vector_set(&subn->port_lid_tbl, lid + i, port))
			fake_fail("out of memory");
}

static void forget(struct fake *h, osm_node_t *n, osm_port_t *port,
		   ftr_lid lid, unsigned int lmc)
{
	osm_subn_t *subn = &h->osm->subn;

	if (cl_qmap_get(&subn->node_guid_tbl, n->node_info.node_guid) == &n->map_item)
		cl_qmap_remove_item(&subn->node_guid_tbl, &n->map_item);
	cl_qmap_remove_item(&subn->port_guid_tbl, &port->map_item);
	for (unsigned int i = 0; i < 1u << lmc; i++)
		cl_ptr_vector_set(&subn->port_lid_tbl, lid + i, NULL);
	for (unsigned int i = 0; i < n->physp_tbl_size; i++) {
		osm_physp_t *p = &n->physp_table[i];

		if (p->p_remote_physp)
			p->p_remote_physp->p_remote_physp = NULL;
		p->p_remote_physp = NULL;
	}
}

static void forget_host(struct fake *h, ftr_ep e)
{
	const struct ftr_endport *ep = &h->fab->ep[e];

	if (cl_qmap_get(&h->osm->subn.port_guid_tbl, h->ep_port[e]->guid) ==
	    &h->ep_port[e]->map_item)
		forget(h, h->ep_node[e], h->ep_port[e], ep->lid, ep->lmc);
}

void fake_drop_host(struct fake *h, ftr_ep e)
{
	if (e != h->sm)
		forget_host(h, e);
}

static void new_switch(struct fake *h, ftr_sw s)
{
	osm_switch_t *sw = must(calloc(1, sizeof(*sw)));
	osm_node_t *n = h->sw_node[s];

	sw->p_node = n;
	sw->num_ports = (uint8_t)n->physp_tbl_size;
	sw->need_update = 2;
	h->osw[s] = n->sw = sw;
	sw->switch_info.lin_top = cl_hton16(h->sw[s].top ? h->sw[s].top : h->fab->max_lid);
	cl_qmap_insert(&h->osm->subn.sw_guid_tbl, n->node_info.node_guid,
		       &sw->map_item);
	know(h, n, h->sw_port[s], h->fab->sw[s].lid, h->fab->sw[s].lmc);
}

void fake_drop(struct fake *h, ftr_sw s)
{
	const struct ftr_switch *sw = &h->fab->sw[s];
	osm_switch_t *o = h->osw[s];

	if (!o)
		return;
	for (unsigned int p = 1; p <= sw->n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(h->fab, s, (ftr_port)p);

		if (port->peer_kind == FTR_PEER_EP)
			fake_drop_host(h, port->peer);
	}
	forget(h, h->sw_node[s], h->sw_port[s], sw->lid, sw->lmc);
	cl_qmap_remove_item(&h->osm->subn.sw_guid_tbl, &o->map_item);
	h->sw_node[s]->sw = NULL;
	h->osw[s] = NULL;
	free(o->lft);
	free(o->new_lft);
	free(o);
}

static osm_physp_t *far_end(struct fake *h, const struct ftr_swport *port)
{
	if (port->peer_kind == FTR_PEER_SW)
		return h->osw[port->peer] ?
			&h->sw_node[port->peer]->physp_table[port->peer_port] :
			NULL;
	return &h->ep_node[port->peer]->physp_table[port->peer_port];
}

/* Update OpenSM's data about a port.  A port that is Down loses its remote end immediately, as
 * in osm_port_info_rcv.c. */
static void learn_port(struct fake *h, ftr_sw s, ftr_port p, uint8_t state)
{
	const struct ftr_swport *port = ftr_fabric_port(h->fab, s, p);
	osm_physp_t *own = &h->sw_node[s]->physp_table[p], *far;

	ib_port_info_set_port_state(&own->port_info, state);
	if (state == IB_LINK_DOWN) {
		if (own->p_remote_physp)
			own->p_remote_physp->p_remote_physp = NULL;
		own->p_remote_physp = NULL;
		return;
	}
	if (port->peer_kind == FTR_PEER_NONE || !(far = far_end(h, port)))
		return;
	if (port->peer_kind == FTR_PEER_EP &&
	    cl_qmap_get(&h->osm->subn.port_guid_tbl, far->port_guid) ==
	    cl_qmap_end(&h->osm->subn.port_guid_tbl))
		know(h, h->ep_node[port->peer], h->ep_port[port->peer],
		     h->fab->ep[port->peer].lid, h->fab->ep[port->peer].lmc);
	own->p_remote_physp = far;
	far->p_remote_physp = own;
}

void fake_learn(struct fake *h, ftr_sw s)
{
	const struct ftr_switch *sw = &h->fab->sw[s];
	uint8_t state[FTR_PORT_MAX + 1];
	osm_dr_path_t *dr;
	bool changed;

	fake_lock(h);
	memcpy(state, h->link + sw->first_port, sw->n_ports + 1u);
	changed = h->sw[s].changed;
	fake_unlock(h);
	if (!h->osw[s])
		new_switch(h, s);
	for (unsigned int p = 1; p <= sw->n_ports; p++)
		learn_port(h, s, (ftr_port)p, state[p]);
	h->sw_node[s]->physp_table[0].port_info.m_key = h->sw[s].m_key;
	dr = osm_physp_get_dr_path_ptr(&h->sw_node[s]->physp_table[0]);
	dr->hop_count = h->sw[s].route.hops;
	memcpy(dr->path, h->sw[s].route.path, h->sw[s].route.hops + 1u);
	if (h->osw[s]->need_update == 1 && !changed)
		h->osw[s]->need_update = 0;
}

/* ---- the dispatcher ------------------------------------------------------ */

struct message {
	void *data;
	cl_pfn_msgdone_cb_t done;
};

static void message_done(void *context, void *data)
{
	struct message *m = context;

	m->done(the_host, data);
	free(m);
	pthread_mutex_lock(&the_host->mutex);
	the_host->posted--;
	pthread_mutex_unlock(&the_host->mutex);
	fake_messages(-1);
}

void fake_post(struct fake *h, cl_disp_msgid_t id, void *data,
	       cl_pfn_msgdone_cb_t done)
{
	struct message *m = must(calloc(1, sizeof(*m)));

	m->done = done;
	pthread_mutex_lock(&h->mutex);
	h->posted++;
	pthread_mutex_unlock(&h->mutex);
	fake_messages(1);
	if (cl_disp_post(h->poster, id, data, message_done, m))
		fake_fail("no handler is registered for a message");
}

void fake_report(struct fake *h, osm_epi_event_id_t id, void *data)
{
	if (__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED))
		return;
	osm_event_plugin.report(h->plugin, id, data);
}

/* ---- start and end ------------------------------------------------------ */

void fake_write_options(struct fake *h, const char *options)
{
	static const char common[] =
		"threads 1\nca_order_dump off\nfast_window 16\n"
		"fast_timeout_ms 500\nfast_sweep_delay_ms 0\n"
		"fast_sweep_cap_ms 20\nfast_flap_limit 0\n"
		/* with "balance full", a thread of the plugin requests sweeps at any time */
		"balance load\n";
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "%s/conf", h->dir);
	out = fopen(path, "w");
	if (!out)
		fake_fail("no temporary file");
	/* a key may be given only once, so leave out the defaults that the test overrides */
	for (const char *line = common; *line;) {
		size_t n = strcspn(line, "\n") + 1, key = strcspn(line, " ");
		char name[64];

		snprintf(name, sizeof(name), "%.*s ", (int)key, line);
		if (!options || !strstr(options, name))
			fwrite(line, 1, n, out);
		line += n;
	}
	if (options)
		fputs(options, out);
	fclose(out);
}

static void make_directory(struct fake *h)
{
	if (!temp_dir(h->dir, "ibf-fake"))
		fake_fail("no temporary directory");
	if (setenv("OSM_CACHE_DIR", h->dir, 1))
		fake_fail("out of memory");
}

/* complib_init_v2() starts a thread and allocates memory.  A second call would lose the memory
 * of the first. */
static void init_complib(void)
{
	static bool done;

	if (!done && complib_init_v2())
		fake_fail("complib");
	done = true;
}

static void make_osm(struct fake *h, const struct fake_opts *o)
{
	osm_opensm_t *osm = must(calloc(1, sizeof(*osm)));
	osm_subn_t *subn = &osm->subn;
	char path[128];

	h->osm = osm;
	init_complib();
	if (cl_plock_init(&osm->lock) ||
	    cl_disp_init(&osm->disp, 2, "disp") ||
	    cl_ptr_vector_init(&subn->port_lid_tbl, 64, 64))
		fake_fail("complib");
	pthread_mutex_init(&osm->stats.mutex, NULL);
	pthread_cond_init(&osm->stats.cond, NULL);
	osm->sm.p_subn = osm->sa.p_subn = subn;
	osm->sm.p_log = &osm->log;
	osm->sm.p_disp = &osm->disp;
	osm->sm.p_lock = &osm->lock;
	osm->sa.p_mad_pool = &osm->mad_pool;
	osm->sm.trap_disp_h = cl_disp_register(&osm->disp, OSM_MSG_MAD_NOTICE,
					       fake_trap_process, h);
	h->lft_disp = cl_disp_register(&osm->disp, OSM_MSG_MAD_LFT,
				       fake_lft_answer, h);
	h->poster = cl_disp_register(&osm->disp, CL_DISP_MSGID_NONE, NULL,
				     NULL);
	cl_qmap_init(&subn->sw_guid_tbl);
	cl_qmap_init(&subn->node_guid_tbl);
	cl_qmap_init(&subn->port_guid_tbl);
	cl_qmap_init(&subn->sm_guid_tbl);
	subn->p_osm = osm;
	subn->sm_state = IB_SMINFO_STATE_MASTER;
	subn->sm_port_guid = cl_hton64(h->fab->ep[h->sm].guid);
	subn->opt.sweep_on_trap = !o->no_sweep_on_trap;
	subn->opt.m_key = o->m_key;
	subn->opt.m_key_lookup = o->m_key_lookup;
	subn->opt.routing_engine_names = must(strdup(o->routing_engines ?
		o->routing_engines : o->engine ? o->engine : "dmodc"));
	snprintf(path, sizeof(path), "ibfattree:%s/conf", h->dir);
	subn->opt.event_plugin_options = must(strdup(path));
	subn->opt.dump_files_dir = h->dir;
	osm->p_vendor = (void *)h;
	h->minhop.name = "minhop";
	h->minhop.context = h;
	h->minhop.ucast_build_fwd_tables = fake_minhop;
	osm->default_routing_engine = &h->minhop;
}

static void make_fabric(struct fake *h, const struct fake_opts *o)
{
	struct ftr_shape_opts so = { .leaf_order = FTR_LEAF_BY_GUID };
	struct ftr_gen_opts go = { .seed = 7, .random_lids = true };
	struct ftr_err err = { 0 };
	struct ftr_pgft g;
	struct ftr_shape *sh;

	h->fab = o->fabric;
	if (h->fab)
		;
	else if (o->netfile ? ftr_read_fabric(o->netfile, 0, &h->fab, &err) :
		 ftr_pgft_parse(o->pgft ? o->pgft : "3;8,2,4;1,2,2;1,1,1", &g,
				&err) || ftr_gen_pgft(&g, &go, &h->fab, &err))
		fake_fail(err.msg);
	if (ftr_shape_new(h->fab, &so, NULL, &sh, &err))
		fake_fail(err.msg);
	h->sh = sh;
	h->sw = must(calloc(h->fab->n_sw, sizeof(*h->sw)));
	h->link = must(calloc(h->fab->n_ports, 1));
	h->sw_node = must(calloc(h->fab->n_sw, sizeof(void *)));
	h->sw_port = must(calloc(h->fab->n_sw, sizeof(void *)));
	h->osw = must(calloc(h->fab->n_sw, sizeof(void *)));
	h->ep_node = must(calloc(h->fab->n_ep, sizeof(void *)));
	h->ep_port = must(calloc(h->fab->n_ep, sizeof(void *)));
	for (ftr_ep e = 0; e < h->fab->n_ep; e++)
		make_end(h, e);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++) {
		make_switch(h, s);
		h->sw[s].lft = must(malloc(FTR_LID_MAX + 1u));
		memset(h->sw[s].lft, FTR_PORT_NONE, FTR_LID_MAX + 1u);
		h->sw[s].m_key = o->m_key_lookup ? cl_hton64(s + 1000u) :
			o->m_key;
		for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++)
			h->link[h->fab->sw[s].first_port + p] =
				ftr_fabric_port(h->fab, s, (ftr_port)p)
				->peer_kind ? IB_LINK_INIT : IB_LINK_DOWN;
	}
}

static void load_plugin(struct fake *h)
{
	struct ibf_plugin *p = must(osm_event_plugin.create(h->osm));

	h->plugin = p;
	h->fast = p->fast;
}

struct fake *fake_new(const struct fake_opts *opts)
{
	static const struct fake_opts none;
	const struct fake_opts *o = opts ? opts : &none;
	struct fake *h = must(calloc(1, sizeof(*h)));

	if (the_host)
		fake_fail("there can be only one fake OpenSM at a time");
	the_host = h;
	__atomic_store_n(&osm_exit_flag, 0, __ATOMIC_RELAXED);
	pthread_mutex_init(&h->mutex, NULL);
	ibf_cond_init(&h->cond);
	fake_clock(!o->real_time);
	h->sm = o->sm;
	h->opts = must(malloc(sizeof(*o)));
	*h->opts = *o;
	make_fabric(h, o);
	make_directory(h);
	fake_write_options(h, o->options);
	make_osm(h, o);
	h->wire = fake_wire_new(h);
	load_plugin(h);
	if (!o->not_up) {
		fake_sweep(h);
		fake_settle(h);
	}
	return h;
}

/* The steps of osm_opensm_destroy: join the sweeper, drain the dispatcher, free its registrations,
 * destroy engines, and delete plugins.  Meanwhile the transport keeps running. */
void fake_unload(struct fake *h)
{
	struct osm_routing_engine *re;

	if (!h->plugin)
		return;
	__atomic_store_n(&osm_exit_flag, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&h->mutex);
	h->stop_sweeper = true;
	ibf_cond_wake(&h->cond);
	pthread_mutex_unlock(&h->mutex);
	if (h->auto_sweep)
		ibf_thread_join(h->sweeper);
	cl_disp_unregister(h->osm->sm.trap_disp_h);
	cl_disp_shutdown(&h->osm->disp);
	for (; h->posted; h->posted--)	/* messages that the dispatcher dropped */
		fake_messages(-1);
	while ((re = h->osm->routing_engine_list)) {
		h->osm->routing_engine_list = re->next;
		re->destroy(re->context);
		free(re);
	}
	osm_event_plugin.delete(h->plugin);
	h->plugin = NULL;
	h->fast = NULL;
}

static void free_osm(struct fake *h)
{
	cl_disp_destroy(&h->osm->disp);
	cl_ptr_vector_destroy(&h->osm->subn.port_lid_tbl);
	cl_plock_destroy(&h->osm->lock);
	free(h->osm->subn.opt.event_plugin_options);
	free(h->osm->subn.opt.routing_engine_names);
	free(h->osm);
}

/* Only for opts whose strings still exist. */
void fake_restart(struct fake *h, bool crash)
{
	if (!crash)
		fake_unload(h);
	fake_wire_orphan(h);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		fake_drop(h, s);
	for (ftr_ep e = 0; e < h->fab->n_ep; e++)
		forget_host(h, e);
	if (crash)
		h->pool_out = 0;
	else
		free_osm(h);
	h->signals = h->posted = h->reported = 0;
	h->own_sweep = h->stop_sweeper = h->auto_sweep = h->sweeping = false;
	memset(h->trap_age, 0, sizeof(h->trap_age));
	__atomic_store_n(&osm_exit_flag, 0, __ATOMIC_RELAXED);
	make_osm(h, h->opts);
	load_plugin(h);
}

static void free_objects(struct fake *h)
{
	for (ftr_sw s = 0; s < h->fab->n_sw; s++) {
		fake_drop(h, s);
		node_free(h->sw_node[s], h->sw_port[s]);
		free(h->sw[s].lft);
	}
	for (ftr_ep e = 0; e < h->fab->n_ep; e++)
		node_free(h->ep_node[e], h->ep_port[e]);
	free(h->sw_node);
	free(h->sw_port);
	free(h->ep_node);
	free(h->ep_port);
	free(h->osw);
	free(h->sw);
	free(h->link);
}

void fake_free(struct fake *h)
{
	char *pattern;
	glob_t found;

	fake_unload(h);
	fake_wire_free(h->wire);
	if (h->pool_out)
		fake_fail("packets have not been returned to the pool");
	free_objects(h);
	if (asprintf(&pattern, "%s/{conf,ibfattree*}", h->dir) < 0)
		fake_fail("out of memory");
	if (!glob(pattern, GLOB_BRACE, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
	globfree(&found);
	free(pattern);
	if (rmdir(h->dir))
		fake_fail("something is left in the dump directory");
	free_osm(h);
	free(h->opts);
	ftr_shape_free((struct ftr_shape *)(uintptr_t)h->sh);
	ftr_fabric_free(h->fab);
	pthread_mutex_destroy(&h->mutex);
	pthread_cond_destroy(&h->cond);
	free(h->log);
	free(h);
	the_host = NULL;
}

/* FNV-1a */
uint64_t fake_hash(uint64_t x, const void *data, size_t n)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < n; i++)
		x = (x ^ p[i]) * 0x100000001b3;
	return x;
}
