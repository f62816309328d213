/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Internal interfaces of the checker.
 *
 *	check_tables.c	set-up, division of the work, sum of the results
 *	updown.c	check of 128 LIDs at a time, if ranks are claimed
 *	walk.c		check of one LID, with or without claims: follows paths, finds loops
 *	cdg.c		channel dependencies of one LID
 *	vl_cdg.c	channel dependencies of one LID, if VLs are checked
 *	claims.c	test of the claimed turns
 *	cycle.c		search for a shortest cycle in the dependency graph
 *	finding.c	counts of the faults that were found, with a sample of each kind
 *	delta.c		check of changed entries only, for the plugin
 *	base.c, from_base.c	check by the difference from checked tables
 *	hops.c		path lengths
 *	dyn*.c		<ftr/cdg.h>, see dyn.h
 *	load*.c		<ftr/load.h>, see link_load.h
 *
 * A claim is a statement of the engine about its tables, which the checker verifies.  An engine may
 * claim a rank for each switch, and turns that its paths may make (claims.h).
 *
 * updown.c and walk.c look up next hops in hop[] (struct chk).  Everything to which an entry can
 * lead has a row number: rows 0 .. n_sw-1 are the switches, and the rows after them are the END_
 * values below.  If an entry with the value p at switch s leads to row r, then
 *
 *	hop[s * 256 + p] = CHK_BATCH * r
 *
 * Each p from 0 to 255 has an element, so any byte of a table is valid.  The factor CHK_BATCH makes
 * the element an index in chk_part.state.
 *
 * Other parts of the program have their own functions that follow paths, because the checker must
 * share no code with what it checks.
 */
#ifndef FTR_CHECK_CHECK_H
#define FTR_CHECK_CHECK_H

#include "base/base.h"
#include <ftr/check.h>

/* Result of a walk. ST_GOOD: the path arrives, and hops[] has the number of hops. In updown.c, any
 * value below ST_PENDING is the number of hops of a path that arrives. */
enum {
	ST_GOOD = 0,
	ST_PENDING = 0x80,	/* the result is not known yet */
	ST_MISSING,
	ST_DEAD,
	ST_WRONG,
	ST_LOOP,
	ST_ON_PATH
};

/* Row n_sw + END_...: the entry leads to no switch, or to a switch of equal claimed rank. */
enum {
	END_SIDE = 0,	/* a switch of equal claimed rank; ftr_fabric.ports shows which one */
	END_MISSING,
	END_DEAD,
	END_WRONG,	/* a host port; wrong for all LIDs except those of that port */
	END_GOOD,	/* the exit of the LID (chk_exit_of); only in walk.c */
	N_ENDS
};

#define CHK_HOPS 256
#define CHK_BATCH 128		/* number of LIDs per block of work */
#define CHK_SW_MAX (UINT16_MAX - N_ENDS)

/* Findings and scratch memory of one worker. */
struct chk_part {
	struct ftr_check_report r;
	bool unproved;		/* true: a path is not as the engine claims (cdg.c) */
	uint8_t *state;		/* state[row * CHK_BATCH + i]: result of the walk from row to the
				 * i-th LID of the block */
	uint8_t *head;		/* list of the LIDs of s and of its hosts in the block: head[s] is
				 * 1 + index of the first LID, or 0; continued in batch.next[] of
				 * updown.c */
	uint32_t *bad;		/* [n_sw] switches with a finding, see updown.c */
	/* The following arrays are for one LID, [n_sw] each. */
	uint8_t *col;		/* col[s]: entry of s */
	uint16_t *nxt;		/* nxt[s]: row of the next hop of s */
	uint8_t *end;		/* end[s]: result of the walk from s, ST_... */
	uint8_t *mark;
	uint32_t *hops;		/* hops[s]: number of hops from s, if the path arrives */
	uint32_t *stack;
	uint32_t *seen;		/* [n_ports * FTR_N_SL], see vl_cdg.c */
};

struct chk_claims;

struct chk {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	const uint8_t *rank;	/* claimed ranks; NULL: none */
	const struct chk_claims *claims;	/* claimed turns; NULL: none */
	bool no_cdg;
	bool switches;		/* true: switches send packets too, not only hosts */
	bool vls;		/* true: VLs are checked */
	uint32_t n_vl;		/* number of VLs; 1 if VLs are not checked */
	const struct ftr_sl2vl *sl2vl;	/* SL2VL tables; NULL: VL = SL */
	const struct ftr_path_sl *path_sl;	/* SLs of paths; NULL: all paths use SL 0 */
	uint32_t *hop;
	uint32_t *hosts;	/* hosts[s]: number of host ports on s that send */
	uint8_t *source;	/* source[s] == 1: packets start at s */
	uint32_t *order;	/* [n_sw] switches by ascending rank */
	uint32_t n_lowest;	/* number of switches of the lowest rank */
	uint32_t n_hosts;
	uint64_t *lost;		/* ftr_check_report.lost, or NULL */
	uint8_t *in_cdg;	/* in_cdg[lid] == 1: the graph has the dependencies of lid */
	/* The dependency graph.  A vertex is a VL of a directed link.  Its number is
	 * port * n_vl + VL, where port is the index of the sending port in ftr_fabric.ports.  The
	 * edges are rows of bits, one row for each (switch, in, vl_in).  Bit out * n_vl + vl_out of
	 * a row is set if some packet enters the switch by port `in` on VL vl_in, and leaves it by
	 * port `out` on VL vl_out. */
	struct {
		uint64_t *dep;
		uint64_t *first;	/* first[s]: index in dep[] of row (s, 0, 0) */
	} cdg;
	struct chk_part *part;	/* [workers] */
};

static inline bool chk_is_source(const struct ftr_endport *e)
{
	return e->lid && e->sw != FTR_SW_NONE;
}

static inline uint32_t chk_dep_words(const struct chk *c, ftr_sw s)
{
	return ((c->f->sw[s].n_ports + 1u) * c->n_vl - 1) / 64 + 1;
}

static inline size_t chk_dep_row(const struct chk *c, ftr_sw s, ftr_port in,
				 uint32_t vl)
{
	return c->cdg.first[s] +
		((size_t)in * c->n_vl + vl) * chk_dep_words(c, s);
}

/* The row (see above) to which an entry with the value p at switch s leads. */
static inline uint32_t chk_row_of(const struct chk *c, ftr_sw s, ftr_port p)
{
	uint32_t row = c->hop[(size_t)s * CHK_HOPS + p] / CHK_BATCH;

	if (row == c->f->n_sw + END_SIDE)
		row = ftr_fabric_port(c->f, s, p)->peer;
	return row;
}

/* The VL on which packets of this SL leave s by port `out` if they entered by port `in`.
 * m: SL2VL tables; NULL: VL = SL. */
static inline unsigned int chk_vl(const struct ftr_sl2vl *m, ftr_sw s, ftr_port in,
				  ftr_port out, unsigned int sl)
{
	return m ? ftr_sl2vl_get(m, s, in, out, sl) : sl;
}

/* finding.c */
/* The port by which packets to lid leave their last switch.  sw is FTR_SW_NONE if the LID has no
 * owner, or its owner has no link. */
struct ftr_hop chk_exit_of(const struct ftr_fabric *f, ftr_lid lid);
enum ftr_status chk_same_size(const struct ftr_fabric *f,
			      const struct ftr_tables *t,
			      struct ftr_err *err) FTR_MUST_USE;
/* Record the fault st (ST_...) of the path from s to lid. */
void chk_bad(const struct chk *c, struct chk_part *w, ftr_sw s, ftr_lid lid,
	     uint8_t st);
/* If first is true, copy s to *to. Otherwise do so only if s is less than *to, by (LID, switch). */
void chk_sample(struct ftr_check_sample *to, bool first,
		struct ftr_check_sample s);
/* The finding for the result st (ST_...) of a walk. */
enum ftr_finding chk_finding(uint8_t st);
/* True if bit `port` is set in dead[]. port: index in ftr_fabric.ports. dead NULL: no bit is
 * set. */
static inline bool chk_is_dead(const uint64_t *dead, uint32_t port)
{
	return dead && dead[port / 64] >> port % 64 & 1;
}

/* The next switch after s on the path to lid. Returns s if the path ends at s. */
typedef ftr_sw (*chk_next_fn)(const void *ctx, ftr_sw s, ftr_lid lid);
/* The switch with the faulty entry on the path from s. For a loop: the switch at which the path
 * enters the loop. */
ftr_sw chk_faulty_switch(const void *ctx, chk_next_fn next, uint32_t n_sw, ftr_sw s,
		   ftr_lid lid, bool loop);
void chk_found(struct chk_part *w, enum ftr_finding what, ftr_sw from,
	       ftr_sw at, ftr_lid lid);

/* Check LIDs base .. base + CHK_BATCH - 1 (updown.c), and record findings by ascending (LID,
 * switch). Ranks must be claimed. */
void chk_block(const struct chk *c, struct chk_part *w, uint32_t base);

/* check_tables.c */
/* Returns FTR_INVAL or FTR_LIMIT if the tables cannot be checked. */
enum ftr_status chk_refuse(const struct ftr_fabric *f, const struct ftr_tables *t,
			   struct ftr_err *err) FTR_MUST_USE;
/* Allocate and set the members of c except claims. The caller must have set the options in c.
 * Returns false if out of memory. */
bool chk_set_up(struct chk *c, struct ftr_arena *a, unsigned int workers);

/* walk.c */
extern const uint8_t chk_end_state[N_ENDS];
/* Follow the paths from all switches to lid: set end[] and hops[]. */
void chk_follow_lid(const struct chk *c, struct chk_part *w, ftr_lid lid);
/* Like chk_follow_lid(). Also record findings and dependencies. */
void chk_walk_lid(const struct chk *c, struct chk_part *w, ftr_lid lid);
/* Set col[] and nxt[] for lid. */
void chk_column(const struct chk *c, struct chk_part *w, ftr_lid lid);

/* cdg.c: add the dependencies of packets to lid. col[] and nxt[] must be set. */
void chk_cdg_add(const struct chk *c, struct chk_part *w, ftr_lid lid);

/* vl_cdg.c: the same with vertices (link, VL). */
void chk_vls_add(const struct chk *c, struct chk_part *w, ftr_lid lid);
/* Set the bit of one dependency. Several workers may do so at the same time. */
void chk_set_dep(const struct chk *c, ftr_sw s, ftr_port in, unsigned int vl_in,
		 ftr_port out, unsigned int vl_out);
enum ftr_status chk_vls_fit(const struct ftr_fabric *f,
			    const struct ftr_check_opts *opts,
			    struct ftr_err *err) FTR_MUST_USE;
uint32_t chk_vls_count(const struct chk *c);

/* from_base.c: check by difference.  Returns false, with no findings, if the whole tables must be
 * checked, or if out of memory.  c must be set up. */
bool chk_from_base(const struct chk *c, const struct ftr_check_base *b, struct ftr_arena *a,
		   struct ftr_check_report *out);

/* cycle.c: set r->cdg to ACYCLIC or CYCLE. For CYCLE, also set r->cycle and r->cycle_len. */
enum ftr_status chk_cycle(const struct chk *c, struct ftr_arena *a,
			  struct ftr_check_report *r, struct ftr_err *err);

#endif
