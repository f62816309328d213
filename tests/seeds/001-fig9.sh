# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Sem-Jacobsen et al. 2011, figures 8 and 9: throughput by load, and by the number of link
# faults.  Also simulates switch faults, which the paper leaves out, and other queues.
# shellcheck source=/dev/null
. "$here/rerouting.sh"
tree 4,3
tree 2,6

# Figure 8: find the load at which the networks saturate.
loads=(40 60) runs=1
[[ -z $long ]] || runs=2 loads=(20 30 40 45 50 52 54 56 58 60 65 70 80 100)
for t in 4-ary-3 2-ary-6; do
	{
		echo
		for l in "${loads[@]}"; do
			rerouting -n 0 -r $runs -l "$l" \
				"$t-tree.net" det-links adaptive-links |
				sed "1d; s/,0,/,$l,/"
		done
	} >rows
	name=001-fig8-${t/-ary-/ary-}tree
	table accepted <rows | sed '1s/faults/load/' >"$out/$name.csv"
	table latency <rows | sed '1s/faults/load/' >"$out/$name-latency.csv"
	plot "$name" "no faults, ${t/-ary-/-ary }-tree" 'load, % of the links of hosts' \
		'packets per cycle'
	plot "$name-latency" "no faults, ${t/-ary-/-ary }-tree" \
		'load, % of the links of hosts' 'cycles in the network'
done

# Figure 9.  The load "saturated" is just above the saturation point; "unsaturated" is 30 %
# below that point.
theirs=(det-links adaptive-links)
ours=(dmodc ddlr2)
[[ -z $long ]] || theirs+=(det-switches adaptive-switches)
[[ -z $long ]] || ours+=(ddlr1 sftree)
for t in 4-ary-3 2-ary-6; do
	for l in 60 40; do
		faults=0,3,10 runs=4
		[[ $t$l != 4-ary-340 ]] || runs=2
		[[ $t != 2-ary-6 ]] || faults=0,10 runs=2
		if [[ $long ]]; then
			faults=0,1,2,3,4,5,6,7,8,9,10 runs=24
			[[ $l == 60 && $t == 4-ary-3 ]] || runs=12
			[[ $l == 60 || $t == 4-ary-3 ]] || runs=6
		fi
		rerouting -n $faults -r $runs -l $l "$t-tree.net" \
			"${theirs[@]}" "${ours[@]}" >"rows$t$l"
		name=001-fig9-${t/-ary-/ary-}tree-$l
		table accepted '!stuck' <"rows$t$l" >"$out/$name.csv"
		table '100 * stuck' <"rows$t$l" >"$out/$name-stuck.csv"
		plot "$name" "throughput, ${t/-ary-/-ary }-tree, load $l %" \
			'link faults' 'packets per cycle'
	done
done

# Switch faults, saturated.
faults=0,3 runs=2
[[ -z $long ]] || faults=0,1,2,3,4,5,6,7,8,9,10 runs=12
rerouting -k switches -n $faults -r $runs -l 60 4-ary-3-tree.net det-switches \
	adaptive-switches dmodc ddlr1 ddlr2 >rows
table accepted '!stuck' <rows >"$out/001-fig9-switches.csv"
plot 001-fig9-switches 'throughput, 4-ary 3-tree, load 60 %' 'switch faults' \
	'packets per cycle'

# Figure 9 with other types of queues and other buffer sizes.
if [[ $long ]]; then
	for how in fifo:512 fifo:1024 fifo:4096 voq:512 voq:1024; do
		rerouting -n 0,5,10 -r 6 -l 100 -q "${how%:*}" -b "${how#*:}" \
			4-ary-3-tree.net det-links adaptive-links dmodc |
			sed "s/^[a-z-]*/& $how/"
	done >rows
	table accepted '!stuck' <rows >"$out/001-fig9-queues.csv"
	# find the load at which faults begin to lower the throughput of det-links
	for l in 20 25 30 35 40; do
		rerouting -n 0,1,2,5,10 -r 6 -l $l 2-ary-6-tree.net det-links |
			sed "s/^det-links/& $l %/"
	done >rows
	table accepted '!stuck' <rows >"$out/001-fig9-loads.csv"
fi

# The planner spreads detours by load.
for seed in 1 2 3 4; do
	ibfattree route --engine ddlr --fail 3links --seed $seed 4-ary-3-tree.net >t.lft 2>/dev/null
	ibfattree load --lfts t.lft --sample 1 --permutations 0 --bisections 0 4-ary-3-tree.net |
		awk '/^lower bound/ { print $(NF - 3) }'
done >loads || :
claim '3 faults, local repairs: the most loaded link carries at most 2.1 times the lower bound of all-to-all' \
	"$(sort -n loads | tail -n 1) <= 2.1"
csv=001-fig8-4ary-3tree
claim 'det-links saturates at 18 packets per cycle, adaptive-links below that' \
	"$(at $csv 60 det-links) > 17.5 && $(at $csv 60 det-links) < 18.5 &&
	$(at $csv 60 adaptive-links) < 0.98 * $(at $csv 60 det-links)"
claim 'the 2-ary 6-tree carries more than the 4-ary 3-tree' \
	"$(at 001-fig8-2ary-6tree 60 det-links) > 1.02 * $(at $csv 60 det-links)"
csv=001-fig9-4ary-3tree-60
claim 'saturated, 10 faults: throughput of reconfiguration > adaptive > deterministic' \
	"$(at $csv 10 dmodc) > 1.03 * $(at $csv 10 adaptive-links) &&
	$(at $csv 10 adaptive-links) > 1.03 * $(at $csv 10 det-links)"
claim 'saturated, 3 faults: the same order, with smaller differences' \
	"$(at $csv 3 adaptive-links) > 1.02 * $(at $csv 3 det-links) &&
	$(at $csv 3 dmodc) > $(at $csv 3 adaptive-links) &&
	$(at $csv 3 det-links) > 1.2 * $(at $csv 10 det-links)"
claim '10 faults: local repairs with the turn bit carry more than det-links' \
	"$(at $csv 10 ddlr2) > 1.03 * $(at $csv 10 det-links)"
csv=001-fig9-4ary-3tree-40
claim 'unsaturated, 10 faults: throughput of det-links falls, that of adaptive-links does not' \
	"$(at $csv 10 adaptive-links) > 0.98 * $(at $csv 0 adaptive-links) &&
	$(at $csv 10 det-links) < 0.95 * $(at $csv 0 det-links) &&
	$(at $csv 3 det-links) > 0.97 * $(at $csv 0 det-links)"
csv=001-fig9-2ary-6tree-60
claim '2-ary 6-tree, saturated, 10 faults: reconfiguration carries more than det-links' \
	"$(at $csv 10 dmodc) > 1.01 * $(at $csv 10 det-links)"
csv=001-fig9-switches
claim '3 switch faults cost more than 3 link faults; throughput of reconfiguration > adaptive > deterministic' \
	"$(at $csv 3 det-switches) < $(at 001-fig9-4ary-3tree-60 3 det-links) &&
	$(at $csv 3 dmodc) > $(at $csv 3 adaptive-switches) &&
	$(at $csv 3 adaptive-switches) > 1.05 * $(at $csv 3 det-switches)"
