/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * html: the page that "ibfattree report" writes.
 *
 *	html.c		the command
 *	html_set.c	one set of tables: findings of the checker, and loads
 *	html_write.c	writes all data as JSON inside the page
 *	html_tables.c	the tables, compressed
 *	html/		the page: HTML, CSS and JavaScript
 */
#ifndef FTR_CLI_HTML_H
#define FTR_CLI_HTML_H

#include <ftr/ftr.h>

#include "cli/cli.h"

struct html_state {		/* a fabric and the data computed from it */
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_picture *pic;
};

/* Returns true if a link between switches is at port p of s, and the page lists it at this end.
 * Each link is listed once.  Links are numbered in the order of (switch, port).  The two directions
 * of link i are 2 i (from the end at which it is listed) and 2 i + 1. */
static inline bool html_listed(const struct ftr_fabric *f, ftr_sw s, unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(f, s, p);

	return port->peer_kind == FTR_PEER_SW &&
		(port->peer > s || (port->peer == s && port->peer_port > p));
}

/* Returns the port of s->f that is port p of switch sw of the base; NULL: it has no link to a
 * switch there, or the switch is missing. */
struct html_set;
const struct ftr_swport *html_port(const struct html_set *s, ftr_sw sw, unsigned int p);

/* ---- sets (html_set.c) -------------------------------------------------- */

enum html_pattern { HTML_ALL = 0, HTML_SHIFT, HTML_PAIRS, HTML_PATTERNS };

struct html_load {
	bool done;
	uint64_t *load;		/* [2 * base->f->n_sw_links] flows on each directed link */
	uint64_t flows, lost, max;
};

/* One set of tables on one state of the fabric. */
struct html_set {
	char name[256];
	/* the state that the page shows; f is its fabric, perhaps with the faults of --fail */
	const struct html_state *base;
	const struct ftr_fabric *f;
	const struct ftr_shape *sh;
	const struct ftr_tables *t;
	/* earlier tables and their fabric: changes are counted from these to t; NULL: none */
	const struct ftr_tables *before;
	const struct ftr_fabric *before_f;
	struct cli_report_opts ro;
	/* filled by html_set_run */
	struct ftr_check_report r;
	struct cli_verdict verdict;
	struct ftr_tables_diff diff;
	struct html_load load[HTML_PATTERNS];
	uint32_t shift;		/* k of the shift with the highest load on a link, of the shifts
				 * that are counted (CLI_SHIFTS_MAX) */
	double shift_mean;
	uint64_t shift_max;
};

/* The traffic for which loads are computed. */
struct html_traffic {
	const struct html_state *now;
	const ftr_ep *order;	/* [n] host order of now.f; FTR_EP_NONE: a gap */
	uint32_t n;
	const struct ftr_load_pair *pair;	/* pairs of host ports of now.f, or NULL */
	uint32_t n_pairs;
};

void html_set_run(struct html_set *s, const struct html_traffic *t, struct ftr_team *team);

/* ---- the page (html_write.c) -------------------------------------------- */

#define HTML_SETS_MAX (2 * CLI_LIST_MAX + 2)

struct html_page {
	const char *title;	/* name of the fabric's file, without directory */
	const struct cli_list *faults;	/* the values of --fail */
	struct json_object *doctor;	/* output of doctor --json, or NULL */
	struct html_state now, old;	/* old.f is NULL: there is one fabric only */
	struct html_traffic traffic;
	struct html_set set[HTML_SETS_MAX];
	unsigned int n_sets;
};

void html_write(FILE *out, const struct html_page *page);

/* ---- tables (html_tables.c) ---------------------------------------------- */

/* Writes the tables of s as a JSON string and reduces *room by its length.  The string is empty if
 * it would be longer than *room bytes. */
void html_put_tables(FILE *out, const struct html_set *s, size_t *room);

#endif
