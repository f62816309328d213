# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Puente et al. 2004, figure 12: throughput of an 8x8 torus in which more and more links or routers
# fail.
# shellcheck source=tests/seeds/immunet.sh
. "$here/immunet.sh"

seeds=(1)
run=40000 warm=6000 gaps=(0)
faults=("links 9" "links 65" "switches 6")
if [[ $long ]]; then
	seeds=(1 2 3)
	run=120000 warm=10000 gaps=(0 5000)
	faults=("links 1" "links 3" "links 9" "links 17" "links 33" "links 65"
		"switches 1" "switches 3" "switches 6" "switches 12")
fi
for f in "${faults[@]}"; do
	read -r kind n <<<"$f"
	for gap in "${gaps[@]}"; do
		for s in "${seeds[@]}"; do
			echo "$kind-$n-$gap-$s shape=torus:8,8 inject=3 links=0 $kind=$n gap=$gap warm=$warm run=$((run + n * gap)) part=1000 seed=$s"
		done
	done
done | runs
{
	echo "faults,cycles between,before,least,after,loss %,cycles to the last new entry,levels known by a router,lost,of them on wires,in dead routers,for dead routers"
	for f in "${faults[@]}"; do
		read -r kind n <<<"$f"
		for gap in "${gaps[@]}"; do
			g=("$kind-$n-$gap"-*)
			b=$(mean 2 $((warm / 2)) "$warm" "${g[@]}")
			a=$(mean 2 $((warm + n * gap + run / 2)) 10000000 "${g[@]}")
			label="$n ${kind/switches/routers}"
			((n > 1)) || label=${label%s}
			echo "$label,$gap,$b,$(least "$warm" "${g[@]}"),$a,$(loss "$b" "$a"),$(mean_of updated "${g[@]}"),$(mean_of emergencies "${g[@]}"),$(mean_of lost "${g[@]}"),$(mean_of lost_wire "${g[@]}"),$(mean_of lost_switch "${g[@]}"),$(mean_of lost_given_up "${g[@]}")"
		done
	done
} >"$out/003-fig12.csv"
claim "no deadlock, no ring over a failed link, and all packets are accounted for" \
	"$(mean_of deadlock ./*-*) == 0 && $(mean_of broken ./*-*) == 0 && $(mean_of balance ./*-*) == 0"
claim "after the reconfiguration all routers have the shortest distances" "$(mean_of stale ./*-*) == 0"
claim "failed links: only packets on these links are lost" \
	"$(mean_of lost links-*) == $(mean_of lost_wire links-*)"
claim "failed routers: only packets in them, on their links, or for them are lost" \
	"$(mean_of lost switches-*) == $(mean_of lost_wire switches-*) + $(mean_of lost_switch switches-*) + $(mean_of lost_given_up switches-*)"
last=$(mean 2 $((warm + run / 2)) 10000000 links-65-0-*)
claim "65 of 128 links failed, so that only a tree is left: packets still arrive" \
	"$last > 0.3"
nine=$(mean 2 $((warm + run / 2)) 10000000 links-9-0-*)
whole=$(mean 2 $((warm / 2)) "$warm" links-9-0-*)
claim "9 failed links cost 10 to 35 % of the throughput" \
	"$nine < 0.9 * $whole && $nine > 0.65 * $whole"

[[ $long ]] || return 0
series 2 "1=links-1-0-*" "3=links-3-0-*" "9=links-9-0-*" "17=links-17-0-*" \
	"33=links-33-0-*" "65=links-65-0-*" | head -n 82 >"$out/003-fig12-links.csv"
series 2 "1=switches-1-0-*" "3=switches-3-0-*" "6=switches-6-0-*" \
	"12=switches-12-0-*" | head -n 82 >"$out/003-fig12-routers.csv"
plot 003-fig12-links "Failed links, all at once, 8x8 torus, full load" cycles "phits per cycle"
plot 003-fig12-routers "Failed routers, all at once, 8x8 torus, full load" cycles "phits per cycle"
