# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# ibutils reads the cable plans that "ibfattree topo" writes, and both read the same links from the
# plans of ibutils.

topo() { "$top/src/command/convert/ibfattree-topo" "$@"; }

# Print the links that libibdm reads from a plan: "node port node port".  A system with one chip
# gives the node its name.
topo_links_ibdm() {
	cat >"$T/links.tcl" <<-'EOF'
	proc label {node} {
		set system [IBNode_p_system_get $node]
		if {[llength [IBSystem_NodeByName_get $system]] == 1} {
			return [IBSystem_name_get $system]
		}
		return [IBNode_name_get $node]
	}
	set f [new_IBFabric]
	IBFabric_parseTopology $f [lindex $argv 0]
	foreach pair [IBFabric_NodeByName_get $f] {
		set node [lindex $pair 1]
		for {set p 1} {$p <= [IBNode_numPorts_get $node]} {incr p} {
			set port [IBNode_getPort $node $p]
			if {$port == ""} continue
			set far [IBPort_p_remotePort_get $port]
			if {$far == ""} continue
			puts "LINK [label $node] $p [label [IBPort_p_node_get $far]] [IBPort_num_get $far]"
		}
	}
	EOF
	ibdmsh "$T/links.tcl" "$1" 2>&1 | sed -n 's/^LINK //p' | sort
}

# Print the same links of a netfile.
topo_links() {
	awk -F'"' '/^(Switch|Ca)/ { name = $4 }
		/^\[/ { split($1, own, /[][]/); split($3, far, /[][]/)
			print name, own[2], $4, far[2] }' "$1" | sort
}

# The plans of the package ibutils: chassis of several boards, with and without missing boards.
case_topo_read() {
	want ibdmsh
	local plan n=0
	for plan in /usr/lib/*/ibdm*/ibnl/*.topo; do
		[[ -e $plan ]] || skip "ibutils has no plans"
		topo "$plan" -o "$T/net"
		topo_links_ibdm "$plan" >"$T/ibdm"
		topo_links "$T/net" >"$T/ours"
		[[ -s $T/ibdm ]] || fail "libibdm reads no links from $plan"
		diff "$T/ibdm" "$T/ours" >"$T/differ" || fail "$plan: $(head -n 5 "$T/differ")"
		: $((++n))
	done
	echo "measured: $n plans"
}

# libibdm reads our plans, and our reader gets the same fabric back.
case_topo_write() {
	want ibdmsh
	local seed
	for seed in 1 2 3; do
		"$ibfattree" gen "3;3,2,4;1,2,2;1,1,2" --random-guids --random-ports --drop-links 2 \
			--seed "$seed" -o "$T/f.net"
		topo --write "$T/f.net" --ibnl "$T/ibnl" -o "$T/f.topo"
		topo_links "$T/f.net" >"$T/ours"
		IBDM_IBNL_PATH=$T/ibnl topo_links_ibdm "$T/f.topo" >"$T/ibdm"
		diff "$T/ours" "$T/ibdm" >"$T/differ" || fail "$(head -n 5 "$T/differ")"
		topo "$T/f.topo" --ibnl "$T/ibnl" --guids "$T/f.net" -o "$T/back.net"
		topo_links "$T/back.net" | diff "$T/ours" - || fail "read back"
		diff <(grep -o '^[SC]w*itch.*"\|^Ca.*"' "$T/f.net" | tr -s '\t ' ' ' | sort) \
			<(grep -o '^[SC]w*itch.*"\|^Ca.*"' "$T/back.net" | tr -s '\t ' ' ' | sort) |
			head -n 5 >"$T/differ"
		[[ ! -s $T/differ ]] || fail "GUIDs: $(cat "$T/differ")"
	done
}
