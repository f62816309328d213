// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Repeats the experiments of Sem-Jacobsen et al. 2006 and 2011: simulates traffic on a tree with
 * random faults, with the routing functions of the papers and with the tables of our engines.
 *
 *	rerouting [OPTION...] FABRIC SCHEME...
 *
 * Draws RUNS sets of faults, the same for every scheme.  The faults of a set occur one
 * after the other.  Every scheme is simulated after N faults of each set.  Prints one line
 * of CSV for each run:
 *
 *	scheme, faults, set
 *	joined		1: links still connect all switches that have hosts
 *	accepted	packets that arrived per cycle of the measurement
 *	latency		mean number of cycles from the first link to the destination
 *	wire, queue	packets lost on a failed link, and in the queues for it (queue also
 *			counts packets in a failed switch)
 *	no_way		packets lost for any other reason since the start of the run
 *	deadlock	cycles after which a deadlock was found, or empty
 *	hops		mean number of links crossed by a packet
 *	tier		tier of the link that failed last: 0 for a link of a leaf switch, and
 *			so on; empty if the last fault is not that of a link
 *
 * A cycle is 512 ns (Sem-Jacobsen et al. 2011, section IX-A).  In a cycle, a link of
 * 2 Gbit/s (1x SDR in FABRIC) carries 128 bytes.  A packet has 256 bytes.
 *
 * Options, with defaults in parentheses:
 *
 *	-k links|switches|mixed	parts that fail (links); switches with hosts never fail
 *	-n N,N,...	numbers of faults after which to simulate
 *	-r RUNS -s SEED	number of sets of faults; seed of the faults and of the traffic
 *	-l PERCENT	load (100)
 *	-w N -m N	cycles before the measurement; cycles of the measurement
 *	-q fifo|voq	input queues (fifo)
 *	-b BYTES	buffer per input and VL (512)
 *	-a		every host sends to all others in turn, at equal intervals (default:
 *			uniform traffic)
 *	-c N		cycles between checks for a deadlock (100)
 *	-x		end a run at a deadlock
 *	-h N		the last fault occurs when the measurement begins, and the new tables
 *			follow N cycles later (default: both are present from the start)
 *
 * Schemes:
 *
 *	det-links ... misroute	a routing function, on dmodc's tables for the whole tree
 *	FUNCTION/STEP	a routing function that does STEP as published; in this step tests/seeds/models
 *			deviates from the paper
 *	adaptive-links/once	like adaptive-links, but an exit is chosen when the packet is
 *			routed, not when it can leave.  A packet is routed when it arrives
 *			(voq), or when it is the first of its queue (fifo)
 *	FUNCTION+dmodc	a routing function, on tables that are recomputed after faults (the
 *			hybrid of the paper)
 *	dmodc, sftree	the engine's tables for the damaged tree: reconfiguration
 *	ddlr1, ddlr2	sftree's tables for the whole tree, with local repairs after each
 *			fault: on one VL, or on two VLs (turn bit, docs/glossary.md)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ddlr/fault_state.h"
#include "models/models.h"

#define CYCLE (512 * FTR_SIM_NS)
#define BYTES 256
#define FAULTS_MAX 64
#define SCHEMES_MAX 16

struct scheme {
	const char *name;
	struct ftr_sim_function fn;
	const char *engine;	/* engine that routes after each fault, or NULL */
	unsigned int vls;	/* number of VLs of local repairs; 0: no local repairs */
};

struct row {
	bool joined;
	int tier;
	double accepted, latency, hops;
	uint64_t wire, queue, no_way;
	bool deadlock;
	uint64_t deadlock_ps;
};

static struct {
	const char *fabric, *kind;
	unsigned int n[FAULTS_MAX], n_n, most;
	struct scheme scheme[SCHEMES_MAX];
	unsigned int n_schemes, vls;
	uint32_t runs;
	uint64_t heal;
	bool hit;
	struct ftr_sim_conf conf;
	struct row *row;	/* [runs][n_n][n_schemes] */
} job = {
	.kind = "links", .runs = 1,
	.conf = {
		.traffic.load = 1, .traffic.bytes = BYTES, .buffer = 512,
		.queues = FTR_SIM_FIFO, .link_ps = 10 * FTR_SIM_NS,
		.switch_ps = 100 * FTR_SIM_NS, .warm_ps = 1000 * CYCLE,
		.run_ps = 1000 * CYCLE, .check_ps = 100 * CYCLE, .seed = 1,
	},
};

static void must(enum ftr_status st, const struct ftr_err *err)
{
	if (!st)
		return;
	fprintf(stderr, "rerouting: %s\n", err->msg);
	exit(2);
}

static void refuse(const char *what, const char *value)
{
	fprintf(stderr, "rerouting: %s '%s'\n", what, value);
	exit(2);
}

/* ---- steps as published ---------------------------------------------------- */

static bool leads_up(const struct ftr_sim_view *v, ftr_sw s, ftr_port p)
{
	const struct ftr_swport *q = ftr_fabric_port(v->f, s, p);
	const uint8_t *rank = *v->arg;

	return q->peer_kind == FTR_PEER_SW && rank[q->peer] > rank[s];
}

static unsigned int as_is(const char *name, void *state,
			  const struct ftr_sim_view *v, struct ftr_sim_arrival *a)
{
	return model_find(name)->route(state, v, a);
}

/* Step 2b as published: a packet that leaves downward by its arrival port is always in layer ML. */
static unsigned int det_links_2b(void *state, const struct ftr_sim_view *v,
				 struct ftr_sim_arrival *a)
{
	unsigned int n = as_is("det-links", state, v, a);

	if (n && a->in && a->exit->port == a->in && !leads_up(v, a->sw, a->in))
		a->exit->vl = 1;
	return n;
}

/* Step 3b as published: as step 2b, but in layer ML2. */
static unsigned int det_switches_3b(void *state, const struct ftr_sim_view *v,
				    struct ftr_sim_arrival *a)
{
	unsigned int n = as_is("det-switches", state, v, a);

	if (n && a->in && a->exit->port == a->in && !leads_up(v, a->sw, a->in))
		a->exit->vl = 2;
	return n;
}

/* Step 4b as published.  It gives no layer to a packet that arrives at a leaf switch in ML2 and
 * must go up again.  Such a packet is discarded. */
static unsigned int det_switches_4b(void *state, const struct ftr_sim_view *v,
				    struct ftr_sim_arrival *a)
{
	const uint8_t *rank = *v->arg;
	unsigned int n = as_is("det-switches", state, v, a);

	if (n && a->vl == 2 && rank[a->sw] == 0 && leads_up(v, a->sw, a->in) &&
	    leads_up(v, a->sw, a->exit->port)) {
		a->why = FTR_SIM_LOST_GIVEN_UP;
		return 0;
	}
	return n;
}

/* Step 4c as published.  A leaf switch that turns a packet sets the port field to -1 (stored as 0),
 * even if the packet was sent down two tiers. */
static unsigned int adaptive_switches_4c(void *state, const struct ftr_sim_view *v,
					 struct ftr_sim_arrival *a)
{
	const uint8_t *rank = *v->arg;
	unsigned int n = as_is("adaptive-switches", state, v, a);

	if (n && rank[a->sw] == 0 && leads_up(v, a->sw, a->in) &&
	    leads_up(v, a->sw, a->exit->port))
		a->p->field = 0;
	return n;
}

/* Not a step of the paper.  Each packet gets a random exit when it is routed, even if this exit is
 * busy, and waits for it.  In switches with queues at outputs, packets do the same. */
static unsigned int adaptive_links_once(void *state, const struct ftr_sim_view *v,
					struct ftr_sim_arrival *a)
{
	unsigned int n = as_is("adaptive-links", state, v, a);
	struct ftr_rng rng;

	if (n < 2)
		return n;
	ftr_rng_seed(&rng, v->now ^ (uint64_t)a->p->source << 48 ^ (uint64_t)a->sw << 56);
	a->exit[0] = a->exit[ftr_rng_below(&rng, n)];
	return 1;
}

static const struct {
	const char *step;
	unsigned int (*route)(void *state, const struct ftr_sim_view *v, struct ftr_sim_arrival *a);
} letter[] = {
	{ "det-links/2b", det_links_2b },
	{ "det-switches/3b", det_switches_3b },
	{ "det-switches/4b", det_switches_4b },
	{ "adaptive-switches/4c", adaptive_switches_4c },
	{ "adaptive-links/once", adaptive_links_once },
};

/* ---- schemes ------------------------------------------------------------------ */

static bool take_function(struct scheme *k, const char *name)
{
	const struct ftr_sim_function *fn;
	char base[64];

	snprintf(base, sizeof(base), "%.*s", (int)strcspn(name, "/+"), name);
	fn = model_find(base);
	if (!fn)
		return false;
	k->fn = *fn;
	if (!name[strlen(base)])
		return true;
	if (!strcmp(name + strlen(base), "+dmodc")) {
		k->engine = "dmodc";
		return true;
	}
	for (unsigned int i = 0; i < FTR_ARRAY_LEN(letter); i++)
		if (!strcmp(letter[i].step, name)) {
			k->fn.route = letter[i].route;
			return true;
		}
	return false;
}

static void take_scheme(const char *name)
{
	struct scheme *k = &job.scheme[job.n_schemes];

	if (job.n_schemes++ == SCHEMES_MAX)
		refuse("too many schemes; the first one too many is", name);
	k->name = name;
	k->fn = *model_find("lft");
	if (!strcmp(name, "ddlr1") || !strcmp(name, "ddlr2"))
		k->vls = name[4] == '1' ? 1 : 2;
	else if (!strcmp(name, "dmodc") || !strcmp(name, "sftree"))
		k->engine = name;
	else if (!take_function(k, name))
		refuse("unknown scheme", name);
	job.vls = FTR_MAX(job.vls, k->vls);
}

/* ---- tables -------------------------------------------------------------------- */

/* Compute the engine's tables for the damaged fabric, and store them as tables of w->f. */
static void route(const struct world *w, const char *engine,
		  struct ftr_tables *out)
{
	const struct ftr_shape_opts so = { .nominal = w->sh };
	struct ftr_route_opts ro = {
		.sm_switch = FTR_SW_NONE, .paths = FTR_PATHS_UPDOWN,
	};
	struct ftr_err err = { 0 };
	struct ftr_fabric *f = world_damaged(w);
	struct ftr_shape *sh = NULL;
	struct ftr_tables *t = NULL;

	ro.nominal = w->sh;
	must(ftr_shape_new(f, &so, NULL, &sh, &err), &err);
	must(ftr_tables_new(f, false, &t, &err), &err);
	must(ftr_engine_find(engine)->route(sh, &ro, NULL, t, NULL, &err),
	     &err);
	memset(out->lft, FTR_PORT_NONE, (size_t)out->n_sw * out->stride);
	for (ftr_sw s = 0; s < f->n_sw; s++)
		memcpy(ftr_tables_row(out, ftr_fabric_find_sw(w->f,
							      f->sw[s].guid)),
		       ftr_tables_row(t, s), (size_t)f->max_lid + 1);
	ftr_tables_free(t);
	ftr_shape_free(sh);
	ftr_fabric_free(f);
}

static bool joined(const struct world *w)
{
	struct ftr_fabric *f = world_damaged(w);
	uint32_t *part = calloc(f->n_sw + 1u, sizeof(*part));
	ftr_sw first = FTR_SW_NONE;
	bool one = true;

	ftr_check_parts(f, part);
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		if (first == FTR_SW_NONE)
			first = f->ep[e].sw;
		one &= part[f->ep[e].sw] == part[first];
	}
	free(part);
	ftr_fabric_free(f);
	return one;
}

/* ---- a set of faults -------------------------------------------------------------- */

struct set {
	struct world *w[2];	/* w[1] has two VLs; used if a scheme has two VLs */
	uint32_t fault[FAULTS_MAX];
	struct ftr_sim_change change[FAULTS_MAX + 2];
	/* tables of each scheme: now, and before the last fault */
	struct ftr_tables *now[SCHEMES_MAX], *before[SCHEMES_MAX];
};

static struct world *new_world(unsigned int vls)
{
	struct ftr_err err = { 0 };
	struct ftr_fabric *f = NULL;

	must(ftr_read_fabric(job.fabric, 0, &f, &err), &err);
	return world_new(f, vls);
}

static void draw(struct set *x, uint64_t seed)
{
	const struct world *w = x->w[0];
	uint32_t first = strcmp(job.kind, "switches") ? 0 : w->n_links;
	uint32_t end = strcmp(job.kind, "links") ? world_n_faults(w) :
		w->n_links;
	struct ftr_rng rng;

	ftr_rng_seed(&rng, seed);
	for (unsigned int i = 0; i < job.most; i++) {
		bool twice = false;

		x->fault[i] = first + ftr_rng_below(&rng, end - first);
		for (unsigned int k = 0; k < i; k++)
			twice |= x->fault[k] == x->fault[i];
		i -= twice;
	}
}

static void set_new(struct set *x, uint64_t seed)
{
	struct ftr_err err = { 0 };

	memset(x, 0, sizeof(*x));
	for (unsigned int l = 0; l < FTR_MAX(job.vls, 1); l++)
		x->w[l] = new_world(l + 1);
	draw(x, seed);
	for (unsigned int k = 0; k < job.n_schemes; k++) {
		const struct scheme *c = &job.scheme[k];

		must(ftr_tables_new(x->w[0]->f, true, &x->now[k], &err), &err);
		must(ftr_tables_new(x->w[0]->f, true, &x->before[k], &err),
		     &err);
		if (c->vls)
			memcpy(x->now[k]->lft, x->w[c->vls - 1]->t->lft,
			       (size_t)x->now[k]->n_sw * x->now[k]->stride);
		else
			route(x->w[0], c->engine ? c->engine : "dmodc",
			      x->now[k]);
	}
}

static void set_free(struct set *x)
{
	for (unsigned int k = 0; k < job.n_schemes; k++) {
		ftr_tables_free(x->now[k]);
		ftr_tables_free(x->before[k]);
	}
	for (unsigned int l = 0; l < FTR_MAX(job.vls, 1); l++)
		world_free(x->w[l]);
}

static void heal(struct world *w, struct ftr_hop e)
{
	struct ftr_ddlr_plan p;
	struct ftr_err err = { 0 };

	world_suffer(w, e, true);
	must(ftr_ddlr_events(w->r, &e, 1, &p, &err), &err);
	ftr_ddlr_plan_fini(&p);
	ftr_ddlr_drained(w->r);
	memcpy(w->t->lft, ftr_ddlr_tables(w->r)->lft,
	       (size_t)w->t->n_sw * w->t->stride);
}

/* Apply fault i, and update the tables of all schemes. */
static void suffer(struct set *x, unsigned int i)
{
	struct ftr_hop e = world_fault(x->w[0], x->fault[i]);
	bool link = e.port != 0;

	x->change[i] = (struct ftr_sim_change){
		.kind = link ? FTR_SIM_LINK_DOWN : FTR_SIM_SWITCH_DOWN,
		.sw = e.sw, .port = e.port,
	};
	for (unsigned int l = 0; l < FTR_MAX(job.vls, 1); l++)
		heal(x->w[l], e);
	for (unsigned int k = 0; k < job.n_schemes; k++) {
		const struct scheme *c = &job.scheme[k];
		size_t size = (size_t)x->now[k]->n_sw * x->now[k]->stride;

		memcpy(x->before[k]->lft, x->now[k]->lft, size);
		if (c->vls)
			memcpy(x->now[k]->lft, x->w[c->vls - 1]->t->lft,
			       size);
		else if (c->engine)
			route(x->w[0], c->engine, x->now[k]);
	}
}

/* ---- a run -------------------------------------------------------------------------- */

static void note(const struct ftr_sim_result *r, struct row *row)
{
	const struct ftr_sim_latency *l = &r->host.network;
	double cycle = (double)CYCLE;

	row->accepted = (double)r->host.delivered * cycle /
			(double)job.conf.run_ps;
	row->latency = l->n ? l->sum_ps / (double)l->n / cycle : 0;
	row->hops = r->delivered ? (double)r->hops / (double)r->delivered : 0;
	row->wire = r->lost[FTR_SIM_LOST_WIRE];
	row->queue = r->lost[FTR_SIM_LOST_QUEUE] + r->lost[FTR_SIM_LOST_SWITCH];
	for (int i = 0; i < FTR_SIM_N_LOSSES; i++)
		row->no_way += r->lost[i];
	row->no_way -= row->wire + row->queue;
	row->deadlock = r->deadlock;
	row->deadlock_ps = r->deadlock_ps;
}

static void simulate(struct set *x, unsigned int n, unsigned int k,
		     uint64_t seed, struct row *row)
{
	const struct scheme *c = &job.scheme[k];
	struct ftr_sim_conf conf = job.conf;
	struct ftr_sim_result r;
	struct ftr_err err = { 0 };

	conf.f = x->w[0]->f;
	conf.t = job.hit && n ? x->before[k] : x->now[k];
	conf.sl2vl = c->vls ? x->w[c->vls - 1]->m : NULL;
	conf.function = &c->fn;
	conf.arg = x->w[0]->sh->tree.rank;
	conf.n_vls = FTR_MAX(c->fn.min_vls, c->vls);
	conf.seed = seed;
	conf.change = x->change;
	conf.n_changes = n;
	if (job.hit && n) {
		x->change[n - 1].at = conf.warm_ps;
		x->change[n] = (struct ftr_sim_change){
			.at = conf.warm_ps + job.heal,
			.kind = FTR_SIM_TABLES, .tables = x->now[k],
		};
		conf.n_changes++;
	}
	must(ftr_sim_run(&conf, NULL, &r, &err), &err);
	note(&r, row);
	ftr_sim_result_fini(&r, 1);
	x->change[n ? n - 1 : 0].at = 0;
}

/* Returns the tier of the link of fault n; -1 if fault n is not a link failure, or n is 0. */
static int tier_of(const struct set *x, unsigned int n)
{
	const struct world *w = x->w[0];
	const struct ftr_sim_change *g = &x->change[n ? n - 1 : 0];

	if (!n || g->kind != FTR_SIM_LINK_DOWN)
		return -1;
	return FTR_MIN(w->sh->tree.rank[g->sw],
		       w->sh->tree.rank[ftr_fabric_port(w->f, g->sw,
						   g->port)->peer]);
}

static void work(void *ctx, unsigned int worker, uint32_t begin, uint32_t end)
{
	static struct set scratch[FTR_TEAM_MAX];
	struct set *x = &scratch[worker];

	(void)ctx;
	for (uint32_t i = begin; i < end; i++) {
		uint64_t seed = job.conf.seed + i;
		struct row *row = job.row + (size_t)i * job.n_n *
			job.n_schemes;

		set_new(x, seed);
		for (unsigned int n = 0, j = 0; n <= job.most; n++) {
			if (n)
				suffer(x, n - 1);
			if (j == job.n_n || job.n[j] != n)
				continue;
			for (unsigned int k = 0; k < job.n_schemes; k++, row++) {
				row->joined = joined(x->w[0]);
				row->tier = tier_of(x, n);
				simulate(x, n, k, seed, row);
			}
			j++;
		}
		set_free(x);
	}
}

static void print(const struct row *row, const char *name, unsigned int n,
		  uint32_t set)
{
	printf("%s,%u,%u,%d,%.4f,%.2f,%llu,%llu,%llu,", name, n, set,
	       row->joined, row->accepted, row->latency,
	       (unsigned long long)row->wire, (unsigned long long)row->queue,
	       (unsigned long long)row->no_way);
	if (row->deadlock)
		printf("%llu", (unsigned long long)(row->deadlock_ps / CYCLE));
	printf(",%.3f,", row->hops);
	if (row->tier >= 0)
		printf("%d", row->tier);
	putchar('\n');
}

/* ---- the command -------------------------------------------------------------------- */

static void take_list(const char *text)
{
	char *end;

	for (; *text; text = *end == ',' ? end + 1 : end) {
		unsigned long n = strtoul(text, &end, 10);

		if (end == text || n > FAULTS_MAX || job.n_n == FAULTS_MAX ||
		    (job.n_n && n <= job.n[job.n_n - 1]))
			refuse("-n: not a list of ascending numbers of faults", text);
		job.n[job.n_n++] = (unsigned int)n;
		job.most = (unsigned int)n;
	}
}

static void take_option(int c)
{
	struct ftr_sim_conf *o = &job.conf;
	uint64_t n = optarg ? strtoull(optarg, NULL, 0) : 0;

	switch (c) {
	case 'k': job.kind = optarg; break;
	case 'n': take_list(optarg); break;
	case 'r': job.runs = (uint32_t)n; break;
	case 's': o->seed = n; break;
	case 'l': o->traffic.load = strtod(optarg, NULL) / 100; break;
	case 'w': o->warm_ps = n * CYCLE; break;
	case 'm': o->run_ps = n * CYCLE; break;
	case 'q': o->queues = strcmp(optarg, "voq") ? FTR_SIM_FIFO :
			FTR_SIM_VOQ; break;
	case 'b': o->buffer = (uint32_t)n; break;
	case 'a':
		o->traffic.pattern = FTR_SIM_ALL_TO_ALL;
		o->traffic.periodic = true;
		break;
	case 'c': o->check_ps = n * CYCLE; break;
	case 'x': o->stop_on_deadlock = true; break;
	case 'h':
		job.hit = true;
		job.heal = n * CYCLE;
		break;
	default: exit(2);
	}
}

int main(int argc, char **argv)
{
	struct ftr_team *team;
	struct row *row;
	int c;

	while ((c = getopt(argc, argv, "k:n:r:s:l:w:m:q:b:ac:xh:")) >= 0)
		take_option(c);
	if (optind + 2 > argc || !job.n_n || !job.runs)
		refuse("usage: rerouting -n N,.. [OPTION...] FABRIC SCHEME...",
		       "");
	job.fabric = argv[optind];
	for (int i = optind + 1; i < argc; i++)
		take_scheme(argv[i]);
	row = job.row = calloc((size_t)job.runs * job.n_n * job.n_schemes,
			       sizeof(*row));
	team = ftr_team_new(0);
	ftr_team_run(team, job.runs, 1, work, NULL);
	ftr_team_free(team);
	printf("scheme,faults,set,joined,accepted,latency,wire,queue,no_way,deadlock,hops,tier\n");
	for (uint32_t i = 0; i < job.runs; i++)
		for (unsigned int j = 0; j < job.n_n; j++)
			for (unsigned int k = 0; k < job.n_schemes; k++, row++)
				print(row, job.scheme[k].name, job.n[j], i);
	free(job.row);
	return 0;
}
