/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The raw fabric: the nodes and ports of a netfile as its lines describe them. ftr_netfile_collect()
 * collects them here; ftr_raw_build() makes the fabric. */
#ifndef FTR_IO_RAW_H
#define FTR_IO_RAW_H

#include "fabric/fabric.h"
#include "io/text.h"

#define FTR_RAW_NONE UINT32_MAX

struct ftr_raw_node {
	struct ftr_cur id;
	struct ftr_cur name;
	uint32_t line;
	uint64_t guid;
	ftr_lid lid;		/* LID of a switch; 0: unknown */
	uint8_t lmc;
	uint8_t type;		/* enum ftr_node_type */
	ftr_port n_ports;
};

/* A port, as a line of the file describes it. 0: the line does not give the value. */
struct ftr_raw_port {
	uint32_t node;		/* node that has this port */
	uint32_t far;		/* node at the other end; FTR_RAW_NONE: not yet found, or not in the file */
	struct ftr_cur far_id;
	uint32_t line;
	uint64_t guid, far_guid;	/* port GUIDs; for ports of end nodes only */
	ftr_lid lid, far_lid;
	uint8_t lmc;
	ftr_port num, far_num;	/* 1..254 */
	uint8_t width, speed;
	bool left_out;		/* true: only one end reports the link, so it is left out */
};

struct ftr_raw {
	struct ftr_text *t;
	bool tolerant;		/* true: leave out and count links that only one end reports;
				 * false: they are errors */
	struct ftr_read_notes notes;
	struct ftr_arena *arena;	/* strings that are not in the text of the file */
	struct ftr_raw_node *node;
	struct ftr_raw_port *port;
	uint32_t n_node, cap_node;
	uint32_t n_port, cap_port;
	struct ftr_map by_id;	/* node index by the hash of the node's id (raw.c) */
	struct ftr_map by_guid;
	struct ftr_map by_port;	/* port index by (node << 8 | num) */
	/* for ftr_raw_build() */
	struct ftr_builder *builder;
	uint32_t *lid_line;	/* [FTR_LID_MAX + 1] line of the node with this LID; 0: none */
	bool lids_missing;
};

bool ftr_raw_init(struct ftr_raw *r, struct ftr_text *t,
		  bool tolerant) FTR_MUST_USE;
void ftr_raw_fini(struct ftr_raw *r);
bool ftr_raw_add_node(struct ftr_raw *r,
		      const struct ftr_raw_node *n) FTR_MUST_USE;
bool ftr_raw_add_port(struct ftr_raw *r,
		      const struct ftr_raw_port *p) FTR_MUST_USE;
/* Verify the raw fabric and build the fabric. */
bool ftr_raw_build(struct ftr_raw *r, unsigned int lmc,
		   struct ftr_fabric **out) FTR_MUST_USE;

/* netfile.c */
bool ftr_netfile_collect(struct ftr_raw *r) FTR_MUST_USE;

#endif
