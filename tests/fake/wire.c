// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Simulates the fabric: packets in flight, and the switches that answer them.
 *
 * A list holds events, each with a time and a number.  The transport thread handles them in the
 * order of (time, number).  So packets without a delay arrive in the order in which they were sent.
 *
 *	send	-> CARRY	the request follows its route over the links of that time, and is
 *				carried out
 *		-> ANSWER	the answer reaches the sender, if the sender still waits
 *		-> TIMER	no answer: the request is sent again (the retries of the
 *				transport), then an error is reported
 *
 * With fake_control, CARRY and ANSWER have no time, and wait for fake_held_go() or fake_held_lose().
 *
 * Errors are reported to the sender's own callback.  If a test says so (fake_fate.to_host), they
 * are reported to OpenSM's callback (sm_mad_ctrl_send_err_cb) instead, as in ibsim.
 *
 * As in osm_vendor_ibumad.c, a sender's callbacks run with cb_mutex held, and are not called after
 * an unbind.  An answer for which no sender waits is dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "fake/opensm.h"
#include <vendor/osm_vendor_api.h>

#define OSM_TIMEOUT_MS 20
#define OSM_RETRIES 2
#define HELD 1e12	/* time in ms that stands for "when fake_release is called" */

struct bind {
	struct bind *next;
	struct fake_wire *wire;
	osm_vend_mad_recv_callback_t receive;
	osm_vend_mad_send_err_callback_t error;
	void *context;
	uint32_t timeout;
	unsigned int retries;
	bool dead;
};

/* A Set request that OpenSM itself has sent. */
struct lft_set {
	uint64_t guid;
	uint32_t block;
	bool answered;
	uint8_t data[FTR_LFT_BLOCK];
};

/* A request, with all its copies.  It is freed with its last event. */
struct txn {
	struct bind *bind;	/* the sender's bind; NULL: OpenSM is the sender */
	osm_madw_t *madw;	/* the packet, if the plugin sent it */
	struct lft_set *own;	/* the Set request, if OpenSM sent it */
	ib_smp_t smp;
	uint32_t timeout;	/* in ms; 0: the timeout of the bind */
	uint32_t number;
	unsigned int copy, refs;
	bool open;
	bool late;		/* the sender does not wait any more, and has not crashed */
	uint64_t cause;		/* of the request, then of the answer (fake.cause) */
};

enum kind { CARRY, ANSWER, TIMER };

struct event {
	struct event *next;
	double due;
	uint64_t seq;
	enum kind kind;
	struct txn *t;
	struct fake_fate fate;
	uint16_t status;
	uint8_t data[IB_SMP_DATA_SIZE];
};

struct fake_wire {
	struct fake *h;
	pthread_t thread;
	pthread_mutex_t mutex, cb_mutex;
	pthread_cond_t cond;
	bool stop, calling;
	bool control;		/* fake_control */
	struct event *event;	/* list, sorted by `due`, then by `seq` */
	struct bind *bind;
	uint64_t seq;
	uint32_t number[2];
	fake_fate_fn fate;
	void *fate_ctx;
};

void fake_lock(struct fake *h)
{
	pthread_mutex_lock(&h->wire->mutex);
}

void fake_unlock(struct fake *h)
{
	pthread_mutex_unlock(&h->wire->mutex);
}

/* ---- events, under the mutex --------------------------------------------- */

static void enqueue(struct fake_wire *w, struct event *e, double due)
{
	struct event **at = &w->event;

	e->due = due;
	e->seq = w->seq++;
	while (*at && (*at)->due <= due)
		at = &(*at)->next;
	e->next = *at;
	*at = e;
	ibf_cond_wake(&w->cond);
}

static struct event *push(struct fake_wire *w, enum kind kind, double due,
			  struct txn *t)
{
	struct event *e = calloc(1, sizeof(*e));

	if (!e)
		fake_fail("out of memory");
	e->kind = kind;
	e->t = t;
	t->refs++;
	enqueue(w, e, due);
	return e;
}

static void release(struct txn *t)
{
	if (--t->refs)
		return;
	free(t);
}

/* The sender no longer waits: remove its timer, so that no test waits for it.  With fake_control, only
 * Sets of the plugin that are on their way remain. */
static void close_txn(struct fake_wire *w, struct txn *t)
{
	struct event **at = &w->event, *e;

	t->open = false;
	t->late = true;
	while ((e = *at)) {
		if (e->t != t || (e->kind != TIMER && !w->control) ||
		    (e->kind == CARRY && t->bind && t->smp.method == IB_MAD_METHOD_SET)) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		release(t);
		free(e);
	}
}

/* ---- routes and switches, under the mutex -------------------------------- */

static bool link_up(const struct fake *h, ftr_sw s, ftr_port p)
{
	return p && p <= h->fab->sw[s].n_ports &&
		h->link[h->fab->sw[s].first_port + p] >= IB_LINK_INIT;
}

/* The switch at the end of a directed route; FTR_SW_NONE: the route crosses a dead link, or
 * leads to no switch. */
static ftr_sw walk(const struct fake *h, const ib_smp_t *smp)
{
	const struct ftr_endport *sm = &h->fab->ep[h->sm];
	ftr_sw s = sm->sw;

	if (!h->on_switch &&
	    (!smp->hop_count || smp->initial_path[1] != sm->port_num || !link_up(h, s, sm->sw_port)))
		return FTR_SW_NONE;
	for (unsigned int i = h->on_switch ? 1 : 2; i <= smp->hop_count; i++) {
		const struct ftr_swport *port;
		ftr_port p = smp->initial_path[i];

		if (!link_up(h, s, p))
			return FTR_SW_NONE;
		port = ftr_fabric_port(h->fab, s, p);
		if (port->peer_kind != FTR_PEER_SW)
			return FTR_SW_NONE;
		s = port->peer;
	}
	return s;
}

/* Carry out the request on the switch.  Returns false if there is no answer. */
static bool carry_out(struct fake *h, ftr_sw s, const ib_smp_t *smp,
		      const struct fake_fate *fate, uint16_t *status,
		      uint8_t *data)
{
	struct fake_sw *sw = &h->sw[s];
	uint32_t mod = cl_ntoh32(smp->attr_mod);
	ib_port_info_t *pi = (void *)data;

	if (sw->silent || (sw->m_key && smp->m_key != sw->m_key))
		return false;
	memset(data, 0, IB_SMP_DATA_SIZE);
	if (smp->attr_id == IB_MAD_ATTR_PORT_INFO &&
	    smp->method == IB_MAD_METHOD_GET &&
	    mod <= h->fab->sw[s].n_ports) {
		ib_port_info_set_port_state(pi, h->link[
				h->fab->sw[s].first_port + mod]);
	} else if (smp->attr_id == IB_MAD_ATTR_NODE_INFO &&
		   smp->method == IB_MAD_METHOD_GET) {
		data[0] = 1;	/* any non-zero byte */
	} else if (smp->attr_id == IB_MAD_ATTR_LIN_FWD_TBL &&
		   smp->method == IB_MAD_METHOD_GET &&
		   mod <= FTR_LID_MAX / FTR_LFT_BLOCK) {
		memcpy(data, sw->lft + mod * (size_t)FTR_LFT_BLOCK,
		       FTR_LFT_BLOCK);
	} else if (smp->attr_id == IB_MAD_ATTR_LIN_FWD_TBL &&
		   smp->method == IB_MAD_METHOD_SET &&
		   mod <= FTR_LID_MAX / FTR_LFT_BLOCK) {
		if (!*status && !fate->ignore) {
			memcpy(sw->lft + mod * (size_t)FTR_LFT_BLOCK,
			       smp->data, FTR_LFT_BLOCK);
			sw->n_sets++;
			if (h->written)
				h->written(h->written_ctx, h);
		}
		memcpy(data, smp->data, FTR_LFT_BLOCK);
	} else {
		*status = 0x0c;
	}
	for (uint32_t i = 0, x = fate->lie; fate->lie &&
	     i < IB_SMP_DATA_SIZE; i++) {
		x = x * 1664525 + 1013904223;
		data[i] = (uint8_t)(x >> 24);
	}
	return true;
}

/* ---- one packet, under the mutex ----------------------------------------- */

static struct fake_packet describe(struct fake_wire *w, const struct txn *t)
{
	return (struct fake_packet){
		.plugin = t->bind, .set = t->smp.method == IB_MAD_METHOD_SET,
		.mod = cl_ntoh32(t->smp.attr_mod), .copy = t->copy,
		.number = t->number, .to = walk(w->h, &t->smp),
	};
}

static uint32_t timeout_of(const struct txn *t)
{
	if (!t->bind)
		return OSM_TIMEOUT_MS;
	return t->timeout ? t->timeout : t->bind->timeout;
}

/* Returns false if the transport refuses the packet. */
static bool launch(struct fake_wire *w, struct txn *t)
{
	struct fake_packet p = describe(w, t);
	struct fake_fate fate = { 0 };
	double now = ibf_now_ms();
	struct event *e;

	if (w->fate)
		w->fate(w->fate_ctx, &p, &fate);
	if (fate.refuse && !t->copy)
		return false;
	e = push(w, TIMER, now + timeout_of(t), t);
	e->fate = fate;
	if (!fate.lose_request) {
		e = push(w, CARRY, w->control ? HELD : now + fate.delay_ms, t);
		e->fate = fate;
	}
	return true;
}

/* Lose the late packets on the route of `before`, because packets on one route arrive in the order in
 * which they were sent.  NULL: all late packets. */
static void lose_late(struct fake_wire *w, const struct event *before)
{
	struct event **at = &w->event, *e;

	while ((e = *at)) {
		const ib_smp_t *a = &e->t->smp, *b = before ? &before->t->smp : a;

		if (!e->t->late || a->hop_count != b->hop_count ||
		    memcmp(a->initial_path, b->initial_path, a->hop_count + 1u)) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		release(e->t);
		free(e);
	}
}

/* The answer depends on the request, on the links, and on the tables of the switch. */
static void note_carry(struct fake *h, ftr_sw s, struct txn *t)
{
	uint64_t x[] = { t->cause, h->links_past, 0 };

	if (s != FTR_SW_NONE && t->smp.attr_id == IB_MAD_ATTR_LIN_FWD_TBL) {
		x[2] = h->sw[s].past;
		h->sw[s].past = fake_hash(x[2], x, sizeof(x));
	}
	t->cause = fake_hash(1, x, sizeof(x));
}

static void do_carry(struct fake_wire *w, struct event *e)
{
	ftr_sw s = walk(w->h, &e->t->smp);
	uint16_t status = e->fate.status;
	uint8_t data[IB_SMP_DATA_SIZE];

	lose_late(w, e);
	note_carry(w->h, s, e->t);
	if (s == FTR_SW_NONE ||
	    !carry_out(w->h, s, &e->t->smp, &e->fate, &status, data) ||
	    e->fate.lose_answer)
		return;
	for (unsigned int i = 0; i <= e->fate.copies; i++) {
		struct event *a;

		if (w->control && !e->t->open)
			return;		/* the sender has crashed */
		a = push(w, ANSWER, e->fate.hold || w->control ? HELD :
			 ibf_now_ms() + e->fate.back_ms, e->t);

		a->status = status;
		a->fate = e->fate;
		memcpy(a->data, data, sizeof(data));
	}
}

/* ---- callbacks to the sender, without the mutex -------------------------- */

static void retire(void *context, void *data)
{
	struct fake *h = context;

	osm_mad_pool_put(&h->osm->mad_pool, data);
	osm_stats_dec_qp0_outstanding(&h->osm->stats);
}

/* Act as OpenSM's sm_mad_ctrl_send_err_cb() and sm_mad_ctrl_disp_done_callback(). */
static void fail_at_host(struct fake *h, osm_madw_t *madw)
{
	if (osm_madw_get_smp_ptr(madw)->method == IB_MAD_METHOD_SET)
		__atomic_store_n(&h->osm->subn.subnet_initialization_error,
				 TRUE, __ATOMIC_RELAXED);
	cl_atomic_dec(&h->osm->stats.qp0_mads_outstanding_on_wire);
	if (madw->fail_msg != CL_DISP_MSGID_NONE)
		fake_post(h, madw->fail_msg, madw, retire);
	else
		retire(h, madw);
}

static void own_done(void *context, void *data)
{
	struct fake *h = context;

	free(data);
	osm_stats_dec_qp0_outstanding(&h->osm->stats);
}

/* Act as OpenSM's osm_lft_rcv_process(). */
void fake_lft_answer(void *context, void *data)
{
	struct fake *h = context;
	struct lft_set *l = data;
	osm_switch_t *sw;

	if (!l->answered)
		return;
	fake_lock_osm(h, true);
	sw = osm_get_switch_by_guid(&h->osm->subn, cl_hton64(l->guid));
	if (sw)
		osm_switch_set_lft_block(sw, l->data, l->block);
	fake_unlock_osm(h);
}

static void report_own(struct fake *h, struct lft_set *own, bool answered)
{
	own->answered = answered;
	cl_atomic_dec(&h->osm->stats.qp0_mads_outstanding_on_wire);
	if (!answered)
		__atomic_store_n(&h->osm->subn.subnet_initialization_error,
				 TRUE, __ATOMIC_RELAXED);
	if (__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED))
		own_done(h, own);	/* OpenSM has unbound */
	else
		fake_post(h, OSM_MSG_MAD_LFT, own, own_done);
}

static void report_plugin(struct fake *h, struct bind *b, osm_madw_t *request,
			  const struct event *e)
{
	osm_madw_t *answer = osm_mad_pool_get(&h->osm->mad_pool, b,
					      MAD_BLOCK_SIZE, NULL);
	ib_smp_t *smp = osm_madw_get_smp_ptr(answer);

	*smp = *osm_madw_get_smp_ptr(request);
	smp->method |= IB_MAD_METHOD_RESP_MASK;
	smp->status = IB_SMP_DIRECTION | cl_hton16(e->status);
	memcpy(smp->data, e->data, sizeof(smp->data));
	if (e->fate.lie_header) {
		smp->attr_id = (ib_net16_t)e->fate.lie;
		smp->attr_mod = e->fate.lie * 31;
		smp->hop_count = (uint8_t)(e->fate.lie >> 3);
	}
	b->receive(answer, b->context, request);
}

/* Pass the packet to the sender, which then owns it. */
static void report_wire(struct fake_wire *w, struct txn *t, const struct event *e,
			bool answered, bool to_host)
{
	struct fake *h = w->h;
	struct bind *b = t->bind;
	osm_madw_t *madw = t->madw;
	struct lft_set *own = t->own;

	t->madw = NULL;
	t->own = NULL;
	w->calling = true;
	pthread_mutex_unlock(&w->mutex);
	if (own) {
		report_own(h, own, answered);
	} else {
		pthread_mutex_lock(&w->cb_mutex);
		if (b->dead)
			osm_mad_pool_put(&h->osm->mad_pool, madw);
		else if (answered)
			report_plugin(h, b, madw, e);
		else if (to_host && !__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED))
			fail_at_host(h, madw);
		else
			b->error(b->context, madw);
		pthread_mutex_unlock(&w->cb_mutex);
	}
	pthread_mutex_lock(&w->mutex);
	w->calling = false;
}

static void do_answer(struct fake_wire *w, struct event *e)
{
	struct txn *t = e->t;

	if (!t->open)
		return;
	close_txn(w, t);
	if (w->h->follow)
		w->h->follow(t->cause);
	if (t->own)
		memcpy(t->own->data, e->data, FTR_LFT_BLOCK);
	report_wire(w, t, e, true, false);
}

static void do_timer(struct fake_wire *w, struct event *e)
{
	struct txn *t = e->t;
	unsigned int retries = t->bind ? t->bind->retries : OSM_RETRIES;

	if (!t->open)
		return;
	if (t->copy < retries) {
		t->copy++;
		launch(w, t);
		return;
	}
	close_txn(w, t);
	if (w->h->follow)
		w->h->follow(t->cause + 1);
	report_wire(w, t, e, false, e->fate.to_host);
}

/* ---- the thread ---------------------------------------------------------- */

static void *transport(void *arg)
{
	struct fake_wire *w = arg;

	pthread_mutex_lock(&w->mutex);
	while (!w->stop) {
		struct event *e = w->event;

		if (!e || e->due > ibf_now_ms()) {
			ibf_cond_wait(&w->cond, &w->mutex, e ? e->due : -1);
			continue;
		}
		w->event = e->next;
		if (e->kind == CARRY)
			do_carry(w, e);
		else if (e->kind == ANSWER)
			do_answer(w, e);
		else
			do_timer(w, e);
		release(e->t);
		free(e);
	}
	pthread_mutex_unlock(&w->mutex);
	return NULL;
}

struct fake_wire *fake_wire_new(struct fake *h)
{
	struct fake_wire *w = calloc(1, sizeof(*w));

	if (!w)
		fake_fail("out of memory");
	w->h = h;
	pthread_mutex_init(&w->mutex, NULL);
	pthread_mutex_init(&w->cb_mutex, NULL);
	ibf_cond_init(&w->cond);
	if (!ibf_thread_start(&w->thread, transport, w))
		fake_fail("no thread");
	return w;
}

/* Also frees the packets in flight. */
void fake_wire_free(struct fake_wire *w)
{
	struct event *e;
	struct bind *b;

	pthread_mutex_lock(&w->mutex);
	w->stop = true;
	ibf_cond_wake(&w->cond);
	pthread_mutex_unlock(&w->mutex);
	ibf_thread_join(w->thread);
	while ((e = w->event)) {
		w->event = e->next;
		if (e->t->madw)
			osm_mad_pool_put(&w->h->osm->mad_pool, e->t->madw);
		e->t->madw = NULL;
		free(e->t->own);
		e->t->own = NULL;
		release(e->t);
		free(e);
	}
	while ((b = w->bind)) {
		w->bind = b->next;
		if (!b->dead)
			fake_fail("the plugin was unloaded, but its binding to the port was not removed");
		free(b);
	}
	pthread_mutex_destroy(&w->mutex);
	pthread_mutex_destroy(&w->cb_mutex);
	pthread_cond_destroy(&w->cond);
	free(w);
}

bool fake_wire_idle(struct fake *h)
{
	bool idle;

	fake_lock(h);
	idle = !h->wire->calling;
	for (const struct event *e = h->wire->event; e && idle; e = e->next)
		idle = e->t->late;
	fake_unlock(h);
	return idle;
}

void fake_set_fate(struct fake *h, fake_fate_fn fn, void *ctx)
{
	fake_lock(h);
	h->wire->fate = fn;
	h->wire->fate_ctx = ctx;
	h->wire->number[0] = h->wire->number[1] = 0;
	fake_unlock(h);
}

void fake_release(struct fake *h)
{
	struct fake_wire *w = h->wire;
	struct event **at = &w->event, *held;

	fake_set_fate(h, NULL, NULL);
	fake_lock(h);
	for (; *at && (*at)->due < HELD; at = &(*at)->next)
		(*at)->fate.hold = false;
	held = *at;
	*at = NULL;
	while (held) {
		struct event *e = held;

		held = e->next;
		enqueue(w, e, ibf_now_ms());
	}
	fake_unlock(h);
}

/* ---- decisions about every packet ------------------------------------------ */

void fake_control(struct fake *h, bool on)
{
	h->wire->control = on;
}

pthread_t fake_wire_thread(const struct fake *h)
{
	return h->wire->thread;
}

void fake_own_locks(struct fake *h, void (*fn)(const void *lock))
{
	fn(&h->wire->mutex);
	fn(&h->wire->cb_mutex);
}

static uint64_t hash_event(const struct event *e)
{
	const ib_smp_t *smp = &e->t->smp;
	uint64_t x = fake_hash(e->kind, &e->t->bind, sizeof(e->t->bind));

	x = fake_hash(x, &smp->method, sizeof(smp->method));
	x = fake_hash(x, &smp->attr_id, sizeof(smp->attr_id));
	x = fake_hash(x, &smp->attr_mod, sizeof(smp->attr_mod));
	x = fake_hash(x, smp->initial_path, smp->hop_count + 1u);
	x = fake_hash(x, e->kind == ANSWER ? e->data : smp->data, IB_SMP_DATA_SIZE);
	x = fake_hash(x, &e->t->cause, sizeof(e->t->cause));
	return fake_hash(x, &e->t->copy, sizeof(e->t->copy));
}

unsigned int fake_held(struct fake *h, struct fake_held *out, unsigned int max)
{
	unsigned int n = 0;

	for (struct event *e = h->wire->event; e && n < max; e = e->next)
		if (e->due >= HELD)
			out[n++] = (struct fake_held){
				.p = describe(h->wire, e->t), .id = e->seq, .hash = hash_event(e),
				.answer = e->kind == ANSWER,
				.orphan = !e->t->open && !e->t->late, .late = e->t->late,
			};
	return n;
}

static struct event *take_held(struct fake_wire *w, uint64_t id)
{
	struct event **at = &w->event, *e;

	while ((*at)->seq != id)
		at = &(*at)->next;
	e = *at;
	*at = e->next;
	return e;
}

void fake_held_go(struct fake *h, uint64_t id)
{
	enqueue(h->wire, take_held(h->wire, id), ibf_now_ms());
}

void fake_held_lose(struct fake *h, uint64_t id)
{
	struct event *e = take_held(h->wire, id);

	release(e->t);
	free(e);
}

void fake_lose_late(struct fake *h)
{
	fake_lock(h);
	lose_late(h->wire, NULL);
	fake_unlock(h);
}

void fake_wire_orphan(struct fake *h)
{
	struct event **at = &h->wire->event, *e;

	while ((e = *at)) {
		e->t->open = e->t->late = false;
		if (e->t->madw)
			osm_mad_pool_put(&h->osm->mad_pool, e->t->madw);
		e->t->madw = NULL;
		free(e->t->own);
		e->t->own = NULL;
		if (e->kind == CARRY && e->t->smp.method == IB_MAD_METHOD_SET) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		release(e->t);
		free(e);
	}
	for (struct bind *b = h->wire->bind; b; b = b->next)
		b->dead = true;
	h->wire->calling = false;
}

/* ---- senders ------------------------------------------------------------- */

osm_bind_handle_t osm_vendor_bind(osm_vendor_t *vendor, osm_bind_info_t *info,
				  osm_mad_pool_t *pool,
				  osm_vend_mad_recv_callback_t receive,
				  osm_vend_mad_send_err_callback_t error,
				  void *context)
{
	struct fake *h = (void *)vendor;
	struct bind *b = calloc(1, sizeof(*b));

	(void)pool;
	if (!b || info->mad_class != IB_MCLASS_SUBN_DIR ||
	    info->class_version != 1 || info->is_responder ||
	    info->is_trap_processor || info->is_report_processor ||
	    info->port_guid != h->osm->subn.sm_port_guid)
		fake_fail("the plugin's bind would take packets from OpenSM");
	b->wire = h->wire;
	b->receive = receive;
	b->error = error;
	b->context = context;
	b->timeout = info->timeout;
	b->retries = info->retries ? info->retries : 3;
	fake_lock(h);
	b->next = h->wire->bind;
	h->wire->bind = b;
	fake_unlock(h);
	return b;
}

void osm_vendor_unbind(osm_bind_handle_t handle)
{
	struct bind *b = handle;
	struct fake_wire *w = b->wire;

	pthread_mutex_lock(&w->cb_mutex);
	b->dead = true;
	pthread_mutex_unlock(&w->cb_mutex);
}

static struct txn *txn_new(struct fake_wire *w, struct bind *b,
			   const ib_smp_t *smp)
{
	struct txn *t = calloc(1, sizeof(*t));

	if (!t)
		fake_fail("out of memory");
	t->bind = b;
	t->smp = *smp;
	t->open = true;
	t->number = w->number[b != NULL]++;
	t->cause = w->h->cause ? w->h->cause() : 0;
	return t;
}

ib_api_status_t osm_vendor_send(osm_bind_handle_t handle, osm_madw_t *madw,
				boolean_t resp_expected)
{
	struct bind *b = handle;
	struct fake_wire *w = b->wire;
	struct txn *t;
	bool sent;

	if (!resp_expected || !madw->resp_expected || b->dead)
		fake_fail("the plugin sends a packet that expects no answer, or sends after unbinding");
	pthread_mutex_lock(&w->mutex);
	t = txn_new(w, b, osm_madw_get_smp_ptr(madw));
	t->madw = madw;
	t->timeout = madw->timeout;
	sent = launch(w, t);
	pthread_mutex_unlock(&w->mutex);
	if (sent)
		return IB_SUCCESS;
	free(t);
	pthread_mutex_lock(&w->cb_mutex);
	b->error(b->context, madw);
	pthread_mutex_unlock(&w->cb_mutex);
	return IB_ERROR;
}

void fake_send_block(struct fake *h, ftr_sw s, uint32_t block,
		     const uint8_t *data)
{
	struct fake_wire *w = h->wire;
	struct lft_set *own = calloc(1, sizeof(*own));
	ib_smp_t smp;
	struct txn *t;

	if (!own)
		fake_fail("out of memory");
	own->guid = h->fab->sw[s].guid;
	own->block = block;
	ib_smp_init_new(&smp, IB_MAD_METHOD_SET, 0, IB_MAD_ATTR_LIN_FWD_TBL,
			cl_hton32(block), h->sw[s].route.hops,
			h->sw[s].m_key, h->sw[s].route.path,
			IB_LID_PERMISSIVE, IB_LID_PERMISSIVE);
	memcpy(smp.data, data, FTR_LFT_BLOCK);
	osm_stats_inc_qp0_outstanding(&h->osm->stats);
	cl_atomic_inc(&h->osm->stats.qp0_mads_outstanding_on_wire);
	pthread_mutex_lock(&w->mutex);
	t = txn_new(w, NULL, &smp);
	t->own = own;
	if (!launch(w, t))
		fake_fail("OpenSM's own packets cannot be refused");
	pthread_mutex_unlock(&w->mutex);
}
