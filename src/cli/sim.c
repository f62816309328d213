// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree sim: simulates packets that follow forwarding tables.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/sim.h"

#define RUNS_MAX 10000

static const struct cli_opt options[] = {
	CLI_OPTS_ENGINE(struct cli_sim, "full"),
	{ "lfts", CLI_FILE, offsetof(struct cli_sim, lfts), "FILE",
	  "tables, in place of an engine's", NULL, 0, 0 },
	{ "sl2vl", CLI_FILE, offsetof(struct cli_sim, sl2vl), "FILE",
	  "lanes: SL to VL tables", NULL, 0, 0 },
	{ "psl", CLI_FILE, offsetof(struct cli_sim, psl), "FILE",
	  "the SLs of paths", NULL, 0, 0 },
	{ "function", CLI_STRING, offsetof(struct cli_sim, function), "NAME",
	  "what switches do with a packet; list: print them", "lft", 0, 0 },
	{ "pattern", CLI_WORD, offsetof(struct cli_sim, pattern),
	  "uniform|hotspot|permutation|shift|all-to-all|pairs",
	  "who sends to whom", "uniform", 0, 0 },
	{ "shift", CLI_UINT, offsetof(struct cli_sim, shift), "N",
	  "of --pattern shift", "1", 0, 1 << 24 },
	{ "pairs", CLI_FILE, offsetof(struct cli_sim, pairs), "FILE",
	  "of --pattern pairs", NULL, 0, 0 },
	{ "hot", CLI_LIST, offsetof(struct cli_sim, hot), "NAME",
	  "a hot spot: end port by name or port GUID", NULL, 0, 0 },
	{ "hot-percent", CLI_UINT, offsetof(struct cli_sim, hot_percent), "N",
	  "share of the packets that goes to hot spots", "5", 0, 100 },
	{ "order", CLI_FILE, offsetof(struct cli_sim, order), "FILE",
	  "order of end ports: opensm-*-ca-order.dump", NULL, 0, 0 },
	{ "load", CLI_STRING, offsetof(struct cli_sim, load), "PERCENT",
	  "what hosts send; 100 or more: all they can", "100", 0, 0 },
	{ "switch-load", CLI_STRING, offsetof(struct cli_sim, switch_load),
	  "PERCENT", "what ports 0 of switches send to each other", "0", 0, 0 },
	{ "switch-rate", CLI_UINT, offsetof(struct cli_sim, switch_rate),
	  "MBIT", "data rate of ports 0", "2000", 1, 1 << 24 },
	{ "arrivals", CLI_WORD, offsetof(struct cli_sim, arrivals),
	  "random|periodic", "gaps between packets", "random", 0, 0 },
	{ "host-sl", CLI_UINT, offsetof(struct cli_sim, host_sl), "N",
	  "SL of hosts where --psl tells none", "0", 0, 15 },
	{ "switch-sl", CLI_UINT, offsetof(struct cli_sim, switch_sl), "N",
	  "the same of ports 0", "0", 0, 15 },
	{ "packet", CLI_UINT, offsetof(struct cli_sim, packet), "BYTES",
	  "size of a packet on the wire", "2048", 1, 65535 },
	{ "rate", CLI_UINT, offsetof(struct cli_sim, rate), "MBIT",
	  "data rate of cables that FABRIC does not tell", "32000", 1,
	  1 << 24 },
	{ "buffer", CLI_UINT, offsetof(struct cli_sim, buffer), "BYTES",
	  "of each input port and lane; 0: the lanes share 51200", "0", 0,
	  1 << 28 },
	{ "switch-buffer", CLI_UINT, offsetof(struct cli_sim, switch_buffer),
	  "BYTES", "the same of what ports 0 send; 0: as --buffer", "0", 0,
	  1 << 28 },
	{ "speedup", CLI_UINT, offsetof(struct cli_sim, speedup), "N",
	  "outputs that an input feeds at once; 0: no limit", "0", 0, 255 },
	{ "vls", CLI_UINT, offsetof(struct cli_sim, vls), "N",
	  "data lanes", "1", 1, FTR_SIM_VLS },
	{ "vl-weights", CLI_STRING, offsetof(struct cli_sim, weights),
	  "N,N,...", "of the lanes, in 64 bytes, 1 to 255 each", NULL, 0, 0 },
	{ "queues", CLI_WORD, offsetof(struct cli_sim, queues), "voq|fifo",
	  "input queues: one for each output, or one", "voq", 0, 0 },
	{ "cable-delay", CLI_STRING, offsetof(struct cli_sim, link_delay),
	  "TIME", "one way over a cable", "10ns", 0, 0 },
	{ "switch-delay", CLI_STRING, offsetof(struct cli_sim, switch_delay),
	  "TIME", "through a switch", "100ns", 0, 0 },
	{ "warmup", CLI_STRING, offsetof(struct cli_sim, warmup), "TIME",
	  "time before the measurement", "100us", 0, 0 },
	{ "duration", CLI_STRING, offsetof(struct cli_sim, duration), "TIME",
	  "time of the measurement", "1ms", 0, 0 },
	{ "fail", CLI_LIST, offsetof(struct cli_sim, fail), "SPEC@TIME",
	  "what breaks when; SPEC as in whatif", NULL, 0, 0 },
	{ "recover", CLI_LIST, offsetof(struct cli_sim, recover), "SPEC@TIME",
	  "what comes back when; all: everything", NULL, 0, 0 },
	{ "reroute", CLI_LIST, offsetof(struct cli_sim, reroute), "TIME",
	  "the engine's tables for what is there then", NULL, 0, 0 },
	{ "tables", CLI_LIST, offsetof(struct cli_sim, tables), "FILE@TIME",
	  "other tables from then on", NULL, 0, 0 },
	{ "events", CLI_FILES, offsetof(struct cli_sim, events), "FILE",
	  "replay an events file of the plugin", NULL, 0, 0 },
	{ "events-at", CLI_STRING, offsetof(struct cli_sim, events_at), "TIME",
	  "when its first event is", "200us", 0, 0 },
	{ "check", CLI_STRING, offsetof(struct cli_sim, check), "TIME",
	  "look for a deadlock every TIME", "20us", 0, 0 },
	{ "stop", CLI_FLAG, offsetof(struct cli_sim, stop), NULL,
	  "end a run when a deadlock is found", NULL, 0, 0 },
	{ "seed", CLI_U64, offsetof(struct cli_sim, seed), "N",
	  "seed of the traffic and of random faults", "1", 0, 0 },
	{ "runs", CLI_UINT, offsetof(struct cli_sim, runs), "N",
	  "runs with seeds from --seed on", "1", 1, RUNS_MAX },
	{ "series", CLI_UINT, offsetof(struct cli_sim, series), "N",
	  "parts of the time series; 0: none", "0", 0, 100000 },
	{ "svg", CLI_FILE, offsetof(struct cli_sim, svg), "PREFIX",
	  "write plots to PREFIX-*.svg", NULL, 0, 0 },
	{ "worst", CLI_UINT, offsetof(struct cli_sim, worst), "N",
	  "list the N most used links", "5", 0, CLI_SIM_WORST_MAX },
	CLI_OPT_ROOTS(struct cli_sim),
	CLI_OPT_CN(struct cli_sim),
	CLI_OPT_IO(struct cli_sim),
	CLI_OPT_LMC(struct cli_sim),
	CLI_OPT_TOLERANT(struct cli_sim),
	CLI_OPT_THREADS(struct cli_sim),
	CLI_OPT_JSON(struct cli_sim),
	CLI_OPT_END
};

static int run_sim(int argc, char **argv);

const struct cli_cmd cli_sim = {
	.name = "sim",
	.summary = "send packets through tables: throughput, losses, deadlock",
	.args = "FABRIC",
	.text =
"Simulates what the data plane does with traffic under the engine's tables or\n"
"those in --lfts: packets, buffers, credits, lanes.  FABRIC may be a directory\n"
"of OpenSM's dumps.  Cables and switches may die and come back, and tables\n"
"change, at given times (ps, ns, us, ms or s).  TIME 0 is the start of the\n"
"warm-up.\n"
"Exit status: 0 no deadlock and nothing lost, 1 a deadlock or losses, 2 bad\n"
"input.\n",
	.opts = options,
	.min_args = 0,
	.max_args = 1,
	.run = run_sim,
};

static int list_functions(void)
{
	const struct ftr_sim_function *fn;

	for (unsigned int i = 0; (fn = ftr_sim_function_at(i)); i++)
		printf("%-20s %s\n", fn->name, fn->summary);
	return CLI_CLEAN;
}

static void progress(void *ctx, uint32_t run_sim, double part)
{
	const struct cli_sim_job *j = ctx;

	cli_progress_step((unsigned int)(100.0 * (run_sim + part)),
			  100 * j->conf.runs);
}

static enum ftr_status simulate(struct cli_sim_job *j, struct ftr_err *err)
{
	double t0 = cli_now();
	enum ftr_status st;

	j->result = calloc(j->conf.runs, sizeof(*j->result));
	if (!j->result)
		return ftr_fail(err, FTR_NOMEM, "out of memory for %u runs",
				j->conf.runs);
	j->conf.progress = progress;
	j->conf.progress_ctx = j;
	cli_progress("simulating, percent");
	st = ftr_sim_run(&j->conf, j->team, j->result, err);
	j->seconds = cli_now() - t0;
	if (st) {
		free(j->result);
		j->result = NULL;
	}
	return st;
}

static int report_sim(const struct cli_sim_job *j)
{
	struct cli_sim_sum s;
	struct ftr_err err = { 0 };
	int status;

	if (!cli_sim_sum(j, &s))
		return cli_error("out of memory for the sums");
	status = s.deadlocks || s.all_lost ? CLI_FINDINGS : CLI_CLEAN;
	if (j->o->svg && cli_sim_svg(j, &err))
		return cli_fail(&err);
	if (j->o->json)
		return cli_sim_json(j, &s, status);
	cli_sim_show(j, &s);
	return status;
}

static int run_sim(int argc, char **argv)
{
	struct cli_sim o = { .json = false };
	struct cli_sim_job j = { .o = &o };
	struct ftr_err err = { 0 };
	enum ftr_status st;
	int n, status = cli_parse(&cli_sim, &o, argc, argv, &n);

	if (status >= 0)
		return status;
	if (!strcmp(o.function, "list"))
		return list_functions();
	if (n < 1)
		return cli_error("sim: missing argument; usage: ibfattree sim [OPTION...] FABRIC");
	j.fabric = argv[0];
	j.team = ftr_team_new(o.threads);
	cli_progress("reading and routing");
	st = cli_sim_read(&j, &err);
	if (!st)
		st = cli_sim_schedule(&j, &err);
	if (!st)
		st = simulate(&j, &err);
	cli_progress_end();
	status = st ? cli_fail(&err) : report_sim(&j);
	cli_sim_free(&j);
	return status;
}
