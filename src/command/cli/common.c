// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Functions that several commands share.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"

double cli_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

const char *cli_num(char *buf, uint64_t n)
{
	char plain[CLI_NUM_MAX];
	size_t len = (size_t)snprintf(plain, sizeof(plain), "%" PRIu64, n);
	size_t j = 0;

	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf[j++] = ',';
		buf[j++] = plain[i];
	}
	buf[j] = '\0';
	return buf;
}

struct ftr_route_opts cli_damaged_opts(const struct cli_in *in, const struct ftr_fabric *f)
{
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;

	o.balance = (enum ftr_balance)in->balance;
	o.paths = (enum ftr_paths)in->paths;
	if (in->sm_switch)
		o.sm_switch = ftr_fabric_find_sw(f, in->sm_switch);
	return o;
}

const char *cli_count(char *buf, uint64_t n, const char *one, const char *many)
{
	snprintf(buf, CLI_COUNT_MAX, "%s %s", CLI_NUM(n), n == 1 ? one : many);
	return buf;
}

struct ftr_route_opts cli_route_opts(const struct cli_in *in, const struct ftr_fabric *f)
{
	struct ftr_route_opts o = cli_damaged_opts(in, f);

	if (in->sm_switch && o.sm_switch == FTR_SW_NONE)
		cli_die("--sm-switch 0x%016" PRIx64 ": no switch of the fabric has that GUID",
			in->sm_switch);
	return o;
}

struct ftr_fabric *cli_read_fabric(const struct cli_in *in, const char *path)
{
	struct ftr_read_notes notes = { 0 };
	struct ftr_fabric *f = NULL;

	cli_must(in->tolerant ? ftr_read_fabric_tolerant(path, in->lmc, &notes, &f, &cli_err) :
		 ftr_read_fabric(path, in->lmc, &f, &cli_err));
	if (notes.one_sided)
		cli_error("note: %s: %s left out; the first: %s", path,
			  CLI_COUNT(notes.one_sided, "link that only one end reports is",
				    "links that only one end reports are"), notes.first);
	return f;
}

static enum ftr_status read_one(const char *path, struct ftr_guids *out, struct ftr_err *err)
{
	uint64_t *guid;
	enum ftr_status st;

	if (!path)
		return FTR_OK;
	st = ftr_read_guids(path, &guid, &out->n, err);
	if (st)
		return st;
	if (out->n == 0) {	/* the plugin refuses an empty list, too */
		free(guid);
		return ftr_fail(err, FTR_PARSE, "%s: holds no GUID", path);
	}
	out->guid = guid;
	return FTR_OK;
}

static void free_one(struct ftr_guids *g)
{
	/* ftr_read_guids has allocated this array, so it may be freed although it is const */
	free((void *)(uintptr_t)g->guid);
}

void cli_shaping_free(struct cli_shaping *s)
{
	free_one(&s->opts.roots);
	free_one(&s->opts.cn);
	free_one(&s->opts.io);
	ftr_nominal_free(s->nominal);
	*s = (struct cli_shaping){ .nominal = NULL };
}

/* Host ports without a LID in the file at path get LIDs with the LMC of f. */
static enum ftr_status read_nominal(const char *path, const struct ftr_fabric *f,
				    const struct ftr_shape_opts *opts, struct ftr_nominal **out,
				    struct ftr_err *err)
{
	struct ftr_fabric *g = NULL;
	enum ftr_status st;

	if (ftr_state_is_file(path))
		return ftr_nominal_read(path, opts, out, err);
	st = ftr_read_fabric(cli_is_plan(path) ? cli_read_plan(path, f) : path,
			     f->n_ep ? f->ep[0].lmc : 0, &g, err);
	if (!st)
		st = ftr_nominal_new(g, opts, NULL, out, NULL, err);
	ftr_fabric_free(g);
	return st;
}

static void note_growth(const char *path, const struct ftr_nominal_change *c)
{
	if (c->other)
		cli_error("note: %s belongs to another fabric and is not used: %u of its %u switches and %u of its %u host ports are in this fabric",
			  path, c->same_sw, c->old_sw, c->same_hosts, c->old_hosts);
	else if (c->grew)
		cli_error("note: %s lacks %s, %s and %s of the fabric; %s; first difference: %s",
			  path, CLI_SWITCHES(c->new_sw), CLI_LINKS(c->new_links),
			  CLI_HOST_PORTS(c->new_hosts),
			  CLI_COUNT(c->replaced_sw + c->changed, "other part differs",
				    "other parts differ"), c->example);
}

static enum ftr_status make_nominal(const struct cli_in *in, const struct ftr_fabric *f,
				    struct cli_shaping *s, struct ftr_err *err)
{
	struct ftr_nominal *old = NULL;
	struct ftr_nominal_change change;
	enum ftr_status st = FTR_OK;

	if (in->nominal)
		st = read_nominal(in->nominal, f, &s->opts, &old, err);
	if (!st)
		st = ftr_nominal_new(f, &s->opts, old, &s->nominal, &change, err);
	if (!st && in->nominal)
		note_growth(in->nominal, &change);
	if (s->nominal != old)
		ftr_nominal_free(old);
	if (!st)
		s->opts.nominal = s->nominal->shape;
	return st;
}

enum ftr_status cli_shaping(const struct cli_in *in, const struct ftr_fabric *f, bool faults,
			    struct cli_shaping *out, struct ftr_err *err)
{
	enum ftr_status st;

	*out = (struct cli_shaping){ .opts.leaf_order = (enum ftr_leaf_order)in->leaf_order };
	st = read_one(in->roots, &out->opts.roots, err);
	if (!st)
		st = read_one(in->cn, &out->opts.cn, err);
	if (!st)
		st = read_one(in->io, &out->opts.io, err);
	if (!st && (in->nominal || faults))
		st = make_nominal(in, f, out, err);
	if (st)
		cli_shaping_free(out);
	return st;
}

void cli_note_files(const struct ftr_shape *sh)
{
	if (sh->tree.roots_unknown)
		cli_error("note: --roots names no switch of the fabric; ranks are inferred");
	for (uint32_t i = 0; i < sh->tree.n_unlisted; i++)
		cli_error("note: --roots lacks the top switch 0x%016" PRIx64
			  " \"%s\", which is treated as a root, too",
			  sh->f->sw[sh->tree.unlisted[i]].guid,
			  sh->f->sw[sh->tree.unlisted[i]].name);
	if (sh->tree.cn_unknown)
		cli_error("note: --cn names no port of the fabric and is not used; it should hold port GUIDs");
	if (sh->tree.io_unknown)
		cli_error("note: --io names no port of the fabric and is not used; it should hold port GUIDs");
}

enum ftr_status cli_shape(const struct cli_in *in, const struct ftr_fabric *f,
			  struct ftr_shape **out, struct ftr_err *err)
{
	struct cli_shaping s;
	enum ftr_status st = cli_shaping(in, f, false, &s, err);

	if (st)
		return st;
	st = ftr_shape_new(f, &s.opts, in->team, out, err);
	if (!st)
		cli_note_files(*out);
	cli_shaping_free(&s);
	return st;
}

struct ftr_hosts *cli_hosts(const struct ftr_fabric *f)
{
	struct ftr_hosts *h = NULL;

	cli_must(ftr_hosts_new(f, false, &h, &cli_err));
	if (!h->n)
		cli_die("no host; ports of channel adapters without a host name in their description: %u",
			h->n_nameless);
	return h;
}

ftr_ep *cli_host_order(const struct ftr_shape *sh, uint32_t *n)
{
	ftr_ep *order;

	*n = sh->numbering.n_places;
	order = cli_calloc(*n, sizeof(*order), "a host order of %u places", *n);
	ftr_shape_host_order(sh, order);
	return order;
}

ftr_ep *cli_order(const struct cli_in *in, const struct ftr_shape *sh, uint32_t *n)
{
	ftr_ep *order;

	if (!in->order)
		return cli_host_order(sh, n);
	cli_must(ftr_read_order(in->order, sh->f, &order, n, &cli_err));
	return order;
}

static bool is_there(const struct ftr_fabric *f, ftr_ep e)
{
	return e != FTR_EP_NONE && f->ep[e].sw != FTR_SW_NONE && f->ep[e].lid;
}

uint32_t cli_drop_gaps(const struct ftr_fabric *f, ftr_ep *order, uint32_t *n)
{
	uint32_t all = *n;

	*n = 0;
	for (uint32_t i = 0; i < all; i++)
		if (is_there(f, order[i]))
			order[(*n)++] = order[i];
	return all - *n;
}

uint64_t *cli_host_guids(const struct ftr_shape *sh, bool with_gaps, uint32_t *n)
{
	ftr_ep *order = cli_host_order(sh, n);
	uint64_t *guid;

	if (!with_gaps)
		cli_drop_gaps(sh->f, order, n);
	guid = cli_calloc(*n, sizeof(*guid), "an order");
	for (uint32_t i = 0; i < *n; i++)
		if (order[i] != FTR_EP_NONE)
			guid[i] = sh->f->ep[order[i]].guid;
	free(order);
	return guid;
}

double cli_bound(const struct ftr_shape *sh, const ftr_ep *order, uint32_t n)
{
	const struct ftr_fabric *f = sh->f;
	uint32_t *hosts = cli_calloc(f->n_sw, sizeof(*hosts), "the bound");
	uint32_t cuts = 0;

	for (uint32_t i = 0; i < n; i++)
		if (is_there(f, order[i]))
			hosts[f->ep[order[i]].sw]++;
	cli_must(ftr_balance_bound(sh, hosts, &cuts, &cli_err));
	free(hosts);
	return cuts;
}

struct ftr_tables *cli_read_lfts(const char *path, const struct ftr_fabric *f, uint32_t *missing)
{
	struct ftr_parts parts = { 0 };
	struct ftr_tables *t = NULL;
	uint32_t n;

	cli_must(ftr_read_lfts(path, f, &t, &parts, &cli_err));
	n = f->n_sw - (uint32_t)parts.known;
	if (parts.foreign)
		cli_error("note: %s:%u: %s not in the fabric; the first: 0x%016"
			  PRIx64 "; the rest of the file is used", path,
			  parts.line, CLI_COUNT(parts.foreign, "table of a switch that is",
						"tables of switches that are"), parts.guid);
	if (missing)
		*missing = n;
	else if (n)
		cli_error("note: %s: %s as missing", path,
			  CLI_COUNT(n, "switch without a table; all its entries count",
				    "switches without a table; all their entries count"));
	return t;
}

const char *cli_path(const char *dir, const char *name)
{
	static struct path {
		struct path *next;
		char text[];
	} *all;
	size_t size = strlen(dir) + strlen(name) + 2;
	struct path *p = cli_calloc(1, sizeof(*p) + size, "a path");

	snprintf(p->text, size, "%s/%s", dir, name);
	p->next = all;
	all = p;
	return p->text;
}

void cli_write_fabric(const char *path, const struct ftr_fabric *f)
{
	FILE *out = cli_create(path);

	cli_finish(ftr_write_netfile(out, f, NULL, &cli_err));
}

void cli_write_tables(const char *path, const struct ftr_fabric *f, const struct ftr_tables *t)
{
	FILE *out = cli_create(path);

	cli_finish((cli_packed(path) ? ftr_write_lfts_compact : ftr_write_lfts)(out, f, t, &cli_err));
}

void cli_write_sl2vl(const char *path, const struct ftr_fabric *f, const struct ftr_sl2vl *m)
{
	struct ftr_sl2vl *same = NULL;
	FILE *out = cli_create(path);

	if (!m)
		cli_must(ftr_sl2vl_new(f, &same, &cli_err));
	cli_finish(ftr_write_sl2vl(out, f, m ? m : same, &cli_err));
	ftr_sl2vl_free(same);
}

uint64_t cli_draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}
