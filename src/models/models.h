/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * models: routing functions that switches of other technologies run by
 * themselves, <ftr/models.h>.
 *
 * Each is a table of operations, struct ftr_sim_function of <ftr/sim.h>, and
 * uses the simulator through that header only.  A new one is a file of its own,
 * and a line in models.c.
 *
 * Files: tiers.c is what the fat-tree functions know about the tiers; det.c
 * (det-links, det-switches), adaptive.c (adaptive-links, adaptive-switches,
 * misroute) and immunet.c are the functions; models.c lists them.
 */
#ifndef FTR_MODELS_MODELS_H
#define FTR_MODELS_MODELS_H

#include "core/core.h"
#include <ftr/models.h>

extern const struct ftr_sim_function model_det_links, model_det_switches;
extern const struct ftr_sim_function model_adaptive_links,
	model_adaptive_switches;
extern const struct ftr_sim_function model_misroute, model_immunet;

#endif
