// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree sim: simulates packets that follow forwarding tables.  It is a program of its own,
 * ibfattree-sim, so that the command and the plugin do not contain the simulator.
 */
#include <string.h>

#include "cli/sim.h"

#define RUNS_MAX 10000

#define OPTS struct cli_sim
static const struct cli_opt options[] = {
	CLI_OPTS_ENGINE("full"),
	OPT(FILE, "lfts", lfts, "FILE", "forwarding tables to use instead of an engine's"),
	OPT(FILE, "sl2vl", sl2vl, "FILE", "SL2VL tables"),
	OPT(FILE, "psl", psl, "FILE", "path SLs"),
	OPT(STRING, "function", function, "NAME",
	    "routing function of switches; list: print all", "lft"),
	OPT(WORD, "pattern", conf.traffic.pattern, "uniform|hotspot|permutation|shift|all-to-all|pairs|steps",
	    "traffic pattern", "uniform"),
	OPT(UINT, "shift", conf.traffic.shift, "N", "distance of --pattern shift", "1", 0, 1 << 24),
	OPT(FILE, "pairs", pairs, "FILE", "file with the pairs of --pattern pairs"),
	OPT(FILE, "steps", steps, "FILE", "file with the transfers of --pattern steps"),
	OPT(TIME, "step-time", conf.traffic.step_ps, "TIME",
	    "--pattern steps: time between the steps of a host", "0ns"),
	OPT(LIST, "hot", hot, "NAME", "hot spot: name or port GUID of a host port"),
	OPT(UINT, "hot-percent", conf.traffic.hot_percent, "N",
	    "percentage of packets sent to hot spots", "5", 0, 100),
	CLI_OPT_ORDER,
	OPT(PERCENT, "load", conf.traffic.load, "PERCENT",
	    "load that each host injects; 100 or more: always a packet to send", "100"),
	OPT(PERCENT, "switch-load", conf.traffic.switch_load, "PERCENT",
	    "load that port 0 of each switch injects", "0"),
	OPT(UINT, "switch-rate", conf.traffic.switch_mbps, "MBIT",
	    "data rate of port 0 of each switch", "2000", 1, 1 << 24),
	OPT(WORD, "arrivals", arrivals, "random|periodic",
	    "distribution of the times between packets", "random"),
	OPT(UINT, "host-sl", conf.traffic.host_sl, "N",
	    "SL of packets from hosts, if --psl gives none", "0", 0, 15),
	OPT(UINT, "switch-sl", conf.traffic.switch_sl, "N",
	    "SL of packets from switches (port 0), if --psl gives none", "0", 0, 15),
	OPT(UINT, "packet", conf.traffic.bytes, "BYTES", "packet size on the wire", "2048", 1, 65535),
	OPT(UINT, "rate", conf.default_mbps, "MBIT",
	    "data rate of links whose rate FABRIC does not give", "32000", 1, 1 << 24),
	OPT(UINT, "buffer", conf.buffer, "BYTES",
	    "buffer per input port and VL; 0: 51200 / (number of VLs)", "0", 0, 1 << 28),
	OPT(UINT, "switch-buffer", conf.switch_buffer, "BYTES",
	    "buffer for packets from port 0 of a switch; 0: same as --buffer", "0", 0, 1 << 28),
	OPT(UINT, "speedup", conf.speedup, "N",
	    "number of outputs that one input feeds at a time; 0: no limit", "0", 0, 255),
	OPT(UINT, "vls", conf.n_vls, "N", "number of data VLs", "1", 1, FTR_SIM_VLS),
	OPT(STRING, "vl-weights", weights, "N,N,...",
	    "VL weights in units of 64 bytes, 1 to 255 each"),
	OPT(WORD, "queues", conf.queues, "voq|fifo",
	    "input queues: one per output, or a single one", "voq"),
	OPT(TIME, "cable-delay", conf.link_ps, "TIME", "propagation delay of a link", "10ns"),
	OPT(TIME, "switch-delay", conf.switch_ps, "TIME", "delay of a switch", "100ns"),
	OPT(TIME, "warmup", conf.warm_ps, "TIME", "duration of the warm-up", "100us"),
	OPT(TIME, "duration", conf.run_ps, "TIME", "duration of the measurement", "1ms"),
	OPT(LIST, "fail", fail, "SPEC@TIME", "fault at TIME; SPEC as in whatif"),
	OPT(LIST, "recover", recover, "SPEC@TIME",
	    "repair at TIME; SPEC: a switch, a link or the word 'all'"),
	OPT(LIST, "reroute", reroute, "TIME",
	    "at TIME, recompute the tables for the fabric as it is then"),
	OPT(LIST, "tables", tables, "FILE@TIME", "use the tables in FILE from TIME on"),
	OPT(TIME, "write-time", write_ps, "TIME",
	    "time between the writes of two blocks of new tables; 0ns: all at once", "0ns"),
	OPT(WORD, "write-order", write_order, "ordered|plain",
	    "order of these writes: that of the plugin, or that of OpenSM", "ordered"),
	OPT(FILES, "events", events, "FILE", "replay an events file of the plugin"),
	OPT(TIME, "events-at", events_at, "TIME",
	    "simulated time of the earliest event of --events", "200us"),
	OPT(TIME, "check", conf.check_ps, "TIME", "time between two checks for deadlock", "20us"),
	OPT(FLAG, "stop", conf.stop_on_deadlock, NULL, "stop a run at the first deadlock"),
	OPT(U64, "seed", conf.seed, "N", "seed of the traffic and of random faults", "1"),
	OPT(UINT, "runs", conf.runs, "N",
	    "number of runs, with consecutive seeds", "1", 1, RUNS_MAX),
	OPT(UINT, "series", conf.n_series, "N",
	    "divide the run into N intervals and show each; 0: do not", "0", 0, 100000),
	OPT(UINT, "worst", worst, "N", "list the N most used links", "5", 0, CLI_SIM_WORST_MAX),
	CLI_OPTS_GUIDS,
	CLI_OPT_LMC,
	CLI_OPT_TOLERANT,
	CLI_OPT_THREADS,
	CLI_OPT_JSON,
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
	struct cli_sim_sum s;
	int n = cli_parse(&cli_sim_program, &j, argc, argv), status;

	if (!strcmp(j.function, "list"))
		return list_functions();
	if (n < 1)
		cli_die("sim: missing argument; usage: ibfattree sim [OPTION...] FABRIC");
	j.fabric = argv[0];
	j.in.team = ftr_team_new(j.in.threads);
	cli_progress("reading and routing");
	cli_sim_read(&j);
	cli_sim_schedule(&j);
	simulate(&j);
	ftr_team_free(j.in.team);
	cli_sim_sum(&j, &s);
	status = s.deadlocks || s.all_lost || (j.steps && !j.result[0].finish_ps) ?
		CLI_FINDINGS : CLI_CLEAN;
	if (j.in.json)
		return cli_sim_json(&j, &s, status);
	cli_sim_show(&j, &s);
	return status;
}

const struct cli_cmd cli_sim_program = {
	.name = "sim",
	.summary = "simulate packets: throughput, latency, loss, deadlock",
	.args = "FABRIC",
	.text =
"Simulates packets, buffers, credits and VLs, with the tables of an engine or of\n"
"the file of --lfts.  FABRIC may be a directory of OpenSM's dumps.  Links and\n"
"switches may fail and recover, and tables may change, at given times (in ps, ns,\n"
"us, ms or s).  TIME 0 is the start of the warm-up.\n"
"Exit status: 0 no deadlock and no losses, 1 a deadlock, losses or unfinished\n"
"transfers, 2 bad input.\n",
	.opts = options,
	.min_args = 0, .max_args = 1,
	.run = run_sim,
};
