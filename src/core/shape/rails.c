// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the rails of a GPU cluster: adapter r of every node is connected to a leaf of rail r.
 *
 * The rail of a leaf is the device and port number ("mlx5_3", port 1) that most of its hosts have
 * in common.  The fabric has rails if hosts have two ports or more on average, if there are several
 * rails, and if three quarters of all host ports are on a leaf of their own rail.
 *
 * The search for even load gives more weight to flows inside a rail (balance/net.c), because
 * collective operations follow the rails.  `ibfattree` has a finer definition for its reports
 * (src/command/cli/rails.c): it gives each port a rail, also on leaves with several rails.  Here a
 * leaf has at most one rail, that of most of its hosts.
 */
#include <string.h>

#include "shape/shape.h"

#define MAX_RAILS 64

static uint64_t device_of(const struct ftr_endport *e)
{
	const char *space = strrchr(e->name, ' '), *device = space ? space : "";

	return ftr_hash(FTR_HASH_INIT, device, strlen(device)) ^ e->port_num;
}

static bool counts(const struct shaping *z, ftr_ep e)
{
	return z->ep_host[e] && z->f->ep[e].sw != FTR_SW_NONE && z->is_leaf[z->f->ep[e].sw];
}

/* Set device[s] to the device of the majority of the hosts on each leaf, if there is one, by the
 * algorithm of Boyer and Moore (1991).  lead: [n_sw] scratch, all 0.  Returns true if three quarters of
 * all hosts belong to the majority of their leaf. */
static bool vote(const struct shaping *z, uint64_t *device, uint32_t *lead)
{
	uint32_t hosts = 0, right = 0;

	for (ftr_ep e = 0; e < z->f->n_ep; e++) {
		ftr_sw s = z->f->ep[e].sw;

		if (!counts(z, e))
			continue;
		if (!lead[s])
			device[s] = device_of(&z->f->ep[e]);
		lead[s] += device[s] == device_of(&z->f->ep[e]) ? 1 : -1u;
	}
	for (ftr_ep e = 0; e < z->f->n_ep; e++)
		if (counts(z, e)) {
			hosts++;
			right += device[z->f->ep[e].sw] == device_of(&z->f->ep[e]);
		}
	return 4 * (uint64_t)right >= 3 * (uint64_t)hosts;
}

enum ftr_status shape_rails(struct shaping *z)
{
	uint64_t *device, rail_device[MAX_RAILS];
	uint32_t *lead, n = 0;
	uint8_t *rail;

	if (!z->several_ports)
		return FTR_OK;
	if (!FTR_ZNEW(z->scratch, device, z->f->n_sw) || !FTR_ZNEW(z->scratch, lead, z->f->n_sw) ||
	    !FTR_ZNEW(z->keep, rail, z->f->n_sw))
		return shape_nomem(z);
	if (!vote(z, device, lead))
		return FTR_OK;
	for (ftr_sw s = 0; s < z->f->n_sw; s++) {
		uint32_t k = 0;

		if (!lead[s])
			continue;
		while (k < n && rail_device[k] != device[s])
			k++;
		if (k == MAX_RAILS)
			return FTR_OK;
		rail_device[k] = device[s];
		n += k == n;
		rail[s] = (uint8_t)(k + 1);
	}
	if (n > 1) {
		z->sh->numbering.rail = rail;
		z->sh->numbering.n_rails = n;
	}
	return FTR_OK;
}
