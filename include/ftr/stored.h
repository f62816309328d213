/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Stored tables.  One file has the preferred tables: those for the complete fabric.  Another file
 * has the entries that now differ from the preferred tables.
 *
 * Both files are replaced atomically (see ftr_nominal_write).  Each file holds a checksum, the name
 * of the engine, the identity of the nominal fabric, and the data:
 *
 *	preferred	complete tables, with the GUIDs of the switches and of the
 *			owners of the LIDs
 *	displaced	the entries that have another port than in the preferred tables,
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

/* The engine that made the tables, and the fabric for which it made them. */
struct ftr_stored_id {
	char engine[FTR_ENGINE_NAME_MAX];
	uint64_t nominal;	/* identity of the nominal fabric, see ftr_stored_nominal */
};

/* Identity of a nominal fabric: a hash of its switches, the links between them, their ranks,
 * the GUID lists and the order of leaves.  The ranks are included, because tables that were made
 * for other ranks must not be kept. */
uint64_t ftr_stored_nominal(const struct ftr_nominal *n);

struct ftr_stored {
	struct ftr_stored_id id;
	bool searched;		/* true: a search (ftr_balance_tables) has succeeded for t */
	/* the fabric of t: switches and owners of LIDs by GUID, without links */
	const struct ftr_fabric *f;
	struct ftr_tables *t;
};

/* Write preferred tables.  FTR_IO: the file cannot be written; FTR_NOMEM. */
enum ftr_status ftr_stored_write(const char *path,
				    const struct ftr_stored_id *id,
				    bool searched, const struct ftr_fabric *f,
				    const struct ftr_tables *t,
				    struct ftr_err *err) FTR_MUST_USE;

/* Read preferred tables.  FTR_IO: the file does not exist, cannot be read, belongs neither to root
 * nor to the caller, is larger than 1 GiB, or does not fit into memory.  FTR_PARSE: the file is
 * incomplete, damaged, of another version, or not a file of preferred tables.  FTR_NOMEM. */
enum ftr_status ftr_stored_read(const char *path,
				   struct ftr_stored **out,
				   struct ftr_err *err) FTR_MUST_USE;
void ftr_stored_free(struct ftr_stored *p);	/* NULL is accepted */

struct ftr_displaced {		/* a displaced entry */
	uint64_t guid;		/* node GUID of the switch */
	ftr_lid lid;
	ftr_port port;
};

/* Write the n displaced entries.  FTR_IO: the file cannot be written; FTR_NOMEM. */
enum ftr_status ftr_displaced_write(const char *path,
				    const struct ftr_stored_id *id,
				    const struct ftr_displaced *entry,
				    uint32_t n, struct ftr_err *err)
	FTR_MUST_USE;
/* Read displaced entries.  *entry is malloc()ed for the caller.  Errors: as ftr_stored_read. */
enum ftr_status ftr_displaced_read(const char *path,
				   struct ftr_stored_id *id,
				   struct ftr_displaced **entry, uint32_t *n,
				   struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
