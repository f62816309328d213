// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Single facts from OpenSM's data.
 */
#include "osm/host.h"

void ibf_find_manager(const struct ibf_plugin *p, const struct ftr_fabric *f,
		      struct rr_dr_origin *origin, ftr_lid *lid)
{
	uint64_t guid = cl_ntoh64(p->osm->subn.sm_port_guid);
	ftr_ep e = ftr_fabric_find_ep(f, guid);
	ftr_sw s = ftr_fabric_find_sw(f, guid);

	if (e != FTR_EP_NONE) {
		*origin = (struct rr_dr_origin){ f->ep[e].sw, f->ep[e].port_num };
		*lid = f->ep[e].lid;
	} else {
		*origin = (struct rr_dr_origin){ s, 0 };
		*lid = s == FTR_SW_NONE ? 0 : f->sw[s].lid;
	}
}

double ibf_packet_lifetime(const struct ibf_plugin *p)
{
	unsigned int code = p->osm->subn.opt.packet_life_time & 31;

	return 4.096e-3 * (double)(1u << code);
}

uint64_t ibf_m_key(const struct ibf_plugin *p, const osm_switch_t *sw)
{
	const osm_subn_opt_t *opt = &p->osm->subn.opt;
	const osm_physp_t *port0 = sw ? osm_node_get_physp_ptr(sw->p_node, 0) :
		NULL;

	return opt->m_key_lookup && port0 ?
		ib_port_info_get_m_key(&port0->port_info) : opt->m_key;
}
