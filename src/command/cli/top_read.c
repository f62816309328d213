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

static struct top_stamp stamp_of(const struct stat *st)
{
	return (struct top_stamp){ st->st_dev, st->st_ino, st->st_size,
				   st->st_mtim };
}

static bool same(const struct top_stamp *a, struct top_stamp b)
{
	return a->dev == b.dev && a->ino == b.ino && a->size == b.size &&
	       a->mtime.tv_sec == b.mtime.tv_sec &&
	       a->mtime.tv_nsec == b.mtime.tv_nsec;
}

/* Returns the last max bytes of dir/name, NUL-terminated and malloc()ed.  Sets *whole to true if
 * they are the whole file.  *stamp is the state of the file at the last read.  It is updated, or
 * set to zeros after an error.  If the file has not changed, returns NULL with "" in error.  After
 * an error, returns NULL with the reason in error. */
static char *tail(const char *dir, const char *name, off_t max,
		  struct top_stamp *stamp, size_t *len, bool *whole,
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
	if (fd < 0 || fstat(fd, &st)) {
		snprintf(error, TOP_TEXT_MAX, "%.150s: %s", path,
			 strerror(errno));
	} else if (!S_ISREG(st.st_mode)) {
		snprintf(error, TOP_TEXT_MAX, "%.150s: not a regular file",
			 path);
	} else if (same(stamp, stamp_of(&st))) {
		close(fd);
		return NULL;
	} else {
		from = st.st_size > max ? st.st_size - max : 0;
		text = malloc((size_t)(st.st_size - from) + 1);
		if (text)
			n = pread(fd, text, (size_t)(st.st_size - from), from);
		if (n < 0) {
			snprintf(error, TOP_TEXT_MAX, "%.150s: %s", path,
				 strerror(errno));
			free(text);
			text = NULL;
		} else {
			text[n] = '\0';
			*len = (size_t)n;
			*whole = !from;
			*stamp = stamp_of(&st);
		}
	}
	if (!text)
		*stamp = (struct top_stamp){ 0 };
	if (fd >= 0)
		close(fd);
	return text;
}

static void read_status(struct top_data *d)
{
	char error[TOP_TEXT_MAX];
	struct cli_jval v;
	size_t len;
	bool whole;
	char *text = tail(d->dir, "ibfattree-status.json", STATUS_MAX,
			  &d->status_stamp, &len, &whole, error);

	if (!text) {
		if (*error || !d->status_stamp.ino)
			memcpy(d->status_error, error, sizeof(error));
		return;
	}
	if (!whole || !cli_j_parse(text, len, &v) ||
	    cli_j_type(cli_j_member(v, "engine")) != CLI_J_STRING) {
		snprintf(d->status_error, sizeof(d->status_error),
			 "%.150s/ibfattree-status.json: not a status of ibfattree",
			 d->dir);
		free(text);
		return;
	}
	free(d->text);
	d->text = text;
	d->status = v;
	d->status_error[0] = '\0';
}

/* ---- events --------------------------------------------------------------- */

static void name_links(struct cli_jval record, char *out, size_t size)
{
	struct cli_jval list = cli_j_member(record, "cables"), v, first = { 0 };
	char name[100], peer[100], port[12], peer_port[12];
	const char *at = NULL;
	unsigned int n = 0;

	while (cli_j_next(list, &at, &v))
		if (!n++)
			first = v;
	if (!n) {
		*out = '\0';
		return;
	}
	snprintf(out, size, "%s port %s - %s port %s",
		 cli_j_text(cli_j_member(first, "name"), name, sizeof(name)),
		 cli_j_raw(cli_j_member(first, "port"), port, sizeof(port)),
		 cli_j_text(cli_j_member(first, "peer_name"), peer,
			    sizeof(peer)),
		 cli_j_raw(cli_j_member(first, "peer_port"), peer_port,
			   sizeof(peer_port)));
	if (n > 1) {
		size_t used = strlen(out);

		snprintf(out + used, size - used, " and %u more", n - 1);
	}
}

static bool show_event(struct cli_jval v, struct top_line *l)
{
	char event[24], stage[16], links[260], when[32] = "?", took[40] = "";
	double time, last;
	uint64_t entries = 0, failed = 0, lost = 0;
	struct tm tm;
	time_t t;

	if (!cli_j_real(cli_j_member(v, "time"), &time) || time < 0 ||
	    time > 1e11)
		return false;
	t = (time_t)time;
	if (localtime_r(&t, &tm))
		strftime(when, sizeof(when), "%m-%d %H:%M:%S", &tm);
	(void)cli_j_uint(cli_j_member(v, "entries"), UINT64_MAX, &entries);
	(void)cli_j_uint(cli_j_member(v, "failed"), UINT64_MAX, &failed);
	(void)cli_j_uint(cli_j_member(v, "lost_leaf_pairs"), UINT64_MAX, &lost);
	if (cli_j_real(cli_j_member(cli_j_member(v, "ms"), "last"), &last))
		snprintf(took, sizeof(took), " in %.2f ms", last);
	cli_j_text(cli_j_member(v, "event"), event, sizeof(event));
	if (cli_j_uint(cli_j_member(v, "number_drained"), UINT64_MAX, &entries)) {
		top_print(l, CLI_PLAIN, "%s %-11s %" PRIu64 " %s drained", when, event, entries,
			  entries == 1 ? "part" : "parts");
		return true;
	}
	name_links(v, links, sizeof(links));
	top_print(l, failed || lost ? CLI_WRONG : CLI_PLAIN,
		  "%s %-11s %-7s %6" PRIu64 " %s%s%s%s  %s", when,
		  event, cli_j_text(cli_j_member(v, "stage"), stage, sizeof(stage)),
		  entries, entries == 1 ? "entry" : "entries", took,
		  failed ? ", writes FAILED" : "",
		  lost ? ", paths LOST" : "", links);
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
	struct cli_jval v;
	uint64_t part = 1;

	if (!l || !len)
		return;
	if (!cli_j_parse(s, len, &v) || cli_j_type(v) != CLI_J_OBJECT) {
		d->bad_lines++;
		return;
	}
	(void)cli_j_uint(cli_j_member(v, "part"), UINT64_MAX, &part);
	if (part != 1)
		return;
	if (show_event(v, l))
		d->n_events++;
	else
		d->bad_lines++;
}

static void read_events(struct top_data *d)
{
	char error[TOP_TEXT_MAX];
	size_t len;
	bool whole;
	char *text = tail(d->dir, "ibfattree-events.jsonl", EVENTS_TAIL,
			  &d->events_stamp, &len, &whole, error);
	const char *at = text, *nl;

	if (!text) {
		if (*error || !d->events_stamp.ino) {
			memcpy(d->events_error, error, sizeof(error));
			d->n_events = d->bad_lines = 0;
		}
		return;
	}
	d->events_error[0] = '\0';
	d->n_events = d->bad_lines = 0;
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
	free(d->text);
	free(d->event);
}
