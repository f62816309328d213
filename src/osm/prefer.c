// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Preferred tables, and the search for better ones in the background.
 *
 * Preferred tables are tables of an earlier routing.  Later routings keep each entry of these
 * tables if its port is still one of those from which the engine chooses (src/engine/keep.c).  So
 * when a fault is repaired, the entries that it changed return to their old ports.
 *
 * The first routing of a fabric computes tables by a formula (Gliksberg et al. 2020).  Then it
 * moves entries until the all-to-all load is even.  Its tables become the preferred tables.  There
 * are no preferred tables with the option "balance off", or without a nominal fabric (all switches
 * and links seen so far).
 *
 * The preferred tables are replaced in two cases:
 *
 * - The identity of the nominal fabric (ftr_stored_nominal) has changed.
 * - They were made for a damaged fabric, and a link that was missing then is present now.
 *
 * The routing then computes tables by the formula again, so that the tables of the complete fabric
 * do not depend on earlier faults.  But if the old preferred tables are those of a complete fabric,
 * and came from a search, a file or the switches (option "adopt"), the routing starts from these
 * tables instead of the formula.
 *
 *	routing of a complete fabric -> preferred -> search thread -> better tables
 *	                                   ^                               |
 *	                                   +---- next complete routing ----+
 *
 * With the option "balance full", a thread searches for tables that also have even load under shift
 * permutations (host i sends to host i + k).  The thread holds a reference to its generation, but
 * no lock of OpenSM, and can be cancelled at any time.  The next routing of a complete fabric
 * applies the result, which is verified like all tables.  The old and the new entries lead up and
 * down by the same ranks.  So a mixture of them has no loop and no credit loop.
 *
 * A fault displaces the entries whose next hop is missing or no longer leads to the destination.
 * Such an entry immediately gets a port on a link with little load (balance/displaced.h).  With
 * "balance full", a second search runs after the sweep.  It chooses the ports of all displaced
 * entries again, now also by the load of shift permutations.  If the gain is large enough, the next
 * sweep applies the result to these entries.
 *
 * Files.  The preferred tables and the displaced entries are stored beside the file of the nominal
 * fabric.  So no entry changes after a restart or on another manager, and the search runs
 * once per fabric.  The names of the files contain the identity of the nominal fabric and the
 * engine's name.  The files are read at the first routing as master, and are used only for the same
 * nominal fabric.  The writer's thread writes them when their content has changed.  If the nominal
 * fabric grows, the files of the smaller one are removed.
 *
 * Threads.  The sweeper's thread runs this code: during a routing, with OpenSM's exclusive lock
 * held; and at events of OpenSM, without a lock.  When OpenSM ends, the main thread runs it, and
 * no sweep can run.  The search thread accesses only its struct ibf_search and its generation, and
 * requests sweeps.  The writer's thread runs write_file and release.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "osm/host.h"
#include "osm/osm.h"
#include "osm/writer.h"
#include <ftr/stored.h>

struct ibf_search {
	pthread_t thread;
	struct ibf_engine *e;
	struct ibf_generation *gen;
	struct ftr_route_opts opts;
	struct ftr_keep keep;
	struct ftr_tables *t;
	struct ftr_route_stats stats;
	struct ftr_err err;
	enum ftr_status status;
	double ms;
	atomic_bool cancel, done;
};

/* ---- the thread ------------------------------------------------------------ */

static bool cancelled(void *ctx)
{
	struct ibf_search *z = ctx;

	return atomic_load(&z->cancel);
}

/* A search for displaced entries changes these entries a second time.  So its result is used only
 * if it reduces the all-to-all load or the load of shifts by more than 1 / GAIN_SHARE.  The result
 * of any other search is used even if the gain is small. */
#define GAIN_SHARE 10

static bool is_worth_it(const struct ibf_search *z)
{
	const struct ftr_balance_report *b = &z->stats.balance;

	if (z->status || !b->moved)
		return false;
	return !z->keep.search_displaced ||
		b->max_before - b->max_after > b->max_before / GAIN_SHARE ||
		b->shift_before - b->shift_after >
		b->shift_before / GAIN_SHARE;
}

static void *search(void *arg)
{
	struct ibf_search *z = arg;
	double t0 = ibf_now_ms();

	setpriority(PRIO_PROCESS, 0, 10);	/* on Linux, this affects only this thread */
	z->status = ftr_tables_new(z->gen->fabric, false, &z->t, &z->err);
	if (!z->status)
		z->status = z->e->ops->route(z->gen->shape, &z->opts, NULL,
					     z->t, &z->stats, &z->err);
	z->ms = ibf_now_ms() - t0;
	if (is_worth_it(z) && !atomic_load(&z->cancel))
		ibf_request_sweep(z->e->plugin->osm);
	atomic_store(&z->done, true);
	return NULL;
}

static void search_free(struct ibf_search *z)
{
	ibf_generation_put(z->gen);
	ftr_tables_free(z->t);
	free(z);
}

/* displaced: search for better ports of displaced entries, not for better preferred tables. */
static void start_search(struct ibf_engine *e, bool displaced)
{
	struct ibf_search *z = ftr_calloc(1, sizeof(*z));

	if (displaced)
		e->prefer.new_displaced = false;
	else
		e->prefer.searching = true;	/* start no second search for this fabric */
	if (!z)
		return;
	z->e = e;
	z->gen = ibf_generation_get(e->gen);
	z->opts = z->gen->opts;
	z->keep = (struct ftr_keep){ z->gen->tables, NULL, true, false };
	if (displaced)
		z->keep = (struct ftr_keep){ z->gen->keep.prefer,
					     z->gen->tables, false, true };
	z->opts.keep = &z->keep;
	z->opts.balance = FTR_BALANCE_FULL;
	z->opts.keep_routed = false;
	z->opts.cancelled = cancelled;
	z->opts.cancel_ctx = z;
	atomic_init(&z->cancel, false);
	atomic_init(&z->done, false);
	if (ibf_thread_start(&z->thread, search, z))
		e->prefer.search = z;
	else
		search_free(z);
}

static void stop_search(struct ibf_prefer *r)
{
	struct ibf_search *z = r->search;

	if (!z)
		return;
	atomic_store(&z->cancel, true);
	ibf_thread_join(z->thread);
	search_free(z);
	r->search = NULL;
}

/* ---- the preferred tables ------------------------------------------------------ */

static struct ftr_stored_id id_of(const struct ibf_engine *e,
				     const struct ibf_generation *gen)
{
	struct ftr_stored_id id = {
		.nominal = ftr_stored_nominal(gen->nominal->n),
	};

	snprintf(id.engine, sizeof(id.engine), "%s", e->ops->name);
	return id;
}

static bool same_id(const struct ftr_stored_id *a,
		    const struct ftr_stored_id *b)
{
	return a->nominal == b->nominal && !strcmp(a->engine, b->engine);
}

/* True if a switch of f, or a link between switches of f, is missing from g.  A switch with another
 * number of ports counts as missing. */
static bool has_link_beyond(const struct ftr_fabric *f, const struct ftr_fabric *g)
{
	for (ftr_sw s = 0; s < f->n_sw; s++) {
		ftr_sw t = ftr_fabric_find_sw(g, f->sw[s].guid);

		if (t == FTR_SW_NONE || f->sw[s].n_ports != g->sw[t].n_ports)
			return true;
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct ftr_swport *a =
				ftr_fabric_port(f, s, (ftr_port)p);
			const struct ftr_swport *b =
				ftr_fabric_port(g, t, (ftr_port)p);

			if (a->peer_kind == FTR_PEER_SW &&
			    (b->peer_kind != FTR_PEER_SW ||
			     a->peer_port != b->peer_port ||
			     f->sw[a->peer].guid != g->sw[b->peer].guid))
				return true;
		}
	}
	return false;
}

static void drop_tables(struct ibf_prefer *r)
{
	ftr_tables_free(r->better);
	ibf_generation_put(r->better_of);
	r->better = NULL;
	r->better_of = NULL;
}

static void drop_better(struct ibf_prefer *r)
{
	stop_search(r);
	drop_tables(r);
	r->searching = false;
}

static void drop_preferred(struct ibf_prefer *r)
{
	ibf_generation_put(r->gen);
	ftr_stored_free(r->stored);
	r->gen = NULL;
	r->stored = NULL;
}

void ibf_prefer_drop(struct ibf_engine *e)
{
	drop_better(&e->prefer);
	drop_preferred(&e->prefer);
	free(e->prefer.entry);
	e->prefer.entry = NULL;
	e->prefer.n_entries = 0;
	e->prefer.was_read = false;
	e->prefer.removed_preferred = e->prefer.removed_displaced = false;
	e->took_over = false;
}

/* ---- files -------------------------------------------------------------------- */

enum file { PREFERRED, DISPLACED };

/* The name of a file is the same for all managers, so managers that share or copy the directory
 * find the file.  NULL: no memory. */
static char *path_of(const struct ftr_stored_id *id, enum file which)
{
	return ftr_asprintf("%s/ibfattree-%s-%s-%016" PRIx64, ibf_state_dir(),
			    which == PREFERRED ? "preferred" : "displaced",
			    id->engine, id->nominal);
}

struct content {
	struct ftr_stored_id id;
	struct ibf_generation *gen;	/* its tables are the preferred ones; NULL: the file
					 * has displaced entries */
	bool searched;			/* a search made these tables, or found no better ones */
	bool remove;			/* remove the file */
	struct ftr_displaced *entry;	/* [n] the displaced entries, if gen is NULL */
	uint32_t n;
};

static enum ftr_status write_file(const char *path, void *ctx, struct ftr_err *err)
{
	const struct content *c = ctx;

	if (c->remove) {
		unlink(path);
		return FTR_OK;
	}
	return c->gen ? ftr_stored_write(path, &c->id, c->searched,
					 c->gen->fabric, c->gen->tables, err) :
		ftr_displaced_write(path, &c->id, c->entry, c->n, err);
}

static void release(void *ctx)
{
	struct content *c = ctx;

	if (c) {
		ibf_generation_put(c->gen);
		free(c->entry);
	}
	free(c);
}

/* Queue a job that writes a copy of `what`.  The memory of the copy does not count towards
 * IBF_WRITER_BYTES: it may be larger than this limit, but there is at most one waiting job for each
 * file. */
static void put_job(struct ibf_engine *e, enum file which, const struct content *what)
{
	struct content *c = ftr_calloc(1, sizeof(*c));
	struct ibf_job job = {
		.msg = IBF_STATE_FILE, .replaces = true, .write = write_file,
		.release = release, .ctx = c, .bytes = sizeof(*c),
	};

	if (c) {
		*c = *what;
		ibf_generation_get(c->gen);
		c->entry = ftr_calloc(c->n + 1u, sizeof(*c->entry));
		if (c->entry)
			job.path = path_of(&what->id, which);
		if (c->entry && c->n)
			memcpy(c->entry, what->entry, c->n * sizeof(*c->entry));
	}
	if (!ibf_writer_put(e->plugin->writer, &job))
		ibf_log(e->plugin, IBF_STATE_FILE, "preferred tables are not stored: out of memory");
}

static void remove_files(struct ibf_engine *e, const struct ftr_stored_id *id)
{
	const struct content none = { .id = *id, .remove = true };

	put_job(e, PREFERRED, &none);
	put_job(e, DISPLACED, &none);
}

/* The fields are compared one by one, because the structure has padding. */
static bool are_same_entries(const struct ftr_displaced *a,
			 const struct ftr_displaced *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i].guid != b[i].guid || a[i].lid != b[i].lid ||
		    a[i].port != b[i].port)
			return false;
	return true;
}

static void write_displaced(struct ibf_engine *e,
			    const struct ibf_generation *gen)
{
	const struct ftr_fabric *f = gen->fabric;
	struct ibf_prefer *r = &e->prefer;
	struct ftr_displaced *entry = NULL;
	uint32_t n = 0, cap = 0;

	for (ftr_sw s = 0; gen->prefer && s < f->n_sw; s++) {
		const uint8_t *now = ftr_tables_row(gen->tables, s);
		const uint8_t *was = ftr_tables_row(gen->prefer, s);

		for (uint32_t lid = 1; lid <= f->max_lid; lid++) {
			if (now[lid] == was[lid] || now[lid] == FTR_PORT_NONE)
				continue;
			if (!FTR_GROW(entry, n, cap)) {
				free(entry);
				return;
			}
			entry[n++] = (struct ftr_displaced){
				f->sw[s].guid, (ftr_lid)lid, now[lid]
			};
		}
	}
	if (n == r->n_entries && are_same_entries(entry, r->entry, n) &&
	    !(n && r->removed_displaced)) {
		free(entry);
		return;
	}
	free(r->entry);
	r->entry = entry;
	r->n_entries = n;
	r->new_displaced = n > 0;
	r->removed_displaced = false;
	put_job(e, DISPLACED, &(struct content){
		.id = id_of(e, gen), .entry = entry, .n = n,
	});
}

static bool is_missing(const char *path)
{
	return access(path, F_OK) != 0;
}

static void read_displaced(struct ibf_engine *e,
			   const struct ftr_stored_id *id)
{
	struct ibf_prefer *r = &e->prefer;
	char *path = path_of(id, DISPLACED);
	struct ftr_stored_id found;
	struct ftr_displaced *entry;
	struct ftr_err err = { 0 };
	uint32_t n;

	if (path && !is_missing(path)) {
		if (ftr_displaced_read(path, &found, &entry, &n, &err)) {
			ibf_log(e->plugin, IBF_STATE_FILE, "state file not used: %s; it is replaced",
				err.msg);
		} else if (same_id(&found, id)) {
			r->entry = entry;
			r->n_entries = n;
		} else {
			free(entry);
		}
	}
	free(path);
}

static void read_files(struct ibf_engine *e, const struct ibf_generation *gen)
{
	struct ftr_stored_id id = id_of(e, gen);
	struct ibf_prefer *r = &e->prefer;
	char *path = path_of(&id, PREFERRED);
	struct ftr_stored *p;
	struct ftr_err err = { 0 };

	r->was_read = true;
	if (path && !is_missing(path)) {
		if (ftr_stored_read(path, &p, &err)) {
			ibf_log(e->plugin, IBF_STATE_FILE, "state file not used: %s; it is replaced",
				err.msg);
		} else if (same_id(&p->id, &id)) {
			r->stored = p;
			r->searched = r->searching = p->searched;
			r->improved = true;
			read_displaced(e, &id);
		} else {
			ftr_stored_free(p);
		}
	}
	free(path);
}

/* ---- a routing ------------------------------------------------------------------ */

/* Set gen->current to the result of a search for displaced entries, if there is one.  Otherwise
 * set it to the tables that the switches hold according to OpenSM.  An entry that OpenSM does not
 * know yet is taken from the stored displaced entries. */
static enum ftr_status read_current(struct ibf_engine *e,
				    struct ibf_generation *gen,
				    struct ftr_err *err)
{
	const struct ftr_fabric *f = gen->fabric;
	const struct ibf_prefer *r = &e->prefer;
	enum ftr_status st;

	if (r->better && r->for_displaced)
		return ftr_tables_carry(r->better_of->fabric, r->better, f,
					&gen->current, err);
	st = ftr_tables_new(f, true, &gen->current, err);
	for (ftr_sw s = 0; !st && s < f->n_sw; s++) {
		const osm_switch_t *sw = ibf_host_switch(e->plugin,
							 f->sw[s].guid);

		if (sw && sw->lft)
			memcpy(ftr_tables_row(gen->current, s), sw->lft,
			       FTR_MIN(sw->lft_size, f->max_lid + 1u));
	}
	for (uint32_t i = 0; !st && i < r->n_entries; i++) {
		ftr_sw s = ftr_fabric_find_sw(f, r->entry[i].guid);
		uint8_t *entry;

		if (s == FTR_SW_NONE || r->entry[i].lid > f->max_lid)
			continue;
		entry = &ftr_tables_row(gen->current, s)[r->entry[i].lid];
		if (*entry == FTR_PORT_NONE)
			*entry = r->entry[i].port;
	}
	return st;
}

static void take_result(struct ibf_engine *e)
{
	struct ibf_search *z = e->prefer.search;
	const struct ftr_balance_report *b;

	if (!z || !atomic_load(&z->done))
		return;
	ibf_thread_join(z->thread);
	e->prefer.search = NULL;
	b = &z->stats.balance;
	if (z->status)
		ibf_log(e->plugin, IBF_SEARCH, "%s: the search for better tables failed: %s; the tables stay as they are",
			e->ops->name, z->err.msg);
	else
		ibf_log(e->plugin, IBF_SEARCH, "%s: search %sdone: shifts: mean of the most loaded link %.2f flows instead of %.2f; all-to-all: most loaded link %.2f times the lower bound instead of %.2f; entries to change=%"
			PRIu64 " ms=%.0f", e->ops->name,
			z->keep.search_displaced ? "for displaced entries " :
			"",
			b->shift_after, b->shift_before,
			(double)b->max_after / FTR_MAX(b->bound, 1u),
			(double)b->max_before / FTR_MAX(b->bound, 1u),
			is_worth_it(z) ? b->moved : 0, z->ms);
	if (!z->keep.search_displaced)
		e->prefer.searched = !z->status;
	if (is_worth_it(z)) {
		drop_tables(&e->prefer);
		e->prefer.for_displaced = z->keep.search_displaced;
		e->prefer.better = z->t;
		e->prefer.better_of = ibf_generation_get(z->gen);
		z->t = NULL;
	}
	search_free(z);
}

struct preferred {
	const struct ftr_fabric *f;
	const struct ftr_tables *t;
	bool complete;
};

static struct preferred preferred(const struct ibf_prefer *r)
{
	if (r->stored)
		return (struct preferred){ r->stored->f, r->stored->t, true };
	if (r->gen)
		return (struct preferred){ r->gen->fabric, r->gen->tables,
					   ibf_is_complete(r->gen) };
	return (struct preferred){ NULL, NULL, false };
}

/* Option "adopt": the tables that the switches hold become the preferred tables.  The engine moves
 * entries away from overloaded links. */
static enum ftr_status adopt(struct ibf_engine *e, struct ibf_generation *gen,
			     struct ftr_err *err)
{
	struct ibf_prefer *r = &e->prefer;
	enum ftr_status st;

	if (!e->plugin->opt.adopt)
		return FTR_OK;
	if (!e->plugin->smp) {
		ibf_log(e->plugin, IBF_ADOPTED, "no tables read from the switches: the fast path, which reads them, is not available");
		return FTR_OK;
	}
	st = ibf_adopt(e->plugin, gen->fabric, &gen->prefer, &r->adopted, err);
	r->adopting = r->improved = !st;
	gen->keep = (struct ftr_keep){ gen->prefer, NULL, true, false };
	return st;
}

enum ftr_status ibf_prefer(struct ibf_engine *e, struct ibf_generation *gen,
			   struct ftr_err *err)
{
	struct ibf_prefer *r = &e->prefer;
	struct ftr_stored_id id;
	struct preferred p;
	bool grown, first;
	enum ftr_status st;

	if (e->plugin->opt.balance == FTR_BALANCE_OFF || !gen->nominal)
		return FTR_OK;
	take_result(e);
	id = id_of(e, gen);
	r->adopting = false;
	first = !r->was_read;
	if (first) {
		read_files(e, gen);
		r->nominal = id.nominal;
	}
	p = preferred(r);
	grown = p.t && id.nominal != r->nominal;
	if (p.t && !p.complete)
		grown |= has_link_beyond(gen->fabric, p.f);
	if (grown) {
		struct ftr_stored_id old = id;

		old.nominal = r->nominal;
		if (r->nominal != id.nominal) {
			remove_files(e, &old);
			r->removed_preferred = r->removed_displaced = true;
		}
		drop_better(r);
	}
	r->nominal = id.nominal;
	/* tables computed by the formula for a smaller fabric are not used for a larger one */
	if (grown && !(p.complete && r->improved)) {
		drop_preferred(r);
		p.t = NULL;
	}
	if (!p.t)
		return first ? adopt(e, gen, err) : FTR_OK;
	if (r->better && ibf_is_complete(gen) && !r->for_displaced) {
		p.t = r->better;
		p.f = r->better_of->fabric;
	}
	st = ftr_tables_carry(p.f, p.t, gen->fabric, &gen->prefer, err);
	if (!st && !ibf_is_complete(gen))
		st = read_current(e, gen, err);
	gen->keep = (struct ftr_keep){ gen->prefer, gen->current, grown, false };
	return st;
}

static bool same_tables(const struct ftr_tables *a, const struct ftr_tables *b)
{
	return a && b && !memcmp(a->lft, b->lft, (size_t)a->n_sw * a->stride);
}

/* Make the tables of gen the preferred tables.  The fabric of gen is complete, or there were
 * no preferred tables. */
static void prefer_these(struct ibf_engine *e, struct ibf_generation *gen)
{
	struct ibf_prefer *r = &e->prefer;
	bool better = r->better && !r->for_displaced;
	bool changed = better || r->adopting || r->removed_preferred ||
		!same_tables(gen->prefer, gen->tables);

	drop_preferred(r);
	r->gen = ibf_generation_get(gen);
	r->improved = better || (r->improved && gen->prefer);
	if (changed && !better)
		r->searched = false;
	if (changed && ibf_is_complete(gen)) {
		put_job(e, PREFERRED, &(struct content){
			.id = id_of(e, gen), .gen = gen, .searched = r->searched,
		});
		r->removed_preferred = false;
	}
}

void ibf_prefer_routed(struct ibf_engine *e, struct ibf_generation *gen)
{
	const struct ftr_tables *t = gen->tables;

	if (e->plugin->opt.balance == FTR_BALANCE_OFF || !gen->nominal)
		return;
	if (e->prefer.adopting)
		ibf_adopt_report(e->plugin, gen, &e->prefer.adopted);
	if (ibf_is_complete(gen) || !preferred(&e->prefer).t) {
		prefer_these(e, gen);
		ftr_tables_free(gen->prefer);
		gen->prefer = NULL;
		drop_tables(&e->prefer);
	} else if (e->prefer.for_displaced) {
		drop_tables(&e->prefer);
	}
	gen->makeshift = !preferred(&e->prefer).complete;
	write_displaced(e, gen);
	ftr_tables_free(gen->current);
	gen->current = NULL;
	gen->keep = (struct ftr_keep){ gen->prefer ? gen->prefer : t, NULL,
				       false, false };
	gen->opts.keep = &gen->keep;
}

void ibf_prefer_search(struct ibf_engine *e)
{
	const struct ibf_prefer *r = &e->prefer;

	if (e->plugin->opt.balance != FTR_BALANCE_FULL || r->search || !e->gen ||
	    !e->gen->nominal || !e->gen->tables)
		return;
	if (!r->searching && r->gen == e->gen && ibf_is_complete(e->gen))
		start_search(e, false);
	else if (r->new_displaced && e->gen->prefer)
		start_search(e, true);
}
