// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The routing function of an InfiniBand switch.
 */
#include "sim/dataplane.h"

/* The only exit is the port from the LFT, with the VL from the SL2VL table. There is no exit if the
 * LFT entry is missing or its port has no working link. */
static unsigned int route_lft(void *state, const struct ftr_sim_view *v,
			      ftr_sw s, ftr_port in, unsigned int vl,
			      struct ftr_sim_packet *p,
			      struct ftr_sim_exit *exit,
			      enum ftr_sim_loss *why)
{
	ftr_port out = ftr_tables_get(v->t, s, p->dlid);

	(void)state;
	(void)vl;
	if (out == FTR_PORT_NONE) {
		*why = FTR_SIM_LOST_MISSING;
		return 0;
	}
	if (out > v->f->sw[s].n_ports ||
	    (out && !v->up[v->f->sw[s].first_port + out]))
		return 0;
	exit->port = out;
	exit->vl = v->sl2vl ? (uint8_t)ftr_sl2vl_get(v->sl2vl, s, in, out,
						      p->sl) : p->sl;
	exit->room = 1;
	exit->rank = 0;
	exit->note = 0;
	return 1;
}

const struct ftr_sim_function ftr_sim_lft = {
	.name = "lft",
	.summary = "linear forwarding tables and SL2VL tables",
	.min_vls = 1,
	.route = route_lft,
};
