// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * An event plugin for experiments ("event_plugin_name ibfvls").  It writes the SLs that
 * OpenSM's current engine gives to the paths between all pairs of ports with a LID.
 *
 * At every event SUBNET UP it writes opensm-psl.dump to the dump directory.  The file has
 * lines "SOURCE-GUID LID SL", the format of ibfattree's option --psl.  If the engine
 * assigns no SLs, there is no file.
 *
 * dfsssp draws the SL of a path with rand() from the SLs without a cycle of dependencies,
 * and opensm seeds rand() differently in each run.  This plugin seeds rand() again, so
 * that the file is always the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <opensm/osm_config.h>
#include <opensm/osm_version.h>
#include <opensm/osm_opensm.h>

#define SEED 1

static void put_from(FILE *out, const osm_opensm_t *osm, const osm_port_t *from)
{
	const struct osm_routing_engine *re = osm->routing_engine_used;
	const cl_qmap_t *ports = &osm->subn.port_guid_tbl;
	ib_net16_t slid = osm_port_get_base_lid(from);

	for (const cl_map_item_t *i = cl_qmap_head(ports);
	     i != cl_qmap_end(ports); i = cl_qmap_next(i)) {
		ib_net16_t dlid = osm_port_get_base_lid((const osm_port_t *)i);

		if (slid && dlid && slid != dlid)
			fprintf(out, "0x%016" PRIx64 " %u %u\n",
				cl_ntoh64(osm_port_get_guid(from)),
				cl_ntoh16(dlid),
				re->path_sl(re->context, 0, slid, dlid));
	}
}

static void report(void *ctx, osm_epi_event_id_t id, void *data)
{
	const osm_opensm_t *osm = ctx;
	const cl_qmap_t *ports = &osm->subn.port_guid_tbl;
	char path[1024];
	FILE *out;

	(void)data;
	if (id != OSM_EVENT_ID_SUBNET_UP || !osm->routing_engine_used ||
	    !osm->routing_engine_used->path_sl)
		return;
	snprintf(path, sizeof(path), "%s/opensm-psl.dump",
		 osm->subn.opt.dump_files_dir);
	out = fopen(path, "w");
	if (!out)
		return;
	srand(SEED);
	for (const cl_map_item_t *i = cl_qmap_head(ports);
	     i != cl_qmap_end(ports); i = cl_qmap_next(i))
		put_from(out, osm, (const osm_port_t *)i);
	fclose(out);
}

static void *create(osm_opensm_t *osm) { return osm; }

static void delete(void *ctx) { (void)ctx; }

__attribute__((visibility("default")))
osm_event_plugin_t osm_event_plugin = {
	.osm_version = OSM_VERSION,
	.create = create,
	.delete = delete,
	.report = report,
};
