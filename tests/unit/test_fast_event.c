// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Tests the lines that the plugin writes to ibfattree-events.jsonl.  ibfattree-json(5) documents
 * them.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include "fake/opensm.h"
#include "lib/suite.h"

struct member {
	const char *key;
	enum json_type type;
	bool or_null;
};

/* The members of a line, as documented in ibfattree-json(5). */
static const struct member of_event[] = {
	{ "schema", json_type_int, false },
	{ "part", json_type_int, false },
	{ "parts", json_type_int, false },
	{ "event", json_type_string, false },
	{ "number", json_type_int, false },
	{ "time", json_type_double, false },
	{ "engine", json_type_string, false },
	{ "stage", json_type_string, false },
	{ "traps", json_type_int, false },
	{ "cables", json_type_array, false },
	{ "destinations", json_type_int, false },
	{ "entries", json_type_int, false },
	{ "switches", json_type_int, false },
	{ "blocks", json_type_int, false },
	{ "pathless", json_type_int, false },
	{ "spared", json_type_int, false },
	{ "stages", json_type_int, false },
	{ "drained", json_type_int, false },
	{ "failed", json_type_int, false },
	{ "unhealed", json_type_int, false },
	{ "held", json_type_int, false },
	{ "lost_leaf_pairs", json_type_int, false },
	{ "regained_leaf_pairs", json_type_int, false },
	{ "ms", json_type_object, false },
	{ "reconcile", json_type_object, true },
	{ "sets", json_type_array, false },
}, of_link[] = {
	{ "guid", json_type_string, false },
	{ "port", json_type_int, false },
	{ "name", json_type_string, false },
	{ "peer_guid", json_type_string, false },
	{ "peer_port", json_type_int, false },
	{ "peer_name", json_type_string, false },
	{ "up", json_type_boolean, false },
}, of_ms[] = {
	{ "known", json_type_double, false },
	{ "computed", json_type_double, false },
	{ "checked", json_type_double, false },
	{ "first", json_type_double, false },
	{ "last", json_type_double, false },
	{ "reconciled", json_type_double, true },
}, of_reconcile[] = {
	{ "entries", json_type_int, false },
	{ "blocks", json_type_int, false },
	{ "switches", json_type_int, false },
}, of_set[] = {
	{ "ms", json_type_double, false },
	{ "guid", json_type_string, false },
	{ "lids", json_type_array, false },
};

static void check_members(struct json_object *o, const struct member *m,
			  size_t n)
{
	ck_assert(json_object_is_type(o, json_type_object));
	for (size_t i = 0; i < n; i++) {
		struct json_object *v;

		ck_assert_msg(json_object_object_get_ex(o, m[i].key, &v),
			      "no member \"%s\"", m[i].key);
		ck_assert_msg(json_object_is_type(v, m[i].type) ||
			      (m[i].or_null && !v), "member \"%s\" has a wrong type: %s",
			      m[i].key, json_object_to_json_string(v));
	}
	ck_assert_int_eq(json_object_object_length(o), (int)n);
}

static struct json_object *get(struct json_object *o, const char *key)
{
	return json_object_object_get(o, key);
}

static int64_t number(struct json_object *o, const char *key)
{
	return json_object_get_int64(get(o, key));
}

static double real(struct json_object *o, const char *key)
{
	return json_object_get_double(get(o, key));
}

static const char *text(struct json_object *o, const char *key)
{
	return json_object_get_string(get(o, key));
}

static void events_path(const struct fake *h, char path[128])
{
	snprintf(path, 128, "%s/ibfattree-events.jsonl", h->dir);
}

static struct json_object *read_event(struct fake *h, unsigned int n)
{
	struct json_tokener *tok = json_tokener_new();
	struct json_object *o;
	char path[128], *line = NULL;
	size_t size = 0;
	ssize_t len = 0;
	FILE *in;

	fake_flush(h);
	events_path(h, path);
	in = fopen(path, "r");
	ck_assert(in && tok);
	for (unsigned int i = 0; i < n; i++)
		len = getline(&line, &size, in);
	ck_assert_int_gt(len, 1);
	ck_assert_int_eq(line[len - 1], '\n');
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	o = json_tokener_parse_ex(tok, line, (int)len - 1);
	ck_assert_int_eq(json_tokener_get_error(tok), json_tokener_success);
	ck_assert_uint_eq(json_tokener_get_parse_end(tok), (size_t)len - 1);
	json_tokener_free(tok);
	free(line);
	fclose(in);
	return o;
}

static ftr_sw named(struct fake *h, struct json_object *o, const char *guid)
{
	ftr_sw s = ftr_fabric_find_sw(h->fab,
				      strtoull(text(o, guid), NULL, 16));

	ck_assert_msg(s != FTR_SW_NONE, "no switch has the GUID %s",
		      text(o, guid));
	return s;
}

static void check_links(struct fake *h, struct json_object *list, ftr_sw at,
			unsigned int n, bool up)
{
	bool seen[FTR_PORT_MAX + 1] = { false };

	ck_assert_uint_eq(json_object_array_length(list), n);
	for (unsigned int i = 0; i < n; i++) {
		struct json_object *c = json_object_array_get_idx(list, i);
		const struct ftr_swport *port;
		bool *at_port;
		ftr_sw s, t;

		check_members(c, of_link, FTR_ARRAY_LEN(of_link));
		s = named(h, c, "guid");
		t = named(h, c, "peer_guid");
		port = ftr_fabric_port(h->fab, s, (ftr_port)number(c, "port"));
		ck_assert_int_eq(port->peer_kind, FTR_PEER_SW);
		ck_assert_uint_eq(port->peer, t);
		ck_assert_int_eq(port->peer_port, number(c, "peer_port"));
		ck_assert_str_eq(text(c, "name"), h->fab->sw[s].name);
		ck_assert_str_eq(text(c, "peer_name"), h->fab->sw[t].name);
		ck_assert_int_eq(json_object_get_boolean(get(c, "up")), up);
		ck_assert(s == at || t == at);
		at_port = &seen[number(c, s == at ? "port" : "peer_port")];
		ck_assert(!*at_port);
		*at_port = true;
	}
}

/* Check the counts of an event.  No packet was lost, and all leaves still reach each other. */
static void check_counts(struct json_object *o)
{
	static const char *const some[] = {
		"destinations", "entries", "switches", "blocks", "stages",
	}, *const none[] = {
		"failed", "unhealed", "held", "lost_leaf_pairs",
		"regained_leaf_pairs",
	};

	for (size_t i = 0; i < FTR_ARRAY_LEN(some); i++)
		ck_assert_msg(number(o, some[i]) > 0, "member \"%s\" is 0", some[i]);
	for (size_t i = 0; i < FTR_ARRAY_LEN(none); i++)
		ck_assert_msg(!number(o, none[i]), "member \"%s\" is not 0", none[i]);
	ck_assert_int_ge(number(o, "entries"), number(o, "destinations"));
	ck_assert_int_ge(number(o, "entries"), number(o, "pathless"));
	ck_assert_int_ge(number(o, "entries"), number(o, "drained"));
}

/* Check the member "reconcile": the sweep wrote to `switches` switches, and wrote only blocks with
 * changed entries. */
static void check_rest(struct json_object *rest, int64_t switches)
{
	check_members(rest, of_reconcile, FTR_ARRAY_LEN(of_reconcile));
	ck_assert_int_eq(number(rest, "switches"), switches);
	ck_assert_int_ge(number(rest, "blocks"), switches);
	ck_assert_int_ge(number(rest, "entries"), number(rest, "blocks"));
	ck_assert(switches || !number(rest, "entries"));
}

/* Check the times of an event.  If `swept` is set, the line was written after a sweep, otherwise
 * directly after the repair. */
static void check_times(struct json_object *o, bool swept)
{
	struct json_object *ms = get(o, "ms");
	double now = (double)time(NULL), before = 0;

	ck_assert(real(o, "time") > now - 3600 && real(o, "time") < now + 2);
	check_members(ms, of_ms, FTR_ARRAY_LEN(of_ms));
	for (size_t i = 0; i < FTR_ARRAY_LEN(of_ms) - !swept; i++) {
		ck_assert_msg(real(ms, of_ms[i].key) >= before,
			      "the time \"%s\" is less than the previous time: %s",
			      of_ms[i].key, json_object_to_json_string(ms));
		before = real(ms, of_ms[i].key);
	}
	ck_assert_int_eq(get(ms, "reconciled") != NULL, swept);
	ck_assert_int_eq(get(o, "reconcile") != NULL, swept);
}

/* ---- the entries that the plugin changes ----------------------------------- */

#define BLOCKS ((FTR_LID_MAX + 1) / FTR_LFT_BLOCK)

struct entry {
	ftr_sw sw;
	unsigned int lid;
	uint8_t port;
	bool listed;
};

/* All entries that Sets of the plugin have changed, in the order of the writes. */
static struct {
	struct entry *entry;
	size_t n;
	size_t checked;		/* number of entries in the events checked so far */
	uint8_t *lft;		/* [n_sw * (FTR_LID_MAX + 1)] tables before the latest write */
	bool *plugin;		/* [n_sw * BLOCKS] whether the plugin sent a block's last Set */
} record;

static void note_sender(void *ctx, const struct fake_packet *p,
			struct fake_fate *fate)
{
	(void)ctx;
	(void)fate;
	if (p->set && p->to != FTR_SW_NONE)
		record.plugin[p->to * BLOCKS + p->mod] = p->plugin;
}

static void note_block(struct fake *h, ftr_sw s, unsigned int block)
{
	size_t first = (size_t)block * FTR_LFT_BLOCK;
	const uint8_t *now = h->sw[s].lft + first;
	uint8_t *old = record.lft + s * (size_t)(FTR_LID_MAX + 1) + first;

	for (unsigned int i = 0; i < FTR_LFT_BLOCK; i++) {
		if (now[i] == old[i])
			continue;
		old[i] = now[i];
		if (!record.plugin[s * BLOCKS + block])
			continue;
		record.entry = realloc(record.entry, (record.n + 1) *
				       sizeof(*record.entry));
		ck_assert_ptr_nonnull(record.entry);
		record.entry[record.n++] = (struct entry){
			s, (unsigned int)first + i, now[i], false
		};
	}
}

static void note_writes(void *ctx, struct fake *h)
{
	(void)ctx;
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		for (unsigned int b = 0; b <= h->fab->max_lid / FTR_LFT_BLOCK;
		     b++)
			note_block(h, s, b);
}

static struct fake *new_recorded(void)
{
	/* OpenSM itself writes the tables, so that its writes are counted */
	struct fake *h = fake_new(&(struct fake_opts){ .options = "transition plain\n" });
	size_t size = FTR_LID_MAX + 1;

	memset(&record, 0, sizeof(record));
	record.lft = malloc(h->fab->n_sw * size);
	record.plugin = calloc((size_t)h->fab->n_sw * BLOCKS,
			       sizeof(*record.plugin));
	ck_assert(record.lft && record.plugin);
	fake_lock(h);
	for (ftr_sw s = 0; s < h->fab->n_sw; s++)
		memcpy(record.lft + s * size, h->sw[s].lft, size);
	h->written = note_writes;
	fake_unlock(h);
	fake_set_fate(h, note_sender, NULL);
	return h;
}

static void free_recorded(struct fake *h)
{
	fake_free(h);
	ck_assert_uint_gt(record.n, 0);
	ck_assert_uint_eq(record.checked, record.n);
	free(record.entry);
	free(record.lft);
	free(record.plugin);
}

/* An event lists n entries; `pair` is one of them, [LID, port] of switch s.  Check that the plugin
 * has written this entry, and that no earlier pair names the same entry. */
static void check_entry(ftr_sw s, struct json_object *pair, size_t n)
{
	int64_t lid = json_object_get_int64(json_object_array_get_idx(pair, 0));
	int64_t port = json_object_get_int64(json_object_array_get_idx(pair, 1));

	ck_assert_uint_eq(json_object_array_length(pair), 2);
	for (size_t i = record.checked; i < record.checked + n; i++) {
		struct entry *e = &record.entry[i];

		if (e->sw == s && e->lid == lid && e->port == port &&
		    !e->listed) {
			e->listed = true;
			return;
		}
	}
	ck_abort_msg("the plugin did not write port %" PRId64
		     " for LID %" PRId64 " to switch %u", port, lid, s);
}

/* Check that the member "sets" lists exactly the entries that the plugin changed.  If no switch is
 * dead, the member "entries" must be the number of these entries. */
static void check_sets(struct fake *h, struct json_object *o, ftr_sw dead)
{
	struct json_object *list = get(o, "sets"), *ms = get(o, "ms");
	size_t n = json_object_array_length(list), entries = 0;

	ck_assert_int_eq((int64_t)n, number(o, "blocks"));
	for (size_t i = 0; i < n; i++) {
		struct json_object *set = json_object_array_get_idx(list, i);

		entries += json_object_array_length(get(set, "lids"));
	}
	if (dead == FTR_SW_NONE)
		ck_assert_int_eq((int64_t)entries, number(o, "entries"));
	ck_assert_uint_le(record.checked + entries, record.n);
	for (size_t i = 0; i < n; i++) {
		struct json_object *set = json_object_array_get_idx(list, i);
		struct json_object *lids = get(set, "lids");
		ftr_sw s = named(h, set, "guid");
		size_t k = json_object_array_length(lids);

		check_members(set, of_set, FTR_ARRAY_LEN(of_set));
		ck_assert_uint_ne(s, dead);
		ck_assert(real(set, "ms") >= real(ms, "first") &&
			  real(set, "ms") <= real(ms, "last"));
		ck_assert_uint_gt(k, 0);
		while (k--)
			check_entry(s, json_object_array_get_idx(lids, k),
				    entries);
	}
	record.checked += entries;
}

struct want {
	const char *event;
	ftr_sw at;		/* switch at one end of each link of the event */
	unsigned int n_links;
	bool cut_off;		/* no packet reaches switch `at` */
};

static void check_event(struct fake *h, unsigned int n, struct want w)
{
	struct json_object *o = read_event(h, n);
	bool up = strstr(w.event, "-up");

	check_members(o, of_event, FTR_ARRAY_LEN(of_event));
	ck_assert_int_eq(number(o, "schema"), 2);
	ck_assert_int_eq(number(o, "part"), 1);
	ck_assert_int_eq(number(o, "parts"), 1);
	ck_assert_str_eq(text(o, "event"), w.event);
	ck_assert_int_eq(number(o, "number"), n);
	ck_assert_str_eq(text(o, "engine"), "dmodc");
	ck_assert_str_eq(text(o, "stage"), "reroute");
	ck_assert_int_eq(number(o, "traps") > 0, !up);
	check_links(h, get(o, "cables"), w.at, w.n_links, up);
	check_counts(o);
	check_times(o, !up);
	check_sets(h, o, w.cut_off ? w.at : FTR_SW_NONE);
	if (!up)
		check_rest(get(o, "reconcile"), w.cut_off);
	json_object_put(o);
}

static void check_lines(struct fake *h, unsigned int n)
{
	ck_assert_uint_eq(fake_events(h, "{\"schema\""), n);
}

/* A link fails and comes up again.  The line about the failure must be written only after the sweep
 * that confirms the repair. */
START_TEST(test_link_events)
{
	struct fake *h = new_recorded();
	ftr_sw s = fake_leaf(h, 3);
	ftr_port p = fake_uplink(h, s, 1);

	fake_link(h, s, p, false);
	fake_settle(h);
	check_lines(h, 0);
	ck_assert(fake_sweep(h));
	check_event(h, 1, (struct want){ "link-down", s, 1, false });
	fake_link(h, s, p, true);
	fake_settle(h);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	check_event(h, 2, (struct want){ "link-up", s, 1, false });
	check_lines(h, 2);
	free_recorded(h);
}
END_TEST

/* Returns a spine that is on no other switch's path to OpenSM. */
static ftr_sw spare_spine(struct fake *h)
{
	ftr_lid sm = h->fab->ep[h->sm].lid;

	for (unsigned int i = 0;; i++) {
		ftr_sw s = fake_spine(h, i);
		bool used = false;

		for (unsigned int p = 1; p <= h->fab->sw[s].n_ports; p++) {
			const struct ftr_swport *port =
				ftr_fabric_port(h->fab, s, (ftr_port)p);

			used |= port->peer_kind == FTR_PEER_SW &&
				h->sw[port->peer].lft[sm] == port->peer_port;
		}
		if (!used)
			return s;
	}
}

/* Take the links of a spine up or down: all four, or only those that do not lead to OpenSM. */
static void turn(struct fake *h, ftr_sw s, bool all, bool up)
{
	ftr_port keep = h->sw[s].lft[h->fab->ep[h->sm].lid];

	if (all)
		fake_switch(h, s, up);
	for (unsigned int p = 1; !all && p <= h->fab->sw[s].n_ports; p++)
		if (ftr_fabric_port(h->fab, s, (ftr_port)p)->peer_kind ==
		    FTR_PEER_SW && p != keep)
			fake_link(h, s, (ftr_port)p, up);
	fake_settle(h);
}

struct loss {
	ftr_sw s;
	bool all;
};

/* Take down the links of a switch during a routing.  The traps are handled together when the
 * routing has ended. */
static void lose(void *ctx, struct fake *h, enum fake_moment m)
{
	const struct loss *l = ctx;

	if (m == FAKE_ROUTED)
		turn(h, l->s, l->all, false);
}

static void lose_and_find(struct fake *h, struct loss l)
{
	h->moment = lose;
	h->moment_ctx = &l;
	ck_assert(fake_sweep(h));
	h->moment = NULL;
	fake_settle(h);
	fake_check_healed(h);
	turn(h, l.s, l.all, true);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	fake_check_healed(h);
}

/* A switch that keeps one link is not down.  The events must report its links, not the switch. */
START_TEST(test_part_of_switch)
{
	struct fake *h = new_recorded();
	ftr_sw s = spare_spine(h);

	lose_and_find(h, (struct loss){ s, false });
	check_event(h, 1, (struct want){ "link-down", s, 3, false });
	check_event(h, 2, (struct want){ "link-up", s, 3, false });
	check_lines(h, 2);
	free_recorded(h);
}
END_TEST

/* When a switch comes up again, only a sweep can write its tables, because packets of the fast path
 * do not reach it.  The member "stage" of the event must be "sweep". */
static void check_return(struct fake *h, unsigned int line, ftr_sw s)
{
	struct json_object *o = read_event(h, line);

	ck_assert_int_eq(json_object_object_length(o),
			 (int)FTR_ARRAY_LEN(of_event) - 1);	/* no sets */
	ck_assert_str_eq(text(o, "event"), "switch-up");
	ck_assert_str_eq(text(o, "stage"), "sweep");
	ck_assert_int_eq(number(o, "number"), 1);
	ck_assert_int_eq(number(o, "entries"), 0);
	check_links(h, get(o, "cables"), s, 4, true);
	json_object_put(o);
}

START_TEST(test_spine_events)
{
	struct fake *h = new_recorded();
	ftr_sw s = spare_spine(h);

	lose_and_find(h, (struct loss){ s, true });
	check_event(h, 1, (struct want){ "switch-down", s, 4, true });
	ck_assert(fake_wait_wanted(h));
	ck_assert(fake_sweep(h));
	ck_assert_uint_gt(h->changed_entries, 0);
	fake_settle(h);
	fake_check_healed(h);
	fake_check_quiet_sweep(h);
	check_lines(h, 2);
	check_return(h, 2, s);
	free_recorded(h);
}
END_TEST

/* The links of a switch fail one by one.  The failure of the last one must be reported as a failed
 * switch. */
START_TEST(test_last_link)
{
	struct fake *h = fake_new(NULL);
	ftr_sw s = spare_spine(h);

	turn(h, s, false, false);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_uint_eq(fake_events(h, "\"event\":\"switch-down\""), 0);
	turn(h, s, true, false);
	ck_assert(fake_sweep(h));
	fake_settle(h);
	ck_assert_uint_eq(fake_events(h, "\"event\":\"switch-down\""), 1);
	turn(h, s, true, true);
	for (int i = 0; i < 3; i++) {
		ck_assert(fake_sweep(h));
		fake_settle(h);
	}
	ck_assert_uint_eq(fake_events(h, "\"event\":\"switch-up\""), 1);
	ck_assert_uint_eq(fake_events(h, "\"event\":\"switch-down\""), 1);
	fake_free(h);
}
END_TEST

/* ---- long records ---------------------------------------------------------- */

#define MANY_SETS 3000

static void write_long(struct fake *h, struct ibf_generation *gen)
{
	struct rr_repair r = {
		.gen = ibf_routing_of(gen), .number = 1, .whole = FTR_SW_NONE
	};
	size_t size;
	FILE *out = open_memstream(&r.sets.text, &size);

	ck_assert(out != NULL);
	for (int i = 0; i < MANY_SETS; i++) {
		fprintf(out, "{\"ms\":%d.000,\"guid\":\"0x%016x\",\"lids\":[",
			i, i);
		for (int k = 0; k < 64; k++)
			fprintf(out, "%s[%d,%d]", k ? "," : "", 49000 + k, k);
		fputs("]}\n", out);
	}
	ck_assert(!fclose(out));
	r.link = calloc(500, sizeof(*r.link));
	for (; r.n_links < 500; r.n_links++)
		r.link[r.n_links] = (struct rr_link){
			0, 1, (ftr_port)(r.n_links % 250 + 1),
			(ftr_port)(r.n_links / 250 + 1), false
		};
	ibf_event_write(h->fast, &r);
	free(r.sets.text);
	free(r.link);
}

/* A long record is divided into several lines.  No line may exceed the limit in ibfattree-json(5),
 * and no element of "sets" may be missing. */
START_TEST(test_long_record)
{
	struct fake *h = fake_new(NULL);
	struct ibf_plugin *p = h->plugin;
	int64_t parts = 0, sets = 0, links = 0;
	struct json_object *last;
	char path[128], *line = NULL;
	size_t size = 0;
	ssize_t len;
	FILE *in;

	write_long(h, p->engine[0].gen);
	fake_flush(h);
	events_path(h, path);
	in = fopen(path, "r");
	ck_assert(in != NULL);
	while ((len = getline(&line, &size, in)) > 0) {
		struct json_object *o = json_tokener_parse(line), *list;

		ck_assert_int_le(len, 16384);
		ck_assert(o != NULL);
		ck_assert_int_eq(number(o, "part"), ++parts);
		ck_assert_str_eq(text(o, "event"), "link-down");
		ck_assert_int_eq(number(o, "number"), 1);
		ck_assert(json_object_object_get_ex(o, "time", NULL));
		ck_assert_int_eq(get(o, "engine") != NULL, parts == 1);
		list = get(o, "cables");
		links += list ? (int64_t)json_object_array_length(list) : 0;
		list = get(o, "sets");
		for (size_t i = 0; list && i < json_object_array_length(list);
		     i++)
			ck_assert_double_eq(real(json_object_array_get_idx(list,
								i), "ms"),
					    (double)sets++);
		json_object_put(o);
	}
	fclose(in);
	ck_assert_int_eq(links, 500);
	ck_assert_int_eq(sets, MANY_SETS);
	ck_assert_int_gt(parts, 100);
	last = read_event(h, (unsigned int)parts);
	ck_assert_int_eq(number(last, "parts"), parts);
	json_object_put(last);
	free(line);
	fake_free(h);
}
END_TEST

/* ---- the file -------------------------------------------------------------- */

static void cut_one(struct fake *h, unsigned int i)
{
	ftr_sw s = fake_leaf(h, 3);

	fake_link(h, s, fake_uplink(h, s, i), false);
	fake_settle(h);
	ck_assert(fake_sweep(h));
	fake_flush(h);
}

/* If there is a FIFO in place of the file, the plugin must not block.  If there is a symbolic link,
 * the plugin must not follow the link. */
START_TEST(test_file_replaced)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "2;4,6;1,4;1,1" });
	char path[128], other[128];
	struct stat sb;

	events_path(h, path);
	snprintf(other, sizeof(other), "%s/other", h->dir);
	ck_assert(!mkfifo(path, 0666));
	cut_one(h, 0);
	ck_assert_uint_eq(fake_logged(h, "IBF112"), 1);
	ck_assert_uint_eq(fake_logged(h, "not a regular file"), 1);
	ck_assert(!unlink(path) && !symlink(other, path));
	cut_one(h, 1);
	ck_assert_int_ne(stat(other, &sb), 0);
	ck_assert_uint_eq(fake_logged(h, "IBF112"), 1);
	ck_assert(!unlink(path));
	cut_one(h, 2);
	check_lines(h, 1);
	ck_assert_uint_eq(fake_logged(h, "lost meanwhile: 2 records"), 1);
	fake_free(h);
}
END_TEST

/* The file is renamed, and later truncated, as logrotate does.  Each time, the next event must be
 * the first line of the file. */
START_TEST(test_rotation)
{
	struct fake *h = fake_new(&(struct fake_opts){
		.pgft = "2;4,6;1,4;1,1" });
	char path[128], old[140];

	events_path(h, path);
	snprintf(old, sizeof(old), "%s.1", path);
	cut_one(h, 0);
	ck_assert(!rename(path, old));
	cut_one(h, 1);
	check_lines(h, 1);
	ck_assert(!truncate(path, 0));
	cut_one(h, 2);
	check_lines(h, 1);
	ck_assert(!unlink(old));
	fake_free(h);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast_event");
	TCase *t = tcase_create("events");

	tcase_add_test(t, test_link_events);
	tcase_add_test(t, test_part_of_switch);
	tcase_add_test(t, test_spine_events);
	tcase_add_test(t, test_last_link);
	tcase_add_test(t, test_long_record);
	tcase_add_test(t, test_file_replaced);
	tcase_add_test(t, test_rotation);
	suite_add_tcase(s, t);
	return run_suite(s);
}
