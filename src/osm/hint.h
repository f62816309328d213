/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Suggests the engine of this plugin that a misspelt name probably means.  This file
 * does not depend on OpenSM.
 */
#ifndef IBF_HINT_H
#define IBF_HINT_H

#include <stddef.h>

/*
 * The engine whose name resembles the word of len bytes: apart from case, the two
 * differ in at most two letters that are added, missing or different.  NULL:
 * there is none, or the word is the name of an engine, of this plugin or of
 * OpenSM, or "no_fallback".
 */
const char *ibf_hint(const char *word, size_t len);

#endif
