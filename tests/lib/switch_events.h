/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* For tests of incremental tables: the failure or return of a switch. */
#ifndef FTR_TESTS_SWITCH_EVENTS_H
#define FTR_TESTS_SWITCH_EVENTS_H

#include <ftr/incremental.h>

/* Store in event[FTR_PORT_MAX] one event for each known link between s and another switch of f.
 * Returns their number. */
static inline uint32_t switch_events(const struct ftr_fabric *f, const struct ftr_incr *lv,
				     ftr_sw s, bool up, struct ftr_incr_event *event)
{
	uint32_t n = 0;

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
		if (ftr_incr_connected(lv, s, (ftr_port)p))
			event[n++] = (struct ftr_incr_event){ s, (ftr_port)p, up };
	return n;
}

#endif
