# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Bogdanski et al. 2012, table III, DFSSSP and LASH.  Unlike the other engines, both distribute
# paths over VLs.  Here they have the VLs that opensm gives them.  Each VL has the buffer size
# of the single VL in the other rows, or all VLs share the port's buffer.
#
# Column "by the worst link": (hosts - 1) / flows on the most loaded link of all-to-all.  A host
# that sends over this link cannot send faster in the long run, with any number of VLs.

# shellcheck source=tests/seeds/sftree.sh
. "$here/sftree.sh"

csv=$out/004-table3-vls.csv
echo 'tree,engine,VLs,room of a VL,paper,by the worst link,hosts alone,hosts with switches,deadlocks' >"$csv"

# rows NAME ENGINE PAPER VLS [OPTION...]: simulate the tables of ENGINE, and write one row for each
# kind of buffer.  PAPER is the paper's value.
rows() {
	local name=$1 engine=$2 paper=$3 n=$4 room allow alone
	shift 4
	ibfattree load "$T/t/$engine.net" --lfts "$T/t/$engine.lfts" --sample 1 \
		--permutations 1 --bisections 1 --json >"$T/load.json" || true
	allow=$(awk "BEGIN { printf \"%.2f\", 100 * \
		$(jsonq "$T/load.json" results.0.worst.host_max) / \
		$(jsonq "$T/load.json" results.0.max) }")
	for room in 17792 $((51200 / n)); do
		traffic "$T/t" "$engine" --vls "$n" --buffer "$room" "$@"
		alone=$(hosts)
		traffic "$T/t" "$engine" --switch-load 100 --vls "$n" \
			--buffer "$room" "$@"
		echo "$name,${engine%+*},$n,$room,$paper,$allow,$alone,$(hosts),$(deadlocks)"
	done >>"$csv"
}

# tree NAME SHAPE PAPER-DFSSSP PAPER-LASH: write the rows of a tree.  The last two arguments are the
# paper's values.
tree() {
	local engine paper n
	rm -rf "$T/t"
	mkdir "$T/t"
	ibfattree gen "$2" --no-lids -o "$T/t.net"
	stock "$T/t" "$T/t.net" dfsssp+vls lash+vls
	for engine in dfsssp+vls lash+vls; do
		paper=$3
		[[ $engine != lash* ]] || paper=$4
		n=$(awk '$3 > n { n = $3 } END { print n + 1 }' \
			"$T/t/$engine.psl")
		rows "$1" "$engine" "$paper" 1
		((n == 1)) || rows "$1" "$engine" "$paper" "$n" \
			--psl "$T/t/$engine.psl"
	done
}

# value_of TREE ENGINE WHICH COLUMN: print COLUMN of one row of TREE and ENGINE.  WHICH selects
# the row: 1 is the row with one VL, N the row with all VLs of the engine.  Rows in which the VLs
# share the port's buffer are ignored.
value_of() {
	awk -F, -v t="$1" -v e="$2" -v which="$3" -v c="$4" '
	$1 == t && $2 == e && $4 == 17792 && (which == 1) == ($3 == 1) {
		print $c; exit }' "$csv"
}

if [[ $long ]]; then
	a=648 b='648 + rack switches'
	tree "$a" 648 85.49 5.257
	tree "$b" '3;18,6,6;1,6,6;1,3,3' 84.20 0.8103
else
	a=128 b='54 + rack switches'
	tree "$a" '2;8,16;1,8;1,1' '' ''
	tree "$b" '3;6,3,3;1,3,3;1,2,2' '' ''
fi
claim 'DFSSSP on three levels: its tables alone limit the throughput' \
	"$(value_of "$b" dfsssp N 7) < $(value_of "$b" dfsssp N 6) * 1.15"
# the short version ends before the packets for ports 0 have filled the input buffers
gain=-3
[[ -z $long ]] || gain=5
claim 'DFSSSP with all its VLs: no deadlock, and no less throughput with traffic of switches than on one VL' \
	"$(value_of "$b" dfsssp N 9) == 0 && $(value_of "$b" dfsssp N 8) > $(value_of "$b" dfsssp 1 8) + $gain"
claim 'LASH with all its VLs: no deadlock' "$(value_of "$b" lash N 9) == 0"
