# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests real fabrics with the subnet manager on several nodes, one after the other (see places).
# Without FTR_SOAK, only the first and the last of these nodes are used, the last one only with
# dmodc.  Stock tools read the fabric and the tables, reach.awk counts unreachable LIDs, and ibdmchk
# looks for credit loops.

# Print the nodes on which a subnet manager is to run, one line "KIND NODE" for each.  Of the
# switches with hosts: the one with the most end ports, a host on it, and a host on the one with the
# fewest end ports.  Of all switches: the one with the most links to switches, and a host or an
# Aggregation Node on it.
places() {
	awk 'function q(n) { split($0, a, "\""); return a[n] }
	/^(Switch|Ca|Hca)/ { node = q(2); sw = /^Switch/
			     if (sw) all[++n] = node
			     agg = /Aggregation Node/; next }
	/^\[/ && sw { if (q(2) ~ /^S/) links[node]++; else ends[node]++ }
	/^\[/ && !sw { any[q(2)] = node; if (!agg) host[q(2)] = node }
	END {
		for (i = 1; i <= n; i++) {
			s = all[i]
			if (s in host) {
				if (!most || ends[s] > ends[most]) most = s
				if (!few || ends[s] < ends[few]) few = s
			}
			if (!top || links[s] > links[top]) top = s
		}
		print "leaf_host", host[most]
		print "leaf_switch", most
		if (few != most) print "management_host", host[few]
		print "spine_switch", top
		if (top in any) print "spine_host", any[top]
	}' "$1"
}

manager_lid() { in_sim sminfo | sed -n 's/.*sm lid \([0-9]*\).*/\1/p'; }

# reach_from ENGINE KIND NODE: start a manager on NODE, check its tables, stop the manager.
reach_from() {
	local engine=$1 kind=$2 lid
	export SIM_HOST=$3
	unset 'OSM_HOST[sm]'
	rm -rf "$SIM_DIR/sm"
	osm_start sm <<-EOF2
	event_plugin_name ibfattree
	routing_engine $engine,no_fallback
	EOF2
	osm_wait sm "$patience" 'SUBNET UP'
	routed_by "$engine"
	in_sim ibnetdiscover >"$T/found"
	in_sim dump_fts >"$T/fts"
	lid=$(manager_lid)
	awk -v manager="$lid" -f "$top/tests/sim/reach.awk" "$T/found" \
		"$T/fts" >"$T/out" || fail "$engine, $kind $3: $(cat "$T/out")"
	ibdm
	down
}

real_reach() {
	local net=$FTR_TOPOLOGIES/$1 engine kind node n=0
	[[ -r $net ]] || skip "no $1 in $FTR_TOPOLOGIES (FTR_TOPOLOGIES)"
	sim_start "$T/sim" "$net"
	shift
	while read -r kind node; do
		for engine; do
			reach_from "$engine" "$kind" "$node"
			: $((++n))
		done
		((${FTR_SOAK:-0})) || set -- dmodc
	done < <(places "$net" | if ((${FTR_SOAK:-0})); then cat
		else sed -n '1p;$p'; fi)
	note "$n routings; the last: $(cat "$T/out")"
}

case_reach_avakas() { real_reach avakas/avakas.net dmodc sftree ddlr; }
case_reach_plafrim() { real_reach plafrim/plafrim.net dmodc sftree ddlr; }
case_reach_plafrim2() { real_reach plafrim2/plafrim2a.net dmodc sftree ddlr; }
case_reach_topograph() { real_reach topograph/topograph.net dmodc sftree ddlr; }
case_reach_topograph_noan() {
	((${FTR_SOAK:-0})) || skip 'long; scripts/test soak'
	real_reach topograph/topograph-noan.net dmodc sftree ddlr
}

# Print the tables of a ring of four switches.  All packets go clockwise.
ring_tables() {
	local s
	for s in 0 1 2 3; do
		printf "Unicast lids [0-4] of switch Lid %d guid 0x0200010000000%d00 ('sw-%d'):\n" \
			$((s + 5)) $s $s
		awk -v own=$((s + 1)) 'BEGIN { for (lid = 1; lid <= 4; lid++)
			printf "0x%04x %03d # \n", lid, lid == own ? 3 : 1 }'
	done
}
walker_says() {
	local status=0
	awk -v manager=1 "${@:3}" -f "$top/tests/sim/reach.awk" "$T/fabric.net" "$T/$1" \
		>"$T/said" || status=$?
	grep -q "$2" "$T/said" || fail "the walker says: $(<"$T/said")"
	echo "$status" >"$T/status"
}
# Test of reach.awk itself, on a ring of four switches.  If all packets go clockwise, there is a
# credit loop.  If one entry leads back, there is a forwarding loop.  An entry that leads to the
# port of another host is not a path.
case_reach_walker() {
	"$ibfattree" gen torus:4 -o "$T/fabric.net"
	ring_tables >"$T/ring"
	walker_says ring '^12 pairs of host ports, 0 unreachable'
	[[ $(<"$T/status") == 0 ]] || fail 'the walker reports an error in tables without a fault'
	walker_says ring '^4 channels' -v loops=1
	[[ $(<"$T/status") != 0 ]] || fail 'the walker reports no error in spite of a credit loop'
	# a line has no cycle: packets between switches 0 and 3 pass switches 1 and 2
	awk '/^Unicast/ { s = $7 - 5 }
		/^0x/ { d = substr($1, 6) - 1; $2 = d == s ? "003" : d > s ? "001" : "002" }
		{ print }' "$T/ring" >"$T/line"
	walker_says line '^0 channels' -v loops=1
	[[ $(<"$T/status") == 0 ]] || fail 'the walker reports an error in tables without a fault'
	awk '/^Unicast/ { s = $7 - 5 } s == 1 && $1 == "0x0004" { $2 = "002" } { print }' \
		"$T/line" >"$T/back"
	walker_says back ', 2 unreachable'
	awk '/^Unicast/ { s = $7 - 5 } s == 1 && $1 == "0x0004" { $2 = "003" } { print }' \
		"$T/line" >"$T/wrong"
	walker_says wrong ', 2 unreachable'
	[[ $(<"$T/status") != 0 ]] ||
		fail 'the walker reports no error in spite of unreachable pairs'
}
