// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Chooses what happens next.
 *
 * ALL.  At each choice a child process (fork) takes each possibility but the last, one after the
 * other, and the process itself takes the last.  Processes share a table of the states that were
 * seen, and end when they come to one of them.  The number of choices that are not the usual one can
 * be limited: then a run deviates at most so often from the usual order.
 *
 * RANDOM.  The run is a child process.
 *
 * If a run fails, its list of choices is made shorter as long as it still fails: more and more
 * choices are replaced by the usual ones.
 *
 * A list of choices is "STEP:CHOICE,...": all other choices are 0, the usual one.  If a scenario has
 * a list, its choices are the usual ones of ALL.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "order/order.h"

#define STEPS 20000
#define SLOTS (1u << 23)

/* Shared by all processes. */
static struct shared {
	struct found found;
	/* the choices of the run that is under way; those of a failed run remain */
	unsigned int choice[STEPS], n_choices;
	char dir[64];
	uint64_t seen[SLOTS];
} *sh;

static enum mode mode;
static unsigned int n_steps, rare_used;
/* ALL: number of choices that were not the usual one, and how many there may be; 0: no limit */
static unsigned int unusual_used, unusual_max;
static const unsigned int *given;	/* PLAY: the choices; ALL: the usual choices, or NULL */
static unsigned int given_end;		/* ALL: given[given_end ..] are 0 */
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
	printf("%10.3f %5u  ", fake_time(), n_steps);
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
	say("VIOLATED: %s", sh->found.why);
	_exit(1);
}

void run_ends(void)
{
	sh->found.runs++;
	sh->found.ms += fake_time();
	_exit(0);
}

/* ---- states --------------------------------------------------------------------- */

static bool was_seen(uint64_t key)
{
	for (uint64_t i = key * 0x9e3779b97f4a7c15 >> 20; sh->seen[i % SLOTS]; i++)
		if (sh->seen[i % SLOTS] == key)
			return true;
	return false;
}

static uint64_t key_with(uint64_t key, unsigned int rare, unsigned int others)
{
	uint64_t x[] = { key, rare, others };

	return fake_hash(5, x, sizeof(x)) | 1;
}

/* Returns false if the state was seen before, with as many events left that are rare or unusual. */
static bool is_new(uint64_t key)
{
	for (unsigned int n = 0; n < unusual_used && unusual_max; n++)
		if (was_seen(key_with(key, rare_used, n)))
			return false;
	key = key_with(key, rare_used, unusual_max ? unusual_used : 0);
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

/* Returns true in a child process, and false when it has ended. */
static bool in_child(void)
{
	pid_t pid;
	int status;

	disk_save();
	fflush(stdout);
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		return true;
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		abort();
	if (status && !sh->found.failed)
		violated("the process ended with status 0x%x", (unsigned int)status);
	if (status)
		_exit(1);
	disk_restore();
	return false;
}

static unsigned int take_all(unsigned int n)
{
	for (unsigned int i = 0; i + 1 < n; i++)
		if (in_child())
			return i;
	return n - 1;
}

unsigned int choose(unsigned int n, unsigned int rare, uint64_t key)
{
	unsigned int i, usual;

	if (!rare_left())
		n = FTR_MIN(n, FTR_MAX(rare, 1u));
	sh->found.steps++;
	if (n_steps + 1 == STEPS)
		violated("it does not come to rest within %u steps", STEPS);
	sh->n_choices = n_steps;
	if (mode == ALL && key && !is_new(n_steps < given_end ? fiber_mix(key, n_steps) : key))
		_exit(0);
	i = usual = given && given[n_steps] < n ? given[n_steps] : 0;
	if (n > 1 && mode == ALL && (!unusual_max || unusual_used < unusual_max))
		i = take_all(n);
	else if (n > 1 && mode == RANDOM && ftr_rng_below(&rng, 100) < pct)
		i = ftr_rng_below(&rng, n);
	sh->choice[n_steps++] = i;
	sh->n_choices = n_steps;
	rare_used += i >= rare;
	unusual_used += i != usual;
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
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!loud && !freopen("/dev/null", "w", stderr))
			abort();
		n_steps = rare_used = unusual_used = 0;
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
	unusual_max = 0;
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

/* Returns the number of choices up to the last one in the list. */
static unsigned int read_list(const char *list, unsigned int *c)
{
	unsigned int at, what, end = 0;
	int n;

	memset(c, 0, STEPS * sizeof(*c));
	while (sscanf(list, "%u:%u%n", &at, &what, &n) == 2) {
		if (at < STEPS) {
			c[at] = what;
			end = at + 1;
		}
		list += n;
		list += *list == ',';
	}
	return end;
}

void explore(const struct scenario *s, enum mode m, uint64_t n, const char *list,
	     struct found *out)
{
	static unsigned int c[STEPS];

	if (!sh)
		sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sh == MAP_FAILED)
		abort();
	memset(&sh->found, 0, sizeof(sh->found));
	mode = m;
	unusual_max = m == ALL ? (unsigned int)n : 0;
	loud = m == PLAY;
	given = NULL;
	given_end = 0;
	if (m == ALL)
		list = s->list;
	if (list) {
		given = c;
		given_end = read_list(list, c);
	}
	if (m == RANDOM) {
		ftr_rng_seed(&rng, n);
		pct = 5 + ftr_rng_below(&rng, 60);
	}
	if (!run(s)) {
		uint64_t runs = sh->found.runs + 1;

		memset(c, 0, sizeof(c));
		memcpy(c, sh->choice, sh->n_choices * sizeof(*c));
		if (m != PLAY)
			shrink(s, c);
		print_list(c, sh->found.list, sizeof(sh->found.list));
		sh->found.failed = true;
		sh->found.runs = runs;
	}
	*out = sh->found;
}
