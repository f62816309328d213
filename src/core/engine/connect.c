// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Plans paths with extra turns, for pairs of switches that up/down routing by rank does not
 * connect.
 *
 * Some fabrics have pairs of host ports without an up/down path.  For example, hosts are on spines,
 * or two leaf switches have lost their common spines, or two core chassis are joined only by rack
 * switches.  Engine sftree solves this by another order of the switches, in which every pair has an
 * up/down path.  But then the paths of all other pairs change, too, and the most loaded link
 * carries 10 to 41 % more flows.  A plan of extra turns keeps the entries of the routing by rank,
 * except some entries of gateways.
 *
 * Terms:
 *
 *	column		a switch as a destination
 *	extra turn	a step from link to link that up/down routing by rank does not make,
 *			usually from a downward to an upward link (turns.h)
 *	gateway		a switch with an extra turn
 *	needed pair	a switch s and a column l that are physically connected, but the cost from s
 *			to l is infinite.  In addition, both have host ports, or a subnet manager is
 *			on l
 *	first step	the step of a path from a switch without an up/down path to a switch with
 *			one
 *
 * The columns (destination switches) are connected one by one.  Paths to column l are found
 * backwards, from the switches with an up/down path to l to the switches that need a path.  Switch
 * s may use neighbour t as its next hop if packets from s may turn at t to every next hop of t,
 * because s cannot choose among these next hops:
 *
 *	s --> t --> u1, u2	turns (s,t,u1) and (s,t,u2) must be allowed
 *
 * The best path has the fewest new turns.  On a tie, it has the fewest hops.  On a further tie, it
 * turns at the leaf switch with the most switches above it (the hub).  So there are few gateways,
 * and paths to other destination switches can use turns that are allowed already.
 *
 * A turn that is added may exclude other turns, which would close a cycle with it.  Suppose that
 * two groups of switches are joined only by gateways.  Then a turn from the first group to the
 * second at one gateway may exclude the opposite direction at all other gateways (see the example
 * below).  So each destination switch is connected in three stages: with turns that are allowed
 * already; with new turns together with the opposite turns; with new turns alone.  A packet may
 * turn to all next hops of a gateway or to none, so pairs with an up/down path keep their paths.
 *
 * If horizontal links join trees of the fabric (CONNECT_ACROSS), the turns of across.c are allowed
 * from the start.  Switches without an up/down path may then get several next hops (spread.c).
 *
 * If some pairs still have no path, dmodc makes a new plan that uses horizontal links (enum
 * connect_links).  If this fails as well, or if there are no horizontal links, dmodc plans without
 * the turns of an earlier routing.  If there are none, or this fails, too, it routes the whole fabric by
 * another order of the switches (inverted_order.c).
 *
 * Example of a fabric without suitable extra turns: two chassis A and B that are joined only by
 * gateways.  One packet turns from A to B at gateway g (a -> g -> b).  Another packet turns from B
 * to A at gateway h (c -> h -> d).  If up/down paths lead from b to c and from d to a, the turns
 * close a cycle:
 *
 *	a -> g -> b ... c -> h -> d ... a
 *
 * Inside a chassis such paths nearly always exist.  Then extra turns cannot connect all pairs, or
 * they lead all traffic of at least one direction over one link of one gateway.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/place.h"
#include "engine/plan.h"

/* The stages, in order.  A stage fails if one of its turns would close a cycle.
 * tries[i]: number of times that stage i may fail for one destination switch.
 * all_tries[i]: number of times that it may fail for all destination switches and passes
 * together. */
static const unsigned int modes[PLAN_STAGES] = { 0, NEW | BOTH, NEW };
static const uint32_t tries[PLAN_STAGES] = { 1, 3, 3 };
static const uint32_t all_tries[PLAN_STAGES] = { UINT32_MAX, 6, 12 };

/* Greatest number of passes over all destination switches.  A further pass is made only if the pass
 * before it has added turns, and gives_up() has not returned true. */
#define PASSES 5

#define IMPOSSIBLE UINT32_MAX

/* The number of turns that must be added so that a path may use channel c, or IMPOSSIBLE. */
static uint32_t new_turns(struct plan *p, uint32_t c)
{
	ftr_sw t = p->turns.channel[c].to;
	const uint32_t *hop = &p->label[t].channel;
	uint32_t n_hops = 1, n = 0;

	if (p->sh->numbering.col[t] == p->l)
		return 0;
	if (plan_by_rank(p, t)) {
		const struct hop_list *h = plan_hops(p, t);

		hop = p->pool + h->first;
		n_hops = h->n;
	}
	for (uint32_t i = 0; i < n_hops; i++) {
		if (turns_allowed(&p->turns, c, hop[i]))
			continue;
		if (!(p->mode & NEW) || turns_refused(&p->turns, c, hop[i], p->mode & BOTH))
			return IMPOSSIBLE;
		n++;
	}
	return n;
}

/* ---- the heap ---------------------------------------------------------- */

static bool before(const struct step *a, const struct step *b)
{
	return a->key != b->key ? a->key < b->key : a->sw < b->sw;
}

static void push(struct plan *p, struct step x)
{
	uint32_t i;

	if (!FTR_GROW(p->heap, p->n_heap, p->cap_heap)) {
		p->nomem = true;
		return;
	}
	for (i = p->n_heap++; i && before(&x, &p->heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		p->heap[i] = p->heap[(i - 1) / 2];
	p->heap[i] = x;
}

static struct step pop(struct plan *p)
{
	struct step top = p->heap[0], x = p->heap[--p->n_heap];
	uint32_t i = 0, k;

	for (; (k = 2 * i + 1) < p->n_heap; i = k) {
		if (k + 1 < p->n_heap &&
		    before(&p->heap[k + 1], &p->heap[k]))
			k++;
		if (!before(&p->heap[k], &x))
			break;
		p->heap[i] = p->heap[k];
	}
	p->heap[i] = x;
	return top;
}

#define KEY_TURN ((uint64_t)1 << 48)
#define KEY_HOP ((uint64_t)1 << 32)

static uint64_t key_at(const struct plan *p, ftr_sw t)
{
	if (plan_by_rank(p, t))
		return plan_cost(p, t) * KEY_HOP;
	return p->label[t].key & ~(KEY_HOP - 1);
}

static bool is_better(const struct plan *p, const struct step *x)
{
	return p->state[x->sw] != LABELLED || before(x, &p->label[x->sw]);
}

/* If channel c is the best step so far from a switch without a path, store it in label[] and the
 * heap. */
static void consider(struct plan *p, uint32_t c)
{
	ftr_sw s = p->turns.channel[c].from, t = p->turns.channel[c].to;
	struct step x = {
		.key = key_at(p, t) + KEY_HOP + p->needs.hub[t],
		.sw = s, .channel = c,
	};
	uint32_t n;

	if (!is_better(p, &x))
		return;
	n = new_turns(p, c);
	if (n == IMPOSSIBLE)
		return;
	x.key += n * KEY_TURN;
	if (!is_better(p, &x))
		return;
	plan_touch(p, s);
	p->state[s] = LABELLED;
	p->label[s] = x;
	push(p, x);
}

static void consider_to(struct plan *p, ftr_sw t)
{
	for_each_channel(&p->turns, t, c) {
		ftr_sw s = p->turns.channel[c].to;

		if (p->state[s] != CONNECTED && !plan_by_rank(p, s))
			consider(p, p->turns.channel[c].back);
	}
}

/* ---- a column ---------------------------------------------------------- */

static void seed_allowed(struct plan *p)
{
	const struct turns *tn = &p->turns;

	consider_to(p, p->sh->numbering.col_sw[p->l]);
	for (uint32_t i = 0; i < tn->n_extra; i++) {
		uint32_t c = tn->extra[i].in;

		if (tn->channel[c].extra == i &&	/* each channel only once */
		    !plan_by_rank(p, tn->channel[c].from) &&
		    p->state[tn->channel[c].from] != CONNECTED &&
		    plan_by_rank(p, tn->channel[c].to))
			consider(p, c);
	}
}

static void seed_all(struct plan *p)
{
	ftr_sw to = p->sh->numbering.col_sw[p->l];

	for (ftr_sw s = 0; s < p->sh->f->n_sw; s++) {
		if (plan_by_rank(p, s) || p->state[s] == CONNECTED ||
		    p->needs.island[s] != p->needs.island[to])
			continue;
		for_each_channel(&p->turns, s, c)
			if (plan_by_rank(p, p->turns.channel[c].to))
				consider(p, c);
	}
}

/* Add the turns that packets from channel c need, if the mode permits new turns.  Returns
 * FTR_REFUSED if a necessary turn remains forbidden. */
static enum ftr_status admit_step(struct plan *p, uint32_t c)
{
	ftr_sw t = p->turns.channel[c].to;
	const struct hop_list *h;

	if (p->sh->numbering.col[t] == p->l)
		return FTR_OK;
	h = plan_hops(p, t);
	if (p->mode & NEW)
		return turns_admit(&p->turns, c, p->pool + h->first, h->n, p->mode & BOTH);
	for (uint32_t i = 0; i < h->n; i++)
		if (!turns_allowed(&p->turns, c, p->pool[h->first + i]))
			return FTR_REFUSED;
	return FTR_OK;
}

static void connected(struct plan *p, ftr_sw s)
{
	p->state[s] = CONNECTED;
	p->connected[p->n_connected++] = s;
	p->label[s].key &= KEY_TURN - 1;	/* the turns of its path are no longer new */
	p->left -= p->needed[s];
	if (p->needs.ends[s] && p->needs.need[p->l] & NEED_ENDS)
		p->found.pairs += (uint64_t)p->needs.ends[s] *
			p->needs.lids[p->sh->numbering.col_sw[p->l]];
}

static enum ftr_status admit_path(struct plan *p, ftr_sw s)
{
	uint32_t n = 0;

	for (; !plan_by_rank(p, s) && p->state[s] != CONNECTED;
	     s = p->turns.channel[p->label[s].channel].to) {
		if (n == p->sh->f->n_sw)	/* the labels form a loop */
			return FTR_REFUSED;
		p->path[n++] = s;
	}
	while (n) {
		enum ftr_status st = admit_step(p, p->label[p->path[n - 1]].channel);

		if (st)
			return st;
		connected(p, p->path[--n]);
	}
	return FTR_OK;
}

/* Find paths until this mode reaches no further switch that needs a path.  Returns FTR_REFUSED if a
 * turn would close a cycle; later calls do not try this turn again. */
static enum ftr_status grow(struct plan *p)
{
	bool all = p->spread && !p->mode;

	if (p->mode & NEW)
		seed_all(p);
	else
		seed_allowed(p);
	for (uint32_t i = 0; i < p->n_connected; i++)
		consider_to(p, p->connected[i]);
	while (p->n_heap && (p->left || all) && !p->nomem) {
		struct step x = pop(p);
		uint32_t first = p->n_connected;
		enum ftr_status st;

		if (p->state[x.sw] != LABELLED ||
		    before(&p->label[x.sw], &x))
			continue;
		if (!p->needed[x.sw] && !all) {
			consider_to(p, x.sw);
			continue;
		}
		st = admit_path(p, x.sw);
		if (st)
			return st;
		for (; first < p->n_connected; first++)
			consider_to(p, p->connected[first]);
	}
	return p->nomem ? FTR_NOMEM : FTR_OK;
}

static void unlabel(struct plan *p)
{
	p->n_heap = 0;
	for (uint32_t i = 0; i < p->n_touched; i++)
		if (p->state[p->touched[i]] == LABELLED)
			p->state[p->touched[i]] = OPEN;
}

static enum ftr_status run_stage(struct plan *p, unsigned int stage)
{
	enum ftr_status st = FTR_REFUSED;

	p->mode = modes[stage];
	for (unsigned int i = 0; st == FTR_REFUSED && p->left &&
	     i < tries[stage] && p->tries[stage]; i++) {
		st = grow(p);
		unlabel(p);
		p->tries[stage] -= st == FTR_REFUSED;
	}
	p->found.closed = !st;
	return st == FTR_REFUSED ? FTR_OK : st;
}

/* ---- results ----------------------------------------------------------- */

static bool add_entry(struct plan *p, ftr_sw s, const uint32_t *hop, uint32_t n)
{
	struct connect *o = p->found.out;

	if (!FTR_GROW(o->entry, o->n_entries, p->found.cap_entries))
		return false;
	o->entry[o->n_entries++] = (struct connect_entry){
		.sw = s, .col = p->l, .first = p->found.n_via, .n = n,
	};
	for (uint32_t i = 0; i < n; i++) {
		if (!FTR_GROW(o->via, p->found.n_via, p->found.cap_via))
			return false;
		o->via[p->found.n_via++] = p->turns.channel[hop[i]].to;
		o->horizontal |= p->turns.channel[hop[i]].kind ==
			CHANNEL_HORIZONTAL;
	}
	return true;
}

static bool end_column(struct plan *p)
{
	bool ok = true;

	qsort(p->touched, p->n_touched, sizeof(*p->touched), ftr_u32_cmp);
	for (uint32_t i = 0; i < p->n_touched; i++) {
		ftr_sw s = p->touched[i];
		const struct hop_list *h = &p->hops[s];

		if (p->state[s] == CONNECTED && h->known)
			ok = ok && add_entry(p, s, p->pool + h->first, h->n);
		else if (p->state[s] == CONNECTED)
			ok = ok && add_entry(p, s, &p->label[s].channel, 1);
		p->state[s] = OPEN;
		p->needed[s] = p->noted[s] = 0;
		p->hops[s].known = false;
	}
	p->n_touched = p->n_connected = p->n_pool = 0;
	return ok;
}

static enum ftr_status connect_column(struct plan *p, uint32_t l)
{
	enum ftr_status st = FTR_OK;

	p->l = l;
	p->back = ftr_shape_cost(p->sh, p->sh->numbering.col_sw[l]);
	p->left = 0;
	for (uint32_t i = p->needs.pair_first[l]; i < p->needs.pair_first[l + 1]; i++) {
		plan_touch(p, p->needs.pair[i]);
		p->needed[p->needs.pair[i]] = 1;
		p->left++;
	}
	for (unsigned int i = 0; p->left && i < PLAN_STAGES; i++) {
		st = run_stage(p, i);
		if (st)
			break;
	}
	p->found.complete &= !p->left;
	p->found.closed &= p->left > 0;
	if (p->spread)
		plan_spread(p);
	if ((!end_column(p) || p->nomem) && !st)
		st = FTR_NOMEM;
	return st;
}

static bool publish(struct plan *p)
{
	struct connect *o = p->found.out;
	struct connect_entry *entry = o->entry;
	ftr_sw *via = o->via;
	bool ok = FTR_NEW(p->arena, o->entry, o->n_entries + 1u) &&
		  FTR_NEW(p->arena, o->via, p->found.n_via + 1u) &&
		  FTR_NEW(p->arena, o->turn, p->turns.n_extra + 1u);

	if (ok && o->n_entries)
		memcpy(o->entry, entry, o->n_entries * sizeof(*entry));
	if (ok && p->found.n_via)
		memcpy(o->via, via, p->found.n_via * sizeof(*via));
	free(entry);
	free(via);
	if (!ok)
		return false;
	o->n_turns = p->turns.n_extra;
	for (uint32_t i = 0; i < o->n_turns; i++) {
		const struct turns_extra *x = &p->turns.extra[i];

		o->turn[i] = (struct ftr_turn){
			p->turns.channel[x->in].from,
			p->turns.channel[x->in].to,
			p->turns.channel[x->out].to,
		};
	}
	if (o->n_turns)
		qsort(o->turn, o->n_turns, sizeof(*o->turn), connect_turn_cmp);
	o->pairs = p->found.pairs;
	o->complete = p->found.complete;
	return true;
}

/* ---- all --------------------------------------------------------------- */

static bool allocate(struct plan *p)
{
	uint32_t n = p->sh->f->n_sw;
	struct ftr_arena *a = p->arena;

	return FTR_NEW(a, p->needs.island, n) && FTR_ZNEW(a, p->needs.ends, n) &&
	       FTR_ZNEW(a, p->needs.lids, n) && FTR_ZNEW(a, p->needs.need, n) &&
	       FTR_ZNEW(a, p->state, n) && FTR_ZNEW(a, p->needed, n) &&
	       FTR_ZNEW(a, p->noted, n) && FTR_NEW(a, p->label, n) &&
	       FTR_ZNEW(a, p->hops, n) && FTR_NEW(a, p->touched, n) &&
	       FTR_NEW(a, p->path, n) && FTR_NEW(a, p->connected, n);
}

/* Add those turns of an earlier routing that exist in this fabric and close no cycle. */
static enum ftr_status admit_given(struct plan *p)
{
	enum ftr_status st = FTR_OK;

	for (uint32_t i = 0; i < p->opts->n_turns && st != FTR_NOMEM; i++) {
		const struct ftr_turn *t = &p->opts->turn[i];
		uint32_t in = turns_find(&p->turns, t->from, t->at);
		uint32_t out = turns_find(&p->turns, t->at, t->to);

		if (in != TURNS_NONE && out != TURNS_NONE)
			st = turns_admit(&p->turns, in, &out, 1, false);
	}
	return st == FTR_NOMEM ? st : FTR_OK;
}

/* Returns true if it is certain that the result will be discarded.  This is so if some switches
 * still have no path to a destination switch, although the last stage for this destination refused
 * no turn.  Then every turn that could help was refused before, and refusals are final. */
static bool gives_up(const struct plan *p)
{
	return p->whole && !p->found.complete && p->found.closed;
}

static enum ftr_status pass(struct plan *p)
{
	enum ftr_status st = FTR_OK;

	p->found.out->n_entries = p->found.n_via = 0;
	p->found.out->horizontal = false;
	p->found.pairs = 0;
	p->found.complete = true;
	for (uint32_t l = 0; l < p->sh->f->n_sw && !gives_up(p); l++) {
		if (p->needs.pair_first[l] < p->needs.pair_first[l + 1])
			st = connect_column(p, l);
		if (st)
			return st;
	}
	return FTR_OK;
}

/* Paths to a destination switch can also use turns that were added for later destination switches.
 * So all paths are planned again, at most PASSES times, until a pass adds no turn.  If the last
 * pass adds no turn, the result depends only on the set of turns, not on the order in which turns
 * were added. */
static enum ftr_status run_connect(struct plan *p)
{
	enum connect_links links = p->found.out->links;
	uint32_t n;
	enum ftr_status st;

	if (!allocate(p))
		return FTR_NOMEM;
	plan_count_ends(p);
	engine_islands(p->sh, p->needs.island);
	if (!plan_find_pairs(p))
		return FTR_NOMEM;
	if (!p->needs.pair_first[p->sh->f->n_sw] && !p->opts->n_turns)
		return FTR_OK;
	if (!turns_init(&p->turns, p->sh, links != CONNECT_UP_DOWN, p->arena) ||
	    (links == CONNECT_ACROSS && !turns_allow_across(&p->turns)) ||
	    !plan_find_hubs(p))
		return FTR_NOMEM;
	memcpy(p->tries, all_tries, sizeof(all_tries));
	st = admit_given(p);
	p->spread = links == CONNECT_ACROSS;
	n = p->turns.n_extra;
	for (int i = 0; i < PASSES && !gives_up(p); i++) {
		if (!st)
			st = pass(p);
		if (st || p->turns.n_extra == n)
			return st;
		n = p->turns.n_extra;
	}
	return st;
}

enum ftr_status connect_plan(const struct ftr_shape *sh,
			     const struct ftr_route_opts *opts, bool whole,
			     struct ftr_arena *arena, struct connect *out,
			     struct ftr_err *err)
{
	struct plan p = {
		.sh = sh, .opts = opts, .arena = arena, .whole = whole,
		.found = { .out = out, .complete = true },
	};
	enum ftr_status st = FTR_OK;

	*out = (struct connect){ .links = out->links, .complete = true };
	st = run_connect(&p);
	if (!publish(&p) && !st)
		st = FTR_NOMEM;
	turns_fini(&p.turns);
	free(p.pool);
	free(p.heap);
	return st ? ftr_nomem(err, "connecting %u switches", sh->f->n_sw) : FTR_OK;
}
