// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The rail of each leaf (<ftr/hosts.h>), if the fabric is cabled by rails.
 *
 * The search for even load gives more weight to flows inside a rail (balance/net.c), because
 * collective operations follow the rails.
 */
#include <string.h>

#include "shape/shape.h"
#include <ftr/hosts.h>

enum ftr_status shape_rails(struct shaping *z)
{
	struct ftr_hosts *h;
	uint32_t *leaf;
	uint8_t *rail;
	bool by_rails;
	enum ftr_status st;

	if (!z->several_ports)	/* a quick test that has the same result */
		return FTR_OK;
	if (!FTR_NEW(z->scratch, leaf, z->f->n_sw) || !FTR_NEW(z->keep, rail, z->f->n_sw))
		return shape_nomem(z);
	st = ftr_hosts_new(z->f, false, &h, z->err);
	if (st)
		return st;
	st = ftr_hosts_leaf_rails(z->f, h, leaf, &by_rails, z->err);
	if (!st && by_rails && h->n_rails <= UINT8_MAX) {
		for (ftr_sw s = 0; s < z->f->n_sw; s++)
			rail[s] = (uint8_t)(leaf[s] + 1);
		z->sh->numbering.rail = rail;
		z->sh->numbering.n_rails = h->n_rails;
	}
	ftr_hosts_free(h);
	return st;
}
