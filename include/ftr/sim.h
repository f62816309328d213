/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Data plane: packets, buffers and credits under given tables.
 *
 * A discrete-event simulation of what an InfiniBand fabric does with traffic,
 * one event per head or tail of a packet.  It asks no engine what it meant.
 *
 * Channel	a directed cable, or the way into or out of port 0 of a switch.
 *		Sends one packet at a time, at the data rate of its width and
 *		speed, to the input buffer at its far end.
 * Buffer	one for each input port and lane (VL), of conf.buffer bytes.  A
 *		sender takes the room for a whole packet before it starts
 *		(credits), and has it back a cable delay after the tail has
 *		left the buffer.  End ports take whatever comes.
 * Switching	virtual cut-through: switch_ps after its head has come in, a
 *		packet may leave, if the output is idle and the next buffer has
 *		room for all of it; where the output is faster than the input,
 *		it waits until the tail cannot fail it.  An input may feed
 *		several outputs at once, conf.speedup of them at most.
 * Queues	FTR_SIM_VOQ: a packet waits only for packets of its input that
 *		want the same output and lane.  FTR_SIM_FIFO: only the first
 *		packet of a buffer may leave, the next one after its tail.
 * Arbitration	lanes of an output by weight (conf.weight, units of 64 bytes,
 *		as the low priority table of IBA 7.6.9.2); inputs of a lane in
 *		turn, packet by packet; with conf.transit_first those from end
 *		ports and port 0 last.
 * Lanes	the routing function tells; with "lft", sl2vl does, from the SL
 *		that path_sl tells for (source, LID), 0 where it tells none.
 *		End ports and ports 0 send on lane SL mod n_vls.
 * Loss		a packet is lost on a channel that dies, in the queue for one,
 *		in a switch that dies, or where the tables have no exit for it
 *		(enum ftr_sim_loss).  Nothing else is ever lost: a packet that
 *		cannot go on waits, for ever if need be (see "Deadlock").  A
 *		packet that is cut while its head is further on travels on to
 *		its end and counts as lost where it was cut.
 * Sources	each end port and port 0 makes packets at a rate of its own, in
 *		a queue without end before its channel; a packet's destination
 *		is drawn when it enters the channel.
 * Deadlock	every check_ps: the greatest set of buffers of which no packet
 *		can ever move, as each waits for room in another one of the
 *		set.  Exact: traffic that is only slow is never taken for it.
 *
 * Time is in picoseconds from the start of the run.  At one instant first all
 * that happens then is taken note of, then outputs choose, by ascending
 * channel, so results depend on nothing but the conf; runs differ by seed only
 * and are the same for any team.
 *
 * Not modelled: packet formats, acknowledgements, congestion control (FECN and
 * BECN), lifetime limits of switches, multicast, errors of the line, the time
 * that a table needs to be written (a change is there at its instant).
 */
#ifndef FTR_SIM_H
#define FTR_SIM_H

#include <ftr/fabric.h>
#include <ftr/load.h>
#include <ftr/tables.h>
#include <ftr/team.h>
#include <ftr/vl.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_SIM_VLS 8		/* data lanes at most */
#define FTR_SIM_PS UINT64_C(1)
#define FTR_SIM_NS UINT64_C(1000)
#define FTR_SIM_US UINT64_C(1000000)
#define FTR_SIM_MS UINT64_C(1000000000)

/* Data buffer of an input port, bytes, which its lanes share alike: 800 of the
 * 1,000 blocks of 64 bytes that the InfiniBand model published for OMNeT++
 * gives to a port of an InfiniScale IV switch; one lane has 800 in it, four have
 * 200 each. */
#define FTR_SIM_PORT_BUFFER 51200u

enum ftr_sim_loss {
	FTR_SIM_LOST_MISSING = 0,	/* the table says FTR_PORT_NONE */
	FTR_SIM_LOST_DEAD_PORT,	/* a port without cable, or whose cable died */
	FTR_SIM_LOST_WIRE,	/* cut on a channel that died */
	FTR_SIM_LOST_QUEUE,	/* in the queue for a channel that died */
	FTR_SIM_LOST_SWITCH,	/* in a switch that died */
	FTR_SIM_LOST_WRONG_END,	/* came out where the LID is not */
	FTR_SIM_LOST_VL,	/* mapped to VL 15 or to a lane beyond n_vls */
	FTR_SIM_LOST_LOOP,	/* FTR_SIM_HOPS_MAX channels crossed, or what
				 * the function says */
	FTR_SIM_LOST_GIVEN_UP,	/* the routing function discards it */
	FTR_SIM_N_LOSSES,
	/* no loss: route() has no exit yet; the packet stays in its buffer
	 * until ftr_sim_again() */
	FTR_SIM_WAIT = FTR_SIM_N_LOSSES
};
#define FTR_SIM_HOPS_MAX 250

/* ---- routing functions --------------------------------------------------- */

/*
 * What a switch does with the packet at hand.  All calls for one run come from
 * one thread; state is the run's own.  A packet may be looked at and its
 * header changed only during the call.
 */
struct ftr_sim_packet {
	uint32_t source;	/* as in ftr_path_sl: end ports, then switches */
	ftr_lid dlid;
	uint16_t bytes;
	uint8_t sl;
	uint16_t hops;		/* channels crossed so far */
	uint16_t field;		/* header fields, 0 at the source; what they */
	uint64_t vector;	/* mean is the function's business */
};

struct ftr_sim_exit {		/* one way to go on */
	ftr_port port;
	uint8_t vl;
	uint8_t room;		/* wanted in the next buffer, packets of this
				 * size; 1, or 2 for bubble flow control */
	uint8_t rank;		/* lower ones are preferred while several of
				 * them could be taken at once */
	bool last;		/* not while there is room behind an exit of
				 * lower rank, though its channel be busy */
	uint32_t note;		/* handed to taken() */
};
#define FTR_SIM_EXITS 64

struct ftr_sim_view {		/* what a function may know; const to it */
	const struct ftr_fabric *f;
	const struct ftr_tables *t;	/* as they are now */
	const struct ftr_sl2vl *sl2vl;	/* NULL: VL = SL */
	const uint8_t *up;	/* [f->n_ports] 1: a cable that works */
	unsigned int n_vls;
	uint64_t now;
	uint64_t hop_ps;		/* a signal to the next switch: a cable
					 * and a switch */
	struct sim *sim;		/* the run, for the calls below */
	const void *const *arg;	/* conf.arg */
};

struct ftr_sim_function {
	const char *name, *summary;
	unsigned int min_vls;	/* lanes that it needs */
	uint16_t hops_max;	/* 0: FTR_SIM_HOPS_MAX */
	bool requeue;		/* packets that wait for a channel that dies
				 * are routed again, not lost */
	bool tiers;		/* conf.arg: ranks of switches [n_sw], as in
				 * ftr_shape; NULL: those of the fabric's own
				 * shape */
	/* before the first packet; *state is NULL if start is */
	enum ftr_status (*start)(const struct ftr_sim_view *v, void **state,
				 struct ftr_err *err);
	void (*finish)(void *state);
	/*
	 * The packet has come in at port in (0: from the switch itself) of s
	 * by lane vl.  Fills exit[FTR_SIM_EXITS] and returns how many; 0: the
	 * packet is lost, *why says how.  An exit by a port that is not up is
	 * left out (and the packet lost if none remains: *why is
	 * FTR_SIM_LOST_DEAD_PORT then).
	 */
	unsigned int (*route)(void *state, const struct ftr_sim_view *v,
			      ftr_sw s, ftr_port in, unsigned int vl,
			      struct ftr_sim_packet *p,
			      struct ftr_sim_exit *exit,
			      enum ftr_sim_loss *why);
	/* the packet starts on that exit; may be NULL */
	void (*taken)(void *state, const struct ftr_sim_view *v, ftr_sw s,
		      struct ftr_sim_packet *p, const struct ftr_sim_exit *e);
	/* port of s went down or came up; may be NULL */
	void (*link)(void *state, const struct ftr_sim_view *v, ftr_sw s,
		     ftr_port port, bool up);
	/* what was asked for by ftr_sim_after(); may be NULL if nothing is */
	void (*timer)(void *state, const struct ftr_sim_view *v, uint64_t what);
	/* a message of ftr_sim_send() has come in as a whole, or was lost with
	 * its channel; may be NULL if none is sent */
	void (*message)(void *state, const struct ftr_sim_view *v,
			uint64_t what, bool lost);
};

/* For link() and timer(): timer(what) at ps from now, ps > 0. */
void ftr_sim_after(const struct ftr_sim_view *v, uint64_t ps, uint64_t what);
/*
 * A message of so many bytes by port of s, whose cable works, to the function at
 * the other end: beside the packets, as VL 15 is.  A channel sends packets and
 * messages in turn while there are both, or, with after, messages only while no
 * packet can go; a message needs no credit.
 */
void ftr_sim_send(const struct ftr_sim_view *v, ftr_sw s, ftr_port port,
		  uint32_t bytes, bool after, uint64_t what);
/* Route all packets anew that wait in switch s. */
void ftr_sim_again(const struct ftr_sim_view *v, ftr_sw s);
/* Take the first packet that waits in the buffer of that port and lane out of it,
 * whatever its exits: it goes on as if it had come by the same lane of port 0,
 * which has room for any number of them. */
void ftr_sim_drain(const struct ftr_sim_view *v, ftr_sw s, ftr_port port,
		   unsigned int vl);
/* End ports of s and its port 0 start no more packets, or may again. */
void ftr_sim_hold(const struct ftr_sim_view *v, ftr_sw s, bool hold);

/* The function is out of memory: the run ends with FTR_NOMEM. */
void ftr_sim_no_memory(const struct ftr_sim_view *v);

/* What an InfiniBand switch does: linear forwarding tables and SL2VL tables.
 * Other functions: <ftr/models.h>. */
extern const struct ftr_sim_function ftr_sim_lft;

/* ---- what is simulated ----------------------------------------------------- */

enum ftr_sim_pattern {
	/* a random one of the others for every packet */
	FTR_SIM_UNIFORM = 0,
	/* hot_percent of the packets to a random one of hot[], else uniform */
	FTR_SIM_HOTSPOT,
	/* order[i] to order[perm(i)], a random permutation per seed; whom it
	 * leaves in place sends nothing */
	FTR_SIM_PERMUTATION,
	FTR_SIM_SHIFT,		/* order[i] to order[(i + shift) % n] */
	/* order[i] to order[i + 1], order[i + 2], ... in turn */
	FTR_SIM_ALL_TO_ALL,
	FTR_SIM_PAIRS		/* each source to its pairs in turn */
};

enum ftr_sim_queues { FTR_SIM_VOQ = 0, FTR_SIM_FIFO };

enum ftr_sim_change_kind {
	FTR_SIM_LINK_DOWN = 0,	/* sw, port: both ends of the cable */
	FTR_SIM_LINK_UP,
	FTR_SIM_SWITCH_DOWN,	/* sw: with all its cables */
	FTR_SIM_SWITCH_UP,
	FTR_SIM_ENTRY,		/* sw, lid, port: one entry of a table */
	FTR_SIM_TABLES		/* tables: all entries of all switches */
};

struct ftr_sim_change {
	uint64_t at;		/* ps */
	enum ftr_sim_change_kind kind;
	ftr_sw sw;
	ftr_port port;
	ftr_lid lid;
	const struct ftr_tables *tables;	/* of the same fabric */
};

struct ftr_sim_conf {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	const struct ftr_sl2vl *sl2vl;		/* NULL: VL = SL */
	const struct ftr_path_sl *path_sl;	/* NULL: SL 0 */
	const struct ftr_sim_function *function;	/* NULL: lft */
	/* for the function: see ftr_sim_function.tiers and struct
	 * ftr_sim_immunet in <ftr/models.h>; NULL: its defaults */
	const void *arg;
	/* traffic of end ports; order NULL: all with LID and cable by index */
	enum ftr_sim_pattern pattern;
	const ftr_ep *order;	/* FTR_EP_NONE: a gap, sends nothing */
	uint32_t n_order;
	uint32_t shift;
	const ftr_ep *hot;
	uint32_t n_hot;
	unsigned int hot_percent;
	const struct ftr_load_pair *pair;
	uint32_t n_pairs;
	bool spare_dead;	/* uniform: nothing is sent to end ports that a
				 * dead cable or switch cuts off */
	double load;		/* of the channel's data rate; >= 1: always
				 * something to send */
	bool periodic;		/* gaps all alike, from a random phase; else
				 * exponential */
	/* traffic between ports 0, always uniform */
	double switch_load;	/* of switch_mbps; 0: none */
	uint32_t switch_mbps;	/* data rate of ports 0, 0: 2000 (1x SDR) */
	uint8_t switch_sl;	/* SL where path_sl tells none */
	uint8_t host_sl;
	uint32_t bytes;		/* of a packet on the wire, 0: 2048 */
	uint32_t buffer;	/* bytes per input port and lane, 0:
				 * FTR_SIM_PORT_BUFFER / n_vls */
	uint32_t switch_buffer;	/* of what ports 0 send, 0: buffer */
	unsigned int speedup;	/* outputs that an input feeds at once, 0: no
				 * limit */
	unsigned int n_vls;	/* 1 .. FTR_SIM_VLS, 0: 1 */
	uint8_t weight[FTR_SIM_VLS];	/* all 0: all 1 packet */
	enum ftr_sim_queues queues;
	bool transit_first;	/* outputs of a switch: no packet of its own end
				 * ports and port 0 while one of its inputs could
				 * go */
	uint32_t window;	/* packets of a source under way at once, 0: no
				 * limit */
	uint32_t link_ps;	/* one way */
	uint32_t switch_ps;
	uint32_t default_mbps;	/* where the fabric does not tell, 0: 32000 */
	const struct ftr_sim_change *change;	/* any order; of equal times
						 * the first comes first */
	uint32_t n_changes;
	uint64_t warm_ps;	/* before the measurement */
	uint64_t run_ps;	/* the measurement, > 0 */
	uint64_t check_ps;	/* 0: 20 us */
	bool stop_on_deadlock;	/* end the run there */
	uint32_t n_series;	/* parts of warm_ps + run_ps; 0: none */
	uint64_t seed;
	uint32_t runs;		/* seeds seed, seed + 1, ..., 0: 1 */
	/* called now and then from the calling thread; may be NULL */
	void (*progress)(void *ctx, uint32_t run, double part);
	void *progress_ctx;
};

/* ---- what comes out ----------------------------------------------------------- */

/* Latencies, by octave and 32 parts of it: a percentile is exact to 3 %. */
#define FTR_SIM_BINS (64 * 32)

struct ftr_sim_latency {
	uint64_t n;
	double sum_ps;
	uint64_t min_ps, max_ps;
	uint64_t *bin;		/* [FTR_SIM_BINS] */
};

/* p in 0..1; 0 if there are none.  The upper edge of the part that holds it. */
uint64_t ftr_sim_percentile(const struct ftr_sim_latency *l, double p);

struct ftr_sim_class {		/* hosts, or ports 0 of switches */
	uint32_t sources;	/* that may send */
	double capacity;	/* bits per second that they could send */
	/* in the measurement: */
	uint64_t offered;	/* packets made, whether they got in or not;
				 * always something to send: what the channel
				 * could carry */
	uint64_t injected;	/* that entered a channel */
	uint64_t delivered;
	uint64_t bytes;		/* delivered */
	struct ftr_sim_latency total;	/* from being made; of the delivered */
	struct ftr_sim_latency network;	/* from entering the first channel */
};

struct ftr_sim_channel_use {
	ftr_sw sw;		/* that sends, or FTR_SW_NONE: an end port */
	ftr_port port;
	ftr_ep ep;		/* the end port that sends, if sw is none */
	uint64_t busy_ps;	/* in the measurement */
	uint64_t packets;
};

struct ftr_sim_slice {
	uint64_t injected, delivered, bytes, lost;
	uint64_t hops;		/* channels crossed by the delivered */
	double latency_ps;	/* mean of the delivered, from being made */
};

struct ftr_sim_wait {		/* a link of a wait-for cycle */
	ftr_sw sw;		/* whose full buffer: the switch that sends ... */
	ftr_port port;		/* ... by that port into it */
	uint8_t vl;
};
#define FTR_SIM_CYCLE_MAX 64

struct ftr_sim_result {
	uint64_t seed;
	uint64_t end_ps;	/* warm_ps + run_ps unless it was stopped */
	struct ftr_sim_class host, sw;
	/* of the whole run: injected = delivered + lost + in_flight */
	uint64_t injected, delivered, in_flight;
	uint64_t lost[FTR_SIM_N_LOSSES];
	uint64_t hops;		/* channels crossed by all packets */
	uint64_t events;
	uint64_t max_in_flight;
	uint32_t max_hops;	/* channels crossed by a delivered packet */
	bool deadlock;
	uint64_t deadlock_ps;	/* of the check that found it */
	uint32_t stuck_buffers, cycle_len;
	uint64_t stuck_packets;
	/* each waits for the next, the last for the first */
	struct ftr_sim_wait cycle[FTR_SIM_CYCLE_MAX];
	uint32_t n_channels;	/* with a cable; those of port 0 are not here */
	struct ftr_sim_channel_use *channel;
	uint32_t n_series;
	struct ftr_sim_slice *series;
	uint64_t bytes_of_memory;	/* that the run held, tables included */
};

/*
 * Simulate conf->runs runs, one thread each, into out[conf->runs].  FTR_INVAL:
 * tables or changes that are not of f's size, an end port beyond f, a packet
 * greater than a buffer, a load below 0, run_ps 0, lanes beyond what they may
 * be, a function that needs more of them, no end port to send to.  Deadlocks
 * and losses are no failure.  Memory of a run: the tables, 16 bytes times lanes
 * times the squares of the switches' ports, and 80 bytes a packet in flight.
 */
enum ftr_status ftr_sim_run(const struct ftr_sim_conf *conf,
			    struct ftr_team *team, struct ftr_sim_result *out,
			    struct ftr_err *err) FTR_MUST_USE;
/* What is inside of n results. */
void ftr_sim_result_fini(struct ftr_sim_result *r, uint32_t n);

/* Data rate of width lanes of speed, Mbit/s; 0 if either is not known. */
uint32_t ftr_sim_mbps(unsigned int width, enum ftr_speed speed);

#ifdef __cplusplus
}
#endif
#endif
