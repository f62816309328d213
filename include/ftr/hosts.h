/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Hosts by name, as schedulers and MPI know them, and files for these.
 *
 * A host is all channel adapters whose node description begins with the same
 * name: "NAME" or "NAME DEVICE" ("node12 mlx5_0", "node12 HCA-1").  The name is
 * cut at its first dot unless full names are asked for.  Descriptions of other
 * forms (firmware defaults), "localhost", Aggregation Nodes, routers and names
 * with characters other than letters, digits, '-', '_' and '.' name no host.
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
	const struct ftr_host *host;	/* by name, natural order */
	const ftr_ep *ep;	/* those with a link, by (host, switch, port) */
	uint32_t n_nameless;	/* channel adapter ports that name no host */
	struct ftr_arena *arena;
};

enum ftr_status ftr_hosts_new(const struct ftr_fabric *f, bool full_names,
			      struct ftr_hosts **out,
			      struct ftr_err *err) FTR_MUST_USE;
void ftr_hosts_free(struct ftr_hosts *h);	/* NULL is accepted */
/* By name, cut as those of h; FTR_HOST_NONE: unknown.  O(log n). */
uint32_t ftr_hosts_find(const struct ftr_hosts *h, const char *name);

/* ---- lists of hosts ------------------------------------------------------ */

/* One line of a file: words separated by blanks and commas; brackets expand
 * ("n[01-03,7]").  In host files "slots=N" or ":N" gives a number. */
struct ftr_host_entry {
	uint32_t group;		/* jobs: number of the line's job, else 0 */
	uint32_t host;		/* index in ftr_hosts, or FTR_HOST_NONE */
	uint32_t slots;		/* 1 if the file gives none */
	const char *name;	/* as written */
};

struct ftr_host_list {
	uint32_t n, n_groups;
	const struct ftr_host_entry *entry;	/* in the order of the file */
	const char *const *group;	/* [n_groups] names of jobs */
	uint32_t n_unknown;	/* entries that h does not have */
	struct ftr_arena *arena;
};

/*
 * Read a file of hosts, or (jobs) lines "JOB HOST HOST ...", a job's hosts on
 * one line or several.  A host twice in one group is one entry with the sum of
 * its slots.  '#' begins a comment.  FTR_PARSE: brackets that do not match,
 * more than 65,536 hosts of one word, slots that are not 1 .. 65,535.
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
	bool yaml;		/* topology.yaml of Slurm 25.05 */
	/* only these hosts, NULL: all of h; [h->n] */
	const bool *wanted;
};

struct ftr_slurm_counts {
	uint32_t nodes;
	uint32_t split;		/* hosts whose ports are on several leaves that
				 * others do not share: placed by the first */
	uint32_t block_min, block_max;	/* hosts of a block */
};

/*
 * Write topology.conf(5).  A switch of Slurm's tree is a set of hosts on the
 * same leaves, or a pod of the fabric: its switches are equal to a scheduler.
 * Islands of the fabric have roots of their own.  Blocks are the pods of rank
 * 1, or the leaves where there are two ranks only.
 * FTR_SHAPE: no host has a link.
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
