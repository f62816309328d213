/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The plugin's monotonic clock, in milliseconds, and the functions that wait and start
 * threads.
 *
 * Tests replace this clock (tests/fake/vclock.c): their time passes only while all
 * threads wait, so that no outcome depends on the speed of the machine.
 */
#ifndef IBF_CLOCK_H
#define IBF_CLOCK_H

#include <pthread.h>
#include <stdbool.h>

/* The implementation of the functions that are declared below. */
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
/* Initialise a condition variable for waits that use this clock. */
void ibf_cond_init(pthread_cond_t *cond);
/* Wait for a wake-up until `when`, or without limit if `when` is negative.  Returns false if
 * `when` has passed. */
bool ibf_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, double when);
/* Wake all threads that wait for cond. */
void ibf_cond_wake(pthread_cond_t *cond);
/* Start a thread that gets no signals: signals are for OpenSM's main thread. */
bool ibf_thread_start(pthread_t *t, void *(*run)(void *), void *arg);
void ibf_thread_join(pthread_t t);

#endif
