// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * mcjoin MGID-TAIL: the port of this process (SIM_HOST under ibsim) joins the group
 * ff12:401b:ffff::TAIL as a full member.  If the group does not exist, mcjoin creates it,
 * as IPoIB does.  Prints the MLID.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>

/* Component mask of MCMemberRecord (IBA 15.2.5.17): the components that a creator must set. */
#define MASK_MGID	(1u << 0)
#define MASK_PORT_GID	(1u << 1)
#define MASK_QKEY	(1u << 2)
#define MASK_TCLASS	(1u << 6)
#define MASK_PKEY	(1u << 7)
#define MASK_SL		(1u << 12)
#define MASK_FLOW	(1u << 13)
#define MASK_JOIN	(1u << 16)
#define MASK_ALL	(MASK_MGID | MASK_PORT_GID | MASK_QKEY | MASK_TCLASS | \
			 MASK_PKEY | MASK_SL | MASK_FLOW | MASK_JOIN)

static int fail(const char *what)
{
	fprintf(stderr, "mcjoin: %s\n", what);
	return 1;
}

static void fill(uint8_t *rec, const ibmad_gid_t port_gid, uint32_t tail)
{
	ibmad_gid_t mgid = { 0xff, 0x12, 0x40, 0x1b, 0xff, 0xff };
	ibmad_gid_t own;

	for (int i = 0; i < 4; i++)
		mgid[12 + i] = (uint8_t)(tail >> (24 - 8 * i));
	memcpy(own, port_gid, sizeof(own));
	mad_set_array(rec, 0, IB_SA_MCM_MGID_F, mgid);
	mad_set_array(rec, 0, IB_SA_MCM_PORTGID_F, own);
	mad_set_field(rec, 0, IB_SA_MCM_QKEY_F, 0xb1b);
	mad_set_field(rec, 0, IB_SA_MCM_PKEY_F, 0xffff);
	mad_set_field(rec, 0, IB_SA_MCM_JOIN_STATE_F, 1);
}

int main(int argc, char **argv)
{
	int classes[] = { IB_SMI_CLASS, IB_SMI_DIRECT_CLASS, IB_SA_CLASS };
	uint8_t answer[IB_SA_DATA_SIZE * 4] = { 0 };
	uint8_t rec[IB_SA_DATA_SIZE] = { 0 };
	struct ibmad_port *port;
	ib_portid_t self, sm;
	ib_sa_call_t sa = { 0 };
	ibmad_gid_t gid = { 0 };
	uint8_t *got;
	uint32_t mlid;

	if (argc != 2)
		return fail("usage: mcjoin MGID-TAIL");
	port = mad_rpc_open_port(NULL, 0, classes, 3);
	if (!port)
		return fail("cannot open the local port");
	if (ib_resolve_self_via(&self, NULL, &gid, port) < 0 ||
	    ib_resolve_smlid_via(&sm, 0, port) < 0)
		return fail("cannot find the subnet manager");
	sm.qp = 1;
	sm.qkey = IB_DEFAULT_QP1_QKEY;
	fill(rec, gid, (uint32_t)strtoul(argv[1], NULL, 16));
	sa.method = IB_MAD_METHOD_SET;
	sa.attrid = IB_SA_ATTR_MCRECORD;
	sa.mask = MASK_ALL;
	sa.recsz = IB_SA_MCM_RECSZ;
	memcpy(answer, rec, sizeof(rec));
	got = sa_rpc_call(port, answer, &sm, &sa, 2000);
	if (!got)
		return fail("the subnet administrator refuses, or does not answer");
	mlid = mad_get_field(got, 0, IB_SA_MCM_MLID_F);
	printf("0x%04x\n", mlid);
	mad_rpc_close_port(port);
	return 0;
}
