// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The netfile writer: a fabric in the form of ibnetdiscover, for ibsim and for ftr_read_fabric.
 *
 * Host ports without a link are left out, because a sweep would not find them.  All switches are
 * written.  In names, " is written as ', because the format has no way to write it.  (Names contain
 * no control characters, because they are cleaned when they are added to a fabric.)
 *
 * An unknown width is written as "0x" (0xQDR), an unknown speed as "?" (4x?); readers accept both.
 * If both are unknown, neither is written.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "io/text.h"

struct writer {
	FILE *out;
	const struct ftr_fabric *f;
	ftr_ep *by_node;	/* [n_ep] host ports by node and port number */
	uint32_t *first;	/* [n_nodes + 1] index in by_node of the first port of each node */
	char name[FTR_NAME_MAX + 1];	/* result of clean() */
};

/* Returns a copy of the name with ' in place of ".  The next call overwrites it. */
static const char *clean(struct writer *w, const char *name)
{
	snprintf(w->name, sizeof(w->name), "%s", name);
	for (char *quote = w->name; (quote = strchr(quote, '"')); )
		*quote = '\'';
	return w->name;
}

/* ---- end ports by node --------------------------------------------------- */

static bool group_nodes(struct writer *w)
{
	const struct ftr_fabric *f = w->f;

	w->first = ftr_calloc(f->n_nodes + 2u, sizeof(*w->first));
	w->by_node = ftr_malloc(f->n_ep * sizeof(*w->by_node));
	if (!w->first || !w->by_node)
		return false;
	for (ftr_ep e = 0; e < f->n_ep; e++)
		w->first[f->ep[e].node + 2]++;
	for (uint32_t n = 0; n < f->n_nodes; n++)
		w->first[n + 2] += w->first[n + 1];
	/* During this loop, first[n + 1] is the index in by_node for the next port of node n.
	 * After the loop it is the index of the first port of node n + 1. */
	for (ftr_ep e = 0; e < f->n_ep; e++)
		w->by_node[w->first[f->ep[e].node + 1]++] = e;
	for (uint32_t n = 0; n < f->n_nodes; n++)
		for (uint32_t i = w->first[n] + 1; i < w->first[n + 1]; i++) {
			ftr_ep e = w->by_node[i];
			uint32_t k = i;

			for (; k > w->first[n] &&
			     f->ep[w->by_node[k - 1]].port_num >
			     f->ep[e].port_num; k--)
				w->by_node[k] = w->by_node[k - 1];
			w->by_node[k] = e;
		}
	return true;
}

/* ---- records ----------------------------------------------------------- */

static char type_letter(uint8_t type)
{
	return type == FTR_NODE_ROUTER ? 'R' : 'H';
}

static void write_rate(FILE *out, const struct ftr_swport *p)
{
	const char *speed = ftr_speed_str((enum ftr_speed)p->speed);

	if (p->width || speed)
		fprintf(out, " %ux%s", p->width, speed ? speed : "?");
	fputc('\n', out);
}

static void write_switch(struct writer *w, ftr_sw s)
{
	const struct ftr_switch *sw = &w->f->sw[s];
	FILE *out = w->out;

	fprintf(out, "\nswitchguid=0x%016" PRIx64 "(%016" PRIx64 ")\n"
		"Switch\t%u \"S-%016" PRIx64 "\"\t\t# \"%s\" %s port 0 lid %u lmc %u\n",
		sw->guid, sw->guid, sw->n_ports, sw->guid, clean(w, sw->name),
		sw->lmc ? "enhanced" : "base", sw->lid, sw->lmc);
	for (unsigned int p = 1; p <= sw->n_ports; p++) {
		const struct ftr_swport *port = ftr_fabric_port(w->f, s, p);

		if (port->peer_kind == FTR_PEER_SW) {
			const struct ftr_switch *z = &w->f->sw[port->peer];

			fprintf(out, "[%u]\t\"S-%016" PRIx64 "\"[%u]\t\t# \"%s\" lid %u",
				p, z->guid, port->peer_port, clean(w, z->name),
				z->lid);
			write_rate(out, port);
		} else if (port->peer_kind == FTR_PEER_EP) {
			const struct ftr_endport *e = &w->f->ep[port->peer];

			fprintf(out, "[%u]\t\"%c-%016" PRIx64 "\"[%u](%016"
				PRIx64 ") \t\t# \"%s\" lid %u", p,
				type_letter(e->type), e->node_guid,
				e->port_num, e->guid, clean(w, e->name),
				e->lid);
			write_rate(out, port);
		}
	}
}

static void write_node(struct writer *w, uint32_t node)
{
	const struct ftr_fabric *f = w->f;
	const struct ftr_endport *e = NULL;
	unsigned int ports = 0;
	FILE *out = w->out;
	bool router;

	for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++) {
		if (f->ep[w->by_node[i]].sw == FTR_SW_NONE)
			continue;
		e = &f->ep[w->by_node[i]];
		ports = e->port_num;
	}
	if (!e)
		return;
	router = e->type == FTR_NODE_ROUTER;
	fprintf(out, "\n%s=0x%016" PRIx64 "\n%s\t%u \"%c-%016" PRIx64
		"\"\t\t# \"%s\"\n", router ? "rtguid" : "caguid",
		e->node_guid, router ? "Rt" : "Ca", ports,
		type_letter(e->type), e->node_guid, clean(w, e->name));
	for (uint32_t i = w->first[node]; i < w->first[node + 1]; i++) {
		const struct ftr_switch *z;

		e = &f->ep[w->by_node[i]];
		if (e->sw == FTR_SW_NONE)
			continue;
		z = &f->sw[e->sw];
		fprintf(out, "[%u](%016" PRIx64 ") \t\"S-%016" PRIx64
			"\"[%u]\t\t# lid %u lmc %u \"%s\" lid %u", e->port_num,
			e->guid, z->guid, e->sw_port, e->lid, e->lmc,
			clean(w, z->name), z->lid);
		write_rate(out, ftr_fabric_port(f, e->sw, e->sw_port));
	}
}

/* ---- the whole file ---------------------------------------------------- */

static enum ftr_status check_order(const struct ftr_fabric *f,
				   const uint32_t *order, struct ftr_err *err)
{
	uint32_t n = f->n_sw + f->n_nodes;
	enum ftr_status st = FTR_OK;
	uint8_t *seen;

	if (!order)
		return FTR_OK;
	seen = ftr_calloc(n, 1);
	if (!seen)
		return ftr_nomem(err, "a netfile");
	for (uint32_t i = 0; i < n; i++) {
		if (order[i] >= n || seen[order[i]]) {
			st = ftr_fail(err, FTR_INVAL, "order of records: entry %u is %u; the entries must be a permutation of 0..%u",
				      i, order[i], n - 1);
			break;
		}
		seen[order[i]] = 1;
	}
	free(seen);
	return st;
}

enum ftr_status ftr_write_netfile(FILE *out, const struct ftr_fabric *f,
				  const uint32_t *order, struct ftr_err *err)
{
	struct writer w = { .out = out, .f = f };
	enum ftr_status st = check_order(f, order, err);

	if (st)
		return st;
	if (!group_nodes(&w)) {
		st = ftr_nomem(err, "a netfile");
		goto out;
	}
	fprintf(out, "# switches: %u, end nodes: %u, links between switches: %u\n",
		f->n_sw, f->n_nodes, f->n_sw_links);
	for (uint32_t i = 0; i < f->n_sw + f->n_nodes; i++) {
		uint32_t k = order ? order[i] : i;

		if (k < f->n_sw)
			write_switch(&w, k);
		else
			write_node(&w, k - f->n_sw);
	}
	st = ftr_written(out, "the netfile", err);
out:
	free(w.first);
	free(w.by_node);
	return st;
}
