# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Every Set of a table is recorded in opensm (record.c), and all pairs of hosts are followed after
# each Set (replay.c).

# record_up: like up, but the Sets are recorded in $T/record.
record_up() {
	local conf
	[[ -e $SIM_BUILD/librecord.so ]] || skip 'no libibmad'
	conf=$(plugin_conf)
	sim_start "$T/sim" "$T/fabric.net"
	export FTR_RECORD=$T/record SIM_PRELOAD=${SIM_PRELOAD:+$SIM_PRELOAD:}$SIM_BUILD/librecord.so
	osm_start sm <<<"$conf"
	osm_wait sm "$patience" 'SUBNET UP'
	unset FTR_RECORD
}

# record_replayed RECORD NET: replay the record on the fabric that walk has read as NET.
record_replayed() { "$SIM_BUILD/replay" "$T/$2.net" "$SIM_HOST" "$1" >"$T/replay.txt" 2>&1; }

# power_cycle ID NET: lose a switch, let it return without a table, and wait until the tables are
# those of NET.
power_cycle() {
	osm_mark sm
	echo "cut $1" >>"$T/record"
	sim_do "Unlink \"$1\""
	until_healed cut
	osm_mark sm
	echo "empty $1" >>"$T/record"
	sim_do "ReLink \"$1\""
	until_same "$2" back
}

# A spine loses its power and returns with an empty table.  No Set may take the path away from a
# pair of hosts, or close a loop.  Then the walker is tested: it must find fault with a Set that
# empties a block of a leaf.
case_order_spine_returns() {
	local status=0
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 91
	record_up </dev/null
	walk before
	echo watch >>"$T/record"
	power_cycle "$(sim_cables "$T/fabric.net" | sed -n 1p | cut -f 3)" before
	record_replayed "$T/record" before || fail "$(<"$T/replay.txt")"
	grep -q '^[1-9][0-9]* states' "$T/replay.txt" || fail "$(<"$T/replay.txt")"
	note "$(<"$T/replay.txt")"
	# the first hop of a route leads to the leaf of OpenSM's host
	awk '{ print } $1 == "lft" && $2 !~ /\./ && $4 == 0 { gsub(/[0-9a-f]/, "f", $5); last = $0 }
		END { print last }' "$T/record" >"$T/broken"
	record_replayed "$T/broken" before || status=$?
	[[ $status == 1 ]] || fail "a leaf without entries: status $status, $(<"$T/replay.txt")"
	down
}
