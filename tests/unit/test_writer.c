// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the writer, the plugin's thread that writes files.  A call that queues a job never waits,
 * the length of the queue is limited, and OpenSM can exit while a write hangs.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "lib/suite.h"
#include "osm/writer.h"

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static atomic_uint ran, freed;
static atomic_uint last;	/* number of the job that ran last */
static unsigned int n_put;

struct test_job {
	unsigned int number;	/* from 0, in the order of the calls of put() */
	bool fails;
};

static enum ftr_status run_test_writer(const char *path, void *ctx, struct ftr_err *err)
{
	const struct test_job *j = ctx;

	(void)path;
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	atomic_fetch_add(&ran, 1);
	atomic_store(&last, j->number);
	if (j->fails)
		return ftr_fail(err, FTR_IO, "the disk is full");
	return FTR_OK;
}

static void release(void *ctx)
{
	free(ctx);
	atomic_fetch_add(&freed, 1);
}

static void put(struct fake *h, const char *replaces, enum ftr_status result)
{
	struct test_job *t = calloc(1, sizeof(*t));
	const struct ibf_job j = {
		.msg = IBF_EVENT_FILE, .bytes = 100, .write = run_test_writer,
		.path = strdup(replaces ? replaces : "/another"), .replaces = replaces,
		.release = release, .ctx = t,
	};

	ck_assert_ptr_nonnull(t);
	t->number = n_put++;
	t->fails = result;
	ck_assert(ibf_writer_put(((struct ibf_plugin *)h->plugin)->writer, &j));
}

static struct fake *start(void)
{
	atomic_store(&ran, 0);
	atomic_store(&freed, 0);
	n_put = 0;
	return fake_new(&(struct fake_opts){
		.pgft = "2;2,2;1,2;1,1", .real_time = true
	});
}

START_TEST(bounded)
{
	struct fake *h = start();

	fake_flush(h);
	pthread_mutex_lock(&gate);
	for (int i = 0; i < IBF_WRITER_JOBS + 51; i++)
		put(h, NULL, FTR_OK);
	ck_assert_uint_eq(fake_logged(h, "the queue is full"), 1);
	pthread_mutex_unlock(&gate);
	fake_flush(h);
	/* the queue was full, so jobs were dropped; the writer may have taken one job before */
	ck_assert_uint_ge(ran, IBF_WRITER_JOBS);
	ck_assert_uint_le(ran, IBF_WRITER_JOBS + 1);
	ck_assert_uint_eq(fake_logged(h, "lost meanwhile: "), 1);
	fake_free(h);
	ck_assert_uint_eq(freed, IBF_WRITER_JOBS + 51);
}
END_TEST

/* Of several queued jobs that replace the same file, only the last is written. */
START_TEST(newest_counts)
{
	struct fake *h = start();

	fake_flush(h);
	pthread_mutex_lock(&gate);
	put(h, NULL, FTR_OK);
	for (int i = 0; i < 5000; i++)
		put(h, "/file", FTR_OK);
	pthread_mutex_unlock(&gate);
	fake_flush(h);
	/* the writer may have taken the first job for /file before the second was queued */
	ck_assert_uint_le(ran, 3);
	ck_assert_uint_ge(ran, 2);
	ck_assert_uint_eq(last, n_put - 1);
	ck_assert_uint_eq(freed, 5001);
	fake_free(h);
}
END_TEST

START_TEST(series_of_failures)
{
	struct fake *h = start();

	for (int i = 0; i < 10; i++)
		put(h, NULL, FTR_IO);
	fake_flush(h);
	ck_assert_uint_eq(fake_logged(h, "the disk is full"), 1);
	put(h, NULL, FTR_OK);
	fake_flush(h);
	ck_assert_uint_eq(fake_logged(h, "lost meanwhile: 10 records"), 1);
	put(h, NULL, FTR_IO);
	fake_flush(h);
	fake_unload(h);
	ck_assert_uint_eq(fake_logged(h, "not written before the end of OpenSM: 1 record"), 1);
	fake_free(h);
}
END_TEST

START_TEST(hung_write)
{
	struct fake *h = start();

	fake_flush(h);
	pthread_mutex_lock(&gate);
	put(h, NULL, FTR_OK);
	put(h, NULL, FTR_OK);
	fake_unload(h);	/* returns, although a job still waits for the mutex `gate` */
	ck_assert_uint_eq(ran, 0);
	ck_assert_uint_eq(fake_logged(h, "a write has not ended"), 1);
	fake_free(h);
	pthread_mutex_unlock(&gate);
	/* the writer's thread must end although the plugin was freed */
	while (atomic_load(&freed) < 2)
		usleep(1000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("writer");
	TCase *t = tcase_create("all");

	tcase_add_test(t, bounded);
	tcase_add_test(t, newest_counts);
	tcase_add_test(t, series_of_failures);
	tcase_add_test(t, hung_write);
	suite_add_tcase(s, t);
	return run_suite(s);
}
