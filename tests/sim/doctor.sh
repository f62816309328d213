# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2034,SC2153
#
# Tests of ibfattree doctor on simulated fabrics, with and without faults, and on dumps of tables.
# tests/doctor/test_doctor.py tests the faults that ibsim cannot simulate.

# doctor WORD...: run ibfattree doctor.  $T/doctor has its output, $status its exit status.
doctor() {
	status=0
	OSM_CACHE_DIR=$SIM_DIR/sm in_sim "$ibfattree" doctor --opensm "$(command -v opensm)" \
		--plugin "$SIM_BUILD/libibfattree.so" \
		--conf "$SIM_DIR/sm/opensm.conf" "$@" >"$T/doctor" \
		2>"$T/doctor.err" || status=$?
}
# says VERDICT ID [REGEX]: the check ID must have this verdict, with text that matches REGEX.
says() {
	grep -Eq "^$1 +$2 .*${3:-}" "$T/doctor" ||
		fail "no '$1 $2 ${3:-}' in: $(cat "$T/doctor" "$T/doctor.err")"
}
detailed() {
	grep -Eq "^ {24}.*$1" "$T/doctor" ||
		fail "no detail '$1' in: $(cat "$T/doctor")"
}
ended() {
	((status == $1)) ||
		fail "exit status $status, not $1: $(cat "$T/doctor")"
}

small() { gen '2;6,6;1,6;1,1' --random-guids --random-ports --seed "$1"; }
first_cable() { sim_cables "$T/fabric.net" | sed -n "${1:-1}p"; }

# With the plugin and two subnet managers, no check has a finding.
case_doctor_sound() {
	two_managers
	local hosts
	small 61
	mapfile -t hosts < <(sim_hosts "$T/fabric.net")
	up <<<'sm_priority 10'
	OSM_HOST[standby]=${hosts[5]}
	osm_start standby <<<'sm_priority 1'
	osm_wait standby "$patience" 'Entering STANDBY'
	sim_until "$patience" compgen -G "$SIM_DIR/sm/ibfattree-state-*" >/dev/null
	doctor --strict
	ended 0
	says ok sm 'one master, 2 subnet managers'
	says ok standby
	says ok sm-reach 'every subnet manager'
	says ok balance
	says ok config
	says ok plugin
	says ok files
	[[ $(grep -c '^- ' "$T/doctor") == 2 ]] ||
		fail "not checked: $(grep '^- ' "$T/doctor")"
	says - mtu	# ibsim does not simulate verbs
	says - sm-version 'opensm --version'
	doctor --json
	"$SIM_BUILD/jsonq" "$T/doctor" checks.0.id | grep -qx adapter
	[[ $("$SIM_BUILD/jsonq" "$T/doctor" failure) == 0 ]]
	osm_stop standby
	doctor --quiet
	says WARNING standby
	(($(grep -c '^[A-Zo-]' "$T/doctor") == 1)) || fail "$(cat "$T/doctor")"
	down
}

# On a fabric of 2,160 nodes doctor takes less than 10 s of CPU time.
case_doctor_large() {
	local cpu
	gen '3;12,12,12;1,12,12;1,1,1' --random-guids --random-ports --seed 64
	sim_start "$T/sim" "$T/fabric.net"
	osm_start sm <<<'routing_engine minhop'
	osm_wait sm "$patience" 'SUBNET UP'
	{ TIMEFORMAT='%U %S'; time doctor; } 2>"$T/cpu"
	ended 0
	says ok fabric '432 switches, 1,728 host ports'
	says ok pairs
	cpu=$(awk '{ printf "%d", 1000 * ($1 + $2) }' "$T/cpu")
	note "$cpu ms of CPU"
	((cpu < 10000)) || fail "$cpu ms of CPU"
	down
}

# On a terminal, a command shows its progress.  Here it is slow because the fabric does not answer.
case_doctor_progress() {
	local pid
	command -v script >/dev/null || skip "script is not installed"
	small 65
	sim_start "$T/sim" "$T/fabric.net"
	osm_start sm <<<'routing_engine minhop'
	osm_wait sm "$patience" 'SUBNET UP'
	osm_stop sm
	kill -STOP "$SIM_PID"
	TERM=xterm in_sim script -qfc "$ibfattree doctor --only fabric" "$T/typescript" \
		>/dev/null 2>&1 </dev/null &
	pid=$!
	sim_until "$patience" grep -aq $'\r\033\\[Kibfattree: [a-z]' \
		"$T/typescript" || fail "$(cat "$T/typescript")"
	kill -CONT "$SIM_PID"
	wait "$pid" || true
}

case_doctor_no_manager() {
	small 62
	sim_start "$T/sim" "$T/fabric.net"
	mkdir "$SIM_DIR/sm"
	: >"$SIM_DIR/sm/opensm.conf"
	doctor
	ended 1
	says WARNING port 'state=Initialize'
	says FAILURE fabric 'no subnet manager has assigned LIDs'
	says FAILURE sm 'no subnet manager is master'
	says - pairs
}

case_doctor_no_hardware() {
	[[ ! -e /sys/class/infiniband ]] || skip "this machine has InfiniBand"
	status=0
	"$ibfattree" doctor >"$T/doctor" 2>"$T/doctor.err" || status=$?
	ended 1
	says FAILURE adapter 'no InfiniBand adapter'
	says - module
	says - permission
	says - port
	says FAILURE fabric 'cannot discover'
	says - pairs
	expect 0 'mtu' doctor --local --only mtu
	expect 2 "unknown check 'ports'" doctor --only ports
}

# rate NODE PORT RATE: change the rate of this port in $T/slow.net.
rate() {
	awk -v id="$1" -v port="[$2]" -v rate="$3" '
		/^Switch/ { split($0, q, "\""); here = q[2] }
		here == id && index($0, port) == 1 { sub(/[0-9]+x[A-Z]+$/, rate) }
		{ print }' "$T/slow.net" >"$T/slow.new"
	! cmp -s "$T/slow.net" "$T/slow.new" || fail "no port $2 of $1"
	mv "$T/slow.new" "$T/slow.net"
}

# Link faults: a narrow link, a slow link, an error counter.  Later: a link that is not activated,
# and a node that does not answer.
case_doctor_links() {
	local near port far far_port rest
	small 63
	cp "$T/fabric.net" "$T/slow.net"
	# one link is 1x wide, another one is slower
	IFS=$'\t' read -r near port far far_port rest < <(first_cable 7)
	rate "$near" "$port" 1xEDR
	rate "$far" "$far_port" 1xEDR
	IFS=$'\t' read -r near port far far_port rest < <(first_cable 2)
	rate "$near" "$port" 4xFDR
	rate "$far" "$far_port" 4xFDR
	up "$T/slow.net" <<<'max_op_vls 1'
	IFS=$'\t' read -r near port _ < <(first_cable 5)
	sim_do "PerformanceSet \"$near\"[$port] PortCounters.LinkDownedCounter=42"
	sim_do "PerformanceSet \"$near\"[$port] PortCounters.SymbolErrorCounter=4321"
	doctor
	ended 0
	says WARNING link-width '1 link is'
	detailed '1x$'
	says WARNING link-speed '1 link is'
	detailed 'FDR$'
	says WARNING vls
	says WARNING link-flaps '1 port has'
	detailed 'LinkDowned=42'
	says WARNING link-errors '1 port has'
	detailed 'SymbolErrors=4321'
	doctor --strict --flaps 42 --errors 4321
	ended 1
	says ok link-flaps
	says ok link-errors
	osm_stop sm
	# a link that is not activated, then a node that does not answer
	sim_do "Unlink \"$near\"[$port]"
	sim_do "ReLink \"$near\"[$port]"
	doctor
	says WARNING link-state
	detailed Initialize
	says FAILURE sm 'no subnet manager is master'
	IFS=$'\t' read -r _ _ far rest < <(first_cable)
	sim_do "Error \"$far\" 100"
	doctor
	ended 1
	says FAILURE silent
}

case_doctor_missing_links() {
	small 64
	up </dev/null
	walk whole
	osm_mark sm
	local near port
	IFS=$'\t' read -r near port _ < <(first_cable)
	sim_do "Unlink \"$near\"[$port]"
	until_healed damaged
	doctor
	says WARNING links-missing '1 upward neighbour is'
	doctor --nominal "$T/whole.net"
	says WARNING links-missing 'missing parts of .*: 1 link between switches'
	echo 0x1234 >"$T/roots"
	doctor --roots "$T/roots" --cn "$T/roots"
	ended 0
	says WARNING files '2 files'
	says ok ranks '2 ranks'
	down
}

# A link of the leaf of the subnet manager fails while opensm is stopped: the switches whose paths
# cross this link do not reach the subnet manager.
case_doctor_sm_reach() {
	local leaf near port
	small 66
	up </dev/null
	leaf=$(awk -v id="$SIM_HOST" '/^[A-Z]/ { here = index($0, "\"" id "\"") }
		here && /^\[/ { split($0, q, "\""); print q[2]; exit }' "$T/fabric.net")
	IFS=$'\t' read -r near port _ < <(sim_cables "$T/fabric.net" |
		awk -F '\t' -v leaf="$leaf" '$1 == leaf || $3 == leaf')
	osm_halt
	sim_do "Unlink \"$near\"[$port]"
	doctor
	osm_go_on
	ended 1
	says FAILURE sm-reach 'missing paths from switches to subnet managers'
	detailed '"sw-2-.*" to the subnet manager ".*" \(0x[0-9a-f]*\), lid [0-9]*$'
	says FAILURE pairs
}

# opensm.conf has contradictory or missing lines.  Then the plugin is for another version of OpenSM.
case_doctor_configuration() {
	small 65
	up <<<'use_ucast_cache TRUE'
	doctor
	says WARNING config
	detailed use_ucast_cache
	grep -q '  use_ucast_cache FALSE' "$T/doctor"
	sed 's/OpenSM 3\.3\.23/OpenSM 9.9.99/g' \
		"$SIM_BUILD/libibfattree.so" >"$T/other.so"
	doctor --plugin "$T/other.so"
	ended 1
	says FAILURE plugin 'built for OpenSM 9.9.99'
	printf 'routing_engine dmodc\n' >"$T/conf"
	doctor --conf "$T/conf" --only config
	ended 1
	says FAILURE config
	doctor --ca nowhere --only adapter
	ended 1
	says FAILURE adapter
	down
}

# Check dumps of tables with unreachable pairs, with loops, and with credit loops.
case_doctor_tables() {
	local net=$top/tests/cli/golden/ring.net
	dumps() {
		status=0
		"$ibfattree" doctor "$net" --lfts \
			"$top/tests/cli/golden/ring-$1.lfts" >"$T/doctor" \
			2>"$T/doctor.err" || status=$?
	}
	dumps clockwise
	ended 1
	says FAILURE credit-loops
	dumps loop
	ended 1
	says FAILURE loops
	dumps missing
	ended 1
	says FAILURE pairs
	detailed 'is not reached by'
	# the check "balance" warns about uneven load: these tables use two of four spines
	"$ibfattree" gen '2;4,4;1,4;1,1' -o "$T/tree.net"
	"$ibfattree" route "$T/tree.net" --fail sw-2-1 --fail sw-2-2 \
		-o "$T/one.lfts" 2>/dev/null
	status=0
	"$ibfattree" doctor "$T/tree.net" --lfts "$T/one.lfts" >"$T/doctor" ||
		status=$?
	says WARNING balance
	grep -qx '  routing_engine dmodc,no_fallback' "$T/doctor" ||
		fail "no engine is recommended: $(cat "$T/doctor")"
	expect 2 'FABRIC' doctor --lfts "$T/one.lfts"
	expect 2 "$T/nowhere" doctor "$T/nowhere"
}
