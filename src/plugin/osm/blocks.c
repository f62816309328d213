// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads and writes blocks of tables during a routing (blocks.h).
 *
 * Requests are collected and sent in batches.  Option "fast_window" limits the number of packets in
 * flight.
 */
#include <stdlib.h>

#include "osm/blocks.h"

extern volatile unsigned int osm_exit_flag;

#define BATCH 1024
#define WRITE_WINDOW_MAX 64	/* greatest number of unacknowledged Sets */
#define TRIES 3

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


/* ---- batches ---------------------------------------------------------------- */

static bool batch_new(struct ibf_batch *q)
{
	*q = (struct ibf_batch){
		.job = ftr_calloc(BATCH, sizeof(*q->job)), .sw = ftr_calloc(BATCH, sizeof(*q->sw)),
	};
	return q->job && q->sw;
}

static void batch_fini(struct ibf_batch *q)
{
	free(q->job);
	free(q->sw);
}

/* Add a Get. */
static struct rr_smp *add(struct ibf_batch *q, const struct ibf_blocks *b, ftr_sw s, uint32_t block)
{
	struct rr_smp *j = &q->job[q->n];

	*j = (struct rr_smp){ .attr = RR_ATTR_LFT, .mod = block, .m_key = b->key[s] };
	j->n_routes = 1;
	j->route[0] = b->route[s];
	q->sw[q->n++] = s;
	return j;
}

static struct rr_smp_policy policy_of(const struct ibf_blocks *b)
{
	const struct ibf_options *o = &b->p->opt;

	return (struct rr_smp_policy){
		.window = (unsigned int)o->fast_window, .timeout = o->fast_timeout_ms,
		.tries = TRIES,
	};
}

/* ---- reading ---------------------------------------------------------------- */

/* Returns the number of blocks that were not read. */
static uint64_t read_batch(struct ibf_batch *q, const struct ibf_blocks *b, double end,
			   struct ftr_tables *t)
{
	struct rr_smp_policy policy = policy_of(b);
	uint64_t failed = 0;

	policy.limit = end - ibf_now_ms();
	if (policy.limit > 0 && q->n && !__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED))
		ibf_smp_run(b->p->smp, q->job, q->n, &policy);
	for (unsigned int i = 0; i < q->n; i++) {
		const struct rr_smp *j = &q->job[i];

		if (j->state != RR_SMP_DONE) {
			failed++;
			continue;
		}
		memcpy(ftr_tables_row(t, q->sw[i]) + j->mod * FTR_LFT_BLOCK, j->answer,
		       FTR_LFT_BLOCK);
		*ibf_block(b, q->sw[i], j->mod) &= (uint8_t)~IBF_BLOCK_UNKNOWN;
	}
	q->n = 0;
	return failed;
}

enum ftr_status ibf_blocks_read(const struct ibf_blocks *b, double end,
				struct ftr_tables *t, uint64_t *failed,
				struct ftr_err *err)
{
	struct ibf_batch q;

	*failed = 0;
	if (!batch_new(&q)) {
		batch_fini(&q);
		return ftr_nomem(err, "reading the tables of %u switches", b->f->n_sw);
	}
	for (ftr_sw s = 0; s < b->f->n_sw; s++)
		for (uint32_t i = 0; i < b->n; i++) {
			if (!(*ibf_block(b, s, i) & IBF_BLOCK_UNKNOWN))
				continue;
			if (q.n == BATCH)
				*failed += read_batch(&q, b, end, t);
			add(&q, b, s, i);
		}
	*failed += read_batch(&q, b, end, t);
	batch_fini(&q);
	return FTR_OK;
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
			else if (!lid || row[lid] > f->sw[s].n_ports)
				row[lid] = FTR_PORT_NONE;
	}
}

/* ---- writing ---------------------------------------------------------------- */

enum ftr_status ibf_sets_new(struct ibf_sets *w, const struct ibf_blocks *b, struct ftr_err *err)
{
	bool ok = batch_new(&w->q);

	w->b = b;
	w->silent = ftr_calloc(b->f->n_sw + 1u, 1);
	w->changed = ftr_calloc(b->n + 1u, FTR_LFT_BLOCK);
	w->data = ftr_calloc(BATCH, sizeof(*w->data));
	return ok && w->silent && w->changed && w->data ? FTR_OK : ftr_nomem(err, "writes");
}

void ibf_sets_fini(struct ibf_sets *w)
{
	batch_fini(&w->q);
	free(w->silent);
	free(w->changed);
	free(w->data);
}

uint8_t *ibf_sets_add(struct ibf_sets *w, ftr_sw s, uint32_t block)
{
	uint8_t *data;

	if (w->q.n == BATCH)
		ibf_sets_send(w);
	data = w->data[w->q.n];
	memcpy(data, ftr_tables_row(w->now, s) + block * FTR_LFT_BLOCK, FTR_LFT_BLOCK);
	add(&w->q, w->b, s, block)->payload = data;
	return data;
}

/* True if the Set was acknowledged, and no copy of it is on its way. */
static bool is_settled(const struct rr_smp *j)
{
	return j->state == RR_SMP_DONE && j->tries == 1 && !j->twice;
}

/* Send Gets of the blocks whose Sets are not settled.  If such a Get is answered, no copy of the Set
 * can be carried out later, because no packet overtakes another on the same route. */
static void read_unsettled(struct ibf_sets *w, const struct rr_smp_policy *policy)
{
	bool any = false;

	for (uint32_t i = 0; i < w->q.n; i++) {
		struct rr_smp *j = &w->q.job[i];

		j->skip = is_settled(j);
		any |= !j->skip;
		if (!j->skip)
			j->payload = NULL;
	}
	if (any)
		ibf_smp_run(w->b->p->smp, w->q.job, w->q.n, policy);
}

bool ibf_has_link(const struct ftr_fabric *f, ftr_sw s)
{
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
		if (ftr_fabric_next(f, s, (ftr_port)p) != FTR_SW_NONE)
			return true;
	return false;
}

void ibf_sets_send(struct ibf_sets *w)
{
	struct rr_smp_policy policy = policy_of(w->b);

	policy.window = FTR_MIN(policy.window, WRITE_WINDOW_MAX);
	if (w->q.n) {
		ibf_smp_run(w->b->p->smp, w->q.job, w->q.n, &policy);
		read_unsettled(w, &policy);
	}
	for (uint32_t i = 0; i < w->q.n; i++) {
		const struct rr_smp *j = &w->q.job[i];
		ftr_sw s = w->q.sw[i];
		uint8_t *now = ftr_tables_row(w->now, s) + j->mod * FTR_LFT_BLOCK;
		uint8_t *mark = ibf_block(w->b, s, j->mod);
		bool linked = ibf_has_link(w->b->f, s);

		for (uint32_t k = 0; k < FTR_LFT_BLOCK; k++)
			w->changed[j->mod * FTR_LFT_BLOCK + k] |= linked && now[k] != w->data[i][k];
		if (j->state != RR_SMP_DONE ||
		    (!j->payload && memcmp(j->answer, w->data[i], FTR_LFT_BLOCK))) {
			*mark |= IBF_BLOCK_UNSURE;
			w->silent[s] = 1;
			w->failed++;
			continue;
		}
		for (uint32_t k = 0; k < FTR_LFT_BLOCK; k++)
			w->entries += now[k] != w->data[i][k];
		w->blocks++;
		memcpy(now, w->data[i], FTR_LFT_BLOCK);
		*mark |= IBF_BLOCK_WRITTEN;
	}
	w->q.n = 0;
}
