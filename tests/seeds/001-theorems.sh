# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154,SC2016
# Tests theorem 2 of Sem-Jacobsen et al. 2006 and theorem 5 of Sem-Jacobsen et al. 2011: static.c
# looks for cycles in the extended channel dependency graphs of routing subfunctions, on small trees
# with all sets of faults or with random sets.  Then repeats figure 11 of the
# paper of 2011 without traffic.

# row FUNCTION KIND SHAPE FAULTS SETS RULE: run static.c with these arguments; print a row.
row() {
	printf '%s,%s,%s,%s,%s,' "$1" "$2" "${3#kary:}" "$4" "$6" | sed 's/,/-/3'
	"$build/static" deadlock "$@"
}
csv=$out/001-theorems
{
	echo function,kind,tree,faults,choice,sets,discarded,no subtree,nothing given,cycle
	for t in 2,2 2,3 2,4; do
		row misroute links kary:$t 1 0 turn
		row adaptive-links links kary:$t 1 0 own
	done
	row misroute links kary:3,2 2 0 turn
	row adaptive-links links kary:3,2 2 0 own
	row adaptive-switches mixed kary:2,4 1 0 own
	row adaptive-switches mixed kary:2,4 1 0 careful
	row adaptive-switches switches kary:3,3 2 0 own
	row adaptive-links links kary:3,3 4 100 own
	if [[ $long ]]; then
		row misroute links kary:3,3 2 0 turn
		row misroute links kary:4,2 3 0 turn
		row misroute links kary:4,3 3 200 turn
		row adaptive-links links kary:3,3 2 0 own
		row adaptive-links links kary:3,3 2 0 common
		row adaptive-links links kary:4,2 3 0 own
		row adaptive-links links kary:4,3 3 100 own
		row adaptive-switches mixed kary:3,3 2 0 own
		row adaptive-switches mixed kary:3,3 2 0 careful
		row adaptive-switches mixed kary:4,3 3 100 careful
		row misroute links kary:3,3 4 300 turn
	fi
} >"$csv.csv"

# total COLUMN CONDITION: print the sum of a column over the rows for which CONDITION is true.
total() {
	awk -F, "NR > 1 && ($2) { n += \$$1; rows++ } END { print rows ? n : \"none\" }" \
		"$csv.csv"
}
links='$1 != "adaptive-switches" && $4 < substr($3, 1, 1)'
claim 'up to k-1 link faults: every set is connected and has no cycle' \
	"$(total 6 "$links") >= 200 && $(total 7 "$links") == 0 &&
	$(total 8 "$links") == 0 && $(total 9 "$links") == 0 &&
	$(total 10 "$links") == 0"
switches='$1 == "adaptive-switches" && $2 == "switches"'
claim 'up to k-1 switch faults: every set is connected and has no cycle' \
	"$(total 6 "$switches") > 100 && $(total 7 "$switches") == 0 &&
	$(total 8 "$switches") == 0 && $(total 9 "$switches") == 0 &&
	$(total 10 "$switches") == 0"
claim 'R_adaptive for switches, link faults: not every choice of a fault-free subtree suffices' \
	"$(total 9 '$5 == "own" && $2 == "mixed"') > 0 &&
	$(total 9 '$5 == "careful" && $3 == "2-4"') == 0"
claim 'beyond k-1 there are cycles' "$(total 10 '$4 >= 4') > 0"

# Figure 11 without traffic takes less time than 001-fig11, so there are more sets of faults.
sets=200
[[ -z $long ]] || sets=500
for t in 4,3 2,6; do
	"$build/static" connected kary:$t 10 $sets \
		>"$out/001-fig11-static-${t/,/ary-}tree.csv"
done
csv=001-fig11-static-2ary-6tree
claim '2-ary 6-tree, one fault: local rerouting and reconfiguration connect all sets' \
	"$(at $csv 1 det-links) == 100 && $(at $csv 1 reconfiguration) == 100"
claim '2-ary 6-tree, 3 and 4 faults: local rerouting connects at least as many sets as reconfiguration' \
	"$(at $csv 3 det-links) >= $(at $csv 3 reconfiguration) &&
	$(at $csv 4 det-links) >= $(at $csv 4 reconfiguration) &&
	$(at $csv 4 det-links) > 85 && $(at $csv 4 reconfiguration) < 100"
claim '2-ary 6-tree, 7 and 10 faults: local rerouting connects more sets, and the difference is not chance' \
	"$(at $csv 7 det-links) - $(at $csv 7 reconfiguration) > 6 &&
	$(at $csv 10 det-links) - $(at $csv 10 reconfiguration) > 6"
csv=001-fig11-static-4ary-3tree
claim '4-ary 3-tree: local rerouting connects 100 % of the sets with 4 faults, 95 to 100 % with 10' \
	"$(at $csv 4 det-links) == 100 && $(at $csv 10 det-links) > 95 &&
	$(at $csv 10 det-links) < 100"
