/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Counts the flows on every link, for all-to-all, shifts and permutations.  `ibfattree load` and the
 * search for even load (src/core/balance) use these functions.
 *
 * A link is one direction of an InfiniBand link between two switches.  Its index is that of the
 * sending port in f->ports.
 */
#ifndef FTR_CHECK_FLOW_COUNT_H
#define FTR_CHECK_FLOW_COUNT_H

#include <stdatomic.h>

#include "base/base.h"
#include <ftr/fabric.h>
#include <ftr/team.h>

#define FLOW_NONE UINT32_MAX	/* no link, no path, no destination */

/* The numbers begin .. end - 1. */
struct flow_span {
	uint32_t begin, end;
};

struct flow_net {
	const struct ftr_fabric *f;
	struct flow_span *ports;	/* [n_sw] port p of switch s sends on link ports[s].begin + p */
	ftr_sw *peer;		/* [f->n_ports] far end of each link; FTR_SW_NONE: no link to a
				 * switch */
	uint32_t *row;		/* [f->n_ports] number of each link, 0 .. n_rows - 1, or FLOW_NONE */
	uint32_t n_rows;
};

/* Returns false if memory is exhausted. */
bool flow_net_new(struct ftr_arena *a, const struct ftr_fabric *f, struct flow_net *out);

/* A switch with hosts.  n of them have the positions first .. first + n - 1 in the host order. */
struct flow_source {
	ftr_sw sw;
	uint32_t hosts;
	uint32_t first, n;
};

/* A host as a destination.  entry[s * stride]: the entry of switch s.  to: the switch that delivers;
 * FTR_SW_NONE: no flow arrives. */
struct flow_dest {
	uint8_t *entry;
	size_t stride;
	ftr_sw to;
};

/* Returns the link to which port p of s leads, or FLOW_NONE. */
static inline uint32_t flow_link_to(const struct flow_net *net, ftr_sw s, ftr_port p)
{
	uint32_t link = net->ports[s].begin + p;

	return link >= net->ports[s].end || net->peer[link] == FTR_SW_NONE ? FLOW_NONE : link;
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
	atomic_bool loop;	/* the path of a flow loops; if whole is false, the other results are
				 * then not valid */
	uint64_t arrived;	/* if whole is true: the flows that arrive, and for each dest[].to
				 * the hosts on this switch */
	uint64_t most;		/* the same for the destination with the most */
	uint32_t *reached;	/* [n_sources], NULL if whole is false: the number of destinations
				 * that each source reaches */
	struct all_worker *worker;	/* private */
};

/* Counts the flows from each source to each destination.  O(n_dests * n_sources).  FTR_NOMEM. */
enum ftr_status flow_count_all(struct flow_all *c, struct ftr_team *team,
			       struct ftr_err *err) FTR_MUST_USE;

/* The patterns begin .. end - 1. */
struct flow_slice {
	unsigned int worker;
	uint32_t begin, end;
	uint64_t flows, lost;	/* sums over these patterns; lost flows load no link */
	/* private */
	struct flow_range {
		uint16_t begin, end;
	} *range;		/* the flows of the link with number r are those in the ranges
				 * first[r] .. first[r + 1] - 1 */
	uint32_t *first;
	uint16_t *n;
};

/* The number of flows on a link in each pattern of the slice: n[end - begin], valid until the next
 * call.  row: number of the link. */
const uint16_t *flow_slice_link(const struct flow_slice *b, uint32_t row);

struct flow_patterns {
	const struct flow_net *net;
	const struct flow_dest *dest;
	const uint32_t *dest_at;	/* [n] index in dest[] of each position; FLOW_NONE: a gap */
	uint32_t n;
	uint32_t n_patterns;
	const ftr_sw *from;	/* [n_patterns * n] from[k * n + p]: the switch that sends to position
				 * p in pattern k; FTR_SW_NONE: none.  NULL: set by
				 * flow_set_shifts() */
	uint32_t multiple;	/* slices begin at multiples of this number, at most 65,535 */
	/* Receives each slice, in any order, on any thread. */
	void (*fn)(void *ctx, const struct flow_slice *b);
	bool (*stop)(void *ctx);	/* called by the calling thread only; may be NULL */
	void *ctx;
	/* private: the shifts */
	const ftr_sw *sw;	/* [n] switch of each position; FTR_SW_NONE: a gap */
	const uint32_t *shift;	/* [n_patterns] */
	const uint32_t *since;	/* [n] number of positions on this switch, up to this position */
	const uint32_t *before;	/* [n + 1] number of shifts before this one */
	uint32_t senders;	/* number of switches that send to a destination, at most */
	/* private: the workers */
	uint32_t of_slice;	/* number of patterns of a slice */
	struct slice_worker *worker;
	atomic_bool stopped, no_memory;
};

/* Let pattern k be shift[k], or k if shift is NULL.  (In shift k, position i sends to position
 * (i + k) mod n.)  The shifts are less than n and sorted.  sw[n]: see above.  z->n and z->n_patterns
 * are set.  Returns false if memory is exhausted.  sw and shift must outlive *z. */
bool flow_set_shifts(struct flow_patterns *z, struct ftr_arena *a, const ftr_sw *sw,
		     const uint32_t *shift);

/* Counts the flows of the patterns 0 .. n_patterns - 1.  Returns FTR_OK before all slices are counted
 * if stop() returns true.  O(n * senders) paths.  FTR_NOMEM. */
enum ftr_status flow_count_patterns(struct flow_patterns *z, struct ftr_team *team,
				    struct ftr_err *err) FTR_MUST_USE;

#endif
