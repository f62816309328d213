/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Writes files of drained parts for tests, as ibfattree-drain does.
 */
#ifndef FTR_TEST_DRAIN_FILE_H
#define FTR_TEST_DRAIN_FILE_H

#include <inttypes.h>
#include <stdio.h>

#include <ftr/drain.h>

/* Replaces the file at path as a whole.  Returns false on failure. */
static inline bool write_drains(const char *path, const struct ftr_drains *d)
{
	char name[512];
	FILE *out;

	snprintf(name, sizeof(name), "%s.new", path);
	out = fopen(name, "w");
	if (!out)
		return false;
	fprintf(out, "# Drained parts\nrequest 0x%" PRIx64 "\n", d->request);
	for (uint32_t i = 0; i < d->n; i++)
		fprintf(out, "0x%016" PRIx64 " %u %" PRIu64 " %s \"%s\"\n", d->part[i].guid,
			d->part[i].port, d->part[i].since, d->part[i].by, d->part[i].name);
	return !fclose(out) && !rename(name, path);
}

#endif
