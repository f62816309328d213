/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The union of a nominal fabric and the present fabric.
 */
#ifndef FTR_SHAPE_UNITE_H
#define FTR_SHAPE_UNITE_H

#include "shape/cover.h"

/* Make the union of the nominal fabric c->n and the present fabric c->f; if c->n is NULL, a copy of
 * c->f.  The result has no LIDs.  The numbers of nominal parts that the union drops are added to
 * the members dropped_... of *change. */
enum ftr_status unite(const struct cover *c, struct ftr_arena *scratch,
		      struct ftr_nominal_change *change,
		      struct ftr_fabric **out,
		      struct ftr_err *err) FTR_MUST_USE;

#endif
