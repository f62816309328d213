// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The operations of test_no_memory that read or write files. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper/helper.h"
#include "helper/job.h"
#include "io_util.h"
#include "lib/drain_file.h"
#include "lib/temp.h"
#include "no_memory.h"
#include <ftr/hosts.h>

/* ---- files ------------------------------------------------------------------------- */

static const char *path_in(const struct scene *z, const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", z->dir, name);
	return path;
}

static FILE *create(const struct scene *z, const char *name)
{
	FILE *out = fopen(path_in(z, name), "w");

	ck_assert_ptr_nonnull(out);
	return out;
}

static void put(const struct scene *z, const char *name, const char *text)
{
	FILE *out = create(z, name);

	ck_assert(fputs(text, out) >= 0 && !fclose(out));
}

static void must(enum ftr_status st, const struct ftr_err *err)
{
	ck_assert_msg(!st, "%s", err->msg);
}

static void put_vls(const struct scene *z)
{
	const struct ftr_vl_pairs pairs = { .straight = { 0 }, .turn = { 1 }, .n = 1 };
	struct ftr_sl2vl *m;
	struct ftr_err err = { 0 };
	FILE *out = create(z, "sl2vl");

	must(ftr_ddlr_sl2vl(z->sh, &pairs, &m, &err), &err);
	must(ftr_write_sl2vl(out, z->f, m, &err), &err);
	fclose(out);
	ftr_sl2vl_free(m);
	out = create(z, "psl");
	for (ftr_ep e = 0; e < z->f->n_ep; e++)
		fprintf(out, "0x%" PRIx64 " %u %u\n", z->f->ep[e].node_guid, z->f->ep[0].lid, e % 2);
	fclose(out);
}

static void put_hosts(const struct scene *z)
{
	FILE *guids = create(z, "guids"), *order = create(z, "order"), *pairs = create(z, "pairs"),
	     *transfers = create(z, "transfers");

	for (ftr_ep e = 0; e < z->f->n_ep && e < 40; e++) {
		const struct ftr_endport *p = &z->f->ep[e], *q = &z->f->ep[(e + 1) % z->f->n_ep];

		fprintf(guids, "0x%016llx\n", (unsigned long long)p->guid);
		fprintf(order, "0x%04x\tx\n", p->lid);
		fprintf(pairs, "%u 0x%llx\n", p->lid, (unsigned long long)q->guid);
		fprintf(transfers, "%u %u %u %u\n", e, p->lid, q->lid, 4096 + e);
	}
	ck_assert(!fclose(guids) && !fclose(order) && !fclose(pairs) && !fclose(transfers));
}

void files_set(struct scene *z)
{
	struct ftr_err err = { 0 };
	FILE *out;

	ck_assert_ptr_nonnull(temp_dir(z->dir, "ftr-no-memory"));
	out = create(z, "net");
	must(ftr_write_netfile(out, z->f, NULL, &err), &err);
	fclose(out);
	out = create(z, "lfts");
	must(ftr_write_lfts(out, z->f, z->t, &err), &err);
	fclose(out);
	put(z, "hand", hand_net);
	put(z, "jobs", "a n[1-20]\nb n[30-40]:2,x[001-100]\n");
	put(z, "list", "n1 slots=2\nn[2-40]\n");
	put_vls(z);
	put_hosts(z);
}

void files_clear(struct scene *z)
{
	static const char *const name[] = { "net", "lfts", "hand", "jobs", "list",
		"sl2vl", "psl", "guids", "order", "pairs", "transfers", "out" };

	for (size_t i = 0; i < FTR_ARRAY_LEN(name); i++)
		unlink(path_in(z, name[i]));
	ck_assert_msg(!rmdir(z->dir), "%s is not empty", z->dir);
}

/* ---- fabrics ------------------------------------------------------------------------- */

static enum ftr_status read_as(const struct scene *z, const char *name, uint64_t *sum,
			       struct ftr_err *err)
{
	struct ftr_read_notes notes;
	struct ftr_fabric *f;

	TRY(ftr_read_fabric_tolerant(path_in(z, name), 1, &notes, &f, err));
	*sum = fold(f->n_sw_links, f->ports, f->n_ports * sizeof(f->ports[0]));
	ftr_fabric_free(f);
	return FTR_OK;
}

#define READ(name)								\
	static enum ftr_status op_##name(const struct scene *z, uint64_t *sum,	\
					 struct ftr_err *err)			\
	{									\
		return read_as(z, #name, sum, err);				\
	}
READ(net)
READ(hand)

static enum ftr_status op_write(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = ftr_memstream(&text, &len);
	enum ftr_status st = out ? FTR_OK : ftr_nomem(err, "the text");

	if (!st)
		st = ftr_write_netfile(out, z->f, NULL, err);
	if (!st)
		st = ftr_write_lfts(out, z->f, z->t, err);
	if (!st)
		st = ftr_write_lfts_compact(out, z->f, z->t, err);
	if (out && !ftr_memstream_end(out, &text) && !st)
		st = ftr_nomem(err, "the text");
	if (!st)
		*sum = fold(0, text, len);
	free(text);
	return st;
}

static enum ftr_status op_hosts(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_host_list *l;
	struct ftr_hosts *h;
	enum ftr_status st = FTR_OK;

	*sum = 0;
	TRY(ftr_hosts_new(z->f, false, &h, err));
	for (int jobs = 0; jobs < 2 && !st; jobs++) {
		st = ftr_read_host_list(path_in(z, jobs ? "jobs" : "list"), jobs, h, &l, err);
		if (st)
			break;
		*sum = *sum * 1000 + l->n;
		ftr_host_list_free(l);
	}
	ftr_hosts_free(h);
	return st;
}

/* ---- tables and lists ------------------------------------------------------------------ */

static enum ftr_status op_tables(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_tables *t;
	struct ftr_sl2vl *m;
	struct ftr_path_sl *p;
	uint32_t missing;

	TRY(ftr_read_lfts(path_in(z, "lfts"), z->f, &t, NULL, err));
	*sum = fold_tables(0, t);
	ftr_tables_free(t);
	TRY(ftr_read_sl2vl(path_in(z, "sl2vl"), z->f, &m, &missing, err));
	*sum = fold(*sum, m->word, sizeof(m->word[0]));
	ftr_sl2vl_free(m);
	TRY(ftr_read_path_sl(path_in(z, "psl"), z->f, &p, err));
	ftr_path_sl_free(p);
	return FTR_OK;
}

static enum ftr_status op_lists(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_transfer *transfer;
	struct ftr_transfer *pair;
	uint64_t *guid;
	ftr_ep *order;
	uint32_t n;

	TRY(ftr_read_guids_own(path_in(z, "guids"), &guid, &n, err));
	*sum = fold(0, guid, n * sizeof(*guid));
	free(guid);
	TRY(ftr_read_order(path_in(z, "order"), z->f, &order, &n, err));
	*sum = fold(*sum, order, n * sizeof(*order));
	free(order);
	TRY(ftr_read_pairs(path_in(z, "pairs"), z->f, &pair, &n, err));
	*sum = fold(*sum, pair, n * sizeof(*pair));
	free(pair);
	TRY(ftr_read_transfers(path_in(z, "transfers"), z->f, &transfer, &n, err));
	*sum += n;
	free(transfer);
	return FTR_OK;
}

static enum ftr_status apply_drains(const struct scene *z, const struct ftr_drains *d,
				    uint64_t *sum, struct ftr_err *err)
{
	struct ftr_drain_count count;
	struct ftr_drained out;

	TRY(ftr_drain_apply(z->f, d, z->f->ep[0].sw, &out, err));
	*sum = fold(out.n_links, out.kept, out.n_kept * sizeof(out.kept[0]));
	*sum = fold(*sum, out.cut, out.n_cut * sizeof(out.cut[0]));
	ftr_drained_clear(&out);
	TRY(ftr_drain_missing(z->whole, z->f, d, &count, err));
	return FTR_OK;
}

static enum ftr_status op_drains(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_drain part[20];
	struct ftr_drains d = { .request = 5, .part = part, .n = 0 }, again;
	enum ftr_status st;

	memset(part, 0, sizeof(part));
	for (ftr_sw s = 0; s < z->f->n_sw && d.n < 20; s++, d.n++) {
		part[d.n] = (struct ftr_drain){ .guid = z->f->sw[s].guid, .port = s % 3, .by = "me" };
		if (s % 5 == 4)
			part[d.n].guid = z->f->ep[s % z->f->n_ep].guid;
	}
	if (!write_drains(path_in(z, "out"), &d))
		return ftr_nomem(err, "a file of drained parts");
	TRY(ftr_drains_read(path_in(z, "out"), true, &again, err));
	st = apply_drains(z, &again, sum, err);
	ftr_drains_clear(&again);
	return st;
}

/* ---- state, and the messages of the search ----------------------------------------------- */

static enum ftr_status op_state(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_displaced displaced[3] = { { z->f->sw[0].guid, 1, 1 } };
	const struct ftr_state s = {
		.nominal = z->nominal, .t = z->t, .f = z->f, .engine = "dmodc",
		.given = z->turn, .n_given = z->n_turns, .turn = z->turn, .n_turns = z->n_turns,
		.displaced = displaced, .n_displaced = 3,
	};
	struct ftr_nominal *n;
	struct ftr_state again;

	TRY(ftr_state_write(path_in(z, "out"), &s, err));
	TRY(ftr_state_read(path_in(z, "out"), true, NULL, &again, err));
	*sum = fold_tables(again.n_turns, again.t);
	ftr_state_clear(&again);
	TRY(ftr_nominal_read(path_in(z, "out"), NULL, &n, err));
	ftr_nominal_free(n);
	return FTR_OK;
}

static enum ftr_status op_job(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	const struct search_job j = {
		.engine = "dmodc", .nominal = z->nominal, .f = z->f,
		.opts = { .sm_switch = FTR_SW_NONE, .turn = z->turn, .n_turns = z->n_turns },
		.keep = { .prefer = z->carried, .current = z->t },
	};
	FILE *out = create(z, "out");
	struct ftr_out o = { .n = 0 };
	enum ftr_status st;

	put_search(&o, &j);
	*sum = o.n;
	st = ftr_out_fd(&o, fileno(out), "out", HELPER_REQUEST, err);
	fclose(out);
	return st;
}

/* Write what put_found() writes to a file, and read it. */
static enum ftr_status op_result(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_kept k = { .t = z->t }, again = { .t = NULL };
	FILE *out = create(z, "out");
	struct ftr_out o = { .n = 0 };
	struct ftr_in in;
	enum ftr_status st;

	put_found(&o, z->f, &k);
	st = ftr_out_fd(&o, fileno(out), "out", HELPER_RESULT, err);
	fclose(out);
	TRY(st);
	TRY(ftr_in_file(&in, path_in(z, "out"), true, HELPER_RESULT, err));
	st = ftr_in_end(&in, get_found(&in, z->f, &again, err), err);
	if (!st)
		*sum = fold_tables(0, again.t);
	ftr_tables_free(again.t);
	free(again.stats.turn);
	return st;
}

static enum ftr_status gen_one(const char *text, uint64_t *sum, struct ftr_err *err)
{
	struct ftr_gen_opts o = { .seed = 3, .random_guids = true, .random_ports = true,
				  .random_lids = true, .lmc = 1 };
	struct ftr_damage d = { .links = 3, .switches = 1, .hosts = 2 };
	struct ftr_fabric *f, *g;
	enum ftr_status st;

	TRY(ftr_gen_shape(text, &o, &f, err));
	st = ftr_gen_damage(f, &d, &g, err);
	ftr_fabric_free(f);
	if (st)
		return st;
	*sum = fold(*sum, g->ports, g->n_ports * sizeof(g->ports[0]));
	ftr_fabric_free(g);
	return FTR_OK;
}

static enum ftr_status op_gen(const struct scene *z, uint64_t *sum, struct ftr_err *err)
{
	(void)z;
	*sum = 0;
	TRY(gen_one("torus:3,3", sum, err));
	TRY(gen_one("2;3,3;1,2;1,2", sum, err));
	return FTR_OK;
}

const struct op file_ops[] = {
	{ "read a netfile", op_net }, { "read a netfile of ibsim", op_hand },
	{ "write", op_write },
	{ "hosts", op_hosts }, { "read tables", op_tables },
	{ "read lists", op_lists }, { "drains", op_drains }, { "state file", op_state },
	{ "search job", op_job }, { "search result", op_result }, { "generators", op_gen },
};
const unsigned int n_file_ops = FTR_ARRAY_LEN(file_ops);
