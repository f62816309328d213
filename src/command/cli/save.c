// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree save: saves the state of a running fabric in files.  ibfattree restore: converts
 * the saved tables for OpenSM's engine "file".
 *
 *	DIR/fabric.net		the fabric, with LIDs
 *	DIR/lfts.gz		the forwarding tables, in the compact form
 *	DIR/sl2vl		SL2VL tables (--sl2vl)
 *	DIR/opensm.conf, ...	OpenSM's options, and the files that they name: the GUID files
 *				and the plugin's option file
 *	DIR/versions		versions of the programs, and the time
 *
 * Tables identify destinations by LID, but LIDs may change between save and restore.
 * So restore takes the owner of every present LID, finds it in the saved fabric by
 * GUID, and uses the entries that were saved for it.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"

#ifdef HAVE_IBMAD
#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>
#endif

struct save {		/* options of both commands */
	struct cli_in in;
	const char *conf;
	bool sl2vl;
	struct ftr_sl2vl *m;	/* the SL2VL tables; NULL without --sl2vl */
};

#define OPTS struct save
static const struct cli_opt save_options[] = {
	OPT(FLAG, "sl2vl", sl2vl, NULL, "also save SL2VL tables (one Get per pair of ports)"),
	CLI_OPT_CONF,
	CLI_OPTS_LOCAL(""),
	CLI_OPT_END
};

static const struct cli_opt restore_options[] = {
	CLI_OPT_OUTPUT,
	CLI_OPTS_LIVE,
	CLI_OPT_THREADS,
	CLI_OPT_END
};

/* ---- save: SL2VL ------------------------------------------------------- */

#ifdef HAVE_IBMAD

#define SL2VL_TIMEOUT_MS 500

/* Reads the SL2VL table of every pair (input port, output port).  The input port may be port 0.
 * Ports without a link are left out. */
static void read_switch(struct ftr_sl2vl *m, const struct ftr_fabric *f, ftr_sw s,
			const ibnd_node_t *node, struct ibmad_port *via)
{
	for (unsigned int in = 0; in <= f->sw[s].n_ports; in++)
		for (unsigned int out = 1; out <= f->sw[s].n_ports; out++) {
			uint8_t data[IB_SMP_DATA_SIZE] = { 0 };
			ib_portid_t to = node->path_portid;

			if (!ftr_fabric_port(f, s, out)->peer_kind ||
			    (in && !ftr_fabric_port(f, s, in)-> peer_kind))
				continue;
			if (!smp_query_via(data, &to, IB_ATTR_SLVL_TABLE,
					   in << 8 | out, SL2VL_TIMEOUT_MS, via))
				cli_die("switch 0x%016" PRIx64 " does not answer a Get of its SL2VL tables",
					node->guid);
			for (unsigned int sl = 0; sl < FTR_N_SL; sl++)
				ftr_sl2vl_set(m, s, (ftr_port)in, (ftr_port)out, sl,
					      sl & 1 ? data[sl / 2] & 15 : data[sl / 2] >> 4);
		}
}

static enum ftr_status read_sl2vl(void *ctx, struct ibnd_fabric *net, const struct ftr_fabric *f,
				  struct ftr_err *err)
{
	struct save *o = ctx;
	struct ibmad_port *via;
	enum ftr_status st = ftr_sl2vl_new(f, &o->m, err);

	if (st)
		return st;
	via = cli_live_open(&o->in.from, err);
	if (!via)
		return FTR_IO;
	for (ibnd_node_t *n = net->nodes; n; n = n->next) {
		ftr_sw s = n->type == IB_NODE_SWITCH ?
			   ftr_fabric_find_sw(f, n->guid) : FTR_SW_NONE;

		if (s != FTR_SW_NONE)
			read_switch(o->m, f, s, n, via);
	}
	mad_rpc_close_port(via);
	return FTR_OK;
}

#endif

/* ---- save: files ------------------------------------------------------- */

static void write_versions(const char *path, const struct ftr_fabric *f)
{
	/* The version is read from the file, without running opensm, which compares the same string
	 * when it loads a plugin. */
	FILE *in = popen("PATH=/usr/sbin:/usr/local/sbin:/sbin:$PATH; "
			 "grep -azoE 'OpenSM [0-9.]+$' \"$(command -v opensm)\" 2>/dev/null", "re");
	char version[32] = "unknown";
	FILE *out = cli_create(path);
	time_t now = time(NULL);
	struct tm tm;
	char text[32];

	if (in) {
		(void)!fscanf(in, "OpenSM %31[0-9.]", version);
		pclose(in);
	}
	gmtime_r(&now, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	fprintf(out, "time %s\nibfattree %s\nopensm %s\n", text,
		PACKAGE_VERSION, version);
	fprintf(out, "switches %u\nend_ports %u\nmax_lid %u\n", f->n_sw, f->n_ep, f->max_lid);
	cli_finish(FTR_OK);
}

/* Copies a file that opensm.conf names to dir.  If it cannot be read, only prints a note: opensm
 * could not read the file either. */
static void keep_copy(const char *dir, const char *file)
{
	FILE *in = file ? fopen(file, "re") : NULL, *out;
	char buf[65536];
	size_t n;

	if (!file)
		return;
	if (!in) {
		cli_error("note: %s: %s; it is not saved", file, strerror(errno));
		return;
	}
	out = cli_create(cli_path(dir, basename(file)));
	while ((n = fread(buf, 1, sizeof(buf), in)))
		fwrite(buf, 1, n, out);
	fclose(in);
	cli_finish(FTR_OK);
}

/* Copies opensm.conf, and the GUID files and the plugin's option file that it names. */
static void keep_options(const char *dir, const char *conf)
{
	struct cli_conf c = cli_read_conf(conf);

	if (!c.path)
		cli_error("note: there is no opensm.conf in /etc/opensm or /etc/rdma; no options are saved");
	keep_copy(dir, c.path);
	keep_copy(dir, c.roots);
	keep_copy(dir, c.cn);
	keep_copy(dir, c.io);
	keep_copy(dir, c.options);
	cli_free_conf(&c);
}

static void save_all(const struct save *o, const char *dir, const struct cli_live *live)
{
	if (mkdir(dir, 0700))	/* opensm.conf may contain keys, such as m_key */
		cli_die("%s: %s", dir, strerror(errno));
	cli_write_fabric(cli_path(dir, "fabric.net"), live->f);
	cli_write_tables(cli_path(dir, "lfts.gz"), live->f, live->t);
	if (o->m)
		cli_write_sl2vl(cli_path(dir, "sl2vl"), live->f, o->m);
	keep_options(dir, o->conf);
	write_versions(cli_path(dir, "versions"), live->f);
}

static int run_save(int argc, char **argv)
{
	static struct save o;
	static struct cli_live live;

	cli_parse(&cli_save, &o, argc, argv);
#ifdef HAVE_IBMAD
	if (o.sl2vl) {
		o.in.from.look = read_sl2vl;
		o.in.from.ctx = &o;
	}
#endif
	cli_progress("reading");
	cli_must(cli_live_read(&o.in.from, &live, &cli_err));
	if (live.missing)
		cli_die("switches without a table: %u; an incomplete set of tables is not saved",
			live.missing);
	save_all(&o, argv[0], &live);
	cli_progress_end();
	printf("saved in %s: %s, %s\n", argv[0], CLI_SWITCHES(live.f->n_sw),
	       CLI_HOST_PORTS(live.f->n_ep));
	return CLI_CLEAN;
}

const struct cli_cmd cli_save = {
	.name = "save",
	.summary = "save the running fabric, its tables and the options of OpenSM",
	.args = "DIR",
	.text =
"Creates the directory DIR, and saves in it the running fabric, its forwarding\n"
"tables, opensm.conf with the files that it names, and the versions of the\n"
"programs.  \"ibfattree restore\" converts the saved tables for OpenSM.\n"
"Only the owner can read DIR, because opensm.conf may contain keys (m_key).\n",
	.opts = save_options,
	.min_args = 1, .max_args = 1,
	.run = run_save,
};

/* ---- restore ----------------------------------------------------------- */

/* Returns the LID that the owner of `lid` in fabric f has in fabric `old`; 0: none.  The owner is a
 * switch or a host port, found by its GUID. */
static ftr_lid old_lid(const struct ftr_fabric *f, ftr_lid lid, const struct ftr_fabric *old)
{
	const struct ftr_lid_owner *o = &f->owner[lid];
	ftr_sw s;
	ftr_ep e;

	switch (o->kind) {
	case FTR_OWNER_SW:
		s = ftr_fabric_find_sw(old, f->sw[o->idx].guid);
		if (s == FTR_SW_NONE || !old->sw[s].lid || o->offset >= 1u << old->sw[s].lmc)
			return 0;
		return (ftr_lid)(old->sw[s].lid + o->offset);
	case FTR_OWNER_EP:
		e = ftr_fabric_find_ep(old, f->ep[o->idx].guid);
		if (e == FTR_EP_NONE || !old->ep[e].lid || o->offset >= 1u << old->ep[e].lmc)
			return 0;
		return (ftr_lid)(old->ep[e].lid + o->offset);
	default:
		return 0;
	}
}

static struct ftr_tables *translate(const struct ftr_fabric *old, const struct ftr_tables *saved,
				    const struct ftr_fabric *f)
{
	ftr_sw *of = cli_calloc(f->n_sw, sizeof(*of), "%u switches", f->n_sw);
	struct ftr_tables *t = NULL;

	cli_must(ftr_tables_new(f, true, &t, &cli_err));
	for (ftr_sw s = 0; s < f->n_sw; s++)
		of[s] = ftr_fabric_find_sw(old, f->sw[s].guid);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		ftr_lid was = old_lid(f, (ftr_lid)lid, old);

		for (ftr_sw s = 0; was && s < f->n_sw; s++)
			if (of[s] != FTR_SW_NONE)
				ftr_tables_row(t, s)[lid] =
					ftr_tables_get(saved, of[s], was);
	}
	free(of);
	return t;
}

static void read_saved(const char *dir, struct ftr_fabric **f, struct ftr_tables **t)
{
	cli_must(ftr_read_fabric(cli_path(dir, "fabric.net"), 0, f, &cli_err));
	*t = cli_read_lfts(cli_path(dir, "lfts.gz"), *f, NULL);
}

static int judge(const struct ftr_fabric *f, const struct ftr_tables *t, struct ftr_team *team)
{
	const struct ftr_check_opts opts = { .rank = NULL };
	struct ftr_check_report *r = cli_calloc(1, sizeof(*r), "a report");
	bool found;

	cli_must(ftr_check_tables(f, t, &opts, team, r, &cli_err));
	/* many valid tables do not connect switches of one rank, so only host ports need paths */
	found = r->harmful || r->cdg == FTR_CDG_CYCLE ||
		r->bad[FTR_CHECK_HOST_HOST];
	printf("tables    pairs of host ports without a path: %s of %s; credit loops: %s\n",
	       CLI_NUM(r->bad[FTR_CHECK_HOST_HOST]), CLI_NUM(r->pairs[FTR_CHECK_HOST_HOST]),
	       r->cdg == FTR_CDG_CYCLE ? "FOUND" : "none");
	free(r);
	return found ? CLI_FINDINGS : CLI_CLEAN;
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
	static struct save o;
	static struct ftr_fabric *old;
	static struct ftr_tables *saved, *t;
	static struct cli_live now;
	const struct ftr_fabric *f;
	struct ftr_team *team;
	int n = cli_parse(&cli_restore, &o, argc, argv), status;

	cli_live_args("restore", &o.in.from, n, 1, n > 1 ? argv[1] : NULL);
	if (!o.in.output || !strcmp(o.in.output, "-"))
		cli_die("restore: --output FILE is needed");
	if (cli_packed(o.in.output))
		cli_die("restore: %s: OpenSM cannot read a compressed file; choose a name without .gz",
			o.in.output);
	read_saved(argv[0], &old, &saved);
	if (o.in.from.on || n > 1)
		now = cli_input(&o.in, argv[1]);
	f = now.f ? now.f : old;
	t = translate(old, saved, f);
	cli_write_tables(o.in.output, f, t);
	team = ftr_team_new(o.in.threads);
	status = judge(f, t, team);
	print_lines(o.in.output);
	ftr_team_free(team);
	return status;
}

const struct cli_cmd cli_restore = {
	.name = "restore",
	.summary = "convert saved tables for OpenSM's engine \"file\"",
	.args = "DIR [FABRIC]",
	.text =
"Reads the tables that \"ibfattree save\" saved in DIR, and adapts them to the LIDs\n"
"of FABRIC, of the running fabric (--live) or, by default, of the saved fabric.\n"
"Writes them to the file of --output, in the format of OpenSM's routing engine\n"
"\"file\", checks them on that fabric, and prints the lines for opensm.conf.\n"
"Nothing is written to the fabric.\n"
"Exit status: 0 clean, 1 the tables no longer suit the fabric, 2 bad input.\n",
	.opts = restore_options,
	.min_args = 1, .max_args = 2,
	.run = run_restore,
};
