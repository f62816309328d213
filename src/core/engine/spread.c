// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Gives several next hops to switches without an up/down path (connect.c), so that flows can be
 * divided among all links that join two trees.
 *
 * For example, a compute tree and a storage tree are joined by links between their spines.
 * across.c allows turns to all these links.  But with one next hop for each switch and destination
 * switch, most flows between the trees would cross the same few links.
 *
 * After paths to a destination switch (a column) have been found, the switches that got a path are
 * visited in the order of their numbers of hops.  A switch s gets neighbour t as a further next hop
 * if
 *
 *	- the path over t has as many hops as the present path of s,
 *	- packets from s may turn to every next hop of t, and
 *	- packets from all neighbours whose path leads over s may turn to t.
 *
 * Then each switch can use any of its next hops, and all paths still make only allowed turns.
 */
#include "engine/plan.h"

static uint32_t count_hops(const struct plan *p, ftr_sw s)
{
	uint32_t n = 0;

	for (; !plan_by_rank(p, s) && n < p->sh->f->n_sw; n++)
		s = p->turns.channel[p->label[s].channel].to;
	return n + plan_cost(p, s);
}

static bool is_nearer(const struct plan *p, ftr_sw s, ftr_sw t)
{
	uint32_t hops = p->hops[s].total - 1;

	if (plan_by_rank(p, t))
		return plan_cost(p, t) == hops;
	return p->state[t] == CONNECTED && p->hops[t].total == hops;
}

/* Returns true if a packet from channel c may turn to every next hop of the switch at the end of
 * c. */
static bool may_pass(struct plan *p, uint32_t c)
{
	ftr_sw t = p->turns.channel[c].to;
	const struct hop_list *h;

	if (p->sh->numbering.col[t] == p->l)
		return true;
	h = plan_hops(p, t);
	for (uint32_t i = 0; i < h->n; i++)
		if (!turns_allowed(&p->turns, c, p->pool[h->first + i]))
			return false;
	return true;
}

/* Returns true if packets from every neighbour whose path leads over s may leave s on channel c. */
static bool all_may_leave(const struct plan *p, ftr_sw s, uint32_t c)
{
	for_each_channel(&p->turns, s, b) {
		ftr_sw x = p->turns.channel[b].to;
		uint32_t in = p->turns.channel[b].back;

		if (p->state[x] == CONNECTED && p->label[x].channel == in &&
		    !turns_allowed(&p->turns, in, c))
			return false;
	}
	return true;
}

static void spread_switch(struct plan *p, ftr_sw s)
{
	uint32_t hop[FTR_PORT_MAX + 1], n = 0, label = p->label[s].channel;
	struct hop_list *h = &p->hops[s];

	for_each_channel(&p->turns, s, c)
		if (c == label ||
		    (is_nearer(p, s, p->turns.channel[c].to) &&
		     may_pass(p, c) && all_may_leave(p, s, c)))
			hop[n++] = c;
	h->first = p->n_pool;
	h->n = 0;
	for (uint32_t i = 0; i < n; i++)
		h->n += plan_pool_add(p, hop[i]);
	h->known = true;
}

void plan_spread(struct plan *p)
{
	uint32_t farthest = 0;

	for (uint32_t i = 0; i < p->n_connected; i++) {
		ftr_sw s = p->connected[i];

		p->hops[s].total = count_hops(p, s);
		farthest = FTR_MAX(farthest, p->hops[s].total);
	}
	for (uint32_t hops = 1; hops <= farthest; hops++)
		for (uint32_t i = 0; i < p->n_connected; i++)
			if (p->hops[p->connected[i]].total == hops)
				spread_switch(p, p->connected[i]);
}
