// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the readers and the writer of topologies: every format; refused files, with the messages
 * and line numbers; round trips (write, then read again); real fabrics, if their files are present.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>

#include "io/source_file.h"
#include "lib/suite.h"
#include "unit/io_util.h"

static struct ftr_err err;

static ftr_sw sw_named(const struct ftr_fabric *f, const char *name)
{
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (!strcmp(f->sw[s].name, name))
			return s;
	ck_abort_msg("the fabric has no switch '%s'", name);
	return FTR_SW_NONE;
}

/* ---- dialects ---------------------------------------------------------- */

START_TEST(discovered)
{
	struct ftr_fabric *f = must_parse(good_net);
	const struct ftr_swport *p;

	ck_assert_uint_eq(f->n_sw, 2);
	ck_assert_uint_eq(f->n_ep, 1);
	ck_assert_uint_eq(f->sw[0].guid, 0x10);
	ck_assert_str_eq(f->sw[0].name, "leaf 1");
	ck_assert_uint_eq(f->sw[1].lid, 2);
	ck_assert_uint_eq(f->ep[0].guid, 0x105);
	ck_assert_uint_eq(f->ep[0].node_guid, 0x100);
	ck_assert_uint_eq(f->ep[0].lid, 4);
	ck_assert_uint_eq(f->ep[0].lmc, 2);
	ck_assert_uint_eq(f->max_lid, 7);
	p = ftr_fabric_port(f, 0, 2);
	ck_assert_uint_eq(p->peer, 1);
	ck_assert_uint_eq(p->peer_port, 3);
	ck_assert_uint_eq(p->width, 4);
	ck_assert_uint_eq(p->speed, FTR_SPEED_HDR);
	round_trip(f);
	ftr_fabric_free(f);
}
END_TEST

/* For a file written by hand, the reader assigns the same GUIDs and default values as ibsim, and
 * accepts the options of ibsim. */
START_TEST(hand_written)
{
	struct ftr_fabric *f = must_parse(hand_net);

	ck_assert_uint_eq(f->sw[0].guid, 0x200000);
	ck_assert_uint_eq(f->sw[1].guid, 0x200001);
	ck_assert_str_eq(f->sw[0].name, "Switch1");
	ck_assert_uint_eq(f->n_ep, 2);
	ck_assert_uint_eq(f->n_nodes, 1);
	ck_assert_uint_eq(f->ep[0].guid, 0x100001);
	ck_assert_uint_eq(f->ep[1].guid, 0x100002);
	ck_assert_uint_eq(f->max_lid, 4);
	ck_assert_uint_eq(ftr_fabric_port(f, 0, 1)->width, 0);
	ck_assert_uint_eq(ftr_fabric_port(f, 0, 2)->width, 12);
	ck_assert_uint_eq(ftr_fabric_port(f, 0, 3)->speed, FTR_SPEED_QDR);
	round_trip(f);
	ftr_fabric_free(f);
}
END_TEST

START_TEST(given_lmc)
{
	struct ftr_fabric *f = NULL;

	ck_assert_int_eq(ftr_parse_fabric(PATH, hand_net, strlen(hand_net), 2,
					  &f, &err), FTR_OK);
	ck_assert_uint_eq(f->ep[0].lmc, 2);
	ck_assert_uint_eq(f->ep[0].lid % 4, 0);
	ck_assert_uint_eq(f->sw[0].lmc, 0);
	ftr_fabric_free(f);
}
END_TEST

/* 400 hosts with 128 LIDs each: there are not enough LIDs. */
START_TEST(too_many_lids)
{
	struct ftr_fabric *f = NULL;
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	for (int i = 0; i < 400; i++)
		fprintf(out, "%s[%d] \"h%d\"[1]\n", i % 200 ? "" : i ? "\nSwitch 254 \"b\"\n" :
			"Switch 254 \"a\"\n", i % 200 + 1, i);
	for (int i = 0; i < 400; i++)
		fprintf(out, "\nHca 1 \"h%d\"\n[1] \"%s\"[%d]\n", i, i < 200 ? "a" : "b", i % 200 + 1);
	fclose(out);
	ck_assert_int_eq(ftr_parse_fabric(PATH, text, len, 7, &f, &err), FTR_LIMIT);
	ck_assert_msg(!strncmp(err.msg, "t.net: ", 7), "%s", err.msg);
	ck_assert_ptr_null(f);
	free(text);
}
END_TEST

/* Records without a GUID get GUIDs in the same way as in ibsim. */
START_TEST(guid_counters)
{
	struct ftr_fabric *f = must_parse(
		"switchguid=0x50\n"
		"Switch 2 \"a\"\n[1] \"b\"[1]\n\n"
		"Switch 2 \"b\"\n[1] \"a\"[1]\n[2] \"c\"[1]\n\n"
		"switchguid+0x20\n"
		"Switch 2 \"c\"\n[1] \"b\"[2]\n[2] \"r\"[2]\n\n"
		"rtguid=0x900\n"
		"Rt 2 \"r\" # \"router\"\n[2] \"c\"[2]\n\n");

	ck_assert_uint_eq(f->sw[sw_named(f, "a")].guid, 0x50);
	ck_assert_uint_eq(f->sw[sw_named(f, "b")].guid, 0x51);
	ck_assert_uint_eq(f->sw[sw_named(f, "c")].guid, 0x70);
	ck_assert_uint_eq(f->ep[0].guid, 0x902);
	ck_assert_uint_eq(f->ep[0].type, FTR_NODE_ROUTER);
	round_trip(f);
	ftr_fabric_free(f);
}
END_TEST

/* The reader accepts chassis lines, [ext N], the options s=, w= and v= of "ibnetdiscover -f", names
 * without quotes or with unusual characters, and carriage returns. */
START_TEST(optional_parts_of_lines)
{
	struct ftr_fabric *f = must_parse(
		"Chassis 1 (guid 0x8f104)\r\n"
		"# Spine Nodes\n"
		"Spine 1 Chip 1\n"
		"vendid=0x8f1\n"
		"devid=0x5a31\n"
		"sysimgguid=0x10\t\t# Chassis 1\n"
		"switchguid=0x10(10)\t# ISR9288 Spine 1 Chip 1\r\n"
		"Switch\t24 \"S-10\"  # ISR 9288 # x base port 0 lid 6 lmc 0\n"
		"# between ports\n"
		"[7][ext 3]\t\"H-a0\"[1][ext 2](a1) \t# \"say \"hi\" now\" lid 9 12xFDR10 s=4 w=8 v=1\r\n"
		"Non-Chassis Nodes\n"
		"\n"
		"caguid=0xa0\n"
		"Ca\t1 \"H-a0\" # \"say \"hi\" now\" (scp)\n"
		"[1](a1)\t\"S-10\"[7][ext 3]\t# lid 9 lmc 0 \"ISR 9288 # x\" lid 6 12xFDR10\n");

	ck_assert_str_eq(f->sw[0].name, "ISR 9288 # x");
	ck_assert_uint_eq(f->sw[0].lid, 6);
	ck_assert_str_eq(f->ep[0].name, "say \"hi\" now");
	ck_assert_uint_eq(f->ep[0].lid, 9);
	ck_assert_uint_eq(f->ep[0].sw_port, 7);
	ck_assert_uint_eq(ftr_fabric_port(f, 0, 7)->width, 12);
	ck_assert_uint_eq(ftr_fabric_port(f, 0, 7)->speed, FTR_SPEED_FDR10);
	ftr_fabric_free(f);
}
END_TEST

/* The lines "width", "speed", "extspeed" and "module" of ibsim apply to the records after them. */
START_TEST(modules)
{
	struct ftr_fabric *f = must_parse(
		"width = 2\n"
		"extspeed=3\n"
		"module = \"m1\"\n"
		"Switch 2 \"s\"\n[1] \"m2#s\"[1]\n\n"
		"module = \"m2\"\n"
		"Switch 2 \"s\"\n[1] \"m1#s\"[1]\n[2] \"h\"\n\n"
		"speed=7\n"
		"Hca 1 \"h\"\n[1] \"s\"[2] lid 9 lmc 0 w=1 e=0\n");

	ck_assert_str_eq(f->sw[0].name, "m1#s");
	ck_assert_str_eq(f->sw[1].name, "m2#s");
	ck_assert_uint_eq(ftr_fabric_port(f, 0, 1)->width, 4);
	ck_assert_uint_eq(ftr_fabric_port(f, 0, 1)->speed, FTR_SPEED_EDR);
	/* the two ends differ, and the lower value counts */
	ck_assert_uint_eq(ftr_fabric_port(f, 1, 2)->width, 1);
	ck_assert_uint_eq(ftr_fabric_port(f, 1, 2)->speed, FTR_SPEED_QDR);
	ck_assert_uint_eq(f->ep[0].lid, 9);
	ftr_fabric_free(f);
}
END_TEST

/* ---- refusals ---------------------------------------------------------- */

/* The text `base`, with the first `from` replaced by `to`, is refused with this message. */
struct refusal {
	const char *base, *from, *to;
	enum ftr_status status;
	const char *msg;
};

#define LONG16 "xxxxxxxxxxxxxxxx"
#define LONG256 LONG16 LONG16 LONG16 LONG16 LONG16 LONG16 LONG16 LONG16 \
	LONG16 LONG16 LONG16 LONG16 LONG16 LONG16 LONG16 LONG16
#define LONG4096 LONG256 LONG256 LONG256 LONG256 LONG256 LONG256 LONG256 \
	LONG256 LONG256 LONG256 LONG256 LONG256 LONG256 LONG256 LONG256 LONG256

static const struct refusal refusals[] = {
	{ good_net, good_net, "", FTR_PARSE, "t.net:1: the file is empty" },
	{ good_net, good_net, "# nothing\n\n", FTR_PARSE,
	  "t.net:2: the file contains no node" },
	{ good_net, good_net, "Switch 4 \"a\"\n", FTR_PARSE,
	  "t.net:1: the file contains no link" },
	{ good_net, good_net, "#!/bin/sh\necho hello\n", FTR_PARSE,
	  "t.net:2: the line is neither a record nor a port line: 'echo hello'" },
	{ good_net, "# a comment", "[1]\t\"S-20\"[3]", FTR_PARSE,
	  "t.net:1: port line outside of a record: '[1]?\"S-20\"[3]'" },
	{ good_net, "[3]\t\"S-10\"", "\n[3]\t\"S-10\"", FTR_PARSE,
	  "t.net:11: port line outside of a record: '[3]?\"S-10\"[2]??# \"leaf 1\" lid 1 4xHDR'" },
	{ good_net, "# a comment", "# " LONG4096, FTR_PARSE,
	  "t.net:1: line of more than 4096 bytes: '# xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...'" },
	{ good_net, "lid 1 4xNDR\n", "lid 1 4xND", FTR_PARSE,
	  "t.net:14: the file ends in the middle of a line: '[1](105) ?\"S-10\"[1]??# lid 4 lmc 2 \"leaf...'" },
	{ good_net, "\"leaf 1\" enhanced", "\"leaf 1 enhanced", FTR_PARSE,
	  "t.net:4: no closing quote: '\"leaf 1 enhanced port 0 lid 1 lmc 0'" },
	{ good_net, "\"S-20\"[3]", "\"S-20[3]", FTR_PARSE,
	  "t.net:6: expected an option or a comment, found 'spine\" lid 2 4xHDR'" },
	{ hand_net, "\"Switch2\"[3]", "\"Switch2[3]", FTR_PARSE,
	  "t.net:4: no closing quote: '\"Switch2[3] s=4 # trunk'" },
	{ good_net, "\"S-20\"[3]", "S-20[3]", FTR_PARSE,
	  "t.net:6: expected a node id in quotes, found 'S-20[3]??# \"spine\" lid 2 4xHDR'" },
	{ good_net, "4 \"S-20\"", "4 S-20", FTR_PARSE,
	  "t.net:9: expected a node id in quotes, found 'S-20??# \"spine\" base port 0 lid 2 lmc 0'" },
	{ good_net, "4 \"S-20\"", "4 \"\"", FTR_PARSE,
	  "t.net:9: empty node id" },
	{ good_net, "4 \"S-20\"", "4 \"S@20\"", FTR_PARSE,
	  "t.net:9: \"S@20\": aliases are not supported" },
	{ good_net, "Switch\t4 \"S-20\"", "Switch\t\"S-20\"", FTR_PARSE,
	  "t.net:9: expected a number of ports, found '\"S-20\"??# \"spine\" base port 0 lid 2 lmc 0'" },
	{ good_net, "4 \"S-20\"", "400 \"S-20\"", FTR_PARSE,
	  "t.net:9: the node has 400 ports (allowed: 1 to 254)" },
	{ good_net, "4 \"S-20\"", "0 \"S-20\"", FTR_PARSE,
	  "t.net:9: the node has 0 ports (allowed: 1 to 254)" },
	{ good_net, "4 \"S-20\"", "2 \"S-20\"", FTR_INVAL,
	  "t.net:10: port 3 of \"S-20\" does not exist; the node has ports 1..2" },
	{ good_net, "\"S-20\"[3]", "\"S-20\"[7]", FTR_INVAL,
	  "t.net:6: port 2 of \"S-10\" is connected to port 7 of \"S-20\", which has ports 1..4" },
	{ good_net, "[2]\t\"S-20\"", "[x]\t\"S-20\"", FTR_PARSE,
	  "t.net:6: expected a port number, found 'x]?\"S-20\"[3]??# \"spine\" lid 2 4xHDR'" },
	{ good_net, "[2]\t\"S-20\"", "[2\t\"S-20\"", FTR_PARSE,
	  "t.net:6: expected ']' after the port number, found '?\"S-20\"[3]??# \"spine\" lid 2 4xHDR'" },
	{ good_net, "[2]\t\"S-20\"", "[0]\t\"S-20\"", FTR_PARSE,
	  "t.net:6: port number 0 (allowed: 1 to 254)" },
	{ good_net, "\"S-20\"[3]", "\"S-20\"[999]", FTR_PARSE,
	  "t.net:6: port number 999 (allowed: 1 to 254)" },
	{ good_net, "[2]\t\"S-20\"", "[1]\t\"S-20\"", FTR_INVAL,
	  "t.net:6: port 1 of \"S-10\" is connected to \"S-20\" port 3 here but to \"H-100\" port 1 on line 5" },
	{ good_net, "\"S-20\"[3]", "\"S-99\"[3]", FTR_INVAL,
	  "t.net:6: port 2 of \"S-10\" is connected to \"S-99\", which is not in the file" },
	{ good_net, "\"S-20\"[3]", "\"S-10\"[2]", FTR_INVAL,
	  "t.net:6: port 2 of \"S-10\" is connected to itself" },
	{ good_net, "\"S-20\"[3]", "\"S-20\"[4]", FTR_INVAL,
	  "t.net:6: port 2 of \"S-10\" is connected to \"S-20\" port 4, but the record of \"S-20\" (line 9) has no line for that port" },
	{ good_net, "\"S-10\"[2]", "\"S-10\"[1]", FTR_INVAL,
	  "t.net:6: port 2 of \"S-10\" is connected to \"S-20\" port 3, but line 10 connects that port to \"S-10\" port 1" },
	{ good_net, "switchguid=0x20(20)\nSwitch\t4 \"S-20\"",
	  "switchguid=0x20(20)\nSwitch\t4 \"S-10\"", FTR_INVAL,
	  "t.net:9: a second record of \"S-10\", the first is on line 4" },
	{ good_net, "switchguid=0x20", "switchguid=0x10", FTR_INVAL,
	  "t.net:9: \"S-20\" and \"S-10\" (line 4) have the same node GUID 0x0000000000000010" },
	{ good_net, "caguid=0x100", "caguid=0x20", FTR_INVAL,
	  "t.net:13: \"H-100\" and \"S-20\" (line 9) have the same node GUID 0x0000000000000020" },
	{ good_net, "caguid=0x100", "caguid 0x100", FTR_PARSE,
	  "t.net:12: expected '=' and a GUID, found ' 0x100'" },
	{ good_net, "caguid=0x100", "caguid=hello", FTR_PARSE,
	  "t.net:12: expected a GUID, found 'hello'" },
	{ good_net, "caguid=0x100", "caguid=0x11112222333344445", FTR_PARSE,
	  "t.net:12: expected a GUID, found '0x11112222333344445'" },
	{ good_net, "0x20(20)", "0x20(2z)", FTR_PARSE,
	  "t.net:8: expected a GUID in parentheses, found '(2z)'" },
	{ good_net, "[1](105)", "[1](105", FTR_PARSE,
	  "t.net:5: expected a GUID in parentheses, found '(105 ??# \"node1\" lid 4 4xNDR'" },
	{ good_net, "[1](105) \t\"S", "[1](106) \t\"S", FTR_INVAL,
	  "t.net:5: port 1 of \"H-100\" has GUID 0x0000000000000105 here but 0x0000000000000106 on line 14" },
	{ good_net, "lid 4 4xNDR", "lid 8 4xNDR", FTR_INVAL,
	  "t.net:5: \"H-100\" has LID 8 here but LID 4 on line 14" },
	{ good_net, "\"spine\" lid 2", "\"spine\" lid 3", FTR_INVAL,
	  "t.net:6: \"S-20\" has LID 3 here but LID 2 on line 9" },
	{ good_net, "lid 2 4xHDR\n\nswitchguid=0x20(20)\nSwitch\t4 \"S-20\"\t\t# \"spine\" base port 0 lid 2",
	  "\n\nswitchguid=0x20(20)\nSwitch\t4 \"S-20\"\t\t# \"spine\" base port 0 lid 1",
	  FTR_INVAL,
	  "t.net:9: LID 1 of \"S-20\" is also a LID of the node on line 4" },
	{ good_net, "lid 2 4xHDR\n\nswitchguid=0x20(20)\nSwitch\t4 \"S-20\"\t\t# \"spine\" base port 0 lid 2",
	  "\n\nswitchguid=0x20(20)\nSwitch\t4 \"S-20\"\t\t# \"spine\" base port 0 lid 6",
	  FTR_INVAL,
	  "t.net:14: LID 6 of \"H-100\" is also a LID of the node on line 9" },
	{ good_net, "lid 4 lmc 2", "lid 4 lmc 3", FTR_INVAL,
	  "t.net:14: port 0x0000000000000105: base LID 4 with LMC 3: it must be a multiple of 8, and the last LID at most 49151" },
	{ good_net, "lid 4 lmc 2", "lid 49152 lmc 2", FTR_PARSE,
	  "t.net:14: LID 49152 is above the maximum 49151" },
	{ good_net, "lid 4 lmc 2", "lid 4 lmc 8", FTR_PARSE,
	  "t.net:14: LMC 8 is above the maximum 7" },
	{ hand_net, "w=8", "w=99", FTR_PARSE,
	  "t.net:3: expected w=0..31, found 'w=99'" },
	{ hand_net, "w=8", "fast", FTR_PARSE,
	  "t.net:3: expected an option or a comment, found 'fast'" },
	{ hand_net, "Switch\t8", "width=40\nSwitch\t8", FTR_PARSE,
	  "t.net:1: expected width=0..31, found '40'" },
	{ hand_net, "Switch\t8", "module \"x\"\nSwitch\t8", FTR_PARSE,
	  "t.net:1: expected '=', found '\"x\"'" },
	{ hand_net, "Switch\t8", "include \"x\"\nSwitch\t8", FTR_PARSE,
	  "t.net:1: the line is neither a record nor a port line: 'include \"x\"'" },
	{ hand_net, "Hca1\"[2]", "Hca1\"[ext]", FTR_PARSE,
	  "t.net:3: expected a port number, found 'ext]  w=8'" },
	{ hand_net, "Hca1\"[2]", "Hca1\"[2][ext]", FTR_PARSE,
	  "t.net:3: expected an external port number, found '[ext]  w=8'" },
	{ good_net, "[3]\t\"S-10\"", "#line 70\n[9]\t\"S-10\"", FTR_INVAL,
	  "t.net:70: port 9 of \"S-20\" does not exist; the node has ports 1..4" },
	{ good_net, "[3]\t\"S-10\"", "#line of cards\n[9]\t\"S-10\"", FTR_INVAL,
	  "t.net:11: port 9 of \"S-20\" does not exist; the node has ports 1..4" },
	{ good_net, "switchguid=", "{ SW Ports:04\nswitchguid=", FTR_PARSE,
	  "t.net:3: a list of links; ibfattree topo converts it to a netfile" },
	{ good_net, "switchguid=", "START_NODES\nswitchguid=", FTR_PARSE,
	  "t.net:3: a list of links; ibfattree topo converts it to a netfile" },
};

START_TEST(refused)
{
	const struct refusal *r = &refusals[_i];
	const char *hit = strstr(r->base, r->from);
	struct ftr_fabric *f = NULL;
	enum ftr_status st;
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(hit);
	ck_assert_ptr_nonnull(out);
	fprintf(out, "%.*s%s%s", (int)(hit - r->base), r->base, r->to,
		hit + strlen(r->from));
	fclose(out);
	st = ftr_parse_fabric(PATH, text, len, 0, &f, &err);
	if (!st)
		ck_abort_msg("the text is accepted; expected: %s", r->msg);
	ck_assert_str_eq(err.msg, r->msg);
	ck_assert_int_eq(st, r->status);
	ck_assert_int_eq(err.status, r->status);
	ck_assert_ptr_null(f);
	free(text);
}
END_TEST

START_TEST(nul_byte)
{
	static const char text[] = "Switch 2 \"a\"\n[1] \"b\0\"[1]\n";
	struct ftr_fabric *f = NULL;

	ck_assert_int_eq(ftr_parse_fabric(PATH, text, sizeof(text) - 1, 0, &f,
					  &err), FTR_PARSE);
	ck_assert_str_eq(err.msg, "t.net:2: NUL byte in column 7");
}
END_TEST

START_TEST(no_such_file)
{
	struct ftr_fabric *f = NULL;
	uint64_t *guid;
	uint32_t n;

	ck_assert_int_eq(ftr_read_fabric("/nowhere/x", 0, &f, &err), FTR_IO);
	ck_assert_str_eq(err.msg, "cannot open /nowhere/x: No such file or directory");
	ck_assert_int_eq(ftr_read_fabric("/", 0, &f, &err), FTR_IO);
	ck_assert_str_eq(err.msg, "cannot read /: Is a directory");
	ck_assert_int_eq(ftr_read_guids("/", &guid, &n, &err), FTR_IO);
	ck_assert_str_eq(err.msg, "cannot read /: Is a directory");
}
END_TEST

/* ---- bytes of a file ------------------------------------------------------ */

static int pipe_end = -1;

static void on_alarm(int sig)
{
	(void)sig;
	if (write(pipe_end, "0x12\n", 5) != 5)
		_exit(1);
	close(pipe_end);
}

/* A signal interrupts the read of a pipe, and its handler writes the last line. */
START_TEST(interrupted_read)
{
	const struct itimerval soon = { .it_value = { .tv_usec = 20000 } };
	struct sigaction act = { .sa_handler = on_alarm };	/* without SA_RESTART */
	char path[64];
	uint64_t *guid;
	uint32_t n;
	int end[2];

	ck_assert(!pipe(end));
	pipe_end = end[1];
	ck_assert_int_eq(write(end[1], "0x100\n", 6), 6);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", end[0]);
	ck_assert(!sigaction(SIGALRM, &act, NULL) && !setitimer(ITIMER_REAL, &soon, NULL));
	ck_assert_msg(!ftr_read_guids(path, &guid, &n, &err), "%s", err.msg);
	ck_assert(n == 2 && guid[0] == 0x100 && guid[1] == 0x12);
	free(guid);
	close(end[0]);
}
END_TEST

/* An error after the first bytes.  The first bytes are returned in parts if there is less room. */
START_TEST(error_after_the_first_bytes)
{
	struct ftr_source s;
	char to[4] = "";
	size_t got;
	int end[2];

	ck_assert(!pipe(end) && !fcntl(end[0], F_SETFL, O_NONBLOCK));
	ck_assert_int_eq(write(end[1], "abcdef", 6), 6);
	ck_assert(!ftr_source_begin(&s, "pipe", end[0], &err));
	ck_assert(!ftr_source_read(&s, to, 4, &got) && got == 4 && !memcmp(to, "abcd", 4));
	ck_assert(!ftr_source_read(&s, to, 4, &got) && got == 2 && !memcmp(to, "ef", 2));
	ck_assert_int_eq(ftr_source_read(&s, to, 4, &got), FTR_IO);
	ck_assert(!got && strstr(err.msg, "cannot read pipe: "));
	ftr_source_end(&s);
	close(end[0]);
	close(end[1]);
}
END_TEST

/* An unpacker that takes its input in pieces of `bite` bytes, and returns `what` when it has taken all of
 * it, with `gives` bytes. */
static struct {
	bool begins, takes;
	size_t gives;
	enum ftr_unpacked what;
} fake;

static bool fake_knows(const unsigned char *head, size_t n)
{
	return n && head[0] == 'Z';
}

static void *fake_begin(const unsigned char *head)
{
	(void)head;
	return fake.begins ? &fake : NULL;
}

static enum ftr_unpacked fake_run(void *z, struct ftr_unpack_io *io)
{
	(void)z;
	if (fake.takes)
		io->n_in = 0;
	io->n_out -= FTR_MIN(fake.gives, io->n_out);
	return fake.what;
}

static void fake_end(void *z)
{
	ck_assert_ptr_eq(z, &fake);
}

static const struct {
	bool begins, takes;
	size_t gives;
	enum ftr_unpacked what;
	bool blocks;		/* the file is a pipe that has no more bytes now */
	enum ftr_status want;
	const char *msg;
} packed[] = {
	{ false, true, 0, FTR_UNPACKED_MORE, false, FTR_NOMEM, "out of memory while unpacking pipe" },
	{ true, true, 0, FTR_UNPACKED_NOMEM, false, FTR_NOMEM, "out of memory while unpacking pipe" },
	{ true, true, 0, FTR_UNPACKED_DAMAGED, false, FTR_PARSE,
	  "pipe: the compressed data are damaged" },
	{ true, true, 0, FTR_UNPACKED_MORE, false, FTR_PARSE,
	  "pipe: the compressed data end early: the file is truncated" },
	{ true, true, 0, FTR_UNPACKED_MORE, true, FTR_IO, "cannot read pipe: " },
	{ true, false, SIZE_MAX, FTR_UNPACKED_MORE, false, FTR_LIMIT,
	  "pipe unpacks to more than 8589934592 bytes" },
	{ true, true, 10, FTR_UNPACKED_MORE, false, FTR_OK, NULL },
	{ true, true, 10, FTR_UNPACKED_END, false, FTR_OK, NULL },
};

/* Reads of a compressed file, until one fails. */
START_TEST(unpackers)
{
	static const struct ftr_unpacker u = {
		.knows = fake_knows, .begin = fake_begin, .run = fake_run, .end = fake_end,
	};
	size_t room = packed[_i].gives == SIZE_MAX ? (size_t)1 << 30 : 100, got = 1;
	char *to = malloc(room);
	struct ftr_source s;
	enum ftr_status st;
	int end[2];

	fake = (__typeof__(fake)){
		packed[_i].begins, packed[_i].takes, packed[_i].gives, packed[_i].what
	};
	ck_assert(to && !pipe(end) && !fcntl(end[0], F_SETFL, O_NONBLOCK));
	ck_assert_int_eq(write(end[1], "Z23456789", 9), 9);
	if (!packed[_i].blocks)
		close(end[1]);
	ftr_set_unpacker(&u);
	st = ftr_source_begin(&s, "pipe", end[0], &err);
	for (int i = 0; i < 20 && !st && got; i++) {
		st = ftr_source_read(&s, to, room, &got);
		if (st || packed[_i].gives != 10)
			continue;
		ck_assert_uint_eq(got, i > (packed[_i].what == FTR_UNPACKED_END ? 0 : 3) ? 0 : 10);
		if (i == 3)
			fake.what = FTR_UNPACKED_END;
		fake.gives = i < 3 ? 10 : 0;
	}
	ck_assert_int_eq(st, packed[_i].want);
	ck_assert_msg(!st || strstr(err.msg, packed[_i].msg), "%s", err.msg);
	ftr_source_end(&s);
	ftr_set_unpacker(NULL);
	free(to);
	close(end[0]);
	if (packed[_i].blocks)
		close(end[1]);
}
END_TEST

/* Two ids with the same hash (FNV-1a) are two nodes. */
START_TEST(ids_with_one_hash)
{
	static const char one[] = "8yn0iYCKYHlIj4-BwPqk", two[] = "GReLUrM4wMqfg9yzV3KQ";
	char text[512];
	struct ftr_fabric *f;

	ck_assert_uint_eq(ftr_hash(FTR_HASH_INIT, one, strlen(one)),
			  ftr_hash(FTR_HASH_INIT, two, strlen(two)));
	snprintf(text, sizeof(text), "Switch 8 \"%s\"\n[1] \"%s\"[2]\n[3] \"H\"[1]\n\n"
		 "Switch 8 \"%s\"\n[2] \"%s\"[1]\n\nHca 1 \"H\"\n[1] \"%s\"[3]\n",
		 one, two, two, one, one);
	f = must_parse(text);
	ck_assert_uint_eq(f->n_sw, 2);
	ck_assert_uint_eq(ftr_fabric_port(f, sw_named(f, one), 1)->peer, sw_named(f, two));
	ck_assert_uint_eq(f->ep[0].sw, sw_named(f, one));
	ftr_fabric_free(f);
}
END_TEST

/* ---- writing ----------------------------------------------------------- */

START_TEST(order_of_records)
{
	struct ftr_fabric *f = must_parse(good_net), *g;
	static const uint32_t order[] = { 2, 1, 0 }, bad[] = { 0, 0, 1 }, large[] = { 0, 3, 1 };
	char *text = written(f, order);
	FILE *null = fopen("/dev/null", "w");

	ck_assert(strstr(text, "\nCa\t") < strstr(text, "\nSwitch\t"));
	g = must_parse(text);
	same_fabric(f, g);
	ck_assert_int_eq(ftr_write_netfile(null, f, bad, &err), FTR_INVAL);
	ck_assert_str_eq(err.msg, "order of records: entry 1 is 0; the entries must be a permutation of 0..2");
	ck_assert_int_eq(ftr_write_netfile(null, f, large, &err), FTR_INVAL);
	ck_assert_str_eq(err.msg, "order of records: entry 1 is 3; the entries must be a permutation of 0..2");
	fclose(null);
	ftr_fabric_free(f);
	ftr_fabric_free(g);
	free(text);
}
END_TEST

/* The ports of a node are written by number, whatever their GUIDs are.  Ports without a link are left
 * out, and nodes without any. */
START_TEST(ports_of_nodes)
{
	static const struct {
		uint64_t node, guid;
		ftr_port num;
		bool link;
	} port[] = {
		{ 0x100, 0x101, 3, true }, { 0x100, 0x102, 1, true }, { 0x100, 0x103, 2, true },
		{ 0x100, 0x104, 4, false }, { 0x200, 0x201, 1, false },
	};
	struct ftr_builder *b = ftr_builder_new();
	static const char *const want[] = {
		"\nCa\t3 \"H-0000000000000100\"", "\n[1](0000000000000102)", "\n[2](0000000000000103)", "\n[3](0000000000000101)",
	};
	struct ftr_fabric *f;
	char text[2000] = "", *at = text;
	FILE *out = fmemopen(text, sizeof(text), "w");

	ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = 0x10, .n_ports = 8, .lid = 1, .name = "sw",
	}, &err));
	for (uint32_t i = 0; i < FTR_ARRAY_LEN(port); i++) {
		ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
			.type = FTR_NODE_CA, .node_guid = port[i].node, .guid = port[i].guid,
			.port_num = port[i].num, .lid = (ftr_lid)(i + 2), .name = "node",
		}, &err));
		ck_assert(!port[i].link ||
			  !ftr_builder_add_link(b, (struct ftr_end){ 0x10, (ftr_port)(i + 1) },
						(struct ftr_end){ port[i].node, port[i].num }, 4,
						FTR_SPEED_HDR, &err));
	}
	ck_assert(!ftr_builder_freeze(b, &f, &err));
	ck_assert(!ftr_write_netfile(out, f, NULL, &err) && !fclose(out));
	for (int i = 0; i < 4; i++) {
		at = strstr(at, want[i]);
		ck_assert_msg(at != NULL, "no line %s", want[i] + 1);
	}
	ck_assert(!strstr(text, "0000000000000200") && !strstr(text, "0000000000000104"));
	ftr_fabric_free(f);
}
END_TEST

START_TEST(full_disk)
{
	struct ftr_fabric *f = must_parse(good_net);
	FILE *full = fopen("/dev/full", "w");

	if (full) {
		ck_assert_int_eq(ftr_write_netfile(full, f, NULL, &err),
				 FTR_IO);
		ck_assert_str_eq(err.msg, "cannot write the netfile: No space left on device");
		fclose(full);
		/* the last write fails before the stream is flushed */
		full = fopen("/dev/full", "w");
		setvbuf(full, NULL, _IONBF, 0);
		ck_assert_int_eq(ftr_write_netfile(full, f, NULL, &err), FTR_IO);
		fclose(full);
	}
	ftr_fabric_free(f);
}
END_TEST

/* Generated trees, with all combinations of the random options, are written and read again. */
START_TEST(generated_round_trips)
{
	static const char *const shape[] = { "2;2,3;1,2;1,2", "3;2,2,3;2,2,1;1,1,1",
					     "kary:3,3", "648" };

	for (size_t i = 0; i < FTR_ARRAY_LEN(shape); i++)
		for (unsigned int mix = 0; mix < 8; mix++) {
			struct ftr_gen_opts o = {
				.seed = mix, .random_guids = mix & 1,
				.random_ports = mix & 2,
				.random_lids = mix & 4, .lmc = mix % 3,
			};
			struct ftr_fabric *f = NULL;
			struct ftr_pgft g;

			ck_assert_int_eq(ftr_pgft_parse(shape[i], &g, &err), FTR_OK);
			ck_assert_int_eq(ftr_gen_pgft(&g, &o, &f, &err), FTR_OK);
			round_trip(f);
			ftr_fabric_free(f);
		}
}
END_TEST

/* ---- real fabrics ------------------------------------------------------ */

static const struct {
	const char *file;
	uint32_t n_sw, n_ep, links, aggregation;
} real[] = {
	{ "avakas/avakas.net", 25, 281, 569, 0 },
	{ "plafrim2/plafrim2a.net", 7, 96, 155, 0 },
	{ "plafrim/plafrim.net", 9, 125, 201, 0 },
	{ "topograph/topograph.net", 40, 582, 1114, 40 },
	{ "topograph/topograph-noan.net", 40, 542, 1074, 0 },
};

START_TEST(real_fabrics_are_read)
{
	struct ftr_fabric *f = NULL;
	uint32_t links, an = 0;
	char path[4096];

	if (!real_fabric(real[_i].file, path, sizeof(path)))
		return;
	if (ftr_read_fabric(path, 0, &f, &err))
		ck_abort_msg("%s", err.msg);
	links = f->n_sw_links;
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		links += f->ep[e].sw != FTR_SW_NONE;
		an += ftr_ep_is_aggregation(&f->ep[e]);
		ck_assert_uint_ne(f->ep[e].lid, 0);
	}
	ck_assert_uint_eq(f->n_sw, real[_i].n_sw);
	ck_assert_uint_eq(f->n_ep, real[_i].n_ep);
	ck_assert_uint_eq(links, real[_i].links);
	ck_assert_uint_eq(an, real[_i].aggregation);
	round_trip(f);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("io");
	TCase *tc = tcase_create("topologies");

	tcase_add_test(tc, discovered);
	tcase_add_test(tc, hand_written);
	tcase_add_test(tc, given_lmc);
	tcase_add_test(tc, too_many_lids);
	tcase_add_test(tc, guid_counters);
	tcase_add_test(tc, optional_parts_of_lines);
	tcase_add_test(tc, modules);
	tcase_add_loop_test(tc, refused, 0, (int)FTR_ARRAY_LEN(refusals));
	tcase_add_test(tc, nul_byte);
	tcase_add_test(tc, no_such_file);
	tcase_add_test(tc, interrupted_read);
	tcase_add_test(tc, error_after_the_first_bytes);
	tcase_add_loop_test(tc, unpackers, 0, (int)FTR_ARRAY_LEN(packed));
	tcase_add_test(tc, ids_with_one_hash);
	tcase_add_test(tc, order_of_records);
	tcase_add_test(tc, ports_of_nodes);
	tcase_add_test(tc, full_disk);
	tcase_add_test(tc, generated_round_trips);
	tcase_add_loop_test(tc, real_fabrics_are_read, 0, (int)FTR_ARRAY_LEN(real));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
