/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The channel dependency graph of tables that change while packets are in flight.
 *
 * ftr_check_tables checks tables that do not change.  This graph is maintained over a sequence
 * of changes.  Before an entry is written, it shows whether any intermediate state may contain
 * a cycle (Dally and Seitz 1987).  Dependencies that no packet can cause any longer are
 * dropped.  The module shares no code with the engines.
 *
 * Vertex	A VL of a directed switch-to-switch link, (link, VL).
 * Edge		v -> w: a packet for some LID may hold v and wait for w.
 * Drain		A LID is drained when no packet that follows an older entry for it
 *		can be under way any longer.
 * Occupied	A link is occupied for a LID if an entry led packets of some source onto
 *		it at the last drain of the LID or later.
 *
 * Every occupied link into a switch depends on the link onto which the present entry of the
 * switch leads.  During the writes of a step, it depends on the links of both the old and the
 * new entry.  When the entries no longer cause a dependency, it still stays in the graph until
 * the LID is drained.  So for a LID that changed, the graph contains the dependencies of all
 * entries that packets may still follow.  It does not contain combinations of entries that never
 * existed: once the new value of an entry is acknowledged, no later packet follows the old one.
 *
 * The entries whose dependencies the graph contains for a LID:
 *
 *	drain	       change	   change     drain
 *	 |-------------|-----------|----------|
 *	 the entries   + the entries of all   only the
 *	 at the drain  steps since then       current entries
 *
 * Packets have the SLs of a given set, the same for every source, and use the VLs
 * that SL2VL gives.  The vertices of a link that is down lie on no cycle: a packet for such a
 * link is dropped and waits for nothing.
 *
 * Memory: mainly 1 byte and (number of SLs * number of VLs) bits per (switch, LID), and 4 bytes
 * for each pair of a vertex into a switch and a vertex out of it.
 * Cycles are found with an incrementally maintained topological order (Pearce and
 * Kelly 2006, "A dynamic topological sort algorithm").
 *
 * Not thread safe: one thread at a time.
 */
#ifndef FTR_CDG_H
#define FTR_CDG_H

#include <ftr/check.h>
#include <ftr/fabric.h>
#include <ftr/tables.h>
#include <ftr/team.h>
#include <ftr/vl.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ftr_cdg;

struct ftr_cdg_opts {
	const struct ftr_sl2vl *sl2vl;	/* is copied; NULL: VL = SL */
	uint16_t sls;		/* set of SLs in use, one bit per SL; 0 means SL 0 only */
	bool switch_sources;	/* true: switches send packets, too, not only host ports */
	struct ftr_team *team;	/* for ftr_cdg_new; NULL: the calling thread alone */
	/* Called from time to time by ftr_cdg_new in the calling thread.  If it returns
	 * true, ftr_cdg_new fails with FTR_REFUSED.  NULL: not called. */
	bool (*stop)(void *ctx);
	void *stop_ctx;
};

struct ftr_cdg_write {		/* the entry of sw (for a given LID) becomes port */
	ftr_sw sw;
	ftr_port port;		/* FTR_PORT_NONE: no route */
	uint8_t step;		/* writes with the same step may be sent in any order */
};

/*
 * Make the graph of t over f.  f must outlive the graph; t is copied.  opts NULL: all members
 * 0.  FTR_REFUSED: the graph has a cycle (a forwarding loop is a cycle), or opts->stop
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

/* The current entries, with all changes applied. */
const struct ftr_tables *ftr_cdg_tables(const struct ftr_cdg *g);

/*
 * Change entries of one LID.  w[0 .. n-1] are sorted by ascending step, with each switch at most
 * once per step.  The writes of a step may reach the switches in any order.
 *
 * If an intermediate state has a cycle, nothing is changed and *closes is true.  The states
 * include the dependencies of LIDs that are not drained.  Otherwise the change is made and
 * *closes is false.  FTR_NOMEM; FTR_INVAL: a LID, switch or port that does not exist, or steps
 * that do not ascend.  On an error, nothing is changed.
 * The call takes O(entries on the new paths), which is at most O(n_sw).  It also takes the time to
 * search the part of the topological order that the new edges change.
 */
enum ftr_status ftr_cdg_change(struct ftr_cdg *g, ftr_lid lid,
			       const struct ftr_cdg_write *w, uint32_t n,
			       bool *closes, struct ftr_err *err) FTR_MUST_USE;

/* Record that lid (ftr_cdg_drain_all: every LID) is drained: all packets for it that followed older
 * entries have arrived or were dropped.  Dependencies that the current entries do not cause are
 * removed.  O(n_sw) per LID that was not drained. */
void ftr_cdg_drain(struct ftr_cdg *g, ftr_lid lid);
void ftr_cdg_drain_all(struct ftr_cdg *g);
/* Number of LIDs that are not drained.  Since the last drain of such a LID, an entry for it was
 * changed, or a link went down onto which an entry for it leads. */
uint32_t ftr_cdg_undrained(const struct ftr_cdg *g);

/* The link at that port goes down, in both directions.  No effect if it is down
 * already, or if the port has no link to a switch.  FTR_NOMEM: the link stays up. */
enum ftr_status ftr_cdg_link_down(struct ftr_cdg *g, ftr_sw s, ftr_port port,
				  struct ftr_err *err) FTR_MUST_USE;
bool ftr_cdg_link_is_down(const struct ftr_cdg *g, ftr_sw s, ftr_port port);
/*
 * The link comes up, and packets follow the entries that lead onto it again.  If these entries
 * would close a cycle, *closes is true and the link stays down; the caller must change the
 * entries first.  No effect if the link is not down, or if the port has no link to a switch.
 * FTR_REFUSED: some LID is not drained; FTR_NOMEM.
 */
enum ftr_status ftr_cdg_link_up(struct ftr_cdg *g, ftr_sw s, ftr_port port,
				bool *closes, struct ftr_err *err) FTR_MUST_USE;

/* True if the link out of that port is occupied for lid. */
bool ftr_cdg_occupied(const struct ftr_cdg *g, ftr_sw s, ftr_port port,
		      ftr_lid lid);

struct ftr_cdg_packet {		/* a packet for lid, which leaves switch sw by port */
	ftr_sw sw;
	ftr_lid lid;
	ftr_port port;
};
#define FTR_CDG_PREFETCH_MAX 16
/*
 * Load the data into the CPU caches that ftr_cdg_change will read when it makes these packets leave
 * these switches by these ports.  The paths of the n <= FTR_CDG_PREFETCH_MAX packets are followed
 * hop by hop together, so that the processor waits for the data of all of them at the same time.
 * No result of any function depends on this call.  A port without a link to a switch is ignored.
 */
void ftr_cdg_prefetch(const struct ftr_cdg *g, const struct ftr_cdg_packet *packet,
		      unsigned int n);

/*
 * Returns false if, by the current entries, no packet for lid from a source of the graph passes s.
 * Returns true if this is not known, for example because an entry for lid was changed since the
 * last drain of lid.  s and lid must be a switch and a LID of the fabric.  O(1).
 */
bool ftr_cdg_may_pass(const struct ftr_cdg *g, ftr_sw s, ftr_lid lid);

#ifdef __cplusplus
}
#endif
#endif
