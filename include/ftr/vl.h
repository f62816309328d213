/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Virtual lanes: the SL2VL tables of switches, and the SLs of paths.
 *
 * A packet keeps its SL on its whole path.  Every switch chooses the VL of the next
 * link from (input port, output port, SL).  The VL on which the packet arrived does
 * not matter (IBA 1.3, 7.6.6).  A packet that is mapped to VL 15 is dropped.
 * Packets that the switch itself sends have input port 0.
 */
#ifndef FTR_VL_H
#define FTR_VL_H

#include <ftr/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FTR_N_SL 16
#define FTR_VL_DROP 15		/* not a data VL: IBA 1.3, 7.6.6 */
#define FTR_SL_NONE 255		/* unknown */

/* One 64-bit word for each combination (switch, input port, output port).  Its bits 4 * sl ..
 * 4 * sl + 3 are the VL of SL sl.  A switch with 36 ports takes 11 KB. */
struct ftr_sl2vl {
	uint32_t n_sw;
	uint32_t *width;	/* [n_sw] number of ports of the switch, port 0 included */
	uint64_t *first;	/* [n_sw] index in word[] of the word of (s, 0, 0) */
	uint64_t *word;
};

/* Make tables that map every SL to the VL with the same number. */
enum ftr_status ftr_sl2vl_new(const struct ftr_fabric *f,
			      struct ftr_sl2vl **out,
			      struct ftr_err *err) FTR_MUST_USE;
void ftr_sl2vl_free(struct ftr_sl2vl *m);	/* NULL is accepted */

static inline uint64_t *ftr_sl2vl_word(const struct ftr_sl2vl *m, ftr_sw s,
				       ftr_port in, ftr_port out)
{
	return &m->word[m->first[s] + (uint64_t)in * m->width[s] + out];
}

static inline unsigned int ftr_sl2vl_get(const struct ftr_sl2vl *m, ftr_sw s,
					 ftr_port in, ftr_port out,
					 unsigned int sl)
{
	return (unsigned int)(*ftr_sl2vl_word(m, s, in, out) >> (4 * sl)) & 15;
}

static inline void ftr_sl2vl_set(struct ftr_sl2vl *m, ftr_sw s, ftr_port in,
				 ftr_port out, unsigned int sl, unsigned int vl)
{
	uint64_t *word = ftr_sl2vl_word(m, s, in, out);

	*word &= ~(UINT64_C(15) << (4 * sl));
	*word |= (uint64_t)(vl & 15) << (4 * sl);
}

/* The SL of each pair (source, destination LID).  The sources are first the host ports 0 .. n_ep-1,
 * then the switches. */
struct ftr_path_sl {
	uint32_t n_ep, n_sw;
	ftr_lid max_lid;
	/* [n_ep + n_sw] row[source][lid]: the SL, or FTR_SL_NONE.  row[source] is NULL if no SL of
	 * the source is known. */
	uint8_t **row;
};

/* Make an object in which all SLs are unknown. */
enum ftr_status ftr_path_sl_new(const struct ftr_fabric *f,
				struct ftr_path_sl **out,
				struct ftr_err *err) FTR_MUST_USE;
void ftr_path_sl_free(struct ftr_path_sl *p);	/* NULL is accepted */

/* Set the SL of one source and LID.  FTR_INVAL: the fabric has no such source, lid is above
 * max_lid, or sl is above 15. */
enum ftr_status ftr_path_sl_set(struct ftr_path_sl *p, uint32_t source,
				ftr_lid lid, unsigned int sl,
				struct ftr_err *err) FTR_MUST_USE;

static inline unsigned int ftr_path_sl_get(const struct ftr_path_sl *p,
					   uint32_t source, ftr_lid lid)
{
	return p->row[source] ? p->row[source][lid] : FTR_SL_NONE;
}

#ifdef __cplusplus
}
#endif
#endif
