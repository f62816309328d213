# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests of the command ibfattree in simulated fabrics.  Its tables and files must equal those
# of opensm.  Further cases: switches that do not answer, invalid arguments, load, whatif, real
# fabrics, scripts/demo.

# The tables that "check --live" reads from the switches equal the dump of stock opensm.
case_live_equals_dump() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 51
	sim_start "$T/sim" "$T/fabric.net"
	osm_start sm <<<'routing_engine updn'
	osm_wait sm "$patience" 'SUBNET UP'
	routed_by updn
	walk live
	agreed live
	"$ibfattree" check "$T/live.net" --lfts "$SIM_DIR/sm/opensm-lfts.dump" \
		>/dev/null
	down
}

# opensm.fdbs and opensm-lfts.dump give the same tables, even with unknown hop counts, missing
# entries and detours.
case_fdbs_equals_dump() {
	gen '2;3,3;1,2;1,1' --drop-links 1 --seed 1
	up <<<'lmc 1'
	walk live
	local d=$SIM_DIR/sm word
	sim_until "$patience" test -s "$d/opensm.mcfdbs" -o -s "$d/opensm-subnet.lst"
	down
	for word in 'HOPS UNKNOWN' UNREACHABLE 'hop path possible'; do
		grep -q "$word" "$d/opensm.fdbs" || fail "no '$word' in $d/opensm.fdbs"
	done
	"$ibfattree" diff "$T/live.net" "$d/opensm-lfts.dump" "$d/opensm.fdbs" \
		>"$T/diff" || fail "the dumps differ: $(cat "$T/diff")"
	differ_from "$d/opensm.fdbs" "$d/opensm-lfts.dump"
}

# Two files with the same tables must differ in form, so that comparing their tables proves
# something.
differ_from() { ! cmp -s "$1" "$2" || fail "$1 and $2 have the same contents"; }

case_silent_switch() {
	gen '2;4,4;1,4;1,1' --random-guids --seed 52
	sim_start "$T/sim" "$T/fabric.net"
	osm_start sm <<<'routing_engine updn'
	osm_wait sm "$patience" 'SUBNET UP'
	local far status=0
	IFS=$'\t' read -r _ _ far _ < <(sim_cables "$T/fabric.net" | sed -n 1p)
	# lose all packets for attribute 25, LinearForwardingTable
	sim_do "Error \"$far\" 100 25"
	live silent 2>"$T/err" || status=$?
	((status == 1)) || fail "a silent switch gives exit status $status"
	grep -q "0x${far#S-}) over directed route 0,.*no answer" "$T/err" ||
		fail "the silent switch is not named: $(cat "$T/err")"
	grep -q '1 switch without a table' "$T/silent.txt"
	down
}

case_no_subnet_manager() {
	gen '2;4,4;1,4;1,1' --seed 53
	sim_start "$T/sim" "$T/fabric.net"
	local status=0
	live none 2>"$T/err" || status=$?
	((status == 2)) || fail "without LIDs the exit status is $status"
	grep -q 'no subnet manager has assigned LIDs' "$T/err"
}

expect() {
	local want=$1 text=$2 status=0
	shift 2
	"$ibfattree" "$@" >"$T/out" 2>"$T/err" || status=$?
	((status == want)) ||
		fail "'$*' gives exit status $status, not $want: $(cat "$T/err")"
	grep -qF -- "$text" "$T/out" "$T/err" ||
		fail "'$*' does not say '$text': $(cat "$T/out" "$T/err")"
}

case_arguments() {
	local net=$T/a.net
	"$ibfattree" gen '2;4,4;1,4;1,1' -o "$net"
	expect 0 '--random-guids' gen --help
	expect 2 "unknown command 'rout'" rout
	expect 2 "unknown option '--sed'" gen 648 --sed 1
	expect 2 "--seed expects a number, not 'x'" gen 648 --seed x
	expect 2 "--lmc expects a number from 0 to 7, not '8'" gen 648 --lmc 8
	expect 2 'missing argument' gen
	expect 2 "unknown engine 'bogus'" route "$net" --engine bogus
	expect 2 "$T/nowhere" route "$T/nowhere"
	expect 2 'FABRIC and --lfts' check "$net"
	expect 0 '' route "$net" -o "$T/a.lfts"
	expect 0 'verdict       clean' check "$net" --lfts "$T/a.lfts"
	expect 0 '0 entries' diff "$net" "$T/a.lfts" "$T/a.lfts"
	expect 2 "$T" route "$net" -o "$T/no/such/dir"
	awk '!done && /^0x[0-9a-f]+ 00[1-9]/ && ++n == 3 { done = 1; next } 1' \
		"$T/a.lfts" >"$T/hole.lfts"
	expect 1 'missing entry' check "$net" --lfts "$T/hole.lfts"
	expect 1 '1 entry in 1 block of 1 switch differs' \
		diff "$net" "$T/a.lfts" "$T/hole.lfts"
}

# Stock minhop on a real fabric, compared with dmodc: the example in README.
case_real_minhop_beside_dmodc() {
	local net=$FTR_TOPOLOGIES/topograph/topograph.net status=0
	[[ -r $net ]] || skip "no topograph.net in $FTR_TOPOLOGIES (FTR_TOPOLOGIES)"
	sim_start "$T/sim" "$net"
	osm_start sm <<<'routing_engine minhop'
	osm_wait sm "$patience" 'SUBNET UP'
	routed_by minhop
	live minhop || status=$?
	((status == 1)) || fail "stock minhop tables give exit status $status"
	grep -q 'credit loops  FOUND: 4 links' "$T/minhop.txt"
	sim_until "$patience" test -s "$SIM_DIR/sm/opensm.fdbs"
	# opensm's dumps of fabric and tables give the same result
	expect 1 'FOUND: 4 links' check "$SIM_DIR/sm/opensm-subnet.lst" \
		--lfts "$SIM_DIR/sm/opensm.fdbs"
	down
	expect 0 '' whatif "$T/minhop.net" --compare "$T/minhop.lfts" --json
	"$SIM_BUILD/jsonq" "$T/out" columns.0.runs.0.credit_loop_length |
		grep -qx 0
	"$SIM_BUILD/jsonq" "$T/out" columns.1.runs.0.credit_loop_length |
		grep -qx 4
	"$ibfattree" whatif "$T/minhop.net" --fail 2%links --repeat 5 \
		"$T/minhop.lfts" >"$T/out"
	grep -q '^credit loop, .* none  *none  *none  *4$' "$T/out" ||
		fail "$(cat "$T/out")"
}

# ddlr on real fabrics.  One random link fails, and a local repair follows.  Then all hosts on
# leaves are reachable, and there is no loop.  Aggregation Nodes on spines may still be unreachable.
real_ddlr() {
	local net=$FTR_TOPOLOGIES/$1 most=$2 i lost out=$T/out
	[[ -r $net ]] || skip "no $1 in $FTR_TOPOLOGIES (FTR_TOPOLOGIES)"
	"$ibfattree" whatif "$net" --engine ddlr --local --fail 1links \
		--repeat 20 --json >"$out"
	[[ $("$SIM_BUILD/jsonq" "$out" columns.2.kind) == local ]]
	for ((i = 0; i < 20; i++)); do
		lost=$("$SIM_BUILD/jsonq" "$out" \
			columns.2.runs.$i.host_host_not_arriving)
		((lost <= most)) || fail "run $i: $lost pairs do not arrive"
		for lost in loops credit_loop_length; do
			[[ $("$SIM_BUILD/jsonq" "$out" columns.2.runs.$i.$lost) == 0 ]] ||
				fail "run $i has $lost"
		done
	done
}
case_real_ddlr_avakas() { real_ddlr avakas/avakas.net 0; }
case_real_ddlr_plafrim() { real_ddlr plafrim/plafrim.net 0; }
case_real_ddlr_topograph() { real_ddlr topograph/topograph.net 24; }

# Ten links fail, and every third of them returns.  Then the engine avoids the links that stay down.
case_schedule() {
	"$ibfattree" gen 648 --no-lids --random-guids --seed 56 -o "$T/fabric.net"
	sim_cables "$T/fabric.net" | shuf -n 10 --random-source <(yes) | awk -F '\t' '
		{ print "Unlink \"" $1 "\"[" $2 "]" }
		NR % 3 == 0 { print "Link \"" $1 "\"[" $2 "] \"" $3 "\"[" $4 "]" }' >"$T/faults"
	up </dev/null
	walk whole
	osm_mark sm
	local line
	while read -r line; do
		sim_do "$line"
	done <"$T/faults"
	until_rest damaged	# some links have returned
	local cut
	cut=$(($(grep -c Unlink "$T/faults") - $(grep -c '^Link' "$T/faults")))
	grep -q "host ports, $((648 - cut)) links" "$T/damaged.txt" ||
		fail "$cut links are down, but $(sed -n 1p "$T/damaged.txt")"
	down
}

case_load() {
	local net=$T/a.net
	"$ibfattree" gen '3;3,3,6;1,3,3;1,1,1' --random-guids --random-ports \
		--seed 56 -o "$net"
	"$ibfattree" route "$net" -o "$T/a.lfts" 2>/dev/null
	expect 2 '--lfts' load "$net"
	expect 0 'most loaded links' load "$net" --lfts "$T/a.lfts"
	# no two flows of a shift share a link
	grep -Eq '^shifts +53 +2,862 +0 +1\.00 +1 ' "$T/out" ||
		fail "shifts: $(cat "$T/out")"
	printf '%s\n' '# all to one' '"host-1" "host-0"' '"host-2" "host-0"' \
		'"host-53" "host-0"' >"$T/pairs"
	expect 0 'flows per host port: at most 3' load "$net" \
		--lfts "$T/a.lfts" --patterns "$T/pairs" --bisections 0
	echo '"host-1" "nobody"' >"$T/pairs"
	expect 2 "$T/pairs:1: no host port" load "$net" --lfts "$T/a.lfts" \
		--patterns "$T/pairs"
	# the first place in the host order is a gap, so the first host sends nothing
	awk '/Channel Adapter/ { print $1 "\tname" } /lids dumped/ { exit }' \
		"$T/a.lfts" >"$T/order"
	sed -i '1s/.*/0xFFFF\tDUMMY/' "$T/order"
	expect 0 '53 host ports, without its 1 gap' load "$net" --lfts "$T/a.lfts" \
		--order "$T/order" --sample 3
	grep -Eq '^shifts +3 ' "$T/out" || fail "sample: $(cat "$T/out")"
	local lid
	lid=$(sed -n '2s/\t.*//p' "$T/order")
	grep -v "^$lid " "$T/a.lfts" >"$T/hole.lfts"
	expect 1 'all-to-all' load "$net" --lfts "$T/hole.lfts"
	grep -Eq '^all-to-all +1 +2,862 +53 ' "$T/out" ||
		fail "a LID without entries: $(cat "$T/out")"
}

# Tables computed offline equal the plugin's tables for the same fabric.
case_offline_equals_plugin() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 54
	up </dev/null
	walk live
	"$ibfattree" route "$T/live.net" -o "$T/offline.lfts" 2>/dev/null
	same live offline
	down
}

# "whatif" predicts how many entries the plugin changes after a fault, on an irregular fabric.
# First one link fails, then the switch at its upper end.
whatif_predicts() {
	local engine=$1 balance=$2 spec entries
	gen '2;12,12;1,6;1,2' --random-guids --drop-links 9 --seed 55
	echo "balance $balance" >"$T/ibfattree.conf"
	up <<<"routing_engine $engine"$'\n'"event_plugin_options ibfattree:$T/ibfattree.conf"
	walk before
	IFS=$'\t' read -r near near_port far _ < <(sim_cables "$T/fabric.net" | sed -n 1p)
	for spec in "${near}[$near_port]" "$far"; do
		osm_mark sm
		if [[ $spec == "$far" ]]; then
			sim_do "Unlink \"$far\""
		else
			sim_do "Unlink \"$near\"[$near_port]"
		fi
		until_healed cut
		"$ibfattree" diff "$T/cut.net" "$T/before.lfts" "$T/cut.lfts" \
			--json >"$T/diff" || true
		"$ibfattree" whatif "$T/before.net" --engine "$engine" --balance "$balance" \
			--fail "$spec" --json >"$T/whatif"
		entries=$("$SIM_BUILD/jsonq" "$T/diff" entries)
		((entries > 0)) || fail "no entry has changed"
		[[ $("$SIM_BUILD/jsonq" "$T/whatif" columns.2.runs.0.changed_entries) == "$entries" ]] ||
			fail "$spec: $entries entries have changed: $(cat "$T/whatif")"
	done
	down
}

case_whatif_predicts_dmodc() { whatif_predicts dmodc load; }
case_whatif_predicts_sftree() { whatif_predicts sftree load; }
# with "balance off", the load of links does not matter when entries get another port
case_whatif_predicts_off() { whatif_predicts dmodc off; }

# ibdmchk uses the SL2VL file that "route" writes.
case_ibdmchk_reads_our_vls() {
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 57
	up </dev/null
	walk live
	"$ibfattree" route "$T/live.net" -o "$T/offline.lfts" \
		--sl2vl "$T/sl2vl" 2>/dev/null
	expect 0 '' check "$T/live.net" --lfts "$T/live.lfts" \
		--sl2vl "$T/sl2vl"
	ibdm -d "$T/sl2vl"
	grep -qx -e '-I- Defined 16 VLs in use *' "$T/ibdmchk.txt"
	# ibdmchk counts the two links of the hosts as hops, too
	diff <(sed -n '/LFT ROUTE HOP HISTOGRAM/,/^---*$/p' "$T/ibdmchk.txt" |
		awk '$1 ~ /^[0-9]+$/ { print $1 - 2, $2 }') \
		<(sed -n 's/,//g; s/^hops  */ /; s/ pairs of host ports$//p' \
			"$T/out" | awk '{ print $1, $2 }') >&2
	down
}

# OpenSM's own engine "file" accepts the tables of "route".
case_opensm_loads_our_tables() {
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 55
	up </dev/null
	walk first
	down
	cp "$T/first.lfts" "$T/load.lfts"
	osm_start sm <<-EOF
	routing_engine file
	lfts_file $T/load.lfts
	honor_guid2lid_file TRUE
	EOF
	osm_wait sm "$patience" 'SUBNET UP'
	routed_by file
	walk second
	same first second
	down
}

# scripts/demo runs on real fabrics, with the manager on a host, and on a compressed netfile.
demo_on() {
	local net=$FTR_TOPOLOGIES/$1
	shift
	[[ -r $net ]] || skip "no $net (FTR_TOPOLOGIES)"
	[[ $build == "$top/build" ]] || skip "scripts/demo shows $top/build only"
	"$top/scripts/demo" --fabric "$net" "$@" >"$T/demo.txt" 2>&1 ||
		fail "scripts/demo --fabric $net $*: $(cat "$T/demo.txt")"
	grep -q '^manager  on host ".*"' "$T/demo.txt"
	! grep -q '^manager .*Aggregation Node' "$T/demo.txt" ||
		fail "the manager is on an Aggregation Node"
	grep -q '^same ' "$T/demo.txt"
}

# Two trees, each with LEAVES leaf switches of HOSTS hosts and with two spines.  Two links join the
# spines of the trees.
two_trees() {
	awk -v leaves="$1" -v hosts="$2" 'function add(a, b) {
		line[a] = line[a] sprintf("[%d] \"%s\"[%d]\n", ++n[a], b, ++n[b])
		line[b] = line[b] sprintf("[%d] \"%s\"[%d]\n", n[b], a, n[a])
	}
	BEGIN {
		for (t = 1; t <= 2; t++)
			for (l = 1; l <= leaves; l++) {
				leaf = sprintf("S-00000000000%d01%02d", t, l)
				for (s = 1; s <= 2; s++)
					add(leaf, sprintf("S-00000000000%d02%02d", t, s))
				for (h = 1; h <= hosts; h++)
					add(leaf, sprintf("H-0000000000%d%02d%02d0", t, l, h))
			}
		for (s = 1; s <= 2; s++)
			add(sprintf("S-000000000001020%d", s),
			    sprintf("S-000000000002020%d", s))
		for (i in line)
			printf("%s %d \"%s\" # \"%s\"\n%s\n", i ~ /^S/ ? \
				"Switch" : "Ca", i ~ /^S/ ? 24 : 1, i, i, line[i])
	}'
}

case_demo_two_trees() {
	two_trees 4 6 >"$T/two.net"
	FTR_TOPOLOGIES=$T demo_on two.net
	! grep -q 'left to OpenSM' "$T/demo.txt" || fail "no fast reroute"
}

case_demo_avakas() { demo_on avakas/avakas.net; }
case_demo_plafrim() { demo_on plafrim/plafrim.net --engine ddlr; }
case_demo_topograph() { demo_on topograph/topograph.net --engine sftree; }
case_demo_topograph_noan() { demo_on topograph/topograph-noan.net; }
case_demo_plafrim2() {
	[[ -r $FTR_TOPOLOGIES/plafrim2/plafrim2a.net ]] ||
		skip "no plafrim2a.net in $FTR_TOPOLOGIES (FTR_TOPOLOGIES)"
	gzip <"$FTR_TOPOLOGIES/plafrim2/plafrim2a.net" >"$T/f.net.gz"
	FTR_TOPOLOGIES=$T demo_on f.net.gz
}
