/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Which engine of this plugin was meant.  Knows nothing of OpenSM.
 */
#ifndef IBF_HINT_H
#define IBF_HINT_H

#include <stddef.h>

/*
 * The engine whose name the word of len bytes resembles: it differs in case, or
 * in at most two letters, added, left out or other ones.  NULL: none, or it is
 * such a name, or that of an engine of OpenSM's own.
 */
const char *ibf_hint(const char *word, size_t len);

#endif
