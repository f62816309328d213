// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reads the output of "ibfattree doctor --json" from a file and writes it in the format of the
 * page's data.  Locations are GUIDs and ports; the page looks them up in its map.  A detail
 * whose location is not on the map is shown as plain text.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "cli/html.h"

char *html_doctor_read(const char *path, struct cli_jval *v)
{
	FILE *in = fopen(path, "re");
	char *text = NULL, word[16];
	size_t room = 0;
	ssize_t n;

	if (!in)
		cli_die("%s: %s", path, strerror(errno));
	n = getdelim(&text, &room, '\0', in);
	if (ferror(in))
		cli_die("%s: %s", path, strerror(errno));
	fclose(in);
	if (n < 0 || !cli_j_parse(text, (size_t)n, v) ||
	    strcmp(cli_j_text(cli_j_member(*v, "command"), word, sizeof(word)),
		   "doctor") ||
	    cli_j_type(cli_j_member(*v, "checks")) != CLI_J_ARRAY)
		cli_die("%s: not the output of ibfattree doctor --json", path);
	return text;
}

/* Copies a string of well-formed JSON, escaped by the rules of html_write.c. */
static void put_value(FILE *out, struct cli_jval v)
{
	if (cli_j_type(v) != CLI_J_STRING) {
		fputs("\"\"", out);
		return;
	}
	for (const char *s = v.p; s < v.end; s++)
		if (strchr("<>&", *s))
			fprintf(out, "\\u%04x", (unsigned int)*s);
		else
			putc(*s, out);
}

/* Writes an array [text, GUID, port] for each detail.  GUID and port come from the member
 * "places". */
static void put_details(FILE *out, struct cli_jval check)
{
	struct cli_jval texts = cli_j_member(check, "details"), text, place;
	struct cli_jval places = cli_j_member(check, "places");
	const char *at = NULL, *at_place = NULL, *sep = "";
	uint64_t port;

	putc('[', out);
	while (cli_j_next(texts, &at, &text)) {
		if (!cli_j_next(places, &at_place, &place) ||
		    !cli_j_uint(cli_j_member(place, "port"), FTR_PORT_MAX,
				&port))
			port = 0;
		fprintf(out, "%s[", sep);
		put_value(out, text);
		putc(',', out);
		put_value(out, cli_j_member(place, "guid"));
		fprintf(out, ",%" PRIu64 "]", port);
		sep = ",";
	}
	putc(']', out);
}

/* Writes an array [id, verdict, text, remedy, number of details, details] for each check. */
void html_doctor_write(FILE *out, struct cli_jval doctor)
{
	struct cli_jval list = cli_j_member(doctor, "checks"), check;
	const char *at = NULL, *sep = "";
	uint64_t n;

	fputs("\"doctor\":[", out);
	while (cli_j_next(list, &at, &check)) {
		if (!cli_j_uint(cli_j_member(check, "n_details"), UINT32_MAX,
				&n))
			n = 0;
		fprintf(out, "%s[", sep);
		put_value(out, cli_j_member(check, "id"));
		putc(',', out);
		put_value(out, cli_j_member(check, "verdict"));
		putc(',', out);
		put_value(out, cli_j_member(check, "text"));
		putc(',', out);
		put_value(out, cli_j_member(check, "remedy"));
		fprintf(out, ",%" PRIu64 ",", n);
		put_details(out, check);
		putc(']', out);
		sep = ",\n";
	}
	fputs("],\n", out);
}
