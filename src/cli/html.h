/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * html: the page that "ibfattree report" writes.
 *
 *	html.c		the command
 *	html_map.c	numbers the switches, host ports and links of one or two fabrics
 *	html_set.c	one set of tables: findings of the checker, and loads
 *	html_write.c	writes all data as JSON inside the page
 *	html_tables.c	the tables, compressed
 *	html/		the page: HTML, CSS and JavaScript
 */
#ifndef FTR_CLI_HTML_H
#define FTR_CLI_HTML_H

#include <ftr/ftr.h>

#include "cli/cli.h"

/* ---- the map (html_map.c) ---------------------------------------------- */

enum html_state {		/* which fabric has a switch, host port or link; 0: all of them */
	HTML_OLD = 1,		/* only in the old fabric */
	HTML_NEW = 2		/* only in the new fabric */
};

struct html_link {
	uint32_t a, b;		/* switches, numbered as on the page */
	ftr_port pa, pb;
	uint8_t width, speed;
	uint8_t state;
};

/*
 * Switches and host ports of f have the same numbers as in f.  After them come those that are only
 * in old.  The links of f and of old are in one list, sorted by their ends (html_map.c).  Link i is
 * drawn once; its two directions are numbered 2 i (from a to b) and 2 i + 1 (from b to a).
 */
struct html_map {
	const struct ftr_fabric *f, *old;	/* old: NULL if there is one fabric only */
	const struct ftr_shape *sh, *old_sh;
	const struct ftr_picture *pic, *old_pic;
	uint32_t n_sw, n_ep, n_links;
	ftr_sw *old_sw;		/* [n_sw - f->n_sw] indices in old */
	ftr_ep *old_ep;		/* [n_ep - f->n_ep] indices in old */
	uint8_t *sw_state, *ep_state;	/* [n_sw], [n_ep] */
	struct html_link *link;
};

#define HTML_NONE UINT32_MAX

/* The caller sets m->f, sh and pic and, for two fabrics, old, old_sh and old_pic. */
void html_map_init(struct html_map *m);
/* Returns the number that the page uses for switch s of g, or HTML_NONE if the switch is not on the
 * page.  The switch is found by its GUID, so g may be any fabric. */
uint32_t html_map_sw(const struct html_map *m, const struct ftr_fabric *g,
		     ftr_sw s);
/* Returns the number of the directed link that leaves switch s of g by port p, or HTML_NONE. */
uint32_t html_map_link(const struct html_map *m, const struct ftr_fabric *g,
		       ftr_sw s, ftr_port p);
const struct ftr_switch *html_switch(const struct html_map *m, uint32_t i);
const struct ftr_endport *html_endport(const struct html_map *m, uint32_t i);

/* ---- sets (html_set.c) -------------------------------------------------- */

enum html_pattern { HTML_ALL = 0, HTML_SHIFT, HTML_PAIRS, HTML_PATTERNS };

struct html_load {
	bool done;
	uint64_t *load;		/* [2 * n_links] number of flows on each directed link */
	uint64_t flows, lost, max;
};

/* One set of tables on one state of the fabric. */
struct html_set {
	char name[256];
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
	const ftr_ep *order;	/* [n] host order of m->f; FTR_EP_NONE: a gap */
	uint32_t n;
	const struct ftr_load_pair *pair;	/* pairs of host ports of m->f, or NULL */
	uint32_t n_pairs;
};

void html_set_run(struct html_set *s, const struct html_map *m,
		  const struct html_traffic *t, struct ftr_team *team);

/* ---- the page (html_write.c) -------------------------------------------- */

struct html_page {
	const char *title;	/* name of the fabric's file, without directory */
	const char *faults;	/* the values of --fail, as text, or NULL */
	const char *pairs;	/* path of the file of --patterns, or NULL */
	const char *doctor;	/* output of doctor --json, or NULL */
	const struct html_map *map;
	const struct html_traffic *traffic;
	const struct html_set *set;
	unsigned int n_sets;
};

/* A cli_write_fn; page points to a struct html_page. */
enum ftr_status html_write(FILE *out, const void *page, struct ftr_err *err);

/* ---- tables (html_tables.c) ---------------------------------------------- */

/* Writes the tables of s as a JSON string and reduces *room by its length.  The string is empty if
 * it would be longer than *room bytes. */
void html_put_tables(FILE *out, const struct html_map *m,
		     const struct html_set *s, size_t *room);

#endif
