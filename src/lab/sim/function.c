// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The routing function of an InfiniBand switch.
 */
#include "sim/dataplane.h"

/* The only exit is the port from the LFT, with the VL from the SL2VL table. There is no exit if the
 * LFT entry is missing or its port has no working link. */
static unsigned int route_lft(void *state, const struct ftr_sim_view *v, struct ftr_sim_arrival *a)
{
	ftr_port out = ftr_tables_get(v->t, a->sw, a->p->dlid);

	(void)state;
	if (out == FTR_PORT_NONE) {
		a->why = FTR_SIM_LOST_MISSING;
		return 0;
	}
	if (out > v->f->sw[a->sw].n_ports || (out && !v->up[v->f->sw[a->sw].first_port + out]))
		return 0;
	a->exit[0] = (struct ftr_sim_exit){
		.port = out, .room = 1, .vl = v->sl2vl ?
			(uint8_t)ftr_sl2vl_get(v->sl2vl, a->sw, a->in, out, a->p->sl) : a->p->sl,
	};
	return 1;
}

const struct ftr_sim_function ftr_sim_lft = {
	.name = "lft",
	.summary = "linear forwarding tables and SL2VL tables",
	.min_vls = 1,
	.route = route_lft,
};
