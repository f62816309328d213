// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads JSON strictly, for the tests of --json.
 *
 *	jsonq FILE			check that FILE (less than 4 MiB) is one well-formed
 *					JSON text other than null
 *	jsonq FILE a.b.0.c		print the value at this path
 *	jsonq --keys FILE		print the names of all members
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

static int fail(const char *what, const char *value)
{
	fprintf(stderr, "jsonq: %s: %s\n", what, value);
	return 2;
}

static struct json_object *parse(const char *path)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o = NULL;
	FILE *in = fopen(path, "r");
	static char text[1 << 22];
	size_t n;

	if (in && tok) {
		n = fread(text, 1, sizeof(text) - 1, in);
		json_tokener_set_flags(tok, JSON_TOKENER_STRICT |
				       JSON_TOKENER_VALIDATE_UTF8);
		o = json_tokener_parse_ex(tok, text, (int)n + 1);
		if (json_tokener_get_error(tok) != json_tokener_success) {
			fail(path, json_tokener_error_desc(
					json_tokener_get_error(tok)));
			json_object_put(o);
			o = NULL;
		}
	}
	if (in)
		fclose(in);
	if (tok)
		json_tokener_free(tok);
	return o;
}

static int print_at(struct json_object *o, char *path)
{
	for (char *key = strtok(path, "."); key; key = strtok(NULL, ".")) {
		struct json_object *next = NULL;

		if (json_object_is_type(o, json_type_array))
			next = json_object_array_get_idx(o, (size_t)atoi(key));
		else if (!json_object_object_get_ex(o, key, &next))
			return fail("no such member", key);
		o = next;
	}
	puts(o ? json_object_get_string(o) : "null");
	return 0;
}

static void print_keys(struct json_object *o)
{
	if (json_object_is_type(o, json_type_array)) {
		for (size_t i = 0; i < json_object_array_length(o); i++)
			print_keys(json_object_array_get_idx(o, i));
	} else if (json_object_is_type(o, json_type_object)) {
		json_object_object_foreach(o, key, val) {
			puts(key);
			print_keys(val);
		}
	}
}

int main(int argc, char **argv)
{
	bool keys = argc == 3 && !strcmp(argv[1], "--keys");
	struct json_object *o;
	int status = 0;

	if (argc < 2 || argc > 3)
		return fail("usage", "jsonq FILE [PATH] or jsonq --keys FILE");
	o = parse(argv[keys ? 2 : 1]);
	if (!o)
		return 2;
	if (keys)
		print_keys(o);
	else if (argc == 3)
		status = print_at(o, argv[2]);
	json_object_put(o);
	return status;
}
