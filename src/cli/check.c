// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree check: walks tables, from files or from the switches themselves.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/live.h"

static const char text[] =
"Walks the forwarding tables of a fabric, every switch to every LID, and looks\n"
"for pairs that do not arrive, loops, dead ports and credit loops.  Fabric and\n"
"tables come from files (FABRIC: ibnetdiscover output, an ibsim netfile or\n"
"opensm-subnet.lst; --lfts: opensm-lfts.dump or dump_lfts output), or both are\n"
"read from the switches (--live, no FABRIC).  Nothing is ever written to a\n"
"switch.\n"
"Pairs that no up/down path connects are reported, but are a finding only if\n"
"both are hosts on leaf switches, or with --strict.\n"
"Exit status: 0 clean, 1 findings, 2 bad input.\n";

struct check {
	const char *lfts, *save_fabric, *save_lfts;
	bool live, strict, switch_sources;
	struct cli_live_opts from;
	struct cli_guid_files files;
	unsigned int threads;
};

/* What is checked. */
struct subject {
	struct ftr_fabric *f;
	struct ftr_tables *t;
	uint32_t missing, silent;
	char source[256];
};

static int parse(struct check *c, int argc, char **argv, int *n)
{
	const struct cli_opt opts[] = {
		{ "lfts", CLI_STRING, &c->lfts, "FILE",
		  "tables to check", 0 },
		{ "live", CLI_FLAG, &c->live, NULL,
		  "read fabric and tables from the switches", 0 },
		{ "roots", CLI_STRING, &c->files.roots, "FILE",
		  "node GUIDs of the top switches", 0 },
		{ "switch-sources", CLI_FLAG, &c->switch_sources, NULL,
		  "credit loops: count packets of switches, too", 0 },
		{ "strict", CLI_FLAG, &c->strict, NULL,
		  "every pair that does not arrive is a finding", 0 },
		{ "threads", CLI_UINT, &c->threads, "N",
		  "threads (0: one per core)", FTR_TEAM_MAX },
		{ "ca", CLI_STRING, &c->from.ca, "NAME",
		  "--live: local adapter (the first)", 0 },
		{ "port", CLI_UINT, &c->from.port, "N",
		  "--live: its port (the first that is up)", FTR_PORT_MAX },
		{ "m-key", CLI_U64, &c->from.m_key, "KEY",
		  "--live: M_Key of the switches (0)", 0 },
		{ "save-fabric", CLI_STRING, &c->save_fabric, "FILE",
		  "keep the fabric as a netfile", 0 },
		{ "save-lfts", CLI_STRING, &c->save_lfts, "FILE",
		  "keep the tables as opensm-lfts.dump", 0 },
		{ NULL, CLI_FLAG, NULL, NULL, NULL, 0 }
	};
	const struct cli_usage u = { "check", "[FABRIC]", text, opts, 0, 1 };

	return cli_parse(&u, argc, argv, n);
}

static enum ftr_status from_switches(const struct check *c, struct subject *s,
				     struct ftr_err *err)
{
	struct cli_live live;
	double t0 = cli_now();
	enum ftr_status st = cli_live_read(&c->from, &live, err);

	if (st)
		return st;
	s->f = live.f;
	s->t = live.t;
	s->missing = live.missing;
	s->silent = live.silent;
	snprintf(s->source, sizeof(s->source),
		 "read from the switches in %.2f s", cli_now() - t0);
	return FTR_OK;
}

static enum ftr_status from_files(const struct check *c, const char *fabric,
				  struct subject *s, struct ftr_err *err)
{
	enum ftr_status st = ftr_read_fabric(fabric, 0, &s->f, err);

	if (!st)
		st = ftr_read_lfts(c->lfts, s->f, &s->t, &s->missing, err);
	snprintf(s->source, sizeof(s->source), "%s", c->lfts);
	return st;
}

static enum ftr_status save(const struct check *c, const struct subject *s,
			    struct ftr_err *err)
{
	const struct cli_tables_of of = { s->f, s->t };
	enum ftr_status st = FTR_OK;

	if (c->save_fabric)
		st = cli_write(c->save_fabric, cli_write_fabric_fn, s->f, err);
	if (!st && c->save_lfts)
		st = cli_write(c->save_lfts, cli_write_tables_fn, &of, err);
	return st;
}

/* The ranks that the checker is to verify; none is no error. */
static enum ftr_status claim(const struct check *c, const struct subject *s,
			     struct ftr_team *team, struct ftr_shape **sh,
			     struct ftr_err *err)
{
	struct ftr_shape_opts opts = { .leaf_order = FTR_LEAF_BY_GUID };
	struct ftr_err why = { 0 };
	enum ftr_status st = cli_read_guids(&c->files, &opts, err);

	if (st)
		return st;
	st = ftr_shape_new(s->f, &opts, team, sh, &why);
	cli_free_guids(&opts);
	if (st == FTR_SHAPE && !c->files.roots) {
		*sh = NULL;
		cli_error("note: no ranks: %s", why.msg);
		return FTR_OK;
	}
	if (st && err)
		*err = why;
	return st;
}

static int check(const struct check *c, const struct subject *s,
		 struct ftr_team *team, struct ftr_err *err)
{
	const struct cli_report_opts ro = {
		.source = s->source, .missing = s->missing,
		.silent = s->silent, .strict = c->strict,
		.switch_sources = c->switch_sources,
	};
	struct ftr_check_opts opts = { .switch_sources = c->switch_sources };
	struct ftr_check_report report;
	struct ftr_shape *sh = NULL;
	enum ftr_status st = claim(c, s, team, &sh, err);
	int status = CLI_BAD;

	if (!st) {
		opts.rank = sh ? sh->rank : NULL;
		st = ftr_check_tables(s->f, s->t, &opts, team, &report, err);
	}
	if (!st)
		status = cli_report(s->f, sh, &report, &ro);
	else
		cli_fail(err);
	ftr_shape_free(sh);
	return status;
}

int cli_check(int argc, char **argv)
{
	struct check c = { .lfts = NULL };
	struct subject s = { .f = NULL };
	struct ftr_team *team;
	struct ftr_err err = { 0 };
	enum ftr_status st;
	int n, status = parse(&c, argc, argv, &n);

	if (status >= 0)
		return status;
	if (c.live && (c.lfts || n))
		return cli_error("check: --live reads fabric and tables from the switches; '%s' cannot be given with it",
				 c.lfts ? "--lfts" : argv[0]);
	if (!c.live && (!c.lfts || !n))
		return cli_error("check: FABRIC and --lfts FILE are needed, or --live");
	st = c.live ? from_switches(&c, &s, &err) :
		      from_files(&c, argv[0], &s, &err);
	if (!st)
		st = save(&c, &s, &err);
	if (st) {
		status = cli_fail(&err);
	} else {
		team = ftr_team_new(c.threads);
		status = check(&c, &s, team, &err);
		ftr_team_free(team);
	}
	ftr_tables_free(s.t);
	ftr_fabric_free(s.f);
	return status;
}
