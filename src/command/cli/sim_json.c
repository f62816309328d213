// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Results of ibfattree sim as JSON: sums, and every run.
 */
#include "cli/json.h"
#include "cli/sim.h"

static void put_class(struct json_object *o, const char *key, const struct cli_sim_class_sum *c)
{
	struct json_object *k = cli_json_object(o, key), *l;

	cli_json_real(k, "accepted", c->accepted);
	cli_json_real(k, "accepted_sd", c->sd);
	cli_json_real(k, "offered", c->offered);
	cli_json_real(k, "mbps_each", c->mbps);
	cli_json_real(k, "gbps_total", c->total_gbps);
	l = cli_json_object(k, "latency_ns");
	cli_json_real(l, "mean", c->latency_ns[0]);
	cli_json_real(l, "median", c->latency_ns[1]);
	cli_json_real(l, "p95", c->latency_ns[2]);
	cli_json_real(l, "p99", c->latency_ns[3]);
	cli_json_real(l, "max", c->latency_ns[4]);
	cli_json_real(l, "in_fabric", c->network_ns);
}

static void put_losses(struct json_object *o, const uint64_t *lost)
{
	struct json_object *l = cli_json_object(o, "lost");

	for (int i = 0; i < FTR_SIM_N_LOSSES; i++)
		cli_json_num(l, cli_sim_loss_key[i], lost[i]);
}

static void put_wait(struct json_object *list, const struct ftr_fabric *f,
		     const struct ftr_channel *w)
{
	struct json_object *e = cli_json_element(list);

	cli_json_link(e, f, w->sw, w->port);
	cli_json_num(e, "vl", w->vl);
}

static void put_deadlock(struct json_object *o, const struct ftr_fabric *f,
			 const struct ftr_sim_result *r)
{
	struct json_object *d, *list;

	if (!r->deadlock) {
		cli_json_str(o, "deadlock", NULL);
		return;
	}
	d = cli_json_object(o, "deadlock");
	cli_json_real(d, "us", (double)r->deadlock_ps / 1e6);
	cli_json_num(d, "buffers", r->stuck_buffers);
	cli_json_num(d, "packets", r->stuck_packets);
	cli_json_num(d, "length", r->cycle_len);
	list = cli_json_array(d, "cycle");
	for (uint32_t i = 0; i < r->cycle_len && i < FTR_SIM_CYCLE_MAX; i++)
		put_wait(list, f, &r->cycle[i]);
}

static void put_series(struct json_object *o, const struct cli_sim *j,
		       const struct ftr_sim_result *r)
{
	struct json_object *list = cli_json_array(o, "series"), *e;
	double all = (double)(j->conf.warm_ps + j->conf.run_ps) / 1e6;

	for (uint32_t i = 0; i < r->n_series; i++) {
		e = cli_json_element(list);
		cli_json_real(e, "us", all * i / r->n_series);
		cli_json_num(e, "injected", r->series[i].injected);
		cli_json_num(e, "delivered", r->series[i].delivered);
		cli_json_num(e, "bytes", r->series[i].bytes);
		cli_json_num(e, "lost", r->series[i].lost);
		cli_json_real(e, "latency_ns", r->series[i].latency_ps / 1e3);
	}
}

static void put_run(struct json_object *list, const struct cli_sim *j,
		    const struct ftr_sim_result *r)
{
	struct json_object *o = cli_json_element(list);

	cli_json_num(o, "seed", r->seed);
	cli_json_real(o, "end_us", (double)r->end_ps / 1e6);
	if (j->steps)
		cli_json_real(o, "finish_us", (double)r->finish_ps / 1e6);
	cli_json_real(o, "hosts_accepted", cli_sim_accepted(j, r, true));
	cli_json_real(o, "ports_0_accepted", cli_sim_accepted(j, r, false));
	cli_json_num(o, "injected", r->injected);
	cli_json_num(o, "delivered", r->delivered);
	cli_json_num(o, "in_flight", r->in_flight);
	cli_json_num(o, "max_in_flight", r->max_in_flight);
	put_losses(o, r->lost);
	put_deadlock(o, j->conf.f, r);
	if (r->n_series)
		put_series(o, j, r);
}

static void put_links(struct json_object *o, const struct cli_sim *j)
{
	struct json_object *list = cli_json_array(o, "worst_links"), *e;
	struct cli_sim_use u[CLI_SIM_WORST_MAX];
	uint32_t n = cli_sim_worst(j, j->worst, u);

	for (uint32_t i = 0; i < n; i++) {
		e = cli_json_element(list);
		cli_json_real(e, "use", u[i].use);
		cli_json_link(e, j->conf.f, u[i].c->sw, u[i].c->port);
	}
}

int cli_sim_json(const struct cli_sim *j, const struct cli_sim_sum *s, int status)
{
	const struct ftr_sim_conf *c = &j->conf;
	struct json_object *o = cli_json_new("sim"), *list;

	cli_json_str(o, "tables", j->source);
	cli_json_str(o, "function", c->function->name);
	cli_json_fabric(o, j->conf.f, NULL);
	cli_json_num(o, "senders", j->result[0].host.sources);
	cli_json_num(o, "packet_bytes", c->traffic.bytes);
	cli_json_num(o, "buffer_bytes", c->buffer);
	cli_json_num(o, "lanes", c->n_vls);
	cli_json_real(o, "warmup_us", (double)c->warm_ps / 1e6);
	cli_json_real(o, "duration_us", (double)(j->steps ? j->result[0].end_ps : c->run_ps) / 1e6);
	cli_json_num(o, "cables_down", j->n_links_down);
	cli_json_num(o, "cables_up", j->n_links_up);
	put_class(o, "hosts", &s->host);
	put_class(o, "ports_0", &s->sw);
	cli_json_num(o, "injected", s->injected);
	cli_json_num(o, "delivered", s->delivered);
	cli_json_num(o, "in_flight", s->in_flight);
	put_losses(o, s->lost);
	cli_json_num(o, "deadlocks", s->deadlocks);
	cli_json_num(o, "packet_hops", s->hops);
	cli_json_num(o, "max_hops", s->max_hops);
	cli_json_num(o, "events", s->events);
	cli_json_num(o, "memory_bytes", s->memory);
	cli_json_real(o, "mean_use", s->mean_use);
	cli_json_real(o, "max_use", s->max_use);
	put_links(o, j);
	list = cli_json_array(o, "runs");
	for (uint32_t i = 0; i < c->runs; i++)
		put_run(list, j, &j->result[i]);
	cli_json_real(o, "seconds", j->seconds);
	return cli_json_end(o, status);
}
