/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Suggests an engine of this plugin for a misspelt name.  This file does not depend on
 * OpenSM.
 */
#ifndef IBF_HINT_H
#define IBF_HINT_H

#include <stddef.h>

/*
 * Returns the engine of this plugin whose name differs from the word (of len bytes) in at
 * most two letters; case is ignored.  NULL: there is no such engine, or the word is a
 * correct name: of an engine of this plugin or of OpenSM, or "no_fallback".
 */
const char *ibf_hint(const char *word, size_t len);

#endif
