/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Declarations that load_sweep.c and load_dest.c share.  The two files make one sweep that evens
 * out all-to-all flows: a pass over the entries, in which entries may change to other candidates
 * (allowed next hops).
 *
 * A sweep consists of batches of destinations.  The destinations of a batch are divided into
 * shares, which threads process at the same time.  The excess of a link is the number of its flows
 * above the target.
 */
#ifndef FTR_BALANCE_LOAD_SWEEP_H
#define FTR_BALANCE_LOAD_SWEEP_H

#include <pthread.h>

#include "balance/balance.h"

/* The changes of the last KEPT batches of each share are kept.  The thread that begins batch b of
 * its share reads the changes of batch b - BALANCE_LAG of the other shares.  At that time other
 * threads may already write the changes of batch b + BALANCE_LAG - 1. */
#define KEPT (2 * BALANCE_LAG)

/* A compact copy of a port group. */
struct near {
	uint32_t first;		/* the ports are tree.group_ports[first .. first + n - 1] */
	uint16_t sw;		/* the neighbour */
	uint8_t n;		/* number of links; 0: horizontal group, which is not a candidate */
	bool up;
	ftr_port port;		/* the first port */
	ftr_port peer_port;	/* port at the neighbour; 0: the group has several links */
};

/* A compact copy of the port groups of a shape.  Switch s has the groups at[first[s]] ..
 * at[first[s + 1] - 1]: first the upward and downward groups, sorted by ftr_group.pos, and then the
 * horizontal groups. */
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

/* A change of the number of flows on a link by n (n < 0: it falls). */
struct change {
	uint32_t link;
	int32_t n;
};

/* The price of some links of a path, for the flows that pass an entry. */
struct price {
	uint64_t square;	/* increase of the sum of excess^2 by these flows */
	uint64_t flows;		/* sum of the flows on the links, including these flows */
};

/* A share of the destinations of each batch, with its own counters and scratch memory. */
struct share {
	struct load *load;
	uint32_t batch;
	struct load_link {
		uint32_t flows;
		ftr_sw peer;
	} *link;		/* [n_links] */

	/* for the current column (destination switch) */
	uint32_t column;
	const struct near_groups *near;
	struct ftr_cost_column costs;
	ftr_sw *over;		/* [n_over] copy of load->over, nearest switches first */
	/* of[s]: the ports that entries of switch s may take: choice[first] ..
	 * choice[first + n - 1] */
	struct choices {
		uint32_t column;	/* first and n are valid if this is share.column */
		uint32_t first, n;
	} *of;			/* [n_sw] */
	struct choice *choice;	/* [n_links] */
	uint32_t n_choices;
	const struct ftr_group **group;	/* [FTR_PORT_MAX + 1] scratch */

	/* for the current destination */
	uint32_t d;		/* its index in net->dest */
	ftr_sw to;		/* its switch */
	uint8_t *entry;		/* entry[s]: the entry of switch s */
	uint16_t *hosts;	/* hosts[s]: number of hosts whose path visits switch s */
	struct load_path {
		uint64_t excess;	/* excess of the path from s (sum over its links), or
					 * NO_PATH; valid if known == stamp */
		uint32_t known;
		uint32_t tried;		/* tried == stamp: the entry of s was examined */
	} *path;		/* path[s] */
	uint32_t stamp;		/* number of destinations examined so far */
	ftr_sw *queue;

	/* for the current entry, see mark_path() */
	uint64_t *mark;		/* [n_sw] */
	uint64_t first_mark;
	struct price *part;	/* [n_sw] */

	struct balance_moved *moved;	/* [n_moved] */
	uint32_t n_moved, cap_moved;
	struct changes {
		struct change *at;
		uint32_t n, cap;
	} change[KEPT];		/* change[b % KEPT]: the changes of batch b; unused if there is only
				 * one share */
	bool nomem;

	/* guarded by load->lock */
	bool busy;		/* true: a thread processes the share */
	uint32_t done;		/* number of batches that are done */
} __attribute__((aligned(64)));	/* no cache line belongs to two shares */

/* A sweep.  During the sweep only the shares and the members guarded by `lock` change. */
struct load {
	struct balance_count *c;
	const struct balance_net *net;
	struct balance_sweep *w;
	const struct balance_ports *ports;
	uint32_t target;
	ftr_sw *over;		/* [n_over] switches with a link that was above the target at the
				 * start of the sweep */
	uint32_t n_over;
	struct near_groups of_shape, of_full;	/* the port groups of in->shape and in->full */
	struct share *share;
	uint32_t n_shares;
	uint32_t share_dests;	/* number of destinations of a share in a batch */
	uint32_t n_batches;
	pthread_mutex_t lock;
	pthread_cond_t batch_done, sweep_done;
	/* guarded by lock */
	uint32_t n_helpers;	/* number of threads in sweep_shares(), except the calling thread */
	bool stop;		/* true: the sweep was cancelled, or is out of memory */
};

/* Examine and change the entries for destination d (an index in net->dest).  Returns false if out
 * of memory. */
bool load_sweep_dest(struct share *z, uint32_t d);

#endif
