// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * ibfattree drain, undrain and drains: take switches, links and host ports out of use, bring them
 * back, and list them.
 *
 * The command replaces the file of drained parts (<ftr/drain.h>), and waits until the plugin's
 * status file has the number of the request.  Then it waits until packets that follow old tables
 * have left.
 */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/whatif.h"

#define DEFAULT_OPTIONS "/etc/opensm/ibfattree.conf"
#define TIMEOUT_MAX 86400
#define NAMED 10		/* host ports named before "and N more" */

struct drain {
	struct cli_in in;
	const char *fabric, *conf, *status;
	unsigned int timeout;
	bool dry_run, force, all;
};

#define OPTS_FILES \
	CLI_OPT_CONF, \
	OPT(FILE, "status", status, "DIR", \
	    "directory of ibfattree-status.json (dump_files_dir of OpenSM)", "/var/log")
#define OPTS_WAIT \
	OPT(UINT, "timeout", timeout, "SECONDS", \
	    "time to wait for the plugin; 0: do not wait", "60", 0, TIMEOUT_MAX)

#define OPTS struct drain
static const struct cli_opt drain_options[] = {
	OPT(FILE, "fabric", fabric, "FILE", "read the fabric from FILE, not from the switches"),
	OPT(FLAG, "dry-run", dry_run, NULL, "only show the effect"),
	OPT(FLAG, "force", force, NULL, "drain although hosts have no other way"),
	OPTS_WAIT,
	OPTS_FILES,
	CLI_OPTS_LOCAL(""),
	CLI_OPT_END
};

static const struct cli_opt undrain_options[] = {
	OPT(FLAG, "all", all, NULL, "undrain all parts"),
	OPTS_WAIT,
	OPTS_FILES,
	CLI_OPT_END
};

static const struct cli_opt drains_options[] = {
	CLI_OPT_JSON,
	OPTS_FILES,
	CLI_OPT_END
};

/* ---- the file of drained parts ------------------------------------------------ */

/* The path of the file, which is beside the plugin's options file. */
static const char *file_path(const struct drain *o)
{
	struct cli_conf c = cli_read_conf(o->conf);
	static char *path;

	if (asprintf(&path, "%s.drains", c.options ? c.options : DEFAULT_OPTIONS) < 0)
		cli_die("out of memory for a path");
	cli_free_conf(&c);
	return path;
}

/* Without a file, no part is drained.  Only the new file needs the owner that the plugin expects,
 * but a link or a foreign file would be refused there, so refuse it here, too. */
static struct ftr_drains read_drains(const char *path)
{
	struct ftr_drains d = { 0 };

	if (access(path, F_OK) && errno == ENOENT)
		return d;
	cli_must(ftr_drains_read(path, true, &d, &cli_err));
	return d;
}

static struct ftr_drain *add_part(struct ftr_drains *d)
{
	struct ftr_drain *more;

	if (d->n == FTR_DRAINS_MAX)
		cli_die("more than %u drained parts", FTR_DRAINS_MAX);
	more = realloc(d->part, (d->n + (size_t)1) * sizeof(*more));
	if (!more)
		cli_die("out of memory for %u drained parts", d->n + 1);
	d->part = more;
	more[d->n] = (struct ftr_drain){ .guid = 0 };
	return &more[d->n++];
}

/* ---- names ------------------------------------------------------------------ */

static void user_name(char *out, size_t size)
{
	const char *sudo = getenv("SUDO_USER");
	const struct passwd *pw = sudo && *sudo ? NULL : getpwuid(getuid());
	size_t n;

	snprintf(out, size, "%s", sudo && *sudo ? sudo : pw ? pw->pw_name : "unknown");
	n = strspn(out, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-");
	out[n] = '\0';
	if (!n)
		snprintf(out, size, "unknown");
}

/* Adds a part unless it is drained already.  Returns the number of added parts. */
static unsigned int add(struct ftr_drains *d, uint64_t guid, unsigned int port, const char *name)
{
	struct ftr_drain *part;

	for (uint32_t i = 0; i < d->n; i++)
		if (d->part[i].guid == guid && d->part[i].port == port) {
			cli_error("note: %s is drained already, since %" PRIu64 ", by %s", name,
				  d->part[i].since, d->part[i].by);
			return 0;
		}
	part = add_part(d);
	part->guid = guid;
	part->port = (ftr_port)port;
	part->since = (uint64_t)time(NULL);
	user_name(part->by, sizeof(part->by));
	snprintf(part->name, sizeof(part->name), "%s", name);
	return 1;
}

/* Adds all ports of the host with this name or port GUID; returns the number of ports found. */
static unsigned int add_host(struct ftr_drains *d, const struct ftr_fabric *f, const char *word,
			     unsigned int *added)
{
	unsigned int found = 0;
	uint64_t guid = strtoull(word, NULL, 16), node = 0;

	for (ftr_ep e = 0; e < f->n_ep; e++) {
		if (strcmp(f->ep[e].name, word) && f->ep[e].guid != guid)
			continue;
		if (found && f->ep[e].node_guid != node)
			cli_die("drain %s: several hosts have that name; give a port GUID", word);
		node = f->ep[e].node_guid;
		found++;
		*added += add(d, f->ep[e].guid, 0, f->ep[e].name);
	}
	return found;
}

static unsigned int add_word(struct ftr_drains *d, const struct ftr_fabric *f, const char *word)
{
	char *copy = strdup(word), *name;
	unsigned int port = 0, added = 0;
	ftr_sw s = FTR_SW_NONE;
	bool host;

	if (!copy)
		cli_die("out of memory for a name");
	name = cli_split_port(copy, &port);
	host = !port && add_host(d, f, name, &added);
	free(copy);
	if (host)
		return added;
	if (cli_find_part(f, word, &s, &port, &cli_err))
		cli_die("drain %s: %s", word, cli_err.msg);
	return add(d, f->sw[s].guid, port, f->sw[s].name);
}

void cli_drain_words(const struct ftr_fabric *f, const struct cli_list *parts,
		     struct ftr_drains *out)
{
	struct ftr_drained d;

	for (unsigned int i = 0; i < parts->n; i++)
		add_word(out, f, parts->v[i]);
	if (!out->n)
		return;
	cli_must(ftr_drain_apply(f, out, FTR_SW_NONE, &d, &cli_err));
	if (d.n_cut)
		cli_error("note: %s reached only over drained parts",
			  CLI_COUNT(d.n_cut, "host port is", "host ports are"));
	ftr_drained_clear(&d);
}

/* ---- waiting for the plugin ------------------------------------------------- */

enum answer { NO_ANSWER, REFUSED, WRITTEN };

/* Reads the status file.  reason: why the plugin does not use the file, or does not route. */
static enum answer ask(const char *dir, uint64_t request, char *reason, size_t size,
		       double *life_ms)
{
	struct json_object *o = cli_json_read(cli_path(dir, "ibfattree-status.json"));
	struct json_object *d = json_object_object_get(o, "drains");
	const char *error = cli_json_get_text(d, "error");
	enum answer a = NO_ANSWER;

	(void)cli_json_get_real(d, "packet_lifetime_ms", life_ms);
	if (*error)
		a = REFUSED;
	else if (strtoull(cli_json_get_text(d, "written"), NULL, 16) == request)
		a = WRITTEN;
	else
		error = cli_json_get_text(o, "reason");
	if (o)
		snprintf(reason, size, "%s", error);
	json_object_put(o);
	return a;
}

static void pause_ms(double ms)
{
	struct timespec t = { (time_t)(ms / 1e3), 0 };

	t.tv_nsec = (long)((ms - (double)t.tv_sec * 1e3) * 1e6);
	nanosleep(&t, NULL);
}

/* Waits until the tables are written and the last packet has left.  Dies if the plugin does not
 * answer in time. */
static void wait_for_plugin(const struct drain *o, const char *path, uint64_t request)
{
	const double interval = 100, end = cli_now() + o->timeout;
	char reason[512] = "";
	double life = 0;

	for (;;) {
		switch (ask(o->status, request, reason, sizeof(reason), &life)) {
		case WRITTEN:
			pause_ms(life);
			return;
		case REFUSED:
			if (cli_now() > end - o->timeout + 2)	/* not the answer to an old file */
				cli_die("the plugin does not use the file: %s", reason);
			break;
		case NO_ANSWER:
			break;
		}
		if (cli_now() > end)
			cli_die("no answer from the plugin within %u s: status=%s/ibfattree-status.json%s%s; %s is written and takes effect when this manager routes as master; do not unplug yet",
				o->timeout, o->status, *reason ? " reason=" : "", reason, path);
		pause_ms(interval);
	}
}

static void submit(const struct drain *o, const char *path, struct ftr_drains *d)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	d->request = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	cli_must(ftr_drains_write(path, d, &cli_err));
	if (o->timeout)
		wait_for_plugin(o, path, d->request);
}

/* ---- drain ------------------------------------------------------------------- */

/* Prints the host ports that would be cut off.  Returns the number of those that are not cut off
 * by the earlier drains. */
static uint32_t show_cut(const struct ftr_fabric *f, const struct ftr_drained *was,
			 const struct ftr_drained *now)
{
	uint32_t n = 0;

	for (uint32_t i = 0, k = 0; i < now->n_cut; i++) {
		const struct ftr_endport *e = &f->ep[now->cut[i]];

		while (k < was->n_cut && was->cut[k] < now->cut[i])
			k++;
		if (k < was->n_cut && was->cut[k] == now->cut[i])
			continue;
		if (n++ < NAMED)
			printf("no other way: 0x%016" PRIx64 " \"%s\"\n", e->guid, e->name);
	}
	if (n > NAMED)
		printf("no other way: %u more host ports\n", n - NAMED);
	return n;
}

static int run_drain(int argc, char **argv)
{
	static struct drain o;
	static struct ftr_drains d;
	static struct ftr_drained was, now;
	static struct cli_live live;
	int n = cli_parse(&cli_drain, &o, argc, argv);
	const char *path = file_path(&o);
	unsigned int added = 0;
	uint32_t cut;

	o.in.from.on = !o.fabric;
	live = cli_input(&o.in, o.fabric);
	d = read_drains(path);
	cli_must(ftr_drain_apply(live.f, &d, FTR_SW_NONE, &was, &cli_err));
	for (int i = 0; i < n; i++)
		added += add_word(&d, live.f, argv[i]);
	cli_must(ftr_drain_apply(live.f, &d, FTR_SW_NONE, &now, &cli_err));
	printf("drained parts: %u, of which new: %u; links out of use: %u; drained links still used by traffic that has no other way: %u\n",
	       d.n, added, now.n_links, now.n_kept);
	cut = show_cut(live.f, &was, &now);
	if (o.dry_run)
		return cut ? CLI_FINDINGS : CLI_CLEAN;
	if (cut && !o.force)
		cli_die("drain: %s reached only over drained parts, and would be cut off when these are unplugged; nothing is changed; --force drains nevertheless",
			CLI_COUNT(cut, "host port is", "host ports are"));
	submit(&o, path, &d);
	if (!o.timeout)
		printf("requested; not safe to unplug yet (see ibfattree drains)\n");
	else if (now.n_cut)
		printf("safe to unplug, except for the %s without another way\n",
		       CLI_HOST_PORTS(now.n_cut));
	else
		printf("safe to unplug\n");
	return CLI_CLEAN;
}

const struct cli_cmd cli_drain = {
	.name = "drain",
	.summary = "take switches, links or host ports out of use",
	.args = "PART...",
	.text =
"Takes each PART out of use without touching its physical state: a switch (name or\n"
"GUID), a link (NAME[PORT]), or all ports of a host.  Only traffic that has no other\n"
"way crosses a drained part.  The command ends with \"safe to unplug\" when the new\n"
"tables are written and packets that follow old tables have left.\n"
"Run it on the node of the master subnet manager.\n"
"Exit status: 0 done, 1 with --dry-run if hosts would be cut off, 2 failure.\n",
	.opts = drain_options,
	.min_args = 1, .max_args = CLI_LIST_MAX,
	.run = run_drain,
};

/* ---- undrain and drains ---------------------------------------------- */

/* Removes the parts that a word names by name or GUID; with a port, only that link. */
static void remove_word(struct ftr_drains *d, const char *word)
{
	char *copy = strdup(word), *name, *end;
	unsigned int port;
	uint64_t guid, first = 0;
	uint32_t n = 0;

	if (!copy)
		cli_die("out of memory for a name");
	name = cli_split_port(copy, &port);
	guid = strtoull(name, &end, 16);
	if (*end)
		guid = 0;
	for (uint32_t i = 0; i < d->n; i++) {
		const struct ftr_drain *p = &d->part[i];

		if ((strcmp(p->name, name) && (!guid || p->guid != guid)) || p->port != port) {
			d->part[n++] = *p;
			continue;
		}
		if (first && first != p->guid && strncmp(p->name, name, sizeof(p->name)))
			cli_die("undrain %s: several drained parts have that name; give a GUID", word);
		first = p->guid;
	}
	if (n == d->n)
		cli_die("undrain %s: no drained part has that name or GUID (ibfattree drains lists them)",
			word);
	d->n = n;
	free(copy);
}

static int run_undrain(int argc, char **argv)
{
	static struct drain o;
	static struct ftr_drains d;
	int n = cli_parse(&cli_undrain, &o, argc, argv);
	const char *path = file_path(&o);

	if (o.all == (n > 0))
		cli_die("undrain: give either parts or --all");
	d = read_drains(path);
	for (int i = 0; i < n; i++)
		remove_word(&d, argv[i]);
	if (o.all)
		d.n = 0;
	submit(&o, path, &d);
	printf("drained parts: %u%s\n", d.n, o.timeout ? "" : " (requested)");
	return CLI_CLEAN;
}

const struct cli_cmd cli_undrain = {
	.name = "undrain",
	.summary = "bring drained parts back into use",
	.args = "[PART...]",
	.text =
"Brings drained parts back into use; a PART is named as \"ibfattree drains\" lists it.\n"
"The tables are then the same as before the drain.\n",
	.opts = undrain_options,
	.min_args = 0, .max_args = CLI_LIST_MAX,
	.run = run_undrain,
};

#define PART_TEXT_MAX (FTR_NAME_MAX + FTR_DRAIN_USER_MAX + 80)

static const char *part_text(char buf[PART_TEXT_MAX], const struct ftr_drain *p)
{
	char when[32] = "?", port[8] = "";
	time_t t = (time_t)p->since;
	struct tm tm;

	if (localtime_r(&t, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &tm);
	if (p->port)
		snprintf(port, sizeof(port), "[%u]", p->port);
	snprintf(buf, PART_TEXT_MAX, "0x%016" PRIx64 "%s \"%s\" since=%s by=%s", p->guid, port,
		 p->name, when, p->by);
	return buf;
}

static int print_json(const struct ftr_drains *d, bool in_effect)
{
	struct json_object *o = cli_json_new("drains"), *list;

	cli_json_bool(o, "in_effect", in_effect);
	list = cli_json_array(o, "parts");
	for (uint32_t i = 0; i < d->n; i++) {
		struct json_object *p = cli_json_element(list);

		cli_json_guid(p, "guid", d->part[i].guid);
		cli_json_num(p, "port", d->part[i].port);
		cli_json_str(p, "name", d->part[i].name);
		cli_json_num(p, "since", d->part[i].since);
		cli_json_str(p, "by", d->part[i].by);
	}
	return cli_json_end(o, in_effect || !d->n ? CLI_CLEAN : CLI_FINDINGS);
}

static int run_drains(int argc, char **argv)
{
	static struct drain o;
	static struct ftr_drains d;
	char reason[512] = "", text[PART_TEXT_MAX];
	enum answer a;
	double life;

	cli_parse(&cli_drains, &o, argc, argv);
	d = read_drains(file_path(&o));
	a = ask(o.status, d.request, reason, sizeof(reason), &life);
	if (o.in.json)
		return print_json(&d, a == WRITTEN);
	for (uint32_t i = 0; i < d.n; i++)
		puts(part_text(text, &d.part[i]));
	printf("drained parts: %u; %s%s%s\n", d.n, a == WRITTEN ? "in effect" :
	       "NOT in effect (the plugin of this node has not routed with this list)",
	       *reason ? ": " : "", a == WRITTEN ? "" : reason);
	return a == WRITTEN || !d.n ? CLI_CLEAN : CLI_FINDINGS;
}

const struct cli_cmd cli_drains = {
	.name = "drains",
	.summary = "list the drained parts",
	.args = "",
	.text =
"Lists the drained parts, who drained them and when, and whether the plugin on this\n"
"node routes without them.\n"
"Exit status: 0 in effect, or nothing is drained; 1 not in effect; 2 failure.\n",
	.opts = drains_options,
	.min_args = 0, .max_args = 0,
	.run = run_drains,
};
