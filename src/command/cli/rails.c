// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Hosts with several ports, for ibfattree check and ibfattree doctor.
 *
 * The rails of hosts with several adapters (<ftr/hosts.h>) are compared with the cabling.  If the
 * fabric is cabled by rails, each port on a leaf of another rail is a finding.  A host that lacks
 * some rails, but has more than half of them, has lost an adapter or a link.
 */
#include <stdarg.h>
#include <stdlib.h>

#include "cli/facts.h"
#include "cli/json.h"

/* ---- results ------------------------------------------------------------ */

#define DETAILS 10

struct result {
	struct json_object *details, *places;	/* of the first DETAILS objects */
	uint32_t n;
	char text[1024];
};

static struct result new_result(void)
{
	return (struct result){ json_object_new_array(), json_object_new_array(), 0, "" };
}

/* Adds a line for one affected object.  guid: node GUID of a switch; 0: no place. */
static FTR_PRINTF(4, 5) void add(struct result *r, uint64_t guid, unsigned int port,
				 const char *fmt, ...)
{
	struct json_object *place;
	va_list ap;

	if (r->n++ >= DETAILS)
		return;
	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
	cli_json_text(r->details, r->text);
	place = cli_json_element(r->places);
	cli_json_guid(place, "guid", guid);
	cli_json_num(place, "port", port);
}

static FTR_PRINTF(2, 3) struct json_object *end(struct result *r, const char *fmt, ...)
{
	struct json_object *o = json_object_new_object();
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
	cli_json_str(o, "verdict", r->n ? "warning" : "ok");
	cli_json_str(o, "text", r->text);
	cli_json_num(o, "count", r->n);
	cli_json_put(o, "details", r->details);
	cli_json_put(o, "places", r->places);
	return o;
}

/* ---- rails --------------------------------------------------------------- */

static void check_host(const struct ftr_fabric *f, const struct ftr_hosts *h, uint32_t host,
		       const uint32_t *leaf, struct result *r)
{
	const ftr_ep *e = h->ep + h->host[host].first, *last = e + h->host[host].n;
	bool most = 2 * h->host[host].n > h->n_rails;

	for (uint32_t k = 0; k < h->n_rails; k++) {
		ftr_sw s = e < last && h->rail[*e] == k ? f->ep[*e].sw : FTR_SW_NONE;

		if (s == FTR_SW_NONE) {
			if (most)
				add(r, 0, 0, "host %s has no port with a link on rail %u",
				    h->host[host].name, k);
			continue;
		}
		if (leaf[s] != k)
			add(r, f->sw[s].guid, f->ep[*e].sw_port,
			    "%s, rail %u, is on %s, a leaf of rail %u", CLI_EP(f, *e), k,
			    CLI_SW(f, s), leaf[s]);
		e++;
	}
}

struct json_object *cli_rails(const struct ftr_fabric *f)
{
	uint32_t *leaf = cli_calloc(f->n_sw, sizeof(*leaf), "rails");
	struct result r = new_result();
	bool by_rails, several = false;
	struct json_object *o;
	struct ftr_hosts *h;

	cli_must(ftr_hosts_new(f, false, &h, &cli_err));
	cli_must(ftr_hosts_leaf_rails(f, h, leaf, &by_rails, &cli_err));
	for (uint32_t i = 0; i < h->n; i++) {
		several |= h->host[i].n > 1;
		if (by_rails)
			check_host(f, h, i, leaf, &r);
	}
	if (!several)
		o = end(&r, "no host has several ports");
	else if (!by_rails)
		o = end(&r, "hosts have several ports, but the leaves are not divided into rails");
	else if (r.n)
		o = end(&r, "of the %u rails, %u port%s missing or on a leaf of another rail",
			h->n_rails, r.n, r.n == 1 ? " is" : "s are");
	else
		o = end(&r, "all hosts have a port on each of the %u rails, and each leaf has ports of one rail",
			h->n_rails);
	free(leaf);
	ftr_hosts_free(h);
	return o;
}

/* ---- ports of one host --------------------------------------------------- */

struct host_ports {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;	/* NULL: not known */
	uint32_t *path;		/* [n_sw] for ftr_tables_path() */
	/* [n_sw] base + n: the paths to n ports of the present host cross the switch; at most base:
	 * none */
	uint32_t *crossed, base;
	bool *leaf;		/* [n_sw] switches with hosts */
	uint32_t hosts;		/* hosts with ports on several switches */
	uint64_t pairs, common;	/* pairs of such a host and a leaf; those with a common switch */
	uint32_t most, of;	/* the paths to `most` of the `of` ports of a host cross one switch */
};

/* Returns the greatest number of paths from leaf s to the n ports that cross one switch other than
 * s.  *paths: the number of ports on other leaves. */
static uint32_t cross_common(struct host_ports *p, ftr_sw s, const ftr_ep *e, uint32_t n,
			     uint32_t *paths)
{
	uint32_t most = 0;

	*paths = 0;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t hops = s == p->f->ep[e[k]].sw ? FTR_NO_PATH :
			ftr_tables_path(p->f, p->t, s, p->f->ep[e[k]].lid, p->path);

		*paths += s != p->f->ep[e[k]].sw;
		for (uint32_t i = 0; hops != FTR_NO_PATH && i < hops; i++) {
			const struct ftr_swport *q = &p->f->ports[p->path[i]];
			uint32_t *at;

			if (q->peer_kind != FTR_PEER_SW)
				continue;
			at = &p->crossed[q->peer];
			*at = (*at > p->base ? *at : p->base) + 1;
			most = *at - p->base > most ? *at - p->base : most;
		}
	}
	p->base += n;
	return most;
}

/* e[n]: the ports of a host. */
static void compare_ports(struct host_ports *p, const ftr_ep *e, uint32_t n)
{
	p->hosts++;
	for (ftr_sw s = 0; p->t && s < p->f->n_sw; s++) {
		uint32_t most, paths;

		if (!p->leaf[s])
			continue;
		most = cross_common(p, s, e, n, &paths);
		p->pairs += paths > 1;
		p->common += most > 1;
		if (most > p->most) {
			p->most = most;
			p->of = n;
		}
	}
}

static struct json_object *end_ports(const struct host_ports *p, struct result *r)
{
	char also[256] = "";

	if (p->common)
		snprintf(also, sizeof(also), "; from %.0f %% of the leaves the paths to two ports of a host cross a common switch, whose failure interrupts both until the repair, and to at most %u of its %u ports",
			 100.0 * (double)p->common / (double)p->pairs, p->most, p->of);
	else if (p->pairs)
		snprintf(also, sizeof(also), "; the paths from a leaf to them cross no common switch");
	if (r->n)
		return end(r, "%u host%s all ports on one switch; ports on several: %u%s", r->n,
			   r->n == 1 ? " has" : "s have", p->hosts, also);
	return p->hosts ? end(r, "hosts with ports on several switches: %u%s", p->hosts, also) :
	       end(r, "no host has several ports");
}

struct json_object *cli_host_ports(const struct ftr_fabric *f, const struct ftr_tables *t)
{
	struct host_ports p = { .f = f, .t = t };
	struct result r = new_result();
	struct ftr_hosts *h;

	cli_must(ftr_hosts_new(f, false, &h, &cli_err));
	p.path = cli_calloc(f->n_sw, sizeof(*p.path), "paths");
	p.crossed = cli_calloc(f->n_sw, sizeof(*p.crossed), "paths");
	p.leaf = cli_calloc(f->n_sw, sizeof(*p.leaf), "paths");
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE)
			p.leaf[f->ep[e].sw] = true;
	for (uint32_t i = 0; i < h->n; i++) {
		const ftr_ep *e = h->ep + h->host[i].first;
		uint32_t n = h->host[i].n, same = 1;

		if (n < 2)
			continue;
		while (same < n && f->ep[e[same]].sw == f->ep[e[0]].sw)
			same++;
		if (same < n)
			compare_ports(&p, e, n);
		else
			add(&r, f->sw[f->ep[e[0]].sw].guid, f->ep[e[0]].sw_port,
			    "host %s: all %u ports are on %s", h->host[i].name, n,
			    CLI_SW(f, f->ep[e[0]].sw));
	}
	free(p.path);
	free(p.crossed);
	free(p.leaf);
	ftr_hosts_free(h);
	return end_ports(&p, &r);
}
