// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Input of ibfattree simulate: fabric, tables, SL2VL tables, traffic.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/sim.h"

struct ftr_tables *cli_sim_route(const struct cli_sim *j,
				 const struct ftr_fabric *f, struct ftr_shape **sh)
{
	struct ftr_route_opts ro = cli_damaged_opts(&j->in, f);
	struct ftr_tables *t = NULL;

	cli_must(ftr_shape_new(f, &j->shaping.opts, j->in.team, sh, &cli_err));
	cli_must(ftr_tables_new(f, false, &t, &cli_err));
	cli_must(j->in.engine->route(*sh, &ro, j->in.team, t, NULL, &cli_err));
	return t;
}

static void read_tables(struct cli_sim *j)
{
	struct ftr_sl2vl *m = NULL;

	if (j->lfts) {
		j->conf.t = cli_read_lfts(j->lfts, j->conf.f, NULL);
	} else {
		cli_route_opts(&j->in, j->conf.f);	/* checks --sm-switch */
		j->conf.t = cli_sim_route(j, j->conf.f, &j->sh);
	}
	if (j->sl2vl)
		cli_must(ftr_read_sl2vl(j->sl2vl, j->conf.f, &m, NULL, &cli_err));
	j->conf.sl2vl = m;
}

/* For each switch, the ports that have a link, and all host ports.  ibfattree-sim names switches and
 * host ports by their places in these lists. */
static void show_parts(const struct ftr_fabric *f)
{
	struct json_object *o = cli_json_new("sim"), *list = cli_json_array(o, "switches"), *e;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		e = cli_json_element(list);
		cli_json_guid(e, "guid", f->sw[s].guid);
		cli_json_num(e, "ports", f->sw[s].n_ports);
		e = cli_json_array(e, "linked");
		for (unsigned int i = 1; i <= f->sw[s].n_ports; i++)
			if (ftr_fabric_port(f, s, i)->peer_kind != FTR_PEER_NONE)
				cli_json_number(e, i);
	}
	list = cli_json_array(o, "end_ports");
	for (ftr_ep i = 0; i < f->n_ep; i++) {
		e = cli_json_element(list);
		cli_json_guid(e, "guid", f->ep[i].guid);
		cli_json_str(e, "name", f->ep[i].name);
	}
	if (cli_json_end(o, CLI_CLEAN))
		exit(CLI_BAD);
	fflush(stdout);
}

/* Reads the order of host ports from --order.  The default is the host order of the shape
 * (ftr_shape_host_order); without a shape, no order is set. */
static void read_order(struct cli_sim *j)
{
	struct ftr_sim_traffic *c = &j->conf.traffic;
	enum ftr_status st = FTR_OK;
	ftr_ep *order = NULL;

	if (j->in.order) {
		cli_must(ftr_read_order(j->in.order, j->conf.f, &order, &c->n_order, &cli_err));
		c->order = order;
		return;
	}
	if (!j->sh)
		st = ftr_shape_new(j->conf.f, &j->shaping.opts, j->in.team, &j->sh, &cli_err);
	if (st == FTR_SHAPE)	/* no ranks, so no order: all host ports send */
		return;
	cli_must(st);
	c->order = cli_host_order(j->sh, &c->n_order);
}

static void read_traffic(struct cli_sim *j)
{
	struct ftr_sim_traffic *c = &j->conf.traffic;
	struct ftr_path_sl *psl = NULL;
	struct ftr_load_pair *pair = NULL;
	struct ftr_transfer *x = NULL;

	c->load = strtod(j->load, NULL);
	c->switch_load = strtod(j->switch_load, NULL);
	if (j->psl)
		cli_must(ftr_read_path_sl(j->psl, j->conf.f, &psl, &cli_err));
	c->path_sl = psl;
	read_order(j);
	if (j->steps)
		cli_must(ftr_read_transfers(j->steps, j->conf.f, &x, &c->n_transfers, &cli_err));
	c->transfer = x;
	if (j->pairs)
		cli_must(ftr_read_pairs(j->pairs, j->conf.f, &pair, &c->n_pairs, &cli_err));
	c->pair = pair;
}

static const struct ftr_sim_function *const functions[] = { &ftr_sim_lft, NULL };
const struct ftr_sim_function *const *cli_sim_functions = functions;

static void set_function(struct cli_sim *j)
{
	const struct ftr_sim_function *const *fn = cli_sim_functions;
	struct ftr_sim_conf *c = &j->conf;

	while (*fn && strcmp((*fn)->name, j->function))
		fn++;
	if (!*fn)
		cli_die("sim: there is no function '%s' (--function list prints all functions); functions from papers are in the program sim-models of the source, see docs/seeds.md",
			j->function);
	c->function = *fn;
	if (c->function->tiers && j->sh)
		c->arg = j->sh->tree.rank;
	if (c->n_vls < c->function->min_vls)
		c->n_vls = c->function->min_vls;
	if (!c->buffer)
		c->buffer = FTR_SIM_PORT_BUFFER / c->n_vls;
}

void cli_sim_read(struct cli_sim *j, const char *fabric)
{
	char *weight = j->weights;

	j->conf.f = cli_read_fabric(&j->in, fabric);
	if (j->parts)
		show_parts(j->conf.f);
	cli_must(cli_shaping(&j->in, j->conf.f, false, &j->shaping, &cli_err));
	read_tables(j);
	read_traffic(j);
	set_function(j);
	for (unsigned int i = 0; i < j->conf.n_vls && *weight; i++, weight += *weight == ',')
		j->conf.weight[i] = (uint8_t)strtoul(weight, &weight, 10);
}
