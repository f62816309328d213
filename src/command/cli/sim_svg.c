// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Plots of ibfattree sim as plain SVG: throughput and losses over time, the
 * distribution of latencies, and the utilisation of links.
 */
#include <stdlib.h>

#include "cli/sim.h"

#define WIDTH 640
#define HEIGHT 360
#define LEFT 70
#define RIGHT 20
#define TOP 40
#define BOTTOM 50

struct plot {
	const char *title, *x_label, *y_label;
	double x_max, y_max;
	uint32_t n;
	const double *x, *y[2];	/* y[1] may be NULL */
	const char *name[2];
};

static double px(const struct plot *p, double x)
{
	return LEFT + (WIDTH - LEFT - RIGHT) * (p->x_max > 0 ? x / p->x_max : 0);
}

static double py(const struct plot *p, double y)
{
	return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (p->y_max > 0 ? y / p->y_max : 0);
}

static void axes(FILE *out, const struct plot *p)
{
	fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n"
		"<text x=\"%d\" y=\"20\" text-anchor=\"middle\" font-size=\"14\">%s</text>\n"
		"<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n"
		"<text transform=\"translate(16 %d) rotate(-90)\" text-anchor=\"middle\">%s</text>\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH / 2, p->title, WIDTH / 2,
		HEIGHT - 12, p->x_label, HEIGHT / 2, p->y_label);
	for (int i = 0; i <= 5; i++) {
		double x = p->x_max * i / 5, y = p->y_max * i / 5;

		fprintf(out, "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ddd\"/>\n"
			"<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n"
			"<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.4g</text>\n",
			LEFT, py(p, y), WIDTH - RIGHT, py(p, y), LEFT - 6, py(p, y) + 4, y,
			px(p, x), HEIGHT - BOTTOM + 18, x);
	}
}

static enum ftr_status write_plot(FILE *out, const void *ctx, struct ftr_err *err)
{
	static const char *const colour[] = { "#1f77b4", "#d62728" };
	const struct plot *p = ctx;

	(void)err;
	axes(out, p);
	for (int k = 0; k < 2 && p->y[k]; k++) {
		fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\" points=\"",
			colour[k]);
		for (uint32_t i = 0; i < p->n; i++)
			fprintf(out, "%.1f,%.1f ", px(p, p->x[i]), py(p, p->y[k][i]));
		fprintf(out, "\"/>\n<text x=\"%d\" y=\"%d\" fill=\"%s\" text-anchor=\"end\">%s</text>\n",
			WIDTH - RIGHT - 4, TOP + 14 * (k + 1), colour[k], p->name[k]);
	}
	fputs("</svg>\n", out);
	return FTR_OK;
}

static double greatest(const double *y, uint32_t n, double least)
{
	for (uint32_t i = 0; i < n; i++)
		if (y[i] > least)
			least = y[i];
	return least;
}

static void save(const struct cli_sim *j, const char *suffix,
		 const struct plot *p)
{
	char *path;

	if (asprintf(&path, "%s%s", j->svg, suffix) < 0)
		cli_die("out of memory for a path");
	cli_write(path, write_plot, p);
	free(path);
}

/* Plots Gbit/s delivered and lost over time, as means over the runs. */
static void series(const struct cli_sim *j, double *x)
{
	uint32_t n = j->conf.n_series;
	double *y = x + n, *y2 = y + n;
	double us = (double)(j->conf.warm_ps + j->conf.run_ps) / 1e6;
	struct plot p = {
		.title = "throughput over time", .x_label = "time, us",
		.y_label = "Gbit/s", .x_max = us, .n = n, .x = x, .y = { y, y2 },
		.name = { "delivered", "lost" },
	};

	for (uint32_t i = 0; i < n; i++) {
		uint64_t bytes = 0, lost = 0;

		for (uint32_t k = 0; k < j->conf.runs; k++) {
			bytes += j->result[k].series[i].bytes;
			lost += j->result[k].series[i].lost * j->conf.bytes;
		}
		x[i] = us * (i + 0.5) / n;
		y[i] = (double)bytes * 8 / (us / n) / 1e3 / j->conf.runs;
		y2[i] = (double)lost * 8 / (us / n) / 1e3 / j->conf.runs;
	}
	p.y_max = greatest(y2, n, greatest(y, n, 1e-3)) * 1.05;
	save(j, "-series.svg", &p);
}

/* Plots the percentiles of the latency in the first run. */
static void latency(const struct cli_sim *j, double *x)
{
	double *y = x + 1001;
	struct plot p = {
		.title = "latency of hosts' packets, first run",
		.x_label = "percent of packets with this latency or less",
		.y_label = "ns", .x_max = 100, .n = 1000, .x = x, .y = { y },
		.name = { "since the packet was created" },
	};

	for (uint32_t i = 0; i < 1000; i++) {
		x[i] = i / 10.0;
		y[i] = (double)ftr_sim_percentile(&j->result[0].host.total,
						  i / 1000.0) / 1e3;
	}
	p.y_max = greatest(y, 1000, 1) * 1.05;
	save(j, "-latency.svg", &p);
}

static int falling(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Plots the utilisation of the links between switches in the first run, highest first. */
static void links(const struct cli_sim *j, double *x)
{
	const struct ftr_sim_result *r = &j->result[0];
	double s = (double)(r->end_ps - j->conf.warm_ps);
	double *y = x + r->n_channels;
	uint32_t n = 0;
	struct plot p = {
		.title = "use of links between switches, first run",
		.x_label = "links, most used first", .y_label = "percent",
		.y_max = 100, .x = x, .y = { y }, .name = { "busy" },
	};

	for (uint32_t i = 0; i < r->n_channels; i++) {
		const struct ftr_sim_channel_use *c = &r->channel[i];

		if (r->end_ps <= j->conf.warm_ps ||
		    !cli_sim_between_switches(j, c))
			continue;
		x[n] = n + 1;
		y[n++] = 100 * (double)c->busy_ps / s;
	}
	qsort(y, n, sizeof(*y), falling);
	p.n = n;
	p.x_max = n;
	save(j, "-links.svg", &p);
}

void cli_sim_svg(const struct cli_sim *j)
{
	size_t n = 2002 + 3 * (size_t)j->conf.n_series +
		   2 * (size_t)j->result[0].n_channels;
	double *x = cli_calloc(n, sizeof(*x), "plots");

	cli_write_begin();
	if (j->conf.n_series)
		series(j, x);
	latency(j, x);
	links(j, x);
	cli_write_end();
	free(x);
}
