# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# Functions for a simulated fabric and its subnet managers, used by scripts/demo, scripts/bench and
# the tests.  $SIM_BUILD is the build directory.  The plugin is loaded from $SIM_PLUGINS if this is
# set, otherwise from $SIM_BUILD.
#
#   sim_start DIR NETFILE       start ibsim with the fabric NETFILE; it keeps its files in DIR
#   sim_do 'Unlink "S-..."[3]'  write a line to the console of ibsim
#   in_sim CMD...               run a command on $SIM_HOST (default: the first host with a link)
#   osm_start ID                start opensm ID; it reads lines of opensm.conf from stdin;
#                               its log is DIR/ID/opensm.log, its dumps are in DIR/ID
#   osm_mark ID                 mark the end of the log of ID; the functions below look
#                               only at later lines
#   osm_wait ID SECS REGEX      wait until a line matches
#   osm_settled ID SECS         wait until a sweep has ended after the mark, and no trap
#                               follows its end in the log
#   osm_stop ID                 end opensm ID cleanly; kill it if that takes 300 s
#   sim_stop                    end every opensm, and ibsim
#
# SIM_LEASH is an array of words that are put before the commands ibsim and opensm.  Tests set it so
# that both programs end with the shell.  A shell can run one fabric; for several fabrics use
# several shells.  These functions send signals only to processes that they have started.

# A console of ibsim or opensm is a fifo, which the program opens for reading and writing.  So the
# program does not wait for a writer, and sees no end of file.

SIM_DIR=
SIM_PID=
SIM_LEASH=(env)
declare -A OSM_PID=() OSM_MARK=() OSM_HOST=()

sim_die() { echo "$*" >&2; return 1; }

sim_alive() { [[ -n ${1:-} ]] && kill -0 "$1" 2>/dev/null; }

# sim_until SECS CMD...: repeat CMD until it succeeds, for SECS seconds at most.  If the variable
# SIM_TICK is set, it is a command that runs each time that CMD has failed.
sim_until() {
	local end=$((${EPOCHREALTIME/./} + $1 * 1000000))
	shift
	while ! "$@"; do
		((${EPOCHREALTIME/./} < end)) || return 1
		${SIM_TICK:+"$SIM_TICK"}
		sleep 0.1
	done
}

# Print the node IDs of all hosts with a link in a netfile, one per line.  An Aggregation Node is
# part of a switch, not a host.
sim_hosts() {
	awk '/^(Ca|Hca|CA|HCA)[ \t]/ { split($0, a, "\""); id = a[2]
			if (/Aggregation Node/) id = ""
			next }
	     /^[^[]/ { id = "" }
	     /^\[/ && id != "" { print id; id = "" }' "$1"
}

# sim_name NETFILE ID: print the description of a node, from the comment of its record.
sim_name() {
	awk -v id="$2" '/^[A-Z]/ && index($0, "\"" id "\"") {
		split($0, a, "\""); print a[4]; exit }' "$1"
}

sim_start() {
	local dir=$1 net=$2
	local -a size
	mkdir -p "$dir" && SIM_DIR=$(cd "$dir" && pwd) || return 1
	SIM_HOST=${SIM_HOST:-$(sim_hosts "$net" | sed -n 1p)}
	[[ -n $SIM_HOST ]] || sim_die "$net: no host has a link" || return 1
	export SIM_HOST
	export IBSIM_SOCKNAME="ibfattree-$$-$RANDOM-${SIM_DIR##*/}"
	SIM_SO=$(sed -n 's/^sim_so=//p' "$(command -v ibsim-run)")
	[[ -e $SIM_SO ]] ||
		sim_die "the preload library of ibsim-run is missing: '$SIM_SO'" ||
		return 1
	mkfifo "$SIM_DIR/console" || return 1
	: >"$SIM_DIR/ibsim.log"
	# ibsim starts faster with limits that are just large enough for the file
	read -ra size < <(awk '/^(Switch|Ca|Hca|CA|HCA|Rt|RT)[ \t]/ { n++; ports += $2 + 1; s += /^Switch/ }
		END { print 2 * n + 100, 2 * s + 100, 2 * ports + 1000 }' "$net")
	"${SIM_LEASH[@]}" ibsim -s -N "${size[0]}" -S "${size[1]}" -P "${size[2]}" \
		-L 49152 "$net" \
		0<>"$SIM_DIR/console" >"$SIM_DIR/ibsim.log" 2>&1 &
	SIM_PID=$!
	sim_until 600 sim_ready || true
	sim_alive "$SIM_PID" || {
		tail -n 5 "$SIM_DIR/ibsim.log" >&2
		sim_die "ibsim did not start with $net"
	}
}

# Succeed if ibsim listens or has died.  A client that connects earlier would sleep for 2 s.
# ibsim's socket is abstract: it has no file.
sim_ready() {
	grep -q "@$IBSIM_SOCKNAME:ctl@*\$" /proc/net/unix ||
		! sim_alive "$SIM_PID"
}

sim_do() { printf '%s\n' "$1" >"$SIM_DIR/console"; }

# The command runs in $SIM_DIR, because ibsim's preload library creates the directory sys-PID in the
# current directory.  A message of this library is removed from stderr.
in_sim() {
	local status=0 err
	err=$(mktemp "$SIM_DIR/stderr.XXXXXX")
	(cd "$SIM_DIR" && LD_PRELOAD="${SIM_PRELOAD:+$SIM_PRELOAD:}$SIM_SO" \
		exec "$@") 2>"$err" || status=$?
	grep -v 'sim_connect: attached' "$err" >&2 || true
	rm -f "$err"
	return "$status"
}

osm_conf() {
	local d=$1
	cat <<-EOF
	log_file $d/opensm.log
	log_flags ${OSM_LOG_FLAGS:-0x43}
	force_log_flush TRUE
	dump_files_dir $d
	sweep_interval 300
	fsync_high_avail_files FALSE
	EOF
	cat
}

osm_start() {
	local id=$1 d=$SIM_DIR/$1
	mkdir -p "$d"
	osm_conf "$d" >"$d/opensm.conf"
	: >>"$d/opensm.log"
	rm -f "$d/console"
	mkfifo "$d/console"
	OSM_HOST[$id]=${OSM_HOST[$id]:-$SIM_HOST}
	osm_mark "$id"
	osm_exec "$d" "${OSM_HOST[$id]}" &
	OSM_PID[$id]=$!
}

osm_exec() {
	cd "$1" || exit
	export SIM_HOST=$2 OSM_TMP_DIR=$1 OSM_CACHE_DIR=$1
	export IBFATTREE_HELPER=${IBFATTREE_HELPER:-$SIM_BUILD/ibfattree-helper}
	export LD_LIBRARY_PATH=${SIM_PLUGINS:-$SIM_BUILD}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export LD_PRELOAD=${SIM_PRELOAD:+$SIM_PRELOAD:}$SIM_SO
	exec "${SIM_LEASH[@]}" opensm -F opensm.conf 0<>console >opensm.out 2>&1
}

# Write a line to the console of opensm.  opensm.conf must have "console local".
osm_do() { printf '%s\n' "$2" >"$SIM_DIR/$1/console"; }

osm_alive() { sim_alive "${OSM_PID[$1]:-}"; }

osm_mark() { OSM_MARK[$1]=$(wc -c <"$SIM_DIR/$1/opensm.log"); }

osm_log() {
	tail -c "+$((OSM_MARK[$1] + 1))" "$SIM_DIR/$1/opensm.log"
}

# Not "osm_log | grep": grep ends at the first match, osm_log would then fail, and with pipefail the
# whole pipe would fail.
osm_said() { grep -Eq -- "$2" < <(osm_log "$1"); }

osm_said_or_dead() { ! osm_alive "$1" || osm_said "$1" "$2"; }

# osm_follow ID SECS REGEX: like osm_wait, but follows the log instead of polling.
osm_follow() {
	local fd pid status=0
	exec {fd}< <(exec tail -c "+$((OSM_MARK[$1] + 1))" -s 0.2 -f \
		--pid="${OSM_PID[$1]:-1}" "$SIM_DIR/$1/opensm.log")
	pid=$!
	timeout "$2" grep -Eq -m 1 -- "$3" <&"$fd" || status=$?
	exec {fd}<&-
	kill "$pid" 2>/dev/null || true
	return "$status"
}

osm_wait() {
	if [[ -n ${SIM_TICK:-} ]]; then
		sim_until "$2" osm_said_or_dead "$1" "$3" && osm_said "$1" "$3" && return
	elif osm_alive "$1"; then
		osm_follow "$1" "$2" "$3" && return
	fi
	! osm_said "$1" "$3" || return 0
	osm_alive "$1" || sim_die "opensm $1 has died" || return
	sim_die "opensm $1 has not logged '$3' within $2 s"
}

# Succeed if a sweep has ended after the mark, and the log has no trap after the end of this sweep.
osm_is_settled() {
	osm_log "$1" | awk '
		/SUBNET UP/ { up = 1 }
		/Received Generic Notice/ { up = 0 }
		END { exit !up }'
}

osm_settled_or_dead() { ! osm_alive "$1" || osm_is_settled "$1"; }

# See the list at the top.  When this function returns, the next sweep may already have begun.
osm_settled() {
	[[ -n ${SIM_TICK:-} ]] || ! osm_alive "$1" ||
		osm_follow "$1" "$2" 'SUBNET UP' || true
	sim_until "$2" osm_settled_or_dead "$1" ||
		sim_die "opensm $1 is not done with its sweep within $2 s" ||
		return
	osm_alive "$1" || sim_die "opensm $1 has died"
}

# Print the engine that routed last, as opensm reports it.
osm_engine() {
	sed -n 's/.*[> ]\([^ ]*\) tables configured on all switches.*/\1/p' \
		"$SIM_DIR/$1/opensm.log" | tail -n 1
}

osm_stop() {
	local id=$1 pid=${OSM_PID[$1]:-} status=0
	[[ -n $pid ]] || return 0
	kill -TERM "$pid" 2>/dev/null || true
	sim_until 300 sim_gone "$pid" || {
		echo "opensm $id did not end within 300 s: killed" >&2
		kill -KILL "$pid" 2>/dev/null || true
	}
	wait "$pid" || status=$?
	unset "OSM_PID[$id]"
	return "$status"
}

sim_gone() {
	local state
	[[ -e /proc/$1/stat ]] || return 0
	state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null) || return 0
	[[ $state == Z ]]
}

# Kill opensm without a clean end, as in a power failure.
osm_kill() {
	kill -KILL "${OSM_PID[$1]}"
	wait "${OSM_PID[$1]}" 2>/dev/null || true
	unset "OSM_PID[$1]"
}

sim_stop() {
	local id
	for id in "${!OSM_PID[@]}"; do
		osm_stop "$id" || true
	done
	if [[ -n $SIM_PID ]]; then
		kill -TERM "$SIM_PID" 2>/dev/null || true
		wait "$SIM_PID" 2>/dev/null || true
		SIM_PID=
	fi
}

# sim_cables NETFILE: print the links between switches that can fail without disconnecting a switch,
# one per line: id [tab] port [tab] id [tab] port [tab] name [tab] name.  The names are those in the
# netfile's comments.  Links of the highest switches come first.  (The highest switches are those
# farthest from the switches with many hosts.)  Among links of equally high switches, those come
# first whose lower switch has the most upward links.
sim_cables() {
	awk -f "$SIM_SCRIPTS/links.awk" "$1" | sort -t "$(printf '\t')" \
		-k1,1nr -k2,2nr -k3,3 -k4,4n | cut -f 3-
}
