# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests of preferred tables, that is, the result of the background search.  They are applied once,
# and are kept through faults and restarts.  A fault changes only the entries that must change.

searching() { echo "event_plugin_options ibfattree:$T/full.conf"; }

# Cut and restore the first link in the list of sim_cables.  The repair changes only entries of
# paths over this link.  The sweep after the repair changes no entry.  After the return of the link,
# all entries have their old ports.
cut_and_mend() {
	local near near_port far far_port
	IFS=$'\t' read -r near near_port far far_port _ < \
		<(sim_cables "$T/fabric.net" | sed -n 1p)
	osm_mark sm
	sim_do "Unlink \"$near\"[$near_port]"
	osm_wait sm "$patience" 'IBF005:.* changed 0 entries'
	until_rest cut
	quiet
	differ found cut
	not_over "${near#S-} $near_port" "${far#S-} $far_port" >"$T/others"
	[[ ! -s $T/others ]] || fail "entries changed that do not use the link: $(<"$T/others")"
	osm_mark sm
	sim_do "Link \"$near\"[$near_port] \"$far\"[$far_port]"
	until_same found mended
}

# not_over END END: print entries that differ between the tables "found" and "cut" without need: in
# "found" their path does not use the link between these two ports.  END is "GUID PORT".
not_over() {
	awk -v a="$1" -v b="$2" '
		FNR == 1 { file++ }
		file == 1 && /^[^[]/ { self = "" }
		file == 1 && /^Switch/ { split($0, w, "\""); self = substr(w[2], 3) }
		file == 1 && /^\[[0-9]+\][ \t]*"S-/ && self != "" {
			split($0, w, "\"")
			peer[self " " substr(w[1], 2) + 0] = substr(w[2], 3)
		}
		/^Unicast/ { match($0, /guid 0x/); self = substr($0, RSTART + 7, 16) }
		file == 2 && /^0x/ { was[self, $1] = $2 + 0 }
		file == 3 && /^0x/ { now[self, $1] = $2 + 0; was[self, $1] += 0 }
		END {
			for (key in was) {
				if (was[key] == now[key])
					continue
				split(key, w, SUBSEP)
				at = w[1]
				for (hops = 0; at != "" && hops < 8; hops++) {
					step = at " " was[at, w[2]] + 0
					if (step == a || step == b)
						break
					at = peer[step]
				}
				if (at == "" || hops == 8)
					print w[1], w[2]
			}
		}' "$T/found.net" "$T/found.lfts" "$T/cut.lfts"
}

# shifts TABLES: print the flows on the most loaded link, as the mean over all shifts.
shifts() {
	"$ibfattree" load "$T/found.net" --lfts "$T/$1.lfts" --json >"$T/load.json"
	"$SIM_BUILD/jsonq" "$T/load.json" results.1.mean_max
}

# An irregular fabric.  After the search a sweep applies its result: in shifts, the most loaded link
# then has a lower load than with "balance load".  The tables are the same after a fault and after a
# restart.  After the restart opensm reads them from the file and starts no search.
case_prefer_irregular() {
	gen '2;12,12;1,6;1,2' --random-guids --drop-links 9 --seed 71
	# a long timeout: on a busy machine packets would otherwise be sent twice, and a sweep would
	# write their blocks again
	printf '%s\n' 'balance full' 'fast_timeout_ms 500' >"$T/full.conf"
	up < <(searching)
	walk first
	osm_wait sm "$patience" 'IBF008: dmodc: search done'
	until_rest found
	agreed found
	local load full
	"$ibfattree" route "$T/found.net" --balance load -o "$T/load.lfts"
	load=$(shifts load) full=$(shifts found)
	note "shifts: mean load of the most loaded link $load, after the search $full flows"
	awk -v load="$load" -v full="$full" 'BEGIN { exit !(0 < full && full < load) }' ||
		fail "the search leads to $full flows, balance load to $load"
	cut_and_mend
	osm_stop sm || fail "opensm ended with status $?"
	osm_start sm < <(plugin_conf < <(searching))
	osm_wait sm "$patience" 'SUBNET UP'
	walk again
	same found again
	not_logged 'IBF008|IBF113'
	down
}

# A damaged state file causes one message and a new search.
case_prefer_torn_file() {
	gen '2;12,12;1,6;1,2' --random-guids --drop-links 9 --seed 72
	echo 'balance full' >"$T/full.conf"
	up < <(searching)
	osm_wait sm "$patience" 'IBF008: dmodc: search done'
	until_rest found
	osm_stop sm || fail "opensm ended with status $?"
	truncate -s -100 "$SIM_DIR"/sm/ibfattree-state-*
	osm_start sm < <(plugin_conf < <(searching))
	allow 'WRN IBF113: state file not used'
	osm_wait sm "$patience" 'WRN IBF113: .*ibfattree-state-.* is incomplete'
	osm_wait sm "$patience" 'IBF008: dmodc: search done'
	until_rest again
	same found again
	down
}

# With the option "adopt", a manager without state files keeps the tables of the switches.  Without
# the option it computes other tables.
case_prefer_adopt() {
	gen '2;12,12;1,6;1,2' --random-guids --drop-links 9 --seed 71
	echo 'balance full' >"$T/full.conf"
	up < <(searching)
	osm_wait sm "$patience" 'IBF008: dmodc: search done'
	until_rest found
	takes_over 'balance load'
	walk computed
	differ found computed
	osm_stop sm || fail "opensm ended with status $?"
	rm "$SIM_DIR"/sm/ibfattree-*
	osm_start sm < <(plugin_conf < <(searching))
	osm_wait sm "$patience" 'IBF008: dmodc: search done'
	until_rest found_again
	same found found_again
	takes_over $'balance load\nadopt yes'
	walk adopted
	same found adopted
	osm_said sm 'IBF009: .* [1-9][0-9]* kept; blocks=[1-9][0-9]* unanswered=0 ms='
	takes_over $'balance load\nadopt yes\nfast_reroute off'
	logged 'IBF009: no tables read from the switches: the fast path, which reads them, is not available'
	down
}

# takes_over OPTIONS: another manager without state files takes over, with these options.
takes_over() {
	osm_stop sm || fail "opensm ended with status $?"
	rm -f "$SIM_DIR"/sm/ibfattree-*
	# The timeout is long, so that all entries are read.  The plugin computes a port for each entry
	# that it cannot read, perhaps another one.
	printf '%s\n' "$1" 'fast_timeout_ms 5000' >"$T/other.conf"
	osm_start sm < <(plugin_conf <<<"event_plugin_options ibfattree:$T/other.conf")
	osm_wait sm "$patience" 'SUBNET UP'
}

# takeover_from ENGINE [OPTION...]: dmodc takes over from ENGINE, on a fabric that gen makes with
# these options.  Writes the tables to $T/before and $T/after.
takeover_from() {
	local engine=$1
	shift
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --seed 74 "$@"
	sim_start "$T/sim" "$T/fabric.net"
	osm_start sm <<<"routing_engine $engine"
	osm_wait sm "$patience" 'SUBNET UP'
	live before || [[ $engine == minhop ]]	# it may have a credit loop
	takes_over $'balance load\ntakeover ordered'
	routed_by dmodc
	walk after
	differ before after
}

# The switches hold the tables of updn, which routes some pairs over other switches than dmodc.
# dmodc replaces the tables in a checked order.  "ibfattree diff --transition" finds such an order,
# too.
case_prefer_takeover() {
	takeover_from updn --drop-links 9
	logged 'IBF010: dmodc: the tables in use were replaced in a checked order: [1-9][0-9]* entr.* in [1-9][0-9]* block'
	not_logged 'IBF121'
	"$ibfattree" diff "$T/after.net" "$T/before.lfts" "$T/after.lfts" --transition >"$T/order" ||
		[[ $? == 1 ]]
	grep -q '^in steps  *safe' "$T/order"
	# now the switches hold the tables of dmodc
	takes_over $'balance load\ntakeover ordered'
	logged 'IBF010: dmodc: no table is replaced'
	walk again
	same after again
	down
}

case_prefer_takeover_minhop() {
	takeover_from minhop
	logged 'IBF010: dmodc: the tables in use were replaced in a checked order: [1-9][0-9]* entr.* in [1-9][0-9]* block'
	not_logged 'IBF121'
	down
}

# On a damaged tree, the tables of min-hop have a credit loop, which no order of writes avoids.  They
# are replaced in an order in which no packet is lost.
case_prefer_takeover_from_loop() {
	takeover_from minhop --drop-links 9
	logged 'IBF121: dmodc: .* a credit loop was possible for .* between [0-9]* pairs .*: the tables in use had a credit loop'
	down
}

# With "balance off" the plugin makes the same tables as "ibfattree route --balance off".
case_prefer_off() {
	gen '2;12,12;1,6;1,2' --random-guids --drop-links 9 --seed 73
	echo 'balance off' >"$T/ibfattree.conf"
	up <<<"event_plugin_options ibfattree:$T/ibfattree.conf"
	walk off
	"$ibfattree" route "$T/off.net" --balance off \
		-o "$T/expected.lfts"
	same off expected
	not_logged 'IBF008'
	down
}
