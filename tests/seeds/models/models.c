// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The list of routing functions, and a function by its name.
 */
#include <string.h>

#include "models/models.h"

const struct ftr_sim_function *const model_functions[] = {
	&ftr_sim_lft, &model_det_links, &model_det_switches, &model_adaptive_links,
	&model_adaptive_switches, &model_misroute, &model_immunet, NULL,
};

const struct ftr_sim_function *model_find(const char *name)
{
	for (unsigned int i = 0; model_functions[i]; i++)
		if (!strcmp(model_functions[i]->name, name))
			return model_functions[i];
	return NULL;
}
