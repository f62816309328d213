/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the engines: their tables of operations, and common steps.
 */
#ifndef FTR_ENGINE_ENGINE_H
#define FTR_ENGINE_ENGINE_H

#include "core/core.h"
#include <ftr/engine.h>

extern const struct ftr_engine_ops ftr_engine_dmodc;
extern const struct ftr_engine_ops ftr_engine_sftree;
extern const struct ftr_engine_ops ftr_engine_ddlr;

struct connect;

/*
 * Compute tables by equations (1) to (4) of Gliksberg et al. 2020, over any shape.
 *
 * extra	entries for extra turns (connect.h), or NULL
 * displaced	NULL, or one bit for each (switch, LID), all 0 before the call.  Sets the bits of
 *		displaced entries with several candidates (port_choice.displaced, place.h), except
 *		entries for extra turns
 * no_path	number of entries that are FTR_PORT_NONE because there is no path
 */
enum ftr_status dmodc_tables(const struct ftr_shape *sh,
			     enum ftr_placement how,
			     const struct connect *extra, struct ftr_team *team,
			     struct ftr_tables *out, uint64_t *displaced,
			     uint64_t *no_path,
			     struct ftr_err *err) FTR_MUST_USE;

/* keep.c: allocate the argument `displaced` of dmodc_tables() and engine_finish().  The caller
 * frees it with free().  *out is NULL if these options do not need it. */
enum ftr_status engine_displaced(const struct ftr_route_opts *opts,
				 const struct ftr_tables *t, uint64_t **out,
				 struct ftr_err *err) FTR_MUST_USE;

/*
 * keep.c: restore the entries that opts->keep preserves, place displaced entries by load, and run
 * the search over the entries that may move.
 *
 * in		the caller sets shape, full and use_full
 * extra	entries for extra turns, or NULL
 * displaced	the bits from dmodc_tables(), or NULL.  If no entries are kept, these entries are
 *		placed by load
 */
enum ftr_status engine_finish(struct ftr_balance_input *in,
			      const struct connect *extra,
			      const uint64_t *displaced,
			      const struct ftr_route_opts *opts,
			      struct ftr_team *team, struct ftr_tables *t,
			      struct ftr_route_stats *stats,
			      struct ftr_err *err) FTR_MUST_USE;

/* All groups of s, including horizontal groups. */
#define for_each_group(sh, s, g)					\
	for (const struct ftr_group *g =				\
		     &(sh)->tree.groups[(sh)->tree.group_first[s]];		\
	     g < &(sh)->tree.groups[(sh)->tree.group_first[(s) + 1]]; g++)

/* The upward groups of s. */
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

/* closed_form.c: the number of (switch, destination) entries without a port. */
uint64_t engine_count_none(const struct ftr_shape *sh, const struct ftr_tables *t);

/*
 * Kinds of the inverted order: a total order of the switches, in which the switches that the root
 * reaches by going up are upside down (inverted_order.c).  A part is a connected set of switches
 * from which no upward path leads to these switches.
 *
 * ORDER_GATEWAYS	if possible, several leaves join each part to the rest of the fabric
 * ORDER_SFTREE		like ORDER_GATEWAYS if the shape has upward paths (struct ftr_up_path) and
 *			some pairs of host ports have no up/down path by rank; otherwise one leaf
 *			joins each part
 */
enum order_kind { ORDER_SFTREE, ORDER_GATEWAYS };

/* root.c.  Both functions return false if out of memory.
 * roots_by_load: if the root of an island is a leaf and would be a bottleneck, replace it by a leaf
 * with less load.  The new root is never `avoid`.
 * needs_gateways: *needed is true if ORDER_SFTREE uses several gateways. */
bool roots_by_load(const struct ftr_shape *sh, const uint32_t *island,
		   ftr_sw avoid, ftr_sw *root,
		   struct ftr_arena *arena) FTR_MUST_USE;
bool needs_gateways(const struct ftr_shape *sh, const uint32_t *island,
		    bool *needed, struct ftr_arena *arena) FTR_MUST_USE;

/* sftree.c: route like sftree, but by ORDER_GATEWAYS. */
enum ftr_status sftree_gateways(const struct ftr_shape *sh,
				const struct ftr_route_opts *opts,
				struct ftr_team *team, struct ftr_tables *out,
				struct ftr_route_stats *stats,
				struct ftr_err *err) FTR_MUST_USE;

/* turns.c: find the islands.  Horizontal links connect, too.  All switches of an island get the
 * same number island[s]. */
void engine_islands(const struct ftr_shape *sh, uint32_t *island);

/*
 * The inverted order (inverted_order.c) as levels: *level is an array [n_sw] in arena.  Two
 * switches joined by a link have different levels.  Every switch reaches the highest switch of its
 * island, the root, by upward links only.
 *
 * avoid	a switch that becomes the root only if no other leaf is suitable, or FTR_SW_NONE
 * root		the root of the largest island
 */
enum ftr_status inverted_order(const struct ftr_shape *sh, enum order_kind how,
			       ftr_sw avoid, struct ftr_arena *arena,
			       uint16_t **level, ftr_sw *root,
			       struct ftr_err *err) FTR_MUST_USE;

#endif
