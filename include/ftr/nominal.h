/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The nominal fabric: the union of all switches and links seen so far.
 *
 * An engine numbers the neighbours of a switch, and the entries depend on these numbers.  If a
 * switch that has lost a neighbour gave new numbers to the others, one missing link would change
 * nearly every table (docs/design.md, Decisions).  Therefore the nominal fabric N is kept, together
 * with its shape S(N).  The shape of the current fabric F takes all numbers from S(N):
 *
 *	ftr_nominal_new(F, opts, old, ...)	N = old, or a new N if F has a part that old lacks
 *	ftr_shape_new(F, { .nominal = N->shape }, ...)
 *
 * Faults and recoveries do not change N.  If F has a part that N lacks, a new N is made from
 * both, and all tables may change.
 *
 * Inference.  When a fabric is seen for the first time, links or hosts may be missing.  Some of
 * them can be inferred.  S(N) reserves numbers for these: slots for links (src/core/shape/slots.c),
 * gaps for hosts (src/core/shape/column_order.c).  When such a part appears, it gets the reserved
 * number, and the entries for all others stay.  Three things cannot be inferred:
 *
 *  - a switch that was missing with all of its links
 *  - which one of several parallel links is missing; when it appears, entries may move between
 *    these links
 *  - the ranks, if they are different without the missing links
 *
 * Ranks.  A new S(N) keeps the ranks of the old N, unless the ranks that are inferred from the new
 * N are clearly better (src/core/shape/choice.c, rule 7).  If ranks were not kept, one more host
 * could change all tables.  No ranks are kept if roots are given, or if the GUID lists of compute
 * nodes (cn) and I/O nodes (io) differ from those of the old N.
 *
 * Replacement.  Let F have a switch x that N lacks, and let N have a switch y that F lacks.  If
 * most links of x lead to the same ports as the links of y, x takes the place of y, and nothing
 * else is renumbered.  The place keeps the GUID of the first switch that was seen there.
 * ftr_switch.holder is the GUID of the switch that is there now.
 *
 * Different fabric.  The new N is F alone if F and the old N have too little in common:
 *
 *  - fewer than 1/4 of the switches and fewer than 1/4 of the host ports, or
 *  - fewer than 1/4 of the links between switches and fewer than 1/4 of the links of host ports.
 *
 * 1/4 refers to the number in F or to the number in the old N, whichever is smaller.
 *
 * Removal.  A switch that was removed permanently stays in N as missing and keeps its slots.  To
 * forget it, call ftr_nominal_new without old.  However, a new N does not contain parts of the old
 * N that contradict F:
 *
 *  - a link, if one of its ends is now connected elsewhere
 *  - a host that moved, or whose switch port now has another link
 *  - a missing switch, if more than half of its links contradict F
 *
 * N and S(N) are const and may be shared between threads.  N depends only on F, on old with its
 * ranks, and on the options.  It is the same, bit for bit, for any order of discovery and any team.
 *
 * In N, switches and host ports have LMCs and names, but no LIDs, and links have no width and no
 * speed.  Host ports without a link are not in N.
 */
#ifndef FTR_NOMINAL_H
#define FTR_NOMINAL_H

#include <ftr/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ftr_nominal {
	const struct ftr_fabric *f;	/* N */
	const struct ftr_shape *shape;	/* S(N) */
	enum ftr_leaf_order leaf_order;	/* leaf order of S(N) */
	uint64_t lists;		/* hash of the GUIDs of roots, compute nodes (cn) and I/O nodes (io)
				 * in the options of S(N) */
};

/* The differences between a fabric F and the old nominal fabric, as counts for one log line. */
struct ftr_nominal_change {
	bool grew;		/* true: F has a part that old lacks */
	bool reshaped;		/* true: the options name another order of leaves or other lists of
				 * GUIDs than those of old */
	/* numbers of switches, links and host ports that F has and old lacks */
	uint32_t new_sw, new_links, new_hosts;
	bool other;		/* true: old belongs to a different fabric */
	/* same_sw, same_hosts: numbers of switches and of host ports that old and F both have;
	 * old_sw, old_hosts: numbers of switches and of host ports that old has */
	uint32_t same_sw, same_hosts, old_sw, old_hosts;
	uint32_t replaced_sw;	/* number of switches that took the place of another */
	/* Number of switches and host ports that F and old both have, but with a different place,
	 * LMC, kind or number of ports.  If leaves are ordered by name, a different name counts,
	 * too. */
	uint32_t changed;
	/* numbers of parts of old that were dropped; dropped_hosts counts host ports */
	uint32_t dropped_sw, dropped_links, dropped_hosts;
	char example[256];	/* the first new or changed object, or "" */
};

/*
 * Make the nominal fabric for f.  If old is NULL, the nominal fabric is f itself, and all of f
 * counts as new.
 *
 * *out is old if f has no part that old lacks, and opts names the same order of leaves and the same
 * GUIDs as old.  Otherwise *out is a new object, and old is unchanged.
 *
 * opts: NULL for defaults.  Its member nominal is ignored.  opts->old is also ignored
 * if the argument old is not NULL.  change may be NULL.
 * Errors: as ftr_shape_new for N.  O((n + links) log n) plus the cost of S(N).
 */
enum ftr_status ftr_nominal_new(const struct ftr_fabric *f,
				const struct ftr_shape_opts *opts,
				struct ftr_nominal *old, struct ftr_nominal **out,
				struct ftr_nominal_change *change,
				struct ftr_err *err) FTR_MUST_USE;
void ftr_nominal_free(struct ftr_nominal *n);	/* NULL is accepted */

/*
 * Compare f with n.  change->other is true if they are different fabrics, so that ftr_nominal_new
 * would make a new nominal fabric from f alone.  *change is filled as by ftr_nominal_new, with
 * three exceptions: dropped_sw, dropped_links and dropped_hosts are 0; reshaped is false; all
 * counts compare f with n even if the fabrics are different.
 */
enum ftr_status ftr_nominal_compare(const struct ftr_nominal *n,
				    const struct ftr_fabric *f,
				    struct ftr_nominal_change *change,
				    struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
