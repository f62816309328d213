// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Compressed files.  Input for the readers of the library (<ftr/io.h>): gzip by zlib, xz by
 * liblzma.  Output: gzip.  As the tools gzip and xz do, this code accepts a file that consists of
 * several concatenated streams.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lzma.h>
#include <zlib.h>

#include "cli/cli.h"

#define GZIP "\x1f\x8b"
#define XZ "\xfd" "7zXZ"	/* the NUL is part of the magic */

/* bytes; a file compressed by "xz -9" needs 65 MiB */
#define XZ_MEMORY (128u << 20)

struct stream {
	bool gzip;		/* true: gzip; false: xz */
	bool between;		/* a gzip stream has ended, and the next has not begun */
	z_stream z;
	lzma_stream x;
};

static bool knows(const unsigned char *head, size_t n)
{
	return (n >= 2 && !memcmp(head, GZIP, 2)) ||
	       (n >= 6 && !memcmp(head, XZ, 6));
}

static void *begin(const unsigned char *head)
{
	const lzma_stream none = LZMA_STREAM_INIT;
	struct stream *s = calloc(1, sizeof(*s));
	bool ok;

	if (!s)
		return NULL;
	s->gzip = head[0] == 0x1f;
	s->x = none;
	if (s->gzip)	/* 16: expect a gzip header */
		ok = inflateInit2(&s->z, 16 + MAX_WBITS) == Z_OK;
	else
		ok = lzma_stream_decoder(&s->x, XZ_MEMORY,
					 LZMA_CONCATENATED) == LZMA_OK;
	if (ok)
		return s;
	free(s);
	return NULL;
}

static enum ftr_unpacked run_gzip(struct stream *s, struct ftr_unpack_io *io)
{
	int ret;

	if (s->between && !io->n_in)
		return io->last ? FTR_UNPACKED_END : FTR_UNPACKED_MORE;
	if (s->between && inflateReset(&s->z) != Z_OK)
		return FTR_UNPACKED_DAMAGED;
	s->between = false;
	/* zlib does not write through next_in */
	s->z.next_in = (Bytef *)(uintptr_t)io->in;
	s->z.avail_in = (uInt)io->n_in;
	s->z.next_out = io->out;
	s->z.avail_out = (uInt)io->n_out;
	ret = inflate(&s->z, Z_NO_FLUSH);
	io->in = s->z.next_in;
	io->n_in = s->z.avail_in;
	io->out = s->z.next_out;
	io->n_out = s->z.avail_out;
	s->between = ret == Z_STREAM_END;
	if (ret == Z_MEM_ERROR)
		return FTR_UNPACKED_NOMEM;
	if (ret != Z_OK && ret != Z_STREAM_END && ret != Z_BUF_ERROR)
		return FTR_UNPACKED_DAMAGED;
	return s->between && io->last ? FTR_UNPACKED_END : FTR_UNPACKED_MORE;
}

static enum ftr_unpacked run_xz(struct stream *s, struct ftr_unpack_io *io)
{
	lzma_ret ret;

	s->x.next_in = io->in;
	s->x.avail_in = io->n_in;
	s->x.next_out = io->out;
	s->x.avail_out = io->n_out;
	ret = lzma_code(&s->x, io->last ? LZMA_FINISH : LZMA_RUN);
	io->in = s->x.next_in;
	io->n_in = s->x.avail_in;
	io->out = s->x.next_out;
	io->n_out = s->x.avail_out;
	switch (ret) {
	case LZMA_OK:
	case LZMA_BUF_ERROR:	/* more input is needed */
		return FTR_UNPACKED_MORE;
	case LZMA_STREAM_END:
		return FTR_UNPACKED_END;
	case LZMA_MEM_ERROR:
	case LZMA_MEMLIMIT_ERROR:
		return FTR_UNPACKED_NOMEM;
	default:
		return FTR_UNPACKED_DAMAGED;
	}
}

static enum ftr_unpacked run_unpack(void *z, struct ftr_unpack_io *io)
{
	struct stream *s = z;

	return s->gzip ? run_gzip(s, io) : run_xz(s, io);
}

static void end(void *z)
{
	struct stream *s = z;

	if (s->gzip)
		inflateEnd(&s->z);
	else
		lzma_end(&s->x);
	free(s);
}

const struct ftr_unpacker cli_unpacker = { knows, begin, run_unpack, end };

/* ---- output -------------------------------------------------------------- */

static ssize_t gzip_write(void *z, const char *data, size_t n)
{
	return gzwrite(z, data, (unsigned int)n) == (int)n ? (ssize_t)n : 0;
}

static int gzip_close(void *z)
{
	return gzclose(z) == Z_OK ? 0 : EOF;
}

FILE *cli_gzip(int fd)
{
	int own = dup(fd);
	gzFile z = own < 0 ? NULL : gzdopen(own, "wb1");	/* 1: fast */
	FILE *out = z ? fopencookie(z, "w", (cookie_io_functions_t){
			.write = gzip_write, .close = gzip_close }) : NULL;

	if (z && !out)
		gzclose(z);
	else if (!z && own >= 0)
		close(own);
	return out;
}
