/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* For tests: shows whether the fast path has finished its work. */
#ifndef FTR_TESTS_AT_REST_H
#define FTR_TESTS_AT_REST_H

#include "reroute/state.h"

/* True if the worker has nothing to do before the next event, and before the time that rr_timer()
 * returns. */
static inline bool at_rest(const struct rr_state *s)
{
	return s->job == RR_IDLE && s->view == s->held &&
		(s->sweep == RR_ROUTING ||
		 (!s->n_traps && !s->swept && !s->released));
}

#endif
