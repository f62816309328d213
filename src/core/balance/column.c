// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Orders the switches for a column (a destination switch), and finds the candidates of entries.
 *
 * The switches are sorted from the farthest to the nearest, such that every candidate of a switch
 * comes after the switch.  So paths follow this order, whatever candidates the entries change to,
 * and no path has a loop.  Candidates by cost have a lower cost than the switch.  Candidates for
 * extra turns (turns that up/down routing does not allow) may be farther from the destination than
 * the switch.  So if the tables have extra turns, the sort key is not the cost, but the greatest
 * number of hops over any candidates.
 */
#include <string.h>

#include "balance/balance.h"
#include "base/bytes.h"

/* Sort keys of switches are below n_sw, except: */
#define NO_PATH UINT16_MAX
#define UNSEEN (UINT16_MAX - 1)
#define OPEN (UINT16_MAX - 2)	/* the key is being computed */

/* Returns NULL if memory is exhausted. */
static uint8_t *sort_costs(struct balance_net *net, const uint8_t *from)
{
	const uint32_t n_sw = net->f->n_sw;
	uint8_t *sorted = ftr_arena_alloc(net->arena, n_sw, n_sw);

	if (!sorted)
		return NULL;
	for (uint32_t l = 0; l < n_sw; l += BYTES_COLUMNS) {
		uint8_t *to[BYTES_COLUMNS] = { NULL };

		for (uint32_t i = 0; i < FTR_MIN(n_sw - l, BYTES_COLUMNS); i++)
			to[i] = sorted + (size_t)(l + i) * n_sw;
		bytes_columns(to, from + l, net->in->shape->reach.stride, n_sw);
	}
	return sorted;
}

bool balance_sort_costs(struct balance_net *net)
{
	if (!net->down) {
		net->cost = sort_costs(net, net->in->shape->reach.cost);
		net->down = sort_costs(net, net->in->shape->reach.down);
	}
	return net->cost && net->down;
}

bool balance_column_new(const struct balance_net *net, struct ftr_arena *a,
			struct balance_column *out)
{
	const struct ftr_balance_input *in = net->in;
	uint32_t n_sw = net->f->n_sw, n = 0;

	*out = (struct balance_column){ .net = net, .l = BALANCE_NONE };
	if (!FTR_NEW(a, out->sw, n_sw) || !FTR_NEW(a, out->at, n_sw) ||
	    !FTR_NEW(a, out->first, n_sw) || !FTR_NEW(a, out->n_cand, n_sw) ||
	    !FTR_NEW(a, out->key, n_sw) || !FTR_NEW(a, out->begin, n_sw) ||
	    !FTR_NEW(a, out->stack, (size_t)n_sw + net->n_links))
		return false;
	for (ftr_sw s = 0; s < n_sw; s++) {
		uint32_t of_shape = ftr_shape_groups(in->shape, s);

		out->first[s] = n;
		n += in->full ? FTR_MAX(of_shape, ftr_shape_groups(in->full, s)) : of_shape;
	}
	return FTR_NEW(a, out->group, n + 1u);
}

/* ---- candidates ------------------------------------------------------------------ */

static uint32_t find_candidates(const struct balance_column *c, ftr_sw s,
				const struct ftr_group **cand)
{
	const struct ftr_balance_input *in = c->net->in;
	uint32_t n = FTR_BALANCE_BY_COST;

	if (in->extra)
		n = in->extra(in->extra_ctx, s, c->l, cand);
	if (n != FTR_BALANCE_BY_COST)
		return n;
	return c->costs.cost[s * c->costs.stride] == FTR_COST_INF ? 0 :
		ftr_shape_candidates_at(c->sh, s, &c->costs, cand);
}

const struct ftr_group *const *balance_candidates(struct balance_column *c, ftr_sw s, uint32_t *n)
{
	const struct ftr_group **cand = c->group + c->first[s];

	if (c->n_cand[s] == UINT16_MAX)
		c->n_cand[s] = (uint16_t)find_candidates(c, s, cand);
	*n = c->n_cand[s];
	return cand;
}

/* ---- order of the switches -------------------------------------------------------- */

/* The switches to which the candidates of s lead.  in->extra == NULL: a present entry for extra
 * turns is not known to be a candidate, so its switch is included. */
static uint32_t next_switches(struct balance_column *c, struct flow_dest of,
			      ftr_sw s, ftr_sw *next)
{
	uint32_t n, link;
	const struct ftr_group *const *cand = balance_candidates(c, s, &n);

	for (uint32_t k = 0; k < n; k++)
		next[k] = cand[k]->remote;
	link = balance_link(c->net, of, s);
	if (!c->net->in->extra && link != BALANCE_NONE)
		next[n++] = c->net->links.peer[link];
	return n;
}

/* Visit s, the top of the stack of n switches, for the first or the second time.  Returns the new
 * number, or 0 if the candidates lead in a circle or to a switch without a path. */
static uint32_t visit(struct balance_column *c, struct flow_dest of, uint32_t n)
{
	ftr_sw s = c->stack[n - 1], next[FTR_PORT_MAX + 2];
	uint16_t key = NO_PATH, opened = c->key[s];
	uint32_t n_next;

	if (opened != UNSEEN && opened != OPEN)
		return n - 1;
	n_next = next_switches(c, of, s, next);
	c->key[s] = OPEN;
	for (uint32_t i = 0; i < n_next; i++) {
		uint16_t k = c->key[next[i]];

		if (k == OPEN || k == NO_PATH)
			return 0;
		if (k == UNSEEN)
			c->stack[n++] = next[i];
		else
			key = key == NO_PATH ? k + 1 : FTR_MAX(key, k + 1);
	}
	if (opened == UNSEEN)
		return n;	/* s is visited again after its candidates */
	c->key[s] = key;
	return n - 1;
}

/* Compute the sort keys.  Returns false if there are none, because the candidates do not lead to
 * the column.  Without extra turns the candidates have a lower cost. */
static bool find_keys(struct balance_column *c, struct flow_dest of)
{
	const struct ftr_balance_input *in = c->net->in;

	for (ftr_sw s = 0; s < c->net->f->n_sw; s++)
		c->key[s] = !in->extra && c->costs.cost[s * c->costs.stride] != FTR_COST_INF ?
			c->costs.cost[s * c->costs.stride] : UNSEEN;
	c->key[in->shape->numbering.col_sw[c->l]] = 0;
	for (ftr_sw s = 0; s < c->net->f->n_sw; s++) {
		uint32_t n = 1;

		if (c->key[s] != UNSEEN)
			continue;
		c->stack[0] = s;
		while (n)
			n = visit(c, of, n);
		if (c->key[s] == OPEN)
			return false;
	}
	return true;
}

static void sort_switches(struct balance_column *c)
{
	uint32_t n_sw = c->net->f->n_sw, n_keys = 0, end = n_sw;

	memset(c->begin, 0, n_sw * sizeof(*c->begin));
	memset(c->at, 0, n_sw * sizeof(*c->at));
	for (ftr_sw s = 0; s < n_sw; s++)
		if (c->key[s] != NO_PATH) {
			c->begin[c->key[s]]++;
			n_keys = FTR_MAX(n_keys, c->key[s] + 1u);
		}
	c->n = 0;
	for (uint32_t k = n_keys; k-- > 0;) {
		uint32_t n = c->begin[k];

		c->begin[k] = c->n;
		c->n += n;
	}
	for (ftr_sw s = 0; s < n_sw; s++)
		if (c->key[s] != NO_PATH) {
			c->at[s] = (uint16_t)++c->begin[c->key[s]];
			c->sw[c->at[s] - 1] = (uint16_t)s;
		} else {
			c->sw[--end] = (uint16_t)s;
		}
}

void balance_column_begin(struct balance_column *c, uint32_t l)
{
	const struct ftr_balance_input *in = c->net->in;

	memset(c->n_cand, 0xff, in->shape->f->n_sw * sizeof(*c->n_cand));
	c->l = l;
	c->sh = balance_shape(in, l);
	c->costs = ftr_shape_column(c->sh, l);
	if (c->net->down && c->sh == in->shape)
		c->costs = (struct ftr_costs){
			c->net->cost + (size_t)l * in->shape->f->n_sw,
			c->net->down + (size_t)l * in->shape->f->n_sw, 1,
		};
}

bool balance_column_set(struct balance_column *c, uint32_t l, struct flow_dest of)
{
	balance_column_begin(c, l);
	if (!find_keys(c, of))
		return false;
	sort_switches(c);
	return true;
}
