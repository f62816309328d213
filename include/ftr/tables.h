/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The linear forwarding tables (LFTs) of all switches, and changes to them.
 *
 * One row per switch, one byte per LID, row-major.  Rows are padded to whole blocks of
 * 64 entries (one SMP carries one block) and are aligned to 64 bytes:
 *
 *	         lid 0   1   2  ...  max_lid   pad
 *	switch 0  255   p   p         p        255 ...
 *	switch 1  255   p   p         p        255 ...
 *	          |<--------- stride ------------>|
 *
 * An entry is a port number, 0 for the switch itself, or FTR_PORT_NONE for no
 * route.  Memory: n_sw * stride bytes; 2,880 switches with 30,528 LIDs take 88 MB.
 */
#ifndef FTR_TABLES_H
#define FTR_TABLES_H

#include <ftr/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ftr_tables {
	uint32_t n_sw;
	uint32_t stride;	/* number of bytes of a row, multiple of FTR_LFT_BLOCK */
	ftr_lid max_lid;
	uint8_t *lft;		/* n_sw rows */
};

/* fill == true: all entries are FTR_PORT_NONE.  fill == false: the entries are undefined, for
 * callers that write every entry. */
enum ftr_status ftr_tables_new(const struct ftr_fabric *f, bool fill,
			       struct ftr_tables **out,
			       struct ftr_err *err) FTR_MUST_USE;
void ftr_tables_free(struct ftr_tables *t);	/* NULL is accepted */

static inline uint8_t *ftr_tables_row(const struct ftr_tables *t, ftr_sw s)
{
	return t->lft + (size_t)s * t->stride;
}

static inline ftr_port ftr_tables_get(const struct ftr_tables *t, ftr_sw s,
				      ftr_lid lid)
{
	return lid <= t->max_lid ? ftr_tables_row(t, s)[lid] : FTR_PORT_NONE;
}

/* An entry that differs between two tables. */
struct ftr_change {
	ftr_sw sw;
	ftr_lid lid;
	ftr_port before, after;
};

struct ftr_tables_diff {
	uint64_t entries;	/* number of entries with different ports */
	uint64_t blocks;	/* number of 64-entry blocks with such an entry */
	uint32_t switches;	/* number of switches with such an entry */
};

/* Count the differences between a, tables of fabric fa, and b, tables of fabric fb.  Switches are
 * matched by GUID.  A switch that only one fabric has is ignored.  If one of the tables has no
 * entry for a LID because its max_lid is lower, this entry counts as FTR_PORT_NONE. */
void ftr_tables_diff(const struct ftr_fabric *fa, const struct ftr_tables *a,
		     const struct ftr_fabric *fb, const struct ftr_tables *b,
		     struct ftr_tables_diff *out);

/*
 * Make tables of fabric fb from tables a of fabric fa.  Switches are matched by GUID.  An entry
 * is copied if the LID has the same owner in both fabrics, and the owner has the same base LID.
 * All other entries are FTR_PORT_NONE.  Port numbers are copied unchanged, even if the ports
 * lead elsewhere in fb.  O(n_sw * LIDs).
 */
enum ftr_status ftr_tables_carry(const struct ftr_fabric *fa,
				 const struct ftr_tables *a,
				 const struct ftr_fabric *fb,
				 struct ftr_tables **out,
				 struct ftr_err *err) FTR_MUST_USE;

/* Convert turns of fabric fa to turns of fabric fb, in the same order.  Switches are matched by
 * GUID.  Turns with a switch that fb does not have are left out.  The caller must free() *out,
 * which may be NULL if *n_out is 0.  On failure *out is NULL and *n_out is 0. */
enum ftr_status ftr_turns_carry(const struct ftr_fabric *fa,
				const struct ftr_turn *turn, uint32_t n,
				const struct ftr_fabric *fb,
				struct ftr_turn **out, uint32_t *n_out,
				struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
