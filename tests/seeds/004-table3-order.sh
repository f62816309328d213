# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Bogdanski et al. 2012, table III, row minhop.  Minhop distributes destinations over the upward
# links in the order in which it routes them.  So its throughput depends on values that the
# paper does not give.  This script varies the order of destinations
# (guid_routing_order_file), and the GUIDs and port numbers of the tree of three levels.

# shellcheck source=tests/seeds/sftree.sh
. "$here/sftree.sh"

# order NETFILE PART SEED: print the port GUIDs of the hosts, leaf by leaf.  PART percent of them
# get random places.
order() {
	awk '/^Ca/ { split($0, a, "\""); id = substr(a[2], 3); getline
		match($0, /\([0-9a-f]*\)/)
		print "0x" substr($0, RSTART + 1, RLENGTH - 2) }' "$1" |
	awk -v part="$2" -v seed="$3" '
	{ guid[NR] = $1 }
	END {
		srand(seed)
		for (i = 1; i <= NR; i++)
			if (100 * rand() < part) place[++n] = i
		for (i = n; i > 1; i--) {
			j = 1 + int(i * rand())
			t = guid[place[i]]; guid[place[i]] = guid[place[j]]
			guid[place[j]] = t
		}
		for (i = 1; i <= NR; i++) print guid[i]
	}'
}

if [[ $long ]]; then
	flat=648 parts=(0 5 10 25 50 100) seeds=(1 2)
	deep='3;18,6,6;1,6,6;1,3,3'
else
	flat='2;8,16;1,8;1,1' parts=(0 100) seeds=(1)
	deep='3;6,3,3;1,3,3;1,2,2'
fi

mean() { awk '{ sum += $1 } END { printf "%.2f\n", sum / NR }'; }

mkdir "$T/flat"
ibfattree gen "$flat" --no-lids -o "$T/flat.net"
echo 'hosts in random places %,minhop,paper minhop' >"$out/004-table3-order.csv"
for part in "${parts[@]}"; do
	for seed in "${seeds[@]}"; do
		order "$T/flat.net" "$part" "$seed" >"$T/flat/order"
		stock "$T/flat" "$T/flat.net" minhop
		traffic "$T/flat" minhop
		hosts
		echo
	done >"$T/seeds"
	echo "$part,$(mean <"$T/seeds"),${long:+66.98}"
done >>"$out/004-table3-order.csv"
plot 004-table3-order 'minhop, two levels: the order of the destinations' \
	'hosts in random places, per cent' 'hosts, per cent of capacity'

# steps NETFILE N: print an order in steps.  It has every Nth host, beginning with the first; then
# every Nth host, beginning with the second; and so on.
steps() {
	order "$1" 0 1 | sort | awk -v n="$2" '{ l[NR - 1] = $0 }
		END { for (r = 0; r < n; r++)
			for (i = r; i < NR; i += n) print l[i] }'
}

csv=$out/004-table3-steps.csv
echo 'tree,step,flows on the worst link,by the worst link,minhop alone,updn alone,updn with' >"$csv"
# step_rows NAME SHAPE STEP...: write the rows of a tree, for minhop and Up*/Down*.  One throughput
# is the computed limit of the most loaded link; the others are simulated.
step_rows() {
	local name=$1 dir=$T/steps n flows
	mkdir "$dir"
	if [[ $2 == racks ]]; then
		awk -f "$here/racks.awk" >"$dir.net"
	else
		ibfattree gen "$2" --no-lids -o "$dir.net"
	fi
	roots "$dir.net" >"$dir/roots"
	stock "$dir" "$dir.net" minhop	# gives the port GUIDs
	cp "$dir/minhop.net" "$dir.guids"
	for n in "${@:3}"; do
		steps "$dir.guids" "$n" >"$dir/order"
		stock "$dir" "$dir.net" minhop updn
		flows=$(ibfattree load "$dir/minhop.net" --lfts "$dir/minhop.lfts" \
			--sample 1 --permutations 0 --bisections 0 |
			awk '/^all-to-all/ { gsub(",", ""); print $6; exit }')
		printf '%s,%s,%s,' "$name" "$n" "$flows"
		awk "BEGIN { printf \"%.2f,\", 100 * ($(wc -l <"$dir/order") - 1) / $flows }"
		traffic "$dir" minhop
		printf '%s,' "$(hosts)"
		traffic "$dir" updn
		printf '%s,' "$(hosts)"
		traffic "$dir" updn --switch-load 100
		hosts
		echo
	done | sed '/^$/d' >>"$csv"
	rm -rf "$dir" "$dir.guids"
}
if [[ $long ]]; then
	step_rows 648 "$flat" 1 2 3 4 6 8 9 12 16 18 24 36
	step_rows '648 + rack switches' "$deep" 1 2 3 4 6 8 9 12 16 18 24 36
	step_rows '648 + racks' racks 1 2 3 4 6 8 9 12 16 18 24 36
else
	step_rows small "$flat" 1 3
fi

csv=$out/004-table3-numbers.csv
echo 'numbers,seed,minhop alone,updn alone,dfsssp alone,ftree alone' >"$csv"
# numbers NAME SEED OPTION...: write a row for the tree that gen makes with SEED and OPTION.
numbers() {
	local dir=$T/deep line=$1,$2 e
	mkdir "$dir"
	ibfattree gen "$deep" --no-lids --seed "$2" "${@:3}" -o "$dir.net"
	roots "$dir.net" >"$dir/roots"
	stock "$dir" "$dir.net" minhop updn dfsssp ftree
	for e in minhop updn dfsssp ftree; do
		traffic "$dir" "$e"
		line+=,$(hosts)
	done
	echo "$line" >>"$csv"
	rm -rf "$dir"
}
numbers 'in order' 0
for seed in "${seeds[@]}"; do
	numbers 'random GUIDs' "$seed" --random-guids
	numbers 'random GUIDs and ports' "$seed" --random-guids --random-ports
done

v() { at 004-table3-order "$1" minhop; }
claim "minhop: a random order costs a quarter of the throughput or more" \
	"$(v 100) < 0.75 * $(v 0)"
claim "minhop: the value of the paper is between those of both orders" \
	"$(v 100) < 66.98 && 66.98 < $(v 0)"
# step TREE STEP COLUMN: print COLUMN of the row TREE, STEP.
step() { awk -F, -v t="$1" -v n="$2" -v c="$3" '$1 == t && $2 == n { print $c }' "$out/004-table3-steps.csv"; }
t=small steps=(3)
[[ -z $long ]] || t=648 steps=(4 12)
for n in "${steps[@]}"; do
	# the long version also compares with the paper, on both trees
	claim 'destinations in steps: less throughput than in order; minhop and Up*/Down* are equal' \
		"$(step $t "$n" 5) < 0.9 * $(step $t 1 5) && $(step $t "$n" 5) == $(step $t "$n" 6) ${long:+&&
		($(step 648 "$n" 5) - 66.98) ^ 2 < 1 &&
		($(step '648 + rack switches' "$n" 5) - 54.01) ^ 2 < 9}"
done
n() { awk -F, -v name="$1" -v c="$2" '$1 == name { print $c; exit }' "$csv"; }
claim 'three levels: GUIDs and port numbers do not change the throughput of ftree' \
	"($(n 'in order' 6) - $(n 'random GUIDs and ports' 6)) ^ 2 < 4"
