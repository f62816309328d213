// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the option "transition ordered" when switches with Active links do not answer, so that an order is not
 * known, or that entries must remain.
 */
#include <check.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/alloc.h"
#include "lib/draw.h"
#include "lib/suite.h"
#include "osm/blocks.h"
#include "osm/fast.h"
#include "unit/shortest.h"

#define HYPERX \
	"a: b c d e i h2\nb: c d f j h2\nc: d g k h2\nd: h l h2\n" \
	"e: f g h i h2\nf: g h j h2\ng: h k h2\nh: l h2\n" \
	"i: j k l h2\nj: k l h2\nk: l h2\nl: h2\n"

/* sw[0] and sw[1], which may be the same, get no Set, and no Get of the plugin.  gets: they get these.
 * no_memory: the n-th allocation after the first lost Set of the plugin fails. */
struct mute {
	ftr_sw sw[2];
	bool gets;
	unsigned long no_memory;
};

static void lose_tables(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	struct mute *m = ctx;

	if (p->to == m->sw[0] || p->to == m->sw[1])
		fate->lose_request = p->set || (p->plugin && !m->gets);
	if (fate->lose_request && p->set && p->plugin && m->no_memory) {
		ftr_alloc_fail_once(m->no_memory);
		m->no_memory = 0;
	}
}

/* OpenSM does not know what the switches hold, as after Sets that were not acknowledged. */
static void forget(struct fake *h, struct mute *m)
{
	for (int i = 0; i < 2; i++)
		memset(h->osw[m->sw[i]]->lft, IBF_LFT_UNKNOWN, h->fab->max_lid + 1u);
	fake_set_fate(h, lose_tables, m);
}

static void sweeps(struct fake *h, int n)
{
	for (int i = 0; i < n; i++) {
		(void)!fake_sweep(h);
		fake_settle(h);
	}
}


/* The switches answer again. */
static void check_end(struct fake *h)
{
	fake_release(h);
	sweeps(h, 3);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	fake_free(h);
}

/* A HyperX with tables of shortest paths, which dmodc is about to replace.  Only the planner knows an order.
 * m: switch l. */
static struct fake *hyperx(struct mute *m)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = draw(HYPERX), .not_up = true, .options = "transition_limit_ms 20000\n",
	});

	*m = (struct mute){ .sw = { draw_sw(h->fab, "l"), draw_sw(h->fab, "l") } };
	fake_check_sweep(h);
	hold_shortest(h, 5);
	return h;
}

/* OpenSM knows the tables. */
static void hold(struct fake *h)
{
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		memcpy(h->osw[s]->lft, h->sw[s].lft, h->fab->max_lid + 1u);
}

/* The table of a spine is not known (0).  It remains to the next sweep.  With two such spines (1), OpenSM
 * writes both tables in the same sweep, and IBF121 reports it. */
START_TEST(unknown_spines)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1" });
	struct mute m = { .sw = { fake_spine(h, 0), fake_spine(h, _i) } };

	forget(h, &m);
	sweeps(h, 1);
	ck_assert_msg(fake_logged(h, "; the next sweep replaces the remaining") == (_i ? 0 : 1), "%s", h->log);
	ck_assert_uint_eq(fake_logged(h, " and other switches; "), (unsigned int)_i);
	ck_assert_msg(fake_logged(h, "OpenSM writes the remaining entries in its own order") == (uint32_t)_i,
		      "%s", h->log);
	check_end(h);
}
END_TEST

/* The same, while packets of before must be waited for longer than the time limit permits.  So nothing is left
 * to the next sweep, although all changed entries are those of the spine.  As the plugin writes nothing, it
 * reports no time in which a credit loop was possible. */
START_TEST(unknown_spine_and_late_packets)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "2;4,4;1,4;1,1", .options = "transition_limit_ms 100\n",
	});
	struct mute m = { .sw = { fake_spine(h, 0), fake_spine(h, 0) } };
	struct rr *rr = &h->fast->rr;

	h->osm->subn.opt.packet_life_time = OSM_DEFAULT_SWITCH_PACKET_LIFE + 3;
	forget(h, &m);
	pthread_mutex_lock(&rr->mutex);
	rr->written.last = rr->written.unranked = rr_now(rr);
	pthread_mutex_unlock(&rr->mutex);
	sweeps(h, 1);
	ck_assert_uint_eq(fake_logged(h, "in which a credit loop was possible"), 0);
	ck_assert_msg(fake_logged(h, "OpenSM writes the remaining entries in its own order") == 1, "%s",
		      h->log);
	check_end(h);
}
END_TEST

/* The steps can close a credit loop, and the table of a switch is not known.  So the planner, which needs all
 * switches, is not asked. */
START_TEST(unknown_before_planner)
{
	struct mute m;
	struct fake *h = hyperx(&m);

	hold(h);
	forget(h, &m);
	sweeps(h, 1);
	ck_assert_msg(fake_logged(h, "no packet was lost: a switch did not answer; entries=") == 1, "%s",
		      h->log);
	ck_assert_uint_eq(fake_logged(h, "IBF010"), 0);
	check_end(h);
}
END_TEST

static void lose_hosts(struct fake *h, struct mute *m)
{
	m->gets = true;
	for (int i = 0; i < 2; i++)
		h->sw[m->sw[0]].lft[h->fab->ep[draw_host(h->fab, "l", i)].lid] = FTR_PORT_NONE;
	hold(h);
	fake_set_fate(h, lose_tables, m);
}

/* A switch has no entries for its own hosts, and takes none.  Without them no host has a path to these hosts.
 * So there is nothing to write without a proof, and the rest is left to the next sweep. */
START_TEST(lost_hosts_remain)
{
	struct mute m;
	struct fake *h = hyperx(&m);

	lose_hosts(h, &m);
	sweeps(h, 1);
	ck_assert_msg(fake_logged(h, "; the next sweep replaces the remaining") == 1, "%s",
		      h->log);
	ck_assert_uint_eq(fake_logged(h, "IBF121"), 0);
	check_end(h);
}
END_TEST

static ftr_port port_to(const struct fake *h, ftr_sw from, ftr_sw to)
{
	ftr_port p = 1;

	while (ftr_fabric_next(h->fab, from, p) != to)
		p++;
	return p;
}

/* The same, while packets for a switch loop between two switches, neither of which takes an entry.  The paths to
 * this switch do not change. */
START_TEST(loop_remains)
{
	struct mute m;
	struct fake *h = hyperx(&m);
	ftr_sw l = m.sw[0], k = m.sw[1] = draw_sw(h->fab, "k");
	ftr_lid lid = h->fab->sw[draw_sw(h->fab, "a")].lid;

	h->sw[l].lft[lid] = port_to(h, l, k);
	h->sw[k].lft[lid] = port_to(h, k, l);
	lose_hosts(h, &m);
	sweeps(h, 1);
	ck_assert_msg(fake_logged(h, "; the next sweep replaces the remaining") == 1, "%s", h->log);
	ck_assert_uint_eq(h->sw[k].lft[lid], port_to(h, k, l));
	check_end(h);
}
END_TEST

/* The same, while one allocation after the first lost Set fails.  If it is needed to decide what may remain,
 * OpenSM writes all, and IBF121 reports the reason. */
START_TEST(lost_hosts_without_memory)
{
	uint32_t failed = 0;

	for (unsigned long n = 1; n <= 8; n++) {
		struct mute m;
		struct fake *h = hyperx(&m);
		uint32_t out;

		m.no_memory = n;
		lose_hosts(h, &m);
		sweeps(h, 1);
		ftr_alloc_fail_at(0);
		out = fake_logged(h, "not replaced in a checked order: out of memory");
		ck_assert_msg(fake_logged(h, "the next sweep replaces the remaining") + out == 1, "%s",
			      h->log);
		failed += out;
		check_end(h);
	}
	/* two for the tables; the others find the pairs without a path */
	ck_assert_uint_ge(failed, 4);
}
END_TEST

/* A switch of which one block is not known holds, in its other block, an old entry for a host.  0: a spine
 * sends down to a leaf, which sends up again.  The ranks do not prove that all mixtures are sound, and the
 * judgement does not contain new entries of silent switches.  So OpenSM writes the old entry.  1: a leaf sends
 * to another spine.  All mixtures are sound, so OpenSM may write the new entry. */
START_TEST(entries_in_another_block)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;8,8;1,4;1,1" });
	const struct ftr_fabric *f = h->fab;
	ftr_sw from = _i ? fake_leaf(h, 1) : fake_spine(h, 0);
	struct mute m = { .sw = { from, from } };
	ftr_port new, old = FTR_PORT_NONE;
	ftr_lid lid = 0;

	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].lid > lid && f->ep[e].sw != from)
			lid = f->ep[e].lid;
	ck_assert_uint_ge(lid, 64);
	new = h->sw[from].lft[lid];
	for (unsigned int p = 1; p <= f->sw[from].n_ports; p++) {
		ftr_sw next = ftr_fabric_next(f, from, (ftr_port)p);

		if (next != FTR_SW_NONE && p != new &&
		    (_i || ftr_fabric_next(f, next, h->sw[next].lft[lid]) != from))
			old = (ftr_port)p;
	}
	ck_assert_uint_ne(old, FTR_PORT_NONE);
	h->sw[from].lft[lid] = h->osw[from]->lft[lid] = old;
	memset(h->osw[from]->lft, IBF_LFT_UNKNOWN, 64);
	fake_set_fate(h, lose_tables, &m);
	sweeps(h, 1);
	ck_assert_uint_eq(fake_logged(h, "IBF121"), 0);
	ck_assert_msg(h->osw[from]->new_lft[lid] == (_i ? new : old), "%s", h->log);
	check_end(h);
}
END_TEST

/* A leaf sends packets for a spine over another spine, down to a second leaf, and up again.  dmodc uses the
 * direct link, and clears the entry of the other spine.  The first leaf takes no entry, so this entry remains. */
START_TEST(needed_entry_is_not_cleared)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1" });
	ftr_sw leaf = fake_leaf(h, 0), to = fake_spine(h, 1), over = fake_spine(h, 0);
	struct mute m = { .sw = { leaf, leaf }, .gets = true };
	ftr_lid lid = h->fab->sw[to].lid;
	ftr_port down = port_to(h, over, fake_leaf(h, 1));

	ck_assert_uint_eq(h->sw[over].lft[lid], FTR_PORT_NONE);
	h->sw[leaf].lft[lid] = port_to(h, leaf, over);
	h->sw[over].lft[lid] = down;
	hold(h);
	fake_set_fate(h, lose_tables, &m);
	sweeps(h, 1);
	ck_assert_msg(h->sw[over].lft[lid] == down, "%s", h->log);
	ck_assert_msg(fake_logged(h, "; the next sweep replaces the remaining 2 entries") == 1, "%s", h->log);
	check_end(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("silent");
	TCase *t = tcase_create("silent");

	tcase_add_loop_test(t, unknown_spines, 0, 2);
	tcase_add_test(t, unknown_spine_and_late_packets);
	tcase_add_test(t, unknown_before_planner);
	tcase_add_test(t, lost_hosts_remain);
	tcase_add_test(t, loop_remains);
	tcase_add_test(t, lost_hosts_without_memory);
	tcase_add_loop_test(t, entries_in_another_block, 0, 2);
	tcase_add_test(t, needed_entry_is_not_cleared);
	suite_add_tcase(s, t);
	return run_suite(s);
}
