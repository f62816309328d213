/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Shared by the tests of readers, writers and generators: texts to read, and the comparison of all
 * public fields of two fabrics.
 */
#ifndef FTR_TEST_IO_UTIL_H
#define FTR_TEST_IO_UTIL_H

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/base.h"
#include <ftr/ftr.h>

#define PATH "t.net"

/* Write the text to a new file in memory.  Sets *fd to its descriptor and path[] to its name.
 * Closes the old *fd unless it is -1. */
static inline void put_in_memory(int *fd, char path[64], const char *text,
				 size_t len)
{
	if (*fd >= 0)
		close(*fd);
	*fd = memfd_create("ftr", 0);
	ck_assert_int_ge(*fd, 0);
	ck_assert_int_eq(write(*fd, text, len), (ssize_t)len);
	snprintf(path, 64, "/proc/self/fd/%d", *fd);
}

/* A topology as ibnetdiscover prints it.  Tests refer to its lines by number. */
static const char good_net[] =
	"# a comment\n"						/* 1 */
	"\n"
	"switchguid=0x10(10)\n"
	"Switch\t4 \"S-10\"\t\t# \"leaf 1\" enhanced port 0 lid 1 lmc 0\n"
	"[1]\t\"H-100\"[1](105) \t\t# \"node1\" lid 4 4xNDR\n"	/* 5 */
	"[2]\t\"S-20\"[3]\t\t# \"spine\" lid 2 4xHDR\n"
	"\n"
	"switchguid=0x20(20)\n"
	"Switch\t4 \"S-20\"\t\t# \"spine\" base port 0 lid 2 lmc 0\n"
	"[3]\t\"S-10\"[2]\t\t# \"leaf 1\" lid 1 4xHDR\n"	/* 10 */
	"\n"
	"caguid=0x100\n"
	"Ca\t1 \"H-100\"\t\t# \"node1\"\n"
	"[1](105) \t\"S-10\"[1]\t\t# lid 4 lmc 2 \"leaf 1\" lid 1 4xNDR\n";

/* A topology written by hand for ibsim. */
static const char hand_net[] =
	"Switch\t8 \"Switch1\"\n"
	"[1]\t\"Hca1\"[1]\n"
	"[2]\t\"Hca1\"[2]  w=8\n"
	"[3]\t\"Switch2\"[3] s=4 # trunk\n"
	"\n"
	"Switch 8 \"Switch2\"\n"
	"[3]\t\"Switch1\"[3]\n"
	"\n"
	"Hca\t2 \"Hca1\"\n"
	"[1]\t\"Switch1\"\n"
	"[2]\t\"Switch1\"[2]\n";

static inline void same_fabric(const struct ftr_fabric *a,
			       const struct ftr_fabric *b)
{
	ck_assert_uint_eq(a->n_sw, b->n_sw);
	ck_assert_uint_eq(a->n_ep, b->n_ep);
	ck_assert_uint_eq(a->n_nodes, b->n_nodes);
	ck_assert_uint_eq(a->n_ports, b->n_ports);
	ck_assert_uint_eq(a->n_sw_links, b->n_sw_links);
	ck_assert_uint_eq(a->max_lid, b->max_lid);
	for (ftr_sw s = 0; s < a->n_sw; s++) {
		const struct ftr_switch *x = &a->sw[s], *y = &b->sw[s];

		ck_assert(x->guid == y->guid && x->lid == y->lid &&
			  x->lmc == y->lmc && x->n_ports == y->n_ports &&
			  x->first_port == y->first_port);
		ck_assert_str_eq(x->name, y->name);
	}
	for (ftr_ep e = 0; e < a->n_ep; e++) {
		const struct ftr_endport *x = &a->ep[e], *y = &b->ep[e];

		ck_assert(x->guid == y->guid && x->node_guid == y->node_guid &&
			  x->node == y->node && x->sw == y->sw &&
			  x->sw_port == y->sw_port &&
			  x->port_num == y->port_num && x->lid == y->lid &&
			  x->lmc == y->lmc && x->type == y->type);
		ck_assert_str_eq(x->name, y->name);
	}
	for (uint32_t p = 0; p < a->n_ports; p++) {
		const struct ftr_swport *x = &a->ports[p], *y = &b->ports[p];

		ck_assert(x->peer == y->peer && x->peer_kind == y->peer_kind &&
			  x->peer_port == y->peer_port &&
			  x->width == y->width && x->speed == y->speed);
	}
}

static inline struct ftr_fabric *must_parse(const char *text)
{
	struct ftr_fabric *f = NULL;
	struct ftr_err err = { 0 };

	if (ftr_parse_fabric(PATH, text, strlen(text), 0, &f, &err))
		ck_abort_msg("%s", err.msg);
	return f;
}

/* Write f as a netfile.  The caller must free() the text. */
static inline char *written(const struct ftr_fabric *f, const uint32_t *order)
{
	struct ftr_err err = { 0 };
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	if (ftr_write_netfile(out, f, order, &err))
		ck_abort_msg("%s", err.msg);
	fclose(out);
	return text;
}

static inline void round_trip(const struct ftr_fabric *f)
{
	char *text = written(f, NULL);
	struct ftr_fabric *g = must_parse(text);

	same_fabric(f, g);
	ftr_fabric_free(g);
	free(text);
}

#endif
