/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * libftr: routing, checking and describing InfiniBand fat-trees.
 *
 * Except for ftr_set_unpacker, no function changes a global setting.  Different objects may
 * be used by different threads at the same time; const objects may be shared.  Strings
 * that are passed to the library are copied; a string that it returns is valid as long as
 * the object that contains it.
 */
#ifndef FTR_FTR_H
#define FTR_FTR_H

#include <ftr/balance.h>
#include <ftr/cdg.h>
#include <ftr/check.h>
#include <ftr/engine.h>
#include <ftr/fabric.h>
#include <ftr/gen.h>
#include <ftr/hosts.h>
#include <ftr/io.h>
#include <ftr/jobs.h>
#include <ftr/incremental.h>
#include <ftr/load.h>
#include <ftr/models.h>
#include <ftr/nominal.h>
#include <ftr/picture.h>
#include <ftr/ddlr.h>
#include <ftr/shape.h>
#include <ftr/sim.h>
#include <ftr/status.h>
#include <ftr/stored.h>
#include <ftr/tables.h>
#include <ftr/team.h>
#include <ftr/text.h>
#include <ftr/types.h>
#include <ftr/vl.h>

#endif
