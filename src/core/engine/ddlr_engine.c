// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Engine ddlr: the tables of engine sftree, and SL2VL tables for local repairs.
 *
 * After a fault, a few entries are repaired by deterministic dynamic local rerouting (Sem-Jacobsen
 * et al. 2011, section VI), see <ftr/ddlr.h>.  Some packets then change their direction more than
 * once.  So packets use two VLs, which SL2VL tables select.
 *
 * If a packet changes its direction at a switch (up to down, or down to up), it is on the second
 * VL of its SL on the next link (vl_pairs.c).  On all other links it is on the first.  A packet
 * that a switch receives from a host, or sends itself, does not change its direction there.  An
 * SL2VL table is indexed by input and output port.  These two ports show whether the direction
 * changes.  So the SL2VL tables do not depend on the routes and never change.
 *
 * deviation: Sem-Jacobsen et al. 2011 use separate layers (VLs) for rerouted packets, from the
 * U-turn to the switch below the fault.  An InfiniBand switch selects the VL by input port, output
 * port and SL.  So it cannot distinguish rerouted packets from other packets.
 */
#include "engine/engine.h"

/* Returns true if port p leads up from s.  A horizontal link leads up to the switch with the
 * greater index. */
static bool is_above(const struct ftr_shape *sh, ftr_sw s, ftr_port p)
{
	ftr_sw t = ftr_fabric_port(sh->f, s, p)->peer;

	return sh->tree.rank[t] != sh->tree.rank[s] ? sh->tree.rank[t] > sh->tree.rank[s] : t > s;
}

static unsigned int turn_bit(const struct ftr_shape *sh, ftr_sw s, ftr_port in,
			     ftr_port out)
{
	if (ftr_fabric_port(sh->f, s, in)->peer_kind != FTR_PEER_SW ||
	    ftr_fabric_port(sh->f, s, out)->peer_kind != FTR_PEER_SW)
		return 0;
	return is_above(sh, s, in) == is_above(sh, s, out);
}

/* A word of an SL2VL table: the VL of each SL. */
static uint64_t word_of(const uint8_t vl[FTR_N_SL])
{
	uint64_t word = 0;

	for (unsigned int sl = 0; sl < FTR_N_SL; sl++)
		word |= (uint64_t)vl[sl] << (4 * sl);
	return word;
}

enum ftr_status ftr_ddlr_sl2vl(const struct ftr_shape *sh,
			       const struct ftr_vl_pairs *pairs,
			       struct ftr_sl2vl **out, struct ftr_err *err)
{
	const uint64_t straight = pairs ? word_of(pairs->straight) : 0;
	const uint64_t turn = pairs ? word_of(pairs->turn) : UINT64_C(0x1111111111111111);
	struct ftr_sl2vl *m = NULL;
	enum ftr_status st = ftr_sl2vl_new(sh->f, &m, err);

	if (st)
		return st;
	for (ftr_sw s = 0; s < sh->f->n_sw; s++)
		for (uint32_t io = 0; io < m->width[s] * m->width[s]; io++) {
			ftr_port i = (ftr_port)(io / m->width[s]);
			ftr_port o = (ftr_port)(io % m->width[s]);

			*ftr_sl2vl_word(m, s, i, o) =
				turn_bit(sh, s, i, o) ? turn : straight;
		}
	*out = m;
	return FTR_OK;
}

static enum ftr_status ddlr_route(const struct ftr_shape *sh,
				  const struct ftr_route_opts *opts,
				  struct ftr_team *team,
				  struct ftr_tables *out,
				  struct ftr_route_stats *stats,
				  struct ftr_err *err)
{
	return ftr_engine_sftree.route(sh, opts, team, out, stats, err);
}

static enum ftr_promise ddlr_promise(const struct ftr_route_opts *opts)
{
	(void)opts;
	return FTR_PROMISE_ALL;
}

const struct ftr_engine_ops ftr_engine_ddlr = {
	.name = "ddlr",
	.local_repair = true,
	.promise = ddlr_promise,
	.summary = "like sftree, with local repairs after a fault (DDLR)",
	.route = ddlr_route,
	.sl2vl = ftr_ddlr_sl2vl,
};
