# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests of sftree in stock opensm: all switches reach all others, before and after faults.

plugin_sftree() {
	sim_start "$T/sim" "${1:-$T/fabric.net}"
	osm_start sm <<-EOF2
	event_plugin_name ibfattree
	routing_engine sftree
	$(cat)
	EOF2
	osm_wait sm "$patience" 'SUBNET UP'
	routed_by sftree
}

all_arrive() {
	walk "$1" --switch-sources
	! grep -E '^paths|^ +(host port|switch) ->' "$T/$1.txt" |
		grep -v 'all arrive' >&2 || fail "pairs are unreachable"
	! grep -E '^ +.*->.*do not arrive' "$T/$1.txt" >&2 ||
		fail "pairs are unreachable"
}

# Query some switches by LID, and trace a path from each of them to another switch.
ask_switches() {
	local -a lids
	local i
	mapfile -t lids < <(awk '/^Switch/ && match($0, /lid [0-9]+/) {
		print substr($0, RSTART + 4, RLENGTH - 4) }' "$T/$1.net")
	((${#lids[@]} > 2)) || fail "no LIDs of switches in $T/$1.net"
	for ((i = 0; i < ${#lids[@]}; i += ${#lids[@]} / 6 + 1)); do
		in_sim smpquery -L nodeinfo "${lids[i]}" >/dev/null ||
			fail "the switch with LID ${lids[i]} does not answer"
		in_sim ibtracert "${lids[i]}" \
			"${lids[(i + ${#lids[@]} / 2) % ${#lids[@]}]}" \
			>"$T/trace" 2>&1 || {
			cat "$T/trace" >&2
			fail "no path from LID ${lids[i]}"
		}
	done
}

cut_cables() {
	local a p _
	osm_mark sm
	while IFS=$'\t' read -r a p _; do
		sim_do "Unlink \"$a\"[$p]"
	done < <(sim_cables "$T/fabric.net" |
		awk -v n="$1" 'NR % 3 == 1 && k++ < n')
	osm_settled sm "$patience"
}

case_sftree_three_levels() {
	gen '3;4,4,8;1,4,4;1,1,1' --random-guids --random-ports --seed 31
	plugin_sftree </dev/null
	logged 'root sw-1-.*, 0 host pairs on detours'
	all_arrive whole
	ask_switches whole
	ibdm -a
	cut_cables 9
	routed_by sftree
	all_arrive cut
	ask_switches cut
	down
}

# On this tree a spine has several downward paths to a rack.  The root of sftree is a leaf chip of
# the 648-port switch.
case_sftree_racks() {
	awk -f "$top/tests/seeds/racks.awk" >"$T/fabric.net"
	plugin_sftree </dev/null
	logged 'root sw-2-.*, 0 host pairs on detours'
	all_arrive whole
	ibdm -a
	cut_cables 9
	routed_by sftree
	all_arrive cut
	down
}

case_sftree_648_degraded() {
	gen 648 --random-guids --random-ports --seed 32 --drop-links 60 \
		--drop-switches 2
	plugin_sftree </dev/null
	all_arrive tables
	down
}

sftree_real() {
	local net=$FTR_TOPOLOGIES/$1
	[[ -r $net ]] || skip "no $1 in $FTR_TOPOLOGIES (FTR_TOPOLOGIES)"
	plugin_sftree "$net" </dev/null
	all_arrive tables
	ask_switches tables
	down
}

case_sftree_real_plafrim() { sftree_real plafrim/plafrim.net; }
case_sftree_real_topograph() { sftree_real topograph/topograph.net; }
