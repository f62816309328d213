// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * doctor: fills the result of a check.
 */
#include <stdarg.h>
#include <stdio.h>

#include "cli/doctor.h"

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

void doc_detail(struct doc_result *r, const char *fmt, ...)
{
	va_list ap;

	if (r->n_details++ >= DOC_DETAILS)
		return;
	va_start(ap, fmt);
	if (vasprintf(&r->detail[r->n_details - 1], fmt, ap) < 0)
		r->detail[r->n_details - 1] = NULL;
	va_end(ap);
}

void doc_at(struct doc_result *r, uint64_t guid, unsigned int port)
{
	if (r->n_details && r->n_details <= DOC_DETAILS)
		r->location[r->n_details - 1] = (struct doc_location){ guid, port };
}
