/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Threads as coroutines, for programs that decide themselves what happens next.
 *
 * fiber.c replaces vclock.c, and dispatch.c replaces the dispatcher of OpenSM.  All threads of the
 * plugin and of the fake OpenSM then are coroutines of one thread of the operating system.  A
 * coroutine runs until it waits.  So a run depends on nothing but the decisions of the program,
 * and fork() copies the complete state.
 *
 * The linker replaces (--wrap) the functions of pthread that can block, in all objects that are
 * linked statically.
 */
#ifndef FTR_TESTS_FIBER_H
#define FTR_TESTS_FIBER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Called when all coroutines wait.  It must make at least one able to run, or let time pass. */
typedef void (*fiber_idle_fn)(void);
/* Called when n > 1 coroutines can run.  Returns the number of the next one, from 0. */
typedef unsigned int (*fiber_order_fn)(unsigned int n);
/* NULL: time passes when all wait, and the coroutines run in the order in which they were woken. */
void fiber_control(fiber_idle_fn idle, fiber_order_fn order);
/* Let time pass until the next time-out of a coroutine.  Returns false if there is none. */
bool fiber_let_time_pass(void);
bool fiber_has_timeout(void);
/* The ms until the next time-out; negative: there is none. */
double fiber_next_timeout(void);
/* Wait until fiber_go() is called with the same number.  Returns at once after fiber_free_all(). */
void fiber_park(unsigned int number);
bool fiber_is_parked(unsigned int number);
void fiber_go(unsigned int number);
/* From now on (on = true), no coroutine waits in fiber_park(). */
void fiber_pass(bool on);
/* This coroutine survives fiber_abandon(). */
void fiber_keep(pthread_t id);
/* End all other coroutines that were not kept, as a crash of the process does. */
void fiber_abandon(void);
/* The coroutine does not run before this time, as if the operating system gave it no processor. */
void fiber_freeze(pthread_t id, double until);
/* The number of times that a coroutine which was not kept has begun to run. */
extern uint64_t fiber_runs;

#endif
