/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Status codes and error texts.
 *
 * A library call that can fail returns an enum ftr_status, which is 0 on success.  (ftr_team_new
 * and ftr_builder_new return NULL on failure instead.)
 *
 * A call that fails fills the caller's struct ftr_err with one line of text.  The text names the
 * wrong value and, if there is one, its place (FILE:LINE, GUID or LID).  A call that makes an
 * object stores the pointer to it only on success.  If a call fails, its other outputs are not
 * valid, unless its description says otherwise.  The library prints nothing; the caller logs the
 * text.
 */
#ifndef FTR_STATUS_H
#define FTR_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_MUST_USE __attribute__((warn_unused_result))
/* The order of two numbers, for comparison functions: -1, 0 or 1. */
#define FTR_ORDER(a, b) (((a) > (b)) - ((a) < (b)))
#define FTR_PRINTF(f, a) __attribute__((format(printf, f, a)))

enum ftr_status {
	FTR_OK = 0,
	FTR_NOMEM,		/* an allocation failed */
	FTR_INVAL,		/* an argument, or the description of a fabric, is not valid */
	FTR_PARSE,		/* a file is incomplete or not in the stated format */
	FTR_IO,			/* a file could not be opened, read or written */
	FTR_SHAPE,		/* no ranks can be assigned to the fabric */
	FTR_LIMIT,		/* a documented size limit is exceeded */
	FTR_REFUSED,		/* a check failed, so tables or changes are not used */
	FTR_INTERNAL		/* an invariant is violated: always a bug in ibfattree */
};

#define FTR_ERR_MAX 512

struct ftr_err {
	enum ftr_status status;
	char msg[FTR_ERR_MAX];	/* set by a call that fails; longer texts are cut */
};

/* Set err (may be NULL) and return status, so that callers can write
 * "return ftr_fail(err, FTR_INVAL, ...)". */
enum ftr_status ftr_fail(struct ftr_err *err, enum ftr_status status,
			 const char *fmt, ...) FTR_PRINTF(3, 4);

/* ftr_fail with FTR_NOMEM and the text "out of memory for ", followed by the formatted text. */
enum ftr_status ftr_nomem(struct ftr_err *err, const char *fmt, ...) FTR_PRINTF(2, 3);

/* Insert the formatted text and ": " at the beginning of err->msg.  Returns err->status, which does
 * not change, or FTR_INTERNAL if err is NULL. */
enum ftr_status ftr_err_prefix(struct ftr_err *err, const char *fmt, ...)
	FTR_PRINTF(2, 3);

/* The text for a status: "out of memory", "invalid input", ...; never NULL. */
const char *ftr_status_str(enum ftr_status status);

#ifdef __cplusplus
}
#endif
#endif
