/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Scalar types, their limits, and their values for "none".
 *
 * All values are in host byte order.  Indices count from 0 without gaps.  An index is valid
 * within ONE fabric only; GUIDs identify objects across fabrics.
 */
#ifndef FTR_TYPES_H
#define FTR_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t ftr_sw;	/* index of a switch, 0..n_sw-1, in GUID order */
typedef uint32_t ftr_ep;	/* index of a host port, 0..n_ep-1, in port GUID order */
typedef uint16_t ftr_lid;	/* 1..FTR_LID_MAX; 0 = none */
typedef uint8_t ftr_port;	/* 0 (the switch itself), 1..254; 255 = none */

#define FTR_SW_NONE	UINT32_MAX
#define FTR_EP_NONE	UINT32_MAX
#define FTR_LID_MAX	0xBFFF	/* last unicast LID, IBA 1.3 section 4.1.3 */
#define FTR_PORT_NONE	((ftr_port)255)	/* "no path" in an LFT, IBA 14.2.5.10 */
#define FTR_PORT_MAX	254
#define FTR_LMC_MAX	7
#define FTR_NAME_MAX	64	/* node description, bytes without the NUL */

/* Number of LFT entries in a block; one SMP carries one block, IBA 14.2.5.10. */
#define FTR_LFT_BLOCK	64

#endif
