// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the generators of fabrics.  A tree must have the numbers of nodes and links that the
 * formulas in <ftr/gen.h> give, and only links that its shape defines; the same seed must give the
 * same fabric.  Also tests tori, random graphs, invalid arguments, and the removal of parts
 * (damage).
 */
#include "lib/random_graph.h"
#include "lib/suite.h"
#include "unit/io_util.h"

static struct ftr_err err;

static struct ftr_fabric *grow(const char *shape, const struct ftr_gen_opts *o)
{
	struct ftr_fabric *f = NULL;
	struct ftr_pgft g;

	if (ftr_pgft_parse(shape, &g, &err) || ftr_gen_pgft(&g, o, &f, &err))
		ck_abort_msg("%s", err.msg);
	return f;
}

static uint32_t components(const struct ftr_fabric *f)
{
	uint32_t n = f->n_sw + f->n_nodes, roots = 0;
	uint32_t *uf = malloc(n * sizeof(*uf));

	ftr_uf_init(uf, n);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(f, s, (ftr_port)p);

			if (port->peer_kind == FTR_PEER_SW)
				ftr_uf_union(uf, s, port->peer);
			else if (port->peer_kind == FTR_PEER_EP)
				ftr_uf_union(uf, s, f->n_sw +
					     f->ep[port->peer].node);
		}
	for (uint32_t i = 0; i < n; i++)
		roots += ftr_uf_find(uf, i) == i;
	free(uf);
	return roots;
}

/* ---- trees ------------------------------------------------------------- */

static const struct {
	const char *shape;
	uint32_t n_sw, nodes, n_ep, sw_links;
} trees[] = {
	{ "648", 54, 648, 648, 648 },
	{ "3456", 720, 3456, 3456, 6912 },
	{ "11664", 1620, 11664, 11664, 23328 },
	{ "27648", 2880, 27648, 27648, 55296 },
	{ "kary:4,3", 48, 64, 64, 128 },
	{ "kary:2,4", 32, 16, 16, 48 },
	{ "1;5;1;1", 1, 5, 5, 0 },
	{ "1;5;3;2", 3, 5, 30, 0 },
	{ "2;4,4;1,2;1,3", 6, 16, 16, 24 },
	{ "3;2,3,4;2,3,2;2,1,2", 60, 24, 96, 168 },
};

/* The numbers in the table above were worked out by hand.  The functions below use the formulas of
 * <ftr/gen.h>. */
static uint64_t nodes_of(const struct ftr_pgft *g, unsigned int level)
{
	uint64_t n = 1;

	for (unsigned int j = 0; j < g->h; j++)
		n *= j < level ? g->w[j] : g->m[j];
	return n;
}

static unsigned int level_of(const struct ftr_switch *sw, uint32_t *pos)
{
	unsigned int level, p;

	if (sscanf(sw->name, "sw-%u-%u", &level, &p) != 2 || level < 1 ||
	    level > FTR_PGFT_MAX_H)
		ck_abort_msg("a switch is not named sw-LEVEL-INDEX: '%s'", sw->name);
	*pos = p;
	return level;
}

/* Returns digit d (1..h) of the label of node number pos on a level.  Labels: see <ftr/gen.h>. */
static uint32_t digit(const struct ftr_pgft *g, unsigned int level,
		      uint32_t pos, unsigned int d)
{
	unsigned int j = 0;

	for (; j + 1 < d; j++)
		pos /= j < level ? g->w[j] : g->m[j];
	return pos % (j < level ? g->w[j] : g->m[j]);
}

static void check_switch(const struct ftr_fabric *f, const struct ftr_pgft *g,
			 ftr_sw s)
{
	uint32_t pos, up = 0, down = 0;
	unsigned int level = level_of(&f->sw[s], &pos);

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(f, s, (ftr_port)p);
		unsigned int other = 0, top;
		uint32_t at;

		if (port->peer_kind == FTR_PEER_SW)
			other = level_of(&f->sw[port->peer], &at);
		else
			ck_assert_int_eq(sscanf(f->ep[port->peer].name,
						"host-%u", &at), 1);
		ck_assert(other + 1 == level || level + 1 == other);
		up += other > level;
		down += other < level;
		top = FTR_MAX(level, other);
		for (unsigned int d = 1; d <= g->h; d++)
			if (d != top)
				ck_assert_uint_eq(digit(g, level, pos, d),
						  digit(g, other, at, d));
		ck_assert_uint_eq(port->width, 4);
		ck_assert_uint_eq(port->speed, FTR_SPEED_EDR);
	}
	ck_assert_uint_eq(down, g->m[level - 1] * g->p[level - 1]);
	ck_assert_uint_eq(up, level < g->h ? g->w[level] * g->p[level] : 0);
}

/* Check that s has as many parallel links to each neighbour as the parameter p of the PGFT gives
 * for the level of these links. */
static void check_parallel(const struct ftr_fabric *f,
			   const struct ftr_pgft *g, ftr_sw s)
{
	uint32_t pos, far_pos;
	unsigned int level = level_of(&f->sw[s], &pos);

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *port =
			ftr_fabric_port(f, s, (ftr_port)p);
		unsigned int far, n = 0;

		if (port->peer_kind != FTR_PEER_SW)
			continue;
		far = level_of(&f->sw[port->peer], &far_pos);
		for (unsigned int q = 1; q <= f->sw[s].n_ports; q++) {
			const struct ftr_swport *x =
				ftr_fabric_port(f, s, (ftr_port)q);

			n += x->peer_kind == FTR_PEER_SW &&
			     x->peer == port->peer;
		}
		ck_assert_uint_eq(n, g->p[FTR_MAX(level, far) - 1]);
	}
}

START_TEST(tree)
{
	struct ftr_gen_opts o = { .seed = 11, .random_guids = true,
				  .random_ports = true };
	uint64_t n_sw = 0, links = 0;
	struct ftr_fabric *f;
	struct ftr_pgft g;

	ck_assert_int_eq(ftr_pgft_parse(trees[_i].shape, &g, &err), FTR_OK);
	for (unsigned int l = 1; l <= g.h; l++) {
		n_sw += nodes_of(&g, l);
		if (l > 1)
			links += nodes_of(&g, l) * g.m[l - 1] * g.p[l - 1];
	}
	for (int random = 0; random < 2; random++) {
		f = grow(trees[_i].shape, random ? &o : NULL);
		ck_assert_uint_eq(f->n_sw, n_sw);
		ck_assert_uint_eq(f->n_nodes, nodes_of(&g, 0));
		ck_assert_uint_eq(f->n_ep, nodes_of(&g, 0) * g.w[0] * g.p[0]);
		ck_assert_uint_eq(f->n_sw_links, links);
		ck_assert_uint_eq(f->n_sw, trees[_i].n_sw);
		ck_assert_uint_eq(f->n_nodes, trees[_i].nodes);
		ck_assert_uint_eq(f->n_ep, trees[_i].n_ep);
		ck_assert_uint_eq(f->n_sw_links, trees[_i].sw_links);
		for (ftr_sw s = 0; s < f->n_sw; s++) {
			check_switch(f, &g, s);
			check_parallel(f, &g, s);
		}
		for (ftr_ep e = 0; e < f->n_ep; e++)
			ck_assert_uint_ne(f->ep[e].sw, FTR_SW_NONE);
		if (g.h > 1 || g.w[0] == 1)
			ck_assert_uint_eq(components(f), 1);
		ftr_fabric_free(f);
	}
}
END_TEST

START_TEST(plain_numbers)
{
	struct ftr_fabric *f = grow("2;2,2;1,2;1,1", NULL);
	const struct ftr_swport *p;

	for (ftr_ep e = 0; e < f->n_ep; e++) {
		char name[16];

		snprintf(name, sizeof(name), "host-%u", e);
		ck_assert_str_eq(f->ep[e].name, name);
	}
	ck_assert_str_eq(f->sw[0].name, "sw-1-0");
	ck_assert_str_eq(f->sw[3].name, "sw-2-1");
	p = ftr_fabric_port(f, 0, 1);	/* downward ports come first */
	ck_assert_uint_eq(p->peer_kind, FTR_PEER_EP);
	p = ftr_fabric_port(f, 0, 3);
	ck_assert_uint_eq(p->peer_kind, FTR_PEER_SW);
	ck_assert_str_eq(f->sw[p->peer].name, "sw-2-0");
	ftr_fabric_free(f);
}
END_TEST

/* In ibsim a port GUID is the node GUID plus the port number.  The port GUIDs of different nodes
 * must differ. */
START_TEST(guids_leave_room)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct ftr_gen_opts o = { .seed = seed, .random_guids = true };
		struct ftr_fabric *f = grow("2;6,6;2,3;2,2", &o);

		for (ftr_ep e = 0; e < f->n_ep; e++) {
			ck_assert_uint_eq(f->ep[e].node_guid & 0xff, 0);
			ck_assert_uint_eq(f->ep[e].guid, f->ep[e].node_guid +
					  f->ep[e].port_num);
		}
		for (ftr_sw s = 0; s < f->n_sw; s++) {
			ck_assert_uint_eq(f->sw[s].guid & 0xff, 0);
			ck_assert_uint_ne(f->sw[s].guid, 0);
		}
		ftr_fabric_free(f);
	}
}
END_TEST

START_TEST(seeds)
{
	struct ftr_gen_opts o = { .seed = 5, .random_guids = true,
				  .random_ports = true, .random_lids = true };
	struct ftr_fabric *a = grow("kary:3,3", &o), *b = grow("kary:3,3", &o);
	struct ftr_fabric *c;

	same_fabric(a, b);
	o.seed = 6;
	c = grow("kary:3,3", &o);
	ck_assert_uint_ne(a->sw[0].guid, c->sw[0].guid);
	ftr_fabric_free(a);
	ftr_fabric_free(b);
	ftr_fabric_free(c);
}
END_TEST

START_TEST(lids)
{
	for (unsigned int lmc = 0; lmc <= FTR_LMC_MAX; lmc++)
		for (int random = 0; random < 2; random++) {
			struct ftr_gen_opts o = { .seed = lmc, .lmc = lmc,
						  .random_lids = random };
			struct ftr_fabric *f = grow("2;3,4;1,2;1,1", &o);

			for (ftr_ep e = 0; e < f->n_ep; e++) {
				ck_assert_uint_ne(f->ep[e].lid, 0);
				ck_assert_uint_eq(f->ep[e].lmc, lmc);
				ck_assert_uint_eq(f->ep[e].lid &
						  ((1u << lmc) - 1), 0);
			}
			for (ftr_sw s = 0; s < f->n_sw; s++)
				ck_assert_uint_ne(f->sw[s].lid, 0);
			ftr_fabric_free(f);
		}
}
END_TEST

START_TEST(no_lids)
{
	struct ftr_gen_opts o = { .no_lids = true, .random_lids = true };
	struct ftr_fabric *f = grow("2;3,4;1,2;1,1", &o);

	ck_assert_uint_eq(f->max_lid, 0);
	ck_assert_uint_eq(f->ep[0].lid, 0);
	ftr_fabric_free(f);
}
END_TEST

/* ---- tori -------------------------------------------------------------- */

static const struct {
	const char *shape;
	uint32_t n_sw, n_ep, links;
} tori[] = {
	{ "torus:8,8", 64, 64, 128 },
	{ "torus:16,16", 256, 256, 512 },
	{ "torus:5", 5, 5, 5 },
	{ "torus:2,3;2", 6, 12, 12 },
	{ "torus:4,3,5;3", 60, 180, 180 },
	{ "torus:2,2,2,2", 16, 16, 64 },
};

static struct ftr_fabric *grow_torus(const char *shape,
				     const struct ftr_gen_opts *o)
{
	struct ftr_fabric *f = NULL;

	if (ftr_gen_shape(shape, o, &f, &err))
		ck_abort_msg("%s", err.msg);
	return f;
}

static void place_of(const struct ftr_switch *sw, const struct ftr_torus *g,
		     unsigned int *x)
{
	const char *at = sw->name + 2;
	int used;

	for (unsigned int d = 0; d < g->d; d++, at += used) {
		ck_assert_int_eq(sscanf(at, "-%u%n", &x[d], &used), 1);
		ck_assert_uint_lt(x[d], g->k[d]);
	}
	ck_assert_str_eq(at, "");
}

/* Check that a switch has links to both neighbours in every dimension (if k is 2: two links to one
 * neighbour) and to its hosts.  If `ordered` is set, each link must use the expected port. */
static void check_torus_switch(const struct ftr_fabric *f,
			       const struct ftr_torus *g, ftr_sw s,
			       bool ordered)
{
	unsigned int x[FTR_TORUS_MAX_D], y[FTR_TORUS_MAX_D], hosts = 0;
	unsigned int on[FTR_TORUS_MAX_D] = { 0 }, back[FTR_TORUS_MAX_D] = { 0 };

	place_of(&f->sw[s], g, x);
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *q =
			ftr_fabric_port(f, s, (ftr_port)p);
		unsigned int moved = 0, d = 0;

		if (q->peer_kind == FTR_PEER_EP) {
			hosts++;
			continue;
		}
		ck_assert_int_eq(q->peer_kind, FTR_PEER_SW);
		place_of(&f->sw[q->peer], g, y);
		for (unsigned int i = 0; i < g->d; i++)
			if (x[i] != y[i]) {
				moved++;
				d = i;
			}
		ck_assert_uint_eq(moved, 1);
		ck_assert(y[d] == (x[d] + 1) % g->k[d] ||
			  x[d] == (y[d] + 1) % g->k[d]);
		on[d] += y[d] == (x[d] + 1) % g->k[d];
		back[d] += x[d] == (y[d] + 1) % g->k[d];
		if (ordered) {
			ck_assert_uint_eq((p - 1) / 2, d);
			ck_assert_uint_eq(q->peer_port, (p % 2) ? p + 1 : p - 1);
		}
	}
	ck_assert_uint_eq(hosts, g->hosts);
	for (unsigned int d = 0; d < g->d; d++) {
		ck_assert_uint_eq(on[d], g->k[d] == 2 ? 2 : 1);
		ck_assert_uint_eq(back[d], g->k[d] == 2 ? 2 : 1);
	}
}

START_TEST(torus)
{
	struct ftr_gen_opts o = { .seed = 5, .random_guids = true,
				  .random_ports = true, .random_lids = true,
				  .lmc = 1 };
	const struct ftr_gen_opts *opts[] = { NULL, &o };
	struct ftr_torus g;

	ck_assert(!ftr_torus_parse(tori[_i].shape, &g, &err));
	for (int r = 0; r < 2; r++) {
		struct ftr_fabric *f = grow_torus(tori[_i].shape, opts[r]);

		ck_assert_uint_eq(f->n_sw, tori[_i].n_sw);
		ck_assert_uint_eq(f->n_ep, tori[_i].n_ep);
		ck_assert_uint_eq(f->n_sw_links, tori[_i].links);
		ck_assert_uint_eq(components(f), 1);
		for (ftr_sw s = 0; s < f->n_sw; s++)
			check_torus_switch(f, &g, s, !r);
		for (ftr_ep e = 0; e < f->n_ep; e++) {
			ck_assert_uint_ne(f->ep[e].lid, 0);
			ck_assert_uint_eq(f->ep[e].lmc, r);
			if (!r)
				ck_assert_uint_eq(f->ep[e].sw, e / g.hosts);
		}
		ftr_fabric_free(f);
	}
}
END_TEST

/* A torus can have random GUIDs and ports, no LIDs, and damage. */
START_TEST(torus_options)
{
	struct ftr_gen_opts o = { .seed = 5, .random_guids = true,
				  .random_ports = true, .no_lids = true };
	const struct ftr_damage d = { .seed = 1, .links = 12, .hosts = 3 };
	struct ftr_fabric *f = grow_torus("torus:8,8", &o), *g = NULL;

	g = grow_torus("torus:8,8", &o);
	same_fabric(f, g);
	ck_assert_uint_eq(f->max_lid, 0);
	ftr_fabric_free(f);
	ck_assert(!ftr_gen_damage(g, &d, &f, &err));
	ck_assert_uint_eq(f->n_sw_links, 128 - 12);
	ck_assert_uint_eq(f->n_nodes, 61);
	ftr_fabric_free(f);
	ftr_fabric_free(g);
}
END_TEST

static const struct {
	const char *shape;
	enum ftr_status st;
} no_tori[] = {
	{ "torus:", FTR_PARSE }, { "torus:8,", FTR_PARSE },
	{ "torus:8;", FTR_PARSE }, { "torus:8;0", FTR_PARSE },
	{ "torus:8,8;1;1", FTR_PARSE }, { "torus:8x8", FTR_PARSE },
	{ "torus:0,8", FTR_PARSE }, { "torus:2,2,2,2,2", FTR_PARSE },
	{ "torus", FTR_PARSE }, { "torus:1,8", FTR_INVAL },
	{ "torus:4,4;251", FTR_LIMIT }, { "torus:256,256", FTR_LIMIT },
	{ "torus:49151,49151,49151,49151", FTR_LIMIT },
	{ "torus:8,8;254", FTR_LIMIT },
};

START_TEST(torus_refused)
{
	struct ftr_fabric *f = NULL;
	struct ftr_torus g;

	ck_assert_int_eq(ftr_gen_shape(no_tori[_i].shape, NULL, &f, &err),
			 no_tori[_i].st);
	ck_assert_str_ne(err.msg, "");
	ck_assert_ptr_null(f);
	ck_assert_int_eq(ftr_torus_parse("kary:4,3", &g, &err), FTR_PARSE);
	g = (struct ftr_torus){ .d = 5, .hosts = 1 };
	ck_assert_int_eq(ftr_gen_torus(&g, NULL, &f, &err), FTR_INVAL);
}
END_TEST

/* ---- arguments and limits ---------------------------------------------- */

static const char *const nonsense[] = {
	"", "x", "0;1;1;1", "9;1;1;1", "2;2,2;1,2", "2;2,2;1,2;1", "2;2;1;1",
	"2;2,2;1,2;1,1;1", "2;2,0;1,2;1,1", "2;2,-2;1,2;1,1", "kary:", "kary:4",
	"kary:4,0", "kary:4,9", "kary:0,3", "kary:4,3,", "2;2,2;1,2;1,1 ",
	"2;2,99999999999999999999;1,2;1,1", "649",
};

START_TEST(invalid_shapes_refused)
{
	struct ftr_pgft g;

	ck_assert_int_ne(ftr_pgft_parse(nonsense[_i], &g, &err), FTR_OK);
	ck_assert_str_ne(err.msg, "");
}
END_TEST

START_TEST(limits)
{
	static const char *const shape[] = {
		"2;255,2;1,2;1,1",	/* needs 257 ports */
		"1;128;1;2",		/* needs 256 ports, because all links are doubled */
		"3;100,100,100;1,1,1;1,1,1",	/* a million hosts */
		"8;200,200,200,200,200,200,200,200;1,1,1,1,1,1,1,1;1,1,1,1,1,1,1,1",
	};
	struct ftr_gen_opts o = { .lmc = 3 };
	struct ftr_fabric *f = NULL;
	struct ftr_pgft g;

	for (size_t i = 0; i < FTR_ARRAY_LEN(shape); i++) {
		ck_assert_int_eq(ftr_pgft_parse(shape[i], &g, &err), FTR_OK);
		ck_assert_int_eq(ftr_gen_pgft(&g, NULL, &f, &err), FTR_LIMIT);
	}
	ck_assert_int_eq(ftr_pgft_parse("11664", &g, &err), FTR_OK);
	ck_assert_int_eq(ftr_gen_pgft(&g, &o, &f, &err), FTR_LIMIT);
	o.lmc = 8;
	ck_assert_int_eq(ftr_gen_pgft(&g, &o, &f, &err), FTR_INVAL);
	g.h = 0;
	ck_assert_int_ne(ftr_gen_pgft(&g, NULL, &f, &err), FTR_OK);
	ck_assert_ptr_null(f);
}
END_TEST

/* ---- damage ------------------------------------------------------------ */

static struct ftr_fabric *damaged(const struct ftr_fabric *f,
				  struct ftr_damage d)
{
	struct ftr_fabric *g = NULL;

	if (ftr_gen_damage(f, &d, &g, &err))
		ck_abort_msg("%s", err.msg);
	return g;
}

START_TEST(damage)
{
	struct ftr_fabric *f = grow("3456", NULL), *a, *b;

	a = damaged(f, (struct ftr_damage){ .seed = 1, .links = 10 });
	b = damaged(f, (struct ftr_damage){ .seed = 1, .links = 10 });
	same_fabric(a, b);
	ck_assert_uint_eq(a->n_sw_links, f->n_sw_links - 10);
	ck_assert_uint_eq(a->n_sw, f->n_sw);
	ftr_fabric_free(a);
	ftr_fabric_free(b);
	a = damaged(f, (struct ftr_damage){ .seed = 2, .switches = 5,
					    .hosts = 7 });
	ck_assert_uint_eq(a->n_sw, f->n_sw - 5);
	ck_assert_uint_eq(a->n_nodes, f->n_nodes - 7);
	for (ftr_ep e = 0; e < a->n_ep; e++)
		ck_assert_uint_ne(a->ep[e].sw, FTR_SW_NONE);
	ftr_fabric_free(a);
	a = damaged(f, (struct ftr_damage){ .seed = 3 });
	same_fabric(a, f);
	ftr_fabric_free(a);
	ftr_fabric_free(f);
}
END_TEST

START_TEST(too_much_damage)
{
	struct ftr_fabric *f = grow("2;2,2;1,2;1,1", NULL), *g = NULL;
	struct ftr_damage d[] = { { .links = 5 }, { .switches = 3 },
				  { .hosts = 5 } };

	for (size_t i = 0; i < FTR_ARRAY_LEN(d); i++)
		ck_assert_int_eq(ftr_gen_damage(f, &d[i], &g, &err),
				 FTR_INVAL);
	ftr_fabric_free(damaged(f, (struct ftr_damage){ .links = 4 }));
	ftr_fabric_free(damaged(f, (struct ftr_damage){ .switches = 2 }));
	ftr_fabric_free(damaged(f, (struct ftr_damage){ .hosts = 4 }));
	ftr_fabric_free(f);
}
END_TEST

/* Damage removes a host with all its ports. */
START_TEST(damage_removes_whole_hosts)
{
	struct ftr_fabric *f = grow("1;6;2;2", NULL), *g;

	g = damaged(f, (struct ftr_damage){ .seed = 4, .hosts = 2 });
	ck_assert_uint_eq(g->n_nodes, f->n_nodes - 2);
	ck_assert_uint_eq(g->n_ep, f->n_ep - 8);
	ftr_fabric_free(g);
	ftr_fabric_free(f);
}
END_TEST

/* An Aggregation Node does not count as a host.  If its switch is removed, the Aggregation Node is
 * removed, too. */
START_TEST(damage_and_aggregation)
{
	struct ftr_fabric *f = must_parse(
		"Switch 3 \"leaf\"\n[1] \"h\"[1]\n[2] \"spine\"[1]\n[3] \"a1\"[1]\n\n"
		"Switch 3 \"spine\"\n[1] \"leaf\"[2]\n[3] \"a2\"[1]\n\n"
		"Hca 1 \"h\"\n[1] \"leaf\"[1]\n\n"
		"Hca 1 \"a1\" # \"Mellanox Technologies Aggregation Node\"\n[1] \"leaf\"[3]\n\n"
		"Hca 1 \"a2\" # \"Mellanox Technologies Aggregation Node\"\n[1] \"spine\"[3]\n");
	struct ftr_fabric *g;
	struct ftr_damage two = { .hosts = 2 };

	g = damaged(f, (struct ftr_damage){ .switches = 1 });
	ck_assert_uint_eq(g->n_sw, 1);
	ck_assert_str_eq(g->sw[0].name, "leaf");
	ck_assert_uint_eq(g->n_ep, 2);
	ftr_fabric_free(g);
	g = damaged(f, (struct ftr_damage){ .hosts = 1 });
	ck_assert_uint_eq(g->n_ep, 2);
	for (ftr_ep e = 0; e < g->n_ep; e++)
		ck_assert(ftr_ep_is_aggregation(&g->ep[e]));
	ftr_fabric_free(g);
	ck_assert_int_eq(ftr_gen_damage(f, &two, &g, &err), FTR_INVAL);
	ftr_fabric_free(f);
}
END_TEST

/* ---- fabrics that are not trees ---------------------------------------- */

START_TEST(random_graph)
{
	for (uint64_t seed = 0; seed < 50; seed++) {
		uint32_t n = 1 + (uint32_t)seed, extra = n > 1 ? 2 * n : 0;
		struct ftr_fabric *f = NULL, *g = NULL;

		if (random_graph_new(seed, n, 3 * n, extra, &f, &err) ||
		    random_graph_new(seed, n, 3 * n, extra, &g, &err))
			ck_abort_msg("%s", err.msg);
		same_fabric(f, g);
		ck_assert_uint_eq(f->n_sw, n);
		ck_assert_uint_eq(f->n_ep, 3 * n);
		ck_assert_uint_eq(f->n_sw_links, n - 1 + extra);
		ck_assert_uint_eq(components(f), 1);
		ftr_fabric_free(f);
		ftr_fabric_free(g);
	}
}
END_TEST

/* If the switches have too few ports for the hosts or links, the result is an error. */
START_TEST(random_graph_limits)
{
	struct ftr_fabric *f = NULL;

	ck_assert_int_eq(random_graph_new(1, 0, 0, 0, &f, &err), FTR_INVAL);
	ck_assert_int_eq(random_graph_new(1, 1, 254, 0, &f, &err), FTR_OK);
	ck_assert_uint_eq(components(f), 1);
	ftr_fabric_free(f);
	f = NULL;
	ck_assert_int_eq(random_graph_new(1, 1, 255, 0, &f, &err), FTR_LIMIT);
	ck_assert_int_eq(random_graph_new(1, 2, 0, 254, &f, &err), FTR_LIMIT);
	ck_assert_ptr_null(f);
	/* one switch has no other switch for the extra link, so this link is left out */
	ck_assert_int_eq(random_graph_new(1, 1, 0, 1, &f, &err), FTR_OK);
	ck_assert_uint_eq(f->n_sw_links, 0);
	ftr_fabric_free(f);
	ck_assert_int_eq(random_graph_new(1, 4, 900, 0, &f, &err), FTR_OK);
	ck_assert_uint_eq(components(f), 1);
	ftr_fabric_free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gen");
	TCase *tc = tcase_create("gen");

	tcase_add_loop_test(tc, tree, 0, (int)FTR_ARRAY_LEN(trees));
	tcase_add_test(tc, plain_numbers);
	tcase_add_test(tc, guids_leave_room);
	tcase_add_test(tc, seeds);
	tcase_add_test(tc, lids);
	tcase_add_test(tc, no_lids);
	tcase_add_loop_test(tc, torus, 0, (int)FTR_ARRAY_LEN(tori));
	tcase_add_test(tc, torus_options);
	tcase_add_loop_test(tc, torus_refused, 0, (int)FTR_ARRAY_LEN(no_tori));
	tcase_add_loop_test(tc, invalid_shapes_refused, 0, (int)FTR_ARRAY_LEN(nonsense));
	tcase_add_test(tc, limits);
	tcase_add_test(tc, damage);
	tcase_add_test(tc, too_much_damage);
	tcase_add_test(tc, damage_removes_whole_hosts);
	tcase_add_test(tc, damage_and_aggregation);
	tcase_add_test(tc, random_graph);
	tcase_add_test(tc, random_graph_limits);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
