# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests that the engine routes fabrics of all kinds.  The tables in the switches must be complete,
# without loops and credit loops.

comes_up() {
	routed_by dmodc
	walk tables --switch-sources
	logged 'IBF002'
	down
}

case_two_levels() {
	gen '2;6,12;1,6;1,1' --random-guids --random-ports --seed 11
	up </dev/null
	ibdm
	comes_up
}

case_three_levels() {
	gen '3;4,4,8;1,4,4;1,1,1' --random-guids --random-ports --seed 12
	up </dev/null
	ibdm
	comes_up
}

case_parallel_links() {
	gen '3;4,4,4;1,2,2;1,2,2' --random-guids --random-ports --seed 13
	up </dev/null
	ibdm
	comes_up
}

case_hosts_with_two_ports() {
	gen '2;4,8;2,4;1,1' --random-guids --random-ports --seed 14
	up </dev/null
	comes_up
}

case_degraded() {
	gen 648 --random-guids --random-ports --seed 15 --drop-links 30 \
		--drop-switches 1 --drop-hosts 40
	up </dev/null
	comes_up
}

case_648_hosts() {
	gen 648 --random-guids --random-ports --seed 16
	up </dev/null
	ibdm
	comes_up
}

# ibdmchk is of no use here.  With an LMC it expects aligned LIDs of switches, too, and ends before
# it has counted the hops, even with correct tables.
case_lmc_2() {
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 17
	up <<<'lmc 2'
	comes_up
}

case_root_guid_file() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --seed 18
	awk '/^switchguid=/ { guid = $0; sub(/.*=0x/, "", guid)
			      sub(/[^0-9a-f].*/, "", guid) }
	     /^Switch/ && /"sw-3-/ { print "0x" guid }' \
		"$T/fabric.net" >"$T/roots"
	[[ -s $T/roots ]] || fail "no top switch found in the netfile"
	up <<<"root_guid_file $T/roots"
	comes_up
}

# Real fabrics, which are not part of this repository.
real() {
	local net=$FTR_TOPOLOGIES/$1
	[[ -r $net ]] || skip "no $1 in $FTR_TOPOLOGIES (FTR_TOPOLOGIES)"
	up "$net" </dev/null
	routed_by dmodc
	walk tables
	down
}

case_real_avakas() { real avakas/avakas.net; }
case_real_plafrim() { real plafrim/plafrim.net; }
case_real_plafrim2() { real plafrim2/plafrim2a.net; }
case_real_topograph() { real topograph/topograph.net; }
case_real_topograph_noan() { real topograph/topograph-noan.net; }

# Files with unknown GUIDs are reported, and the engine routes without them.
case_guid_files_of_another_fabric() {
	gen '2;4,4;1,4;1,1' --seed 18
	echo 0x99 >"$T/guids"
	up <<-EOF
	cn_guid_file $T/guids
	io_guid_file $T/guids
	EOF
	logged "IBF107.*cn_guid_file $T/guids names no port"
	logged "IBF107.*io_guid_file $T/guids names no port"
	comes_up
}

# Two leaves have compute nodes, two have I/O nodes.  The I/O nodes are not in the list of compute
# nodes, but still reach each other.
case_cn_guid_file() {
	gen '2;4,4;1,4;1,1' --seed 17
	local net=$T/fabric.net
	awk -F'[()]' '/^Ca/ { n = $0; sub(/.*"host-/, "", n); cn = n + 0 < 8 }
		/^\[1\]\(/ && cn { print "0x" $2; cn = 0 }' "$net" >"$T/cn"
	[[ $(wc -l <"$T/cn") == 8 ]] || fail "$(cat "$T/cn")"
	up <<<"cn_guid_file $T/cn"
	logged 'IBF002.* 2 ranks.*, 2 leaves.*without a path: 0 host pairs'
	comes_up
	until_lines 8 "$SIM_DIR/sm/opensm-dmodc-ca-order.dump"
}
