/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Names and numbers for messages. */
#ifndef IBF_NAME_H
#define IBF_NAME_H

#include <ftr/fabric.h>

/* A text for a message, returned by value. */
struct ibf_text {
	char s[FTR_NAME_MAX + 32];
};

/* Names for messages, see name.c. */
struct ibf_text ibf_sw_name(const struct ftr_fabric *f, ftr_sw s);
struct ibf_text ibf_ep_name(const struct ftr_fabric *f, ftr_ep e);
/* The name of the port that has the LID lid.  The LID must have an owner. */
struct ibf_text ibf_lid_name(const struct ftr_fabric *f, ftr_lid lid);

/* "1 entry", "0 entries". */
struct ibf_text ibf_count(uint64_t n, const char *one, const char *many);

#endif
