/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Hosts by name, as schedulers and MPI know them; lists of hosts.
 *
 * The channel adapters of one machine have node descriptions "NAME" or "NAME DEVICE", for example
 * "node12 mlx5_0" and "node12 HCA-2".  All channel adapters with the same NAME form one host of
 * this name.  NAME is cut at its first dot unless full names are requested.  These ports belong to
 * no host:
 *
 *  - ports of Aggregation Nodes and routers
 *  - ports with a description of another form, for example a default of the firmware
 *  - ports with the name "localhost"
 *  - ports whose name has characters other than letters, digits, '-', '_' and '.'
 *
 * Rails.  In a GPU cluster, adapter r of every host is on rail r, and the rails are cabled to
 * different leaf switches.  The rail of a port follows from its name: the devices of all hosts
 * ("mlx5_0") and their port numbers, in natural order, are numbered from 0.  So the rails of a host
 * do not change if one of its adapters is missing.  If several ports of a host have the same device
 * and port number (for example because their descriptions hold no device), they are distinguished
 * by their GUIDs.
 */
#ifndef FTR_HOSTS_H
#define FTR_HOSTS_H

#include <ftr/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_HOST_NONE UINT32_MAX
#define FTR_RAIL_NONE UINT32_MAX

struct ftr_host {
	const char *name;
	uint32_t first, n;	/* its ports: ftr_hosts.ep[first ..] */
};

struct ftr_hosts {
	uint32_t n;
	const struct ftr_host *host;	/* sorted by name, "n2" before "n10" */
	uint32_t n_ep;
	const ftr_ep *ep;	/* ports with a link, sorted by (host, rail) */
	uint32_t n_rails;	/* 1 if every host has one port, and all have the same device */
	const uint32_t *rail;	/* [f->n_ep] rail of a port; FTR_RAIL_NONE: it belongs to no host */
	uint32_t n_nameless;	/* number of ports of channel adapters that have a link but belong
				 * to no host */
	struct ftr_arena *arena;
};

enum ftr_status ftr_hosts_new(const struct ftr_fabric *f, bool full_names,
			      struct ftr_hosts **out,
			      struct ftr_err *err) FTR_MUST_USE;
void ftr_hosts_free(struct ftr_hosts *h);	/* NULL is accepted */
/*
 * Set leaf[f->n_sw] to the rail of each switch: that of most of its ports of hosts (of several, the
 * one with the lowest number); FTR_RAIL_NONE: it has no such port.  *by_rails: the fabric is cabled by
 * rails, that is, hosts have two ports or more on average, the switches have several rails, and
 * three quarters of the ports are on a switch of their own rail.  O(n log n) for n ports.
 */
enum ftr_status ftr_hosts_leaf_rails(const struct ftr_fabric *f, const struct ftr_hosts *h,
				     uint32_t *leaf, bool *by_rails,
				     struct ftr_err *err) FTR_MUST_USE;
/* Find a host by name.  If no host has this name, the part before its first dot is looked up.
 * FTR_HOST_NONE: unknown.  O(log n). */
uint32_t ftr_hosts_find(const struct ftr_hosts *h, const char *name);

/* ---- lists of hosts ------------------------------------------------------ */

/* A host in a file.  Words in a line are separated by blanks or commas.  Brackets are expanded:
 * "n[1-3]" stands for n1, n2 and n3.  In host files of MPI, "slots=N" or ":N" sets the number of
 * slots: the number of MPI processes that the host may run. */
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
	uint32_t n_unknown;	/* number of entries whose host is FTR_HOST_NONE */
	struct ftr_arena *arena;
};

/*
 * Read a list of hosts.  If jobs is true, read a list of jobs instead, with lines "JOB HOST HOST
 * ..."; a job may have several lines.  '#' begins a comment.  If a host of h appears several times
 * in the list (or in one job), it has one entry with the sum of its slots.  FTR_PARSE: no host;
 * brackets that do not match; a range that is not valid or has more than 65,536 numbers; a number of
 * slots that is not in 1 .. 65,535.
 */
enum ftr_status ftr_read_host_list(const char *path, bool jobs,
				   const struct ftr_hosts *h,
				   struct ftr_host_list **out,
				   struct ftr_err *err) FTR_MUST_USE;
void ftr_host_list_free(struct ftr_host_list *l);	/* NULL is accepted */

#ifdef __cplusplus
}
#endif
#endif
