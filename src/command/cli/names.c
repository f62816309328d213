// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names of nodes and LIDs in text output.  The name of a node is its NodeDescription, followed by
 * the GUID if another node has the same description.  A node without a description is named by its
 * GUID.  When a fabric is built, control characters in descriptions are replaced by '?'.  A control
 * character that remains is shown as \xNN, so that a terminal cannot interpret it.
 */
#include <inttypes.h>

#include "cli/cli.h"

static size_t quote(char *buf, const char *name)
{
	size_t n = 0;

	buf[n++] = '"';
	for (; *name; name++) {
		unsigned char c = (unsigned char)*name;

		if (c >= ' ' && c != 0x7f) {
			buf[n++] = (char)c;
			continue;
		}
		snprintf(buf + n, 5, "\\x%02x", c);
		n += 4;
	}
	buf[n++] = '"';
	buf[n] = '\0';
	return n;
}

_Static_assert(CLI_NAME_MAX > 4 * FTR_NAME_MAX + 64,
	       "room for a name with every byte escaped, and a GUID");

/* Writes the name of a node to buf.  shared: other nodes have the same name.  kind: the word before
 * the GUID of a node without a name.  Returns the length. */
static size_t put_node(char *buf, const char *name, bool shared, const char *kind, uint64_t guid)
{
	size_t n = 0;

	if (!name[0])
		return (size_t)snprintf(buf, 32, "%s 0x%016" PRIx64, kind, guid);
	n = quote(buf, name);
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
	struct ftr_lid_owner o = { 0 };
	int n = snprintf(buf, CLI_NAME_MAX, "LID %u", lid);

	if (lid <= f->max_lid)
		o = f->owner[lid];
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

static const char *put_link(char *buf, const struct ftr_fabric *f, ftr_sw s,
			    unsigned int port, const char *to)
{
	const struct ftr_swport *p = ftr_fabric_port(f, s, port);
	char near[CLI_NAME_MAX], far[CLI_NAME_MAX];

	cli_sw_name(near, f, s);
	if (p->peer_kind == FTR_PEER_SW)
		cli_sw_name(far, f, p->peer);
	else if (p->peer_kind == FTR_PEER_EP)
		cli_lid_name(far, f, f->ep[p->peer].lid);
	else
		snprintf(far, sizeof(far), "nothing");
	snprintf(buf, CLI_LINK_MAX, "%s port %u %s %s port %u", near, port, to, far, p->peer_port);
	return buf;
}

const char *cli_link_name(char *buf, const struct ftr_fabric *f, ftr_sw s, unsigned int port)
{
	return put_link(buf, f, s, port, "->");
}

const char *cli_ends_name(char *buf, const struct ftr_fabric *f, ftr_sw s, unsigned int port)
{
	return put_link(buf, f, s, port, "-");
}
