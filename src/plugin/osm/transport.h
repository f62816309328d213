/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Management packets of the plugin, which bypass OpenSM's queue.
 *
 * OpenSM sends all its packets through one queue, which is full during a sweep.  To avoid
 * this queue, the plugin binds to the same port itself, and sends directed-route packets
 * with callbacks of its own.  It binds before OpenSM does: under the simulator ibsim, a later
 * bind would divert OpenSM's traps to the plugin.
 *
 * Requests are sent by the worker (fast.h), and by a routing that reads or writes tables
 * itself (blocks.c).  Answers and failures arrive on the receiver thread of
 * OpenSM's transport.
 */
#ifndef IBF_TRANSPORT_H
#define IBF_TRANSPORT_H

#include <opensm/osm_config.h>
#include <opensm/osm_opensm.h>

#include "reroute/smp.h"

#define IBF_SMP_WINDOW_MAX 256

struct ibf_smp;

/* Bind to the port that OpenSM will use.  Returns NULL if OpenSM's transport or dispatcher has
 * refused this, or if memory is exhausted; err states the reason. */
struct ibf_smp *ibf_smp_new(struct osm_opensm *osm, unsigned int timeout_ms,
			    struct ftr_err *err);
/* No callback runs after this call.  NULL is accepted. */
void ibf_smp_free(struct ibf_smp *s);

/* Make the present and all later calls of ibf_smp_run return early.  Any thread may call this. */
void ibf_smp_stop(struct ibf_smp *s);

/*
 * Sends the n requests and waits for the answers, as struct rr_ops requires.  At most
 * IBF_SMP_WINDOW_MAX packets are in flight.  If policy->limit has passed, or ibf_smp_stop
 * is called, the unanswered requests stay RR_SMP_OPEN.  Only one thread runs this function
 * at a time; others wait.  The function does not take OpenSM's lock.
 */
unsigned int ibf_smp_run(struct ibf_smp *s, struct rr_smp *job,
			 unsigned int n, const struct rr_smp_policy *policy);

#endif
