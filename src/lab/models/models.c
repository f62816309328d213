// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The list of routing functions, by index and by name.
 */
#include <string.h>

#include "models/models.h"

static const struct ftr_sim_function *const functions[] = {
	&ftr_sim_lft, &model_det_links, &model_det_switches, &model_adaptive_links,
	&model_adaptive_switches, &model_misroute, &model_immunet,
};

const struct ftr_sim_function *ftr_sim_function_at(unsigned int i)
{
	return i < FTR_ARRAY_LEN(functions) ? functions[i] : NULL;
}

const struct ftr_sim_function *ftr_sim_function_find(const char *name)
{
	for (unsigned int i = 0; i < FTR_ARRAY_LEN(functions); i++)
		if (!strcmp(functions[i]->name, name))
			return functions[i];
	return NULL;
}
