// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the entries that may change when links fail, compared with a routing before the faults, the
 * base.  So thousands of fault sets can be routed with little work for each.
 *
 * An entry is kept if its port in the preferred tables is a candidate (keep.c).  Let the preferred
 * tables be those of the base.  Whether a group of switch s is a candidate for column l depends on
 * the costs and down-costs of s and of its neighbours for l.  If none of them differs from the base,
 * and no entry of s for column l uses a lost link, then the entries of s for column l keep their
 * ports.  All other pairs (s, l) are marked.  keep.c computes the marked entries one by one, and
 * copies the rest from the preferred tables.
 *
 * This needs preferred tables whose ports are candidates in the base.  So base_new() routes the base
 * with these tables as preferred tables, and compares the result with them.  If they differ, for
 * example because the base has extra turns, or its engine routes by another order, nothing is
 * marked, and everything is computed as without a base.
 *
 * Two designs were compared.  The incremental tables of the fast path (src/core/incremental) update
 * costs and entries event by event and can be undone, but they choose the ports of displaced entries
 * LID by LID, and have no search for balance.  So their tables are not those of a routing of the
 * whole fabric, and a study would not show what a sweep of the plugin writes.  In the second design,
 * which is used, every step of a routing of the whole fabric remains, but leaves out the entries
 * that cannot change.  Nothing has to be undone: the new tables are a copy of the preferred ones.
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"
#include "base/bytes.h"
#include "engine/engine.h"

enum ftr_status ftr_route_base_new(const struct ftr_shape *sh, const struct ftr_tables *t,
				   struct ftr_team *team, struct ftr_route_base **out,
				   struct ftr_err *err)
{
	struct ftr_route_base *b = ftr_calloc(1, sizeof(*b));
	enum ftr_status st;

	if (!b)
		return ftr_nomem(err, "the base of routings");
	b->sh = sh;
	b->t = t;
	st = balance_base_new(sh, t, team, &b->balance, err);
	if (!st)
		st = engine_keeps(sh, t, team, &b->keeps, err);
	if (st)
		ftr_route_base_free(b);
	else
		*out = b;
	return st;
}

void ftr_route_base_free(struct ftr_route_base *b)
{
	if (b)
		balance_base_free(b->balance);
	free(b);
}

/* ---- which entries may change --------------------------------------------------------- */

struct marking {
	const struct ftr_shape *was, *is;
	const struct ftr_tables *t;	/* preferred tables */
	uint32_t words;		/* 64-bit words of a set of columns */
	uint64_t *cost, *down;	/* [n_sw][words] columns for which the cost or down-cost differs */
	uint64_t *mark;		/* [n_sw][words] result */
};

static bool same_destinations(const struct ftr_shape *a, const struct ftr_shape *b)
{
	const struct ftr_shape_numbering *x = &a->numbering, *y = &b->numbering;

	if (x->n_dest != y->n_dest || a->reach.stride != b->reach.stride || !x->rail != !y->rail ||
	    memcmp(x->col, y->col, a->f->n_sw * sizeof(*x->col)) ||
	    (x->rail && memcmp(x->rail, y->rail, a->f->n_sw)))
		return false;
	for (uint32_t i = 0; i < x->n_dest; i++)
		if (x->dest[i].lid != y->dest[i].lid || x->dest[i].col != y->dest[i].col ||
		    x->dest[i].port != y->dest[i].port)
			return false;
	return true;
}

static void mark_different(const struct marking *m, const uint8_t *a, const uint8_t *b, uint64_t *bits)
{
	for (uint32_t l = 0; l < m->was->reach.stride; l += BYTES_WORD) {
		if (bytes_word(a + l) == bytes_word(b + l))
			continue;
		for (uint32_t i = l; i < l + BYTES_WORD; i++)
			bits[i / 64] |= (uint64_t)(a[i] != b[i]) << i % 64;
	}
}

static void add_bits(uint64_t *to, const uint64_t *from, uint32_t words)
{
	for (uint32_t i = 0; i < words; i++)
		to[i] |= from[i];
}

/* Marks the columns of the entries of s with the ports of group g that group h has not.  h NULL: no
 * ports.  Other entries keep their ports, because a lost link removes no other candidate. */
static void mark_ports(const struct marking *m, ftr_sw s, const struct ftr_group *g,
		       const struct ftr_group *h)
{
	const uint8_t *row = ftr_tables_row(m->t, s), *end = row + m->t->max_lid + 1;

	for (uint32_t i = 0; i < g->n; i++) {
		ftr_port p = m->was->tree.group_ports[g->first + i];

		if (h && memchr(m->is->tree.group_ports + h->first, p, h->n))
			continue;
		for (const uint8_t *x = row; (x = memchr(x, p, (size_t)(end - x))); x++) {
			uint32_t l = engine_column(m->was, (ftr_lid)(x - row));

			m->mark[(size_t)s * m->words + l / 64] |= UINT64_C(1) << l % 64;
		}
	}
}

/* Marks what depends on the upward or downward groups of s.  Returns false if s has a group that it
 * did not have, or a group with more links. */
static bool mark_side(const struct marking *m, ftr_sw s, bool up)
{
	const struct ftr_shape_tree *a = &m->was->tree, *b = &m->is->tree;
	const struct ftr_group *g = &a->groups[a->group_first[s]] + (up ? 0 : a->n_up[s]);
	const struct ftr_group *h = &b->groups[b->group_first[s]] + (up ? 0 : b->n_up[s]);
	const struct ftr_group *g_end = g + (up ? a->n_up[s] : a->n_down[s]);
	const struct ftr_group *h_end = h + (up ? b->n_up[s] : b->n_down[s]);

	for (; g < g_end; g++) {
		bool present = h < h_end && h->remote == g->remote;

		add_bits(m->mark + (size_t)s * m->words,
			 (up ? m->cost : m->down) + (size_t)g->remote * m->words, m->words);
		if (present && h->n > g->n)
			return false;
		mark_ports(m, s, g, present ? h : NULL);
		h += present;
	}
	return h == h_end;
}

static bool mark_all(const struct marking *m)
{
	const uint32_t n = m->was->f->n_sw, words = m->words;

	for (ftr_sw s = 0; s < n; s++) {
		mark_different(m, ftr_shape_cost(m->was, s), ftr_shape_cost(m->is, s),
			       m->cost + (size_t)s * words);
		mark_different(m, ftr_shape_down(m->was, s), ftr_shape_down(m->is, s),
			       m->down + (size_t)s * words);
	}
	for (ftr_sw s = 0; s < n; s++) {
		add_bits(m->mark + (size_t)s * words, m->cost + (size_t)s * words, words);
		add_bits(m->mark + (size_t)s * words, m->down + (size_t)s * words, words);
		if (!mark_side(m, s, true) || !mark_side(m, s, false))
			return false;
	}
	return true;
}

enum ftr_status engine_base_marks(const struct ftr_route_base *b, const struct ftr_shape *sh,
				  const struct ftr_keep *keep, uint64_t **out,
				  struct ftr_err *err)
{
	struct marking m = { .is = sh, .t = keep->prefer };
	size_t n;

	*out = NULL;
	if (!b || !b->keeps || keep->prefer != b->t || keep->current ||
	    !ftr_fabric_lacks_links(sh->f, b->sh->f) || !same_destinations(b->sh, sh))
		return FTR_OK;
	m.was = b->sh;
	m.words = sh->reach.stride / 64;
	n = (size_t)sh->f->n_sw * m.words;
	m.mark = ftr_calloc(3 * n, sizeof(*m.mark));
	if (!m.mark)
		return ftr_nomem(err, "the entries that may change");
	m.cost = m.mark + n;
	m.down = m.cost + n;
	if (mark_all(&m))
		*out = m.mark;
	else
		free(m.mark);
	return FTR_OK;
}
