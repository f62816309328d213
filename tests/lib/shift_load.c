// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Each flow is followed twice.  The first walk shows whether the flow arrives within n_sw hops.
 * If so, the second walk counts it.
 */
#include <stdlib.h>

#include "check/check.h"
#include "lib/shift_load.h"

static ftr_sw next_sw(const struct ftr_fabric *f, const struct ftr_tables *t,
		      ftr_sw s, ftr_lid lid)
{
	ftr_port p = ftr_tables_get(t, s, lid);
	const struct ftr_swport *port;

	if (p == 0 || p > f->sw[s].n_ports)
		return FTR_SW_NONE;
	port = ftr_fabric_port(f, s, p);
	return port->peer_kind == FTR_PEER_SW ? port->peer : FTR_SW_NONE;
}

static bool arrives(const struct ftr_fabric *f, const struct ftr_tables *t,
		    ftr_sw s, ftr_lid lid)
{
	struct ftr_hop x = chk_exit_of(f, lid);
	uint32_t hops = 0;

	for (;;) {
		ftr_sw y = next_sw(f, t, s, lid);

		if (y == FTR_SW_NONE)
			return s == x.sw && ftr_tables_get(t, s, lid) == x.port;
		if (++hops > f->n_sw)
			return false;
		s = y;
	}
}

static void load_flow(const struct ftr_fabric *f, const struct ftr_tables *t,
		      ftr_ep from, ftr_ep to, uint32_t *load, uint32_t *max)
{
	ftr_sw s = f->ep[from].sw, y;
	ftr_lid lid = f->ep[to].lid;

	if (from == to || !chk_is_source(&f->ep[from]) ||
	    !chk_is_source(&f->ep[to]) || !arrives(f, t, s, lid))
		return;
	for (; (y = next_sw(f, t, s, lid)) != FTR_SW_NONE; s = y) {
		uint32_t v = f->sw[s].first_port + ftr_tables_get(t, s, lid);

		if (++load[v] > *max)
			*max = load[v];
	}
}

enum ftr_status shift_load(const struct ftr_fabric *f,
			   const struct ftr_tables *t, const ftr_ep *order,
			   uint32_t n, uint32_t k, uint32_t *max_load,
			   struct ftr_err *err)
{
	enum ftr_status st = chk_same_size(f, t, err);
	uint32_t *load, max = 0;

	if (st)
		return st;
	for (uint32_t i = 0; i < n; i++)
		if (order[i] != FTR_EP_NONE && order[i] >= f->n_ep)
			return ftr_fail(err, FTR_INVAL, "place %u of the order names host port %u, but the fabric has %u host ports",
					i, order[i], f->n_ep);
	load = ftr_calloc(f->n_ports, sizeof(*load));
	if (!load)
		return ftr_fail(err, FTR_NOMEM, "out of memory for the load of %u ports",
				f->n_ports);
	for (uint32_t i = 0; i < n; i++) {
		ftr_ep to = order[((uint64_t)i + k) % n];

		if (order[i] != FTR_EP_NONE && to != FTR_EP_NONE)
			load_flow(f, t, order[i], to, load, &max);
	}
	free(load);
	*max_load = max;
	return FTR_OK;
}
