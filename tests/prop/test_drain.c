// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests drains over random fabrics, and the file of drained parts.
 *
 * The oracle shares no code with src/core/fabric/drain.c: it knows the drained parts, searches the
 * undrained links for another way, and walks the tables entry by entry.
 *
 * FTR_SEED=N starts at seed N; FTR_RUNS multiplies the number of fabrics.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/drain_file.h"
#include "lib/irregular.h"
#include "lib/suite.h"
#include "lib/temp.h"
#include "lib/trees.h"
#include "unit/check_net.h"

static struct ftr_err err;

static void must(enum ftr_status st)
{
	ck_assert_msg(!st, "%s", err.msg);
}

/* ---- oracle ----------------------------------------------------------------- */

struct trial {
	uint64_t seed;
	ftr_sw origin;
	struct ftr_fabric *f;
	struct ftr_drains d;
	struct ftr_drained got;
};

static struct {
	uint32_t parts, kept, cut, forced, deaths;
	uint64_t walks;
} sum;

static bool names(const struct trial *t, ftr_sw s, unsigned int p)
{
	for (uint32_t i = 0; i < t->d.n; i++)
		if (t->d.part[i].guid == t->f->sw[s].guid &&
		    (!t->d.part[i].port || t->d.part[i].port == p))
			return true;
	return false;
}

/* True if the link between switches at port p of s is drained. */
static bool is_drained(const struct trial *t, ftr_sw s, unsigned int p)
{
	const struct ftr_swport *port = ftr_fabric_port(t->f, s, p);

	return names(t, s, p) || names(t, port->peer, port->peer_port);
}

/* Mark in seen[] the switches that switch s reaches, over drained links or not. */
static void flood(const struct trial *t, ftr_sw s, bool drained, uint8_t *seen)
{
	seen[s] = 1;
	for (unsigned int p = 1; p <= t->f->sw[s].n_ports; p++) {
		const struct ftr_swport *port = ftr_fabric_port(t->f, s, p);

		if (port->peer_kind == FTR_PEER_SW && !seen[port->peer] &&
		    (drained || !is_drained(t, s, p)))
			flood(t, port->peer, drained, seen);
	}
}

/* Walk from switch s to a host port.  Returns the number of drained links on the path, or -1 if
 * the walk does not arrive. */
static int walk(const struct trial *t, const struct ftr_tables *lft, ftr_sw s, ftr_ep e)
{
	int drained = 0;

	for (uint32_t hops = 0; hops <= t->f->n_sw; hops++) {
		ftr_port p = ftr_tables_get(lft, s, t->f->ep[e].lid);
		const struct ftr_swport *port;

		if (!p || p > t->f->sw[s].n_ports)
			return -1;
		port = ftr_fabric_port(t->f, s, p);
		if (port->peer_kind == FTR_PEER_EP)
			return port->peer == e ? drained : -1;
		if (port->peer_kind != FTR_PEER_SW)
			return -1;
		drained += is_drained(t, s, p);
		s = port->peer;
	}
	return -1;
}

static void check_walks(const struct trial *t, const struct ftr_tables *lft)
{
	uint8_t *with = calloc(t->f->n_sw, 1), *without = calloc(t->f->n_sw, 1);

	ck_assert(with && without);
	for (ftr_sw s = 0; s < t->f->n_sw; s++) {
		memset(with, 0, t->f->n_sw);
		memset(without, 0, t->f->n_sw);
		flood(t, s, true, with);
		flood(t, s, false, without);
		for (ftr_ep e = 0; e < t->f->n_ep; e++) {
			ftr_sw to = t->f->ep[e].sw;
			bool from_host = false;
			int n;

			for (ftr_ep k = 0; k < t->f->n_ep && !from_host; k++)
				from_host = t->f->ep[k].sw == s &&
					!ftr_ep_is_aggregation(&t->f->ep[k]);
			if (to == FTR_SW_NONE || !t->f->ep[e].lid || !from_host ||
			    ftr_ep_is_aggregation(&t->f->ep[e]))
				continue;
			n = walk(t, lft, s, e);
			sum.walks++;
			sum.forced += with[to] && !without[to];
			ck_assert_msg((n >= 0) == with[to],
				      "seed %" PRIu64 ": switch %u reaches host port %u: %d, connected: %d",
				      t->seed, s, e, n, with[to]);
			ck_assert_msg(n <= 0 || !without[to],
				      "seed %" PRIu64 ": from switch %u to host port %u: %d drained links, but there is another way",
				      t->seed, s, e, n);
		}
	}
	free(with);
	free(without);
}

/* ---- one fabric -------------------------------------------------------------- */

static uint64_t detours;	/* pairs that the last routing connects by extra turns */

static struct ftr_tables *route(const struct ftr_fabric *f, const struct ftr_shape *nominal)
{
	struct ftr_shape_opts so = { .nominal = nominal };
	struct ftr_route_opts o = FTR_ROUTE_OPTS_INIT;
	struct ftr_route_stats stats = { .turn = NULL };
	struct ftr_check_report *r = calloc(1, sizeof(*r));
	struct ftr_tables *t = NULL;
	struct ftr_shape *sh = NULL;

	must(ftr_shape_new(f, &so, NULL, &sh, &err));
	must(ftr_tables_new(f, false, &t, &err));
	must(ftr_engine_find("dmodc")->route(sh, &o, NULL, t, &stats, &err));
	must(ftr_check_tables(f, t, NULL, NULL, r, &err));
	detours = stats.extra_pairs;
	ck_assert(!r->harmful && r->cdg != FTR_CDG_CYCLE);
	free(r);
	ftr_shape_free(sh);
	return t;
}

static void draw(struct ftr_rng *r, struct trial *t)
{
	uint32_t n = 1 + ftr_rng_below(r, 4);

	t->d = (struct ftr_drains){ .request = t->seed, .part = calloc(n, sizeof(*t->d.part)) };
	ck_assert_ptr_nonnull(t->d.part);
	while (t->d.n < n) {
		ftr_sw s = ftr_rng_below(r, t->f->n_sw);

		t->d.part[t->d.n++] = (struct ftr_drain){
			.guid = t->f->sw[s].guid, .by = "root",
			.port = (ftr_port)(ftr_rng_below(r, 2) ? 0 :
				1 + ftr_rng_below(r, t->f->sw[s].n_ports)),
		};
	}
	sum.parts += n;
}

static void check_copy(const struct trial *t)
{
	uint32_t lacking = 0, drained = 0;

	ck_assert(t->got.f->n_sw == t->f->n_sw && t->got.f->n_ep == t->f->n_ep);
	for (ftr_sw s = 0; s < t->f->n_sw; s++)
		for (unsigned int p = 1; p <= t->f->sw[s].n_ports; p++) {
			bool link = ftr_fabric_port(t->f, s, p)->peer_kind == FTR_PEER_SW;
			bool now = ftr_fabric_port(t->got.f, s, p)->peer_kind == FTR_PEER_SW;

			ck_assert(!now || link);
			lacking += link && !now;
			drained += link && is_drained(t, s, p);
			ck_assert(!link || now || is_drained(t, s, p));
		}
	ck_assert_uint_eq(lacking, 2 * t->got.n_links);
	ck_assert_uint_eq(drained, 2 * (t->got.n_links + t->got.n_kept));
	for (uint32_t i = 0; i < t->got.n_kept; i++)
		ck_assert(is_drained(t, t->got.kept[i].sw, t->got.kept[i].port));
}

static bool is_alive(void *ctx, const struct ftr_fabric *f, ftr_sw s, ftr_port p)
{
	ftr_sw dead = *(const ftr_sw *)ctx;

	return s != dead && ftr_fabric_port(f, s, p)->peer != dead;
}

/* A drained switch without hosts dies.  Entries of other LIDs must not change. */
static void kill_one(const struct trial *t, const struct ftr_shape *nominal,
		     const struct ftr_tables *before)
{
	ftr_sw dead = ftr_fabric_find_sw(t->f, t->d.part[0].guid);
	struct ftr_filter filter = { .keep_link = is_alive, .ctx = &dead };
	struct ftr_drained now;
	struct ftr_fabric *f;
	struct ftr_tables *after;
	uint32_t links = 0;

	for (ftr_ep e = 0; e < t->f->n_ep; e++)
		if (t->f->ep[e].sw == dead)
			return;
	for (unsigned int p = 1; p <= t->f->sw[dead].n_ports; p++)
		links += ftr_fabric_port(t->got.f, dead, p)->peer_kind == FTR_PEER_SW;
	/* with extra turns, the plugin keeps those of the last routing; this test does not */
	if (detours || t->d.part[0].port || links != 1 || t->origin == dead)
		return;
	must(ftr_fabric_copy_if(t->f, &filter, &f, &err));
	must(ftr_drain_apply(f, &t->d, t->origin, &now, &err));
	after = route(now.f, nominal);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (uint32_t lid = 1; s != dead && lid <= f->max_lid; lid++)
			ck_assert_msg((f->owner[lid].kind == FTR_OWNER_SW &&
				       f->owner[lid].idx == dead) ||
				      ftr_tables_get(before, s, (ftr_lid)lid) ==
				      ftr_tables_get(after, s, (ftr_lid)lid),
				      "seed %" PRIu64 ": switch %u died, and the entry of switch %u for LID %u changed",
				      t->seed, dead, s, lid);
	sum.deaths++;
	ftr_tables_free(after);
	ftr_drained_clear(&now);
	ftr_fabric_free(f);
}

static void drain_one(uint64_t seed)
{
	struct trial t = { .seed = seed };
	struct ftr_shape *nominal = NULL;
	struct ftr_tables *whole, *drained, *again;
	struct ftr_tables_diff diff;
	struct ftr_drain_count missing;
	struct ftr_rng r;

	ftr_rng_seed(&r, seed);
	suite_now(seed);
	t.f = seed % 3 ? trees_any(seed) : irregular_two_trees(&r, 1 + seed % 4, false, 3);
	draw(&r, &t);
	must(ftr_shape_new(t.f, NULL, NULL, &nominal, &err));
	t.origin = seed % 2 ? ftr_rng_below(&r, t.f->n_sw) : FTR_SW_NONE;
	must(ftr_drain_apply(t.f, &t.d, t.origin, &t.got, &err));
	check_copy(&t);
	must(ftr_drain_missing(t.f, t.got.f, &t.d, &missing, &err));
	ck_assert(!missing.switches && !missing.hosts && missing.links == t.got.n_links);
	whole = route(t.f, nominal);
	drained = route(t.got.f, nominal);
	check_walks(&t, drained);
	kill_one(&t, nominal, drained);
	sum.kept += t.got.n_kept;
	sum.cut += t.got.n_cut;
	ftr_drained_clear(&t.got);
	ftr_drains_clear(&t.d);
	must(ftr_drain_apply(t.f, &t.d, FTR_SW_NONE, &t.got, &err));	/* undrain */
	ck_assert(!t.got.n_links && !t.got.n_kept && !t.got.n_cut);
	again = route(t.got.f, nominal);
	ftr_tables_diff(t.f, whole, t.got.f, again, &diff);
	ck_assert_msg(!diff.entries, "seed %" PRIu64 ": %" PRIu64 " entries differ", seed,
		      diff.entries);
	ftr_tables_free(whole);
	ftr_tables_free(drained);
	ftr_tables_free(again);
	ftr_drained_clear(&t.got);
	ftr_shape_free(nominal);
	ftr_fabric_free(t.f);
}

START_TEST(no_path_crosses_a_drained_part)
{
	for (uint32_t i = 0; i < trees_runs(400); i++)
		drain_one(trees_first_seed() + i);
	printf("%u parts drained: %u links kept, %u host ports cut off, %" PRIu64
	       " walks, of which %u have no other way; %u drained switches died\n", sum.parts,
	       sum.kept, sum.cut, sum.walks, sum.forced, sum.deaths);
	runs_show(sum.kept > 0 && sum.cut > 0 && sum.forced > 0 && sum.deaths > 0);
}
END_TEST

/* ---- known fabrics --------------------------------------------------------------- */

/*
 * Leaves 0 and 1 with hosts h0, h1 and h2, h3 at ports 1 and 2; spines 2 and 3.  Port 3 of leaf i leads
 * to port i + 1 of spine 2, port 4 to that of spine 3.  h4 has no link.  Bits of `without`: parts that
 * the fabric lacks.
 */
enum {
	H0 = 1, H1 = 2, H2 = 4, LINK_OF_H3 = 8, LINK_02 = 16, LINK_12 = 32, SPINE_3 = 64, LEAF_1 = 128,
	/* another link at port 3 of leaf 0: to port 3 of spine 2, port 1 of leaf 1, a host */
	TO_PORT_3 = 256, TO_LEAF_1 = 512, TO_HOST = 1024,
};

static void add_host(struct net *n, bool present, uint32_t sw, uint32_t port)
{
	if (present)
		net_host(n, sw, port);
	else
		n->n_ep++;
}

static struct ftr_fabric *two_leaves(unsigned int without, uint32_t ports)
{
	bool leaf = !(without & LEAF_1), spine = !(without & SPINE_3);
	struct net n = net_new(without & LEAF_1 ? 1 : without & SPINE_3 ? 3 : 4, ports, false, 0);

	for (uint32_t s = 2; !leaf && s < 4; s++)	/* without a switch of GUID 2 */
		must(ftr_builder_add_switch(n.b, &(struct ftr_switch){
			.guid = s + 1, .n_ports = (ftr_port)ports,
		}, &err));
	add_host(&n, !(without & H0), 0, 1);
	add_host(&n, !(without & H1), 0, 2);
	add_host(&n, leaf && !(without & (H2 | TO_LEAF_1)), 1, 1);
	add_host(&n, true, leaf && !(without & LINK_OF_H3) ? 1 : FTR_SW_NONE, 2);
	add_host(&n, true, without & TO_HOST ? 0 : FTR_SW_NONE, 3);
	if (without & TO_PORT_3)
		net_link(&n, 0, 3, 2, 3);
	else if (without & TO_LEAF_1)
		net_link(&n, 0, 3, 1, 1);
	else if (!(without & (LINK_02 | TO_HOST)) && ports > 3)
		net_link(&n, 0, 3, 2, 1);
	if (spine && ports > 3)
		net_link(&n, 0, 4, 3, 1);
	if (leaf && !(without & LINK_12) && ports > 3)
		net_link(&n, 1, 3, 2, 2);
	if (leaf && spine && ports > 3)
		net_link(&n, 1, 4, 3, 2);
	must(ftr_builder_freeze(n.b, &n.f, &err));
	return n.f;
}

#define PART(guid_, port_) { .guid = guid_, .port = port_ }

static struct ftr_drain few[] = {	/* port 9 does not exist */
	PART(1000, 0), PART(1003, 0), PART(1004, 0), PART(2, 1), PART(1, 3), PART(1, 9), PART(4, 0),
	PART(77, 0),
}, leaf_1[] = { PART(2, 0) };

static const struct {
	struct ftr_drains d;
	unsigned int without;
	uint32_t ports;
	struct ftr_drain_count count;
} absent[] = {
	{ { 1, few, 8 }, 0, 6, { 0, 0, 1 } },		/* h4 has no link in the nominal fabric */
	{ { 1, few, 8 }, H0, 6, { 0, 0, 2 } },
	{ { 1, few, 8 }, H1 | LINK_12, 6, { 0, 0, 1 } },	/* these are not drained */
	{ { 1, few, 8 }, H2, 6, { 0, 0, 2 } },
	{ { 1, few, 8 }, LINK_OF_H3, 6, { 0, 0, 2 } },
	{ { 1, few, 8 }, LINK_02, 6, { 0, 1, 1 } },
	{ { 1, few, 8 }, TO_PORT_3, 6, { 0, 1, 1 } },
	{ { 1, few, 8 }, TO_LEAF_1, 6, { 0, 1, 2 } },
	{ { 1, few, 8 }, TO_HOST, 6, { 0, 1, 0 } },
	{ { 1, few, 8 }, SPINE_3, 6, { 1, 2, 1 } },
	{ { 1, few, 8 }, 0, 2, { 0, 3, 1 } },		/* switches of two ports */
	{ { 1, leaf_1, 1 }, 0, 6, { 0, 0, 0 } },
	{ { 1, leaf_1, 1 }, H2, 6, { 0, 0, 1 } },
	{ { 1, leaf_1, 1 }, LEAF_1, 6, { 1, 2, 2 } },
};

START_TEST(absent_parts_are_counted)
{
	struct ftr_fabric *n = two_leaves(0, 6);
	struct ftr_fabric *f = two_leaves(absent[_i].without, absent[_i].ports);
	struct ftr_drain_count c;

	must(ftr_drain_missing(n, f, &absent[_i].d, &c, &err));
	ck_assert_uint_eq(c.switches, absent[_i].count.switches);
	ck_assert_uint_eq(c.links, absent[_i].count.links);
	ck_assert_uint_eq(c.hosts, absent[_i].count.hosts);
	ftr_fabric_free(f);
	ftr_fabric_free(n);
}
END_TEST

/* Leaf 1 is drained: one of its links stays, and its hosts count as cut off; h4, without a link, does
 * not. */
START_TEST(drained_leaf)
{
	struct ftr_fabric *f = two_leaves(0, 6);
	const struct ftr_drains d = { 1, leaf_1, 1 };
	struct ftr_drained out;

	must(ftr_drain_apply(f, &d, 0, &out, &err));
	ck_assert_uint_eq(out.n_links, 1);
	ck_assert_uint_eq(out.n_kept, 1);
	ck_assert_uint_eq(out.n_cut, 2);
	ck_assert(out.cut[0] == 2 && out.cut[1] == 3);
	ftr_drained_clear(&out);
	ftr_fabric_free(f);
}
END_TEST

/* ---- the file ------------------------------------------------------------------ */

static char dir[TEMP_ROOM], path[80];

static void setup(void)
{
	ck_assert_ptr_nonnull(temp_dir(dir, "test_drain"));
	snprintf(path, sizeof(path), "%s/drains", dir);
}

static void teardown(void)
{
	unlink(path);
	ck_assert(!rmdir(dir));
}

static void put(const char *text)
{
	FILE *out = fopen(path, "w");

	ck_assert(out && fputs(text, out) >= 0 && !fclose(out));
}

START_TEST(file_returns_what_was_written)
{
	struct ftr_drain part[] = {
		{ 0x2c90300000001, 1764000000, 0, "root", "spine \xc3\xa4 1" },
		{ UINT64_MAX, 0, FTR_PORT_MAX, "a-b.c_9", "" },
	};
	struct ftr_drains d = { .request = UINT64_MAX, .part = part, .n = 2 }, got;

	ck_assert(write_drains(path, &d));
	must(ftr_drains_read(path, true, &got, &err));
	ck_assert(got.request == d.request && got.n == 2);
	for (int i = 0; i < 2; i++)
		ck_assert(got.part[i].guid == part[i].guid && got.part[i].port == part[i].port &&
			  got.part[i].since == part[i].since &&
			  !strcmp(got.part[i].by, part[i].by) &&
			  !strcmp(got.part[i].name, part[i].name));
	ftr_drains_clear(&got);
}
END_TEST

#define LONG "a name of 16 ..."

static const struct {
	const char *text, *want;
} bad[] = {
	{ "", "the file contains no line \"request\"" },
	{ "# nothing\n", "the file contains no line \"request\"" },
	{ "0x1 0 1 root\n", ":1: expected \"request\" and a number, found '0x1 0 1 root'" },
	{ "request\n", ":1: expected the number of the request" },
	{ "request 0\n", ":1: request 0 is not valid" },
	{ "request 1 2\n", ":1: expected the end of the line, found '2'" },
	{ "request 1\n\nspine 0 1 root\n", ":3: expected a GUID, found 'spine 0 1 root'" },
	{ "request 1\n0x1 255 1 root\n", ":2: expected a port number 0..254, found ' 255 1 root'" },
	{ "request 1\n0x1 1x 1 root\n", ":2: expected a port number 0..254" },
	{ "request 1\n0x1 1 -1 root\n", ":2: expected a time in seconds since 1970" },
	{ "request 1\n0x1 1 1\n", ":2: expected a user name" },
	{ "request 1\n0x1 1 1 ro;ot\n", ":2: expected a user name" },
	{ "request 1\n0x1 1 1 abcdefghijklmnopqrstuvwxyz0123456\n", ":2: expected a user name" },
	{ "request 1\n0x1 1 1 root name\n", ":2: expected a name in quotes, found 'name'" },
	{ "request 1\n0x1 1 1 root \"name\n", ":2: expected a name in quotes" },
	{ "request 1\n0x1 1 1 root \"\n", ":2: expected a name in quotes" },
	{ "request 1\n0x1 1 1 root \"" LONG LONG LONG LONG LONG "\"\n",
	  ":2: expected a name in quotes" },
	{ "request 1\n0x1 1 1 {\n", ":2: expected a user name" },
	{ "request 1\n0x1 1 1 [\n", ":2: expected a user name" },
	{ "request 1\n0x1 1 1 a\n0x2 1 1 a\n0x1 1 2 b\n",
	  ":4: 0x0000000000000001 port 1 is listed twice" },
};

START_TEST(bad_lines_are_reported)
{
	struct ftr_drains got = { 0 };

	put(bad[_i].text);
	ck_assert(ftr_drains_read(path, true, &got, &err));
	ck_assert(!got.part && !got.n);
	ck_assert_msg(!strncmp(err.msg, path, strlen(path)) && strstr(err.msg, bad[_i].want),
		      "\"%s\", expected \"%s\"", err.msg, bad[_i].want);
}
END_TEST

/* Two ports of one switch are two parts.  At most FTR_DRAINS_MAX parts are read. */
START_TEST(as_many_parts_as_allowed)
{
	struct ftr_drains got = { 0 };

	for (uint32_t n = FTR_DRAINS_MAX; n <= FTR_DRAINS_MAX + 1; n++) {
		FILE *out = fopen(path, "w");

		ck_assert(out && fputs("request 1\n", out) >= 0);
		for (uint32_t i = 0; i < n; i++)
			fprintf(out, "0x%x %u 1 Root\n", i / 2 + 1, i % 2 + 1);
		ck_assert(!fclose(out));
		if (n > FTR_DRAINS_MAX) {
			ck_assert_int_eq(ftr_drains_read(path, true, &got, &err), FTR_LIMIT);
			ck_assert(!got.part && !got.n);
			continue;
		}
		must(ftr_drains_read(path, true, &got, &err));
		ck_assert_uint_eq(got.n, n);
		ftr_drains_clear(&got);
	}
}
END_TEST

START_TEST(links_and_foreign_files_are_refused)
{
	struct ftr_drains got = { 0 };
	char other[90];

	snprintf(other, sizeof(other), "%s.other", path);
	put("request 1\n");
	ck_assert(!rename(path, other) && !symlink(other, path));
	ck_assert_int_eq(ftr_drains_read(path, true, &got, &err), FTR_IO);
	ck_assert(!unlink(path) && !mkfifo(path, 0600));
	ck_assert_int_eq(ftr_drains_read(path, true, &got, &err), FTR_IO);
	ck_assert(!unlink(path) && !rename(other, path));
	must(ftr_drains_read(path, true, &got, &err));
	ftr_drains_clear(&got);
	if (geteuid()) {
		skip_case("only root can give a file to another user");
		return;
	}
	ck_assert(!chown(path, 65534, 65534));
	ck_assert_int_eq(ftr_drains_read(path, true, &got, &err), FTR_IO);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("drains");
	TCase *t = tcase_create("drains"), *file = tcase_create("file");

	tcase_add_test(t, no_path_crosses_a_drained_part);
	tcase_add_loop_test(t, absent_parts_are_counted, 0, (int)FTR_ARRAY_LEN(absent));
	tcase_add_test(t, drained_leaf);
	suite_add_tcase(s, t);
	tcase_add_checked_fixture(file, setup, teardown);
	tcase_add_test(file, file_returns_what_was_written);
	tcase_add_test(file, as_many_parts_as_allowed);
	tcase_add_loop_test(file, bad_lines_are_reported, 0, (int)(sizeof(bad) / sizeof(bad[0])));
	tcase_add_test(file, links_and_foreign_files_are_refused);
	suite_add_tcase(s, file);
	return run_suite(s);
}
