/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * libftr: a library that routes, checks and describes InfiniBand fat-trees.
 *
 * Only ftr_set_unpacker and ftr_set_converter change global settings.  Two threads may use two
 * different objects at the same time, or share const objects.  The library copies the strings that the
 * caller passes.  A string that the library returns is valid as long as the object that contains it.
 */
#ifndef FTR_FTR_H
#define FTR_FTR_H

#include <ftr/balance.h>
#include <ftr/cdg.h>
#include <ftr/check.h>
#include <ftr/drain.h>
#include <ftr/engine.h>
#include <ftr/fabric.h>
#include <ftr/gen.h>
#include <ftr/hosts.h>
#include <ftr/io.h>
#include <ftr/jobs.h>
#include <ftr/incremental.h>
#include <ftr/load.h>
#include <ftr/nominal.h>
#include <ftr/ddlr.h>
#include <ftr/shape.h>
#include <ftr/sim.h>
#include <ftr/status.h>
#include <ftr/state.h>
#include <ftr/tables.h>
#include <ftr/team.h>
#include <ftr/text.h>
#include <ftr/transition.h>
#include <ftr/types.h>
#include <ftr/vl.h>

#endif
