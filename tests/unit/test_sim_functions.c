// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the routing functions of Sem-Jacobsen et al. 2006 and 2011: the examples of the papers, and
 * the properties proved there, on k-ary n-trees with all or many sets of faults.
 *
 * Terms of the papers: a tier is a rank.  A packet makes a U-turn if it comes down to a switch and
 * goes up again.  D is the list of a switch's upward ports (tests/seeds/models/tiers.h).  NL is the normal
 * virtual layer, VL 0; ML or ML1 is VL 1, and ML2 is VL 2 (tests/seeds/models/det.c).  R_det is
 * deterministic rerouting.
 */
#include "models/tiers.h"
#include "lib/suite.h"
#include "unit/walk.h"

/* Sem-Jacobsen et al. 2011, Lemma 2 and section VI.C; 2006, Lemma 1.  With up to k - 1 dead links
 * in a k-ary n-tree all packets arrive.  With R_det the dependencies have no cycle. */
START_TEST(links_small)
{
	struct world w;
	struct link *c;
	uint32_t n;

	world_new(&w, _i & 1 ? "kary:2,3" : "kary:2,4");
	c = links(&w, &n);
	w.random = true;
	for (uint32_t i = 0; i < n; i++) {
		repair(&w);
		cut(&w, c[i].s, c[i].p);
		use(&w, link_functions[_i / 2]);
		connected(&w, "one dead link");
	}
	free(c);
	world_free(&w);
}
END_TEST

START_TEST(links_pairs)
{
	struct world w;
	struct link *c;
	uint32_t n;

	world_new(&w, "kary:3,3");
	c = links(&w, &n);
	w.random = true;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i + 1; j < n; j++) {
			repair(&w);
			cut(&w, c[i].s, c[i].p);
			cut(&w, c[j].s, c[j].p);
			use(&w, link_functions[_i]);
			connected(&w, "two dead links");
		}
	free(c);
	world_free(&w);
}
END_TEST

START_TEST(links_triples)
{
	struct world w;
	struct link *c;
	uint32_t n, x;

	world_new(&w, "kary:4,3");
	c = links(&w, &n);
	w.random = true;
	for (int i = 0; i < 150; i++) {
		repair(&w);
		/* in every second run the three links are near each other */
		x = ftr_rng_below(&w.rng, n - 8);
		for (int j = 0; j < 3; j++) {
			uint32_t y = i & 1 ? x + ftr_rng_below(&w.rng, 8) :
				     ftr_rng_below(&w.rng, n);

			cut(&w, c[y].s, c[y].p);
		}
		use(&w, link_functions[_i]);
		connected(&w, "three dead links");
	}
	free(c);
	world_free(&w);
}
END_TEST

/* Sem-Jacobsen et al. 2011, Lemma 4: all packets arrive, even with up to k - 1 dead switches above
 * the lowest tier. */
START_TEST(switches)
{
	static const char *const shape[] = { "kary:2,3", "kary:2,4", "kary:3,3",
					     "kary:2,5" };
	struct world w;

	world_new(&w, shape[_i / 2]);
	w.random = true;
	for (ftr_sw a = 0; a < w.f->n_sw; a++)
		for (ftr_sw b = a; b < w.f->n_sw; b++) {
			bool two = w.sh->tree.n_up[0] > 2;

			if (!w.sh->tree.rank[a] || !w.sh->tree.rank[b] ||
			    (!two && a != b))
				continue;
			repair(&w);
			kill_switch(&w, a);
			kill_switch(&w, b);
			use(&w, link_functions[3 + (_i & 1)]);
			connected(&w, a == b ? "a dead switch" :
				  "two dead switches");
		}
	world_free(&w);
}
END_TEST

/* ---- the examples of the papers ------------------------------------------------- */

/* Find two hosts whose path uses a top switch.  *k is the walk between them without faults. */
static void top_pair(struct world *w, ftr_ep *from, ftr_ep *to, struct walk *k)
{
	*from = 0;
	for (*to = w->f->n_ep - 1; ; (*to)--) {
		repair(w);
		walk(w, *from, *to, k);
		if (k->n == 2 * w->sh->tree.n_ranks - 1u)
			return;
	}
}

static ftr_port port_to(const struct world *w, ftr_sw a, ftr_sw b)
{
	for (unsigned int p = 1; p <= w->f->sw[a].n_ports; p++) {
		const struct ftr_swport *q = ftr_fabric_port(w->f, a,
							     (ftr_port)p);

		if (q->peer_kind == FTR_PEER_SW && q->peer == b)
			return (ftr_port)p;
	}
	ck_abort_msg("no link between the two switches");
	return 0;
}

static ftr_sw above(const struct world *w, ftr_sw s, unsigned int i)
{
	const struct tiers *t = w->state;

	return ftr_fabric_port(w->f, s, t->port[t->first[s] + i])->peer;
}

/* Sem-Jacobsen et al. 2011, figure 2: k = 4.  Without faults the path goes up from b to the top
 * switch c, and down to s.  Now c and the first other switch above b have lost their links to s, so
 * b turns the packet twice. */
START_TEST(figure_2)
{
	struct world w;
	struct walk k;
	ftr_ep from, to;
	ftr_sw b, c, s, u[4];
	unsigned int i = 0, n = 0, at;

	world_new(&w, "kary:4,3");
	repair(&w);
	use(&w, "det-links");
	top_pair(&w, &from, &to, &k);
	b = k.at[1];
	c = k.at[2];
	s = k.at[3];
	for (unsigned int j = 0; j < 4; j++)
		if (above(&w, b, j) != c)
			u[n++] = above(&w, b, j);
	ck_assert_uint_eq(n, 3);
	cut(&w, c, port_to(&w, c, s));
	cut(&w, u[0], port_to(&w, u[0], s));
	walk(&w, from, to, &k);
	ck_assert_uint_ne(k.n, LOST);
	/* the packet goes up to c in NL, and back to b in NL */
	ck_assert_uint_eq(k.at[2], c);
	ck_assert_uint_eq(k.vl[1], 0);
	ck_assert_uint_eq(k.at[3], b);
	ck_assert_uint_eq(k.vl[2], 0);
	/* b tries the ports of D in ML, from the first on, until a port leads to s */
	for (at = 3; k.at[at] == b; at += 2, i++) {
		ck_assert_uint_eq(k.at[at + 1], above(&w, b, i));
		ck_assert_uint_eq(k.vl[at], 1);
		ck_assert_uint_eq(k.vl[at + 1], 1);
		ck_assert(k.at[at + 1] == c || k.at[at + 1] == u[0] ||
			  k.at[at + 2] == s);
	}
	/* the packet comes to s in ML and leaves s in NL */
	ck_assert_uint_eq(k.at[at], s);
	ck_assert_uint_eq(k.vl[at], 0);
	ck_assert_uint_eq(k.n, at + 2);
	world_free(&w);
}
END_TEST

/* Figure 3: k = 4, two dead switches of rank 1.  The packet goes two tiers down and two up again,
 * in three layers. */
START_TEST(figure_3)
{
	static const uint8_t rank[] = { 0, 1, 2, 1, 0, 1, 2, 1, 0 };
	struct world w;
	struct walk k;
	ftr_ep from, to;
	ftr_sw s;

	world_new(&w, "kary:4,3");
	repair(&w);
	use(&w, "det-switches");
	top_pair(&w, &from, &to, &k);
	s = k.at[3];
	kill_switch(&w, s);
	walk(&w, from, to, &k);
	ck_assert_uint_ne(k.n, LOST);
	/* The top switch c sends the packet back to m, and m sends it down to b.  From b it goes
	 * up to another switch m' and another top switch c', and then down without passing s. */
	ck_assert_uint_eq(k.n, FTR_ARRAY_LEN(rank));
	for (unsigned int i = 0; i < k.n; i++)
		ck_assert_uint_eq(w.sh->tree.rank[k.at[i]], rank[i]);
	ck_assert_uint_eq(k.at[3], k.at[1]);
	ck_assert_uint_ne(k.at[5], k.at[3]);
	/* the packet leaves c and m in NL (VL 0), b in ML1 (1), m' and c' in ML2 (2), and the next
	 * switch in ML1 */
	ck_assert_uint_eq(k.vl[2], 0);
	ck_assert_uint_eq(k.vl[3], 0);
	ck_assert_uint_eq(k.vl[4], 1);
	ck_assert_uint_eq(k.vl[5], 2);
	ck_assert_uint_eq(k.vl[6], 2);
	ck_assert_uint_eq(k.vl[7], 1);
	ck_assert_uint_eq(k.p.field, 0);

	/* now the packet's new path downward is dead, too: b tries the next port in D */
	kill_switch(&w, k.at[7]);
	walk(&w, from, to, &k);
	ck_assert_uint_ne(k.n, LOST);
	ck_assert_uint_eq(w.sh->tree.rank[k.at[k.n - 1]], 0);
	ck_assert_uint_gt(k.n, FTR_ARRAY_LEN(rank));
	ck_assert(!cyclic(&w));
	world_free(&w);
}
END_TEST

/* Figure 6: k = 4, k - 1 dead links.  Each U-turn marks one more upward port in a vector of bits,
 * and the fourth port works.  The vector is in the switch (2011) or in the packet (Sem-Jacobsen et
 * al. 2006, figure 2 with one fault). */
START_TEST(figure_6)
{
	struct world w;
	struct walk k;
	struct tiers *t;
	ftr_ep from, to;
	ftr_sw b, c, s;
	unsigned int n = 0, turns = 0;

	world_new(&w, "kary:4,3");
	repair(&w);
	use(&w, _i ? "misroute" : "adaptive-links");
	t = w.state;
	top_pair(&w, &from, &to, &k);
	b = k.at[1];
	c = k.at[2];
	s = k.at[3];
	cut(&w, c, port_to(&w, c, s));
	for (unsigned int j = 0; j < 4 && n < 2; j++)
		if (above(&w, b, j) != c) {
			cut(&w, above(&w, b, j),
			    port_to(&w, above(&w, b, j), s));
			n++;
		}
	if (_i) {
		/* step 2 allows any other downward port of c; the walk takes the first */
		walk(&w, from, to, &k);
		b = k.at[3];
	} else {
		walk(&w, from, to, &k);
		ck_assert_uint_eq(k.at[3], b);
		ck_assert_uint_eq((uint64_t)__builtin_popcountll(t->vector[b]),
				  3);
	}
	ck_assert_uint_ne(k.n, LOST);
	for (unsigned int i = 3; i < k.n; i++) {
		if (k.at[i] != b)
			continue;
		turns++;
		if (_i)
			ck_assert_uint_eq((uint64_t)__builtin_popcountll(
						  k.vector[i]), turns);
	}
	/* the first upward port leads to c, so each dead link is tried once */
	ck_assert_uint_eq(turns, 3);
	ck_assert_uint_eq(k.p.vector, 0);
	ck_assert_uint_eq(k.n, 2 + 2 * turns + 3);
	/* with a fourth dead link no port is left to try */
	for (unsigned int j = 0; j < 4; j++)
		if (w.up[w.f->sw[above(&w, b, j)].first_port +
			 port_to(&w, above(&w, b, j), s)])
			cut(&w, above(&w, b, j),
			    port_to(&w, above(&w, b, j), s));
	walk(&w, from, to, &k);
	ck_assert_uint_eq(k.n, LOST);
	world_free(&w);
}
END_TEST

/* Returns the number of ports by which b may forward a packet that comes from above, but not from
 * c. */
static unsigned int turn_exits(struct world *w, ftr_sw b, ftr_sw c, ftr_ep to)
{
	struct ftr_sim_packet p = { .dlid = w->f->ep[to].lid };
	ftr_sw u = above(w, b, above(w, b, 0) == c);
	struct ftr_sim_arrival a = {
		.sw = b, .in = port_to(w, b, u), .p = &p, .why = FTR_SIM_LOST_MISSING,
	};
	unsigned int n = w->fn->route(w->state, &w->v, &a);

	if (!n)
		ck_assert_int_eq(a.why, FTR_SIM_LOST_GIVEN_UP);
	else
		ck_assert_uint_eq(a.exit[0].port, port_to(w, b, c));
	return n;
}

/* The marks in a switch's vector are cleared when no packet has turned for some time.  Until then
 * a marked port is not used, even if it works again. */
START_TEST(timeout)
{
	struct world w;
	struct walk k;
	struct tiers *t;
	ftr_ep from, to;
	ftr_sw b, c, s;

	world_new(&w, "kary:2,3");
	repair(&w);
	use(&w, "adaptive-links");
	t = w.state;
	top_pair(&w, &from, &to, &k);
	b = k.at[1];
	c = k.at[2];
	s = k.at[3];
	cut(&w, c, port_to(&w, c, s));
	w.v.now = FTR_SIM_MS;
	walk(&w, from, to, &k);
	ck_assert_uint_ne(k.n, LOST);
	/* b's port to c is marked; the other switch above b loses its link to s */
	ck_assert_uint_eq((uint64_t)__builtin_popcountll(t->vector[b]), 1);
	repair(&w);
	for (unsigned int i = 0; i < 2; i++)
		if (above(&w, b, i) != c)
			cut(&w, above(&w, b, i),
			    port_to(&w, above(&w, b, i), s));
	ck_assert_uint_eq(turn_exits(&w, b, c, to), 0);
	w.v.now += FTR_SIM_MS;
	ck_assert_uint_eq(turn_exits(&w, b, c, to), 1);
	world_free(&w);
}
END_TEST

/* Figure 7: a packet avoids one dead switch on its upward path and one on its downward path. */
START_TEST(figure_7)
{
	struct world w;
	struct walk k, whole;
	ftr_ep from, to;

	world_new(&w, "kary:2,5");
	repair(&w);
	use(&w, "adaptive-switches");
	top_pair(&w, &from, &to, &whole);
	ck_assert_uint_eq(whole.n, 9);
	/* a path is guaranteed after one fault (k - 1 = 1), but exists after these two, too */
	kill_switch(&w, whole.at[2]);
	walk(&w, from, to, &k);
	ck_assert_uint_eq(k.n, 9);
	kill_switch(&w, k.at[6]);
	walk(&w, from, to, &k);
	ck_assert_uint_ne(k.n, LOST);
	/* the path goes two tiers down and two up again, or more */
	ck_assert_uint_ge(k.n, 13);
	ck_assert_uint_eq(k.p.field, 0);
	world_free(&w);
}
END_TEST

/* Without faults a packet passes the same number of switches as on the path of the tables. */
START_TEST(no_faults)
{
	struct world w;
	struct walk k;

	world_new(&w, "kary:3,3");
	repair(&w);
	use(&w, link_functions[_i]);
	for (ftr_ep a = 0; a < w.f->n_ep; a++)
		for (ftr_ep b = 0; b < w.f->n_ep; b++) {
			walk(&w, a, b, &k);
			ck_assert_uint_eq(k.n, table_switches(&w, a, b));
		}
	world_free(&w);
}
END_TEST

/* ---- step by step ------------------------------------------------------------------- */

/* One step of an algorithm.  A packet arrives at switch s of a 3-ary 3-tree; s is a leaf switch or
 * has rank 1.  `step` is the paper's name for the step that the switch must take. */
struct step {
	const char *step;
	unsigned int rank;
	bool above, below_s;	/* the packet comes from above; its destination is below s */
	bool dead;		/* the downward link to the destination is dead */
	unsigned int vl;
	uint16_t field;		/* port field of the header: 0 and 1 mean the paper's -1 and -2,
				 * 2 a port */
	bool up;		/* expected: all exits lead up */
	bool back;		/* expected: the only exit is the arrival port */
	unsigned int n, out_vl;	/* expected: number of exits, and their VL */
	uint16_t out_field;	/* expected port field; 2: the arrival port */
	unsigned int by;	/* position of the arrival port in D, if above is true */
	unsigned int to;	/* expected: 1 + position of the exit in D; 0: any */
};

/* Sem-Jacobsen et al. 2011, section VII.B. */
static const struct step adaptive_steps[] = {
	{ "1, from below", 1, false, false, false, 0, 0, true, false, 3, 0, 0, 0, 0 },
	{ "3", 1, false, true, false, 0, 1, false, false, 1, 0, 0, 0, 0 },
	{ "2a", 1, true, true, true, 0, 0, false, false, 2, 0, 0, 0, 0 },
	{ "2b", 1, false, true, true, 0, 0, false, true, 1, 0, 0, 0, 0 },
	{ "4a", 1, true, false, false, 0, 0, false, false, 3, 0, 1, 0, 0 },
	{ "4b", 1, true, false, false, 0, 1, true, false, 2, 0, 1, 0, 0 },
	{ "4c", 0, true, false, false, 0, 1, true, false, 2, 0, 1, 0, 0 },
	{ "4d", 1, true, false, false, 0, 2, false, false, 1, 0, 1, 0, 0 },
	{ "6", 1, false, false, false, 0, 1, true, false, 3, 0, 2, 0, 0 },
};

/* Section VI.B of the same paper.  VL 0 is NL, 1 is ML1, 2 is ML2. */
static const struct step det_steps[] = {
	{ "1", 1, false, false, false, 0, 0, true, false, 1, 0, 0, 0, 0 },
	{ "2a", 1, false, true, false, 2, 1, false, false, 1, 2, 0, 0, 0 },
	{ "2b", 1, true, true, false, 2, 1, false, false, 1, 1, 0, 0, 0 },
	{ "2c", 1, true, true, false, 1, 1, false, false, 1, 0, 0, 0, 0 },
	{ "2d", 1, true, true, false, 0, 0, false, false, 1, 0, 0, 0, 0 },
	{ "3a i", 1, true, true, true, 2, 0, false, false, 1, 1, 0, 0, 0 },
	{ "3a ii", 1, true, true, true, 1, 0, false, false, 1, 0, 0, 0, 0 },
	{ "3b", 1, false, true, true, 2, 0, false, true, 1, 2, 0, 0, 0 },
	{ "4a", 1, true, false, false, 0, 0, false, false, 1, 0, 1, 0, 0 },
	{ "4b i", 1, true, false, false, 0, 1, true, false, 1, 1, 1, 0, 0 },
	{ "4b ii", 1, true, false, false, 1, 1, true, false, 1, 1, 1, 1, 3 },
	{ "4b, bottom", 0, true, false, false, 0, 0, true, false, 1, 1, 0, 0, 0 },
	{ "4c", 1, true, false, false, 1, 2, false, false, 1, 1, 1, 0, 0 },
	{ "5", 1, false, false, false, 1, 1, true, false, 1, 2, 2, 0, 0 },
};

static void try_step(struct world *w, const struct step *x)
{
	const struct tiers *t;
	struct ftr_sim_packet p = { 0 };
	struct ftr_sim_arrival a = { .p = &p, .vl = x->vl };
	const struct ftr_sim_exit *e = a.exit;
	ftr_sw s = 0;
	ftr_port in, other;
	unsigned int n;

	repair(w);
	use(w, w->fn->name);
	t = w->state;
	while (w->sh->tree.rank[s] != x->rank)
		s++;
	a.sw = s;
	for (ftr_ep h = 0; h < w->f->n_ep; h++) {
		ftr_port out;

		p.dlid = w->f->ep[h].lid;
		if ((tiers_entry(t, &w->v, &a, &out) == SIDE_BELOW) ==
		    x->below_s)
			break;
	}
	other = ftr_tables_get(w->t, s, p.dlid);
	/* the arrival port: upward port x->by, or a downward port that is not the packet's next
	 * hop */
	in = t->port[t->first[s] + (x->above ? x->by : t->n_up[s])];
	if (in == other)
		in = t->port[t->first[s] + (x->above ? 0 : t->n_up[s]) + 1];
	if (x->dead)
		cut(w, s, other);
	/* if the port field names a port, that port leads down to a switch */
	other = x->rank ? t->port[t->first[s] + t->n_up[s] + 1] : 0;
	p.field = (uint16_t)(x->field == 2 ? 2 + other : x->field);
	a.in = in;
	n = w->fn->route(w->state, &w->v, &a);
	ck_assert_msg(n == x->n, "%s, step %s: wrong number of exits: %u", w->fn->name, x->step, n);
	for (unsigned int i = 0; i < n; i++) {
		bool up = t->side[w->f->sw[s].first_port + e[i].port] ==
			  SIDE_ABOVE;

		ck_assert_msg(up == x->up && e[i].vl == x->out_vl &&
			      (e[i].port == in) == x->back,
			      "%s, step %s: wrong exit: port %u (arrived by %u), VL %u",
			      w->fn->name, x->step, e[i].port, in, e[i].vl);
		if (x->field == 2)
			ck_assert_uint_eq(e[i].port, other);
		if (x->to)
			ck_assert_uint_eq(e[i].port, t->port[t->first[s] +
							     x->to - 1]);
	}
	ck_assert_msg(p.field == (x->out_field == 2 ? 2 + in : x->out_field),
		      "%s, step %s: wrong port field: %u", w->fn->name, x->step, p.field);
}

START_TEST(steps)
{
	const struct step *x = _i ? det_steps : adaptive_steps;
	size_t n = _i ? FTR_ARRAY_LEN(det_steps) :
		   FTR_ARRAY_LEN(adaptive_steps);
	struct world w;

	world_new(&w, "kary:3,3");
	w.fn = model_find(_i ? "det-switches" :
				     "adaptive-switches");
	for (size_t i = 0; i < n; i++)
		try_step(&w, &x[i]);
	world_free(&w);
}
END_TEST

/* ---- under load --------------------------------------------------------------------- */

/* Up to k - 1 faults at full load.  Only packets on a failing link or waiting for it are lost, and
 * there is no deadlock.  This test has far fewer samples than the 500 of the papers.  It only
 * checks that the model behaves as in the walks above. */
START_TEST(full_load)
{
	struct world w;
	struct ftr_sim_conf c;
	struct ftr_sim_change g[3];
	struct link *link;
	uint32_t n;

	world_new(&w, "kary:4,3");
	link = links(&w, &n);
	for (int i = 0; i < 6; i++) {
		struct ftr_sim_result r;
		uint64_t lost = 0;

		for (int j = 0; j < 3; j++) {
			uint32_t x = ftr_rng_below(&w.rng, n);

			g[j] = (struct ftr_sim_change){
				.at = 10 * FTR_SIM_US, .sw = link[x].s,
				.port = link[x].p,
				.kind = FTR_SIM_LINK_DOWN,
			};
		}
		c = (struct ftr_sim_conf){
			.f = w.f, .t = w.t, .traffic.load = 1, .link_ps = 10000,
			.switch_ps = 100000, .change = g, .n_changes = 3,
			.function = model_find(link_functions[_i]),
			.n_vls = 3, .buffer = 4096,
			.run_ps = 60 * FTR_SIM_US, .check_ps = 5 * FTR_SIM_US,
		};
		ck_assert_msg(!ftr_sim_run(&c, NULL, &r, &err), "%s", err.msg);
		for (int k = 0; k < FTR_SIM_N_LOSSES; k++)
			lost += r.lost[k];
		ck_assert_uint_eq(lost, r.lost[FTR_SIM_LOST_WIRE] +
				  r.lost[FTR_SIM_LOST_QUEUE]);
		ck_assert_uint_le(lost, 3 * 2 * 20);
		ck_assert_uint_eq(r.injected, r.delivered + lost + r.in_flight);
		ck_assert(!r.deadlock);
		ck_assert_uint_gt(r.delivered, 4000);
		ftr_sim_result_fini(&r, 1);
	}
	free(link);
	world_free(&w);
}
END_TEST

static bool keep_one_link(void *ctx, const struct ftr_fabric *f, ftr_sw s,
			  ftr_port p)
{
	const struct link *c = ctx;

	(void)f;
	return s != c->s || p != c->p;
}

/* Sem-Jacobsen et al. 2011, from section VIII on.  The routing function "lft" simulates
 * reconfiguration (DDRC): it gets new tables some time after the fault, and until then all packets
 * to the failed link are lost.  R_det with the same new tables simulates a hybrid of
 * reconfiguration and R_det.  The hybrid must lose only packets that R_det alone loses, too. */
START_TEST(hybrid)
{
	struct world w;
	struct walk k;
	ftr_ep from, to;
	struct link dead;
	struct ftr_filter keep = { .keep_link = keep_one_link, .ctx = &dead };
	struct ftr_fabric *f;
	struct ftr_shape *sh;
	struct ftr_tables *t;
	struct ftr_sim_result r[3];	/* r[2]: R_det without new tables */

	world_new(&w, "kary:4,3");
	repair(&w);
	use(&w, "det-links");
	top_pair(&w, &from, &to, &k);
	/* ftr_fabric_copy_if() names a link by the switch with the lower number */
	dead.s = FTR_MIN(k.at[2], k.at[3]);
	dead.p = port_to(&w, dead.s, FTR_MAX(k.at[2], k.at[3]));
	ck_assert(!ftr_fabric_copy_if(w.f, &keep, &f, &err));
	ck_assert_uint_eq(f->n_sw_links, w.f->n_sw_links - 1);
	ck_assert(!ftr_shape_new(f, NULL, NULL, &sh, &err));
	ck_assert(!ftr_tables_new(f, false, &t, &err));
	ck_assert(!ftr_engine_find("dmodc")->route(sh, NULL, NULL, t, NULL,
						   &err));
	for (int i = 0; i < 3; i++) {
		const struct ftr_sim_change g[] = {
			{ .at = 20 * FTR_SIM_US, .kind = FTR_SIM_LINK_DOWN,
			  .sw = dead.s, .port = dead.p },
			{ .at = 60 * FTR_SIM_US, .kind = FTR_SIM_TABLES,
			  .tables = t },
		};
		struct ftr_sim_conf c = {
			.f = w.f, .t = w.t, .traffic.load = 0.5, .link_ps = 10000,
			.switch_ps = 100000, .change = g, .n_changes = i < 2 ? 2 : 1,
			.function = model_find(i ? "det-links" : "lft"),
			.n_vls = 2, .run_ps = 100 * FTR_SIM_US, .n_series = 20,
		};

		ck_assert_msg(!ftr_sim_run(&c, NULL, &r[i], &err), "%s",
			      err.msg);
		for (uint32_t x = 13; x < 20; x++)
			ck_assert_uint_eq(r[i].series[x].lost, 0);
	}
	/* "lft" loses downward packets for 40 us, at about half the link's rate */
	ck_assert_uint_ge(r[0].lost[FTR_SIM_LOST_DEAD_PORT], 50);
	ck_assert_uint_eq(r[1].lost[FTR_SIM_LOST_DEAD_PORT], 0);
	ck_assert_uint_eq(r[1].lost[FTR_SIM_LOST_GIVEN_UP], 0);
	ck_assert_uint_le(r[1].lost[FTR_SIM_LOST_WIRE] +
			  r[1].lost[FTR_SIM_LOST_QUEUE], 12);
	ck_assert(!memcmp(r[1].lost, r[2].lost, sizeof(r[1].lost)));
	/* a path over the top has six hops, and more with U-turns */
	ck_assert_uint_eq(r[0].max_hops, 6);
	ck_assert_uint_gt(r[1].max_hops, 6);
	ftr_sim_result_fini(r, 3);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
	world_free(&w);
}
END_TEST

/* R_det needs its second layer.  On one VL the dependencies close a cycle after two dead links,
 * and traffic deadlocks. */
START_TEST(one_layer_deadlocks)
{
	struct ftr_sim_function one = *model_find("det-links");
	struct world w;
	struct link *c;
	uint32_t n, cycles = 0, dead = 0;
	unsigned int longest = 0;

	one.name = "one-vl";
	one.route = on_one_vl;
	world_new(&w, "kary:3,3");
	c = links(&w, &n);
	repair(&w);
	use(&w, "det-links");
	w.fn = &one;
	for (uint32_t i = 0; i < n && !dead; i++)
		for (uint32_t j = i + 1; j < n && !dead; j++) {
			const struct ftr_sim_change g[] = {
				{ .kind = FTR_SIM_LINK_DOWN, .sw = c[i].s,
				  .port = c[i].p },
				{ .kind = FTR_SIM_LINK_DOWN, .sw = c[j].s,
				  .port = c[j].p },
			};
			struct ftr_sim_conf conf = {
				.f = w.f, .t = w.t, .traffic.load = 1,
				.link_ps = 10000, .switch_ps = 100000,
				.change = g, .n_changes = 2, .function = &one,
				.buffer = 2048, .n_vls = 2, .run_ps = 400 * FTR_SIM_US,
				.stop_on_deadlock = true,
			};
			struct ftr_sim_result r;

			repair(&w);
			cut(&w, c[i].s, c[i].p);
			cut(&w, c[j].s, c[j].p);
			all_pairs(&w, &longest);
			if (!cyclic(&w) || cycles++ > 40)
				continue;
			ck_assert(!ftr_sim_run(&conf, NULL, &r, &err));
			dead += r.deadlock;
			ftr_sim_result_fini(&r, 1);
		}
	ck_assert_uint_gt(cycles, 0);
	ck_assert_uint_gt(dead, 0);
	free(c);
	world_free(&w);
}
END_TEST

START_TEST(by_name)
{
	ck_assert_ptr_null(model_find("bogus"));
	ck_assert_ptr_eq(model_functions[0], &ftr_sim_lft);
	for (unsigned int i = 0; model_functions[i]; i++)
		ck_assert_ptr_eq(model_find(model_functions[i]->name), model_functions[i]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim_functions");
	TCase *c = tcase_create("functions");

	tcase_add_loop_test(c, no_faults, 0, N_FUNCTIONS);
	tcase_add_loop_test(c, links_small, 0, 2 * N_FUNCTIONS);
	tcase_add_loop_test(c, links_pairs, 0, N_FUNCTIONS);
	tcase_add_loop_test(c, links_triples, 0, N_FUNCTIONS);
	tcase_add_loop_test(c, switches, 0, 8);
	tcase_add_test(c, figure_2);
	tcase_add_test(c, figure_3);
	tcase_add_loop_test(c, figure_6, 0, 2);
	tcase_add_test(c, timeout);
	tcase_add_loop_test(c, steps, 0, 2);
	tcase_add_test(c, figure_7);
	tcase_add_loop_test(c, full_load, 0, N_FUNCTIONS);
	tcase_add_test(c, hybrid);
	tcase_add_test(c, one_layer_deadlocks);
	tcase_add_test(c, by_name);
	suite_add_tcase(s, c);
	return run_suite(s);
}
