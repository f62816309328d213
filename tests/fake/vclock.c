// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A virtual clock, which stands still while a thread works.
 *
 * The clock counts the busy threads of the fake OpenSM and of the plugin.  When all of them wait,
 * time jumps to the next moment for which a thread waits, and this thread becomes busy again.
 *
 * So a computation takes no time, and a packet takes exactly the delay that the test gives it.  A
 * timeout expires only if the answer is due later, however slow the machine is.  Waiting takes no
 * real time.
 *
 *	busy	every thread started with ibf_thread_start and the test's thread, except while
 *		they wait; also every message in OpenSM's dispatcher, until it is handled
 *	waits	a thread in ibf_cond_wait, ibf_thread_join or fake_pause; the handler of a message
 *		waits for OpenSM's lock in fake_pause (fake_lock_osm)
 *
 * A thread in fake_pause polls a state.  It looks again when all other threads wait, and at least
 * one of them has worked since its last look.  It is busy during the look.  Time advances only when
 * no thread in fake_pause has to look again.
 *
 * Other blocking calls (mutexes, files, processes) count as work: a thread that waits for a process
 * stays busy.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "osm/clock.h"

/* A time in ms that the clock never reaches.  Answers that a test holds back are due after it. */
#define FOREVER 1e11
/* Each reading advances the clock by this, so that no two readings are equal. */
#define TICK_MS 1e-6
/* Maximum real time between two looks of a thread in fake_pause.  The awaited state may change
 * while another thread is busy, for example while that thread waits for OpenSM's lock. */
#define LOOK_NS 2000000

struct waiter {
	struct waiter *next;
	pthread_cond_t *on;	/* the condition for which the thread waits; NULL: it is in
				 * fake_pause */
	double when;		/* end of the wait in ms; negative: no limit */
	uint64_t seen;		/* in fake_pause: value of `steps` at the last look */
	bool woken, late;	/* late: woken because the time `when` has come */
	pthread_cond_t cond;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static double now_ms;
static unsigned int busy;	/* number of busy threads */
/* Messages not handled yet, except those whose handlers count as threads. */
static unsigned int messages;
static unsigned int blocked;	/* handlers that wait for OpenSM's lock */
static uint64_t steps;		/* grows at least whenever a thread becomes idle */
static struct waiter *waiters;

static void wake_one(struct waiter *w, bool late)
{
	w->woken = true;
	w->late = late;
	busy++;
	pthread_cond_signal(&w->cond);
}

static bool wake_lookers(void)
{
	bool some = false;

	for (struct waiter *w = waiters; w; w = w->next)
		if (!w->woken && !w->on && w->seen != steps) {
			wake_one(w, false);
			some = true;
		}
	return some;
}

/* The next time at which a thread must be woken; FOREVER: there is none. */
static double next_moment(void)
{
	double next = FOREVER;

	for (struct waiter *w = waiters; w; w = w->next)
		if (w->on && !w->woken && w->when >= 0 && w->when < next)
			next = w->when;
	return next;
}

static void go_on(void)
{
	double next = next_moment();

	if (next >= FOREVER)
		return;		/* a thread unknown to the clock may still act */
	if (next > now_ms)
		now_ms = next;
	for (struct waiter *w = waiters; w; w = w->next)
		if (w->on && !w->woken && w->when >= 0 && w->when <= now_ms)
			wake_one(w, true);
}

/* True if no thread can continue until time advances.  In the plugin, handlers of notices wait for
 * each other.  So while one of them waits for OpenSM's lock, messages do not count as work. */
static bool all_wait(void)
{
	return !busy && (!messages || blocked);
}

static void stopped_working(void)
{
	if (all_wait() && !wake_lookers())
		go_on();
}

static void add(struct waiter *w)
{
	pthread_cond_init(&w->cond, NULL);
	w->next = waiters;
	waiters = w;
}

static void removed(struct waiter *w)
{
	struct waiter **at = &waiters;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
	pthread_cond_destroy(&w->cond);
}

/* ---- the clock ------------------------------------------------------------- */

static double virtual_now(void)
{
	double now;

	pthread_mutex_lock(&mutex);
	now = now_ms += TICK_MS;
	pthread_mutex_unlock(&mutex);
	return now;
}

static bool virtual_wait(pthread_cond_t *cond, pthread_mutex_t *held,
			 double when)
{
	struct waiter w = { .on = cond, .when = when };

	pthread_mutex_lock(&mutex);
	if (when >= 0 && when <= now_ms) {
		pthread_mutex_unlock(&mutex);
		return false;
	}
	add(&w);
	pthread_mutex_unlock(held);
	steps++;
	busy--;
	stopped_working();
	while (!w.woken)
		pthread_cond_wait(&w.cond, &mutex);
	removed(&w);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_lock(held);
	return !w.late;
}

static void virtual_wake(pthread_cond_t *cond)
{
	pthread_mutex_lock(&mutex);
	for (struct waiter *w = waiters; w; w = w->next)
		if (w->on == cond && !w->woken)
			wake_one(w, false);
	pthread_mutex_unlock(&mutex);
}

static void change(unsigned int *count, int by)
{
	pthread_mutex_lock(&mutex);
	*count += (unsigned int)by;
	steps++;
	stopped_working();
	pthread_mutex_unlock(&mutex);
}

void fake_messages(int more)
{
	change(&messages, more);
}

void fake_blocked(int more)
{
	pthread_mutex_lock(&mutex);
	blocked += (unsigned int)more;
	pthread_mutex_unlock(&mutex);
}

void fake_as_thread(bool is)
{
	pthread_mutex_lock(&mutex);
	busy += is ? 1 : -1u;
	messages += is ? -1u : 1;
	steps++;
	stopped_working();
	pthread_mutex_unlock(&mutex);
}

struct thread {
	struct thread *next;
	pthread_t id;
	void *(*run)(void *);
	void *arg;
	bool ended, awaited;
};

static struct thread *threads;	/* not joined yet */

static void *thread_main(void *arg)
{
	struct thread *t = arg;
	void *result = t->run(t->arg);

	pthread_mutex_lock(&mutex);
	t->ended = true;
	if (!t->awaited) {	/* otherwise the joining thread becomes busy instead */
		busy--;
		steps++;
		stopped_working();
	}
	pthread_mutex_unlock(&mutex);
	return result;
}

static int virtual_start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	struct thread *t = calloc(1, sizeof(*t));
	int failed;

	if (!t)
		return ENOMEM;
	t->run = run;
	t->arg = arg;
	change(&busy, 1);
	failed = pthread_create(&t->id, NULL, thread_main, t);
	if (failed) {
		change(&busy, -1);
		free(t);
		return failed;
	}
	*thread = t->id;
	pthread_mutex_lock(&mutex);
	t->next = threads;
	threads = t;
	pthread_mutex_unlock(&mutex);
	return 0;
}

static struct thread *take_thread(pthread_t id)
{
	struct thread **at = &threads, *t;

	while (*at && !pthread_equal((*at)->id, id))
		at = &(*at)->next;
	t = *at;
	if (!t)
		fake_fail("a thread is joined that was not started");
	*at = t->next;
	return t;
}

static void virtual_join(pthread_t id)
{
	struct thread *t;

	pthread_mutex_lock(&mutex);
	t = take_thread(id);
	if (!t->ended) {
		t->awaited = true;
		busy--;
		steps++;
		stopped_working();
	}
	pthread_mutex_unlock(&mutex);
	pthread_join(id, NULL);
	free(t);
}

static const struct ibf_clock virtual_clock = {
	.now = virtual_now, .wait = virtual_wait, .wake = virtual_wake,
	.start = virtual_start, .join = virtual_join,
};

static bool is_virtual(void)
{
	return ibf_clock == &virtual_clock;
}

void fake_clock(bool virtual)
{
	now_ms = 1000;
	busy = 1;	/* the test's thread */
	messages = blocked = 0;
	ibf_clock = virtual ? &virtual_clock : &ibf_real_clock;
}

double fake_time(void)
{
	return is_virtual() ? now_ms : ibf_now_ms();
}

/* ---- polling ---------------------------------------------------------------- */

static double real_ms(void)
{
	return ibf_real_clock.now();
}

struct fake_look fake_look(void)
{
	struct fake_look l = { .until = real_ms() + FAKE_PATIENCE_MS };

	pthread_mutex_lock(&mutex);
	l.seen = ++steps;
	pthread_mutex_unlock(&mutex);
	return l;
}

/* Returns true if another thread has woken this one. */
static bool look_wait(struct waiter *w)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += LOOK_NS;
	if (end.tv_nsec >= 1000000000) {
		end.tv_nsec -= 1000000000;
		end.tv_sec++;
	}
	while (!w->woken)
		if (pthread_cond_timedwait(&w->cond, &mutex, &end))
			break;
	return w->woken;
}

bool fake_pause(struct fake_look *l)
{
	struct waiter w = { .when = -1, .seen = l->seen };
	bool woken;

	if (real_ms() > l->until)
		fake_fail("the awaited state was not reached within 20 minutes");
	if (!is_virtual()) {
		usleep(200);
		return true;
	}
	pthread_mutex_lock(&mutex);
	add(&w);
	busy--;
	stopped_working();
	woken = look_wait(&w);
	l->over = !woken && all_wait() && next_moment() >= FOREVER;
	if (!woken)
		busy++;
	l->seen = steps;
	removed(&w);
	pthread_mutex_unlock(&mutex);
	return woken;
}

void fake_let_others_work(void)
{
	struct fake_look l = fake_look();

	l.seen = 0;
	while (!fake_pause(&l))
		l.seen = 0;
}
