/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The channel dependency graph of tables that change while packets are in flight.
 *
 * ftr_check_tables checks tables that do not change.  This graph is maintained over a sequence
 * of changes.  Before entries are written, it shows whether the dependencies may form a cycle
 * (Dally and Seitz 1987) at any time during the writes.  Dependencies that no packet can cause any
 * longer are removed.  The module shares no code with the engines.
 *
 * Vertex	(link, VL): a VL of a link from one switch to another, in this direction.
 * Edge		v -> w: a packet for some LID may hold v and wait for w.
 * Drain		A LID is drained when all packets for it that were sent before the last
 *		change of an entry for the LID have left the fabric.
 * Occupied	A link is occupied for a LID if packets from some source to the LID may have
 *		been sent over it since the last drain of the LID.
 *
 * For each LID and each switch, every occupied link that ends at the switch has an edge to the link
 * of the switch's entry for the LID.  While an entry is being written, there are edges
 * to the links of both its old and its new value.  The edges of an old value stay in the graph
 * until the LID is drained, because packets may still follow it.  A link that becomes occupied
 * after a write gets no edge to the link of the old value, because no later packet follows this
 * value.
 *
 * Packets have the SLs of a given set, the same for every source, and use the VLs
 * that SL2VL gives.  The vertices of a link that is down lie on no cycle: a packet for such a
 * link is dropped and waits for nothing.
 *
 * Memory: for each (switch, LID), 1 byte and ((number of SLs + 1) * number of VLs) bits.  For each
 * switch, 4 bytes * (number of vertices into it) * (number of vertices out of it).
 *
 * To find cycles, the module maintains a topological order of the vertices (Pearce and
 * Kelly 2006, "A dynamic topological sort algorithm").
 *
 * Not thread safe: one thread at a time.
 */
#ifndef FTR_CDG_H
#define FTR_CDG_H

#include <ftr/check.h>
#include <ftr/fabric.h>
#include <ftr/tables.h>
#include <ftr/vl.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ftr_cdg;

struct ftr_cdg_opts {
	const struct ftr_sl2vl *sl2vl;	/* is copied; NULL: VL = SL */
	uint16_t sls;		/* set of SLs in use, one bit per SL; 0 means SL 0 only */
	bool switch_sources;	/* true: switches send packets, too, not only host ports */
	/* Called from time to time by ftr_cdg_new in the calling thread.  If it returns
	 * true, ftr_cdg_new fails with FTR_REFUSED.  NULL: not called. */
	bool (*stop)(void *ctx);
	void *stop_ctx;
};

/*
 * Make the graph of t over f.  Entries for LIDs without an owner count, too: hosts may still send
 * packets to a port that is gone.  f must outlive the graph; t is copied.  If opts is NULL, all
 * options are 0.  FTR_REFUSED: the graph has a cycle (every forwarding loop is one), or opts->stop
 * returned true.  FTR_INVAL: t or the SL2VL tables do not fit f.  FTR_LIMIT: there are more
 * than 2^32 - 1 pairs (vertex into a switch, vertex out of this switch).  FTR_NOMEM.
 * O(n_sw * LIDs) for each SL.
 */
enum ftr_status ftr_cdg_new(const struct ftr_fabric *f,
			    const struct ftr_tables *t,
			    const struct ftr_cdg_opts *opts,
			    struct ftr_cdg **out,
			    struct ftr_err *err) FTR_MUST_USE;
void ftr_cdg_free(struct ftr_cdg *g);	/* NULL is accepted */

/* The present entries: those given to ftr_cdg_new, with all changes since then. */
const struct ftr_tables *ftr_cdg_tables(const struct ftr_cdg *g);

/*
 * Change entries for one LID: w[i].sw gets the port w[i].after (before and lid are not used).  w[0
 * .. n-1] are sorted by ascending step, with each switch at most once per step.  The writes of a
 * step may reach the switches in any order.
 *
 * If the graph would have a cycle in some intermediate state, nothing is changed and *closes is
 * true.  (The graph includes older entries that packets may still follow.)  Otherwise the change
 * is made and *closes is false.  FTR_NOMEM; FTR_INVAL: a LID, switch or port that does not exist,
 * or steps that do not ascend.  On an error, nothing is changed.
 * O(entries on the new paths), at most O(n_sw); in addition, a search in the part of the
 * topological order that the new edges change.
 */
enum ftr_status ftr_cdg_change(struct ftr_cdg *g, ftr_lid lid,
			       const struct ftr_change *w, uint32_t n,
			       bool *closes, struct ftr_err *err) FTR_MUST_USE;

/*
 * Change the entries of whole tables to those of `to`, as by ftr_cdg_change for each LID.  step:
 * [n_sw * to->stride], the steps of the entries, as in <ftr/transition.h>; entries with
 * FTR_TRANSITION_NONE or FTR_TRANSITION_NEVER do not change.  `to` has the size of the present
 * tables.  *closes: the graph would have a cycle in some intermediate state; it then has the changes
 * of some LIDs only.  FTR_NOMEM; FTR_INVAL: a port that does not exist.
 * O(n_sw * LIDs / 64 + entries on the new paths), and the searches of ftr_cdg_change.
 */
enum ftr_status ftr_cdg_steps(struct ftr_cdg *g, const struct ftr_tables *to, const uint8_t *step,
			      bool *closes, struct ftr_err *err) FTR_MUST_USE;

/* Record that all LIDs are drained: all packets that followed older entries have arrived or were
 * dropped.  Edges that do not follow from the current entries are removed.  O(n_sw) per LID that was
 * not drained. */
void ftr_cdg_drain_all(struct ftr_cdg *g);
/* Number of LIDs that are not drained.  A LID is no longer drained when an entry for it is changed,
 * or when an entry for it leads onto a link that goes down. */
uint32_t ftr_cdg_undrained(const struct ftr_cdg *g);

/* Record that the link at this port of s goes down, in both directions.  No effect if it is down
 * already, or if the port has no link to a switch.  FTR_NOMEM: the link stays up. */
enum ftr_status ftr_cdg_link_down(struct ftr_cdg *g, ftr_sw s, ftr_port port,
				  struct ftr_err *err) FTR_MUST_USE;
bool ftr_cdg_link_is_down(const struct ftr_cdg *g, ftr_sw s, ftr_port port);
/*
 * Returns false if it is known that no packet to lid passes through s by the current entries.
 * Returns true in all other cases, for example if an entry for lid was changed since the last drain
 * of lid.  s and lid must be a switch and a LID of the fabric.  O(1).
 */
bool ftr_cdg_may_pass(const struct ftr_cdg *g, ftr_sw s, ftr_lid lid);

#ifdef __cplusplus
}
#endif
#endif
