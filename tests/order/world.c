// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What can happen next, and what it does.
 *
 * When all coroutines wait (fiber.h), step() lists the possible events, the usual one first, and
 * choose() takes one.  Two histories lead to the same state if they differ only in the order of
 * independent events: each coroutine, lock, switch and packet has a hash of the events on which it can
 * depend (fiber_past, fake_sw.past, txn.cause), and the key of the state is the sum of these hashes.
 * Two Sets at different switches are independent, for example, or the answer to OpenSM and a probe of the
 * plugin.  A link that changes, and time that passes, may have an effect on everything (barrier).  When
 * the plugin and OpenSM are idle, their present data replace the hashes (hash_idle).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "incremental/incremental.h"
#include "lib/at_rest.h"
#include "order/order.h"
#include "osm/host.h"

extern volatile unsigned int osm_exit_flag;

/* Numbers for fiber_park(). */
enum { MAIN = 1, SWEEPER, MOMENT, ADMIN, AWAY, DEAD };

enum what { PACKET, SWEEP_GOES_ON, TRAP, SWEEP, COMES_BACK, TIME, SCRIPT, NUDGE, LATER, LOSE,
	    TRAP_LOST, STALL };

struct action {
	enum what what;
	uint64_t id, hash;
};

#define ACTIONS 128
#define HELD 48
#define STALL_MS 6e3		/* longer than OpenSM waits for a write */
#define WAIT_MS 5e3		/* OpenSM waits for a write of the fast path for this time */
#define REST_MS 200e3		/* time after which everything must have come to rest */

struct world world;
static enum end want;
static bool reroute;		/* OpenSM's next sweep is only a reroute */
static bool unheard_is_fine;	/* traps that cannot reach OpenSM do not count */
static uint32_t nudges;
static enum fake_moment moment;
static unsigned int takeovers;
/* Number of packets that were lost or late since the plugin was idle.  The fast path must do without one
 * of them.  A sweep without a trap counts as two. */
static unsigned int troubles;
static double resume;		/* time at which the script goes on */
static bool stalled;		/* the worker has stood still in this run */
/* OpenSM writes its tables.  quiet: meanwhile no Set of the plugin was on its way. */
static struct {
	bool is, quiet;
} pushing;

/* The links that have changed since the plugin was idle; heard: a trap of one end has arrived. */
#define CHANGES 16
static struct {
	ftr_sw end[2];
	bool heard;
} changed[CHANGES];

/* Returns false if no trap has arrived for a link that has changed. */
static bool all_heard(void)
{
	for (unsigned int i = 0; i < world.changes; i++)
		if (!changed[i].heard)
			return false;
	return true;
}

/* The number of different links that have changed. */
static unsigned int count_changed(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < world.changes; i++) {
		unsigned int k = 0;

		while (memcmp(changed[k].end, changed[i].end, sizeof(changed[i].end)))
			k++;
		n += k == i;
	}
	return n;
}

static void hear(ftr_sw s)
{
	for (unsigned int i = 0; i < world.changes; i++)
		changed[i].heard |= changed[i].end[0] == s || changed[i].end[1] == s;
}

/* An event that may have an effect on everything later. */
static void barrier(uint64_t what, uint64_t id)
{
	uint64_t x = fiber_barrier(fiber_mix(what, id));

	world.h->links_past = fiber_mix(world.h->links_past, x);
	for (ftr_sw s = 0; s < world.h->fab->n_sw; s++)
		world.h->sw[s].past = fiber_mix(world.h->sw[s].past, x);
}

/* Nothing but the state has an effect. */
static void forget_past(uint64_t state)
{
	fiber_forget(state);
	world.h->links_past = 0;
	for (ftr_sw s = 0; s < world.h->fab->n_sw; s++)
		world.h->sw[s].past = 0;
}

/* ---- threads ---------------------------------------------------------------------- */

static void at_moment(void *ctx, struct fake *h, enum fake_moment m)
{
	static unsigned int reported;
	static double discovered;
	static bool leaves;	/* the routing leaves links that return to the fast path */
	const struct ibf_plugin *p = h->plugin;
	unsigned int n = m == FAKE_ROUTING ? fake_logged(h, "IBF121") : reported;

	(void)ctx;
	world.wild |= n > reported;	/* the plugin has left entries to OpenSM */
	reported = n;
	if (m == FAKE_DISCOVERED)
		discovered = fake_time();
	if (m == FAKE_BEFORE_ROUTING && h->fast && h->fast->rr.state.job == RR_WRITING &&
	    !osm_exit_flag && fake_time() < discovered + WAIT_MS)
		violated("OpenSM goes on after a discovery, and a write of the fast path has not ended");
	if (m == FAKE_ROUTING && leaves && p->idle_links)
		violated("a link that returns is left to a reroute, not to the fast path");
	if (m == FAKE_LOCKED) {
		leaves = !world.wild && judge_can_return();
		fake_lose_late(h);	/* no packet lives that long */
		if (rare_left() && want != THE_END)
			n = choose(strchr(world.s->engine, ',') ? 3 : 2, 1, 0);
		else
			n = 0;
		if (n) {
			say("%s engine gets memory", n == 1 ? "no" : "only the second");
			barrier(101, n);
			*(n == 1 ? &h->no_memory : &h->no_memory_first) = true;
		}
	}
	if (m == FAKE_PUSHING && stalled)
		fiber_freeze(h->fast->thread, 0);	/* the worker goes on at the worst time */
	if (m == FAKE_ROUTING || m == FAKE_ROUTED)
		pushing.is = m == FAKE_ROUTING;
	pushing.quiet = false;
	moment = m;
	fiber_park(MOMENT);
}

/* True if OpenSM does not reach all switches. */
static bool some_missing(const struct fake *h)
{
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		if (!h->osw[s])
			return true;
	return false;
}

static void *sweeper(void *arg)
{
	struct fake *h = arg;

	for (;;) {
		unsigned int before;

		fiber_park(SWEEPER);
		before = takeovers;
		if (osm_exit_flag)
			return NULL;
		if (reroute) {
			reroute = false;
			fake_reroute(h);
		} else if (fake_sweep(h) && before == takeovers) {
			/* a switch that a wild routing did not reach keeps its old entries */
			world.wild = fake_marked(h) || (world.wild && some_missing(h));
		}
		pushing.is = false;
		/* packets were lost; not if no engine has routed */
		world.wild |= h->osm->subn.subnet_initialization_error &&
			h->osm->routing_engine_used;
	}
}

/* Nothing happens until `resume`. */
static void stand_by(struct fake *h)
{
	pthread_mutex_lock(&h->mutex);
	while (fake_time() < resume && !osm_exit_flag)
		ibf_cond_wait(&h->cond, &h->mutex, resume);
	pthread_mutex_unlock(&h->mutex);
}

/* Another manager is master, and gives up after a while. */
static void *admin(void *arg)
{
	struct fake *h = arg;

	for (;;) {
		fiber_park(ADMIN);
		if (osm_exit_flag)
			return NULL;
		if (fake_time() < resume) {
			stand_by(h);
			continue;
		}
		fake_set_state(h, IB_SMINFO_STATE_STANDBY);
		fake_report(h, OSM_EVENT_ID_STATE_CHANGE, NULL);
		fiber_park(AWAY);
		if (osm_exit_flag)
			return NULL;
		world.wild = true;
		takeovers++;
		h->osm->subn.coming_out_of_standby = TRUE;
		fake_set_state(h, IB_SMINFO_STATE_MASTER);
		fake_report(h, OSM_EVENT_ID_STATE_CHANGE, NULL);
		h->osm->subn.force_heavy_sweep = TRUE;
	}
}

static void start_threads(struct fake *h)
{
	pthread_t id;

	h->auto_sweep = true;
	if (!ibf_thread_start(&h->sweeper, sweeper, h) || !ibf_thread_start(&id, admin, h))
		abort();
}

/* Locks of the fake OpenSM: the order in which they are taken has no effect. */
static void ignore_locks(struct fake *h)
{
	fake_own_locks(h, fiber_ignore);
	fiber_ignore(&h->mutex);
	fiber_ignore(&h->osm->stats.mutex);
}

void world_restart(bool crash)
{
	struct fake *h = world.h;

	if (crash) {
		fiber_abandon();
	} else {
		osm_exit_flag = 1;
		fiber_pass(true);
	}
	fake_restart(h, crash);
	ignore_locks(h);
	barrier(102, crash);
	fiber_pass(false);
	world.wild = true;
	takeovers++;
	resume = 0;
	reroute = pushing.is = false;
	h->osm->subn.force_heavy_sweep = TRUE;
}

void world_syscall(void)
{
	fiber_follow(fiber_mix(fiber_cause(), 6));
	if (!world.next || osm_exit_flag || (*world.next != 'C' && *world.next != 'P') || !choose(2, 2, 0))
		return;
	want = *world.next++ == 'C' ? CRASH : POWER;
	say("crash before the next system call");
	world.last = fake_time();
	fiber_go(MAIN);
	fiber_park(DEAD);
}

/* ---- the state --------------------------------------------------------------------- */

static bool sweep_is_wanted(const struct fake *h)
{
	return h->osm->subn.sm_state == IB_SMINFO_STATE_MASTER &&
		(reroute || h->osm->subn.force_heavy_sweep ||
		 h->osm->subn.subnet_initialization_error);
}

static bool some_unheard(const struct fake *h)
{
	for (ftr_sw s = 0; s < h->fab->n_sw && !unheard_is_fine; s++)
		if (h->sw[s].unheard)
			return true;
	return false;
}

/* Nothing is left to do but the script, and to let time pass. */
static bool is_quiet(struct fake *h)
{
	return fake_wire_idle(h) && !h->posted && fiber_is_parked(SWEEPER) &&
		fiber_is_parked(ADMIN) && !sweep_is_wanted(h) &&
		at_rest(&h->fast->rr.state) && !h->fast->rr.state.want.wanted;
}

static uint64_t hash_osm(uint64_t x, const struct fake *h)
{
	const osm_subn_t *subn = &h->osm->subn;

	x = fake_hash(x, &subn->need_update, sizeof(subn->need_update));
	for (ftr_sw s = 0; s < h->fab->n_sw; s++) {
		const osm_switch_t *o = h->osw[s];

		x = fake_hash(x, &h->sw[s].route, sizeof(h->sw[s].route));
		x = fake_hash(x, &h->sw[s].changed, 2);
		if (!o)
			continue;
		x = fake_hash(x, o->lft, o->lft_size);
		x = fake_hash(x, o->new_lft, o->lft_size);
		x = fake_hash(x, &o->need_update, sizeof(o->need_update));
		for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++) {
			const osm_physp_t *ph = &h->sw_node[s]->physp_table[p];

			x = fake_hash(x, &ph->p_remote_physp, sizeof(void *));
			x = x * 31 + osm_physp_get_port_state(ph);
		}
	}
	return x;
}

static uint64_t hash_fast(uint64_t x, const struct fake *h)
{
	const struct rr_state *s = &h->fast->rr.state;
	const struct rr_view *v = h->fast->rr.view;
	const uint32_t n[] = {
		s->sweep, s->tables, s->job, s->n_later, s->unconfirmed, s->rewrite, s->swept,
		s->released, s->transition < 0, s->links.n, v != NULL, h->fast->n_suspects,
	};

	x = fake_hash(x, n, sizeof(n));
	for (uint32_t i = 0; i < s->links.n; i++) {
		const struct rr_link_entry *e = &s->links.link[i];

		x = fake_hash(x, &e->ends.guid, sizeof(e->ends.guid));
		x = x * 31 + e->ends.port * 64u + e->state * 4u + (e->died >= 0);
	}
	for (ftr_sw i = 0; v && i < v->gen.fabric->n_sw; i++) {
		const struct ftr_fabric *f = v->gen.fabric;

		x = fake_hash(x, ftr_tables_row(v->sent, i), f->max_lid + 1u);
		x = x * 31 + v->silent[i] + 2u * v->in_flight[i];
		for (unsigned int p = 1; p <= f->sw[i].n_ports; p++)
			x = x * 3 + (ftr_incr_connected(v->incr, i, (ftr_port)p) &&
				     ftr_incr_alive(v->incr, i, (ftr_port)p));
	}
	return x;
}

static uint64_t hash_idle(const struct fake *h)
{
	const struct ibf_plugin *p = h->plugin;
	uint64_t x = hash_fast(hash_osm(judge_hash(), h), h);

	for (unsigned int i = 0; i < p->n_engines; i++) {
		const struct ibf_prefer *r = &p->engine[i].prefer;
		const struct ftr_tables *t = r->gen ? r->gen->tables : NULL;

		x = x * 31 + r->stage + 64u * r->n_entries + (p->stored == &p->engine[i]);
		for (ftr_sw s = 0; t && s < t->n_sw; s++)
			x = fake_hash(x, ftr_tables_row(t, s), r->gen->fabric->max_lid + 1u);
	}
	return x;
}

/* ---- the possible events ------------------------------------------------------------ */

struct list {
	struct action a[ACTIONS];
	unsigned int n;
};

static void add(struct list *l, enum what what, uint64_t id, uint64_t hash)
{
	if (l->n == ACTIONS)
		abort();
	l->a[l->n++] = (struct action){ what, id, hash };
}

/* Of OpenSM's packets only the oldest arrives next, unless a rare event happens. */
static void add_packets(struct list *l, const struct fake_held *p, unsigned int n, bool rare)
{
	bool own = false;

	for (unsigned int i = 0; i < n; i++) {
		bool next = !p[i].late && (p[i].p.plugin || p[i].orphan || !own);

		own |= !p[i].p.plugin && !p[i].orphan;
		if (rare) {
			if (!p[i].late)
				add(l, LOSE, p[i].id, p[i].hash);
			if (!next)
				add(l, PACKET, p[i].id, p[i].hash);
		} else if (next) {
			add(l, PACKET, p[i].id, p[i].hash);
		}
	}
}

static void add_traps(struct list *l, struct fake *h, enum what what)
{
	for (ftr_sw s = 0; s < h->fab->n_sw && !osm_exit_flag; s++)
		if (h->sw[s].unheard && fake_reaches_sm(h, s))
			add(l, what, s, s);
}

/* Returns the number of events that are not rare. */
static unsigned int list_events(struct fake *h, struct list *l)
{
	struct fake_held p[HELD];
	unsigned int n = fake_held(h, p, HELD), usual;
	bool orphans = false;

	for (unsigned int i = 0; i < n; i++)
		orphans |= p[i].orphan;
	l->n = 0;
	add_packets(l, p, n, false);
	if (fiber_is_parked(MOMENT))
		add(l, SWEEP_GOES_ON, moment, 0);
	add_traps(l, h, TRAP);
	/* packets of a process that has crashed do not live until the next one sweeps */
	if (fiber_is_parked(SWEEPER) && sweep_is_wanted(h) && !orphans && !osm_exit_flag)
		add(l, SWEEP, reroute, 0);
	if (fiber_is_parked(AWAY))
		add(l, COMES_BACK, 0, 0);
	if (!l->n && fiber_has_timeout())
		add(l, TIME, 0, 0);
	if (*world.next && fiber_is_parked(ADMIN) && !osm_exit_flag)
		add(l, SCRIPT, 0, 0);
	if (!l->n && (world.missed || some_unheard(h) || fake_marked(h)))
		add(l, NUDGE, 0, 0);
	usual = l->n;
	if (usual && l->a[0].what != TIME && fiber_has_timeout())
		add(l, LATER, 0, 0);
	add_packets(l, p, n, true);
	add_traps(l, h, TRAP_LOST);
	if (h->fast && h->fast->rr.state.job == RR_WRITING && !stalled)
		add(l, STALL, 0, 0);
	return usual;
}

/* When a routing has begun, a write of the fast path must stop before its next step.  So when no Set of
 * the plugin is on its way any more, none follows until OpenSM has written its tables.  (If packets are
 * lost, the same step may continue.) */
static void check_pushing(struct fake *h)
{
	struct fake_held p[HELD];
	unsigned int n = 0;
	bool sets;

	if (pushing.is && rare_left() + stalled == world.s->rare)
		n = fake_held(h, p, HELD);
	sets = !n;

	for (unsigned int i = 0; i < n; i++)
		sets |= p[i].p.plugin && p[i].p.set && !p[i].late && !p[i].orphan;
	if (pushing.is && pushing.quiet && sets && n)
		violated("the fast path has begun a step of writes while OpenSM writes its tables");
	pushing.quiet |= pushing.is && !sets;
}

static uint64_t key_of(struct fake *h, const struct list *l)
{
	const osm_subn_t *subn = &h->osm->subn;
	uint64_t x[] = { fiber_past(), judge_hash(), (uintptr_t)world.next,
			 (uint64_t)world.missed * 2 + world.wild + 4 * world.changes, 0, 0,
			 want, moment, nudges + 4 * troubles, takeovers };
	const bool flag[] = {
		reroute, unheard_is_fine, pushing.is, pushing.quiet, stalled,
		subn->force_heavy_sweep, subn->force_reroute, subn->subnet_initialization_error,
		subn->coming_out_of_standby, subn->need_update,
	};

	for (unsigned int i = 0; i < l->n; i++)
		if (l->a[i].what == PACKET || l->a[i].what == LOSE)
			x[4] += fiber_mix(l->a[i].hash, l->a[i].what);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++) {
		x[4] += fiber_mix(h->sw[s].past, s + 100);
		x[5] = x[5] * 2 + h->sw[s].unheard;
	}
	for (unsigned int i = 0; i < world.changes; i++)
		x[5] = x[5] * 2 + changed[i].heard;
	x[0] = fake_hash(x[0], flag, sizeof(flag));
	return fake_hash(3, x, sizeof(x));
}

/* ---- effects ------------------------------------------------------------------------ */

static void set_link(struct fake *h, const char *where, bool up)
{
	unsigned int n = (unsigned int)atoi(where);
	ftr_sw s = fake_leaf(h, n / 10);
	ftr_port p = fake_uplink(h, s, n % 10);

	if (world.changes == CHANGES)
		abort();
	changed[world.changes].end[0] = s;
	changed[world.changes].end[1] = ftr_fabric_port(h->fab, s, p)->peer;
	changed[world.changes++].heard = false;
	fake_link_quietly(h, s, p, up);
	h->sw[s].unheard = h->sw[ftr_fabric_port(h->fab, s, p)->peer].unheard = true;
	unheard_is_fine = false;
	nudges = 0;
}

/* The next event of the script.  Returns true if a link has changed. */
static bool do_script(struct fake *h)
{
	const char *at = world.next;
	bool link = strchr("-+=", *at);

	do
		world.next++;
	while (*world.next && !strchr("-+=SRHXCPW", *world.next));
	say("script: %.*s", (int)(world.next - at), at);
	world.last = fake_time();
	switch (*at) {
	case '-':
	case '=':
		set_link(h, at + 1, false);
		if (*at == '-')
			break;
		__attribute__((fallthrough));
	case '+':
		set_link(h, at + 1, true);
		break;
	case 'S':
		h->osm->subn.force_heavy_sweep = TRUE;
		break;
	case 'R':
		reroute = true;
		break;
	case 'W':
		resume = world.last = fake_time() + atoi(at + 1) * 60e3;
		__attribute__((fallthrough));
	case 'H':
		fiber_go(ADMIN);
		break;
	default:
		want = *at == 'X' ? RESTART : *at == 'C' ? CRASH : POWER;
		fiber_go(MAIN);
	}
	return link;
}

static void nudge(struct fake *h)
{
	if (++nudges > 3)
		violated("OpenSM has swept three times, and traps still cannot reach it");
	unheard_is_fine = nudges == 3;
	world.missed = false;
	troubles += 2;
	world.changes = 0;
	h->osm->subn.force_heavy_sweep = TRUE;
}

static bool is_late(struct fake *h, uint64_t id)
{
	struct fake_held p[HELD];

	for (unsigned int i = 0, n = fake_held(h, p, HELD); i < n; i++)
		if (p[i].id == id)
			return p[i].late;
	return false;
}

static void say_packet(struct fake *h, const struct action *a)
{
	struct fake_held p[HELD];
	unsigned int n = said() ? fake_held(h, p, HELD) : 0;

	for (unsigned int i = 0; i < n; i++)
		if (p[i].id == a->id)
			say("%s of %s, %s %u at %s%s", p[i].answer ? "answer" : "request",
			    p[i].p.plugin ? "the plugin" : "OpenSM", p[i].p.set ? "Set" : "Get",
			    p[i].p.mod, p[i].p.to == FTR_SW_NONE ? "a dead link" :
			    h->fab->sw[p[i].p.to].name, a->what == LOSE ? " is lost" : p[i].late ? " (late)" : "");
}

/* Returns true if the state of a link may have changed. */
static bool perform(struct fake *h, const struct action *a)
{
	/* packets and traps have effects only on those who receive them; a sweep that goes on, only
	 * through locks, unless it sets links Active */
	if (strchr((const char[]){ TIME + 1, SCRIPT + 1, NUDGE + 1, LATER + 1, STALL + 1, 0 },
		   (int)a->what + 1) || (a->what == SWEEP_GOES_ON && moment == FAKE_LINKS))
		barrier(a->what, a->hash);
	switch (a->what) {
	case PACKET:
		/* only a sweep corrects what a late packet has written */
		world.missed |= world.s->alone && is_late(h, a->id);
		say_packet(h, a);
		fake_held_go(h, a->id);
		break;
	case LOSE:
		troubles++;
		say_packet(h, a);
		fake_held_lose(h, a->id);
		break;
	case SWEEP_GOES_ON:
		say("the sweep goes on after moment %u", moment);
		fiber_go(MOMENT);
		break;
	case TRAP:
		h->sw[a->id].unheard = false;
		hear((ftr_sw)a->id);
		fiber_follow(fiber_mix(h->links_past, a->id));
		fake_trap(h, (ftr_sw)a->id, SM_LINK_STATE_CHANGED_TRAP);
		say("trap of %s", h->fab->sw[a->id].name);
		break;
	case TRAP_LOST:
		say("the trap of %s is lost", h->fab->sw[a->id].name);
		h->sw[a->id].unheard = false;
		world.missed = true;
		break;
	case SWEEP:
		say("a sweep begins");
		fiber_go(SWEEPER);
		break;
	case COMES_BACK:
		say("this manager is master again");
		fiber_go(AWAY);
		break;
	case TIME:
	case LATER:
		troubles += a->what == LATER;
		/* a sweep that stands still may do so for hours */
		world.last += a->what == LATER ? fiber_next_timeout() : 0;
		say("time passes: %.3f ms", fiber_next_timeout());
		fiber_let_time_pass();
		break;
	case STALL:
		say("the worker stands still");
		stalled = true;
		fiber_freeze(h->fast->thread, fake_time() + STALL_MS);
		break;
	case SCRIPT:
		return do_script(h);
	case NUDGE:
		say("OpenSM sweeps because time has passed");
		nudge(h);
	}
	return false;
}

static uint64_t seen_tables;

/* Judge the tables if they, or links, have changed.  *links: the links have changed. */
static void look(bool by_script)
{
	static uint64_t links;
	const struct fake *h = world.h;
	uint64_t now = judge_hash(), l = fake_hash(1, h->link, h->fab->n_ports);

	if (now == seen_tables)
		return;
	seen_tables = now;
	/* a sweep has set links Active that came up when the plugin was last idle, or before; the fast path
	 * begins to use them */
	if (!by_script && l != links && !world.changes) {
		memset(&changed[0], 0, sizeof(changed[0]));
		changed[world.changes++].heard = true;
	}
	judge_tables(by_script || l != links);
	links = l;
}

static void step(void)
{
	struct fake *h = world.h;
	struct list l;
	unsigned int usual;

	look(false);
	check_pushing(h);
	if (h->plugin && !osm_exit_flag && !world.wild &&
	    h->osm->subn.sm_state == IB_SMINFO_STATE_MASTER)
		judge_worker(all_heard() && !world.missed && troubles < 2 && !h->posted &&
			     (world.s->list || count_changed() < 3));
	if (h->plugin && is_quiet(h)) {
		fake_lose_late(h);
		/* only a sweep repeats probes and writes that were not acknowledged, or finds a path that
		 * needs another order of the switches */
		world.missed |= world.s->alone && h->fast &&
			((troubles > 1 && !nudges) || judge_unsure() ||
			 h->fast->rr.view->incr->now.bad_pairs);
		if (all_heard() && !world.missed) {
			judge_idle();
			troubles = 0;
			world.changes = 0;
		}
		forget_past(hash_idle(h));
		if (!*world.next && !world.missed && !some_unheard(h) && !fake_marked(h)) {
			want = THE_END;
			fiber_go(MAIN);
			return;
		}
	}
	if (fake_time() > world.last + REST_MS)
		violated("it does not come to rest within %.0f s", REST_MS / 1e3);
	usual = list_events(h, &l);
	if (!l.n)
		violated("nothing can happen any more, but work is left");
	usual = choose(l.n, usual, key_of(h, &l));
	look(perform(h, &l.a[usual]));
}

/* Another thread runs first. */
static unsigned int order(unsigned int n)
{
	unsigned int i = rare_left() ? choose(n, 1, 0) : 0;

	if (i) {
		say("thread %u of %u runs first", i, n);
		barrier(100, i);
	}
	return i;
}

void world_run(const struct scenario *s)
{
	struct fake *h;

	world.h = h = fake_new(&(struct fake_opts){
		.engine = s->engine, .pgft = s->pgft, .no_sweep_on_trap = s->alone,
		.options = "fast_window 3\nfast_sweep_delay_ms 5\n",
	});
	disk_start(h->dir);
	world.s = s;
	world.next = s->script;
	world.last = fake_time();
	h->moment = at_moment;
	h->cause = fiber_cause;
	h->follow = fiber_follow;
	ignore_locks(h);
	fiber_keep(fake_wire_thread(h));
	fake_control(h, true);
	start_threads(h);
	look(true);
	while (want != THE_END) {
		fiber_control(step, order);
		fiber_park(MAIN);
		if (want == THE_END)
			break;
		say("restart, %u", want);
		if (want == POWER)
			disk_power_failure();
		if (want != RESTART)
			disk_check();
		world_restart(want != RESTART);
		start_threads(h);
		world.last = fake_time();
	}
	judge_end();
	run_ends();
}
