/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The state file of the plugin: what survives a restart of OpenSM.
 *
 * It holds the nominal fabric, and the tables of one engine: its preferred tables, which are those
 * of a complete fabric, and the displaced entries, which now have another port because the
 * preferred port does not lead to the destination.  The file has a checksum and is replaced
 * atomically, so at any time it is complete, with its old or its new content.
 */
#ifndef FTR_STATE_H
#define FTR_STATE_H

#include <stdio.h>

#include <ftr/nominal.h>
#include <ftr/tables.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_ENGINE_NAME_MAX 16

struct ftr_displaced {		/* a displaced entry */
	uint64_t guid;		/* node GUID of the switch */
	ftr_lid lid;
	ftr_port port;
};

struct ftr_state {
	struct ftr_nominal *nominal;
	bool reshaped;		/* set by ftr_state_read: the file was written with another order of
				 * leaves or other lists of GUIDs */
	/* t: the preferred tables; NULL: there are none, and the members below are not used. */
	struct ftr_tables *t;
	struct ftr_fabric *f;	/* the fabric of t */
	char engine[FTR_ENGINE_NAME_MAX];	/* the engine that made t */
	bool searched;		/* a search has made t, or has found no better tables */
	/* Extra turns, as in <ftr/engine.h>.  given: those from which the routing of the complete
	 * fabric started.  turn: those of the last routing. */
	struct ftr_turn *given, *turn;
	uint32_t n_given, n_turns;
	struct ftr_displaced *displaced;
	uint32_t n_displaced;
};

/* Identity of a nominal fabric: a hash of its switches, the links between them, their ranks,
 * the GUID lists and the order of leaves.  The ranks are included, because tables that were made
 * for other ranks must not be kept. */
uint64_t ftr_nominal_id(const struct ftr_nominal *n);

/* Write the content of a state file.  state: a struct ftr_state.  False: not written; errno says
 * why. */
bool ftr_state_fill(FILE *out, const void *state);
/* Replace a state file.  FTR_IO: it cannot be written.  Two threads of a process must not write to the
 * same path at the same time. */
enum ftr_status ftr_state_write(const char *path, const struct ftr_state *s,
				struct ftr_err *err) FTR_MUST_USE;

/*
 * Read a state file.  own: only a regular file that belongs to root or to the caller is read.  The
 * shape of the nominal fabric is made with opts (NULL: the defaults).  On success the caller frees
 * the members with ftr_state_clear.
 *
 * FTR_IO: the file does not exist, cannot be read, is larger than 1 GiB, or does not fit into
 * memory.  FTR_PARSE: it is incomplete, damaged or not a state file.  In both cases the text names
 * the path and the reason.  Other errors: as ftr_shape_new for the nominal fabric.
 */
enum ftr_status ftr_state_read(const char *path, bool own, const struct ftr_shape_opts *opts,
			       struct ftr_state *s,
			       struct ftr_err *err) FTR_MUST_USE;
void ftr_state_clear(struct ftr_state *s);

/* Read only the nominal fabric, from a file of any owner. */
enum ftr_status ftr_nominal_read(const char *path, const struct ftr_shape_opts *opts,
				 struct ftr_nominal **out,
				 struct ftr_err *err) FTR_MUST_USE;
/* Returns true if the file can be read and begins like a state file. */
bool ftr_state_is_file(const char *path);

#ifdef __cplusplus
}
#endif
#endif
