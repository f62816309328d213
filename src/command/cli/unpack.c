// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Compressed files.  Input for the readers of the library (<ftr/io.h>): by the programs gzip and xz.
 * Output: gzip, by zlib.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <zlib.h>

#include "cli/cli.h"

/* ---- input --------------------------------------------------------------- */

/* Returns a file with the bytes in head and the rest of fd, which may be a pipe. */
static int copy_of(int fd, const unsigned char *head, size_t n)
{
	FILE *copy = tmpfile();
	unsigned char part[65536];
	ssize_t got = (ssize_t)n;

	memcpy(part, head, n);
	for (; copy && got > 0; got = read(fd, part, sizeof(part)))
		if (fwrite(part, 1, (size_t)got, copy) != (size_t)got)
			copy = NULL;
	if (!copy || got < 0 || fflush(copy))
		cli_die("temporary file: %s", strerror(errno));
	return fileno(copy);
}

static FILE *begin(int fd, const unsigned char *head, size_t n)
{
	const char *program = n >= 2 && !memcmp(head, "\x1f\x8b", 2) ? "gzip -dc" :
		n >= 6 && !memcmp(head, "\xfd" "7zXZ", 6) ? "xz -dc -M 128MiB" : NULL;
	char command[128];
	FILE *unpacked;

	if (!program)
		return NULL;
	snprintf(command, sizeof(command), "exec %s </proc/%d/fd/%d 2>/dev/null", program, getpid(),
		 lseek(fd, 0, SEEK_CUR) < 0 ? copy_of(fd, head, n) : fd);
	unpacked = popen(command, "re");
	if (!unpacked)
		cli_die("%s: cannot start: %s", program, strerror(errno));
	return unpacked;
}

static const char *end(FILE *unpacked)
{
	int status = pclose(unpacked);

	return !status ? NULL : WIFEXITED(status) && WEXITSTATUS(status) == 127 ?
		"the program gzip or xz, which unpacks the file, is not installed" :
		"the compressed data are damaged or truncated";
}

const struct ftr_unpacker cli_unpacker = { begin, end };

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
	if (!from || fclose(from))
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
