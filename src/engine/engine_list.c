// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The list of engines, to which a new engine adds its table of operations, and figures that
 * all engines report.
 */
#include <string.h>

#include "engine/engine.h"

static const struct ftr_engine_ops *const engines[] = {
	&ftr_engine_dmodc,
	&ftr_engine_sftree,
	&ftr_engine_ddlr,
};

const struct ftr_engine_ops *ftr_engine_at(unsigned int i)
{
	return i < FTR_ARRAY_LEN(engines) ? engines[i] : NULL;
}

const struct ftr_engine_ops *ftr_engine_find(const char *name)
{
	for (size_t i = 0; i < FTR_ARRAY_LEN(engines); i++)
		if (!strcmp(engines[i]->name, name))
			return engines[i];
	return NULL;
}

void engine_clear_stats(struct ftr_route_stats *stats)
{
	*stats = (struct ftr_route_stats){
		.order = stats->order, .balance = stats->balance,
		.root = FTR_SW_NONE,
	};
}

uint64_t engine_count_none(const struct ftr_shape *sh, const struct ftr_tables *t)
{
	uint64_t none = 0;

	for (ftr_sw s = 0; s < sh->f->n_sw; s++) {
		const uint8_t *row = ftr_tables_row(t, s);

		for (uint32_t i = 0; i < sh->numbering.n_dest; i++)
			none += row[sh->numbering.dest[i].lid] == FTR_PORT_NONE;
	}
	return none;
}
