# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Sem-Jacobsen et al. 2011, figure 11: percentage of fault sets with which all hosts reach
# each other.  Every host sends to all others in turn, and no packet may be lost.  docs/ddlr.md
# has percentages on more fault sets, computed from the tables of dmodc and ddlr.
# shellcheck source=/dev/null
. "$here/rerouting.sh"
tree 4,3
tree 2,6

# connected CSV RUNS FAULTS TREE SCHEME...: write the percentage of the runs in which no packet is
# lost and no deadlock occurs.
connected() {
	local csv=$1 runs=$2 faults=$3 net=$4
	shift 4
	rerouting -a -l 20 -w 0 -m 700 -n "$faults" -r "$runs" "$net" "$@" >rows
	{
		cat rows
		# one more scheme, "links": whether links still connect all hosts
		awk -F, -v OFS=, -v first="$1" '
		$1 == first { $1 = "links"; $9 = $4 ? 0 : 1; $10 = ""; print }' rows
	} | table '100 * (!stuck && !no_way && !wire && !queue)' >"$out/$csv.csv"
}

all=(det-links adaptive-links dmodc ddlr1 ddlr2)
few=8 faults=3,10 runs=8
if [[ $long ]]; then
	all=(det-links det-switches adaptive-links adaptive-switches dmodc
		sftree ddlr1 ddlr2)
	few=60 faults=1,2,3,4,5,6,7,8,9,10 runs=200
fi
connected 001-fig11-4ary-3tree $runs $faults 4-ary-3-tree.net "${all[@]}"
faults=1,4
[[ -z $long ]] || faults=1,2,3,4,5,6,7,8,9,10
connected 001-fig11-2ary-6tree $few $faults 2-ary-6-tree.net "${all[@]}"
if [[ $long ]]; then
	paper 001-fig11-4ary-3tree det-links 4=100 10=97
	for t in 4ary-3 2ary-6; do
		plot "001-fig11-${t}tree" "all hosts connected, $t-tree" \
			'link faults' '% of the fault sets'
	done
fi

csv=001-fig11-4ary-3tree
claim 'with up to k-1 faults all packets arrive' \
	"$(at $csv 3 det-links) == 100 && $(at $csv 3 adaptive-links) == 100 &&
	$(at 001-fig11-2ary-6tree 1 det-links) == 100 &&
	$(at 001-fig11-2ary-6tree 1 adaptive-links) == 100"
claim 'with 10 faults all packets of det-links arrive in at least 80 % of the sets' \
	"$(at $csv 10 det-links) >= 80"
csv=001-fig11-2ary-6tree
claim '2-ary 6-tree, 4 faults: det-links connects at least as many sets as reconfiguration' \
	"$(at $csv 4 det-links) >= $(at $csv 4 dmodc)"
claim '2-ary 6-tree, 4 faults: local repairs with the turn bit connect at least 0.9 of the sets that are physically connected' \
	"$(at $csv 4 ddlr2) >= 0.9 * $(at $csv 4 links)"
