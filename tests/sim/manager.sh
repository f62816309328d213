# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests of the handover between subnet managers, of SIGHUP, console commands and multicast.

case_handover() {
	two_managers
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 31
	local polling=$'sminfo_polling_timeout 300\npolling_retry_number 2'
	up <<<"sm_priority 10"$'\n'"$polling"
	walk master
	OSM_HOST["standby"]=$(sim_hosts "$T/fabric.net" | tail -n 1)
	plugin_conf <<<"sm_priority 5"$'\n'"$polling" >"$T/standby.conf"
	osm_start standby <"$T/standby.conf"
	osm_wait standby "$patience" 'Entering STANDBY'
	walk both
	same master both
	osm_mark standby
	kill_master sm standby
	osm_wait standby "$patience" 'SUBNET UP'
	[[ $(osm_engine standby) == dmodc ]] ||
		fail "after the take-over '$(osm_engine standby)' routes"
	SIM_HOST=${OSM_HOST["standby"]} walk standby
	same master standby
	osm_stop standby
}

case_sighup() {
	gen '2;6,6;1,6;1,1' --random-guids --seed 32
	up </dev/null
	walk before
	for _ in 1 2 3; do
		osm_mark sm
		kill -HUP "${OSM_PID[sm]}"
		osm_wait sm "$patience" 'IBF002'
		osm_wait sm "$patience" 'SUBNET UP'
	done
	routed_by dmodc
	walk after
	same before after
	down
}

case_console_reroute() {
	gen '2;6,6;1,6;1,1' --random-guids --seed 33
	up <<<'console local'
	walk before
	osm_mark sm
	osm_do sm reroute
	osm_wait sm "$patience" 'IBF002'
	routed_by dmodc
	walk after
	same before after
	down
}

# Let every 7th host join a group.  Print the MLID and the number of these hosts.
joined() {
	local n=0 host mlid
	for host in $(sim_hosts "$T/fabric.net" | awk 'NR % 7 == 0'); do
		mlid=$(SIM_HOST=$host in_sim "$SIM_BUILD/mcjoin" "$1") ||
			fail "$host cannot join"
		: $((++n))
	done
	echo "$mlid $n"
}

# spans MLID N: ibdmchk must report N hosts in this group, and no error such as a loop or a
# disconnected part.
spans() {
	ibdm
	grep -Eiq "Multicast Group:$1 has:[0-9]+ switches and:$2 HCAs" \
		"$T/ibdmchk.txt" || {
		grep -i multicast "$T/ibdmchk.txt" >&2
		fail "multicast group $1 does not span $2 hosts"
	}
}

fresh_dumps() {
	osm_mark sm
	kill -HUP "${OSM_PID[sm]}"
	osm_wait sm "$patience" 'SUBNET UP'
	sim_until "$patience" test -s "$SIM_DIR/sm/opensm.mcfdbs"
}

case_multicast() {
	[[ -x $SIM_BUILD/mcjoin ]] || skip "built without libibmad"
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 34
	up </dev/null
	local mlid n far
	read -r mlid n < <(joined 1)
	[[ ${n:-0} -gt 5 ]] || fail "only '${n:-0}' hosts could join"
	fresh_dumps
	spans "$mlid" "$n"
	IFS=$'\t' read -r _ _ far _ < <(sim_cables "$T/fabric.net" | sed -n 1p)
	[[ -n $far ]]
	osm_mark sm
	sim_do "Unlink \"$far\""
	until_healed cut
	fresh_dumps
	spans "$mlid" "$n"
	routed_by dmodc
	down
}
