// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The transition from the tables in use to new ones: finds credit loops that may close, and entries
 * that may be missing, while the switches change their tables.
 *
 * OpenSM writes the 64-entry blocks of all switches without waiting for acknowledgements.  So
 * the writes for one LID may take effect in any order, while packets that followed older
 * entries are still in flight.  Two harmful effects are possible; both are found LID by LID:
 *
 *	credit loops	LID by LID, the writes are added to a channel dependency graph
 *			(<ftr/cdg.h>).  No older entries are removed from the graph, so it
 *			holds all dependencies that packets may cause.  A LID that closes a cycle
 *			is counted and keeps its old entries in the graph.
 *	missing entries	A packet that follows old and new entries may reach a switch where the
 *			entry for its LID is missing from the old or the new tables.  Only
 *			packets of sources with a path in both tables count.
 *
 * All orders of writes are considered.  If no effect is found, none is possible; but an effect that
 * is found may not occur in a real run.
 *
 * The repair planner (ftr_ddlr_order) looks for an order that avoids both effects.  The order
 * consists of rounds; packets drain between two rounds.  A round consists of steps; each step
 * begins when the previous one is acknowledged.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/json.h"
#include "cli/transition.h"

/* ---- any order: credit loops ------------------------------------------- */

/* Returns the channel dependency graph of t, or NULL if t has a credit loop or a forwarding
 * loop. */
static struct ftr_cdg *acyclic(const struct ftr_fabric *f, const struct ftr_tables *t)
{
	struct ftr_cdg *g = NULL;
	enum ftr_status st = ftr_cdg_new(f, t, NULL, &g, &cli_err);

	if (st == FTR_REFUSED)
		return NULL;
	cli_must(st);
	return g;
}

static void change_all(const struct ftr_fabric *f, struct ftr_cdg *g,
		       const struct ftr_tables *a, const struct ftr_tables *b,
		       struct cli_transition *out)
{
	struct ftr_change *w = cli_calloc(f->n_sw, sizeof(*w), "%u writes", f->n_sw);

	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		bool closes = false;
		uint32_t n = 0;

		for (ftr_sw s = 0; s < f->n_sw; s++) {
			ftr_port p = ftr_tables_get(b, s, (ftr_lid)lid);

			if (p != ftr_tables_get(a, s, (ftr_lid)lid))
				w[n++] = (struct ftr_change){
					.sw = s, .after = p, .step = 1
				};
		}
		if (!n || f->owner[lid].kind == FTR_OWNER_NONE)
			continue;
		out->lids++;
		if (!g)
			continue;
		cli_must(ftr_cdg_change(g, (ftr_lid)lid, w, n, &closes, &cli_err));
		if (closes && !out->closes++)
			out->first_closing = (ftr_lid)lid;
	}
	free(w);
}

/* ---- any order: missing entries ---------------------------------------- */

struct walk {
	const struct ftr_fabric *f;
	const struct ftr_tables *a, *b;
	ftr_lid lid;
	uint8_t *source;	/* [n_sw] 1: the switch has a host port */
	uint8_t *known[2];	/* [n_sw] result of arrives() with tables a and b: 0 unknown,
				 * 1 arrives, 2 does not, 3 being walked */
	uint8_t *met;		/* [n_sw] 1: a packet that follows old and new entries may get
				 * to the switch */
	ftr_sw *queue;		/* [n_sw] the switches that are marked in met */
	ftr_sw *path;		/* [n_sw] the path that is being walked */
};

/* Returns true if, with the tables t, packets for w->lid from s reach a host port or port 0 of a
 * switch.  The owner of the LID is not checked.  The results for t are stored in `known`, so that
 * each switch is visited only once per LID. */
static bool arrives(struct walk *w, const struct ftr_tables *t, uint8_t *known, ftr_sw s)
{
	uint32_t n = 0;
	uint8_t end = 2;

	while (s != FTR_SW_NONE && !known[s]) {
		ftr_port p = ftr_tables_get(t, s, w->lid);

		known[s] = 3;
		w->path[n++] = s;
		if (!p || (p <= w->f->sw[s].n_ports &&
			   ftr_fabric_port(w->f, s, p)->peer_kind == FTR_PEER_EP))
			end = 1;
		s = ftr_fabric_next(w->f, s, p);
	}
	if (s != FTR_SW_NONE)
		end = known[s] == 1 ? 1 : 2;
	while (n)
		known[w->path[--n]] = end;
	return end == 1;
}

static void meet(struct walk *w, uint32_t *n, ftr_sw s)
{
	if (s == FTR_SW_NONE || w->met[s])
		return;
	w->met[s] = 1;
	w->queue[(*n)++] = s;
}

static void gaps_of_lid(struct walk *w, struct cli_transition *out)
{
	uint32_t n = 0;

	memset(w->known[0], 0, w->f->n_sw);
	memset(w->known[1], 0, w->f->n_sw);
	memset(w->met, 0, w->f->n_sw);
	for (ftr_sw s = 0; s < w->f->n_sw; s++)
		if (w->source[s] && arrives(w, w->a, w->known[0], s) &&
		    arrives(w, w->b, w->known[1], s))
			meet(w, &n, s);
	for (uint32_t i = 0; i < n; i++) {
		ftr_sw s = w->queue[i];
		ftr_port pa = ftr_tables_get(w->a, s, w->lid);
		ftr_port pb = ftr_tables_get(w->b, s, w->lid);

		meet(w, &n, ftr_fabric_next(w->f, s, pa));
		meet(w, &n, ftr_fabric_next(w->f, s, pb));
		if (pa != FTR_PORT_NONE && pb != FTR_PORT_NONE)
			continue;
		if (!out->gaps++) {
			out->gap_sw = s;
			out->gap_lid = w->lid;
		}
	}
}

static void find_gaps(const struct ftr_fabric *f, const struct ftr_tables *a,
		      const struct ftr_tables *b, struct cli_transition *out)
{
	size_t n = (size_t)f->n_sw + 1;
	uint8_t *bytes = cli_calloc(4, n, "%u switches", f->n_sw);
	ftr_sw *list = cli_calloc(2 * n, sizeof(*list), "%u switches", f->n_sw);
	struct walk w = {
		.f = f, .a = a, .b = b, .source = bytes, .met = bytes + n,
		.known = { bytes + 2 * n, bytes + 3 * n },
		.queue = list, .path = list + n,
	};

	for (ftr_ep e = 0; e < f->n_ep; e++)
		if (f->ep[e].sw != FTR_SW_NONE)
			w.source[f->ep[e].sw] = 1;
	for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
		w.lid = (ftr_lid)lid;
		if (f->owner[lid].kind != FTR_OWNER_NONE)
			gaps_of_lid(&w, out);
	}
	free(bytes);
	free(list);
}

/* ---- the planner's order ----------------------------------------------- */

static void find_order(const struct ftr_shape *sh, const struct ftr_tables *a,
		       const struct ftr_tables *b, struct cli_transition *out)
{
	struct ftr_ddlr_plan plan;
	struct ftr_ddlr *r = NULL;

	cli_must(ftr_ddlr_new(sh, a, NULL, false, &r, &cli_err));
	cli_must(ftr_ddlr_order(r, b, UINT_MAX, &plan, &cli_err));
	out->ordered = true;
	out->rounds = plan.n_rounds;
	out->steps = plan.n_steps;
	out->writes = plan.n;
	out->held = plan.held;
	ftr_ddlr_plan_fini(&plan);
	ftr_ddlr_free(r);
}

void cli_transition(const struct ftr_shape *sh, const struct ftr_tables *a,
		    const struct ftr_tables *b, double ms_per_block, struct cli_transition *out)
{
	const struct ftr_fabric *f = sh->f;
	struct ftr_cdg *g = acyclic(f, b);

	*out = (struct cli_transition){ .after_cycle = !g };
	ftr_cdg_free(g);
	ftr_tables_diff(f, a, f, b, &out->d);
	out->seconds = (double)out->d.blocks * ms_per_block / 1e3;
	g = acyclic(f, a);
	out->before_cycle = !g;
	change_all(f, g, a, b, out);
	ftr_cdg_free(g);
	find_gaps(f, a, b, out);
	if (out->d.entries && !out->before_cycle && !out->after_cycle)
		find_order(sh, a, b, out);
}

/* ---- output ------------------------------------------------------------ */

static void any_order_text(const struct ftr_fabric *f, const struct cli_transition *x)
{
	if (x->before_cycle)
		printf("any order     credit loops: already in the tables in use (ibfattree check)\n");
	else if (x->closes)
		printf("any order     credit loops: %spossible%s, by %s of %s LIDs that change; the first: %s\n",
		       cli_colour(CLI_DOUBT), cli_colour(CLI_PLAIN), CLI_NUM(x->closes),
		       CLI_NUM(x->lids), CLI_LID(f, x->first_closing));
	else
		printf("any order     credit loops: none\n");
	if (x->gaps)
		printf("              missing entries: %spossible%s, %s; the first: at %s to %s\n",
		       cli_colour(CLI_DOUBT), cli_colour(CLI_PLAIN), CLI_NUM(x->gaps),
		       CLI_SW(f, x->gap_sw), CLI_LID(f, x->gap_lid));
	else
		printf("              missing entries: none\n");
}

void cli_transition_text(const struct ftr_fabric *f, const struct cli_transition *x)
{
	printf("change        %s of %s in %s of %s: one MAD per block",
	       CLI_ENTRIES(x->d.entries), CLI_COUNT(x->lids, "LID", "LIDs"),
	       CLI_COUNT(x->d.blocks, "block", "blocks"), CLI_SWITCHES(x->d.switches));
	if (x->seconds > 0)
		printf(", about %.2f s if a write takes as long as a read", x->seconds);
	putchar('\n');
	if (!x->d.entries)
		return;
	any_order_text(f, x);
	if (x->after_cycle)
		printf("in steps      not tried: the new tables have credit loops\n");
	else if (x->before_cycle)
		printf("in steps      not tried: the tables in use have credit loops\n");
	else
		printf("in steps      %ssafe%s: %s in %s and %s%s\n", cli_colour(CLI_GOOD),
		       cli_colour(CLI_PLAIN), CLI_COUNT(x->writes, "write", "writes"),
		       CLI_COUNT(x->steps, "step", "steps"),
		       CLI_COUNT(x->rounds, "round", "rounds"),
		       x->rounds == 1 ? "" : "; packets drain between two rounds");
	if (x->ordered && x->writes < x->d.entries)
		printf("              %s unchanged, because the new tables have no entry there or the LID keeps its old entries\n",
		       CLI_COUNT(x->d.entries - x->writes, "entry stays", "entries stay"));
	if (x->ordered && x->held)
		printf("              %s old entries, because new ones would close a credit loop\n",
		       CLI_COUNT(x->held, "LID keeps", "LIDs keep"));
}

void cli_transition_json(struct json_object *o, const struct ftr_fabric *f,
			 const struct cli_transition *x)
{
	struct json_object *t = cli_json_object(o, "transition"), *e;

	cli_json_num(t, "entries", x->d.entries);
	cli_json_num(t, "blocks", x->d.blocks);
	cli_json_num(t, "changed_switches", x->d.switches);
	cli_json_num(t, "changed_lids", x->lids);
	cli_json_real(t, "seconds", x->seconds);
	cli_json_bool(t, "credit_loops_before", x->before_cycle);
	cli_json_bool(t, "credit_loops_after", x->after_cycle);
	cli_json_num(t, "lids_that_may_close_one", x->closes);
	cli_json_num(t, "entries_that_may_be_missing", x->gaps);
	if (x->gaps) {
		e = cli_json_object(t, "first_missing");
		cli_json_switch(e, "at", f, x->gap_sw);
		cli_json_lid(e, f, x->gap_lid);
	}
	if (!x->ordered) {
		cli_json_str(t, "in_steps", NULL);
		return;
	}
	e = cli_json_object(t, "in_steps");
	cli_json_num(e, "writes", x->writes);
	cli_json_num(e, "steps", x->steps);
	cli_json_num(e, "rounds", x->rounds);
	cli_json_num(e, "held", x->held);
}
