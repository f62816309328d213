// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Makes struct balance_net: the links, sources and destinations of a shape.
 *
 * In all-to-all traffic every host sends to every other host.  Hosts are the channel adapter ports
 * with a LID on any switch, except Aggregation Nodes.  Only hosts in the host order take part in
 * shifts.  The hosts of a switch have consecutive positions in this order.
 *
 * For each column (destination switch), the switches are sorted from the farthest to the nearest,
 * such that every candidate of a switch comes after the switch.  So paths follow this order, whatever
 * candidates the entries change to, and no path has a loop.  Candidates by cost have a lower cost than
 * the switch.  Candidates for extra turns (turns that up/down routing does not allow) may be farther
 * from the destination than the switch.  So if the tables have extra turns, the sort key is not the
 * cost, but the greatest number of hops over any candidates.
 */
#include <string.h>

#include "balance/balance.h"
#include "core/bytes.h"

/* Sort keys of switches are below n_sw, except: */
#define NO_PATH UINT16_MAX
#define UNSEEN (UINT16_MAX - 1)
#define OPEN (UINT16_MAX - 2)	/* the key is being computed */

static bool set_links(struct balance_net *net)
{
	net->n_links = net->f->n_ports;
	net->peer = ftr_arena_alloc(net->arena, net->n_links,
				    sizeof(*net->peer));
	net->ports = ftr_arena_alloc(net->arena, net->f->n_sw,
				     sizeof(*net->ports));
	net->row = ftr_arena_alloc(net->arena, net->n_links,
				   sizeof(*net->row));
	if (!net->peer || !net->ports || !net->row)
		return false;
	for (ftr_sw s = 0; s < net->f->n_sw; s++)
		net->ports[s] = (struct balance_ports){
			net->f->sw[s].first_port, net->f->sw[s].n_ports,
		};
	memset(net->peer, 0xff, net->n_links * sizeof(*net->peer));
	for (uint32_t x = 0; x < net->n_links; x++)
		if (net->f->ports[x].peer_kind == FTR_PEER_SW) {
			net->peer[x] = net->f->ports[x].peer;
			net->row[x] = net->n_rows++;
		} else {
			net->row[x] = BALANCE_NONE;
		}
	return true;
}

static bool set_sources(struct balance_net *net)
{
	const struct ftr_fabric *f = net->f;
	uint32_t *hosts = ftr_arena_zalloc(net->arena, f->n_sw,
					   sizeof(*hosts));

	net->hosts = hosts;
	net->source = ftr_arena_zalloc(net->arena, f->n_sw,
				       sizeof(*net->source));
	net->source_of = ftr_arena_alloc(net->arena, f->n_sw,
					 sizeof(*net->source_of));
	if (!hosts || !net->source || !net->source_of)
		return false;
	balance_count_hosts(f, hosts);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		net->n_hosts += hosts[s];
		net->source_of[s] = BALANCE_NONE;
		if (!hosts[s])
			continue;
		net->source_of[s] = net->n_sources;
		net->source[net->n_sources++] = (struct balance_source){
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

	net->dest = ftr_arena_alloc(net->arena, sh->numbering.n_dest,
				    sizeof(*net->dest));
	net->first = ftr_arena_alloc(net->arena, net->f->n_sw + 1u,
				     sizeof(*net->first));
	net->dest_of = ftr_arena_alloc(net->arena, net->f->max_lid + 1u,
				       sizeof(*net->dest_of));
	net->dest_at = ftr_arena_alloc(net->arena, sh->numbering.n_dest,
				       sizeof(*net->dest_at));
	if (!net->dest || !net->first || !net->dest_of || !net->dest_at)
		return false;
	memset(net->dest_of, 0xff,
	       (net->f->max_lid + 1u) * sizeof(*net->dest_of));
	for (uint32_t l = 0; l < net->f->n_sw; l++) {
		uint32_t src = net->source_of[sh->numbering.col_sw[l]];

		net->first[l] = n;
		for (uint32_t i = sh->numbering.dest_first[l]; i < sh->numbering.dest_first[l + 1];
		     i++) {
			const struct ftr_dest *d = &sh->numbering.dest[i];
			const struct ftr_lid_owner *o = &net->f->owner[d->lid];
			struct balance_dest *to = &net->dest[n];

			if (o->kind != FTR_OWNER_EP || o->offset ||
			    !balance_is_host(&net->f->ep[o->idx]))
				continue;
			net->dest_of[d->lid] = n++;
			to->lid = d->lid;
			to->col = l;
			to->pos = BALANCE_NONE;
			if (!ftr_shape_has_place(sh, d->lid))
				continue;
			net->dest_at[net->n_pos] = n - 1;
			to->pos = net->n_pos++;
			if (!net->source[src].n++)
				net->source[src].first = to->pos;
		}
	}
	net->first[net->f->n_sw] = n;
	return true;
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	return b ? gcd(b, a % b) : a;
}

/* A sweep does not visit neighbouring destination switches one after the other, because flows to
 * neighbours in the host order are in the same shifts. */
static bool set_sweep_order(struct balance_net *net)
{
	uint32_t n = net->f->n_sw, at = 0;
	uint32_t step = n * 5 / 8 + 1, l = 0;

	net->sweep_order = ftr_arena_alloc(net->arena, net->first[n] + 1u,
				    sizeof(*net->sweep_order));
	if (!net->sweep_order)
		return false;
	while (gcd(step, n) != 1)
		step++;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t d = net->first[l]; d < net->first[l + 1]; d++)
			net->sweep_order[at++] = d;
		l = (l + step) % n;
	}
	return true;
}

/* ---- order of switches ----------------------------------------------------- */

struct order_job {
	struct balance_net *net;
	/* memory of each thread */
	struct order_scratch {
		uint16_t *key;		/* [n_sw] */
		uint32_t *begin;	/* [n_sw] for the counting sort */
		ftr_sw *stack;		/* [n_sw + n_links] */
	} *scratch;		/* [workers] */
};

/* The switches to which the candidates of s for column l lead.  in->extra == NULL: a present entry for
 * extra turns is not known to be a candidate, so its switch is included. */
static uint32_t next_switches(const struct balance_net *net, ftr_sw s, uint32_t l, ftr_sw *next)
{
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	struct ftr_cost_column costs = balance_costs(net, l);
	uint32_t n = FTR_BALANCE_BY_COST, link;

	if (net->in->extra)
		n = net->in->extra(net->in->extra_ctx, s, l, cand);
	if (n == FTR_BALANCE_BY_COST)
		n = costs.cost[s] == FTR_COST_INF ? 0 :
			ftr_shape_candidates_at(balance_shape(net, l), s, &costs, cand);
	for (uint32_t k = 0; k < n; k++)
		next[k] = cand[k]->remote;
	link = balance_link_to(net, s, balance_entries(net, net->entry, net->first[l])[s]);
	if (!net->in->extra && link != BALANCE_NONE)
		next[n++] = net->peer[link];
	return n;
}

/* Without extra turns the candidates have a lower cost. */
static bool by_cost(const struct balance_net *net, uint8_t cost)
{
	return !net->in->extra && !net->in->longer && cost != FTR_COST_INF;
}

/* Visit s, the top of the stack of n switches, for the first or the second time.  Returns the new
 * number, or 0 if the candidates lead in a circle or to a switch without a path. */
static uint32_t visit(const struct balance_net *net, struct order_scratch *z,
		      uint32_t l, uint32_t n)
{
	ftr_sw s = z->stack[n - 1], next[FTR_PORT_MAX + 2];
	uint16_t key = NO_PATH, opened = z->key[s];
	uint32_t n_next;

	if (opened != UNSEEN && opened != OPEN)
		return n - 1;
	n_next = next_switches(net, s, l, next);
	z->key[s] = OPEN;
	for (uint32_t i = 0; i < n_next; i++) {
		uint16_t of = z->key[next[i]];

		if (of == OPEN || of == NO_PATH)
			return 0;
		if (of == UNSEEN)
			z->stack[n++] = next[i];
		else
			key = key == NO_PATH ? of + 1 : FTR_MAX(key, of + 1);
	}
	if (opened == UNSEEN)
		return n;	/* s is visited again after its candidates */
	z->key[s] = key;
	return n - 1;
}

/* Compute the sort keys for column l.  Returns false if there are none, because the candidates do not
 * lead to l. */
static bool find_keys(const struct balance_net *net, struct order_scratch *z, uint32_t l)
{
	const uint8_t *cost = net->order[l].cost;

	for (ftr_sw s = 0; s < net->f->n_sw; s++)
		z->key[s] = by_cost(net, cost[s]) ? cost[s] : UNSEEN;
	z->key[net->in->shape->numbering.col_sw[l]] = 0;
	for (ftr_sw s = 0; s < net->f->n_sw; s++) {
		uint32_t n = z->key[s] == UNSEEN;

		z->stack[0] = s;
		while (n)
			n = visit(net, z, l, n);
		if (z->key[s] == OPEN)
			return false;
	}
	return true;
}

static void order_column(const struct order_job *j, struct order_scratch *z, uint32_t l)
{
	struct balance_order *o = &j->net->order[l];
	uint32_t n_sw = j->net->f->n_sw;

	o->n = 0;
	if (!find_keys(j->net, z, l))
		return;
	memset(z->begin, 0, n_sw * sizeof(*z->begin));
	for (ftr_sw s = 0; s < n_sw; s++)
		if (z->key[s] != NO_PATH)
			z->begin[z->key[s]]++;
	for (uint32_t k = n_sw; k-- > 0;) {
		uint32_t n = z->begin[k];

		z->begin[k] = o->n;
		o->n += n;
	}
	for (ftr_sw s = 0; s < n_sw; s++)
		if (z->key[s] != NO_PATH)
			o->sw[z->begin[z->key[s]]++] = (uint16_t)s;
}

static void copy_costs(const struct balance_net *net,
		       const struct ftr_shape *sh, uint32_t begin, uint32_t end)
{
	uint8_t *cost[BYTES_COLUMNS] = { NULL }, *down[BYTES_COLUMNS] = { NULL };
	struct ftr_cost_column c = ftr_shape_column(sh, begin);
	bool any = false;

	for (uint32_t l = begin; l < end; l++)
		if (net->order[l].sw && balance_shape(net, l) == sh) {
			cost[l - begin] = net->order[l].cost;
			down[l - begin] = net->order[l].down;
			any = true;
		}
	if (!any)
		return;
	bytes_columns(cost, c.cost, c.stride, net->f->n_sw);
	bytes_columns(down, c.down, c.stride, net->f->n_sw);
}

static void order_block(const struct order_job *j, struct order_scratch *z,
			uint32_t begin, uint32_t end)
{
	copy_costs(j->net, j->net->in->shape, begin, end);
	if (j->net->in->use_full)
		copy_costs(j->net, j->net->in->full, begin, end);
	for (uint32_t l = begin; l < end; l++)
		if (j->net->order[l].sw)
			order_column(j, z, l);
}

static void order_columns(void *ctx, unsigned int worker, uint32_t begin,
			  uint32_t end)
{
	const struct order_job *j = ctx;
	for (uint32_t b = begin; b < end; b++)
		order_block(j, &j->scratch[worker], b * BYTES_COLUMNS,
			    FTR_MIN((b + 1) * BYTES_COLUMNS, j->net->f->n_sw));
}

static bool set_orders(struct balance_net *net, struct ftr_team *team)
{
	uint32_t n_sw = net->f->n_sw, n = 0;
	unsigned int workers = ftr_team_size(team);
	struct order_job j = { .net = net };
	uint8_t *cost;
	uint16_t *sw;

	for (uint32_t l = 0; l < n_sw; l++)
		n += net->first[l] < net->first[l + 1];
	net->order = ftr_arena_zalloc(net->arena, n_sw, sizeof(*net->order));
	sw = ftr_arena_alloc(net->arena, (size_t)n * n_sw, sizeof(*sw));
	cost = ftr_arena_alloc(net->arena, 2 * (size_t)n * n_sw, 1);
	if (!net->order || !sw || !cost || !FTR_NEW(net->arena, j.scratch, workers))
		return false;
	for (unsigned int i = 0; i < workers; i++) {
		struct order_scratch *z = &j.scratch[i];

		if (!FTR_NEW(net->arena, z->key, n_sw) ||
		    !FTR_NEW(net->arena, z->begin, n_sw) ||
		    !FTR_NEW(net->arena, z->stack, (size_t)n_sw + net->n_links))
			return false;
	}
	for (uint32_t l = 0; l < n_sw; l++)
		if (net->first[l] < net->first[l + 1]) {
			net->order[l] = (struct balance_order){
				.sw = sw, .cost = cost, .down = cost + n_sw,
			};
			sw += n_sw;
			cost += 2 * (size_t)n_sw;
		}
	ftr_team_run(team, (n_sw - 1) / BYTES_COLUMNS + 1, 1, order_columns,
		     &j);
	return true;
}

/* Set at[s] to the place of switch s in net->order[l]: 1 for the first; 0: no path. */
static void set_places(const struct balance_net *net, uint32_t l, uint32_t *at)
{
	const struct balance_order *o = &net->order[l];

	memset(at, 0, net->f->n_sw * sizeof(*at));
	for (uint32_t i = 0; i < o->n; i++)
		at[o->sw[i]] = i + 1;
}

/* Returns true if the entries for destination d follow the order: the entry of a switch with a path
 * must lead to a later switch, and the entry of a source without a path must lead to no switch.
 * at: see set_places(). */
static bool follows_order(const struct balance_net *net, uint32_t d,
			  const uint32_t *at)
{
	const uint8_t *entry = balance_entries(net, net->entry, d);
	uint32_t n = net->order[net->dest[d].col].n;

	for (ftr_sw s = 0; s < net->f->n_sw; s++) {
		uint32_t link = balance_link_to(net, s, entry[s]);

		if (!at[s] && net->hosts[s] && link != BALANCE_NONE)
			return false;
		if (at[s] && at[s] < n &&
		    (link == BALANCE_NONE || at[net->peer[link]] <= at[s]))
			return false;
	}
	return true;
}

bool balance_net_ordered(const struct balance_net *net)
{
	for (uint32_t l = 0; l < net->f->n_sw; l++)
		if (net->order[l].sw && !net->order[l].n)
			return false;
	return true;
}

bool balance_net_follows(const struct balance_net *net, uint32_t *at)
{
	if (!balance_net_ordered(net))
		return false;
	for (uint32_t l = 0; l < net->f->n_sw; l++) {
		if (!net->order[l].sw)
			continue;
		set_places(net, l, at);
		for (uint32_t d = net->first[l]; d < net->first[l + 1]; d++)
			if (!follows_order(net, d, at))
				return false;
	}
	return true;
}

/* ---- entries by destination ------------------------------------------------ */

struct entry_job {
	struct balance_net *net;
	const struct ftr_tables *t;
};

static void read_blocks(void *ctx, unsigned int worker, uint32_t begin,
			uint32_t end)
{
	const struct entry_job *j = ctx;
	const struct balance_net *net = j->net;

	(void)worker;
	for (uint32_t b = begin; b < end; b++) {
		uint32_t at = b * FTR_LFT_BLOCK;
		uint8_t *entry[BYTES_COLUMNS] = { NULL };

		for (uint32_t i = 0; i < FTR_LFT_BLOCK &&
		     at + i <= net->f->max_lid; i++)
			if (net->dest_of[at + i] != BALANCE_NONE)
				entry[i] = balance_entries(net, net->entry,
							   net->dest_of[at + i]);
		bytes_columns(entry, ftr_tables_row(j->t, 0) + at, j->t->stride,
			      net->f->n_sw);
	}
}

static bool set_entries(struct balance_net *net, const struct ftr_tables *t,
			struct ftr_team *team)
{
	struct entry_job j = { .net = net, .t = t };
	_Static_assert(BYTES_COLUMNS == FTR_LFT_BLOCK, "a block at a time");

	net->rows = ftr_arena_new();
	if (net->rows)
		net->entry = ftr_arena_alloc(net->rows,
					     net->first[net->f->n_sw] + 1u,
					     net->f->n_sw);
	if (!net->entry)
		return false;
	ftr_team_run(team, net->f->max_lid / FTR_LFT_BLOCK + 1, 1, read_blocks,
		     &j);
	return true;
}

/* ---- new and free ------------------------------------------------------------ */

static enum ftr_status nomem(struct ftr_err *err)
{
	return ftr_fail(err, FTR_NOMEM, "out of memory for counting flows");
}

enum ftr_status balance_net_begin(const struct ftr_balance_input *in,
				  struct balance_net **out, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct balance_net *net = a ? ftr_arena_zalloc(a, 1, sizeof(*net)) :
		NULL;
	enum ftr_status st;

	if (net) {
		net->arena = a;
		net->in = in;
		net->f = in->shape->f;
	}
	if (!net || !set_links(net) || !set_sources(net) || !set_dests(net)) {
		ftr_arena_free(a);
		return nomem(err);
	}
	st = ftr_balance_bound(in->shape, net->hosts, &net->bound, err);
	if (st)
		balance_net_free(net);
	else
		*out = net;
	return st;
}

enum ftr_status balance_net_rows(struct balance_net *net,
				 const struct ftr_tables *t,
				 struct ftr_team *team, struct ftr_err *err)
{
	return set_sweep_order(net) && set_entries(net, t, team) &&
		set_orders(net, team) ? FTR_OK : nomem(err);
}

enum ftr_status balance_net_new(const struct ftr_balance_input *in,
				const struct ftr_tables *t,
				struct ftr_team *team, struct balance_net **out,
				struct ftr_err *err)
{
	struct balance_net *net = NULL;
	enum ftr_status st = balance_net_begin(in, &net, err);

	if (!st)
		st = balance_net_rows(net, t, team, err);
	if (st)
		balance_net_free(net);
	else
		*out = net;
	return st;
}

void balance_net_free_rows(struct balance_net *net)
{
	ftr_arena_free(net->rows);
	net->rows = NULL;
	net->entry = NULL;
	net->senders = NULL;
}

void balance_net_free(struct balance_net *net)
{
	if (!net)
		return;
	balance_net_free_rows(net);
	ftr_arena_free(net->arena);
}
