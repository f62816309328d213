/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Text formats: to and from fabrics, tables and GUID lists.
 *
 * Readers take a path and give a finished object or one error of the form
 * "FILE:LINE: what, with the value"; nothing half-read is ever returned.
 * Files are read as bytes; CR LF and a last line without its newline are
 * accepted; NUL bytes and lines over 4,096 bytes are errors.
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
 * Compressed files.  The library links no decompressor; a program may register
 * one, before it reads anything, for all readers but that of state files.
 * Errors of a compressed file: FTR_PARSE damaged or cut, FTR_LIMIT too large
 * when unpacked (2^33 bytes; 2^28 for a fabric).
 */
struct ftr_unpack_io {
	const unsigned char *in;	/* packed bytes, moved on by run */
	size_t n_in;
	unsigned char *out;	/* room, moved on by run */
	size_t n_out;
	bool last;		/* no more packed bytes will come */
};

enum ftr_unpacked {
	FTR_UNPACKED_MORE,	/* call again, with more bytes or more room */
	FTR_UNPACKED_END,	/* all is unpacked */
	FTR_UNPACKED_DAMAGED,
	FTR_UNPACKED_NOMEM
};

struct ftr_unpacker {
	/* does a file that begins with these n <= 6 bytes concern it? */
	bool (*knows)(const unsigned char *head, size_t n);
	void *(*begin)(const unsigned char *head);	/* NULL: no memory */
	/* unpacks what it can at once */
	enum ftr_unpacked (*run)(void *z, struct ftr_unpack_io *io);
	void (*end)(void *z);
};
/* NULL: none (any more).  Not for two threads at once. */
void ftr_set_unpacker(const struct ftr_unpacker *u);

/*
 * Read an ibsim netfile or the output of ibnetdiscover (with or without -p
 * decorations), an opensm-subnet.lst or ibdiagnet2.lst, or an ibdiagnet2.db_csv;
 * the form is recognised by the first meaningful line.  lmc is used only where the file
 * gives no LIDs (they are then assigned, see ftr_builder_assign_lids).
 */
enum ftr_status ftr_read_fabric(const char *path, unsigned int lmc,
				struct ftr_fabric **out,
				struct ftr_err *err) FTR_MUST_USE;
/* The same from memory; path only for messages. */
enum ftr_status ftr_parse_fabric(const char *path, const char *text,
				 size_t len, unsigned int lmc,
				 struct ftr_fabric **out,
				 struct ftr_err *err) FTR_MUST_USE;

/* Links that only one of their ends reports, and that were left out. */
struct ftr_read_notes {
	uint32_t one_sided;
	char first[FTR_ERR_MAX];	/* "FILE:LINE: ..." of the first */
};

/* The same for a snapshot of a fabric that was changing or did not answer in
 * full: one-sided links are left out and noted; both functions above refuse
 * them. */
enum ftr_status ftr_read_fabric_tolerant(const char *path, unsigned int lmc,
					 struct ftr_read_notes *notes,
					 struct ftr_fabric **out,
					 struct ftr_err *err) FTR_MUST_USE;

/* One GUID per line (0x... or hex), '#' comments: OpenSM's guid files.  A name
 * behind the GUID is passed over; *n is 0 for a file without any GUID.
 * *guids is malloc()ed for the caller. */
enum ftr_status ftr_read_guids(const char *path, uint64_t **guids,
			       uint32_t *n, struct ftr_err *err) FTR_MUST_USE;
/* The same of a file that only root or the caller may have written: FTR_IO,
 * too, if it is not a regular file of one of them. */
enum ftr_status ftr_read_guids_own(const char *path, uint64_t **guids,
				   uint32_t *n,
				   struct ftr_err *err) FTR_MUST_USE;

/* Where a file of tables and the fabric do not match. */
struct ftr_lfts_gaps {
	uint32_t missing;	/* switches of which the file does not tell */
	uint32_t foreign;	/* switches of the file that are not of f */
	uint32_t line;		/* the first of them */
	uint64_t guid;
};

/* Read tables for f: opensm-lfts.dump, the output of dump_lfts/ibroute, or
 * opensm.fdbs; told by the first line.  Rows of switches that the file does not
 * mention are all FTR_PORT_NONE; *gaps (may be NULL) tells. */
enum ftr_status ftr_read_lfts(const char *path, const struct ftr_fabric *f,
			      struct ftr_tables **out,
			      struct ftr_lfts_gaps *gaps,
			      struct ftr_err *err) FTR_MUST_USE;

/* Read an order of end ports: opensm-*-ca-order.dump, FTR_EP_NONE for a gap.
 * *order is malloc()ed for the caller. */
enum ftr_status ftr_read_order(const char *path, const struct ftr_fabric *f,
			       ftr_ep **order, uint32_t *n,
			       struct ftr_err *err) FTR_MUST_USE;

/* Read pairs of end ports, two a line: a LID (decimal, or 0x up to 0xffff), a
 * port GUID, the node GUID of a node with one port, or a "node description"
 * that only one end port bears.  *pair is malloc()ed for the caller. */
enum ftr_status ftr_read_pairs(const char *path, const struct ftr_fabric *f,
			       struct ftr_load_pair **pair, uint32_t *n,
			       struct ftr_err *err) FTR_MUST_USE;

/* Read SL to VL tables of switches: opensm-sl2vl.dump, or lines "0xGUID in out
 * 0xNN ..." (two SLs a byte), both as ibdmchk -d reads them.  What the file does
 * not tell is the identity; switches of which it tells nothing are counted in
 * *missing (may be NULL). */
enum ftr_status ftr_read_sl2vl(const char *path, const struct ftr_fabric *f,
			       struct ftr_sl2vl **out, uint32_t *missing,
			       struct ftr_err *err) FTR_MUST_USE;
/* The second form. */
enum ftr_status ftr_write_sl2vl(FILE *out, const struct ftr_fabric *f,
				const struct ftr_sl2vl *m,
				struct ftr_err *err) FTR_MUST_USE;

/* Read the SLs of paths: lines "0xGUID DLID SL", or sections "Channel Adapter
 * 0xGUID," or "Switch 0xGUID," of lines "0xLID : SL", as ibdmchk -c reads
 * them.  Sources and LIDs that f does not have are passed over. */
enum ftr_status ftr_read_path_sl(const char *path, const struct ftr_fabric *f,
				 struct ftr_path_sl **out,
				 struct ftr_err *err) FTR_MUST_USE;
/* The second form. */
enum ftr_status ftr_write_path_sl(FILE *out, const struct ftr_fabric *f,
				  const struct ftr_path_sl *p,
				  struct ftr_err *err) FTR_MUST_USE;

/* Write f as a netfile that ibsim and ftr_read_fabric accept.  order: NULL,
 * or a permutation of 0 .. n_sw + n_nodes - 1 (switches by index, then end
 * nodes) that gives the order of records in the file. */
enum ftr_status ftr_write_netfile(FILE *out, const struct ftr_fabric *f,
				  const uint32_t *order,
				  struct ftr_err *err) FTR_MUST_USE;

/* Write t in the form of opensm-lfts.dump, which OpenSM's "file" engine and
 * ftr_read_lfts accept. */
enum ftr_status ftr_write_lfts(FILE *out, const struct ftr_fabric *f,
			       const struct ftr_tables *t,
			       struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
