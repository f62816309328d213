/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Directed-route SMPs of the fast path: requests and answers.  The caller of src/plugin/reroute
 * provides the function that sends them (struct rr_ops.run).
 */
#ifndef RR_SMP_H
#define RR_SMP_H

#include "reroute/dr.h"

#define RR_SMP_DATA 64

/* IBA 14.2.5: attributes, in host order */
#define RR_ATTR_NODE_INFO 0x0011
#define RR_ATTR_PORT_INFO 0x0015
#define RR_ATTR_LFT 0x0019

/* PortInfo.PortState */
enum rr_port_state { RR_PORT_DOWN = 1, RR_PORT_INIT, RR_PORT_ARMED, RR_PORT_ACTIVE };

/* RR_SMP_OPEN: not answered yet, but an answer is still possible. */
enum rr_smp_state { RR_SMP_OPEN = 0, RR_SMP_DONE, RR_SMP_FAILED };

/* One request, which may be sent over up to two routes. */
struct rr_smp {
	/* set by the caller */
	uint16_t attr;
	uint32_t mod;
	uint64_t m_key;		/* in network byte order */
	struct rr_dr route[2];
	unsigned int n_routes;	/* number of routes; 0: the request fails immediately */
	const uint8_t *payload;	/* RR_SMP_DATA bytes of a Set; NULL: the request is a Get */
	bool skip;		/* do not send this request, and do not change its results */
	ftr_sw sw;		/* the switch, for the caller's use */
	/* results */
	enum rr_smp_state state;
	double at;		/* time of the answer, by the clock of rr_ops */
	bool twice;		/* the answer came so late that OpenSM's transport has sent the
				 * packet a second time, which may still be on its way */
	uint8_t answer[RR_SMP_DATA];
	unsigned int tries;	/* number of tries, also those for which no MAD could be
				 * allocated */
	double sent;		/* used by the transport only */
};

struct rr_smp_policy {
	unsigned int window;	/* maximum number of packets in flight, at least 1 */
	double timeout;		/* ms after which a packet counts as lost */
	unsigned int tries;	/* maximum number of packets per request; its routes are used in
				 * turn */
	/* ms after which an unanswered request is also sent over its next route; 0: it is sent
	 * again only when a packet is lost */
	double hedge;
	/* ms after which the run ends even if requests are unanswered; 0: no limit */
	double limit;
};

/* PortState of an answered Get of PortInfo: the low half of byte 32. */
static inline enum rr_port_state rr_smp_port_state(const struct rr_smp *j)
{
	return (enum rr_port_state)(j->answer[32] & 0xf);
}

#endif
