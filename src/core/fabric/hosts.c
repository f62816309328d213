// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Hosts by name, and their rails.
 *
 * Nearly all adapters of a cluster have one of a few devices, so the rails are found by one sort of
 * all ports.  A table of all hosts and rails would be simpler, but node descriptions are not
 * trusted: if every adapter had a device of its own, its size would be the square of their number.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/search.h"
#include <ftr/hosts.h>

#define WORD_MAX 256

struct named {
	const char *name, *device;
	const struct ftr_endport *e;
	ftr_ep ep;
	uint32_t copy;		/* number of ports before this one with the same name, device and
				 * port number */
};

static int by_device(const struct named *a, const struct named *b)
{
	return strverscmp(a->device, b->device) ?: FTR_ORDER(a->e->port_num, b->e->port_num);
}

static int by_name(const void *x, const void *y)
{
	const struct named *a = x, *b = y;

	return ftr_natural_cmp(a->name, b->name) ?: by_device(a, b) ?:
	       FTR_ORDER(a->e->guid, b->e->guid);
}

static int by_rail(const void *x, const void *y)
{
	const struct named *a = x, *b = y;

	return by_device(a, b) ?: FTR_ORDER(a->copy, b->copy);
}

static uint32_t collect(const struct ftr_fabric *f, bool full,
			struct ftr_hosts *h, struct named *to, bool *ok)
{
	char buf[FTR_NAME_MAX + 1];
	uint32_t n = 0;

	for (ftr_ep e = 0; e < f->n_ep; e++) {
		const struct ftr_endport *p = &f->ep[e];
		const char *space = strrchr(p->name, ' ');

		if (p->type != FTR_NODE_CA || p->sw == FTR_SW_NONE ||
		    ftr_ep_is_aggregation(p))
			continue;
		ftr_ep_host(p, full, buf);
		if (!buf[0]) {
			h->n_nameless++;
			continue;
		}
		to[n] = (struct named){
			.name = ftr_arena_strndup(h->arena, buf, FTR_NAME_MAX),
			.device = space ? space + 1 : "", .e = p, .ep = e,
		};
		if (!to[n++].name)
			*ok = false;
	}
	return n;
}

enum ftr_status ftr_hosts_new(const struct ftr_fabric *f, bool full_names,
			      struct ftr_hosts **out, struct ftr_err *err)
{
	struct ftr_arena *a = ftr_arena_new();
	struct ftr_hosts *h = a ? ftr_arena_zalloc(a, 1, sizeof(*h)) : NULL;
	struct named *at = ftr_calloc((size_t)f->n_ep + 1, sizeof(*at));
	struct ftr_host *host = h ? ftr_arena_zalloc(a, f->n_ep + 1u,
						     sizeof(*host)) : NULL;
	ftr_ep *ep = h ? ftr_arena_alloc(a, f->n_ep + 1u, sizeof(*ep)) : NULL;
	uint32_t *rail = h ? ftr_arena_alloc(a, f->n_ep + 1u, sizeof(*rail)) : NULL;
	bool ok = at && host && ep && rail;
	uint32_t n = 0;

	if (ok) {
		h->arena = a;
		n = collect(f, full_names, h, at, &ok);
	}
	if (!ok) {
		free(at);
		ftr_arena_free(a);
		return ftr_nomem(err, "the names of %u host ports", f->n_ep);
	}
	qsort(at, n, sizeof(*at), by_name);
	for (uint32_t i = 0; i < n; i++) {
		bool same = i && !strcmp(at[i].name, at[i - 1].name);

		if (!same)
			host[h->n++] = (struct ftr_host){ at[i].name, i, 0 };
		else if (!by_device(&at[i - 1], &at[i]))
			at[i].copy = at[i - 1].copy + 1;
		host[h->n - 1].n++;
		ep[i] = at[i].ep;
	}
	memset(rail, 0xff, f->n_ep * sizeof(*rail));
	qsort(at, n, sizeof(*at), by_rail);
	for (uint32_t i = 0; i < n; i++) {
		h->n_rails += !i || by_rail(&at[i - 1], &at[i]);
		rail[at[i].ep] = h->n_rails - 1;
	}
	h->host = host;
	h->n_ep = n;
	h->ep = ep;
	h->rail = rail;
	free(at);
	*out = h;
	return FTR_OK;
}

void ftr_hosts_free(struct ftr_hosts *h)
{
	if (h)
		ftr_arena_free(h->arena);
}

/* ---- rails of leaves ------------------------------------------------------- */

enum ftr_status ftr_hosts_leaf_rails(const struct ftr_fabric *f, const struct ftr_hosts *h,
				     uint32_t *leaf, bool *by_rails, struct ftr_err *err)
{
	uint32_t n = h->n_ep, right = 0, most = 0, first = FTR_RAIL_NONE;
	uint64_t *at = ftr_calloc(n + 1u, sizeof(*at));	/* the switch and the rail of each */
	bool several = false;

	if (!at)
		return ftr_nomem(err, "the rails of %u host ports", n);
	for (uint32_t i = 0; i < n; i++)
		at[i] = (uint64_t)f->ep[h->ep[i]].sw << 32 | h->rail[h->ep[i]];
	qsort(at, n, sizeof(*at), ftr_u64_cmp);
	memset(leaf, 0xff, f->n_sw * sizeof(*leaf));
	for (uint32_t i = 0, same = 0; i < n; i++) {
		same = i && at[i - 1] == at[i] ? same + 1 : 1;
		if (!i || at[i] >> 32 != at[i - 1] >> 32)
			most = 0;
		if (same <= most)
			continue;
		most = same;
		right++;	/* the sum of `most` over all switches */
		leaf[at[i] >> 32] = (uint32_t)at[i];
	}
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		if (leaf[s] != FTR_RAIL_NONE && first == FTR_RAIL_NONE)
			first = leaf[s];
		several |= leaf[s] != FTR_RAIL_NONE && leaf[s] != first;
	}
	*by_rails = several && n >= 2 * (uint64_t)h->n && 4 * (uint64_t)right >= 3 * (uint64_t)n;
	free(at);
	return FTR_OK;
}

/* ---- find ------------------------------------------------------------------- */

static uint32_t find(const struct ftr_hosts *h, const char *name)
{
	uint32_t i;

	FTR_LOWER_BOUND(i, h->n, ftr_natural_cmp(h->host[i].name, name) < 0);
	return i < h->n && !ftr_natural_cmp(h->host[i].name, name) ?
		i : FTR_HOST_NONE;
}

/* Returns the host with this name. If there is none, returns the host whose name is the part of
 * `name` before the first dot. */
uint32_t ftr_hosts_find(const struct ftr_hosts *h, const char *name)
{
	char buf[WORD_MAX];
	uint32_t at = find(h, name);

	if (at != FTR_HOST_NONE || !strchr(name, '.') || strlen(name) >= WORD_MAX)
		return at;
	snprintf(buf, sizeof(buf), "%s", name);
	buf[strcspn(buf, ".")] = '\0';
	return find(h, buf);
}
