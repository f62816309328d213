// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads the file of drained parts, see drain.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "osm/clock.h"
#include "osm/drain.h"
#include "osm/host.h"

#define INTERVAL_MS 500

struct ibf_drain {
	struct ibf_plugin *p;
	char *path;
	pthread_t thread;
	pthread_cond_t cond;
	pthread_mutex_t mutex;	/* guards the members below */
	bool stop;
	struct stat seen;	/* the file that was read last; st_ino 0: there was none */
	struct ftr_drains now;
	uint64_t routed;	/* request that the last routing used */
	uint64_t written;	/* request whose tables are written */
	char error[FTR_ERR_MAX];	/* why the present file is not used; "": it is used */
};

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && !memcmp(&a->st_ctim, &b->st_ctim, sizeof(a->st_ctim));
}

static void publish(struct ibf_drain *d)
{
	ibf_status_drains(d->p, &d->now, d->written, ibf_packet_lifetime(d->p), d->error);
}

/* Read the file if it has changed.  Returns true if the list has changed. */
static bool look(struct ibf_drain *d)
{
	struct ftr_drains new = { 0 };
	struct ftr_err err = { 0 };
	struct stat st = { 0 };
	bool changed = false;

	if (lstat(d->path, &st))
		memset(&st, 0, sizeof(st));
	if (same_file(&st, &d->seen))
		return false;
	d->seen = st;
	d->error[0] = '\0';
	if (st.st_ino && ftr_drains_read(d->path, true, &new, &err)) {
		snprintf(d->error, sizeof(d->error), "%s", err.msg);
		ibf_log(d->p, IBF_DRAIN_FILE, "%s; the drained parts stay as they were: %s",
			err.msg, ibf_count(d->now.n, "part", "parts").s);
	} else {
		changed = new.request != d->now.request || new.n != d->now.n;
		ftr_drains_clear(&d->now);
		d->now = new;
		if (changed)
			ibf_log(d->p, IBF_DRAINED, "%s: request=0x%" PRIx64 " drained=%s",
				d->path, new.request,
				ibf_count(new.n, "part", "parts").s);
	}
	publish(d);
	return changed;
}

static void *watch(void *arg)
{
	struct ibf_drain *d = arg;
	bool changed;

	pthread_mutex_lock(&d->mutex);
	while (!d->stop) {
		changed = look(d);
		if (changed && ibf_is_master(d->p))
			ibf_request_sweep(d->p->osm);
		ibf_real_clock.wait(&d->cond, &d->mutex, ibf_real_clock.now() + INTERVAL_MS);
	}
	pthread_mutex_unlock(&d->mutex);
	return NULL;
}

struct ibf_drain *ibf_drain_new(struct ibf_plugin *p, const char *options)
{
	struct ibf_drain *d = ftr_calloc(1, sizeof(*d));

	if (d) {
		d->p = p;
		d->path = ftr_asprintf("%s.drains", options);
		pthread_mutex_init(&d->mutex, NULL);
		ibf_cond_init(&d->cond);
		if (d->path)
			look(d);
		if (d->path && ibf_clock_start(&ibf_real_clock, &d->thread, watch, d))
			return d;
		ftr_drains_clear(&d->now);
		free(d->path);
		free(d);
	}
	ibf_log(p, IBF_DRAIN_FILE, "parts cannot be drained: no memory, or no thread");
	return NULL;
}

void ibf_drain_free(struct ibf_drain *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->mutex);
	d->stop = true;
	pthread_cond_broadcast(&d->cond);
	pthread_mutex_unlock(&d->mutex);
	ibf_real_clock.join(d->thread);
	pthread_mutex_destroy(&d->mutex);
	pthread_cond_destroy(&d->cond);
	ftr_drains_clear(&d->now);
	free(d->path);
	free(d);
}

/* The caller holds the mutex. */
static enum ftr_status replace_fabric(struct ibf_drain *d, struct ibf_generation *gen,
				      struct ftr_err *err)
{
	struct ftr_hop origin;
	struct ftr_drained out;
	enum ftr_status st;
	ftr_lid lid;

	ibf_find_manager(d->p, gen->fabric, &origin, &lid);
	st = ftr_drain_apply(gen->fabric, &d->now, origin.sw, &out, err);
	if (st)
		return st;
	gen->undrained = gen->fabric;
	gen->fabric = out.f;
	out.f = NULL;
	ftr_drained_clear(&out);
	return gen->nominal ? ftr_drain_missing(gen->nominal->n->f, gen->fabric, &d->now,
						&gen->drained, err) : FTR_OK;
}

enum ftr_status ibf_drain_apply(struct ibf_plugin *p, struct ibf_generation *gen,
				struct ftr_err *err)
{
	struct ibf_drain *d = p->drain;
	enum ftr_status st = FTR_OK;

	if (!d)
		return FTR_OK;
	pthread_mutex_lock(&d->mutex);
	if (d->now.n)
		st = replace_fabric(d, gen, err);
	if (!st)
		d->routed = d->now.request;
	pthread_mutex_unlock(&d->mutex);
	return st;
}

void ibf_drain_written(struct ibf_plugin *p)
{
	struct ibf_drain *d = p->drain;

	if (!d)
		return;
	pthread_mutex_lock(&d->mutex);
	if (d->written != d->routed && d->routed == d->now.request)
		ibf_event_drains(p, &d->now);
	d->written = d->routed;
	publish(d);
	pthread_mutex_unlock(&d->mutex);
}
