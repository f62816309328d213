// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes when the entries of a repair take effect.  Usage:
 * write_times SHAPE RANK ENGINE HOP_US WRITE_US COMPUTE_US
 *
 * The link that fails is the first upward link of the first switch of rank RANK that has upward
 * links.  ENGINE is dmodc (its complete reroute) or ddlr (its local repair); both begin with the
 * tables of dmodc.  The first packet is sent COMPUTE_US after the failure.  A packet takes HOP_US
 * per link.  A switch handles one packet at a time, and takes WRITE_US for a block.  At most WINDOW
 * packets wait for their acknowledgement.  Packets are sent in the order of step, switch and block,
 * and a step begins when the previous one is acknowledged.  The subnet manager is the last host.
 *
 * Prints an events file for `ibfattree sim --events`, and on standard error the
 * numbers of blocks, switches and steps, and the milliseconds until the last
 * acknowledgement.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ftr/ftr.h>
#include "base/base.h"

#define WINDOW 64

struct entry {
	ftr_sw sw;
	ftr_lid lid;
	ftr_port to;
	uint32_t step;
};

static struct ftr_err err;
static struct ftr_fabric *f;
static struct ftr_shape *sh;
static struct ftr_tables *t;
static struct entry *entry;
static uint32_t n_entries;
static double *hops;		/* [n_sw] number of links from the subnet manager to a switch */

static void must(enum ftr_status st)
{
	if (!st)
		return;
	fprintf(stderr, "write_times: %s\n", err.msg);
	exit(2);
}

static void *array(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p) {
		fprintf(stderr, "write_times: out of memory\n");
		exit(2);
	}
	return p;
}

static int by_step(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	if (a->step != b->step)
		return a->step < b->step ? -1 : 1;
	if (a->sw != b->sw)
		return a->sw < b->sw ? -1 : 1;
	return (a->lid > b->lid) - (a->lid < b->lid);
}

static void by_dmodc(ftr_sw s, ftr_port p)
{
	const struct ftr_incr_event e = { s, p, false };
	const struct ftr_incr_result *res;
	struct ftr_incr *lv = NULL;

	must(ftr_incr_new(sh, NULL, t, NULL, &lv, &err));
	must(ftr_incr_apply(lv, &e, 1, &res, &err));
	entry = array(res->n_changes, sizeof(*entry));
	for (uint32_t i = 0; i < res->n_changes; i++)
		entry[n_entries++] = (struct entry){
			res->change[i].sw, res->change[i].lid,
			res->change[i].after, res->change[i].step,
		};
	ftr_incr_free(lv);
}

static void by_ddlr(ftr_sw s, ftr_port p)
{
	const struct ftr_hop e = { s, p };
	struct ftr_ddlr_plan plan;
	struct ftr_ddlr *r = NULL;

	must(ftr_ddlr_new(sh, t, NULL, true, &r, &err));
	must(ftr_ddlr_events(r, &e, 1, &plan, &err));
	entry = array(plan.n, sizeof(*entry));
	for (uint32_t i = 0; i < plan.n; i++)
		entry[n_entries++] = (struct entry){
			plan.write[i].sw, plan.write[i].lid, plan.write[i].after,
			plan.write[i].step,
		};
	ftr_ddlr_plan_fini(&plan);
	ftr_ddlr_free(r);
}

/* Set hops: the number of links from the last host to every switch, without the dead link. */
static void measure(ftr_sw dead, ftr_port port)
{
	ftr_sw *queue = array(f->n_sw, sizeof(*queue));
	uint32_t n = 0;

	hops = array(f->n_sw, sizeof(*hops));
	queue[n++] = f->ep[f->n_ep - 1].sw;
	hops[queue[0]] = 1;
	for (uint32_t i = 0; i < n; i++)
		for (unsigned int p = 1; p <= f->sw[queue[i]].n_ports; p++) {
			const struct ftr_swport *x =
				ftr_fabric_port(f, queue[i], (ftr_port)p);

			if (x->peer_kind != FTR_PEER_SW || hops[x->peer] > 0 ||
			    (queue[i] == dead && p == port) ||
			    (x->peer == dead && x->peer_port == port))
				continue;
			hops[x->peer] = hops[queue[i]] + 1;
			queue[n++] = x->peer;
		}
	free(queue);
}

static bool same_block(const struct entry *a, const struct entry *b)
{
	return a->step == b->step && a->sw == b->sw &&
	       a->lid / FTR_LFT_BLOCK == b->lid / FTR_LFT_BLOCK;
}

struct wire {
	double hop, write;	/* hop: ms per link; write: ms per block in the switch */
	double *free_at;	/* [n_sw] time when the switch has finished its work; -1: no work */
	double out[WINDOW];	/* times of the acknowledgements that are awaited */
	double now, last;
	uint32_t step, blocks, steps, switches;
};

/* Send a block; returns the time when it takes effect. */
static double send(struct wire *w, ftr_sw s, uint32_t step)
{
	uint32_t first = 0;
	double at;

	if (!w->blocks || step != w->step) {
		w->now = FTR_MAX(w->now, w->last);
		w->step = step;
		w->steps++;
	}
	for (uint32_t i = 1; i < WINDOW; i++)
		if (w->out[i] < w->out[first])
			first = i;
	w->now = FTR_MAX(w->now, w->out[first]);
	w->switches += w->free_at[s] < 0;
	at = FTR_MAX(w->now + hops[s] * w->hop, w->free_at[s]) + w->write;
	w->free_at[s] = at;
	w->out[first] = at + hops[s] * w->hop;
	w->last = FTR_MAX(w->last, w->out[first]);
	w->blocks++;
	return at;
}

static void print_events(struct wire *w, ftr_sw s, ftr_port p)
{
	const struct ftr_swport *x = ftr_fabric_port(f, s, p);

	printf("{\"event\":\"link-down\",\"time\":1.0,\"cables\":[{\"guid\":\"0x%016llx\",\"port\":%u,\"peer_guid\":\"0x%016llx\",\"peer_port\":%u}],\"sets\":[",
	       (unsigned long long)f->sw[s].guid, p,
	       (unsigned long long)f->sw[x->peer].guid, x->peer_port);
	for (uint32_t i = 0; i < n_entries; i++) {
		bool first = !i || !same_block(&entry[i], &entry[i - 1]);

		if (first)
			printf("%s{\"ms\":%.4f,\"guid\":\"0x%016llx\",\"lids\":[",
			       i ? "]}," : "",
			       send(w, entry[i].sw, entry[i].step),
			       (unsigned long long)f->sw[entry[i].sw].guid);
		printf("%s[%u,%u]", first ? "" : ",", entry[i].lid,
		       entry[i].to);
	}
	printf("%s]}\n", n_entries ? "]}" : "");
}

int main(int argc, char **argv)
{
	struct ftr_gen_opts o = { .seed = 1 };
	struct ftr_pgft g;
	struct wire w = { .hop = 0 };
	ftr_sw s;
	ftr_port p;

	if (argc != 7) {
		fprintf(stderr, "Usage: write_times SHAPE RANK dmodc|ddlr HOP_US WRITE_US COMPUTE_US\n");
		return 2;
	}
	must(ftr_pgft_parse(argv[1], &g, &err));
	must(ftr_gen_pgft(&g, &o, &f, &err));
	must(ftr_shape_new(f, NULL, NULL, &sh, &err));
	must(ftr_tables_new(f, false, &t, &err));
	must(ftr_engine_find("dmodc")->route(sh, NULL, NULL, t, NULL, &err));
	for (s = 0; s < f->n_sw; s++)
		if (sh->tree.rank[s] == atoi(argv[2]) && sh->tree.n_up[s])
			break;
	if (s == f->n_sw) {
		fprintf(stderr, "write_times: no switch of rank %s has an upward link\n",
			argv[2]);
		return 2;
	}
	p = sh->tree.group_ports[sh->tree.groups[sh->tree.group_first[s]].first];
	if (!strcmp(argv[3], "ddlr"))
		by_ddlr(s, p);
	else
		by_dmodc(s, p);
	qsort(entry, n_entries, sizeof(*entry), by_step);
	measure(s, p);
	w.hop = atof(argv[4]) / 1e3;
	w.write = atof(argv[5]) / 1e3;
	w.now = atof(argv[6]) / 1e3;
	w.free_at = array(f->n_sw, sizeof(*w.free_at));
	for (uint32_t i = 0; i < f->n_sw; i++)
		w.free_at[i] = -1;
	print_events(&w, s, p);
	fprintf(stderr, "%u %u %u %.3f\n", w.blocks, w.switches, w.steps,
		w.last);
	free(entry);
	free(hops);
	free(w.free_at);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
	return 0;
}
