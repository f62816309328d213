// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes the tables of engine dmodc by a closed form, on complete, damaged and irregular
 * fat-trees.
 *
 * Source: Gliksberg et al. 2020, section 3.4.  For switch s and a host on leaf switch l, with the
 * topological index d:
 *
 *	Pi_s = divider of s
 *	C = port groups of s that lead closer to l		(1)
 *	group g = C[floor(d / Pi_s) mod #C]			(3)
 *	port = g[floor(d / (Pi_s * #C)) mod #g]			(4)
 *
 * The groups in C are the candidates.  #C is the number of groups in C, and #g is the number of
 * links of group g.
 *
 * An upward group leads closer if the cost of its remote switch is smaller than that of s.  A
 * downward group leads closer if the down-cost of its remote switch is smaller than the cost of s
 * (section 3.4).  Exception (deviation: see <ftr/shape.h>): if a switch above s routes to l through
 * s, only downward groups are candidates.  So on any graph every path goes up, then down.  There is
 * no loop, and the channel dependency graph has no cycle (section 4.1).
 *
 * place.c says how groups are counted and numbered: nominal groups and links count, including
 * missing ones.  So a fault changes few entries.  If the shape has upward paths, the number q in
 * up_path (<ftr/shape.h>) is used for hosts instead of floor(d / Pi).
 *
 * Patterns.  In most fabrics, C contains all present upward groups of s for nearly every s and l.
 * Let each group have p nominal links.  Then the port depends on d only through two numbers, the
 * group i and its link j:
 *
 *	i = floor(d / Pi) mod W,  j = floor(d / (Pi * W)) mod p
 *
 * i and j are the same for all switches with the same (Pi, W, p).  So they are computed once, as a
 * pattern: one byte i * p + j for each LID, which is called the place of the LID.  Then the row of
 * a switch (its entries for all LIDs) is computed in two steps:
 *
 *	1. Each place in the pattern is replaced by the port of the switch for link j of group i.
 *	2. The entries for the following LIDs are corrected:
 *	   - LIDs on s itself and on switches below s
 *	   - LIDs for which some upward group of s is not in C
 *
 * If groups have different numbers of links, p is their least common multiple, and link j mod n is
 * used of a group with n links.  The entries for a group or link that is missing are computed one by
 * one.  So are all entries of a switch without a pattern.  This takes longer, but gives the same
 * ports.
 *
 * The corrections are found by comparing whole rows of costs, many columns (destination switches)
 * per instruction.
 *
 * Every row is written by one thread.  The work is n_sw * (LIDs + G * n_sw) byte operations,
 * vectorised, where LIDs is the number of LIDs, and G is the number of groups of a switch.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "engine/connect.h"
#include "engine/engine.h"
#include "engine/place.h"

/* Greatest number of patterns.  Switches that would need more patterns have none. */
#define MAX_PATTERNS 32
#define NO_PATTERN 255

struct pattern {
	uint64_t pi;
	const struct ftr_up_path *up_path;	/* [n_d] the number q of each host; NULL: q is
						 * d / pi */
	uint32_t w;		/* number of nominal upward groups */
	uint32_t p;		/* a multiple of the number of nominal links of each group */
	uint8_t *place;		/* place[lid]: i * p + j; 255: the LID is not routed */
};

/* The row that a thread computes: that of switch s.  The arrays have one byte for each column
 * (destination switch). */
struct row {
	const struct job *j;
	ftr_sw s;
	uint8_t *n_cand;	/* number of candidates of s */
	uint8_t *n_above;	/* number of upward candidates; 0 if s must route downward */
	uint8_t *one;		/* index of the last candidate among all groups of s */
	uint8_t *must;		/* not 0: s must route downward */
	uint8_t *lft;
	const struct pattern *t;	/* pattern of s, if n_served is not 0 */
	uint32_t n_served;	/* number of upward groups of s; 0: s has no pattern */
	struct port_choice place;
};

struct job {
	const struct ftr_shape *sh;
	struct ftr_tables *out;
	struct ftr_arena *arena;
	struct pattern pattern[MAX_PATTERNS];
	unsigned int n_patterns;
	uint8_t *pattern_of;	/* pattern_of[s]: index in pattern[], or NO_PATTERN */
	uint64_t *displaced;	/* see dmodc_tables() */
	ftr_lid *lid;		/* LID of each destination */
	struct row row[FTR_TEAM_MAX];	/* by worker */
};

/* ---- patterns ---------------------------------------------------------- */

/* Set w and p of *t by the groups above s.  Returns false if there are none, if a group has no slot,
 * or if w * p is too large. */
static bool slot_pattern(const struct ftr_shape *sh, ftr_sw s, struct pattern *t)
{
	t->w = sh->numbering.n_slots[s];
	t->p = 1;
	for_each_up(sh, s, g) {
		uint32_t p = t->p;

		while (t->p % g->n_nominal)
			t->p += p;
		if (g->slot == FTR_SLOT_NONE || t->w > FTR_PORT_MAX || t->w * t->p > FTR_PORT_MAX)
			return false;
	}
	return sh->tree.n_up[s] > 0;
}

static void choose_patterns(struct job *j)
{
	const struct ftr_shape *sh = j->sh;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
		struct pattern t = {
			.pi = sh->numbering.divider[s],
			.up_path = place_up_path(sh, s),
		};
		unsigned int i;

		j->pattern_of[s] = NO_PATTERN;
		if (!slot_pattern(sh, s, &t))
			continue;
		for (i = 0; i < j->n_patterns; i++)
			if (j->pattern[i].pi == t.pi && j->pattern[i].w == t.w &&
			    j->pattern[i].p == t.p &&
			    j->pattern[i].up_path == t.up_path)
				break;
		if (i == MAX_PATTERNS)
			continue;
		if (i == j->n_patterns)
			j->pattern[j->n_patterns++] = t;
		j->pattern_of[s] = (uint8_t)i;
	}
}

static void fill_patterns(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	struct job *j = ctx;

	(void)worker;
	for (uint32_t i = begin; i < end; i++) {
		struct pattern *t = &j->pattern[i];

		memset(t->place, 255, j->out->stride);
		for (uint32_t k = 0; k < j->sh->numbering.n_dest; k++) {
			uint32_t q = place_number(j->sh, t->up_path, t->pi,
						  &j->sh->numbering.dest[k]);

			t->place[j->lid[k]] = (uint8_t)(q % t->w * t->p +
							q / t->w % t->p);
		}
	}
}

static bool allocate(struct job *j, unsigned int workers)
{
	const uint32_t stride = j->sh->reach.stride;

	if (!FTR_NEW(j->arena, j->pattern_of, j->sh->f->n_sw) ||
	    !FTR_NEW(j->arena, j->lid, j->sh->numbering.n_dest))
		return false;
	for (unsigned int i = 0; i < workers; i++) {
		struct row *l = &j->row[i];

		l->j = j;
		if (!FTR_NEW(j->arena, l->n_cand, stride) ||
		    !FTR_NEW(j->arena, l->n_above, stride) ||
		    !FTR_NEW(j->arena, l->one, stride) || !FTR_NEW(j->arena, l->must, stride))
			return false;
	}
	choose_patterns(j);
	for (unsigned int i = 0; i < j->n_patterns; i++)
		if (!FTR_NEW(j->arena, j->pattern[i].place, j->out->stride))
			return false;
	return true;
}

static enum ftr_status prepare(struct job *j, struct ftr_team *team,
			       struct ftr_err *err)
{
	const struct ftr_shape *sh = j->sh;

	if (!allocate(j, ftr_team_size(team)))
		return ftr_nomem(err, "routing %u LIDs on %u switches", sh->numbering.n_dest,
				 sh->f->n_sw);
	for (uint32_t k = 0; k < sh->numbering.n_dest; k++)
		j->lid[k] = sh->numbering.dest[k].lid;
	ftr_team_run(team, j->n_patterns, 1, fill_patterns, j);
	return FTR_OK;
}

/* ---- candidates of a row ----------------------------------------------- */

static void count_candidates(struct row *w)
{
	const struct ftr_shape *sh = w->j->sh;
	ftr_sw s = w->s;
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[s]];
	uint32_t up = sh->tree.n_up[s], all = up + sh->tree.n_down[s];
	size_t n = sh->reach.stride;

	place_paths_row(sh, s, w->n_above, w->one, w->must);
	memcpy(w->n_cand, w->n_above, n);
	for (uint32_t k = up; k < all; k++)
		bytes_count_less(w->n_cand, w->one, (uint8_t)k,
				 ftr_shape_cost(sh, s),
				 ftr_shape_down(sh, g[k].remote), n);
}

/* ---- columns ----------------------------------------------------------- */

static void own_column(const struct row *r)
{
	const struct ftr_shape *sh = r->j->sh;
	uint32_t l = sh->numbering.col[r->s];

	for (uint32_t i = sh->numbering.dest_first[l]; i < sh->numbering.dest_first[l + 1]; i++)
		r->lft[r->j->lid[i]] = sh->numbering.dest[i].port;
}

static void fill_column(uint8_t *restrict row, const ftr_lid *restrict lid,
			uint32_t n, ftr_port port)
{
	for (uint32_t i = 0; i < n; i++)
		row[lid[i]] = port;
}

/* Set ports[i * p + j] to the port of link j mod n of the upward group in slot i, which has n links,
 * or to FTR_PORT_NONE if the group or the link is missing.  Returns true if one is missing. */
static bool list_ports(const struct row *r, ftr_port *ports)
{
	const struct ftr_shape *sh = r->j->sh;

	memset(ports, FTR_PORT_NONE, 256);
	for_each_up(sh, r->s, g)
		for (uint32_t j = 0; j < r->t->p; j++)
			ports[g->slot * r->t->p + j] = place_link(sh, g, j % g->n_nominal);
	return memchr(ports, FTR_PORT_NONE, r->t->w * r->t->p);
}

/* Compute the entry for destination i.  Call place_column() for the destination's switch first. */
static void place_entry(struct row *r, uint32_t i)
{
	const struct job *j = r->j;
	ftr_lid lid = j->lid[i];

	r->lft[lid] = place_port(&r->place, &j->sh->numbering.dest[i]);
	if (j->displaced && r->place.displaced)
		j->displaced[(size_t)r->s * (j->out->stride / 64) + lid / 64] |=
			UINT64_C(1) << lid % 64;
}

/* Compute the entries for column l.  A single candidate is known without looking for candidates. */
static void patch(struct row *r, uint32_t l)
{
	const struct ftr_shape *sh = r->j->sh;
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	uint32_t n = r->n_cand[l];

	cand[0] = &sh->tree.groups[sh->tree.group_first[r->s] + r->one[l]];
	if (n > 1)
		ftr_shape_candidates(sh, r->s, l, cand);
	place_column(&r->place, cand, n);
	for (uint32_t i = sh->numbering.dest_first[l]; i < sh->numbering.dest_first[l + 1]; i++)
		place_entry(r, i);
}

/* True if the candidates for column l are all upward groups of s, for which the pattern is made. */
static bool is_served(const struct row *r, uint32_t l)
{
	return r->n_served && r->n_above[l] == r->n_served && r->n_cand[l] == r->n_served;
}

/* Correct the entries that were made with the pattern.  If the switch has no pattern, compute all
 * its entries. */
static void patch_columns(struct row *r)
{
	/* local variables stay in registers while entries are written */
	const struct ftr_shape_tree tree = r->j->sh->tree;
	const struct ftr_group *g = &tree.groups[tree.group_first[r->s]];
	const uint32_t *first = r->j->sh->numbering.dest_first;
	const struct row row = *r;
	const ftr_lid *lid = r->j->lid;
	uint32_t n_sw = r->j->sh->f->n_sw;
	uint64_t served;	/* each of its bytes is n_served */

	memset(&served, (int)row.n_served, sizeof(served));
	for (uint32_t l = 0; l < n_sw; l++)
		if (row.n_served && l % BYTES_WORD == 0 && bytes_word(row.n_cand + l) == served &&
		    bytes_word(row.n_above + l) == served)
			l += BYTES_WORD - 1;
		else if (is_served(&row, l))
			continue;
		else if (row.n_cand[l] == 0)
			fill_column(row.lft, lid + first[l], first[l + 1] - first[l], FTR_PORT_NONE);
		else if (row.n_cand[l] == 1 && g[row.one[l]].n == 1)
			fill_column(row.lft, lid + first[l], first[l + 1] - first[l],
				    tree.group_ports[g[row.one[l]].first]);
		else
			patch(r, l);
}

/* Compute the entries for which the pattern has a missing link. */
static void fill_missing(struct row *r)
{
	const struct ftr_shape *sh = r->j->sh;
	const uint32_t *first = sh->numbering.dest_first;
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	uint32_t n = 0;

	for_each_up(sh, r->s, g)
		cand[n++] = g;
	place_column(&r->place, cand, n);
	for (uint32_t l = 0; l < sh->f->n_sw; l++)
		for (uint32_t i = first[l]; i < first[l + 1]; i++)
			if (r->lft[r->j->lid[i]] == FTR_PORT_NONE && is_served(r, l))
				place_entry(r, i);
}

static void route_switch(struct row *r, ftr_sw s)
{
	const struct job *j = r->j;
	ftr_port ports[256];
	bool missing = false;

	r->s = s;
	r->lft = ftr_tables_row(j->out, s);
	r->n_served = 0;
	count_candidates(r);
	place_switch(&r->place, j->sh, s);
	if (j->pattern_of[s] == NO_PATTERN) {
		memset(r->lft, FTR_PORT_NONE, j->out->stride);
	} else {
		r->t = &j->pattern[j->pattern_of[s]];
		r->n_served = j->sh->tree.n_up[s];
		missing = list_ports(r, ports);
		bytes_lookup(r->lft, r->t->place, j->out->stride, ports);
	}
	patch_columns(r);
	own_column(r);
	if (missing)
		fill_missing(r);
}

static void route_some(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	struct job *j = ctx;
	struct row r = j->row[worker];	/* a copy, in cache lines of its own */

	for (uint32_t s = begin; s < end; s++)
		route_switch(&r, s);
}

static void fill_extra(const struct job *j, const struct connect *extra)
{
	const struct ftr_shape *sh = j->sh;
	const struct ftr_group *cand[FTR_PORT_MAX + 1];
	struct port_choice pl;

	for (uint32_t i = 0; i < extra->n_entries; i++) {
		const struct connect_entry *e = &extra->entry[i];
		uint8_t *row = ftr_tables_row(j->out, e->sw);
		uint32_t n = connect_candidates(sh, extra, e, cand);

		place_switch(&pl, sh, e->sw);
		place_column(&pl, cand, n);
		for (uint32_t k = sh->numbering.dest_first[e->col];
		     k < sh->numbering.dest_first[e->col + 1]; k++) {
			ftr_lid lid = j->lid[k];

			row[lid] = place_port(&pl, &sh->numbering.dest[k]);
			if (j->displaced)
				j->displaced[(size_t)e->sw *
					     (j->out->stride / 64) + lid / 64] &=
					~(UINT64_C(1) << lid % 64);
		}
	}
}

enum ftr_status dmodc_tables(const struct ftr_shape *sh,
			     const struct connect *extra, struct ftr_team *team,
			     struct ftr_tables *out, uint64_t *displaced,
			     struct ftr_err *err)
{
	struct job *j = ftr_calloc(1, sizeof(*j));
	enum ftr_status st;

	if (!j || !(j->arena = ftr_arena_new())) {
		free(j);
		return ftr_nomem(err, "routing");
	}
	j->sh = sh;
	j->out = out;
	out->like = NULL;
	j->displaced = displaced;
	st = prepare(j, team, err);
	if (!st) {
		ftr_team_run(team, sh->f->n_sw, 8, route_some, j);
		if (extra)
			fill_extra(j, extra);
	}
	ftr_arena_free(j->arena);
	free(j);
	return st;
}

uint64_t engine_count_none(const struct ftr_shape *sh, const struct ftr_tables *t)
{
	uint64_t none = 0;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++)
		none += bytes_count(ftr_tables_row(t, s), t->stride, FTR_PORT_NONE) -
			(t->stride - sh->numbering.n_dest);
	return none;
}
