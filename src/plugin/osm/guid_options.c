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

static void drop(struct ibf_guids *g)
{
	free(g->guid);
	free(g->path);
	memset(g, 0, sizeof(*g));
}

void ibf_guids_free(struct ibf_plugin *p)
{
	drop(&p->roots);
	drop(&p->cn);
	drop(&p->io);
}

static enum ftr_status read_list(const char *path, struct ibf_guids *out,
				 struct ftr_err *err)
{
	struct ibf_guids g = { 0 };
	enum ftr_status st = ftr_read_guids_own(path, &g.guid, &g.n, err);

	if (!st && !g.n)	/* an empty list would mean that the option is not set */
		st = ftr_fail(err, FTR_PARSE, "%s holds no GUID", path);
	if (!st && !(g.path = ftr_strdup(path)))
		st = ftr_nomem(err, "%s", path);
	if (st) {
		drop(&g);
		return st;
	}
	drop(out);
	*out = g;
	return FTR_OK;
}

/* The GUIDs from the file of an option.  path NULL: the option is not set.  If the file cannot be
 * used, and no list was read before, `without` is logged: it says how the engine routes then. */
static struct ftr_guids list_of(struct ibf_plugin *p, const char *option,
				const char *path, struct ibf_guids *last,
				const char *without)
{
	struct ftr_err err = { 0 };

	if (!path)
		drop(last);
	else if (read_list(path, last, &err) && last->n)
		ibf_log(p, IBF_GUID_FILE, "%s is not used: %s; the list of %s last read from %s stays in use",
			option, err.msg, ibf_count(last->n, "GUID", "GUIDs").s,
			last->path);
	else if (err.status)
		ibf_log(p, IBF_GUID_FILE, "%s is not used: %s; %s", option,
			err.msg, without);
	return (struct ftr_guids){ .guid = last->guid, .n = last->n };
}

void ibf_guids_read(struct ibf_plugin *p, struct ftr_shape_opts *out)
{
	const osm_subn_opt_t *opt = &p->osm->subn.opt;

	out->roots = list_of(p, "root_guid_file", opt->root_guid_file,
			     &p->roots, "ranks are inferred");
	out->roots_mode = (enum ftr_roots)p->opt.roots;
	out->cn = list_of(p, "cn_guid_file", opt->cn_guid_file, &p->cn,
			  "all host ports count as compute nodes");
	out->io = list_of(p, "io_guid_file", opt->io_guid_file, &p->io,
			  "no host port counts as I/O node");
}

void ibf_guids_current(const struct ibf_plugin *p, struct ftr_shape_opts *out)
{
	out->roots = (struct ftr_guids){ .guid = p->roots.guid, .n = p->roots.n };
	out->roots_mode = (enum ftr_roots)p->opt.roots;
	out->cn = (struct ftr_guids){ .guid = p->cn.guid, .n = p->cn.n };
	out->io = (struct ftr_guids){ .guid = p->io.guid, .n = p->io.n };
}

#define MAX_NAMED 10

void ibf_roots_report(struct ibf_plugin *p, const struct ftr_shape *sh)
{
	char names[MAX_NAMED * (FTR_NAME_MAX + 32)] = "", more[32] = "";
	uint32_t named = FTR_MIN(sh->tree.n_unlisted, MAX_NAMED);
	size_t n = 0;

	if (sh->tree.roots_unknown)
		ibf_log(p, IBF_ROOTS, "root_guid_file %s names no switch of this fabric; ranks are inferred; correct the file",
			p->roots.path);
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
	ibf_log(p, IBF_ROOTS, "root_guid_file %s lacks %s: %s%s; %s; complete the file",
		p->roots.path,
		ibf_count(sh->tree.n_unlisted, "top switch", "top switches").s, names, more,
		p->opt.roots == FTR_ROOTS_FILE ?
		"most of their links are not used" :
		"the engine treats them as roots, too");
}
