// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is told of a repair: one line in the log when it is done, and one line
 * of JSON when a sweep has confirmed it, in ibfattree-events.jsonl of OpenSM's
 * dump directory.  The keys are those of ibfattree-json(5); "sets" is what a
 * simulation can replay.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "osm/fast.h"

void ibf_repair_free(struct ibf_repair *r)
{
	if (!r)
		return;
	ibf_generation_put(r->gen);
	free(r->cable);
	free(r->sets);
	free(r);
}

static uint32_t count_up(const struct ibf_repair *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_cables; i++)
		n += r->cable[i].up;
	return n;
}

/* The switch that lost all its cables in this repair, or NONE. */
static ftr_sw whole_switch(const struct ibf_repair *r)
{
	ftr_sw s = r->cable[0].sw, t = r->cable[0].peer;
	bool at_s = r->n_cables > 2, at_t = at_s;

	for (uint32_t i = 1; i < r->n_cables; i++) {
		const struct ibf_cable *c = &r->cable[i];

		at_s = at_s && (c->sw == s || c->peer == s);
		at_t = at_t && (c->sw == t || c->peer == t);
	}
	return at_s ? s : at_t ? t : FTR_SW_NONE;
}

static void name_what(const struct ibf_repair *r, char *out, size_t size)
{
	const struct ftr_fabric *f = r->gen->fabric;
	const struct ibf_cable *c = &r->cable[0];
	uint32_t up = count_up(r);
	ftr_sw all = whole_switch(r);
	char more[96] = "";

	if (r->n_cables > 1)
		snprintf(more, sizeof(more), " and %u others (%u down, %u up)%s",
			 r->n_cables - 1, r->n_cables - up, up,
			 all == FTR_SW_NONE ? "" : ", all at one switch");
	snprintf(out, size, "%s port %u - %s port %u %s%s", f->sw[c->sw].name,
		 c->port, f->sw[c->peer].name, c->peer_port,
		 c->up ? "up" : "down", more);
}

void ibf_event_log(struct ibf_fast *f, const struct ibf_repair *r)
{
	char what[3 * FTR_NAME_MAX], failed[64] = "", pathless[64] = "";

	name_what(r, what, sizeof(what));
	if (r->failed)
		snprintf(failed, sizeof(failed), ", %u NOT acknowledged",
			 r->failed);
	if (r->pathless)
		snprintf(pathless, sizeof(pathless),
			 " (%u have no path now)", r->pathless);
	ibf_log(f->p, r->failed ? IBF_FAST_WRITES : IBF_FAST,
		"%s %u: %s; %u entries of %u destinations moved%s, %u blocks of %u switches written in %u stages%s; leaf pairs that lost their path %"
		PRIu64 ", regained %" PRIu64
		"; ms after the trap: ports known %.2f, computed %.2f, checked %.2f, first acknowledged %.2f, last %.2f",
		r->local ? "local repair" : "fast reroute", r->number, what,
		r->n_changes, r->lids, pathless, r->blocks, r->switches,
		r->stages, failed, r->lost_pairs, r->regained_pairs,
		r->known_ms, r->computed_ms, r->checked_ms, r->first_ms,
		r->last_ms);
	ibf_status_repair(f->p, r);
}

/* ---- JSON --------------------------------------------------------------- */

static void put_string(FILE *out, const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static void put_cables(FILE *out, const struct ibf_repair *r)
{
	const struct ftr_fabric *f = r->gen->fabric;

	fputs("\"cables\":[", out);
	for (uint32_t i = 0; i < r->n_cables; i++) {
		const struct ibf_cable *c = &r->cable[i];

		fprintf(out, "%s{\"guid\":\"0x%016" PRIx64
			"\",\"port\":%u,\"name\":", i ? "," : "",
			f->sw[c->sw].guid, c->port);
		put_string(out, f->sw[c->sw].name);
		fprintf(out, ",\"peer_guid\":\"0x%016" PRIx64
			"\",\"peer_port\":%u,\"peer_name\":",
			f->sw[c->peer].guid, c->peer_port);
		put_string(out, f->sw[c->peer].name);
		fprintf(out, ",\"up\":%s}", c->up ? "true" : "false");
	}
	fputs("],", out);
}

static void put_ms(FILE *out, const char *key, double ms, const char *sep)
{
	if (ms < 0)
		fprintf(out, "\"%s\":null%s", key, sep);
	else
		fprintf(out, "\"%s\":%.3f%s", key, ms, sep);
}

static const char *kind(const struct ibf_repair *r)
{
	uint32_t up = count_up(r);

	if (up && up < r->n_cables)
		return "mixed";
	if (whole_switch(r) != FTR_SW_NONE)
		return up ? "switch-up" : "switch-down";
	return up ? "link-up" : "link-down";
}

static void put_event(FILE *out, const struct ibf_repair *r)
{
	fprintf(out, "{\"event\":\"%s\",\"number\":%u,\"time\":%.6f,"
		"\"engine\":\"%s\",\"stage\":\"%s\",\"traps\":%u,",
		kind(r), r->number, r->wall, r->gen->engine,
		r->local ? "local" : "reroute", r->n_traps);
	put_cables(out, r);
	fprintf(out, "\"destinations\":%u,\"entries\":%u,\"pathless\":%u,"
		"\"switches\":%u,\"blocks\":%u,\"stages\":%u,"
		"\"drained\":%u,\"failed\":%u,"
		"\"unhealed\":%" PRIu64 ",\"held\":%u,"
		"\"lost_leaf_pairs\":%" PRIu64 ",\"regained_leaf_pairs\":%"
		PRIu64 ",\"ms\":{", r->lids, r->n_changes, r->pathless,
		r->switches, r->blocks, r->stages, r->drained, r->failed,
		r->unhealed, r->held, r->lost_pairs, r->regained_pairs);
	put_ms(out, "known", r->known_ms, ",");
	put_ms(out, "computed", r->computed_ms, ",");
	put_ms(out, "checked", r->checked_ms, ",");
	put_ms(out, "first", r->first_ms, ",");
	put_ms(out, "last", r->last_ms, ",");
	put_ms(out, "reconciled", r->reconciled_ms, "},");
	if (r->reconciled)
		fprintf(out, "\"reconcile\":{\"entries\":%" PRIu64
			",\"blocks\":%" PRIu64 ",\"switches\":%u}",
			r->rest.entries, r->rest.blocks, r->rest.switches);
	else
		fputs("\"reconcile\":null", out);
	if (r->sets)
		fprintf(out, ",\"sets\":%s", r->sets);
	fputs("}\n", out);
}

/* One write per line, so that a reader never sees half of one. */
void ibf_event_write(struct ibf_fast *f, const struct ibf_repair *r)
{
	const char *dir = f->p->osm->subn.opt.dump_files_dir;
	char path[1024], *text = NULL;
	size_t size = 0;
	FILE *mem = open_memstream(&text, &size);
	bool written;
	int out;

	if (!mem)
		return;
	put_event(mem, r);
	if (fclose(mem)) {
		free(text);
		return;
	}
	snprintf(path, sizeof(path), "%s/ibfattree-events.jsonl",
		 dir ? dir : "/var/log");
	out = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	written = out >= 0 && write(out, text, size) == (ssize_t)size;
	if (out >= 0 && close(out))
		written = false;
	if (!written)
		ibf_log(f->p, IBF_EVENT_FILE, "%s: %s", path, strerror(errno));
	free(text);
}
