// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state file of the plugin: what survives a restart (<ftr/state.h>).
 *
 * The nominal fabric consists of all switches and links seen so far (<ftr/nominal.h>).
 * Destinations are numbered in the nominal fabric, not in the present one, so a fault
 * changes few entries.  The state file holds the nominal fabric and the preferred tables
 * (prefer.c) of the engine that routed last.  It is in OpenSM's cache directory, beside guid2lid.
 *
 * Each subnet manager writes a file of its own, ibfattree-state-PORTGUID, because one host
 * may run several managers for different fabrics.  At its first routing as master, a manager
 * reads the files of all managers, the newest first.  It uses the first file that belongs to
 * its fabric, and then writes its own file.  So a standby that shares or copies the
 * directory takes over with the same tables.  Files of other users are not read.
 *
 * After each routing that has changed the state, the process of the writer (writer.h) writes the file.
 *
 * If the files are lost, more entries than necessary change at the next routing; this is the
 * only consequence.  If a manager's own file is damaged or belongs to another fabric, it is
 * replaced, and this is logged.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "osm/osm.h"
#include "osm/writer.h"

#define STATE_FILE "ibfattree-state-"

static const char *state_dir(void)
{
	const char *dir = getenv("OSM_CACHE_DIR");

	return dir && *dir ? dir : OSM_DEFAULT_CACHE_DIR;
}

static char *own_path(const struct ibf_plugin *p)
{
	return ftr_asprintf("%s/" STATE_FILE "%016" PRIx64, state_dir(),
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

	return FTR_ORDER(b->at.tv_sec, a->at.tv_sec) ?: FTR_ORDER(b->at.tv_nsec, a->at.tv_nsec) ?:
	       FTR_ORDER(b->own, a->own) ?: strcmp(a->path, b->path);
}

static bool is_state_name(const char *name)
{
	const size_t len = sizeof(STATE_FILE) - 1;

	return !strncmp(name, STATE_FILE, len) && strlen(name) == len + 16 &&
		strspn(name + len, "0123456789abcdef") == 16;
}

/* List the state files, the newest first.  Files of other users, which may be many, are left out.
 * *nomem: memory was exhausted, and the list is incomplete. */
static uint32_t list_files(const char *own, struct state_file **file, bool *nomem)
{
	DIR *dir = ftr_opendir(state_dir());
	const struct dirent *d;
	uint32_t n = 0, cap = 0;

	*file = NULL;
	*nomem = !dir && errno == ENOMEM;
	while (dir && (d = readdir(dir))) {
		struct stat st;
		char *path;

		if (!is_state_name(d->d_name) ||
		    fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) ||	/* not covered: a file that vanishes */
		    (st.st_uid && st.st_uid != geteuid()))
			continue;
		path = ftr_asprintf("%s/%s", state_dir(), d->d_name);
		if (!path || !FTR_GROW(*file, n, cap)) {
			free(path);
			*nomem = true;
			continue;
		}
		(*file)[n++] = (struct state_file){ path, st.st_mtim, !strcmp(path, own) };
	}
	if (dir)
		closedir(dir);
	if (n)
		qsort(*file, n, sizeof(**file), newer);
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
	new->id = ftr_nominal_id(n);
	ibf_nominal_put(p->nominal);
	p->nominal = new;
	p->stored = NULL;
	return true;
}

/* Give the tables to their engine, if it has not routed yet. */
static void restore_tables(struct ibf_plugin *p, const struct state_file *file, struct ftr_state *s)
{
	for (unsigned int i = 0; i < p->n_engines; i++) {
		struct ibf_engine *e = &p->engine[i];

		if (strcmp(e->ops->name, s->engine) || e->prefer.stage != IBF_NO_ROUTING)
			continue;
		ibf_prefer_restore(e, p->nominal, s);
		p->stored = file->own ? e : NULL;
		return;
	}
}

/* Use what was read from the file: the nominal fabric, and the tables of one engine.  *nomem:
 * memory was exhausted. */
static void use_state(struct ibf_plugin *p, const struct state_file *file, struct ftr_state *s,
		      bool *nomem)
{
	struct ftr_nominal *n = s->nominal;

	s->nominal = NULL;
	*nomem = !set_nominal(p, n);
	if (*nomem)
		return;
	if (s->reshaped)
		ibf_log(p, IBF_NOMINAL, "%s was made with other options or GUID files; the shape of the nominal fabric is computed again",
			file->path);
	else if (s->t)
		restore_tables(p, file, s);
	if (!file->own)
		ibf_log(p, IBF_NOMINAL, "the nominal fabric was read from %s", file->path);
}

/* Use the file if it belongs to the fabric f.  Returns true if it is used.  *nomem: memory was
 * exhausted. */
static bool try_file(struct ibf_plugin *p, const struct state_file *file,
		     const struct ftr_fabric *f,
		     const struct ftr_shape_opts *opts, bool *nomem)
{
	struct ftr_nominal_change c = { 0 };
	struct ftr_err err = { 0 };
	struct ftr_state s;
	enum ftr_status st;
	bool use;

	st = ftr_state_read(file->path, true, opts, &s, &err);
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
	*nomem = ftr_nominal_compare(s.nominal, f, &c, &err) == FTR_NOMEM;
	use = !*nomem && !c.other;
	if (use)
		use_state(p, file, &s, nomem);
	else if (file->own && !*nomem)	/* another manager on this host may manage another fabric */
		ibf_log(p, IBF_STATE_FILE, "state file not used: %s belongs to another fabric: %u of its %u switches and %u of its %u host ports are in the present fabric; it is replaced",
			file->path, c.same_sw, c.old_sw, c.same_hosts, c.old_hosts);
	ftr_state_clear(&s);
	return use && !*nomem;
}

/* Read the state.  Returns false if memory was exhausted: the files must then be read again at the
 * next routing. */
static bool read_state(struct ibf_plugin *p, const struct ftr_fabric *f,
		       const struct ftr_shape_opts *opts)
{
	char *own = own_path(p);
	struct state_file *file = NULL;
	bool found = false, nomem = !own;
	uint32_t n = own ? list_files(own, &file, &nomem) : 0;

	for (uint32_t i = 0; i < n; i++) {
		if (!found && !nomem)
			found = try_file(p, &file[i], f, opts, &nomem);
		free(file[i].path);
	}
	free(file);
	free(own);
	return !nomem;
}

static void log_change(struct ibf_plugin *p, const struct ftr_nominal_change *c, bool first)
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

/* Update the nominal fabric with f and log the change. */
static void update(struct ibf_plugin *p, const struct ftr_fabric *f,
		   const struct ftr_shape_opts *opts)
{
	struct ftr_nominal *old = p->nominal ? p->nominal->n : NULL, *new;
	struct ftr_nominal_change change;
	struct ftr_err err = { 0 };
	enum ftr_status st;

	st = ftr_nominal_new(f, opts, old, &new, &change, &err);
	if (st) {
		if (st != FTR_SHAPE)
			ibf_log(p, IBF_STATE_FILE, "no nominal fabric: %s", err.msg);
		ibf_nominal_forget(p);
	} else if (new != old && set_nominal(p, new)) {
		log_change(p, &change, !old);
	}
}

struct ibf_nominal *ibf_nominal_for(struct ibf_plugin *p, const struct ftr_fabric *f,
				    const struct ftr_shape_opts *opts)
{
	/* if memory was exhausted, the present fabric must not replace the stored one */
	if (!p->nominal && !read_state(p, f, opts)) {
		ibf_nominal_forget(p);
		ibf_log(p, IBF_STATE_FILE, "the state files are not read: out of memory; no nominal fabric until the next sweep");
		return NULL;
	}
	update(p, f, opts);
	if (p->nominal)
		atomic_fetch_add(&p->nominal->refs, 1);
	return p->nominal;
}

void ibf_nominal_forget(struct ibf_plugin *p)
{
	ibf_nominal_put(p->nominal);
	p->nominal = NULL;
}

/* ---- writing -------------------------------------------------------------------- */

struct content {
	struct ibf_nominal *nominal;
	struct ibf_generation *gen;	/* has the preferred tables; may be NULL */
	struct ftr_state s;
};

static bool fill(FILE *out, const void *ctx)
{
	const struct content *c = ctx;

	return ftr_state_fill(out, &c->s);
}

static void release(void *ctx)
{
	struct content *c = ctx;

	if (!c)
		return;
	free(c->s.turn);
	free(c->s.displaced);
	ibf_nominal_put(c->nominal);
	ibf_generation_put(c->gen);
	free(c);
}

/* Add the preferred tables, if they are those of a complete fabric.  gen: the routing in use. */
static bool add_preferred(struct content *c, const struct ibf_engine *e,
			  const struct ibf_generation *gen)
{
	const struct ibf_prefer *r = &e->prefer;
	struct ftr_state *s = &c->s;

	if (!r->gen || !ibf_is_complete(r->gen))
		return true;
	c->gen = ibf_generation_get(r->gen);
	s->f = c->gen->fabric;
	s->t = c->gen->tables;
	snprintf(s->engine, sizeof(s->engine), "%s", e->ops->name);
	s->searched = r->stage == IBF_SEARCHED || r->stage == IBF_CONFIRMED;
	s->given = c->gen->given;
	s->n_given = c->gen->n_given;
	s->n_displaced = r->n_entries;
	s->displaced = ftr_calloc(r->n_entries + 1u, sizeof(*s->displaced));
	if (s->displaced && r->n_entries)
		memcpy(s->displaced, r->entry, r->n_entries * sizeof(*s->displaced));
	return s->displaced && ftr_turns_carry(gen->fabric, gen->opts.turn, gen->opts.n_turns,
					       s->f, &s->turn, &s->n_turns);
}

/* The memory of the content does not count towards IBF_WRITER_BYTES: it may be larger than this
 * limit, but there is at most one waiting job for the file. */
void ibf_state_store(struct ibf_engine *e, const struct ibf_generation *gen)
{
	struct ibf_plugin *p = e->plugin;
	struct content *c;
	struct ibf_job job = {
		.msg = IBF_STATE_FILE, .fill = fill, .release = release,
	};

	if (!gen->nominal || p->stored == e)
		return;
	c = ftr_calloc(1, sizeof(*c));
	job.ctx = c;
	if (c) {
		c->nominal = gen->nominal;
		atomic_fetch_add(&c->nominal->refs, 1);
		c->s.nominal = c->nominal->n;
		if (add_preferred(c, e, gen))
			job.path = own_path(p);
	}
	if (ibf_writer_put(p->writer, &job))
		p->stored = e;
	else
		ibf_log(p, IBF_STATE_FILE, "the state file is not written: out of memory");
}
