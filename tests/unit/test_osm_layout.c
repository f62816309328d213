// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests that the plugin refuses an OpenSM whose structures have another layout than in the headers
 * with which the plugin was built.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/suite.h"

extern osm_event_plugin_t osm_event_plugin;

static osm_opensm_t *sound(void)
{
	osm_opensm_t *osm = calloc(1, sizeof(*osm));

	ck_assert_ptr_nonnull(osm);
	osm->subn.p_osm = osm;
	osm->sm.p_subn = osm->sa.p_subn = &osm->subn;
	osm->sm.p_log = &osm->log;
	osm->sm.p_disp = &osm->disp;
	osm->sm.p_lock = &osm->lock;
	osm->sa.p_mad_pool = &osm->mad_pool;
	return osm;
}

START_TEST(test_each_pointer)
{
	osm_opensm_t *osm = sound();
	const struct {
		void *at;
		const char *name;
	} pointer[] = {
		{ &osm->subn.p_osm, "subn.p_osm is" },
		{ &osm->sm.p_subn, "sm.p_subn is" },
		{ &osm->sa.p_subn, "sa.p_subn is" },
		{ &osm->sa.p_mad_pool, "sa.p_mad_pool is" },
		{ &osm->sm.p_log, "sm.p_log is" },
		{ &osm->sm.p_disp, "sm.p_disp is" },
		{ &osm->sm.p_lock, "sm.p_lock is" },
	};
	const char *wrong = (const char *)osm + 4;
	char why[128] = "";

	ck_assert(ibf_layout_fits(osm, why, sizeof(why)));
	for (size_t i = 0; i < sizeof(pointer) / sizeof(pointer[0]); i++) {
		const void *right;

		memcpy(&right, pointer[i].at, sizeof(right));
		memcpy(pointer[i].at, &wrong, sizeof(wrong));
		ck_assert(!ibf_layout_fits(osm, why, sizeof(why)));
		ck_assert_ptr_eq(strstr(why, pointer[i].name), why);
		/* the plugin must start nothing */
		ck_assert_ptr_null(osm_event_plugin.create(osm));
		memcpy(pointer[i].at, &right, sizeof(right));
	}
	free(osm);
}
END_TEST

/* All members after the options move by one word, as from OpenSM 3.3.23 to 3.3.24. */
START_TEST(test_a_member_more)
{
	size_t at = offsetof(osm_opensm_t, subn.opt) + sizeof(osm_subn_opt_t);
	size_t to = at + (_i ? 8 : 0), from = at + (_i ? 0 : 8);
	char *moved = calloc(1, sizeof(osm_opensm_t) + 16);
	osm_opensm_t *osm = (osm_opensm_t *)(void *)moved, *proto = sound();
	char why[128] = "";

	ck_assert_ptr_nonnull(moved);
	/* OpenSM sets these pointers in its own layout; they point into `moved` */
	proto->subn.p_osm = osm;
	proto->sm.p_subn = proto->sa.p_subn = &osm->subn;
	memcpy(moved, proto, at);
	memcpy(moved + to, (char *)proto + from,
	       sizeof(osm_opensm_t) - (to > from ? to : from));
	ck_assert(!ibf_layout_fits(osm, why, sizeof(why)));
	ck_assert_ptr_eq(strstr(why, "sm.p_subn is"), why);
	ck_assert_ptr_null(osm_event_plugin.create(osm));
	free(proto);
	free(moved);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("layout");
	TCase *tc = tcase_create("layout");

	tcase_add_test(tc, test_each_pointer);
	tcase_add_loop_test(tc, test_a_member_more, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
