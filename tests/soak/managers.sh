# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Two subnet managers, "sm" and "standby".  Again and again, one of them is killed and started with
# another priority.  If this priority is lower than the master's, the manager stays standby.  If it
# is higher, the manager takes over (handover).  At equal priorities the lower GUID wins.  The test
# reads from the logs which manager is the master.

kills=0 takeovers=0 stuck=0 doubled=0 hung=0 unnoticed=0
polling=('sminfo_polling_timeout 1000' 'polling_retry_number 3')

other() { [[ $1 == sm ]] && echo standby || echo sm; }

# state_of ID: print the state that the manager's log reported last.
state_of() {
	sed -n 's/.*Entering \([A-Z]*\) state.*/\1/p' \
		"$SIM_DIR/$1/opensm.log" | tail -n 1
}

is_pair() { [[ $(state_of sm) == "$1" && $(state_of standby) == "$2" ]]; }
one_master() { is_pair MASTER STANDBY || is_pair STANDBY MASTER; }

use_master() {
	local id=sm
	[[ $(state_of sm) == MASTER ]] || id=standby
	[[ $id == "$manager" ]] || : $((++takeovers))
	is_manager "$id" "${OSM_HOST[$id]}"
}

# lid_of NODE NAME: print the LID of NODE in $T/NAME.net.
lid_of() {
	awk -v id="$1" '/^[A-Z]/ { split($0, q, "\""); on = q[2] == id }
		/^\[/ && on { sub(/.*# lid /, ""); print $1; exit }' "$T/$2.net"
}
dead_clients() { grep -c 'seems to be dead' "$SIM_DIR/ibsim.log" || true; }
ibsim_noticed() {
	SIM_HOST=$1 in_sim timeout -k 1 5 sminfo -t 100 "$2" >/dev/null 2>&1 || true
	(($(dead_clients) > $3))
}

# ibsim notices the death of a client only when it next writes to the client.  Then ibsim clears
# IsSM of the client's port, even if a new manager already uses that port (docs/upstream.md).  So
# this function makes ibsim notice the death before a new manager is started.
kill_one() {
	local left=${OSM_HOST[$(other "$1")]} dead
	dead=$(dead_clients)
	osm_kill "$1"
	sim_until 10 ibsim_noticed "$left" "$(lid_of "${OSM_HOST[$1]}" before)" "$dead" ||
		: $((++unnoticed))
}

# start_manager ID PRIORITY
start_manager() {
	priority[$1]=$2
	osm_start "$1" < <(plugin_conf < <(
		fast_conf
		printf '%s\n' "sm_priority $2" "${polling[@]}"))
	osm_wait "$1" "$patience" 'Entering [A-Z]* state'
}

two_masters() { is_pair MASTER MASTER; }

# Wait until there is one master and one standby.
#
# Two masters: a manager started while the other one took over, and did not find it.  A heavy sweep
# ends this, so the function requests sweeps.  If both remain masters, ibsim has cleared IsSM of one
# of them (see kill_one).  No master: a standby waits for an SMInfo response (see end_hang).  In
# both cases one manager is restarted.
settle_pair() {
	local id tries
	for ((tries = 0; tries < 6; tries++)); do
		! sim_until $((patience / 18)) one_master || { use_master; return; }
		id=standby
		if two_masters; then
			: $((++doubled))
			kill -HUP "${OSM_PID[sm]}" "${OSM_PID["standby"]}"
			((tries >= 2)) || continue
		else
			: $((++stuck))
			[[ $(state_of standby) != MASTER ]] || id=sm
		fi
		kill_one "$id"
		start_manager "$id" "${priority[$id]}"
	done
	fail "no single master: sm $(state_of sm), standby $(state_of standby)"
}

when_settled() {
	sim_until 30 osm_is_settled "$1" || return 0
	sleep 1
}
# In ibsim an SMInfo request between two managers may stay unanswered for ever, with or without the
# plugin (docs/upstream.md).  OpenSM counts the request as outstanding, and its next heavy sweep
# does not end.  Then this function restarts both managers.
end_hang() {
	local id tries
	for ((tries = 0; tries < 5; tries++)); do
		osm_mark "$manager"
		kill -HUP "${OSM_PID[$manager]}"
		! sim_until 40 osm_has_swept || return 0
		: $((++hung))
		id=$(other "$manager")
		kill_one "$id"
		kill_one "$manager"
		start_manager "$manager" "${priority[$manager]}"
		when_settled "$manager"
		start_manager "$id" "${priority[$id]}"
		settle_pair
	done
	fail "sweeps of $manager do not end"
}

# Restart the killed manager, with a lower priority than the other manager or with the highest.
come_back() {
	local id=$1 p=${priority[$(other "$1")]}
	((p > 0 && RANDOM % 3)) && : $((--p)) || p=15
	((RANDOM % 2)) || find "$SIM_DIR/$(other "$id")" \
		-name 'ibfattree-nominal-*' ! -name '*.tmp' -exec cp -t "$SIM_DIR/$id/" {} +
	when_settled "$(other "$id")"
	start_manager "$id" "$p"
	settle_pair
	end_hang
}

# Kill the master in three of four cases, else the standby.  If ibsim lets the standby wait for ever
# after the death of the master, restart the standby.
kill_a_manager() {
	local id=$manager left
	((RANDOM % 4)) || id=$(other "$id")
	left=$(other "$id")
	kill_one "$id"
	: $((++kills))
	[[ $id != "$manager" ]] ||
		sim_until 20 osm_said "$left" 'Entering MASTER' || {
		: $((++stuck))
		kill_one "$left"
		start_manager "$left" "${priority[$left]}"
	}
	# links may fail before the killed manager is restarted
	((RANDOM % 2)) || random_step
	come_back "$id"
}

start_pair() {
	priority[sm]=8
	OSM_HOST["standby"]=$(sim_hosts "$T/fabric.net" | tail -n 1)
	osm_mark sm
	start_manager standby 7
	settle_pair
}
