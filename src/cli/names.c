// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * How nodes and LIDs are called in texts for people: by their description
 * where they have one, else by GUID.  Descriptions come from the fabric, so
 * bytes that a terminal could take for commands are shown as \xNN.
 */
#include <inttypes.h>
#include <string.h>

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
	       "a name of escapes and the words around it");

const char *cli_sw_name(char *buf, const struct ftr_fabric *f, ftr_sw s)
{
	if (f->sw[s].name[0])
		quote(buf, f->sw[s].name);
	else
		snprintf(buf, 32, "switch 0x%016" PRIx64, f->sw[s].guid);
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
	else if (f->ep[o.idx].name[0])
		quote(buf + n, f->ep[o.idx].name);
	else
		snprintf(buf + n, 32, "port 0x%016" PRIx64, f->ep[o.idx].guid);
	return buf;
}
