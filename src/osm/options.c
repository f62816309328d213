// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options.  Everything is derived from one table.
 *
 * All values are ints (numbers, or the index of a word), so that a row needs an
 * offset but no type.  A file is parsed into a copy; the caller's options
 * change only if the whole file is correct.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/core.h"
#include "core/file.h"
#include "io/io.h"
#include "osm/options.h"
#include <ftr/engine.h>
#include <ftr/shape.h>

#define PLUGIN_WORD "ibfattree"
#define LINE_MAX_BYTES 4096

static const char *const off_on[] = { "off", "on", NULL };
static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const takeovers[] = { "plain", "ordered", NULL };
static const char *const leaf_orders[] = {
	[FTR_LEAF_BY_GUID] = "guid", [FTR_LEAF_BY_NAME] = "name", NULL
};

static const char *const root_modes[] = {
	[FTR_ROOTS_AUTO] = "auto", [FTR_ROOTS_FILE] = "file",
	[FTR_ROOTS_STRICT] = "strict", NULL
};

static const char *const placements[] = {
	[FTR_PLACE_EVEN] = "even", [FTR_PLACE_STABLE] = "stable",
	[FTR_PLACE_LITERAL] = "literal",
	[FTR_PLACE_PLANES] = "literal-planes", NULL
};

static const char *const balances[] = {
	[FTR_BALANCE_OFF] = "off", [FTR_BALANCE_LOAD] = "load",
	[FTR_BALANCE_FULL] = "full", NULL
};

static const char *const path_rules[] = {
	[FTR_PATHS_ALL] = "all", [FTR_PATHS_UPDOWN] = "updown", NULL
};

static const char *const sftree_modes[] = {
	[FTR_SFTREE_INVERTED] = "inverted", [FTR_SFTREE_PAPER] = "paper", NULL
};

#define FIELD(f) .offset = offsetof(struct ibf_options, f)

const struct ibf_option ibf_option_table[] = {
	{ .name = "threads", FIELD(threads), .max = FTR_TEAM_MAX,
	  .doc = "Threads that compute the routes; 0 = one per core.  The tables do not\n"
		 "depend on it." },
	{ .name = "leaf_order", FIELD(leaf_order), .words = leaf_orders,
	  .def = FTR_LEAF_BY_GUID,
	  .doc = "Order of the leaf switches inside a pod, and so the order of hosts that\n"
		 "the tables are balanced for: guid (GUID of the leaf switch), or name\n"
		 "(names of the hosts; node2 comes before node10)." },
	{ .name = "roots", FIELD(roots), .words = root_modes,
	  .def = FTR_ROOTS_AUTO,
	  .doc = "What to do if top switches are evidently missing from root_guid_file:\n"
		 "auto (treat them as roots, too), file (use the file as it is), or strict\n"
		 "(the engine does not route)." },
	{ .name = "ca_order_dump", FIELD(ca_order_dump), .words = off_on,
	  .def = 1,
	  .doc = "Write the order of hosts to opensm-ENGINE-ca-order.dump in\n"
		 "dump_files_dir after every routing: on or off." },
	{ .name = "status_files", FIELD(status_files), .words = off_on,
	  .def = 1,
	  .doc = "Write ibfattree.prom (metrics for Prometheus) and ibfattree-status.json\n"
		 "to dump_files_dir after every sweep and repair: on or off." },
	{ .name = "log_samples", FIELD(log_samples), .max = 16, .def = 10,
	  .doc = "Maximum number of hosts named in a warning about unreachable hosts." },
	{ .name = "dmodc_placement", FIELD(placement), .words = placements,
	  .def = FTR_PLACE_EVEN,
	  .doc = "Which next hops replace a failed link, for all engines: even (the load\n"
		 "is shared evenly among the remaining links), stable (each destination\n"
		 "takes the first working next hop of a fixed list); and, for\n"
		 "comparison only, literal (modulo and order of switches as published:\n"
		 "nearly all entries of a switch change, flows of a shift share links)\n"
		 "and literal-planes (the same modulo, switches ordered by plane)." },
	{ .name = "balance", FIELD(balance), .words = balances,
	  .def = FTR_BALANCE_FULL,
	  .doc = "Search for even load among the next hops that the engine allows: off\n"
		 "(closed form only: the tables depend only on the present and the nominal\n"
		 "fabric), load (all-to-all, in every routing), or full (also shift\n"
		 "permutations, in the background, once per fabric).  With load and full, a\n"
		 "fault changes only entries that lost their port." },
	{ .name = "adopt", FIELD(adopt), .words = no_yes, .def = 0,
	  .doc = "A manager that finds no stored tables reads those of the switches at its\n"
		 "first routing as master, and keeps every entry that is valid and not on\n"
		 "an overloaded link: no or yes." },
	{ .name = "takeover", FIELD(takeover), .words = takeovers, .def = 0,
	  .doc = "How the tables of another engine are replaced: plain (OpenSM writes the\n"
		 "new ones in its own order), or ordered (the engine reads the tables of the\n"
		 "switches and writes the new ones in steps, so that no credit loop forms\n"
		 "and no path is missing during the change)." },
	{ .name = "paths", FIELD(paths), .words = path_rules,
	  .def = FTR_PATHS_ALL,
	  .doc = "Which pairs of host ports the engine dmodc connects: all (every pair\n"
		 "that is physically connected), or updown (the published rule: only pairs\n"
		 "with a path that goes up and then down)." },
	{ .name = "sftree_mode", FIELD(sftree_mode), .words = sftree_modes,
	  .def = FTR_SFTREE_INVERTED,
	  .doc = "How the engine sftree connects switches: inverted (connects all\n"
		 "switches without credit loops on any fabric), or paper (exactly the\n"
		 "published algorithms, for comparison only)." },
	{ .name = "observe", FIELD(observe), .words = no_yes, .def = 0,
	  .doc = "Compute and check tables at every sweep and log what they would change,\n"
		 "but let the next engine of routing_engine route: no or yes." },
	{ .name = "fast_reroute", FIELD(fast_reroute), .words = off_on,
	  .def = 1,
	  .doc = "Repair the tables as soon as a switch reports a link change, before\n"
		 "OpenSM sweeps: on, or off (all changes are left to OpenSM's sweeps)." },
	{ .name = "fast_window", FIELD(fast_window), .min = 1, .max = 256,
	  .def = 64,
	  .doc = "Maximum number of SMPs of a fast reroute that are outstanding at a time." },
	{ .name = "fast_timeout_ms", FIELD(fast_timeout_ms), .min = 5,
	  .max = 5000, .def = 50,
	  .doc = "Timeout of such an SMP in milliseconds; after it the SMP is sent again." },
	{ .name = "fast_sweep_delay_ms", FIELD(fast_sweep_delay_ms),
	  .max = 60000, .def = 500,
	  .doc = "After a fast reroute a sweep confirms the tables: this many milliseconds\n"
		 "after the last link change, ..." },
	{ .name = "fast_sweep_cap_ms", FIELD(fast_sweep_cap_ms),
	  .max = 600000, .def = 5000,
	  .doc = "... but at most this many milliseconds after the first link change." },
	{ .name = "fast_flap_limit", FIELD(fast_flap_limit), .max = 1000,
	  .def = 5,
	  .doc = "A link that fails this many times within fast_flap_window_ms is damped:\n"
		 "it is not used until it has not failed for fast_flap_hold_ms.  0 = never." },
	{ .name = "fast_flap_window_ms", FIELD(fast_flap_window_ms),
	  .max = 3600000, .def = 60000, .doc = "See fast_flap_limit; milliseconds." },
	{ .name = "fast_flap_hold_ms", FIELD(fast_flap_hold_ms),
	  .max = 3600000, .def = 60000, .doc = "See fast_flap_limit; milliseconds." },
	{ .name = NULL }
};

static int *value_of(struct ibf_options *o, const struct ibf_option *opt)
{
	return (int *)(void *)((char *)o + opt->offset);
}

void ibf_options_default(struct ibf_options *o)
{
	for (const struct ibf_option *opt = ibf_option_table; opt->name; opt++)
		*value_of(o, opt) = opt->def;
}

static enum ftr_status set_word(const struct ibf_option *opt, const char *text,
				int *out, struct ftr_err *err)
{
	char known[128] = "";
	size_t n = 0;

	for (int i = 0; opt->words[i]; i++) {
		if (!strcmp(opt->words[i], text)) {
			*out = i;
			return FTR_OK;
		}
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s",
				      i ? ", " : "", opt->words[i]);
	}
	return ftr_fail(err, FTR_PARSE, "%s is \"%s\", not one of: %s",
			opt->name, ftr_quote(text, strlen(text)).s, known);
}

static enum ftr_status set_number(const struct ibf_option *opt,
				  const char *text, int *out,
				  struct ftr_err *err)
{
	char *end;
	long v;

	errno = 0;
	v = strtol(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || v < opt->min ||
	    v > opt->max)
		return ftr_fail(err, FTR_PARSE, "%s is \"%s\", not a number %d..%d",
				opt->name, ftr_quote(text, strlen(text)).s,
				opt->min, opt->max);
	*out = (int)v;
	return FTR_OK;
}

/* Remove a comment, and blanks at both ends. */
static char *trim(char *line)
{
	char *end;

	for (char *c = line; *c; c++) {
		if (*c == '#' && (c == line || isspace((unsigned char)c[-1]))) {
			*c = '\0';
			break;
		}
	}
	while (isspace((unsigned char)*line))
		line++;
	end = line + strlen(line);
	while (end > line && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return line;
}

struct parse {
	struct ibf_options opt;
	uint64_t seen;		/* bit per table row */
};

static enum ftr_status parse_line(struct parse *p, char *line,
				  struct ftr_err *err)
{
	const struct ibf_option *opt = ibf_option_table;
	char *value;

	line = trim(line);
	if (!*line)
		return FTR_OK;
	value = line + strcspn(line, " \t=");
	if (*value) {
		bool equals = *value == '=';

		*value++ = '\0';
		value += strspn(value, " \t");
		if (!equals && *value == '=')
			value += 1 + strspn(value + 1, " \t");
	}
	while (opt->name && strcmp(opt->name, line))
		opt++;
	if (!opt->name)
		return ftr_fail(err, FTR_PARSE, "unknown key \"%s\"", line);
	if (p->seen & 1ull << (opt - ibf_option_table))
		return ftr_fail(err, FTR_PARSE, "%s is given twice", line);
	p->seen |= 1ull << (opt - ibf_option_table);
	if (!*value)
		return ftr_fail(err, FTR_PARSE, "%s has no value", line);
	return opt->words ? set_word(opt, value, value_of(&p->opt, opt), err) :
			    set_number(opt, value, value_of(&p->opt, opt), err);
}

static enum ftr_status parse_file(FILE *in, const char *path, struct parse *p,
				  struct ftr_err *err)
{
	char line[LINE_MAX_BYTES + 2];
	unsigned int n = 0;

	for (;;) {
		enum ftr_status st;
		size_t len = 0;
		int c;

		while ((c = getc(in)) != EOF && c != '\n' &&
		       len <= LINE_MAX_BYTES)
			line[len++] = (char)c;
		if (ferror(in))
			return ftr_fail(err, FTR_IO, "%s: %s", path,
					strerror(errno));
		if (c == EOF && !len)
			return FTR_OK;
		n++;
		line[len] = '\0';
		if (len > LINE_MAX_BYTES)
			return ftr_fail(err, FTR_PARSE, "%s:%u: longer than %d bytes",
					path, n, LINE_MAX_BYTES);
		if (strlen(line) != len)
			return ftr_fail(err, FTR_PARSE, "%s:%u: holds a NUL byte",
					path, n);
		st = parse_line(p, line, err);
		if (st)
			return ftr_err_prefix(err, "%s:%u", path, n);
	}
}

enum ftr_status ibf_options_read(const char *path, struct ibf_options *o,
				 bool *missing, struct ftr_err *err)
{
	struct parse p = { .opt = *o };
	enum ftr_status st;
	FILE *in;
	int fd;

	errno = 0;
	st = ftr_file_open(path, &fd, err);
	if (missing)
		*missing = st && errno == ENOENT;
	if (st)
		return st;
	in = ftr_fdopen(fd, "r");
	if (!in) {
		close(fd);
		return ftr_fail(err, FTR_NOMEM, "out of memory for the options");
	}
	st = parse_file(in, path, &p, err);
	fclose(in);
	if (!st)
		*o = p.opt;
	return st;
}

enum ftr_status ibf_options_path(const char *shared, char **path,
				 struct ftr_err *err)
{
	const size_t len = strlen(PLUGIN_WORD);
	char *copy = ftr_strdup(shared ? shared : ""), *save, *found = NULL;
	enum ftr_status st = FTR_OK;

	if (!copy)
		return ftr_fail(err, FTR_NOMEM, "out of memory for the options");
	for (char *w = strtok_r(copy, " \t,", &save); w && !st;
	     w = strtok_r(NULL, " \t,", &save)) {
		if (strncmp(w, PLUGIN_WORD, len) || (w[len] && w[len] != ':'))
			continue;
		if (w[len] != ':' || !w[len + 1])
			st = ftr_fail(err, FTR_INVAL,
				      "event_plugin_options: \"%s\" names no file; %s:PATH is expected",
				      w, PLUGIN_WORD);
		else if (found)
			st = ftr_fail(err, FTR_INVAL,
				      "event_plugin_options: \"%s\" comes after \"%s:%s\"; one file is expected",
				      w, PLUGIN_WORD, found);
		else
			found = w + len + 1;
	}
	if (!st) {
		*path = found ? ftr_strdup(found) : NULL;
		if (found && !*path)
			st = ftr_fail(err, FTR_NOMEM,
				      "out of memory for the options");
	}
	free(copy);
	return st;
}

void ibf_options_sample(FILE *out)
{
	fputs("# Options of the ibfattree routing engines, see ibfattree.conf(5).\n"
	      "# In opensm.conf:\n"
	      "#   event_plugin_name ibfattree\n"
	      "#   routing_engine dmodc,no_fallback\n"
	      "# All keys are shown with their defaults.\n", out);
	for (const struct ibf_option *opt = ibf_option_table; opt->name;
	     opt++) {
		const char *doc = opt->doc;

		fputc('\n', out);
		while (*doc) {
			size_t len = strcspn(doc, "\n");

			fprintf(out, "# %.*s\n", (int)len, doc);
			doc += len + (doc[len] == '\n');
		}
		if (opt->words)
			fprintf(out, "#%s %s\n", opt->name,
				opt->words[opt->def]);
		else
			fprintf(out, "#%s %d\n", opt->name, opt->def);
	}
}
