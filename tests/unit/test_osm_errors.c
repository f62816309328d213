// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the plugin when an allocation fails in a restart, in a change of the preferred tables, in a
 * takeover of tables that need an unsafe order or have a loop, at the start of a search, with drained
 * parts, while a switch fails and returns, and with VLs of ddlr.
 *
 * The first allocation of each chain of calls (chains.h) fails.  Chains that agree in their innermost
 * calls count as one, also in different scenarios; with FTR_SOAK=1, only chains that agree in all calls.
 * In every case the tables of the switches have no loop, and when memory is available again, sweeps lead
 * to tables that connect all hosts.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "chains.h"
#include "fake/opensm.h"
#include "lib/draw.h"
#include "lib/drain_file.h"
#include "lib/suite.h"

static struct ftr_err err;

static void sweep(struct fake *h)
{
	fake_sweep(h);
	fake_settle(h);
}

static struct ibf_plugin *plugin(struct fake *h)
{
	return h->plugin;
}

/* ---- what fails ----------------------------------------------------------------------- */

#define DEPTH 4	/* two of them are in chains.c */
#ifdef __SANITIZE_ADDRESS__
#define EVERY 5	/* all chains would take long */
#else
#define EVERY 1
#endif

static const char tree[] = "2;2,2;1,2;1,1";

/* The state file contains displaced entries, and there is one of another manager. */
static struct fake *two_files(void)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });
	char path[128];

	fake_link(h, fake_leaf(h, 1), fake_uplink(h, fake_leaf(h, 1), 1), false);
	fake_settle(h);
	sweep(h);
	snprintf(path, sizeof(path), "%s/ibfattree-state-00000000000000aa", h->dir);
	ck_assert(!ftr_state_write(path, &(struct ftr_state){ .nominal = plugin(h)->nominal->n }, &err));
	return h;
}

static void restart(struct fake *h)
{
	fake_restart(h, false);
	sweep(h);
}

/* A search has found the tables of sftree, and a host is off.  The leaves a and b are connected by an extra
 * turn. */
static struct fake *better(void)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = draw("x: a c\ny: b c\na: h2\nb: h2\nc: h2\n"), .options = "balance load\n",
	});
	struct ibf_engine *e = plugin(h)->routed;
	struct ibf_search *z = calloc(1, sizeof(*z));

	ck_assert_ptr_nonnull(z);
	ck_assert_uint_gt(e->gen->opts.n_turns, 0);
	z->e = e;
	z->gen = ibf_generation_get(e->gen);
	z->balance.moved = 1;
	ck_assert(!ftr_tables_new(e->gen->fabric, false, &z->t, &err));
	ck_assert(!ftr_engine_find("sftree")->route(e->gen->shape, &(struct ftr_route_opts)FTR_ROUTE_OPTS_INIT, NULL,
						    z->t, NULL, &err));
	e->prefer.better = z;
	fake_host(h, h->fab->n_ep - 1, false);
	return h;
}

static struct fake *drain(struct fake *h, ftr_sw s, ftr_port port)
{
	struct ftr_drain part = { .guid = h->fab->sw[s].guid, .port = port, .by = "test" };
	char path[128];

	snprintf(path, sizeof(path), "%s/conf.drains", h->dir);
	ck_assert(write_drains(path, &(struct ftr_drains){ .request = 7, .n = 1, .part = &part }));
	return h;
}

/* The leaf with SM has two drained uplinks less; the links are in the nominal fabric. */
static struct fake *drains(void)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree });

	return drain(h, fake_leaf(h, 1), fake_uplink(h, fake_leaf(h, 1), 0));
}

#define RING "e h1 an\nb: c h1\nc: d h1\nd: e h1\ne: h1\n"

/* The tables in use are those of shortest paths in a ring, clockwise from each switch; they may have a
 * credit loop. */
static struct fake *ring(const char *fabric, bool cycle, const char *options)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.fabric = draw(fabric), .options = options, .not_up = true,
	});
	const struct ftr_fabric *f = h->fab;

	h->osm->subn.opt.packet_life_time = OSM_DEFAULT_SWITCH_PACKET_LIFE;
	fake_activate(h);
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		const struct ftr_lid_owner *o = &f->owner[lid];
		ftr_sw last;

		if (o->kind == FTR_OWNER_NONE)
			continue;
		last = o->kind == FTR_OWNER_SW ? o->idx : f->ep[o->idx].sw;
		for (ftr_sw s = 0; s < f->n_sw; s++) {
			/* right: as far as half of the ring; all to the right except over the last link */
			uint32_t right = (last + f->n_sw - s) % f->n_sw;
			bool is_right = cycle ? right <= f->n_sw / 2 : s < last;
			ftr_sw next = (s + (is_right ? 1 : f->n_sw - 1)) % f->n_sw;

			if (s == last) {
				h->sw[s].lft[lid] = o->kind == FTR_OWNER_SW ? 0 : f->ep[o->idx].sw_port;
				continue;
			}
			for (unsigned int p = 1; p <= f->sw[s].n_ports; p++)
				if (ftr_fabric_next(f, s, (ftr_port)p) == next)
					h->sw[s].lft[lid] = (uint8_t)p;
		}
	}
	return h;
}

#define ORDERED "takeover ordered\ntransition_limit_ms 20000\n"

static struct fake *line_tables(void)
{
	return ring("a: b " RING, false, ORDERED);
}

/* More than one wait for packets exceeds the time limit. */
static struct fake *long_waits(void)
{
	return ring("a: b " RING, false, "takeover ordered\n");
}

/* One of two links between the same switches is drained, so the planner needs the ranks of the fabric with
 * this link. */
static struct fake *drained_line(void)
{
	return drain(ring("a: b*2 " RING, false, ORDERED), 0, 1);
}

/* The tables also have a forwarding loop for a LID that no host has now, and lack the entry of a switch
 * for its own host. */
static struct fake *loop_tables(void)
{
	struct fake *h = ring("a: b " RING, true, ORDERED);
	const struct ftr_endport *off = &h->fab->ep[2], *own = &h->fab->ep[4];

	for (unsigned int p = 1; p <= h->fab->sw[off->sw].n_ports; p++)
		if (ftr_fabric_next(h->fab, off->sw, (ftr_port)p) == (off->sw + 1) % h->fab->n_sw)
			h->sw[off->sw].lft[off->lid] = (uint8_t)p;
	h->sw[own->sw].lft[own->lid] = FTR_PORT_NONE;
	fake_host(h, 2, false);
	return h;
}

/* A search starts after the first routing. */
static struct fake *searches(void)
{
	return fake_new(&(struct fake_opts){ .pgft = tree, .options = "balance full\n", .not_up = true });
}

/* The tables of the switches become the preferred ones. */
static struct fake *adopts(void)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .options = "adopt yes\n" });
	char command[128];

	fake_restart(h, false);
	snprintf(command, sizeof(command), "rm %s/ibfattree-state-*", h->dir);
	ck_assert(!system(command));
	return h;
}

static struct fake *plain(void)
{
	return fake_new(&(struct fake_opts){ .pgft = "2;4,4;1,4;1,1", .options = "transition_limit_ms 20000\n" });
}

static void lose_some(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	const ftr_sw *deaf = ctx;

	fate->lose_request = p->plugin && (p->to == *deaf || p->number % 4 == 1);
}

/* An upper switch fails, a leaf does not answer, and other packets are lost. */
static void fail_silently(struct fake *h)
{
	ftr_sw deaf = fake_leaf(h, 1);

	fake_set_fate(h, lose_some, &deaf);
	fake_switch(h, fake_spine(h, 2), false);
	fake_settle(h);
	fake_set_fate(h, NULL, NULL);
}

static struct fake *vls(void)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = tree, .engine = "ddlr", .not_up = true });

	h->osm->subn.opt.qos = TRUE;
	cl_qmap_init(&h->osm->subn.prtn_pkey_tbl);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++)
			h->sw_node[s]->physp_table[p].port_info.vl_enforce = 4 << 4;
	return h;
}

/* A switch fails and returns, and all files are written. */
static struct fake *files(void)
{
	return fake_new(&(struct fake_opts){
		.pgft = "2;4,4;1,4;1,1", .engine = "ddlr", .options = "status_files on\nca_order_dump on\n",
	});
}

static void fail_and_return(struct fake *h)
{
	fake_switch(h, fake_spine(h, 1), false);
	fake_settle(h);
	sweep(h);
	fake_host(h, h->fab->n_ep - 1, false);
	for (unsigned int p = 1; p <= h->fab->sw[fake_spine(h, 1)].n_ports; p++)
		fake_link_quietly(h, fake_spine(h, 1), (ftr_port)p, true);
	sweep(h);
	sweep(h);
}

/* Two leaves have no common upper switch, and are connected by an extra turn. */
static struct fake *turns(void)
{
	struct fake *h = fake_new(&(struct fake_opts){ .pgft = "2;2,3;1,2;1,1" });

	for (unsigned int i = 0; i < 2; i++) {
		fake_link(h, fake_leaf(h, i), fake_uplink(h, fake_leaf(h, i), i), false);
		fake_settle(h);
	}
	sweep(h);
	sweep(h);
	ck_assert_uint_gt(plugin(h)->routed->gen->opts.n_turns, 0);
	return h;
}

static void lose_host(struct fake *h)
{
	fake_host(h, h->fab->n_ep - 1, false);
	sweep(h);
}

static struct fake *turns_without_host(void)
{
	struct fake *h = turns();

	lose_host(h);
	return h;
}

/* Two parts of the fabric are not connected. */
static struct fake *islands(void)
{
	struct fake *h = fake_new(&(struct fake_opts){ .fabric = draw("a: b h2\nb: h2 c\nc: h1\n"), .not_up = true });

	fake_link_quietly(h, 0, 1, false);	/* a - b */
	return h;
}

/* A routing is written while a switch does not answer. */
static void lose_all(void *ctx, const struct fake_packet *p, struct fake_fate *fate)
{
	const ftr_sw *silent = ctx;

	fate->lose_request = p->plugin && p->to == *silent;
}

static void write_lossy(struct fake *h)
{
	ftr_sw silent = fake_leaf(h, 1);

	fake_link_quietly(h, fake_leaf(h, 2), fake_uplink(h, fake_leaf(h, 2), 1), false);
	fake_link_quietly(h, silent, fake_uplink(h, silent, 0), false);
	fake_set_fate(h, lose_all, &silent);
	sweep(h);
	fake_set_fate(h, NULL, NULL);
}

/* A link returns, and its upper switch fails at the end of the sweep, before the link is used. */
static void kill_spine(void *ctx, struct fake *h, enum fake_moment m)
{
	ftr_sw s = fake_spine(h, 1);

	(void)ctx;
	if (m != FAKE_SWEEP_ENDS)
		return;
	for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++)
		if (ftr_fabric_next(h->fab, s, (ftr_port)p) != FTR_SW_NONE)
			fake_link_quietly(h, s, (ftr_port)p, false);
	h->moment = NULL;
}

static struct fake *link_down(void)
{
	struct fake *h = plain();

	fake_link(h, fake_leaf(h, 2), fake_uplink(h, fake_leaf(h, 2), 1), false);
	fake_settle(h);
	sweep(h);
	return h;
}

static void link_returns(struct fake *h)
{
	fake_link(h, fake_leaf(h, 2), fake_uplink(h, fake_leaf(h, 2), 1), true);
	sweep(h);
}

static void return_and_fail(struct fake *h)
{
	fake_link(h, fake_leaf(h, 2), fake_uplink(h, fake_leaf(h, 2), 1), true);
	h->moment = kill_spine;
	sweep(h);
	h->moment = NULL;
}

/* The link over which a trap has come fails, too. */
static void lose_way_of_trap(struct fake *h)
{
	ftr_sw leaf = fake_leaf(h, 2);
	ftr_port way = h->sw[leaf].lft[h->fab->ep[h->sm].lid];

	for (unsigned int i = 0; i < 4; i++)
		if (fake_uplink(h, leaf, i) != way) {
			fake_link(h, leaf, fake_uplink(h, leaf, i), false);
			break;
		}
	fake_link_quietly(h, leaf, way, false);
	fake_settle(h);
}

static void sweep_twice(struct fake *h)
{
	sweep(h);	/* requests a reroute, after which a search starts */
	sweep(h);
}

static const struct scenario {
	const char *name;
	struct fake *(*start)(void);
	void (*act)(struct fake *h);
	bool loops;		/* the tables in use have a credit loop, or min-hop makes one */
	bool loads;		/* begins with an allocation without which OpenSM does not load the plugin */
} scenario[] = {
	{ .name = "restart", .start = two_files, .act = restart, .loads = true },
	{ .name = "better tables", .start = better, .act = sweep },
	{ .name = "drains", .start = drains, .act = restart, .loads = true },
	{ .name = "line", .start = line_tables, .act = sweep, .loops = true },
	{ .name = "loop", .start = loop_tables, .act = sweep, .loops = true },
	{ .name = "drained line", .start = drained_line, .act = restart, .loops = true, .loads = true },
	{ .name = "long waits", .start = long_waits, .act = sweep, .loops = true },
	{ .name = "search", .start = searches, .act = sweep_twice },
	{ .name = "adopt", .start = adopts, .act = sweep },
	{ .name = "silent switch", .start = plain, .act = fail_silently },
	{ .name = "files", .start = files, .act = fail_and_return },
	{ .name = "turns", .start = turns, .act = lose_host },
	{ .name = "turns, restart", .start = turns_without_host, .act = restart, .loads = true },
	{ .name = "islands", .start = islands, .act = sweep },
	{ .name = "lost writes", .start = plain, .act = write_lossy },
	{ .name = "return", .start = link_down, .act = link_returns },
	{ .name = "return and failure", .start = link_down, .act = return_and_fail },
	{ .name = "way of a trap", .start = plain, .act = lose_way_of_trap },
	{ .name = "VLs", .start = vls, .act = sweep },
};

static unsigned int missed;	/* chains that did not occur again, because of the order of the threads */

static void end(struct fake *h)
{
	char path[128];

	snprintf(path, sizeof(path), "cd %s && rm -f conf.drains opensm-*", h->dir);
	ck_assert(!system(path));
	fake_free(h);
}

/* which: the chain that fails; 0: none, and all are recorded. */
static __attribute__((noinline)) void run_one(const struct scenario *c, uint64_t which)
{
	struct fake *h = c->start();
	volatile uint64_t chain = which;	/* so the compiler cannot make two calls of c->act() */

	if (chain)
		chains_fail(chain);
	else
		chains_begin(getenv("FTR_SOAK") ? CHAINS_WHOLE : DEPTH);
	c->act(h);
	if (!chain) {
		chains_end();
		end(h);
		return;
	}
	missed += !chains_fail(0);
	if (!c->loops)
		fake_check_sound(h);
	for (ftr_ep e = 0; e < h->fab->n_ep; e++)
		fake_host(h, e, true);
	for (int i = 0; i < 3; i++)
		sweep(h);
	fake_check_healed(h);
	fake_check_copy_clean(h);
	end(h);
}

/* All scenarios in one test, because a chain that has failed in an earlier scenario does not fail again.  All
 * runs begin with the same call, so the chains of the first run are found again. */
START_TEST(allocations)
{
	unsigned int total = 0;

	for (size_t i = 0; i < FTR_ARRAY_LEN(scenario); i++) {
		volatile uint64_t chain = 0;

		do {
			run_one(&scenario[i], chain);
			if (!chain && scenario[i].loads)
				chains_new();
			do
				chain = chains_new();
			while (chain && total++ % EVERY);
		} while (chain);
	}
	printf("%u chains, %u of them did not occur again\n", total, missed);
	ck_assert_uint_gt(total, 100);
	ck_assert_uint_lt(missed, total / EVERY / 4);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("errors of the plugin");
	TCase *c = tcase_create("all");

	if (!getenv("IBFATTREE_HELPER")) {
		printf("IBFATTREE_HELPER is not set: run \"make check\"\n");
		return 77;
	}
	tcase_add_test(c, allocations);
	suite_add_tcase(s, c);
	return run_suite(s);
}
