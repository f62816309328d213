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

#include "osm/host.h"
#include "osm/osm.h"
#include "osm/transport.h"

extern volatile unsigned int osm_exit_flag;

#define READ_LIMIT_MS 10000	/* time for reading the tables of all switches */
/* Number of requests per call of ibf_smp_run.  Option "fast_window" limits the number in flight. */
#define BATCH 1024
#define TRIES 3

struct reading {
	struct ibf_plugin *p;
	const struct ftr_fabric *f;
	struct ftr_tables *t;
	struct rr_dr_tree *tree;
	struct rr_smp *job;	/* [BATCH] */
	ftr_sw *sw;		/* [BATCH] the switch of each request */
	unsigned int n;
	uint64_t key;		/* M_Key of the switch being read */
	double end;		/* deadline, as a value of ibf_now_ms() */
	struct ibf_adopted *done;
};

static void read_batch(struct reading *r)
{
	const struct ibf_options *o = &r->p->opt;
	struct rr_smp_policy policy = {
		.window = (unsigned int)o->fast_window,
		.timeout = o->fast_timeout_ms, .tries = TRIES,
		.limit = r->end - ibf_now_ms(),
	};

	if (policy.limit > 0 && r->n &&
	    !__atomic_load_n(&osm_exit_flag, __ATOMIC_RELAXED))
		ibf_smp_run(r->p->smp, r->job, r->n, &policy);
	for (unsigned int i = 0; i < r->n; i++) {
		const struct rr_smp *j = &r->job[i];

		r->done->blocks++;
		if (j->state == RR_SMP_DONE)
			memcpy(ftr_tables_row(r->t, r->sw[i]) +
			       j->mod * FTR_LFT_BLOCK, j->answer,
			       FTR_LFT_BLOCK);
		else
			r->done->failed++;
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
		.attr = RR_ATTR_LFT, .mod = block, .m_key = r->key,
	};
	j->n_routes = rr_dr_route(r->tree, s, &j->route[0]);
	r->sw[r->n++] = s;
}

static void read_switches(struct reading *r)
{
	const struct ftr_fabric *f = r->f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const osm_switch_t *sw = ibf_host_switch(r->p, f->sw[s].guid);
		uint32_t top = sw ? cl_ntoh16(sw->switch_info.lin_top) : 0;

		if (!sw)
			continue;
		r->key = ibf_m_key(r->p, sw);
		top = FTR_MIN(top, f->max_lid);
		for (uint32_t b = 0; b <= top / FTR_LFT_BLOCK; b++)
			add_block(r, s, b);
	}
	read_batch(r);
}

static void clear_invalid(const struct ftr_fabric *f, struct ftr_tables *t)
{
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		uint8_t *row = ftr_tables_row(t, s);

		for (uint32_t lid = 0; lid < t->stride; lid++)
			if (lid > f->max_lid || row[lid] > f->sw[s].n_ports ||
			    f->owner[lid].kind == FTR_OWNER_NONE)
				row[lid] = FTR_PORT_NONE;
	}
}

enum ftr_status ibf_adopt(struct ibf_plugin *p, const struct ftr_fabric *f,
			  struct ftr_tables **out, struct ibf_adopted *done,
			  struct ftr_err *err)
{
	struct reading r = {
		.p = p, .f = f, .end = ibf_now_ms() + READ_LIMIT_MS,
		.done = done,
	};
	enum ftr_status st;
	double t0 = ibf_now_ms();

	*done = (struct ibf_adopted){ 0 };
	st = ftr_tables_new(f, true, &r.t, err);
	r.job = ftr_calloc(BATCH, sizeof(*r.job));
	r.sw = ftr_calloc(BATCH, sizeof(*r.sw));
	r.tree = ibf_directed_routes(p, f);
	if (!st && (!r.job || !r.sw || !r.tree))
		st = ftr_fail(err, FTR_NOMEM,
			      "out of memory for reading the tables of %u switches",
			      f->n_sw);
	if (!st) {
		read_switches(&r);
		clear_invalid(f, r.t);
		done->ms = ibf_now_ms() - t0;
		*out = r.t;
		r.t = NULL;
	}
	ftr_tables_free(r.t);
	rr_dr_tree_free(r.tree);
	free(r.job);
	free(r.sw);
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
