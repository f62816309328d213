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

#include "reroute/smp.h"

#define IBF_SMP_WINDOW_MAX 256

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
 * The transport of struct rr_ops; at most IBF_SMP_WINDOW_MAX packets on the wire.
 * What ibf_smp_stop cuts off stays RR_SMP_OPEN.
 * One thread at a time, without any lock of the host.
 */
unsigned int ibf_smp_run(struct ibf_smp *s, struct rr_smp *job,
			 unsigned int n, const struct rr_smp_policy *policy);

#endif
