// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Coroutines instead of threads, see fiber.h; and the virtual clock of tests/fake for them.
 *
 * A coroutine is in one of these states:
 *
 *	READY	it can run; the list of coroutines is in the order in which they became ready
 *	WAITS	in ibf_cond_wait, with or without a time-out
 *	JOINS	for the end of another one
 *	LOCK	for a lock, until any lock is released
 *	LOOKS	in fake_pause; it looks again when all others wait, and one of them has run
 *	PARKED	in fiber_park
 *
 * A lock is an entry in a list, with the number of its readers, or -1 for its writer.  (The objects of
 * pthread are not used.)
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "fake/fiber.h"
#include "fake/opensm.h"
#include "osm/clock.h"

#define STACK (512u << 10)
#define FOREVER 1e11
#define TICK_MS 1e-6

enum state { READY, WAITS, JOINS, LOCK, LOOKS, PARKED, ENDED };

struct fiber {
	struct fiber *next;
	ucontext_t at;
	enum state state;
	const void *on;		/* the condition, the lock, or the coroutine that must end */
	double when;		/* time-out, ms; negative: none */
	double frozen;		/* it does not run before this time */
	bool late, kept;
	uint64_t seen;		/* LOOKS: value of `steps` at the last look */
	uint64_t turn;		/* READY: number of its place in the queue */
	unsigned int number;	/* PARKED */
	uint64_t past;		/* see "what has happened before" */
	void *(*run)(void *);
	void *arg, *result, *stack;
};

struct held {
	const void *lock;
	int n;			/* number of readers; -1: one writer */
};

static struct fiber first = { .state = READY, .kept = true, .when = -1 };
static struct fiber *all = &first, *me = &first;
static struct held held[64];
static unsigned int n_held;
static double now_ms = 1000;
static uint64_t steps, turns;
static bool passing;
static fiber_idle_fn on_idle;
static fiber_order_fn on_order;

/* ---- what has happened before ----------------------------------------------------- */

static struct {
	const void *lock;
	uint64_t past;
	bool ignored;
} locks[512];
static unsigned int n_locks;
static bool idle;		/* on_idle runs */
static uint64_t event;		/* the event that on_idle carries out */

uint64_t fiber_mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ (b * 0x9e3779b97f4a7c15)) + 0x632be59bd9b4e019;

	x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9;
	return x ^ x >> 32;
}

static unsigned int place_of(const void *lock)
{
	unsigned int i = 0;

	while (i < n_locks && locks[i].lock != lock)
		i++;
	if (i == FTR_ARRAY_LEN(locks))
		fake_fail("too many locks");
	if (i == n_locks)
		locks[n_locks++].lock = lock;
	return i;
}

void fiber_ignore(const void *lock)
{
	locks[place_of(lock)].ignored = true;
}

/* The coroutine takes a lock.  A kept one (the transport) only stores answers, in any order. */
static void learn(const void *lock)
{
	unsigned int i = place_of(lock);

	if (idle || locks[i].ignored)
		return;
	if (me->kept && me != &first)
		locks[i].past += fiber_mix(me->past, 1);
	else
		me->past = locks[i].past = fiber_mix(me->past, locks[i].past);
}

uint64_t fiber_past(void)
{
	uint64_t sum = 0;

	for (const struct fiber *f = all; f; f = f->next)
		if (f->state != ENDED && (!f->kept || f == &first))
			sum += fiber_mix(f->past, 2);
	for (unsigned int i = 0; i < n_locks; i++)
		sum += locks[i].past ? fiber_mix(locks[i].past, 3) : 0;
	return sum;
}

uint64_t fiber_barrier(uint64_t what)
{
	uint64_t sum = fiber_mix(fiber_past(), what);

	for (struct fiber *f = all; f; f = f->next)
		f->past = fiber_mix(f->past, sum);
	for (unsigned int i = 0; i < n_locks; i++)
		locks[i].past = locks[i].past ? fiber_mix(locks[i].past, sum) : 0;
	return event = sum;
}

void fiber_forget(uint64_t state)
{
	for (struct fiber *f = all; f; f = f->next)
		f->past = state;
	for (unsigned int i = 0; i < n_locks; i++)
		locks[i].past = 0;
	event = state;
}

uint64_t fiber_cause(void)
{
	return idle ? event : me->past;
}

void fiber_follow(uint64_t cause)
{
	if (idle)
		event = cause;
	else
		me->past = cause;
}

/* ---- the scheduler -------------------------------------------------------------- */

static void ready(struct fiber *f)
{
	f->state = READY;
	f->turn = turns++;
}

/* Collect the coroutines that can run, the longest waiting first. */
static unsigned int list_ready(struct fiber **out, unsigned int max)
{
	unsigned int n = 0;

	for (struct fiber *f = all; f; f = f->next)
		if (f->state == READY && f->frozen <= now_ms && n < max) {
			unsigned int i = n++;

			for (; i && out[i - 1]->turn > f->turn; i--)
				out[i] = out[i - 1];
			out[i] = f;
		}
	return n;
}

static bool wake_lookers(void)
{
	bool some = false;

	for (struct fiber *f = all; f; f = f->next)
		if (f->state == LOOKS && f->seen != steps) {
			ready(f);
			some = true;
		}
	return some;
}

static double next_timeout(void)
{
	double next = FOREVER;

	for (struct fiber *f = all; f; f = f->next)
		if (f->state == WAITS && f->when >= 0)
			next = FTR_MIN(next, f->when);
		else if (f->state == READY && f->frozen > now_ms)
			next = FTR_MIN(next, f->frozen);
	return next;
}

double fiber_next_timeout(void)
{
	double next = next_timeout();

	return next < FOREVER ? FTR_MAX(next - now_ms, 0) : -1;
}

bool fiber_has_timeout(void)
{
	return next_timeout() < FOREVER;
}

bool fiber_let_time_pass(void)
{
	double next = next_timeout();

	if (next >= FOREVER)
		return false;
	now_ms = FTR_MAX(now_ms, next);
	for (struct fiber *f = all; f; f = f->next)
		if (f->state == WAITS && f->when >= 0 && f->when <= now_ms) {
			f->late = true;
			ready(f);
		}
	return true;
}

/* Run other coroutines until this one is ready. */
static void switch_away(void)
{
	struct fiber *f[32], *from = me, *to;
	unsigned int n;

	while (!(n = list_ready(f, FTR_ARRAY_LEN(f)))) {
		if (wake_lookers())
			continue;
		idle = on_idle;
		if (on_idle)
			on_idle();
		else if (!fiber_let_time_pass())
			fake_fail("all coroutines wait, without a time-out");
		idle = false;
	}
	to = f[n > 1 && on_order ? on_order(n) : 0];
	if (to == from)
		return;
	me = to;
	swapcontext(&from->at, &to->at);
}

static void block(enum state state, const void *on, double when)
{
	me->state = state;
	me->on = on;
	me->when = when;
	me->late = false;
	switch_away();
}

void fiber_control(fiber_idle_fn on, fiber_order_fn order)
{
	on_idle = on;
	on_order = order;
}

/* ---- parking -------------------------------------------------------------------- */

void fiber_park(unsigned int number)
{
	if (passing || !on_idle)
		return;
	me->number = number;
	me->past = fiber_mix(me->past, number);
	steps++;
	block(PARKED, NULL, -1);
}

static struct fiber *parked(unsigned int number)
{
	for (struct fiber *f = all; f; f = f->next)
		if (f->state == PARKED && f->number == number)
			return f;
	return NULL;
}

bool fiber_is_parked(unsigned int number)
{
	return parked(number) != NULL;
}

void fiber_go(unsigned int number)
{
	struct fiber *f = parked(number);

	f->past = fiber_mix(f->past, 7);
	ready(f);
}

void fiber_pass(bool on)
{
	passing = on;
	for (struct fiber *f = all; on && f; f = f->next)
		if (f->state == PARKED)
			ready(f);
}

/* ---- start and end -------------------------------------------------------------- */

static void run_me(void)
{
	struct fiber *f = me;

	f->result = f->run(f->arg);
	f->state = ENDED;
	steps++;
	for (struct fiber *g = all; g; g = g->next)
		if (g->state == JOINS && g->on == f)
			ready(g);
	switch_away();
	abort();
}

static int start(pthread_t *id, void *(*run)(void *), void *arg)
{
	struct fiber *f = calloc(1, sizeof(*f));

	if (!f)
		return ENOMEM;
	f->stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (f->stack == MAP_FAILED || getcontext(&f->at))
		fake_fail("no memory for a coroutine");
	f->at.uc_stack.ss_sp = f->stack;
	f->at.uc_stack.ss_size = STACK;
	makecontext(&f->at, run_me, 0);
	f->run = run;
	f->arg = arg;
	f->when = -1;
	f->past = fiber_mix(fiber_cause(), 4);
	f->next = all;
	all = f;
	ready(f);
	*id = (pthread_t)(uintptr_t)f;
	return 0;
}

static void drop(struct fiber *f)
{
	struct fiber **at = &all;

	while (*at != f)
		at = &(*at)->next;
	*at = f->next;
	munmap(f->stack, STACK);
	free(f);
}

static void join(pthread_t id)
{
	struct fiber *f = (void *)(uintptr_t)id;

	if (f->state != ENDED) {
		steps++;
		block(JOINS, f, -1);
	}
	me->past = fiber_mix(me->past, f->past);
	drop(f);
}

void fiber_freeze(pthread_t id, double until)
{
	((struct fiber *)(uintptr_t)id)->frozen = until;
}

void fiber_keep(pthread_t id)
{
	((struct fiber *)(uintptr_t)id)->kept = true;
}

void fiber_abandon(void)
{
	for (struct fiber *f = all, *next; f; f = next) {
		next = f->next;
		if (f != me && !f->kept)
			drop(f);
		else if (f->state == LOCK)
			ready(f);
	}
	n_held = 0;
	steps++;
}

/* ---- the clock of the plugin ---------------------------------------------------- */

static double now(void)
{
	return now_ms += TICK_MS;
}

static void leave(const void *lock);
static void enter(const void *lock, bool exclusive);

static bool wait_for(pthread_cond_t *cond, pthread_mutex_t *mutex, double when)
{
	bool late;

	if (when >= 0 && when <= now_ms)
		return false;
	leave(mutex);
	steps++;
	block(WAITS, cond, when);
	late = me->late;
	enter(mutex, true);
	return !late;
}

static void wake(pthread_cond_t *cond)
{
	for (struct fiber *f = all; f; f = f->next)
		if (f->state == WAITS && f->on == cond)
			ready(f);
}

static const struct ibf_clock fiber_clock = {
	.now = now, .wait = wait_for, .wake = wake, .start = start, .join = join,
};

void fake_clock(bool virtual)
{
	(void)virtual;
	ibf_clock = &fiber_clock;
}

double fake_time(void)
{
	return now_ms;
}

void fake_messages(int more)
{
	(void)more;
}

void fake_blocked(int more)
{
	(void)more;
}

void fake_as_thread(bool is)
{
	(void)is;
}

struct fake_look fake_look(void)
{
	return (struct fake_look){ .seen = ++steps };
}

bool fake_pause(struct fake_look *l)
{
	me->seen = l->seen;
	l->over = false;
	block(LOOKS, NULL, -1);
	l->seen = steps;
	return true;
}

void fake_let_others_work(void)
{
	struct fake_look l = fake_look();

	fake_pause(&l);
}

/* ---- locks ---------------------------------------------------------------------- */

static struct held *find(const void *lock)
{
	for (unsigned int i = 0; i < n_held; i++)
		if (held[i].lock == lock)
			return &held[i];
	return NULL;
}

static bool try_enter(const void *lock, bool exclusive)
{
	struct held *h = find(lock);

	if (h && (exclusive || h->n < 0))
		return false;
	if (!h) {
		if (n_held == FTR_ARRAY_LEN(held))
			fake_fail("too many locks are held at once");
		h = &held[n_held++];
		*h = (struct held){ lock, 0 };
	}
	h->n += exclusive ? -1 : 1;
	learn(lock);
	return true;
}

static void enter(const void *lock, bool exclusive)
{
	while (!try_enter(lock, exclusive))
		block(LOCK, lock, -1);
}

static void leave(const void *lock)
{
	struct held *h = find(lock);

	if (!h)
		fake_fail("a lock is released that nobody holds");
	h->n -= h->n < 0 ? -1 : 1;
	if (h->n)
		return;
	*h = held[--n_held];
	for (struct fiber *f = all; f; f = f->next)
		if (f->state == LOCK && f->on == lock)
			ready(f);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *m)
{
	enter(m, true);
	return 0;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *m)
{
	leave(m);
	return 0;
}

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
	enter(l, false);
	return 0;
}

int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
	enter(l, true);
	return 0;
}

int __wrap_pthread_rwlock_tryrdlock(pthread_rwlock_t *l)
{
	return try_enter(l, false) ? 0 : EBUSY;
}

int __wrap_pthread_rwlock_trywrlock(pthread_rwlock_t *l)
{
	return try_enter(l, true) ? 0 : EBUSY;
}

int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *l)
{
	steps++;	/* for handlers that try again in fake_pause */
	leave(l);
	return 0;
}

/* The thread that looks for a drain file (src/plugin/osm/drain.c): it looks once. */
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
	(void)t;
	wait_for(c, m, -1);
	return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *c)
{
	wake(c);
	return 0;
}

/* the thread that looks for a drain file */
int __wrap_pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg)
{
	(void)attr;
	return start(id, run, arg);
}

int __wrap_pthread_join(pthread_t id, void **result)
{
	if (result)
		*result = NULL;
	join(id);
	return 0;
}

/* Without a team, the callers do the work alone. */
struct ftr_team *__wrap_ftr_team_new(unsigned int n)
{
	(void)n;
	return NULL;
}
