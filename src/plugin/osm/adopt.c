// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Option "adopt": when a subnet manager without stored tables routes for the first time as
 * master, it reads the forwarding tables of all switches.  They become the preferred tables
 * of this routing (prefer.c): an entry does not change if it is valid and does not lead over
 * an overloaded link.
 *
 * OpenSM never reads forwarding tables, so the plugin sends Get requests itself.  It
 * requests the blocks (of 64 LIDs) of each switch up to the LID
 *
 *	min(LinearFDBTop of the switch, greatest LID of the fabric)
 *
 * The tables are read during the routing, with OpenSM's lock held and within a time limit.
 * Answers arrive on another thread, which does not take OpenSM's lock.  Reading in the
 * background would save no time: the fabric is known only when OpenSM calls the engine, and
 * the routing needs the tables.
 *
 * The tables are not trusted.  If the switch does not have the port of an entry, the entry
 * counts as missing.  The engine keeps an entry only if its port is one of those from which
 * the engine chooses.
 */
#include <stdlib.h>
#include <string.h>

#include "osm/blocks.h"

#define READ_LIMIT_MS 10000	/* time for reading the tables of all switches */

/* Mark all blocks as unknown that the switches may hold; returns their number. */
static uint64_t mark_all(const struct ibf_blocks *b)
{
	uint64_t n = 0;

	for (ftr_sw s = 0; s < b->f->n_sw; s++) {
		const osm_switch_t *sw = ibf_host_switch(b->p, b->f->sw[s].guid);
		uint32_t top = cl_ntoh16(sw->switch_info.lin_top);

		top = FTR_MIN(top, b->f->max_lid);
		for (uint32_t i = 0; i <= top / FTR_LFT_BLOCK; i++, n++)
			*ibf_block(b, s, i) |= IBF_BLOCK_UNKNOWN;
	}
	return n;
}

enum ftr_status ibf_adopt(struct ibf_engine *e, const struct ftr_fabric *f, struct ftr_tables **out,
			  struct ftr_err *err)
{
	struct ibf_prefer *r = &e->prefer;
	struct ftr_tables *t = NULL;
	struct ibf_blocks b = { 0 };
	double t0 = ibf_now_ms();
	enum ftr_status st = ibf_blocks_new(e->plugin, f, &b, err);

	r->blocks = r->unanswered = 0;
	if (!st)
		st = ftr_tables_new(f, true, &t, err);
	if (!st) {
		r->blocks = mark_all(&b);
		st = ibf_blocks_read(&b, t0 + READ_LIMIT_MS, t, &r->unanswered, err);
	}
	if (!st) {
		ibf_clear_invalid(f, t, NULL);
		r->read_ms = ibf_now_ms() - t0;
		*out = t;
		t = NULL;
	}
	ftr_tables_free(t);
	ibf_blocks_fini(&b);
	return st;
}

void ibf_adopt_report(struct ibf_engine *e, const struct ibf_generation *gen)
{
	const struct ibf_prefer *r = &e->prefer;
	const struct ftr_fabric *f = gen->fabric;
	uint64_t kept = 0, found = 0, all = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const uint8_t *was = ftr_tables_row(gen->prefer, s);
		const uint8_t *now = ftr_tables_row(gen->tables, s);

		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			if (now[lid] == FTR_PORT_NONE)
				continue;
			all++;
			found += was[lid] != FTR_PORT_NONE;
			kept += was[lid] == now[lid];
		}
	}
	ibf_log(e->plugin, IBF_ADOPTED, "tables read from the switches: %" PRIu64 " of %"
		PRIu64 " entries found, %" PRIu64 " kept; blocks=%" PRIu64
		" unanswered=%" PRIu64 " ms=%.0f", found, all, kept,
		r->blocks, r->unanswered, r->read_ms);
}
