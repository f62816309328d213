/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The steps from a shape to a picture: pods, then places (picture.c), then
 * what is odd (odd.c) and what is missing (missing.c).
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
	uint32_t *pod_of, *block_of;	/* published */
	struct ftr_picture_pod *pod;	/* published */
};

bool picture_odd(struct drawing *z);
bool picture_missing(struct drawing *z);

#endif
