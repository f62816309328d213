# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Puente et al. 2004, table 1: control packets and duration of the reconfiguration after one
# link failure, under full load, on 8x8 and 16x16 tori.
# shellcheck source=tests/seeds/immunet.sh
. "$here/immunet.sh"

seeds=(1 2)
big=(1)
warm=4000
if [[ $long ]]; then
	seeds=(1 2 3 4 5)
	big=(1 2 3 4 5)
	warm=10000
fi
base="inject=3 warm=$warm part=1000"
{
	for s in "${seeds[@]}"; do
		echo "8-$s shape=torus:8,8 $base run=20000 seed=$s"
	done
	for s in "${big[@]}"; do
		echo "16-$s shape=torus:16,16 $base run=30000 seed=$s"
	done
	echo "8-every shape=torus:8,8 load=0 every_path=1 warm=1000 run=40000"
} | runs

{
	echo "what,paper 8x8,8x8,paper 16x16,16x16"
	echo "numbers sent to parents,64,$(mean_of origins 8-[0-9]),256,$(mean_of origins 16-[0-9])"
	echo "distance packets,12240,$(mean_of distance 8-[0-9]),244908,$(mean_of distance 16-[0-9])"
	echo "cycles to the last new entry,9945,$(mean_of updated 8-[0-9]),36125,$(mean_of updated 16-[0-9])"
	echo "cycles to the last control packet,,$(mean_of finished 8-[0-9]),,$(mean_of finished 16-[0-9])"
	echo "cycles until all rings are open,,$(mean_of opened 8-[0-9]),,$(mean_of opened 16-[0-9])"
	echo "distance packets for every shortest path,,$(mean_of distance 8-every),,"
} >"$out/003-table1.csv"

row() { at 003-table1 "$1" "$2"; }
claim "8x8: each router announces its number once" \
	"$(row 'numbers sent to parents' 8x8) >= 63 && $(row 'numbers sent to parents' 8x8) < 70"
claim "8x8: the number of distance packets is that of table 1, within 2 %" \
	"($(row 'distance packets' 8x8) / 12240 - 1) ^ 2 < 0.02 ^ 2"
claim "if a distance is forwarded for every shortest path, there are more than ten times as many packets" \
	"$(mean_of distance 8-every) > 10 * 12240"
claim "8x8: the time is that of table 1, within 15 %" \
	"($(row 'cycles to the last new entry' 8x8) / 9945 - 1) ^ 2 < 0.15 ^ 2"
claim "mismatch: 16x16: 15 to 18 times as many distance packets as at 8x8 (paper: 20)" \
	"$(row 'distance packets' 16x16) > 15 * $(row 'distance packets' 8x8) &&
	$(row 'distance packets' 16x16) < 18 * $(row 'distance packets' 8x8)"
claim "16x16: the time grows with the diameter, by far less than the number of packets" \
	"$(row 'cycles to the last new entry' 16x16) > 1.7 * $(row 'cycles to the last new entry' 8x8) && $(row 'cycles to the last new entry' 16x16) < 4 * $(row 'cycles to the last new entry' 8x8)"

# A switch may receive the same distance several times, over several shortest paths.  It forwards
# a copy only if some number of cycles has passed since it last forwarded the distance.  A pair
# below has the size of a control packet in phits, and this number of cycles.
merged=("20 1000")
[[ -z $long ]] || merged=("20 1000" "18 1000" "25 1500" "30 2000" "35 2000" "45 3000")
for m in "${merged[@]}"; do
	read -r c cycles <<<"$m"
	for s in "${big[@]:0:3}"; do
		for k in 8 16; do
			echo "m-$c-$cycles-$k-$s shape=torus:$k,$k inject=3 warm=$warm part=1000 run=60000 seed=$s cpacket=$c merge=$cycles"
		done
	done
done | runs
{
	echo "phits of a control packet,merged within,8x8 cycles,8x8 distance packets,16x16 cycles,16x16 distance packets"
	[[ ! $long ]] || echo "paper,,9945,12240,36125,244908"
	for m in "${merged[@]}"; do
		f=m-${m/ /-}
		echo "${m/ /,},$(mean_of updated "$f"-8-*),$(mean_of distance "$f"-8-*),$(mean_of updated "$f"-16-*),$(mean_of distance "$f"-16-*)"
	done
} >"$out/003-table1-merged.csv"
late() { at 003-table1-merged 20 "$1"; }
claim "late distances forwarded again: the number of packets is that of table 1 at both sizes, within 8 %" \
	"($(late '8x8 distance packets') / 12240 - 1) ^ 2 < 0.08 ^ 2 && ($(late '16x16 distance packets') / 244908 - 1) ^ 2 < 0.08 ^ 2"

[[ $long ]] || return 0

# The paper gives neither the size nor the priority of control packets, so try several.
for k in 8 16; do
	for c in 5 10 20 40 45 50; do
		for after in 0 1; do
			echo "c-$k-$c-$after shape=torus:$k,$k $base run=$((k * k * 400 + 60000)) cpacket=$c after=$after"
		done
	done
done | runs
{
	echo "phits of a control packet,8x8 in turn,8x8 after packets,16x16 in turn,16x16 after packets,16x16 distance packets in turn,16x16 distance packets after"
	for c in 5 10 20 40 45 50; do
		echo "$c,$(mean_of updated c-8-$c-0),$(mean_of updated c-8-$c-1),$(mean_of updated c-16-$c-0),$(mean_of updated c-16-$c-1),$(mean_of distance c-16-$c-0),$(mean_of distance c-16-$c-1)"
	done
} >"$out/003-table1-control.csv"
