// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * replay NETFILE RECORD LIFETIME: replays what record.c has recorded in one or more opensm, and follows all
 * pairs of hosts after each Set of a forwarding table.  It shares no code with the plugin's planner
 * and checker, except the reader of netfiles.  Packets leave the fabric within LIFETIME ms (tests/lib/follow.h).
 *
 * These lines of RECORD are appended by the test:
 *
 *	cut ID [PORT]	the links of switch ID to switches go down, or only the link at this port
 *	empty ID	the node loses its forwarding table
 *	watch		count the states from here on
 *
 * A link carries data if the port state Active was set at both ends after it went down last.  A
 * state is unsound if it has a forwarding loop or a credit loop, or if a Set has taken the path
 * away from a pair of hosts that had one.  Prints the number of states, and the greatest number of
 * pairs that lost their path at a time.  Exit status: 0 if no state is unsound.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/follow.h"
#include <ftr/ftr.h>

#define ACTIVE 4		/* IBA 14.2.5.6, PortState */

struct replay {
	struct ftr_fabric *f;
	uint8_t *lft;		/* [n_sw][row] */
	size_t row;
	uint8_t *active;	/* [n_ports] 1: this port was set Active */
	uint8_t *usable;	/* [n_ports] 1: the link at this port carries data */
	uint32_t *ends;		/* [n_sw] number of hosts */
	uint8_t *had;		/* [n_sw][row] 1: packets from this switch to this LID arrived in the
				 * previous state */
	struct follow *walk;
	double now, life;	/* ms */
	bool watching;
	uint64_t states, unsound, worst, loops, deadlocks;
};

static void die(const char *what, const char *line)
{
	fprintf(stderr, "replay: %s: %s\n", what, line);
	exit(2);
}

static void *room(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p)
		die("out of memory", "");
	return p;
}

static void set_usable(struct replay *r)
{
	const struct ftr_fabric *f = r->f;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(f, s, (ftr_port)p);
			uint32_t at = f->sw[s].first_port + p;

			r->usable[at] = port->peer_kind == FTR_PEER_EP ||
				(port->peer_kind == FTR_PEER_SW && r->active[at] &&
				 r->active[f->sw[port->peer].first_port + port->peer_port]);
		}
}

/* Follow all pairs.  If `set` is true, a Set has changed the tables, so every pair that had a path
 * must still have one. */
static void walk(struct replay *r, bool set)
{
	const struct ftr_fabric *f = r->f;
	uint64_t lost = 0, loops = 0;
	bool deadlock;

	if (!set)
		follow_links(r->walk);
	follow_time(r->walk, r->now, r->life);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		const struct ftr_lid_owner *o = &f->owner[lid];

		if (o->kind != FTR_OWNER_EP)
			continue;
		follow_begin(r->walk, (ftr_lid)lid);
		for (ftr_sw s = 0; s < f->n_sw; s++) {
			uint8_t *had = &r->had[s * r->row + lid];
			enum follow_fate fate;

			if (!r->ends[s])
				continue;
			fate = follow(r->walk, s);
			lost += set && *had && fate != FOLLOW_ARRIVES ? r->ends[s] : 0;
			loops += fate == FOLLOW_LOOP;
			if (!set || fate == FOLLOW_ARRIVES)
				*had = fate == FOLLOW_ARRIVES;
		}
	}
	deadlock = follow_waiting(r->walk) > 0;
	if (!r->watching)
		return;
	r->states += set;
	r->loops += loops > 0;
	r->deadlocks += deadlock;
	r->unsound += lost || loops || deadlock;
	r->worst = lost > r->worst ? lost : r->worst;
}

/* ---- the record ------------------------------------------------------------ */

/* ibsim names a node by a letter and its GUID. */
static uint64_t guid_of(const char *id)
{
	return strtoull(id + strcspn(id, "0123456789abcdef"), NULL, 16);
}

/* The switch at the end of the route from the host, or FTR_SW_NONE. */
static ftr_sw end_of_route(const struct replay *r, const char *host, char *route)
{
	uint64_t start = guid_of(host);
	ftr_sw s = ftr_fabric_find_sw(r->f, start);
	char *save = NULL;

	if (!strcmp(route, "-"))
		return s;
	for (char *w = strtok_r(route, ".", &save); w; w = strtok_r(NULL, ".", &save)) {
		unsigned long p = strtoul(w, NULL, 16);
		const struct ftr_swport *port;

		if (s == FTR_SW_NONE) {	/* the route leaves the host */
			for (ftr_ep e = 0; e < r->f->n_ep; e++)
				if (r->f->ep[e].node_guid == start &&
				    r->f->ep[e].port_num == p)
					s = r->f->ep[e].sw;
			if (s == FTR_SW_NONE)
				die("the host has no such port", w);
			continue;
		}
		if (!p || p > r->f->sw[s].n_ports)
			die("the switch has no such port", w);
		port = ftr_fabric_port(r->f, s, (ftr_port)p);
		if (port->peer_kind != FTR_PEER_SW)
			return FTR_SW_NONE;	/* the end is a host */
		s = port->peer;
	}
	return s;
}

static ftr_sw find(const struct replay *r, const char *id)
{
	ftr_sw s = ftr_fabric_find_sw(r->f, guid_of(id));

	if (s == FTR_SW_NONE)
		die("no such switch", id);
	return s;
}

/* The line names a switch, and perhaps a port. */
static void cut(struct replay *r, const char *line)
{
	ftr_sw s = find(r, line);
	const char *only = strchr(line + 1, ' ');

	for (unsigned int p = 1; p <= r->f->sw[s].n_ports; p++) {
		const struct ftr_swport *port = ftr_fabric_port(r->f, s, (ftr_port)p);

		if (only && strtoul(only, NULL, 10) != p)
			continue;
		r->active[r->f->sw[s].first_port + p] = 0;
		if (port->peer_kind == FTR_PEER_SW)
			r->active[r->f->sw[port->peer].first_port + port->peer_port] = 0;
	}
}

/* Returns false if no table has changed. */
static bool take_lft(struct replay *r, ftr_sw s, unsigned int block, const uint8_t *data)
{
	uint8_t *at = r->lft + s * r->row + block * (size_t)FTR_LFT_BLOCK;

	if (block * FTR_LFT_BLOCK >= r->row || !memcmp(at, data, FTR_LFT_BLOCK))
		return false;
	memcpy(at, data, FTR_LFT_BLOCK);
	return true;
}

static void take_set(struct replay *r, const char *line)
{
	char kind[8], host[65], route[256], hex[129];
	uint8_t data[64];
	unsigned int mod;
	ftr_sw s;

	if (sscanf(line, "%7s %64s %255s : %u %128s %lf", kind, host, route, &mod, hex, &r->now) != 6 ||
	    strlen(hex) != 128)
		die("not a record", line);
	for (unsigned int i = 0; i < 64; i++) {
		const char byte[3] = { hex[2 * i], hex[2 * i + 1], '\0' };

		data[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	s = end_of_route(r, host, route);
	if (s == FTR_SW_NONE)
		return;
	if (!strcmp(kind, "lft")) {
		if (take_lft(r, s, mod, data))
			walk(r, true);
	} else if (mod && mod <= r->f->sw[s].n_ports && (data[32] & 0xf) == ACTIVE) {
		r->active[r->f->sw[s].first_port + mod] = 1;
		set_usable(r);
		walk(r, false);
	}
}

static void take(struct replay *r, char *line)
{
	char *arg = line + strcspn(line, " ");

	line[strcspn(line, "\n")] = '\0';
	if (!strncmp(line, "watch", 5))
		r->watching = true;
	else if (!strncmp(line, "cut ", 4))
		cut(r, arg);
	else if (!strncmp(line, "empty ", 6))
		memset(r->lft + find(r, arg) * r->row, FTR_PORT_NONE, r->row);
	else
		take_set(r, line);
	if (!strncmp(line, "cut ", 4)) {
		set_usable(r);
		walk(r, false);
	}
}

int main(int argc, char **argv)
{
	struct replay r = { 0 };
	struct ftr_err err;
	char line[1024];
	FILE *in;

	if (argc != 4)
		die("usage", "replay NETFILE RECORD LIFETIME");
	if (ftr_read_fabric(argv[1], 0, &r.f, &err))
		die("cannot read the fabric", err.msg);
	r.row = (r.f->max_lid / FTR_LFT_BLOCK + 1u) * FTR_LFT_BLOCK;
	r.lft = room(r.f->n_sw, r.row);
	memset(r.lft, FTR_PORT_NONE, r.f->n_sw * r.row);
	r.had = room(r.f->n_sw, r.row);
	r.active = room(r.f->n_ports, 1);
	r.usable = room(r.f->n_ports, 1);
	r.ends = room(r.f->n_sw, sizeof(*r.ends));
	for (ftr_ep e = 0; e < r.f->n_ep; e++)
		if (r.f->ep[e].sw != FTR_SW_NONE)
			r.ends[r.f->ep[e].sw]++;
	r.life = strtod(argv[3], NULL);
	r.walk = follow_new(r.f, r.usable);
	follow_tables(r.walk, r.lft, r.row);
	in = fopen(argv[2], "r");
	if (!in)
		die("cannot read", argv[2]);
	while (fgets(line, sizeof(line), in))
		take(&r, line);
	fclose(in);
	printf("%" PRIu64 " states, %" PRIu64 " unsound: up to %" PRIu64
	       " pairs lost, %" PRIu64 " with a forwarding loop, %" PRIu64 " with a credit loop\n",
	       r.states, r.unsound, r.worst, r.loops, r.deadlocks);
	follow_free(r.walk);
	ftr_fabric_free(r.f);
	free(r.lft);
	free(r.had);
	free(r.active);
	free(r.usable);
	free(r.ends);
	return r.unsound > 0;
}
