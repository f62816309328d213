// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree save and restore: saves the state of a running fabric in files, and converts
 * it back into a form that OpenSM's engine "file" reads.
 *
 *	DIR/fabric.net		the fabric, with LIDs
 *	DIR/opensm-lfts.dump	the forwarding tables
 *	DIR/sl2vl		SL to VL tables (--sl2vl)
 *	DIR/opensm.conf, ...	options, and the files that these name
 *	DIR/versions		versions of the programs, and the time
 *
 * Tables identify destinations by LID, and LIDs may change between save and restore.
 * restore therefore finds the owner of every present LID in the saved fabric by GUID,
 * and uses the saved entry for it.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/doctor.h"

#ifdef HAVE_IBMAD
#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>
#endif

struct save {
	struct cli_live_opts from;
	const char *conf;
	bool sl2vl;
	struct ftr_sl2vl *m;	/* only with sl2vl */
};

static const struct cli_opt save_options[] = {
	{ "sl2vl", CLI_FLAG, offsetof(struct save, sl2vl), NULL,
	  "also save SL2VL tables (one Get per pair of ports)", NULL, 0,
	  0 },
	CLI_OPT_CONF(struct save),
	CLI_OPTS_LOCAL(struct save, ""),
	CLI_OPT_END
};

struct restore {
	struct cli_live_opts from;
	const char *output;
	unsigned int threads;
};

static const struct cli_opt restore_options[] = {
	CLI_OPT_OUTPUT(struct restore),
	CLI_OPTS_LIVE(struct restore),
	CLI_OPT_THREADS(struct restore),
	CLI_OPT_END
};

/* ---- save: SL to VL ---------------------------------------------------- */

#ifdef HAVE_IBMAD

#define SL2VL_TIMEOUT_MS 500

/* Reads the SL2VL table of every pair of linked ports, port 0 included. */
static enum ftr_status read_switch(struct ftr_sl2vl *m,
				   const struct ftr_fabric *f, ftr_sw s,
				   const ibnd_node_t *node,
				   struct ibmad_port *via, struct ftr_err *err)
{
	for (unsigned int in = 0; in <= f->sw[s].n_ports; in++)
		for (unsigned int out = 1; out <= f->sw[s].n_ports; out++) {
			uint8_t data[IB_SMP_DATA_SIZE] = { 0 };
			ib_portid_t to = node->path_portid;

			if (!ftr_fabric_port(f, s, out)->peer_kind ||
			    (in && !ftr_fabric_port(f, s, in)->
				    peer_kind))
				continue;
			if (!smp_query_via(data, &to, IB_ATTR_SLVL_TABLE,
					   in << 8 | out, SL2VL_TIMEOUT_MS,
					   via))
				return ftr_fail(err, FTR_IO, "switch 0x%016"
						PRIx64 " does not answer for its SL to VL tables",
						node->guid);
			for (unsigned int sl = 0; sl < FTR_N_SL; sl++)
				ftr_sl2vl_set(m, s, (ftr_port)in,
					      (ftr_port)out, sl,
					      sl & 1 ? data[sl / 2] & 15 :
					      data[sl / 2] >> 4);
		}
	return FTR_OK;
}

static enum ftr_status read_sl2vl(void *ctx, struct ibnd_fabric *net,
				  const struct ftr_fabric *f,
				  struct ftr_err *err)
{
	struct save *o = ctx;
	struct ibmad_port *via;
	enum ftr_status st = ftr_sl2vl_new(f, &o->m, err);

	if (st)
		return st;
	via = cli_live_open(&o->from, err);
	if (!via)
		return FTR_IO;
	for (ibnd_node_t *n = net->nodes; !st && n; n = n->next) {
		ftr_sw s = n->type == IB_NODE_SWITCH ?
			   ftr_fabric_find_sw(f, n->guid) : FTR_SW_NONE;

		if (s != FTR_SW_NONE)
			st = read_switch(o->m, f, s, n, via, err);
	}
	mad_rpc_close_port(via);
	return st;
}

#endif

/* ---- save: files ------------------------------------------------------- */

static enum ftr_status write_copy(FILE *out, const void *path,
				  struct ftr_err *err)
{
	FILE *in = fopen(path, "re");
	char buf[65536];
	size_t n;

	if (!in)
		return ftr_fail(err, FTR_IO, "%s: %s", (const char *)path,
				strerror(errno));
	while ((n = fread(buf, 1, sizeof(buf), in)))
		fwrite(buf, 1, n, out);
	fclose(in);
	return FTR_OK;
}

static enum ftr_status write_versions(FILE *out, const void *ctx,
				      struct ftr_err *err)
{
	const struct ftr_fabric *f = ctx;
	char *opensm = doc_find_opensm(), version[DOC_VERSION_MAX];
	time_t now = time(NULL);
	struct tm tm;
	char text[32];

	(void)err;
	gmtime_r(&now, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fprintf(out, "time %s\nibfattree %s\nopensm %s\n", text,
		PACKAGE_VERSION, opensm && doc_file_version(opensm, version) ?
		version : "unknown");
	fprintf(out, "switches %u\nend_ports %u\nmax_lid %u\n", f->n_sw,
		f->n_ep, f->max_lid);
	free(opensm);
	return FTR_OK;
}

static enum ftr_status keep(const char *dir, const char *name, cli_write_fn fn,
			    const void *ctx, struct ftr_err *err)
{
	char *path = NULL;
	enum ftr_status st = cli_path(dir, name, &path, err);

	if (!st)
		st = cli_write(path, fn, ctx, err);
	free(path);
	return st;
}

/* Copies a file that opensm.conf names, under its own name.  If it cannot be read, only a
 * note is printed, since opensm could not read it either. */
static enum ftr_status keep_copy(const char *dir, const char *file,
				 struct ftr_err *err)
{
	const char *name = file ? strrchr(file, '/') : NULL;
	FILE *in;

	if (!file)
		return FTR_OK;
	in = fopen(file, "re");
	if (!in) {
		cli_error("note: %s: %s; it is not saved", file,
			  strerror(errno));
		return FTR_OK;
	}
	fclose(in);
	return keep(dir, name ? name + 1 : file, write_copy, file, err);
}

/* Copies opensm.conf and the files that it names. */
static enum ftr_status keep_files(const char *dir, const struct doc_conf *c,
				  struct ftr_err *err)
{
	const char *const file[] = {
		c->path, c->roots, c->cn, c->io, c->options,
	};
	enum ftr_status st = FTR_OK;

	for (size_t i = 0; !st && i < sizeof(file) / sizeof(file[0]); i++)
		st = keep_copy(dir, file[i], err);
	return st;
}

static enum ftr_status keep_options(const char *dir, const char *conf,
				    struct ftr_err *err)
{
	struct doctor d = { .o.conf = conf };
	enum ftr_status st;

	doc_read_conf(&d);
	if (conf && !d.conf.path)
		return ftr_fail(err, FTR_IO, "%s: cannot be read", conf);
	if (!d.conf.path)
		cli_error("note: there is no opensm.conf in /etc/opensm or /etc/rdma; no options are saved");
	st = keep_files(dir, &d.conf, err);
	doc_free_conf(&d.conf);
	return st;
}

static enum ftr_status save_all(const struct save *o, const char *dir,
				const struct cli_live *live,
				struct ftr_err *err)
{
	const struct cli_tables_of of = { live->f, live->t };
	const struct cli_sl2vl_of sl2vl = { live->f, o->m };
	enum ftr_status st;

	if (mkdir(dir, 0777))
		return ftr_fail(err, FTR_IO, "%s: %s", dir, strerror(errno));
	st = keep(dir, "fabric.net", cli_write_fabric_fn, live->f, err);
	if (!st)
		st = keep(dir, "opensm-lfts.dump", cli_write_tables_fn, &of,
			  err);
	if (!st && o->m)
		st = keep(dir, "sl2vl", cli_write_sl2vl_fn, &sl2vl, err);
	if (!st)
		st = keep_options(dir, o->conf, err);
	return st ? st : keep(dir, "versions", write_versions, live->f, err);
}

static int run_save(int argc, char **argv)
{
	struct save o = { .conf = NULL };
	struct cli_live live = { .f = NULL };
	struct ftr_err err = { 0 };
	enum ftr_status st;
	int n, status = cli_parse(&cli_save, &o, argc, argv, &n);

	if (status >= 0)
		return status;
#ifdef HAVE_IBMAD
	if (o.sl2vl) {
		o.from.look = read_sl2vl;
		o.from.ctx = &o;
	}
#endif
	cli_progress("reading");
	st = cli_live_read(&o.from, &live, &err);
	if (!st && live.missing)
		st = ftr_fail(&err, FTR_IO, "switches without a table: %u; an incomplete set of tables is not saved",
			      live.missing);
	if (!st)
		st = save_all(&o, argv[0], &live, &err);
	cli_progress_end();
	if (st)
		status = cli_fail(&err);
	else
		printf("saved in %s: %u switches, %u end ports\n", argv[0],
		       live.f->n_sw, live.f->n_ep);
	ftr_sl2vl_free(o.m);
	ftr_tables_free(live.t);
	ftr_fabric_free(live.f);
	return st ? status : CLI_CLEAN;
}

const struct cli_cmd cli_save = {
	.name = "save",
	.summary = "save the running fabric, its tables and the options of OpenSM",
	.args = "DIR",
	.text =
"Reads the running fabric and saves in the new directory DIR: the fabric, its\n"
"forwarding tables, opensm.conf with the files that it names, and versions.\n"
"\"ibfattree restore\" converts the saved tables for OpenSM.\n",
	.opts = save_options,
	.min_args = 1,
	.max_args = 1,
	.run = run_save,
};

/* ---- restore ----------------------------------------------------------- */

/* The LID that the owner of lid (in f) has in old; 0: none. */
static ftr_lid old_lid(const struct ftr_fabric *f, ftr_lid lid,
		       const struct ftr_fabric *old)
{
	const struct ftr_lid_owner *o = &f->owner[lid];
	ftr_sw s;
	ftr_ep e;

	switch (o->kind) {
	case FTR_OWNER_SW:
		s = ftr_fabric_find_sw(old, f->sw[o->idx].guid);
		if (s == FTR_SW_NONE || !old->sw[s].lid ||
		    o->offset >= 1u << old->sw[s].lmc)
			return 0;
		return (ftr_lid)(old->sw[s].lid + o->offset);
	case FTR_OWNER_EP:
		e = ftr_fabric_find_ep(old, f->ep[o->idx].guid);
		if (e == FTR_EP_NONE || !old->ep[e].lid ||
		    o->offset >= 1u << old->ep[e].lmc)
			return 0;
		return (ftr_lid)(old->ep[e].lid + o->offset);
	default:
		return 0;
	}
}

static enum ftr_status translate(const struct ftr_fabric *old,
				 const struct ftr_tables *saved,
				 const struct ftr_fabric *f,
				 struct ftr_tables **out, struct ftr_err *err)
{
	ftr_sw *of = calloc((size_t)f->n_sw + 1, sizeof(*of));
	enum ftr_status st = of ? ftr_tables_new(f, true, out, err) :
		ftr_fail(err, FTR_NOMEM, "out of memory for %u switches",
			 f->n_sw);

	for (ftr_sw s = 0; !st && s < f->n_sw; s++)
		of[s] = ftr_fabric_find_sw(old, f->sw[s].guid);
	for (uint32_t lid = 1; !st && lid <= f->max_lid; lid++) {
		ftr_lid was = old_lid(f, (ftr_lid)lid, old);

		for (ftr_sw s = 0; was && s < f->n_sw; s++)
			if (of[s] != FTR_SW_NONE)
				ftr_tables_row(*out, s)[lid] =
					ftr_tables_get(saved, of[s], was);
	}
	free(of);
	return st;
}

static enum ftr_status read_saved(const char *dir, struct ftr_fabric **f,
				  struct ftr_tables **t, struct ftr_err *err)
{
	char *net = NULL, *lfts = NULL;
	enum ftr_status st = cli_path(dir, "fabric.net", &net, err);

	if (!st)
		st = cli_path(dir, "opensm-lfts.dump", &lfts, err);
	if (!st)
		st = ftr_read_fabric(net, 0, f, err);
	if (!st)
		st = cli_read_lfts(lfts, *f, t, NULL, err);
	free(net);
	free(lfts);
	return st;
}

/* Checks the restored tables on the present fabric. */
static enum ftr_status judge(const struct ftr_fabric *f,
			     const struct ftr_tables *t, struct ftr_team *team,
			     int *status, struct ftr_err *err)
{
	const struct ftr_check_opts opts = { .rank = NULL };
	struct ftr_check_report *r = malloc(sizeof(*r));
	bool found;
	char a[CLI_NUM_MAX], b[CLI_NUM_MAX];
	enum ftr_status st = r ? ftr_check_tables(f, t, &opts, team, r, err) :
		ftr_fail(err, FTR_NOMEM, "out of memory for a report");

	if (!st) {
		/* in many valid tables switches of one rank do not reach each other */
		found = r->harmful || r->cdg == FTR_CDG_CYCLE ||
			  r->bad[FTR_CHECK_HOST_HOST];
		printf("tables    %s of %s pairs of end ports do not arrive; credit loops: %s\n",
		       cli_num(a, r->bad[FTR_CHECK_HOST_HOST]),
		       cli_num(b, r->pairs[FTR_CHECK_HOST_HOST]),
		       r->cdg == FTR_CDG_CYCLE ? "FOUND" : "none");
		*status = found ? CLI_FINDINGS : CLI_CLEAN;
	}
	free(r);
	return st;
}

static void print_lines(const char *output)
{
	char *path = realpath(output, NULL);

	printf("for opensm.conf, to replace routing_engine and event_plugin_name:\n"
	       "  routing_engine file\n"
	       "  lfts_file %s\n"
	       "  # LIDs must not change\n"
	       "  honor_guid2lid_file TRUE\n"
	       "then restart opensm.  These tables do not react to faults; use them only temporarily.\n",
	       path ? path : output);
	free(path);
}

static int run_restore(int argc, char **argv)
{
	struct restore o = { .output = NULL };
	struct ftr_fabric *old = NULL;
	struct ftr_tables *saved = NULL, *t = NULL;
	struct cli_live now = { .f = NULL };
	struct cli_tables_of of;
	struct ftr_err err = { 0 };
	struct ftr_team *team;
	enum ftr_status st;
	int n, status = cli_parse(&cli_restore, &o, argc, argv, &n);

	if (status >= 0)
		return status;
	status = cli_live_args("restore", &o.from, n, 1);
	if (status >= 0)
		return status;
	if (o.from.on && n > 1)
		return cli_error("restore: --live reads the fabric from the switches; '%s' cannot be given with it",
				 argv[1]);
	if (!o.output || !strcmp(o.output, "-"))
		return cli_error("restore: --output FILE is needed");
	team = ftr_team_new(o.threads);
	st = read_saved(argv[0], &old, &saved, &err);
	if (!st && (o.from.on || n > 1))
		st = cli_input(&o.from, argv[1], 0, false, &now, &err);
	of.f = now.f ? now.f : old;
	if (!st)
		st = translate(old, saved, of.f, &t, &err);
	of.t = t;
	if (!st)
		st = cli_write(o.output, cli_write_tables_fn, &of, &err);
	if (!st)
		st = judge(of.f, t, team, &status, &err);
	if (st)
		status = cli_fail(&err);
	else
		print_lines(o.output);
	ftr_team_free(team);
	ftr_tables_free(t);
	ftr_tables_free(saved);
	ftr_tables_free(now.t);
	ftr_fabric_free(now.f);
	ftr_fabric_free(old);
	return status;
}

const struct cli_cmd cli_restore = {
	.name = "restore",
	.summary = "convert saved tables for OpenSM's engine \"file\"",
	.args = "DIR [FABRIC]",
	.text =
"Converts the tables that \"ibfattree save\" saved in DIR to the LIDs of FABRIC or,\n"
"with --live, of the running fabric (default: of the saved fabric).  Writes them\n"
"to --output in the format of OpenSM's routing engine \"file\", checks them on that\n"
"fabric, and prints the lines for opensm.conf.  Nothing is written to the fabric.\n"
"Exit status: 0 clean, 1 the tables no longer suit the fabric, 2 bad input.\n",
	.opts = restore_options,
	.min_args = 1,
	.max_args = 2,
	.run = run_restore,
};
