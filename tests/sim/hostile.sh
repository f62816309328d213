# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Tests with hostile files in OpenSM's directories, and with hostile names of nodes.

# A FIFO and two symbolic links have the names of files that the plugin writes.  The plugin does
# not write to them, and continues.  OpenSM ends cleanly.
case_hostile_files() {
	local f
	gen '2;4,6;1,4;1,1' --random-guids --random-ports --seed 81
	mkdir -p "$T/sim/sm"
	mkfifo "$T/sim/sm/ibfattree-events.jsonl"
	for f in ibfattree-state-00000000000000aa opensm-dmodc-ca-order.dump; do
		echo precious >"$T/$f"
		ln -s "$T/$f" "$T/sim/sm/$f"
	done
	fast_up </dev/null
	walk before
	pick 1
	die_and_return
	[[ $(count_logged 'WRN IBF112: .*not a regular file') == 1 ]] ||
		fail 'the FIFO is not reported'
	allow 'WRN IBF11[23]'
	down
	for f in ibfattree-state-00000000000000aa opensm-dmodc-ca-order.dump; do
		[[ $(<"$T/$f") == precious ]] || fail "$f: the link was followed"
	done
	[[ -p $T/sim/sm/ibfattree-events.jsonl ]] || fail 'the FIFO was replaced'
}

# ibfattree.conf is not what opensm expects: the log says why, all options have their defaults, and
# the engine routes.
case_hostile_options() {
	local kind reason
	gen kary:2,2
	sim_start "$T/sim" "$T/fabric.net"
	while IFS='|' read -r kind reason; do
		rm -rf "$T/c.conf"
		case $kind in
		directory) mkdir "$T/c.conf" ;;
		zero) ln -s /dev/zero "$T/c.conf" ;;
		fifo) mkfifo "$T/c.conf" ;;
		mark) printf '\xef\xbb\xbfbalance load\n' >"$T/c.conf" ;;
		dos) printf 'threads 1\r\nbalance\tload\r\n' >"$T/c.conf" ;;
		esac
		osm_start sm <<-EOF
		event_plugin_name ibfattree
		routing_engine dmodc
		event_plugin_options ibfattree:$T/c.conf
		EOF
		osm_wait sm "$patience" 'SUBNET UP'
		logged "$reason"
		logged 'IBF002: dmodc'
		osm_stop sm
	done <<-EOF
	missing|ERR IBF201: $T/c.conf: cannot open
	directory|ERR IBF201: $T/c.conf: refused: it is not a regular file
	zero|ERR IBF201: $T/c.conf: refused: it is a symbolic link
	fifo|ERR IBF201: $T/c.conf: refused: it is not a regular file
	mark|ERR IBF201: $T/c.conf:1: unknown key
	dos|options from $T/c.conf
	EOF
}

# The description of an Aggregation Node has an escape sequence, a C1 control character and a
# character that reverses text.  None of them reaches the log, the output of the command, or the
# plugin's files. (In a netfile of ibsim, a description cannot have a newline.)
case_hostile_names() {
	gen '2;4,6;1,4;1,1' --seed 82
	LC_ALL=C sed -i -e $'s/"host-1"/"Aggregation Node \033[2J\302\233\342\200\256"/' \
		"$T/fabric.net"
	sim_start "$T/sim" "$T/fabric.net"
	sim_do 'Unlink "H-0200000000000100"[1]'
	osm_start sm < <(plugin_conf </dev/null)
	osm_wait sm "$patience" 'SUBNET UP'
	osm_mark sm
	# this link is not in the nominal fabric yet, so the log reports it with the node's name
	sim_do 'Link "H-0200000000000100"[1] "S-0200010000000000"[2]'
	osm_wait sm "$patience" 'IBF006: .*Aggregation Node \?\[2J\?\?'
	live all || true
	down
	if LC_ALL=C grep -aq $'ibfattree: .*[\033\302\342]' "$SIM_DIR/sm/opensm.log"; then
		fail 'a control character is in the log'
	fi
	# the state file is binary
	if LC_ALL=C grep -q $'[\033\302\342]' "$T/all.txt" "$T/all.lfts" \
		"$SIM_DIR/sm/"ibfattree-[!s]*; then
		fail 'a control character is in a file'
	fi
}

# Cut and restore the Nth link.  opensm must continue.  The tables in between are not checked.
link_under_lies() {
	pick "$1"
	osm_mark sm
	cut_it
	osm_wait sm "$patience" 'SUBNET UP|Errors during'
	mend_it
	resweep_until_up
}
resweep_until_up() {
	osm_mark sm
	kill -HUP "${OSM_PID[sm]}"
	osm_wait sm "$patience" 'SUBNET UP|Errors during'
}

# Switches report the LID of another port, or a LID far out of range, while links fail.  opensm with
# the plugin continues, and sweeps restore the earlier tables.  (tests/unit/test_fast_lies.c has
# random answers.)
case_hostile_switches() {
	local leaf spine i lied
	gen '2;6,12;1,6;1,1' --random-guids --random-ports --seed 83
	fast_up </dev/null
	walk before
	pick 1
	leaf=$near spine=$far
	# the switch's trap has the false LID
	sim_do "Baselid \"$leaf\"[0] 2 0"
	link_under_lies 1
	[[ $(count_logged 'Producer:2 \(Switch\) from LID:2 ') -gt 0 ]] ||
		fail 'LID 2 of the leaf has not reached OpenSM'
	sim_do "Baselid \"$spine\"[0] 48000 0"
	# OpenSM uses this LID only after some of these links have failed
	for ((i = 20; i < 70; i++)); do
		link_under_lies "$i"
		lied=$(count_logged ' ERR 7504: Lid is out of range: 48000')
		((!lied)) || break
	done
	((lied)) || fail 'LID 48000 of the spine has not reached OpenSM'
	osm_alive sm || fail 'opensm has ended'
	osm_mark sm
	kill -HUP "${OSM_PID[sm]}"
	until_same before after
	note "errors reported by OpenSM: $(count_logged ' ERR [0-9A-F]{4}:')"
	down
}
