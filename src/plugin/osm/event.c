// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reports of repairs: a line in the log, and a record in ibfattree-events.jsonl, which also has
 * records of drains.
 *
 * The log line is written when the writes of the repair have ended.  The record of a local
 * repair (ddlr), or of links that work again, is written at the same time.  All other records
 * are written when a sweep has confirmed the repair, or else when OpenSM ends.  The file is
 * in OpenSM's dump directory.  ibfattree-json(5) describes the members of a record.  The list
 * "sets" can be replayed in a simulation.
 *
 * A record is one line if it has at most LINE_MAX_BYTES, otherwise several lines.  The
 * first line holds all members; its lists "cables" and "sets" continue in the following
 * lines.  The writer's process writes all lines of a record together.
 *
 * The event is "switch-down" if all links of the repair belong to one switch, and this switch
 * no longer has a link to another switch.  The event "switch-up" follows when the switch has
 * such a link again.  Its record is written by the routing of a sweep: a repair takes a link into
 * use only if both switches answer over other links (confirm_up() in probe.c).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "osm/blocks.h"
#include "osm/drain.h"
#include "osm/fast.h"
#include "osm/metrics.h"
#include "osm/writer.h"

#define EVENT_SCHEMA 2
#define LINE_MAX_BYTES 16384
#define DRAIN_MAX_BYTES 1024	/* more than the longest text of a drained part */

static uint32_t count_up(const struct rr_repair *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_links; i++)
		n += r->link[i].up;
	return n;
}

static void describe_links(const struct rr_repair *r, char *out, size_t size)
{
	const struct ftr_fabric *f = r->gen.fabric;
	const struct rr_link *c = &r->link[0];
	uint32_t up = count_up(r);
	char more[160 + sizeof(struct ibf_text)] = "";

	if (r->n_links > 1)
		snprintf(more, sizeof(more), " and %s (%u down, %u up)%s%s",
			 ibf_count(r->n_links - 1, "other", "others").s,
			 r->n_links - up, up,
			 r->whole == FTR_SW_NONE ? "" : ", all at switch ",
			 r->whole == FTR_SW_NONE ? "" : ibf_sw_name(f, r->whole).s);
	snprintf(out, size, "%s port %u - %s port %u %s%s", ibf_sw_name(f, c->sw).s, c->port,
		 ibf_sw_name(f, c->peer).s, c->peer_port,
		 c->up ? "up" : "down", more);
}

static void log_repair(struct ibf_fast *f, const struct rr_repair *r)
{
	char what[512], failed[64] = "", pathless[64] = "", spared[160] = "";

	describe_links(r, what, sizeof(what));
	if (r->sets.failed)
		snprintf(failed, sizeof(failed), ", %u NOT acknowledged", r->sets.failed);
	if (r->sets.pathless)
		snprintf(pathless, sizeof(pathless), " (%u without a path now)", r->sets.pathless);
	if (r->spared)
		snprintf(spared, sizeof(spared), " (%s stay, because the old path works)",
			 ibf_count(r->spared, "entry", "entries").s);
	ibf_log(f->p, r->sets.failed ? IBF_FAST_WRITES : IBF_FAST,
		"%s %u: %s; %s of %s changed%s, %s of %s written in %s%s; pairs of leaves: %"
		PRIu64 " lost their path%s, %" PRIu64
		" regained one; ms after the trap: ports known %.2f, computed %.2f, checked %.2f, first acknowledged %.2f, last %.2f",
		r->stage == RR_LOCAL ? "local repair" : "fast reroute", r->number, what,
		ibf_count(r->sets.n_changes, "entry", "entries").s,
		ibf_count(r->sets.lids, "destination", "destinations").s, pathless,
		ibf_count(r->sets.blocks, "block", "blocks").s,
		ibf_count(r->switches, "switch", "switches").s,
		ibf_count(r->write_steps, "write step", "write steps").s, failed, r->lost_pairs,
		spared, r->regained_pairs, r->known_ms, r->computed_ms, r->checked_ms, r->sets.first_ms,
		r->sets.last_ms);
	ibf_status_repair(f->p, r);
}

/* ---- switches that are down ---------------------------------------------- */

/* All links of r are at s. */
static bool has_link(const struct rr_repair *r, ftr_sw s, unsigned int port)
{
	for (uint32_t i = 0; i < r->n_links; i++) {
		const struct rr_link *c = &r->link[i];

		if (port == (c->sw == s ? c->port : c->peer_port))
			return true;
	}
	return false;
}

/* True if s still has a link to another switch after the links of r went down. */
static bool is_linked(const struct rr_view *v, const struct rr_repair *r, ftr_sw s)
{
	for (unsigned int p = 1; p <= v->gen.fabric->sw[s].n_ports; p++)
		if (ftr_incr_alive(v->incr, s, (ftr_port)p) && !has_link(r, s, p))
			return true;
	return false;
}

static bool all_links_at(const struct rr_repair *r, ftr_sw s)
{
	for (uint32_t i = 0; i < r->n_links; i++)
		if (r->link[i].sw != s && r->link[i].peer != s)
			return false;
	return true;
}

/* Returns the index of the switch in f->down, or n_down if it is not there.  The caller holds
 * rr.mutex. */
static uint32_t find_down(const struct ibf_fast *f, uint64_t guid)
{
	uint32_t i = 0;

	while (i < f->n_down && f->down[i].guid != guid)
		i++;
	return i;
}

/* If this repair reports that a switch has failed ("switch-down"), set r->whole to this switch,
 * otherwise to FTR_SW_NONE. */
static void find_whole_switch(const struct ibf_fast *f, struct rr_repair *r)
{
	ftr_sw end[2] = { r->link[0].sw, r->link[0].peer };

	r->whole = FTR_SW_NONE;
	if (count_up(r))
		return;
	for (int i = 0; i < 2 && r->whole == FTR_SW_NONE; i++)
		if (all_links_at(r, end[i]) && !is_linked(f->rr.view, r, end[i]))
			r->whole = end[i];
}

void ibf_event_report(void *ctx, struct rr_repair *r)
{
	struct ibf_fast *f = ctx;

	find_whole_switch(f, r);
	log_repair(f, r);
}

static void note_switch(struct ibf_fast *f, const struct rr_repair *r)
{
	uint32_t i;

	if (r->whole == FTR_SW_NONE || r->link[0].up)
		return;
	pthread_mutex_lock(&f->rr.mutex);
	i = find_down(f, r->gen.fabric->sw[r->whole].guid);
	if (i == f->n_down && FTR_GROW(f->down, f->n_down, f->cap_down))
		f->down[f->n_down++] = (struct ibf_down){
			r->gen.fabric->sw[r->whole].guid, r->number
		};
	pthread_mutex_unlock(&f->rr.mutex);
}

/* ---- a record ------------------------------------------------------------ */

static void add_name(FILE *t, const char *key, const char *s)
{
	fprintf(t, "\"%s\":\"", key);
	ibf_put_text(t, s);
	fprintf(t, "\"");
}

static void add_link(FILE *t, const struct ftr_fabric *f, const struct rr_link *c)
{
	fprintf(t, "{\"guid\":\"0x%016" PRIx64 "\",\"port\":%u,",
		f->sw[c->sw].guid, c->port);
	add_name(t, "name", f->sw[c->sw].name);
	fprintf(t, ",\"peer_guid\":\"0x%016" PRIx64 "\",\"peer_port\":%u,",
		f->sw[c->peer].guid, c->peer_port);
	add_name(t, "peer_name", f->sw[c->peer].name);
	fprintf(t, ",\"up\":%s}\n", c->up ? "true" : "false");
}

static void add_ms(FILE *t, const char *key, double ms, const char *sep)
{
	if (ms < 0)
		fprintf(t, "\"%s\":null%s", key, sep);
	else
		fprintf(t, "\"%s\":%.3f%s", key, ms, sep);
}

static const char *kind(const struct rr_repair *r)
{
	uint32_t up = count_up(r);

	if (up && up < r->n_links)
		return "mixed";
	if (r->whole != FTR_SW_NONE)
		return up ? "switch-up" : "switch-down";
	return up ? "link-up" : "link-down";
}

static void add_head(FILE *t, const struct rr_repair *r, uint32_t part, uint32_t parts)
{
	fprintf(t, "{\"schema\":%d,\"event\":\"%s\",\"number\":%u,\"part\":%u,\"parts\":%u,\"time\":%.6f",
		EVENT_SCHEMA, kind(r), r->number, part, parts, r->wall);
}

static void add_facts(FILE *t, const struct rr_repair *r)
{
	static const char *const stage[] = {
		[RR_REROUTE] = "reroute", [RR_LOCAL] = "local", [RR_SWEPT] = "sweep",
	};

	fprintf(t, ",\"engine\":\"%s\",\"stage\":\"%s\",\"traps\":%u,"
		"\"destinations\":%u,\"entries\":%u,\"pathless\":%u,\"spared\":%u,"
		"\"switches\":%u,\"blocks\":%u,\"stages\":%u,"
		"\"drained\":%u,\"failed\":%u,\"unhealed\":%" PRIu64
		",\"held\":%u,\"lost_leaf_pairs\":%" PRIu64
		",\"regained_leaf_pairs\":%" PRIu64 ",\"ms\":{",
		r->gen.engine, stage[r->stage], r->n_traps, r->sets.lids, r->sets.n_changes,
		r->sets.pathless, r->spared, r->switches, r->sets.blocks, r->write_steps, r->drained,
		r->sets.failed, r->unrepaired, r->held, r->lost_pairs, r->regained_pairs);
	add_ms(t, "known", r->known_ms, ",");
	add_ms(t, "computed", r->computed_ms, ",");
	add_ms(t, "checked", r->checked_ms, ",");
	add_ms(t, "first", r->sets.first_ms, ",");
	add_ms(t, "last", r->sets.last_ms, ",");
	add_ms(t, "reconciled", r->reconciled_ms, "}");
	if (r->reconciled_ms >= 0)
		fprintf(t, ",\"reconcile\":{\"entries\":%" PRIu64
		    ",\"blocks\":%" PRIu64 ",\"switches\":%u}",
		    r->rest.entries, r->rest.blocks, r->rest.switches);
	else
		fprintf(t, ",\"reconcile\":null");
}

/* Add one line to the record.  The line gets as many elements of the lists *links and *sets as fit,
 * at least one.  Then *links and *sets are set to the remaining elements; NULL: none remain.  A
 * list is a text with one object per line. */
static void add_line(FILE *t, const struct rr_repair *r, uint32_t part,
		     uint32_t parts, const char **links, const char **sets)
{
	const char *key[] = { "cables", "sets" }, **list[] = { links, sets };
	const long start = ftell(t), closing = sizeof(",],\"sets\":[]}\n");

	add_head(t, r, part, parts);
	if (part == 1)
		add_facts(t, r);
	for (int i = 0; i < 2; i++) {
		const char *at = *list[i], *nl, *sep = "";

		if (!at)
			continue;
		fprintf(t, ",\"%s\":[", key[i]);
		while ((nl = strchr(at, '\n')) &&
		       ftell(t) - start + (nl - at) + closing <= LINE_MAX_BYTES) {
			fprintf(t, "%s%.*s", sep, (int)(nl - at), at);
			sep = ",";
			at = nl + 1;
		}
		fprintf(t, "]");
		*list[i] = *at ? at : NULL;
		if (*at)
			break;
	}
	fprintf(t, "}\n");
}

static uint32_t add_record(FILE *t, const struct rr_repair *r, const char *links, uint32_t parts)
{
	const char *sets = r->sets.text;
	uint32_t part = 0;

	do
		add_line(t, r, ++part, parts, &links, &sets);
	while (links || sets);
	return part;
}

static char *list_text(const struct rr_repair *r)
{
	char *text = NULL;
	size_t size;
	FILE *t = ftr_memstream(&text, &size);

	for (uint32_t i = 0; t && i < r->n_links; i++)
		add_link(t, r->gen.fabric, &r->link[i]);
	if (t)
		ftr_memstream_end(t, &text);
	return text;
}

static char *record_text(const struct rr_repair *r, const char *links, uint32_t *lines,
			 size_t *size)
{
	char *text = NULL;
	FILE *t = ftr_memstream(&text, size);

	if (t) {
		*lines = add_record(t, r, links, *lines);
		ftr_memstream_end(t, &text);
	}
	return text;
}

/* Returns the text of a record; *size: its length; NULL: no memory.  Every line contains the total
 * number of lines.  So a draft is made first, and its lines are counted.  The draft contains the
 * longest possible number, so the final lines are not longer. */
static char *compose(const struct rr_repair *r, size_t *size)
{
	char *links = list_text(r), *draft = NULL, *text = NULL;
	uint32_t lines = UINT32_MAX;

	if (links)
		draft = record_text(r, links, &lines, size);
	if (draft)
		text = record_text(r, links, &lines, size);
	free(links);
	free(draft);
	return text;
}

/* ---- the file ------------------------------------------------------------ */

/* Append the text to the file, and free it.  text NULL: there was no memory for it. */
static void put_text(struct ibf_plugin *p, char *text, size_t bytes, const char *what)
{
	struct ibf_job job = {
		.msg = IBF_EVENT_FILE, .append = true, .fill = ibf_fill_text, .release = free,
		.ctx = text, .bytes = bytes,
	};

	if (text)
		job.path = ftr_asprintf("%s/ibfattree-events.jsonl", ibf_dump_dir(p));
	if (!ibf_writer_put(p->writer, &job))
		ibf_log(p, IBF_EVENT_FILE, "out of memory: the record of %s is lost", what);
}

void ibf_event_write(void *ctx, const struct rr_repair *r)
{
	struct ibf_fast *f = ctx;
	char what[32];
	size_t bytes;
	char *text;

	note_switch(f, r);
	text = compose(r, &bytes);
	snprintf(what, sizeof(what), "event %u", r->number);
	put_text(f->p, text, bytes, what);
}

void ibf_event_drains(struct ibf_plugin *p, const struct ftr_drains *d)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *t = ftr_memstream(&text, &bytes);

	if (t) {
		fprintf(t, "{\"schema\":%d,\"event\":\"drains\",\"part\":1,\"parts\":1,\"time\":%.6f,\"request\":\"0x%"
			PRIx64 "\",\"number_drained\":%u,\"drained_parts\":[",
			EVENT_SCHEMA, rr_wall(), d->request, d->n);
		for (uint32_t i = 0; i < d->n && ftell(t) < LINE_MAX_BYTES - DRAIN_MAX_BYTES; i++) {
			fprintf(t, "%s{\"guid\":\"0x%016" PRIx64 "\",\"port\":%u,\"since\":%" PRIu64
				",", i ? "," : "", d->part[i].guid, d->part[i].port,
				d->part[i].since);
			add_name(t, "by", d->part[i].by);
			fputc(',', t);
			add_name(t, "name", d->part[i].name);
			fputc('}', t);
		}
		fputs("]}\n", t);
		ftr_memstream_end(t, &text);
	}
	put_text(p, text, bytes, "a drain");
}

/* ---- switches that are linked again after a sweep ------------------------- */

/* Remove from f->down a switch that has a link to another switch in fab.  *d: the removed element;
 * *s: the switch in fab.  Returns false if there is no such switch. */
static bool take_returned(struct ibf_fast *f, const struct ftr_fabric *fab,
			  struct ibf_down *d, ftr_sw *s)
{
	bool found = false;

	pthread_mutex_lock(&f->rr.mutex);
	for (uint32_t i = 0; i < f->n_down; i++) {
		*s = ftr_fabric_find_sw(fab, f->down[i].guid);
		found = *s != FTR_SW_NONE && ibf_has_link(fab, *s);
		if (found) {
			*d = f->down[i];
			f->down[i] = f->down[--f->n_down];
			break;
		}
	}
	pthread_mutex_unlock(&f->rr.mutex);
	return found;
}

static void list_links(const struct ftr_fabric *f, ftr_sw s, struct rr_repair *r)
{
	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *port = ftr_fabric_port(f, s, (ftr_port)p);

		if (port->peer_kind == FTR_PEER_SW)
			r->link[r->n_links++] = (struct rr_link){
				s, port->peer, (ftr_port)p, port->peer_port,
				true
			};
	}
}

void ibf_event_routed(struct ibf_fast *f, struct ibf_generation *gen)
{
	struct ibf_down d;
	ftr_sw s;

	while (gen && take_returned(f, gen->fabric, &d, &s)) {
		struct rr_repair r = {
			.gen = ibf_routing_of(gen), .number = d.number, .stage = RR_SWEPT,
			.whole = s, .sets = RR_NO_SETS, .known_ms = -1, .computed_ms = -1,
			.checked_ms = -1, .reconciled_ms = -1,
		};

		r.link = ftr_calloc(gen->fabric->sw[s].n_ports + 1u, sizeof(*r.link));
		r.wall = rr_wall();
		if (r.link) {
			list_links(gen->fabric, s, &r);
			ibf_event_write(f, &r);
		}
		free(r.link);
	}
}
