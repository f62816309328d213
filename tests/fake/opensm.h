/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fake OpenSM over a fake fabric, into which tests load the plugin.
 *
 *	opensm.c has the symbols of OpenSM that the plugin imports, fills OpenSM's structures from
 *		a struct ftr_fabric, and loads and unloads the plugin
 *	wire.c	simulates the links, and the switches, which hold tables and answer directed-route
 *		packets; tests decide the fate of every packet; there is one transport thread, as
 *		in the vendor layer
 *	sweep.c	makes heavy sweeps and forced reroutes, with OpenSM's order of actions, its locks
 *		and its bookkeeping of tables
 *	settle.c waits until nothing is left to do
 *	vclock.c the virtual clock, which stands still while a thread works
 *	fiber.c	replaces vclock.c in programs that decide about every order of events, together with
 *		dispatch.c, which replaces OpenSM's dispatcher
 *	judge.c	checks that the fabric is repaired and that OpenSM's copy of the tables is correct
 *
 * The structures and the dispatcher are OpenSM's own (libosmcomp).  Behaviour is copied from OpenSM
 * 3.3.23; comments name the copied functions.
 *
 * Threads.  The sweeps run in the thread of the test, or in a thread that fake_auto_sweep starts.
 * The dispatcher has two threads and the transport has one.  The plugin starts its own.
 *
 * Time is virtual, so no result depends on the speed of the machine.  (A test may set real_time.)
 * fake_settle waits until nothing is left to do.
 */
#ifndef FTR_FAKE_OPENSM_H
#define FTR_FAKE_OPENSM_H

#include "lib/temp.h"
#include "osm/fast.h"
#include <ftr/gen.h>

struct fake;

/* ---- the fate of a packet ----------------------------------------------- */

struct fake_packet {
	bool plugin;		/* sent by the plugin, not by OpenSM */
	bool set;		/* Set(LinearForwardingTable), not a Get */
	uint32_t mod;		/* attribute modifier: the block or the port */
	unsigned int copy;	/* 0: first copy; others: retries by the transport */
	uint32_t number;	/* number of the packet among those of its sender since the last
				 * fake_set_fate, from 0; all copies have the same number */
	ftr_sw to;		/* switch at the end of the route; FTR_SW_NONE: the route
				 * crosses a dead link, or leads to no switch */
};

struct fake_fate {
	bool lose_request, lose_answer;
	bool refuse;		/* the transport refuses to send the first copy */
	bool to_host;		/* a loss is reported to OpenSM, even if the plugin has sent
				 * the packet */
	unsigned int copies;	/* number of duplicate answers */
	uint16_t status;	/* status of the answer, in host byte order */
	uint32_t lie;		/* seed of random data in the answer; 0: no random data */
	bool lie_header;	/* the answer has a random attribute and a random modifier */
	bool ignore;		/* a Set is acknowledged, but not carried out */
	double delay_ms;	/* time from sending until the request is carried out */
	double back_ms;		/* time from that moment until the answer arrives */
	bool hold;		/* the answer waits for fake_release */
};

/* Called by any thread, with the wire's mutex held.  NULL: every packet succeeds. */
typedef void (*fake_fate_fn)(void *ctx, const struct fake_packet *p,
			     struct fake_fate *fate);

/* ---- moments of a sweep ------------------------------------------------- */

enum fake_moment {
	FAKE_SWEEP_BEGINS,	/* after HEAVY_SWEEP_START */
	FAKE_DISCOVERING,	/* half of the switches have been read */
	FAKE_DISCOVERED,	/* all switches have been read; before HEAVY_SWEEP_DONE */
	FAKE_BEFORE_ROUTING,	/* after HEAVY_SWEEP_DONE and the drop manager */
	FAKE_LOCKED,		/* lock held, no engine called yet */
	FAKE_ROUTING,		/* engine done, lock held, no packet sent yet */
	FAKE_PUSHING,		/* lock released, packets in flight */
	FAKE_ROUTED,		/* before UCAST_ROUTING_DONE */
	FAKE_LINKS,		/* after UCAST_ROUTING_DONE, before ports are made Active */
	FAKE_SWEEP_ENDS,	/* before SUBNET_UP */
	FAKE_N_MOMENTS
};

typedef void (*fake_moment_fn)(void *ctx, struct fake *h, enum fake_moment m);

/* ---- the fake OpenSM ---------------------------------------------------- */

struct fake_sw {
	uint8_t *lft;		/* [FTR_LID_MAX + 1] table in the switch */
	uint16_t top;		/* LinearFDBTop: the switch drops packets to greater LIDs; 0: not known */
	ib_net64_t m_key;	/* 0: the switch accepts every M_Key */
	bool silent;		/* does not answer */
	bool changed;		/* PortStateChange */
	bool unheard;		/* a trap of the switch has not reached OpenSM */
	/* The route that OpenSM's last discovery found. */
	struct rr_dr route;
	uint32_t n_sets;	/* number of Set requests for LFT blocks that it has carried out */
	uint64_t past;		/* with fake.cause: hash of the events on which its tables depend */
};

struct fake_wire;
struct fake_opts;

struct fake {
	osm_opensm_t *osm;
	struct ftr_fabric *fab;	/* the fabric with all links that can exist */
	const struct ftr_shape *sh;	/* of fab */
	struct fake_wire *wire;
	struct fake_sw *sw;	/* [fab->n_sw] guarded by the wire's mutex */
	uint8_t *link;		/* [fab->n_ports] port states, equal at both ends of a link;
				 * guarded by the wire's mutex */
	osm_node_t **sw_node, **ep_node;
	osm_port_t **sw_port, **ep_port;
	osm_switch_t **osw;	/* [fab->n_sw] NULL: unknown to OpenSM */
	ftr_ep sm;		/* OpenSM's port */
	bool on_switch;		/* directed routes begin at port 0 of the switch of `sm` */
	void *plugin;		/* the plugin object; NULL after fake_unload */
	struct ibf_fast *fast;	/* the plugin's fast path, or NULL */
	char dir[TEMP_ROOM];
	struct fake_opts *opts;
	struct osm_routing_engine minhop;	/* the stock engine */
	cl_disp_reg_handle_t lft_disp, poster;

	fake_moment_fn moment;
	void *moment_ctx;
	bool fail_routing;	/* set by tests: the stock engine fails */
	/* Set by tests: in the next routing, no engine gets memory, or not the first one that is called. */
	bool no_memory, no_memory_first;
	/* Called after each Set of a table, while the mutex of fake/wire.c is held; may be NULL. */
	void (*written)(void *ctx, struct fake *h);
	void *written_ctx;
	/* Called for each line of the log, with `mutex` held; may be NULL. */
	void (*logging)(void *ctx, const char *line);
	void *logging_ctx;
	/* fiber_cause and fiber_follow, or NULL; links_past: hash of the events that have changed links */
	uint64_t (*cause)(void);
	void (*follow)(uint64_t cause);
	uint64_t links_past;

	pthread_mutex_t mutex;	/* guards the members up to `sweeping`, except sweeper and
				 * auto_sweep */
	pthread_cond_t cond;
	char *log;
	size_t log_size;
	int pool_out;		/* packets taken from the pool and not returned */
	unsigned int signals;	/* calls of osm_sm_signal(SWEEP) not handled yet */
	unsigned int posted;	/* messages not handled by the dispatcher yet */
	unsigned int reported;	/* traps 128 that OpenSM did not suppress */
	bool own_sweep;		/* a sweep is due for a trap that the plugin left to OpenSM */
	struct {
		uint32_t n;
		double last;
	} trap_age[FTR_LID_MAX + 1];
	pthread_t sweeper;
	bool auto_sweep, stop_sweeper, sweeping;
	/* Used by the sweeper's thread only.  The number of Set requests of the last routing, and
	 * the numbers of blocks and entries that it changed. */
	uint32_t sets, changed_blocks, changed_entries;
	uint32_t n_sweeps;
};

/* Options of a test.  0 or NULL selects the default. */
struct fake_opts {
	const char *pgft;	/* default "3;8,2,4;1,2,2;1,1,1" */
	const char *netfile;	/* file of the fabric; replaces pgft */
	struct ftr_fabric *fabric;	/* replaces pgft; the fake takes ownership */
	const char *options;	/* lines of the option file; override the test's defaults */
	const char *engine;	/* default "dmodc" */
	const char *routing_engines;	/* default: the value of `engine` */
	ftr_ep sm;		/* host on which OpenSM runs */
	bool no_sweep_on_trap;
	ib_net64_t m_key;
	bool m_key_lookup;	/* each switch has its own M_Key */
	bool not_up;		/* fake_new makes no first sweep */
	bool real_time;		/* time is real, for tests in which a thread is never idle */
};

/* ---- time (vclock.c) ------------------------------------------------------ */

/* If a wait takes longer than this real time, the test fails. */
#define FAKE_PATIENCE_MS 1200e3

struct fake_look {
	uint64_t seen;
	double until;
	bool over;	/* all other threads wait, without a timeout */
};

/* Wait until expr is true.  Whenever all other threads wait, expr is evaluated before time
 * advances.  It may also be evaluated while they work.  Once true, expr must stay true. */
#define fake_until(expr)						\
	for (struct fake_look l_ = fake_look(); !(expr);)		\
		fake_pause(&l_)
struct fake_look fake_look(void);
/* Wait until the state may have changed.  Returns false if other threads may still be working. */
bool fake_pause(struct fake_look *l);
/* Wait until all other threads wait; time does not advance meanwhile. */
void fake_let_others_work(void);

/* The time in ms.  (ibf_now_ms() moves the virtual clock a little.) */
double fake_time(void);

/* Start OpenSM and bring the fabric up, or abort. */
struct fake *fake_new(const struct fake_opts *opts);
/* End OpenSM (osm_opensm_destroy).  Checks that all packets were returned to the pool. */
void fake_free(struct fake *h);
/* Do the first steps of OpenSM's end, up to the unloading of the plugin.  fake_free does the
 * rest. */
void fake_unload(struct fake *h);

void fake_set_fate(struct fake *h, fake_fate_fn fn, void *ctx);
/* Deliver the held answers now.  Every packet sent from now on succeeds. */
void fake_release(struct fake *h);
/* Make a heavy sweep on this thread.  Returns false if it was aborted. */
bool fake_sweep(struct fake *h);
/* Replace the option file, which the plugin reads at the beginning of each sweep.  options: lines that
 * override the test's defaults, or NULL. */
void fake_write_options(struct fake *h, const char *options);
/* Reroute like the console command "reroute", which reports only the event UCAST_ROUTING_DONE. */
bool fake_reroute(struct fake *h);
/* Start a thread that makes the requested sweeps, until fake_unload. */
void fake_auto_sweep(struct fake *h);
/* True if a heavy sweep is requested. */
bool fake_sweep_wanted(struct fake *h);
/* True if the plugin has left a trap to OpenSM, and no sweep has begun since. */
bool fake_left_to_sweep(struct fake *h);
/* Wait until the plugin has requested all sweeps that it wants, so that the next sweep is the only one.
 * Returns false if nothing is left that could request a sweep. */
bool fake_wait_wanted(struct fake *h);

/* Change the link at a switch port.  If it comes up, its ports are in Init.  Both switches
 * send traps.  A trap that cannot reach OpenSM is sent again by fake_settle, as switches do
 * until they get an answer. */
void fake_link(struct fake *h, ftr_sw s, ftr_port p, bool up);
/* Like fake_link, without traps. */
void fake_link_quietly(struct fake *h, ftr_sw s, ftr_port p, bool up);
/* Activate all links that are in Init, as an earlier manager has done. */
void fake_activate(struct fake *h);
/* Change the link of a host port, without traps.  OpenSM forgets a port that is Down at its next
 * sweep. */
void fake_host(struct fake *h, ftr_ep e, bool up);
/* Change all links from s to other switches, one by one. */
void fake_switch(struct fake *h, ftr_sw s, bool up);
/* The switch is replaced by one with another GUID.  Returns false if OpenSM knows the switch, or if the
 * next GUID is in use. */
bool fake_replace(struct fake *h, ftr_sw s);
/* Deliver a trap to OpenSM's port.  number: 128, 129, 144, ... */
void fake_trap(struct fake *h, ftr_sw s, unsigned int number);
/* True if the tables in the switches lead from s to OpenSM. */
bool fake_reaches_sm(struct fake *h, ftr_sw s);

/* Send again the traps that could not reach OpenSM before, but can now.  Returns true if there
 * were such traps. */
bool fake_repeat_traps(struct fake *h);
/* Wait until the dispatcher, the transport and the plugin's worker have nothing to do.  Traps
 * that wait for the end of a routing may remain. */
void fake_settle(struct fake *h);
/* Wait until the plugin has written its files.  fake_settle includes this. */
void fake_flush(struct fake *h);
/* Wait like fake_settle, and until no sweep is running or requested.  Needs fake_auto_sweep. */
void fake_rest(struct fake *h);
/* Wait until no link is damped. */
void fake_wait_released(struct fake *h);
void fake_set_state(struct fake *h, uint8_t sm_state);
/* The number of times that the log contains this text. */
unsigned int fake_logged(struct fake *h, const char *text);
/* The number of times that the event file contains this text. */
unsigned int fake_events(struct fake *h, const char *text);

/*
 * judge.c.  The comment of each function fake_check_* lists conditions.  The function ends the test
 * (ck_assert) if one of them does not hold.
 *
 * Conditions of fake_check_healed: the tables connect all hosts that OpenSM's port reaches over
 * Active links, and fake_check_sound holds.
 */
void fake_check_healed(struct fake *h);
/* There is no forwarding loop and no credit loop. */
void fake_check_sound(struct fake *h);
/* True if a trap of a switch has not reached OpenSM, although live links connect the two. */
bool fake_unheard(struct fake *h);
/* Every block of OpenSM's copy of the tables equals the block of the switch, or the block is
 * marked: the next sweep writes it. */
void fake_check_copy(struct fake *h);
/* Number of marked blocks of the switches that OpenSM can reach. */
uint32_t fake_marked(struct fake *h);
/* Every block of OpenSM's copy equals the switch's block. */
void fake_check_copy_clean(struct fake *h);
/* A sweep is not aborted; then fake_settle. */
void fake_check_sweep(struct fake *h);
/* A sweep changes no entry; then fake_check_healed and fake_check_copy_clean hold. */
void fake_check_quiet_sweep(struct fake *h);
/* After a repair: fake_check_healed and fake_check_copy_clean hold, the plugin requests a
 * sweep, and this sweep changes no entry. */
void fake_check_repaired(struct fake *h);
/* Like fake_check_repaired, after several faults.  Packets may have been lost on links not yet
 * known to be dead, and blocks may have been sent twice.  So the requested sweep may write
 * blocks again, but a second sweep changes no entry. */
void fake_check_repaired_in_parts(struct fake *h);
/* The number of Set requests for LFT blocks that the switches have carried out, all added up. */
uint32_t fake_count_sets(struct fake *h);
/* OpenSM's count of outstanding packets is 0. */
void fake_check_counters(struct fake *h);
/* The i-th port of s with a link to a switch of a higher rank. */
ftr_port fake_uplink(const struct fake *h, ftr_sw s, unsigned int i);
ftr_sw fake_leaf(const struct fake *h, unsigned int i);
ftr_sw fake_spine(const struct fake *h, unsigned int i);

/* ---- decisions about every event (tests/order) ---------------------------- */

/* From now on every packet waits until fake_held_go() or fake_held_lose() is called. */
void fake_control(struct fake *h, bool on);
struct fake_held {
	struct fake_packet p;
	uint64_t id, hash;	/* hash: of all that can have an effect, and of fake.cause */
	bool answer;		/* false: the request has not been carried out yet */
	bool orphan;		/* the sender has crashed */
	bool late;		/* the sender no longer waits for the answer */
};
unsigned int fake_held(struct fake *h, struct fake_held *out, unsigned int max);
void fake_held_go(struct fake *h, uint64_t id);
void fake_held_lose(struct fake *h, uint64_t id);
/* Lose all late packets. */
void fake_lose_late(struct fake *h);
pthread_t fake_wire_thread(const struct fake *h);
/* Call fn for each lock that only wire.c knows. */
void fake_own_locks(struct fake *h, void (*fn)(const void *lock));
uint64_t fake_hash(uint64_t x, const void *data, size_t n);
/* End OpenSM and start it again, on the same switches and with the same state files.  crash: the
 * process ends at once, and the caller has ended its threads.  Makes no sweep. */
void fake_restart(struct fake *h, bool crash);
/* Number of unmarked blocks of OpenSM's copy of the tables that differ from those of the switches. */
uint32_t fake_wrong(struct fake *h);

/* ---- internal to tests/fake --------------------------------------------- */

struct fake_wire *fake_wire_new(struct fake *h);
void fake_wire_free(struct fake_wire *w);
/* OpenSM has ended: of its packets, only Set requests that are on their way remain. */
void fake_wire_orphan(struct fake *h);
void fake_lock(struct fake *h);		/* the wire's mutex */
void fake_unlock(struct fake *h);
bool fake_wire_idle(struct fake *h);
/* Send OpenSM's own Set of one block, which counts as outstanding. */
void fake_send_block(struct fake *h, ftr_sw s, uint32_t block,
		     const uint8_t *data);
void fake_post(struct fake *h, cl_disp_msgid_t id, void *data,
	       cl_pfn_msgdone_cb_t done);
void fake_report(struct fake *h, osm_epi_event_id_t id, void *data);
/* Create OpenSM's structures of switch s from the current fabric. */
void fake_learn(struct fake *h, ftr_sw s);
/* Remove OpenSM's structures of switch s. */
void fake_drop(struct fake *h, ftr_sw s);
/* Remove OpenSM's structures of a host port, except those of OpenSM's own port. */
void fake_drop_host(struct fake *h, ftr_ep e);
int fake_minhop(void *ctx);
/* Take OpenSM's lock.  Only handlers of messages of OpenSM's dispatcher call this function. */
void fake_lock_osm(struct fake *h, bool exclusive);
void fake_unlock_osm(struct fake *h);
void fake_lft_answer(void *ctx, void *data);
void fake_trap_process(void *ctx, void *data);
/* Choose the clock, before any thread is started. */
void fake_clock(bool virtual);
/* Add `more` to the number of messages that the dispatcher has not handled. */
void fake_messages(int more);
/* Add `more` to the number of handlers that wait for OpenSM's lock. */
void fake_blocked(int more);
/* Called by the handler of a message of OpenSM's dispatcher.  If `is` is true, the clock counts the
 * handler as a busy thread, otherwise as a message that is not handled yet. */
void fake_as_thread(bool is);
_Noreturn void fake_fail(const char *what);

#endif
