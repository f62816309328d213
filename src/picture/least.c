// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Lower bounds on the link load of a traffic pattern: the flows that leave and enter a pod share
 * the links between the pod's switches and higher ranks.  This holds for any tables, except if
 * horizontal links, or links of lower switches that skip the rank of the pod, lead out of the pod:
 * such links are not counted.
 */
#include <string.h>

#include "picture/picture.h"

/* The only leaf column of the pod of s: the column of s if s is a leaf, otherwise that of the
 * single leaf below s. UINT32_MAX if there is no such leaf, or more than one. */
static uint32_t column(const struct ftr_picture *p, ftr_sw s)
{
	uint32_t pod = p->pod_of[s];

	if (pod == FTR_POD_NONE || p->pod[pod].pod_leaves != 1)
		return UINT32_MAX;
	return p->pod[pod].pod_first;
}

void ftr_picture_cross(const struct ftr_picture *p, const struct ftr_fabric *f,
		       ftr_ep from, ftr_ep to, uint64_t *out, uint64_t *in)
{
	uint32_t a, b, n = p->n_ranks;

	if (f->ep[from].sw == FTR_SW_NONE || f->ep[to].sw == FTR_SW_NONE)
		return;
	a = column(p, f->ep[from].sw);
	b = column(p, f->ep[to].sw);
	for (uint32_t r = 0; a != UINT32_MAX && b != UINT32_MAX && r < n; r++) {
		uint32_t x = p->pod_at[(size_t)r * p->n_cols + a];
		uint32_t y = p->pod_at[(size_t)r * p->n_cols + b];

		if (x == y)
			continue;
		if (x != FTR_POD_NONE)
			out[x]++;
		if (y != FTR_POD_NONE)
			in[y]++;
	}
}

/* out[] is first used to count the host ports below each pod. */
void ftr_picture_cross_all(const struct ftr_picture *p,
			   const struct ftr_fabric *f, const ftr_ep *ep,
			   uint32_t n, uint64_t *out, uint64_t *in)
{
	uint64_t all = 0;

	memset(out, 0, p->n_pods * sizeof(*out));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t c = ep[i] == FTR_EP_NONE ||
			f->ep[ep[i]].sw == FTR_SW_NONE ? UINT32_MAX :
			column(p, f->ep[ep[i]].sw);

		all += c != UINT32_MAX;
		for (uint32_t r = 0; c != UINT32_MAX && r < p->n_ranks; r++) {
			uint32_t pod = p->pod_at[(size_t)r * p->n_cols + c];

			if (pod != FTR_POD_NONE)
				out[pod]++;
		}
	}
	for (uint32_t i = 0; i < p->n_pods; i++)
		out[i] = in[i] = out[i] * (all - out[i]);
}
