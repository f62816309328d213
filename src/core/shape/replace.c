// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds replaced switches.  A missing switch counts as replaced if a new switch has its links.
 *
 * A place is the position of a switch in the nominal fabric (all switches and links seen so far).
 * A place is free if no switch of the present fabric has it.  A new switch has no place yet.  Its
 * links decide which free place it gets.  Each link has one vote, except links to other new
 * switches:
 *
 *	- In the nominal fabric, the port at the far end of the link is connected to some place.
 *	  If this place is free, the vote is for this place.
 *	- If there is no such place, or if it is not free, the vote is against all places.
 *
 * A new switch claims a place if more than half of its votes are for this place.  If several
 * switches claim one place, it goes to the switch with the most votes for the place; on a tie, to
 * the switch with more links at their nominal ports.  If there is still a tie, no switch gets the
 * place.
 *
 * When a switch has got a place, links to it have votes, too.  So rounds are repeated until no
 * switch gets a place.  In this way two neighbours that were replaced together are found.  A round
 * uses only the results of earlier rounds, so the order of switches does not matter.
 */
#include <string.h>

#include "shape/cover.h"

struct claim {
	ftr_sw place;		/* the claimed place, or FTR_SW_NONE */
	uint32_t votes, strong;	/* votes: number of votes for the place; strong: number of these
				 * votes whose link is at its nominal port */
};

struct replace {
	struct cover *c;
	ftr_sw *here;		/* here[t]: switch of f in place t of n, or FTR_SW_NONE */
	struct claim *claim;	/* claim[s]: claim of switch s of f */
	ftr_sw *best;		/* best[t]: switch with the best claim to place t */
	struct claim *tally;	/* [FTR_PORT_MAX] scratch */
};

static bool better(struct claim a, struct claim b)
{
	return a.votes != b.votes ? a.votes > b.votes : a.strong > b.strong;
}

/* The vote of the link at port p of s.  *place becomes the free place for which it votes, or
 * FTR_SW_NONE if it votes against all places.  *strong becomes true if p is the nominal port of the
 * link.  Returns false if the link has no vote. */
static bool vote(const struct replace *r, ftr_sw s, unsigned int p,
		 ftr_sw *place, bool *strong)
{
	const struct ftr_fabric *n = r->c->n;
	const struct ftr_swport *port = ftr_fabric_port(r->c->f, s, p);
	ftr_sw t;

	*place = FTR_SW_NONE;
	if (port->peer_kind == FTR_PEER_EP) {
		ftr_ep e = r->c->ep[port->peer];

		if (e == FTR_EP_NONE || n->ep[e].sw == FTR_SW_NONE)
			return true;
		*place = n->ep[e].sw;
		*strong = n->ep[e].sw_port == p;
	} else if (port->peer_kind == FTR_PEER_SW) {
		const struct ftr_swport *was;

		t = r->c->sw[port->peer];
		if (t == FTR_SW_NONE)
			return false;
		if (port->peer_port > n->sw[t].n_ports)
			return true;
		was = ftr_fabric_port(n, t, port->peer_port);
		if (was->peer_kind != FTR_PEER_SW)
			return true;
		*place = was->peer;
		*strong = was->peer_port == p;
	} else {
		return false;
	}
	if (r->here[*place] != FTR_SW_NONE)
		*place = FTR_SW_NONE;
	return true;
}

/* The claim of s.  Its member `place` is FTR_SW_NONE if s claims no place. */
static struct claim claim_of(const struct replace *r, ftr_sw s)
{
	struct claim none = { FTR_SW_NONE, 0, 0 }, best = none;
	uint32_t n = 0, all = 0;
	bool tie = false;

	for (unsigned int p = 1; p <= r->c->f->sw[s].n_ports; p++) {
		ftr_sw place;
		bool strong;
		uint32_t i = 0;

		if (!vote(r, s, p, &place, &strong))
			continue;
		all++;
		if (place == FTR_SW_NONE)
			continue;
		while (i < n && r->tally[i].place != place)
			i++;
		if (i == n)
			r->tally[n++] = (struct claim){ place, 0, 0 };
		r->tally[i].votes++;
		r->tally[i].strong += strong;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (better(r->tally[i], best)) {
			best = r->tally[i];
			tie = false;
		} else {
			tie |= !better(best, r->tally[i]);
		}
	}
	return tie || 2 * best.votes <= all ? none : best;
}

/* Run one round.  Returns false if no switch has got a place. */
static bool round_of(struct replace *r)
{
	struct cover *c = r->c;
	uint32_t n_f = c->f->n_sw, n_n = c->n->n_sw;
	bool any = false;

	memset(r->best, 0xff, n_n * sizeof(*r->best));
	for (ftr_sw s = 0; s < n_f; s++) {
		ftr_sw *b;

		r->claim[s].place = FTR_SW_NONE;
		if (c->sw[s] != FTR_SW_NONE)
			continue;
		r->claim[s] = claim_of(r, s);
		if (r->claim[s].place == FTR_SW_NONE)
			continue;
		b = &r->best[r->claim[s].place];
		if (*b == FTR_SW_NONE || better(r->claim[s], r->claim[*b]))
			*b = s;
	}
	for (ftr_sw s = 0; s < n_f; s++) {
		ftr_sw t = r->claim[s].place;

		if (t == FTR_SW_NONE || r->best[t] == FTR_SW_NONE ||
		    r->best[t] == s ||
		    better(r->claim[r->best[t]], r->claim[s]))
			continue;
		r->best[t] = FTR_SW_NONE;
	}
	for (ftr_sw t = 0; t < n_n; t++) {
		ftr_sw s = r->best[t];

		if (s == FTR_SW_NONE)
			continue;
		c->sw[s] = t;
		r->here[t] = s;
		any = true;
	}
	return any;
}

static bool is_end_node(const struct ftr_fabric *f, uint64_t guid)
{
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].node_guid == guid)
			return true;
	return false;
}

/* The GUID of a place is that of the first switch there.  Only the switch that has the place may
 * have this GUID.  If an end node has this GUID, the switch loses the place.  If a switch without a
 * place has this GUID, it gets the place, and the switch that had the place loses the place.  Each
 * switch gets a place here at most once. */
static void settle_guids(struct replace *r)
{
	const struct ftr_fabric *f = r->c->f, *n = r->c->n;
	bool again = true;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		ftr_sw t = r->c->sw[s];

		if (t != FTR_SW_NONE && n->sw[t].guid != f->sw[s].guid &&
		    is_end_node(f, n->sw[t].guid))
			r->c->sw[s] = r->here[t] = FTR_SW_NONE;
	}
	while (again) {
		again = false;
		for (ftr_sw s = 0; s < f->n_sw; s++) {
			ftr_sw t = r->c->sw[s] == FTR_SW_NONE ?
				ftr_fabric_find_sw(n, f->sw[s].guid) :
				FTR_SW_NONE;

			if (t == FTR_SW_NONE)
				continue;
			if (r->here[t] != FTR_SW_NONE)
				r->c->sw[r->here[t]] = FTR_SW_NONE;
			r->c->sw[s] = t;
			r->here[t] = s;
			again = true;
		}
	}
}

bool cover_replaced(struct cover *c, struct ftr_arena *a)
{
	struct replace r = { .c = c };
	bool all = true;

	if (!FTR_NEW(a, r.here, c->n->n_sw) || !FTR_NEW(a, r.best, c->n->n_sw) ||
	    !FTR_NEW(a, r.claim, c->f->n_sw) || !FTR_NEW(a, r.tally, FTR_PORT_MAX))
		return false;
	memset(r.here, 0xff, c->n->n_sw * sizeof(*r.here));
	for (ftr_sw s = 0; s < c->f->n_sw; s++) {
		if (c->sw[s] == FTR_SW_NONE)
			all = false;
		else
			r.here[c->sw[s]] = s;
	}
	while (!all && round_of(&r))
		;
	settle_guids(&r);
	return true;
}
