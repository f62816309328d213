// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree pairs: writes the pairs of hosts between which a bandwidth test finds slow links, as a
 * list or as a script that runs the test (pairs/script).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/pairs.h"

enum form { LIST, SCRIPT };

#define OPTS struct pairs
static const struct cli_opt options[] = {
	OPT(WORD, "form", form, "list|script",
	    "list of the pairs, or bash script that runs ib_write_bw", "list"),
	CLI_OPT_LMC,
	CLI_OPT_TOLERANT,
	CLI_OPT_OUTPUT,
	CLI_OPT_END
};

static void find_members(struct pairs *x)
{
	const struct ftr_hosts *h;

	cli_must(ftr_hosts_new(x->f, false, &x->hosts, &cli_err));
	h = x->hosts;
	x->name = cli_calloc(x->f->n_ep + 1u, sizeof(*x->name), "host ports");
	for (uint32_t i = 0; i < h->n; i++)
		for (uint32_t k = 0; k < h->host[i].n; k++) {
			ftr_ep e = h->ep[h->host[i].first + k];

			x->name[e] = x->f->ep[e].lid ? h->host[i].name : NULL;
		}
}

static void write_left(FILE *out, const struct pairs *x)
{
	const struct ftr_fabric *f = x->f;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port = ftr_fabric_port(f, s, (ftr_port)p);

			if (port->peer_kind == FTR_PEER_EP && x->name[port->peer] &&
			    !x->covered[f->n_ports + port->peer])
				fprintf(out, "# not covered: the link from %s\n",
					CLI_EP(f, port->peer));
			if ((port->peer_kind == FTR_PEER_SW ||
			     (port->peer_kind == FTR_PEER_EP && x->name[port->peer])) &&
			    !x->covered[f->sw[s].first_port + p])
				fprintf(out, "# not covered: %s\n", CLI_LINK(f, s, p));
		}
}

static void write_plan(const struct pairs *x)
{
	FILE *out = cli_create(x->in.output);
	bool script = x->form == SCRIPT;

	fprintf(out, "%s# %s in %s; links, counted per direction: %u covered, %u not covered\n",
		script ? "#!/bin/bash\n" : "", CLI_PAIRS(x->n),
		CLI_COUNT(x->rounds, "round", "rounds"), x->n_covered, x->n_left);
	write_left(out, x);
	fputs(script ? "pairs='" : "# round, sender, its port GUID, receiver, its port GUID\n", out);
	for (uint32_t i = 0; i < x->n; i++) {
		const struct ftr_transfer *p = &x->pair[i];

		fprintf(out, "%u %s 0x%016" PRIx64 " %s 0x%016" PRIx64 "\n", p->step + 1,
			x->name[p->from], x->f->ep[p->from].guid, x->name[p->to],
			x->f->ep[p->to].guid);
	}
	if (script)
		fprintf(out, "'\n%s", part_pairs);
	cli_finish(FTR_OK);
}

static int run_pairs(int argc, char **argv)
{
	static struct pairs x;

	cli_parse(&cli_pairs, &x, argc, argv);
	x.f = cli_read_fabric(&x.in, argv[0]);
	x.t = cli_read_lfts(argv[1], x.f, NULL);
	find_members(&x);
	pairs_plan(&x);
	if (!x.n)
		cli_die("pairs: the tables connect no two hosts with names");
	write_plan(&x);
	if (x.n_left)
		cli_error("note: links that no path between two hosts crosses, counted per direction: %u; they are listed at the beginning of the output",
			  x.n_left);
	return x.n_left ? CLI_FINDINGS : CLI_CLEAN;
}

const struct cli_cmd cli_pairs = {
	.name = "pairs",
	.summary = "write host pairs whose bandwidth shows every bad cable",
	.args = "FABRIC TABLES",
	.text =
"Writes pairs of hosts whose paths cover every link in both directions.  In a round,\n"
"no two pairs share a link or a host, so each pair should reach the full bandwidth.\n"
"A pair that does not has a slow link or adapter on its path.\n"
"Exit status: 0 all links are covered; 1 some are not; 2 bad input.\n",
	.opts = options,
	.min_args = 2, .max_args = 2,
	.run = run_pairs,
};
