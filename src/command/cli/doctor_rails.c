// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree doctor: the rails of hosts with several adapters (rails.h) against the cabling.
 *
 * The rail of a leaf is that of most of its host ports.  If three quarters of all ports are on a
 * leaf of their own rail, the fabric is cabled by rails, and each other port is a finding.  A host
 * that lacks some rails, but has more than half of them, has lost an adapter or a link.
 */
#include <stdlib.h>

#include "cli/doctor.h"
#include "cli/rails.h"

struct cabling {
	const struct ftr_fabric *f;
	struct cli_rails r;
	uint32_t *rail_of;	/* [n_sw] rail of a leaf; UINT32_MAX: no host port */
	uint32_t ports, right;	/* number of ports of hosts, and of those on a leaf of their rail */
};

static ftr_ep port_of(const struct cabling *c, uint32_t host, uint32_t rail)
{
	return c->r.rail[(size_t)host * c->r.n + rail];
}

static void find_leaf_rails(struct cabling *c)
{
	uint32_t *count = cli_calloc((size_t)c->f->n_sw * c->r.n, sizeof(*count), "rails");

	c->rail_of = cli_calloc(c->f->n_sw, sizeof(*c->rail_of), "rails");
	for (uint32_t i = 0; i < c->r.h->n; i++)
		for (uint32_t k = 0; k < c->r.n; k++)
			if (port_of(c, i, k) != FTR_EP_NONE)
				count[(size_t)c->f->ep[port_of(c, i, k)].sw * c->r.n + k]++;
	for (ftr_sw s = 0; s < c->f->n_sw; s++) {
		const uint32_t *own = count + (size_t)s * c->r.n;
		uint32_t best = 0;

		for (uint32_t k = 0; k < c->r.n; k++) {
			best = own[k] > own[best] ? k : best;
			c->ports += own[k];
		}
		c->right += own[best];
		c->rail_of[s] = own[best] ? best : UINT32_MAX;
	}
	free(count);
}

static void check_host(const struct cabling *c, uint32_t host, struct doc_result *r)
{
	const char *name = c->r.h->host[host].name;
	uint32_t n = c->r.h->host[host].n;

	for (uint32_t k = 0; k < c->r.n; k++) {
		ftr_ep e = port_of(c, host, k);

		if (e == FTR_EP_NONE) {
			if (2 * n > c->r.n)
				doc_detail(r, "host %s has no port with a link on rail %u", name, k);
		} else if (c->rail_of[c->f->ep[e].sw] != k) {
			doc_detail(r, "%s, rail %u, is on %s, a leaf of rail %u", CLI_EP(c->f, e), k,
				   CLI_SW(c->f, c->f->ep[e].sw), c->rail_of[c->f->ep[e].sw]);
			doc_at(r, c->f->sw[c->f->ep[e].sw].guid, c->f->ep[e].sw_port);
		}
	}
}

/* Returns the number of hosts with several ports, all of them on one switch. */
static uint32_t count_shared(const struct ftr_fabric *f, const struct ftr_hosts *h)
{
	uint32_t shared = 0;

	for (uint32_t i = 0; i < h->n; i++) {
		const ftr_ep *e = h->ep + h->host[i].first;

		/* sorted by switch */
		shared += h->host[i].n > 1 && f->ep[e[0]].sw == f->ep[e[h->host[i].n - 1]].sw;
	}
	return shared;
}

void doc_rails(struct doctor *d, struct doc_result *r)
{
	struct cabling c = { .f = d->net.f };
	uint32_t shared;

	cli_must(cli_rails_new(c.f, &c.r, &cli_err));
	shared = count_shared(c.f, c.r.h);
	find_leaf_rails(&c);
	if (c.r.n < 2) {
		doc_say(r, DOC_OK, "no host has several ports");
	} else if (4 * (uint64_t)c.right < 3 * (uint64_t)c.ports) {
		doc_say(r, DOC_OK, "hosts have up to %u ports, but the leaves are not divided into rails; hosts with all ports on one switch: %u",
			c.r.n, shared);
	} else {
		for (uint32_t i = 0; i < c.r.h->n; i++)
			check_host(&c, i, r);
		if (r->n_details)
			doc_say(r, DOC_WARNING, "%u port%s of the %u rails missing or on a leaf of another rail",
				r->n_details, r->n_details == 1 ? " is" : "s are", c.r.n);
		else
			doc_say(r, DOC_OK, "all hosts have a port on each of the %u rails, and each leaf has ports of one rail",
				c.r.n);
		if (r->n_details)
			doc_remedy(r, "compare the cables of these ports with the plan; collectives that follow the rails would cross spines");
	}
	free(c.rail_of);
	cli_rails_free(&c.r);
}
