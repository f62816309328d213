// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Management packets of the plugin.
 *
 * A job is one request (struct rr_smp), for which several packets may be sent.  The runner is the
 * thread that has called ibf_smp_run().  The receiver is a thread of OpenSM's transport.  Every
 * packet in flight has an element of the array slot[], which is identified by the packet's MAD
 * wrapper: OpenSM keeps the wrapper with the request, and returns it with the answer.  An answer may
 * come late, or a second time because the request was sent over two routes.  Then no slot has this
 * wrapper, and the answer is dropped.
 *
 * Changes of the state of a slot:
 *
 *	runner		FREE -> SENT
 *	receiver	SENT -> ANSWERED | LOST		under the mutex
 *	runner		ANSWERED | LOST | timed out -> FREE
 *	runner		SENT -> FREE, if the job was answered over its other route
 *	runner		FREE -> LOST, if there is no MAD wrapper
 *
 * The mutex is never held while OpenSM's transport is called: if a send fails, osm_vendor_send
 * calls on_error, which takes the mutex.
 *
 * Failures.  On hardware, on_error is called for an unanswered packet.  The simulator ibsim returns
 * unanswered packets to the MAD agent that registered last, which is OpenSM's.  OpenSM then
 * decrements its counter of packets on the wire, and posts the request as message fail_msg to its
 * dispatcher, which calls on_failed_at_host.  Afterwards OpenSM decrements its counter of
 * outstanding packets.  But OpenSM has not counted packets of the plugin.  So on_failed_at_host
 * increments both counters.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "osm/clock.h"
#include "osm/transport.h"
#include <opensm/osm_madw.h>
#include <opensm/osm_msgdef.h>
#include <vendor/osm_vendor_api.h>

enum slot_state { SLOT_FREE = 0, SLOT_SENT, SLOT_ANSWERED, SLOT_LOST };

struct slot {
	enum slot_state state;
	const osm_madw_t *madw;
	struct rr_smp *job;
	double sent, at;	/* by ibf_now_ms(): when the packet was sent, and when its
				 * answer or failure was reported */
	uint8_t data[IB_SMP_DATA_SIZE];
};

/* A lost packet counts as this number of answers, so that it wakes the runner at once. */
#define LOST_PACKET IBF_SMP_WINDOW_MAX

struct ibf_smp {
	struct osm_opensm *osm;
	osm_bind_handle_t bind;
	cl_disp_reg_handle_t disp;
	cl_disp_msgid_t fail_msg;
	pthread_mutex_t mutex;
	pthread_cond_t cond;	/* news for the runner, or for wait_for_all() */
	pthread_cond_t turn;	/* `busy` has become false */
	bool busy;		/* a thread is in ibf_smp_run() */
	bool stop;
	uint32_t fresh;		/* number of answers since the runner last looked; each lost packet
				 * adds LOST_PACKET */
	uint32_t enough;	/* the runner waits until fresh >= enough */
	unsigned int out;	/* MAD wrappers that OpenSM's transport holds */
	unsigned int timeout_ms;
	struct slot slot[IBF_SMP_WINDOW_MAX];
	/* Used by the runner only: the jobs of its present call. */
	struct rr_smp *job;
	unsigned int n, next;	/* job[next .. n-1] have not been sent yet */
	unsigned int open;	/* jobs whose state is RR_SMP_OPEN */
	unsigned int on_wire;
	const struct rr_smp_policy *policy;
};

/* ---- receiver side ------------------------------------------------------ */

static void settle(struct ibf_smp *s, const osm_madw_t *request, const uint8_t *data)
{
	pthread_mutex_lock(&s->mutex);
	s->out--;
	for (uint32_t i = 0; i < IBF_SMP_WINDOW_MAX; i++) {
		struct slot *slot = &s->slot[i];

		if (slot->state != SLOT_SENT || slot->madw != request)
			continue;
		slot->state = data ? SLOT_ANSWERED : SLOT_LOST;
		slot->at = ibf_now_ms();
		if (data)
			memcpy(slot->data, data, sizeof(slot->data));
		s->fresh += data ? 1 : LOST_PACKET;
		break;
	}
	if (s->fresh >= s->enough || !s->out)
		ibf_cond_wake(&s->cond);
	pthread_mutex_unlock(&s->mutex);
}

static void on_receive(osm_madw_t *madw, void *context, osm_madw_t *request)
{
	struct ibf_smp *s = context;
	const ib_smp_t *smp = osm_madw_get_smp_ptr(madw);

	if (request) {
		settle(s, request, ib_smp_get_status(smp) ? NULL : smp->data);
		osm_mad_pool_put(&s->osm->mad_pool, request);
	}
	osm_mad_pool_put(&s->osm->mad_pool, madw);
}

/* Called for packets of the plugin only: OpenSM binds later, with an error function of its own. */
static void on_error(void *context, osm_madw_t *request)
{
	struct ibf_smp *s = context;

	settle(s, request, NULL);
	osm_mad_pool_put(&s->osm->mad_pool, request);
}

static void on_failed_at_host(void *context, void *data)
{
	struct ibf_smp *s = context;

	settle(s, data, NULL);
	osm_stats_inc_qp0_outstanding(&s->osm->stats);
	cl_atomic_inc(&s->osm->stats.qp0_mads_outstanding_on_wire);
}

/* ---- new and free ------------------------------------------------------- */

static bool register_failures(struct ibf_smp *s)
{
	for (cl_disp_msgid_t id = OSM_MSG_MAX; id < OSM_MSG_MAX + 64; id++) {
		s->disp = cl_disp_register(&s->osm->disp, id, on_failed_at_host, s);
		if (s->disp != CL_DISP_INVALID_HANDLE) {
			s->fail_msg = id;
			return true;
		}
	}
	return false;
}

struct ibf_smp *ibf_smp_new(struct osm_opensm *osm, unsigned int timeout_ms,
			    struct ftr_err *err)
{
	osm_bind_info_t info = {
		.port_guid = osm->subn.sm_port_guid,
		.mad_class = IB_MCLASS_SUBN_DIR, .class_version = 1,
		.send_q_size = OSM_SM_DEFAULT_QP0_SEND_SIZE,
		.recv_q_size = OSM_SM_DEFAULT_QP0_RCV_SIZE,
		.timeout = timeout_ms, .retries = 1,
	};
	struct ibf_smp *s = ftr_calloc(1, sizeof(*s));

	if (!s) {
		ftr_nomem(err, "the fast path");
		return NULL;
	}
	s->osm = osm;
	s->timeout_ms = timeout_ms;
	pthread_mutex_init(&s->mutex, NULL);
	ibf_cond_init(&s->cond);
	ibf_cond_init(&s->turn);
	if (!register_failures(s))
		ftr_fail(err, FTR_INTERNAL, "OpenSM's dispatcher has no free message id");
	else if (!(s->bind = osm_vendor_bind(osm->p_vendor, &info,
					     &osm->mad_pool, on_receive,
					     on_error, s)))
		ftr_fail(err, FTR_IO, "a second bind to port 0x%016" PRIx64
			 " for directed-route packets was refused",
			 cl_ntoh64(info.port_guid));
	else
		return s;
	if (s->disp != CL_DISP_INVALID_HANDLE)
		cl_disp_unregister(s->disp);
	ibf_smp_free(s);
	return NULL;
}

/* On exit OpenSM frees its MAD wrappers first, and the table of requests in flight afterwards.  It
 * crashes if the table still refers to a wrapper.  So wait for a limited time until all requests
 * of the plugin have been answered or have timed out in OpenSM's transport. */
static void wait_for_all(struct ibf_smp *s)
{
	double end = ibf_now_ms() + 2.5 * s->timeout_ms + 50;

	pthread_mutex_lock(&s->mutex);
	while (s->out && ibf_cond_wait(&s->cond, &s->mutex, end))
		;
	pthread_mutex_unlock(&s->mutex);
}

/* s->disp is not unregistered: OpenSM frees all registrations before it deletes plugins. */
void ibf_smp_free(struct ibf_smp *s)
{
	if (!s)
		return;
	if (s->bind) {
		wait_for_all(s);
		osm_vendor_unbind(s->bind);
	}
	pthread_cond_destroy(&s->cond);
	pthread_mutex_destroy(&s->mutex);
	pthread_cond_destroy(&s->turn);
	free(s);
}

void ibf_smp_stop(struct ibf_smp *s)
{
	pthread_mutex_lock(&s->mutex);
	s->stop = true;
	ibf_cond_wake(&s->cond);
	pthread_mutex_unlock(&s->mutex);
}

/* ---- one packet --------------------------------------------------------- */

static ib_net64_t next_tid(struct ibf_smp *s)
{
	uint32_t tid;

	do {
		tid = (uint32_t)cl_atomic_inc(&s->osm->sm.sm_trans_id);
	} while (!tid);
	return cl_hton64(tid);
}

/* OpenSM's transport sends an unanswered packet a second time after this timeout, and gives up after
 * the same time again.  Both must precede the end of the plugin's own wait, or the second packet might
 * undo a later write. */
static uint32_t transport_timeout(double own)
{
	return FTR_MAX((uint32_t)(own / 2), 1u);
}

/* Send a packet of the job.  Its MAD wrapper then belongs to OpenSM's transport.  A failed send is
 * reported to on_error. */
static void send_packet(struct ibf_smp *s, const struct rr_smp *job, double timeout,
			osm_madw_t *madw)
{
	const struct rr_dr *dr = &job->route[job->tries % job->n_routes];
	ib_smp_t *smp = osm_madw_get_smp_ptr(madw);

	ib_smp_init_new(smp, job->payload ? IB_MAD_METHOD_SET :
			IB_MAD_METHOD_GET, next_tid(s), cl_hton16(job->attr),
			cl_hton32(job->mod), dr->hops, job->m_key, dr->path,
			IB_LID_PERMISSIVE, IB_LID_PERMISSIVE);
	if (job->payload)
		memcpy(smp->data, job->payload, sizeof(smp->data));
	madw->mad_addr.dest_lid = IB_LID_PERMISSIVE;
	madw->mad_addr.addr_type.smi.source_lid = IB_LID_PERMISSIVE;
	madw->resp_expected = TRUE;
	madw->timeout = transport_timeout(timeout);
	madw->fail_msg = s->fail_msg;
	osm_vendor_send(s->bind, madw, TRUE);
}

/* ---- the runner --------------------------------------------------------- */

/* The time in ms for which the runner waits for an answer. */
static double own_timeout(const struct rr_smp_policy *p)
{
	return p->limit > 0 ? FTR_MIN(p->limit, p->timeout) : p->timeout;
}

static void send_job(struct ibf_smp *s, struct rr_smp *job)
{
	osm_madw_t *madw = osm_mad_pool_get(&s->osm->mad_pool, s->bind, MAD_BLOCK_SIZE, NULL);
	struct slot *slot = s->slot;

	pthread_mutex_lock(&s->mutex);
	while (slot->state != SLOT_FREE)
		slot++;
	slot->state = madw ? SLOT_SENT : SLOT_LOST;
	slot->madw = madw;
	slot->job = job;
	slot->sent = job->sent = ibf_now_ms();
	if (madw)
		s->out++;
	else
		s->fresh = LOST_PACKET;
	pthread_mutex_unlock(&s->mutex);
	s->on_wire++;
	if (madw)
		send_packet(s, job, own_timeout(s->policy), madw);
	job->tries++;
}

/* The caller holds the mutex. */
static bool in_flight(const struct ibf_smp *s, const struct rr_smp *job)
{
	for (uint32_t i = 0; i < IBF_SMP_WINDOW_MAX; i++)
		if (s->slot[i].state == SLOT_SENT &&
		    s->slot[i].job == job)
			return true;
	return false;
}

/* Free the slots that are answered, lost or timed out, or whose job is done.  `again` gets the jobs
 * to be sent again; returns their number. */
static unsigned int collect(struct ibf_smp *s, double now, struct rr_smp **again)
{
	unsigned int n = 0;

	s->fresh = 0;
	for (uint32_t i = 0; i < IBF_SMP_WINDOW_MAX; i++) {
		struct slot *slot = &s->slot[i];
		struct rr_smp *job = slot->job;
		bool late = slot->state == SLOT_SENT &&
			now >= slot->sent + s->policy->timeout;

		if (slot->state == SLOT_FREE)
			continue;
		if (slot->state == SLOT_SENT && !late &&
		    job->state == RR_SMP_OPEN)
			continue;
		if (slot->state == SLOT_ANSWERED &&
		    job->state == RR_SMP_OPEN) {
			job->state = RR_SMP_DONE;
			job->at = slot->at;
			job->twice = slot->at - slot->sent >=
				transport_timeout(own_timeout(s->policy));
			memcpy(job->answer, slot->data, sizeof(job->answer));
			s->open--;
		}
		slot->state = SLOT_FREE;
		s->on_wire--;
		if (job->state != RR_SMP_OPEN || in_flight(s, job))
			continue;
		if (job->tries < s->policy->tries) {
			again[n++] = job;
			continue;
		}
		job->state = RR_SMP_FAILED;
		s->open--;
	}
	return n;
}

/* `again` gets the jobs whose first packet was not answered within policy->hedge; returns their
 * number.  They are sent again over another route. */
static unsigned int hedged(struct ibf_smp *s, double now,
			   struct rr_smp **again, unsigned int max)
{
	unsigned int n = 0;

	if (s->policy->hedge <= 0)
		return 0;
	for (uint32_t i = 0; i < IBF_SMP_WINDOW_MAX && n < max; i++) {
		struct slot *slot = &s->slot[i];
		struct rr_smp *job = slot->job;

		if (slot->state == SLOT_SENT && job->state == RR_SMP_OPEN &&
		    job->n_routes > 1 && job->tries == 1 &&
		    now >= job->sent + s->policy->hedge)
			again[n++] = job;
	}
	return n;
}

/* The number of answers for which the runner waits: one quarter of the packets in flight if more
 * packets are to be sent, otherwise all.  Waking the runner for each answer would take longer than
 * sending a packet. */
static uint32_t enough_answers(const struct ibf_smp *s)
{
	return FTR_MAX(1u, s->next < s->n ? s->on_wire / 4 : s->on_wire);
}

static void wait_for_news(struct ibf_smp *s, double until)
{
	while (s->fresh < s->enough && !s->stop && ibf_cond_wait(&s->cond, &s->mutex, until))
		;
}

static double next_deadline(const struct ibf_smp *s, double start)
{
	double until = start + (s->policy->limit > 0 ? s->policy->limit : 1e12);

	for (uint32_t i = 0; i < IBF_SMP_WINDOW_MAX; i++) {
		const struct slot *slot = &s->slot[i];
		double t;

		if (slot->state != SLOT_SENT)
			continue;
		t = slot->sent + s->policy->timeout;
		until = t < until ? t : until;
		t = slot->job->sent + s->policy->hedge;
		if (s->policy->hedge > 0 && s->on_wire < IBF_SMP_WINDOW_MAX &&
		    slot->job->tries == 1 && slot->job->n_routes > 1 && t < until)
			until = t;
	}
	return until;
}

/* Free all slots, because the caller may free the jobs after the run. */
static void abandon(struct ibf_smp *s)
{
	pthread_mutex_lock(&s->mutex);
	for (uint32_t i = 0; i < IBF_SMP_WINDOW_MAX; i++)
		s->slot[i].state = SLOT_FREE;
	pthread_mutex_unlock(&s->mutex);
}

static void start_jobs(struct ibf_smp *s)
{
	while (s->next < s->n && s->on_wire < s->policy->window) {
		struct rr_smp *job = &s->job[s->next++];

		if (job->state == RR_SMP_OPEN && !job->skip)
			send_job(s, job);
	}
}

/* Only one thread runs at a time; the others wait for their turn. */
static void begin_run(struct ibf_smp *s)
{
	pthread_mutex_lock(&s->mutex);
	while (s->busy)
		ibf_cond_wait(&s->turn, &s->mutex, -1);
	s->busy = true;
	pthread_mutex_unlock(&s->mutex);
}

static void end_run(struct ibf_smp *s)
{
	pthread_mutex_lock(&s->mutex);
	s->busy = false;
	ibf_cond_wake(&s->turn);
	pthread_mutex_unlock(&s->mutex);
}

unsigned int ibf_smp_run(struct ibf_smp *s, struct rr_smp *job,
			 unsigned int n, const struct rr_smp_policy *policy)
{
	struct rr_smp *again[IBF_SMP_WINDOW_MAX];
	unsigned int bad = 0;
	bool stop = false;
	double start, now;

	begin_run(s);
	s->job = job;
	s->n = n;
	s->next = s->open = s->on_wire = 0;
	s->policy = policy;
	start = now = ibf_now_ms();
	for (unsigned int i = 0; i < n; i++) {
		if (job[i].skip)
			continue;
		job[i].state = job[i].n_routes ? RR_SMP_OPEN : RR_SMP_FAILED;
		job[i].tries = 0;
		s->open += job[i].state == RR_SMP_OPEN;
	}
	while (s->open && !stop && (policy->limit <= 0 || now < start + policy->limit)) {
		unsigned int n_again;

		start_jobs(s);
		pthread_mutex_lock(&s->mutex);
		s->enough = enough_answers(s);
		wait_for_news(s, next_deadline(s, start));
		stop = s->stop;
		now = ibf_now_ms();
		n_again = collect(s, now, again);
		n_again += hedged(s, now, again + n_again,
				  IBF_SMP_WINDOW_MAX - s->on_wire - n_again);
		pthread_mutex_unlock(&s->mutex);
		for (unsigned int i = 0; i < (stop ? 0 : n_again); i++)
			send_job(s, again[i]);
	}
	abandon(s);
	end_run(s);
	for (unsigned int i = 0; i < n; i++)
		bad += !job[i].skip && job[i].state != RR_SMP_DONE;
	return bad;
}
