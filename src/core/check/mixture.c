// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Proves that no mixture of two tables has a credit loop (ftr_check_mixtures()).
 *
 * If every entry of both tables leads up or down by rank, and no entry that leads down leads to a
 * switch with an entry for the same LID that leads up, then no dependency leads from a downward link
 * to an upward one (Gliksberg et al. 2020, section 4.1).  This is also so for entries that no path
 * uses, so the proof may fail although no mixture has a credit loop.
 *
 * 64 LIDs are examined at once.  The first pass over the switches makes the set of LIDs for which a
 * switch has an entry that leads up, the second looks up these sets.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "check/check.h"

/* Where the entries with a port lead. */
struct lead {
	uint16_t down;	/* 1 + the switch, if it has a lower rank; otherwise 0 */
	uint8_t up;	/* 1: to a switch of higher rank */
	uint8_t flat;	/* 1: to a switch of the same rank */
};

struct mixture {
	const struct ftr_tables *t[2];
	uint32_t n_sw;
	struct lead *lead;	/* [n_sw * 256] */
	uint8_t *above;		/* [n_sw] 1: a link leads to a switch of lower rank */
	uint64_t *up;		/* [FTR_TEAM_MAX * n_sw] see above; bit i: LID i of the block */
	atomic_bool unproved;
};

static void set_leads(struct mixture *m, const struct ftr_fabric *f, const uint8_t *rank)
{
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *q = ftr_fabric_port(f, s, p);

			if (q->peer_kind != FTR_PEER_SW)
				continue;
			m->above[s] |= rank[q->peer] < rank[s];
			m->lead[(size_t)s * 256 + p] = (struct lead){
				.down = (uint16_t)(rank[q->peer] < rank[s] ? q->peer + 1 : 0),
				.up = rank[q->peer] > rank[s],
				.flat = rank[q->peer] == rank[s],
			};
		}
}

/* The row after `row`: b, if it differs from a in this block; NULL: there is none. */
static const uint8_t *next_row(const uint8_t *row, const uint8_t *a, const uint8_t *b)
{
	return row == a && memcmp(a, b, FTR_LFT_BLOCK) ? b : NULL;
}

/* Examine a block of both tables; where they are equal, only once. */
static void check_block(struct mixture *m, uint64_t *up, uint32_t base)
{
	bool flat = false, turns = false;

	for (ftr_sw s = 0; s < m->n_sw; s++) {
		const struct lead *lead = m->lead + (size_t)s * 256;
		const uint8_t *a = ftr_tables_row(m->t[0], s) + base;
		const uint8_t *b = ftr_tables_row(m->t[1], s) + base;

		up[s] = 0;
		for (const uint8_t *row = a; row; row = next_row(row, a, b))
			for (uint32_t i = 0; i < FTR_LFT_BLOCK; i++) {
				up[s] |= (uint64_t)lead[row[i]].up << i;
				flat |= lead[row[i]].flat;
			}
	}
	for (ftr_sw s = 0; s < m->n_sw; s++) {
		const struct lead *lead = m->lead + (size_t)s * 256;
		const uint8_t *a = ftr_tables_row(m->t[0], s) + base;
		const uint8_t *b = ftr_tables_row(m->t[1], s) + base;

		for (const uint8_t *row = m->above[s] ? a : NULL; row; row = next_row(row, a, b))
			for (uint32_t i = 0; i < FTR_LFT_BLOCK; i++) {
				uint32_t x = lead[row[i]].down;

				turns |= x && up[x - 1] >> i & 1;
			}
	}
	if (flat || turns)
		atomic_store(&m->unproved, true);
}

static void check_blocks(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	struct mixture *m = ctx;

	for (uint32_t i = begin; i < end && !atomic_load(&m->unproved); i++)
		check_block(m, m->up + (size_t)worker * m->n_sw, i * FTR_LFT_BLOCK);
}

enum ftr_status ftr_check_mixtures(const struct ftr_fabric *f, const struct ftr_tables *const t[2],
				   const uint8_t *rank, struct ftr_team *team, bool *proved,
				   struct ftr_err *err)
{
	struct mixture m = { .t = { t[0], t[1] }, .n_sw = f->n_sw };
	enum ftr_status st = chk_same_size(f, t[0], err);

	if (!st)
		st = chk_same_size(f, t[1], err);
	if (!st && f->n_sw > CHK_SW_MAX)
		st = ftr_fail(err, FTR_LIMIT, "the fabric has %u switches; the checker supports at most %u",
			      f->n_sw, (unsigned int)CHK_SW_MAX);
	if (st)
		return st;
	m.lead = ftr_calloc((size_t)f->n_sw * 256 + 1, sizeof(*m.lead));
	m.above = ftr_calloc(f->n_sw + 1u, 1);
	m.up = ftr_calloc((size_t)f->n_sw * FTR_TEAM_MAX + 1, sizeof(*m.up));
	if (m.lead && m.above && m.up) {
		set_leads(&m, f, rank);
		ftr_team_run(team, t[0]->stride / FTR_LFT_BLOCK, 4, check_blocks, &m);
		*proved = !m.unproved;
	} else {
		st = ftr_nomem(err, "the check of mixtures");
	}
	free(m.lead);
	free(m.above);
	free(m.up);
	return st;
}
