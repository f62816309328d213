/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by load_sweep.c and load_dest.c: one sweep by all-to-all flows.
 */
#ifndef FTR_BALANCE_LOAD_SWEEP_H
#define FTR_BALANCE_LOAD_SWEEP_H

#include <pthread.h>

#include "balance/balance.h"

/* Number of batches whose changes are kept.  Before a share works on batch b, it reads the changes
 * of batch b - BALANCE_LAG.  Other shares may then already write the changes of batches up to
 * b + BALANCE_LAG - 1. */
#define KEPT (2 * BALANCE_LAG)

struct near {
	uint32_t first;		/* the ports are tree.group_ports[first .. first + n - 1] */
	uint16_t sw;
	uint8_t n;		/* number of links; 0: horizontal, so never a candidate by cost */
	bool up;
	ftr_port port;		/* the first port */
	ftr_port peer_port;	/* port at the neighbour; 0: the group has several links */
};

/* A compact copy of the port groups of a shape, for the cache.  Switch s has the groups
 * at[first[s]] .. at[first[s + 1] - 1]: upward and downward groups by ftr_group.pos (the order of
 * candidates), then horizontal groups. */
struct near_groups {
	const struct ftr_shape *sh;
	struct near *at;
	uint32_t *first;	/* [n_sw + 1] */
};

/* A port that an entry may take. */
struct choice {
	uint32_t link;
	uint16_t sw;
	ftr_port port;
};

/* The number of flows on a link rises by n (or falls, if n < 0). */
struct change {
	uint32_t link;
	int32_t n;
};

/* The price of a path or of some of its links, for the flows of an entry. */
struct price {
	uint64_t square;	/* by how much these flows raise the sum of the squares of the
				 * excesses */
	uint64_t flows;		/* sum of the flows on the links, including these flows */
};

/* Some of the destinations, with their own counters and scratch memory. */
struct share {
	struct load *load;
	uint32_t batch;
	struct load_link {
		uint32_t flows;
		ftr_sw peer;
	} *link;		/* [n_links] */

	/* for the current column */
	uint32_t column;
	const struct near_groups *near;
	struct ftr_cost_column costs;
	ftr_sw *over;		/* [n_over] copy of load->over, nearest switches first */
	/* of[s]: entries of switch s may take choice[first] .. choice[first + n - 1] */
	struct choices {
		uint32_t column;	/* first and n are valid only for this column */
		uint32_t first, n;
	} *of;			/* [n_sw] */
	struct choice *choice;	/* [n_links] */
	uint32_t n_choices;
	const struct ftr_group **group;	/* [FTR_PORT_MAX + 1] scratch */

	/* for the current destination */
	uint32_t d;		/* its index in net->dest */
	ftr_sw to;		/* its switch */
	uint8_t *entry;		/* [n_sw] */
	uint16_t *hosts;	/* [n_sw] number of hosts that send through the switch */
	struct load_path {
		uint64_t excess;	/* sum of the excesses on the path, or NO_PATH; valid if
					 * known == stamp */
		uint32_t known;
		uint32_t tried;		/* the entry was tried if tried == stamp */
	} *path;		/* [n_sw] */
	uint32_t stamp;		/* number of destinations examined so far */
	ftr_sw *queue;

	/* for the current entry: see mark_path() */
	uint64_t *mark;		/* [n_sw] */
	uint64_t first_mark;
	struct price *part;	/* [n_sw] */

	struct balance_moved *moved;	/* [n_moved] */
	uint32_t n_moved, cap_moved;
	struct changes {
		struct change *at;
		uint32_t n, cap;
	} change[KEPT];		/* change[b % KEPT]: the changes of batch b; empty with one share */
	bool nomem;

	/* guarded by load->lock */
	bool busy;		/* a thread works on the share */
	uint32_t done;		/* number of batches that are done */
} __attribute__((aligned(64)));	/* no cache line belongs to two shares */

/* A sweep. While it runs, only the shares and the members guarded by lock change. */
struct load {
	struct balance_count *c;
	const struct balance_net *net;
	struct balance_sweep *w;
	const struct balance_ports *ports;
	uint32_t target;
	ftr_sw *over;		/* [n_over] switches with a link above the target at the start */
	uint32_t n_over;
	struct near_groups of_shape, of_full;	/* the groups of in->shape and in->full */
	struct share *share;
	uint32_t n_shares;
	uint32_t share_dests;	/* number of destinations of a share in a batch */
	uint32_t n_batches;
	pthread_mutex_t lock;
	pthread_cond_t batch_done, sweep_done;
	/* guarded by lock */
	uint32_t n_helpers;	/* number of threads in sweep_shares() without the calling thread */
	bool stop;		/* cancelled, or out of memory */
};

/* Try the entries for destination d, an index in net->dest.  Returns false if out of memory. */
bool load_sweep_dest(struct share *z, uint32_t d);

#endif
