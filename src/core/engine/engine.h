/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Declarations that the files of the engines share: the engines, and common steps of a routing.
 */
#ifndef FTR_ENGINE_ENGINE_H
#define FTR_ENGINE_ENGINE_H

#include "base/base.h"
#include <ftr/engine.h>

extern const struct ftr_engine_ops ftr_engine_dmodc;
extern const struct ftr_engine_ops ftr_engine_sftree;
extern const struct ftr_engine_ops ftr_engine_ddlr;

struct connect;

/*
 * Compute the tables of a shape by equations (1) to (4) of Gliksberg et al. 2020.
 *
 * extra	entries of a plan of extra turns (connect.h), used instead of the computed entries;
 *		NULL: none
 * displaced	one bit for each (switch, LID), all 0 before the call; NULL: not needed.  The call
 *		sets the bit of an entry if its nominal port group is missing or is not a
 *		candidate, and several candidates exist.  Bits of entries in `extra` stay 0
 */
enum ftr_status dmodc_tables(const struct ftr_shape *sh,
			     const struct connect *extra, struct ftr_team *team,
			     struct ftr_tables *out, uint64_t *displaced,
			     struct ftr_err *err) FTR_MUST_USE;

/* keep.c: allocate the bits `displaced` for dmodc_tables() and engine_finish().  The caller frees
 * them with free().  *out becomes NULL if opts do not require the bits. */
enum ftr_status engine_displaced(const struct ftr_route_opts *opts,
				 const struct ftr_tables *t, uint64_t **out,
				 struct ftr_err *err) FTR_MUST_USE;

struct balance_base;

struct ftr_route_base {
	const struct ftr_shape *sh;
	const struct ftr_tables *t;
	struct balance_base *balance;
	bool keeps;		/* a routing of sh keeps all entries of t */
};

/* base.c: mark the entries that may differ from keep->prefer: those of switch s for column l if bit l
 * of (*out)[s * reach.stride / 64 ..] is set.  The caller frees *out.  *out becomes NULL if this is
 * not known, because the base does not fit.  b may be NULL. */
enum ftr_status engine_base_marks(const struct ftr_route_base *b, const struct ftr_shape *sh,
				  const struct ftr_keep *keep, uint64_t **out,
				  struct ftr_err *err) FTR_MUST_USE;

/* keep.c: find out if a routing of sh by costs, without extra turns, keeps all entries of t. */
enum ftr_status engine_keeps(const struct ftr_shape *sh, const struct ftr_tables *t,
			     struct ftr_team *team, bool *keeps, struct ftr_err *err) FTR_MUST_USE;

/* A routing whose entries are computed. */
struct engine_run {
	const struct ftr_route_opts *opts;
	struct ftr_team *team;
	struct ftr_tables *t;
	struct ftr_balance_report *report;	/* of the search; NULL: not needed */
	const struct connect *extra;	/* extra turns that dmodc_tables() used, or NULL */
	/* The bits that dmodc_tables() set, or NULL.  If opts->keep is NULL, the entries whose bit
	 * is set get a port that is chosen by the load of the links. */
	const uint64_t *displaced;
	/* from engine_base_marks(): only the marked entries are computed, and the tables have no
	 * entries yet; NULL: all entries are computed */
	const uint64_t *mark;
	/* private to keep.c.  place, movable, changed: one bit for each (switch, LID).  place: the
	 * port of the entry is chosen by the load of the links; movable: the search may change the
	 * entry; changed: the entry differs from the preferred tables */
	const struct ftr_balance_input *in;
	uint64_t *place, *movable, *changed;
};

/* The column (destination switch) of a LID that is routed. */
static inline uint32_t engine_column(const struct ftr_shape *sh, ftr_lid lid)
{
	const struct ftr_lid_owner *o = &sh->f->owner[lid];

	return sh->numbering.col[o->kind == FTR_OWNER_EP ? sh->f->ep[o->idx].sw : o->idx];
}

/* keep.c, the last three steps of a routing: keep entries of earlier tables (opts->keep), choose
 * ports for displaced entries by the load of the links, and run the search for balance.  in: input
 * of the search; the caller sets the members `shape`, `full` and `use_full`. */
enum ftr_status engine_finish(struct engine_run *run, struct ftr_balance_input *in,
			      struct ftr_err *err) FTR_MUST_USE;

/* All port groups of switch s, including horizontal groups. */
#define for_each_group(sh, s, g)					\
	for (const struct ftr_group *g =				\
		     &(sh)->tree.groups[(sh)->tree.group_first[s]];		\
	     g < &(sh)->tree.groups[(sh)->tree.group_first[(s) + 1]]; g++)

/* The upward port groups of switch s. */
#define for_each_up(sh, s, g)						\
	for (const struct ftr_group *g =				\
		     &(sh)->tree.groups[(sh)->tree.group_first[s]];		\
	     g < &(sh)->tree.groups[(sh)->tree.group_first[s] +		\
				    (sh)->tree.n_up[s]]; g++)

/* Clear all statistics of a routing, except `balance` and `order`. */
static inline void engine_clear_stats(struct ftr_route_stats *stats)
{
	*stats = (struct ftr_route_stats){
		.order = stats->order, .balance = stats->balance,
		.root = FTR_SW_NONE,
	};
}

/* closed_form.c: the number of pairs (switch, LID) whose entry is FTR_PORT_NONE, because there is
 * no path.  The entries of LIDs that are no destinations must be FTR_PORT_NONE. */
uint64_t engine_count_none(const struct ftr_shape *sh, const struct ftr_tables *t);

/* root.c: if the root of an island is a leaf and would be a bottleneck, replace it by a leaf with
 * less load, but not by the switch `avoid`.  Returns false if out of memory. */
bool roots_by_load(const struct ftr_shape *sh, const uint32_t *island,
		   ftr_sw avoid, ftr_sw *root,
		   struct ftr_arena *arena) FTR_MUST_USE;

/* root.c: set *needed to true if the shape has upward paths (struct ftr_up_path) and some pairs of
 * host ports have no up/down path by rank.  Returns false if out of memory. */
bool needs_gateways(const struct ftr_shape *sh, const uint32_t *island,
		    bool *needed, struct ftr_arena *arena) FTR_MUST_USE;

/* turns.c: find the islands, which are the connected components of the fabric.  island[s] becomes
 * the same number for all switches s of an island. */
void engine_islands(const struct ftr_shape *sh, uint32_t *island);

/*
 * Compute the inverted order (inverted_order.c).  *level becomes an array [n_sw] in arena, with the
 * level of each switch in the order.  Neighbours have different levels.  Every switch reaches the
 * highest switch of its island, the root, by upward links only.
 *
 * avoid	a switch that becomes a root only if no other leaf is suitable; FTR_SW_NONE: none
 * root		output: the root of the largest island
 */
enum ftr_status inverted_order(const struct ftr_shape *sh, ftr_sw avoid,
			       struct ftr_arena *arena, uint16_t **level, ftr_sw *root,
			       struct ftr_err *err) FTR_MUST_USE;

#endif
