// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * opensm-ENGINE-ca-order.dump: the order of hosts that the tables are balanced
 * for, in the form that OpenSM's ftree gives its own, so that the same tools
 * lay out MPI ranks along it.  Written aside and renamed: who reads it sees the
 * old or the new order, never a part.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* A file of our own: a link that somebody has put there is not followed, for
 * opensm runs as root and dump_files_dir may be a directory of all. */
static FILE *create(const char *path)
{
	FILE *out;
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return NULL;
	out = fdopen(fd, "w");
	if (!out)
		close(fd);
	return out;
}

/* 0 or an errno. */
static int write_order(const struct ftr_shape *sh, const char *path)
{
	struct order o = { .f = sh->f };
	char tmp[PATH_MAX];
	int why = 0;

	if (snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= (int)sizeof(tmp))
		return ENAMETOOLONG;
	o.out = create(tmp);
	if (!o.out)
		return errno;
	ftr_shape_host_order(sh, write_host, &o);
	if (fflush(o.out) || ferror(o.out))
		why = errno;
	if (fclose(o.out) && !why)
		why = errno;
	if (!why && rename(tmp, path))
		why = errno;
	if (why)
		unlink(tmp);
	return why;
}

void ibf_ca_order_write(struct ibf_engine *e, const struct ftr_shape *sh)
{
	char path[PATH_MAX];
	int n, why = ENAMETOOLONG;

	n = snprintf(path, sizeof(path), "%s/opensm-%s-ca-order.dump",
		     e->plugin->osm->subn.opt.dump_files_dir, e->ops->name);
	if (n >= 0 && (size_t)n < sizeof(path))
		why = write_order(sh, path);
	if (why)
		ibf_log(e->plugin, IBF_CA_ORDER, "%s: the order of hosts was not written to %s: %s",
			e->ops->name, path, strerror(why));
}
