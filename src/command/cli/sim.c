// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree simulate: runs the simulator for ibfattree-sim (src/command/sim), which parses the
 * options, reads events files, and prints the results.  It is a program of its own,
 * ibfattree-simulate, so that the command and the plugin do not contain the simulator.
 */
#include "cli/json.h"
#include "cli/sim.h"

#define RUNS_MAX 10000
#define WORST_MAX 64

/* Times are in picoseconds.  ibfattree-sim has the defaults; those here are for tests. */
#define OPTS struct cli_sim
static const struct cli_opt options[] = {
	CLI_OPTS_ENGINE("full"),
	OPT(FILE, "lfts", lfts, "FILE", ""),
	OPT(FILE, "sl2vl", sl2vl, "FILE", ""),
	OPT(FILE, "psl", psl, "FILE", ""),
	OPT(STRING, "function", function, "NAME", "", "lft"),
	OPT(WORD, "pattern", conf.traffic.pattern, "uniform|hotspot|permutation|shift|all-to-all|pairs|steps", ""),
	OPT(UINT, "shift", conf.traffic.shift, "N", "", NULL, 0, 1 << 24),
	OPT(FILE, "pairs", pairs, "FILE", ""),
	OPT(FILE, "steps", steps, "FILE", ""),
	OPT(U64, "step-time", conf.traffic.step_ps, "PS", ""),
	OPT(UINT, "hot-percent", conf.traffic.hot_percent, "N", "", NULL, 0, 100),
	CLI_OPT_ORDER,
	OPT(STRING, "load", load, "FRACTION", "", "1"),
	OPT(STRING, "switch-load", switch_load, "FRACTION", "", "0"),
	OPT(UINT, "switch-rate", conf.traffic.switch_mbps, "MBIT", "", NULL, 1, 1 << 24),
	OPT(FLAG, "periodic", conf.traffic.periodic, NULL, "--arrivals periodic"),
	OPT(UINT, "host-sl", conf.traffic.host_sl, "N", "", NULL, 0, 15),
	OPT(UINT, "switch-sl", conf.traffic.switch_sl, "N", "", NULL, 0, 15),
	OPT(UINT, "packet", conf.traffic.bytes, "BYTES", "", NULL, 1, 65535),
	OPT(UINT, "rate", conf.default_mbps, "MBIT", "", NULL, 1, 1 << 24),
	OPT(UINT, "buffer", conf.buffer, "BYTES", "", NULL, 0, 1 << 28),
	OPT(UINT, "switch-buffer", conf.switch_buffer, "BYTES", "", NULL, 0, 1 << 28),
	OPT(UINT, "speedup", conf.speedup, "N", "", NULL, 0, 255),
	OPT(UINT, "vls", conf.n_vls, "N", "", "1", 1, FTR_SIM_VLS),
	OPT(STRING, "vl-weights", weights, "N,N,...", "", ""),
	OPT(WORD, "queues", conf.queues, "voq|fifo", ""),
	OPT(U64, "cable-delay", conf.link_ps, "PS", ""),
	OPT(U64, "switch-delay", conf.switch_ps, "PS", ""),
	OPT(U64, "warmup", conf.warm_ps, "PS", ""),
	OPT(U64, "duration", conf.run_ps, "PS", ""),
	OPT(FILE, "schedule", schedule, "FILE", "changes, see sim_schedule.c", "/dev/null"),
	OPT(U64, "write-time", write_ps, "PS", ""),
	OPT(FLAG, "plain", plain, NULL, "--write-order plain"),
	OPT(U64, "check", conf.check_ps, "PS", ""),
	OPT(FLAG, "stop", conf.stop_on_deadlock, NULL, ""),
	OPT(U64, "seed", conf.seed, "N", ""),
	OPT(UINT, "runs", conf.runs, "N", "", "1", 1, RUNS_MAX),
	OPT(UINT, "series", conf.n_series, "N", "", NULL, 0, 100000),
	OPT(UINT, "worst", worst, "N", "", NULL, 0, WORST_MAX),
	OPT(FLAG, "parts", parts, NULL, "first print the parts of the fabric, as an object"),
	CLI_OPTS_GUIDS,
	CLI_OPT_LMC,
	CLI_OPT_TOLERANT,
	CLI_OPT_THREADS,
	CLI_OPT_END
};

static int list_functions(void)
{
	for (unsigned int i = 0; cli_sim_functions[i]; i++)
		printf("%-20s %s\n", cli_sim_functions[i]->name, cli_sim_functions[i]->summary);
	return CLI_CLEAN;
}

static void progress(void *ctx, uint32_t run_sim, double part)
{
	const struct cli_sim *j = ctx;

	cli_progress_step((unsigned int)(100.0 * (run_sim + part)), 100 * j->conf.runs);
}

static void simulate(struct cli_sim *j)
{
	double t0 = cli_now();

	j->result = cli_calloc(j->conf.runs, sizeof(*j->result), "%u runs", j->conf.runs);
	j->conf.progress = progress;
	j->conf.progress_ctx = j;
	cli_progress("simulating, percent");
	cli_must(ftr_sim_run(&j->conf, j->in.team, j->result, &cli_err));
	cli_progress_end();
	j->seconds = cli_now() - t0;
}

static int run_sim(int argc, char **argv)
{
	static struct cli_sim j;
	int n = cli_parse(&cli_sim_program, &j, argc, argv);

	if (!n)
		return list_functions();
	j.in.team = ftr_team_new(j.in.threads);
	cli_progress("reading and routing");
	cli_sim_read(&j, argv[0]);
	cli_sim_schedule(&j);
	simulate(&j);
	ftr_team_free(j.in.team);
	return cli_sim_results(&j);
}

const struct cli_cmd cli_sim_program = {
	.name = "sim",
	.args = "[FABRIC]",
	.text = "Runs the simulator for ibfattree-sim.  Without FABRIC, lists the routing functions.\n",
	.opts = options,
	.min_args = 0, .max_args = 1,
	.run = run_sim,
};
