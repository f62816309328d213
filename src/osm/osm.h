/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Declarations shared by the files of the plugin.
 *
 * Include order: osm_config.h precedes all other headers of OpenSM, because struct layouts
 * depend on it.
 *
 * Ownership: the plugin object lives from create to delete.  A generation is a fabric with
 * its shape and tables; it is immutable once its routing is done.  Each engine holds at
 * most one published generation.  While the engine routes, it also holds the generation
 * under construction.  Other parts of the plugin hold references of their own: the
 * preferred tables, the search for better tables, jobs of the writer, the fast path, and
 * repairs until they are recorded.
 *
 * After a callback returns, no pointer to a switch, node or port of OpenSM is kept.
 * Generations identify these objects by GUID, LID and index.  The code in commit.c and
 * mcast.c looks up switches again.
 */
#ifndef IBF_OSM_H
#define IBF_OSM_H

#include <opensm/osm_config.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_event_plugin.h>
#include <opensm/osm_multicast.h>

#include <stdatomic.h>

#include "core/core.h"
#include "osm/clock.h"
#include "osm/msg.h"
#include "osm/name.h"
#include "osm/options.h"
#include "osm/stree.h"
#include "reroute/state.h"
#include <ftr/engine.h>
#include <ftr/nominal.h>
#include <ftr/shape.h>
#include <ftr/tables.h>

#define IBF_MAX_ENGINES 8

/* Contradictions that a snapshot has found in OpenSM's data; one warning reports them all. */
struct ibf_skips {
	uint32_t n;
	char first[192];
};

/* The nominal fabric, shared by reference. */
struct ibf_nominal {
	atomic_uint refs;
	struct ftr_nominal *n;
};

/* A fabric with its shape and tables.  Shared by reference; immutable once its routing is done. */
struct ibf_generation {
	atomic_uint refs;
	struct ftr_fabric *fabric;
	struct ibf_nominal *nominal;	/* the shape was made from it; may be NULL */
	struct ftr_shape *shape;
	uint8_t *mcast_able;	/* [n_sw] 1: the switch supports multicast */
	/* The members below describe the routing; their pointers are NULL if there was none. */
	const char *engine;
	struct ftr_tables *tables;
	/* Both are valid only during the routing, see prefer.c. */
	struct ftr_tables *prefer, *current;
	struct ftr_keep keep;
	bool makeshift;		/* the preferred tables are those of a damaged fabric */
	struct ftr_route_opts opts;
	uint8_t *order;		/* [n_sw] level of each switch in the up/down order; not set if
				 * there is no such order of at most 255 levels */
	/* The tables follow this shape exactly: `shape`, `own` or NULL (none). */
	const struct ftr_shape *routed;
	struct ftr_shape *own;	/* shape with the engine's own order of switches, or NULL */
	struct ftr_sl2vl *vls;	/* SL2VL tables of ddlr's turn bit; NULL: not in use */
	ftr_sw *sm;		/* owned; opts.sm points to it */
	struct ftr_turn *turn;	/* owned; opts.turn points to it: extra turns of the tables */
	struct ftr_turn *given;	/* [n_given] extra turns from which the engine started */
	uint32_t n_given;
};

/* Tables that an engine has computed, its options and its statistics. */
struct ibf_routes {
	struct ftr_tables *t;
	struct ftr_route_opts opts;
	struct ftr_route_stats stats;	/* owns stats.order and stats.turn */
	ftr_sw *sm;		/* owned; opts.sm points to it */
	struct ftr_turn *given;	/* owned; opts.turn points to it: extra turns from which the
				 * engine starts */
};

/* Durations in milliseconds. */
struct ibf_timing {
	double snapshot, shape, route, check, commit;
};

/* Numbers of (source, LID) pairs that are not served.  `hosts` and `mixed` count the pairs that the
 * engine does not promise to connect, some of which may have a path. */
struct ibf_unserved {
	uint64_t hosts;		/* host to host */
	uint64_t apart;		/* those counted in `hosts` that are not physically connected */
	uint64_t mixed;		/* host to switch, switch to host */
	uint64_t others;	/* pairs without a path, minus hosts + mixed; at least 0 */
};

/* Numbers of entries and blocks that a routing changes, and of switches with such entries. */
struct ibf_changes {
	uint64_t entries, blocks;
	uint32_t switches;
};

/* Result of reading the tables of the switches, see adopt.c. */
struct ibf_adopted {
	uint64_t blocks;	/* requested */
	uint64_t failed;	/* not answered */
	double ms;
};

/* The preferred tables of an engine, and the search for better tables, see prefer.c. */
struct ibf_prefer {
	/* The preferred tables are those of gen, or `stored` if they were read from a file.
	 * Both NULL: there are none. */
	struct ibf_generation *gen;
	struct ftr_stored *stored;
	uint64_t nominal;	/* identity of the nominal fabric of the preferred tables */
	/* `better`: tables that a search has found for the fabric of better_of. */
	struct ftr_tables *better;
	struct ibf_generation *better_of;
	struct ibf_search *search;	/* running search, or NULL */
	bool for_displaced;	/* `better` changes displaced entries only */
	bool new_displaced;	/* displaced entries have changed since the last search */
	bool searching;		/* a search for this fabric was started, or its result was read
				 * from a file */
	bool searched;		/* a search for this fabric has succeeded */
	bool improved;		/* the preferred tables come from a search, a file or the
				 * switches */
	bool was_read;		/* the state files were read */
	/* The state file was removed because the nominal fabric grew, and is not written yet. */
	bool removed_preferred, removed_displaced;
	bool adopting;		/* this routing prefers tables read from the switches */
	struct ibf_adopted adopted;
	struct ftr_displaced *entry;	/* [n_entries] displaced entries in the state file, or
					 * queued for it */
	uint32_t n_entries;
};

struct ibf_engine {
	struct ibf_plugin *plugin;
	const struct ftr_engine_ops *ops;
	const void *host;	/* OpenSM's struct osm_routing_engine for this engine */
	struct ibf_generation *gen;	/* published generation; NULL: none yet */
	struct ibf_generation *complete;	/* last published routing of a complete fabric;
						 * NULL: none yet */
	struct ibf_prefer prefer;
	bool gen_stale;		/* a sweep has begun since gen was made */
	bool took_over;		/* takeover.c has replaced the tables in the switches, or tried
				 * to */
	bool turn_bit;		/* ddlr: the turn bit is in use */
	bool reported_vls;	/* ddlr: the use of VLs was logged */
	char refusal[FTR_ERR_MAX];	/* why the engine does not route; "": it routes, or was
					 * not called yet */
	struct ibf_stree *stree;	/* builds multicast trees for gen; may be NULL */
	uint32_t n_trees;	/* trees built since the last message IBF003 */
	double trees_ms;
};

/* As last read from the file. */
struct ibf_guids {
	uint64_t *guid;		/* [n]; NULL: no list was read */
	uint32_t n;
	char *path;
};

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
	struct ibf_nominal *nominal;	/* NULL: not known yet */
	struct ibf_options opt;
	struct ibf_guids roots, cn, io;
	struct ftr_team *team;
	bool team_tried;	/* the plugin has tried to start the team's threads */
	bool cache_warned;	/* IBF104 was logged */
	bool swept;		/* a heavy sweep has begun */
	bool routing_done;	/* a routing was done since the last sweep began */
	/* The engine that made the last routing; NULL: none of this plugin did. */
	struct ibf_engine *routed;
	unsigned int n_engines;
	struct ibf_engine engine[IBF_MAX_ENGINES];
};

/* OpenSM's switch with this node GUID; NULL: none.  The caller holds OpenSM's lock. */
static inline osm_switch_t *ibf_host_switch(const struct ibf_plugin *p,
					    uint64_t guid)
{
	return osm_get_switch_by_guid(&p->osm->subn, cl_hton64(guid));
}

/* Write a line of the form "ibfattree: [ERR |WRN ]IBFnnn: ..." to OpenSM's log. */
void ibf_log(struct ibf_plugin *p, enum ibf_msg msg, const char *fmt, ...)
	FTR_PRINTF(3, 4);

/* layout.c.  ibf_layout_fits returns false if a structure of this OpenSM has another layout;
 * `why` then names the first pointer with an unexpected value.  ibf_layout_refuse writes `why`
 * to syslog: OpenSM's log is not usable with another layout. */
bool ibf_layout_fits(const struct osm_opensm *osm, char *why, size_t size);
void ibf_layout_refuse(const char *why);

/* host_engine.c: OpenSM's callback that sets up an engine.  re->context is the struct
 * ibf_engine. */
int ibf_engine_setup(struct osm_routing_engine *re, struct osm_opensm *osm);

/* prepare.c: make a generation with fabric and shape, without tables.  Logs its failures.  The
 * caller holds OpenSM's exclusive lock. */
enum ftr_status ibf_generation_new(struct ibf_engine *e,
				   struct ibf_generation **out,
				   struct ibf_timing *ms,
				   struct ftr_err *err) FTR_MUST_USE;
/* Log err as the reason why the engine does not route; returns err->status. */
enum ftr_status ibf_refuse(struct ibf_engine *e, enum ibf_msg msg,
			   const struct ftr_err *err);
/* The threads that compute routes, started at the first call.  NULL: the calling thread
 * computes alone. */
struct ftr_team *ibf_team(struct ibf_plugin *p);

/* generation.c.  Publish gen (or NULL) as the engine's generation; takes over the reference. */
void ibf_engine_publish(struct ibf_engine *e, struct ibf_generation *gen);
/* True if all switches of the nominal fabric and all links between them are present. */
bool ibf_is_complete(const struct ibf_generation *gen);
/* Take a reference, or drop one; dropping the last one frees gen.  NULL is accepted. */
struct ibf_generation *ibf_generation_get(struct ibf_generation *gen);
void ibf_generation_put(struct ibf_generation *gen);
/* The shape of the nominal fabric of gen; NULL: there is none. */
const struct ftr_shape *ibf_nominal_shape(const struct ibf_generation *gen);
/* True if an engine outside this plugin made the last routing.  The caller holds OpenSM's
 * lock, or is the sweeper's thread. */
bool ibf_other_routed(const struct ibf_plugin *p);

/* snapshot.c: copy OpenSM's subnet into a fabric.  The caller holds OpenSM's exclusive lock. */
enum ftr_status ibf_snapshot(struct ibf_plugin *p, struct ftr_fabric **out,
			     struct ibf_skips *skips,
			     struct ftr_err *err) FTR_MUST_USE;

/* nominal_store.c: update the nominal fabric with f.  Returns it with a reference for the
 * caller; NULL: there is none. */
struct ibf_nominal *ibf_nominal_for(struct ibf_plugin *p,
				    const struct ftr_fabric *f,
				    const struct ftr_shape_opts *opts,
				    struct ftr_team *team);
/* Directory of the state files. */
const char *ibf_state_dir(void);
/* Drop a reference; NULL is accepted. */
void ibf_nominal_put(struct ibf_nominal *n);
/* Forget the nominal fabric; the next ibf_nominal_for reads the state file again. */
void ibf_nominal_forget(struct ibf_plugin *p);

/* guid_options.c: read OpenSM's GUID files.  The lists in out remain the property of the
 * plugin. */
void ibf_guids_read(struct ibf_plugin *p, struct ftr_shape_opts *out);
void ibf_guids_free(struct ibf_plugin *p);
/* Log if root_guid_file names no switch of the fabric, or lacks some of its top switches. */
void ibf_roots_report(struct ibf_plugin *p, const struct ftr_shape *sh);

/* verify.c: check computed tables.  FTR_REFUSED: the tables must not be used; err says why. */
enum ftr_status ibf_verify(struct ibf_engine *e,
			   const struct ibf_generation *gen,
			   const struct ibf_routes *r, struct ibf_unserved *un,
			   struct ftr_err *err) FTR_MUST_USE;

/* prefer.c.  Called before gen is routed: set gen->prefer, gen->current and gen->keep. */
enum ftr_status ibf_prefer(struct ibf_engine *e, struct ibf_generation *gen,
			   struct ftr_err *err) FTR_MUST_USE;
/* Called after gen was routed.  Its tables become the preferred ones if there are none yet, or
 * if its fabric is complete.  Queues the write of the displaced entries. */
void ibf_prefer_routed(struct ibf_engine *e, struct ibf_generation *gen);
/* Called when a sweep is done: start a search for better tables if one is due. */
void ibf_prefer_search(struct ibf_engine *e);
/* Drop the preferred tables and end the search. */
void ibf_prefer_drop(struct ibf_engine *e);

/* adopt.c: read the forwarding tables of the switches of f over p->smp.  Entries of unanswered
 * blocks are empty.  The caller holds OpenSM's lock. */
enum ftr_status ibf_adopt(struct ibf_plugin *p, const struct ftr_fabric *f,
			  struct ftr_tables **out, struct ibf_adopted *done,
			  struct ftr_err *err) FTR_MUST_USE;
/* Called after the routing: log the number of read entries that the new tables keep. */
void ibf_adopt_report(struct ibf_plugin *p, const struct ibf_generation *gen,
		      const struct ibf_adopted *done);

/* takeover.c: with option "takeover ordered", replace the tables of another engine in the
 * switches by t, and log the result.  The caller holds OpenSM's exclusive lock. */
void ibf_takeover(struct ibf_engine *e, const struct ibf_generation *gen,
		  const struct ftr_tables *t);

/* commit.c: copy the tables to OpenSM's new_lft, all or nothing.  write: false to count the
 * changes only. */
enum ftr_status ibf_commit(struct ibf_plugin *p, const struct ftr_fabric *f,
			   const struct ftr_tables *t, bool write,
			   struct ibf_changes *changes,
			   struct ftr_err *err) FTR_MUST_USE;

/* mcast.c: OpenSM's callback that builds the tree of an MLID; ctx is the struct ibf_engine. */
ib_api_status_t ibf_mcast_build_stree(void *ctx, osm_mgrp_box_t *mbox);

/* fast.c.  NULL: there can be no fast path; a reason other than lack of memory is logged.
 * All other functions accept NULL. */
struct ibf_fast *ibf_fast_new(struct ibf_plugin *p);
void ibf_fast_free(struct ibf_fast *f);		/* joins the worker */
/*
 * Events of a sweep, in this order, on the sweeper's thread and without a lock:
 *
 *  sweep_start	a heavy sweep begins
 *  discovered	the discovery is over; may wait until a write has ended
 *  routed	the switches have the tables of gen; NULL: another engine routed, or
 *		OpenSM routed from its unicast cache
 */
void ibf_fast_sweep_start(struct ibf_fast *f);
void ibf_fast_discovered(struct ibf_fast *f);
void ibf_fast_routed(struct ibf_fast *f, struct ibf_generation *gen);
/* Post RR_EV_ROUTING (with OpenSM's exclusive lock held), RR_EV_SUBNET_UP or RR_EV_STANDBY. */
void ibf_fast_post(struct ibf_fast *f, enum rr_event_kind kind);
/* Pass on the changes that a routing has made.  OpenSM's exclusive lock is held. */
void ibf_fast_changed(struct ibf_fast *f, const struct ibf_changes *c);
/* ddlr_vls.c: decide the VLs of gen.  The caller holds OpenSM's exclusive lock. */
void ibf_ddlr_vls(struct ibf_engine *e, struct ibf_generation *gen);
/* OpenSM's callback update_sl2vl; context is the struct ibf_engine. */
void ibf_ddlr_sl2vl(void *context, osm_physp_t *p, uint8_t in, uint8_t out,
		     ib_slvl_table_t *t);

/* fast.c: true if a routing must leave this link out.  active: both ports are Armed or Active. */
bool ibf_fast_left_out(struct ibf_fast *f, const struct rr_ends *e, bool active);

/*
 * status_file.c: metrics and status files.  ibf_status_new returns NULL if memory is exhausted;
 * the other functions then do nothing.  Each of them reports an event:
 *
 *  sweep	a sweep begins
 *  routed	a routing is done (OpenSM's exclusive lock is held)
 *  refused	a routing is refused (OpenSM's exclusive lock is held)
 *  engine	an engine routes, or an engine of this plugin has failed
 *  repair	a repair is done
 *  write	write the files; gen: the routing in use, or NULL
 */
struct ibf_status *ibf_status_new(void);
void ibf_status_free(struct ibf_status *s);
void ibf_status_sweep(struct ibf_plugin *p);
void ibf_status_routed(struct ibf_plugin *p, const struct ibf_generation *gen,
		       const struct ibf_timing *ms,
		       const struct ibf_unserved *un,
		       const struct ibf_changes *c);
void ibf_status_refused(struct ibf_plugin *p);
/* used: name of the engine that routes; "": an engine of this plugin has failed, and none
 * routes yet.  ours: that engine belongs to this plugin.  reason: why an engine before it in
 * routing_engine does not route, or why the engine has failed; may be "". */
void ibf_status_engine(struct ibf_plugin *p, const char *used, bool ours,
		       const char *reason);
void ibf_status_repair(struct ibf_plugin *p, const struct rr_repair *r);
void ibf_status_write(struct ibf_plugin *p, const struct ibf_generation *gen);

/* ca_order.c: queue a job that writes the host order of gen's shape. */
void ibf_ca_order_write(struct ibf_engine *e, struct ibf_generation *gen);

#endif
