/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Generator of fabrics: fat-trees (PGFTs), tori and GPU clusters, complete or with random faults.
 *
 * A parallel generalised fat-tree is written PGFT(h; m_1..m_h; w_1..w_h; p_1..p_h)
 * (Gliksberg et al. 2020, section 2; Zahavi 2010).  Level 0 contains the hosts; levels 1..h
 * contain the switches.  A node of level i has m_i children of level i-1, each connected by
 * p_i parallel links.  A node of level i-1 has w_i parents of level i.
 *
 *	hosts			prod m_i
 *	switches of level i	prod_{j<=i} w_j * prod_{j>i} m_j
 *
 * A k-ary n-tree has m = (k,..,k), w = (1,k,..,k) and p = (1,..,1).  Each host is one node; its
 * w_1 * p_1 links are connected to w_1 * p_1 ports of this node.
 */
#ifndef FTR_GEN_H
#define FTR_GEN_H

#include <ftr/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_PGFT_MAX_H 8

struct ftr_pgft {
	unsigned int h;		/* 1..FTR_PGFT_MAX_H */
	unsigned int m[FTR_PGFT_MAX_H];	/* m[0] is m_1 */
	unsigned int w[FTR_PGFT_MAX_H];
	unsigned int p[FTR_PGFT_MAX_H];
};

struct ftr_gen_opts {
	uint64_t seed;		/* for all random choices */
	bool random_guids;	/* true: random GUIDs; false: GUIDs ascend by (level, position) */
	bool random_ports;	/* true: the port numbers of every switch are shuffled; false: in a
				 * PGFT, the downward ports have the lower numbers */
	bool random_lids;	/* true: random LIDs; false: those of ftr_builder_assign_lids */
	unsigned int lmc;	/* LMC of the host ports */
	bool no_lids;		/* true: all LIDs are 0; a subnet manager assigns them */
	unsigned int nodes;	/* superpod: number of nodes; the last places of the last unit (or
				 * units) stay empty; 0: all places have a node */
};

/* Parse "3;12,12,24;1,12,12;1,1,1", "kary:4,3", or a named size: "648", "3456",
 * "11664", "27648".  Error texts name the faulty part and its value. */
enum ftr_status ftr_pgft_parse(const char *text, struct ftr_pgft *out,
			       struct ftr_err *err) FTR_MUST_USE;

/* Generate a PGFT.  opts NULL: all defaults.  The node descriptions are "host-N" and
 * "sw-LEVEL-POSITION".  N and POSITION (in the level) count from 0, LEVEL from 1.  FTR_LIMIT: a
 * node has more than 254 ports, or there are too few LIDs for all ports. */
enum ftr_status ftr_gen_pgft(const struct ftr_pgft *pgft,
			     const struct ftr_gen_opts *opts,
			     struct ftr_fabric **out,
			     struct ftr_err *err) FTR_MUST_USE;

/*
 * A torus of k[0] x k[1] x ... switches, for simulations that need no tree.  (The engines treat a
 * torus as a tree with a single root.)  Each switch has the same number of hosts.  In every
 * dimension, the switches form rings: each switch has a link to the next one, and the last to the
 * first.  A ring of two switches has two links.
 *
 * Without random_ports, port 2d + 1 leads to the next switch of dimension d, and port
 * 2d + 2 to the previous switch.  The ports to hosts follow.  Switches are named
 * "sw-X-Y-..".  Without random_guids, the index of a switch is X + k[0] * (Y + k[1] * ..).
 * Host i is on switch i / hosts.
 */
#define FTR_TORUS_MAX_D 4

struct ftr_torus {
	unsigned int d;		/* number of dimensions, 1..FTR_TORUS_MAX_D */
	unsigned int k[FTR_TORUS_MAX_D];	/* number of switches in each dimension, >= 2 */
	unsigned int hosts;	/* number of hosts of each switch */
};

/* Parse "torus:8,8", with one host on each switch, or "torus:8,8;4", with four. */
enum ftr_status ftr_torus_parse(const char *text, struct ftr_torus *out,
				struct ftr_err *err) FTR_MUST_USE;
/* Generate a torus.  opts NULL: all defaults.  FTR_INVAL: d or an element of k[] is out of range.
 * FTR_LIMIT: as for ftr_gen_pgft. */
enum ftr_status ftr_gen_torus(const struct ftr_torus *torus,
			      const struct ftr_gen_opts *opts,
			      struct ftr_fabric **out,
			      struct ftr_err *err) FTR_MUST_USE;

/*
 * A GPU cluster after the public reference architectures of DGX SuperPOD: the compute network.  A
 * unit has 32 nodes (H100, B200: switches with 64 ports, NDR) or 72 nodes (B300: 144 ports, XDR).
 * A node has FTR_SUPERPOD_RAILS adapters, each a channel adapter of its own.  Rail r of the nodes
 * of unit s is connected to leaf 8s + r.  The numbers of leaves, spines and cores are those of the
 * reference architectures.  The cabling above eight units is our derivation
 * (src/lab/gen/superpod.c).
 *
 *	H100, B200	1, 2, 3, 4 and 8 units (leaves and spines); 16, 32 and 64 (and cores)
 *	B300		1, 2, 4, 8 and 18 units (leaves and spines)
 *
 * Descriptions count from 1: "dgx-NODE mlx5_DEVICE", "leaf-UNIT-RAIL", "spine-GROUP-NUMBER",
 * "core-GROUP-NUMBER".  With several planes, the switches are "planeP-leaf-..".
 */
#define FTR_SUPERPOD_RAILS 8
#define FTR_SUPERPOD_PLANES 8

struct ftr_superpod {
	unsigned int generation;	/* 0: H100, 1: B200, 2: B300 */
	unsigned int units;		/* one of the numbers above */
	unsigned int planes;		/* 1..FTR_SUPERPOD_PLANES separate networks; each adapter
					 * has one port on each plane */
};

/* Parse "superpod:H100:4", or with two planes "superpod:H100:4;2". */
enum ftr_status ftr_superpod_parse(const char *text, struct ftr_superpod *out,
				   struct ftr_err *err) FTR_MUST_USE;
/* Generate a superpod.  opts NULL: all defaults.  FTR_INVAL: the reference architectures have no
 * such design, or opts->nodes is above the number of places.  FTR_LIMIT: as for ftr_gen_pgft. */
enum ftr_status ftr_gen_superpod(const struct ftr_superpod *pod, const struct ftr_gen_opts *opts,
				 struct ftr_fabric **out, struct ftr_err *err) FTR_MUST_USE;

/* Generate the superpod, torus or PGFT that text describes (see ftr_superpod_parse,
 * ftr_torus_parse and ftr_pgft_parse).  FTR_INVAL: opts->nodes is set for another shape than a
 * superpod. */
enum ftr_status ftr_gen_shape(const char *text,
			      const struct ftr_gen_opts *opts,
			      struct ftr_fabric **out,
			      struct ftr_err *err) FTR_MUST_USE;

/* Numbers of parts to remove from a fabric.  The parts are chosen at random.  A removed host loses
 * all of its ports.  A router counts as a host, an Aggregation Node does not.  FTR_INVAL: the
 * fabric has fewer parts of a kind. */
struct ftr_damage {
	uint64_t seed;
	uint32_t links;		/* links between switches */
	uint32_t switches;	/* switches without hosts */
	uint32_t hosts;
};
/* Copy f without these parts. */
enum ftr_status ftr_gen_damage(const struct ftr_fabric *f,
			       const struct ftr_damage *damage,
			       struct ftr_fabric **out,
			       struct ftr_err *err) FTR_MUST_USE;

/* Put the nodes of f into a random order, for the argument `order` of ftr_write_netfile.  A seed
 * gives the same order on every machine.  *order is malloc()ed for the caller. */
enum ftr_status ftr_gen_order(const struct ftr_fabric *f, uint64_t seed,
			      uint32_t **order,
			      struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
