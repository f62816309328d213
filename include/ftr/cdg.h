/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The channel dependency graph of tables that change while packets fly.
 *
 * ftr_check_tables judges tables at rest.  This graph is kept over a sequence
 * of changes: it answers, before an entry is written, whether any state on the
 * way may hold a cycle (Dally and Seitz 1987), and forgets what no packet can
 * follow any more.  It shares no code with the engines.
 *
 * Vertex	a lane of a directed switch-to-switch link, (link, VL).
 * Edge		v -> w: a packet for some LID may hold v and wait for w.  Every
 *		edge counts the LIDs that cause it.
 *
 * A link is occupied for a LID from the moment that an entry leads packets of
 * some source onto it until it is known to be drained.  At each switch, every
 * link that is occupied then depends on the entry that is in force then; while
 * the writes of one step are under way, both the old and the new entry are.
 * What was in the graph stays in it until the LID is drained.  So, for the LIDs
 * that changed, the graph is the union of all that packets may still follow,
 * and not of combinations that never were: an entry that was acknowledged to be
 * replaced takes no packet that comes later.
 *
 *	new	    change	change	    drain
 *	 |-------------|-----------|----------|
 *	 base entries  + union of the steps   base = the entries now
 *
 * Packets have the SLs of a given set, from every source alike, and take the
 * lanes that SL2VL says.  A cable that is down carries nothing: its vertices
 * lie on no cycle, for a packet that is to leave by a port without a link is
 * dropped and waits for nothing.
 *
 * Cost: memory 1 byte per (switch, LID) twice, by row and by column, thrice for
 * LIDs that are not drained; 4 bytes per pair of lanes that meet in a switch.
 * Cycles are found by an order of the vertices that is kept up (Pearce and Kelly
 * 2006, "A dynamic topological sort algorithm").
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
	const struct ftr_sl2vl *sl2vl;	/* NULL: VL = SL; copied */
	uint16_t sls;		/* set of SLs in use, bit per SL; 0: SL 0 */
	bool switch_sources;	/* switches send, too; else end ports only */
	/* Asked now and then while the graph is made, by the same thread: true
	 * gives up, FTR_REFUSED.  NULL: never. */
	bool (*stop)(void *ctx);
	void *stop_ctx;
};

struct ftr_cdg_write {		/* entry of (sw, the LID) becomes port */
	ftr_sw sw;
	ftr_port port;		/* FTR_PORT_NONE: none */
	uint8_t step;		/* writes of equal step go in any order */
};

/*
 * The graph of t over f, which must outlive it; t is copied.  opts NULL: all
 * zero.  FTR_REFUSED: t has a cycle (a forwarding loop is one); FTR_INVAL: t or
 * the SL2VL tables are not of f's size.  O(n_sw * LIDs).
 */
enum ftr_status ftr_cdg_new(const struct ftr_fabric *f,
			    const struct ftr_tables *t,
			    const struct ftr_cdg_opts *opts,
			    struct ftr_cdg **out,
			    struct ftr_err *err) FTR_MUST_USE;
void ftr_cdg_free(struct ftr_cdg *g);	/* NULL is accepted */

/* The entries now, all changes applied. */
const struct ftr_tables *ftr_cdg_tables(const struct ftr_cdg *g);
/* Those of one LID, by switch. */
const uint8_t *ftr_cdg_column(const struct ftr_cdg *g, ftr_lid lid);

/*
 * Change entries of one LID: w[0 .. n-1] by ascending step, a switch at most
 * once a step.  If no state on the way, in any order inside a step and with all
 * that is not drained, has a cycle: the change is made and *closes is false.
 * Otherwise nothing is changed and *closes is true.  On failure (FTR_NOMEM,
 * FTR_INVAL for a port beyond the switch) nothing is changed either.
 * O(entries passed by the new paths), O(n_sw) at worst, plus the search of the
 * part of the order that is affected.
 */
enum ftr_status ftr_cdg_change(struct ftr_cdg *g, ftr_lid lid,
			       const struct ftr_cdg_write *w, uint32_t n,
			       bool *closes, struct ftr_err *err) FTR_MUST_USE;

/* All packets that were under way for lid (all LIDs) have arrived or are gone:
 * drop what the entries now do not cause.  O(n_sw) per LID that changed. */
void ftr_cdg_drain(struct ftr_cdg *g, ftr_lid lid);
void ftr_cdg_drain_all(struct ftr_cdg *g);
/* LIDs that wait for it. */
uint32_t ftr_cdg_undrained(const struct ftr_cdg *g);

/* The cable at that port, in both directions.  Down twice, or a port without a
 * cable to a switch, is nothing. */
enum ftr_status ftr_cdg_link_down(struct ftr_cdg *g, ftr_sw s, ftr_port port,
				  struct ftr_err *err) FTR_MUST_USE;
bool ftr_cdg_link_is_down(const struct ftr_cdg *g, ftr_sw s, ftr_port port);
/*
 * It comes back, and the entries that lead onto it are taken again.  If that
 * would close a cycle, *closes is true and the cable stays down: change those
 * entries first.  FTR_REFUSED while LIDs are not drained.
 */
enum ftr_status ftr_cdg_link_up(struct ftr_cdg *g, ftr_sw s, ftr_port port,
				bool *closes, struct ftr_err *err) FTR_MUST_USE;

/* May packets for lid, by the entries at the last drain or by later changes,
 * be on the link out of that port? */
bool ftr_cdg_occupied(const struct ftr_cdg *g, ftr_sw s, ftr_port port,
		      ftr_lid lid);

/* LIDs (times SLs) that cause the edge from channel a to channel b, which
 * leaves where a arrives; 0: there is no such edge. */
uint32_t ftr_cdg_edge(const struct ftr_cdg *g, struct ftr_channel a,
		      struct ftr_channel b);

#ifdef __cplusplus
}
#endif
#endif
