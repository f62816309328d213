/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Declarations shared by the files of the plugin.  Of OpenSM's headers,
 * osm_config.h must come first, because struct layouts depend on it.
 *
 * Ownership: the plugin object lives from create to delete.  Each engine holds
 * at most one published generation (fabric, shape and tables, immutable) and,
 * while it routes, one under construction.  The preferred tables, the search, jobs of the
 * writer, the fast path, and repairs that are not yet recorded hold their own references to
 * generations.  No pointer to a switch, node or port of OpenSM is kept across callbacks:
 * generations identify objects by GUID, LID and index, and commit and multicast look switches
 * up again.
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

/* Contradictions in OpenSM's data that a snapshot has found; one warning reports them all. */
struct ibf_skips {
	uint32_t n;		/* number of contradictions */
	char first[192];	/* text of the first contradiction */
};

/* The nominal fabric, shared by reference. */
struct ibf_nominal {
	atomic_uint refs;
	struct ftr_nominal *n;
};

/* A fabric with its shape and tables; shared by reference, immutable once its
 * routing is done. */
struct ibf_generation {
	atomic_uint refs;
	struct ftr_fabric *fabric;
	struct ibf_nominal *nominal;	/* the nominal fabric from which the shape was
					 * made, or NULL */
	struct ftr_shape *shape;
	uint8_t *mcast_able;	/* [n_sw] 1: the switch supports multicast */
	/* All members below describe a routing.  The pointers are NULL if no tables were
	 * computed for this fabric. */
	const char *engine;
	struct ftr_tables *tables;
	/* prefer: the tables whose entries the routing keeps where it can;
	 * current: the tables that the switches hold, or the result of a search
	 * for displaced entries; valid only during routing; see prefer.c for both */
	struct ftr_tables *prefer, *current;
	struct ftr_keep keep;
	bool makeshift;		/* the preferred tables are those of a damaged fabric */
	struct ftr_route_opts opts;
	uint8_t *order;		/* [n_sw] level of each switch in the up/down order; not set if
				 * the engine has no order of at most 255 levels */
	/* the shape that the tables follow exactly: `shape` or `own`; NULL: there is none */
	const struct ftr_shape *routed;
	struct ftr_shape *own;	/* shape with another order of the switches, made by the engine;
				 * NULL: there is none */
	struct ftr_sl2vl *vls;	/* SL2VL tables of ddlr's turn bit; NULL: not in use */
	ftr_sw *sm;		/* the array that opts.sm points to; freed with the generation */
	struct ftr_turn *turn;	/* the array that opts.turn points to: the extra turns of the
				 * tables; freed with the generation */
	struct ftr_turn *given;	/* [n_given] the extra turns with which the plan began */
	uint32_t n_given;
};

/* Tables that an engine has computed, its options and its statistics. */
struct ibf_routes {
	struct ftr_tables *t;
	struct ftr_route_opts opts;
	struct ftr_route_stats stats;	/* owns stats.order and stats.turn */
	ftr_sw *sm;		/* the array that opts.sm points to, to be freed */
	struct ftr_turn *given;	/* the array that opts.turn points to, to be freed: the extra turns
				 * with which the plan begins */
};

/* Duration of each phase of a routing, in milliseconds. */
struct ibf_timing {
	double snapshot, shape, route, check, commit;
};

/* Numbers of (source, LID) pairs.  All except `others` count pairs that the engine does not promise
 * to connect. */
struct ibf_unserved {
	uint64_t hosts;		/* host to host */
	uint64_t apart;		/* those of `hosts` that are not physically connected */
	uint64_t mixed;		/* host to switch, switch to host */
	uint64_t others;	/* all other pairs without a path: of switches or Aggregation
				 * Nodes */
};

/* Numbers of entries and blocks that a routing changes, and of switches with such entries. */
struct ibf_changes {
	uint64_t entries, blocks;
	uint32_t switches;
};

/* The cost of reading the switches' tables, see adopt.c. */
struct ibf_adopted {
	uint64_t blocks;	/* number of blocks requested */
	uint64_t failed;	/* number of blocks that were not answered */
	double ms;
};

/* The preferred tables of an engine, and the search for better ones, see prefer.c. */
struct ibf_prefer {
	/* The preferred tables: those of gen, or `stored` if they were read from a
	 * file. Both NULL: there are no preferred tables. */
	struct ibf_generation *gen;
	struct ftr_stored *stored;
	uint64_t nominal;	/* identity of the nominal fabric that the preferred
				 * tables belong to */
	/* better tables that a search has found for the fabric of better_of */
	struct ftr_tables *better;
	struct ibf_generation *better_of;
	struct ibf_search *search;	/* the running search, or NULL */
	bool for_displaced;	/* the tables in `better` apply to displaced entries only */
	bool new_displaced;	/* displaced entries differ from those of the
				 * last search */
	bool searching;		/* a search was started for this fabric, or its result was read
				 * from a file */
	bool searched;		/* a search for this fabric has succeeded */
	bool improved;		/* the preferred tables come from a search, a file or the
				 * switches */
	bool was_read;		/* the state files were read */
	/* the file was removed because the nominal fabric grew, and has not been written since */
	bool removed_preferred, removed_displaced;
	bool adopting;		/* the present routing prefers tables that were read from
				 * the switches (adopt.c) */
	struct ibf_adopted adopted;
	struct ftr_displaced *entry;	/* [n_entries] displaced entries as last read from the state
					 * file or queued for writing to it */
	uint32_t n_entries;
};

struct ibf_engine {
	struct ibf_plugin *plugin;
	const struct ftr_engine_ops *ops;
	const void *host;	/* OpenSM's struct osm_routing_engine for this engine */
	struct ibf_generation *gen;	/* the published generation; NULL: none yet */
	struct ibf_generation *complete;	/* the last published routing of a complete fabric;
						 * NULL: none yet */
	struct ibf_prefer prefer;
	bool gen_stale;		/* a sweep has begun since gen was made */
	bool took_over;		/* option takeover ordered: since this manager became master, and
				 * since another engine has routed, the engine has replaced the
				 * tables in the switches, or tried to */
	bool turn_bit;		/* ddlr: the turn bit is in use, see ddlr_vls.c */
	bool reported_vls;	/* ddlr: the use of VLs was logged */
	char refusal[FTR_ERR_MAX];	/* why the engine does not route; "": it routes, or OpenSM
					 * has not called it yet */
	struct ibf_stree *stree;	/* builds multicast trees for gen; NULL: not allocated */
	uint32_t n_trees;	/* number of multicast trees built since the last message IBF003 */
	double trees_ms;
};

/* A list of GUIDs as last read from its file. */
struct ibf_guids {
	uint64_t *guid;		/* [n]; NULL: no list was read */
	uint32_t n;
	char *path;		/* path of the file */
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
	bool swept;		/* a heavy sweep has started */
	bool routing_done;	/* a routing was done since that sweep began */
	/* the engine of this plugin that made the last routing; NULL: none of them did */
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

/* Write one line, "ibfattree: [ERR |WRN ]IBFnnn: ..." */
void ibf_log(struct ibf_plugin *p, enum ibf_msg msg, const char *fmt, ...)
	FTR_PRINTF(3, 4);

/* layout.c.  ibf_layout_fits returns true if the structures of this OpenSM have the
 * expected layout; otherwise `why` names the first pointer with an unexpected value.
 * ibf_layout_refuse writes `why` to syslog and not to OpenSM's log, because the structures
 * cannot be used. */
bool ibf_layout_fits(const struct osm_opensm *osm, char *why, size_t size);
void ibf_layout_refuse(const char *why);

/* host_engine.c: OpenSM's callback that sets up an engine; re->context is its struct
 * ibf_engine. */
int ibf_engine_setup(struct osm_routing_engine *re, struct osm_opensm *osm);

/* prepare.c: make a generation with fabric and shape, without tables.  The caller holds
 * OpenSM's exclusive lock.  Failures are logged here. */
enum ftr_status ibf_generation_new(struct ibf_engine *e,
				   struct ibf_generation **out,
				   struct ibf_timing *ms,
				   struct ftr_err *err) FTR_MUST_USE;
/* Log err as the reason why the engine does not route; returns err->status. */
enum ftr_status ibf_refuse(struct ibf_engine *e, enum ibf_msg msg,
			   const struct ftr_err *err);
/* The team of threads that compute routes, started at the first call.  NULL: the thread of the
 * caller computes them alone. */
struct ftr_team *ibf_team(struct ibf_plugin *p);

/* generation.c.  Publish gen (or NULL) as the engine's generation; takes over the caller's
 * reference. */
void ibf_engine_publish(struct ibf_engine *e, struct ibf_generation *gen);
/* True if all switches of the nominal fabric and all links between them are present. */
bool ibf_is_complete(const struct ibf_generation *gen);
/* Take a reference, or drop one; dropping the last one frees gen.  NULL is accepted. */
struct ibf_generation *ibf_generation_get(struct ibf_generation *gen);
void ibf_generation_put(struct ibf_generation *gen);
/* The shape of the nominal fabric of gen; NULL: there is none. */
const struct ftr_shape *ibf_nominal_shape(const struct ibf_generation *gen);
/* True if an engine that is not ours made the last routing.  The caller holds OpenSM's lock, or
 * is the sweeper's thread. */
bool ibf_other_routed(const struct ibf_plugin *p);

/* snapshot.c: copy OpenSM's subnet into a fabric.  The caller holds OpenSM's exclusive lock. */
enum ftr_status ibf_snapshot(struct ibf_plugin *p, struct ftr_fabric **out,
			     struct ibf_skips *skips,
			     struct ftr_err *err) FTR_MUST_USE;

/* nominal_store.c: update the nominal fabric with f and return it; the caller
 * must ibf_nominal_put() it.  NULL: there is none. */
struct ibf_nominal *ibf_nominal_for(struct ibf_plugin *p,
				    const struct ftr_fabric *f,
				    const struct ftr_shape_opts *opts,
				    struct ftr_team *team);
/* Directory of the state files. */
const char *ibf_state_dir(void);
/* Drop a reference; NULL is accepted. */
void ibf_nominal_put(struct ibf_nominal *n);
/* Forget the nominal fabric; the next ibf_nominal_for reads the state file
 * again. */
void ibf_nominal_forget(struct ibf_plugin *p);

/* guid_options.c: read OpenSM's GUID files, and enter the lists in out.  The lists remain the
 * property of the plugin. */
void ibf_guids_read(struct ibf_plugin *p, struct ftr_shape_opts *out);
void ibf_guids_free(struct ibf_plugin *p);
/* Log if root_guid_file names no switch of the fabric, or lacks some top switches of the fabric. */
void ibf_roots_report(struct ibf_plugin *p, const struct ftr_shape *sh);

/* verify.c: check computed tables.  FTR_REFUSED, with the reason in err: the tables must
 * not be used. */
enum ftr_status ibf_verify(struct ibf_engine *e,
			   const struct ibf_generation *gen,
			   const struct ibf_routes *r, struct ibf_unserved *un,
			   struct ftr_err *err) FTR_MUST_USE;

/* prefer.c: before gen is routed, set gen->prefer, gen->current and gen->keep. */
enum ftr_status ibf_prefer(struct ibf_engine *e, struct ibf_generation *gen,
			   struct ftr_err *err) FTR_MUST_USE;
/* To be called after gen was routed: prefer its tables if they are the first ones or its fabric is
 * complete, and queue the write of the displaced entries. */
void ibf_prefer_routed(struct ibf_engine *e, struct ibf_generation *gen);
/* To be called when a sweep is done: start a search for better tables if one is due. */
void ibf_prefer_search(struct ibf_engine *e);
/* Drop the preferred tables and end the search. */
void ibf_prefer_drop(struct ibf_engine *e);

/* adopt.c: read the forwarding tables of the switches of f over p->smp; the caller holds
 * OpenSM's lock.  Blocks that cannot be read count as failed, and their entries are empty.
 * ibf_adopt_report is called after the routing: it logs how many of these entries
 * (gen->prefer) the new tables keep. */
enum ftr_status ibf_adopt(struct ibf_plugin *p, const struct ftr_fabric *f,
			  struct ftr_tables **out, struct ibf_adopted *done,
			  struct ftr_err *err) FTR_MUST_USE;
void ibf_adopt_report(struct ibf_plugin *p, const struct ibf_generation *gen,
		      const struct ibf_adopted *done);

/* takeover.c: with option "takeover ordered", replace the tables in the switches by
 * t, if this is the engine's first routing since this manager became master or since another engine
 * has routed; log the result.  The caller holds OpenSM's exclusive lock. */
void ibf_takeover(struct ibf_engine *e, const struct ibf_generation *gen,
		  const struct ftr_tables *t);

/* commit.c: copy the tables to OpenSM's new_lft, all or nothing; write false: only
 * count the changes. */
enum ftr_status ibf_commit(struct ibf_plugin *p, const struct ftr_fabric *f,
			   const struct ftr_tables *t, bool write,
			   struct ibf_changes *changes,
			   struct ftr_err *err) FTR_MUST_USE;

/* mcast.c: OpenSM's callback that builds the tree of an MLID; ctx is a struct ibf_engine. */
ib_api_status_t ibf_mcast_build_stree(void *ctx, osm_mgrp_box_t *mbox);

/* fast.c, see fast.h.  ibf_fast_new returns NULL if there can be no fast path; the reason is
 * logged, except if memory is exhausted.  All other functions accept NULL. */
struct ibf_fast *ibf_fast_new(struct ibf_plugin *p);
void ibf_fast_free(struct ibf_fast *f);		/* joins the worker */
/* Events of a sweep, in this order, on the sweeper's thread and without a lock:
 *  sweep_start	a heavy sweep begins
 *  discovered	discovery is over; may wait until a write has ended
 *  routed	the switches have the new tables of gen; NULL: another engine routed, or
 *		OpenSM routed from its unicast cache
 * ibf_fast_post posts RR_EV_ROUTING (OpenSM's exclusive lock is held), RR_EV_SUBNET_UP or
 * RR_EV_STANDBY. */
void ibf_fast_sweep_start(struct ibf_fast *f);
void ibf_fast_discovered(struct ibf_fast *f);
void ibf_fast_routed(struct ibf_fast *f, struct ibf_generation *gen);
void ibf_fast_post(struct ibf_fast *f, enum rr_event_kind kind);
/* Report the changes that a routing has made.  OpenSM's exclusive lock is held. */
void ibf_fast_changed(struct ibf_fast *f, const struct ibf_changes *c);
/* ddlr_vls.c.  ibf_ddlr_vls: decide the VLs of gen; the caller holds OpenSM's exclusive
 * lock.  ibf_ddlr_sl2vl: OpenSM's callback update_sl2vl. */
void ibf_ddlr_vls(struct ibf_engine *e, struct ibf_generation *gen);
void ibf_ddlr_sl2vl(void *context, osm_physp_t *p, uint8_t in, uint8_t out,
		     ib_slvl_table_t *t);

/* fast.c: true if a routing must leave this link out.  active: true if both ports of
 * the link are Armed or Active. */
bool ibf_fast_left_out(struct ibf_fast *f, const struct rr_ends *e, bool active);

/* status_file.c: metrics and status files.  ibf_status_new returns NULL if out of memory; the
 * other functions do nothing if the plugin's status is NULL.  Each of them reports one event:
 *  sweep	a sweep begins
 *  routed	a routing is done (OpenSM's exclusive lock is held)
 *  refused	a routing is refused (OpenSM's exclusive lock is held)
 *  engine	used: the name of the engine that routes; "": an engine of this plugin has
 *		failed, and no other has routed yet; ours: `used` belongs to this plugin;
 *		reason: why an engine that precedes `used` in routing_engine does not route,
 *		or has failed; "": there is no such engine
 *  repair	a repair is done
 *  write	a sweep is done, an engine has failed (OpenSM's exclusive lock is held), or
 *		the state of the manager has changed; gen: the routing in use, or NULL */
struct ibf_status *ibf_status_new(void);
void ibf_status_free(struct ibf_status *s);
void ibf_status_sweep(struct ibf_plugin *p);
void ibf_status_routed(struct ibf_plugin *p, const struct ibf_generation *gen,
		       const struct ibf_timing *ms,
		       const struct ibf_unserved *un,
		       const struct ibf_changes *c);
void ibf_status_refused(struct ibf_plugin *p);
void ibf_status_engine(struct ibf_plugin *p, const char *used, bool ours,
		       const char *reason);
void ibf_status_repair(struct ibf_plugin *p, const struct rr_repair *r);
void ibf_status_write(struct ibf_plugin *p, const struct ibf_generation *gen);

/* ca_order.c: queue a job that writes the host order of gen's shape. */
void ibf_ca_order_write(struct ibf_engine *e, struct ibf_generation *gen);

#endif
