# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
#
# Bogdanski et al. 2012, figure 6: bandwidth over time on the four switches of figure 4(b),
# which form a ring.  Two streams run between hosts of the leaves, and two between hosts on
# the roots.  Hosts on roots stand for roots that send at the rate of hosts.  The streams
# start one after the other.  The paper's seconds are milliseconds here.
#
# As in the paper, stock minhop does not deadlock there.  So its tables are changed by hand: the
# two paths between the roots then turn at different leaves.  There is one queue per VL, with room
# for eight packets.  With a queue per output, streams on the same link alternate packet by packet;
# they then deadlock if a buffer has room for two packets, but not if it has room for four or eight.
#
# The second part tests the conclusion "almost any 3-stage or larger fat-tree routed with
# minhop will potentially deadlock", with tables of OpenSM for such trees.  Hosts and ports 0
# send.  Ports 0 are as fast as hosts, or as slow as in commercial switches.

# shellcheck source=tests/seeds/sftree.sh
. "$here/sftree.sh"

# ---- the ring -------------------------------------------------------------------

# Print the ring as a netfile.  On each switch, ports 1 and 2 have links, port 3 has a host that
# sends, and port 4 a host that receives.
ring() {
	awk 'BEGIN {
	split("root-1 root-2 leaf-1 leaf-2", name)
	split("3 1,4 1,3 2,4 2,1 1,2 1,1 2,2 2", far, ",")
	for (s = 1; s <= 4; s++) {
		printf "switchguid=0x%016d\nSwitch\t36 \"S-%016d\"\t\t# \"%s\"\n", s, s, name[s]
		for (p = 1; p <= 2; p++) {
			split(far[2 * s + p - 2], q, " ")
			printf "[%d]\t\"S-%016d\"[%d]\n", p, q[1], q[2]
		}
		for (p = 3; p <= 4; p++)
			printf "[%d]\t\"H-%015d%d\"[1]\n", p, s, p
		print ""
	}
	for (s = 1; s <= 4; s++) for (p = 3; p <= 4; p++)
		printf "caguid=0x%015d%d\nCa\t1 \"H-%015d%d\"\t\t# \"%s-%s\"\n[1](%015d%d)\t\"S-%016d\"[%d]\n\n", \
			s, p, s, p, p == 3 ? "from" : "to", name[s], s, p, s, p
	}'
}

# set_entry FILE SWITCH HOST PORT: set the entry of SWITCH for HOST to PORT.
set_entry() {
	awk -v s="'$2'" -v d="'$3'" -v port="$(printf %03d "$4")" '
	/^Unicast/ { here = index($0, s) }
	here && index($0, d) && /^0x/ { $2 = port; n++ }
	{ print }
	END { exit n != 1 }' "$1" >"$1.new" && mv "$1.new" "$1"
}

# entry FILE SWITCH HOST: print the entry of SWITCH for HOST.
entry() {
	awk -v s="'$2'" -v d="'$3'" '
	/^Unicast/ { here = index($0, s) }
	here && /^0x/ && index($0, d) { print $2 + 0; n = 1; exit }
	END { exit !n }' "$1"
}

mkdir "$T/ring"
ring >"$T/ring.net"
printf '0x%016d\n' 1 2 >"$T/ring/roots"
stock "$T/ring" "$T/ring.net" minhop
ours "$T/ring" "$T/ring/minhop.net" sftree ddlr
cp "$T/ring/minhop.net" "$T/ring/minhop-changed.net"
cp "$T/ring/minhop.lfts" "$T/ring/minhop-changed.lfts"
cp "$T/ring/minhop.net" "$T/ring/sftree-paper.net"
cp "$T/ring/minhop.lfts" "$T/ring/sftree-paper.lfts"

# Streams between leaves use different roots; streams between roots use different leaves.
while read -r sw to port; do
	set_entry "$T/ring/minhop-changed.lfts" "$sw" "to-$to" "$port"
done <<-EOF
	leaf-1 leaf-2 2
	leaf-2 leaf-1 1
	root-1 root-2 1
	root-2 root-1 2
EOF
# The paper's algorithm does not handle hosts on roots.  They get the paths of the roots.
published_sftree "$T/ring/minhop.net" "$T/ring/roots" >"$T/ring/paper.lfts"
for sw in root-1 root-2 leaf-1 leaf-2; do
	for to in root-1 root-2 leaf-1 leaf-2; do
		[[ $sw != "$to" ]] || continue
		set_entry "$T/ring/sftree-paper.lfts" "$sw" "to-$to" \
			"$(entry "$T/ring/paper.lfts" "$sw" "$to")"
	done
done

cat >"$T/pairs" <<-EOF
	"from-leaf-1" "to-leaf-2"
	"from-leaf-2" "to-leaf-1"
	"from-root-1" "to-root-2"
	"from-root-2" "to-root-1"
EOF
routings=(minhop-changed minhop sftree-paper sftree ddlr)
parts=100
line='time ms'
for e in "${routings[@]}"; do
	line+=",$e"
	ibfattree sim "$T/ring/$e.net" --lfts "$T/ring/$e.lfts" "${model[@]}" \
		--queues fifo --pattern pairs --pairs "$T/pairs" --warmup 0us --duration 10ms \
		--fail 'leaf-2[3]@0us' --recover 'leaf-2[3]@1ms' \
		--fail 'root-1[3]@0us' --recover 'root-1[3]@2ms' \
		--fail 'root-2[3]@0us' --recover 'root-2[3]@3ms' \
		--series "$parts" --json >"$T/$e.json" || (($? == 1))
	# mean bandwidth of the four streams, MB/s
	sed -n 's/.*"delivered": *\([0-9]*\).*/\1/p' <(sed '1,/"series"/d' "$T/$e.json") |
		head -n "$parts" | awk '{ printf "%.1f\n", $1 * 2048 / 4 / 100 }' >"$T/$e.col"
	jsonq "$T/$e.json" deadlocks >"$T/$e.deadlocks"
done
{
	echo "$line"
	paste -d , <(seq 0.1 0.1 10) "${routings[@]/%/.col}"
} >"$out/004-fig6.csv"
plot 004-fig6 'A stream more at 0, 1, 2 and 3 ms' 'ms' \
	'bandwidth of a node, mean, MB/s'
for e in "${routings[@]}"; do
	[[ $e != minhop-changed ]] || continue
	claim "ring of four: $e does not deadlock" "$(<"$T/$e.deadlocks") == 0"
done
claim 'ring of four: minhop changed by hand deadlocks' \
	"$(<"$T/minhop-changed.deadlocks") == 1"
claim 'after the deadlock no packet arrives; with sftree packets still arrive' \
	"$(at 004-fig6 10.0 minhop-changed) == 0 && $(at 004-fig6 10.0 sftree-paper) > 500"

# The same streams and tables with other types of queues and other buffer sizes.
echo 'queues,room in packets,deadlock,hosts' >"$out/004-fig6-queues.csv"
for queues in fifo voq; do
	for room in 2 4 8; do
		ibfattree sim "$T/ring/minhop-changed.net" \
			--lfts "$T/ring/minhop-changed.lfts" "${model[@]}" \
			--pattern pairs --pairs "$T/pairs" --queues "$queues" \
			--buffer $((room * 2048)) --warmup 1ms --duration 5ms \
			--json >"$T/result.json" || (($? == 1))
		echo "$queues,$room,$(deadlocks),$(hosts)"
	done
done >>"$out/004-fig6-queues.csv"

# ---- trees of three levels -----------------------------------------------------

csv=$out/004-fig6-trees.csv
echo 'tree,rate of ports 0,engine,runs,deadlocks,hosts' >"$csv"
engines=(minhop updn dfsssp lash ftree)
own=(dmodc sftree sftree+paper ddlr ddlr+2)

# tree NAME SHAPE RATE...: write a row for each rate of ports 0 and each engine.
tree() {
	local name=$1 shape=$2 dir=$T/tree e rate
	shift 2
	mkdir "$dir"
	if [[ $shape == racks ]]; then
		awk -f "$here/racks.awk" >"$dir.net"
	else
		ibfattree gen "$shape" --no-lids -o "$dir.net"
	fi
	roots "$dir.net" >"$dir/roots"
	stock "$dir" "$dir.net" "${engines[@]}"
	ours "$dir" "$dir/minhop.net" "${own[@]}"
	for rate; do
		for e in "${engines[@]}" "${own[@]}"; do
			traffic "$dir" "$e" --switch-load 100 \
				--switch-rate "$rate" --stop --runs "$runs" \
				"${early[@]}"
			echo "$name,$rate,$e,$runs,$(deadlocks),$(hosts)"
		done
	done >>"$csv"
	rm -rf "$dir"
}

# deadlocks_of ENGINE: print the number of its runs that deadlock, over all trees and rates.
deadlocks_of() { awk -F, -v e="$1" '$3 == e { n += $5 } END { print n + 0 }' "$csv"; }

runs=1 early=()
if [[ $long ]]; then
	# short runs are enough, because deadlocks occur early
	runs=2 early=(--warmup 300us)
	tree '4-ary 3-tree' kary:4,3 2000 16000
	tree '648 + rack switches' '3;18,6,6;1,6,6;1,3,3' 2000 16000
	tree '648 + racks' racks 2000
else
	tree '4-ary 3-tree' kary:4,3 2000 16000
fi
claim 'three levels: minhop deadlocks under traffic of hosts and switches' \
	"$(deadlocks_of minhop) > 0"
for e in sftree sftree+paper ddlr ddlr+2 dmodc ftree updn; do
	claim "three levels: $e does not deadlock" "$(deadlocks_of "$e") == 0"
done
