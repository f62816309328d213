// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast: builds a tree with stree.c for each MLID of OpenSM.
 *
 * OpenSM calls ibf_mcast_build_stree for each MLID that needs a tree, under the exclusive
 * lock.  Before the call, OpenSM has cleared the MLID in the tables of all switches and
 * made the tables long enough.  After the call, OpenSM sends the new entries to the
 * switches.
 *
 * Several groups may share an MLID.  As in OpenSM's own code, an MLID with fewer than two
 * member ports gets no entries.  OpenSM's tree object (mbox->root) is not built, because
 * OpenSM would only free it.  A tree object of another engine is freed.
 *
 * The trees are made for the fabric of the last routing (struct ibf_generation).  With
 * use_ucast_cache OpenSM may sweep without calling the engine.  Then that fabric is
 * outdated, and OpenSM's subnet is copied again before the trees are built.
 */
#include "osm/osm.h"

struct seats {
	/* the switch ports that lead to a member of a group: switch << 8 | port; port 0: the switch
	 * itself is the member */
	uint32_t *seat;
	uint32_t n, cap;
	uint32_t n_outside;	/* members that are not linked to a switch of the fabric */
};

static bool add_seat(struct seats *list, const struct ftr_fabric *f,
		     const osm_port_t *port)
{
	const osm_physp_t *p = port->p_physp;
	ftr_port at = 0;
	ftr_sw s;

	if (!port->p_node->sw) {
		p = p ? p->p_remote_physp : NULL;
		if (!p || !p->p_node->sw) {
			list->n_outside++;
			return true;
		}
		at = p->port_num;
	}
	s = ftr_fabric_find_sw(f, cl_ntoh64(osm_node_get_node_guid(p->p_node)));
	if (s == FTR_SW_NONE) {
		list->n_outside++;
		return true;
	}
	if (!FTR_GROW(list->seat, list->n, list->cap))
		return false;
	list->seat[list->n++] = s << 8 | at;
	return true;
}

static bool collect(struct seats *list, const struct ftr_fabric *f,
		    osm_mgrp_box_t *mbox)
{
	bool ok = true;

	for (cl_list_item_t *i = cl_qlist_head(&mbox->mgrp_list);
	     ok && i != cl_qlist_end(&mbox->mgrp_list);
	     i = cl_qlist_next(i)) {
		osm_mgrp_t *mgrp = cl_item_obj(i, mgrp, list_item);
		cl_qmap_t *tbl = &mgrp->mcm_port_tbl;

		for (cl_map_item_t *m = cl_qmap_head(tbl);
		     ok && m != cl_qmap_end(tbl); m = cl_qmap_next(m)) {
			osm_mcm_port_t *member = cl_item_obj(m, member,
							     map_item);

			ok = add_seat(list, f, member->port);
		}
	}
	return ok;
}

/* Sort the list and remove duplicates: a port may be in several groups. */
static void unite(struct seats *list)
{
	uint32_t n = 0;

	if (!list->n)
		return;
	qsort(list->seat, list->n, sizeof(*list->seat), ftr_u32_cmp);
	for (uint32_t i = 0; i < list->n; i++)
		if (!n || list->seat[n - 1] != list->seat[i])
			list->seat[n++] = list->seat[i];
	list->n = n;
}

static void set_port(const struct ibf_plugin *p, const struct ftr_fabric *f,
		     ftr_sw s, uint16_t mlid, ftr_port port)
{
	osm_switch_t *sw = ibf_host_switch(p, f->sw[s].guid);

	if (sw && sw->mcast_tbl.p_mask_tbl && mlid <= sw->mcast_tbl.max_mlid_ho)
		osm_mcast_tbl_set(&sw->mcast_tbl, mlid, port);
}

static void write_tree(const struct ibf_plugin *p, const struct ibf_stree *t,
		       const struct seats *list, uint16_t mlid)
{
	const struct ftr_fabric *f = t->shape->f;

	for (uint32_t i = 0; i < t->n_used; i++) {
		const struct ibf_stree_node *n = &t->node[t->used[i]];

		if (n->parent == FTR_SW_NONE)
			continue;
		set_port(p, f, t->used[i], mlid, n->up);
		set_port(p, f, n->parent, mlid, n->down);
	}
	for (uint32_t i = 0; i < list->n; i++)
		if (t->node[list->seat[i] >> 8].used)
			set_port(p, f, list->seat[i] >> 8, mlid, (ftr_port)list->seat[i]);
}

static uint32_t lost_seats(const struct ibf_stree *t, const struct seats *list)
{
	uint32_t n = list->n_outside;

	for (uint32_t i = 0; i < list->n; i++)
		n += !t->node[list->seat[i] >> 8].used;
	return n;
}

static bool build(struct ibf_engine *e, const struct seats *list,
		  uint16_t mlid)
{
	struct ibf_stree *t = e->stree;
	uint32_t lost;

	if (!t)
		t = e->stree = ibf_stree_new(e->gen->shape,
					     e->gen->mcast_able);
	if (!t)
		return false;
	t->n_members = 0;
	for (uint32_t i = 0; i < list->n; i++)
		if (!i || list->seat[i] >> 8 != list->seat[i - 1] >> 8)
			t->member[t->n_members++] = list->seat[i] >> 8;
	ibf_stree_build(t, mlid);
	write_tree(e->plugin, t, list, mlid);
	lost = lost_seats(t, list);
	if (lost)
		ibf_log(e->plugin, IBF_MCAST_MEMBERS, "%s: multicast group with MLID 0x%04x: %u of %u members %s not connected to the others by switches that support multicast, and will not receive the packets of the group",
			e->ops->name, mlid, lost, list->n + list->n_outside,
			lost == 1 ? "is" : "are");
	return true;
}

static bool refresh(struct ibf_engine *e)
{
	struct ibf_generation *gen;
	struct ftr_err err = { 0 };

	if (e->gen && !e->gen_stale)
		return true;
	if (ibf_generation_new(e, &gen, &err) || ibf_generation_shape(e, gen, &err))
		return false;
	ibf_engine_publish(e, gen);
	return true;
}

ib_api_status_t ibf_mcast_build_stree(void *ctx, osm_mgrp_box_t *mbox)
{
	struct ibf_engine *e = ctx;
	struct seats list = { 0 };
	double t0 = ibf_now_ms();
	bool ok;

	osm_purge_mtree(&e->plugin->osm->sm, mbox);
	if (!refresh(e)) {
		ibf_log(e->plugin, IBF_MCAST_TREE, "%s: no tree for MLID 0x%04x: %s",
			e->ops->name, mbox->mlid, e->refusal);
		return IB_ERROR;
	}
	ok = collect(&list, e->gen->fabric, mbox);
	unite(&list);
	if (ok && list.n >= 2)
		ok = build(e, &list, mbox->mlid);
	free(list.seat);
	if (!ok) {
		ibf_log(e->plugin, IBF_MCAST_TREE, "%s: no tree for MLID 0x%04x: out of memory",
			e->ops->name, mbox->mlid);
		return IB_INSUFFICIENT_MEMORY;
	}
	if (list.n >= 2)
		e->n_trees++;
	e->trees_ms += ibf_now_ms() - t0;
	return IB_SUCCESS;
}
