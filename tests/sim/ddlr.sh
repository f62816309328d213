# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests of the engine ddlr.  After a fault, a local repair writes a few blocks.  Then the transition
# to new tables follows.  The next sweep finds nothing to change.

# A fault less than a packet lifetime after the last write has no local repair, so packets live for only
# 67 ms.  Links that are cut several times are not damped.
ddlr_up() {
	fast_up 'fast_flap_limit 0' < \
		<(printf '%s\n' 'routing_engine ddlr' 'packet_life_time 0x0e'; cat)
}

# stage_event STAGE KEY: print the value of KEY in the last event of this stage.
stage_event() {
	sim_until "$patience" grep -qs "\"stage\":\"$1\"" \
		"$SIM_DIR/sm/ibfattree-events.jsonl" || fail "no event of stage $1"
	grep "\"stage\":\"$1\"" "$SIM_DIR/sm/ibfattree-events.jsonl" |
		tail -n 1 >"$T/stage.json"
	"$SIM_BUILD/jsonq" "$T/stage.json" "$2"
}

healed_locally() {
	local n
	osm_wait sm "$patience" 'IBF004: local repair .* down'
	# with one VL, packets to switches may have no path before the transition ends
	live local || true
	if ! grep -q '^loops *none' "$T/local.txt" || ! grep -q \
		'^paths *host port -> host port .* all arrive' "$T/local.txt"; then
		cat "$T/local.txt" >&2
		fail "hosts are unreachable"
	fi
	reconciled
	n=$(stage_event local switches)
	[[ $n == [1-3] ]] || fail "the local repair wrote to '$n' switches, not to 1 to 3"
	[[ $(stage_event local failed) == 0 ]] || fail "writes were lost"
	walk cut --switch-sources
	agreed cut
}

# Cut the chosen link until the plugin repairs it locally.  A fault that occurs before the planner is
# ready is rerouted without a local repair; nothing shows from outside when it is ready.
cut_until_local() {
	local try
	for try in 1 2 3 4 5 6 7 8; do
		osm_mark sm
		cut_it
		osm_wait sm "$patience" 'IBF004: (local repair|fast reroute) .* down'
		! osm_said sm 'IBF004: local repair .* down' || return 0
		note "attempt $try: no planner yet"
		reconciled
		osm_mark sm
		mend_it
		until_same before again
		osm_wait sm "$patience" 'IBF002: .* 128 links between'
		at_rest
	done
	fail 'no fault was repaired locally'
}

case_ddlr_one_vl() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 91
	ddlr_up </dev/null
	logged 'IBF007: ddlr: packets use no second VL: qos is off'
	walk before --switch-sources
	local i
	for i in 12 25; do	# links for which no LID has to be held
		pick "$i"
		cut_until_local
		healed_locally
		# without qos, the function turn_bit must fail
		! (turn_bit) 2>/dev/null ||
			fail "switches hold a turn bit without qos"
		osm_mark sm
		mend_it
		until_same before after
		# local repairs are possible again after a sweep has found the link
		osm_wait sm "$patience" 'IBF002: .* 128 links between'
		at_rest
	done
	sweeps_change_nothing
	down
}

# With qos the switches hold SL2VL tables for two VLs (turn bit, docs/glossary.md).  Some of these
# tables are compared with those of "ibfattree route", before and after the fault.  Before the fault
# and after the transition, the paths have no credit loop even on one VL.
case_ddlr_two_vls() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 92
	ddlr_up <<<'qos TRUE'
	logged 'IBF007: ddlr: packets use a second VL on the link after .*; SL 0-15: VL 1 instead of VL 0'
	walk before --switch-sources
	route_vls 2
	vls_are_held
	pick 5
	osm_mark sm
	cut_it
	healed_locally
	turn_bit
	# leave out the ends of the failed link: OpenSM has changed their SL2VL tables
	vls_are_held "$near" "$far"
	osm_mark sm
	mend_it
	until_same before after
	sweeps_change_nothing
	down
}

# vls_of SL: print the VLs of this SL in the SL2VL tables of port 1 of a spine.
vls_of() {
	local lid
	lid=$(awk '/^Switch/ && /"sw-2-0"/ { for (i = 1; i <= NF; i++)
			if ($i == "lid") print $(i + 1) }' "$T/before.net")
	vls_by_switch "$lid" 1 | awk -v c="$(($1 + 2))" '{ print $c }' | sort -nu | xargs
}

# The site maps the SLs to two VLs: each class has its own second VL.
case_ddlr_classes_of_sls() {
	gen '2;4,4;1,4;1,1' --random-guids --random-ports --seed 94
	ddlr_up <<<$'qos TRUE\nqos_swe_sl2vl 0,0,0,0,1,1,1,1,1,1,1,1,1,1,1,15'
	logged 'IBF007: ddlr: .*; SL 0-3: VL 2 instead of VL 0; SL 4-14: VL 3 instead of VL 1; SL 15: dropped'
	walk before --switch-sources
	[[ $(vls_of 3) == '0 2' ]] || fail "VLs of SL 3: $(vls_of 3)"
	[[ $(vls_of 4) == '1 3' ]] || fail "VLs of SL 4: $(vls_of 4)"
	[[ $(vls_of 15) == 15 ]] || fail "VLs of SL 15: $(vls_of 15)"
	pick 5
	osm_mark sm
	cut_it
	healed_locally
	down
}

# The hardware has too few VLs for five classes: the site's SL2VL tables stay as they are.
case_ddlr_too_few_vls() {
	gen '2;4,4;1,4;1,1' --random-guids --random-ports --seed 95
	ddlr_up <<<$'qos TRUE\nqos_sl2vl 0,1,2,3,4'
	logged 'IBF007: ddlr: packets use no second VL: .* port [0-9]* has 8 operational VLs: 10 VLs are needed'
	walk before --switch-sources
	[[ $(vls_of 4) == 4 ]] || fail "VLs of SL 4: $(vls_of 4)"
	down
}

# The site's VL arbitration does not serve the second VL of a class.
case_ddlr_vl_without_weight() {
	gen '2;4,4;1,4;1,1' --random-guids --random-ports --seed 96
	ddlr_up <<<$'qos TRUE\nqos_swe_sl2vl 0,1\nqos_swe_vlarb_low 0:16,1:64,2:16,3:0'
	logged 'IBF007: ddlr: packets use no second VL: .* has no weight for VL 3'
	down
}

# Read the SL2VL table of port 1 of a middle switch.  It must have VL 1 for some input ports, and VL
# 0 for others.
turn_bit() {
	local lid dump
	lid=$(awk '/^Switch/ && /"sw-2-3"/ { for (i = 1; i <= NF; i++)
			if ($i == "lid") print $(i + 1) }' "$T/cut.net")
	dump=$(in_sim smpquery sl2vl "$lid" 1)
	grep -q '|1|1|1|1|1|1|1|1|' <<<"$(tr -d ' ' <<<"$dump")" ||
		fail "no turn bit at LID $lid: $dump"
	grep -q '|0|0|0|0|0|0|0|0|' <<<"$(tr -d ' ' <<<"$dump")" ||
		fail "no entry without a turn at LID $lid: $dump"
}

# One to three random links fail at a time.  ddlr repairs up to k-1 faults (docs/glossary.md); on
# the smaller tree k-1 is 3.
random_faults() {
	local n i round rounds=$2 k
	gen "$1" --random-guids --random-ports --seed 93
	ddlr_up </dev/null
	walk before --switch-sources
	n=$(wc -l <<<"$up_cables")
	RANDOM=${FTR_SEED:-93}
	for ((round = 0; round < rounds; round++)); do
		local -A cut=()
		osm_mark sm
		for ((i = 0; i < 3; i++)); do
			k=$((RANDOM % n + 1))
			pick "$k"
			cut[$k]=1
			cut_it
			# a running sweep may be the first to see the fault
			((RANDOM % 2)) || osm_wait sm "$patience" 'IBF00[24]'
		done
		until_healed cut
		osm_mark sm
		for k in "${!cut[@]}"; do
			pick "$k"
			mend_it
		done
		until_same before after
	done
	down
}

case_ddlr_random() {
	random_faults '3;4,4,4;1,4,4;1,1,1' $((${FTR_SOAK:-0} ? 40 : 2))
}
case_ddlr_random_648() { random_faults 648 $((${FTR_SOAK:-0} ? 20 : 1)); }

# ---- a large fabric, stage by stage ----------------------------------------------

said() { grep -Eq "$1" <(osm_log sm); }

# Suspend opensm after it has written the local repair, and perhaps some entries of the transition.
# In the tables of that moment, all hosts reach each other without a loop.  There is no credit loop
# on the VLs in use.
halted_after_stage_one() {
	local end=$((SECONDS + patience))
	until said 'IBF004: local repair .* down'; do
		((SECONDS < end)) || fail "no local repair was logged"
		sleep 0.002
	done
	osm_halt
	live "$1" || true	# packets to switches may wait
	osm_go_on
	if ! grep -q '^loops *none' "$T/$1.txt" || ! grep -q \
		'^paths *host port -> host port .* all arrive' "$T/$1.txt"; then
		cat "$T/$1.txt" >&2
		fail "hosts are unreachable"
	fi
	no_credit_loop "$1"
}

# Check that the tables have no credit loop on the VLs that were in use before any fault.
no_credit_loop() {
	"$ibfattree" check "$T/$1.net" --lfts "$T/$1.lfts" \
		--sl2vl "$T/before.sl2vl" >"$T/$1.vls" || true
	grep -q '^credit loops *none' "$T/$1.vls" && return
	cat "$T/$1.vls" >&2
	fail "packets of hosts form a credit loop"
}

# route_vls VLS: write $T/before.sl2vl, the SL2VL tables for the fabric before any fault.
route_vls() {
	"$ibfattree" route "$T/before.net" --engine ddlr --vls "$1" \
		-o "$T/before.routed" --sl2vl "$T/before.sl2vl"
}

# vls_are_held [SWITCH...]: check that six random switches hold the SL2VL tables of $T/before.sl2vl,
# at their first, a middle and their last output port.  The given switches are not checked.
vls_are_held() {
	local guid lid ports n=0 port
	while read -r guid lid ports; do
		for port in 1 "$((ports / 2))" "$ports"; do
			diff <(vls_by_file "$guid" "$port") \
				<(vls_by_switch "$lid" "$port") >&2 ||
				fail "SL2VL of $guid, LID $lid, port $port"
		done
		n=$((n + 1))
	done < <(awk -v not="$*" 'BEGIN { split(not, names); for (i in names) skip[names[i]] = 1 }
		/^Switch/ { split($0, q, "\""); if (q[2] in skip || q[4] in skip) next
			for (i = 1; i <= NF; i++)
				if ($i == "lid") print substr($3, 4, 16), $(i + 1), $2
		}' "$T/before.net" | shuf -n 6 --random-source=<(yes "$RANDOM"))
	((n)) || fail "no switch whose SL2VL table could be read"
}

# vls_by_switch LID PORT: print a line "IN VL VL .." for every input port IN.  The VLs are those of
# packets from IN to PORT, one for each SL.
vls_by_switch() {
	in_sim smpquery sl2vl "$1" "$2" | awk -F '[|]' '/^ports:/ {
		split($1, w, "[ ,:]+")
		printf "%d", w[3]
		for (i = 2; i < NF; i++)
			printf " %d", $i
		print ""
	}'
}
vls_by_file() {
	awk -v guid="0x$1" -v out="$2" '$1 == guid && $3 == out {
		printf "%d", $2
		for (i = 4; i <= NF; i++)
			printf " %d %d", index(hex, substr($i, 3, 1)) - 1, \
				index(hex, substr($i, 4, 1)) - 1
		print ""
	}' hex=0123456789abcdef "$T/before.sl2vl"
}

# After every second fault, opensm is suspended (osm_halt).  The plugin then counts the packets
# under way as lost, and the next sweep writes their blocks again.  After the other faults the sweep
# must change no entry, unless the transition has left old entries (held LIDs).
#
# After many faults the sweep may compute other tables than the fast path (531 entries differ at the
# tenth fault of the soak).  So the soak only logs the number of changed entries, and checks the
# tables after the sweep.
one_fault() {
	halted=$((!halted))
	if ((halted)); then
		halted_after_stage_one halted
	else
		osm_wait sm "$patience" 'IBF004: local repair .* down'
	fi
	osm_wait sm "$patience" 'IBF005:'
	osm_settled sm "$patience"
	osm_log sm | grep -o 'IBF005: .*' >&2
	((halted || ${FTR_SOAK:-0} || $(stage_event reroute held))) ||
		logged 'IBF005: .* changed 0 entries'
	[[ $(stage_event local failed) == 0 ]] || fail "writes were lost"
}

# Rounds of random link faults, fewer than k (docs/glossary.md) in each round.  After every second
# fault, OpenSM is suspended when the local repair is written (one_fault).  When it continues, the
# fast path completes the transition, and a sweep confirms the tables.  At the end of a round all
# links are restored.
walk_stages() {
	local rounds=$1 faults=$2 round k n halted=0
	local -A cut
	route_vls "$vls"
	n=$(wc -l <<<"$up_cables")
	for ((round = 0; round < rounds; round++)); do
		cut=()
		((vls == 1)) || vls_are_held
		while ((${#cut[@]} < faults)); do
			k=$((RANDOM * 32768 + RANDOM))
			k=$((k % n + 1))
			[[ -z ${cut[$k]:-} ]] || continue
			cut[$k]=1
			pick "$k"
			echo "round $round: link $k, ${near}[$near_port]" >&2
			osm_mark sm
			cut_it
			one_fault
			walk cut --switch-sources
			agreed cut
			no_credit_loop cut
		done
		osm_mark sm
		for k in "${!cut[@]}"; do
			pick "$k"
			mend_it
		done
		until_same before after
		# after this sweep, the planner uses the links again
		osm_wait sm "$patience" "IBF002: .* $n links between"
		at_rest
	done
}

# Make the fabric.  In the soak it has 3,456 hosts and k = 12.  Otherwise it has four pods of six
# middle switches and k = 6.
large_fabric() {
	RANDOM=${FTR_SEED:-94}
	if ((${FTR_SOAK:-0})); then
		gen 3456 --random-guids --random-ports --seed 94
	else
		gen '3;6,6,4;1,6,6;1,1,1' --random-guids --random-ports --seed 94
	fi
}

case_ddlr_stages_one_vl() {
	local vls=1
	large_fabric
	ddlr_up </dev/null
	walk before --switch-sources
	walk_stages $((${FTR_SOAK:-0} ? 2 : 1)) $((${FTR_SOAK:-0} ? 5 : 2))
	down
}

case_ddlr_stages_two_vls() {
	local vls=2
	large_fabric
	ddlr_up <<<'qos TRUE'
	logged 'IBF007: ddlr: packets use a second VL on the link after .*; SL 0-15: VL 1 instead of VL 0'
	walk before --switch-sources
	walk_stages $((${FTR_SOAK:-0} ? 2 : 1)) $((${FTR_SOAK:-0} ? 5 : 2))
	down
}
