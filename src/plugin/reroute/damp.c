// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Computes when the sweep after a repair is due, see damp.h.
 */
#include "base/base.h"
#include "reroute/damp.h"

void rr_damp_want(struct rr_damp *d, double now)
{
	if (!d->wanted)
		d->first = now;
	d->wanted = true;
	d->last = now;
}

void rr_damp_hurry(struct rr_damp *d, double now)
{
	rr_damp_want(d, now);
	d->first = FTR_MIN(d->first, now - d->cap);
}

double rr_damp_latest(const struct rr_damp *d)
{
	return d->wanted ? d->first + d->cap : -1;
}

double rr_damp_due(const struct rr_damp *d)
{
	double quiet = d->last + d->delay, latest = rr_damp_latest(d);

	return d->wanted && quiet < latest ? quiet : latest;
}

void rr_damp_asked(struct rr_damp *d)
{
	d->wanted = false;
}
