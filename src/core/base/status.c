// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Status codes and the error text.  ftr_fail() formats the text where the error is detected;
 * callers may add a prefix with ftr_err_prefix().
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <ftr/status.h>
#include <ftr/text.h>

static void fail(struct ftr_err *err, enum ftr_status status, const char *prefix,
		 const char *fmt, va_list ap)
{
	size_t n = strlen(prefix);

	if (!err)
		return;
	err->status = status;
	memcpy(err->msg, prefix, n);
	vsnprintf(err->msg + n, sizeof(err->msg) - n, fmt, ap);
	ftr_text_clean(err->msg);
}

enum ftr_status ftr_fail(struct ftr_err *err, enum ftr_status status,
			 const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail(err, status, "", fmt, ap);
	va_end(ap);
	return status;
}

enum ftr_status ftr_nomem(struct ftr_err *err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail(err, FTR_NOMEM, "out of memory for ", fmt, ap);
	va_end(ap);
	return FTR_NOMEM;
}

enum ftr_status ftr_err_prefix(struct ftr_err *err, const char *fmt, ...)
{
	char old[FTR_ERR_MAX];
	va_list ap;
	int n;

	if (!err)
		return FTR_INTERNAL;
	memcpy(old, err->msg, sizeof(old));
	va_start(ap, fmt);
	n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	if ((size_t)n < sizeof(err->msg))	/* false if n is negative */
		snprintf(err->msg + n, sizeof(err->msg) - (size_t)n, ": %s",
			 old);
	ftr_text_clean(err->msg);
	return err->status;
}

const char *ftr_status_str(enum ftr_status status)
{
	switch (status) {
	case FTR_OK:
		return "ok";
	case FTR_NOMEM:
		return "out of memory";
	case FTR_INVAL:
		return "invalid input";
	case FTR_PARSE:
		return "cannot be parsed";
	case FTR_IO:
		return "input/output error";
	case FTR_SHAPE:
		return "not a fabric that can be ranked";
	case FTR_LIMIT:
		return "limit exceeded";
	case FTR_REFUSED:
		return "refused by the checker";
	case FTR_INTERNAL:
		return "internal error (a bug)";
	}
	return "unknown status";
}
