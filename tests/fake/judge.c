// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Checks the tables of the switches against the present links.
 *
 * Only links whose ports are Active carry data.  The checks cover the hosts and switches that
 * OpenSM's port reaches over these links.  The search for these hosts and switches does not use
 * the costs and port groups of the engines.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fake/opensm.h"
#include "lib/suite.h"
#include <ftr/check.h>

struct scene {
	struct fake *h;
	uint8_t *link;		/* [n_ports] copy of the fake's link states */
	uint8_t *in;		/* [n_sw] 1: reachable from OpenSM's port */
};

static bool carries(const struct scene *c, ftr_sw s, unsigned int p)
{
	return c->link[c->h->fab->sw[s].first_port + p] == IB_LINK_ACTIVE;
}

/* Find the switches that OpenSM's port reaches over links in this state or a higher one (Init,
 * Armed, Active). */
static struct scene scene_new(struct fake *h, uint8_t state)
{
	const struct ftr_fabric *f = h->fab;
	struct scene c = { h, malloc(f->n_ports), calloc(f->n_sw, 1) };
	ftr_sw *queue = calloc(f->n_sw, sizeof(*queue));
	uint32_t head = 0, tail = 0;

	ck_assert(c.link && c.in && queue);
	fake_lock(h);
	memcpy(c.link, h->link, f->n_ports);
	fake_unlock(h);
	queue[tail++] = f->ep[h->sm].sw;
	c.in[queue[0]] = 1;
	while (head < tail) {
		ftr_sw s = queue[head++];

		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (port->peer_kind != FTR_PEER_SW ||
			    c.link[f->sw[s].first_port + p] < state ||
			    c.in[port->peer])
				continue;
			c.in[port->peer] = 1;
			queue[tail++] = port->peer;
		}
	}
	free(queue);
	return c;
}

static void scene_fini(struct scene *c)
{
	free(c->link);
	free(c->in);
}

static bool keep_sw(void *ctx, const struct ftr_fabric *f, ftr_sw s)
{
	const struct scene *c = ctx;

	(void)f;
	return c->in[s];
}

static bool keep_ep(void *ctx, const struct ftr_fabric *f, ftr_ep e)
{
	const struct scene *c = ctx;

	return c->in[f->ep[e].sw];
}

static bool keep_link(void *ctx, const struct ftr_fabric *f, ftr_sw s,
		      ftr_port p)
{
	(void)f;
	return carries(ctx, s, p);
}

static void read_tables(struct fake *h, const struct ftr_fabric *f,
			struct ftr_tables *t, uint8_t *rank)
{
	fake_lock(h);
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		ftr_sw own = ftr_fabric_find_sw(h->fab, f->sw[s].guid);

		memcpy(ftr_tables_row(t, s), h->sw[own].lft, f->max_lid + 1u);
		rank[s] = h->sh->tree.rank[own];
	}
	fake_unlock(h);
}

/* If `connected` is true, every pair of hosts must have a path. */
static void check(struct fake *h, bool connected)
{
	struct scene c = scene_new(h, IB_LINK_ACTIVE);
	struct ftr_filter filter = { keep_sw, keep_ep, keep_link, &c, NULL };
	struct ftr_check_report rep;
	struct ftr_check_opts opts = { 0 };
	struct ftr_err err = { 0 };
	struct ftr_fabric *f;
	struct ftr_tables *t;
	uint8_t *rank;

	ck_assert(!ftr_fabric_copy_if(h->fab, &filter, &f, &err));
	ck_assert(!ftr_tables_new(f, true, &t, &err));
	rank = calloc(f->n_sw, 1);
	ck_assert_ptr_nonnull(rank);
	read_tables(h, f, t, rank);
	opts.rank = rank;
	ck_assert(!ftr_check_tables(f, t, &opts, NULL, &rep, &err));
	ck_assert_msg(!rep.found[FTR_FIND_LOOP], "%" PRIu64 " loops, LID %u",
		      rep.found[FTR_FIND_LOOP], rep.sample[FTR_FIND_LOOP].lid);
	ck_assert_int_ne(rep.cdg, FTR_CDG_CYCLE);
	ck_assert_msg(!connected || !rep.harmful, "%" PRIu64 " paths end at dead ports or wrong hosts; the first dead port: from %s, at %s port %u, to LID %u",
		      rep.harmful,
		      f->sw[rep.sample[FTR_FIND_DEAD_PORT].from].name,
		      f->sw[rep.sample[FTR_FIND_DEAD_PORT].at].name,
		      ftr_tables_get(t, rep.sample[FTR_FIND_DEAD_PORT].at,
				     rep.sample[FTR_FIND_DEAD_PORT].lid),
		      rep.sample[FTR_FIND_DEAD_PORT].lid);
	if (connected)
		ck_assert_uint_eq(rep.bad[FTR_CHECK_HOST_HOST], 0);
	free(rank);
	ftr_tables_free(t);
	ftr_fabric_free(f);
	scene_fini(&c);
}

void fake_check_healed(struct fake *h)
{
	check(h, true);
}

void fake_check_sound(struct fake *h)
{
	check(h, false);
}

/* Count blocks of OpenSM's copy of the tables.  A block is marked if the next sweep will write
 * it.  *wrong: number of unmarked blocks that differ from the blocks of the switch.  *marked:
 * number of marked blocks of switches that OpenSM can reach. */
static void compare(struct fake *h, uint32_t *wrong, uint32_t *marked)
{
	struct scene c = scene_new(h, IB_LINK_INIT);

	*wrong = *marked = 0;
	CL_PLOCK_ACQUIRE(&h->osm->lock);
	fake_lock(h);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++) {
		const osm_switch_t *sw = h->osw[s];

		for (size_t at = 0; sw && at < sw->lft_size;
		     at += FTR_LFT_BLOCK) {
			bool mark = memcmp(sw->lft + at, sw->new_lft + at,
					   FTR_LFT_BLOCK);

			*marked += mark && c.in[s];
			*wrong += !mark && memcmp(sw->lft + at,
						  h->sw[s].lft + at,
						  FTR_LFT_BLOCK);
		}
	}
	fake_unlock(h);
	CL_PLOCK_RELEASE(&h->osm->lock);
	scene_fini(&c);
}

void fake_check_copy(struct fake *h)
{
	uint32_t wrong, marked;

	compare(h, &wrong, &marked);
	ck_assert_msg(!wrong, "%u blocks of OpenSM's copy differ from those of the switches, and no sweep would write them",
		      wrong);
}

uint32_t fake_wrong(struct fake *h)
{
	uint32_t wrong, marked;

	compare(h, &wrong, &marked);
	return wrong;
}

uint32_t fake_marked(struct fake *h)
{
	uint32_t wrong, marked;

	compare(h, &wrong, &marked);
	return marked;
}

void fake_check_copy_clean(struct fake *h)
{
	uint32_t wrong, marked;

	compare(h, &wrong, &marked);
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(marked, 0);
}

void fake_check_sweep(struct fake *h)
{
	ck_assert(fake_sweep(h));
	fake_settle(h);
}

void fake_check_quiet_sweep(struct fake *h)
{
	ck_assert(fake_sweep(h));
	ck_assert_uint_eq(h->changed_entries, 0);
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
}

void fake_check_repaired(struct fake *h)
{
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	ck_assert_msg(fake_wait_wanted(h), "the plugin requests no sweep");
	fake_check_quiet_sweep(h);
	ck_assert(!fake_sweep_wanted(h));
	fake_check_counters(h);
}

void fake_check_repaired_in_parts(struct fake *h)
{
	fake_settle(h);
	fake_check_healed(h);
	fake_check_copy(h);
	ck_assert_msg(fake_wait_wanted(h), "the plugin requests no sweep");
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
	fake_check_quiet_sweep(h);
	fake_check_counters(h);
}

uint32_t fake_count_sets(struct fake *h)
{
	uint32_t n = 0;

	fake_lock(h);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		n += h->sw[s].n_sets;
	fake_unlock(h);
	return n;
}

void fake_check_counters(struct fake *h)
{
	osm_stats_t *st = &h->osm->stats;

	pthread_mutex_lock(&st->mutex);
	ck_assert_int_eq(st->qp0_mads_outstanding, 0);
	pthread_mutex_unlock(&st->mutex);
	ck_assert_int_eq(st->qp0_mads_outstanding_on_wire, 0);
}

bool fake_unheard(struct fake *h)
{
	struct scene c = scene_new(h, IB_LINK_ACTIVE);
	bool some = false;

	fake_lock(h);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		some |= c.in[s] && h->sw[s].unheard;
	fake_unlock(h);
	scene_fini(&c);
	return some;
}

/* ---- positions in the fabric ----------------------------------------------- */

ftr_port fake_uplink(const struct fake *h, ftr_sw s, unsigned int i)
{
	for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(h->fab, s, (ftr_port)p);

		if (port->peer_kind == FTR_PEER_SW &&
		    h->sh->tree.rank[port->peer] > h->sh->tree.rank[s] && !i--)
			return (ftr_port)p;
	}
	fake_fail("the switch has no such upward link");
}

static ftr_sw of_rank(const struct fake *h, uint8_t rank, unsigned int i)
{
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		if (h->sh->tree.rank[s] == rank && !i--)
			return s;
	fake_fail("there is no such switch");
}

ftr_sw fake_leaf(const struct fake *h, unsigned int i)
{
	return of_rank(h, 0, i);
}

ftr_sw fake_spine(const struct fake *h, unsigned int i)
{
	return of_rank(h, (uint8_t)(h->sh->tree.n_ranks - 1), i);
}
