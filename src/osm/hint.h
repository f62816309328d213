/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Suggests an engine of this plugin for a misspelt name.  This file does not depend on
 * OpenSM.
 */
#ifndef IBF_HINT_H
#define IBF_HINT_H

#include <stddef.h>

/*
 * The engine of this plugin whose name resembles the word of len bytes.  The two may
 * differ in case and in at most two letters.  NULL: no name is similar, or the word is a
 * correct name (of an engine of this plugin or of OpenSM, or "no_fallback").
 */
const char *ibf_hint(const char *word, size_t len);

#endif
