// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Walks that test two theorems of Sem-Jacobsen et al. 2011: theorem 3 if links and switches fail,
 * and theorem 2 (one failed link, one VL), also with the simple algorithm of Sem-Jacobsen et
 * al. 2006.  test_sim_functions.c tests the other lemmas and theorems.
 */
#include "lib/suite.h"
#include "unit/walk.h"

/* Sem-Jacobsen et al. 2011, lemma 4 and theorem 3: the functions for dead switches, if links and
 * switches fail.  All sets of one link and one switch of the 3-ary 3-tree, and random sets of three
 * parts of the 4-ary 3-tree. */
START_TEST(mixed)
{
	struct world w;
	struct link *c;
	uint32_t n;

	world_new(&w, "kary:3,3");
	c = links(&w, &n);
	w.random = true;
	for (uint32_t i = 0; i < n; i++)
		for (ftr_sw s = 0; s < w.f->n_sw; s++) {
			if (!w.sh->tree.rank[s])
				continue;
			repair(&w);
			cut(&w, c[i].s, c[i].p);
			kill_switch(&w, s);
			use(&w, link_functions[3 + _i]);
			connected(&w, "a dead link and a dead switch");
		}
	free(c);
	world_free(&w);
}
END_TEST

START_TEST(mixed_triples)
{
	struct world w;
	struct link *c;
	uint32_t n;

	world_new(&w, "kary:4,3");
	c = links(&w, &n);
	w.random = true;
	for (int i = 0; i < 150; i++) {
		repair(&w);
		for (int j = 0; j < 3; j++) {
			uint32_t x = ftr_rng_below(&w.rng, n);
			ftr_sw s = ftr_rng_below(&w.rng, w.f->n_sw);

			if (ftr_rng_below(&w.rng, 2) || !w.sh->tree.rank[s])
				cut(&w, c[x].s, c[x].p);
			else
				kill_switch(&w, s);
		}
		use(&w, link_functions[3 + _i]);
		connected(&w, "three dead links and switches");
	}
	free(c);
	world_free(&w);
}
END_TEST

/* The algorithm of Sem-Jacobsen et al. 2006, section 3.1, without a vector in the packet: a U-turn
 * switch takes any upward port except the port of arrival. */
static unsigned int without_vector(void *state, const struct ftr_sim_view *v,
				   struct ftr_sim_arrival *a)
{
	a->p->vector = 0;
	return model_find("misroute")->route(state, v, a);
}

/* R_det on one VL, except that a U-turn switch never sends a packet back up to where it came from.
 * (R_det itself takes the first port of D, which may be the port of arrival.) */
static unsigned int another_port(void *state, const struct ftr_sim_view *v,
				 struct ftr_sim_arrival *a)
{
	const struct ftr_sim_function *det = model_find("det-links");
	unsigned int n;

	a->vl = 0;
	n = det->route(state, v, a);
	a->vl = 1;
	if (n && a->exit->port == a->in)
		n = det->route(state, v, a);
	a->exit->vl = 0;
	return n;
}

/* Sem-Jacobsen et al. 2011, theorem 2: with one dead link, one VL is enough, if a U-turn switch
 * sends the packet up by any port except the port of arrival.  R_det on one VL does not do this,
 * and has cycles. */
START_TEST(one_fault_one_vl)
{
	static const char *const shape[] = { "kary:2,3", "kary:2,4", "kary:3,3" };
	static const struct {
		const char *base;
		unsigned int (*route)(void *state, const struct ftr_sim_view *v,
				      struct ftr_sim_arrival *a);
		bool cycles;
	} how[] = {
		{ "misroute", without_vector, false },
		{ "det-links", another_port, false },
		{ "det-links", on_one_vl, true },
	};
	struct ftr_sim_function fn = *model_find(how[_i % 3].base);
	struct world w;
	struct link *c;
	uint32_t n, cycles = 0;
	unsigned int longest = 0;

	fn.min_vls = 2;		/* so that walk() records the dependencies */
	fn.route = how[_i % 3].route;
	world_new(&w, shape[_i / 3]);
	c = links(&w, &n);
	w.random = true;
	for (uint32_t i = 0; i < n; i++) {
		repair(&w);
		cut(&w, c[i].s, c[i].p);
		use(&w, how[_i % 3].base);
		w.fn = &fn;
		for (int j = 0; j < 4; j++)
			ck_assert_uint_eq(all_pairs(&w, &longest), 0);
		cycles += cyclic(&w);
	}
	ck_assert_int_eq(cycles > 0, how[_i % 3].cycles);
	free(c);
	world_free(&w);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sim_theorems");
	TCase *c = tcase_create("theorems");

	tcase_add_loop_test(c, mixed, 0, 2);
	tcase_add_loop_test(c, mixed_triples, 0, 2);
	tcase_add_loop_test(c, one_fault_one_vl, 0, 9);
	suite_add_tcase(s, c);
	return run_suite(s);
}
