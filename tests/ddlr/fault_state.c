// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Implements fault_state.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ddlr/fault_state.h"

#define VLS 2

enum { OPEN = 0, GOOD, BAD, LOOP, ON_PATH };

static void must(enum ftr_status st, const struct ftr_err *err)
{
	if (!st)
		return;
	fprintf(stderr, "ddlr: %s\n", err->msg);
	abort();
}

/* ---- construction ----------------------------------------------------- */

static void list_faults(struct world *w)
{
	const struct ftr_fabric *f = w->f;

	w->link = calloc(f->n_sw_links + 1, sizeof(*w->link));
	w->inner = calloc(f->n_sw + 1, sizeof(*w->inner));
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		bool hosts = false;

		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *x =
				ftr_fabric_port(f, s, (ftr_port)p);

			hosts |= x->peer_kind == FTR_PEER_EP;
			if (x->peer_kind != FTR_PEER_SW || x->peer < s)
				continue;
			w->link[w->n_links].sw = s;
			w->link[w->n_links++].port = (ftr_port)p;
		}
		if (!hosts)
			w->inner[w->n_inner++] = s;
	}
}

struct world *world_new(struct ftr_fabric *f, unsigned int vls)
{
	struct world *w = calloc(1, sizeof(*w));
	struct ftr_err err = { 0 };
	size_t lids = (size_t)f->max_lid + 1;

	w->f = f;
	must(ftr_shape_new(f, NULL, NULL, &w->sh, &err), &err);
	must(ftr_tables_new(f, false, &w->base, &err), &err);
	must(ftr_tables_new(f, false, &w->t, &err), &err);
	must(ftr_engine_find("ddlr")->route(w->sh, NULL, NULL, w->base, NULL,
					    &err), &err);
	if (vls > 1) {
		must(ftr_ddlr_sl2vl(w->sh, NULL, &w->m, &err), &err);
		w->switches = true;
	}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (f->sw[s].n_ports + 1u > w->width)
			w->width = f->sw[s].n_ports + 1u;
	w->dead_sw = calloc(f->n_sw, 1);
	w->dead_port = calloc(f->n_ports, 1);
	w->peer = calloc(f->n_ports, sizeof(*w->peer));
	w->arrives = calloc(f->n_sw * lids, 1);
	w->fate = calloc(f->n_sw, 1);
	w->stack = calloc(f->n_sw + 1, sizeof(*w->stack));
	w->edge = calloc((size_t)f->n_ports * VLS, w->width * VLS);
	w->seen = calloc(f->n_ports, VLS);
	w->part = calloc(f->n_sw, sizeof(*w->part));
	w->queue = calloc((size_t)f->n_ports * VLS + 1, sizeof(*w->queue));
	list_faults(w);
	world_reset(w);
	return w;
}

void world_free(struct world *w)
{
	ftr_ddlr_free(w->r);
	ftr_sl2vl_free(w->m);
	ftr_tables_free(w->base);
	ftr_tables_free(w->t);
	ftr_shape_free(w->sh);
	ftr_fabric_free(w->f);
	free(w->dead_sw);
	free(w->dead_port);
	free(w->peer);
	free(w->arrives);
	free(w->fate);
	free(w->stack);
	free(w->edge);
	free(w->seen);
	free(w->part);
	free(w->queue);
	free(w->link);
	free(w->inner);
	free(w);
}

/* Fill w->peer. */
static void find_peers(struct world *w)
{
	for (uint32_t i = 0; i < w->f->n_ports; i++)
		w->peer[i] = FTR_SW_NONE;
	for (ftr_sw s = 0; s < w->f->n_sw; s++)
		for (unsigned int p = 1; p <= w->f->sw[s].n_ports && !w->dead_sw[s]; p++) {
			const struct ftr_swport *x = ftr_fabric_port(w->f, s, (ftr_port)p);
			uint32_t i = w->f->sw[s].first_port + p;

			if (x->peer_kind == FTR_PEER_SW && !w->dead_port[i] && !w->dead_sw[x->peer])
				w->peer[i] = x->peer;
		}
}

void world_reset(struct world *w)
{
	const struct ftr_cdg_opts o = { .sl2vl = w->m, .switch_sources = w->switches };
	struct ftr_err err = { 0 };

	ftr_ddlr_free(w->r);
	w->r = NULL;
	must(ftr_ddlr_new(w->sh, w->base, &o, w->host_paths_only, &w->r, &err), &err);
	memset(w->dead_sw, 0, w->f->n_sw);
	memset(w->dead_port, 0, w->f->n_ports);
	memset(w->arrives, 0, (size_t)w->f->n_sw * (w->f->max_lid + 1u));
	memcpy(w->t->lft, w->base->lft, (size_t)w->t->n_sw * w->t->stride);
	find_peers(w);
}

/* ---- faults ------------------------------------------------------------ */

uint32_t world_n_faults(const struct world *w)
{
	return w->n_links + w->n_inner;
}

struct ftr_hop world_fault(const struct world *w, uint32_t i)
{
	struct ftr_hop e = { 0 };

	if (i < w->n_links) {
		e.sw = w->link[i].sw;
		e.port = w->link[i].port;
	} else {
		e.sw = w->inner[i - w->n_links];
	}
	return e;
}

void world_suffer(struct world *w, struct ftr_hop e, bool dead)
{
	const struct ftr_swport *x;

	if (!e.port) {
		w->dead_sw[e.sw] = dead;
	} else {
		x = ftr_fabric_port(w->f, e.sw, e.port);
		w->dead_port[w->f->sw[e.sw].first_port + e.port] =
			w->dead_port[w->f->sw[x->peer].first_port + x->peer_port] = dead;
	}
	find_peers(w);
}

static bool keep_sw(void *ctx, const struct ftr_fabric *f, ftr_sw s)
{
	(void)f;
	return !((const struct world *)ctx)->dead_sw[s];
}

static bool keep_link(void *ctx, const struct ftr_fabric *f, ftr_sw s,
		      ftr_port p)
{
	const struct world *w = ctx;

	return !w->dead_port[f->sw[s].first_port + p];
}

struct ftr_fabric *world_damaged(const struct world *w)
{
	struct ftr_filter filter = { .keep_sw = keep_sw,
				     .keep_link = keep_link };
	struct ftr_fabric *f = NULL;
	struct ftr_err err = { 0 };
	struct world copy = *w;

	filter.ctx = &copy;
	must(ftr_fabric_copy_if(w->f, &filter, &f, &err), &err);
	return f;
}

/* ---- verdicts --------------------------------------------------------- */

/* Return the switch to which port p of s leads; FTR_SW_NONE: no live link to a live switch. */
static ftr_sw next(const struct world *w, ftr_sw s, unsigned int p)
{
	return p <= w->f->sw[s].n_ports ? w->peer[w->f->sw[s].first_port + p] :
		FTR_SW_NONE;
}

static void port_of(const struct world *w, ftr_lid lid, ftr_sw *s, ftr_port *p)
{
	const struct ftr_lid_owner *o = &w->f->owner[lid];

	*s = o->idx;
	*p = 0;
	if (o->kind == FTR_OWNER_EP) {
		*s = w->f->ep[o->idx].sw;
		*p = w->f->ep[o->idx].sw_port;
	}
}

bool world_arrives(const struct world *w, ftr_lid lid, ftr_sw s)
{
	ftr_sw at;
	ftr_port port;

	port_of(w, lid, &at, &port);
	for (uint32_t hops = 0; s != FTR_SW_NONE && hops < w->f->n_sw; hops++) {
		ftr_port p = ftr_tables_get(w->t, s, lid);

		if (s == at)
			return p == port;
		s = next(w, s, p);
	}
	return false;
}

/* Follow packets for lid from switch s.  Returns GOOD if they reach switch `at` and the entry of
 * `at` is `port` (port_of() gives both). */
static uint8_t fate_of(struct world *w, ftr_lid lid, ftr_sw s, ftr_sw at,
		       ftr_port port)
{
	uint32_t n = 0;
	uint8_t fate;

	for (;;) {
		ftr_port p = ftr_tables_get(w->t, s, lid);

		if (w->fate[s] != OPEN) {
			fate = w->fate[s] == ON_PATH ? LOOP : w->fate[s];
			break;
		}
		w->fate[s] = ON_PATH;
		w->stack[n++] = s;
		if (s == at) {
			fate = p == port ? GOOD : BAD;
			break;
		}
		s = next(w, s, p);
		if (s == FTR_SW_NONE) {
			fate = BAD;
			break;
		}
	}
	while (n)
		w->fate[w->stack[--n]] = fate;
	return fate;
}

/* Set part[] to `number` for s and for all switches that are connected with s. */
static void flood(struct world *w, ftr_sw s, uint32_t number)
{
	uint32_t n = 0;

	w->part[s] = number;
	w->stack[n++] = s;
	while (n) {
		s = w->stack[--n];
		for (unsigned int p = 1; p <= w->f->sw[s].n_ports; p++) {
			ftr_sw t = next(w, s, p);

			if (t == FTR_SW_NONE || w->part[t])
				continue;
			w->part[t] = number;
			w->stack[n++] = t;
		}
	}
}

/* Number the connected components of the present fabric from 1, in w->part. */
static void find_parts(struct world *w)
{
	uint32_t n = 0;

	memset(w->part, 0, w->f->n_sw * sizeof(*w->part));
	for (ftr_sw s = 0; s < w->f->n_sw; s++)
		if (!w->part[s] && !w->dead_sw[s])
			flood(w, s, ++n);
}

static bool has_hosts(const struct world *w, ftr_sw s)
{
	for (unsigned int p = 1; p <= w->f->sw[s].n_ports; p++)
		if (ftr_fabric_port(w->f, s, (ftr_port)p)->peer_kind ==
		    FTR_PEER_EP)
			return true;
	return false;
}

/* Record every channel dependency of packets for lid that leave switch s by port p on VL vl. */
static void follow(struct world *w, ftr_lid lid, ftr_sw s, ftr_port p,
		   unsigned int vl)
{
	for (;;) {
		uint32_t v = (w->f->sw[s].first_port + p) * VLS + vl;
		ftr_sw t = next(w, s, p);
		ftr_port in, out;

		if (t == FTR_SW_NONE || w->seen[v])
			return;
		w->seen[v] = 1;
		in = ftr_fabric_port(w->f, s, p)->peer_port;
		out = ftr_tables_get(w->t, t, lid);
		if (next(w, t, out) == FTR_SW_NONE)
			return;
		vl = w->m ? ftr_sl2vl_get(w->m, t, in, out, 0) : 0;
		w->edge[(size_t)v * w->width * VLS + out * VLS + vl] = 1;
		s = t;
		p = out;
	}
}

static void add_lid(struct world *w, ftr_lid lid)
{
	memset(w->seen, 0, (size_t)w->f->n_ports * VLS);
	for (ftr_sw s = 0; s < w->f->n_sw; s++) {
		ftr_port out = ftr_tables_get(w->t, s, lid);

		if (next(w, s, out) == FTR_SW_NONE)
			continue;
		for (unsigned int p = 0; p <= w->f->sw[s].n_ports; p++)
			if (p ? ftr_fabric_port(w->f, s,
						(ftr_port)p)->peer_kind ==
			    FTR_PEER_EP : w->switches)
				follow(w, lid, s, out, w->m ?
				       ftr_sl2vl_get(w->m, s, (ftr_port)p, out,
						     0) : 0);
	}
}

/* True if there is a cycle of dependencies.  Channels to which no dependency leads are removed one
 * after the other.  If some channels remain, they contain a cycle. */
static bool cyclic(struct world *w)
{
	const uint32_t n = w->f->n_ports * VLS, row = w->width * VLS;
	uint32_t *in = calloc((size_t)n + row, sizeof(*in)), head = 0, tail = 0;

	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t v = 0; v < n; v++) {
			const struct ftr_swport *x = &w->f->ports[v / VLS];

			if (x->peer_kind != FTR_PEER_SW)
				continue;
			if (pass && !in[v])
				w->queue[tail++] = v;
			for (uint32_t i = 0; !pass && i < row; i++)
				in[w->f->sw[x->peer].first_port * VLS + i] +=
					w->edge[(size_t)v * row + i];
		}
	while (head < tail) {
		uint32_t v = w->queue[head++];
		ftr_sw s = w->f->ports[v / VLS].peer;

		for (uint32_t i = 0; i < row; i++)
			if (w->edge[(size_t)v * row + i] &&
			    !--in[w->f->sw[s].first_port * VLS + i])
				w->queue[tail++] =
					w->f->sw[s].first_port * VLS + i;
	}
	for (uint32_t i = 0; i < tail; i++)
		in[w->queue[i]] = 0;
	head = 0;
	for (uint32_t v = 0; v < n; v++)
		head += in[v] != 0;
	free(in);
	return head != 0;
}

static void judge_lid(struct world *w, ftr_lid lid, struct verdict *out)
{
	uint8_t *arrives = w->arrives + (size_t)lid * w->f->n_sw;
	ftr_port port;
	ftr_sw at;

	port_of(w, lid, &at, &port);
	if (at == FTR_SW_NONE || w->dead_sw[at]) {
		memset(arrives, 0, w->f->n_sw);
		return;
	}
	memset(w->fate, OPEN, w->f->n_sw);
	for (ftr_sw s = 0; s < w->f->n_sw; s++) {
		uint8_t fate;

		if (w->part[s] != w->part[at]) {
			arrives[s] = 0;
			continue;
		}
		fate = fate_of(w, lid, s, at, port);
		out->pairs++;
		out->lost += fate != GOOD;
		out->host_lost += fate != GOOD && port && has_hosts(w, s);
		out->loops += fate == LOOP;
		out->lost_again += fate != GOOD && arrives[s];
		arrives[s] = fate == GOOD;
	}
}

void world_judge(struct world *w, bool cdg, struct verdict *out)
{
	*out = (struct verdict){ 0 };
	find_parts(w);
	if (cdg)
		memset(w->edge, 0, (size_t)w->f->n_ports * VLS * w->width *
		       VLS);
	for (uint32_t lid = 1; lid <= w->f->max_lid; lid++) {
		if (w->f->owner[lid].kind == FTR_OWNER_NONE)
			continue;
		judge_lid(w, (ftr_lid)lid, out);
		if (cdg)
			add_lid(w, (ftr_lid)lid);
	}
	out->cyclic = cdg && cyclic(w);
}

/* ---- writing ----------------------------------------------------------- */

static bool sound(struct world *w, const struct ftr_ddlr_plan *p, uint32_t i)
{
	struct verdict v;

	world_judge(w, true, &v);
	if (!v.loops && !v.lost_again && !v.cyclic)
		return true;
	fprintf(stderr, "after %u of %u writes: %llu loops, %llu pairs newly unreachable%s\n",
		i, p->n, (unsigned long long)v.loops,
		(unsigned long long)v.lost_again,
		v.cyclic ? ", cyclic" : "");
	return false;
}

bool world_write(struct world *w, const struct ftr_ddlr_plan *p,
		 struct ftr_rng *rng)
{
	uint32_t *perm = calloc(p->n + 1u, sizeof(*perm)), end;
	bool ok = true;

	for (uint32_t i = 0; ok && i < p->n; i = end) {
		for (end = i; end < p->n && p->write[end].step ==
		     p->write[i].step; end++)
			;
		ftr_rng_perm(rng, perm, end - i);
		for (uint32_t k = 0; ok && k < end - i; k++) {
			const struct ftr_change *x =
				&p->write[i + perm[k]];
			uint8_t *e = &ftr_tables_row(w->t, x->sw)[x->lid];

			ok = *e == x->before && !w->dead_sw[x->sw];
			if (!ok)
				fprintf(stderr, "write at switch %u, LID %u expects entry %u, but the entry is %u\n",
					x->sw, x->lid, x->before, *e);
			*e = x->after;
			if (ok && (!w->hasty || k + 1 == end - i))
				ok = sound(w, p, i + k + 1);
		}
	}
	free(perm);
	return ok;
}
