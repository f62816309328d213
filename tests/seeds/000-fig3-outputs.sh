# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2154
# Repeats figure 3 of Sem-Jacobsen et al. 2006, misrouting at full load, with queues at the outputs
# of switches.  Runs with a deadlock are left out.
# shellcheck source=/dev/null
. "$here/rerouting.sh"
tree 4,3

runs=3 faults=1,4,11
switches=('one queue:')
if [[ $long ]]; then
	runs=40 faults=1,4,6,11,16,21
	switches+=('one queue; place freed when the head has left:-e'
		'one queue of 3:-o 3' 'a queue for each input:-M virtual'
		'a queue for each input; of 1:-M virtual -o 1')
fi
{
	echo 'switch,link faults,packets per cycle,lost per fault %,latency,of that without faults,left out %'
	for how in "${switches[@]}"; do
		read -r -a options <<<"${how#*:}"
		"$build/outputs" -r $runs -n $faults -l 100 "${options[@]}" \
			4-ary-3-tree.net misroute |
			awk -F, -v name="${how%%:*}" '
			NR == 2 { rate = $4; latency = $10 }
			NR > 1 {
				f = $2 - 1
				printf "%s,%d,%.2f,%s,%.1f,%.2f,%s\n", name, f, $4, f ? sprintf("%.1f", 100 * (1 - $4 / rate) / f) : "", $10, $10 / latency, $3
			}'
	done
} >"$out/000-fig3-outputs.csv"

# value FAULTS COLUMN: print COLUMN of the row "one queue" with FAULTS faults.
value() {
	awk -F, -v n="$1" -v c="$2" '$1 == "one queue" && $2 == n { print $c; exit }' \
		"$out/000-fig3-outputs.csv"
}
claim 'queues at outputs: saturation at 18 packets per cycle, as with queues at inputs' \
	"$(value 0 3) > 17 && $(value 0 3) < 19.5"
claim 'mismatch: 10 faults: throughput falls by less than 2.2 % per fault (paper: 2.7 %)' \
	"$(value 10 4) > 0.5 && $(value 10 4) < 2.2"
