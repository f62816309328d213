// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An events file of the plugin, replayed: one JSON object a line.
 *
 *	{"event": "link-down", "time": 1763722345.123456,
 *	 "cables": [{"guid": "0x..", "port": 7, "peer_guid": "0x..",
 *		     "peer_port": 3}],
 *	 "sets": [{"ms": 2.75, "guid": "0x..", "lids": [[12, 4], [13, 4]]}]}
 *
 * Of an event whose name ends in "-down" or "-up" the cables die or come back
 * at its time; of any event the entries in "sets" change "ms" milliseconds
 * after it.  The first event of a file that has a time is the time 0 of all
 * others.  Other members, and lines without "time", are passed over.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/json.h"
#include "cli/sim.h"

struct reader {
	struct cli_sim_job *j;
	const char *path;
	unsigned int line;
	bool started;
	double first;		/* time of the first event */
	uint64_t at;		/* of it, in the simulation */
};

static enum ftr_status wrong(const struct reader *r, const char *what,
			     const char *value, struct ftr_err *err)
{
	return ftr_fail(err, FTR_PARSE, "%s:%u: %s%s%s%s", r->path, r->line,
			what, value ? ": '" : "", value ? value : "",
			value ? "'" : "");
}

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *x = NULL;

	return json_object_is_type(o, json_type_object) &&
	       json_object_object_get_ex(o, key, &x) ? x : NULL;
}

/* An array, or NULL: there is none. */
static enum ftr_status read_list(const struct reader *r, struct json_object *o,
				 const char *key, struct json_object **list,
				 struct ftr_err *err)
{
	*list = member(o, key);
	return !*list || json_object_is_type(*list, json_type_array) ? FTR_OK :
	       wrong(r, "no array", key, err);
}

/* The switch that key names, or NONE: not a switch of the fabric. */
static enum ftr_status read_switch(const struct reader *r,
				   struct json_object *o, const char *key,
				   ftr_sw *s, struct ftr_err *err)
{
	struct json_object *x = member(o, key);
	const char *text = x ? json_object_get_string(x) : "";
	uint64_t guid;
	char *end;

	errno = 0;
	guid = strtoull(text, &end, 16);
	if (end == text || *end || errno)
		return wrong(r, key, text, err);
	*s = ftr_fabric_find_sw(r->j->f, guid);
	return FTR_OK;
}

static enum ftr_status read_number(const struct reader *r,
				   struct json_object *x, const char *what,
				   int64_t max, int64_t *out,
				   struct ftr_err *err)
{
	*out = json_object_is_type(x, json_type_int) ?
	       json_object_get_int64(x) : -1;
	if (*out < 0 || *out > max)
		return wrong(r, what, x ? json_object_get_string(x) : "", err);
	return FTR_OK;
}

static enum ftr_status read_cable(const struct reader *r,
				  struct json_object *o, uint64_t at, bool down,
				  struct ftr_err *err)
{
	struct ftr_sim_change g = {
		.at = at, .kind = down ? FTR_SIM_LINK_DOWN : FTR_SIM_LINK_UP,
	};
	const char *port = "port";
	int64_t n = 0;
	enum ftr_status st = read_switch(r, o, "guid", &g.sw, err);

	if (!st && g.sw == FTR_SW_NONE) {
		st = read_switch(r, o, "peer_guid", &g.sw, err);
		port = "peer_port";
	}
	if (!st && g.sw == FTR_SW_NONE)
		st = wrong(r, "neither end of a cable is a switch of the fabric",
			   NULL, err);
	if (!st)
		st = read_number(r, member(o, port), port, FTR_PORT_MAX, &n,
				 err);
	if (!st && (!n || n > r->j->f->sw[g.sw].n_ports ||
		    ftr_fabric_port(r->j->f, g.sw, (ftr_port)n)->peer_kind ==
		    FTR_PEER_NONE))
		st = wrong(r, "there is no cable at that port",
			   json_object_to_json_string(o), err);
	g.port = (ftr_port)n;
	return st ? st : cli_sim_add(r->j, &g, err);
}

static enum ftr_status read_set(const struct reader *r, struct json_object *o,
				uint64_t at, struct ftr_err *err)
{
	struct json_object *ms = member(o, "ms"), *lids = member(o, "lids");
	struct ftr_sim_change g = { .kind = FTR_SIM_ENTRY };
	enum ftr_status st = read_switch(r, o, "guid", &g.sw, err);

	if (!st && g.sw == FTR_SW_NONE)
		st = wrong(r, "no switch of the fabric",
			   json_object_get_string(member(o, "guid")), err);
	if (!st && (!ms || !json_object_is_type(lids, json_type_array)))
		st = wrong(r, "a set without ms or lids", NULL, err);
	if (!st && !(json_object_get_double(ms) >= 0 &&
		     json_object_get_double(ms) < 1e9))
		st = wrong(r, "ms below 0 or above 1e9",
			   json_object_get_string(ms), err);
	if (st)
		return st;
	g.at = at + (uint64_t)(json_object_get_double(ms) * 1e9);
	for (size_t i = 0; !st && i < json_object_array_length(lids); i++) {
		struct json_object *x = json_object_array_get_idx(lids, i);
		int64_t lid = 0, port = 0;

		if (!json_object_is_type(x, json_type_array) ||
		    json_object_array_length(x) != 2)
			return wrong(r, "a lid without a port", NULL, err);
		st = read_number(r, json_object_array_get_idx(x, 0), "lid",
				 FTR_LID_MAX, &lid, err);
		if (!st)
			st = read_number(r, json_object_array_get_idx(x, 1),
					 "port", FTR_PORT_NONE, &port, err);
		if (!st && port != FTR_PORT_NONE &&
		    port > r->j->f->sw[g.sw].n_ports)
			st = wrong(r, "the switch has no such port",
				   json_object_to_json_string(x), err);
		g.lid = (ftr_lid)lid;
		g.port = (ftr_port)port;
		if (!st)
			st = cli_sim_add(r->j, &g, err);
	}
	return st;
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static enum ftr_status read_event(struct reader *r, struct json_object *o,
				  struct ftr_err *err)
{
	struct json_object *time = member(o, "time"), *list;
	struct json_object *name = member(o, "event");
	const char *event = name ? json_object_get_string(name) : "";
	bool down = ends_in(event, "-down"), up = ends_in(event, "-up");
	enum ftr_status st = FTR_OK;
	uint64_t at;
	double t;

	if (!json_object_is_type(o, json_type_object))
		return wrong(r, "no JSON object", NULL, err);
	if (!time)
		return FTR_OK;
	t = json_object_get_double(time);
	if (!r->started)
		r->first = t;
	r->started = true;
	if (!(t >= r->first && t - r->first < 1e5))
		return wrong(r, "a time before the first, or a day after it",
			     json_object_get_string(time), err);
	at = r->at + (uint64_t)((t - r->first) * 1e12);
	st = read_list(r, o, "cables", &list, err);
	for (size_t i = 0; !st && (down || up) && list &&
	     i < json_object_array_length(list); i++)
		st = read_cable(r, json_object_array_get_idx(list, i), at,
				down, err);
	if (!st)
		st = read_list(r, o, "sets", &list, err);
	for (size_t i = 0; !st && list && i < json_object_array_length(list);
	     i++)
		st = read_set(r, json_object_array_get_idx(list, i), at, err);
	return st;
}

enum ftr_status cli_sim_events(struct cli_sim_job *j, const char *path,
			       uint64_t at, struct ftr_err *err)
{
	struct reader r = { .j = j, .path = path, .at = at };
	FILE *in = fopen(path, "r");
	enum ftr_status st = FTR_OK;
	struct stat sb;
	char *text = NULL;
	size_t cap = 0;
	ssize_t len;

	if (!in)
		return ftr_fail(err, FTR_IO, "cannot open %s: %s", path,
				strerror(errno));
	/* it might have no end */
	if (!fstat(fileno(in), &sb) && S_ISCHR(sb.st_mode)) {
		fclose(in);
		return ftr_fail(err, FTR_IO, "cannot read %s: it is a device",
				path);
	}
	while (!st && (len = getline(&text, &cap, in)) >= 0) {
		struct json_object *o;

		r.line++;
		if (strspn(text, " \t\r\n") == (size_t)len)
			continue;
		o = json_tokener_parse(text);
		st = o ? read_event(&r, o, err) :
			 wrong(&r, "no JSON object", NULL, err);
		json_object_put(o);
	}
	if (!st && ferror(in))
		st = ftr_fail(err, FTR_IO, "cannot read %s: %s", path,
			      strerror(errno));
	free(text);
	fclose(in);
	return st;
}
