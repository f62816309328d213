# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# The engine ddlr: a fault is healed by few writes around it, then the new tables
# are handed over to, then a sweep finds nothing to change.

ddlr_up() { fast_up < <(echo 'routing_engine ddlr'; cat); }

# The last event of a stage, and what it says of a key.
stage_event() {
	grep "\"stage\":\"$1\"" "$SIM_DIR/sm/ibfattree-events.jsonl" |
		tail -n 1 >"$T/stage.json"
	"$SIM_BUILD/jsonq" "$T/stage.json" "$2"
}

healed_locally() {
	osm_wait sm "$patience" 'IBF004: local repair .* down'
	# on one lane packets to switches may wait for the new tables
	live local || true
	if ! grep -q '^loops *none' "$T/local.txt" || ! grep -q \
		'^paths *end port -> end port .* all arrive' "$T/local.txt"; then
		cat "$T/local.txt" >&2
		fail "hosts lost their way"
	fi
	reconciled
	[[ $(stage_event local switches) -le 3 ]] ||
		fail "stage one wrote to $(stage_event local switches) switches"
	[[ $(stage_event local failed) == 0 ]] || fail "writes were lost"
	walk cut --switch-sources
	agreed cut
}

case_ddlr_one_lane() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 91
	ddlr_up </dev/null
	logged 'IBF007: ddlr: all traffic on one lane: qos is off'
	walk before --switch-sources
	local i
	for i in 1 40; do
		pick "$i"
		osm_mark sm
		cut_it
		healed_locally
		osm_mark sm
		mend_it
		until_same before after
		# the next repair is a local one when a sweep has routed with it
		osm_wait sm "$patience" 'IBF002: .* 128 cables'
		at_rest
	done
	not_logged 'ERR IBF'
	down
}

# With qos every switch holds the turn bit, and the paths have no cycle on it.
case_ddlr_two_lanes() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 92
	ddlr_up <<<'qos TRUE'
	logged 'IBF007: ddlr: detours have VL 1'
	walk before --switch-sources
	pick 5
	osm_mark sm
	cut_it
	healed_locally
	turn_bit
	osm_mark sm
	mend_it
	until_same before after
	not_logged 'ERR IBF'
	down
}

# Of a middle switch: VL 1 from a port below to another one below and from above
# to above, VL 0 else; read from the switch.
turn_bit() {
	local lid dump
	lid=$(awk '/^Switch/ && /"sw-2-3"/ { for (i = 1; i <= NF; i++)
			if ($i == "lid") print $(i + 1) }' "$T/cut.net")
	dump=$(in_sim smpquery sl2vl "$lid" 1)
	grep -q '|1|1|1|1|1|1|1|1|' <<<"$(tr -d ' ' <<<"$dump")" ||
		fail "no turn bit at LID $lid: $dump"
	grep -q '|0|0|0|0|0|0|0|0|' <<<"$(tr -d ' ' <<<"$dump")" ||
		fail "nothing goes straight at LID $lid: $dump"
}

# Up to k-1 = 3 faults at the same time, at random.
case_ddlr_random() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 93
	ddlr_up </dev/null
	walk before --switch-sources
	local n i round rounds=$((${FTR_SOAK:-0} ? 40 : 2)) k
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
			# a sweep under way may have been the first to see it
			((RANDOM % 2)) || osm_wait sm "$patience" 'IBF00[24]'
		done
		at_rest
		until_healed cut
		osm_mark sm
		for k in "${!cut[@]}"; do
			pick "$k"
			mend_it
		done
		until_same before after
		at_rest
	done
	not_logged 'ERR IBF'
	down
}
