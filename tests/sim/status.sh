# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests that the contents of ibfattree.prom and ibfattree-status.json follow the fabric.

metric() {
	awk -v name="ibfattree_$1" '$1 == name { print $2 }' \
		"$SIM_DIR/sm/ibfattree.prom"
}
metric_is() { [[ $(metric "$1") == "$2" ]]; }
metric_above() { (($(metric "$1") > $2)); }
status_of() { "$SIM_BUILD/jsonq" "$SIM_DIR/sm/ibfattree-status.json" "$1"; }

no_temporary() { [[ -z $(compgen -G "$SIM_DIR/sm/ibfattree.prom.*") ]]; }

prom_is_good() {
	if command -v promtool >/dev/null; then
		promtool check metrics <"$SIM_DIR/sm/ibfattree.prom" >"$T/promtool" 2>&1 ||
			fail "promtool: $(cat "$T/promtool")"
		[[ ! -s $T/promtool ]] || fail "promtool: $(cat "$T/promtool")"
	elif [[ -n ${FTR_PROMTOOL:-} ]]; then
		fail "promtool is not installed"
	fi
	sim_until "$patience" no_temporary || fail "a temporary file is left"
}

case_status_files() {
	gen '2;6,12;1,6;1,1' --random-guids --random-ports --seed 61
	fast_up 'fast_sweep_delay_ms 1500' </dev/null
	walk before
	sim_until "$patience" metric_is sm_master 1
	prom_is_good
	if ! { metric_is switches 18 && metric_is links 72 &&
		metric_is missing_links 0 &&
		metric_is 'engine_info{engine="dmodc"}' 1 &&
		metric_is 'unreachable_pairs{ends="hosts"}' 0 &&
		metric_is switches_without_sm_path 0 && metric_is routes 1; }; then
		fail "$(cat "$SIM_DIR/sm/ibfattree.prom")"
	fi
	# 6 hosts of a leaf send to 66 other hosts over 6 upward links: 6 * 66 / 6 flows
	sim_until "$patience" metric_is link_load_bound_flows 66
	sim_until "$patience" metric_is link_load_max_flows 66
	[[ $(status_of engine) == dmodc && $(status_of reason) == "" &&
	   $(status_of link_load.bound) == 66 ]]
	local routings
	routings=$(metric routings_total)
	pick 1
	osm_mark sm
	cut_it
	repaired down
	sim_until "$patience" metric_is reroutes_total 1
	metric_is failed_writes_total 0 ||
		fail "after a repair: $(cat "$SIM_DIR/sm/ibfattree.prom")"
	[[ -n $(metric 'last_reroute_phase_seconds{phase="last_write"}') ]]
	prom_is_good
	reconciled
	sim_until "$patience" metric_is missing_links 1
	sim_until "$patience" metric_is links 71
	# The leaf has one upward link fewer, so the lower bound of the load is higher.  The loads
	# are counted and written after the sweep.
	sim_until "$patience" metric_above link_load_bound_flows 66
	(($(metric routings_total) > routings)) || fail "a counter has decreased"
	[[ $(status_of reroutes_total) == 1 && $(status_of state) == master ]]
	prom_is_good
	down
}

# With "status_files off" neither file is written.  Routing is the same.
case_status_off() {
	gen '2;4,4;1,4;1,1' --random-guids --seed 62
	fast_up 'status_files off' </dev/null
	walk whole
	pick 1
	osm_mark sm
	cut_it
	repaired down
	reconciled
	[[ -z $(compgen -G "$SIM_DIR/sm/ibfattree.prom*") &&
	   -z $(compgen -G "$SIM_DIR/sm/ibfattree-status.json*") ]] ||
		fail "written: $(ls "$SIM_DIR/sm")"
	down	# files are written by a thread of their own
	[[ -s $SIM_DIR/sm/ibfattree-events.jsonl ]] || fail "no event is written"
	[[ -z $(compgen -G "$SIM_DIR/sm/ibfattree.prom*") ]]
}

# The engine refuses to route, and there is no other engine.  OpenSM reports no event, but the files
# show the refusal.
case_status_no_engine() {
	gen kary:2,4 --random-guids --random-ports --seed 19
	echo 0x1 >"$T/roots"
	echo 'roots strict' >"$T/ibfattree.conf"
	sim_start "$T/sim" "$T/fabric.net"
	osm_start sm <<-EOF
	event_plugin_name ibfattree
	routing_engine sftree,no_fallback
	root_guid_file $T/roots
	event_plugin_options ibfattree:$T/ibfattree.conf
	EOF
	osm_wait sm "$patience" 'ERR IBF206: '
	allow 'ERR IBF206: ' 'ERR IBF211: '
	sim_until "$patience" metric_is sm_master 1 || fail "$(cat "$SIM_DIR/sm/ibfattree.prom")"
	metric_is routes 0
	metric_is 'engine_info{engine="none"}' 1
	[[ $(status_of engine) == "" && $(status_of ours) == false &&
	   $(status_of reason) == *"none of the 1 root GUIDs"* ]] ||
		fail "$(cat "$SIM_DIR/sm/ibfattree-status.json")"
	prom_is_good
	down
}
