/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The plugin's clock: milliseconds, monotonic.
 */
#ifndef IBF_CLOCK_H
#define IBF_CLOCK_H

double ibf_now_ms(void);

#endif
