// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Cables that a routing leaves out although OpenSM has found them.
 *
 *	died	after the discovery began: it may have seen them alive, and
 *		the routing would undo the repair.  Forgotten once a discovery
 *		that began later is done.
 *	held	they flap (damp.h).
 *	back	both switches were routed before and the cable was dead then,
 *		and its ports are not Active yet: it carries no data before the
 *		end of the sweep, and the tables of a sweep are written in no
 *		order.  The worker takes them into use when the sweep is done.
 *
 * The last two are kept in a list of returns, which the worker looks at, at the
 * end of a sweep or when one is held no longer.  What it could not take into use
 * then is in the list of those tried: it is routed as OpenSM sees it, until it
 * dies once more.
 */
#include <string.h>

#include "osm/fast.h"

/* One name for a cable: its end with the smaller (GUID, port). */
static void name_link(struct ibf_link *l)
{
	struct ibf_link b = {
		.guid = l->peer_guid, .port = l->peer_port,
		.peer_guid = l->guid, .peer_port = l->port,
		.active = l->active,
	};

	if (b.guid < l->guid || (b.guid == l->guid && b.port < l->port))
		*l = b;
}

static struct ibf_link link_of(const struct ftr_fabric *f,
			       const struct ibf_cable *c)
{
	struct ibf_link l = {
		f->sw[c->sw].guid, f->sw[c->peer].guid, c->port, c->peer_port,
		true
	};

	name_link(&l);
	return l;
}

static bool same(const struct ibf_link *a, const struct ibf_link *b)
{
	return a->guid == b->guid && a->port == b->port;
}

/* ---- under the mutex ---------------------------------------------------- */

static struct ibf_dead *find_dead(struct ibf_fast *f, const struct ibf_link *l)
{
	for (uint32_t i = 0; i < f->n_dead; i++)
		if (same(&f->dead[i].link, l))
			return &f->dead[i];
	return NULL;
}

/* False: the list is full. */
static bool add_return(struct ibf_fast *f, const struct ibf_link *l)
{
	for (uint32_t i = 0; i < f->n_returns; i++)
		if (same(&f->returns[i], l))
			return true;
	if (f->n_returns == IBF_CABLES_MAX)
		return false;
	f->returns[f->n_returns++] = *l;
	return true;
}

/* Its place in the list of those tried, n_tried if it has none. */
static uint32_t find_tried(const struct ibf_fast *f, const struct ibf_link *l)
{
	uint32_t i = 0;

	while (i < f->n_tried && !same(&f->tried[i], l))
		i++;
	return i;
}

static void add_dead(struct ibf_fast *f, const struct ibf_link *l)
{
	struct ibf_dead *d = find_dead(f, l);
	uint32_t i = find_tried(f, l);

	if (i < f->n_tried)
		f->tried[i] = f->tried[--f->n_tried];
	if (!d && f->n_dead < IBF_CABLES_MAX)
		d = &f->dead[f->n_dead++];
	if (d)
		*d = (struct ibf_dead){ *l, ibf_now_ms() };
}

void ibf_forget_deaths(struct ibf_fast *f)
{
	for (uint32_t i = 0; i < f->n_dead;) {
		if (f->dead[i].at < f->sweep_began)
			f->dead[i] = f->dead[--f->n_dead];
		else
			i++;
	}
}

/* ---- the worker --------------------------------------------------------- */

void ibf_note_dead(struct ibf_fast *f, const struct ibf_cable *c)
{
	struct ibf_link l = link_of(f->view->gen->fabric, c);

	pthread_mutex_lock(&f->mutex);
	add_dead(f, &l);
	pthread_mutex_unlock(&f->mutex);
}

void ibf_note_tried(struct ibf_fast *f, const struct ibf_cable *c)
{
	struct ibf_link l = link_of(f->view->gen->fabric, c);

	pthread_mutex_lock(&f->mutex);
	if (find_tried(f, &l) == f->n_tried && f->n_tried < IBF_CABLES_MAX)
		f->tried[f->n_tried++] = l;
	pthread_mutex_unlock(&f->mutex);
}

bool ibf_return_again(struct ibf_fast *f, const struct ibf_cable *c)
{
	struct ibf_link l = link_of(f->view->gen->fabric, c);
	bool added;

	pthread_mutex_lock(&f->mutex);
	added = add_return(f, &l);
	pthread_mutex_unlock(&f->mutex);
	return added;
}

bool ibf_remember_cable(struct ibf_fast *f, const struct ibf_cable *c)
{
	struct ibf_link l = link_of(f->view->gen->fabric, c);
	double now = ibf_now_ms();
	struct ibf_dead *d;
	bool held = false;

	pthread_mutex_lock(&f->mutex);
	d = find_dead(f, &l);
	if (c->up && d)
		*d = f->dead[--f->n_dead];
	if (!c->up) {
		add_dead(f, &l);
		held = ibf_flap_died(&f->flap, l.guid, l.port, now);
		if (held)
			add_return(f, &l);
	}
	pthread_mutex_unlock(&f->mutex);
	return held;
}

bool ibf_is_held(struct ibf_fast *f, const struct ibf_cable *c)
{
	struct ibf_link l = link_of(f->view->gen->fabric, c);
	bool held;

	pthread_mutex_lock(&f->mutex);
	held = ibf_flap_held(&f->flap, l.guid, l.port, ibf_now_ms());
	if (held)
		add_return(f, &l);
	pthread_mutex_unlock(&f->mutex);
	return held;
}

uint32_t ibf_take_returns(struct ibf_fast *f, struct ibf_cable *out,
			  uint32_t max, bool *lost)
{
	const struct ftr_fabric *fab = f->view->gen->fabric;
	double now = ibf_now_ms();
	uint32_t n = 0, kept = 0;

	*lost = false;
	pthread_mutex_lock(&f->mutex);
	for (uint32_t i = 0; i < f->n_returns; i++) {
		struct ibf_link l = f->returns[i];
		struct ibf_cable c = {
			ftr_fabric_find_sw(fab, l.guid),
			ftr_fabric_find_sw(fab, l.peer_guid), l.port,
			l.peer_port, true
		};

		if (ibf_flap_held(&f->flap, l.guid, l.port, now))
			f->returns[kept++] = l;
		else if (n < max && c.sw != FTR_SW_NONE &&
			 c.peer != FTR_SW_NONE &&
			 ftr_live_cabled(f->view->live, c.sw, c.port))
			out[n++] = c;
		else
			*lost = true;
	}
	f->n_returns = kept;
	pthread_mutex_unlock(&f->mutex);
	return n;
}

/* ---- the routing -------------------------------------------------------- */

static bool came_back(const struct ibf_view *v, const struct ibf_link *l)
{
	const struct ftr_fabric *fab = v->gen->fabric;
	ftr_sw s = ftr_fabric_find_sw(fab, l->guid);

	return s != FTR_SW_NONE && l->port <= fab->sw[s].n_ports &&
		ftr_fabric_find_sw(fab, l->peer_guid) != FTR_SW_NONE &&
		ftr_live_cabled(v->live, s, l->port) &&
		!ftr_live_alive(v->live, s, l->port);
}

bool ibf_fast_left_out(struct ibf_fast *f, struct ibf_link l)
{
	const struct ibf_dead *d;
	bool out, held, back = false;

	if (!f)
		return false;
	name_link(&l);
	if (!l.active) {
		pthread_mutex_lock(&f->view_lock);
		back = f->view && came_back(f->view, &l);
		pthread_mutex_unlock(&f->view_lock);
	}
	pthread_mutex_lock(&f->mutex);
	d = find_dead(f, &l);
	held = ibf_flap_held(&f->flap, l.guid, l.port, ibf_now_ms());
	if (held)	/* if the list is full, the next sweep finds it */
		add_return(f, &l);
	else if (back)
		back = f->armed && find_tried(f, &l) == f->n_tried &&
			add_return(f, &l);
	out = f->armed && (held || back || (d && d->at >= f->sweep_began));
	if (out && !held && !back)	/* it may be back by now */
		ibf_damp_want(&f->sweep, ibf_now_ms());
	pthread_mutex_unlock(&f->mutex);
	return out;
}
