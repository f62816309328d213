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

/* Every table of ftr_write_lfts_compact() becomes a gzip member of its own, as ibfattree-route(1)
 * describes, so that a program can read one of them.  Other files are one member. */
#define TABLE "Unicast lids"	/* a call of gzip_write() that begins with this begins a table */
#define CHUNK 65536

struct packer {
	FILE *to;
	z_stream z;
	gz_header head;
	unsigned char extra[8];	/* "FT", the length of the rest, and the length of the member */
	char guid[20];		/* of the switch */
	unsigned char *out;	/* [room] the first n bytes of the present member */
	size_t n, room;
};

static bool pack(struct packer *p, const char *data, size_t n, int flush)
{
	int ret = Z_OK;

	p->z.next_in = (Bytef *)(uintptr_t)data;
	p->z.avail_in = (uInt)n;
	do {
		if (p->room - p->n < CHUNK) {
			unsigned char *more = realloc(p->out, p->room + CHUNK);

			if (!more)
				return false;
			p->out = more;
			p->room += CHUNK;
		}
		p->z.next_out = p->out + p->n;
		p->z.avail_out = (uInt)(p->room - p->n);
		ret = deflate(&p->z, flush);
		p->n = p->room - p->z.avail_out;
	} while (ret == Z_OK && !p->z.avail_out);
	return ret == Z_OK || ret == Z_STREAM_END;
}

/* Write the member, with its length in its header: at byte 16, after "FT" and the length of the
 * rest. */
static bool end_member(struct packer *p)
{
	bool ok = pack(p, NULL, 0, Z_FINISH);

	for (int i = 0; ok && i < 4; i++)
		p->out[16 + i] = (unsigned char)(p->n >> 8 * i);
	ok = ok && fwrite(p->out, 1, p->n, p->to) == p->n;
	p->n = 0;
	return deflateReset(&p->z) == Z_OK && ok;
}

static bool begin_member(struct packer *p, const char *data, size_t n)
{
	const char *guid = memmem(data, n, " guid 0x", 8);

	memcpy(p->extra, "FT\4", 4);
	p->head = (gz_header){ .extra = p->extra, .extra_len = sizeof(p->extra), .os = 255 };
	if (guid && data + n - guid > (ptrdiff_t)sizeof(p->guid) + 4) {
		snprintf(p->guid, sizeof(p->guid), "%.18s", guid + 6);
		p->head.name = (Bytef *)p->guid;
	}
	return deflateSetHeader(&p->z, &p->head) == Z_OK;
}

static ssize_t gzip_write(void *z, const char *data, size_t n)
{
	struct packer *p = z;
	bool table = n > strlen(TABLE) && !memcmp(data, TABLE, strlen(TABLE)), ok = true;

	if (table && p->z.total_in)
		ok = end_member(p);
	if (ok && !p->z.total_in)
		ok = begin_member(p, data, table ? n : 0);
	return ok && pack(p, data, n, Z_NO_FLUSH) ? (ssize_t)n : 0;
}

static int gzip_close(void *z)
{
	struct packer *p = z;
	bool ok = (p->z.total_in || begin_member(p, "", 0)) && end_member(p);

	deflateEnd(&p->z);
	ok = !fclose(p->to) && ok;
	free(p->out);
	free(p);
	return ok ? 0 : EOF;
}

FILE *cli_gzip(int fd)
{
	struct packer *p = calloc(1, sizeof(*p));
	int own = dup(fd);
	FILE *out = NULL;

	/* 1: fast; 16: a gzip header */
	if (p && deflateInit2(&p->z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
		p->to = own < 0 ? NULL : fdopen(own, "w");
		out = p->to ? fopencookie(p, "w", (cookie_io_functions_t){
				.write = gzip_write, .close = gzip_close }) : NULL;
	}
	if (out)
		return out;
	if (p) {
		deflateEnd(&p->z);
		if (p->to)
			fclose(p->to);
	}
	if (own >= 0 && !(p && p->to))
		close(own);
	free(p);
	return NULL;
}
