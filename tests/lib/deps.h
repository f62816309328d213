/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Channel dependencies of changing tables by a slow and simple algorithm, for small
 * fabrics: the functions of <ftr/cdg.h>, computed with sets and fixed points.
 *
 * For each LID there are two sets: the occupied combinations (link, VL, SL), and the edges. A
 * write step gives its switches a second entry. All entries are then followed repeatedly until
 * the sets no longer grow, and the old entries are removed. A drain empties the two sets and
 * fills them again from the present tables. Each search for cycles starts from scratch.
 */
#ifndef FTR_TEST_DEPS_H
#define FTR_TEST_DEPS_H

#include <ftr/ftr.h>

struct deps_lid {
	uint8_t *occ;		/* [n_ports * vls * 16] 1: (link, VL, SL) is occupied; a link has
				 * the index of its sending port */
	uint8_t *edge;		/* [n_ports * vls][width][vls] 1: the edge exists, see edge() */
	uint8_t *port;		/* [n_sw] current entry of each switch */
};

struct deps {
	const struct ftr_fabric *f;
	const struct ftr_sl2vl *m;	/* NULL: VL = SL */
	uint16_t sls;
	bool switches;
	unsigned int vls;	/* number of VLs */
	unsigned int width;	/* greatest number of ports of a switch, plus 1 */
	uint8_t *down;		/* [n_ports] 1: the link is down */
	struct deps_lid *lid;	/* [max_lid + 1] */
};

struct deps *deps_new(const struct ftr_fabric *f, const struct ftr_tables *t,
		      const struct ftr_sl2vl *m, uint16_t sls, bool switches,
		      unsigned int vls);
void deps_free(struct deps *d);
void deps_step(struct deps *d, ftr_lid lid, const struct ftr_cdg_write *w,
	       unsigned int n);
void deps_drain(struct deps *d, ftr_lid lid);
void deps_set_down(struct deps *d, ftr_sw s, ftr_port port, bool down);
bool deps_cyclic(const struct deps *d);
bool deps_has(const struct deps *d, struct ftr_channel a,
	      struct ftr_channel b);

/* A copy of the state of a LID, to be restored later. */
struct deps_lid deps_save(const struct deps *d, ftr_lid lid);
void deps_restore(struct deps *d, ftr_lid lid, struct deps_lid saved);
void deps_forget(struct deps_lid saved);

#endif
