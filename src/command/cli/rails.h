/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * rails: the rail of each adapter of hosts with several adapters.
 *
 * In a GPU cluster, adapter r of every node is on rail r, and the rails are cabled to different
 * leaf switches.  The rail of a port follows from its name: the devices of all hosts ("mlx5_0" in
 * "node12 mlx5_0") and their port numbers, in natural order, are numbered from 0.  So the rails of
 * a host do not change if one of its adapters is missing.  If several ports of a host have the same
 * device and port number (for example because their descriptions hold no device), they are
 * distinguished by their GUIDs.
 */
#ifndef FTR_CLI_RAILS_H
#define FTR_CLI_RAILS_H

#include <ftr/ftr.h>

struct cli_rails {
	struct ftr_hosts *h;
	uint32_t n;		/* number of rails: 1 if every host has one port */
	uint32_t *rail;		/* [h->n * n] port of host i on rail r: rail[i * n + r];
				 * FTR_EP_NONE: it has none */
};

struct cli_rails cli_rails_new(const struct ftr_fabric *f);
void cli_rails_free(struct cli_rails *r);

#endif
