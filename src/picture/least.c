// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lower bounds on the load of the links of each pod under a traffic pattern.  Flows that leave or
 * enter a pod must cross a link between two sets of switches: those of the pod and below it, and
 * all others.  Horizontal links and links that skip a rank are counted, too, so the bounds hold for
 * any tables.
 */
#include <string.h>

#include "picture/picture.h"

/* Returns the pod of rank r that contains s or is above s, or FTR_POD_NONE. */
static uint32_t pod_over(const struct ftr_picture *p, ftr_sw s, uint32_t r)
{
	uint32_t own = p->pod_of[s];

	if (own == FTR_POD_NONE || r < p->pod[own].rank)
		return FTR_POD_NONE;
	return p->pod_at[(size_t)r * p->n_cols + p->pod[own].pod_first];
}

/* Count a link or a flow from a to b.  Add 1 to out[] of each pod that it leaves, and to in[] of
 * each pod that it enters. */
static void count(const struct ftr_picture *p, ftr_sw a, ftr_sw b, uint64_t *out, uint64_t *in)
{
	for (uint32_t r = 0; r < p->n_ranks; r++) {
		uint32_t x = pod_over(p, a, r), y = pod_over(p, b, r);

		if (x == y)
			continue;
		if (x != FTR_POD_NONE)
			out[x]++;
		if (y != FTR_POD_NONE)
			in[y]++;
	}
}

bool picture_links_out(struct drawing *z)
{
	uint64_t *n = ftr_arena_zalloc(z->scratch, z->p->n_pods + 1u, sizeof(*n));

	if (!n)
		return false;
	/* every link is found twice, once from each end */
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		for (unsigned int q = 1; q <= z->f->sw[s].n_ports; q++) {
			const struct ftr_swport *port = ftr_fabric_port(z->f, s, (ftr_port)q);

			if (port->peer_kind == FTR_PEER_SW)
				count(z->p, s, port->peer, n, n);
		}
	for (uint32_t i = 0; i < z->p->n_pods; i++)
		z->pod[i].links_out = (uint32_t)(n[i] / 2);
	return true;
}

void ftr_picture_cross(const struct ftr_picture *p, const struct ftr_fabric *f,
		       ftr_ep from, ftr_ep to, uint64_t *out, uint64_t *in)
{
	if (f->ep[from].sw != FTR_SW_NONE && f->ep[to].sw != FTR_SW_NONE)
		count(p, f->ep[from].sw, f->ep[to].sw, out, in);
}

/* out[] is first used to count the host ports on and below each pod. */
void ftr_picture_cross_all(const struct ftr_picture *p,
			   const struct ftr_fabric *f, const ftr_ep *ep,
			   uint32_t n, uint64_t *out, uint64_t *in)
{
	uint64_t all = 0;

	memset(out, 0, p->n_pods * sizeof(*out));
	for (uint32_t i = 0; i < n; i++) {
		ftr_sw s = ep[i] == FTR_EP_NONE ? FTR_SW_NONE : f->ep[ep[i]].sw;

		all += s != FTR_SW_NONE;
		for (uint32_t r = 0; s != FTR_SW_NONE && r < p->n_ranks; r++) {
			uint32_t pod = pod_over(p, s, r);

			if (pod != FTR_POD_NONE)
				out[pod]++;
		}
	}
	for (uint32_t i = 0; i < p->n_pods; i++)
		out[i] = in[i] = out[i] * (all - out[i]);
}
