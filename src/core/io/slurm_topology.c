// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Writes topology.conf(5) or topology.yaml of Slurm, as a tree or as blocks (FTR_SLURM_BLOCK, see
 * <ftr/hosts.h>).  Both forms are made from:
 *
 *	unit	a set of hosts with ports on the same leaf switches: one leaf, or one leaf for
 *		each port if the hosts have several ports (rails)
 *	pod	all switches of one rank above the same leaves; at rank 0, one leaf
 *
 * In a tree, the switches of a pod become one switch of Slurm, because they reach the same hosts.
 * A pod with only one unit or pod below it is left out, because the scheduler needs no information
 * about it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include <ftr/hosts.h>
#include <ftr/shape.h>

#define SLURM_NAME (FTR_NAME_MAX + 24)
#define NONE UINT32_MAX

struct member {			/* a host and its switches */
	uint32_t host, n;
	ftr_sw *sw;
};

struct unit {
	uint32_t first, n;	/* hosts: slurm.host[first .. first + n - 1] */
	ftr_sw sw;		/* leaf switch of the hosts; FTR_SW_NONE: several */
	uint32_t pod;
};

struct slurm {
	const struct ftr_shape *sh;
	const struct ftr_hosts *h;
	const struct ftr_slurm_opts *o;
	struct ftr_arena *a;
	FILE *out;
	struct member *member;
	uint32_t n_members;
	uint32_t *host;
	struct unit *unit;
	uint32_t n_units;
	uint32_t n_cols;	/* number of leaf columns, including those of missing leaves */
	ftr_sw *pod;		/* [n_pods] a switch of the pod; sorted by rank */
	uint32_t n_pods;
	uint32_t *pod_of;	/* [n_sw] the pod of a switch; NONE: it is not above any leaf */
	/* [n_ranks][n_cols] the pod of that rank above a leaf column, or NONE */
	uint32_t *pod_at;
	uint32_t *up;		/* for each pod: the pod above it, or NONE */
	uint32_t *children;	/* for each pod: number of units, and of pods with units, directly
				 * below it */
	char (*name)[SLURM_NAME];	/* [n_sw] Slurm names of the switches */
};

/* ---- pods ------------------------------------------------------------------ */

static int by_pod(const void *x, const void *y, void *ctx)
{
	const struct ftr_shape *sh = ((const struct slurm *)ctx)->sh;
	ftr_sw a = *(const ftr_sw *)x, b = *(const ftr_sw *)y;

	return FTR_ORDER(sh->tree.rank[a], sh->tree.rank[b]) ?:
	       FTR_ORDER(sh->numbering.pod_first[a], sh->numbering.pod_first[b]) ?:
	       FTR_ORDER(sh->numbering.pod_leaves[a], sh->numbering.pod_leaves[b]);
}

/* Set pod[], pod_of[] and pod_at[]. */
static bool find_pods(struct slurm *s)
{
	const struct ftr_shape *sh = s->sh;
	const uint32_t n = sh->f->n_sw, *first = sh->numbering.pod_first;
	const uint32_t *leaves = sh->numbering.pod_leaves;
	ftr_sw *sw = ftr_arena_alloc(s->a, n, sizeof(*sw));
	uint32_t n_sw = 0;

	s->n_cols = sh->tree.n_leaf;
	for (ftr_sw i = 0; sw && i < n; i++)
		if (ftr_shape_above_leaf(sh, i)) {
			s->n_cols = FTR_MAX(s->n_cols, first[i] + leaves[i]);
			sw[n_sw++] = i;
		}
	s->pod_at = ftr_arena_alloc(s->a, (size_t)sh->tree.n_ranks * s->n_cols + 1,
				    sizeof(*s->pod_at));
	if (!sw || !s->pod_at || !FTR_NEW(s->a, s->pod, n) || !FTR_NEW(s->a, s->pod_of, n))
		return false;
	memset(s->pod_at, 0xff, (size_t)sh->tree.n_ranks * s->n_cols * sizeof(*s->pod_at));
	memset(s->pod_of, 0xff, n * sizeof(*s->pod_of));
	if (n_sw)
		qsort_r(sw, n_sw, sizeof(*sw), by_pod, s);
	for (uint32_t i = 0; i < n_sw; i++) {
		if (!i || by_pod(&sw[i], &sw[i - 1], s))
			s->pod[s->n_pods++] = sw[i];
		s->pod_of[sw[i]] = s->n_pods - 1;
		for (uint32_t c = first[sw[i]]; c < first[sw[i]] + leaves[sw[i]]; c++)
			s->pod_at[(size_t)sh->tree.rank[sw[i]] * s->n_cols + c] = s->n_pods - 1;
	}
	return true;
}

/* ---- units ----------------------------------------------------------------- */

static int by_switches(const void *x, const void *y)
{
	const struct member *a = x, *b = y;

	for (uint32_t i = 0; i < a->n && i < b->n; i++)
		if (a->sw[i] != b->sw[i])
			return a->sw[i] < b->sw[i] ? -1 : 1;
	return FTR_ORDER(a->n, b->n) ?: FTR_ORDER(a->host, b->host);
}

static bool same_switches(const struct member *a, const struct member *b)
{
	return a->n == b->n && !memcmp(a->sw, b->sw, a->n * sizeof(*a->sw));
}

static int by_index(const void *a, const void *b)
{
	return FTR_ORDER(*(const ftr_sw *)a, *(const ftr_sw *)b);
}

/* Collect the switches of every host. */
static bool members(struct slurm *s)
{
	const struct ftr_hosts *h = s->h;
	ftr_sw *sw = ftr_arena_alloc(s->a, s->sh->f->n_ep + 1u, sizeof(*sw));

	if (!sw || !FTR_ZNEW(s->a, s->member, h->n + 1u))
		return false;
	for (uint32_t i = 0; i < h->n; i++) {
		struct member *m = &s->member[s->n_members];

		if (s->o->wanted && !s->o->wanted[i])
			continue;
		*m = (struct member){ i, 0, sw };
		for (uint32_t k = 0; k < h->host[i].n; k++)
			sw[k] = s->sh->f->ep[h->ep[h->host[i].first + k]].sw;
		qsort(sw, h->host[i].n, sizeof(*sw), by_index);
		for (uint32_t k = 0; k < h->host[i].n; k++)
			if (!m->n || m->sw[m->n - 1] != sw[k])
				m->sw[m->n++] = sw[k];
		sw += m->n;
		s->n_members++;
	}
	if (s->n_members)
		qsort(s->member, s->n_members, sizeof(*s->member), by_switches);
	return true;
}

/* If a host has ports on several leaves, and no other host has ports on the same leaves, keep only
 * its first leaf.  Returns the number of such hosts. */
static uint32_t single_out(struct slurm *s)
{
	uint32_t split = 0;

	for (uint32_t i = 0; i < s->n_members; i++) {
		struct member *m = &s->member[i];

		if (m->n < 2 || (i && same_switches(m, m - 1)) ||
		    (i + 1 < s->n_members && same_switches(m, m + 1)))
			continue;
		m->n = 1;
		split++;
	}
	if (split)
		qsort(s->member, s->n_members, sizeof(*s->member), by_switches);
	return split;
}

/* Returns the lowest pod above rank 0 that contains all switches of m, or NONE. */
static uint32_t pod_of(const struct slurm *s, const struct member *m)
{
	const struct ftr_shape *sh = s->sh;
	uint32_t r = 1;

	for (uint32_t i = 0; i < m->n; i++) {
		if (s->pod_of[m->sw[i]] == NONE)
			return NONE;
		/* An upper switch is in no pod of a lower rank than its own. */
		if (sh->numbering.pod_leaves[m->sw[i]] > 1)
			r = FTR_MAX(r, sh->tree.rank[m->sw[i]]);
	}
	for (; r < sh->tree.n_ranks; r++) {
		const uint32_t *at = s->pod_at + (size_t)r * s->n_cols;
		uint32_t pod = at[sh->numbering.pod_first[m->sw[0]]];
		bool all = pod != NONE;

		for (uint32_t i = 1; all && i < m->n; i++)
			all = at[sh->numbering.pod_first[m->sw[i]]] == pod;
		if (all)
			return pod;
	}
	return NONE;
}

static int by_first(const void *x, const void *y, void *ctx)
{
	const struct slurm *s = ctx;
	uint32_t a = s->host[((const struct unit *)x)->first];
	uint32_t b = s->host[((const struct unit *)y)->first];

	return FTR_ORDER(a, b);
}

static bool units(struct slurm *s)
{
	if (!FTR_NEW(s->a, s->host, s->n_members + 1u) ||
	    !FTR_ZNEW(s->a, s->unit, s->n_members + 1u))
		return false;
	for (uint32_t i = 0; i < s->n_members; i++) {
		const struct member *m = &s->member[i];
		struct unit *u = &s->unit[s->n_units];

		s->host[i] = m->host;
		if (i && same_switches(m, m - 1)) {
			u[-1].n++;
			continue;
		}
		u->first = i;
		u->n = 1;
		u->sw = m->n == 1 ? m->sw[0] : FTR_SW_NONE;
		u->pod = pod_of(s, m);
		s->n_units++;
	}
	if (s->n_units)
		qsort_r(s->unit, s->n_units, sizeof(*s->unit), by_first, s);
	return true;
}

/* ---- pods with units below them -------------------------------------------- */

static uint32_t above(const struct slurm *s, uint32_t pod)
{
	const struct ftr_shape *sh = s->sh;
	ftr_sw w = s->pod[pod];

	for (uint32_t r = sh->tree.rank[w] + 1u; r < sh->tree.n_ranks; r++) {
		uint32_t up = s->pod_at[(size_t)r * s->n_cols + sh->numbering.pod_first[w]];

		if (up != NONE)
			return up;
	}
	return NONE;
}

/* Set up[] and children[]. Pods are sorted by rank, so children[] of the lower pods is complete
 * first. */
static bool pods(struct slurm *s)
{
	const uint32_t n = s->n_pods;

	if (!FTR_NEW(s->a, s->up, n + 1u) ||
	    !FTR_ZNEW(s->a, s->children, n + 1u))
		return false;
	for (uint32_t i = 0; i < s->n_units; i++)
		if (s->unit[i].pod != NONE)
			s->children[s->unit[i].pod]++;
	for (uint32_t i = 0; i < n; i++) {
		s->up[i] = above(s, i);
		if (s->up[i] != NONE && s->children[i])
			s->children[s->up[i]]++;
	}
	return true;
}

/* Returns the lowest pod with several children among this pod and those above it.  Only pods with
 * several children are written. */
static uint32_t kept(const struct slurm *s, uint32_t pod)
{
	while (pod != NONE && s->children[pod] < 2)
		pod = s->up[pod];
	return pod;
}

/* ---- names ----------------------------------------------------------------- */

static int by_text(const void *x, const void *y, void *ctx)
{
	const struct slurm *s = ctx;

	return strcmp(s->name[*(const ftr_sw *)x], s->name[*(const ftr_sw *)y]);
}

static void clean(const char *from, char *to)
{
	size_t n = 0;

	for (; *from && n < FTR_NAME_MAX; from++) {
		char c = *from;
		bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			(c >= '0' && c <= '9') || c == '_' || c == '.';

		to[n++] = good ? c : '-';
	}
	to[n] = '\0';
}

static void add_guid(struct slurm *s, ftr_sw w)
{
	size_t n = strlen(s->name[w]);

	snprintf(s->name[w] + n, SLURM_NAME - n, "%s%016" PRIx64,
		 n ? "-" : "sw-", s->sh->f->sw[w].guid);
}

/* slurmctld ends if the number at the end of a switch name has more digits. */
#define DIGITS_MAX 19

static size_t digits_at_end(const char *name)
{
	size_t n = strlen(name), digits = 0;

	while (digits < n && name[n - 1 - digits] >= '0' && name[n - 1 - digits] <= '9')
		digits++;
	return digits;
}

/* Name the switches by their descriptions. The GUID is added if a description is empty, is not
 * unique, begins like a generated name, or ends in a number that is too long for Slurm. */
static bool names(struct slurm *s)
{
	const struct ftr_fabric *f = s->sh->f;
	ftr_sw *order = ftr_arena_alloc(s->a, f->n_sw + 1u, sizeof(*order));
	bool *twice = ftr_arena_zalloc(s->a, f->n_sw + 1u, sizeof(*twice));

	if (!order || !twice || !FTR_ZNEW(s->a, s->name, f->n_sw + 1u))
		return false;
	for (ftr_sw w = 0; w < f->n_sw; w++) {
		clean(f->sw[w].name, s->name[w]);
		order[w] = w;
	}
	qsort_r(order, f->n_sw, sizeof(*order), by_text, s);
	for (uint32_t i = 1; i < f->n_sw; i++)
		if (!strcmp(s->name[order[i]], s->name[order[i - 1]]))
			twice[order[i]] = twice[order[i - 1]] = true;
	for (ftr_sw w = 0; w < f->n_sw; w++)
		if (twice[w] || !s->name[w][0] || digits_at_end(s->name[w]) > DIGITS_MAX ||
		    !strncmp(s->name[w], "pod-", 4) ||
		    !strncmp(s->name[w], "rails-", 6))
			add_guid(s, w);
	return true;
}

/* ---- writing --------------------------------------------------------------- */

/* Returns the length of a name without the digits at its end that can go into brackets. */
static size_t head_of(const char *name)
{
	size_t digits = digits_at_end(name);

	return strlen(name) - (digits > 9 ? 0 : digits);
}

/* Returns true if b is the name after a in a range such as n[01-03]. */
static bool follows(const char *a, const char *b, size_t head)
{
	char want[FTR_NAME_MAX + 16];

	if (!a[head])
		return false;
	snprintf(want, sizeof(want), "%.*s%0*lu", (int)head, a,
		 (int)strlen(a + head), strtoul(a + head, NULL, 10) + 1);
	return !strcmp(want, b);
}

static bool same_head(const char *a, const char *b, size_t head)
{
	return a[head] && b[0] && head_of(b) == head && b[head] &&
		!strncmp(a, b, head);
}

/* Write the names of hosts, in natural order: "n[01-03,07],login". */
static void put_hosts(const struct slurm *s, const uint32_t *host, uint32_t n)
{
	for (uint32_t i = 0; i < n; ) {
		const char *a = s->h->host[host[i]].name;
		size_t head = head_of(a);
		uint32_t end = i + 1;

		while (end < n && same_head(a, s->h->host[host[end]].name, head))
			end++;
		fprintf(s->out, "%s%.*s%s", i ? "," : "", (int)head, a,
			end - i > 1 ? "[" : a + head);
		for (uint32_t k = i; end - i > 1 && k < end; ) {
			uint32_t last = k;

			while (last + 1 < end &&
			       follows(s->h->host[host[last]].name,
				       s->h->host[host[last + 1]].name, head))
				last++;
			fprintf(s->out, "%s%s", k > i ? "," : "",
				s->h->host[host[k]].name + head);
			if (last > k)
				fprintf(s->out, "-%s",
					s->h->host[host[last]].name + head);
			k = last + 1;
		}
		if (end - i > 1)
			putc(']', s->out);
		i = end;
	}
}

static void put_unit_name(const struct slurm *s, uint32_t i)
{
	if (s->unit[i].sw != FTR_SW_NONE)
		fputs(s->name[s->unit[i].sw], s->out);
	else
		fprintf(s->out, "rails-%u", i);
}

static void put_pod_name(const struct slurm *s, uint32_t pod)
{
	const unsigned int rank = s->sh->tree.rank[s->pod[pod]];
	uint32_t first = pod;

	while (first && s->sh->tree.rank[s->pod[first - 1]] == rank)
		first--;
	fprintf(s->out, "pod-%u-%u", rank, pod - first);
}

static void put_children(const struct slurm *s, uint32_t pod)
{
	bool more = false;

	for (uint32_t i = 0; i < s->n_units; i++) {
		if (kept(s, s->unit[i].pod) != pod)
			continue;
		fputs(more ? "," : "", s->out);
		put_unit_name(s, i);
		more = true;
	}
	for (uint32_t i = 0; i < s->n_pods; i++) {
		if (s->children[i] < 2 || i == pod || kept(s, s->up[i]) != pod)
			continue;
		fputs(more ? "," : "", s->out);
		put_pod_name(s, i);
		more = true;
	}
}

static void put_tree(const struct slurm *s)
{
	const char *sw = s->o->yaml ? "      - switch: " : "SwitchName=";
	const char *nodes = s->o->yaml ? "\n        nodes: " : " Nodes=";
	const char *children = s->o->yaml ? "\n        children: " :
		" Switches=";

	if (s->o->yaml)
		fputs("  tree:\n    switches:\n", s->out);
	for (uint32_t i = 0; i < s->n_units; i++) {
		fputs(sw, s->out);
		put_unit_name(s, i);
		fputs(nodes, s->out);
		put_hosts(s, s->host + s->unit[i].first, s->unit[i].n);
		putc('\n', s->out);
	}
	for (uint32_t i = 0; i < s->n_pods; i++) {
		if (s->children[i] < 2)
			continue;
		fputs(sw, s->out);
		put_pod_name(s, i);
		fputs(children, s->out);
		put_children(s, i);
		putc('\n', s->out);
	}
}

/* Returns the pod of rank 1 that is the block of a unit.  NONE: there is no such pod, or the fabric
 * has fewer than three ranks, so the unit is a block of its own. */
static uint32_t block_of(const struct slurm *s, uint32_t unit)
{
	uint32_t pod = s->unit[unit].pod;

	if (pod == NONE || s->sh->tree.n_ranks < 3 || s->sh->tree.rank[s->pod[pod]] != 1)
		return NONE;
	return pod;
}

static void put_block(const struct slurm *s, const uint32_t *host, uint32_t n,
		      uint32_t unit, uint32_t pod,
		      struct ftr_slurm_counts *counts)
{
	fputs(s->o->yaml ? "      - block: " : "BlockName=", s->out);
	if (pod != NONE)
		put_pod_name(s, pod);
	else
		put_unit_name(s, unit);
	fputs(s->o->yaml ? "\n        nodes: " : " Nodes=", s->out);
	put_hosts(s, host, n);
	putc('\n', s->out);
	counts->block_min = counts->block_min ?
		FTR_MIN(counts->block_min, n) : n;
	counts->block_max = FTR_MAX(counts->block_max, n);
}

static bool put_blocks(const struct slurm *s, struct ftr_slurm_counts *counts)
{
	uint32_t *host = ftr_arena_alloc(s->a, s->n_members + 1u, sizeof(*host));
	bool *done = ftr_arena_zalloc(s->a, s->n_units + 1u, sizeof(*done));

	if (!host || !done)
		return false;
	if (s->o->yaml)
		fputs("  block:\n    blocks:\n", s->out);
	for (uint32_t i = 0; i < s->n_units; i++) {
		uint32_t pod = block_of(s, i), n = 0;

		for (uint32_t k = i; !done[i] && k < s->n_units; k++) {
			if (k != i && (pod == NONE || block_of(s, k) != pod))
				continue;
			memcpy(host + n, s->host + s->unit[k].first,
			       s->unit[k].n * sizeof(*host));
			n += s->unit[k].n;
			done[k] = k != i;
		}
		if (done[i])
			continue;
		qsort(host, n, sizeof(*host), ftr_u32_cmp);
		put_block(s, host, n, i, pod, counts);
	}
	if (s->o->yaml)
		fprintf(s->out, "    block_sizes:\n      - %u\n",
			counts->block_min);
	else
		fprintf(s->out, "BlockSizes=%u\n", counts->block_min);
	return true;
}

static bool make_topology(struct slurm *s, struct ftr_slurm_counts *counts)
{
	if (!members(s))
		return false;
	counts->nodes = s->n_members;
	counts->split = single_out(s);
	if (!find_pods(s) || !units(s) || !pods(s) || !names(s))
		return false;
	if (!s->n_members)
		return true;
	if (s->o->yaml)
		fputs("---\n- topology: ibfattree\n  cluster_default: true\n",
		      s->out);
	if (s->o->form == FTR_SLURM_BLOCK)
		return put_blocks(s, counts);
	put_tree(s);
	return true;
}

enum ftr_status ftr_write_slurm(FILE *out, const struct ftr_shape *sh,
				const struct ftr_slurm_opts *opts,
				struct ftr_slurm_counts *counts,
				struct ftr_err *err)
{
	struct slurm s = { .sh = sh, .h = opts->hosts, .o = opts, .out = out };
	bool ok;

	*counts = (struct ftr_slurm_counts){ 0 };
	s.a = ftr_arena_new();
	ok = s.a && make_topology(&s, counts);
	ftr_arena_free(s.a);
	if (!ok)
		return ftr_nomem(err, "a topology of %u hosts", s.h->n);
	if (!counts->nodes)
		return ftr_fail(err, FTR_SHAPE, "no host to write: %u ports of channel adapters have no host name in their description",
				s.h->n_nameless);
	return ferror(out) ? ftr_fail(err, FTR_IO, "cannot write") : FTR_OK;
}
