// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Traps, before OpenSM acts on them.
 *
 * OpenSM tells plugins of a trap only after it has answered it, filtered it
 * (ten equal ones in a few seconds are the last that it tells of) and, with
 * sweep_on_trap, started a heavy sweep which then races with us; of traps 129
 * to 131 it tells nothing.  So the plugin puts itself in front of the one
 * function that OpenSM's dispatcher calls for notices, and calls that for
 * every trap.  For a link state change (128) that the fast path has taken,
 * sweep_on_trap is off for the duration of this call, and of no other: 129 to
 * 131, 144 and vendors' traps do what they always did.  The option is read
 * nowhere else in OpenSM, and traps are handled one at a time while we change
 * it.  It is put back to what OpenSM has last read from opensm.conf, so that what
 * the administrator changes meanwhile holds.
 *
 * If the administrator has sweep_on_trap off, it stays off: then the tables are
 * healed, and the sweep that confirms it is the next periodic one.
 */
#include "osm/fast.h"

static bool link_change(const osm_madw_t *madw, ftr_lid *lid)
{
	const ib_smp_t *smp = osm_madw_get_smp_ptr(madw);
	const ib_mad_notice_attr_t *n = (const void *)smp->data;

	if (smp->method != IB_MAD_METHOD_TRAP || !ib_notice_is_generic(n) ||
	    n->g_or_v.generic.trap_num !=
	    CL_HTON16(SM_LINK_STATE_CHANGED_TRAP))
		return false;
	*lid = cl_ntoh16(n->data_details.ntc_128.sw_lid);
	return true;
}

/* What opensm.conf says, as OpenSM has last read it: it keeps a copy, which we
 * do not change.  Without a file there is none, and nothing changes the option. */
static boolean_t in_file(const osm_subn_opt_t *opt, boolean_t otherwise)
{
	return opt->file_opts ?
		__atomic_load_n(&opt->file_opts->sweep_on_trap,
				__ATOMIC_RELAXED) : otherwise;
}

/* On a dispatcher thread, without a lock. */
static void on_notice(void *context, void *data)
{
	struct ibf_fast *f = context;
	osm_subn_opt_t *opt = &f->p->osm->subn.opt;
	ftr_lid lid;
	bool taken = link_change(data, &lid) && ibf_fast_trap(f, lid);
	boolean_t sweep;

	pthread_mutex_lock(&f->trap_order);
	sweep = in_file(opt, opt->sweep_on_trap);
	if (taken)
		opt->sweep_on_trap = FALSE;
	f->hook.original((void *)(uintptr_t)f->hook.context, data);
	if (taken) {
		/* the sweeper may have read the file meanwhile */
		sweep = in_file(opt, sweep);
		opt->sweep_on_trap = sweep;
	}
	atomic_store(&f->sweep_on_trap, sweep);
	pthread_mutex_unlock(&f->trap_order);
}

/* Before OpenSM has bound: the dispatcher has nothing to do yet.  When plugins
 * are deleted OpenSM has freed the registration. */
void ibf_trap_hook(struct ibf_fast *f)
{
	/* a const pointer only because it is a handle */
	cl_disp_reg_info_t *reg = (void *)(uintptr_t)f->p->osm->sm.trap_disp_h;

	f->hook.original = reg->pfn_rcv_callback;
	f->hook.context = reg->context;
	reg->pfn_rcv_callback = on_notice;
	reg->context = f;
}
