/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Stored tables: two files with the preferred tables of a fabric and with the entries that
 * deviate from them.
 *
 * Both files are replaced atomically (see <ftr/nominal.h>).  Each file holds a checksum, the name
 * of the engine, and the identity of the nominal fabric:
 *
 *	preferred	complete tables, with the GUIDs of the switches and of the
 *			owners of the LIDs
 *	displaced	the entries with another port than in the preferred tables,
 *			because the preferred port does not lead to the destination now
 */
#ifndef FTR_STORED_H
#define FTR_STORED_H

#include <ftr/nominal.h>
#include <ftr/tables.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_ENGINE_NAME_MAX 16

/* The engine and fabric that tables belong to. */
struct ftr_stored_id {
	char engine[FTR_ENGINE_NAME_MAX];
	uint64_t nominal;	/* identity of the nominal fabric, see ftr_stored_nominal */
};

/* Identity of a nominal fabric: a hash of its switches, the links between them, their ranks,
 * the GUID lists and the order of leaves.  It includes the ranks, because tables for other
 * ranks must not be kept. */
uint64_t ftr_stored_nominal(const struct ftr_nominal *n);

struct ftr_stored {
	struct ftr_stored_id id;
	bool searched;		/* true: the full search for these tables has been completed */
	/* the fabric of t: switches and owners of LIDs by GUID, without links */
	const struct ftr_fabric *f;
	struct ftr_tables *t;
};

enum ftr_status ftr_stored_write(const char *path,
				    const struct ftr_stored_id *id,
				    bool searched, const struct ftr_fabric *f,
				    const struct ftr_tables *t,
				    struct ftr_err *err) FTR_MUST_USE;

/* FTR_IO: the file does not exist, cannot be read, belongs neither to root nor to the caller, or
 * is larger than 1 GiB or than the memory.  FTR_PARSE: the file is incomplete, damaged, of another
 * version, or not such a file.  FTR_NOMEM. */
enum ftr_status ftr_stored_read(const char *path,
				   struct ftr_stored **out,
				   struct ftr_err *err) FTR_MUST_USE;
void ftr_stored_free(struct ftr_stored *p);	/* NULL is accepted */

struct ftr_displaced {		/* a displaced entry */
	uint64_t guid;		/* node GUID of the switch */
	ftr_lid lid;
	ftr_port port;
};

enum ftr_status ftr_displaced_write(const char *path,
				    const struct ftr_stored_id *id,
				    const struct ftr_displaced *entry,
				    uint32_t n, struct ftr_err *err)
	FTR_MUST_USE;
/* *entry is malloc()ed for the caller.  Errors: as ftr_stored_read. */
enum ftr_status ftr_displaced_read(const char *path,
				   struct ftr_stored_id *id,
				   struct ftr_displaced **entry, uint32_t *n,
				   struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
