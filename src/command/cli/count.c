// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree count: the hosts of a fabric in host order, for ibfattree-ranks and ibfattree-slurm, and
 * the flows of steps, for ibfattree-collective, which makes the steps.  It is not listed in --help.
 *
 * It prints one JSON object.  Host ports and switches are numbered as in their lists.  order: the
 * host order; null: a gap.  entries: the hosts in --hosts; null: not in the fabric.
 *
 * Then it reads lines from --steps, and answers all but "next" at once, each with a line:
 *
 *	next				use the next --tables
 *	flows TIMES BYTES LID ...	a step, done TIMES times: the LIDs in the first half send
 *					BYTES to those in the second half
 *	both TIMES BYTES LID ...	the same, and those in the second half send to the first
 *	all GROUPS BYTES LID ...	a step with GROUPS groups of LIDs: in each group, each LID
 *					sends BYTES to each other one
 *	end				the end of a collective
 *
 * The answer to a step: the times of the most loaded link between switches and of the most loaded
 * adapter, at full rate; the numbers of flows and of lost flows; the mean rate of a pair.  The rate of
 * a pair is that of the adapter, divided by the load of the busiest link of its path.  It is computed
 * only if TIMES is 0 (the step is done once).  Answer to the end: the time that the data of all
 * steps need on the busiest link and on the busiest adapter.  Seconds, bytes per second.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/whatif.h"

struct count {
	struct cli_in in;
	struct cli_list tables, fail;
	const char *hosts_file, *steps;
	unsigned int rate, n_tables;
	uint64_t seed;
	bool full_names;

	struct ftr_fabric *f;		/* with the faults */
	struct ftr_shape *sh;		/* of f; its nominal fabric is the one without the faults;
					 * NULL: not needed */
	struct ftr_tables *t;
	struct ftr_load *ld;
	double *speed;		/* [n_ports] bytes per second of the link at each switch port */
	/* [2 * n_ports] flows of a step, and bytes of all steps: out of each switch port, then out
	 * of the host port at each switch port */
	uint64_t *load;
	double *sum;
	ftr_ep *ep;		/* the LIDs of a step */
	struct ftr_transfer *pair;
	uint32_t n, room;	/* number of elements of ep[]; number for which ep[] and pair[] have
				 * room */
};

#define OPTS struct count
static const struct cli_opt options[] = {
	OPT(FILES, "tables", tables, "SPEC", "a file, ENGINE, or ENGINE:off|load|full (search)"),
	OPT(FILE, "hosts", hosts_file, "FILE", "hosts of the job"),
	CLI_OPT_FAIL,
	CLI_OPT_SEED,
	OPT(UINT, "rate", rate, "N",
	    "rate in Gbit/s of links whose rate is unknown; 0: not given", "0", 0, 100000),
	OPT(FILE, "steps", steps, "FILE", "steps"),
	OPT(FLAG, "full-names", full_names, NULL, "do not cut host names at the first dot"),
	CLI_OPT_ORDER,
	CLI_OPTS_GUIDS,
	CLI_OPT_LEAF_ORDER,
	CLI_OPTS_FABRIC,
	CLI_OPT_THREADS,
	CLI_OPT_END
};

/* ---- fabric and hosts ---------------------------------------------------- */

static void read_fabric(struct count *c, const char *path)
{
	struct ftr_fabric *whole = cli_read_fabric(&c->in, path);
	struct cli_faults faults = cli_faults_parse(whole, "fail", &c->fail);
	struct cli_shaping s;

	c->f = cli_faults_apply(whole, &faults, c->seed);
	if (c->tables.n || !c->in.order) {
		cli_must(cli_shaping(&c->in, whole, c->fail.n != 0, &s, &cli_err));
		cli_must(ftr_shape_new(c->f, &s.opts, c->in.team, &c->sh, &cli_err));
		cli_note_files(c->sh);
		cli_shaping_free(&s);
	}
	cli_faults_free(&faults);
	ftr_fabric_free(whole);
}

static void put_hosts(struct json_object *o, const struct count *c, const struct ftr_hosts *h)
{
	struct json_object *list = cli_json_array(o, "end_ports"), *e;

	for (ftr_ep i = 0; i < c->f->n_ep; i++) {
		e = cli_json_element(list);
		cli_json_num(e, "lid", c->f->ep[i].lid);
		cli_json_str(e, "name", c->f->ep[i].name);
		if (c->f->ep[i].sw != FTR_SW_NONE)
			cli_json_num(e, "switch", c->f->ep[i].sw);
		if (h->rail[i] != FTR_RAIL_NONE)
			cli_json_num(e, "rail", h->rail[i]);
	}
	cli_json_num(o, "nameless_ports", h->n_nameless);
	list = cli_json_array(o, "hosts");
	for (uint32_t i = 0; i < h->n; i++) {
		e = cli_json_element(list);
		cli_json_str(e, "name", h->host[i].name);
		e = cli_json_array(e, "ports");
		for (uint32_t k = 0; k < h->host[i].n; k++)
			cli_json_number(e, h->ep[h->host[i].first + k]);
	}
}

static void put_entries(struct json_object *o, const struct count *c, const struct ftr_hosts *h)
{
	struct ftr_host_list *l = NULL;
	struct json_object *list, *e;

	if (!c->hosts_file)
		return;
	cli_must(ftr_read_host_list(c->hosts_file, false, h, &l, &cli_err));
	list = cli_json_array(o, "entries");
	for (uint32_t i = 0; i < l->n; i++) {
		e = cli_json_element(list);
		cli_json_str(e, "name", l->entry[i].name);
		if (l->entry[i].host != FTR_HOST_NONE)
			cli_json_num(e, "host", l->entry[i].host);
		cli_json_num(e, "slots", l->entry[i].slots);
	}
	ftr_host_list_free(l);
}

static void print_fabric(const struct count *c)
{
	struct json_object *o = cli_json_new("count"), *list;
	struct ftr_hosts *h = NULL;
	ftr_ep *order;
	uint32_t n;

	cli_must(ftr_hosts_new(c->f, c->full_names, &h, &cli_err));
	put_entries(o, c, h);
	if (c->in.order)
		cli_must(ftr_read_order(c->in.order, c->f, &order, &n, &cli_err));
	else
		order = cli_host_order(c->sh, &n);
	cli_json_fabric(o, c->f, c->sh);
	cli_json_num(o, "seed", c->seed);
	list = cli_json_array(o, "order");
	for (uint32_t i = 0; i < n; i++)
		cli_json_number(list, order[i]);
	put_hosts(o, c, h);
	list = cli_json_array(o, "switches");
	for (ftr_sw s = 0; c->sh && s < c->f->n_sw; s++)
		cli_json_place(cli_json_element(list), c->f, c->sh, s);
	ftr_hosts_free(h);
	free(order);
	if (cli_json_end(o, CLI_CLEAN))
		exit(CLI_BAD);
	fflush(stdout);
}

/* Dies if a link has no rate. */
static void set_speeds(struct count *c)
{
	const struct ftr_fabric *f = c->f;

	c->speed = cli_calloc(f->n_ports, sizeof(*c->speed), "the rates");
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *q = ftr_fabric_port(f, s, p);
			uint32_t own = ftr_sim_mbps(q->width, (enum ftr_speed)q->speed);

			if (q->peer_kind == FTR_PEER_NONE)
				continue;
			if (!own && !c->rate)
				cli_die("switch 0x%016" PRIx64 " \"%s\" port %u: the rate of the link is unknown; give --rate",
					f->sw[s].guid, f->sw[s].name, p);
			c->speed[f->sw[s].first_port + p] = (own ? own : c->rate * 1000) * 125e3;
		}
}

/* ---- tables -------------------------------------------------------------- */

/* Routes with "ENGINE" or "ENGINE:BALANCE"; returns false if spec is no such text. */
static bool route(struct count *c, const char *spec)
{
	static const char *const words[] = { "off", "load", "full" };
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_route_stats stats = { .turn = NULL };
	const struct ftr_engine_ops *e;
	size_t len = strcspn(spec, ":");
	unsigned int balance = 2;

	for (unsigned int i = 0; (e = ftr_engine_at(i)); i++)
		if (strlen(e->name) == len && !strncmp(e->name, spec, len))
			break;
	if (!e)
		return false;
	if (spec[len])
		for (balance = 0; balance < 3 && strcmp(words[balance], spec + len + 1); balance++)
			;
	if (balance == 3)
		cli_die("collective: --tables %s: after the engine, off, load or full is expected",
			spec);
	o.balance = (enum ftr_balance)balance;
	cli_must(ftr_tables_new(c->f, false, &c->t, &cli_err));
	cli_must(e->route(c->sh, &o, c->in.team, c->t, &stats, &cli_err));
	return true;
}

static void next_tables(struct count *c)
{
	const char *spec = c->tables.v[c->n_tables++];

	ftr_load_free(c->ld);
	ftr_tables_free(c->t);
	cli_progress("routing");
	if (!route(c, spec))
		c->t = cli_read_lfts(spec, c->f, NULL);
	cli_must(ftr_load_new(c->f, c->t, (struct ftr_order){ NULL, 0 }, c->in.team, &c->ld,
			      &cli_err));
	if (!c->speed)
		set_speeds(c);
	cli_progress("counting flows");
}

/* ---- steps --------------------------------------------------------------- */

/* Returns the index of the switch port at a host port. */
static uint32_t port_of(const struct count *c, ftr_ep e)
{
	return c->f->sw[c->f->ep[e].sw].first_port + c->f->ep[e].sw_port;
}

/* Adds bytes per flow to the sums, and prints the times of the busiest link and adapter. */
static void take(struct count *c, double bytes, double times)
{
	const uint32_t n = c->f->n_ports;
	double most[2] = { 0, 0 };	/* link, adapter */

	for (uint32_t i = 0; i < 2 * n; i++) {
		bool adapter = i >= n || c->f->ports[i].peer_kind == FTR_PEER_EP;

		if (!c->load[i])
			continue;
		most[adapter] = fmax(most[adapter], (double)c->load[i] * bytes / c->speed[i % n]);
		c->sum[i] += (double)c->load[i] * bytes * times;
	}
	printf("%.17g %.17g", most[0], most[1]);
}

static void end(struct count *c)
{
	const uint32_t n = c->f->n_ports;
	double most[2] = { 0, 0 };

	for (uint32_t i = 0; i < 2 * n; i++) {
		bool adapter = i >= n || c->f->ports[i].peer_kind == FTR_PEER_EP;

		if (c->sum[i] > 0)
			most[adapter] = fmax(most[adapter], c->sum[i] / c->speed[i % n]);
	}
	memset(c->sum, 0, 2 * n * sizeof(*c->sum));
	printf("%.17g %.17g\n", most[0], most[1]);
}

/* Returns the mean rate of n pairs.  If both is true, the pair of flow i has also flow n + i, and the
 * rate of the slower one. */
static double mean_rate(const struct count *c, uint32_t n, bool both)
{
	uint64_t *most = cli_calloc(2 * (size_t)n, sizeof(*most), "the flows");
	double sum = 0;

	cli_must(ftr_load_pairs_most(c->ld, c->pair, both ? 2 * n : n, most, &cli_err));
	for (uint32_t i = 0; i < n; i++) {
		uint64_t load = most[i] > most[n + i] ? most[i] : most[n + i];

		if (load != UINT64_MAX)
			sum += c->speed[port_of(c, c->pair[i].from)] / fmax(1, (double)load);
	}
	free(most);
	return sum / n;
}

static void flows(struct count *c, bool both, double bytes, unsigned int times)
{
	uint32_t n = c->n / 2, all = both ? 2 * n : n;
	struct ftr_load_report r;

	for (uint32_t i = 0; i < all; i++)
		c->pair[i] = (struct ftr_transfer){
			.from = c->ep[i], .to = c->ep[i < n ? n + i : i - n],
		};
	cli_must(ftr_load_pairs(c->ld, c->pair, all, c->load, &r, &cli_err));
	memset(c->load + c->f->n_ports, 0, c->f->n_ports * sizeof(*c->load));
	for (uint32_t i = 0; i < all; i++) {
		c->load[c->f->n_ports + port_of(c, c->pair[i].from)]++;
		c->load[port_of(c, c->pair[i].to)]++;
	}
	take(c, bytes, times ? times : 1);
	printf(" %" PRIu64 " %" PRIu64 " %.17g\n", r.flows, r.lost,
	       times ? 0 : mean_rate(c, n, both));
}

static void all_to_all(struct count *c, double bytes, uint32_t groups)
{
	const uint32_t n = c->n / groups;
	uint64_t *by_port = cli_calloc(c->f->n_ports, sizeof(*by_port), "the flows"), sum[2] = { 0 };

	memset(c->load, 0, 2 * (size_t)c->f->n_ports * sizeof(*c->load));
	for (uint32_t k = 0; k < groups; k++) {
		struct ftr_load *ld = NULL;
		struct ftr_load_report x;

		cli_must(ftr_load_new(c->f, c->t, (struct ftr_order){ c->ep + (size_t)k * n, n },
				      c->in.team, &ld, &cli_err));
		ftr_load_all(ld, by_port, &x);
		for (uint32_t i = 0; i < c->f->n_ports; i++)
			c->load[i] += by_port[i];
		sum[0] += x.flows;
		sum[1] += x.lost;
		ftr_load_free(ld);
	}
	for (uint32_t i = 0; i < c->n; i++)
		c->load[port_of(c, c->ep[i])] =
			c->load[c->f->n_ports + port_of(c, c->ep[i])] = n - 1;
	free(by_port);
	take(c, bytes, 1);
	printf(" %" PRIu64 " %" PRIu64 " 0\n", sum[0], sum[1]);
}

/* Stores the host ports of the LIDs in the text. */
static void read_lids(struct count *c, const char *text)
{
	const struct ftr_fabric *f = c->f;
	char *end;

	for (c->n = 0; ; text = end) {
		unsigned long lid = strtoul(text, &end, 10);

		if (end == text)
			return;
		if (lid > f->max_lid || f->owner[lid].kind != FTR_OWNER_EP ||
		    f->ep[f->owner[lid].idx].sw == FTR_SW_NONE)
			cli_die("%s: no host port has LID %lu", c->steps, lid);
		if (c->n == c->room) {
			c->room = c->room ? 2 * c->room : 1024;
			c->ep = realloc(c->ep, c->room * sizeof(*c->ep));
			c->pair = realloc(c->pair, c->room * sizeof(*c->pair));
			if (!c->ep || !c->pair)
				cli_die("out of memory for the flows of a step");
		}
		c->ep[c->n++] = f->owner[lid].idx;
	}
}

static void answer(struct count *c, const char *line)
{
	char word[8];
	unsigned int number = 0;
	double bytes;
	int at;

	if (!strcmp(line, "next") && c->n_tables < c->tables.n) {
		next_tables(c);
	} else if (!strcmp(line, "end")) {
		end(c);
	} else if (c->ld && sscanf(line, "%7s %u %lg%n", word, &number, &bytes, &at) == 3) {
		read_lids(c, line + at);
		if (*word == 'a' && number)
			all_to_all(c, bytes, number);
		else
			flows(c, *word == 'b', bytes, number);
	} else {
		cli_die("%s: unknown step: %.40s", c->steps, line);
	}
	fflush(stdout);
}

static int run_count(int argc, char **argv)
{
	static struct count c;
	char *line = NULL;
	size_t size = 0;
	ssize_t n;
	FILE *in;

	cli_parse(&cli_count_flows, &c, argc, argv);
	cli_progress("reading");
	c.in.team = ftr_team_new(c.in.threads);
	read_fabric(&c, argv[0]);
	c.load = cli_calloc(2 * (size_t)c.f->n_ports, sizeof(*c.load), "the flows");
	c.sum = cli_calloc(2 * (size_t)c.f->n_ports, sizeof(*c.sum), "the flows");
	print_fabric(&c);
	in = c.steps ? fopen(c.steps, "re") : NULL;
	while (in && (n = getline(&line, &size, in)) > 0) {
		line[n - (line[n - 1] == '\n')] = '\0';
		answer(&c, line);
	}
	if (c.steps && (!in || !feof(in)))
		cli_die("cannot read %s: %s", c.steps, strerror(errno));
	free(line);
	cli_progress_end();
	ftr_team_free(c.in.team);
	return CLI_CLEAN;
}

const struct cli_cmd cli_count_flows = {
	.name = "count",
	.args = "FABRIC",
	.text = "For ibfattree collective, ranks and slurm.\n",
	.opts = options,
	.min_args = 1, .max_args = 1,
	.run = run_count,
};
