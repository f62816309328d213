// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * OpenSM's dispatcher for coroutines (fiber.h): replaces the functions of libosmcomp that the plugin
 * and the fake OpenSM call.  Two threads call the handlers, as in OpenSM.  A message whose handler is
 * no longer registered is done at once, and a posted message is dropped at shutdown.
 *
 * cl_disp_reg_info_t is OpenSM's own, because the plugin writes to it (src/plugin/osm/trap.c).
 */
#include <stdlib.h>
#include <string.h>

#include "fake/fiber.h"
#include "fake/opensm.h"

#define HANDLERS 96
#define THREADS 2

struct message {
	struct message *next;
	const cl_disp_reg_info_t *to;
	void *data, *context;
	cl_pfn_msgdone_cb_t done;
	uint64_t cause;
};

static struct {
	cl_disp_reg_info_t *handler[HANDLERS];
	unsigned int n;
	struct message *first, **end;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	pthread_t thread[THREADS];
	bool stop;
} d;

static struct message *take(void)
{
	struct message *m = d.first;

	if (m) {
		d.first = m->next;
		if (!d.first)
			d.end = &d.first;
	}
	return m;
}

static void *handle(void *arg)
{
	struct message *m;

	pthread_mutex_lock(&d.mutex);
	while (!d.stop) {
		m = take();
		if (!m) {
			ibf_cond_wait(&d.cond, &d.mutex, -1);
			continue;
		}
		pthread_mutex_unlock(&d.mutex);
		fiber_follow(m->cause);
		m->to->pfn_rcv_callback((void *)(uintptr_t)m->to->context, m->data);
		m->done(m->context, m->data);
		free(m);
		pthread_mutex_lock(&d.mutex);
	}
	pthread_mutex_unlock(&d.mutex);
	return arg;
}

cl_status_t cl_disp_init(cl_dispatcher_t *disp, uint32_t n, const char *name)
{
	(void)disp;
	(void)n;
	(void)name;
	memset(&d, 0, sizeof(d));
	d.end = &d.first;
	fiber_ignore(&d.mutex);
	for (unsigned int i = 0; i < THREADS; i++)
		if (!ibf_thread_start(&d.thread[i], handle, NULL))
			return CL_ERROR;
	return CL_SUCCESS;
}

void cl_disp_shutdown(cl_dispatcher_t *disp)
{
	struct message *m;

	(void)disp;
	d.stop = true;
	ibf_cond_wake(&d.cond);
	for (unsigned int i = 0; i < THREADS; i++)
		ibf_thread_join(d.thread[i]);
	while ((m = take()))
		free(m);
}

void cl_disp_destroy(cl_dispatcher_t *disp)
{
	(void)disp;
	while (d.n)
		free(d.handler[--d.n]);
}

cl_disp_reg_handle_t cl_disp_register(cl_dispatcher_t *disp, cl_disp_msgid_t id,
				      cl_pfn_msgrcv_cb_t fn, const void *context)
{
	cl_disp_reg_info_t *r = calloc(1, sizeof(*r));

	if (!r || d.n == HANDLERS)
		return CL_DISP_INVALID_HANDLE;
	r->p_disp = disp;
	r->msg_id = id;
	r->pfn_rcv_callback = fn;
	r->context = context;
	d.handler[d.n++] = r;
	return r;
}

/* The handler stays in the list, because the plugin may still have its address. */
void cl_disp_unregister(cl_disp_reg_handle_t handle)
{
	((cl_disp_reg_info_t *)(uintptr_t)handle)->msg_id = CL_DISP_MSGID_NONE;
}

cl_status_t cl_disp_post(cl_disp_reg_handle_t from, cl_disp_msgid_t id, const void *data,
			 cl_pfn_msgdone_cb_t done, const void *context)
{
	struct message *m = NULL;

	(void)from;
	for (unsigned int i = 0; i < d.n && !m; i++)
		if (d.handler[i]->msg_id == id) {
			m = calloc(1, sizeof(*m));
			if (!m)
				return CL_INSUFFICIENT_MEMORY;
			*m = (struct message){ NULL, d.handler[i],
				(void *)(uintptr_t)data, (void *)(uintptr_t)context, done,
				fiber_mix(fiber_cause(), 5) };
		}
	if (!m)
		return CL_NOT_FOUND;
	*d.end = m;
	d.end = &m->next;
	ibf_cond_wake(&d.cond);
	return CL_SUCCESS;
}
