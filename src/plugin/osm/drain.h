/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Drained parts: the plugin's side of "ibfattree drain".
 *
 * The command writes the file of drained parts (<ftr/drain.h>), whose path is that of the plugin's
 * options with ".drains" appended.  A thread looks for a new file twice a second, reads it, and
 * requests a sweep.  Each routing uses the list that was read last; the nominal fabric contains
 * the drained parts.  When the tables are written, the status file has the number of the request,
 * and the events file gets a record.  If a file cannot be used, the last list stays in use.
 *
 * The thread uses the real clock, also in tests that replace the plugin's clock: it waits for a
 * file, not for the plugin.
 */
#ifndef IBF_DRAIN_H
#define IBF_DRAIN_H

#include "osm/osm.h"

/* Read the file at OPTIONS.drains, and start the thread.  NULL: no memory, or no thread; this is
 * logged. */
struct ibf_drain *ibf_drain_new(struct ibf_plugin *p, const char *options);
void ibf_drain_free(struct ibf_drain *d);	/* joins the thread; NULL is accepted */

/* Remove the drained links from gen->fabric, and count the drained parts.  gen->undrained becomes
 * the fabric with these links.  The caller holds OpenSM's lock.  p->drain NULL: no part is
 * drained. */
enum ftr_status ibf_drain_apply(struct ibf_plugin *p, struct ibf_generation *gen,
				struct ftr_err *err) FTR_MUST_USE;
/* Called when the tables of the last routing are written. */
void ibf_drain_written(struct ibf_plugin *p);

/* event.c: append a record of the drained parts to the events file. */
void ibf_event_drains(struct ibf_plugin *p, const struct ftr_drains *d);

#endif
