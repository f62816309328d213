# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests drains: a drained switch carries no traffic of others, its death changes no entry, and
# undrain brings back the same tables.

drain() {
	local command=$1
	shift
	in_sim "$ibfattree" "$command" --conf "$SIM_DIR/sm/opensm.conf" \
		--status "$SIM_DIR/sm" "$@"
}

# entries NAME LID: print all entries except those of the LID and those of its switch.
entries() {
	awk -v lid="$2" -v own="$3" '/^Unicast/ { skip = index($0, own) }
		/^0x/ && $1 != lid && !skip { print $1, $2 }
		/^Unicast/ && !skip { print }' "$T/$1.lfts"
}

# avoided NAME SWITCH LID: no leaf sends to another LID than that of the switch over a link to the
# switch.
avoided() {
	local near near_port far
	while IFS=$'\t' read -r near near_port far _; do
		[[ $far == "$2" ]] || continue
		awk -v own="${near#S-}" -v port="$near_port" -v lid="$3" '
			/^Unicast/ { mine = index($0, own) }
			/^0x/ && mine && $1 != lid && $2 + 0 == port { bad = 1; print }
			END { exit bad }' "$T/$1.lfts" >"$T/over" ||
			fail "$near sends over the drained link at port $near_port: $(cat "$T/over")"
	done < <(sim_cables "$T/fabric.net")
}

case_drain_spine() {
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 91
	up </dev/null
	walk before
	local spine guid lid
	spine=$(sim_cables "$T/fabric.net" | sed -n 1p | cut -f 3)
	guid=0x${spine#S-}
	lid=$(lid_of "$(sim_name "$T/fabric.net" "$spine")" before)

	! drain drain no-such-switch 2>"$T/unknown" || fail 'an unknown name was accepted'
	grep -q 'no-such-switch: no switch has that name' "$T/unknown"
	drain drain --dry-run "$guid" >"$T/dry"
	[[ ! -e $T/calm.conf.drains ]] || fail '--dry-run has written a file'
	local start=$SECONDS
	drain drain "$guid" >"$T/drained.txt" || fail "drain: $(cat "$T/drained.txt")"
	note "drain: $((SECONDS - start)) s"
	grep -qx 'safe to unplug' "$T/drained.txt" || fail "$(cat "$T/drained.txt")"
	live drained || true
	differ before drained
	[[ $("$SIM_BUILD/jsonq" "$SIM_DIR/sm/ibfattree-status.json" missing_links) == 0 ]] ||
		fail 'drained links count as missing'
	avoided drained "$spine" "$lid"
	sim_until "$patience" grep -Eq "^ibfattree_drained_since_timestamp_seconds\\{guid=\"$guid\",port=\"0\",by=\"[^\"]+\",name=\"[^\"]+\"} [1-9][0-9]{9}\$" \
		"$SIM_DIR/sm/ibfattree.prom" || fail "$(grep drained "$SIM_DIR/sm/ibfattree.prom")"

	osm_mark sm
	sim_do "Unlink \"$spine\""
	osm_settled sm "$patience"
	resweep
	live dead || true
	diff <(entries drained "$lid" "${spine#S-}") <(entries dead "$lid" "${spine#S-}") \
		>"$T/changed" || fail "entries changed: $(head "$T/changed")"
	osm_mark sm
	sim_do "ReLink \"$spine\""
	osm_settled sm "$patience"
	drain drains >"$T/list" || fail "drains: $(cat "$T/list")"
	grep -q "$guid" "$T/list"
	drain undrain "$guid"
	until_same before after
	! grep drained_since "$SIM_DIR/sm/ibfattree.prom" || fail 'a drained part in the metrics'
	# one record for the drain, and one without a drained part
	grep -o '"event":"drains".*"number_drained":[01]' "$SIM_DIR/sm/ibfattree-events.jsonl" |
		sed 's/.*://' | tr '\n' ' ' >"$T/drain-events"
	[[ $(<"$T/drain-events") == '1 0 ' ]] ||
		fail "records of drains: $(<"$T/drain-events")"
	down
}

# A bad file is reported with its line, and the drains stay as they were.
case_drain_bad_file() {
	gen '2;4,4;1,4;1,1' --random-guids --seed 92
	up </dev/null
	walk before
	printf 'request 1\nspine 0 1 root\n' >"$T/calm.conf.drains"
	allow 'ERR IBF213: '
	osm_wait sm "$patience" 'ERR IBF213: .*calm.conf.drains:2: expected a GUID'
	rm "$T/calm.conf.drains"
	printf 'request 1\n' >"$T/real"
	ln -s "$T/real" "$T/calm.conf.drains"
	osm_wait sm "$patience" 'ERR IBF213: .*calm.conf.drains: .*link'
	resweep
	walk after
	same before after
	down
}

# A drain survives a restart of opensm, and a standby that takes over keeps it.  (The link on which the
# LID of the spine stays reachable depends on the host of the manager.)
case_drain_survives() {
	two_managers
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 93
	local polling=$'sminfo_polling_timeout 200\npolling_retry_number 2' guid spine lid
	up <<<"sm_priority 10"$'\n'"$polling"
	walk before
	spine=$(sim_cables "$T/fabric.net" | sed -n 1p | cut -f 3)
	guid=0x${spine#S-}
	lid=$(lid_of "$(sim_name "$T/fabric.net" "$spine")" before)
	drain drain "$guid" >"$T/drained.txt" || fail "drain: $(<"$T/drained.txt")"
	live drained || true
	differ before drained
	osm_stop sm || fail "opensm ended with status $?"
	osm_start sm < <(plugin_conf <<<"sm_priority 10"$'\n'"$polling")
	osm_wait sm "$patience" 'SUBNET UP'
	osm_settled sm "$patience"
	live again || true
	same drained again
	drain drains >"$T/list" || fail "drains: $(<"$T/list")"
	grep -q "$guid" "$T/list"

	OSM_HOST["standby"]=$(sim_hosts "$T/fabric.net" | tail -n 1)
	osm_start standby < <(plugin_conf <<<"sm_priority 5"$'\n'"$polling")
	osm_wait standby "$patience" 'Entering STANDBY'
	share_state sm standby
	kill_master sm standby
	is_manager standby "${OSM_HOST["standby"]}"
	osm_wait standby "$patience" 'SUBNET UP'
	live taken || true
	avoided taken "$spine" "$lid"
	down
}
