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

/* Compute tables by equations (1) to (4) of Gliksberg et al. 2020, over any shape.
 * extra: entries for extra turns (connect.h); NULL: there are none.  displaced: one bit for
 * each (switch, LID), all 0 before the call; the bits of displaced entries with several candidates
 * (port_choice.displaced, place.h) are set, except those of entries for extra turns; NULL: not
 * needed.  *no_path: the number of entries that are FTR_PORT_NONE because there is no
 * path. */
enum ftr_status dmodc_tables(const struct ftr_shape *sh,
			     enum ftr_placement how,
			     const struct connect *extra, struct ftr_team *team,
			     struct ftr_tables *out, uint64_t *displaced,
			     uint64_t *no_path,
			     struct ftr_err *err) FTR_MUST_USE;

/* keep.c: allocate the argument `displaced` of dmodc_tables and engine_finish; the caller frees it
 * with free(). *out == NULL: not needed with these options. */
enum ftr_status engine_displaced(const struct ftr_route_opts *opts,
				 const struct ftr_tables *t, uint64_t **out,
				 struct ftr_err *err) FTR_MUST_USE;

/*
 * keep.c: replace entries of the closed form by those that opts->keep preserves, place displaced
 * entries by load, and run the search over the entries that may move. The caller sets in->shape,
 * in->full and in->use_full. extra: entries for extra turns, or NULL. displaced: the bits
 * that dmodc_tables() has set; these entries are placed by load if no entries are kept;
 * NULL: none.
 */
enum ftr_status engine_finish(struct ftr_balance_input *in,
			      const struct connect *extra,
			      const uint64_t *displaced,
			      const struct ftr_route_opts *opts,
			      struct ftr_team *team, struct ftr_tables *t,
			      struct ftr_route_stats *stats,
			      struct ftr_err *err) FTR_MUST_USE;

/* All groups of s, horizontal ones included. */
#define for_each_group(sh, s, g)					\
	for (const struct ftr_group *g =				\
		     &(sh)->tree.groups[(sh)->tree.group_first[s]];		\
	     g < &(sh)->tree.groups[(sh)->tree.group_first[(s) + 1]]; g++)

/* The groups of s that lead up. */
#define for_each_up(sh, s, g)						\
	for (const struct ftr_group *g =				\
		     &(sh)->tree.groups[(sh)->tree.group_first[s]];		\
	     g < &(sh)->tree.groups[(sh)->tree.group_first[s] +		\
				    (sh)->tree.n_up[s]]; g++)

/* Clear all statistics of a routing, except `balance` and the pointer `order`. */
static inline void engine_clear_stats(struct ftr_route_stats *stats)
{
	*stats = (struct ftr_route_stats){
		.order = stats->order, .balance = stats->balance,
		.root = FTR_SW_NONE,
	};
}

/* The number of (switch, destination) entries without a port (closed_form.c). */
uint64_t engine_count_none(const struct ftr_shape *sh, const struct ftr_tables *t);

/*
 * Kinds of the inverted order; inverted_order.c defines `part`. ORDER_GATEWAYS: if possible,
 * several leaves join each part to the rest of the fabric (for dmodc, if extra turns do not
 * suffice). ORDER_SFTREE: as ORDER_GATEWAYS if the shape has upward paths (struct ftr_up_path) and
 * some pairs of host ports have no up/down path by rank; otherwise one leaf joins each part.
 */
enum order_kind { ORDER_SFTREE, ORDER_GATEWAYS };

/* root.c. Both functions return false if out of memory. roots_by_load: if the root of an island is
 * a leaf and would be a bottleneck, replace it by a leaf with less load, but not by the switch
 * `avoid`. needs_gateways: *needed is true if ORDER_SFTREE uses several gateways. */
bool roots_by_load(const struct ftr_shape *sh, const uint32_t *island,
		   ftr_sw avoid, ftr_sw *root,
		   struct ftr_arena *arena) FTR_MUST_USE;
bool needs_gateways(const struct ftr_shape *sh, const uint32_t *island,
		    bool *needed, struct ftr_arena *arena) FTR_MUST_USE;

/* Route as sftree does, but by an order with several gateways between the parts of the fabric
 * (inverted_order.c). */
enum ftr_status sftree_gateways(const struct ftr_shape *sh,
				const struct ftr_route_opts *opts,
				struct ftr_team *team, struct ftr_tables *out,
				struct ftr_route_stats *stats,
				struct ftr_err *err) FTR_MUST_USE;

/* Find the islands; horizontal links connect, too. island[s] is the same number for all
 * switches of an island (turns.c). */
void engine_islands(const struct ftr_shape *sh, uint32_t *island);

/*
 * The inverted order (inverted_order.c) as levels: *level is an array [n_sw] in arena. Any
 * two switches joined by a link have different levels, and every switch reaches the highest
 * switch of its island, the root, by upward links alone. avoid: a switch that becomes the root
 * only if no other leaf is suitable, or FTR_SW_NONE. *root: the root of the largest island.
 */
enum ftr_status inverted_order(const struct ftr_shape *sh, enum order_kind how,
			       ftr_sw avoid, struct ftr_arena *arena,
			       uint16_t **level, ftr_sw *root,
			       struct ftr_err *err) FTR_MUST_USE;

#endif
