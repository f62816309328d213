// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the routing functions of Sem-Jacobsen et al. without traffic: follows single packets, and
 * looks for cycles of channel dependencies.
 *
 *	static connected SHAPE MOST SETS
 *
 * Sem-Jacobsen et al. 2011, figure 11.  Draws SETS random sets of link faults; the faults of
 * a set occur one after the other.  For each number of faults, 1 to MOST, prints one line of
 * CSV: the percentage of the sets with which all hosts reach all hosts.  The columns differ in
 * how packets are routed: det-links by R_deterministic, reconfiguration by up/down routing of
 * the damaged tree, links by any path over live links.
 *
 *	static deadlock FUNCTION KIND SHAPE FAULTS SETS RULE
 *
 * Theorem 2 of Sem-Jacobsen et al. 2006 (misroute) and theorem 5 of Sem-Jacobsen et al. 2011
 * (adaptive-links, adaptive-switches): is there a connected routing subfunction R' whose
 * extended channel dependency graph has no cycle?  If SETS is 0, all sets of FAULTS faults are
 * tried, otherwise SETS random sets, in which a fault can be drawn twice.  KIND is the kind of
 * faults: links, switches (without hosts) or mixed.
 *
 * R is the function of tests/seeds/models.  All states of packets under R are visited, from a host
 * of every leaf switch to a host of every other leaf switch.  If the vector of tried ports is
 * stored in a switch, the marks of other packets are ignored, as if they had expired.  A vector in
 * the packet is used as it is.
 *
 * A U-turn switch is a switch in which R turns a packet.  T(s) is a top switch above s whose
 * subtree has no fault above the tier of s.  If there are several such top switches, one is
 * chosen at random, because the papers leave the choice open.
 *
 * R' supplies the same channels as R, except in some switches.  There, of the upward channels of R,
 * it supplies only those that lead towards T(s).  RULE selects these switches:
 *
 *	turn	(2006) the U-turn switches
 *	own	(2011) for each U-turn switch s, the switches of the subtree of T(s) at or above
 *		the tier of s; if a switch belongs to several s, the lowest s counts
 *	common	like own, but switches of one tier that reach the same top switches have the
 *		same T
 *	careful	like own, but T(s) must not be above a switch from which packets come down
 *		to s and are turned upward by s; up to 100 choices of T(s) are tried
 *
 * The vertices of the graph are the output queues that R' supplies.  There is an arc from
 * queue a to queue b if R can put a packet into queue a, and R' can then route it to queue b.
 *
 * Prints one line of CSV: the number of sets, and then the numbers of sets in which
 * - a packet can be discarded;
 * - a U-turn switch has no T;
 * - R' gives a packet none of the channels of R;
 * - the graph has a cycle.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "models/tiers.h"
#include <ftr/ftr.h>

static struct ftr_err err;
static struct ftr_fabric *f;
static struct ftr_shape *sh;
static struct ftr_tables *t;
static const struct ftr_sim_function *fn;
static struct ftr_sim_view v;
static struct tiers *tiers;
static const void *ranks;
static uint8_t *up;		/* [n_ports] 1: the link is live */
static struct ftr_rng rng;

static void must(enum ftr_status st)
{
	if (!st)
		return;
	fprintf(stderr, "static: %s\n", err.msg);
	exit(2);
}

static void *array(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		exit(2);
	return p;
}

/* ---- faults ---------------------------------------------------------------- */

struct fault {
	ftr_sw s;
	ftr_port p;		/* 0: the whole switch */
};

static struct fault *fault;
static uint32_t n_faults, n_links;

static void list_faults(void)
{
	fault = array(f->n_sw_links + f->n_sw, sizeof(*fault));
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *q =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (q->peer_kind == FTR_PEER_SW && q->peer > s)
				fault[n_links++] =
					(struct fault){ s, (ftr_port)p };
		}
	n_faults = n_links;
	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (sh->tree.rank[s])
			fault[n_faults++] = (struct fault){ s, 0 };
}

static void cut(ftr_sw s, ftr_port p)
{
	const struct ftr_swport *q = ftr_fabric_port(f, s, p);

	up[f->sw[s].first_port + p] = 0;
	if (q->peer_kind == FTR_PEER_SW)
		up[f->sw[q->peer].first_port + q->peer_port] = 0;
}

static void suffer(const struct fault *x)
{
	if (x->p)
		cut(x->s, x->p);
	for (unsigned int p = 1; !x->p && p <= f->sw[x->s].n_ports; p++)
		cut(x->s, (ftr_port)p);
}

static void repair_all(void)
{
	for (uint32_t i = 0; i < f->n_ports; i++)
		up[i] = f->ports[i].peer_kind != FTR_PEER_NONE;
}

static void grow(const char *shape, const char *function)
{
	void *state = NULL;
	struct ftr_pgft g;

	must(ftr_pgft_parse(shape, &g, &err));
	must(ftr_gen_pgft(&g, NULL, &f, &err));
	must(ftr_shape_new(f, NULL, NULL, &sh, &err));
	must(ftr_tables_new(f, false, &t, &err));
	must(ftr_engine_find("dmodc")->route(sh, NULL, NULL, t, NULL, &err));
	ranks = sh->tree.rank;
	up = array(f->n_ports, 1);
	v = (struct ftr_sim_view){ .f = f, .t = t, .up = up, .n_vls = 3,
				   .arg = &ranks };
	fn = model_find(function);
	if (!fn || !fn->tiers) {
		fprintf(stderr, "static: unknown function '%s'\n", function);
		exit(2);
	}
	must(fn->start(&v, &state, &err));
	tiers = state;
	list_faults();
	ftr_rng_seed(&rng, 1);
}

/* ---- figure 11 --------------------------------------------------------------- */

/* Returns true if R_deterministic delivers a packet from `from` to `to`. */
static bool arrives(ftr_ep from, ftr_ep to)
{
	struct ftr_sim_packet p = { .source = from, .dlid = f->ep[to].lid };
	struct ftr_sim_arrival a = {
		.sw = f->ep[from].sw, .in = f->ep[from].sw_port, .p = &p,
	};

	for (unsigned int hops = 0; hops < FTR_SIM_HOPS_MAX; hops++) {
		const struct ftr_swport *q;

		if (!fn->route(tiers, &v, &a))
			return false;
		q = ftr_fabric_port(f, a.sw, a.exit[0].port);
		if (q->peer_kind == FTR_PEER_EP)
			return q->peer == to;
		a.sw = q->peer;
		a.in = q->peer_port;
		a.vl = a.exit[0].vl;
	}
	return false;
}

static bool all_arrive(void)
{
	for (ftr_ep a = 0; a < f->n_ep; a++)
		for (ftr_ep b = 0; b < f->n_ep; b++)
			if (a != b && !arrives(a, b))
				return false;
	return true;
}

static bool alive(void *ctx, const struct ftr_fabric *of, ftr_sw s, ftr_port p)
{
	(void)ctx;
	return up[of->sw[s].first_port + p];
}

/* Sets *updown to whether up/down paths connect all hosts, and *joined to whether links do. */
static void reconfigure(bool *updown, bool *joined)
{
	struct ftr_filter keep = { .keep_link = alive };
	uint32_t *uf = array(f->n_sw, sizeof(*uf));
	struct ftr_fabric *left;
	struct ftr_shape *s;
	struct ftr_validity valid;

	must(ftr_fabric_copy_if(f, &keep, &left, &err));
	must(ftr_shape_new(left, NULL, NULL, &s, &err));
	ftr_shape_validity(s, &valid);
	*updown = valid.bad_host_pairs == 0;
	ftr_uf_init(uf, f->n_sw);
	for (uint32_t i = 0; i < n_links; i++)
		if (up[f->sw[fault[i].s].first_port + fault[i].p])
			ftr_uf_union(uf, fault[i].s,
				     ftr_fabric_port(f, fault[i].s,
						     fault[i].p)->peer);
	*joined = true;
	for (ftr_ep e = 1; e < f->n_ep; e++)
		*joined &= ftr_uf_find(uf, f->ep[e].sw) ==
			   ftr_uf_find(uf, f->ep[0].sw);
	free(uf);
	ftr_shape_free(s);
	ftr_fabric_free(left);
}

static void connected(unsigned int most, uint32_t sets)
{
	uint32_t (*n)[3] = array(most + 1, sizeof(*n));
	uint32_t *perm = array(n_links, sizeof(*perm));

	for (uint32_t i = 0; i < sets; i++) {
		repair_all();
		ftr_rng_perm(&rng, perm, n_links);
		for (unsigned int k = 1; k <= most; k++) {
			bool updown, joined;

			suffer(&fault[perm[k - 1]]);
			reconfigure(&updown, &joined);
			n[k][0] += all_arrive();
			n[k][1] += updown;
			n[k][2] += joined;
		}
	}
	printf("faults,det-links,reconfiguration,links\n");
	for (unsigned int k = 1; k <= most; k++)
		printf("%u,%.4g,%.4g,%.4g\n", k, 100.0 * n[k][0] / sets,
		       100.0 * n[k][1] / sets, 100.0 * n[k][2] / sets);
	free(perm);
	free(n);
}

/* ---- states of packets --------------------------------------------------------- */

/* A packet for a host of leaf `to`, with header `field` and `vector`.  It is in the queue of
 * channel `at` (index of the sending port), or in a host of `from` if `at` is NONE. */
struct state {
	uint32_t at;
	ftr_sw from, to;
	uint16_t field;
	uint64_t vector;
};
#define NONE UINT32_MAX

static struct state *state;
static uint32_t n_states, room;
static uint32_t *table, table_size;	/* hash table of state[]: index + 1, or 0 */

static bool same(const struct state *a, const struct state *b)
{
	return a->at == b->at && a->from == b->from && a->to == b->to &&
	       a->field == b->field && a->vector == b->vector;
}

static void visit(struct state x)
{
	uint64_t h = ftr_mix(((uint64_t)x.at << 32 | x.to) ^
			     ftr_mix(x.vector << 16 | x.field) ^ x.from);
	uint32_t i = (uint32_t)h & (table_size - 1);

	for (; table[i]; i = (i + 1) & (table_size - 1))
		if (same(&state[table[i] - 1], &x))
			return;
	if (n_states == room) {
		fprintf(stderr, "static: too many states\n");
		exit(2);
	}
	state[n_states++] = x;
	table[i] = n_states;
}

static ftr_ep host_of(ftr_sw s)
{
	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw == s)
			return e;
	return FTR_EP_NONE;
}

/* Returns the switch that the packet is in; sets *in to the port by which it has entered. */
static ftr_sw place(const struct state *x, ftr_port *in)
{
	const struct ftr_swport *q;

	if (x->at == NONE) {
		*in = f->ep[host_of(x->from)].sw_port;
		return x->from;
	}
	q = &f->ports[x->at];
	*in = q->peer_port;
	return q->peer;
}

/* Fill a->exit with the exits that R supplies in state x, and return their number.  Sets *p to the
 * packet, and the other members of *a to the place that it has reached. */
static unsigned int exits(const struct state *x, struct ftr_sim_packet *p,
			  struct ftr_sim_arrival *a)
{
	a->sw = place(x, &a->in);
	a->vl = 0;
	a->p = p;
	*p = (struct ftr_sim_packet){
		.dlid = f->ep[host_of(x->to)].lid, .field = x->field,
		.vector = x->vector,
	};
	v.now += FTR_SIM_MS;	/* the marks in switches have expired by then */
	return fn->route(tiers, &v, a);
}

static bool leads_up(ftr_sw s, ftr_port p)
{
	return tiers->side[f->sw[s].first_port + p] == SIDE_ABOVE;
}

static uint64_t *turns;		/* [n_sw] bit i: packets from upward port i are turned */

/* Visit all states of packets under R.  Returns false if a packet can be discarded. */
static bool explore(void)
{
	bool kept = true;

	memset(table, 0, table_size * sizeof(*table));
	memset(turns, 0, f->n_sw * sizeof(*turns));
	n_states = 0;
	for (ftr_sw a = 0; a < f->n_sw; a++)
		for (ftr_sw b = 0; b < f->n_sw; b++)
			if (!sh->tree.rank[a] && !sh->tree.rank[b] && a != b)
				visit((struct state){ NONE, a, b, 0, 0 });
	for (uint32_t i = 0; i < n_states; i++) {
		struct ftr_sim_arrival a;
		struct ftr_sim_packet p;
		unsigned int n = exits(&state[i], &p, &a);
		ftr_sw s = a.sw;

		kept &= n > 0;
		for (unsigned int k = 0; k < n; k++) {
			uint32_t c = f->sw[s].first_port + a.exit[k].port;

			if (f->ports[c].peer_kind != FTR_PEER_SW)
				continue;
			if (leads_up(s, a.exit[k].port) && leads_up(s, a.in))
				turns[s] |= UINT64_C(1) <<
					tiers_place(tiers, s, a.in);
			visit((struct state){ c, FTR_SW_NONE, state[i].to,
					      p.field, p.vector });
		}
	}
	return kept;
}

/* ---- the subfunction --------------------------------------------------------------- */

static uint8_t *under;		/* [t * n_sw + u] 1: u is in the subtree of top switch t */
static ftr_sw *chosen;		/* [n_sw] T(s) for U-turn switch s */
static uint8_t *sound;		/* [n_sw] for a top switch: highest rank below it with a dead
				 * downward link */

static void mark_under(void)
{
	for (ftr_sw top = 0; top < f->n_sw; top++) {
		uint8_t *mine = under + (size_t)top * f->n_sw;

		if (sh->tree.n_up[top])
			continue;
		mine[top] = 1;
		for (unsigned int r = sh->tree.n_ranks; r-- > 0;)
			for (ftr_sw s = 0; s < f->n_sw; s++)
				for (unsigned int p = 1; mine[s] &&
				     sh->tree.rank[s] == r &&
				     p <= f->sw[s].n_ports; p++) {
					const struct ftr_swport *q =
						ftr_fabric_port(f, s,
							(ftr_port)p);

					if (q->peer_kind == FTR_PEER_SW &&
					    sh->tree.rank[q->peer] < r)
						mine[q->peer] = 1;
				}
	}
}

/* Compute sound[].  Links below a switch of rank r belong to tier r - 1. */
static void find_sound(void)
{
	for (ftr_sw top = 0; top < f->n_sw; top++) {
		const uint8_t *mine = under + (size_t)top * f->n_sw;

		sound[top] = 0;
		for (ftr_sw s = 0; s < f->n_sw; s++)
			for (unsigned int p = 1; mine[s] &&
			     p <= f->sw[s].n_ports; p++)
				if (tiers->side[f->sw[s].first_port + p] ==
				    SIDE_BELOW &&
				    !tiers_works(&v, s, (ftr_port)p))
					sound[top] = FTR_MAX(sound[top],
							     sh->tree.rank[s]);
	}
}

/* Returns the first switch in the tier of s that reaches the same top switches as s. */
static ftr_sw leader(ftr_sw s)
{
	for (ftr_sw u = 0; u < s; u++) {
		bool alike = sh->tree.rank[u] == sh->tree.rank[s];

		for (ftr_sw top = 0; alike && top < f->n_sw; top++)
			alike = under[(size_t)top * f->n_sw + u] ==
				under[(size_t)top * f->n_sw + s];
		if (alike)
			return u;
	}
	return s;
}

/* Returns true if `top` is above a switch from which packets come down to s and are turned upward
 * by s. */
static bool behind_turn(ftr_sw s, ftr_sw top)
{
	for (uint32_t i = 0; i < tiers->n_up[s]; i++)
		if (turns[s] >> i & 1 &&
		    under[(size_t)top * f->n_sw +
			  ftr_fabric_port(f, s, tiers->port[tiers->first[s] +
							    i])->peer])
			return true;
	return false;
}

static bool choose(bool common, bool careful)
{
	bool all = true;

	find_sound();
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		uint32_t n = 0;

		chosen[s] = FTR_SW_NONE;
		if (!turns[s] && !common)
			continue;
		if (common && leader(s) != s) {
			chosen[s] = chosen[leader(s)];
			continue;
		}
		for (ftr_sw top = 0; top < f->n_sw; top++)
			if (!sh->tree.n_up[top] && top != s &&
			    under[(size_t)top * f->n_sw + s] &&
			    sound[top] <= sh->tree.rank[s] &&
			    !(careful && behind_turn(s, top)) &&
			    !ftr_rng_below(&rng, ++n))
				chosen[s] = top;
	}
	for (ftr_sw s = 0; s < f->n_sw; s++)
		all &= !turns[s] || chosen[s] != FTR_SW_NONE;
	return all;
}

/* Returns the top switch to which upward paths out of s must lead, or FTR_SW_NONE if they may lead
 * to any top switch. */
static ftr_sw bound_for(ftr_sw s, bool by_turn, bool turning)
{
	ftr_sw lowest = FTR_SW_NONE;

	if (by_turn)
		return turning ? chosen[s] : FTR_SW_NONE;
	for (ftr_sw u = 0; u < f->n_sw; u++)
		if (turns[u] && chosen[u] != FTR_SW_NONE &&
		    sh->tree.rank[u] <= sh->tree.rank[s] &&
		    under[(size_t)chosen[u] * f->n_sw + s] &&
		    (lowest == FTR_SW_NONE ||
		     sh->tree.rank[u] < sh->tree.rank[lowest]))
			lowest = u;
	return lowest == FTR_SW_NONE ? FTR_SW_NONE : chosen[lowest];
}

/* ---- the graph ------------------------------------------------------------------------ */

static uint8_t *arc;		/* [n_ports][width] 1: arc to this port of the next switch */
static uint8_t *supplied;	/* [n_ports] 1: R' supplies the channel */
static uint32_t width;

/* Build the arcs of all states.  Returns false if R' gives some packet no channel. */
static bool connect(bool by_turn)
{
	bool all = true;

	memset(arc, 0, (size_t)f->n_ports * width);
	memset(supplied, 0, f->n_ports);
	for (uint32_t i = 0; i < n_states; i++) {
		struct ftr_sim_arrival a;
		struct ftr_sim_packet p;
		unsigned int n = exits(&state[i], &p, &a), given = 0;
		const struct ftr_sim_exit *e = a.exit;
		ftr_sw s = a.sw, top = FTR_SW_NONE;

		if (n && leads_up(s, e[0].port))
			top = bound_for(s, by_turn, leads_up(s, a.in));
		for (unsigned int k = 0; k < n; k++) {
			const struct ftr_swport *q =
				ftr_fabric_port(f, s, e[k].port);

			if (top != FTR_SW_NONE && !under[(size_t)top * f->n_sw +
							 q->peer])
				continue;
			given++;
			if (q->peer_kind != FTR_PEER_SW)
				continue;
			supplied[f->sw[s].first_port + e[k].port] = 1;
			if (state[i].at != NONE)
				arc[(size_t)state[i].at * width +
				    e[k].port] = 1;
		}
		all &= given > 0;
	}
	return all;
}

/* Remove vertices without predecessors.  Returns true if a cycle is left. */
static bool cyclic(void)
{
	uint32_t *in = array(f->n_ports, sizeof(*in));
	uint32_t *todo = array(f->n_ports, sizeof(*todo));
	uint32_t n = 0, done = 0, all = 0;

	for (int pass = 0; pass < 2; pass++)
		for (uint32_t a = 0; a < f->n_ports; a++) {
			if (!supplied[a])
				continue;
			if (pass && !in[a])
				todo[n++] = a;
			all += pass;
			for (uint32_t k = 0; !pass && k < width; k++)
				in[f->sw[f->ports[a].peer].first_port + k] +=
					arc[(size_t)a * width + k];
		}
	while (done < n) {
		uint32_t a = todo[done++];
		uint32_t first = f->sw[f->ports[a].peer].first_port;

		for (uint32_t k = 0; k < width; k++)
			if (arc[(size_t)a * width + k] && !--in[first + k])
				todo[n++] = first + k;
	}
	free(in);
	free(todo);
	return n < all;
}

struct count {
	uint32_t sets, discarded, no_tree, nothing, cycles;
};

#define TRIES 100		/* number of choices of T(s) under the rule "careful" */

static void one_set(const uint32_t *set, unsigned int n, const char *rule,
		    struct count *c)
{
	bool careful = !strcmp(rule, "careful"), good = false;
	bool tree = false, given = false, cycle = false;
	unsigned int tries = careful ? TRIES : 1;

	repair_all();
	for (unsigned int i = 0; i < n; i++)
		suffer(&fault[set[i]]);
	c->sets++;
	c->discarded += !explore();
	for (unsigned int i = 0; i < tries && !good; i++) {
		tree = choose(!strcmp(rule, "common"), careful);
		given = connect(!strcmp(rule, "turn"));
		cycle = cyclic();
		good = tree && given && !cycle;
	}
	c->no_tree += !tree;
	c->nothing += !given;
	c->cycles += cycle;
}

static void all_sets(uint32_t *set, unsigned int n, unsigned int at,
		     uint32_t first, uint32_t end, const char *rule,
		     struct count *c)
{
	if (at == n) {
		one_set(set, n, rule, c);
		return;
	}
	for (set[at] = first; set[at] < end; set[at]++)
		all_sets(set, n, at + 1, set[at] + 1, end, rule, c);
}

static void deadlock(const char *kind, unsigned int n, uint32_t sets,
		     const char *rule)
{
	uint32_t set[8], first = strcmp(kind, "switches") ? 0 : n_links;
	uint32_t end = strcmp(kind, "links") ? n_faults : n_links;
	struct count c = { 0 };

	for (ftr_sw s = 0; s < f->n_sw; s++)
		width = FTR_MAX(width, f->sw[s].n_ports + 1u);
	room = 1u << 22;
	table_size = room * 2;
	state = array(room, sizeof(*state));
	table = array(table_size, sizeof(*table));
	turns = array(f->n_sw, sizeof(*turns));
	sound = array(f->n_sw, 1);
	chosen = array(f->n_sw, sizeof(*chosen));
	under = array((size_t)f->n_sw * f->n_sw, 1);
	supplied = array(f->n_ports, 1);
	arc = array(f->n_ports, width);
	mark_under();
	for (uint32_t i = 0; i < sets; i++) {
		for (unsigned int k = 0; k < n; k++)
			set[k] = first + ftr_rng_below(&rng, end - first);
		one_set(set, n, rule, &c);
	}
	if (!sets)
		all_sets(set, n, 0, first, end, rule, &c);
	printf("%u,%u,%u,%u,%u\n", c.sets, c.discarded, c.no_tree, c.nothing,
	       c.cycles);
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "connected")) {
		grow(argv[2], "det-links");
		connected((unsigned int)atoi(argv[3]),
			  (uint32_t)atoi(argv[4]));
	} else if (argc == 8 && !strcmp(argv[1], "deadlock") &&
		   atoi(argv[5]) <= 8) {
		grow(argv[4], argv[2]);
		deadlock(argv[3], (unsigned int)atoi(argv[5]),
			 (uint32_t)atoi(argv[6]), argv[7]);
	} else {
		fprintf(stderr, "usage: static connected SHAPE MOST SETS\n"
			"       static deadlock FUNCTION KIND SHAPE FAULTS SETS turn|own|common|careful\n");
		return 2;
	}
	return 0;
}
