# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Immunet (Puente et al. 2004) on a fat-tree: one link of a 4-ary 3-tree fails under full load.
# Immunet's switches are compared with our tables, which a subnet manager writes some time after the
# fault.  For dmodc and ddlr with the fast path, and for dmodc with a sweep of OpenSM, this time is
# that of an earlier run of "One link fails" in BENCHMARKS.md (648 hosts).  For sftree it was
# measured by `scripts/bench --hosts 648 --engines sftree reroute`.
# shellcheck source=tests/seeds/immunet.sh
. "$here/immunet.sh"

net=kary:4,3
ours=("dmodc:300:dmodc after 0.3 ms")
seeds=(1)
if [[ $long ]]; then
	ours=("dmodc:2160:dmodc by the fast path" "ddlr:4180:ddlr by the fast path"
		"sftree:9960:sftree by the fast path"
		"dmodc:61183:dmodc by a sweep")
	seeds=(1 2 3)
fi
warm=100000	# cycles of 0.32 ns, 32 us
for s in "${seeds[@]}"; do
	for p in 20 512; do
		echo "immunet-$p-$s shape=$net packet=$p inject=3 warm=$warm run=150000 part=10000 seed=$s"
	done
done | runs

# engine NAME US FILE: simulate the tables of engine NAME.  The link fails at 32 us; the new
# tables follow US us later.  FILE gets a series with one value for each 4 us.
engine() {
	local parts=$((($2 + 32 + 48 + 3) / 4))
	ibfattree gen "$net" -o f.net
	ibfattree sim f.net --engine "$1" --packet 2048 --buffer 8192 \
		--vls 2 --queues fifo --cable-delay 320ps --switch-delay 1280ps \
		--warmup 0us --duration $((parts * 4))us --series "$parts" \
		--fail 1link@32us --reroute $((32 + $2))us --json >"$3" || [[ $? == 1 ]]
}
# part KEY FROM TO FILE: print the sum of the values of KEY from FROM to TO us.
part() {
	awk -v key="\"$1\":" -v from="$2" -v to="$3" '
	$1 == "\"series\":" { on = 1 }
	on && $1 == "\"us\":" { us = $2 + 0 }
	on && $1 == key && us >= from && us < to { sum += $2 }
	END { printf "%d\n", sum }' "$4"
}
# rate BYTES US: print BYTES in US microseconds as phits per cycle.
rate() { awk -v b="$1" -v us="$2" 'BEGIN { printf "%.4g\n", b / 4 / (us / 0.00032) }'; }

{
	echo "what,bytes per packet,us to send again,us to the last new entry,packets lost,lost after that,phits per cycle before,after,loss %"
	for p in 20 512; do
		g=("immunet-$p"-*)
		b=$(mean 2 $((warm / 2)) "$warm" "${g[@]}")
		a=$(mean 2 $((warm + 50000)) 1000000 "${g[@]}")
		us() { awk -v c="$(mean_of "$1" "${g[@]}")" 'BEGIN { printf "%.2f\n", c * 0.00032 }'; }
		echo "immunet,$((p * 4)),$(us opened),$(us updated),$(mean_of lost "${g[@]}"),0,$b,$a,$(loss "$b" "$a")"
	done
	for o in "${ours[@]}"; do
		IFS=: read -r name heal text <<<"$o"
		engine "$name" "$heal" "$name-$heal"
		end=$(((heal + 32 + 48 + 3) / 4 * 4))
		b=$(rate "$(part bytes 12 32 "$name-$heal")" 20)
		a=$(rate "$(part bytes $((heal + 40)) "$end" "$name-$heal")" \
			$((end - (heal + 40 + 3) / 4 * 4)))
		echo "$text,2048,$heal,$heal,$(part lost 0 "$end" "$name-$heal"),$(part lost $((heal + 36)) "$end" "$name-$heal"),$b,$a,$(loss "$b" "$a")"
	done
} >"$out/003-fattree.csv"
row() { awk -F, -v n="$1" -v c="$2" 'NR == n { print $c }' "$out/003-fattree.csv"; }
claim "Immunet loses only the packets on the failed link" "$(row 2 5) <= 4 && $(row 3 5) <= 4"
claim "Immunet recovers within 50 us, to more than 0.9 of the throughput before the fault" \
	"$(row 2 4) < 50 && $(row 3 4) < 50 && $(row 2 9) < 10"
claim "forwarding tables: packets are lost until the tables are repaired" "$(row 4 5) > 500"
claim "forwarding tables: no packets are lost after the repair" "$(row 4 6) == 0"
claim "forwarding tables: after the repair more than 0.9 of the throughput before the fault" "$(row 4 9) < 10"
