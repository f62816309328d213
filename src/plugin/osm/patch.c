// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * OpenSM's copy of the tables while the fast path writes to switches.
 *
 * OpenSM has two copies of every table: lft, which the switch has acknowledged, and new_lft, which
 * the switch should hold.  A sweep writes the blocks in which lft and new_lft differ.
 *
 * Before a repair writes a block, new_lft gets the new data, and lft gets a block that no table has
 * (IBF_LFT_UNKNOWN, blocks.h).  So lft and new_lft differ until lft gets the new data, too.  Until
 * then, any sweep writes the block, even if the plugin no longer runs, and an ordered transition
 * reads it from the switch (transition.c).
 *
 * lft gets the new data when the write is done, except in these cases:
 *
 * - Not all packets to the switch were acknowledged.
 * - A packet to the switch was sent more than once.  The switch may still carry out a packet that
 *   timed out, even after a later packet.
 * - lft and new_lft differed before the write.  The switch may still carry out an earlier packet of
 *   OpenSM.
 *
 * OpenSM may begin a routing during the writes.  At the end of a discovery it waits for them, but
 * only for a limited time.  Before a forced reroute it does not wait, because no event reports that
 * the reroute begins.  If OpenSM has routed during the writes, its new tables are the right ones.
 * But a switch may have carried out the packets of OpenSM and of the repair in any order.  So after
 * the routing the blocks of the repair are marked, and a sweep writes them again.
 */
#include <inttypes.h>
#include <string.h>

#include "osm/blocks.h"
#include "osm/fast.h"

/* True if the epoch (the time between two routings) of a repair is over: a routing has begun, or
 * the tables of the switches are unknown.  Engines of OpenSM and of other plugins do not post
 * RR_EV_ROUTING.  If such an engine has routed, and no event has reported this yet, post
 * RR_EV_ROUTING here.  OpenSM's lock is held. */
static bool has_routed(struct ibf_fast *f, uint32_t epoch)
{
	struct rr_event ev = { .kind = RR_EV_ROUTING };
	bool has;

	pthread_mutex_lock(&f->rr.mutex);
	if (f->rr.state.tables != RR_FOREIGN && ibf_other_routed(f->p))
		rr_post_locked(&f->rr, &ev);
	has = !rr_may_write(&f->rr.state, epoch);
	pthread_mutex_unlock(&f->rr.mutex);
	return has;
}

static uint32_t offset(const struct rr_block *b)
{
	return b->block * FTR_LFT_BLOCK;
}

static osm_switch_t *table_of(const struct ibf_fast *f, const struct rr_block *b)
{
	return ibf_host_table(f->p, b->guid, offset(b) + FTR_LFT_BLOCK - 1);
}

/* Store the blocks in new_lft, and mark them in lft.  If a block is written in several steps, the
 * data of the last step remain. */
static enum ftr_status announce(const struct ibf_fast *f, struct rr_block *b, uint32_t n,
				struct ftr_err *err)
{
	if (f->p->osm->subn.sm_state != IB_SMINFO_STATE_MASTER)
		return ftr_fail(err, FTR_REFUSED, "this subnet manager is no longer master");
	for (uint32_t i = 0; i < n; i++) {
		osm_switch_t *sw = b[i].skip ? NULL : table_of(f, &b[i]);

		if (!b[i].skip && !sw)
			return ftr_fail(err, FTR_REFUSED, "OpenSM has no table for block %u of switch %s (0x%016"
					PRIx64 ")", b[i].block, b[i].name, b[i].guid);
		b[i].host = sw;
		b[i].open = sw && memcmp(sw->lft + offset(&b[i]), sw->new_lft + offset(&b[i]),
					 FTR_LFT_BLOCK);
	}
	for (uint32_t i = 0; i < n; i++) {
		osm_switch_t *sw = b[i].host;

		if (!sw)
			continue;
		memcpy(sw->new_lft + offset(&b[i]), b[i].data, FTR_LFT_BLOCK);
		memset(sw->lft + offset(&b[i]), IBF_LFT_UNKNOWN, FTR_LFT_BLOCK);
	}
	return FTR_OK;
}

/* Reserve room in f->suspect for n more blocks that a sweep must write again. */
static bool reserve_suspects(struct ibf_fast *f, uint32_t n)
{
	void *grown = ftr_reallocarray(f->suspect, f->n_suspects + n + 1u, sizeof(*f->suspect));

	if (grown)
		f->suspect = grown;
	return grown != NULL;
}

enum ftr_status ibf_patch_announce(void *ctx, struct rr_block *b, uint32_t n,
				   uint32_t epoch, struct ftr_err *err)
{
	struct ibf_fast *f = ctx;
	struct osm_opensm *osm = f->p->osm;
	enum ftr_status st;

	if (!reserve_suspects(f, n))
		return ftr_nomem(err, "writes");
	CL_PLOCK_EXCL_ACQUIRE(&osm->lock);
	/* OpenSM may have routed while this thread waited for the lock */
	st = has_routed(f, epoch) ?
		ftr_fail(err, FTR_REFUSED, "OpenSM has routed meanwhile") :
		announce(f, b, n, err);
	CL_PLOCK_RELEASE(&osm->lock);
	return st;
}

uint32_t ibf_patch_settle(void *ctx, const struct rr_block *b, uint32_t n,
			  uint32_t epoch, bool *rewrite)
{
	struct ibf_fast *f = ctx;
	struct osm_opensm *osm = f->p->osm;
	uint32_t unsettled = 0;
	bool ours;

	CL_PLOCK_EXCL_ACQUIRE(&osm->lock);
	ours = !has_routed(f, epoch);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = offset(&b[i]);
		osm_switch_t *sw = table_of(f, &b[i]);

		if (b[i].skip)
			continue;
		if (!ours)
			f->suspect[f->n_suspects++] = (struct ibf_suspect){ b[i].guid, at };
		else if (!sw)
			unsettled++;
		else if (memcmp(sw->new_lft + at, b[i].data, FTR_LFT_BLOCK))
			continue;	/* a later step writes this block again */
		else if (b[i].sure)
			memcpy(sw->lft + at, b[i].data, FTR_LFT_BLOCK);
		else
			unsettled++;
	}
	CL_PLOCK_RELEASE(&osm->lock);
	*rewrite = f->n_suspects > 0;
	return unsettled;
}

/* Make the next sweep write the blocks of f->suspect: the switches may hold older entries. */
void ibf_patch_rewrite(void *ctx)
{
	struct ibf_fast *f = ctx;
	struct osm_opensm *osm = f->p->osm;

	CL_PLOCK_EXCL_ACQUIRE(&osm->lock);
	for (uint32_t i = 0; i < f->n_suspects; i++) {
		uint32_t at = f->suspect[i].at;
		osm_switch_t *sw = ibf_host_table(f->p, f->suspect[i].guid, at + FTR_LFT_BLOCK - 1);

		if (sw)
			memset(sw->lft + at, IBF_LFT_UNKNOWN, FTR_LFT_BLOCK);
	}
	CL_PLOCK_RELEASE(&osm->lock);
	f->n_suspects = 0;
}
