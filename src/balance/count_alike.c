// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Counts the all-to-all flows on every link, from the tables alone.
 *
 * The search uses these numbers to find out whether it must change anything.  On a healthy tree it
 * changes nothing, so the count must be fast.  The count does not use the arrays balance_net.entry
 * and balance_net.order: computing these arrays would take longer than routing.
 *
 * A source is a switch with hosts.  Two sources are alike if
 *
 *	- they have the same neighbours,
 *	- they have the same number of links to each neighbour, and
 *	- their entries for each host use corresponding links: if the entry of one source uses its
 *	  i-th link to a neighbour, so does the entry of the other source.  (Hosts on the two
 *	  sources are ignored.)
 *
 * Sources that are alike form a group.  One member is the lead of the group.  The flows of all
 * members to a host take the same path after the first link, so these flows are followed together.
 * On a healthy tree the leaves of a subtree are alike.  A healthy tree of 11,664 hosts has 36
 * groups of 18 leaves.
 *
 *	1. Find the groups: compare the rows of sources that have the same neighbours.
 *	   O(sources * LIDs) byte comparisons, eight at a time.
 *	2. Follow the flows of each group to each destination, from the second link on.  Also count,
 *	   for each link of the lead, the destinations to which the lead sends over this link.
 *	   O(destinations * groups * hops).
 *	3. For each link of each source, add the flows for which this link is the first one: the
 *	   count of step 2 for the corresponding link of the lead, multiplied by the number of hosts
 *	   on the source.
 *
 * The results are exact for any tables without loops.  If a member of a group also forwards flows
 * of other sources, step 2 counts these flows.
 *
 * Two other designs were considered:
 *
 *	- On a complete tree, if the tables follow the formula of dmodc (src/engine/closed_form.c),
 *	  all loads follow from the numbers of switches, links and hosts.  But other tables, or a
 *	  tree that lacks a leaf, would need another method.
 *	- The flows could be added up from the farthest switch to the nearest, for 64 LIDs at a
 *	  time, so that the data fits into the cache.  This needs no copy of the tables, but still
 *	  visits nearly all switches for every destination.
 */
#include <string.h>

#include "balance/balance.h"
#include "core/bytes.h"

struct group {
	ftr_sw lead;		/* the member whose entries represent all members */
	uint32_t hosts;		/* number of hosts on all members */
	struct balance_ports ports;
	const uint8_t *row;
};

struct worker {
	struct balance_counter *link;	/* link[x]: flows on link x, except flows whose first link
					 * is x */
	uint32_t *used;		/* used[x], for link x of a lead: number of destinations to which
				 * the lead sends over x.  Hosts on the lead do not count */
	uint32_t *flows;	/* flows[s]: number of flows that wait at switch s to be forwarded.
				 * For the destination switch and for n_sw (no switch): a value
				 * above 0, so that wait_at() does not put them into at[] */
	uint32_t *at;		/* [n_sw + 1] list of the switches at which flows wait */
	uint8_t *row;		/* [stride] scratch */
	bool loop;
};

struct job {
	const struct balance_net *net;
	const struct ftr_tables *t;
	ftr_sw *lead;		/* lead[s]: the lead of the group of source s */
	ftr_sw *next;		/* next[s]: the next member of the group of s, or FTR_SW_NONE */
	struct group *group;
	uint32_t n_groups;
	uint32_t *group_of;	/* group_of[s]: index in group[] of the group of source s */
	struct worker *worker;
};

/* ---- groups --------------------------------------------------------------------- */

static const struct ftr_group *groups_of(const struct job *j, ftr_sw s)
{
	const struct ftr_shape_tree *tree = &j->net->in->shape->tree;

	return &tree->groups[tree->group_first[s]];
}

static bool same_neighbours(const struct job *j, ftr_sw a, ftr_sw b)
{
	const struct ftr_group *g = groups_of(j, a), *h = groups_of(j, b);
	uint32_t n = ftr_shape_groups(j->net->in->shape, a);

	if (n != ftr_shape_groups(j->net->in->shape, b))
		return false;
	for (uint32_t k = 0; k < n; k++)
		if (g[k].remote != h[k].remote || g[k].n != h[k].n)
			return false;
	return true;
}

/* Store the ports of s in port[], port group by port group, and return their number.  If two
 * sources have the same neighbours, port[i] of one and port[i] of the other correspond. */
static uint32_t list_ports(const struct job *j, ftr_sw s, ftr_port *port)
{
	const struct ftr_shape *sh = j->net->in->shape;
	const struct ftr_group *g = groups_of(j, s);
	uint32_t n = 0;

	for (uint32_t k = 0; k < ftr_shape_groups(sh, s); k++)
		for (uint32_t i = 0; i < g[k].n; i++)
			port[n++] = sh->tree.group_ports[g[k].first + i];
	return n;
}

/* Set lead[s] to an earlier source with the same neighbours as s; or to s if there is none.
 * first[t]: the last switch so far that became a lead and whose first neighbour is t. */
static void find_lead(struct job *j, ftr_sw s, ftr_sw *first)
{
	struct balance_ports ports = j->net->ports[s];
	ftr_port port[FTR_PORT_MAX + 1];
	uint32_t n = list_ports(j, s, port);

	j->lead[s] = s;
	for (uint32_t p = 0; p <= ports.n; p++)
		n -= j->net->peer[ports.first + p] != FTR_SW_NONE;
	if (n || !ftr_shape_groups(j->net->in->shape, s))
		return;		/* the shape does not use all links of s */
	first += groups_of(j, s)->remote;
	if (*first != FTR_SW_NONE && same_neighbours(j, *first, s))
		j->lead[s] = *first;
	else
		*first = s;
}

/* The row of s, in which each port of s is replaced by the corresponding port of its lead. */
static const uint8_t *row_like_lead(const struct job *j, ftr_sw s, uint8_t *row)
{
	ftr_port port[FTR_PORT_MAX + 1], of_lead[FTR_PORT_MAX + 1];
	uint32_t n = list_ports(j, s, port);
	uint8_t map[256];

	list_ports(j, j->lead[s], of_lead);
	if (!memcmp(port, of_lead, n))
		return ftr_tables_row(j->t, s);
	memset(map, FTR_PORT_NONE, sizeof(map));
	for (uint32_t i = 0; i < n; i++)
		map[port[i]] = of_lead[i];
	bytes_lookup(row, ftr_tables_row(j->t, s), j->t->stride, map,
		     j->net->ports[s].n + 1u);
	return row;
}

/* Returns true if rows a and b differ for a host in the LFT block that begins at LID `begin`.
 * Hosts on switches s and t are ignored. */
static bool block_differs(const struct balance_net *net, const uint8_t *a,
			  const uint8_t *b, uint32_t begin, ftr_sw s, ftr_sw t)
{
	uint32_t end = FTR_MIN(begin + FTR_LFT_BLOCK, net->f->max_lid + 1u);

	for (uint32_t i = begin; i < end; i++)
		if (a[i] != b[i] && net->dest_of[i] != BALANCE_NONE) {
			ftr_sw to = balance_switch(net, net->dest_of[i]);

			if (to != s && to != t)
				return true;
		}
	return false;
}

static bool rows_differ(const struct job *j, const uint8_t *a, const uint8_t *b,
			ftr_sw s, ftr_sw t)
{
	for (uint32_t at = 0; at < j->t->stride; at += FTR_LFT_BLOCK) {
		uint64_t bits = 0;

		for (uint32_t i = at; i < at + FTR_LFT_BLOCK; i += BYTES_WORD)
			bits |= bytes_word(a + i) ^ bytes_word(b + i);
		if (bits && block_differs(j->net, a, b, at, s, t))
			return true;
	}
	return false;
}

static void compare_rows(void *ctx, unsigned int worker, uint32_t begin,
			 uint32_t end)
{
	struct job *j = ctx;

	for (uint32_t i = begin; i < end; i++) {
		ftr_sw s = j->net->source[i].sw, t = j->lead[s];

		if (t != s && rows_differ(j, ftr_tables_row(j->t, t),
					  row_like_lead(j, s, j->worker[worker].row),
					  t, s))
			j->lead[s] = s;
	}
}

static void make_groups(struct job *j)
{
	const struct balance_net *net = j->net;

	memset(j->next, 0xff, net->f->n_sw * sizeof(*j->next));
	for (uint32_t i = 0; i < net->n_sources; i++) {
		ftr_sw s = net->source[i].sw, t = j->lead[s];

		if (s == t) {
			j->group_of[s] = j->n_groups;
			j->group[j->n_groups++] = (struct group){
				s, net->hosts[s], net->ports[s],
				ftr_tables_row(j->t, s),
			};
			continue;
		}
		j->group_of[s] = j->group_of[t];
		j->group[j->group_of[t]].hosts += net->hosts[s];
		j->next[s] = j->next[t];
		j->next[t] = s;
	}
}

/* ---- following flows ---------------------------------------------------------------- */

/* Add `flows` to the flows that have reached s and are still to be followed.  n: number of switches
 * in w->at.  Returns the new number. */
static inline uint32_t wait_at(struct worker *w, uint32_t s, uint32_t flows,
			       uint32_t n)
{
	w->at[n] = s;
	n += !w->flows[s];
	w->flows[s] += flows;
	return n;
}

/* Move `hosts` flows of a group over their first link, and let them wait at the next switch.  n:
 * see wait_at(). */
static inline uint32_t start_group(struct worker *w, const struct group *g,
				   ftr_lid lid, uint32_t hosts, uint32_t n)
{
	uint32_t port = g->row[lid];

	if (port > g->ports.n)
		return n;
	w->used[g->ports.first + port]++;
	return wait_at(w, w->link[g->ports.first + port].peer, hosts, n);
}

/* Begin with the flows whose destination is `lid` on switch `to`: move them over their first link,
 * and let them wait at the next switch.  Returns the number of switches at which flows wait. */
static uint32_t start(const struct job *j, struct worker *w, ftr_lid lid,
		      ftr_sw to)
{
	const uint32_t *hosts = j->net->hosts;
	uint32_t n = 0, own = j->group_of[to];

	for (uint32_t k = 0; k < j->n_groups; k++)
		if (k != own)
			n = start_group(w, &j->group[k], lid,
					j->group[k].hosts, n);
	if (j->group[own].lead != to)
		return start_group(w, &j->group[own], lid,
				   j->group[own].hosts - hosts[to], n);
	/* The destination is on the lead, whose entry leads to the host.  So the entry does not
	 * represent the other members: let their flows wait at the members themselves. */
	for (ftr_sw s = j->next[to]; s != FTR_SW_NONE; s = j->next[s])
		n = wait_at(w, s, hosts[s], n);
	return n;
}

/* Move all flows from switch to switch until they end.  Returns false if some path has a loop. */
static bool follow(const struct job *j, struct worker *w, ftr_lid lid,
		   uint32_t n)
{
	const struct balance_ports *ports = j->net->ports;

	for (uint32_t hops = 0; n && hops < j->net->f->n_sw; hops++) {
		uint32_t m = 0;

		for (uint32_t i = 0; i < n; i++) {
			ftr_sw s = w->at[i];
			uint32_t flows = w->flows[s];
			const uint8_t *entry = ftr_tables_row(j->t, s) + lid;
			struct balance_counter *link;

			__builtin_prefetch(entry + FTR_LFT_BLOCK, 0, 2);
			w->flows[s] = 0;
			if (*entry > ports[s].n)
				continue;
			link = &w->link[ports[s].first + *entry];
			link->flows += flows;
			m = wait_at(w, link->peer, flows, m);
		}
		n = m;
	}
	return !n;
}

static void count_lids(void *ctx, unsigned int worker, uint32_t begin,
		       uint32_t end)
{
	const struct job *j = ctx;
	const struct balance_net *net = j->net;
	struct worker *w = &j->worker[worker];

	for (uint32_t lid = begin; lid < end && !w->loop; lid++) {
		ftr_sw to;

		if (net->dest_of[lid] == BALANCE_NONE)
			continue;
		to = balance_switch(net, net->dest_of[lid]);
		w->flows[to] = w->flows[net->f->n_sw] = 1;
		w->loop = !follow(j, w, (ftr_lid)lid,
				  start(j, w, (ftr_lid)lid, to));
		w->flows[to] = 0;
	}
}

/* ---- all links -------------------------------------------------------------------- */

/* Add the flows from the hosts on s to the links of s.  used: the sum over all workers. */
static void add_source(const struct job *j, ftr_sw s, const uint32_t *used)
{
	const struct balance_net *net = j->net;
	const struct group *g = &j->group[j->group_of[s]];
	ftr_port of_lead[FTR_PORT_MAX + 1], port[FTR_PORT_MAX + 1];
	uint32_t l = net->in->shape->numbering.col[s], n;
	uint32_t own[256] = { 0 };	/* own[p]: number of hosts on s to which the lead sends
					 * through port p */

	used += g->ports.first;
	if (s == g->lead) {
		for (uint32_t p = 0; p <= g->ports.n; p++)
			net->flows[g->ports.first + p] += net->hosts[s] * used[p];
		return;
	}
	for (uint32_t d = net->first[l]; d < net->first[l + 1]; d++)
		own[g->row[net->dest[d].lid]]++;
	n = list_ports(j, s, port);
	list_ports(j, g->lead, of_lead);
	for (uint32_t i = 0; i < n; i++)
		net->flows[balance_link(net, s, port[i])] += net->hosts[s] *
			(used[of_lead[i]] - own[of_lead[i]]);
}

static void add_workers(const struct job *j, unsigned int n)
{
	uint32_t *used = j->worker[0].used;

	for (unsigned int i = 0; i < n; i++)
		balance_counters_add(j->net, j->worker[i].link, j->net->flows);
	for (unsigned int i = 1; i < n; i++)
		for (uint32_t x = 0; x < j->net->n_links; x++)
			used[x] += j->worker[i].used[x];
	for (uint32_t i = 0; i < j->net->n_sources; i++)
		add_source(j, j->net->source[i].sw, used);
}

static bool job_new(struct job *j, unsigned int n_workers, struct ftr_arena *a)
{
	uint32_t n = j->net->n_sources, n_sw = j->net->f->n_sw;
	ftr_sw *first;
	bool ok;

	ok = FTR_NEW(a, j->group, n) && FTR_NEW(a, j->group_of, n_sw) &&
		FTR_NEW(a, j->lead, n_sw) && FTR_NEW(a, j->next, n_sw) &&
		FTR_NEW(a, first, n_sw) && FTR_ZNEW(a, j->worker, n_workers);
	for (unsigned int i = 0; ok && i < n_workers; i++) {
		struct worker *w = &j->worker[i];

		w->link = balance_counters_new(j->net, a);
		ok = w->link && FTR_ZNEW(a, w->used, j->net->n_links) &&
			FTR_ZNEW(a, w->flows, n_sw + 1u) &&
			FTR_NEW(a, w->at, n_sw + 1u) &&
			FTR_NEW(a, w->row, j->t->stride);
	}
	if (!ok)
		return false;
	memset(first, 0xff, n_sw * sizeof(*first));
	for (uint32_t i = 0; i < n; i++)
		find_lead(j, j->net->source[i].sw, first);
	return true;
}

enum ftr_status balance_count_tables(struct balance_net *net,
				     const struct ftr_tables *t,
				     struct ftr_team *team, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct job j = { .net = net, .t = t };
	unsigned int n = ftr_team_size(team);
	bool loop = false;

	if (!a || !job_new(&j, n, a) ||
	    !FTR_ZNEW(net->arena, net->flows, net->n_links)) {
		ftr_arena_free(a);
		return ftr_fail(err, FTR_NOMEM,
				"out of memory for counting flows");
	}
	ftr_team_run(team, net->n_sources, 8, compare_rows, &j);
	make_groups(&j);
	net->n_groups = j.n_groups;
	ftr_team_run(team, net->f->max_lid + 1u, 4 * FTR_LFT_BLOCK, count_lids,
		     &j);
	for (unsigned int i = 0; i < n; i++)
		loop |= j.worker[i].loop;
	if (loop)
		net->flows = NULL;
	else
		add_workers(&j, n);
	ftr_arena_free(a);
	return FTR_OK;
}
