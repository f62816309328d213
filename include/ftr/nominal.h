/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The nominal fabric: what was seen of a fabric so far, remembered.
 *
 * A switch that loses a neighbour must not number its other neighbours anew,
 * or one lost cable changes nearly every table (design, section 4).  So there
 * is a nominal fabric N, the union of what was seen, and its shape S(N), and
 * the shape of the fabric F as it is now is made over S(N):
 *
 *	ftr_nominal_new(F, opts, old, ...)	N = old, or old and F if F grew
 *	ftr_shape_new(F, { .nominal = N->shape }, ...)
 *
 * Faults and recoveries leave N as it is.  If F has what N lacks, there is a
 * new N, once, and all tables may change.  What S(N) infers about a fabric that
 * was damaged when it was first seen (inferred slots, gaps for hosts) keeps its
 * numbers when it turns up, so this growth moves nothing else.  Two things it
 * cannot know: which of several parallel cables is lost (those of that group may
 * move), and ranks, where so much is lost that they look otherwise.
 *
 * A switch that F has and N lacks takes over the place of one that N has and F
 * lacks if most of its cables are those of that one, by what is at their far
 * ends: then it was replaced, and nothing else is numbered anew.  The place
 * keeps the GUID that it was first seen with; ftr_switch.holder tells who is
 * there.
 *
 * If F is another fabric (fewer than a quarter of the switches and of the end
 * ports are in both, or of their cables; of the smaller of the two), N is F.
 *
 * N does not shrink by itself: a switch that was taken away for good is missing
 * for ever, and keeps its slots.  To forget, begin anew without old.  What F
 * contradicts is dropped, though: a cable one end of which is cabled otherwise
 * now, a host that moved, a host whose port another has, and a switch that is
 * not there and has more such cables than others.
 *
 * N and S(N) are const and may be shared between threads.  The same F, old and
 * options give the same N bit for bit, for any order of discovery and any team.
 *
 * Other than in a plain union: N has no LIDs, they belong to F; it has LMCs
 * and, for the order by names, names.  End ports without a cable are not in it.
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
	enum ftr_leaf_order leaf_order;	/* of S(N) */
	uint64_t lists;		/* hash of the root, cn and io GUIDs of S(N) */
};

/* What became of the old one; counts for one line in a log. */
struct ftr_nominal_change {
	bool grew;		/* F has what the old one lacked: counts below */
	bool reshaped;		/* options are not those of the old one */
	uint32_t new_sw, new_links, new_hosts;	/* hosts: end ports */
	bool other;		/* the old one is of another fabric */
	/* of the old one: what F has, too */
	uint32_t same_sw, same_hosts, old_sw, old_hosts;
	uint32_t replaced_sw;	/* switches in the place of another */
	uint32_t changed;	/* known, but with other ports, place, LMC, kind
				 * or, in the order by names, name */
	uint32_t dropped_sw, dropped_links, dropped_hosts;
	char example[256];	/* the first of those new or changed, or "" */
};

/*
 * The nominal fabric for f.  old NULL: f itself.  If f has nothing that old
 * lacks, and opts are those of old, *out is old; else a new object, and old
 * stays as it is.  opts: NULL for defaults; its nominal and no_slots are not
 * looked at.  change may be NULL; without old it counts all of f.
 * Errors: as ftr_shape_new for N.  O((n + cables) log n) and S(N).
 */
enum ftr_status ftr_nominal_new(const struct ftr_fabric *f,
				const struct ftr_shape_opts *opts,
				struct ftr_nominal *old, struct ftr_team *team,
				struct ftr_nominal **out,
				struct ftr_nominal_change *change,
				struct ftr_err *err) FTR_MUST_USE;
void ftr_nominal_free(struct ftr_nominal *n);	/* NULL is accepted */

/* Is n of the fabric f?  Else ftr_nominal_new would begin anew.  *change as
 * there, but for what is dropped. */
enum ftr_status ftr_nominal_compare(const struct ftr_nominal *n,
				    const struct ftr_fabric *f,
				    struct ftr_nominal_change *change,
				    struct ftr_err *err) FTR_MUST_USE;

/*
 * The state file: one line that names the version, a checksum over the rest,
 * the length of the body, and the options that shaped N; then N, a line for
 * each switch, end port and cable.  The bytes depend on N and its options only.
 *
 * Written to a temporary file beside it, flushed to the disk and renamed: path
 * holds its old or its new content, whole.  Two writers of one path in one
 * process must not overlap.  FTR_IO with path and reason.
 */
enum ftr_status ftr_nominal_write(const char *path,
				  const struct ftr_nominal *n,
				  struct ftr_err *err) FTR_MUST_USE;

/*
 * Read it back; S(N) is made under opts, whatever the file says: *reshaped
 * (may be NULL) tells whether they are other ones.  FTR_IO: no such file, or
 * it cannot be read.  FTR_PARSE: it is torn, damaged, of another version or no
 * state file; the text names path and what is wrong.  Else as ftr_shape_new for
 * N.  The caller goes on without: it only costs churn.
 */
enum ftr_status ftr_nominal_read(const char *path,
				 const struct ftr_shape_opts *opts,
				 struct ftr_team *team,
				 struct ftr_nominal **out, bool *reshaped,
				 struct ftr_err *err) FTR_MUST_USE;
/* The same of a file that only root or the caller may have written: FTR_IO,
 * too, if it is not a regular file of one of them (core/file.h). */
enum ftr_status ftr_nominal_read_own(const char *path,
				     const struct ftr_shape_opts *opts,
				     struct ftr_team *team,
				     struct ftr_nominal **out, bool *reshaped,
				     struct ftr_err *err) FTR_MUST_USE;

/* Does path begin as a state file does?  False if it cannot be read. */
bool ftr_nominal_is_file(const char *path);

#ifdef __cplusplus
}
#endif
#endif
