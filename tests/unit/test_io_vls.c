// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the readers and writers of opensm.fdbs, SL2VL tables, path SLs, host orders and lists of
 * pairs: the formats of OpenSM and ibdmchk, invalid input, error messages, round trips, random
 * changes of files, and failing allocations.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "lib/alloc.h"
#include "lib/suite.h"
#include "unit/io_util.h"

static struct ftr_err err;
static char path[64];
static int fd = -1;
static struct ftr_fabric *f;

/* Leaf 0x10 has LID 1; its ports 1, 2 and 3 lead to node1, spine and node2.  Spine 0x20 has LID 2.
 * Node1 has port 0x101 (LIDs 4 to 7).  Node2 (0x200) has ports 0x201 (LID 8) and 0x202 (LID 9, at
 * the spine). */
static const char net[] =
	"switchguid=0x10(10)\n"
	"Switch\t3 \"S-10\"\t\t# \"leaf 1\" enhanced port 0 lid 1 lmc 0\n"
	"[1]\t\"H-100\"[1](101) \t\t# \"node1\" lid 4 4xNDR\n"
	"[2]\t\"S-20\"[3]\t\t# \"spine\" lid 2 4xHDR\n"
	"[3]\t\"H-200\"[1](201) \t\t# \"node2\" lid 8 4xNDR\n"
	"\n"
	"switchguid=0x20(20)\n"
	"Switch\t3 \"S-20\"\t\t# \"spine\" base port 0 lid 2 lmc 0\n"
	"[3]\t\"S-10\"[2]\t\t# \"leaf 1\" lid 1 4xHDR\n"
	"[1]\t\"H-200\"[2](202) \t\t# \"node2\" lid 9 4xNDR\n"
	"\n"
	"caguid=0x100\n"
	"Ca\t1 \"H-100\"\t\t# \"node1\"\n"
	"[1](101) \t\"S-10\"[1]\t\t# lid 4 lmc 2 \"leaf 1\" lid 1 4xNDR\n"
	"\n"
	"caguid=0x200\n"
	"Ca\t2 \"H-200\"\t\t# \"node2\"\n"
	"[1](201) \t\"S-10\"[3]\t\t# lid 8 lmc 0 \"leaf 1\" lid 1 4xNDR\n"
	"[2](202) \t\"S-20\"[1]\t\t# lid 9 lmc 0 \"spine\" lid 2 4xNDR\n";

static void setup(void)
{
	f = must_parse(net);
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

/* ---- one function that calls any of the readers ------------------------ */

enum form { FDBS, SL2VL, PATH_SL, ORDER, PAIRS, N_FORMS };

struct got {
	struct ftr_tables *t;
	struct ftr_sl2vl *m;
	struct ftr_path_sl *p;
	ftr_ep *order;
	struct ftr_transfer *pair;
	uint32_t n, missing;
};

static enum ftr_status read_form(enum form form, struct got *g)
{
	struct ftr_parts gaps = { 0 };
	enum ftr_status st;

	memset(g, 0, sizeof(*g));
	memset(&err, 0, sizeof(err));
	switch (form) {
	case FDBS:
		st = ftr_read_lfts(path, f, &g->t, &gaps, &err);
		g->missing = f->n_sw - (uint32_t)gaps.known;
		return st;
	case SL2VL:
		return ftr_read_sl2vl(path, f, &g->m, &g->missing, &err);
	case PATH_SL:
		return ftr_read_path_sl(path, f, &g->p, &err);
	case ORDER:
		return ftr_read_order(path, f, &g->order, &g->n, &err);
	default:
		return ftr_read_pairs(path, f, &g->pair, &g->n, &err);
	}
}

static void drop(struct got *g)
{
	ftr_tables_free(g->t);
	ftr_sl2vl_free(g->m);
	ftr_path_sl_free(g->p);
	free(g->order);
	free(g->pair);
}

static void must_read(enum form form, const char *text, struct got *g)
{
	put(text, strlen(text));
	if (read_form(form, g))
		ck_abort_msg("%s", err.msg);
}

/* ---- valid input --------------------------------------------------------- */

/* as written by stock opensm 3.3.23 */
#define FDBS_1 "dump_ucast_routes: Switch 0x0000000000000010\n" \
	"LID    : Port : Hops : Optimal\n"
#define FDBS_2 "dump_ucast_routes: Switch 0x0000000000000020\n" \
	"LID    : Port : Hops : Optimal\n"
#define FDBS_9 "dump_ucast_routes: Switch 0x0000000000000099\n"
#define TEN(port) "0x0001 : " port LINE "0x0002 : " port LINE "0x0003 : " port LINE \
	"0x0004 : " port LINE "0x0005 : " port LINE "0x0006 : " port LINE "0x0007 : " port LINE \
	"0x0008 : " port LINE "0x0009 : " port LINE "0x000a : " port LINE
#define LINE " : 01 : yes\n"
static const char fdbs[] =
	FDBS_1
	"0x0001 : 000  : 00   : yes\n"
	"0x0002 : 002  : HOPS UNKNOWN\n"
	"0x0003 : UNREACHABLE\n"
	"0x0004 : 001  : 03   : No 1 hop path possible via port 1!\n"
	FDBS_2
	"0x0001 : 003  : 01   : yes\n"
	"0x0002 : 000  : 00   : yes\n"
	"0x0003 : UNREACHABLE\n"
	"0x0004 : UNREACHABLE\n";

START_TEST(fdbs_form)
{
	struct got g;

	must_read(FDBS, fdbs, &g);
	ck_assert_uint_eq(g.missing, 0);
	ck_assert_uint_eq(ftr_tables_get(g.t, 0, 1), 0);
	ck_assert_uint_eq(ftr_tables_get(g.t, 0, 2), 2);
	ck_assert_uint_eq(ftr_tables_get(g.t, 0, 3), FTR_PORT_NONE);
	ck_assert_uint_eq(ftr_tables_get(g.t, 0, 4), 1);
	ck_assert_uint_eq(ftr_tables_get(g.t, 0, 5), FTR_PORT_NONE);
	ck_assert_uint_eq(ftr_tables_get(g.t, 1, 1), 3);
	ck_assert_uint_eq(ftr_tables_get(g.t, 1, 4), FTR_PORT_NONE);
	drop(&g);
	/* a foreign switch, and LIDs up to 10, although the greatest one of the fabric is 9 */
	must_read(FDBS, FDBS_9 TEN("002") FDBS_1 TEN("001"), &g);
	ck_assert_uint_eq(g.missing, 1);
	for (ftr_lid lid = 1; lid <= 9; lid++)
		ck_assert_uint_eq(ftr_tables_get(g.t, 0, lid), 1);
	drop(&g);
	/* older versions and ibdiagnet write this form */
	must_read(FDBS, "osm_ucast_mgr_dump_ucast_routes: Switch 0x20\n"
		  "LID    : Port : Hops : Optimal\n0x0001 : 003  : 01   : yes\n",
		  &g);
	ck_assert_uint_eq(g.missing, 1);
	ck_assert_uint_eq(ftr_tables_get(g.t, 1, 1), 3);
	drop(&g);
}
END_TEST

static const char sl2vl[] =
	"Switch 0x0000000000000010, base LID 1, \"leaf 1\"\n"
	"#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15\n"
	"#--------------------------------------------------------\n"
	"0   2   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 \n"
	"1   2   : 1  1  1  1  1  1  1  1  1  1  1  1  1  1  1  1 \n"
	"2   2   : 0  0  0  0  0  0  0  0  0  0  0  0  0  0  0  15\n"
	"3   2   : 7  6  5  4  3  2  1  0  7  6  5  4  3  2  1  0 \n"
	"#--------------------------------------------------------\n"
	"\n"
	"Channel Adapter 0x0000000000000101, base LID 4, \"node1\"\n"
	"0   0   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 \n"
	"#--------------------------------------------------------\n"
	"\n"
	"Router 0x0000000000000300, base LID 7, \"router\"\n"
	"0   0   : 0  1  2  3  4  5  6  7  0  1  2  3  4  5  6  7 \n"
	"#--------------------------------------------------------\n"
	"\n"
	"0x0000000000000020 3 1 0x01 0x23 0x45 0x67 0x89 0xab 0xcd 0xe7\n";

START_TEST(sl2vl_form)
{
	struct got g;

	must_read(SL2VL, sl2vl, &g);
	ck_assert_uint_eq(g.missing, 0);
	for (unsigned int sl = 0; sl < 16; sl++) {
		ck_assert_uint_eq(ftr_sl2vl_get(g.m, 0, 0, 2, sl), sl & 7);
		ck_assert_uint_eq(ftr_sl2vl_get(g.m, 0, 1, 2, sl), 1);
		ck_assert_uint_eq(ftr_sl2vl_get(g.m, 0, 2, 2, sl),
				  sl == 15 ? 15 : 0);
		ck_assert_uint_eq(ftr_sl2vl_get(g.m, 0, 3, 2, sl),
				  7 - (sl & 7));
		ck_assert_uint_eq(ftr_sl2vl_get(g.m, 0, 2, 1, sl), sl);
		ck_assert_uint_eq(ftr_sl2vl_get(g.m, 1, 3, 1, sl),
				  sl == 15 ? 7 : sl);
	}
	drop(&g);
	ck_assert(!ftr_read_sl2vl(path, f, &g.m, NULL, &err));
	drop(&g);
	must_read(SL2VL, strstr(sl2vl, "0x0000000000000020"), &g);
	ck_assert_uint_eq(g.missing, 1);
	drop(&g);
}
END_TEST

static const char path_sl[] =
	"0x0000000000000100 1 3\n"
	"0x0000000000000200 4 2\n"
	"0x0000000000000010 9 4\n"
	"0x0000000000000777 9 4\n"
	"0x0000000000000100 49000 3\n"
	"Channel Adapter 0x0000000000000202, base LID 9, \"node2\"\n"
	"0x0004 : 5\n"
	"0x0007\t:\t15 \n"
	"Switch 0x0000000000000020, base LID 2, \"spine\"\n"
	"0x0008 : 1\n"
	"Router 0x0000000000000300, base LID 9, \"router\"\n"
	"0x0004 : 7\n"
	"Channel Adapter 0x0000000000000200, base LID 9, \"by its node\"\n"
	"0x0001 : 6\n";

START_TEST(path_sl_form)
{
	struct got g;

	must_read(PATH_SL, path_sl, &g);
	ck_assert_uint_eq(ftr_path_sl_get(g.p, 0, 1), 3);
	ck_assert_uint_eq(ftr_path_sl_get(g.p, 0, 2), FTR_SL_NONE);
	ck_assert_uint_eq(ftr_path_sl_get(g.p, 1, 4), 2);
	ck_assert_uint_eq(ftr_path_sl_get(g.p, 2, 4), 5);
	ck_assert_uint_eq(ftr_path_sl_get(g.p, 2, 7), 15);
	ck_assert_uint_eq(ftr_path_sl_get(g.p, 1, 7), FTR_SL_NONE);
	ck_assert_uint_eq(ftr_path_sl_get(g.p, 1, 1), 6);
	ck_assert_uint_eq(ftr_path_sl_get(g.p, 2, 1), 6);
	ck_assert_uint_eq(ftr_path_sl_get(g.p, 3, 9), 4);
	ck_assert_uint_eq(ftr_path_sl_get(g.p, 4, 8), 1);
	ck_assert_uint_eq(ftr_path_sl_get(g.p, 4, 9), FTR_SL_NONE);
	drop(&g);
}
END_TEST

static const char order[] =
	"0x0008\tnode2\n"
	"0xFFFF\tDUMMY\n"
	"0x0004\tnode1\n";

START_TEST(order_form)
{
	struct got g;

	must_read(ORDER, order, &g);
	ck_assert_uint_eq(g.n, 3);
	ck_assert_uint_eq(g.order[0], 1);
	ck_assert_uint_eq(g.order[1], FTR_EP_NONE);
	ck_assert_uint_eq(g.order[2], 0);
	drop(&g);
}
END_TEST

/* The GUIDs of `net` are as small as LIDs.  The tests below need a fabric with larger GUIDs. */
/* The third node has two ports; `unlinked`: one, and a fourth node has a port without a link. */
static struct ftr_fabric *big_guids(bool unlinked)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_fabric *g = NULL;

	ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = 0x900000, .n_ports = 8, .lid = 1, .name = "sw",
	}, NULL));
	if (unlinked)
		ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = 0x50000, .guid = 0x10000004,
			.port_num = 1, .lid = 8, .name = "alone",
		}, NULL));
	for (unsigned int i = 0; i < (unlinked ? 3 : 4); i++) {
		uint64_t node = i < 2 ? 0x100000 * (i + 1) : 0x300000;
		struct ftr_end a = { 0x900000, (ftr_port)(1 + i) };
		struct ftr_end z = { node, (ftr_port)(i == 3 ? 2 : 1) };

		ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = node, .guid = 0x10000000 + i,
			.port_num = z.port, .lid = (ftr_lid)(4 + i),
			.name = i < 2 ? "node1" : "two",
		}, NULL));
		ck_assert(!ftr_builder_add_link(b, a, z, 4, FTR_SPEED_EDR,
						NULL));
	}
	ck_assert(!ftr_builder_freeze(b, &g, NULL));
	return g;
}

static const struct {
	const char *text, *msg;
} pair_case[] = {
	{ "4 0x5\n0x100000 0x10000003 # no newline", NULL },
	{ "99 4\n", ":1: LID 99 belongs to no host port of the fabric" },
	{ "4 99\n", ":1: LID 99 belongs to no host port of the fabric" },
	{ "4 1\n", ":1: LID 1 belongs to no host port of the fabric" },
	{ "4 0x12345678\n",
	  ":1: GUID 0x0000000012345678 belongs to no host port of the fabric" },
	{ "4 0x300000\n",
	  ":1: node 0x0000000000300000 has several ports: name one by its port GUID or LID" },
	{ "4 \"node1\"\n",
	  ":1: several host ports are named 'node1': use a LID or a port GUID" },
	{ "4 \"nobody\"\n", ":1: no host port of the fabric is named 'nobody'" },
	{ "4 \"node1\n", ":1: expected a node description and '\"', found 'node1'" },
	{ "4\n", ":1: expected a LID, a GUID or a \"name\", found the end of the line" },
	{ "4 5 6\n", ":1: expected two host ports and nothing else, found '6'" },
	{ "# none\n", ":1: the file contains no pair" },
};

START_TEST(pair_forms)
{
	struct got g;
	bool bad = pair_case[_i].msg != NULL;

	ftr_fabric_free(f);
	f = big_guids(false);
	put(pair_case[_i].text, strlen(pair_case[_i].text));
	ck_assert_int_eq(read_form(PAIRS, &g) != FTR_OK, bad);
	if (bad) {
		ck_assert_str_eq(err.msg + strlen(path), pair_case[_i].msg);
	} else {
		ck_assert_uint_eq(g.n, 2);
		ck_assert(g.pair[0].from == 0 && g.pair[0].to == 1);
		ck_assert(g.pair[1].from == 0 && g.pair[1].to == 3);
	}
	drop(&g);
}
END_TEST

static const struct {
	const char *text, *msg;
} transfer_case[] = {
	{ "0 0x10000000 0x300000 5 # one\n4294967295 5 4 1099511627776\n", NULL },
	{ "-1 4 5 5\n", ":1: expected a step from 0 to 4294967295, found '-1 4 5 5'" },
	{ "0 99 5 5\n", ":1: LID 99 belongs to no host port of the fabric" },
	{ "0 4 99 5\n", ":1: LID 99 belongs to no host port of the fabric" },
	{ "0 4 5 x\n", ":1: expected 1 to 1099511627776 bytes, found 'x'" },
	{ "0 4 5 0\n", ":1: a transfer of 0 bytes" },
	{ "0 4 5 1 1\n", ":1: expected a step, two host ports, a number of bytes and nothing else, found '1'" },
	{ "0 4 4 1\n", ":1: a transfer from 'node1' to itself" },
	{ "0 8 4 1\n", ":1: host port 0x0000000010000004 has no link" },
	{ "0 4 8 1\n", ":1: host port 0x0000000010000004 has no link" },
	{ "\n", ":1: the file contains no transfer" },
};

START_TEST(transfer_forms)
{
	struct ftr_transfer *x = NULL;
	uint32_t n = 0;

	ftr_fabric_free(f);
	f = big_guids(true);
	put(transfer_case[_i].text, strlen(transfer_case[_i].text));
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(ftr_read_transfers(path, f, &x, &n, &err) != FTR_OK,
			 transfer_case[_i].msg != NULL);
	if (transfer_case[_i].msg) {
		ck_assert_str_eq(err.msg + strlen(path), transfer_case[_i].msg);
		ck_assert_ptr_null(x);
		return;
	}
	ck_assert_uint_eq(n, 2);
	ck_assert(x[0].step == 0 && x[0].from == 0 && x[0].to == 2 && x[0].bytes == 5);
	ck_assert(x[1].step == UINT32_MAX && x[1].from == 1 && x[1].to == 0 &&
		  x[1].bytes == UINT64_C(1) << 40);
	free(x);
}
END_TEST

/* ---- refusals ---------------------------------------------------------- */

static const struct {
	enum form form;
	const char *text, *msg;
} torn[] = {
	{ FDBS, FDBS_1 "0x0001 : 000  : 00   : yes\n0x0003 : UNREACHABLE\n",
	  ":4: LID 3 follows LID 1: lines are missing" },
	{ FDBS, FDBS_1 "0x0001 : 000  : 00   : yes\n0x0002 : UNREACHABLE\n"
	  FDBS_2 "0x0001 : 003  : 01   : yes\n",
	  ":7: the section that begins on line 5 ends with LID 1, but the first section ends with LID 2" },
	{ FDBS, FDBS_1, ":2: the section that begins on line 1 is empty" },
	{ FDBS, FDBS_1 FDBS_2, ":3: the section that begins on line 1 is empty" },
	{ FDBS, FDBS_1 "0x0001 : 000  : 00   : yes\n" FDBS_1,
	  ":4: a second section of switch 0x0000000000000010, the first is on line 1" },
	{ FDBS, FDBS_1 "0x0001 : 0", ":3: expected \": HOPS : ...\" or \": HOPS UNKNOWN\", found the end of the line" },
	{ FDBS, FDBS_1 "0x0001 : UNREACHAB", ":3: expected a port 0..255 or UNREACHABLE, found 'UNREACHAB'" },
	{ FDBS, FDBS_1 "0x0001 : 256  : 00   : yes\n",
	  ":3: expected a port 0..255 or UNREACHABLE, found '256  : 00   : yes'" },
	{ FDBS, FDBS_1 "0x0001 : 000\n",
	  ":3: expected \": HOPS : ...\" or \": HOPS UNKNOWN\", found the end of the line" },
	{ FDBS, FDBS_1 "0x0001 004\n", ":3: expected ':' after the LID, found '004'" },
	{ FDBS, FDBS_9 "0x0001 : 000  : 00   : yes\n",
	  ":1: no switch of this file is in the fabric; the first one in the file is 0x0000000000000099" },
	{ FDBS, FDBS_1 "hello\n", ":3: the line is neither the head of a section nor an entry: 'hello'" },

	{ SL2VL, "", ":1: the file contains no switch" },
	{ SL2VL, "0 1 : 0\n", ":1: line outside of a section: '0 1 : 0'" },
	{ SL2VL, "Switch 0x10, base\n0 4 : 0\n",
	  ":2: port 4 does not exist; the switch has 3 ports" },
	{ SL2VL, "Switch 0x10, base\n0 1 : 0 16\n",
	  ":2: expected a VL 0..15, found ' 16'" },
	{ SL2VL, "Switch 0x10, base\n0 1 : 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14\n",
	  ":2: expected a VL 0..15, found the end of the line" },
	{ SL2VL, "Switch 0x10, base\n0 1 : 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
	  ":2: expected 16 VLs and nothing else, found '0'" },
	{ SL2VL, "Switch 0x10, base\n0 1 : 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
	  ":2: the section that begins on line 1 ends with input port 0, but the last input port of the switch is 3" },
	{ SL2VL, "Switch 0x10 base\n",
	  ":1: expected \"0xGUID, base LID ...\", found ' 0x10 base'" },
	{ SL2VL, "Channel Fish 0x10\n", ":1: expected \"Adapter\", found 'Fish 0x10'" },
	{ SL2VL, "0x10 1 1 0x01 0x23 0x45\n",
	  ":1: expected two VLs as 0xNN, found the end of the line" },
	{ SL2VL, "0x10 1 1 0x01 0x23 0x456\n",
	  ":1: expected two VLs as 0xNN, found ' 0x456'" },
	{ SL2VL, "0x99 1 1 0x01 0x23 0x45 0x67 0x01 0x23 0x45 0x67\n",
	  ":1: no switch of this file is in the fabric; the first one in the file is 0x0000000000000099" },

	{ PATH_SL, "", ":1: the file contains no SL" },
	{ PATH_SL, "hello\n", ":1: the line has neither a source nor an SL: 'hello'" },
	{ PATH_SL, "0x0004 : 5\n", ":1: LID 0x4 is not in the section of a source" },
	{ PATH_SL, "Switch 0x10, base\n0x12345 : 5\n", ":2: 0x12345 is not a LID" },
	{ PATH_SL, "0x10 1 16\n", ":1: expected an SL 0..15, found ' 16'" },
	{ PATH_SL, "0x10 1 1 1\n", ":1: expected an SL and nothing else, found '1'" },
	{ PATH_SL, "0x10 x 1\n", ":1: expected a destination LID, found 'x 1'" },
	{ PATH_SL, "Switch 0x10\n", ":1: expected \"0xGUID,\", found ' 0x10'" },
	{ PATH_SL, "0x99 1 1\n",
	  ":1: no source of this file is in the fabric; the first one in the file is 0x0000000000000099" },

	{ ORDER, "", ":1: the file contains no host port" },
	{ ORDER, "0x0004\tnode1\n0x0001\tleaf\n",
	  ":2: LID 1 belongs to no host port of the fabric" },
	{ ORDER, "0x0004\tnode1\n0x0005\tnode1\n",
	  ":2: LID 5 belongs to the same host port as the LID on line 1" },
	{ ORDER, "4\tnode1\n",
	  ":1: expected a LID 0x0000..0xffff and a name, found '4\tnode1'" },
};

START_TEST(refused)
{
	char want[256];
	struct got g;

	put(torn[_i].text, strlen(torn[_i].text));
	ck_assert_int_ne(read_form(torn[_i].form, &g), FTR_OK);
	snprintf(want, sizeof(want), "%s%s", path, torn[_i].msg);
	if (torn[_i].form != ORDER)
		ck_assert_str_eq(err.msg, want);
	else	/* err.msg shows a tab as '?', so compare only its beginning */
		ck_assert_int_eq(strncmp(err.msg, want, strlen(path) + 20), 0);
	ck_assert(!g.t && !g.m && !g.p && !g.order && !g.pair);
}
END_TEST

/* ---- round trips --------------------------------------------------------- */

START_TEST(sl2vl_round_trip)
{
	struct ftr_sl2vl *m = NULL;
	struct ftr_rng rng;
	struct got g;
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	ftr_rng_seed(&rng, 4);
	ck_assert(!ftr_sl2vl_new(f, &m, NULL));
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (uint32_t i = 0; i < 16; i++)
			m->word[m->first[s] + i] = ftr_rng_next(&rng);
	ck_assert_int_eq(ftr_write_sl2vl(out, f, m, &err), FTR_OK);
	fclose(out);
	put(text, len);
	free(text);
	if (read_form(SL2VL, &g))
		ck_abort_msg("%s", err.msg);
	ck_assert_uint_eq(g.missing, 0);
	ck_assert(!memcmp(g.m->word, m->word, 32 * sizeof(*m->word)));
	m->n_sw = 1;
	ck_assert_int_eq(ftr_write_sl2vl(stdout, f, m, &err), FTR_INVAL);
	ftr_sl2vl_free(m);
	drop(&g);
}
END_TEST

/* ---- invalid input ----------------------------------------------------- */

static const struct {
	enum form form;
	const char *text;
} sound[] = {
	{ FDBS, fdbs }, { SL2VL, sl2vl }, { PATH_SL, path_sl },
	{ ORDER, order },
	{ PAIRS, "4 0x9\n8 4 # back\n\"node1\" 9\n" },
};

static void same_got(const struct got *a, const struct got *b)
{
	struct ftr_tables_diff d = { 0 };

	ck_assert_uint_eq(a->n, b->n);
	if (a->t)
		ftr_tables_diff(f, a->t, f, b->t, &d);
	ck_assert_uint_eq(d.entries, 0);
	for (ftr_sw s = 0; a->m && s < f->n_sw; s++)
		for (unsigned int i = 0; i <= f->sw[s].n_ports; i++)
			for (unsigned int j = 0; j <= f->sw[s].n_ports; j++)
				for (unsigned int sl = 0; sl < FTR_N_SL; sl++)
					ck_assert_uint_eq(
						ftr_sl2vl_get(a->m, s, i, j, sl),
						ftr_sl2vl_get(b->m, s, i, j, sl));
	for (uint32_t i = 0; a->p && i < f->n_ep + f->n_sw; i++)
		for (uint32_t lid = 0; lid <= f->max_lid; lid++)
			ck_assert_uint_eq(ftr_path_sl_get(a->p, i, (ftr_lid)lid),
					  ftr_path_sl_get(b->p, i, (ftr_lid)lid));
	if (a->order)
		ck_assert_mem_eq(a->order, b->order, a->n * sizeof(*a->order));
}

/* g was read from a text cut inside a line.  Check that it equals the result for the complete
 * line. */
static void same_as_line(enum form form, const char *text, size_t cut,
			 const struct got *g)
{
	struct got whole;

	put(text, cut + strcspn(text + cut, "\n") + 1);
	if (read_form(form, &whole))
		ck_abort_msg("%s", err.msg);
	same_got(g, &whole);
	drop(&whole);
}

/* A text that is cut inside a line must be refused, or give the same result as the complete line.
 * Cuts inside a number and cuts in a list of pairs cannot be detected. */
START_TEST(cuts)
{
	const char *text = sound[_i].text;
	size_t len = strlen(text);
	struct got g;

	for (size_t cut = 1; cut < len; cut++) {
		bool line = text[cut - 1] == '\n';
		enum ftr_status st;

		put(text, cut);
		st = read_form(sound[_i].form, &g);
		if (st)
			ck_assert(!strncmp(err.msg, path, strlen(path)));
		else if (!line && sound[_i].form != PAIRS &&
			 !(text[cut] >= '0' && text[cut] <= '9'))
			same_as_line(sound[_i].form, text, cut, &g);
		drop(&g);
	}
	/* without its last newline the text is accepted */
	put(text, len - 1);
	if (read_form(sound[_i].form, &g))
		ck_abort_msg("%s", err.msg);
	drop(&g);
	must_read(sound[_i].form, text, &g);
	drop(&g);
}
END_TEST

START_TEST(mutations)
{
	static const char *const piece[] = {
		"0x", ":", "\n", ",", "\"", "Switch ", "15", "255", "65536",
		"18446744073709551616", "UNREACHABLE", "#", "\t", "0xFFFF", "-1",
		"Channel Adapter 0x101,", "\r\n",
	};
	const char *text = sound[_i].text;
	size_t len = strlen(text);
	uint32_t taken = 0;
	struct ftr_rng rng;
	struct got g;

	ftr_rng_seed(&rng, 20261120u + (unsigned int)_i);
	for (int i = 0; i < 8000; i++) {
		char copy[2048];
		size_t n = len;

		memcpy(copy, text, len);
		for (uint32_t k = ftr_rng_below(&rng, 4); k < 4; k++) {
			size_t at = ftr_rng_below(&rng, (uint32_t)n);
			const char *s = piece[ftr_rng_below(
				&rng, FTR_ARRAY_LEN(piece))];
			size_t add = strlen(s);

			if (ftr_rng_below(&rng, 2)) {
				copy[at] = (char)ftr_rng_below(&rng, 256);
				continue;
			}
			memmove(copy + at + add, copy + at, n - at);
			memcpy(copy + at, s, add);
			n += add;
		}
		put(copy, n);
		taken += !read_form(sound[_i].form, &g);
		drop(&g);
	}
	ck_assert_uint_gt(taken, 0);
	ck_assert_uint_lt(taken, 8000);
}
END_TEST

START_TEST(without_memory)
{
	unsigned long n = 0;
	enum ftr_status st;
	struct got g;

	put(sound[_i].text, strlen(sound[_i].text));
	do {
		ftr_alloc_fail_at(++n);
		st = read_form(sound[_i].form, &g);
		ftr_alloc_fail_at(0);
		ck_assert(!st || (st == FTR_NOMEM && err.status == st));
		drop(&g);
	} while (st);
	ck_assert_uint_gt(n, 2);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("VLs, orders and pairs as text");
	TCase *tc = tcase_create("text");
	int n = (int)FTR_ARRAY_LEN(sound);

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, fdbs_form);
	tcase_add_test(tc, sl2vl_form);
	tcase_add_test(tc, path_sl_form);
	tcase_add_test(tc, order_form);
	tcase_add_loop_test(tc, pair_forms, 0, (int)FTR_ARRAY_LEN(pair_case));
	tcase_add_loop_test(tc, transfer_forms, 0, (int)FTR_ARRAY_LEN(transfer_case));
	tcase_add_loop_test(tc, refused, 0, (int)FTR_ARRAY_LEN(torn));
	tcase_add_test(tc, sl2vl_round_trip);
	tcase_add_loop_test(tc, cuts, 0, n);
	tcase_add_loop_test(tc, mutations, 0, n);
	tcase_add_loop_test(tc, without_memory, 0, n);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
