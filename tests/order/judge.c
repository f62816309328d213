// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The properties.  The tables of the switches are followed entry by entry; this code shares nothing
 * with the checker of the library.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "incremental/incremental.h"
#include "order/order.h"

#define NODES 64		/* switches at most */
#define CHANNELS 1024

static uint8_t works[NODES][4096];	/* works[s][lid]: the path worked after the last event */

static bool carries(const struct fake *h, ftr_sw s, ftr_port p)
{
	return p && p <= h->fab->sw[s].n_ports &&
		h->link[h->fab->sw[s].first_port + p] == IB_LINK_ACTIVE;
}

/* The dependencies between channels: edge[a] is a set of channels. */
static uint64_t edge[CHANNELS][CHANNELS / 64];

static void add_edge(uint32_t a, uint32_t b)
{
	edge[a][b / 64] |= 1ull << (b % 64);
}

/* state: 0 new, 1 on the stack, 2 done.  Returns true if a cycle can be reached from a. */
static bool on_cycle(uint32_t a, uint8_t *state, uint32_t n)
{
	state[a] = 1;
	for (uint32_t b = 0; b < n; b++)
		if (edge[a][b / 64] >> (b % 64) & 1 &&
		    (state[b] == 1 || (!state[b] && on_cycle(b, state, n))))
			return true;
	state[a] = 2;
	return false;
}

bool judge_unsure(void)
{
	const struct rr_view *v = world.h->fast ? world.h->fast->rr.view : NULL;

	return !v || memchr(v->in_flight, 1, v->gen.fabric->n_sw);
}

/* Follow the entries for the LID from switch s on.  Returns true if they lead to its host. */
static bool follow(const struct fake *h, ftr_sw s, ftr_lid lid, bool source)
{
	const struct ftr_fabric *f = h->fab;
	ftr_sw at = s;
	uint32_t last = 0;

	for (unsigned int hops = 0;; hops++) {
		ftr_port p = h->sw[at].lft[lid];
		const struct ftr_swport *q;
		uint32_t c;

		if (!carries(h, at, p))
			return false;
		if (hops > f->n_sw && world.wild)
			return false;
		if (hops > f->n_sw)
			violated("a loop: LID %u from %s", lid, f->sw[s].name);
		q = ftr_fabric_port(f, at, p);
		if (q->peer_kind == FTR_PEER_EP) {
			if (f->ep[q->peer].lid != lid)
				violated("LID %u from %s arrives at the wrong host", lid, f->sw[s].name);
			return true;
		}
		c = f->sw[at].first_port + p;
		if (hops && source)
			add_edge(last, c);
		last = c;
		at = q->peer;
	}
}

static bool has_host(const struct ftr_fabric *f, ftr_sw s)
{
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw == s)
			return true;
	return false;
}

/* True if the fast path can send packets over the link. */
static bool is_known(const struct rr_view *v, uint64_t guid, ftr_port p)
{
	ftr_sw s = ftr_fabric_find_sw(v->gen.fabric, guid);

	return s != FTR_SW_NONE && ftr_incr_alive(v->incr, s, p);
}

/* The switches that are connected to the manager's switch over links that carry data.  v: and that the fast
 * path knows; NULL: all. */
static uint64_t component(const struct fake *h, const struct rr_view *v)
{
	const struct ftr_fabric *f = h->fab;
	uint64_t in = 1ull << f->ep[h->sm].sw, before;

	do {
		before = in;
		for (ftr_sw a = 0; a < f->n_sw; a++)
			for (unsigned int p = 1; in >> a & 1 && p <= f->sw[a].n_ports; p++) {
				const struct ftr_swport *q = ftr_fabric_port(f, a, (ftr_port)p);

				if (q->peer_kind == FTR_PEER_SW && carries(h, a, (ftr_port)p) &&
				    (!v || is_known(v, f->sw[a].guid, (ftr_port)p)))
					in |= 1ull << q->peer;
			}
	} while (in != before);
	return in;
}

void judge_tables(bool link_changed)
{
	const struct fake *h = world.h;
	const struct ftr_fabric *f = h->fab;
	static uint8_t state[CHANNELS];

	if (f->n_ports > CHANNELS || f->n_sw > NODES || f->max_lid >= 4096)
		abort();
	memset(edge, 0, f->n_ports * sizeof(edge[0]));
	memset(state, 0, sizeof(state));
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		bool source = has_host(f, s);

		for (ftr_ep e = 0; e < f->n_ep; e++) {
			ftr_lid lid = f->ep[e].lid;
			bool now = follow(h, s, lid, source);

			if (works[s][lid] && !now && !link_changed && source && !world.wild &&
			    world.changes < 2)
				violated("a write has broken the path of LID %u from %s", lid,
					 f->sw[s].name);
			works[s][lid] = now;
		}
	}
	for (uint32_t c = 0; c < f->n_ports && !world.wild; c++)
		if (!state[c] && on_cycle(c, state, f->n_ports))
			violated("a credit loop through port %u of the fabric", c);
}

uint64_t judge_hash(void)
{
	const struct fake *h = world.h;
	uint64_t x = fake_hash(1, h->link, h->fab->n_ports);

	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		x = fake_hash(x, h->sw[s].lft, h->fab->max_lid + 1u);
	return x;
}

/* v: as for component(). */
static void check_connected(const struct rr_view *v, const char *when)
{
	const struct fake *h = world.h;
	const struct ftr_fabric *f = h->fab;
	uint64_t in = component(h, v);

	for (ftr_ep a = 0; a < f->n_ep; a++)
		for (ftr_ep b = 0; b < f->n_ep; b++)
			if (in >> f->ep[a].sw & 1 && in >> f->ep[b].sw & 1 &&
			    !follow(h, f->ep[a].sw, f->ep[b].lid, false))
				violated("%s: no path from %s to %s", when, f->ep[a].name,
					 f->ep[b].name);
}

static void check_view(const char *when)
{
	struct fake *h = world.h;
	const struct rr_view *v = h->fast ? h->fast->rr.view : NULL;
	uint64_t in;

	if (!v || h->fast->rr.state.view != h->fast->rr.state.held ||
	    h->fast->rr.state.sweep == RR_ROUTING)
		return;
	in = component(h, v);
	for (ftr_sw s = 0; s < v->gen.fabric->n_sw; s++) {
		ftr_sw own = ftr_fabric_find_sw(h->fab, v->gen.fabric->sw[s].guid);
		const uint8_t *row = ftr_tables_row(v->sent, s);
		const osm_switch_t *o = own == FTR_SW_NONE ? NULL : h->osw[own];

		if (v->in_flight[s] || !(in >> own & 1))
			continue;
		for (uint32_t lid = 1; lid <= v->gen.fabric->max_lid; lid++)
			if (row[lid] != h->sw[own].lft[lid] && (!o || o->lft[lid] == o->new_lft[lid]))
				violated("%s: the view has port %u for LID %u at %s, the switch has port %u",
					 when, row[lid], lid, h->fab->sw[own].name,
					 h->sw[own].lft[lid]);
	}
}

/* True if the fast path may use the link: it is not damped, and not left to a sweep. */
static bool is_usable(const struct rr_links *t, uint64_t guid, ftr_port port)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct rr_ends *e = &t->link[i].ends;

		if ((e->guid == guid && e->port == port) ||
		    (e->peer_guid == guid && e->peer_port == port))
			return t->link[i].state == RR_LINK_ALIVE;
	}
	return true;
}

static void check_links(void)
{
	const struct fake *h = world.h;
	const struct rr_view *v = h->fast->rr.view;
	const struct ftr_fabric *f = v->gen.fabric;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		ftr_sw own = ftr_fabric_find_sw(h->fab, f->sw[s].guid);

		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
			if (carries(h, own, (ftr_port)p) && ftr_incr_connected(v->incr, s, (ftr_port)p) &&
			    !ftr_incr_alive(v->incr, s, (ftr_port)p) &&
			    is_usable(&h->fast->rr.state.links, f->sw[s].guid, (ftr_port)p))
				violated("the fast path does not use port %u of %s, which is Active", p,
					 f->sw[s].name);
	}
}

/* True if the view has the link, and shows it as dead. */
static bool is_dead(const struct rr_view *v, uint64_t guid, ftr_port p)
{
	ftr_sw s = ftr_fabric_find_sw(v->gen.fabric, guid);

	return s != FTR_SW_NONE && ftr_incr_connected(v->incr, s, p) && !ftr_incr_alive(v->incr, s, p);
}

/* True if OpenSM has found the link between switches, and its port is not Active. */
static bool is_idle(const struct fake *h, ftr_sw s, ftr_port p)
{
	const osm_physp_t *x = h->osw[s] ? &h->sw_node[s]->physp_table[p] : NULL;

	return x && ftr_fabric_port(h->fab, s, p)->peer_kind == FTR_PEER_SW && x->p_remote_physp &&
		osm_physp_get_port_state(x) < IB_LINK_ARMED;
}

bool judge_can_return(void)
{
	const struct fake *h = world.h;
	const struct ftr_fabric *f = h->fab;
	const struct rr_state *s = h->fast ? &h->fast->rr.state : NULL;

	if (!s || judge_unsure() || s->view != s->held || s->tables == RR_FOREIGN ||
	    component(h, h->fast->rr.view) != (2ull << (f->n_sw - 1)) - 1)
		return false;
	for (uint32_t i = 0; i < s->links.n; i++)
		if (s->links.link[i].state == RR_LINK_LEFT)
			return false;
	for (ftr_sw a = 0; a < f->n_sw; a++)
		for (unsigned int p = 1; p <= f->sw[a].n_ports; p++)
			if (is_idle(h, a, (ftr_port)p) &&
			    !is_dead(h->fast->rr.view, f->sw[a].guid, (ftr_port)p))
				return false;
	return true;
}

void judge_worker(bool all_heard)
{
	const struct rr_state *s = world.h->fast ? &world.h->fast->rr.state : NULL;
	const struct ibf_plugin *p = world.h->plugin;

	if (!s || judge_unsure() || s->job != RR_IDLE || s->view != s->held || s->sweep == RR_ROUTING)
		return;
	check_view("the worker has no job");
	if (s->sweep != RR_REST || s->tables != RR_UP || s->n_traps || s->swept || s->released ||
	    s->transition >= 0 || p->idle_links)
		return;
	check_links();
	if (all_heard && !world.h->fast->rr.view->incr->now.bad_pairs)
		check_connected(world.h->fast->rr.view, "the fast path has no job");
}

void judge_idle(void)
{
	uint32_t wrong = fake_wrong(world.h);

	if (wrong)
		violated("idle: %u blocks of OpenSM's copy differ from the switches, and no sweep would write them",
			 wrong);
	if (fake_marked(world.h) && !world.s->alone)
		violated("idle: a sweep must write blocks, and none is requested");
	if (world.h->osm->stats.qp0_mads_outstanding)
		violated("idle: OpenSM counts packets that are not on their way");
	check_view("idle");
	if (!world.missed)
		check_connected(NULL, "idle");
}

static uint8_t *tables(void)
{
	const struct fake *h = world.h;
	size_t n = h->fab->max_lid + 1u;
	uint8_t *t = malloc(h->fab->n_sw * n);

	for (ftr_sw s = 0; t && s < h->fab->n_sw; s++)
		memcpy(t + s * n, h->sw[s].lft, n);
	return t;
}

/* True if the preferred tables were made while parts of the fabric were missing, because no state
 * file was there.  Such tables are not stored, so a new OpenSM computes other ones. */
static bool is_makeshift(void)
{
	const struct ibf_plugin *p = world.h->plugin;

	for (unsigned int i = 0; i < p->n_engines; i++)
		if (p->engine[i].gen && p->engine[i].gen->makeshift)
			return true;
	return false;
}

/* True if the first engine of the list has routed. */
static bool is_first(const struct fake *h)
{
	const char *name = h->osm->routing_engine_used ? h->osm->routing_engine_used->name : "";

	return !strncmp(world.s->engine, name, strlen(name));
}

void judge_end(void)
{
	struct fake *h = world.h;
	size_t n = h->fab->max_lid + 1u;
	uint8_t *before, *after;
	uint64_t in = component(h, NULL);

	fiber_control(NULL, NULL);
	fake_control(h, false);
	/* a sweep sets links Active; then the fast path uses them, which the next sweep confirms; after a
	 * routing of the second engine, OpenSM asks the first one again */
	for (int i = 0; i < 2 && (world.s->alone || !is_first(h)); i++) {
		fake_sweep(h);
		fake_settle(h);
	}
	fake_flush(h);
	disk_check();
	before = tables();
	if (!fake_sweep(h) || h->changed_entries)
		violated("end: another sweep changes %u entries", h->changed_entries);
	fake_settle(h);
	after = tables();
	if (memcmp(before, after, h->fab->n_sw * n))
		violated("end: another sweep changes tables");
	free(after);
	check_connected(NULL, "end");
	if (is_makeshift())
		return;
	world_restart(false);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		memset(h->sw[s].lft, FTR_PORT_NONE, n);
	if (!fake_sweep(h))
		violated("end: the first sweep of a new OpenSM fails");
	fake_settle(h);
	after = tables();
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		for (uint32_t lid = 1; lid < n; lid++)
			if (in >> s & 1 && before[s * n + lid] != after[s * n + lid])
				violated("end: a new OpenSM chooses port %u, not %u, for LID %u at %s",
					 after[s * n + lid], before[s * n + lid], lid,
					 h->fab->sw[s].name);
	free(before);
	free(after);
}
