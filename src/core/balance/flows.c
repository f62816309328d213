// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The all-to-all flows on every link (counted by src/core/check/flow_count.c).
 */
#include <stdlib.h>
#include <string.h>

#include "balance/balance.h"

struct flow_dest *balance_dests_new(const struct balance_net *net, const struct ftr_tables *t,
				    const struct balance_copy *copy)
{
	struct flow_dest *dest = ftr_calloc(net->n_dests + 1u, sizeof(*dest));

	for (uint32_t d = 0; dest && d < net->n_dests; d++) {
		struct balance_entries of = copy ? balance_copy_of(copy, d) :
			balance_entries_of(t, net->dest[d].lid);

		dest[d] = (struct flow_dest){ of.entry, of.stride, balance_switch(net, d) };
	}
	return dest;
}

enum ftr_status balance_count_flows(struct balance_loads *l, const struct ftr_tables *t,
				    const struct balance_copy *copy, struct ftr_team *team,
				    bool *loop, struct ftr_err *err)
{
	struct flow_dest *dest = balance_dests_new(l->net, t, copy);
	struct flow_all c = {
		.net = &l->net->links, .source = l->net->source, .n_sources = l->net->n_sources,
		.dest = dest, .n_dests = l->net->n_dests, .flows = l->flows,
	};
	enum ftr_status st = dest ? flow_count_all(&c, team, err) : ftr_nomem(err, "counting flows");

	free(dest);
	*loop = c.loop;
	return st;
}

enum ftr_status balance_loads_new(const struct balance_net *net, struct balance_loads *out,
				  struct ftr_err *err)
{
	*out = (struct balance_loads){ .net = net };
	out->flows = ftr_calloc(net->n_links + 1u, sizeof(*out->flows));
	return out->flows ? FTR_OK : ftr_nomem(err, "counting flows");
}

void balance_loads_free(struct balance_loads *l)
{
	free(l->flows);
	balance_bins_free(l);
}

uint32_t balance_most(const struct balance_loads *l)
{
	uint32_t most = 0;

	for (uint32_t x = 0; x < l->net->n_links; x++)
		if (l->net->links.peer[x] != FTR_SW_NONE)
			most = FTR_MAX(most, l->flows[x]);
	return most;
}
