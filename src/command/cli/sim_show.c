// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Results of ibfattree sim, summed over all runs, as text.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sim.h"

const char *const cli_sim_loss_key[FTR_SIM_N_LOSSES] = {
	"hole", "dead_port", "wire", "queue", "dead_switch", "wrong_end",
	"lane", "loop", "given_up",
};

static const char *const loss_text[FTR_SIM_N_LOSSES] = {
	"no entry in the table", "entry for a port without a working link",
	"on a link that failed", "in the queue for a link that failed",
	"in a switch that failed", "delivered to the wrong port",
	"mapped to a VL that does not exist", "caught in a forwarding loop",
	"discarded by the routing function",
};

/* ---- sums ------------------------------------------------------------------ */

static const struct ftr_sim_class *class_of(const struct ftr_sim_result *r, bool host)
{
	return host ? &r->host : &r->sw;
}

double cli_sim_seconds(const struct cli_sim *j, const struct ftr_sim_result *r)
{
	return r->end_ps > j->conf.warm_ps ?
	       (double)(r->end_ps - j->conf.warm_ps) * 1e-12 : 0;
}

static void sum_latency(const struct cli_sim *j, bool host, struct cli_sim_class_sum *out)
{
	static uint64_t bin[FTR_SIM_BINS];
	struct ftr_sim_latency all = { .bin = bin };
	double network = 0;

	memset(bin, 0, sizeof(bin));
	for (uint32_t i = 0; i < j->conf.runs; i++) {
		const struct ftr_sim_class *k = class_of(&j->result[i], host);

		all.n += k->total.n;
		all.sum_ps += k->total.sum_ps;
		network += k->network.sum_ps;
		if (k->total.max_ps > all.max_ps)
			all.max_ps = k->total.max_ps;
		for (uint32_t b = 0; b < FTR_SIM_BINS; b++)
			bin[b] += k->total.bin[b];
	}
	if (!all.n)
		return;
	out->latency_ns[0] = all.sum_ps / (double)all.n / 1e3;
	out->latency_ns[1] = (double)ftr_sim_percentile(&all, 0.5) / 1e3;
	out->latency_ns[2] = (double)ftr_sim_percentile(&all, 0.95) / 1e3;
	out->latency_ns[3] = (double)ftr_sim_percentile(&all, 0.99) / 1e3;
	out->latency_ns[4] = (double)all.max_ps / 1e3;
	out->network_ns = network / (double)all.n / 1e3;
}

double cli_sim_accepted(const struct cli_sim *j, const struct ftr_sim_result *r, bool host)
{
	const struct ftr_sim_class *k = class_of(r, host);
	double s = cli_sim_seconds(j, r);

	return k->sources && s > 0 ? (double)k->bytes * 8 / s / k->capacity : 0;
}

static void sum_class(const struct cli_sim *j, bool host, struct cli_sim_class_sum *out)
{
	uint32_t n = j->conf.runs;
	double square = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct ftr_sim_result *r = &j->result[i];
		const struct ftr_sim_class *k = class_of(r, host);
		double s = cli_sim_seconds(j, r);

		if (!k->sources || s <= 0)
			continue;
		out->any = true;
		out->accepted += cli_sim_accepted(j, r, host);
		out->offered += (double)k->offered * j->conf.traffic.bytes * 8 / s / k->capacity;
		out->mbps += (double)k->bytes * 8 / s / k->sources / 1e6;
		out->total_gbps += (double)k->bytes * 8 / s / 1e9 / n;
	}
	out->accepted /= n;
	out->offered /= n;
	out->mbps /= n;
	for (uint32_t i = 0; i < n; i++)
		square += pow(cli_sim_accepted(j, &j->result[i], host) - out->accepted, 2);
	out->sd = n > 1 ? sqrt(square / (n - 1)) : 0;
	sum_latency(j, host, out);
}

static double use_of(const struct cli_sim *j, uint32_t i)
{
	double sum = 0, s;

	for (uint32_t k = 0; k < j->conf.runs; k++) {
		s = cli_sim_seconds(j, &j->result[k]);
		if (s > 0)
			sum += (double)j->result[k].channel[i].busy_ps *
			       1e-12 / s;
	}
	return sum / j->conf.runs;
}

static bool between_switches(const struct cli_sim *j, const struct ftr_sim_channel_use *c)
{
	return c->sw != FTR_SW_NONE &&
	       ftr_fabric_port(j->conf.f, c->sw, c->port)->peer_kind == FTR_PEER_SW;
}

uint32_t cli_sim_worst(const struct cli_sim *j, uint32_t n, struct cli_sim_use *out)
{
	const struct ftr_sim_result *r = &j->result[0];
	uint32_t have = 0, k;

	for (uint32_t i = 0; i < r->n_channels; i++) {
		struct cli_sim_use u = { &r->channel[i], 0 };

		if (!between_switches(j, u.c))
			continue;
		u.use = use_of(j, i);
		if (have == n && (!n || out[n - 1].use >= u.use))
			continue;
		k = have < n ? have++ : n - 1;
		for (; k && out[k - 1].use < u.use; k--)
			out[k] = out[k - 1];
		out[k] = u;
	}
	return have;
}

static void sum_use(const struct cli_sim *j, struct cli_sim_sum *out)
{
	const struct ftr_sim_result *r = &j->result[0];
	uint32_t n = 0;
	double u;

	for (uint32_t i = 0; i < r->n_channels; i++) {
		if (!between_switches(j, &r->channel[i]))
			continue;
		u = use_of(j, i);
		n++;
		out->mean_use += u;
		if (u > out->max_use)
			out->max_use = u;
	}
	if (n)
		out->mean_use /= n;
}

void cli_sim_sum(const struct cli_sim *j, struct cli_sim_sum *out)
{
	memset(out, 0, sizeof(*out));
	out->first_deadlock = UINT32_MAX;
	for (uint32_t i = 0; i < j->conf.runs; i++) {
		const struct ftr_sim_result *r = &j->result[i];

		out->injected += r->injected;
		out->delivered += r->delivered;
		out->in_flight += r->in_flight;
		out->hops += r->hops;
		out->events += r->events;
		if (r->bytes_of_memory > out->memory)
			out->memory = r->bytes_of_memory;
		if (r->max_hops > out->max_hops)
			out->max_hops = r->max_hops;
		if (r->deadlock && !out->deadlocks++)
			out->first_deadlock = i;
		for (int k = 0; k < FTR_SIM_N_LOSSES; k++) {
			out->lost[k] += r->lost[k];
			out->all_lost += r->lost[k];
		}
	}
	sum_class(j, true, &out->host);
	sum_class(j, false, &out->sw);
	sum_use(j, out);
}

/* ---- text ------------------------------------------------------------------ */

static void show_class(const char *name, const struct cli_sim_class_sum *c, uint32_t runs)
{
	char sd[48] = "";

	if (!c->any)
		return;
	if (runs > 1)
		snprintf(sd, sizeof(sd), " (sd %.2f)", 100 * c->sd);
	printf("%-9s accepted %.2f %%%s of capacity, offered %.2f %%; %.0f Mbit/s per sender, %.1f Gbit/s in all\n",
	       name, 100 * c->accepted, sd, 100 * c->offered, c->mbps, c->total_gbps);
	printf("          latency in ns: mean %.0f, median %.0f, 95th percentile %.0f, 99th %.0f, greatest %.0f; without the wait at the source: mean %.0f\n",
	       c->latency_ns[0], c->latency_ns[1], c->latency_ns[2],
	       c->latency_ns[3], c->latency_ns[4], c->network_ns);
}

static void show_losses(const struct cli_sim_sum *s)
{
	printf("lost      %s%s%s\n", cli_colour(s->all_lost ? CLI_WRONG : CLI_GOOD),
	       CLI_NUM(s->all_lost), cli_colour(CLI_PLAIN));
	for (int k = 0; k < FTR_SIM_N_LOSSES; k++)
		if (s->lost[k])
			printf("%15s %s\n", CLI_NUM(s->lost[k]), loss_text[k]);
}

static void show_deadlock(const struct cli_sim *j, const struct cli_sim_sum *s)
{
	const struct ftr_sim_result *r;

	if (!s->deadlocks) {
		printf("deadlock  %snone%s\n", cli_colour(CLI_GOOD), cli_colour(CLI_PLAIN));
		return;
	}
	r = &j->result[s->first_deadlock];
	printf("deadlock  %sFOUND%s in %u of %s; the first, with seed %" PRIu64 ", at %.3f us: %s with %s\n",
	       cli_colour(CLI_WRONG), cli_colour(CLI_PLAIN), s->deadlocks,
	       CLI_COUNT(j->conf.runs, "run", "runs"), r->seed, (double)r->deadlock_ps / 1e6,
	       CLI_COUNT(r->stuck_buffers, "buffer", "buffers"),
	       CLI_COUNT(r->stuck_packets, "packet", "packets"));
	printf("          %u full buffers, each waits for the next:\n", r->cycle_len);
	for (uint32_t i = 0; i < r->cycle_len && i < FTR_SIM_CYCLE_MAX; i++) {
		const struct ftr_channel *w = &r->cycle[i];

		printf("          %s, VL %u\n", CLI_LINK(j->conf.f, w->sw, w->port), w->vl);
	}
	if (r->cycle_len > FTR_SIM_CYCLE_MAX)
		printf("          ...\n");
}

static void show_links(const struct cli_sim *j, const struct cli_sim_sum *s)
{
	struct cli_sim_use u[CLI_SIM_WORST_MAX];
	uint32_t n = cli_sim_worst(j, j->worst, u);

	printf("links     between switches: used %.2f %% on average, %.2f %% at most\n",
	       100 * s->mean_use, 100 * s->max_use);
	for (uint32_t i = 0; i < n; i++)
		printf("  %9.2f %%  %s\n", 100 * u[i].use,
		       CLI_LINK(j->conf.f, u[i].c->sw, u[i].c->port));
}

static void show_series(const struct cli_sim *j)
{
	double all = (double)(j->conf.warm_ps + j->conf.run_ps) / 1e6;
	double part = all / j->conf.n_series;

	printf("\n%12s %12s %12s %10s %12s\n", "start, us", "injected",
	       "delivered", "lost", "latency, ns");
	for (uint32_t i = 0; i < j->conf.n_series; i++) {
		struct ftr_sim_slice z = { 0 };

		for (uint32_t k = 0; k < j->conf.runs; k++) {
			const struct ftr_sim_slice *x = &j->result[k].series[i];

			z.injected += x->injected;
			z.delivered += x->delivered;
			z.lost += x->lost;
			z.latency_ps += x->latency_ps * (double)x->delivered;
		}
		printf("%12.3f %12" PRIu64 " %12" PRIu64 " %10" PRIu64 " %12.0f\n",
		       part * i, z.injected, z.delivered, z.lost,
		       z.delivered ? z.latency_ps / (double)z.delivered / 1e3 : 0);
	}
}

void cli_sim_show(const struct cli_sim *j, const struct cli_sim_sum *s)
{
	const struct ftr_sim_conf *c = &j->conf;

	printf("fabric    %s: %s, %s\n", j->fabric, CLI_SWITCHES(j->conf.f->n_sw),
	       CLI_HOST_PORTS(j->conf.f->n_ep));
	printf("tables    %s; function %s\n", j->source, c->function->name);
	printf("traffic   %s, packets of %u bytes, buffers of %s bytes, %s\n",
	       CLI_COUNT(j->result[0].host.sources, "sender", "senders"), c->traffic.bytes,
	       CLI_NUM(c->buffer), CLI_COUNT(c->n_vls, "VL", "VLs"));
	if (j->steps && j->result[0].finish_ps)
		printf("time      %.3f us until %s%s arrived\n",
		       (double)j->result[0].finish_ps / 1e6, c->traffic.n_transfers == 1 ? "" : "all ",
		       CLI_COUNT(c->traffic.n_transfers, "transfer has", "transfers have"));
	else if (j->steps)
		printf("time      not all transfers have arrived\n");
	else
		printf("time      %.3f us after %.3f us of warm-up, %s from seed %" PRIu64 "\n",
		       (double)c->run_ps / 1e6, (double)c->warm_ps / 1e6,
		       CLI_COUNT(c->runs, "run", "runs"), c->seed);
	show_class("hosts", &s->host, c->runs);
	show_class("ports 0", &s->sw, c->runs);
	printf("packets   %s injected, %s delivered, %s in flight; longest path %s\n",
	       CLI_NUM(s->injected), CLI_NUM(s->delivered), CLI_NUM(s->in_flight),
	       CLI_LINKS(s->max_hops));
	show_losses(s);
	show_deadlock(j, s);
	show_links(j, s);
	if (c->n_series)
		show_series(j);
}
