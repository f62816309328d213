# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Bogdanski et al. 2012, table III: throughput of hosts and of ports 0, both sending at full rate,
# on a 648-port switch, without and with a layer of rack switches below it.
#
# The paper does not give the cabling of the second tree.  Two trees stand for it: a PGFT of
# 648 hosts and three levels, as in BENCHMARKS.md; and the 648-port switch with racks of two
# switches joined by horizontal links, like the module that the paper cites (racks.awk).
#
# Each engine has three runs: hosts alone; the paper's load; and the paper's load with 800
# blocks per input.  The paper does not give the size of input buffers.  The single-VL
# examples of the published model have 800 blocks (200 for packets from port 0).

# shellcheck source=tests/seeds/sftree.sh
. "$here/sftree.sh"

# The paper's throughput of hosts, in per cent: on its first tree, and on its second tree.
declare -A paper=([sftree+paper]='91.94 92.93' [minhop]='66.98 54.01'
	[updn]='66.98 54.01' [dfsssp]='85.49 84.20' [lash]='5.257 0.8103')
stock_engines=(ftree minhop updn dfsssp lash)
our_engines=(dmodc sftree sftree+paper ddlr ddlr+2)

roomy=(--buffer $((800 * 64)) --switch-buffer $((200 * 64)))
csv=$out/004-table3.csv
echo 'tree,engine,paper,hosts alone,deadlocks,hosts with switches,ports 0,deadlocks,hosts with switches and room,ports 0,deadlocks' >"$csv"

# tree N NAME SHAPE [OPTION...]: write the rows of a tree.  N is the column of the paper's table; 0
# if the paper does not have this tree.
tree() {
	local n=$1 name=$2 dir=$T/tree engine line
	mkdir -p "$dir"
	if [[ $3 == racks ]]; then
		awk -f "$here/racks.awk" >"$dir.net"
	else
		ibfattree gen "${@:3}" --no-lids -o "$dir.net"
	fi
	roots "$dir.net" >"$dir/roots"
	stock "$dir" "$dir.net" "${stock_engines[@]}"
	ours "$dir" "$dir/minhop.net" "${our_engines[@]}"
	# on one VL and without faults, ddlr has sftree's tables and gets no row
	cmp "$dir/ddlr.lfts" "$dir/sftree.lfts"
	for engine in "${stock_engines[@]}" "${our_engines[@]}"; do
		[[ $engine != ddlr ]] || continue
		line=$name,$engine
		line+=,$(cut -d ' ' -f "$((n ? n : 3))" <<<"${paper[$engine]:-}")
		traffic "$dir" "$engine"
		line+=,$(hosts),$(deadlocks)
		traffic "$dir" "$engine" --switch-load 100
		line+=,$(hosts),$(switches),$(deadlocks)
		traffic "$dir" "$engine" --switch-load 100 "${roomy[@]}"
		echo "$line,$(hosts),$(switches),$(deadlocks)"
	done >>"$csv"
	rm -rf "$dir"
}

# value_of TREE ENGINE COLUMN: print COLUMN of the row of TREE and ENGINE.
value_of() {
	awk -F, -v t="$1" -v e="$2" -v c="$3" \
		'$1 == t && $2 == e { print $c; n = 1 } END { exit !n }' "$csv"
}

if [[ $long ]]; then
	tree 1 648 648
	tree 2 '648 + rack switches' '3;18,6,6;1,6,6;1,3,3'
	tree 2 '648 + racks' racks
	a=648 b='648 + rack switches'
else
	a=128 b='54 + rack switches'
	tree 0 "$a" '2;8,16;1,8;1,1'
	tree 0 "$b" '3;6,3,3;1,3,3;1,2,2'
fi

for t in "$a" "$b" ${long:+'648 + racks'}; do
	for e in dmodc sftree ddlr+2 ftree; do
		[[ "$t $e" != *racks*\ ftree ]] || continue
		claim "$t: $e without traffic of switches carries more than 85 %" \
			"$(value_of "$t" "$e" 4) > 85"
	done
	[[ $t != *racks ]] || continue
	claim "$t: lash carries less than a fifth of the throughput of sftree" \
		"$(value_of "$t" lash 4) < $(value_of "$t" sftree 4) / 5"
	claim "stock: $t: minhop and Up*/Down* have the same throughput, within 2 points" \
		"($(value_of "$t" minhop 4) - $(value_of "$t" updn 4)) ^ 2 < 4"
	for e in sftree sftree+paper ddlr+2; do
		claim "$t: $e does not deadlock with switches' traffic" \
			"$(value_of "$t" "$e" 8) + $(value_of "$t" "$e" 11) == 0"
	done
done
claim "$a: sftree with traffic of switches and larger buffers carries more than 95 %" "$(value_of "$a" sftree 9) > 95"
claim "$b: minhop carries less than 0.75 times the throughput of sftree" "$(value_of "$b" minhop 4) < 0.75 * $(value_of "$b" sftree 4)"
claim "$b: dfsssp carries less than 0.9 times the throughput of sftree" "$(value_of "$b" dfsssp 4) < 0.9 * $(value_of "$b" sftree 4)"
