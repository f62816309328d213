// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the fast path in a fabric of two trees that are joined by horizontal links.  Links between
 * the trees and inside them die and come up again, alone or together.  Switches at the ends of the
 * horizontal links die, too.  In one test all nodes have the same name, so every message must add
 * the GUID.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/irregular.h"
#include "lib/suite.h"
#include "unit/fast_plans.h"

#define TWIN "SwitchIB Mellanox Technologies"

static struct fake *two_trees(uint32_t joints, bool middle)
{
	struct ftr_fabric *f = NULL;
	bool hosts = false;
	struct ftr_rng r;

	/* skip fabrics in which a leaf has Aggregation Nodes instead of hosts */
	for (uint64_t seed = 1; !hosts; seed++) {
		ftr_fabric_free(f);
		ftr_rng_seed(&r, seed);
		f = irregular_two_trees(&r, joints, middle, 0);
		hosts = true;
		for (ftr_ep e = 0; e < f->n_ep; e++)
			hosts &= !ftr_ep_is_aggregation(&f->ep[e]);
	}
	return fake_new(&(struct fake_opts){ .fabric = f });
}

static bool is_joint(const struct fake *h, ftr_sw s, ftr_port p)
{
	const struct ftr_swport *port = ftr_fabric_port(h->fab, s, p);

	return port->peer_kind == FTR_PEER_SW &&
		h->sh->tree.rank[s] == h->sh->tree.rank[port->peer];
}

/* Returns the switch at one end of the i-th link between the trees, and sets *port to its port. */
static ftr_sw joint(const struct fake *h, unsigned int i, ftr_port *port)
{
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++)
			if (is_joint(h, s, (ftr_port)p) &&
			    ftr_fabric_port(h->fab, s, (ftr_port)p)->peer > s &&
			    !i--) {
				*port = (ftr_port)p;
				return s;
			}
	ck_abort_msg("the fabric has too few links between the trees");
}

static void restored(struct fake *h, const uint8_t *before)
{
	sweep_until_quiet(h, 4);
	fake_check_healed(h);
	ck_assert_msg(tables_are(h, before), "the tables differ from those before the faults");
}

/* Each link between the trees and every seventh link inside them dies alone.  The tables must be
 * repaired.  When the link is up again, the tables must be those before the fault. */
START_TEST(one_link)
{
	struct fake *h = two_trees(3, _i);
	uint8_t *before = all_tables(h);
	unsigned int joints = 0, n = 0;

	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(h->fab, s, (ftr_port)p);
			bool is = is_joint(h, s, (ftr_port)p);

			if (port->peer_kind != FTR_PEER_SW || port->peer < s ||
			    (!is && n++ % 7))
				continue;
			joints += is;
			fake_link(h, s, (ftr_port)p, false);
			fake_check_repaired(h);
			fake_link_quietly(h, s, (ftr_port)p, true);
			ck_assert(fake_sweep(h));
			restored(h, before);
		}
	ck_assert_uint_eq(joints, 3);
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	ck_assert_uint_eq(fake_logged(h, "ERR"), 0);
	free(before);
	fake_free(h);
}
END_TEST

/* The links between the trees die one by one, until no link joins the trees.  Then they all come up
 * again, and the tables must be those before the faults. */
START_TEST(all_links_between_trees)
{
	struct fake *h = two_trees(3, _i);
	uint8_t *before = all_tables(h);
	ftr_sw s[3];
	ftr_port p[3];

	for (unsigned int i = 0; i < 3; i++)
		s[i] = joint(h, i, &p[i]);
	for (unsigned int i = 0; i < 3; i++) {
		fake_link(h, s[i], p[i], false);
		fake_settle(h);
		fake_check_healed(h);
		sweep_until_quiet(h, 3);
	}
	for (unsigned int i = 0; i < 3; i++) {
		fake_link_quietly(h, s[i], p[i], true);
		ck_assert(fake_sweep(h));
		sweep_until_quiet(h, 4);
		fake_check_healed(h);
	}
	restored(h, before);
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	free(before);
	fake_free(h);
}
END_TEST

/* A switch at the end of a link between the trees dies.  When the switch works again, the tables
 * must be those before the fault. */
START_TEST(switch_between_trees)
{
	struct fake *h = two_trees(4, _i);
	uint8_t *before = all_tables(h);
	ftr_port p;
	ftr_sw s = joint(h, 0, &p);

	fake_switch(h, s, false);
	fake_check_repaired_in_parts(h);
	fake_switch(h, s, true);
	ck_assert(fake_sweep(h));
	restored(h, before);
	ck_assert_uint_eq(fake_logged(h, "IBF109"), 0);
	free(before);
	fake_free(h);
}
END_TEST

/* Check that a GUID follows every name in the plugin's messages.  Returns the number of names. */
static unsigned int names(struct fake *h)
{
	unsigned int n = 0;

	pthread_mutex_lock(&h->mutex);
	for (char *line = h->log, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		end += *end == '\n';
		if (strncmp(line, "ibfattree:", strlen("ibfattree:")))
			continue;
		for (char *at = strstr(line, TWIN); at && at < end;
		     at = strstr(at + 1, TWIN), n++)
			ck_assert_msg(!strncmp(at, TWIN " (0x", strlen(TWIN " (0x")),
				      "a name without a GUID: %.*s", (int)(end - line), line);
	}
	pthread_mutex_unlock(&h->mutex);
	return n;
}

START_TEST(names_have_guids)
{
	struct ftr_rng r;
	struct ftr_fabric *f;
	struct fake *h;
	ftr_sw s;
	ftr_port p;

	ftr_rng_seed(&r, 1);
	f = irregular_two_trees(&r, 2, false, 0);
	for (ftr_sw i = 0; i < f->n_sw; i++)
		((struct ftr_switch *)(uintptr_t)&f->sw[i])->name = TWIN;
	for (ftr_ep e = 0; e < f->n_ep; e++)
		((struct ftr_endport *)(uintptr_t)&f->ep[e])->name = TWIN;
	h = fake_new(&(struct fake_opts){
		.fabric = f,
		.options = "fast_flap_limit 2\nfast_flap_window_ms 3600000\n",
	});
	s = joint(h, 0, &p);
	for (int i = 0; i < 3; i++) {	/* until the link is damped */
		fake_link(h, s, p, false);
		fake_settle(h);
		fake_link(h, s, p, true);
		ck_assert(fake_sweep(h));
		fake_settle(h);
	}
	fake_switch(h, fake_leaf(h, 2), false);	/* some hosts become unreachable */
	sweep_until_quiet(h, 4);
	ck_assert_uint_gt(fake_logged(h, "IBF004"), 0);
	ck_assert_uint_gt(fake_logged(h, "IBF111"), 0);
	ck_assert_uint_gt(names(h), 8);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_trees");
	TCase *t = tcase_create("all");

	tcase_add_loop_test(t, one_link, 0, 2);
	tcase_add_loop_test(t, all_links_between_trees, 0, 2);
	tcase_add_loop_test(t, switch_between_trees, 0, 2);
	tcase_add_test(t, names_have_guids);
	suite_add_tcase(s, t);
	return run_suite(s);
}
