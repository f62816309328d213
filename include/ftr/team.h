/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A team of threads for fork-join parallelism within one call.
 *
 * The caller creates a team and passes it in.  A team of size 1, or NULL, runs in the
 * calling thread and starts no threads.  ftr_team_run splits 0..n-1 into ranges of at most
 * `chunk` items, calls fn for each of them and returns when all calls have returned.  In a team of
 * size 1, fn is called once for all items.  The work must be split so that every
 * output has one writer; results then do not depend on the size of the team.  fn
 * must not log or allocate from a shared arena.  A team can do only one run at a time.
 */
#ifndef FTR_TEAM_H
#define FTR_TEAM_H

#include <ftr/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ftr_team;

/* Make a team of n members, the caller included; n = 0: one for each online core.  If n is greater
 * than FTR_TEAM_MAX, the team has FTR_TEAM_MAX members.  NULL: out of memory, or a thread could
 * not be started. */
#define FTR_TEAM_MAX 64
struct ftr_team *ftr_team_new(unsigned int n);
void ftr_team_free(struct ftr_team *t);	/* ends the threads; NULL is accepted */
unsigned int ftr_team_size(const struct ftr_team *t);	/* 1 for NULL */

/* fn handles items begin..end-1; worker is 0..size-1. */
typedef void (*ftr_team_fn)(void *ctx, unsigned int worker, uint32_t begin,
			    uint32_t end);
void ftr_team_run(struct ftr_team *t, uint32_t n, uint32_t chunk,
		  ftr_team_fn fn, void *ctx);

#ifdef __cplusplus
}
#endif
#endif
