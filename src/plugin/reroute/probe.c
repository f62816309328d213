// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A trap names a switch, but not the link that has changed.  These functions find out which
 * links of that switch died or work again.
 *
 * PortInfo is read from every port of the switch that has a link to another switch, or had one
 * earlier (nominal fabric).  A request can take two directed routes that enter the switch by
 * different ports, because one route may lead over the link that died.  A link is dead if
 * its port reports Down (IBA 14.2.5.6, PortState), or if its port reports Init although
 * OpenSM has set all links Active.  A link is back if the ports at both ends are Active:
 * before that it carries no data.
 *
 * Every unanswered packet causes up to three errors in OpenSM's log.  So requests are sent
 * over routes that probably work:
 *
 * - The trap followed the forwarding tables from its sender to the subnet manager.  The
 *   requests take the reverse of that path.  But the sender may have been cut off right after
 *   its trap.  So first the next switch on the trap's path is asked whether its link to the
 *   sender is still alive.  If that link is dead, the sender is treated like the far end of
 *   any dead link, see below.
 *
 * - If the switch has sent no trap, or does not answer, two other routes are tried, with one
 *   packet each.  The first route avoids links between two switches that have both sent a
 *   trap.  The second route, if there is one, avoids the switches of the first route, but may
 *   use such links.  If neither packet is answered, only one of the requests to the switch is
 *   sent; the others follow when it is answered.
 *
 * A dead switch sends no trap, but its neighbours do, one after the other.  So for each
 * switch X at the far end of a dead link, another neighbour of X is asked about its own link
 * to X, over a route that does not pass through X.
 *
 * - If that link is dead as well, or no neighbour answers, X is called silent.  Then all
 *   neighbours of X are asked, because their traps may have been lost in X.  If a switch has
 *   sent a trap and then does not answer, its neighbours are asked for the same reason.
 *
 * - If that link is alive, X itself is asked.  If it does not answer, it is silent, too.
 *
 * From then on, requests avoid silent switches.  A write goes through a silent switch only if
 * there is no other route, and its answer is awaited only briefly (write.c).
 */
#include <stdlib.h>
#include <string.h>

#include "reroute/reroute.h"

/* If a request is not answered within this time, in ms, it is also sent over its second route.
 * The value is well above the round trip of a management packet, and well below its timeout. */
#define HEDGE_MS 2
/* The values below are multiples of the timeout of a packet.  If a switch that has sent a trap does
 * not answer within LIMIT_TIMEOUTS, the repair goes on without it; a sweep follows later. */
#define LIMIT_TIMEOUTS 2.5
/* The same limit for the neighbours of a silent switch, which have sent no trap. */
#define NEIGHBOUR_TIMEOUTS 0.05
/* Used instead of HEDGE_MS if every switch has answered over its first route. */
#define PATIENCE_TIMEOUTS 0.25

/* ---- requests ----------------------------------------------------------- */

struct probe {
	struct rr_view *v;
	struct rr_smp *job;
	struct rr_link *link;	/* link[i]: the link about which job[i] asks */
	uint32_t n, cap_job, cap_link;
	bool all_answered;	/* set by add_all(): every switch has answered */
};

/* Send n requests and wait for the answers: at most `tries` packets per request, and at most
 * `limit` ms for all.  hedge: as in struct rr_smp_policy. */
static void send_jobs(struct rr *f, struct rr_smp *job, uint32_t n,
		      unsigned int tries, double hedge, double limit)
{
	struct rr_smp_policy policy = {
		.window = f->window, .timeout = f->timeout, .tries = tries,
		.hedge = hedge, .limit = limit,
	};

	f->ops->run(f->ctx, job, n, &policy);
}

static struct rr_link reversed(const struct rr_link *c)
{
	return (struct rr_link){ c->peer, c->sw, c->peer_port, c->port, c->up };
}

static bool add(struct probe *p, const struct rr_link *c,
		const struct rr_dr *route, unsigned int n_routes)
{
	struct rr_smp *j;

	if (!FTR_GROW(p->job, p->n, p->cap_job) ||
	    !FTR_GROW(p->link, p->n, p->cap_link))
		return false;
	j = &p->job[p->n];
	*j = (struct rr_smp){
		.attr = RR_ATTR_PORT_INFO, .mod = c->port,
		.m_key = p->v->m_key[c->sw], .n_routes = n_routes,
	};
	memcpy(j->route, route, n_routes * sizeof(*route));
	p->link[p->n++] = *c;
	return true;
}

uint32_t rr_links_of(const struct rr_view *v, ftr_sw s, struct rr_link *out)
{
	uint32_t n = 0;

	for (unsigned int i = 1; i <= v->fabric.sw[s].n_ports; i++) {
		const struct ftr_swport *port = ftr_fabric_port(&v->fabric, s, (ftr_port)i);

		if (port->peer_kind == FTR_PEER_SW)
			out[n++] = (struct rr_link){
				s, port->peer, (ftr_port)i, port->peer_port, false
			};
	}
	return n;
}

/* ---- answers ------------------------------------------------------------ */

static bool listed(const struct rr_link *out, uint32_t n, const struct rr_link *c)
{
	for (uint32_t i = 0; i < n; i++)
		if ((out[i].sw == c->sw && out[i].port == c->port) ||
		    (out[i].sw == c->peer && out[i].port == c->peer_port))
			return true;
	return false;
}

/* A port in Init carries no data.  So a link that went down and came up again at once counts as
 * dead until OpenSM has set it Active.  But while OpenSM sets up the whole fabric, Init does not
 * show that the link was down. */
static bool is_dead(const struct rr_view *v, unsigned int state)
{
	return state == RR_PORT_DOWN ||
		(v->brought_up && state == RR_PORT_INIT);
}

/* Append to out[] the links of p whose port state differs from the view.  n: the number of links in
 * out[] so far; returns the new number.  Every port that is Down is noted in the table of links,
 * even if its link is dead in the view: the link may have been up for a moment, and OpenSM may have
 * seen it up. */
static uint32_t add_changed(struct rr *f, struct probe *p,
			    struct rr_link *out, uint32_t n, bool *unknown)
{
	for (uint32_t i = 0; i < p->n; i++) {
		struct rr_link *c = &p->link[i];
		bool alive = ftr_incr_alive(p->v->incr, c->sw, c->port);
		unsigned int state;

		if (p->job[i].state != RR_SMP_DONE) {
			*unknown = true;
			p->v->cut_off |= i && c->sw == c[-1].sw && p->job[i - 1].state == RR_SMP_DONE;
			continue;
		}
		state = rr_smp_port_state(&p->job[i]);
		c->up = !alive;
		if (state == RR_PORT_DOWN)
			rr_note(f, RR_NOTE_DOWN, c);
		p->v->saw_init |= alive && state == RR_PORT_INIT;
		if (alive ? !is_dead(p->v, state) : state != RR_PORT_ACTIVE)
			continue;
		if (!listed(out, n, c))
			out[n++] = *c;
	}
	return n;
}

/* True if the switch has answered that the port is not Down. */
static bool reports_link(const struct rr_smp *j)
{
	return j->state == RR_SMP_DONE && rr_smp_port_state(j) != RR_PORT_DOWN;
}

static void free_probe(struct probe *p)
{
	free(p->job);
	free(p->link);
}

static double patience(const struct rr *f)
{
	return FTR_MAX(HEDGE_MS, PATIENCE_TIMEOUTS * f->timeout);
}

static void ask_ports(struct rr *f, struct probe *p, double hedge)
{
	send_jobs(f, p->job, p->n, 4, hedge, LIMIT_TIMEOUTS * f->timeout);
}

/* Add to p a request to the far end of each link in c[] that is back.  Returns false if out of
 * memory. */
static bool add_far_ends(struct probe *p, const struct rr_link *c, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct rr_link far = reversed(&c[i]);
		struct rr_dr route[2];

		if (c[i].up && !add(p, &far, route, rr_routes_to(p->v, far.sw, route)))
			return false;
	}
	return true;
}

/* Ask the far ends of those links in c[] that are back.  Remove from c[] the links whose far end
 * does not report Active.  Returns the number of links left. */
static uint32_t confirm_up(struct rr *f, struct rr_link *c, uint32_t n, bool *unknown)
{
	struct probe p = { .v = f->view };
	uint32_t kept = 0, at = 0;
	bool ok = add_far_ends(&p, c, n);

	ask_ports(f, &p, HEDGE_MS);
	for (uint32_t i = 0; i < n; i++) {
		if (c[i].up) {
			bool answered = ok && p.job[at++].state == RR_SMP_DONE;

			*unknown |= !answered;
			if (!answered || rr_smp_port_state(&p.job[at - 1]) != RR_PORT_ACTIVE)
				continue;
		}
		c[kept++] = c[i];
	}
	free_probe(&p);
	return kept;
}

/* ---- routes to a switch ------------------------------------------------- */

/* A switch to be asked. */
struct target {
	ftr_sw sw;
	unsigned int n;		/* number of routes */
	struct rr_dr route[2];	/* try_routes moves the route of the first answer to route[0] */
	bool trap;		/* route[0] is the reverse of the path of the switch's trap */
	bool answered;
	bool dead;		/* the link `hop` is dead */
	struct rr_link hop;	/* the link over which the trap left the switch */
};

static void put_first(struct target *t, const struct rr_smp *job)
{
	bool second = job[1].state == RR_SMP_DONE &&
		(job[0].state != RR_SMP_DONE || job[1].at < job[0].at);
	struct rr_dr first = t->route[0];

	if (second) {
		t->route[0] = t->route[1];
		t->route[1] = first;
	}
}

static void try_routes(struct rr *f, struct target *target, uint32_t n)
{
	struct rr_smp *job = ftr_calloc(2 * (size_t)n + 1, sizeof(*job));

	if (!job)
		return;
	for (uint32_t i = 0; i < 2 * n; i++) {
		struct target *t = &target[i / 2];

		job[i].attr = RR_ATTR_NODE_INFO;
		job[i].m_key = f->view->m_key[t->sw];
		job[i].n_routes = i % 2 < t->n && !t->answered && !t->dead;
		job[i].route[0] = t->route[i % 2];
	}
	send_jobs(f, job, 2 * n, 1, 0, HEDGE_MS);
	for (uint32_t i = 0; i < n; i++) {
		if (target[i].answered)
			continue;
		target[i].answered = job[2 * i].state == RR_SMP_DONE ||
			job[2 * i + 1].state == RR_SMP_DONE;
		if (target[i].n > 1)
			put_first(&target[i], job + 2 * i);
	}
	free(job);
}

/* For each trap, find out whether the link over which the sender sent it is still alive.  Requests
 * and answers are stored in q.  Returns false if out of memory. */
static bool ask_next_hops(struct rr *f, struct target *target, uint32_t n, struct probe *q)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct rr_dr to_hop = target[i].route[0];

		if (!target[i].trap || target[i].hop.sw == FTR_SW_NONE)
			continue;
		to_hop.path[to_hop.hops--] = 0;
		if (!add(q, &target[i].hop, &to_hop, 1))
			return false;
	}
	send_jobs(f, q->job, q->n, 2, 0, patience(f));
	for (uint32_t i = 0; i < n; i++) {
		struct target *t = &target[i];

		if (!t->trap)
			continue;
		if (t->hop.sw == FTR_SW_NONE) {	/* the manager is attached to the sender */
			t->answered = true;
			continue;
		}
		t->answered = reports_link(&q->job[at]);
		t->dead = q->job[at].state == RR_SMP_DONE && !t->answered;
		at++;
	}
	return true;
}

/* Store in target[] each switch that has links in ask[], with routes to the switch.  The links in
 * ask[] are grouped by switch.  target[] has room for n.  Returns the number of switches. */
static uint32_t find_targets(struct rr_view *v, const struct rr_link *ask,
			     uint32_t n, bool traps, struct target *target)
{
	struct rr_dr by_trap;
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct target *t = &target[k];

		if (i && ask[i].sw == ask[i - 1].sw)
			continue;
		k++;
		t->sw = ask[i].sw;
		t->n = rr_routes_to(v, t->sw, t->route);
		t->trap = traps && rr_trap_route(v, t->sw, &by_trap, &t->hop);
		if (!t->trap || (t->n && !memcmp(&t->route[0], &by_trap, sizeof(by_trap))))
			continue;
		t->route[1] = t->route[0];
		t->route[0] = by_trap;
		t->n = t->n ? 2 : 1;
	}
	return k;
}

/* Add all requests to p.  If a switch has not answered yet, all requests to it except the first are
 * marked to be skipped.  If the link over which a switch sent its trap is dead, the requests to
 * this switch get no route. */
static bool add_all(struct rr *f, struct probe *p, struct probe *hops,
		    const struct rr_link *ask, uint32_t n, bool traps)
{
	struct target *target = ftr_calloc(n + 1u, sizeof(*target));
	uint32_t k = 0, n_targets;
	bool ok;

	if (!target)
		return false;
	n_targets = find_targets(p->v, ask, n, traps, target);
	ok = ask_next_hops(f, target, n_targets, hops);
	try_routes(f, target, n_targets);
	p->all_answered = true;
	for (uint32_t i = 0; i < n; i++) {
		bool first = !i || ask[i].sw != ask[i - 1].sw;

		k += i && first;
		ok = ok && add(p, &ask[i], target[k].route, target[k].dead ? 0 : target[k].n);
		if (!ok)
			break;
		p->job[i].skip = !first && !target[k].answered;
		p->all_answered &= target[k].answered;
	}
	free(target);
	return ok;
}

/* Run the requests that are not marked to be skipped.  Then run the skipped ones, and those that were
 * not sent because unanswered ones used up the time; but if the first request to a switch was sent and
 * not answered, the other requests to this switch are left out.  Those without a route fail again at
 * once.  If the first was not sent, it is sent now, and the skipped ones are left out, too. */
static void run_all(struct rr *f, struct probe *p)
{
	double hedge = p->all_answered ? patience(f) : HEDGE_MS;
	const struct rr_smp *first = NULL;
	bool more = false;

	ask_ports(f, p, hedge);
	for (uint32_t i = 0; i < p->n; i++) {
		struct rr_smp *j = &p->job[i];

		first = i && p->link[i].sw == p->link[i - 1].sw ? first : j;
		j->skip = j->tries || (first->state != RR_SMP_DONE && (first->tries || j->skip));
		more |= !j->skip;
	}
	if (more)
		ask_ports(f, p, hedge);
}

/* ---- far ends of dead links ---------------------------------------------- */

static bool has_answered(const struct probe *p, ftr_sw s)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->link[i].sw == s && p->job[i].state == RR_SMP_DONE)
			return true;
	return false;
}

/* True if the switch at the far end of c[i] has not answered, and c[i] is the first dead link
 * in c[] that leads to it. */
static bool is_first_unanswered(const struct probe *p, const struct rr_link *c, uint32_t i)
{
	uint32_t k = 0;

	if (c[i].up || has_answered(p, c[i].peer))
		return false;
	while (c[k].up || c[k].peer != c[i].peer)
		k++;
	return k == i;
}

/* Find a link of s that is alive in the view, is not in c[], and does not lead to a silent switch.
 * *out: the link, named from its far end.  Returns false if there is no such link. */
static bool find_other_link(const struct rr_view *v, ftr_sw s, const struct rr_link *c, uint32_t n,
		       struct rr_link *out)
{
	struct rr_link link[FTR_PORT_MAX];
	uint32_t n_links = rr_links_of(v, s, link);

	for (uint32_t i = 0; i < n_links; i++) {
		*out = reversed(&link[i]);
		if (ftr_incr_alive(v->incr, s, link[i].port) &&
		    !v->silent[out->sw] && !listed(c, n, out))
			return true;
	}
	return false;
}

static void ask_briefly(struct rr *f, struct rr_smp *job, uint32_t n)
{
	send_jobs(f, job, n, 2, 0, FTR_MAX(2 * HEDGE_MS, patience(f)));
}

/* Some switches at the far ends of dead links have not answered.  For each such switch X, ask
 * another neighbour of X about its link to X.  If it does not report that this link is alive, X is
 * silent. */
static void ask_one_neighbour(struct rr *f, const struct probe *p,
			      const struct rr_link *c, uint32_t n,
			      struct rr_smp *job)
{
	struct rr_view *v = f->view;
	struct rr_link link;

	for (uint32_t i = 0; i < n; i++)
		v->silent[c[i].peer] |= is_first_unanswered(p, c, i);
	rr_search_around(v, v->silent);
	for (uint32_t i = 0; i < n; i++) {
		if (!is_first_unanswered(p, c, i) ||
		    !find_other_link(v, c[i].peer, c, n, &link))
			continue;
		job[i].attr = RR_ATTR_PORT_INFO;
		job[i].mod = link.port;
		job[i].m_key = v->m_key[link.sw];
		job[i].n_routes = rr_routes_around(v, link.sw, v->suspect, job[i].route);
	}
	ask_briefly(f, job, n);
	for (uint32_t i = 0; i < n; i++)
		if (reports_link(&job[i]))
			v->silent[c[i].peer] = 0;
}

static void mark_silent_far_ends(struct rr *f, const struct probe *p,
			   const struct rr_link *c, uint32_t n)
{
	struct rr_view *v = f->view;
	struct rr_smp *job = ftr_calloc(n + 1u, sizeof(*job));

	for (uint32_t i = 0; i < n; i++) {
		v->silent[c[i].sw] = v->silent[c[i].peer] = 0;
		if (!c[i].up)
			rr_mark_link(&v->fabric, v->suspect, &c[i]);
	}
	if (job)
		ask_one_neighbour(f, p, c, n, job);
	free(job);
}

/* A switch may hang although its links are alive.  So ask the switches at the far ends of dead
 * links themselves. */
static void ask_far_ends(struct rr *f, const struct probe *p, const struct rr_link *c, uint32_t n)
{
	struct rr_view *v = f->view;
	struct rr_smp *job = ftr_calloc(n + 1u, sizeof(*job));

	rr_search_around(v, v->silent);
	for (uint32_t i = 0; job && i < n; i++) {
		job[i].attr = RR_ATTR_NODE_INFO;
		job[i].m_key = v->m_key[c[i].peer];
		if (is_first_unanswered(p, c, i) && !v->silent[c[i].peer])
			job[i].n_routes = rr_routes_around(v, c[i].peer, v->suspect, job[i].route);
	}
	if (job)
		ask_briefly(f, job, n);
	for (uint32_t i = 0; job && i < n; i++)
		if (is_first_unanswered(p, c, i))
			v->silent[c[i].peer] |= job[i].state != RR_SMP_DONE;
	free(job);
}

/* ---- neighbours of silent switches ------------------------------------------- */

/* Set now[s] to 1 if switch s did not answer this probe, and all[s] to 1 if s did not answer this
 * or an earlier probe.  Returns false if every switch has answered this probe. */
static bool mark_silent(const struct probe *p, const struct rr_link *c,
			uint32_t n, uint8_t *now, uint8_t *all)
{
	uint32_t n_sw = p->v->gen.fabric->n_sw;

	for (uint32_t i = 0; i < p->n; i++)
		now[p->link[i].sw] = 1;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->job[i].state == RR_SMP_DONE)
			now[p->link[i].sw] = 0;
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
		if (p->link[i].sw == c->sw && p->link[i].port == c->port &&
		    p->job[i].state == RR_SMP_DONE)
			return true;
	return listed(found, n, c);
}

/* For each link of s, add to q a request to the neighbour at the far end.  Links that are dead in
 * the view, links to silent neighbours, and links whose state is already known, are left out.
 * Returns false if out of memory. */
static bool add_neighbours(struct probe *q, ftr_sw s, const uint8_t *silent, const struct probe *p,
			   const struct rr_link *found, uint32_t n_found)
{
	struct rr_link link[FTR_PORT_MAX];
	uint32_t n = rr_links_of(q->v, s, link);
	struct rr_dr route[2];

	for (uint32_t i = 0; i < n; i++) {
		const struct rr_link *c = &link[i];
		struct rr_link far = reversed(c);

		if (ftr_incr_alive(q->v->incr, s, c->port) &&
		    !silent[far.sw] && !is_known(p, found, n_found, &far) &&
		    !add(q, &far, route, rr_routes_around(q->v, far.sw, q->v->suspect, route)))
			return false;
	}
	return true;
}

/* For each silent switch, add to q the requests to its neighbours.  Returns false if out of
 * memory. */
static bool list_neighbours(struct probe *q, const struct probe *p,
			    const struct rr_link *found, uint32_t n)
{
	struct rr_view *v = q->v;
	uint32_t n_sw = v->gen.fabric->n_sw;
	uint8_t *now = ftr_calloc(2 * (size_t)n_sw, 1);
	uint8_t *all = now ? now + n_sw : NULL;
	bool ok = now != NULL;

	if (ok && mark_silent(p, found, n, now, all)) {
		rr_search_around(v, all);
		for (ftr_sw s = 0; s < n_sw; s++)
			ok = ok && (!now[s] || add_neighbours(q, s, all, p, found, n));
	}
	free(now);
	return ok;
}

/* Ask the neighbours of silent switches.  Append to *out the links whose state differs from the
 * view.  n: the number of links in *out so far; returns the new number. */
static uint32_t ask_neighbours(struct rr *f, const struct probe *p,
			       struct rr_link **out, uint32_t n,
			       bool *unknown)
{
	struct probe q = { .v = f->view };
	bool ok = list_neighbours(&q, p, *out, n);
	struct rr_link *grown = ok && q.n ? /* p->n: room for the links that
					     * ask_survivors() appends */
		ftr_reallocarray(*out, n + q.n + p->n, sizeof(**out)) : NULL;

	if (grown) {
		*out = grown;
		send_jobs(f, q.job, q.n, 2, 0, NEIGHBOUR_TIMEOUTS * f->timeout);
		n = add_changed(f, &q, grown, n, unknown);
		for (uint32_t i = 0; i < q.n; i++)
			if (reports_link(&q.job[i]))
				q.v->silent[q.link[i].peer] = 0;
	}
	*unknown |= !ok || (q.n && !grown);
	free_probe(&q);
	return n;
}

/* If the link over which a switch sent its trap is dead by now, the switch may still have a live
 * link.  Ask such switches once more, over other routes. */
static uint32_t ask_survivors(struct rr *f, const struct probe *p,
			      const struct probe *hops, struct rr_link *out,
			      uint32_t n, bool *unknown)
{
	struct rr_link *ask = ftr_calloc(p->n + 1u, sizeof(*ask));
	struct probe q = { .v = f->view }, none = { .v = f->view };
	uint32_t n_ask = 0;

	for (uint32_t i = 0; ask && i < p->n; i++) {
		bool dead = false;

		for (uint32_t k = 0; k < hops->n; k++)
			dead |= hops->link[k].peer == p->link[i].sw &&
				hops->job[k].state == RR_SMP_DONE && !reports_link(&hops->job[k]);
		if (dead && !f->view->silent[p->link[i].sw])
			ask[n_ask++] = p->link[i];
	}
	if (n_ask && add_all(f, &q, &none, ask, n_ask, false)) {
		run_all(f, &q);
		n = add_changed(f, &q, out, n, unknown);
	}
	free_probe(&q);
	free_probe(&none);
	free(ask);
	return n;
}

static uint32_t run_probe(struct rr *f, struct probe *p,
			 struct probe *hops, struct rr_link **out, bool *unknown)
{
	uint32_t n = add_changed(f, hops, *out, 0, unknown);

	run_all(f, p);
	n = add_changed(f, p, *out, n, unknown);
	mark_silent_far_ends(f, p, *out, n);
	n = ask_neighbours(f, p, out, n, unknown);
	ask_far_ends(f, p, *out, n);
	n = ask_survivors(f, p, hops, *out, n, unknown);
	return confirm_up(f, *out, n, unknown);
}

uint32_t rr_probe(struct rr *f, const struct rr_link *ask, uint32_t n,
		   bool traps, struct rr_link **out, bool *unknown)
{
	struct probe p = { .v = f->view }, hops = { .v = f->view };
	uint32_t found = 0;

	f->view->saw_init = false;
	rr_search_suspect(f->view, ask, n);
	*unknown = !add_all(f, &p, &hops, ask, n, traps);
	if (!*unknown)
		found = run_probe(f, &p, &hops, out, unknown);
	free_probe(&p);
	free_probe(&hops);
	return found;
}
