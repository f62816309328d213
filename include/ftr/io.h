/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Text formats: readers and writers of fabrics, tables and GUID lists.
 *
 * A reader takes a path and returns a complete object, or an error and no object.
 * The error text is "FILE:LINE: problem, with the value", without LINE if no single line is
 * wrong.  Lines may end with CR LF, and the last line may lack its newline.  NUL bytes and lines
 * over 4,096 bytes are errors.
 */
#ifndef FTR_IO_H
#define FTR_IO_H

#include <stdio.h>

#include <ftr/fabric.h>
#include <ftr/load.h>
#include <ftr/tables.h>
#include <ftr/vl.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Compressed files.  The library contains no decompressor.  A program may register a decompressor
 * before it reads any file.  All readers use it, except those of <ftr/state.h>.  Errors:
 * FTR_PARSE: the compressed file is damaged or truncated.  FTR_LIMIT: it unpacks to more than 2^33
 * bytes (to more than 2^28 bytes for a fabric or a nominal fabric).
 */
struct ftr_unpack_io {
	const unsigned char *in;	/* the next packed byte; run() advances it */
	size_t n_in;
	unsigned char *out;	/* the next free byte of the output; run() advances it */
	size_t n_out;
	bool last;		/* true: no more packed bytes will follow */
};

enum ftr_unpacked {
	FTR_UNPACKED_MORE,	/* call again with more bytes or more space */
	FTR_UNPACKED_END,	/* everything is unpacked */
	FTR_UNPACKED_DAMAGED,
	FTR_UNPACKED_NOMEM
};

struct ftr_unpacker {
	/* returns true if this decompressor can unpack a file that begins with these n bytes;
	 * n <= 6 */
	bool (*knows)(const unsigned char *head, size_t n);
	void *(*begin)(const unsigned char *head);	/* NULL: no memory */
	/* unpacks as much as it can */
	enum ftr_unpacked (*run)(void *z, struct ftr_unpack_io *io);
	void (*end)(void *z);
};
/* Register a decompressor; NULL: none.  Not thread safe. */
void ftr_set_unpacker(const struct ftr_unpacker *u);

/*
 * Lists of links: opensm-subnet.lst, ibdiagnet2.lst, ibdiagnet2.db_csv.  The library cannot read
 * them.  A program may register a function that converts such a text to a netfile, and sets file to
 * the name of the netfile.  A line "#line N" there means that the next line was made from line N of
 * the text; messages name this line, and path.  Without such a function, lists are refused with
 * FTR_PARSE.  Not thread safe.
 */
#define FTR_CONVERTED_MAX 32
typedef enum ftr_status (*ftr_convert_fn)(const char *path, const char *text, size_t len,
					  char file[FTR_CONVERTED_MAX], struct ftr_err *err);
void ftr_set_converter(ftr_convert_fn fn);

/*
 * Read a fabric: an ibsim netfile, the output of ibnetdiscover, or a list of links.  The
 * first line with content identifies the format.  If the file gives no LID for a switch or a
 * host port, a LID is assigned; such a host port gets the LMC lmc (see ftr_builder_assign_lids).
 */
enum ftr_status ftr_read_fabric(const char *path, unsigned int lmc,
				struct ftr_fabric **out,
				struct ftr_err *err) FTR_MUST_USE;
/* Like ftr_read_fabric, but text[len] is the content of the file.  Only messages use path. */
enum ftr_status ftr_parse_fabric(const char *path, const char *text,
				 size_t len, unsigned int lmc,
				 struct ftr_fabric **out,
				 struct ftr_err *err) FTR_MUST_USE;

/* Links that were left out because only one of their two ends reports them. */
struct ftr_read_notes {
	uint32_t one_sided;
	char first[FTR_ERR_MAX];	/* the first of these links, as "FILE:LINE: ..." */
};

/* Like ftr_read_fabric, but leaves out links that only one end reports, and counts them in *notes.
 * Such links occur in snapshots of a fabric that was changing, or did not answer completely.
 * ftr_read_fabric and ftr_parse_fabric reject them. */
enum ftr_status ftr_read_fabric_tolerant(const char *path, unsigned int lmc,
					 struct ftr_read_notes *notes,
					 struct ftr_fabric **out,
					 struct ftr_err *err) FTR_MUST_USE;

/* Read a GUID file of OpenSM: one GUID per line (hex, with or without 0x), '#' begins a
 * comment.  A name after the GUID is ignored.  *n is 0 for a file without any GUID.
 * *guids is malloc()ed for the caller.  FTR_LIMIT: more than 2^20 GUIDs. */
enum ftr_status ftr_read_guids(const char *path, uint64_t **guids,
			       uint32_t *n, struct ftr_err *err) FTR_MUST_USE;
/* Like ftr_read_guids, but reads only a regular file that belongs to root or to the caller.
 * Any other file is refused with FTR_IO. */
enum ftr_status ftr_read_guids_own(const char *path, uint64_t **guids,
				   uint32_t *n,
				   struct ftr_err *err) FTR_MUST_USE;

/* Counts of the parts of a file.  Each part is about one switch, or about one source of paths.  A
 * part is known if its switch or source is in the fabric, otherwise it is foreign. */
struct ftr_parts {
	uint64_t known;
	uint32_t foreign;
	uint32_t line;		/* line of the first foreign part; 0: none */
	uint64_t guid;		/* GUID of the first foreign part */
};

/* Read tables for f from opensm-lfts.dump, from the output of dump_lfts or ibroute, from
 * opensm.fdbs, or from the output of ftr_write_lfts_compact.  The first line identifies the format.
 * *parts (may be NULL) counts the switches.  If the file does not contain a switch of f, all entries
 * of this switch are FTR_PORT_NONE.  FTR_INVAL: no switch of the file is in f. */
enum ftr_status ftr_read_lfts(const char *path, const struct ftr_fabric *f,
			      struct ftr_tables **out,
			      struct ftr_parts *parts,
			      struct ftr_err *err) FTR_MUST_USE;

/* Read an order of host ports from opensm-*-ca-order.dump.  FTR_EP_NONE: a place without a host
 * port.  *order is malloc()ed for the caller. */
enum ftr_status ftr_read_order(const char *path, const struct ftr_fabric *f,
			       ftr_ep **order, uint32_t *n,
			       struct ftr_err *err) FTR_MUST_USE;

/* Read pairs of host ports, one pair per line.  A host port is given as a LID
 * (decimal, or 0x up to 0xffff); a port GUID; the node GUID of a node with one port; or a node
 * description in quotes, which only one host port may have.
 * *pair is malloc()ed for the caller. */
enum ftr_status ftr_read_pairs(const char *path, const struct ftr_fabric *f,
			       struct ftr_transfer **pair, uint32_t *n,
			       struct ftr_err *err) FTR_MUST_USE;

/* Read transfers, one per line: step, sender, receiver, bytes (1 to 2^40).  Both host ports are
 * given as in ftr_read_pairs, and have a link.  *transfer is malloc()ed for the caller. */
enum ftr_status ftr_read_transfers(const char *path, const struct ftr_fabric *f,
				   struct ftr_transfer **transfer, uint32_t *n,
				   struct ftr_err *err) FTR_MUST_USE;

/* Read SL2VL tables of switches from opensm-sl2vl.dump, or from lines "0xGUID in out
 * 0xNN ..." (input port, output port, two SLs per byte).  ibdmchk -d reads both forms.  Where the
 * file has no entry, an SL is mapped to the VL with the same number.  *missing (may be NULL) is the
 * number of switches that the file does not contain. */
enum ftr_status ftr_read_sl2vl(const char *path, const struct ftr_fabric *f,
			       struct ftr_sl2vl **out, uint32_t *missing,
			       struct ftr_err *err) FTR_MUST_USE;
/* Write the tables as lines "0xGUID in out 0xNN ...". */
enum ftr_status ftr_write_sl2vl(FILE *out, const struct ftr_fabric *f,
				const struct ftr_sl2vl *m,
				struct ftr_err *err) FTR_MUST_USE;

/* Read the SLs of paths.  The file has lines "0xGUID DLID SL", or it has sections "Channel Adapter
 * 0xGUID," and "Switch 0xGUID," with lines "0xLID : SL".  ibdmchk -c reads both forms.
 * Sources and LIDs that are not in f are ignored. */
enum ftr_status ftr_read_path_sl(const char *path, const struct ftr_fabric *f,
				 struct ftr_path_sl **out,
				 struct ftr_err *err) FTR_MUST_USE;

/* Write f as a netfile that ibsim and ftr_read_fabric accept.  Host ports without a link are left
 * out.  order: the order in which nodes are written, or NULL.  It is a permutation of the numbers
 * of the nodes: 0 .. n_sw - 1 are the switches, n_sw .. n_sw + n_nodes - 1 the end nodes.
 * FTR_INVAL: order is not a permutation. */
enum ftr_status ftr_write_netfile(FILE *out, const struct ftr_fabric *f,
				  const uint32_t *order,
				  struct ftr_err *err) FTR_MUST_USE;

/* Write t in the format of opensm-lfts.dump, which the "file" engine of OpenSM and
 * ftr_read_lfts accept. */
enum ftr_status ftr_write_lfts(FILE *out, const struct ftr_fabric *f,
			       const struct ftr_tables *t,
			       struct ftr_err *err) FTR_MUST_USE;

/* Like ftr_write_lfts, but about 30 times as small: the entries of a switch are lines "0xLID:
 * ppPP..." with two hexadecimal digits for each entry, from this LID on.  ftr_read_lfts reads this
 * form; OpenSM does not. */
enum ftr_status ftr_write_lfts_compact(FILE *out, const struct ftr_fabric *f,
				       const struct ftr_tables *t,
				       struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
