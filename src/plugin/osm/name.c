// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Names of nodes in messages, and numbers with a noun in the singular or plural.
 *
 * The name of a node is its description.  If several nodes of the fabric have the same
 * description, the GUID is appended.  If the description is empty, the name is the GUID.
 */
#include <inttypes.h>
#include <stdio.h>

#include "osm/name.h"

static struct ibf_text name_of(const char *name, bool shared, uint64_t guid)
{
	struct ibf_text n;

	if (!name[0])
		snprintf(n.s, sizeof(n.s), "0x%016" PRIx64, guid);
	else if (shared)
		snprintf(n.s, sizeof(n.s), "%s (0x%016" PRIx64 ")", name, guid);
	else
		snprintf(n.s, sizeof(n.s), "%s", name);
	return n;
}

struct ibf_text ibf_sw_name(const struct ftr_fabric *f, ftr_sw s)
{
	return name_of(f->sw[s].name, f->sw[s].name_shared, f->sw[s].guid);
}

struct ibf_text ibf_ep_name(const struct ftr_fabric *f, ftr_ep e)
{
	return name_of(f->ep[e].name, f->ep[e].name_shared, f->ep[e].guid);
}

struct ibf_text ibf_count(uint64_t n, const char *one, const char *many)
{
	struct ibf_text c;

	snprintf(c.s, sizeof(c.s), "%" PRIu64 " %s", n, n == 1 ? one : many);
	return c;
}

struct ibf_text ibf_lid_name(const struct ftr_fabric *f, ftr_lid lid)
{
	const struct ftr_lid_owner *o = &f->owner[lid];

	return o->kind == FTR_OWNER_SW ? ibf_sw_name(f, o->idx) : ibf_ep_name(f, o->idx);
}
