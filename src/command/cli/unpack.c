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
		ok = lzma_stream_decoder(&s->x, XZ_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
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
	if (s->between && inflateReset(&s->z) != Z_OK)	/* not covered: the state is valid */
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
#define LENGTH_AT 16		/* place of the length in the header of a member */

struct packer {
	FILE *to, *from;	/* from: stream of text[n], what was written since the last member */
	char *text;
	size_t n;
};

/* Compress text[n] to out[room], with the length of the result in its header.  Returns the length, or
 * 0 after an error. */
static size_t pack(const char *text, size_t n, unsigned char *out, size_t room, z_stream *z)
{
	unsigned char extra[8] = "FT\4";	/* FT, the length of the rest, and the rest */
	const char *guid = !strncmp(text, TABLE, strlen(TABLE)) ? strstr(text, " guid 0x") : NULL;
	char name[20];
	gz_header head = { .extra = extra, .extra_len = sizeof(extra), .os = 255 };

	if (guid) {
		snprintf(name, sizeof(name), "%.18s", guid + 6);
		head.name = (Bytef *)name;
	}
	z->next_in = (Bytef *)(uintptr_t)text;
	z->avail_in = (uInt)n;
	z->next_out = out;
	z->avail_out = (uInt)room;
	if (!out || deflateSetHeader(z, &head) != Z_OK || deflate(z, Z_FINISH) != Z_STREAM_END)
		return 0;
	for (int i = 0; i < 4; i++)
		out[LENGTH_AT + i] = (unsigned char)(z->total_out >> 8 * i);
	return z->total_out;
}

static bool end_member(struct packer *p)
{
	z_stream z = { .next_in = NULL };
	FILE *from = p->from;
	unsigned char *out;
	size_t room, n = 0;

	p->from = NULL;
	if (!from || fclose(from) || !p->text)	/* NULL: an allocation has failed */
		return false;
	/* 1: fast; 16: a gzip header */
	if (deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK) {
		room = deflateBound(&z, p->n) + 64;
		out = malloc(room);
		n = pack(p->text, p->n, out, room, &z);
		n = n && fwrite(out, 1, n, p->to) == n ? n : 0;
		free(out);
		deflateEnd(&z);
	}
	free(p->text);
	p->text = NULL;
	if (n)
		p->from = open_memstream(&p->text, &p->n);
	return n;
}

static ssize_t gzip_write(void *packer, const char *data, size_t n)
{
	struct packer *p = packer;
	bool table = n > strlen(TABLE) && !memcmp(data, TABLE, strlen(TABLE));

	if (table && p->from && ftell(p->from))
		end_member(p);
	return p->from ? (ssize_t)fwrite(data, 1, n, p->from) : 0;
}

static int gzip_close(void *packer)
{
	struct packer *p = packer;
	bool ok = end_member(p);

	if (p->from)
		fclose(p->from);
	free(p->text);
	ok = !fclose(p->to) && ok;
	free(p);
	return ok ? 0 : EOF;
}

FILE *cli_gzip(int fd)
{
	struct packer *p = cli_calloc(1, sizeof(*p), "compressed output");
	int own = dup(fd);

	p->to = own < 0 ? NULL : fdopen(own, "w");
	p->from = open_memstream(&p->text, &p->n);
	return p->to && p->from ? fopencookie(p, "w", (cookie_io_functions_t){
			.write = gzip_write, .close = gzip_close }) : NULL;
}
