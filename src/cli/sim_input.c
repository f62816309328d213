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

/* ---- numbers ----------------------------------------------------------------- */

uint64_t cli_sim_time(const char *option, const char *text)
{
	static const struct { const char *name; double ps; } unit[] = {
		{ "ps", 1 }, { "ns", 1e3 }, { "us", 1e6 }, { "ms", 1e9 },
		{ "s", 1e12 },
	};
	char *end;
	double x = strtod(text, &end);

	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		if (end != text && *text >= '0' && *text <= '9' &&
		    !strcmp(end, unit[i].name) && x * unit[i].ps < 1e18)
			return (uint64_t)(x * unit[i].ps + 0.5);
	cli_die("sim: --%s expects a time like 20us, not '%s'", option, text);
}

/* Parses a percentage: "93.5" becomes 0.935. */
static double percent(const char *option, const char *text)
{
	char *end;
	double x = strtod(text, &end);

	if (end == text || *end || *text < '0' || *text > '9' || x > 1e6)
		cli_die("sim: --%s expects a percentage, not '%s'", option, text);
	return x / 100;
}

char *cli_sim_at(const char *option, const char *text, uint64_t *ps)
{
	const char *at = strrchr(text, '@');
	char *what;

	if (!at || at == text)
		cli_die("sim: --%s expects WHAT@TIME, not '%s'", option, text);
	*ps = cli_sim_time(option, at + 1);
	what = strndup(text, (size_t)(at - text));
	if (!what)
		cli_die("out of memory for --%s", option);
	return what;
}

static void read_weights(const char *text, struct ftr_sim_conf *c)
{
	const char *s = text;
	unsigned long w;
	char *end;

	for (unsigned int i = 0; ; i++, s = end + 1) {
		w = strtoul(s, &end, 10);
		if (end == s || !w || w > 255 || i >= c->n_vls ||
		    (*end && *end != ','))
			cli_die("sim: --vl-weights expects up to %u numbers from 1 to 255, not '%s'",
				c->n_vls, text);
		c->weight[i] = (uint8_t)w;
		if (!*end)
			return;
	}
}

/* ---- files --------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
	struct stat s;

	return !stat(path, &s) && S_ISDIR(s.st_mode);
}

static void read_fabric(struct cli_sim_job *j)
{
	char *path = NULL;

	if (is_directory(j->fabric))
		path = cli_path(j->fabric, "opensm-subnet.lst");
	j->f = cli_read_fabric(path ? path : j->fabric, j->o->lmc, j->o->tolerant);
	free(path);
}

static void read_dumps(struct cli_sim_job *j, const char *dir)
{
	char *lfts = cli_path(dir, "opensm-lfts.dump");
	char *sl2vl = cli_path(dir, "opensm-sl2vl.dump");

	cli_must(cli_read_lfts(lfts, j->f, &j->t, NULL, &cli_err));
	if (!j->o->sl2vl && !access(sl2vl, R_OK))
		cli_must(ftr_read_sl2vl(sl2vl, j->f, &j->sl2vl, NULL, &cli_err));
	free(lfts);
	free(sl2vl);
	j->source = dir;
}

struct ftr_tables *cli_sim_route(const struct cli_sim_job *j,
				 const struct ftr_fabric *f, struct ftr_shape **sh)
{
	struct ftr_route_opts ro = cli_damaged_opts(&j->o->engine, f);
	struct ftr_tables *t = NULL;

	cli_must(ftr_shape_new(f, &j->shape_opts, j->team, sh, &cli_err));
	cli_must(ftr_tables_new(f, false, &t, &cli_err));
	cli_must(j->o->engine.ops->route(*sh, &ro, j->team, t, NULL, &cli_err));
	return t;
}

static void read_tables(struct cli_sim_job *j)
{
	const char *lfts = j->o->lfts;

	if (!lfts && is_directory(j->fabric))
		lfts = j->fabric;
	if (lfts && is_directory(lfts)) {
		read_dumps(j, lfts);
	} else if (lfts) {
		j->source = lfts;
		cli_must(cli_read_lfts(lfts, j->f, &j->t, NULL, &cli_err));
	} else {
		j->source = j->o->engine.ops->name;
		cli_route_opts(&j->o->engine, j->f);	/* checks --sm-switch */
		j->t = cli_sim_route(j, j->f, &j->sh);
	}
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
static void read_order(struct cli_sim_job *j)
{
	enum ftr_status st = FTR_OK;

	if (j->o->order) {
		cli_must(ftr_read_order(j->o->order, j->f, &j->order,
					&j->n_order, &cli_err));
		return;
	}
	if (!j->sh)
		st = ftr_shape_new(j->f, &j->shape_opts, j->team, &j->sh, &cli_err);
	if (st == FTR_SHAPE)	/* no ranks, so no order: all host ports send */
		return;
	cli_must(st);
	j->order = cli_host_order(j->sh, &j->n_order);
}

static void read_traffic(struct cli_sim_job *j)
{
	const struct cli_sim *o = j->o;

	read_order(j);
	if (o->pattern != FTR_SIM_PAIRS && o->pairs)
		cli_die("sim: --pairs requires --pattern pairs");
	if (o->pattern != FTR_SIM_HOTSPOT && o->hot.n)
		cli_die("sim: --hot requires --pattern hotspot");
	if (o->pattern != FTR_SIM_SHIFT && o->shift != 1)
		cli_die("sim: --shift requires --pattern shift");
	if (o->pattern == FTR_SIM_PAIRS && !o->pairs)
		cli_die("sim: --pattern pairs needs --pairs FILE");
	if (o->pattern == FTR_SIM_HOTSPOT && !o->hot.n)
		cli_die("sim: --pattern hotspot needs --hot NAME");
	if (o->pairs)
		cli_must(ftr_read_pairs(o->pairs, j->f, &j->pair, &j->n_pairs,
					&cli_err));
	for (unsigned int i = 0; i < o->hot.n; i++)
		j->hot[i] = find_host(j->f, o->hot.v[i]);
}

/* ---- the configuration ------------------------------------------------------------- */

static void set_times(const struct cli_sim *o, struct ftr_sim_conf *c)
{
	uint64_t link = cli_sim_time("cable-delay", o->link_delay);
	uint64_t sw = cli_sim_time("switch-delay", o->switch_delay);

	c->warm_ps = cli_sim_time("warmup", o->warmup);
	c->run_ps = cli_sim_time("duration", o->duration);
	c->check_ps = cli_sim_time("check", o->check);
	if (link > UINT32_MAX || sw > UINT32_MAX)
		cli_die("sim: --cable-delay and --switch-delay may be at most 4 ms");
	c->link_ps = (uint32_t)link;
	c->switch_ps = (uint32_t)sw;
}

static void set_conf(struct cli_sim_job *j)
{
	const struct cli_sim *o = j->o;
	struct ftr_sim_conf *c = &j->conf;

	*c = (struct ftr_sim_conf){
		.f = j->f, .t = j->t, .sl2vl = j->sl2vl, .path_sl = j->psl,
		.pattern = (enum ftr_sim_pattern)o->pattern,
		.order = j->order, .n_order = j->n_order, .shift = o->shift,
		.hot = j->hot, .n_hot = o->hot.n, .hot_percent = o->hot_percent,
		.pair = j->pair, .n_pairs = j->n_pairs,
		.periodic = o->arrivals == 1, .switch_mbps = o->switch_rate,
		.switch_sl = (uint8_t)o->switch_sl,
		.host_sl = (uint8_t)o->host_sl, .bytes = o->packet,
		.buffer = o->buffer, .switch_buffer = o->switch_buffer,
		.speedup = o->speedup, .n_vls = o->vls,
		.queues = (enum ftr_sim_queues)o->queues,
		.default_mbps = o->rate, .stop_on_deadlock = o->stop,
		.n_series = o->series, .seed = o->seed, .runs = o->runs,
	};
	c->function = ftr_sim_function_find(o->function);
	if (!c->function)
		cli_die("sim: there is no function '%s' (--function list prints all functions)",
			o->function);
	c->arg = c->function->tiers && j->sh ? j->sh->tree.rank : NULL;
	c->n_vls = o->vls > c->function->min_vls ? o->vls :
		   c->function->min_vls;
	if (!c->buffer)
		c->buffer = FTR_SIM_PORT_BUFFER / c->n_vls;
	c->load = percent("load", o->load);
	c->switch_load = percent("switch-load", o->switch_load);
	if (o->weights)
		read_weights(o->weights, c);
	set_times(o, c);
}

void cli_sim_read(struct cli_sim_job *j)
{
	const struct cli_sim *o = j->o;

	read_fabric(j);
	j->shape_opts.leaf_order = FTR_LEAF_BY_GUID;
	cli_must(cli_read_guids(&o->files, &j->shape_opts, &cli_err));
	read_tables(j);
	if (o->sl2vl)
		cli_must(ftr_read_sl2vl(o->sl2vl, j->f, &j->sl2vl, NULL, &cli_err));
	if (o->psl)
		cli_must(ftr_read_path_sl(o->psl, j->f, &j->psl, &cli_err));
	read_traffic(j);
	set_conf(j);
}

void cli_sim_free(struct cli_sim_job *j)
{
	if (j->result)
		ftr_sim_result_fini(j->result, j->conf.runs);
	free(j->result);
	for (unsigned int i = 0; i < j->n_later; i++)
		ftr_tables_free(j->later[i]);
	free(j->change);
	free(j->pair);
	free(j->order);
	ftr_path_sl_free(j->psl);
	ftr_sl2vl_free(j->sl2vl);
	ftr_tables_free(j->t);
	ftr_shape_free(j->sh);
	cli_free_guids(&j->shape_opts);
	ftr_fabric_free(j->f);
	ftr_team_free(j->team);
}
