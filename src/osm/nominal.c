// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The nominal fabric of the plugin, and its state file.
 *
 * Routes stay where they are through faults because they are numbered over
 * what was seen of the fabric so far, not over what is alive now
 * (<ftr/nominal.h>).  That is remembered here from routing to routing, and from
 * one OpenSM to the next in a file beside OpenSM's own (guid2lid and others),
 * in its cache directory.  It is read at the first routing as master, so that a
 * standby manager that shares or copies that directory takes over with the
 * same tables; and written when the fabric has grown.
 *
 * Nothing depends on it but how many entries change: a file that is missing,
 * torn or of another fabric is told of and made anew.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "osm/osm.h"
#include "osm/writer.h"

#define STATE_FILE "ibfattree-nominal"

static char *state_path(void)
{
	const char *dir = getenv("OSM_CACHE_DIR");
	char *path;

	if (!dir || !*dir)
		dir = OSM_DEFAULT_CACHE_DIR;
	return asprintf(&path, "%s/%s", dir, STATE_FILE) < 0 ? NULL : path;
}

static bool is_missing(const char *path)
{
	return access(path, F_OK) != 0;
}

/* Make n the plugin's; it takes n over. */
static bool adopt(struct ibf_plugin *p, struct ftr_nominal *n)
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

static void read_state(struct ibf_plugin *p, const char *path,
		       const struct ftr_shape_opts *opts, struct ftr_team *team)
{
	struct ftr_err err = { 0 };
	struct ftr_nominal *n;
	bool reshaped;

	if (is_missing(path))
		return;
	if (ftr_nominal_read_own(path, opts, team, &n, &reshaped, &err))
		ibf_log(p, IBF_STATE_FILE, "the state file is made anew: %s",
			err.msg);
	else if (adopt(p, n) && reshaped)
		ibf_log(p, IBF_NOMINAL, "%s was made with other options or GUID files; the tree it holds is shaped anew",
			path);
}

static void log_change(struct ibf_plugin *p,
		       const struct ftr_nominal_change *c, bool first)
{
	const struct ftr_fabric *f = p->nominal->n->f;

	if (first)
		ibf_log(p, IBF_NOMINAL, "the nominal fabric is what is seen now: %u switches, %u cables between them, %u end ports",
			f->n_sw, f->n_sw_links, f->n_ep);
	else
		ibf_log(p, IBF_NOMINAL, "the nominal fabric has changed: new %u switches, %u cables, %u end ports; otherwise than before %u; gone for good %u switches, %u cables, %u end ports; first: %s",
			c->new_sw, c->new_cables, c->new_hosts, c->changed,
			c->dropped_sw, c->dropped_cables, c->dropped_hosts,
			c->example[0] ? c->example : "other options");
}

/* Written by the writer's thread, which holds a reference meanwhile. */
struct state_job {
	struct ibf_job job;
	struct ibf_nominal *nominal;
	char *path;
};

static enum ftr_status run_state_job(struct ibf_job *j, struct ftr_err *err)
{
	const struct state_job *job = (const struct state_job *)j;
	enum ftr_status st = ftr_nominal_write(job->path, job->nominal->n,
					       err);

	return st ? ftr_err_prefix(err, "the state file is not written") : st;
}

static void free_state_job(struct ibf_job *j)
{
	struct state_job *job = (struct state_job *)j;

	ibf_nominal_put(job->nominal);
	free(job->path);
	free(job);
}

static void write_state(struct ibf_plugin *p, const char *path)
{
	struct state_job *job = ftr_calloc(1, sizeof(*job));
	char *copy = job ? strdup(path) : NULL;

	if (!copy) {
		free(job);
		ibf_log(p, IBF_STATE_FILE, "the state file is not written: out of memory");
		return;
	}
	atomic_fetch_add(&p->nominal->refs, 1);
	job->nominal = p->nominal;
	job->path = copy;
	job->job = (struct ibf_job){
		.msg = IBF_STATE_FILE, .bytes = sizeof(*job),
		.run = run_state_job, .free = free_state_job, .replaces = copy,
	};
	ibf_writer_put(p->writer, &job->job);
}

/* Take f into account; logs what is to be told. */
static void update(struct ibf_plugin *p, const struct ftr_fabric *f,
		   const struct ftr_shape_opts *opts, struct ftr_team *team,
		   const char *path)
{
	struct ftr_nominal *old = p->nominal ? p->nominal->n : NULL, *new;
	struct ftr_nominal_change change;
	struct ftr_err err = { 0 };

	if (ftr_nominal_new(f, opts, old, team, &new, &change, &err)) {
		ibf_log(p, IBF_STATE_FILE, "no nominal fabric: %s", err.msg);
		ibf_nominal_forget(p);
		return;
	}
	if (new == old || !adopt(p, new))
		return;
	log_change(p, &change, !old);
	if (path)
		write_state(p, path);
}

struct ibf_nominal *ibf_nominal_for(struct ibf_plugin *p,
				    const struct ftr_fabric *f,
				    const struct ftr_shape_opts *opts,
				    struct ftr_team *team)
{
	char *path = state_path();

	if (!p->nominal && path)
		read_state(p, path, opts, team);
	update(p, f, opts, team, path);
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
