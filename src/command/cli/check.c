// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree check: checks forwarding tables from files or from the switches.
 */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/facts.h"
#include "cli/json.h"
#include "cli/live.h"

struct check {
	struct cli_in in;
	const char *lfts, *sl2vl, *psl, *save_fabric, *save_lfts;
	bool strict, list, switch_sources;

	struct cli_live net;
	struct ftr_fabric *f;	/* those of net */
	struct ftr_tables *t;
	struct ftr_sl2vl *vl_map;
	struct ftr_path_sl *path_sl;
	uint32_t no_sl2vl;
	char source[256];
};

#define OPTS struct check
static const struct cli_opt options[] = {
	OPT(FILE, "lfts", lfts, "FILE", "tables to check"),
	OPT(FILE, "sl2vl", sl2vl, "FILE", "SL2VL tables (opensm-sl2vl.dump)"),
	OPT(FILE, "psl", psl, "FILE", "path SLs, in the format of ibdmchk -c"),
	CLI_OPTS_LIVE,
	CLI_OPTS_GUIDS,
	CLI_OPTS_FABRIC,
	OPT(FLAG, "switch-sources", switch_sources, NULL,
	    "in the credit-loop check, also consider packets that switches send"),
	OPT(FLAG, "strict", strict, NULL, "report every unreachable pair as a finding"),
	CLI_OPT_LIST,
	CLI_OPT_THREADS,
	OPT(FILE, "save-fabric", save_fabric, "FILE", "save the fabric as a netfile"),
	OPT(FILE, "save-lfts", save_lfts, "FILE",
	    "save the tables in the format of opensm-lfts.dump"),
	CLI_OPT_JSON,
	CLI_OPT_END
};

static void read_all(struct check *s, const char *fabric)
{
	struct cli_live *n = &s->net;
	double t0 = cli_now();

	if (s->in.live) {
		cli_must(cli_live_read(&s->in, n, &cli_err));
	} else {
		n->f = cli_read_fabric(&s->in, fabric);
		n->t = cli_read_lfts(s->lfts, n->f, &n->missing);
	}
	s->f = n->f;
	s->t = n->t;
	if (s->in.live)
		snprintf(s->source, sizeof(s->source), "read from the switches in %.2f s",
			 cli_now() - t0);
	else
		snprintf(s->source, sizeof(s->source), "%s", s->lfts);
	if (s->sl2vl)
		cli_must(ftr_read_sl2vl(s->sl2vl, s->f, &s->vl_map, &s->no_sl2vl, &cli_err));
	if (s->psl)
		cli_must(ftr_read_path_sl(s->psl, s->f, &s->path_sl, &cli_err));
}

static void save(const struct check *s)
{
	cli_write_begin();
	if (s->save_fabric)
		cli_write_fabric(s->save_fabric, s->f);
	if (s->save_lfts)
		cli_write_tables(s->save_lfts, s->f, s->t);
	cli_write_end();
}

/* Returns the shape of the fabric, whose ranks the checker uses.  If the fabric has no ranks,
 * returns NULL, or dies if --roots is given. */
static struct ftr_shape *find_ranks(const struct check *s)
{
	struct ftr_shape *sh = NULL;
	enum ftr_status st = cli_shape(&s->in, s->f, &sh, &cli_err);

	if (st != FTR_SHAPE || s->in.roots)
		cli_must(st);
	else
		cli_error("note: no ranks: %s", cli_err.msg);
	return st ? NULL : sh;
}

/*
 * The checker builds the channel dependency graph only if the ranks do not prove the tables free
 * of credit loops.  With SL2VL tables or path SLs, the graph is needed in any case, to count
 * dropped packets and paths without an SL.
 */
static void count_drops(const struct check *s, const struct ftr_check_opts *opts,
			struct ftr_team *team, struct ftr_check_report *r)
{
	struct ftr_check_opts unproved = *opts;
	struct ftr_check_report *r2;

	if (r->cdg != FTR_CDG_PROVED || (!s->vl_map && !s->path_sl))
		return;
	r2 = cli_calloc(1, sizeof(*r2), "a report");
	unproved.rank = NULL;
	unproved.list_lost = false;
	cli_must(ftr_check_tables(s->f, s->t, &unproved, team, r2, &cli_err));
	r->vl_drops = r2->vl_drops;
	r->vl_drop = r2->vl_drop;
	r->no_sl = r2->no_sl;
	free(r2);
}

/* Compares the ports of hosts with several ports, as doctor does.  This has no effect on the
 * verdict: the tables are not at fault. */
static void compare_ports(const struct check *s, struct cli_report_opts *ro)
{
	struct ftr_hosts *h;
	bool several = false;

	cli_must(ftr_hosts_new(s->f, false, &h, &cli_err));
	for (uint32_t i = 0; i < h->n; i++)
		several |= h->host[i].n > 1;
	ftr_hosts_free(h);
	if (!several)
		return;
	ro->rails = cli_rails(s->f);
	ro->host_ports = cli_host_ports(s->f, s->t);
	if (!cli_json_string(ro->host_ports, 0))
		cli_die("out of memory for the ports of hosts");
}

static int check(const struct check *s)
{
	struct ftr_team *team = s->in.team;
	uint64_t hops[FTR_HOPS_MAX];
	struct cli_report_opts ro = {
		.source = s->source, .missing = s->net.missing,
		.silent = s->net.silent, .strict = s->strict,
		.switch_sources = s->switch_sources, .json = s->in.json,
		.hops = hops, .sl2vl = s->sl2vl, .psl = s->psl,
		.no_sl2vl = s->no_sl2vl, .list = s->list,
	};
	struct ftr_check_opts opts = {
		.switch_sources = s->switch_sources, .sl2vl = s->vl_map,
		.path_sl = s->path_sl,
	};
	static struct ftr_check_report report;
	static struct cli_reach verdict;
	static struct ftr_shape *sh;

	cli_progress("checking the tables");
	sh = find_ranks(s);
	opts.rank = sh ? sh->tree.rank : NULL;
	opts.list_lost = true;
	cli_must(ftr_check_tables(s->f, s->t, &opts, team, &report, &cli_err));
	count_drops(s, &opts, team, &report);
	cli_must(ftr_check_hops(s->f, s->t, hops, &cli_err));
	cli_judge(s->f, sh, &report, &ro, &verdict);
	compare_ports(s, &ro);
	cli_progress_end();
	return cli_report(s->f, sh, &report, &ro, &verdict);
}

static int run_check(int argc, char **argv)
{
	static struct check s;
	int n = cli_parse(&cli_check, &s, argc, argv), status;
	const char *const outputs[] = { s.save_fabric, s.save_lfts };

	/* the report goes to stdout, as text or as JSON */
	cli_check_outputs("check", true, outputs, 2);
	cli_check_inputs("check", outputs, 2, (const char *[]){
			n ? argv[0] : NULL, s.lfts, s.sl2vl, s.psl,
			s.in.nominal, s.in.roots, s.in.cn,
			s.in.io }, 8);
	cli_live_args("check", &s.in, n, 0, NULL);
	if (s.in.live && (s.lfts || n))
		cli_die("check: --live reads fabric and tables from the switches; '%s' cannot be given with it",
			s.lfts ? "--lfts" : argv[0]);
	if (!s.in.live && (!s.lfts || !n))
		cli_die("check: FABRIC and --lfts FILE are needed, or --live");
	cli_progress("reading");
	read_all(&s, argv[0]);
	save(&s);
	cli_progress_end();
	s.in.team = ftr_team_new(s.in.threads);
	status = check(&s);
	ftr_team_free(s.in.team);
	return status;
}

const struct cli_cmd cli_check = {
	.name = "check",
	.summary = "verify forwarding tables: missing entries, loops, credit loops",
	.args = "[FABRIC]",
	.text =
"Follows the forwarding tables from every switch to every LID and reports\n"
"unreachable pairs, loops, entries for dead ports, and credit loops.\n"
"With --live, fabric and tables are read from the switches.  Otherwise FABRIC is\n"
"ibnetdiscover output, an ibsim netfile, opensm-subnet.lst, ibdiagnet2.lst or\n"
"ibdiagnet2.db_csv, and --lfts names opensm-lfts.dump, dump_lfts output or\n"
"opensm.fdbs.  These files may be compressed with gzip or xz.\n"
"Nothing is written to the switches.\n"
"With --sl2vl or --psl, each VL is checked for credit loops on its own.\n"
"Every pair of physically connected host ports must be reachable.  A pair that\n"
"includes a switch must be reachable if it has an up/down path.  Nodes without a\n"
"physical path to the largest part of the fabric are listed, but this is not a\n"
"finding.  With --strict, all pairs must be reachable.\n"
"Exit status: 0 clean, 1 findings, 2 bad input.\n",
	.opts = options,
	.min_args = 0, .max_args = 1,
	.run = run_check,
};
