// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree collective: the time and the bus bandwidth of collective operations, for the tables of
 * engines and of files (see collective.h for the model).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/collective.h"
#include "cli/json.h"
#include "cli/whatif.h"

enum { RANKS_ORDER, RANKS_NAME, RANKS_RANDOM };
enum { RAILS_AUTO, RAILS_YES, RAILS_NO };

struct tables {
	const char *title;
	struct ftr_tables *t;
	struct coll_time *time;		/* one of each collective */
};

struct collective {
	struct cli_in in;
	struct cli_list tables, names, fail;
	const char *hosts_file, *size, *skew, *steps;
	unsigned int ranks, use_rails, rate, sample, repeat;
	uint64_t seed, latency;

	struct ftr_fabric *f;		/* with the faults */
	struct ftr_shape *sh;		/* of f; its nominal fabric is the one without the faults */
	struct ftr_hosts *hosts;
	struct coll_ranks r;
	struct coll_opts opts;
	uint32_t left_out;		/* hosts without a port on each rail */
	const struct coll_kind *kind[CLI_LIST_MAX];
	unsigned int n_kinds;
	struct tables set[CLI_LIST_MAX];
	unsigned int n_sets;
};

#define OPTS struct collective
static const struct cli_opt options[] = {
	OPT(FILES, "tables", tables, "SPEC",
	    "tables: a file, ENGINE, or ENGINE:off|load|full (search)"),
	OPT(LIST, "collective", names, "NAME",
	    "compute only this collective; may be given more than once"),
	OPT(STRING, "size", size, "N[k|M|G]",
	    "bytes per rank; the letters are powers of 1024", "1G"),
	OPT(TIME, "latency", latency, "TIME", "time of a step without data", "1us"),
	OPT(FILE, "hosts", hosts_file, "FILE",
	    "hosts of the job; if not given, all hosts of the fabric"),
	OPT(WORD, "ranks", ranks, "order|name|random",
	    "order of the ranks: host order, names of the hosts, or random", "order"),
	OPT(WORD, "rails", use_rails, "auto|yes|no",
	    "run on all rails at once; auto: if hosts have several ports", "auto"),
	CLI_OPT_FAIL,
	CLI_OPT_SEED,
	OPT(UINT, "rate", rate, "N",
	    "rate in Gbit/s of links whose rate is unknown; 0: not given", "0", 0, 100000),
	OPT(UINT, "sample", sample, "N",
	    "steps of the pairwise all-to-all that are counted; 0: all", "1000", 0, UINT16_MAX),
	OPT(UINT, "repeat", repeat, "N",
	    "number of random rings and of random bisections", "20", 1, 1000000),
	OPT(STRING, "skew", skew, "X",
	    "moe: the k-th expert gets 1/k^X of the tokens of the first", "0.5"),
	OPT(FILE, "steps", steps, "FILE",
	    "write the transfers of the collective for ibfattree sim"),
	CLI_OPT_ORDER,
	CLI_OPTS_GUIDS,
	CLI_OPTS_FABRIC,
	CLI_OPT_THREADS,
	CLI_OPT_JSON,
	CLI_OPT_END
};

/* ---- the arguments ------------------------------------------------------- */

static double size_of(const char *text)
{
	static const char letters[] = "kMG";
	char *end;
	double x = strtod(text, &end);
	const char *letter = *end ? strchr(letters, *end) : NULL;

	if (letter) {
		x = ldexp(x, 10 * (int)(letter - letters + 1));
		end++;
	}
	if (end == text || *end || !(x >= 1 && x <= 1e15))
		cli_die("collective: --size expects bytes, for example 64k, 1M or 2G, not '%s'", text);
	return x;
}

static void pick_kinds(struct collective *j)
{
	const struct cli_list *names = &j->names;

	for (const struct coll_kind *k = coll_kinds; !names->n && k->name; k++)
		j->kind[j->n_kinds++] = k;
	for (unsigned int i = 0; i < names->n; i++) {
		const struct coll_kind *k = coll_kinds;

		while (k->name && strcmp(k->name, names->v[i]))
			k++;
		if (!k->name)
			cli_die("collective: there is no collective '%s' (ibfattree collective --help lists them)",
				names->v[i]);
		j->kind[j->n_kinds++] = k;
	}
}

/* ---- fabric and ranks ---------------------------------------------------- */

static void read_fabric(struct collective *j, const char *path)
{
	struct ftr_fabric *whole = cli_read_fabric(&j->in, path);
	struct cli_faults faults = cli_faults_parse(whole, "fail", &j->fail);
	struct cli_shaping s;

	j->f = cli_faults_apply(whole, &faults, j->seed);
	cli_must(cli_shaping(&j->in, whole, j->fail.n != 0, &s, &cli_err));
	cli_must(ftr_shape_new(j->f, &s.opts, j->in.team, &j->sh, &cli_err));
	cli_note_files(j->sh);
	cli_shaping_free(&s);
	cli_faults_free(&faults);
	ftr_fabric_free(whole);
	if (j->ranks == RANKS_NAME)
		j->hosts = cli_hosts(j->f);
	else
		cli_must(ftr_hosts_new(j->f, false, &j->hosts, &cli_err));
}

/* Marks the ports of the hosts in --hosts, or all ports. */
static uint8_t *wanted_ports(const struct collective *j)
{
	const struct ftr_hosts *h = j->hosts;
	uint8_t *wanted = cli_calloc(j->f->n_ep, 1, "the ranks");
	struct ftr_host_list *list = NULL;

	if (!j->hosts_file) {
		memset(wanted, 1, j->f->n_ep);
		return wanted;
	}
	cli_must(ftr_read_host_list(j->hosts_file, false, h, &list, &cli_err));
	for (uint32_t i = 0; i < list->n; i++) {
		const struct ftr_host_entry *e = &list->entry[i];

		if (e->host == FTR_HOST_NONE)
			cli_die("%s: host %s is not in the fabric", j->hosts_file, e->name);
		for (uint32_t k = 0; k < h->host[e->host].n; k++)
			wanted[h->ep[h->host[e->host].first + k]] = 1;
	}
	ftr_host_list_free(list);
	return wanted;
}

/* Returns the ports in the order of the ranks, without gaps. */
static ftr_ep *sequence(const struct collective *j, uint32_t *n)
{
	uint8_t *wanted = wanted_ports(j);
	uint64_t state = j->seed;
	uint32_t all = 0;
	ftr_ep *at;

	if (j->ranks == RANKS_NAME) {
		*n = j->hosts->n_ep;
		at = cli_calloc(*n, sizeof(*at), "the ranks");
		memcpy(at, j->hosts->ep, *n * sizeof(*at));
	} else {
		at = cli_order(&j->in, j->sh, n);
	}
	cli_drop_gaps(j->f, at, n);
	for (uint32_t i = 0; i < *n; i++)
		if (wanted[at[i]])
			at[all++] = at[i];
	free(wanted);
	*n = all;
	for (uint32_t i = 0; j->ranks == RANKS_RANDOM && i < all; i++) {
		uint32_t k = (uint32_t)(cli_draw(&state) % (i + 1));
		ftr_ep e = at[i];

		at[i] = at[k];
		at[k] = e;
	}
	return at;
}

/* Puts the ports of seq[n] on rails.  A host has the place of its first port. */
static void put_on_rails(struct collective *j, const ftr_ep *seq, uint32_t n)
{
	const struct ftr_hosts *all = j->hosts;
	uint32_t *host_of = cli_calloc(j->f->n_ep, sizeof(*host_of), "the ranks");
	uint32_t *ports = cli_calloc(all->n, sizeof(*ports), "the ranks");
	uint32_t *nodes = cli_calloc(n, sizeof(*nodes), "the ranks"), k = 0;

	for (uint32_t i = 0; i < all->n; i++)
		for (uint32_t c = 0; c < all->host[i].n; c++)
			host_of[all->ep[all->host[i].first + c]] = i + 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t h = host_of[seq[i]];

		if (h && !ports[h - 1]++)
			nodes[k++] = h - 1;
		j->left_out += !h;
	}
	for (uint32_t i = 0; i < k; i++)
		j->r.rails = ports[nodes[i]] > j->r.rails ? ports[nodes[i]] : j->r.rails;
	for (uint32_t i = 0; i < k; i++) {
		if (ports[nodes[i]] == j->r.rails)
			nodes[j->r.nodes++] = nodes[i];
		else
			j->left_out++;
	}
	j->r.port = cli_calloc((size_t)j->r.nodes * j->r.rails, sizeof(*j->r.port), "the ranks");
	for (uint32_t i = 0; i < j->r.nodes; i++)
		for (uint32_t c = 0, rail = 0; c < all->host[nodes[i]].n; c++) {
			ftr_ep e = all->ep[all->host[nodes[i]].first + c];

			if (j->f->ep[e].lid && rail < j->r.rails)
				j->r.port[rail++ * j->r.nodes + i] = e;
		}
	free(host_of);
	free(ports);
	free(nodes);
}

static void set_ranks(struct collective *j)
{
	uint32_t n;
	ftr_ep *seq = sequence(j, &n);

	if (j->use_rails != RAILS_NO)
		put_on_rails(j, seq, n);
	if (j->use_rails == RAILS_YES && j->r.rails < 2)
		cli_die("collective: --rails yes: no host of the job has several adapters");
	if (j->r.rails < 2) {
		free(j->r.port);
		j->r = (struct coll_ranks){ n, 1, seq };
		j->left_out = 0;
	} else {
		free(seq);
	}
	if (j->r.nodes < 2)
		cli_die("collective: the job needs at least two hosts with a LID and a link, not %u",
			j->r.nodes);
}

/* ---- tables -------------------------------------------------------------- */

/* Routes with "ENGINE" or "ENGINE:BALANCE"; returns false if spec is no such text. */
static bool route(struct collective *j, const char *spec, struct ftr_tables **out)
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
	cli_must(ftr_tables_new(j->f, false, out, &cli_err));
	cli_must(e->route(j->sh, &o, j->in.team, *out, &stats, &cli_err));
	return true;
}

/* Computes the only collective again, and writes its transfers. */
static void write_steps(const struct collective *j, struct coll *c)
{
	struct coll_opts opts = j->opts;

	opts.steps = cli_create(j->steps);
	coll_run(c, j->kind[0], &opts);
	cli_finish(FTR_OK);
}

static void evaluate(struct collective *j, const char *spec)
{
	struct tables *s = &j->set[j->n_sets++];
	struct coll *c;

	s->title = spec;
	cli_progress("routing");
	if (!route(j, spec, &s->t))
		s->t = cli_read_lfts(spec, j->f, NULL);
	c = coll_new(j->f, s->t, &j->r, j->rate * 1000, j->in.team);
	s->time = cli_calloc(j->n_kinds, sizeof(*s->time), "the results");
	for (unsigned int i = 0; i < j->n_kinds; i++) {
		cli_progress(j->kind[i]->name);
		s->time[i] = coll_run(c, j->kind[i], &j->opts);
	}
	if (j->steps)
		write_steps(j, c);
	coll_free(c);
	ftr_tables_free(s->t);
}

/* ---- results ------------------------------------------------------------- */

static double algorithm_rate(const struct collective *j, const struct coll_time *x)	/* GB/s */
{
	return j->opts.bytes / x->seconds / 1e9;
}

static double bus_rate(const struct collective *j, unsigned int k, const struct coll_time *x)
{
	return algorithm_rate(j, x) * coll_factor(j->kind[k], (double)j->r.nodes * j->r.rails);
}

static void print_row(const struct collective *j, unsigned int k, const struct tables *s, bool first)
{
	const struct coll_time *x = &s->time[k];
	char links[32] = "-";

	if (x->link_bound > 0)
		snprintf(links, sizeof(links), "%.3f", x->link_bound * 1e3);
	printf("%-20s %-16s %10.3f %8.2f %8.2f %10s %10.3f", first ? j->kind[k]->name : "",
	       s->title, x->seconds * 1e3, algorithm_rate(j, x), bus_rate(j, k, x), links,
	       x->adapter_bound * 1e3);
	if (x->lost)
		printf("  lost flows: %s", CLI_NUM(x->lost));
	printf("\n");
}

static void print_text(const struct collective *j, const char *fabric)
{
	static const char *const order[] = { "host order", "order of names", "random order" };

	printf("fabric    %s: %s, %s\n", fabric, CLI_SWITCHES(j->f->n_sw),
	       CLI_HOST_PORTS(j->f->n_ep));
	printf("ranks     %s", CLI_NUM((uint64_t)j->r.nodes * j->r.rails));
	if (j->r.rails > 1)
		printf(" on %s with %u rails", CLI_COUNT(j->r.nodes, "host", "hosts"), j->r.rails);
	printf(", %s\nsize      %s bytes per rank, latency %.3f us per step\n\n", order[j->ranks],
	       CLI_NUM((uint64_t)j->opts.bytes), j->opts.latency * 1e6);
	printf("%-20s %-16s %10s %8s %8s %10s %10s\n", "", "", "time", "algbw", "busbw",
	       "links", "adapters");
	printf("%-20s %-16s %10s %8s %8s %10s %10s\n", "collective", "tables", "ms", "GB/s", "GB/s",
	       "ms", "ms");
	for (unsigned int k = 0; k < j->n_kinds; k++)
		for (unsigned int i = 0; i < j->n_sets; i++)
			print_row(j, k, &j->set[i], !i);
}

static int print_json(const struct collective *j, int status)
{
	struct json_object *o = cli_json_new("collective"), *list, *e;

	cli_json_fabric(o, j->f, j->sh);
	cli_json_num(o, "hosts", j->r.nodes);
	cli_json_num(o, "rails", j->r.rails);
	cli_json_num(o, "left_out", j->left_out);
	cli_json_real(o, "bytes", j->opts.bytes);
	cli_json_real(o, "latency", j->opts.latency);
	cli_json_num(o, "seed", j->seed);
	list = cli_json_array(o, "results");
	for (unsigned int k = 0; k < j->n_kinds; k++)
		for (unsigned int i = 0; i < j->n_sets; i++) {
			const struct coll_time *x = &j->set[i].time[k];

			e = cli_json_element(list);
			cli_json_str(e, "collective", j->kind[k]->name);
			cli_json_str(e, "tables", j->set[i].title);
			cli_json_real(e, "seconds", x->seconds);
			cli_json_real(e, "algbw", algorithm_rate(j, x));
			cli_json_real(e, "busbw", bus_rate(j, k, x));
			cli_json_real(e, "link_bound", x->link_bound);
			cli_json_real(e, "adapter_bound", x->adapter_bound);
			cli_json_num(e, "steps", x->steps);
			cli_json_num(e, "counted", x->counted);
			cli_json_num(e, "flows", x->flows);
			cli_json_num(e, "lost", x->lost);
		}
	return cli_json_end(o, status);
}

static int report(const struct collective *j, const char *fabric)
{
	int status = CLI_CLEAN;

	if (j->left_out)
		cli_error("note: left out, because they have no port on each of the %u rails: %s",
			  j->r.rails, CLI_COUNT(j->left_out, "host", "hosts"));
	for (unsigned int i = 0; i < j->n_sets; i++)
		for (unsigned int k = 0; k < j->n_kinds; k++)
			if (j->set[i].time[k].lost)
				status = CLI_FINDINGS;
	if (j->in.json)
		return print_json(j, status);
	print_text(j, fabric);
	return status;
}

static int run_collective(int argc, char **argv)
{
	static struct collective j;
	char *end;

	cli_parse(&cli_collective, &j, argc, argv);
	j.opts = (struct coll_opts){
		.bytes = size_of(j.size), .latency = (double)j.latency * 1e-12, .seed = j.seed,
		.sample = j.sample, .repeat = j.repeat, .skew = strtod(j.skew, &end),
	};
	if (end == j.skew || *end || !(j.opts.skew >= 0 && j.opts.skew <= 10))
		cli_die("collective: --skew expects a number from 0 to 10, not '%s'", j.skew);
	pick_kinds(&j);
	if (j.steps && (j.n_kinds != 1 || j.tables.n > 1))
		cli_die("collective: --steps needs one --collective and at most one --tables");
	if (j.steps)	/* all of them */
		j.opts.sample = 0;
	cli_progress("reading");
	j.in.team = ftr_team_new(j.in.threads);
	read_fabric(&j, argv[0]);
	set_ranks(&j);
	for (unsigned int i = 0; i < j.tables.n; i++)
		evaluate(&j, j.tables.v[i]);
	if (!j.tables.n)
		evaluate(&j, "dmodc");
	cli_progress_end();
	ftr_team_free(j.in.team);
	return report(&j, argv[0]);
}

const struct cli_cmd cli_collective = {
	.name = "collective",
	.summary = "compute the time of all-reduce, all-to-all and others",
	.args = "FABRIC",
	.text =
"Computes the time of collective operations on FABRIC, their algorithm bandwidth\n"
"and bus bandwidth (as nccl-tests defines them), and two lower bounds: the data of\n"
"the busiest link and of the busiest adapter.  A step takes as long as its most\n"
"loaded link or adapter.  Several --tables are shown side by side.\n"
"Collectives: all-reduce-ring, all-reduce-tree, all-reduce-doubling,\n"
"reduce-scatter, all-gather, all-to-all, all-to-all-pairwise, moe, halo,\n"
"random-ring, bisection, exchange.\n"
"Exit status: 0 all flows arrive, 1 some do not, 2 bad input.\n",
	.opts = options,
	.min_args = 1, .max_args = 1,
	.run = run_collective,
};
