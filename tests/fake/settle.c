// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Waits until the plugin and the fake OpenSM have nothing to do, and counts what they have logged.
 */
#include <stdio.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/at_rest.h"
#include "osm/writer.h"

static bool plugin_idle(struct fake *h)
{
	struct ibf_fast *f = h->fast;
	bool idle;

	if (!f)
		return true;
	pthread_mutex_lock(&f->rr.mutex);
	idle = at_rest(&f->rr.state);
	pthread_mutex_unlock(&f->rr.mutex);
	return idle;
}

static bool dispatcher_idle(struct fake *h)
{
	bool idle;

	pthread_mutex_lock(&h->mutex);
	idle = !h->posted;
	pthread_mutex_unlock(&h->mutex);
	return idle;
}

void fake_flush(struct fake *h)
{
	const struct ibf_plugin *p = h->plugin;

	if (p && !ibf_writer_flush(p->writer, (unsigned int)FAKE_PATIENCE_MS))
		fake_fail("the plugin does not finish writing files");
}

/* True if there is nothing to do before the next event or the next timeout. */
static bool settled(struct fake *h)
{
	return dispatcher_idle(h) && plugin_idle(h) && fake_wire_idle(h) &&
		dispatcher_idle(h) && plugin_idle(h) && !fake_repeat_traps(h);
}

void fake_settle(struct fake *h)
{
	fake_until(settled(h));
	fake_flush(h);
}

static bool sweeper_idle(struct fake *h)
{
	bool idle;

	pthread_mutex_lock(&h->mutex);
	idle = !h->sweeping && !h->signals;
	pthread_mutex_unlock(&h->mutex);
	return idle;
}

static bool sweep_due(struct fake *h)
{
	bool due;

	if (!h->fast)
		return false;
	pthread_mutex_lock(&h->fast->rr.mutex);
	due = h->fast->rr.state.want.wanted;
	pthread_mutex_unlock(&h->fast->rr.mutex);
	return due;
}

void fake_rest(struct fake *h)
{
	fake_until(settled(h) && sweeper_idle(h) && !fake_sweep_wanted(h) &&
		   !sweep_due(h) && dispatcher_idle(h) && plugin_idle(h));
	fake_flush(h);
}

static bool damped(struct fake *h)
{
	uint32_t n;

	pthread_mutex_lock(&h->fast->rr.mutex);
	n = rr_links_count_damped(&h->fast->rr.state.links, ibf_now_ms());
	pthread_mutex_unlock(&h->fast->rr.mutex);
	return n;
}

void fake_wait_released(struct fake *h)
{
	fake_until(!damped(h));
	fake_let_others_work();	/* the worker wakes up at this time, too */
}

bool fake_sweep_wanted(struct fake *h)
{
	return __atomic_load_n(&h->osm->subn.force_heavy_sweep,
			       __ATOMIC_RELAXED);
}

bool fake_wait_wanted(struct fake *h)
{
	struct fake_look l = fake_look();

	while ((!fake_sweep_wanted(h) || sweep_due(h)) && !l.over)
		fake_pause(&l);
	return fake_sweep_wanted(h);
}

static unsigned int count_text(const char *in, const char *text)
{
	unsigned int n = 0;

	while (in && (in = strstr(in, text))) {
		in += strlen(text);
		n++;
	}
	return n;
}

unsigned int fake_logged(struct fake *h, const char *text)
{
	unsigned int n;

	pthread_mutex_lock(&h->mutex);
	n = count_text(h->log, text);
	pthread_mutex_unlock(&h->mutex);
	return n;
}

unsigned int fake_events(struct fake *h, const char *text)
{
	static char buf[1 << 20];
	char path[128];
	size_t n;
	FILE *in;

	fake_flush(h);
	snprintf(path, sizeof(path), "%s/ibfattree-events.jsonl", h->dir);
	in = fopen(path, "r");
	if (!in)
		return 0;
	n = fread(buf, 1, sizeof(buf) - 1, in);
	fclose(in);
	buf[n] = '\0';
	return count_text(buf, text);
}
