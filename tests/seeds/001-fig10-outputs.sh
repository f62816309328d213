# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Repeats figure 10 of Sem-Jacobsen et al. 2011 with queues at the outputs of switches, as in
# section IV of the paper: counts the packets on a link and in its queues when the link fails.
# Then repeats figure 12: how often adaptive routing deadlocks with such queues.
# shellcheck source=/dev/null
. "$here/rerouting.sh"
tree 4,3
tree 2,6

# outputs NAME TREE LOAD FAULTS [OPTION...]: simulate (outputs.c); print rows that begin with NAME,
# TREE, LOAD.
outputs() {
	"$build/outputs" -r "$runs" -l "$3" -n "$4" "${@:5}" "$2-tree.net" \
		det-links adaptive-links |
		sed -n "2,\$ s/^/$1,$2-tree,$3,/p"
}

# value COLUMN TREE LOAD FUNCTION FAULTS: print COLUMN of the row TREE, LOAD, FUNCTION, FAULTS.
value() {
	awk -F, -v c="$1" -v t="$2-tree" -v l="$3" -v f="$4" -v n="$5" '
	$1 == t && $2 == l && $3 == f && $4 == n { print $c; found = 1 }
	END { exit !found }' "$out/001-fig10-outputs.csv"
}

# counts LOADS [OPTION...]: print a table of the packets at a link, for both trees.
counts() {
	local t l
	echo 'tree,load %,function,faults,deadlock %,packets per cycle,link one way,queue one way,one way,both ways,both queues'
	for t in 4-ary-3 2-ary-6; do
		for l in $1; do
			[[ $long || $t == 4-ary-3 || $l == 60 ]] || continue
			outputs direct $t "$l" $faults "${@:2}"
		done
	done | awk -F, -v OFS=, '{
		printf "%s,%s,%s,%s,%s,%.2f,%.2f,%.2f,%.2f,%.2f,%.2f\n", $2, $3, $4, $5, $6, $7, $8, $9, $8 + $9, 2 * ($8 + $9), 2 * $9 }'
}

runs=6 faults=1,10
[[ -z $long ]] || runs=24 faults=1,2,4,6,8,10
counts "40 60 ${long:+100}" >"$out/001-fig10-outputs.csv"

det=$(value 10 4-ary-3 60 det-links 1)
adaptive=$(value 10 4-ary-3 60 adaptive-links 1)
claim 'queues at outputs: saturation at 18 packets per cycle (paper: about 18)' \
	"$(value 6 4-ary-3 60 det-links 1) > 17.5 &&
	$(value 6 4-ary-3 60 det-links 1) < 18.5"
claim 'saturated: det-links has 1.8 packets at a link, adaptive-links 2.5 to 3 (paper: 1.5; 2.5 to 3)' \
	"$det > 1.4 && $det < 2 && $adaptive > 2.5 && $adaptive < 3.1"
claim 'mismatch: 2-ary 6-tree: adaptive-links has 1.5 to 2 times as many packets at a link as det-links (paper: more than twice)' \
	"$(value 10 2-ary-6 60 adaptive-links 1) > 1.5 * $(value 10 2-ary-6 60 det-links 1) &&
	$(value 10 2-ary-6 60 adaptive-links 1) < 2 * $(value 10 2-ary-6 60 det-links 1)"
claim '2-ary 6-tree: adaptive-links has more than twice as many packets in queues as det-links' \
	"$(value 11 2-ary-6 60 adaptive-links 1) > 2 * $(value 11 2-ary-6 60 det-links 1)"
claim 'unsaturated: both functions have 0.4 to 0.7 packets at a link, in one direction' \
	"$(value 9 4-ary-3 40 det-links 1) < 0.7 &&
	$(value 9 4-ary-3 40 adaptive-links 1) > 0.4 &&
	$(value 9 4-ary-3 40 adaptive-links 1) < 1.1 * $(value 9 4-ary-3 40 det-links 1)"

[[ $long ]] || return 0

# The same table for queues in which a place becomes free as soon as the head of a packet has left.
counts '40 70 100' -e >"$out/001-fig10-outputs-head.csv"

# Other switches with queues at outputs, at full load.  The last fault does not occur; it only
# selects the link at which packets are counted.  So FAULTS 1 means no fault, and 11 means 10.
{
	echo 'switch,tree,det-links: packets per cycle,adaptive-links,det-links: both ways,adaptive-links,adaptive-links with 10 faults: deadlock %'
	for how in \
		'one queue:' \
		'one queue; place freed when the head has left:-e' \
		'one queue; 4 times the resolution:-h 8 -w 4000 -m 4000' \
		'one queue; a random exit:-1' \
		'one queue of 4:-o 4' \
		'a queue for each input:-M virtual' \
		'a queue for each input; of 1:-M virtual -o 1' \
		'buffers of 2 at inputs too:-M inputs' \
		'buffers of 1 at inputs too:-M inputs -i 1'; do
		read -r -a options <<<"${how#*:}"
		for t in 4-ary-3 2-ary-6; do
			outputs "${how%%:*}" $t 100 1,11 "${options[@]}"
		done
	done | awk -F, '
	{ key = $1 "," $2 }
	$5 == 1 { v[$4, 1] = $7; v[$4, 2] = 2 * ($8 + $9) }
	$5 == 11 && $4 == "adaptive-links" {
		printf "%s,%.2f,%.2f,%.2f,%.2f,%s\n", key, v["det-links", 1], v[$4, 1], v["det-links", 2], v[$4, 2], $6
	}'
} >"$out/001-fig10-outputs-switches.csv"

# Figure 12, with 4, 7 and 10 faults.  A place in a queue becomes free when the packet's tail has
# left, or when its head has left.
runs=200
{
	outputs tail 4-ary-3 60 5,8,11 -m 2000
	outputs head 4-ary-3 60 5,8,11 -m 2000 -e
} | awk -F, '
BEGIN { print "faults,paper,place freed when the tail has left,place freed when the head has left" }
$4 == "adaptive-links" { v[$1, $5 - 1] = $6 }
END {
	paper[4] = 1; paper[7] = 7; paper[10] = 20
	for (n = 4; n <= 10; n += 3)
		print n "," paper[n] "," v["tail", n] "," v["head", n]
}' >"$out/001-fig10-outputs-deadlock.csv"
