/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Values from OpenSM's data that the plugin needs for its own management packets.
 */
#ifndef IBF_HOST_H
#define IBF_HOST_H

#include "osm/osm.h"
#include "reroute/dr.h"

/* *origin: as rr_dr_tree.from.  *lid: the LID of the port of this subnet manager.
 * If the manager is not in f, the switch is FTR_SW_NONE and the LID is 0. */
void ibf_find_manager(const struct ibf_plugin *p, const struct ftr_fabric *f,
		      struct ftr_hop *origin, ftr_lid *lid);

/* The M_Key that OpenSM would use for sw, in network byte order.  sw NULL: the M_Key of OpenSM's
 * options.  The caller holds OpenSM's lock. */
uint64_t ibf_m_key(const struct ibf_plugin *p, const osm_switch_t *sw);

/* Directed routes from this manager to the switches of f, [n_sw]: the shortest ones over the links of
 * f, or, if there is none, those by which OpenSM has found the switch.  To be freed by the caller,
 * who holds OpenSM's lock; NULL: no memory. */
struct rr_dr *ibf_directed_routes(const struct ibf_plugin *p, const struct ftr_fabric *f);

/* Request a heavy sweep, as OpenSM does for a trap. */
void ibf_request_sweep(struct osm_opensm *osm);
/* Make OpenSM route again without a discovery.  Only the sweeper's thread calls this. */
void ibf_request_reroute(struct ibf_plugin *p);

/* OpenSM's subnet-wide packet_life_time, in milliseconds. */
double ibf_packet_lifetime(const struct ibf_plugin *p);

#endif
