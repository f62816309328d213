// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the parts of a fabric that the nominal fabric lacks, or that differ from it.
 *
 * A place is the position of a switch in the nominal fabric.  The holder of a place is the switch
 * that was there last.  The counterpart of a switch is the place whose holder has the same GUID.
 * If there is no such place, replace.c looks for one by the links of the switch, or by the GUID of
 * the place.  The counterpart of a host port is the host port with the same GUID.
 *
 * If the LMC is unknown (the port has no LID) or a name is empty, this is not a difference.  Names
 * are compared only if leaves are ordered by name.  Host ports without a link are ignored.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "shape/cover.h"

static void FTR_PRINTF(3, 4)
note(struct cover *c, uint32_t *count, const char *fmt, ...)
{
	va_list ap;

	++*count;
	if (!c->n || c->change.example[0])
		return;
	va_start(ap, fmt);
	vsnprintf(c->change.example, sizeof(c->change.example), fmt, ap);
	va_end(ap);
}

static void match(struct cover *c)
{
	const struct ftr_fabric *f = c->f, *n = c->n;
	uint32_t k = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		c->sw[s] = n ? ftr_fabric_find_holder(n, f->sw[s].guid) :
			FTR_SW_NONE;
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		while (n && k < n->n_ep && n->ep[k].guid < f->ep[e].guid)
			k++;
		c->ep[e] = n && k < n->n_ep && n->ep[k].guid == f->ep[e].guid ?
			k : FTR_EP_NONE;
	}
}

static void switches(struct cover *c)
{
	for (ftr_sw s = 0; s < c->f->n_sw; s++) {
		const struct ftr_switch *a = &c->f->sw[s], *b;

		if (c->sw[s] == FTR_SW_NONE) {
			note(c, &c->change.new_sw, "switch 0x%016" PRIx64
			     " \"%s\"", a->guid, a->name);
			continue;
		}
		b = &c->n->sw[c->sw[s]];
		if (a->guid != b->holder)
			note(c, &c->change.replaced_sw, "switch 0x%016" PRIx64
			     " \"%s\" in place of 0x%016" PRIx64 " \"%s\"",
			     a->guid, a->name, b->holder, b->name);
		if (a->n_ports != b->n_ports)
			note(c, &c->change.changed, "switch 0x%016" PRIx64
			     " \"%s\" with %u ports instead of %u", a->guid,
			     a->name, a->n_ports, b->n_ports);
		else if (a->lid && a->lmc != b->lmc)
			note(c, &c->change.changed, "switch 0x%016" PRIx64
			     " \"%s\" with LMC %u instead of %u", a->guid,
			     a->name, a->lmc, b->lmc);
	}
}

/* The difference between two host ports with the same GUID, as text; NULL: none.  Both must have a
 * link. */
static const char *difference(const struct cover *c,
			      const struct ftr_endport *a,
			      const struct ftr_endport *b, bool names)
{
	bool reported = *a->name && *b->name;

	if (c->sw[a->sw] != b->sw || a->sw_port != b->sw_port)
		return "at another place";
	if (a->node_guid != b->node_guid || a->port_num != b->port_num ||
	    a->type != b->type)
		return "of another node";
	if (a->lid && a->lmc != b->lmc)
		return "with another LMC";
	if (reported && ftr_ep_is_aggregation(a) != ftr_ep_is_aggregation(b))
		return "of another kind";
	if (names && *a->name && strcmp(a->name, b->name))
		return "with another name";
	return NULL;
}

static void endports(struct cover *c, bool names)
{
	for (ftr_ep e = 0; e < c->f->n_ep; e++) {
		const struct ftr_endport *a = &c->f->ep[e], *b;
		const char *what;

		if (a->sw == FTR_SW_NONE)
			continue;
		b = c->ep[e] == FTR_EP_NONE ? NULL : &c->n->ep[c->ep[e]];
		if (!b || b->sw == FTR_SW_NONE) {
			note(c, &c->change.new_hosts, "host port 0x%016" PRIx64
			     " \"%s\"", a->guid, a->name);
			continue;
		}
		what = difference(c, a, b, names);
		if (what)
			note(c, &c->change.changed, "host port 0x%016" PRIx64
			     " \"%s\" %s", a->guid, a->name, what);
	}
}

static bool connected_alike(const struct cover *c, ftr_sw s, unsigned int p)
{
	const struct ftr_swport *a = ftr_fabric_port(c->f, s, p), *b;
	ftr_sw t = c->sw[s];

	if (t == FTR_SW_NONE || p > c->n->sw[t].n_ports)
		return false;
	b = ftr_fabric_port(c->n, t, p);
	return b->peer_kind == FTR_PEER_SW && b->peer == c->sw[a->peer] &&
	       b->peer_port == a->peer_port;
}

static void links(struct cover *c)
{
	const struct ftr_fabric *f = c->f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(f, s, p);

			if (!cover_reported_here(f, s, p) || connected_alike(c, s, p))
				continue;
			note(c, &c->change.new_links, "link 0x%016" PRIx64
			     "[%u] - 0x%016" PRIx64 "[%u]", f->sw[s].guid, p,
			     f->sw[port->peer].guid, port->peer_port);
		}
	}
}

/* ---- another fabric? --------------------------------------------------- */

/* f, n, both: the number of switches (or host ports, or links) in f, in n, and in both. */
static bool little_in_common(uint32_t f, uint32_t n, uint32_t both)
{
	return 4 * (uint64_t)both < FTR_MIN(f, n) || !f || !n;
}

uint32_t cover_connected(const struct ftr_fabric *f)
{
	uint32_t n = 0;

	for (ftr_ep e = 0; e < f->n_ep; e++)
		n += f->ep[e].sw != FTR_SW_NONE;
	return n;
}

/* Decide whether f is another fabric than n.  This is so in two cases.  First: f and n have few
 * switches and few host ports in common.  Second: both have links, but few links between switches
 * and few links of host ports in common. */
static void other_fabric(struct cover *c)
{
	struct ftr_nominal_change *g = &c->change;
	const struct ftr_fabric *f = c->f, *n = c->n;
	uint32_t ep_f = cover_connected(f), ep_n = cover_connected(n);
	uint32_t sw = 0, ep = 0, link = 0, host_link = 0;	/* in both */

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		sw += c->sw[s] != FTR_SW_NONE &&
			n->sw[c->sw[s]].holder == f->sw[s].guid;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			link += cover_reported_here(f, s, p) &&
				connected_alike(c, s, p);
	}
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		const struct ftr_endport *x = &f->ep[e], *y;

		if (x->sw == FTR_SW_NONE || c->ep[e] == FTR_EP_NONE)
			continue;
		y = &n->ep[c->ep[e]];
		ep += y->sw != FTR_SW_NONE;
		host_link += y->sw != FTR_SW_NONE && c->sw[x->sw] == y->sw &&
			x->sw_port == y->sw_port;
	}
	g->same_sw = sw;
	g->same_hosts = ep;
	g->old_sw = n->n_sw;
	g->old_hosts = ep_n;
	g->other = (little_in_common(f->n_sw, n->n_sw, sw) && little_in_common(ep_f, ep_n, ep)) ||
		(f->n_sw_links + ep_f && n->n_sw_links + ep_n &&
		 little_in_common(f->n_sw_links, n->n_sw_links, link) &&
		 little_in_common(ep_f, ep_n, host_link));
}

bool cover_compare(struct cover *c, struct ftr_arena *a,
		   const struct ftr_fabric *f, const struct ftr_fabric *n,
		   bool names)
{
	*c = (struct cover){
		.f = f, .n = n,
		.sw = ftr_arena_alloc(a, f->n_sw, sizeof(*c->sw)),
		.ep = ftr_arena_alloc(a, f->n_ep, sizeof(*c->ep)),
	};
	if (!c->sw || !c->ep)
		return false;
	match(c);
	if (n && !cover_replaced(c, a))
		return false;
	switches(c);
	endports(c, names);
	links(c);
	if (n)
		other_fabric(c);
	return true;
}
