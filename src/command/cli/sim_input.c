// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Input of ibfattree sim: fabric, tables, SL2VL tables, traffic.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/sim.h"

/* ---- files --------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
	struct stat s;

	return !stat(path, &s) && S_ISDIR(s.st_mode);
}

static void read_fabric(struct cli_sim *j)
{
	const char *path = j->fabric;

	if (is_directory(path))
		path = cli_path(path, "opensm-subnet.lst");
	j->conf.f = cli_read_fabric(&j->in, path);
}

static void read_lfts(struct cli_sim *j, const char *path)
{
	j->conf.t = cli_read_lfts(path, j->conf.f, NULL);
}

static void read_sl2vl(struct cli_sim *j, const char *path)
{
	struct ftr_sl2vl *m = NULL;

	cli_must(ftr_read_sl2vl(path, j->conf.f, &m, NULL, &cli_err));
	j->conf.sl2vl = m;
}

struct ftr_tables *cli_sim_route(const struct cli_sim *j,
				 const struct ftr_fabric *f, struct ftr_shape **sh)
{
	struct ftr_route_opts ro = cli_damaged_opts(&j->engine, f);
	struct ftr_tables *t = NULL;

	cli_must(ftr_shape_new(f, &j->shaping.opts, j->in.team, sh, &cli_err));
	cli_must(ftr_tables_new(f, false, &t, &cli_err));
	cli_must(j->engine.ops->route(*sh, &ro, j->in.team, t, NULL, &cli_err));
	return t;
}

static void read_tables(struct cli_sim *j)
{
	const char *lfts = j->lfts, *sl2vl = j->sl2vl;

	if (!lfts && is_directory(j->fabric))
		lfts = j->fabric;
	if (!lfts) {
		j->source = j->engine.ops->name;
		cli_route_opts(&j->engine, j->conf.f);	/* checks --sm-switch */
		j->conf.t = cli_sim_route(j, j->conf.f, &j->sh);
	} else if (is_directory(lfts)) {
		read_lfts(j, cli_path(lfts, "opensm-lfts.dump"));
		if (!sl2vl)
			sl2vl = cli_path(lfts, "opensm-sl2vl.dump");
	} else {
		read_lfts(j, lfts);
	}
	if (lfts)
		j->source = lfts;
	if (j->sl2vl || (sl2vl && !access(sl2vl, R_OK)))
		read_sl2vl(j, sl2vl);
}

/* ---- traffic ----------------------------------------------------------------------- */

static ftr_ep find_host(const struct ftr_fabric *f, const char *name)
{
	ftr_ep found = FTR_EP_NONE;
	unsigned int n = 0;
	char *end;
	uint64_t guid;

	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (!strcmp(f->ep[e].name, name)) {
			found = e;
			n++;
		}
	errno = 0;
	guid = strtoull(name, &end, 16);
	if (!n && end != name && !*end && !errno)
		found = ftr_fabric_find_ep(f, guid);
	if (n > 1 || found == FTR_EP_NONE)
		cli_die("sim: --hot %s: %s", name, n ?
			"several host ports have this name; give the port GUID of one" :
			"no host port of the fabric has this name or port GUID");
	return found;
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

/* Refuses options that have no effect on transfers: these run once, as fast as they can, without a
 * warm-up, until the last one has arrived. */
static void refuse_with_steps(const struct ftr_sim_conf *c)
{
	const struct { const char *name; bool given; } no[] = {
		{ "duration", c->run_ps != FTR_SIM_MS }, { "load", c->traffic.load != 1 },
		{ "runs", c->runs != 1 }, { "series", c->n_series },
		{ "warmup", c->warm_ps != 100 * FTR_SIM_US }, { NULL, false }
	};

	for (unsigned int i = 0; no[i].name; i++)
		if (no[i].given)
			cli_die("sim: --pattern steps has no --%s", no[i].name);
}

static void read_steps(struct cli_sim *j)
{
	struct ftr_sim_traffic *c = &j->conf.traffic;
	struct ftr_transfer *x = NULL;

	refuse_with_steps(&j->conf);
	cli_must(ftr_read_transfers(j->steps, j->conf.f, &x, &c->n_transfers, &cli_err));
	c->transfer = x;
	c->load = 1;
	j->conf.warm_ps = 0;
	j->conf.run_ps = UINT64_MAX / 2;
	j->conf.stop_on_deadlock = true;
}

static void read_traffic(struct cli_sim *j)
{
	struct ftr_sim_traffic *c = &j->conf.traffic;
	struct ftr_load_pair *pair = NULL;
	ftr_ep *hot;

	read_order(j);
	if (c->pattern != FTR_SIM_PAIRS && j->pairs)
		cli_die("sim: --pairs requires --pattern pairs");
	if (c->pattern != FTR_SIM_HOTSPOT && j->hot.n)
		cli_die("sim: --hot requires --pattern hotspot");
	if (c->pattern != FTR_SIM_SHIFT && c->shift != 1)
		cli_die("sim: --shift requires --pattern shift");
	if (c->pattern == FTR_SIM_PAIRS && !j->pairs)
		cli_die("sim: --pattern pairs needs --pairs FILE");
	if (c->pattern == FTR_SIM_HOTSPOT && !j->hot.n)
		cli_die("sim: --pattern hotspot needs --hot NAME");
	if ((c->pattern == FTR_SIM_STEPS) != !!j->steps)
		cli_die("sim: --pattern steps needs --steps FILE, and only this pattern does");
	if (!j->steps && c->step_ps)
		cli_die("sim: --step-time requires --pattern steps");
	if (j->steps)
		read_steps(j);
	if (j->pairs)
		cli_must(ftr_read_pairs(j->pairs, j->conf.f, &pair, &c->n_pairs, &cli_err));
	c->pair = pair;
	c->hot = hot = cli_calloc(j->hot.n, sizeof(*hot), "hot spots");
	for (; c->n_hot < j->hot.n; c->n_hot++)
		hot[c->n_hot] = find_host(j->conf.f, j->hot.v[c->n_hot]);
}

/* ---- hardware ------------------------------------------------------------------------ */

static void read_weights(const char *text, struct ftr_sim_conf *c)
{
	const char *s = text;
	unsigned long w;
	char *end;

	for (unsigned int i = 0; ; i++, s = end + 1) {
		w = strtoul(s, &end, 10);
		if (end == s || !w || w > 255 || i >= c->n_vls || (*end && *end != ','))
			cli_die("sim: --vl-weights expects up to %u numbers from 1 to 255, not '%s'",
				c->n_vls, text);
		c->weight[i] = (uint8_t)w;
		if (!*end)
			return;
	}
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

void cli_sim_read(struct cli_sim *j)
{
	struct ftr_path_sl *psl = NULL;

	read_fabric(j);
	cli_must(cli_shaping(&j->in, j->conf.f, false, &j->shaping, &cli_err));
	read_tables(j);
	if (j->psl)
		cli_must(ftr_read_path_sl(j->psl, j->conf.f, &psl, &cli_err));
	j->conf.traffic.path_sl = psl;
	read_traffic(j);
	set_function(j);
	j->conf.traffic.periodic = j->arrivals == 1;
	if (j->weights)
		read_weights(j->weights, &j->conf);
}
