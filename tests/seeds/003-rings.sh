# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Puente et al. 2004: how much throughput the ring itself costs, and the cases of docs/seeds.md
# in which the torus does not recover.  For the cost, two tori without a fault are compared: one
# with a ring for each line of the torus, and one with a single ring.  All values are means over
# cycles of one run.
# shellcheck source=tests/seeds/immunet.sh
. "$here/immunet.sh"

warm=4000 run=8000 late=8000
rows=("16x16,no,a ring for each line:shape=torus:16,16 links=0 inject=3"
	"16x16,no,one ring:shape=torus:16,16 links=0 inject=3 one_ring=1")
if [[ $long ]]; then
	warm=10000 run=70000 late=40000
	rows+=("8x8,no,a ring for each line:shape=torus:8,8 links=0 inject=3"
		"8x8,no,one ring:shape=torus:8,8 links=0 inject=3 one_ring=1"
		"8x8,yes,without the three rules; room for 1 at sources:shape=torus:8,8 one_lane=1 eager=1 no_drain=1"
		"16x16,no,one ring; room for 1 at sources:shape=torus:16,16 links=0 one_ring=1"
		"16x16,yes,room for 1 at sources; buffers of 2:shape=torus:16,16 buffer=2")
	for load in 0.20 0.30 0.36 0.40 0.44; do
		rows+=("16x16,yes,room for 1 at sources; load $load:shape=torus:16,16 load=$load")
	done
fi
for i in "${!rows[@]}"; do
	echo "r-$i warm=$warm run=$run part=1000 seed=1 ${rows[i]#*:}"
done | runs
{
	echo "torus,fault,rings and sources,first $((warm / 2)) cycles,last $((warm / 2)) before the fault,from cycle $late on"
	for i in "${!rows[@]}"; do
		echo "${rows[i]%%:*},$(mean 2 0 $((warm / 2)) "r-$i"),$(mean 2 $((warm / 2)) "$warm" "r-$i"),$(mean 2 "$late" 1000000 "r-$i")"
	done
} >"$out/003-rings.csv"
claim "16x16, no fault: throughput is lower with one ring than with a ring for each line of the torus" \
	"$(mean 2 "$late" 1000000 r-1) < 0.95 * $(mean 2 "$late" 1000000 r-0)"
