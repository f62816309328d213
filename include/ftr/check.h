/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The checker: follows the paths of forwarding tables, and reports whether they arrive at their
 * destinations and whether they are free of credit loops.
 *
 * It shares no code with the engines and trusts none of their results.  An engine may pass to the
 * checker the ranks of the switches, and the turns that its paths make.  These are claims: the
 * checker verifies each one that it uses.
 *
 * Paths.  For every LID of the fabric and every switch, the checker walks the path of a packet that
 * starts at that switch.  A path is good if it leaves the last switch through the port to which the
 * owner of the LID is connected or, if the last switch itself owns the LID, through port 0.
 * Everything else is a finding:
 *
 *	missing entry	an entry FTR_PORT_NONE on the path
 *	dead port	an entry that names a port without a link, a port that the
 *			switch does not have, or port 0 of a switch that does not
 *			own the LID
 *	wrong end	delivery to a host port that does not own the LID
 *	loop		the path returns to a switch that it has already visited
 *
 * Turns.  A turn is a step of a path from a link that leads down, by the claimed ranks, to a link
 * that leads up.  Two entries make a turn even if no path from a source uses both.  A turn is a
 * finding unless it is claimed.
 *
 * Pairs.  A source is a host port or a switch.  A destination is a LID of a host port or of a
 * switch; all 2^lmc LIDs of a port are separate destinations.  Pairs (source, destination) are
 * counted separately for the four classes of enum ftr_check_class.
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
 * Proof without the graph.  Let every entry on a path lead up or down by the claimed ranks, and let
 * no path make a turn.  Then no dependency leads from a downward link to an upward one, so the
 * graph is acyclic (Gliksberg et al. 2020, section 4.1), and it is not built.  A hop between
 * switches of equal rank invalidates the proof, unless turns are claimed.
 *
 * The proof also allows claimed turns.  For these the checker first builds a smaller graph with two
 * kinds of dependencies: those that up/down routing by the claimed ranks can cause (except from a
 * link to the opposite link, back to the same switch), and those of the claimed turns.  If this
 * graph has a cycle, the claimed turns count as not claimed.
 *
 * Where the proof fails, the graph is built and searched.  One shortest cycle is reported, starting
 * with its lowest channel by (switch, port, VL).  In a very large graph without short cycles, the
 * search stops after 2^27 edges and reports the shortest cycle that it has found.
 *
 * VLs.  If the options have neither sl2vl nor path_sl, all packets share one VL.  Otherwise a
 * vertex is a (link, VL), and each packet has an SL: the SL that path_sl gives for its source and
 * LID, or SL 0.  If path_sl is set but gives no SL, the pair is counted in no_sl.  At each switch a
 * packet leaves on the VL that sl2vl gives; without sl2vl, the VL has the number of the SL.  A
 * packet that is mapped to VL 15 is dropped and counted in vl_drops.  The findings above ignore
 * VLs.
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
	FTR_CDG_NOT_CHECKED = 0,	/* no verdict; reports must state this */
	FTR_CDG_PROVED,		/* acyclic by the proof above; no graph was built */
	FTR_CDG_ACYCLIC,	/* the graph was built and has no cycle */
	FTR_CDG_CYCLE
};

struct ftr_check_base;
struct ftr_order;

struct ftr_check_opts {
	const uint8_t *rank;	/* [n_sw] claimed ranks, NULL: none claimed */
	/* claimed turns, in any order; not used if rank is NULL */
	const struct ftr_turn *turn;
	uint32_t n_turns;
	bool switch_sources;	/* true: the search for credit loops assumes that switches send
				 * packets, too */
	bool no_cdg;		/* true: do not look for credit loops */
	bool list_lost;		/* true: set ftr_check_report.lost */
	const struct ftr_sl2vl *sl2vl;	/* NULL: see "VLs" above */
	const struct ftr_path_sl *path_sl;
	/* NULL, or checked tables; saves time if few entries differ from them.  The report is the
	 * same, except for load_max */
	const struct ftr_check_base *base;
};

/* The first walk or entry with a finding, in the order of (LID, from). */
struct ftr_check_sample {
	ftr_sw from;		/* switch at which the walk started; for FTR_FIND_TURN the switch
				 * before the turn */
	ftr_sw at;		/* switch of the faulty entry; for FTR_FIND_LOOP the first switch
				 * that the path visits twice */
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
	/* For each kind of finding, the number of walks (switch, LID) that end with this finding.
	 * Walks from a switch to its own LID count, too.  FTR_FIND_TURN: number of entries that
	 * make a turn that is not claimed. */
	uint64_t found[FTR_N_FINDINGS];
	/* sample[i] is set if found[i] > 0 */
	struct ftr_check_sample sample[FTR_N_FINDINGS];
	/* Number of walks that end in a dead port, a wrong end or a loop.  Tables with such walks
	 * are never written to switches. */
	uint64_t harmful;
	uint32_t max_hops;	/* number of switch-to-switch hops of the longest good walk */
	enum ftr_cdg_verdict cdg;
	/* number of channels of the cycle; only the first FTR_CYCLE_MAX are stored in cycle[] */
	uint32_t cycle_len;
	struct ftr_channel cycle[FTR_CYCLE_MAX];
	/* number of VLs of each link in the graph; 0: all packets share one VL, or
	 * the graph was not built */
	uint32_t n_vls;
	/* the members below are 0 if the graph was not built */
	uint64_t no_sl;		/* number of pairs (source, LID) for which path_sl gives no SL */
	/* number of combinations (switch, input port, SL, LID) that are mapped to VL 15 */
	uint64_t vl_drops;
	struct ftr_check_sample vl_drop;	/* the first of these combinations; from == at */
	/* With ftr_check_opts.list_lost: the walks that do not arrive.  Bit lid % 64 of
	 * lost[lid / 64 * n_sw + s] is set if packets from switch s do not arrive at lid.  Walks
	 * from a switch to its own LID are included.  For a LID whose owner has no link, the bit of
	 * every switch is set.  The caller frees the array.  Otherwise NULL. */
	uint64_t *lost;
	/* With a base that counts flows: the all-to-all load of the most loaded link, as
	 * ftr_load_all() (<ftr/load.h>) counts it.  0: not counted. */
	uint64_t load_max;
};

/*
 * Make a base from checked tables, for checks of other tables over the same fabric without some of
 * its links.  rank[s]: the claimed rank of switch s.  Several threads may use the base at the same
 * time.  f, t and rank must outlive *out.  The base takes twice as much memory as t, or nearly none
 * if t has findings other than missing entries: then it saves nothing.  Errors: as
 * ftr_check_tables.
 *
 * ftr_check_base_load adds all-to-all traffic (<ftr/load.h>), so that the checks set
 * ftr_check_report.load_max.  hosts is copied.  Errors: as ftr_load_new.
 */
enum ftr_status ftr_check_base_new(const struct ftr_fabric *f, const struct ftr_tables *t,
				   const uint8_t *rank, struct ftr_team *team,
				   struct ftr_check_base **out, struct ftr_err *err) FTR_MUST_USE;
enum ftr_status ftr_check_base_load(struct ftr_check_base *b, struct ftr_order hosts,
				    struct ftr_team *team, struct ftr_err *err) FTR_MUST_USE;
void ftr_check_base_free(struct ftr_check_base *b);	/* NULL is accepted */

/*
 * Check t over f.  If opts is NULL, all options are 0.  team NULL: the calling thread.  The result
 * is the same for any team.  Findings are not errors.  Errors: FTR_NOMEM; FTR_INVAL: t has another
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
 * Input for ftr_check_changes: the changes of the tables, and the links that went down or came
 * up.  f is the fabric that is passed to ftr_check_changes, with the links of an earlier time.
 */
struct ftr_check_delta {
	/* The links of f that are down now.  If bit f->sw[s].first_port + p is set, the link at
	 * port p of s is down.  The bits of both ends of a link are set.  NULL: no link is down. */
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
	/* A claim about horizontal links (between switches of the same rank).
	 * true, or turns are claimed: the old and the new tables may use horizontal links.  Then
	 * two successive hops of which one uses a horizontal link are a turn, which must be
	 * claimed.
	 * false, and no turns are claimed: the tables use no horizontal links.  If a changed entry
	 * uses one, `proved` is false. */
	bool horizontal;
	/* true: the changes are written by ascending step; before step first_drain, and before each
	 * step after it, the caller waits until the packets in flight have arrived.
	 * false: in any order */
	bool ordered;
	uint32_t first_drain;
};

struct ftr_delta_report {
	/* For each kind of finding, the number of walks that start at a changed entry, follow the
	 * new tables, and end with this finding.  FTR_FIND_TURN: number of entries that make a turn
	 * that is not claimed.  If turns are claimed, or if ftr_check_delta.horizontal is true, two
	 * more kinds of successive hops count as turns: two hops that lead back to the first
	 * switch, and two hops of which one uses a horizontal link. */
	uint64_t found[FTR_N_FINDINGS];
	/* sample[i] is set if found[i] > 0 */
	struct ftr_check_sample sample[FTR_N_FINDINGS];
	uint64_t harmful;	/* as in ftr_check_report, but only for walks that start at a
				 * changed entry */
	uint32_t max_hops;	/* greatest number of hops of a walk that arrives */
	/* sum of two numbers: entries of the new tables that lead onto a link in `gone`; changes
	 * whose member `after` differs from the entry in the new tables */
	uint64_t missed;
	/* number of unchanged entries that lead to a switch whose own entry for the LID was
	 * removed by this change */
	uint64_t stranded;
	/* Number of unclaimed turns that an old and a new entry make together, over links that are
	 * up.  A turn does not count if the order of the writes excludes it. */
	uint64_t mixed;
	struct ftr_check_sample mixed_at;	/* the first of these turns, if mixed > 0 */
	/* Number of changed entries that are written too early: the next changed entry on the
	 * path is written later, or in the same step.  An entry does not count if that next entry
	 * becomes FTR_PORT_NONE.  0 if the writes are not ordered. */
	uint64_t early;
	/* True if `mixed` is 0, and the changed entries make no unclaimed turn and use no
	 * horizontal link that ftr_check_delta.horizontal excludes.  If the old tables, too, make
	 * no unclaimed turn, the channel dependencies of the old and the new tables together have
	 * no cycle (Gliksberg et al. 2020, section 4.1). */
	bool proved;
};

/*
 * Check t, the new tables.  The old tables are t without the changes; they must have been checked
 * before.
 *
 * t is as safe on the present fabric as the old tables were on the fabric before the change, if
 * there are no findings except missing entries, and `missed` and `stranded` are 0.  The reason:
 * every path that the change affects reaches a changed entry, and from there the checker walks it.
 *
 * Errors: FTR_INVAL: t does not fit f (as in ftr_check_tables); the changes are not sorted; a
 * change or a link in `gone` names a switch or LID that t does not have.  FTR_NOMEM.
 * O(changes * (path + ports of switches with a missing entry) + n_gone * LIDs + n_sw),
 * one thread.
 */
enum ftr_status ftr_check_changes(const struct ftr_fabric *f,
				  const struct ftr_tables *t,
				  const struct ftr_check_delta *delta,
				  struct ftr_delta_report *out,
				  struct ftr_err *err) FTR_MUST_USE;

/*
 * Prove that no mixture of two tables has a credit loop: a switch may have the entry of t[0] or that
 * of t[1] for each LID.  rank: [n_sw].  *proved is true if, in the union of both, every entry that
 * leads to a switch leads up or down by rank, and no packet can go up after a hop down.  All packets
 * may start at any switch.  If *proved is false, a mixture may have a credit loop.  Errors: as
 * ftr_check_tables.  O(n_sw * LIDs).
 */
enum ftr_status ftr_check_mixtures(const struct ftr_fabric *f, const struct ftr_tables *const t[2],
				   const uint8_t *rank, struct ftr_team *team, bool *proved,
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

/* Set part[s], for each of the n_sw switches, to the lowest index of a switch that is
 * physically connected to s (s itself included).  Switches have the same value if they are
 * physically connected, and different values if they are not.  O(ports). */
void ftr_check_parts(const struct ftr_fabric *f, uint32_t *part);

#ifdef __cplusplus
}
#endif
#endif
