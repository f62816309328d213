// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests that the fast path does not fill the log or the memory after three events: the failure of a
 * spine, many link changes, and many traps that report nothing new.  The number of log lines must
 * depend on the number of changes and sweeps, not on the size of the fabric.  The memory may grow
 * by at most MEMORY_FACTOR.
 *
 * By default the fabrics are a tree of 64 hosts and a small irregular fabric.  With FTR_SOAK=1
 * they are a tree of 11,664 hosts on 1,620 switches and an irregular fabric of 1,400 switches
 * (tests/perf/chassis.awk), each with every engine.  The test then prints times in milliseconds.
 * CK_RUN_CASE="sftree, 580 racks on chassis" runs only the case of this name.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "lib/suite.h"
#include "lib/temp.h"
#include <ftr/io.h>

/* the number of random link changes, and the greatest number of links that are down at once */
#define CHANGES 150
#define DOWN_MAX 20
#define TRAPS 5000
/* log lines of a change: the repair, its confirmation by a sweep, unreachable pairs, blocks that
 * were not acknowledged */
#define LINES_PER_CHANGE 4
/* log lines of a sweep: the result of routing, and warnings */
#define LINES_PER_SWEEP 4
/* allowance for a second set of tables, and for gaps in the heap */
#define MEMORY_FACTOR 1.75
#define MEMORY_KB 8192

static const struct place {
	const char *engine, *name;
	const char *shape;	/* argument of ibfattree gen; NULL: chassis.awk makes the fabric */
	const char *racks;	/* number of racks, for chassis.awk */
} small[] = {
	{ "ddlr", "64 hosts", "3;8,2,4;1,2,2;1,1,1", NULL },
	{ "dmodc", "24 racks on chassis", NULL, "24" },
}, large[] = {
	{ "dmodc", "580 racks on chassis", NULL, "580" },
	{ "sftree", "580 racks on chassis", NULL, "580" },
	{ "ddlr", "580 racks on chassis", NULL, "580" },
	{ "dmodc", "11,664 hosts", "11664", NULL },
	{ "sftree", "11,664 hosts", "11664", NULL },
	{ "ddlr", "11,664 hosts", "11664", NULL },
};

static struct ftr_rng rng;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static long rss_kb(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long v = -1;

	ck_assert_ptr_nonnull(f);
	while (v < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "RssAnon: %ld", &v);
	fclose(f);
	ck_assert_int_gt(v, 0);
	return v;
}

static unsigned int lines(struct fake *h)
{
	return fake_logged(h, "IBF");
}

/* ---- fabrics ---------------------------------------------------------------- */

static void write_net(const struct place *p, const char *path)
{
	struct ftr_gen_opts go = { .seed = 1, .random_lids = true };
	const char *src = getenv("srcdir");
	struct ftr_fabric *f;
	struct ftr_err err;
	char cmd[512];
	FILE *out;

	if (p->racks) {
		snprintf(cmd, sizeof(cmd), "awk -v seed=1 -v racks=%s -v missing=2.9 -f '%s/tests/perf/chassis.awk' >%s",
			 p->racks, src ? src : "..", path);
		ck_assert_int_eq(system(cmd), 0);
		return;
	}
	ck_assert_msg(!ftr_gen_shape(p->shape, &go, &f, &err), "%s", err.msg);
	out = fopen(path, "w");
	ck_assert(out && !ftr_write_netfile(out, f, NULL, &err) && !fclose(out));
	ftr_fabric_free(f);
}

static struct fake *start(const struct place *p)
{
	char path[TEMP_ROOM];
	int fd = temp_file(path, "ibfattree-scale");
	struct fake *h;

	ck_assert_int_ge(fd, 0);
	close(fd);
	write_net(p, path);
	h = fake_new(&(struct fake_opts){
		.netfile = path, .engine = p->engine,
		.options = "balance load\n",
	});
	unlink(path);
	return h;
}

static ftr_sw busiest(const struct ftr_fabric *f)
{
	unsigned int most = 0;
	ftr_sw best = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		unsigned int n = 0;
		bool hosts = false;

		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			int kind = ftr_fabric_port(f, s, (ftr_port)p)->peer_kind;

			n += kind == FTR_PEER_SW;
			hosts |= kind == FTR_PEER_EP;
		}
		if (!hosts && n > most) {
			most = n;
			best = s;
		}
	}
	return best;
}

static unsigned int links_of(const struct ftr_fabric *f, ftr_sw s)
{
	unsigned int n = 0;

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
		n += ftr_fabric_port(f, s, (ftr_port)p)->peer_kind ==
			FTR_PEER_SW;
	return n;
}

static void sweep(struct fake *h)
{
	fake_settle(h);
	ck_assert(fake_sweep(h));
	fake_settle(h);
}

/* ---- events ------------------------------------------------------------------- */

struct cost {
	unsigned int lines;	/* number of log lines before the events */
	long rss;
	double ms;
};

static struct cost begin(struct fake *h)
{
	return (struct cost){ lines(h), rss_kb(), now_ms() };
}

static void end(struct fake *h, const struct cost *c, const char *what,
		unsigned int changes, unsigned int sweeps)
{
	unsigned int n = lines(h) - c->lines;
	long rss = rss_kb();

	if (getenv("FTR_SOAK")) {
		printf("  %-24s %8.0f ms, %4u log lines, RssAnon %ld kB (%ld kB before)\n",
		       what, now_ms() - c->ms, n, rss, c->rss);
		fflush(stdout);
	}
	ck_assert_msg(n <= LINES_PER_CHANGE * changes + LINES_PER_SWEEP * sweeps,
		      "%s: too many log lines: %u", what, n);
#ifndef __SANITIZE_ADDRESS__	/* ASan keeps freed memory in quarantine */
	ck_assert_msg((double)rss <= (double)c->rss * MEMORY_FACTOR + MEMORY_KB,
		      "%s: memory has grown too much: RssAnon is %ld kB; it was %ld kB before",
		      what, rss, c->rss);
#endif
}

static void dead_spine(struct fake *h)
{
	ftr_sw s = busiest(h->fab);
	unsigned int n = links_of(h->fab, s);
	struct cost c = begin(h);

	fake_switch(h, s, false);
	fake_settle(h);
	end(h, &c, "dead spine: repaired", n, 0);
	sweep(h);
	sweep(h);
	end(h, &c, "dead spine: after sweeps", n, 2);
	fake_check_sound(h);
	c = begin(h);
	fake_switch(h, s, true);
	sweep(h);
	sweep(h);
	end(h, &c, "spine returns", n, 2);
}

static void storm_of_changes(struct fake *h)
{
	struct { ftr_sw s; ftr_port p; } down[DOWN_MAX];
	const struct ftr_fabric *f = h->fab;
	unsigned int n = 0, sweeps = 2;
	struct cost c = begin(h);

	for (unsigned int i = 0; i < CHANGES; i++) {
		ftr_sw s = ftr_rng_below(&rng, f->n_sw);
		ftr_port p = (ftr_port)(1 + ftr_rng_below(&rng,
							  f->sw[s].n_ports));

		if (n == DOWN_MAX || (n && ftr_rng_below(&rng, 2))) {
			n--;
			fake_link(h, down[n].s, down[n].p, true);
		} else if (ftr_fabric_port(f, s, p)->peer_kind == FTR_PEER_SW) {
			fake_link(h, s, p, false);
			down[n].s = s;
			down[n++].p = p;
		}
		if (i % 64 == 63) {
			ck_assert(fake_sweep(h));
			sweeps++;
		}
	}
	while (n--)
		fake_link(h, down[n].s, down[n].p, true);
	sweep(h);
	sweep(h);
	end(h, &c, "150 link changes", CHANGES, sweeps);
}

static void storm_of_traps(struct fake *h)
{
	struct cost c = begin(h);

	for (unsigned int i = 0; i < TRAPS; i++)
		fake_trap(h, ftr_rng_below(&rng, h->fab->n_sw),
			  SM_LINK_STATE_CHANGED_TRAP);
	sweep(h);
	/* nothing has changed, but log lines for two changes are allowed */
	end(h, &c, "5,000 redundant traps", 2, 1);
}

START_TEST(bounded)
{
	const struct place *p = getenv("FTR_SOAK") ? &large[_i] : &small[_i];
	struct fake *h = start(p);

	ftr_rng_seed(&rng, 1 + (uint64_t)_i);
	if (getenv("FTR_SOAK"))
		printf("%s, %u switches, %s\n", p->name, h->fab->n_sw,
		       p->engine);
	dead_spine(h);
	storm_of_changes(h);
	storm_of_traps(h);
	sweep(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_free(h);
}
END_TEST

int main(void)
{
	bool soak = getenv("FTR_SOAK");
	const struct place *p = soak ? large : small;
	size_t n = soak ? FTR_ARRAY_LEN(large) : FTR_ARRAY_LEN(small);
	Suite *s = suite_create("fast_scale");

	for (size_t i = 0; i < n; i++) {
		static char name[FTR_ARRAY_LEN(large)][64];
		TCase *t;

		snprintf(name[i], sizeof(name[i]), "%s, %s", p[i].engine,
			 p[i].name);
		t = tcase_create(name[i]);
		tcase_add_loop_test(t, bounded, (int)i, (int)i + 1);
		suite_add_tcase(s, t);
	}
	return run_suite(s);
}
