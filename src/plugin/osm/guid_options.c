// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * OpenSM's GUID files: root_guid_file, cn_guid_file, io_guid_file.
 *
 * The files are read again at every routing.  If a file cannot be used, an error is
 * logged, and the list last read for this option stays in use.  If no list was read before,
 * the engine behaves as if the option were not set.  It does not refuse to route: otherwise
 * a typing error would make another engine route the fabric.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "osm/osm.h"
#include <ftr/io.h>

static void drop(struct ftr_guids *g)
{
	free((void *)(uintptr_t)g->guid);
	*g = (struct ftr_guids){ .guid = NULL };
}

void ibf_guids_free(struct ibf_plugin *p)
{
	drop(&p->roots);
	drop(&p->cn);
	drop(&p->io);
}

static enum ftr_status read_list(const char *path, struct ftr_guids *out, struct ftr_err *err)
{
	uint64_t *guid = NULL;
	uint32_t n = 0;
	enum ftr_status st = ftr_read_guids_own(path, &guid, &n, err);

	if (!st && !n)	/* an empty list would mean that the option is not set */
		st = ftr_fail(err, FTR_PARSE, "%s holds no GUID", path);
	if (st) {
		free(guid);
		return st;
	}
	drop(out);
	*out = (struct ftr_guids){ .guid = guid, .n = n };
	return FTR_OK;
}

/* Read the GUIDs from the file of an option.  path NULL: the option is not set.  If the file cannot be
 * used, and no list was read before, `without` is logged: it says how the engine routes then. */
static void update(struct ibf_plugin *p, const char *option, const char *path,
		   struct ftr_guids *last, const char *without)
{
	struct ftr_err err = { 0 };

	if (!path)
		drop(last);
	else if (read_list(path, last, &err) && last->n)
		ibf_log(p, IBF_GUID_FILE, "%s is not used: %s; the list of %s last read stays in use",
			option, err.msg, ibf_count(last->n, "GUID", "GUIDs").s);
	else if (err.status)
		ibf_log(p, IBF_GUID_FILE, "%s is not used: %s; %s", option,
			err.msg, without);
}

void ibf_guids_read(struct ibf_plugin *p, struct ftr_shape_opts *out)
{
	const osm_subn_opt_t *opt = &p->osm->subn.opt;

	update(p, "root_guid_file", opt->root_guid_file, &p->roots, "ranks are inferred");
	update(p, "cn_guid_file", opt->cn_guid_file, &p->cn,
	       "all host ports count as compute nodes");
	update(p, "io_guid_file", opt->io_guid_file, &p->io,
	       "no host port counts as I/O node");
	ibf_guids_current(p, out);
}

void ibf_guids_current(const struct ibf_plugin *p, struct ftr_shape_opts *out)
{
	out->roots = p->roots;
	out->roots_mode = (enum ftr_roots)p->opt.roots;
	out->cn = p->cn;
	out->io = p->io;
}

#define MAX_NAMED 10

void ibf_roots_report(struct ibf_plugin *p, const struct ftr_shape *sh)
{
	char names[MAX_NAMED * (FTR_NAME_MAX + 32)] = "", more[32] = "";
	uint32_t named = FTR_MIN(sh->tree.n_unlisted, MAX_NAMED);
	size_t n = 0;

	if (sh->tree.roots_unknown)
		ibf_log(p, IBF_ROOTS, "root_guid_file %s names no switch of this fabric; ranks are inferred; correct the file",
			p->osm->subn.opt.root_guid_file);
	if (!sh->tree.n_unlisted)
		return;
	for (uint32_t i = 0; i < named; i++) {
		const struct ftr_switch *w = &sh->f->sw[sh->tree.unlisted[i]];

		n += (size_t)snprintf(names + n, sizeof(names) - n,
				      "%s0x%016" PRIx64 " \"%s\"",
				      i ? ", " : "", w->guid, w->name);
	}
	if (sh->tree.n_unlisted > named)
		snprintf(more, sizeof(more), " and %u more",
			 sh->tree.n_unlisted - named);
	ibf_log(p, IBF_ROOTS, "root_guid_file %s lacks %s: %s%s; %s; list all top switches in the file, and no other switch",
		p->osm->subn.opt.root_guid_file,
		ibf_count(sh->tree.n_unlisted, "top switch", "top switches").s, names, more,
		p->opt.roots == FTR_ROOTS_FILE ?
		"most links of a top switch that is not listed are not used" :
		"a top switch that is not listed is treated as a root, too");
}
