// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The two VLs of each class of SLs, for engine ddlr.
 *
 * The classes keep the VLs that the site has given them, so the site's tables of VL arbitration
 * and the SL2VL tables of hosts remain valid.  Only the second VLs are chosen here: they are VLs
 * that no class uses.
 *
 * All classes change their VL at the same turns and share no VL.  So the dependency graph has one
 * copy for each class, without dependencies between the copies, and a planner that examines the
 * class of SL 0 is right for all classes.
 */
#include "engine/engine.h"

/* The VL on which a port with n_vls VLs sends packets that its SL2VL table maps to vl. */
static unsigned int masked(unsigned int vl, unsigned int n_vls)
{
	return vl == FTR_VL_DROP || n_vls == 15 ? vl : vl & (n_vls - 1);
}

enum ftr_status ftr_vl_pairs_choose(const uint8_t vl[FTR_N_SL], uint16_t sls, unsigned int n_vls,
				    struct ftr_vl_pairs *out, struct ftr_err *err)
{
	uint8_t second[FTR_N_SL] = { 0 };
	unsigned int used = 0, next = 0;

	*out = (struct ftr_vl_pairs){ 0 };
	sls |= 1;
	for (unsigned int sl = 0; sl < FTR_N_SL; sl++) {
		out->straight[sl] = (uint8_t)masked(vl[sls >> sl & 1 ? sl : 0], n_vls);
		if (out->straight[sl] != FTR_VL_DROP)
			used |= 1u << out->straight[sl];
	}
	if (out->straight[0] == FTR_VL_DROP)
		return ftr_fail(err, FTR_INVAL, "SL 0 is mapped to VL 15, so its packets are dropped");
	for (unsigned int v = 0; v < FTR_VL_DROP; v++) {
		if (!(used >> v & 1))
			continue;
		out->n++;
		while (used >> next & 1)
			next++;
		second[v] = (uint8_t)next++;
	}
	if (next > n_vls)
		return ftr_fail(err, FTR_LIMIT, "%u VLs are needed, two for each VL to which SLs in use are mapped",
				2 * out->n);
	second[FTR_VL_DROP] = FTR_VL_DROP;
	for (unsigned int sl = 0; sl < FTR_N_SL; sl++)
		out->turn[sl] = second[out->straight[sl]];
	return FTR_OK;
}
