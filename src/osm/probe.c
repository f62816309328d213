// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which cables of a switch died or came back: a trap names only the switch.
 *
 * PortInfo of every port of it that has, or nominally has, a cable to another
 * switch, over two directed routes that enter it by different ports: one of
 * them may lead over the very cable that died.  A cable is dead when the port
 * says so (IBA 14.2.5.6, PortState Down); it is back when the port is Active,
 * and so is the port at its other end: before that it carries no data.
 *
 * The first route avoids cables between two switches that have both sent a
 * trap: one of these it is, mostly.  The second avoids the switches of the
 * first where the fabric allows that.  One packet over each tells which of them
 * works, and the questions go that way; if neither does, one question goes first,
 * and the others follow when it is answered.
 *
 * A switch that dies says nothing; its neighbours do, one after the other.  So
 * the far end of a dead cable is asked for a sign of life, too.  If it gives
 * none it is silent: no route leads through it any more, and no write waits
 * for it.  And its other neighbours are asked about their cables to it, for
 * their traps may be on their way through it; so are those of a switch that has
 * sent a trap and then says nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "osm/fast.h"

/* Well above a round trip of a management packet, well below its timeout: so
 * long one of two routes is waited for, and then the other asked as well. */
#define HEDGE_MS 2
/* A switch that has just sent a trap answers; one that does not, after some
 * packets have timed out, is left to the sweep, so that it does not hold up the
 * others. */
#define LIMIT_TIMEOUTS 2.5
/* Neighbours of a silent switch have not told of anything. */
#define NEIGHBOUR_TIMEOUTS 0.05

/* ---- routes ------------------------------------------------------------- */

static void mark_route(const struct rr_dr_tree *t, ftr_sw s, uint8_t *avoid)
{
	while (t->parent[s] != FTR_SW_NONE && t->parent[s] != s) {
		s = t->parent[s];
		avoid[s] = s != t->from.sw;
	}
}

/* The second one around what is dead by these bits. */
static unsigned int routes_around(struct ibf_view *v, ftr_sw s,
				  const uint64_t *dead, struct rr_dr *out)
{
	const struct ftr_fabric *f = v->gen->fabric;
	struct rr_dr_limits limits = { .dead = dead, .avoid = v->avoid };

	bool first = rr_dr_route(v->tree[0], s, &out[0]);

	memset(v->avoid, 0, f->n_sw);
	if (first)
		mark_route(v->tree[0], s, v->avoid);
	rr_dr_search(v->tree[1], f, &v->origin, &limits);
	if (!rr_dr_route(v->tree[1], s, &out[first]))
		return first;
	return first && memcmp(&out[0], &out[1], sizeof(out[0])) ? 2 : 1;
}

unsigned int ibf_routes_to(struct ibf_view *v, ftr_sw s, struct rr_dr *out)
{
	return routes_around(v, s, ftr_live_dead(v->live), out);
}

static void mark_wary(struct ibf_view *v, const struct rr_link *c)
{
	const struct ftr_fabric *f = v->gen->fabric;

	rr_port_put(v->wary, f->sw[c->sw].first_port + c->port);
	rr_port_put(v->wary, f->sw[c->peer].first_port + c->peer_port);
}

/* v->tree[0] around what is dead and cables between the switches asked. */
static void search_wary(struct ibf_view *v, const struct rr_link *ask,
			uint32_t n)
{
	const struct ftr_fabric *f = v->gen->fabric;
	struct rr_dr_limits limits = { .dead = v->wary, .avoid = v->silent };

	memcpy(v->wary, ftr_live_dead(v->live),
	       (f->n_ports + 63) / 64 * sizeof(*v->wary));
	memset(v->avoid, 0, f->n_sw);
	for (uint32_t i = 0; i < n; i++)
		v->avoid[ask[i].sw] = 1;
	for (uint32_t i = 0; i < n; i++)
		if (v->avoid[ask[i].peer])
			mark_wary(v, &ask[i]);
	rr_dr_search(v->tree[0], f, &v->origin, &limits);
}

/* ---- jobs --------------------------------------------------------------- */

struct probe {
	struct ibf_view *v;
	struct ibf_smp_job *job;
	struct rr_link *cable;	/* parallel to job */
	uint32_t n, room;
};

static bool add(struct probe *p, const struct rr_link *c,
		const struct rr_dr *route, unsigned int n_routes)
{
	struct ibf_smp_job *j;

	if (p->n == p->room) {
		uint32_t room = p->room ? 2 * p->room : 64;
		void *job = realloc(p->job, room * sizeof(*p->job));
		void *cable = job ? realloc(p->cable,
					    room * sizeof(*p->cable)) : NULL;

		p->job = job ? job : p->job;
		if (!cable)
			return false;
		p->cable = cable;
		p->room = room;
	}
	j = &p->job[p->n];
	memset(j, 0, sizeof(*j));
	j->attr = IB_MAD_ATTR_PORT_INFO;
	j->mod = c->port;
	j->m_key = p->v->m_key[c->sw];
	j->n_routes = n_routes;
	memcpy(j->route, route, n_routes * sizeof(*route));
	p->cable[p->n++] = *c;
	return true;
}

uint32_t ibf_cables_of(const struct ibf_view *v, ftr_sw s,
		       struct rr_link *out)
{
	const struct ftr_shape *sh = v->gen->shape;
	const struct ftr_fabric *f = sh->f;
	uint32_t n = 0;

	for (unsigned int i = 1; i <= f->sw[s].n_ports; i++) {
		const struct ftr_swport *port =
			ftr_fabric_port(f, s, (ftr_port)i);

		if (port->peer_kind == FTR_PEER_SW)
			out[n++] = (struct rr_link){
				s, port->peer, (ftr_port)i, port->peer_port,
				false
			};
	}
	for (uint32_t i = 0; i < sh->n_absent && n < FTR_PORT_MAX; i++) {
		const struct ftr_cable *a = &sh->absent[i];

		if (a->sw == s)
			out[n++] = (struct rr_link){
				s, a->peer, a->port, a->peer_port, false
			};
		else if (a->peer == s)
			out[n++] = (struct rr_link){
				s, a->sw, a->peer_port, a->port, false
			};
	}
	return n;
}

/* ---- answers ------------------------------------------------------------ */

static unsigned int port_state(const struct ibf_smp_job *j)
{
	return ib_port_info_get_port_state((const ib_port_info_t *)j->answer);
}

static bool listed(const struct rr_link *out, uint32_t n,
		   const struct rr_link *c)
{
	for (uint32_t i = 0; i < n; i++)
		if ((out[i].sw == c->sw && out[i].port == c->port) ||
		    (out[i].sw == c->peer && out[i].port == c->peer_port))
			return true;
	return false;
}

/* Init carries no data: a link that died and came back within a moment is dead
 * until OpenSM has brought it up.  While it brings up the whole fabric, Init
 * says nothing yet. */
static bool is_dead(const struct ibf_view *v, unsigned int state)
{
	return state == IB_LINK_DOWN ||
		(v->brought_up && state == IB_LINK_INIT);
}

/* Cables of p whose port disagrees with the view, after the n that out has.  One
 * that is dead there, too, may have been alive for a moment, and OpenSM have seen
 * that. */
static uint32_t disagreeing(struct ibf_fast *f, struct probe *p,
			    struct rr_link *out, uint32_t n, bool *unknown)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct rr_link *c = &p->cable[i];
		bool alive = ftr_live_alive(p->v->live, c->sw, c->port);
		unsigned int state;

		if (p->job[i].state != IBF_SMP_DONE) {
			*unknown = true;
			continue;
		}
		state = port_state(&p->job[i]);
		c->up = !alive;
		if (state == IB_LINK_DOWN)
			ibf_note_dead(f, c);
		p->v->saw_init |= alive && state == IB_LINK_INIT;
		if (alive ? !is_dead(p->v, state) : state != IB_LINK_ACTIVE)
			continue;
		if (!listed(out, n, c))
			out[n++] = *c;
	}
	return n;
}

static void free_probe(struct probe *p)
{
	free(p->job);
	free(p->cable);
}

static void run(struct ibf_fast *f, struct probe *p)
{
	struct ibf_smp_policy policy = {
		.window = (unsigned int)f->p->opt.fast_window,
		.timeout = f->p->opt.fast_timeout_ms, .tries = 4,
		.hedge = HEDGE_MS,
		.limit = LIMIT_TIMEOUTS * f->p->opt.fast_timeout_ms,
	};

	ibf_smp_run(f->smp, p->job, p->n, &policy);
}

/* Of the cables that came back keep those whose other end is Active, too. */
static uint32_t confirm_up(struct ibf_fast *f, struct rr_link *c, uint32_t n,
			   bool *unknown)
{
	struct probe p = { .v = f->view };
	uint32_t kept = 0, at = 0;
	bool ok = true;

	for (uint32_t i = 0; ok && i < n; i++) {
		struct rr_link far = { c[i].peer, c[i].sw, c[i].peer_port,
					 c[i].port, true };
		struct rr_dr route[2];

		if (c[i].up)
			ok = add(&p, &far, route,
				 ibf_routes_to(p.v, far.sw, route));
	}
	if (ok && p.n)
		run(f, &p);
	for (uint32_t i = 0; i < n; i++) {
		const struct ibf_smp_job *j = &p.job[at];

		if (c[i].up) {
			at++;
			*unknown |= !ok || j->state != IBF_SMP_DONE;
			if (!ok || j->state != IBF_SMP_DONE ||
			    port_state(j) != IB_LINK_ACTIVE)
				continue;
		}
		c[kept++] = c[i];
	}
	free_probe(&p);
	return kept;
}

/* ---- which way ---------------------------------------------------------- */

/* Two routes to a switch of which one may be dead: the one that answers first
 * comes first. */
struct way {
	ftr_sw sw;
	unsigned int n;
	bool answered;
	struct rr_dr route[2];
};

static void put_first(struct way *w, const struct ibf_smp_job *job)
{
	bool second = job[1].state == IBF_SMP_DONE &&
		(job[0].state != IBF_SMP_DONE || job[1].at < job[0].at);
	struct rr_dr first = w->route[0];

	if (second) {
		w->route[0] = w->route[1];
		w->route[1] = first;
	}
}

static void try_ways(struct ibf_fast *f, struct way *way, uint32_t n)
{
	struct ibf_smp_policy policy = {
		.window = (unsigned int)f->p->opt.fast_window,
		.timeout = f->p->opt.fast_timeout_ms, .tries = 1,
		.limit = HEDGE_MS,
	};
	struct ibf_smp_job *job = ftr_calloc(2 * (size_t)n + 1, sizeof(*job));

	if (!job)
		return;
	for (uint32_t i = 0; i < 2 * n; i++) {
		struct way *w = &way[i / 2];

		job[i].attr = IB_MAD_ATTR_NODE_INFO;
		job[i].m_key = f->view->m_key[w->sw];
		job[i].n_routes = i % 2 < w->n;
		job[i].route[0] = w->route[i % 2];
	}
	ibf_smp_run(f->smp, job, 2 * n, &policy);
	for (uint32_t i = 0; i < n; i++) {
		way[i].answered = job[2 * i].state == IBF_SMP_DONE ||
			job[2 * i + 1].state == IBF_SMP_DONE;
		if (way[i].n > 1)
			put_first(&way[i], job + 2 * i);
	}
	free(job);
}

/* Cables of one switch stand together; room for n.  Returns how many. */
static uint32_t find_ways(struct ibf_view *v, const struct rr_link *ask,
			  uint32_t n, struct way *way)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (i && ask[i].sw == ask[i - 1].sw)
			continue;
		way[k].sw = ask[i].sw;
		way[k].n = ibf_routes_to(v, ask[i].sw, way[k].route);
		k++;
	}
	return k;
}

/* All questions; of a switch that has not answered yet only the first is to be
 * asked, and the others are skipped. */
static bool add_all(struct ibf_fast *f, struct probe *p,
		    const struct rr_link *ask, uint32_t n)
{
	struct way *way = ftr_calloc(n + 1u, sizeof(*way));
	uint32_t k = 0;
	bool ok = way != NULL;

	if (ok)
		try_ways(f, way, find_ways(p->v, ask, n, way));
	for (uint32_t i = 0; ok && i < n; i++) {
		bool first = !i || ask[i].sw != ask[i - 1].sw;

		k += i && first;
		ok = add(p, &ask[i], way[k].route, way[k].n);
		if (ok)
			p->job[i].skip = !first && !way[k].answered;
	}
	free(way);
	return ok;
}

/* A packet that is not answered is an error in OpenSM's log, or three: a switch
 * that may be dead is asked for one port before it is asked for all. */
static void run_all(struct ibf_fast *f, struct probe *p)
{
	bool answers = false, more = false;

	run(f, p);
	for (uint32_t i = 0; i < p->n; i++) {
		struct ibf_smp_job *j = &p->job[i];

		if (!i || p->cable[i].sw != p->cable[i - 1].sw)
			answers = j->state == IBF_SMP_DONE;
		/* what has been asked is left as it is */
		j->skip = !j->skip || !answers;
		more |= !j->skip;
	}
	if (more)
		run(f, p);
}

/* ---- signs of life ------------------------------------------------------ */

static bool has_answered(const struct probe *p, ftr_sw s)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->cable[i].sw == s && p->job[i].state == IBF_SMP_DONE)
			return true;
	return false;
}

/* The first of c[0 .. i] that died at the same far end as c[i]. */
static uint32_t first_of_peer(const struct rr_link *c, uint32_t i)
{
	uint32_t k = 0;

	while (c[k].up || c[k].peer != c[i].peer)
		k++;
	return k;
}

static void ask_far_ends(struct ibf_fast *f, const struct probe *p,
			 const struct rr_link *c, uint32_t n)
{
	struct ibf_view *v = f->view;
	struct ibf_smp_policy policy = {
		.window = (unsigned int)f->p->opt.fast_window,
		.timeout = f->p->opt.fast_timeout_ms, .tries = 2,
		.limit = 2 * HEDGE_MS,
	};
	struct ibf_smp_job *job = ftr_calloc(n + 1u, sizeof(*job));
	struct rr_dr_limits limits = { .dead = v->wary, .avoid = v->silent };

	for (uint32_t i = 0; i < n; i++)
		if (!c[i].up)
			mark_wary(v, &c[i]);
	rr_dr_search(v->tree[0], v->gen->fabric, &v->origin, &limits);
	for (uint32_t i = 0; job && i < n; i++) {
		job[i].attr = IB_MAD_ATTR_NODE_INFO;
		job[i].m_key = v->m_key[c[i].peer];
		if (!c[i].up && first_of_peer(c, i) == i &&
		    !has_answered(p, c[i].peer))
			job[i].n_routes = routes_around(v, c[i].peer, v->wary,
							job[i].route);
	}
	if (job)
		ibf_smp_run(f->smp, job, n, &policy);
	for (uint32_t i = 0; i < n; i++) {
		v->silent[c[i].sw] = 0;
		v->silent[c[i].peer] = !c[i].up &&
			!has_answered(p, c[i].peer) &&
			(!job || job[first_of_peer(c, i)].state !=
			 IBF_SMP_DONE);
	}
	free(job);
}

/* ---- neighbours of the silent ------------------------------------------- */

/* Those that gave no sign of life now, and those that gave none before.  False:
 * there are none of now. */
static bool mark_silent(const struct probe *p, const struct rr_link *c,
			uint32_t n, uint8_t *now, uint8_t *all)
{
	uint32_t n_sw = p->v->gen->fabric->n_sw;

	for (uint32_t i = 0; i < p->n; i++)
		now[p->cable[i].sw] = 1;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->job[i].state == IBF_SMP_DONE)
			now[p->cable[i].sw] = 0;
	for (uint32_t i = 0; i < n; i++)
		now[c[i].peer] |= p->v->silent[c[i].peer];
	for (ftr_sw s = 0; s < n_sw; s++)
		all[s] = now[s] | p->v->silent[s];
	return memchr(now, 1, n_sw) != NULL;
}

static bool is_known(const struct probe *p, const struct rr_link *found,
		     uint32_t n, const struct rr_link *c)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->cable[i].sw == c->sw && p->cable[i].port == c->port &&
		    p->job[i].state == IBF_SMP_DONE)
			return true;
	return listed(found, n, c);
}

/* The cables in use between s and those that may answer, from their end, but
 * those that are known. */
static bool add_neighbours(struct probe *q, ftr_sw s, const uint8_t *silent,
			   const struct probe *p,
			   const struct rr_link *found, uint32_t n_found)
{
	struct rr_link cable[FTR_PORT_MAX];
	uint32_t n = ibf_cables_of(q->v, s, cable);
	struct rr_dr route[2];
	bool ok = true;

	for (uint32_t i = 0; ok && i < n; i++) {
		const struct rr_link *c = &cable[i];
		struct rr_link far = { c->peer, s, c->peer_port, c->port,
					 false };

		if (ftr_live_alive(q->v->live, s, c->port) &&
		    !silent[far.sw] && !is_known(p, found, n_found, &far))
			ok = add(q, &far, route,
				 routes_around(q->v, far.sw, q->v->wary,
					       route));
	}
	return ok;
}

/* What to ask of them into q; false: out of memory. */
static bool list_neighbours(struct probe *q, const struct probe *p,
			    const struct rr_link *found, uint32_t n)
{
	struct ibf_view *v = q->v;
	uint32_t n_sw = v->gen->fabric->n_sw;
	uint8_t *now = ftr_calloc(2 * (size_t)n_sw, 1);
	uint8_t *all = now ? now + n_sw : NULL;
	struct rr_dr_limits limits = { .dead = v->wary, .avoid = all };
	bool ok = now != NULL;

	if (ok && mark_silent(p, found, n, now, all)) {
		rr_dr_search(v->tree[0], v->gen->fabric, &v->origin, &limits);
		for (ftr_sw s = 0; ok && s < n_sw; s++)
			if (now[s])
				ok = add_neighbours(q, s, all, p, found, n);
	}
	free(now);
	return ok;
}

/* What they say, after the n that *out has. */
static uint32_t ask_neighbours(struct ibf_fast *f, const struct probe *p,
			       struct rr_link **out, uint32_t n,
			       bool *unknown)
{
	struct ibf_smp_policy policy = {
		.window = (unsigned int)f->p->opt.fast_window,
		.timeout = f->p->opt.fast_timeout_ms, .tries = 2,
		.limit = NEIGHBOUR_TIMEOUTS * f->p->opt.fast_timeout_ms,
	};
	struct probe q = { .v = f->view };
	bool ok = list_neighbours(&q, p, *out, n);
	struct rr_link *grown = ok && q.n ?
		realloc(*out, (n + q.n) * sizeof(**out)) : NULL;

	if (grown) {
		*out = grown;
		ibf_smp_run(f->smp, q.job, q.n, &policy);
		n = disagreeing(f, &q, grown, n, unknown);
	}
	*unknown |= !ok || (q.n && !grown);
	free_probe(&q);
	return n;
}

uint32_t ibf_probe(struct ibf_fast *f, const struct rr_link *ask, uint32_t n,
		   struct rr_link **out, bool *unknown)
{
	struct probe p = { .v = f->view };
	uint32_t found = 0;

	f->view->saw_init = false;
	search_wary(f->view, ask, n);
	*unknown = !add_all(f, &p, ask, n);
	if (!*unknown) {
		run_all(f, &p);
		found = disagreeing(f, &p, *out, 0, unknown);
		ask_far_ends(f, &p, *out, found);
		found = ask_neighbours(f, &p, out, found, unknown);
		found = confirm_up(f, *out, found, unknown);
	}
	free_probe(&p);
	return found;
}
