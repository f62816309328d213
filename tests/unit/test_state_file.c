// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the state file (<ftr/state.h>).  A file that was written can be read.  A file that is cut,
 * has one changed bit, or is not a regular file is refused.  Invalid content with a correct
 * checksum is refused or has no effect.  Also failed writes and failed allocations.  FTR_SEED=N
 * begins with seed N; FTR_RUNS multiplies the number of files with invalid content.
 */
#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "io/container.h"
#include "lib/draw.h"
#include "lib/edit.h"
#include "lib/alloc.h"
#include "lib/suite.h"
#include "lib/temp.h"
#include "lib/trees.h"
#include <ftr/ftr.h>

#define MUTATIONS 2000

static struct ftr_err err;
static struct ftr_fabric *f;
static struct ftr_nominal *nominal;
static struct ftr_tables *t;
static struct ftr_displaced entry[20];
static struct ftr_turn turn[2];
static char path[TEMP_ROOM];

static void ok(enum ftr_status st)
{
	ck_assert_msg(st == FTR_OK, "%s", err.msg);
}

static void setup(void)
{
	struct ftr_gen_opts go = { .seed = 1 };
	struct ftr_shape *sh;
	int fd;

	fd = temp_file(path, "ftr-state");
	ck_assert_int_ge(fd, 0);
	close(fd);
	ok(ftr_gen_shape("2;4,4;1,4;1,1", &go, &f, &err));
	ok(ftr_nominal_new(f, NULL, NULL, &nominal, NULL, &err));
	ok(ftr_shape_new(f, NULL, NULL, &sh, &err));
	ok(ftr_tables_new(f, false, &t, &err));
	ok(ftr_engine_find("dmodc")->route(sh, NULL, NULL, t, NULL, &err));
	ftr_shape_free(sh);
	for (unsigned int i = 0; i < 20; i++)
		entry[i] = (struct ftr_displaced){
			f->sw[i % f->n_sw].guid, (ftr_lid)(i + 1), (ftr_port)(i % 4)
		};
	turn[0] = (struct ftr_turn){ 0, 1, 2 };
	turn[1] = (struct ftr_turn){ 3, 4, 5 };
}

static void teardown(void)
{
	unlink(path);
	ftr_tables_free(t);
	ftr_nominal_free(nominal);
	ftr_fabric_free(f);
}

/* ---- files as bytes ----------------------------------------------------------- */

struct bytes {
	uint8_t *at;
	size_t n;
};

static struct bytes load(void)
{
	FILE *in = fopen(path, "r");
	struct bytes b = { malloc(1 << 20), 0 };

	ck_assert(in && b.at);
	b.n = fread(b.at, 1, 1 << 20, in);
	fclose(in);
	ck_assert_uint_lt(b.n, 1 << 20);
	return b;
}

static void save(const uint8_t *at, size_t n)
{
	FILE *out = fopen(path, "w");

	ck_assert(out && fwrite(at, 1, n, out) == n && !fclose(out));
}

static void seal(const uint8_t *body, size_t n)
{
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	fprintf(out, "ibfattree-state 1 %016" PRIx64 " %zu\n",
		ftr_hash(FTR_HASH_INIT, body, n), n);
	ck_assert(fwrite(body, 1, n, out) == n && !fclose(out));
}

static void write_state(void)
{
	const struct ftr_state s = {
		.nominal = nominal, .t = t, .f = f, .engine = "dmodc", .searched = true,
		.given = turn, .n_given = 1, .turn = turn, .n_turns = 2,
		.displaced = entry, .n_displaced = 20,
	};

	ok(ftr_state_write(path, &s, &err));
}

/* Check that an engine can route if it must keep entries of the tables in s. */
static void use(const struct ftr_state *s)
{
	struct ftr_tables *mine, *out;
	struct ftr_keep keep = { .prefer = NULL };
	struct ftr_check_report *r = malloc(sizeof(*r));
	struct ftr_shape *sh;

	ck_assert_ptr_nonnull(r);
	ok(ftr_tables_carry(s->f, s->t, f, &mine, &err));
	keep.prefer = keep.current = mine;
	ok(ftr_shape_new(f, NULL, NULL, &sh, &err));
	ok(ftr_tables_new(f, false, &out, &err));
	ok(ftr_engine_find("dmodc")->route(sh, &(struct ftr_route_opts){
			.sm_switch = FTR_SW_NONE, .keep = &keep }, NULL, out, NULL, &err));
	ok(ftr_check_tables(f, out, NULL, NULL, r, &err));
	ck_assert(!r->found[FTR_FIND_LOOP] && !r->found[FTR_FIND_WRONG_END] &&
		  !r->found[FTR_FIND_DEAD_PORT]);
	ck_assert_uint_eq(r->bad[FTR_CHECK_HOST_HOST], 0);
	ck_assert_int_ne(r->cdg, FTR_CDG_CYCLE);
	ftr_shape_free(sh);
	ftr_tables_free(out);
	ftr_tables_free(mine);
	free(r);
}

static enum ftr_status try_read(bool own)
{
	struct ftr_state s;
	enum ftr_status st;

	err.msg[0] = '\0';
	st = ftr_state_read(path, own, NULL, &s, &err);
	if (st) {
		ck_assert_int_eq(err.status, st);
		ck_assert_msg(strstr(err.msg, path) && !strchr(err.msg, '\n'), "%s", err.msg);
		return st;
	}
	for (uint32_t i = 0; i < s.n_turns; i++)
		ck_assert(s.turn[i].from < s.f->n_sw && s.turn[i].at < s.f->n_sw &&
			  s.turn[i].to < s.f->n_sw);
	if (s.t)
		use(&s);
	ftr_state_clear(&s);
	return st;
}

static void refused(enum ftr_status st)
{
	ck_assert_msg(st == FTR_PARSE || st == FTR_IO, "wrong status for a bad file: %d", st);
}

/* ---- good files ----------------------------------------------------------------- */

START_TEST(read_again)
{
	struct ftr_state s;
	struct bytes a, b;

	write_state();
	a = load();
	ck_assert(ftr_state_is_file(path));
	ok(ftr_state_read(path, true, NULL, &s, &err));
	ck_assert(!s.reshaped && s.searched);
	ck_assert_str_eq(s.engine, "dmodc");
	ck_assert_uint_eq(ftr_nominal_id(s.nominal), ftr_nominal_id(nominal));
	ck_assert_uint_eq(s.f->n_sw, f->n_sw);
	for (ftr_sw sw = 0; sw < f->n_sw; sw++)
		ck_assert_mem_eq(ftr_tables_row(s.t, sw), ftr_tables_row(t, sw),
				 f->max_lid + 1u);
	ck_assert(s.n_given == 1 && s.n_turns == 2 && s.turn[1].to == 5);
	ck_assert_uint_eq(s.n_displaced, 20);
	ck_assert(s.displaced[7].guid == f->sw[7].guid && s.displaced[7].lid == 8 &&
		  s.displaced[7].port == 3);
	ok(ftr_state_write(path, &s, &err));
	b = load();
	ck_assert(a.n == b.n && !memcmp(a.at, b.at, a.n));
	free(a.at);
	free(b.at);
	ftr_state_clear(&s);
}
END_TEST

/* Names with unusual characters and the order of leaves by name must be the same after a write and
 * a read.  A read with options other than those of the file makes another shape. */
START_TEST(names_and_options)
{
	struct ftr_fabric *base = draw("A: t1 t2 h2\nB: t1 t2 h2\nC: t1 t2 h1 rt\n"
				       "D: t1 t2 h2 an\nt1:\nt2:\n"), *g;
	struct ftr_shape_opts o = { .leaf_order = FTR_LEAF_BY_NAME }, cn = o;
	struct edit e = EDIT_NOTHING;
	struct ftr_nominal *n = NULL;
	struct ftr_state s;

	e.name_ep = draw_host(base, "D", 0);
	e.name = "%\t\x01\x7f\"' \xc3\xa4 %41 ";
	g = edit_seal(edit_open(base, &e));
	ok(ftr_nominal_new(g, &o, NULL, &n, NULL, &err));
	ok(ftr_state_write(path, &(struct ftr_state){ .nominal = n }, &err));
	ok(ftr_state_read(path, true, &o, &s, &err));
	ck_assert(!s.reshaped && !s.t);
	ck_assert_str_eq(s.nominal->f->ep[e.name_ep].name, "%???\"' \xc3\xa4 %41 ");
	ck_assert(!memcmp(s.nominal->shape->numbering.col, n->shape->numbering.col,
			  g->n_sw * sizeof(*n->shape->numbering.col)));
	ftr_state_clear(&s);
	ok(ftr_state_read(path, true, NULL, &s, &err));
	ck_assert(s.reshaped && s.nominal->leaf_order == FTR_LEAF_BY_GUID);
	ftr_state_clear(&s);
	cn.cn = (struct ftr_guids){ &g->ep[0].guid, 1 };
	ok(ftr_state_read(path, true, &cn, &s, &err));
	ck_assert(s.reshaped && s.nominal->shape->tree.n_leaf == 1);
	ftr_state_clear(&s);
	ftr_nominal_free(n);
	ftr_fabric_free(g);
	ftr_fabric_free(base);
}
END_TEST

/* The identity of a nominal fabric must change if the ranks, the GUID lists or the order of leaves
 * change. */
START_TEST(tables_of_other_ranks)
{
	struct ftr_nominal n = *nominal;
	uint64_t was = ftr_nominal_id(&n);
	uint8_t *rank = (uint8_t *)(uintptr_t)n.shape->tree.rank;

	rank[f->n_sw - 1]++;
	ck_assert_uint_ne(ftr_nominal_id(&n), was);
	rank[f->n_sw - 1]--;
	ck_assert_uint_eq(ftr_nominal_id(&n), was);
	n.lists++;
	ck_assert_uint_ne(ftr_nominal_id(&n), was);
	n.lists--;
	n.leaf_order = FTR_LEAF_BY_NAME;
	ck_assert_uint_ne(ftr_nominal_id(&n), was);
}
END_TEST

/* ---- bad files ------------------------------------------------------------------ */

START_TEST(cut_or_changed)
{
	unsigned int spellings = 0;
	struct bytes b;

	write_state();
	b = load();
	for (size_t n = 0; n < b.n; n++) {
		save(b.at, n);
		ck_assert_int_eq(try_read(true), FTR_PARSE);
		ck_assert_msg(n < 40 || strstr(err.msg, "incomplete"), "%s", err.msg);
	}
	for (size_t i = 0; i < b.n; i++) {
		b.at[i] ^= 1;
		save(b.at, b.n);
		ck_assert_msg(try_read(true) == FTR_PARSE, "a change of byte %zu is accepted", i);
		b.at[i] ^= 1;
	}
	/* the first line is text, which could be written in several ways */
	for (size_t i = 0; b.at[i] != '\n'; i++) {
		static const char other[] = "\t +-0AaXx\n";
		uint8_t was = b.at[i];

		for (unsigned int x = 0; x < 8 + sizeof(other); x++) {
			b.at[i] = x < 8 ? (uint8_t)(was ^ 1u << x) : (uint8_t)other[x - 8];
			save(b.at, b.n);
			spellings += b.at[i] != was;
			ck_assert_msg(b.at[i] == was || try_read(true) == FTR_PARSE,
				      "byte %zu is accepted as 0x%02x instead of 0x%02x", i, b.at[i],
				      was);
		}
		b.at[i] = was;
	}
	b.at[b.n] = '\n';	/* one byte too many */
	save(b.at, b.n + 1);
	ck_assert_int_eq(try_read(true), FTR_PARSE);
	printf("%zu lengths, %zu changed bytes, %u first lines refused\n", b.n + 1, b.n, spellings);
	free(b.at);
}
END_TEST

static void mutate(struct bytes *b, struct ftr_rng *r)
{
	static const uint8_t extreme[] = { 0, 1, 0x7f, 0x80, 0xfe, 0xff };
	uint32_t n = 1 + ftr_rng_below(r, 4);

	while (n--) {
		uint32_t how = ftr_rng_below(r, 8);
		size_t at = ftr_rng_below(r, (uint32_t)b->n);

		if (how == 7)
			b->n -= ftr_rng_below(r, 64);
		else if (how == 6)
			b->n += ftr_rng_below(r, 8);
		else
			b->at[at] = how % 2 ? (uint8_t)ftr_rng_next(r) :
				extreme[ftr_rng_below(r, sizeof(extreme))];
	}
}

START_TEST(damaged_content)
{
	unsigned int taken = 0, left_out = 0;
	struct bytes whole;
	struct ftr_rng r;

	ftr_rng_seed(&r, trees_first_seed());
	write_state();
	whole = load();
	for (uint64_t i = 0; i < trees_runs(MUTATIONS); i++) {
		const uint8_t *nl = memchr(whole.at, '\n', whole.n);
		struct bytes b = { .n = whole.n - (size_t)(nl + 1 - whole.at) };
		size_t n = b.n;
		enum ftr_status st;

		b.at = calloc(n + 64, 1);
		memcpy(b.at, nl + 1, n);
		mutate(&b, &r);
		seal(b.at, FTR_MIN(b.n, n + 40));
		st = try_read(true);
		if (st != FTR_SHAPE && st)
			refused(st);
		taken += !st;
		left_out += st != 0;
		free(b.at);
	}
	runs_show(taken > 0);	/* a changed name, or a changed entry of a table */
	runs_show(left_out > 0);
	free(whole.at);
}
END_TEST

START_TEST(no_such_file)
{
	char link[80];

	unlink(path);
	ck_assert_int_eq(try_read(true), FTR_IO);
	ck_assert(!ftr_state_is_file(path));
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	refused(try_read(true));	/* does not wait for a writer of the FIFO */
	unlink(path);
	snprintf(link, sizeof(link), "%s.target", path);
	write_state();
	ck_assert_int_eq(rename(path, link), 0);
	ck_assert_int_eq(symlink(link, path), 0);
	refused(try_read(true));
	ok(try_read(false));
	unlink(path);
	ck_assert_int_eq(rename(link, path), 0);
	ok(try_read(true));
	/* 2 GiB of zeros */
	ck_assert_int_eq(truncate(path, (off_t)2 << 30), 0);
	refused(try_read(true));
	save((const uint8_t *)"vendid=0x2c9\n", 13);
	ck_assert(!ftr_state_is_file(path));
	ck_assert_int_eq(try_read(true), FTR_PARSE);
	unlink(path);
	ck_assert_int_eq(try_read(false), FTR_IO);
	strcpy(path, "/tmp");
	ck_assert_int_eq(try_read(false), FTR_IO);
}
END_TEST

START_TEST(write_fails)
{
	const struct ftr_state s = { .nominal = nominal };
	char dir[TEMP_ROOM], target[80];

	ck_assert_int_eq(ftr_state_write("/nonexistent/dir/file", &s, &err), FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent/dir/file"));
	/* a directory cannot be replaced */
	ck_assert_ptr_nonnull(temp_dir(dir, "ftr-state"));
	snprintf(target, sizeof(target), "%s/state", dir);
	ck_assert(!mkdir(target, 0700));
	ck_assert_int_eq(ftr_state_write(target, &s, &err), FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, target));
	ck_assert(!rmdir(target));
	ck_assert_msg(!rmdir(dir), "files remain in %s", dir);
}
END_TEST

/* ---- content made by hand --------------------------------------------------------- */

static bool fill(FILE *out, const void *content)
{
	return ftr_out_file((struct ftr_out *)(uintptr_t)content, out, "ibfattree-state 1");
}

/* A nominal fabric with stored ranks: those of its shape, or one of them too large, or missing. */
static void put_ranks(struct ftr_out *o, uint32_t large, uint32_t n)
{
	const struct ftr_shape *sh = nominal->shape;

	ftr_put(o, nominal->leaf_order, 1);
	ftr_put(o, nominal->lists, 8);
	ftr_put_fabric(o, f);
	ftr_put(o, 1, 1);
	for (ftr_sw s = 0; s < n; s++) {
		ftr_put(o, s == large ? 200 : sh->tree.rank[s], 1);
		ftr_put(o, sh->numbering.col[s] < sh->tree.n_leaf, 1);
		ftr_put(o, 0, 1);
	}
	if (n == f->n_sw)
		ftr_put_text(o, "");
}

START_TEST(stored_ranks)
{
	struct ftr_out o = { 0 };
	enum ftr_status st = FTR_NOMEM;
	struct ftr_state s;

	put_ranks(&o, f->n_sw, f->n_sw);
	ok(ftr_file_replace(path, fill, &o, &err));
	ok(ftr_state_read(path, true, NULL, &s, &err));
	ck_assert(!s.reshaped && !s.t);
	ck_assert(!memcmp(s.nominal->shape->tree.rank, nominal->shape->tree.rank, f->n_sw));
	ftr_state_clear(&s);
	for (unsigned long k = 1; st; k++) {
		ftr_alloc_fail_at(k);
		st = ftr_state_read(path, true, NULL, &s, &err);
		ftr_alloc_fail_at(0);
		ck_assert(!st || ((st == FTR_NOMEM || st == FTR_IO) && !s.nominal));
	}
	ftr_state_clear(&s);
	for (uint32_t n = 1; n <= f->n_sw; n++) {
		o = (struct ftr_out){ 0 };
		put_ranks(&o, n < f->n_sw ? f->n_sw : 1, n);
		ok(ftr_file_replace(path, fill, &o, &err));
		ck_assert_int_eq(try_read(true), FTR_PARSE);
		ck_assert_ptr_nonnull(strstr(err.msg, "is incomplete or damaged"));
	}
}
END_TEST

/* The content ends in the name of the engine. */
START_TEST(cut_name)
{
	struct ftr_out o = { 0 };

	ftr_put_nominal(&o, nominal);
	ftr_put(&o, 5, 1);
	ftr_put_bytes(&o, "dmo", 3);
	ok(ftr_file_replace(path, fill, &o, &err));
	ck_assert_int_eq(try_read(true), FTR_PARSE);
}
END_TEST

/* A turn is left out if any of its switches is unknown. */
START_TEST(turns_of_unknown_switches)
{
	struct ftr_out o = { 0 };
	struct ftr_turn *got;
	struct ftr_in in;
	uint32_t n;
	int fd = open(path, O_RDWR);

	ftr_put(&o, 4, 4);
	for (unsigned int i = 0; i < 4; i++)
		for (unsigned int k = 0; k < 3; k++)
			ftr_put(&o, i == k ? 12345 : f->sw[k].guid, 8);
	ok(ftr_out_fd(&o, fd, path, "turns", &err));
	ok(ftr_in_fd(&in, fd, path, "turns", &err));
	ok(ftr_get_turns(&in, f, &got, &n, &err));
	ok(ftr_in_end(&in, FTR_OK, &err));
	ck_assert(n == 1 && got->from == 0 && got->at == 1 && got->to == 2);
	free(got);
	close(fd);
}
END_TEST

/* Descriptors that cannot be written or read. */
START_TEST(bad_descriptors)
{
	const int reads = open(path, O_RDONLY), writes = open(path, O_WRONLY),
		full = open("/dev/full", O_WRONLY);
	const int out_fd[] = { -1, reads, full };
	static const char big[100000];
	struct ftr_in in;

	for (size_t i = 0; i < 2 * FTR_ARRAY_LEN(out_fd); i++) {
		struct ftr_out o = { 0 };

		/* not more than the buffer of the stream, and more */
		ftr_put_bytes(&o, big, i % 2 ? sizeof(big) : 1);
		ck_assert_int_eq(ftr_out_fd(&o, out_fd[i / 2], "the target", "magic", &err), FTR_IO);
		ck_assert_ptr_nonnull(strstr(err.msg, "the target is not written: "));
	}
	save((const uint8_t *)"magic", 5);
	ck_assert_int_eq(ftr_in_fd(&in, -1, "the source", "magic", &err), FTR_IO);
	ck_assert_int_eq(ftr_in_fd(&in, full, "the source", "magic", &err), FTR_IO);
	ck_assert_int_eq(ftr_in_fd(&in, writes, "the source", "magic", &err), FTR_PARSE);
	ck_assert_ptr_nonnull(strstr(err.msg, "the source: the first line is not \"magic\""));
	close(reads);
	close(writes);
	close(full);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("state file");
	TCase *c = tcase_create("all");

	printf("first seed: %" PRIu64 "\n", trees_first_seed());
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, read_again);
	tcase_add_test(c, names_and_options);
	tcase_add_test(c, tables_of_other_ranks);
	tcase_add_test(c, cut_or_changed);
	tcase_add_test(c, damaged_content);
	tcase_add_test(c, no_such_file);
	tcase_add_test(c, write_fails);
	tcase_add_test(c, stored_ranks);
	tcase_add_test(c, cut_name);
	tcase_add_test(c, turns_of_unknown_switches);
	tcase_add_test(c, bad_descriptors);
	suite_add_tcase(s, c);
	return run_suite(s);
}
