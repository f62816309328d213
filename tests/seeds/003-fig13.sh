# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Puente et al. 2004, figure 13: throughput of a 16x16 torus in which more and more links or routers
# fail.
# shellcheck source=tests/seeds/immunet.sh
. "$here/immunet.sh"

seeds=(1)
run=30000 warm=4000 inject=3
faults=("links 35 0")
if [[ $long ]]; then
	seeds=(1 2)
	run=100000 warm=10000
	faults=("links 1 0" "links 5 0" "links 15 0" "links 35 0" "links 35 1000"
		"links 35 10000" "links 257 0" "switches 5 0" "switches 15 0"
		"switches 15 1000")
fi
for f in "${faults[@]}"; do
	read -r kind n gap <<<"$f"
	for s in "${seeds[@]}"; do
		echo "$kind-$n-$gap-$s shape=torus:16,16 inject=$inject links=0 $kind=$n gap=$gap warm=$warm run=$((run + n * gap)) part=1000 seed=$s"
	done
done | runs
{
	echo "faults,cycles between,before,least,after,loss %,cycles to the last new entry,levels known by a router,lost,of them on wires,in dead routers,for dead routers"
	for f in "${faults[@]}"; do
		read -r kind n gap <<<"$f"
		g=("$kind-$n-$gap"-*)
		b=$(mean 2 $((warm / 2)) "$warm" "${g[@]}")
		a=$(mean 2 $((warm + n * gap + run / 2)) 10000000 "${g[@]}")
		label="$n ${kind/switches/routers}"
		((n > 1)) || label=${label%s}
		echo "$label,$gap,$b,$(least "$warm" "${g[@]}"),$a,$(loss "$b" "$a"),$(mean_of updated "${g[@]}"),$(mean_of emergencies "${g[@]}"),$(mean_of lost "${g[@]}"),$(mean_of lost_wire "${g[@]}"),$(mean_of lost_switch "${g[@]}"),$(mean_of lost_given_up "${g[@]}")"
	done
} >"$out/003-fig13.csv"
claim "no deadlock, no ring over a failed link, and all packets are accounted for" \
	"$(mean_of deadlock ./*-*) == 0 && $(mean_of broken ./*-*) == 0 && $(mean_of balance ./*-*) == 0"
claim "failed links: only packets on these links are lost" \
	"$(mean_of lost links-*) == $(mean_of lost_wire links-*)"
b=$(mean 2 $((warm / 2)) "$warm" links-35-0-*)
a=$(mean 2 $((warm + run / 2)) 10000000 links-35-0-*)
claim "35 failed links cost more than a third of the throughput" "$a < 0.67 * $b"
claim "35 failed links: packets still arrive" "$a > 0.1 * $b"

[[ $long ]] || return 0
series 2 "1=links-1-0-*" "5=links-5-0-*" "15=links-15-0-*" \
	"35=links-35-0-*" "257=links-257-0-*" >"$out/003-fig13-links.csv"
series 2 "35 at once=links-35-0-*" "every 1000 cycles=links-35-1000-*" \
	"every 10000 cycles=links-35-10000-*" >"$out/003-fig13-gaps.csv"
# 35 failed links.  A source sends only if there is buffer space for `inject` packets.
for inject in 0 2 4; do
	for s in "${seeds[@]}"; do
		echo "room-$inject-$s shape=torus:16,16 inject=$inject links=35 warm=$warm run=$run part=1000 seed=$s"
	done
done | runs
for s in "${seeds[@]}"; do
	ln "links-35-0-$s" "room-3-$s"
done
{
	echo "room wanted at sources,before,least,after,loss %"
	for inject in 0 2 3 4; do
		g=("room-$inject"-*)
		b=$(mean 2 $((warm / 2)) "$warm" "${g[@]}")
		a=$(mean 2 $((warm + run / 2)) 10000000 "${g[@]}")
		echo "$inject,$b,$(least "$warm" "${g[@]}"),$a,$(loss "$b" "$a")"
	done
} >"$out/003-fig13-room.csv"
plot 003-fig13-links "Failed links, all at once, 16x16 torus, full load" cycles "phits per cycle"
plot 003-fig13-gaps "35 failed links, 16x16 torus, full load" cycles "phits per cycle"
