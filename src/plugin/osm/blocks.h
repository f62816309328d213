/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The blocks (of 64 LIDs) of the tables of all switches, and what is needed to read and write them
 * without OpenSM's lock: M_Keys, directed routes, and requests.
 */
#ifndef IBF_BLOCKS_H
#define IBF_BLOCKS_H

#include <string.h>

#include "osm/host.h"
#include "osm/osm.h"
#include "osm/transport.h"

/* Marks of a block.  UNKNOWN: its content is not known, it must be read.  UNSURE: a sweep should
 * write it even if it has the right content, because the switch may still carry out an older Set.
 * WRITTEN: it was written, and the Set was acknowledged.  UNUSED: OpenSM has never written it, and it is
 * above the LinearFDBTop of the switch.  TRIED: it is not known whether its last Set was carried out. */
#define IBF_BLOCK_UNKNOWN 1
#define IBF_BLOCK_UNSURE 2
#define IBF_BLOCK_WRITTEN 4
#define IBF_BLOCK_UNUSED 8
#define IBF_BLOCK_TRIED 16

/* OpenSM's copy of a block has only entries with this port if the content of the block in the switch
 * is not known.  (No table sends 64 LIDs in succession to port 254.  If one did, the block would only
 * be read and written once more.) */
#define IBF_LFT_UNKNOWN 0xfe

struct ibf_blocks {
	struct ibf_plugin *p;
	const struct ftr_fabric *f;
	uint32_t n;		/* number of blocks of a switch */
	uint8_t *mark;		/* [n_sw * n] marks of each block */
	uint64_t *key;		/* [n_sw] M_Key, in network byte order */
	/* [n_sw] directed routes over the links of f; for switches that they do not reach, the route
	 * by which OpenSM has found the switch, over links that are not Active */
	struct rr_dr *route;
	struct ftr_tables *now;	/* the tables of the switches, with all Sets that were carried out; set
				 * by the caller before it copies or writes */
	/* The members below are for Sets, see ibf_sets_new(). */
	uint8_t *tried;		/* the entries of these Sets, in blocks that are TRIED; as now->lft */
	uint8_t *silent;	/* [n_sw] 1: it is not known whether a Set was carried out, or it was
				 * not */
	uint8_t *changed;	/* [LIDs] 1: entries of switches with links may have changed */
	uint64_t entries, sets;	/* numbers of changed entries, and of Sets carried out */
	uint32_t failed;	/* number of other Sets to switches with links */
	uint32_t n_silent;	/* number of silent switches with links */
	/* used by blocks.c only */
	struct rr_smp *job;	/* [n_jobs] the Sets that were not sent yet */
	uint32_t n_jobs;
	uint8_t (*data)[FTR_LFT_BLOCK];
};

static inline uint8_t *ibf_block(const struct ibf_blocks *b, ftr_sw s, uint32_t i)
{
	return &b->mark[(size_t)s * b->n + i];
}

/* Fill *b, which is all 0; no block has a mark.  The caller holds OpenSM's lock. */
enum ftr_status ibf_blocks_new(struct ibf_plugin *p, const struct ftr_fabric *f,
			       struct ibf_blocks *b, struct ftr_err *err) FTR_MUST_USE;
void ibf_blocks_fini(struct ibf_blocks *b);
/* Read the blocks that are UNKNOWN into t until the time `end`, and remove this mark from each
 * block that was read.  *failed: number of blocks that were not read.  OpenSM's lock is not
 * needed. */
enum ftr_status ibf_blocks_read(const struct ibf_blocks *b, double end,
				struct ftr_tables *t, uint64_t *failed,
				struct ftr_err *err) FTR_MUST_USE;
/* Set each entry to FTR_PORT_NONE whose LID the fabric cannot have, or whose port the switch does not
 * have.  Entries for LIDs without an owner stay, because packets may still follow them.  Blocks that are
 * equal in `valid` are skipped; NULL: none. */
void ibf_clear_invalid(const struct ftr_fabric *f, struct ftr_tables *t,
		       const struct ftr_tables *valid);

/* Sets.  All packets to a switch take the same route, so the switch carries them out in the order in
 * which they were sent.  If a Set is not acknowledged, or was sent more than once, the block is read
 * before the next batch. */
enum ftr_status ibf_sets_new(struct ibf_blocks *b, struct ftr_err *err) FTR_MUST_USE;
void ibf_sets_silent(struct ibf_blocks *b, ftr_sw s);
/* Add a Set of a block.  Returns its entries, a copy of those in `now`, for the caller to change.  May
 * send earlier Sets. */
uint8_t *ibf_sets_add(struct ibf_blocks *b, ftr_sw s, uint32_t block);
/* Send the Sets that were added, and wait for their acknowledgements. */
void ibf_sets_send(struct ibf_blocks *b);

/* OpenSM's copies; the caller holds OpenSM's lock, exclusively except for the first.  `to`: the new
 * tables, which are in new_lft.
 *
 * Copy lft to `now`, and mark the blocks that are not known or not in use. */
void ibf_blocks_copy(const struct ibf_blocks *b, const struct ftr_tables *to);
/* Store the new blocks in lft that are WRITTEN, unless a sweep should write them again. */
void ibf_blocks_settle(const struct ibf_blocks *b, const struct ftr_tables *to);
/* Let OpenSM write the entries that the switches hold, repeat the Sets of blocks that are TRIED, and clear
 * UNUSED blocks that were not written, as it raises LinearFDBTop.
 * UNKNOWN blocks, and switches without an Active link, get their new entries: no packet can reach such a
 * switch, and OpenSM will activate its links.  If `sound`, silent switches get those whose new paths have
 * no other unwritten entry.  Returns true if new entries remain. */
bool ibf_blocks_leave(const struct ibf_blocks *b, const struct ftr_tables *to, bool sound);

/* True if `to` has another entry on the present path from s, which may be a loop. */
bool ibf_path_changes(const struct ibf_blocks *b, const struct ftr_tables *to, ftr_sw s, ftr_lid lid);
/* True if the fabric has a link between s and another switch.  If not, no packet passes s. */
bool ibf_has_link(const struct ftr_fabric *f, ftr_sw s);

static inline bool ibf_block_equal(const struct ftr_tables *t, const struct ftr_tables *u, ftr_sw s,
				   uint32_t block)
{
	return !memcmp(ftr_tables_row(t, s) + block * FTR_LFT_BLOCK,
		       ftr_tables_row(u, s) + block * FTR_LFT_BLOCK, FTR_LFT_BLOCK);
}

#endif
