# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Sem-Jacobsen et al. 2006, figure 3: throughput and latency of misrouting on the 4-ary
# 3-tree with 0 to 20 link faults.  Runs with a deadlock, or with a pair of hosts without a
# path, are left out.
# shellcheck source=/dev/null
. "$here/rerouting.sh"
tree 4,3

# Loads in per cent.  All hosts together send 32 packets per cycle at 100 %, and 14 at 43.75 %.
for l in 100 43.75; do
	faults=0,5,16 runs=10
	if [[ $long ]]; then
		faults=0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20
		runs=40
	fi
	rerouting -x -n $faults -r $runs -l $l 4-ary-3-tree.net misroute >rows
	if [[ $long ]]; then
		rerouting -x -n 0,2,4,6,8,10,12,14,16,18,20 -r 8 -l $l \
			4-ary-3-tree.net dmodc sftree ddlr1 ddlr2 >>rows
	fi
	csv=000-fig3-${l%.*}
	table accepted '!stuck && !no_way' <rows >"$out/$csv.csv"
	table latency '!stuck && !no_way' <rows >"$out/$csv-latency.csv"
	table '100 * (stuck || no_way > 0)' <rows >"$out/$csv-left-out.csv"
	plot "$csv" "throughput, 4-ary 3-tree, load $l %" 'link faults' \
		'packets per cycle'
	plot "$csv-latency" "latency, 4-ary 3-tree, load $l %" 'link faults' \
		'cycles in the network'
done

# The throughput at full load with other types of queues and other buffer sizes.
if [[ $long ]]; then
	for how in fifo:512 fifo:1024 fifo:4096 voq:512 voq:1024; do
		rerouting -x -n 0,5,10,20 -r 20 -q "${how%:*}" -b "${how#*:}" \
			4-ary-3-tree.net misroute | sed "s/^misroute/$how/"
	done >rows
	table accepted '!stuck && !no_way' <rows >"$out/000-fig3-queues.csv"
	table latency '!stuck && !no_way' <rows \
		>"$out/000-fig3-queues-latency.csv"
	table '100 * stuck' <rows >"$out/000-fig3-queues-stuck.csv"
fi

csv=000-fig3-100
at0=$(at $csv 0 misroute) at5=$(at $csv 5 misroute) at16=$(at $csv 16 misroute)
claim 'saturated: throughput falls by 1 to 5 % per fault' \
	"$at5 < 0.95 * $at0 && $at5 > 0.75 * $at0 &&
	$at16 < 0.7 * $at0 && $at16 > 0.3 * $at0"
claim 'saturated, 16 faults: latency grows 1.4 to 2.6 times (paper: 20 faults, nearly 2)' \
	"$(at $csv-latency 16 misroute) > 1.4 * $(at $csv-latency 0 misroute) &&
	$(at $csv-latency 16 misroute) < 2.6 * $(at $csv-latency 0 misroute)"
csv=000-fig3-43
claim 'unsaturated: throughput is constant up to 5 faults and falls with more' \
	"$(at $csv 5 misroute) > 0.98 * $(at $csv 0 misroute) &&
	$(at $csv 16 misroute) < 0.9 * $(at $csv 0 misroute)"
