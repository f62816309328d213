# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# What the experiments of seed 004 have in common.
#
# Told there: all cables 4x DDR, ports 0 of switches 1x SDR, packets of 2 kB,
# every end port sends to random others all that it can, ports 0 to random other
# ports 0; eight runs (one here: where 648 hosts send, another seed gives the same
# to a few tenths of a per cent).  Not told: buffers, delays, durations.  Those of the switch
# are taken from the InfiniBand model for OMNeT++ that is published, of which the
# one that the paper used (Gran and Reinemo, 2011) is a descendant: for each lane
# 200 blocks of 64 bytes at an input, a quarter of them where the port has one
# line, and 78 blocks at an output, which has no buffer of its own here and lends
# them to the input; an input feeds three outputs at once (which makes no
# difference, see 004-fig7), and 50 ns in, 50 ns out.

# shellcheck source=tests/seeds/stock.sh
. "$here/stock.sh"

model=(--packet 2048 --buffer $(((200 + 78) * 64)) --switch-buffer $((50 * 64))
	--switch-rate 2000 --switch-delay 100ns --cable-delay 10ns)
# Hosts alone are steady after 300 us; with ports 0, to which a packet takes 8 us,
# what they are sent piles up for 2 ms.
if [[ $long ]]; then
	how=(--warmup 300us --duration 500us)
	steady=(--warmup 2ms)
else
	how=(--warmup 150us --duration 150us)
	steady=()
fi

# Cables of a netfile at 4x DDR, whatever it says.
ddr() { sed -i 's/ [0-9]*x[A-Z?0-9]*$/ 4xDDR/' "$1"; }

# stock DIR NETFILE ENGINE...: their tables, at 4x DDR.
stock() {
	local dir=$1 engine
	stock_tables "$@"
	for engine in "${@:3}"; do
		ddr "$dir/$engine.net"
	done
}

# ours DIR NETFILE ENGINE...: of this package; NETFILE has LIDs.  "+paper" is a
# mode of sftree, "+2" two lanes.
ours() {
	local dir=$1 net=$2 engine
	local -a options
	for engine in "${@:3}"; do
		options=(--engine "${engine%%+*}")
		[[ ! -s $dir/roots ]] || options+=(--roots "$dir/roots")
		case $engine in
		*+paper) options+=(--sftree-mode paper) ;;
		*+2) options+=(--vls 2 --sl2vl "$dir/$engine.sl2vl") ;;
		esac
		cp "$net" "$dir/$engine.net"
		ddr "$dir/$engine.net"
		ibfattree route "$net" "${options[@]}" \
			-o "$dir/$engine.lfts" 2>/dev/null
	done
}

# traffic DIR ENGINE OPTION...: $T/result.json.
traffic() {
	local dir=$1 engine=$2
	local -a more=()
	shift 2
	[[ ! -s $dir/$engine.sl2vl ]] ||
		more=(--vls 2 --sl2vl "$dir/$engine.sl2vl")
	[[ " $* " != *' --switch-load '* ]] || more+=("${steady[@]}")
	ibfattree sim "$dir/$engine.net" --lfts "$dir/$engine.lfts" \
		"${model[@]}" "${how[@]}" "${more[@]}" "$@" --json \
		>"$T/result.json" || (($? == 1))
}

# Of it: percent of what hosts could send, or ports 0; runs that deadlock.
percent() { awk "BEGIN { printf \"%.2f\", 100 * $(jsonq "$T/result.json" "$1.accepted") }"; }
hosts() { percent hosts; }
switches() { percent ports_0; }
deadlocks() { jsonq "$T/result.json" deadlocks; }

# ---- figure 7: engines[], loads[] -----------------------------------------------

# tree SHAPE: tables of stock ftree and of all other engines[] in $T/t.
tree() {
	rm -rf "$T/t"
	mkdir "$T/t"
	if [[ $1 == racks ]]; then
		awk -f "$here/racks.awk" >"$T/t.net"
	else
		ibfattree gen "$1" --no-lids -o "$T/t.net"
	fi
	roots "$T/t.net" >"$T/t/roots"
	stock "$T/t" "$T/t.net" ftree
	ours "$T/t" "$T/t/ftree.net" "${engines[@]:1}"
}

# Of a port 0's part to that of a host.
eighth() { awk "BEGIN { printf \"%.2f\", $(switches) / 8 }"; }

# figure NAME TITLE LEFT-END RIGHT-END OPTION...: the ends are the paper's.
figure() {
	local name=$1 start=$3 end=$4 load e line
	local -a light
	line='switch load %'
	for e in "${engines[@]}"; do
		line+=",$e hosts,$e ports 0"
	done
	echo "$line,paper sftree hosts" >"$out/$name.csv"
	for load in "${loads[@]}"; do
		line=$load light=()
		# what is below the knee does not pile up
		((load == 100)) || light=(--warmup "$((${long:+4} + 1))00us")
		for e in "${engines[@]}"; do
			traffic "$T/t" "$e" --switch-load "$load" \
				"${light[@]}" "${@:5}"
			line+=",$(hosts),$(eighth)"
		done
		case $load in
		100) line+=",$end" ;;
		0) line+=",$start" ;;
		*) line+=, ;;
		esac
		echo "$line"
	done >>"$out/$name.csv"
	plot "$name" "$2" 'switches send, per cent of 1x SDR' \
		'per cent of 4x DDR'
}
