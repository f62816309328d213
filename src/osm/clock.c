// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The plugin's clock.  It is CLOCK_MONOTONIC, so that steps of the wall clock
 * neither end a wait early nor make it endless.
 */
#include <time.h>

#include "osm/clock.h"

static struct timespec timespec_of(double ms)
{
	struct timespec t = { .tv_sec = (time_t)(ms / 1e3) };

	t.tv_nsec = (long)((ms - (double)t.tv_sec * 1e3) * 1e6);
	return t;
}

double ibf_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

void ibf_sleep_ms(unsigned int ms)
{
	struct timespec t = timespec_of(ms);

	nanosleep(&t, NULL);
}

void ibf_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

bool ibf_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, double when)
{
	struct timespec t = timespec_of(when);

	return !(when < 0 ? pthread_cond_wait(cond, mutex) :
			    pthread_cond_timedwait(cond, mutex, &t));
}
