# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Repeats figure 10 and table 1 of Puente et al. 2004 with other parameters.  With these parameters
# a 16x16 torus recovers after one fault, although packets from sources need no more buffer space
# than other packets.  The loss of throughput at 35 faults is compared with the paper's 90 percent,
# and the times are compared with table 1.
# shellcheck source=tests/seeds/immunet.sh
. "$here/immunet.sh"

seeds=(1) warm=6000 run8=21000 run16=28000
variants=(
	"no restriction:"
	"transit first:transit_first=1"
	"transit first; 3 moves; buffers of 2:transit_first=1 moves=3 buffer=2"
)
if [[ $long ]]; then
	seeds=(1 2 3) warm=10000 run8=70000 run16=70000
	variants=(
		"no restriction:"
		"no restriction; load 0.36:load=0.36"
		"start by adaptive VLs only:adaptive_start=1"
		"8 packets of a host under way:window=8"
		"12 packets:window=12"
		"13 packets:window=13"
		"16 packets:window=16"
		"transit first:transit_first=1"
		"transit first; start by adaptive VLs only:transit_first=1 adaptive_start=1"
		"transit first; 3 moves:transit_first=1 moves=3"
		"transit first; 3 moves; buffers of 3:transit_first=1 moves=3 buffer=3"
		"transit first; 3 moves; buffers of 2:transit_first=1 moves=3 buffer=2"
		"transit first; a queue for each output:transit_first=1 voq=1"
		"transit first; a queue for each output; 3 moves:transit_first=1 voq=1 moves=3"
		"transit first; a queue for each output; 3 moves; buffers of 3:transit_first=1 voq=1 moves=3 buffer=3"
		"transit first; a queue for each output; 2 moves:transit_first=1 voq=1 moves=2"
	)
fi
for i in "${!variants[@]}"; do
	for s in "${seeds[@]}"; do
		echo "v-$i-8-$s shape=torus:8,8 warm=$warm run=$run8 part=1000 seed=$s ${variants[i]#*:}"
		echo "v-$i-16-$s shape=torus:16,16 warm=$warm run=$run16 part=1000 seed=$s ${variants[i]#*:}"
		[[ ! $long ]] ||
			echo "v-$i-35-$s shape=torus:16,16 links=35 warm=$warm run=100000 part=1000 seed=$s ${variants[i]#*:}"
	done
done | runs
{
	echo "variant,8x8 before,8x8 after,8x8 loss %,16x16 before,16x16 after,16x16 loss %${long:+,35 links: dip %,35 links: loss %}"
	for i in "${!variants[@]}"; do
		line=${variants[i]%%:*}
		for k in 8 16; do
			b=$(mean 2 $((warm / 2)) "$warm" v-"$i"-"$k"-*)
			a=$(mean 2 $((warm + 4 * run16 / 7)) 1000000 v-"$i"-"$k"-*)
			[[ $k == 16 ]] ||
				a=$(mean 2 $((warm + 4 * run8 / 7)) 1000000 v-"$i"-"$k"-*)
			line+=",$b,$a,$(loss "$b" "$a")"
		done
		if [[ $long ]]; then
			line+=",$(loss "$b" "$(least "$warm" v-"$i"-35-*)")"
			line+=",$(loss "$b" "$(mean 2 70000 1000000 v-"$i"-35-*)")"
		fi
		echo "$line"
	done
} >"$out/003-injection.csv"
claim "mismatch: no restriction at sources: 16x16 does not recover" \
	"$(at 003-injection 'no restriction' '16x16 loss %') > 60"
claim "priority for packets in transit: 16x16 and 8x8 recover" \
	"$(at 003-injection 'transit first' '16x16 loss %') < 12 && $(at 003-injection 'transit first' '8x8 loss %') < 8"
name="transit first; 3 moves; buffers of 2"
claim "priority in transit, 3 moves, buffers of 2: the loss is near that of the paper (5 %; 15 to 17 %)" \
	"$(at 003-injection "$name" '8x8 loss %') > 0.5 && $(at 003-injection "$name" '8x8 loss %') < 6 && $(at 003-injection "$name" '16x16 loss %') > 10 && $(at 003-injection "$name" '16x16 loss %') < 24"
claim "no deadlock" "$(mean_of deadlock v-*) == 0"

# Table 1, with priority for packets in transit, at most 3 moves of a packet into the ring, and
# buffers of 2 packets.  Control packets have different sizes (in phits).  They are sent after all
# other packets, or in turn with them.
seeds=(1) kinds=("5 after") run1=20000
if [[ $long ]]; then
	seeds=(1 2 3 4 5) run1=90000
	kinds=("3 after" "4 after" "5 after" "6 after" "10 after" "20 after"
		"20 in turn" "40 in turn" "50 in turn" "60 in turn" "80 in turn")
fi
for i in "${!kinds[@]}"; do
	read -r c after _ <<<"${kinds[i]}"
	[[ $after == after ]] && after=1 || after=0
	for s in "${seeds[@]}"; do
		for k in 8 16; do
			[[ $long || $k == 8 ]] || continue
			echo "t-$i-$k-$s shape=torus:$k,$k warm=$warm run=$run1 part=1000 seed=$s transit_first=1 moves=3 buffer=2 after=$after cpacket=$c"
		done
	done
done | runs
{
	echo "phits of a control packet,8x8 cycles,8x8 distance packets,16x16 cycles,16x16 distance packets"
	[[ ! $long ]] || echo "paper,9945,12240,36125,244908"
	for i in "${!kinds[@]}"; do
		line="${kinds[i]},$(mean_of updated t-"$i"-8-*),$(mean_of distance t-"$i"-8-*)"
		[[ ! $long ]] ||
			line+=",$(mean_of updated t-"$i"-16-*),$(mean_of distance t-"$i"-16-*)"
		echo "$line"
	done
} >"$out/003-injection-table1.csv"
claim "8x8: the time is that of table 1, within 10 %" \
	"($(at 003-injection-table1 '5 after' '8x8 cycles') / 9945 - 1) ^ 2 < 0.1 ^ 2"
