// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the program ibfattree-top in a pseudo terminal.  A child process runs the program, and a
 * model of a VT100 terminal executes its output.  The tests examine the screen of the model.
 */
#include <check.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/suite.h"
#include "lib/temp.h"

#define PATIENCE_S 600

enum { CLEAN, FINDINGS, BAD };	/* exit statuses */

/* ---- files ----------------------------------------------------------------- */

static char dir[TEMP_ROOM], path_status[96], path_events[96];

static void put_file(const char *path, const char *text)
{
	char temporary[128];
	FILE *out;

	snprintf(temporary, sizeof(temporary), "%s.new", path);
	out = fopen(temporary, "w");
	ck_assert_ptr_nonnull(out);
	fputs(text, out);
	ck_assert(!fclose(out));
	ck_assert(!rename(temporary, path));
}

static void append(const char *path, const char *text)
{
	FILE *out = fopen(path, "a");

	ck_assert_ptr_nonnull(out);
	fputs(text, out);
	ck_assert(!fclose(out));
}

static void put_status(const char *engine, const char *ours,
		       unsigned int missing)
{
	char text[4096];

	snprintf(text, sizeof(text),
		 "{\"program\":\"ibfattree\",\"schema\":1,\"engine\":\"%s\",\"ours\":%s,\"reason\":\"\",\"state\":\"master\",\"time\":%lld.5,\"started\":1e9,"
		 "\"state_seconds\":{\"master\":7321.0},\"sweeps_total\":14,\"routings_total\":12,\"refusals_total\":0,\"reroutes_total\":1,\"failed_writes_total\":0,"
		 "\"last_routing_timestamp_seconds\":1e9,\"last_routing_changed_entries\":92,\"last_reroute_timestamp_seconds\":1e9,"
		 "\"switches\":40,\"links\":532,\"end_ports\":582,\"missing_switches\":0,\"missing_links\":%u,\"missing_end_ports\":0,\"switches_without_sm_path\":0,\"held_links\":0,"
		 "\"unreachable_pairs\":{\"hosts\":0,\"host_and_switch\":0,\"others\":306},\"link_load\":{\"max\":642,\"bound\":629},"
		 "\"last_routing_ms\":{\"snapshot\":1.25,\"shape\":3.5,\"route\":0.1,\"check\":0.1,\"commit\":0.1},\"last_reroute_ms\":{\"known\":1.7,\"computed\":null,\"checked\":1.8,\"first_write\":2.1,\"last_write\":2.6}}\n",
		 engine, ours, (long long)time(NULL), missing);
	put_file(path_status, text);
}

static void add_event(unsigned int number, const char *name)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{\"schema\":2,\"event\":\"link-down\",\"number\":%u,\"part\":1,\"parts\":1,\"time\":1795337900.1,\"stage\":\"reroute\",\"entries\":%u,\"failed\":0,\"lost_leaf_pairs\":0,\"ms\":{\"last\":2.6},"
		 "\"cables\":[{\"guid\":\"0x1\",\"port\":2,\"name\":\"%s\",\"peer_guid\":\"0x2\",\"peer_port\":16,\"peer_name\":\"spine\",\"up\":false}]}",
		 number, 100 + number, name);
	append(path_events, text);
}

/* ---- the terminal ------------------------------------------------------------ */

#define ROWS_MAX 60
#define COLS_MAX 200

static struct {
	pid_t pid;
	int fd;
	int rows, cols, y, x;
	int top, bottom;	/* scrolling region */
	bool wrap;		/* the next character begins a new line */
	char cell[ROWS_MAX][COLS_MAX];
	char esc[32];		/* the escape sequence so far */
	size_t n_esc;
	bool escape;		/* inside an escape sequence */
	bool alive;
} vt;

static void blank(int y, int from, int to)
{
	for (int x = from; x < to; x++)
		vt.cell[y][x] = ' ';
}

static int clamp(int v, int max)
{
	return v < 0 ? 0 : v >= max ? max - 1 : v;
}

static void scroll(bool up)
{
	size_t n = (size_t)(vt.bottom - vt.top) * sizeof(vt.cell[0]);

	memmove(vt.cell[vt.top + !up], vt.cell[vt.top + up], n);
	blank(up ? vt.bottom : vt.top, 0, vt.cols);
}

static void line_feed(void)
{
	if (vt.y == vt.bottom)
		scroll(true);
	else if (vt.y + 1 < vt.rows)
		vt.y++;
}

static void set_margins(int top, int bottom)
{
	vt.top = clamp(top - 1, vt.rows);
	vt.bottom = clamp(bottom - 1, vt.rows);
	ck_assert(vt.top <= vt.bottom);
	vt.y = vt.x = 0;
}

static void put_char(char c)
{
	if (vt.wrap) {
		vt.x = 0;
		line_feed();
	}
	vt.cell[vt.y][vt.x] = c;
	vt.wrap = vt.x + 1 == vt.cols;
	vt.x += !vt.wrap;
}

/* Execute a control sequence.  Its parameters are in vt.esc, and `last` is its last letter. */
static void control(char last)
{
	int a = 0, b = 0, n = sscanf(vt.esc + 1, "%d;%d", &a, &b);
	int by = n > 0 && a ? a : 1;

	vt.wrap = false;
	switch (last) {
	case 'H':
		vt.y = clamp(n > 0 ? a - 1 : 0, vt.rows);
		vt.x = clamp(n > 1 ? b - 1 : 0, vt.cols);
		break;
	case 'J':
		if (a == 2)
			vt.y = vt.x = 0;
		blank(vt.y, vt.x, vt.cols);
		for (int y = vt.y + 1; y < vt.rows; y++)
			blank(y, 0, vt.cols);
		break;
	case 'K':
		blank(vt.y, a ? 0 : vt.x, a == 1 ? vt.x + 1 : vt.cols);
		break;
	case 'A':
		vt.y = clamp(vt.y - by, vt.rows);
		break;
	case 'B':
		vt.y = clamp(vt.y + by, vt.rows);
		break;
	case 'C':
		vt.x = clamp(vt.x + by, vt.cols);
		break;
	case 'D':
		vt.x = clamp(vt.x - by, vt.cols);
		break;
	case 'r':
		set_margins(n > 0 ? a : 1, n > 1 ? b : vt.rows);
		break;
	case 'm': case 'h': case 'l':
		break;
	default:
		ck_abort_msg("the VT100 has no ESC %s", vt.esc);
	}
}

static bool escape(char c)
{
	ck_assert(vt.n_esc + 1 < sizeof(vt.esc));
	vt.esc[vt.n_esc++] = c;
	vt.esc[vt.n_esc] = '\0';
	if (vt.esc[0] == '[') {
		if (vt.n_esc == 1 || !strchr("ABCDEFGHJKmhlr", c))
			return false;
		control(c);
		return true;
	}
	if (vt.esc[0] == 'M' && vt.y == vt.top)
		scroll(false);
	else if (vt.esc[0] == 'M')
		vt.y = clamp(vt.y - 1, vt.rows);
	if (vt.esc[0] == '(' || vt.esc[0] == ')')
		return vt.n_esc == 2;
	return true;		/* keypad and saved cursor are ignored */
}

static void take(char c)
{
	if (c == '\033') {
		vt.n_esc = 0;
		vt.escape = true;
		return;
	}
	if (vt.escape) {
		vt.escape = !escape(c);
		return;
	}
	if (c == '\r') {
		vt.x = 0;
		vt.wrap = false;
	} else if (c == '\n') {
		line_feed();
	} else if (c == '\t') {
		vt.x = clamp((vt.x / 8 + 1) * 8, vt.cols);
	} else if (c == '\b') {
		vt.x = clamp(vt.x - 1, vt.cols);
	} else if (c >= ' ') {
		put_char(c);
	}
}

static void start(int rows, int cols, const char *term)
{
	struct winsize ws = { .ws_row = (unsigned short)rows,
			      .ws_col = (unsigned short)cols };
	const char *source = getenv("abs_top_srcdir");
	char program[4096];

	snprintf(program, sizeof(program), "%s/src/command/top/ibfattree-top", source ? source : ".");
	memset(&vt, 0, sizeof(vt));
	vt.rows = rows;
	vt.cols = cols;
	vt.bottom = rows - 1;
	vt.alive = true;
	memset(vt.cell, ' ', sizeof(vt.cell));
	vt.pid = forkpty(&vt.fd, NULL, NULL, &ws);
	ck_assert(vt.pid >= 0);
	if (!vt.pid) {
		setenv("TERM", term, 1);
		unsetenv("LINES");
		unsetenv("COLUMNS");
		signal(SIGHUP, SIG_DFL);	/* nohup ignores SIGHUP */
		execl(program, program, dir, NULL);
		_exit(127);
	}
}

static void pump(void)
{
	struct pollfd p = { .fd = vt.fd, .events = POLLIN };
	char buf[4096];
	ssize_t n;

	if (poll(&p, 1, 50) <= 0)
		return;
	n = read(vt.fd, buf, sizeof(buf));
	vt.alive = n > 0;
	for (ssize_t i = 0; i < n; i++)
		take(buf[i]);
}

static bool shown(const char *text)
{
	char row[COLS_MAX + 1];

	for (int y = 0; y < vt.rows; y++) {
		memcpy(row, vt.cell[y], (size_t)vt.cols);
		row[vt.cols] = '\0';
		if (strstr(row, text))
			return true;
	}
	return false;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void print_screen(void)
{
	for (int y = 0; y < vt.rows; y++)
		fprintf(stderr, "|%.*s|\n", vt.cols, vt.cell[y]);
}

static void until(const char *text, bool there)
{
	double end = now() + PATIENCE_S;

	while (shown(text) != there && now() < end && vt.alive)
		pump();
	if (shown(text) != there)
		print_screen();
	ck_assert_msg(shown(text) == there, "%s on the screen: '%s'",
		      there ? "not" : "still", text);
}

static void press(const char *keys)
{
	ck_assert(write(vt.fd, keys, strlen(keys)) == (ssize_t)strlen(keys));
}

static void resize(int rows, int cols)
{
	struct winsize ws = { .ws_row = (unsigned short)rows,
			      .ws_col = (unsigned short)cols };

	memset(vt.cell, ' ', sizeof(vt.cell));
	vt.rows = rows;
	vt.cols = cols;
	vt.y = vt.x = vt.top = 0;
	vt.bottom = rows - 1;
	ck_assert(!ioctl(vt.fd, TIOCSWINSZ, &ws));
}

static int ended(void)
{
	double end = now() + PATIENCE_S;
	int status;

	while (vt.alive && now() < end)
		pump();
	ck_assert_msg(!vt.alive, "the command does not end");
	ck_assert(waitpid(vt.pid, &status, 0) == vt.pid);
	close(vt.fd);
	ck_assert_msg(WIFEXITED(status), "the command was killed by signal %d",
		      WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* ---- the tests --------------------------------------------------------------- */

static void setup(void)
{
	ck_assert_ptr_nonnull(temp_dir(dir, "test_top"));
	snprintf(path_status, sizeof(path_status), "%s/ibfattree-status.json",
		 dir);
	snprintf(path_events, sizeof(path_events), "%s/ibfattree-events.jsonl",
		 dir);
	vt.pid = 0;
}

static void teardown(void)
{
	unlink(path_status);
	unlink(path_events);
	rmdir(dir);
}

START_TEST(follows_the_files)
{
	put_status("dmodc", "true", 0);
	start(30, 100, "vt100");
	until("engine         dmodc", true);
	until("40 switches, 532 links, 582 host ports", true);
	until("1.02 times the lower bound 629", true);
	until("ms: snapshot 1.25, shape 3.50", true);
	until("known 1.70, checked 1.80", true);
	until("events         none", true);
	until("q: quit", true);
	/* a record appears when its line is complete */
	add_event(1, "leaf-1");
	put_status("dmodc", "true", 26);
	until("! missing        0 switches, 26 links", true);
	ck_assert(!shown("leaf-1"));
	append(path_events, "\n");
	until("leaf-1 port 2 - spine port 16", true);
	until("101 entries in 2.60 ms", true);
	put_status("updn", "false", 26);
	until("! engine         updn, not an engine of ibfattree", true);
	press("q");
	ck_assert_int_eq(ended(), FINDINGS);
}
END_TEST

START_TEST(missing_and_torn_files)
{
	start(30, 160, "vt100");
	until("! status", true);
	until("No such file", true);
	put_status("dmodc", "true", 0);
	until("engine         dmodc", true);
	until("! status", false);
	put_file(path_status, "{\"program\":\"ibfattree\",\"engine\":\"up");
	until("! status", true);
	until("not a status of ibfattree", true);
	ck_assert(shown("engine         dmodc"));	/* the last valid status */
	append(path_events, "{\"schema\":2,\"event\":\"drains\",\"part\":1,\"parts\":1,\"time\":1795337900.1,\"request\":\"0x1\",\"number_drained\":2,\"drained_parts\":[]}\n");
	append(path_events, "garbage\n");
	until("invalid lines in the file: 1", true);
	until("drains      2 parts drained", true);
	put_status("dmodc", "true", 0);
	unlink(path_events);
	until("! status", false);
	until("not records", false);
	unlink(path_status);
	until("! status", true);
	ck_assert(shown("engine         dmodc"));
	press("q");
	ck_assert_int_eq(ended(), FINDINGS);
}
END_TEST

START_TEST(fits_any_window)
{
	static const int size[][2] = { { 25, 81 }, { 5, 20 }, { 1, 1 },
				       { 2, 200 }, { 60, 30 }, { 40, 120 } };
	char name[16];

	put_status("dmodc", "true", 0);
	for (unsigned int i = 1; i <= 50; i++) {
		snprintf(name, sizeof(name), "leaf-%02u", i);
		add_event(i, name);
		append(path_events, "\n");
	}
	start(24, 80, "vt100");
	until("events         50", true);
	until("leaf-50", true);
	for (size_t i = 0; i < sizeof(size) / sizeof(size[0]); i++) {
		resize(size[i][0], size[i][1]);
		if (size[i][0] > 1)
			until(size[i][1] > 12 ? "ibfattree top" : "i", true);
	}
	until("leaf-50", true);
	ck_assert(!shown("leaf-10"));
	/* scroll down to the oldest record, then back */
	press("\033OB");
	until("leaf-50", false);
	for (int i = 0; i < 60; i++)
		press("\033OB");
	until("leaf-01", true);
	ck_assert(shown("events         50"));
	for (int i = 0; i < 60; i++)
		press("\033OA");
	until("leaf-50", true);
	press("q");
	ck_assert_int_eq(ended(), CLEAN);
}
END_TEST

/* A node description cannot send control sequences to the terminal. */
START_TEST(hostile_names)
{
	put_status("dmodc", "true", 0);
	add_event(1, "\033[2Jbell\007\302\233x");
	append(path_events, "\n");
	start(30, 100, "vt100");
	until("?[2Jbell??x port 2", true);
	add_event(2, "\\u001b[2J\303\251t\303\251\302\2335n");
	append(path_events, "\n");
	until("?[2J?t??5n port 2", true);
	press("q");
	ended();
}
END_TEST

START_TEST(hangup_ends_it)
{
	int status;

	put_status("dmodc", "true", 0);
	start(24, 80, "vt100");
	until("dmodc", true);
	close(vt.fd);
	ck_assert(waitpid(vt.pid, &status, 0) == vt.pid);
	ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP, "status 0x%x", (unsigned int)status);
}
END_TEST

/* On a terminal that curses does not know, the command prints one screen of plain text. */
START_TEST(unknown_terminal)
{
	put_status("dmodc", "true", 0);
	start(30, 100, "no-such-terminal");
	until("engine         dmodc", true);
	ck_assert_int_eq(ended(), CLEAN);
	unlink(path_status);
	start(30, 100, "no-such-terminal");
	ck_assert_int_eq(ended(), BAD);
	ck_assert(shown("No such file"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("top");
	TCase *tc = tcase_create("terminal");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, follows_the_files);
	tcase_add_test(tc, missing_and_torn_files);
	tcase_add_test(tc, fits_any_window);
	tcase_add_test(tc, hostile_names);
	tcase_add_test(tc, hangup_ends_it);
	tcase_add_test(tc, unknown_terminal);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
