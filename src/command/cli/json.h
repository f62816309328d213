/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * json: output of --json, built with json-c.  One object per command; members appear
 * in the order of the calls.  Describe a new member in ibfattree-json(5), which is the schema.
 */
#ifndef FTR_CLI_JSON_H
#define FTR_CLI_JSON_H

#include <json-c/json.h>

#include <ftr/ftr.h>

#define CLI_JSON_SCHEMA 1

/* Creates the object of a command, with the members that all commands have. */
struct json_object *cli_json_new(const char *command);
/* Returns the text of o, or NULL if memory was exhausted. */
const char *cli_json_string(struct json_object *o, int flags);
/* Adds the exit status, prints and frees o; returns status, or CLI_BAD on failure. */
int cli_json_end(struct json_object *o, int status);

/* Each of these functions adds a member to o.  If o is NULL (no memory), cli_json_end
 * reports the error. */
struct json_object *cli_json_object(struct json_object *o, const char *key);
/* Adds val, which o then owns; returns it. */
struct json_object *cli_json_put(struct json_object *o, const char *key, struct json_object *val);
struct json_object *cli_json_array(struct json_object *o, const char *key);
/* Appends an object to the array a. */
struct json_object *cli_json_element(struct json_object *a);
/* Appends a string to the array a. */
void cli_json_text(struct json_object *a, const char *text);
/* Appends a number to the array a; UINT32_MAX: null. */
void cli_json_number(struct json_object *a, uint32_t n);
void cli_json_num(struct json_object *o, const char *key, uint64_t n);
void cli_json_real(struct json_object *o, const char *key, double x);
void cli_json_bool(struct json_object *o, const char *key, bool b);
/* If text is NULL, the value is null.  Characters that ftr_text_clean replaces, such as control
 * characters, become '?'. */
void cli_json_str(struct json_object *o, const char *key, const char *text);
void cli_json_guid(struct json_object *o, const char *key, uint64_t guid);
/* Adds an object with "guid" and "name" of a switch. */
void cli_json_switch(struct json_object *o, const char *key, const struct ftr_fabric *f, ftr_sw s);
/* Adds "guid" and "name" of switch s to o, and, unless sh is NULL, its place in the tree ("rank",
 * "first_leaf", "leaves"). */
void cli_json_place(struct json_object *o, const struct ftr_fabric *f, const struct ftr_shape *sh,
		    ftr_sw s);
/* Adds "from", "from_port", "to" and "to_port" to o: the link from that port of s to another
 * switch. */
void cli_json_link(struct json_object *o, const struct ftr_fabric *f, ftr_sw s, ftr_port port);
/* Adds "lid", "kind", "guid" and "name" of a destination to o.  lid: at most f->max_lid. */
void cli_json_lid(struct json_object *o, const struct ftr_fabric *f, ftr_lid lid);
/* Adds the object "fabric": the numbers of switches, host ports, end nodes and links of f, and the
 * highest LID.  If sh is not NULL, also adds the numbers of ranks, leaves, planes, pods and missing
 * parts. */
void cli_json_fabric(struct json_object *o, const struct ftr_fabric *f, const struct ftr_shape *sh);

#endif
