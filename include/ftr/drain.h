/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Drains: switches, links and host ports that are out of use although they work.
 *
 * The routing of a drained fabric uses a copy of the fabric without the drained links.  A drained
 * switch has lost all its links.  So a drain is a failure without a fault, and undrain is the
 * return of the links.
 *
 * If the copy lacked all drained links, parts of it could be cut off: a drained switch itself,
 * whose LID must stay reachable, or the hosts on a drained leaf.  Each part that is cut off keeps
 * one drained link.  No path between two switches of the rest can use this link, because it is the
 * only connection of the part (a bridge of the graph).  So a drained part carries only traffic that
 * has no other way.
 *
 * A file contains the drains.  Its first line is the number of the request, by which a reader
 * recognises a new file.  Each further line is a drained part:
 *
 *	request 0x18b5a0c2f7e31a40
 *	0x0002c90300000001 0 1764000000 root "spine 1"
 *	0x0002c90300000007 12 1764000000 root "leaf 7"
 *
 * The fields are the GUID, the port (0: all), the start of the drain in seconds since 1970, the
 * user, and the name.  '#' begins a comment line.
 */
#ifndef FTR_DRAIN_H
#define FTR_DRAIN_H

#include <ftr/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_DRAINS_MAX 4096
#define FTR_DRAIN_USER_MAX 32

struct ftr_drain {
	uint64_t guid;		/* node GUID of a switch, or port GUID of a host port */
	uint64_t since;		/* in seconds since 1970 */
	ftr_port port;		/* switch: the port of the drained link; 0: all links */
	char by[FTR_DRAIN_USER_MAX + 1];	/* user name */
	char name[FTR_NAME_MAX + 1];	/* name of the node when it was drained */
};

struct ftr_drains {
	uint64_t request;	/* 0: there is no file */
	struct ftr_drain *part;	/* [n], malloc()ed */
	uint32_t n;
};

/*
 * Read the file at path.  own: it must be a regular file of root or of the caller, and symbolic
 * links are not followed.  FTR_IO, FTR_NOMEM; FTR_PARSE: a line is not as described above;
 * FTR_INVAL: a part is listed twice; FTR_LIMIT: more than FTR_DRAINS_MAX parts.
 */
enum ftr_status ftr_drains_read(const char *path, bool own, struct ftr_drains *out,
				struct ftr_err *err) FTR_MUST_USE;
void ftr_drains_clear(struct ftr_drains *d);

/* The fabric without its drained links. */
struct ftr_drained {
	struct ftr_fabric *f;
	uint32_t n_links;	/* number of links that f lacks */
	struct ftr_link *kept;	/* [n_kept] drained links that f contains, because they connect
				 * parts that would be cut off; indices are those of f */
	uint32_t n_kept;
	ftr_ep *cut;		/* [n_cut] host ports that are reached only over kept links, and
				 * drained host ports; ascending */
	uint32_t n_cut;
};

/*
 * Make a copy of f without the links that d drains.  Parts of d that f lacks are ignored.  origin:
 * the switch of the subnet manager, or FTR_SW_NONE; links near to it are kept first, so that the
 * manager reaches drained switches on up/down paths.  Indices of switches and host ports stay the
 * same.  FTR_NOMEM.
 */
enum ftr_status ftr_drain_apply(const struct ftr_fabric *f, const struct ftr_drains *d,
				ftr_sw origin, struct ftr_drained *out,
				struct ftr_err *err) FTR_MUST_USE;
void ftr_drained_clear(struct ftr_drained *d);

/* Numbers of drained parts. */
struct ftr_drain_count {
	uint32_t switches, links, hosts;
};

/* Count the parts of the nominal fabric n that d drains and that f lacks.  They are counted as
 * missing in struct ftr_shape.  FTR_NOMEM. */
enum ftr_status ftr_drain_missing(const struct ftr_fabric *n, const struct ftr_fabric *f,
				  const struct ftr_drains *d, struct ftr_drain_count *out,
				  struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
