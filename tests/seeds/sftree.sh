# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Functions and parameters for the scripts that repeat experiments of Bogdanski et al. 2012.
#
# Given in the paper: all links 4x DDR, ports 0 of switches 1x SDR, packets of 2 kB.  Every
# host sends to random hosts at full rate, ports 0 send to random ports 0.  The paper has eight
# runs.  Here there is one: with 648 hosts, another seed changes the throughput by a few tenths
# of a per cent.
#
# Not given: buffers, delays, durations.  Buffers and delays are those of the published
# InfiniBand model for OMNeT++.  The model of the paper (Gran and Reinemo, 2011) is derived
# from that model.
#
# Per VL the published model has 200 blocks of 64 bytes at an input (a quarter of them if the port
# is 1x), and 78 blocks at an output.  Outputs have no buffer here, so their blocks are added to
# the input.  In the published model an input feeds at most three outputs at a time; here there is
# no limit.  In the published model, input and output delay a packet by 50 ns each; here the switch
# delays it by 100 ns.

# shellcheck source=tests/seeds/stock.sh
. "$here/stock.sh"

model=(--packet 2048 --buffer $(((200 + 78) * 64)) --switch-buffer $((50 * 64))
	--switch-rate 2000 --switch-delay 100ns --cable-delay 10ns)
# Hosts alone reach a steady state after 300 us.  Ports 0 need 8 us to receive a packet, and
# packets for them accumulate for 2 ms.
if [[ $long ]]; then
	how=(--warmup 300us --duration 500us)
	steady=(--warmup 2ms)
else
	how=(--warmup 150us --duration 150us)
	steady=()
fi

# ddr NETFILE: set all links to 4x DDR.
ddr() { sed -i 's/ [0-9]*x[A-Z?0-9]*$/ 4xDDR/' "$1"; }

# stock DIR NETFILE ENGINE...: write the tables of stock engines, with links at 4x DDR.
stock() {
	local dir=$1 engine
	stock_tables "$@"
	for engine in "${@:3}"; do
		ddr "$dir/$engine.net"
	done
}

# published_sftree NETFILE ROOTS: print the tables of sFtree as published.  ROOTS need not exist.
published_sftree() {
	local -a roots=()
	[[ ! -s $2 ]] || roots=("$2")
	"$build/published_sftree" "$1" "${roots[@]}" 2>/dev/null
}

# ours DIR NETFILE ENGINE...: write the tables of our engines; NETFILE has LIDs.  ENGINE may end
# with "+paper" (as published) or "+2" (two VLs).
ours() {
	local dir=$1 net=$2 engine
	local -a options
	for engine in "${@:3}"; do
		options=(--engine "${engine%%+*}")
		[[ ! -s $dir/roots ]] || options+=(--roots "$dir/roots")
		case $engine in
		*+2) options+=(--vls 2 --sl2vl "$dir/$engine.sl2vl") ;;
		esac
		cp "$net" "$dir/$engine.net"
		ddr "$dir/$engine.net"
		if [[ $engine == *+paper ]]; then
			published_sftree "$net" "$dir/roots" >"$dir/$engine.lfts"
			continue
		fi
		ibfattree route "$net" "${options[@]}" \
			-o "$dir/$engine.lfts" 2>/dev/null
	done
}

# traffic DIR ENGINE OPTION...: simulate, and write $T/result.json.
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

# Print a value of $T/result.json: the throughput of hosts or of ports 0, in percent of the rate of
# their links, or the number of deadlocked runs.
percent() { awk "BEGIN { printf \"%.2f\", 100 * $(jsonq "$T/result.json" "$1.accepted") }"; }
hosts() { percent hosts; }
switches() { percent ports_0; }
deadlocks() { jsonq "$T/result.json" deadlocks; }

# ---- figure 7, with engines[] and loads[] ---------------------------------------

# tree SHAPE: write the tables of stock ftree and of all other engines[] to $T/t.
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

# Print the throughput of ports 0 in percent of the rate of a host's link.
eighth() { awk "BEGIN { printf \"%.2f\", $(switches) / 8 }"; }

# figure NAME TITLE LEFT-END RIGHT-END OPTION...: simulate and draw figure 7.  The ends are the
# paper's values at the lowest and the highest load.
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
		# below saturation no packets accumulate, so a short warm-up is enough
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
