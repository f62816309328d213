/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Runs the plugin under every order of events: see main.c.
 *
 *	explore.c  chooses what happens next: all possibilities, at random, or a given list
 *	world.c	   the events that can happen next, and their effects
 *	judge.c	   the properties that must hold after every event
 *	disk.c	   the files of the plugin: crashes between two system calls, and power failures
 */
#ifndef FTR_TESTS_ORDER_H
#define FTR_TESTS_ORDER_H

#include "fake/fiber.h"
#include "fake/opensm.h"

struct scenario {
	const char *name;
	const char *engine, *pgft;
	/*
	 * What happens, in this order, but at any time:
	 *
	 *	-N +N	the link of leaf N/10 at its upward port N%10 goes down, comes up
	 *	=N	the link goes down and up at once
	 *	S	OpenSM is told to sweep (SIGHUP)
	 *	R	OpenSM is told to reroute (console)
	 *	H	another manager is master for a while
	 *	X	OpenSM ends and starts again
	 *	C	OpenSM crashes and starts again, also between two system calls of the writer
	 *	P	the same with a power failure
	 *	WN	nothing happens for N minutes
	 */
	const char *script;
	/* Number of rare events: a lost packet or trap, time passes while packets are in flight, a
	 * packet of OpenSM overtakes another, another thread runs first. */
	unsigned int rare;
	/* OpenSM does not sweep after a trap (sweep_on_trap FALSE): the fast path repairs alone. */
	bool alone;
	/* If not NULL: the usual choices (explore.c).  So ALL tries all runs that differ from this one in
	 * few choices. */
	const char *list;
};

/* ---- explore.c -------------------------------------------------------------- */

enum mode { ALL, RANDOM, PLAY };

/* Choose one of n possibilities.  The first is the usual one; those from `rare` on count as rare
 * events.  key: identifies the present state (0: it is not compared with other states). */
unsigned int choose(unsigned int n, unsigned int rare, uint64_t key);
/* Number of rare events that may still happen. */
unsigned int rare_left(void);
/* A property does not hold: report it and end this run. */
_Noreturn void violated(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* This run is complete. */
_Noreturn void run_ends(void);
bool said(void);		/* events are printed */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Result of explore() */
struct found {
	uint64_t runs, states, steps;
	double ms;		/* virtual time of all runs together */
	bool failed;
	char why[512], list[4096];
};

/* Run the scenario.  n: for ALL, how many choices may be unusual
 * (0: all); for RANDOM, the seed.  list: for PLAY. */
void explore(const struct scenario *s, enum mode mode, uint64_t n, const char *list,
	     struct found *out);

/* ---- world.c ---------------------------------------------------------------- */

struct world {
	const struct scenario *s;
	struct fake *h;
	const char *next;	/* rest of the script */
	bool missed;		/* a trap was lost */
	/* OpenSM writes tables in no particular order, or does not know what the switches hold: in
	 * the first routing of a new OpenSM, and after a routing that lost packets (IBF121), until a
	 * sweep has written all.  Loops are possible then (docs/design.md, invariant 3). */
	bool wild;
	/* Number of links that have changed since the plugin was idle; those that a sweep sets Active count as
	 * one if no other has changed.  With two, a write may break a path, because it was planned before the
	 * second change. */
	unsigned int changes;
	double last;		/* time of the last event of the script */
};

extern struct world world;

/* Bring OpenSM up, let the events happen, and end with run_ends(). */
_Noreturn void world_run(const struct scenario *s);
/* End OpenSM, or let it crash, and start it again.  Only the first thread may call this. */
void world_restart(bool crash);
/* The writer's thread is about to make a system call. */
void world_syscall(void);
enum end { GO_ON, RESTART, CRASH, POWER, THE_END };
/* ---- judge.c ---------------------------------------------------------------- */

/* After every event: the tables of the switches, and what the event may have changed. */
void judge_tables(bool link_changed);
/* True if a write of the fast path was not acknowledged, or there is no fast path before the next
 * routing. */
bool judge_unsure(void);
/* True if the fast path reaches all switches, knows as dead all links that OpenSM has found and that are not
 * Active, and has left none of them to a sweep. */
bool judge_can_return(void);
/* After every event: if the worker has no job, the view equals the tables of the switches.  If OpenSM is
 * idle, too, the fast path has done what it can without another sweep: it uses all links that are Active,
 * and if traps have reported all changes (all_heard), of at most two links or in a scenario with a list,
 * every pair of hosts has a path. */
void judge_worker(bool all_heard);
/* The plugin and OpenSM are idle, and nothing is on its way. */
void judge_idle(void);
/* Everything has happened. */
void judge_end(void);
uint64_t judge_hash(void);	/* of the tables and links */

/* ---- disk.c ----------------------------------------------------------------- */

void disk_start(const char *dir);
/* Lose what was not flushed. */
void disk_power_failure(void);
void disk_check(void);		/* all state files are complete */
/* Files, before and after other runs of a fork. */
void disk_save(void);
void disk_restore(void);
void disk_remove(const char *dir);

#endif
