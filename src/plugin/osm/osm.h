/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Declarations shared by the files of the plugin.
 *
 * Include order: osm_config.h precedes all other headers of OpenSM, because struct layouts
 * depend on it.
 *
 * Ownership: the plugin object lives from create to delete.  A generation is a fabric with
 * its shape and tables; it does not change once its routing is done.  The published
 * generation of an engine is the one of its last successful routing.  Other parts of the
 * plugin hold references to generations, too: the preferred tables, the search for better
 * tables, jobs of the writer, the fast path, and repairs until they are recorded.
 *
 * After a callback returns, the plugin keeps no pointer to a switch, node or port of OpenSM.
 * Generations identify these objects by GUID, LID and index.  So commit.c and mcast.c look
 * up OpenSM's switches by GUID.
 */
#ifndef IBF_OSM_H
#define IBF_OSM_H

#include <opensm/osm_config.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_multicast.h>

#include <stdatomic.h>

#include "base/base.h"
#include "osm/clock.h"
#include "osm/metrics.h"
#include "osm/msg.h"
#include "osm/name.h"
#include "osm/options.h"
#include "osm/stree.h"
#include "reroute/state.h"
#include <ftr/drain.h>
#include <ftr/engine.h>
#include <ftr/shape.h>
#include <ftr/state.h>
#include <ftr/tables.h>

#define IBF_MAX_ENGINES 8

/* The nominal fabric (all switches and links seen so far), shared by reference. */
struct ibf_nominal {
	atomic_uint refs;
	struct ftr_nominal *n;
	uint64_t id;		/* ftr_nominal_id(n) */
};

/* A fabric with its shape and tables.  Shared by reference; constant once its routing is done.  A
 * generation from a state file has only a fabric, which was complete, tables and turns. */
struct ibf_generation {
	atomic_uint refs;
	struct ftr_fabric *fabric;
	/* with the drained links, until the tables are written; NULL: `fabric` has all links */
	struct ftr_fabric *undrained;
	struct ibf_nominal *nominal;	/* was used to make the shape; may be NULL */
	struct ftr_shape *shape;
	uint8_t *mcast_able;	/* [n_sw] 1: the switch supports multicast */
	struct ftr_drain_count drained;	/* drained parts that `fabric` lacks */
	struct ibf_options options;	/* with which the tables were computed */
	/* The members below describe the routing.  Their pointers are NULL before it. */
	const char *engine;
	struct ftr_tables *tables;
	/* the preferred tables, and the tables in the switches; only during the routing */
	struct ftr_tables *prefer, *current;
	struct ftr_keep keep;
	bool makeshift;		/* the preferred tables were made for a damaged fabric */
	struct ftr_route_opts opts;
	/* The shape whose ranks, costs and groups the tables follow: `shape` or stats.routed; NULL:
	 * there is none. */
	const struct ftr_shape *routed;
	struct ftr_sl2vl *vls;	/* SL2VL tables if ddlr uses two VLs (ddlr_vls.c), else NULL */
	struct ftr_vl_pairs pairs;	/* the VLs of these tables */
	ftr_sw *sm;		/* the array to which opts.sm points; owned */
	struct ftr_turn *given;	/* [n_given] extra turns from which the engine started */
	uint32_t n_given;
	struct ftr_route_stats stats;	/* owns stats.order, stats.routed and stats.turn, to which
					 * opts.turn points */
	/* Numbers of pairs (source, LID).  The first two are those that the engine does not promise to
	 * connect; some of them may have a path. */
	uint64_t unserved_hosts;	/* from host to host */
	uint64_t unserved_mixed;	/* from host to switch, or from switch to host */
	uint64_t unserved_others;	/* max(0, pairs without a path - the first two numbers) */
	double ms[IBF_ROUTING_PHASES];	/* the durations of the last routing with these tables */
	struct ftr_tables_diff changes;	/* the entries that it changed */
	struct ftr_cdg *graph;	/* that has judged their writes, until the fast path takes it, or NULL */
	uint32_t preferred;	/* ibf_prefer.changes after this routing */
};

/* Where the preferred tables come from. */
enum ibf_stage {
	IBF_NO_ROUTING,		/* no routing as master yet, and no tables in a state file */
	IBF_ADOPTING,		/* this routing prefers tables read from the switches */
	IBF_COMPUTED,		/* the engine computed them; not searched yet */
	IBF_CONFIRMED,		/* the engine computed them; a search has found none better */
	IBF_GIVEN,		/* from the switches, a file, or an earlier search with changes
				 * since then; not searched yet */
	IBF_SEARCHED		/* a search has made them, or has found none better */
};

/* The preferred tables of an engine, see prefer.c.  Routings keep the entries of these tables.  An
 * entry is displaced if a fault forces it to another port. */
struct ibf_prefer {
	struct ibf_generation *gen;	/* its tables are the preferred ones; NULL: none */
	enum ibf_stage stage;
	uint32_t changes;	/* number of changes of gen */
	uint64_t nominal;	/* identity of the nominal fabric in the last routing */
	struct ibf_search *search;	/* running search, or NULL */
	struct ibf_search *better;	/* a search that has found better tables, or NULL */
	/* The last read of the tables of all switches (adopt.c): blocks requested, not answered */
	uint64_t blocks, unanswered;
	double read_ms;
	struct ftr_displaced *entry;	/* [n_entries] displaced entries */
	uint32_t n_entries;
	bool new_displaced;	/* displaced entries have changed since the last search */
	unsigned int failures;	/* number of searches that have failed in succession */
	double retry;		/* no search before this time, as a value of ibf_now_ms() */
};

struct ibf_engine {
	struct ibf_plugin *plugin;
	const struct ftr_engine_ops *ops;
	const void *host;	/* OpenSM's struct osm_routing_engine of this engine */
	struct ibf_generation *gen;	/* published generation; NULL: none yet */
	struct ibf_generation *complete;	/* last published routing of a complete fabric;
						 * NULL: none yet */
	struct ibf_generation *whole;	/* last published routing without drained links; NULL: none yet */
	struct ibf_prefer prefer;
	bool gen_stale;		/* a sweep has begun since gen was made */
	char vls_text[FTR_ERR_MAX];	/* the last choice of VLs that was logged, or "" */
	char refusal[FTR_ERR_MAX];	/* why the engine does not route; "": it routes, or was
					 * not called yet */
	struct ibf_stree *stree;	/* builds multicast trees for gen; may be NULL */
	uint32_t n_trees;	/* trees built since the last message IBF003 */
	double trees_ms;
};

struct ibf_drain;	/* drain.h */
struct helper;		/* helper/helper.h */
struct ibf_fast;
struct ibf_smp;		/* transport.h */
struct ibf_writer;	/* writer.h */
struct rr_repair;
struct ibf_status;

struct ibf_plugin {
	struct osm_opensm *osm;
	struct ibf_writer *writer;	/* NULL: no file is written */
	struct ibf_fast *fast;	/* NULL: no fast path */
	struct ibf_smp *smp;	/* transport of the fast path; NULL: no fast path */
	struct ibf_status *status;	/* NULL: no status files, or no memory */
	atomic_ulong helper_failures;	/* number of failures of processes (helper/helper.h) */
	struct ibf_nominal *nominal;	/* NULL: not known yet */
	/* The state file has the present state of this engine, or its write is queued.  NULL: the
	 * state has changed. */
	const struct ibf_engine *stored;
	struct ibf_options opt;	/* in use; after the start only the sweeper's thread reads and
				 * changes them */
	struct ibf_options read;	/* in the file when it was read last without an error */
	char options_error[FTR_ERR_MAX];	/* of the last read, or "" */
	struct ftr_guids roots, cn, io;	/* owned; last read from OpenSM's GUID files */
	struct ftr_team *team;
	bool team_tried;	/* the plugin has tried to start the team's threads */
	bool cache_warned;	/* IBF104 was logged */
	bool swept;		/* a heavy sweep has begun */
	char *options;		/* path of the options; NULL: option "observe", or no memory */
	struct ibf_drain *drain;	/* NULL: no part is drained */
	bool routing_done;	/* a routing was done since the last sweep began */
	bool lft_known;		/* this manager has routed as master, so OpenSM knows the tables of
				 * the switches */
	bool own_reroute;	/* ibf_request_reroute was called since the last sweep began */
	double unordered_at;	/* ibf_now_ms() when the plugin left entries of a routing to OpenSM, which
				 * has not written them yet; 0: it has left none */
	bool remain;		/* entries were not replaced because a switch did not answer; the next
				 * sweep replaces them */
	struct ibf_generation *ranked;	/* the last routing; NULL: none yet */
	uint32_t idle_links;	/* number of links that the last snapshot left out because they are
				 * not Active yet */
	bool use_idle;		/* snapshots do not leave out these links */
	bool in_use;		/* the switches may have carried packets at the last snapshot */
	/* The engine that made the last routing; NULL: not an engine of this plugin. */
	struct ibf_engine *routed;
	unsigned int n_engines;
	struct ibf_engine engine[IBF_MAX_ENGINES];
};

/* Any thread may call this, without a lock. */
static inline bool ibf_is_master(const struct ibf_plugin *p)
{
	return __atomic_load_n(&p->osm->subn.sm_state, __ATOMIC_RELAXED) == IB_SMINFO_STATE_MASTER;
}

/* OpenSM's switch with this node GUID; NULL: none.  The caller holds OpenSM's lock. */
static inline osm_switch_t *ibf_host_switch(const struct ibf_plugin *p,
					    uint64_t guid)
{
	return osm_get_switch_by_guid(&p->osm->subn, cl_hton64(guid));
}

/* The same, if OpenSM has both tables of the switch, with an entry for the LID. */
static inline osm_switch_t *ibf_host_table(const struct ibf_plugin *p, uint64_t guid, uint32_t lid)
{
	osm_switch_t *sw = ibf_host_switch(p, guid);

	return sw && sw->lft && sw->new_lft && lid < sw->lft_size ? sw : NULL;
}

/* The directory of OpenSM's option dump_files_dir. */
static inline const char *ibf_dump_dir(const struct ibf_plugin *p)
{
	const char *dir = p->osm->subn.opt.dump_files_dir;

	return dir ? dir : "/var/log";
}

/* Write a line of the form "ibfattree: [ERR |WRN ]IBFnnn: ..." to OpenSM's log. */
void ibf_log(struct ibf_plugin *p, enum ibf_msg msg, const char *fmt, ...)
	FTR_PRINTF(3, 4);

/* layout.c.  ibf_layout_fits returns false if the plugin was compiled for another layout of
 * OpenSM's structures; `why` then names the first pointer with an unexpected value.
 * ibf_layout_refuse writes `why` to syslog, because OpenSM's log cannot be used then. */
bool ibf_layout_fits(const struct osm_opensm *osm, char *why, size_t size);
void ibf_layout_refuse(const char *why);

/* host_engine.c: the callback that OpenSM calls to set up an engine.  re->context is the struct
 * ibf_engine. */
int ibf_engine_setup(struct osm_routing_engine *re, struct osm_opensm *osm);

/* prepare.c: make a generation with fabric, but without shape and tables; then add its shape.  Logs
 * failures; ibf_generation_shape then drops gen.  The caller holds OpenSM's exclusive lock. */
enum ftr_status ibf_generation_new(struct ibf_engine *e,
				   struct ibf_generation **out,
				   struct ftr_err *err) FTR_MUST_USE;
enum ftr_status ibf_generation_shape(struct ibf_engine *e, struct ibf_generation *gen,
				     struct ftr_err *err) FTR_MUST_USE;
/* Log err as the reason why the engine does not route; returns err->status. */
enum ftr_status ibf_refuse(struct ibf_engine *e, enum ibf_msg msg,
			   const struct ftr_err *err);
/* The threads that compute routes, started at the first call.  NULL: the calling thread
 * computes alone. */
struct ftr_team *ibf_team(struct ibf_plugin *p);

/* generation.c.  Publish gen (or NULL) as the engine's generation; takes ownership of the
 * caller's reference. */
void ibf_engine_publish(struct ibf_engine *e, struct ibf_generation *gen);
/* True if the fabrics are equal, including names and LIDs. */
bool ibf_same_fabric(const struct ftr_fabric *a, const struct ftr_fabric *b);
/* True if all switches of the nominal fabric and all links between them are present. */
bool ibf_is_complete(const struct ibf_generation *gen);
/* Take or drop a reference to gen; the last drop frees gen.  NULL is accepted. */
struct ibf_generation *ibf_generation_get(struct ibf_generation *gen);
void ibf_generation_put(struct ibf_generation *gen);
/* The shape of the nominal fabric of gen; NULL: there is none. */
const struct ftr_shape *ibf_nominal_shape(const struct ibf_generation *gen);
/* True if an engine of OpenSM or of another plugin made the last routing.  The caller holds
 * OpenSM's lock, or is the sweeper's thread. */
bool ibf_other_routed(const struct ibf_plugin *p);

/* snapshot.c: copy OpenSM's subnet into a fabric, and log contradictions in OpenSM's data.  The caller
 * holds OpenSM's exclusive lock. */
enum ftr_status ibf_snapshot(struct ibf_plugin *p, struct ftr_fabric **out,
			     struct ftr_err *err) FTR_MUST_USE;

/* state_store.c: add the new parts of f to the nominal fabric.  If there is no nominal fabric yet,
 * read it from a state file, with the preferred tables of an engine.  Returns the nominal fabric,
 * with a reference for the caller; NULL: there is none. */
struct ibf_nominal *ibf_nominal_for(struct ibf_plugin *p,
				    const struct ftr_fabric *f,
				    const struct ftr_shape_opts *opts);
/* Drop a reference to n; NULL is accepted. */
void ibf_nominal_put(struct ibf_nominal *n);
/* Forget the nominal fabric; the next ibf_nominal_for reads the state file again. */
void ibf_nominal_forget(struct ibf_plugin *p);
/* Called after e has routed gen: if the state has changed, queue a write of the state file. */
void ibf_state_store(struct ibf_engine *e, const struct ibf_generation *gen);

/* guid_options.c: read OpenSM's GUID files, and let `out` point to the lists, which belong to
 * the plugin. */
void ibf_guids_read(struct ibf_plugin *p, struct ftr_shape_opts *out);
/* Let `out` point to the lists that were read last. */
void ibf_guids_current(const struct ibf_plugin *p, struct ftr_shape_opts *out);
void ibf_guids_free(struct ibf_plugin *p);
/* Log a warning if root_guid_file names no switch of the fabric, or not all top switches. */
void ibf_roots_report(struct ibf_plugin *p, const struct ftr_shape *sh);

/* verify.c: check the computed tables, and set the numbers of unserved pairs.  FTR_REFUSED: they must not be used; err
 * says why. */
enum ftr_status ibf_verify(struct ibf_engine *e, struct ibf_generation *gen,
			   struct ftr_err *err) FTR_MUST_USE;

/* prefer.c.  Called before gen is routed: set gen->prefer, gen->current and gen->keep. */
enum ftr_status ibf_prefer(struct ibf_engine *e, struct ibf_generation *gen,
			   struct ftr_err *err) FTR_MUST_USE;
/* True if a routing of the fabric of gen, an earlier generation, would prefer the same tables now as
 * when gen was routed. */
bool ibf_prefer_same(struct ibf_engine *e, const struct ibf_generation *gen);
/* Called after gen was routed, perhaps again.  Its tables become the preferred tables if there are none yet,
 * or if its fabric is complete.  Notes the displaced entries. */
void ibf_prefer_routed(struct ibf_engine *e, struct ibf_generation *gen);
/* Take over the preferred tables of s, which belong to the nominal fabric n, from s. */
void ibf_prefer_restore(struct ibf_engine *e, struct ibf_nominal *n, struct ftr_state *s);
/* Called when a sweep is done: start a search for better tables if one is due. */
void ibf_prefer_search(struct ibf_engine *e);
/* Drop the preferred tables and end the search. */
void ibf_prefer_drop(struct ibf_engine *e);

/* search.c: a process searches for better tables of gen.  displaced: search for better ports of
 * displaced entries only.  NULL: not started. */
struct ibf_search {
	struct ibf_engine *e;
	struct ibf_generation *gen;
	bool displaced;
	/* The members below are the result.  They are valid when ibf_search_done() returns true. */
	enum ftr_status status;
	struct ftr_err err;
	struct ftr_tables *t;
	struct ftr_balance_report balance;
	bool replaced;		/* the tables were computed from scratch, because those of
				 * gen were behind */
	double ms;
	/* Used by search.c only. */
	struct helper *helper;	/* NULL: the process did not start */
	pthread_t thread;
	atomic_bool cancel, done;
};

struct ibf_search *ibf_search_start(struct ibf_engine *e, struct ibf_generation *gen,
				    bool displaced);
/* True if the thread of the search has ended, or will end without waiting. */
bool ibf_search_done(const struct ibf_search *z);
/* True if the search, which has not failed, has found tables that should replace those of gen. */
bool ibf_search_found(const struct ibf_search *z);
/* Wait for the end of the thread.  `cancel` ends the search early. */
void ibf_search_join(struct ibf_search *z, bool cancel);
/* Free a search whose thread was joined; NULL is accepted. */
void ibf_search_free(struct ibf_search *z);

/* adopt.c: read the forwarding tables of the switches of f, with the transport p->smp.  If a
 * request for a block is not answered, the entries of the block are empty.  Sets the numbers of the last
 * read in e->prefer.  The caller holds OpenSM's lock. */
enum ftr_status ibf_adopt(struct ibf_engine *e, const struct ftr_fabric *f, struct ftr_tables **out,
			  struct ftr_err *err) FTR_MUST_USE;
/* Called after the routing: log how many of the entries that were read are unchanged in the new
 * tables. */
void ibf_adopt_report(struct ibf_engine *e, const struct ibf_generation *gen);

/* transition.c: write the tables of gen, which ibf_commit has copied, to the switches in a checked
 * order, and log the result.  The caller holds OpenSM's exclusive lock.  It is released during the
 * writes, and held again on return. */
void ibf_transition(struct ibf_engine *e, struct ibf_generation *gen);
/* without_loop.c.  Compute tables without a credit loop from those in use.  `new` has none.
 * FTR_REFUSED: that takes more than half of the time limit. */
enum ftr_status ibf_without_loop(struct ibf_plugin *p, const struct ftr_fabric *f,
				 const struct ftr_tables *now, const struct ftr_tables *new,
				 struct ftr_tables **out, struct ftr_err *err);
/* OpenSM has written the tables of the last routing: log the time if ibf_transition left entries
 * to it.  Returns true if entries remain for another sweep. */
bool ibf_transition_over(struct ibf_plugin *p);

/* commit.c: copy all tables to OpenSM's new_lft, or none on failure.  write: false to count
 * the changes only. */
enum ftr_status ibf_commit(struct ibf_plugin *p, const struct ftr_fabric *f,
			   const struct ftr_tables *t, bool write,
			   struct ftr_tables_diff *changes,
			   struct ftr_err *err) FTR_MUST_USE;
/* True if a switch has another rank in the tables of gen than in those of the last call, or if the
 * ranks of gen are not known.  Keeps a reference to gen until the next call. */
bool ibf_ranks_differ(struct ibf_plugin *p, struct ibf_generation *gen);

/* mcast.c: the callback that OpenSM calls to build the tree of an MLID; ctx is the struct
 * ibf_engine. */
ib_api_status_t ibf_mcast_build_stree(void *ctx, osm_mgrp_box_t *mbox);

/* fast.c: set up the fast path.  NULL: this failed; the reason is logged, except lack of
 * memory.  The functions below accept f == NULL. */
struct ibf_fast *ibf_fast_new(struct ibf_plugin *p);
void ibf_fast_free(struct ibf_fast *f);		/* joins the worker */
/*
 * The sweeper's thread calls these functions in this order in each sweep, without a lock:
 *
 *  sweep_start	a heavy sweep begins
 *  discovered	the discovery is over; the function may wait until a write of the fast
 *		path has ended
 *  routed	the switches have the tables of gen; gen NULL: another engine routed, or
 *		OpenSM routed from its unicast cache
 */
void ibf_fast_sweep_start(struct ibf_fast *f);
void ibf_fast_discovered(struct ibf_fast *f);
void ibf_fast_routed(struct ibf_fast *f, struct ibf_generation *gen);
/* Post RR_EV_ROUTING (with OpenSM's exclusive lock held), RR_EV_SUBNET_UP or RR_EV_STANDBY. */
void ibf_fast_post(struct ibf_fast *f, enum rr_event_kind kind);
/* Wait until a write of the fast path has ended, at most 5 s.  Returns the times of the last writes.
 * The caller does not hold OpenSM's lock.  f is not NULL. */
struct rr_written ibf_fast_wait(struct ibf_fast *f);
/* True if traps wait for the end of the routing.  f is not NULL. */
bool ibf_fast_has_traps(struct ibf_fast *f);
/* Tables of a routing have been written.  proved: see struct rr_written.  changed: [n] 1: entries for
 * this LID.  f is not NULL. */
void ibf_fast_written(struct ibf_fast *f, bool proved, const uint8_t *changed, uint32_t n);
/* Store the numbers of changes of a routing.  OpenSM's exclusive lock is held. */
void ibf_fast_changed(struct ibf_fast *f, const struct ftr_tables_diff *c);
/* ddlr_vls.c: decide how many VLs ddlr uses with the tables of gen.  The caller holds OpenSM's
 * exclusive lock. */
void ibf_ddlr_vls(struct ibf_engine *e, struct ibf_generation *gen);
/* The callback update_sl2vl of OpenSM; context is the struct ibf_engine. */
void ibf_ddlr_sl2vl(void *context, osm_physp_t *p, uint8_t in, uint8_t out,
		     ib_slvl_table_t *t);

/* fast.c: true if a routing must not use this link.  active: both ports are Armed or Active. */
bool ibf_fast_left_out(struct ibf_fast *f, const struct rr_ends *e, bool active);

/*
 * status_file.c: metrics and status files.  ibf_status_new returns NULL if memory is exhausted;
 * the other functions then do nothing.  The functions ibf_status_NAME record an event, or write
 * the files:
 *
 *  routed	a routing is done (OpenSM's exclusive lock is held)
 *  count	a sweep begins, or a routing is refused (OpenSM's exclusive lock is held)
 *  engine	an engine has routed, or an engine of this plugin has failed
 *  repair	a repair is done
 *  write	write the files; gen: the routing in use, or NULL
 */
struct ibf_status *ibf_status_new(void);
void ibf_status_free(struct ibf_status *s);
/* Increment a counter: sweeps or refusals.  counter: its offset in struct ibf_metrics. */
void ibf_status_count(struct ibf_plugin *p, size_t counter);
void ibf_status_routed(struct ibf_plugin *p, const struct ibf_generation *gen);
/* used: name of the engine that has routed; "": an engine of this plugin has failed, and no other
 * has routed yet.  ours: the engine `used` belongs to this plugin.  reason: why an engine of this
 * plugin has failed or was passed over in routing_engine; "": there is no such engine. */
void ibf_status_engine(struct ibf_plugin *p, const char *used, bool ours,
		       const char *reason);
void ibf_status_repair(struct ibf_plugin *p, const struct rr_repair *r);
/* Set the drained parts; life: packet lifetime, in milliseconds; error: why the present file is not
 * used.  Writes the files. */
void ibf_status_drains(struct ibf_plugin *p, const struct ftr_drains *d, uint64_t written,
		       double life, const char *error);
void ibf_status_write(struct ibf_plugin *p, const struct ibf_generation *gen);

/* ca_order.c: queue a job that writes the host order of gen's shape. */
void ibf_ca_order_write(struct ibf_engine *e, struct ibf_generation *gen);

#endif
