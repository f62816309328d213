/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Data plane simulator: packets, buffers and credits under given tables.
 *
 * It simulates the traffic of an InfiniBand fabric as discrete events: the head or the tail of a
 * packet arrives, or leaves.  It uses only the tables, not the engines.
 *
 * Channel	A link in one direction, or the connection into or out of port 0 of a
 *		switch.  A channel sends one packet at a time, at the data rate of its
 *		width and speed, to the input buffer at its far end.
 * Buffer	Each input port has a buffer of conf.buffer bytes for each VL.  A sender
 *		reserves the space for a whole packet before it starts (credits).  The
 *		space is returned one link delay after the tail of the packet has left
 *		the buffer.  Host ports accept every packet.
 * Switching	Virtual cut-through.  A packet may leave a switch when switch_ps have
 *		passed since its head arrived, the output is idle, and the next buffer
 *		has space for the whole packet.  If the output is faster than the input,
 *		the packet starts late enough for its tail to arrive in time.  An input
 *		may feed at most conf.speedup outputs at once.
 * Queues	FTR_SIM_VOQ: a packet waits only for packets of the same input that
 *		need the same output and VL.  FTR_SIM_FIFO: only the first packet of a
 *		buffer may leave; the second one must wait until the tail of the first
 *		has left.
 * Arbitration	The VLs of an output share it by weight (conf.weight, in units of 64
 *		bytes, as in the low priority table of IBA 7.6.9.2).  Inputs with packets
 *		for the same output and VL take turns, one packet each.
 *		With conf.transit_first, inputs from host ports and port 0 come last.
 * VL		The routing function decides which VL a packet uses.  The function "lft"
 *		looks up the packet's SL in sl2vl.  The SL is the one that path_sl gives
 *		for (source, LID), or host_sl or switch_sl if path_sl gives none.  A host
 *		port, and port 0 of a switch, send on VL = SL mod n_vls.
 * Loss		enum ftr_sim_loss lists the reasons for which packets are lost.  A packet
 *		that cannot move is not lost; it waits, without limit (see "Deadlock").
 *		If a channel fails while a packet crosses it, the part that has passed
 *		travels on to the destination, but the packet counts as lost.
 * Sources	Each host port and each port 0 generates packets at its own rate
 *		into an unlimited queue before its channel.  The destination of a
 *		packet is drawn when the packet is the first in this queue.
 * Deadlock	A set of buffers whose packets can never move, because each waits for
 *		space in another buffer of the set.  Every check_ps, the simulator
 *		looks for the largest such set.  Packets that move slowly are not
 *		reported.  One kind of deadlock is not found: packets that need space for
 *		two packets (ftr_sim_exit.room) in a buffer that never has this space.
 *
 * Time is in picoseconds from the start of the run.  When all events of one instant have been
 * processed, the outputs choose their next packets, in ascending order of channels.
 * The results depend only on conf, not on the team.  The runs of one conf differ only in their
 * seeds.
 *
 * Not modelled: packet formats, acknowledgements, congestion control (FECN and
 * BECN), lifetime limits of switches, multicast, transmission errors, and the time
 * that writing a table takes (a change takes effect immediately).
 */
#ifndef FTR_SIM_H
#define FTR_SIM_H

#include <ftr/check.h>
#include <ftr/fabric.h>
#include <ftr/load.h>
#include <ftr/tables.h>
#include <ftr/team.h>
#include <ftr/vl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_SIM_VLS 8		/* maximum number of data VLs */
#define FTR_SIM_NS UINT64_C(1000)
#define FTR_SIM_US UINT64_C(1000000)
#define FTR_SIM_MS UINT64_C(1000000000)

/* Data buffer of an input port in bytes, divided evenly among its VLs.  The published InfiniBand
 * model for OMNeT++ gives a port of an InfiniScale IV switch 1,000 blocks of 64 bytes; 800 of them
 * are used here. */
#define FTR_SIM_PORT_BUFFER 51200u

enum ftr_sim_loss {
	FTR_SIM_LOST_MISSING = 0,	/* the entry is FTR_PORT_NONE */
	FTR_SIM_LOST_DEAD_PORT,	/* the entry names a port without a working link */
	FTR_SIM_LOST_WIRE,	/* on a channel at the time when the channel failed */
	FTR_SIM_LOST_QUEUE,	/* in the queue for a channel that failed; with
				 * ftr_sim_function.requeue such packets are not lost */
	FTR_SIM_LOST_SWITCH,	/* in a switch that failed */
	FTR_SIM_LOST_WRONG_END,	/* delivered to a port that does not own the LID */
	FTR_SIM_LOST_VL,	/* mapped to VL 15 or to a VL beyond n_vls */
	FTR_SIM_LOST_LOOP,	/* crossed ftr_sim_function.hops_max channels (or, if that is 0,
				 * FTR_SIM_HOPS_MAX) */
	FTR_SIM_LOST_GIVEN_UP,	/* discarded by the routing function */
	FTR_SIM_N_LOSSES,
	/* not a loss: no exit is free; the packet stays in its buffer until the switch routes its
	 * packets again */
	FTR_SIM_WAIT = FTR_SIM_N_LOSSES
};
#define FTR_SIM_HOPS_MAX 250

/* ---- routing functions --------------------------------------------------- */

/*
 * A routing function decides where a switch sends a packet.  All calls of one run come from one
 * thread.  Each run has its own state.  The function may read a packet, and change its header
 * fields, only during the call.
 */
struct ftr_sim_packet {
	uint32_t source;	/* index of the sender: 0 .. n_ep-1 are the host ports, then come
				 * the switches (as in struct ftr_path_sl) */
	ftr_lid dlid;
	uint16_t bytes;
	uint8_t sl;
	uint16_t hops;		/* number of channels crossed so far */
	/* header fields, 0 at the source; the function may use them as it likes */
	uint16_t field;
	uint64_t vector;
};

struct ftr_sim_exit {		/* a possible next hop */
	ftr_port port;
	uint8_t vl;
	uint8_t room;		/* space required in the next buffer, in packets of
				 * this size; 1, or 2 for bubble flow control */
	uint8_t rank;		/* priority: if several exits are possible at this instant, the one
				 * of lowest rank is taken */
	bool last;		/* true: do not take this exit as long as an exit of lower rank has
				 * space in its next buffer, even if the channel there is busy */
	uint32_t note;		/* any value, for taken() */
};
#define FTR_SIM_EXITS 64

struct ftr_sim_arrival {	/* a packet that needs a next hop */
	ftr_sw sw;		/* the switch that it has reached, */
	ftr_port in;		/* by this port (0: the packet is from the switch itself), */
	uint8_t vl;		/* on this VL */
	struct ftr_sim_packet *p;
	/* results of ftr_sim_function.route() */
	struct ftr_sim_exit exit[FTR_SIM_EXITS];
	enum ftr_sim_loss why;
};

struct ftr_sim_view {		/* data that a function may read but not change */
	const struct ftr_fabric *f;
	const struct ftr_tables *t;	/* current tables */
	const struct ftr_sl2vl *sl2vl;	/* NULL: VL = SL */
	const uint8_t *up;	/* [f->n_ports] 1: the link is up */
	unsigned int n_vls;
	uint64_t now;
	uint64_t hop_ps;		/* delay of a link plus delay of a switch */
	struct sim *sim;		/* the run */
	const void *const *arg;	/* points to conf.arg */
};

struct ftr_sim_function {
	const char *name, *summary;
	unsigned int min_vls;	/* least number of VLs that the function needs */
	/* packets are lost after this number of channels (FTR_SIM_LOST_LOOP); 0 means
	 * FTR_SIM_HOPS_MAX */
	uint16_t hops_max;
	bool requeue;		/* true: if a channel fails, the packets that wait for it are
				 * routed again; false: they are lost */
	bool tiers;		/* true: the function needs the ranks of the switches.  conf.arg is
				 * an array [n_sw] of the ranks, as ftr_shape_tree.rank, or NULL:
				 * the ranks are computed from the fabric */
	/* start: called before the first packet.  start may be NULL; *state is then NULL.  finish:
	 * called at the end of the run.  state is NULL if start failed or was not called */
	enum ftr_status (*start)(const struct ftr_sim_view *v, void **state,
				 struct ftr_err *err);
	void (*finish)(void *state);
	/*
	 * Called when a packet has arrived (with FTR_SIM_FIFO: when it is the first packet of its
	 * buffer), and when a waiting packet is routed again.
	 *
	 * Stores the possible exits in a->exit, and returns their number.  If it returns 0, the
	 * packet is lost for the reason in a->why, or waits if a->why is FTR_SIM_WAIT.  a->why is
	 * FTR_SIM_LOST_DEAD_PORT before the call.  Exits through ports that are not up, and exits
	 * with a VL beyond n_vls, are ignored.  If only such exits are returned, the packet is
	 * lost; the reason is FTR_SIM_LOST_VL if one of them has such a VL.
	 */
	unsigned int (*route)(void *state, const struct ftr_sim_view *v,
			      struct ftr_sim_arrival *a);
	/* called when the packet starts to leave through exit e; may be NULL */
	void (*taken)(void *state, const struct ftr_sim_view *v, ftr_sw s,
		      struct ftr_sim_packet *p, const struct ftr_sim_exit *e);
	/* called when the link at `port` of s went down or came up; not called if s itself is down;
	 * may be NULL */
	void (*link)(void *state, const struct ftr_sim_view *v, ftr_sw s,
		     ftr_port port, bool up);
	/* called at the time that the function has set; may be NULL if it sets none */
	void (*timer)(void *state, const struct ftr_sim_view *v, uint64_t what);
	/* called when a message of the function has arrived completely, or was lost because its
	 * channel failed; may be NULL if no messages are sent */
	void (*message)(void *state, const struct ftr_sim_view *v,
			uint64_t what, bool lost);
	/* operations of the simulator for functions that send messages, let packets wait
	 * (FTR_SIM_WAIT), return several exits or one with more room than 1, or have taken(): in
	 * tests/seeds/models, not in the library; otherwise NULL */
	const struct sim_extra *extra;
};

/* The routing function of InfiniBand switches: linear forwarding tables and SL2VL tables. */
extern const struct ftr_sim_function ftr_sim_lft;

/* ---- input ----------------------------------------------------------------- */

enum ftr_sim_pattern {
	/* the destination of every packet is drawn from the other host ports of the order */
	FTR_SIM_UNIFORM = 0,
	/* hot_percent of the packets go to a host port drawn from hot[].  All other packets, and
	 * those for which the sender itself was drawn, get a destination as with
	 * FTR_SIM_UNIFORM. */
	FTR_SIM_HOTSPOT,
	/* order[i] sends to order[perm(i)], where perm is a random permutation that depends
	 * on the seed.  A host port with perm(i) = i sends nothing. */
	FTR_SIM_PERMUTATION,
	FTR_SIM_SHIFT,		/* order[i] sends to order[(i + shift) % n] */
	/* order[i] sends to order[i + 1], order[i + 2], ... in turn */
	FTR_SIM_ALL_TO_ALL,
	FTR_SIM_PAIRS,		/* each source sends to the destinations of its pairs in turn */
	FTR_SIM_STEPS		/* each source sends transfer[]; one that waits for others begins
				 * when they have arrived */
};

enum ftr_sim_queues { FTR_SIM_VOQ = 0, FTR_SIM_FIFO };

enum ftr_sim_change_kind {
	FTR_SIM_LINK_DOWN = 0,	/* the link at `port` of sw, in both directions */
	FTR_SIM_LINK_UP,
	FTR_SIM_SWITCH_DOWN,	/* switch sw, with all its links */
	FTR_SIM_SWITCH_UP,
	FTR_SIM_ENTRY,		/* the entry of sw for lid becomes `port` */
	FTR_SIM_TABLES		/* all entries of all switches become those of `tables` */
};

struct ftr_sim_change {
	uint64_t at;		/* time in ps */
	enum ftr_sim_change_kind kind;
	ftr_sw sw;
	ftr_port port;
	ftr_lid lid;
	const struct ftr_tables *tables;	/* tables of the same fabric */
};

/* The packets that are sent. */
struct ftr_sim_traffic {
	/* traffic of host ports; order NULL: all host ports with a LID and a link, by index */
	enum ftr_sim_pattern pattern;
	const ftr_ep *order;	/* FTR_EP_NONE: a gap.  In FTR_SIM_SHIFT, gaps count as places; in
				 * all other patterns, they are ignored */
	uint32_t n_order;
	uint32_t shift;
	const ftr_ep *hot;
	uint32_t n_hot;
	unsigned int hot_percent;
	const struct ftr_transfer *pair;
	uint32_t n_pairs;
	/* FTR_SIM_STEPS: a transfer begins when all transfers of lower steps from and to its sender
	 * have arrived, step_ps later.  The packets of transfers of one step take turns.  load is
	 * at least 1, and the run ends when all transfers have arrived, or when a packet is
	 * lost. */
	const struct ftr_transfer *transfer;
	uint32_t n_transfers;
	uint64_t step_ps;	/* time between the end of a step of a host port and the next one */
	bool spare_dead;	/* true: if the link or the switch of a uniform packet's destination
				 * is down, draw another destination, at most 64 times */
	double load;		/* rate at which a host port generates data, divided by the data
				 * rate of its channel; >= 1: there is always a packet to send */
	bool periodic;		/* true: the time between two packets is constant, and the first
				 * packet comes at a random time; false: the time between packets
				 * has an exponential distribution */
	/* Ports 0 of the switches send to each other; each destination is drawn at random. */
	double switch_load;	/* rate at which a port 0 generates data, divided by switch_mbps;
				 * 0: none */
	uint32_t switch_mbps;	/* data rate of ports 0; 0 means 2000 (1x SDR) */
	const struct ftr_path_sl *path_sl;	/* NULL: host_sl and switch_sl */
	unsigned int switch_sl;	/* SL of packets from a port 0 if path_sl gives none */
	unsigned int host_sl;	/* SL of packets from a host port if path_sl gives none */
	uint32_t bytes;		/* size of a packet on the wire; 0 means 2048 */
	uint32_t window;	/* greatest number of packets of one source that are in flight at
				 * the same time; 0 means no limit */
};

struct ftr_sim_conf {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	const struct ftr_sl2vl *sl2vl;		/* NULL: VL = SL */
	const struct ftr_sim_function *function;	/* NULL: lft */
	/* argument of the function, see ftr_sim_function.tiers; NULL: the function's defaults */
	const void *arg;
	struct ftr_sim_traffic traffic;
	uint32_t buffer;	/* bytes per input port and VL; 0 means
				 * FTR_SIM_PORT_BUFFER / n_vls */
	/* bytes per VL for the packets that enter a switch at its port 0; 0 means `buffer` */
	uint32_t switch_buffer;
	unsigned int speedup;	/* greatest number of outputs to which an input sends at
				 * once; 0 means no limit */
	unsigned int n_vls;	/* 1 .. FTR_SIM_VLS; 0 means 1 */
	uint8_t weight[FTR_SIM_VLS];	/* weight of each VL in units of 64 bytes; 0 means
					 * one packet */
	enum ftr_sim_queues queues;
	bool transit_first;	/* true: an output sends packets of host ports and of port 0 only
				 * while it can send no packet from another switch */
	uint64_t link_ps;	/* delay of a link in one direction, at most UINT32_MAX */
	uint64_t switch_ps;	/* delay of a switch, at most UINT32_MAX */
	uint32_t default_mbps;	/* data rate of a link if its rate is unknown; 0 means
				 * 32000 */
	const struct ftr_sim_change *change;	/* in any order; changes at the same time
						 * take effect in the order given */
	uint32_t n_changes;
	uint64_t warm_ps;	/* time before the measurement */
	uint64_t run_ps;	/* duration of the measurement, > 0 */
	uint64_t check_ps;	/* time between deadlock checks; 0 means 20 us */
	bool stop_on_deadlock;	/* true: end the run when a deadlock is found */
	/* number of equal slices of the time warm_ps + run_ps.  For each slice there is a struct
	 * ftr_sim_slice with results.  0: no slices */
	uint32_t n_series;
	uint64_t seed;
	uint32_t runs;		/* number of runs, with the seeds seed, seed + 1, ...;
				 * 0 means 1 */
	/* Called from time to time by the calling thread, for the runs that this thread simulates.
	 * part: the completed part of the run, 0 .. 1.  May be NULL. */
	void (*progress)(void *ctx, uint32_t run, double part);
	void *progress_ctx;
};

/* ---- results ------------------------------------------------------------------ */

/* Histogram of latencies in ps.  Each value below 32 has its own bin.  From 32 on, each range 2^i to
 * 2^(i+1) is divided into 32 bins.  So the error of a percentile is at most 3%. */
#define FTR_SIM_BINS (64 * 32)

struct ftr_sim_latency {
	uint64_t n;
	double sum_ps;
	uint64_t min_ps, max_ps;
	uint64_t *bin;		/* [FTR_SIM_BINS] */
};

/* The results for one class of sources: host ports, or ports 0 of switches. */
struct ftr_sim_class {
	uint32_t sources;	/* number of ports that may send */
	double capacity;	/* sum of the data rates of these ports in bit/s */
	/* in the measurement: */
	uint64_t offered;	/* number of packets generated; with load >= 1, the number of
				 * packets that the channels could carry */
	uint64_t injected;	/* number of packets that entered a channel */
	uint64_t delivered;	/* number of packets */
	uint64_t bytes;		/* number of bytes of the delivered packets */
	/* latency of delivered packets.  total: since the packet was generated; network: since it
	 * entered its first channel */
	struct ftr_sim_latency total;
	struct ftr_sim_latency network;
};

struct ftr_sim_channel_use {
	ftr_sw sw;		/* the switch that sends; FTR_SW_NONE: a host port sends */
	ftr_port port;
	ftr_ep ep;		/* if sw is FTR_SW_NONE: the host port */
	/* During the measurement.  busy_ps: time that the channel spent on sending packets and
	 * messages; packets: number of packets that it sent */
	uint64_t busy_ps, packets;
};

struct ftr_sim_slice {
	uint64_t injected, delivered, bytes, lost;
	uint64_t hops;		/* number of channels crossed, summed over delivered packets */
	double latency_ps;	/* mean latency of delivered packets since they were generated */
};

#define FTR_SIM_CYCLE_MAX 64

struct ftr_sim_result {
	uint64_t seed;
	uint64_t end_ps;	/* end of the run: warm_ps + run_ps, or earlier if
				 * stop_on_deadlock or FTR_SIM_STEPS ended it */
	uint64_t finish_ps;	/* FTR_SIM_STEPS: time when the last transfer had arrived; 0: some
				 * have not arrived */
	struct ftr_sim_class host, sw;
	/* packets of the whole run: injected = delivered + lost + in_flight */
	uint64_t injected, delivered, in_flight;
	uint64_t lost[FTR_SIM_N_LOSSES];
	uint64_t hops;		/* number of channels crossed, summed over all packets */
	uint64_t events;
	uint64_t max_in_flight;	/* greatest number of packets in flight at one time */
	uint32_t max_hops;	/* greatest number of channels that a delivered packet crossed */
	bool deadlock;
	uint64_t deadlock_ps;	/* time of the check that found the deadlock */
	uint32_t stuck_buffers;	/* number of deadlocked buffers */
	uint32_t cycle_len;	/* number of buffers in the cycle; cycle[] may store fewer */
	uint64_t stuck_packets;	/* number of packets in the deadlocked buffers */
	/* one cycle of deadlocked buffers, each at the far end of a channel: each waits for the
	 * next one, the last for the first;
	 * of a longer cycle only the first FTR_SIM_CYCLE_MAX buffers are stored */
	struct ftr_channel cycle[FTR_SIM_CYCLE_MAX];
	uint32_t n_channels;	/* number of elements of channel[].  It describes the channels of
				 * all links, but not those of ports 0 */
	struct ftr_sim_channel_use *channel;
	uint32_t n_series;
	struct ftr_sim_slice *series;
	uint64_t bytes_of_memory;	/* memory that the run used, tables included */
};

/*
 * Simulate conf->runs runs, each in one thread, and store the results in out[conf->runs].
 * Deadlocks and losses are not errors.  FTR_INVAL: tables or changes do not fit f; f does not have
 * a host port that conf names; a packet is larger than a buffer, or than 65,535 bytes; a load is
 * below 0, or below 1 with FTR_SIM_STEPS; run_ps is 0; n_vls is out of range, or less than the
 * function needs; the function needs `extra`, which is NULL; FTR_SIM_HOTSPOT without hot[]; hot_percent
 * is above 100.  Other errors: FTR_NOMEM, and those of function->start.  Memory of a run: the tables,
 * 80 bytes per packet in flight, and for each switch 16 bytes * VLs * (number of ports)^2.
 */
enum ftr_status ftr_sim_run(const struct ftr_sim_conf *conf,
			    struct ftr_team *team, struct ftr_sim_result *out,
			    struct ftr_err *err) FTR_MUST_USE;
/* Free the contents of n results. */
void ftr_sim_result_fini(struct ftr_sim_result *r, uint32_t n);

/* Data rate in Mbit/s of a link with this width and speed; 0 if either is unknown. */
uint32_t ftr_sim_mbps(unsigned int width, enum ftr_speed speed);

#ifdef __cplusplus
}
#endif
#endif
