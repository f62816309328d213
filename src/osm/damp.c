// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Damping: two small state machines, see damp.h.
 */
#include "core/core.h"
#include "osm/damp.h"

void ibf_damp_want(struct ibf_damp_sweep *d, double now)
{
	if (!d->wanted)
		d->first = now;
	d->wanted = true;
	d->last = now;
}

void ibf_damp_hurry(struct ibf_damp_sweep *d, double now)
{
	ibf_damp_want(d, now);
	d->first = FTR_MIN(d->first, now - d->cap);
}

double ibf_damp_latest(const struct ibf_damp_sweep *d)
{
	return d->wanted ? d->first + d->cap : -1;
}

double ibf_damp_due(const struct ibf_damp_sweep *d)
{
	double quiet = d->last + d->delay, latest = ibf_damp_latest(d);

	return d->wanted && quiet < latest ? quiet : latest;
}

void ibf_damp_asked(struct ibf_damp_sweep *d)
{
	d->wanted = false;
}

/* Its place in the list, n if it has none. */
static uint32_t find(const struct ibf_flap *f, uint64_t guid, ftr_port port)
{
	uint32_t i = 0;

	while (i < f->n && (f->cable[i].guid != guid ||
			    f->cable[i].port != port))
		i++;
	return i;
}

static bool held(const struct ibf_flap *f, const struct ibf_flap_cable *c,
		 double now)
{
	return f->limit && c->n >= f->limit && now < c->last + f->hold;
}

static struct ibf_flap_cable *take(struct ibf_flap *f)
{
	struct ibf_flap_cable *quiet = &f->cable[0];

	if (f->n < IBF_FLAP_CABLES)
		return &f->cable[f->n++];
	for (uint32_t i = 1; i < f->n; i++)
		if (f->cable[i].last < quiet->last)
			quiet = &f->cable[i];
	return quiet;
}

bool ibf_flap_died(struct ibf_flap *f, uint64_t guid, ftr_port port,
		   double now)
{
	uint32_t i = find(f, guid, port);
	bool known = i < f->n;
	struct ibf_flap_cable *c = known ? &f->cable[i] : take(f);

	if (!known)
		*c = (struct ibf_flap_cable){ .guid = guid, .port = port };
	if (!known || (!held(f, c, now) && now > c->since + f->window)) {
		c->n = 0;
		c->since = now;
	}
	c->n++;
	c->last = now;
	return held(f, c, now);
}

bool ibf_flap_held(const struct ibf_flap *f, uint64_t guid, ftr_port port,
		   double now)
{
	uint32_t i = find(f, guid, port);

	return i < f->n && held(f, &f->cable[i], now);
}

double ibf_flap_release(const struct ibf_flap *f, double now)
{
	double first = -1;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct ibf_flap_cable *c = &f->cable[i];

		if (held(f, c, now) &&
		    (first < 0 || c->last + f->hold < first))
			first = c->last + f->hold;
	}
	return first;
}
