// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The finished fabric: look-ups, marks for shared names, and the decoding of widths and speeds.
 */
#include <string.h>

#include "base/search.h"
#include "fabric/fabric.h"

void ftr_fabric_free(struct ftr_fabric *f)
{
	if (f)
		ftr_arena_free(f->arena);
}

ftr_sw ftr_fabric_find_sw(const struct ftr_fabric *f, uint64_t node_guid)
{
	uint32_t i;

	FTR_LOWER_BOUND(i, f->n_sw, f->sw[i].guid < node_guid);
	return i < f->n_sw && f->sw[i].guid == node_guid ? i : FTR_SW_NONE;
}

ftr_sw ftr_fabric_find_holder(const struct ftr_fabric *f, uint64_t node_guid)
{
	uint32_t i;

	if (!f->by_holder)
		return ftr_fabric_find_sw(f, node_guid);
	FTR_LOWER_BOUND(i, f->n_sw, f->sw[f->by_holder[i]].holder < node_guid);
	return i < f->n_sw && f->sw[f->by_holder[i]].holder == node_guid ?
		f->by_holder[i] : FTR_SW_NONE;
}

static bool same_or_lost(const struct ftr_swport *is, const struct ftr_swport *was)
{
	return (was->peer_kind == FTR_PEER_SW && is->peer_kind == FTR_PEER_NONE) ||
	       (was->peer_kind == is->peer_kind && was->peer == is->peer &&
		was->peer_port == is->peer_port);
}

bool ftr_fabric_lacks_links(const struct ftr_fabric *f, const struct ftr_fabric *g)
{
	if (f->n_sw != g->n_sw || f->max_lid != g->max_lid || f->n_ep != g->n_ep)
		return false;
	for (ftr_sw s = 0; s < f->n_sw; s++)	/* then the sums n_ports and first_port agree, too */
		if (f->sw[s].guid != g->sw[s].guid || f->sw[s].n_ports != g->sw[s].n_ports)
			return false;
	for (uint32_t x = 0; x < f->n_ports; x++)
		if (!same_or_lost(&f->ports[x], &g->ports[x]))
			return false;
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].guid != g->ep[e].guid || f->ep[e].sw != g->ep[e].sw ||
		    f->ep[e].sw_port != g->ep[e].sw_port || f->ep[e].lid != g->ep[e].lid)
			return false;
	for (uint32_t lid = 0; lid <= f->max_lid; lid++)
		if (f->owner[lid].kind != g->owner[lid].kind || f->owner[lid].idx != g->owner[lid].idx)
			return false;
	return true;
}

ftr_ep ftr_fabric_find_ep(const struct ftr_fabric *f, uint64_t port_guid)
{
	uint32_t i;

	FTR_LOWER_BOUND(i, f->n_ep, f->ep[i].guid < port_guid);
	return i < f->n_ep && f->ep[i].guid == port_guid ? i : FTR_EP_NONE;
}

bool ftr_ep_is_aggregation(const struct ftr_endport *ep)
{
	return ep->type == FTR_NODE_CA &&
	       strstr(ep->name, "Aggregation Node") != NULL;
}

static bool host_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		(c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

void ftr_ep_host(const struct ftr_endport *ep, bool full, char *name)
{
	const char *text = ep->name;
	size_t n = strcspn(text, " "), rest = strspn(text + n, " ");
	const char *device = text + n + rest;

	name[0] = '\0';
	if (!n || n > FTR_NAME_MAX || device[strcspn(device, " ")])
		return;
	for (size_t i = 0; i < n; i++)
		if (!host_char(text[i]))
			return;
	if (!full)
		n = strcspn(text, ". ");
	memcpy(name, text, n);
	name[n] = '\0';
	if (!strcmp(name, "localhost"))
		name[0] = '\0';
}

/* ---- names ------------------------------------------------------------- */

/* Names are compared by a 64-bit hash.  If two different names had the same hash,
 * both would be marked as shared, and messages would show their GUIDs although that is not
 * necessary. */
bool ftr_mark_shared_names(struct ftr_switch *sw, uint32_t n_sw,
			   struct ftr_endport *ep, uint32_t n_ep)
{
	struct ftr_map first = { 0 };
	bool ok = true;

	for (uint32_t i = 0; i < n_sw + n_ep; i++) {
		const char *name = i < n_sw ? sw[i].name : ep[i - n_sw].name;
		uint64_t key = ftr_hash(FTR_HASH_INIT, name, strlen(name));
		uint32_t j = ftr_map_get(&first, key);

		if (j == FTR_MAP_NONE) {
			ok = ftr_map_put(&first, key, i);
			if (!ok)
				break;
			continue;
		}
		*(i < n_sw ? &sw[i].name_shared : &ep[i - n_sw].name_shared) =
			true;
		*(j < n_sw ? &sw[j].name_shared : &ep[j - n_sw].name_shared) =
			true;
	}
	ftr_map_fini(&first);
	return ok;
}

/* ---- speeds ------------------------------------------------------------ */

static const char *const speed_name[FTR_SPEED_END] = {
	NULL, "SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR",
};

const char *ftr_speed_str(enum ftr_speed speed)
{
	return (unsigned int)speed < FTR_SPEED_END ? speed_name[speed] : NULL;
}

enum ftr_speed ftr_speed_parse(const char *s, size_t len)
{
	for (int i = 1; i < FTR_SPEED_END; i++)
		if (strlen(speed_name[i]) == len &&
		    !memcmp(speed_name[i], s, len))
			return (enum ftr_speed)i;
	return FTR_SPEED_UNKNOWN;
}

unsigned int ftr_width_of_mask(unsigned int mask)
{
	static const struct {
		uint8_t bit, width;
	} w[] = { { 8, 12 }, { 4, 8 }, { 2, 4 }, { 16, 2 }, { 1, 1 } };

	for (size_t i = 0; i < FTR_ARRAY_LEN(w); i++)
		if (mask & w[i].bit)
			return w[i].width;
	return 0;
}

enum ftr_speed ftr_speed_of_mask(unsigned int speed, unsigned int ext)
{
	static const uint8_t by_ext[] = { FTR_SPEED_FDR, FTR_SPEED_EDR,
					  FTR_SPEED_HDR, FTR_SPEED_NDR };
	static const uint8_t by_speed[] = { FTR_SPEED_SDR, FTR_SPEED_DDR,
					    FTR_SPEED_QDR };

	for (int i = 3; i >= 0; i--)
		if (ext & (1u << i))
			return (enum ftr_speed)by_ext[i];
	for (int i = 2; i >= 0; i--)
		if (speed & (1u << i))
			return (enum ftr_speed)by_speed[i];
	return FTR_SPEED_UNKNOWN;
}

/* An active width or speed has exactly one bit set; other values are invalid. */
static unsigned int one_bit(unsigned int mask)
{
	return mask & (mask - 1) ? 0 : mask;
}

unsigned int ftr_width_active(unsigned int active)
{
	return ftr_width_of_mask(one_bit(active));
}

enum ftr_speed ftr_speed_active(unsigned int active, unsigned int ext)
{
	return ftr_speed_of_mask(one_bit(active), one_bit(ext));
}
