// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Results of ibfattree simulate as JSON.  Members of runs have the names that they have in
 * <ftr/sim.h>.
 */
#include <stdlib.h>

#include "cli/json.h"
#include "cli/sim.h"

struct field {
	const char *key;
	size_t at, size;	/* size 0: double */
};

#define REAL(type, m) { #m, offsetof(struct type, m), 0 }
#define FIELD(type, m) { #m, offsetof(struct type, m), sizeof(((struct type *)NULL)->m) }
#define R(m) FIELD(ftr_sim_result, m)
#define CLASS(k) R(k.sources), REAL(ftr_sim_result, k.capacity), R(k.offered), R(k.bytes), \
	R(k.total.n), REAL(ftr_sim_result, k.total.sum_ps), R(k.total.max_ps), \
	REAL(ftr_sim_result, k.network.sum_ps)

static const struct field result_fields[] = {
	R(seed), R(end_ps), R(finish_ps), CLASS(host), CLASS(sw), R(injected), R(delivered),
	R(in_flight), R(hops), R(events), R(max_in_flight), R(max_hops), R(bytes_of_memory),
	R(deadlock_ps), R(stuck_buffers), R(stuck_packets), R(cycle_len), { .key = NULL }
};
#define S(m) FIELD(ftr_sim_slice, m)
static const struct field slice_fields[] = {
	S(injected), S(delivered), S(bytes), S(lost), REAL(ftr_sim_slice, latency_ps),
	{ .key = NULL }
};

/* All digits, unlike cli_json_real(). */
static void put_real(struct json_object *o, const char *key, double x)
{
	cli_json_put(o, key, json_object_new_double(x));
}

static void put_fields(struct json_object *o, const void *from, const struct field *field)
{
	for (; field->key; field++) {
		const void *p = (const char *)from + field->at;

		if (!field->size)
			put_real(o, field->key, *(const double *)p);
		else
			cli_json_num(o, field->key, field->size == sizeof(uint32_t) ?
				     *(const uint32_t *)p : *(const uint64_t *)p);
	}
}

static struct json_object *put_link(struct json_object *list, const struct ftr_fabric *f,
				    ftr_sw s, ftr_port port)
{
	struct json_object *e = cli_json_element(list);

	cli_json_link(e, f, s, port);
	cli_json_str(e, "text", CLI_LINK(f, s, port));
	return e;
}

static void put_run(struct json_object *list, const struct ftr_fabric *f,
		    const struct ftr_sim_result *r)
{
	struct json_object *o = cli_json_element(list), *l;

	put_fields(o, r, result_fields);
	cli_json_bool(o, "deadlock", r->deadlock);
	l = cli_json_array(o, "lost");
	for (int i = 0; i < FTR_SIM_N_LOSSES; i++)
		cli_json_num(cli_json_element(l), "n", r->lost[i]);
	l = cli_json_array(o, "cycle");
	for (uint32_t i = 0; i < r->cycle_len && i < FTR_SIM_CYCLE_MAX; i++)
		cli_json_num(put_link(l, f, r->cycle[i].sw, r->cycle[i].port), "vl", r->cycle[i].vl);
	l = cli_json_array(o, "series");
	for (uint32_t i = 0; i < r->n_series; i++)
		put_fields(cli_json_element(l), &r->series[i], slice_fields);
}

/* The histogram of latencies over all runs, without empty bins. */
static void put_bins(struct json_object *o, const char *key, const struct cli_sim *j, bool host)
{
	char name[16];

	o = cli_json_object(o, key);
	for (uint32_t b = 0; b < FTR_SIM_BINS; b++) {
		uint64_t n = 0;

		for (const struct ftr_sim_result *r = j->result; r < j->result + j->conf.runs; r++)
			n += host ? r->host.total.bin[b] : r->sw.total.bin[b];
		snprintf(name, sizeof(name), "%u", b);
		if (n)
			cli_json_num(o, name, n);
	}
}

/* ---- links between switches --------------------------------------------------------- */

/* Returns the fraction of the time in which channel i was busy, the mean over the runs. */
static double use_of(const struct cli_sim *j, uint32_t i)
{
	double sum = 0;

	for (const struct ftr_sim_result *r = j->result; r < j->result + j->conf.runs; r++)
		if (r->end_ps > j->conf.warm_ps)
			sum += (double)r->channel[i].busy_ps * 1e-12 /
			       ((double)(r->end_ps - j->conf.warm_ps) * 1e-12);
	return sum / j->conf.runs;
}

static int by_use(const void *a, const void *b, void *uses)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const double *use = uses;

	return FTR_ORDER(use[y], use[x]) ?: FTR_ORDER(x, y);
}

static void put_use(struct json_object *o, const struct cli_sim *j)
{
	const struct ftr_sim_result *r = j->result;
	double *use = cli_calloc(r->n_channels, sizeof(*use), "%u channels", r->n_channels);
	uint32_t *order = cli_calloc(r->n_channels, sizeof(*order), "%u channels", r->n_channels);
	struct json_object *list = cli_json_array(o, "worst_links");
	uint32_t n = 0;
	double sum = 0;

	for (uint32_t i = 0; i < r->n_channels; i++) {
		const struct ftr_sim_channel_use *c = &r->channel[i];

		if (c->sw == FTR_SW_NONE ||
		    ftr_fabric_port(j->conf.f, c->sw, c->port)->peer_kind != FTR_PEER_SW)
			continue;
		order[n++] = i;
		use[i] = use_of(j, i);
		sum += use[i];
	}
	qsort_r(order, n, sizeof(*order), by_use, use);
	put_real(o, "mean_use", n ? sum / n : 0);
	put_real(o, "max_use", n ? use[order[0]] : 0);
	for (uint32_t i = 0; i < n && i < j->worst; i++) {
		const struct ftr_sim_channel_use *c = &r->channel[order[i]];

		put_real(put_link(list, j->conf.f, c->sw, c->port), "use", use[order[i]]);
	}
	free(use);
	free(order);
}

static uint32_t count_changes(const struct cli_sim *j, enum ftr_sim_change_kind kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->n_changes; i++)
		n += j->change[i].kind == kind;
	return n;
}

int cli_sim_results(const struct cli_sim *j)
{
	const struct ftr_sim_conf *c = &j->conf;
	struct json_object *o = cli_json_new("sim"), *list;

	cli_json_fabric(o, c->f, NULL);
	cli_json_num(o, "buffer_bytes", c->buffer);
	cli_json_num(o, "lanes", c->n_vls);
	cli_json_num(o, "transfers", c->traffic.n_transfers);
	cli_json_num(o, "cables_down", count_changes(j, FTR_SIM_LINK_DOWN));
	cli_json_num(o, "cables_up", count_changes(j, FTR_SIM_LINK_UP));
	put_bins(o, "host", j, true);
	put_bins(o, "sw", j, false);
	put_use(o, j);
	list = cli_json_array(o, "runs");
	for (uint32_t i = 0; i < c->runs; i++)
		put_run(list, c->f, &j->result[i]);
	cli_json_real(o, "seconds", j->seconds);
	return cli_json_end(o, CLI_CLEAN);
}
