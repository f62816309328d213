/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Management packets of our own, beside OpenSM's queue.
 *
 * OpenSM sends through one queue that is full while it sweeps; a packet of
 * ours would wait behind it.  So the plugin binds to the same port a second
 * time, before OpenSM does (a later bind would take OpenSM's traps away under
 * ibsim), and sends directed-route packets with callbacks of its own.
 *
 * One thread (the worker) runs jobs; answers come in on the receiver thread of
 * the host's transport, and failures there or, under ibsim, through the error
 * path of OpenSM, which then has counted a packet down that it never counted
 * up: that is put right (smp.c).
 */
#ifndef IBF_SMP_H
#define IBF_SMP_H

#include <opensm/osm_config.h>
#include <opensm/osm_opensm.h>

#include "reroute/dr.h"

#define IBF_SMP_WINDOW_MAX 256

enum ibf_smp_state { IBF_SMP_OPEN = 0, IBF_SMP_DONE, IBF_SMP_FAILED };

/* One request, over up to two routes. */
struct ibf_smp_job {
	/* by the caller */
	ib_net16_t attr;
	uint32_t mod;		/* host order */
	ib_net64_t m_key;
	struct rr_dr route[2];
	unsigned int n_routes;	/* 0: fails at once */
	const uint8_t *payload;	/* 64 bytes to Set; NULL: Get */
	bool skip;		/* left as it is */
	/* results */
	enum ibf_smp_state state;
	double at;		/* when it was answered, ibf_now_ms() */
	uint8_t answer[IB_SMP_DATA_SIZE];
	/* of the runner */
	unsigned int tries;
	double sent;
};

struct ibf_smp_policy {
	unsigned int window;	/* packets on the wire, 1 .. IBF_SMP_WINDOW_MAX */
	double timeout;		/* ms after which a packet counts as lost */
	unsigned int tries;	/* packets per job, over its routes in turn */
	/* ms after which a job without answer is asked over its next route as
	 * well; 0: only when a packet is lost */
	double hedge;
	/* ms from the start after which no answer is waited for any more;
	 * 0: no limit */
	double limit;
};

struct ibf_smp;

/* Bind to the port that OpenSM will use.  Returns NULL, with the reason in
 * err, if the host refuses. */
struct ibf_smp *ibf_smp_new(struct osm_opensm *osm, unsigned int timeout_ms,
			    struct ftr_err *err);
/* No callback runs after it.  NULL is accepted. */
void ibf_smp_free(struct ibf_smp *s);

/* Make ibf_smp_run return early, now and later.  Any thread. */
void ibf_smp_stop(struct ibf_smp *s);

/*
 * Run n jobs; returns how many are not IBF_SMP_DONE.  A job that is not
 * answered within its tries, or an answer with a bad status, is
 * IBF_SMP_FAILED; what the limit or ibf_smp_stop cut off stays IBF_SMP_OPEN.
 * One thread at a time, without any lock of the host.
 */
unsigned int ibf_smp_run(struct ibf_smp *s, struct ibf_smp_job *job,
			 unsigned int n, const struct ibf_smp_policy *policy);

#endif
