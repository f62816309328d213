// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * opensm-ENGINE-ca-order.dump: the order of hosts that the tables are balanced
 * for, in the form that OpenSM's ftree gives its own, so that the same tools
 * lay out MPI ranks along it.  Written aside and renamed: who reads it sees the
 * old or the new order, never a part.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "osm/osm.h"

struct order {
	FILE *out;
	const struct ftr_fabric *f;
};

static void write_host(void *ctx, uint32_t d, ftr_ep ep)
{
	struct order *o = ctx;

	(void)d;
	if (ep == FTR_EP_NONE)
		fputs("0xFFFF\tDUMMY\n", o->out);
	else
		fprintf(o->out, "0x%04x\t%s\n", o->f->ep[ep].lid,
			o->f->ep[ep].name);
}

void ibf_ca_order_write(struct ibf_engine *e, const struct ftr_shape *sh)
{
	char path[1024], tmp[1040];
	struct order o = { .f = sh->f };
	bool ok = true;

	snprintf(path, sizeof(path), "%s/opensm-%s-ca-order.dump",
		 e->plugin->osm->subn.opt.dump_files_dir, e->ops->name);
	snprintf(tmp, sizeof(tmp), "%s.tmp", path);
	o.out = fopen(tmp, "we");
	if (o.out) {
		ftr_shape_host_order(sh, write_host, &o);
		ok = !ferror(o.out);
		ok = !fclose(o.out) && ok;
		ok = ok && !rename(tmp, path);
	}
	if (o.out && ok)
		return;
	ibf_log(e->plugin, IBF_CA_ORDER, "%s: the order of hosts was not written to %s: %s",
		e->ops->name, path, strerror(errno));
	if (o.out)
		unlink(tmp);
}
