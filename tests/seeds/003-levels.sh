# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Puente et al. 2004, section 4.1: how the emergency priority level is counted.  Links of an
# 8x8 torus fail one after the other, each after the last reconfiguration has ended.  In some
# random sequences, switches then keep a ring over a failed link: the ends of this link have
# declared a lower level than the other switches know.
# shellcheck source=tests/seeds/immunet.sh
. "$here/immunet.sh"

seeds=12 cables=(20)
if [[ $long ]]; then
	seeds=100 cables=(1 2 5 10 20 40)
fi
for n in "${cables[@]}"; do
	for ((s = 1; s <= seeds; s++)); do
		for own in 0 1; do
			echo "$own-$n-$s load=0 cpacket=0 links=$n gap=15000 run=$((n * 15000 + 20000)) part=100000 own_count=$own seed=$s"
		done
	done
done | runs
# share FILE...: print the percentage of the sequences after which a ring crosses a failed link.
share() {
	awk '$2 == "broken" { n += $3 > 0; all++ }
		END { printf "%.4g\n", 100 * n / all }' "$@"
}
{
	echo "failed links,as in the paper,at least the level adopted"
	for n in "${cables[@]}"; do
		echo "$n,$(share 1-"$n"-*),$(share 0-"$n"-*)"
	done
} >"$out/003-levels.csv"
claim "mismatch: levels by a router's own count: some sequences leave a ring over a failed link" \
	"$(share 1-*) > 0"
claim "levels counted from the adopted level: no sequence leaves a ring over a failed link" "$(share 0-*) == 0"
