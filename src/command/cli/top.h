/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * top: shows the status of the plugin in a terminal.
 *
 *	top.c		the command, and the screen (ncurses)
 *	top_read.c	reads ibfattree-status.json and ibfattree-events.jsonl
 *	top_show.c	formats the status as lines of text
 */
#ifndef FTR_CLI_TOP_H
#define FTR_CLI_TOP_H

#include <stddef.h>

#include "cli/cli.h"
#include "cli/json.h"

#define TOP_TEXT_MAX 256

/* One line of output: printable ASCII only. */
struct top_line {
	char text[TOP_TEXT_MAX];
	enum cli_colour colour;
};

struct top_data {
	const char *dir;
	struct json_object *status;	/* the last valid status; NULL: none yet */
	char status_error[TOP_TEXT_MAX];	/* error of the last read, or "" */
	/* events, newest first */
	struct top_line *event;	/* [n_events], malloc()ed */
	size_t n_events, events_cap;
	size_t bad_lines;	/* number of lines that are not valid JSON objects with a time */
	char events_error[TOP_TEXT_MAX];
};

/* Reads both files. */
void top_read(struct top_data *d);
void top_free(struct top_data *d);

#define TOP_LINES_MAX 24

/* Formats the status and returns the number of lines.  Sets *attention if a line reports a
 * problem. */
size_t top_show(const struct top_data *d, double now,
		struct top_line line[TOP_LINES_MAX], bool *attention);

void top_print(struct top_line *l, enum cli_colour c, const char *fmt, ...)
	FTR_PRINTF(3, 4);

#endif
