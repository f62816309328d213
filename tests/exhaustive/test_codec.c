// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The codec of state files and of the messages to and from the search process (src/core/io).
 *
 * Write, read and write again gives the same bytes, for many fabrics.  Of one file of each kind,
 * every length but its own and every change of one byte is refused.  In the content, a changed byte
 * is tried with CHANGES values, in the first line with all 255; FTR_RUNS=2 tries all 255 everywhere.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/job.h"
#include "lib/suite.h"
#include "lib/temp.h"
#include "lib/trees.h"
#include <ftr/ftr.h>

#define CHANGES 24

static struct ftr_err err;

/* ---- what is written ------------------------------------------------------------- */

/* All parts of a state, a job and a result. */
static struct parts {
	struct ftr_fabric *f;
	struct ftr_nominal *nominal;
	struct ftr_tables *t;
	struct ftr_turn turn[3];
	struct ftr_displaced displaced[5];
	struct ftr_shape_opts shape;	/* with these the nominal fabric is made */
	uint64_t root, host[2];
	ftr_sw sm[2];
	struct ftr_rng rng;
} parts;

static void ok(enum ftr_status st)
{
	ck_assert_msg(!st, "%s", err.msg);
}

static ftr_sw some_switch(void)
{
	return ftr_rng_below(&parts.rng, parts.f->n_sw);
}

/* A number from 0 to n. */
static uint32_t up_to(uint32_t n)
{
	return ftr_rng_below(&parts.rng, n + 1);
}

/* Order of leaves and lists of GUIDs.  Some are of no node of the fabric. */
static void draw_shape_opts(void)
{
	struct parts *p = &parts;

	p->root = up_to(1) ? p->f->sw[some_switch()].guid : ftr_rng_next(&p->rng);
	for (unsigned int i = 0; i < 2; i++)
		p->host[i] = p->f->n_ep ? p->f->ep[up_to(p->f->n_ep - 1)].guid : 7;
	p->shape = (struct ftr_shape_opts){
		.leaf_order = (enum ftr_leaf_order)up_to(1),
		.roots = { &p->root, up_to(5) == 0 },
		.cn = { p->host, up_to(2) }, .io = { p->host, up_to(2) },
	};
}

/* Returns false if the fabric has no shape. */
static bool make_parts(struct ftr_fabric *f, bool plain, uint64_t seed)
{
	struct parts *p = &parts;

	memset(p, 0, sizeof(*p));
	p->f = f;
	ftr_rng_seed(&p->rng, seed);
	if (!plain)
		draw_shape_opts();
	if (ftr_nominal_new(f, &p->shape, NULL, &p->nominal, NULL, &err))
		return false;
	ok(ftr_tables_new(f, false, &p->t, &err));
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (uint32_t lid = 0; lid <= f->max_lid; lid++)
			ftr_tables_row(p->t, s)[lid] = (uint8_t)ftr_rng_next(&p->rng);
	for (unsigned int i = 0; i < 3; i++)
		p->turn[i] = (struct ftr_turn){ some_switch(), some_switch(), some_switch() };
	for (unsigned int i = 0; i < 5; i++)
		p->displaced[i] = (struct ftr_displaced){
			f->sw[some_switch()].guid, (ftr_lid)ftr_rng_next(&p->rng),
			(ftr_port)ftr_rng_next(&p->rng),
		};
	p->sm[0] = some_switch();
	p->sm[1] = some_switch();
	return true;
}

static void free_parts(void)
{
	ftr_tables_free(parts.t);
	ftr_nominal_free(parts.nominal);
	ftr_fabric_free(parts.f);
}

static struct search_job a_job(void)
{
	struct parts *p = &parts;
	struct search_job j = {
		.engine = "dmodc",
		.shape = p->shape, .nominal = p->nominal, .f = p->f,
		.opts = {
			.sm_switch = some_switch(), .sm = p->sm, .n_sm = up_to(2),
			.paths = (enum ftr_paths)up_to(1), .turn = p->turn, .n_turns = up_to(3),
		},
		.keep = {
			.prefer = p->t, .current = up_to(1) ? p->t : NULL,
			.search_all = up_to(1), .search_displaced = up_to(1),
		},
		.given = up_to(1),
	};

	return j;
}

/* ---- files as bytes ---------------------------------------------------------------- */

struct bytes {
	uint8_t *at;
	size_t n;
};

static int file;		/* in memory */
static char path[64];		/* its name */

static void open_file(void)
{
	file = memfd_create("codec", 0);
	ck_assert_int_ge(file, 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
}

static struct bytes load(void)
{
	struct bytes b = { .n = (size_t)lseek(file, 0, SEEK_END) };

	b.at = malloc(b.n + 1);
	ck_assert(b.at && pread(file, b.at, b.n, 0) == (ssize_t)b.n);
	return b;
}

static void write_out(struct ftr_out *o, const char *magic)
{
	ck_assert_int_eq(ftruncate(file, 0), 0);
	ck_assert_int_eq(lseek(file, 0, SEEK_SET), 0);
	ok(ftr_out_fd(o, file, "codec", magic, &err));
}

/* Read the container, but not its content. */
static enum ftr_status open_again(const char *magic)
{
	struct ftr_in in;
	enum ftr_status st = strncmp(magic, "ibfattree-state", 15) ?
		ftr_in_fd(&in, file, "codec", magic, &err) :
		ftr_in_file(&in, path, false, magic, &err);

	if (!st)
		free(in.text);
	return st;
}

/* The container, as ftr_in_fd reads it: all lengths, and all changes of one byte. */
static uint64_t each_change(const char *magic)
{
	struct bytes b = load();
	size_t first = (size_t)((uint8_t *)memchr(b.at, '\n', b.n) - b.at) + 1;
	uint64_t n = 0;

	ok(open_again(magic));
	for (size_t i = 0; i < b.n; i++) {
		unsigned int step = i < first || trees_runs(1) > 1 ? 1 : 255 / CHANGES;

		for (unsigned int x = 1 + (unsigned int)i % step; x < 256; x += step, n++) {
			uint8_t other = (uint8_t)(b.at[i] ^ x);

			ck_assert_int_eq(pwrite(file, &other, 1, (off_t)i), 1);
			ck_assert_msg(open_again(magic) == FTR_PARSE,
				      "%s: byte %zu may be 0x%02x instead of 0x%02x", magic, i, other,
				      b.at[i]);
		}
		ck_assert_int_eq(pwrite(file, &b.at[i], 1, (off_t)i), 1);
	}
	for (size_t len = b.n + 1; len-- > 0; n++) {
		if (len == b.n)
			continue;
		ck_assert_int_eq(ftruncate(file, (off_t)len), 0);
		ck_assert_int_eq(open_again(magic), FTR_PARSE);
	}
	ck_assert_int_eq(pwrite(file, b.at, b.n, 0), (ssize_t)b.n);
	for (size_t more = 1; more <= 64; more++, n++) {	/* zeros after the end */
		ck_assert_int_eq(ftruncate(file, (off_t)(b.n + more)), 0);
		ck_assert_int_eq(open_again(magic), FTR_PARSE);
	}
	free(b.at);
	return n;
}

/* ---- the three kinds ----------------------------------------------------------------- */

static void same(struct bytes a, struct bytes b, uint64_t seed)
{
	ck_assert_msg(a.n == b.n && !memcmp(a.at, b.at, a.n),
		      "seed %" PRIu64 ": the second write differs", seed);
	free(a.at);
	free(b.at);
}

static void write_state(const struct ftr_state *s)
{
	char dir[TEMP_ROOM], name[80];
	char buffer[4096];
	FILE *in;
	size_t n;

	ck_assert_ptr_nonnull(temp_dir(dir, "ftr-codec"));
	snprintf(name, sizeof(name), "%s/state", dir);
	ok(ftr_state_write(name, s, &err));
	ck_assert_int_eq(ftruncate(file, 0), 0);
	ck_assert_int_eq(lseek(file, 0, SEEK_SET), 0);
	in = fopen(name, "r");
	ck_assert_ptr_nonnull(in);
	while ((n = fread(buffer, 1, sizeof(buffer), in)) > 0)
		ck_assert_int_eq(write(file, buffer, n), (ssize_t)n);
	fclose(in);
	unlink(name);
	rmdir(dir);
}

static void state_again(uint64_t seed)
{
	struct ftr_state s = {
		.nominal = parts.nominal, .t = up_to(4) ? parts.t : NULL, .f = parts.f,
		.engine = "sftree", .searched = up_to(1), .given = parts.turn, .n_given = up_to(3),
		.turn = parts.turn, .n_turns = up_to(3),
		.displaced = parts.displaced, .n_displaced = up_to(5),
	}, again;
	struct bytes before;

	write_state(&s);
	before = load();
	ok(ftr_state_read(path, false, &parts.shape, &again, &err));
	ck_assert(!again.reshaped && !again.t == !s.t);
	ck_assert_uint_eq(ftr_nominal_id(again.nominal), ftr_nominal_id(s.nominal));
	write_state(&again);
	same(before, load(), seed);
	ftr_state_clear(&again);
}

static void same_guids(const struct ftr_guids *a, const struct ftr_guids *b)
{
	ck_assert_uint_eq(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++)
		ck_assert_uint_eq(a->guid[i], b->guid[i]);
}

/* What write_read_write would not find: two members that are exchanged or equal. */
static void same_job(const struct search_job *a, const struct search_job *b)
{
	ck_assert_str_eq(a->engine, b->engine);
	ck_assert_int_eq(a->shape.leaf_order, b->shape.leaf_order);
	ck_assert_int_eq(a->shape.roots_mode, b->shape.roots_mode);
	same_guids(&a->shape.roots, &b->shape.roots);
	same_guids(&a->shape.cn, &b->shape.cn);
	same_guids(&a->shape.io, &b->shape.io);
	ck_assert(a->opts.sm_switch == b->opts.sm_switch && a->opts.n_sm == b->opts.n_sm &&
		  a->opts.paths == b->opts.paths && a->opts.n_turns == b->opts.n_turns);
	for (uint32_t i = 0; i < a->opts.n_sm; i++)
		ck_assert_uint_eq(a->opts.sm[i], b->opts.sm[i]);
	for (uint32_t i = 0; i < a->opts.n_turns; i++)
		ck_assert(!memcmp(&a->opts.turn[i], &b->opts.turn[i], sizeof(*a->opts.turn)));
	ck_assert(a->keep.search_all == b->keep.search_all &&
		  a->keep.search_displaced == b->keep.search_displaced && a->given == b->given &&
		  !a->keep.current == !b->keep.current);
}

/* A job that was read is never freed, so this runs in a process of its own (START_TEST). */
static void job_again(uint64_t seed)
{
	struct search_job j = a_job(), again;
	struct ftr_shape *sh;
	struct ftr_out o = { NULL };
	struct bytes before;
	enum ftr_status st;
	struct ftr_in in;

	put_search(&o, &j);
	write_out(&o, HELPER_REQUEST);
	before = load();
	ok(ftr_in_fd(&in, file, "codec", HELPER_REQUEST, &err));
	st = get_search(&in, &again, &sh, &err);
	ok(ftr_in_end(&in, st, &err));
	same_job(&j, &again);
	o = (struct ftr_out){ NULL };
	put_search(&o, &again);
	write_out(&o, HELPER_REQUEST);
	same(before, load(), seed);
}

static void result_again(uint64_t seed)
{
	struct ftr_kept k = { .t = parts.t, .replaced = up_to(1) }, again = { NULL };
	struct ftr_out o = { NULL };
	struct bytes before;
	enum ftr_status st;
	struct ftr_in in;

	k.stats.balance = (struct ftr_balance_report){
		.bound = up_to(9), .max_before = up_to(1000), .max_after = up_to(1000),
		.shift_before = up_to(1000) / 8.0, .shift_after = up_to(1000) / 8.0,
		.moved = ftr_rng_next(&parts.rng),
	};
	put_found(&o, parts.f, &k);
	write_out(&o, HELPER_RESULT);
	before = load();
	ok(ftr_in_fd(&in, file, "codec", HELPER_RESULT, &err));
	st = get_found(&in, parts.f, &again, &err);
	ok(ftr_in_end(&in, st, &err));
	ck_assert(again.replaced == k.replaced &&
		  !memcmp(&again.stats.balance, &k.stats.balance, sizeof(k.stats.balance)));
	o = (struct ftr_out){ NULL };
	put_found(&o, parts.f, &again);
	write_out(&o, HELPER_RESULT);
	same(before, load(), seed);
	ftr_tables_free(again.t);
}

static void (*const kind[])(uint64_t seed) = { state_again, job_again, result_again };

START_TEST(write_read_write)
{
	uint64_t seed = trees_first_seed();
	unsigned int routed = 0;

	open_file();
	for (unsigned int i = 0; i < trees_runs(150); i++, seed++) {
		suite_now(seed);
		if (make_parts(trees_any(seed), false, seed)) {
			kind[_i](seed);
			routed++;
		}
		free_parts();
	}
	runs_show(routed > 100);
}
END_TEST

START_TEST(changed_or_cut)
{
	static const char *const magic[] = {
		"ibfattree-state 1", HELPER_REQUEST, HELPER_RESULT
	};
	struct ftr_pgft g;
	uint64_t n;

	open_file();
	ok(ftr_pgft_parse("2;2,2;1,2;1,1", &g, &err));
	ck_assert(make_parts(trees_grow(&g, 1, 0), true, 3));
	kind[_i](3);
	n = each_change(magic[_i]);
	printf("%s: %" PRIu64 " changes refused\n", magic[_i], n);
	free_parts();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("codec");
	TCase *c = tcase_create("all");

	printf("first seed: %" PRIu64 "\n", trees_first_seed());
	tcase_add_loop_test(c, write_read_write, 0, 3);
	tcase_add_loop_test(c, changed_or_cut, 0, 3);
	suite_add_tcase(s, c);
	return run_suite(s);
}
