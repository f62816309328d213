/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * sim: simulates the data plane.  The interface is <ftr/sim.h>.
 *
 * A struct sim holds the state of one run.  Its objects are identified by numbers from 0:
 *
 *	port	a port of a switch, numbered as in ftr_fabric.ports.  The input buffers of a port
 *		have the same number
 *	channel	one direction of a link.  Channel i < n_ports carries packets away from port i.
 *		The channel of a port 0 leads to the station of the switch.  After these channels
 *		come those that leave host ports, then those that leave the stations of switches
 *	station	a source and destination of packets.  First come the host ports, then one station
 *		for port 0 of each switch
 *	packet, node	an element of an array that grows.  NONE ends a list of packets or nodes
 *
 * Each (channel, VL) has a list of nodes.  A node stands for packets that wait for this channel.
 * Most nodes are queues: a switch has one queue for each (input, output, VL).  A queue is on the
 * list while it contains a packet.
 *
 * An exit of a packet is a possible next hop.  A packet with several exits is in no queue: it has
 * its own nodes, one for each exit (tests/seeds/models/extra.c).
 *
 * The nodes of a list are served in turn.  When a packet of a queue has started and the queue
 * contains further packets, the queue moves to the end of the list.
 *
 * The epoch of a channel is the number of times that it has gone down.  A packet, a message or a
 * credit is lost if the epoch changes while it is on the way.
 *
 * Files:
 *
 *	channels.c	creates the channels
 *	heap.c		the event queue
 *	run.c		the event loop
 *	packet.c	how packets wait
 *	traffic.c	how packets are created
 *	steps.c		transfers that wait for earlier ones
 *	change.c	faults, repairs and new tables
 *	stuck.c		finds deadlocks
 *	result.c	statistics
 *	conf.c		checks the configuration and distributes the runs
 *	function.c	routing by the tables
 *
 * Other routing functions are in tests/seeds/models.
 */
#ifndef FTR_SIM_DATAPLANE_H
#define FTR_SIM_DATAPLANE_H

#include "base/base.h"
#include <ftr/sim.h>

#define NONE UINT32_MAX

/* ---- events ---------------------------------------------------------------- */

/* The events of one instant are handled in the order of these types. */
enum event_type {
	EV_CHANGE,		/* a: index in conf->change[] */
	EV_TIMER,		/* a, b: lower and upper half of the argument of fn->timer() */
	EV_MESSAGE,		/* a: message that has arrived or was lost */
	EV_FREE,		/* a: channel whose packet has left the sender */
	EV_CREDIT,		/* credits return; a: channel, vl: its VL, b: bytes, x: epoch of the
				 * channel when they were sent */
	EV_ARRIVE,		/* a: channel, b: packet; its head has arrived and passed the delay
				 * of the switch */
	EV_DELIVER,		/* a: channel, b: packet; its tail has arrived */
	EV_MAKE,		/* a: station whose next packet is due */
	EV_WAKE,		/* a: channel on which a packet may start */
	EV_CHECK		/* look for a deadlock */
};

struct event {
	uint64_t at;
	uint32_t a, b;
	uint16_t x;
	uint8_t type, vl;
};

/* ---- a run ------------------------------------------------------------------ */

struct packet {
	struct ftr_sim_packet h;
	uint64_t made, sent;
	uint64_t tail;		/* time when the last byte is in the buffer */
	uint64_t ready;		/* earliest time when the packet may leave */
	uint32_t next;		/* next packet in its queue */
	uint32_t at;		/* port whose buffer holds the packet, or will hold it; NONE: the
				 * packet is in a station, or on the way to one */
	uint32_t id;		/* unique, even if the index of the packet is used again */
	uint32_t nodes;		/* first of the packet's own nodes; NONE: the packet has none */
	uint32_t transfer;	/* FTR_SIM_STEPS: its transfer */
	uint16_t epoch;		/* channel.epoch when the packet was sent */
	uint8_t vl;
	bool cut;
	bool parked;		/* true: the packet has no exit yet */
};

struct node {
	uint32_t prev, next;	/* neighbours on the list of its (channel, VL) */
	uint32_t head, tail;	/* of a queue: first and last packet; of a packet's own node: the
				 * packet, and its next own node */
};

struct own {			/* an own node of a packet: the exit for which the packet waits */
	struct ftr_sim_exit exit;
	uint32_t channel;
};

struct list {
	uint32_t first, last;
};

struct channel {
	uint32_t dst;		/* port or station at the far end */
	uint32_t ps1024;	/* time to send one byte, in units of 1/1024 ps */
	uint32_t link_ps;	/* delay of the link in one direction */
	uint32_t packet, packet_id;	/* last packet sent; NONE: a message was sent */
	uint32_t bytes;		/* size of the last packet sent */
	uint32_t from;		/* port whose buffer held that packet; NONE: a station sent it */
	int32_t left;		/* bytes that VL out_vl may still send before another VL may */
	uint64_t wake;		/* time of the last EV_WAKE; it is pending if this time is later
				 * than now */
	uint64_t busy_ps, packets;	/* during the measurement: time when the channel was busy,
					 * and number of packets sent */
	uint16_t epoch;		/* number of times that the channel went down */
	uint8_t from_vl;
	uint8_t out_vl;		/* VL whose turn it is to send */
	bool to_station, wired, up, busy, dirty;
	bool message_sent;		/* true: the last thing sent was a message */
};

struct source {
	struct ftr_rng rng;
	uint64_t next_make;	/* time at which the next packet is created */
	double gap_ps;		/* mean time between packets; 0: a packet is always ready */
	uint32_t place;		/* with FTR_SIM_PAIRS: index of the first pair in pair_of[] */
	uint32_t cursor, n_pairs;
	uint64_t made;		/* creation time of the first waiting packet */
	ftr_lid dlid;
	uint8_t sl, vl;
	bool active, has_head, waiting;	/* waiting: EV_MAKE is pending */
	bool saturated;
	uint32_t in_flight;	/* number of packets in the network */
	uint32_t transfer, bytes;	/* FTR_SIM_STEPS: transfer and size of the first waiting
					 * packet */
};

struct steps {			/* FTR_SIM_STEPS, see steps.c */
	uint32_t *out, *in;	/* [n_transfers] sorted by (sender, step) and (receiver, step) */
	uint32_t *first_out, *first_in;	/* [n_ep + 1] first transfer of each host port in them */
	uint32_t *at_out, *at_in;	/* [n_ep] first transfer that has not arrived completely */
	uint64_t *sent, *left;	/* [n_transfers] bytes sent, and bytes that have not arrived */
	uint64_t *ready;	/* [n_ep] time when the present step begins */
	bool *open;		/* [n_ep] true: the present step may begin at this time */
	uint32_t n_done;
};

struct sim;

/* What routing functions of the literature need, and an InfiniBand switch does not do
 * (tests/seeds/models/extra.c). */
struct sim_extra {
	/* Packets with own nodes.  wait: make the nodes of p.  may_start: has the exit of node n
	 * room?  best: the node of the best free exit, or NONE.  take: p leaves through the exit of
	 * node n.  filled: the buffer at the far end of channel c has less room than before, and
	 * any_last is true.  drop: the channel of node n has gone down. */
	void (*wait)(struct sim *m, uint32_t p, ftr_sw s, const struct ftr_sim_exit *e,
		     unsigned int n);
	bool (*may_start)(const struct sim *m, uint32_t n);
	uint32_t (*best)(const struct sim *m, uint32_t p);
	void (*take)(struct sim *m, uint32_t n);
	void (*filled)(struct sim *m, uint32_t c, unsigned int vl);
	void (*drop)(struct sim *m, uint32_t n);
	/* Packets without an exit.  park: keep p until its switch routes its packets again or goes
	 * down.  unpark: make orphans of all parked packets of s. */
	void (*park)(struct sim *m, uint32_t p);
	void (*unpark)(struct sim *m, ftr_sw s);
	/* Messages.  start_message: start one on channel c; false: none is due.  idle: no packet
	 * can start.  message_arrived: EV_MESSAGE.  lose_messages: channel c has just gone down. */
	bool (*start_message)(struct sim *m, uint32_t c, bool idle);
	void (*message_arrived)(struct sim *m, uint32_t i);
	void (*lose_messages)(struct sim *m, uint32_t c);
};

struct sim {
	const struct ftr_sim_conf *conf;
	uint32_t run;		/* number of this run */
	bool shown;		/* true: call conf->progress from time to time */
	const struct ftr_fabric *f;
	struct ftr_sim_view view;
	const struct ftr_sim_function *fn;
	void *state;
	struct ftr_tables *t;	/* the run's own copy of the tables */
	struct ftr_arena *arena;
	struct {			/* events to come */
		struct event *event;	/* event[0] is the first one */
		uint32_t n, cap;
	} heap;
	uint64_t now, warm, end;
	unsigned int n_vls;
	uint32_t n_ports, n_ch, n_st;
	struct channel *ch;
	uint32_t *port_sw;	/* [n_ports] */
	struct {			/* space in the input buffers */
		uint32_t *feeder;	/* [n_ports] channel that leads to each port */
		int32_t *credit;	/* [n_ch * n_vls] credits of the sender, in bytes */
		int32_t *occ;		/* [n_ports * n_vls] occupied bytes of each buffer */
		uint16_t *reading;	/* [n_ports * n_vls] number of outputs that each buffer
					 * feeds now */
	} room;
	struct {			/* how packets wait */
		struct list *fifo;	/* [n_ports * n_vls] packets of each buffer;
					 * FTR_SIM_FIFO only */
		struct list *out_vl;	/* [n_ports * n_vls] elements of node[] that wait for
					 * each output and VL */
		uint32_t *voq;		/* [n_sw] index in node[] of the first queue of each
					 * switch */
		struct node *node;	/* queues first, then own nodes of packets */
		struct own *own;	/* own[i] belongs to node n_voq + i */
		uint32_t n_voq, n_node, cap_node, cap_own, free_node;
	} queue;
	struct {			/* the packets */
		struct packet *pkt;
		uint32_t n_pkt, cap_pkt, free_pkt, next_id;
		uint32_t *parked;
		uint32_t n_parked, cap_parked;
		uint32_t *orphan;	/* packets without an exit, during a change (change.c) */
		uint32_t n_orphans, cap_orphans;
		uint32_t *fresh;	/* packets with their own nodes that were just routed */
		uint32_t n_fresh, cap_fresh;
	} pool;
	struct sim_mail *mail;	/* NULL: no message was sent */
	struct {
		struct source *src;
		uint32_t *perm;
		ftr_ep *order;
		uint32_t n_order;
		uint32_t *place_of;	/* [n_ep] index of each host port in order[], or NONE */
		uint32_t *pair_of;	/* [n_pairs] indices in conf->traffic.pair[], sorted by
					 * source */
		struct steps steps;
	} traffic;
	struct {
		uint8_t *up;		/* [n_ports] 1: the link works; part of the view */
		uint8_t *link_down, *sw_down, *held;
	} broken;
	struct {			/* work of the present instant */
		uint32_t *dirty, *turn;	/* dirty: channels that may be able to send; turn: those
					 * of them that choose_all() examines now */
		uint32_t n_dirty;
		struct event *batch;
		uint32_t cap_batch;
	} due;
	int32_t quantum[FTR_SIM_VLS];
	bool no_memory;
	bool needs_extra;	/* true: the routing function needs fn->extra, which is NULL */
	bool any_last;		/* true: some packet had an exit with ftr_sim_exit.last */
	uint16_t hops_max;
	struct ftr_sim_result *r;
};

/* Returns the statistics of the packets from station st. */
static inline struct ftr_sim_class *class_of(struct sim *m, uint32_t st)
{
	return st < m->f->n_ep ? &m->r->host : &m->r->sw;
}

static inline uint64_t wire_ps(const struct channel *c, uint32_t bytes)
{
	return ((uint64_t)bytes * c->ps1024 + 512) >> 10;
}

static inline uint32_t queue_of(const struct sim *m, ftr_sw s, unsigned int in,
				unsigned int out, unsigned int vl)
{
	uint32_t width = m->f->sw[s].n_ports + 1u;

	return m->queue.voq[s] + (in * width + out) * m->n_vls + vl;
}

/* Returns the size in bytes of the buffer for one VL at the far end of channel c. */
static inline int32_t buffer_behind(const struct sim *m, uint32_t c)
{
	bool port_0 = c >= m->n_ports + m->f->n_ep;

	return (int32_t)(port_0 ? m->conf->switch_buffer : m->conf->buffer);
}

static inline void touch(struct sim *m, uint32_t c)
{
	if (m->ch[c].dirty)
		return;
	m->ch[c].dirty = true;
	m->due.dirty[m->due.n_dirty++] = c;
}

/* heap.c.  sim_pop_event: remove the first event and return it.  There must be one. */
void sim_push(struct sim *m, uint64_t at, enum event_type type, uint32_t a, uint32_t b);
void sim_push_event(struct sim *m, const struct event *e);
struct event sim_pop_event(struct sim *m);

/* channels.c */
enum ftr_status sim_net(struct sim *m, struct ftr_err *err);

/* traffic.c */
enum ftr_status sim_sources(struct sim *m, struct ftr_err *err);
/* Returns true if station st has a packet to send. If it has none now but will create one, EV_MAKE
 * is pending. */
bool sim_source_head(struct sim *m, uint32_t st);
void sim_sources_end(struct sim *m);	/* count packets created but not sent */

/* steps.c */
enum ftr_status steps_init(struct sim *m, struct ftr_err *err);
/* Choose the transfer and the size of the next packet of host port e.  Returns false if the port
 * has nothing to send now. */
bool steps_next(struct sim *m, ftr_ep e);
void steps_arrived(struct sim *m, const struct packet *p);

/* run.c */
void sim_loop(struct sim *m);

/* packet.c. sim_packet_new() returns NONE if out of memory. */
uint32_t sim_packet_new(struct sim *m);
void sim_packet_free(struct sim *m, uint32_t p);
void sim_append(struct sim *m, uint32_t c, unsigned int vl, uint32_t n);
/* Remove p from the FIFO of its buffer. p must be the first packet. */
void sim_fifo_pop(struct sim *m, uint32_t p);
void sim_route(struct sim *m, uint32_t p);
/* Put packet p into the buffer of its port and VL. */
void sim_enter(struct sim *m, uint32_t p);
void sim_lose(struct sim *m, uint32_t p, enum ftr_sim_loss why);
/* Remove the packet from the buffer in which it waits.  If the buffer is a FIFO, the packet must be
 * the first one. */
void sim_leave_buffer(struct sim *m, uint32_t p);
void sim_release(struct sim *m, uint32_t port, unsigned int vl, uint32_t bytes);
void sim_unlink(struct sim *m, uint32_t c, unsigned int vl, uint32_t node);
void sim_next_head(struct sim *m, uint32_t port, unsigned int vl);

/* change.c */
enum ftr_status sim_changes(struct sim *m, struct ftr_err *err);
void sim_change(struct sim *m, const struct ftr_sim_change *g);
/* p has no exit.  After all lists have been updated, it is routed again or lost. */
void sim_orphan(struct sim *m, uint32_t p);
/* Make orphans of all packets in the lists of channel c. */
void sim_empty_lists(struct sim *m, uint32_t c);

/* stuck.c. Returns false if out of memory. */
bool sim_check(struct sim *m);

/* result.c */
enum ftr_status result_init(struct sim *m, struct ftr_sim_result *r, struct ftr_err *err);
void result_delivered(struct sim *m, const struct packet *p);
void result_injected(struct sim *m, const struct packet *p);
void result_lost(struct sim *m, enum ftr_sim_loss why);
void result_busy(struct sim *m, struct channel *c, uint64_t ps);
void result_end(struct sim *m);

#endif
