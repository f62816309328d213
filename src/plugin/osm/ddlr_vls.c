// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The VLs of engine ddlr.
 *
 * The engine uses two VLs if OpenSM's option "qos" is on and every link between switches has
 * at least two operational VLs.  A packet that changes its direction (from up to down, or
 * from down to up) is on VL 1 on the next link, and on VL 0 on all others.  This is called
 * the turn bit (ftr_ddlr_sl2vl).  Local repairs are then planned for packets of hosts
 * and of switches.
 *
 * Otherwise the engine uses one VL, and local repairs are planned for packets of hosts only.
 *
 * The choice is made at each routing.  It is logged at the first routing and whenever it
 * changes.
 */
#include "osm/osm.h"
#include <ftr/ddlr.h>

/* The first port on a link between switches that has only VL 0; NULL: there is none.  In
 * PortInfo.OperationalVLs, 1 means VL 0, and 2 means VL 0 and VL 1 (IBA 14.2.5.6). */
static const osm_physp_t *port_with_one_vl(struct ibf_plugin *p,
					   const struct ftr_fabric *f)
{
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const osm_switch_t *sw = ibf_host_switch(p, f->sw[s].guid);

		for (unsigned int i = 1; sw && i <= f->sw[s].n_ports; i++) {
			const osm_physp_t *port =
				osm_node_get_physp_ptr(sw->p_node, i);

			if (ftr_fabric_port(f, s, (ftr_port)i)->peer_kind ==
			    FTR_PEER_SW && port &&
			    ib_port_info_get_op_vls(&port->port_info) < 2)
				return port;
		}
	}
	return NULL;
}

void ibf_ddlr_vls(struct ibf_engine *e, struct ibf_generation *gen)
{
	struct ibf_plugin *p = e->plugin;
	const osm_physp_t *port = NULL;
	struct ftr_err err = { 0 };
	int before = e->turn_bit;

	if (!e->ops->sl2vl)
		return;
	e->turn_bit = p->osm->subn.opt.qos &&
		!(port = port_with_one_vl(p, gen->fabric)) &&
		!e->ops->sl2vl(gen->shape, &gen->vls, &err);
	if (before == e->turn_bit && e->reported_vls)
		return;
	e->reported_vls = true;
	if (e->turn_bit)
		ibf_log(p, IBF_VLS, "ddlr: packets use VL 1 on the link after a change of direction (up to down, or down to up), and VL 0 on all other links");
	else if (port)
		ibf_log(p, IBF_VLS, "ddlr: all traffic on one VL: %s (0x%016" PRIx64 ") port %u has only one operational VL",
			port->p_node->print_desc,
			cl_ntoh64(osm_node_get_node_guid(port->p_node)),
			port->port_num);
	else
		ibf_log(p, IBF_VLS, "ddlr: all traffic on one VL: %s",
			err.status ? err.msg : "qos is off");
}

/* Fill in t, the SL2VL table for packets from port `in` to port `out` of p's switch.  OpenSM's
 * exclusive lock is held. */
void ibf_ddlr_sl2vl(void *context, osm_physp_t *p, uint8_t in, uint8_t out,
		     ib_slvl_table_t *t)
{
	struct ibf_engine *e = context;
	const struct ibf_generation *gen = e->gen;
	ftr_sw s;

	if (!gen || !gen->vls ||
	    osm_node_get_type(p->p_node) != IB_NODE_TYPE_SWITCH)
		return;
	s = ftr_fabric_find_sw(gen->fabric,
			cl_ntoh64(osm_node_get_node_guid(p->p_node)));
	if (s == FTR_SW_NONE || in > gen->fabric->sw[s].n_ports ||
	    out > gen->fabric->sw[s].n_ports)
		return;
	for (uint8_t sl = 0; sl < FTR_N_SL; sl++)
		ib_slvl_table_set(t, sl, (uint8_t)ftr_sl2vl_get(gen->vls, s,
								in, out, sl));
}
