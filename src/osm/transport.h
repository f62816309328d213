/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Management packets of our own, which bypass OpenSM's queue.
 *
 * OpenSM sends through one queue, which is full during a sweep; a packet of
 * ours would wait in it.  So the plugin binds to the same port a second time
 * and sends directed-route packets with callbacks of its own.  The plugin binds before
 * OpenSM does: under ibsim a later bind would divert OpenSM's traps.
 *
 * Requests are sent by the worker (fast.h), and by a routing that reads or writes tables itself
 * (adopt.c, takeover.c).  Answers arrive on the receiver thread of OpenSM's transport.  Failures
 * also arrive there or, under ibsim, through the error path of OpenSM, which then decrements
 * counters that it never incremented for this packet; transport.c corrects that.
 */
#ifndef IBF_TRANSPORT_H
#define IBF_TRANSPORT_H

#include <opensm/osm_config.h>
#include <opensm/osm_opensm.h>

#include "reroute/smp.h"

#define IBF_SMP_WINDOW_MAX 256

struct ibf_smp;

/* Bind to the port that OpenSM will use.  NULL, with the reason in err, if
 * OpenSM's transport or dispatcher refuses, or without memory. */
struct ibf_smp *ibf_smp_new(struct osm_opensm *osm, unsigned int timeout_ms,
			    struct ftr_err *err);
/* No callback runs after this call.  NULL is accepted. */
void ibf_smp_free(struct ibf_smp *s);

/* Make the present and all later calls of ibf_smp_run return early.  Any thread may call this. */
void ibf_smp_stop(struct ibf_smp *s);

/*
 * The transport of struct rr_ops; at most IBF_SMP_WINDOW_MAX packets in flight.
 * Requests that are not answered when policy->limit has passed or ibf_smp_stop is called
 * stay RR_SMP_OPEN.  If another thread is in this function, a call first waits until that
 * thread has left it.  The function does not take OpenSM's lock.
 */
unsigned int ibf_smp_run(struct ibf_smp *s, struct rr_smp *job,
			 unsigned int n, const struct rr_smp_policy *policy);

#endif
