// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The list of engines.  A new engine adds its table of operations here.
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
