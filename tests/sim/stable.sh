# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Routes stay where they are: through faults, through restarts of OpenSM, and
# when the fabric grows.

state() { echo "$SIM_DIR/sm/ibfattree-nominal"; }

restart() {
	osm_stop sm || fail "opensm ended with status $?"
	osm_start sm < <(plugin_conf </dev/null)
	osm_wait sm "$patience" 'SUBNET UP'
}

# An opensm that has seen only the damaged fabric before it was restarted, or
# only after, gives the same tables.
case_stable_restart() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 81
	up </dev/null
	walk before
	local near near_port far far_port
	IFS=$'\t' read -r near near_port far far_port _ < \
		<(sim_cables "$T/fabric.net" | sed -n 1p)
	osm_mark sm
	sim_do "Unlink \"$near\"[$near_port]"
	osm_wait sm "$patience" 'IBF005:'
	osm_settled sm "$patience"
	walk cut
	differ before cut
	restart
	not_logged 'IBF006'
	walk again
	same cut again
	agreed again
	osm_mark sm
	sim_do "Link \"$near\"[$near_port] \"$far\"[$far_port]"
	until_same before after
	down
}

# A state file that is torn costs a line in the log, and is made anew.
case_stable_torn_file() {
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 82
	up </dev/null
	walk before
	local size
	size=$(wc -c <"$(state)")
	osm_stop sm || fail "opensm ended with status $?"
	truncate -s $((size / 2)) "$(state)"
	osm_start sm < <(plugin_conf </dev/null)
	osm_wait sm "$patience" 'SUBNET UP'
	logged 'WRN IBF113: .*ibfattree-nominal'
	allow 'WRN IBF113: the state file is made anew'
	logged 'IBF006'
	walk after
	same before after
	[[ $(wc -c <"$(state)") == "$size" ]] || fail "it was not made anew"
	restart
	not_logged 'IBF113|IBF006'
	down
}

# First seen without one of its spines; the spine is adopted once, and told of.
case_stable_growth() {
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 83
	local far
	far=$(sim_cables "$T/fabric.net" | sed -n 1p | cut -f 3)
	sim_start "$T/sim" "$T/fabric.net"
	sim_do "Unlink \"$far\""
	osm_start sm < <(plugin_conf </dev/null)
	osm_wait sm "$patience" 'SUBNET UP'
	logged 'IBF006: the nominal fabric is what is seen now: 11 switches'
	osm_mark sm
	sim_do "ReLink \"$far\""
	osm_wait sm "$patience" 'IBF006: the nominal fabric has changed: new 1 switches'
	osm_settled sm "$patience"
	until_healed after
	osm_mark sm
	kill -HUP "${OSM_PID[sm]}"
	osm_wait sm "$patience" 'SUBNET UP'
	not_logged 'IBF006'
	down
}

# A spine is dead, and all cables of another pair of spine and leaf: what is seen
# does not tell what the tree was.  A standby that has a copy of the state file
# takes over with the tables that were; one that has none cannot.
case_stable_standby() {
	gen '2;6,6;1,6;1,2' --random-guids --random-ports --seed 84
	local polling=$'sminfo_polling_timeout 200\npolling_retry_number 2'
	local spine
	up <<<"sm_priority 10"$'\n'"$polling"
	walk before
	OSM_HOST["standby"]=$(sim_hosts "$T/fabric.net" | tail -n 1)
	osm_start standby < <(plugin_conf <<<"sm_priority 5"$'\n'"$polling")
	osm_wait standby "$patience" 'Entering STANDBY'
	cp "$(state)" "$SIM_DIR/standby/"
	osm_mark sm
	spine=$(sim_cables "$T/fabric.net" | sed -n 1p | cut -f 3)
	sim_do "Unlink \"$spine\""
	pair_dies "$spine"
	until_healed cut
	differ before cut
	osm_kill sm
	is_manager standby "${OSM_HOST["standby"]}"
	until_healed taken
	same cut taken
	not_logged 'IBF006|IBF113'
	osm_kill standby
	rm "$SIM_DIR/standby/ibfattree-nominal"
	osm_start standby < <(plugin_conf </dev/null)
	until_healed blind
	logged 'IBF006: the nominal fabric is what is seen now: 11 switches'
	differ cut blind
	down
}

# All cables between the first leaf of the list and a spine that is not this one.
pair_dies() {
	local near near_port far one='' n=0
	while IFS=$'\t' read -r near near_port far _; do
		[[ $far != "$1" ]] || continue
		one=${one:-$near $far}
		[[ $one == "$near $far" ]] || continue
		sim_do "Unlink \"$near\"[$near_port]"
		: $((++n))
	done < <(sim_cables "$T/fabric.net")
	((n == 2)) || fail "$n cables between $one"
}
