// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The copy of tables and their all-to-all flows, computed from those of tables before faults.
 *
 * For one destination, the path of a flow is unchanged up to the first changed entry.  So the
 * flows that reach a changed entry without passing another one are the same before and after the
 * faults.  They are subtracted from the links of their old path, from this entry on, and added to
 * the links of their new path.  So apart from copying the base, the work grows with the number of
 * changed entries.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "base/bytes.h"

struct balance_base {
	struct ftr_balance_input in;
	struct balance_net *net;
	struct flow_dest *copy;
	struct balance_loads loads;
	/* used[s][d / 64]: bits of the entries that flows pass.  These and the loads are not valid if
	 * the tables have a loop; but the engine keeps no such tables (ftr_route_base.keeps) */
	uint64_t *used;
};

static uint64_t *used_word(const struct balance_base *b, ftr_sw s, uint32_t d)
{
	return b->used + s * (b->net->n_dests / 64 + (size_t)1) + d / 64;
}

uint32_t balance_base_dest(const struct balance_base *b, ftr_lid lid)
{
	return b->net->dest_of[lid];
}

bool balance_base_idle(const struct balance_base *b, ftr_sw s, uint32_t d)
{
	return !(*used_word(b, s, d) >> d % 64 & 1);
}

static enum ftr_status find_used(struct balance_base *b, struct ftr_err *err)
{
	const struct balance_net *net = b->net;

	b->used = ftr_calloc(net->f->n_sw, (net->n_dests / 64 + 1u) * sizeof(*b->used));
	if (!b->used)
		return ftr_nomem(err, "balancing");
	for (uint32_t d = 0; d < net->n_dests; d++)
		for (uint32_t i = 0; i < net->n_sources; i++) {
			ftr_sw s = net->source[i].sw;

			for_each_link(net, b->copy[d], s, link) {
				if (!balance_base_idle(b, s, d))
					break;
				*used_word(b, s, d) |= UINT64_C(1) << d % 64;
			}
			*used_word(b, s, d) |= UINT64_C(1) << d % 64;
		}
	return FTR_OK;
}

enum ftr_status balance_base_new(const struct ftr_shape *sh, const struct ftr_tables *t,
				     struct ftr_team *team, struct balance_base **out,
				     struct ftr_err *err)
{
	struct balance_base *b = ftr_calloc(1, sizeof(*b));
	enum ftr_status st;
	bool loop;

	if (!b)
		return ftr_nomem(err, "balancing");
	b->in.shape = sh;
	st = balance_net_new(&b->in, &b->net, err);
	if (!st)
		st = balance_copy_new(b->net, t, team, &b->copy, err);
	if (!st)
		st = balance_loads_new(b->net, &b->loads, err);
	if (!st)
		st = balance_count_flows(&b->loads, t, b->copy, team, &loop, err);
	if (!st)
		st = find_used(b, err);
	if (st)
		balance_base_free(b);
	else
		*out = b;
	return st;
}

void balance_base_free(struct balance_base *b)
{
	if (!b)
		return;
	balance_loads_free(&b->loads);
	free(b->copy);
	free(b->used);
	balance_net_free(b->net);
	free(b);
}

enum ftr_status balance_base_copy(const struct balance_base *b,
				  const struct balance_subset *changed, const struct ftr_tables *t,
				  struct flow_dest **out, struct ftr_err *err)
{
	struct flow_dest *copy = *out = balance_copy_alloc(b->net);

	if (!copy)
		return ftr_nomem(err, "balancing");
	memcpy(copy[0].entry, b->copy[0].entry, (size_t)b->net->n_dests * b->net->f->n_sw);
	for_each_entry(b->net, changed, d, i)
		copy[d].entry[changed->sw[i]] = ftr_tables_get(t, changed->sw[i], b->net->dest[d].lid);
	return FTR_OK;
}

enum ftr_status balance_base_flows(const struct balance_base *b,
				   const struct balance_subset *changed,
				   const struct flow_dest *copy, struct balance_loads *l,
				   struct ftr_err *err)
{
	const struct balance_net *net = l->net;
	struct ftr_arena *a = ftr_arena_new();
	struct balance_behind z = { .net = net };
	struct balance_loads before = *l;	/* the counters of l, and the links before the faults */
	struct balance_flows was = { .loads = &before }, is = { .loads = l };
	bool ok = a && FTR_NEW(a, z.sw, net->f->n_sw) && FTR_NEW(a, z.source, net->n_sources + 1u) &&
		FTR_ZNEW(a, z.stop, net->f->n_sw);

	if (!ok) {
		ftr_arena_free(a);
		return ftr_nomem(err, "balancing");
	}
	before.net = b->net;
	memcpy(l->flows, b->loads.flows, net->n_links * sizeof(*l->flows));
	if (l->rail)
		memcpy(l->rail, b->loads.rail, net->n_links * sizeof(*l->rail));
	for (uint32_t d = 0; d < net->n_dests; d++) {
		if (changed->first[d] == changed->first[d + 1])
			continue;
		z.costs = ftr_shape_column(balance_shape(net->in, net->dest[d].col), net->dest[d].col);
		z.of = copy[d];
		was.of = b->copy[d];
		is.of = z.of;
		for (uint32_t i = changed->first[d]; i < changed->first[d + 1]; i++)
			z.stop[changed->sw[i]] = true;
		bytes_fetch(copy[d].entry + net->f->n_sw, net->f->n_sw);
		bytes_fetch(b->copy[d].entry + net->f->n_sw, net->f->n_sw);
		for (uint32_t i = changed->first[d]; i < changed->first[d + 1]; i++) {
			if (balance_base_idle(b, changed->sw[i], d))
				continue;
			balance_behind(&z, changed->sw[i]);
			was.hosts = is.hosts = z.hosts;
			was.rail = is.rail = z.rail;
			balance_add(&was, changed->sw[i], -1);
			balance_add(&is, changed->sw[i], 1);
		}
		for (uint32_t i = changed->first[d]; i < changed->first[d + 1]; i++)
			z.stop[changed->sw[i]] = false;
	}
	ftr_arena_free(a);
	return FTR_OK;
}
