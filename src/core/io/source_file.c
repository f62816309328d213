// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The bytes of a file, unpacked if it is compressed.
 *
 *	file -> head (6 bytes) -> [ packed -> unpacker -> ] caller's buffer
 *
 * The first bytes show whether the file is compressed.  The library links no decompressor, so that
 * the plugin loads none into opensm.  A program that needs one registers it (ftr_set_unpacker).  If
 * none is registered, compressed bytes are returned as they are, and the reader rejects them.
 *
 * The memory in use is a buffer of PACKED bytes, the caller's buffer, and the memory of the
 * unpacker, which has a limit of its own.  A file is rejected if it unpacks to more than
 * UNPACKED_MAX bytes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/source_file.h"

#define PACKED (64u * 1024)

/* Enough for the tables of the largest subnet, which are some GB as text. */
#define UNPACKED_MAX (UINT64_C(1) << 33)

static const struct ftr_unpacker *unpacker;

void ftr_set_unpacker(const struct ftr_unpacker *u)
{
	unpacker = u;
}

static enum ftr_status fail_read(const struct ftr_source *s)
{
	return ftr_fail(s->err, FTR_IO, "cannot read %s: %s", s->path,
			strerror(errno));
}

static ssize_t read_some(int fd, void *to, size_t room)
{
	ssize_t n;

	do
		n = read(fd, to, room);
	while (n < 0 && errno == EINTR);
	return n;
}

enum ftr_status ftr_source_begin(struct ftr_source *s, const char *path,
				 int fd, struct ftr_err *err)
{
	ssize_t n;

	*s = (struct ftr_source){ .path = path, .err = err, .fd = fd };
	while (s->n_head < sizeof(s->head)) {
		n = read_some(fd, s->head + s->n_head,
			      sizeof(s->head) - s->n_head);
		if (n < 0)
			return fail_read(s);
		if (!n)
			break;
		s->n_head += (size_t)n;
	}
	if (!unpacker || !unpacker->knows(s->head, s->n_head))
		return FTR_OK;
	s->packed = ftr_malloc(PACKED);
	s->z = s->packed ? unpacker->begin(s->head) : NULL;
	if (!s->z)
		return ftr_fail(err, FTR_NOMEM, "out of memory while unpacking %s",
				path);
	memcpy(s->packed, s->head, s->n_head);
	s->io.in = s->packed;
	s->io.n_in = s->n_head;
	return FTR_OK;
}

void ftr_source_end(struct ftr_source *s)
{
	if (s->z)
		unpacker->end(s->z);
	free(s->packed);
	s->z = NULL;
	s->packed = NULL;
}

static enum ftr_status refill(struct ftr_source *s)
{
	ssize_t n;

	if (s->io.n_in || s->io.last)
		return FTR_OK;
	n = read_some(s->fd, s->packed, PACKED);
	if (n < 0)
		return fail_read(s);
	s->io.in = s->packed;
	s->io.n_in = (size_t)n;
	s->io.last = !n;
	return FTR_OK;
}

static enum ftr_status unpack(struct ftr_source *s, char *to, size_t room,
			      size_t *got)
{
	enum ftr_unpacked what = FTR_UNPACKED_MORE;
	bool stuck = false;

	s->io.out = (unsigned char *)to;
	s->io.n_out = room;
	while (!s->ended && s->io.n_out == room && !stuck && what == FTR_UNPACKED_MORE) {
		enum ftr_status st = refill(s);

		if (st)
			return st;
		stuck = s->io.last;	/* no more input will follow */
		what = unpacker->run(s->z, &s->io);
	}
	*got = room - s->io.n_out;
	s->given += *got;
	s->ended = what == FTR_UNPACKED_END;
	if (what == FTR_UNPACKED_NOMEM)
		return ftr_fail(s->err, FTR_NOMEM, "out of memory while unpacking %s",
				s->path);
	if (what == FTR_UNPACKED_DAMAGED)
		return ftr_fail(s->err, FTR_PARSE, "%s: the compressed data are damaged",
				s->path);
	if (stuck && !*got && !s->ended)
		return ftr_fail(s->err, FTR_PARSE, "%s: the compressed data end early: the file is truncated",
				s->path);
	if (s->given > UNPACKED_MAX)
		return ftr_fail(s->err, FTR_LIMIT, "%s unpacks to more than %llu bytes",
				s->path, (unsigned long long)UNPACKED_MAX);
	return FTR_OK;
}

enum ftr_status ftr_source_read(struct ftr_source *s, char *to, size_t room,
				size_t *got)
{
	ssize_t n;

	if (s->z)
		return unpack(s, to, room, got);
	if (s->n_head) {
		*got = s->n_head < room ? s->n_head : room;
		memcpy(to, s->head, *got);
		memmove(s->head, s->head + *got, s->n_head - *got);
		s->n_head -= *got;
		return FTR_OK;
	}
	n = read_some(s->fd, to, room);
	*got = n > 0 ? (size_t)n : 0;
	return n < 0 ? fail_read(s) : FTR_OK;
}
