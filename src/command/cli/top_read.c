// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads the status file and the events file while the plugin writes them.
 *
 * The plugin replaces the status file as a whole.  If the file is incomplete anyway (a
 * copy, for instance), the previous status is kept and the error is shown.  The events
 * file grows; only its end is read.  A last line without a newline is left for the
 * next read.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/top.h"

#define STATUS_MAX (1 << 20)	/* bytes; a longer file is not a status file */
#define EVENTS_TAIL (1 << 20)	/* bytes read from the end of the events file */

/* Names come from the fabric.  Every character that is not printable ASCII becomes one
 * '?', even if it has several bytes. */
static void clean(char *s)
{
	char *to = s;

	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if ((c & 0xc0) == 0x80)
			continue;
		*to++ = (char)(c < ' ' || c >= 0x7f ? '?' : c);
	}
	*to = '\0';
}

void top_print(struct top_line *l, enum cli_colour c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(l->text, sizeof(l->text), fmt, ap);
	va_end(ap);
	clean(l->text);
	l->colour = c;
}

/* Returns the last max bytes of dir/name, NUL-terminated and malloc()ed.  Sets *whole to true if
 * they are the whole file.  After an error, returns NULL with the reason in error. */
static char *tail(const char *dir, const char *name, off_t max, size_t *len, bool *whole,
		  char *error)
{
	char path[4096], *text = NULL;
	struct stat st;
	ssize_t n = -1;
	off_t from;
	int fd;

	*error = '\0';
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode)) {
		from = st.st_size > max ? st.st_size - max : 0;
		*whole = !from;
		text = calloc((size_t)(st.st_size - from) + 1, 1);
		if (text)
			n = pread(fd, text, (size_t)(st.st_size - from), from);
	} else if (fd >= 0) {
		errno = EINVAL;
	}
	if (n < 0) {
		snprintf(error, TOP_TEXT_MAX, "%.150s: %s", path, strerror(errno));
		free(text);
		text = NULL;
	}
	*len = (size_t)n;
	if (fd >= 0)
		close(fd);
	return text;
}

static void read_status(struct top_data *d)
{
	struct json_object *o;
	size_t len;
	bool whole;
	char *text = tail(d->dir, "ibfattree-status.json", STATUS_MAX, &len, &whole,
			  d->status_error);

	if (!text)
		return;
	o = whole ? cli_json_parse(text, len) : NULL;
	free(text);
	if (!json_object_is_type(json_object_object_get(o, "engine"), json_type_string)) {
		snprintf(d->status_error, sizeof(d->status_error),
			 "%.150s/ibfattree-status.json: not a status of ibfattree", d->dir);
		json_object_put(o);
		return;
	}
	json_object_put(d->status);
	d->status = o;
}

/* ---- events --------------------------------------------------------------- */

static void name_links(struct json_object *record, char *out, size_t size)
{
	struct json_object *list = json_object_object_get(record, "cables"), *first;
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	char more[40] = "";

	*out = '\0';
	if (!n)
		return;
	first = json_object_array_get_idx(list, 0);
	if (n > 1)
		snprintf(more, sizeof(more), " and %zu more", n - 1);
	snprintf(out, size, "%.99s port %" PRIu64 " - %.99s port %" PRIu64 "%s",
		 cli_json_get_text(first, "name"), cli_json_get_uint(first, "port"),
		 cli_json_get_text(first, "peer_name"), cli_json_get_uint(first, "peer_port"), more);
}

static bool show_event(struct json_object *o, struct top_line *l)
{
	char links[260], when[32] = "?", took[40] = "";
	const char *event = cli_json_get_text(o, "event");
	uint64_t entries = cli_json_get_uint(o, "entries");
	uint64_t failed = cli_json_get_uint(o, "failed");
	uint64_t lost = cli_json_get_uint(o, "lost_leaf_pairs");
	double time, last;
	struct tm tm;
	time_t t;

	if (!cli_json_get_real(o, "time", &time) || time < 0 || time > 1e11)
		return false;
	t = (time_t)time;
	if (localtime_r(&t, &tm))
		strftime(when, sizeof(when), "%m-%d %H:%M:%S", &tm);
	if (cli_json_uint(json_object_object_get(o, "number_drained"), UINT64_MAX, &entries)) {
		top_print(l, CLI_PLAIN, "%s %-11s %" PRIu64 " %s drained", when, event, entries,
			  entries == 1 ? "part" : "parts");
		return true;
	}
	if (cli_json_get_real(json_object_object_get(o, "ms"), "last", &last))
		snprintf(took, sizeof(took), " in %.2f ms", last);
	name_links(o, links, sizeof(links));
	top_print(l, failed || lost ? CLI_WRONG : CLI_PLAIN,
		  "%s %-11s %-7s %6" PRIu64 " %s%s%s%s  %s", when, event,
		  cli_json_get_text(o, "stage"), entries, entries == 1 ? "entry" : "entries", took,
		  failed ? ", writes FAILED" : "", lost ? ", paths LOST" : "", links);
	return true;
}

static struct top_line *new_event(struct top_data *d)
{
	struct top_line *more;

	if (d->n_events == d->events_cap) {
		size_t cap = d->events_cap ? 2 * d->events_cap : 64;

		more = realloc(d->event, cap * sizeof(*more));
		if (!more)
			return NULL;
		d->event = more;
		d->events_cap = cap;
	}
	return &d->event[d->n_events];
}

/* Adds the event of one line.  The plugin splits a long record into several lines, each with the
 * same first members; only the first of these lines counts. */
static void take_line(struct top_data *d, const char *s, size_t len)
{
	struct top_line *l = new_event(d);
	struct json_object *o;
	uint64_t part = 1;

	if (!l || !len)
		return;
	o = cli_json_parse(s, len);
	(void)cli_json_uint(json_object_object_get(o, "part"), UINT64_MAX, &part);
	if (part == 1) {
		bool good = show_event(o, l);

		d->n_events += good;
		d->bad_lines += !good;
	}
	json_object_put(o);
}

static void read_events(struct top_data *d)
{
	size_t len;
	bool whole;
	char *text = tail(d->dir, "ibfattree-events.jsonl", EVENTS_TAIL, &len, &whole,
			  d->events_error);
	const char *at = text, *nl;

	d->n_events = d->bad_lines = 0;
	if (!text)
		return;
	if (!whole) {
		nl = memchr(at, '\n', len);
		at = nl ? nl + 1 : text + len;
	}
	while ((nl = memchr(at, '\n', (size_t)(text + len - at)))) {
		take_line(d, at, (size_t)(nl - at));
		at = nl + 1;
	}
	free(text);
	for (size_t i = 0; i < d->n_events / 2; i++) {
		struct top_line x = d->event[i];

		d->event[i] = d->event[d->n_events - 1 - i];
		d->event[d->n_events - 1 - i] = x;
	}
}

void top_read(struct top_data *d)
{
	read_status(d);
	read_events(d);
}

void top_free(struct top_data *d)
{
	json_object_put(d->status);
	free(d->event);
}
