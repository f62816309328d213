// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the rails of adapters by their names (see rails.h).
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/rails.h"

/* What identifies a rail: device, port number, and number among the ports of the host that have
 * both in common. */
struct key {
	const char *device;
	ftr_port port;
	uint32_t copy;
	uint64_t guid;
	uint32_t host;
	ftr_ep ep;
};

static int by_device(const struct key *a, const struct key *b)
{
	return strverscmp(a->device, b->device) ?: FTR_ORDER(a->port, b->port);
}

static int in_host(const void *x, const void *y)
{
	const struct key *a = x, *b = y;

	return by_device(a, b) ?: FTR_ORDER(a->guid, b->guid);
}

static int by_rail(const void *x, const void *y)
{
	const struct key *a = x, *b = y;

	return by_device(a, b) ?: FTR_ORDER(a->copy, b->copy) ?: FTR_ORDER(a->host, b->host);
}

static struct key *keys_of(const struct ftr_fabric *f, const struct ftr_hosts *h, uint32_t *n)
{
	struct key *key = cli_calloc(f->n_ep, sizeof(*key), "rails");

	*n = 0;
	for (uint32_t i = 0; i < h->n; i++) {
		struct key *first = key + *n;

		for (uint32_t k = 0; k < h->host[i].n; k++) {
			ftr_ep e = h->ep[h->host[i].first + k];
			const char *space = strrchr(f->ep[e].name, ' ');

			key[(*n)++] = (struct key){
				.device = space ? space + 1 : "", .port = f->ep[e].port_num,
				.guid = f->ep[e].guid, .host = i, .ep = e,
			};
		}
		qsort(first, h->host[i].n, sizeof(*first), in_host);
		for (uint32_t k = 1; k < h->host[i].n; k++)
			if (!by_device(&first[k - 1], &first[k]))
				first[k].copy = first[k - 1].copy + 1;
	}
	return key;
}

struct cli_rails cli_rails_new(const struct ftr_fabric *f)
{
	struct cli_rails r = { .h = NULL };
	struct key *key;
	uint32_t n;

	cli_must(ftr_hosts_new(f, false, &r.h, &cli_err));
	key = keys_of(f, r.h, &n);
	qsort(key, n, sizeof(*key), by_rail);
	/* the member `copy` is now replaced by the number of the rail */
	for (uint32_t i = 0, copy = 0; i < n; i++) {
		bool same = i && !by_device(&key[i - 1], &key[i]) && key[i].copy == copy;

		copy = key[i].copy;
		r.n += !same;
		key[i].copy = r.n - 1;
	}
	r.rail = cli_calloc((size_t)r.h->n * r.n, sizeof(*r.rail), "rails");
	memset(r.rail, 0xff, (size_t)r.h->n * r.n * sizeof(*r.rail));
	for (uint32_t i = 0; i < n; i++)
		r.rail[(size_t)key[i].host * r.n + key[i].copy] = key[i].ep;
	free(key);
	return r;
}

void cli_rails_free(struct cli_rails *r)
{
	ftr_hosts_free(r->h);
	free(r->rail);
}
