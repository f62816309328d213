// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Marks switches, host ports and links that differ from others of the same kind.
 *
 * A difference need not be an error: a fabric may be built that way.  Switches and links are
 * compared with the most frequent value of their kind, if at least half of the kind have this
 * value.
 */
#include <string.h>

#include "picture/picture.h"

#define WIDTHS 13

unsigned int ftr_link_gbps(unsigned int width, enum ftr_speed speed)
{
	/* Nominal Gbit/s of a 4x link */
	static const unsigned int four[FTR_SPEED_END] = {
		[FTR_SPEED_SDR] = 10, [FTR_SPEED_DDR] = 20,
		[FTR_SPEED_QDR] = 40, [FTR_SPEED_FDR10] = 40,
		[FTR_SPEED_FDR] = 56, [FTR_SPEED_EDR] = 100,
		[FTR_SPEED_HDR] = 200, [FTR_SPEED_NDR] = 400,
		[FTR_SPEED_XDR] = 800,
	};

	return (unsigned int)speed < FTR_SPEED_END ?
		four[speed] * width / 4 : 0;
}

/* ---- links --------------------------------------------------------------- */

/* Returns the kind of a link.  Links between switches are of the same kind if their lower ends have
 * the same rank.  Links to host ports are of the same kind if their switches have the same rank. */
static uint32_t kind_of(const struct drawing *z, ftr_sw s,
			const struct ftr_swport *p)
{
	const uint8_t *rank = z->sh->tree.rank;

	if (p->peer_kind == FTR_PEER_EP)
		return z->sh->tree.n_ranks + rank[s];
	return FTR_MIN(rank[s], rank[p->peer]);
}

static uint32_t value_of(const struct ftr_swport *p)
{
	return FTR_MIN(p->width, WIDTHS - 1u) * FTR_SPEED_END + p->speed;
}

/* Returns true if the speed of the link at p is compared with that of others.  The port of an
 * Aggregation Node is inside a switch, so it has no link speed. */
static bool counts(const struct drawing *z, const struct ftr_swport *p)
{
	if (p->peer_kind == FTR_PEER_NONE || !ftr_link_gbps(p->width, p->speed))
		return false;
	return p->peer_kind == FTR_PEER_SW ||
		!ftr_ep_is_aggregation(&z->f->ep[p->peer]);
}

static void mark_slow(struct drawing *z, const uint32_t *most, uint8_t *slow)
{
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		for (unsigned int i = 1; i <= z->f->sw[s].n_ports; i++) {
			const struct ftr_swport *p =
				ftr_fabric_port(z->f, s, i);

			slow[z->f->sw[s].first_port + i] = counts(z, p) &&
				ftr_link_gbps(p->width, p->speed) <
				most[kind_of(z, s, p)];
		}
}

static bool slow_links(struct drawing *z)
{
	const uint32_t kinds = 2 * z->sh->tree.n_ranks;
	const uint32_t values = WIDTHS * FTR_SPEED_END;
	uint32_t (*seen)[WIDTHS * FTR_SPEED_END] =
		ftr_arena_zalloc(z->scratch, kinds, sizeof(*seen));
	uint32_t *most = ftr_arena_zalloc(z->scratch, kinds, sizeof(*most));
	uint8_t *slow = ftr_arena_zalloc(z->keep, z->f->n_ports, 1);

	if (!seen || !most || !slow)
		return false;
	for (ftr_sw s = 0; s < z->f->n_sw; s++)
		for (unsigned int i = 1; i <= z->f->sw[s].n_ports; i++) {
			const struct ftr_swport *p =
				ftr_fabric_port(z->f, s, i);

			if (counts(z, p))
				seen[kind_of(z, s, p)][value_of(p)]++;
		}
	for (uint32_t k = 0; k < kinds; k++) {
		uint32_t best = 0, all = 0;

		for (uint32_t v = 0; v < values; v++) {
			all += seen[k][v];
			if (seen[k][v] > seen[k][best])
				best = v;
		}
		if (2 * seen[k][best] >= all)
			most[k] = ftr_link_gbps(best / FTR_SPEED_END,
						best % FTR_SPEED_END);
	}
	mark_slow(z, most, slow);
	z->p->slow = slow;
	return true;
}

/* ---- switches ------------------------------------------------------------ */

/* Returns the pod of the next rank above s.  Switches of one rank below the same pod should have
 * the same number of upward links. */
static uint32_t peers_of(const struct drawing *z, ftr_sw s)
{
	uint32_t r = z->sh->tree.rank[s] + 1u, pod = z->pod_of[s];

	if (pod == FTR_POD_NONE || r >= z->sh->tree.n_ranks)
		return FTR_POD_NONE;
	return z->p->pod_at[(size_t)r * z->p->n_cols + z->pod[pod].pod_first];
}

/* For each switch s of rank r, set mode[s] to the most frequent number of upward links among the
 * switches of rank r below the same pod.  Stubs are not counted.  If several numbers are equally
 * frequent, the greatest is taken.  If fewer than half of these switches have it, mode[s] is 0. */
static void mode_up(struct drawing *z, uint32_t r, const uint32_t *n_up,
		    uint32_t *mode, uint32_t (*seen)[FTR_PORT_MAX + 2])
{
	const uint32_t n = z->f->n_sw;

	memset(seen, 0, z->p->n_pods * sizeof(*seen));
	for (ftr_sw s = 0; s < n; s++) {
		uint32_t pod = peers_of(z, s);

		if (z->sh->tree.rank[s] != r || pod == FTR_POD_NONE ||
		    z->sh->tree.stub[s])
			continue;
		seen[pod][n_up[s]]++;
		seen[pod][FTR_PORT_MAX + 1]++;
	}
	for (ftr_sw s = 0; s < n; s++) {
		uint32_t pod = peers_of(z, s), best = 0;

		if (z->sh->tree.rank[s] != r || pod == FTR_POD_NONE)
			continue;
		for (uint32_t v = 0; v <= FTR_PORT_MAX; v++)
			if (seen[pod][v] >= seen[pod][best])
				best = v;
		mode[s] = 2 * seen[pod][best] >= seen[pod][FTR_PORT_MAX + 1] ?
			best : 0;
	}
}

static uint8_t odd_links(const struct ftr_shape *sh, ftr_sw s)
{
	uint8_t odd = 0;

	for (uint32_t g = sh->tree.group_first[s]; g < sh->tree.group_first[s + 1]; g++) {
		int up = sh->tree.rank[sh->tree.groups[g].remote] - sh->tree.rank[s];

		if (!up)
			odd |= FTR_ODD_HORIZONTAL;
		else if (up > 1)
			odd |= FTR_ODD_SKIP;
	}
	return odd;
}

static bool odd_switches(struct drawing *z)
{
	const uint32_t n = z->f->n_sw;
	uint8_t *odd = ftr_arena_zalloc(z->keep, n, 1);
	uint32_t *n_up = ftr_arena_zalloc(z->keep, n, sizeof(*n_up));
	uint32_t *mode = ftr_arena_zalloc(z->keep, n, sizeof(*mode));
	uint32_t (*seen)[FTR_PORT_MAX + 2] =
		ftr_arena_alloc(z->scratch, z->p->n_pods + 1u, sizeof(*seen));

	if (!odd || !n_up || !mode || !seen)
		return false;
	for (ftr_sw s = 0; s < n; s++)
		n_up[s] = picture_links_up(z->sh, s);
	for (uint32_t r = 0; r + 1 < z->sh->tree.n_ranks; r++)
		mode_up(z, r, n_up, mode, seen);
	for (ftr_sw s = 0; s < n; s++) {
		odd[s] = odd_links(z->sh, s);
		if (z->sh->tree.stub[s])
			odd[s] |= FTR_ODD_STUB;
		else if (n_up[s] < mode[s])
			odd[s] |= FTR_ODD_FEW_UP;
	}
	z->p->odd_sw = odd;
	z->p->n_up = n_up;
	z->p->mode_up = mode;
	return true;
}

/* ---- host ports ---------------------------------------------------------- */

static bool odd_ends(struct drawing *z)
{
	uint8_t *odd = ftr_arena_zalloc(z->keep, z->f->n_ep, 1);

	if (!odd)
		return false;
	for (ftr_ep e = 0; e < z->f->n_ep; e++) {
		const struct ftr_endport *p = &z->f->ep[e];

		if (p->sw == FTR_SW_NONE)
			odd[e] = FTR_ODD_NO_LINK;
		else if (!ftr_ep_is_aggregation(p) &&
			 z->sh->numbering.col[p->sw] >= z->sh->tree.n_leaf)
			odd[e] = FTR_ODD_NOT_ON_LEAF;
	}
	z->p->odd_ep = odd;
	return true;
}

bool picture_odd(struct drawing *z)
{
	return slow_links(z) && odd_switches(z) && odd_ends(z);
}
