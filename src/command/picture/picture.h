/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The parts of making a picture: pods and coordinates (coordinates.c), missing links (missing.c).
 */
#ifndef FTR_PICTURE_PICTURE_H
#define FTR_PICTURE_PICTURE_H

#include "base/base.h"
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

bool picture_missing(struct drawing *z);

#endif
