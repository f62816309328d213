# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Sem-Jacobsen et al. 2011, section IX-A, mentions hot-spot traffic without results.  Here a
# share of all packets goes to one host of the 4-ary 3-tree, at the saturated load of figure 9.
# Packets, links, delays and buffer sizes are those of rerouting.c.  But an input has one queue
# for each output, not one for each VL.
# shellcheck source=/dev/null
. "$here/rerouting.sh"
tree 4,3
us=100 seeds=1
[[ -z $long ]] || us=1000 seeds='1 2 3 4 5 6 7 8'

# accepted SEED HOT FAULTS OPTION...: print the throughput of the hosts, divided by the
# capacity of their links.
accepted() {
	local seed=$1 hot=$2 faults=$3
	shift 3
	[[ $faults == 0 ]] || set -- "$@" --fail "${faults}links@0us"
	[[ $faults == 0 || $1 == --function ]] || set -- "$@" --reroute 1us
	"$build/sim-models" "$@" --pattern hotspot --hot host-0 --hot-percent "$hot" \
		--seed "$seed" --load 60 --packet 256 --buffer 512 \
		--warmup 300us --duration ${us}us --json 4-ary-3-tree.net \
		>hot.json || (($? == 1))
	jsonq hot.json hosts.accepted
}
{
	echo 'hot spot %,link faults,det-links,adaptive-links,dmodc'
	for hot in 0 2 5 10; do
		for faults in 0 3; do
			row=$hot,$faults
			for how in '--function det-links' \
				'--function adaptive-links' '--engine dmodc'; do
				row+=,$(for s in $seeds; do
					# shellcheck disable=SC2086
					accepted "$s" $hot $faults $how
				done | awk '{ s += $1 } END { printf "%.2f", 100 * s / NR }')
			done
			echo "$row"
		done
	done
} >"$out/001-hotspot.csv"

# value HOT FAULTS COLUMN: print COLUMN of the row HOT, FAULTS.
value() {
	awk -F, "\$1 == $1 && \$2 == $2 { print \$$3 }" "$out/001-hotspot.csv"
}
claim 'the greater the share of the hot spot, the lower the throughput, with all three' \
	"$(value 2 0 3) > $(value 5 0 3) && $(value 5 0 3) > $(value 10 0 3) &&
	$(value 2 0 4) > $(value 5 0 4) && $(value 5 0 4) > $(value 10 0 4) &&
	$(value 2 0 5) > $(value 5 0 5) && $(value 5 0 5) > $(value 10 0 5)"
claim 'no hot spot, three faults: R_adaptive carries more than 1.02 times as much as R_deterministic' \
	"$(value 0 3 4) > 1.02 * $(value 0 3 3)"
claim 'a hot spot with 10 % of the packets costs more than three faults' \
	"$(value 10 3 3) > 0.7 * $(value 10 0 3) && $(value 10 0 3) < 0.5 * $(value 0 3 3)"
