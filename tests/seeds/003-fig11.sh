# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Puente et al. 2004, figure 11: the mean number of links between switches that a packet
# crosses, during the reconfiguration after one link failure, beyond saturation.
# shellcheck source=tests/seeds/immunet.sh
. "$here/immunet.sh"

seeds=(1)
run8=24000 run16=30000 warm=6000
if [[ $long ]]; then
	seeds=(1 2 3)
	run8=40000 run16=70000 warm=10000
fi
for s in "${seeds[@]}"; do
	base="inject=3 warm=$warm part=1000 seed=$s"
	echo "8-$s shape=torus:8,8 $base run=$run8"
	echo "16-$s shape=torus:16,16 $base run=$run16"
done | runs
for k in 8 16; do
	series 3 "${k}x$k=$k-*" >"$out/003-fig11-${k}x$k.csv"
	plot "003-fig11-${k}x$k" "One link fails, ${k}x$k torus, full load" \
		cycles "links crossed, mean"
done

# Before a fault all paths are shortest paths.  On a torus of k x k = n switches, k even, their
# mean length is k/2 * n / (n - 1).
for k in 8 16; do
	least=$(awk -v k=$k 'BEGIN { n = k * k; print k / 2 * n / (n - 1) }')
	b=$(mean 3 $((warm / 2)) "$warm" "$k"-*)
	d=$(mean 3 $((warm + 1000)) $((warm + 4000)) "$k"-*)
	a=$(mean 3 $((warm + 15000)) 1000000 "$k"-*)
	claim "${k}x$k: the mean distance is $least links before the fault" "($b / $least - 1) ^ 2 < 0.02 ^ 2"
	claim "${k}x$k: packets take longer paths while the tables are built" "$d > 1.04 * $b"
	claim "${k}x$k: after the reconfiguration paths are slightly longer than before the fault" \
		"$a > 1.01 * $b && $a < 1.35 * $b"
done

claim "after the reconfiguration all routers have the shortest distances" "$(mean_of stale 8-* 16-*) == 0"

[[ $long ]] || return 0
{
	echo 'torus,before,most within 20000 cycles,from 30000 cycles after it on'
	for k in 8 16; do
		printf '%s,%s,' "${k}x$k" "$(mean 3 $((warm / 2)) "$warm" "$k"-*)"
		awk -F, -v from="$warm" '
			$1 >= from && $1 < from + 20000 && $2 > most { most = $2 }
			END { printf "%s,", most }' "$out/003-fig11-${k}x$k.csv"
		mean 3 $((warm + 30000)) 1000000 "$k"-*
	done
} >"$out/003-fig11.csv"
