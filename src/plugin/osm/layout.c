// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checks that OpenSM's structures have the layout that the plugin was compiled for.
 *
 * OpenSM checks only that the plugin was built for the same version of OpenSM.  But a
 * distribution may patch a header without changing the version.  Then the plugin would read
 * members at wrong offsets.
 *
 * So before the plugin uses OpenSM's data, this file checks pointers from one structure to
 * another.  They are called anchors.  OpenSM sets them before it loads plugins
 * (osm_subn_init, osm_sm_init, osm_sa_init).  If all are found with the right values, the
 * members subn, sm, sa, mad_pool, log, disp and lock of osm_opensm_t are where the plugin
 * expects them.
 *
 * The plugin also uses the members p_vendor, routing_engine_used and stats.  A change that
 * moves only these three is not detected.
 */
#include "config.h"

#include <string.h>
#include <syslog.h>

#include "osm/osm.h"
#include <opensm/osm_version.h>

#define ANCHOR(pointer, target) \
	{ #pointer, offsetof(struct osm_opensm, pointer), \
	  offsetof(struct osm_opensm, target) }

static const struct {
	const char *name;
	size_t at, to;		/* offsets of the pointer and of its target, in osm_opensm_t */
} anchor[] = {
	{ "subn.p_osm", offsetof(struct osm_opensm, subn.p_osm), 0 },
	ANCHOR(sm.p_subn, subn),
	ANCHOR(sa.p_subn, subn),
	ANCHOR(sa.p_mad_pool, mad_pool),
	ANCHOR(sm.p_log, log),
	ANCHOR(sm.p_disp, disp),
	ANCHOR(sm.p_lock, lock),
};

bool ibf_layout_fits(const struct osm_opensm *osm, char *why, size_t size)
{
	const char *base = (const char *)osm;

	for (size_t i = 0; i < sizeof(anchor) / sizeof(anchor[0]); i++) {
		const void *is, *want = base + anchor[i].to;

		memcpy(&is, base + anchor[i].at, sizeof(is));
		if (is != want) {
			snprintf(why, size, "%s is %p, not %p", anchor[i].name,
				 is, want);
			return false;
		}
	}
	return true;
}

void ibf_layout_refuse(const char *why)
{
	const struct ibf_msg_info *info = &ibf_msg_table[IBF_LAYOUT];

	syslog(LOG_DAEMON | LOG_ERR, "ibfattree: ERR IBF%03u: the plugin does not load: built for %s (osm_opensm_t of %zu bytes), and the structures of this opensm are laid out differently: %s; no engine of ibfattree routes; install the plugin built for this opensm package",
	       info->number, OSM_VERSION, sizeof(struct osm_opensm), why);
}
