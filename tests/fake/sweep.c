// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Does what OpenSM does: heavy sweeps, forced reroutes, handling of traps, changes of links.
 *
 * The order of steps, the locks and the treatment of lft and new_lft are those of do_sweep
 * (osm_state_mgr.c), osm_ucast_mgr_process and set_lft_block (osm_ucast_mgr.c),
 * trap_rcv_process_request (osm_trap_rcv.c) and osm_link_mgr.c.  Steps that do not concern
 * the plugin are left out.
 *
 * The discovery sends no packets.  It first finds all switches and their routes, and then
 * reads the port states switch by switch.
 */
#include <stdlib.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/alloc.h"

static void moment(struct fake *h, enum fake_moment m)
{
	if (h->moment)
		h->moment(h->moment_ctx, h, m);
}

static bool get(const boolean_t *flag)
{
	return __atomic_load_n(flag, __ATOMIC_RELAXED);
}

static void put(boolean_t *flag, boolean_t v)
{
	__atomic_store_n(flag, v, __ATOMIC_RELAXED);
}

static bool leaving(void)
{
	return __atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED);
}

void fake_set_state(struct fake *h, uint8_t sm_state)
{
	CL_PLOCK_EXCL_ACQUIRE(&h->osm->lock);
	__atomic_store_n(&h->osm->subn.sm_state, sm_state, __ATOMIC_RELAXED);
	CL_PLOCK_RELEASE(&h->osm->lock);
}

static bool is_master(struct fake *h)
{
	return __atomic_load_n(&h->osm->subn.sm_state, __ATOMIC_RELAXED) ==
		IB_SMINFO_STATE_MASTER;
}

static bool outstanding(struct fake *h)
{
	osm_stats_t *st = &h->osm->stats;
	bool some;

	pthread_mutex_lock(&st->mutex);
	some = st->qp0_mads_outstanding != 0;
	pthread_mutex_unlock(&st->mutex);
	return some;
}

/* Act as OpenSM's wait_for_pending_transactions().  Returns true if OpenSM must exit. */
static bool wait_for_pending(struct fake *h)
{
	fake_until(!outstanding(h) || leaving());
	return leaving();
}

/* ---- discovery ----------------------------------------------------------- */

struct finding {
	ftr_sw *sw;		/* [n] in the order of discovery */
	uint32_t n;
	bool *found;		/* [n_sw] true: the switch is in sw[] */
};

/* Find the switches by breadth-first search over the current links, and set their routes. */
static void find_switches(struct fake *h, struct finding *f)
{
	const struct ftr_endport *sm = &h->fab->ep[h->sm];

	f->n = 0;
	memset(f->found, 0, h->fab->n_sw * sizeof(*f->found));
	fake_lock(h);
	if (h->link[h->fab->sw[sm->sw].first_port + sm->sw_port] >=
	    IB_LINK_INIT) {
		f->sw[f->n++] = sm->sw;
		f->found[sm->sw] = true;
		h->sw[sm->sw].route = (struct rr_dr){ .hops = h->on_switch ? 0 : 1 };
		if (!h->on_switch)
			h->sw[sm->sw].route.path[1] = sm->port_num;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		ftr_sw s = f->sw[i];

		for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(h->fab, s, (ftr_port)p);
			struct rr_dr *dr;

			if (port->peer_kind != FTR_PEER_SW ||
			    f->found[port->peer] ||
			    h->link[h->fab->sw[s].first_port + p] <
			    IB_LINK_INIT)
				continue;
			dr = &h->sw[port->peer].route;
			*dr = h->sw[s].route;
			dr->path[++dr->hops] = (uint8_t)p;
			f->found[port->peer] = true;
			f->sw[f->n++] = port->peer;
		}
	}
	fake_unlock(h);
}

static void discover(struct fake *h, struct finding *f)
{
	CL_PLOCK_EXCL_ACQUIRE(&h->osm->lock);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		if (h->osw[s] && h->osw[s]->max_lid_ho)
			h->osw[s]->need_update = 1;
	CL_PLOCK_RELEASE(&h->osm->lock);
	find_switches(h, f);
	for (uint32_t i = 0; i < f->n; i++) {
		CL_PLOCK_EXCL_ACQUIRE(&h->osm->lock);
		fake_learn(h, f->sw[i]);
		CL_PLOCK_RELEASE(&h->osm->lock);
		if (i == f->n / 2)
			moment(h, FAKE_DISCOVERING);
	}
}

static void drop_manager(struct fake *h, const struct finding *f)
{
	CL_PLOCK_EXCL_ACQUIRE(&h->osm->lock);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		if (!f->found[s])
			fake_drop(h, s);
	for (ftr_ep e = 0; e < h->fab->n_ep; e++)
		if (h->fab->ep[e].sw != FTR_SW_NONE && !h->ep_node[e]->physp_table
		    [h->fab->ep[e].port_num].p_remote_physp)
			fake_drop_host(h, e);
	CL_PLOCK_RELEASE(&h->osm->lock);
	fake_lock(h);	/* from here on, as in osm_reset_switch_state_change_bit() */
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		if (f->found[s])
			h->sw[s].changed = false;
	fake_unlock(h);
}

/* ---- routing ------------------------------------------------------------- */

static void setup_switch(osm_switch_t *sw, uint16_t lids)
{
	uint16_t size = (uint16_t)((lids / FTR_LFT_BLOCK + 1) *
				   FTR_LFT_BLOCK);

	if (size > sw->lft_size) {
		sw->lft = realloc(sw->lft, size);
		if (sw->lft)
			memset(sw->lft + sw->lft_size, OSM_NO_PATH,
			       (size_t)(size - sw->lft_size));
		sw->lft_size = size;
	}
	sw->new_lft = realloc(sw->new_lft, sw->lft_size);
	if (!sw->lft || !sw->new_lft)
		fake_fail("out of memory");
	memset(sw->new_lft, OSM_NO_PATH, sw->lft_size);
	sw->max_lid_ho = lids;
}

static bool try_engine(struct fake *h, struct osm_routing_engine *re)
{
	if (re->build_lid_matrices && re->build_lid_matrices(re->context))
		return false;
	if (re->ucast_build_fwd_tables(re->context))
		return false;
	h->osm->routing_engine_used = re;
	return true;
}

static struct osm_routing_engine *find_engine(struct fake *h, const char *name,
					      size_t len)
{
	struct osm_routing_engine *re = h->osm->routing_engine_list;

	while (re && (strlen(re->name) != len || memcmp(re->name, name, len)))
		re = re->next;
	return re;
}

static void choose_engine(struct fake *h)
{
	const char *w = h->osm->subn.opt.routing_engine_names;
	bool no_memory = h->no_memory, first = h->no_memory_first;

	h->osm->routing_engine_used = NULL;
	h->no_memory = h->no_memory_first = false;
	if (no_memory || first)
		ftr_alloc_fail_at(1);
	while (*(w += strspn(w, ","))) {
		size_t len = strcspn(w, ",");
		struct osm_routing_engine *re = find_engine(h, w, len);

		if (re && try_engine(h, re))
			break;
		if (first)
			ftr_alloc_fail_at(0);
		w += len;
	}
	ftr_alloc_fail_at(0);
	if (no_memory)
		return;
	if (!h->osm->routing_engine_used)
		try_engine(h, h->osm->default_routing_engine);
}

static void send_lft_block(struct fake *h, ftr_sw s, uint32_t block)
{
	osm_switch_t *sw = h->osw[s];
	uint8_t *old = sw->lft + block * (size_t)FTR_LFT_BLOCK;
	uint8_t *new = sw->new_lft + block * (size_t)FTR_LFT_BLOCK;
	uint32_t diff = 0;

	for (uint32_t i = 0; i < FTR_LFT_BLOCK; i++)
		diff += old[i] != new[i];
	if (!sw->need_update && !h->osm->subn.need_update && !diff)
		return;
	h->sets++;
	h->changed_blocks += diff != 0;
	h->changed_entries += diff;
	memset(old, 0, FTR_LFT_BLOCK);
	fake_send_block(h, s, block, new);
}

static void set_fwd_tables(struct fake *h, uint16_t lids)
{
	h->sets = h->changed_blocks = h->changed_entries = 0;
	fake_lock(h);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		if (h->osw[s]) {
			h->sw[s].top = lids;
			h->osw[s]->switch_info.lin_top = cl_hton16(lids);
		}
	fake_unlock(h);
	for (uint32_t b = 0; b <= (uint32_t)lids / FTR_LFT_BLOCK; b++)
		for (ftr_sw s = 0; s < h->fab->n_sw; s++)
			if (h->osw[s])
				send_lft_block(h, s, b);
}

/* Act as OpenSM's osm_ucast_mgr_process(). */
static bool route(struct fake *h)
{
	size_t n = cl_ptr_vector_get_size(&h->osm->subn.port_lid_tbl);
	uint16_t lids = (uint16_t)(n ? n - 1 : 0);

	CL_PLOCK_EXCL_ACQUIRE(&h->osm->lock);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		if (h->osw[s])
			setup_switch(h->osw[s], lids);
	moment(h, FAKE_LOCKED);
	choose_engine(h);
	if (!h->osm->routing_engine_used) {
		put(&h->osm->subn.subnet_initialization_error, TRUE);
		CL_PLOCK_RELEASE(&h->osm->lock);
		return false;
	}
	moment(h, FAKE_ROUTING);
	set_fwd_tables(h, lids);
	CL_PLOCK_RELEASE(&h->osm->lock);
	moment(h, FAKE_PUSHING);
	return true;
}

/* Route a LID like the stock engine: by the first shortest path that is found over the links that
 * OpenSM knows. */
static void minhop_to(struct fake *h, ftr_sw d, ftr_lid lid, ftr_port last,
		      ftr_sw *queue)
{
	uint32_t head = 0, tail = 0;

	queue[tail++] = d;
	h->osw[d]->new_lft[lid] = last;
	while (head < tail) {
		ftr_sw s = queue[head++];

		for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(h->fab, s, (ftr_port)p);
			osm_switch_t *r;

			if (port->peer_kind != FTR_PEER_SW ||
			    !h->sw_node[s]->physp_table[p].p_remote_physp)
				continue;
			r = h->osw[port->peer];
			if (!r || r->new_lft[lid] != OSM_NO_PATH)
				continue;
			r->new_lft[lid] = port->peer_port;
			queue[tail++] = port->peer;
		}
	}
}

int fake_minhop(void *ctx)
{
	struct fake *h = ctx;
	ftr_sw *queue = calloc(h->fab->n_sw, sizeof(*queue));

	if (h->fail_routing || !queue) {
		free(queue);
		return -1;
	}
	for (ftr_lid lid = 1; lid <= h->fab->max_lid; lid++) {
		const struct ftr_lid_owner *o = &h->fab->owner[lid];
		ftr_sw s = o->idx;
		ftr_port p = 0;

		if (o->kind == FTR_OWNER_EP) {
			s = h->fab->ep[o->idx].sw;
			p = h->fab->ep[o->idx].sw_port;
		}
		if (o->kind != FTR_OWNER_NONE && h->osw[s])
			minhop_to(h, s, lid, p, queue);
	}
	free(queue);
	return 0;
}

/* ---- links --------------------------------------------------------------- */

static void activate(struct fake *h, ftr_sw s, ftr_port p)
{
	const struct ftr_swport *port = ftr_fabric_port(h->fab, s, p);
	osm_physp_t *own = &h->sw_node[s]->physp_table[p];
	osm_physp_t *far = own->p_remote_physp;
	uint8_t *state = &h->link[h->fab->sw[s].first_port + p];

	if (!far || *state == IB_LINK_DOWN ||
	    osm_physp_get_port_state(own) == IB_LINK_DOWN)
		return;
	/* OpenSM does not set a state that it believes to be current */
	if (osm_physp_get_port_state(own) == IB_LINK_ACTIVE &&
	    osm_physp_get_port_state(far) == IB_LINK_ACTIVE)
		return;
	*state = IB_LINK_ACTIVE;
	if (port->peer_kind == FTR_PEER_SW)
		h->link[h->fab->sw[port->peer].first_port + port->peer_port] =
			IB_LINK_ACTIVE;
	ib_port_info_set_port_state(&own->port_info, IB_LINK_ACTIVE);
	ib_port_info_set_port_state(&far->port_info, IB_LINK_ACTIVE);
}

/* Act as OpenSM's three calls of osm_link_mgr_process(). */
static void link_manager(struct fake *h)
{
	CL_PLOCK_EXCL_ACQUIRE(&h->osm->lock);
	fake_lock(h);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		for (unsigned int p = 1;
		     h->osw[s] && p <= h->fab->sw[s].n_ports; p++)
			activate(h, s, (ftr_port)p);
	fake_unlock(h);
	CL_PLOCK_RELEASE(&h->osm->lock);
}

/* ---- sweeps -------------------------------------------------------------- */

static void set_own_sweep(struct fake *h, bool to_come)
{
	pthread_mutex_lock(&h->mutex);
	h->own_sweep = to_come;
	pthread_mutex_unlock(&h->mutex);
}

bool fake_left_to_sweep(struct fake *h)
{
	bool to_come;

	pthread_mutex_lock(&h->mutex);
	to_come = h->own_sweep;
	pthread_mutex_unlock(&h->mutex);
	return to_come;
}

static void discover_all(struct fake *h, struct finding *f)
{
	osm_subn_t *subn = &h->osm->subn;

	do {
		set_own_sweep(h, false);
		put(&subn->force_heavy_sweep, FALSE);
		put(&subn->force_reroute, FALSE);
		put(&subn->subnet_initialization_error, FALSE);
		discover(h, f);
		moment(h, FAKE_DISCOVERED);
	} while (get(&subn->force_heavy_sweep) && !leaving());
}

static bool configure(struct fake *h, const struct finding *f)
{
	fake_report(h, OSM_EVENT_ID_HEAVY_SWEEP_DONE, NULL);
	drop_manager(h, f);
	moment(h, FAKE_BEFORE_ROUTING);
	if (!is_master(h) || leaving() || !route(h) || wait_for_pending(h))
		return false;
	moment(h, FAKE_ROUTED);
	fake_report(h, OSM_EVENT_ID_UCAST_ROUTING_DONE,
		    (void *)UCAST_ROUTING_HEAVY_SWEEP);
	moment(h, FAKE_LINKS);
	link_manager(h);
	moment(h, FAKE_SWEEP_ENDS);
	h->osm->subn.coming_out_of_standby = FALSE;
	if (!get(&h->osm->subn.subnet_initialization_error))
		h->osm->subn.need_update = 0;
	if (get(&h->osm->subn.force_heavy_sweep))
		osm_sm_signal(&h->osm->sm, OSM_SIGNAL_SWEEP);
	h->n_sweeps++;
	fake_report(h, OSM_EVENT_ID_SUBNET_UP, NULL);
	if (get(&h->osm->subn.force_reroute) && !get(&h->osm->subn.force_heavy_sweep))
		fake_reroute(h);
	return true;
}

bool fake_sweep(struct fake *h)
{
	struct finding f = {
		.sw = calloc(h->fab->n_sw, sizeof(*f.sw)),
		.found = calloc(h->fab->n_sw, sizeof(*f.found)),
	};
	bool done;

	if (!f.sw || !f.found)
		fake_fail("out of memory");
	if (h->osm->subn.coming_out_of_standby)
		h->osm->subn.need_update = 1;
	fake_report(h, OSM_EVENT_ID_HEAVY_SWEEP_START, NULL);
	moment(h, FAKE_SWEEP_BEGINS);
	discover_all(h, &f);
	done = !leaving() && configure(h, &f);
	free(f.sw);
	free(f.found);
	return done;
}

/* If packets of the reroute are lost, a heavy sweep follows, and only its events are reported. */
bool fake_reroute(struct fake *h)
{
	put(&h->osm->subn.force_reroute, FALSE);
	h->osm->subn.need_update = 1;
	if (!route(h) || wait_for_pending(h))
		return false;
	h->osm->subn.need_update = 0;
	moment(h, FAKE_ROUTED);
	if (get(&h->osm->subn.subnet_initialization_error))
		return fake_sweep(h);
	fake_report(h, OSM_EVENT_ID_UCAST_ROUTING_DONE,
		    (void *)UCAST_ROUTING_REROUTE);
	return true;
}

static void *sweeper(void *arg)
{
	struct fake *h = arg;
	bool stop = false;

	while (!stop) {
		pthread_mutex_lock(&h->mutex);
		while (!h->signals && !h->stop_sweeper)
			ibf_cond_wait(&h->cond, &h->mutex, -1);
		h->signals = 0;
		h->sweeping = true;
		stop = h->stop_sweeper;
		pthread_mutex_unlock(&h->mutex);
		if (!stop && is_master(h) &&
		    (get(&h->osm->subn.force_heavy_sweep) ||
		     get(&h->osm->subn.subnet_initialization_error)))
			fake_sweep(h);
		pthread_mutex_lock(&h->mutex);
		h->sweeping = false;
		pthread_mutex_unlock(&h->mutex);
	}
	return NULL;
}

void fake_auto_sweep(struct fake *h)
{
	h->auto_sweep = true;
	if (!ibf_thread_start(&h->sweeper, sweeper, h))
		fake_fail("no thread");
}

/* ---- handlers of messages ---------------------------------------------------- */

static bool try_lock_osm(struct fake *h, bool exclusive)
{
	pthread_rwlock_t *lock = &h->osm->lock.lock;

	return exclusive ? !pthread_rwlock_trywrlock(lock) :
		!pthread_rwlock_tryrdlock(lock);
}

/* The sweeper may hold the lock while it waits, so time must advance while a handler waits for
 * the lock.  But time must not advance between the release of the lock and the moment when the
 * handler gets it.  So the handler tries again whenever another thread becomes idle. */
void fake_lock_osm(struct fake *h, bool exclusive)
{
	fake_as_thread(true);
	if (try_lock_osm(h, exclusive))
		return;
	fake_blocked(1);
	fake_until(try_lock_osm(h, exclusive));
	fake_blocked(-1);
}

void fake_unlock_osm(struct fake *h)
{
	CL_PLOCK_RELEASE(&h->osm->lock);
	fake_as_thread(false);
}

/* ---- traps --------------------------------------------------------------- */

#define SAME_TRAPS_MS 5000
#define SAME_TRAPS 10

/* Count a trap of this LID.  Returns true if the trap must be ignored: SAME_TRAPS traps of this LID
 * came before, each within SAME_TRAPS_MS of the previous one. */
static bool noisy(struct fake *h, ftr_lid lid)
{
	double now = ibf_now_ms();
	bool is;

	pthread_mutex_lock(&h->mutex);
	if (now > h->trap_age[lid].last + SAME_TRAPS_MS)
		h->trap_age[lid].n = 0;
	is = h->trap_age[lid].n >= SAME_TRAPS;
	h->trap_age[lid].n++;
	h->trap_age[lid].last = now;
	h->reported += !is;
	pthread_mutex_unlock(&h->mutex);
	return is;
}

/* Act as OpenSM's trap_rcv_process_request(). */
void fake_trap_process(void *context, void *data)
{
	struct fake *h = context;
	osm_madw_t *madw = data;
	osm_subn_t *subn = &h->osm->subn;
	ib_smp_t *smp = osm_madw_get_smp_ptr(madw);
	ib_mad_notice_attr_t *n = (void *)smp->data;
	unsigned int number = cl_ntoh16(n->g_or_v.generic.trap_num);

	if (leaving())
		return;
	fake_lock_osm(h, false);
	if (number == SM_LINK_STATE_CHANGED_TRAP &&
	    noisy(h, cl_ntoh16(n->data_details.ntc_128.sw_lid)))
		goto out;
	if (subn->opt.sweep_on_trap) {
		if (number == SM_LINK_STATE_CHANGED_TRAP ||
		    number == SM_LOCAL_CHANGES_TRAP) {
			put(&subn->force_heavy_sweep, TRUE);
			set_own_sweep(h, true);
		}
		osm_sm_signal(&h->osm->sm, OSM_SIGNAL_SWEEP);
	}
	if (number < 129 || number > 131)
		fake_report(h, OSM_EVENT_ID_TRAP, n);
out:
	fake_unlock_osm(h);
}

static void trap_done(void *context, void *data)
{
	struct fake *h = context;

	osm_mad_pool_put(&h->osm->mad_pool, data);
}

void fake_trap(struct fake *h, ftr_sw s, unsigned int number)
{
	osm_madw_t *madw = osm_mad_pool_get(&h->osm->mad_pool, NULL,
					    MAD_BLOCK_SIZE, NULL);
	ib_smp_t *smp = osm_madw_get_smp_ptr(madw);
	ib_mad_notice_attr_t *n = (void *)smp->data;
	ib_net16_t lid = cl_hton16(h->fab->sw[s].lid);

	smp->mgmt_class = IB_MCLASS_SUBN_LID;
	smp->method = IB_MAD_METHOD_TRAP;
	n->generic_type = 0x80 | IB_NOTICE_TYPE_URGENT;
	n->g_or_v.generic.trap_num = cl_hton16((uint16_t)number);
	n->issuer_lid = lid;
	if (number == SM_LINK_STATE_CHANGED_TRAP)
		n->data_details.ntc_128.sw_lid = lid;
	else
		n->data_details.ntc_144.lid = lid;
	osm_log(&h->osm->log, OSM_LOG_INFO, "fake: trap %u of %s\n", number,
		h->fab->sw[s].name);
	fake_post(h, OSM_MSG_MAD_NOTICE, madw, trap_done);
}

bool fake_reaches_sm(struct fake *h, ftr_sw s)
{
	const struct ftr_endport *sm = &h->fab->ep[h->sm];
	bool there = false;

	fake_lock(h);
	for (uint32_t i = 0; i < h->fab->n_sw && !there; i++) {
		ftr_port p = h->sw[s].lft[sm->lid];
		const struct ftr_swport *port;

		if (!p || p > h->fab->sw[s].n_ports ||
		    h->link[h->fab->sw[s].first_port + p] != IB_LINK_ACTIVE)
			break;
		port = ftr_fabric_port(h->fab, s, p);
		there = port->peer_kind == FTR_PEER_EP && port->peer == h->sm;
		if (port->peer_kind != FTR_PEER_SW)
			break;
		s = port->peer;
	}
	fake_unlock(h);
	return there;
}

/* ---- links --------------------------------------------------------------- */

void fake_link_quietly(struct fake *h, ftr_sw s, ftr_port p, bool up)
{
	const struct ftr_swport *port = ftr_fabric_port(h->fab, s, p);
	uint8_t state = up ? IB_LINK_INIT : IB_LINK_DOWN;

	if (port->peer_kind != FTR_PEER_SW)
		fake_fail("the port has no link to a switch");
	osm_log(&h->osm->log, OSM_LOG_INFO, "fake: the link at %s port %u goes %s\n",
		h->fab->sw[s].name, p, up ? "up" : "down");
	fake_lock(h);
	h->link[h->fab->sw[s].first_port + p] = state;
	h->link[h->fab->sw[port->peer].first_port + port->peer_port] = state;
	h->sw[s].changed = h->sw[port->peer].changed = true;
	fake_unlock(h);
}

void fake_activate(struct fake *h)
{
	for (uint32_t x = 0; x < h->fab->n_ports; x++)
		if (h->link[x] == IB_LINK_INIT)
			h->link[x] = IB_LINK_ACTIVE;
}

void fake_host(struct fake *h, ftr_ep e, bool up)
{
	const struct ftr_endport *ep = &h->fab->ep[e];

	fake_lock(h);
	h->link[h->fab->sw[ep->sw].first_port + ep->sw_port] = up ? IB_LINK_INIT : IB_LINK_DOWN;
	h->sw[ep->sw].changed = true;
	fake_unlock(h);
}

void fake_link(struct fake *h, ftr_sw s, ftr_port p, bool up)
{
	ftr_sw peer = ftr_fabric_port(h->fab, s, p)->peer;

	fake_link_quietly(h, s, p, up);
	fake_lock(h);
	h->sw[s].unheard = h->sw[peer].unheard = true;
	fake_unlock(h);
	fake_repeat_traps(h);
}

bool fake_repeat_traps(struct fake *h)
{
	bool some = false;

	for (ftr_sw s = 0; s < h->fab->n_sw; s++) {
		bool unheard;

		fake_lock(h);
		unheard = h->sw[s].unheard;
		fake_unlock(h);
		if (!unheard || !fake_reaches_sm(h, s))
			continue;
		fake_lock(h);
		h->sw[s].unheard = false;
		fake_unlock(h);
		fake_trap(h, s, SM_LINK_STATE_CHANGED_TRAP);
		some = true;
	}
	return some;
}

void fake_switch(struct fake *h, ftr_sw s, bool up)
{
	for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++)
		if (ftr_fabric_port(h->fab, s, (ftr_port)p)->peer_kind ==
		    FTR_PEER_SW)
			fake_link(h, s, (ftr_port)p, up);
}
