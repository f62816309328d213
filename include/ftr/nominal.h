/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The nominal fabric: the union of all switches and links seen so far.
 *
 * If a switch that loses a neighbour renumbers its other neighbours, one missing link changes
 * nearly every table (docs/design.md, Decisions).  Therefore the nominal fabric N is kept,
 * together with its shape S(N).  The shape of the current fabric F takes all positions from
 * S(N):
 *
 *	ftr_nominal_new(F, opts, old, ...)	N = old, or old and F if F has new parts
 *	ftr_shape_new(F, { .nominal = N->shape }, ...)
 *
 * Faults and recoveries do not change N.  If F has a part that N lacks, a new N is made,
 * once, and all tables may change.
 *
 * Inference.  When a fabric is first seen, links or hosts may be missing.  S(N) infers such
 * parts where it can: links as inferred slots (src/shape/slots.c), hosts as gaps
 * (src/shape/column_order.c).  When the real parts appear, they get the inferred numbers, so no
 * other entry changes.  Three things cannot be inferred:
 *
 *  - a switch that was missing with all of its links
 *  - which of several parallel links is missing; entries of this group may move later
 *  - the ranks, if the missing links change the ranks that are inferred
 *
 * Ranks.  S(N) keeps the ranks of the old N unless the ranks that are inferred from N are
 * clearly better (src/shape/choice.c, rule 7).  Without this rule, one more host could change
 * all tables.  No ranks are kept if roots are given, or if the lists of cn and io GUIDs differ
 * from those of the old N.
 *
 * Replacement.  Suppose that F has a switch x that N lacks, and N has a switch y that F lacks.
 * If most links of x lead to the far ends of the links of y, x takes the place of y, and nothing
 * else is renumbered.  The place keeps the GUID of the first switch that was seen there.
 * ftr_switch.holder is the GUID of the switch that is there now.
 *
 * Different fabric.  If F is a different fabric, N is F.  F is different from the old N in two
 * cases:
 *
 *  - Fewer than a quarter of the switches and fewer than a quarter of the host ports are in
 *    both.
 *  - Fewer than a quarter of the links between switches and fewer than a quarter of the links
 *    of host ports are in both.
 *
 * A quarter means a quarter of the number in F or in the old N, whichever is smaller.
 *
 * Removal.  A switch that was removed permanently stays missing and keeps its slots.  To forget
 * it, call ftr_nominal_new without old.  However, when a new N is made, these parts are dropped
 * because F contradicts them: a link, if one of its ends is now connected elsewhere; a host that
 * moved; a host whose switch port has another link now; a missing switch, if more than half of
 * its links are contradicted.
 *
 * N and S(N) are const and may be shared between threads.  The same F, old (with its ranks) and
 * options give the same N, bit for bit, for any order of discovery and any team.
 *
 * N has LMCs and names.  It has no LIDs, no widths and speeds of links, and no host ports
 * without a link.
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
	uint64_t lists;		/* hash of the root, cn and io GUIDs of S(N) */
};

/* The differences between N and the old nominal fabric, as counts for one log line. */
struct ftr_nominal_change {
	bool grew;		/* true: F has a part that old lacks */
	bool reshaped;		/* true: the order of leaves or the lists of GUIDs differ from
				 * those of old */
	/* numbers of switches, links and host ports that F has and old lacks */
	uint32_t new_sw, new_links, new_hosts;
	bool other;		/* true: old belongs to a different fabric */
	/* same_sw, same_hosts: numbers of switches and of host ports that old and F both have;
	 * old_sw, old_hosts: numbers of switches and of host ports that old has */
	uint32_t same_sw, same_hosts, old_sw, old_hosts;
	uint32_t replaced_sw;	/* number of switches that took the place of another */
	uint32_t changed;	/* number of known switches and host ports with different ports,
				 * place, LMC, kind or (if leaves are ordered by name) name */
	/* numbers of parts of old that were dropped; dropped_hosts counts host ports */
	uint32_t dropped_sw, dropped_links, dropped_hosts;
	char example[256];	/* the first new or changed object, or "" */
};

/*
 * Make the nominal fabric for f.  If old is NULL, it is f itself, and all of f counts as new.
 *
 * *out is old if f has no part that old lacks, and opts has the order of leaves and the lists
 * of GUIDs of old.  Otherwise *out is a new object, and old is unchanged.
 *
 * opts: NULL for defaults.  Its members nominal and no_slots are ignored.  opts->old is also
 * ignored if the argument old is not NULL.  change may be NULL.
 * Errors: as ftr_shape_new for N.  O((n + links) log n) plus the cost of S(N).
 */
enum ftr_status ftr_nominal_new(const struct ftr_fabric *f,
				const struct ftr_shape_opts *opts,
				struct ftr_nominal *old, struct ftr_team *team,
				struct ftr_nominal **out,
				struct ftr_nominal_change *change,
				struct ftr_err *err) FTR_MUST_USE;
void ftr_nominal_free(struct ftr_nominal *n);	/* NULL is accepted */

/*
 * Compare n with f.  change->other: they are different fabrics, so ftr_nominal_new would make a
 * new nominal fabric from f alone.  *change is filled as by ftr_nominal_new, with three
 * exceptions: the dropped_ members are 0; reshaped is false; all counts compare f with n even if
 * the fabrics are different.
 */
enum ftr_status ftr_nominal_compare(const struct ftr_nominal *n,
				    const struct ftr_fabric *f,
				    struct ftr_nominal_change *change,
				    struct ftr_err *err) FTR_MUST_USE;

/*
 * Write a state file.  Its first line holds the version, a checksum of the text after it, the
 * length of the body, the order of leaves and a hash of the lists of GUIDs.  N follows, with a
 * line for each switch, host port, link, replaced switch and kept rank.  The bytes depend on N,
 * its options and its ranks only.
 *
 * The file is written under a temporary name in the same directory, flushed to disk and
 * renamed.  So path always holds either its old or its new content, complete.  Two threads of a
 * process must not write one path at the same time.  FTR_IO: the text names the path and reason;
 * FTR_NOMEM.
 */
enum ftr_status ftr_nominal_write(const char *path,
				  const struct ftr_nominal *n,
				  struct ftr_err *err) FTR_MUST_USE;

/*
 * Read a state file.  S(N) is made with opts.  *reshaped (may be NULL) is true if the file was
 * written with another order of leaves or other lists of GUIDs.
 *
 * FTR_IO: there is no such file, or it cannot be read.  FTR_PARSE: the file is incomplete,
 * damaged, of an unknown version or not a state file; the text names the path and the
 * problem.  FTR_LIMIT: the file is too long.  Other errors: as ftr_shape_new for N.  The caller
 * can continue without the file, but then more entries change.
 */
enum ftr_status ftr_nominal_read(const char *path,
				 const struct ftr_shape_opts *opts,
				 struct ftr_team *team,
				 struct ftr_nominal **out, bool *reshaped,
				 struct ftr_err *err) FTR_MUST_USE;
/* Like ftr_nominal_read.  FTR_IO also if the file is not a regular file that belongs to root or
 * to the caller (core/file.h). */
enum ftr_status ftr_nominal_read_own(const char *path,
				     const struct ftr_shape_opts *opts,
				     struct ftr_team *team,
				     struct ftr_nominal **out, bool *reshaped,
				     struct ftr_err *err) FTR_MUST_USE;

/* True if the file can be read and begins like a state file. */
bool ftr_nominal_is_file(const char *path);

#ifdef __cplusplus
}
#endif
#endif
