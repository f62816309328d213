# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Sem-Jacobsen et al. 2011, figure 12: how often adaptive rerouting deadlocks with more than
# k-1 faults on the 4-ary 3-tree.  The simulator finds full buffers that wait for each other.
# docs/ddlr.md counts how often similar detours have cyclic channel dependencies.
# shellcheck source=/dev/null
. "$here/rerouting.sh"
tree 4,3

# seen NAME ARGUMENT...: run rerouting.c with these arguments; print its rows, with NAME as scheme.
seen() {
	local name=$1
	shift
	rerouting -x -w 0 "$@" | sed "1d; s/^[a-z-]*/$name/"
}

faults=4,10 runs=40 cycles=500
[[ -z $long ]] || faults=4,7,10 runs=150 cycles=10000
{
	echo
	seen 'saturated' -n $faults -r $runs -l 60 -m $cycles \
		4-ary-3-tree.net adaptive-links
	if [[ $long ]]; then
		seen 'unsaturated' -n $faults -r 100 -l 40 -m $cycles \
			4-ary-3-tree.net adaptive-links
	fi
} >rows
# The percentage of deadlocked runs over time, as in the figure.
awk -F, '
$1 != "" {
	name = $1 " " $2
	if (!(name in runs)) names[++n] = name
	runs[name]++
	stuck[name, runs[name]] = $10
}
END {
	printf "cycles"
	for (i = 1; i <= n; i++) printf ",%s", names[i]
	m = split("100 200 300 500 1000 2000 3000 5000 7000 10000", t, " ")
	for (k = 1; k <= m; k++) {
		printf "\n%d", t[k]
		for (i = 1; i <= n; i++) {
			sum = 0
			for (r = 1; r <= runs[names[i]]; r++) {
				at = stuck[names[i], r]
				sum += at != "" && at + 0 <= t[k]
			}
			printf ",%.5g", 100 * sum / runs[names[i]]
		}
	}
	print ""
}' rows >"$out/001-fig12-time.csv"
plot 001-fig12-time 'deadlocked, 4-ary 3-tree, adaptive-links' cycles \
	'% of the fault sets'

# The percentage of deadlocked runs with all schemes, after fewer cycles.
runs=16 cycles=500 others=(det-links dmodc ddlr1)
if [[ $long ]]; then
	runs=60 cycles=1000
	others=(misroute adaptive-switches det-links det-switches dmodc sftree
		ddlr1 ddlr2)
fi
rerouting -x -w 0 -n $faults -r $runs -l 60 -m $cycles 4-ary-3-tree.net \
	adaptive-links "${others[@]}" >rows
table '100 * stuck' <rows >"$out/001-fig12.csv"
[[ -z $long ]] || paper 001-fig12 adaptive-links 4=1 7=7 10=20

csv=001-fig12-time
claim 'adaptive rerouting deadlocks, more often with more faults' \
	"$(at $csv 500 'saturated 10') >= 5 &&
	$(at $csv 500 'saturated 10') > 2 * $(at $csv 500 'saturated 4') &&
	$(at $csv 500 'saturated 10') <= 50"
csv=001-fig12
claim 'det-links with its two layers does not deadlock; neither do our tables' \
	"$(at $csv 10 det-links) == 0 && $(at $csv 10 dmodc) == 0 &&
	$(at $csv 10 ddlr1) == 0"
