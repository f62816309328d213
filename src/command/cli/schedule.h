/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* schedule: random faults and repairs as commands for the console of ibsim. */
#ifndef FTR_CLI_SCHEDULE_H
#define FTR_CLI_SCHEDULE_H

#include <stdio.h>

#include <ftr/ftr.h>

struct cli_schedule {
	const struct ftr_fabric *f;
	uint64_t seed;
	unsigned int n;		/* number of commands */
};

/* A cli_write_fn; ctx points to a struct cli_schedule.  Returns FTR_INVAL if no link connects two
 * switches of f. */
enum ftr_status cli_write_schedule_fn(FILE *out, const void *ctx,
				      struct ftr_err *err);

/* Returns the next number of a random sequence: splitmix64 (Steele, Lea and Flood 2014, figure 17).
 * *state is the seed at first. */
uint64_t cli_draw(uint64_t *state);

#endif
