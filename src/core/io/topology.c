// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading a fabric from a file.  The first line shows the format.  The reader of netfiles collects
 * the raw fabric (raw.h), which is verified and given to the builder.  Lists of links are first
 * converted by a program (ftr_set_converter).
 */
#include <stdlib.h>

#include "io/raw.h"

static ftr_convert_fn convert;

void ftr_set_converter(ftr_convert_fn fn)
{
	convert = fn;
}

/* Is this a list of links?  The first line shows it that is not blank, not a comment, and not one
 * of the trace lines "DR ..." of ibnetdiscover -v. */
static bool find_format(struct ftr_text *t, bool *is_list)
{
	struct ftr_cur c;

	if (t->at == t->end)
		return ftr_text_fail(t, FTR_PARSE, "the file is empty");
	do {
		if (!ftr_text_meaningful(t, &c))
			return false;
	} while (c.p && ftr_cur_word(&c, "DR"));
	*is_list = c.p && (*c.p == '{' || ftr_cur_str(&c, "START_"));
	return !*is_list || convert ||
		ftr_text_fail(t, FTR_PARSE, "a list of links; ibfattree topo converts it to a netfile");
}

/* If notes is NULL, one-sided links (see raw.c) are errors. */
static enum ftr_status parse(struct ftr_text t, unsigned int lmc, struct ftr_read_notes *notes,
			     struct ftr_fabric **out)
{
	struct ftr_text head = t;
	char file[FTR_CONVERTED_MAX], *text = NULL;
	struct ftr_raw r;
	bool is_list;
	size_t len;

	if (!find_format(&head, &is_list))
		return head.status;
	if (is_list) {
		if (!ftr_text_ok(&t, convert(t.path, t.at, (size_t)(t.end - t.at), file, t.err)) ||
		    !ftr_text_ok(&t, ftr_slurp(file, false, &text, &len, t.err)))
			return t.status;
		ftr_text_mem(&t, t.path, text, len, t.err);
	}
	if (ftr_raw_init(&r, &t, notes != NULL) && ftr_netfile_collect(&r) &&
	    ftr_raw_build(&r, lmc, out) && notes)
		*notes = r.notes;
	ftr_raw_fini(&r);
	free(text);
	return t.status;
}

static enum ftr_status read_file(const char *path, unsigned int lmc,
				 struct ftr_read_notes *notes,
				 struct ftr_fabric **out, struct ftr_err *err)
{
	struct ftr_text t;
	char *text;
	size_t len;
	enum ftr_status st = ftr_slurp(path, false, &text, &len, err);

	if (st)
		return st;
	ftr_text_mem(&t, path, text, len, err);
	st = parse(t, lmc, notes, out);
	free(text);
	return st;
}

enum ftr_status ftr_parse_fabric(const char *path, const char *text,
				 size_t len, unsigned int lmc,
				 struct ftr_fabric **out, struct ftr_err *err)
{
	struct ftr_text t;

	ftr_text_mem(&t, path, text, len, err);
	return parse(t, lmc, NULL, out);
}

enum ftr_status ftr_read_fabric(const char *path, unsigned int lmc,
				struct ftr_fabric **out, struct ftr_err *err)
{
	return read_file(path, lmc, NULL, out, err);
}

enum ftr_status ftr_read_fabric_tolerant(const char *path, unsigned int lmc,
					 struct ftr_read_notes *notes,
					 struct ftr_fabric **out,
					 struct ftr_err *err)
{
	return read_file(path, lmc, notes, out, err);
}
