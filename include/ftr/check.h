/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The checker: follows the paths of forwarding tables and reports whether they
 * arrive and whether they are free of credit loops.
 *
 * It shares no code with the engines and trusts none of their results.  Ranks are
 * claims: where the checker uses ranks, it verifies them entry by entry.
 *
 * Paths.  For every LID of the fabric and every switch, the checker walks the path
 * of a packet that starts at that switch.  A path is good if it leaves the last
 * switch through the port to which the owner of the LID is connected, or through
 * port 0 of the switch that owns the LID.  Everything else is a finding:
 *
 *	missing entry	an entry FTR_PORT_NONE on the path
 *	dead port	an entry that names a port without a link, a port that the
 *			switch does not have, or port 0 of a switch that does not
 *			own the LID
 *	wrong end	delivery to a host port that does not own the LID
 *	loop		the path returns to a switch that it has already visited
 *
 * Turns.  An entry makes a turn if it leads up, by the claimed ranks, and the entry of another
 * switch for the same LID leads down to its switch.  A turn is a finding unless it is claimed,
 * even if no source's path takes it.
 *
 * Pairs (source, destination) are counted for each class of source and of destination.  A source
 * is a host port (class "host") or a switch.  A destination is a LID of a host port or of a
 * switch; all 2^lmc LIDs of a port are separate destinations.
 *
 *  - A source and its own LIDs are not pairs.
 *  - A switch and its own hosts are pairs, and so are hosts on one switch.
 *  - A host port without a LID or without a link is not a source.
 *  - The LIDs of a host port without a link are unreachable destinations.
 *  - Entries for LIDs without an owner are ignored.
 *
 * Credit loops.  The channel dependency graph has one vertex per directed switch-to-switch
 * link.  It has an edge a->b if some packet may hold a and wait for b (Dally and Seitz 1987).
 * If only host ports are sources, dependencies arise only along paths that start at a switch
 * with a host.  If all switches are sources, they arise along every path.  A path that does not
 * arrive causes dependencies up to the point where it ends.  A forwarding loop is a cycle of
 * the graph.
 *
 * The proof.  If every entry on a path leads up or down by the claimed rank, and no path makes a
 * turn, the graph is acyclic (Gliksberg et al. 2020, section 4.1: upward links come before
 * downward ones).  The graph is then not built.  If no turns are claimed, a hop between equal
 * ranks invalidates the proof.
 * Paths may also make claimed turns.  The checker first verifies that the claimed turns form no
 * cycle together with the turns that up/down routing by rank makes, without those back to the
 * same switch.  If they form a cycle, the claimed turns are not used.
 *
 * Without the proof the graph is built and searched.  One shortest cycle is
 * reported, starting with its lowest channel by (switch, port, VL).  In a very large graph
 * without short cycles the search stops after 2^27 edges.  It then reports the shortest cycle
 * that it has found.
 *
 * VLs.  Without sl2vl and path_sl in the options, all packets share one VL.  With
 * either of them, a vertex is a (link, VL).  A packet has the SL that path_sl gives for its
 * source and LID.  If path_sl gives none, the packet has SL 0 and is counted in no_sl.  Without
 * path_sl, all packets have SL 0.  At each switch a packet leaves on the VL that sl2vl gives;
 * without sl2vl, the VL has the number of the SL.  A packet that is mapped to VL 15 is
 * dropped and counted in vl_drops.  The findings above ignore VLs.
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
	FTR_FIND_TURN,		/* a turn that is not claimed */
	FTR_N_FINDINGS
};
/* The name of a finding for use in a sentence: "a loop", "a missing entry", ... */
const char *ftr_finding_name(enum ftr_finding what);

enum ftr_cdg_verdict {
	FTR_CDG_NOT_CHECKED = 0,	/* no verdict; reports must say so */
	FTR_CDG_PROVED,		/* acyclic by the proof above; no graph was built */
	FTR_CDG_ACYCLIC,	/* the graph was built and has no cycle */
	FTR_CDG_CYCLE
};

struct ftr_check_opts {
	const uint8_t *rank;	/* [n_sw] claimed ranks, NULL: none claimed */
	/* additional claimed turns, in any order; not used if rank is NULL */
	const struct ftr_turn *turn;
	uint32_t n_turns;
	bool switch_sources;	/* true: the search for credit loops assumes that switches send
				 * packets, too */
	bool no_cdg;		/* true: do not look for credit loops */
	const struct ftr_sl2vl *sl2vl;	/* NULL: see "VLs" above */
	const struct ftr_path_sl *path_sl;
};

/* The first occurrence of a finding, by (LID, from). */
struct ftr_check_sample {
	ftr_sw from;		/* switch at which the walk started; FTR_FIND_TURN: the switch
				 * before the turn */
	ftr_sw at;		/* switch of the faulty entry; FTR_FIND_LOOP: the first
				 * switch that the path visits twice */
	ftr_lid lid;
};

struct ftr_channel {		/* a directed switch-to-switch link */
	ftr_sw sw;
	ftr_port port;
	uint8_t vl;		/* 0 if all packets share one VL */
};

#define FTR_CYCLE_MAX 64

struct ftr_check_report {
	uint64_t pairs[FTR_N_CHECK_CLASSES];
	uint64_t bad[FTR_N_CHECK_CLASSES];	/* number of pairs whose path does not arrive */
	/* Number of walks (switch, LID) that end in each finding, including walks to a switch's
	 * own LID.  FTR_FIND_TURN: number of entries that make a turn that is not claimed. */
	uint64_t found[FTR_N_FINDINGS];
	/* sample[i] is set if found[i] > 0 */
	struct ftr_check_sample sample[FTR_N_FINDINGS];
	/* number of walks that do not arrive, without those that end in a missing entry.
	 * Tables with such harmful walks are never written to switches */
	uint64_t harmful;
	uint32_t max_hops;	/* number of switch-to-switch hops of the longest good walk */
	enum ftr_cdg_verdict cdg;
	/* number of channels in cycle[]; only the first FTR_CYCLE_MAX channels of a cycle are
	 * stored and counted */
	uint32_t cycle_len;
	struct ftr_channel cycle[FTR_CYCLE_MAX];
	/* number of VLs of each link in the graph; 0: all packets share one VL, or
	 * the graph was not built */
	uint32_t n_vls;
	/* the members below are 0 if the graph was not built */
	uint64_t no_sl;		/* number of pairs (source, LID) without an SL in path_sl */
	/* number of different (switch, in port, SL, LID) whose packets are mapped to VL 15 */
	uint64_t vl_drops;
	struct ftr_check_sample vl_drop;	/* the first of these; from == at */
};

/*
 * Check t over f.  opts NULL: all members 0; team NULL: the calling thread.  The result is the
 * same for any team.  Findings are not errors.  Errors: FTR_NOMEM; FTR_INVAL: t has another
 * number of switches or another greatest LID than f, or opts->sl2vl or opts->path_sl does not fit
 * f; FTR_LIMIT: f has more than 65,530 switches.
 * O(n_sw * LIDs) for the walk, and the same again for the graph if it is built.
 */
enum ftr_status ftr_check_tables(const struct ftr_fabric *f,
				 const struct ftr_tables *t,
				 const struct ftr_check_opts *opts,
				 struct ftr_team *team,
				 struct ftr_check_report *out,
				 struct ftr_err *err) FTR_MUST_USE;

/*
 * Input for ftr_check_changes: the difference between two states of the tables, on
 * a fabric whose links went down or came up.  f is the argument of ftr_check_changes, an earlier
 * state of this fabric.
 */
struct ftr_check_delta {
	/* The links of f that are down now.  Bit f->sw[s].first_port + p: the link at port p of s
	 * is down; the bits of both ends are set.  NULL: none is down. */
	const uint64_t *dead;
	const struct ftr_link *extra;	/* links that are up now, but not in f */
	uint32_t n_extra;
	const struct ftr_link *gone;	/* links that went down with this change */
	uint32_t n_gone;
	const struct ftr_change *change;	/* sorted by (switch, LID), without duplicates */
	uint32_t n_changes;
	const uint8_t *rank;	/* [n_sw] claimed ranks; not NULL */
	const struct ftr_turn *turn;	/* claimed turns, as in ftr_check_opts */
	uint32_t n_turns;
	/* A horizontal link connects switches of the same rank.  true: the caller claims that the
	 * old and the new tables use horizontal links only in claimed turns.  false, and no turns
	 * are claimed: if a changed entry uses a horizontal link, `proved` is false. */
	bool horizontal;
	/* The step in which each change is written; NULL: any order.  Before each step from
	 * first_drain on, the caller waits until the packets in flight have arrived. */
	const uint16_t *write_step;	/* [n_changes] */
	uint32_t first_drain;
};

struct ftr_delta_report {
	/* Number of walks from changed entries over the new tables that end in each finding.
	 * FTR_FIND_TURN: number of entries that make a turn that is not claimed.  If turns are
	 * claimed, or if ftr_check_delta.horizontal is true, each pair of hops that up/down routing
	 * does not make counts as a turn. */
	uint64_t found[FTR_N_FINDINGS];
	/* sample[i] is set if found[i] > 0 */
	struct ftr_check_sample sample[FTR_N_FINDINGS];
	uint64_t harmful;	/* as in ftr_check_report, for these walks only */
	uint32_t max_hops;	/* number of hops of the longest of these walks that arrives */
	/* number of entries of the new tables that lead onto a link in `gone`, plus number of
	 * changes whose member `after` differs from the entry in the new tables */
	uint64_t missed;
	/* number of unchanged entries that lead to a switch whose entry was removed by this
	 * change */
	uint64_t stranded;
	/* Number of unclaimed turns between an old and a new entry, over links that are up.  Turns
	 * that cannot occur in the order of writes do not count. */
	uint64_t mixed;
	struct ftr_check_sample mixed_at;	/* the first of these turns, if mixed > 0 */
	/* Number of changed entries that are written before the next changed entry on their path,
	 * or in the same step.  An entry does not count if the next changed entry is removed.  0
	 * if write_step is NULL. */
	uint64_t early;
	/* True if mixed is 0, and the changed entries make no unclaimed turn and use no excluded
	 * horizontal link (see ftr_check_delta.horizontal).  Suppose that the old tables, too, make
	 * no unclaimed turn.  Then the channel dependencies of both tables together have no
	 * cycle (Gliksberg et al. 2020, section 4.1). */
	bool proved;
};

/*
 * Check t, the new tables.  The old tables are t without the changes; they must have been checked
 * before.
 *
 * Suppose that there are no findings except missing entries, and that `missed` and `stranded`
 * are 0.  Then t is as safe on the current fabric as the old tables were on the fabric before
 * the change: every affected path reaches a changed entry, and is walked from there.
 *
 * Errors: FTR_INVAL: t does not fit f (as in ftr_check_tables), the changes are not sorted, or
 * the changes or the links in `gone` name a switch or LID that t does not have; FTR_NOMEM.  The
 * report is the same for any team.
 * O(changes * (path + ports of switches with a missing entry) + n_gone * LIDs + n_sw).
 */
enum ftr_status ftr_check_changes(const struct ftr_fabric *f,
				  const struct ftr_tables *t,
				  const struct ftr_check_delta *delta,
				  struct ftr_team *team,
				  struct ftr_delta_report *out,
				  struct ftr_err *err) FTR_MUST_USE;

/*
 * Count paths by length.  hist[h] is set to the number of pairs (host port, LID of another host
 * port) whose path crosses h links between switches.  The last element counts all paths of
 * FTR_HOPS_MAX - 1 or more links.  Pairs whose path does not arrive are not counted.  Errors:
 * FTR_INVAL, FTR_LIMIT and FTR_NOMEM as in ftr_check_tables.  O(n_sw * LIDs), one thread.
 */
#define FTR_HOPS_MAX 64
enum ftr_status ftr_check_hops(const struct ftr_fabric *f,
			       const struct ftr_tables *t,
			       uint64_t hist[FTR_HOPS_MAX],
			       struct ftr_err *err) FTR_MUST_USE;

/*
 * List every path that does not arrive.  fn(ctx, s, lid) is called for each LID with an owner, and
 * for each switch s from which packets to this LID do not arrive, by ascending (lid, s).  The
 * paths are the walks that ftr_check_tables counts in found[], including those to a switch's
 * own LID.  For a LID whose owner has no link, every switch is reported.
 *
 * r: the report of ftr_check_tables on t, or NULL.  If its bad[] counts no pair whose destination
 * is a host port, the LIDs of host ports are skipped.  The same holds for LIDs of switches.
 * Errors: as ftr_check_hops.  O(n_sw * LIDs).
 */
typedef void (*ftr_lost_fn)(void *ctx, ftr_sw s, ftr_lid lid);
enum ftr_status ftr_check_lost(const struct ftr_fabric *f,
			       const struct ftr_tables *t,
			       const struct ftr_check_report *r, ftr_lost_fn fn,
			       void *ctx, struct ftr_err *err) FTR_MUST_USE;

/* Set part[s], for each of the n_sw switches, to the lowest index of a switch that is
 * physically connected to s (s itself included).  Switches have the same value if they are
 * physically connected, and different values if they are not.  O(ports). */
void ftr_check_parts(const struct ftr_fabric *f, uint32_t *part);

#ifdef __cplusplus
}
#endif
#endif
