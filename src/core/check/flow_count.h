/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Counts the flows on every link, for all-to-all and for shifts.  `ibfattree load` and the search
 * for even load (src/core/balance) use these functions.
 *
 * A link is one direction of an InfiniBand link between two switches.  Its index is that of the
 * sending port in f->ports.
 */
#ifndef FTR_CHECK_FLOW_COUNT_H
#define FTR_CHECK_FLOW_COUNT_H

#include "base/base.h"
#include <ftr/fabric.h>
#include <ftr/team.h>

#define FLOW_NONE UINT32_MAX	/* no link, no path, no destination */

/* The ports of a switch.  Port p (1 .. n) sends on the link with index first + p. */
struct flow_ports {
	uint32_t first, n;
};

struct flow_net {
	const struct ftr_fabric *f;
	struct flow_ports *ports;	/* [n_sw] */
	ftr_sw *peer;		/* [f->n_ports] far end of each link; FTR_SW_NONE: no link to a
				 * switch */
	uint32_t *row;		/* [f->n_ports] number of each link, 0 .. n_rows - 1, or FLOW_NONE */
	uint32_t n_rows;
};

/* Returns false if memory is exhausted. */
bool flow_net_new(struct ftr_arena *a, const struct ftr_fabric *f, struct flow_net *out);

/* A switch with hosts.  Shifts: the hosts at positions first .. first + n - 1. */
struct flow_source {
	ftr_sw sw;
	uint32_t hosts;
	uint32_t first, n;
};

/* A host as a destination.  entry[s * stride]: the entry of switch s.  to: the switch that delivers;
 * FTR_SW_NONE: no flow arrives. */
struct flow_dest {
	const uint8_t *entry;
	size_t stride;
	ftr_sw to;
};

/* Returns the link to which port p of s leads, or FLOW_NONE. */
static inline uint32_t flow_link_to(const struct flow_net *net, ftr_sw s, ftr_port p)
{
	uint32_t link = net->ports[s].first + p;

	return p > net->ports[s].n || net->peer[link] == FTR_SW_NONE ? FLOW_NONE : link;
}

/* Writes the links of the path from s into link[n_sw].  Returns their number, or FLOW_NONE if the
 * path does not arrive. */
uint32_t flow_walk(const struct flow_net *net, const struct flow_dest *d, ftr_sw s, uint32_t *link);

struct flow_all {
	const struct flow_net *net;
	const struct flow_source *source;
	uint32_t n_sources;
	const struct flow_dest *dest;
	uint32_t n_dests;
	bool whole;		/* a flow that does not arrive loads no link; otherwise it loads the
				 * links up to its end */
	/* results */
	uint32_t *flows;	/* [f->n_ports], from the caller: the flows on each link */
	bool loop;		/* the path of a flow loops; if whole is false, the other results are
				 * then not valid */
	uint64_t arrived;	/* if whole is true: the flows that arrive, and for each dest[].to
				 * the hosts on this switch */
	uint64_t most;		/* the same for the destination with the most */
	uint32_t *reached;	/* [n_sources], NULL if whole is false: the number of destinations
				 * that each source reaches */
};

/* Counts the flows from each source to each destination.  O(n_dests * n_sources).  FTR_NOMEM. */
enum ftr_status flow_count_all(struct flow_all *c, struct ftr_team *team,
			       struct ftr_err *err) FTR_MUST_USE;

/* The shifts begin .. end - 1. */
struct flow_slice {
	unsigned int worker;
	uint32_t begin, end;
	uint16_t *n;		/* [n_rows][end - begin] number of flows on each link */
	uint64_t flows, lost;	/* sums over these shifts; lost flows load no link */
};

struct flow_shifts {
	const struct flow_net *net;
	const struct flow_source *source;	/* sources, or parts of them */
	uint32_t n_sources;
	const struct flow_dest *dest;
	const uint32_t *dest_at;	/* [n] index in dest[] of each position; FLOW_NONE: a gap */
	uint32_t n;
	uint32_t multiple;	/* slices begin at multiples of this number */
	/* Receives each slice, in any order, on any thread. */
	void (*fn)(void *ctx, const struct flow_slice *b);
	bool (*stop)(void *ctx);	/* called by the calling thread only; may be NULL */
	void *ctx;
};

/* Counts the flows of the shifts 0 .. n - 1.  Returns FTR_OK before all slices are counted if stop()
 * returns true.  O(n * n_sources) paths.  FTR_NOMEM. */
enum ftr_status flow_count_shifts(const struct flow_shifts *z, struct ftr_team *team,
				  struct ftr_err *err) FTR_MUST_USE;

#endif
