// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads and writes blocks of tables during a routing, and OpenSM's copies of them (blocks.h).
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
	free(b->job);
	free(b->silent);
	free(b->changed);
	free(b->data);
	free(b->tried);
}

/* ---- batches ---------------------------------------------------------------- */

/* Make *j a Get. */
static struct rr_smp *make_get(struct rr_smp *j, const struct ibf_blocks *b, ftr_sw s, uint32_t block)
{
	*j = (struct rr_smp){
		.attr = RR_ATTR_LFT, .mod = block, .m_key = b->key[s], .n_routes = 1, .sw = s,
	};
	j->route[0] = b->route[s];
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
static uint64_t read_batch(const struct ibf_blocks *b, struct rr_smp *job, uint32_t n, double end,
			   struct ftr_tables *t)
{
	struct rr_smp_policy policy = policy_of(b);
	uint64_t failed = 0;

	policy.limit = end - ibf_now_ms();
	if (policy.limit > 0 && n && !__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED))
		ibf_smp_run(b->p->smp, job, n, &policy);
	for (uint32_t i = 0; i < n; i++) {
		const struct rr_smp *j = &job[i];

		if (j->state != RR_SMP_DONE) {
			failed++;
			continue;
		}
		memcpy(ftr_tables_row(t, j->sw) + j->mod * FTR_LFT_BLOCK, j->answer,
		       FTR_LFT_BLOCK);
		*ibf_block(b, j->sw, j->mod) &= (uint8_t)~IBF_BLOCK_UNKNOWN;
	}
	return failed;
}

enum ftr_status ibf_blocks_read(const struct ibf_blocks *b, double end,
				struct ftr_tables *t, uint64_t *failed,
				struct ftr_err *err)
{
	struct rr_smp *job = ftr_calloc(BATCH, sizeof(*job));
	uint32_t n = 0;

	*failed = 0;
	if (!job)
		return ftr_nomem(err, "reading the tables of %u switches", b->f->n_sw);
	for (ftr_sw s = 0; s < b->f->n_sw; s++)
		for (uint32_t i = 0; i < b->n; i++) {
			if (!(*ibf_block(b, s, i) & IBF_BLOCK_UNKNOWN))
				continue;
			if (n == BATCH) {
				*failed += read_batch(b, job, n, end, t);
				n = 0;
			}
			make_get(&job[n++], b, s, i);
		}
	*failed += read_batch(b, job, n, end, t);
	free(job);
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

/* ---- OpenSM's copies --------------------------------------------------------- */

/* True if OpenSM's copy of a block is that of the switch: neither unknown nor cleared by OpenSM. */
static bool is_plausible(const struct ftr_fabric *f, ftr_sw s, const uint8_t *row, uint32_t block)
{
	uint32_t first = block * FTR_LFT_BLOCK;
	uint32_t end = FTR_MIN(first + FTR_LFT_BLOCK, f->max_lid + 1u);
	uint8_t unknown[FTR_LFT_BLOCK];

	memset(unknown, IBF_LFT_UNKNOWN, sizeof(unknown));
	if (!memcmp(row + first, unknown, end - first))
		return false;
	for (uint32_t lid = first; lid < end; lid++) {
		const struct ftr_lid_owner *o = &f->owner[lid];

		if (row[lid] != FTR_PORT_NONE && row[lid] > f->sw[s].n_ports)
			return false;
		if (!row[lid] && o->kind == FTR_OWNER_EP)
			return false;
		if (!row[lid] && o->kind == FTR_OWNER_SW && o->idx != s)
			return false;
	}
	return true;
}

static bool is_empty(const uint8_t *row, uint32_t n)
{
	return *row == FTR_PORT_NONE && !memcmp(row, row + 1, n - 1);
}

void ibf_blocks_copy(const struct ibf_blocks *b, const struct ftr_tables *to)
{
	const struct ftr_fabric *f = b->f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const osm_switch_t *sw = ibf_host_switch(b->p, f->sw[s].guid);
		uint8_t *row = ftr_tables_row(b->now, s);
		uint32_t top = cl_ntoh16(sw->switch_info.lin_top);
		bool new;

		memcpy(row, sw->lft, FTR_MIN(sw->lft_size, f->max_lid + 1u));
		new = is_empty(row, f->max_lid + 1u);
		for (uint32_t i = 0; i < b->n; i++)
			if (new || (!ibf_block_equal(b->now, to, s, i) && !is_plausible(f, s, row, i)))
				*ibf_block(b, s, i) = IBF_BLOCK_UNKNOWN | IBF_BLOCK_UNSURE;
			else if (i * FTR_LFT_BLOCK > top &&
				 is_empty(row + i * FTR_LFT_BLOCK, FTR_LFT_BLOCK))
				*ibf_block(b, s, i) = IBF_BLOCK_UNUSED;
	}
}

void ibf_blocks_settle(const struct ibf_blocks *b, const struct ftr_tables *to)
{
	for (ftr_sw s = 0; s < b->f->n_sw; s++) {
		osm_switch_t *sw = ibf_host_switch(b->p, b->f->sw[s].guid);

		for (uint32_t i = 0; i < b->n; i++)
			if (*ibf_block(b, s, i) == IBF_BLOCK_WRITTEN && ibf_block_equal(b->now, to, s, i))
				memcpy(sw->lft + i * FTR_LFT_BLOCK,
				       ftr_tables_row(b->now, s) + i * FTR_LFT_BLOCK, FTR_LFT_BLOCK);
	}
}

bool ibf_path_changes(const struct ibf_blocks *b, const struct ftr_tables *to, ftr_sw s, ftr_lid lid)
{
	for (uint32_t hops = 0; s != FTR_SW_NONE && hops < b->f->n_sw; hops++) {
		ftr_port p = ftr_tables_get(b->now, s, lid);

		if (p != ftr_tables_get(to, s, lid))
			return true;
		s = ftr_fabric_next(b->f, s, p);
	}
	return false;
}

/* True if a silent switch may get its new entry at any time: all others on its new path are in force. */
static bool may_get(const struct ibf_blocks *b, const struct ftr_tables *to, ftr_sw s, ftr_lid lid)
{
	ftr_port p = ftr_tables_get(to, s, lid);

	return p != FTR_PORT_NONE && !ibf_path_changes(b, to, ftr_fabric_next(b->f, s, p), lid);
}

bool ibf_blocks_leave(const struct ibf_blocks *b, const struct ftr_tables *to, bool sound)
{
	bool remain = false;

	for (ftr_sw s = 0; s < b->f->n_sw; s++) {
		osm_switch_t *sw = ibf_host_switch(b->p, b->f->sw[s].guid);
		uint32_t n = FTR_MIN(sw->lft_size, b->f->max_lid + 1u);

		if (!ibf_has_link(b->f, s))
			continue;
		for (uint32_t lid = 0; lid < n; lid++) {
			uint8_t mark = *ibf_block(b, s, lid / FTR_LFT_BLOCK);
			size_t at = (size_t)s * b->now->stride + lid;
			const uint8_t *held = mark & IBF_BLOCK_TRIED ? b->tried : b->now->lft;
			bool get = sound && b->silent[s] && may_get(b, to, s, (ftr_lid)lid);

			if (!get && !(mark & IBF_BLOCK_UNKNOWN))
				sw->new_lft[lid] = held[at];
			if (mark == IBF_BLOCK_UNUSED || (b->silent[s] && mark & IBF_BLOCK_UNSURE))
				sw->lft[lid] = IBF_LFT_UNKNOWN;
		}
		remain |= memcmp(sw->new_lft, ftr_tables_row(to, s), n);
	}
	return remain;
}

/* ---- writing ---------------------------------------------------------------- */

enum ftr_status ibf_sets_new(struct ibf_blocks *b, struct ftr_err *err)
{
	b->job = ftr_calloc(BATCH, sizeof(*b->job));
	b->silent = ftr_calloc(b->f->n_sw + 1u, 1);
	b->changed = ftr_calloc(b->n + 1u, FTR_LFT_BLOCK);
	b->data = ftr_calloc(BATCH, sizeof(*b->data));
	b->tried = ftr_calloc((size_t)b->f->n_sw + 1, (size_t)b->n * FTR_LFT_BLOCK);
	return b->job && b->silent && b->changed && b->data && b->tried ? FTR_OK : ftr_nomem(err, "writes");
}

void ibf_sets_silent(struct ibf_blocks *b, ftr_sw s)
{
	b->n_silent += !b->silent[s] && ibf_has_link(b->f, s);
	b->silent[s] = 1;
}

uint8_t *ibf_sets_add(struct ibf_blocks *b, ftr_sw s, uint32_t block)
{
	uint8_t *data;

	if (b->n_jobs == BATCH)
		ibf_sets_send(b);
	data = b->data[b->n_jobs];
	memcpy(data, ftr_tables_row(b->now, s) + block * FTR_LFT_BLOCK, FTR_LFT_BLOCK);
	make_get(&b->job[b->n_jobs++], b, s, block)->payload = data;
	return data;
}

/* True if the Set was acknowledged, and no copy of it is on its way. */
static bool is_settled(const struct rr_smp *j)
{
	return j->state == RR_SMP_DONE && j->tries == 1 && !j->twice;
}

/* Send Gets of the blocks whose Sets are not settled.  If such a Get is answered, no copy of the Set
 * can be carried out later, because no packet overtakes another on the same route. */
static void read_unsettled(struct ibf_blocks *b, const struct rr_smp_policy *policy)
{
	bool any = false;

	for (uint32_t i = 0; i < b->n_jobs; i++) {
		struct rr_smp *j = &b->job[i];

		j->skip = is_settled(j);
		any |= !j->skip;
		if (!j->skip)
			j->payload = NULL;
	}
	if (any)
		ibf_smp_run(b->p->smp, b->job, b->n_jobs, policy);
}

bool ibf_has_link(const struct ftr_fabric *f, ftr_sw s)
{
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
		if (ftr_fabric_next(f, s, (ftr_port)p) != FTR_SW_NONE)
			return true;
	return false;
}

void ibf_sets_send(struct ibf_blocks *b)
{
	struct rr_smp_policy policy = policy_of(b);

	policy.window = FTR_MIN(policy.window, WRITE_WINDOW_MAX);
	if (b->n_jobs) {
		ibf_smp_run(b->p->smp, b->job, b->n_jobs, &policy);
		read_unsettled(b, &policy);
	}
	for (uint32_t i = 0; i < b->n_jobs; i++) {
		const struct rr_smp *j = &b->job[i];
		uint8_t *now = ftr_tables_row(b->now, j->sw) + j->mod * FTR_LFT_BLOCK;
		uint8_t *mark = ibf_block(b, j->sw, j->mod);
		bool linked = ibf_has_link(b->f, j->sw);

		for (uint32_t k = 0; k < FTR_LFT_BLOCK; k++)
			b->changed[j->mod * FTR_LFT_BLOCK + k] |= linked && now[k] != b->data[i][k];
		if (j->state != RR_SMP_DONE ||
		    (!j->payload && memcmp(j->answer, b->data[i], FTR_LFT_BLOCK))) {
			*mark |= IBF_BLOCK_UNSURE | IBF_BLOCK_TRIED;
			memcpy(b->tried + (now - b->now->lft), b->data[i], FTR_LFT_BLOCK);
			ibf_sets_silent(b, j->sw);
			b->failed += linked;
			continue;
		}
		for (uint32_t k = 0; k < FTR_LFT_BLOCK; k++)
			b->entries += now[k] != b->data[i][k];
		b->sets++;
		memcpy(now, b->data[i], FTR_LFT_BLOCK);
		*mark |= IBF_BLOCK_WRITTEN;
	}
	b->n_jobs = 0;
}
