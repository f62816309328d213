// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names of nodes and LIDs in text output.  The name of a node is its NodeDescription, followed by
 * the GUID if another node has the same description.  A node without a description is named by its
 * GUID.  When a fabric is built, control characters in descriptions are replaced by '?'.
 */
#include <inttypes.h>

#include "cli/cli.h"

_Static_assert(CLI_NAME_MAX > FTR_NAME_MAX + 64, "room for a name, a GUID and a LID");

/* Writes the name of a node to buf.  shared: other nodes have the same name.  kind: the word before
 * the GUID of a node without a name.  Returns the length. */
static size_t put_node(char *buf, const char *name, bool shared, const char *kind, uint64_t guid)
{
	size_t n;

	if (!name[0])
		return (size_t)snprintf(buf, 32, "%s 0x%016" PRIx64, kind, guid);
	n = (size_t)snprintf(buf, FTR_NAME_MAX + 3, "\"%s\"", name);
	if (shared)
		n += (size_t)snprintf(buf + n, 32, " (0x%016" PRIx64 ")", guid);
	return n;
}

const char *cli_sw_name(char *buf, const struct ftr_fabric *f, ftr_sw s)
{
	put_node(buf, f->sw[s].name, f->sw[s].name_shared, "switch", f->sw[s].guid);
	return buf;
}

const char *cli_ep_name(char *buf, const struct ftr_fabric *f, ftr_ep e)
{
	const struct ftr_endport *p = &f->ep[e];
	size_t n = put_node(buf, p->name, p->name_shared, "port", p->guid);

	if (p->lid)
		snprintf(buf + n, 16, " LID %u", p->lid);
	return buf;
}

const char *cli_lid_name(char *buf, const struct ftr_fabric *f, ftr_lid lid)
{
	const struct ftr_lid_owner o = f->owner[lid];
	int n = snprintf(buf, CLI_NAME_MAX, "LID %u", lid);

	if (o.kind == FTR_OWNER_NONE)
		return buf;
	n += snprintf(buf + n, 8, " of ");
	if (o.kind == FTR_OWNER_SW)
		cli_sw_name(buf + n, f, o.idx);
	else
		put_node(buf + n, f->ep[o.idx].name, f->ep[o.idx].name_shared,
			 "port", f->ep[o.idx].guid);
	return buf;
}

const char *cli_link_name(char *buf, const struct ftr_fabric *f, ftr_sw s, unsigned int port)
{
	const struct ftr_swport *p = ftr_fabric_port(f, s, port);
	char near[CLI_NAME_MAX], far[CLI_NAME_MAX];

	cli_sw_name(near, f, s);
	if (p->peer_kind == FTR_PEER_SW)
		cli_sw_name(far, f, p->peer);
	else
		cli_lid_name(far, f, f->ep[p->peer].lid);
	snprintf(buf, CLI_LINK_MAX, "%s port %u -> %s port %u", near, port, far, p->peer_port);
	return buf;
}
