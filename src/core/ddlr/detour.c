// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds a detour for a broken entry.
 *
 * The entry of switch s for one LID is broken if it leads onto a dead link. A detour is a path
 * s = y0, y1, .. yn over live links. The entries of y0 .. yn-1 are rewritten. The entries from yn
 * on already lead to the LID, without passing any of y0 .. yn-1. There are several forms of detour
 * (search_repair() shows the order in which they are tried):
 *
 *	n = 1	parallel link to the switch to which the entry leads now
 *	n = 1	any neighbour
 *	n = 2	down, up (Sem-Jacobsen et al. 2011, section V-A)
 *	n = 3	down, down, up (section V-B), if the entry of the switch
 *		above the turn leads to the LID
 *	n = 4	down, down, up, up: if the entry of the switch above the
 *		turn does not lead to the LID; it is rewritten, too
 *	n = 2	any two hops
 *	n	any path, up to n = DETOUR_MAX, over switches without a working
 *		entry: mainly for LIDs of switches, which may only be reachable
 *		from below
 *
 * In this file, a host as a destination means a LID of class FTR_CLASS_HOST (a compute
 * node on a leaf switch). All other LIDs, for example those of I/O nodes, are repaired
 * like those of switches. A host as a source means any host port.
 *
 * A plane is clean if no local repair leads away from it (planes.c). For packets from hosts to
 * hosts, all forms are first tried with detours that lead only into clean planes. Then they are
 * tried with any plane. For packets from switches to a switch, a short path is preferred to clean
 * planes.
 *
 * Clean planes are reserved for packets from hosts to hosts. A detour for packets from hosts to a
 * switch, or from switches to a host, is made only if each of its turns from down to up leads from
 * an unclean plane into a clean one. Otherwise the entry waits for the full routing. (The papers
 * ignore packets to switches: Sem-Jacobsen et al. 2006, section 3.2.) If ddlr uses two VLs (the
 * turn bit, see docs/glossary.md), most of the detours that are not made would close no cycle at
 * that time. But after a later fault they could exclude the only detour for hosts.
 *
 * For packets from hosts to a switch, or from switches to a host, the last two forms are not tried.
 * With clean planes only, these forms would repair hardly any of the entries for such packets. In
 * random sets of faults, they would repair none on k-ary trees with up to k-1 faults (k: struct
 * ftr_guarantee), none on four real fabrics, and at most 0.5 % of these entries on trees that
 * were damaged before these faults. On such trees they also cause more refused tries.
 *
 * The number of tries for packets from or to switches is limited. After LATE_REFUSALS refused
 * detours in one plan, only parallel links are still tried for these packets. Other entries wait
 * for the full routing.
 *
 * Of each form the best KEPT detours are kept. (Of the last form, the first KEPT that the
 * breadth-first search finds are kept.) They are sorted by three keys: number of hops, load of the
 * links, number of switches for which the plan has no write yet. If the packets are not from hosts
 * to a host, the third key comes before the load, so that few switches are written after a fault.
 * In this order the detours are checked against the dependency graph.
 *
 * With many faults, most searches find no detour, and would examine all paths of each form. Two
 * conditions end them early. They exclude only detours that is_allowed() refuses:
 * - A form with a turn can lead into clean planes only if entries lead to the LID from a switch in
 *   such a plane (may_be_clean()). This is computed once for all broken entries of a LID between
 *   two writes.
 * - A path ends at a turn into a plane that must be clean and is not. The paths behind this turn
 *   are counted, but not examined, so the limit PATHS_MAX ends the search at the same path.
 */
#include <string.h>

#include "ddlr/planner.h"

#define KEPT 16			/* maximum number of detours of one form that are kept */
#define PATHS_MAX 20000		/* maximum number of paths, of any length up to that of the form,
				 * that one call of find() examines; all_paths() has no such limit */
/* Maximum number of refused detours for packets from or to switches in one plan. Each refused
 * detour costs a search of the dependency graph, and hosts are not rerouted before the plan is
 * finished. */
#define LATE_REFUSALS 100

/* The form of a detour: for each rewritten entry 'd' (it leads down), 'u' (up) or '*' (anywhere).
 * PARALLEL: to the same switch as now. ANY_PATH: up to DETOUR_MAX entries that lead anywhere. */
#define PARALLEL "="
#define ANY_PATH ""

struct search {
	struct ftr_ddlr *r;
	bool for_hosts;		/* the LID is a host's, and packets from hosts pass the switch of
				 * the entry */
	bool host;		/* the LID is a host's */
	bool clean_only;
	const char *form;
	struct detour cur;	/* the detour being built */
	struct detour kept[KEPT];
	uint32_t n_kept, room;	/* number of detours kept, and the maximum number */
	uint32_t paths_left;
	bool allowed_only;	/* keep a detour only if is_allowed() permits it */
};

static int detour_cmp(const struct detour *a, const struct detour *b)
{
	return FTR_ORDER(a->hops, b->hops) ?: FTR_ORDER(a->key[0], b->key[0]) ?:
	       FTR_ORDER(a->key[1], b->key[1]) ?: FTR_ORDER(a->key[2], b->key[2]);
}

/* Insert z->cur into kept[]. Equal detours stay in the order in which they were found. */
static void keep(struct search *z)
{
	uint32_t i;

	z->n_kept -= z->n_kept == z->room;
	for (i = z->n_kept++; i > 0; i--) {
		if (detour_cmp(&z->kept[i - 1], &z->cur) <= 0)
			break;
		z->kept[i] = z->kept[i - 1];
	}
	z->kept[i] = z->cur;
}

static uint32_t *load_of(const struct ftr_ddlr *r, ftr_sw s, ftr_port p)
{
	return &r->load[r->f->sw[s].first_port + p];
}

/* The least loaded live link of a group of s. */
static ftr_port best_link(const struct ftr_ddlr *r, ftr_sw s, const struct ftr_group *g)
{
	ftr_port best = FTR_PORT_NONE;

	for (uint32_t i = 0; i < g->n; i++) {
		ftr_port p = r->sh->tree.group_ports[g->first + i];

		if (ddlr_live(r, s, p) &&
		    (best == FTR_PORT_NONE ||
		     *load_of(r, s, p) < *load_of(r, s, best)))
			best = p;
	}
	return best;
}

/* Returns search_carried() from a cache. The cache is valid during one search_repair(): no entry
 * changes before the repair is made. */
static bool is_carried(struct ftr_ddlr *r, ftr_sw s)
{
	uint32_t *cache = &r->search.carried[s];

	if (*cache >> 1 != r->search.number)
		*cache = r->search.number << 1 | search_carried(r, s, CARRIED_DEPTH);
	return *cache & 1;
}

/* True if packets from hosts pass a switch whose entry the detour rewrites. */
static bool carries(struct ftr_ddlr *r, const struct detour *d)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (is_carried(r, d->sw[i]))
			return true;
	return false;
}

static void rate(const struct search *z, struct detour *d, uint32_t n)
{
	const struct ftr_ddlr *r = z->r;
	uint32_t worst = 0, sum = 0, new_switches = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t load = *load_of(r, d->sw[i], d->port[i]);

		worst = FTR_MAX(worst, load);
		sum += load;
		new_switches += !r->touched[d->sw[i]];
	}
	d->key[z->for_hosts ? 0 : 1] = worst;
	d->key[z->for_hosts ? 1 : 2] = sum;
	d->key[z->for_hosts ? 2 : 0] = new_switches;
}

/* True if the detour leads only into clean planes, or if this search also allows other planes. Sets
 * d->counts, and, if d->counts is true, d->clean. */
static bool is_allowed(const struct search *z, struct detour *d)
{
	struct ftr_ddlr *r = z->r;
	bool must;

	d->counts = z->host || carries(r, d);
	must = z->clean_only || (!z->for_hosts && d->counts);
	if (must || d->counts)
		d->clean = planes_clean(r, d, !z->for_hosts && d->counts);
	return !must || d->clean;
}

/* The detour has reached cur.sw[n]. Keep the detour if the entries from there lead to the LID, and
 * if kept[] has room or contains a worse detour. If allowed_only is set, is_allowed() must also
 * permit it. */
static void judge(struct search *z)
{
	struct detour *d = &z->cur;
	uint32_t hops;

	if (!ddlr_arrives(z->r, d->sw[d->n], &hops, &d->end_step))
		return;
	rate(z, d, d->n);
	d->hops = d->n + hops;
	if (z->n_kept == z->room && detour_cmp(&z->kept[z->room - 1], d) <= 0)
		return;
	if (!z->allowed_only || is_allowed(z, d))
		keep(z);
}

/* The links of s to its neighbours in the direction of this letter of a form, by neighbour. */
static const struct ftr_group *groups_of(const struct search *z, ftr_sw s, char letter, uint32_t *n)
{
	const struct ftr_shape *sh = z->r->sh;
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];
	uint32_t all = sh->tree.group_first[s + 1] - sh->tree.group_first[s], i = 0;

	*n = letter == 'u' ? sh->tree.n_up[s] : letter == 'd' ? sh->tree.n_down[s] : all;
	if (letter == 'd')
		return g + sh->tree.n_up[s];
	if (letter == *PARALLEL) {
		ftr_port p = ddlr_entry(z->r, s);

		while (i < all && g[i].remote != ftr_fabric_port(z->r->f, s, p)->peer)
			i++;
		*n = i < all;
	}
	return g + i;
}

/* Subtract from paths_left the number of paths that extend() would examine from s, if the rest of
 * the form is this letter. */
static void count_last(struct search *z, ftr_sw s, char letter)
{
	uint32_t n;
	const struct ftr_group *g = groups_of(z, s, letter, &n);

	for (uint32_t i = 0; i < n && z->paths_left; i++)
		z->paths_left -= !z->r->avoid[g[i].remote];
}

static void extend(struct search *z, uint32_t at);

/* Extend the detour from cur.sw[at] by a link of group g (the links to one neighbour). */
static void extend_over(struct search *z, uint32_t at, const struct ftr_group *g)
{
	struct ftr_ddlr *r = z->r;
	ftr_sw s = z->cur.sw[at];
	bool useless;
	ftr_port p;

	if (z->paths_left == 0 || r->avoid[g->remote])
		return;
	z->paths_left--;
	/* a turn from down to up into a plane that is not clean: is_allowed() refuses the detour */
	useless = z->form[at] == 'u' && at && z->form[at - 1] == 'd' &&
		!planes_is_clean(r, r->sh->tree.rank[s], g->remote) &&
		(z->clean_only || (!z->for_hosts && (z->host || is_carried(r, s))));
		/* a switch inside the detour must not have a write in this plan, and must not be
		 * the switch of the LID */
	if (z->form[at + 1] ? r->step_of[g->remote] || g->remote == r->exit_sw : useless)
		return;
	p = best_link(r, s, g);
	if (p == FTR_PORT_NONE)
		return;
	z->cur.port[at] = p;
	z->cur.sw[at + 1] = g->remote;
	if (useless)	/* all forms have at most one letter after "du" */
		count_last(z, g->remote, z->form[at + 1]);
	else
		extend(z, at + 1);
}

static void extend(struct search *z, uint32_t at)
{
	ftr_sw s = z->cur.sw[at];
	const struct ftr_group *g;
	uint32_t n;

	if (!z->form[at]) {
		z->cur.n = at;
		judge(z);
		return;
	}
	g = groups_of(z, s, z->form[at], &n);
	z->r->avoid[s] = 1;
	for (uint32_t i = 0; i < n; i++)
		extend_over(z, at, &g[i]);
	z->r->avoid[s] = 0;
}

/* Store in z->cur the path by which the breadth-first search reached queue[at]. Then call
 * judge(). */
static void unroll(struct search *z, const ftr_sw *queue, uint32_t at)
{
	struct ftr_ddlr *r = z->r;
	struct detour *d = &z->cur;
	uint32_t n = 0, k = at;

	for (; k; k = r->search.from[queue[k]])
		n++;
	if (n > DETOUR_MAX)
		return;
	d->n = n;
	for (k = at; n; k = r->search.from[queue[k]]) {
		d->sw[n--] = queue[k];
		d->port[n] = r->search.by[queue[k]];
		r->avoid[queue[r->search.from[queue[k]]]] = 1;
	}
	judge(z);
	for (k = 0; k < d->n; k++)
		r->avoid[d->sw[k]] = 0;
}

/* Search breadth first from s. A path ends at the first switch that has a working entry, or that
 * has a write in this plan. Stop when kept[] is full. */
static void all_paths(struct search *z, ftr_sw s)
{
	struct ftr_ddlr *r = z->r;
	const struct ftr_shape *sh = r->sh;
	ftr_sw *queue = r->search.queue;
	uint32_t n = 0, hops;
	uint8_t step;

	queue[n++] = s;
	r->search.seen[s] = 1;
	for (uint32_t i = 0; i < n && z->n_kept < z->room; i++) {
		ftr_sw x = queue[i];

		if (i && (r->step_of[x] || ddlr_arrives(r, x, &hops, &step))) {
			unroll(z, queue, i);
			continue;
		}
		for (uint32_t k = sh->tree.group_first[x]; k < sh->tree.group_first[x + 1]; k++) {
			ftr_sw t = sh->tree.groups[k].remote;
			ftr_port p = best_link(r, x, &sh->tree.groups[k]);

			if (p == FTR_PORT_NONE || r->search.seen[t])
				continue;
			r->search.seen[t] = 1;
			r->search.from[t] = i;
			r->search.by[t] = p;
			queue[n++] = t;
		}
	}
	while (n)
		r->search.seen[queue[--n]] = 0;
}

/* ---- trying detours ---------------------------------------------------- */

static enum ftr_ddlr_how how_of(const struct ftr_ddlr *r, const struct detour *d)
{
	ftr_port p = ddlr_entry(r, d->sw[0]);

	if (d->n == 1 && ftr_fabric_port(r->f, d->sw[0], p)->peer == d->sw[1])
		return FTR_HOW_PARALLEL;
	return d->n == 1 ? FTR_HOW_NEXT : d->n == 2 ? FTR_HOW_TURN : FTR_HOW_TWO_TIERS;
}

/* Try the detour. The entry of its last rewritten switch gets the lowest step. */
static enum ftr_status try_one(struct search *z, const struct detour *d,
			       bool *made, struct ftr_err *err)
{
	struct ftr_ddlr *r = z->r;
	struct ftr_change w[DETOUR_MAX];
	enum ftr_ddlr_how how = how_of(r, d);
	uint32_t n = 0;
	enum ftr_status st;

	if (d->end_step > UINT8_MAX - DETOUR_MAX) {
		*made = false;
		return FTR_OK;
	}
	for (uint32_t i = d->n; i-- > 0;) {
		if (d->port[i] == ddlr_entry(r, d->sw[i]))
			continue;
		w[n] = (struct ftr_change){
			.sw = d->sw[i], .after = d->port[i],
			.step = (uint16_t)(d->end_step + 1 + n),
		};
		n++;
	}
	st = ddlr_try(r, w, n, how, made, err);
	if (st || !*made)
		return st;
	if (how != FTR_HOW_PARALLEL && d->counts) {
		planes_enter(r, d);
		r->plan->unclean += !d->clean;
	}
	for (uint32_t i = 0; z->for_hosts && i < d->n; i++)
		++*load_of(r, d->sw[i], d->port[i]);
	return FTR_OK;
}

static void find(struct search *z, ftr_sw s, const char *form, bool clean_only, uint32_t room)
{
	z->room = room;
	z->form = form;
	z->clean_only = clean_only;
	z->allowed_only = *form || !z->for_hosts;
	z->n_kept = 0;
	z->paths_left = PATHS_MAX;
	z->cur.sw[0] = s;
	if (*form)
		extend(z, 0);
	else
		all_paths(z, s);
}

/* Try kept[i] and the detours after it, until one is made. */
static enum ftr_status try_kept(struct search *z, uint32_t i, bool *made, struct ftr_err *err)
{
	for (; !*made && i < z->n_kept; i++) {
		enum ftr_status st;

		if (!z->allowed_only && !is_allowed(z, &z->kept[i]))
			continue;
		if (!z->for_hosts && z->r->late_refused >= LATE_REFUSALS)
			break;
		st = try_one(z, &z->kept[i], made, err);
		if (st)
			return st;
		z->r->late_refused += !z->for_hosts && !*made;
		z->r->clean_refused |= z->for_hosts && z->clean_only && !*made;
	}
	return FTR_OK;
}

/* False if no detour of this form from s leads only into clean planes. The detour goes down and then
 * up, into a clean plane. Its end, from where the entries lead to the LID, is in this plane, too. */
static bool may_be_clean(struct ftr_ddlr *r, ftr_sw s, const char *form)
{
	const char *up = strchr(form, 'u');
	/* the greatest rank of a switch where the detour turns */
	int top = up ? r->sh->tree.rank[s] - (int)(up - form) : -1;

	if (top >= 0 && r->search.lead[top] >> 1 != r->search.state)
		r->search.lead[top] = r->search.state << 1 | planes_lead(r, top);
	return !up || (top >= 0 && (r->search.lead[top] & 1));
}

/* Try the best KEPT detours of one form, best first. The first one nearly always succeeds. So
 * others are searched only after it has failed. */
static enum ftr_status try_form(struct search *z, ftr_sw s, const char *form, bool clean_only,
				bool *made, struct ftr_err *err)
{
	uint32_t tried = 0;

	*made = false;
	if (clean_only && !may_be_clean(z->r, s, form))
		return FTR_OK;
	if (*form) {
		enum ftr_status st;

		find(z, s, form, clean_only, 1);
		st = try_kept(z, 0, made, err);
		if (st || *made || !z->n_kept)
			return st;
		tried = 1;
	}
	find(z, s, form, clean_only, KEPT);
	return try_kept(z, tried, made, err);
}

/* True if hosts are connected to s, or if the current entries lead packets from hosts to the LID
 * through s. The search follows the entries backward from s, for at most `depth` hops. It stops at
 * a switch if the dependency graph shows that no packets from hosts pass this switch. Returns false
 * if only hosts at a greater distance send packets through s. */
bool search_carried(const struct ftr_ddlr *r, ftr_sw s, uint32_t depth)
{
	if (r->has_hosts[s])
		return true;
	if (!ftr_cdg_may_pass(r->hosts ? r->hosts : r->g, s, r->lid))
		return false;
	for (unsigned int p = 1; p <= r->f->sw[s].n_ports && depth; p++) {
		ftr_sw x = ddlr_next(r, s, (ftr_port)p);

		if (x != FTR_SW_NONE && ddlr_entry(r, x) ==
		    ftr_fabric_port(r->f, s, (ftr_port)p)->peer_port &&
		    x != r->exit_sw && search_carried(r, x, depth - 1))
			return true;
	}
	return false;
}

enum ftr_status search_repair(struct ftr_ddlr *r, ftr_sw s, bool clean_only,
			    bool *repaired, struct ftr_err *err)
{
	static const struct attempt {
		const char *form;
		bool clean_only;
	} clean_paths[] = {
		{ "*", true }, { "du", true }, { "ddu", true },
		{ "dduu", true }, { "**", true }, { ANY_PATH, true },
		{ "*", false }, { "du", false }, { "**", false },
		{ "ddu", false }, { "dduu", false },
		{ ANY_PATH, false }, { NULL, false }
	}, short_paths[] = {
		{ "*", true }, { "du", true }, { "*", false },
		{ "du", false }, { "**", false }, { "ddu", true },
		{ "dduu", true }, { "ddu", false },
		{ "dduu", false }, { ANY_PATH, false }, { NULL, false }
	};
	bool host = r->of_lid[r->lid].cls == FTR_CLASS_HOST;
	struct search z = { .r = r, .host = host };
	const struct attempt *w;
	enum ftr_status st;
	bool carried;

	r->search.number++;
	carried = is_carried(r, s);
	z.for_hosts = host && carried;
	/* for packets from hosts to a switch, or from switches to a host, is_allowed() rejects all
	 * detours that are not clean */
	clean_only |= !z.for_hosts && (host || carried);
	w = z.for_hosts ? clean_paths : short_paths;
	*repaired = false;
	find(&z, s, PARALLEL, false, 1);
	st = z.n_kept ? try_one(&z, &z.kept[0], repaired, err) : FTR_OK;
	for (; w->form; w++) {
		if (st || *repaired)
			break;
		if (w->clean_only || !clean_only)
			st = try_form(&z, s, w->form, w->clean_only, repaired, err);
	}
	return st;
}
