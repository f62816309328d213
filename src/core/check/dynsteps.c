// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The writes of whole tables, LID by LID, in the graph of <ftr/cdg.h>.  Blocks of 64 LIDs in which
 * no switch has a write are skipped.
 */
#include <stdlib.h>
#include <string.h>

#include "check/dyn.h"
#include <ftr/transition.h>

/* List the steps of the n switches in `writers` for one LID, in ascending order. */
static uint32_t list_writes(const struct ftr_tables *to, const uint8_t *step, uint32_t lid,
			    const ftr_sw *writers, uint32_t n, struct ftr_change *w)
{
	uint32_t n_writes = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint8_t at = step[(size_t)writers[i] * to->stride + lid];
		uint32_t k = n_writes;

		if (at == FTR_TRANSITION_NONE || at == FTR_TRANSITION_NEVER)
			continue;
		for (; k && w[k - 1].step > at; k--)
			w[k] = w[k - 1];
		w[k] = (struct ftr_change){
			.sw = writers[i], .step = at,
			.after = ftr_tables_get(to, writers[i], (ftr_lid)lid),
		};
		n_writes++;
	}
	return n_writes;
}

static bool has_write(const uint8_t *step)
{
	static const uint8_t none[FTR_LFT_BLOCK];

	return memcmp(step, none, FTR_LFT_BLOCK) != 0;
}

enum ftr_status ftr_cdg_steps(struct ftr_cdg *g, const struct ftr_tables *to, const uint8_t *step,
			      bool *closes, struct ftr_err *err)
{
	ftr_sw *writers = ftr_calloc(to->n_sw + 1u, sizeof(*writers));
	struct ftr_change *w = ftr_calloc(to->n_sw + 1u, sizeof(*w));
	enum ftr_status st = writers && w ? FTR_OK : ftr_nomem(err, "the writes of a LID");

	*closes = false;
	for (uint32_t lid = 0, n = 0; lid < to->stride; lid++) {
		uint32_t writes;

		if (st || *closes)
			break;
		if (lid % FTR_LFT_BLOCK == 0) {
			n = 0;
			for (ftr_sw s = 0; s < to->n_sw; s++)
				if (has_write(step + (size_t)s * to->stride + lid))
					writers[n++] = s;
		}
		writes = list_writes(to, step, lid, writers, n, w);
		if (writes)
			st = ftr_cdg_change(g, (ftr_lid)lid, w, writes, closes, err);
	}
	free(writers);
	free(w);
	return st;
}
