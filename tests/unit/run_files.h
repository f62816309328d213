/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Part of test_transition.c: the files that a run changes, beside the plugin's configuration.
 */
#ifndef FTR_TEST_RUN_FILES_H
#define FTR_TEST_RUN_FILES_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake/opensm.h"
#include "lib/suite.h"

/* As after SIGHUP: opensm.conf names another root file, or none. */
static void change_roots(struct fake *h, struct ftr_rng *r)
{
	const struct ftr_fabric *f = h->fab;
	uint32_t few = ftr_rng_below(r, 3);
	char path[128];
	FILE *out;

	free(h->osm->subn.opt.root_guid_file);
	h->osm->subn.opt.root_guid_file = NULL;
	if (!few)
		return;
	snprintf(path, sizeof(path), "%s/roots", h->dir);
	out = fopen(path, "w");
	ck_assert_ptr_nonnull(out);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (few == 1 ? !ftr_rng_below(r, f->n_sw / 2 + 1) || !s : !h->sh->tree.rank[s])
			fprintf(out, "0x%" PRIx64 "\n", f->sw[s].guid);
	ck_assert(!fclose(out));
	h->osm->subn.opt.root_guid_file = strdup(path);
}

/* Write other options of the plugin. */
static void write_options(struct fake *h, struct ftr_rng *r)
{
	static const char *const values[][4] = {
		{ "balance", "off", "load", "load" }, { "leaf_order", "guid", "name", "name" },
	};
	char text[256] = "";

	for (size_t i = 0; i < FTR_ARRAY_LEN(values); i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %s\n", values[i][0],
			 values[i][1 + ftr_rng_below(r, 3)]);
	fake_write_options(h, text);
}

static void remove_files(struct fake *h)
{
	static const char *const names[] = { "conf.drains", "roots" };
	char path[128];

	free(h->osm->subn.opt.root_guid_file);
	h->osm->subn.opt.root_guid_file = NULL;
	for (int i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/%s", h->dir, names[i]);
		unlink(path);
	}
}

#endif
