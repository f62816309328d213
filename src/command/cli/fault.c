// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Faults given on the command line, and the fabric with these faults.
 *
 *	"sw-1-3"[20]  0x0002c903000a1b2c[20]  S-0002c903000a1b2c[20]
 *			the link at that port, to a switch or to a host
 *	sw-2-0  0x0002c903000a1b2c  S-0002c903000a1b2c
 *			a whole switch
 *	5links  2%links  3switches  10%switches
 *			random faults: links between switches, or switches without
 *			hosts; drawn after the named faults are applied
 *
 * The rules for names are in find.c.  A host whose link or switch fails stays in the
 * fabric without a link, so that the checker counts its unreachable pairs.  An
 * Aggregation Node is removed with its switch.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/whatif.h"

/* ---- parsing ----------------------------------------------------------- */

static bool is_plural(const char *s, const char *one)
{
	size_t n = strlen(one);

	return !strncmp(s, one, n) &&
	       (!s[n] || !strcmp(s + n, "s") || !strcmp(s + n, "es"));
}

/* Returns the number of switches without hosts.  These are the switches that ftr_gen_damage may
 * remove. */
static uint32_t count_removable(const struct ftr_fabric *f)
{
	uint8_t *host = cli_calloc(f->n_sw, 1, "%u switches", f->n_sw);
	uint32_t n = 0;

	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE && !ftr_ep_is_aggregation(&f->ep[e]))
			host[f->ep[e].sw] = 1;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		n += !host[s];
	free(host);
	return n;
}

/* Parses "5links", "2.5%links", "3switches", "10%switches"; returns -1 if spec has another form.
 * A percentage above 0 selects at least one link or switch. */
static int parse_random(const struct ftr_fabric *f, const char *spec,
			struct cli_faults *z, struct ftr_err *err)
{
	bool links, percent;
	char *end;
	double x;

	if (*spec < '0' || *spec > '9' || spec[1] == 'x')
		return -1;
	x = strtod(spec, &end);
	percent = *end == '%';
	end += percent;
	links = is_plural(end, "link");
	if (!links && !is_plural(end, "switch"))
		return -1;
	if (percent && x > 100)
		return ftr_fail(err, FTR_INVAL, "more than 100 percent");
	if (percent && x > 0)
		x = fmax(1, round(x / 100 * (links ? f->n_sw_links : count_removable(f))));
	if (x != floor(x) || x > UINT16_MAX)
		return ftr_fail(err, FTR_INVAL, "not a whole number up to %u", UINT16_MAX);
	*(links ? &z->links : &z->switches) += (uint32_t)x;
	return FTR_OK;
}

/* Marks a switch or a link that is given by name. */
static enum ftr_status parse_named(const struct ftr_fabric *f, const char *word,
				   struct cli_faults *z, struct ftr_err *err)
{
	const struct ftr_swport *p;
	unsigned int port = 0;
	ftr_sw s = 0;
	enum ftr_status st = cli_find_part(f, word, &s, &port, err);

	if (st)
		return st;
	z->named = true;
	if (!port) {
		z->dead_sw[s] = 1;
		return FTR_OK;
	}
	p = ftr_fabric_port(f, s, port);
	z->dead_port[f->sw[s].first_port + port] = 1;
	if (p->peer_kind == FTR_PEER_SW)
		z->dead_port[f->sw[p->peer].first_port + p->peer_port] = 1;
	return FTR_OK;
}

struct cli_faults cli_faults_parse(const struct ftr_fabric *f, const char *option,
				   const struct cli_list *specs)
{
	struct cli_faults z = {
		.dead_sw = cli_calloc(f->n_sw, 1, "faults"),
		.dead_port = cli_calloc(f->n_ports, 1, "faults"),
	};
	int bad;

	for (unsigned int i = 0; i < specs->n; i++) {
		bad = parse_random(f, specs->v[i], &z, &cli_err);
		if (bad > 0 || (bad && parse_named(f, specs->v[i], &z, &cli_err)))
			cli_die("--%s %s: %s", option, specs->v[i], cli_err.msg);
	}
	return z;
}

void cli_faults_free(struct cli_faults *z)
{
	free(z->dead_sw);
	free(z->dead_port);
	z->dead_sw = z->dead_port = NULL;
}

/* ---- the damaged fabric ------------------------------------------------ */

static bool keep_sw(void *ctx, const struct ftr_fabric *f, ftr_sw s)
{
	(void)f;
	return !((const struct cli_faults *)ctx)->dead_sw[s];
}

static bool keep_ep(void *ctx, const struct ftr_fabric *f, ftr_ep e)
{
	const struct ftr_endport *p = &f->ep[e];

	return p->sw == FTR_SW_NONE || !ftr_ep_is_aggregation(p) ||
	       keep_sw(ctx, f, p->sw);
}

static bool keep_link(void *ctx, const struct ftr_fabric *f, ftr_sw s, ftr_port p)
{
	const struct cli_faults *z = ctx;

	return !z->dead_port[f->sw[s].first_port + p];
}

static bool keep_ep_link(void *ctx, const struct ftr_fabric *f, ftr_ep e)
{
	return keep_link(ctx, f, f->ep[e].sw, f->ep[e].sw_port);
}

struct ftr_fabric *cli_faults_apply(const struct ftr_fabric *f,
				    const struct cli_faults *z, uint64_t seed)
{
	const struct ftr_damage d = {
		.seed = seed, .links = z->links, .switches = z->switches,
	};
	const struct ftr_filter filter = {
		keep_sw, keep_ep, keep_link, (void *)(uintptr_t)z, keep_ep_link,
	};
	struct ftr_fabric *named = NULL, *out = NULL;

	if (z->named || (!d.links && !d.switches))
		cli_must(ftr_fabric_copy_if(f, &filter, &named, &cli_err));
	if (named && !named->n_sw && f->n_sw)
		cli_die("--fail: no switch is left");
	if (!d.links && !d.switches)
		return named;
	if (ftr_gen_damage(named ? named : f, &d, &out, &cli_err))
		cli_die("--fail: %s", cli_err.msg);
	ftr_fabric_free(named);
	return out;
}
