/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A k-ary n-tree with faults, and packets that walk through it.  At every switch, a routing
 * function lists the exits (port and VL) that a packet may take.  The packet takes the first exit
 * or a random one.
 */
#ifndef FTR_TESTS_WALK_H
#define FTR_TESTS_WALK_H

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "models/models.h"
#include <ftr/ftr.h>

#define VLS 3
#define LOST 0xffff

static struct ftr_err err;

struct world {
	struct ftr_fabric *f;
	struct ftr_tables *t;
	struct ftr_shape *sh;
	uint8_t *up;
	const void *arg;
	struct ftr_sim_view v;
	const struct ftr_sim_function *fn;
	void *state;
	struct ftr_rng rng;
	bool random;		/* choose a random exit, not the first */
	uint8_t *dep;		/* dep[a * n + b] is 1 if channel a depends on channel b */
	uint32_t n;
};

static inline void world_new(struct world *w, const char *shape)
{
	struct ftr_pgft g;

	memset(w, 0, sizeof(*w));
	ck_assert(!ftr_pgft_parse(shape, &g, &err));
	ck_assert(!ftr_gen_pgft(&g, NULL, &w->f, &err));
	ck_assert(!ftr_shape_new(w->f, NULL, NULL, &w->sh, &err));
	ck_assert(!ftr_tables_new(w->f, false, &w->t, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(w->sh, NULL, NULL, w->t,
						   NULL, &err));
	w->arg = w->sh->tree.rank;
	w->up = calloc(w->f->n_ports, 1);
	w->n = w->f->n_ports * VLS;
	w->dep = calloc((size_t)w->n, w->n);
	ck_assert(w->up && w->dep);
	w->v = (struct ftr_sim_view){
		.f = w->f, .t = w->t, .up = w->up, .n_vls = VLS,
		.arg = &w->arg,
	};
	ftr_rng_seed(&w->rng, 1);
}

static inline void use(struct world *w, const char *name)
{
	w->fn = model_find(name);
	ck_assert_ptr_nonnull(w->fn);
	if (w->state)
		w->fn->finish(w->state);
	ck_assert(!w->fn->start(&w->v, &w->state, &err));
}

static inline void world_free(struct world *w)
{
	if (w->state)
		w->fn->finish(w->state);
	free(w->up);
	free(w->dep);
	ftr_tables_free(w->t);
	ftr_shape_free(w->sh);
	ftr_fabric_free(w->f);
}

static inline void repair(struct world *w)
{
	for (uint32_t i = 0; i < w->f->n_ports; i++)
		w->up[i] = w->f->ports[i].peer_kind != FTR_PEER_NONE;
}

static inline void cut(struct world *w, ftr_sw s, ftr_port p)
{
	const struct ftr_swport *q = ftr_fabric_port(w->f, s, p);

	w->up[w->f->sw[s].first_port + p] = 0;
	if (q->peer_kind == FTR_PEER_SW)
		w->up[w->f->sw[q->peer].first_port + q->peer_port] = 0;
}

static inline void kill_switch(struct world *w, ftr_sw s)
{
	for (unsigned int p = 1; p <= w->f->sw[s].n_ports; p++)
		cut(w, s, (ftr_port)p);
}

/* ---- a walk --------------------------------------------------------------- */

struct walk {
	unsigned int n;		/* number of switches visited, or LOST */
	ftr_sw at[256];
	uint8_t vl[256];	/* VL on which the packet left switch at[i] */
	uint64_t vector[256];	/* bit vector in the header when the packet left switch at[i] */
	struct ftr_sim_packet p;
};

static inline void walk(struct world *w, ftr_ep from, ftr_ep to, struct walk *k)
{
	const struct ftr_fabric *f = w->f;
	struct ftr_sim_arrival a = {
		.sw = f->ep[from].sw, .in = f->ep[from].sw_port, .p = &k->p,
	};
	const struct ftr_sim_exit *e = a.exit;
	uint32_t last = UINT32_MAX;

	memset(k, 0, sizeof(*k));
	k->p.source = from;
	k->p.dlid = f->ep[to].lid;
	for (k->n = 0; k->n < 250; ) {
		unsigned int n, i = 0;
		const struct ftr_swport *q;
		uint32_t c;

		n = w->fn->route(w->state, &w->v, &a);
		if (!n) {
			k->n = LOST;
			return;
		}
		if (w->random)
			i = ftr_rng_below(&w->rng, n);
		if (e[i].vl >= w->fn->min_vls ||
		    !w->up[f->sw[a.sw].first_port + e[i].port])
			ck_abort_msg("%s: invalid exit: port %u, VL %u", w->fn->name,
				     e[i].port, e[i].vl);
		k->at[k->n] = a.sw;
		k->vl[k->n] = e[i].vl;
		k->vector[k->n++] = k->p.vector;
		c = (f->sw[a.sw].first_port + e[i].port) * VLS + e[i].vl;
		if (last != UINT32_MAX && w->fn->min_vls > 1)
			w->dep[(size_t)last * w->n + c] = 1;
		last = c;
		q = ftr_fabric_port(f, a.sw, e[i].port);
		if (q->peer_kind == FTR_PEER_EP) {
			if (q->peer != to)
				ck_abort_msg("%s: delivered to the wrong host", w->fn->name);
			return;
		}
		a.sw = q->peer;
		a.in = q->peer_port;
		a.vl = e[i].vl;
	}
	ck_abort_msg("%s: a packet is caught in a loop", w->fn->name);
}

static inline unsigned int table_switches(const struct world *w, ftr_ep from, ftr_ep to)
{
	ftr_sw s = w->f->ep[from].sw;
	unsigned int n = 1;

	while (s != w->f->ep[to].sw) {
		s = ftr_fabric_port(w->f, s, ftr_tables_get(w->t, s, w->f->ep[to].lid))->peer;
		ck_assert_uint_le(++n, w->f->n_sw);
	}
	return n;
}

/* Returns true if the dependencies in w->dep have a cycle.  Clears w->dep. */
static inline bool cyclic(struct world *w)
{
	uint32_t *in = calloc(w->n, sizeof(*in)), *todo = calloc(w->n, 4);
	uint32_t n = 0, done = 0;

	for (uint32_t a = 0; a < w->n; a++)
		for (uint32_t b = 0; b < w->n; b++)
			in[b] += w->dep[(size_t)a * w->n + b];
	for (uint32_t a = 0; a < w->n; a++)
		if (!in[a])
			todo[n++] = a;
	while (done < n) {
		uint32_t a = todo[done++];

		for (uint32_t b = 0; b < w->n; b++)
			if (w->dep[(size_t)a * w->n + b] && !--in[b])
				todo[n++] = b;
	}
	free(in);
	free(todo);
	memset(w->dep, 0, (size_t)w->n * w->n);
	return n < w->n;
}

/* ---- faults, and the walks of all pairs of hosts ---------------------------------- */

static inline unsigned int all_pairs(struct world *w, unsigned int *longest)
{
	unsigned int lost = 0;
	struct walk k;

	for (ftr_ep a = 0; a < w->f->n_ep; a++)
		for (ftr_ep b = 0; b < w->f->n_ep; b++) {
			if (a == b)
				continue;
			walk(w, a, b, &k);
			if (k.n == LOST)
				lost++;
			else if (k.n > *longest)
				*longest = k.n;
		}
	return lost;
}

struct link {
	ftr_sw s;
	ftr_port p;
};

static inline struct link *links(const struct world *w, uint32_t *n)
{
	struct link *c = calloc(w->f->n_sw_links, sizeof(*c));

	*n = 0;
	for (ftr_sw s = 0; s < w->f->n_sw; s++)
		for (unsigned int p = 1; p <= w->f->sw[s].n_ports; p++) {
			const struct ftr_swport *q =
				ftr_fabric_port(w->f, s, (ftr_port)p);

			if (q->peer_kind == FTR_PEER_SW && q->peer > s)
				c[(*n)++] = (struct link){ s, (ftr_port)p };
		}
	ck_assert_uint_eq(*n, w->f->n_sw_links);
	return c;
}

static const char *const link_functions[] = {
	"det-links", "adaptive-links", "misroute",
	/* functions for dead switches tolerate dead links, too */
	"det-switches", "adaptive-switches",
};
#define N_FUNCTIONS 5

static inline bool is_det(const struct world *w)
{
	return !strncmp(w->fn->name, "det-", 4);
}

static inline void connected(struct world *w, const char *what)
{
	unsigned int longest = 0, lost = all_pairs(w, &longest);

	ck_assert_msg(!lost, "%s, %s: %u pairs are unreachable", w->fn->name, what,
		      lost);
	if (is_det(w))
		ck_assert_msg(!cyclic(w), "%s, %s: the dependencies have a cycle",
			      w->fn->name, what);
}

static inline unsigned int on_one_vl(void *state, const struct ftr_sim_view *v,
				     struct ftr_sim_arrival *a)
{
	unsigned int n;

	a->vl = (uint8_t)a->p->field;
	n = model_find("det-links")->route(state, v, a);
	if (n)
		a->p->field = a->exit->vl;
	a->exit->vl = 0;
	return n;
}

#endif
