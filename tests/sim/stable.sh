# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests that routes stay the same through faults and restarts of OpenSM, and when the fabric grows.

state() { echo "$SIM_DIR"/sm/ibfattree-state-*; }
has_states() { [[ $(compgen -G "$SIM_DIR/sm/ibfattree-state-*" | wc -l) == "$1" ]]; }
# has_switches N FILE: the state file holds a nominal fabric of N switches.
has_switches() {
	(($(tail -n +2 "$2" | od -An -tu4 -j 11 -N 4) == $1))
}
has_size() { [[ $(wc -c <"$2") == "$1" ]]; }

# share_state A B: copy the state of manager A to manager B, as if they shared a directory.
share_state() {
	sim_until "$patience" state_is_written "$1" ||
		fail "manager $1 has written no state file"
	find "$SIM_DIR/$1" -name 'ibfattree-state-*' ! -name '*.tmp' \
		-exec cp -p '{}' "$SIM_DIR/$2/" ';'
}

state_is_written() {
	grep -qs dmodc "$SIM_DIR/$1"/ibfattree-state-*
}

restart() {
	osm_stop sm || fail "opensm ended with status $?"
	osm_start sm < <(plugin_conf </dev/null)
	osm_wait sm "$patience" 'SUBNET UP'
}

# opensm restarts while a link is down, and its tables stay the same.  Once the link is restored,
# the tables are the same as before the fault.
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

# A damaged state file causes one line in the log and is replaced.
case_stable_torn_file() {
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 82
	up </dev/null
	walk before
	local size
	osm_stop sm || fail "opensm ended with status $?"
	size=$(wc -c <"$(state)")
	truncate -s $((size / 2)) "$(state)"
	osm_start sm < <(plugin_conf </dev/null)
	osm_wait sm "$patience" 'SUBNET UP'
	logged 'WRN IBF113: .*ibfattree-state'
	allow 'WRN IBF113: state file not used: .*; it is replaced'
	logged 'IBF006'
	walk after
	same before after
	sim_until "$patience" has_size "$size" "$(state)" || fail "the file was not replaced"
	restart
	not_logged 'IBF113|IBF006'
	down
}

# A fabric is first seen without one of its spines.  When the spine comes up, it is added to the
# nominal fabric (all switches and links seen so far) and is reported once.
case_stable_growth() {
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 83
	local far
	far=$(sim_cables "$T/fabric.net" | sed -n 1p | cut -f 3)
	sim_start "$T/sim" "$T/fabric.net"
	sim_do "Unlink \"$far\""
	osm_start sm < <(plugin_conf </dev/null)
	osm_wait sm "$patience" 'SUBNET UP'
	logged 'IBF006: the nominal fabric is the present fabric: 11 switches'
	osm_mark sm
	sim_do "ReLink \"$far\""
	osm_wait sm "$patience" 'IBF006: the nominal fabric has changed: new_switches=1 '
	osm_settled sm "$patience"
	until_rest after
	osm_mark sm
	kill -HUP "${OSM_PID[sm]}"
	osm_wait sm "$patience" 'SUBNET UP'
	not_logged 'IBF006'
	down
}

# A spine has failed, and so have all links between another spine and a leaf.  The remaining links
# do not determine the shape of the tree.  A standby with a copy of the state file takes over with
# the same tables; a standby without a copy computes other tables.
case_stable_standby() {
	two_managers
	gen '2;6,6;1,6;1,2' --random-guids --random-ports --seed 84
	local polling=$'sminfo_polling_timeout 200\npolling_retry_number 2'
	local spine
	up <<<"sm_priority 10"$'\n'"$polling"
	walk before
	OSM_HOST["standby"]=$(sim_hosts "$T/fabric.net" | tail -n 1)
	osm_start standby < <(plugin_conf <<<"sm_priority 5"$'\n'"$polling")
	osm_wait standby "$patience" 'Entering STANDBY'
	[[ $(count_logged 'IBF113') == 0 ]]
	osm_mark sm
	spine=$(sim_cables "$T/fabric.net" | sed -n 1p | cut -f 3)
	sim_do "Unlink \"$spine\""
	pair_dies "$spine"
	until_healed cut
	differ before cut
	share_state sm standby
	kill_master sm standby
	is_manager standby "${OSM_HOST["standby"]}"
	until_healed taken
	same cut taken
	logged 'IBF006: the nominal fabric was read from .*/standby/ibfattree-state-'
	not_logged 'IBF006: the nominal fabric (is the present|has)|IBF113'
	osm_kill standby
	rm "$SIM_DIR"/standby/ibfattree-state-*
	osm_start standby < <(plugin_conf </dev/null)
	until_healed blind
	logged 'IBF006: the nominal fabric is the present fabric: 11 switches'
	differ cut blind
	down
}

simulator_ended() { ! sim_alive "$SIM_PID"; }

# Restart ibsim with another fabric, and opensm with its state files.
other_net() {
	osm_stop sm || fail "opensm ended with status $?"
	kill "$SIM_PID"
	sim_until "$patience" simulator_ended
	mv "$SIM_DIR" "$T/before"
	unset SIM_HOST 'OSM_HOST[sm]'
	sim_start "$T/sim" "$1"
	mkdir -p "$SIM_DIR/sm"
	cp -p "$T"/before/sm/{ibfattree-state*,guid2lid*,neighbors*} \
		"$SIM_DIR/sm/" 2>/dev/null || true
	rm -rf "$T/before"
	# the ports have no LIDs after the restart
	osm_start sm < <(plugin_conf <<<'honor_guid2lid_file TRUE')
	osm_wait sm "$patience" 'SUBNET UP'
}

# A cache directory was used with another fabric.  The name of the state file has the GUID of
# OpenSM's port, so the second fabric gets its own file.  If a file with this name belongs to
# another fabric, one log line reports it, and the file is replaced.
case_stable_other_fabric() {
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 85
	mv "$T/fabric.net" "$T/first.net"
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 86
	up "$T/first.net" </dev/null
	walk first
	local was own
	sim_until "$patience" has_states 1 || fail "no state file"
	was=$(state)
	other_net "$T/fabric.net"
	sim_until "$patience" has_states 2 || fail "no state file of its own: $(state)"
	own=$(state | tr ' ' '\n' | grep -vF "${was##*/}")
	not_logged 'IBF113'
	logged 'IBF006: the nominal fabric is the present fabric: 48 switches'
	sim_until "$patience" has_switches 48 "$own" || fail "not 48 switches in $own"
	# put the state of the first fabric into the second fabric's file
	osm_stop sm
	cp "$SIM_DIR/sm/${was##*/}" "$own"
	osm_start sm < <(plugin_conf </dev/null)
	osm_wait sm "$patience" 'SUBNET UP'
	logged 'WRN IBF113: .* belongs to another fabric: 0 of its 12 switches and 0 of its 36 host ports are in the present fabric; it is replaced'
	allow 'WRN IBF113: .* belongs to another fabric'
	sim_until "$patience" has_switches 48 "$own" || fail "not 48 switches in $own"
	walk second
	until_lines 64 "$SIM_DIR/sm/opensm-dmodc-ca-order.dump"
	restart
	not_logged 'IBF006|IBF113'
	down
}

# Two middle switches are replaced while opensm is not running.  The new ones have other GUIDs, but
# the same links.  Only entries of these switches' LIDs change.
case_stable_replaced_switch() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 88
	up </dev/null
	walk before
	local one two
	# the lower end of a link to a root, and the upper end of a link to a leaf
	IFS=$'\t' read -r one _ < <(sim_cables "$T/fabric.net" | sed -n 1p)
	IFS=$'\t' read -r _ _ two _ < <(sim_cables "$T/fabric.net" | sed -n '$p')
	rename "$one" "$two" <"$T/fabric.net" >"$T/new.net"
	other_net "$T/new.net"
	logged 'IBF006: the nominal fabric has changed: new_switches=0 new_links=0 new_ports=0 replaced_switches=2 '
	walk after
	# only entries of the two old and the two new LIDs may differ
	local id name
	for id in "$one" "$two"; do
		name=$(sim_name "$T/fabric.net" "$id")
		lid_of "$name" before
		lid_of "$name" after
	done | sort -u >"$T/expected"
	{ diff <(by_switch before) <(by_switch after) || true; } |
		awk '/^[<>]/ { print $3 }' | sort -u >"$T/changed"
	note "LIDs whose entries change: $(wc -l <"$T/changed")"
	[[ -s $T/changed ]] || fail 'no entry has changed'
	[[ -z $(comm -13 "$T/expected" "$T/changed") ]] ||
		fail "entries of LIDs $(xargs <"$T/changed") changed, not only of $(xargs <"$T/expected")"
	restart
	not_logged 'IBF006|IBF113'
	walk again
	same after again
	down
}

# Print the entries as "SWITCH LID PORT".  SWITCH is a name.
by_switch() {
	awk '/^Unicast/ { sw = $NF } /^0x/ { print sw, $1, $2 }' \
		"$T/$1.lfts" | sort
}

# rename SWITCH...: print a netfile with other GUIDs for these switches.
rename() {
	local -a prog=()
	local name
	for name; do
		prog+=(-e "s/${name#S-}/0b5e55ed${name: -8}/g")
	done
	sed "${prog[@]}"
}

# A manager hands over to another manager with a higher priority, and is master again later.  Then
# it reads the state that the other manager has written.  OpenSM does not report a handover to the
# plugins of the manager that hands over (docs/upstream.md).
case_stable_handback() {
	two_managers
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 89
	local polling=$'sminfo_polling_timeout 200\npolling_retry_number 2'
	local spine
	spine=$(sim_cables "$T/fabric.net" | sed -n 1p | cut -f 3)
	sim_start "$T/sim" "$T/fabric.net"
	sim_do "Unlink \"$spine\""
	OSM_HOST["low"]=$(sim_hosts "$T/fabric.net" | tail -n 1)
	osm_start low < <(plugin_conf <<<"sm_priority 5"$'\n'"$polling")
	osm_wait low "$patience" 'SUBNET UP'
	osm_start sm < <(plugin_conf <<<"sm_priority 10"$'\n'"$polling")
	osm_wait sm "$patience" 'SUBNET UP'
	osm_mark sm
	sim_do "ReLink \"$spine\""
	osm_wait sm "$patience" 'IBF006: the nominal fabric has changed: new_switches=1 '
	osm_settled sm "$patience"
	until_rest grown
	share_state sm low
	osm_mark low
	osm_stop sm
	is_manager low "${OSM_HOST["low"]}"
	osm_wait low "$patience" 'SUBNET UP'
	logged 'IBF006: the nominal fabric was read from .*/low/ibfattree-state-'
	not_logged 'IBF006: the nominal fabric has changed'
	until_healed back
	same grown back
	down
}

# Cut all links between the first leaf in the list of sim_cables and a spine that is not $1.
pair_dies() {
	local near near_port far one='' n=0
	while IFS=$'\t' read -r near near_port far _; do
		[[ $far != "$1" ]] || continue
		one=${one:-$near $far}
		[[ $one == "$near $far" ]] || continue
		sim_do "Unlink \"$near\"[$near_port]"
		: $((++n))
	done < <(sim_cables "$T/fabric.net")
	((n == 2)) || fail "$n links between $one"
}
