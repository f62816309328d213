/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The fabric: an immutable graph of switches, host ports and links.
 *
 * A struct ftr_builder collects nodes and links in any order.  ftr_builder_freeze makes a
 * struct ftr_fabric from them.  A fabric never changes, so threads may share it.
 *
 * Indices count from 0 without gaps.  Switches are numbered by ascending node GUID, host ports by
 * ascending port GUID, so the indices do not depend on the order of discovery.  The ports of
 * switch s are consecutive:
 *
 *	ports[sw[s].first_port + 0]	the switch's own port 0 (FTR_PEER_NONE)
 *	ports[sw[s].first_port + p]	external port p, 1..n_ports
 *
 * A host port is a port of a channel adapter or router.  All host ports of one node have the same
 * ftr_endport.node.
 */
#ifndef FTR_FABRIC_H
#define FTR_FABRIC_H

#include <ftr/status.h>
#include <ftr/types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ftr_node_type {
	FTR_NODE_CA = 1,	/* values as in NodeInfo, IBA 14.2.5.3 */
	FTR_NODE_SWITCH = 2,
	FTR_NODE_ROUTER = 3
};

enum ftr_peer {
	FTR_PEER_NONE = 0,	/* no link, or the far end was not discovered */
	FTR_PEER_SW,
	FTR_PEER_EP
};

/* Signalling rate of one lane; 0: unknown. */
enum ftr_speed {
	FTR_SPEED_UNKNOWN = 0,
	FTR_SPEED_SDR, FTR_SPEED_DDR, FTR_SPEED_QDR, FTR_SPEED_FDR10,
	FTR_SPEED_FDR, FTR_SPEED_EDR, FTR_SPEED_HDR, FTR_SPEED_NDR,
	FTR_SPEED_XDR,
	FTR_SPEED_END
};

/* One port of a switch. */
struct ftr_swport {
	uint32_t peer;		/* index of the far end: ftr_sw or ftr_ep, by peer_kind */
	uint8_t peer_kind;	/* enum ftr_peer */
	ftr_port peer_port;	/* port number at the far end */
	uint8_t width;		/* number of lanes: 1, 2, 4, 8, 12; 0 = unknown */
	uint8_t speed;		/* enum ftr_speed */
};

struct ftr_switch {
	uint64_t guid;		/* node GUID; ascending with the index */
	/* Node GUID of the switch that is here now.  In a nominal fabric (<ftr/nominal.h>), guid
	 * is the GUID of the first switch that was seen at this place, and another switch may have
	 * replaced it.  In other fabrics, holder equals guid. */
	uint64_t holder;
	uint32_t first_port;	/* index of port 0 in ftr_fabric.ports */
	ftr_lid lid;		/* base LID of port 0; 0 = none */
	uint8_t lmc;		/* 0 unless enhanced port 0 has an LMC */
	ftr_port n_ports;	/* number of external ports, 1..254 */
	bool name_shared;	/* another switch or host port has the same name */
	const char *name;	/* node description (cleaned, see <ftr/text.h>) or "" */
};

struct ftr_endport {
	uint64_t guid;		/* port GUID; ascending with the index */
	uint64_t node_guid;
	uint32_t node;		/* number of the end node, 0..n_nodes-1 */
	ftr_sw sw;		/* switch at the far end; FTR_SW_NONE: none */
	ftr_port sw_port;	/* port of that switch */
	ftr_port port_num;	/* own port number on the node, 1..254 */
	ftr_lid lid;		/* base LID; 0 = none */
	uint8_t lmc;		/* 0..7: the port owns lid .. lid + 2^lmc - 1 */
	uint8_t type;		/* FTR_NODE_CA or FTR_NODE_ROUTER */
	bool name_shared;	/* a switch, or another host port (also of the same node), has the
				 * same name */
	const char *name;	/* node description (cleaned) or "" */
};

/* Kind of the owner of a LID. */
enum ftr_owner { FTR_OWNER_NONE = 0, FTR_OWNER_SW, FTR_OWNER_EP };

struct ftr_lid_owner {
	uint32_t idx;		/* index of the owner: ftr_sw or ftr_ep, by kind */
	uint8_t kind;		/* enum ftr_owner */
	uint8_t offset;		/* lid - base LID: 0..2^lmc-1 */
};

struct ftr_fabric {
	uint32_t n_sw;
	uint32_t n_ep;
	uint32_t n_nodes;	/* number of end nodes (CAs and routers) */
	uint32_t n_ports;	/* number of elements of ports[] */
	uint32_t n_sw_links;	/* number of switch-to-switch links */
	ftr_lid max_lid;	/* no greater LID has an owner; 0 if there are no LIDs */
	const struct ftr_switch *sw;
	const ftr_sw *by_holder;	/* [n_sw] switches, sorted by holder; NULL: sw[] itself is
					 * sorted by holder */
	const struct ftr_endport *ep;
	const struct ftr_swport *ports;
	const struct ftr_lid_owner *owner;	/* [0 .. max_lid] */
	struct ftr_arena *arena;	/* the memory of this object and of its arrays */
};

/* A link between two switches, identified by both ends. */
struct ftr_link {
	ftr_sw sw, peer;
	ftr_port port, peer_port;
};

/* A port of a switch. */
struct ftr_hop {
	ftr_sw sw;
	ftr_port port;
};

/* The step of a packet that came from switch `from` and leaves switch `at` towards switch `to`. */
struct ftr_turn {
	ftr_sw from, at, to;
};

static inline const struct ftr_swport *
ftr_fabric_port(const struct ftr_fabric *f, ftr_sw s, unsigned int p)
{
	return &f->ports[f->sw[s].first_port + p];
}

/* The switch to which port p of s leads.  FTR_SW_NONE: s has no such port, or the port leads to no
 * switch. */
static inline ftr_sw ftr_fabric_next(const struct ftr_fabric *f, ftr_sw s, unsigned int p)
{
	return p <= f->sw[s].n_ports && ftr_fabric_port(f, s, p)->peer_kind == FTR_PEER_SW ?
		ftr_fabric_port(f, s, p)->peer : FTR_SW_NONE;
}

/* True if f is the fabric g, perhaps without some of its links between switches. */
bool ftr_fabric_lacks_links(const struct ftr_fabric *f, const struct ftr_fabric *g);

/* Find a switch or a host port by GUID.  Returns its index; FTR_SW_NONE or FTR_EP_NONE: the GUID is
 * unknown.  O(log n). */
ftr_sw ftr_fabric_find_sw(const struct ftr_fabric *f, uint64_t node_guid);
ftr_ep ftr_fabric_find_ep(const struct ftr_fabric *f, uint64_t port_guid);
/* In a nominal fabric: find the place that the switch with this node GUID holds now (see
 * ftr_switch.holder).  FTR_SW_NONE: it holds none.  O(log n). */
ftr_sw ftr_fabric_find_holder(const struct ftr_fabric *f, uint64_t node_guid);

/* Returns true if ep is a SHARP Aggregation Node, a CA inside a switch.  Its node description
 * contains "Aggregation Node".  An Aggregation Node does not make its switch a leaf, but its LID
 * must be routed. */
bool ftr_ep_is_aggregation(const struct ftr_endport *ep);

/* Copy the name of the port's host from its node description to name[FTR_NAME_MAX + 1], or "" if the
 * description holds no host name (<ftr/hosts.h>).  full: do not cut the name at its first dot. */
void ftr_ep_host(const struct ftr_endport *ep, bool full, char *name);

/* NULL is accepted. */
void ftr_fabric_free(struct ftr_fabric *f);

/* Convert a speed to text ("QDR"), and text to a speed.  For an unknown speed the text is NULL; for
 * an unknown text the speed is FTR_SPEED_UNKNOWN. */
const char *ftr_speed_str(enum ftr_speed speed);
enum ftr_speed ftr_speed_parse(const char *s, size_t len);
/* Decode link attributes of PortInfo (IBA 14.2.5.6).  ftr_width_active returns the number
 * of lanes for the LinkWidthActive value `active`, or 0 if the value is not valid.
 * ftr_speed_active returns the speed for the LinkSpeedActive value `active` and the
 * LinkSpeedExtActive value `ext`, or FTR_SPEED_UNKNOWN.  For a port without extended speeds,
 * ext must be 0. */
unsigned int ftr_width_active(unsigned int active);
enum ftr_speed ftr_speed_active(unsigned int active, unsigned int ext);

/* ---- building ---------------------------------------------------------- */

struct ftr_builder;

/* One end of a link. */
struct ftr_end {
	uint64_t node_guid;
	ftr_port port;
};

struct ftr_builder *ftr_builder_new(void);	/* NULL: no memory */
void ftr_builder_free(struct ftr_builder *b);	/* NULL is accepted */

/*
 * Add a switch or a host port.  The same object may be added again, because files may describe
 * a node several times; the first name and holder stay.  Used are the GUIDs, n_ports, port_num,
 * type, lid, lmc, name and holder; the other members are ignored.  lid 0: the LID is not known yet.
 * name may be NULL; it is copied and cut at FTR_NAME_MAX.  holder 0: the switch itself.
 * FTR_INVAL:
 *
 *  - An attribute contradicts an earlier call for the same object: the LID, LMC, port GUID, type or
 *    number of ports.
 *  - Another host port has the same port GUID.
 *  - A number is out of range.
 *  - The base LID is not a multiple of 2^lmc, or the last LID of the port is above FTR_LID_MAX.
 */
enum ftr_status ftr_builder_add_switch(struct ftr_builder *b, const struct ftr_switch *sw,
				       struct ftr_err *err) FTR_MUST_USE;
enum ftr_status ftr_builder_add_endport(struct ftr_builder *b, const struct ftr_endport *ep,
					struct ftr_err *err) FTR_MUST_USE;

/*
 * Connect two ends.  A link may be added before its nodes; ftr_builder_freeze verifies that all
 * nodes exist.  A link may be added from both ends, and is then still one link.  width and speed:
 * 0 = unknown.  If the two ends report different values, the lower value is kept.
 *
 * FTR_INVAL: a port has another link already, is connected to itself, or has a number outside
 * 1 .. 254.  These errors are found here, and not by ftr_builder_freeze, so that a file reader can
 * report the line.
 */
enum ftr_status ftr_builder_add_link(struct ftr_builder *b, struct ftr_end a,
				     struct ftr_end z, unsigned int width,
				     enum ftr_speed speed,
				     struct ftr_err *err) FTR_MUST_USE;

/*
 * Assign a base LID to every switch and host port that has none.  LIDs are assigned from 1
 * on, in the order of the GUIDs of switches and host ports together.  LIDs in use are skipped.  A
 * host port that gets a LID here gets the LMC lmc, and its base LID is a multiple of 2^lmc.  A
 * switch gets LMC 0.  FTR_INVAL: lmc is above FTR_LMC_MAX.  FTR_LIMIT: there are too few LIDs; some
 * may have been assigned already.
 */
enum ftr_status ftr_builder_assign_lids(struct ftr_builder *b,
					unsigned int lmc,
					struct ftr_err *err) FTR_MUST_USE;

/* Let max_lid of the fabric be at least `lid` (or FTR_LID_MAX, if that is less): switches may have
 * entries for LIDs without an owner. */
void ftr_builder_lids(struct ftr_builder *b, uint32_t lid);

/*
 * Verify the data and make the fabric.  On success the builder is freed; on failure its contents
 * are unchanged.  FTR_INVAL: a link has an end without a node, or at a port that the switch does
 * not have; a LID has two owners; a switch and a host port have the same node GUID; a switch holds
 * two places.
 * Links between two host ports are dropped, because there is nothing to route.
 * O((n + links) log n).
 */
enum ftr_status ftr_builder_freeze(struct ftr_builder *b,
				   struct ftr_fabric **out,
				   struct ftr_err *err) FTR_MUST_USE;

/* Selects the parts that ftr_fabric_copy_if keeps: those for which a function returns true.  If a
 * member is NULL, all parts of its kind are kept.  keep_sw and keep_ep may be called several times
 * for the same part, and must then always return the same value. */
struct ftr_filter {
	bool (*keep_sw)(void *ctx, const struct ftr_fabric *f, ftr_sw s);
	bool (*keep_ep)(void *ctx, const struct ftr_fabric *f, ftr_ep e);
	/* called once for each link between two kept switches; (s, p) is the end with the lower
	 * switch index or, if both ends are on one switch, with the lower port */
	bool (*keep_link)(void *ctx, const struct ftr_fabric *f, ftr_sw s,
			  ftr_port p);
	void *ctx;
	/* called once for each link between a kept host port and a kept switch */
	bool (*keep_ep_link)(void *ctx, const struct ftr_fabric *f, ftr_ep e);
};

/* Copy a fabric without the parts that the filter drops; filter NULL: copy all parts.  GUIDs and
 * LIDs stay the same, and so does max_lid.  In the copy, the member `holder` of every switch is its own
 * GUID. */
enum ftr_status ftr_fabric_copy_if(const struct ftr_fabric *f,
				   const struct ftr_filter *filter,
				   struct ftr_fabric **out,
				   struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
