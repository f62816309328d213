// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the search process: a search that succeeds, and processes that fail in every way.  The
 * plugin must report one failure, keep its tables, leave no child and no open file, and wait before
 * the next search.
 */
#include <check.h>
#include <sys/wait.h>

#include "fake/opensm.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "unit/bad_helper.h"

/* An irregular tree, in which the search moves 19 entries. */
static struct fake *start(void)
{
	struct ftr_rng rng;

	ftr_rng_seed(&rng, 5);
	return fake_new(&(struct fake_opts){
		.fabric = trees_irregular(&rng), .options = "balance full\n",
	});
}

static struct ibf_engine *engine(struct fake *h)
{
	return ((struct ibf_plugin *)h->plugin)->routed;
}

static void await(struct fake *h)
{
	struct ibf_prefer *r = &engine(h)->prefer;

	fake_until(!r->search || ibf_search_done(r->search));
}

static void swept(struct fake *h)
{
	ck_assert(fake_sweep(h));
	fake_settle(h);
}

static const struct bad {
	const char *script, *says;
} bad[] = {
	{ "kill -9 $$", "it was ended by signal 9" },
	{ "kill -SEGV $$", "it was ended by signal 11" },
	{ "exit 3", "it ended with status 3" },
	{ "read -N1 -u3; exit 0", "the first line is not" },
	{ "cat /proc/self/exe | head -c 100000", "the first line is not" },
	{ "$REAL \"$@\"; printf x", "its result is incomplete" },
	{ "exec $BAD crash 1 0 \"$@\"", "it was ended by signal" },
	{ "exec $BAD flip 1 0 \"$@\"", "its result is damaged" },
	{ "exec $BAD error 1 0 \"$@\"", "failed: out of ? luck;" },
	{ "exec $BAD memory 1 0 \"$@\"", "it was ended by signal 6" },
	{ "$REAL \"$@\" | tr '\\001' '\\002'", "its result is damaged" },
	{ "$REAL \"$@\" | head -c 500", "its result is incomplete" },
	{ "echo garbage | $REAL \"$@\"", "the request: file of" },
	{ "ulimit -v 1000; exec $REAL \"$@\"", "search for better tables failed" },
	{ "ulimit -f 0; exec $REAL \"$@\"", "search for better tables failed" },
	{ "ulimit -t 1; while :; do :; done", "it was ended by signal" },
	{ "kill -STOP $$", "it did not end within 1 s" },
};

START_TEST(fails)
{
	unsigned int files;
	uint8_t *before;
	struct fake *h;
	size_t size;
	double retry;

	use_script("search", bad[_i].script);
	/* the last process never ends */
	ck_assert(!setenv("IBFATTREE_HELPER_SECONDS",
			  _i + 1 == (int)(sizeof(bad) / sizeof(bad[0])) ? "1" : "3600", 1));
	h = start();
	size = h->fab->max_lid + 1u;
	before = malloc(size);
	ck_assert_ptr_nonnull(before);
	memcpy(before, h->sw[0].lft, size);
	files = open_files();
	await(h);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "WRN IBF122"), 1);
	ck_assert_msg(fake_logged(h, bad[_i].says) >= 1, "the log does not say '%s': %s",
		      bad[_i].says, h->log);
	swept(h);
	ck_assert_ptr_null(engine(h)->prefer.search);	/* waits before the next search */
	ck_assert_uint_le(open_files(), files);
	ck_assert(!memcmp(before, h->sw[0].lft, size));
	ck_assert_uint_eq(fake_logged(h, "WRN IBF122"), 1);
	retry = engine(h)->prefer.retry;
	ck_assert(retry > ibf_now_ms());
	/* the next search succeeds */
	use_real_helper();
	engine(h)->prefer.retry = 0;
	swept(h);
	await(h);
	swept(h);
	ck_assert_uint_ge(fake_logged(h, "IBF008: dmodc: search done"), 1);
	ck_assert_uint_eq(engine(h)->prefer.failures, 0);
	fake_check_healed(h);
	free(before);
	fake_free(h);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

START_TEST(missing)
{
	struct fake *h;

	ck_assert(!setenv("IBFATTREE_HELPER", "/nonexistent/ibfattree-helper", 1));
	h = start();
	await(h);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "search for better tables failed: /nonexistent/ibfattree-helper does not start"), 1);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The plugin ends while a search runs: the process is killed. */
START_TEST(cancelled)
{
	struct fake *h;

	use_script("search", "kill -STOP $$");
	h = start();
	ck_assert_ptr_nonnull(engine(h)->prefer.search);
	fake_free(h);
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	use_real_helper();
}
END_TEST

/* One bit of a result is wrong, and its checksum is correct.  The result is refused, or its tables
 * have no loop and no credit loop. */
START_TEST(changed)
{
	unsigned int refused = 0, used = 0;

	for (unsigned int i = 0; i < 60; i++) {
		char text[64];
		struct fake *h;

		snprintf(text, sizeof(text), "exec $BAD change 1 %u \"$@\"", i * 7);
		use_script("search", text);
		h = start();
		await(h);
		swept(h);
		refused += fake_logged(h, "its tables have a loop, a wrong path or a credit loop");
		used += fake_logged(h, "IBF008: dmodc: search done") == 1;
		fake_check_sound(h);
		fake_free(h);
		use_real_helper();
	}
	ck_assert(refused && used);
}
END_TEST

/* What the checker says about the result, in addition; FTR_N_FINDINGS: a credit loop; -1: memory is
 * exhausted. */
static const int verdicts[] = {
	FTR_FIND_LOOP, FTR_FIND_WRONG_END, FTR_FIND_DEAD_PORT, FTR_N_FINDINGS, -1,
};
static const int *verdict;

enum ftr_status __real_ftr_check_tables(const struct ftr_fabric *f, const struct ftr_tables *t,
					const struct ftr_check_opts *opts, struct ftr_team *team,
					struct ftr_check_report *r, struct ftr_err *err);
enum ftr_status __wrap_ftr_check_tables(const struct ftr_fabric *f, const struct ftr_tables *t,
					const struct ftr_check_opts *opts, struct ftr_team *team,
					struct ftr_check_report *r, struct ftr_err *err)
{
	enum ftr_status st = __real_ftr_check_tables(f, t, opts, team, r, err);

	if (st || opts || !verdict)	/* routings have options */
		return st;
	if (*verdict < 0)
		return ftr_fail(err, FTR_NOMEM, "out of memory: the judge");
	if (*verdict == FTR_N_FINDINGS)
		r->cdg = FTR_CDG_CYCLE;
	else
		r->found[*verdict] = 1;
	return st;
}

/* A result with bad tables is refused, whatever is wrong. */
START_TEST(judged)
{
	const char *says = verdicts[_i] < 0 ? "out of memory: the judge" :
		"its tables have a loop, a wrong path or a credit loop";
	struct fake *h;

	verdict = &verdicts[_i];
	h = start();
	await(h);
	fake_settle(h);
	ck_assert_uint_eq(fake_logged(h, "WRN IBF122"), 1);
	ck_assert_msg(fake_logged(h, says) == 1, "%s", h->log);
	swept(h);
	ck_assert_uint_eq(fake_logged(h, "IBF008: dmodc: search done"), 0);
	verdict = NULL;
	engine(h)->prefer.retry = 0;
	swept(h);
	await(h);
	swept(h);
	ck_assert_uint_eq(fake_logged(h, "IBF008: dmodc: search done"), 1);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The result is applied, or is stored if there is none better; then no second search runs, neither
 * without nor after a handover. */
START_TEST(succeeds)
{
	struct fake *h = _i ? fake_new(&(struct fake_opts){
		.pgft = "2;4,4;1,4;1,1", .options = "balance full\n",
	}) : start();

	for (int k = 0; k < 2; k++) {
		await(h);
		swept(h);
	}
	ck_assert_uint_eq(fake_logged(h, "IBF008: dmodc: search done"), 1);
	ck_assert_uint_eq(fake_logged(h, "IBF122"), 0);
	h->osm->subn.coming_out_of_standby = TRUE;
	swept(h);
	ck_assert_int_eq(engine(h)->prefer.stage, IBF_SEARCHED);
	ck_assert_ptr_null(engine(h)->prefer.search);
	ck_assert_uint_eq(fake_logged(h, "IBF008: dmodc: search done"), 1);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* The tables of all switches. */
static uint8_t *tables(const struct fake *h)
{
	size_t size = h->fab->max_lid + 1u;
	uint8_t *t = malloc(h->fab->n_sw * size);

	ck_assert_ptr_nonnull(t);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		memcpy(t + s * size, h->sw[s].lft, size);
	return t;
}

/* Hosts are off when the result is applied.  When they are back, they have the entries of the result,
 * like in a fabric in which they were never off.  Case 1: all hosts of a switch are off. */
START_TEST(hosts_missing)
{
	uint8_t *wanted = NULL;

	for (int off = 0; off < 2; off++) {
		struct fake *h = start();
		const struct ftr_endport *ep = h->fab->ep;
		size_t size = h->fab->n_sw * (h->fab->max_lid + 1u);
		uint8_t *before = tables(h), *after;
		const ftr_ep one = h->fab->n_ep - 1;

		ck_assert_uint_ne(ep[one].sw, ep[h->sm].sw);
		await(h);
		for (ftr_ep e = 0; off && e < h->fab->n_ep; e++)
			if (e == one || (_i && ep[e].sw == ep[one].sw))
				fake_host(h, e, false);
		swept(h);
		ck_assert_uint_eq(fake_logged(h, "IBF008: dmodc: search done"), 1);
		ck_assert_int_eq(ftr_fabric_find_ep(engine(h)->gen->fabric, ep[one].guid) ==
				 FTR_EP_NONE, off);
		for (ftr_ep e = 0; off && e < h->fab->n_ep; e++)
			fake_host(h, e, true);
		swept(h);
		after = tables(h);
		ck_assert(memcmp(before, after, size));
		ck_assert(!wanted || !memcmp(wanted, after, size));
		free(wanted);
		wanted = after;
		free(before);
		fake_check_healed(h);
		fake_free(h);
	}
	free(wanted);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("search process");
	TCase *c = tcase_create("all");

	if (!find_helper())
		return 77;
	tcase_add_loop_test(c, fails, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(c, missing);
	tcase_add_test(c, cancelled);
	tcase_add_test(c, changed);
	tcase_add_loop_test(c, judged, 0, (int)FTR_ARRAY_LEN(verdicts));
	tcase_add_loop_test(c, succeeds, 0, 2);
	tcase_add_loop_test(c, hosts_missing, 0, 2);
	suite_add_tcase(s, c);
	return run_suite(s);
}
