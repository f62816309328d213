# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Every Set of a table is recorded in each opensm (record.c), and all pairs of hosts are followed after
# each Set (replay.c).

tree='3;4,4,4;1,4,4;1,1,1'

# record_up: start ibsim, and record the Sets of all later opensm in $T/record.
record_up() {
	[[ -e $SIM_BUILD/librecord.so ]] || skip 'no libibmad'
	sim_start "$T/sim" "$T/fabric.net"
	export FTR_RECORD=$T/record SIM_PRELOAD=${SIM_PRELOAD:+$SIM_PRELOAD:}$SIM_BUILD/librecord.so
}

# record_tree: the same with a tree of 64 hosts.
record_tree() {
	gen "$tree" --random-guids --random-ports --seed 91
	record_up
}

# ordered_conf [OPTION...]: opensm.conf of the plugin with these options; more lines are on stdin.
ordered_conf() {
	[[ $* == *balance* ]] || set -- "$@" 'balance load'
	printf '%s\n' 'takeover ordered' "$@" >"$T/ordered.conf"
	plugin_conf
	echo "event_plugin_options ibfattree:$T/ordered.conf"
}

# begin_watch CONF: start opensm, read the tables as "before", and count the states from here on.
begin_watch() {
	osm_start sm <<<"$1"
	osm_wait sm "$patience" 'SUBNET UP'
	walk before
	echo watch >>"$T/record"
}

# record_replayed RECORD NET: replay the record on the fabric that walk has read as NET.  Packets leave it
# within $life ms: packet_life_time, by default 0x12.
life=1074
record_replayed() { "$SIM_BUILD/replay" "$T/$2.net" "$1" "$life" >"$T/replay.txt" 2>&1; }

# sound: the states that were recorded since begin_watch are sound, and no manager has reported a
# transition for which it found no order.
sound() {
	record_replayed "$T/record" before || fail "$(<"$T/replay.txt")"
	grep -q '^[1-9][0-9]* states' "$T/replay.txt" || fail "$(<"$T/replay.txt")"
	never_logged 'IBF121'
	note "$(<"$T/replay.txt")"
	down
}

# spine: print the ID of a top switch.
spine() { sim_cables "$T/fabric.net" | sed -n 1p | cut -f 3; }

lose() {
	echo "cut $1" >>"$T/record"
	sim_do "Unlink \"$1\""
}

# return_empty ID: the switch returns without a table.
return_empty() {
	echo "empty $1" >>"$T/record"
	sim_do "ReLink \"$1\""
}

# power_cycle ID NET: lose a switch, let it return without a table, and wait until the tables are
# those of NET.
power_cycle() {
	osm_mark sm
	lose "$1"
	until_healed cut
	osm_mark sm
	return_empty "$1"
	until_same "$2" back
}

# A spine loses its power and returns with an empty table.  No Set may take the path away from a
# pair of hosts, or close a loop.  Then the walker is tested: it must find fault with a Set that
# empties a block of a leaf.
case_order_spine_returns() {
	local status=0
	record_tree
	begin_watch "$(plugin_conf </dev/null)"
	power_cycle "$(spine)" before
	sound
	# the first hop of a route leads to the leaf of OpenSM's host
	awk '{ print } $1 == "lft" && $3 !~ /\./ && $5 == 0 { gsub(/[0-9a-f]/, "f", $6); last = $0 }
		END { print last }' "$T/record" >"$T/broken"
	record_replayed "$T/broken" before || status=$?
	[[ $status == 1 ]] || fail "a leaf without entries: status $status, $(<"$T/replay.txt")"
}

# The same with ddlr, and a link that fails and returns.
case_order_ddlr() {
	local near port far far_port
	record_tree
	life=67	# so that the steps do not take long
	begin_watch "$(ordered_conf 'fast_timeout_ms 5000' <<<$'routing_engine ddlr\npacket_life_time 0xe')"
	IFS=$'\t' read -r near port far far_port _ < <(sim_cables "$T/fabric.net" | sed -n 1p)
	osm_mark sm
	echo "cut $near $port" >>"$T/record"
	sim_do "Unlink \"$near\"[$port]"
	until_healed cut
	osm_mark sm
	sim_do "Link \"$near\"[$port] \"$far\"[$far_port]"
	until_same before mended
	power_cycle "$far" before
	sound
}

# dmodc replaces the tables of updn.
case_order_takeover() {
	gen "$tree" --random-guids --drop-links 9 --seed 74
	record_up
	begin_watch 'routing_engine updn'
	osm_stop sm || fail "opensm ended with status $?"
	osm_start sm < <(ordered_conf 'fast_timeout_ms 5000' </dev/null)
	osm_wait sm "$patience" 'SUBNET UP'
	walk after
	differ before after
	sound
}

# opensm ends; a spine loses its power; opensm starts; and the same when the spine returns.
case_order_restart() {
	local it
	record_tree
	begin_watch "$(ordered_conf </dev/null)"
	it=$(spine)
	osm_stop sm || fail "opensm ended with status $?"
	lose "$it"
	osm_start sm < <(ordered_conf </dev/null)
	osm_wait sm "$patience" 'SUBNET UP'
	until_healed cut
	differ before cut
	osm_stop sm || fail "opensm ended with status $?"
	return_empty "$it"
	osm_start sm < <(ordered_conf </dev/null)
	osm_wait sm "$patience" 'SUBNET UP'
	until_same before back
	sound
}

# A spine returns, and the manager ends after some Sets of tables.  The standby does the rest.
case_order_handover() {
	local polling=$'sminfo_polling_timeout 200\npolling_retry_number 2' it
	two_managers
	record_tree
	begin_watch "$(ordered_conf <<<"sm_priority 10"$'\n'"$polling")"
	it=$(spine)
	OSM_HOST["standby"]=$(sim_hosts "$T/fabric.net" | tail -n 1)
	osm_start standby < <(ordered_conf <<<"sm_priority 5"$'\n'"$polling")
	osm_wait standby "$patience" 'Entering STANDBY'
	osm_mark sm
	lose "$it"
	until_healed cut
	share_state sm standby
	printf %016d 0 >"$T/record.end"	# in the middle of a transition of 26 blocks
	return_empty "$it"
	sim_until "$patience" sim_gone "${OSM_PID["sm"]}" || fail 'the manager did not end'
	osm_stop sm || fail "opensm ended with status $?"
	[[ ! -s $T/record.end ]] || fail 'the manager ended before these Sets'
	is_manager standby "${OSM_HOST["standby"]}"
	osm_wait standby "$patience" 'SUBNET UP'
	until_same before back
	[[ $(awk '$1 == "empty" { on = 1 } $1 == "lft" && on { print $2 }' "$T/record" |
		sort -u | wc -l) == 2 ]] || fail 'only one manager has written tables'
	sound
}

# SIGHUP: the file of root switches has changed.
case_order_roots() {
	record_tree
	life=67	# so that the steps between which packets are waited for do not take too long
	spine | sed 's/^S-/0x/' >"$T/roots"
	begin_watch "$(ordered_conf <<<"root_guid_file $T/roots"$'\npacket_life_time 0xe')"
	sim_cables "$T/fabric.net" | cut -f 1 | tail -n 1 | sed 's/^S-/0x/' >"$T/roots"
	resweep
	until_healed after
	differ before after
	sound
}

# SIGHUP: the options have changed; before that, with a file that has an error, which changes nothing.
case_order_options() {
	gen "$tree" --random-guids --random-ports --drop-links 9 --seed 91
	record_up
	begin_watch "$(ordered_conf 'balance off' </dev/null)"
	printf '%s\n' 'takeover ordered' 'balance full' 'leaf_order size' >"$T/ordered.conf"
	until_same before bad
	logged "ERR IBF201.*$T/ordered.conf:3: leaf_order is \"size\", not one of: guid, name; the options stay as they were"
	allow 'ERR IBF201.*ordered.conf:3'
	printf '%s\n' 'takeover ordered' 'balance load' 'threads 1' >"$T/ordered.conf"
	resweep
	logged 'IBF013: option balance is load now, not off'
	logged 'IBF123: option threads is 1 now, but 0 stays in use'
	until_healed after
	differ before after
	sound
}

# The background search ends, and its tables are written.
case_order_search() {
	gen '2;12,12;1,6;1,2' --random-guids --drop-links 9 --seed 71
	record_up
	begin_watch "$(ordered_conf </dev/null)"
	osm_stop sm || fail "opensm ended with status $?"
	osm_start sm < <(ordered_conf 'balance full' 'fast_timeout_ms 500' </dev/null)
	osm_wait sm "$patience" 'IBF008: dmodc: search done'
	until_rest found
	differ before found
	sound
}

# A switch is drained, dies, returns, and is in use again.
case_order_drain() {
	local it
	record_tree
	begin_watch "$(plugin_conf </dev/null)"
	it=$(spine)
	drain drain "0x${it#S-}" >"$T/drained.txt" || fail "drain: $(<"$T/drained.txt")"
	live drained || true	# other switches do not reach the drained one
	differ before drained
	osm_mark sm
	lose "$it"
	until_healed dead
	osm_mark sm
	return_empty "$it"
	osm_settled sm "$patience"
	drain undrain --all
	until_same before back
	sound
}

# A spine of a real fabric loses its power and returns.
case_order_real() {
	local real=$FTR_TOPOLOGIES/topograph/topograph.net
	[[ -r $real ]] || skip "no topograph.net in $FTR_TOPOLOGIES (FTR_TOPOLOGIES)"
	cp "$real" "$T/fabric.net"
	record_up
	begin_watch "$(plugin_conf </dev/null)"
	power_cycle "$(spine)" before
	sound
}
