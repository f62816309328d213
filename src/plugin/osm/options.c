// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Options.  Every value is an int: a number, or the index of a word.  A file is parsed into
 * a copy, so the caller's options change only if the whole file is correct.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "io/text.h"
#include "osm/options.h"
#include <ftr/engine.h>
#include <ftr/shape.h>

#define PLUGIN_WORD "ibfattree"

static const char *const off_on[] = { "off", "on", NULL };
static const char *const no_yes[] = { "no", "yes", NULL };
static const char *const orders[] = { "plain", "ordered", NULL };
static const char *const leaf_orders[] = {
	[FTR_LEAF_BY_GUID] = "guid", [FTR_LEAF_BY_NAME] = "name", NULL
};

static const char *const root_modes[] = {
	[FTR_ROOTS_AUTO] = "auto", [FTR_ROOTS_FILE] = "file",
	[FTR_ROOTS_STRICT] = "strict", NULL
};

static const char *const balances[] = {
	[FTR_BALANCE_OFF] = "off", [FTR_BALANCE_LOAD] = "load",
	[FTR_BALANCE_FULL] = "full", NULL
};

static const char *const path_rules[] = {
	[FTR_PATHS_ALL] = "all", [FTR_PATHS_UPDOWN] = "updown", NULL
};

#define AT_START true	/* struct ibf_option.at_start */
#define AT_SWEEP false

#define WORD(key, field, list, value, when) \
	{ .name = key, .offset = offsetof(struct ibf_options, field), \
	  .words = list, .def = value, .at_start = when }
#define NUMBER(key, field, least, most, value, when) \
	{ .name = key, .offset = offsetof(struct ibf_options, field), \
	  .min = least, .max = most, .def = value, .at_start = when }

const struct ibf_option ibf_option_table[] = {
	NUMBER("threads", threads, 0, FTR_TEAM_MAX, 0, AT_START),
	WORD("leaf_order", leaf_order, leaf_orders, FTR_LEAF_BY_GUID, AT_SWEEP),
	WORD("roots", roots, root_modes, FTR_ROOTS_AUTO, AT_SWEEP),
	WORD("ca_order_dump", ca_order_dump, off_on, 1, AT_SWEEP),
	WORD("status_files", status_files, off_on, 1, AT_START),
	NUMBER("log_samples", log_samples, 0, 16, 10, AT_SWEEP),
	WORD("balance", balance, balances, FTR_BALANCE_FULL, AT_SWEEP),
	WORD("adopt", adopt, no_yes, 0, AT_SWEEP),
	WORD("transition", transition, orders, 1, AT_SWEEP),
	NUMBER("transition_limit_ms", transition_limit_ms, 100, 60000, 2000, AT_SWEEP),
	WORD("takeover", takeover, orders, 0, AT_SWEEP),
	WORD("paths", paths, path_rules, FTR_PATHS_ALL, AT_SWEEP),
	WORD("observe", observe, no_yes, 0, AT_START),
	WORD("fast_reroute", fast_reroute, off_on, 1, AT_START),
	NUMBER("fast_window", fast_window, 1, 256, 64, AT_START),
	NUMBER("fast_timeout_ms", fast_timeout_ms, 5, 5000, 50, AT_START),
	NUMBER("fast_sweep_delay_ms", fast_sweep_delay_ms, 0, 60000, 500, AT_SWEEP),
	NUMBER("fast_sweep_cap_ms", fast_sweep_cap_ms, 0, 600000, 5000, AT_SWEEP),
	NUMBER("fast_flap_limit", fast_flap_limit, 0, 1000, 5, AT_SWEEP),
	NUMBER("fast_flap_window_ms", fast_flap_window_ms, 0, 3600000, 60000, AT_SWEEP),
	NUMBER("fast_flap_hold_ms", fast_flap_hold_ms, 0, 3600000, 60000, AT_SWEEP),
	{ .name = NULL }
};

void ibf_options_default(struct ibf_options *o)
{
	for (const struct ibf_option *opt = ibf_option_table; opt->name; opt++)
		*ibf_option_value(o, opt) = opt->def;
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

static enum ftr_status set_number(const struct ibf_option *opt, const char *text, int *out,
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

/* Remove a comment, and blanks at the end, of a line that begins with neither. */
static void trim(char *line)
{
	char *end = line + 1;

	while (*end && (*end != '#' || !isspace((unsigned char)end[-1])))
		end++;
	while (end > line + 1 && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
}

/* Bit i of *seen: the option of row i of the table was given. */
static enum ftr_status parse_line(struct ibf_options *o, uint64_t *seen, char *line,
				  struct ftr_err *err)
{
	const struct ibf_option *opt = ibf_option_table;
	char *value;

	trim(line);
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
	if (*seen & 1ull << (opt - ibf_option_table))
		return ftr_fail(err, FTR_PARSE, "%s is given twice", line);
	*seen |= 1ull << (opt - ibf_option_table);
	if (!*value)
		return ftr_fail(err, FTR_PARSE, "%s has no value", line);
	return opt->words ? set_word(opt, value, ibf_option_value(o, opt), err) :
			    set_number(opt, value, ibf_option_value(o, opt), err);
}

static bool parse_file(struct ftr_text *t, struct ibf_options *o)
{
	char line[FTR_LINE_MAX + 1];
	uint64_t seen = 0;
	struct ftr_cur c;

	for (;;) {
		if (!ftr_text_meaningful(t, &c))
			return false;
		if (!c.p)
			return true;
		memcpy(line, c.p, ftr_cur_len(&c));
		line[ftr_cur_len(&c)] = '\0';
		if (parse_line(o, &seen, line, t->err))
			return ftr_text_ok(t, ftr_err_prefix(t->err, "%s:%u", t->path, t->line));
	}
}

enum ftr_status ibf_options_read(const char *path, struct ibf_options *o,
				 bool *missing, struct ftr_err *err)
{
	struct ibf_options opt = *o;
	struct ftr_text t;
	bool opened;

	errno = 0;
	opened = ftr_text_open(&t, path, true, err);
	if (missing)
		*missing = !opened && errno == ENOENT;
	if (opened && parse_file(&t, &opt))
		*o = opt;
	ftr_text_close(&t);
	return t.status;
}

enum ftr_status ibf_options_path(const char *shared, char **path, struct ftr_err *err)
{
	const size_t len = strlen(PLUGIN_WORD);
	char *copy = ftr_strdup(shared ? shared : ""), *save, *found = NULL;
	enum ftr_status st = FTR_OK;

	if (!copy)
		return ftr_nomem(err, "the options");
	for (char *w = strtok_r(copy, " \t,", &save); w; w = strtok_r(NULL, " \t,", &save)) {
		if (st)
			break;
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
			st = ftr_nomem(err, "the options");
	}
	free(copy);
	return st;
}
