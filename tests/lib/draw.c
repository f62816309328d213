// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/draw.h"

#define MAX_SW 320
#define PORTS 200

struct drawing {
	char name[MAX_SW][FTR_NAME_MAX];
	unsigned int n_sw;
	unsigned int used[MAX_SW];
	uint64_t next_host;
	struct ftr_builder *b;
	struct ftr_err err;
};

static void die(const char *what, const char *value)
{
	fprintf(stderr, "draw: %s: %s\n", what, value);
	abort();
}

static unsigned int find(const struct drawing *d, const char *name)
{
	for (unsigned int i = 0; i < d->n_sw; i++)
		if (!strcmp(d->name[i], name))
			return i;
	die("no such switch", name);
	return 0;
}

static uint64_t guid_of(unsigned int i)
{
	return (uint64_t)(i + 1) << 16;
}

static void must(struct drawing *d, enum ftr_status st)
{
	if (st)
		die("refused", d->err.msg);
}

static void plug_host(struct drawing *d, unsigned int s,
		      enum ftr_node_type type, const char *name)
{
	uint64_t guid = ((uint64_t)1 << 40) + (++d->next_host << 8);
	struct ftr_end a = { guid_of(s), (ftr_port)++d->used[s] };
	struct ftr_end z = { guid, 1 };

	must(d, ftr_builder_add_endport(d->b, &(struct ftr_endport){
		.type = type, .node_guid = guid, .guid = guid + 1, .port_num = 1, .name = name,
	}, &d->err));
	must(d, ftr_builder_add_link(d->b, a, z, 4, FTR_SPEED_EDR, &d->err));
}

static void word(struct drawing *d, unsigned int s, char *w)
{
	char *star = strchr(w, '*');
	unsigned int n = 1, t;

	if (w[0] == 'h' && strspn(w + 1, "0123456789") == strlen(w + 1)) {
		for (n = (unsigned int)atoi(w + 1); n > 0; n--) {
			char name[FTR_NAME_MAX];

			snprintf(name, sizeof(name), "host%" PRIu64,
				 d->next_host);
			plug_host(d, s, FTR_NODE_CA, name);
		}
		return;
	}
	if (!strcmp(w, "an")) {
		plug_host(d, s, FTR_NODE_CA,
			  "Mellanox Technologies Aggregation Node");
		return;
	}
	if (!strcmp(w, "rt")) {
		plug_host(d, s, FTR_NODE_ROUTER, "router");
		return;
	}
	if (star) {
		*star = '\0';
		n = (unsigned int)atoi(star + 1);
	}
	for (t = find(d, w); n > 0; n--) {
		struct ftr_end a = { guid_of(s), (ftr_port)++d->used[s] };
		struct ftr_end z = { guid_of(t), (ftr_port)++d->used[t] };

		must(d, ftr_builder_add_link(d->b, a, z, 4, FTR_SPEED_EDR,
					     &d->err));
	}
}

struct ftr_fabric *draw_lmc(const char *text, unsigned int lmc)
{
	struct drawing d = { .b = ftr_builder_new() };
	struct ftr_fabric *f;
	char *copy = strdup(text), *line, *save, *wsave, *w;

	for (line = strtok_r(copy, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		size_t len = strcspn(line, ":");

		if (len >= FTR_NAME_MAX || d.n_sw == MAX_SW)
			die("too long", line);
		memcpy(d.name[d.n_sw], line, len);
		must(&d, ftr_builder_add_switch(d.b, &(struct ftr_switch){
			.guid = guid_of(d.n_sw), .n_ports = PORTS, .name = d.name[d.n_sw],
		}, &d.err));
		d.n_sw++;
	}
	strcpy(copy, text);
	line = strtok_r(copy, "\n", &save);
	for (unsigned int s = 0; line;
	     line = strtok_r(NULL, "\n", &save), s++) {
		line = strchr(line, ':') + 1;
		for (w = strtok_r(line, " ", &wsave); w;
		     w = strtok_r(NULL, " ", &wsave))
			word(&d, s, w);
	}
	free(copy);
	must(&d, ftr_builder_assign_lids(d.b, lmc, &d.err));
	must(&d, ftr_builder_freeze(d.b, &f, &d.err));
	return f;
}

struct ftr_fabric *draw(const char *text)
{
	return draw_lmc(text, 0);
}

ftr_sw draw_sw(const struct ftr_fabric *f, const char *name)
{
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (!strcmp(f->sw[s].name, name))
			return s;
	die("no such switch in the fabric", name);
	return FTR_SW_NONE;
}

ftr_ep draw_host(const struct ftr_fabric *f, const char *name, unsigned int i)
{
	ftr_sw s = draw_sw(f, name);

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(f, s, (ftr_port)p);

		if (port->peer_kind == FTR_PEER_EP && i-- == 0)
			return port->peer;
	}
	die("not that many hosts on", name);
	return FTR_EP_NONE;
}

struct cut {
	ftr_sw a, b;
	unsigned int i;
};

static bool keep_link(void *ctx, const struct ftr_fabric *f, ftr_sw s,
		      ftr_port p)
{
	struct cut *c = ctx;
	ftr_sw t = ftr_fabric_port(f, s, p)->peer;

	if ((s == c->a && t == c->b) || (s == c->b && t == c->a))
		return c->i-- != 0;
	return true;
}

struct ftr_fabric *draw_cut(const struct ftr_fabric *f, const char *a,
			    const char *b, unsigned int i)
{
	struct cut c = { draw_sw(f, a), draw_sw(f, b), i };
	struct ftr_filter filter = { .keep_link = keep_link, .ctx = &c };
	struct ftr_fabric *out;
	struct ftr_err err = { 0 };

	if (ftr_fabric_copy_if(f, &filter, &out, &err))
		die("cannot cut", err.msg);
	return out;
}
