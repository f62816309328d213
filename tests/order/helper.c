// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The processes of the plugin (helper/helper.h), here without processes: a request is done when it
 * is sent, by the thread that sends it.  So what a process does is part of the run, and its files
 * are written step by step (disk.c).  A planner may or may not be ready when a fault occurs.
 */
#define main helper_main
#include "helper/main.c"
#undef main

#include "order/order.h"

struct helper {
	enum helper_kind kind;
	struct ftr_ddlr *planner;
	const struct ftr_fabric *planned;
	struct ftr_out result;
	enum ftr_status status;
	struct ftr_err err;
};

enum ftr_status helper_start(enum helper_kind kind, struct helper **out, struct ftr_err *err)
{
	(void)err;
	*out = calloc(1, sizeof(**out));
	if (!*out)
		abort();
	(*out)->kind = kind;
	return FTR_OK;
}

unsigned int helper_wait_ms(enum helper_kind kind)
{
	(void)kind;
	return 1000;
}

enum ftr_status helper_send(struct helper *h, struct ftr_out *o, struct ftr_err *err)
{
	struct ftr_in in = { .text = (char *)o->at, .name = "the request" };

	(void)err;
	in.at = o->at;
	in.end = o->at + o->n;
	planner = h->planner;
	planned = h->planned;
	h->result = (struct ftr_out){ 0 };
	h->status = serve(h->kind, &in, &h->result, &h->err);
	h->planner = planner;
	h->planned = planned;
	return FTR_OK;
}

bool helper_is_busy(const struct helper *h, unsigned int ms)
{
	return h->kind != HELPER_PLANNER || (!ms && choose(2, 1, 0));
}

enum ftr_status helper_result(struct helper *h, unsigned int ms, struct ftr_in *in,
			      struct ftr_err *err)
{
	(void)ms;
	*err = h->err;
	*in = (struct ftr_in){ .text = (char *)h->result.at, .name = "the result" };
	in->at = h->result.at;
	in->end = in->at + h->result.n;
	return h->status;
}

void helper_kill(struct helper *h)
{
	(void)h;
}

void helper_cancel(struct helper *h)
{
	(void)h;
}

bool helper_end(struct helper *h)
{
	(void)h;
	return true;
}

void helper_free(struct helper *h)
{
	if (h)
		ftr_ddlr_free(h->planner);
	free(h);
}
