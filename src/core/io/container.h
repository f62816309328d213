/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Containers: binary values behind a first line of text.
 *
 *	MAGIC CHECKSUM LENGTH\n		then LENGTH bytes
 *
 * CHECKSUM is the ftr_hash() of the bytes in a file (state files), and their ftr_hash_words(), which
 * is faster, in a message to or from a process of the plugin.  Numbers are little endian.
 */
#ifndef FTR_IO_CONTAINER_H
#define FTR_IO_CONTAINER_H

#include "base/base.h"
#include <ftr/nominal.h>
#include <ftr/tables.h>

/* ---- writing --------------------------------------------------------------- */

/* The content so far; all 0 at first.  After a lack of memory it stays incomplete, and `nomem` is
 * set. */
struct ftr_out {
	uint8_t *at;
	size_t n, cap;
	bool nomem;
};

void ftr_put(struct ftr_out *o, uint64_t v, unsigned int bytes);
void ftr_put_bytes(struct ftr_out *o, const void *from, size_t n);
/* A text of at most 255 bytes. */
void ftr_put_text(struct ftr_out *o, const char *text);
void ftr_put_fabric(struct ftr_out *o, const struct ftr_fabric *f);
/* t: tables of f. */
void ftr_put_tables(struct ftr_out *o, const struct ftr_fabric *f, const struct ftr_tables *t);
/* The turns of f. */
void ftr_put_turns(struct ftr_out *o, const struct ftr_fabric *f, const struct ftr_turn *turn,
		   uint32_t n);
/* A nominal fabric with the ranks that it keeps (state_file.c). */
void ftr_put_nominal(struct ftr_out *o, const struct ftr_nominal *n);

/* Write the container to out (for ftr_file_replace()), or a message to fd (name: for errors).  If fd is
 * a file, it is emptied before.  Both free the content.  False: not written; errno says why.
 * FTR_IO. */
bool ftr_out_file(struct ftr_out *o, FILE *out, const char *magic);
enum ftr_status ftr_out_fd(struct ftr_out *o, int fd, const char *name, const char *magic,
			   struct ftr_err *err) FTR_MUST_USE;

/* ---- reading --------------------------------------------------------------- */

/* The content that has not been read yet.  Beyond its end all numbers are 0, and `bad` is set. */
struct ftr_in {
	const uint8_t *at, *end;
	bool bad;
	char *text;		/* the memory; freed by ftr_in_end; NULL: it is the caller's */
	const char *name;	/* path of the file, for messages */
};

/* Read a container.  own: the file must be a regular file of root or of the caller (core/file.h).
 * FTR_IO: the file does not exist, cannot be read, is larger than FTR_IN_MAX, or does not fit into
 * memory.  FTR_PARSE: it has another magic, or is incomplete or damaged. */
#define FTR_IN_MAX (1 << 30)
enum ftr_status ftr_in_file(struct ftr_in *in, const char *path, bool own, const char *magic,
			    struct ftr_err *err) FTR_MUST_USE;
/* The same for a message. */
enum ftr_status ftr_in_fd(struct ftr_in *in, int fd, const char *name, const char *magic,
			  struct ftr_err *err) FTR_MUST_USE;
/* The same for a request in memory, which the caller frees. */
enum ftr_status ftr_in_memory(struct ftr_in *in, const char *text, size_t len, const char *magic,
			      struct ftr_err *err) FTR_MUST_USE;

uint64_t ftr_get(struct ftr_in *in, unsigned int bytes);
/* n bytes, which are freed with `in`; NULL: the content is shorter. */
const uint8_t *ftr_get_bytes(struct ftr_in *in, size_t n);
/* size: of out, with the NUL. */
void ftr_get_text(struct ftr_in *in, char *out, size_t size);
/* These functions return FTR_PARSE (with the name of the file) or FTR_NOMEM. */
enum ftr_status ftr_get_fabric(struct ftr_in *in, struct ftr_fabric **f,
			       struct ftr_err *err) FTR_MUST_USE;
enum ftr_status ftr_get_tables(struct ftr_in *in, const struct ftr_fabric *f,
			       struct ftr_tables **t, struct ftr_err *err) FTR_MUST_USE;
/* Turns with a switch that f does not have are left out.  *turn is malloc()ed. */
enum ftr_status ftr_get_turns(struct ftr_in *in, const struct ftr_fabric *f, struct ftr_turn **turn,
			      uint32_t *n, struct ftr_err *err) FTR_MUST_USE;
/* The shape is made with opts.  *reshaped: the nominal fabric was made with another order of leaves
 * or other lists of GUIDs.  Other errors: as ftr_shape_new. */
enum ftr_status ftr_get_nominal(struct ftr_in *in, const struct ftr_shape_opts *opts,
				struct ftr_nominal **n, bool *reshaped,
				struct ftr_err *err) FTR_MUST_USE;
enum ftr_status ftr_in_damaged(const struct ftr_in *in, struct ftr_err *err);
/* Free the memory.  Returns st or, if st is FTR_OK, FTR_PARSE if the content was too short or too
 * long. */
enum ftr_status ftr_in_end(struct ftr_in *in, enum ftr_status st,
			   struct ftr_err *err) FTR_MUST_USE;

#endif
