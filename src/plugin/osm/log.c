// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Messages to OpenSM's log.
 *
 * OpenSM has no log level for warnings, and logs its own warnings as errors.  The plugin
 * does the same: an administrator who logs only errors still sees that tables are
 * incomplete.
 */
#include <stdarg.h>

#include "osm/osm.h"
#include <ftr/text.h>

void ibf_log(struct ibf_plugin *p, enum ibf_msg msg, const char *fmt, ...)
{
	static const char *const prefix[] = {
		[IBF_INFO] = "", [IBF_WARN] = "WRN ", [IBF_ERROR] = "ERR "
	};
	const struct ibf_msg_info *info = &ibf_msg_table[msg];
	osm_log_level_t level = info->severity == IBF_INFO ? OSM_LOG_INFO :
							     OSM_LOG_ERROR;
	char text[2048];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ftr_text_clean(text);	/* hosts can put any bytes into their node descriptions */
	osm_log(&p->osm->log, level, "ibfattree: %sIBF%03u: %s\n",
		prefix[info->severity], info->number, text);
}
