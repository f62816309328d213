# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Seed 004, table III, DFSSSP: the paper does not tell on how many lanes its paths
# run.  DFSSSP spreads them over all that there are; here each path has a random
# one of N, with the room of a lane as in the other rows, or the port's room shared.

# shellcheck source=tests/seeds/sftree.sh
. "$here/sftree.sh"

# random_lanes NETFILE N: an SL for each pair of hosts.
random_lanes() {
	awk -v n="$2" 'BEGIN { srand(1) }
	/^Ca/ { split($0, a, "\""); id = substr(a[2], 3); getline
		match($0, /# lid [0-9]+/)
		guid[++hosts] = id
		lid[hosts] = substr($0, RSTART + 6, RLENGTH - 6) }
	END {
		for (i = 1; i <= hosts; i++)
			for (j = 1; j <= hosts; j++)
				print "0x" guid[i], lid[j], int(n * rand())
	}' "$1"
}

csv=$out/004-table3-lanes.csv
echo 'tree,lanes,room of a lane,paper,hosts with switches,deadlocks' >"$csv"

# tree NAME SHAPE PAPER
tree() {
	local dir=$T/t n room
	mkdir "$dir"
	ibfattree gen "$2" --no-lids -o "$dir.net"
	stock "$dir" "$dir.net" dfsssp
	for n in 1 8; do
		random_lanes "$dir/dfsssp.net" "$n" >"$T/psl"
		for room in 17792 $((51200 / n)); do
			traffic "$dir" dfsssp --switch-load 100 --vls "$n" \
				--psl "$T/psl" --buffer "$room"
			echo "$1,$n,$room,$3,$(hosts),$(deadlocks)"
		done
	done >>"$csv"
	rm -rf "$dir"
}

of() { awk -F, -v t="$1" -v n="$2" '$1 == t && $2 == n && $3 == 17792 { print $5 }' "$csv"; }

if [[ $long ]]; then
	a=648 b='648 + rack switches'
	tree "$a" 648 85.49
	tree "$b" '3;18,6,6;1,6,6;1,3,3' 84.20
else
	a=128 b='54 + rack switches'
	tree "$a" '2;8,16;1,8;1,1' ''
	tree "$b" '3;6,3,3;1,3,3;1,2,2' ''
fi
claim 'three levels: lanes are worth more than 5 points' \
	"$(of "$b" 8) > $(of "$b" 1) + 5"
claim 'two levels: they are worth the room' "$(of "$a" 8) > $(of "$a" 1) + 1"
