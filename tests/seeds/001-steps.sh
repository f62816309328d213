# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Sem-Jacobsen et al. 2011: tests/seeds/models deviates from some published steps; this script
# measures the effect of these steps.  Every host sends to all others in turn on the 4-ary 3-tree,
# with up to k-1 faults.
# shellcheck source=/dev/null
. "$here/rerouting.sh"
tree 4,3

faults=3 runs=40
[[ -z $long ]] || faults=1,2,3 runs=250
steps=(det-links det-links/2b det-switches det-switches/3b det-switches/4b
	adaptive-switches adaptive-switches/4c)
{
	echo
	for kind in links switches mixed; do
		rerouting -a -l 20 -w 0 -m 700 -k $kind -n $faults -r $runs \
			4-ary-3-tree.net "${steps[@]}" |
			sed "s/^[^,]*/& $kind/; /^det-links[^ ]* [sm]/d"
	done
} >rows
table '100 * (stuck || no_way > 0)' <rows >"$out/001-steps.csv"
table 'no_way' <rows >"$out/001-steps-packets.csv"
table 'hops' <rows >"$out/001-steps-hops.csv"

csv=001-steps
claim 'mismatch: k-1 faults: det-links connects all pairs; with step 2b as published it does not' \
	"$(at $csv 3 'det-links links') == 0 &&
	$(at $csv 3 'det-links/2b links') > 0"
