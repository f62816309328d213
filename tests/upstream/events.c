// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An event plugin of OpenSM, which tests/upstream/run uses.  For every STATE_CHANGE event
 * it appends a line to the file "events" in the current directory.  If the environment
 * variable EVENTS_THREAD is set, it also starts a thread that is still running when OpenSM
 * calls dlclose.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <opensm/osm_config.h>
#include <opensm/osm_version.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_event_plugin.h>

static void *work(void *arg)
{
	for (;;)
		usleep(100);
	return arg;
}

static void *create(struct osm_opensm *osm)
{
	pthread_t t;

	if (getenv("EVENTS_THREAD") && !pthread_create(&t, NULL, work, NULL))
		pthread_detach(t);
	return osm;
}

static void end(void *data)
{
	(void)data;
}

static void report(void *data, osm_epi_event_id_t id, void *event)
{
	FILE *f = id == OSM_EVENT_ID_STATE_CHANGE ? fopen("events", "a") : NULL;

	(void)data;
	(void)event;
	if (f) {
		fputs("STATE_CHANGE\n", f);
		fclose(f);
	}
}

osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = end,
	.report = report,
};
