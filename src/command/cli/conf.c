// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads the names of files from opensm.conf.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"

/* value contains the options of all plugins.  Returns PATH of the word "ibfattree:PATH" in it, as
 * ibf_options_path() does. */
static char *options_path(const char *value)
{
	static const char word[] = "ibfattree:";
	const size_t head = sizeof(word) - 1;

	while (*value) {
		size_t len = strcspn(value, " \t,");

		if (len > head && !strncmp(value, word, head))
			return strndup(value + head, len - head);
		value += len;
		value += strspn(value, " \t,");
	}
	return NULL;
}

/* If a key is repeated, the last value is used, as in OpenSM. */
static void take_line(struct cli_conf *c, const char *key, const char *value)
{
	const struct { const char *key; char **value; } text[] = {
		{ "root_guid_file", &c->roots }, { "cn_guid_file", &c->cn },
		{ "io_guid_file", &c->io }, { "event_plugin_options", &c->options },
	};

	for (size_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		if (strcmp(key, text[i].key))
			continue;
		free(*text[i].value);
		if (text[i].value == &c->options)
			c->options = options_path(value);
		else
			*text[i].value = strcasecmp(value, "(null)") ? strdup(value) : NULL;
	}
}

struct cli_conf cli_read_conf(const char *path)
{
	static const char *const usual[] = { "/etc/opensm/opensm.conf", "/etc/rdma/opensm.conf" };
	struct cli_conf c = { .path = NULL };
	const char *found = path;
	char line[4096];
	FILE *f = NULL;

	for (int i = 0; !found && i < 2; i++)
		if (!access(usual[i], R_OK))
			found = usual[i];
	if (found)
		f = fopen(found, "re");
	if (path && !f)
		cli_die("%s: cannot be read", path);
	if (!f)
		return c;
	c.path = strdup(found);
	while (fgets(line, sizeof(line), f)) {
		char *save, *key = strtok_r(line, " \t\r\n", &save);
		char *value = key ? strtok_r(NULL, "\r\n", &save) : NULL;

		if (!value || key[0] == '#')
			continue;
		value += strspn(value, " \t");
		for (size_t n = strlen(value); n && isspace((unsigned char)value[n - 1]); n--)
			value[n - 1] = '\0';
		take_line(&c, key, value);
	}
	fclose(f);
	return c;
}

void cli_free_conf(struct cli_conf *c)
{
	free(c->path);
	free(c->roots);
	free(c->cn);
	free(c->io);
	free(c->options);
}
