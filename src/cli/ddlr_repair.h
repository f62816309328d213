/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * ddlr_repair: tables after a local repair, for route and whatif, and the faults that
 * local repair is guaranteed to bypass.
 */
#ifndef FTR_CLI_DDLR_REPAIR_H
#define FTR_CLI_DDLR_REPAIR_H

#include <ftr/ftr.h>

#define CLI_OPT_VLS(s) \
	{ "vls", CLI_UINT, offsetof(s, vls), "N", \
	  "operational VLs; with 2 or more, ddlr uses two", "1", 1, 15 }

/* Copies the rows of t, tables of fa, for the switches of fb; matched by GUID. */
enum ftr_status cli_carry_tables(const struct ftr_fabric *fa,
				 const struct ftr_tables *t,
				 const struct ftr_fabric *fb,
				 struct ftr_tables **out,
				 struct ftr_err *err) FTR_MUST_USE;
/* The same for SL2VL tables. */
enum ftr_status cli_carry_vls(const struct ftr_fabric *fa,
			      const struct ftr_sl2vl *m,
			      const struct ftr_fabric *fb,
			      struct ftr_sl2vl **out,
			      struct ftr_err *err) FTR_MUST_USE;

/* The SL2VL tables with the turn bit; *out is NULL for a single VL. */
enum ftr_status cli_vls(const struct ftr_shape *sh, unsigned int vls,
			struct ftr_sl2vl **out,
			struct ftr_err *err) FTR_MUST_USE;

/*
 * Repairs t, the tables of sh's fabric, locally.  The faults are the switches and links that
 * are missing in the damaged fabric nf.  m comes from cli_vls.  *out: the repaired tables, for nf.
 * plan->write is freed; the counts in plan stay valid.  g: the guarantee that remains
 * after the repair; may be NULL.
 */
enum ftr_status cli_ddlr_repair(const struct ftr_shape *sh,
				const struct ftr_tables *t,
				const struct ftr_sl2vl *m,
				const struct ftr_fabric *nf,
				struct ftr_tables **out,
				struct ftr_ddlr_plan *plan,
				struct ftr_guarantee *g,
				struct ftr_err *err) FTR_MUST_USE;

void cli_guarantee_text(const struct ftr_fabric *f,
			const struct ftr_guarantee *g, unsigned int vls);
int cli_guarantee_json(const struct ftr_fabric *f,
		       const struct ftr_guarantee *g, unsigned int vls);

#endif
