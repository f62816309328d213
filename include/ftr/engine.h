/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The contract of a routing engine, and the list of engines.
 *
 * Life of an engine, all calls from one thread:
 *
 *	ftr_engine_find(name)		a constant table, never freed
 *	  ops->route(shape, team, out)	any number of times, no state kept
 *
 * route: maps a shape to complete tables.
 *	shape	const, lives at least as long as the call
 *	team	may be NULL; the result is the same for any team, bit for bit
 *	out	made by ftr_tables_new for shape->f; EVERY byte is written,
 *		FTR_PORT_NONE where there is no path or no LID
 *	stats	may be NULL; written on success
 *	returns	FTR_OK also when destinations are unreachable (they are
 *		counted), FTR_NOMEM, FTR_LIMIT, FTR_INTERNAL
 *	locks	none are taken, nothing is logged, no file is read
 */
#ifndef FTR_ENGINE_H
#define FTR_ENGINE_H

#include <ftr/shape.h>
#include <ftr/tables.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ftr_route_stats {
	uint64_t no_path;	/* (switch, LID) entries left FTR_PORT_NONE */
};

struct ftr_engine_ops {
	const char *name;	/* lower case, as in opensm.conf */
	const char *summary;	/* one line for --help and man pages */
	enum ftr_status (*route)(const struct ftr_shape *shape,
				 struct ftr_team *team, struct ftr_tables *out,
				 struct ftr_route_stats *stats,
				 struct ftr_err *err);
};

/* NULL if there is none of that name. */
const struct ftr_engine_ops *ftr_engine_find(const char *name);
/* The i-th engine, NULL past the last. */
const struct ftr_engine_ops *ftr_engine_at(unsigned int i);

#ifdef __cplusplus
}
#endif
#endif
