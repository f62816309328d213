/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The raw fabric, in which every reader of a fabric first collects its data; and these readers. */
#ifndef FTR_IO_RAW_H
#define FTR_IO_RAW_H

#include "fabric/fabric.h"
#include "io/text.h"

#define FTR_RAW_NONE UINT32_MAX

struct ftr_raw_node {
	struct ftr_cur id;	/* p is NULL: the node is identified by its GUID only */
	struct ftr_cur name;
	uint32_t line;
	uint64_t guid;
	ftr_lid lid;		/* LID of a switch; 0: unknown */
	uint8_t lmc;
	uint8_t type;		/* enum ftr_node_type */
	ftr_port n_ports;
};

/* A port, and what its line shows about the far end. 0: unknown. */
struct ftr_raw_port {
	uint32_t node;		/* node that has this port */
	uint32_t far;		/* far node; FTR_RAW_NONE: far_id identifies it */
	struct ftr_cur far_id;
	uint32_t line;
	uint64_t guid, far_guid;	/* port GUIDs; for ports of end nodes only */
	ftr_lid lid, far_lid;
	uint8_t lmc;
	ftr_port num, far_num;
	uint8_t width, speed;
	bool left_out;		/* true: the link is one-sided and left out */
};

struct ftr_raw {
	struct ftr_text *t;
	bool tolerant;		/* true: one-sided links are noted and left out */
	struct ftr_read_notes notes;
	struct ftr_arena *arena;	/* strings that are not in the text of the file */
	struct ftr_raw_node *node;
	struct ftr_raw_port *port;
	uint32_t n_node, cap_node;
	uint32_t n_port, cap_port;
	struct ftr_map by_id;	/* node index by hash of the id (raw.c) */
	struct ftr_map by_guid;
	struct ftr_map by_port;	/* port index by (node << 8 | num) */
};

bool ftr_raw_init(struct ftr_raw *r, struct ftr_text *t,
		  bool tolerant) FTR_MUST_USE;
void ftr_raw_fini(struct ftr_raw *r);
bool ftr_raw_add_node(struct ftr_raw *r,
		      const struct ftr_raw_node *n) FTR_MUST_USE;
/* For files that describe a node on several lines: find the node by its GUID, or add it. */
bool ftr_raw_meet_node(struct ftr_raw *r, const struct ftr_raw_node *n,
		       uint32_t *idx) FTR_MUST_USE;
/* FTR_INVAL: the LID of switch n differs from that of `old`, the same switch on an earlier line.
 * (The LIDs of end nodes are in struct ftr_raw_port.) */
bool ftr_raw_same_lid(const struct ftr_raw *r, const struct ftr_raw_node *old,
		      const struct ftr_raw_node *n) FTR_MUST_USE;
bool ftr_raw_add_port(struct ftr_raw *r,
		      const struct ftr_raw_port *p) FTR_MUST_USE;
/* Handle a link that only one end reports, on this line. It is an error; with r->tolerant it is
 * only noted. */
bool ftr_raw_one_sided(struct ftr_raw *r, uint32_t line, const char *fmt, ...)
	FTR_PRINTF(3, 4) FTR_MUST_USE;
/* Verify the raw fabric and build the fabric. */
bool ftr_raw_build(struct ftr_raw *r, unsigned int lmc,
		   struct ftr_fabric **out) FTR_MUST_USE;

/* ---- the formats ------------------------------------------------------- */

bool ftr_netfile_collect(struct ftr_raw *r) FTR_MUST_USE;
bool ftr_subnetlst_collect(struct ftr_raw *r) FTR_MUST_USE;
bool ftr_portlist_collect(struct ftr_raw *r) FTR_MUST_USE;
bool ftr_dbcsv_collect(struct ftr_raw *r) FTR_MUST_USE;

#endif
