// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The VLs of engine ddlr.
 *
 * The engine uses two VLs for each class of SLs if OpenSM's option "qos" is on and every link
 * between switches has enough operational VLs.  A packet that changes its direction (from up to
 * down, or from down to up) is on the second VL of its class on the next link, and on the first
 * one on all others.  This is called the turn bit (ftr_ddlr_sl2vl).  Local repairs are then
 * planned for packets of hosts and of switches.  SLs of paths do not change.
 *
 * The site defines the classes by OpenSM's option qos_swe_sl2vl, or else qos_sl2vl: SLs with the
 * same VL are a class, which keeps this VL.  If neither option is set, OpenSM would map each SL
 * to a VL of its own, and 15 classes would need 30 VLs.  Then only the SLs count that partitions,
 * levels of the QoS policy and sm_sl name; all others have the VLs of SL 0.
 *
 * Otherwise the engine leaves OpenSM's SL2VL tables as they are, and local repairs are planned for
 * packets of hosts only, on one VL for each class.
 *
 * The choice is made at each routing.  It is logged at the first routing and whenever it
 * changes.
 */
#include "osm/osm.h"
#include <ftr/ddlr.h>
#include <opensm/osm_partition.h>
#include <opensm/osm_qos_policy.h>

/* PortInfo.OperationalVLs is 1 for VL 0, 2 for VL 0 and 1, 3 for VL 0 to 3, 4 for VL 0 to 7, and 5
 * for VL 0 to 14 (IBA 14.2.5.6). */
static unsigned int operational_vls(const osm_physp_t *port)
{
	static const unsigned int vls[] = { 1, 1, 2, 4, 8, 15 };
	unsigned int code = ib_port_info_get_op_vls(&port->port_info);

	return code < (unsigned int)FTR_ARRAY_LEN(vls) ? vls[code] : 1;
}

/* A port of a link between switches with the fewest operational VLs; NULL: there is no link.  *low,
 * *high: entries of the smallest VL arbitration tables of all such ports. */
static const osm_physp_t *least_port(struct ibf_plugin *p, const struct ftr_fabric *f,
				     unsigned int *low, unsigned int *high)
{
	const osm_physp_t *least = NULL;

	*low = *high = 64;
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const osm_switch_t *sw = ibf_host_switch(p, f->sw[s].guid);

		for (unsigned int i = 1; i <= f->sw[s].n_ports; i++) {
			const osm_physp_t *port =
				osm_node_get_physp_ptr(sw->p_node, i);

			if (ftr_fabric_port(f, s, (ftr_port)i)->peer_kind != FTR_PEER_SW)
				continue;
			if (!least || operational_vls(port) < operational_vls(least))
				least = port;
			*low = FTR_MIN(*low, port->port_info.vl_arb_low_cap);
			*high = FTR_MIN(*high, port->port_info.vl_arb_high_cap);
		}
	}
	return least;
}

/* The SLs that OpenSM gives to paths, as a set of bits. */
static uint16_t named_sls(const osm_subn_t *subn)
{
	const cl_qmap_t *partitions = &subn->prtn_pkey_tbl;
	unsigned int sls = 1u << (subn->opt.sm_sl & 15);

	for (cl_map_item_t *i = cl_qmap_head(partitions); i != cl_qmap_end(partitions);
	     i = cl_qmap_next(i))
		sls |= 1u << (((osm_prtn_t *)i)->sl & 15);
	if (subn->p_qos_policy) {
		cl_list_t *levels = &subn->p_qos_policy->qos_levels;

		for (cl_list_iterator_t i = cl_list_head(levels); i != cl_list_end(levels);
		     i = cl_list_next(i)) {
			const osm_qos_level_t *level = cl_list_obj(i);

			if (level->sl_set)
				sls |= 1u << (level->sl & 15);
		}
	}
	return (uint16_t)sls;
}

/* Read the site's VL of each SL, as OpenSM does.  Returns the set of SLs in use. */
static uint16_t site_vls(const osm_subn_t *subn, uint8_t vl[FTR_N_SL])
{
	const char *c = subn->opt.qos_swe_options.sl2vl;

	if (!c)
		c = subn->opt.qos_options.sl2vl;
	for (unsigned int sl = 0; sl < FTR_N_SL; sl++) {
		char *end = NULL;

		vl[sl] = (uint8_t)(c ? strtoul(c, &end, 0) & 15 : sl == 15 ? 7 : sl);
		if (c)
			c = end + (*end == ',');
	}
	return c ? UINT16_MAX : named_sls(subn);
}

/* The VLs with a weight in the first `room` entries of a VL arbitration table of the form
 * "VL:weight,VL:weight", as a set of bits. */
static unsigned int served(const char *c, unsigned int room)
{
	unsigned int vls = 0;

	while (room-- && *c) {
		char *end;
		unsigned long vl = strtoul(c, &end, 0), weight;

		if (*end != ':')
			break;
		weight = strtoul(end + 1, &end, 0);
		if (weight && vl < FTR_VL_DROP)
			vls |= 1u << vl;
		c = end + (*end == ',');
	}
	return vls;
}

/* A VL of `pairs` that the site's VL arbitration does not serve; 15: none.  If the site has not set
 * the tables, OpenSM's own serve all VLs.  arb_low, arb_high: as for least_port(). */
static unsigned int unserved_vl(const osm_subn_opt_t *o, unsigned int arb_low,
				unsigned int arb_high, const struct ftr_vl_pairs *pairs)
{
	const char *low = o->qos_swe_options.vlarb_low, *high = o->qos_swe_options.vlarb_high;
	unsigned int vls;

	low = low ? low : o->qos_options.vlarb_low;
	high = high ? high : o->qos_options.vlarb_high;
	if (!low || !arb_low)
		return FTR_VL_DROP;
	vls = served(low, arb_low) | (high ? served(high, arb_high) : 1);
	for (unsigned int sl = 0; sl < FTR_N_SL; sl++)
		if (pairs->turn[sl] != FTR_VL_DROP && !(vls >> pairs->turn[sl] & 1))
			return pairs->turn[sl];
	return FTR_VL_DROP;
}

/* Make gen's SL2VL tables.  On failure err says why the engine uses one VL. */
static enum ftr_status choose_vls(struct ibf_engine *e, struct ibf_generation *gen,
				  struct ftr_err *err)
{
	struct ftr_vl_pairs *pairs = &gen->pairs;
	const osm_subn_t *subn = &e->plugin->osm->subn;
	unsigned int low, high, missing;
	const osm_physp_t *port = least_port(e->plugin, gen->fabric, &low, &high);
	unsigned int vls = port ? operational_vls(port) : 15;
	uint8_t vl[FTR_N_SL];
	enum ftr_status st;
	uint16_t sls;

	if (!subn->opt.qos)
		return ftr_fail(err, FTR_REFUSED, "qos is off");
	sls = site_vls(subn, vl);
	st = ftr_vl_pairs_choose(vl, sls, vls, pairs, err);
	if (st == FTR_LIMIT && port)
		return ftr_err_prefix(err, "%s (0x%016" PRIx64 ") port %u has %s",
				      port->p_node->print_desc,
				      cl_ntoh64(osm_node_get_node_guid(port->p_node)),
				      port->port_num,
				      ibf_count(vls, "operational VL", "operational VLs").s);
	if (st)
		return st;
	missing = unserved_vl(&subn->opt, low, high, pairs);
	if (missing != FTR_VL_DROP)
		return ftr_fail(err, FTR_REFUSED, "the VL arbitration of the switches (qos_swe_vlarb_low and _high) has no weight for VL %u, which packets need after a change of direction; add it",
				missing);
	return e->ops->sl2vl(gen->shape, pairs, &gen->vls, err);
}

/* For each range of SLs with the same VLs: "; SL 0-3: VL 2 instead of VL 0".  At most 500 characters. */
static void describe(const struct ftr_vl_pairs *pairs, char text[FTR_ERR_MAX])
{
	unsigned int sl = 0;
	size_t n = 0;

	while (sl < FTR_N_SL) {
		const unsigned int first = sl;

		while (sl < FTR_N_SL && pairs->straight[sl] == pairs->straight[first])
			sl++;
		n += (size_t)snprintf(text + n, FTR_ERR_MAX - n, "; SL %u", first);
		if (sl - first > 1)
			n += (size_t)snprintf(text + n, FTR_ERR_MAX - n, "-%u", sl - 1);
		if (pairs->straight[first] == FTR_VL_DROP)
			n += (size_t)snprintf(text + n, FTR_ERR_MAX - n, ": dropped");
		else
			n += (size_t)snprintf(text + n, FTR_ERR_MAX - n, ": VL %u instead of VL %u",
					      pairs->turn[first], pairs->straight[first]);
	}
}

void ibf_ddlr_vls(struct ibf_engine *e, struct ibf_generation *gen)
{
	struct ibf_plugin *p = e->plugin;
	struct ftr_err err = { 0 };
	char text[FTR_ERR_MAX];

	if (!e->ops->sl2vl)
		return;
	if (choose_vls(e, gen, &err))
		snprintf(text, sizeof(text), "%s", err.msg);
	else
		describe(&gen->pairs, text);
	if (!strcmp(text, e->vls_text))
		return;
	memcpy(e->vls_text, text, sizeof(text));
	if (gen->vls)
		ibf_log(p, IBF_VLS, "ddlr: packets use a second VL on the link after a change of direction (up to down, or down to up)%s",
			text);
	else
		ibf_log(p, IBF_VLS, "ddlr: packets use no second VL: %s", text);
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
