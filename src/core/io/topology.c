// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading a fabric from a file.  The first line shows the format.  The reader of this format
 * collects the raw fabric (raw.h), which is verified and given to the builder.
 */
#include <stdlib.h>

#include "io/raw.h"

typedef bool (*collect_fn)(struct ftr_raw *r);

/* Find the format by the first line that is not blank, not a comment, and not one of the trace
 * lines "DR ..." of ibnetdiscover -v. */
static bool find_format(struct ftr_text *t, collect_fn *out)
{
	struct ftr_cur c;

	if (t->at == t->end)
		return ftr_text_fail(t, FTR_PARSE, "the file is empty");
	do {
		if (!ftr_text_meaningful(t, &c))
			return false;
	} while (c.p && ftr_cur_word(&c, "DR"));
	*out = ftr_netfile_collect;
	if (!c.p)
		return true;
	if (ftr_cur_str(&c, "START_"))
		*out = ftr_dbcsv_collect;
	else if (*c.p == '{')
		*out = ftr_subnetlst_collect;
	return true;
}

/* If notes is NULL, one-sided links (see raw.c) are errors. */
static enum ftr_status parse(struct ftr_text t, unsigned int lmc, struct ftr_read_notes *notes,
			     struct ftr_fabric **out)
{
	struct ftr_text head = t;
	collect_fn collect = NULL;
	struct ftr_raw r;

	if (!find_format(&head, &collect))
		return head.status;
	if (ftr_raw_init(&r, &t, notes != NULL) && collect(&r) &&
	    ftr_raw_build(&r, lmc, out) && notes)
		*notes = r.notes;
	ftr_raw_fini(&r);
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
