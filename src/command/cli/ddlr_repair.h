/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Local repair (ddlr) for the commands route and whatif.
 */
#ifndef FTR_CLI_DDLR_REPAIR_H
#define FTR_CLI_DDLR_REPAIR_H

#include <ftr/ftr.h>

#define CLI_OPT_VLS \
	OPT(UINT, "vls", vls, "N", "operational VLs; with 2 or more, ddlr uses two", "1", 1, 15)

/* Converts t, the tables of fa, to tables of fb: a copy of fa without some parts, or the other way
 * round, so that both have the same max_lid.  Switches are matched by GUID, LIDs by number.
 * An entry is kept even if its LID has another owner in fb, or none: a switch would keep it, too.
 * (ftr_tables_carry does not keep it.) */
struct ftr_tables *cli_carry_tables(const struct ftr_fabric *fa, const struct ftr_tables *t,
				    const struct ftr_fabric *fb);
/* Converts m, the SL2VL tables of fa, to tables of fb, a copy of fa without some parts. */
struct ftr_sl2vl *cli_carry_vls(const struct ftr_fabric *fa, const struct ftr_sl2vl *m,
				const struct ftr_fabric *fb);

/* Returns the SL2VL tables of ddlr.  A packet that changes its direction at a switch (from up to
 * down, or from down to up) leaves the switch on VL 1.  All other packets leave on VL 0.
 * Returns NULL if vls is 1. */
struct ftr_sl2vl *cli_vls(const struct ftr_shape *sh, unsigned int vls);

/*
 * Repairs t, the tables of sh's fabric, locally.  The faults are the switches and links that
 * are missing from the damaged fabric nf.  m comes from cli_vls.  Returns the repaired tables,
 * for nf.  plan->write is NULL; the counts in plan are valid.  *d gets the numbers of changed
 * entries, blocks and switches; d may be NULL.
 */
struct ftr_tables *cli_ddlr_repair(const struct ftr_shape *sh, const struct ftr_tables *t,
				   const struct ftr_sl2vl *m, const struct ftr_fabric *nf,
				   struct ftr_ddlr_plan *plan, struct ftr_tables_diff *d);
/* Returns the guarantee for faults after those of nf. */
struct ftr_guarantee cli_guarantee(const struct ftr_shape *sh, const struct ftr_tables *t,
				   const struct ftr_sl2vl *m, const struct ftr_fabric *nf);

void cli_guarantee_text(const struct ftr_fabric *f,
			const struct ftr_guarantee *g, unsigned int vls);
int cli_guarantee_json(const struct ftr_fabric *f, const struct ftr_guarantee *g, unsigned int vls);

#endif
