/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Follows all packets after each Set of a table in the fake OpenSM.  Only the LIDs whose entries have
 * changed are followed again, or all after a change of links.
 *
 *	eye_init(&y, h)
 *	h->written = written, h->written_ctx = &y	from now on states are counted
 *	begin_here(&y, h)				after a change of links
 *	check_all_connected(&y, h, what)		when nothing is left to do
 *	eye_fini(&y)
 */
#ifndef FTR_TEST_EYE_H
#define FTR_TEST_EYE_H

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/follow.h"

struct eye {
	const struct ftr_fabric *f;
	uint8_t *lft;		/* [n_sw][row] */
	uint32_t row;
	uint8_t *active;	/* [n_ports] 1: the link is Active */
	uint8_t *failed;	/* [n_ports] 1: the link has failed in the present change */
	uint8_t *ends;		/* [n_sw] 1: hosts are connected */
	uint8_t *had;		/* [n_sw][row] 1: packets arrived in the previous state */
	uint8_t *changed;	/* [row] 1: entries for this LID have changed since the last state */
	uint8_t *loops_to;	/* [row] number of switches from which packets loop */
	struct follow *walk;
	uint64_t seed;
	bool trace;		/* print each changed entry, and each path that comes or goes */
	uint64_t looping;	/* sum of loops_to */
	double life_ms;		/* how long a packet can be in the fabric */
	uint64_t states, lost, loops, deadlocks;
	/* [n_unsound] the states that are counted in lost, loops or deadlocks */
	struct unsound {
		double at;
		bool only_waits;	/* a credit loop, but all packets arrive */
	} *unsound;
	uint64_t n_unsound;
};

/* The three functions below are called with the wire's mutex held. */

/* A switch has no entries for LIDs above its LinearFDBTop. */
static bool read_tables(struct eye *y, const struct fake *h)
{
	bool changed = false;

	for (ftr_sw s = 0; s < y->f->n_sw; s++) {
		uint8_t *was = y->lft + (size_t)s * y->row;
		uint16_t top = h->sw[s].top;

		for (uint32_t lid = 1; lid < y->row; lid++) {
			uint8_t now = top && lid > top ? FTR_PORT_NONE : h->sw[s].lft[lid];

			if (was[lid] == now)
				continue;
			if (y->trace)
				printf("%.2f ms: switch %u: LID %u: port %u, was %u\n",
				       fake_time(), s, lid, now, was[lid]);
			y->changed[lid] = 1;
			was[lid] = now;
			changed = true;
		}
	}
	return changed;
}

static bool read_links(struct eye *y, const struct fake *h)
{
	bool changed = false;

	for (uint32_t x = 0; x < y->f->n_ports; x++) {
		bool active = y->f->ports[x].peer_kind == FTR_PEER_EP ||
			h->link[x] == IB_LINK_ACTIVE;

		y->failed[x] |= y->active[x] && !active;
		if (y->trace && y->active[x] != active && y->f->ports[x].peer_kind == FTR_PEER_SW)
			printf("link to switch %u, port %u: %s\n", y->f->ports[x].peer,
			       y->f->ports[x].peer_port, active ? "up" : "down");
		changed |= y->active[x] != active;
		y->active[x] = active;
	}
	if (changed) {
		follow_links(y->walk);
		memset(y->changed, 1, y->row);
	}
	return changed;
}

/* True if the path from s to the LID ends at a link that has failed in the present change. */
static bool fails(const struct eye *y, ftr_sw s, uint32_t lid)
{
	for (uint32_t hops = 0; hops < y->f->n_sw; hops++) {
		uint8_t p = y->lft[(size_t)s * y->row + lid];
		uint32_t x = y->f->sw[s].first_port + p;

		if (p > y->f->sw[s].n_ports || y->f->ports[x].peer_kind != FTR_PEER_SW)
			return false;
		if (!y->active[x])
			return y->failed[x];
		s = y->f->ports[x].peer;
	}
	return false;
}

/* Follow the packets to a LID.  Returns the number of switches from which a Set has taken the path. */
static uint32_t walk_lid(struct eye *y, uint32_t lid, bool set)
{
	uint32_t lost = 0;

	y->looping -= y->loops_to[lid];
	y->loops_to[lid] = 0;
	follow_begin(y->walk, (ftr_lid)lid);
	for (ftr_sw s = 0; s < y->f->n_sw; s++) {
		uint8_t *had = &y->had[(size_t)s * y->row + lid];
		enum follow_fate fate;

		if (!y->ends[s])
			continue;
		fate = follow(y->walk, s);
		if (y->trace && *had != (fate == FOLLOW_ARRIVES))
			printf("from switch %u to LID %u: %s\n", s, lid,
			       *had ? set ? "lost by this Set" : "lost" : "arrives");
		lost += set && *had && fate != FOLLOW_ARRIVES && !fails(y, s, lid);
		y->loops_to[lid] += fate == FOLLOW_LOOP && y->f->owner[lid].kind == FTR_OWNER_EP;
		*had = fate == FOLLOW_ARRIVES;
	}
	y->looping += y->loops_to[lid];
	return lost;
}

/* Follow all packets whose LIDs have changed entries, or, if links have changed, all packets.  set: a
 * Set has changed a table; no pair may lose its path. */
static void walk(struct eye *y, bool set)
{
	uint64_t lost = 0;
	uint32_t waiting;

	follow_time(y->walk, fake_time(), y->life_ms);
	for (uint32_t lid = 1; lid < y->row; lid++) {
		if (y->changed[lid] && y->f->owner[lid].kind != FTR_OWNER_NONE)
			lost += walk_lid(y, lid, set && y->f->owner[lid].kind == FTR_OWNER_EP);
		y->changed[lid] = 0;
	}
	if (!set)
		return;
	waiting = follow_waiting(y->walk);
	if (y->trace && (y->looping || waiting))
		printf("%.2f ms: %" PRIu64 " loops, %u channels in a credit loop\n", fake_time(), y->looping, waiting);
	if (y->trace)
		follow_print_cycle(y->walk);
	y->states++;
	y->lost += lost > 0;
	y->loops += y->looping > 0;
	if (!lost && !y->looping && !waiting)
		return;
	y->unsound = realloc(y->unsound, (y->n_unsound + 1) * sizeof(*y->unsound));
	y->unsound[y->n_unsound++] = (struct unsound){
		.at = fake_time(), .only_waits = !lost && !y->looping,
	};
}

/* A Set was carried out.  If links have changed since the last state, this state is followed again
 * with the present links. */
static void written(void *ctx, struct fake *h)
{
	struct eye *y = ctx;

	if (read_links(y, h))
		walk(y, false);
	if (read_tables(y, h))
		walk(y, true);
}

/* Follow all packets, so that the next Set is compared with this state. */
static void begin_here(struct eye *y, struct fake *h)
{
	fake_lock(h);
	read_links(y, h);
	read_tables(y, h);
	walk(y, false);
	fake_unlock(h);
}

static void check_all_connected(struct eye *y, struct fake *h, const char *what)
{
	ftr_sw own = h->fab->ep[h->sm].sw;

	begin_here(y, h);
	for (uint32_t lid = 1; lid < y->row; lid++) {
		const struct ftr_lid_owner *o = &y->f->owner[lid];

		if (o->kind != FTR_OWNER_EP || y->f->ep[o->idx].sw == FTR_SW_NONE ||
		    !follow_joined(y->walk, y->f->ep[o->idx].sw, own))
			continue;
		for (ftr_sw s = 0; s < y->f->n_sw; s++)
			if (y->ends[s] && follow_joined(y->walk, s, own) &&
			    !y->had[(size_t)s * y->row + lid])
				ck_abort_msg("seed %" PRIu64 ", %s: switch %u has no path to LID %u\n%s",
					     y->seed, what, s, lid, h->log);
	}
}

static void eye_init(struct eye *y, struct fake *h)
{
	const struct ftr_fabric *f = h->fab;

	y->f = f;
	y->row = f->max_lid + 1u;
	y->lft = calloc(f->n_sw, y->row);
	y->had = calloc(f->n_sw, y->row);
	y->changed = calloc(y->row, 1);
	y->loops_to = calloc(y->row, 1);
	y->active = calloc(f->n_ports, 1);
	y->failed = calloc(f->n_ports, 1);
	y->ends = calloc(f->n_sw, 1);
	ck_assert(y->lft && y->had && y->changed && y->loops_to && y->active && y->failed &&
		  y->ends);
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE && f->ep[e].lid)
			y->ends[f->ep[e].sw] = 1;
	y->walk = follow_new(f, y->active);
	follow_tables(y->walk, y->lft, y->row);
	y->life_ms = ldexp(4.096e-3, h->osm->subn.opt.packet_life_time);
}

static void eye_fini(struct eye *y)
{
	follow_free(y->walk);
	free(y->lft);
	free(y->had);
	free(y->changed);
	free(y->loops_to);
	free(y->active);
	free(y->failed);
	free(y->ends);
	free(y->unsound);
}

#endif
