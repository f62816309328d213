// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests how the plugin reads its options.  Also tests that the sample file and the manual pages
 * agree with the plugin's tables of options and messages.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/base.h"
#include "lib/suite.h"
#include "lib/temp.h"
#include "osm/hint.h"
#include "osm/msg.h"
#include "osm/options.h"
#include <ftr/shape.h>

static char path[TEMP_ROOM];

static void setup(void)
{
	int fd;

	fd = temp_file(path, "osm_options");
	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void teardown(void)
{
	unlink(path);
}

static void put(const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
}

static enum ftr_status read_text(const char *text, struct ibf_options *o,
				 struct ftr_err *err)
{
	put(text, strlen(text));
	ibf_options_default(o);
	return ibf_options_read(path, o, NULL, err);
}

static char *slurp(const char *name)
{
	const char *dir = getenv("abs_top_srcdir");
	char full[4096], *text = calloc(1, 1 << 20);
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", dir ? dir : ".", name);
	f = fopen(full, "r");
	ck_assert_msg(f, "cannot open %s", full);
	ck_assert_ptr_nonnull(text);
	ck_assert_uint_lt(fread(text, 1, (1 << 20) - 1, f), (1 << 20) - 1);
	fclose(f);
	return text;
}

START_TEST(test_good)
{
	struct ibf_options o;
	struct ftr_err err = { 0 };

	ck_assert_int_eq(read_text("", &o, &err), FTR_OK);
	ck_assert_int_eq(o.threads, 0);
	ck_assert_int_eq(o.leaf_order, FTR_LEAF_BY_GUID);
	ck_assert_int_eq(o.ca_order_dump, 1);
	ck_assert_int_eq(o.log_samples, 10);
	ck_assert_int_eq(read_text("# all\n\nthreads 2\r\nleaf_order=name # x\n"
				   "\tca_order_dump = off\nlog_samples 0",
				   &o, &err), FTR_OK);
	ck_assert_int_eq(o.threads, 2);
	ck_assert_int_eq(o.leaf_order, FTR_LEAF_BY_NAME);
	ck_assert_int_eq(o.ca_order_dump, 0);
	ck_assert_int_eq(o.log_samples, 0);
}
END_TEST

static const struct {
	const char *text, *where, *what;
} bad[] = {
	{ "thread 2\n", ":1: ", "unknown key \"thread\"" },
	{ "\nTHREADS 2\n", ":2: ", "unknown key \"THREADS\"" },
	{ "threads\n", ":1: ", "threads has no value" },
	{ "threads =\n", ":1: ", "threads has no value" },
	{ "threads # 2\n", ":1: ", "threads has no value" },
	{ "threads#2\n", ":1: ", "unknown key \"threads#2\"" },
	{ "fast_window 0\n", ":1: ", "\"0\", not a number 1..256" },
	{ "threads 65\n", ":1: ", "\"65\", not a number 0..64" },
	{ "threads -1\n", ":1: ", "\"-1\"" },
	{ "threads 2x\n", ":1: ", "\"2x\"" },
	{ "threads 99999999999999999999\n", ":1: ", "\"999999999999" },
	{ "threads 1\n# c\nthreads 1\n", ":3: ", "threads is given twice" },
	{ "leaf_order size\n", ":1: ", "\"size\", not one of: guid, name" },
	{ "ca_order_dump 1\n", ":1: ", "\"1\", not one of: off, on" },
	{ "= 3\n", ":1: ", "unknown key \"\"" },
	{ "threads = = 3\n", ":1: ", "\"= 3\"" },
	{ "\f\n", ":1: ", "unknown key \"?\"" },
	{ "x \t # y\n", ":1: ", "unknown key \"x\"" },
};

START_TEST(test_bad)
{
	struct ibf_options o, def;
	struct ftr_err err = { 0 };

	ibf_options_default(&def);
	ck_assert_int_eq(read_text(bad[_i].text, &o, &err), FTR_PARSE);
	ck_assert_msg(!strncmp(err.msg, path, strlen(path)), "%s", err.msg);
	ck_assert_msg(strstr(err.msg, bad[_i].where), "%s", err.msg);
	ck_assert_msg(strstr(err.msg, bad[_i].what), "%s", err.msg);
	ck_assert_mem_eq(&o, &def, sizeof(o));
}
END_TEST

START_TEST(test_torn)
{
	struct ibf_options o;
	struct ftr_err err = { 0 };
	char *big = malloc(5000);
	bool missing;

	ibf_options_default(&o);
	memset(big, 'a', 5000);
	put(big, 5000);
	ck_assert_int_eq(ibf_options_read(path, &o, &missing, &err),
			 FTR_PARSE);
	ck_assert_ptr_nonnull(strstr(err.msg, ":1: line of more than 4096 bytes"));
	ck_assert(!missing);
	free(big);
	put("threads 1\nlog\0x", 15);
	ck_assert_int_eq(ibf_options_read(path, &o, NULL, &err), FTR_PARSE);
	ck_assert_ptr_nonnull(strstr(err.msg, ":2: NUL byte in column 4"));
	ck_assert_int_eq(o.threads, 0);
	ck_assert_int_eq(ibf_options_read("/tmp", &o, &missing, &err), FTR_IO);
	ck_assert(!missing);
	unlink(path);
	ck_assert_int_eq(ibf_options_read(path, &o, &missing, &err), FTR_IO);
	ck_assert(missing);
}
END_TEST

START_TEST(test_shared_string)
{
	static const struct {
		const char *shared, *path;
		enum ftr_status st;
	} t[] = {
		{ NULL, NULL, FTR_OK },
		{ "", NULL, FTR_OK },
		{ "other:/x", NULL, FTR_OK },
		{ "ibfattree2:/x ibfattreex", NULL, FTR_OK },
		{ "ibfattree:/a/b", "/a/b", FTR_OK },
		{ "other  ibfattree:c,more:ibfattree:/x", "c", FTR_OK },
		{ "ibfattree", NULL, FTR_INVAL },
		{ "x ibfattree:", NULL, FTR_INVAL },
		{ "ibfattree: ibfattree:/a more", NULL, FTR_INVAL },
		{ "ibfattree:/a ibfattree:/b", NULL, FTR_INVAL },
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(t); i++) {
		struct ftr_err err = { 0 };
		char *got = NULL;

		ck_assert_int_eq(ibf_options_path(t[i].shared, &got, &err),
				 t[i].st);
		ck_assert_pstr_eq(got, t[i].path);
		if (t[i].st)
			ck_assert_ptr_nonnull(strstr(err.msg, "ibfattree"));
		free(got);
	}
}
END_TEST

/* The sample file has a paragraph for every key, in the order of the table, and no other key.  The
 * last line of a paragraph is a comment: the key and its default. */
START_TEST(test_sample)
{
	char *file = slurp("src/plugin/osm/ibfattree.conf"), *at = file;
	struct ibf_options o, def;
	struct ftr_err err;

	ibf_options_default(&def);
	ck_assert_int_eq(read_text(file, &o, &err), FTR_OK);
	ck_assert_mem_eq(&o, &def, sizeof(o));
	for (const struct ibf_option *opt = ibf_option_table; opt->name; opt++) {
		char want[128], number[16];

		snprintf(number, sizeof(number), "%d", opt->def);
		snprintf(want, sizeof(want), "\n#%s %s\n", opt->name,
			 opt->words ? opt->words[opt->def] : number);
		at = strstr(at, "\n\n# ");
		ck_assert_msg(at, "the sample file has no paragraph about %s", opt->name);
		at += 2;
		while (at[1] == ' ')
			at = strchr(at, '\n') + 1;
		ck_assert_msg(!strncmp(at - 1, want, strlen(want)),
			      "expected the line '%s', found '%s'", want, at);
	}
	ck_assert_ptr_null(strstr(at, "\n\n"));
	/* with all options uncommented, their values must still be the defaults */
	for (char *c = strstr(file, "\n#"); c; c = strstr(c + 1, "\n#"))
		if (c[2] != ' ')
			c[1] = ' ';
	ck_assert_int_eq(read_text(file, &o, &err), FTR_OK);
	ck_assert_mem_eq(&o, &def, sizeof(o));
	free(file);
}
END_TEST

/* Returns the paragraph of the manual page that begins with this tag.  The caller frees it. */
static char *paragraph(const char *page, const char *name, const char *tag)
{
	const char *at = strstr(page, tag), *end, *section;

	ck_assert_msg(at, "the page has no paragraph for the option %s", name);
	at++;		/* `tag` begins with a newline, which is not in the paragraph */
	end = strstr(at, "\n.TP\n");
	section = strstr(at, "\n.SH ");
	if (!end || (section && section < end))
		end = section;
	ck_assert_ptr_nonnull(end);
	return strndup(at, (size_t)(end - at) + 1);
}

/* The tag ends with a list of values, "a|b|c".  Check that these are the values of the option. */
static void check_values(const struct ibf_option *o, const char *list)
{
	unsigned int n = 0, listed = 0;

	while (o->words[n])
		n++;
	while (*list != '"') {
		size_t len = strcspn(list, "|\"");
		unsigned int i = 0;

		while (i < n && (strlen(o->words[i]) != len ||
				 strncmp(o->words[i], list, len)))
			i++;
		ck_assert_msg(i < n, "the option %s has no value \"%.*s\"", o->name,
			      (int)len, list);
		listed++;
		list += len;
		list += *list == '|';
	}
	ck_assert_msg(listed == n, "the page lists %u values of the option %s, which has %u",
		      listed, o->name, n);
}

/* Every key has a tagged paragraph in the page, with its values, its default, and whether a new value needs
 * a restart. */
START_TEST(test_man_options)
{
	char *page = slurp("man/ibfattree.conf.5");
	unsigned int n = 0, tags = 0;

	for (const struct ibf_option *o = ibf_option_table; o->name; o++) {
		char want[128], *own, *given;

		n++;
		snprintf(want, sizeof(want), o->words ? "\n.TP\n.BR %s \" " :
						       "\n.TP\n.BI %s \" NUMBER\"",
			 o->name);
		own = paragraph(page, o->name, want);
		if (o->words) {
			check_values(o, own + strlen(want) - 1);
			snprintf(want, sizeof(want), "\nDefault: %s.\n",
				 o->words[o->def]);
		} else {
			snprintf(want, sizeof(want), "\nDefault: %d.\n",
				 o->def);
		}
		given = strstr(own, "\nDefault: ");
		ck_assert_msg(given, "the page does not name the default of %s", o->name);
		ck_assert_msg(!strncmp(given, want, strlen(want)),
			      "the page names a wrong default of %s", o->name);
		ck_assert_msg(!strstr(own, "\nA new value needs a restart of OpenSM.\n") == !o->at_start,
			      "the page does not say when a new value of %s is used", o->name);
		free(own);
	}
	for (char *c = page; (c = strstr(c, "\n.TP\n")); c++)
		tags++;
	ck_assert_uint_eq(tags, n);
	free(page);
}
END_TEST

/* Every message has a tagged paragraph, and the page has no other codes.  The number of a message
 * is unique and encodes its severity. */
START_TEST(test_man_messages)
{
	char *page = slurp("man/ibfattree.7");
	unsigned int tags = 0, last = 0;

	for (unsigned int i = 0; i < IBF_N_MSG; i++) {
		const struct ibf_msg_info *m = &ibf_msg_table[i];
		char want[64];

		ck_assert_uint_gt(m->number, last);
		ck_assert_uint_eq(m->number / 100, m->severity);
		last = m->number;
		snprintf(want, sizeof(want), "\n.TP\n.B IBF%03u\n", m->number);
		ck_assert_msg(strstr(page, want), "the page has no paragraph for IBF%03u",
			      m->number);
	}
	for (char *c = page; (c = strstr(c, "\n.TP\n.B IBF")); c++)
		tags++;
	ck_assert_uint_eq(tags, IBF_N_MSG);
	free(page);
}
END_TEST

/* A hint is given for an engine name in the wrong case or with up to two wrong letters. */
START_TEST(test_hint)
{
	static const char *const none[] = {
		"dmodc", "sftree", "ddlr", "ftree", "minhop", "updn", "dor",
		"nue", "lash", "file", "dnup", "no_fallback", "", "abc",
		"torus-2QoS", "dmodcdmodcdmodcdmodc", "xxxdmodc", "sssp",
		"dnudk", "adnodk",
	};
	static const char *const meant[][2] = {
		{ "dmodcc", "dmodc" }, { "Dmodc", "dmodc" }, { "dmod", "dmodc" },
		{ "dmodk", "dmodc" }, { "DMODC", "dmodc" }, { "sf-tree", "sftree" },
		{ "sftrees", "sftree" }, { "dlr", "ddlr" }, { "ddrl", "ddlr" },
		{ "dnodk", "dmodc" }, { "stree", "sftree" }, { "sfdrees", "sftree" },
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(none); i++)
		ck_assert_msg(!ibf_hint(none[i], strlen(none[i])), "a hint is given for '%s'",
			      none[i]);
	for (size_t i = 0; i < FTR_ARRAY_LEN(meant); i++)
		ck_assert_pstr_eq(ibf_hint(meant[i][0], strlen(meant[i][0])),
				  meant[i][1]);
	ck_assert_pstr_eq(ibf_hint("dmodcc,updn", 6), "dmodc");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("osm_options");
	TCase *t = tcase_create("options");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_good);
	tcase_add_loop_test(t, test_bad, 0, (int)FTR_ARRAY_LEN(bad));
	tcase_add_test(t, test_torn);
	tcase_add_test(t, test_shared_string);
	tcase_add_test(t, test_hint);
	tcase_add_test(t, test_sample);
	tcase_add_test(t, test_man_options);
	tcase_add_test(t, test_man_messages);
	suite_add_tcase(s, t);
	return run_suite(s);
}
