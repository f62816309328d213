/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Computes the channel dependencies of changing tables, by a slow and simple algorithm for small
 * fabrics.  The functions do the same as those of <ftr/cdg.h>.
 *
 * Each LID has two sets: the combinations (link, VL, SL) that its packets occupy, and
 * the edges.  A write step gives its switches a second entry.  The packets are followed
 * over all entries until the two sets no longer grow.  Then the old entries are removed.
 * A drain empties both sets and fills them again from the present tables.
 */
#ifndef FTR_TEST_DEPS_H
#define FTR_TEST_DEPS_H

#include <ftr/ftr.h>

struct deps_lid {
	uint8_t *occ;		/* [sending port][VL][SL] 1: occupied */
	uint8_t *edge;		/* [sending port][VL][next port][next VL] 1: the edge exists */
	uint8_t *port;		/* [n_sw] present entry of each switch */
};

struct deps {
	const struct ftr_fabric *f;
	const struct ftr_sl2vl *m;	/* NULL: VL = SL */
	uint16_t sls;
	bool switches;
	unsigned int vls;
	unsigned int width;	/* the greatest number of ports of a switch, plus 1 */
	uint8_t *down;
	struct deps_lid *lid;
};

struct deps *deps_new(const struct ftr_fabric *f, const struct ftr_tables *t,
		      const struct ftr_sl2vl *m, uint16_t sls, bool switches,
		      unsigned int vls);
void deps_free(struct deps *d);
void deps_step(struct deps *d, ftr_lid lid, const struct ftr_change *w,
	       unsigned int n);
void deps_drain(struct deps *d, ftr_lid lid);
void deps_set_down(struct deps *d, ftr_sw s, ftr_port port, bool down);
bool deps_cyclic(const struct deps *d);
bool deps_has(const struct deps *d, struct ftr_channel a,
	      struct ftr_channel b);

struct deps_lid deps_save(const struct deps *d, ftr_lid lid);
void deps_restore(struct deps *d, ftr_lid lid, struct deps_lid saved);
void deps_forget(struct deps_lid saved);

#endif
