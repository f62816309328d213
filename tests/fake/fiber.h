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
/*
 * Which events have happened before which.  Each coroutine and each lock has a hash of all events on
 * which its state can depend: a coroutine that takes a lock learns what the lock's last holder knew.
 * So two orders of events which differ only in the order of independent events have the same hashes.
 * Data that are shared without a lock are not followed.
 */
uint64_t fiber_past(void);		/* sum of all these hashes */
/* An event on which everything may depend that happens later.  Returns its hash. */
uint64_t fiber_barrier(uint64_t event);
void fiber_forget(uint64_t state);	/* All hashes become `state`. */
/* The hash of this coroutine, or of the present event while on_idle runs. */
uint64_t fiber_cause(void);
/* From now on this coroutine depends only on `cause`, as if it were a new one. */
void fiber_follow(uint64_t cause);
/* This lock guards only data whose order of accesses has no effect. */
void fiber_ignore(const void *lock);
uint64_t fiber_mix(uint64_t a, uint64_t b);

#endif
