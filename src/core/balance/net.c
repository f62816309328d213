// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes struct balance_net: the links, sources and destinations of a shape; and copies tables.
 *
 * In all-to-all traffic every host sends to every other host.  Hosts are the channel adapter ports
 * with a LID on any switch, except Aggregation Nodes.  Only hosts in the host order take part in
 * shifts.  The hosts of a switch have consecutive positions in this order.
 *
 * Rails.  In a GPU cluster (shape/rails.c), collective operations follow the rails.  Links on which
 * all flows together are even can be uneven for the flows of one rail: in superpod:H100:4 without
 * one of its spines, some links had 5 x 32 of them, while 4 x 32 is possible.  So these flows are
 * also counted separately, with a weight: a link with `target` (balance_target()) weighted flows
 * has about as many as the lower bound for a rail allows.  Then one target serves both counters.
 * Giving more weight to the flows of a rail in the count of all flows is worse: with a weight of 4
 * and 20 links missing, the load of all flows was greater by 26 %.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "base/bytes.h"

static bool set_sources(struct balance_net *net)
{
	const struct ftr_fabric *f = net->f;
	uint32_t *hosts = ftr_arena_zalloc(net->arena, f->n_sw, sizeof(*hosts));

	net->hosts = hosts;
	FTR_ZNEW(net->arena, net->source, f->n_sw);
	FTR_NEW(net->arena, net->source_of, f->n_sw);
	if (!hosts || !net->source || !net->source_of)
		return false;
	balance_count_hosts(f, hosts);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		net->n_hosts += hosts[s];
		net->source_of[s] = BALANCE_NONE;
		if (!hosts[s])
			continue;
		net->source_of[s] = net->n_sources;
		net->source[net->n_sources++] = (struct flow_source){
			.sw = s, .hosts = hosts[s],
		};
	}
	return true;
}

/* Set the destinations and positions, in the order of ftr_shape_host_order(): by column, class and
 * index d. */
static bool set_dests(struct balance_net *net)
{
	const struct ftr_shape *sh = net->in->shape;
	uint32_t n = 0;

	FTR_NEW(net->arena, net->dest, sh->numbering.n_dest);
	FTR_NEW(net->arena, net->pos, sh->numbering.n_dest);
	FTR_NEW(net->arena, net->first, net->f->n_sw + 1u);
	FTR_NEW(net->arena, net->dest_of, net->f->max_lid + 1u);
	FTR_NEW(net->arena, net->dest_at, sh->numbering.n_dest);
	if (!net->dest || !net->pos || !net->first || !net->dest_of || !net->dest_at)
		return false;
	memset(net->dest_of, 0xff, (net->f->max_lid + 1u) * sizeof(*net->dest_of));
	for (uint32_t l = 0; l < net->f->n_sw; l++) {
		uint32_t src = net->source_of[sh->numbering.col_sw[l]];

		net->first[l] = n;
		for (uint32_t i = sh->numbering.dest_first[l]; i < sh->numbering.dest_first[l + 1];
		     i++) {
			const struct ftr_dest *d = &sh->numbering.dest[i];
			const struct ftr_lid_owner *o = &net->f->owner[d->lid];

			if (o->kind != FTR_OWNER_EP || o->offset ||
			    !balance_is_host(&net->f->ep[o->idx]))
				continue;
			net->dest_of[d->lid] = n;
			net->dest[n] = *d;
			net->pos[n++] = BALANCE_NONE;
			if (!ftr_shape_has_place(sh, d->lid))
				continue;
			if (!net->source[src].n++)
				net->source[src].first = net->n_pos;
			net->dest_at[net->n_pos] = n - 1;
			net->pos[n - 1] = net->n_pos++;
		}
	}
	net->first[net->f->n_sw] = net->n_dests = n;
	net->most_hosts = 1;
	for (uint32_t i = 0; i < net->n_sources; i++)
		net->most_hosts = FTR_MAX(net->most_hosts, net->source[i].n);
	return true;
}

/* Set the weight such that no link has more than the target if each has the flows of the lower bound
 * for the rail, rounded up to whole entries. */
static enum ftr_status set_rail_weight(struct balance_net *net, struct ftr_err *err)
{
	const struct ftr_shape_numbering *u = &net->in->shape->numbering;
	uint32_t *hosts = ftr_arena_alloc(net->arena, net->f->n_sw, sizeof(*hosts));
	uint32_t most = 0, entry = 1;

	if (!hosts)
		return ftr_nomem(err, "the bound");
	for (uint32_t r = 1; r <= u->n_rails; r++) {
		uint32_t bound = 0;
		enum ftr_status st;

		for (ftr_sw s = 0; s < net->f->n_sw; s++) {
			hosts[s] = u->rail[s] == r ? net->hosts[s] : 0;
			entry = FTR_MAX(entry, hosts[s]);
		}
		st = ftr_balance_bound(net->in->shape, hosts, &bound, err);
		if (st)
			return st;
		most = FTR_MAX(most, bound);
	}
	if (most)
		net->rail_weight = FTR_MAX(balance_target(net->bound) /
					   ((most + entry - 1) / entry * entry), 1u);
	return FTR_OK;
}

/* ---- new and free ------------------------------------------------------------ */

enum ftr_status balance_net_new(const struct ftr_balance_input *in,
				  struct balance_net **out, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct balance_net *net = a ? ftr_arena_zalloc(a, 1, sizeof(*net)) : NULL;
	enum ftr_status st;

	if (net) {
		net->arena = a;
		net->in = in;
		net->f = in->shape->f;
		net->n_links = net->f->n_ports;
	}
	if (!net || !flow_net_new(a, net->f, &net->links) || !set_sources(net) || !set_dests(net)) {
		ftr_arena_free(a);
		return ftr_nomem(err, "counting flows");
	}
	st = ftr_balance_bound(in->shape, net->hosts, &net->bound, err);
	if (!st && in->shape->numbering.rail)
		st = set_rail_weight(net, err);
	if (st)
		balance_net_free(net);
	else
		*out = net;
	return st;
}

void balance_net_free(struct balance_net *net)
{
	if (net)
		ftr_arena_free(net->arena);
}

/* ---- sets of entries --------------------------------------------------------- */

/* For each entry of the set: increment end[d] (sw NULL), or store the switch in sw[end[d]++]. */
static void each_bit(const struct balance_net *net, const uint64_t *bits, uint32_t *end,
		     uint16_t *sw)
{
	uint32_t words = net->f->max_lid / 64 + 1u;

	for (size_t i = 0; i < (size_t)net->f->n_sw * words; i++)
		for (uint64_t b = bits[i]; b; b &= b - 1) {
			uint32_t lid = (uint32_t)(i % words) * 64 + (uint32_t)__builtin_ctzll(b);
			uint32_t d = lid > net->f->max_lid ? BALANCE_NONE : net->dest_of[lid];

			if (d == BALANCE_NONE)
				continue;
			if (sw)
				sw[end[d]] = (uint16_t)(i / words);
			end[d]++;
		}
}

enum ftr_status balance_subset_new(const struct balance_net *net, const uint64_t *bits,
				   struct balance_subset *out, struct ftr_err *err)
{
	uint32_t n = 0;

	out->first = ftr_calloc(net->n_dests + 2u, sizeof(*out->first));
	if (!out->first)
		return ftr_nomem(err, "counting flows");
	each_bit(net, bits, out->first + 1, NULL);
	for (uint32_t d = 1; d <= net->n_dests; d++) {
		uint32_t k = out->first[d];

		out->first[d] = n;
		n += k;
	}
	out->sw = ftr_reallocarray(NULL, n + 1u, sizeof(*out->sw));
	if (!out->sw)
		return ftr_nomem(err, "counting flows");
	each_bit(net, bits, out->first + 1, out->sw);
	return FTR_OK;
}

void balance_subset_free(struct balance_subset *z)
{
	free(z->first);
	free(z->sw);
}

/* ---- copy of the tables ------------------------------------------------------ */

struct copy_job {
	const struct balance_net *net;
	struct flow_dest *copy;
	const struct ftr_tables *t;
};

static void read_blocks(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	const struct copy_job *j = ctx;
	const struct balance_net *net = j->net;

	(void)worker;
	for (uint32_t b = begin; b < end; b++) {
		uint32_t at = b * FTR_LFT_BLOCK;
		uint8_t *entry[BYTES_COLUMNS] = { NULL };

		for (uint32_t i = 0; i < FTR_LFT_BLOCK && at + i <= net->f->max_lid; i++)
			if (net->dest_of[at + i] != BALANCE_NONE)
				entry[i] = j->copy[net->dest_of[at + i]].entry;
		bytes_columns(entry, ftr_tables_row(j->t, 0) + at, j->t->stride, net->f->n_sw);
	}
}

struct flow_dest *balance_copy_alloc(const struct balance_net *net)
{
	size_t n = net->n_dests + 1u, n_sw = net->f->n_sw;
	struct flow_dest *copy = ftr_malloc(n * (sizeof(*copy) + n_sw));

	for (uint32_t d = 0; copy && d < net->n_dests; d++)
		copy[d] = (struct flow_dest){
			(uint8_t *)(copy + n) + d * n_sw, 1, balance_switch(net, d),
		};
	return copy;
}

void balance_copy_read(const struct balance_net *net, const struct ftr_tables *t,
		       struct ftr_team *team, struct flow_dest *copy)
{
	struct copy_job j = { .net = net, .copy = copy, .t = t };
	_Static_assert(BYTES_COLUMNS == FTR_LFT_BLOCK, "a block at a time");

	ftr_team_run(team, net->f->max_lid / FTR_LFT_BLOCK + 1, 1, read_blocks, &j);
}

enum ftr_status balance_copy_new(const struct balance_net *net,
				 const struct ftr_tables *t, struct ftr_team *team,
				 struct flow_dest **out, struct ftr_err *err)
{
	*out = balance_copy_alloc(net);
	if (!*out)
		return ftr_nomem(err, "counting flows");
	balance_copy_read(net, t, team, *out);
	return FTR_OK;
}
