# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Puente et al. 2004, table 2 and figures 14 and 15.  The paper runs FFT, Radix and LU of
# SPLASH-2 on 64 simulated processors.  Here only their communication is replayed, as data
# packets (76 bytes, 19 phits) between all hosts of the 8x8 torus.  The structure of the
# programs is that of Woo et al. 1995; the sizes are those of the paper:
#
#  FFT	64K points of 16 bytes, three transpositions: in each of them, each host sends
#		252 cache lines of 64 bytes, to all others in turn; 756 packets
#  Radix	half a million random keys of 4 bytes, two passes: in each of them, each host
#		sends 504 cache lines, to random hosts; 1008 packets
#  LU	256x256 doubles in blocks of 16x16 on a grid of 8x8 processors: blocks go
#		to the owners of the same row and of the same column; 952 packets
#
# These are packets per host.  Hosts send without end; the script measures the time until the mean
# number of packets that a host has received reaches this value.  0, 3, 9 or 17 links fail, one
# after the other.  A processor cycle is 2/3 of a cycle of the network.
# shellcheck source=tests/seeds/immunet.sh
. "$here/immunet.sh"

seeds=(1) counts=(0 9 17) kernels=("FFT 1 756")
run=60000
windows=(0)
if [[ $long ]]; then
	seeds=(1 2 3) counts=(0 3 9 17) windows=(0 8)
	kernels=("FFT 1 756" "Radix 0 1008" "LU 2 952")
	run=140000
fi
for k in "${kernels[@]}"; do
	read -r name pattern volume <<<"$k"
	for n in "${counts[@]}"; do
		for w in "${windows[@]}"; do
			for s in "${seeds[@]}"; do
				# without a fault a short run is enough
				((n)) && r=$run || r=40000
				echo "$name-$n-$w-$s shape=torus:8,8 inject=3 packet=19 pattern=$pattern volume=$volume window=$w links=$n warm=2000 gap=1000 run=$r part=100 seed=$s"
			done
		done
	done
done | runs
# cycles FILE...: print the mean, over the files, of the number of processor cycles after which the
# hosts have received `volume` packets per host.  Fails if a run ended before that.
cycles() {
	local f
	for f; do
		grep -q '^# done' "$f" || { echo "$f: not all packets arrived" >&2; return 1; }
	done
	mean_of 'done' "$@" | awk '{ printf "%.0f\n", 1.5 * $1 }'
}
# The processor cycles that the faults add to a run in the paper.
paper() {
	case $1 in
	FFT-3) echo 20000 ;; FFT-9) echo 62000 ;; FFT-17) echo 108000 ;;
	Radix-3) echo 30000 ;; Radix-9) echo 100000 ;; Radix-17) echo 170000 ;;
	LU-3) echo 30000 ;; LU-9) echo 50000 ;; LU-17) echo 90000 ;;
	*) echo 0 ;;
	esac
}
{
	echo "program,packets of a host under way,failed links,processor cycles,more than without,paper: more"
	for k in "${kernels[@]}"; do
		name=${k%% *}
		for w in "${windows[@]}"; do
			whole=$(cycles "$name-0-$w"-*)
			for n in "${counts[@]}"; do
				t=$(cycles "$name-$n-$w"-*)
				((w)) && limit=$w || limit='any'
				echo "$name,$limit,$n,$t,$((t - whole)),$(paper "$name-$n")"
			done
		done
	done
} >"$out/003-table2.csv"
# more PROGRAM LINKS: print column "more than without" of the row PROGRAM, any, LINKS.
more() {
	awk -F, -v p="$1" -v n="$2" '$1 == p && $2 == "any" && $3 == n { print $5 }' \
		"$out/003-table2.csv"
}
claim "FFT: the communication takes longer with 17 failed links than without" "$(more FFT 17) > 0"
claim "no deadlock, no ring over a failed link, and all packets are accounted for" \
	"$(mean_of deadlock ./*-*) == 0 && $(mean_of broken ./*-*) == 0 && $(mean_of balance ./*-*) == 0"
for p in FFT ${long:+Radix LU}; do
	claim "$p: the more links fail, the longer the communication takes" \
		"${long:+$(more "$p" 3) < $(more "$p" 9) &&} $(more "$p" 9) < $(more "$p" 17)"
done
[[ $long ]] || return 0
series 2 "17=Radix-17-0-*" "0=Radix-0-0-*" | awk -F, 'NR == 1 || $1 % 500 == 0' \
	>"$out/003-fig15.csv"
plot 003-fig15 "Radix: links fail from cycle 2,000 on, 8x8 torus" cycles "phits per cycle"
