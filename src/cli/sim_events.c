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

#include "cli/jsonread.h"
#include "cli/sim.h"

struct reader {
	struct cli_sim_job *j;
	const char *path;
	unsigned int line;
	bool started;
	double first;		/* time in the first line, seconds */
	uint64_t earliest;	/* earliest time of an event, as event_time() returns it */
};

/* Maximum difference between the time in a line and that in the first line, in seconds and in
 * picoseconds.  A simulation is shorter: cli_sim_time() limits --warmup and --duration to 1e6 s
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

enum ftr_status cli_sim_add(struct cli_sim_job *j,
			    const struct ftr_sim_change *g, struct ftr_err *err)
{
	if (j->n_changes == CHANGES_MAX)
		return ftr_fail(err, FTR_LIMIT, "more than %u changes of links and entries",
				CHANGES_MAX);
	if (j->n_changes == j->cap_changes) {
		uint32_t cap = j->cap_changes ? 2 * j->cap_changes : 64;
		void *p = realloc(j->change, cap * sizeof(*j->change));

		if (!p)
			return ftr_fail(err, FTR_NOMEM, "out of memory for %u changes",
					cap);
		j->change = p;
		j->cap_changes = cap;
	}
	j->change[j->n_changes++] = *g;
	if (g->kind == FTR_SIM_LINK_DOWN)
		j->n_links_down++;
	else if (g->kind == FTR_SIM_LINK_UP)
		j->n_links_up++;
	return FTR_OK;
}

#define VALUE_MAX 64	/* maximum length of a value in an error message */

static enum ftr_status fail(const struct reader *r, const char *what,
			    struct ftr_err *err)
{
	return ftr_fail(err, FTR_PARSE, "%s:%u: %s", r->path, r->line, what);
}

static enum ftr_status wrong(const struct reader *r, const char *what,
			     struct cli_jval v, struct ftr_err *err)
{
	char text[VALUE_MAX];

	if (!v.p)
		return ftr_fail(err, FTR_PARSE, "%s:%u: %s: missing", r->path,
				r->line, what);
	return ftr_fail(err, FTR_PARSE, "%s:%u: %s: '%s'", r->path, r->line,
			what, cli_j_raw(v, text, sizeof(text)));
}

/* Stores the array that is member `key` of o in *list.  If o has no such member, *list has type
 * CLI_J_NONE. */
static enum ftr_status read_list(const struct reader *r, struct cli_jval o,
				 const char *key, struct cli_jval *list,
				 struct ftr_err *err)
{
	*list = cli_j_member(o, key);
	return !list->p || cli_j_type(*list) == CLI_J_ARRAY ? FTR_OK :
	       wrong(r, key, *list, err);
}

/* Finds the switch whose GUID is member `key` of o.  If it is not in the fabric, *s is
 * FTR_SW_NONE. */
static enum ftr_status read_switch(const struct reader *r, struct cli_jval o,
				   const char *key, ftr_sw *s,
				   struct ftr_err *err)
{
	struct cli_jval v = cli_j_member(o, key);
	char text[VALUE_MAX], *end;
	uint64_t guid;

	cli_j_text(v, text, sizeof(text));
	errno = 0;
	guid = strtoull(text, &end, 16);
	if (end == text || *end || errno)
		return wrong(r, key, v, err);
	*s = ftr_fabric_find_sw(r->j->f, guid);
	return FTR_OK;
}

static enum ftr_status read_number(const struct reader *r, struct cli_jval v,
				   const char *what, uint64_t max,
				   uint64_t *out, struct ftr_err *err)
{
	return cli_j_uint(v, max, out) ? FTR_OK : wrong(r, what, v, err);
}

static bool ends_in(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* Finds out whether the link fails or returns.  If the link has no member "up", and the name of the
 * event does not end in "-up" or "-down", sets *ignored to true. */
static enum ftr_status read_kind(const struct reader *r, struct cli_jval o,
				 const char *event, enum ftr_sim_change_kind *kind,
				 bool *ignored, struct ftr_err *err)
{
	struct cli_jval v = cli_j_member(o, "up");
	char text[VALUE_MAX];
	bool up;

	if (v.p) {
		cli_j_raw(v, text, sizeof(text));
		up = !strcmp(text, "true");
		if (!up && strcmp(text, "false"))
			return wrong(r, "\"up\" is neither true nor false", v, err);
	} else {
		up = ends_in(event, "-up");
		*ignored = !up && !ends_in(event, "-down");
	}
	*kind = up ? FTR_SIM_LINK_UP : FTR_SIM_LINK_DOWN;
	return FTR_OK;
}

static enum ftr_status read_link(const struct reader *r, struct cli_jval o,
				 uint64_t at, const char *event, struct ftr_err *err)
{
	struct ftr_sim_change g = { .at = at };
	const char *port = "port";
	bool ignored = false;
	uint64_t n = 0;
	enum ftr_status st = read_kind(r, o, event, &g.kind, &ignored, err);

	if (st || ignored)
		return st;
	st = read_switch(r, o, "guid", &g.sw, err);
	if (!st && g.sw == FTR_SW_NONE) {
		st = read_switch(r, o, "peer_guid", &g.sw, err);
		port = "peer_port";
	}
	if (!st && g.sw == FTR_SW_NONE)
		st = fail(r, "neither end of the link is a switch of the fabric",
			  err);
	if (!st)
		st = read_number(r, cli_j_member(o, port), port, FTR_PORT_MAX,
				 &n, err);
	if (!st && (!n || n > r->j->f->sw[g.sw].n_ports ||
		    ftr_fabric_port(r->j->f, g.sw, n)->peer_kind ==
		    FTR_PEER_NONE))
		st = wrong(r, "there is no link at that port", o, err);
	g.port = (ftr_port)n;
	return st ? st : cli_sim_add(r->j, &g, err);
}

/* Adds the change of one entry, given as [LID, port]. */
static enum ftr_status read_entry(const struct reader *r, struct cli_jval v,
				  struct ftr_sim_change *g, struct ftr_err *err)
{
	struct cli_jval lid, port, more;
	const char *at = NULL;
	uint64_t l = 0, p = 0;
	enum ftr_status st;

	if (cli_j_type(v) != CLI_J_ARRAY || !cli_j_next(v, &at, &lid) ||
	    !cli_j_next(v, &at, &port) || cli_j_next(v, &at, &more))
		return wrong(r, "not a LID and a port", v, err);
	st = read_number(r, lid, "lid", FTR_LID_MAX, &l, err);
	if (!st)
		st = read_number(r, port, "port", FTR_PORT_NONE, &p, err);
	if (!st && p != FTR_PORT_NONE && p > r->j->f->sw[g->sw].n_ports)
		st = wrong(r, "the switch has no such port", v, err);
	g->lid = (ftr_lid)l;
	g->port = (ftr_port)p;
	return st ? st : cli_sim_add(r->j, g, err);
}

static enum ftr_status read_set(const struct reader *r, struct cli_jval o,
				uint64_t at, struct ftr_err *err)
{
	struct cli_jval lids = cli_j_member(o, "lids"), v;
	struct ftr_sim_change g = { .kind = FTR_SIM_ENTRY };
	const char *next = NULL;
	double ms = 0;
	enum ftr_status st = read_switch(r, o, "guid", &g.sw, err);

	if (!st && g.sw == FTR_SW_NONE)
		st = wrong(r, "not the GUID of a switch of the fabric",
			   cli_j_member(o, "guid"), err);
	if (!st && cli_j_type(lids) != CLI_J_ARRAY)
		st = wrong(r, "lids", lids, err);
	if (!st && (!cli_j_real(cli_j_member(o, "ms"), &ms) ||
		    !(ms >= 0 && ms < 1e9)))
		st = wrong(r, "\"ms\" is not a number from 0 to 1e9",
			   cli_j_member(o, "ms"), err);
	g.at = at + (uint64_t)(ms * 1e9);
	while (!st && cli_j_next(lids, &next, &v))
		st = read_entry(r, v, &g, err);
	return st;
}

static enum ftr_status read_event(struct reader *r, struct cli_jval o,
				  struct ftr_err *err)
{
	struct cli_jval time = cli_j_member(o, "time"), list, v;
	char event[VALUE_MAX];
	const char *next = NULL;
	enum ftr_status st;
	uint64_t at;
	double t;

	if (cli_j_type(o) != CLI_J_OBJECT)
		return wrong(r, "not a JSON object", o, err);
	if (!time.p)
		return FTR_OK;
	if (!cli_j_real(time, &t))
		return wrong(r, "\"time\" is not a number", time, err);
	if (!r->started)
		r->first = t;
	r->started = true;
	if (!(t - r->first > -SPAN_S))
		return ftr_fail(err, FTR_PARSE, "%s:%u: the time is %d s or more before that in the first line",
				r->path, r->line, SPAN_S);
	at = event_time(r, t);
	if (at < r->earliest)
		r->earliest = at;
	cli_j_text(cli_j_member(o, "event"), event, sizeof(event));
	st = read_list(r, o, "cables", &list, err);
	while (!st && list.p && cli_j_next(list, &next, &v))
		st = read_link(r, v, at, event, err);
	next = NULL;
	if (!st)
		st = read_list(r, o, "sets", &list, err);
	while (!st && list.p && cli_j_next(list, &next, &v))
		st = read_set(r, v, at, err);
	return st;
}

/* Maximum length of a line.  The plugin writes at most 16 KiB per line; older versions wrote
 * several hundred KiB. */
#define LINE_MAX_BYTES (4u << 20)

/* Reads the next line into buf, which has room for LINE_MAX_BYTES.  *len is the length without the
 * newline.  Sets *end to true if no line is left. */
static enum ftr_status read_line(struct reader *r, FILE *in, char *buf,
				 size_t *len, bool *end, struct ftr_err *err)
{
	int c;

	*len = 0;
	while ((c = getc_unlocked(in)) != EOF && c != '\n') {
		if (*len == LINE_MAX_BYTES)
			return ftr_fail(err, FTR_LIMIT, "%s:%u: a line of more than %u bytes",
					r->path, r->line + 1, LINE_MAX_BYTES);
		buf[(*len)++] = (char)c;
	}
	r->line++;
	*end = c == EOF && !*len;
	return ferror(in) ? ftr_fail(err, FTR_IO, "cannot read %s: %s", r->path,
				     strerror(errno)) : FTR_OK;
}

static bool is_blank(const char *text, size_t len)
{
	while (len && strchr(" \t\r", text[len - 1]) && text[len - 1])
		len--;
	return !len;
}

static enum ftr_status read_lines(struct reader *r, FILE *in, char *buf,
				  struct ftr_err *err)
{
	for (;;) {
		struct cli_jval v;
		bool end = false;
		size_t len;
		enum ftr_status st = read_line(r, in, buf, &len, &end, err);

		if (st || end)
			return st;
		if (is_blank(buf, len))
			continue;
		if (!cli_j_parse(buf, len, &v))
			return fail(r, "not one JSON object", err);
		st = read_event(r, v, err);
		if (st)
			return st;
	}
}

enum ftr_status cli_sim_events(struct cli_sim_job *j, const char *path,
			       uint64_t at, struct ftr_err *err)
{
	struct reader r = { .j = j, .path = path, .earliest = UINT64_MAX };
	uint32_t first = j->n_changes;
	char *buf = malloc(LINE_MAX_BYTES);
	FILE *in = fopen(path, "re");
	enum ftr_status st;
	struct stat sb;

	if (!in)
		st = ftr_fail(err, FTR_IO, "cannot open %s: %s", path,
			      strerror(errno));
	else if (!buf)
		st = ftr_fail(err, FTR_NOMEM, "out of memory for %s", path);
	else if (!fstat(fileno(in), &sb) && S_ISCHR(sb.st_mode))
		/* a device may be endless */
		st = ftr_fail(err, FTR_IO, "cannot read %s: it is a device",
			      path);
	else
		st = read_lines(&r, in, buf, err);
	/* convert the results of event_time() to simulated times */
	for (uint32_t i = first; !st && i < j->n_changes; i++)
		j->change[i].at += at - r.earliest;
	if (in)
		fclose(in);
	free(buf);
	return st;
}
