// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * doctor: subnet managers, links and switches.
 */
#include <inttypes.h>

#include "cli/doctor.h"

/* ---- subnet managers --------------------------------------------------- */

static const char *const sm_states[] = {
	"not active", "discovering", "standby", "master",
};

static void list_sms(const struct doc_fabric *n, struct doc_result *r)
{
	for (uint32_t i = 0; i < n->n_sm; i++) {
		const struct doc_sm *s = &n->sm[i];

		if (s->answered)
			doc_at(r, s->guid, 0, "\"%s\": guid=0x%016" PRIx64 " lid=%u state=%s priority=%u",
			       s->name, s->guid, s->lid,
			       s->state < 4 ? sm_states[s->state] : "unknown", s->priority);
		else
			doc_at(r, s->guid, 0, "\"%s\": guid=0x%016" PRIx64 " lid=%u does not answer",
			       s->name, s->guid, s->lid);
	}
}

static uint32_t in_state(const struct doc_fabric *n, unsigned int state)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < n->n_sm; i++)
		found += n->sm[i].answered && n->sm[i].state == state;
	return found;
}

void doc_sm(struct doctor *d, struct doc_result *r)
{
	uint32_t masters = in_state(&d->net, 3);

	list_sms(&d->net, r);
	if (masters == 1) {
		doc_say(r, DOC_OK, "one master, %u subnet manager%s in all",
			d->net.n_sm, d->net.n_sm == 1 ? "" : "s");
	} else if (!masters) {
		doc_say(r, DOC_FAILURE, "no subnet manager is master");
		doc_remedy(r, "start opensm; if it runs, look for errors in its log");
	} else {
		doc_say(r, DOC_FAILURE, "%u subnet managers are master at the same time", masters);
		doc_remedy(r, "stop all but one; then compare their sm_key, subnet_prefix and M_Key");
	}
}

void doc_standby(struct doctor *d, struct doc_result *r)
{
	uint32_t n = in_state(&d->net, 2);

	if (n) {
		doc_say(r, DOC_OK, "%u standby subnet manager%s", n, n == 1 ? "" : "s");
		return;
	}
	doc_say(r, DOC_WARNING, "no standby subnet manager; while the master is down, nothing is rerouted");
	doc_remedy(r, "run opensm with the same opensm.conf and plugin on a second node, with a lower sm_priority, and share the state file (docs/rollout.md)");
}

void doc_sm_version(struct doctor *d, struct doc_result *r)
{
	const struct doc_fabric *n = &d->net;

	if (!n->n_sm) {
		doc_say(r, DOC_NOT_CHECKED, "no subnet manager");
		return;
	}
	doc_say(r, DOC_NOT_CHECKED, "SMInfo does not contain the version; run \"opensm --version\" on the node%s below",
		n->n_sm == 1 ? "" : "s");
	for (uint32_t i = 0; i < n->n_sm; i++)
		doc_at(r, n->sm[i].guid, 0, "\"%s\" (0x%016" PRIx64 ")", n->sm[i].name,
		       n->sm[i].guid);
}

/* ---- links ------------------------------------------------------------- */

/* Returns true for one of the two ends of each link, so that each link is examined once. */
static bool is_first_end(const struct ftr_swport *x, ftr_sw s, unsigned int p)
{
	return x->peer_kind == FTR_PEER_EP ||
	       (x->peer_kind == FTR_PEER_SW && (s < x->peer || (s == x->peer && p < x->peer_port)));
}

/* Returns true if the link is bad.  `what` then gets the text to print after the link's name. */
typedef bool (*bad_fn)(const struct doctor *d, ftr_sw s, unsigned int p, char *what, size_t size);

static void list_links(const struct doctor *d, struct doc_result *r, bad_fn bad)
{
	const struct ftr_fabric *f = d->net.f;
	char text[CLI_LINK_MAX], what[64] = "";

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			if (!is_first_end(ftr_fabric_port(f, s, p), s, p) ||
			    !bad(d, s, p, what, sizeof(what)))
				continue;
			doc_at(r, f->sw[s].guid, p, "%s%s", cli_ends_name(text, f, s, p), what);
		}
}

static const struct doc_port *state_of(const struct doctor *d, ftr_sw s, unsigned int p)
{
	return &d->net.port[d->net.f->sw[s].first_port + p];
}

void doc_silent(struct doctor *d, struct doc_result *r)
{
	const struct doc_fabric *n = &d->net;

	for (uint32_t i = 0; i < n->n_silent; i++) {
		if (i >= DOC_DETAILS) {
			r->n_details++;
			continue;
		}
		doc_at(r, n->silent[i].guid, n->silent[i].port, "\"%s\" (0x%016" PRIx64 ") port %u",
		       n->silent[i].name, n->silent[i].guid, n->silent[i].port);
	}
	if (doc_clean(r, "both ends of every link answer"))
		return;
	doc_say(r, DOC_FAILURE, "%u link%s with only one end that answers: the port is up, but the node behind it does not answer",
		n->n_silent, n->n_silent == 1 ? "" : "s");
	doc_remedy(r, "reset the node behind each of these ports, or unplug the cable");
}

static bool not_active(const struct doctor *d, ftr_sw s, unsigned int p, char *what, size_t size)
{
	unsigned int state = state_of(d, s, p)->state;

	snprintf(what, size, ": %s", state == 2 ? "Initialize" : "Armed");
	return state == 2 || state == 3;
}

void doc_link_state(struct doctor *d, struct doc_result *r)
{
	list_links(d, r, not_active);
	if (doc_clean(r, "all links are Active"))
		return;
	doc_say(r, DOC_WARNING, "%u link%s not Active", r->n_details,
		r->n_details == 1 ? " is" : "s are");
	doc_remedy(r, "if this persists, the subnet manager cannot configure these ports: look for their GUIDs in its log");
}

/* Returns the greatest speed (if `width` is true: the greatest width) of the links between s and
 * nodes of this kind. */
static unsigned int best_near(const struct ftr_fabric *f, ftr_sw s, unsigned int kind, bool width)
{
	unsigned int best = 0;

	for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
		const struct ftr_swport *x = ftr_fabric_port(f, s, p);
		unsigned int value = width ? x->width : x->speed;

		if (x->peer_kind == kind && value > best)
			best = value;
	}
	return best;
}

/*
 * Returns true if both ends of the link support a higher speed, and a switch at one of its ends has
 * a faster link to the same kind of node (switch or host).  If `width` is true, compares widths
 * instead of speeds.  Dumps do not contain the supported values (supported is 0).  With dumps, only
 * links between switches are compared.
 */
static bool is_slow(const struct doctor *d, ftr_sw s, unsigned int p, bool width)
{
	const struct ftr_fabric *f = d->net.f;
	const struct ftr_swport *x = ftr_fabric_port(f, s, p);
	unsigned int is = width ? x->width : x->speed, supported = 0;

	if (d->net.port)
		supported = width ? state_of(d, s, p)->max_width :
				    state_of(d, s, p)->max_speed;
	if (!is || (supported && is >= supported) || (!supported && x->peer_kind != FTR_PEER_SW))
		return false;
	return is < best_near(f, s, x->peer_kind, width) ||
	       (x->peer_kind == FTR_PEER_SW && is < best_near(f, x->peer, x->peer_kind, width));
}

static bool narrow(const struct doctor *d, ftr_sw s, unsigned int p, char *what, size_t size)
{
	snprintf(what, size, ": %ux", ftr_fabric_port(d->net.f, s, p)->width);
	return is_slow(d, s, p, true);
}

static bool slow(const struct doctor *d, ftr_sw s, unsigned int p, char *what, size_t size)
{
	snprintf(what, size, ": %s", ftr_speed_str(ftr_fabric_port(d->net.f, s, p)->speed));
	return is_slow(d, s, p, false);
}

static void link_rate(struct doctor *d, struct doc_result *r, bool width)
{
	const struct ftr_fabric *f = d->net.f;
	const char *less = width ? "narrower" : "slower";
	bool known = false;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		known = known || best_near(f, s, FTR_PEER_SW, width) ||
			best_near(f, s, FTR_PEER_EP, width);
	if (!known) {
		doc_say(r, DOC_NOT_CHECKED, "the fabric file gives no %s",
			width ? "widths" : "speeds");
		return;
	}
	list_links(d, r, width ? narrow : slow);
	if (doc_clean(r, "no link is %s than other links of its switches", less))
		return;
	doc_say(r, DOC_WARNING, "%u link%s %s than other links of %s switches",
		r->n_details, r->n_details == 1 ? " is" : "s are", less,
		r->n_details == 1 ? "its" : "their");
	doc_remedy(r, width ? "reseat or replace the cable; the engines route as many flows over a link with fewer lanes as over any other link" :
		   "reseat or replace the cable, then check the speeds that both ports enable");
}

void doc_link_width(struct doctor *d, struct doc_result *r)
{
	link_rate(d, r, true);
}

void doc_link_speed(struct doctor *d, struct doc_result *r)
{
	link_rate(d, r, false);
}

/* The counters that each check compares with its limit; max: the counter stops at this value. */
static const struct {
	const char *name;
	uint16_t max;
} counters[DOC_N_COUNTERS] = {
	[DOC_LINK_DOWNED] = { "LinkDowned", 255 },
	[DOC_SYMBOL_ERRORS] = { "SymbolErrors", UINT16_MAX },
	[DOC_LINK_RECOVERIES] = { "LinkErrorRecovery", 255 },
	[DOC_RECEIVE_ERRORS] = { "PortRcvErrors", UINT16_MAX },
	[DOC_INTEGRITY_ERRORS] = { "LocalLinkIntegrityErrors", 15 },
	[DOC_BUFFER_OVERRUNS] = { "ExcessiveBufferOverrunErrors", 15 },
};

/* Appends to `text` each of the counters first to last that is above the limit.  Returns false if
 * there is none. */
static bool above(char *text, size_t size, const struct doc_port *x,
		  enum doc_counter first, enum doc_counter last, uint32_t limit)
{
	size_t at = 0;

	for (unsigned int i = first; i <= last && at < size; i++)
		if (x->counter[i] > limit)
			at += (size_t)snprintf(text + at, size - at, " %s=%u%s",
				counters[i].name, x->counter[i],
				x->counter[i] == counters[i].max ? " or more" : "");
	return at;
}

/* Lists the ports at which one of the counters first to last is above the limit, which the option
 * sets. */
static void list_counters(struct doctor *d, struct doc_result *r,
			  enum doc_counter first, enum doc_counter last,
			  const char *option, uint32_t limit)
{
	const struct ftr_fabric *f = d->net.f;
	char name[CLI_LINK_MAX], text[160];
	uint32_t counted = 0;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		for (unsigned int p = 1; p <= f->sw[s].n_ports; p++) {
			const struct doc_port *x = state_of(d, s, p);

			counted += x->counted;
			if (!x->counted || !ftr_fabric_port(f, s, p)->peer_kind ||
			    !above(text, sizeof(text), x, first, last, limit))
				continue;
			doc_at(r, f->sw[s].guid, p, "%s:%s", cli_ends_name(name, f, s, p), text);
		}
	if (!counted)
		doc_say(r, DOC_NOT_CHECKED, "no switch answers a Get of its error counters");
	else if (!r->n_details)
		doc_say(r, DOC_OK, "no counter of a port is above %s %u", option, limit);
	else
		doc_say(r, DOC_WARNING, "%u port%s a counter above %s %u",
			r->n_details, r->n_details == 1 ? " has" : "s have", option, limit);
	if (counted && d->net.no_counters)
		doc_detail(r, "switches that did not answer: %u", d->net.no_counters);
}

void doc_link_flaps(struct doctor *d, struct doc_result *r)
{
	list_counters(d, r, DOC_LINK_DOWNED, DOC_LINK_DOWNED, "--flaps", d->o.flaps);
	if (r->verdict == DOC_WARNING)
		doc_remedy(r, "clear the counters (perfquery -R), look again in an hour, and replace cables whose count grows");
}

void doc_link_errors(struct doctor *d, struct doc_result *r)
{
	list_counters(d, r, DOC_SYMBOL_ERRORS, DOC_BUFFER_OVERRUNS, "--errors", d->o.errors);
	if (r->verdict == DOC_WARNING)
		doc_remedy(r, "clear the counters (perfquery -R) and look again in an hour; if they grow, move the traffic away from the link (ibfattree drain SWITCH PORT), then clean or replace the cable");
}

/* ---- switches ---------------------------------------------------------- */

void doc_lft_capacity(struct doctor *d, struct doc_result *r)
{
	const struct ftr_fabric *f = d->net.f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		if (!d->net.sw[s].lft_cap || d->net.sw[s].lft_cap > f->max_lid)
			continue;
		doc_at(r, f->sw[s].guid, 0, "%s: %u entries", CLI_SW(f, s), d->net.sw[s].lft_cap);
	}
	if (doc_clean(r, "the tables of all switches have room for LID %u, the highest in use",
		      f->max_lid))
		return;
	doc_say(r, DOC_FAILURE, "%u switch%s no table entry for LID %u, which is in use",
		r->n_details, r->n_details == 1 ? " has" : "es have", f->max_lid);
	doc_remedy(r, "use lower LIDs: stop opensm and delete its file guid2lid, or reduce lmc");
}

void doc_lft_top(struct doctor *d, struct doc_result *r)
{
	const struct ftr_fabric *f = d->net.f;

	for (ftr_sw s = 0; s < f->n_sw; s++) {
		if (d->net.sw[s].lft_cap <= f->max_lid || d->net.sw[s].lft_top >= f->max_lid)
			continue;
		doc_at(r, f->sw[s].guid, 0, "%s: LinearFDBTop=%u", CLI_SW(f, s),
		       d->net.sw[s].lft_top);
	}
	if (doc_clean(r, "LinearFDBTop of all switches covers the LIDs in use, up to %u", f->max_lid))
		return;
	doc_say(r, DOC_FAILURE, "%u switch%s packets to the highest LIDs in use (up to %u)",
		r->n_details, r->n_details == 1 ? " drops" : "es drop", f->max_lid);
	doc_remedy(r, "make opensm sweep (kill -HUP); if this persists, the switches did not accept OpenSM's SwitchInfo");
}

static bool one_vl(const struct doctor *d, ftr_sw s, unsigned int p, char *what, size_t size)
{
	(void)what;
	(void)size;
	return ftr_fabric_port(d->net.f, s, p)->peer_kind == FTR_PEER_SW &&
	       state_of(d, s, p)->op_vls == 1;
}

void doc_vls(struct doctor *d, struct doc_result *r)
{
	list_links(d, r, one_vl);
	if (doc_clean(r, "all links between switches have two data VLs or more"))
		return;
	doc_say(r, DOC_WARNING, "%u link%s between switches %s one data VL only; ddlr then repairs without its second VL",
		r->n_details, r->n_details == 1 ? "" : "s", r->n_details == 1 ? "has" : "have");
	doc_remedy(r, "for ddlr, set max_op_vls to 2 or more in opensm.conf; dmodc and sftree need one VL only");
}

void doc_adaptive(struct doctor *d, struct doc_result *r)
{
	const struct ftr_fabric *f = d->net.f;

	for (ftr_sw s = 0; s < f->n_sw; s++)
		if (d->net.sw[s].adaptive)
			doc_at(r, f->sw[s].guid, 0, "%s", CLI_SW(f, s));
	if (!r->n_details && d->net.no_adaptive) {
		doc_say(r, DOC_NOT_CHECKED, "%u switches of NVIDIA did not answer a Get of AdaptiveRoutingInfo",
			d->net.no_adaptive);
		return;
	}
	if (doc_clean(r, "no switch reports adaptive routing"))
		return;
	doc_say(r, DOC_WARNING, "adaptive routing is on at %u switch%s: loads and paths are those of the forwarding tables, but these switches choose other ports too",
		r->n_details, r->n_details == 1 ? "" : "es");
	doc_remedy(r, "do not use this plugin together with adaptive routing: it does not configure the groups of ports, and does not check their paths for credit loops");
}
