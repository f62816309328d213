/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the tests of nominal fabrics.  A nominal fabric is the union of all switches and links
 * seen so far.  The tests extend it by fabrics that have more switches or links.
 *
 *	t1  t2		four leaves, each with two hosts and a link to each spine
 *	A  B  C  D
 */
#ifndef FTR_TEST_GROWN_H
#define FTR_TEST_GROWN_H

#include "lib/draw.h"
#include "lib/edit.h"

static struct ftr_err err;

static const struct edit edit_nothing = EDIT_NOTHING;

static const char tree[] = "A: t1 t2 h2\nB: t1 t2 h2\nC: t1 t2 h2\n"
	"D: t1 t2 h2\nt1:\nt2:\n";

static inline struct ftr_nominal *nominal_of(const struct ftr_fabric *f,
				      struct ftr_nominal *old,
				      struct ftr_nominal_change *change)
{
	struct ftr_nominal *n = NULL;

	ck_assert_msg(!ftr_nominal_new(f, NULL, old, &n, change, &err),
		      "%s", err.msg);
	return n;
}

/* ---- a nominal fabric, before and after it grows ----------------------- */

static inline uint64_t guid(const struct ftr_fabric *f, const char *name)
{
	return f->sw[draw_sw(f, name)].guid;
}

static inline struct ftr_endport host(const struct ftr_fabric *f, const char *sw,
			       unsigned int i)
{
	return f->ep[draw_host(f, sw, i)];
}

/* One case.  `old` is the nominal fabric of the tree `base`; `n` is the nominal fabric after the
 * fabric `f` was seen too.  `c` are the changes from `old` to `n`. */
struct grown {
	struct ftr_fabric *base, *f;
	struct ftr_nominal *old, *n;
	struct ftr_nominal_change c;
	struct ftr_shape *sh;
};

static inline void grow(struct grown *g)
{
	struct ftr_shape_opts over = { 0 };
	struct ftr_nominal *again;
	struct ftr_nominal_change c;

	g->old = nominal_of(g->base, NULL, NULL);
	g->n = nominal_of(g->f, g->old, &g->c);
	ck_assert_int_eq(g->n != g->old, g->c.grew);
	ck_assert(!g->c.reshaped);
	/* seeing f again must change nothing */
	again = nominal_of(g->f, g->n, &c);
	ck_assert(again == g->n && !c.grew && !c.example[0]);
	over.nominal = g->old->shape;
	ck_assert_int_eq(ftr_shape_new(g->f, &over, NULL, &g->sh, &err),
			 g->c.grew ? FTR_INVAL : FTR_OK);
	if (g->c.grew) {
		ck_assert_ptr_nonnull(strstr(err.msg, g->c.example));
		over.nominal = g->n->shape;
		ck_assert(!ftr_shape_new(g->f, &over, NULL, &g->sh, &err));
	}
}

static inline void done(struct grown *g)
{
	ftr_shape_free(g->sh);
	if (g->n != g->old)
		ftr_nominal_free(g->n);
	ftr_nominal_free(g->old);
	ftr_fabric_free(g->base);
	ftr_fabric_free(g->f);
}

static inline void only(const struct grown *g, uint32_t sw, uint32_t links,
		 uint32_t hosts, uint32_t changed)
{
	ck_assert_uint_eq(g->c.new_sw, sw);
	ck_assert_uint_eq(g->c.new_links, links);
	ck_assert_uint_eq(g->c.new_hosts, hosts);
	ck_assert_uint_eq(g->c.changed, changed);
}

static inline void dropped(const struct grown *g, uint32_t sw, uint32_t links,
		    uint32_t hosts)
{
	ck_assert_uint_eq(g->c.dropped_sw, sw);
	ck_assert_uint_eq(g->c.dropped_links, links);
	ck_assert_uint_eq(g->c.dropped_hosts, hosts);
}

static inline void missing(const struct grown *g, uint32_t sw, uint32_t links,
		    uint32_t hosts)
{
	ck_assert_uint_eq(g->sh->n_missing_sw, sw);
	ck_assert_uint_eq(g->sh->n_missing_links, links);
	ck_assert_uint_eq(g->sh->n_missing_hosts, hosts);
}

#endif
