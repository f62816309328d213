/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The bytes of a file, unpacked if it is compressed. */
#ifndef FTR_IO_SOURCE_FILE_H
#define FTR_IO_SOURCE_FILE_H

#include "base/base.h"
#include <ftr/io.h>

struct ftr_source {
	const char *path;	/* for messages */
	struct ftr_err *err;
	int fd;
	unsigned char head[6];	/* the first bytes of the file.  If it is not compressed, bytes
				 * that were returned to the caller are removed */
	size_t n_head;
	void *z;		/* state of the unpacker; NULL: the file is not compressed */
	unsigned char *packed;
	struct ftr_unpack_io io;
	bool ended;
	uint64_t given;		/* number of unpacked bytes returned */
};

/* fd stays open and belongs to the caller. Call ftr_source_end() even after an error. */
enum ftr_status ftr_source_begin(struct ftr_source *s, const char *path,
				 int fd, struct ftr_err *err) FTR_MUST_USE;
/* Read at most `room` bytes, room >= 1. Sets *got to their number; 0: end of the file. */
enum ftr_status ftr_source_read(struct ftr_source *s, char *to, size_t room,
				size_t *got) FTR_MUST_USE;
void ftr_source_end(struct ftr_source *s);

#endif
