// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Parsers of numbers and sizes.  Every text of up to LENGTH characters of an alphabet, for every
 * base and several limits, and numbers next to the powers of two and of ten.  The oracle reads the
 * digits from the last to the first, in 128 bits.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "io/text.h"
#include "lib/suite.h"
#include <ftr/ftr.h>

#define LENGTH 5

typedef unsigned __int128 wide;

static uint64_t cases;

/* ---- the oracle ------------------------------------------------------------------ */

static int value(char c)
{
	static const char digits[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	if (at)
		return (int)(at - digits);
	at = c ? strchr(upper, c) : NULL;
	return at ? (int)(at - upper) : 99;
}

/* The number at the beginning of a text.  Returns its length; 0: there is no number up to max. */
static size_t oracle(const char *text, int base, uint64_t max, uint64_t *out)
{
	size_t skip = 0, n;
	wide v = 0, unit = 1;

	if (base != 10 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		skip = 2;
		base = 16;
	}
	if (!base)
		base = 10;
	for (n = skip; value(text[n]) < base; n++)
		;
	for (size_t i = n; i-- > skip;) {
		if (unit > UINT64_MAX && value(text[i]))
			return 0;
		v += unit * (wide)value(text[i]);
		if (v > max)
			return 0;
		if (unit <= UINT64_MAX)
			unit *= (wide)base;
	}
	*out = (uint64_t)v;
	return n == skip ? 0 : n;
}

static void compare(const char *text, unsigned int base, uint64_t max)
{
	struct ftr_cur c = { text, text + strlen(text) };
	uint64_t want = 0, got = 77;
	size_t n = oracle(text, (int)base, max, &want);
	bool ok = ftr_cur_uint(&c, base, max, &got);

	cases++;
	ck_assert_msg(ok == (n > 0) && c.p == text + n && (!ok || got == want),
		      "'%s', base %u, up to %llu: read %zu characters as %llu; the oracle reads %zu as %llu",
		      text, base, (unsigned long long)max, (size_t)(c.p - text),
		      (unsigned long long)got, n, (unsigned long long)want);
}

static const uint64_t limit[] = {
	0, 1, 8, 9, 10, 15, 16, 99, 254, 255, 0xbfff, 0xffff, 0xffffffff,
	UINT64_MAX / 16, UINT64_MAX / 10, UINT64_MAX - 1, UINT64_MAX,
};

static void all_limits(const char *text)
{
	static const unsigned int bases[] = { 0, 10, 16 };

	for (size_t b = 0; b < FTR_ARRAY_LEN(bases); b++)
		for (size_t i = 0; i < FTR_ARRAY_LEN(limit); i++)
			compare(text, bases[b], limit[i]);
}

static const char alphabet[] = "0159afFgxX-+ ";

static void all_texts(char *text, size_t n)
{
	text[n] = '\0';
	all_limits(text);
	for (size_t i = 0; n < LENGTH && alphabet[i]; i++) {
		text[n] = alphabet[i];
		all_texts(text, n + 1);
	}
}

START_TEST(short_texts)
{
	char text[LENGTH + 1];

	all_texts(text, 0);
	printf("numbers: %llu\n", (unsigned long long)cases);
}
END_TEST

/* The decimal digits of v, and a digit more. */
static void in_decimal(wide v, const char *tail)
{
	char text[64], *at = text + 50;

	strcpy(at, tail);
	do {
		*--at = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v);
	all_limits(at);
	*--at = '0';
	all_limits(at);
}

START_TEST(near_powers)
{
	static const char *const tail[] = { "", "0", " ", "x", "," };
	char text[64];

	for (unsigned int bit = 0; bit < 70; bit++)
		for (int more = -2; more <= 2; more++) {
			wide v = ((wide)1 << bit) + (wide)(bit < 3 ? FTR_MAX(more, 0) : more);

			for (size_t i = 0; i < FTR_ARRAY_LEN(tail); i++)
				in_decimal(v, tail[i]);
			snprintf(text, sizeof(text), "0x%llx%016llx", (unsigned long long)(v >> 64),
				 (unsigned long long)v);
			all_limits(text);
			all_limits(text + 2);
		}
	printf("near powers of two: %llu\n", (unsigned long long)cases);
}
END_TEST

/* ---- sizes of trees ----------------------------------------------------------------- */

/* Shapes of up to 8 characters are accepted if and only if they are four numbers from 1 on, the first
 * of them 1.  (Two levels need at least 13 characters.) */
static bool a_pgft(const char *text, unsigned int *number)
{
	for (unsigned int i = 0; i < 4; i++) {
		size_t n = strspn(text, "012");

		if (!n || text[n] != (i < 3 ? ';' : '\0'))
			return false;
		number[i] = 0;
		for (; n; n--)
			number[i] = 10 * number[i] + (unsigned int)(*text++ - '0');
		text++;
		if (!number[i])
			return false;
	}
	return number[0] == 1;
}

static void all_shapes(char *text, size_t n)
{
	static const char letters[] = "012;,- ";
	struct ftr_err err = { .msg = "" };
	struct ftr_pgft got;
	unsigned int want[4];
	bool is;

	text[n] = '\0';
	is = a_pgft(text, want);
	cases++;
	ck_assert_msg(!ftr_pgft_parse(text, &got, &err) == is, "shape '%s': %s", text, err.msg);
	if (is)
		ck_assert(got.h == 1 && got.m[0] == want[1] && got.w[0] == want[2] &&
			  got.p[0] == want[3]);
	else
		ck_assert(strstr(err.msg, text) && !strchr(err.msg, '\n'));
	for (size_t i = 0; n < 8 && letters[i]; i++) {
		text[n] = letters[i];
		all_shapes(text, n + 1);
	}
}

START_TEST(shapes)
{
	char text[16];

	all_shapes(text, 0);
	printf("shapes: %llu\n", (unsigned long long)cases);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("numbers");
	TCase *c = tcase_create("all");

	tcase_add_test(c, short_texts);
	tcase_add_test(c, near_powers);
	tcase_add_test(c, shapes);
	suite_add_tcase(s, c);
	return run_suite(s);
}
