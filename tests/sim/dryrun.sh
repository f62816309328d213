# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2034
#
# Tests that commands with --live predict exactly the changes that follow.

# A stock engine routes.  "route --live" predicts the tables that the plugin makes later, and how
# many entries will change.
case_dry_run() {
	gen '3;4,4,4;1,4,4;1,1,1' --random-guids --random-ports --seed 71
	sim_start "$T/sim" "$T/fabric.net"
	osm_start sm <<<'routing_engine minhop'
	osm_wait sm "$patience" 'SUBNET UP'
	walk before
	in_sim "$ibfattree" route --live --json -o "$T/expected.lfts" \
		>"$T/route" 2>"$T/err"
	in_sim "$ibfattree" route --live >"$T/text" 2>/dev/null
	grep -q '^change  .* if a write takes as long as a read' "$T/text" ||
		fail "$(cat "$T/text")"
	in_sim "$ibfattree" whatif --live >"$T/whatif"
	grep -q ' dmodc  in use$' "$T/whatif" || fail "$(cat "$T/whatif")"
	in_sim "$ibfattree" load --live --permutations 0 --bisections 0 >"$T/load"
	grep -q '^tables    in use$' "$T/load"
	live none >/dev/null	# nothing has been written
	same before none
	osm_stop sm
	osm_start sm < <(plugin_conf </dev/null)
	osm_wait sm "$patience" 'SUBNET UP'
	routed_by dmodc
	walk after
	same after expected
	"$ibfattree" diff "$T/before.net" "$T/before.lfts" "$T/after.lfts" \
		--json >"$T/diff" || true
	local key
	for key in entries blocks changed_switches; do
		[[ $("$SIM_BUILD/jsonq" "$T/diff" $key) == \
			$("$SIM_BUILD/jsonq" "$T/route" transition.$key) ]] ||
			fail "$key differ: $(cat "$T/diff" "$T/route")"
	done
	status=0
	in_sim "$ibfattree" diff --live "$T/before.lfts" --transition \
		>"$T/back" || status=$?
	((status == 1))
	grep -q '^in steps      safe' "$T/back" || fail "$(cat "$T/back")"
	in_sim "$ibfattree" diff --live "$T/after.lfts" >/dev/null
	expect 2 'FABRIC is needed, or --live' route
	expect 2 'require --live' route "$T/after.net" --m-key 1
	down
}

# "observe yes": the next engine in the list routes.  The plugin logs how many entries it would
# change; "route --live" reports the same number.
case_observe() {
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 72
	echo 'observe yes' >"$T/conf"
	sim_start "$T/sim" "$T/fabric.net"
	osm_start sm <<-EOF
	event_plugin_name ibfattree
	routing_engine dmodc,updn
	event_plugin_options ibfattree:$T/conf
	EOF
	osm_wait sm "$patience" 'SUBNET UP'
	routed_by updn
	logged 'IBF020: dmodc observes: .* passed all checks'
	walk before
	in_sim "$ibfattree" route --live --json -o "$T/expected.lfts" \
		>"$T/route" 2>/dev/null
	# at the first sweep OpenSM does not know the switches' tables yet
	resweep_observed
	local n
	n=$("$SIM_BUILD/jsonq" "$T/route" transition.entries)
	logged "IBF020: dmodc observes: .* would change $n entries in "
	not_logged 'IBF002'
	# a link fails: the plugin writes nothing, and updn routes
	osm_mark sm
	local node port
	IFS=$'\t' read -r node port _ < <(sim_cables "$T/fabric.net" | sed -n 1p)
	sim_do "Unlink \"$node\"[$port]"
	osm_wait sm "$patience" 'IBF020'
	osm_settled sm "$patience"
	not_logged 'IBF004'
	routed_by updn
	down
	never_logged 'IBF210'
}
resweep_observed() {
	osm_mark sm
	kill -HUP "${OSM_PID[sm]}"
	osm_wait sm "$patience" 'IBF020'
}

# OpenSM's engine "file" loads the saved tables, although LIDs have changed.  If a link has failed
# since the tables were saved, "restore" has exit status 1.
case_save_restore() {
	local hosts
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 73
	mapfile -t hosts < <(sim_hosts "$T/fabric.net")
	sim_start "$T/sim" "$T/fabric.net"
	printf '0x%016x\n' 1 2 >"$T/roots"
	echo 'threads 1' >"$T/plugin.conf"
	osm_start sm <<-EOF
	routing_engine minhop
	event_plugin_options ibfattree:$T/plugin.conf
	EOF
	osm_wait sm "$patience" 'SUBNET UP'
	walk first
	{ cat "$SIM_DIR/sm/opensm.conf" && printf '%s\n' "root_guid_file $T/none" \
		"cn_guid_file $T/none" 'io_guid_file (null)' "root_guid_file $T/roots"; } >"$T/opensm.conf"
	in_sim "$ibfattree" save --sl2vl --conf "$T/opensm.conf" "$T/saved" >"$T/out" 2>"$T/notes"
	grep -qx "ibfattree: note: $T/none: No such file or directory; it is not saved" "$T/notes"
	cmp "$T/saved/roots" "$T/roots"
	[[ $(stat -c %a "$T/saved") == 700 ]]	# opensm.conf may contain keys
	cmp "$T/saved/fabric.net" "$T/first.net"
	cmp "$T/saved/plugin.conf" "$T/plugin.conf"
	cmp "$T/saved/opensm.conf" "$T/opensm.conf"
	grep -qx 'opensm 3\.3\.[0-9]*' "$T/saved/versions"
	"$ibfattree" check "$T/saved/fabric.net" --sl2vl "$T/saved/sl2vl" \
		--lfts "$T/saved/lfts.gz" --save-lfts "$T/saved.lfts" >"$T/out"
	cmp "$T/saved.lfts" "$T/first.lfts"
	! in_sim "$ibfattree" save "$T/saved" >"$T/out" 2>&1 ||
		fail "save writes into a directory that already exists"
	grep -q "$T/saved: File exists" "$T/out"
	! in_sim "$ibfattree" save --conf "$T/none" "$T/less" 2>"$T/out" || fail "saved without its opensm.conf"
	grep -qx "ibfattree: $T/none: No such file or directory" "$T/out"
	[[ ! -e $T/less ]]
	osm_stop sm

	# start another manager, which assigns other LIDs
	OSM_HOST[sm]=${hosts[20]}
	SIM_HOST=${hosts[20]}
	rm -f "$SIM_DIR/sm/guid2lid"
	osm_start sm <<<'reassign_lids TRUE'
	osm_wait sm "$patience" 'SUBNET UP'
	live other >/dev/null
	! cmp -s "$T/first.net" "$T/other.net" || fail "no LID has changed"
	in_sim "$ibfattree" restore "$T/saved" --live -o "$T/load.lfts" \
		>"$T/out" || fail "$(cat "$T/out")"
	grep -qx "  lfts_file $T/load.lfts" "$T/out"
	osm_stop sm
	osm_start sm <<-EOF
	$(sed -n 's/^  \([a-z].*\)/\1/p' "$T/out")
	EOF
	osm_wait sm "$patience" 'SUBNET UP'
	routed_by file
	walk second
	same second load
	# convert the tables to the first LIDs again: no entry may be lost
	in_sim "$ibfattree" save "$T/again" >"$T/out"
	"$ibfattree" restore "$T/again" "$T/first.net" -o "$T/back.lfts" \
		>"$T/out" || fail "$(cat "$T/out")"
	same first back

	local node port status=0
	IFS=$'\t' read -r node port _ < <(sim_cables "$T/fabric.net" | sed -n 1p)
	sim_do "Unlink \"$node\"[$port]"
	in_sim "$ibfattree" restore "$T/saved" --live -o "$T/load.lfts" \
		>"$T/out" 2>&1 || status=$?
	((status == 1)) || fail "exit status $status: $(cat "$T/out")"
	expect 2 'restore: --output' restore "$T/saved"
	expect 2 "$T/nothing" restore "$T/nothing" -o "$T/x"
	osm_stop sm
}

# docs/rollout.md, from the first check to production and back.  Every command of ibfattree on that
# page is run literally, only with other directories.
case_rollout() {
	local page=$top/docs/rollout.md ran=0 spine=
	# on_page REGEX: print the matching lines of the page, with the directories of this test
	on_page() {
		sed ':a; /\\$/ { N; s/\\\n *//; ba }' "$page" | grep -E "^    $1" |
			sed "s|^    ||; s| *#.*||; s|SWITCH|$spine|
				s|/var/backups|$T|g; s|/etc/opensm|$T|g"
	}
	# run_line REGEX: run the command in the matching line
	run_line() {
		local line status=0
		line=$(on_page "$1")
		[[ -n $line && $line != *$'\n'* ]] ||
			fail "$page has no line, or several, that match '$1': $line"
		PATH=$SIM_BUILD:$PATH OSM_CACHE_DIR=$SIM_DIR/sm \
			LD_LIBRARY_PATH=$SIM_BUILD in_sim bash -c "cd '$T' && $line" \
			>"$T/out" 2>"$T/err" || status=$?
		((status == 0)) ||
			fail "exit status $status: $line: $(cat "$T/out" "$T/err")"
		: $((++ran))
	}
	gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed 75
	sim_start "$T/sim" "$T/fabric.net"
	osm_start sm <<<'routing_engine minhop'
	osm_wait sm "$patience" 'SUBNET UP'

	run_line 'ibfattree doctor$'
	grep -q '^recommended for opensm.conf' "$T/out"
	run_line 'ibfattree save'
	run_line 'ibfattree route --live'
	grep -q 'any order' "$T/out" || fail "no 'any order': $(cat "$T/out")"
	grep -q 'credit loops' "$T/out" || fail "no 'credit loops': $(cat "$T/out")"
	run_line 'ibfattree whatif --live --fail'
	spine=$(sim_cables "$T/fabric.net" | sed -n 1p | cut -f 3)
	run_line 'ibfattree whatif --live --drain'
	walk before
	osm_stop sm
	run_line 'ibfattree gen'
	run_line 'ibfattree route f.net -o'
	run_line 'ibfattree route f.net --nominal'
	run_line 'ibfattree sim .* --recover'
	grep -q '^lost  *0$' "$T/out" || fail "$(cat "$T/out")"
	run_line 'ibfattree sim .*less.lfts@200us'
	grep -q '^lost  *0$' "$T/out" || fail "$(cat "$T/out")"

	echo 'observe yes' >"$T/ibfattree.conf"
	osm_start sm < <(on_page 'event_plugin_name'
		on_page 'routing_engine'; on_page 'event_plugin_options')
	osm_wait sm "$patience" 'SUBNET UP'
	logged IBF001
	logged IBF020
	routed_by minhop
	walk canary
	same before canary
	osm_stop sm

	: >"$T/ibfattree.conf"
	osm_start sm < <(on_page 'event_plugin_name'
		on_page 'routing_engine'; on_page 'event_plugin_options')
	osm_wait sm "$patience" 'SUBNET UP'
	logged IBF002
	routed_by dmodc
	walk production
	run_line 'ibfattree doctor &&'
	run_line 'ibfattree restore'
	osm_stop sm
	osm_start sm < <(sed -n 's/^  \([a-z].*\)/\1/p' "$T/out")
	osm_wait sm "$patience" 'SUBNET UP'
	routed_by file
	walk back
	same before back
	osm_stop sm
	# the commands of "Maintenance of a switch" are run by the cases of drains
	((ran == $(on_page 'ibfattree ' | grep -cvE 'ibfattree (un)?drains?\b'))) ||
		fail "$ran commands were run, but $page has others"
}
