// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests routings whose first writes depend on odd tables of the switches: entries for a LID without a port
 * form a loop, or LinearFDBTop of a switch is lower than the LIDs that it has entries for.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/draw.h"
#include "lib/suite.h"
#include "osm/blocks.h"

/* ---- a loop of a LID without a port ------------------------------------------------------ */

struct watch {
	ftr_sw a, b;
	ftr_lid lid;
	uint32_t sets, loops;	/* Sets after which the loop still exists */
};

static void watch(void *ctx, struct fake *h)
{
	struct watch *w = ctx;

	w->sets++;
	w->loops += h->sw[w->a].lft[w->lid] != FTR_PORT_NONE && h->sw[w->b].lft[w->lid] != FTR_PORT_NONE;
}

/* A host has gone, and entries for its LID form a loop when the manager starts: they are cleared first, and
 * the other entries are then written in a checked order. */
START_TEST(loop_of_no_port)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1", .options = "takeover ordered\n" });
	ftr_ep last = h->fab->n_ep - 1;
	ftr_sw leaf = fake_leaf(h, 1);
	struct watch w = { .a = leaf, .b = fake_spine(h, 2), .lid = h->fab->ep[last].lid };
	const char *first, *second;

	fake_host(h, last, false);
	for (int i = 0; i < 2; i++)
		fake_check_sweep(h);
	fake_link_quietly(h, leaf, fake_uplink(h, leaf, 0), false);
	for (unsigned int p = 1; p <= h->fab->sw[leaf].n_ports; p++)
		if (ftr_fabric_next(h->fab, leaf, (ftr_port)p) == w.b) {
			h->sw[leaf].lft[w.lid] = (uint8_t)p;
			h->sw[w.b].lft[w.lid] = ftr_fabric_port(h->fab, leaf, (ftr_port)p)->peer_port;
		}
	fake_restart(h, false);
	h->written_ctx = &w;
	h->written = watch;
	fake_check_sweep(h);
	h->written = NULL;
	first = strstr(h->log, "IBF121: dmodc: entries were replaced in an order in which a credit loop was possible for ");
	ck_assert_msg(first, "%s", h->log);
	second = strstr(first + 1, "IBF121");
	ck_assert_msg(!second, "%s", h->log);
	ck_assert_uint_gt(w.sets, 3);
	ck_assert_uint_le(w.loops, 1);
	fake_host(h, last, true);
	for (int i = 0; i < 3; i++)
		fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

/* ---- LinearFDBTop ------------------------------------------------------------------------ */

static ftr_sw low;		/* the switch whose LinearFDBTop is 1 */
static uint32_t to_low;		/* Sets of the plugin to this switch */

static void deaf(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	to_low += p->plugin && p->set && p->to == low;
	fate->lose_request = ctx && p->plugin && p->to == low;
}

/* A switch was reset, so that no packet uses its entries in the second and later blocks until OpenSM raises
 * LinearFDBTop.  Its entries there are known (0), or it has none (1, 2).  In case 2 its first block is not
 * known, and it does not answer the plugin: OpenSM writes its table. */
START_TEST(reset_switch)
{
	struct fake *h = fake_new(&(struct fake_opts){ .fabric = draw_lmc("s:\nt:\na: s t h2\nb: s t h2\n", 5) });
	uint32_t end = h->fab->max_lid + 1u;
	ftr_sw leaf = fake_leaf(h, 1);

	low = fake_leaf(h, 0);
	to_low = 0;
	ck_assert_uint_gt(h->fab->max_lid, 2 * FTR_LFT_BLOCK);
	h->sw[low].top = 1;
	h->osw[low]->switch_info.lin_top = cl_hton16(1);
	if (_i) {
		memset(h->sw[low].lft + FTR_LFT_BLOCK, FTR_PORT_NONE, end - FTR_LFT_BLOCK);
		memset(h->osw[low]->lft + FTR_LFT_BLOCK, FTR_PORT_NONE, end - FTR_LFT_BLOCK);
	}
	if (_i == 2)
		memset(h->osw[low]->lft, IBF_LFT_UNKNOWN, FTR_LFT_BLOCK);
	fake_link_quietly(h, leaf, fake_uplink(h, leaf, 0), false);
	fake_set_fate(h, deaf, _i == 2 ? h : NULL);
	fake_check_sweep(h);
	fake_set_fate(h, NULL, NULL);
	ck_assert_uint_eq(to_low > 0, _i < 2);
	ck_assert_uint_eq(fake_logged(h, "IBF121"), 0);
	ck_assert_uint_eq(fake_logged(h, "a write or a read was not acknowledged"), _i == 2);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_free(h);
}
END_TEST

/* A switch falls silent before its blocks above LinearFDBTop are written, and their new entries need those of
 * another switch.  OpenSM, which raises LinearFDBTop, must clear these blocks: they may have any entries. */
START_TEST(silent_reset_switch)
{
	struct fake *h = fake_new(&(struct fake_opts){ .fabric = draw_lmc("s:\nt:\na: s t h2\nb: s t h2\n", 5) });
	struct ibf_plugin *p = h->fast->p;
	const struct ftr_fabric *f = p->routed->gen->fabric;
	struct ibf_blocks b = { .n = 0 };
	struct ftr_tables *to = NULL;
	ftr_sw s = ftr_fabric_find_sw(f, h->fab->sw[fake_leaf(h, 0)].guid);
	osm_switch_t *sw = h->osw[fake_leaf(h, 0)];
	uint32_t end = f->max_lid + 1u;
	struct ftr_err err;

	fake_lock(h);
	ck_assert(!ibf_blocks_new(p, f, &b, &err) && !ibf_sets_new(&b, &err));
	ck_assert(!ftr_tables_new(f, true, &b.now, &err) && !ftr_tables_carry(f, p->routed->gen->tables, f, &to, &err));
	memset(sw->lft + FTR_LFT_BLOCK, FTR_PORT_NONE, end - FTR_LFT_BLOCK);
	sw->switch_info.lin_top = cl_hton16(1);
	ibf_blocks_copy(&b, to);
	ibf_sets_silent(&b, s);
	ibf_blocks_leave(&b, to, false);
	for (uint32_t lid = 0; lid < end; lid++) {
		ck_assert_uint_eq(sw->lft[lid] == IBF_LFT_UNKNOWN, lid >= FTR_LFT_BLOCK);
		ck_assert(lid < FTR_LFT_BLOCK || sw->new_lft[lid] == FTR_PORT_NONE);
	}
	memcpy(sw->new_lft, ftr_tables_row(to, s), end);
	fake_unlock(h);
	ftr_tables_free(b.now);
	ftr_tables_free(to);
	ibf_blocks_fini(&b);
	fake_check_sweep(h);
	fake_check_healed(h);
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("odd tables");
	TCase *c = tcase_create("all");

	tcase_add_test(c, loop_of_no_port);
	tcase_add_loop_test(c, reset_switch, 0, 3);
	tcase_add_test(c, silent_reset_switch);
	suite_add_tcase(s, c);
	return run_suite(s);
}
