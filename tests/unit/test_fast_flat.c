// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A leak test: thousands of random faults, repairs, sweeps and reroutes in one process.  Memory,
 * threads and file descriptors are counted whenever the fabric is complete and the plugin is idle.
 * Their numbers must not grow.
 *
 * By default there are a few dozen faults and repairs.  With FTR_SOAK=1 there are 10,000, divided
 * into ten parts, and the test prints a line for each part.  In the last part, the memory of the
 * process (RssAnon) must not grow either.  CK_RUN_CASE=ddlr tests only the engine ddlr.
 */
#include <check.h>
#include <dirent.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "lib/suite.h"

#define PARTS 10
#define DOWN_MAX 6
/* tolerance for temporary data, whose size differs between measurements */
#define NOISE_BYTES (64 * 1024)
/* tolerance for free pages that malloc() keeps */
#define NOISE_KB 256

static const char *const engines[] = { "dmodc", "sftree", "ddlr" };

struct level {
	size_t bytes;		/* bytes allocated and not freed */
	long rss_kb;
	unsigned int threads, fds;
};

struct run {
	struct fake *h;
	struct ftr_rng rng;
	unsigned int n_down, threads;
	struct { ftr_sw s; ftr_port p; } down[DOWN_MAX];
};

static long status_line(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	size_t n = strlen(key);
	char line[256];
	long v = -1;

	ck_assert_ptr_nonnull(f);
	while (v < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, n) && line[n] == ':')
			v = strtol(line + n + 1, NULL, 10);
	fclose(f);
	ck_assert_int_ge(v, 0);
	return v;
}

static unsigned int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

static void forget_log(struct fake *h)
{
	pthread_mutex_lock(&h->mutex);
	free(h->log);
	h->log = NULL;
	h->log_size = 0;
	pthread_mutex_unlock(&h->mutex);
}

static void change(struct run *r, unsigned int i, bool up)
{
	fake_link(r->h, r->down[i].s, r->down[i].p, up);
}

static void repair_one(struct run *r)
{
	unsigned int i = ftr_rng_below(&r->rng, r->n_down);

	change(r, i, true);
	r->down[i] = r->down[--r->n_down];
}

static bool is_down(const struct run *r, ftr_sw s, ftr_port p)
{
	bool down;

	fake_lock(r->h);
	down = r->h->link[r->h->fab->sw[s].first_port + p] == IB_LINK_DOWN;
	fake_unlock(r->h);
	return down;
}

static void fault_or_repair(struct run *r)
{
	const struct ftr_fabric *f = r->h->fab;
	ftr_sw s;
	ftr_port p;

	if (r->n_down == DOWN_MAX || (r->n_down && ftr_rng_below(&r->rng, 2))) {
		repair_one(r);
		return;
	}
	do {
		s = ftr_rng_below(&r->rng, f->n_sw);
		p = (ftr_port)(1 + ftr_rng_below(&r->rng, f->sw[s].n_ports));
	} while (ftr_fabric_port(f, s, p)->peer_kind != FTR_PEER_SW ||
		 is_down(r, s, p));
	r->down[r->n_down].s = s;
	r->down[r->n_down].p = p;
	change(r, r->n_down++, false);
}

static void whole_and_at_rest(struct run *r)
{
	while (r->n_down)
		repair_one(r);
	for (unsigned int i = 0; i < 3; i++) {
		fake_settle(r->h);
		ck_assert(fake_sweep(r->h));
	}
	fake_settle(r->h);
	fake_check_healed(r->h);
	fake_check_copy_clean(r->h);
}

/* Wait for the end of the thread that makes ddlr's planner; the thread may run longer than the
 * sweep.  Give up after ten minutes. */
static void wait_for_threads(struct run *r)
{
	unsigned int n = (unsigned int)status_line("Threads");

	for (int i = 0; i < 60000 && n > r->threads; i++) {
		usleep(10000);
		n = (unsigned int)status_line("Threads");
	}
	r->threads = n;
}

static struct level level_of(struct run *r)
{
	struct mallinfo2 m;

	whole_and_at_rest(r);
	wait_for_threads(r);
	forget_log(r->h);
	m = mallinfo2();
	return (struct level){
		.bytes = m.uordblks + m.hblkhd,
		.rss_kb = status_line("RssAnon"),
		.threads = (unsigned int)status_line("Threads"),
		.fds = count_fds(),
	};
}

static void some(struct run *r, unsigned int n)
{
	while (n--) {
		fault_or_repair(r);
		if (ftr_rng_below(&r->rng, 3))
			fake_settle(r->h);
		if (!ftr_rng_below(&r->rng, 3))
			fake_sweep(r->h);
		if (!ftr_rng_below(&r->rng, 10))
			fake_reroute(r->h);
	}
}

static void report_test_fast_flat(const char *engine, unsigned int n, const struct level *l)
{
	if (getenv("FTR_SOAK"))
		printf("%-6s %6u faults and repairs: %zu bytes allocated, RssAnon %ld kB, %u threads, %u file descriptors\n",
		       engine, n, l->bytes, l->rss_kb, l->threads, l->fds);
	fflush(stdout);
}

START_TEST(nothing_grows)
{
	const char *engine = engines[_i];
	unsigned int part = getenv("FTR_SOAK") ? 1000 : 4;
	struct level l[PARTS + 1];
	struct run r = { .threads = UINT_MAX };
	long most = 0;

	ftr_rng_seed(&r.rng, 1 + (uint64_t)_i);
	r.h = fake_new(&(struct fake_opts){
		.engine = engine, .options = "fast_flap_limit 0\n",
	});
	for (unsigned int i = 0; i <= PARTS; i++) {
		if (i)
			some(&r, part);
		l[i] = level_of(&r);
		report_test_fast_flat(engine, i * part, &l[i]);
		if (i < PARTS)
			most = FTR_MAX(most, l[i].rss_kb);
	}
	/* the first part allocates memory that is kept */
	for (unsigned int i = 2; i <= PARTS; i++) {
		ck_assert_uint_le(l[i].bytes, l[1].bytes + NOISE_BYTES);
		ck_assert_uint_le(l[i].threads, l[1].threads);
		ck_assert_uint_eq(l[i].fds, l[1].fds);
	}
	if (getenv("FTR_SOAK"))
		ck_assert_int_le(l[PARTS].rss_kb, most + NOISE_KB);
	fake_free(r.h);
}
END_TEST

/* Disable malloc's per-thread caches, which fill slowly. */
static void without_caches(char **argv)
{
	static const char tunable[] = "glibc.malloc.tcache_count=0";

	if (getenv("GLIBC_TUNABLES"))
		return;
	setenv("GLIBC_TUNABLES", tunable, 1);
	execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	Suite *s = suite_create("fast_flat");

	(void)argc;
	without_caches(argv);
	for (int i = 0; i < 3; i++) {
		TCase *t = tcase_create(engines[i]);

		tcase_add_loop_test(t, nothing_grows, i, i + 1);
		suite_add_tcase(s, t);
	}
	return run_suite(s);
}
