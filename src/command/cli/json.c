// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Builds, prints and reads JSON.
 *
 * json-c returns NULL when memory is exhausted.  The functions here accept a NULL object, and
 * record the failure.  cli_json_end then prints an error instead of an incomplete object.
 * So callers need not check for NULL.
 *
 * JSON text is UTF-8, but names of nodes and files may contain any bytes.  So every string is
 * cleaned when it is added.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"

static bool no_memory;

struct json_object *cli_json_put(struct json_object *o, const char *key, struct json_object *val)
{
	if (o && val && !json_object_object_add(o, key, val))
		return val;
	no_memory = true;
	json_object_put(val);
	return NULL;
}

/* Appends val, which a then owns; returns it. */
static struct json_object *append(struct json_object *a, struct json_object *val)
{
	if (a && val && !json_object_array_add(a, val))
		return val;
	no_memory = true;
	json_object_put(val);
	return NULL;
}

struct json_object *cli_json_new(const char *command)
{
	struct json_object *o = json_object_new_object();

	cli_json_str(o, "program", PACKAGE_NAME);
	cli_json_str(o, "version", PACKAGE_VERSION);
	cli_json_num(o, "schema", CLI_JSON_SCHEMA);
	cli_json_str(o, "command", command);
	return o;
}

const char *cli_json_string(struct json_object *o, int flags)
{
	const char *text = NULL;

	/* when memory is exhausted, json-c drops text and sets only errno */
	errno = 0;
	if (!no_memory)
		text = json_object_to_json_string_ext(o, flags | JSON_C_TO_STRING_NOSLASHESCAPE);
	return errno == ENOMEM ? NULL : text;
}

int cli_json_end(struct json_object *o, int status)
{
	const char *text;

	cli_json_num(o, "status", (uint64_t)status);
	text = cli_json_string(o, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED);
	if (text)
		puts(text);
	else
		status = cli_error("out of memory for the JSON text");
	json_object_put(o);
	return status;
}

struct json_object *cli_json_object(struct json_object *o, const char *key)
{
	return cli_json_put(o, key, json_object_new_object());
}

struct json_object *cli_json_array(struct json_object *o, const char *key)
{
	return cli_json_put(o, key, json_object_new_array());
}

struct json_object *cli_json_element(struct json_object *a)
{
	return append(a, json_object_new_object());
}

void cli_json_num(struct json_object *o, const char *key, uint64_t n)
{
	cli_json_put(o, key, json_object_new_uint64(n));
}

/* Six significant digits. */
void cli_json_real(struct json_object *o, const char *key, double x)
{
	char text[64];

	snprintf(text, sizeof(text), "%.6g", x);
	cli_json_put(o, key, json_object_new_double_s(x, text));
}

void cli_json_bool(struct json_object *o, const char *key, bool b)
{
	cli_json_put(o, key, json_object_new_boolean(b));
}

static struct json_object *new_string(const char *text)
{
	char *clean = strdup(text);
	struct json_object *o = NULL;

	if (clean)
		o = json_object_new_string(ftr_text_clean(clean));
	free(clean);
	return o;
}

void cli_json_str(struct json_object *o, const char *key, const char *text)
{
	if (text)
		cli_json_put(o, key, new_string(text));
	else if (!o || json_object_object_add(o, key, NULL))
		no_memory = true;
}

void cli_json_text(struct json_object *a, const char *text)
{
	append(a, new_string(text));
}

void cli_json_number(struct json_object *a, uint32_t n)
{
	if (n != UINT32_MAX)
		append(a, json_object_new_uint64(n));
	else if (!a || json_object_array_add(a, NULL))
		no_memory = true;
}

void cli_json_guid(struct json_object *o, const char *key, uint64_t guid)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%016" PRIx64, guid);
	cli_json_str(o, key, text);
}

void cli_json_switch(struct json_object *o, const char *key, const struct ftr_fabric *f, ftr_sw s)
{
	struct json_object *w = cli_json_object(o, key);

	cli_json_guid(w, "guid", f->sw[s].guid);
	cli_json_str(w, "name", f->sw[s].name);
}

void cli_json_place(struct json_object *o, const struct ftr_fabric *f, const struct ftr_shape *sh,
		    ftr_sw s)
{
	cli_json_guid(o, "guid", f->sw[s].guid);
	cli_json_str(o, "name", f->sw[s].name);
	if (!sh)
		return;
	cli_json_num(o, "rank", sh->tree.rank[s]);
	cli_json_num(o, "first_leaf", sh->numbering.pod_first[s]);
	cli_json_num(o, "leaves", ftr_shape_above_leaf(sh, s) ? sh->numbering.pod_leaves[s] : 0);
}

void cli_json_link(struct json_object *o, const struct ftr_fabric *f, ftr_sw s, ftr_port port)
{
	const struct ftr_swport *p = ftr_fabric_port(f, s, port);

	cli_json_switch(o, "from", f, s);
	cli_json_num(o, "from_port", port);
	cli_json_switch(o, "to", f, p->peer);
	cli_json_num(o, "to_port", p->peer_port);
}

void cli_json_lid(struct json_object *o, const struct ftr_fabric *f, ftr_lid lid)
{
	const struct ftr_lid_owner w = f->owner[lid];

	cli_json_num(o, "lid", lid);
	if (w.kind == FTR_OWNER_NONE) {
		cli_json_str(o, "kind", "none");
		return;
	}
	cli_json_str(o, "kind", w.kind == FTR_OWNER_SW ? "switch" : "end port");
	cli_json_guid(o, "guid", w.kind == FTR_OWNER_SW ? f->sw[w.idx].guid : f->ep[w.idx].guid);
	cli_json_str(o, "name", w.kind == FTR_OWNER_SW ? f->sw[w.idx].name : f->ep[w.idx].name);
}

void cli_json_fabric(struct json_object *o, const struct ftr_fabric *f, const struct ftr_shape *sh)
{
	struct json_object *n = cli_json_object(o, "fabric");

	cli_json_num(n, "switches", f->n_sw);
	cli_json_num(n, "end_ports", f->n_ep);
	cli_json_num(n, "end_nodes", f->n_nodes);
	cli_json_num(n, "switch_cables", f->n_sw_links);
	cli_json_num(n, "max_lid", f->max_lid);
	if (!sh)
		return;
	cli_json_num(n, "ranks", sh->tree.n_ranks);
	cli_json_num(n, "leaves", sh->tree.n_leaf);
	cli_json_num(n, "planes", sh->tree.n_planes);
	cli_json_num(n, "pods", sh->tree.n_pods);
	cli_json_num(n, "missing_switches", sh->n_missing_sw);
	cli_json_num(n, "missing_cables", sh->n_missing_links);
	cli_json_num(n, "missing_end_ports", sh->n_missing_hosts);
}
