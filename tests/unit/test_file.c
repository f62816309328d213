// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the functions that read and write files in directories where other users may create files,
 * and ftr_text_clean(), which replaces control characters in texts from other users.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/file.h"
#include "io/text.h"
#include "lib/suite.h"
#include "lib/temp.h"
#include <ftr/text.h>

static char dir[TEMP_ROOM], path[80], other[80];
static struct ftr_err err;

/* ---- system calls that fail ------------------------------------------------- */

/* The call that fails next, once.  The linker replaces these calls (--wrap). */
static enum call { NONE, FSTAT, PREAD, FTRUNCATE, CLOSE, FCLOSE, INTERRUPT } next_fails;

static bool fails(enum call c)
{
	if (next_fails != c)
		return false;
	next_fails = NONE;
	errno = c == INTERRUPT ? EINTR : EIO;
	return true;
}

int __real_fstat(int fd, struct stat *sb);
int __wrap_fstat(int fd, struct stat *sb)
{
	return fails(FSTAT) ? -1 : __real_fstat(fd, sb);
}

ssize_t __real_pread(int fd, void *buf, size_t n, off_t at);
ssize_t __wrap_pread(int fd, void *buf, size_t n, off_t at)
{
	return fails(PREAD) ? -1 : __real_pread(fd, buf, n, at);
}

int __real_ftruncate(int fd, off_t size);
int __wrap_ftruncate(int fd, off_t size)
{
	return fails(FTRUNCATE) ? -1 : __real_ftruncate(fd, size);
}

ssize_t __real_write(int fd, const void *buf, size_t n);
ssize_t __wrap_write(int fd, const void *buf, size_t n)
{
	return fails(INTERRUPT) ? -1 : __real_write(fd, buf, n);
}

int __real_close(int fd);
int __wrap_close(int fd)
{
	int failed = __real_close(fd);

	return fails(CLOSE) ? -1 : failed;
}

int __real_fclose(FILE *file);
int __wrap_fclose(FILE *file)
{
	int failed = __real_fclose(file);

	return fails(FCLOSE) ? EOF : failed;
}

static void setup(void)
{
	ck_assert_ptr_nonnull(temp_dir(dir, "test_file"));
	snprintf(path, sizeof(path), "%s/file", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	memset(&err, 0, sizeof(err));
	signal(SIGXFSZ, SIG_IGN);
	alarm(20);	/* an open() of a FIFO could wait for ever */
}

static void teardown(void)
{
	unlink(path);
	unlink(other);
	ck_assert_msg(!rmdir(dir), "files remain in %s", dir);
}

static void put(const char *name, const char *text)
{
	FILE *out = fopen(name, "w");

	ck_assert_ptr_nonnull(out);
	ck_assert_int_ge(fputs(text, out), 0);
	ck_assert(!fclose(out));
}

static void check_content(const char *name, const char *want)
{
	char text[8192];
	FILE *in = fopen(name, "r");
	size_t n;

	ck_assert_ptr_nonnull(in);
	n = fread(text, 1, sizeof(text) - 1, in);
	text[n] = '\0';
	fclose(in);
	ck_assert_str_eq(text, want);
}

static bool fill_new(FILE *out, const void *ctx)
{
	return fputs(ctx, out) >= 0;
}

static bool fill_nothing(FILE *out, const void *ctx)
{
	(void)out;
	(void)ctx;
	errno = ENOSPC;
	return false;
}

/* ---- other objects in place of the file ----------------------------------- */

static void check_refused(const char *why)
{
	char *text;
	size_t len;
	int fd;

	ck_assert_int_eq(ftr_file_append(path, "a\n", 2, &err), FTR_IO);
	ck_assert_msg(strstr(err.msg, why) && strstr(err.msg, path), "%s",
		      err.msg);
	ck_assert_int_eq(ftr_file_open(path, &fd, &err), FTR_IO);
	ck_assert_msg(strstr(err.msg, why), "%s", err.msg);
	ck_assert_int_eq(ftr_slurp(path, true, &text, &len, &err), FTR_IO);
}

START_TEST(fifo)
{
	int reader;

	ck_assert(!mkfifo(path, 0666));
	check_refused("not a regular file");
	/* the FIFO is also refused if a process has opened its other end */
	reader = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(reader, 0);
	check_refused("not a regular file");
	close(reader);
	ck_assert(!ftr_file_replace(path, fill_new, "new\n", &err));
	check_content(path, "new\n");
}
END_TEST

START_TEST(symbolic_link)
{
	put(other, "precious\n");
	ck_assert(!symlink(other, path));
	check_refused("symbolic link");
	check_content(other, "precious\n");
	ck_assert(!ftr_file_replace(path, fill_new, "new\n", &err));
	check_content(path, "new\n");
	check_content(other, "precious\n");
}
END_TEST

START_TEST(hard_link)
{
	put(other, "precious\n");
	ck_assert(!link(other, path));
	ck_assert_int_eq(ftr_file_append(path, "a\n", 2, &err), FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, "hard link"));
	check_content(other, "precious\n");
}
END_TEST

START_TEST(foreign_owner)
{
	if (geteuid()) {
		skip_case("only root can change the owner of a file");
		return;
	}
	put(path, "text\n");
	ck_assert(!chown(path, 65534, 65534));
	check_refused("another user");
}
END_TEST

/* A symbolic link in place of the temporary file is not followed. */
START_TEST(temporary_link)
{
	char tmp[128];

	put(other, "precious\n");
	snprintf(tmp, sizeof(tmp), "%s.%ld.tmp", path, (long)getpid());
	ck_assert(!symlink(other, tmp));
	ck_assert(!ftr_file_replace(path, fill_new, "new\n", &err));
	check_content(path, "new\n");
	check_content(other, "precious\n");
}
END_TEST

START_TEST(missing)
{
	int fd;

	errno = 0;
	ck_assert_int_eq(ftr_file_open(path, &fd, &err), FTR_IO);
	ck_assert_int_eq(errno, ENOENT);
}
END_TEST

/* ---- a file is written completely or not at all --------------------------- */

static void limit_file_size(rlim_t n)
{
	struct rlimit l;

	ck_assert(!getrlimit(RLIMIT_FSIZE, &l));
	l.rlim_cur = n;
	ck_assert(!setrlimit(RLIMIT_FSIZE, &l));
}

/* The disk becomes full at byte n of the second record, for every n.  The file must keep only the
 * first record. */
START_TEST(full_disk)
{
	static const char one[] = "{\"record\":1}\n", two[] = "{\"record\":2}\n";
	const size_t n = sizeof(one) - 1;

	for (size_t room = 0; room < n; room++) {
		unlink(path);
		ck_assert(!ftr_file_append(path, one, n, &err));
		limit_file_size(n + room);
		ck_assert_int_eq(ftr_file_append(path, two, n, &err), FTR_IO);
		limit_file_size(RLIM_INFINITY);
		ck_assert_ptr_nonnull(strstr(err.msg, strerror(EFBIG)));
		check_content(path, one);
	}
	ck_assert(!ftr_file_append(path, two, n, &err));
	check_content(path, "{\"record\":1}\n{\"record\":2}\n");
}
END_TEST

START_TEST(full_disk_replace)
{
	put(path, "old\n");
	limit_file_size(3);
	ck_assert_int_eq(ftr_file_replace(path, fill_new, "new content\n",
					  &err), FTR_IO);
	limit_file_size(RLIM_INFINITY);
	check_content(path, "old\n");
}
END_TEST

/* A crash has cut off a record.  The incomplete record must not become part of the next one. */
START_TEST(torn_record)
{
	char *text = calloc(1, 10001);

	put(path, "{\"record\":1}\n{\"rec");
	ck_assert(!ftr_file_append(path, "{}\n", 3, &err));
	check_content(path, "{\"record\":1}\n{}\n");
	memset(text, 'x', 10000);
	put(path, text);
	ck_assert(!ftr_file_append(path, "{}\n", 3, &err));
	check_content(path, "{}\n");
	free(text);
}
END_TEST

/* A network disk, or a broken one: a system call fails.  The file keeps its complete lines, and the next
 * record is appended to them. */
START_TEST(failing_calls)
{
	static const struct {
		enum call call;
		const char *why, *content;
	} c[] = {
		{ FSTAT, "inspect", "one\nto" },
		{ PREAD, "it does not consist of lines", "one\nto" },
		{ FTRUNCATE, "remove an incomplete line", "one\nto" },
		{ CLOSE, "write", "one\nthree\n" },
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(c); i++) {
		put(path, "one\nto");
		next_fails = c[i].call;
		ck_assert_int_eq(ftr_file_append(path, "three\n", 6, &err), FTR_IO);
		ck_assert_int_eq(next_fails, NONE);
		ck_assert_msg(strstr(err.msg, c[i].why) && strstr(err.msg, path), "%s", err.msg);
		check_content(path, c[i].content);
		ck_assert(!ftr_file_append(path, "four\n", 5, &err));
		check_content(path, c[i].call == CLOSE ? "one\nthree\nfour\n" : "one\nfour\n");
	}
	put(path, "old\n");
	next_fails = FCLOSE;
	ck_assert_int_eq(ftr_file_replace(path, fill_new, "new\n", &err), FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, strerror(EIO)));
	next_fails = FCLOSE;	/* the first error is reported */
	ck_assert_int_eq(ftr_file_replace(path, fill_nothing, NULL, &err), FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, strerror(ENOSPC)));
	check_content(path, "old\n");
}
END_TEST

/* The disk is full, and what was written of the record cannot be removed.  The next record is complete. */
START_TEST(full_disk_keeps_a_torn_record)
{
	put(path, "one\n");
	limit_file_size(6);
	next_fails = FTRUNCATE;
	ck_assert_int_eq(ftr_file_append(path, "two\n", 4, &err), FTR_IO);
	limit_file_size(RLIM_INFINITY);
	ck_assert_ptr_nonnull(strstr(err.msg, "remove an incomplete line"));
	check_content(path, "one\ntw");
	limit_file_size(6);
	next_fails = CLOSE;	/* the first error is reported */
	ck_assert_int_eq(ftr_file_append(path, "two\n", 4, &err), FTR_IO);
	limit_file_size(RLIM_INFINITY);
	ck_assert_ptr_nonnull(strstr(err.msg, strerror(EFBIG)));
	check_content(path, "one\n");
	ck_assert(!ftr_file_append(path, "three\n", 6, &err));
	check_content(path, "one\nthree\n");
}
END_TEST

START_TEST(interrupted_write)
{
	next_fails = INTERRUPT;
	ck_assert(!ftr_file_append(path, "one\n", 4, &err));
	ck_assert_int_eq(next_fails, NONE);
	check_content(path, "one\n");
}
END_TEST

/* A large file without a newline is not a file of records.  It stays as it is. */
START_TEST(no_lines)
{
	struct stat sb;

	put(path, "");
	ck_assert(!truncate(path, ((off_t)4 << 20) + 1));
	ck_assert_int_eq(ftr_file_append(path, "{}\n", 3, &err), FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, "it does not consist of lines"));
	ck_assert(!stat(path, &sb));
	ck_assert_int_eq(sb.st_size, ((off_t)4 << 20) + 1);
}
END_TEST

START_TEST(unix_socket)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, s = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(addr.sun_path, path);
	ck_assert(!bind(s, (struct sockaddr *)&addr, sizeof(addr)));
	ck_assert_int_eq(ftr_file_open(path, &fd, &err), FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, "it is not a regular file"));
	close(s);
}
END_TEST

/* A user appends to a file of his own, and replaces it.  The directory cannot be flushed, because he may
 * not read it. */
START_TEST(own_file)
{
	const bool root = !geteuid();

	ck_assert(!root || !chown(dir, 1234, 1234));
	ck_assert(!root || !seteuid(1234));
	ck_assert(!chmod(dir, 0300));
	ck_assert(!ftr_file_append(path, "a\n", 2, &err));
	ck_assert(!ftr_file_append(path, "b\n", 2, &err));
	check_content(path, "a\nb\n");
	ck_assert(!ftr_file_replace(path, fill_new, "new\n", &err));
	check_content(path, "new\n");
	ck_assert(!root || !seteuid(0));
	ck_assert(!chmod(dir, 0700));
}
END_TEST

/* An error of write(), which fflush() does not report again. */
static bool fill_unbuffered(FILE *out, const void *ctx)
{
	setvbuf(out, NULL, _IONBF, 0);
	fputs(ctx, out);
	return true;
}

/* The new content cannot be made or written; the name is too long; the directory does not exist; a
 * directory has the name of the file. */
START_TEST(no_replacement)
{
	char name[PATH_MAX + 1];

	put(path, "old\n");
	ck_assert_int_eq(ftr_file_replace(path, fill_nothing, NULL, &err), FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, strerror(ENOSPC)));
	limit_file_size(3);
	ck_assert_int_eq(ftr_file_replace(path, fill_unbuffered, "new content\n", &err), FTR_IO);
	limit_file_size(RLIM_INFINITY);
	check_content(path, "old\n");
	memset(name, 'x', sizeof(name));
	name[PATH_MAX - 2] = '\0';
	ck_assert_int_eq(ftr_file_replace(name, fill_new, "new\n", &err), FTR_IO);
	snprintf(name, sizeof(name), "%s/none/file", dir);
	ck_assert_int_eq(ftr_file_replace(name, fill_new, "new\n", &err), FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, strerror(ENOENT)));
	unlink(path);
	ck_assert(!mkdir(path, 0700));
	ck_assert_int_eq(ftr_file_replace(path, fill_new, "new\n", &err), FTR_IO);
	ck_assert_ptr_nonnull(strstr(err.msg, strerror(EISDIR)));
	ck_assert(!rmdir(path));
}
END_TEST

/* ---- bounded input -------------------------------------------------------- */

START_TEST(sparse)
{
	char *text;
	size_t len;

	put(path, "");
	ck_assert(!truncate(path, (off_t)6 << 30));
	ck_assert_int_eq(ftr_slurp(path, false, &text, &len, &err), FTR_LIMIT);
	ck_assert(!truncate(path, FTR_SLURP_MAX));
	ck_assert_int_eq(ftr_slurp(path, false, &text, &len, &err), FTR_PARSE);
	ck_assert_ptr_nonnull(strstr(err.msg, "NUL"));
}
END_TEST

/* ---- text ----------------------------------------------------------------- */

START_TEST(cleaned_text)
{
	static const struct {
		const char *in, *out;
	} t[] = {
		{ "", "" },
		{ "plain text, \"quoted\" \\", "plain text, \"quoted\" \\" },
		{ "a\nb\tc\r\033[31m\x7f", "a?b?c??[31m?" },
		/* control characters beyond ASCII: CSI (U+009B), NEL (U+0085) */
		{ "a\xc2\x9b" "31m\xc2\x85", "a?31m?" },
		{ "\xc2\xa0\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
		  "\xc2\xa0\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
		/* Unicode: direction overrides, isolates and marks; line separators */
		{ "x\xe2\x80\xaey\xe2\x81\xa6z\xe2\x80\x8f\xd8\x9c\xe2\x80\xa8",
		  "x?y?z???" },
		{ "x\xe2\x80\x8ey", "x?y" },
		/* invalid UTF-8: a stray byte, an overlong form, a surrogate, an incomplete
		 * sequence */
		{ "\xff-\xc0\xaf-\xed\xa0\x80-\xe2\x82", "?-" "?\?-" "?\?\?-" "?\?" },
		{ "\xf4\x90\x80\x80", "????" },
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(t); i++) {
		char s[64];

		strcpy(s, t[i].in);
		ck_assert_str_eq(ftr_text_clean(s), t[i].out);
		ck_assert_str_eq(ftr_text_clean(s), t[i].out);
	}
}
END_TEST

START_TEST(clean_everywhere)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_fabric *f;

	ftr_fail(&err, FTR_IO, "no \033]0;title\007 %s", "\xe2\x80\xae" "x\n");
	ck_assert_str_eq(err.msg, "no ?]0;title? ?x?");
	ftr_err_prefix(&err, "%s", "\x9b");
	ck_assert_str_eq(err.msg, "?: no ?]0;title? ?x?");
	ck_assert(!ftr_builder_add_switch(b, &(struct ftr_switch){
		.guid = 1, .n_ports = 4, .lid = 1, .name = "sp\xc3\xa4t\n1",
	}, &err));
	ck_assert(!ftr_builder_add_endport(b, &(struct ftr_endport){
		.type = FTR_NODE_CA, .node_guid = 2, .guid = 3, .port_num = 1, .lid = 2,
		.name = "\033[2JAggregation Node",
	}, &err));
	ck_assert(!ftr_builder_freeze(b, &f, &err));
	ck_assert_str_eq(f->sw[0].name, "sp\xc3\xa4t?1");
	ck_assert_str_eq(f->ep[0].name, "?[2JAggregation Node");
	ftr_fabric_free(f);
	ck_assert_str_eq(ftr_quote("\xc3\xa4\033", 3).s, "\xc3\xa4?");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("file");
	TCase *t = tcase_create("all");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, fifo);
	tcase_add_test(t, symbolic_link);
	tcase_add_test(t, hard_link);
	tcase_add_test(t, foreign_owner);
	tcase_add_test(t, temporary_link);
	tcase_add_test(t, missing);
	tcase_add_test(t, full_disk);
	tcase_add_test(t, full_disk_replace);
	tcase_add_test(t, torn_record);
	tcase_add_test(t, failing_calls);
	tcase_add_test(t, full_disk_keeps_a_torn_record);
	tcase_add_test(t, interrupted_write);
	tcase_add_test(t, no_lines);
	tcase_add_test(t, unix_socket);
	tcase_add_test(t, own_file);
	tcase_add_test(t, no_replacement);
	tcase_add_test(t, sparse);
	tcase_add_test(t, cleaned_text);
	tcase_add_test(t, clean_everywhere);
	suite_add_tcase(s, t);
	return run_suite(s);
}
