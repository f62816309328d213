/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The plugin's clock, in milliseconds, monotonic; and waits that use it.
 */
#ifndef IBF_CLOCK_H
#define IBF_CLOCK_H

#include <pthread.h>
#include <stdbool.h>

double ibf_now_ms(void);
void ibf_sleep_ms(unsigned int ms);
/* Initialise a condition for waits that use this clock. */
void ibf_cond_init(pthread_cond_t *cond);
/* Wait until `when`, or without limit if it is negative; false: that time has
 * passed. */
bool ibf_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, double when);

#endif
