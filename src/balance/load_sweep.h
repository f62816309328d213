/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by load_sweep.c and load_dest.c: a sweep for all-to-all traffic alone, and its shares.
 */
#ifndef FTR_BALANCE_LOAD_SWEEP_H
#define FTR_BALANCE_LOAD_SWEEP_H

#include <pthread.h>

#include "balance/balance.h"

/* Number of batches whose changes are kept. While one share reads the changes of batch
 * b - BALANCE_LAG, other shares may write the changes of batches up to b + BALANCE_LAG - 1. */
#define KEPT (2 * BALANCE_LAG)

/* A port group of a switch. */
struct near {
	uint32_t first;		/* the ports are tree.group_ports[first .. first + n - 1] */
	uint16_t sw;		/* the neighbour */
	uint8_t n;		/* number of links; 0: the group is horizontal, so the costs never
				 * make it a candidate */
	bool up;
	ftr_port port;		/* the first port */
	ftr_port peer_port;	/* port at the neighbour if there is one link; 0: several links */
};

/* The port groups of a shape in a compact array, because the array of the shape does not fit into
 * the cache. The groups of switch s are at[first[s]] .. at[first[s + 1] - 1]: first the upward and
 * downward groups by ascending ftr_group.pos (the order of candidates), then the horizontal
 * groups. */
struct near_groups {
	const struct ftr_shape *sh;
	struct near *at;
	uint32_t *first;	/* [n_sw + 1] */
};

/* A port that an entry may take. */
struct choice {
	uint32_t link;
	uint16_t sw;		/* the neighbour */
	ftr_port port;
};

/* The number of flows on a link rises by n, which may be negative. */
struct change {
	uint32_t link;
	int32_t n;
};

/* The price of a path, or of a part of it, for the flows of an entry. */
struct price {
	uint64_t square;	/* sum of the squares of the excesses with the flows of the entry,
				 * minus that sum without them */
	uint64_t flows;		/* sum of the flows on all links, including those of the entry */
};

/* A share of the destinations, with counters and scratch memory of its own. */
struct share {
	struct load *load;
	uint32_t batch;		/* the present batch */
	/* flows and far end of a link, in one array because they are used together */
	struct load_link {
		uint32_t flows;
		ftr_sw peer;
	} *link;		/* [n_links] */

	/* for the current column */
	uint32_t column;
	const struct near_groups *near;
	struct ftr_cost_column costs;
	ftr_sw *over;		/* [n_over] copy of load->over, sorted: nearest switches first */
	/* of[s]: entries of switch s may take choice[first] .. choice[first + n - 1]. */
	struct choices {
		uint32_t column;	/* first and n are valid if this is the current column; a
					 * sweep does not return to an earlier column */
		uint32_t first, n;
	} *of;			/* [n_sw] */
	struct choice *choice;	/* [n_links] */
	uint32_t n_choices;
	const struct ftr_group **group;	/* [FTR_PORT_MAX + 1] scratch */

	/* for the current destination */
	uint32_t d;		/* its index in net->dest */
	ftr_sw to;		/* its switch */
	uint8_t *entry;		/* [n_sw] entry[s]: entry of s */
	uint16_t *hosts;	/* [n_sw] hosts[s]: number of hosts that send through s */
	struct load_path {
		uint64_t excess;	/* sum of the excesses of the links on the path from s, or
					 * NO_PATH; valid if known == stamp */
		uint32_t known;
		uint32_t tried;		/* The entry was tried if tried == stamp. */
	} *path;		/* [n_sw] */
	uint32_t stamp;		/* number of destinations examined so far */
	ftr_sw *queue;		/* scratch of try_subtree() */

	/* for the current entry: see mark_path() */
	uint64_t *mark;		/* [n_sw] */
	uint64_t first_mark;
	struct price *part;	/* [n_sw] */

	struct balance_moved *moved;	/* [n_moved] all moves of this share */
	uint32_t n_moved, cap_moved;
	struct changes {
		struct change *at;
		uint32_t n, cap;
	} change[KEPT];		/* change[b % KEPT]: the changes of batch b; empty if there is only
				 * one share */
	bool nomem;

	/* guarded by load->lock */
	bool busy;		/* A thread works on the share. */
	uint32_t done;		/* number of batches that are done */
} __attribute__((aligned(64)));	/* A cache line that belongs to two shares would slow down the
				 * threads that write to them. */

/* A sweep. While it runs, only the shares and the members guarded by lock change. */
struct load {
	struct balance_count *c;
	const struct balance_net *net;
	struct balance_sweep *w;
	const struct balance_ports *ports;	/* ports[s]: the links of switch s */
	uint32_t target;
	ftr_sw *over;		/* [n_over] the switches with links above the target at the start of
				 * the sweep */
	uint32_t n_over;
	struct near_groups of_shape, of_full;	/* the groups of in->shape and in->full */
	struct share *share;
	uint32_t n_shares;
	uint32_t share_dests;	/* number of destinations of a share in a batch */
	uint32_t n_batches;
	pthread_mutex_t lock;
	pthread_cond_t batch_done, sweep_done;
	/* guarded by lock */
	uint32_t n_helpers;	/* number of threads that have entered sweep_shares(), not counting
				 * the calling thread */
	bool stop;		/* The sweep was cancelled, or memory is exhausted. */
};

/* Try the entries for destination d, an index in net->dest. False: out of memory. */
bool load_sweep_dest(struct share *z, uint32_t d);

#endif
