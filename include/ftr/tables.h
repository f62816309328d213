/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The linear forwarding tables (LFTs) of all switches, and changes to them.
 *
 * Each switch has a row with one byte per LID.  A row is padded to whole blocks of 64 entries (one
 * SMP carries one block), and is aligned to 64 bytes:
 *
 *	         lid 0   1   2  ...  max_lid   pad
 *	switch 0  255   p   p         p        255 ...
 *	switch 1  255   p   p         p        255 ...
 *	          |<--------- stride ------------>|
 *
 * An entry is a port number; 0: the switch itself; FTR_PORT_NONE: no route.
 * Memory: n_sw * stride bytes; 2,880 switches with 30,528 LIDs take 88 MB.
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
	/* like: NULL, or tables of the same size.  An entry may differ from theirs only if bit lid % 64
	 * of differ[sw * stride / 64 + lid / 64] is set.  Engines set like; code that changes
	 * entries later sets their bits, or sets like to NULL.  like must be NULL before the tables
	 * to which it points change or are freed. */
	const struct ftr_tables *like;
	uint64_t *differ;
};

/* Make tables for f.  If fill is true, all entries are FTR_PORT_NONE.  If fill is false, they are
 * undefined; the caller writes every entry. */
enum ftr_status ftr_tables_new(const struct ftr_fabric *f, bool fill,
			       struct ftr_tables **out,
			       struct ftr_err *err) FTR_MUST_USE;
void ftr_tables_free(struct ftr_tables *t);	/* NULL is accepted */

static inline uint8_t *ftr_tables_row(const struct ftr_tables *t, ftr_sw s)
{
	return t->lft + (size_t)s * t->stride;
}

/* Make t a copy of `from`, with t->like == from and no bits set.  t has the size of `from`.  Only blocks
 * with bits are copied if t->like was `from`.  Returns false if out of memory. */
bool ftr_tables_copy(struct ftr_tables *t, const struct ftr_tables *from) FTR_MUST_USE;

/* One bit for each entry of switch s in the block of the LID, which is 0 if b is known to have the same
 * entry as a. */
static inline uint64_t ftr_tables_differ(const struct ftr_tables *a, const struct ftr_tables *b,
					 ftr_sw s, uint32_t lid)
{
	if (a == b)
		return 0;
	return b->like == a ? b->differ[((size_t)s * b->stride + lid) / FTR_LFT_BLOCK] : UINT64_MAX;
}

static inline ftr_port ftr_tables_get(const struct ftr_tables *t, ftr_sw s,
				      ftr_lid lid)
{
	return lid <= t->max_lid ? ftr_tables_row(t, s)[lid] : FTR_PORT_NONE;
}

/*
 * Follow the tables t of f from switch s to lid.  Returns the number of ports by which a packet
 * leaves a switch, or FTR_NO_PATH if it does not arrive at the owner of the LID.  port: NULL, or an
 * array of f->n_sw elements, which gets these ports as indices in f->ports.  A packet to a switch
 * leaves the last switch by its port 0.  O(hops).
 */
#define FTR_NO_PATH UINT32_MAX
uint32_t ftr_tables_path(const struct ftr_fabric *f, const struct ftr_tables *t, ftr_sw s,
			 ftr_lid lid, uint32_t *port);

/* A changed entry, or a write that changes it.  Members that a function does not mention are 0. */
struct ftr_change {
	ftr_sw sw;
	ftr_lid lid;
	ftr_port before, after;	/* FTR_PORT_NONE: no route */
	uint16_t step;		/* writes with the same step may be sent in any order */
	uint16_t how;		/* planner of ddlr: enum ftr_ddlr_how */
};

struct ftr_tables_diff {
	uint64_t entries;	/* number of entries with different ports */
	uint64_t blocks;	/* number of 64-entry blocks with such an entry */
	uint32_t switches;	/* number of switches with such an entry */
};

/* Count the differences between the tables a of fabric fa and the tables b of fabric fb.  Switches
 * are matched by GUID.  A switch that only one fabric has is ignored.  An entry for a LID above the
 * max_lid of a table counts as FTR_PORT_NONE. */
void ftr_tables_diff(const struct ftr_fabric *fa, const struct ftr_tables *a,
		     const struct ftr_fabric *fb, const struct ftr_tables *b,
		     struct ftr_tables_diff *out);

/*
 * Make tables for fabric fb with the entries of the tables a of fabric fa.  Switches are matched by
 * GUID.  An entry is copied if the LID has the same owner in both fabrics, and the owner has the
 * same base LID.  All other entries are FTR_PORT_NONE.  Port numbers are copied unchanged, even if
 * a port is connected to something else in fb.  O(n_sw * LIDs).
 */
enum ftr_status ftr_tables_carry(const struct ftr_fabric *fa,
				 const struct ftr_tables *a,
				 const struct ftr_fabric *fb,
				 struct ftr_tables **out,
				 struct ftr_err *err) FTR_MUST_USE;

/* Replace entries of the tables b of fabric fb: those that ftr_tables_carry would copy from a. */
void ftr_tables_overlay(const struct ftr_fabric *fa, const struct ftr_tables *a,
			const struct ftr_fabric *fb, struct ftr_tables *b);

/* Convert turns of fabric fa to turns of fabric fb, in the same order.  Switches are matched by
 * GUID.  Turns with a switch that fb does not have are left out.  The caller must free() *out,
 * which may be NULL if *n_out is 0.  Returns false if out of memory; *out is then NULL, and *n_out
 * is 0. */
bool ftr_turns_carry(const struct ftr_fabric *fa, const struct ftr_turn *turn, uint32_t n,
		     const struct ftr_fabric *fb, struct ftr_turn **out,
		     uint32_t *n_out) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
