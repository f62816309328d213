/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The checker: walks tables over a fabric and proves or refutes.
 *
 * It shares no code with the engines and trusts nothing that they say; ranks
 * are taken as a CLAIM whose every use is verified entry by entry.
 *
 * What is walked: for every LID of the fabric and every switch, the path that
 * a packet takes which stands at that switch.  A path ends well when it leaves
 * the last switch by the very port behind which the LID's owner sits (or by
 * port 0 at the switch that owns it).  Everything else is a finding:
 *
 *	hole		FTR_PORT_NONE before the destination
 *	dead port	an entry that names a port without a cable or beyond the
 *			switch, or port 0 at a switch that does not own the LID
 *	wrong end	delivery to an end port that does not own the LID
 *	loop		the path comes back to a switch
 *
 * Pairs are counted per (class of source, class of destination), where a
 * source is an end port (host) or a switch, a destination is a LID of an end
 * port or of a switch, and a source does not count towards its own LIDs.  A
 * switch counts towards the hosts it carries, and so do hosts of one switch.
 * All 2^lmc LIDs of a port are destinations of their own.  An end port without
 * a LID or without a cable is no source; if it owns LIDs without a cable they
 * are destinations that nobody reaches.  Entries for LIDs that nobody owns
 * are ignored.
 *
 * Credit loops: the channel dependency graph has one vertex per directed
 * switch-to-switch link and an edge a->b when some packet may hold a and wait
 * for b (Dally and Seitz 1987).  With sources = end ports only, dependencies
 * arise only along paths that start at a switch with a host; with sources =
 * all switches, along every path.  A path that ends badly counts as far as it
 * goes (a loop goes round: it is a cycle).  If every entry that is walked moves
 * up or down by the claimed rank and none turns up after down, the graph is
 * acyclic (seed 002, section 4.1; links ordered by up-then-down), and that
 * proof stands for the graph; a hop between equal ranks breaks it.  Turns that
 * are claimed besides may be used, too, if the relation of all turns up-then-
 * down, except those back to the same switch, together with the claimed ones
 * has no cycle, which is verified; if it has one, the claims are void.  Otherwise
 * the graph is built and searched, and one shortest cycle is reported, its lowest
 * channel first.  Only in a huge graph without short cycles (2^27 edges looked
 * at) the search is cut off and the shortest found so far stands.
 *
 * Lanes: without sl2vl and path_sl in the options all packets share one lane.
 * With either, a vertex is a (link, VL): a packet has the SL that path_sl tells
 * for its source and LID (0 where it tells none, which is counted), and takes
 * out of each switch the VL that sl2vl tells (without sl2vl: the VL of the SL's
 * number).  Where it is mapped to VL 15 it is dropped: counted, and no
 * finding of the walk, which looks at no lane.
 */
#ifndef FTR_CHECK_H
#define FTR_CHECK_H

#include <ftr/fabric.h>
#include <ftr/tables.h>
#include <ftr/team.h>
#include <ftr/vl.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ftr_check_class {
	FTR_CHECK_HOST_HOST = 0,
	FTR_CHECK_HOST_SW,
	FTR_CHECK_SW_HOST,
	FTR_CHECK_SW_SW,
	FTR_N_CHECK_CLASSES
};

enum ftr_finding {
	FTR_FIND_MISSING = 0,
	FTR_FIND_DEAD_PORT,
	FTR_FIND_WRONG_END,
	FTR_FIND_LOOP,
	FTR_FIND_TURN,		/* up after down by the claimed ranks, not
				 * claimed itself */
	FTR_N_FINDINGS
};
/* "a loop", "a missing entry", ...: for a sentence. */
const char *ftr_finding_name(enum ftr_finding what);

enum ftr_cdg_verdict {
	FTR_CDG_NOT_CHECKED = 0,	/* never silently: the report says so */
	FTR_CDG_PROVED,		/* acyclic: every entry goes up, then down */
	FTR_CDG_ACYCLIC,	/* the graph was built and has no cycle */
	FTR_CDG_CYCLE
};

struct ftr_check_opts {
	const uint8_t *rank;	/* [n_sw] claimed ranks, NULL: none claimed */
	/* claimed besides: these turns, in any order */
	const struct ftr_turn *turn;
	uint32_t n_turns;
	bool switch_sources;	/* credit loops: switches send too */
	bool no_cdg;		/* do not look for credit loops */
	const struct ftr_sl2vl *sl2vl;	/* NULL: see "Lanes" */
	const struct ftr_path_sl *path_sl;
};

/* Where something was found first: least LID, then least from. */
struct ftr_check_sample {
	ftr_sw from;		/* switch at which the walk started */
	ftr_sw at;		/* switch of the faulty entry; of a loop the
				 * switch that is met twice */
	ftr_lid lid;
};

struct ftr_channel {		/* a directed switch-to-switch link */
	ftr_sw sw;
	ftr_port port;
	uint8_t vl;		/* 0 if all packets share one lane */
};

#define FTR_CYCLE_MAX 64

struct ftr_check_report {
	uint64_t pairs[FTR_N_CHECK_CLASSES];
	uint64_t bad[FTR_N_CHECK_CLASSES];	/* pairs that do not arrive */
	/* (switch, LID) walks that end in each finding, a switch's own LID
	 * included; TURN: entries that go up for a LID that some other switch
	 * hands down to them, by the claimed ranks and from any switch (a turn
	 * that no source walks leaves the proof alone) */
	uint64_t found[FTR_N_FINDINGS];
	struct ftr_check_sample sample[FTR_N_FINDINGS];	/* if found[] > 0 */
	/* walks that do not arrive for anything but a clean hole: a table
	 * with these is never pushed */
	uint64_t harmful;
	uint32_t max_hops;	/* switch-to-switch hops of the longest good walk */
	enum ftr_cdg_verdict cdg;
	/* channels in cycle[], 0 unless FTR_CDG_CYCLE; a longer cycle is cut
	 * at FTR_CYCLE_MAX */
	uint32_t cycle_len;
	struct ftr_channel cycle[FTR_CYCLE_MAX];
	/* lanes of a link in the graph; 0: one for all, or graph not built */
	uint32_t n_vls;
	/* counted while the graph is built, so 0 if the proof stands: */
	uint64_t no_sl;		/* (source, LID) without an SL in path_sl */
	uint64_t vl_drops;	/* (switch, in port, SL, LID) mapped to VL 15;
				 * once for each packet that starts there */
	struct ftr_check_sample vl_drop;	/* the first; from == at */
};

/*
 * Check t over f.  Fails only for lack of memory, when t is not of f's size
 * (FTR_INVAL) or f has more than 65,530 switches (FTR_LIMIT); findings are no
 * failure.  opts NULL = all zero, team NULL = this thread.  Deterministic for
 * any team.  O(n_sw * LIDs) for the walk, the same again for the graph if the
 * proof does not stand.
 */
enum ftr_status ftr_check_tables(const struct ftr_fabric *f,
				 const struct ftr_tables *t,
				 const struct ftr_check_opts *opts,
				 struct ftr_team *team,
				 struct ftr_check_report *out,
				 struct ftr_err *err) FTR_MUST_USE;

/*
 * What changed between two states of tables on a fabric that lost and regained
 * cables, to be judged with work that grows with the changes only.
 *
 * f is the fabric as it was snapped; cables that are dead now have their bits
 * set, and cables that are alive though f lacks them are told.
 */
struct ftr_check_delta {
	/* bit f->sw[s].first_port + p: the cable there is dead; both ends are
	 * set.  NULL: none is */
	const uint64_t *dead;
	const struct ftr_link *extra;	/* alive, but not in f */
	uint32_t n_extra;
	const struct ftr_link *gone;	/* died by this change */
	uint32_t n_gone;
	const struct ftr_change *change;	/* by (switch, LID) */
	uint32_t n_changes;
	const uint8_t *rank;	/* [n_sw] claimed ranks */
	const struct ftr_turn *turn;	/* and turns, as in ftr_check_opts */
	uint32_t n_turns;
	/* the order of writes, NULL: none is claimed.  Stages from first_drain
	 * on are written after what came before has drained */
	const uint16_t *write_step;	/* [n_changes] */
	uint32_t first_drain;
};

struct ftr_delta_report {
	/* walks from changed entries over the new tables that end in each
	 * finding; TURN: entries that go up and are entered from above */
	uint64_t found[FTR_N_FINDINGS];
	struct ftr_check_sample sample[FTR_N_FINDINGS];	/* if found[] > 0 */
	uint64_t harmful;	/* as in ftr_check_report, of these walks */
	uint32_t max_hops;	/* of the longest good one */
	/* entries of the new tables that name a port of a cable in gone, and
	 * changes whose `after` is not in the tables */
	uint64_t missed;
	/* entries that did not change and lead to a switch that has become a
	 * hole */
	uint64_t stranded;
	/* (switch from above, switch that goes up), one of them by its old and
	 * one by its new entry, over live cables: dependencies that neither of
	 * the two tables has.  Those that cannot meet in the order of writes
	 * are not counted */
	uint64_t mixed;
	struct ftr_check_sample mixed_at;	/* the first, if any */
	/* entries that are not written after the next change on their path */
	uint64_t early;
	/* No turns but claimed ones, no hop between equal ranks, nothing mixed:
	 * if that holds for the old tables with the same claims, the channel dependencies of both together have
	 * no cycle (seed 002, section 4.1) */
	bool proved;
};

/*
 * Judge t, the new tables.  The old ones, without the changes, are taken to
 * have been judged before.  Then no finding but holes, nothing missed and
 * nothing stranded means that t is as harmless on the fabric as it is now as
 * the old tables were on the fabric as it was: every path that a change
 * touches runs into a changed entry, and from there it was walked.
 * Errors: FTR_INVAL: t is not of f's size, or the changes are not of it or not
 * in order; FTR_NOMEM.  The report is the same for any team.
 * O(changes * (path + ports of holes) + cables gone * LIDs + n_sw).
 */
enum ftr_status ftr_check_changes(const struct ftr_fabric *f,
				  const struct ftr_tables *t,
				  const struct ftr_check_delta *delta,
				  struct ftr_team *team,
				  struct ftr_delta_report *out,
				  struct ftr_err *err) FTR_MUST_USE;

/*
 * hist[h]: pairs (end port, LID of another end port) whose path crosses h
 * cables between switches; the last place holds all that are longer.  Pairs
 * that do not arrive are in none.  FTR_INVAL for tables not of f's size.
 * O(n_sw * LIDs), one thread.
 */
#define FTR_HOPS_MAX 64
enum ftr_status ftr_check_hops(const struct ftr_fabric *f,
			       const struct ftr_tables *t,
			       uint64_t hist[FTR_HOPS_MAX],
			       struct ftr_err *err) FTR_MUST_USE;

/*
 * Name every path that does not arrive: fn(ctx, s, lid) for each LID that
 * somebody owns, ascending, and for each switch s, ascending, from which packets
 * for it do not arrive.  The same walks as ftr_check_tables counts in found[],
 * a switch's own LID included, and a LID whose owner has no link from every
 * switch.  FTR_INVAL for tables not of f's size.  O(n_sw * LIDs).
 */
typedef void (*ftr_lost_fn)(void *ctx, ftr_sw s, ftr_lid lid);
enum ftr_status ftr_check_lost(const struct ftr_fabric *f,
			       const struct ftr_tables *t, ftr_lost_fn fn,
			       void *ctx, struct ftr_err *err) FTR_MUST_USE;

/* part[n_sw]: the lowest switch that links connect with the switch, itself
 * included; equal for two switches if and only if a physical path connects
 * them.  O(ports). */
void ftr_check_parts(const struct ftr_fabric *f, uint32_t *part);

#ifdef __cplusplus
}
#endif
#endif
