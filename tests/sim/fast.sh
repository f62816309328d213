# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# The fast path: from a trap to healed tables, before OpenSM sweeps; and that
# the sweep then finds nothing to do.
#
#	FTR_SOAK=1	every cable and every spine, long random schedules

# fast_up [LINE...]: up, with these lines of ibfattree.conf, and lines of
# opensm.conf on stdin.
fast_up() {
	[[ $* == *fast_sweep_delay_ms* ]] || set -- "$@" 'fast_sweep_delay_ms 100'
	printf '%s\n' "$@" >"$T/ibfattree.conf"
	up < <(echo "event_plugin_options ibfattree:$T/ibfattree.conf"; cat)
	up_cables=$(sim_cables "$T/fabric.net" | cut -f 1-4)
}

# The Nth cable of the list, into near, near_port, far, far_port.
pick() {
	IFS=$'\t' read -r near near_port far far_port < \
		<(sed -n "${1}p" <<<"$up_cables")
	[[ -n $near ]] || fail "there is no cable $1"
}

cut_it() { sim_do "Unlink \"$near\"[$near_port]"; }
mend_it() {
	sim_do "Link \"$near\"[$near_port] \"$far\"[$far_port]"
}

repaired() { osm_wait sm "$patience" "IBF004: .* $1"; }
reconciled() {
	osm_wait sm "$patience" 'IBF005:'
	logged 'IBF005: .* changed 0 entries'
	osm_settled sm "$patience"
}

same_as() { live "$2" && cmp -s "$T/$1.lfts" "$T/$2.lfts"; }
until_same() {
	sim_until "$patience" same_as "$1" "$2" || same "$1" "$2"
}

# The last word is that of a sweep; traps of a fault just made may be late.
at_rest() {
	sim_until "$patience" osm_is_settled sm || fail "there is no end of sweeps"
}

# One cable dies and returns: healed before the sweep, nothing left for it, and
# afterwards all is as it was.
die_and_return() {
	osm_mark sm
	cut_it
	repaired 'down'
	walk mid
	differ before mid
	reconciled
	walk cut
	same mid cut
	agreed cut
	osm_mark sm
	mend_it
	until_same before after
	at_rest
}

quiet() { not_logged 'ERR IBF|WRN IBF1(0[89]|1[0-9])'; }

# The last event of the file, well-formed, and what it says.
event() {
	tail -n 1 "$SIM_DIR/sm/ibfattree-events.jsonl" >"$T/event.json"
	"$SIM_BUILD/jsonq" "$T/event.json" "$1"
}

# Every member that the last event has is told of in the manual.
told_of() {
	local key
	event event >/dev/null
	for key in $("$SIM_BUILD/jsonq" --keys "$T/event.json" | sort -u); do
		grep -qw "$key" "$top/man/ibfattree-json.5" ||
			fail "the event has '$key', ibfattree-json(5) has not"
	done
}

# Traffic under what was written, when it was: packets are lost from the cut on,
# and none any more once the last block is there.
replayed() {
	local last us
	last=$(event ms.last)
	us=$(awk "BEGIN { print int($last * 1000) + 1000 }")
	"$ibfattree" sim "$T/before.net" --lfts "$T/before.lfts" --load 5 \
		--events "$T/event.json" --events-at 50us --warmup 0us \
		--duration "${us}us" --series 20 --json >"$T/replay.json" &&
		fail 'nothing is lost in the replay'
	[[ $("$SIM_BUILD/jsonq" "$T/replay.json" runs.0.lost.dead_port) != 0 &&
	   $("$SIM_BUILD/jsonq" "$T/replay.json" runs.0.series.19.lost) == 0 ]] ||
		fail "the replay says: $(cat "$T/replay.json")"
}

case_fast_link_2_levels() {
	gen '2;6,12;1,6;1,1' --random-guids --random-ports --seed 61
	fast_up 'fast_sweep_delay_ms 1500' </dev/null
	walk before
	pick 1
	die_and_return
	[[ $(event event) == link-up ]] || fail "event '$(event event)'"
	quiet
	down
}

case_fast_link_3_levels() {
	gen '3;4,4,8;1,4,4;1,1,1' --random-guids --random-ports --seed 62
	fast_up 'fast_sweep_delay_ms 1500' </dev/null
	walk before
	pick 100
	osm_mark sm
	cut_it
	repaired down
	walk mid
	reconciled
	sim_until 10 test -s "$SIM_DIR/sm/ibfattree-events.jsonl"
	[[ $(event event) == link-down && $(event cables.0.up) == false &&
	   $(event reconcile.entries) == 0 && $(event failed) == 0 ]] ||
		fail "the event says: $(cat "$T/event.json")"
	told_of
	replayed
	quiet
	down
}

case_fast_parallel_link() {
	gen '2;6,6;1,3;1,2' --random-guids --random-ports --seed 63
	fast_up </dev/null
	walk before
	pick 1
	die_and_return
	quiet
	down
}

case_fast_sftree() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 64
	fast_up < <(echo 'routing_engine sftree')
	walk before --switch-sources
	pick 3
	die_and_return
	quiet
	down
}

# A cable of the subtree's root: the order of switches no longer connects all.
# What has no path is told of, and is none of the hosts; the sweep finds another
# order.
case_fast_sftree_root() {
	local root
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 64
	fast_up < <(echo 'routing_engine sftree')
	walk before --switch-sources
	root=$(sed -n 's/.* subtree root \([^,]*\), .*/\1/p' \
		"$SIM_DIR/sm/opensm.log" | tail -n 1)
	root=$(sed -n "s/^Switch.*\"\(S-[0-9a-f]*\)\".*\"$root\".*/\1/p" \
		"$T/fabric.net")
	pick "$(grep -n "$root" <<<"$up_cables" | sed -n '1s/:.*//p')"
	osm_mark sm
	cut_it
	repaired 'down; .* \([0-9]* have no path now\)'
	live mid || true	# ways to switches are missing, or not any more
	[[ $(grep -Ec 'end port -> end port .*, all arrive|^loops *none' \
		"$T/mid.txt") == 2 ]] || fail "hosts suffer: $(cat "$T/mid.txt")"
	osm_wait sm "$patience" 'IBF005:'
	osm_settled sm "$patience"
	walk after --switch-sources
	grep -Eq 'end port -> switch .*, all arrive' "$T/after.txt" ||
		fail 'switches are not reached after the sweep'
	quiet
	down
}

# The cables of a tree, one after the other; all of them in a soak.
case_fast_every_cable() {
	gen '3;4,4,8;1,4,4;1,1,1' --random-guids --random-ports --seed 65
	fast_up </dev/null
	walk before
	local n i step=41
	n=$(wc -l <<<"$up_cables")
	((!${FTR_SOAK:-0})) || step=1
	for ((i = 1; i <= n; i += step)); do
		pick "$i"
		die_and_return
	done
	quiet
	down
}

# All cables of a switch go at once.
spine_dies() {
	local spine=$1
	osm_mark sm
	sim_do "Unlink \"$spine\""
	repaired down
	osm_wait sm "$patience" 'IBF005:'
	until_healed cut
	osm_mark sm
	sim_do "ReLink \"$spine\""
	until_same before after
	osm_settled sm "$patience"
}

case_fast_every_spine() {
	gen '3;4,4,8;1,4,4;1,1,1' --random-guids --random-ports --seed 66
	fast_up </dev/null
	walk before
	local spine n=0
	local -a spines
	mapfile -t spines < <(cut -f 3 <<<"$up_cables" | sort -u)
	for spine in "${spines[@]}"; do
		((${FTR_SOAK:-0})) || ((n++ % 16 == 0)) || continue
		spine_dies "$spine"
	done
	not_logged 'ERR IBF'
	down
}

# The subnet manager's own switch loses a cable; it sits on a leaf.
case_fast_own_uplink() {
	gen '2;6,12;1,6;1,1' --random-guids --random-ports --seed 67
	fast_up </dev/null
	walk before
	local own i
	own=$(awk -v h="$SIM_HOST" '/^(Ca|Hca|CA|HCA)/ { split($0, q, "\""); on = q[2] == h }
		/^\[/ && on { split($0, q, "\""); print q[2]; exit }' \
		"$T/fabric.net")
	for ((i = 1;; i++)); do
		pick "$i"
		[[ $near != "$own" ]] || break
	done
	die_and_return
	not_logged 'ERR IBF'
	down
}

case_fast_manager_on_spine() {
	gen '2;6,12;1,6;1,1' --random-guids --random-ports --seed 68
	SIM_HOST=$(sim_cables "$T/fabric.net" | sed -n 1p | cut -f 3)
	fast_up </dev/null
	walk before
	pick 1
	die_and_return
	pick 7
	die_and_return
	down
}

case_fast_m_key() {
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 69
	fast_up <<-EOF
	m_key 0x1234567812345678
	m_key_protection_level 2
	m_key_lease_period 60
	m_key_lookup TRUE
	EOF
	osm_mark sm
	pick 1
	cut_it
	repaired down
	reconciled
	quiet
	down
}

# Management packets get lost: at every switch one Set of a table in three, and
# one answer to PortInfo.
case_fast_lossy() {
	gen '2;6,12;1,6;1,1' --random-guids --random-ports --seed 70
	fast_up 'fast_timeout_ms 20' </dev/null
	walk before
	local sw i
	for sw in $(cut -f 1,3 <<<"$up_cables" | tr '\t' '\n' | sort -u); do
		sim_do "Error \"$sw\"[0] 33 25"
		sim_do "Error \"$sw\"[0] 20 21"
	done
	for i in 1 20 40; do
		pick "$i"
		osm_mark sm
		cut_it
		osm_wait sm "$patience" 'IBF00[45]|IBF1(09|10)'
		osm_wait sm "$patience" 'SUBNET UP|Errors during init'
	done
	for sw in $(cut -f 1,3 <<<"$up_cables" | tr '\t' '\n' | sort -u); do
		sim_do "Error \"$sw\"[0] 0 25"
		sim_do "Error \"$sw\"[0] 0 21"
	done
	osm_mark sm
	kill -HUP "${OSM_PID[sm]}"
	until_healed cut
	down
}

# Off is stock: no repair, the sweep begins with the trap.
case_fast_off() {
	gen '2;6,12;1,6;1,1' --random-guids --random-ports --seed 71
	fast_up 'fast_reroute off' </dev/null
	walk before
	pick 1
	osm_mark sm
	cut_it
	until_healed cut
	not_logged 'IBF00[45]'
	down
}

# A cable that goes up and down all the time is left out, and a sweep comes
# all the same; when it is quiet it is used again.
case_fast_flapping() {
	gen '2;6,12;1,6;1,1' --random-guids --random-ports --seed 72
	fast_up 'fast_flap_limit 3' 'fast_flap_hold_ms 4000' \
		'fast_sweep_cap_ms 1000' </dev/null
	walk before
	pick 1
	osm_mark sm
	local i
	for ((i = 0; i < 3; i++)); do
		cut_it
		repaired down
		osm_settled sm "$patience"
		osm_mark sm
		mend_it
		((i == 2)) || repaired up
		osm_wait sm "$patience" 'SUBNET UP'
		osm_mark sm
	done
	live held || true	# the cabling could connect more than is used
	differ before held
	until_same before after
	down
}

# Faults and recoveries at random, several at a time, faster than sweeps.
random_schedule() {
	local steps=$1 seed=$2 n i k
	local -A cut=()
	n=$(wc -l <<<"$up_cables")
	RANDOM=$seed
	echo "random schedule: seed $seed, $steps steps" >&2
	for ((i = 0; i < steps; i++)); do
		k=$((RANDOM * 32768 + RANDOM))
		k=$((k % n + 1))
		pick "$k"
		if [[ -n ${cut[$k]:-} ]]; then
			mend_it
			unset "cut[$k]"
		elif ((${#cut[@]} < 12)); then
			cut_it
			cut[$k]=1
		else
			k=${!cut[*]}
			pick "${k%% *}"
			mend_it
			unset "cut[${k%% *}]"
		fi
		((RANDOM % 3)) || at_rest
		if ((RANDOM % 8 == 0)); then
			at_rest
			until_healed mid
		fi
	done
	for k in "${!cut[@]}"; do
		pick "$k"
		mend_it
	done
	until_same before after
}

case_fast_random() {
	gen 648 --random-guids --random-ports --seed 73
	fast_up </dev/null
	walk before
	random_schedule $((${FTR_SOAK:-0} ? 400 : 16)) "${FTR_SEED:-73}"
	not_logged 'ERR IBF'
	down
}

# The standby takes over while a repair is under way.
case_fast_handover() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 74
	local polling=$'sminfo_polling_timeout 300\npolling_retry_number 2'
	fast_up <<<"sm_priority 10"$'\n'"$polling"
	walk before
	OSM_HOST["standby"]=$(sim_hosts "$T/fabric.net" | tail -n 1)
	plugin_conf <<<"sm_priority 5"$'\n'"$polling" >"$T/standby.conf"
	osm_start standby <"$T/standby.conf"
	osm_wait standby "$patience" 'Entering STANDBY'
	mkdir -p "$SIM_DIR/standby"
	cp "$SIM_DIR/sm/ibfattree-nominal" "$SIM_DIR/standby/"
	osm_mark standby
	pick 1
	cut_it
	osm_kill sm
	osm_wait standby "$patience" 'SUBNET UP'
	SIM_HOST=${OSM_HOST["standby"]} walk cut
	osm_mark standby
	mend_it
	SIM_HOST=${OSM_HOST["standby"]} until_same before after
	osm_stop standby
}

# opensm ends in the middle of a repair, cleanly; the next one mends what was
# left.
case_fast_stopped() {
	gen 648 --random-guids --random-ports --seed 75
	fast_up </dev/null
	walk before
	local i wait
	for i in 1 2 3; do
		pick "$((i * 30))"
		cut_it
		wait=$((RANDOM % 4))
		sleep "0.00$wait"
		osm_stop sm || fail "opensm ended with status $?"
		osm_start sm < <(plugin_conf < <(
			echo "event_plugin_options ibfattree:$T/ibfattree.conf"))
		osm_wait sm "$patience" 'SUBNET UP'
		until_healed cut
		osm_mark sm
		mend_it
		until_same before after
		osm_settled sm "$patience"
	done
	down
}

# Cables die while OpenSM sweeps: in the discovery, in the routing, while it
# writes, and after that.
case_fast_during_sweep() {
	gen 648 --random-guids --random-ports --seed 76
	fast_up 'fast_flap_limit 0' </dev/null
	walk before
	local i=0 wait
	for wait in 0 005 010 015 020 030 050; do
		pick "$((++i * 40))"
		osm_mark sm
		kill -HUP "${OSM_PID[sm]}"
		sleep "0.$wait"
		cut_it
		osm_wait sm "$patience" 'IBF004: .* down'
		at_rest
		until_healed cut
		agreed cut
		osm_mark sm
		mend_it
		until_same before after
		at_rest
	done
	not_logged 'ERR IBF'
	down
}
