// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Formats the status as lines: one subject per line, its name first.  Lines that need
 * attention are coloured and start with "!", for terminals without colours.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/top.h"

struct show {
	struct json_object *s;
	double now;
	struct top_line *line;
	size_t n;
	bool attention;
};

static void say(struct show *w, enum cli_colour c, const char *name,
		const char *fmt, ...) FTR_PRINTF(4, 5);

static void say(struct show *w, enum cli_colour c, const char *name, const char *fmt, ...)
{
	char text[TOP_TEXT_MAX - 20];
	va_list ap;

	if (w->n == TOP_LINES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	top_print(&w->line[w->n++], c, "%c %-14s %s",
		  c == CLI_WRONG || c == CLI_DOUBT ? '!' : ' ', name, text);
	w->attention |= c == CLI_WRONG || c == CLI_DOUBT;
}

static uint64_t count(const struct show *w, const char *key)
{
	return cli_json_get_uint(w->s, key);
}

static double real(struct json_object *o, const char *key)
{
	double v = 0;

	(void)cli_json_get_real(o, key, &v);
	return v;
}

#define DURATION_MAX 40

/* Writes a number of seconds in the form "12 s", "5 min 3 s", "3 h 12 min" or "41 days 3 h". */
static const char *duration(char *buf, double s)
{
	uint64_t n = s > 0 && s < 1e12 ? (uint64_t)s : 0;

	if (n < 60)
		snprintf(buf, DURATION_MAX, "%" PRIu64 " s", n);
	else if (n < 3600)
		snprintf(buf, DURATION_MAX, "%" PRIu64 " min %" PRIu64 " s", n / 60, n % 60);
	else if (n < 86400)
		snprintf(buf, DURATION_MAX, "%" PRIu64 " h %" PRIu64 " min", n / 3600, n / 60 % 60);
	else
		snprintf(buf, DURATION_MAX, "%" PRIu64 " days %" PRIu64 " h",
			 n / 86400, n / 3600 % 24);
	return buf;
}

static void put_engine(struct show *w)
{
	const char *state = cli_json_get_text(w->s, "state");
	const char *engine = cli_json_get_text(w->s, "engine");
	const char *reason = cli_json_get_text(w->s, "reason");
	bool ours = json_object_get_boolean(json_object_object_get(w->s, "ours"));
	bool master = !strcmp(state, "master");
	char a[DURATION_MAX];

	say(w, CLI_PLAIN, "written", "%s ago", duration(a, w->now - real(w->s, "time")));
	say(w, master ? CLI_GOOD : CLI_PLAIN, "subnet manager", "%s, for %s in total",
	    state, duration(a, real(json_object_object_get(w->s, "state_seconds"), state)));
	say(w, !master ? CLI_PLAIN : ours ? CLI_GOOD : CLI_WRONG,
	    "engine", "%s%s%s%s", *engine ? engine : "none",
	    ours || !*engine ? "" : ", not an engine of ibfattree", *reason ? ": " : "", reason);
}

/* The first drained part, who drained it and when, and the number of further ones. */
static void put_drains(struct show *w)
{
	struct json_object *d = json_object_object_get(w->s, "drains");
	struct json_object *list = json_object_object_get(d, "parts"), *first;
	size_t n = json_object_is_type(list, json_type_array) ? json_object_array_length(list) : 0;
	const char *error = cli_json_get_text(d, "error");
	char when[32] = "?", more[40] = "";
	double since;
	struct tm tm;
	time_t t;

	if (*error)
		say(w, CLI_WRONG, "drained", "%s", error);
	if (!n)
		return;
	first = json_object_array_get_idx(list, 0);
	since = real(first, "since");
	t = since >= 0 && since < 1e11 ? (time_t)since : 0;
	if (localtime_r(&t, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	if (n > 1)
		snprintf(more, sizeof(more), "; and %zu more", n - 1);
	say(w, CLI_DOUBT, "drained", "%.99s port %" PRIu64 " (0: all) by %.39s since %s%s",
	    cli_json_get_text(first, "name"), cli_json_get_uint(first, "port"),
	    cli_json_get_text(first, "by"), when, more);
}

static void put_fabric(struct show *w)
{
	uint64_t sw = count(w, "missing_switches");
	uint64_t links = count(w, "missing_links");
	uint64_t ends = count(w, "missing_end_ports");
	uint64_t held = count(w, "held_links");

	say(w, CLI_PLAIN, "fabric", "%s, %s, %s", CLI_SWITCHES(count(w, "switches")),
	    CLI_LINKS(count(w, "links")), CLI_HOST_PORTS(count(w, "end_ports")));
	say(w, sw || links ? CLI_DOUBT : CLI_PLAIN, "missing", "%s, %s, %s",
	    CLI_SWITCHES(sw), CLI_LINKS(links), CLI_HOST_PORTS(ends));
	put_drains(w);
	if (held)
		say(w, CLI_DOUBT, "flapping", "%s not used", CLI_LINKS(held));
}

static void put_paths(struct show *w)
{
	struct json_object *lost = json_object_object_get(w->s, "unreachable_pairs");
	uint64_t hosts = cli_json_get_uint(lost, "hosts");
	uint64_t no_sm = count(w, "switches_without_sm_path");

	say(w, hosts ? CLI_WRONG : CLI_PLAIN, "no path",
	    "%s of hosts, %s of a host and a switch, %s", CLI_PAIRS(hosts),
	    CLI_NUM(cli_json_get_uint(lost, "host_and_switch")),
	    CLI_COUNT(cli_json_get_uint(lost, "others"), "other", "others"));
	if (no_sm)
		say(w, CLI_WRONG, "no path to SM", "from %s", CLI_SWITCHES(no_sm));
}

static void put_balance(struct show *w)
{
	struct json_object *load = json_object_object_get(w->s, "link_load");
	uint64_t max = cli_json_get_uint(load, "max"), bound = cli_json_get_uint(load, "bound");

	if (!load)
		say(w, CLI_PLAIN, "balance", "not counted");
	else if (bound)
		say(w, CLI_PLAIN, "balance",
		    "%s flows on the most loaded link, all-to-all; %.2f times the lower bound %s",
		    CLI_NUM(max), (double)max / (double)bound, CLI_NUM(bound));
	else
		say(w, CLI_PLAIN, "balance", "%s flows on the most loaded link, all-to-all",
		    CLI_NUM(max));
}

/* Writes the time in ms of each phase that was reached, for example "known 1.71, computed 1.79".
 * key: the names of all phases, terminated by NULL. */
static void phases(struct json_object *ms, const char *const *key, char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	for (; *key && used < size; key++) {
		double v;

		if (cli_json_get_real(ms, *key, &v))
			used += (size_t)snprintf(out + used, size - used,
						 "%s%s %.2f", used ? ", " : "", *key, v);
	}
}

static void put_work(struct show *w)
{
	static const char *const routing[] = { "snapshot", "shape", "route",
					       "check", "commit", NULL };
	static const char *const repair[] = { "known", "computed", "checked",
					      "first_write", "last_write",
					      NULL };
	double at = real(w->s, "last_routing_timestamp_seconds");
	char a[DURATION_MAX], text[160];

	if (at > 0) {
		phases(json_object_object_get(w->s, "last_routing_ms"), routing, text,
		       sizeof(text));
		say(w, CLI_PLAIN, "last routing", "%s ago, %s changed", duration(a, w->now - at),
		    CLI_ENTRIES(count(w, "last_routing_changed_entries")));
		say(w, CLI_PLAIN, "", "ms: %s", text);
	}
	at = real(w->s, "last_reroute_timestamp_seconds");
	if (at > 0) {
		phases(json_object_object_get(w->s, "last_reroute_ms"), repair, text, sizeof(text));
		say(w, CLI_PLAIN, "last repair", "%s ago", duration(a, w->now - at));
		say(w, CLI_PLAIN, "", "ms after the trap: %s", text);
	}
}

static void put_counters(struct show *w)
{
	uint64_t failed = count(w, "failed_writes_total");
	uint64_t refused = count(w, "refusals_total");
	char a[DURATION_MAX];

	say(w, failed || refused ? CLI_DOUBT : CLI_PLAIN, "since start",
	    "%s: %s, %s (%s refused), %s (%s failed)", duration(a, w->now - real(w->s, "started")),
	    CLI_COUNT(count(w, "sweeps_total"), "sweep", "sweeps"),
	    CLI_COUNT(count(w, "routings_total"), "routing", "routings"), CLI_NUM(refused),
	    CLI_COUNT(count(w, "reroutes_total"), "repair", "repairs"),
	    CLI_COUNT(failed, "write", "writes"));
}

size_t top_show(const struct top_data *d, double now,
		struct top_line line[TOP_LINES_MAX], bool *attention)
{
	struct show w = { .s = d->status, .now = now, .line = line };

	if (d->status_error[0])
		say(&w, CLI_WRONG, "status", "%s%s", d->status_error,
		    d->status ? "; the last valid status is shown below" : "");
	if (d->status) {
		put_engine(&w);
		put_fabric(&w);
		put_paths(&w);
		put_balance(&w);
		put_work(&w);
		put_counters(&w);
	}
	*attention = w.attention;
	return w.n;
}
