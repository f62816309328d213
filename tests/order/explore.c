// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chooses what happens next.
 *
 * ALL.  At each choice a child process (fork) takes each possibility but the last, one after the
 * other, and the process itself takes the last.  Processes share a table of the states that were
 * seen, and end when they come to one of them.
 *
 * RANDOM.  Each run is a child process.  If it fails, its list of choices is made shorter as long
 * as the run still fails: first one choice after the other is replaced by the usual one.
 *
 * A list of choices is "STEP:CHOICE,...": all other choices are 0, the usual one.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "order/order.h"

#define STEPS 20000
#define SLOTS (1u << 23)

/* Shared by all processes. */
static struct shared {
	struct found found;
	unsigned int choice[STEPS];
	char dir[64];
	uint64_t limit;		/* ALL: end after this number of states; 0: never */
	uint64_t seen[SLOTS];
} *sh;

static enum mode mode;
static unsigned int choice[STEPS], n_steps, rare_used;
static const unsigned int *given;	/* PLAY */
static struct ftr_rng rng;
static unsigned int pct;		/* RANDOM: percentage of unusual choices */
static unsigned int rare_max;
static bool loud;

bool said(void)
{
	return loud;
}

void say(const char *fmt, ...)
{
	va_list ap;

	if (!loud)
		return;
	va_start(ap, fmt);
	printf("%10.3f %5u  ", ibf_now_ms(), n_steps);
	vprintf(fmt, ap);
	printf("\n");
	fflush(stdout);
	va_end(ap);
}

unsigned int rare_left(void)
{
	return rare_max - rare_used;
}

/* ---- ends ----------------------------------------------------------------------- */

void violated(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(sh->found.why, sizeof(sh->found.why), fmt, ap);
	va_end(ap);
	sh->found.failed = true;
	memset(sh->choice, 0, sizeof(sh->choice));
	memcpy(sh->choice, choice, n_steps * sizeof(*choice));
	say("VIOLATED: %s", sh->found.why);
	_exit(1);
}

void run_ends(void)
{
	sh->found.runs++;
	_exit(0);
}

/* ---- states --------------------------------------------------------------------- */

/* Returns false if the state was seen before. */
static bool is_new(uint64_t key)
{
	key |= 1;
	for (uint64_t i = key * 0x9e3779b97f4a7c15 >> 20;; i++) {
		uint64_t *at = &sh->seen[i % SLOTS];

		if (*at == key)
			return false;
		if (*at)
			continue;
		*at = key;
		if (++sh->found.states > SLOTS / 2) {
			fprintf(stderr, "the table of states is full\n");
			_exit(1);
		}
		return true;
	}
}

/* ---- choices -------------------------------------------------------------------- */

/* In a child process: take possibility i.  Returns true in the child. */
static bool in_child(unsigned int i)
{
	pid_t pid;
	int status;

	disk_save();
	fflush(stdout);
	pid = fork();
	if (!pid) {
		choice[n_steps] = i;
		return true;
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	if (status && !sh->found.failed)
		violated("the process ended with status 0x%x", (unsigned int)status);
	sh->found.cut |= sh->limit && sh->found.states > sh->limit;
	if (status || sh->found.cut)
		_exit(status != 0);
	disk_restore();
	return false;
}

static unsigned int take_all(unsigned int n)
{
	for (unsigned int i = 0; i + 1 < n; i++)
		if (in_child(i))
			return i;
	return n - 1;
}

unsigned int choose(unsigned int n, unsigned int rare, uint64_t key)
{
	unsigned int i = 0;

	if (!rare_left())
		n = FTR_MIN(n, FTR_MAX(rare, 1u));
	sh->found.steps++;
	if (n_steps + 1 == STEPS)
		violated("it does not come to rest within %u steps", STEPS);
	if (mode == ALL && key && !is_new(fake_hash(key, &rare_used, sizeof(rare_used))))
		_exit(0);
	if (n > 1 && mode == ALL)
		i = take_all(n);
	else if (n > 1 && mode == RANDOM && ftr_rng_below(&rng, 100) < pct)
		i = ftr_rng_below(&rng, n);
	else if (mode == PLAY)
		i = given[n_steps] < n ? given[n_steps] : 0;
	choice[n_steps++] = i;
	rare_used += i >= rare;
	return i;
}

/* ---- runs ----------------------------------------------------------------------- */

static bool run(const struct scenario *s)
{
	pid_t pid;
	int status;

	sh->found.failed = false;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		n_steps = rare_used = 0;
		rare_max = s->rare;
		world_run(s);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	disk_remove(sh->dir);
	if (status && !sh->found.failed) {
		snprintf(sh->found.why, sizeof(sh->found.why),
			 "the process ended with status 0x%x", (unsigned int)status);
		sh->found.failed = true;
	}
	return !sh->found.failed;
}

void disk_start(const char *dir)
{
	snprintf(sh->dir, sizeof(sh->dir), "%s", dir);
}

static void print_list(const unsigned int *c, char *out, size_t room)
{
	size_t n = 0;

	*out = '\0';
	for (unsigned int i = 0; i < STEPS && n + 32 < room; i++)
		if (c[i])
			n += (size_t)snprintf(out + n, room - n, "%s%u:%u", n ? "," : "", i, c[i]);
}

/* Collect the steps of unusual choices. */
static unsigned int unusual(const unsigned int *c, unsigned int *at)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < STEPS; i++)
		if (c[i])
			at[n++] = i;
	return n;
}

/* Replace `size` choices at a time by the usual one if the run then still fails.  Returns true if
 * some were replaced. */
static bool shrink_by(const struct scenario *s, unsigned int *c, unsigned int size)
{
	static unsigned int at[STEPS], before[STEPS];
	unsigned int n = unusual(c, at);
	bool some = false;

	for (unsigned int i = n; i > 0; i -= FTR_MIN(i, size)) {
		memcpy(before, c, sizeof(before));
		for (unsigned int k = 1; k <= FTR_MIN(i, size); k++)
			c[at[i - k]] = 0;
		if (run(s))
			memcpy(c, before, sizeof(before));
		else
			some = true;
	}
	return some;
}

static void shrink(const struct scenario *s, unsigned int *c)
{
	mode = PLAY;
	given = c;
	if (run(s)) {
		fprintf(stderr, "the run cannot be repeated\n");
		return;
	}
	for (unsigned int size = 64; size; size /= 2)
		while (shrink_by(s, c, size) && size == 1)
			;
	run(s);
}

static void read_list(const char *list, unsigned int *c)
{
	unsigned int at, what;
	int n;

	memset(c, 0, STEPS * sizeof(*c));
	while (sscanf(list, "%u:%u%n", &at, &what, &n) == 2) {
		if (at < STEPS)
			c[at] = what;
		list += n;
		list += *list == ',';
	}
}

void explore(const struct scenario *s, enum mode m, uint64_t n, uint64_t seed, const char *list,
	     struct found *out)
{
	static unsigned int c[STEPS];
	bool ok = true;

	if (!sh)
		sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sh == MAP_FAILED)
		abort();
	madvise(sh, sizeof(*sh), MADV_REMOVE);
	memset(&sh->found, 0, sizeof(sh->found));
	mode = m;
	sh->limit = m == ALL ? n : 0;
	loud = m == PLAY;
	if (m == PLAY) {
		read_list(list, c);
		given = c;
	}
	if (m != RANDOM)
		ok = run(s);
	for (uint64_t i = 0; m == RANDOM && ok && i < n; i++) {
		ftr_rng_seed(&rng, seed + i);
		pct = 5 + ftr_rng_below(&rng, 60);
		ok = run(s);
	}
	if (!ok) {
		uint64_t runs = sh->found.runs + 1;

		memcpy(c, sh->choice, sizeof(c));
		if (getenv("ORDER_RAW")) {
			print_list(c, sh->found.list, sizeof(sh->found.list));
			printf("raw: %s\n", sh->found.list);
		}
		if (m != PLAY)
			shrink(s, c);
		print_list(c, sh->found.list, sizeof(sh->found.list));
		sh->found.failed = true;
		sh->found.runs = runs;
	}
	*out = sh->found;
}
