// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * SL2VL tables, and the SLs of paths: make them and set values.  <ftr/vl.h> shows their layout.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include <ftr/vl.h>

#define IDENTITY UINT64_C(0xFEDCBA9876543210)

enum ftr_status ftr_sl2vl_new(const struct ftr_fabric *f,
			      struct ftr_sl2vl **out, struct ftr_err *err)
{
	struct ftr_sl2vl *m = ftr_calloc(1, sizeof(*m));
	uint64_t words = 0;

	if (m) {
		m->n_sw = f->n_sw;
		m->width = ftr_calloc((size_t)f->n_sw + 1, sizeof(*m->width));
		m->first = ftr_calloc((size_t)f->n_sw + 1, sizeof(*m->first));
	}
	for (ftr_sw s = 0; m && m->width && m->first && s < f->n_sw; s++) {
		m->width[s] = f->sw[s].n_ports + 1u;
		m->first[s] = words;
		words += (uint64_t)m->width[s] * m->width[s];
	}
	if (m && m->width && m->first)
		m->word = ftr_calloc(words + 1, sizeof(*m->word));
	if (!m || !m->word) {
		ftr_sl2vl_free(m);
		return ftr_nomem(err, "the SL2VL tables of %u switches", f->n_sw);
	}
	for (uint64_t i = 0; i < words; i++)
		m->word[i] = IDENTITY;
	*out = m;
	return FTR_OK;
}

void ftr_sl2vl_free(struct ftr_sl2vl *m)
{
	if (!m)
		return;
	free(m->width);
	free(m->first);
	free(m->word);
	free(m);
}

enum ftr_status ftr_path_sl_new(const struct ftr_fabric *f,
				struct ftr_path_sl **out, struct ftr_err *err)
{
	struct ftr_path_sl *p = ftr_calloc(1, sizeof(*p));

	if (p) {
		p->n_ep = f->n_ep;
		p->n_sw = f->n_sw;
		p->max_lid = f->max_lid;
		p->row = ftr_calloc((size_t)f->n_ep + f->n_sw + 1,
				    sizeof(*p->row));
	}
	if (!p || !p->row) {
		free(p);
		return ftr_nomem(err, "the SLs of %u sources", f->n_ep + f->n_sw);
	}
	*out = p;
	return FTR_OK;
}

void ftr_path_sl_free(struct ftr_path_sl *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->n_ep + p->n_sw; i++)
		free(p->row[i]);
	free(p->row);
	free(p);
}

enum ftr_status ftr_path_sl_set(struct ftr_path_sl *p, uint32_t source,
				ftr_lid lid, unsigned int sl,
				struct ftr_err *err)
{
	uint8_t **row;

	if (source >= p->n_ep + p->n_sw || lid > p->max_lid || sl >= FTR_N_SL)
		return ftr_fail(err, FTR_INVAL, "source %u, LID %u, SL %u: there are %u sources, LIDs up to %u, SLs up to %u",
				source, lid, sl, p->n_ep + p->n_sw, p->max_lid,
				FTR_N_SL - 1);
	row = &p->row[source];
	if (!*row) {
		*row = ftr_malloc((size_t)p->max_lid + 1);
		if (!*row)
			return ftr_nomem(err, "the SLs of %u LIDs", p->max_lid);
		memset(*row, FTR_SL_NONE, (size_t)p->max_lid + 1);
	}
	(*row)[lid] = (uint8_t)sl;
	return FTR_OK;
}
