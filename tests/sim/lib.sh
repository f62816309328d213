# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Functions of the end-to-end cases.  A case is a function case_NAME.  It runs in a shell
# of its own with an empty directory $T, and fails at the first command that fails.
#
#	gen SHAPE [OPTION...]	make $T/fabric.net
#	up [FILE]		start ibsim and opensm "sm" with the plugin on FILE
#				($T/fabric.net), lines of opensm.conf on stdin;
#				wait until the subnet is up
#	routed_by ENGINE	check that opensm routed by this engine last
#	walk NAME [OPTION...]	read the tables into $T/NAME.lfts (fabric:
#				$T/NAME.net) and check them; findings are an
#				error
#	same A B, differ A B	compare two sets of tables that walk has read
#	until_healed NAME	like walk, after sweeps have ended; the tables must
#				also be those in OpenSM's dump.  A sweep must be due,
#				as after a failure
#	until_rest NAME		like until_healed, but requests the sweep
#	until_same A NAME	wait until the tables are those of A, also after one
#				more sweep; read them into $T/NAME.lfts
#	logged REGEX		the log has a matching line since the last osm_mark
#	never_logged REGEX	no opensm has logged a matching line, except lines
#				that the case has listed by "allow"
#	note TEXT		text shown beside the case's time
#	two_managers		the case starts more than one opensm at a time
#	is_manager ID HOST	choose the opensm that the functions use (default: sm)
#	kill_master ID STANDBY	kill manager ID; STANDBY can take over

# shellcheck source=scripts/sim.sh
. "$SIM_SCRIPTS/sim.sh"

# shellcheck disable=SC2034
SIM_LEASH=(setpriv --pdeathsig KILL)

patience=${SIM_PATIENCE:-240}	# s; only a case that hangs waits this long
ibfattree=$SIM_BUILD/ibfattree
manager=sm
live_opts=()	# additional options for every walk
allowed=()

fail() { echo "$*" >&2; exit 1; }
skip() { echo "$*" >"$T/skip"; exit 77; }
note() { echo "$*" >"$T/note"; }
allow() { allowed+=("$@"); }
is_manager() { manager=$1 SIM_HOST=$2; }

# For cases with two managers.  ibsim may leave one of them without an answer (docs/upstream.md).
# Then the case fails early, and tests/sim/run tries it again.
two_managers() {
	: >"$T/two_managers"
	patience=${SIM_PATIENCE_TWO:-$patience}
}

gen() { "$ibfattree" gen "$@" --no-lids -o "$T/fabric.net"; }

# Cases run without the background search, which requests sweeps at any time; prefer.sh enables it.
# A later line event_plugin_options in opensm.conf replaces the line below.
plugin_conf() {
	echo 'balance load' >"$T/calm.conf"
	printf '%s\n' 'event_plugin_name ibfattree' 'routing_engine dmodc' \
		"event_plugin_options ibfattree:$T/calm.conf"
	cat
}

up() {
	local conf
	conf=$(plugin_conf)
	sim_start "$T/sim" "${1:-$T/fabric.net}"
	osm_start sm <<<"$conf"
	osm_wait sm "$patience" 'SUBNET UP'
}

routed_by() {
	local used
	used=$(osm_engine sm)
	[[ $used == "$1" ]] || fail "routed by '$used', not by $1"
}

live() {
	local name=$1
	shift
	in_sim "$ibfattree" check --live --save-fabric "$T/$name.net" \
		--save-lfts "$T/$name.lfts" "${live_opts[@]}" "$@" \
		>"$T/$name.txt"
}

walk() {
	live "$@" || {
		cat "$T/$1.txt" >&2
		fail "the tables have faults (exit status $?)"
	}
}

has_lines() { [[ -e $2 && $(wc -l <"$2") == "$1" ]]; }
# until_lines N FILE: wait until the plugin has written a file of N lines.
until_lines() {
	sim_until "$patience" has_lines "$@" || fail "not $1 lines: $(ls -l "$2")"
}

# lid_of SWITCH TABLES: print the LID of the switch with this name.
lid_of() {
	awk -v name="\"$1\"" '/^Switch/ && index($0, name) {
		for (i = 1; i <= NF; i++)
			if ($i == "lid") printf "0x%04x\n", $(i + 1) }' "$T/$2.net"
}

same() {
	cmp -s "$T/$1.lfts" "$T/$2.lfts" ||
		fail "tables $1 and $2 differ: $("$ibfattree" diff \
			"$T/$1.net" "$T/$1.lfts" "$T/$2.lfts")"
}

differ() {
	! cmp -s "$T/$1.lfts" "$T/$2.lfts" ||
		fail "tables $1 and $2 are equal, but should not be"
}

logged() {
	osm_said "$manager" "$1" || fail "the log does not say '$1'"
}

not_logged() {
	! osm_said "$manager" "$1" || fail "the log says '$1'"
}

# all_logged REGEX: print the matching lines of all logs from their beginning.  Allowed lines are
# left out.
all_logged() {
	local -a but=(-e '^$')
	local regex
	for regex in "${allowed[@]}"; do
		but+=(-e "$regex")
	done
	{ cat "$SIM_DIR"/*/opensm.log | grep -E -e "$1" || true; } |
		{ grep -Ev "${but[@]}" || true; }
}
count_logged() { all_logged "$1" | wc -l; }
never_logged() {
	local found
	found=$(all_logged "$1")
	[[ -z $found ]] || fail "a log says '$1': $found"
}

# Check that no repair was left to a sweep or lacked an acknowledgement, and that no link was
# damped.  Not for cases with several faults at a time, where writes may be lost on links that fail
# meanwhile.
quiet() { never_logged 'WRN IBF1(09|1[01])'; }

# Like quiet; also check that the sweeps after repairs changed no entry.
sweeps_change_nothing() {
	quiet
	[[ $(count_logged 'IBF005:') -gt 0 ]] || fail "no repair was confirmed"
	never_logged 'IBF005: .* changed [1-9]'
}

# True if ibdmchk accepts the paths between hosts.  In Debian 12, ibdmchk often ends with a
# segmentation fault after its last line.  So its exit status is ignored, but its output must be
# complete.
ibdm_finds_nothing() {
	(cd "$SIM_DIR/$manager" || exit
		ibdmchk -s opensm-subnet.lst -f opensm.fdbs \
			-m opensm.mcfdbs "$@" || true) >"$T/ibdmchk.txt" 2>&1
	! grep -q -e '-E-' "$T/ibdmchk.txt" &&
		grep -q -e '-I- no credit loops found' "$T/ibdmchk.txt"
}

# Run ibdmchk until it finds no error, because opensm's dumps are complete only after a sweep.
ibdm() {
	sim_until "$patience" ibdm_finds_nothing "$@" || {
		grep -e '-E-' "$T/ibdmchk.txt" >&2 ||
			tail -n 20 "$T/ibdmchk.txt" >&2
		fail "ibdmchk finds faults, or its output is not complete"
	}
}

# True if OpenSM's dump of the tables equals the tables of the switches.
dump_agrees() {
	"$ibfattree" diff "$T/$1.net" "$T/$1.lfts" \
		"$SIM_DIR/$manager/opensm-lfts.dump" >"$T/diff.txt" 2>&1
}
agreed() {
	sim_until "$patience" dump_agrees "$1" || {
		cat "$T/diff.txt" >&2
		fail "OpenSM's copy differs from the tables of the switches"
	}
}

# Wait until a sweep has ended after the last trap.  The trap of a recent fault may be late.
at_rest() {
	sim_until "$patience" osm_is_settled "$manager" ||
		fail "sweeps do not end"
}

# Suspend the process of OpenSM, and so the plugin, too: all its threads have stopped.  Packets under way
# still arrive.
osm_halt() {
	local id=${1:-sm}
	kill -STOP "${OSM_PID[$id]}"
	sim_until "$patience" osm_is_halted "$id" || fail "opensm $id did not stop"
}
osm_is_halted() {
	awk '/^State:/ && !/stopped/ { runs = 1 } END { exit runs }' "/proc/${OSM_PID[$1]}/task/"*/status
}
osm_go_on() { kill -CONT "${OSM_PID[${1:-sm}]}"; }

# kill_master ID STANDBY: kill manager ID after it has answered the last SMInfo request of STANDBY.  In
# ibsim, STANDBY would wait forever for the answer of a dead manager (docs/upstream.md).
kill_master() {
	osm_halt "$2"
	SIM_HOST=${OSM_HOST[$2]} in_sim sminfo >"$T/sminfo.txt"	# answered after all earlier requests
	osm_kill "$1"
	osm_go_on "$2"
}

down() {
	osm_stop "$manager" || fail "opensm ended with status $?"
	# the plugin waits two seconds for its last writes; a busy disk may need longer
	allow 'IBF112: a write has not ended within'
	never_logged 'ERR IBF|WRN IBF1(08|1[23])|Segmentation|[Aa]ssert'
	never_logged 'IBF.* 1 (blocks|entries|hosts|leaves|links|others|pairs|planes|pods|switches|threads)[ ,;]'
}

healed() { live "$1" >/dev/null 2>&1; }
healed_and_agreed() { healed "$1" && dump_agrees "$1"; }
# After faults opensm may need a second sweep.  Every try reads the tables and the dump again,
# because a sweep may change one of them between the two reads.
until_healed() {
	osm_settled "$manager" "$patience"
	sim_until "$patience" healed_and_agreed "$1" || { walk "$1"; agreed "$1"; }
	at_rest
}

# True if a sweep with routing has ended since osm_mark.
osm_has_swept() {
	osm_log "$manager" | awk '
		/tables configured on all switches/ { routed = 1 }
		/SUBNET UP/ && routed { up = 1 }
		END { exit !up }'
}
# Request a sweep, and wait until it has ended.  opensm writes its dump only in sweeps.  A restored
# link that the plugin uses again causes no sweep.
resweep() {
	osm_mark "$manager"
	kill -HUP "${OSM_PID[$manager]}"
	osm_follow "$manager" "$patience" 'SUBNET UP' || true
	sim_until "$patience" osm_has_swept || fail "no sweep although one was requested"
}

# Like until_healed, but request a sweep: restored links may cause none.
until_rest() {
	osm_settled "$manager" "$patience"
	sim_until "$patience" healed "$1" || walk "$1"
	resweep
	until_healed "$1"
}

same_as() { live "$2" && cmp -s "$T/$1.lfts" "$T/$2.lfts"; }
same_and_agreed() { same_as "$1" "$2" && dump_agrees "$2"; }

# until_same A NAME: read the tables as NAME until they equal those of A.  The sweep that follows
# must write nothing.  If a packet was sent twice, this sweep may write blocks, but the next one
# must not.
until_same() {
	local nothing='IBF002: .* changed: 0 entries in 0 blocks'
	sim_until "$patience" same_as "$1" "$2" || { walk "$2"; same "$1" "$2"; }
	resweep
	osm_said "$manager" "$nothing" || {
		osm_settled "$manager" "$patience"
		resweep
		logged "$nothing"
	}
	sim_until "$patience" same_and_agreed "$1" "$2" || {
		walk "$2"
		same "$1" "$2"
		agreed "$2"
	}
	at_rest
}
