// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes the page.  HTML, CSS and JavaScript are copied unchanged; the data are inserted.
 *
 * Names come from the fabric and are not trusted.  They enter the page only as JSON
 * strings in which every <, > and & is written as \u00NN.  So no name can end the
 * element that holds the data.  The JavaScript shows names as text, never as HTML.  The
 * page's security policy lists the hashes of the JavaScript and of the CSS, and admits
 * nothing else.
 *
 * The tables follow the other data (html_tables.c).  If the page would be too large to mail,
 * the tables are left out, and the page says so.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "cli/html.h"
#include "cli/json.h"

#define PAGE_MAX 4900000u	/* bytes; tables that would make the page larger are left out */

/* ---- JSON ----------------------------------------------------------------- */

static void put_text(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putc('"', out);
	while (*s) {
		uint32_t c;
		size_t n = ftr_text_char(s, &c);

		if (!n) {
			fputs("\\ufffd", out);
			n = 1;
		} else if (n > 1) {
			fwrite(s, 1, n, out);
		} else if (*s < ' ' || *s == 0x7f || strchr("\"\\<>&", *s)) {
			fprintf(out, "\\u%04x", *s);
		} else {
			putc(*s, out);
		}
		s += n;
	}
	putc('"', out);
}

static void put_guid(FILE *out, uint64_t guid)
{
	fprintf(out, "\"%016" PRIx64 "\"", guid);
}

static void put_num(FILE *out, const char *key, uint64_t n)
{
	fprintf(out, "\"%s\":%" PRIu64 ",", key, n);
}

static void put_list(FILE *out, const char *key, const uint64_t *v, size_t n)
{
	fprintf(out, "\"%s\":[", key);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", v[i]);
	fputs("]", out);
}

/* ---- the fabric ----------------------------------------------------------- */

static void put_fabric(FILE *out, const struct html_page *p)
{
	const struct ftr_shape *sh = p->map->sh;

	fputs("\"fabric\":{", out);
	put_num(out, "switches", p->map->f->n_sw);
	put_num(out, "ports", p->map->f->n_ep);
	put_num(out, "links", p->map->f->n_sw_links);
	put_num(out, "ranks", sh->tree.n_ranks);
	put_num(out, "leaves", sh->tree.n_leaf);
	put_num(out, "planes", sh->tree.n_planes);
	put_num(out, "pods", sh->tree.n_pods);
	put_num(out, "missing_links", p->map->pic->missing_links);
	put_num(out, "missing_switches", p->n_missing_sw);
	fprintf(out, "\"width\":%.6g},\n", p->map->pic->width);
}

static void put_blocks(FILE *out, const struct ftr_picture *pic)
{
	fputs("\"pods\":[", out);
	for (uint32_t i = 0; i < pic->n_pods; i++) {
		const struct ftr_picture_pod *p = &pic->pod[i];

		fprintf(out, "%s[%u,%u,%u,%u,%u,%u]", i ? "," : "", p->rank,
			p->pod_first, p->pod_leaves, p->n_sw, p->hosts, p->links_out);
	}
	fputs("],\n\"blocks\":[", out);
	for (uint32_t i = 0; i < pic->n_blocks; i++) {
		const struct ftr_picture_block *b = &pic->block[i];

		fprintf(out, "%s[%u,%.7g,%.7g,%u]", i ? "," : "", b->rank,
			b->x0, b->x1, b->n_sw);
	}
	fputs("],\n", out);
}

/* Writes an array for each switch: [name, guid, rank, x, block, pod, number of ports, odd, number
 * of upward links, mode_up, state, leaf].  odd and mode_up: see <ftr/picture.h>.  block and pod:
 * -1 if only the old fabric has the switch. */
static void put_switches(FILE *out, const struct html_map *m)
{
	fputs("\"sw\":[", out);
	for (uint32_t i = 0; i < m->n_sw; i++) {
		bool here = i < m->f->n_sw;
		const struct ftr_picture *pic = here ? m->pic : m->old_pic;
		const struct ftr_shape *sh = here ? m->sh : m->old_sh;
		ftr_sw s = here ? i : m->old_sw[i - m->f->n_sw];

		fputs(i ? ",\n[" : "[", out);
		put_text(out, html_switch(m, i)->name);
		putc(',', out);
		put_guid(out, html_switch(m, i)->guid);
		fprintf(out, ",%u,%.7g,%d,%d,%u,%u,%u,%u,%u,%u]", sh->tree.rank[s],
			pic->x[s], here ? (int)pic->block_of[s] : -1,
			here ? (int)pic->pod_of[s] : -1,
			html_switch(m, i)->n_ports, pic->odd_sw[s],
			pic->n_up[s], pic->mode_up[s], m->sw_state[i],
			sh->numbering.col[s] < sh->tree.n_leaf);
	}
	fputs("],\n", out);
}

/* Writes an array for each host port: [name, guid, switch or -1, port, lid, Gbit/s, odd, state,
 * slow, Aggregation Node]. */
static void put_ends(FILE *out, const struct html_map *m)
{
	fputs("\"ep\":[", out);
	for (uint32_t i = 0; i < m->n_ep; i++) {
		bool here = i < m->f->n_ep;
		const struct ftr_fabric *g = here ? m->f : m->old;
		const struct ftr_picture *pic = here ? m->pic : m->old_pic;
		const struct ftr_endport *e = html_endport(m, i);
		ftr_ep own = here ? i : m->old_ep[i - m->f->n_ep];
		const struct ftr_swport *port = e->sw == FTR_SW_NONE ? NULL :
			ftr_fabric_port(g, e->sw, e->sw_port);

		fputs(i ? ",\n[" : "[", out);
		put_text(out, e->name);
		putc(',', out);
		put_guid(out, e->guid);
		fprintf(out, ",%d,%u,%u,%u,%u,%u,%u,%u]",
			port ? (int)html_map_sw(m, g, e->sw) : -1, e->sw_port,
			e->lid, port ? ftr_link_gbps(port->width, port->speed) :
			0, pic->odd_ep[own], m->ep_state[i],
			port && pic->slow[g->sw[e->sw].first_port + e->sw_port],
			ftr_ep_is_aggregation(e));
	}
	fputs("],\n", out);
}

/* Writes an array for each link: [switch a, its port, switch b, its port, Gbit/s, slow, state].
 * Then writes an array for each pair of switches with missing links: [lower switch, upper switch,
 * number of missing links, inferred]. */
static void put_links(FILE *out, const struct html_map *m)
{
	fputs("\"links\":[", out);
	for (uint32_t i = 0; i < m->n_links; i++) {
		const struct html_link *l = &m->link[i];

		fprintf(out, "%s[%u,%u,%u,%u,%u,%u,%u]", i ? ",\n" : "", l->a,
			l->pa, l->b, l->pb, ftr_link_gbps(l->width, l->speed),
			l->slow, l->state);
	}
	fputs("],\n\"missing\":[", out);
	for (uint32_t i = 0; i < m->pic->n_missing; i++) {
		const struct ftr_missing *x = &m->pic->missing[i];

		fprintf(out, "%s[%u,%u,%u,%u]", i ? "," : "", x->low, x->up,
			x->n, x->inferred);
	}
	fputs("],\n", out);
}

/* ---- sets ----------------------------------------------------------------- */

static void put_load(FILE *out, const struct html_map *m,
		     const struct html_load *l, const char *key)
{
	if (!l->done)
		return;
	fprintf(out, "\"%s\":{", key);
	put_num(out, "flows", l->flows);
	put_num(out, "lost", l->lost);
	put_num(out, "max", l->max);
	put_list(out, "load", l->load, 2 * (size_t)m->n_links);
	putc(',', out);
	put_list(out, "out", l->out, m->pic->n_pods);
	putc(',', out);
	put_list(out, "in", l->in, m->pic->n_pods);
	fputs("},\n", out);
}

static void put_cycle(FILE *out, const struct html_map *m,
		      const struct html_set *s)
{
	uint32_t n = s->r.cycle_len < FTR_CYCLE_MAX ? s->r.cycle_len :
		     FTR_CYCLE_MAX;
	bool more = false;

	put_num(out, "cycle_links", s->r.cycle_len);
	fputs("\"cycle\":[", out);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = html_map_link(m, s->f, s->r.cycle[i].sw,
					    s->r.cycle[i].port);

		if (at == HTML_NONE)
			continue;
		fprintf(out, "%s%u", more ? "," : "", at);
		more = true;
	}
	fputs("],", out);
}

/* Writes, for each kind of finding, {kind: [count, from, at, to]}.  from, at and to describe the
 * first finding: source switch, switch with the faulty entry, name of the destination. */
static void put_found(FILE *out, const struct html_map *m,
		      const struct html_set *s)
{
	char name[CLI_NAME_MAX];

	fputs("\"found\":{", out);
	for (int i = 0, n = 0; i < FTR_N_FINDINGS; i++) {
		const struct ftr_check_sample *x = &s->r.sample[i];

		if (!s->r.found[i])
			continue;
		fprintf(out, "%s\"%s\":[%" PRIu64 ",%u,%u,", n++ ? "," : "",
			cli_finding_key[i], s->r.found[i],
			html_map_sw(m, s->f, x->from),
			html_map_sw(m, s->f, x->at));
		put_text(out, cli_lid_name(name, s->f, x->lid));
		putc(']', out);
	}
	fputs("},", out);
}

/* Writes the numbers of the links that are on the map but missing from the fabric of s. */
static void put_dead(FILE *out, const struct html_map *m,
		     const struct html_set *s)
{
	uint8_t *there = cli_calloc(m->n_links, 1, "a report");
	bool more = false;

	for (ftr_sw w = 0; w < s->f->n_sw; w++)
		for (unsigned int p = 1; p <= s->f->sw[w].n_ports; p++) {
			uint32_t at = html_map_link(m, s->f, w, (ftr_port)p);

			if (at != HTML_NONE)
				there[at / 2] = 1;
		}
	fputs("\"dead\":[", out);
	for (uint32_t i = 0; i < m->n_links; i++)
		if (!there[i]) {
			fprintf(out, "%s%u", more ? "," : "", i);
			more = true;
		}
	fputs("],", out);
	free(there);
}

static void put_measures(FILE *out, const struct html_set *s)
{
	static const char *const cdg[] = {
		[FTR_CDG_NOT_CHECKED] = "not checked",
		[FTR_CDG_PROVED] = "none", [FTR_CDG_ACYCLIC] = "none",
		[FTR_CDG_CYCLE] = "found",
	};

	fprintf(out, "\"bad\":%s,", s->verdict.found ? "true" : "false");
	put_num(out, "pairs", s->r.pairs[FTR_CHECK_HOST_HOST]);
	put_num(out, "lost", s->r.bad[FTR_CHECK_HOST_HOST]);
	put_num(out, "no_path", s->verdict.reach.cut[FTR_CHECK_HOST_HOST]);
	put_num(out, "hops", s->r.max_hops);
	put_num(out, "no_table", s->missing);
	put_num(out, "shift", s->shift);
	put_num(out, "shift_max", s->shift_max);
	fprintf(out, "\"shift_mean\":%.6g,\"credit\":\"%s\",", s->shift_mean,
		cdg[s->r.cdg]);
	if (s->before) {
		put_num(out, "changed_entries", s->diff.entries);
		put_num(out, "changed_switches", s->diff.switches);
	}
}

static void put_set(FILE *out, const struct html_map *m,
		    const struct html_set *s)
{
	static const char *const key[HTML_PATTERNS] = { "all", "shift",
							"pairs" };

	fputs("{\"name\":", out);
	put_text(out, s->name);
	putc(',', out);
	put_measures(out, s);
	put_cycle(out, m, s);
	put_found(out, m, s);
	fputs("\"loads\":{", out);
	for (int i = 0; i < HTML_PATTERNS; i++)
		put_load(out, m, &s->load[i], key[i]);
	fputs("\"end\":0},", out);
	put_dead(out, m, s);
	fputs("\"end\":0}", out);
}

static void put_data(FILE *out, const struct html_page *p)
{
	fputs("{\"title\":", out);
	put_text(out, p->title);
	fputs(",\"version\":", out);
	put_text(out, PACKAGE_VERSION);
	fputs(",\"faults\":", out);
	put_text(out, p->faults ? p->faults : "");
	fputs(",\"pairs\":", out);
	put_text(out, p->pairs ? p->pairs : "");
	fprintf(out, ",\"diff\":%s,\n", p->map->old ? "true" : "false");
	if (p->doctor)
		html_doctor_write(out, *p->doctor);
	put_fabric(out, p);
	put_blocks(out, p->map->pic);
	put_switches(out, p->map);
	put_ends(out, p->map);
	put_links(out, p->map);
	fputs("\"sets\":[", out);
	for (unsigned int i = 0; i < p->n_sets; i++) {
		if (i)
			fputs(",\n", out);
		put_set(out, p->map, &p->set[i]);
	}
	fputs("],\n\"tables\":[", out);
}

static void put_all_tables(FILE *out, const struct html_page *p, size_t size)
{
	size_t room = size < PAGE_MAX ? PAGE_MAX - size : 0;

	for (unsigned int i = 0; i < p->n_sets; i++) {
		if (i)
			fputs(",\n", out);
		html_put_tables(out, p->map, &p->set[i], &room);
	}
	fputs("]}\n", out);
}

enum ftr_status html_write(FILE *out, const void *page, struct ftr_err *err)
{
	char *data = NULL;
	size_t n = 0;
	FILE *mem = open_memstream(&data, &n);

	if (mem)
		put_data(mem, page);
	if (!mem || fclose(mem))
		return ftr_fail(err, FTR_NOMEM, "out of memory for a report");
	fputs(part_head, out);
	fputs(part_style, out);
	fputs(part_body, out);
	fwrite(data, 1, n, out);
	put_all_tables(out, page, n + strlen(part_style) + strlen(part_script));
	free(data);
	fputs("</script>\n<script>\n", out);
	fputs(part_script, out);
	fputs("</script>\n</body>\n</html>\n", out);
	if (ferror(out))
		return ftr_fail(err, FTR_IO, "cannot write");
	return FTR_OK;
}
