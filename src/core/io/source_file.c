// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The bytes of a file, unpacked if it is compressed.
 *
 * The first bytes show whether the file is compressed.  The library links no decompressor, so that
 * the plugin loads none into opensm.  A program that needs one registers it (ftr_set_unpacker).  If
 * none is registered, compressed bytes are returned as they are, and the reader rejects them.  A
 * file is rejected if it unpacks to more than UNPACKED_MAX bytes.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "io/source_file.h"

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
	s->unpacked = unpacker ? unpacker->begin(fd, s->head, s->n_head) : NULL;
	s->packed = s->unpacked;
	return FTR_OK;
}

void ftr_source_end(struct ftr_source *s)
{
	if (s->unpacked)
		unpacker->end(s->unpacked);
	s->unpacked = NULL;
}

static enum ftr_status read_unpacked(struct ftr_source *s, char *to, size_t room, size_t *got)
{
	const char *why;

	*got = s->unpacked ? fread(to, 1, room, s->unpacked) : 0;
	s->given += *got;
	if (s->given > UNPACKED_MAX)
		return ftr_fail(s->err, FTR_LIMIT, "%s unpacks to more than %llu bytes",
				s->path, (unsigned long long)UNPACKED_MAX);
	if (*got || !s->unpacked)
		return FTR_OK;
	why = unpacker->end(s->unpacked);
	s->unpacked = NULL;
	return why ? ftr_fail(s->err, FTR_PARSE, "%s: %s", s->path, why) : FTR_OK;
}

enum ftr_status ftr_source_read(struct ftr_source *s, char *to, size_t room,
				size_t *got)
{
	ssize_t n;

	if (s->packed)
		return read_unpacked(s, to, room, got);
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
