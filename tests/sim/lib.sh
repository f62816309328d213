# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
#
# What the end-to-end cases have in common.  A case is a function case_NAME; it
# runs in a shell of its own with the empty directory $T, and ends with an
# error as soon as one of its commands fails.
#
#	gen SHAPE [OPTION...]	make $T/fabric.net
#	up [FILE]		ibsim and opensm "sm" with the plugin on FILE
#				($T/fabric.net), lines of opensm.conf on stdin;
#				wait until the subnet is up
#	routed_by ENGINE	opensm says that this engine routed last
#	walk NAME [OPTION...]	read the tables into $T/NAME.lfts (fabric:
#				$T/NAME.net) and check them; findings are an
#				error
#	same A B, differ A B	compare what walk has kept
#	logged REGEX		it stands in the log, since the last osm_mark sm

# shellcheck source=scripts/sim.sh
. "$SIM_SCRIPTS/sim.sh"

# shellcheck disable=SC2034
SIM_LEASH=(setpriv --pdeathsig KILL)

patience=${SIM_PATIENCE:-60}
ibfattree=$SIM_BUILD/ibfattree

fail() { echo "$*" >&2; exit 1; }
skip() { echo "$*" >"$T/skip"; exit 77; }

gen() { "$ibfattree" gen "$@" --no-lids -o "$T/fabric.net"; }

plugin_conf() {
	printf '%s\n' 'event_plugin_name ibfattree' 'routing_engine dmodc'
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
		--save-lfts "$T/$name.lfts" "$@" >"$T/$name.txt"
}

walk() {
	live "$@" || {
		cat "$T/$1.txt" >&2
		fail "the tables have faults (exit status $?)"
	}
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
	osm_said sm "$1" || fail "the log does not say '$1'"
}

not_logged() {
	! osm_said sm "$1" || fail "the log says '$1'"
}

# The second opinion, on paths between hosts.  ibdmchk of Debian 12 often ends
# with a segmentation fault after its last line; what counts is that it came
# that far and found nothing.
ibdm_finds_nothing() {
	(cd "$SIM_DIR/sm" || exit
		ibdmchk -s opensm-subnet.lst -f opensm.fdbs \
			-m opensm.mcfdbs "$@" || true) >"$T/ibdmchk.txt" 2>&1
	! grep -q -e '-E-' "$T/ibdmchk.txt" &&
		grep -q -e '-I- no credit loops found' "$T/ibdmchk.txt"
}

# opensm writes its dumps when a sweep is over; meanwhile they are torn.
ibdm() {
	sim_until "$patience" ibdm_finds_nothing "$@" || {
		grep -e '-E-' "$T/ibdmchk.txt" >&2 ||
			tail -n 20 "$T/ibdmchk.txt" >&2
		fail "ibdmchk finds faults, or did not get to its end"
	}
}

# What OpenSM believes is what the switches hold.
dump_agrees() {
	"$ibfattree" diff "$T/$1.net" "$T/$1.lfts" \
		"$SIM_DIR/sm/opensm-lfts.dump" >"$T/diff.txt" 2>&1
}
agreed() {
	sim_until "$patience" dump_agrees "$1" || {
		cat "$T/diff.txt" >&2
		fail "OpenSM's copy is not what the switches hold"
	}
}

down() {
	osm_stop sm || fail "opensm ended with status $?"
	not_logged 'ERR.*(Segmentation|assert)'
}

# After faults opensm may need a second sweep; the last word counts.
healed() { live "$1" >/dev/null 2>&1; }
until_healed() {
	osm_settled sm "$patience"
	sim_until "$patience" healed "$1" || walk "$1"
}
