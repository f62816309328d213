// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Traps, before OpenSM acts on them.
 *
 * OpenSM reports traps to plugins too late: it answers the trap first, and with its option
 * "sweep_on_trap" it also starts a heavy sweep, which would run at the same time as the fast
 * path.  It also leaves out traps: it reports at most ten equal traps within a few seconds,
 * and never traps 129 to 131.
 *
 * So the plugin replaces the function that OpenSM's dispatcher calls for notices.  The
 * plugin's function calls OpenSM's function for every trap.
 *
 * If the fast path has taken over a link state change (trap 128), the plugin switches
 * sweep_on_trap off while OpenSM's function handles the trap.  For all other traps (129 to
 * 131, 144 and vendors' traps) the option is unchanged.  No other part of OpenSM acts on the
 * option, and while it is off no other trap is handled.  Afterwards the option gets the
 * value that OpenSM last read from opensm.conf.  So a change by the administrator takes
 * effect.
 *
 * If the administrator has switched sweep_on_trap off, it stays off.  The fast path repairs
 * the tables nevertheless, and the next periodic sweep confirms the repair.
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

/* Pass a trap 128 to the fast path.  Returns true if the fast path acts on it, and false if OpenSM
 * should do so. */
static bool taken_over(struct ibf_fast *f, ftr_lid lid)
{
	struct rr_event ev = {
		.kind = RR_EV_TRAP, .lid = lid,
		.master = f->rr.ops->is_master(f->rr.ctx)
	};

	return rr_post(&f->rr, &ev) & RR_ACT_TAKEN;
}

/* The value of sweep_on_trap that OpenSM last read from opensm.conf.  OpenSM keeps a copy of this
 * value, which the plugin does not change.  Without opensm.conf there is no copy; then returns
 * `otherwise`. */
static boolean_t in_file(const osm_subn_opt_t *opt, boolean_t otherwise)
{
	return opt->file_opts ?
		__atomic_load_n(&opt->file_opts->sweep_on_trap,
				__ATOMIC_RELAXED) : otherwise;
}

/* Runs on a dispatcher thread, without a lock. */
static void on_notice(void *context, void *data)
{
	struct ibf_fast *f = context;
	osm_subn_opt_t *opt = &f->p->osm->subn.opt;
	ftr_lid lid;
	bool taken = link_change(data, &lid) && taken_over(f, lid);
	boolean_t sweep;

	pthread_mutex_lock(&f->trap_order);
	sweep = in_file(opt, opt->sweep_on_trap);
	if (taken)
		opt->sweep_on_trap = FALSE;
	f->hook.original((void *)(uintptr_t)f->hook.context, data);
	if (taken) {
		/* the sweeper may have read opensm.conf meanwhile */
		sweep = in_file(opt, sweep);
		opt->sweep_on_trap = sweep;
	}
	atomic_store(&f->sweep_on_trap, sweep);
	pthread_mutex_unlock(&f->trap_order);
}

/* Called before OpenSM has bound to its port, so no notice arrives meanwhile.  The plugin's
 * function is never removed: OpenSM frees the registration before it deletes plugins. */
void ibf_trap_hook(struct ibf_fast *f)
{
	/* the handle is a pointer to const, but the object is not const */
	cl_disp_reg_info_t *reg = (void *)(uintptr_t)f->p->osm->sm.trap_disp_h;

	f->hook.original = reg->pfn_rcv_callback;
	f->hook.context = reg->context;
	reg->pfn_rcv_callback = on_notice;
	reg->context = f;
}
