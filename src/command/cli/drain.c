// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Finds the parts of whatif --drain, and prints for ibfattree-drain as JSON ("ibfattree
 * drain-facts"): the file of drained parts (<ftr/drain.h>), its content with PARTs added, and the
 * effect of the drains without and with PARTs.  Added parts have no user.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/whatif.h"

struct drain {
	struct cli_in in;
	const char *fabric;
};

#define OPTS struct drain
static const struct cli_opt options[] = {
	OPT(FILE, "fabric", fabric, "FILE", "read the fabric from FILE, not from the switches"),
	CLI_OPTS_LOCAL(""),
	CLI_OPT_END
};

/* ---- the file of drained parts ------------------------------------------------ */

/* Without a file, no part is drained.  Only the new file needs the owner that the plugin expects,
 * but a link or a foreign file would be refused there, so refuse it here, too. */
static struct ftr_drains read_drains(const char *path)
{
	struct ftr_drains d = { 0 };

	if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		return d;
	cli_must(ftr_drains_read(path, true, &d, &cli_err));
	return d;
}

/* ---- names ------------------------------------------------------------------ */

/* Adds a part unless it is drained already. */
static void add(struct ftr_drains *d, uint64_t guid, unsigned int port, const char *name)
{
	struct ftr_drain *part;

	for (uint32_t i = 0; i < d->n; i++)
		if (d->part[i].guid == guid && d->part[i].port == port) {
			if (*d->part[i].by)
				cli_error("note: %s is drained already, by %s; ibfattree drains shows when",
					  name, d->part[i].by);
			return;
		}
	if (d->n == FTR_DRAINS_MAX)
		cli_die("more than %u drained parts", FTR_DRAINS_MAX);
	part = realloc(d->part, (d->n + (size_t)1) * sizeof(*part));
	if (!part)
		cli_die("out of memory for %u drained parts", d->n + 1);
	d->part = part;
	part += d->n++;
	*part = (struct ftr_drain){ .guid = guid, .port = (ftr_port)port };
	snprintf(part->name, sizeof(part->name), "%s", name);
}

/* Adds all ports of the host with this name or port GUID; returns false if there is none. */
static bool add_host(struct ftr_drains *d, const struct ftr_fabric *f, const char *word)
{
	uint64_t guid = strtoull(word, NULL, 16), node = 0;
	bool found = false;

	for (ftr_ep e = 0; e < f->n_ep; e++) {
		if (strcmp(f->ep[e].name, word) && f->ep[e].guid != guid)
			continue;
		if (found && f->ep[e].node_guid != node)
			cli_die("drain %s: several hosts have that name; give a port GUID", word);
		node = f->ep[e].node_guid;
		found = true;
		add(d, f->ep[e].guid, 0, f->ep[e].name);
	}
	return found;
}

void cli_drain_word(struct ftr_drains *d, const struct ftr_fabric *f, const char *word)
{
	char *copy = strdup(word), *name;
	unsigned int port = 0;
	ftr_sw s = FTR_SW_NONE;
	bool host;

	if (!copy)
		cli_die("out of memory for a name");
	name = cli_split_port(copy, &port);
	host = !port && add_host(d, f, name);
	free(copy);
	if (host)
		return;
	if (cli_find_part(f, word, &s, &port, &cli_err))
		cli_die("drain %s: %s", word, cli_err.msg);
	add(d, f->sw[s].guid, port, f->sw[s].name);
}

/* ---- drain-facts -------------------------------------------------------------- */

static void put_parts(struct json_object *o, const struct ftr_drains *d)
{
	struct json_object *list = cli_json_array(o, "parts"), *e;

	for (uint32_t i = 0; i < d->n; i++) {
		e = cli_json_element(list);
		cli_json_guid(e, "guid", d->part[i].guid);
		cli_json_num(e, "port", d->part[i].port);
		cli_json_str(e, "name", d->part[i].name);
		cli_json_num(e, "since", d->part[i].since);
		cli_json_str(e, "by", d->part[i].by);
	}
}

static void put_effect(struct json_object *o, const char *key, const struct ftr_fabric *f,
		       const struct ftr_drains *d)
{
	struct json_object *list, *e;
	struct ftr_drained x;

	cli_must(ftr_drain_apply(f, d, FTR_SW_NONE, &x, &cli_err));
	o = cli_json_object(o, key);
	cli_json_num(o, "links", x.n_links);
	cli_json_num(o, "kept", x.n_kept);
	list = cli_json_array(o, "cut");
	for (uint32_t i = 0; i < x.n_cut; i++) {
		e = cli_json_element(list);
		cli_json_guid(e, "guid", f->ep[x.cut[i]].guid);
		cli_json_str(e, "name", f->ep[x.cut[i]].name);
	}
	ftr_drained_clear(&x);
}

static int run_facts(int argc, char **argv)
{
	static struct drain o;
	static struct ftr_drains d;
	int n = cli_parse(&cli_drain_facts, &o, argc, argv);
	struct json_object *json = cli_json_new("drains");
	struct ftr_fabric *f = NULL;

	o.in.live = !o.fabric;
	if (n > 1)
		f = cli_input(&o.in, o.fabric).f;
	d = read_drains(argv[0]);
	cli_json_guid(json, "request", d.request);
	if (n > 1)
		put_effect(json, "before", f, &d);
	for (int i = 1; i < n; i++)
		cli_drain_word(&d, f, argv[i]);
	if (n > 1)
		put_effect(json, "after", f, &d);
	put_parts(json, &d);
	ftr_fabric_free(f);
	return cli_json_end(json, CLI_CLEAN);
}

const struct cli_cmd cli_drain_facts = {
	.name = "drain-facts",
	.args = "FILE [PART...]",
	.text = "Prints the JSON from which ibfattree-drain works.\n",
	.opts = options,
	.min_args = 1, .max_args = CLI_LIST_MAX + 1,
	.run = run_facts,
};
