/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * local: tables after a local repair, as route and whatif show them, and what a
 * fabric guarantees.
 */
#ifndef FTR_CLI_DDLR_REPAIR_H
#define FTR_CLI_DDLR_REPAIR_H

#include <ftr/ftr.h>

#define CLI_OPT_VLS(s) \
	{ "vls", CLI_UINT, offsetof(s, vls), "N", \
	  "operational VLs; 2 or more: ddlr's turn bit", "1", 1, 15 }

/* The rows that t, tables of fa, has for the switches of fb, by GUID. */
enum ftr_status cli_carry_tables(const struct ftr_fabric *fa,
				 const struct ftr_tables *t,
				 const struct ftr_fabric *fb,
				 struct ftr_tables **out,
				 struct ftr_err *err) FTR_MUST_USE;
/* The same for lanes. */
enum ftr_status cli_carry_vls(const struct ftr_fabric *fa,
			      const struct ftr_sl2vl *m,
			      const struct ftr_fabric *fb,
			      struct ftr_sl2vl **out,
			      struct ftr_err *err) FTR_MUST_USE;

/* The turn bit, or NULL in *out for a single VL. */
enum ftr_status cli_vls(const struct ftr_shape *sh, unsigned int vls,
			struct ftr_sl2vl **out,
			struct ftr_err *err) FTR_MUST_USE;

/* Stage one on t, tables of sh's fabric, for what nf lacks; m as cli_vls
 * gave it.  *out: the tables then, for nf.  plan->write is gone, its counts
 * stay.  g may be NULL: what is guaranteed after that. */
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
