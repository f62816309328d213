// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree ranks: writes the hosts of a job as a file for an MPI launcher, in the order for which
 * the tables are balanced.  With --json, it prints the hosts with their switches, for ibfattree-slurm.
 */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/json.h"

enum form { OPENMPI, RANKFILE, MPICH, SLURM, PORTS };

struct ranks {
	struct cli_in in;
	const char *hosts;
	unsigned int form, slots;
	bool rails, full_names;

	struct ftr_fabric *f;
	struct ftr_shape *sh;	/* NULL: the order comes from a file */
	struct ftr_hosts *h;
	struct ftr_host_list *list;
	ftr_ep *order;
	uint32_t n_order;
	struct line *line;
	uint32_t n, unplaced;
};

#define OPTS struct ranks
static const struct cli_opt options[] = {
	OPT(FILE, "hosts", hosts, "FILE",
	    "hosts of the job; if not given, all hosts of the fabric"),
	OPT(WORD, "form", form, "openmpi|rankfile|mpich|slurm|ports",
	    "host file or rank file of Open MPI, host file of MPICH or Slurm, or host ports",
	    "openmpi"),
	OPT(UINT, "slots", slots, "N",
	    "MPI ranks per host; 0: the number in --hosts, or 1 if it gives none",
	    "0", 0, UINT16_MAX),
	OPT(FLAG, "rails", rails, NULL,
	    "one rank on each adapter, rail by rail (rankfile, slurm, ports)"),
	OPT(FLAG, "full-names", full_names, NULL, "do not cut host names at the first dot"),
	CLI_OPT_ORDER,
	CLI_OPTS_GUIDS,
	CLI_OPT_LEAF_ORDER,
	CLI_OPT_NOMINAL,
	CLI_OPT_LMC,
	CLI_OPT_JSON,
	CLI_OPT_OUTPUT,
	CLI_OPT_END
};

struct line {
	uint32_t place;		/* place in the host order; UINT32_MAX: none */
	uint32_t i;		/* index of the host in --hosts, or in the list of all hosts */
	const char *name;
	uint32_t slots;
	ftr_ep ep;		/* adapter of a line for one adapter */
	uint32_t rail;		/* rail of this adapter, which is the slot of the rank */
	uint32_t block;		/* lines with a lower number come first: --rails: the rail */
};

static void read_order(struct ranks *j)
{
	if (j->in.order) {
		cli_must(ftr_read_order(j->in.order, j->f, &j->order, &j->n_order, &cli_err));
		return;
	}
	cli_must(cli_shape(&j->in, j->f, &j->sh, &cli_err));
	j->order = cli_host_order(j->sh, &j->n_order);
}

/* Returns an array [h->n]: the first place of each host in the host order; UINT32_MAX: none. */
static uint32_t *places(const struct ranks *j)
{
	uint32_t *at = cli_calloc(j->f->n_ep, sizeof(*at), "%u hosts", j->h->n);
	uint32_t *place = cli_calloc(j->h->n, sizeof(*place), "%u hosts", j->h->n);

	for (ftr_ep e = 0; e < j->f->n_ep; e++)
		at[e] = UINT32_MAX;
	for (uint32_t i = 0; i < j->n_order; i++)
		if (j->order[i] != FTR_EP_NONE)
			at[j->order[i]] = i;
	for (uint32_t i = 0; i < j->h->n; i++) {
		place[i] = UINT32_MAX;
		for (uint32_t k = 0; k < j->h->host[i].n; k++) {
			uint32_t p = at[j->h->ep[j->h->host[i].first + k]];

			place[i] = p < place[i] ? p : place[i];
		}
	}
	free(at);
	return place;
}

static int by_place(const void *x, const void *y)
{
	const struct line *a = x, *b = y;

	return FTR_ORDER(a->block, b->block) ?: FTR_ORDER(a->place, b->place) ?:
	       FTR_ORDER(a->i, b->i) ?: FTR_ORDER(a->rail, b->rail);
}

static void lines(struct ranks *j)
{
	uint32_t n = j->list ? j->list->n : j->h->n, *place = places(j);

	j->line = cli_calloc(n, sizeof(*j->line), "%u hosts", n);
	for (uint32_t i = 0; i < n; i++) {
		const struct ftr_host_entry *e = j->list ? &j->list->entry[i] :
			NULL;
		uint32_t host = e ? e->host : i;
		struct line *l = &j->line[j->n];

		if (host == FTR_HOST_NONE)
			continue;
		l->place = place[host];
		l->i = i;
		l->name = e ? e->name : j->h->host[host].name;
		l->slots = j->slots ? j->slots : e ? e->slots : 1;
		j->unplaced += l->place == UINT32_MAX;
		j->n++;
	}
	free(place);
	if (!j->n)
		cli_die("no host to write: %u ports of channel adapters have no host name in their description",
			j->h->n_nameless);
	qsort(j->line, j->n, sizeof(*j->line), by_place);
}

/* Returns the host of a line. */
static const struct ftr_host *host_of(const struct ranks *j, const struct line *l)
{
	return &j->h->host[j->list ? j->list->entry[l->i].host : l->i];
}

/* Replaces each line by one for every adapter of its host. */
static void divide_rails(struct ranks *j)
{
	struct line *all;
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->n; i++)
		n += host_of(j, &j->line[i])->n;
	all = cli_calloc(n, sizeof(*all), "%u hosts", j->n);
	n = 0;
	for (uint32_t i = 0; i < j->n; i++) {
		const struct ftr_host *h = host_of(j, &j->line[i]);

		for (uint32_t k = 0; k < h->n; k++) {
			struct line *l = &all[n++];

			*l = j->line[i];
			l->slots = 1;
			l->ep = j->h->ep[h->first + k];
			l->rail = j->h->rail[l->ep];
			l->block = j->rails ? l->rail : 0;
		}
	}
	free(j->line);
	j->line = all;
	j->n = n;
	qsort(j->line, j->n, sizeof(*j->line), by_place);
}

static void write_job(const struct ranks *j)
{
	FILE *out = cli_create(j->in.output);
	uint32_t rank = 0;

	for (uint32_t i = 0; i < j->n; i++) {
		const struct line *l = &j->line[i];

		switch ((enum form)j->form) {
		case OPENMPI:
			fprintf(out, "%s slots=%u\n", l->name, l->slots);
			break;
		case MPICH:
			fprintf(out, "%s:%u\n", l->name, l->slots);
			break;
		case RANKFILE:
			for (uint32_t s = 0; s < l->slots; s++)
				fprintf(out, "rank %u=%s slot=%u\n", rank++, l->name, l->rail + s);
			break;
		case SLURM:
			for (uint32_t s = 0; s < l->slots; s++)
				fprintf(out, "%s\n", l->name);
			break;
		case PORTS:
			if (j->f->ep[l->ep].lid)
				fprintf(out, "0x%04X\t%s\n", j->f->ep[l->ep].lid,
					j->f->ep[l->ep].name);
			break;
		}
	}
	cli_finish(FTR_OK);
}

static int report_ranks(const struct ranks *j)
{
	if (j->unplaced)
		cli_error("note: hosts that are not in the order (I/O nodes, or hosts missing from --order): %u; they come last",
			  j->unplaced);
	for (uint32_t i = 0; j->list && i < j->list->n; i++)
		if (j->list->entry[i].host == FTR_HOST_NONE)
			cli_error("not in the fabric: host %s; it is left out",
				  j->list->entry[i].name);
	return j->list && j->list->n_unknown ? CLI_FINDINGS : CLI_CLEAN;
}

static void add_hosts(const struct ranks *j, struct json_object *list, const bool *listed)
{
	uint32_t *place = places(j);

	for (uint32_t i = 0; i < j->h->n; i++) {
		const struct ftr_host *h = &j->h->host[i];
		struct json_object *o = cli_json_element(list), *sw;

		cli_json_str(o, "name", h->name);
		cli_json_bool(o, "listed", !j->list || listed[i]);
		if (place[i] != UINT32_MAX)
			cli_json_num(o, "place", place[i]);
		sw = cli_json_array(o, "switches");
		for (uint32_t k = 0; k < h->n; k++)
			cli_json_number(sw, j->f->ep[j->h->ep[h->first + k]].sw);
	}
	free(place);
}

static int print_json(const struct ranks *j)
{
	struct json_object *o = cli_json_new("ranks"), *unknown, *switches;
	bool *listed = cli_calloc(j->h->n, sizeof(*listed), "%u hosts", j->h->n);

	cli_json_fabric(o, j->f, j->sh);
	cli_json_num(o, "nameless_ports", j->h->n_nameless);
	unknown = cli_json_array(o, "unknown_hosts");
	for (uint32_t i = 0; j->list && i < j->list->n; i++)
		if (j->list->entry[i].host == FTR_HOST_NONE)
			cli_json_text(unknown, j->list->entry[i].name);
		else
			listed[j->list->entry[i].host] = true;
	switches = cli_json_array(o, "switches");
	for (ftr_sw s = 0; s < j->f->n_sw; s++)
		cli_json_place(cli_json_element(switches), j->sh->f, j->sh, s);
	add_hosts(j, cli_json_array(o, "hosts"), listed);
	free(listed);
	return cli_json_end(o, j->list && j->list->n_unknown ? CLI_FINDINGS : CLI_CLEAN);
}

static int run_ranks(int argc, char **argv)
{
	static struct ranks j;

	cli_parse(&cli_ranks, &j, argc, argv);
	if (j.rails && (j.slots || j.form == OPENMPI || j.form == MPICH))
		cli_die("ranks: --rails requires --form rankfile, slurm or ports, and no --slots");
	if (j.form == PORTS && j.slots)
		cli_die("ranks: --form ports has one rank on each adapter, and no --slots");
	if (j.in.json && (j.form || j.slots || j.rails || j.in.order || j.in.output))
		cli_die("ranks: --json prints all hosts, and excludes --form, --slots, --rails, --order and --output");
	cli_must(ftr_read_fabric(argv[0], j.in.lmc, &j.f, &cli_err));
	cli_must(ftr_hosts_new(j.f, j.full_names, &j.h, &cli_err));
	if (j.hosts)
		cli_must(ftr_read_host_list(j.hosts, false, j.h, &j.list, &cli_err));
	read_order(&j);
	if (j.in.json)
		return print_json(&j);
	lines(&j);
	if (j.rails || j.form == PORTS)
		divide_rails(&j);
	write_job(&j);
	return report_ranks(&j);
}

const struct cli_cmd cli_ranks = {
	.name = "ranks",
	.summary = "write the host file of a job in an order that avoids congestion",
	.args = "FABRIC",
	.text =
"Writes the hosts of a job in the order for which the tables are balanced.  MPI\n"
"ranks that follow this order share fewer links: on a tree without faults, with\n"
"one rank on every host of the fabric, no shift permutation (rank i sends to rank\n"
"i + k) puts two flows on one link.\n"
"Exit status: 0 written; 1 written, but some hosts of --hosts are not in the\n"
"fabric; 2 bad input.\n",
	.opts = options,
	.min_args = 1, .max_args = 1,
	.run = run_ranks,
};
