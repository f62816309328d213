// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ftr_check_changes() checks the changed entries only.
 *
 * The changes are sorted by LID.  For each LID the paths from all switches whose entry changed are
 * followed as in walk.c; no switch is visited twice.  Then each changed entry is compared with the
 * entries of the neighbouring switches.  Up means towards a higher claimed rank.  The following
 * faults are found, where x and y are neighbouring switches:
 *
 *	new tables	The entry of x leads down to y, and the entry of y leads up.  If the
 *			entry of x changed, the walk finds this fault.  Otherwise the entry of
 *			y changed, and the switches above y are examined.
 *	old and new	The old entry of x leads down to y, and the new entry of y leads up; or
 *			the same with the new entry of x and the old entry of y.  Both entries
 *			must have changed: if one did not change, the old tables or the new
 *			tables have the fault by themselves.
 *	missing entry	The new entry of a switch is missing.  The other entries that still lead
 *			to this switch are counted (ftr_delta_report.stranded).
 *
 * Old entries that lead over a dead link do not count, because no packet passes a dead link.
 */
#include <string.h>

#include "check/claims.h"

#define NONE UINT32_MAX

struct delta_check {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	const struct ftr_check_delta *d;
	struct chk_claims claims;
	uint32_t *by_lid;	/* The changes of lid are d->change[by_lid[i]], lid_first[lid] <= i
				 * < lid_first[lid + 1]. */
	uint32_t *lid_first;	/* [max_lid + 2] */
	ftr_lid *lid;		/* [n_lids] LIDs that have changes */
	uint32_t n_lids;
	struct ftr_delta_report r;
	bool horizontal;	/* true: an entry uses a horizontal link, but no claim is about such
				 * links (is_strict()) */
	uint32_t *at;		/* at[s]: index of the change of s for the current LID, or NONE */
	uint32_t *seen;		/* seen[s] == stamp: fate and hops of s are known */
	uint32_t stamp;
	/* These arrays are valid for s if seen[s] == stamp. */
	uint8_t *fate;		/* fate[s]: result of the path from s, ST_... */
	uint8_t *turned;	/* turned[s]: 1: a turn at s was counted */
	uint32_t *ahead;	/* ahead[s]: index of the next change on the path from s, or NONE */
	uint32_t *hops, *stack;
};

/* ---- links ----------------------------------------------------------- */

static bool is_dead(const struct delta_check *c, ftr_sw s, ftr_port p)
{
	return chk_is_dead(c->d->dead, c->f->sw[s].first_port + p);
}

/* Find the other end of the link at port p of s in extra[]. Returns false if it is not there. */
static bool extra_peer(const struct delta_check *c, ftr_sw s, ftr_port p,
		       ftr_sw *peer, ftr_port *peer_port)
{
	for (uint32_t i = 0; i < c->d->n_extra; i++) {
		const struct ftr_link *x = &c->d->extra[i];

		if (x->sw == s && x->port == p) {
			*peer = x->peer;
			*peer_port = x->peer_port;
			return true;
		}
		if (x->peer == s && x->peer_port == p) {
			*peer = x->sw;
			*peer_port = x->port;
			return true;
		}
	}
	return false;
}

/* Find the switch at the far end of port p of s. Returns false if the port has no link to a switch,
 * or if the link is down. */
static bool peer_of(const struct delta_check *c, ftr_sw s, ftr_port p, ftr_sw *peer,
		    ftr_port *peer_port)
{
	const struct ftr_swport *port;

	if (p == 0 || p > c->f->sw[s].n_ports || is_dead(c, s, p))
		return false;
	port = ftr_fabric_port(c->f, s, p);
	*peer = port->peer;
	*peer_port = port->peer_port;
	if (port->peer_kind == FTR_PEER_NONE && c->d->n_extra)
		return extra_peer(c, s, p, peer, peer_port);
	return port->peer_kind == FTR_PEER_SW;
}

static ftr_port entry(const struct delta_check *c, ftr_sw s, ftr_lid lid)
{
	return ftr_tables_get(c->t, s, lid);
}

/* Find where the entry of s leads. If it leads to a switch, returns ST_PENDING and sets *next to
 * this switch. Otherwise the path ends at s, and step() returns the result of the path (ST_...). */
static uint8_t step(const struct delta_check *c, ftr_sw s, ftr_lid lid,
		    struct ftr_hop x, ftr_sw *next)
{
	ftr_port p = entry(c, s, lid), q;
	ftr_sw y;

	if (p == FTR_PORT_NONE)
		return ST_MISSING;
	if (s == x.sw && p == x.port && !is_dead(c, s, p))
		return ST_GOOD;
	if (peer_of(c, s, p, &y, &q)) {
		*next = y;
		return ST_PENDING;
	}
	if (p == 0 || p > c->f->sw[s].n_ports || is_dead(c, s, p) ||
	    ftr_fabric_port(c->f, s, p)->peer_kind != FTR_PEER_EP)
		return ST_DEAD;
	return ST_WRONG;
}

/* ---- walks ----------------------------------------------------------- */

static void found(struct delta_check *c, enum ftr_finding what, ftr_sw from,
		  ftr_sw at, ftr_lid lid)
{
	chk_sample(&c->r.sample[what], !c->r.found[what]++,
		   (struct ftr_check_sample){ from, at, lid });
}

static void turn(struct delta_check *c, ftr_sw from, ftr_sw at, ftr_lid lid)
{
	if (!c->turned[at])
		found(c, FTR_FIND_TURN, from, at, lid);
	c->turned[at] = 1;
}

static bool goes_up(const struct delta_check *c, ftr_sw s, ftr_port p)
{
	ftr_sw y;
	ftr_port q;

	return peer_of(c, s, p, &y, &q) && c->d->rank[y] > c->d->rank[s];
}

/* True if the strict rule of illegal() applies. */
static bool is_strict(const struct delta_check *c)
{
	return c->claims.n || c->d->horizontal;
}

/*
 * Returns true if a packet that came from x may not leave s by port p.
 *
 * If is_strict(), the packet may make only claimed turns and the turns of up/down routing by rank.
 * The turns of up/down routing are up-up, up-down and down-down.  Without a claim, the packet must
 * not turn back to x, or use a horizontal link.
 *
 * If is_strict() is false, only a hop up after a hop down is forbidden.  (A hop up and
 * down again to x cannot close a cycle.  Horizontal hops are reported in delta_check.horizontal.)
 *
 * Returns false if port p has no link to a switch, or if the link is down.
 */
static bool illegal(const struct delta_check *c, ftr_sw x, ftr_sw s, ftr_port p)
{
	const uint8_t *rank = c->d->rank;
	ftr_sw y;
	ftr_port q;

	if (!peer_of(c, s, p, &y, &q))
		return false;
	if (is_strict(c))
		return !chk_legal(&c->claims, x, s, y);
	return rank[s] < rank[x] && rank[y] > rank[s];
}

/* Follow the path from s, which is not known. Set fate[], ahead[] and hops[] of all switches on it. */
static uint8_t follow(struct delta_check *c, ftr_sw s, ftr_lid lid)
{
	const uint8_t *rank = c->d->rank;
	struct ftr_hop x = chk_exit_of(c->f, lid);
	uint32_t depth = 0, hops = 0;
	uint8_t fate = ST_PENDING;
	ftr_sw y = s;

	while (c->seen[y] != c->stamp) {
		ftr_sw next = y;

		c->seen[y] = c->stamp;
		c->turned[y] = 0;
		c->ahead[y] = NONE;
		c->fate[y] = ST_ON_PATH;
		c->stack[depth++] = y;
		fate = step(c, y, lid, x, &next);
		if (fate != ST_PENDING)
			break;
		if (depth > 1 &&
		    illegal(c, c->stack[depth - 2], y, entry(c, y, lid)))
			turn(c, c->stack[depth - 2], y, lid);
		c->horizontal |= rank[next] == rank[y] && !is_strict(c);
		y = next;
	}
	if (fate == ST_PENDING) {	/* either the fate of y is known, or y is on this path */
		if (illegal(c, c->stack[depth - 1], y, entry(c, y, lid)))
			turn(c, c->stack[depth - 1], y, lid);
		fate = c->fate[y] == ST_ON_PATH ? ST_LOOP : c->fate[y];
		hops = c->hops[y] + 1;
	}
	while (depth) {
		ftr_sw next = y;

		y = c->stack[--depth];
		c->ahead[y] = next == y ? NONE : c->at[next] != NONE ?
			c->at[next] : c->ahead[next];
		c->fate[y] = fate;
		c->hops[y] = fate == ST_GOOD ? hops++ : 0;
	}
	return c->fate[s];
}

static ftr_sw next_of(const void *ctx, ftr_sw s, ftr_lid lid)
{
	const struct delta_check *c = ctx;

	step(c, s, lid, chk_exit_of(c->f, lid), &s);
	return s;
}

static void walk(struct delta_check *c, ftr_sw s, ftr_lid lid)
{
	uint8_t fate = c->seen[s] == c->stamp ? c->fate[s] :
		follow(c, s, lid);

	if (fate == ST_GOOD) {
		c->r.max_hops = FTR_MAX(c->r.max_hops, c->hops[s]);
		return;
	}
	found(c, chk_finding(fate), s,
	      chk_faulty_switch(c, next_of, c->f->n_sw, s, lid, fate == ST_LOOP),
	      lid);
	c->r.harmful += fate != ST_MISSING;
}

/* ---- neighbours ------------------------------------------------------ */

/* True if change i is written only after all packets that followed the old entry of change k have
 * left the fabric. */
static bool drained_before(const struct delta_check *c, uint32_t k, uint32_t i)
{
	const struct ftr_check_delta *d = c->d;

	return d->ordered && d->change[i].step >= d->first_drain &&
		d->change[k].step < d->change[i].step;
}

static void mixed(struct delta_check *c, ftr_sw from, ftr_sw at, ftr_lid lid)
{
	chk_sample(&c->r.mixed_at, !c->r.mixed++, (struct ftr_check_sample){ from, at, lid });
}

/* Find forbidden turns between an old and a new entry: compare change i with the changes at the
 * switches to which its old and its new entry lead. Count change i in ftr_delta_report.early if it
 * is not written after the next change on its path. */
static void check_below(struct delta_check *c, uint32_t i)
{
	const struct ftr_check_delta *d = c->d;
	const struct ftr_change *x = &d->change[i], *y;
	ftr_sw s;
	ftr_port q;
	uint32_t k;

	if (peer_of(c, x->sw, x->before, &s, &q) && (k = c->at[s]) != NONE) {
		y = &d->change[k];
		if (illegal(c, x->sw, s, y->after) &&
		    !illegal(c, x->sw, s, y->before) &&
		    !drained_before(c, i, k))
			mixed(c, x->sw, s, x->lid);
	}
	k = c->ahead[x->sw];
	c->r.early += d->ordered && k != NONE &&
		d->change[k].after != FTR_PORT_NONE && d->change[k].step >= x->step;
	if (!peer_of(c, x->sw, x->after, &s, &q) || (k = c->at[s]) == NONE)
		return;
	y = &d->change[k];
	if (illegal(c, x->sw, s, y->before) &&
	    !illegal(c, x->sw, s, y->after) &&
	    (!d->ordered || y->step >= x->step))
		mixed(c, x->sw, s, x->lid);
}

/* Examine the neighbours whose unchanged entry leads to the switch of change i. Find stranded
 * entries and turns. This is necessary in three cases: the new entry of change i is missing; the
 * new entry leads up and the old entry did not; is_strict() is true. */
static void check_above(struct delta_check *c, uint32_t i)
{
	const struct ftr_check_delta *d = c->d;
	const struct ftr_change *y = &d->change[i];
	bool missing = y->after == FTR_PORT_NONE;

	if (!missing && !is_strict(c) && (!goes_up(c, y->sw, y->after) ||
					 goes_up(c, y->sw, y->before)))
		return;
	for (unsigned int p = 1; p <= c->f->sw[y->sw].n_ports; p++) {
		ftr_sw s;
		ftr_port q;

		if (!peer_of(c, y->sw, (ftr_port)p, &s, &q) ||
		    c->at[s] != NONE || entry(c, s, y->lid) != q)
			continue;
		if (missing)
			c->r.stranded++;
		else if (illegal(c, s, y->sw, y->after))
			turn(c, s, y->sw, y->lid);
	}
}

static void check_lid(struct delta_check *c, ftr_lid lid)
{
	const uint32_t *list = c->by_lid + c->lid_first[lid];
	uint32_t n = c->lid_first[lid + 1] - c->lid_first[lid];
	const struct ftr_change *change = c->d->change;

	c->stamp++;
	for (uint32_t i = 0; i < n; i++)
		c->at[change[list[i]].sw] = list[i];
	for (uint32_t i = 0; i < n; i++) {
		const struct ftr_change *x = &change[list[i]];

		c->r.missed += entry(c, x->sw, lid) != x->after;
		walk(c, x->sw, lid);
		check_below(c, list[i]);
		check_above(c, list[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		c->at[change[list[i]].sw] = NONE;
}

/* ---- the whole check ------------------------------------------------- */

static uint64_t count_named(const struct delta_check *c, ftr_sw s, ftr_port p)
{
	const uint8_t *row = ftr_tables_row(c->t, s);
	const uint8_t *end = row + c->t->max_lid + 1;
	uint64_t n = 0;

	for (; (row = memchr(row, p, (size_t)(end - row))); row++)
		n++;
	return n;
}

/* Count the entries that still use a link that went down. */
static uint64_t count_missed(const struct delta_check *c)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->d->n_gone; i++) {
		const struct ftr_link *x = &c->d->gone[i];

		n += count_named(c, x->sw, x->port);
		n += count_named(c, x->peer, x->peer_port);
	}
	return n;
}

static enum ftr_status validate(const struct delta_check *c, struct ftr_err *err)
{
	const struct ftr_check_delta *d = c->d;
	enum ftr_status st = chk_same_size(c->f, c->t, err);

	if (st)
		return st;
	for (uint32_t i = 0; i < d->n_changes; i++) {
		const struct ftr_change *x = &d->change[i];

		if (x->sw >= c->f->n_sw || x->lid > c->t->max_lid ||
		    (i && (x[-1].sw > x->sw ||
			   (x[-1].sw == x->sw && x[-1].lid >= x->lid))))
			return ftr_fail(err, FTR_INVAL, "change %u, of LID %u on switch %u, is out of range or not in order",
				      i, x->lid, x->sw);
	}
	for (uint32_t i = 0; i < d->n_gone; i++)
		if (d->gone[i].sw >= c->f->n_sw ||
		    d->gone[i].peer >= c->f->n_sw)
			return ftr_fail(err, FTR_INVAL, "the link that went down between switches %u and %u is not in the fabric, which has %u switches",
				      d->gone[i].sw, d->gone[i].peer,
				      c->f->n_sw);
	return FTR_OK;
}

static void sort_by_lid(struct delta_check *c)
{
	uint32_t *first = c->lid_first + 1;	/* in the end, first[lid] is the end of the changes
						 * of lid */

	for (uint32_t i = 0; i < c->d->n_changes; i++)
		first[c->d->change[i].lid]++;
	for (uint32_t lid = 0, sum = 0; lid <= c->t->max_lid; lid++) {
		uint32_t k = first[lid];

		if (k)
			c->lid[c->n_lids++] = (ftr_lid)lid;
		first[lid] = sum;
		sum += k;
	}
	for (uint32_t i = 0; i < c->d->n_changes; i++)
		c->by_lid[first[c->d->change[i].lid]++] = i;
}

static bool prepare(struct delta_check *c, struct ftr_arena *a)
{
	uint32_t n = c->f->n_sw;

	if (!FTR_NEW(a, c->by_lid, c->d->n_changes) ||
	    !FTR_ZNEW(a, c->lid_first, c->t->max_lid + 2u) ||
	    !FTR_NEW(a, c->lid, c->t->max_lid + 1u) ||
	    !FTR_NEW(a, c->at, n) || !FTR_ZNEW(a, c->seen, n) ||
	    !FTR_NEW(a, c->fate, n) || !FTR_ZNEW(a, c->turned, n) ||
	    !FTR_NEW(a, c->ahead, n) || !FTR_NEW(a, c->hops, n) ||
	    !FTR_NEW(a, c->stack, n))
		return false;
	memset(c->at, 0xff, n * sizeof(*c->at));
	return true;
}

enum ftr_status ftr_check_changes(const struct ftr_fabric *f,
				  const struct ftr_tables *t,
				  const struct ftr_check_delta *delta,
				  struct ftr_delta_report *out,
				  struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct delta_check c = { .f = f, .t = t, .d = delta };
	enum ftr_status st = validate(&c, err);

	if (!st)
		st = a && prepare(&c, a) ? chk_claims_set(&c.claims, f, delta, a, err) :
			ftr_nomem(err, "checking %u changes", delta->n_changes);
	if (!st) {
		sort_by_lid(&c);
		for (uint32_t i = 0; i < c.n_lids; i++)
			check_lid(&c, c.lid[i]);
		c.r.missed += count_missed(&c);
		c.r.proved = !c.horizontal && !c.r.mixed && !c.r.found[FTR_FIND_TURN];
		*out = c.r;
	}
	ftr_arena_free(a);
	return st;
}
