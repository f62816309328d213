// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The messages to and from the processes of the plugin (helper/job.h): complete, cut off, with changed
 * bytes, and with failing allocations.  Then the processes themselves: too few files, a process that
 * does not end, and requests that the plugin never sends.
 *
 * The memory of a request that was read is never freed, so LeakSanitizer is off.
 */
int helper_main(int argc, char **argv);
#define main helper_main
#include "helper/main.c"
#undef main

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/job.h"
#include "lib/alloc.h"
#include "lib/suite.h"
#include "lib/trees.h"
#include "unit/bad_helper.h"

/* A process of the plugin never frees a request.  Called by the run-time library of the sanitizer. */
const char *__asan_default_options(void) __attribute__((visibility("default")));
const char *__asan_default_options(void)
{
	return "detect_leaks=0:allocator_may_return_null=1";
}

static struct ftr_err err;
static struct ftr_fabric *f;
static struct ftr_nominal *nominal;
static struct ftr_shape *sh;
static struct ftr_tables *t;

static void ok(enum ftr_status st)
{
	ck_assert_msg(!st, "%s", err.msg);
}

static void make_parts(void)
{
	struct ftr_pgft g;

	ok(ftr_pgft_parse("2;2,2;1,2;1,2", &g, &err));
	f = trees_grow(&g, 1, 0);
	ok(ftr_nominal_new(f, NULL, NULL, &nominal, NULL, &err));
	ok(ftr_shape_new(f, NULL, NULL, &sh, &err));
	ok(ftr_tables_new(f, false, &t, &err));
	ok(ftr_engine_find("ddlr")->route(sh, NULL, NULL, t, NULL, &err));
}

/* ---- messages ------------------------------------------------------------------------ */

static struct search_job a_job(const char *engine)
{
	static uint64_t guid[] = { 1, 2, 3 };
	static ftr_sw sm[] = { 0, 1 };
	struct search_job j = {
		.shape = { .roots = { guid, 1 }, .cn = { guid, 3 }, .io = { guid, 2 } },
		.nominal = nominal, .f = f,
		.opts = { .sm_switch = 0, .sm = sm, .n_sm = 2, .balance = FTR_BALANCE_FULL },
		.keep = { .prefer = t, .current = t }, .given = true,
	};

	strcpy(j.engine, engine);
	return j;
}

static void put_a_job(struct ftr_out *o)
{
	struct search_job j = a_job("dmodc");

	put_search(o, &j);
}

static enum ftr_status get_a_job(struct ftr_in *in)
{
	struct search_job j;
	struct ftr_shape *s;

	return ftr_in_end(in, get_search(in, &j, &s, &err), &err);
}

static void put_result(struct ftr_out *o)
{
	struct ftr_kept k = { .t = t };

	put_found(o, f, &k);
}

static enum ftr_status get_result(struct ftr_in *in)
{
	struct ftr_kept k = { .t = NULL };
	enum ftr_status st = ftr_in_end(in, get_found(in, f, &k, &err), &err);

	ftr_tables_free(k.t);
	return st;
}

static void put_a_planner(struct ftr_out *o)
{
	put_planner(o, sh, t, NULL);
}

static void put_planner_with_vls(struct ftr_out *o)
{
	struct ftr_vl_pairs pairs = { .straight = { 0 }, .turn = { 1 }, .n = 1 };

	put_planner(o, sh, t, &pairs);
}

static enum ftr_status get_a_planner(struct ftr_in *in)
{
	struct ftr_ddlr *r = NULL;
	const struct ftr_fabric *g;

	return get_planner(in, &r, &g, &err);
}

static void put_some_events(struct ftr_out *o)
{
	struct ftr_hop ev[20];
	ftr_port p = 1;

	while (ftr_fabric_port(f, 0, p)->peer_kind != FTR_PEER_SW)
		p++;
	for (int i = 0; i < 20; i++)
		ev[i] = (struct ftr_hop){ 0, p };
	put_events(o, ev, 20);
}

static void put_a_transition(struct ftr_out *o)
{
	put_transition(o, f, t, true, 1000);
}

static enum ftr_status get_a_plan_job(struct ftr_in *in)
{
	struct ftr_ddlr_plan plan = { .n = 0 };
	struct ftr_ddlr *r = NULL;
	enum ftr_status st = ftr_ddlr_new(sh, t, NULL, false, &r, &err);

	st = st ? ftr_in_end(in, st, &err) : get_plan_job(in, r, f, &plan, &err);
	ftr_ddlr_plan_fini(&plan);
	ftr_ddlr_free(r);
	return st;
}

static void put_a_plan(struct ftr_out *o)
{
	struct ftr_change w[60];
	struct ftr_ddlr_plan plan = { .write = w, .done = true };

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int lid = 1; lid <= f->max_lid && plan.n < 60; lid++)
			if (f->owner[lid].kind == FTR_OWNER_EP)
				w[plan.n++] = (struct ftr_change){
					.step = (uint16_t)(1 + s), .sw = s, .lid = (ftr_lid)lid,
					.after = ftr_tables_row(t, s)[lid],
				};
	put_plan(o, &plan);
}

static enum ftr_status get_a_plan(struct ftr_in *in)
{
	struct ftr_ddlr_plan plan;
	enum ftr_status st = get_plan(in, f, &plan, &err);

	if (!st)
		ftr_ddlr_plan_fini(&plan);
	return st;
}

static void put_a_file(struct ftr_out *o)
{
	put_file(o, "/nonexistent/file", true, "text", 4);
}

static enum ftr_status get_a_file(struct ftr_in *in)
{
	char path[PATH_MAX];
	bool append;
	enum ftr_status st = get_file(in, path, &append, &err);

	in->at = in->end;
	return ftr_in_end(in, st, &err);
}

static const struct message {
	void (*put)(struct ftr_out *o);
	enum ftr_status (*get)(struct ftr_in *in);
	bool trusted;		/* it has the shape that the process uses, and the process may crash */
} message[] = {
	{ put_a_job, get_a_job, true }, { put_result, get_result, false },
	{ put_a_planner, get_a_planner, true }, { put_planner_with_vls, get_a_planner, true },
	{ put_some_events, get_a_plan_job, false }, { put_a_transition, get_a_plan_job, false },
	{ put_a_plan, get_a_plan, false }, { put_a_file, get_a_file, false },
};

#define MESSAGES ((int)(sizeof(message) / sizeof(message[0])))

/* Read the first n bytes. */
static enum ftr_status get(const struct message *m, const uint8_t *at, size_t n)
{
	struct ftr_in in = { .text = malloc(n + 1), .name = "the message" };

	ck_assert_ptr_nonnull(in.text);
	memcpy(in.text, at, n);
	in.at = (const uint8_t *)in.text;
	in.end = in.at + n;
	err.msg[0] = '\0';
	return m->get(&in);
}

START_TEST(cut_or_changed)
{
	const struct message *m = &message[_i];
	struct ftr_out o = { .n = 0 };
	unsigned int refused = 0;

	make_parts();
	m->put(&o);
	ok(get(m, o.at, o.n));
	for (size_t n = 0; n < o.n; n++)
		ck_assert_int_eq(get(m, o.at, n), FTR_PARSE);
	for (size_t i = 0; i < o.n; i++)
		for (unsigned int x = 1; x < 256; x <<= m->trusted ? 7 : 1) {
			o.at[i] ^= (uint8_t)x;
			/* without its last byte, a trusted message is read and not used */
			refused += get(m, o.at, o.n - m->trusted) != FTR_OK;
			o.at[i] ^= (uint8_t)x;
		}
	/* of a result, only the plugin's checker can refuse more */
	ck_assert(refused || m->get == get_result);
	free(o.at);
}
END_TEST

START_TEST(no_memory)
{
	const struct message *m = &message[_i];
	struct ftr_out o = { .n = 0 };
	unsigned long n;

	make_parts();
	m->put(&o);
	ftr_alloc_fail_at(0);
	ok(get(m, o.at, o.n));
	n = ftr_alloc_count();
	for (unsigned long i = 1; i <= n; i++)
		for (int alone = 0; alone < 2; alone++) {
			enum ftr_status st;

			(alone ? ftr_alloc_fail_once : ftr_alloc_fail_at)(i);
			st = get(m, o.at, o.n);
			ftr_alloc_fail_at(0);
			ck_assert_msg(!st || err.msg[0], "allocation %lu fails: no message", i);
			ck_assert(st || alone);
		}
	free(o.at);
}
END_TEST

static enum ftr_status plan_of(const struct ftr_change *w, uint32_t n)
{
	struct ftr_ddlr_plan plan = { .write = (struct ftr_change *)(uintptr_t)w, .n = n };
	struct ftr_out o = { .n = 0 };
	enum ftr_status st;

	put_plan(&o, &plan);
	st = get(&(struct message){ .get = get_a_plan }, o.at, o.n);
	free(o.at);
	return st;
}

/* No switch carries out a plan with an impossible write. */
START_TEST(impossible_writes)
{
	struct ftr_change good = { .step = 1, .sw = 0, .lid = 1, .after = 1 }, bad[6], two[2];
	struct ftr_swport *port;
	struct ftr_lid_owner *owner;

	make_parts();
	port = (struct ftr_swport *)(uintptr_t)ftr_fabric_port(f, 0, 1);
	owner = (struct ftr_lid_owner *)(uintptr_t)&f->owner[1];
	for (unsigned int i = 0; i < FTR_ARRAY_LEN(bad); i++)
		bad[i] = good;
	bad[0].step = 0;
	bad[1].sw = f->n_sw;
	bad[2].lid = 0;
	bad[3].lid = (ftr_lid)(f->max_lid + 1);
	bad[4].after = f->sw[0].n_ports + 1;
	bad[5].after = FTR_PORT_NONE - 1;
	ok(plan_of(&good, 1));
	for (unsigned int i = 0; i < FTR_ARRAY_LEN(bad); i++)
		ck_assert_msg(plan_of(&bad[i], 1) == FTR_PARSE, "write %u", i);
	two[0] = two[1] = good;
	ck_assert_int_eq(plan_of(two, 2), FTR_PARSE);	/* the same entry twice */
	two[1].step = 2;
	ok(plan_of(two, 2));
	port->peer_kind = FTR_PEER_NONE;
	ck_assert_int_eq(plan_of(&good, 1), FTR_PARSE);
	good.after = 0;
	ok(plan_of(&good, 1));
	owner->kind = FTR_OWNER_NONE;
	ck_assert_int_eq(plan_of(&good, 1), FTR_PARSE);
	good.after = FTR_PORT_NONE;
	ok(plan_of(&good, 1));
}
END_TEST

START_TEST(long_path)
{
	static char path[PATH_MAX + 1];
	struct ftr_out o = { .n = 0 };

	memset(path, 'x', PATH_MAX);
	put_file(&o, path, false, "text", 4);
	ck_assert_int_eq(get(&message[MESSAGES - 1], o.at, o.n), FTR_PARSE);
	free(o.at);
}
END_TEST

/* ---- processes ------------------------------------------------------------------------ */

static bool never_ends;		/* processes */

pid_t __real_waitpid(pid_t pid, int *how, int options);
pid_t __wrap_waitpid(pid_t pid, int *how, int options);
pid_t __wrap_waitpid(pid_t pid, int *how, int options)
{
	return never_ends ? 0 : __real_waitpid(pid, how, options);
}

START_TEST(no_files)
{
	unsigned int files = open_files(), failed = 0;
	enum ftr_status st = FTR_IO;
	int next = dup(0);
	struct helper *h;
	struct rlimit r, before;

	ck_assert(next >= 0 && !close(next));
	ck_assert(!getrlimit(RLIMIT_NOFILE, &before));
	for (r = before; st; failed++, next++) {
		r.rlim_cur = (rlim_t)next;
		ck_assert(!setrlimit(RLIMIT_NOFILE, &r));
		st = helper_start(HELPER_FILES, &h, &err);
		ck_assert(!setrlimit(RLIMIT_NOFILE, &before));
		ck_assert(!st || strstr(err.msg, strerror(EMFILE)));
		ck_assert(!st || open_files() == files);
	}
	ck_assert_uint_ge(failed, 4);
	helper_free(h);
	ck_assert_uint_eq(open_files(), files);
	ftr_alloc_fail_at(1);
	ck_assert_int_eq(helper_start(HELPER_FILES, &h, &err), FTR_NOMEM);
	ftr_alloc_fail_at(0);
	unsetenv("IBFATTREE_HELPER_SECONDS");
	ck_assert_uint_eq(helper_wait_ms(HELPER_FILES), 60000);
	unsetenv("IBFATTREE_HELPER");	/* the installed program, if there is one */
	ck_assert(!helper_start(HELPER_FILES, &h, &err) || strstr(err.msg, "/ibfattree-helper does not start"));
}
END_TEST

START_TEST(does_not_end)
{
	struct helper *h;
	struct ftr_in in;

	use_script("files", "exit 3");
	ok(helper_start(HELPER_FILES, &h, &err));
	never_ends = true;
	ck_assert_int_eq(helper_result(h, 60000, &in, &err), FTR_IO);
	ck_assert_str_eq(err.msg, "it does not end");
	ck_assert(!helper_end(h));
	never_ends = false;
	ck_assert(helper_end(h));
	ck_assert(helper_end(h));
	helper_free(h);
	use_real_helper();
}
END_TEST

/* A search ends before its request, and one that has an empty result. */
START_TEST(ends_early)
{
	struct ftr_out o = { .n = 0 };
	char path[] = "/tmp/ibf-result-XXXXXX", text[64];
	int fd = mkstemp(path);
	struct helper *h;
	struct ftr_in in;

	ck_assert_int_ge(fd, 0);
	ok(ftr_out_fd(&o, fd, path, HELPER_RESULT, &err));
	snprintf(text, sizeof(text), "cat %s", path);
	for (int i = 0; i < 2; i++) {
		use_script("search", i ? text : "exit 0");
		ok(helper_start(HELPER_SEARCH, &h, &err));
		ck_assert(!helper_is_busy(h, 600000));
		if (i) {
			ck_assert_int_eq(helper_result(h, 600000, &in, &err), FTR_PARSE);
		} else {
			ftr_put_text(&o, "x");
			ck_assert_int_eq(helper_send(h, &o, &err), FTR_IO);
			ck_assert_str_eq(err.msg, "it ended before the request");
		}
		helper_free(h);
		use_real_helper();
	}
	unlink(path);
	close(fd);
}
END_TEST

/* Send the message without its last bytes. */
static enum ftr_status send_cut(struct helper *h, void (*put)(struct ftr_out *o), size_t cut)
{
	struct ftr_out o = { .n = 0 };
	struct ftr_in in;
	enum ftr_status st;

	put(&o);
	o.n -= cut;
	ok(helper_send(h, &o, &err));
	st = helper_result(h, 600000, &in, &err);
	if (!st)
		free(in.text);
	return st;
}

START_TEST(cut_requests)
{
	struct helper *h;

	make_parts();
	ok(helper_start(HELPER_SEARCH, &h, &err));
	ck_assert_int_eq(send_cut(h, put_a_job, 3), FTR_REFUSED);
	helper_free(h);
	ok(helper_start(HELPER_FILES, &h, &err));
	ck_assert_int_eq(send_cut(h, put_a_file, 3), FTR_REFUSED);
	helper_free(h);
	ok(helper_start(HELPER_PLANNER, &h, &err));
	ck_assert_int_eq(send_cut(h, put_a_planner, 3), FTR_REFUSED);
	ok(send_cut(h, put_a_planner, 0));
	ck_assert_int_eq(send_cut(h, put_a_transition, 3), FTR_REFUSED);
	ck_assert_int_eq(send_cut(h, put_some_events, 3), FTR_REFUSED);
	helper_free(h);
}
END_TEST

/* The same in this process: the others are killed, and do not write what they have covered. */
static enum ftr_status serve_cut(enum helper_kind kind, void (*put)(struct ftr_out *o), size_t cut)
{
	struct ftr_out o = { .n = 0 }, out = { .n = 0 };
	struct ftr_in in = { .name = "the request" };

	put(&o);
	in.text = (char *)o.at;
	in.at = o.at;
	in.end = o.at + o.n - cut;
	return serve(kind, &in, &out, &err);
}

START_TEST(cut_here)
{
	make_parts();
	ck_assert_int_eq(serve_cut(HELPER_FILES, put_a_file, 3), FTR_PARSE);
	ck_assert_int_eq(serve_cut(HELPER_PLANNER, put_a_planner, 3), FTR_PARSE);
	ok(serve_cut(HELPER_PLANNER, put_a_planner, 0));
	ck_assert_int_eq(serve_cut(HELPER_PLANNER, put_a_transition, 3), FTR_PARSE);
	ck_assert_int_eq(serve_cut(HELPER_PLANNER, put_some_events, 3), FTR_PARSE);
	ok(serve_cut(HELPER_PLANNER, put_a_transition, 0));
}
END_TEST

/* Returns the status of the search. */
static enum ftr_status run_search(struct search_job *j)
{
	struct ftr_kept k = { .t = NULL };
	struct ftr_out o = { .n = 0 };
	enum ftr_status st;
	struct helper *h;
	struct ftr_in in;

	put_search(&o, j);
	ok(helper_start(HELPER_SEARCH, &h, &err));
	ok(helper_send(h, &o, &err));
	st = helper_result(h, 600000, &in, &err);
	if (!st)
		ok(ftr_in_end(&in, get_found(&in, f, &k, &err), &err));
	ftr_tables_free(k.t);
	helper_free(h);
	return st;
}

/* An engine that does not exist; lists of GUIDs; no other tables to compare with; OpenSM ignores
 * SIGCHLD, so the process has no status. */
START_TEST(searches)
{
	struct search_job j;

	make_parts();
	j = a_job("none");
	ck_assert_int_eq(run_search(&j), FTR_REFUSED);
	ck_assert_str_eq(err.msg, "no engine none");
	for (int i = 0; i < 3; i++) {
		j = a_job("dmodc");
		j.given = i == 1;
		if (i == 2)
			signal(SIGCHLD, SIG_IGN);
		ok(run_search(&j));
	}
}
END_TEST

/* Run ibfattree-helper with the arguments; returns its status.  request: what it reads, and
 * one request is announced before the socket is closed. */
static int run(const char *kind, const char *seconds, int request, int result)
{
	int pair[2], how;
	pid_t pid;

	ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	pid = fork();
	if (!pid) {
		dup2(request, 0);
		if (result < 0)
			close(1);
		else
			dup2(result, 1);
		dup2(pair[1], 3);
		execl(real_helper, "ibfattree-helper", kind, seconds, (char *)NULL);
		_exit(99);
	}
	close(pair[1]);
	if (request >= 0)
		ck_assert_int_eq(send(pair[0], "x", 1, MSG_NOSIGNAL), 1);
	close(pair[0]);
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	ck_assert(WIFEXITED(how));
	return WEXITSTATUS(how);
}

START_TEST(runs_alone)
{
	int null = open("/dev/null", O_RDWR), out = fileno(tmpfile());
	struct rlimit r;

	ck_assert(null >= 0 && out >= 0);
	ck_assert_int_eq(run(NULL, NULL, -1, out), 2);
	ck_assert_int_eq(run("files", NULL, -1, out), 2);
	ck_assert_int_eq(run("none", "1", -1, out), 2);
	ck_assert_int_eq(run("files", "1", -1, out), 0);	/* no request */
	ck_assert_int_eq(run("files", "1", null, out), 0);	/* an empty one, and nobody waits */
	ck_assert_int_eq(run("files", "1", null, -1), 1);	/* nowhere to write the result */
	ck_assert(!getrlimit(RLIMIT_FSIZE, &r));
	r.rlim_cur = r.rlim_max = 1 << 20;	/* less than the program would set */
	ck_assert(!setrlimit(RLIMIT_FSIZE, &r));
	ck_assert_int_eq(run("planner", "1", null, out), 0);
	close(null);
	close(out);
}
END_TEST

enum memory { FREE, REQUEST, NO_MEMORY };

/* Returns true if the memory for the planner is in use.  In a process of its own, because the socket has a
 * fixed number. */
static bool touches(enum memory m)
{
	struct rlimit unlimited, little;
	struct rusage before, after;
	int pair[2], how;
	pid_t pid;

	ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	if (m == REQUEST)
		ck_assert_int_eq(send(pair[0], "x", 1, 0), 1);
	pid = fork();
	if (!pid) {
		dup2(pair[1], SOCKET);
		getrusage(RUSAGE_SELF, &before);
		getrlimit(RLIMIT_AS, &unlimited);
		little = unlimited;
		little.rlim_cur = 1 << 20;
		if (m == NO_MEMORY && setrlimit(RLIMIT_AS, &little))
			_exit(99);
		touch_memory();
		setrlimit(RLIMIT_AS, &unlimited);
		getrusage(RUSAGE_SELF, &after);
		_exit(after.ru_maxrss - before.ru_maxrss > (long)(TOUCHED / 2048));
	}
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	close(pair[0]);
	close(pair[1]);
	ck_assert(WIFEXITED(how) && WEXITSTATUS(how) < 2);
	return WEXITSTATUS(how);
}

/* The planner's process touches memory until it has a request. */
START_TEST(memory_is_touched)
{
	ck_assert(touches(FREE));
	ck_assert(!touches(REQUEST));
#ifndef __SANITIZE_ADDRESS__	/* which needs memory itself */
	ck_assert(!touches(NO_MEMORY));
#endif
}
END_TEST

int main(void)
{
	Suite *s = suite_create("helper");
	TCase *c = tcase_create("all");

	if (!find_helper())
		return 77;
	tcase_add_loop_test(c, cut_or_changed, 0, MESSAGES);
	tcase_add_loop_test(c, no_memory, 0, MESSAGES);
	tcase_add_test(c, no_files);
	tcase_add_test(c, does_not_end);
	tcase_add_test(c, ends_early);
	tcase_add_test(c, cut_requests);
	tcase_add_test(c, cut_here);
	tcase_add_test(c, impossible_writes);
	tcase_add_test(c, long_path);
	tcase_add_test(c, searches);
	tcase_add_test(c, runs_alone);
	tcase_add_test(c, memory_is_touched);
	suite_add_tcase(s, c);
	return run_suite(s);
}
