/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A team of threads, which process the parts of one call in parallel.
 *
 * The caller creates a team and passes it to functions that can use several threads.  If the team
 * has size 1 or is NULL, these functions run in the calling thread alone.
 *
 * ftr_team_run splits the items 0..n-1 into ranges of at most `chunk` items.  It calls fn for
 * each range, and returns when all calls have returned.  In a team of size 1, it calls fn once
 * for all items.  Each output must be written by only one call of fn; then the results do not
 * depend on the size of the team.  fn must not log, and must not allocate from an arena that
 * other calls use.  A team can do only one run at a time.
 */
#ifndef FTR_TEAM_H
#define FTR_TEAM_H

#include <ftr/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ftr_team;

/* Make a team of n threads, the calling thread included.  n is at most FTR_TEAM_MAX; 0: one thread
 * for each online core.  Returns NULL if there is no memory or a thread could not be started. */
#define FTR_TEAM_MAX 64
struct ftr_team *ftr_team_new(unsigned int n);
void ftr_team_free(struct ftr_team *t);	/* ends the threads; NULL is accepted */
unsigned int ftr_team_size(const struct ftr_team *t);	/* 1 for NULL */

/* Process the items begin .. end-1.  worker is the number of the thread, 0 .. size-1. */
typedef void (*ftr_team_fn)(void *ctx, unsigned int worker, uint32_t begin,
			    uint32_t end);
void ftr_team_run(struct ftr_team *t, uint32_t n, uint32_t chunk,
		  ftr_team_fn fn, void *ctx);

#ifdef __cplusplus
}
#endif
#endif
