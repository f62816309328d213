/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The plugin's clock: milliseconds, monotonic, and waiting by it.
 */
#ifndef IBF_CLOCK_H
#define IBF_CLOCK_H

#include <pthread.h>
#include <stdbool.h>

double ibf_now_ms(void);
void ibf_sleep_ms(unsigned int ms);
/* A condition that is waited for by this clock. */
void ibf_cond_init(pthread_cond_t *cond);
/* Wait until then, or for ever if when is negative; false: it is past. */
bool ibf_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, double when);

#endif
