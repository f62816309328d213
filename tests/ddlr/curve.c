// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Local repairs keep all hosts connected for up to k-1 faults (k: docs/glossary.md).  This program
 * measures how often all hosts are connected after any number of link faults at random places.
 *
 *	curve SHAPE FAULTS RUNS SEED
 *
 * Prints one line of CSV for each number of faults from 0 to FAULTS.  (See Sem-Jacobsen et al.
 * 2011: figure 11 shows hosts that stay connected, figure 12 deadlocks.  Here ddlr's VLs are used.)
 * There are RUNS random sets of faults.  The faults of a set occur one after the other.  Each
 * column is the percentage of the sets for which, after that number of faults,
 *
 *	physical	links connect all leaf switches
 *	local1, local2	all hosts reach all hosts after local repairs alone, with
 *			one VL and with two VLs (turn bit, see docs/glossary.md).
 *			A loop or a cycle of channel dependencies is an error:
 *			exit status 1
 *	updown		all hosts have an up/down path; so a full routing by dmodc with the option
 *			"paths updown" connects them (the paper's DDRC)
 *	full		all hosts reach all hosts after a full routing by ddlr
 *	naive1, naive2	with one VL and with two VLs: the detours of the paper, made without a check
 *			for cycles, have a cycle of channel dependencies, or had one after an
 *			earlier fault of the set
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ddlr/fault_state.h"

struct row {
	uint64_t physical, local[2], updown, full, naive[2];
	bool bad;
};

static struct ftr_err err;

static void must(enum ftr_status st)
{
	if (!st)
		return;
	fprintf(stderr, "curve: %s\n", err.msg);
	exit(2);
}

/* True if the links of the fabric connect all switches that have hosts. */
static bool connected(const struct ftr_fabric *f)
{
	uint32_t *part = malloc(f->n_sw * sizeof(*part));
	bool one = true;
	ftr_sw first = FTR_SW_NONE;

	ftr_check_parts(f, part);
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		if (f->ep[e].sw == FTR_SW_NONE)
			continue;
		if (first == FTR_SW_NONE)
			first = f->ep[e].sw;
		one &= part[f->ep[e].sw] == part[first];
	}
	free(part);
	return one;
}

/* True if all hosts reach all hosts by the tables of the engine (dmodc: without extra turns). */
static bool routed(const struct ftr_fabric *f, const char *engine)
{
	const struct ftr_check_opts o = { .no_cdg = true };
	struct ftr_route_opts how = FTR_ROUTE_OPTS_INIT;
	struct ftr_check_report r;
	struct ftr_shape *sh = NULL;
	struct ftr_tables *t = NULL;

	must(ftr_shape_new(f, NULL, NULL, &sh, &err));
	must(ftr_tables_new(f, false, &t, &err));
	how.paths = FTR_PATHS_UPDOWN;	/* no extra turns, which dmodc makes by default */
	must(ftr_engine_find(engine)->route(sh, &how, NULL, t, NULL, &err));
	must(ftr_check_tables(f, t, &o, NULL, &r, &err));
	ftr_tables_free(t);
	ftr_shape_free(sh);
	return r.bad[FTR_CHECK_HOST_HOST] == 0;
}

/*
 * Make a detour of Sem-Jacobsen et al. 2011, but without the virtual layers of the paper.  The
 * entry of switch c for the LID leads onto the dead link.  Give c its first upward link from which
 * packets reach the LID.  If there is none, lead packets down to a switch that reaches the LID over
 * another parent.
 */
static void naive_repair(struct world *w, ftr_lid lid, ftr_sw c)
{
	const struct ftr_shape *sh = w->sh;
	const struct ftr_group *g = &sh->tree.groups[sh->tree.group_first[c]];

	for (uint32_t i = 0; i < sh->tree.n_up[c]; i++) {
		ftr_tables_row(w->t, c)[lid] = sh->tree.group_ports[g[i].first];
		if (world_arrives(w, lid, c))
			return;
	}
	for (uint32_t i = sh->tree.n_up[c]; i < sh->tree.n_up[c] + sh->tree.n_down[c]; i++) {
		ftr_sw b = g[i].remote;
		const struct ftr_group *h = &sh->tree.groups[sh->tree.group_first[b]];
		ftr_port old = ftr_tables_get(w->t, b, lid);

		ftr_tables_row(w->t, c)[lid] = sh->tree.group_ports[g[i].first];
		for (uint32_t k = 0; k < sh->tree.n_up[b]; k++) {
			if (h[k].remote == c)
				continue;
			ftr_tables_row(w->t, b)[lid] =
				sh->tree.group_ports[h[k].first];
			if (world_arrives(w, lid, c))
				return;
		}
		ftr_tables_row(w->t, b)[lid] = old;
	}
}

static void naive_event(struct world *w, struct ftr_hop e)
{
	const struct ftr_swport *x = ftr_fabric_port(w->f, e.sw, e.port);
	struct { ftr_sw s; ftr_port p; } end[2] = {
		{ e.sw, e.port }, { x->peer, x->peer_port },
	};

	if (w->sh->tree.rank[end[0].s] > w->sh->tree.rank[end[1].s]) {
		end[1].s = e.sw;
		end[1].p = e.port;
		end[0].s = x->peer;
		end[0].p = x->peer_port;
	}
	for (int k = 0; k < 2; k++)
		for (uint32_t lid = 1; lid <= w->f->max_lid; lid++)
			if (w->f->owner[lid].kind == FTR_OWNER_EP &&
			    ftr_tables_get(w->t, end[k].s, (ftr_lid)lid) ==
			    end[k].p)
				naive_repair(w, (ftr_lid)lid, end[k].s);
}

/* Apply the n faults of set[] one by one; add the result after i faults to row[i]. */
static void local_run(struct world *w, const uint32_t *set, unsigned int n,
		      struct row *row, const bool *joined, unsigned int vls)
{
	struct verdict v;

	world_reset(w);
	for (unsigned int i = 0; i <= n; i++) {
		if (i) {
			struct ftr_hop e = world_fault(w, set[i - 1]);
			struct ftr_ddlr_plan p;

			world_suffer(w, e, true);
			must(ftr_ddlr_events(w->r, &e, 1, &p, &err));
			w->switches = w->switches && !p.hosts_only;
			ftr_ddlr_plan_fini(&p);
			ftr_ddlr_drained(w->r);
			memcpy(w->t->lft, ftr_ddlr_tables(w->r)->lft,
			       (size_t)w->t->n_sw * w->t->stride);
		}
		world_judge(w, true, &v);
		row[i].local[vls - 1] += joined[i] && !v.host_lost;
		row[i].bad |= v.cyclic || v.loops;
	}
	w->switches = vls > 1;
}

static void naive_run(struct world *w, const uint32_t *set, unsigned int n,
		      struct row *row, unsigned int vls)
{
	struct verdict v;
	bool was = false;

	world_reset(w);
	w->switches = false;
	for (unsigned int i = 1; i <= n; i++) {
		struct ftr_hop e = world_fault(w, set[i - 1]);

		world_suffer(w, e, true);
		naive_event(w, e);
		world_judge(w, true, &v);
		was |= v.cyclic;
		row[i].naive[vls - 1] += was;
	}
	w->switches = vls > 1;
}

static void full_run(struct world *w, const uint32_t *set, unsigned int n,
		     struct row *row, bool *joined)
{
	world_reset(w);
	for (unsigned int i = 0; i <= n; i++) {
		struct ftr_fabric *f;

		if (i)
			world_suffer(w, world_fault(w, set[i - 1]), true);
		f = world_damaged(w);
		joined[i] = connected(f);
		row[i].physical += joined[i];
		row[i].updown += routed(f, "dmodc");
		row[i].full += routed(f, "ddlr");
		ftr_fabric_free(f);
	}
}

static void draw(struct ftr_rng *rng, uint32_t end, uint32_t *set,
		 unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		bool twice = false;

		set[i] = ftr_rng_below(rng, end);
		for (unsigned int k = 0; k < i; k++)
			twice |= set[k] == set[i];
		i -= twice;
	}
}

static double cent(uint64_t n, uint64_t of)
{
	return 100.0 * (double)n / (double)of;
}

int main(int argc, char **argv)
{
	struct ftr_gen_opts o = { .seed = 1, .random_guids = true };
	struct ftr_pgft g;
	struct world *w[2];
	struct row row[17] = { 0 };
	struct ftr_rng rng;
	unsigned int n, runs;
	bool bad = false;

	if (argc != 5 || (n = (unsigned int)atoi(argv[2])) > 16)
		return 2;
	runs = (unsigned int)atoi(argv[3]);
	ftr_rng_seed(&rng, strtoull(argv[4], NULL, 0));
	must(ftr_pgft_parse(argv[1], &g, &err));
	for (unsigned int l = 0; l < 2; l++) {
		struct ftr_fabric *f = NULL;

		must(ftr_gen_pgft(&g, &o, &f, &err));
		w[l] = world_new(f, l + 1);
	}
	for (unsigned int i = 0; i < runs; i++) {
		uint32_t set[16];
		bool joined[17];

		draw(&rng, w[0]->n_links, set, n);
		full_run(w[0], set, n, row, joined);
		for (unsigned int l = 0; l < 2; l++) {
			local_run(w[l], set, n, row, joined, l + 1);
			naive_run(w[l], set, n, row, l + 1);
		}
	}
	printf("shape,runs,faults,physical,local1,local2,updown,full,naive1,naive2\n");
	for (unsigned int i = 0; i <= n; i++) {
		printf("\"%s\",%u,%u,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f\n",
		       argv[1], runs, i, cent(row[i].physical, runs),
		       cent(row[i].local[0], runs), cent(row[i].local[1], runs),
		       cent(row[i].updown, runs), cent(row[i].full, runs),
		       cent(row[i].naive[0], runs),
		       cent(row[i].naive[1], runs));
		bad |= row[i].bad;
	}
	world_free(w[0]);
	world_free(w[1]);
	return bad;
}
