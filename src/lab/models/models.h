/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Switch-local routing functions from the literature.  The interface is <ftr/models.h>.
 *
 * Each function is a table of operations, struct ftr_sim_function of <ftr/sim.h>, and uses the
 * simulator only through that header.  To add a function, write a new file and add a line to
 * models.c.
 *
 *	tiers.c		the upward and downward ports of fat-tree switches
 *	det.c		det-links, det-switches
 *	adaptive.c	adaptive-links, adaptive-switches, misroute
 *	immunet.c	immunet
 *	models.c	the list of functions
 */
#ifndef FTR_MODELS_MODELS_H
#define FTR_MODELS_MODELS_H

#include "base/base.h"
#include <ftr/models.h>

extern const struct ftr_sim_function model_det_links, model_det_switches;
extern const struct ftr_sim_function model_adaptive_links,
	model_adaptive_switches;
extern const struct ftr_sim_function model_misroute, model_immunet;

#endif
