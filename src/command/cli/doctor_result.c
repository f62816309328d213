// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * doctor: fills and shows the result of a check.
 */
#include <stdarg.h>
#include <stdio.h>

#include "cli/doctor.h"
#include "cli/json.h"

void doc_say(struct doc_result *r, enum doc_verdict v, const char *fmt, ...)
{
	va_list ap;

	r->verdict = v;
	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
}

void doc_remedy(struct doc_result *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->remedy, sizeof(r->remedy), fmt, ap);
	va_end(ap);
}

void doc_at(struct doc_result *r, uint64_t guid, unsigned int port, const char *fmt, ...)
{
	uint32_t i = r->n_details++;
	va_list ap;

	if (i >= DOC_DETAILS)
		return;
	r->location[i] = (struct ftr_end){ guid, (ftr_port)port };
	va_start(ap, fmt);
	if (vasprintf(&r->detail[i], fmt, ap) < 0)
		r->detail[i] = NULL;
	va_end(ap);
}

const char *doc_key(enum doc_verdict v)
{
	static const char *const key[DOC_N_VERDICTS] = {
		[DOC_OK] = "ok", [DOC_WARNING] = "warning", [DOC_FAILURE] = "failure",
		[DOC_NOT_CHECKED] = "not_checked",
	};

	return key[v];
}

const char *doc_prefix(enum doc_verdict v)
{
	return v == DOC_NOT_CHECKED ? "not checked: " : "";
}

void doc_put_details(const struct doc_result *r, int indent)
{
	for (uint32_t i = 0; i < r->n_details && i < DOC_DETAILS; i++)
		if (r->detail[i])
			printf("%*s%s\n", indent, "", r->detail[i]);
	if (r->n_details > DOC_DETAILS)
		printf("%*s... and %u more\n", indent, "", r->n_details - DOC_DETAILS);
}

void doc_json_details(struct json_object *o, const struct doc_result *r)
{
	struct json_object *text = cli_json_array(o, "details"), *places, *e;

	for (uint32_t k = 0; k < r->n_details && k < DOC_DETAILS; k++)
		if (r->detail[k])
			cli_json_text(text, r->detail[k]);
	places = cli_json_array(o, "places");
	for (uint32_t k = 0; k < r->n_details && k < DOC_DETAILS; k++) {
		if (!r->detail[k])
			continue;
		e = cli_json_element(places);
		cli_json_guid(e, "guid", r->location[k].node_guid);
		cli_json_num(e, "port", r->location[k].port);
	}
}
