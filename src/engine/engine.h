/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What engines share: their tables of operations.
 */
#ifndef FTR_ENGINE_ENGINE_H
#define FTR_ENGINE_ENGINE_H

#include "core/core.h"
#include <ftr/engine.h>

extern const struct ftr_engine_ops ftr_engine_dmodc;

#endif
