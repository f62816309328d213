// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The report of a check: what it means, and how people are told.
 *
 * Not every unreachable pair is a fault of the tables: two switches of one
 * rank, or two Aggregation Nodes inside them, often have no path that goes up
 * and then down.  The shape tells how many pairs of each class have none.
 * When no walk turned up after down, every pair that arrived used an up/down
 * path, so the pairs without one are all among those that did not arrive, and
 * the difference of the two counts is what the tables could have routed and
 * did not.  Hosts on leaf switches that cannot talk are a finding in any case.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/cli.h"

static const char *const class_name[FTR_N_CHECK_CLASSES] = {
	"end port -> end port", "end port -> switch",
	"switch -> end port", "switch -> switch",
};

static const char *const finding_name[FTR_N_FINDINGS] = {
	"holes", "dead ports", "wrong ends", "loops", "turns",
};

const char *const cli_class_key[FTR_N_CHECK_CLASSES] = {
	"host_host", "host_switch", "switch_host", "switch_switch",
};

const char *const cli_finding_key[FTR_N_FINDINGS] = {
	"holes", "dead_ports", "wrong_ends", "loops", "turns",
};

const char *const cli_cdg_key[] = {
	[FTR_CDG_NOT_CHECKED] = "not checked", [FTR_CDG_PROVED] = "proved",
	[FTR_CDG_ACYCLIC] = "acyclic", [FTR_CDG_CYCLE] = "cycle",
};

static const char *const finding_text[FTR_N_FINDINGS] = {
	"no entry", "the entry names a port without a cable",
	"the entry delivers to a port that does not own the LID",
	"the path comes back", "the entry goes up after down",
};

/* What sits on one switch. */
struct load {
	uint64_t ports, lids, sw_lids;	/* end ports, their LIDs, own LIDs */
	uint64_t leaf_ports, leaf_lids;	/* without Aggregation Nodes */
};

static void weigh(const struct ftr_shape *sh, struct load *w)
{
	const struct ftr_fabric *f = sh->f;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		w[s].sw_lids = f->sw[s].lid ? 1u << f->sw[s].lmc : 0;
	for (ftr_ep e = 0; e < f->n_ep; e++) {
		const struct ftr_endport *p = &f->ep[e];
		uint64_t lids = p->lid ? 1u << p->lmc : 0;

		if (p->sw == FTR_SW_NONE)
			continue;
		w[p->sw].ports++;
		w[p->sw].lids += lids;
		if (sh->col[p->sw] < sh->n_leaf && !ftr_ep_is_aggregation(p)) {
			w[p->sw].leaf_ports++;
			w[p->sw].leaf_lids += lids;
		}
	}
}

static bool count_no_path(const struct ftr_shape *sh, struct cli_no_path *np)
{
	uint32_t n = sh->f->n_sw;
	struct load *w = calloc(n ? n : 1, sizeof(*w));

	if (!w)
		return false;
	weigh(sh, w);
	for (ftr_sw s = 0; s < n; s++) {
		const uint8_t *cost = ftr_shape_cost(sh, s);

		for (ftr_sw t = 0; t < n; t++) {
			if (s == t || cost[sh->col[t]] != FTR_COST_INF)
				continue;
			np->pairs[FTR_CHECK_HOST_HOST] += w[s].ports * w[t].lids;
			np->pairs[FTR_CHECK_HOST_SW] += w[s].ports * w[t].sw_lids;
			np->pairs[FTR_CHECK_SW_HOST] += w[t].lids;
			np->pairs[FTR_CHECK_SW_SW] += w[t].sw_lids;
			np->leaf_hosts += w[s].leaf_ports * w[t].leaf_lids;
		}
	}
	free(w);
	return true;
}

bool cli_judge(const struct ftr_shape *sh, const struct ftr_check_report *r,
	       const struct cli_report_opts *o, struct cli_verdict *v)
{
	*v = (struct cli_verdict){ .found = false };
	if (sh && !count_no_path(sh, &v->np))
		return false;
	v->np.known = sh != NULL;
	/* with turns the ranks excuse nobody, unless end ports are complete:
	 * dmodc makes turns for end ports only */
	v->judged = v->np.known && (!r->found[FTR_FIND_TURN] ||
				    !r->bad[FTR_CHECK_HOST_HOST]);
	v->found = o->missing || o->silent || r->harmful || r->vl_drops ||
		   r->cdg == FTR_CDG_CYCLE;
	for (int c = 0; c < FTR_N_CHECK_CLASSES; c++) {
		uint64_t bad = r->bad[c];
		uint64_t none = v->judged ? v->np.pairs[c] : 0;

		v->no_path[c] = none < bad ? none : bad;
		v->class_bad[c] = bad && (o->strict || bad > none ||
			(c == FTR_CHECK_HOST_HOST && v->np.leaf_hosts));
		v->found |= v->class_bad[c];
	}
	return true;
}

/* ---- the parts --------------------------------------------------------- */

static void put_fabric(const struct ftr_fabric *f, const struct ftr_shape *sh,
		       const struct cli_report_opts *o)
{
	char a[CLI_NUM_MAX], b[CLI_NUM_MAX], c[CLI_NUM_MAX];

	printf("fabric        %s switches, %s end ports, %s cables between switches\n",
	       cli_num(a, f->n_sw), cli_num(b, f->n_ep),
	       cli_num(c, f->n_sw_links));
	if (sh)
		printf("ranks         %u, %s leaf switches\n", sh->n_ranks,
		       cli_num(a, sh->n_leaf));
	printf("tables        %s\n", o->source);
	if (o->sl2vl || o->psl)
		printf("lanes         SL to VL: %s; SLs of paths: %s\n",
		       o->sl2vl ? o->sl2vl : "-", o->psl ? o->psl : "-");
}

static void put_class(const struct ftr_check_report *r, int cls,
		      const struct cli_verdict *v)
{
	char a[CLI_NUM_MAX], b[CLI_NUM_MAX], c[CLI_NUM_MAX];

	printf("%-13s %-20s %12s pairs, ", cls ? "" : "paths",
	       class_name[cls], cli_num(a, r->pairs[cls]));
	if (!r->bad[cls]) {
		printf("all arrive\n");
		return;
	}
	printf("%s%s do not arrive%s",
	       cli_colour(v->class_bad[cls] ? CLI_WRONG : CLI_DOUBT),
	       cli_num(b, r->bad[cls]), cli_colour(CLI_PLAIN));
	if (v->judged)
		printf(" (%s of them have no up/down path)",
		       cli_num(c, v->no_path[cls]));
	putchar('\n');
}

static void put_findings(const struct ftr_fabric *f,
			 const struct ftr_check_report *r)
{
	char a[CLI_NUM_MAX], from[CLI_NAME_MAX], to[CLI_NAME_MAX];
	char at[CLI_NAME_MAX];

	for (int i = 0; i < FTR_N_FINDINGS; i++) {
		const struct ftr_check_sample *s = &r->sample[i];

		if (!r->found[i]) {
			printf("%-13s none\n", finding_name[i]);
			continue;
		}
		printf("%-13s %s%s%s; the first: from %s to %s: at %s %s\n",
		       finding_name[i],
		       cli_colour(i == FTR_FIND_HOLE || i == FTR_FIND_TURN ?
				  CLI_DOUBT : CLI_WRONG),
		       cli_num(a, r->found[i]), cli_colour(CLI_PLAIN),
		       cli_sw_name(from, f, s->from),
		       cli_lid_name(to, f, s->lid),
		       cli_sw_name(at, f, s->at), finding_text[i]);
	}
}

static void put_cycle(const struct ftr_fabric *f,
		      const struct ftr_check_report *r)
{
	uint32_t n = r->cycle_len;
	char near[CLI_NAME_MAX], far[CLI_NAME_MAX], vl[16] = "";

	if (n > FTR_CYCLE_MAX)
		n = FTR_CYCLE_MAX;
	printf("credit loops  %sFOUND%s: %u links, each waits for the next:\n",
	       cli_colour(CLI_WRONG), cli_colour(CLI_PLAIN), r->cycle_len);
	for (uint32_t i = 0; i < n; i++) {
		const struct ftr_channel *c = &r->cycle[i];
		const struct ftr_swport *p = ftr_fabric_port(f, c->sw, c->port);

		if (r->n_vls)
			snprintf(vl, sizeof(vl), " on VL %u", c->vl);
		printf("              %s port %u -> %s port %u%s\n",
		       cli_sw_name(near, f, c->sw), c->port,
		       cli_sw_name(far, f, p->peer), p->peer_port, vl);
	}
	if (n < r->cycle_len)
		printf("              ... and %u more\n", r->cycle_len - n);
}

static void put_cdg(const struct ftr_fabric *f,
		    const struct ftr_check_report *r, bool switch_sources)
{
	const char *who = switch_sources ? "end ports and switches" :
			  "end ports";

	switch (r->cdg) {
	case FTR_CDG_PROVED:
		printf("credit loops  none among packets of %s: entries in use go up by rank, then down\n",
		       who);
		break;
	case FTR_CDG_ACYCLIC:
		printf("credit loops  none among packets of %s: the dependency graph has no cycle\n",
		       who);
		break;
	case FTR_CDG_CYCLE:
		put_cycle(f, r);
		break;
	case FTR_CDG_NOT_CHECKED:
		printf("credit loops  NOT CHECKED\n");
		break;
	}
}

/* What the given lanes leave open. */
static void put_lanes(const struct cli_report_opts *o,
		      const struct ftr_check_report *r)
{
	char a[CLI_NUM_MAX];

	if (!o->sl2vl && !o->psl)
		return;
	if (!o->sl2vl)
		printf("              SL to VL tables: every SL is taken to be on the VL of its number (--sl2vl)\n");
	if (!o->psl)
		printf("              SLs of paths: all are taken to be 0 (--psl)\n");
	if (o->no_sl2vl)
		printf("              %s switches that --sl2vl does not tell of: taken as above\n",
		       cli_num(a, o->no_sl2vl));
	if (r->no_sl)
		printf("              %s paths that --psl does not tell of: taken to be of SL 0\n",
		       cli_num(a, r->no_sl));
}

static void put_not_checked(const struct cli_report_opts *o,
			    const struct ftr_check_report *r,
			    const struct ftr_shape *sh)
{
	char a[CLI_NUM_MAX];

	printf("not checked   multicast%s%s\n", o->sl2vl || o->psl ? "" :
	       ", virtual lanes (all traffic is taken to share one)",
	       o->switch_sources ? "" :
	       ", credit loops by packets of switches (--switch-sources)");
	if (!sh)
		printf("              ranks (see above), hence turns and which pairs have an up/down path\n");
	put_lanes(o, r);
	if (o->missing)
		printf("              %s switches without a table: they count as empty\n",
		       cli_num(a, o->missing));
	if (o->silent)
		printf("              what is behind %s links whose far end keeps silent\n",
		       cli_num(a, o->silent));
}

/* Packets that a switch maps to VL 15. */
static void put_drops(const struct ftr_fabric *f,
		      const struct ftr_check_report *r)
{
	char a[CLI_NUM_MAX], at[CLI_NAME_MAX], to[CLI_NAME_MAX];

	if (r->vl_drops)
		printf("VL 15         %s%s%s mappings drop packets; the first: at %s to %s\n",
		       cli_colour(CLI_WRONG), cli_num(a, r->vl_drops),
		       cli_colour(CLI_PLAIN),
		       cli_sw_name(at, f, r->vl_drop.at),
		       cli_lid_name(to, f, r->vl_drop.lid));
}

/* Pairs of end ports by the cables between switches that they cross. */
static void put_hops(const uint64_t *hops)
{
	char a[CLI_NUM_MAX];
	const char *head = "hops";

	for (unsigned int h = 0; hops && h < FTR_HOPS_MAX; h++) {
		if (!hops[h])
			continue;
		printf("%-13s %2u%-18s %12s pairs of end ports\n", head, h,
		       h == FTR_HOPS_MAX - 1 ? " or more" : "",
		       cli_num(a, hops[h]));
		head = "";
	}
}

static void put_report(const struct ftr_fabric *f, const struct ftr_shape *sh,
		       const struct ftr_check_report *r,
		       const struct cli_report_opts *o,
		       const struct cli_verdict *v)
{
	put_fabric(f, sh, o);
	for (int c = 0; c < FTR_N_CHECK_CLASSES; c++)
		put_class(r, c, v);
	printf("longest path  %u cables between switches\n", r->max_hops);
	put_hops(o->hops);
	put_findings(f, r);
	put_cdg(f, r, o->switch_sources);
	put_drops(f, r);
	put_not_checked(o, r, sh);
	printf("verdict       %s%s%s\n",
	       cli_colour(v->found ? CLI_WRONG : CLI_GOOD),
	       v->found ? "FINDINGS" : "clean", cli_colour(CLI_PLAIN));
}

int cli_report(const struct ftr_fabric *f, const struct ftr_shape *sh,
	       const struct ftr_check_report *r,
	       const struct cli_report_opts *o)
{
	struct cli_verdict v;

	if (!cli_judge(sh, r, o, &v))
		return cli_error("out of memory for the verdict");
	if (o->json)
		return cli_report_json(f, sh, r, o, &v);
	put_report(f, sh, r, o, &v);
	return v.found ? CLI_FINDINGS : CLI_CLEAN;
}
