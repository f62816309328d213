// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the reader of topologies with invalid input: small files cut at every byte; files
 * with random changes; the corpus in tests/fuzz; failing allocations.  The reader must not
 * crash or leak.  If it accepts a fabric, it must also accept the netfile that ftr_write_netfile()
 * writes for this fabric.
 */
#include <dirent.h>

#include "lib/alloc.h"
#include "lib/suite.h"
#include "unit/io_util.h"

#define MUTATIONS 20000

static struct ftr_err err;

static const char *const sound[] = { good_net, hand_net };

static void replace_quotes(const char *name)
{
	char *q = (char *)(uintptr_t)name;

	while ((q = strchr(q, '"')))
		*q = '\'';
}

/* Write an accepted fabric and read it again.  Check that the two fabrics are the same, except for
 * double quotes in names.  A fabric without links of switches (two hosts back to back) is written,
 * but not read again. */
static void reread(const struct ftr_fabric *f)
{
	struct ftr_fabric *g = NULL;
	struct ftr_err why = { 0 };
	uint32_t links = f->n_sw_links;
	char *text = written(f, NULL);

	for (ftr_ep e = 0; e < f->n_ep; e++)
		links += f->ep[e].sw != FTR_SW_NONE;
	if (links) {
		if (ftr_parse_fabric(PATH, text, strlen(text), 0, &g, &why))
			ck_abort_msg("the written netfile is refused: %s\n%s", why.msg, text);
		for (ftr_sw s = 0; s < f->n_sw; s++)
			replace_quotes(f->sw[s].name);
		for (ftr_ep e = 0; e < f->n_ep; e++)
			replace_quotes(f->ep[e].name);
		same_fabric(f, g);
	}
	ftr_fabric_free(g);
	free(text);
}

static enum ftr_status feed(const char *text, size_t len)
{
	struct ftr_fabric *f = NULL;
	enum ftr_status st;

	memset(&err, 0, sizeof(err));
	st = ftr_parse_fabric(PATH, text, len, 0, &f, &err);
	if (st) {
		ck_assert_ptr_null(f);
		ck_assert_int_eq(err.status, st);
		ck_assert_str_ne(err.msg, "");
		return st;
	}
	reread(f);
	ftr_fabric_free(f);
	return FTR_OK;
}

static void same_without_newline(const char *text, size_t len)
{
	struct ftr_fabric *f = must_parse(text), *g = NULL;

	ck_assert(!ftr_parse_fabric(PATH, text, len - 1, 0, &g, &err));
	same_fabric(f, g);
	ftr_fabric_free(f);
	ftr_fabric_free(g);
}

START_TEST(cut_everywhere)
{
	const char *text = sound[_i];
	size_t len = strlen(text);

	for (size_t cut = 0; cut < len; cut++) {
		/* copy the text to the heap, so that a read beyond its end is detected */
		char *copy = malloc(cut + 1);

		memcpy(copy, text, cut);
		copy = realloc(copy, cut ? cut : 1);
		/* without its last newline the text is accepted; after any other cut it is not */
		if (!feed(copy, cut) != (cut == len - 1))
			ck_abort_msg("cut after %zu bytes of %zu: %s", cut, len,
				     cut == len - 1 ? err.msg : "accepted");
		if (cut < len - 1)
			ck_assert(!strncmp(err.msg, PATH ":",
					   strlen(PATH) + 1));
		free(copy);
	}
	ck_assert_int_eq(feed(text, len), FTR_OK);
	same_without_newline(text, len);
}
END_TEST

static void mutate(struct ftr_rng *r, char *text, size_t *len, size_t room)
{
	static const char *const piece[] = {
		"\"", "[", "]", "(", ")", "#", "\n", "\n\n", "lid 49151", "lmc 7",
		"Switch 1 \"x\"\n", "[1] \"x\"[1]\n", "caguid=0x10\n", "{", "}",
		"4294967296", "18446744073709551616", "0x", "-1", "12xXDR",
		" - ", "\r", "module=\"m\"\n", "#line 7\n",
	};
	size_t at = ftr_rng_below(r, (uint32_t)*len);
	size_t n = ftr_rng_below(r, 24) + 1u, add;
	const char *s;

	n = FTR_MIN(n, *len - at);
	switch (ftr_rng_below(r, 5)) {
	case 0:
		text[at] = (char)ftr_rng_below(r, 256);
		break;
	case 1:
		text[at] = (char)(text[at] ^ 1 << ftr_rng_below(r, 8));
		break;
	case 2:
		if (n == *len)
			break;
		memmove(text + at, text + at + n, *len - at - n);
		*len -= n;
		break;
	case 3:
		if (*len + n > room)
			break;
		memmove(text + at + n, text + at, *len - at);
		*len += n;
		break;
	default:
		s = piece[ftr_rng_below(r, FTR_ARRAY_LEN(piece))];
		add = strlen(s);
		if (*len + add > room)
			break;
		memmove(text + at + add, text + at, *len - at);
		memcpy(text + at, s, add);
		*len += add;
	}
}

START_TEST(mutations)
{
	struct ftr_rng rng;
	uint32_t taken = 0;

	ftr_rng_seed(&rng, 20261120u + (unsigned int)_i);
	for (uint32_t i = 0; i < MUTATIONS / FTR_ARRAY_LEN(sound); i++) {
		size_t len = strlen(sound[_i]), room = len + 256;
		char *text = malloc(room);

		memcpy(text, sound[_i], len);
		for (uint32_t k = ftr_rng_below(&rng, 3); k < 3; k++)
			mutate(&rng, text, &len, room);
		text = realloc(text, len);
		taken += !feed(text, len);
		free(text);
	}
	/* the test needs some mutated texts that are accepted */
	ck_assert_uint_gt(taken, 0);
}
END_TEST

/* Every file of the corpus is invalid and must be refused. */
START_TEST(corpus)
{
	const char *top = getenv("abs_top_srcdir");
	char dir[4096], path[8192];
	struct dirent *e;
	int n = 0;
	DIR *d;

	snprintf(dir, sizeof(dir), "%s/tests/fuzz", top ? top : ".");
	d = opendir(dir);
	ck_assert_msg(d, "cannot open the directory %s", dir);
	while ((e = readdir(d))) {
		struct ftr_fabric *f = NULL;

		if (!strstr(e->d_name, ".net"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (!ftr_read_fabric(path, 0, &f, &err))
			ck_abort_msg("%s was accepted", path);
		ck_assert(!strncmp(err.msg, path, strlen(path)));
		n++;
	}
	closedir(d);
	ck_assert_int_ge(n, 10);
}
END_TEST

/* Found by libFuzzer: a switch with an LMC but without a LID.  The LID that the reader assigned
 * was not a multiple of 2^LMC. */
START_TEST(lmc_without_lid)
{
	static const char text[] =
		"switchguid=0x10(10)\n"
		"Switch\t4 \"S-10\"\t\t# \"leaf\" lmc 5\n"
		"[1]\t\"H-100\"[1](101)\t\t# \"n1\" lid 1 4xNDR\n"
		"\n"
		"Ca\t7 \"H-100\"\t\t# \"n1\"\n"
		"[1](101)\t\"S-10\"[1]\t\t# lmc 0 \"leaf\" 4xNDR\n";

	ck_assert_int_eq(feed(text, strlen(text)), FTR_OK);
}
END_TEST

START_TEST(without_memory)
{
	struct ftr_fabric *f = NULL;
	unsigned long n = 0;
	enum ftr_status st;

	do {
		ftr_alloc_fail_at(++n);
		st = ftr_parse_fabric(PATH, sound[_i], strlen(sound[_i]), 1,
				      &f, &err);
		ftr_alloc_fail_at(0);
		if (st)
			ck_assert_int_eq(st, FTR_NOMEM);
		if (st)
			ck_assert_int_eq(err.status, FTR_NOMEM);
	} while (st);
	ck_assert_uint_gt(n, 10);
	ftr_fabric_free(f);
}
END_TEST

START_TEST(writing_without_memory)
{
	static const uint32_t order[] = { 0, 1, 2 };
	struct ftr_fabric *f = must_parse(good_net);
	FILE *null = fopen("/dev/null", "w");
	unsigned long n = 0;
	enum ftr_status st;

	do {
		ftr_alloc_fail_at(++n);
		st = ftr_write_netfile(null, f, order, &err);
		ftr_alloc_fail_at(0);
		if (st)
			ck_assert_int_eq(st, FTR_NOMEM);
	} while (st);
	fclose(null);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("broken input");
	TCase *tc = tcase_create("fuzz");
	int n = (int)FTR_ARRAY_LEN(sound);

	tcase_add_loop_test(tc, cut_everywhere, 0, n);
	tcase_add_loop_test(tc, mutations, 0, n);
	tcase_add_test(tc, corpus);
	tcase_add_test(tc, lmc_without_lid);
	tcase_add_loop_test(tc, without_memory, 0, n);
	tcase_add_test(tc, writing_without_memory);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
