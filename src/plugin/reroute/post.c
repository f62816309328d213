// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Functions that all parts of the fast path use: they post events to the state machine, read
 * the clock, write warnings, and count references to routings.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#include "reroute/reroute.h"

double rr_now(const struct rr *f)
{
	return f->ops->now(f->ctx);
}

double rr_wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void rr_warn(struct rr *f, enum rr_warning what, const char *fmt, ...)
{
	char text[2 * FTR_ERR_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	f->ops->warn(f->ctx, what, text);
}

struct rr_routing rr_routing_get(const struct rr_routing *gen)
{
	gen->get(gen->owner);
	return *gen;
}

void rr_routing_put(struct rr_routing *gen)
{
	if (gen->owner)
		gen->put(gen->owner);
	gen->owner = NULL;
}

/* ---- events -------------------------------------------------------------- */

unsigned int rr_post_locked(struct rr *f, const struct rr_event *ev)
{
	unsigned int todo = rr_step(&f->state, ev, rr_now(f));

	f->ops->posted(f->ctx);
	return todo;
}

/* Post the event.  If the event makes the tables in the switches unknown, no view will be made of
 * the last routing, so the reference to that routing is dropped. */
unsigned int rr_post(struct rr *f, const struct rr_event *ev)
{
	struct rr_routing fresh = { .owner = NULL };
	unsigned int todo;

	pthread_mutex_lock(&f->mutex);
	todo = rr_post_locked(f, ev);
	if (f->state.tables == RR_FOREIGN) {
		fresh = f->fresh;
		f->fresh.owner = NULL;
	}
	pthread_mutex_unlock(&f->mutex);
	rr_routing_put(&fresh);
	return todo;
}

bool rr_is_overtaken(struct rr *f)
{
	bool is;

	pthread_mutex_lock(&f->mutex);
	is = rr_overtaken(&f->state);
	pthread_mutex_unlock(&f->mutex);
	return is;
}

bool rr_has_older(struct rr *f, bool unranked)
{
	double last;

	pthread_mutex_lock(&f->mutex);
	last = unranked ? f->written.unranked : f->written.last;
	pthread_mutex_unlock(&f->mutex);
	return last > 0 && rr_now(f) < last + f->ops->lifetime(f->ctx);
}

/* ---- sweeps -------------------------------------------------------------- */

void rr_want_sweep(struct rr *f)
{
	rr_post(f, &(struct rr_event){ .kind = RR_EV_WANT_SWEEP });
}

void rr_sweep_now(struct rr *f)
{
	struct rr_event ev = { .kind = RR_EV_WANT_SWEEP, .now = true };

	if (rr_post(f, &ev) & RR_ACT_SWEEP)
		f->ops->sweep(f->ctx);
}

enum ftr_status rr_refuse(const struct ftr_fabric *f, const char *what,
			  const struct ftr_delta_report *rep,
			  enum ftr_finding i, struct ftr_err *err)
{
	const struct ftr_switch *from = &f->sw[rep->sample[i].from];

	return ftr_fail(err, FTR_REFUSED, "%s %s (%" PRIu64
			" in all): from switch %s (0x%016" PRIx64
			") towards LID %u", what, ftr_finding_name(i),
			rep->found[i], from->name, from->guid,
			rep->sample[i].lid);
}
