// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Values from OpenSM's data that the plugin needs for its own management packets.
 */
#include <stdlib.h>
#include <string.h>

#include "osm/host.h"

void ibf_find_manager(const struct ibf_plugin *p, const struct ftr_fabric *f,
		      struct ftr_hop *origin, ftr_lid *lid)
{
	uint64_t guid = cl_ntoh64(p->osm->subn.sm_port_guid);
	ftr_ep e = ftr_fabric_find_ep(f, guid);
	ftr_sw s = ftr_fabric_find_sw(f, guid);

	if (e != FTR_EP_NONE) {
		*origin = (struct ftr_hop){ f->ep[e].sw, f->ep[e].port_num };
		*lid = f->ep[e].lid;
	} else {
		*origin = (struct ftr_hop){ s, 0 };
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

static struct rr_dr host_route(const struct ibf_plugin *p, uint64_t guid)
{
	const osm_switch_t *sw = ibf_host_switch(p, guid);
	const osm_dr_path_t *dr =
		osm_physp_get_dr_path_ptr(osm_node_get_physp_ptr(sw->p_node, 0));
	struct rr_dr out = { .hops = FTR_MIN(dr->hop_count, RR_DR_HOPS_MAX) };

	memcpy(out.path, dr->path, out.hops + 1u);
	return out;
}

struct rr_dr *ibf_directed_routes(const struct ibf_plugin *p, const struct ftr_fabric *f)
{
	struct rr_dr *out = ftr_calloc(f->n_sw + 1u, sizeof(*out));
	struct rr_dr_tree *t = rr_dr_tree_new(f->n_sw);
	struct ftr_hop origin;
	ftr_lid lid;

	if (out && t) {
		ibf_find_manager(p, f, &origin, &lid);
		rr_dr_search(t, f, &origin, NULL, NULL);
		for (ftr_sw s = 0; s < f->n_sw; s++)
			if (!rr_dr_route(t, s, &out[s]))
				out[s] = host_route(p, f->sw[s].guid);
	} else {
		free(out);
		out = NULL;
	}
	rr_dr_tree_free(t);
	return out;
}

void ibf_request_reroute(struct ibf_plugin *p)
{
	p->own_reroute = true;
	__atomic_store_n(&p->osm->subn.force_reroute, TRUE, __ATOMIC_RELAXED);
	osm_sm_signal(&p->osm->sm, OSM_SIGNAL_SWEEP);
}

void ibf_request_sweep(struct osm_opensm *osm)
{
	/* an atomic store, because the sweeper changes this flag without a lock */
	__atomic_store_n(&osm->subn.force_heavy_sweep, TRUE, __ATOMIC_RELAXED);
	osm_sm_signal(&osm->sm, OSM_SIGNAL_SWEEP);
}
