// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Replays an events file of the plugin: one JSON object per line.
 *
 *	{"event": "link-down", "time": 1763722345.123456,
 *	 "cables": [{"guid": "0x..", "port": 7, "peer_guid": "0x..",
 *		     "peer_port": 3}],
 *	 "sets": [{"ms": 2.75, "guid": "0x..", "lids": [[12, 4], [13, 4]]}]}
 *
 * The links in "cables" fail or return at the time of the event.  A link may have a member "up":
 * true if it returns, false if it fails.  A link without this member returns if the event's name
 * ends in "-up", fails if the name ends in "-down", and is otherwise ignored.  Each element of
 * "sets" changes entries of one switch, "ms" milliseconds after the event; "lids" has pairs [LID,
 * new port].  Other members, and lines without "time", are ignored.
 *
 * The lines may be in any order.  (The plugin writes the record of a local repair at once, and
 * other records only when the repair is confirmed.)  Times count from the earliest event of the
 * file, which occurs at the simulated time of --events-at.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/json.h"
#include "cli/sim.h"

struct reader {
	struct cli_sim *j;
	const char *path;
	struct ftr_err *err;
	enum ftr_status status;	/* FTR_OK until the first error */
	unsigned int line;
	bool started;
	double first;		/* time in the first line, seconds */
	uint64_t earliest;	/* earliest time of an event, as event_time() returns it */
};

/* Maximum difference between the time in a line and that in the first line, in seconds and in
 * picoseconds.  A simulation is shorter: cli_time() limits --warmup and --duration to 1e6 s
 * each. */
#define SPAN_S 4000000
#define SPAN_PS (SPAN_S * UINT64_C(1000000000000))

/* Returns (t - r->first + SPAN_S) in picoseconds, but at most 2 * SPAN_PS.  No simulation reaches
 * later times. */
static uint64_t event_time(const struct reader *r, double t)
{
	double after = t - r->first;

	return after < SPAN_S ? SPAN_PS + (uint64_t)(int64_t)(after * 1e12) : 2 * SPAN_PS;
}

/* Maximum number of changes; no simulation needs that many. */
#define CHANGES_MAX (4u << 20)

enum ftr_status cli_sim_add(struct cli_sim *j, const struct ftr_sim_change *g, struct ftr_err *err)
{
	if (j->n_changes == CHANGES_MAX)
		return ftr_fail(err, FTR_LIMIT, "more than %u changes of links and entries",
				CHANGES_MAX);
	if (j->n_changes == j->cap_changes) {
		uint32_t cap = j->cap_changes ? 2 * j->cap_changes : 64;
		void *p = realloc(j->change, cap * sizeof(*j->change));

		if (!p)
			return ftr_nomem(err, "%u changes", cap);
		j->change = p;
		j->cap_changes = cap;
	}
	j->change[j->n_changes++] = *g;
	j->n_links_down += g->kind == FTR_SIM_LINK_DOWN;
	j->n_links_up += g->kind == FTR_SIM_LINK_UP;
	return FTR_OK;
}

/* The functions below that return bool return false after an error, which they store in r->status
 * and r->err. */

static bool add(struct reader *r, const struct ftr_sim_change *g)
{
	r->status = cli_sim_add(r->j, g, r->err);
	return !r->status;
}

static bool fail(struct reader *r, const char *what)
{
	r->status = ftr_fail(r->err, FTR_PARSE, "%s:%u: %s", r->path, r->line, what);
	return false;
}

#define VALUE_MAX 64	/* maximum length of a value in an error message */

static bool wrong(struct reader *r, const char *what, struct json_object *v)
{
	char buf[2 * VALUE_MAX];

	if (v)
		snprintf(buf, sizeof(buf), "%s: '%.*s'", what, VALUE_MAX,
			 json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN));
	else
		snprintf(buf, sizeof(buf), "%s: missing", what);
	return fail(r, buf);
}

/* Finds the switch whose GUID is member `key` of o.  If it is not in the fabric, *s is
 * FTR_SW_NONE. */
static bool read_switch(struct reader *r, struct json_object *o, const char *key, ftr_sw *s)
{
	const char *text = cli_json_get_text(o, key);
	uint64_t guid;
	char *end;

	errno = 0;
	guid = strtoull(text, &end, 16);
	if (end == text || *end || errno)
		return wrong(r, key, json_object_object_get(o, key));
	*s = ftr_fabric_find_sw(r->j->conf.f, guid);
	return true;
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* Finds out whether the link fails or returns.  If the link has no member "up", and the name of the
 * event does not end in "-up" or "-down", sets *ignored to true. */
static bool read_kind(struct reader *r, struct json_object *o, const char *event,
		      enum ftr_sim_change_kind *kind, bool *ignored)
{
	struct json_object *v = json_object_object_get(o, "up");
	bool up = json_object_get_boolean(v);

	if (v && !json_object_is_type(v, json_type_boolean))
		return wrong(r, "\"up\" is neither true nor false", v);
	if (!v) {
		up = ends_in(event, "-up");
		*ignored = !up && !ends_in(event, "-down");
	}
	*kind = up ? FTR_SIM_LINK_UP : FTR_SIM_LINK_DOWN;
	return true;
}

static bool read_link(struct reader *r, struct json_object *o, uint64_t at, const char *event)
{
	const struct ftr_fabric *f = r->j->conf.f;
	struct ftr_sim_change g = { .at = at };
	const char *port = "port";
	bool ignored = false;
	uint64_t n;

	if (!read_kind(r, o, event, &g.kind, &ignored))
		return false;
	if (ignored)
		return true;
	if (!read_switch(r, o, "guid", &g.sw))
		return false;
	if (g.sw == FTR_SW_NONE) {
		port = "peer_port";
		if (!read_switch(r, o, "peer_guid", &g.sw))
			return false;
	}
	if (g.sw == FTR_SW_NONE)
		return fail(r, "neither end of the link is a switch of the fabric");
	if (!cli_json_uint(json_object_object_get(o, port), FTR_PORT_MAX, &n))
		return wrong(r, port, json_object_object_get(o, port));
	if (!n || n > f->sw[g.sw].n_ports ||
	    ftr_fabric_port(f, g.sw, n)->peer_kind == FTR_PEER_NONE)
		return wrong(r, "there is no link at that port", o);
	g.port = (ftr_port)n;
	return add(r, &g);
}

/* Adds the change of one entry, given as [LID, port]. */
static bool read_entry(struct reader *r, struct json_object *v, struct ftr_sim_change *g)
{
	struct json_object *lid, *port;
	uint64_t l, p;

	if (!json_object_is_type(v, json_type_array) || json_object_array_length(v) != 2)
		return wrong(r, "not a LID and a port", v);
	lid = json_object_array_get_idx(v, 0);
	port = json_object_array_get_idx(v, 1);
	if (!cli_json_uint(lid, FTR_LID_MAX, &l))
		return wrong(r, "lid", lid);
	if (!cli_json_uint(port, FTR_PORT_NONE, &p))
		return wrong(r, "port", port);
	if (p != FTR_PORT_NONE && p > r->j->conf.f->sw[g->sw].n_ports)
		return wrong(r, "the switch has no such port", v);
	g->lid = (ftr_lid)l;
	g->port = (ftr_port)p;
	return add(r, g);
}

static bool read_set(struct reader *r, struct json_object *o, uint64_t at)
{
	struct json_object *lids = json_object_object_get(o, "lids");
	struct ftr_sim_change g = { .kind = FTR_SIM_ENTRY };
	double delay = 0;

	if (!read_switch(r, o, "guid", &g.sw))
		return false;
	if (g.sw == FTR_SW_NONE)
		return wrong(r, "not the GUID of a switch of the fabric",
			     json_object_object_get(o, "guid"));
	if (!json_object_is_type(lids, json_type_array))
		return wrong(r, "lids", lids);
	if (!cli_json_get_real(o, "ms", &delay) || !(delay >= 0 && delay < 1e9))
		return wrong(r, "\"ms\" is not a number from 0 to 1e9",
			     json_object_object_get(o, "ms"));
	g.at = at + (uint64_t)(delay * 1e9);
	for (size_t i = 0; i < json_object_array_length(lids); i++)
		if (!read_entry(r, json_object_array_get_idx(lids, i), &g))
			return false;
	return true;
}

static bool read_changes(struct reader *r, struct json_object *o, uint64_t at)
{
	struct json_object *links = json_object_object_get(o, "cables");
	struct json_object *sets = json_object_object_get(o, "sets");
	const char *event = cli_json_get_text(o, "event");

	if (links && !json_object_is_type(links, json_type_array))
		return wrong(r, "cables", links);
	for (size_t i = 0; links && i < json_object_array_length(links); i++)
		if (!read_link(r, json_object_array_get_idx(links, i), at, event))
			return false;
	if (sets && !json_object_is_type(sets, json_type_array))
		return wrong(r, "sets", sets);
	for (size_t i = 0; sets && i < json_object_array_length(sets); i++)
		if (!read_set(r, json_object_array_get_idx(sets, i), at))
			return false;
	return true;
}

static bool read_event(struct reader *r, struct json_object *o)
{
	struct json_object *time = json_object_object_get(o, "time");
	uint64_t at;
	double t;

	if (!json_object_is_type(o, json_type_object))
		return wrong(r, "not a JSON object", o);
	if (!time)
		return true;
	if (!cli_json_get_real(o, "time", &t))
		return wrong(r, "\"time\" is not a number", time);
	if (!r->started)
		r->first = t;
	r->started = true;
	if (!(t - r->first > -SPAN_S)) {
		r->status = ftr_fail(r->err, FTR_PARSE,
				     "%s:%u: the time is %d s or more before that in the first line",
				     r->path, r->line, SPAN_S);
		return false;
	}
	at = event_time(r, t);
	if (at < r->earliest)
		r->earliest = at;
	return read_changes(r, o, at);
}

/* Maximum length of a line.  The plugin writes at most 16 KiB per line. */
#define LINE_MAX_BYTES (4u << 20)

/* Reads the next line into buf, which has room for LINE_MAX_BYTES.  Returns its length without the
 * newline and blanks at the end, or -1 at the end of the file and after an error. */
static ssize_t read_line(struct reader *r, FILE *in, char *buf)
{
	size_t n = 0;
	int c;

	while ((c = getc_unlocked(in)) != EOF && c != '\n') {
		if (n == LINE_MAX_BYTES) {
			r->status = ftr_fail(r->err, FTR_LIMIT, "%s:%u: a line of more than %u bytes",
					     r->path, r->line + 1, LINE_MAX_BYTES);
			return -1;
		}
		buf[n++] = (char)c;
	}
	r->line++;
	if (ferror(in))
		r->status = ftr_fail(r->err, FTR_IO, "cannot read %s: %s", r->path, strerror(errno));
	if (ferror(in) || (c == EOF && !n))
		return -1;
	while (n && buf[n - 1] && strchr(" \t\r", buf[n - 1]))
		n--;
	return (ssize_t)n;
}

static void read_lines(struct reader *r, FILE *in, char *buf)
{
	struct json_object *v;
	ssize_t n;

	while ((n = read_line(r, in, buf)) >= 0) {
		if (!n)
			continue;
		v = cli_json_parse(buf, (size_t)n);
		if (v)
			read_event(r, v);
		else
			fail(r, "not one JSON object");
		json_object_put(v);
		if (r->status)
			return;
	}
}

enum ftr_status cli_sim_events(struct cli_sim *j, const char *path, struct ftr_err *err)
{
	struct reader r = { .j = j, .path = path, .err = err, .earliest = UINT64_MAX };
	uint32_t first = j->n_changes;
	char *buf = malloc(LINE_MAX_BYTES);
	FILE *in = fopen(path, "re");
	struct stat sb;

	if (!in)
		r.status = ftr_fail(err, FTR_IO, "cannot open %s: %s", path, strerror(errno));
	else if (!buf)
		r.status = ftr_nomem(err, "%s", path);
	else if (!fstat(fileno(in), &sb) && S_ISCHR(sb.st_mode))
		/* a device may be endless */
		r.status = ftr_fail(err, FTR_IO, "cannot read %s: it is a device", path);
	else
		read_lines(&r, in, buf);
	/* convert the results of event_time() to simulated times */
	for (uint32_t i = first; i < j->n_changes; i++)
		j->change[i].at += j->events_at - r.earliest;
	if (in)
		fclose(in);
	free(buf);
	return r.status;
}
