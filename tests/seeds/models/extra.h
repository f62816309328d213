/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the routing functions of models.h may do in addition to <ftr/sim.h>: return several exits,
 * set timers, send messages, and move or hold packets.
 */
#ifndef FTR_MODELS_EXTRA_H
#define FTR_MODELS_EXTRA_H

#include <ftr/sim.h>

/* For ftr_sim_function.extra. */
extern const struct sim_extra model_extra;

/* Let the simulator call timer() after ps picoseconds, ps > 0, with the argument `what`.  Only
 * link(), timer() and message() may use this function. */
void ftr_sim_after(const struct ftr_sim_view *v, uint64_t ps, uint64_t what);
/*
 * Send a message of `bytes` bytes through port `port` of s.  The link must be up.  message() is
 * called with `what` when the message has arrived or was lost.  Messages have a VL of their own and
 * need no credit.  A channel sends packets and messages in turn.  If `after` is true, the channel
 * sends the message only while it can send no packet.
 */
void ftr_sim_send(const struct ftr_sim_view *v, ftr_sw s, ftr_port port,
		  uint32_t bytes, bool after, uint64_t what);
/* Call route() again for all packets that wait in switch s. */
void ftr_sim_again(const struct ftr_sim_view *v, ftr_sw s);
/* Move the first waiting packet from the buffer of `port` and vl to the buffer of port 0 and vl,
 * which has space for any number of such packets.  The packet continues as if it had arrived at
 * port 0. */
void ftr_sim_drain(const struct ftr_sim_view *v, ftr_sw s, ftr_port port,
		   unsigned int vl);
/* If hold is true, the host ports and port 0 of s start no packets until this function is called
 * with hold == false. */
void ftr_sim_hold(const struct ftr_sim_view *v, ftr_sw s, bool hold);

/* For a routing function that is out of memory: the run ends with FTR_NOMEM. */
void ftr_sim_no_memory(const struct ftr_sim_view *v);

#endif
