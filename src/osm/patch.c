// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * OpenSM's copy of the tables while the fast path writes to switches.
 *
 * OpenSM has two copies of every table: lft, the table that the switch
 * acknowledged, and new_lft, the table that it should hold.  A sweep writes the
 * blocks in which they differ.  So, for every block that a repair is going to
 * write:
 *
 *	before the first packet		new_lft = new, lft = complement of new
 *	all packets to the switch	lft = new
 *	were acknowledged
 *	not all were acknowledged	lft stays the complement: the next sweep writes
 *					the block
 *	a packet to the switch		lft stays: a packet that timed out may still
 *	was sent more than once		be carried out, even after a later one
 *	lft and new_lft differed	lft stays: an earlier packet of OpenSM may still
 *	before the repair		be carried out
 *
 * So after a successful repair the next sweep writes none of these blocks, unless its routing
 * changes them.  After any other repair it also writes the blocks whose lft stays the
 * complement.  This holds whenever the sweep begins, and even if the plugin no longer runs.
 * (No block is equal to its complement, so OpenSM always sees a difference.)
 *
 * A routing may begin during the writes: OpenSM reports no event when a forced reroute begins,
 * and after a discovery it waits for the writes for a limited time only.  Then the tables of
 * that routing are the right ones, but the switches may have carried out our packets and
 * OpenSM's in either order.  So the blocks of this repair are marked when the routing is done,
 * and a sweep writes them again.
 */
#include <inttypes.h>
#include <string.h>

#include "osm/fast.h"

/* True if the epoch is over, that is, if a routing has begun or the tables of the switches are
 * unknown.  An engine before ours in OpenSM's list routes without a call to the plugin.  If such
 * an engine has routed and no event has reported this yet, this function posts RR_EV_ROUTING.
 * OpenSM's lock is held. */
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

static size_t offset(const struct rr_block *b)
{
	return b->block * (size_t)FTR_LFT_BLOCK;
}

static enum ftr_status writable(const struct ibf_fast *f,
				const struct rr_block *b, uint32_t n,
				struct ftr_err *err)
{
	if (f->p->osm->subn.sm_state != IB_SMINFO_STATE_MASTER)
		return ftr_fail(err, FTR_REFUSED, "this subnet manager is no longer master");
	for (uint32_t i = 0; i < n; i++) {
		const osm_switch_t *sw = ibf_host_switch(f->p, b[i].guid);

		if (b[i].skip)
			continue;
		if (!sw || !sw->lft || !sw->new_lft ||
		    offset(&b[i]) + FTR_LFT_BLOCK > sw->lft_size)
			return ftr_fail(err, FTR_REFUSED,
					"OpenSM has no table for block %u of switch %s (0x%016"
					PRIx64 ")", b[i].block, b[i].name,
					b[i].guid);
	}
	return FTR_OK;
}

/* If a block is written in several steps, OpenSM's copy gets the data of the last step. */
static void announce(struct ibf_fast *f, struct rr_block *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const osm_switch_t *sw = ibf_host_switch(f->p, b[i].guid);

		b[i].open = !b[i].skip &&
			memcmp(sw->lft + offset(&b[i]),
			       sw->new_lft + offset(&b[i]), FTR_LFT_BLOCK);
	}
	for (uint32_t i = 0; i < n; i++) {
		osm_switch_t *sw = ibf_host_switch(f->p, b[i].guid);

		if (b[i].skip)
			continue;
		memcpy(sw->new_lft + offset(&b[i]), b[i].data, FTR_LFT_BLOCK);
		for (uint32_t k = 0; k < FTR_LFT_BLOCK; k++)
			sw->lft[offset(&b[i]) + k] = (uint8_t)~b[i].data[k];
	}
}

/* Reserve room for n more suspects (blocks that a sweep must write again),
 * before anything is written. */
static bool reserve_suspects(struct ibf_fast *f, uint32_t n)
{
	void *grown = ftr_reallocarray(f->suspect, f->n_suspects + n + 1u,
				       sizeof(*f->suspect));

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
		return ftr_fail(err, FTR_NOMEM, "out of memory for writes");
	CL_PLOCK_EXCL_ACQUIRE(&osm->lock);
	/* if OpenSM has routed while we waited for the lock, its tables are newer */
	st = has_routed(f, epoch) ?
		ftr_fail(err, FTR_REFUSED, "OpenSM has routed meanwhile") :
		writable(f, b, n, err);
	if (!st)
		announce(f, b, n);
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
		size_t at = offset(&b[i]);
		osm_switch_t *sw = ibf_host_switch(f->p, b[i].guid);

		if (b[i].skip)
			continue;
		if (ours && sw && sw->new_lft &&
		    memcmp(sw->new_lft + at, b[i].data, FTR_LFT_BLOCK))
			continue;	/* a later step has written this block */
		if (!ours)
			f->suspect[f->n_suspects++] = (struct ibf_suspect){
				b[i].guid, b[i].block
			};
		else if (sw && sw->lft && b[i].sure)
			memcpy(sw->lft + at, b[i].data, FTR_LFT_BLOCK);
		else
			unsettled++;
	}
	CL_PLOCK_RELEASE(&osm->lock);
	*rewrite = f->n_suspects > 0;
	return unsettled;
}

/* Make the next sweep write the suspects: the switches may hold older entries in these
 * blocks. */
void ibf_patch_rewrite(void *ctx)
{
	struct ibf_fast *f = ctx;
	struct osm_opensm *osm = f->p->osm;

	CL_PLOCK_EXCL_ACQUIRE(&osm->lock);
	for (uint32_t i = 0; i < f->n_suspects; i++) {
		osm_switch_t *sw = ibf_host_switch(f->p, f->suspect[i].guid);
		size_t at = f->suspect[i].block * (size_t)FTR_LFT_BLOCK;

		if (!sw || !sw->lft || !sw->new_lft ||
		    at + FTR_LFT_BLOCK > sw->lft_size)
			continue;
		for (uint32_t k = 0; k < FTR_LFT_BLOCK; k++)
			sw->lft[at + k] = (uint8_t)~sw->new_lft[at + k];
	}
	CL_PLOCK_RELEASE(&osm->lock);
	f->n_suspects = 0;
}
