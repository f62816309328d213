// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree top: shows the status of the plugin and its repairs in a terminal.
 *
 * It reads two files and sends nothing to the subnet manager.  So it needs only read access to
 * these files, and may run for any length of time.  Without a terminal, or with one that
 * ncurses does not support, it prints the status and the newest repairs (--events) once.
 */
#include <curses.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/top.h"

#define INTERVAL_MAX 3600	/* refresh interval, seconds */
#define EVENTS_MAX 10000

struct top {
	bool once;
	unsigned int interval, events;
};

#define OPTS struct top
static const struct cli_opt options[] = {
	OPT(FLAG, "once", once, NULL, "print once and exit"),
	OPT(UINT, "interval", interval, "SECONDS", "refresh interval", "1", 1, INTERVAL_MAX),
	OPT(UINT, "events", events, "N",
	    "number of repairs to print with --once", "10", 0, EVENTS_MAX),
	CLI_OPT_END
};

static double wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void events_title(const struct top_data *d, struct top_line *l)
{
	if (d->events_error[0])
		top_print(l, CLI_PLAIN, "  repairs        none: %s", d->events_error);
	else if (d->bad_lines)
		top_print(l, CLI_DOUBT, "! repairs        %s; invalid lines in the file: %zu",
			  CLI_NUM(d->n_events), d->bad_lines);
	else
		top_print(l, CLI_PLAIN, "  repairs        %s, the newest first",
			  CLI_NUM(d->n_events));
}

static int verdict(const struct top_data *d, bool attention)
{
	return !d->status ? CLI_BAD : attention ? CLI_FINDINGS : CLI_CLEAN;
}

/* ---- once ------------------------------------------------------------------ */

static void put_line(const struct top_line *l)
{
	if (l->colour == CLI_PLAIN)
		printf("%s\n", l->text);
	else
		printf("%s%s%s\n", cli_colour(l->colour), l->text, cli_colour(CLI_PLAIN));
}

static int print_once(struct top_data *d, unsigned int events)
{
	struct top_line line[TOP_LINES_MAX];
	bool attention;
	size_t n;

	top_read(d);
	if (!d->status)
		return cli_error("top: %s", d->status_error);
	n = top_show(d, wall(), line, &attention);
	for (size_t i = 0; i < n; i++)
		put_line(&line[i]);
	events_title(d, &line[0]);
	put_line(&line[0]);
	for (size_t i = 0; i < d->n_events && i < events; i++)
		put_line(&d->event[i]);
	return verdict(d, attention);
}

/* ---- the screen -------------------------------------------------------------- */

static void colours(void)
{
	if (!has_colors() || (getenv("NO_COLOR") && *getenv("NO_COLOR")))
		return;
	start_color();
	use_default_colors();
	init_pair(CLI_GOOD, COLOR_GREEN, -1);
	init_pair(CLI_WRONG, COLOR_RED, -1);
	init_pair(CLI_DOUBT, COLOR_YELLOW, -1);
}

static void put_at(int y, const struct top_line *l)
{
	attr_t a = l->colour == CLI_PLAIN ? A_NORMAL :
		   (attr_t)COLOR_PAIR(l->colour) |
		   (l->colour == CLI_WRONG ? A_BOLD : A_NORMAL);

	attron(a);
	mvaddnstr(y, 0, l->text, COLS);
	attroff(a);
}

/* Returns the number of screen rows that are left for repairs below n lines of status. */
static int room_for_events(size_t n)
{
	int room = LINES - (int)n - 3;

	return room > 0 ? room : 0;
}

static void put_bars(const struct top_data *d)
{
	char when[32] = "";
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(when, sizeof(when), "%F %T", &tm);
	attron(A_REVERSE);
	mvhline(0, 0, ' ', COLS);
	mvaddnstr(0, 0, "ibfattree top ", COLS);
	addnstr(d->dir, COLS > 36 ? COLS - 36 : 0);
	if (COLS > 40)
		mvaddstr(0, COLS - (int)strlen(when), when);
	if (LINES > 2) {
		mvhline(LINES - 1, 0, ' ', COLS);
		mvaddnstr(LINES - 1, 0, "q: quit   arrows, page keys, Home: scroll through repairs",
			  COLS);
	}
	attroff(A_REVERSE);
}

/* Draws the screen.  *first: index of the repair in the first row of the list; it is reduced
 * if rows below the last repair would be empty.  Returns true if the status reports a problem. */
static bool draw(struct top_data *d, size_t *first)
{
	struct top_line line[TOP_LINES_MAX], title;
	bool attention;
	size_t n = top_show(d, wall(), line, &attention);
	int room = room_for_events(n);
	size_t last = d->n_events > (size_t)room ? d->n_events - (size_t)room :
		      0;

	if (*first > last)
		*first = last;
	erase();
	for (size_t i = 0; i < n && (int)i + 1 < LINES - 1; i++)
		put_at((int)i + 1, &line[i]);
	events_title(d, &title);
	if ((int)n + 1 < LINES - 1)
		put_at((int)n + 1, &title);
	for (int i = 0; i < room && *first + (size_t)i < d->n_events; i++)
		put_at((int)n + 2 + i, &d->event[*first + (size_t)i]);
	put_bars(d);
	refresh();
	return attention;
}

static void move_by(size_t *first, int by)
{
	if (by < 0 && *first < (size_t)-by)
		*first = 0;
	else
		*first = (size_t)((long)*first + by);
}

static int show_live(struct top_data *d, const struct top *o)
{
	bool attention;
	size_t first = 0;

	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	colours();
	timeout((int)o->interval * 1000);
	for (;;) {
		int page = LINES > 20 ? LINES - 16 : 4;

		top_read(d);
		attention = draw(d, &first);
		switch (getch()) {
		case 'q':
		case 'Q':
			return verdict(d, attention);
		case KEY_DOWN:
			move_by(&first, 1);
			break;
		case KEY_UP:
			move_by(&first, -1);
			break;
		case KEY_NPAGE:
			move_by(&first, page);
			break;
		case KEY_PPAGE:
			move_by(&first, -page);
			break;
		case KEY_HOME:
			first = 0;
			break;
		case ERR:	/* timeout, or the terminal was closed */
			if (!isatty(STDIN_FILENO))
				return verdict(d, attention);
			break;
		default:	/* including KEY_RESIZE */
			break;
		}
	}
}

static int run_top(int argc, char **argv)
{
	struct top o = { .once = false };
	struct top_data d = { .dir = "/var/log" };
	SCREEN *screen = NULL;
	int status;

	if (cli_parse(&cli_top, &o, argc, argv))
		d.dir = argv[0];
	if (!o.once && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		screen = newterm(NULL, stdout, stdin);
	if (screen) {
		status = show_live(&d, &o);
		endwin();
		delscreen(screen);
	} else {
		status = print_once(&d, o.events);
	}
	top_free(&d);
	return status;
}

const struct cli_cmd cli_top = {
	.name = "top",
	.summary = "show status and repairs of the plugin in a terminal",
	.args = "[DIR]",
	.text =
"Shows the status of the plugin and its repairs.  They are read from the files\n"
"ibfattree-status.json and ibfattree-events.jsonl, and again after each change.\n"
"The plugin writes these files to OpenSM's dump_files_dir, which is DIR (default:\n"
"/var/log).  Arrow and page keys scroll through the repairs, q quits.  Without a\n"
"terminal, status and repairs are printed once.\n"
"Exit status: 0 nothing needs attention, 1 a line needs attention, 2 there is no\n"
"status to show.\n",
	.opts = options,
	.min_args = 0, .max_args = 1,
	.run = run_top,
};
