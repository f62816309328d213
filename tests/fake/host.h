/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A fake OpenSM over a fake fabric: what the plugin is loaded into by tests.
 *
 *	host.c	the symbols of OpenSM that the plugin imports, its structures
 *		filled from a struct ftr_fabric, life and death of the plugin
 *	wire.c	the fabric: cables and their states, switches with their own
 *		tables, which answer directed-route packets; one transport
 *		thread, as the vendor layer has; every packet's fate is the
 *		test's
 *	sweep.c	what OpenSM does in a heavy sweep and in a forced reroute, in
 *		its order, with its locks and its bookkeeping of tables
 *	judge.c	is the fabric healed, and is OpenSM's copy true?
 *
 * The structures and the dispatcher are OpenSM's own (libosmcomp).  What is
 * copied of its behaviour is that of 3.3.23; the functions that are followed are
 * named beside each piece.
 *
 * Threads.  The test's thread is OpenSM's sweeper, unless fake_auto_sweep runs
 * one; the dispatcher has two; the transport has one; the plugin has its own.
 * Nothing sleeps for a fixed time to let others go on: fake_settle waits until
 * there is nothing left to do, and aborts if that takes a minute.
 */
#ifndef FTR_FAKE_HOST_H
#define FTR_FAKE_HOST_H

#include "osm/fast.h"
#include <ftr/gen.h>

struct fake;

/* ---- the fate of a packet ----------------------------------------------- */

struct fake_packet {
	bool plugin;		/* of the plugin, else OpenSM's */
	bool set;		/* Set(LinearForwardingTable), else Get(PortInfo) */
	uint32_t mod;		/* block or port */
	unsigned int copy;	/* 0: the first, else retries of the transport */
	uint32_t number;	/* of this sender, from 0; copies share it */
	ftr_sw to;		/* where its route ends; NONE: at a dead cable */
};

struct fake_fate {
	bool lose_request, lose_answer;
	bool refuse;		/* the transport refuses to send it */
	bool to_host;		/* its loss is told to OpenSM, not to its sender */
	unsigned int copies;	/* answers that come once more */
	uint16_t status;	/* of the answer, host order */
	uint32_t lie;		/* not 0: its data are noise made from this */
	bool lie_header;	/* and so is what the answer is about */
	bool ignore;		/* a Set is acknowledged, but not carried out */
	double delay_ms;	/* before it is carried out */
	double back_ms;		/* before its answer arrives */
	bool hold;		/* ... which waits for fake_release */
};

/* Called under the wire's mutex, by any thread; NULL: all is well. */
typedef void (*fake_fate_fn)(void *ctx, const struct fake_packet *p,
			     struct fake_fate *fate);

/* ---- moments of a sweep ------------------------------------------------- */

enum fake_moment {
	FAKE_SWEEP_BEGINS,	/* after HEAVY_SWEEP_START */
	FAKE_DISCOVERING,	/* half of the switches have been read */
	FAKE_DISCOVERED,	/* all have been read, nothing has been told */
	FAKE_BEFORE_ROUTING,	/* after HEAVY_SWEEP_DONE and drop manager */
	FAKE_LOCKED,		/* lock held, no engine asked */
	FAKE_ROUTING,		/* engine done, lock held, nothing sent */
	FAKE_PUSHING,		/* lock released, packets on the wire */
	FAKE_ROUTED,		/* before UCAST_ROUTING_DONE */
	FAKE_LINKS,		/* after it, before ports are made Active */
	FAKE_SWEEP_ENDS,	/* before SUBNET_UP */
	FAKE_N_MOMENTS
};

typedef void (*fake_moment_fn)(void *ctx, struct fake *h, enum fake_moment m);

/* ---- the host ----------------------------------------------------------- */

struct fake_sw {
	uint8_t *lft;		/* [FTR_LID_MAX + 1], what the switch holds */
	ib_net64_t m_key;	/* 0: takes any */
	bool silent;		/* answers nothing */
	bool changed;		/* PortStateChange */
	bool unheard;		/* its trap has not reached OpenSM */
	/* as OpenSM found it at its last discovery */
	struct rr_dr route;
	uint32_t n_sets;	/* of tables that it has carried out */
};

struct fake_wire;

struct fake {
	osm_opensm_t *osm;
	struct ftr_fabric *fab;	/* all cabling there can be */
	const struct ftr_shape *sh;	/* of it, whole */
	struct fake_wire *wire;
	struct fake_sw *sw;	/* [fab->n_sw] under the wire's mutex */
	uint8_t *link;		/* [fab->n_ports] port states, likewise; those
				 * of a cable's two ends are the same */
	osm_node_t **sw_node, **ep_node;
	osm_port_t **sw_port, **ep_port;
	osm_switch_t **osw;	/* [fab->n_sw] OpenSM's; NULL: not known */
	ftr_ep sm;		/* OpenSM's port */
	void *plugin;		/* plugin's data; NULL after fake_unload */
	struct ibf_fast *fast;	/* of the plugin, or NULL */
	char dir[64];
	struct osm_routing_engine minhop;	/* the stock one */
	cl_disp_reg_handle_t lft_disp, poster;

	fake_moment_fn moment;
	void *moment_ctx;
	bool fail_routing;	/* the stock engine fails, too */

	pthread_mutex_t mutex;	/* guards the rest */
	pthread_cond_t cond;
	char *log;
	size_t log_size;
	int pool_out;		/* wrappers taken and not put back */
	unsigned int signals;	/* osm_sm_signal(SWEEP) not yet heard */
	unsigned int posted;	/* messages the dispatcher has not done yet */
	unsigned int reported;	/* traps reported to plugins */
	bool own_sweep;		/* to come, for a trap the plugin left to it */
	struct {
		uint32_t n;
		double last;
	} trap_age[FTR_LID_MAX + 1];
	pthread_t sweeper;
	bool auto_sweep, stop_sweeper, sweeping;
	/* of the last routing */
	uint32_t sets, changed_blocks, changed_entries;
	uint32_t n_sweeps;
};

/* What differs between tests; zero: the default that is told. */
struct fake_opts {
	const char *pgft;	/* "3;8,2,4;1,2,2;1,1,1" */
	const char *netfile;	/* the fabric, instead of pgft */
	struct ftr_fabric *fabric;	/* consumed; in place of pgft */
	const char *options;	/* lines for the option file, later ones stand
				 * in for the test's defaults */
	const char *engine;	/* "dmodc" */
	const char *routing_engines;	/* engine */
	ftr_ep sm;		/* host that OpenSM runs on */
	bool no_sweep_on_trap;
	ib_net64_t m_key;
	bool m_key_lookup;	/* switches have keys of their own */
	bool not_up;		/* no first sweep */
};

/* A running OpenSM whose fabric is up, or abort. */
struct fake *fake_new(const struct fake_opts *opts);
/* OpenSM's end (osm_opensm_destroy); checks that all packets are back. */
void fake_free(struct fake *h);
/* OpenSM's end up to the point where the plugin is gone. */
void fake_unload(struct fake *h);

void fake_set_fate(struct fake *h, fake_fate_fn fn, void *ctx);
/* Answers that are held arrive now, and no fate is told any more. */
void fake_release(struct fake *h);
/* The heavy sweep, on this thread.  False: it gave up on its way. */
bool fake_sweep(struct fake *h);
/* Console command "reroute": no events but the last. */
bool fake_reroute(struct fake *h);
/* Sweeps by itself whenever it is asked to, until fake_unload. */
void fake_auto_sweep(struct fake *h);
/* OpenSM has been asked for a heavy sweep. */
bool fake_sweep_wanted(struct fake *h);
/* A trap came that the plugin did not take, and no sweep has begun since. */
bool fake_left_to_sweep(struct fake *h);
bool fake_wait_wanted(struct fake *h);	/* ... within a minute */

/* Changes of the cable at a switch port.  Up: its ports come up in Init.
 * Traps are sent by both switches; one whose way to OpenSM is broken is sent
 * again by fake_settle, as switches do until they are answered. */
void fake_link(struct fake *h, ftr_sw s, ftr_port p, bool up);
void fake_link_quietly(struct fake *h, ftr_sw s, ftr_port p, bool up);
/* All cables to other switches, one after the other. */
void fake_switch(struct fake *h, ftr_sw s, bool up);
/* A trap that has reached OpenSM's port; number 128, 129, 144, ... */
void fake_trap(struct fake *h, ftr_sw s, unsigned int number);
/* Does the switches' own routing lead from s to OpenSM? */
bool fake_reaches_sm(struct fake *h, ftr_sw s);

/* Traps that could not reach OpenSM, if they can now; true: there were some. */
bool fake_repeat_traps(struct fake *h);
/* Until the dispatcher, the transport and the plugin's worker have nothing to
 * do (traps that wait for the end of a routing may be left). */
void fake_settle(struct fake *h);
/* Until the plugin has written its files; fake_settle does it, too. */
void fake_flush(struct fake *h);
/* With fake_auto_sweep: the same, and no sweep is under way or wanted. */
void fake_rest(struct fake *h);
/* Until no link is damped. */
void fake_wait_released(struct fake *h);
void fake_set_state(struct fake *h, uint8_t sm_state);
/* How many times the log holds this text. */
unsigned int fake_logged(struct fake *h, const char *text);
/* The same of the event file. */
unsigned int fake_events(struct fake *h, const char *text);

/* judge.c.  Each aborts the test (ck_assert) with what it found. */
void fake_check_healed(struct fake *h);
/* The same where an engine has ways that are not up, then down, too. */
void fake_check_connected(struct fake *h);
/* Nothing goes round, neither packets nor credits. */
void fake_check_sound(struct fake *h);
/* Has a switch something to tell, and its tables do not lead to OpenSM?  Not one
 * that no cable leads to. */
bool fake_unheard(struct fake *h);
/* Every block of OpenSM's copy is the switch's, or will be written. */
void fake_check_copy(struct fake *h);
/* Blocks that the next sweep writes because of that. */
uint32_t fake_marked(struct fake *h);
/* All of it is the switch's. */
void fake_check_copy_clean(struct fake *h);
/* Sweep, which must change no entry, and then all of the above. */
void fake_check_quiet_sweep(struct fake *h);
/* A repair is done: healed, OpenSM's copy is the switches', it asks for a
 * sweep, and that sweep is quiet. */
void fake_check_repaired(struct fake *h);
/* The same of faults that came one by one: packets may have been lost on cables
 * that nobody knew to be dead, and what was sent twice is written again. */
void fake_check_repaired_in_parts(struct fake *h);
/* OpenSM's count of its packets is right: there are none. */
void fake_check_counters(struct fake *h);
/* Ports for tests: the i-th cable of s to another switch; up: to a higher
 * rank. */
ftr_port fake_uplink(const struct fake *h, ftr_sw s, unsigned int i);
ftr_sw fake_leaf(const struct fake *h, unsigned int i);
ftr_sw fake_spine(const struct fake *h, unsigned int i);

/* ---- between the files -------------------------------------------------- */

struct fake_wire *fake_wire_new(struct fake *h);
void fake_wire_free(struct fake_wire *w);
void fake_lock(struct fake *h);		/* the wire's mutex */
void fake_unlock(struct fake *h);
bool fake_wire_idle(struct fake *h);
/* OpenSM's own Set of one block; counted as outstanding. */
void fake_send_block(struct fake *h, ftr_sw s, uint32_t block,
		     const uint8_t *data);
void fake_post(struct fake *h, cl_disp_msgid_t id, void *data,
	       cl_pfn_msgdone_cb_t done);
void fake_report(struct fake *h, osm_epi_event_id_t id, void *data);
/* OpenSM's structures of switch s from the fabric as it is; and gone. */
void fake_learn(struct fake *h, ftr_sw s);
void fake_drop(struct fake *h, ftr_sw s);
int fake_minhop(void *ctx);
void fake_lft_answer(void *ctx, void *data);
void fake_trap_process(void *ctx, void *data);
_Noreturn void fake_fail(const char *what);

#endif
