/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the generators of PGFTs, tori and superpods.  gen_grow() adds the nodes level by level,
 * and assigns GUIDs, port numbers and LIDs, in ascending order or at random.  The generator
 * provides the numbers of nodes and ports, the names of the nodes, and the links (struct
 * gen_shape).
 */
#ifndef FTR_GEN_GROW_H
#define FTR_GEN_GROW_H

#include "base/base.h"
#include <ftr/gen.h>

struct gen_level {			/* level 0: hosts */
	uint32_t n;			/* number of nodes */
	/* PGFT: a node is a tuple of digits (pgft.c); number of values of each digit */
	uint32_t radix[FTR_PGFT_MAX_H];
	unsigned int n_ports;		/* number of ports of each node */
	uint64_t *guid;			/* [n] */
	uint8_t *port;			/* port[i * n_ports + k]: port number of the k-th port of
					 * node i, k from 0 */
};

struct gen_growth {
	const struct gen_shape *shape;
	const void *of;			/* parameters of the PGFT, torus or superpod */
	unsigned int h;			/* number of switch levels */
	enum ftr_speed speed;		/* of all links; a shape may change it in size() */
	const struct ftr_gen_opts *o;
	struct ftr_rng rng;
	uint32_t *lid;			/* the random base LIDs, stored as LID / 2^lmc - 1; NULL:
					 * LIDs are not random */
	uint32_t n_lids;		/* number of elements of lid[] used so far */
	struct ftr_builder *b;
	struct ftr_arena *arena;
	struct gen_level level[FTR_PGFT_MAX_H + 1];
	struct ftr_err *err;
	enum ftr_status status;		/* the first error; the functions below then do nothing */
};

struct gen_shape {
	/* sets n and n_ports of all levels, and checks the numbers of ports and LIDs */
	void (*size)(struct gen_growth *z);
	void (*links)(struct gen_growth *z);
	/* Sets the description of a node, a buffer of FTR_NAME_MAX bytes.  For level 0 it may leave
	 * the default, "host-N". */
	void (*name)(const struct gen_growth *z, unsigned int l, uint32_t i, char *name);
};

/* Returns the k-th port of node i of level l. */
struct ftr_end gen_port(const struct gen_growth *z, unsigned int l, uint32_t i, unsigned int k);
void gen_link(struct gen_growth *z, struct ftr_end a, struct ftr_end b);
/* Set n and n_ports of level l, and add the number of the level's LIDs to *total.  FTR_LIMIT: a
 * node has more than FTR_PORT_MAX ports, or *total exceeds FTR_LID_MAX. */
void gen_limit(struct gen_growth *z, unsigned int l, uint64_t n, uint64_t ports, uint64_t *total);
enum ftr_status gen_grow(const struct gen_shape *shape, const void *of,
			 unsigned int h, const struct ftr_gen_opts *opts,
			 struct ftr_fabric **out, struct ftr_err *err);

/* ---- parsing ------------------------------------------------------------- */

struct gen_text {
	const char *text, *at;	/* text: the description; at: the first character not parsed yet */
	enum ftr_status status;	/* FTR_PARSE after an error, which is in err */
	struct ftr_err *err;
};

/* Parse the next part of the text; both functions return false after an error.  gen_number() reads
 * a number from 1 to max; `what` is its name in the error text.  gen_mark() reads the character c;
 * if c is 0, it expects the end of the text. */
bool gen_number(struct gen_text *t, const char *what, unsigned int max, unsigned int *out);
bool gen_mark(struct gen_text *t, char c);

#endif
