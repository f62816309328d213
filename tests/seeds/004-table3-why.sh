# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Answers two more questions about table III of Bogdanski et al. 2012.  Which choices determine
# DFSSSP's tables on three levels?  Could any kind of switch keep hosts at 92.93 per cent (sFtree on
# the PGFT) while ports 0 send at full rate?

# shellcheck source=tests/seeds/sftree.sh
. "$here/sftree.sh"

if [[ $long ]]; then
	flat=648 deep='3;18,6,6;1,6,6;1,3,3'
else
	flat='2;8,16;1,8;1,1' deep='3;6,3,3;1,3,3;1,2,2'
fi

# SSSP routes the LIDs of switches before or after those of hosts.  Of several equal paths, it takes
# the first or a random one.  In three runs, hosts send alone, with switches on the same VL, and
# with switches on a VL of their own.
sssp_csv=$out/004-table3-sssp.csv
echo 'tree,LIDs of switches; ties,flows on the worst link,by the worst link,alone,with,deadlocks,with on two VLs,deadlocks' >"$sssp_csv"
sssp_rows() {
	local name=$1 dir=$T/sssp kind flows n
	local -a words
	mkdir "$dir"
	ibfattree gen "$2" -o "$dir/t.net"
	n=$(grep -c '^Ca' "$dir/t.net")
	for kind in first last 'last 1' 'last 2'; do
		read -r -a words <<<"$kind"
		cp "$dir/t.net" "$dir/sssp.net"
		ddr "$dir/sssp.net"
		"$build/sssp" "${words[0]}" "$dir/sssp.net" "${words[@]:1}" >"$dir/sssp.lfts"
		flows=$(ibfattree load "$dir/sssp.net" --lfts "$dir/sssp.lfts" \
			--sample 1 --permutations 0 --bisections 0 |
			awk '/^all-to-all/ { gsub(",", ""); print $6; exit }')
		case ${words[1]:-} in
		'') kind+='; by index' ;;
		*) kind="${words[0]}; at random; seed ${words[1]}" ;;
		esac
		printf '%s,%s,%s,' "$name" "$kind" "$flows"
		awk "BEGIN { printf \"%.2f,\", 100 * ($n - 1) / $flows }"
		traffic "$dir" sssp
		printf '%s,' "$(hosts)"
		traffic "$dir" sssp --switch-load 100
		printf '%s,%s,' "$(hosts)" "$(deadlocks)"
		traffic "$dir" sssp --switch-load 100 --vls 2 --switch-sl 1
		echo "$(hosts),$(deadlocks)"
	done >>"$sssp_csv"
	rm -rf "$dir"
}
sssp_rows 648 "$flat"
sssp_rows '648 + rack switches' "$deep"

# Flows between ports 0 on the most loaded link: their number, and the part of the link's 16 Gbit/s
# that they use.  Each port 0 sends 2 Gbit/s evenly to all others.
flows_csv=$out/004-table3-switch-flows.csv
echo 'tree,engine,pairs of switches,without a path,flows on the worst link,Gbit/s of 16' >"$flows_csv"
flow_rows() {
	local dir=$T/flows engine
	mkdir "$dir"
	ibfattree gen "$2" -o "$dir/t.net"
	for engine in dmodc sftree sftree+paper; do
		ours "$dir" "$dir/t.net" "$engine"
		awk -f "$here/switch-flows.awk" "$dir/$engine.net" \
			"$dir/$engine.lfts" | awk -v head="$1,$engine" '{
			n = (1 + sqrt(1 + 4 * $1)) / 2
			printf "%s,%d,%d,%d,%.1f\n", head, $1, $2, $3, 2 * $3 / (n - 1) }'
	done >>"$flows_csv"
	rm -rf "$dir"
}
flow_rows 648 "$flat"
flow_rows '648 + rack switches' "$deep"

# value_of TREE SECOND COLUMN FILE: print COLUMN of the row of FILE that begins with TREE,SECOND.
value_of() { awk -F, -v t="$1" -v s="$2" -v c="$3" '$1 == t && $2 == s { print $c }' "$4"; }
r='648 + rack switches' first='first; by index' last='last; by index'
claim 'SSSP on three levels: balanced if hosts come before switches, not if switches come first' \
	"$(value_of "$r" "$last" 4 "$sssp_csv") > 95 &&
	$(value_of "$r" "$first" 4 "$sssp_csv") < 0.8 * $(value_of "$r" "$last" 4 "$sssp_csv")"
claim 'SSSP on two levels: balanced in both orders' \
	"$(value_of 648 "$last" 4 "$sssp_csv") > 95 && $(value_of 648 "$first" 4 "$sssp_csv") > 95"
claim "three levels: traffic of switches loads the worst link more in sFtree as published than in sftree" \
	"$(value_of "$r" sftree+paper 6 "$flows_csv") > 1.2 * $(value_of "$r" sftree 6 "$flows_csv")"
claim 'two levels: traffic of switches needs less than 4 of the 16 Gbit/s of a link' "$(value_of 648 sftree+paper 6 "$flows_csv") < 4"
