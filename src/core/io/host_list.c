// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads lists of hosts and of jobs.
 */
#include <stdlib.h>
#include <string.h>

#include "io/text.h"
#include <ftr/hosts.h>
#include <ftr/text.h>

#define WORD_MAX 256
#define EXPAND_MAX 65536

struct reading {
	struct ftr_text t;
	const struct ftr_hosts *h;
	struct ftr_host_list *l;
	bool jobs;		/* true: lines begin with the name of a job */
	struct ftr_host_entry *entry;
	const char **group;
	uint32_t *before;	/* [n] for each entry: 1 + index in entry[] of the previous entry of
				 * the same host; 0: none */
	uint32_t n, cap, cap_before, n_groups, cap_groups;
	uint32_t now;		/* group (job) of the current line */
	uint32_t *seen;		/* [h->n] for each host: 1 + index in entry[] of its last entry; 0:
				 * none */
};

static bool add(struct reading *r, const char *name, uint32_t slots)
{
	uint32_t at = ftr_hosts_find(r->h, name);
	uint32_t last = at == FTR_HOST_NONE ? 0 : r->seen[at];

	for (uint32_t i = last; i; i = r->before[i - 1])
		if (r->entry[i - 1].group == r->now) {
			r->entry[i - 1].slots += slots;
			return true;
		}
	if (!FTR_GROW(r->entry, r->n, r->cap) ||
	    !FTR_GROW(r->before, r->n, r->cap_before))
		return ftr_text_nomem(&r->t);
	r->before[r->n] = last;
	r->entry[r->n] = (struct ftr_host_entry){
		r->now, at, slots,
		ftr_arena_strndup(r->l->arena, name, WORD_MAX)
	};
	if (!r->entry[r->n++].name)
		return ftr_text_nomem(&r->t);
	if (at == FTR_HOST_NONE)
		r->l->n_unknown++;
	else
		r->seen[at] = r->n;
	return true;
}

/* Expand "01-03" or "7". Every number gets at least as many digits as the first one has. */
static bool add_range(struct reading *r, const char *head, int head_len,
		      const char *range, const char *tail, uint32_t slots)
{
	char name[2 * WORD_MAX], *end;
	unsigned long lo = strtoul(range, &end, 10), hi = lo;
	int width = (int)(end - range);
	bool ok = range[0] >= '0' && range[0] <= '9';

	if (ok && *end == '-') {
		ok = end[1] >= '0' && end[1] <= '9';
		hi = strtoul(end + 1, &end, 10);
	}
	if (!ok || *end || hi < lo || hi - lo >= EXPAND_MAX || width > 9)
		return ftr_text_fail(&r->t, FTR_PARSE, "'%.40s' is not a range of hosts",
				     range);
	for (unsigned long i = lo; i <= hi; i++) {
		snprintf(name, sizeof(name), "%.*s%0*lu%s", head_len, head, width, i, tail);
		if (!add(r, name, slots))
			return false;
	}
	return true;
}

static bool expand(struct reading *r, char *word, uint32_t slots)
{
	char *open = strchr(word, '['), *close = strchr(word, ']'), *s;

	if (!open && !close)
		return add(r, word, slots);
	if (!open || !close || close < open || strpbrk(close + 1, "[]"))
		return ftr_text_fail(&r->t, FTR_PARSE, "'%.40s': the brackets do not match",
				     word);
	*close = '\0';
	for (char *left = open + 1; (s = strsep(&left, ","));)
		if (!add_range(r, word, (int)(open - word), s, close + 1, slots))
			return false;
	return true;
}

/* Returns the length of the next word. A comma inside brackets is part of the word. */
static size_t word_length(const char *s, const char *end)
{
	bool inside = false;
	size_t n = 0;

	for (; s + n < end; n++) {
		if (s[n] == '[')
			inside = true;
		else if (s[n] == ']')
			inside = false;
		else if (s[n] == ' ' || s[n] == '\t' || s[n] == '#' ||
			 (s[n] == ',' && !inside))
			break;
	}
	return n;
}

static bool number(struct reading *r, const char *text, uint32_t *out)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || end == text || !n || n > UINT16_MAX)
		return ftr_text_fail(&r->t, FTR_PARSE, "invalid number of slots '%.20s': expected 1 to 65535",
				     text);
	*out = (uint32_t)n;
	return true;
}

static bool set_group(struct reading *r, const char *name)
{
	for (uint32_t g = 0; g < r->n_groups; g++)
		if (!strcmp(r->group[g], name)) {
			r->now = g;
			return true;
		}
	if (!FTR_GROW(r->group, r->n_groups, r->cap_groups))
		return ftr_text_nomem(&r->t);
	r->now = r->n_groups;
	r->group[r->n_groups] = ftr_arena_strndup(r->l->arena, name, WORD_MAX);
	return r->group[r->n_groups++] || ftr_text_nomem(&r->t);
}

/* Read the words of a line. A word is expanded only when the next word has been read, because that
 * may be "slots=N". */
static bool line(void *ctx, struct ftr_cur *c)
{
	struct reading *r = ctx;
	char word[FTR_LINE_MAX + 1], last[FTR_LINE_MAX + 1] = "";
	uint32_t slots = 1;
	bool first = r->jobs;

	for (const char *s = c->p; s < c->end; ) {
		size_t n = word_length(s, c->end);
		char *colon;

		if (!n && *s == '#')
			break;
		if (!n) {
			s++;
			continue;
		}
		memcpy(word, s, n);
		word[n] = '\0';
		s += n;
		if (first) {
			if (word[n - 1] == ':')
				word[n - 1] = '\0';
			if (!set_group(r, ftr_text_clean(word)))
				return false;
			first = false;
			continue;
		}
		if (!strncmp(word, "slots=", 6)) {
			if (!number(r, word + 6, &slots))
				return false;
			continue;
		}
		if (strchr(word, '='))
			continue;	/* max-slots= and other options are ignored */
		if (last[0] && !expand(r, last, slots))
			return false;
		slots = 1;
		colon = r->jobs ? NULL : strchr(word, ':');
		if (colon) {
			*colon = '\0';
			if (!number(r, colon + 1, &slots))
				return false;
		}
		memcpy(last, word, strlen(word) + 1);
	}
	return !last[0] || expand(r, last, slots);
}

static bool publish(struct reading *r)
{
	struct ftr_host_entry *entry = ftr_arena_alloc(r->l->arena, r->n, sizeof(*entry));
	const char **group = ftr_arena_alloc(r->l->arena, r->n_groups + 1u,
					     sizeof(*group));

	if (!r->n)
		return ftr_text_fail(&r->t, FTR_PARSE, "the file contains no host");
	if (!entry || !group)
		return ftr_text_nomem(&r->t);
	memcpy(entry, r->entry, r->n * sizeof(*entry));
	if (r->n_groups)
		memcpy(group, r->group, r->n_groups * sizeof(*group));
	r->l->entry = entry;
	r->l->n = r->n;
	r->l->group = group;
	r->l->n_groups = r->n_groups;
	return true;
}

enum ftr_status ftr_read_host_list(const char *path, bool jobs,
				   const struct ftr_hosts *h,
				   struct ftr_host_list **out,
				   struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct reading r = { .h = h, .jobs = jobs };
	enum ftr_status st;

	r.l = a ? ftr_arena_zalloc(a, 1, sizeof(*r.l)) : NULL;
	r.seen = ftr_calloc((size_t)h->n + 1, sizeof(*r.seen));
	if (!r.l || !r.seen) {
		st = ftr_nomem(err, "a list of hosts");
	} else {
		r.l->arena = a;
		if (ftr_text_open(&r.t, path, false, err) &&
		    ftr_text_each(&r.t, line, &r) && publish(&r))
			*out = r.l;
		ftr_text_close(&r.t);
		st = r.t.status;
	}
	free(r.seen);
	free(r.before);
	free(r.entry);
	free(r.group);
	if (st)
		ftr_arena_free(a);
	return st;
}

void ftr_host_list_free(struct ftr_host_list *l)
{
	if (l)
		ftr_arena_free(l->arena);
}
