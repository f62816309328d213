// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The table of links, see links.h.  It is sorted by (GUID, port) for binary
 * search, because every routing looks up every link of the fabric.
 */
#include <string.h>

#include "base/base.h"
#include "base/search.h"
#include "reroute/links.h"

/* Exchange the ends if necessary, so that (guid, port) is smaller than (peer_guid, peer_port). */
static struct rr_ends in_order(struct rr_ends e)
{
	struct rr_ends b = { e.peer_guid, e.guid, e.peer_port, e.port };

	return *(b.guid < e.guid || (b.guid == e.guid && b.port < e.port) ? &b : &e);
}

/* The index of e, or the index at which e must be inserted. */
static uint32_t place_of(const struct rr_links *t, const struct rr_ends *e)
{
	const struct rr_link_entry *link = t->link;
	uint32_t i;

	FTR_LOWER_BOUND(i, t->n, link[i].ends.guid < e->guid ||
			(link[i].ends.guid == e->guid &&
			 link[i].ends.port < e->port));
	return i;
}

static struct rr_link_entry *find(const struct rr_links *t, struct rr_ends e)
{
	uint32_t i;

	e = in_order(e);
	i = place_of(t, &e);
	if (i == t->n || t->link[i].ends.guid != e.guid ||
	    t->link[i].ends.port != e.port)
		return NULL;
	return (struct rr_link_entry *)(uintptr_t)&t->link[i];
}

static void remove_at(struct rr_links *t, uint32_t i)
{
	t->n--;
	memmove(&t->link[i], &t->link[i + 1], (t->n - i) * sizeof(t->link[0]));
}

/* If the table is full, remove the ALIVE link whose last failure is the oldest.  Returns false if
 * the table is full and no link is ALIVE. */
static bool make_room(struct rr_links *t)
{
	uint32_t quiet = t->n;

	if (t->n < RR_LINKS_MAX)
		return true;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->link[i].state == RR_LINK_ALIVE &&
		    (quiet == t->n || t->link[i].last < t->link[quiet].last))
			quiet = i;
	if (quiet == t->n)
		return false;
	remove_at(t, quiet);
	return true;
}

/* Returns the entry of link e; adds it if it is missing.  NULL: the table is full. */
static struct rr_link_entry *find_or_add(struct rr_links *t, struct rr_ends e)
{
	struct rr_link_entry *l = find(t, e);
	uint32_t i;

	if (l || !make_room(t))
		return l;
	e = in_order(e);
	i = place_of(t, &e);
	l = &t->link[i];
	memmove(l + 1, l, (t->n - i) * sizeof(*l));
	t->n++;
	*l = (struct rr_link_entry){ .ends = e, .died = -1 };
	return l;
}

static bool is_damped(const struct rr_links *t, const struct rr_link_entry *l,
		      double now)
{
	return l->state == RR_LINK_DAMPED && now < l->last + t->hold;
}

static void settle(struct rr_link_entry *l)
{
	l->state = l->died >= 0 ? RR_LINK_DEAD : RR_LINK_ALIVE;
}

static void set_dead(struct rr_link_entry *l, double now)
{
	l->died = now;
	if (l->state != RR_LINK_DAMPED && l->state != RR_LINK_RETURNING)
		l->state = RR_LINK_DEAD;
}

void rr_links_seen_down(struct rr_links *t, struct rr_ends e, double now)
{
	struct rr_link_entry *l = find_or_add(t, e);

	if (l)
		set_dead(l, now);
}

bool rr_links_died(struct rr_links *t, struct rr_ends e, double now)
{
	struct rr_link_entry *l = find_or_add(t, e);

	if (!l)
		return false;
	if (!l->deaths || (!is_damped(t, l, now) &&
			   now > l->window + t->window)) {
		l->deaths = 0;
		l->window = now;
	}
	l->deaths++;
	l->last = now;
	set_dead(l, now);
	if (t->limit && l->deaths >= t->limit)
		l->state = RR_LINK_DAMPED;
	else if (l->state == RR_LINK_DAMPED)
		l->state = RR_LINK_DEAD;
	return l->state == RR_LINK_DAMPED;
}

void rr_links_used(struct rr_links *t, struct rr_ends e)
{
	struct rr_link_entry *l = find(t, e);

	if (!l)
		return;
	l->died = -1;
	settle(l);
}

void rr_links_leave(struct rr_links *t, struct rr_ends e)
{
	struct rr_link_entry *l = find_or_add(t, e);

	if (l && l->state != RR_LINK_DAMPED)
		l->state = RR_LINK_LEFT;
}

bool rr_links_return(struct rr_links *t, struct rr_ends e)
{
	struct rr_link_entry *l = find_or_add(t, e);

	if (l && l->state != RR_LINK_DAMPED)
		l->state = RR_LINK_RETURNING;
	return l != NULL;
}

bool rr_links_damped(const struct rr_links *t, struct rr_ends e, double now)
{
	const struct rr_link_entry *l = find(t, e);

	return l && is_damped(t, l, now);
}

uint32_t rr_links_count_damped(const struct rr_links *t, double now)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += is_damped(t, &t->link[i], now);
	return n;
}

bool rr_links_left_out(struct rr_links *t, struct rr_ends e, bool returns,
		       double began, double now, bool *recheck)
{
	struct rr_link_entry *l = find(t, e);

	if (l && is_damped(t, l, now))
		return true;
	if (returns && (!l || l->state != RR_LINK_LEFT) &&
	    rr_links_return(t, e))
		return true;
	if (!l || l->died < 0 || l->died < began)
		return false;
	*recheck = true;
	return true;
}

void rr_links_discovered(struct rr_links *t, double began)
{
	for (uint32_t i = t->n; i-- > 0;) {
		struct rr_link_entry *l = &t->link[i];

		if (l->died < began)
			l->died = -1;
		if (l->state == RR_LINK_DEAD)
			settle(l);
		if (l->state == RR_LINK_ALIVE && !l->deaths)
			remove_at(t, i);
	}
}

double rr_links_release_due(const struct rr_links *t)
{
	double first = -1;

	for (uint32_t i = 0; i < t->n; i++) {
		const struct rr_link_entry *l = &t->link[i];

		if (l->state == RR_LINK_DAMPED &&
		    (first < 0 || l->last + t->hold < first))
			first = l->last + t->hold;
	}
	return first;
}

bool rr_links_release(struct rr_links *t, double now)
{
	bool some = false;

	for (uint32_t i = 0; i < t->n; i++) {
		struct rr_link_entry *l = &t->link[i];

		if (l->state != RR_LINK_DAMPED || is_damped(t, l, now))
			continue;
		l->state = RR_LINK_RETURNING;
		some = true;
	}
	return some;
}

uint32_t rr_links_take_returning(struct rr_links *t, struct rr_ends *out,
				 uint32_t max, bool *more)
{
	uint32_t n = 0;

	*more = false;
	for (uint32_t i = 0; i < t->n; i++) {
		struct rr_link_entry *l = &t->link[i];

		if (l->state != RR_LINK_RETURNING)
			continue;
		if (n == max) {
			*more = true;
			continue;
		}
		out[n++] = l->ends;
		settle(l);
	}
	return n;
}

bool rr_links_drop_returning(struct rr_links *t)
{
	bool some = false;

	for (uint32_t i = 0; i < t->n; i++) {
		if (t->link[i].state != RR_LINK_RETURNING)
			continue;
		settle(&t->link[i]);
		some = true;
	}
	return some;
}
