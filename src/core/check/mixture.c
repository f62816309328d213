// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Proves that no mixture of two tables has a credit loop (ftr_check_mixtures()).
 *
 * If every entry of both tables leads up or down by rank, and no entry that leads down leads to a
 * switch with an entry for the same LID that leads up, then no dependency leads from a downward link
 * to an upward one (Gliksberg et al. 2020, section 4.1).  This is also so for entries that no path
 * uses, so the proof may fail although no mixture has a credit loop.
 *
 * The first pass over the switches makes the set of LIDs for which a switch has an entry that leads up,
 * the second looks up these sets.  Where a block is equal in both tables, one is examined.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

/* Where the entries with a port lead: 0: to no switch; UP, FLAT: to a switch of higher or of the same
 * rank; else 1 + the switch, which has a lower rank. */
enum { UP = UINT16_MAX, FLAT = UINT16_MAX - 1 };
_Static_assert(CHK_SW_MAX < FLAT, "a switch is not UP or FLAT");

struct mixture {
	const struct ftr_tables *t[2];
	uint32_t n_blocks;	/* of 64 LIDs */
	uint16_t *lead;		/* [n_sw * 256] */
	uint64_t *up;		/* [n_sw * n_blocks] see above; bit i: LID i of the block */
	atomic_bool unproved;
};

static void set_leads(struct mixture *m, const struct ftr_fabric *f, const uint8_t *rank)
{
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *q = ftr_fabric_port(f, s, p);

			if (q->peer_kind != FTR_PEER_SW)
				continue;
			m->lead[(size_t)s * 256 + p] = (uint16_t)
				(rank[q->peer] > rank[s] ? UP :
				 rank[q->peer] == rank[s] ? FLAT : q->peer + 1);
		}
}

static const uint8_t *block(const struct mixture *m, unsigned int k, uint32_t i)
{
	return m->t[k]->lft + (size_t)i * FTR_LFT_BLOCK;
}

/* 1 if block i is equal in both tables, otherwise 2. */
static unsigned int n_different(const struct mixture *m, uint32_t i)
{
	return memcmp(block(m, 0, i), block(m, 1, i), FTR_LFT_BLOCK) ? 2 : 1;
}

static void find_up(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	struct mixture *m = ctx;

	(void)worker;
	for (uint32_t i = begin; i < end; i++) {
		const uint16_t *lead = m->lead + (size_t)(i / m->n_blocks) * 256;
		uint64_t up = 0;

		for (unsigned int k = n_different(m, i); k-- > 0;)
			for (uint32_t b = 0; b < FTR_LFT_BLOCK; b++)
				up |= (uint64_t)(lead[block(m, k, i)[b]] == UP) << b;
		m->up[i] = up;
	}
}

static void find_turns(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	struct mixture *m = ctx;
	bool bad = false;

	(void)worker;
	for (uint32_t i = begin; i < end; i++) {
		for (unsigned int k = n_different(m, i); k-- > 0;)
			for (uint32_t b = 0; b < FTR_LFT_BLOCK; b++) {
				uint16_t to = m->lead[(size_t)(i / m->n_blocks) * 256 +
							 block(m, k, i)[b]];
				size_t down = (to - 1u) * (size_t)m->n_blocks + i % m->n_blocks;

				bad |= to == FLAT || (to && to != UP && m->up[down] >> b & 1);
			}
		if (bad) {
			atomic_store(&m->unproved, true);
			return;
		}
	}
}

enum ftr_status ftr_check_mixtures(const struct ftr_fabric *f, const struct ftr_tables *const t[2],
				   const uint8_t *rank, struct ftr_team *team, bool *proved,
				   struct ftr_err *err)
{
	struct mixture m = { .t = { t[0], t[1] }, .n_blocks = t[0]->stride / FTR_LFT_BLOCK };
	enum ftr_status st = chk_same_size(f, t[0], err);

	if (!st)
		st = chk_same_size(f, t[1], err);
	if (!st && f->n_sw > CHK_SW_MAX)
		st = ftr_fail(err, FTR_LIMIT, "the fabric has %u switches; the checker supports at most %u",
			      f->n_sw, (unsigned int)CHK_SW_MAX);
	if (st)
		return st;
	m.lead = ftr_calloc((size_t)f->n_sw * 256 + 1, sizeof(*m.lead));
	m.up = ftr_calloc((size_t)f->n_sw * m.n_blocks + 1, sizeof(*m.up));
	if (m.lead && m.up) {
		set_leads(&m, f, rank);
		ftr_team_run(team, f->n_sw * m.n_blocks, 1024, find_up, &m);
		ftr_team_run(team, f->n_sw * m.n_blocks, 1024, find_turns, &m);
		*proved = !m.unproved;
	} else {
		st = ftr_nomem(err, "the check of mixtures");
	}
	free(m.lead);
	free(m.up);
	return st;
}
