/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Follows forwarding tables from switch to switch, and looks for credit loops.  It shares no code
 * with the engines and the checker.
 *
 *	w = follow_new(f, usable)
 *	follow_tables(w, lft, row)		any number of times
 *	for each LID: follow_begin(w, lid), and then follow(w, s) for switches s
 *	follow_waiting(w)			for the packets that have been followed
 *
 * When entries change, only their LIDs have to be followed again.  With a packet lifetime
 * (follow_time), packets that followed older entries count until their lifetime is over: they hold
 * the channels that they could have reached by any sequence of the tables since they were sent, and
 * they wait for the channels of these tables.  This is the worst case: a switch may have looked up the
 * next port of a waiting packet at any time.
 */
#ifndef FTR_TEST_FOLLOW_H
#define FTR_TEST_FOLLOW_H

#include <ftr/ftr.h>

enum follow_fate {
	FOLLOW_UNKNOWN = 0,
	FOLLOW_ARRIVES,
	FOLLOW_NO_ENTRY,	/* a switch has no entry for the LID (FTR_PORT_NONE) */
	FOLLOW_LOST,		/* an entry leads to a wrong host, to a port without a usable link, or
				 * to port 0 of a switch that does not own the LID */
	FOLLOW_LOOP,
	FOLLOW_N_FATES
};

struct follow;

/* usable: [n_ports] 1: the link at this port can be used; NULL: all links can be used.  The array is
 * read at every call. */
struct follow *follow_new(const struct ftr_fabric *f, const uint8_t *usable);
void follow_free(struct follow *w);

/* Begin with other tables: the entry of switch s for LID d is lft[s * row + d].  Forgets all packets
 * that have been followed.  The islands are found again.  The tables are read at every call of
 * follow(). */
void follow_tables(struct follow *w, const uint8_t *lft, size_t row);

/* The time is now_ms, and a packet leaves the fabric within life_ms.  If this is not called, packets
 * that followed older entries do not count. */
void follow_time(struct follow *w, double now_ms, double life_ms);

/* Links have changed.  Packets on links that cannot be used have been dropped.  All LIDs must be followed
 * again. */
void follow_links(struct follow *w);

/* True if usable links connect switches s and t. */
bool follow_joined(const struct follow *w, ftr_sw s, ftr_sw t);

/* From now on packets are sent to this LID, and no new packets to it follow older entries. */
void follow_begin(struct follow *w, ftr_lid lid);
/* Follow a packet that switch s receives from a host, or sends. */
enum follow_fate follow(struct follow *w, ftr_sw s);

/* The number of channels (directed links between switches) in or behind cycles of the channel
 * dependency graph, if all packets share one VL (Dally and Seitz 1987).  0: there is no cycle. */
uint32_t follow_waiting(struct follow *w);
/* Sets arrives[LID * n_sw + switch] to 1 for the packets to a host that tables t bring to it over the links
 * that are up in lv (fabric: f).  hosts: only switches with hosts send; false: all.  Returns
 * follow_waiting(). */
uint32_t follow_all(const struct ftr_incr *lv, const struct ftr_fabric *f, const struct ftr_tables *t,
		    bool hosts, uint8_t *arrives);
/* Print one of these cycles, backwards, with the LIDs of the packets. */
void follow_print_cycle(struct follow *w);

#endif
