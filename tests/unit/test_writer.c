// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the writer.  A call that queues a job never waits, the length of the queue is limited, and
 * OpenSM can exit while a write hangs.  The process that writes the files is killed, crashes, stalls,
 * lacks memory or CPU time, or returns anything: one message, and the next process writes on.
 */
#include <sys/wait.h>

#include "fake/opensm.h"
#include "lib/suite.h"
#include "osm/writer.h"
#include "unit/bad_helper.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint ran, freed;
static unsigned int n_put;

/* Runs on the writer's thread. */
static bool fill(FILE *out, const void *text)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	atomic_fetch_add(&ran, 1);
	return ibf_fill_text(out, text);
}

static void release(void *ctx)
{
	free(ctx);
	atomic_fetch_add(&freed, 1);
}

/* Queue a line with the number of the job, from 0. */
static void put(struct fake *h, const char *name, bool append)
{
	const struct ibf_job j = {
		.msg = IBF_EVENT_FILE, .bytes = 100, .fill = fill,
		.path = ftr_asprintf("%s/%s", h->dir, name), .append = append,
		.release = release, .ctx = ftr_asprintf("%u\n", n_put++),
	};

	ck_assert(j.path && j.ctx);
	ck_assert(ibf_writer_put(((struct ibf_plugin *)h->plugin)->writer, &j));
}

/* The numbers in a file, each followed by a space. */
static const char *content(struct fake *h, const char *name)
{
	static char text[4096];
	char path[256];
	size_t n;
	FILE *in;

	fake_flush(h);
	snprintf(path, sizeof(path), "%s/%s", h->dir, name);
	in = fopen(path, "r");
	n = in ? fread(text, 1, sizeof(text) - 1, in) : 0;
	text[n] = '\0';
	for (char *c = text; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	if (in)
		fclose(in);
	return text;
}

/* The first process is killed, so that the next job starts another one, by this script (NULL:
 * ibfattree-helper). */
static struct fake *start(const char *script, bool real_time)
{
	struct fake *h;

	use_mortal_helper("files");
	h = fake_new(&(struct fake_opts){
		.pgft = "2;2,2;1,2;1,1", .options = "status_files off\n", .real_time = real_time
	});
	fake_flush(h);
	kill_helper();
	use_real_helper();
	if (script)
		use_script("files", script);
	atomic_store(&ran, 0);
	atomic_store(&freed, 0);
	n_put = 0;
	return h;
}

/* No process may be left. */
static void finish(struct fake *h)
{
	static const char *const name[] = { "lines", "file" };
	char path[256];

	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", h->dir, name[i]);
		unlink(path);
	}
	fake_free(h);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	use_real_helper();
}

START_TEST(bounded)
{
	struct fake *h = start(NULL, true);

	pthread_mutex_lock(&gate);
	for (int i = 0; i < IBF_WRITER_JOBS + 51; i++)
		put(h, "lines", true);
	ck_assert_uint_eq(fake_logged(h, "the queue is full"), 1);
	pthread_mutex_unlock(&gate);
	fake_flush(h);
	/* the queue was full, so jobs were dropped; the writer may have taken one job before */
	ck_assert_uint_ge(ran, IBF_WRITER_JOBS);
	ck_assert_uint_le(ran, IBF_WRITER_JOBS + 1);
	ck_assert_uint_eq(fake_logged(h, "lost meanwhile: "), 1);
	finish(h);
	ck_assert_uint_eq(freed, IBF_WRITER_JOBS + 51);
}
END_TEST

/* A text that is larger than the limit of the queue is lost.  While a job runs, a flush gives up. */
START_TEST(too_large)
{
	struct fake *h = start(NULL, true);
	struct ibf_writer *w = ((struct ibf_plugin *)h->plugin)->writer;
	const struct ibf_job large = {
		.msg = IBF_EVENT_FILE, .bytes = IBF_WRITER_BYTES + 1, .fill = fill, .append = true,
		.path = ftr_asprintf("%s/lines", h->dir), .release = release, .ctx = ftr_asprintf("large"),
	};

	ck_assert(ibf_writer_put(w, &large));
	ck_assert_uint_eq(fake_logged(h, "the queue is full"), 1);
	ck_assert_uint_eq(freed, 1);
	pthread_mutex_lock(&gate);
	put(h, "lines", true);
	for (int i = 0; i < 20; i++)
		ck_assert(!ibf_writer_flush(w, 2));
	pthread_mutex_unlock(&gate);
	ck_assert_str_eq(content(h, "lines"), "0 ");
	finish(h);
}
END_TEST

/* Of several queued jobs that replace the same file, only the last is written. */
START_TEST(newest_counts)
{
	struct fake *h = start(NULL, true);

	pthread_mutex_lock(&gate);
	put(h, "lines", true);
	for (int i = 0; i < 5000; i++)
		put(h, "file", false);
	put(h, "lines", true);
	pthread_mutex_unlock(&gate);
	ck_assert_str_eq(content(h, "file"), "5000 ");
	ck_assert_str_eq(content(h, "lines"), "0 5001 ");
	/* the writer may have taken the first job for "file" before the second was queued */
	ck_assert_uint_le(ran, 4);
	ck_assert_uint_ge(ran, 3);
	ck_assert_uint_eq(freed, 5002);
	finish(h);
}
END_TEST

START_TEST(series_of_failures)
{
	struct fake *h = start(NULL, true);

	for (int i = 0; i < 10; i++)
		put(h, "nowhere/lines", true);
	fake_flush(h);
	ck_assert_uint_eq(fake_logged(h, "nowhere/lines: cannot open: No such file or directory"), 1);
	put(h, "lines", true);
	fake_flush(h);
	ck_assert_uint_eq(fake_logged(h, "lost meanwhile: 10 records"), 1);
	put(h, "nowhere/lines", false);
	fake_flush(h);
	fake_unload(h);
	ck_assert_uint_eq(fake_logged(h, "not written before the end of OpenSM: 1 record"), 1);
	finish(h);
}
END_TEST

static const struct bad {
	const char *script, *says;
	bool written;	/* the first job was done, although its result was not received */
	bool works;	/* the process has not failed */
} bad[] = {
	{ "kill -9 $$", "it was ended by signal 9", false, false },
	{ "exit 3", "it ended with status 3", false, false },
	{ "exit 0", "it ended with status 0", false, false },
	{ "read -N1 -u3; printf garbage; printf x >&3; read -N1 -u3",
		"its result: the first line is not", false, false },
	{ "exec $BAD crash 1 0 \"$@\"", "it was ended by signal", true, false },
	{ "exec $BAD flip 1 0 \"$@\"", "its result is damaged", true, false },
	{ "exec $BAD cut 1 0 \"$@\"", "its result is incomplete", true, false },
	{ "exec $BAD error 1 0 \"$@\"", "out of ? luck", true, true },
	{ "exec $BAD memory 1 0 \"$@\"", "it was ended by signal 6", true, false },
	{ "ulimit -v 1000; exec $REAL \"$@\"", "the process that writes files failed: it ", false, false },
	/* with a limit of 1 s */
	{ "kill -STOP $$", "it did not answer within 1000 ms", false, false },
};

#define N_BAD ((int)(sizeof(bad) / sizeof(bad[0])))

START_TEST(fails)
{
	unsigned int files;
	struct fake *h;
	double t0;

	h = start(bad[_i].script, false);
	files = open_files();
	if (_i == N_BAD - 1)
		ck_assert(!setenv("IBFATTREE_HELPER_SECONDS", "1", 1));
	put(h, "lines", true);
	fake_flush(h);
	ck_assert_uint_eq(fake_logged(h, "WRN IBF112"), 1);
	ck_assert_msg(fake_logged(h, bad[_i].says) == 1, "the log does not say '%s': %s",
		      bad[_i].says, h->log);
	ck_assert(!setenv("IBFATTREE_HELPER_SECONDS", "600", 1));
	use_real_helper();
	t0 = ibf_now_ms();
	put(h, "lines", true);
	put(h, "file", false);
	put(h, "file", false);
	ck_assert_str_eq(content(h, "lines"), bad[_i].written ? "0 1 " : "1 ");
	ck_assert_str_eq(content(h, "file"), "3 ");
	ck_assert(bad[_i].works || ibf_now_ms() > t0 + IBF_WRITER_PAUSE_MS / 2);
	ck_assert_uint_eq(fake_logged(h, "lost meanwhile: 1 record"), 1);
	ck_assert_uint_le(open_files(), files + 3);
	finish(h);
}
END_TEST

/* A process that is killed while it has nothing to do is replaced, and no record is lost. */
START_TEST(killed)
{
	struct fake *h = start(NULL, false);

	put(h, "lines", true);
	ck_assert_str_eq(content(h, "lines"), "0 ");
	ck_assert_uint_eq(fake_logged(h, "WRN"), 0);
	finish(h);
}
END_TEST

/* OpenSM ends while a write hangs. */
START_TEST(hung_write)
{
	struct fake *h = start("kill -STOP $$", true);

	put(h, "lines", true);
	put(h, "lines", true);
	fake_unload(h);
	ck_assert_uint_eq(fake_logged(h, "a write has not ended"), 1);
	ck_assert_uint_eq(freed, 2);
	finish(h);
}
END_TEST

static atomic_bool queued;

/* OpenSM ends while the text of the first file is made, before there is a process. */
static void *open_late(void *ctx)
{
	struct fake *h = ctx;

	pthread_mutex_lock(&gate);
	put(h, "lines", true);
	atomic_store(&queued, true);
	while (!fake_logged(h, "a write has not ended"))
		usleep(1000);
	pthread_mutex_unlock(&gate);
	return NULL;
}

START_TEST(ends_before_process)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "2;2,2;1,2;1,1", .options = "status_files off\n", .real_time = true, .not_up = true,
	});
	pthread_t late;

	atomic_store(&freed, 0);
	n_put = 0;
	ck_assert(!pthread_create(&late, NULL, open_late, h));
	while (!atomic_load(&queued))
		usleep(1000);
	fake_unload(h);
	ck_assert(!pthread_join(late, NULL));
	ck_assert_uint_eq(freed, 1);
	ck_assert_msg(fake_logged(h, "failed: OpenSM ends") == 1, "%s", h->log);
	finish(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("writer");
	TCase *t = tcase_create("all");

	if (!find_helper())
		return 77;
	tcase_add_test(t, bounded);
	tcase_add_test(t, too_large);
	tcase_add_test(t, newest_counts);
	tcase_add_test(t, series_of_failures);
	tcase_add_loop_test(t, fails, 0, N_BAD);
	tcase_add_test(t, killed);
	tcase_add_test(t, hung_write);
	tcase_add_test(t, ends_before_process);
	suite_add_tcase(s, t);
	return run_suite(s);
}
