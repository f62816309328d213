// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests stored tables (<ftr/stored.h>).  A file that was written can be read.  A file that is cut,
 * has one changed bit, or is not a regular file is refused.  Invalid content with a correct
 * checksum is refused or has no effect.  FTR_SEED=N begins with seed N; FTR_RUNS multiplies the
 * number of files with invalid content.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/core.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include <ftr/ftr.h>
#include <ftr/stored.h>

#define MUTATIONS 2000

static struct ftr_err err;
static struct ftr_fabric *f;
static struct ftr_shape *sh;
static struct ftr_tables *t;
static const struct ftr_stored_id id = { "dmodc", 0x1234 };
static char path[] = "/tmp/ibfattree-stored.XXXXXX";

static void ok(enum ftr_status st)
{
	ck_assert_msg(st == FTR_OK, "%s", err.msg);
}

static void route(const struct ftr_keep *keep, struct ftr_tables **out)
{
	struct ftr_route_opts opts = FTR_ROUTE_OPTS_INIT;

	opts.keep = keep;
	ok(ftr_tables_new(f, false, out, &err));
	ok(ftr_engine_find("dmodc")->route(sh, &opts, NULL, *out, NULL, &err));
}

static void setup(void)
{
	struct ftr_gen_opts go = { .seed = 1 };
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	ok(ftr_gen_shape("2;4,4;1,4;1,1", &go, &f, &err));
	ok(ftr_shape_new(f, NULL, NULL, &sh, &err));
	route(NULL, &t);
}

static void teardown(void)
{
	unlink(path);
	ftr_tables_free(t);
	ftr_shape_free(sh);
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

static void seal(const char *magic, const uint8_t *body, size_t n)
{
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	fprintf(out, "%s 1 %016" PRIx64 " %zu\n", magic,
		ftr_hash(FTR_HASH_INIT, body, n), n);
	ck_assert(fwrite(body, 1, n, out) == n && !fclose(out));
}

static struct bytes body_of(const struct bytes *b)
{
	const uint8_t *nl = memchr(b->at, '\n', b->n);
	struct bytes body = { .n = b->n - (size_t)(nl + 1 - b->at) };

	body.at = malloc(body.n + 64);
	ck_assert_ptr_nonnull(body.at);
	memcpy(body.at, nl + 1, body.n);
	return body;
}

/* ---- the two kinds of file ------------------------------------------------------ */

static void write_preferred(void)
{
	ok(ftr_stored_write(path, &id, true, f, t, &err));
}

static void write_displaced(void)
{
	struct ftr_displaced entry[20];

	for (unsigned int i = 0; i < 20; i++)
		entry[i] = (struct ftr_displaced){
			f->sw[i % f->n_sw].guid, (ftr_lid)(i + 1),
			(ftr_port)(i % 4)
		};
	ok(ftr_displaced_write(path, &id, entry, 20, &err));
}

/* Check that the owner of each LID in p (a switch or host port) exists, and that the engine can
 * route if it must keep entries of the tables in p. */
static void use(const struct ftr_stored *p)
{
	struct ftr_tables *mine, *out;
	struct ftr_keep keep = { .prefer = NULL };
	struct ftr_check_report *r = malloc(sizeof(*r));

	for (uint32_t lid = 0; lid <= p->f->max_lid; lid++) {
		const struct ftr_lid_owner *o = &p->f->owner[lid];

		ck_assert(o->kind == FTR_OWNER_NONE ||
			  (o->kind == FTR_OWNER_SW && o->idx < p->f->n_sw) ||
			  (o->kind == FTR_OWNER_EP && o->idx < p->f->n_ep));
	}
	ok(ftr_tables_carry(p->f, p->t, f, &mine, &err));
	keep.prefer = keep.current = mine;
	route(&keep, &out);
	ck_assert_ptr_nonnull(r);
	ok(ftr_check_tables(f, out, NULL, NULL, r, &err));
	ck_assert(!r->found[FTR_FIND_LOOP] && !r->found[FTR_FIND_WRONG_END] &&
		  !r->found[FTR_FIND_DEAD_PORT]);
	ck_assert_uint_eq(r->bad[FTR_CHECK_HOST_HOST], 0);
	ck_assert_int_ne(r->cdg, FTR_CDG_CYCLE);
	free(r);
	ftr_tables_free(out);
	ftr_tables_free(mine);
}

static enum ftr_status read_preferred(void)
{
	struct ftr_stored *p = NULL;
	enum ftr_status st = ftr_stored_read(path, &p, &err);

	if (!st)
		use(p);
	ftr_stored_free(p);
	return st;
}

static enum ftr_status read_displaced(void)
{
	struct ftr_displaced *entry = NULL;
	struct ftr_stored_id found;
	uint32_t n = 0;
	enum ftr_status st = ftr_displaced_read(path, &found, &entry, &n, &err);

	for (uint32_t i = 0; !st && i < n; i++)
		ck_assert_uint_le(entry[i].port, UINT8_MAX);
	ck_assert(st || strnlen(found.engine, FTR_ENGINE_NAME_MAX) <
		  FTR_ENGINE_NAME_MAX);
	free(entry);
	return st;
}

static const struct kind {
	const char *magic;
	void (*write)(void);
	enum ftr_status (*read)(void);
	size_t counts;		/* offset of the counts that mutate() changes */
} kinds[] = {
	{ "ibfattree-preferred", write_preferred, read_preferred, 25 },
	{ "ibfattree-displaced", write_displaced, read_displaced, 24 },
};

static void refused(enum ftr_status st)
{
	ck_assert_msg(st == FTR_PARSE || st == FTR_IO, "wrong status for a bad file: %d", st);
	ck_assert(err.msg[0] && !strchr(err.msg, '\n'));
}

START_TEST(read_again)
{
	struct ftr_displaced *entry;
	struct ftr_stored_id found;
	struct ftr_stored *p;
	uint32_t n;

	write_preferred();
	ok(ftr_stored_read(path, &p, &err));
	ck_assert_str_eq(p->id.engine, id.engine);
	ck_assert_uint_eq(p->id.nominal, id.nominal);
	ck_assert(p->searched);
	ck_assert_uint_eq(p->f->n_sw, f->n_sw);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		ck_assert_mem_eq(ftr_tables_row(p->t, s), ftr_tables_row(t, s),
				 f->max_lid + 1u);
	ftr_stored_free(p);
	write_displaced();
	ok(ftr_displaced_read(path, &found, &entry, &n, &err));
	ck_assert_uint_eq(n, 20);
	ck_assert_uint_eq(entry[7].guid, f->sw[7].guid);
	ck_assert_uint_eq(entry[7].lid, 8);
	ck_assert_uint_eq(entry[7].port, 3);
	free(entry);
}
END_TEST

START_TEST(cut_or_changed)
{
	const struct kind *k = &kinds[_i];
	struct bytes b;

	k->write();
	b = load();
	for (size_t n = 0; n < b.n; n++) {
		save(b.at, n);
		refused(k->read());
	}
	for (size_t i = 0; i < b.n; i++) {
		b.at[i] ^= 1;
		save(b.at, b.n);
		refused(k->read());
		b.at[i] ^= 1;
	}
	free(b.at);
}
END_TEST

static void mutate(struct bytes *b, size_t counts, struct ftr_rng *r)
{
	static const uint8_t extreme[] = { 0, 1, 0x7f, 0x80, 0xfe, 0xff };
	uint32_t n = 1 + ftr_rng_below(r, 4);

	while (n--) {
		uint32_t how = ftr_rng_below(r, 8);
		size_t at = how < 3 ? counts + ftr_rng_below(r, 6) :
			ftr_rng_below(r, (uint32_t)b->n);

		if (how == 7 && b->n > 64)
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
	const struct kind *k = &kinds[_i];
	struct ftr_rng r;
	struct bytes b, whole;
	unsigned int taken = 0;

	ftr_rng_seed(&r, trees_first_seed() + (uint64_t)_i);
	k->write();
	whole = load();
	for (uint64_t i = 0; i < trees_runs(MUTATIONS); i++) {
		enum ftr_status st;

		b = body_of(&whole);
		memset(b.at + b.n, 0, 64);
		mutate(&b, k->counts, &r);
		seal(k->magic, b.at, FTR_MIN(b.n, whole.n + 40));
		st = k->read();
		if (st)
			refused(st);
		else
			taken++;
		free(b.at);
	}
	runs_show(taken > 0);	/* some files passed the first checks */
	free(whole.at);
}
END_TEST

START_TEST(no_such_file)
{
	const struct kind *k = &kinds[_i];
	char link[64];

	unlink(path);
	ck_assert_int_eq(k->read(), FTR_IO);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	refused(k->read());	/* does not wait for a writer of the FIFO */
	unlink(path);
	snprintf(link, sizeof(link), "%s.target", path);
	k->write();
	ck_assert_int_eq(rename(path, link), 0);
	ck_assert_int_eq(symlink(link, path), 0);
	refused(k->read());
	unlink(path);
	ck_assert_int_eq(rename(link, path), 0);
	ok(k->read());
	/* 2 GiB of zeros */
	ck_assert_int_eq(truncate(path, (off_t)2 << 30), 0);
	refused(k->read());
}
END_TEST

/* Stored tables contain a number that identifies their nominal fabric.  This number must change if
 * the ranks, the GUID lists or the order of leaves change. */
START_TEST(tables_of_other_ranks)
{
	struct ftr_nominal n = { .f = f, .shape = sh };
	uint64_t was = ftr_stored_nominal(&n);
	uint8_t *rank = (uint8_t *)(uintptr_t)sh->tree.rank;

	rank[f->n_sw - 1]++;
	ck_assert_uint_ne(ftr_stored_nominal(&n), was);
	rank[f->n_sw - 1]--;
	ck_assert_uint_eq(ftr_stored_nominal(&n), was);
	n.lists++;
	ck_assert_uint_ne(ftr_stored_nominal(&n), was);
	n.lists--;
	n.leaf_order = FTR_LEAF_BY_NAME;
	ck_assert_uint_ne(ftr_stored_nominal(&n), was);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stored");
	TCase *c = tcase_create("all");

	printf("first seed: %" PRIu64 "\n", trees_first_seed());
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, tables_of_other_ranks);
	tcase_add_test(c, read_again);
	tcase_add_loop_test(c, cut_or_changed, 0, 2);
	tcase_add_loop_test(c, damaged_content, 0, 2);
	tcase_add_loop_test(c, no_such_file, 0, 2);
	suite_add_tcase(s, c);
	return run_suite(s);
}
