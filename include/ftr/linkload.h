/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The load of every single link; <ftr/load.h> gives sums and the most loaded links.
 *
 * load[] has f->n_ports elements: the number of flows that leave a switch through
 * that port to another switch, 0 for all other ports.  Every element is written.
 * Patterns, flows and orders are those of <ftr/load.h>.  Flows that do not arrive
 * load no link.
 */
#ifndef FTR_LINKLOAD_H
#define FTR_LINKLOAD_H

#include <ftr/load.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All-to-all: every end port of the order sends to every other.  out: NULL, or the
 * report of ftr_load_all().  O(n_sw * n).  FTR_NOMEM. */
enum ftr_status ftr_link_load_all(const struct ftr_load *ld,
				  struct ftr_team *team, uint64_t *load,
				  struct ftr_load_report *out,
				  struct ftr_err *err) FTR_MUST_USE;
/* Shift k: position i of the order sends to position (i + k) mod n.  FTR_NOMEM. */
enum ftr_status ftr_link_load_shift(const struct ftr_load *ld, uint32_t k,
				    uint64_t *load,
				    struct ftr_err *err) FTR_MUST_USE;
/* Only the given pairs.  FTR_INVAL: the fabric has no such end port.  FTR_NOMEM. */
enum ftr_status ftr_link_load_pairs(const struct ftr_load *ld,
				    const struct ftr_load_pair *pair, uint32_t n,
				    uint64_t *load,
				    struct ftr_err *err) FTR_MUST_USE;

#ifdef __cplusplus
}
#endif
#endif
