// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes the host order to opensm-ENGINE-ca-order.dump.  The tables balance the
 * load of shift permutations, in which host i of this order sends to host i + k.  The format
 * is that of the dump of OpenSM's engine ftree.  So tools that assign MPI ranks to hosts by
 * that dump can also read this file.
 */
#include <stdlib.h>

#include "osm/writer.h"

static bool fill(FILE *out, const void *ctx)
{
	const struct ibf_generation *gen = ctx;
	const struct ftr_endport *ep = gen->fabric->ep;
	uint32_t n = gen->shape->numbering.n_places;
	ftr_ep *order = ftr_calloc((size_t)n + 1, sizeof(*order));

	if (!order)
		return false;
	ftr_shape_host_order(gen->shape, order);
	for (uint32_t d = 0; d < n; d++)
		if (order[d] == FTR_EP_NONE)
			fputs("0xFFFF\tDUMMY\n", out);
		else
			fprintf(out, "0x%04x\t%s\n", ep[order[d]].lid,
				ep[order[d]].name);
	free(order);
	return true;
}

static void release(void *gen)
{
	ibf_generation_put(gen);
}

void ibf_ca_order_write(struct ibf_engine *e, struct ibf_generation *gen)
{
	const struct ibf_job job = {
		.msg = IBF_CA_ORDER,
		.path = ftr_asprintf("%s/opensm-%s-ca-order.dump", ibf_dump_dir(e->plugin),
				     e->ops->name),
		.fill = fill, .release = release,
		.ctx = ibf_generation_get(gen),
	};

	if (!ibf_writer_put(e->plugin->writer, &job))
		ibf_log(e->plugin, IBF_CA_ORDER, "the order of hosts was not written: out of memory");
}
