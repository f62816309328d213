/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Hosts by the names that schedulers and MPI use, and files for these programs.
 *
 * A host is a set of channel adapters.  The name of the host is the first word of their node
 * descriptions: "NAME" or "NAME DEVICE" ("node12 mlx5_0", "node12 HCA-1").  The name is
 * cut at its first dot unless full names are requested.  These ports belong to no host:
 *
 *  - ports of Aggregation Nodes and routers
 *  - ports with a description of another form (a default of the firmware)
 *  - ports with the name "localhost"
 *  - ports whose name has characters other than letters, digits, '-', '_' and '.'
 */
#ifndef FTR_HOSTS_H
#define FTR_HOSTS_H

#include <stdio.h>

#include <ftr/fabric.h>
#include <ftr/picture.h>
#include <ftr/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_HOST_NONE UINT32_MAX

struct ftr_host {
	const char *name;
	uint32_t first, n;	/* its ports: ftr_hosts.ep[first ..] */
};

struct ftr_hosts {
	uint32_t n;
	const struct ftr_host *host;	/* sorted by name, natural order */
	const ftr_ep *ep;	/* ports with a link, sorted by (host, switch, port) */
	uint32_t n_nameless;	/* number of ports with a link, of channel adapters whose
				 * description names no host */
	struct ftr_arena *arena;
};

enum ftr_status ftr_hosts_new(const struct ftr_fabric *f, bool full_names,
			      struct ftr_hosts **out,
			      struct ftr_err *err) FTR_MUST_USE;
void ftr_hosts_free(struct ftr_hosts *h);	/* NULL is accepted */
/* Find a host by name.  If no host has this name, the part before its first dot is looked up.
 * FTR_HOST_NONE: unknown.  O(log n). */
uint32_t ftr_hosts_find(const struct ftr_hosts *h, const char *name);

/* ---- lists of hosts ------------------------------------------------------ */

/* A host in a file.  Words in a line are separated by blanks or commas.  Brackets are expanded
 * ("n[01-03,7]").  In host files of MPI, "slots=N" or ":N" sets the number of slots.  A slot is
 * an MPI process that the host may run. */
struct ftr_host_entry {
	uint32_t group;		/* number of the job in a list of jobs; else 0 */
	uint32_t host;		/* index in ftr_hosts, or FTR_HOST_NONE */
	uint32_t slots;		/* number of slots; 1 if the file gives none */
	const char *name;	/* the name in the file, with brackets expanded */
};

struct ftr_host_list {
	uint32_t n, n_groups;
	const struct ftr_host_entry *entry;	/* in the order of the file */
	const char *const *group;	/* [n_groups] names of jobs */
	uint32_t n_unknown;	/* number of entries for hosts that are not in h */
	struct ftr_arena *arena;
};

/*
 * Read a list of hosts or, if jobs is true, lines "JOB HOST HOST ...".  A job may have several
 * lines.  '#' begins a comment.  If a host of h appears several times in the list, or in one
 * job, it has one entry with the sum of its slots.  FTR_PARSE: brackets that do not match; a
 * range that is not valid or has more than 65,536 numbers; slots outside 1 .. 65,535.
 */
enum ftr_status ftr_read_host_list(const char *path, bool jobs,
				   const struct ftr_hosts *h,
				   struct ftr_host_list **out,
				   struct ftr_err *err) FTR_MUST_USE;
void ftr_host_list_free(struct ftr_host_list *l);	/* NULL is accepted */

/* ---- Slurm --------------------------------------------------------------- */

enum ftr_slurm_form { FTR_SLURM_TREE, FTR_SLURM_BLOCK };

struct ftr_slurm_opts {
	enum ftr_slurm_form form;
	bool yaml;		/* true: topology.yaml (Slurm 25.05); false: topology.conf */
	/* [h->n] true: include this host; NULL: all of h */
	const bool *wanted;
};

struct ftr_slurm_counts {
	uint32_t nodes;
	uint32_t split;		/* number of hosts on several leaves, if no other host is on the
				 * same set of leaves; such a host is listed at its first leaf */
	/* numbers of hosts of the smallest and of the largest block; 0 with FTR_SLURM_TREE */
	uint32_t block_min, block_max;
};

/*
 * Write topology.conf(5).
 *
 * In the tree form, a switch of Slurm is a set of hosts on the same leaves, or a pod of the
 * fabric.  A scheduler need not distinguish the switches of a pod.  Each island of the fabric
 * has its own root.
 *
 * In the block form, the pods of rank 1 are the blocks.  A set of hosts on the same leaves that
 * is in no such pod is a block of its own.  With fewer than three ranks, every set is a block.
 *
 * FTR_SHAPE: there is no host to write.
 */
enum ftr_status ftr_write_slurm(FILE *out, const struct ftr_shape *sh,
				const struct ftr_picture *p,
				const struct ftr_hosts *h,
				const struct ftr_slurm_opts *opts,
				struct ftr_slurm_counts *counts,
				struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
