# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Functions of the soak test for two subnet managers, "sm" and "standby".  One of them is killed
# repeatedly, and started again with another priority.  If its priority is lower than that of the
# master, it stays standby.  If its priority is higher, it becomes master (handover).  At equal
# priorities the manager with the lower GUID becomes master.  The logs show which one is master.

kills=0 takeovers=0 stuck=0 doubled=0 hung=0 unnoticed=0
polling=('sminfo_polling_timeout 1000' 'polling_retry_number 3')

other() { [[ $1 == sm ]] && echo standby || echo sm; }

# state_of ID: print the last state in the log of manager ID.
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

# kill_one ID: kill manager ID.  ibsim notices the death of a client only when it next sends a
# packet to the client.  Then it clears IsSM of the client's port, even if a new manager already
# uses that port (docs/upstream.md).  So this function has ibsim send such a packet, before a new
# manager is started.
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
# There may be two masters: a manager that is started while the other one becomes master may not
# find the other one.  A heavy sweep ends this, so both managers get SIGHUP.  If both remain
# masters, ibsim has cleared IsSM of one of them (see kill_one), and one manager is restarted.  If
# there is no master, a standby waits for an SMInfo response (see end_hang), and is restarted.
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
# Request a sweep.  If it does not end, restart both managers.  The reason is a fault of ibsim: with
# or without the plugin, an SMInfo request between two managers may stay unanswered for ever
# (docs/upstream.md).  OpenSM counts the request as outstanding, and its next heavy sweep does not
# end.
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

# come_back ID: restart the killed manager ID.  Its priority is lower by 1 than that of the other
# manager, or it is 15, the highest.
come_back() {
	local id=$1 p=${priority[$(other "$1")]}
	((p > 0 && RANDOM % 3)) && : $((--p)) || p=15
	((RANDOM % 2)) || find "$SIM_DIR/$(other "$id")" \
		-name 'ibfattree-state-*' ! -name '*.tmp' -exec cp -t "$SIM_DIR/$id/" {} +
	when_settled "$(other "$id")"
	start_manager "$id" "$p"
	settle_pair
	end_hang
}

# Kill the master (in three of four cases) or the standby, and restart it.  If the master is killed,
# and the standby does not become master because of a fault of ibsim, restart the standby, too.
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
