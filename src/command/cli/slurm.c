// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree slurm: writes the topology of a fabric as Slurm's topology.conf.
 */
#include <stdlib.h>

#include "cli/cli.h"

struct slurm {
	struct cli_in in;
	const char *hosts;
	unsigned int form;
	bool yaml, full_names;

	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_hosts *h;
	struct ftr_host_list *list;
	bool *wanted;
};

#define OPTS struct slurm
static const struct cli_opt options[] = {
	OPT(WORD, "plugin", form, "tree|block", "format: topology/tree or topology/block", "tree"),
	OPT(FLAG, "yaml", yaml, NULL, "write topology.yaml, the format of Slurm 25.05"),
	OPT(FILE, "hosts", hosts, "FILE",
	    "Slurm's nodes: write only these, and report those not in FABRIC"),
	OPT(FLAG, "full-names", full_names, NULL, "do not cut host names at the first dot"),
	CLI_OPTS_GUIDS,
	CLI_OPT_NOMINAL,
	CLI_OPT_LMC,
	CLI_OPT_OUTPUT,
	CLI_OPT_END
};

static void read_all(struct slurm *j, const char *fabric)
{
	cli_must(ftr_read_fabric(fabric, j->in.lmc, &j->f, &cli_err));
	cli_must(cli_shape(&j->in, j->f, &j->sh, &cli_err));
	cli_must(ftr_hosts_new(j->f, j->full_names, &j->h, &cli_err));
	if (!j->hosts)
		return;
	cli_must(ftr_read_host_list(j->hosts, false, j->h, &j->list, &cli_err));
	j->wanted = cli_calloc(j->h->n, sizeof(*j->wanted), "%u hosts", j->h->n);
	for (uint32_t i = 0; i < j->list->n; i++)
		if (j->list->entry[i].host != FTR_HOST_NONE)
			j->wanted[j->list->entry[i].host] = true;
}

static void write_topology(const struct slurm *j)
{
	FILE *out = cli_create(j->in.output);
	const struct ftr_slurm_opts opts = {
		.form = (enum ftr_slurm_form)j->form, .yaml = j->yaml,
		.hosts = j->h, .wanted = j->wanted,
	};
	struct ftr_slurm_counts c;

	cli_finish(ftr_write_slurm(out, j->sh, &opts, &c, &cli_err));
	if (c.split)
		cli_error("note: hosts on several leaves, without another host on the same leaves: %u; each is listed at its first leaf",
			  c.split);
	if (c.block_max > c.block_min)
		cli_error("note: blocks have %u to %u hosts; BlockSizes is the smallest of these numbers, so Slurm does not use larger blocks completely",
			  c.block_min, c.block_max);
}

/* Reports hosts that are in --hosts but not in the fabric, and hosts that are in the fabric but not
 * in --hosts. */
static int report_slurm(const struct slurm *j)
{
	uint32_t unlisted = 0;

	if (j->h->n_nameless)
		cli_error("note: ports of channel adapters without a host name in their description: %u; they are left out",
			  j->h->n_nameless);
	if (!j->list)
		return CLI_CLEAN;
	for (uint32_t i = 0; i < j->h->n; i++)
		unlisted += !j->wanted[i];
	if (unlisted)
		cli_error("note: hosts of the fabric that are not in %s: %u; they are left out",
			  j->hosts, unlisted);
	for (uint32_t i = 0; i < j->list->n; i++)
		if (j->list->entry[i].host == FTR_HOST_NONE)
			cli_error("not in the fabric: host %s; Slurm will not find its switch",
				  j->list->entry[i].name);
	return j->list->n_unknown ? CLI_FINDINGS : CLI_CLEAN;
}

static int run_slurm(int argc, char **argv)
{
	static struct slurm j;

	cli_parse(&cli_slurm, &j, argc, argv);
	read_all(&j, argv[0]);
	write_topology(&j);
	return report_slurm(&j);
}

const struct cli_cmd cli_slurm = {
	.name = "slurm",
	.summary = "write Slurm's topology.conf",
	.args = "FABRIC",
	.text =
"Writes the topology of FABRIC for Slurm: the hosts of each leaf switch, and the\n"
"pods above the leaf switches, each as one switch.  Host names are taken from\n"
"node descriptions of the form \"NAME\" or \"NAME DEVICE\".  Hosts with ports on\n"
"several leaves are grouped with other hosts on the same leaves.\n"
"Exit status: 0 written; 1 written, but some hosts of --hosts are not in the\n"
"fabric; 2 bad input.\n",
	.opts = options,
	.min_args = 1, .max_args = 1,
	.run = run_slurm,
};
