// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The table of messages.  log.c writes them to OpenSM's log.
 */
#include "osm/msg.h"

#define ROW(name, number, severity, text) \
	[IBF_##name] = { number, IBF_##severity, text },

const struct ibf_msg_info ibf_msg_table[IBF_N_MSG] = { IBF_MESSAGES(ROW) };
