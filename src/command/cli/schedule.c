// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A fault schedule for the console of ibsim: every line takes one link between two
 * switches down (Unlink), or restores one (Link).
 *
 * In the array of links, those that are up come first.  So drawing a link takes one random index
 * and one swap.  If some links are up and others down, a command takes a link down with probability
 * 3/4, and restores one with probability 1/4.  The draws depend only on the seed, so a fabric and a
 * seed give the same lines on any machine.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/schedule.h"

uint64_t cli_draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static uint32_t list(const struct ftr_fabric *f, struct ftr_hop *out)
{
	uint32_t n = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(f, s, p);

			if (port->peer_kind != FTR_PEER_SW || port->peer < s ||
			    (port->peer == s && port->peer_port <= p))
				continue;
			out[n].sw = s;
			out[n++].port = (ftr_port)p;
		}
	}
	return n;
}

static void command(FILE *out, const struct ftr_fabric *f,
		    const struct ftr_hop *c, bool cut)
{
	const struct ftr_swport *p = ftr_fabric_port(f, c->sw, c->port);

	if (cut)
		fprintf(out, "Unlink \"S-%016" PRIx64 "\"[%u]\n",
			f->sw[c->sw].guid, c->port);
	else
		fprintf(out, "Link \"S-%016" PRIx64 "\"[%u] \"S-%016" PRIx64 "\"[%u]\n",
			f->sw[c->sw].guid, c->port, f->sw[p->peer].guid,
			p->peer_port);
}

enum ftr_status cli_write_schedule_fn(FILE *out, const void *ctx,
				      struct ftr_err *err)
{
	const struct cli_schedule *s = ctx;
	struct ftr_hop *link = calloc((size_t)s->f->n_sw_links + 1, sizeof(*link));
	uint64_t state = s->seed;
	uint32_t n, whole;

	if (!link)
		return ftr_nomem(err, "a schedule");
	n = whole = list(s->f, link);
	for (unsigned int i = 0; n && i < s->n; i++) {
		bool cut = whole && (whole == n || cli_draw(&state) % 4);
		uint32_t from = cut ? 0 : whole, of = cut ? whole : n - whole;
		uint32_t k = from + (uint32_t)(cli_draw(&state) % of);
		uint32_t edge = cut ? --whole : whole++;
		struct ftr_hop c = link[k];

		command(out, s->f, &c, cut);
		link[k] = link[edge];
		link[edge] = c;
	}
	free(link);
	if (!n)
		return ftr_fail(err, FTR_INVAL, "no schedule: no link connects two switches");
	return FTR_OK;
}
