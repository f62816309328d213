// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the state file, which stores the nominal fabric: files cut at every byte, changed bits in
 * every byte, invalid content, failed writes, and failed allocations.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/core.h"
#include "lib/draw.h"
#include "lib/edit.h"
#include "lib/suite.h"

static struct ftr_err err;

static const char tree[] = "A: t1 t2 h2\nB: t1 t2 h2\nC: t1 t2 h2\n"
	"D: t1 t2 h2\nt1:\nt2:\n";

static struct ftr_nominal *nominal_of(const struct ftr_fabric *f)
{
	struct ftr_nominal *n = NULL;

	ck_assert_msg(!ftr_nominal_new(f, NULL, NULL, NULL, &n, NULL, &err),
		      "%s", err.msg);
	return n;
}

/* ---- the state file ---------------------------------------------------- */

static char path[64];

static void fresh_path(void)
{
	int fd;

	strcpy(path, "/tmp/ftr-state-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void put(const char *text, size_t len)
{
	FILE *out = fopen(path, "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_uint_eq(fwrite(text, 1, len, out), len);
	fclose(out);
}

static char *get(size_t *len)
{
	FILE *in = fopen(path, "r");
	char *text;

	ck_assert_ptr_nonnull(in);
	fseek(in, 0, SEEK_END);
	*len = (size_t)ftell(in);
	rewind(in);
	text = calloc(*len + 1, 1);
	ck_assert_uint_eq(fread(text, 1, *len, in), *len);
	fclose(in);
	return text;
}

static enum ftr_status try_read(void)
{
	struct ftr_nominal *n = NULL;
	enum ftr_status st;

	err.msg[0] = '\0';
	st = ftr_nominal_read(path, NULL, NULL, &n, NULL, &err);
	ck_assert_int_eq(st == FTR_OK, n != NULL);
	if (st) {
		ck_assert_int_eq(err.status, st);
		ck_assert_msg(strstr(err.msg, path) != NULL, "%s", err.msg);
	}
	ftr_nominal_free(n);
	return st;
}

static char *good(size_t *len)
{
	struct ftr_fabric *f = draw("A: t1 t2 h1 an\nB: t1 t2 h1 rt\nt1:\nt2:\n");
	struct ftr_nominal *n = nominal_of(f);

	fresh_path();
	ck_assert(!ftr_nominal_write(path, n, &err));
	ftr_nominal_free(n);
	ftr_fabric_free(f);
	return get(len);
}

START_TEST(torn_at_every_offset)
{
	size_t len;
	char *text = good(&len);

	ck_assert_int_eq(try_read(), FTR_OK);
	for (size_t i = 0; i < len; i++) {
		put(text, i);
		ck_assert_int_eq(try_read(), FTR_PARSE);
		ck_assert_msg(i < 20 || strstr(err.msg, "incomplete"), "%s",
			      err.msg);
	}
	/* one byte too many */
	text[len] = '\n';
	put(text, len + 1);
	ck_assert_int_eq(try_read(), FTR_PARSE);
	free(text);
	unlink(path);
}
END_TEST

START_TEST(every_byte_damaged)
{
	size_t len;
	char *text = good(&len);

	for (size_t i = 0; i < len; i++) {
		static const char flip[] = { 1, 32, (char)128 };

		for (size_t k = 0; k < sizeof(flip); k++) {
			text[i] = (char)(text[i] ^ flip[k]);
			put(text, len);
			/* hex digits of the checksum may be in upper or lower case */
			if (!(flip[k] == 32 && i >= 20 && i < 36))
				ck_assert_msg(try_read() == FTR_PARSE,
					      "a change of byte %zu is accepted", i);
			text[i] = (char)(text[i] ^ flip[k]);
		}
	}
	free(text);
	unlink(path);
}
END_TEST

#define SW "S 0000000000000001 36 0 a\n"

/* Read a file with this body, and a correct checksum and length.  The body may be invalid. */
static enum ftr_status read_body(const char *body)
{
	char rest[2000], head[64];
	FILE *out;
	int n = snprintf(rest, sizeof(rest), "%zu guid %016x\n%s",
			 strlen(body), 0, body);

	snprintf(head, sizeof(head), "ibfattree-nominal 1 %016" PRIx64 " ",
		 ftr_hash(FTR_HASH_INIT, rest, (size_t)n));
	out = fopen(path, "w");
	ck_assert_ptr_nonnull(out);
	fputs(head, out);
	fputs(rest, out);
	fclose(out);
	return try_read();
}

START_TEST(invalid_content)
{
	static const char *const bad[] = {
		"X\n", "S\n", "S 1 36 0 a\n", "S 0000000000000001 0 0 a\n",
		"S 0000000000000001 255 0 a\n", "S 0000000000000001 36 8 a\n",
		"S 0000000000000001 36 0\n", "S 0000000000000001 036 0 a\n",
		"S 0x00000000000001 36 0 a\n",
		"S 0000000000000001 36 0 %\n", "S 0000000000000001 36 0 %4\n",
		"S 0000000000000001 36 0 %00\n",
		"S 0000000000000001 36 0 %zz\n",
		"S 0000000000000001 36 0 a", SW "S 0000000000000001 35 0 a\n",
		SW "E 0000000000000002 0000000000000003 0 C 0 h\n",
		SW "E 0000000000000002 0000000000000003 1 D 0 h\n",
		SW "E 0000000000000002 0000000000000001 1 C 0 h\n",
		SW "L 0000000000000001 1 0000000000000009 1\n",
		SW "L 0000000000000001 1 0000000000000001 1\n",
		SW "L 0000000000000001 37 0000000000000001 1\n",
		SW "L 0000000000000001 1 0000000000000001 2 3\n",
		SW "P 0000000000000002 0000000000000003\n",
		SW "P 0000000000000001 3\n", SW "P 0000000000000001\n",
		SW "R 0000000000000001 128 0 0\n", SW "R 0000000000000001 1 2 0\n",
		SW "R 0000000000000001 1 0\n", SW "R 1 1 0 0\n",
		SW "R 0000000000000001 1 0 0\nR 0000000000000001 1 0 0\n",
		SW "S 0000000000000002 36 0 b\n"
		"P 0000000000000001 0000000000000002\n",
		"S 0000000000000001 36 0 "
		"12345678901234567890123456789012345678901234567890123456789012345\n",
	};

	fresh_path();
	ck_assert_int_eq(read_body(SW), FTR_OK);
	for (size_t i = 0; i < FTR_ARRAY_LEN(bad); i++)
		ck_assert_msg(read_body(bad[i]) == FTR_PARSE,
			      "the body is not refused as invalid: '%s': %s", bad[i], err.msg);
	unlink(path);
}
END_TEST

START_TEST(other_files)
{
	size_t len;
	char *text = good(&len);

	ck_assert(ftr_nominal_is_file(path));
	text[18] = '4';
	put(text, len);
	ck_assert_int_eq(try_read(), FTR_PARSE);
	ck_assert_ptr_nonnull(strstr(err.msg, "version 4; versions 1 to 3 are supported"));
	ck_assert(ftr_nominal_is_file(path));
	put("vendid=0x2c9\n", 13);
	ck_assert_int_eq(try_read(), FTR_PARSE);
	ck_assert_ptr_nonnull(strstr(err.msg, "not a state file"));
	ck_assert(!ftr_nominal_is_file(path));
	unlink(path);
	ck_assert_int_eq(try_read(), FTR_IO);
	ck_assert(!ftr_nominal_is_file(path));
	strcpy(path, "/tmp");
	ck_assert_int_eq(try_read(), FTR_IO);
	free(text);
}
END_TEST

/* Names with unusual characters and the order of leaves by name must be the same after a write and
 * a read.  A read with options other than those of the file makes another shape. */
START_TEST(names_and_options)
{
	struct ftr_fabric *base = draw(tree), *f;
	struct ftr_shape_opts o = { .leaf_order = FTR_LEAF_BY_NAME };
	struct ftr_shape_opts cn = o;
	struct ftr_nominal *n = NULL, *back = NULL;
	struct edit e = EDIT_NOTHING;
	size_t la, lb;
	char *a, *b;
	bool reshaped;

	e.name_ep = draw_host(base, "D", 0);
	e.name = "%\t\x01\x7f\"' \xc3\xa4 %41 ";
	f = edit_seal(edit_open(base, &e));
	ck_assert(!ftr_nominal_new(f, &o, NULL, NULL, &n, NULL, &err));
	fresh_path();
	ck_assert(!ftr_nominal_write(path, n, &err));
	a = get(&la);
	ck_assert(!ftr_nominal_read(path, &o, NULL, &back, &reshaped, &err));
	ck_assert(!reshaped);
	ck_assert_str_eq(back->f->ep[e.name_ep].name,
			 "%???\"' \xc3\xa4 %41 ");
	ck_assert(!memcmp(back->shape->numbering.col, n->shape->numbering.col,
			  f->n_sw * sizeof(*n->shape->numbering.col)));
	ck_assert(!ftr_nominal_write(path, back, &err));
	b = get(&lb);
	ck_assert(la == lb && !memcmp(a, b, la));
	ftr_nominal_free(back);
	ck_assert(!ftr_nominal_read(path, NULL, NULL, &back, &reshaped, &err));
	ck_assert(reshaped);
	ck_assert_uint_eq(back->leaf_order, FTR_LEAF_BY_GUID);
	ftr_nominal_free(back);
	cn.cn = (struct ftr_guids){ &f->ep[0].guid, 1 };
	ck_assert(!ftr_nominal_read(path, &cn, NULL, &back, &reshaped, &err));
	ck_assert(reshaped && back->shape->tree.n_leaf == 1);
	ftr_nominal_free(back);
	ftr_nominal_free(n);
	ftr_fabric_free(f);
	ftr_fabric_free(base);
	free(a);
	free(b);
	unlink(path);
}
END_TEST

START_TEST(write_fails)
{
	struct ftr_fabric *f = draw(tree);
	struct ftr_nominal *n = nominal_of(f);
	char dir[] = "/tmp/ftr-state-XXXXXX", target[80];

	ck_assert_int_eq(ftr_nominal_write("/nonexistent/dir/file", n, &err),
			 FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, "/nonexistent/dir/file"));
	/* a directory that is not empty cannot be replaced */
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(target, sizeof(target), "%s/state", dir);
	ck_assert(!mkdir(target, 0700));
	ck_assert_int_eq(ftr_nominal_write(target, n, &err), FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, target));
	ck_assert(!rmdir(target));
	ck_assert_msg(!rmdir(dir), "files remain in %s", dir);
	ftr_nominal_free(n);
	ftr_fabric_free(f);
}
END_TEST

/* ---- memory --------------------------------------------------- */

START_TEST(every_allocation_may_fail)
{
	struct ftr_fabric *f = draw(tree), *part;
	struct ftr_nominal *a = NULL, *b = NULL;
	struct ftr_shape_opts over = { 0 };
	struct ftr_shape *sh = NULL;
	struct edit e = EDIT_NOTHING;
	unsigned long n;
	enum ftr_status st;

	e.no_sw = draw_sw(f, "t1");
	part = edit_seal(edit_open(f, &e));
	fresh_path();
#define UNTIL_IT_WORKS(call)						\
	for (n = 1;; n++) {						\
		ftr_alloc_fail_at(n);					\
		st = call;						\
		ftr_alloc_fail_at(0);					\
		if (!st)						\
			break;						\
		ck_assert_int_eq(st, FTR_NOMEM);			\
	}								\
	ck_assert_uint_gt(n, 1)
	UNTIL_IT_WORKS(ftr_nominal_new(part, NULL, NULL, NULL, &a, NULL,
				       &err));
	UNTIL_IT_WORKS(ftr_nominal_new(f, NULL, a, NULL, &b, NULL, &err));
	ck_assert(!ftr_nominal_write(path, b, &err));
	ftr_nominal_free(a);
	UNTIL_IT_WORKS(ftr_nominal_read(path, NULL, NULL, &a, NULL, &err));
	over.nominal = a->shape;
	UNTIL_IT_WORKS(ftr_shape_new(part, &over, NULL, &sh, &err));
	ftr_shape_free(sh);
	ftr_nominal_free(a);
	ftr_nominal_free(b);
	ftr_fabric_free(part);
	ftr_fabric_free(f);
	unlink(path);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("state file");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, torn_at_every_offset);
	tcase_add_test(tc, every_byte_damaged);
	tcase_add_test(tc, invalid_content);
	tcase_add_test(tc, other_files);
	tcase_add_test(tc, names_and_options);
	tcase_add_test(tc, write_fails);
	tcase_add_test(tc, every_allocation_may_fail);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
