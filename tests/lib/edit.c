// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>

#include "lib/edit.h"

static void must(enum ftr_status st, const struct ftr_err *err)
{
	if (!st)
		return;
	fprintf(stderr, "edit: %s\n", err->msg);
	abort();
}

static bool is_cut(const struct ftr_fabric *f, const struct edit *e, ftr_sw s,
		   unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(f, s, (ftr_port)p);

	if (s == e->cut_sw && p == e->cut_port)
		return true;
	return port->peer_kind == FTR_PEER_SW && port->peer == e->cut_sw &&
	       port->peer_port == e->cut_port;
}

struct ftr_builder *edit_open(const struct ftr_fabric *f,
			      const struct edit *e)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_err err = { 0 };

	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (s != e->no_sw)
			must(ftr_builder_add_switch(b, &f->sw[s], &err), &err);
	for (ftr_ep i = 0; i < f->n_ep; i++) {
		struct ftr_endport p = f->ep[i];

		if (i == e->lmc_ep) {
			p.lid = 1000;
			p.lmc = 1;
		}
		if (i == e->name_ep)
			p.name = e->name;
		if (i != e->no_ep)
			must(ftr_builder_add_endport(b, &p, &err), &err);
	}
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);
			struct ftr_end x = { f->sw[s].guid, (ftr_port)p };
			struct ftr_end y = { 0, port->peer_port };
			bool sw = port->peer_kind == FTR_PEER_SW;

			if (port->peer_kind == FTR_PEER_NONE ||
			    s == e->no_sw || (sw && port->peer == e->no_sw) ||
			    (!sw && port->peer == e->no_ep) ||
			    is_cut(f, e, s, p))
				continue;
			y.node_guid = sw ? f->sw[port->peer].guid :
				f->ep[port->peer].node_guid;
			must(ftr_builder_add_link(b, x, y, 4, FTR_SPEED_HDR,
						  &err), &err);
		}
	}
	return b;
}

struct ftr_fabric *edit_seal(struct ftr_builder *b)
{
	struct ftr_fabric *f = NULL;
	struct ftr_err err = { 0 };

	must(ftr_builder_assign_lids(b, 0, &err), &err);
	must(ftr_builder_freeze(b, &f, &err), &err);
	return f;
}

void edit_plug(struct ftr_builder *b, uint64_t a, unsigned int pa, uint64_t z,
	       unsigned int pz)
{
	const struct ftr_end x = { a, (ftr_port)pa }, y = { z, (ftr_port)pz };
	struct ftr_err err = { 0 };

	must(ftr_builder_add_link(b, x, y, 4, FTR_SPEED_HDR, &err), &err);
}

struct ftr_fabric *edit_replace(const struct ftr_fabric *f,
				const uint64_t *guid, const ftr_lid *lid)
{
	struct ftr_builder *b = ftr_builder_new();
	struct ftr_err err = { 0 };

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		const struct ftr_switch *w = &f->sw[s];

		must(ftr_builder_add_switch(b, &(struct ftr_switch){
			.guid = guid[s] ? guid[s] : w->guid, .n_ports = w->n_ports,
			.lid = guid[s] ? lid[s] : w->lid, .lmc = w->lmc, .name = w->name,
		}, &err), &err);
	}
	for (ftr_ep e = 0; e < f->n_ep; e++)
		must(ftr_builder_add_endport(b, &f->ep[e], &err), &err);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int i = 1; i <= f->sw[s].n_ports; i++) {
			const struct ftr_swport *p =
				ftr_fabric_port(f, s, (ftr_port)i);
			bool sw = p->peer_kind == FTR_PEER_SW;

			if (p->peer_kind != FTR_PEER_NONE)
				edit_plug(b, guid[s] ? guid[s] : f->sw[s].guid,
					  i, !sw ? f->ep[p->peer].node_guid :
					  guid[p->peer] ? guid[p->peer] :
					  f->sw[p->peer].guid, p->peer_port);
		}
	return edit_seal(b);
}
