/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Processes that compute and write for the plugin: the parent's side.  The program is
 * ibfattree-helper (main.c); job.h codes what the two exchange.
 *
 *	kind	one process	answers
 *	search	per search	one request, and ends
 *	planner	per routing	a request to make a planner, then requests for plans
 *	files	per OpenSM	a request for each file
 *
 * All functions except helper_cancel() are called by one thread at a time.
 */
#ifndef HELPER_HELPER_H
#define HELPER_HELPER_H

#include "io/container.h"

#define HELPER_REQUEST "ibfattree-request 1"
#define HELPER_RESULT "ibfattree-result 1"

enum helper_kind { HELPER_SEARCH, HELPER_PLANNER, HELPER_FILES };

struct helper;

/* Start a process with an empty environment, default signals, and none of the caller's files.
 * FTR_IO, FTR_NOMEM. */
enum ftr_status helper_start(enum helper_kind kind, struct helper **out,
			     struct ftr_err *err) FTR_MUST_USE;

/* The longest time that the caller should wait for a result of this kind, in ms. */
unsigned int helper_wait_ms(enum helper_kind kind);

/* Send the content of o, and free it.  The result of the last request was read before.  FTR_IO:
 * the process has ended, or there is no memory for the request. */
enum ftr_status helper_send(struct helper *h, struct ftr_out *o, struct ftr_err *err) FTR_MUST_USE;

/* Wait at most ms milliseconds.  True: there is no result yet, and the process has not ended. */
bool helper_is_busy(const struct helper *h, unsigned int ms);

/*
 * Wait at most ms milliseconds for the result of the request.  The caller reads it from in, and
 * frees it with ftr_in_end().  On failure there is nothing to free:
 *
 *	FTR_LIMIT	there is no result yet
 *	FTR_REFUSED	the process works, but could not do what was requested; err says why
 *	others		the process has ended, or its result is damaged; it cannot be used again
 */
enum ftr_status helper_result(struct helper *h, unsigned int ms, struct ftr_in *in,
			      struct ftr_err *err) FTR_MUST_USE;

/* Kill the process; does not wait for its end. */
void helper_kill(struct helper *h);
/* Make a call of helper_result() in another thread kill the process and return. */
void helper_cancel(struct helper *h);

/* Kill the process, and wait for its end, at most HELPER_END_MS.  False: it has not ended, because a
 * file system that hangs keeps it; it will end later. */
#define HELPER_END_MS 1000
bool helper_end(struct helper *h);
void helper_free(struct helper *h);	/* calls helper_end(); NULL is accepted */

#endif
