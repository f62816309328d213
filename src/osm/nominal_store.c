// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The nominal fabric of the plugin, and its state file.
 *
 * The nominal fabric consists of all switches and links seen so far (<ftr/nominal.h>).
 * Destinations are numbered in the nominal fabric, not in the present one, so a fault
 * changes few entries.  The nominal fabric stays in memory between routings.  Between two
 * runs of OpenSM it is kept in a file in OpenSM's cache directory, beside guid2lid.
 *
 * Each subnet manager writes a file of its own, ibfattree-nominal-PORTGUID, because one host
 * may run several managers for different fabrics.  At its first routing as master, a manager
 * reads the files of all managers, the newest first.  It uses the first file that belongs to
 * its fabric, and then writes its own file.  So a standby that shares or copies the
 * directory takes over with the same tables.  Older versions wrote a file without PORTGUID
 * in its name; this file is read, but never changed.
 *
 * If the files are lost, more entries than necessary change at the next routing; this is the
 * only consequence.  If a manager's own file is damaged or belongs to another fabric, it is
 * replaced, and this is logged.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "osm/osm.h"
#include "osm/writer.h"

#define STATE_FILE "ibfattree-nominal"
#define MAX_FILES 32		/* if there are more files, only the newest ones are read */

const char *ibf_state_dir(void)
{
	const char *dir = getenv("OSM_CACHE_DIR");

	return dir && *dir ? dir : OSM_DEFAULT_CACHE_DIR;
}

static char *own_path(const struct ibf_plugin *p)
{
	return ftr_asprintf("%s/" STATE_FILE "-%016" PRIx64, ibf_state_dir(),
			    cl_ntoh64(p->osm->subn.sm_port_guid));
}

/* ---- choice of the file -------------------------------------------------- */

struct state_file {
	char *path;
	struct timespec at;
	bool own;
};

static int newer(const void *x, const void *y)
{
	const struct state_file *a = x, *b = y;

	if (a->at.tv_sec != b->at.tv_sec)
		return a->at.tv_sec > b->at.tv_sec ? -1 : 1;
	if (a->at.tv_nsec != b->at.tv_nsec)
		return a->at.tv_nsec > b->at.tv_nsec ? -1 : 1;
	if (a->own != b->own)
		return a->own ? -1 : 1;
	return strcmp(a->path, b->path);
}

static bool is_state_name(const char *name)
{
	const size_t len = sizeof(STATE_FILE) - 1;

	if (strncmp(name, STATE_FILE, len))
		return false;
	name += len;
	return !*name || (*name == '-' && strlen(name) == 17 &&
			  strspn(name + 1, "0123456789abcdef") == 16);
}

/* List the state files, the newest first.  *nomem: memory was exhausted, and the list is
 * incomplete. */
static uint32_t list_files(const char *own, struct state_file *file,
			   bool *nomem)
{
	DIR *dir = ftr_opendir(ibf_state_dir());
	const struct dirent *d;
	uint32_t n = 0;

	*nomem = !dir && errno == ENOMEM;
	while (dir && (d = readdir(dir))) {
		struct state_file f = { 0 };
		struct stat st;

		if (!is_state_name(d->d_name))
			continue;
		f.path = ftr_asprintf("%s/%s", ibf_state_dir(), d->d_name);
		if (!f.path) {
			*nomem = true;
			continue;
		}
		if (stat(f.path, &st) || !S_ISREG(st.st_mode)) {
			free(f.path);
			continue;
		}
		f.at = st.st_mtim;
		f.own = !strcmp(f.path, own);
		if (n == MAX_FILES) {	/* drop the oldest */
			qsort(file, n, sizeof(*file), newer);
			if (newer(&f, &file[n - 1]) > 0) {
				free(f.path);
				continue;
			}
			free(file[--n].path);
		}
		file[n++] = f;
	}
	if (dir)
		closedir(dir);
	qsort(file, n, sizeof(*file), newer);
	return n;
}

/* Make n the nominal fabric of the plugin, which then owns n.  If memory is exhausted, frees n and
 * returns false. */
static bool set_nominal(struct ibf_plugin *p, struct ftr_nominal *n)
{
	struct ibf_nominal *new = ftr_calloc(1, sizeof(*new));

	if (!new) {
		ftr_nominal_free(n);
		return false;
	}
	atomic_init(&new->refs, 1);
	new->n = n;
	ibf_nominal_put(p->nominal);
	p->nominal = new;
	return true;
}

/* Use the file if it belongs to the fabric f.  Returns true if it is used.  *nomem: memory was
 * exhausted. */
static bool try_file(struct ibf_plugin *p, const struct state_file *file,
		     const struct ftr_fabric *f,
		     const struct ftr_shape_opts *opts, struct ftr_team *team,
		     bool *nomem)
{
	struct ftr_nominal_change c = { 0 };
	struct ftr_err err = { 0 };
	struct ftr_nominal *n;
	enum ftr_status st;
	bool reshaped;

	st = ftr_nominal_read_own(file->path, opts, team, &n, &reshaped, &err);
	if (st == FTR_SHAPE)	/* no ranks can be assigned to the stored fabric, nor
				 * to f; the engine reports this */
		return false;
	*nomem = st == FTR_NOMEM;
	if (*nomem)
		return false;
	if (st) {
		ibf_log(p, IBF_STATE_FILE, "state file not used: %s%s", err.msg,
			file->own ? "; it is replaced" : "");
		return false;
	}
	*nomem = ftr_nominal_compare(n, f, &c, &err) == FTR_NOMEM;
	if (*nomem || c.other) {
		/* another manager on this host may manage another fabric */
		if (file->own && !*nomem)
			ibf_log(p, IBF_STATE_FILE, "state file not used: %s belongs to another fabric: %u of its %u switches and %u of its %u host ports are in the present fabric; it is replaced",
				file->path, c.same_sw, c.old_sw, c.same_hosts,
				c.old_hosts);
		ftr_nominal_free(n);
		return false;
	}
	*nomem = !set_nominal(p, n);
	if (*nomem)
		return false;
	if (reshaped)
		ibf_log(p, IBF_NOMINAL, "%s was made with other options or GUID files; the shape of the nominal fabric is computed again",
			file->path);
	return true;
}

/* Read the nominal fabric.  Returns false if memory was exhausted: the files must then be read
 * again at the next routing.  *is_own: this manager's own file was used, so it need not be
 * written. */
static bool read_state(struct ibf_plugin *p, const char *own,
		       const struct ftr_fabric *f,
		       const struct ftr_shape_opts *opts, struct ftr_team *team,
		       bool *is_own)
{
	struct state_file file[MAX_FILES];
	bool found = false, nomem;
	uint32_t n = list_files(own, file, &nomem);

	*is_own = false;
	for (uint32_t i = 0; i < n; i++) {
		if (!found && !nomem &&
		    try_file(p, &file[i], f, opts, team, &nomem)) {
			found = true;
			*is_own = file[i].own;
			if (!*is_own)
				ibf_log(p, IBF_NOMINAL, "the nominal fabric was read from %s",
					file[i].path);
		}
		free(file[i].path);
	}
	return !nomem;
}

static void log_change(struct ibf_plugin *p,
		       const struct ftr_nominal_change *c, bool first)
{
	const struct ftr_fabric *f = p->nominal->n->f;

	if (c->other)
		ibf_log(p, IBF_NOMINAL, "this is another fabric: %u of %u switches and %u of %u host ports of the nominal fabric are present; the nominal fabric is replaced",
			c->same_sw, c->old_sw, c->same_hosts, c->old_hosts);
	if (first || c->other)
		ibf_log(p, IBF_NOMINAL, "the nominal fabric is the present fabric: %s, %s between switches, %s",
			ibf_count(f->n_sw, "switch", "switches").s,
			ibf_count(f->n_sw_links, "link", "links").s,
			ibf_count(f->n_ep, "host port", "host ports").s);
	else
		ibf_log(p, IBF_NOMINAL, "the nominal fabric has changed: new_switches=%u new_links=%u new_ports=%u replaced_switches=%u modified=%u removed_switches=%u removed_links=%u removed_ports=%u; first: %s%s",
			c->new_sw, c->new_links, c->new_hosts, c->replaced_sw,
			c->changed, c->dropped_sw, c->dropped_links,
			c->dropped_hosts,
			c->example[0] ? c->example : "other options",
			p->nominal->n->shape->tree.ranks_kept ?
			"; the earlier ranks are kept, because the inferred ones are not clearly better" : "");
}

static enum ftr_status write_nominal(const char *path, void *nominal, struct ftr_err *err)
{
	const struct ibf_nominal *n = nominal;

	return ftr_nominal_write(path, n->n, err) ?
		ftr_err_prefix(err, "the state file is not written") : FTR_OK;
}

static void release(void *nominal)
{
	ibf_nominal_put(nominal);
}

/* Queue a job that writes the nominal fabric to `path` (allocated; the job frees it). */
static void write_state(struct ibf_plugin *p, char *path)
{
	const struct ibf_job job = {
		.msg = IBF_STATE_FILE, .path = path, .replaces = true,
		.write = write_nominal, .release = release, .ctx = p->nominal,
	};

	atomic_fetch_add(&p->nominal->refs, 1);
	if (!ibf_writer_put(p->writer, &job))
		ibf_log(p, IBF_STATE_FILE, "the state file is not written: out of memory");
}

/* Update the nominal fabric with f and log the change.  Returns false if nothing changed, or on an
 * error. */
static bool update(struct ibf_plugin *p, const struct ftr_fabric *f,
		   const struct ftr_shape_opts *opts, struct ftr_team *team)
{
	struct ftr_nominal *old = p->nominal ? p->nominal->n : NULL, *new;
	struct ftr_nominal_change change;
	struct ftr_err err = { 0 };
	enum ftr_status st;

	st = ftr_nominal_new(f, opts, old, team, &new, &change, &err);
	if (st) {
		if (st != FTR_SHAPE)
			ibf_log(p, IBF_STATE_FILE, "no nominal fabric: %s",
				err.msg);
		ibf_nominal_forget(p);
		return false;
	}
	if (new == old || !set_nominal(p, new))
		return false;
	log_change(p, &change, !old);
	return true;
}

struct ibf_nominal *ibf_nominal_for(struct ibf_plugin *p,
				    const struct ftr_fabric *f,
				    const struct ftr_shape_opts *opts,
				    struct ftr_team *team)
{
	char *path = own_path(p);
	bool saved = true;

	/* if memory was exhausted, the present fabric must not replace the stored one */
	if (!p->nominal &&
	    (!path || !read_state(p, path, f, opts, team, &saved))) {
		ibf_log(p, IBF_STATE_FILE, "the state files are not read: out of memory; no nominal fabric until the next sweep");
		free(path);
		return NULL;
	}
	if (update(p, f, opts, team))
		saved = false;
	if (p->nominal && path && !saved)
		write_state(p, path);
	else
		free(path);
	if (p->nominal)
		atomic_fetch_add(&p->nominal->refs, 1);
	return p->nominal;
}

void ibf_nominal_put(struct ibf_nominal *n)
{
	if (!n || atomic_fetch_sub(&n->refs, 1) > 1)
		return;
	ftr_nominal_free(n->n);
	free(n);
}

void ibf_nominal_forget(struct ibf_plugin *p)
{
	ibf_nominal_put(p->nominal);
	p->nominal = NULL;
}
