// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the switch or link that the user names.  A switch is named by its whole name, by its GUID,
 * or by a part of its name that no other switch name contains.
 *
 * Nothing is guessed.  A word that matches several switches, or none, is an error.  The message
 * lists switches whose names contain the word, or whose names are similar (edit distance after
 * Levenshtein 1966).
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

#define LISTED 3		/* greatest number of names in an error message */

/* "0x...", "S-...", or 16 hex digits. */
static bool parse_guid(const char *s, uint64_t *guid)
{
	char *end;

	if (!strncmp(s, "0x", 2) || !strncmp(s, "S-", 2))
		s += 2;
	else if (strlen(s) != 16)
		return false;
	if (!isxdigit((unsigned char)*s))
		return false;
	errno = 0;
	*guid = strtoull(s, &end, 16);
	return !*end && !errno;
}

/* Returns true if the name contains the word; case is ignored. */
static bool contains(const char *name, const char *word)
{
	size_t n = strlen(word);

	for (; *name; name++)
		if (!strncasecmp(name, word, n))
			return true;
	return false;
}

/* Returns the edit distance: the least number of letters to insert, delete or replace, so that a
 * becomes b; case is ignored.  a and b have at most FTR_NAME_MAX letters. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[FTR_NAME_MAX + 1], diagonal, above;
	size_t n = strlen(b);

	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; *a; a++, i++) {
		diagonal = row[0];
		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= n; j++) {
			above = row[j];
			if (tolower((unsigned char)*a) != tolower((unsigned char)b[j - 1]))
				diagonal++;
			if (above + 1 < diagonal)
				diagonal = above + 1;
			if (row[j - 1] + 1 < diagonal)
				diagonal = row[j - 1] + 1;
			row[j] = diagonal;
			diagonal = above;
		}
	}
	return row[n];
}

/* Writes the names of n switches to buf.  If all > n, adds "and N more", for example: "a", "b" and
 * 4 more.  buf must have room for LISTED + 1 names. */
static void list_names(char *buf, size_t size, const struct ftr_fabric *f,
		       const ftr_sw *sw, unsigned int n, unsigned int all)
{
	size_t at = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < n; i++)
		at += (size_t)snprintf(buf + at, size - at, "%s%s", i ? ", " : "",
				       CLI_SW(f, sw[i]));
	if (all > n)
		snprintf(buf + at, size - at, " and %u more", all - n);
}

/* Finds the switches whose names have the least edit distance from the word.  Stores at most
 * LISTED of them in sw and returns their number.  Names with a distance above 1 + strlen(word) / 4
 * are ignored. */
static unsigned int closest(const struct ftr_fabric *f, const char *word, ftr_sw *sw)
{
	unsigned int best = (unsigned int)strlen(word) / 4 + 2, n = 0;

	if (strlen(word) > FTR_NAME_MAX)
		return 0;
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		unsigned int d = distance(f->sw[s].name, word);

		if (d < best) {
			best = d;
			n = 0;
		}
		if (d == best && n < LISTED && best < strlen(word) / 4 + 2)
			sw[n++] = s;
	}
	return n;
}

static enum ftr_status not_found(const struct ftr_fabric *f, const char *word, struct ftr_err *err)
{
	char text[(LISTED + 1) * CLI_NAME_MAX];
	ftr_sw sw[LISTED] = { 0 };
	unsigned int n;

	for (ftr_ep e = 0; e < f->n_ep; e++) {
		const struct ftr_endport *p = &f->ep[e];

		if (!strcmp(p->name, word) && p->sw != FTR_SW_NONE)
			return ftr_fail(err, FTR_INVAL, "a host port, not a switch; it is connected to %s[%u]",
					cli_sw_name(text, f, p->sw), p->sw_port);
	}
	n = closest(f, word, sw);
	list_names(text, sizeof(text), f, sw, n, n);
	if (n)
		return ftr_fail(err, FTR_INVAL, "no switch has that name; did you mean %s?", text);
	return ftr_fail(err, FTR_INVAL, "no switch has that name or GUID");
}

static enum ftr_status find_switch(const struct ftr_fabric *f, const char *word,
				ftr_sw *out, bool *part, struct ftr_err *err)
{
	char text[(LISTED + 1) * CLI_NAME_MAX];
	ftr_sw same[LISTED] = { 0 }, in[LISTED] = { 0 };
	unsigned int n_same = 0, n_in = 0;
	uint64_t guid;

	*part = false;
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		if (!strcmp(f->sw[s].name, word) && n_same++ < LISTED)
			same[n_same - 1] = s;
		if (*word && contains(f->sw[s].name, word) && n_in++ < LISTED)
			in[n_in - 1] = s;
	}
	if (n_same == 1) {
		*out = same[0];
		return FTR_OK;
	}
	if (n_same) {
		list_names(text, sizeof(text), f, same, n_same < LISTED ? n_same : LISTED, n_same);
		return ftr_fail(err, FTR_INVAL, "%u switches have that name; give the GUID of one: %s",
				n_same, text);
	}
	if (parse_guid(word, &guid)) {
		*out = ftr_fabric_find_sw(f, guid);
		if (*out != FTR_SW_NONE)
			return FTR_OK;
	}
	if (n_in == 1) {
		*out = in[0];
		*part = true;
		return FTR_OK;
	}
	if (!n_in)
		return not_found(f, word, err);
	list_names(text, sizeof(text), f, in, n_in < LISTED ? n_in : LISTED, n_in);
	return ftr_fail(err, FTR_INVAL, "%u switches have names that contain this: %s", n_in, text);
}

char *cli_split_port(char *word, unsigned int *port)
{
	char *open = strrchr(word, '['), *end;
	size_t len = strlen(word);

	*port = 0;
	if (open && word[len - 1] == ']') {
		unsigned long n = strtoul(open + 1, &end, 10);

		if (end != open + 1 && !strcmp(end, "]")) {
			*port = n && n <= FTR_PORT_MAX ? (unsigned int)n : FTR_PORT_NONE;
			*open = '\0';
			len = strlen(word);
		}
	}
	if (len > 1 && word[0] == '"' && word[len - 1] == '"') {
		word[len - 1] = '\0';
		word++;
	}
	return word;
}

enum ftr_status cli_find_part(const struct ftr_fabric *f, const char *word, ftr_sw *s,
			      unsigned int *port, struct ftr_err *err)
{
	char *copy = strdup(word), *name;
	enum ftr_status st;
	bool part;

	if (!copy)
		return ftr_nomem(err, "a name");
	name = cli_split_port(copy, port);
	st = find_switch(f, name, s, &part, err);
	if (!st && part)
		cli_error("note: '%s' is interpreted as %s", name, CLI_SW(f, *s));
	if (!st && *port > f->sw[*s].n_ports)
		st = ftr_fail(err, FTR_INVAL, "the switch has ports 1 to %u", f->sw[*s].n_ports);
	else if (!st && *port && ftr_fabric_port(f, *s, *port)->peer_kind == FTR_PEER_NONE)
		st = ftr_fail(err, FTR_INVAL, "there is no link at that port");
	free(copy);
	return st;
}
