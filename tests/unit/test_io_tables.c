// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the readers and writers of forwarding tables and GUID lists: the formats of OpenSM and
 * ibroute, invalid input, and round trips (write, then read again).
 */
#include <sys/mman.h>
#include <unistd.h>

#include "lib/suite.h"
#include "unit/io_util.h"

static struct ftr_err err;
static char path[64];
static int fd = -1;
static struct ftr_fabric *f;

static void setup(void)
{
	f = must_parse(good_net);
}

static void teardown(void)
{
	ftr_fabric_free(f);
	if (fd >= 0)
		close(fd);
}

static void put(const char *text, size_t len)
{
	put_in_memory(&fd, path, text, len);
}

static void puts_file(const char *text)
{
	put(text, strlen(text));
}

static const char *said(void)
{
	size_t len = strlen(path);

	ck_assert(!strncmp(err.msg, path, len));
	return err.msg + len;
}

#define HEAD1 "Unicast lids [0-7] of switch Lid 1 guid 0x0000000000000010 ('leaf 1'):\n"
#define HEAD2 "Unicast lids [0-7] of switch Lid 2 guid 0x0000000000000020 ('spine'):\n"
#define HEAD9 "Unicast lids [0-7] of switch Lid 9 guid 0x0000000000000099 ('gone'):\n"
#define TAIL "7 lids dumped\n"

START_TEST(opensm_dump)
{
	struct ftr_tables *t = NULL;
	struct ftr_parts gaps = { .known = 99 };

	puts_file(HEAD1
		  "0x0001 000 # Switch portguid 0x0000000000000010: 'leaf 1'\n"
		  "0x0002 002 # Switch portguid 0x0000000000000020: 'spine'\n"
		  "0x0004 001 # Channel Adapter portguid 0x0000000000000105: 'node1'\n"
		  "0x0030 001 # unknown node and type\n"
		  TAIL HEAD9 "0x0001 003 # unknown node and type\n" TAIL);
	ck_assert_int_eq(ftr_read_lfts(path, f, &t, &gaps, &err), FTR_OK);
	ck_assert_uint_eq(gaps.known, f->n_sw - 1);
	ck_assert_uint_eq(gaps.foreign, 1);
	ck_assert_uint_eq(gaps.line, 7);
	ck_assert_uint_eq(gaps.guid, 0x99);
	ck_assert_uint_eq(ftr_tables_get(t, 0, 1), 0);
	ck_assert_uint_eq(ftr_tables_get(t, 0, 2), 2);
	ck_assert_uint_eq(ftr_tables_get(t, 0, 3), FTR_PORT_NONE);
	ck_assert_uint_eq(ftr_tables_get(t, 0, 4), 1);
	ck_assert_uint_eq(ftr_tables_get(t, 1, 1), FTR_PORT_NONE);
	ftr_tables_free(t);
}
END_TEST

/* The compact form: a foreign switch, LID 0, and LIDs behind the greatest one of the fabric do not
 * count.  A LID may be listed twice with the same port. */
START_TEST(lids_without_place)
{
	struct ftr_tables *t = NULL;
	struct ftr_parts gaps;

	puts_file(HEAD9 "0x0000: 0102030405060708090a\n" TAIL
		  HEAD1 "0x0000: 0a0bff0d0e0f10111213\n" TAIL
		  HEAD2 "0x0000 001\n0x0001 003\n0x0001 003\n0x0030 001\n" TAIL);
	ck_assert_int_eq(ftr_read_lfts(path, f, &t, &gaps, &err), FTR_OK);
	ck_assert(gaps.known == 2 && gaps.foreign == 1);
	ck_assert_uint_eq(t->max_lid, 7);
	ck_assert_uint_eq(ftr_tables_get(t, 0, 1), 11);
	ck_assert_uint_eq(ftr_tables_get(t, 0, 2), FTR_PORT_NONE);
	ck_assert_uint_eq(ftr_tables_get(t, 0, 7), 0x11);
	ck_assert_uint_eq(ftr_tables_get(t, 1, 1), 3);
	ftr_tables_free(t);
}
END_TEST

START_TEST(ibroute_dump)
{
	struct ftr_tables *t = NULL;

	puts_file("Unicast lids [0x0-0x7] of switch DR path slid 0; dlid 0; 0,1 guid 0x0000000000000010 (leaf 1):\n"
		  "  Lid  Out   Destination\n"
		  "       Port     Info \n"
		  "0x0001 000 : (Switch portguid 0x0000000000000010: 'leaf 1')\n"
		  "0x0004 001 : (Channel Adapter portguid 0x0000000000000105: 'node1')\n"
		  "2 valid lids dumped \n"
		  "Unicast lids [0x0-0x7] of switch Lid 2 guid 0x0000000000000020 (spine):\n"
		  "  Lid  Out   Destination\n"
		  "       Port     Info \n"
		  "0x0000 255 \n"
		  "0x0001 003 \n"
		  "0x0002 000 \n"
		  "3 lids dumped \n"
		  "*** WARNING ***: this command has been replaced\n");
	if (ftr_read_lfts(path, f, &t, NULL, &err))
		ck_abort_msg("%s", err.msg);
	ck_assert_uint_eq(ftr_tables_get(t, 0, 4), 1);
	ck_assert_uint_eq(ftr_tables_get(t, 1, 1), 3);
	ck_assert_uint_eq(ftr_tables_get(t, 1, 2), 0);
	ck_assert_uint_eq(ftr_tables_get(t, 1, 4), FTR_PORT_NONE);
	ftr_tables_free(t);
}
END_TEST

static const struct {
	const char *text, *msg;
} torn[] = {
	{ "", ":1: the file contains no switch" },
	{ "hello\n", ":1: the line is neither the head of a section nor an entry: 'hello'" },
	{ HEAD1 "0x0001 000\n",
	  ":2: the section that begins on line 1 has no \"lids dumped\" line" },
	{ HEAD1 "0x0001 000\n" HEAD2 TAIL,
	  ":3: the section that begins on line 1 has no \"lids dumped\" line" },
	{ HEAD1 TAIL HEAD1 TAIL,
	  ":3: a second section of switch 0x0000000000000010, the first is on line 1" },
	{ HEAD1 "0x0001 00",
	  ":2: the section that begins on line 1 has no \"lids dumped\" line" },
	{ HEAD1 "0x00", ":2: expected a LID 0x0000..0xffff, found '0x00'" },
	{ HEAD1 "0x0001\n", ":2: expected a LID 0x0000..0xffff, found '0x0001'" },
	{ HEAD1 "0x10001 001\n",
	  ":2: expected a LID 0x0000..0xffff, found '0x10001 001'" },
	{ HEAD1 "0x0001 256\n", ":2: expected a port 0..255, found '256'" },
	{ HEAD1 "0x0001 x\n", ":2: expected a port 0..255, found 'x'" },
	{ HEAD1 "0x0001 001\n0x0001 002\n",
	  ":3: LID 1 leads to port 2 here but to port 1 on an earlier line" },
	{ HEAD1 "0x0001 001\n3 valid lids dumped\n",
	  ":3: \"3 valid lids dumped\", but the number of entries is 1 in the section that begins on line 1" },
	{ "0x0001 001\n",
	  ":1: entry outside of a switch's section: '0x0001 001'" },
	{ TAIL, ":1: \"lids dumped\" outside of a switch's section" },
	{ HEAD9 TAIL,
	  ":1: no switch of this file is in the fabric; the first one in the file is 0x0000000000000099" },
	{ "Unicast lids [0-7] of switch Lid 1\n",
	  ":1: expected \"of switch ... guid 0x...\", found ' [0-7] of switch Lid 1'" },
	{ "Multicast mlids [0xc000-0xc3ff] of switch Lid 1\n",
	  ":1: the file has multicast tables, not unicast tables" },
};

START_TEST(torn_dump)
{
	struct ftr_tables *t = NULL;

	puts_file(torn[_i].text);
	ck_assert_int_ne(ftr_read_lfts(path, f, &t, NULL, &err), FTR_OK);
	ck_assert_str_eq(said(), torn[_i].msg);
	ck_assert_ptr_null(t);
}
END_TEST

static void write_tables(const struct ftr_fabric *fab,
			 const struct ftr_tables *t)
{
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	ck_assert_int_eq(ftr_write_lfts(out, fab, t, &err), FTR_OK);
	fclose(out);
	put(text, len);
	free(text);
}

START_TEST(tables_round_trip)
{
	struct ftr_gen_opts o = { .seed = 3, .random_guids = true, .lmc = 2,
				  .random_lids = true };
	struct ftr_tables *t = NULL, *u = NULL;
	struct ftr_tables_diff d;
	struct ftr_fabric *fab;
	struct ftr_pgft g;
	struct ftr_rng rng;
	struct ftr_parts gaps;

	ftr_rng_seed(&rng, 1);
	ck_assert_int_eq(ftr_pgft_parse("648", &g, &err), FTR_OK);
	ck_assert_int_eq(ftr_gen_pgft(&g, &o, &fab, &err), FTR_OK);
	ck_assert_int_eq(ftr_tables_new(fab, true, &t, &err), FTR_OK);
	for (ftr_sw s = 0; s < fab->n_sw; s++)
		for (uint32_t lid = 1; lid <= fab->max_lid; lid++)
			ftr_tables_row(t, s)[lid] =
				(uint8_t)ftr_rng_below(&rng, 256);
	write_tables(fab, t);
	if (ftr_read_lfts(path, fab, &u, &gaps, &err))
		ck_abort_msg("%s", err.msg);
	ftr_tables_diff(fab, t, fab, u, &d);
	ck_assert_uint_eq(d.entries, 0);
	ck_assert(gaps.known == fab->n_sw && !gaps.foreign);
	ck_assert_int_eq(ftr_write_lfts(stdout, f, t, &err), FTR_INVAL);
	ck_assert_int_eq(ftr_write_lfts_compact(stdout, f, t, &err), FTR_INVAL);
	u->max_lid++;
	ck_assert_int_eq(ftr_write_lfts(stdout, fab, u, &err), FTR_INVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "do not fit a fabric of 54 switches"));
	ftr_tables_free(t);
	ftr_tables_free(u);
	ftr_fabric_free(fab);
}
END_TEST

static const char router_net[] =
	"switchguid=0x10(10)\n"
	"Switch\t4 \"S-10\"\t\t# \"leaf\" base port 0 lid 1 lmc 0\n"
	"[1]\t\"R-300\"[1](301) \t\t# \"router\" lid 3 4xNDR\n\n"
	"rtguid=0x300\n"
	"Rt\t1 \"R-300\"\t\t# \"router\"\n"
	"[1](301) \t\"S-10\"[1]\t\t# lid 3 lmc 0 \"leaf\" lid 1 4xNDR\n";

START_TEST(names_of_owners)
{
	struct ftr_fabric *r = must_parse(router_net);
	char text[1000] = "";
	struct ftr_tables *t;
	FILE *out = fmemopen(text, sizeof(text), "w");

	ck_assert(!ftr_tables_new(r, true, &t, &err));
	for (ftr_lid lid = 1; lid <= 3; lid++)
		ftr_tables_row(t, 0)[lid] = (uint8_t)(lid / 2);
	ck_assert(!ftr_write_lfts(out, r, t, &err) && !fclose(out));
	ck_assert(strstr(text, "0x0001 000 # Switch portguid 0x0000000000000010: 'leaf'\n") &&
		  strstr(text, "0x0002 001 # unknown node and type\n") &&
		  strstr(text, "0x0003 001 # Router portguid 0x0000000000000301: 'router'\n"));
	ftr_tables_free(t);
	ftr_fabric_free(r);
}
END_TEST

/* A cut dump is accepted only if it ends with a complete section.  A dump with one to four random
 * bytes may be read or refused, but must not cause a crash. */
START_TEST(broken_dumps)
{
	static const char text[] = HEAD1 "0x0001 000 # x\n0x0004 001\n" TAIL
		HEAD2 "0x0001 003\n" "1 valid lids dumped\n";
	struct ftr_tables *t;
	struct ftr_rng rng;
	char copy[sizeof(text)];

	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		const char *rest = text + len + (text[len] == '\n');
		/* the text ends with a complete section; its last newline may be missing */
		bool section = len && (!*rest || !strncmp(rest, HEAD2, 20));

		put(text, len);
		ck_assert_int_eq(!ftr_read_lfts(path, f, &t, NULL, &err),
				 section);
		if (section)
			ftr_tables_free(t);
	}
	ftr_rng_seed(&rng, 5);
	for (int i = 0; i < 5000; i++) {
		memcpy(copy, text, sizeof(text));
		for (uint32_t k = ftr_rng_below(&rng, 4); k < 4; k++) {
			uint32_t at = ftr_rng_below(&rng, sizeof(text) - 1);

			copy[at] = (char)ftr_rng_below(&rng, 256);
		}
		put(copy, sizeof(text) - 1);
		if (!ftr_read_lfts(path, f, &t, NULL, &err))
			ftr_tables_free(t);
	}
}
END_TEST

/* ---- GUID lists -------------------------------------------------------- */

START_TEST(guid_list)
{
	uint64_t *g = NULL;
	uint32_t n = 0;

	puts_file("# roots\n0x0008f10500108c9e\n\n  10 # sixteen\r\n0xABC");
	ck_assert_int_eq(ftr_read_guids(path, &g, &n, &err), FTR_OK);
	ck_assert_uint_eq(n, 3);
	ck_assert_uint_eq(g[0], 0x0008f10500108c9e);
	ck_assert_uint_eq(g[1], 0x10);
	ck_assert_uint_eq(g[2], 0xabc);
	free(g);
	puts_file("# none\n");
	ck_assert_int_eq(ftr_read_guids(path, &g, &n, &err), FTR_OK);
	ck_assert_uint_eq(n, 0);
	free(g);
}
END_TEST

/* A name, with or without quotes, may follow a GUID, as in GUID lists for OpenSM's own engines. */
START_TEST(guid_names)
{
	uint64_t *g = NULL;
	uint32_t n = 0;

	puts_file("0x10 spine-1\n11\t\"Spine 2\" # left\n0x12 \n");
	ck_assert_msg(!ftr_read_guids(path, &g, &n, &err), "%s", err.msg);
	ck_assert_uint_eq(n, 3);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_uint_eq(g[i], 0x10 + i);
	free(g);
}
END_TEST

static const struct {
	const char *text, *msg;
} bad_guid[] = {
	{ "0x1\n0x2spine\n", ":2: expected a GUID and nothing else, found '0x2spine'" },
	{ "0x1\nhello\n", ":2: expected a GUID, found 'hello'" },
	{ "0x1 0x2\n", ":1: expected a GUID and nothing else, found '0x1 0x2'" },
	{ "0x11112222333344445\n", ":1: expected a GUID, found '0x11112222333344445'" },
	{ "0\n", ":1: GUID 0 is not valid" },
};

START_TEST(guid_refused)
{
	uint64_t *g = NULL;
	uint32_t n = 0;

	puts_file(bad_guid[_i].text);
	ck_assert_int_eq(ftr_read_guids(path, &g, &n, &err), FTR_PARSE);
	ck_assert_str_eq(said(), bad_guid[_i].msg);
	ck_assert_ptr_null(g);
}
END_TEST

/* The list is longer than the read buffer, so some lines cross the end of the buffer. */
START_TEST(long_list)
{
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);
	uint64_t *g;
	uint32_t n;

	for (uint32_t i = 1; i <= 60000; i++)
		fprintf(out, "0x%x\n", i);
	fclose(out);
	put(text, len);
	free(text);
	ck_assert_int_eq(ftr_read_guids(path, &g, &n, &err), FTR_OK);
	ck_assert_uint_eq(n, 60000);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_uint_eq(g[i], i + 1);
	free(g);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tables and GUIDs");
	TCase *tc = tcase_create("text");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, opensm_dump);
	tcase_add_test(tc, lids_without_place);
	tcase_add_test(tc, ibroute_dump);
	tcase_add_loop_test(tc, torn_dump, 0, (int)FTR_ARRAY_LEN(torn));
	tcase_add_test(tc, tables_round_trip);
	tcase_add_test(tc, names_of_owners);
	tcase_add_test(tc, broken_dumps);
	tcase_add_test(tc, guid_list);
	tcase_add_test(tc, guid_names);
	tcase_add_loop_test(tc, guid_refused, 0, (int)FTR_ARRAY_LEN(bad_guid));
	tcase_add_test(tc, long_list);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
