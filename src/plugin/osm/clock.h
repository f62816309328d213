/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The plugin's monotonic clock, in milliseconds, with functions to wait and to start
 * threads.
 *
 * Tests replace the clock (tests/fake/vclock.c): their time passes only while all threads
 * wait, so no result depends on the speed of the machine.
 */
#ifndef IBF_CLOCK_H
#define IBF_CLOCK_H

#include <pthread.h>
#include <stdbool.h>

/* Implementation of the functions below. */
struct ibf_clock {
	double (*now)(void);
	bool (*wait)(pthread_cond_t *cond, pthread_mutex_t *mutex, double when);
	void (*wake)(pthread_cond_t *cond);
	int (*start)(pthread_t *t, void *(*run)(void *), void *arg);
	void (*join)(pthread_t t);
};

extern const struct ibf_clock ibf_real_clock;
extern const struct ibf_clock *ibf_clock;

double ibf_now_ms(void);
void ibf_sleep_ms(unsigned int ms);
void ibf_cond_init(pthread_cond_t *cond);
/* Wait until another thread calls ibf_cond_wake, or until the time `when` (negative: without
 * limit).  Returns false if `when` has passed. */
bool ibf_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, double when);
void ibf_cond_wake(pthread_cond_t *cond);
/* Starts a thread with all signals blocked: OpenSM's main thread handles signals. */
bool ibf_clock_start(const struct ibf_clock *c, pthread_t *t, void *(*run)(void *), void *arg);
/* The same with ibf_clock. */
bool ibf_thread_start(pthread_t *t, void *(*run)(void *), void *arg);
void ibf_thread_join(pthread_t t);

#endif
