# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests in which links and switches fail and return.

cable() {
	IFS=$'\t' read -r near near_port far far_port _ < \
		<(sim_cables "$T/fabric.net" | sed -n 1p)
	[[ -n $near ]] || fail "no link to cut"
}

link_down_and_up() {
	up </dev/null
	walk before
	cable
	osm_mark sm
	sim_do "Unlink \"$near\"[$near_port]"
	until_healed cut
	routed_by dmodc
	differ before cut
	osm_mark sm
	sim_do "Link \"$near\"[$near_port] \"$far\"[$far_port]"
	until_same before after
	routed_by dmodc
	down
}

case_link_down_and_up_2_levels() {
	gen '2;6,12;1,6;1,1' --random-guids --random-ports --seed 21
	link_down_and_up
}

case_link_down_and_up_3_levels() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 22
	link_down_and_up
}

case_parallel_link_down_and_up() {
	gen '2;6,6;1,3;1,2' --random-guids --random-ports --seed 23
	link_down_and_up
}

case_spine_fails_and_returns() {
	gen '2;6,12;1,6;1,1' --random-guids --random-ports --seed 24
	up </dev/null
	walk before
	cable
	osm_mark sm
	sim_do "Unlink \"$far\""
	until_healed cut
	routed_by dmodc
	differ before cut
	! grep -q "${far#S-}" "$T/cut.net" || fail "the failed spine is still in the fabric"
	osm_mark sm
	sim_do "ReLink \"$far\""
	until_same before after
	down
}

case_host_fails_and_returns() {
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 25
	up </dev/null
	walk before
	local host
	host=$(sim_hosts "$T/fabric.net" | sed -n 20p)
	osm_mark sm
	sim_do "Unlink \"$host\""
	until_healed cut
	osm_mark sm
	sim_do "ReLink \"$host\""
	until_same before after
	down
}
