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

enum ftr_status cli_sim_time(const char *option, const char *text,
			     uint64_t *ps, struct ftr_err *err)
{
	static const struct { const char *name; double ps; } unit[] = {
		{ "ps", 1 }, { "ns", 1e3 }, { "us", 1e6 }, { "ms", 1e9 },
		{ "s", 1e12 },
	};
	char *end;
	double x = strtod(text, &end);

	for (size_t i = 0; i < sizeof(unit) / sizeof(unit[0]); i++)
		if (end != text && *text >= '0' && *text <= '9' &&
		    !strcmp(end, unit[i].name) && x * unit[i].ps < 1e18) {
			*ps = (uint64_t)(x * unit[i].ps + 0.5);
			return FTR_OK;
		}
	return ftr_fail(err, FTR_INVAL, "sim: --%s expects a time like 20us, not '%s'",
			option, text);
}

/* Parses a percentage: "93.5" is 0.935. */
static enum ftr_status percent(const char *option, const char *text,
			       double *share, struct ftr_err *err)
{
	char *end;
	double x = strtod(text, &end);

	if (end == text || *end || *text < '0' || *text > '9' || x > 1e6)
		return ftr_fail(err, FTR_INVAL, "sim: --%s expects a percentage, not '%s'",
				option, text);
	*share = x / 100;
	return FTR_OK;
}

enum ftr_status cli_sim_at(const char *option, const char *text, char **what,
			   uint64_t *ps, struct ftr_err *err)
{
	const char *at = strrchr(text, '@');
	enum ftr_status st;

	if (!at || at == text)
		return ftr_fail(err, FTR_INVAL, "sim: --%s expects WHAT@TIME, not '%s'",
				option, text);
	st = cli_sim_time(option, at + 1, ps, err);
	if (st)
		return st;
	*what = strndup(text, (size_t)(at - text));
	return *what ? FTR_OK : ftr_fail(err, FTR_NOMEM, "out of memory for --%s",
					 option);
}

static enum ftr_status read_weights(const char *text, struct ftr_sim_conf *c,
				    struct ftr_err *err)
{
	const char *s = text;
	unsigned long w;
	char *end;

	for (unsigned int i = 0; ; i++) {
		w = strtoul(s, &end, 10);
		if (end == s || !w || w > 255 || i >= c->n_vls ||
		    (*end && *end != ','))
			return ftr_fail(err, FTR_INVAL, "sim: --vl-weights expects up to %u numbers from 1 to 255, not '%s'",
					c->n_vls, text);
		c->weight[i] = (uint8_t)w;
		if (!*end)
			return FTR_OK;
		s = end + 1;
	}
}

/* ---- files --------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
	struct stat s;

	return !stat(path, &s) && S_ISDIR(s.st_mode);
}

static enum ftr_status read_fabric(struct cli_sim_job *j, struct ftr_err *err)
{
	char *path = NULL;
	enum ftr_status st = FTR_OK;

	if (is_directory(j->fabric))
		st = cli_path(j->fabric, "opensm-subnet.lst", &path, err);
	if (!st)
		st = cli_read_fabric(path ? path : j->fabric, j->o->lmc,
				     j->o->tolerant, &j->f, err);
	free(path);
	return st;
}

/* Reads forwarding and SL2VL tables from a directory of dumps. */
static enum ftr_status read_dumps(struct cli_sim_job *j, const char *dir,
				  struct ftr_err *err)
{
	char *lfts = NULL, *sl2vl = NULL;
	enum ftr_status st = cli_path(dir, "opensm-lfts.dump", &lfts, err);

	if (!st)
		st = cli_read_lfts(lfts, j->f, &j->t, NULL, err);
	if (!st && !j->o->sl2vl)
		st = cli_path(dir, "opensm-sl2vl.dump", &sl2vl, err);
	if (!st && sl2vl && !access(sl2vl, R_OK))
		st = ftr_read_sl2vl(sl2vl, j->f, &j->sl2vl, NULL, err);
	free(lfts);
	free(sl2vl);
	j->source = dir;
	return st;
}

enum ftr_status cli_sim_route(const struct cli_sim_job *j,
			      const struct ftr_fabric *f, struct ftr_shape **sh,
			      struct ftr_tables **t, struct ftr_err *err)
{
	struct ftr_route_opts ro = cli_damaged_opts(&j->o->engine, f);
	enum ftr_status st = ftr_shape_new(f, &j->shape_opts, j->team, sh, err);

	if (!st)
		st = ftr_tables_new(f, false, t, err);
	if (!st)
		st = j->o->engine.ops->route(*sh, &ro, j->team, *t, NULL, err);
	return st;
}

static enum ftr_status read_tables(struct cli_sim_job *j, struct ftr_err *err)
{
	struct ftr_route_opts ro;
	enum ftr_status st;

	if (j->o->lfts && is_directory(j->o->lfts))
		return read_dumps(j, j->o->lfts, err);
	if (j->o->lfts) {
		j->source = j->o->lfts;
		return cli_read_lfts(j->o->lfts, j->f, &j->t, NULL, err);
	}
	if (is_directory(j->fabric))
		return read_dumps(j, j->fabric, err);
	j->source = j->o->engine.ops->name;
	st = cli_route_opts(&j->o->engine, j->f, &ro, err);
	if (!st)
		st = cli_sim_route(j, j->f, &j->sh, &j->t, err);
	return st;
}

/* ---- traffic ----------------------------------------------------------------------- */

static enum ftr_status find_host(const struct ftr_fabric *f, const char *name,
				 ftr_ep *out, struct ftr_err *err)
{
	unsigned int n = 0;
	char *end;
	uint64_t guid;

	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (!strcmp(f->ep[e].name, name)) {
			*out = e;
			n++;
		}
	if (n == 1)
		return FTR_OK;
	errno = 0;
	guid = strtoull(name, &end, 16);
	if (!n && end != name && !*end && !errno) {
		*out = ftr_fabric_find_ep(f, guid);
		if (*out != FTR_EP_NONE)
			return FTR_OK;
	}
	return ftr_fail(err, FTR_INVAL, "sim: --hot %s: %s", name, n ?
			"several end ports have this name; give the port GUID of one" :
			"no end port of the fabric");
}

/* The host order of the shape, if there is one: hosts without I/O nodes, those on leaves first. */
static enum ftr_status read_order(struct cli_sim_job *j, struct ftr_err *err)
{
	struct ftr_err why = { 0 };

	if (j->o->order)
		return ftr_read_order(j->o->order, j->f, &j->order,
				      &j->n_order, err);
	if (!j->sh && ftr_shape_new(j->f, &j->shape_opts, j->team, &j->sh,
				    &why)) {
		if (why.status != FTR_SHAPE)
			return ftr_fail(err, why.status, "%s", why.msg);
		return FTR_OK;	/* without a shape: all end ports */
	}
	return cli_host_order(j->sh, &j->order, &j->n_order, err);
}

static enum ftr_status read_traffic(struct cli_sim_job *j, struct ftr_err *err)
{
	const struct cli_sim *o = j->o;
	enum ftr_status st = read_order(j, err);

	if (!st && o->pattern != FTR_SIM_PAIRS && o->pairs)
		st = ftr_fail(err, FTR_INVAL, "sim: --pairs requires --pattern pairs");
	if (!st && o->pattern != FTR_SIM_HOTSPOT && o->hot.n)
		st = ftr_fail(err, FTR_INVAL, "sim: --hot requires --pattern hotspot");
	if (!st && o->pattern != FTR_SIM_SHIFT && o->shift != 1)
		st = ftr_fail(err, FTR_INVAL, "sim: --shift requires --pattern shift");
	if (!st && o->pattern == FTR_SIM_PAIRS && !o->pairs)
		st = ftr_fail(err, FTR_INVAL, "sim: --pattern pairs needs --pairs FILE");
	if (!st && o->pattern == FTR_SIM_HOTSPOT && !o->hot.n)
		st = ftr_fail(err, FTR_INVAL, "sim: --pattern hotspot needs --hot NAME");
	if (!st && o->pairs)
		st = ftr_read_pairs(o->pairs, j->f, &j->pair, &j->n_pairs, err);
	for (unsigned int i = 0; !st && i < o->hot.n; i++)
		st = find_host(j->f, o->hot.v[i], &j->hot[i], err);
	return st;
}

/* ---- the configuration ------------------------------------------------------------- */

static enum ftr_status set_times(const struct cli_sim *o,
				 struct ftr_sim_conf *c, struct ftr_err *err)
{
	uint64_t link = 0, sw = 0;
	enum ftr_status st = cli_sim_time("cable-delay", o->link_delay, &link,
					  err);

	if (!st)
		st = cli_sim_time("switch-delay", o->switch_delay, &sw, err);
	if (!st)
		st = cli_sim_time("warmup", o->warmup, &c->warm_ps, err);
	if (!st)
		st = cli_sim_time("duration", o->duration, &c->run_ps, err);
	if (!st)
		st = cli_sim_time("check", o->check, &c->check_ps, err);
	if (!st && (link > UINT32_MAX || sw > UINT32_MAX))
		st = ftr_fail(err, FTR_INVAL, "sim: a delay of more than 4 ms");
	c->link_ps = (uint32_t)link;
	c->switch_ps = (uint32_t)sw;
	return st;
}

static enum ftr_status set_conf(struct cli_sim_job *j, struct ftr_err *err)
{
	const struct cli_sim *o = j->o;
	struct ftr_sim_conf *c = &j->conf;
	enum ftr_status st;

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
		return ftr_fail(err, FTR_INVAL, "sim: there is no function '%s' (--function list names them)",
				o->function);
	c->arg = c->function->tiers && j->sh ? j->sh->tree.rank : NULL;
	c->n_vls = o->vls > c->function->min_vls ? o->vls :
		   c->function->min_vls;
	if (!c->buffer)
		c->buffer = FTR_SIM_PORT_BUFFER / c->n_vls;
	st = percent("load", o->load, &c->load, err);
	if (!st)
		st = percent("switch-load", o->switch_load, &c->switch_load,
			     err);
	if (!st && o->weights)
		st = read_weights(o->weights, c, err);
	if (!st)
		st = set_times(o, c, err);
	return st;
}

enum ftr_status cli_sim_read(struct cli_sim_job *j, struct ftr_err *err)
{
	enum ftr_status st = read_fabric(j, err);

	j->shape_opts.leaf_order = FTR_LEAF_BY_GUID;
	ftr_placement_shape((enum ftr_placement)j->o->engine.placement,
			    &j->shape_opts);
	if (!st)
		st = cli_read_guids(&j->o->files, &j->shape_opts, err);
	if (!st)
		st = read_tables(j, err);
	if (!st && j->o->sl2vl)
		st = ftr_read_sl2vl(j->o->sl2vl, j->f, &j->sl2vl, NULL, err);
	if (!st && j->o->psl)
		st = ftr_read_path_sl(j->o->psl, j->f, &j->psl, err);
	if (!st)
		st = read_traffic(j, err);
	if (!st)
		st = set_conf(j, err);
	return st;
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
