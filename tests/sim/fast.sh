# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# The fast path repairs the tables after a trap, before OpenSM sweeps.  The sweep that follows
# finds nothing to change.
#
#	FTR_SOAK=1	every link and every spine, long random schedules

fast_conf() { echo "event_plugin_options ibfattree:$T/ibfattree.conf"; }

# fast_up [LINE...]: like up, with these lines in ibfattree.conf.  Standard input has lines of
# opensm.conf.
fast_up() {
	[[ $* == *fast_sweep_delay_ms* ]] || set -- "$@" 'fast_sweep_delay_ms 100'
	# a long timeout: on a busy machine packets would otherwise be sent twice
	[[ $* == *fast_timeout_ms* ]] || set -- "$@" 'fast_timeout_ms 5000'
	# "balance load", because the background search of "full" requests sweeps at any time
	printf '%s\n' 'balance load' "$@" >"$T/ibfattree.conf"
	up < <(fast_conf; cat)
	up_cables=$(sim_cables "$T/fabric.net" | cut -f 1-4)
}

# pick N: set near, near_port, far and far_port to the ends of the Nth link of $up_cables.
pick() {
	IFS=$'\t' read -r near near_port far far_port < \
		<(sed -n "${1}p" <<<"$up_cables")
	[[ -n $near ]] || fail "there is no link $1"
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

# One link fails and returns.  The tables are repaired before the sweep, and the sweep changes
# nothing.  Once the link is restored, the tables are the same as before the fault.
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
}

# event KEY: print the value of KEY in the last event.
event() {
	tail -n 1 "$SIM_DIR/sm/ibfattree-events.jsonl" >"$T/event.json"
	"$SIM_BUILD/jsonq" "$T/event.json" "$1"
}

# event_is KIND: true if the last event in the file is of this kind.  The latest event may be
# missing, because a thread of the plugin writes the file.
event_is() {
	[[ -s $SIM_DIR/sm/ibfattree-events.jsonl && $(event event) == "$1" ]]
}

# ibfattree-json(5) must describe every member of the last event.
event_is_documented() {
	local key
	event event >/dev/null
	for key in $("$SIM_BUILD/jsonq" --keys "$T/event.json" | sort -u); do
		grep -qw "$key" "$top/man/ibfattree-json.5" ||
			fail "ibfattree-json(5) does not describe the member '$key' of the event"
	done
}

# Replay the writes of the event in a simulation with traffic.  Packets are lost after the fault,
# but none after the last block is written.
replayed() {
	local last us
	last=$(event ms.last)
	us=$(awk "BEGIN { print int($last * 1100) + 1000 }")
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
	sim_until "$patience" event_is link-up || fail "event '$(event event)'"
	sweeps_change_nothing
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
	sim_until "$patience" event_is link-down || fail "event '$(event event)'"
	[[ $(event cables.0.up) == false &&
	   $(event reconcile.entries) == 0 && $(event failed) == 0 ]] ||
		fail "the event says: $(cat "$T/event.json")"
	event_is_documented
	replayed
	sweeps_change_nothing
	down
}

case_fast_parallel_link() {
	gen '2;6,6;1,3;1,2' --random-guids --random-ports --seed 63
	fast_up </dev/null
	walk before
	pick 1
	die_and_return
	sweeps_change_nothing
	down
}

# Horizontal links join the spines of two trees.  One of these links fails and returns.  Then a link
# inside a tree fails, and the spine of this link sends packets down and up again.
case_fast_two_trees() {
	two_trees 4 6 >"$T/fabric.net"
	fast_up </dev/null
	walk before
	near=S-0000000000010201 far=S-0000000000020201
	read -r near_port far_port < <(awk -v near="\"$near\"" -v far="\"$far\"" '
		/^Switch/ { at = $3 }
		at == near && split($0, x, /[][]/) && x[3] ~ far { print x[2], x[4] }' \
		"$T/fabric.net")
	die_and_return
	pick 1
	die_and_return
	never_logged 'IBF109'
	sweeps_change_nothing
	down
}

case_fast_sftree() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 64
	fast_up < <(echo 'routing_engine sftree')
	walk before --switch-sources
	pick 3
	die_and_return
	sweeps_change_nothing
	down
}

# sftree routes by an order of the switches, and a leaf is the root of this order.  A link of the
# root fails.  Some pairs of switches then have no path in the same order.  The repair reports these
# pairs; all hosts still reach each other.  The sweep chooses another order.
case_fast_sftree_root() {
	local root
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 64
	fast_up < <(echo 'routing_engine sftree')
	walk before --switch-sources
	root=$(sed -n 's/.* root \([^,]*\), .*/\1/p' \
		"$SIM_DIR/sm/opensm.log" | tail -n 1)
	root=$(sed -n "s/^Switch.*\"\(S-[0-9a-f]*\)\".*\"$root\".*/\1/p" \
		"$T/fabric.net")
	pick "$(grep -n "$root" <<<"$up_cables" | sed -n '1s/:.*//p')"
	osm_mark sm
	cut_it
	repaired 'down; .* \([0-9]* without a path now\)'
	live mid || true	# paths to switches may still be missing
	[[ $(grep -Ec 'host port -> host port .*, all arrive|^loops *none' \
		"$T/mid.txt") == 2 ]] || fail "hosts are unreachable: $(cat "$T/mid.txt")"
	osm_wait sm "$patience" 'IBF005:'
	osm_settled sm "$patience"
	walk after --switch-sources
	grep -Eq 'host port -> switch .*, all arrive' "$T/after.txt" ||
		fail 'hosts do not reach all switches after the sweep'
	quiet
	down
}

# Some links of a tree fail and return, one after the other.  In a soak (FTR_SOAK=1), all links do.
case_fast_every_link() {
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
	sweeps_change_nothing
	down
}

# All links of a switch fail in quick succession.
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
	# a sweep may notice the last failure before the fast path does
	note "sweeps that changed entries (IBF005):" \
		"$(count_logged 'IBF005: .* changed [1-9]') of" \
		"$(count_logged 'IBF005:')"
	down
}

# A switch fails.  Until the sweep that confirms the repair, OpenSM must not log an error.  It logs
# up to three errors for each packet that cannot be answered, so the fast path must send no such
# packet.
switch_dies_without_errors() {
	local errors
	osm_mark sm
	sim_do "Unlink \"$1\""
	osm_wait sm "$patience" 'IBF005:'
	errors=$(osm_log sm | sed '/IBF005:/q' | grep -E '\bERR [0-9A-F]{4}:' || true)
	[[ -z $errors ]] ||
		fail "$(wc -l <<<"$errors") errors in the log: $errors"
	until_healed cut
	osm_mark sm
	sim_do "ReLink \"$1\""
	until_same before after
}

case_fast_dying_spine_in_log() {
	gen '2;18,24;1,18;1,1' --random-guids --random-ports --seed 90
	fast_up </dev/null
	walk before
	local i
	for i in 1 5 18; do
		pick "$i"
		switch_dies_without_errors "$far"
	done
	down
}

case_fast_dying_middle_switch_in_log() {
	gen '3;4,4,8;1,4,4;1,1,1' --random-guids --random-ports --seed 91
	fast_up </dev/null
	walk before
	local i
	for i in 1 40; do
		pick "$i"
		switch_dies_without_errors "$far"
	done
	down
}

# A link fails at the leaf of the subnet manager.
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
	sweeps_change_nothing
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
	sweeps_change_nothing
	down
}

# Repairs with an M_Key.  ibsim does not enforce M_Keys.  tests/unit/test_fast.c shows that our
# packets carry the key, and that packets without it change nothing.
case_fast_m_key() {
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 69
	fast_up 'fast_sweep_delay_ms 700' <<-EOF
	m_key 0x1234567812345678
	m_key_protection_level 2
	m_key_lease_period 60
	m_key_lookup TRUE
	EOF
	# shellcheck disable=SC2034
	live_opts=(--m-key 0x1234567812345678)
	walk before
	pick 1
	die_and_return
	sweeps_change_nothing
	down
}

# errors RATE ATTRIBUTE: all ports of all switches lose RATE per cent of the packets with this
# attribute (0: of all packets).  ibsim has one rate and one attribute per port, so only one kind of
# packets is lost at a time.  For a packet on a directed route, ibsim uses the rate of the port by
# which the packet enters the last switch.
errors() {
	local sw
	for sw in $(cut -f 1,3 <<<"$up_cables" | tr '\t' '\n' | sort -u); do
		sim_do "Error \"$sw\" $1 $2"
	done
}
dropped() { grep -c 'drop pkt due error rate' "$SIM_DIR/ibsim.log" || true; }

# When a sweep of stock OpenSM loses packets, it forgets switches or leaves tables partly written
# ("Errors during initialization").  OpenSM sweeps again only after the next trap or after
# sweep_interval (docs/upstream.md).  So after lost packets this function requests a sweep, as an
# administrator would.  It is called while a case waits (SIM_TICK, scripts/sim.sh).
lossy=0 nudged=0
nudge() {
	((lossy && SECONDS - nudged >= 10)) || return 0
	nudged=$SECONDS
	! osm_alive "$manager" || kill -HUP "${OSM_PID[$manager]}"
}

# lossy_round ATTRIBUTE RATE N...: links fail while packets with this attribute are lost.  Before
# the sweep, only packets of the fast path are under way.  On a busy machine the sweep may begin
# early and lose packets, too.
lossy_round() {
	local attr=$1 rate=$2 i was
	shift 2
	for i; do
		pick "$i"
		was=$(dropped)
		osm_mark sm
		errors "$rate" "$attr"
		cut_it
		osm_wait sm "$patience" 'IBF004|IBF1(09|10)'
		lost=$((lost + $(dropped) - was))
		errors 0 0
		lossy=1 nudged=$SECONDS
		until_rest cut
		lossy=0
	done
	((lost)) || fail "ibsim has lost no packet with attribute $attr"
	osm_mark sm
	for i; do
		pick "$i"
		mend_it
	done
	until_same before after
}

# Lost packets: first LFT writes (attribute 25), then PortInfo packets (21).  ibsim does not execute
# a lost request, and reports at once the timeout that the kernel would report later.  So only
# requests are lost, and no answer is late.
case_fast_lossy() {
	[[ -n ${FTR_SOAK:-} ]] ||
		skip 'FTR_SOAK only: takes 40 s'
	gen '2;6,12;1,6;1,1' --random-guids --random-ports --seed 70
	fast_up 'fast_timeout_ms 20' 'fast_sweep_delay_ms 600' </dev/null
	walk before
	sim_do 'Verbose 1'
	# shellcheck disable=SC2034
	local lost=0 tables SIM_TICK=nudge
	lossy_round 25 33 1 20 40
	tables=$lost lost=0
	lossy_round 21 20 2 21 41
	note "lost by repairs: $tables writes of tables, $lost PortInfo;" \
		"not acknowledged: $(count_logged IBF110)," \
		"left to a sweep: $(count_logged IBF109)"
	down
}

# With the fast path off, nothing is repaired, and the trap starts a sweep, as in stock OpenSM.
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

# react_to_144 on|off: save how OpenSM reacts to trap 144, with fast_reroute on or off.  A port
# sends this trap when its width has changed.
react_to_144() {
	local lid port
	T=$T/$1
	mkdir "$T"
	trap sim_stop EXIT
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 77
	fast_up "fast_reroute $1" </dev/null
	walk before
	read -r lid port < <(switch_of_a_host)
	osm_mark sm
	in_sim ibportstate "$lid" "$port" width 1 >"$T/width.txt" || true
	osm_wait sm "$patience" 'Received Generic Notice.*num:144'
	at_rest
	same_as before after || fail "trap 144 changes tables"
	not_logged 'IBF00[45]'
	quiet
	osm_log sm | grep -o 'num:1[0-9]*\|IBF002\|SUBNET UP' >"$T/reaction"
	down
}

# Print the LID of a switch and one of its ports that leads to a host.
switch_of_a_host() {
	awk '/^Switch/ { for (i = 1; i <= NF; i++) if ($i == "lid") lid = $(i + 1) }
		/^\[[0-9]+\][ \t]+"H-/ && lid { split($1, p, /[][]/); print lid, p[2]; exit }' \
		"$T/before.net"
}

# OpenSM alone handles a trap that is not about links (trap 144), even with the fast path on.
case_fast_other_traps() {
	(react_to_144 on)
	(react_to_144 off)
	diff "$T/on/reaction" "$T/off/reaction" >&2 || fail "the reaction to trap 144 differs from that of stock opensm"
	note "$(paste -sd ' ' "$T/on/reaction")"
}

# A link that goes up and down repeatedly is damped, but sweeps still follow.  After some time
# without failures the link is used again.
case_fast_flapping() {
	gen '2;6,12;1,6;1,1' --random-guids --random-ports --seed 72
	fast_up 'fast_flap_limit 3' 'fast_flap_hold_ms 30000' \
		'fast_flap_window_ms 3600000' 'fast_sweep_cap_ms 1000' <<<'packet_life_time 0x08'
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
	live held || true	# a damped link is up, but not used
	differ before held
	until_same before after
	down
}

# A random link fails or returns.  At most 12 links are down at a time.
random_step() {
	local k=$((RANDOM * 32768 + RANDOM))
	k=$((k % n + 1))
	if [[ -z ${cut[$k]:-} ]] && ((${#cut[@]} < 12)); then
		pick "$k"
		cut_it
		cut[$k]=1
		return
	fi
	if [[ -z ${cut[$k]:-} ]]; then
		k=${!cut[*]}
		k=${k%% *}
	fi
	pick "$k"
	mend_it
	unset "cut[$k]"
}

# Random links fail and return, several at a time, faster than sweeps.  The tables are checked
# whenever the fabric is idle.
random_schedule() {
	local steps=$1 seed=$2 n i k rests=0
	local -A cut=()
	n=$(wc -l <<<"$up_cables")
	RANDOM=$seed
	echo "random schedule: seed $seed, $steps steps" >&2
	for ((i = 0; i < steps; i++)); do
		osm_mark sm
		random_step
		((RANDOM % 3 == 0 || i == steps - 1)) || continue
		until_rest mid
		: $((++rests))
	done
	osm_mark sm
	for k in "${!cut[@]}"; do
		pick "$k"
		mend_it
	done
	until_same before after
	note "seed $seed: checked $rests times, sweeps that changed entries (IBF005):" \
		"$(count_logged 'IBF005: .* changed [1-9]') of" \
		"$(count_logged 'IBF005:')"
}

case_fast_random() {
	gen 648 --random-guids --random-ports --seed 73
	fast_up </dev/null
	walk before
	random_schedule $((${FTR_SOAK:-0} ? 400 : 12)) "${FTR_SEED:-73}"
	down
}

# ---- a manager ends during a repair ------------------------------------------------

trapped='Received Generic Notice.*num:128'
moments=('cut 0' 'cut 2' 'trap 0' 'repair 0')
((!${FTR_SOAK:-0})) ||
	moments=('cut 0' 'cut 1' 'cut 2' 'cut 4' 'cut 8' 'trap 0' 'repair 0')

# moment WHAT MS: cut the link, and return MS ms after WHAT: the cut, the log line of the trap, or
# the log line of the repair.  The function must not start a process, because this takes longer than
# MS.
moment() {
	local what=$1 ms=$2 regex text='' part fd end
	case $what in
	cut) regex= ;;
	trap) regex=$trapped ;;
	repair) regex='IBF004: ' ;;
	esac
	exec {fd}<"$SIM_DIR/$manager/opensm.log"
	cat <&"$fd" >/dev/null
	[[ -p $T/never ]] || mkfifo "$T/never"
	[[ -n ${never:-} ]] || exec {never}<>"$T/never"
	end=$((SECONDS + patience))
	cut_it
	until [[ $text =~ $regex ]]; do
		((SECONDS < end)) || fail "no '$regex' within $patience s"
		IFS= read -r -u "$fd" part || true
		text+=$part
	done
	((!ms)) || read -r -t "0.00$ms" -u "$never" part || true
	exec {fd}<&-
}

# The number of managers that ended
#	untrapped	before the trap
#	open		between trap and repair
#	broken		after a repair that was left to a sweep or had unacknowledged writes
#	done		after any other repair
declare -A ends=([untrapped]=0 [open]=0 [broken]=0 [done]=0)
count_end() {
	local end=untrapped
	! osm_said "$1" "$trapped" || end=open
	! osm_said "$1" 'IBF1(09|10)' || end=broken
	! osm_said "$1" 'IBF004: ' || end="done"
	echo "$m: $end" >&2
	ends[$end]=$((ends[$end] + 1))
}
note_ends() {
	note "seed $seed: ended ${ends[untrapped]} times before the trap," \
		"${ends[open]} before the repair was logged, ${ends[broken]}" \
		"with writes unacknowledged, ${ends[done]} after the repair was logged"
}

met() { ((ends[open] + ends[broken])); }

# next_moment N: set m to the Nth moment; false if there are no more moments.  If no manager has
# ended during a repair yet, more moments are tried, up to 12 in all.
next_moment() {
	m=${moments[$1]:-trap 0}
	(($1 < ${#moments[@]})) || { ! met && (($1 < 12)); }
}

random_cable() { pick $((RANDOM % $(wc -l <<<"$up_cables") + 1)); }

start_one() {
	osm_start "$1" < <(plugin_conf < <(
		fast_conf
		printf '%s\n' "sm_priority $priority" "${polling[@]}"))
}
start_standby() {
	priority=$((priority - 1))
	start_one "$standby"
	osm_wait "$standby" "$patience" 'Entering STANDBY'
	cp "$SIM_DIR/$manager"/ibfattree-state-* "$SIM_DIR/$standby/"
	# when another manager starts, the master sweeps
	resweep
	at_rest
}

# ibsim never answers an SMInfo request that it has passed to the killed manager, and reports no
# timeout.  A standby that has sent such a request waits for ever, even without the plugin.  Then
# another standby takes its place.  The stuck one must end by itself: if it is killed, ibsim later
# clears the bit IsSM of its port, when its successor has already set it, and no other manager sees
# the successor.
taken_over() {
	! sim_until 30 osm_said "$manager" 'Entering MASTER' || return 0
	osm_stop "$manager" || true
	stuck=$((stuck + 1))
	((stuck <= 6)) || fail "no standby takes over"
	start_one "$manager"
}

# The standby takes over during a repair.  The killed manager becomes the next standby.  With the
# option "fast_window 1" only one packet is under way at a time, so repairs are slow.
case_fast_handover() {
	two_managers
	local seed=${FTR_SEED:-74} i m was priority=14 standby=standby stuck=0
	local -a polling=('sminfo_polling_timeout 200' 'polling_retry_number 2')
	RANDOM=$seed
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 74
	fast_up 'fast_window 1' < <(
		printf '%s\n' "sm_priority $priority" "${polling[@]}")
	walk before
	OSM_HOST["standby"]=$(sim_hosts "$T/fabric.net" | tail -n 1)
	for ((i = 0; ; i++)); do
		next_moment "$i" || break
		start_standby
		random_cable
		osm_mark "$manager"
		osm_mark "$standby"
		# shellcheck disable=SC2086
		moment $m
		osm_kill "$manager"
		count_end "$manager"
		was=$manager
		is_manager "$standby" "${OSM_HOST[$standby]}"
		standby=$was
		taken_over
		until_healed cut
		differ before cut
		osm_mark "$manager"
		mend_it
		until_same before after
	done
	note_ends
	never_logged 'IBF113'
	down
}

# opensm ends cleanly during a repair.  The next opensm completes the repair.
case_fast_stopped() {
	local seed=${FTR_SEED:-75} i m
	RANDOM=$seed
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 75
	fast_up 'fast_window 1' </dev/null
	walk before
	for ((i = 0; ; i++)); do
		next_moment "$i" || break
		random_cable
		osm_mark sm
		# shellcheck disable=SC2086
		moment $m
		osm_stop sm || fail "opensm ended with status $?"
		count_end sm
		osm_start sm < <(plugin_conf < <(fast_conf))
		osm_wait sm "$patience" 'SUBNET UP'
		until_healed cut
		differ before cut
		osm_mark sm
		mend_it
		until_same before after
	done
	note_ends
	down
}

# A link fails 0, 10 or 30 ms (in a soak up to 50 ms) after a sweep was requested.  OpenSM is then
# discovering, routing, writing, or done.
case_fast_during_sweep() {
	gen 648 --random-guids --random-ports --seed 76
	fast_up 'fast_flap_limit 0' </dev/null
	walk before
	local i=0 wait
	local -a waits=(0 010 030)
	((!${FTR_SOAK:-0})) || waits=(0 005 010 015 020 030 050)
	for wait in "${waits[@]}"; do
		pick "$((++i * 40))"
		osm_mark sm
		kill -HUP "${OSM_PID[sm]}"
		sleep "0.$wait"
		cut_it
		osm_wait sm "$patience" 'IBF004: .* down'
		until_healed cut
		osm_mark sm
		mend_it
		until_same before after
	done
	quiet
	note "sweeps that changed entries (IBF005):" \
		"$(count_logged 'IBF005: .* changed [1-9]') of" \
		"$(count_logged 'IBF005:')"
	down
}
