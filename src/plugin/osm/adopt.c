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
#include "osm/transport.h"

extern volatile unsigned int osm_exit_flag;

#define READ_LIMIT_MS 10000	/* time for reading the tables of all switches */
/* Number of requests per call of ibf_smp_run.  Option "fast_window" limits the number in flight. */
#define BATCH 1024
#define TRIES 3

struct reading {
	const struct ibf_blocks *b;
	struct ftr_tables *t;
	struct rr_smp *job;	/* [BATCH] */
	ftr_sw *sw;		/* [BATCH] the switch of each request */
	unsigned int n;
	double end;		/* deadline, as a value of ibf_now_ms() */
	uint64_t failed;
};

static void read_batch(struct reading *r)
{
	const struct ibf_options *o = &r->b->p->opt;
	struct rr_smp_policy policy = {
		.window = (unsigned int)o->fast_window,
		.timeout = o->fast_timeout_ms, .tries = TRIES,
		.limit = r->end - ibf_now_ms(),
	};

	if (policy.limit > 0 && r->n &&
	    !__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED))
		ibf_smp_run(r->b->p->smp, r->job, r->n, &policy);
	for (unsigned int i = 0; i < r->n; i++) {
		const struct rr_smp *j = &r->job[i];

		if (j->state != RR_SMP_DONE) {
			r->failed++;
			continue;
		}
		memcpy(ftr_tables_row(r->t, r->sw[i]) + j->mod * FTR_LFT_BLOCK,
		       j->answer, FTR_LFT_BLOCK);
		*ibf_block(r->b, r->sw[i], j->mod) &= (uint8_t)~IBF_BLOCK_UNKNOWN;
	}
	r->n = 0;
}

static void add_block(struct reading *r, ftr_sw s, uint32_t block)
{
	struct rr_smp *j;

	if (r->n == BATCH)
		read_batch(r);
	j = &r->job[r->n];
	*j = (struct rr_smp){
		.attr = RR_ATTR_LFT, .mod = block, .m_key = r->b->key[s],
	};
	j->n_routes = 1;
	j->route[0] = r->b->route[s];
	r->sw[r->n++] = s;
}

enum ftr_status ibf_blocks_read(const struct ibf_blocks *b, double end,
				struct ftr_tables *t, uint64_t *failed,
				struct ftr_err *err)
{
	struct reading r = {
		.b = b, .t = t, .end = end,
		.job = ftr_calloc(BATCH, sizeof(*r.job)),
		.sw = ftr_calloc(BATCH, sizeof(*r.sw)),
	};
	bool ok = r.job && r.sw;

	for (ftr_sw s = 0; ok && s < b->f->n_sw; s++)
		for (uint32_t i = 0; i < b->n; i++)
			if (*ibf_block(b, s, i) & IBF_BLOCK_UNKNOWN)
				add_block(&r, s, i);
	if (ok)
		read_batch(&r);
	*failed = r.failed;
	free(r.job);
	free(r.sw);
	return ok ? FTR_OK : ftr_nomem(err, "reading the tables of %u switches", b->f->n_sw);
}

enum ftr_status ibf_blocks_new(struct ibf_plugin *p, const struct ftr_fabric *f,
			       struct ibf_blocks *b, struct ftr_err *err)
{
	b->p = p;
	b->f = f;
	b->n = f->max_lid / FTR_LFT_BLOCK + 1u;
	b->key = ftr_calloc(f->n_sw + 1u, sizeof(*b->key));
	b->mark = ftr_calloc((size_t)f->n_sw + 1, b->n);
	b->route = ibf_directed_routes(p, f);
	if (!b->key || !b->mark || !b->route)
		return ftr_nomem(err, "the tables of %u switches", f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		b->key[s] = ibf_m_key(p, ibf_host_switch(p, f->sw[s].guid));
	return FTR_OK;
}

void ibf_blocks_fini(struct ibf_blocks *b)
{
	free(b->key);
	free(b->mark);
	free(b->route);
}

/* Mark all blocks as unknown that the switches may hold; returns their number. */
static uint64_t mark_all(const struct ibf_blocks *b)
{
	uint64_t n = 0;

	for (ftr_sw s = 0; s < b->f->n_sw; s++) {
		const osm_switch_t *sw = ibf_host_switch(b->p, b->f->sw[s].guid);
		uint32_t top = sw ? cl_ntoh16(sw->switch_info.lin_top) : 0;

		top = FTR_MIN(top, b->f->max_lid);
		for (uint32_t i = 0; sw && i <= top / FTR_LFT_BLOCK; i++, n++)
			*ibf_block(b, s, i) |= IBF_BLOCK_UNKNOWN;
	}
	return n;
}

void ibf_clear_invalid(const struct ftr_fabric *f, struct ftr_tables *t,
		       const struct ftr_tables *valid)
{
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		uint8_t *row = ftr_tables_row(t, s);

		for (uint32_t lid = 0; lid < t->stride; lid++)
			if (lid % FTR_LFT_BLOCK == 0 && valid &&
			    ibf_block_equal(t, valid, s, lid / FTR_LFT_BLOCK))
				lid += FTR_LFT_BLOCK - 1;
			else if (lid > f->max_lid || row[lid] > f->sw[s].n_ports ||
			    f->owner[lid].kind == FTR_OWNER_NONE)
				row[lid] = FTR_PORT_NONE;
	}
}

enum ftr_status ibf_adopt(struct ibf_plugin *p, const struct ftr_fabric *f,
			  struct ftr_tables **out, struct ibf_adopted *done,
			  struct ftr_err *err)
{
	struct ftr_tables *t = NULL;
	struct ibf_blocks b = { 0 };
	double t0 = ibf_now_ms();
	enum ftr_status st = ibf_blocks_new(p, f, &b, err);

	*done = (struct ibf_adopted){ 0 };
	if (!st)
		st = ftr_tables_new(f, true, &t, err);
	if (!st) {
		done->blocks = mark_all(&b);
		st = ibf_blocks_read(&b, t0 + READ_LIMIT_MS, t, &done->failed, err);
	}
	if (!st) {
		ibf_clear_invalid(f, t, NULL);
		done->ms = ibf_now_ms() - t0;
		*out = t;
		t = NULL;
	}
	ftr_tables_free(t);
	ibf_blocks_fini(&b);
	return st;
}

void ibf_adopt_report(struct ibf_plugin *p, const struct ibf_generation *gen,
		      const struct ibf_adopted *done)
{
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
	ibf_log(p, IBF_ADOPTED, "tables read from the switches: %" PRIu64 " of %"
		PRIu64 " entries found, %" PRIu64 " kept; blocks=%" PRIu64
		" unanswered=%" PRIu64 " ms=%.0f", found, all, kept,
		done->blocks, done->failed, done->ms);
}
