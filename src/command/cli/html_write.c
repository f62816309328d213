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

#include "cli/html.h"
#include "cli/json.h"

#define PAGE_MAX 4900000u	/* bytes; tables that would make the page larger are left out */

static void put_object(FILE *out, struct json_object *o)
{
	const char *text = cli_json_string(o, JSON_C_TO_STRING_PLAIN);

	if (!text)
		cli_die("out of memory for a report");
	fputs(text, out);
	json_object_put(o);
}

/* ---- the fabric ----------------------------------------------------------- */

/* Writes the members that are not long lists. */
static void put_about(FILE *out, const struct html_page *p)
{
	struct json_object *o = cli_json_new("report"), *list = cli_json_array(o, "faults");

	for (unsigned int i = 0; i < p->faults->n; i++)
		cli_json_text(list, p->faults->v[i]);
	cli_json_str(o, "title", p->title);
	cli_json_bool(o, "diff", p->old.f);
	cli_json_fabric(o, p->now.f, p->now.sh);
	cli_json_real(o, "width", p->now.pic->width);
	put_object(out, o);
}

/* Writes [rank, first leaf column, leaf columns] of each pod, and [rank, left and right end, number
 * of switches] of each block. */
static void put_blocks(FILE *out, const struct ftr_picture *pic)
{
	fputs(",\"pods\":[", out);
	for (uint32_t i = 0; i < pic->n_pods; i++) {
		const struct ftr_picture_pod *p = &pic->pod[i];

		fprintf(out, "%s[%u,%u,%u]", i ? "," : "", p->rank, p->pod_first, p->pod_leaves);
	}
	fputs("],\n\"blocks\":[", out);
	for (uint32_t i = 0; i < pic->n_blocks; i++) {
		const struct ftr_picture_block *b = &pic->block[i];

		fprintf(out, "%s[%u,%.7g,%.7g,%u]", i ? "," : "", b->rank, b->x0, b->x1, b->n_sw);
	}
	fputs("],\n", out);
}

/* Writes the names of the switches and host ports. */
static void put_names(FILE *out, const struct ftr_fabric *f)
{
	struct json_object *o = cli_json_new("report"), *list = cli_json_array(o, "sw");

	for (ftr_sw s = 0; s < f->n_sw; s++)
		cli_json_text(list, f->sw[s].name);
	list = cli_json_array(o, "ep");
	for (ftr_ep e = 0; e < f->n_ep; e++)
		cli_json_text(list, f->ep[e].name);
	fputs("{\"names\":", out);
	put_object(out, o);
}

/* Writes an array for each switch: [guid, rank, x, block, pod, number of ports, leaf, stub]. */
static void put_switches(FILE *out, const struct html_state *z)
{
	fputs(",\n\"sw\":[", out);
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		fprintf(out, "%s[\"%016" PRIx64 "\",%u,%.7g,%d,%d,%u,%u,%u]", s ? ",\n" : "",
			z->f->sw[s].guid, z->sh->tree.rank[s], z->pic->x[s],
			(int)z->pic->block_of[s], (int)z->pic->pod_of[s], z->f->sw[s].n_ports,
			z->sh->numbering.col[s] < z->sh->tree.n_leaf, z->sh->tree.stub[s]);
	fputs("],\n", out);
}

/* Writes an array for each host port: [guid, switch or -1, port, lid, Gbit/s, Aggregation Node]. */
static void put_ends(FILE *out, const struct ftr_fabric *f)
{
	fputs("\"ep\":[", out);
	for (ftr_ep i = 0; i < f->n_ep; i++) {
		const struct ftr_endport *e = &f->ep[i];
		const struct ftr_swport *port = e->sw == FTR_SW_NONE ? NULL :
			ftr_fabric_port(f, e->sw, e->sw_port);

		fprintf(out, "%s[\"%016" PRIx64 "\",%d,%u,%u,%u,%u]", i ? ",\n" : "", e->guid,
			(int)e->sw, e->sw_port, e->lid,
			port ? ftr_link_gbps(port->width, port->speed) : 0,
			ftr_ep_is_aggregation(e));
	}
	fputs("],\n", out);
}

/* Writes an array for each link: [switch a, its port, switch b, its port, Gbit/s]. */
static void put_links(FILE *out, const struct ftr_fabric *f)
{
	const char *sep = "";

	fputs("\"links\":[", out);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *q = ftr_fabric_port(f, s, p);

			if (!html_listed(f, s, p))
				continue;
			fprintf(out, "%s[%u,%u,%u,%u,%u]", sep, s, p, q->peer, q->peer_port,
				ftr_link_gbps(q->width, q->speed));
			sep = ",\n";
		}
	fputs("]}", out);
}

static void put_state(FILE *out, const struct html_state *z)
{
	put_names(out, z->f);
	put_switches(out, z);
	put_ends(out, z->f);
	put_links(out, z->f);
}

/* Writes an array for each pair of switches with missing links: [lower switch, upper switch, number
 * of missing links, inferred]. */
static void put_missing(FILE *out, const struct ftr_picture *pic)
{
	fputs("\"missing\":[", out);
	for (uint32_t i = 0; i < pic->n_missing; i++) {
		const struct ftr_missing *x = &pic->missing[i];

		fprintf(out, "%s[%u,%u,%u,%u]", i ? "," : "", x->low, x->up, x->n, x->inferred);
	}
	fputs("],\n", out);
}

/* Writes the host order (-1: a gap), and the pairs of host ports that send. */
static void put_traffic(FILE *out, const struct html_traffic *t)
{
	fputs("\"order\":[", out);
	for (uint32_t i = 0; i < t->n; i++)
		fprintf(out, "%s%d", i ? "," : "", (int)t->order[i]);
	fputs("],\n\"given\":[", out);
	for (uint32_t i = 0; i < t->n_pairs; i++)
		fprintf(out, "%s[%u,%u]", i ? "," : "", t->pair[i].from, t->pair[i].to);
	fputs("],\n", out);
}

/* ---- sets ----------------------------------------------------------------- */

static void put_load(FILE *out, const struct html_load *l, uint32_t n_links)
{
	fprintf(out, "{\"flows\":%" PRIu64 ",\"lost\":%" PRIu64 ",\"max\":%" PRIu64 ",\"load\":[",
		l->flows, l->lost, l->max);
	for (size_t i = 0; i < 2 * (size_t)n_links; i++)
		fprintf(out, "%s%" PRIu64, i ? "," : "", l->load[i]);
	fputs("]}", out);
}

/* Writes the numbers of the links of the base that are missing from s->f ("dead"), and of the host
 * ports of the base that have no link there ("off"). */
static void put_dead(FILE *out, const struct html_set *s)
{
	const struct ftr_fabric *f = s->base->f;
	const char *sep = "";
	uint32_t n = 0;

	fputs(",\"dead\":[", out);
	for (ftr_sw w = 0; w < f->n_sw; w++)
		for (unsigned int p = 1; p <= f->sw[w].n_ports; p++) {
			if (!html_listed(f, w, p))
				continue;
			if (!html_port(s, w, p)) {
				fprintf(out, "%s%u", sep, n);
				sep = ",";
			}
			n++;
		}
	sep = "";
	fputs("],\"off\":[", out);
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		ftr_ep here = ftr_fabric_find_ep(s->f, f->ep[e].guid);

		if (here != FTR_EP_NONE && s->f->ep[here].sw != FTR_SW_NONE)
			continue;
		fprintf(out, "%s%u", sep, e);
		sep = ",";
	}
	fputs("]", out);
}

static void put_set(FILE *out, const struct html_page *page, const struct html_set *s)
{
	static const char *const key[HTML_PATTERNS] = { "all", "shift", "pairs" };
	struct json_object *o = cli_json_new("report");
	const char *sep = "";

	cli_json_str(o, "name", s->name);
	cli_json_num(o, "base", s->base == &page->old);
	cli_json_bool(o, "bad", s->verdict.found);
	cli_json_num(o, "shift", s->shift);
	cli_json_num(o, "shift_max", s->shift_max);
	cli_json_real(o, "shift_mean", s->shift_mean);
	if (s->before)
		cli_json_num(o, "changed_entries", s->diff.entries);
	fputs("{\"about\":", out);
	put_object(out, o);
	fputs(",\"check\":", out);
	put_object(out, cli_report_json(s->f, s->sh, &s->r, &s->ro, &s->verdict));
	fputs(",\"loads\":{", out);
	for (int i = 0; i < HTML_PATTERNS; i++) {
		if (!s->load[i].done)
			continue;
		fprintf(out, "%s\"%s\":", sep, key[i]);
		put_load(out, &s->load[i], s->base->f->n_sw_links);
		sep = ",\n";
	}
	fputs("}", out);
	put_dead(out, s);
	fputs("}", out);
}

static void put_data(FILE *out, const struct html_page *p)
{
	fputs("{\"about\":", out);
	put_about(out, p);
	if (p->doctor) {
		fputs(",\n\"doctor\":", out);
		put_object(out, json_object_get(p->doctor));
	}
	put_blocks(out, p->now.pic);
	put_missing(out, p->now.pic);
	put_traffic(out, &p->traffic);
	fputs("\"states\":[", out);
	put_state(out, &p->now);
	if (p->old.f) {
		fputs(",\n", out);
		put_state(out, &p->old);
	}
	fputs("],\n", out);
	fputs("\"sets\":[", out);
	for (unsigned int i = 0; i < p->n_sets; i++) {
		fputs(i ? ",\n" : "", out);
		put_set(out, p, &p->set[i]);
	}
	fputs("],\n\"tables\":[", out);
}

static void put_all_tables(FILE *out, const struct html_page *p, size_t size)
{
	size_t room = size < PAGE_MAX ? PAGE_MAX - size : 0;

	for (unsigned int i = 0; i < p->n_sets; i++) {
		fputs(i ? ",\n" : "", out);
		html_put_tables(out, &p->set[i], &room);
	}
	fputs("]}\n", out);
}

void html_write(FILE *out, const struct html_page *page)
{
	char *data = NULL;
	size_t n = 0;
	FILE *mem = open_memstream(&data, &n);

	if (mem)
		put_data(mem, page);
	if (!mem || fclose(mem))
		cli_die("out of memory for a report");
	fputs(part_head, out);
	fputs(part_style, out);
	fputs(part_body, out);
	for (size_t i = 0; i < n; i++)
		if (data[i] == '<' || data[i] == '>' || data[i] == '&')
			fprintf(out, "\\u%04x", (unsigned int)data[i]);
		else
			putc(data[i], out);
	put_all_tables(out, page, n + strlen(part_style) + strlen(part_script));
	free(data);
	fputs("</script>\n<script>\n", out);
	fputs(part_script, out);
	fputs("</script>\n</body>\n</html>\n", out);
}
