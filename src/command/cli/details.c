// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A fabric as JSON, for programs that show it: whatif --details, for ibfattree-report, and facts, for
 * ibfattree-doctor.
 *
 * Switches and host ports are numbered in the order of their lists, from 0.
 */
#include "cli/json.h"
#include "cli/whatif.h"

static void put_rate(struct json_object *o, const struct ftr_swport *p)
{
	cli_json_num(o, "width", p->width);
	cli_json_str(o, "speed", ftr_speed_str(p->speed));
}

/* Adds the place of s in the tree to o, and its incomplete upward groups to lost. */
static void put_place(struct json_object *o, const struct ftr_shape *sh, ftr_sw s,
		      struct json_object *lost)
{
	const struct ftr_group *g = sh->tree.groups + sh->tree.group_first[s];
	uint32_t parents = 0, links = 1;
	struct json_object *e;

	for (uint32_t i = 0; i < sh->tree.n_up[s]; i++, g++) {
		parents += g->slot != FTR_SLOT_NONE;
		links = g->n_nominal > links ? g->n_nominal : links;
		if (g->n_nominal == g->n)
			continue;
		e = cli_json_element(lost);
		cli_json_num(e, "from", s);
		cli_json_num(e, "to", g->remote);
		cli_json_num(e, "cables", g->n_nominal - g->n);
	}
	cli_json_bool(o, "leaf", sh->numbering.col[s] < sh->tree.n_leaf);
	cli_json_bool(o, "stub", sh->tree.stub[s]);
	cli_json_num(o, "above", sh->tree.n_up[s]);
	cli_json_num(o, "parents", parents);
	cli_json_num(o, "expected_parents", sh->numbering.n_slots[s]);
	cli_json_num(o, "cables_to_parent", links);
}

static void put_switches(struct json_object *o, const struct ftr_fabric *f,
			 const struct ftr_shape *sh)
{
	struct json_object *list = cli_json_array(o, "switches"), *e;
	struct json_object *lost = cli_json_array(o, "incomplete");

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		e = cli_json_element(list);
		cli_json_place(e, f, sh, s);
		cli_json_num(e, "ports", f->sw[s].n_ports);
		if (sh)
			put_place(e, sh, s, lost);
	}
	list = cli_json_array(o, "absent");
	for (uint32_t i = 0; sh && i < sh->n_absent; i++) {
		const struct ftr_link *c = &sh->absent[i];

		e = cli_json_element(list);
		cli_json_num(e, "from", c->sw);
		cli_json_num(e, "from_port", c->port);
		cli_json_num(e, "to", c->peer);
		cli_json_num(e, "to_port", c->peer_port);
	}
}

static void put_end_ports(struct json_object *o, const struct ftr_fabric *f)
{
	struct json_object *list = cli_json_array(o, "end_ports"), *e;

	for (const struct ftr_endport *p = f->ep; p < f->ep + f->n_ep; p++) {
		e = cli_json_element(list);
		cli_json_guid(e, "guid", p->guid);
		cli_json_str(e, "name", p->name);
		cli_json_num(e, "lid", p->lid);
		cli_json_bool(e, "aggregation", ftr_ep_is_aggregation(p));
		if (p->sw == FTR_SW_NONE)
			continue;
		cli_json_num(e, "switch", p->sw);
		cli_json_num(e, "port", p->sw_port);
		cli_json_num(e, "own_port", p->port_num);
		put_rate(e, ftr_fabric_port(f, p->sw, p->sw_port));
	}
}

static void put_cables(struct json_object *o, const struct ftr_fabric *f, const uint64_t *load)
{
	struct json_object *list = cli_json_array(o, "cables"), *e;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *q = ftr_fabric_port(f, s, p);

			if (q->peer_kind != FTR_PEER_SW || q->peer < s ||
			    (q->peer == s && q->peer_port <= p))
				continue;
			e = cli_json_element(list);
			cli_json_num(e, "from", s);
			cli_json_num(e, "from_port", p);
			cli_json_num(e, "to", q->peer);
			cli_json_num(e, "to_port", q->peer_port);
			put_rate(e, q);
			if (!load)
				continue;
			cli_json_num(e, "load", load[f->sw[s].first_port + p]);
			cli_json_num(e, "load_back", load[f->sw[q->peer].first_port + q->peer_port]);
		}
}

void cli_details_fabric(struct json_object *o, const struct ftr_fabric *f,
			const struct ftr_shape *sh, const uint64_t *load)
{
	cli_json_fabric(o, f, sh);
	put_switches(o, f, sh);
	put_end_ports(o, f);
	put_cables(o, f, load);
}

void cli_details(struct json_object *o, const struct ftr_shape *sh, struct ftr_order order,
		 struct ftr_order ends, const uint64_t *load)
{
	struct json_object *list;

	cli_json_bool(o, "nominal", sh->from_nominal);
	cli_details_fabric(o, sh->f, sh, load);
	list = cli_json_array(o, "order");
	for (uint32_t i = 0; i < order.n; i++)
		cli_json_number(list, order.ep[i]);
	list = cli_json_array(o, "pairs");
	for (uint32_t i = 0; i < ends.n; i++)
		cli_json_number(list, ends.ep[i]);
}
