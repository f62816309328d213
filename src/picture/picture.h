/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The parts of making a picture: pods and coordinates (coordinates.c), irregular parts (odd.c),
 * missing links (missing.c), lower bounds on loads (least.c).
 */
#ifndef FTR_PICTURE_PICTURE_H
#define FTR_PICTURE_PICTURE_H

#include "core/core.h"
#include <ftr/picture.h>

struct drawing {
	const struct ftr_shape *sh;
	const struct ftr_fabric *f;
	struct ftr_picture *p;
	struct ftr_arena *keep;		/* becomes p->arena */
	struct ftr_arena *scratch;
	/* writable pointers to members of p */
	uint32_t *pod_of, *block_of;
	struct ftr_picture_pod *pod;
};

/* Number of links from s to higher ranks. */
static inline uint32_t picture_links_up(const struct ftr_shape *sh, ftr_sw s)
{
	uint32_t n = 0;

	for (uint32_t g = 0; g < sh->tree.n_up[s]; g++)
		n += sh->tree.groups[sh->tree.group_first[s] + g].n;
	return n;
}

bool picture_links_out(struct drawing *z);
bool picture_odd(struct drawing *z);
bool picture_missing(struct drawing *z);

#endif
