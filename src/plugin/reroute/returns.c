// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Links that a routing leaves out although OpenSM has found them (links.h):
 *
 * - Links that died after the discovery began.  OpenSM may have seen such a link alive, and its
 *   routing would undo the repair.
 *
 * - Damped links: they fail repeatedly.
 *
 * - Returning links: the link is dead in the worker's view (its copy of shape and tables), which
 *   contains both switches of the link; and the ports of the link are not Armed or Active yet.
 *   The link carries no data before the end of the sweep.  But the sweep writes tables earlier,
 *   in no particular order.  So the worker takes the link into use when the sweep is done.
 */
#include <stdlib.h>

#include "reroute/reroute.h"

static struct rr_ends ends_of(const struct ftr_fabric *f, const struct rr_link *c)
{
	return (struct rr_ends){
		f->sw[c->sw].guid, f->sw[c->peer].guid, c->port, c->peer_port
	};
}

/* ---- the worker --------------------------------------------------------- */

bool rr_note(struct rr *f, enum rr_note what, const struct rr_link *c)
{
	struct rr_ends e = ends_of(f->view->gen.fabric, c);
	struct rr_links *t = &f->state.links;
	bool yes = false;

	pthread_mutex_lock(&f->mutex);
	if (what == RR_NOTE_DOWN)
		rr_links_seen_down(t, e, rr_now(f));
	else if (what == RR_NOTE_LEFT)
		rr_links_leave(t, e);
	else if (what == RR_NOTE_RETURN)
		rr_links_return(t, e);
	else if (c->up)
		rr_links_used(t, e);
	else
		yes = rr_links_died(t, e, rr_now(f));
	pthread_mutex_unlock(&f->mutex);
	return yes;
}

bool rr_is_damped(struct rr *f, const struct rr_link *c)
{
	struct rr_ends e = ends_of(f->view->gen.fabric, c);
	bool damped;

	pthread_mutex_lock(&f->mutex);
	damped = rr_links_damped(&f->state.links, e, rr_now(f));
	pthread_mutex_unlock(&f->mutex);
	return damped;
}

uint32_t rr_take_returns(struct rr *f, struct rr_link *out, uint32_t max, bool *lost)
{
	const struct ftr_fabric *fab = f->view->gen.fabric;
	struct rr_ends *e = ftr_calloc(max, sizeof(*e));
	uint32_t n = 0, n_ends = 0;

	*lost = !e;
	if (e) {
		pthread_mutex_lock(&f->mutex);
		n_ends = rr_links_take_returning(&f->state.links, e, max, lost);
		pthread_mutex_unlock(&f->mutex);
	}
	for (uint32_t i = 0; i < n_ends; i++) {
		struct rr_link c = {
			ftr_fabric_find_sw(fab, e[i].guid),
			ftr_fabric_find_sw(fab, e[i].peer_guid), e[i].port,
			e[i].peer_port, true
		};

		if (c.sw != FTR_SW_NONE && c.peer != FTR_SW_NONE &&
		    ftr_incr_connected(f->view->incr, c.sw, c.port))
			out[n++] = c;
		else
			*lost = true;
	}
	free(e);
	return n;
}

/* ---- the routing -------------------------------------------------------- */

static bool came_back(const struct rr_view *v, const struct rr_ends *e)
{
	const struct ftr_fabric *fab = v->gen.fabric;
	ftr_sw s = ftr_fabric_find_sw(fab, e->guid);

	return s != FTR_SW_NONE && e->port <= fab->sw[s].n_ports &&
		ftr_fabric_find_sw(fab, e->peer_guid) != FTR_SW_NONE &&
		ftr_incr_connected(v->incr, s, e->port) &&
		!ftr_incr_alive(v->incr, s, e->port);
}

bool rr_left_out(struct rr *f, const struct rr_ends *e, bool active)
{
	bool out = false, returns = false, recheck = false;
	double now;

	if (!active) {
		pthread_mutex_lock(&f->view_lock);
		returns = f->view && came_back(f->view, e);
		pthread_mutex_unlock(&f->view_lock);
	}
	pthread_mutex_lock(&f->mutex);
	now = rr_now(f);
	if (f->state.tables != RR_FOREIGN)
		out = rr_links_left_out(&f->state.links, *e, returns,
					f->state.began, now, &recheck);
	if (recheck)
		rr_damp_want(&f->state.want, now);
	pthread_mutex_unlock(&f->mutex);
	return out;
}
